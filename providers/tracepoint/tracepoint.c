// SPDX-License-Identifier: GPL-2.0-or-later
/* Every event of the kernel's KVM systems, and their reasons, counted by an engine. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/xalloc.h"
#include "host/machine.h"
#include "host/guest_proc.h"
#include "providers/providers.h"
#include "providers/tracepoint/engine.h"

#define REFUSED_SAMPLES 4 /* how many samples have the notice of an engine that was refused */

/* An engine that counts some of the counters. */
struct work {
	const struct engine *engine;
	void *state;
};

struct tracepoints {
	struct provider_args args;
	struct work works[2]; /* one for all; or the first one for events, the other for reasons */
	size_t nr_works;
	struct tracepoint_events events;
	enum want_scope scope;
	uint32_t guest;
	struct target *targets;
	size_t nr_targets, room_targets;
	struct pid_list tids; /* of a guest */
	struct error refused; /* why the engine before this one was refused; "": none was */
	unsigned int nr_refused_notices; /* in how many samples it was a notice */
};

static void tracepoints_close(void *state)
{
	struct tracepoints *tp = state;

	if (!tp)
		return;
	for (size_t i = 0; i < tp->nr_works; i++)
		tp->works[i].engine->close(tp->works[i].state);
	tracepoint_events_release(&tp->events);
	free(tp->targets);
	pid_list_release(&tp->tids);
	free(tp);
}

/* The best comes first. */
static const struct engine *const engines[] = { &bpf_engine, &perf_engine, NULL };

/* The next engine that --engine allows; NULL: there is none. */
static const struct engine *next_engine(const struct engine *const **at,
					const struct provider_args *args)
{
	while (**at) {
		const struct engine *engine = *(*at)++;

		if (!args->options.engine || strcmp(args->options.engine, engine->name) == 0)
			return engine;
	}
	return NULL;
}

/* Whether an engine may count here; if none may, error says the last engine's reason. */
static int check_engines(const struct provider_args *args, struct error *error)
{
	const struct engine *const *at = engines, *engine;
	int err = -EINVAL;

	while (err && (engine = next_engine(&at, args))) {
		error->text[0] = '\0';
		err = engine->probe(args->env, error);
	}
	return err;
}

/* Opens the engine for the counters from first to before end. */
static int try_engine(struct tracepoints *tp, const struct engine *engine, size_t first, size_t end,
		      struct error *error)
{
	struct work *work = &tp->works[tp->nr_works];
	int err;

	error->text[0] = '\0';
	err = engine->probe(tp->args.env, error);
	if (!err)
		err = engine->open(&tp->args, tp->events.counters + first, end - first,
				   &work->state, error);
	if (!err) {
		work->engine = engine;
		tp->nr_works++;
	}
	return err;
}

static size_t count_events(const struct tracepoint_events *events)
{
	size_t nr = 0;

	while (nr < events->nr && !events->counters[nr].split)
		nr++;
	return nr;
}

/*
 * Opens the first engine that works here; if none does, error says the last engine's reason. One
 * that cannot count reasons counts events alone, and the next one the reasons.
 */
static int open_engine(struct tracepoints *tp, const struct engine *const *at, struct error *error)
{
	size_t first = 0, nr_events = count_events(&tp->events);
	const struct engine *engine;
	struct error unused;
	int err = -EINVAL;

	while (err && (engine = next_engine(&at, &tp->args))) {
		err = try_engine(tp, engine, first, tp->events.nr, error);
		if (!err)
			break;
		if (!first && nr_events && !try_engine(tp, engine, 0, nr_events, &unused))
			first = nr_events;
		error_set(&tp->refused, 0, "%s not counted by %s, which costs least: %s",
			  first ? "reasons are" : "events are", engine->name,
			  error->text[0] ? error->text : strerror(-err));
	}
	return err;
}

static int tracepoints_open(const struct provider_args *args, void **ret_state, struct error *error)
{
	struct tracepoints *tp = xcalloc(1, sizeof(*tp));
	int err;

	tp->args = *args;
	err = trace_check(args->env, error);
	if (!err)
		err = check_engines(args, error);
	if (!err)
		err = tracepoint_events_find(&tp->events, args, error);
	if (!err)
		err = open_engine(tp, engines, error);
	if (err) {
		tracepoints_close(tp);
		return err;
	}
	*ret_state = tp;
	return 0;
}

static void target_add(struct tracepoints *tp, bool is_thread, int id, uint32_t guest)
{
	*array_add(tp->targets, tp->nr_targets, tp->room_targets) =
		(struct target){ is_thread, id, guest };
}

static int target_cpus(struct tracepoints *tp, struct error *error)
{
	char list[CPUS_TEXT];
	long err = env_read(tp->args.env, list, sizeof(list), CPUS_ONLINE);
	struct cpus cpus = cpus_of(list);

	for (int cpu; (cpu = cpus_next(&cpus)) >= 0;)
		target_add(tp, false, cpu, GUEST_NONE);
	return err < 0 ? error_set(error, (int)err, "cannot read " CPUS_ONLINE ": %s",
				   strerror((int)-err)) : 0;
}

