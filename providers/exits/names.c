// SPDX-License-Identifier: GPL-2.0-or-later
/* Names for the codes and arguments that the BPF program counted. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/argument.h"
#include "lib/array.h"
#include "lib/hash.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include "core/facts/shared_fields.h"
#include "providers/exits/program.h"
#include "providers/exits/threads.h"
#include "providers/providers.h"

#define NAME_SIZE 192
#define ARGUMENTS_MAX 16384 /* that have a name: a field stays for the whole run */

/* A code of a kind, or an argument with the code of its exit; unused members are 0. */
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
	struct provider_args args;
	const struct split *splits[EXITS_REASONS]; /* by enum exit_kind; NULL: none */
	struct reasons reasons[EXITS_REASONS];
	struct exit_fields fields;
	struct name *names;
	uint32_t nr_arguments; /* of names */
};

/* The reasons that have a name, in the kernel's spelling where it has one. */
static void read_reasons(struct exits_names *names, enum exit_kind kind)
{
	if (!names->splits[kind])
		return;
	trace_reasons(names->args.env, names->splits[kind], &names->reasons[kind]);
	for (size_t i = 0; i < names->reasons[kind].nr; i++)
		exits_names_cell(names, &(struct exits_code){
				 names->reasons[kind].list[i].code, kind, 1, 0 });
}

/* The first of an argument's events that this kernel has; NULL: it has none. */
static const char *find_event(const struct env *env, const struct argument *argument)
{
	for (size_t i = 0; i < ARGUMENT_EVENTS && argument->events[i].event; i++) {
		const struct argument_event *event = &argument->events[i];

		if (trace_event_exists(env, event->system, event->event))
			return event->event;
	}
	return NULL;
}

static struct exit_events find_events(const struct env *env, const struct split *exit)
{
	struct exit_events events = { .names = { exit ? exit->event : NULL } };

	for (unsigned int kind = EXITS_FIRST_ARGUMENT; kind < EXITS_KINDS; kind++)
		events.names[kind] = find_event(env, argument_of((enum exit_kind)kind));
	return events;
}

struct exits_names *exits_names_new(const struct provider_args *args, const struct split *exit,
				    unsigned int parts)
{
	const struct exit_events events = find_events(args->env, exit);
	struct exits_names *names = xcalloc(1, sizeof(*names));

	names->args = *args;
	names->splits[EXITS_VMEXIT] = exit;
	names->splits[EXITS_USERSPACE] = &arch_userspace_split;
	exit_fields_add(args->fields, args->source, &events, parts, &names->fields);
	read_reasons(names, EXITS_VMEXIT);
	read_reasons(names, EXITS_USERSPACE);
	return names;
}

void exits_names_free(struct exits_names *names)
{
	if (!names)
		return;
	hash_free(names->names, free);
	for (size_t i = 0; i < ARRAY_SIZE(names->reasons); i++)
		reasons_release(&names->reasons[i]);
	free(names);
}

const struct exit_fields *exits_names_fields(const struct exits_names *names)
{
	return &names->fields;
}

void exits_names_add_part(struct exits_names *names, enum time_part part)
{
	exit_fields_add_part(&names->fields, part);
}

static struct name *find_name(const struct exits_names *names, const struct name_key *key)
{
	struct name *name;

	HASH_FIND(hh, names->names, key, sizeof(*key), name);
	return name;
}

static void keep_name(struct exits_names *names, const struct name_key *key, uint32_t field)
{
	struct name *name = xcalloc(1, sizeof(*name));

	name->key = *key;
	name->field = field;
	hash_add(names->names, key, name);
}

static const struct reason *write_code(char *buf, size_t size, const struct exits_names *names,
				       const struct exits_code *code)
{
	const char *failure = code->kind == EXITS_USERSPACE ? exit_fields_failure(code->code) :
							       NULL;
	const struct reason *reason = NULL;

	if (!code->is_used) {
		snprintf(buf, size, "other");
	} else if (failure) {
		snprintf(buf, size, "%s", failure);
	} else {
		reason = reasons_find(&names->reasons[code->kind], names->splits[code->kind],
				      code->code);
		reason_write(reason, code->code, buf, size);
	}
	if (code->is_nested)
		name_add(buf, size, "%s", EXIT_FIELDS_L2);
	return reason;
}

unsigned int exits_names_flags(const struct exits_names *names, const struct exits_code *code)
{
	const struct reason *reason = NULL;
	char name[NAME_SIZE / 2];

	if (code->is_used && code->kind == EXITS_VMEXIT)
		reason = write_code(name, sizeof(name), names, code);
	return reason ? reason->flags : 0;
}

uint32_t exits_names_cell(struct exits_names *names, const struct exits_code *code)
{
	struct name_key key = { .code = *code };
	const struct name *known = find_name(names, &key);
	const struct reason *known_reason;
	char reason[NAME_SIZE / 2];
	uint32_t field;

	if (known)
		return known->field;
	known_reason = write_code(reason, sizeof(reason), names, code);
	field = exit_fields_reason(&names->fields, (enum exit_kind)code->kind, reason,
				   known_reason && !code->is_nested ? known_reason->alias : NULL,
				   known_reason && known_reason->flags & REASON_IDLE);
	keep_name(names, &key, field);
	return field;
}

uint32_t exits_names_part(struct exits_names *names, const struct exits_code *code,
			  enum exit_part part)
{
	return exit_fields_exit_part(&names->fields, (enum exit_kind)code->kind,
				     exits_names_cell(names, code), part);
}

static uint32_t add_argument(struct exits_names *names, const struct name_key *key,
			     const struct exits_code *code)
{
	const struct argument *argument = argument_of((enum exit_kind)key->argument.kind);
	char reason[NAME_SIZE / 2] = "", label[ARGUMENT_TEXT] = "other";
	uint32_t field, reason_field = FIELD_NONE;

	if (code) {
		write_code(reason, sizeof(reason), names, code);
		reason_field = exits_names_cell(names, code);
	}
	if (!key->argument.is_rest)
		argument->format(label, sizeof(label), key->argument.a, key->argument.b,
				 key->argument.c);
	field = exit_fields_argument(&names->fields, (enum exit_kind)key->argument.kind,
				     code ? reason : NULL, reason_field, label);
	keep_name(names, key, field);
	names->nr_arguments++;
	return field;
}

uint32_t exits_names_rest(struct exits_names *names, const struct exits_argument_key *key,
			  const struct exits_code *code)
{
	struct name_key rest = { .argument = { .kind = key->kind, .is_rest = 1 } };
	const struct name *known;

	if (code)
		rest.code = *code;
	known = find_name(names, &rest);
	return known ? known->field : add_argument(names, &rest, code);
}

uint32_t exits_names_argument(struct exits_names *names, const struct exits_argument_key *key,
			      const struct exits_code *code, bool may_add)
{
	struct name_key name_key = { .argument = *key };
	const struct name *known;

	if (key->is_rest)
		return exits_names_rest(names, key, code);
	if (code)
		name_key.code = *code;
	name_key.argument.thread = 0;
	name_key.argument.cell = 0;
	name_key.argument.epoch = 0;
	known = find_name(names, &name_key);
	if (known)
		return known->field;
	if (!may_add || names->nr_arguments >= ARGUMENTS_MAX)
		return exits_names_rest(names, key, code);
	return add_argument(names, &name_key, code);
}
