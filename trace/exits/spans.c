// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What threads are in, for the listener, and what ends it beside their own events: lost events,
 * the scheduler, and the recording's end.
 */
#include "trace/exits/pairing.h"

/* Bits of sched_switch's prev_state: 0 in all of them means that the thread could run on. */
#define STATE_SLEEPS 0xff

/* ---- calls of the listener */

void spans_begin(const struct pairing *pairing, struct recorded_thread *thread, enum span span,
		 const struct trace_event *event)
{
	pairing->listener->begins(pairing->listener->state, thread, span, event);
}

static void ends(const struct pairing *pairing, struct recorded_thread *thread, enum span span,
		 uint64_t begin, uint64_t end, const struct exit_count *count, bool is_cut)
{
	pairing->listener->ends(pairing->listener->state, thread, span, begin,
				begin + elapsed(begin, end), count, is_cut);
}

void spans_end(const struct pairing *pairing, struct recorded_thread *thread, enum span span,
	       uint64_t time, bool is_cut)
{
	enum exit_kind kind = span == SPAN_EXIT ? EXITS_VMEXIT : EXITS_USERSPACE;
	const struct thread_state *state = thread->state;
	const struct exit_count *count = state_open(state, kind);

	if (span == SPAN_GUEST)
		ends(pairing, thread, span, state->since, time, NULL, is_cut);
	else if (span == SPAN_WAIT)
		ends(pairing, thread, span, state->at.away_since, time, NULL, is_cut);
	else if (count)
		ends(pairing, thread, span, state->begins[kind], time, count, is_cut);
}

/* What the recording cuts off, the outer span first. */
static void cut_off(const struct pairing *pairing, struct recorded_thread *thread, uint64_t time)
{
	const struct thread_state *state = thread->state;

	if (state->mode == VCPU_IN_GUEST)
		spans_end(pairing, thread, SPAN_GUEST, time, true);
	if (state->mode != VCPU_OUTSIDE)
		return;
	spans_end(pairing, thread, SPAN_EXIT, time, true);
	spans_end(pairing, thread, SPAN_USERSPACE, time, true);
	if (state_waits(state) && state->at.away_since <= time)
		spans_end(pairing, thread, SPAN_WAIT, time, true);
}

/* The thread's first event ends what the thread was in since the recording began. */
static void end_first(const struct pairing *pairing, struct recorded_thread *thread,
		      enum span span, uint64_t time)
{
	if (thread->is_new && time > pairing->first_time)
		ends(pairing, thread, span, pairing->first_time, time, NULL, true);
}

void spans_on_exit(const struct pairing *pairing, struct recorded_thread *thread, uint64_t time)
{
	end_first(pairing, thread, SPAN_GUEST, time);
	if (thread->state->mode == VCPU_IN_GUEST)
		spans_end(pairing, thread, SPAN_GUEST, time, false);
	else /* the entry after an earlier exit is missing */
		cut_off(pairing, thread, time);
}

void spans_on_entry(const struct pairing *pairing, struct recorded_thread *thread, uint64_t time)
{
	end_first(pairing, thread, SPAN_EXIT, time);
	if (thread->state->mode == VCPU_IN_GUEST) /* the exit is missing */
		spans_end(pairing, thread, SPAN_GUEST, time, true);
	spans_end(pairing, thread, SPAN_EXIT, time, false);
}

void pairing_end(struct pairing *pairing)
{
	for (size_t i = 0; pairing->listener && i < pairing->table.nr_threads; i++) {
		if (pairing->table.threads[i]->state)
			cut_off(pairing, pairing->table.threads[i], pairing->last_time);
	}
	intervals_end(&pairing->intervals);
}

/* ---- lost events */

/* Forgets what the thread is in, except a wait that began after the loss. */
static void lose_thread(struct pairing *pairing, struct recorded_thread *thread,
			const struct trace_event *event)
{
	struct thread_state *state = thread->state;

	intervals_touch(&pairing->intervals, thread, event->time);
	table_unlink(thread);
	if (!state)
		return;
	if (pairing->listener && state->mode != VCPU_UNKNOWN) {
		pairing->listener->lost(pairing->listener->state, thread, event);
		cut_off(pairing, thread, event->time);
	}
	state->is_mmio_open = false;
	state->poll_limit_ns = 0;
	if (exits_open_since(&state->at)) { /* its time is not known */
		state->at.sums.waited = state->before.waited;
		state->at.sums.idle_out = state->before.idle_out;
	}
	exits_forget(&state->at);
	state->has_argument = 0;
	state->mode = VCPU_UNKNOWN;
	if (state->at.away_since < event->time)
		state->at.away_since = 0;
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

static struct cpu_loss *latest_loss(const struct pairing *pairing, const struct trace_event *event)
{
	const struct cpu_of_file of = { trace_file(pairing->trace, event->file)->main, event->cpu };
	struct cpu_loss *loss;

	HASH_FIND(hh, pairing->cpu_losses, &of, sizeof(of), loss);
	return loss;
}

static void keep_loss(struct pairing *pairing, const struct trace_event *event)
{
	struct cpu_loss *loss = latest_loss(pairing, event);

	if (!loss) {
		loss = xcalloc(1, sizeof(*loss));
		loss->of.main = trace_file(pairing->trace, event->file)->main;
		loss->of.cpu = event->cpu;
		hash_add(pairing->cpu_losses, of, loss);
	}
	loss->time = event->time;
	loss->lost = event->lost;
}

/* What the thread was in may have ended on this CPU, among the events that are missing there. */
void pairing_migrate(struct pairing *pairing, struct recorded_thread *thread,
		     const struct trace_event *event)
{
	const struct thread_state *state = table_state(thread);
	const struct cpu_loss *loss = pairing->cpu_losses ? latest_loss(pairing, event) : NULL;

	if (!loss || !(((state->mode != VCPU_UNKNOWN || state->has_argument ||
			 state->at.user_since) && state->since < loss->time) ||
		       (state->at.away_since && state->at.away_since < loss->time)))
		return;
	lose_thread(pairing, thread,
		    &(struct trace_event){ .time = loss->time, .lost = loss->lost,
					   .file = event->file, .cpu = event->cpu });
}

void pairing_lose(struct pairing *pairing, const struct trace_event *event)
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
		keep_loss(pairing, event);
		lose_threads(pairing, *table_of_cpu(table, event->cpu), event);
		return;
	}
	for (size_t i = 0; i < TABLE_CPUS; i++)
		lose_threads(pairing, table->of_cpu[i], event);
}

