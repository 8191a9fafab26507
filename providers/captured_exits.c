// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Plays back the exits of a captured machine: --sysroot DIR reads DIR/kvmtop/exits.
 *
 * The file holds samples: a line "sample NANOSECONDS", then a line "thread TID" for each vCPU's
 * thread, and below it what had been counted there since the beginning:
 *
 *	vmexit(hlt) COUNT TIME_NS MAX_NS BUCKET:COUNT ...
 *	userspace(IO) ...		the same for exits to user space
 *	msr(msr 0x6e0 IA32_TSC_DEADLINE) ...	for what exits were about: the reason, then the rest
 *	time(guest) NS			and kvm, user, halt, wait
 *	cpu NUMBER			where its latest exit was
 *
 * The sums ("vmexit", "time") are left out, and so may be what did not change. Each read plays the
 * next sample; after the last one its interval is played again and again.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "facts/exit_fields.h"
#include "providers/captured_exits.h"

#define NAME_SIZE 192
#define CPU_NAME "cpu"

/* What a thread had counted of a field, and how much of it is new in this sample. */
struct tally {
	int tid;
	uint32_t field, parent;
	uint64_t count, count_step;
	struct timing timing, step;
	bool is_there, is_timed;
};

struct captured {
	struct provider_site site;
	struct field_set wanted;
	struct tally *tallies; /* those of a thread follow each other */
	size_t nr_tallies;
	uint64_t time_ns, step_ns;
	uint32_t flags; /* of the next sample's rows */
	char *text, *next; /* the file, and where its next sample begins */
};

static char *read_whole(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;

	if (!file)
		return NULL;
	if (getdelim(&text, &size, '\0', file) < 0) {
		free(text);
		text = NULL;
	}
	fclose(file);
	return text;
}

int exits_captured_probe(const struct env *env, struct why *why)
{
	char path[PATH_MAX];
	FILE *file = fopen(env_path(env, path, sizeof(path), "/kvmtop/exits"), "re");

	if (!file)
		return why_set(why, -ENODATA, "no exits were captured: there is no %s", path);
	fclose(file);
	return 0;
}

/* ---- names */

static int add_field(const struct captured *captured, const struct field *spec, uint32_t *ret_id)
{
	struct field field = *spec;

	field.source = captured->site.source;
	return fields_add(captured->site.fields, &field, ret_id);
}

static bool is_idle(const struct captured *captured, const char *reason, size_t len)
{
	const struct split *split = captured->site.env->arch->splits;

	for (; split && split->event; split++) {
		for (size_t i = 0; i < split->nr_reasons; i++) {
			const struct reason *known = &split->reasons[i];

			if (known->flags & REASON_IDLE && strlen(known->name) == len &&
			    strncmp(known->name, reason, len) == 0)
				return true;
		}
	}
	return false;
}

/* "msr(MSR_WRITE 0x6e0)": what comes behind the reason is the label. */
static void describe_argument(const struct captured *captured, struct field *spec)
{
	const char *reason = strchr(spec->name, '(') + 1, *blank = strchr(reason, ' ');
	char name[NAME_SIZE];
	int len = blank ? (int)(blank - reason) : 0;

	spec->reason = FIELD_NONE;
	if (!blank)
		return;
	snprintf(name, sizeof(name), "vmexit(%.*s)", len, reason);
	spec->reason = fields_find(captured->site.fields, name);
	if (spec->reason == FIELD_NONE) {
		snprintf(name, sizeof(name), "userspace(%.*s)", len, reason);
		spec->reason = fields_find(captured->site.fields, name);
	}
	spec->label = blank + 1;
}

