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

/* from: another span that began at the same time; NULL: it begins now. */
static inline void open_span(struct thread_state *state, enum exit_kind kind,
			     struct exit_count *count, uint64_t time, const struct open_span *from)
{
	count->begun += kind != EXITS_FAULT;
	if (kind >= EXITS_FIRST_ARGUMENT)
		state->exit.argument = count;
	else
		state->parts[kind] = (struct exits_parts){ 0 };
	state->is_open |= (uint16_t)(1U << kind);
	state->spans[kind] = from ? *from : (struct open_span){ time, state->times.waited, NULL };
	state->spans[kind].count = count;
}

/* How long a span has lasted, without waiting for a CPU, in the clock's unit. */
static inline uint64_t span_took(const struct thread_state *state, const struct open_span *span,
				 uint64_t time)
{
	return elapsed(state->times.waited - span->waited, elapsed(span->begin, time));
}

/* What it took is counted now. */
static inline void end_span(const struct pairing *pairing, struct thread_state *state,
			    enum exit_kind kind, uint64_t time)
{
	const struct open_span *span = &state->spans[kind];

	state->is_open &= (uint16_t)~(1U << kind);
	span->count->begun += kind == EXITS_FAULT; /* as live: then it was no device's */
	if (time < span->begin)
		return;
	spread_add(&span->count->took,
		   pairing_duration(pairing, span_took(state, span, time)));
	if (kind < EXITS_REASONS)
		exits_parts_join(&span->count->parts, &state->parts[kind]);
}

/* The first exit or entry, or the first after a loss. */
static RARE void end_unknown(struct thread_state *state, uint64_t time)
{
	if (state->has_run)
		state->times.unknown += elapsed(state->since, time);
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
	struct exit_count *count = table_count(&pairing->table, thread, &key);
	struct thread_state *state = thread->state;

	if (!pairing->has_exits[EXITS_VMEXIT])
		pairing->first_exit = event->time;
	pairing->has_exits[EXITS_VMEXIT] = true;
	if (pairing->listener)
		spans_on_exit(pairing, thread, event->time);
	state->is_open = 0;
	state->ran = state->mode == VCPU_IN_GUEST ? elapsed(state->since, event->time) : 0;
	set_mode(state, VCPU_OUTSIDE, event->time);
	state->has_exit = true;
	state->idle_before = state->times.idle_out;
	open_span(state, EXITS_VMEXIT, count, event->time, NULL);
	state->spans[EXITS_MMIO] = state->spans[EXITS_VMEXIT];
	state->is_mmio_open = true;
	if (pairing->longer)
		begin_long(state, meaning, event);
	if (pairing->listener)
		spans_begin(pairing, thread, SPAN_EXIT, event);
}

/* Whether there is an open exit, with a reason that no later event has changed. */
static bool has_plain_exit(const struct thread_state *state)
{
	const struct exit_count *count = state->spans[EXITS_VMEXIT].count;

	return state->is_open & 1U << EXITS_VMEXIT && !exit_key_is_others(&count->key) &&
	       count->key.c == EXIT_OF_GUEST;
}

/* Gives the open exit another key. */
static void change_exit(struct pairing *pairing, struct recorded_thread *thread,
			const struct exit_key *key)
{
	struct open_span *span = &thread->state->spans[EXITS_VMEXIT];
	struct exit_count *count = table_count(&pairing->table, thread, key);

	span->count->begun--;
	count->begun++;
	span->count = count;
}

static RARE void on_nested(struct pairing *pairing, struct recorded_thread *thread)
{
	struct thread_state *state = thread->state;
	struct exit_key key;

	pairing->has_nested = true;
	if (!has_plain_exit(state))
		return;
	key = state->spans[EXITS_VMEXIT].count->key;
	key.c = EXIT_OF_L2;
	state->times.nested += state->ran;
	change_exit(pairing, thread, &key);
}

/* A protected guest leaves itself by VMGEXIT for whatever it needs, also to halt. */
static RARE void on_vmgexit(struct pairing *pairing, struct recorded_thread *thread,
			    const struct meaning *meaning, const struct trace_event *event)
{
	struct exit_key key;

	if (!has_plain_exit(thread->state))
		return;
	key = thread->state->spans[EXITS_VMEXIT].count->key;
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
	key = thread->state->spans[EXITS_VMEXIT].count->key;
	key.a = trace_field_number(meaning->code, event);
	change_exit(pairing, thread, &key);
}

/* Keeps the exit that the entry ends if it took longer than the threshold. */
static RARE void keep_long(struct pairing *pairing, struct recorded_thread *thread, uint64_t time)
{
	const struct thread_state *state = thread->state;
	const struct open_span *span = &state->spans[EXITS_VMEXIT];
	const struct open_exit *exit = &state->exit;
	uint64_t at = pairing->nr_longs % LONG_EXITS_MAX;
	uint64_t idle = state->times.idle_out - state->idle_before;

	if (!(state->is_open & 1U << EXITS_VMEXIT) ||
	    span_took(state, span, time) <= pairing->longer ||
	    (!pairing->has_halts && count_is_idle(&pairing->meanings, span->count)))
		return;
	array_grow(&pairing->longs, &pairing->room_longs, at + 1);
	pairing->nr_longs++;
	pairing->longs[at] = (struct recorded_long){
		.thread = thread, .exit = span->count, .argument = exit->argument,
		.begin = span->begin + idle, .end = time, .user = exit->user,
		.pc = exit->pc, .cpu = exit->cpu,
		.polled_ns = state->parts[EXITS_VMEXIT].polled_ns,
		.waited = state->times.waited - span->waited - idle,
	};
}