/* All threads of a guest: exits happen in vCPU threads, but others raise interrupts, too. */
static int target_guest(struct tracepoints *tp, const struct guest *guest)
{
	int err = proc_threads(tp->args.env, guest->pid, &tp->tids);

	for (size_t i = 0; !err && i < tp->tids.nr; i++)
		target_add(tp, true, tp->tids.pids[i], guest->id);
	return descriptors_are_short(err) ? err : 0;
}

/* All threads of all guests would cost too much: only vCPU threads, if they are known. */
static int target_vcpus(struct tracepoints *tp, const struct guest *guest)
{
	bool any = false;

	for (size_t i = 0; i < guest->nr_vcpus; i++) {
		if (!guest->vcpus[i].tid)
			continue;
		any = true;
		target_add(tp, true, guest->vcpus[i].tid, guest->id);
	}
	return any ? 0 : target_guest(tp, guest);
}

/* Sorted, and each thread once, though it may run several vCPUs. */
static void sort_targets(struct tracepoints *tp)
{
	size_t nr = 0;

	if (tp->nr_targets)
		qsort(tp->targets, tp->nr_targets, sizeof(*tp->targets), target_compare);
	for (size_t i = 0; i < tp->nr_targets; i++) {
		if (!nr || tp->targets[nr - 1].id != tp->targets[i].id)
			tp->targets[nr++] = tp->targets[i];
	}
	tp->nr_targets = nr;
}

static int find_targets(struct tracepoints *tp, struct error *error)
{
	const struct guest *guest;
	int err = 0;

	tp->nr_targets = 0;
	switch (tp->scope) {
	case WANT_HOST:
		err = target_cpus(tp, error);
		break;
	case WANT_GUEST:
		guest = guests_by_id(tp->args.guests, tp->guest);
		err = guest ? target_guest(tp, guest) : 0;
		break;
	case WANT_EACH:
		for (size_t i = 0; (guest = guests_at(tp->args.guests, i)) && !err; i++)
			err = target_vcpus(tp, guest);
		break;
	}
	sort_targets(tp);
	return err;
}

/* If the threads cannot be listed now, the targets stay as they are. */
static int retarget(struct tracepoints *tp, struct error *error)
{
	int err = find_targets(tp, error);

	if (descriptors_are_short(err))
		return error_set(error, 0,
				 "cannot look for new CPUs and threads: %s: raise the limit "
				       "with ulimit -n",
				 strerror(-err));
	for (size_t i = 0; i < tp->nr_works && !err; i++)
		err = tp->works[i].engine->retarget(tp->works[i].state, tp->targets, tp->nr_targets,
						    tp->scope == WANT_GUEST ? tp->guest :
									      ENGINE_KEEP_NONE);
	return err;
}

static int tracepoints_want(void *state, const struct want *want, struct error *error)
{
	struct tracepoints *tp = state;

	tracepoint_events_number(&tp->events);
	tp->scope = want->scope;
	tp->guest = want->guest;
	for (size_t i = 0; i < tp->nr_works; i++)
		tp->works[i].engine->want(tp->works[i].state, &want->fields);
	return retarget(tp, error);
}

static bool tracepoints_is_ready(void *state)
{
	struct tracepoints *tp = state;
	bool is_ready = true;

	for (size_t i = 0; i < tp->nr_works; i++) {
		const struct engine *engine = tp->works[i].engine;

		is_ready = is_ready && (!engine->is_ready || engine->is_ready(tp->works[i].state));
	}
	return is_ready;
}

/* A refused engine is a notice at the beginning only: the other engine does the work. */
static void add_refused_notice(struct tracepoints *tp, struct error *error)
{
	if (error->text[0] || !tp->refused.text[0] || tp->nr_refused_notices == REFUSED_SAMPLES)
		return;
	*error = tp->refused;
	tp->nr_refused_notices++;
}

static int tracepoints_collect(void *state, struct sample *sample, struct error *error)
{
	struct tracepoints *tp = state;
	int err = retarget(tp, error);

	if (err)
		return err;
	for (size_t i = 0; i < tp->nr_works && !err; i++)
		err = tp->works[i].engine->read(tp->works[i].state, sample,
						&sample->time_ns[tp->args.source], error);
	add_refused_notice(tp, error);
	return err;
}

static const char *tracepoints_engine(void *state)
{
	const struct tracepoints *tp = state;

	return tp->works[0].engine->name;
}

static void tracepoints_programs(void *state, struct programs *programs)
{
	const struct tracepoints *tp = state;

	for (size_t i = 0; i < tp->nr_works; i++) {
		if (tp->works[i].engine->programs)
			tp->works[i].engine->programs(tp->works[i].state, programs);
	}
}

const struct provider tracepoint_provider = {
	.name = "tracepoint",
	.help = "the kernel's KVM trace events, counted per CPU or per thread",
	.open = tracepoints_open,
	.want = tracepoints_want,
	.is_ready = tracepoints_is_ready,
	.collect = tracepoints_collect,
	.programs = tracepoints_programs,
	.engine = tracepoints_engine,
	.close = tracepoints_close,
};
