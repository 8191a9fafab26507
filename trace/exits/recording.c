// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads recordings. */
#include <stdlib.h>

#include "trace/recording/progress.h"
#include "trace/exits/recording.h"

#define EVENTS_A_LOOK 65536 /* events between two looks at the clock */

int recording_read_events(struct recording *recording, recording_event_fn add, void *arg)
{
	const struct trace_event *event;
	struct progress progress;
	unsigned int nr = 0;
	int got;

	progress_begin(&progress);
	while ((got = trace_next(recording->trace, &event)) > 0) {
		got = add(arg, event);
		if (got < 0)
			break;
		if (++nr % EVENTS_A_LOOK == 0)
			progress_show(&progress, recording->trace);
	}
	progress_end(&progress);
	return got;
}

static int add_event(void *arg, const struct trace_event *event)
{
	pairing_add(arg, event);
	return 0;
}

int recording_open(const char *const *paths, size_t nr, const struct recording_choice *choice,
		   struct recording *ret_recording, struct error *why)
{
	struct recording *recording = ret_recording;
	int err;

	*recording = (struct recording){ .paths = paths, .nr_paths = nr, .choice = *choice };
	err = trace_open(paths, nr, choice->kind, choice->buffer, &recording->trace, why);
	if (err)
		return err;
	pairing_init(&recording->pairing, recording->trace, choice->arguments, NULL);
	if (choice->longer_ns) {
		double ns_per_unit = recording_ns_per_unit(recording->trace, choice->mhz);

		if (ns_per_unit > 0)
			recording->pairing.longer =
				(uint64_t)((double)choice->longer_ns / ns_per_unit);
		recording->pairing.has_halts = choice->has_halts;
	}
	return 0;
}

int recording_read(const char *const *paths, size_t nr, const struct recording_choice *choice,
		   struct recording *ret_recording, struct error *why)
{
	struct recording *recording = ret_recording;
	const struct table *table = &recording->pairing.table;
	int err = recording_open(paths, nr, choice, recording, why);

	if (err)
		return err;
	err = recording_read_events(recording, add_event, &recording->pairing);
	for (size_t i = 0; i < table->nr_threads; i++)
		guests_identify(recording->trace, table->threads[i]);
	if (err)
		recording_release(recording);
	return err;
}

void recording_release(struct recording *recording)
{
	if (!recording->trace)
		return;
	pairing_release(&recording->pairing);
	trace_close(recording->trace);
	recording->trace = NULL;
}

double recording_ns_per_unit(const struct trace *trace, double mhz)
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

uint64_t recording_ns(uint64_t units, double ns_per_unit)
{
	double ns = (double)units * ns_per_unit + 0.5;

	return ns < (double)INT64_MAX ? (uint64_t)ns : INT64_MAX;
}

uint64_t recording_span(const struct recording *recording)
{
	const struct pairing *pairing = &recording->pairing;

	return pairing->last_time > pairing->first_time ?
		       pairing->last_time - pairing->first_time : 0;
}

void recorded_init(struct recorded *recorded, const struct recording *recording,
		   double ns_per_unit)
{
	*recorded = (struct recorded){
		.recording = recording,
		.ns_per_unit = ns_per_unit,
		.span_ns = recording_ns(recording_span(recording), ns_per_unit),
		.guests = guests_new(NULL),
	};
	recorded->vcpus = guests_of_table(recording->trace, &recording->pairing.table,
					  recorded->guests);
}

void recorded_release(struct recorded *recorded)
{
	guests_free(recorded->guests);
	free(recorded->vcpus);
	recorded->guests = NULL;
	recorded->vcpus = NULL;
}