/* ---- user space */

/* Whether the exit that is open is a halt, and KVM_RUN has returned to user space since. */
static bool is_halt_in_userspace(const struct pairing *pairing, const struct thread_state *state)
{
	const unsigned int both = 1U << EXITS_VMEXIT | 1U << EXITS_USERSPACE;

	return (state->is_open & both) == both &&
	       count_is_idle(&pairing->meanings, state->spans[EXITS_VMEXIT].count);
}

/* Whether KVM_RUN has failed, as after a signal. A halt may go on with the next KVM_RUN. */
static bool has_failed(const struct exit_count *user)
{
	return !exit_key_is_others(&user->key) && exit_fields_failure(user->key.a);
}

/*
 * During a halt: how long ago KVM_RUN returned to user space; 0: it has not, or user space idles
 * for the vCPU. ret_is_known: the vCPU was not halted meanwhile. After a failure only the
 * scheduler's events tell, see pairing_sleep().
 */
static uint64_t user_time_in_halt(const struct pairing *pairing, const struct thread_state *state,
				  uint64_t time, bool *ret_is_known)
{
	const struct open_span *user = &state->spans[EXITS_USERSPACE];

	*ret_is_known = true;
	if (!is_halt_in_userspace(pairing, state) || time < user->begin ||
	    count_is_idle(&pairing->meanings, user->count))
		return 0;
	*ret_is_known = pairing->has_switches || !has_failed(user->count);
	return span_took(state, user, time);
}

/* Before the open exit to user space ends. */
static RARE void add_user(const struct pairing *pairing, struct thread_state *state, uint64_t time)
{
	bool is_known;
	uint64_t in_halt = user_time_in_halt(pairing, state, time, &is_known);

	if (!is_known) {
		state->times.halt_unknown += in_halt;
		return;
	}
	state->times.halt_user += in_halt;
	if (state->is_open & 1U << EXITS_VMEXIT)
		state->exit.user += span_took(state, &state->spans[EXITS_USERSPACE], time);
}

uint64_t pairing_halt_user(const struct pairing *pairing, const struct recorded_thread *thread,
			   uint64_t end, uint64_t *ret_unknown)
{
	const struct thread_state *state = table_state(thread);
	bool is_known;
	uint64_t in_halt = user_time_in_halt(pairing, state, end, &is_known);

	*ret_unknown = state->times.halt_unknown + (is_known ? 0 : in_halt);
	return state->times.halt_user + (is_known ? in_halt : 0);
}

static void on_entry(struct pairing *pairing, struct recorded_thread *thread,
		     const struct trace_event *event)
{
	struct thread_state *state = thread->state;

	pairing->has_entries = true;
	pairing->last_entry = event->time;
	if (pairing->listener)
		spans_on_entry(pairing, thread, event->time);
	if (state->is_open & 1U << EXITS_USERSPACE)
		add_user(pairing, state, event->time);
	if (pairing->longer)
		keep_long(pairing, thread, event->time);
	for (unsigned int open = state->is_open; open; open &= open - 1)
		end_span(pairing, state, (enum exit_kind)__builtin_ctz(open), event->time);
	state->is_mmio_open = false;
	set_mode(state, VCPU_IN_GUEST, event->time);
	if (pairing->listener)
		spans_begin(pairing, thread, SPAN_GUEST, event);
}

static void end_userspace(const struct pairing *pairing, struct recorded_thread *thread,
			  uint64_t time)
{
	if (pairing->listener)
		spans_end(pairing, thread, SPAN_USERSPACE, time, false);
	add_user(pairing, thread->state, time);
	end_span(pairing, thread->state, EXITS_USERSPACE, time);
}

/* KVM_RUN may be called and left again without an entry, as when a halted vCPU gets a signal. */
static RARE void on_userspace(struct pairing *pairing, struct recorded_thread *thread,
			      const struct meaning *meaning, const struct trace_event *event)
{
	const struct exit_key key = meaning_reason(meaning, event);
	struct exit_count *count = table_count(&pairing->table, thread, &key);
	struct thread_state *state = thread->state;

	pairing->has_exits[EXITS_USERSPACE] = true;
	if (state->mode == VCPU_OUTSIDE && state->is_open & 1U << EXITS_USERSPACE)
		end_userspace(pairing, thread, event->time);
	open_span(state, EXITS_USERSPACE, count, event->time, NULL);
	if (pairing->listener)
		spans_begin(pairing, thread, SPAN_USERSPACE, event);
}

/*
 * After a signal a halt goes on with the next KVM_RUN, which no event shows: it has begun when the
 * thread sleeps.
 */
