/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * screen_world - what the tests of the painter share: hand-made facts and the picture as text.
 */
#ifndef KVMTOP_TESTS_WORLDS_SCREEN_WORLD_H
#define KVMTOP_TESTS_WORLDS_SCREEN_WORLD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "tests/worlds/fake_guest.h"
#include "ui/screen/picture.h"
#include "core/views/query.h"
#include "core/views/view.h"

#define SECOND UINT64_C(1000000000)
#define NR_MORE 40 /* events besides, for what does not fit */

enum {
	EXIT, EXIT_HLT, EXIT_MSR, ENTRY, USER, USER_IO, PIO, PAGES, MORE,
	NR_FIELDS = MORE + NR_MORE
};

static const struct field specs[MORE] = {
	[EXIT] = { .name = "kvm_exit", .parent = FIELD_NONE, .exit_rank = 1 },
	[EXIT_HLT] = { .name = "kvm_exit(HLT)", .parent = EXIT, .is_idle = true },
	[EXIT_MSR] = { .name = "kvm_exit(MSR_WRITE)", .parent = EXIT },
	[ENTRY] = { .name = "kvm_entry", .parent = FIELD_NONE },
	[USER] = { .name = "kvm_userspace_exit", .parent = FIELD_NONE, .exit_rank = 2 },
	[USER_IO] = { .name = "kvm_userspace_exit(IO)", .parent = USER },
	[PIO] = { .name = "kvm_pio", .parent = FIELD_NONE },
	[PAGES] = { .name = "pages_4k", .parent = FIELD_NONE, .kind = FIELD_GAUGE },
};

struct world {
	struct env env;
	struct fields *fields;
	struct stats *stats;
	struct guests *guests;
	struct sample sample;
	struct field_set wanted;
	struct query query;
	struct view view;
	struct facts facts;
	struct screen screen;
	struct grid grid;
	uint64_t now_ns, counts[NR_FIELDS];
	char text[65536];
};

/* Columns of owners that most hosts do not have. */
static inline void drop_rare(struct world *w)
{
	view_drop(&w->view, COL_IN_L2);
	view_drop(&w->view, COL_IN_POLL);
	view_drop(&w->view, COL_BLOCK_USER);
	view_drop(&w->view, COL_OPEN);
	for (enum column_id id = COL_IO; id <= COL_FAULTS; id++)
		view_drop(&w->view, id);
	for (enum column_id id = COL_SWAPPED; id <= COL_HUGE; id++)
		if (view_column(w->view.type, id) >= 0)
			view_drop(&w->view, id);
	for (enum column_id id = COL_UUID; id <= COL_POD; id++)
		if (view_column(w->view.type, id) >= 0)
			view_drop(&w->view, id);
}

static inline void add_fields(struct world *w)
{
	char name[32];

	for (uint32_t i = 0; i < MORE; i++)
		fields_add(w->fields, &specs[i]);
	for (uint32_t i = 0; i < NR_MORE; i++) {
		struct field spec = { .name = name, .parent = FIELD_NONE };

		snprintf(name, sizeof(name), "event_%02u", i);
		fields_add(w->fields, &spec);
	}
}

static inline int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->env.root = "/nowhere";
	w->fields = fields_new();
	w->stats = stats_new();
	w->guests = guests_new(&w->env);
	add_fields(w);
	w->facts = (struct facts){
		.wanted = &w->wanted,
		.fields = w->fields,
		.stats = w->stats,
		.guests = w->guests,
	};
	view_begin(&w->view, &view_events);
	w->query.type = &view_events;
	w->query.sort = view_default_sort(&view_events);
	w->query.children = true;
	w->screen = (struct screen){
		.view = &w->view, .query = &w->query, .facts = &w->facts,
		.host = "alpha", .kvm = "SVM", .nr_cpus = 64, .delay_s = 3, .clock = "12:31:07",
		.is_utf8 = true, .empty = "No matching events reported yet",
	};
	*state = w;
	return 0;
}

