/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exit_machine - what a vCPU's thread is in, and what its time counts as: for the programs in the
 * kernel (it needs no libc), for the reader of their records, and for recordings.
 *
 *	the guest is left		exits_begin()
 *	it was L2, a guest of it	exits_nest()
 *	user space gets the exit	exits_begin_user()
 *	KVM_RUN begins again		exits_end_user(); at the latest when the exit ends
 *	the thread loses its CPU	exits_lose_cpu()
 *	it has one again		exits_was_away(), with exits_absence() or a better knowledge
 *	the guest is entered		exits_end()
 *	events are missing		exits_forget()
 *
 * A transition says what has passed, and the caller adds it to its counts: an absence to those of
 * the exit that is open, and of the exit to user space if that has not ended (exits_parts_add()).
 *
 * An exit is timed without what does not count as its time: its begin moves forward by that, so
 * that its end, which is frequent, costs nothing more. Times are a clock's; 0: never.
 *
 * A reader takes a copy, in which all ends now. What it copies may be half written: a time is
 * written, or cleared, before what has passed is added to anything.
 */
#ifndef KVMTOP_ARCH_EXIT_MACHINE_H
#define KVMTOP_ARCH_EXIT_MACHINE_H

#include <linux/types.h>

#include "arch/exit_kind.h"

/* The compiler writes first what comes first. */
#define EXITS_PUBLISH() __asm__ volatile("" ::: "memory")

/*
 * A cell is a number of the caller's for what it counts by reason, below EXITS_CELLS. The bit says
 * that the vCPU halts in such exits: in KVM, which may poll, or in user space.
 */
#define EXITS_CELLS 128 /* a power of two */
#define EXITS_HALT EXITS_CELLS

/* The number without the bit. */
static inline __u32 exits_cell_of(__u32 cell)
{
	return cell % EXITS_CELLS;
}

/* Why a thread has no CPU: it could run; it sleeps, and the guest has work; or has none. */
enum exits_away { EXITS_WAITS, EXITS_BLOCKED, EXITS_IDLES };

/* An absence, or several: how long the thread waited for a CPU, and how long it slept. */
struct exits_off {
	__u64 waited_ns, slept_ns;
};

/* Parts of the time of a reason's exits. Waiting is no part of the time: it is beside it. */
struct exits_parts {
	__u64 waited_ns; /* for a CPU */
	__u64 blocked_ns; /* asleep, though the guest had work */
	__u64 idle_ns;	  /* asleep in a halt */
	__u64 polled_ns;  /* KVM polled for the end of the halt */
};

/* Times of a thread that are not one reason's. */
struct exits_sums {
	__u64 waited;	/* for CPUs */
	__u64 idle_out; /* asleep and idle, but not in a halt: in no exit's time */
	__u64 nested;	/* in L2 */
	__u64 halt_user; /* in halts: user space had the vCPU, and was not idle */
};

struct exit_machine {
	/*
	 * When the latest exit began, and when the latest exit that is over began. While begun is
	 * the later one, its exit is open. over is no end: an exit may begin in the tick of a slow
	 * clock in which the one before it ended.
	 */
	__u64 begun, over;
	__u64 user_since; /* when user space got the exit; 0: user space has not got it */
	__u32 cell, user_cell; /* maybe with EXITS_HALT */
	/*
	 * When it lost its CPU, written after all else about it, and cleared after what follows of
	 * it; 0: it has a CPU.
	 */
	__u64 away_since;
	__u64 away; /* enum exits_away */
	/*
	 * For a vCPU that runs guests of its own. nested_since: when the latest exit of L2 began,
	 * written when its cell is L2's; entered: when the guest, L1 or L2, was entered.
	 */
	__u64 nested_since, entered;
	struct exits_sums sums;
};

/* When the open exit began; 0: none is open. */
static inline __u64 exits_open_since(const volatile struct exit_machine *machine)
{
	__u64 begun = machine->begun;

	return begun > machine->over ? begun : 0;
}

static inline void exits_begin(struct exit_machine *machine, __u32 cell, __u64 now)
{
	machine->cell = cell;
	machine->begun = now;
}

/*
 * The exit that has just begun is of L2, and so was the time since the entry. Returns when it
 * began, for nested_since; 0: none is open.
 */
