// SPDX-License-Identifier: GPL-2.0-or-later
/* The state machine of a vCPU's thread. */
#include <stdlib.h>

#include "lib/array.h"
#include "core/facts/shared_fields.h"
#include "trace/exits/pairing.h"

/* Keeps the code for rare events out of the code for frequent ones. */
#define RARE __attribute__((noinline))

void pairing_init(struct pairing *pairing, const struct trace *trace, unsigned int arguments,
		  const struct pairing_listener *listener)
{
	*pairing = (struct pairing){ .trace = trace, .listener = listener,
				     .arguments = arguments,
				     .table.most_threads = TABLE_THREADS };
	pairing->meanings.trace = trace;
	intervals_init(&pairing->intervals, &pairing->table, 0, 0);
}

void pairing_release(struct pairing *pairing)
{
	meanings_release(&pairing->meanings);
	table_release(&pairing->table);
	recorded_guests_release(&pairing->guests);
	free(pairing->longs);
	hash_free(pairing->cpu_losses, free);
}

/* ---- what begins and ends */

/* The count of a reason. Whether it is a halt's is asked once. */
static struct exit_count *reason_count(struct pairing *pairing, struct recorded_thread *thread,
				       const struct exit_key *key)
{
	struct exit_count *count = table_count(&pairing->table, thread, key);

	if (!count->begun)
		count->cell = meaning_is_idle(&pairing->meanings, &count->key) ? EXITS_HALT : 0;
	return count;
}

static void begin_reason(struct thread_state *state, enum exit_kind kind, struct exit_count *count,
			 uint64_t time)
{
	count->begun++;
	state->counts[kind] = count;
	state->parts[kind] = (struct exits_parts){ 0 };
	state->begins[kind] = time;
}

/* after: how long the exit had lasted. */
static void begin_argument(struct thread_state *state, enum exit_kind kind,
			   struct exit_count *count, uint64_t after)
{
	count->begun += kind != EXITS_FAULT;
	state->exit.argument = count;
	state->has_argument |= (uint16_t)(1U << kind);
	state->counts[kind] = count;
	state->after[kind] = after;
}

/* since: as the machine has it, so without what does not count. */
static void end_span(const struct pairing *pairing, struct thread_state *state,
		     enum exit_kind kind, uint64_t since, uint64_t time)
{
	struct exit_count *count = state->counts[kind];

	if (time < since)
		return;
	spread_add(&count->took, pairing_duration(pairing, time - since));
	if (kind < EXITS_REASONS)
		exits_parts_join(&count->parts, &state->parts[kind]);
}

static void end_argument(const struct pairing *pairing, struct thread_state *state,
			 enum exit_kind kind, uint64_t time)
{
	state->has_argument &= (uint16_t)~(1U << kind);
	state->counts[kind]->begun += kind == EXITS_FAULT; /* only now: it was no device's */
	end_span(pairing, state, kind, state->at.begun + state->after[kind], time);
}

/* The first exit or entry, or the first after a loss. */
static RARE void end_unknown(struct thread_state *state, uint64_t time)
{
	if (state->has_run)
		state->unknown += elapsed(state->since, time);
	else
		state->first = time;
	state->has_run = true;
}

static inline void set_mode(struct thread_state *state, enum vcpu_mode mode, uint64_t time)
{
	if (state->mode == VCPU_UNKNOWN)
		end_unknown(state, time);
	state->since = time;
	state->mode = mode;
}

/* ---- exits */

static RARE void begin_long(struct thread_state *state, const struct meaning *meaning,
			    const struct trace_event *event)
{
	state->exit = (struct open_exit){
		.pc = meaning->pc ? trace_field_number(meaning->pc, event) : 0,
		.cpu = event->cpu,
	};
}