static inline int teardown(void **state)
{
	struct world *w = *state;

	grid_release(&w->grid);
	view_release(&w->view);
	field_set_release(&w->query.open);
	field_set_release(&w->wanted);
	sample_release(&w->sample);
	guests_free(w->guests);
	stats_free(w->stats);
	fields_free(w->fields);
	free(w);
	return 0;
}

/* Everything that counted anything, `guest` having done it. */
static inline void take(struct world *w, uint32_t guest)
{
	for (uint32_t i = 0; i < NR_FIELDS; i++) {
		struct key key = { guest, -1, i };
		uint64_t count = w->counts[i];

		if (count)
			sample_add(&w->sample, key, count, ROW_FROM_ZERO);
	}
}

static inline void tick(struct world *w)
{
	w->now_ns += SECOND;
	w->sample.time_ns[0] = w->now_ns;
	stats_update(w->stats, w->fields, &w->sample);
	sample_reset(&w->sample);
}

/* One more second, in which all that counts counted `rate` times its share. */
static inline void second(struct world *w, uint64_t rate)
{
	static const uint64_t shares[MORE] = { 10, 3, 5, 10, 4, 1, 2, 0 };

	for (uint32_t i = 0; i < MORE; i++)
		w->counts[i] += shares[i] * rate;
	w->counts[PAGES] = 512;
	take(w, GUEST_NONE);
	tick(w);
}

/* Four seconds of a common host. */
static inline void usual(struct world *w)
{
	second(w, 100);
	second(w, 40);
	second(w, 80);
	second(w, 120);
}

static inline void many_events(struct world *w)
{
	usual(w);
	for (uint32_t i = 0; i < NR_MORE; i++)
		w->counts[MORE + i] = NR_MORE - i;
	second(w, 1);
	for (uint32_t i = 0; i < NR_MORE; i++)
		w->counts[MORE + i] += NR_MORE - i;
	second(w, 1);
}

/* One row after the other; three or more that are blank are a number. */
static inline const char *grid_text(struct world *w)
{
	size_t len = 0, blank = 0;
	char row[2048];

	w->text[0] = '\0';
	for (int i = 0; i <= w->grid.rows; i++) {
		row[0] = '\0';
		if (i < w->grid.rows)
			grid_row_text(&w->grid, i, row, sizeof(row));
		blank += i < w->grid.rows && !row[0];
		if (i < w->grid.rows && !row[0])
			continue;
		if (blank > 2)
			len += (size_t)sprintf(w->text + len, "(%zu blank)\n", blank);
		for (; blank && blank <= 2; blank--)
			len += (size_t)sprintf(w->text + len, "\n");
		blank = 0;
		if (i < w->grid.rows)
			len += (size_t)sprintf(w->text + len, "%s\n", row);
	}
	return w->text;
}

static inline const char *picture(struct world *w, int cols, int rows)
{
	query_wants(&w->query, w->fields, &w->wanted);
	view_build(&w->view, &w->query, &w->facts);
	grid_resize(&w->grid, rows, cols);
	screen_paint(&w->screen, &w->grid);
	return grid_text(w);
}

static inline const char *line(struct world *w, int row)
{
	static char text[1024];

	grid_row_text(&w->grid, row < 0 ? w->grid.rows + row : row, text, sizeof(text));
	return text;
}

/* With SHOW in the environment the pictures are printed instead, to look at or to take over. */
#define shows_text(w, wanted) \
	do { \
		if (getenv("SHOW")) \
			printf("line %d\n%s", __LINE__, (w)->text); \
		else \
			assert_string_equal((w)->text, wanted); \
	} while (0)

#define shows(w, cols, rows, wanted) \
	do { \
		picture(w, cols, rows); \
		shows_text(w, wanted); \
	} while (0)

#endif
