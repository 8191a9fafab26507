// SPDX-License-Identifier: GPL-2.0-or-later
/* Draws a process for each guest's file, and a track for each CPU with events. */
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/file.h"
#include "trace/timeline/out.h"
#include "trace/timeline/timeline.h"

#define NAME_SIZE 160
#define CPUS_MAX 8192 /* as Linux has at most; a damaged file may claim more */

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

static struct inside_file *get_file(struct timeline_inside *inside, size_t i)
{
	array_grow(&inside->files, &inside->nr_files, i + 1);
	return &inside->files[i];
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
	char name[NAME_SIZE];

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

static void draw(struct timeline_inside *inside, const struct inside_file *file,
		 const struct trace_event *event)
{
	const struct timeline_event instant = {
		.name = event->type ? event->type->name : "events lost",
		.category = event->type ? event->type->system : "lost",
		.process = file->process,
		.track = event->cpu,
		.ns = timeline_clock_ns(inside->clock, event->time),
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
	file = get_file(inside, event->file);
	get_track(inside, file, info, (size_t)event->cpu);
	draw(inside, file, event);
}
