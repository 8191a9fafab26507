// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums of exits by vCPU, and their rows. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "lib/number.h"
#include "lib/xalloc.h"
#include "core/facts/shared_fields.h"
#include "providers/exits/threads.h"

#define ARGUMENTS_MAX (4 * EXITS_ARGUMENTS) /* of a vCPU; when there are so many, */
#define ARGUMENTS_FEW (2 * EXITS_ARGUMENTS) /* arguments not counted now are dropped */
#define NAMES_MAX 1024 /* different arguments of a vCPU, from its begin to its end */

/* The sum of an argument. */
struct argument_sum {
	uint32_t field;
	enum exit_kind kind;
	struct exits_cell now, former;
	uint64_t open_ns; /* beside now's time */
	bool is_counted; /* in this sample */
	UT_hash_handle hh;
};

struct exits_vcpu {
	struct exits_vcpu_id id;
	unsigned int nr_holders;
	struct exits_packed *former; /* counts that are kept; NULL: none */
	struct exits_record *now;    /* the sum in this sample; NULL: there never was any */
	bool has_now;		     /* a thread was added in this sample */
	uint32_t cpu;
	uint64_t shown[TIME_PARTS]; /* as of the previous sample: times never go back */
	uint64_t *shown_counts; /* the same, by cell, of a vCPU that nests; else NULL */
	uint64_t (*shown_parts)[EXIT_PARTS]; /* the same, by cell; NULL: they are not measured */
	struct argument_sum *arguments;
	uint32_t nr_named; /* how many arguments there ever were */
	UT_hash_handle hh;
	/* Last, as it is large and seldom read: the sums of arguments that were dropped. */
	struct exits_cell dropped[EXITS_KINDS];
};

struct exits_vcpus {
	const struct exits_threads_config *config;
	struct exits_vcpu *list;
	struct {		/* by cell: the field of its code */
		uint32_t field; /* FIELD_NONE: not looked up yet */
		uint32_t parts[EXIT_PARTS]; /* the same */
		bool is_idle;
	} cells[EXITS_CELLS];
};

struct exits_vcpus *exits_vcpus_new(const struct exits_threads_config *config)
{
	struct exits_vcpus *vcpus = xcalloc(1, sizeof(*vcpus));

	vcpus->config = config;
	memset(vcpus->cells, 0xff, sizeof(vcpus->cells)); /* FIELD_NONE */
	return vcpus;
}

static void free_vcpu(struct exits_vcpus *vcpus, struct exits_vcpu *vcpu)
{
	hash_free(vcpu->arguments, free);
	HASH_DEL(vcpus->list, vcpu);
	free(vcpu->former);
	free(vcpu->now);
	free(vcpu->shown_counts);
	free(vcpu->shown_parts);
	free(vcpu);
}

void exits_vcpus_free(struct exits_vcpus *vcpus)
{
	struct exits_vcpu *vcpu, *next;

	if (!vcpus)
		return;
	HASH_ITER(hh, vcpus->list, vcpu, next)
		free_vcpu(vcpus, vcpu);
	free(vcpus);
}

static void begin_sum(struct argument_sum *sum)
{
	sum->now = (struct exits_cell){ 0 };
	sum->open_ns = 0;
	sum->is_counted = false;
}

void exits_vcpus_begin(struct exits_vcpus *vcpus)
{
	for (struct exits_vcpu *vcpu = vcpus->list; vcpu; vcpu = vcpu->hh.next) {
		struct argument_sum *sum = vcpu->arguments;

		for (; sum; sum = sum->hh.next)
			begin_sum(sum);
		if (vcpu->now)
			memset(vcpu->now, 0, offsetof(struct exits_record, cells));
		vcpu->has_now = false;
	}
}

struct exits_vcpu *exits_vcpus_get(struct exits_vcpus *vcpus, struct exits_vcpu_id id)
{
	return hash_get(vcpus->list, id, &id);
}

void exits_vcpu_hold(struct exits_vcpu *vcpu)
{
	vcpu->nr_holders++;
}

void exits_vcpu_drop(struct exits_vcpu *vcpu)
{
	if (vcpu)
		vcpu->nr_holders--;
}

struct exits_vcpu_id exits_vcpu_id(const struct exits_vcpu *vcpu)
{
	return vcpu->id;
}

void exits_vcpu_set_cpu(struct exits_vcpu *vcpu, uint32_t cpu)
{
	vcpu->cpu = cpu;
}

static void need_now(struct exits_vcpu *vcpu)
{
	if (!vcpu->now)
		vcpu->now = xcalloc(1, sizeof(*vcpu->now));
}

