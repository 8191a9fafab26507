// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes rows by guest and vCPU from the counts of threads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/number.h"
#include "lib/text.h"
#include "core/facts/shared_fields.h"
#include "trace/exits/recording.h"

#define NAME_SIZE 192

/* The input and the output of all functions here. */
struct rows_maker {
	const struct recording *recording;
	struct played_rows *rows;
	struct exit_fields fields; /* for events, only .fields and .source are set */
	uint32_t waited; /* HOST_WAITED; FIELD_NONE: not known */
};

/* ---- durations */

static uint64_t to_ns(const struct recording *recording, uint64_t units)
{
	return units_in_ns(units, recording->ns_per_unit);
}

/* A count at the moment, or at the recording's end. False: it was not there yet. */
static bool count_now(const struct rows_maker *maker, const struct exit_count *count,
		      struct kept_count *ret_now)
{
	const struct kept_count *kept = count_kept(count);

	if (maker->recording->is_moment) {
		if (!kept)
			return false;
		*ret_now = *kept;
	} else {
		ret_now->begun = count->begun;
		ret_now->ended = count->took.count;
		ret_now->parts = count->parts;
		timing_of_spread(&count->took, &ret_now->timing);
	}
	/* 0: all of them turned out to have another reason. */
	return ret_now->begun > 0;
}

/* ---- events */

static const struct pairing *pairing_of(const struct rows_maker *maker)
{
	return &maker->recording->pairing;
}

/* A thread without a vCPU may belong to a guest, too. */
static struct key key_of(const struct recording *recording, const struct recorded_thread *thread)
{
	const struct recorded_vcpu *vcpu = &recording->vcpus[thread->index];
	struct key key = { GUEST_NONE, -1, FIELD_NONE };
	const struct guest *guest;

	if (vcpu->guest != GUEST_NONE)
		return (struct key){ vcpu->guest, vcpu->vcpu, FIELD_NONE };
	guest = thread->pid > 0 ? guests_by_pid(recording->guests, thread->pid) : NULL;
	if (guest)
		key.guest = guest->id;
	return key;
}

static uint8_t exit_rank(const struct meaning *meaning)
{
	if (meaning->kind == MEANING_EXIT)
		return 1;
	return meaning->kind == MEANING_USERSPACE ? 2 : 0;
}

/* Adds a row without times. */
static void add_number(const struct rows_maker *maker, struct key key, uint64_t count)
{
	played_rows_add(maker->rows, key, count, NULL);
}

static uint32_t event_field(const struct rows_maker *maker, struct meaning *meaning)
{
	struct field field = {
		.name = meaning->type->name,
		.parent = FIELD_NONE,
		.source = maker->fields.source,
		.exit_rank = exit_rank(meaning),
	};

	if (!meaning->field)
		meaning->field = fields_add(maker->fields.fields, &field) + 1;
	return meaning->field - 1;
}

/* "kvm_exit(HLT)". Names are made once for each count: a recording has many moments. */
static uint32_t child_field(const struct rows_maker *maker, uint32_t parent,
			    struct exit_count *count)
{
	const struct meanings *meanings = &pairing_of(maker)->meanings;
	char label[NAME_SIZE / 2], name[NAME_SIZE];
	struct field field = {
		.name = name,
		.label = label,
		.parent = parent,
		.source = maker->fields.source,
		.is_idle = meaning_is_idle(meanings, &count->key),
	};

	if (!count->child) {
		meaning_name(meanings, &count->key, label, sizeof(label));
		name_put(name, sizeof(name), "%s(%s)",
			 fields_get(maker->fields.fields, parent)->name, label);
		count->child = fields_add(maker->fields.fields, &field) + 1;
	}
	return count->child - 1;
}

/* The name of the event for exits of this kind; NULL: the recording has none. */
static const char *exit_event(const struct pairing *pairing, enum exit_kind kind)
{
	const struct meanings *meanings = &pairing->meanings;
	enum meaning_kind exit = kind == EXITS_VMEXIT ? MEANING_EXIT : MEANING_USERSPACE;

	for (size_t i = 0; i < meanings->nr; i++) {
		if (meanings->list[i].kind == exit)
			return meanings->list[i].type->name;
	}
	return NULL;
}

static struct exit_events exit_events_of(const struct pairing *pairing)
{
	struct exit_events events = { .names = { exit_event(pairing, EXITS_VMEXIT) } };

