// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes the fields of VM exits and their arguments, of the parts of vCPUs' time, of the host's
 * CPUs, of vCPUs' threads, and of the other threads of a VMM.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/argument.h"
#include "lib/array.h"
#include "lib/number.h"
#include "lib/xalloc.h"
#include "core/facts/shared_fields.h"

static const char *const part_names[TIME_PARTS] = {
	[TIME_WHOLE] = "time",	   [TIME_GUEST] = "time(guest)", [TIME_KVM] = "time(kvm)",
	[TIME_USER] = "time(user)", [TIME_IDLE] = "time(idle)",	 [TIME_WAIT] = "time(wait)",
	[TIME_POLL] = "time(poll)", [TIME_L2] = "time(L2)",	 [TIME_BLOCK] = "time(block)",
	[TIME_BLOCK_USER] = "time(block_user)",
};

const char *exit_part_name(enum exit_part part)
{
	static const char *const names[EXIT_PARTS] = { "waited", "blocked", "idle", "polled" };

	return names[part];
}

const char *exit_fields_part(enum time_part part)
{
	return part_names[part];
}

static uint32_t add_field(const struct exit_fields *fields, const struct field *spec)
{
	struct field field = *spec;

	field.source = fields->source;
	return fields_add(fields->fields, &field);
}

void exit_fields_add_part(struct exit_fields *fields, enum time_part part)
{
	const struct field field = {
		.name = part_names[part],
		.parent = part ? fields->times[0] : FIELD_NONE,
		.use = USE_TIME,
		.part = part,
	};

	fields->times[part] = add_field(fields, &field);
}

static const char *event_of(const struct exit_events *events, enum exit_kind kind)
{
	if (events->names[kind])
		return events->names[kind];
	if (kind >= EXITS_FIRST_ARGUMENT)
		return argument_of(kind)->events[0].event;
	return kind == EXITS_VMEXIT ? "kvm_exit" : "kvm_userspace_exit";
}

void exit_fields_add(struct fields *dictionary, uint32_t source, const struct exit_events *events,
		     unsigned int parts, struct exit_fields *ret_fields)
{
	struct exit_fields fields = { .fields = dictionary, .source = source };

	for (unsigned int i = 0; i < EXITS_REASONS; i++)
		fields.parents[i] =
			add_field(&fields,
				  &(struct field){ .name = exit_kind_name((enum exit_kind)i),
						   .listed = event_of(events, (enum exit_kind)i),
						   .parent = FIELD_NONE, .use = USE_EXIT,
						   .exit_rank = (uint8_t)(i + 1),
						   .is_abandoned = events->lacks[i] });
	for (int i = 0; i < TIME_PARTS; i++) {
		fields.times[i] = FIELD_NONE;
		if (parts & 1U << i)
			exit_fields_add_part(&fields, (enum time_part)i);
	}
	memset(fields.exit_parts, 0xff, sizeof(fields.exit_parts));
	fields.cpu = add_field(&fields, &(struct field){ .name = "cpu", .parent = FIELD_NONE,
							 .use = USE_CPU, .kind = FIELD_GAUGE });
	for (unsigned int i = EXITS_FIRST_ARGUMENT; i < EXITS_KINDS; i++)
		fields.parents[i] =
			add_field(&fields,
				  &(struct field){ .name = exit_kind_name((enum exit_kind)i),
						   .listed = event_of(events, (enum exit_kind)i),
						   .use = USE_ARGUMENT,
						   .parent = FIELD_NONE, .reason = FIELD_NONE });
	*ret_fields = fields;
}

uint32_t exit_fields_reason(const struct exit_fields *fields, enum exit_kind kind,
			    const char *reason, const char *alias, bool is_idle)
{
	const struct field *parent = fields_get(fields->fields, fields->parents[kind]);
	char *name = xasprintf("%s(%s)", parent->name, reason);
	char *other = alias ? xasprintf("%s(%s)", parent->listed, alias) : NULL;
	uint32_t id = add_field(fields, &(struct field){ .name = name, .label = reason,
							 .alias = other,
							 .parent = fields->parents[kind],
							 .use = USE_EXIT,
							 .exit_rank = (uint8_t)(kind + 1),
							 .is_idle = is_idle });

	free(name);
	free(other);
	return id;
}

uint32_t exit_fields_argument(const struct exit_fields *fields, enum exit_kind kind,
			      const char *reason, uint32_t reason_field, const char *label)
{
	const struct argument *argument = argument_of(kind);
	char *name = xasprintf("%s(%s %s)", argument->name, reason ? reason : argument->what,
			       label);
	uint32_t id = add_field(fields, &(struct field){ .name = name, .label = label,
							 .parent = fields->parents[kind],
							 .use = USE_ARGUMENT,
							 .reason = reason_field });

	free(name);
	return id;
}

