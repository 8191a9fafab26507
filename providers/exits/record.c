// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads, adds and subtracts the counts of threads. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/number.h"
#include "lib/xalloc.h"
#include "providers/exits/threads.h"

#define READ_TRIES 4
#define SETTLE_NS 1000

/* A used cell. */
struct packed_cell {
	struct exits_cell cell;
	struct exits_parts parts;
};

struct exits_packed {
	uint64_t used[EXITS_CELLS / 64];
	uint64_t whole_ns;
	struct exits_sums sums;
	bool has_nested;
	struct packed_cell cells[]; /* the used ones, in their order */
};

static bool is_used(const struct exits_record *record, uint32_t cell)
{
	return record->used[cell / 64] & UINT64_C(1) << cell % 64;
}

/* Where the counts of a slot are, which the thread has. */
static const volatile struct exits_reason *reason_at(const struct exits_records *records,
						     const volatile struct exits_thread *thread,
						     unsigned int slot)
{
	uint32_t further;

	if (slot < EXITS_STEP)
		return &thread->own[slot];
	further = thread->further[slot / EXITS_STEP];
	return further ? &exits_records_at(records, further - 1)->own[slot % EXITS_STEP] : NULL;
}

static void copy_cell(struct exits_record *to, unsigned int cell,
		      const volatile struct exits_reason *from)
{
	if (!from)
		return;
	memcpy(&to->cells[cell], (const void *)(uintptr_t)&from->cell, sizeof(to->cells[cell]));
	memcpy(&to->parts[cell], (const void *)(uintptr_t)&from->parts, sizeof(to->parts[cell]));
	to->used[cell / 64] |= UINT64_C(1) << cell % 64;
}

static void copy_cells(struct exits_record *to, const struct exits_records *records,
		       const volatile struct exits_thread *from)
{
	memset(to->used, 0, sizeof(to->used));
	for (unsigned int cell = 0; from->next_slot && cell < EXITS_CELLS; cell++) {
		unsigned int slot = from->slots[cell];

		if (slot)
			copy_cell(to, cell, reason_at(records, from, slot - 1));
	}
}

#if defined(__x86_64__) || defined(__i386__)
void exits_record_settle(void)
{
}
#else
void exits_record_settle(void)
{
	uint64_t end_ns = clock_now_ns() + SETTLE_NS;

	while (clock_now_ns() < end_ns)
		;
}
#endif

static uint64_t load(const volatile __u64 *from)
{
	return __atomic_load_n(from, __ATOMIC_ACQUIRE);
}

/*
 * Reads the record once. Whether the program has begun or ended nothing meanwhile. What began, and
 * may end or change, is read first.
 */
static bool copy_once(struct exits_record *to, const struct exits_records *records,
		      const volatile struct exits_thread *from)
{
	uint64_t nested = load(&from->at.nested_since), away = load(&from->at.away_since);
	uint64_t exit = exits_open_since(&from->at), user;

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	user = load(&from->at.user_since);
	memcpy(&to->at, (const void *)(uintptr_t)&from->at, sizeof(to->at));
	to->has_argument = from->has_argument && from->has_argument != EXITS_UNCOUNTED;
	memcpy(&to->argument, (const void *)(uintptr_t)&from->argument, sizeof(to->argument));
	copy_cells(to, records, from);
	if (exit || away)
		exits_record_settle();
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	to->at.nested_since = nested;
	to->at.begun = exit;
	to->at.over = 0;
	to->at.user_since = user;
	to->at.away_since = away;
	return nested == from->at.nested_since && exit == exits_open_since(&from->at) &&
	       user == from->at.user_since && away == from->at.away_since &&
	       to->at.cell == from->at.cell;
}

/* See exits_record_read(). When user space has an exit, the event of L2 would be past. */
static void hold_back(struct exits_record *record)
{
	const struct exit_machine *at = &record->at;
	uint32_t cell = exits_cell_of(at->cell);
	bool may_be_nested = at->nested_since && at->begun && at->begun != at->nested_since &&
			     !at->user_since;

	record->is_held_back = may_be_nested && is_used(record, cell) && record->cells[cell].count;
	if (record->is_held_back)
		record->cells[cell].count--;
}

/*
 * The program says that an exit, or user space's part of it, is over before it adds the time to its
 * cell: if they are as before, no time is both open and in a cell. If they change in each try, the
 * thread is busy with short exits, and an open one matters little.
 */
