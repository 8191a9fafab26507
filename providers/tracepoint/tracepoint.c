// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every event of the kernel's KVM systems, and their reasons, counted by an engine.
 *
 * Sources: tracefs events/SYSTEM/EVENT/{id,format}; which field says the reason: arch/.
 */
#include <errno.h>
#include <event-parse.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracefs.h>
#include <unistd.h>

#include "arch/arch.h"
#include "host/cpus.h"
#include "host/descriptors.h"
#include "host/lockdown.h"
#include "providers/provider.h"
#include "providers/trace_event.h"
#include "providers/tracepoint/counts.h"
#include "providers/tracepoint/engine.h"

#define TOLD_SAMPLES 4 /* that say which engine was refused; then the line is for other things */

struct tracepoints {
	struct provider_site site;
	const struct engine *engine;
	void *engine_state;
	struct counter *counters;
	size_t nr_counters, cap_counters;
	int unread_err; /* why the latest event that has no readable id has none */
	enum want_scope scope;
	uint32_t guest;
	struct target *targets;
	size_t nr_targets, cap_targets;
	pid_t *tids; /* of the guest at hand */
	int cap_tids;
	struct why refused; /* why not the engine before this one; "": there was none */
	unsigned int nr_told; /* samples that said so */
};

/* Systems of KVM are named after it. */
static bool is_kvm_system(const char *system)
{
	return strncmp(system, "kvm", 3) == 0;
}

/*
 * kvmmmu traces the shadow page tables, some of it for every page touched: who debugs those asks
 * for them by name, nobody else should pay for them.
 */
static bool is_extra_system(const char *system)
{
	return strcmp(system, "kvmmmu") == 0;
}

static void counter_release(struct counter *counter)
{
	free(counter->system);
	free(counter->event);
	free(counter->filter);
}

/* Takes over what the counter owns, also when it fails. */
static int counter_add(struct tracepoints *tp, struct counter counter, uint32_t field)
{
	if (tp->nr_counters == tp->cap_counters) {
		size_t cap = tp->cap_counters ? 2 * tp->cap_counters : 256;
		struct counter *counters = reallocarray(tp->counters, cap, sizeof(*counters));

		if (!counters) {
			counter_release(&counter);
			return -ENOMEM;
		}
		tp->counters = counters;
		tp->cap_counters = cap;
	}
	counter.name = fields_get(tp->site.fields, field)->name;
	counter.field = field;
	tp->counters[tp->nr_counters++] = counter;
	return counter.system && counter.event && (counter.filter || !counter.split) ? 0 : -ENOMEM;
}

static bool is_event(const struct split *split, const char *system, const char *event)
{
	return strcmp(system, split->system) == 0 && strcmp(event, split->event) == 0;
}

/* What an event says about VM exits, see struct field. The first split of an arch is its exit. */
static uint8_t exit_rank(const struct arch *arch, const char *system, const char *event)
{
	static const struct split usual = { .system = "kvm", .event = "kvm_exit" };
	const struct split *exit = arch->splits && arch->splits->event ? arch->splits : &usual;

	if (is_event(&arch_userspace_split, system, event))
		return 2;
	return is_event(exit, system, event) ? 1 : 0;
}

/* The name alone where it is unique, as it is for all of "kvm"; else with its system. */
static int event_add(struct tracepoints *tp, const char *system, const char *event, uint64_t id)
{
	char name[256];
	struct field spec = {
		.name = event,
		.parent = FIELD_NONE,
		.source = tp->site.source,
		.is_extra = is_extra_system(system),
		.exit_rank = exit_rank(tp->site.env->arch, system, event),
	};
	uint32_t field;
	int err;

	if (fields_find(tp->site.fields, event) != FIELD_NONE) {
		snprintf(name, sizeof(name), "%s:%s", system, event);
		spec.name = name;
	}
	err = fields_add(tp->site.fields, &spec, &field);
	if (err)
		return err;
	return counter_add(tp, (struct counter){ .tracepoint_id = id, .system = strdup(system),
						 .event = strdup(event) }, field);
}

/* An event without the field (another kernel, another meaning) is counted, but not split. */
static bool format_has_field(const char *system, const char *format, const char *field)
{
	struct tep_handle *tep = tep_alloc();
	struct tep_event *event;
	bool has = false;

	if (!tep)
		return false;
	/* A print format that libtraceevent cannot parse is an error, but the fields are there. */
	tep_parse_event(tep, format, strlen(format), system);
	event = tep_get_first_event(tep);
	if (event)
		has = tep_find_field(event, field) != NULL;
	tep_free(tep);
	return has;
}