static inline __u64 exits_nest(struct exit_machine *machine)
{
	__u64 since = exits_open_since(machine);

	if (!since)
		return 0;
	if (machine->entered && machine->entered < since)
		machine->sums.nested += since - machine->entered;
	machine->entered = 0;
	return since;
}

static inline void exits_begin_user(struct exit_machine *machine, __u32 cell, __u64 now)
{
	machine->user_cell = cell;
	machine->user_since = now;
}

/*
 * Whether the exit that is open is a halt, which goes on after KVM_RUN failed, as for a signal: it
 * goes on with the next KVM_RUN, which only a switch of the thread shows.
 */
static inline _Bool exits_halt_goes_on(const struct exit_machine *machine, __u64 user_code)
{
	return user_code >= EXITS_RESTART && machine->cell >= EXITS_HALT;
}

/* User space has an exit, and has had it since then; 0: the clock went back. */
static inline __u64 exits_end_user(struct exit_machine *machine, __u64 now)
{
	__u64 since = machine->user_since;

	machine->user_since = 0;
	EXITS_PUBLISH();
	if (now < since)
		return 0;
	if (machine->cell >= EXITS_HALT && machine->user_cell < EXITS_HALT &&
	    exits_open_since(machine))
		machine->sums.halt_user += now - since;
	return since;
}

/* When the exit began that is over now; 0: none was open. */
static inline __u64 exits_end(struct exit_machine *machine)
{
	__u64 since = machine->begun;

	if (since <= machine->over)
		return 0;
	machine->over = since;
	EXITS_PUBLISH(); /* first: else a reader adds a time that its cell has already */
	return since;
}

/* ---- without a CPU */

static inline void exits_lose_cpu(struct exit_machine *machine, enum exits_away why, __u64 now)
{
	machine->away = why;
	EXITS_PUBLISH();
	machine->away_since = now;
}

/* The absence of a thread without a CPU up to now, where nothing else is known of it. */
static inline struct exits_off exits_absence(const struct exit_machine *machine, __u64 now)
{
	__u64 ns = now > machine->away_since ? now - machine->away_since : 0;
	struct exits_off off;

	off.waited_ns = machine->away == EXITS_WAITS ? ns : 0;
	off.slept_ns = ns - off.waited_ns;
	return off;
}

/* Why the thread sleeps in user space, which may have the guest's halts. */
static inline enum exits_away exits_away_in_user(const struct exit_machine *machine)
{
	return machine->user_cell >= EXITS_HALT ? EXITS_IDLES : EXITS_BLOCKED;
}

/*
 * An absence is over. A wait is no time of the exit that is open; nor is the sleep of a vCPU that
 * is idle in what is no halt, as before the interrupt that starts it: *off has it no more.
 */
static inline void exits_was_away(struct exit_machine *machine, enum exits_away why,
				  struct exits_off *off)
{
	__u64 since = exits_open_since(machine), left_out = off->waited_ns;
	_Bool is_nested = machine->nested_since == machine->begun;
	__u32 cell = machine->user_since ? machine->user_cell : machine->cell;

	if (why == EXITS_IDLES && !(since && cell >= EXITS_HALT)) {
		machine->sums.idle_out += off->slept_ns;
		left_out += off->slept_ns;
		off->slept_ns = 0;
	}
	machine->sums.waited += off->waited_ns;
	if (machine->entered)
		machine->entered += left_out;
	if (machine->user_since)
		machine->user_since += left_out;
	if (!since)
		return;
	machine->begun += left_out;
	if (is_nested)
		machine->nested_since += left_out;
}

/* Adds an absence to the counts of a reason. */
static inline void exits_parts_add(struct exits_parts *parts, enum exits_away why,
				   const struct exits_off *off)
{
	parts->waited_ns += off->waited_ns;
	if (why == EXITS_IDLES)
		parts->idle_ns += off->slept_ns;
	else
		parts->blocked_ns += off->slept_ns;
}

/* Adds what others have. */
static inline void exits_parts_join(struct exits_parts *to, const struct exits_parts *from)
{
	to->waited_ns += from->waited_ns;
	to->blocked_ns += from->blocked_ns;
	to->idle_ns += from->idle_ns;
	to->polled_ns += from->polled_ns;
}

/* What the thread is in is not known any more; what has passed is. */
static inline void exits_forget(struct exit_machine *machine)
{
	machine->begun = 0;
	machine->over = 0;
	machine->user_since = 0;
}

#endif
