// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads recordings. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "lib/xalloc.h"
#include "trace/recording/trace.h"
#include "trace/exits/recording.h"

#define EVENTS_A_LOOK 65536 /* events between two looks at the clock */
#define FIRST_NS 1e3 /* intervals of any length begin with this one */
#define NS_PER_S 1e9

void recording_add(struct recording *recording, const struct trace_event *event)
{
	if (event->type && event->stack)
		recorded_code_add(recording->code, &recording->pairing, event);
	else
		pairing_add(&recording->pairing, event);
}

static void read_events(struct recording *recording)
{
	const struct trace_event *event;
	struct progress progress;
	unsigned int nr = 0;

	progress_begin(&progress);
	while (trace_next(recording->trace, &event)) {
		recording_add(recording, event);
		if (++nr % EVENTS_A_LOOK == 0)
			progress_show(&progress, recording->trace);
	}
	progress_end(&progress);
}

/*
 * How long the clock's unit is: as the recording says, or by the TSC's frequency if the user gave
 * it (mhz > 0). 0: not known.
 */
static double ns_per_unit_of(const struct trace *trace, double mhz)
{
	const struct trace_info *info = trace_clock_info(trace);

	if (info->clock == TRACE_CLOCK_NS)
		return 1;
	if (info->clock == TRACE_CLOCK_COUNT)
		return 0;
	if (mhz > 0)
		return 1e3 / mhz;
	return info->tsc_khz ? 1e6 / info->tsc_khz : 0;
}

/* How what is read becomes ns, which is known before the first event. */
static void choose_unit(struct recording *recording)
{
	const struct recording_choice *choice = &recording->choice;
	double ns_per_unit = ns_per_unit_of(recording->trace, choice->mhz);
	bool is_count = trace_clock_info(recording->trace)->clock == TRACE_CLOCK_COUNT;
	bool is_any = choice->interval_s <= 0;
	struct pairing *pairing = &recording->pairing;

	recording->unit = UNIT_NS;
	recording->ns_per_unit = ns_per_unit;
	if (ns_per_unit <= 0) {
		recording->unit = UNIT_CYCLES;
		recording->ns_per_unit = is_count ? 0 : 1;
		return;
	}
	pairing->has_other_unit = ns_per_unit != 1;
	pairing->ns_per_unit = ns_per_unit;
	pairing->longer = (uint64_t)((double)choice->longer_ns / ns_per_unit);
	pairing->has_halts = choice->has_halts;
	if (choice->has_moments)
		intervals_init(&pairing->intervals, &pairing->table,
			       (is_any ? FIRST_NS : choice->interval_s * NS_PER_S) / ns_per_unit,
			       is_any ? NS_PER_S / ns_per_unit : 0);
}

int recording_open(const char *const *paths, size_t nr, const struct recording_choice *choice,
		   struct recording *ret_recording, struct error *error)
{
	struct recording *recording = ret_recording;
	int err;

	*recording = (struct recording){ .choice = *choice };
	err = trace_open(paths, nr, choice->kind, choice->buffer, &recording->trace, error);
	if (err)
		return err;
	pairing_init(&recording->pairing, recording->trace, choice->arguments, NULL);
	choose_unit(recording);
	if (choice->has_code) {
		trace_want_stacks(recording->trace);
		recording->code = recorded_code_new(recording->trace);
	}
	return 0;
}

void recording_end(struct recording *recording)
{
	const struct table *table = &recording->pairing.table;

	pairing_end(&recording->pairing);
	for (size_t i = 0; i < table->nr_threads; i++)
		guests_identify(recording->trace, table->threads[i]);
	recording->span_ns = units_in_ns(recording_span(recording), recording->ns_per_unit);
	recording->guests = guests_new(NULL);
	recording->vcpus = guests_of_table(recording->trace, table, &recording->pairing.guests,
					   recording->guests);
}