/* Its strings are the caller's to keep for as long as the spec. Returns false: no such thing. */
static bool describe(const struct captured *captured, const char *name, struct field *ret_spec,
		     char *label, size_t size)
{
	size_t len = strcspn(name, "("), inner = strlen(name) - len;
	struct field spec = { .name = name };
	char parent[NAME_SIZE];

	if (inner < 3 || len >= sizeof(parent))
		return false;
	snprintf(parent, sizeof(parent), "%.*s", (int)len, name);
	spec.parent = fields_find(captured->site.fields, parent);
	if (spec.parent == FIELD_NONE)
		return false;
	spec.use = fields_get(captured->site.fields, spec.parent)->use;
	spec.is_idle = spec.use == USE_EXIT && is_idle(captured, name + len + 1, inner - 2);
	for (int i = 1; spec.use == USE_TIME && i < TIME_PARTS; i++) {
		if (strcmp(name, exit_fields_part((enum time_part)i)) == 0)
			spec.part = (enum time_part)i;
	}
	if (spec.use == USE_TIME && spec.part == TIME_WHOLE)
		return false;
	if (spec.use == USE_ARGUMENT) {
		describe_argument(captured, &spec);
		snprintf(label, size, "%s", spec.label ? spec.label : "");
		if (label[0])
			label[strlen(label) - 1] = '\0'; /* the bracket */
		spec.label = label[0] ? label : NULL;
	}
	*ret_spec = spec;
	return true;
}

/*
 * The name at the beginning of a line: but for "cpu" it ends with its last bracket. Returns its
 * length; 0: none.
 */
static size_t take_name(const char *line, size_t len, char *ret_name)
{
	const char *end = memrchr(line, ')', len);
	size_t size = end ? (size_t)(end - line) + 1 : 0;

	if (strncmp(line, CPU_NAME " ", sizeof(CPU_NAME)) == 0)
		size = sizeof(CPU_NAME) - 1;
	if (!size || size >= NAME_SIZE)
		return 0;
	memcpy(ret_name, line, size);
	ret_name[size] = '\0';
	return size;
}

/* Everything in the file has a name from the beginning on: reasons first, for their arguments. */
static int add_names(const struct captured *captured, bool is_arguments)
{
	char name[NAME_SIZE], label[NAME_SIZE];
	struct field spec;
	uint32_t id;
	int err = 0;

	for (const char *line = captured->text; !err && line && *line;) {
		size_t len = strcspn(line, "\n");

		if (take_name(line, len, name) &&
		    describe(captured, name, &spec, label, sizeof(label)) &&
		    (spec.use == USE_ARGUMENT) == is_arguments)
			err = add_field(captured, &spec, &id);
		line += len + (line[len] == '\n');
	}
	return err;
}

/* ---- samples */

static struct tally *get_tally(struct captured *captured, int tid, uint32_t field)
{
	size_t nr = captured->nr_tallies;
	struct tally *tallies;

	for (size_t i = 0; i < nr; i++) {
		if (captured->tallies[i].tid == tid && captured->tallies[i].field == field)
			return &captured->tallies[i];
	}
	tallies = reallocarray(captured->tallies, nr + 1, sizeof(*tallies));
	if (!tallies)
		return NULL;
	captured->tallies = tallies;
	tallies[nr] = (struct tally){
		.tid = tid,
		.field = field,
		.parent = fields_get(captured->site.fields, field)->parent,
	};
	captured->nr_tallies++;
	return &tallies[nr];
}

/* "BUCKET:COUNT ..." up to the end of the line. */
static void take_buckets(struct timing *timing, char *at)
{
	while (*at == ' ') {
		unsigned long bucket = strtoul(at, &at, 10);
		uint32_t count;

		if (*at != ':')
			return;
		count = (uint32_t)strtoull(at + 1, &at, 10);
		if (bucket < HIST_BUCKETS)
			timing->hist[bucket] = count;
	}
}

static void set_step(struct tally *tally, const struct tally *before)
{
	if (!before->is_there || tally->parent == FIELD_NONE)
		return;
	tally->count_step = tally->count - before->count;
	tally->step.time_ns = tally->timing.time_ns - before->timing.time_ns;
	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		tally->step.hist[i] = tally->timing.hist[i] - before->timing.hist[i];
}

