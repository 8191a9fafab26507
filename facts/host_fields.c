// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes the fields of the host's CPUs, of vCPUs' threads, and of what else a VMM runs. */
#include <stdio.h>

#include "facts/exit_fields.h"
#include "facts/host_fields.h"

static const struct {
	const char *name;
	enum field_kind kind;
} parts[HOST_PARTS] = {
	[HOST_RUN] = { "thread(run)", FIELD_COUNTER },
	[HOST_CPU] = { "thread(cpu)", FIELD_GAUGE },
	[HOST_AFFINITY] = { "thread(affinity)", FIELD_GAUGE },
	[HOST_MIGRATIONS] = { "thread(migrations)", FIELD_COUNTER },
	[HOST_THROTTLED] = { "thread(throttled)", FIELD_COUNTER },
	[HOST_THREAD] = { "vmm", FIELD_COUNTER },
	[HOST_BUSY] = { "host_cpu(busy)", FIELD_COUNTER },
	[HOST_NODE] = { "host_cpu(node)", FIELD_GAUGE },
	[HOST_CORE] = { "host_cpu(core)", FIELD_GAUGE },
	[HOST_SIBLING] = { "host_cpu(sibling)", FIELD_GAUGE },
	[HOST_REMOTE] = { "thread(remote)", FIELD_GAUGE },
};

static int add_part(struct host_fields *fields, unsigned int part)
{
	return fields_add(fields->fields,
			  &(struct field){ .name = parts[part].name, .parent = FIELD_NONE,
					   .source = fields->source, .kind = parts[part].kind,
					   .use = USE_HOST, .part = part },
			  &fields->parts[part]);
}

int host_fields_add(struct fields *dictionary, uint32_t source, struct host_fields *ret_fields)
{
	struct host_fields fields = { .fields = dictionary, .source = source };
	const struct field wait = {
		.name = exit_fields_part(TIME_WAIT),
		.label = "wait",
		.parent = fields_find(dictionary, exit_fields_part(TIME_WHOLE)),
		.source = source,
		.use = USE_TIME,
		.part = TIME_WAIT,
	};
	int err = fields_add(dictionary, &wait, &fields.wait);

	fields.parts[HOST_REMOTE] = FIELD_NONE;
	for (unsigned int i = 0; i < HOST_REMOTE && !err; i++)
		err = add_part(&fields, i);
	if (!err)
		*ret_fields = fields;
	return err;
}

int host_fields_add_remote(struct host_fields *fields)
{
	return add_part(fields, HOST_REMOTE);
}

int host_fields_thread(const struct host_fields *fields, const char *name, uint32_t *ret_id)
{
	char full[64];

	snprintf(full, sizeof(full), "%s(%s)", parts[HOST_THREAD].name, name);
	return fields_add(fields->fields,
			  &(struct field){ .name = full, .label = name,
					   .parent = fields->parts[HOST_THREAD],
					   .source = fields->source,
					   .kind = parts[HOST_THREAD].kind, .use = USE_HOST,
					   .part = HOST_THREAD },
			  ret_id);
}