static void on_exit_event(struct pairing *pairing, struct recorded_thread *thread,
			  const struct meaning *meaning, const struct trace_event *event)
{
	const struct exit_key key = meaning_reason(meaning, event);
	struct exit_count *count = reason_count(pairing, thread, &key);
	struct thread_state *state = thread->state;

	if (!pairing->has_exits[EXITS_VMEXIT])
		pairing->first_exit = event->time;
	pairing->has_exits[EXITS_VMEXIT] = true;
	if (pairing->listener)
		spans_on_exit(pairing, thread, event->time);
	exits_forget(&state->at); /* an entry is missing */
	if (state->mode != VCPU_IN_GUEST)
		state->at.entered = 0;
	set_mode(state, VCPU_OUTSIDE, event->time);
	state->has_exit = true;
	state->before = state->at.sums;
	begin_reason(state, EXITS_VMEXIT, count, event->time);
	exits_begin(&state->at, count->cell, event->time);
	state->has_argument = 0;
	state->after[EXITS_MMIO] = 0;
	state->is_mmio_open = true;
	if (pairing->longer)
		begin_long(state, meaning, event);
	if (pairing->listener)
		spans_begin(pairing, thread, SPAN_EXIT, event);
}

/* Whether there is an open exit, with a reason that no later event has changed. */
static bool has_plain_exit(const struct thread_state *state)
{
	const struct exit_count *count = state_open(state, EXITS_VMEXIT);

	return count && !exit_key_is_others(&count->key) && count->key.c == EXIT_OF_GUEST;
}

/* Gives the open exit another key. */
static void change_exit(struct pairing *pairing, struct recorded_thread *thread,
			const struct exit_key *key)
{
	struct thread_state *state = thread->state;
	struct exit_count *count = reason_count(pairing, thread, key);

	state->counts[EXITS_VMEXIT]->begun--;
	count->begun++;
	state->counts[EXITS_VMEXIT] = count;
	state->at.cell = count->cell;
}

static RARE void on_nested(struct pairing *pairing, struct recorded_thread *thread)
{
	struct thread_state *state = thread->state;
	struct exit_key key;

	pairing->has_nested = true;
	if (!has_plain_exit(state))
		return;
	key = state->counts[EXITS_VMEXIT]->key;
	key.c = EXIT_OF_L2;
	exits_nest(&state->at);
	change_exit(pairing, thread, &key);
}

/* A protected guest leaves itself by VMGEXIT for whatever it needs, also to halt. */
static RARE void on_vmgexit(struct pairing *pairing, struct recorded_thread *thread,
			    const struct meaning *meaning, const struct trace_event *event)
{
	struct exit_key key;

	if (!has_plain_exit(thread->state))
		return;
	key = thread->state->counts[EXITS_VMEXIT]->key;
	if (!(meaning_flags(&pairing->meanings, &key) & REASON_PROTECTED))
		return;
	key.a = trace_field_number(meaning->code, event);
	key.c = EXIT_OF_VMGEXIT;
	change_exit(pairing, thread, &key);
}

static RARE void on_cause(struct pairing *pairing, struct recorded_thread *thread,
			  const struct meaning *meaning, const struct trace_event *event)
{
	struct exit_key key;

	if (!has_plain_exit(thread->state))
		return;
	key = thread->state->counts[EXITS_VMEXIT]->key;
	key.a = trace_field_number(meaning->code, event);
	change_exit(pairing, thread, &key);
}

/* Keeps the exit that the entry ends if it took longer than the threshold. */
static RARE void keep_long(struct pairing *pairing, struct recorded_thread *thread, uint64_t time)
{
	const struct thread_state *state = thread->state;
	const struct open_exit *exit = &state->exit;
	uint64_t at = pairing->nr_longs % LONG_EXITS_MAX, since = exits_open_since(&state->at);

	if (!since || elapsed(since, time) <= pairing->longer ||
	    (!pairing->has_halts && state->at.cell >= EXITS_HALT))
		return;
	array_grow(&pairing->longs, &pairing->room_longs, at + 1);
	pairing->nr_longs++;
	pairing->longs[at] = (struct recorded_long){
		.thread = thread, .exit = state->counts[EXITS_VMEXIT], .argument = exit->argument,
		.begin = since, .end = time, .user = exit->user, .pc = exit->pc, .cpu = exit->cpu,
		.polled_ns = state->parts[EXITS_VMEXIT].polled_ns,
		.waited = state->at.sums.waited - state->before.waited,
	};
}

/* ---- user space */

