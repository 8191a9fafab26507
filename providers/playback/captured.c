// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes rows of the samples in DIR/kvmtop/counters, exits and host. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/argument.h"
#include "lib/array.h"
#include "lib/xalloc.h"
#include "core/facts/shared_fields.h"
#include "providers/playback/captured.h"
#include "providers/playback/rows.h"
#include "providers/providers.h"
#include "providers/tracepoint/engine.h"

#define COUNTERS_PATH "/kvmtop/counters"
#define EXITS_PATH "/kvmtop/exits"
#define HOST_PATH "/kvmtop/host"
#define ACCOUNT_PATH "/kvmtop/account"

struct captured;

/* The guest and vCPU of the rows of a thread. False: no such rows are wanted. */
typedef bool (*key_fn)(const struct captured *captured, const struct want *want, int tid,
		       struct key *ret_key);

struct captured {
	struct provider_args args;
	key_fn key_of;
	const struct want *want; /* the latest */
	bool has_played;	 /* a sample since then */
	struct captured_file file;
	struct played_rows rows;
};

static void captured_close(void *state)
{
	struct captured *captured = state;

	if (!captured)
		return;
	played_rows_release(&captured->rows);
	captured_file_release(&captured->file);
	free(captured);
}

/* ---- rows */

/* A row, and its part of the parent's sum. */
static void add_rows(struct captured *captured, struct key key, const struct captured_count *count)
{
	const struct field *field = fields_get(captured->args.fields, count->field);
	const struct timing *timed = count->is_timed ? &count->now.timing : NULL;

	key.field = count->field;
	played_rows_add(&captured->rows, key, count->now.count, timed);
	key.field = field->parent;
	if (field->parent == FIELD_NONE || field->use == USE_EVENT ||
	    (field->use == USE_TIME && !time_adds_up((enum time_part)field->part)))
		return;
	played_rows_add(&captured->rows, key, count->now.count, timed);
}

static int captured_want(void *state, const struct want *want, struct error *error)
{
	struct captured *captured = state;

	(void)error;
	captured->want = want;
	captured->has_played = false;
	return 0;
}

/* The first sample of a want has no interval; a later one counts the whole interval before it. */
static int captured_collect(void *state, struct sample *sample, struct error *error)
{
	struct captured *captured = state;
	const struct want *want = captured->want;
	uint32_t flags = ROW_FROM_ZERO | (captured->has_played ? ROW_WHOLE_INTERVAL : 0);
	struct key key = { 0 };
	bool has_key = false;

	(void)error;
	captured_file_advance(&captured->file);
	captured->has_played = true;
	played_rows_reset(&captured->rows);
	for (size_t i = 0; i < captured->file.nr_counts; i++) {
		const struct captured_count *count = &captured->file.counts[i];

		if (i == 0 || count->tid != count[-1].tid)
			has_key = captured->key_of(captured, want, count->tid, &key);
		if (has_key)
			add_rows(captured, key, count);
	}
	played_rows_join(&captured->rows, captured->args.fields);
	sample->time_ns[captured->args.source] = captured->file.time_ns;
	played_rows_sample(&captured->rows, &want->fields, flags, sample);
	return 0;
}

static int check_file(const struct provider_args *args, const char *name, const char *what,
		      struct error *error)
{
	return env_has(args->env, "%s", name) ? 0 :
		error_set(error, -ENODATA, "no %s were captured: there is no %s%s", what,
			  args->env->root, name);
}

static int captured_new(const struct provider_args *args, const char *name, key_fn key_of,
			struct captured **ret_captured, struct error *error)
{
	struct captured *captured = xcalloc(1, sizeof(*captured));
	int err;

	captured->args = *args;
	captured->key_of = key_of;
	err = captured_file_read(&captured->file, &captured->args, name, error);
	if (err)
		captured_close(captured);
	else
		*ret_captured = captured;
	return err;
}

/* ---- events */

static const struct guest *find_guest(const struct captured *captured, int tid)
{
	const struct guest *guest;

	for (size_t i = 0; (guest = guests_at(captured->args.guests, i)); i++) {
		if (guest_vcpu_by_tid(guest, tid) ||
		    env_has(captured->args.env, "/proc/%d/task/%d", (int)guest->pid, tid))
			break;
	}
	return guest;
}

static bool event_key(const struct captured *captured, const struct want *want, int tid,
		      struct key *ret_key)
{
	const struct guest *guest;

	*ret_key = (struct key){ GUEST_NONE, -1, FIELD_NONE };
	if (want->scope == WANT_HOST || !tid)
		return want->scope == WANT_HOST && !tid;
	guest = find_guest(captured, tid);
	if (guest)
		ret_key->guest = guest->id;
	return guest && (want->scope == WANT_EACH || want->guest == guest->id);
}

