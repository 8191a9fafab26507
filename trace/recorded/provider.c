// SPDX-License-Identifier: GPL-2.0-or-later
/* Two providers of what a recording says: its events, and its exits with what they took. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/recorded/provider.h"
#include "trace/recorded/rows.h"

int recorded_init(struct recorded *recorded, const struct recording *recording,
		  double ns_per_unit)
{
	uint64_t span = recording_span(&recording->tallies[TALLY_EVENTS]);
	int err = -ENOMEM;

	*recorded = (struct recorded){
		.recording = recording,
		.ns_per_unit = ns_per_unit,
		.span_ns = recording_ns(span, ns_per_unit),
		.guests = guests_new(NULL),
	};
	if (recorded->guests)
		err = recorded_find_guests(recorded);
	if (err)
		recorded_release(recorded);
	return err;
}

void recorded_release(struct recorded *recorded)
{
	guests_free(recorded->guests);
	free(recorded->vcpus);
	recorded->guests = NULL;
	recorded->vcpus = NULL;
}

/* ---- what both providers are */

struct source {
	struct provider_site site;
	struct recorded_rows rows;
	struct field_set wanted;
	bool has_begun; /* the first sample was taken */
};

static int recorded_probe(const struct env *env, struct why *why)
{
	(void)env;
	(void)why;
	return 0;
}

static void recorded_close(void *state)
{
	struct source *source = state;

	if (!source)
		return;
	recorded_rows_release(&source->rows);
	field_set_release(&source->wanted);
	free(source);
}

typedef int (*add_fn)(struct recorded_rows *rows, const struct provider_site *site);

static int open_source(const struct provider_site *site, add_fn add, const char *without,
		       void **ret_state, struct why *why)
{
	struct source *source = calloc(1, sizeof(*source));
	int err;

	if (!source)
		return -ENOMEM;
	source->site = *site;
	err = add(&source->rows, site);
	if (!err && !source->rows.nr)
		err = why_set(why, -ENODATA, "%s", without);
	if (err) {
		recorded_close(source);
		return err;
	}
	recorded_rows_join(&source->rows, site->fields);
	*ret_state = source;
	return 0;
}

static int recorded_want(void *state, const struct want *want, struct why *why)
{
	struct source *source = state;

	(void)why;
	source->has_begun = false;
	return field_set_copy(&source->wanted, &want->fields);
}

/* The time is the recording's own, and begins at 1: 0 means that there is none. */
static int recorded_collect(void *state, struct sample *sample, struct why *why)
{
	struct source *source = state;
	const struct recorded *recorded = source->site.recorded;
	bool is_end = source->has_begun;

	(void)why;
	source->has_begun = true;
	sample->time_ns[source->site.source] = 1 + (is_end ? recorded->span_ns : 0);
	return is_end ? recorded_rows_sample(&source->rows, &source->wanted, sample) : 0;
}

/* ---- events */

static int events_open(const struct provider_site *site, void **ret_state, struct why *why)
{
	return open_source(site, recorded_add_events, "the recording has no events of KVM",
			   ret_state, why);
}

/* What could not be read is said for as long as the rest is looked at. */
static int events_collect(void *state, struct sample *sample, struct why *why)
{
	const struct source *source = state;
	const struct trace *trace = source->site.recorded->recording->trace;
	const struct trace_problem *problem = trace_problem(trace, 0);

	if (problem)
		why_set(why, 0, "%s: at byte %" PRIu64 ": %s%s", problem->path, problem->offset,
			problem->text, trace_problem(trace, 1) ? " ..." : "");
	return recorded_collect(state, sample, &(struct why){ "" });
}

static const struct provider recorded_events_provider = {
	.name = "recording",
	.help = "KVM's events in a recording",
	.is_always_by_guest = true,
	.probe = recorded_probe,
	.open = events_open,
	.want = recorded_want,
	.collect = events_collect,
	.close = recorded_close,
};

/* ---- exits */

static int exits_open(const struct provider_site *site, void **ret_state, struct why *why)
{
	return open_source(site, recorded_add_exits,
			   "the recording has no VM exits: they are the events kvm_exit, kvm_entry "
			   "and kvm_userspace_exit",
			   ret_state, why);
}

static const struct provider recorded_exits_provider = {
	.name = "exits",
	.help = "VM exits in a recording by guest, vCPU and reason, with their time",
	.is_always_by_guest = true,
	.is_of_exits = true,
	.probe = recorded_probe,
	.open = exits_open,
	.want = recorded_want,
	.collect = recorded_collect,
	.close = recorded_close,
};

static const struct provider *const providers[] = {
	&recorded_events_provider,
	&recorded_exits_provider,
};

const struct provider *recorded_provider_at(size_t i)
{
	return i < sizeof(providers) / sizeof(providers[0]) ? providers[i] : NULL;
}
