// SPDX-License-Identifier: GPL-2.0-or-later
/* `kvmtop report` on a terminal: the views of the live program over a recording. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/path.h"
#include "lib/say.h"
#include "cmd/run.h"
#include "cmd/report.h"
#include "history/past.h"
#include "history/recent.h"
#include "trace/exits/moments.h"
#include "ui/tui/tui.h"

#define MOMENTS_BYTES ((size_t)256 << 20)

/* The view to begin with. */
static const struct view_type *type_of(const struct options *options)
{
	if (options->view)
		return options->view;
	if (options->event >= EXITS_FIRST_ARGUMENT)
		return view_type_of(VIEW_HOTSPOTS);
	return view_type_by_groups(options->groups);
}

/* ---- what the title says */

static struct source_recording title_of(const struct report_facts *facts,
					const struct recording *recording)
{
	const struct pairing *pairing = &recording->pairing;
	struct source_recording title = {
		.span_ns = facts->recorded.span_ns,
		.longer_ns = facts->query.longer_ns,
		.nr_events = pairing->nr_events,
		.nr_counted = pairing->nr_counted,
		.nr_lost = pairing->nr_lost_events,
		.is_more_lost = pairing->has_unknown_loss,
	};
	size_t nr = 0;
	int len;

	while (trace_file(recording->trace, nr))
		nr++;
	len = snprintf(title.files, sizeof(title.files), "%s",
		       path_base(trace_file(recording->trace, 0)->path));
	if (nr > 1 && (size_t)len < sizeof(title.files))
		snprintf(title.files + len, sizeof(title.files) - (size_t)len,
			 " and %zu more", nr - 1);
	return title;
}

/* ---- the screen */

/* A terminal without a screen gets text, without a warning. past NULL: there is none. */
static int run(struct report_facts *facts, struct past *past, const struct source_recording *title,
	       const struct options *options)
{
	struct run base = RUN_INIT(options);
	int err = run_signals(&base, false, true);
	const struct tui_config config = {
		.monitor = facts->monitor,
		.recording = title,
		.past = past,
		.fields = monitor_fields(facts->monitor),
		.query = &facts->query,
		.no_mouse = options->no_mouse,
		.signals = base.signals,
	};

	if (!err)
		err = tui_run(&config, &(struct why){ "" });
	run_close(&base);
	return err;
}

static double interval_of(const struct recorded *recorded, const struct options *options)
{
	double shortest_s = moments_shortest_s(recorded);

	if (!options->has_interval)
		return moments_interval_s(recorded);
	if (options->interval_s >= shortest_s)
		return options->interval_s;
	fprintf(stderr, "kvmtop: -s %g would be too many samples: they are %g s apart\n",
		options->interval_s, shortest_s);
	return shortest_s;
}

/* A recording does not say what time of day it was: it begins at 00:00:00 of some day. */
static uint64_t local_midnight_ns(void)
{
	struct tm tm = { .tm_year = 70, .tm_mday = 2, .tm_isdst = -1 };
	time_t seconds = mktime(&tm);

	return (uint64_t)(seconds > 0 ? seconds : 86400) * UINT64_C(1000000000);
}

/* Without its moments the recording is shown as a whole, after a warning. */
static int run_with_moments(struct report_facts *facts, struct recording *recording,
			    const struct options *options, struct why *ret_why)
{
	struct source_recording title = title_of(facts, recording);
	struct fields *fields = monitor_fields(facts->monitor);
	const struct segment segment = {
		.interval_s = interval_of(&facts->recorded, options),
	};
	struct recent_writer writer = {
		.recent = recent_new(MOMENTS_BYTES, &segment),
		.start_ns = local_midnight_ns(),
	};
	struct why why = { "" };
	struct past *past = NULL;
	int err = moments_read(recording, &facts->recorded, fields, segment.interval_s,
			       recent_write, &writer, &why);

	recent_writer_release(&writer);
	if (err == -ESTALE) {
		recent_free(writer.recent);
		*ret_why = why;
		return err;
	}
	title.start_ns = writer.start_ns;
	title.interval_s = segment.interval_s;
	if (!err)
		err = past_new(recent_store(writer.recent), fields, &past);
	if (err)
		say_failure(err, &why);
	err = run(facts, past, &title, options);
	past_free(past);
	recent_free(writer.recent);
	return err;
}

/* Why the screen, which shows nanoseconds, cannot show the recording. */
static int why_no_time(const struct recording *recording, struct why *why)
{
	if (trace_clock_info(recording->trace)->clock == TRACE_CLOCK_COUNT)
		return why_set(why, -EINVAL, "the recording's clock counts events, not time: only "
					     "text can show it");
	return why_set(why, -EINVAL, "times are in TSC cycles: for the screen, give the TSC's "
				     "frequency with -f 2.4GHz");
}

int report_screen(struct recording *recording, const struct options *options,
		  struct why *why)
{
	struct report_facts facts;
	int err;

	if (!(recording_ns_per_unit(recording->trace, options->mhz) > 0))
		return why_no_time(recording, why);
	err = report_facts_init(&facts, recording, options, type_of(options), why);
	/*
	 * The screen cannot show a choice of several guests; the text says when there are no events
	 * of KVM.
	 */
	if (!err && (!facts.monitor || facts.is_none ||
		     (facts.query.nr_only && facts.query.guest == GUEST_ANY)))
		err = -ENOENT;
	facts.query.nr_only = 0; /* the query has the guest and the vCPU */
	if (!err)
		err = run_with_moments(&facts, recording, options, why);
	report_facts_release(&facts);
	return err;
}
