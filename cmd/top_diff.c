// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes a table of exits of each span, and compares them as two recordings are compared. */
#include <errno.h>
#include <stdio.h>

#include "cmd/top_diff.h"
#include "cmd/top_lines.h"
#include "history/interval.h"
#include "monitor.h"
#include "trace/report/report.h"
#include "ui/lines/lines.h"
#include "views/build.h"

struct side {
	struct interval *interval;
	struct monitor *monitor;
	struct query query;
	struct view view;
	struct lines_span about;
};

static int open_side(struct side *side, const char *range, const struct top_options *options,
		     struct store store, const struct when_origin *origin, struct why *why)
{
	struct monitor_config config = {
		.recording = { .players = interval_players, .recording = &side->interval },
	};
	uint64_t from_ns, to_ns;
	int err = when_parse_range(range, origin, &from_ns, &to_ns, why);

	if (!err)
		err = interval_new(store, NULL, &side->interval);
	if (!err)
		err = interval_read(side->interval, from_ns, to_ns, why);
	if (!err)
		err = top_query_past_guest(options, interval_guests(side->interval), &side->query,
					   why);
	if (err)
		return err;
	side->about = (struct lines_span){
		.from_ns = interval_first(side->interval)->time_ns -
			   interval_first(side->interval)->elapsed_ns,
		.to_ns = interval_last(side->interval)->time_ns,
		.elapsed_ns = interval_elapsed_ns(side->interval),
	};
	config.recording.guests = interval_guests(side->interval);
	config.recording.fields = interval_fields(side->interval);
	return monitor_open(&config, &side->monitor, why);
}

static int build(struct side *side, enum exit_kind event, struct why *why)
{
	int err;

	side->query.type = view_type_of(ROWS_TOTALS);
	side->query.sort = side->query.type->sort;
	side->query.event = event;
	side->query.groups = GROUP_REASON;
	side->query.is_whole = true;
	err = monitor_want(side->monitor, &side->query, why);
	if (!err)
		err = monitor_sample(side->monitor);
	return err ? err : view_build(&side->view, &side->query, monitor_facts(side->monitor));
}

static void release(struct side *side)
{
	view_release(&side->view);
	monitor_close(side->monitor);
	interval_free(side->interval);
}

static bool has_times(const struct view *view)
{
	int time = view_column_by_id(view->type, "time_ns");

	return view->total.cells[time].type == CELL_NS;
}

/* ---- writing ---- */

static void print_spans(const struct side sides[2])
{
	char from[WHEN_SIZE], to[WHEN_SIZE];

	for (int i = 0; i < 2; i++) {
		const struct lines_span *about = &sides[i].about;

		when_format(from, sizeof(from), about->from_ns, 0);
		when_format(to, sizeof(to), about->to_ns, about->from_ns);
		printf("%d: %s to %s, %.1f s\n", i + 1, from, to, (double)about->elapsed_ns / 1e9);
	}
	putchar('\n');
}

static int write_view(const struct top_options *options, const struct side sides[2],
		      const struct view *view, struct why *why)
{
	const struct lines_config config = {
		.format = options->json ? LINES_JSON : options->csv ? LINES_ROWS : LINES_TABLE,
		.span = &sides[1].about,
		.other_span = &sides[0].about,
	};
	struct lines *lines;
	int err = lines_open(&config, &lines, why), close_err;

	if (err)
		return err;
	if (config.format == LINES_TABLE)
		print_spans(sides);
	err = lines_write(lines, view, NULL, sides[1].about.elapsed_ns, why);
	close_err = lines_close(lines, err ? &(struct why){ "" } : why);
	return err ? err : close_err;
}

int top_diff(const struct top_options *options, const struct query *query, struct store store,
	     const struct when_origin *origin, struct why *why)
{
	struct side sides[2] = { { .query = *query }, { .query = *query } };
	struct report_side compared[2];
	struct view both = { .nr_rows = 0 };
	int err = 0;

	for (int i = 0; i < 2 && !err; i++)
		err = open_side(&sides[i], options->diff[i], options, store, origin, why);
	for (int i = 0; i < 2 && !err; i++)
		err = build(&sides[i], EXITS_VMEXIT, why);
	/* On hosts where KVM traces no VM exits there are those to user space. */
	for (int i = 0; i < 2 && !err && !(sides[0].view.nr_rows + sides[1].view.nr_rows); i++)
		err = build(&sides[i], EXITS_USERSPACE, why);
	for (int i = 0; i < 2 && !err; i++)
		compared[i] = (struct report_side){
			.path = options->diff[i],
			.view = &sides[i].view,
			.span = sides[i].about.elapsed_ns,
			.has_time = has_times(&sides[i].view),
		};
	if (!err)
		err = report_diff(compared, &both, why);
	if (!err)
		err = write_view(options, sides, &both, why);
	view_release(&both);
	release(&sides[0]);
	release(&sides[1]);
	return err;
}
