// SPDX-License-Identifier: GPL-2.0-or-later
/* From tallies of a recording to rows. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "facts/exit_fields.h"
#include "trace/recorded/pairing_private.h"
#include "trace/recorded/rows.h"

#define NAME_SIZE 192

/* What rows are made of, and where they go. */
struct maker {
	const struct recorded *recorded;
	struct played_rows *rows;
	struct exit_fields fields; /* for events only the dictionary and the source */
};

/* ---- durations */

static uint64_t to_ns(const struct recorded *recorded, uint64_t units)
{
	return recording_ns(units, recorded->ns_per_unit);
}

/* See HIST_BUCKETS. */
static unsigned int bucket_of(uint64_t ns)
{
	unsigned int bucket = ns < 128 ? 0 : 57 - (unsigned int)__builtin_clzll(ns);

	return bucket < HIST_BUCKETS ? bucket : HIST_BUCKETS - 1;
}

static void set_timing(const struct recorded *recorded, const struct durations *took,
		       struct played_row *row)
{
	struct timing *timing = &row->timing;
	double unit = recorded->ns_per_unit;

	timing->time_ns = to_ns(recorded, took->total);
	timing->max_ns = to_ns(recorded, took->max);
	for (unsigned int i = 0; i < DURATIONS_BUCKETS; i++) {
		uint64_t least = to_ns(recorded, durations_bucket_begin(i));

		timing->hist[bucket_of(least)] += took->hist[i];
	}
	row->spread = (struct spread){
		.count = took->count,
		.min_ns = to_ns(recorded, took->min),
		.mean_ns = durations_mean(took) * unit,
		.squares = durations_squares(took) * unit * unit,
	};
}

/* ---- events */

/* A thread that ran no vCPU may still be a thread of a guest. */
static struct key key_of(const struct recorded *recorded, const struct tally_thread *thread)
{
	const struct recorded_vcpu *vcpu = recorded_vcpu(recorded, thread->strand);
	struct key key = { GUEST_ANY, -1, FIELD_NONE };
	const struct guest *guest;

	if (vcpu)
		return (struct key){ vcpu->guest, vcpu->vcpu, FIELD_NONE };
	guest = thread->pid > 0 ? guests_by_pid(recorded->guests, thread->pid) : NULL;
	if (guest)
		key.guest = guest->id;
	return key;
}

/* What the events of this kind are called where the tally takes them for exits; NULL: none does. */
static const char *exit_event(const struct recording *recording, enum exit_kind event)
{
	const struct tally *tally = &recording->tallies[event];

	for (size_t i = 0; i < tally->nr_roles; i++) {
		if (tally->roles[i].kind == ROLE_EXIT)
			return tally->roles[i].of->name;
	}
	return NULL;
}

static uint8_t exit_rank(const struct recording *recording, const char *name)
{
	const char *exit = exit_event(recording, EXITS_VMEXIT);
	const char *user = exit_event(recording, EXITS_USERSPACE);

	if (exit && strcmp(exit, name) == 0)
		return 1;
	return user && strcmp(user, name) == 0 ? 2 : 0;
}

/* A row without times. */
static int add_count(const struct maker *maker, struct key key, uint64_t count)
{
	return played_rows_add(maker->rows, &(struct played_row){ .key = key, .count = count });
}

static int add_event(const struct maker *maker, struct key key, const char *name, uint64_t count)
{
	struct field field = {
		.name = name,
		.parent = FIELD_NONE,
		.source = maker->fields.source,
		.exit_rank = exit_rank(maker->recorded->recording, name),
	};
	int err = fields_add(maker->fields.fields, &field, &key.field);

	return err ? err : add_count(maker, key, count);
}

/* "kvm_exit(HLT)" */
static int add_child(const struct maker *maker, struct key key, uint32_t parent,
		     const struct tally *tally, const struct tally_cell *cell)
{
	char label[NAME_SIZE / 2], name[NAME_SIZE];
	struct field field = {
		.name = name,
		.label = label,
		.parent = parent,
		.source = maker->fields.source,
		.is_idle = tally_is_idle(tally, cell),
	};
	int err;

	tally_name(tally, cell, label, sizeof(label));
	snprintf(name, sizeof(name), "%.80s(%s)", fields_get(maker->fields.fields, parent)->name,
		 label);
	err = fields_add(maker->fields.fields, &field, &key.field);
	return err ? err : add_count(maker, key, cell->seen);
}

