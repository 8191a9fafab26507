// SPDX-License-Identifier: GPL-2.0-or-later
/* Rows by key, and their sums. */
#include "lib/array.h"
#include "providers/playback/rows.h"

void played_rows_add(struct played_rows *rows, struct key key, uint64_t count,
		     const struct played_timing *timing)
{
	struct played_row row = { .key = key, .count = count };

	array_grow_unset(&rows->list, &rows->room, rows->nr + 1);
	if (timing) {
		array_grow_unset(&rows->timings, &rows->room_timings, rows->nr_timings + 1);
		rows->timings[rows->nr_timings++] = *timing;
		row.timing = (uint32_t)rows->nr_timings;
	}
	rows->list[rows->nr++] = row;
}

int played_rows_compare(const struct played_row *a, const struct played_row *b)
{
	return key_compare(&a->key, &b->key);
}

static int compare_rows(const void *a, const void *b)
{
	return played_rows_compare(a, b);
}

/* A copy of the caller's buckets, owned by the rows. */
static struct buckets *own_buckets(struct played_rows *rows, const struct buckets *from)
{
	struct buckets *own;

	if (rows->nr_joined && rows->joined[rows->nr_joined - 1] == from)
		return rows->joined[rows->nr_joined - 1];
	array_grow(&rows->joined, &rows->room_joined, rows->nr_joined + 1);
	own = xcalloc(1, sizeof(*own));
	rows->joined[rows->nr_joined++] = own;
	buckets_join(own, from);
	return own;
}

static void join_buckets(struct played_rows *rows, struct spread *sum, const struct spread *more)
{
	struct buckets *own;

	if (!rows->has_spreads || !sum->buckets || !more->buckets) {
		sum->buckets = NULL;
		return;
	}
	own = own_buckets(rows, sum->buckets);
	sum->buckets = own;
	buckets_join(own, more->buckets);
}

static void join_timings(struct played_rows *rows, struct played_timing *sum,
			 const struct played_timing *more)
{
	sum->timing.time_ns += more->timing.time_ns;
	sum->timing.open_ns += more->timing.open_ns;
	if (more->timing.max_ns > sum->timing.max_ns)
		sum->timing.max_ns = more->timing.max_ns;
	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		sum->timing.hist[i] += more->timing.hist[i];
	spread_join(&sum->spread, &more->spread);
	join_buckets(rows, &sum->spread, &more->spread);
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
		const struct played_timing *timed = played_rows_timing(rows, row);
		struct timing timing;

		if (wanted && !field_set_has(wanted, row->key.field))
			continue;
		if (!timed) {
			sample_add(sample, row->key, row->count, flags);
			continue;
		}
		timing = timed->timing;
		timing.spread = rows->has_spreads && timed->spread.count ? &timed->spread : NULL;
		sample_add_timed(sample, row->key, row->count, flags, &timing);
	}
}

static void release_joined(struct played_rows *rows)
{
	for (size_t i = 0; i < rows->nr_joined; i++) {
		buckets_release(rows->joined[i]);
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
