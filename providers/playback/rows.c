// SPDX-License-Identifier: GPL-2.0-or-later
/* Rows by key, and their sums. */
#include "lib/array.h"
#include "providers/playback/rows.h"

void played_rows_add(struct played_rows *rows, struct key key, uint64_t count,
		     const struct timing *timing)
{
	struct played_row row = { .key = key, .count = count };

	if (timing) {
		*array_add(rows->timings, rows->nr_timings, rows->room_timings) = *timing;
		row.timing = (uint32_t)rows->nr_timings;
	}
	*array_add(rows->list, rows->nr, rows->room) = row;
}

int played_rows_compare(const struct played_row *a, const struct played_row *b)
{
	return key_compare(&a->key, &b->key);
}

static int compare_rows(const void *a, const void *b)
{
	return played_rows_compare(a, b);
}

static void join_spread(struct spread *sum, const struct spread *more)
{
	spread_join(sum, more);
	buckets_join(&sum->buckets, &more->buckets);
}

/* A copy of a count's spread, owned by the rows. */
static struct spread *own_spread(struct played_rows *rows, const struct spread *from)
{
	struct spread *own;

	if (rows->nr_joined && rows->joined[rows->nr_joined - 1] == from)
		return rows->joined[rows->nr_joined - 1];
	own = xcalloc(1, sizeof(*own));
	*array_add(rows->joined, rows->nr_joined, rows->room_joined) = own;
	join_spread(own, from);
	return own;
}

static void join_timings(struct played_rows *rows, struct timing *sum, const struct timing *more)
{
	sum->time_ns += more->time_ns;
	sum->open_ns += more->open_ns;
	if (more->max_ns > sum->max_ns)
		sum->max_ns = more->max_ns;
	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		sum->hist[i] += more->hist[i];
	if (!sum->spread) {
		sum->spread = more->spread;
	} else if (more->spread) {
		struct spread *own = own_spread(rows, sum->spread);

		join_spread(own, more->spread);
		sum->spread = own;
	}
}

static void join(struct played_rows *rows, struct played_row *sum, const struct played_row *row)
{
	sum->count += row->count;
	if (!sum->timing)
		sum->timing = row->timing;
	else if (row->timing)
		join_timings(rows, played_rows_timing(rows, sum), played_rows_timing(rows, row));
}

void played_rows_join(struct played_rows *rows, const struct fields *fields)
{
	size_t nr = 0;

	if (rows->nr)
		qsort(rows->list, rows->nr, sizeof(*rows->list), compare_rows);
	for (size_t i = 0; i < rows->nr; i++) {
		const struct played_row *row = &rows->list[i];

		if (nr == 0 || played_rows_compare(&rows->list[nr - 1], row) != 0)
			rows->list[nr++] = *row;
		else if (fields_get(fields, row->key.field)->kind == FIELD_COUNTER)
			join(rows, &rows->list[nr - 1], row);
	}
	rows->nr = nr;
}

void played_rows_sample(const struct played_rows *rows, const struct field_set *wanted,
			uint32_t flags, struct sample *sample)
{
	for (size_t i = 0; i < rows->nr; i++) {
		const struct played_row *row = &rows->list[i];
		const struct timing *timed = played_rows_timing(rows, row);

		if (wanted && !field_set_has(wanted, row->key.field))
			continue;
		if (timed)
			sample_add_timed(sample, row->key, row->count, flags, timed);
		else
			sample_add(sample, row->key, row->count, flags);
	}
}

static void release_joined(struct played_rows *rows)
{
	for (size_t i = 0; i < rows->nr_joined; i++) {
		buckets_release(&rows->joined[i]->buckets);
		free(rows->joined[i]);
	}
	rows->nr_joined = 0;
}

void played_rows_reset(struct played_rows *rows)
{
	release_joined(rows);
	rows->nr = 0;
	rows->nr_timings = 0;
}

void played_rows_release(struct played_rows *rows)
{
	release_joined(rows);
	free(rows->joined);
	free(rows->timings);
	free(rows->list);
	*rows = (struct played_rows){ .nr = 0 };
}
