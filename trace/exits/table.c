// SPDX-License-Identifier: GPL-2.0-or-later
/* Two hash tables: threads by thread key, and the counts of each thread by exit key. */
#include <stdlib.h>
#include <string.h>

#include "lib/xalloc.h"
#include "trace/exits/table.h"

#define MIN_SLOTS 32
#define FEW_COUNTS 8 /* less than half of MIN_SLOTS */
#define MAX_COUNTS 20000 /* for each kind */

static size_t hash(uint64_t a, uint64_t b)
{
	uint64_t mixed = (a ^ (b << 32 | b >> 32)) * UINT64_C(0x9e3779b97f4a7c15);

	return mixed ^ mixed >> 29;
}

/* Makes twice as many slots, or the first slots. The caller fills them again. */
static void grow_slots(uint32_t **slots, size_t *nr_slots)
{
	size_t nr = *nr_slots ? 2 * *nr_slots : MIN_SLOTS;

	free(*slots);
	*slots = xcalloc(nr, sizeof(**slots));
	*nr_slots = nr;
}

static void put_slot(uint32_t *slots, size_t nr_slots, size_t at, size_t index)
{
	while (slots[at & (nr_slots - 1)])
		at++;
	slots[at & (nr_slots - 1)] = (uint32_t)index + 1;
}

/* ---- threads */

static void grow_threads(struct table *table)
{
	if (2 * table->nr_threads < table->nr_slots)
		return;
	grow_slots(&table->slots, &table->nr_slots);
	table->threads = xreallocarray(table->threads, table->nr_slots,
				       sizeof(struct recorded_thread *));
	for (size_t i = 0; i < table->nr_threads; i++)
		put_slot(table->slots, table->nr_slots, hash(table->threads[i]->key, 0), i);
}

static struct recorded_thread *find_thread(const struct table *table, uint64_t key)
{
	size_t mask = table->nr_slots - 1;

	for (size_t at = hash(key, 0); table->nr_slots && table->slots[at & mask]; at++) {
		struct recorded_thread *thread = table->threads[table->slots[at & mask] - 1];

		if (thread->key == key)
			return thread;
	}
	return NULL;
}

struct recorded_thread *table_add(struct table *table, const struct trace_event *event)
{
	struct recorded_thread *thread = find_thread(table, event->thread_key);

	if (thread || table_is_full(table))
		return thread;
	grow_threads(table);
	thread = xcalloc(1, sizeof(*thread));
	thread->key = event->thread_key;
	thread->index = table->nr_threads;
	thread->file = event->file;
	thread->pid = event->pid;
	thread->tid = event->tid;
	thread->vcpu = thread->cpu = -1;
	thread->guest = -1;
	thread->is_new = true;
	put_slot(table->slots, table->nr_slots, hash(thread->key, 0), table->nr_threads);
	table->threads[table->nr_threads++] = thread;
	return thread;
}

