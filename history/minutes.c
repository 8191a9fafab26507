// SPDX-License-Identifier: GPL-2.0-or-later
/* The exits of a minute, which SQL reads without unpacking. */
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/hash.h"
#include "lib/number.h"
#include "history/file_state.h"

#define SECOND UINT64_C(1000000000)

struct sum_key {
	uint32_t guest, field;
};

struct minute_sum {
	struct sum_key key;
	bool is_used, is_timed; /* in this minute */
	uint64_t count, time_ns, ended_ns;
	uint64_t longest_ns; /* a new maximum in this minute; 0: none */
	uint64_t known_max_ns; /* the longest of all minutes */
	uint64_t hist[HIST_BUCKETS];
	UT_hash_handle hh;
};

uint64_t minute_of(const struct moment *moment)
{
	uint64_t half_ns = moment->elapsed_ns / 2;
	uint64_t middle_ns = moment->time_ns > half_ns ? moment->time_ns - half_ns : 0;

	return middle_ns / (60 * SECOND) * 60;
}

/* ---- what is counted */

/* Whether the field is a reason for VM exits, of the kind of field that is counted. */
static bool is_reason(const struct history_file *file, uint32_t id, enum field_use use)
{
	uint32_t here = file_ids_of(&file->fields_here, id);
	const struct field *field = here ? fields_get(file->fields, here - 1) : NULL;

	return field && field->use == use && field->parent != FIELD_NONE &&
	       fields_get(file->fields, field->parent)->exit_rank == 1;
}

/* Events count the same exits as "vmexit" does, and are taken where exits cannot be timed. */
static enum field_use counted_use(const struct fields *fields)
{
	for (uint32_t id = 0; id < fields_count(fields); id++) {
		if (fields_get(fields, id)->use == USE_EXIT)
			return USE_EXIT;
	}
	return USE_EVENT;
}

/* ---- sums */

static struct minute_sum *sum_of(struct minutes *minutes, const struct key *key)
{
	const struct sum_key wanted = { key->guest, key->field };
	struct minute_sum *sum;

	sum = minutes->next;
	if (!sum || sum->key.guest != wanted.guest || sum->key.field != wanted.field)
		HASH_FIND(hh, minutes->sums, &wanted, sizeof(wanted), sum);
	if (sum) {
		minutes->next = sum->hh.next;
		return sum;
	}
	sum = xcalloc(1, sizeof(*sum));
	sum->key = wanted;
	hash_add(minutes->sums, key, sum);
	return sum;
}

static void raise_max(struct minute_sum *sum, uint64_t max_ns)
{
	if (sum->known_max_ns < max_ns)
		sum->known_max_ns = max_ns;
}

static void add_timing(struct minute_sum *sum, const struct changes *changes,
		       const struct change_timing *timing)
{
	sum->is_timed = true;
	sum->time_ns += change_timing_spent_ns(timing);
	sum->ended_ns += timing->time_ns;
	if (sum->longest_ns < timing->max_ns)
		sum->longest_ns = timing->max_ns;
	raise_max(sum, timing->max_ns);
	changes_add_counts(changes, timing, sum->hist);
}

static void add_change(struct minutes *minutes, const struct changes *changes,
		       const struct change *change)
{
	const struct change_timing *timing = changes_timing(changes, change);
	struct minute_sum *sum;

	if (!change->count && !timing)
		return;
	sum = sum_of(minutes, &change->key);
	sum->is_used = true;
	sum->count += change->count;
	if (timing)
		add_timing(sum, changes, timing);
}

/* What was the longest before the first minute. */
static void raise_by_totals(struct minutes *minutes, const struct changes *totals)
{
	for (size_t i = 0; i < totals->nr; i++) {
		const struct change *total = &totals->list[i];
		const struct sum_key key = { total->key.guest, total->key.field };
		struct minute_sum *sum;

		if (!total->timing)
			continue;
		HASH_FIND(hh, minutes->sums, &key, sizeof(key), sum);
		if (sum)
			raise_max(sum, totals->timings[total->timing - 1].max_ns);
	}
}