static int reason_add(struct tracepoints *tp, const struct split *split,
		      const struct reason *reason, uint64_t id, uint32_t parent)
{
	const char *event = fields_get(tp->site.fields, parent)->name;
	char name[256], alias[256], filter[256];
	struct field spec = {
		.name = name,
		.alias = reason->alias ? alias : NULL,
		.parent = parent,
		.source = tp->site.source,
		.is_idle = reason->flags & REASON_IDLE,
	};
	struct counter counter = { .tracepoint_id = id, .split = split };
	uint32_t field;
	int err;

	snprintf(name, sizeof(name), "%s(%s)", event, reason->name);
	snprintf(alias, sizeof(alias), "%s(%s)", event, reason->alias ? reason->alias : "");
	split_filter(split, reason, filter, sizeof(filter));
	err = fields_add(tp->site.fields, &spec, &field);
	if (err)
		return err;
	counter.system = strdup(split->system);
	counter.event = strdup(split->event);
	counter.filter = strdup(filter);
	counter.nr_codes = split_codes(reason, counter.codes);
	return counter_add(tp, counter, field);
}

/* The field of a split's event, under whichever name event_add() gave it. */
static uint32_t split_field(const struct tracepoints *tp, const struct split *split)
{
	char name[256];
	uint32_t field;

	snprintf(name, sizeof(name), "%s:%s", split->system, split->event);
	field = fields_find(tp->site.fields, name);
	return field != FIELD_NONE ? field : fields_find(tp->site.fields, split->event);
}

static int split_add(struct tracepoints *tp, const struct split *split)
{
	char *format = tracefs_event_file_read(NULL, split->system, split->event, "format", NULL);
	uint32_t parent = split_field(tp, split);
	struct reasons reasons = { 0 };
	uint64_t id;
	int err = 0;

	if (!format || parent == FIELD_NONE ||
	    trace_event_id(tp->site.env, split->system, split->event, &id) < 0 ||
	    !format_has_field(split->system, format, split->field))
		goto out;
	err = reasons_of(split, format, &reasons);
	for (size_t i = 0; i < reasons.nr && !err; i++)
		err = reason_add(tp, split, &reasons.list[i], id, parent);
	reasons_release(&reasons);
out:
	free(format);
	return err;
}

static int splits_add(struct tracepoints *tp)
{
	const struct split *split = tp->site.env->arch->splits;
	int err = 0;

	for (; split && split->event && !err; split++)
		err = split_add(tp, split);
	return err ? err : split_add(tp, &arch_userspace_split);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static size_t list_sort(char **list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	if (n)
		qsort(list, n, sizeof(*list), compare_names);
	return n;
}

/* An event whose id cannot be read cannot be counted and is left out. */
static int system_add(struct tracepoints *tp, const char *system)
{
	char **events = tracefs_system_events(NULL, system);
	size_t n = list_sort(events);
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		uint64_t id = 0;
		int id_err = trace_event_id(tp->site.env, system, events[i], &id);

		if (id_err)
			tp->unread_err = id_err;
		else
			err = event_add(tp, system, events[i], id);
	}
	tracefs_list_free(events);
	return err;
}

static int systems_add(struct tracepoints *tp)
{
	char **systems = tracefs_event_systems(NULL);
	size_t n = list_sort(systems);
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		if (is_kvm_system(systems[i]))
			err = system_add(tp, systems[i]);
	}
	tracefs_list_free(systems);
	return err ? err : splits_add(tp);
}

static void tracepoints_close(void *state)
{
	struct tracepoints *tp = state;

	if (!tp)
		return;
	if (tp->engine)
		tp->engine->close(tp->engine_state);
	for (size_t i = 0; i < tp->nr_counters; i++)
		counter_release(&tp->counters[i]);
	free(tp->counters);
	free(tp->targets);
	free(tp->tids);
	free(tp);
}

/* The best comes first; what a captured machine had counted is not to be had by counting. */
static const struct engine *const engines[] = { &bpf_engine, &perf_engine };

#define NR_ENGINES (sizeof(engines) / sizeof(engines[0]))

/* The next that may be chosen; NULL: there is none. */
static const struct engine *next_engine(const struct env *env, size_t *at)
{
	while (*at < NR_ENGINES) {
		const struct engine *engine = engines[(*at)++];

		if (!env->engine || strcmp(env->engine, engine->name) == 0)
			return engine;
	}
	return NULL;
}

