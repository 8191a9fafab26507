// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads DIR/kvmtop/counters, exits and host, sample by sample, and makes rows of them. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/argument.h"
#include "lib/array.h"
#include "lib/file.h"
#include "lib/xalloc.h"
#include "core/facts/shared_fields.h"
#include "providers/playback/captured.h"
#include "providers/playback/rows.h"
#include "providers/providers.h"
#include "providers/tracepoint/engine.h"

#define COUNTERS_PATH "/kvmtop/counters"
#define EXITS_PATH "/kvmtop/exits"
#define HOST_PATH "/kvmtop/host"
#define TEXT_MAX ((size_t)256 << 20)
#define NAME_SIZE 192

struct value {
	uint64_t count;
	struct timing timing;
};

/*
 * What was counted of a field on the whole machine (tid 0), in a thread, or of a host CPU (tid -1
 * for CPU 0, -2 for CPU 1 ...).
 */
struct count {
	int tid;
	uint32_t field;
	bool is_timed, has_before;
	struct value now, before; /* in the sample at hand, and in the one before it */
};

struct captured;

/* The guest and vCPU of the rows of a thread. False: no such rows are wanted. */
typedef bool (*key_fn)(const struct captured *captured, const struct want *want, int tid,
		       struct key *ret_key);

struct captured {
	struct provider_args args;
	key_fn key_of;
	const struct want *want; /* the latest */
	bool has_played;	 /* a sample since then */
	char *text;	  /* the file; NULL: there is none, and so nothing was counted */
	const char *next; /* where its next sample begins */
	uint64_t time_ns, step_ns;
	struct count *counts;
	size_t nr_counts, room_counts;
	struct played_rows rows;
};

static void captured_close(void *state)
{
	struct captured *captured = state;

	if (!captured)
		return;
	played_rows_release(&captured->rows);
	free(captured->counts);
	free(captured->text);
	free(captured);
}

/* ---- lines */

static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return line + (*line == '\n');
}

static bool is_sample(const char *line)
{
	return strncmp(line, "sample ", 7) == 0;
}

/*
 * The name that a line begins with: up to its last bracket, or where it has none, to its first
 * blank. Returns the length; 0: there is no name, or no number after it.
 */
static size_t take_name(const char *line, char *ret_name)
{
	size_t len = strcspn(line, "\n");
	const char *end = memrchr(line, ')', len);

	len = end ? (size_t)(end - line) + 1 : strcspn(line, " \n");
	if (len >= NAME_SIZE || line[len] != ' ')
		return 0;
	memcpy(ret_name, line, len);
	ret_name[len] = '\0';
	return len;
}

/* A number of this line; at its end, 0. */
static uint64_t take_number(const char **at)
{
	char *end;
	uint64_t number;

	*at += strspn(*at, " ");
	if (**at == '\n')
		return 0;
	number = strtoull(*at, &end, 10);
	*at = end;
	return number;
}

#define OPEN " open:"

/* "open:NS BUCKET:COUNT ..."; of either there may be none. */
static void take_rest(const char *at, struct timing *timing)
{
	if (strncmp(at, OPEN, strlen(OPEN)) == 0) {
		at += strlen(OPEN);
		timing->open_ns = take_number(&at);
	}
	while (*at == ' ') {
		uint64_t bucket = take_number(&at), count;

		if (*at++ != ':')
			return;
		count = take_number(&at);
		if (bucket < HIST_BUCKETS)
			timing->hist[bucket] = (uint32_t)count;
	}
}

/* "COUNT", or "COUNT TIME_NS MAX_NS open:NS BUCKET:COUNT ..." */
static void take_value(const char *at, struct count *count)
{
	struct value *value = &count->now;

	*value = (struct value){ .count = take_number(&at) };
	count->is_timed = *at == ' ';
	if (!count->is_timed)
		return;
	value->timing.time_ns = take_number(&at);
	value->timing.max_ns = take_number(&at);
	take_rest(at, &value->timing);
}

/* ---- samples */

static bool is_wait(const struct field *field)
{
	return field->use == USE_TIME && field->part == TIME_WAIT;
}