	for (unsigned int i = 0; i < EXITS_REASONS; i++)
		events.lacks[i] = !pairing->has_exits[i];
	return events;
}

/* Adds the reasons of exits as children of the exit event. */
static void add_children(const struct rows_maker *maker, enum exit_kind kind)
{
	const struct table *table = &pairing_of(maker)->table;
	const char *name = exit_event(pairing_of(maker), kind);
	uint32_t parent = name ? fields_find(maker->fields.fields, name) : FIELD_NONE;

	for (size_t i = 0; parent != FIELD_NONE && i < table->nr_threads; i++) {
		const struct thread_counts *counts = &table->threads[i]->counts;
		struct key key = key_of(maker->recording, table->threads[i]);

		for (size_t j = 0; j < counts->nr; j++) {
			struct exit_count *count = counts->list[j];
			struct kept_count now;

			if (count->key.kind != kind || !count_now(maker, count, &now))
				continue;
			key.field = child_field(maker, parent, count);
			add_number(maker, key, now.begun);
		}
	}
}

void recorded_add_events(struct played_rows *rows, const struct recording *recording,
			 struct fields *fields, uint32_t source)
{
	const struct rows_maker maker = { .recording = recording, .rows = rows,
				     .fields = { .fields = fields, .source = source } };
	const struct pairing *pairing = &recording->pairing;

	for (size_t i = 0; i < pairing->table.nr_threads; i++) {
		const struct recorded_thread *thread = pairing->table.threads[i];
		struct key key = key_of(recording, thread);

		for (size_t j = 0; j < pairing->meanings.nr; j++) {
			struct meaning *meaning = &pairing->meanings.list[j];
			uint64_t count = meaning->number < thread->counts.nr_events ?
						 thread->counts.events[meaning->number] : 0;

			if (!meaning_is_of_kvm(meaning) || !count)
				continue;
			key.field = event_field(&maker, meaning);
			add_number(&maker, key, count);
		}
	}
	add_children(&maker, EXITS_VMEXIT);
	add_children(&maker, EXITS_USERSPACE);
}

/* ---- exits */

static bool has_time(const struct rows_maker *maker)
{
	return pairing_of(maker)->has_entries && maker->recording->ns_per_unit > 0;
}

/*
 * Until when a thread's time is counted: the end of the recording, or the last event of its guest,
 * which may have ended then.
 */
static uint64_t end_of(const struct recording *recording, const struct recorded_thread *thread)
{
	const struct pairing *pairing = &recording->pairing;
	uint64_t last = recording->vcpus[thread->index].last;

	return last < pairing->last_time && pairing_may_be_gone(pairing, thread) ? last :
									   pairing->last_time;
}

/* Whether what is open of the count's kind is one of it. */
static bool is_open(const struct recorded_thread *thread, const struct exit_count *count)
{
	return state_open(table_state(thread), (enum exit_kind)count->key.kind) == count;
}

/*
 * Adds a count to its row and to the parent's row. What has not ended is in no count. In a moment
 * its time has passed; the whole recording has the time of what ended, as perf has it.
 */
static void add_count(const struct rows_maker *maker, struct key key, enum exit_kind kind,
		      struct kept_count *now, uint64_t open_ns)
{
	bool has_end = pairing_of(maker)->has_entries && exits_have_end(kind);
	uint64_t nr = has_end ? now->ended : now->begun;
	const struct timing *timing = has_time(maker) && has_end ? &now->timing : NULL;

	if (!maker->recording->is_moment)
		open_ns = 0;
	if (!nr && !open_ns)
		return;
	now->timing.open_ns = open_ns;
	now->timing.time_ns += open_ns;
	played_rows_add(maker->rows, key, nr, timing);
	key.field = maker->fields.parents[kind];
	played_rows_add(maker->rows, key, nr, timing);
}

static uint32_t reason_field(const struct rows_maker *maker, struct exit_count *count)
{
	const struct meanings *meanings = &pairing_of(maker)->meanings;
	char name[NAME_SIZE / 2];

	if (!count->field) {
		meaning_name(meanings, &count->key, name, sizeof(name));
		count->field = exit_fields_reason(&maker->fields, (enum exit_kind)count->key.kind,
						  name, NULL,
						  meaning_is_idle(meanings, &count->key)) + 1;
	}
	return count->field - 1;
}

/*
 * The parts of a count's time. Where the scheduler's events are not recorded, a halt is idle while
 * KVM does not poll.
 */
