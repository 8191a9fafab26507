// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the threads that have ended, and adds what they counted to the thread that is their sum. */
#include <stdlib.h>

#include "trace/exits/pairing.h"

/* ---- which threads have ended */

/* How many are kept apart, with room for more to come. */
#define MOST_LEFT(most) ((most) / 4 * 3)

static bool is_kept(const struct recorded_thread *thread)
{
	return thread->nr_longs || thread->has_code;
}

static bool lives(const struct pairing *pairing, const struct recorded_thread *thread,
		  uint64_t time)
{
	return !pairing->quiet || elapsed(thread->last, time) < pairing->quiet ||
	       (table_state(thread)->mode != VCPU_UNKNOWN &&
		!pairing_may_be_gone(pairing, thread));
}

/* A guest lives if any of its threads does. */
static void find_guests(struct pairing *pairing, uint64_t time)
{
	for (size_t i = 0; i < pairing->table.nr_threads; i++) {
		struct recorded_thread *thread = pairing->table.threads[i];

		if (thread->is_sum)
			continue;
		guests_identify(pairing->trace, thread);
		if (!thread->is_vcpu)
			continue;
		/* A thread of no known guest may show its vCPU later. */
		if (thread->guest >= 0 || thread->pid >= 0 || thread->vcpu >= 0)
			recorded_guest_of(&pairing->guests, pairing->trace, thread);
		if (thread->of && (is_kept(thread) || lives(pairing, thread, time)))
			thread->of->lives = pairing->nr_sweeps;
	}
}

/* GONE: all threads of the guest have ended. */
enum of_guest { OF_NONE, OF_LIVING, OF_GONE };

static enum of_guest of_guest(const struct pairing *pairing, const struct recorded_thread *thread)
{
	const struct recorded_guest *guest =
		recorded_guest_find(&pairing->guests, pairing->trace, thread);

	if (!guest)
		return thread->is_sum ? OF_GONE : OF_NONE;
	return guest->lives == pairing->nr_sweeps ? OF_LIVING : OF_GONE;
}

static bool has_ended(const struct pairing *pairing, const struct recorded_thread *thread,
		      uint64_t time)
{
	if (is_kept(thread))
		return false;
	if (thread->is_sum) /* of a process that is a guest, or was one */
		return thread->pid >= 0 && of_guest(pairing, thread) == OF_GONE;
	if (!thread->is_vcpu) /* a file's list of guests has few threads */
		return thread->tid >= 0 && thread->guest < 0;
	return thread->of ? thread->of->lives != pairing->nr_sweeps :
			    !lives(pairing, thread, time);
}