/* The reasons of an event that has some, below it. */
static int add_children(const struct maker *maker, enum exit_kind event)
{
	const struct tally *tally = &maker->recorded->recording->tallies[event];
	const char *name = exit_event(maker->recorded->recording, event);
	uint32_t parent = name ? fields_find(maker->fields.fields, name) : FIELD_NONE;
	int err = 0;

	for (size_t i = 0; parent != FIELD_NONE && i < tally->nr_threads; i++) {
		const struct tally_thread *thread = tally->threads[i];
		struct key key = key_of(maker->recorded, thread);

		for (size_t j = 0; j < thread->nr_cells && !err; j++)
			err = add_child(maker, key, parent, tally, &thread->cells[j]);
	}
	return err;
}

int recorded_add_events(struct played_rows *rows, const struct recorded *recorded,
			struct fields *fields, uint32_t source)
{
	const struct tally *tally = &recorded->recording->tallies[TALLY_EVENTS];
	const struct maker maker = { recorded, rows, { .fields = fields, .source = source } };
	int err = 0;

	for (size_t i = 0; i < tally->nr_threads; i++) {
		const struct tally_thread *thread = tally->threads[i];
		struct key key = key_of(recorded, thread);

		for (size_t j = 0; j < thread->nr_cells && !err; j++) {
			char name[NAME_SIZE];

			tally_name(tally, &thread->cells[j], name, sizeof(name));
			err = add_event(&maker, key, name, thread->cells[j].seen);
		}
	}
	if (!err)
		err = add_children(&maker, EXITS_VMEXIT);
	return err ? err : add_children(&maker, EXITS_USERSPACE);
}

/* ---- exits */

static const struct tally *tally_of(const struct maker *maker, enum exit_kind event)
{
	return &maker->recorded->recording->tallies[event];
}

/* A cell's row, and its part of the parent's. */
static int add_cell(const struct maker *maker, struct key key, uint32_t parent,
		    const struct tally *tally, const struct tally_cell *cell)
{
	struct played_row row = {
		.key = key,
		.count = tally_count(tally, cell),
		.is_timed = tally_has_time(tally),
	};
	int err;

	if (row.count == 0)
		return 0;
	if (row.is_timed)
		set_timing(maker->recorded, &cell->took, &row);
	err = played_rows_add(maker->rows, &row);
	row.key.field = parent;
	return err ? err : played_rows_add(maker->rows, &row);
}

static int add_reason(const struct maker *maker, struct key key, enum exit_kind kind,
		      const struct tally *tally, const struct tally_cell *cell)
{
	char name[NAME_SIZE / 2];
	int err;

	tally_name(tally, cell, name, sizeof(name));
	err = exit_fields_reason(&maker->fields, kind, name, tally_is_idle(tally, cell),
				  &key.field);
	return err ? err : add_cell(maker, key, maker->fields.parents[kind], tally, cell);
}

/* How long an exit lasts that is not over when the recording is. */
static uint64_t open_time(const struct tally *tally, const struct tally_thread *thread)
{
	return thread->is_open && thread->has_key ? tally->last_time - thread->begin : 0;
}

/* A vCPU thread's exits of a kind, and what they took. */
static int add_exits(const struct maker *maker, struct key key, enum exit_kind kind,
		     const struct tally *tally, const struct tally_thread *thread,
		     struct exits_time *time)
{
	const struct recorded *recorded = maker->recorded;
	int err = 0;

	for (size_t i = 0; i < thread->nr_cells && !err; i++) {
		const struct tally_cell *cell = &thread->cells[i];
		uint64_t units = cell->took.total;

		if (i == thread->cell)
			units += open_time(tally, thread);
		time->ns[kind] += to_ns(recorded, units);
		if (tally_is_idle(tally, cell))
			time->idle_ns[kind] += to_ns(recorded, units);
		err = add_reason(maker, key, kind, tally, cell);
	}
	return err;
}

/* A thread's life is from its first exit or entry on; what nobody knows is no part of it. */
static uint64_t life_ns(const struct recorded *recorded, const struct tally *tally,
			const struct tally_thread *thread)
{
	uint64_t life = tally->last_time - thread->first, unknown = thread->unknown;

	if (thread->is_lost)
		unknown += tally->last_time - thread->last;
	return to_ns(recorded, life > unknown ? life - unknown : 0);
}

