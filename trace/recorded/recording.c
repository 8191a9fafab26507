// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads recordings into tallies. */
#include "trace/progress.h"
#include "trace/recorded/recording.h"

#define EVENTS_A_LOOK 65536 /* events between two looks at the clock */

/* The tallies to feed, close together: they are gone through for every event. */
struct feed {
	struct tally *tallies[TALLY_KINDS];
	unsigned int nr;
};

static struct feed feed_of(struct recording *recording)
{
	struct feed feed = { .nr = 0 };

	for (unsigned int i = 0; i < TALLY_KINDS; i++) {
		if (recording->events & 1U << i)
			feed.tallies[feed.nr++] = &recording->tallies[i];
	}
	return feed;
}

static int take_event(const struct feed *feed, const struct trace_event *event)
{
	int err = tally_add(feed->tallies[0], event); /* mostly the only one */

	for (unsigned int i = 1; i < feed->nr && !err; i++)
		err = tally_add(feed->tallies[i], event);
	return err;
}

static int read_events(struct recording *recording)
{
	const struct feed feed = feed_of(recording);
	const struct trace_event *event;
	struct progress progress;
	unsigned int nr = 0;
	int got;

	progress_begin(&progress);
	while ((got = trace_next(recording->trace, &event)) > 0) {
		got = take_event(&feed, event);
		if (got < 0)
			break;
		if (++nr % EVENTS_A_LOOK == 0)
			progress_show(&progress, recording->trace);
	}
	progress_end(&progress);
	for (unsigned int i = 0; i < feed.nr; i++)
		tally_end(feed.tallies[i]);
	return got;
}

int recording_read(const char *const *paths, size_t nr, enum trace_kind kind, unsigned int events,
		   struct recording *ret_recording, struct why *why)
{
	struct recording *recording = ret_recording;
	int err;

	*recording = (struct recording){ .events = events };
	err = trace_open(paths, nr, kind, &recording->trace, why);
	if (err)
		return err;
	for (unsigned int i = 0; i < TALLY_KINDS; i++)
		tally_init(&recording->tallies[i], i, recording->trace);
	err = read_events(recording);
	if (err)
		recording_release(recording);
	return err;
}

void recording_release(struct recording *recording)
{
	if (!recording->trace)
		return;
	for (unsigned int i = 0; i < TALLY_KINDS; i++)
		tally_release(&recording->tallies[i]);
	trace_close(recording->trace);
	recording->trace = NULL;
}

double recording_ns_per_unit(const struct trace *trace, double mhz)
{
	const struct trace_info *info = trace_file(trace, 0);

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

uint64_t recording_span(const struct tally *tally)
{
	return tally->last_time > tally->first ? tally->last_time - tally->first : 0;
}