static void add_former(struct exits_vcpu *vcpu, const struct exits_record *record)
{
	struct exits_record sum = *record;

	if (vcpu->former)
		exits_record_add_packed(&sum, vcpu->former);
	free(vcpu->former);
	vcpu->former = exits_record_pack(&sum);
}

void exits_vcpu_add(struct exits_vcpu *vcpu, const struct exits_record *record, bool is_former)
{
	if (is_former) {
		add_former(vcpu, record);
		return;
	}
	need_now(vcpu);
	vcpu->has_now = true;
	exits_record_add(vcpu->now, record);
}

static struct argument_sum *get_argument(struct exits_vcpu *vcpu, uint32_t field,
					 enum exit_kind kind)
{
	struct argument_sum *sum;

	HASH_FIND(hh, vcpu->arguments, &field, sizeof(field), sum);
	if (sum)
		return sum;
	sum = xcalloc(1, sizeof(*sum));
	sum->field = field;
	sum->kind = kind;
	vcpu->nr_named++;
	hash_add(vcpu->arguments, field, sum);
	return sum;
}

bool exits_vcpu_has_room(const struct exits_vcpu *vcpu, uint32_t field)
{
	const struct argument_sum *sum;

	if (HASH_COUNT(vcpu->arguments) < ARGUMENTS_MAX)
		return true;
	HASH_FIND(hh, vcpu->arguments, &field, sizeof(field), sum);
	return sum != NULL;
}

bool exits_vcpu_may_name(const struct exits_vcpu *vcpu)
{
	return vcpu->nr_named < NAMES_MAX;
}

void exits_vcpu_add_argument(struct exits_vcpu *vcpu, uint32_t field, enum exit_kind kind,
			     const struct exits_cell *cell, bool is_former, uint64_t open_ns)
{
	struct argument_sum *sum = get_argument(vcpu, field, kind);

	exits_cell_add(is_former ? &sum->former : &sum->now, cell);
	sum->open_ns += is_former ? 0 : open_ns;
	sum->is_counted = true;
}

/* Where rows go, and what they have in common. */
struct output {
	struct sample *sample;
	const struct exits_code *codes;
	uint32_t flags;
};

static void add_row(const struct exits_vcpus *vcpus, const struct output *out,
		    const struct exits_vcpu_id *id, uint32_t field, enum exit_kind kind,
		    const struct exits_cell *cell, uint64_t open_ns)
{
	struct key key = { id->guest, id->index, field };
	struct timing timing = {
		.time_ns = cell->time_ns + open_ns,
		.open_ns = open_ns,
		.max_ns = cell->max_ns,
	};

	if (!vcpus->config->is_timed || !exits_have_end(kind)) {
		sample_add(out->sample, key, cell->count, out->flags);
		return;
	}
	memcpy(timing.hist, cell->hist, sizeof(timing.hist));
	sample_add_timed(out->sample, key, cell->count, out->flags, &timing);
}

/* The sums by kind; the time of the reasons that mean idle; and all parts of the time of exits. */
struct vcpu_sums {
	struct exits_cell by_kind[EXITS_KINDS];
	uint64_t open_ns[EXITS_KINDS]; /* beside their time */
	uint64_t halt_ns[EXITS_REASONS];
	uint64_t parts[EXITS_REASONS][EXIT_PARTS];
};

/* Looks a cell's field up once. */
static void look_up_cell(struct exits_vcpus *vcpus, const struct exits_code *codes,
			 unsigned int i)
{
	uint32_t field = vcpus->cells[i].field;

	if (field != FIELD_NONE)
		return;
	field = exits_names_cell(vcpus->config->names, &codes[i]);
	vcpus->cells[i].field = field;
	vcpus->cells[i].is_idle = fields_get(vcpus->config->fields, field)->is_idle;
}

/*
 * An exit of L2 goes from the cell of its reason to the twin. If the thread was read in that
 * moment, in spite of copy() in record.c, a count is too high by one, and may not go back after it.
 */
static void keep_counts(struct exits_vcpu *vcpu)
{
	struct exits_record *now = vcpu->now;

	if (!now->has_nested)
		return;
	if (!vcpu->shown_counts)
		vcpu->shown_counts = xcalloc(EXITS_CELLS, sizeof(*vcpu->shown_counts));
	for (unsigned int i = exits_record_next(now, 0); i < EXITS_CELLS;
	     i = exits_record_next(now, i + 1)) {
		if (now->cells[i].count < vcpu->shown_counts[i])
			now->cells[i].count = vcpu->shown_counts[i];
		vcpu->shown_counts[i] = now->cells[i].count;
	}
}

