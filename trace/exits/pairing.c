// SPDX-License-Identifier: GPL-2.0-or-later
/* The state machine of a vCPU's thread. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/array.h"
#include "core/facts/shared_fields.h"
#include "trace/exits/pairing.h"

/* Keeps the code for rare events out of the code for frequent ones. */
#define RARE __attribute__((noinline))

/* Bits of sched_switch's prev_state: 0 in all of them means that the thread could run on. */
#define STATE_SLEEPS 0xff

enum { MMIO_UNSATISFIED_READ, MMIO_READ, MMIO_WRITE };

void pairing_init(struct pairing *pairing, const struct trace *trace, unsigned int arguments,
		  const struct pairing_listener *listener)
{
	*pairing = (struct pairing){ .trace = trace, .listener = listener,
				     .arguments = arguments };
	pairing->meanings.trace = trace;
}

void pairing_release(struct pairing *pairing)
{
	meanings_release(&pairing->meanings);
	table_release(&pairing->table);
	free(pairing->longs);
}

/* ---- calls of the listener */

static void tell_begin(const struct pairing *pairing, struct recorded_thread *thread,
		       enum span span, const struct trace_event *event)
{
	if (pairing->listener)
		pairing->listener->begins(pairing->listener->state, thread, span, event);
}

static void tell_end(const struct pairing *pairing, struct recorded_thread *thread, enum span span,
		     uint64_t time, bool is_cut)
{
	const struct pairing_listener *listener = pairing->listener;
	enum exit_kind kind = span == SPAN_EXIT ? EXITS_VMEXIT : EXITS_USERSPACE;
	const struct open_span *open = &thread->spans[kind];

	if (span == SPAN_GUEST)
		listener->ends(listener->state, thread, span, thread->since, time, NULL, is_cut);
	else if (thread->is_open & 1U << kind)
		listener->ends(listener->state, thread, span, open->begin, time,
			       open->count, is_cut);
}

static void tell_wait(const struct pairing *pairing, struct recorded_thread *thread, uint64_t time,
		      bool is_cut)
{
	pairing->listener->ends(pairing->listener->state, thread, SPAN_WAIT, thread->waits_since,
				time, NULL, is_cut);
}

/* What the recording cuts off, the outer span first. */
static void tell_cut(const struct pairing *pairing, struct recorded_thread *thread, uint64_t time)
{
	if (thread->state == VCPU_IN_GUEST)
		tell_end(pairing, thread, SPAN_GUEST, time, true);
	if (thread->state != VCPU_OUTSIDE)
		return;
	tell_end(pairing, thread, SPAN_EXIT, time, true);
	tell_end(pairing, thread, SPAN_USERSPACE, time, true);
	if (thread->sched == SCHED_WAITS)
		tell_wait(pairing, thread, time, true);
}

/* What the thread was in since the recording began, if its first event ends it. */
static void tell_first(const struct pairing *pairing, struct recorded_thread *thread,
		       enum span span, uint64_t time)
{
	if (thread->is_new && time > pairing->first_time)
		pairing->listener->ends(pairing->listener->state, thread, span,
					pairing->first_time, time, NULL, true);
}

/* What an exit ends: the guest, or an exit of which the entry is missing. */
static void tell_exit(const struct pairing *pairing, struct recorded_thread *thread, uint64_t time)
{
	tell_first(pairing, thread, SPAN_GUEST, time);
	if (thread->state == VCPU_IN_GUEST)
		tell_end(pairing, thread, SPAN_GUEST, time, false);
	else
		tell_cut(pairing, thread, time);
}

/* The listener gets what an entry ends: the exit, or without an exit the time in the guest. */
static void tell_entry(const struct pairing *pairing, struct recorded_thread *thread, uint64_t time)
{
	tell_first(pairing, thread, SPAN_EXIT, time);
	if (thread->state == VCPU_IN_GUEST)
		tell_end(pairing, thread, SPAN_GUEST, time, true);
	tell_end(pairing, thread, SPAN_EXIT, time, false);
	tell_end(pairing, thread, SPAN_USERSPACE, time, false);
}

/* ---- what begins and ends */

static inline void open_span(struct recorded_thread *thread, enum exit_kind kind,
			     struct exit_count *count, uint64_t time)
{
	count->begun++;
	if (kind >= EXITS_FIRST_ARGUMENT)
		thread->argument = count;
	thread->is_open |= (uint8_t)(1U << kind);
	thread->spans[kind] = (struct open_span){ time, count };
}