/* ---- without a CPU */

/*
 * A sleep in user space is the VMM's, which may have the vCPU's halts; a sleep in KVM, but not in a
 * halt, may be for the interrupt that starts the vCPU: no event tells.
 */
enum exits_away pairing_why_asleep(const struct pairing *pairing, const struct thread_state *state)
{
	const struct exit_count *exit = state_open(state, EXITS_VMEXIT);

	if (state->at.user_since)
		return exits_away_in_user(&state->at);
	return exit && meaning_flags(&pairing->meanings, &exit->key) &
			       (REASON_IDLE | REASON_MAY_IDLE) ? EXITS_IDLES : EXITS_BLOCKED;
}

void pairing_was_away(const struct pairing *pairing, struct thread_state *state,
		      enum exits_away why, struct exits_off off)
{
	if (state->mode == VCPU_UNKNOWN)
		return;
	exits_was_away(&state->at, why, &off);
	off.waited_ns = pairing_duration(pairing, off.waited_ns);
	off.slept_ns = pairing_duration(pairing, off.slept_ns);
	for (int kind = 0; kind < EXITS_REASONS; kind++) {
		if (state_open(state, (enum exit_kind)kind))
			exits_parts_add(&state->parts[kind], why, &off);
	}
}

void pairing_end_away(const struct pairing *pairing, struct thread_state *state, uint64_t time)
{
	if (state->at.away_since)
		pairing_was_away(pairing, state, (enum exits_away)state->at.away,
				 exits_absence(&state->at, time));
}

/* A thread that runs can be woken, too. */
static void wake(const struct pairing *pairing, struct recorded_thread *thread, uint64_t time)
{
	if (!state_sleeps(table_state(thread)))
		return;
	pairing_end_away(pairing, thread->state, time);
	exits_lose_cpu(&thread->state->at, EXITS_WAITS, time);
}

static void get_cpu(const struct pairing *pairing, struct recorded_thread *thread, uint64_t time)
{
	struct thread_state *state = table_make_state(thread);

	thread->last = time;
	if (pairing->listener && state_waits(state))
		spans_end(pairing, thread, SPAN_WAIT, time, false);
	pairing_end_away(pairing, state, time);
	state->at.away_since = 0;
}

/* The thread of a field of the event, if it runs a vCPU. */
static struct recorded_thread *vcpu_thread(struct pairing *pairing,
					   const struct trace_field *field,
					   const struct trace_event *event)
{
	struct recorded_thread *thread =
		table_find_tid(&pairing->table, event, (int32_t)trace_field_number(field, event));

	if (!thread || !thread->is_vcpu)
		return NULL;
	intervals_touch(&pairing->intervals, thread, event->time);
	return thread;
}

/* As vcpu_thread(), and the event shows that the thread is on its CPU. */
static struct recorded_thread *vcpu_thread_here(struct pairing *pairing,
						const struct trace_field *field,
						const struct trace_event *event)
{
	struct recorded_thread *thread = vcpu_thread(pairing, field, event);

	if (thread && thread->cpu != event->cpu)
		pairing_migrate(pairing, thread, event);
	return thread;
}

void pairing_schedule(struct pairing *pairing, const struct meaning *meaning,
		      const struct trace_event *event)
{
	struct recorded_thread *thread;

	if (meaning->kind == MEANING_WAKING) {
		thread = vcpu_thread(pairing, meaning->tid, event);
		if (thread)
			wake(pairing, thread, event->time);
		return;
	}
	pairing->has_switches = true;
	thread = vcpu_thread_here(pairing, meaning->tid, event);
	if (thread)
		pairing_lose_cpu(pairing, thread,
				 trace_field_number(meaning->state, event) & STATE_SLEEPS,
				 event->time);
	thread = vcpu_thread_here(pairing, meaning->next_tid, event);
	if (thread)
		get_cpu(pairing, thread, event->time);
}

bool pairing_may_be_gone(const struct pairing *pairing, const struct recorded_thread *thread)
{
	const struct thread_state *state = table_state(thread);

	if (state->mode != VCPU_OUTSIDE || state_waits(state))
		return false;
	if (pairing->has_exits[EXITS_USERSPACE])
		return state->at.user_since != 0;
	return exits_open_since(&state->at) && state->at.cell < EXITS_HALT;
}
