// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Draws tracks of CPUs: a process "host CPUs", with who ran on each CPU and who woke whom; and a
 * process for each guest's file, with the events inside the guest.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/file.h"
#include "trace/exits/table.h"
#include "trace/timeline/out.h"
#include "trace/timeline/timeline.h"

#define CPUS_MAX 8192 /* as Linux has at most; a damaged file may claim more */

/* ---- the host's CPUs */

#define RUNNER_SIZE 96
#define RUNS 16	      /* kept of each CPU */

/* tid 0: the CPU is idle. */
struct runner {
	int32_t tid;
	char name[RUNNER_SIZE];
};

struct cpu_run {
	int64_t begin_ns, end_ns;
	char name[2 * RUNNER_SIZE + sizeof(" ... ")];
};

struct cpu_track {
	bool has_track;
	bool is_known;	/* who runs */
	struct runner now;
	int64_t now_ns; /* since then */
	struct cpu_run past[RUNS]; /* a ring of the latest */
	size_t nr_past; /* ever */
};

void timeline_cpus_release(struct timeline_cpus *cpus)
{
	free(cpus->list);
	cpus->list = NULL;
}

static struct cpu_track *get_cpu(struct timeline_cpus *cpus, int32_t nr)
{
	struct cpu_track *cpu;
	char name[32];

	if (nr < 0 || nr >= CPUS_MAX)
		return NULL;
	array_grow(&cpus->list, &cpus->room, (size_t)nr + 1);
	if (!cpus->process)
		cpus->process = out_process(cpus->out, "host CPUs");
	cpu = &cpus->list[nr];
	if (!cpu->has_track) {
		snprintf(name, sizeof(name), "CPU %d", (int)nr);
		out_track(cpus->out, cpus->process, nr, name, nr);
	}
	cpu->has_track = true;
	return cpu;
}

/*
 * Ends a run. Where the switch names another thread as the one before, others ran in between, of
 * which there is no event: the name has the first and the last.
 */
static void end_run(struct timeline_cpus *cpus, struct cpu_track *cpu, int32_t nr,
		    const struct runner *prev, int64_t ns)
{
	struct cpu_run *run = &cpu->past[cpu->nr_past % RUNS];
	bool is_cut = cpu->now.tid != prev->tid;
	struct timeline_event event = {
		.name = run->name,
		.category = is_cut ? "run,cut" : "run",
		.process = cpus->process,
		.track = nr,
		.ns = cpu->now_ns,
	};

	if (!is_cut && !prev->tid) /* idle */
		return;
	run->begin_ns = cpu->now_ns;
	run->end_ns = ns;
	snprintf(run->name, sizeof(run->name), "%s%s%s", cpu->now.name, is_cut ? " ... " : "",
		 is_cut ? prev->name : "");
	cpu->nr_past++;
	out_slice(cpus->out, &event, ns, NULL);
}

static struct recorded_thread *vcpu_of(const struct timeline_cpus *cpus,
				       const struct trace_event *event, int32_t tid)
{
	struct recorded_thread *thread = table_find_tid(cpus->table, event, tid);

	return thread && thread->is_vcpu ? thread : NULL;
}

/* "web1 (4711) vCPU 1", or "kworker/1:1 (17)". */
static struct runner runner_of(const struct timeline_cpus *cpus, const struct trace_event *event,
			       int32_t tid, const char *comm, size_t comm_len)
{
	struct recorded_thread *thread = vcpu_of(cpus, event, tid);
	struct runner runner = { .tid = tid };

	if (!tid)
		snprintf(runner.name, sizeof(runner.name), "idle");
	else if (thread && thread->vcpu >= 0)
		timeline_kvm_name_vcpu(cpus->kvm, thread, runner.name, sizeof(runner.name));
	else
		snprintf(runner.name, sizeof(runner.name), "%.*s (%d)", (int)comm_len, comm,
			 (int)tid);
	return runner;
}

