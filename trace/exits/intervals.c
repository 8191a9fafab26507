// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps threads and counts as they were, joins intervals, and goes through them again. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/exits/pairing.h"

#define MOST_SHORT 2000 /* intervals that are shorter than long_from */
#define BYTES_MAX ((size_t)64 << 20)

void intervals_init(struct intervals *intervals, struct table *table, double length,
		    double long_from)
{
	*intervals = (struct intervals){
		.table = table,
		.are_kept = length > 0,
		.length = length,
		.long_from = long_from,
	};
}

uint64_t intervals_end_of(const struct intervals *intervals, uint32_t interval)
{
	double after = ceil(((double)interval + 1) * intervals->length);

	return after < (double)(UINT64_MAX - intervals->begin) ?
		       intervals->begin + (uint64_t)after : UINT64_MAX;
}

/* ---- keeping */

static size_t size_of(const struct kept_thread *kept)
{
	return sizeof(*kept) + kept->nr_events * sizeof(kept->events[0]);
}

static void keep_count(struct intervals *intervals, struct exit_count *count, uint32_t interval)
{
	struct kept_count *last = count->nr_kept ? &count->kept[count->nr_kept - 1] : NULL;

	if (last ? last->begun == count->begun && last->ended == count->took.count : !count->begun)
		return;
	if (!last || last->interval != interval) {
		count->kept = kept_grow(count->kept, count->nr_kept, sizeof(*count->kept));
		last = &count->kept[count->nr_kept++];
		intervals->bytes += sizeof(*last);
	}
	last->interval = interval;
	last->begun = count->begun;
	last->ended = count->took.count;
	timing_of_spread(&count->took, &last->timing);
	last->timing.spread = NULL;
	last->parts = count->parts;
}

static struct kept_thread *copy_of(const struct recorded_thread *thread)
{
	uint32_t nr = thread->counts.nr_events;
	struct kept_thread *kept = xmalloc(sizeof(*kept) + nr * sizeof(kept->events[0]));

	kept->interval = thread->interval;
	kept->cpu = thread->cpu;
	kept->state = *table_state(thread);
	kept->nr_events = nr;
	if (nr)
		memcpy(kept->events, thread->counts.events, nr * sizeof(kept->events[0]));
	return kept;
}

static void keep_thread(struct intervals *intervals, struct recorded_thread *thread)
{
	struct kept_thread *last = thread->nr_kept ? thread->kept[thread->nr_kept - 1] : NULL;

	if (last && last->interval == thread->interval) {
		intervals->bytes -= size_of(last);
		free(last);
		thread->nr_kept--;
	} else {
		thread->kept = kept_grow(thread->kept, thread->nr_kept, sizeof(*thread->kept));
	}
	last = copy_of(thread);
	thread->kept[thread->nr_kept++] = last;
	intervals->bytes += size_of(last);
	for (size_t i = 0; i < thread->counts.nr; i++)
		keep_count(intervals, thread->counts.list[i], thread->interval);
}

/* ---- joining */

static void measure_bytes(struct intervals *intervals)
{
	const struct table *table = intervals->table;

	intervals->bytes = 0;
	for (size_t i = 0; i < table->nr_threads; i++) {
		const struct recorded_thread *thread = table->threads[i];

		for (uint32_t k = 0; k < thread->nr_kept; k++)
			intervals->bytes += size_of(thread->kept[k]);
		for (uint32_t k = 0; k < thread->counts.nr; k++)
			intervals->bytes += thread->counts.list[k]->nr_kept *
					    sizeof(struct kept_count);
	}
}

static void join_counts(struct exit_count *count, uint32_t factor)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < count->nr_kept; i++) {
		struct kept_count *kept = &count->kept[i];

		kept->interval /= factor;
		nr -= nr && count->kept[nr - 1].interval == kept->interval;
		count->kept[nr++] = *kept;
	}
	count->nr_kept = nr;
}

static void join_threads(struct recorded_thread *thread, uint32_t factor)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < thread->nr_kept; i++) {
		struct kept_thread *kept = thread->kept[i];

		kept->interval /= factor;
		if (nr && thread->kept[nr - 1]->interval == kept->interval)
			free(thread->kept[--nr]);
		thread->kept[nr++] = kept;
	}
	thread->nr_kept = nr;
	if (thread->interval != INTERVAL_NONE)
		thread->interval /= factor;
}

