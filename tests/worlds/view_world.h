/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * view_world - what the tests of views share: facts made by hand, a query, and the view of them.
 */
#ifndef KVMTOP_TESTS_WORLDS_VIEW_WORLD_H
#define KVMTOP_TESTS_WORLDS_VIEW_WORLD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/env.h"
#include "tests/unit/unit.h"
#include "tests/worlds/fake_guest.h"
#include "core/views/query.h"
#include "core/views/view.h"
#include "lib/text.h"

#define SECOND UINT64_C(1000000000)

/* Exits of one reason, as a field. */
#define EXIT_OF(parent_id, text, r) \
	{ .name = (text), .parent = (parent_id), .use = USE_EXIT, .exit_rank = (r) }

struct world {
	struct env env;
	struct fields *fields;
	struct stats *stats;
	struct guests *guests;
	struct sample sample;
	struct field_set wanted;
	struct pattern *filter;
	struct query query;
	struct view view;
	struct facts facts;
	uint64_t now_ns;
	char text[8192];
};

static inline void set_view(struct world *world, const struct view_type *type)
{
	world->query.type = type;
	world->query.sort = view_default_sort(type);
}

/* The id of a field is its index in specs. */
static inline int world_setup(void **state, const struct field *specs, uint32_t nr,
			      const struct view_type *type)
{
	struct world *world = calloc(1, sizeof(*world));
	uint32_t id;

	assert_non_null(world);
	world->env.root = "/nonexistent";
	world->guests = guests_new(&world->env);
	world->fields = fields_new();
	world->stats = stats_new();
	world->facts = (struct facts){
		.wanted = &world->wanted,
		.fields = world->fields,
		.stats = world->stats,
		.long_exits = &world->stats->long_exits,
		.guests = world->guests,
	};
	set_view(world, type);
	for (uint32_t i = 0; i < nr; i++) {
		id = fields_add(world->fields, &specs[i]);
		assert_int_equal(id, i);
	}
	*state = world;
	return 0;
}

static inline int teardown(void **state)
{
	struct world *world = *state;

	view_release(&world->view);
	field_set_release(&world->query.open);
	field_set_release(&world->wanted);
	pattern_free(world->filter);
	sample_release(&world->sample);
	stats_free(world->stats);
	guests_free(world->guests);
	fields_free(world->fields);
	free(world);
	return 0;
}

static inline void set_filter(struct world *world, const char *text)
{
	pattern_free(world->filter);
	world->filter = NULL;
	if (text)
		assert_int_equal(pattern_new(text, &world->filter, NULL), 0);
	world->query.filter = world->filter;
}

/* In the next sample. */
static inline void count_in(struct world *world, uint32_t guest, uint32_t field, uint64_t count)
{
	struct key key = { .guest = guest, .vcpu = -1, .field = field };

	sample_add(&world->sample, key, count, ROW_FROM_ZERO);
}

/* A second later; late_ns: when the source 1 is read, after the source 0. */
static inline void take_late(struct world *world, uint64_t late_ns)
{
	world->now_ns += SECOND;
	world->sample.time_ns[0] = world->now_ns;
	world->sample.time_ns[1] = world->now_ns + late_ns;
	stats_update(world->stats, world->fields, &world->sample);
	sample_reset(&world->sample);
}

static inline void take(struct world *world)
{
	take_late(world, 0);
}

static inline const struct view *build(struct world *world)
{
	query_wants(&world->query, world->fields, &world->wanted);
	view_build(&world->view, &world->query, &world->facts);
	return &world->view;
}

static inline size_t put_cell(char *text, const struct cell *cell)
{
	unsigned int nr = 0;

	switch (cell->type) {
	case CELL_TEXT:
		return (size_t)sprintf(text, "%s", cell->text);
	case CELL_COUNT:
		return (size_t)sprintf(text, "%llu", (unsigned long long)cell->count);
	case CELL_PERCENT:
		return (size_t)sprintf(text, "%.1f%%", cell->number);
	case CELL_RATE:
		return (size_t)sprintf(text, "%.0f/s", cell->number);
	case CELL_NS:
		return (size_t)sprintf(text, "%lluns", (unsigned long long)cell->ns);
	case CELL_HIST:
		for (int i = 0; i < HIST_BUCKETS; i++)
			nr += (unsigned int)cell->hist[i];
		return (size_t)sprintf(text, "hist of %u", nr);
	case CELL_SPLIT:
		for (int i = 0; i < SPLIT_PARTS; i++)
			nr += (unsigned int)sprintf(text + nr, "%s%.2f", i ? " " : "",
						    cell->split[i]);
		return nr;
	default:
		return (size_t)sprintf(text, "-");
	}
}

/* The names of the rows, in their order. */
static inline const char *order(struct world *world)
{
	const struct view *view = build(world);
	size_t len = 0;

	world->text[0] = '\0';
	for (size_t i = 0; i < view->nr_rows; i++)
		len += (size_t)sprintf(world->text + len, "%s%s", i ? " " : "",
				       view->rows[i].cells[0].text);
	return world->text;
}

#endif