/*
 * A sleep may turn out to have been a wait in part, from the wake-up on: what was shown stays.
 * Where it is not known when a thread sleeps, it sleeps in halts while KVM does not poll.
 */
static void add_parts(struct exits_vcpus *vcpus, const struct output *out,
		      struct exits_vcpu *vcpu, unsigned int i, uint64_t *sums)
{
	const struct exits_parts *parts = &vcpu->now->parts[i];
	uint64_t now[EXIT_PARTS] = {
		[EXIT_WAITED] = parts->waited_ns, [EXIT_BLOCKED] = parts->blocked_ns,
		[EXIT_IDLE] = parts->idle_ns, [EXIT_POLLED] = parts->polled_ns,
	};

	if (!vcpus->config->sees_away && vcpus->cells[i].is_idle)
		now[EXIT_IDLE] = minus(vcpu->now->cells[i].time_ns + vcpu->now->open_ns[i],
				      parts->polled_ns);
	if (!vcpu->shown_parts)
		vcpu->shown_parts = xcalloc(EXITS_CELLS, sizeof(*vcpu->shown_parts));
	for (int part = 0; part < EXIT_PARTS; part++) {
		uint64_t *shown = &vcpu->shown_parts[i][part];
		uint32_t *field = &vcpus->cells[i].parts[part];

		sums[part] += now[part];
		if (now[part] > *shown)
			*shown = now[part];
		if (!*shown)
			continue;
		if (*field == FIELD_NONE)
			*field = exits_names_part(vcpus->config->names, &out->codes[i],
						  (enum exit_part)part);
		sample_add(out->sample, (struct key){ vcpu->id.guest, vcpu->id.index, *field },
			   *shown, out->flags);
	}
}

static void add_cells(struct exits_vcpus *vcpus, const struct output *out,
		      struct exits_vcpu *vcpu, struct vcpu_sums *sums)
{
	const struct exits_record *now = vcpu->now;

	keep_counts(vcpu);
	for (unsigned int i = exits_record_next(now, 0); i < EXITS_CELLS;
	     i = exits_record_next(now, i + 1)) {
		unsigned int kind = out->codes[i].kind;

		look_up_cell(vcpus, out->codes, i);
		exits_cell_add(&sums->by_kind[kind], &now->cells[i]);
		sums->open_ns[kind] += now->open_ns[i];
		if (vcpus->cells[i].is_idle)
			sums->halt_ns[kind] += now->cells[i].time_ns + now->open_ns[i];
		if (vcpus->config->is_timed)
			add_parts(vcpus, out, vcpu, i, sums->parts[kind]);
		add_row(vcpus, out, &vcpu->id, vcpus->cells[i].field, (enum exit_kind)kind,
			&now->cells[i], now->open_ns[i]);
	}
}

/* Where it is not known when a thread sleeps, it sleeps in halts while it does nothing else. */
static void split_time(const struct exits_vcpus *vcpus, const struct exits_vcpu *vcpu,
		       const struct vcpu_sums *sums, uint64_t *ret_parts)
{
	const struct exits_sums *all = &vcpu->now->at.sums;
	const uint64_t *exit = sums->parts[EXITS_VMEXIT];
	struct exits_time time = {
		.polled_ns = exit[EXIT_POLLED], .waited_ns = all->waited,
		.idle_out_ns = all->idle_out, .nested_ns = all->nested,
	};

	for (int kind = 0; kind < EXITS_REASONS; kind++) {
		time.ns[kind] = sums->by_kind[kind].time_ns + sums->open_ns[kind];
		time.idle_ns[kind] = vcpus->config->sees_away ? sums->parts[kind][EXIT_IDLE] :
								sums->halt_ns[kind];
		time.blocked_ns[kind] = sums->parts[kind][EXIT_BLOCKED];
	}
	if (!vcpus->config->sees_away)
		time.idle_ns[EXITS_VMEXIT] = minus(time.idle_ns[EXITS_VMEXIT],
						  all->halt_user + time.polled_ns);
	exit_fields_split(vcpu->now->whole_ns, &time, ret_parts);
}

static void add_times(const struct exits_vcpus *vcpus, const struct output *out,
		      struct exits_vcpu *vcpu, const struct vcpu_sums *sums)
{
	uint64_t parts[TIME_PARTS];