/* The sum of a parent's children; the file has none of these. */
static bool is_sum(const struct field *field)
{
	if (field->parent != FIELD_NONE || field->use == USE_EVENT || field->use == USE_CPU)
		return false;
	if (field->use == USE_HOST)
		return field->part == HOST_THREAD;
	return !is_wait(field);
}

static struct count *get_count(struct captured *captured, int tid, uint32_t field)
{
	struct count *count;

	for (size_t i = 0; i < captured->nr_counts; i++) {
		count = &captured->counts[i];
		if (count->tid == tid && count->field == field)
			return count;
	}
	array_grow(&captured->counts, &captured->room_counts, captured->nr_counts + 1);
	count = &captured->counts[captured->nr_counts++];
	*count = (struct count){ .tid = tid, .field = field };
	return count;
}

static void take_line(struct captured *captured, int tid, const char *line)
{
	char name[NAME_SIZE];
	size_t len = take_name(line, name);
	uint32_t id = len ? fields_find(captured->args.fields, name) : FIELD_NONE;
	const struct field *field = id == FIELD_NONE ? NULL : fields_get(captured->args.fields, id);
	struct count *count;

	if (!field || field->source != captured->args.source || is_sum(field))
		return;
	count = get_count(captured, tid, id);
	take_value(line + len, count);
	if (!count->has_before || field->kind != FIELD_COUNTER)
		count->before = count->now;
	count->has_before = true;
}

static uint64_t go_on(uint64_t before, uint64_t now)
{
	return now > before ? now + (now - before) : now;
}

/* Plays the latest interval once more. */
static void repeat(struct captured *captured)
{
	captured->time_ns += captured->step_ns;
	for (size_t i = 0; i < captured->nr_counts; i++) {
		struct count *count = &captured->counts[i];
		struct value before = count->before, *now = &count->now;

		count->before = *now;
		now->count = go_on(before.count, now->count);
		now->timing.time_ns = go_on(before.timing.time_ns, now->timing.time_ns);
		now->timing.open_ns = go_on(before.timing.open_ns, now->timing.open_ns);
		for (unsigned int k = 0; k < HIST_BUCKETS; k++)
			now->timing.hist[k] += now->timing.hist[k] - before.timing.hist[k];
	}
}

static void read_sample(struct captured *captured, const char *line)
{
	uint64_t before_ns = captured->time_ns;
	int tid = 0;

	line += strlen("sample");
	captured->time_ns = take_number(&line);
	captured->step_ns = before_ns && captured->time_ns > before_ns ?
				    captured->time_ns - before_ns : 0;
	for (size_t i = 0; i < captured->nr_counts; i++)
		captured->counts[i].before = captured->counts[i].now;
	for (line = next_line(line); *line && !is_sample(line); line = next_line(line)) {
		if (strncmp(line, "thread ", 7) == 0)
			tid = (int)strtol(line + 7, NULL, 10);
		else if (strncmp(line, "host_cpu ", 9) == 0)
			tid = -1 - (int)strtol(line + 9, NULL, 10);
		else
			take_line(captured, tid, line);
	}
	captured->next = line;
}

/* Goes on to the next sample. */
static void advance(struct captured *captured)
{
	const char *line = captured->next;

	while (line && *line && !is_sample(line))
		line = next_line(line);
	if (line && *line)
		read_sample(captured, line);
	else
		repeat(captured);
}

/* ---- rows */

/* A row, and its part of the parent's sum. Waiting is no part of the whole time. */
static void add_rows(struct captured *captured, struct key key, const struct count *count)
{
	const struct field *field = fields_get(captured->args.fields, count->field);
	const struct played_timing timing = { .timing = count->now.timing };
	const struct played_timing *timed = count->is_timed ? &timing : NULL;

	key.field = count->field;
	played_rows_add(&captured->rows, key, count->now.count, timed);
	key.field = field->parent;
	if (field->parent == FIELD_NONE || field->use == USE_EVENT ||
	    (field->use == USE_TIME && !time_adds_up((enum time_part)field->part)))
		return;
	played_rows_add(&captured->rows, key, count->now.count, timed);
}

