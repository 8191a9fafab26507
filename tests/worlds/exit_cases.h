/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exit_cases - what the thread of a vCPU does, step by step, and what its time counts as. The BPF
 * program takes the steps as they happen, a recording has them as events: the numbers are the same.
 * The first cases are made by hand; a model makes others at random.
 *
 * What only one of them can tell is not here: a recording takes any sleep in a halt's exit for
 * idleness, and the wait for the interrupt that starts a vCPU for a block; it does not see when
 * KVM_RUN begins. The program does not know that a sleep has become a wait, and what KVM has polled
 * before the halt ends.
 */
#ifndef KVMTOP_TESTS_WORLDS_EXIT_CASES_H
#define KVMTOP_TESTS_WORLDS_EXIT_CASES_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/exit_machine.h"
#include "core/facts/field.h"

enum step_kind {
	STEP_END, /* of the case; what is open then has its time, but no count */
	STEP_EXIT, /* FOR_IO or FOR_HALT */
	STEP_L2, /* the exit was of L2, a guest of the guest */
	STEP_MSR, /* what the exit is about */
	STEP_POLLED, /* KVM has polled in the halt, for so many ns */
	STEP_ENTRY,
	STEP_LEAVE, /* KVM_RUN returns: FOR_IO; FOR_HALT: the VMM halts the vCPU; a signal */
	STEP_RUN,   /* KVM_RUN begins */
	STEP_PREEMPTED,
	STEP_SLEEP,
	STEP_WAKE,
	STEP_GET_CPU,
};

enum step_why { FOR_NONE, FOR_IO, FOR_HALT, FOR_SIGNAL };

struct exit_step {
	uint64_t at_ns;
	enum step_kind kind;
	uint64_t why; /* enum step_why, or ns */
};

#define CASE_STEPS 64
#define CASE_MSRS EXITS_REASONS /* after the kinds of reasons */

/* It begins with an entry at 0, after a halt and in the guest of a guest that has nested before. */
struct exit_case {
	const char *name;
	struct exit_step steps[CASE_STEPS];
	uint64_t boxes[TIME_PARTS];
	uint64_t took_ns[CASE_MSRS + 1]; /* all exits that ended */
	struct exits_parts parts[EXITS_REASONS]; /* of the same */
};

/* Whether an exit is open at the end: then its parts are not compared. */
static inline bool exit_case_is_open(const struct exit_case *of)
{
	bool is_open = false;

	for (const struct exit_step *step = of->steps; step->kind != STEP_END; step++) {
		if (step->kind == STEP_EXIT || step->kind == STEP_ENTRY)
			is_open = step->kind == STEP_EXIT;
	}
	return is_open;
}