/* Counts one more of a key. What it takes is counted when it ends. */
static void begin(struct pairing *pairing, struct recorded_thread *thread,
		  const struct exit_key *key, uint64_t time)
{
	struct exit_count *count = table_count(&pairing->table, thread, key);

	open_span(thread, (enum exit_kind)key->kind, count, time);
}

static inline void end(struct recorded_thread *thread, enum exit_kind kind, uint64_t time)
{
	const struct open_span *span = &thread->spans[kind];

	if (time >= span->begin)
		durations_add(&span->count->took, time - span->begin);
}

/* The span has ended, or its end is not known. */
static void drop(struct recorded_thread *thread, enum exit_kind kind)
{
	thread->is_open &= (uint8_t)~(1U << kind);
}

/* The first exit or entry, or the first after a loss. */
static RARE void end_unknown(struct recorded_thread *thread, uint64_t time)
{
	if (thread->has_run)
		thread->unknown += time - thread->since;
	else
		thread->first = time;
	thread->has_run = true;
}

static inline void set_state(struct recorded_thread *thread, enum vcpu_state state, uint64_t time)
{
	if (thread->state == VCPU_UNKNOWN)
		end_unknown(thread, time);
	thread->since = time;
	thread->state = state;
}

/* ---- events */

/* Notes what struct recorded_long has of the exit's beginning. */
static RARE void begin_long(struct recorded_thread *thread, const struct meaning *meaning,
			    const struct trace_event *event)
{
	thread->user = 0;
	thread->argument = NULL;
	thread->polled_before = thread->polled_ns;
	thread->waited_before = thread->waited;
	thread->exit_cpu = event->cpu;
	thread->pc = meaning->pc ? trace_field_number(meaning->pc, event) : 0;
}

static void on_exit_event(struct pairing *pairing, struct recorded_thread *thread,
			  const struct meaning *meaning, const struct trace_event *event)
{
	const struct exit_key key = meaning_reason(meaning, event);
	struct exit_count *count = table_count(&pairing->table, thread, &key);

	if (!pairing->has_exits[EXITS_VMEXIT])
		pairing->first_exit = event->time;
	pairing->has_exits[EXITS_VMEXIT] = true;
	if (pairing->listener)
		tell_exit(pairing, thread, event->time);
	thread->is_open = 0;
	thread->ran = thread->state == VCPU_IN_GUEST ? event->time - thread->since : 0;
	set_state(thread, VCPU_OUTSIDE, event->time);
	thread->has_exit = true;
	thread->spans[EXITS_MMIO].begin = event->time;
	thread->is_mmio_open = true;
	open_span(thread, EXITS_VMEXIT, count, event->time);
	if (pairing->longer)
		begin_long(thread, meaning, event);
	tell_begin(pairing, thread, SPAN_EXIT, event);
}

/* Whether there is an open exit of the usual kind. */
static bool has_plain_exit(const struct recorded_thread *thread)
{
	const struct exit_count *count = thread->spans[EXITS_VMEXIT].count;

	return thread->is_open & 1U << EXITS_VMEXIT && !count->is_others &&
	       count->key.c == EXIT_OF_GUEST;
}

/* Gives the open exit another key. */
static void change_exit(struct pairing *pairing, struct recorded_thread *thread,
			const struct exit_key *key)
{
	struct open_span *span = &thread->spans[EXITS_VMEXIT];
	struct exit_count *count = table_count(&pairing->table, thread, key);

	span->count->begun--;
	count->begun++;
	span->count = count;
}

static RARE void on_nested(struct pairing *pairing, struct recorded_thread *thread)
{
	struct exit_key key;

	pairing->has_nested = true;
	if (!has_plain_exit(thread))
		return;
	key = thread->spans[EXITS_VMEXIT].count->key;
	key.c = EXIT_OF_L2;
	thread->nested += thread->ran;
	change_exit(pairing, thread, &key);
}

/* A protected guest leaves itself by VMGEXIT for whatever it needs, also to halt. */
static RARE void on_vmgexit(struct pairing *pairing, struct recorded_thread *thread,
			    const struct meaning *meaning, const struct trace_event *event)
{
	struct exit_key key;

	if (!has_plain_exit(thread))
		return;
	key = thread->spans[EXITS_VMEXIT].count->key;
	if (!(meaning_flags(&pairing->meanings, &key) & REASON_PROTECTED))
		return;
	key.a = trace_field_number(meaning->a, event);
	key.c = EXIT_OF_VMGEXIT;
	change_exit(pairing, thread, &key);
}