static int captured_want(void *state, const struct want *want, struct error *why)
{
	struct captured *captured = state;

	(void)why;
	captured->want = want;
	captured->has_played = false;
	return 0;
}

/* The first sample of a want has no interval; a later one counts the whole interval before it. */
static int captured_collect(void *state, struct sample *sample, struct error *why)
{
	struct captured *captured = state;
	const struct want *want = captured->want;
	uint32_t flags = ROW_FROM_ZERO | (captured->has_played ? ROW_WHOLE_INTERVAL : 0);
	struct key key = { 0 };
	bool has_key = false;

	(void)why;
	advance(captured);
	captured->has_played = true;
	played_rows_reset(&captured->rows);
	for (size_t i = 0; i < captured->nr_counts; i++) {
		const struct count *count = &captured->counts[i];

		if (i == 0 || count->tid != count[-1].tid)
			has_key = captured->key_of(captured, want, count->tid, &key);
		if (has_key)
			add_rows(captured, key, count);
	}
	played_rows_join(&captured->rows, captured->args.fields);
	sample->time_ns[captured->args.source] = captured->time_ns;
	played_rows_sample(&captured->rows, &want->fields, flags, sample);
	return 0;
}

static int captured_new(const struct provider_args *args, const char *name, key_fn key_of,
			struct captured **ret_captured, struct error *why)
{
	struct captured *captured = xcalloc(1, sizeof(*captured));
	char path[PATH_MAX];
	size_t size;
	int err;

	captured->args = *args;
	captured->key_of = key_of;
	env_path(args->env, path, sizeof(path), "%s", name);
	err = read_whole(path, TEXT_MAX, &captured->text, &size);
	if (err && err != -ENOENT) {
		captured_close(captured);
		return error_set(why, err, "cannot read %s: %s", path, strerror(-err));
	}
	captured->next = captured->text;
	*ret_captured = captured;
	return 0;
}

/* ---- events */

static const struct guest *find_guest(const struct captured *captured, int tid)
{
	const struct guest *guest;
	char path[PATH_MAX];

	for (size_t i = 0; (guest = guests_at(captured->args.guests, i)); i++) {
		env_path(captured->args.env, path, sizeof(path), "/proc/%d/task/%d",
			 (int)guest->pid, tid);
		if (guest_vcpu_by_tid(guest, tid) || path_exists(path))
			break;
	}
	return guest;
}

static bool event_key(const struct captured *captured, const struct want *want, int tid,
		      struct key *ret_key)
{
	const struct guest *guest;

	*ret_key = (struct key){ GUEST_ANY, -1, FIELD_NONE };
	if (want->scope == WANT_HOST || !tid)
		return want->scope == WANT_HOST && !tid;
	guest = find_guest(captured, tid);
	if (guest)
		ret_key->guest = guest->id;
	return guest && (want->scope == WANT_EACH || want->guest == guest->id);
}