/* Whether one of them can work here; without any, why the last one cannot. */
static int tracepoints_probe(const struct env *env, struct why *why)
{
	const struct engine *engine;
	int err = trace_check(env, why);
	size_t at = 0;

	if (err)
		return err;
	if (env_is_captured(env))
		return captured_engine.probe(env, why);
	while ((engine = next_engine(env, &at))) {
		why->text[0] = '\0';
		err = engine->probe(env, why);
		if (!err)
			break;
	}
	return err;
}

/* Not even root may. Of lockdown only confidentiality is about tracefs. */
static int why_forbidden(const struct env *env, const char *path, struct why *why)
{
	struct lockdown lockdown = lockdown_read(env);

	if (strcmp(lockdown.level, "confidentiality") == 0)
		return why_set(why, -EPERM, "trace events are blocked by kernel lockdown (%s): "
					    "boot with less",
			       lockdown.level);
	return why_set(why, -EPERM, "cannot read %s: %s", path, strerror(EPERM));
}

/* Why there is not one event, and what would help. */
static int why_none(const struct tracepoints *tp, struct why *why)
{
	const char *tracefs = tp->site.env->tracefs;
	char path[PATH_MAX];
	int err = tp->unread_err;

	snprintf(path, sizeof(path), "%s/events", tracefs);
	if (!err && access(path, R_OK | X_OK) < 0)
		err = -errno;
	if (err == -EACCES)
		return why_set(why, err, "cannot read %s: %s: run as root, or grant it: setcap "
					 "cap_perfmon,cap_dac_read_search,cap_sys_ptrace+ep kvmtop",
			       path, strerror(-err));
	if (err == -EPERM)
		return why_forbidden(tp->site.env, path, why);
	return trace_has_no_kvm(tp->site.env, why);
}

static int try_engine(struct tracepoints *tp, const struct engine *engine, struct why *why)
{
	int err = engine->open(tp->site.env, tp->counters, tp->nr_counters, &tp->engine_state,
			       why);

	tp->engine = err ? NULL : engine;
	return err;
}

/* The first that can work here; without any, why the last one cannot. */
static int open_engine(struct tracepoints *tp, struct why *why)
{
	const struct env *env = tp->site.env;
	const struct engine *engine;
	int err = -EINVAL;
	size_t at = 0;

	if (env_is_captured(env))
		return try_engine(tp, &captured_engine, why);
	while ((engine = next_engine(env, &at))) {
		why->text[0] = '\0';
		err = engine->probe(env, why);
		if (!err)
			err = try_engine(tp, engine, why);
		if (!err)
			break;
		why_set(&tp->refused, 0, "not counted by %s, which costs least: %s", engine->name,
			why->text[0] ? why->text : strerror(-err));
	}
	return err;
}

static int tracepoints_open(const struct provider_site *site, void **ret_state, struct why *why)
{
	struct tracepoints *tp = calloc(1, sizeof(*tp));
	int err;

	if (!tp)
		return -ENOMEM;
	tp->site = *site;
	err = tracefs_set_tracing_dir((char *)(uintptr_t)site->env->tracefs) ? -ENOMEM : 0;
	if (!err)
		err = systems_add(tp);
	if (!err && !tp->nr_counters)
		err = why_none(tp, why);
	if (!err)
		err = open_engine(tp, why);
	if (err) {
		tracepoints_close(tp);
		return err;
	}
	*ret_state = tp;
	return 0;
}

static int target_add(struct tracepoints *tp, bool is_thread, int id, uint32_t guest)
{
	if (tp->nr_targets == tp->cap_targets) {
		size_t cap = tp->cap_targets ? 2 * tp->cap_targets : 64;
		struct target *targets = reallocarray(tp->targets, cap, sizeof(*targets));

		if (!targets)
			return -ENOMEM;
		tp->targets = targets;
		tp->cap_targets = cap;
	}
	tp->targets[tp->nr_targets++] = (struct target){ is_thread, id, guest };
	return 0;
}

static int target_cpu(void *tp, int cpu)
{
	return target_add(tp, false, cpu, GUEST_ANY);
}

/* All threads of a guest: exits happen in vCPU threads, but others raise interrupts, too. */
static int target_guest(struct tracepoints *tp, const struct guest *guest)
{
	int n, err = 0;

	while ((n = guest_threads(tp->site.env, guest->pid, tp->tids, tp->cap_tids)) >
	       tp->cap_tids) {
		pid_t *tids = reallocarray(tp->tids, (size_t)n * 2, sizeof(*tids));

		if (!tids)
			return -ENOMEM;
		tp->tids = tids;
		tp->cap_tids = n * 2;
	}
	if (descriptors_are_short(n))
		return n;
	for (int i = 0; i < n && !err; i++)
		err = target_add(tp, true, tp->tids[i], guest->id);
	return err;
}