static int add_times(const struct maker *maker, struct key key, const struct tally_thread *thread,
		     const struct exits_time *time)
{
	const struct tally *tally = tally_of(maker, EXITS_VMEXIT);
	uint64_t parts[TIME_PARTS];
	int err = 0;

	exit_fields_split(life_ns(maker->recorded, tally, thread), time, parts);
	for (int i = 0; i < TIME_PARTS && !err; i++) {
		key.field = maker->fields.times[i];
		if (key.field != FIELD_NONE)
			err = add_count(maker, key, parts[i]);
	}
	return err;
}

static int add_cpu(const struct maker *maker, struct key key, const struct tally_thread *thread)
{
	if (thread->cpu < 0)
		return 0;
	key.field = maker->fields.cpu;
	return add_count(maker, key, (uint64_t)thread->cpu);
}

static int add_vcpu(const struct maker *maker, const struct recorded_vcpu *vcpu)
{
	const struct tally *tally = tally_of(maker, EXITS_VMEXIT);
	const struct tally *user = tally_of(maker, EXITS_USERSPACE);
	const struct tally_thread *thread = tally_thread_by_strand(tally, vcpu->strand);
	const struct tally_thread *user_thread = tally_thread_by_strand(user, vcpu->strand);
	struct key key = { vcpu->guest, vcpu->vcpu, FIELD_NONE };
	struct exits_time time = { { 0 }, { 0 } };
	int err = 0;

	if (thread)
		err = add_exits(maker, key, EXITS_VMEXIT, tally, thread, &time);
	if (!err && user_thread)
		err = add_exits(maker, key, EXITS_USERSPACE, user, user_thread, &time);
	if (!err && thread && thread->nr_cells && tally_has_time(tally))
		err = add_times(maker, key, thread, &time);
	return err || !thread ? err : add_cpu(maker, key, thread);
}

/* ---- what exits were about */

/* The field of the reason that an argument came with; FIELD_NONE: not known, or not counted. */
static int add_argument(const struct maker *maker, struct key key, enum exit_kind kind,
			const struct tally *tally, const struct tally_cell *cell)
{
	char label[NAME_SIZE / 2], reason[NAME_SIZE / 2], name[NAME_SIZE];
	bool has_reason = tally_exit_name(tally, cell, reason, sizeof(reason));
	uint32_t field = FIELD_NONE;
	int err;

	if (has_reason) {
		snprintf(name, sizeof(name), "vmexit(%s)", reason);
		field = fields_find(maker->fields.fields, name);
	}
	tally_name(tally, cell, label, sizeof(label));
	err = exit_fields_argument(&maker->fields, kind,
				    has_reason ? reason : NULL, field, label, &key.field);
	return err ? err : add_cell(maker, key, maker->fields.parents[kind], tally, cell);
}

static int add_arguments(const struct maker *maker, enum exit_kind kind)
{
	const struct tally *tally = tally_of(maker, kind);
	int err = 0;

	for (size_t i = 0; i < tally->nr_threads && !err; i++) {
		const struct tally_thread *thread = tally->threads[i];
		struct key key = key_of(maker->recorded, thread);

		for (size_t j = 0; j < thread->nr_cells && !err; j++)
			err = add_argument(maker, key, kind, tally, &thread->cells[j]);
	}
	return err;
}

/* Who waits for a CPU is in no event of KVM, and who left for user space may not be recorded. */
static unsigned int known_parts(const struct recording *recording)
{
	unsigned int parts = EXIT_FIELDS_PARTS & ~(1U << TIME_WAIT);

	return recording->tallies[EXITS_USERSPACE].has_exits ? parts : parts & ~(1U << TIME_USER);
}

int recorded_add_exits(struct played_rows *rows, const struct recorded *recorded,
		       struct fields *fields, uint32_t source)
{
	struct maker maker = { .recorded = recorded, .rows = rows };
	int err = exit_fields_add(fields, source, known_parts(recorded->recording), &maker.fields);

	for (size_t i = 0; i < recorded->nr_vcpus && !err; i++)
		err = add_vcpu(&maker, &recorded->vcpus[i]);
	for (unsigned int i = EXITS_FIRST_ARGUMENT; i < EXITS_KINDS && !err; i++)
		err = add_arguments(&maker, (enum exit_kind)i);
	return err;
}