/* Keeps the exit that the entry ends if it took longer than the threshold. */
static RARE void keep_long(struct pairing *pairing, const struct recorded_thread *thread,
			   uint64_t time)
{
	const struct open_span *span = &thread->spans[EXITS_VMEXIT];
	uint64_t at = pairing->nr_longs % LONG_EXITS_MAX;

	if (!(thread->is_open & 1U << EXITS_VMEXIT) || time <= span->begin + pairing->longer ||
	    (!pairing->has_halts && pairing_is_idle(pairing, span->count)))
		return;
	array_grow(&pairing->longs, &pairing->room_longs, at + 1);
	pairing->nr_longs++;
	pairing->longs[at] = (struct recorded_long){
		.thread = thread, .exit = span->count, .argument = thread->argument,
		.begin = span->begin, .end = time, .user = thread->user,
		.pc = thread->pc, .cpu = thread->exit_cpu,
		.polled_ns = thread->polled_ns - thread->polled_before,
		.waited = thread->waited - thread->waited_before,
	};
}

static bool is_failure(const struct exit_count *user)
{
	return !user->is_others && exit_fields_failure(user->key.a);
}

/* Whether a halt is open, and an exit to user space within it. */
static bool is_halt_in_userspace(const struct pairing *pairing,
				 const struct recorded_thread *thread)
{
	const unsigned int both = 1U << EXITS_VMEXIT | 1U << EXITS_USERSPACE;

	return (thread->is_open & both) == both &&
	       pairing_is_idle(pairing, thread->spans[EXITS_VMEXIT].count);
}

/* The time of a halt from its open exit to user space on; ret_is_known: it is user space's. */
static uint64_t time_in_halt(const struct pairing *pairing, const struct recorded_thread *thread,
			     uint64_t time, bool *ret_is_known)
{
	const struct open_span *user = &thread->spans[EXITS_USERSPACE];

	if (!is_halt_in_userspace(pairing, thread) || time < user->begin ||
	    pairing_is_idle(pairing, user->count))
		return 0;
	*ret_is_known = thread->sees_runs || !is_failure(user->count) ||
			!meaning_goes_on(&pairing->meanings,
					 &thread->spans[EXITS_VMEXIT].count->key);
	return time - user->begin;
}

/* Before the open exit to user space ends. */
static RARE void add_user(const struct pairing *pairing, struct recorded_thread *thread,
			  uint64_t time)
{
	uint64_t begin = thread->spans[EXITS_USERSPACE].begin, in_halt;
	bool is_known = true;

	in_halt = time_in_halt(pairing, thread, time, &is_known);
	if (!is_known) {
		thread->halt_unknown += in_halt;
		return;
	}
	thread->halt_user += in_halt;
	if (thread->is_open & 1U << EXITS_VMEXIT && time > begin)
		thread->user += time - begin;
}

uint64_t pairing_halt_user(const struct pairing *pairing, const struct recorded_thread *thread,
			   uint64_t end, uint64_t *ret_unknown)
{
	bool is_known = true;
	uint64_t in_halt = time_in_halt(pairing, thread, end, &is_known);

	*ret_unknown = thread->halt_unknown + (is_known ? 0 : in_halt);
	return thread->halt_user + (is_known ? in_halt : 0);
}

static void on_entry(struct pairing *pairing, struct recorded_thread *thread,
		     const struct trace_event *event)
{
	pairing->has_entries = true;
	pairing->last_entry = event->time;
	if (pairing->listener)
		tell_entry(pairing, thread, event->time);
	if (thread->is_open & 1U << EXITS_USERSPACE)
		add_user(pairing, thread, event->time);
	if (pairing->longer)
		keep_long(pairing, thread, event->time);
	for (unsigned int open = thread->is_open; open; open &= open - 1)
		end(thread, (enum exit_kind)__builtin_ctz(open), event->time);
	thread->is_open = 0;
	thread->is_mmio_open = false;
	set_state(thread, VCPU_IN_GUEST, event->time);
	tell_begin(pairing, thread, SPAN_GUEST, event);
}