static int compare_last(const void *a, const void *b)
{
	const struct recorded_thread *x = *(struct recorded_thread *const *)a;
	const struct recorded_thread *y = *(struct recorded_thread *const *)b;

	if (x->last != y->last)
		return x->last < y->last ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

/* What is left after threads have ended. */
struct left {
	size_t threads, events;
};

static void end_thread(struct recorded_thread *thread, struct left *left)
{
	thread->has_ended = true;
	left->threads--;
	left->events -= thread->counts.nr_events;
}

static void end_oldest(struct pairing *pairing, struct left *left)
{
	const struct table *table = &pairing->table;
	struct recorded_thread **sorted = xcalloc(table->nr_threads, sizeof(*sorted));
	size_t nr = 0;

	for (size_t i = 0; i < table->nr_threads; i++) {
		struct recorded_thread *thread = table->threads[i];

		if (!thread->has_ended && !thread->is_sum && !is_kept(thread))
			sorted[nr++] = thread;
	}
	qsort(sorted, nr, sizeof(*sorted), compare_last);
	for (size_t i = 0; i < nr && (left->threads > MOST_LEFT(ENDED_MOST) ||
				      left->events > MOST_LEFT(ENDED_EVENTS)); i++)
		end_thread(sorted[i], left);
	free(sorted);
}

static struct left end_threads(struct pairing *pairing, uint64_t time)
{
	const struct table *table = &pairing->table;
	struct left left = { table->nr_threads, table->nr_events };

	for (size_t i = 0; i < table->nr_threads; i++) {
		if (has_ended(pairing, table->threads[i], time))
			end_thread(table->threads[i], &left);
	}
	if (left.threads > MOST_LEFT(ENDED_MOST) || left.events > MOST_LEFT(ENDED_EVENTS))
		end_oldest(pairing, &left);
	return left;
}

/* ---- their sum */

static struct recorded_thread *sum_of(struct pairing *pairing,
				      const struct recorded_thread *thread)
{
	enum of_guest of = thread->is_vcpu ? OF_GONE : of_guest(pairing, thread);

	return table_sum(&pairing->table, of == OF_GONE, thread->file,
			 of == OF_LIVING ? thread->pid : -1);
}

static void add_counts(struct table *table, struct recorded_thread *sum,
		       struct recorded_thread *thread)
{
	const struct thread_counts *counts = &thread->counts;

	for (uint32_t i = 0; i < counts->nr; i++)
		table->nr_counts[counts->list[i]->key.kind]--;
	table->nr_events -= counts->nr_events;
	for (uint32_t i = 0; i < counts->nr; i++) {
		struct exit_count *from = counts->list[i];
		struct exit_count *to = table_find_count(table, sum, &from->key);

		to->begun += from->begun;
		spread_join(&to->took, &from->took);
		buckets_join(&to->took.buckets, &from->took.buckets);
		intervals_move_count(to, from);
	}
	/* The last one first: so the sum grows once. */
	for (uint32_t i = counts->nr_events; i-- > 0;)
		table_count_events(table, sum, i, counts->events[i]);
}

static void add_thread(struct pairing *pairing, struct recorded_thread *thread)
{
	struct recorded_thread *sum = sum_of(pairing, thread);
	const struct thread_times times = table_ended_times(table_state(thread));

	if (pairing->listener) {
		if (thread->state)
			spans_cut_off(pairing, thread, thread->last);
		pairing->listener->gone(pairing->listener->state, thread);
	}
	intervals_split(&pairing->intervals, thread);
	intervals_move(sum, thread);
	add_counts(&pairing->table, sum, thread);
	if (thread->state) {
		table_make_state(sum)->has_exit |= thread->state->has_exit;
		thread_times_add(&sum->state->times, &times, 1);
	}
	pairing->nr_ended += thread->is_vcpu;
}

void ended_sweep(struct pairing *pairing, uint64_t time)
{
	const size_t nr = pairing->table.nr_threads; /* sums that are new are not split */
	struct table *table = &pairing->table;
	struct left left;

	pairing->nr_sweeps++;
	find_guests(pairing, time);
	left = end_threads(pairing, time);
	for (size_t i = 0; i < nr; i++) {
		if (table->threads[i]->is_sum && !table->threads[i]->has_ended)
			intervals_split(&pairing->intervals, table->threads[i]);
	}
	for (size_t i = 0; i < nr; i++) {
		if (table->threads[i]->has_ended)
			add_thread(pairing, table->threads[i]);
	}
	for (size_t i = 0; i < nr; i++) {
		if (table->threads[i]->has_ended)
			recorded_guest_leave(&pairing->guests, table->threads[i]);
	}
	table_drop_ended(table);
	for (size_t i = 0; i < table->nr_threads; i++) {
		if (table->threads[i]->is_sum)
			intervals_join_up(table->threads[i]);
	}
	intervals_measure(&pairing->intervals);
	/* As many again may come, and at most so many. */
	pairing->most_threads = left.threads < ENDED_MOST / 2 ? 2 * left.threads : ENDED_MOST;
	if (pairing->most_threads < left.threads + ENDED_FEW)
		pairing->most_threads = left.threads + ENDED_FEW;
	pairing->most_events = ENDED_EVENTS > 2 * table->nr_events ? ENDED_EVENTS :
								     2 * table->nr_events;
}