static struct exits_parts parts_of(const struct rows_maker *maker, const struct exit_count *count,
				   const struct exits_parts *known, uint64_t ns)
{
	struct exits_parts parts = *known;

	if (maker->fields.times[TIME_POLL] == FIELD_NONE)
		parts.polled_ns = 0;
	if (!pairing_of(maker)->has_switches &&
	    meaning_is_idle(&pairing_of(maker)->meanings, &count->key))
		parts.idle_ns = minus(ns, parts.polled_ns);
	return parts;
}

/* The rows of the parts of a reason's time. */
static void add_parts(struct rows_maker *maker, struct key key, struct exit_count *count,
		      const struct exits_parts *parts)
{
	const uint64_t ns[EXIT_PARTS] = {
		[EXIT_WAITED] = parts->waited_ns, [EXIT_BLOCKED] = parts->blocked_ns,
		[EXIT_IDLE] = parts->idle_ns, [EXIT_POLLED] = parts->polled_ns,
	};
	uint32_t reason = key.field;

	for (int i = 0; i < EXIT_PARTS; i++) {
		if (!ns[i] || !has_time(maker))
			continue;
		if (!count->part_fields[i])
			count->part_fields[i] =
				exit_fields_exit_part(&maker->fields,
						      (enum exit_kind)count->key.kind, reason,
						      (enum exit_part)i) + 1;
		key.field = count->part_fields[i] - 1;
		add_number(maker, key, ns[i]);
	}
}

/*
 * Adds the exits of one reason. Open ones are always in the vCPU's time; for rows see add_count().
 */
static void add_reason(struct rows_maker *maker, struct key key,
		       const struct recorded_thread *thread, const struct last_state *last,
		       struct exit_count *count, struct exits_time *time)
{
	enum exit_kind kind = (enum exit_kind)count->key.kind;
	bool has_open = is_open(thread, count);
	uint64_t open_ns = has_open ? to_ns(maker->recording, last->took[kind]) : 0;
	struct exits_parts parts, all;
	struct kept_count now;
	uint64_t ended_ns, ns;

	if (!count_now(maker, count, &now))
		return;
	key.field = reason_field(maker, count);
	ended_ns = now.timing.time_ns;
	ns = ended_ns + open_ns;
	all = now.parts;
	if (has_open)
		exits_parts_join(&all, &last->state.parts[kind]);
	all = parts_of(maker, count, &all, ns);
	parts = maker->recording->is_moment ? all : parts_of(maker, count, &now.parts, ended_ns);
	add_count(maker, key, kind, &now, open_ns);
	add_parts(maker, key, count, &parts);
	time->ns[kind] += ns;
	time->idle_ns[kind] += all.idle_ns;
	time->blocked_ns[kind] += all.blocked_ns;
	if (kind == EXITS_VMEXIT)
		time->polled_ns += all.polled_ns;
}

/* The time since the thread's first exit or entry, without times in which events are missing. */
static uint64_t whole_ns(const struct recording *recording, const struct recorded_thread *thread)
{
	const struct thread_state *state = table_state(thread);
	uint64_t end = end_of(recording, thread);
	uint64_t whole = elapsed(state->first, end), unknown = state->unknown;

	if (state->mode == VCPU_UNKNOWN)
		unknown += elapsed(state->since, end);
	return to_ns(recording, whole > unknown ? whole - unknown : 0);
}

static void add_times(const struct rows_maker *maker, struct key key,
		      const struct recorded_thread *thread, const struct exits_time *time)
{
	uint64_t parts[TIME_PARTS];

	exit_fields_split(whole_ns(maker->recording, thread), time, parts);
	for (int i = 0; i < TIME_PARTS; i++) {
		key.field = maker->fields.times[i];
		if (key.field != FIELD_NONE && (i != TIME_L2 || time->nested_ns))
			add_number(maker, key, parts[i]);
	}
}

/*
 * Adds the exits and the time of a vCPU. Without the scheduler's events, what user space has of a
 * halt is known by the exits to user space, and is no sleep; what follows a failure is.
 */