/* The fields stay in the dictionary; what a live engine would count is not needed. */
static int events_open(const struct provider_args *args, void **ret_state, struct error *why)
{
	struct tracepoint_events events;
	struct captured *captured;
	int err = trace_check(args->env, why);

	if (!err)
		err = tracepoint_events_find(&events, args, why);
	if (err)
		return err;
	tracepoint_events_release(&events);
	err = captured_new(args, COUNTERS_PATH, event_key, &captured, why);
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

/* The reason of this name in the architecture's tables; NULL: none has it. */
static const struct reason *known_reason(const struct env *env, const char *name)
{
	const struct split *split = env->arch->splits;

	for (; split && split->event; split++) {
		for (size_t i = 0; i < split->nr_reasons; i++) {
			if (strcmp(split->reasons[i].name, name) == 0)
				return &split->reasons[i];
		}
	}
	return NULL;
}

/* The field of the reason that an argument came with; FIELD_NONE: the file has not named it. */
static uint32_t find_reason(const struct fields *fields, const char *reason)
{
	uint32_t field = FIELD_NONE;

	for (int kind = 0; kind < EXITS_REASONS && field == FIELD_NONE; kind++) {
		char name[2 * NAME_SIZE];

		snprintf(name, sizeof(name), "%s(%s)", exit_kind_name((enum exit_kind)kind),
			 reason);
		field = fields_find(fields, name);
	}
	return field;
}

/* name: "vmexit(REASON)", or "msr(REASON LABEL)"; others have no field of their own. */
static void add_name(const struct captured *captured, const struct exit_fields *fields, char *name)
{
	char *inner = strchr(name, '('), *end = name + strlen(name) - 1, *label;
	const struct reason *known;
	enum exit_kind kind;

	if (!inner || *end != ')' || inner + 1 == end)
		return;
	*inner++ = '\0';
	*end = '\0';
	label = strchr(inner, ' ');
	if (exit_kind_by_name(name, &kind, NULL) < 0 || (kind >= EXITS_FIRST_ARGUMENT && !label))
		return;
	if (kind < EXITS_FIRST_ARGUMENT) {
		known = known_reason(captured->args.env, inner);
		exit_fields_reason(fields, kind, inner, known ? known->alias : NULL,
				   known && known->flags & REASON_IDLE);
		return;
	}
	*label++ = '\0';
	exit_fields_argument(fields, kind, inner, find_reason(fields->fields, inner), label);
}

/* Not every kernel reports the polled time of halts, and not every guest has an L2. */
static unsigned int captured_parts(const struct captured *captured)
{
	unsigned int parts = EXIT_FIELDS_PARTS | 1U << TIME_L2;

	for (enum time_part part = TIME_POLL; part <= TIME_L2; part++) {
		if (!captured->text || !strstr(captured->text, exit_fields_part(part)))
			parts &= ~(1U << part);
	}
	return parts;
}

/* Adds a field for each name in the file. Reasons come before their arguments there. */
static void add_exit_fields(const struct captured *captured)
{
	const struct provider_args *args = &captured->args;
	const struct split *exit = args->env->arch->splits;
	const struct exit_events events = { .names = { exit ? exit->event : NULL } };
	struct exit_fields fields;

	exit_fields_add(args->fields, args->source, &events, captured_parts(captured),
			&fields);
	for (const char *line = captured->text; line && *line; line = next_line(line)) {
		char name[NAME_SIZE];

		if (take_name(line, name))
			add_name(captured, &fields, name);
	}
}

static int exits_open(const struct provider_args *args, void **ret_state, struct error *why)
{
	struct captured *captured;
	char path[PATH_MAX];
	int err;

	if (!path_exists(env_path(args->env, path, sizeof(path), EXITS_PATH)))
		return error_set(why, -ENODATA, "no exits were captured: there is no %s", path);
	err = captured_new(args, EXITS_PATH, exit_key, &captured, why);
	if (err)
		return err;
	add_exit_fields(captured);
	*ret_state = captured;
	return 0;
}

static int exits_collect(void *state, struct sample *sample, struct error *why)
{
	const struct captured *captured = state;

	if (captured->want->longer_ns)
		sample->long_exits.none = LONG_EXITS_ELSEWHERE;
	return captured_collect(state, sample, why);
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
	*ret_key = (struct key){ GUEST_ANY, -1 - tid, FIELD_NONE };
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
	char *inner = strchr(name, '('), *end = name + strlen(name) - 1;

	if (!inner || *end != ')')
		return;
	*inner++ = '\0';
	*end = '\0';
	if (strcmp(name, "vmm") == 0)
		host_fields_thread(fields, inner);
}

static void add_host_fields(const struct captured *captured)
{
	struct host_fields fields;

	host_fields_add(captured->args.fields, captured->args.source, &fields);
	if (strstr(captured->text, "thread(remote)"))
		host_fields_add_remote(&fields);
	for (const char *line = captured->text; *line; line = next_line(line)) {
		char name[NAME_SIZE];

		if (take_name(line, name))
			add_host_name(&fields, name);
	}
}

/* Without the file there are no fields, as if there were no such provider. */
static int host_open(const struct provider_args *args, void **ret_state, struct error *why)
{
	struct captured *captured;
	int err = captured_new(args, HOST_PATH, host_key, &captured, why);

	if (err)
		return err;
	if (captured->text)
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