static const struct exit_case exit_cases[] = {
	{ "preempted in an exit",
	  { { 100, STEP_EXIT, FOR_IO }, { 110, STEP_PREEMPTED, 0 }, { 1110, STEP_GET_CPU, 0 },
	    { 1120, STEP_ENTRY, 0 }, { 1200, STEP_END, 0 } },
	  { [TIME_WHOLE] = 1200, [TIME_GUEST] = 180, [TIME_KVM] = 20, [TIME_WAIT] = 1000 },
	  { 20, 0 }, { { .waited_ns = 1000 } } },
	{ "waits for a page, and then for a CPU",
	  { { 100, STEP_EXIT, FOR_IO }, { 110, STEP_SLEEP, 0 }, { 910, STEP_WAKE, 0 },
	    { 1110, STEP_GET_CPU, 0 }, { 1120, STEP_ENTRY, 0 }, { 1200, STEP_END, 0 } },
	  { [TIME_WHOLE] = 1200, [TIME_GUEST] = 180, [TIME_KVM] = 20, [TIME_BLOCK] = 800,
	    [TIME_WAIT] = 200 },
	  { 820, 0 }, { { .waited_ns = 200, .blocked_ns = 800 } } },
	{ "a halt, and a wait for a CPU after it",
	  { { 100, STEP_EXIT, FOR_HALT }, { 110, STEP_SLEEP, 0 }, { 910, STEP_WAKE, 0 },
	    { 1110, STEP_GET_CPU, 0 }, { 1120, STEP_ENTRY, 0 }, { 1200, STEP_END, 0 } },
	  { [TIME_WHOLE] = 1200, [TIME_GUEST] = 180, [TIME_KVM] = 20, [TIME_IDLE] = 800,
	    [TIME_WAIT] = 200 },
	  { 820, 0 }, { { .waited_ns = 200, .idle_ns = 800 } } },
	{ "a halt that is preempted before it sleeps; woken while it runs",
	  { { 100, STEP_EXIT, FOR_HALT }, { 110, STEP_PREEMPTED, 0 }, { 160, STEP_GET_CPU, 0 },
	    { 170, STEP_SLEEP, 0 }, { 470, STEP_WAKE, 0 }, { 470, STEP_GET_CPU, 0 },
	    { 475, STEP_WAKE, 0 }, { 480, STEP_ENTRY, 0 }, { 500, STEP_END, 0 } },
	  { [TIME_WHOLE] = 500, [TIME_GUEST] = 120, [TIME_KVM] = 30, [TIME_IDLE] = 300,
	    [TIME_WAIT] = 50 },
	  { 330, 0 }, { { .waited_ns = 50, .idle_ns = 300 } } },
	{ "the VMM works, is preempted, and sleeps",
	  { { 100, STEP_EXIT, FOR_IO }, { 110, STEP_LEAVE, FOR_IO }, { 130, STEP_PREEMPTED, 0 },
	    { 230, STEP_GET_CPU, 0 }, { 240, STEP_SLEEP, 0 }, { 640, STEP_WAKE, 0 },
	    { 700, STEP_GET_CPU, 0 }, { 720, STEP_RUN, 0 }, { 720, STEP_ENTRY, 0 },
	    { 800, STEP_END, 0 } },
	  { [TIME_WHOLE] = 800, [TIME_GUEST] = 180, [TIME_KVM] = 10, [TIME_USER] = 50,
	    [TIME_BLOCK] = 400, [TIME_BLOCK_USER] = 400, [TIME_WAIT] = 160 },
	  { 460, 450 },
	  { { .waited_ns = 160, .blocked_ns = 400 }, { .waited_ns = 160, .blocked_ns = 400 } } },
	{ "the VMM has the guest's halts",
	  { { 100, STEP_EXIT, FOR_HALT }, { 110, STEP_LEAVE, FOR_HALT }, { 120, STEP_SLEEP, 0 },
	    { 620, STEP_WAKE, 0 }, { 640, STEP_GET_CPU, 0 }, { 650, STEP_RUN, 0 },
	    { 650, STEP_ENTRY, 0 }, { 700, STEP_END, 0 } },
	  { [TIME_WHOLE] = 700, [TIME_GUEST] = 150, [TIME_KVM] = 10, [TIME_USER] = 20,
	    [TIME_IDLE] = 500, [TIME_WAIT] = 20 },
	  { 530, 520 },
	  { { .waited_ns = 20, .idle_ns = 500 }, { .waited_ns = 20, .idle_ns = 500 } } },
	{ "a signal in a halt, which then goes on",
	  { { 100, STEP_EXIT, FOR_HALT }, { 110, STEP_SLEEP, 0 }, { 195, STEP_WAKE, 0 },
	    { 195, STEP_GET_CPU, 0 }, { 200, STEP_LEAVE, FOR_SIGNAL }, { 250, STEP_RUN, 0 },
	    { 250, STEP_SLEEP, 0 }, { 390, STEP_WAKE, 0 }, { 400, STEP_GET_CPU, 0 },
	    { 400, STEP_LEAVE, FOR_SIGNAL }, { 450, STEP_RUN, 0 }, { 450, STEP_SLEEP, 0 },
	    { 490, STEP_WAKE, 0 }, { 490, STEP_GET_CPU, 0 }, { 500, STEP_ENTRY, 0 },
	    { 600, STEP_END, 0 } },
	  { [TIME_WHOLE] = 600, [TIME_GUEST] = 200, [TIME_KVM] = 25, [TIME_USER] = 100,
	    [TIME_IDLE] = 265, [TIME_WAIT] = 10 },
	  { 390, 100 }, { { .waited_ns = 10, .idle_ns = 265 } } },
	{ "a signal in another exit: the VMM sleeps",
	  { { 100, STEP_EXIT, FOR_IO }, { 110, STEP_LEAVE, FOR_SIGNAL }, { 120, STEP_SLEEP, 0 },
	    { 220, STEP_WAKE, 0 }, { 220, STEP_GET_CPU, 0 }, { 230, STEP_LEAVE, FOR_SIGNAL },
	    { 240, STEP_RUN, 0 }, { 240, STEP_ENTRY, 0 }, { 300, STEP_END, 0 } },
	  { [TIME_WHOLE] = 300, [TIME_GUEST] = 160, [TIME_KVM] = 10, [TIME_USER] = 30,
	    [TIME_BLOCK] = 100, [TIME_BLOCK_USER] = 100 },
	  { 140, 130 }, { { .blocked_ns = 100 }, { .blocked_ns = 100 } } },
	{ "in a halt, the VMM sleeps for another request",
	  { { 100, STEP_EXIT, FOR_HALT }, { 110, STEP_LEAVE, FOR_IO }, { 120, STEP_SLEEP, 0 },
	    { 220, STEP_WAKE, 0 }, { 220, STEP_GET_CPU, 0 }, { 240, STEP_RUN, 0 },
	    { 240, STEP_ENTRY, 0 }, { 300, STEP_END, 0 } },
	  { [TIME_WHOLE] = 300, [TIME_GUEST] = 160, [TIME_KVM] = 10, [TIME_USER] = 30,
	    [TIME_BLOCK] = 100, [TIME_BLOCK_USER] = 100 },
	  { 140, 130 }, { { .blocked_ns = 100 }, { .blocked_ns = 100 } } },
	{ "exits with and without waits",
	  { { 100, STEP_EXIT, FOR_IO }, { 110, STEP_PREEMPTED, 0 }, { 150, STEP_GET_CPU, 0 },
	    { 160, STEP_ENTRY, 0 }, { 200, STEP_EXIT, FOR_IO }, { 230, STEP_ENTRY, 0 },
	    { 300, STEP_EXIT, FOR_HALT }, { 300, STEP_SLEEP, 0 }, { 400, STEP_WAKE, 0 },
	    { 450, STEP_GET_CPU, 0 }, { 450, STEP_PREEMPTED, 0 }, { 460, STEP_GET_CPU, 0 },
	    { 470, STEP_ENTRY, 0 }, { 500, STEP_END, 0 } },
	  { [TIME_WHOLE] = 500, [TIME_GUEST] = 240, [TIME_KVM] = 60, [TIME_IDLE] = 100,
	    [TIME_WAIT] = 100 },
	  { 160, 0 }, { { .waited_ns = 100, .idle_ns = 100 } } },
	{ "an MSR is written, which takes a wait and a sleep",
	  { { 100, STEP_EXIT, FOR_IO }, { 110, STEP_PREEMPTED, 0 }, { 150, STEP_GET_CPU, 0 },
	    { 160, STEP_MSR, 0 }, { 170, STEP_SLEEP, 0 }, { 180, STEP_WAKE, 0 },
	    { 185, STEP_GET_CPU, 0 }, { 190, STEP_ENTRY, 0 }, { 200, STEP_END, 0 } },
	  { [TIME_WHOLE] = 200, [TIME_GUEST] = 110, [TIME_KVM] = 35, [TIME_BLOCK] = 10,
	    [TIME_WAIT] = 45 },
	  { 45, 0, 45 }, { { .waited_ns = 45, .blocked_ns = 10 } } },
	{ "a halt that polls, and sleeps",
	  { { 100, STEP_EXIT, FOR_HALT }, { 150, STEP_SLEEP, 0 }, { 250, STEP_WAKE, 0 },
	    { 250, STEP_GET_CPU, 0 }, { 260, STEP_POLLED, 40 }, { 260, STEP_ENTRY, 0 },
	    { 300, STEP_END, 0 } },
	  { [TIME_WHOLE] = 300, [TIME_GUEST] = 140, [TIME_KVM] = 20, [TIME_POLL] = 40,
	    [TIME_IDLE] = 100 },
	  { 160, 0 }, { { .idle_ns = 100, .polled_ns = 40 } } },
	{ "L2 runs, and waits for a CPU before it and in its exit",
	  { { 100, STEP_EXIT, FOR_IO }, { 120, STEP_ENTRY, 0 }, { 130, STEP_PREEMPTED, 0 },
	    { 180, STEP_GET_CPU, 0 }, { 200, STEP_EXIT, FOR_IO }, { 200, STEP_L2, 0 },
	    { 210, STEP_PREEMPTED, 0 }, { 310, STEP_GET_CPU, 0 }, { 320, STEP_ENTRY, 0 },
	    { 340, STEP_EXIT, FOR_IO }, { 350, STEP_ENTRY, 0 }, { 400, STEP_END, 0 } },
	  { [TIME_WHOLE] = 400, [TIME_GUEST] = 200, [TIME_L2] = 30, [TIME_KVM] = 50,
	    [TIME_WAIT] = 150 },
	  { 50, 0 }, { { .waited_ns = 100 } } },
	{ "L2 halts, and L1 does not care: KVM polls and sleeps",
	  { { 50, STEP_EXIT, FOR_IO }, { 60, STEP_ENTRY, 0 }, { 100, STEP_EXIT, FOR_HALT },
	    { 100, STEP_L2, 0 }, { 140, STEP_SLEEP, 0 }, { 240, STEP_WAKE, 0 },
	    { 240, STEP_GET_CPU, 0 }, { 250, STEP_POLLED, 30 },
	    { 250, STEP_ENTRY, 0 }, { 300, STEP_END, 0 } },
	  { [TIME_WHOLE] = 300, [TIME_GUEST] = 140, [TIME_L2] = 40, [TIME_KVM] = 30,
	    [TIME_POLL] = 30, [TIME_IDLE] = 100 },
	  { 160, 0 }, { { .idle_ns = 100, .polled_ns = 30 } } },
};