void exits_record_read(struct exits_record *record, const struct exits_records *records,
		       const volatile struct exits_thread *thread)
{
	struct exit_machine *at = &record->at;
	bool is_steady = false;

	for (int i = 0; i < READ_TRIES && !is_steady; i++)
		is_steady = copy_once(record, records, thread);
	record->has_nested = at->nested_since != 0;
	if (!is_steady)
		at->begun = at->away_since = 0;
	if (!at->begun) { /* user space has time only within an exit */
		at->user_since = 0;
		record->has_argument = false;
	}
	record->open[EXITS_VMEXIT] =
		(struct exits_open){ .cell = exits_cell_of(at->cell), .since_ns = at->begun };
	record->open[EXITS_USERSPACE] = (struct exits_open){ .cell = exits_cell_of(at->user_cell),
							     .since_ns = at->user_since };
	hold_back(record);
	memset(record->open_ns, 0, sizeof(record->open_ns));
}

/* Whether the exit is neither open nor in its cell: the program is about to add it. */
static bool is_on_its_way(const struct exits_record *record, const struct exits_open *before,
			  const struct exits_open *now)
{
	return before->since_ns && !now->since_ns && is_used(record, before->cell) &&
	       record->cells[before->cell].time_ns < before->sum_ns;
}

/* An absence that is not over, or is a part of what user space has. */
static void add_off(struct exits_record *record, enum exits_away why, struct exits_off off)
{
	exits_was_away(&record->at, why, &off);
	for (int i = 0; i < EXITS_REASONS; i++) {
		if (record->open[i].since_ns)
			exits_parts_add(&record->parts[record->open[i].cell], why, &off);
	}
}

/* The times of what is open, in the copy: as if all ended now. */
static void end_now(struct exits_record *record, struct exits_off off, uint64_t now_ns)
{
	struct exit_machine *at = &record->at;
	uint64_t user_since;

	if (at->away_since)
		add_off(record, at->away, exits_absence(at, now_ns));
	if (at->begun && at->user_since &&
	    off.waited_ns + off.slept_ns <= minus(now_ns, at->user_since))
		add_off(record, exits_away_in_user(at), off);
	if (at->begun)
		record->open[EXITS_VMEXIT].time_ns = minus(now_ns, at->begun);
	user_since = at->user_since ? exits_end_user(at, now_ns) : 0;
	if (user_since)
		record->open[EXITS_USERSPACE].time_ns = now_ns - user_since;
}

static uint64_t later(uint64_t since_ns, uint64_t from_ns)
{
	return since_ns && since_ns < from_ns ? from_ns : since_ns;
}

void exits_record_time(struct exits_record *record, const volatile struct exits_thread *thread,
		       struct exits_before *before, struct exits_off off, uint64_t now_ns)
{
	record->whole_ns = minus(now_ns, thread->first_ns);
	for (int i = 0; i < EXITS_REASONS; i++) {
		struct exits_open *open = &record->open[i];

		if (is_on_its_way(record, &before->open[i], open))
			*open = before->open[i];
		if (!is_used(record, open->cell))
			open->since_ns = 0;
		open->time_ns = 0;
	}
	record->at.begun = later(record->open[EXITS_VMEXIT].since_ns, before->from_ns);
	record->at.user_since = later(record->open[EXITS_USERSPACE].since_ns, before->from_ns);
	record->at.away_since = later(record->at.away_since, before->from_ns);
	end_now(record, off, now_ns);
	for (int i = 0; i < EXITS_REASONS; i++) {
		struct exits_open *open = &record->open[i];

		if (!open->since_ns)
			continue;
		open->sum_ns = record->cells[open->cell].time_ns + open->time_ns;
		record->open_ns[open->cell] += open->time_ns;
	}
	memcpy(before->open, record->open, sizeof(before->open));
}

void exits_record_fold(struct exits_record *record)
{
	for (int i = 0; i < EXITS_REASONS; i++) {
		const struct exits_open *open = &record->open[i];

		if (open->time_ns)
			record->cells[open->cell].time_ns += open->time_ns;
	}
}

void exits_record_end(struct exits_record *record, const volatile struct exits_thread *thread,
		      uint64_t now_ns)
{
	uint64_t last_ns = exits_open_since(&thread->at);

	record->whole_ns = minus(last_ns && last_ns < now_ns ? last_ns : now_ns,
			     thread->first_ns);
	if (record->is_held_back)
		record->cells[record->open[EXITS_VMEXIT].cell].count++;
	record->is_held_back = false;
	record->has_argument = false;
	memset(record->open, 0, sizeof(record->open));
	memset(record->open_ns, 0, sizeof(record->open_ns));
}

void exits_cell_add(struct exits_cell *to, const struct exits_cell *from)
{
	to->count += from->count;
	to->time_ns += from->time_ns;
	if (from->max_ns > to->max_ns)
		to->max_ns = from->max_ns;
	for (unsigned int i = 0; i < EXITS_BUCKETS; i++)
		to->hist[i] += from->hist[i];
}

