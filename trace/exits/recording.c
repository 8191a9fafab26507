// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads recordings. */
#include <stdlib.h>

#include "trace/recording/trace.h"
#include "trace/exits/recording.h"

#define EVENTS_A_LOOK 65536 /* events between two looks at the clock */
#define FIRST_NS 1e3 /* intervals of any length begin with this one */
#define NS_PER_S 1e9

static void read_events(struct recording *recording)
{
	const struct trace_event *event;
	struct progress progress;
	unsigned int nr = 0;

	progress_begin(&progress);
	while (trace_next(recording->trace, &event)) {
		pairing_add(&recording->pairing, event);
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

	recording->unit = ns_per_unit > 0 ? UNIT_NS : UNIT_CYCLES;
	recording->ns_per_unit = ns_per_unit > 0 ? ns_per_unit : is_count ? 0 : 1;
	if (recording->unit == UNIT_CYCLES)
		return;
	pairing->has_other_unit = ns_per_unit != 1;
	pairing->ns_per_unit = ns_per_unit;
	pairing->longer = (uint64_t)((double)choice->longer_ns / ns_per_unit);
	pairing->has_halts = choice->has_halts;
	pairing->quiet = (uint64_t)((double)ENDED_QUIET_NS / ns_per_unit);
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