/* Whether a halt is open, and KVM_RUN has failed: the halt may go on with the next KVM_RUN. */
static bool may_halt_again(const struct thread_state *state)
{
	const struct exit_count *user = state_open(state, EXITS_USERSPACE);

	return user && exits_open_since(&state->at) && !exit_key_is_others(&user->key) &&
	       exits_halt_goes_on(&state->at, user->key.a);
}

/* Returns when it began; 0: user space has no exit. Only the scheduler's events tell of halts. */
static uint64_t leave_userspace(const struct pairing *pairing, struct thread_state *state,
				uint64_t time)
{
	bool is_unknown = !pairing->has_switches && may_halt_again(state);
	uint64_t lasted = elapsed(state->at.user_since, time);

	if (!state->at.user_since)
		return 0;
	if (is_unknown) {
		state->at.user_cell = EXITS_HALT;
		state->halt_unknown += lasted;
	} else if (exits_open_since(&state->at)) {
		state->exit.user += lasted;
	}
	return exits_end_user(&state->at, time);
}

static void end_userspace(const struct pairing *pairing, struct recorded_thread *thread,
			  uint64_t time)
{
	uint64_t since;

	if (pairing->listener)
		spans_end(pairing, thread, SPAN_USERSPACE, time, false);
	since = leave_userspace(pairing, thread->state, time);
	if (since)
		end_span(pairing, thread->state, EXITS_USERSPACE, since, time);
}

static void on_entry(struct pairing *pairing, struct recorded_thread *thread,
		     const struct trace_event *event)
{
	struct thread_state *state = thread->state;
	uint64_t since;

	pairing->has_entries = true;
	pairing->last_entry = event->time;
	if (pairing->listener)
		spans_on_entry(pairing, thread, event->time);
	end_userspace(pairing, thread, event->time);
	if (pairing->longer)
		keep_long(pairing, thread, event->time);
	for (unsigned int open = state->has_argument; open; open &= open - 1)
		end_argument(pairing, state, (enum exit_kind)__builtin_ctz(open), event->time);
	since = exits_end(&state->at);
	if (since)
		end_span(pairing, state, EXITS_VMEXIT, since, event->time);
	state->is_mmio_open = false;
	state->at.entered = event->time;
	set_mode(state, VCPU_IN_GUEST, event->time);
	if (pairing->listener)
		spans_begin(pairing, thread, SPAN_GUEST, event);
}

/* KVM_RUN may be called and left again without an entry, as when a halted vCPU gets a signal. */
static RARE void on_userspace(struct pairing *pairing, struct recorded_thread *thread,
			      const struct meaning *meaning, const struct trace_event *event)
{
	const struct exit_key key = meaning_reason(meaning, event);
	struct exit_count *count = reason_count(pairing, thread, &key);
	struct thread_state *state = thread->state;

	pairing->has_exits[EXITS_USERSPACE] = true;
	if (state->mode == VCPU_OUTSIDE)
		end_userspace(pairing, thread, event->time);
	begin_reason(state, EXITS_USERSPACE, count, event->time);
	exits_begin_user(&state->at, count->cell, event->time);
	if (pairing->listener)
		spans_begin(pairing, thread, SPAN_USERSPACE, event);
}

/* KVM_RUN has begun again when the thread sleeps in a halt. */
void pairing_lose_cpu(struct pairing *pairing, struct recorded_thread *thread, bool sleeps,
		      uint64_t time)
{
	struct thread_state *state = table_make_state(thread);

	if (sleeps && may_halt_again(state))
		end_userspace(pairing, thread, time);
	exits_lose_cpu(&state->at, sleeps ? pairing_why_asleep(pairing, state) : EXITS_WAITS, time);
	if (!thread->prev)
		table_link(&pairing->table, thread, thread->cpu);
}

void pairing_look(const struct pairing *pairing, const struct recorded_thread *thread,
		  uint64_t end, struct last_state *ret_last)
{
	struct thread_state *state = &ret_last->state;
	const struct exit_machine *at = &state->at;

	*state = *table_state(thread);
	pairing_end_away(pairing, state, end);
	for (int kind = 0; kind < EXITS_KINDS; kind++) {
		uint64_t since = kind == EXITS_USERSPACE ? at->user_since :
							   at->begun + state->after[kind];

		ret_last->took[kind] =
			state_open(state, (enum exit_kind)kind) ? elapsed(since, end) : 0;
	}
	leave_userspace(pairing, state, end);
}