int recording_read(const char *const *paths, size_t nr, const struct recording_choice *choice,
		   struct recording *ret_recording, struct error *error)
{
	int err = recording_open(paths, nr, choice, ret_recording, error);

	if (err)
		return err;
	read_events(ret_recording);
	recording_end(ret_recording);
	return 0;
}

void recording_release(struct recording *recording)
{
	if (!recording->trace)
		return;
	guests_free(recording->guests);
	free(recording->vcpus);
	recorded_code_free(recording->code);
	pairing_release(&recording->pairing);
	trace_close(recording->trace);
	*recording = (struct recording){ .trace = NULL };
}

uint64_t recording_span(const struct recording *recording)
{
	const struct pairing *pairing = &recording->pairing;

	return pairing->last_time > pairing->first_time ?
		       pairing->last_time - pairing->first_time : 0;
}

/* ---- the rows of two samples, from the recording's counts */

struct recorded_player {
	const struct recording *recording;
	uint32_t source;
	struct played_rows rows; /* of the second sample; the first has none */
	struct stack_sums code;  /* the same */
	const struct want *want; /* the latest */
	bool is_at_end;		 /* the first sample was made, the second is next */
};

static void recorded_close(void *state)
{
	struct recorded_player *source = state;

	if (!source)
		return;
	played_rows_release(&source->rows);
	stack_sums_release(&source->code);
	free(source);
}

typedef void (*add_fn)(struct played_rows *rows, const struct recording *recording,
		       struct fields *fields, uint32_t source);

/* Any thread raises interrupts, arguments of no vCPU: there need not be an exit. */
static bool has_more_than_interrupts(const struct recorded_player *source,
				     const struct fields *fields)
{
	for (size_t i = 0; i < source->rows.nr; i++) {
		const struct key *key = &source->rows.list[i].key;

		if (key->vcpu >= 0 || fields_get(fields, key->field)->use != USE_ARGUMENT)
			return true;
	}
	return false;
}

static int open_source(const struct provider_args *args, add_fn add, const char *without,
		       void **ret_state, struct error *error)
{
	const struct recording *recording = args->recording;
	struct recorded_player *source = xcalloc(1, sizeof(*source));

	source->recording = recording;
	source->source = args->source;
	add(&source->rows, recording, args->fields, args->source);
	if (add == recorded_add_exits)
		recorded_code_sums(recording, args->fields, args->stacks, &source->code);
	if (!has_more_than_interrupts(source, args->fields) && !source->code.nr) {
		recorded_close(source);
		return error_set(error, -ENODATA, "%s", without);
	}
	played_rows_join(&source->rows, args->fields);
	*ret_state = source;
	return 0;
}

static int recorded_want(void *state, const struct want *want, struct error *error)
{
	struct recorded_player *source = state;

	(void)error;
	source->want = want;
	return 0;
}

static size_t recorded_rewind(void *state)
{
	struct recorded_player *source = state;

	source->is_at_end = false;
	return 2;
}

/* Times begin at 1: 0 would mean that the sample has no data of the source. */
static int recorded_collect(void *state, struct sample *sample, struct error *error)
{
	const uint32_t flags = ROW_NEW;
	struct recorded_player *source = state;
	bool is_end = source->is_at_end;

	(void)error;
	source->is_at_end = true;
	sample->time_ns[source->source] = 1 + (is_end ? source->recording->span_ns : 0);
	if (!is_end)
		return 0;
	played_rows_sample(&source->rows, &source->want->fields, flags, sample);
	if (source->code.nr)
		stack_sums_take(&sample->stacks, &source->code);
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
	const struct recorded_player *source = state;
	const struct trace *trace = source->recording->trace;
	const char *problem = trace_problem(trace, 0);

	if (problem)
		error_set(error, 0, "%s%s", problem, trace_problem(trace, 1) ? " ..." : "");
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

/* Reads recordings, and plays them as samples. */

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
