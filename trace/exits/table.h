/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table - the threads of a recording, and each thread's counts by exit reason or argument.
 *
 * Memory does not grow with the recording's length: each thread has one count for each key, and one
 * for all further keys when there are too many (addresses in a damaged file). When there are too
 * many threads, further ones are one, "(others)", that is only counted: nothing is paired.
 * Durations are in ns, or in cycles of unknown length; other times are in the clock's unit.
 */
#ifndef KVMTOP_TRACE_EXITS_TABLE_H
#define KVMTOP_TRACE_EXITS_TABLE_H

#include "arch/exit_machine.h"
#include "core/facts/durations.h"
#include "core/facts/field.h"
#include "lib/hash.h"
#include "trace/exits/meaning.h"

#define TABLE_HINTS 64 /* a power of two */
#define TABLE_CPUS 256
#define COUNT_HINTS   2048 /* the same */
#define THREAD_HINTS  64   /* of these: more than a thread has reasons */
#define INTERVAL_NONE UINT32_MAX
#define TABLE_THREADS 65536
#define TABLE_EVENTS ((size_t)256 * TABLE_THREADS) /* KVM has some 100 types of events */

/* ---- what is counted */

/* The key by which a count is found. On 32-bit machines its padding is at the end. */
struct count_key {
	struct exit_key key;
	const struct recorded_thread *thread;
};

struct exit_count {
	struct exit_key key; /* with the thread: struct count_key */
	const struct recorded_thread *thread;
	UT_hash_handle hh;
	/* For rows.h: its fields in the dictionary, with 1 added; 0: none was asked for yet. */
	uint32_t child; /* of the event: "kvm_exit(HLT)" */
	uint32_t field; /* of exits: "vmexit(HLT)", "msr(0x10)"; and of parts of their time */
	uint32_t part_fields[EXIT_PARTS];
	uint64_t begun; /* exits that began; took.count of them ended */
	struct spread took; /* without waiting */
	struct exits_parts parts; /* of exits: of the same time, and beside it */
	uint32_t cell; /* of exits: EXITS_HALT or 0 */
	struct kept_count *kept; /* see pairing.h */
	uint32_t nr_kept, at;
};

/* How many of this kind have begun, and have no end. */
uint64_t count_unfinished(const struct exit_count *count, enum exit_kind kind);

/* The counts of one thread. */
struct thread_counts {
	struct exit_count **list;
	uint32_t nr;
	uint32_t nr_events;
	uint64_t *events; /* counts of KVM's event types, by struct meaning.number */
};

/* ---- threads */

/* Makes room for one more: there is room up to the next power of two, or for more. */
static inline void *kept_grow(void *list, uint32_t nr, size_t size)
{
	return nr & (nr - 1) ? list : xreallocarray(list, nr ? 2 * (size_t)nr : 1, size);
}

/* Where a recording is damaged time goes back: then nothing has passed. */
static inline uint64_t elapsed(uint64_t begin, uint64_t end)
{
	return end > begin ? end - begin : 0;
}

/* Units of the clock in ns; at most INT64_MAX, also if the result makes no sense. */
static inline uint64_t units_in_ns(uint64_t units, double ns_per_unit)
{
	double ns = (double)units * ns_per_unit + 0.5;

	return ns < (double)INT64_MAX ? (uint64_t)ns : INT64_MAX;
}

/* Where a vCPU's thread is. */
enum vcpu_mode { VCPU_UNKNOWN, VCPU_IN_GUEST, VCPU_OUTSIDE };

/* More of the open exit, for struct recorded_long. */
struct open_exit {
	uint64_t pc, user; /* user: how long it was in user space, up to its latest return */
	struct exit_count *argument; /* NULL: none */
	int32_t cpu;
};

_Static_assert(EXITS_KINDS <= 16, "has_argument has a bit for each");

/* What a vCPU's thread is in, see pairing.h. Without an event of the scheduler it has a CPU. */
struct thread_state {
	struct exit_machine at; /* in the clock's unit */
	struct exits_sums before; /* when the latest exit began */
	uint64_t halt_unknown; /* in halts, from a failure of KVM_RUN on: user space's, or theirs */
	uint64_t unknown; /* after losses, when the mode was not known */
	enum vcpu_mode mode;
	bool has_run, has_exit; /* has_run: had an exit or an entry; has_exit: had an exit */
	bool is_mmio_open; /* the access has not ended that began with the exit, or in it */
	uint16_t has_argument; /* a bit for each enum exit_kind: the open exit has this argument */
	uint64_t first; /* the time of the first exit or entry */
	uint64_t since; /* the time when the thread last left or entered the guest */
	uint64_t poll_limit_ns; /* of the halt that ends now; 0: not known */
	struct exit_count *counts[EXITS_KINDS]; /* the latest of each kind, of the thread */
	uint64_t after[EXITS_KINDS]; /* of arguments: how long the exit had lasted before */
	uint64_t begins[EXITS_REASONS]; /* as the events have them */
	struct exits_parts parts[EXITS_REASONS]; /* of what is open, in ns */
	struct open_exit exit;
};