/* ---- a model: it adds each ns to its box as it passes, and knows nothing of begins and ends */

enum case_place { IN_GUEST, IN_KVM, IN_USER };
enum case_cpu { HAS_CPU, WAITS, IS_ASLEEP };

struct case_model {
	struct exit_case *to;
	size_t nr; /* steps */
	uint32_t random;
	uint64_t now_ns;
	enum case_place place;
	enum case_cpu cpu;
	enum step_why exit, user; /* user: FOR_NONE: user space has not got the exit */
	bool knows_entry, has_msr;
	uint64_t took_ns[EXITS_REASONS], guest_ns, kvm_ns; /* of what is open */
};

static inline uint32_t case_random(struct case_model *model, uint32_t limit)
{
	model->random = model->random * 1664525 + 1013904223;
	return (model->random >> 8) % limit;
}

static inline void case_passes(struct case_model *model, uint64_t ns)
{
	struct exit_case *to = model->to;
	bool idles = (model->place == IN_USER ? model->user : model->exit) == FOR_HALT;
	static const enum time_part on_cpu[] = { TIME_GUEST, TIME_KVM, TIME_USER };
	enum time_part box = model->cpu == HAS_CPU	  ? on_cpu[model->place] :
			     model->cpu == WAITS ? TIME_WAIT :
			     idles			  ? TIME_IDLE : TIME_BLOCK;

	model->now_ns += ns;
	to->boxes[TIME_WHOLE] += ns;
	to->boxes[box] += ns;
	if (box == TIME_GUEST)
		model->guest_ns += ns;
	if (box == TIME_KVM)
		model->kvm_ns += ns;
	if (box == TIME_BLOCK && model->place == IN_USER)
		to->boxes[TIME_BLOCK_USER] += ns;
	for (int i = 0; i < (int)model->place; i++) {
		to->parts[i].waited_ns += box == TIME_WAIT ? ns : 0;
		to->parts[i].idle_ns += box == TIME_IDLE ? ns : 0;
		to->parts[i].blocked_ns += box == TIME_BLOCK ? ns : 0;
		model->took_ns[i] += box == TIME_WAIT ? 0 : ns;
	}
}

