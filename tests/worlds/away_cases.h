/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * away_cases - what the thread of a vCPU does, step by step, and what its time counts as. The BPF
 * program takes the steps as they happen, a recording has them as events: the numbers are the same.
 *
 * What only one of them can tell is not here: a recording takes any sleep in a halt's exit for
 * idleness, and the wait for the interrupt that starts a vCPU for a block; it does not see when
 * KVM_RUN begins.
 */
#ifndef KVMTOP_TESTS_WORLDS_AWAY_CASES_H
#define KVMTOP_TESTS_WORLDS_AWAY_CASES_H

#include <stdint.h>

#include "arch/away.h"
#include "core/facts/field.h"

enum away_kind {
	AWAY_END, /* of the case; at an earlier step the thread has entered the guest */
	AWAY_EXIT, /* of AWAY_IO or AWAY_HALT */
	AWAY_ENTRY,
	AWAY_LEAVE, /* KVM_RUN returns: AWAY_IO; AWAY_HALT: the VMM halts the vCPU; a signal */
	AWAY_RUN,   /* KVM_RUN begins */
	AWAY_PREEMPTED,
	AWAY_SLEEP,
	AWAY_WAKE,
	AWAY_GET_CPU,
};

enum away_why { AWAY_NONE, AWAY_IO, AWAY_HALT, AWAY_SIGNAL };

struct away_step {
	uint64_t at_ns;
	enum away_kind kind;
	enum away_why why;
};

#define AWAY_STEPS 20
#define AWAY_REASONS 2 /* VM exits, exits to user space */

/* It begins with an entry at 0. */
struct away_case {
	const char *name;
	struct away_step steps[AWAY_STEPS];
	uint64_t boxes[TIME_PARTS];
	uint64_t took_ns[AWAY_REASONS]; /* all exits */
	struct exits_parts parts[AWAY_REASONS];
};

