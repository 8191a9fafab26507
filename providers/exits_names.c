// SPDX-License-Identifier: GPL-2.0-or-later
/* Names for what the BPF program counted. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracefs.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "arch/argument.h"
#include "providers/exits_names.h"

#define FAILED_VMENTRY (UINT64_C(1) << 31) /* VMX: the entry itself failed */
#define NAME_SIZE 192

static const char *const kind_names[] = {
	[EXITS_VMEXIT] = "vmexit",
	[EXITS_USERSPACE] = "userspace",
};

static const char *const part_names[TIME_PARTS] = {
	[TIME_WHOLE] = "time",	   [TIME_GUEST] = "time(guest)", [TIME_KVM] = "time(kvm)",
	[TIME_USER] = "time(user)", [TIME_HALT] = "time(halt)",	 [TIME_WAIT] = "time(wait)",
};

/* What the program tells apart: a code of a kind, or an argument; the rest of the key is 0. */
struct name_key {
	struct exits_argument_key argument;
	struct exits_code code;
};

struct name {
	struct name_key key;
	uint32_t field;
	UT_hash_handle hh;
};

struct exits_names {
	struct provider_site site;
	const struct split *splits[2]; /* by enum exits_kind; NULL: none */
	struct reasons reasons[2];
	uint32_t parents[2], arguments[EXITS_ARGUMENTS], times[TIME_PARTS], cpu;
	struct name *names;
};

static int add_field(const struct exits_names *names, const struct field *spec, uint32_t *ret_id)
{
	struct field field = *spec;

	field.source = names->site.source;
	return fields_add(names->site.fields, &field, ret_id);
}

static int add_parents(struct exits_names *names)
{
	int err = 0;

	for (int i = 0; i < 2 && !err; i++)
		err = add_field(names,
				&(struct field){ .name = kind_names[i], .parent = FIELD_NONE,
						 .use = USE_EXIT, .exit_rank = (uint8_t)(i + 1) },
				&names->parents[i]);
	for (int i = 0; i < TIME_PARTS && !err; i++)
		err = add_field(names,
				&(struct field){ .name = part_names[i], .use = USE_TIME,
						 .parent = i ? names->times[0] : FIELD_NONE,
						 .part = (enum time_part)i },
				&names->times[i]);
	if (!err)
		err = add_field(names,
				&(struct field){ .name = "cpu", .parent = FIELD_NONE,
						 .use = USE_CPU, .kind = FIELD_GAUGE },
				&names->cpu);
	for (size_t i = 0; argument_at(i) && !err; i++)
		err = add_field(names,
				&(struct field){ .name = argument_at(i)->name, .use = USE_ARGUMENT,
						 .parent = FIELD_NONE, .reason = FIELD_NONE },
				&names->arguments[i]);
	return err;
}

/* The reasons that have a name, in the kernel's spelling where it has one. */
static int read_reasons(struct exits_names *names, enum exits_kind kind)
{
	const struct split *split = names->splits[kind];
	char *format;
	int err;

	if (!split)
		return 0;
	format = tracefs_event_file_read(NULL, split->system, split->event, "format", NULL);
	err = reasons_of(split, format, &names->reasons[kind]);
	free(format);
	for (size_t i = 0; i < names->reasons[kind].nr && !err; i++) {
		struct exits_code code = { names->reasons[kind].list[i].code, kind, 1 };

		if (exits_names_cell(names, &code) == FIELD_NONE)
			err = -ENOMEM;
	}
	return err;
}

int exits_names_new(const struct provider_site *site, const struct split *exit,
		    struct exits_names **ret_names)
{
	struct exits_names *names = calloc(1, sizeof(*names));
	int err;

	if (!names)
		return -ENOMEM;
	names->site = *site;
	names->splits[EXITS_VMEXIT] = exit;
	names->splits[EXITS_USERSPACE] = &arch_userspace_split;
	err = add_parents(names);
	if (!err)
		err = read_reasons(names, EXITS_VMEXIT);
	if (!err)
		err = read_reasons(names, EXITS_USERSPACE);
	if (err) {
		exits_names_free(names);
		return err;
	}
	*ret_names = names;
	return 0;
}

void exits_names_free(struct exits_names *names)
{
	struct name *name, *next;

	if (!names)
		return;
	for (name = names->names; name; name = next) {
		next = name->hh.next;
		HASH_DEL(names->names, name);
		free(name);
	}
	for (int i = 0; i < 2; i++)
		reasons_release(&names->reasons[i]);
	free(names);
}

uint32_t exits_names_parent(const struct exits_names *names, enum exits_kind kind)
{
	return names->parents[kind];
}

uint32_t exits_names_argument_parent(const struct exits_names *names, unsigned int kind)
{
	return names->arguments[kind];
}

