// SPDX-License-Identifier: GPL-2.0-or-later
/* The threads, and the counts of all threads, in a hash table each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "trace/exits/table.h"

#define MAX_COUNTS 20000 /* for each kind, and the reasons of each thread */
#define FEW_REASONS 64 /* of a thread */
#define COUNT_KEY_BYTES (sizeof(struct exit_key) + sizeof(struct recorded_thread *))

/* ---- threads */

static struct recorded_thread *find_thread(const struct table *table, uint64_t key)
{
	struct recorded_thread *thread;

	HASH_FIND(hh, table->by_key, &key, sizeof(key), thread);
	return thread;
}

static struct recorded_thread *add_thread(struct table *table)
{
	struct recorded_thread *thread = xcalloc(1, sizeof(*thread));

	thread->index = (uint32_t)table->nr_threads;
	thread->pid = thread->tid = thread->vcpu = thread->cpu = -1;
	thread->guest = -1;
	thread->interval = INTERVAL_NONE;
	thread->is_new = true;
	*array_add(table->threads, table->nr_threads, table->room_threads) = thread;
	return thread;
}

struct recorded_thread *table_others(struct table *table)
{
	if (!table->others) {
		table->others = add_thread(table);
		table->others->is_others = true;
	}
	return table->others;
}

struct recorded_thread *table_add(struct table *table, const struct trace_event *event)
{
	struct recorded_thread *thread = find_thread(table, event->thread_key);

	if (thread)
		return thread;
	if (table->most_threads && HASH_COUNT(table->by_key) >= table->most_threads)
		return table_others(table);
	thread = add_thread(table);
	thread->key = event->thread_key;
	thread->file = event->file;
	thread->pid = event->pid;
	thread->tid = event->tid;
	hash_add(table->by_key, key, thread);
	return thread;
}

void table_unlink(struct recorded_thread *thread)
{
	if (!thread->prev)
		return;
	*thread->prev = thread->next;
	if (thread->next)
		thread->next->prev = thread->prev;
	thread->prev = NULL;
}

void table_link(struct table *table, struct recorded_thread *thread, int32_t cpu)
{
	struct recorded_thread **first = table_of_cpu(table, cpu);

	table_unlink(thread);
	thread->cpu = cpu;
	thread->next = *first;
	if (thread->next)
		thread->next->prev = &thread->next;
	*first = thread;
	thread->prev = first;
}

void table_forget(struct recorded_thread *thread)
{
	for (uint32_t i = 0; i < thread->nr_kept; i++)
		free(thread->kept[i]);
	free(thread->kept);
	thread->kept = NULL;
	thread->nr_kept = thread->at = 0;
	for (uint32_t i = 0; i < thread->counts.nr; i++) {
		struct exit_count *count = thread->counts.list[i];

		free(count->kept);
		count->kept = NULL;
		count->nr_kept = count->at = 0;
	}
}

static void free_thread(struct table *table, struct recorded_thread *thread)
{
	struct thread_counts *counts = &thread->counts;

	table_forget(thread);
	for (size_t i = 0; i < counts->nr; i++) {
		HASH_DEL(table->counts, counts->list[i]);
		buckets_release(&counts->list[i]->took.buckets);
		free(counts->list[i]);
	}
	if (!thread->is_others)
		HASH_DEL(table->by_key, thread);
	free(counts->list);
	free(counts->events);
	free(thread->state);
	free(thread);
}

/* Keys of threads are made of the file's number and the thread's. */
struct recorded_thread *table_find_tid(const struct table *table, const struct trace_event *event,
				       int32_t tid)
{
	return find_thread(table, (event->thread_key & ~(uint64_t)UINT32_MAX) | (uint32_t)tid);
}

void table_grow_events(struct table *table, struct recorded_thread *thread, uint32_t type)
{
	struct thread_counts *counts = &thread->counts;
	uint32_t nr = (type | 3) + 1;

	table->nr_events += nr - counts->nr_events;
	counts->events = xreallocarray(counts->events, nr, sizeof(*counts->events));
	memset(counts->events + counts->nr_events, 0,
	       (nr - counts->nr_events) * sizeof(*counts->events));
	counts->nr_events = nr;
}

/* ---- counts */

static struct exit_count *find_count(const struct table *table,
				     const struct recorded_thread *thread,
				     const struct exit_key *key)
{
	const struct count_key of = { *key, thread };
	struct exit_count *count;

	HASH_FIND(hh, table->counts, &of, COUNT_KEY_BYTES, count);
	return count;
}

static struct exit_count *add_count(struct table *table, struct recorded_thread *thread,
				    const struct exit_key *key)
{
	struct thread_counts *counts = &thread->counts;
	struct exit_count *count = xcalloc(1, sizeof(*count));

	count->thread = thread;
	count->key = *key;
	HASH_ADD(hh, table->counts, key, COUNT_KEY_BYTES, count);
	counts->list = kept_grow(counts->list, counts->nr, sizeof(*counts->list));
	counts->list[counts->nr++] = count;
	table->nr_counts[key->kind]++;
	return count;
}

struct exit_count *table_find_count(struct table *table, struct recorded_thread *thread,
				    const struct exit_key *key)
{
	const struct exit_key others = { .exit = EXIT_KEY_OTHERS, .kind = key->kind };
	struct exit_count *count = find_count(table, thread, key);

	if (count)
		return count;
	if (table->nr_counts[key->kind] < MAX_COUNTS ||
	    (key->kind < EXITS_FIRST_ARGUMENT && thread->counts.nr < FEW_REASONS))
		return add_count(table, thread, key);
	count = find_count(table, thread, &others);
	return count ? count : add_count(table, thread, &others);
}

uint64_t count_unfinished(const struct exit_count *count, enum exit_kind kind)
{
	if (count->key.kind != kind || !exits_have_end(kind))
		return 0;
	return count->begun - count->took.count;
}

/* ---- all */

void table_release(struct table *table)
{
	for (size_t i = 0; i < table->nr_threads; i++)
		free_thread(table, table->threads[i]);
	free(table->threads);
}