static void add_vcpu(struct rows_maker *maker, struct key key, const struct recorded_thread *thread)
{
	const struct recording *recording = maker->recording;
	const struct pairing *pairing = pairing_of(maker);
	struct last_state last;
	const struct thread_state *state = &last.state;
	struct exits_time time = { 0 };

	pairing_look(pairing, thread, end_of(recording, thread), &last);
	time.nested_ns = to_ns(recording, state->at.sums.nested);
	time.waited_ns = to_ns(recording, state->at.sums.waited);
	time.idle_out_ns = to_ns(recording, state->at.sums.idle_out);
	for (size_t i = 0; i < thread->counts.nr; i++) {
		if (thread->counts.list[i]->key.kind < EXITS_REASONS)
			add_reason(maker, key, thread, &last, thread->counts.list[i], &time);
	}
	if (!pairing->has_switches) {
		time.idle_ns[EXITS_VMEXIT] = minus(time.idle_ns[EXITS_VMEXIT],
						  to_ns(recording, state->at.sums.halt_user));
		time.idle_ns[EXITS_USERSPACE] += to_ns(recording, state->halt_unknown);
	}
	if (state->has_exit && has_time(maker))
		add_times(maker, key, thread, &time);
	key.field = maker->waited;
	if (key.field != FIELD_NONE)
		add_number(maker, key, time.waited_ns);
	key.field = maker->fields.cpu;
	if (state->has_run && thread->cpu >= 0)
		add_number(maker, key, (uint64_t)thread->cpu);
}

/* ---- arguments of exits */

/* The field of an argument, below the exit reason that it came with, if known. */
static uint32_t argument_field(const struct rows_maker *maker, struct exit_count *count)
{
	const struct meanings *meanings = &pairing_of(maker)->meanings;
	char label[NAME_SIZE / 2], reason[NAME_SIZE / 2], name[NAME_SIZE];
	const struct exit_key *exit = meaning_exit(meanings, &count->key);
	uint32_t field = FIELD_NONE;

	if (count->field)
		return count->field - 1;
	if (exit) {
		meaning_name(meanings, exit, reason, sizeof(reason));
		name_put(name, sizeof(name), "vmexit(%s)", reason);
		field = fields_find(maker->fields.fields, name);
	}
	meaning_name(meanings, &count->key, label, sizeof(label));
	count->field = exit_fields_argument(&maker->fields, (enum exit_kind)count->key.kind,
					    exit ? reason : NULL, field, label) + 1;
	return count->field - 1;
}

/* An interrupt is of the guest, whatever thread raises it. */
static void add_arguments(const struct rows_maker *maker, const struct recorded_thread *thread)
{
	const struct key of = key_of(maker->recording, thread);
	struct key key = of;
	struct last_state last;

	pairing_look(pairing_of(maker), thread, end_of(maker->recording, thread), &last);
	for (size_t i = 0; i < thread->counts.nr; i++) {
		struct exit_count *count = thread->counts.list[i];
		enum exit_kind kind = (enum exit_kind)count->key.kind;
		struct kept_count now;

		if (kind < EXITS_FIRST_ARGUMENT || !count_now(maker, count, &now))
			continue;
		key.field = argument_field(maker, count);
		key.vcpu = kind == EXITS_INTERRUPT ? -1 : of.vcpu;
		add_count(maker, key, kind, &now,
			  is_open(thread, count) ? to_ns(maker->recording, last.took[kind]) : 0);
	}
}

/*
 * A recording may lack exits to user space, ends of halts, or the scheduler's events. The time that
 * KVM polled is in ns, whatever the clock's unit is.
 */
static unsigned int known_parts(const struct pairing *pairing)
{
	unsigned int parts = EXIT_FIELDS_PARTS;

	if (!pairing->has_switches)
		parts &= ~EXIT_FIELDS_AWAY;
	if (!pairing->has_exits[EXITS_USERSPACE] &&
	    !trace_has_recorded(pairing->trace, arch_userspace_split.event))
		parts &= ~(1U << TIME_USER | 1U << TIME_BLOCK_USER);
	if (!pairing->has_wakeups || trace_clock_info(pairing->trace)->clock != TRACE_CLOCK_NS)
		parts &= ~(1U << TIME_POLL);
	if (pairing->has_nested)
		parts |= 1U << TIME_L2;
	return parts;
}

void recorded_add_exits(struct played_rows *rows, const struct recording *recording,
			struct fields *fields, uint32_t source)
{
	const struct pairing *pairing = &recording->pairing;
	const struct table *table = &pairing->table;
	struct rows_maker maker = { .recording = recording, .rows = rows };
	const struct exit_events events = exit_events_of(pairing);