void pairing_sleep(const struct pairing *pairing, struct recorded_thread *thread, uint64_t time)
{
	const struct thread_state *state = thread->state;

	if (is_halt_in_userspace(pairing, state) &&
	    has_failed(state->spans[EXITS_USERSPACE].count))
		end_userspace(pairing, thread, time);
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
		thread->state->is_open &= (uint16_t)~(1U << EXITS_FAULT);
	if (key->c == MMIO_READ_BEGUN)
		return;
	count = table_count(&pairing->table, thread, key);
	if (!is_write && !was_open) {
		count_argument(thread, count);
		return;
	}
	state = table_make_state(thread);
	open_span(state, EXITS_MMIO, count, time, is_write ? NULL : &state->spans[EXITS_MMIO]);
	if (is_read)
		end_span(pairing, state, EXITS_MMIO, time);
	state->is_mmio_open = !is_read;
}

/* Why the thread is outside the guest; NULL: it is not, or the reason is not known. */
static const struct exit_key *open_exit(const struct thread_state *state)
{
	const struct exit_count *count;

	if (state->mode != VCPU_OUTSIDE)
		return NULL;
	count = state->spans[EXITS_VMEXIT].count;
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
	if (kind > EXITS_MMIO && state->is_open & 1U << kind)
		return;
	key = meaning_argument(&pairing->meanings, meaning, event, open_exit(state));
	if (kind == EXITS_MMIO) {
		on_mmio(pairing, thread, meaning, &key, event->time);
		return;
	}
	count = table_count(&pairing->table, thread, &key);
	if (kind == EXITS_IOPORT)
		open_span(table_make_state(thread), kind, count, event->time, NULL);
	else if (state->mode == VCPU_OUTSIDE)
		open_span(thread->state, kind, count, event->time, &state->spans[EXITS_VMEXIT]);
	else
		count_argument(thread, count);
}

/* As live: see on_wakeup() of providers/exits/exits.bpf.c. Only of halts that began here. */
static RARE void on_wakeup(struct pairing *pairing, struct thread_state *state,
			   const struct meaning *meaning, const struct trace_event *event)
{
	uint64_t ns = trace_field_number(meaning->ns, event), limit = state->poll_limit_ns;

	pairing->has_wakeups = true;
	state->poll_limit_ns = 0;
	if (trace_field_number(meaning->has_waited, event) && limit < ns)
		ns = limit;
	if (state->mode == VCPU_OUTSIDE)
		state->parts[EXITS_VMEXIT].polled_ns += ns;
	/* Where the scheduler's events are recorded, the sleep is known. */
	if (!pairing->has_switches && pairing_may_idle(pairing, state) &&
	    trace_clock_info(pairing->trace)->clock == TRACE_CLOCK_NS)
		pairing_idle_out(state, trace_field_number(meaning->ns, event) - ns);
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

static void take(struct pairing *pairing, struct recorded_thread *thread,
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
	table_make_state(thread)->sched = SCHED_RUNS; /* also if the switch to it is missing */
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

static void count_event(struct pairing *pairing, const struct trace_event *event, uint64_t nr)
{
	if (pairing->nr_events == 0)
		intervals_begin(&pairing->intervals, event->time);
	pairing_see(pairing, event->time);
	pairing->nr_events += nr;
	if (!event->counted)
		return;
	pairing->nr_counted += event->counted;
	if (event->thread_key & EVENT_OF_CPU)
		pairing->nr_counted_of_cpu += event->counted;
}

void pairing_add(struct pairing *pairing, const struct trace_event *event)
{
	uint64_t nr = event->counted ? event->counted : 1;
	struct recorded_thread *thread;
	const struct meaning *meaning;

	if (!event->type) {
		pairing_lose(pairing, event);
		return;
	}
	count_event(pairing, event, nr);
	meaning = meaning_of(&pairing->meanings, event->type);
	if (meaning->kind >= MEANING_NONE) {
		if (meaning->kind != MEANING_NONE && !event->counted)
			pairing_schedule(pairing, meaning, event);
		return;
	}
	thread = table_thread(&pairing->table, event);
	if (!table_has_room(&pairing->table, thread, meaning->number))
		thread = table_others(&pairing->table);
	intervals_touch(&pairing->intervals, thread, event->time);
	table_count_events(&pairing->table, thread, meaning->number, nr);
	if (thread->is_others) {
		thread->is_vcpu |= is_of_vcpu(meaning);
		return;
	}
	if (thread->cpu != event->cpu)
		pairing_migrate(pairing, thread, event);
	if (!thread->prev || thread->cpu != event->cpu)
		table_link(&pairing->table, thread, event->cpu);
	thread->last = event->time;
	if (event->counted) {
		/* Without a field or a time they begin and end nothing. */
		if (is_of_vcpu(meaning) && event->tid >= 0)
			thread->is_vcpu = true;
		return;
	}
	if (event->vcpu != thread->vcpu)
		set_vcpu(thread, meaning, event);
	take(pairing, thread, meaning, event);
	thread->is_new = false;
}