static void end_userspace(const struct pairing *pairing, struct recorded_thread *thread,
			  uint64_t time)
{
	if (pairing->listener)
		tell_end(pairing, thread, SPAN_USERSPACE, time, false);
	add_user(pairing, thread, time);
	end(thread, EXITS_USERSPACE, time);
	drop(thread, EXITS_USERSPACE);
}

/* KVM_RUN may be called and left again without an entry, as when a halted vCPU gets a signal. */
static RARE void on_userspace(struct pairing *pairing, struct recorded_thread *thread,
			      const struct meaning *meaning, const struct trace_event *event)
{
	const struct exit_key key = meaning_reason(meaning, event);

	pairing->has_exits[EXITS_USERSPACE] = true;
	if (thread->state == VCPU_OUTSIDE && thread->is_open & 1U << EXITS_USERSPACE)
		end_userspace(pairing, thread, event->time);
	begin(pairing, thread, &key, event->time);
	tell_begin(pairing, thread, SPAN_USERSPACE, event);
}

/* As live: see on_run() of providers/exits/exits.bpf.c. */
static RARE void on_kvm_run(const struct pairing *pairing, struct recorded_thread *thread,
			    const struct meaning *meaning, const struct trace_event *event)
{
	if (!trace_field_number(meaning->a, event))
		return;
	thread->sees_runs = true;
	if (is_halt_in_userspace(pairing, thread))
		end_userspace(pairing, thread, event->time);
}

/* A read ends with its kvm_mmio, and began with the exit; a write begins with it. */
static void on_mmio(struct pairing *pairing, struct recorded_thread *thread,
		    const struct exit_key *key, uint64_t time)
{
	bool is_read = key->c == MMIO_READ, was_open = thread->is_mmio_open;

	if (key->c == MMIO_UNSATISFIED_READ)
		return;
	begin(pairing, thread, key,
	      key->c == MMIO_WRITE ? time : thread->spans[EXITS_MMIO].begin);
	if (is_read && was_open)
		end(thread, EXITS_MMIO, time);
	if (key->c != MMIO_WRITE && (is_read || !was_open))
		drop(thread, EXITS_MMIO);
	thread->is_mmio_open = !is_read && (was_open || key->c == MMIO_WRITE);
}

/* Why the thread is outside the guest; NULL: it is not, or the reason is not known. */
static const struct exit_key *open_exit(const struct recorded_thread *thread)
{
	const struct exit_count *count;

	if (thread->state != VCPU_OUTSIDE)
		return NULL;
	count = thread->spans[EXITS_VMEXIT].count;
	return count->is_others ? NULL : &count->key;
}

static RARE void on_argument(struct pairing *pairing, struct recorded_thread *thread,
			     const struct meaning *meaning, const struct trace_event *event)
{
	enum exit_kind kind = meaning->counted_as;
	struct exit_key key;

	/* The first argument is what the exit is about. Without exits there is only this event. */
	if (kind > EXITS_MMIO && thread->is_open & 1U << kind)
		return;
	key = meaning_argument(&pairing->meanings, meaning, event, open_exit(thread));
	if (kind == EXITS_MMIO) {
		on_mmio(pairing, thread, &key, event->time);
		return;
	}
	begin(pairing, thread, &key, kind == EXITS_IOPORT ? event->time : thread->since);
	if (kind != EXITS_IOPORT && thread->state != VCPU_OUTSIDE)
		drop(thread, kind);
}

/* As live: see on_wakeup() of providers/exits/exits.bpf.c. Only of halts that began here. */
static RARE void on_wakeup(struct pairing *pairing, struct recorded_thread *thread,
			   const struct meaning *meaning, const struct trace_event *event)
{
	uint64_t ns = trace_field_number(meaning->a, event), limit = thread->poll_limit_ns;

	pairing->has_wakeups = true;
	thread->poll_limit_ns = 0;
	if (trace_field_number(meaning->b, event) && limit < ns)
		ns = limit;
	if (thread->state == VCPU_OUTSIDE)
		thread->polled_ns += ns;
}

/* Forgets what the thread is in. */
static void lose_thread(struct pairing *pairing, struct recorded_thread *thread,
			const struct trace_event *event)
{
	if (pairing->listener && thread->state != VCPU_UNKNOWN) {
		pairing->listener->lost(pairing->listener->state, thread, event);
		tell_cut(pairing, thread, event->time);
	}
	thread->is_open = 0;
	thread->is_mmio_open = false;
	thread->poll_limit_ns = 0;
	thread->sees_runs = false;
	thread->state = VCPU_UNKNOWN;
	thread->sched = SCHED_RUNS;
	table_unlink(thread);
}