/* Keys of threads are made of the file's number and the thread's. */
struct recorded_thread *table_find_tid(const struct table *table, const struct trace_event *event,
				       int32_t tid)
{
	return find_thread(table, (event->thread_key & ~(uint64_t)UINT32_MAX) | (uint32_t)tid);
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

void table_grow_events(struct recorded_thread *thread, uint32_t type)
{
	uint32_t nr = (type | 3) + 1;

	thread->events = xreallocarray(thread->events, nr, sizeof(*thread->events));
	memset(thread->events + thread->nr_events, 0,
	       (nr - thread->nr_events) * sizeof(*thread->events));
	thread->nr_events = nr;
}

/* ---- counts */

static size_t hash_key(const struct exit_key *key)
{
	return hash(key->a, (uint64_t)key->kind << 56 ^ (uint64_t)key->exit << 48 ^
				    (uint64_t)key->b << 16 ^ key->c);
}

/* There is room up to the next power of two. */
static void grow_counts(struct recorded_thread *thread)
{
	size_t nr = thread->nr_counts;

	if (!(nr & (nr - 1)))
		thread->counts = xreallocarray(thread->counts, nr ? 2 * nr : 1,
					       sizeof(struct exit_count *));
}

/* Most threads have a few counts, which are found without a hash. */
static void grow_count_slots(struct recorded_thread *thread)
{
	if (thread->nr_counts < FEW_COUNTS || 2 * thread->nr_counts < thread->nr_slots)
		return;
	grow_slots(&thread->slots, &thread->nr_slots);
	for (size_t i = 0; i < thread->nr_counts; i++)
		put_slot(thread->slots, thread->nr_slots, hash_key(&thread->counts[i]->key), i);
}

static struct exit_count *add_count(struct table *table, struct recorded_thread *thread,
				    const struct exit_key *key, bool is_others)
{
	struct exit_count *count = xcalloc(1, sizeof(*count));

	grow_counts(thread);
	grow_count_slots(thread);
	count->key = *key;
	count->is_others = is_others;
	if (thread->nr_slots)
		put_slot(thread->slots, thread->nr_slots, hash_key(key), thread->nr_counts);
	thread->counts[thread->nr_counts++] = count;
	table->nr_counts[key->kind]++;
	return count;
}

static bool is_count(const struct exit_count *count, const struct exit_key *key, bool is_others)
{
	return exit_key_is(&count->key, key) && count->is_others == is_others;
}

static struct exit_count *find_count(const struct recorded_thread *thread,
				     const struct exit_key *key, bool is_others)
{
	size_t mask = thread->nr_slots - 1;

	for (size_t i = 0; !thread->nr_slots && i < thread->nr_counts; i++) {
		if (is_count(thread->counts[i], key, is_others))
			return thread->counts[i];
	}
	for (size_t at = hash_key(key); thread->nr_slots && thread->slots[at & mask]; at++) {
		struct exit_count *count = thread->counts[thread->slots[at & mask] - 1];

		if (is_count(count, key, is_others))
			return count;
	}
	return NULL;
}

struct exit_count *table_find_count(struct table *table, struct recorded_thread *thread,
				    const struct exit_key *key)
{
	const struct exit_key others = { .kind = key->kind };
	bool is_others = table->nr_counts[key->kind] >= MAX_COUNTS;
	struct exit_count *count = find_count(thread, key, false);

	if (count)
		return count;
	if (is_others)
		key = &others;
	if (is_others)
		count = find_count(thread, key, true);
	return count ? count : add_count(table, thread, key, is_others);
}

static void restart_thread(struct recorded_thread *thread)
{
	struct recorded_thread begun = {
		.key = thread->key,
		.index = thread->index,
		.file = thread->file,
		.pid = thread->pid,
		.tid = thread->tid,
		.vcpu = thread->vcpu,
		.cpu = -1,
		.guest = thread->guest,
		.counts = thread->counts,
		.nr_counts = thread->nr_counts,
		.slots = thread->slots,
		.nr_slots = thread->nr_slots,
		.events = thread->events,
		.nr_events = thread->nr_events,
		.is_new = true,
	};

	memcpy(begun.comm, thread->comm, sizeof(begun.comm));
	*thread = begun;
	for (size_t i = 0; i < thread->nr_events; i++)
		thread->events[i] = 0;
	for (size_t i = 0; i < thread->nr_counts; i++) {
		thread->counts[i]->begun = 0;
		durations_restart(&thread->counts[i]->took);
	}
}

void table_restart(struct table *table)
{
	for (size_t i = 0; i < table->nr_threads; i++)
		restart_thread(table->threads[i]);
	memset(table->of_cpu, 0, sizeof(table->of_cpu));
}

void table_release(struct table *table)
{
	for (size_t i = 0; i < table->nr_threads; i++) {
		struct recorded_thread *thread = table->threads[i];

		for (size_t j = 0; j < thread->nr_counts; j++) {
			buckets_release(&thread->counts[j]->took.hist);
			free(thread->counts[j]);
		}
		free(thread->counts);
		free(thread->events);
		free(thread->slots);
		free(thread);
	}
	free(table->threads);
	free(table->slots);
}
