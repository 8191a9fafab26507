// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes a sample of the counts at the end of each interval of a recording. It is handled as a live
 * sample is.
 */
#include <math.h>

#include "trace/exits/recording.h"

/* Rows of all moments together, as they are added: half a second, and at most a few seconds. */
#define ROWS_DEFAULT 1.5e6
#define ROWS_MAX 12e6
#define ROWS_OF_COUNT 3 /* the exit, its kind, and the event with the reason */
#define NS_PER_S 1e9

/* ---- how long an interval is */

/* 1, 2 or 5 times a power of ten, at least `least`. */
static double round_up(double least)
{
	double power = pow(10, floor(log10(least)));

	for (int digit = 1; digit <= 5; digit += digit == 1 ? 1 : 3) {
		if (digit * power >= least * (1 - 1e-9))
			return digit * power;
	}
	return 10 * power;
}

/* How many a thread adds to a moment, at most; and looking at it is as much as one. */
static size_t count_rows(const struct recorded_thread *thread)
{
	const struct thread_counts *counts = &thread->counts;
	size_t nr = 1 + ROWS_OF_COUNT * counts->nr + (thread->is_vcpu ? TIME_PARTS : 0);

	for (uint32_t i = 0; i < counts->nr_events; i++)
		nr += counts->events[i] > 0;
	return nr;
}

/* The shortest interval with so many rows. */
static double shortest_s(const struct recording *recording, double most_rows)
{
	const struct table *table = &recording->pairing.table;
	double rows = 1;

	for (size_t i = 0; i < table->nr_threads; i++)
		rows += (double)count_rows(table->threads[i]);
	return round_up(fmax((double)recording->span_ns, 1) / NS_PER_S /
			fmin(INTERVALS_MAX, fmax(most_rows / rows, 10)));
}

static double wanted_s(const struct recording *recording)
{
	double span_s = fmax((double)recording->span_ns, 1) / NS_PER_S;

	if (recording->choice.interval_s > 0)
		return fmax(recording->choice.interval_s, shortest_s(recording, ROWS_MAX));
	return fmax(fmin(round_up(span_s / 100), 1), shortest_s(recording, ROWS_DEFAULT));
}

static double length_ns(const struct recording *recording)
{
	return recording->pairing.intervals.length * recording->ns_per_unit;
}

double moments_interval_s(struct recording *recording)
{
	struct intervals *intervals = &recording->pairing.intervals;
	double factor;

	if (!intervals->are_kept)
		return 0;
	factor = ceil(wanted_s(recording) * NS_PER_S / length_ns(recording) * (1 - 1e-9));
	if (factor > 1)
		intervals_join(intervals, (uint32_t)fmin(factor, INTERVALS_MAX));
	return length_ns(recording) / NS_PER_S;
}

/* ---- a sample */

struct moments_maker {
	struct recording *recording;
	struct fields *fields;
	struct played_rows rows, before; /* of the latest sample, and of the one before */
	struct stats *stats;
	moment_fn take;
	void *arg; /* of take */
};

/*
 * Counters do not go back. But a vCPU's time would, where an exit seemed to be open until it turned
 * out that events are missing.
 */
static void keep_rising(struct moments_maker *maker)
{
	const struct fields *fields = maker->fields;
	const struct played_rows *before = &maker->before;
	size_t at = 0;

	for (size_t i = 0; i < maker->rows.nr; i++) {
		struct played_row *row = &maker->rows.list[i];

		while (at < before->nr && played_rows_compare(&before->list[at], row) < 0)
			at++;
		if (at < before->nr && played_rows_compare(&before->list[at], row) == 0 &&
		    fields_get(fields, row->key.field)->kind == FIELD_COUNTER &&
		    row->count < before->list[at].count)
			row->count = before->list[at].count;
	}
}

static void make_rows(struct moments_maker *maker)
{
	const struct played_rows rows = maker->before;
	struct fields *fields = maker->fields;

	maker->before = maker->rows;
	maker->rows = rows;
	played_rows_reset(&maker->rows);
	recorded_add_events(&maker->rows, maker->recording, fields, RECORDED_EVENTS);
	recorded_add_exits(&maker->rows, maker->recording, fields, RECORDED_EXITS);
	played_rows_join(&maker->rows, fields);
	keep_rising(maker);
}

/* offset_ns: of the sample from the recording's start. */
static void make_sample(struct moments_maker *maker, uint64_t offset_ns)
{
	struct sample sample = { 0 };

	/* 0 would mean that the sample has nothing of the source. */
	sample.time_ns[RECORDED_EVENTS] = sample.time_ns[RECORDED_EXITS] = 1 + offset_ns;
	played_rows_sample(&maker->rows, NULL, ROW_NEW, &sample);
	stats_update(maker->stats, maker->fields, &sample);
	sample_release(&sample); /* what it has, stats have; a moment needs the memory */
}

static int take_moment(struct moments_maker *maker, uint64_t offset_ns)
{
	const struct facts facts = {
		.fields = maker->fields,
		.stats = maker->stats,
		.guests = maker->recording->guests,
	};

	return maker->take(maker->arg, &facts, offset_ns);
}

/* ---- all of them */

/*
 * How many intervals there are. A rest of less than half an interval belongs to the last one: the
 * rates of so short a time would be the peaks of a chart. A rest of less than 1 ns is none.
 */
static uint32_t count_intervals(const struct recording *recording)
{
	double rest_ns = (double)recording->span_ns - 1;
	double nr = floor(rest_ns / length_ns(recording) + 0.5);

	return (uint32_t)fmin(fmax(nr, 1), INTERVALS_MAX + 1);
}

static int make_all(struct moments_maker *maker)
{
	struct pairing *pairing = &maker->recording->pairing;
	struct intervals *intervals = &pairing->intervals;
	uint32_t nr = count_intervals(maker->recording);
	uint64_t last_time = pairing->last_time;
	int err;

	intervals_rewind(intervals);
	make_sample(maker, 0);
	err = take_moment(maker, 0);
	for (uint32_t i = 0; i + 1 < nr && !err; i++) {
		intervals_replay(intervals, i);
		/* What is open lasts until then. */
		pairing->last_time = intervals_end_of(intervals, i);
		make_rows(maker);
		make_sample(maker, (uint64_t)((i + 1.0) * length_ns(maker->recording)));
		err = take_moment(maker, (uint64_t)((i + 1.0) * length_ns(maker->recording)));
	}
	intervals_replay(intervals, UINT32_MAX);
	pairing->last_time = last_time;
	if (err)
		return err;
	make_rows(maker);
	make_sample(maker, maker->recording->span_ns);
	return take_moment(maker, maker->recording->span_ns);
}

int moments_make(struct recording *recording, struct fields *fields, moment_fn take_fn, void *arg)
{
	struct moments_maker maker = {
		.recording = recording,
		.fields = fields,
		.stats = stats_new(),
		.take = take_fn,
		.arg = arg,
	};
	const struct table *table = &recording->pairing.table;
	int err;

	maker.stats->keeps_no_rates = true;
	recording->is_moment = true;
	err = make_all(&maker);
	recording->is_moment = false;
	for (size_t i = 0; i < table->nr_threads; i++)
		table_forget(table->threads[i]);
	recording->pairing.intervals.are_kept = false;
	played_rows_release(&maker.rows);
	played_rows_release(&maker.before);
	stats_free(maker.stats);
	return err;
}