/* Events of this CPU are missing, in all buffers of the file: forgets the state of its threads. */
static void lose_threads(struct pairing *pairing, struct recorded_thread *first,
			 const struct trace_event *event)
{
	uint32_t main = trace_file(pairing->trace, event->file)->main;

	for (struct recorded_thread *thread = first, *next; thread; thread = next) {
		next = thread->next;
		if (trace_file(pairing->trace, thread->file)->main == main &&
		    (event->cpu < 0 || thread->cpu == event->cpu))
			lose_thread(pairing, thread, event);
	}
}

static RARE void on_loss(struct pairing *pairing, const struct trace_event *event)
{
	struct table *table = &pairing->table;

	if (pairing->nr_losses < PAIRING_LOSSES)
		pairing->losses[pairing->nr_losses] =
			(struct recorded_loss){ event->time, event->lost, event->cpu };
	pairing->nr_losses++;
	if (event->lost > 0)
		pairing->nr_lost_events += (uint64_t)event->lost;
	else
		pairing->has_unknown_loss = true;
	if (event->cpu >= 0) {
		lose_threads(pairing, *table_of_cpu(table, event->cpu), event);
		return;
	}
	for (size_t i = 0; i < TABLE_CPUS; i++)
		lose_threads(pairing, table->of_cpu[i], event);
}

/* ---- waiting for a CPU */

static void set_sched(struct recorded_thread *thread, enum sched_state state, uint64_t time)
{
	thread->sched = state;
	thread->waits_since = time;
}

static void on_run(struct pairing *pairing, struct recorded_thread *thread, uint64_t time)
{
	if (thread->sched == SCHED_WAITS) {
		thread->waited += time - thread->waits_since;
		if (pairing->listener)
			tell_wait(pairing, thread, time, false);
	}
	set_sched(thread, SCHED_RUNS, time);
}

/* Follows only threads with a vCPU. A thread that runs can be woken, too. */
static RARE void on_sched(struct pairing *pairing, const struct meaning *meaning,
			  const struct trace_event *event)
{
	int32_t tid = (int32_t)trace_field_number(meaning->a, event);
	struct recorded_thread *thread = table_find_tid(&pairing->table, event, tid);

	if (meaning->kind == MEANING_WAKING) {
		if (thread && thread->sched == SCHED_SLEEPS)
			set_sched(thread, SCHED_WAITS, event->time);
		return;
	}
	pairing->has_switches = true;
	if (thread && thread->is_vcpu) {
		set_sched(thread, trace_field_number(meaning->b, event) & STATE_SLEEPS ?
				  SCHED_SLEEPS : SCHED_WAITS, event->time);
		if (!thread->prev)
			table_link(&pairing->table, thread, thread->cpu);
	}
	tid = (int32_t)trace_field_number(meaning->c, event);
	thread = table_find_tid(&pairing->table, event, tid);
	if (thread && thread->is_vcpu) {
		thread->last = event->time;
		on_run(pairing, thread, event->time);
	}
}

uint64_t pairing_waited(const struct pairing *pairing, const struct recorded_thread *thread)
{
	return thread->waited + (thread->sched == SCHED_WAITS ?
				 pairing->last_time - thread->waits_since : 0);
}

/* ---- the stream */

static void take(struct pairing *pairing, struct recorded_thread *thread,
		 const struct meaning *meaning, const struct trace_event *event)
{
	if (meaning->kind == MEANING_EVENT)
		return;
	thread->is_vcpu = true;
	if (meaning->kind == MEANING_EXIT)
		on_exit_event(pairing, thread, meaning, event);
	else if (meaning->kind == MEANING_ENTRY)
		on_entry(pairing, thread, event);
	else if (meaning->kind == MEANING_USERSPACE)
		on_userspace(pairing, thread, meaning, event);
	else if (meaning->kind == MEANING_NESTED)
		on_nested(pairing, thread);
	else if (meaning->kind == MEANING_RUN)
		on_kvm_run(pairing, thread, meaning, event);
	else if (meaning->kind == MEANING_VMGEXIT)
		on_vmgexit(pairing, thread, meaning, event);
	else if (meaning->kind == MEANING_WAKEUP)
		on_wakeup(pairing, thread, meaning, event);
	else if (meaning->kind == MEANING_POLL_LIMIT)
		thread->poll_limit_ns = trace_field_number(meaning->a, event);
	else if (pairing->arguments & 1U << meaning->counted_as)
		on_argument(pairing, thread, meaning, event);
}