static inline void case_ends(struct case_model *model, int kind)
{
	model->to->took_ns[kind] += model->took_ns[kind];
	if (kind == EXITS_VMEXIT && model->has_msr)
		model->to->took_ns[CASE_MSRS] += model->took_ns[kind];
	model->took_ns[kind] = 0;
}

static inline void case_step(struct case_model *model, enum step_kind kind, uint64_t why)
{
	model->to->steps[model->nr++] = (struct exit_step){ model->now_ns, kind, why };
}

static inline void case_exits(struct case_model *model)
{
	model->exit = case_random(model, 3) ? FOR_IO : FOR_HALT;
	case_step(model, STEP_EXIT, model->exit);
	if (model->knows_entry && case_random(model, 4) == 0) {
		case_step(model, STEP_L2, FOR_NONE);
		model->to->boxes[TIME_L2] += model->guest_ns;
	}
	model->has_msr = case_random(model, 4) == 0;
	if (model->has_msr)
		case_step(model, STEP_MSR, FOR_NONE);
	model->kvm_ns = 0;
	model->place = IN_KVM;
}

static inline void case_enters(struct case_model *model)
{
	uint64_t polled = model->exit == FOR_HALT ? case_random(model, 2) * model->kvm_ns / 2 : 0;

	if (model->place == IN_USER) {
		case_step(model, STEP_RUN, FOR_NONE);
		case_ends(model, EXITS_USERSPACE);
	}
	if (polled) {
		case_step(model, STEP_POLLED, polled);
		model->to->boxes[TIME_KVM] -= polled;
		model->to->boxes[TIME_POLL] += polled;
		model->to->parts[EXITS_VMEXIT].polled_ns += polled;
	}
	case_step(model, STEP_ENTRY, FOR_NONE);
	case_ends(model, EXITS_VMEXIT);
	model->place = IN_GUEST;
	model->user = FOR_NONE;
	model->guest_ns = 0;
	model->knows_entry = true;
}