/* ---- arguments of exits */

/* Counts an argument of which neither begin nor end is known. */
static void count_argument(struct recorded_thread *thread, struct exit_count *count)
{
	count->begun++;
	if (thread->state)
		thread->state->exit.argument = count;
}

/*
 * A read ends with its kvm_mmio, and began with the exit; a write begins with it. kvm_mmio_emulate,
 * which has a fixed_c, comes before both.
 */
static void on_mmio(struct pairing *pairing, struct recorded_thread *thread,
		    const struct meaning *meaning, const struct exit_key *key, uint64_t time)
{
	bool is_write = key->c == MMIO_WRITE;
	bool is_read = key->c == MMIO_READ && !meaning->fixed_c;
	bool was_open = table_state(thread)->is_mmio_open;
	struct thread_state *state;
	struct exit_count *count;

	if (thread->state) /* the fault by which KVM found the device */
		thread->state->has_argument &= (uint16_t)~(1U << EXITS_FAULT);
	if (key->c == MMIO_READ_BEGUN)
		return;
	count = table_count(&pairing->table, thread, key);
	if (!is_write && !was_open) {
		count_argument(thread, count);
		return;
	}
	state = table_make_state(thread);
	begin_argument(state, EXITS_MMIO, count,
		       is_write ? elapsed(state->at.begun, time) : state->after[EXITS_MMIO]);
	if (is_read)
		end_argument(pairing, state, EXITS_MMIO, time);
	state->is_mmio_open = !is_read;
}

/* Why the thread is outside the guest; NULL: it is not, or the reason is not known. */
static const struct exit_key *open_exit(const struct thread_state *state)
{
	const struct exit_count *count;

	if (state->mode != VCPU_OUTSIDE)
		return NULL;
	count = state->counts[EXITS_VMEXIT];
	return exit_key_is_others(&count->key) ? NULL : &count->key;
}

static RARE void on_argument(struct pairing *pairing, struct recorded_thread *thread,
			     const struct meaning *meaning, const struct trace_event *event)
{
	const struct thread_state *state = table_state(thread);
	enum exit_kind kind = meaning->counted_as;
	struct exit_count *count;
	struct exit_key key;

	/* The first argument is what the exit is about. Without exits there is only this event. */
	if (kind > EXITS_MMIO && state->has_argument & 1U << kind)
		return;
	key = meaning_argument(&pairing->meanings, meaning, event, open_exit(state));
	if (kind == EXITS_MMIO) {
		on_mmio(pairing, thread, meaning, &key, event->time);
		return;
	}
	count = table_count(&pairing->table, thread, &key);
	if (kind == EXITS_IOPORT)
		begin_argument(table_make_state(thread), kind, count,
			       elapsed(state->at.begun, event->time));
	else if (state->mode == VCPU_OUTSIDE)
		begin_argument(thread->state, kind, count, 0);
	else
		count_argument(thread, count);
}

/*
 * What KVM polled of a halt: live it has a sum of that. Only of halts that began here. Where the
 * scheduler's events are recorded, the sleep is known.
 */
static RARE void on_wakeup(struct pairing *pairing, struct thread_state *state,
			   const struct meaning *meaning, const struct trace_event *event)
{
	uint64_t ns = trace_field_number(meaning->ns, event), polled = ns;

	pairing->has_wakeups = true;
	if (trace_field_number(meaning->has_waited, event) && state->poll_limit_ns < ns)
		polled = state->poll_limit_ns;
	state->poll_limit_ns = 0;
	if (state->mode == VCPU_OUTSIDE)
		state->parts[EXITS_VMEXIT].polled_ns += polled;
	if (!pairing->has_switches && state->at.cell < EXITS_HALT &&
	    pairing_why_asleep(pairing, state) == EXITS_IDLES &&
	    trace_clock_info(pairing->trace)->clock == TRACE_CLOCK_NS)
		pairing_was_away(pairing, state, EXITS_IDLES,
				 (struct exits_off){ 0, ns - polled });
}

