// SPDX-License-Identifier: GPL-2.0-or-later
/* Where exits are kept: threads by their number, and cells of each by reason or argument. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/recorded/pairing_private.h"

#define MIN_SLOTS 16
/* More arguments than this (addresses of a file that makes no sense) are summed up by thread. */
#define MAX_CELLS 20000

static size_t hash(uint64_t a, uint64_t b)
{
	uint64_t mixed = (a ^ (b << 32 | b >> 32)) * UINT64_C(0x9e3779b97f4a7c15);

	return mixed ^ mixed >> 29;
}

/* Twice as many slots, or the first ones. The caller puts everything in again. */
static int grow_slots(uint32_t **slots, size_t *nr_slots)
{
	size_t nr = *nr_slots ? 2 * *nr_slots : MIN_SLOTS;
	uint32_t *grown = calloc(nr, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	free(*slots);
	*slots = grown;
	*nr_slots = nr;
	return 0;
}

static void put_slot(uint32_t *slots, size_t nr_slots, size_t at, size_t index)
{
	while (slots[at & (nr_slots - 1)])
		at++;
	slots[at & (nr_slots - 1)] = (uint32_t)index + 1;
}

/* ---- threads */

static int grow_threads(struct tally *tally)
{
	struct tally_thread **threads;

	if (2 * tally->nr_threads < tally->nr_slots)
		return 0;
	if (grow_slots(&tally->slots, &tally->nr_slots) < 0)
		return -ENOMEM;
	threads = reallocarray(tally->threads, tally->nr_slots, sizeof(struct tally_thread *));
	if (!threads)
		return -ENOMEM;
	tally->threads = threads;
	for (size_t i = 0; i < tally->nr_threads; i++)
		put_slot(tally->slots, tally->nr_slots, hash(threads[i]->strand, 0), i);
	return 0;
}

static struct tally_thread *add_thread(struct tally *tally, const struct trace_event *event)
{
	struct tally_thread *thread = calloc(1, sizeof(*thread));

	if (!thread || grow_threads(tally) < 0) {
		free(thread);
		return NULL;
	}
	thread->strand = event->strand;
	thread->file = event->file;
	thread->pid = event->pid;
	thread->tid = event->tid;
	thread->vcpu = thread->cpu = -1;
	thread->first = event->time;
	put_slot(tally->slots, tally->nr_slots, hash(event->strand, 0), tally->nr_threads);
	tally->threads[tally->nr_threads++] = thread;
	return thread;
}

static struct tally_thread *find_thread(const struct tally *tally, uint64_t strand)
{
	size_t mask = tally->nr_slots - 1;

	for (size_t at = hash(strand, 0); tally->nr_slots && tally->slots[at & mask]; at++) {
		struct tally_thread *thread = tally->threads[tally->slots[at & mask] - 1];

		if (thread->strand == strand)
			return thread;
	}
	return NULL;
}

struct tally_thread *tally_find_thread(struct tally *tally, const struct trace_event *event)
{
	struct tally_thread *thread = find_thread(tally, event->strand);

	return thread ? thread : add_thread(tally, event);
}

const struct tally_thread *tally_thread_by_strand(const struct tally *tally, uint64_t strand)
{
	return find_thread(tally, strand);
}

/* ---- cells */

static size_t hash_key(const struct tally_key *key)
{
	return hash(key->a, (uint64_t)key->exit << 48 ^ (uint64_t)key->b << 16 ^ key->c);
}

static int grow_cells(struct tally_thread *thread)
{
	struct tally_cell *cells;

	if (2 * thread->nr_cells < thread->nr_slots)
		return 0;
	if (grow_slots(&thread->slots, &thread->nr_slots) < 0)
		return -ENOMEM;
	cells = reallocarray(thread->cells, thread->nr_slots, sizeof(*cells));
	if (!cells)
		return -ENOMEM;
	thread->cells = cells;
	for (size_t i = 0; i < thread->nr_cells; i++)
		put_slot(thread->slots, thread->nr_slots, hash_key(&cells[i].key), i);
	return 0;
}

static int add_cell(struct tally *tally, struct tally_thread *thread, const struct tally_key *key,
		    bool is_other)
{
	struct tally_cell cell = { .key = *key, .is_other = is_other };
	int err = grow_cells(thread);

	if (!err && tally->event != TALLY_EVENTS) /* which last no time */
		err = durations_init(&cell.took);
	if (err)
		return err;
	put_slot(thread->slots, thread->nr_slots, hash_key(key), thread->nr_cells);
	thread->cells[thread->nr_cells++] = cell;
	tally->nr_cells++;
	return 0;
}

static bool find_cell(const struct tally_thread *thread, const struct tally_key *key, bool is_other,
		      size_t *ret_cell)
{
	size_t mask = thread->nr_slots - 1;

	for (size_t at = hash_key(key); thread->nr_slots && thread->slots[at & mask]; at++) {
		size_t i = thread->slots[at & mask] - 1;
		const struct tally_cell *cell = &thread->cells[i];

		if (tally_key_is(&cell->key, key) && cell->is_other == is_other) {
			*ret_cell = i;
			return true;
		}
	}
	return false;
}

int tally_find_cell(struct tally *tally, struct tally_thread *thread, const struct tally_key *key,
		    size_t *ret_cell)
{
	static const struct tally_key other;
	bool is_other = false;
	int err;

	if (find_cell(thread, key, false, ret_cell))
		return 0;
	if (tally->nr_cells >= MAX_CELLS) {
		is_other = true;
		key = &other;
		if (find_cell(thread, key, true, ret_cell))
			return 0;
	}
	err = add_cell(tally, thread, key, is_other);
	if (!err)
		*ret_cell = thread->nr_cells - 1;
	return err;
}

/* ---- all of it */

void tally_init(struct tally *tally, unsigned int event, const struct trace *trace)
{
	*tally = (struct tally){ .event = event, .trace = trace };
}

void tally_release(struct tally *tally)
{
	for (size_t i = 0; i < tally->nr_threads; i++) {
		struct tally_thread *thread = tally->threads[i];

		for (size_t j = 0; j < thread->nr_cells; j++)
			durations_release(&thread->cells[j].took);
		free(thread->cells);
		free(thread->slots);
		free(thread);
	}
	for (size_t i = 0; i < tally->nr_names; i++)
		reasons_release(&tally->names[i].reasons);
	free(tally->names);
	free(tally->threads);
	free(tally->slots);
	free(tally->roles);
}
