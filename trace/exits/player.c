// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes the rows of two samples from a recording's counts. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "lib/xalloc.h"
#include "trace/exits/recording.h"

struct source {
	const struct recording *recording;
	uint32_t source;
	struct played_rows rows; /* of the second sample; the first has none */
	const struct want *want; /* the latest */
	bool is_at_end;		 /* the first sample was made, the second is next */
};

static void recorded_close(void *state)
{
	struct source *source = state;

	if (!source)
		return;
	played_rows_release(&source->rows);
	free(source);
}

typedef void (*add_fn)(struct played_rows *rows, const struct recording *recording,
		       struct fields *fields, uint32_t source);

static int open_source(const struct provider_args *args, add_fn add, const char *without,
		       void **ret_state, struct error *error)
{
	const struct recording *recording = args->recording;
	struct source *source = xcalloc(1, sizeof(*source));

	source->recording = recording;
	source->source = args->source;
	add(&source->rows, recording, args->fields, args->source);
	if (!source->rows.nr) {
		recorded_close(source);
		return error_set(error, -ENODATA, "%s", without);
	}
	played_rows_join(&source->rows, args->fields);
	*ret_state = source;
	return 0;
}

static int recorded_want(void *state, const struct want *want, struct error *error)
{
	struct source *source = state;

	(void)error;
	source->want = want;
	return 0;
}

static size_t recorded_rewind(void *state)
{
	struct source *source = state;

	source->is_at_end = false;
	return 2;
}

/* Times begin at 1: 0 would mean that the sample has no data of the source. */
static int recorded_collect(void *state, struct sample *sample, struct error *error)
{
	const uint32_t flags = ROW_FROM_ZERO | ROW_WHOLE_INTERVAL;
	struct source *source = state;
	bool is_end = source->is_at_end;

	(void)error;
	source->is_at_end = true;
	sample->time_ns[source->source] = 1 + (is_end ? source->recording->span_ns : 0);
	if (is_end)
		played_rows_sample(&source->rows, &source->want->fields, flags, sample);
	return 0;
}

/* ---- events */

static int events_open(const struct provider_args *args, void **ret_state, struct error *error)
{
	return open_source(args, recorded_add_events, "the recording has no events of KVM",
			   ret_state, error);
}

/* Every sample has the problems of the recording. */
static int events_collect(void *state, struct sample *sample, struct error *error)
{
	const struct source *source = state;
	const struct trace *trace = source->recording->trace;
	const struct trace_problem *problem = trace_problem(trace, 0);

	if (problem)
		error_set(error, 0, "%s%s", problem->line, trace_problem(trace, 1) ? " ..." : "");
	return recorded_collect(state, sample, error);
}

static const struct provider events_player = {
	.name = "recording",
	.is_always_by_guest = true,
	.open = events_open,
	.want = recorded_want,
	.rewind = recorded_rewind,
	.collect = events_collect,
	.close = recorded_close,
};

/* ---- exits */

static int exits_open(const struct provider_args *args, void **ret_state, struct error *error)
{
	return open_source(args, recorded_add_exits,
			   "no VM exits are recorded: they are the events kvm_exit, kvm_entry and "
			   "kvm_userspace_exit",
			   ret_state, error);
}

static const struct provider exits_player = {
	.name = "exits",
	.is_always_by_guest = true,
	.is_of_exits = true,
	.open = exits_open,
	.want = recorded_want,
	.rewind = recorded_rewind,
	.collect = recorded_collect,
	.close = recorded_close,
};

const struct provider *const recorded_players[] = {
	[RECORDED_EVENTS] = &events_player,
	[RECORDED_EXITS] = &exits_player,
	NULL,
};