/* By two fields of the event. */
static struct runner field_runner(const struct timeline_cpus *cpus,
				  const struct trace_event *event,
				  const struct trace_field *tid, const char *comm_name)
{
	const struct trace_field *field = trace_field(event->type, comm_name);
	size_t size = 0;
	const char *comm = field ? trace_field_data(field, event, &size) : NULL;

	return runner_of(cpus, event, (int32_t)trace_field_number(tid, event), comm ? comm : "",
			 comm ? strnlen(comm, size) : 0);
}

static void take_switch(struct timeline_cpus *cpus, const struct meaning *meaning,
			const struct trace_event *event)
{
	const struct runner prev = field_runner(cpus, event, meaning->tid, "prev_comm");
	const struct runner next = field_runner(cpus, event, meaning->next_tid, "next_comm");
	int64_t ns = timeline_clock_ns(&cpus->out->clock, event->time);
	struct cpu_track *cpu = get_cpu(cpus, event->cpu);

	if (!cpu)
		return;
	if (cpu->is_known)
		end_run(cpus, cpu, event->cpu, &prev, ns);
	cpu->is_known = true;
	cpu->now_ns = ns;
	cpu->now = next;
}

/* What this event of the scheduler happened in. */
static struct runner context_of(const struct timeline_cpus *cpus, const struct cpu_track *cpu,
				const struct trace_event *event)
{
	const struct trace_field *field = trace_field(event->type, "common_flags");
	uint64_t flags = field ? trace_field_number(field, event) : 0;
	const char *comm = trace_comm(cpus->trace, event);

	if (flags & EVENT_IN_IRQ)
		return (struct runner){ .name = "interrupt" };
	if (flags & EVENT_IN_SOFTIRQ)
		return (struct runner){ .name = "softirq" };
	if (cpu->is_known && cpu->now.tid == event->tid)
		return cpu->now;
	return runner_of(cpus, event, event->tid, comm, strlen(comm));
}

/* A waking of a vCPU's thread that sleeps; any other one has no effect. */
static void take_waking(struct timeline_cpus *cpus, const struct meaning *meaning,
			const struct trace_event *event)
{
	const struct runner woken = field_runner(cpus, event, meaning->tid, "comm");
	struct recorded_thread *thread = vcpu_of(cpus, event, woken.tid);
	struct timeline_event instant = { .category = "waking", .track = event->cpu };
	struct timeline_args args;
	struct cpu_track *cpu;
	struct runner by;
	char name[128];

	if (!thread || !state_sleeps(table_state(thread)))
		return;
	cpu = get_cpu(cpus, event->cpu);
	if (!cpu)
		return;
	by = context_of(cpus, cpu, event);
	snprintf(name, sizeof(name), "wakes %s", woken.name);
	instant.name = name;
	instant.process = cpus->process;
	instant.ns = timeline_clock_ns(&cpus->out->clock, event->time);
	args_clear(&args);
	args_add_text(&args, "by", by.name, strlen(by.name));
	arrow_begin(timeline_kvm_arrow(cpus->kvm, thread), cpus->out, &instant, &args);
}

void timeline_cpus_add(struct timeline_cpus *cpus, const struct meaning *meaning,
		       const struct trace_event *event)
{
	if (trace_file(cpus->trace, event->file)->host_id)
		return; /* of a guest's CPU */
	for (size_t i = 0; !meaning && i < cpus->room; i++)
		cpus->list[i].is_known &= event->cpu >= 0 && i != (size_t)event->cpu;
	if (!meaning)
		return;
	if (meaning->kind == MEANING_SWITCH)
		take_switch(cpus, meaning, event);
	else if (meaning->kind == MEANING_WAKING)
		take_waking(cpus, meaning, event);
}