struct recorded_thread {
	uint64_t key; /* struct trace_event.thread_key */
	uint32_t index; /* in the table */
	uint32_t file;
	int32_t pid, tid, vcpu, cpu; /* -1: not known; cpu: the last one */
	int32_t guest; /* index in the file's list of guests, see trace_guest(); -1: none */
	struct recorded_guest *of; /* see recorded_guest_of(); NULL: not asked for yet */
	char comm[16]; /* the kernel's TASK_COMM_LEN */
	bool is_new;  /* the current event is the thread's first */
	bool is_vcpu; /* had an event that only a vCPU's thread has */
	bool is_others; /* stands for threads that have no place in the table */
	bool has_code; /* samples */
	uint64_t last; /* the time of the last event of any kind */
	/* The interval that it has changed in last, or INTERVAL_NONE; see pairing.h. */
	uint32_t interval;
	uint32_t nr_kept, at;
	struct kept_thread **kept;
	struct thread_counts counts;
	struct thread_state *state; /* NULL: nothing has begun or ended, see table_state() */
	/* The list of its CPU, see struct table; prev NULL: it is in none. */
	struct recorded_thread *next, **prev;
	void *drawn; /* for the listener, which frees it */
	UT_hash_handle hh;
};

/* Zero-initialised is empty. */
struct table {
	struct recorded_thread **threads;
	size_t nr_threads, room_threads;
	size_t most_threads; /* further ones are others; 0: there is no limit */
	struct recorded_thread *others; /* one of them, in no hash: any key may be a thread's */
	struct recorded_thread *by_key; /* a hash of the rest */
	struct exit_count *counts;	/* a hash: of all threads */
	/* Found last, by low bits of the keys. */
	struct recorded_thread *hints[TABLE_HINTS];
	struct exit_count *count_hints[COUNT_HINTS];
	size_t nr_counts[EXITS_KINDS];
	size_t nr_events; /* counts of events by thread and type */
	/*
	 * Threads with events since the latest loss of their CPU. CPUs share a list if their
	 * numbers differ by a multiple of TABLE_CPUS.
	 */
	struct recorded_thread *of_cpu[TABLE_CPUS];
};

void table_release(struct table *table);

/* Frees what intervals.c keeps of a thread. */
void table_forget(struct recorded_thread *thread);

/* Puts the thread into the list of a CPU, or takes it out of its list. */
void table_link(struct table *table, struct recorded_thread *thread, int32_t cpu);
void table_unlink(struct recorded_thread *thread);

static inline struct recorded_thread **table_of_cpu(struct table *table, int32_t cpu)
{
	return &table->of_cpu[(uint32_t)cpu % TABLE_CPUS];
}

/* The thread of an event, new if need be; or the one that stands for others. */
struct recorded_thread *table_add(struct table *table, const struct trace_event *event);

struct recorded_thread *table_others(struct table *table);

/* The thread of this number in the event's file; NULL: it has no event of its own so far. */
struct recorded_thread *table_find_tid(const struct table *table, const struct trace_event *event,
				       int32_t tid);

/* The count of a thread's key, new if need be. */
struct exit_count *table_find_count(struct table *table, struct recorded_thread *thread,
				    const struct exit_key *key);

void table_grow_events(struct table *table, struct recorded_thread *thread, uint32_t type);

/* A damaged file makes up types of events: whether the thread can count one more. */
static inline bool table_has_room(const struct table *table, const struct recorded_thread *thread,
				  uint32_t type)
{
	return type < thread->counts.nr_events || table->nr_events < TABLE_EVENTS;
}

/* Counts an event of one of KVM's types. */
static inline void table_count_event(struct table *table, struct recorded_thread *thread,
				     uint32_t type)
{
	if (type >= thread->counts.nr_events)
		table_grow_events(table, thread, type);
	thread->counts.events[type]++;
}

/* The state of a thread, to look at. */
static inline const struct thread_state *table_state(const struct recorded_thread *thread)
{
	static const struct thread_state none;

	return thread->state ? thread->state : &none;
}

/* What is open of a kind; NULL: nothing is. */
static inline struct exit_count *state_open(const struct thread_state *state, enum exit_kind kind)
{
	bool is_open = kind == EXITS_VMEXIT    ? exits_open_since(&state->at) != 0 :
		       kind == EXITS_USERSPACE ? state->at.user_since != 0 :
						 state->has_argument & 1U << kind;

	return is_open ? state->counts[kind] : NULL;
}

/* Whether it waits for a CPU. */
static inline bool state_waits(const struct thread_state *state)
{
	return state->at.away_since && state->at.away == EXITS_WAITS;
}

static inline bool state_sleeps(const struct thread_state *state)
{
	return state->at.away_since && state->at.away != EXITS_WAITS;
}

/* The state, to change it: most threads of a recording run no vCPU, and never need one. */
static inline struct thread_state *table_make_state(struct recorded_thread *thread)
{
	if (!thread->state)
		thread->state = xcalloc(1, sizeof(*thread->state));
	return thread->state;
}

/* table_add() and table_find_count(), which first try the one that was found last. */
static inline struct recorded_thread *table_thread(struct table *table,
						   const struct trace_event *event)
{
	uint64_t mixed = event->thread_key ^ event->thread_key >> 32;
	struct recorded_thread **hint = &table->hints[mixed % TABLE_HINTS];

	if (!*hint || (*hint)->key != event->thread_key)
		*hint = table_add(table, event);
	return *hint;
}

static inline struct exit_count *table_count(struct table *table, struct recorded_thread *thread,
					     const struct exit_key *key)
{
	size_t at = key->a ^ key->kind ^ (size_t)thread->index * THREAD_HINTS;
	struct exit_count **hint = &table->count_hints[at % COUNT_HINTS];

	if (!*hint || (*hint)->thread != thread || !exit_key_is(&(*hint)->key, key))
		*hint = table_find_count(table, thread, key);
	return *hint;
}

#endif