/* The fields stay in the dictionary; what a live engine would count is not needed. */
static int events_open(const struct provider_args *args, void **ret_state, struct error *error)
{
	struct tracepoint_events events;
	struct captured *captured = NULL;
	int err = trace_check(args->env, error);

	if (!err)
		err = tracepoint_events_find(&events, args, error);
	if (err)
		return err;
	tracepoint_events_release(&events);
	err = captured_new(args, COUNTERS_PATH, event_key, &captured, error);
	if (!err)
		*ret_state = captured;
	return err;
}

const struct provider captured_tracepoint_provider = {
	.name = "tracepoint",
	.open = events_open,
	.want = captured_want,
	.collect = captured_collect,
	.close = captured_close,
};

/* ---- exits */

static bool exit_key(const struct captured *captured, const struct want *want, int tid,
		     struct key *ret_key)
{
	const struct guest *guest = guests_by_pid(captured->args.guests, tid);
	const struct vcpu *vcpu = guest_vcpu_by_tid(guest, tid);

	(void)want;
	if (vcpu)
		*ret_key = (struct key){ guest->id, vcpu->index, FIELD_NONE };
	return vcpu;
}

/* Reads the reasons of VM exits and of exits to user space, if the architecture has reasons. */
static void read_reasons(const struct env *env, struct reasons ret_reasons[EXITS_REASONS])
{
	const struct split *exit = env->arch->splits;

	ret_reasons[EXITS_VMEXIT] = (struct reasons){ .nr = 0 };
	if (exit->event)
		trace_reasons(env, exit, &ret_reasons[EXITS_VMEXIT]);
	trace_reasons(env, &arch_userspace_split, &ret_reasons[EXITS_USERSPACE]);
}

/* The reason of this name; NULL: no such. */
static const struct reason *known_reason(const struct reasons *reasons, const char *name)
{
	for (size_t i = 0; i < reasons->nr; i++) {
		if (strcmp(reasons->list[i].name, name) == 0)
			return &reasons->list[i];
	}
	return NULL;
}

/* The field of the reason that an argument came with; FIELD_NONE: the file has not named it. */
static uint32_t find_reason(const struct fields *fields, const char *reason)
{
	uint32_t field = FIELD_NONE;

	for (int kind = 0; kind < EXITS_REASONS && field == FIELD_NONE; kind++) {
		char name[2 * CAPTURED_NAME];

		snprintf(name, sizeof(name), "%s(%s)", exit_kind_name((enum exit_kind)kind),
			 reason);
		field = fields_find(fields, name);
	}
	return field;
}

/* "vmexit_blocked(REASON)" */
static bool add_part(struct exit_fields *fields, const char *name, const char *reason)
{
	for (int kind = 0; kind < EXITS_REASONS; kind++) {
		const char *exit = exit_kind_name((enum exit_kind)kind);
		size_t len = strlen(exit);
		char of[2 * CAPTURED_NAME];
		uint32_t field;

		snprintf(of, sizeof(of), "%s(%s)", exit, reason);
		field = fields_find(fields->fields, of);
		if (strncmp(name, exit, len) != 0 || name[len] != '_' || field == FIELD_NONE)
			continue;
		for (int part = 0; part < EXIT_PARTS; part++) {
			if (strcmp(name + len + 1, exit_part_name((enum exit_part)part)) != 0)
				continue;
			exit_fields_exit_part(fields, (enum exit_kind)kind, field,
					      (enum exit_part)part);
			return true;
		}
	}
	return false;
}

/* The text in the brackets of a name, which is cut there; NULL: it has none. */
static char *cut_brackets(char *name)
{
	char *inner = strchr(name, '('), *end = name + strlen(name) - 1;

	if (!inner || *end != ')')
		return NULL;
	*inner++ = '\0';
	*end = '\0';
	return inner;
}

/*
 * name: "vmexit(REASON)", "vmexit_idle(REASON)", or "msr(REASON LABEL)"; others have no field of
 * their own.
 */
static void add_name(struct exit_fields *fields, const struct reasons *reasons, char *name)
{
	char *inner = cut_brackets(name), *label;
	const struct reason *known;
	enum exit_kind kind;

	if (!inner || !*inner)
		return;
	label = strchr(inner, ' ');
	if (add_part(fields, name, inner))
		return;
	if (exit_kind_by_name(name, &kind, NULL) < 0 || (kind >= EXITS_FIRST_ARGUMENT && !label))
		return;
	if (kind < EXITS_FIRST_ARGUMENT) {
		known = known_reason(&reasons[kind], inner);
		exit_fields_reason(fields, kind, inner, known ? known->alias : NULL,
				   known && known->flags & REASON_IDLE);
		return;
	}
	*label++ = '\0';
	exit_fields_argument(fields, kind, inner, find_reason(fields->fields, inner), label);
}

/* Not every kernel shows the other parts, and not every guest has an L2. */
static unsigned int captured_parts(const struct captured *captured)
{
	unsigned int parts = EXIT_FIELDS_PARTS | 1U << TIME_L2;

	for (enum time_part part = TIME_WAIT; part < TIME_PARTS; part++) {
		if (!captured->file.text || !strstr(captured->file.text, exit_fields_part(part)))
			parts &= ~(1U << part);
	}
	return parts;
}