	split_time(vcpus, vcpu, sums, parts);
	exit_fields_keep(vcpu->shown, parts);
	for (int i = 0; i < TIME_PARTS; i++) {
		struct key key = { vcpu->id.guest, vcpu->id.index,
				   exits_names_fields(vcpus->config->names)->times[i] };

		/* The part is not measured, or it is L2 and the vCPU has none. */
		if (key.field == FIELD_NONE || (i == TIME_L2 && !vcpu->now->has_nested))
			continue;
		vcpu->shown[i] = parts[i];
		sample_add(out->sample, key, parts[i], out->flags);
	}
}

static void add_parents(const struct exits_vcpus *vcpus, const struct output *out,
			const struct exits_vcpu *vcpu, const struct vcpu_sums *sums)
{
	for (unsigned int i = 0; i < EXITS_KINDS; i++) {
		if (sums->by_kind[i].count)
			add_row(vcpus, out, &vcpu->id,
				exits_names_fields(vcpus->config->names)->parents[i],
				(enum exit_kind)i, &sums->by_kind[i], sums->open_ns[i]);
	}
}

static void add_arguments(const struct exits_vcpus *vcpus, const struct output *out,
			  const struct exits_vcpu *vcpu, struct vcpu_sums *sums)
{
	for (struct argument_sum *sum = vcpu->arguments; sum; sum = sum->hh.next) {
		exits_cell_add(&sum->now, &sum->former);
		exits_cell_add(&sums->by_kind[sum->kind], &sum->now);
		sums->open_ns[sum->kind] += sum->open_ns;
		if (sum->now.count)
			add_row(vcpus, out, &vcpu->id, sum->field, sum->kind, &sum->now,
				sum->open_ns);
	}
	for (unsigned int i = 0; i < EXITS_KINDS; i++)
		exits_cell_add(&sums->by_kind[i], &vcpu->dropped[i]);
}

/* Makes room where there are many: the totals of arguments that are dropped stay in the stats. */
static void drop_arguments(struct exits_vcpu *vcpu)
{
	struct argument_sum *sum, *next;

	HASH_ITER(hh, vcpu->arguments, sum, next) {
		if (sum->is_counted || HASH_COUNT(vcpu->arguments) <= ARGUMENTS_FEW)
			continue;
		exits_cell_add(&vcpu->dropped[sum->kind], &sum->former);
		HASH_DEL(vcpu->arguments, sum);
		free(sum);
	}
}

static void add_vcpu(struct exits_vcpus *vcpus, const struct output *out, struct exits_vcpu *vcpu)
{
	struct vcpu_sums sums = { 0 };

	add_cells(vcpus, out, vcpu, &sums);
	if (vcpu->nr_named)
		add_arguments(vcpus, out, vcpu, &sums);
	drop_arguments(vcpu);
	add_parents(vcpus, out, vcpu, &sums);
	if (sums.by_kind[EXITS_VMEXIT].count || sums.by_kind[EXITS_USERSPACE].count)
		sample_add(out->sample,
			   (struct key){ vcpu->id.guest, vcpu->id.index,
					 exits_names_fields(vcpus->config->names)->cpu },
			   vcpu->cpu, 0);
	/* A vCPU that was never started sleeps, and has made no exit. */
	if (vcpus->config->is_timed &&
	    (sums.by_kind[EXITS_VMEXIT].count || vcpu->now->at.sums.idle_out))
		add_times(vcpus, out, vcpu, &sums);
}

void exits_vcpus_forget_arguments(struct exits_vcpus *vcpus)
{
	for (struct exits_vcpu *vcpu = vcpus->list; vcpu; vcpu = vcpu->hh.next) {
		hash_free(vcpu->arguments, free);
		vcpu->nr_named = 0;
		memset(vcpu->dropped, 0, sizeof(vcpu->dropped));
	}
}

void exits_vcpus_emit(struct exits_vcpus *vcpus, struct sample *sample, uint32_t flags)
{
	const struct output out = { sample, vcpus->config->codes, flags };

	for (struct exits_vcpu *vcpu = vcpus->list; vcpu; vcpu = vcpu->hh.next) {
		if (!vcpu->has_now && !vcpu->former && !vcpu->nr_named)
			continue;
		need_now(vcpu);
		if (vcpu->former)
			exits_record_add_packed(vcpu->now, vcpu->former);
		add_vcpu(vcpus, &out, vcpu);
	}
}

void exits_vcpus_sweep(struct exits_vcpus *vcpus)
{
	struct exits_vcpu *vcpu, *next;

	HASH_ITER(hh, vcpus->list, vcpu, next) {
		if (!vcpu->nr_holders && vcpu->id.guest != GUEST_NONE &&
		    !guests_by_id(vcpus->config->guests, vcpu->id.guest))
			free_vcpu(vcpus, vcpu);
	}
}
