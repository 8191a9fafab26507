// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two hash tables: threads by thread key, and the counts of each thread by exit key. Their slots
 * have 4 bytes, as a recording may have a hundred thousand threads with a few counts each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "lib/xalloc.h"
#include "trace/exits/table.h"

#define MIN_SLOTS 32
#define FEW_COUNTS 8 /* less than half of MIN_SLOTS */
#define MAX_COUNTS 20000 /* for each kind, and the reasons of each thread */
#define FEW_REASONS 64 /* of a thread */

static size_t hash(uint64_t a, uint64_t b)
{
	uint64_t mixed = (a ^ (b << 32 | b >> 32)) * UINT64_C(0x9e3779b97f4a7c15);

	return mixed ^ mixed >> 29;
}

/* Makes twice as many slots, or the first slots. The caller fills them again. */
static void grow_slots(uint32_t **slots, uint32_t *nr_slots)
{
	uint32_t nr = *nr_slots ? 2 * *nr_slots : MIN_SLOTS;

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

static void put_threads(struct table *table)
{
	for (size_t i = 0; i < table->nr_threads; i++)
		put_slot(table->slots, table->nr_slots, hash(table->threads[i]->key, 0), i);
}

static void grow_threads(struct table *table)
{
	if (2 * table->nr_threads < table->nr_slots)
		return;
	grow_slots(&table->slots, &table->nr_slots);
	table->threads = xreallocarray(table->threads, table->nr_slots,
				       sizeof(struct recorded_thread *));
	put_threads(table);
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

	if (thread)
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
	thread->interval = INTERVAL_NONE;
	thread->is_new = true;
	put_slot(table->slots, table->nr_slots, hash(thread->key, 0), table->nr_threads);
	table->threads[table->nr_threads++] = thread;
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

static void free_thread(struct recorded_thread *thread)
{
	struct thread_counts *counts = &thread->counts;

	table_forget(thread);
	for (size_t i = 0; i < counts->nr; i++) {
		buckets_release(&counts->list[i]->took.buckets);
		free(counts->list[i]);
	}
	free(counts->list);
	free(counts->hints);
	free(counts->slots);
	free(counts->events);
	free(thread->state);
	free(thread);
}

/* ---- threads that have ended */

/* In struct recorded_thread.key, beside the number of a file that there cannot be. */
#define SUM	 (UINT64_C(1) << 62)
#define SUM_VCPU (SUM | UINT64_C(1) << 61)

struct recorded_thread *table_sum(struct table *table, bool is_vcpu, uint32_t file, int32_t pid)
{
	const struct trace_event event = {
		.file = file, .pid = pid, .tid = -1,
		.thread_key = is_vcpu ? SUM_VCPU : SUM | (uint64_t)file << 32 | (uint32_t)pid,
	};
	struct recorded_thread *sum = table_add(table, &event);

	sum->is_sum = true;
	sum->is_vcpu = is_vcpu;
	return sum;
}

void table_drop_ended(struct table *table)
{
	size_t nr = 0;

	for (size_t i = 0; i < table->nr_threads; i++) {
		struct recorded_thread *thread = table->threads[i];

		if (thread->has_ended) {
			table_unlink(thread);
			free_thread(thread);
			continue;
		}
		thread->index = (uint32_t)nr;
		table->threads[nr++] = thread;
	}
	table->nr_threads = nr;
	memset(table->hints, 0, sizeof(table->hints));
	memset(table->slots, 0, table->nr_slots * sizeof(*table->slots));
	put_threads(table);
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

static size_t hash_key(const struct exit_key *key)
{
	return hash(key->a, (uint64_t)key->kind << 56 ^ (uint64_t)key->exit << 48 ^
				    (uint64_t)key->b << 16 ^ key->c);
}

/* There is room up to the next power of two. */
static void grow_list(struct thread_counts *counts)
{
	uint32_t nr = counts->nr;

	if (!(nr & (nr - 1)))
		counts->list = xreallocarray(counts->list, nr ? 2 * nr : 1,
					     sizeof(struct exit_count *));
}

/* Most threads have a few counts, which are found without a hash. */
static void grow_hash(struct thread_counts *counts)
{
	if (counts->nr == 1) /* one alone needs none */
		counts->hints = xcalloc(COUNT_HINTS, sizeof(struct exit_count *));
	if (counts->nr < FEW_COUNTS || 2 * counts->nr < counts->nr_slots)
		return;
	grow_slots(&counts->slots, &counts->nr_slots);
	for (size_t i = 0; i < counts->nr; i++)
		put_slot(counts->slots, counts->nr_slots, hash_key(&counts->list[i]->key), i);
}

static struct exit_count *add_count(struct table *table, struct thread_counts *counts,
				    const struct exit_key *key, bool is_others)
{
	struct exit_count *count = xcalloc(1, sizeof(*count));

	grow_list(counts);
	grow_hash(counts);
	count->key = *key;
	count->is_others = is_others;
	if (counts->nr_slots)
		put_slot(counts->slots, counts->nr_slots, hash_key(key), counts->nr);
	counts->list[counts->nr++] = count;
	table->nr_counts[key->kind]++;
	return count;
}

static bool is_count(const struct exit_count *count, const struct exit_key *key, bool is_others)
{
	return exit_key_is(&count->key, key) && count->is_others == is_others;
}

static struct exit_count *find_count(const struct thread_counts *counts,
				     const struct exit_key *key, bool is_others)
{
	size_t mask = counts->nr_slots - 1;

	for (size_t i = 0; !counts->nr_slots && i < counts->nr; i++) {
		if (is_count(counts->list[i], key, is_others))
			return counts->list[i];
	}
	for (size_t at = hash_key(key); counts->nr_slots && counts->slots[at & mask]; at++) {
		struct exit_count *count = counts->list[counts->slots[at & mask] - 1];

		if (is_count(count, key, is_others))
			return count;
	}
	return NULL;
}

/* The count of all further keys of a kind. */
static struct exit_count *others_of(struct table *table, struct thread_counts *counts, uint8_t kind)
{
	const struct exit_key others = { .kind = kind };
	struct exit_count *count = find_count(counts, &others, true);

	return count ? count : add_count(table, counts, &others, true);
}

struct exit_count *table_find_count(struct table *table, struct recorded_thread *thread,
				    const struct exit_key *key)
{
	struct exit_count *count = find_count(&thread->counts, key, false);

	if (count)
		return count;
	if (table->nr_counts[key->kind] < MAX_COUNTS ||
	    (key->kind < EXITS_FIRST_ARGUMENT && thread->counts.nr < FEW_REASONS))
		return add_count(table, &thread->counts, key, false);
	return others_of(table, &thread->counts, key->kind);
}

struct exit_count *table_sum_count(struct table *table, struct recorded_thread *sum,
				   const struct exit_count *count)
{
	return count->is_others ? others_of(table, &sum->counts, count->key.kind) :
				  table_find_count(table, sum, &count->key);
}

void count_name(const struct meanings *meanings, const struct exit_count *count, char *buf,
		size_t size)
{
	if (count->is_others)
		snprintf(buf, size, "(others)");
	else
		meaning_name(meanings, &count->key, buf, size);
}

uint64_t count_unfinished(const struct exit_count *count, enum exit_kind kind)
{
	if (count->key.kind != kind || !exits_have_end(kind))
		return 0;
	return count->begun - count->took.count;
}

bool count_is_idle(const struct meanings *meanings, const struct exit_count *count)
{
	return !count->is_others && meaning_flags(meanings, &count->key) & REASON_IDLE;
}

bool count_exit_name(const struct meanings *meanings, const struct exit_count *count, char *buf,
		     size_t size)
{
	const struct exit_key *exit = count->is_others ? NULL : meaning_exit(meanings, &count->key);

	if (exit)
		meaning_name(meanings, exit, buf, size);
	return exit != NULL;
}

/* ---- all */

void table_release(struct table *table)
{
	for (size_t i = 0; i < table->nr_threads; i++)
		free_thread(table->threads[i]);
	free(table->threads);
	free(table->slots);
}