static void join_cell(struct exits_record *to, unsigned int i, const struct exits_cell *cell,
		      const struct exits_parts *parts)
{
	if (is_used(to, i)) {
		exits_cell_add(&to->cells[i], cell);
		exits_parts_join(&to->parts[i], parts);
	} else {
		to->cells[i] = *cell;
		to->parts[i] = *parts;
	}
	to->used[i / 64] |= UINT64_C(1) << i % 64;
}

static void sums_add(struct exits_sums *to, const struct exits_sums *from)
{
	to->nested += from->nested;
	to->halt_user += from->halt_user;
	to->waited += from->waited;
	to->idle_out += from->idle_out;
}

static void sums_less(struct exits_sums *sums, const struct exits_sums *earlier)
{
	sums->nested = minus(sums->nested, earlier->nested);
	sums->halt_user = minus(sums->halt_user, earlier->halt_user);
	sums->waited = minus(sums->waited, earlier->waited);
	sums->idle_out = minus(sums->idle_out, earlier->idle_out);
}

void exits_record_add(struct exits_record *to, const struct exits_record *from)
{
	for (unsigned int i = exits_record_next(from, 0); i < EXITS_CELLS;
	     i = exits_record_next(from, i + 1)) {
		join_cell(to, i, &from->cells[i], &from->parts[i]);
		to->open_ns[i] += from->open_ns[i];
	}
	to->whole_ns += from->whole_ns;
	sums_add(&to->at.sums, &from->at.sums);
	to->has_nested |= from->has_nested;
}

static bool is_packed(const struct exits_packed *packed, unsigned int i)
{
	return packed->used[i / 64] & UINT64_C(1) << i % 64;
}

void exits_record_add_packed(struct exits_record *to, const struct exits_packed *from)
{
	const struct packed_cell *packed = from->cells;

	for (unsigned int i = 0; i < EXITS_CELLS; i++) {
		if (!is_packed(from, i))
			continue;
		join_cell(to, i, &packed->cell, &packed->parts);
		packed++;
	}
	to->whole_ns += from->whole_ns;
	sums_add(&to->at.sums, &from->sums);
	to->has_nested |= from->has_nested;
}

static uint64_t longest_of(const uint32_t *hist, uint64_t max_ns)
{
	unsigned int top = EXITS_BUCKETS - 1;

	while (top && !hist[top])
		top--;
	if (!hist[top])
		return 0;
	return hist_edge_ns(top) < max_ns ? hist_edge_ns(top) : max_ns;
}

void exits_cell_less(struct exits_cell *cell, const struct exits_cell *earlier)
{
	cell->count = minus(cell->count, earlier->count);
	cell->time_ns = minus(cell->time_ns, earlier->time_ns);
	for (unsigned int i = 0; i < EXITS_BUCKETS; i++)
		cell->hist[i] -= earlier->hist[i];
	if (cell->max_ns <= earlier->max_ns)
		cell->max_ns = longest_of(cell->hist, earlier->max_ns);
}

static void parts_less(struct exits_parts *parts, const struct exits_parts *earlier)
{
	parts->waited_ns = minus(parts->waited_ns, earlier->waited_ns);
	parts->blocked_ns = minus(parts->blocked_ns, earlier->blocked_ns);
	parts->idle_ns = minus(parts->idle_ns, earlier->idle_ns);
	parts->polled_ns = minus(parts->polled_ns, earlier->polled_ns);
}

void exits_record_less(struct exits_record *record, const struct exits_packed *earlier)
{
	const struct packed_cell *before = earlier->cells;

	for (unsigned int i = 0; i < EXITS_CELLS; i++) {
		if (!is_packed(earlier, i))
			continue;
		exits_cell_less(&record->cells[i], &before->cell);
		parts_less(&record->parts[i], &before->parts);
		before++;
		if (!record->cells[i].count && !record->cells[i].time_ns && !record->open_ns[i])
			record->used[i / 64] &= ~(UINT64_C(1) << i % 64);
	}
	record->whole_ns = minus(record->whole_ns, earlier->whole_ns);
	sums_less(&record->at.sums, &earlier->sums);
}

struct exits_packed *exits_record_pack(const struct exits_record *record)
{
	struct exits_packed *packed;
	unsigned int nr = 0;

	for (unsigned int word = 0; word < EXITS_CELLS / 64; word++)
		nr += (unsigned int)__builtin_popcountll(record->used[word]);
	packed = xmalloc(sizeof(*packed) + nr * sizeof(packed->cells[0]));
	memcpy(packed->used, record->used, sizeof(packed->used));
	packed->whole_ns = record->whole_ns;
	packed->sums = record->at.sums;
	packed->has_nested = record->has_nested;
	nr = 0;
	for (unsigned int i = exits_record_next(record, 0); i < EXITS_CELLS;
	     i = exits_record_next(record, i + 1))
		packed->cells[nr++] = (struct packed_cell){ record->cells[i], record->parts[i] };
	return packed;
}
