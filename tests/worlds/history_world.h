/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * history_world - a history file of made-up moments, in a folder of its own.
 *
 * A moment's parts are bytes that say which moment they are of. Its changes, which the rows of
 * minutes are made of, have count exits of one guest with one reason.
 */
#ifndef KVMTOP_TESTS_WORLDS_HISTORY_WORLD_H
#define KVMTOP_TESTS_WORLDS_HISTORY_WORLD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "lib/array.h"
#include "history/file.h"
#include "tests/unit/unit.h"
#include "tests/worlds/fake_guest.h"

#define SECOND UINT64_C(1000000000)
#define START (UINT64_C(1790000040) * SECOND) /* a minute begins */
#define RUN 8 /* each so many moments there are totals */

enum { VMEXIT, VMEXIT_HLT, VMEXIT_MSR, TIME, NR_FIELDS };

static const struct field specs[NR_FIELDS] = {
	[VMEXIT] = { .name = "vmexit", .listed = "kvm_exit", .label = "vmexit",
		     .parent = FIELD_NONE, .source = 1, .use = USE_EXIT, .exit_rank = 1,
		     .reason = FIELD_NONE },
	[VMEXIT_HLT] = { .name = "vmexit(HLT)", .listed = "kvm_exit(HLT)", .label = "HLT",
			 .alias = "kvm_exit(HALT)", .parent = VMEXIT, .source = 1,
			 .use = USE_EXIT, .exit_rank = 1, .is_idle = true, .reason = FIELD_NONE },
	[VMEXIT_MSR] = { .name = "vmexit(MSR)", .listed = "kvm_exit(MSR)", .label = "MSR",
			 .parent = VMEXIT, .source = 1, .use = USE_EXIT, .exit_rank = 1,
			 .reason = 1 },
	[TIME] = { .name = "time", .listed = "time", .label = "time", .parent = FIELD_NONE,
		   .kind = FIELD_GAUGE, .use = USE_TIME, .part = TIME_IDLE, .is_extra = true,
		   .reason = FIELD_NONE },
};

struct world {
	char folder[64], path[80];
	struct history_file *file; /* of the writer */
	struct moment moment;
	struct packed packed;
	struct guests *guests;
	uint64_t time_ns, monotonic_ns; /* of the next moment */
	uint64_t step_ns;
	size_t part_size;
	bool asks; /* moments have totals also where the file wants them */
	uint64_t nr; /* moments made up so far */
	struct segment segment;
	struct file_limits limits;
	struct error error;
};

static inline int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	if (!w)
		return -1;
	strcpy(w->folder, "/tmp/kvmtop-history.XXXXXX");
	if (!mkdtemp(w->folder) || chmod(w->folder, 0755) < 0) {
		free(w);
		return -1;
	}
	snprintf(w->path, sizeof(w->path), "%s/h.db", w->folder);
	w->time_ns = START + SECOND;
	w->monotonic_ns = 1000 * SECOND;
	w->step_ns = SECOND;
	w->part_size = 300;
	w->segment = (struct segment){ .host = "box", .kernel = "6.18", .boot_id = "abc",
				       .arch = "SVM", .engine = "bpf", .nr_cpus = 2,
				       .interval_s = 1.5 };
	w->guests = guests_new(NULL);
	guests_add_fake(w->guests, 100, "web", 2);
	guests_add_fake(w->guests, 200, "db", 1);
	*state = w;
	return w->guests ? 0 : -1;
}

static inline int teardown(void **state)
{
	struct world *w = *state;
	char command[128];

	history_file_close(w->file, NULL);
	free(w->moment.fields);
	changes_release(&w->moment.changes);
	for (int i = 0; i < MOMENT_PARTS; i++)
		free(w->packed.parts[i].bytes);
	guests_free(w->guests);
	snprintf(command, sizeof(command), "rm -rf '%s'", w->folder);
	free(w);
	return system(command); /* NOLINT(cert-env33-c) */
}

static inline int open_writer(struct world *w)
{
	return history_file_create(w->path, &w->segment, &w->limits, &w->file, &w->error);
}

static inline void begin_writer(struct world *w)
{
	if (open_writer(w) != 0)
		fail_msg("%s", w->error.text);
}

static inline void end_writer(struct world *w)
{
	assert_int_equal(history_file_close(w->file, &w->error), 0);
	w->file = NULL;
}

/* The bytes of a part: its moment, then what follows from that. */
static inline void fill_part(uint64_t nr, enum moment_part part, unsigned char *bytes, size_t size)
{
	uint64_t value = nr * MOMENT_PARTS + part;

	for (size_t i = 0; i < size; i++)
		bytes[i] = (unsigned char)(i < 8 ? nr >> (8 * i) : value >> (i % 8) * 8);
}

static inline void set_part(struct world *w, enum moment_part part, bool is_there)
{
	struct blob *blob = &w->packed.parts[part];

	blob->size = is_there ? w->part_size : 0;
	array_grow(&blob->bytes, &blob->room, blob->size);
	fill_part(w->nr, part, blob->bytes, blob->size);
}

