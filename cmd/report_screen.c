// SPDX-License-Identifier: GPL-2.0-or-later
/* `kvmtop report` on a terminal: the views of the live program over a recording. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/say.h"
#include "cmd/run.h"
#include "cmd/report.h"
#include "trace/exits/moments.h"
#include "ui/tui/tui.h"

/* The view to begin with. */
static const struct view_type *type_of(const struct options *options)
{
	if (options->view)
		return options->view;
	if (options->event >= EXITS_FIRST_ARGUMENT)
		return view_type_of(VIEW_HOTSPOTS);
	return view_type_by_groups(options->groups);
}

/* ---- the screen */

/* A terminal that cannot show a screen gets text, without a warning. */
static int run(struct report_facts *facts, const struct source *source,
	       const struct options *options)
{
	struct run base = RUN_INIT(options);
	int err = run_signals(&base, false, true);
	const struct tui_config config = {
		.source = source,
		.query = &facts->query,
		.no_mouse = options->no_mouse,
		.preferences = &options->preferences,
		.is_sorted = options->sort != NULL,
		.signals = base.signals,
	};

	if (!err)
		err = tui_run(&config, &(struct error){ "" });
	run_close(&base);
	return err;
}

double report_interval_s(const struct recorded *recorded, const struct options *options)
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

/* Without its moments the recording is shown as a whole, after a warning. */
static int run_with_moments(struct report_facts *facts, struct source *source,
			    const struct options *options, struct error *ret_why)
{
	struct error why = { "" };
	int err = source_read_moments(source, report_interval_s(&facts->reading->recorded, options),
				      &why);

	if (err == -ESTALE) {
		*ret_why = why;
		return err;
	}
	if (err)
		say_failure(err, &why);
	return run(facts, source, options);
}

/* Why the screen, which shows nanoseconds, cannot show the recording. */
static int why_no_time(const struct recording *recording, struct error *why)
{
	if (trace_clock_info(recording->trace)->clock == TRACE_CLOCK_COUNT)
		return error_set(why, -EINVAL,
				 "the recording's clock counts events, not time: only "
					     "text can show it");
	return error_set(why, -EINVAL, "times are in TSC cycles: for the screen, give the TSC's "
				     "frequency with -f 2.4GHz");
}

int report_screen(struct source *source, const struct options *options, struct error *why)
{
	const struct recording *recording = &source_reading(source)->recording;
	struct report_facts facts;
	int err;

	if (source_reading(source)->unit == UNIT_CYCLES)
		return why_no_time(recording, why);
	err = report_facts_init(&facts, source, options, type_of(options), why);
	/*
	 * The screen cannot show a choice of several guests; the text says when there are no events
	 * of KVM.
	 */
	if (!err && (!facts.monitor || facts.is_none ||
		     (facts.query.nr_only && facts.query.guest == GUEST_ANY)))
		err = -ENOENT;
	facts.query.nr_only = 0; /* the query has the guest and the vCPU */
	if (!err)
		err = run_with_moments(&facts, source, options, why);
	report_facts_release(&facts);
	return err;
}
