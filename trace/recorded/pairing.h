/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pairing - from a stream of events: which exits, of which vCPU, how many, how long they took.
 *
 * An exit lasts from the event that says its reason (kvm_exit) to the one with which the vCPU
 * enters the guest again (kvm_entry), on the same thread. Other things that are asked for:
 *
 *	ioport	from kvm_pio to the entry, as perf kvm stat has it
 *	mmio	a write from kvm_mmio to the entry, a read from the exit to kvm_mmio: as perf has it
 *	msr, cpuid, hypercall, sysreg	the whole exit, told apart by its argument
 *	userspace	from kvm_userspace_exit, which says why KVM_RUN returned, to the entry
 *	events	every event of KVM: how many there were
 *
 * One cell for each thread and reason (or argument): memory does not grow with the recording.
 */
#ifndef KVMTOP_TRACE_RECORDED_PAIRING_H
#define KVMTOP_TRACE_RECORDED_PAIRING_H

#include "arch/arch.h"
#include "arch/exit_kind.h"
#include "trace/recorded/durations.h"
#include "trace/trace.h"

#define TALLY_EVENTS EXITS_KINDS /* beside the kinds of exits: every event of KVM */
#define TALLY_KINDS (EXITS_KINDS + 1)

/* What one row of a report is about. Two words: it is looked up for every exit. */
struct tally_key {
	uint64_t a;    /* the reason's code; the port, address, MSR, leaf ...; a type's index */
	uint32_t b;    /* of a reason: which of struct tally.names; else what the argument has */
	uint16_t c;    /* what else it has: read or write */
	uint16_t exit; /* of an argument: the exit, of struct tally.exits, plus 1; 0: none */
};

#define TALLY_HINTS 64 /* powers of two */
#define TALLY_EXITS 128 /* reasons told apart that have arguments */

struct tally_cell {
	struct tally_key key;
	uint64_t seen; /* how many began; took.count of them ended */
	bool is_other; /* all that had no room */
	struct durations took;
};

struct tally_thread {
	uint64_t strand;
	uint32_t file;
	int32_t pid, tid, vcpu, cpu; /* -1: not known; cpu: the last one */
	char comm[32];
	struct tally_cell *cells;
	size_t nr_cells;
	uint32_t *slots; /* a hash of indices into cells, plus 1 */
	size_t nr_slots;
	uint32_t hints[TALLY_HINTS]; /* the cell found last for keys that end alike, plus 1 */
	/* What has begun. */
	bool is_open, has_key;
	bool is_lost, has_exit;
	size_t cell;
	uint64_t begin, last; /* last: when it left or entered a guest; is_lost: not known since */
	struct tally_key exit; /* why the guest was left, where arguments are counted */
	uint64_t first, unknown; /* since when it is known, and how long it was not since then */
};

/* The names of one kind of exit reasons. */
struct tally_names {
	const struct split *split;
	struct reasons reasons;
};

struct tally_lost {
	uint64_t time;
	int64_t lost; /* -1: some */
	int32_t cpu;
};

#define TALLY_LOST_KEPT 64

struct tally {
	unsigned int event; /* enum exit_kind, or TALLY_EVENTS */
	const struct trace *trace;
	struct tally_thread **threads;
	size_t nr_threads;
	uint32_t *slots; /* a hash of indices into threads, plus 1 */
	size_t nr_slots;
	struct tally_thread *hints[TALLY_HINTS]; /* the thread found last for such a strand */
	struct tally_names *names;
	size_t nr_names;
	struct role *roles; /* by the type's index */
	size_t nr_roles;
	size_t nr_cells;
	uint64_t nr_events, first, last_time;
	uint64_t first_exit, last_entry; /* times of them */
	bool has_exits, has_entries; /* without either nothing has a duration */
	/* Losses: the first ones, and how many there are of them. */
	struct tally_lost lost[TALLY_LOST_KEPT];
	size_t nr_lost;
	uint64_t sum_lost;
	bool has_unknown_loss;
	struct tally_key exits[TALLY_EXITS]; /* that arguments came with */
	uint16_t nr_exits;
};

void tally_init(struct tally *tally, unsigned int event, const struct trace *trace);
void tally_release(struct tally *tally);

/* An event of the stream: 0 or -ENOMEM. */
int tally_add(struct tally *tally, const struct trace_event *event);

/* At the stream's end: learns the threads' vCPUs from what the file says of guests. */
void tally_end(struct tally *tally);

/* Whether anything has a duration. */
bool tally_has_time(const struct tally *tally);

/* How many of a cell's things there were: those that ended, or where nothing has an end, all. */
uint64_t tally_count(const struct tally *tally, const struct tally_cell *cell);

/* The key as the user reads it. */
void tally_name(const struct tally *tally, const struct tally_cell *cell, char *buf, size_t size);

/* Whether the vCPU was idle meanwhile (HLT, WFx ...). */
bool tally_is_idle(const struct tally *tally, const struct tally_cell *cell);

/* Why the guest was left that the argument came with. False: that is not known. */
bool tally_exit_name(const struct tally *tally, const struct tally_cell *cell, char *buf,
		     size_t size);

/* The thread with this number of the stream; NULL: it has none of these events. */
const struct tally_thread *tally_thread_by_strand(const struct tally *tally, uint64_t strand);

#endif