static inline void case_leaves(struct case_model *model)
{
	static const enum step_why whys[] = { FOR_IO, FOR_HALT, FOR_SIGNAL };

	case_ends(model, EXITS_USERSPACE);
	model->user = whys[case_random(model, 3)];
	model->place = IN_USER;
	case_step(model, STEP_LEAVE, model->user);
}

static inline void case_loses_cpu(struct case_model *model)
{
	bool halts_again = model->place == IN_USER && model->exit == FOR_HALT &&
			   model->user == FOR_SIGNAL;

	model->cpu = model->place == IN_GUEST || case_random(model, 2) ? WAITS : IS_ASLEEP;
	if (model->cpu == IS_ASLEEP && halts_again) {
		case_step(model, STEP_RUN, FOR_NONE);
		case_ends(model, EXITS_USERSPACE);
		model->place = IN_KVM;
		model->user = FOR_NONE;
	}
	case_step(model, model->cpu == IS_ASLEEP ? STEP_SLEEP : STEP_PREEMPTED, FOR_NONE);
}

static inline void case_gets_cpu(struct case_model *model)
{
	if (model->cpu == IS_ASLEEP) {
		case_step(model, STEP_WAKE, FOR_NONE);
		model->cpu = WAITS;
		case_passes(model, case_random(model, 2) * case_random(model, 3000));
	}
	case_step(model, STEP_GET_CPU, FOR_NONE);
	model->cpu = HAS_CPU;
}

static inline void case_goes_on(struct case_model *model)
{
	uint32_t what = case_random(model, 3);

	case_passes(model, case_random(model, 3000));
	if (model->cpu != HAS_CPU)
		case_gets_cpu(model);
	else if (what == 0)
		case_loses_cpu(model);
	else if (model->place == IN_GUEST)
		case_exits(model);
	else if (what == 1)
		case_leaves(model);
	else
		case_enters(model);
}

/* may_be_open: at the end. A recording takes a thread for gone if its last event was an exit. */
static inline void exit_case_make(struct exit_case *to, uint32_t seed, bool may_be_open)
{
	struct case_model model = { .to = to, .random = seed };
	uint32_t nr;

	*to = (struct exit_case){ .name = "at random" };
	nr = 1 + case_random(&model, CASE_STEPS - 8);
	case_passes(&model, 1); /* 0 is never */
	while (model.nr < nr)
		case_goes_on(&model);
	if (model.cpu == IS_ASLEEP && !may_be_open)
		case_gets_cpu(&model);
	if (model.place != IN_GUEST && model.cpu == HAS_CPU && !may_be_open)
		case_enters(&model);
	case_passes(&model, case_random(&model, 3000));
	case_step(&model, STEP_END, FOR_NONE);
}

#endif