/* The next moment: count exits of the guest with the reason, of a microsecond each. */
static inline void make_up(struct world *w, uint32_t guest, uint32_t field, uint64_t count)
{
	struct change change = { .key = { guest, 0, field }, .count = count };
	struct change_timing timing = { .time_ns = count * 1000, .max_ns = 1000, .first = 3,
					.nr = count > 0 };
	struct moment *m = &w->moment;
	uint64_t *counts;

	m->time_ns = w->time_ns;
	m->source_ns[0] = w->monotonic_ns;
	w->time_ns += w->step_ns;
	w->monotonic_ns += w->step_ns;
	m->elapsed_ns = w->nr ? w->step_ns : 0;
	m->flags = w->nr % RUN == 0 ? MOMENT_HAS_TOTALS | MOMENT_HAS_GUESTS : 0;
	if (w->asks && history_file_sink(w->file).wants_totals &&
	    history_file_sink(w->file).wants_totals(w->file))
		m->flags |= MOMENT_HAS_TOTALS;
	m->flags |= w->nr ? 0 : MOMENT_FIRST;
	m->guests = m->flags & MOMENT_HAS_GUESTS ? w->guests : NULL;
	changes_reset(&m->changes);
	counts = changes_add_timed(&m->changes, &change, &timing);
	assert_non_null(counts);
	counts[0] = count;
	set_part(w, PART_CHANGES, true);
	set_part(w, PART_HISTS, true);
	set_part(w, PART_TOTALS, m->flags & MOMENT_HAS_TOTALS);
	set_part(w, PART_TOTAL_HISTS, m->flags & MOMENT_HAS_TOTALS);
	set_part(w, PART_LONG_EXITS, true);
	set_part(w, PART_GUESTS, m->flags & MOMENT_HAS_GUESTS);
	w->nr++;
}

/* The fields come with the first moment. */
static inline void give_fields(struct world *w, uint32_t first, uint32_t nr)
{
	struct moment *m = &w->moment;

	array_grow(&m->fields, &m->room_fields, NR_FIELDS);
	for (uint32_t i = 0; i < nr; i++)
		m->fields[i] = (struct moment_field){ .id = first + i, .field = specs[first + i] };
	m->nr_fields = nr;
}

static inline int add(struct world *w)
{
	int err = history_file_sink(w->file).map(w->file, &w->moment, &w->error);

	if (!err)
		err = history_file_sink(w->file).add(w->file, &w->moment, &w->packed, &w->error);
	w->moment.nr_fields = 0;
	return err;
}

static inline int add_next(struct world *w)
{
	if (!w->nr)
		give_fields(w, 0, NR_FIELDS);
	make_up(w, 1, VMEXIT_HLT, 10);
	return add(w);
}

static inline void add_many(struct world *w, int nr)
{
	for (int i = 0; i < nr; i++) {
		if (add_next(w) != 0)
			fail_msg("%s", w->error.text);
	}
}

static inline struct history_file *begin_reader(struct world *w)
{
	struct history_file *file;

	if (history_file_open(w->path, &file, &w->error) != 0)
		fail_msg("%s", w->error.text);
	return file;
}

/* The number of the moment that a part says it is of; fails if the rest is not of that one. */
static inline uint64_t part_number(const struct blob *blob, enum moment_part part)
{
	unsigned char *expected = malloc(blob->size + 1);
	uint64_t nr = 0;

	assert_true(blob->size >= 8);
	for (size_t i = 0; i < 8; i++)
		nr |= (uint64_t)blob->bytes[i] << (8 * i);
	fill_part(nr, part, expected, blob->size);
	assert_memory_equal(expected, blob->bytes, blob->size);
	free(expected);
	return nr;
}

static inline uint64_t read_number(struct store store, uint64_t id)
{
	struct blob blob = { 0 };
	struct error error = { "" };
	uint64_t nr;

	if (store.type->read(store.state, id, PART_CHANGES, &blob, &error) != 0)
		fail_msg("%s", error.text);
	nr = part_number(&blob, PART_CHANGES);
	free(blob.bytes);
	return nr;
}

/* Reads all moments in order; their numbers ascend. Returns how many there are. */
static inline uint64_t read_all(struct world *w, struct history_file *reader, uint64_t *ret_last)
{
	struct store store = history_file_store(reader);
	struct stored stored = { 0 };
	uint64_t nr = 0, last = 0, id = 0;
	int err;

	while ((err = store.type->step(store.state, id, false, &stored, &w->error)) == 0) {
		uint64_t number = read_number(store, stored.id);

		assert_true(!nr || number > last);
		last = number;
		id = stored.id;
		nr++;
	}
	if (err != -ENOENT)
		fail_msg("%s", w->error.text);
	*ret_last = last;
	return nr;
}

static inline uint64_t size_of(const struct world *w, const char *suffix)
{
	char path[96];
	struct stat st;

	snprintf(path, sizeof(path), "%s%s", w->path, suffix);
	return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

/* The first value of a query, as sqlite3(1) has it, or "". */
static inline void query(const struct world *w, const char *sql, char *ret_text, size_t size)
{
	sqlite3 *db;
	sqlite3_stmt *row;

	*ret_text = '\0';
	assert_int_equal(sqlite3_open_v2(w->path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	if (sqlite3_prepare_v2(db, sql, -1, &row, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	while (sqlite3_step(row) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(row); i++) {
			const char *text = (const char *)sqlite3_column_text(row, i);
			size_t len = strlen(ret_text);

			snprintf(ret_text + len, size - len, "%s%s", text ? text : "-",
				 i + 1 < sqlite3_column_count(row) ? "|" : "\n");
		}
	}
	sqlite3_finalize(row);
	sqlite3_close(db);
}

#endif