/* ---- the stream */

/* Any thread raises interrupts, of the VMM or of the kernel. */
static bool is_of_vcpu(const struct meaning *meaning)
{
	return meaning->kind != MEANING_EVENT && meaning->counted_as != EXITS_INTERRUPT;
}

static RARE void on_interrupt(struct pairing *pairing, struct recorded_thread *thread,
			      const struct meaning *meaning, const struct trace_event *event)
{
	const struct exit_key key = meaning_argument(&pairing->meanings, meaning, event, NULL);

	if (pairing->arguments & 1U << EXITS_INTERRUPT)
		table_count(&pairing->table, thread, &key)->begun++;
}

static void take_event(struct pairing *pairing, struct recorded_thread *thread,
		       const struct meaning *meaning, const struct trace_event *event)
{
	if (!is_of_vcpu(meaning)) {
		if (meaning->kind == MEANING_ARGUMENT)
			on_interrupt(pairing, thread, meaning, event);
		return;
	}
	thread->is_vcpu = true;
	if (meaning->kind == MEANING_ARGUMENT) {
		if (pairing->arguments & 1U << meaning->counted_as)
			on_argument(pairing, thread, meaning, event);
		return;
	}
	table_make_state(thread)->at.away_since = 0; /* also if the switch to it is missing */
	if (meaning->kind == MEANING_EXIT)
		on_exit_event(pairing, thread, meaning, event);
	else if (meaning->kind == MEANING_ENTRY)
		on_entry(pairing, thread, event);
	else if (meaning->kind == MEANING_USERSPACE)
		on_userspace(pairing, thread, meaning, event);
	else if (meaning->kind == MEANING_NESTED)
		on_nested(pairing, thread);
	else if (meaning->kind == MEANING_VMGEXIT)
		on_vmgexit(pairing, thread, meaning, event);
	else if (meaning->kind == MEANING_CAUSE)
		on_cause(pairing, thread, meaning, event);
	else if (meaning->kind == MEANING_WAKEUP)
		on_wakeup(pairing, thread->state, meaning, event);
	else if (meaning->kind == MEANING_POLL_LIMIT)
		thread->state->poll_limit_ns = trace_field_number(meaning->ns, event);
}

/*
 * An exit or entry is of the vCPU that it names, an interrupt for it. Any other event is a guess.
 */
static void set_vcpu(struct recorded_thread *thread, const struct meaning *meaning,
		     const struct trace_event *event)
{
	bool is_own = meaning->kind == MEANING_EXIT || meaning->kind == MEANING_ENTRY ||
		      meaning->kind == MEANING_USERSPACE;

	if (event->vcpu >= 0 && !meaning->target && (is_own || thread->vcpu < 0))
		thread->vcpu = event->vcpu;
}

void pairing_add(struct pairing *pairing, const struct trace_event *event)
{
	struct recorded_thread *thread;
	const struct meaning *meaning;

	if (!event->type) {
		pairing_lose(pairing, event);
		return;
	}
	if (pairing->nr_events++ == 0)
		intervals_begin(&pairing->intervals, event->time);
	pairing_see(pairing, event->time);
	meaning = meaning_of(&pairing->meanings, event->type);
	if (meaning->kind >= MEANING_NONE) {
		if (meaning->kind != MEANING_NONE)
			pairing_schedule(pairing, meaning, event);
		return;
	}
	thread = table_thread(&pairing->table, event);
	if (!table_has_room(&pairing->table, thread, meaning->number))
		thread = table_others(&pairing->table);
	intervals_touch(&pairing->intervals, thread, event->time);
	table_count_event(&pairing->table, thread, meaning->number);
	if (thread->is_others) {
		thread->is_vcpu |= is_of_vcpu(meaning);
		return;
	}
	if (thread->cpu != event->cpu)
		pairing_migrate(pairing, thread, event);
	if (!thread->prev || thread->cpu != event->cpu)
		table_link(&pairing->table, thread, event->cpu);
	thread->last = event->time;
	if (event->vcpu != thread->vcpu)
		set_vcpu(thread, meaning, event);
	take_event(pairing, thread, meaning, event);
	thread->is_new = false;
}
