/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * intervals - what the threads of a recording were at the end of each interval, kept while the
 * recording is read: for the moments of a screen.
 *
 * How long a recording is, is known at its end. So intervals begin short, and when there are too
 * many of them, or they take too much memory, neighbours are joined: of two or five of them the
 * last one stays. A thread is kept before it changes for the first time in an interval, so a
 * recording of many threads costs no more than what changes.
 *
 * What threads that have ended were becomes a part of what one thread was, see table_sum().
 */
#ifndef KVMTOP_TRACE_EXITS_INTERVALS_H
#define KVMTOP_TRACE_EXITS_INTERVALS_H

#include "trace/exits/table.h"

/* A count at the end of an interval, in which it has changed. */
struct kept_count {
	uint32_t interval;
	uint64_t begun, ended;
	struct timing timing; /* of what ended; without a spread */
};

/* A thread that was counted in an interval, or changed, at its end. */
struct kept_thread {
	uint32_t interval;
	int32_t cpu;
	struct thread_state state;
	uint32_t nr_events;
	uint64_t events[]; /* as thread_counts.events */
};

struct intervals {
	struct table *table;
	bool are_kept;	 /* else the other members are not used */
	double length;	 /* in the clock's unit */
	uint64_t begin;	 /* of the first one */
	uint64_t end;	 /* of the latest one: an event at this time begins the next */
	uint32_t latest; /* its number, from 0 */
	double long_from; /* from this length on there may be INTERVALS_MAX */
	uint32_t nr_joins;
	size_t bytes; /* of what is kept */
};

#define INTERVALS_MAX 10000

/* length: in the clock's unit; 0: none are kept. long_from: see struct intervals; 0: any length. */
void intervals_init(struct intervals *intervals, struct table *table, double length,
		    double long_from);

/* The time of the first event. */
void intervals_begin(struct intervals *intervals, uint64_t time);

/* To be called before the thread changes, with the time of the event that changes it. */
void intervals_keep(struct intervals *intervals, struct recorded_thread *thread, uint64_t time);

static inline void intervals_touch(struct intervals *intervals, struct recorded_thread *thread,
				   uint64_t time)
{
	if (intervals->are_kept)
		intervals_keep(intervals, thread, time);
}

/* At the stream's end: keeps all threads. */
void intervals_end(struct intervals *intervals);

/* Makes one interval of each `factor` of them. */
void intervals_join(struct intervals *intervals, uint32_t factor);

/*
 * Threads become a part of a sum in steps: intervals_split() of the sum and of each thread, which
 * is kept for the last time; then what each of them had is moved; then intervals_join_up() of the
 * sum; then intervals_measure(), when the threads are freed.
 */
void intervals_split(struct intervals *intervals, struct recorded_thread *thread);
void intervals_move(struct recorded_thread *sum, struct recorded_thread *thread);
void intervals_move_count(struct exit_count *sum, struct exit_count *count);
void intervals_join_up(struct recorded_thread *sum);
void intervals_measure(struct intervals *intervals);

/* When an interval ends, in the clock's unit; at most UINT64_MAX. */
uint64_t intervals_end_of(const struct intervals *intervals, uint32_t interval);

/*
 * Sets all threads to the recording's begin, and to the end of further intervals; UINT32_MAX: of
 * the last one. Counts stay: see count_kept().
 */
void intervals_rewind(struct intervals *intervals);
void intervals_replay(struct intervals *intervals, uint32_t interval);

/* What a count was then; NULL: it was not there. */
static inline const struct kept_count *count_kept(const struct exit_count *count)
{
	return count->at ? &count->kept[count->at - 1] : NULL;
}

#endif
