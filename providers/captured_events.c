// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Plays back the counters of a captured machine: --sysroot DIR reads DIR/kvmtop/counters.
 *
 * The file holds samples: a line "sample NANOSECONDS", then a line "NAME COUNT" for each event
 * that was counted, such as "kvm_exit(HLT) 1234"; a count that did not change may be left out. What
 * follows a line "thread TID" was counted in that thread alone: that is what tells guests apart.
 * Each read plays the next sample; after the last one its interval is played again and again, so
 * that a screen goes on showing what the machine did. Without the file nothing is counted, but
 * everything else of the machine can be looked at.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/guest.h"
#include "providers/tracepoint/engine.h"

struct tally {
	uint64_t count, step; /* step: how much of it is new in this sample */
	bool is_there;
};

/* What was counted on the whole machine, or in a thread. */
struct scope {
	int tid; /* 0: the machine */
	struct tally *tallies; /* by counter */
};

struct captured {
	const struct counter *counters;
	size_t nr_counters;
	struct field_set wanted, played; /* played: has been in a sample since it was wanted */
	struct target *targets; /* ascending by guest */
	size_t nr_targets;
	struct tally *kept; /* what a guest that ended had counted; NULL: none that matters */
	uint32_t kept_guest;
	struct scope *scopes; /* the sample at hand */
	size_t nr_scopes;
	uint64_t time_ns, step_ns;
	char *text, *next; /* the file, and where its next sample begins */
};

static void engine_close(void *state)
{
	struct captured *captured = state;

	if (!captured)
		return;
	for (size_t i = 0; i < captured->nr_scopes; i++)
		free(captured->scopes[i].tallies);
	free(captured->scopes);
	free(captured->targets);
	free(captured->kept);
	field_set_release(&captured->wanted);
	field_set_release(&captured->played);
	free(captured->text);
	free(captured);
}

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

static int engine_probe(const struct env *env, struct why *why)
{
	(void)env;
	(void)why;
	return 0;
}

static int engine_open(const struct env *env, const struct counter *counters, size_t nr,
		       void **ret_state, struct why *why)
{
	struct captured *captured = calloc(1, sizeof(*captured));
	char path[PATH_MAX];

	(void)why;
	if (!captured)
		return -ENOMEM;
	captured->counters = counters;
	captured->nr_counters = nr;
	captured->text = read_whole(env_path(env, path, sizeof(path), "/kvmtop/counters"));
	captured->next = captured->text;
	*ret_state = captured;
	return 0;
}

static int engine_want(void *state, const struct field_set *fields)
{
	struct captured *captured = state;

	for (size_t i = 0; i < captured->nr_counters; i++) {
		if (!field_set_has(fields, captured->counters[i].field))
			field_set_del(&captured->played, captured->counters[i].field);
	}
	return field_set_copy(&captured->wanted, fields);
}

static bool engine_is_ready(void *state)
{
	(void)state;
	return true;
}

static struct scope *find_scope(const struct captured *captured, int tid)
{
	for (size_t i = 0; i < captured->nr_scopes; i++) {
		if (captured->scopes[i].tid == tid)
			return &captured->scopes[i];
	}
	return NULL;
}

static int get_scope(struct captured *captured, int tid, struct scope **ret_scope)
{
	struct scope *scope = find_scope(captured, tid), *scopes;
	size_t nr = captured->nr_scopes;

	if (!scope) {
		scopes = reallocarray(captured->scopes, nr + 1, sizeof(*scopes));
		if (!scopes)
			return -ENOMEM;
		captured->scopes = scopes;
		scope = &scopes[nr];
		*scope = (struct scope){ tid, calloc(captured->nr_counters, sizeof(struct tally)) };
		if (!scope->tallies)
			return -ENOMEM;
		captured->nr_scopes++;
	}
	*ret_scope = scope;
	return 0;
}

