// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The code that vCPUs were in, where the recording has samples with stacks: each function is a
 * slice on a track beside its vCPU's. A sample is drawn over the time that it stands for, up to
 * itself; what the next one has in common with it goes on.
 */
#include <stdio.h>
#include <stdlib.h>

#include "lib/array.h"
#include "lib/hash.h"
#include "trace/timeline/timeline.h"
#include "trace/exits/recording.h"

#define TRACK_IDS (INT64_C(1) << 30) /* from here on: threads have lower numbers */
#define CALLS_MAX 8192 /* that wait to be drawn */

struct code_call {
	uint32_t function;
	int64_t begin_ns, end_ns;
};

/* Calls wait until all are known that begin with them: the outer one is drawn first. */
struct code_track {
	const struct recorded_thread *thread;
	int32_t process;
	struct code_call *calls;
	size_t nr, room;
	size_t open[STACK_ADDRESSES]; /* of calls, the outermost first */
	size_t nr_open;
	int64_t last_ns; /* the latest sample's */
	UT_hash_handle hh;
};

/* Draws the calls, with the open ones up to the latest sample. */
static void draw_calls(struct timeline_code *code, struct code_track *track)
{
	const struct stacks *stacks = recorded_code_stacks(code->names);

	for (size_t i = 0; i < track->nr_open; i++)
		track->calls[track->open[i]].end_ns = track->last_ns;
	for (size_t i = 0; i < track->nr; i++) {
		const struct code_call *call = &track->calls[i];
		const struct timeline_event event = {
			.name = out_keep(code->out, stacks_function_at(stacks,
								       call->function)->name),
			.category = "code",
			.process = track->process,
			.track = TRACK_IDS + track->thread->tid,
			.ns = call->begin_ns,
		};

		out_slice(code->out, &event, call->end_ns, NULL);
	}
	track->nr = track->nr_open = 0;
}

static struct code_track *track_of(struct timeline_code *code,
				   const struct recorded_thread *thread, int32_t process)
{
	struct code_track *track = hash_get(code->tracks, thread, &thread);

	track->process = process;
	return track;
}

/* The functions of a stack, the outermost first. */
static size_t path_of(const struct stacks *stacks, uint32_t node, uint32_t *path)
{
	size_t nr = 0;

	for (; node != STACK_ROOT; node = stacks_node_at(stacks, node)->parent)
		path[nr++] = stacks_node_at(stacks, node)->function;
	for (size_t i = 0; i < nr / 2; i++) {
		uint32_t function = path[i];

		path[i] = path[nr - 1 - i];
		path[nr - 1 - i] = function;
	}
	return nr;
}

void timeline_code_add(struct timeline_code *code, const struct recorded_thread *thread,
		       int32_t process, const struct trace_event *event, uint32_t node)
{
	struct code_track *track = track_of(code, thread, process);
	int64_t ns = timeline_clock_ns(&code->out->clock, event->time);
	int64_t period = event->stack->ns < INT64_MAX / 4 ? (int64_t)event->stack->ns : 0;
	uint32_t path[STACK_ADDRESSES];
	size_t nr = path_of(recorded_code_stacks(code->names), node, path), same = 0;
	int64_t begin_ns = ns > period ? ns - period : 0;

	/* Samples come a bit early or late: only a period that has none is a gap. */
	if (ns < track->last_ns || ns - period > track->last_ns + period / 2 ||
	    track->nr > CALLS_MAX)
		draw_calls(code, track);
	while (same < nr && same < track->nr_open &&
	       track->calls[track->open[same]].function == path[same])
		same++;
	while (track->nr_open > same)
		track->calls[track->open[--track->nr_open]].end_ns = track->last_ns;
	/* Also where it goes on behind calls that are drawn already, it does not overlap them. */
	if (track->nr || (begin_ns < track->last_ns && track->last_ns <= ns))
		begin_ns = track->last_ns;
	for (size_t i = same; i < nr; i++) {
		track->open[track->nr_open++] = track->nr;
		*array_add(track->calls, track->nr, track->room) = (struct code_call){
			.function = path[i],
			.begin_ns = begin_ns,
		};
	}
	track->last_ns = ns;
}

void timeline_code_end(struct timeline_code *code)
{
	struct code_track *track;
	char name[64];

	for (track = code->tracks; track; track = track->hh.next) {
		const struct recorded_thread *thread = track->thread;

		draw_calls(code, track);
		if (thread->vcpu >= 0)
			snprintf(name, sizeof(name), "vCPU %d: code", (int)thread->vcpu);
		else
			snprintf(name, sizeof(name), "%s: code", thread->comm);
		out_track(code->out, track->process, TRACK_IDS + thread->tid, name,
			  thread->vcpu >= 0 ? thread->vcpu : TRACK_IDS + thread->tid);
	}
}

static void track_free(struct code_track *track)
{
	free(track->calls);
	free(track);
}

void timeline_code_release(struct timeline_code *code)
{
	hash_free(code->tracks, track_free);
}
