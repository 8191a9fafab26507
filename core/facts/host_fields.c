// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes the fields of the host's CPUs, of vCPUs' threads, and of what else a VMM runs. */
#include <stdio.h>

#include "core/facts/exit_fields.h"
#include "core/facts/host_fields.h"

static const struct {
	const char *name;
	enum field_kind kind;
	bool is_everywhere; /* on every machine */
} parts[HOST_PARTS] = {
	[HOST_RUN] = { "thread(run)", FIELD_COUNTER, true },
	[HOST_CPU] = { "thread(cpu)", FIELD_GAUGE, true },
	[HOST_AFFINITY] = { "thread(affinity)", FIELD_GAUGE, true },
	[HOST_MIGRATIONS] = { "thread(migrations)", FIELD_COUNTER, true },
	[HOST_THROTTLED] = { "thread(throttled)", FIELD_COUNTER, true },
	[HOST_THREAD] = { "vmm", FIELD_COUNTER, true },
	[HOST_BUSY] = { "host_cpu(busy)", FIELD_COUNTER, true },
	[HOST_NODE] = { "host_cpu(node)", FIELD_GAUGE, true },
	[HOST_CORE] = { "host_cpu(core)", FIELD_GAUGE, true },
	[HOST_SIBLING] = { "host_cpu(sibling)", FIELD_GAUGE, true },
	[HOST_REMOTE] = { "thread(remote)", FIELD_GAUGE, false },
	[HOST_STOPPED] = { "thread(stopped)", FIELD_COUNTER, true },
	[HOST_GUESTS] = { "host(guests)", FIELD_GAUGE, false },
	[HOST_FINDING] = { "finding", FIELD_PEAK, false },
};

uint32_t host_fields_add_part(struct fields *dictionary, uint32_t source, enum host_part part)
{
	return fields_add(dictionary,
			  &(struct field){ .name = parts[part].name, .parent = FIELD_NONE,
					   .source = source, .kind = parts[part].kind,
					   .use = USE_HOST, .part = part });
}

uint32_t host_fields_add_wait(struct fields *dictionary, uint32_t source)
{
	return fields_add(dictionary,
			  &(struct field){ .name = exit_fields_part(TIME_WAIT), .label = "wait",
					   .parent = fields_find(dictionary,
								 exit_fields_part(TIME_WHOLE)),
					   .source = source, .use = USE_TIME, .part = TIME_WAIT });
}

void host_fields_add(struct fields *dictionary, uint32_t source, struct host_fields *ret_fields)
{
	struct host_fields fields = { .fields = dictionary, .source = source };

	fields.wait = host_fields_add_wait(dictionary, source);
	for (unsigned int i = 0; i < HOST_PARTS; i++)
		fields.parts[i] =
			parts[i].is_everywhere ?
				host_fields_add_part(dictionary, source, (enum host_part)i) :
				FIELD_NONE;
	*ret_fields = fields;
}

void host_fields_add_remote(struct host_fields *fields)
{
	fields->parts[HOST_REMOTE] =
		host_fields_add_part(fields->fields, fields->source, HOST_REMOTE);
}

uint32_t host_fields_add_child(struct fields *dictionary, uint32_t parent, const char *name)
{
	const struct field *of = fields_get(dictionary, parent);
	char full[64];

	snprintf(full, sizeof(full), "%s(%s)", of->name, name);
	return fields_add(dictionary,
			  &(struct field){ .name = full, .label = name, .parent = parent,
					   .source = of->source, .kind = of->kind, .use = USE_HOST,
					   .part = of->part });
}

uint32_t host_fields_quota(const struct host_fields *fields, const char *quota)
{
	uint32_t parent = fields->parts[HOST_THROTTLED];
	char full[HOST_QUOTA_SIZE + 32];

	snprintf(full, sizeof(full), "%s(%s)", parts[HOST_THROTTLED].name, quota);
	return fields_add(fields->fields,
			  &(struct field){ .name = full, .label = quota, .parent = parent,
					   .source = fields->source, .kind = FIELD_COUNTER,
					   .use = USE_HOST, .part = HOST_QUOTA });
}

uint32_t host_fields_thread(const struct host_fields *fields, const char *name)
{
	return host_fields_add_child(fields->fields, fields->parts[HOST_THREAD], name);
}