/* As in spans: a moment without an interval has nothing new, as a run's first one. */
void minutes_add(struct history_file *file, const struct moment *moment)
{
	enum field_use use = counted_use(file->fields);

	file->minutes.start_s = minute_of(moment);
	for (size_t i = 0; moment->elapsed_ns && i < moment->changes.nr; i++) {
		const struct change *change = &moment->changes.list[i];

		if (!(change->flags & CHANGE_IS_TOTAL) && is_reason(file, change->key.field, use))
			add_change(&file->minutes, &moment->changes, change);
	}
	if (moment->flags & MOMENT_HAS_TOTALS)
		raise_by_totals(&file->minutes, &moment->totals);
}

/* ---- rows */

/*
 * The longest exit of the minute where it was longer than all before; else the upper edge of the
 * last bucket that has one, as far as a longer one is known.
 */
static uint64_t longest_of(const struct minute_sum *sum)
{
	unsigned int last = HIST_BUCKETS;
	uint64_t edge;

	while (last && !sum->hist[last - 1])
		last--;
	if (!last)
		return 0;
	if (sum->longest_ns && (last == 1 || sum->longest_ns >= hist_edge_ns(last - 2)))
		return sum->longest_ns;
	edge = last < HIST_BUCKETS ? hist_edge_ns(last - 1) : INT64_MAX;
	return sum->known_max_ns && sum->known_max_ns < edge ? sum->known_max_ns : edge;
}

static int compare_sums(const struct minute_sum *a, const struct minute_sum *b)
{
	return compared(a->key.guest, b->key.guest) ?: compared(a->key.field, b->key.field);
}

static int write_row(struct history_file *file, const struct minute_sum *sum, struct error *error)
{
	const struct hist_known known = { sum->ended_ns, 0, longest_of(sum) };
	const uint64_t p50_ns = hist_percentile_ns(sum->hist, 0.5, known);
	const uint64_t p99_ns = hist_percentile_ns(sum->hist, 0.99, known);
	const struct db_value none = { 0 };
	const struct db_value row[] = {
		db_column("time", DB_NUMBER(file->minutes.start_s)),
		db_column("guest", DB_NUMBER(sum->key.guest)),
		db_column("field", DB_NUMBER(sum->key.field)),
		db_column("count", DB_NUMBER(sum->count)),
		db_column("time_ns", sum->is_timed ? DB_NUMBER(sum->time_ns) : none),
		db_column("max_ns", sum->is_timed ? DB_NUMBER(known.max_ns) : none),
		db_column("p50_ns", sum->is_timed ? DB_NUMBER(p50_ns) : none),
		db_column("p99_ns", sum->is_timed ? DB_NUMBER(p99_ns) : none),
	};

	return db_run_with(&file->db, SQL_ADD_MINUTE, row, ARRAY_SIZE(row), error);
}

int minutes_write(struct history_file *file, struct error *error)
{
	const struct minute_sum *sum;
	int err = 0;

	HASH_SORT(file->minutes.sums, compare_sums);
	for (sum = file->minutes.sums; sum && !err; sum = sum->hh.next) {
		if (sum->is_used)
			err = write_row(file, sum, error);
	}
	return err;
}

void minutes_reset(struct minutes *minutes)
{
	struct minute_sum *sum, *next;

	minutes->start_s = 0;
	minutes->next = NULL;
	for (sum = minutes->sums; sum; sum = next) {
		const struct sum_key key = sum->key;
		uint64_t known_max_ns = sum->known_max_ns;

		next = sum->hh.next;
		if (!sum->is_used) { /* its guest did nothing for a minute, or has ended */
			HASH_DEL(minutes->sums, sum);
			free(sum);
			continue;
		}
		memset(sum, 0, offsetof(struct minute_sum, hh));
		sum->key = key;
		sum->known_max_ns = known_max_ns;
	}
}

void minutes_release(struct minutes *minutes)
{
	hash_free(minutes->sums, free);
	*minutes = (struct minutes){ 0 };
}