static void take_count(const struct captured *captured, struct scope *scope, const char *line,
		       size_t len)
{
	const char *blank = memrchr(line, ' ', len);
	size_t name = blank ? (size_t)(blank - line) : 0;

	for (size_t i = 0; name && i < captured->nr_counters; i++) {
		const char *known = captured->counters[i].name;
		struct tally *tally = &scope->tallies[i];
		uint64_t count;

		if (strncmp(known, line, name) != 0 || known[name] != '\0')
			continue;
		count = strtoull(blank + 1, NULL, 10);
		tally->step = tally->is_there && count > tally->count ? count - tally->count : 0;
		tally->count = count;
		tally->is_there = true;
		return;
	}
}

/* Plays the latest interval once more. */
static void repeat(struct captured *captured)
{
	captured->time_ns += captured->step_ns;
	for (size_t i = 0; i < captured->nr_scopes; i++) {
		for (size_t k = 0; k < captured->nr_counters; k++) {
			struct tally *tally = &captured->scopes[i].tallies[k];

			tally->count += tally->step;
		}
	}
}

static void begin_sample(struct captured *captured, uint64_t time_ns)
{
	uint64_t before_ns = captured->time_ns;

	captured->step_ns = before_ns && time_ns > before_ns ? time_ns - before_ns : 0;
	captured->time_ns = time_ns;
	for (size_t i = 0; i < captured->nr_scopes; i++) {
		for (size_t k = 0; k < captured->nr_counters; k++)
			captured->scopes[i].tallies[k].step = 0;
	}
}

/* The lines of one sample, behind its first. */
static int take_lines(struct captured *captured)
{
	struct scope *scope;
	char *line = captured->next;
	int err = get_scope(captured, 0, &scope);

	while (!err && *line && strncmp(line, "sample ", 7) != 0) {
		size_t len = strcspn(line, "\n");

		if (strncmp(line, "thread ", 7) == 0)
			err = get_scope(captured, atoi(line + 7), &scope);
		else
			take_count(captured, scope, line, len);
		line += len + (line[len] == '\n');
	}
	captured->next = line;
	return err;
}

/* Goes on to the next sample. */
static int advance(struct captured *captured)
{
	char *line = captured->next;

	while (line && *line && strncmp(line, "sample ", 7) != 0)
		line += strcspn(line, "\n") + (strchr(line, '\n') != NULL);
	if (!line || !*line) {
		repeat(captured);
		return 0;
	}
	begin_sample(captured, strtoull(line + 7, NULL, 10));
	captured->next = line + strcspn(line, "\n");
	captured->next += *captured->next == '\n';
	return take_lines(captured);
}

/* How many targets from the first on are of its guest; the machine's CPUs are one. */
static size_t count_same_guest(const struct target *targets, size_t nr)
{
	size_t n = 0;

	while (n < nr && targets[n].guest == targets[0].guest)
		n++;
	return n;
}

/* Adds up one counter in all scopes that the targets of one guest are. False: in none. */
static bool add_up(const struct captured *captured, const struct target *targets, size_t nr,
		   size_t counter, uint64_t *ret_count)
{
	uint64_t sum = 0;
	bool any = false;

	if (!targets[0].is_thread)
		nr = 1;
	for (size_t i = 0; i < nr; i++) {
		const struct scope *scope = find_scope(captured,
						       targets[i].is_thread ? targets[i].id : 0);

		if (!scope || !scope->tallies[counter].is_there)
			continue;
		sum += scope->tallies[counter].count;
		any = true;
	}
	*ret_count = sum;
	return any;
}

static int add_row(struct captured *captured, uint32_t guest, size_t counter, uint64_t count,
		   struct sample *sample)
{
	uint32_t field = captured->counters[counter].field;
	struct key key = { guest, -1, field };

	if (!field_set_has(&captured->wanted, field))
		return 0;
	return sample_add(sample, key, count,
			  field_set_has(&captured->played, field) ? 0 : ROW_FROM_ZERO);
}

static int add_rows(struct captured *captured, const struct target *targets, size_t nr,
		    struct sample *sample)
{
	uint64_t count;
	int err = 0;