uint32_t exits_names_time(const struct exits_names *names, enum time_part part)
{
	return names->times[part];
}

uint32_t exits_names_cpu(const struct exits_names *names)
{
	return names->cpu;
}

static struct name *find_name(const struct exits_names *names, const struct name_key *key)
{
	struct name *name;

	HASH_FIND(hh, names->names, key, sizeof(*key), name);
	return name;
}

static int keep_name(struct exits_names *names, const struct name_key *key, uint32_t field)
{
	struct name *name = calloc(1, sizeof(*name));

	if (!name)
		return -ENOMEM;
	name->key = *key;
	name->field = field;
	HASH_ADD(hh, names->names, key, sizeof(*key), name);
	if (!name->hh.tbl) {
		free(name);
		return -ENOMEM;
	}
	return 0;
}

static const struct reason *find_reason(const struct reasons *reasons, uint64_t code)
{
	for (size_t i = 0; i < reasons->nr; i++) {
		if (reasons->list[i].code == code)
			return &reasons->list[i];
	}
	return NULL;
}

/* A reason's name, with what its flags say; else the code in hex. Returns whether it means idle. */
static bool write_reason(char *buf, size_t size, const struct split *split,
			 const struct reasons *reasons, uint64_t code)
{
	const struct reason *reason = find_reason(reasons, code);
	uint64_t flags = 0;

	/* All ones are one number, however wide the kernel's field is. */
	if (!reason && code == UINT64_MAX)
		reason = find_reason(reasons, UINT32_MAX);
	if (!reason && split) {
		reason = find_reason(reasons, code & split->mask);
		flags = code & ~split->mask;
	}
	if (!reason)
		snprintf(buf, size, "0x%" PRIx64, code);
	else if (flags == FAILED_VMENTRY)
		snprintf(buf, size, "%s FAILED_VMENTRY", reason->name);
	else if (flags)
		snprintf(buf, size, "%s 0x%" PRIx64, reason->name, flags);
	else
		snprintf(buf, size, "%s", reason->name);
	return reason && reason->flags & REASON_IDLE;
}

static bool write_code(char *buf, size_t size, const struct exits_names *names,
		       const struct exits_code *code)
{
	if (!code->is_used)
		snprintf(buf, size, "other");
	else if (code->kind == EXITS_USERSPACE && code->code == EXITS_RESTART)
		snprintf(buf, size, "restart");
	else if (code->kind == EXITS_USERSPACE && code->code == EXITS_ERROR)
		snprintf(buf, size, "error");
	else
		return write_reason(buf, size, names->splits[code->kind],
				    &names->reasons[code->kind], code->code);
	return false;
}

uint32_t exits_names_cell(struct exits_names *names, const struct exits_code *code)
{
	struct name_key key = { .code = *code };
	const struct name *known = find_name(names, &key);
	char reason[NAME_SIZE / 2], name[NAME_SIZE];
	struct field spec = {
		.name = name,
		.label = reason,
		.parent = names->parents[code->kind],
		.use = USE_EXIT,
		.exit_rank = (uint8_t)(code->kind + 1),
	};
	uint32_t field;

	if (known)
		return known->field;
	spec.is_idle = write_code(reason, sizeof(reason), names, code);
	snprintf(name, sizeof(name), "%s(%s)", kind_names[code->kind], reason);
	if (add_field(names, &spec, &field) < 0 || keep_name(names, &key, field) < 0)
		return FIELD_NONE;
	return field;
}

uint32_t exits_names_argument(struct exits_names *names, const struct exits_argument_key *key,
			      const struct exits_code *code)
{
	const struct argument *argument = argument_at(key->kind);
	struct name_key name_key = { .argument = *key };
	char reason[NAME_SIZE / 2], label[ARGUMENT_TEXT], name[NAME_SIZE];
	const struct name *known;
	struct field spec = {
		.name = name,
		.label = label,
		.parent = names->arguments[key->kind],
		.use = USE_ARGUMENT,
		.reason = FIELD_NONE,
	};
	uint32_t field;

	if (code)
		name_key.code = *code;
	name_key.argument.thread = 0;
	name_key.argument.cell = 0;
	known = find_name(names, &name_key);
	if (known)
		return known->field;
	snprintf(reason, sizeof(reason), "%s", argument->what);
	if (code) {
		write_code(reason, sizeof(reason), names, code);
		spec.reason = exits_names_cell(names, code);
	}
	argument->format(label, sizeof(label), key->a, key->b, key->c);
	snprintf(name, sizeof(name), "%s(%s %s)", argument->name, reason, label);
	if (add_field(names, &spec, &field) < 0 || keep_name(names, &name_key, field) < 0)
		return FIELD_NONE;
	return field;
}