	exit_fields_add(fields, source, &events, known_parts(pairing), &maker.fields);
	maker.waited = pairing->has_switches ?
			       host_fields_add_part(fields, source, HOST_WAITED) : FIELD_NONE;
	for (size_t i = 0; i < table->nr_threads; i++) {
		if (table->threads[i]->is_vcpu)
			add_vcpu(&maker, key_of(recording, table->threads[i]), table->threads[i]);
	}
	/* The arguments come after all reasons: argument_field() looks up the reasons' fields. */
	for (size_t i = 0; i < table->nr_threads; i++)
		add_arguments(&maker, table->threads[i]);
}

/* ---- long exits */

static bool is_protected(const struct pairing *pairing, const struct recorded_thread *thread)
{
	for (size_t i = 0; i < thread->counts.nr; i++) {
		const struct exit_count *count = thread->counts.list[i];

		if (count->key.kind == EXITS_VMEXIT &&
		    (count->key.c == EXIT_OF_VMGEXIT ||
		     meaning_flags(&pairing->meanings, &count->key) & REASON_PROTECTED))
			return true;
	}
	return false;
}

/*
 * Finds the guests that hide their addresses: a protected guest does, and any of its threads may
 * show that it is one. By the guest's id; freed by the caller.
 */
static bool *find_protected(const struct rows_maker *maker)
{
	const struct table *table = &pairing_of(maker)->table;
	/* Ids of guests begin at 1. Guests are no more than threads, which the table limits. */
	bool *hides_pc = xcalloc(table->nr_threads + 1, sizeof(*hides_pc));

	for (size_t i = 0; i < table->nr_threads; i++) {
		uint32_t guest = key_of(maker->recording, table->threads[i]).guest;

		if (!hides_pc[guest])
			hides_pc[guest] = is_protected(pairing_of(maker), table->threads[i]);
	}
	return hides_pc;
}

/* By the user's file, or by the guest's own recording. */
static void name_code(const struct recording *recording, const struct recorded_thread *thread,
		      struct long_exit *row)
{
	const struct recording_choice *choice = &recording->choice;
	const struct kallsyms *symbols = guest_kallsyms_of(guests_find(recording->guests,
								       row->guest),
							   choice->kallsyms, choice->nr_kallsyms);

	if (!symbols)
		symbols = guests_symbols(recording->trace, thread);
	if (symbols)
		kallsyms_name(symbols, row->pc, row->symbol, sizeof(row->symbol));
}

static void add_long(const struct rows_maker *maker, const struct recorded_long *exit,
		     const bool *hides_pc, struct long_exits *exits)
{
	const struct recording *recording = maker->recording;
	struct key key = key_of(recording, exit->thread);
	uint64_t took_ns = to_ns(recording, elapsed(exit->begin, exit->end));
	struct long_exit row = {
		.end_ns = to_ns(recording, elapsed(pairing_of(maker)->first_time, exit->end)),
		.took_ns = took_ns,
		.user_ns = to_ns(recording, exit->user),
		.polled_ns = exit->polled_ns < took_ns ? exit->polled_ns : took_ns,
		.waited_ns = to_ns(recording, exit->waited),
		.knows_wait = pairing_of(maker)->has_switches,
		.pc = hides_pc[key.guest] ? 0 : exit->pc,
		.guest = key.guest,
		.vcpu = key.vcpu,
		.cpu = exit->cpu < 0 ? LONG_EXITS_NO_CPU : (uint32_t)exit->cpu,
		.reason = reason_field(maker, exit->exit),
		.argument = exit->argument ? argument_field(maker, exit->argument) : FIELD_NONE,
		.is_idle = meaning_is_idle(&pairing_of(maker)->meanings, &exit->exit->key),
	};

	name_code(recording, exit->thread, &row);
	long_exits_add(exits, &row);
}

void recorded_long_exits(const struct recording *recording, struct fields *fields, uint32_t source,
			 struct long_exits *ret_exits)
{
	const struct pairing *pairing = &recording->pairing;
	struct rows_maker maker = { .recording = recording };
	const struct exit_events events = exit_events_of(pairing);
	uint64_t first = pairing->nr_longs > LONG_EXITS_MAX ? pairing->nr_longs - LONG_EXITS_MAX :
							      0;
	bool *hides_pc;

	exit_fields_add(fields, source, &events, known_parts(pairing), &maker.fields);
	hides_pc = find_protected(&maker);
	for (uint64_t i = first; i < pairing->nr_longs; i++)
		add_long(&maker, &pairing->longs[i % LONG_EXITS_MAX], hides_pc, ret_exits);
	free(hides_pc);
	ret_exits->nr_ever += first;
}