const char *exit_fields_failure(uint64_t code)
{
	if (code == EXITS_RESTART)
		return "INTR";
	return code == EXITS_ERROR ? "error" : NULL;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint32_t exit_fields_exit_part(struct exit_fields *fields, enum exit_kind kind,
			       uint32_t reason_field, enum exit_part part)
{
	const char *label = fields_get(fields->fields, reason_field)->label;
	uint32_t *parent = &fields->exit_parts[kind][part];
	char of[64], *name;
	uint32_t id;

	snprintf(of, sizeof(of), "%s_%s", exit_kind_name(kind), exit_part_name(part));
	if (*parent == FIELD_NONE)
		*parent = add_field(fields, &(struct field){ .name = of, .parent = FIELD_NONE,
							     .use = USE_EXIT_PART, .part = part,
							     .reason = fields->parents[kind] });
	name = xasprintf("%s(%s)", of, label);
	id = add_field(fields, &(struct field){ .name = name, .label = label, .parent = *parent,
						.use = USE_EXIT_PART, .part = part,
						.reason = reason_field });
	free(name);
	return id;
}

/* Takes a part of what is left. */
static uint64_t take(uint64_t *left, uint64_t part)
{
	part = smaller(part, *left);
	*left -= part;
	return part;
}

void exit_fields_split(uint64_t whole_ns, const struct exits_time *time, uint64_t *ret_parts)
{
	const uint64_t *ns = time->ns, *idle = time->idle_ns, *blocked = time->blocked_ns;
	uint64_t left = whole_ns, worked, user;

	ret_parts[TIME_WHOLE] = whole_ns;
	ret_parts[TIME_WAIT] = take(&left, time->waited_ns);
	ret_parts[TIME_IDLE] = take(&left, idle[EXITS_VMEXIT] + time->idle_out_ns);
	ret_parts[TIME_BLOCK] = take(&left, blocked[EXITS_VMEXIT]);
	ret_parts[TIME_BLOCK_USER] = smaller(blocked[EXITS_USERSPACE], ret_parts[TIME_BLOCK]);
	ret_parts[TIME_POLL] = take(&left, smaller(time->polled_ns, minus(ns[EXITS_VMEXIT],
									  idle[EXITS_VMEXIT])));
	worked = minus(ns[EXITS_VMEXIT], idle[EXITS_VMEXIT] + blocked[EXITS_VMEXIT] +
					 ret_parts[TIME_POLL]);
	user = minus(ns[EXITS_USERSPACE], idle[EXITS_USERSPACE] + blocked[EXITS_USERSPACE]);
	ret_parts[TIME_USER] = take(&left, smaller(worked, user));
	ret_parts[TIME_KVM] = take(&left, minus(worked, ret_parts[TIME_USER]));
	ret_parts[TIME_GUEST] = left;
	ret_parts[TIME_L2] = smaller(time->nested_ns, left);
}

/* A part grows no more than the part that it is of. */
static void keep_within(const uint64_t *earlier, uint64_t *parts, enum time_part part,
			enum time_part of)
{
	parts[part] = smaller(parts[part], earlier[part] + parts[of] - earlier[of]);
}

void exit_fields_keep(const uint64_t *earlier, uint64_t *parts)
{
	static const enum time_part split[] = { TIME_GUEST, TIME_IDLE, TIME_POLL, TIME_KVM,
						TIME_USER, TIME_BLOCK, TIME_WAIT };
	uint64_t sum = 0, excess;

	for (int i = 0; i < TIME_PARTS; i++) {
		if (parts[i] < earlier[i])
			parts[i] = earlier[i];
	}
	for (size_t i = 0; i < ARRAY_SIZE(split); i++)
		sum += parts[split[i]];
	excess = minus(sum, parts[TIME_WHOLE]);
	for (size_t i = 0; i < ARRAY_SIZE(split) && excess; i++) {
		uint64_t cut = smaller(excess, parts[split[i]] - earlier[split[i]]);

		parts[split[i]] -= cut;
		excess -= cut;
	}
	keep_within(earlier, parts, TIME_L2, TIME_GUEST);
	keep_within(earlier, parts, TIME_BLOCK_USER, TIME_BLOCK);
}

/* ---- the host's numbers */

#define HOST_ENTRY(part, ...) [HOST_##part] = { __VA_ARGS__ },

static const struct {
	const char *name;
	enum field_kind kind;
	bool is_everywhere; /* on every machine */
} parts[HOST_PARTS] = { HOST_LIST(HOST_ENTRY) };

uint32_t host_fields_add_part(struct fields *dictionary, uint32_t source, enum host_part part)
{
	return fields_add(dictionary,
			  &(struct field){ .name = parts[part].name, .parent = FIELD_NONE,
					   .source = source, .kind = parts[part].kind,
					   .use = USE_HOST, .part = part });
}

void host_fields_add(struct fields *dictionary, uint32_t source, struct host_fields *ret_fields)
{
	struct host_fields fields = { .fields = dictionary, .source = source };

	for (unsigned int i = 0; i < HOST_PARTS; i++)
		fields.parts[i] =
			parts[i].is_everywhere ?
				host_fields_add_part(dictionary, source, (enum host_part)i) :
				FIELD_NONE;
	*ret_fields = fields;
}

void host_fields_add_rare(struct host_fields *fields, enum host_part part)
{
	fields->parts[part] = host_fields_add_part(fields->fields, fields->source, part);
}

static uint32_t add_child(struct fields *dictionary, uint32_t parent, enum host_part part,
			  const char *name)
{
	const struct field *of = fields_get(dictionary, parent);
	char *full = xasprintf("%s(%s)", of->name, name);
	uint32_t id = fields_add(dictionary,
				 &(struct field){ .name = full, .label = name, .parent = parent,
						  .source = of->source, .kind = of->kind,
						  .use = USE_HOST, .part = part });

	free(full);
	return id;
}

uint32_t host_fields_add_child(struct fields *dictionary, uint32_t parent, const char *name)
{
	return add_child(dictionary, parent, fields_get(dictionary, parent)->part, name);
}

uint32_t host_fields_quota(const struct host_fields *fields, const char *quota)
{
	return add_child(fields->fields, fields->parts[HOST_THROTTLED], HOST_QUOTA, quota);
}

uint32_t host_fields_thread(const struct host_fields *fields, const char *name)
{
	return host_fields_add_child(fields->fields, fields->parts[HOST_THREAD], name);
}