void timeline_cpus_ran(const struct timeline_cpus *cpus, int32_t nr, int64_t begin_ns,
		       int64_t end_ns, struct timeline_args *args)
{
	const struct cpu_track *cpu = nr >= 0 && (size_t)nr < cpus->room ? &cpus->list[nr] : NULL;
	size_t used = 0, i = cpu && cpu->nr_past > RUNS ? cpu->nr_past - RUNS : 0;
	char text[1024] = "";

	args_add_number(args, "cpu", nr);
	if (i && cpu->past[i % RUNS].begin_ns > begin_ns) /* earlier ones are not kept */
		used = (size_t)snprintf(text, sizeof(text), "...");
	for (; cpu && i < cpu->nr_past && used < sizeof(text); i++) {
		const struct cpu_run *run = &cpu->past[i % RUNS];
		int64_t from = run->begin_ns > begin_ns ? run->begin_ns : begin_ns;
		int64_t to = run->end_ns < end_ns ? run->end_ns : end_ns;

		if (to > from)
			used += (size_t)snprintf(text + used, sizeof(text) - used,
						 "%s%s %.3f ms", used ? ", " : "", run->name,
						 (double)(to - from) / 1e6);
	}
	if (used)
		args_add_text(args, "ran", text, strlen(text));
}

/* ---- CPUs inside guests */

struct inside_file {
	int32_t process; /* in the timeline; 0: no event of the file was drawn yet */
	bool has_track[CPUS_MAX]; /* by CPU */
};

void timeline_inside_release(struct timeline_inside *inside)
{
	free(inside->files);
	inside->files = NULL;
	inside->nr_files = 0;
}

/* The guest's name if the host's file is in the stream, else the name of the guest's file. */
static void find_name(const struct trace *trace, const struct trace_info *info, char *name,
		      size_t size)
{
	struct trace_guest guest;

	snprintf(name, size, "inside %s", path_base(info->path));
	for (size_t file = 0; trace_file(trace, file); file++) {
		for (size_t i = 0; trace_guest(trace, file, i, &guest); i++) {
			if (guest.trace_id && guest.trace_id == info->trace_id)
				snprintf(name, size, "inside %s", guest.name);
		}
	}
}

static void get_track(struct timeline_inside *inside, struct inside_file *file,
		     const struct trace_info *info, size_t cpu)
{
	char name[160];

	if (!file->process) {
		find_name(inside->trace, info, name, sizeof(name));
		file->process = out_process(inside->out, name);
	}
	if (!file->has_track[cpu]) {
		snprintf(name, sizeof(name), "CPU %zu", cpu);
		out_track(inside->out, file->process, (int64_t)cpu, name, (int64_t)cpu);
	}
	file->has_track[cpu] = true;
}

static void draw_inside(struct timeline_inside *inside, const struct inside_file *file,
		 const struct trace_event *event)
{
	const struct timeline_event instant = {
		.name = event->type ? event->type->name : "events lost",
		.category = event->type ? event->type->system : "lost",
		.process = file->process,
		.track = event->cpu,
		.ns = timeline_clock_ns(&inside->out->clock, event->time),
	};
	const char *comm = event->type ? trace_comm(inside->trace, event) : "";
	struct timeline_args args;

	args_clear(&args);
	if (comm[0])
		args_add_text(&args, "thread", comm, strlen(comm));
	if (event->type)
		args_add_fields(&args, event);
	else if (event->lost >= 0)
		args_add_number(&args, "lost", event->lost);
	out_instant(inside->out, &instant, &args);
}

void timeline_inside_add(struct timeline_inside *inside, const struct trace_event *event)
{
	const struct trace_info *info = trace_file(inside->trace, event->file);
	struct inside_file *file;

	if (!info->host_id || event->cpu < 0 || event->cpu >= CPUS_MAX ||
	    (event->type && strncmp(event->type->system, "kvm", 3) == 0))
		return;
	array_grow(&inside->files, &inside->nr_files, (size_t)event->file + 1);
	file = &inside->files[event->file];
	get_track(inside, file, info, (size_t)event->cpu);
	draw_inside(inside, file, event);
}