	for (size_t i = 0; i < captured->nr_counters && !err; i++) {
		if (add_up(captured, targets, nr, i, &count))
			err = add_row(captured, targets[0].guest, i, count, sample);
	}
	return err;
}

static int add_kept(struct captured *captured, struct sample *sample)
{
	int err = 0;

	for (size_t i = 0; captured->kept && i < captured->nr_counters && !err; i++) {
		const struct tally *kept = &captured->kept[i];

		if (kept->is_there)
			err = add_row(captured, captured->kept_guest, i, kept->count, sample);
	}
	return err;
}

static int compare_guests(const void *a, const void *b)
{
	const struct target *x = a, *y = b;

	if (x->guest != y->guest)
		return x->guest < y->guest ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static bool are_same(const struct target *a, const struct target *b, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (a[i].is_thread != b[i].is_thread || a[i].id != b[i].id ||
		    a[i].guest != b[i].guest)
			return false;
	}
	return true;
}

static const struct target *find_guest(const struct target *targets, size_t nr, uint32_t guest)
{
	for (size_t i = 0; i < nr; i++) {
		if (targets[i].guest == guest)
			return &targets[i];
	}
	return NULL;
}

/* When the last thread of the guest to keep leaves, its counts stand still. */
static int keep_counts(struct captured *captured, const struct target *targets, size_t nr,
		       uint32_t keep)
{
	const struct target *old = find_guest(captured->targets, captured->nr_targets, keep);
	bool has_ended = keep != ENGINE_KEEP_NONE && !find_guest(targets, nr, keep);
	size_t nr_old;

	if (!has_ended || keep != captured->kept_guest) {
		free(captured->kept);
		captured->kept = NULL;
	}
	if (!has_ended || !old)
		return 0;
	captured->kept = calloc(captured->nr_counters, sizeof(*captured->kept));
	if (!captured->kept)
		return -ENOMEM;
	captured->kept_guest = keep;
	nr_old = count_same_guest(old, captured->nr_targets - (size_t)(old - captured->targets));
	for (size_t i = 0; i < captured->nr_counters; i++) {
		struct tally *kept = &captured->kept[i];

		kept->is_there = add_up(captured, old, nr_old, i, &kept->count);
	}
	return 0;
}

static int engine_retarget(void *state, const struct target *targets, size_t nr, uint32_t keep)
{
	struct captured *captured = state;
	struct target *mine = calloc(nr + 1, sizeof(*mine));
	int err;

	if (!mine)
		return -ENOMEM;
	if (nr)
		memcpy(mine, targets, nr * sizeof(*mine));
	qsort(mine, nr, sizeof(*mine), compare_guests);
	/* Other scopes begin anew; one that ended does not. */
	if (nr && (nr != captured->nr_targets || !are_same(mine, captured->targets, nr)))
		field_set_clear(&captured->played);
	err = keep_counts(captured, mine, nr, keep);
	free(captured->targets);
	captured->targets = mine;
	captured->nr_targets = nr;
	return err;
}

static int engine_read(void *state, struct sample *sample, uint64_t *ret_time_ns, struct why *why)
{
	struct captured *captured = state;
	int err = advance(captured);

	(void)why;
	*ret_time_ns = captured->time_ns;
	for (size_t i = 0, nr; i < captured->nr_targets && !err; i += nr) {
		nr = count_same_guest(captured->targets + i, captured->nr_targets - i);
		err = add_rows(captured, captured->targets + i, nr, sample);
	}
	if (!err)
		err = add_kept(captured, sample);
	for (size_t i = 0; i < sample->nr_rows && !err; i++)
		err = field_set_add(&captured->played, sample->rows[i].key.field);
	return err;
}

const struct engine captured_engine = {
	.name = "captured",
	.probe = engine_probe,
	.open = engine_open,
	.want = engine_want,
	.retarget = engine_retarget,
	.is_ready = engine_is_ready,
	.read = engine_read,
	.close = engine_close,
};