static const struct away_case away_cases[] = {
	{ "preempted in an exit",
	  { { 100, AWAY_EXIT, AWAY_IO }, { 110, AWAY_PREEMPTED, 0 }, { 1110, AWAY_GET_CPU, 0 },
	    { 1120, AWAY_ENTRY, 0 }, { 1200, AWAY_END, 0 } },
	  { [TIME_WHOLE] = 1200, [TIME_GUEST] = 180, [TIME_KVM] = 20, [TIME_WAIT] = 1000 },
	  { 20, 0 }, { { .waited_ns = 1000 } } },
	{ "waits for a page, and then for a CPU",
	  { { 100, AWAY_EXIT, AWAY_IO }, { 110, AWAY_SLEEP, 0 }, { 910, AWAY_WAKE, 0 },
	    { 1110, AWAY_GET_CPU, 0 }, { 1120, AWAY_ENTRY, 0 }, { 1200, AWAY_END, 0 } },
	  { [TIME_WHOLE] = 1200, [TIME_GUEST] = 180, [TIME_KVM] = 20, [TIME_BLOCK] = 800,
	    [TIME_WAIT] = 200 },
	  { 820, 0 }, { { .waited_ns = 200, .blocked_ns = 800 } } },
	{ "a halt, and a wait for a CPU after it",
	  { { 100, AWAY_EXIT, AWAY_HALT }, { 110, AWAY_SLEEP, 0 }, { 910, AWAY_WAKE, 0 },
	    { 1110, AWAY_GET_CPU, 0 }, { 1120, AWAY_ENTRY, 0 }, { 1200, AWAY_END, 0 } },
	  { [TIME_WHOLE] = 1200, [TIME_GUEST] = 180, [TIME_KVM] = 20, [TIME_IDLE] = 800,
	    [TIME_WAIT] = 200 },
	  { 820, 0 }, { { .waited_ns = 200, .idle_ns = 800 } } },
	{ "a halt that is preempted before it sleeps; woken while it runs",
	  { { 100, AWAY_EXIT, AWAY_HALT }, { 110, AWAY_PREEMPTED, 0 }, { 160, AWAY_GET_CPU, 0 },
	    { 170, AWAY_SLEEP, 0 }, { 470, AWAY_WAKE, 0 }, { 470, AWAY_GET_CPU, 0 },
	    { 475, AWAY_WAKE, 0 }, { 480, AWAY_ENTRY, 0 }, { 500, AWAY_END, 0 } },
	  { [TIME_WHOLE] = 500, [TIME_GUEST] = 120, [TIME_KVM] = 30, [TIME_IDLE] = 300,
	    [TIME_WAIT] = 50 },
	  { 330, 0 }, { { .waited_ns = 50, .idle_ns = 300 } } },
	{ "the VMM works, is preempted, and sleeps",
	  { { 100, AWAY_EXIT, AWAY_IO }, { 110, AWAY_LEAVE, AWAY_IO }, { 130, AWAY_PREEMPTED, 0 },
	    { 230, AWAY_GET_CPU, 0 }, { 240, AWAY_SLEEP, 0 }, { 640, AWAY_WAKE, 0 },
	    { 700, AWAY_GET_CPU, 0 }, { 720, AWAY_RUN, 0 }, { 720, AWAY_ENTRY, 0 },
	    { 800, AWAY_END, 0 } },
	  { [TIME_WHOLE] = 800, [TIME_GUEST] = 180, [TIME_KVM] = 10, [TIME_USER] = 50,
	    [TIME_BLOCK] = 400, [TIME_BLOCK_USER] = 400, [TIME_WAIT] = 160 },
	  { 460, 450 },
	  { { .waited_ns = 160, .blocked_ns = 400 }, { .waited_ns = 160, .blocked_ns = 400 } } },
	{ "the VMM has the guest's halts",
	  { { 100, AWAY_EXIT, AWAY_HALT }, { 110, AWAY_LEAVE, AWAY_HALT }, { 120, AWAY_SLEEP, 0 },
	    { 620, AWAY_WAKE, 0 }, { 640, AWAY_GET_CPU, 0 }, { 650, AWAY_RUN, 0 },
	    { 650, AWAY_ENTRY, 0 }, { 700, AWAY_END, 0 } },
	  { [TIME_WHOLE] = 700, [TIME_GUEST] = 150, [TIME_KVM] = 10, [TIME_USER] = 20,
	    [TIME_IDLE] = 500, [TIME_WAIT] = 20 },
	  { 530, 520 },
	  { { .waited_ns = 20, .idle_ns = 500 }, { .waited_ns = 20, .idle_ns = 500 } } },
	{ "a signal in a halt, which then goes on",
	  { { 100, AWAY_EXIT, AWAY_HALT }, { 110, AWAY_SLEEP, 0 }, { 195, AWAY_WAKE, 0 },
	    { 195, AWAY_GET_CPU, 0 }, { 200, AWAY_LEAVE, AWAY_SIGNAL }, { 250, AWAY_RUN, 0 },
	    { 250, AWAY_SLEEP, 0 }, { 390, AWAY_WAKE, 0 }, { 400, AWAY_GET_CPU, 0 },
	    { 400, AWAY_LEAVE, AWAY_SIGNAL }, { 450, AWAY_RUN, 0 }, { 450, AWAY_SLEEP, 0 },
	    { 490, AWAY_WAKE, 0 }, { 490, AWAY_GET_CPU, 0 }, { 500, AWAY_ENTRY, 0 },
	    { 600, AWAY_END, 0 } },
	  { [TIME_WHOLE] = 600, [TIME_GUEST] = 200, [TIME_KVM] = 25, [TIME_USER] = 100,
	    [TIME_IDLE] = 265, [TIME_WAIT] = 10 },
	  { 390, 100 }, { { .waited_ns = 10, .idle_ns = 265 } } },
	{ "a signal in another exit: the VMM sleeps",
	  { { 100, AWAY_EXIT, AWAY_IO }, { 110, AWAY_LEAVE, AWAY_SIGNAL }, { 120, AWAY_SLEEP, 0 },
	    { 220, AWAY_WAKE, 0 }, { 220, AWAY_GET_CPU, 0 }, { 230, AWAY_LEAVE, AWAY_SIGNAL },
	    { 240, AWAY_RUN, 0 }, { 240, AWAY_ENTRY, 0 }, { 300, AWAY_END, 0 } },
	  { [TIME_WHOLE] = 300, [TIME_GUEST] = 160, [TIME_KVM] = 10, [TIME_USER] = 30,
	    [TIME_BLOCK] = 100, [TIME_BLOCK_USER] = 100 },
	  { 140, 130 }, { { .blocked_ns = 100 }, { .blocked_ns = 100 } } },
	{ "in a halt, the VMM sleeps for another request",
	  { { 100, AWAY_EXIT, AWAY_HALT }, { 110, AWAY_LEAVE, AWAY_IO }, { 120, AWAY_SLEEP, 0 },
	    { 220, AWAY_WAKE, 0 }, { 220, AWAY_GET_CPU, 0 }, { 240, AWAY_RUN, 0 },
	    { 240, AWAY_ENTRY, 0 }, { 300, AWAY_END, 0 } },
	  { [TIME_WHOLE] = 300, [TIME_GUEST] = 160, [TIME_KVM] = 10, [TIME_USER] = 30,
	    [TIME_BLOCK] = 100, [TIME_BLOCK_USER] = 100 },
	  { 140, 130 }, { { .blocked_ns = 100 }, { .blocked_ns = 100 } } },
	{ "exits with and without waits",
	  { { 100, AWAY_EXIT, AWAY_IO }, { 110, AWAY_PREEMPTED, 0 }, { 150, AWAY_GET_CPU, 0 },
	    { 160, AWAY_ENTRY, 0 }, { 200, AWAY_EXIT, AWAY_IO }, { 230, AWAY_ENTRY, 0 },
	    { 300, AWAY_EXIT, AWAY_HALT }, { 300, AWAY_SLEEP, 0 }, { 400, AWAY_WAKE, 0 },
	    { 450, AWAY_GET_CPU, 0 }, { 450, AWAY_PREEMPTED, 0 }, { 460, AWAY_GET_CPU, 0 },
	    { 470, AWAY_ENTRY, 0 }, { 500, AWAY_END, 0 } },
	  { [TIME_WHOLE] = 500, [TIME_GUEST] = 240, [TIME_KVM] = 60, [TIME_IDLE] = 100,
	    [TIME_WAIT] = 100 },
	  { 160, 0 }, { { .waited_ns = 100, .idle_ns = 100 } } },
};

#endif