/* numbers: what follows the name, its end at a NUL or newline. */
static void take_numbers(struct tally *tally, char *numbers)
{
	struct tally before = *tally;
	char *at;

	tally->count = strtoull(numbers, &at, 10);
	tally->is_timed = *at == ' ';
	if (tally->is_timed) {
		memset(&tally->timing, 0, sizeof(tally->timing));
		tally->timing.time_ns = strtoull(at, &at, 10);
		tally->timing.max_ns = strtoull(at, &at, 10);
		take_buckets(&tally->timing, at);
	}
	set_step(tally, &before);
	tally->is_there = true;
}

static int take_line(struct captured *captured, int tid, char *line, size_t len)
{
	struct tally *tally;
	char name[NAME_SIZE], end = line[len];
	size_t name_len = take_name(line, len, name);
	uint32_t field = name_len ? fields_find(captured->site.fields, name) : FIELD_NONE;

	/* Names that another provider has are not ours. */
	if (field == FIELD_NONE ||
	    fields_get(captured->site.fields, field)->source != captured->site.source)
		return 0;
	tally = get_tally(captured, tid, field);
	if (!tally)
		return -ENOMEM;
	line[len] = '\0';
	take_numbers(tally, line + name_len);
	line[len] = end;
	return 0;
}

static void begin_sample(struct captured *captured, uint64_t time_ns)
{
	uint64_t before_ns = captured->time_ns;

	captured->step_ns = before_ns && time_ns > before_ns ? time_ns - before_ns : 0;
	captured->time_ns = time_ns;
	for (size_t i = 0; i < captured->nr_tallies; i++) {
		captured->tallies[i].count_step = 0;
		captured->tallies[i].step = (struct timing){ 0 };
	}
}

static int take_lines(struct captured *captured)
{
	char *line = captured->next;
	int tid = 0, err = 0;

	while (!err && *line && strncmp(line, "sample ", 7) != 0) {
		size_t len = strcspn(line, "\n");

		if (strncmp(line, "thread ", 7) == 0)
			tid = atoi(line + 7);
		else
			err = take_line(captured, tid, line, len);
		line += len + (line[len] == '\n');
	}
	captured->next = line;
	return err;
}

static void repeat(struct captured *captured)
{
	captured->time_ns += captured->step_ns;
	for (size_t i = 0; i < captured->nr_tallies; i++) {
		struct tally *tally = &captured->tallies[i];

		tally->count += tally->count_step;
		tally->timing.time_ns += tally->step.time_ns;
		for (unsigned int k = 0; k < HIST_BUCKETS; k++)
			tally->timing.hist[k] += tally->step.hist[k];
	}
}