void intervals_join(struct intervals *intervals, uint32_t factor)
{
	const struct table *table = intervals->table;

	for (size_t i = 0; i < table->nr_threads; i++) {
		struct recorded_thread *thread = table->threads[i];

		join_threads(thread, factor);
		for (uint32_t k = 0; k < thread->counts.nr; k++)
			join_counts(thread->counts.list[k], factor);
	}
	measure_bytes(intervals);
	intervals->length *= factor;
	intervals->latest /= factor;
	intervals->end = intervals_end_of(intervals, intervals->latest);
}

/* ---- the stream */

/* The number of the interval that has this time. */
static double number_of(const struct intervals *intervals, uint64_t time)
{
	return floor((double)(time - intervals->begin) / intervals->length);
}

static bool are_too_many(const struct intervals *intervals, uint64_t time)
{
	double most = intervals->length < intervals->long_from ? MOST_SHORT : INTERVALS_MAX;

	return number_of(intervals, time) >= most ||
	       (intervals->bytes > BYTES_MAX && intervals->latest);
}

void intervals_begin(struct intervals *intervals, uint64_t time)
{
	intervals->begin = time;
	intervals->end = intervals_end_of(intervals, 0);
}

static void go_on(struct intervals *intervals, uint64_t time)
{
	while (are_too_many(intervals, time)) /* 2, 10, 20, 100 ... times as long as at first */
		intervals_join(intervals, intervals->nr_joins++ % 2 ? 5 : 2);
	if (number_of(intervals, time) > intervals->latest + 1.0)
		intervals->latest = (uint32_t)number_of(intervals, time) - 1;
	intervals->end = intervals_end_of(intervals, intervals->latest);
	while (time >= intervals->end && intervals->end != UINT64_MAX)
		intervals->end = intervals_end_of(intervals, ++intervals->latest);
}

void intervals_keep(struct intervals *intervals, struct recorded_thread *thread, uint64_t time)
{
	if (time >= intervals->end)
		go_on(intervals, time);
	if (thread->interval == intervals->latest)
		return;
	if (thread->interval != INTERVAL_NONE)
		keep_thread(intervals, thread);
	thread->interval = intervals->latest;
}

void intervals_end(struct intervals *intervals)
{
	const struct table *table = intervals->table;

	for (size_t i = 0; intervals->are_kept && i < table->nr_threads; i++) {
		if (table->threads[i]->interval != INTERVAL_NONE)
			keep_thread(intervals, table->threads[i]);
	}
}

/* ---- once more */

void intervals_rewind(struct intervals *intervals)
{
	const struct table *table = intervals->table;

	for (size_t i = 0; i < table->nr_threads; i++) {
		struct recorded_thread *thread = table->threads[i];

		thread->at = 0;
		thread->cpu = -1;
		if (thread->state)
			*thread->state = (struct thread_state){ .has_exit = false };
		if (thread->counts.nr_events)
			memset(thread->counts.events, 0,
			       thread->counts.nr_events * sizeof(*thread->counts.events));
		for (size_t k = 0; k < thread->counts.nr; k++)
			thread->counts.list[k]->at = 0;
	}
}

static void set_thread(struct recorded_thread *thread, const struct kept_thread *kept)
{
	thread->cpu = kept->cpu;
	if (thread->state)
		*thread->state = kept->state;
	if (kept->nr_events)
		memcpy(thread->counts.events, kept->events,
		       kept->nr_events * sizeof(kept->events[0]));
}

void intervals_replay(struct intervals *intervals, uint32_t interval)
{
	const struct table *table = intervals->table;

	for (size_t i = 0; i < table->nr_threads; i++) {
		struct recorded_thread *thread = table->threads[i];
		uint32_t at = thread->at;

		while (at < thread->nr_kept && thread->kept[at]->interval <= interval)
			at++;
		if (at == thread->at)
			continue;
		thread->at = at;
		set_thread(thread, thread->kept[at - 1]);
		for (size_t k = 0; k < thread->counts.nr; k++) {
			struct exit_count *count = thread->counts.list[k];

			while (count->at < count->nr_kept &&
			       count->kept[count->at].interval <= interval)
				count->at++;
		}
	}
}