/* An exit or entry is of the vCPU that it names. Any other event is a guess. */
static void set_vcpu(struct recorded_thread *thread, const struct meaning *meaning,
		     const struct trace_event *event)
{
	bool is_own = meaning->kind == MEANING_EXIT || meaning->kind == MEANING_ENTRY ||
		      meaning->kind == MEANING_USERSPACE;

	if (event->vcpu >= 0 && (is_own || thread->vcpu < 0))
		thread->vcpu = event->vcpu;
}

/*
 * Events that were only counted: without a field or a time they begin and end nothing, but they
 * show that the thread runs a vCPU.
 */
static RARE void add_counted(struct recorded_thread *thread, const struct meaning *meaning,
			     const struct trace_event *event)
{
	if (meaning->kind != MEANING_EVENT && event->tid >= 0)
		thread->is_vcpu = true;
	table_count_events(thread, meaning->number, event->counted);
}

static void count_event(struct pairing *pairing, const struct trace_event *event)
{
	if (pairing->nr_events == 0)
		pairing->first_time = event->time;
	pairing->last_time = event->time;
	pairing->nr_events += event->counted ? event->counted : 1;
	pairing->nr_counted += event->counted;
	if (event->thread_key & EVENT_OF_CPU)
		pairing->nr_counted_of_cpu += event->counted;
}

void pairing_add(struct pairing *pairing, const struct trace_event *event)
{
	struct recorded_thread *thread;
	const struct meaning *meaning;

	if (!event->type) {
		on_loss(pairing, event);
		return;
	}
	count_event(pairing, event);
	meaning = meaning_of(&pairing->meanings, event->type);
	if (meaning->kind >= MEANING_NONE) {
		if (meaning->kind != MEANING_NONE && !event->counted)
			on_sched(pairing, meaning, event);
		return;
	}
	thread = table_thread(&pairing->table, event);
	if (!thread) { /* the table is full */
		pairing->nr_left_out += event->counted ? event->counted : 1;
		return;
	}
	if (!thread->prev || thread->cpu != event->cpu)
		table_link(&pairing->table, thread, event->cpu);
	thread->last = event->time;
	if (event->counted) {
		add_counted(thread, meaning, event);
		return;
	}
	if (event->vcpu != thread->vcpu)
		set_vcpu(thread, meaning, event);
	table_count_events(thread, meaning->number, 1);
	take(pairing, thread, meaning, event);
	thread->is_new = false;
}

bool pairing_left_out(const struct pairing *pairing, struct error *why)
{
	if (pairing->nr_left_out)
		error_set(why, 0, "%" PRIu64 " event%s left out: more than %d threads have events",
			  pairing->nr_left_out, pairing->nr_left_out == 1 ? " was" : "s were",
			  TABLE_THREADS);
	return pairing->nr_left_out > 0;
}

void pairing_end(struct pairing *pairing)
{
	for (size_t i = 0; pairing->listener && i < pairing->table.nr_threads; i++)
		tell_cut(pairing, pairing->table.threads[i], pairing->last_time);
}

/* ---- counts */

uint64_t pairing_count(const struct pairing *pairing, const struct exit_count *count)
{
	return pairing->has_entries ? count->took.count : count->begun;
}

void pairing_name(const struct pairing *pairing, const struct exit_count *count, char *buf,
		  size_t size)
{
	if (count->is_others)
		snprintf(buf, size, "(others)");
	else
		meaning_name(&pairing->meanings, &count->key, buf, size);
}

bool pairing_is_idle(const struct pairing *pairing, const struct exit_count *count)
{
	return !count->is_others && meaning_flags(&pairing->meanings, &count->key) & REASON_IDLE;
}

bool pairing_exit_name(const struct pairing *pairing, const struct exit_count *count, char *buf,
		       size_t size)
{
	const struct exit_key *exit = count->is_others ? NULL :
				      meaning_exit(&pairing->meanings, &count->key);

	if (exit)
		meaning_name(&pairing->meanings, exit, buf, size);
	return exit != NULL;
}