static int advance(struct captured *captured)
{
	char *line = captured->next;

	while (line && *line && strncmp(line, "sample ", 7) != 0) {
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	if (!line || !*line) {
		repeat(captured);
		return 0;
	}
	begin_sample(captured, strtoull(line + 7, NULL, 10));
	captured->next = line + strcspn(line, "\n");
	captured->next += *captured->next == '\n';
	return take_lines(captured);
}

/* ---- rows */

static bool find_vcpu(const struct captured *captured, int tid, struct key *ret_key)
{
	const struct guest *guest = guests_by_pid(captured->site.guests, tid);

	for (size_t i = 0; guest && i < guest->nr_vcpus; i++) {
		if (guest->vcpus[i].tid != tid)
			continue;
		ret_key->guest = guest->id;
		ret_key->vcpu = guest->vcpus[i].index;
		return true;
	}
	return false;
}

static void join(struct tally *sum, const struct tally *part)
{
	sum->count += part->count;
	sum->is_timed |= part->is_timed;
	sum->timing.time_ns += part->timing.time_ns;
	if (part->timing.max_ns > sum->timing.max_ns)
		sum->timing.max_ns = part->timing.max_ns;
	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		sum->timing.hist[i] += part->timing.hist[i];
}

static int add_row(const struct captured *captured, struct key key, const struct tally *tally,
		   struct sample *sample)
{
	key.field = tally->field;
	if (!field_set_has(&captured->wanted, key.field))
		return 0;
	if (!tally->is_timed)
		return sample_add(sample, key, tally->count, captured->flags);
	return sample_add_timed(sample, key, tally->count, captured->flags, &tally->timing);
}

/* Waiting is no part of the whole. */
static bool is_part(const struct captured *captured, const struct tally *tally)
{
	return fields_get(captured->site.fields, tally->field)->part != TIME_WAIT;
}

/* The rows of a thread: its tallies from the first on; and the sum below each parent. */
static int add_thread(const struct captured *captured, struct key key, const struct tally *tallies,
		      size_t nr, struct sample *sample)
{
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++) {
		struct tally sum = { .field = tallies[i].parent };
		bool is_first = true;

		for (size_t k = 0; k < nr; k++) {
			if (tallies[k].parent != sum.field)
				continue;
			is_first &= k >= i;
			if (is_part(captured, &tallies[k]))
				join(&sum, &tallies[k]);
		}
		if (is_first)
			err = add_row(captured, key, &sum, sample);
		if (!err)
			err = add_row(captured, key, &tallies[i], sample);
	}
	return err;
}

static int compare_tallies(const void *a, const void *b)
{
	const struct tally *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->field > y->field) - (x->field < y->field);
}

static int add_rows(struct captured *captured, struct sample *sample)
{
	struct tally *tallies = captured->tallies;
	size_t nr = 1;
	int err = 0;

	if (captured->nr_tallies)
		qsort(tallies, captured->nr_tallies, sizeof(*tallies), compare_tallies);
	for (size_t i = 0; !err && i < captured->nr_tallies; i += nr) {
		struct key key;

		for (nr = 1; i + nr < captured->nr_tallies; nr++) {
			if (tallies[i + nr].tid != tallies[i].tid)
				break;
		}
		if (find_vcpu(captured, tallies[i].tid, &key))
			err = add_thread(captured, key, &tallies[i], nr, sample);
	}
	return err;
}

/* ---- the provider */

void exits_captured_close(void *state)
{
	struct captured *captured = state;

	if (!captured)
		return;
	field_set_release(&captured->wanted);
	free(captured->tallies);
	free(captured->text);
	free(captured);
}

/* Takes the text over, whatever happens. */
static int captured_new(const struct provider_site *site, char *text, void **ret_state)
{
	struct captured *captured = calloc(1, sizeof(*captured));
	struct exit_fields fields;
	int err;

	if (!captured) {
		free(text);
		return -ENOMEM;
	}
	captured->site = *site;
	captured->flags = ROW_FROM_ZERO;
	captured->text = captured->next = text;
	err = exit_fields_add(site->fields, site->source, 1U << TIME_WHOLE, &fields);
	if (!err)
		err = add_names(captured, false);
	if (!err)
		err = add_names(captured, true);
	if (err)
		exits_captured_close(captured);
	else
		*ret_state = captured;
	return err;
}

int exits_captured_open(const struct provider_site *site, void **ret_state, struct why *why)
{
	char path[PATH_MAX];

	(void)why;
	return captured_new(site, read_whole(env_path(site->env, path, sizeof(path),
						      "/kvmtop/exits")), ret_state);
}

int exits_captured_want(void *state, const struct want *want, struct why *why)
{
	struct captured *captured = state;

	(void)why;
	return field_set_copy(&captured->wanted, &want->fields);
}

int exits_captured_collect(void *state, struct sample *sample, struct why *why)
{
	struct captured *captured = state;
	int err = advance(captured);

	(void)why;
	if (!err)
		err = add_rows(captured, sample);
	sample->time_ns[captured->site.source] = captured->time_ns;
	captured->flags = ROW_FROM_ZERO | ROW_WHOLE_INTERVAL;
	return err;
}