/* With every guest at once only the vCPU threads are affordable, where they are known. */
static int target_vcpus(struct tracepoints *tp, const struct guest *guest)
{
	bool any = false;

	for (size_t i = 0; i < guest->nr_vcpus; i++) {
		if (!guest->vcpus[i].tid)
			continue;
		any = true;
		if (target_add(tp, true, guest->vcpus[i].tid, guest->id) < 0)
			return -ENOMEM;
	}
	return any ? 0 : target_guest(tp, guest);
}

/* Sorted, and each once: one thread may run several vCPUs. */
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

static int find_targets(struct tracepoints *tp, struct why *why)
{
	const struct guest *guest;
	int err = 0;

	tp->nr_targets = 0;
	switch (tp->scope) {
	case WANT_HOST:
		err = cpus_online(tp->site.env, target_cpu, tp);
		if (err < 0)
			return why_set(why, err, "cannot read " CPUS_ONLINE ": %s", strerror(-err));
		err = 0;
		break;
	case WANT_GUEST:
		guest = guests_by_id(tp->site.guests, tp->guest);
		err = guest ? target_guest(tp, guest) : 0;
		break;
	case WANT_EACH:
		for (size_t i = 0; (guest = guests_at(tp->site.guests, i)) && !err; i++)
			err = target_vcpus(tp, guest);
		break;
	}
	sort_targets(tp);
	return err;
}

/* Who cannot look counts on where it did. */
static int retarget(struct tracepoints *tp, struct why *why)
{
	int err = find_targets(tp, why);

	if (descriptors_are_short(err))
		return why_set(why, 0, "cannot look for new CPUs and threads: %s: raise the limit "
				       "with ulimit -n",
			       strerror(-err));
	if (err)
		return err;
	return tp->engine->retarget(tp->engine_state, tp->targets, tp->nr_targets,
				    tp->scope == WANT_GUEST ? tp->guest : ENGINE_KEEP_NONE);
}

/*
 * The kernel numbers events anew when the kvm module was unloaded, which it cannot be while one of
 * them is open, and loaded again: then none is as it was.
 */
static void refresh_ids(struct tracepoints *tp)
{
	struct counter *counter = tp->counters;
	uint64_t id;

	if (trace_event_id(tp->site.env, counter->system, counter->event, &id) < 0 ||
	    id == counter->tracepoint_id)
		return;
	for (; counter < tp->counters + tp->nr_counters; counter++)
		trace_event_id(tp->site.env, counter->system, counter->event,
			       &counter->tracepoint_id);
}

static int tracepoints_want(void *state, const struct want *want, struct why *why)
{
	struct tracepoints *tp = state;
	int err;

	refresh_ids(tp);
	tp->scope = want->scope;
	tp->guest = want->guest;
	err = tp->engine->want(tp->engine_state, &want->fields);
	return err ? err : retarget(tp, why);
}

static bool tracepoints_is_ready(void *state)
{
	struct tracepoints *tp = state;

	return tp->engine->is_ready(tp->engine_state);
}

/* A choice, no trouble: told when it was made. */
static void tell_refused(struct tracepoints *tp, struct why *why)
{
	if (why->text[0] || !tp->refused.text[0] || tp->nr_told == TOLD_SAMPLES)
		return;
	*why = tp->refused;
	tp->nr_told++;
}

static int tracepoints_collect(void *state, struct sample *sample, struct why *why)
{
	struct tracepoints *tp = state;
	int err = retarget(tp, why);

	if (err)
		return err;
	err = tp->engine->read(tp->engine_state, sample, &sample->time_ns[tp->site.source], why);
	tell_refused(tp, why);
	return err;
}

static const char *tracepoints_engine(void *state)
{
	const struct tracepoints *tp = state;

	return tp->engine == &captured_engine ? NULL : tp->engine->name;
}

const struct provider tracepoint_provider = {
	.name = "tracepoint",
	.help = "the kernel's KVM trace events, counted per CPU or per thread",
	.asked_by = "tracepoints",
	.probe = tracepoints_probe,
	.open = tracepoints_open,
	.want = tracepoints_want,
	.is_ready = tracepoints_is_ready,
	.collect = tracepoints_collect,
	.engine = tracepoints_engine,
	.close = tracepoints_close,
};