/* Adds a field for each name in the file. Reasons come before their arguments there. */
static void add_exit_fields(const struct captured *captured)
{
	const struct provider_args *args = &captured->args;
	const struct split *exit = args->env->arch->splits;
	const struct exit_events events = { .names = { exit->event } };
	const char *line = captured->file.text;
	struct reasons reasons[EXITS_REASONS];
	struct exit_fields fields;
	char name[CAPTURED_NAME];

	exit_fields_add(args->fields, args->source, &events, captured_parts(captured),
			&fields);
	read_reasons(args->env, reasons);
	while (captured_name_next(&line, name))
		add_name(&fields, reasons, name);
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		reasons_release(&reasons[i]);
}

static int exits_open(const struct provider_args *args, void **ret_state, struct error *error)
{
	struct captured *captured = NULL;
	int err = check_file(args, EXITS_PATH, "exits", error);

	if (!err)
		err = captured_new(args, EXITS_PATH, exit_key, &captured, error);
	if (err)
		return err;
	add_exit_fields(captured);
	*ret_state = captured;
	return 0;
}

static int exits_collect(void *state, struct sample *sample, struct error *error)
{
	const struct captured *captured = state;

	if (captured->want->longer_ns)
		sample->long_exits.none = LONG_EXITS_ELSEWHERE;
	return captured_collect(state, sample, error);
}

const struct provider captured_exits_provider = {
	.name = "exits",
	.is_always_by_guest = true,
	.is_of_exits = true,
	.open = exits_open,
	.want = captured_want,
	.collect = exits_collect,
	.close = captured_close,
};

/* ---- host */

static bool host_key(const struct captured *captured, const struct want *want, int tid,
		     struct key *ret_key)
{
	const struct guest *guest;

	if (tid >= 0 && exit_key(captured, want, tid, ret_key))
		return true;
	*ret_key = (struct key){ GUEST_NONE, -1 - tid, FIELD_NONE };
	if (tid < 0)
		return true;
	guest = guests_by_pid(captured->args.guests, tid);
	if (guest)
		*ret_key = (struct key){ guest->id, -1, FIELD_NONE };
	return guest;
}

/* name: "vmm(NAME)"; others are known. */
static void add_host_name(const struct host_fields *fields, char *name)
{
	char *inner = cut_brackets(name);

	if (inner && strcmp(name, "vmm") == 0)
		host_fields_thread(fields, inner);
}

static void add_host_fields(const struct captured *captured)
{
	const char *line = captured->file.text;
	struct host_fields fields;
	char name[CAPTURED_NAME];

	host_fields_add(captured->args.fields, captured->args.source, &fields);
	if (strstr(captured->file.text, "thread(remote)"))
		host_fields_add_rare(&fields, HOST_REMOTE);
	if (strstr(captured->file.text, "memory(swapped)"))
		host_fields_add_rare(&fields, HOST_SWAPPED);
	while (captured_name_next(&line, name))
		add_host_name(&fields, name);
}

/* Without the file there are no fields, as if there were no such provider. */
static int host_open(const struct provider_args *args, void **ret_state, struct error *error)
{
	struct captured *captured = NULL;
	int err = captured_new(args, HOST_PATH, host_key, &captured, error);

	if (err)
		return err;
	if (captured->file.text)
		add_host_fields(captured);
	*ret_state = captured;
	return 0;
}

const struct provider captured_host_provider = {
	.name = "host",
	.is_always_by_guest = true,
	.open = host_open,
	.want = captured_want,
	.collect = captured_collect,
	.close = captured_close,
};

/* ---- account */

/* Parents before their children. */
static void add_counters(const struct captured *captured, bool is_child)
{
	const struct provider_args *args = &captured->args;
	const char *line = captured->file.text;
	char name[CAPTURED_NAME];
	uint32_t field;

	while (captured_name_next(&line, name)) {
		if (strcmp(name, "sample") != 0 && strcmp(name, "thread") != 0 &&
		    kvm_counter_is_child(args->env, name) == is_child)
			kvm_counter_add(args, name, FIELD_COUNTER, EVENT_BY_VCPU, &field);
	}
}

static int account_open(const struct provider_args *args, void **ret_state, struct error *error)
{
	struct captured *captured = NULL;
	int err = check_file(args, ACCOUNT_PATH, "statistics", error);

	if (!err)
		err = captured_new(args, ACCOUNT_PATH, host_key, &captured, error);
	if (err)
		return err;
	add_counters(captured, false);
	add_counters(captured, true);
	*ret_state = captured;
	return 0;
}

const struct provider captured_account_provider = {
	.name = "account",
	.is_always_by_guest = true,
	.instead_of = &debugfs_provider,
	.open = account_open,
	.want = captured_want,
	.collect = captured_collect,
	.close = captured_close,
};
