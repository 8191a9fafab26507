// SPDX-License-Identifier: GPL-2.0-or-later
/* `kvmtop report` on a terminal: the views of the live program over a recording. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/live.h"
#include "monitor.h"
#include "trace/recorded/player.h"
#include "trace/recorded/recorded.h"
#include "trace/report/report.h"
#include "ui/tui/tui.h"
#include "views/query.h"

/* What one screen holds. */
struct look {
	struct recorded recorded;
	struct monitor *monitor;
	struct pattern *filter;
	struct query query;
	struct screen_recording title;
	struct live live;
};

/* ---- where to begin */

/* The nearest that the views have; NULL: theirs is as good. */
static const char *sort_id(enum report_column column, const struct view_type *type)
{
	static const char *const exits[NR_COLUMNS] = {
		[COLUMN_NAME] = "reason",	       [COLUMN_COUNT] = "total",
		[COLUMN_RATE] = "rate",		       [COLUMN_SHARE] = "share",
		[COLUMN_TOTAL] = "time_percent",       [COLUMN_TIME_SHARE] = "time_percent",
		[COLUMN_WALL_SHARE] = "time_percent",  [COLUMN_AVG] = "avg_ns",
		[COLUMN_P50] = "p50_ns",	       [COLUMN_P99] = "p99_ns",
		[COLUMN_MAX] = "max_ns",
	};
	static const char *const threads[NR_COLUMNS] = {
		[COLUMN_GUEST] = "guest", [COLUMN_PID] = "pid",	   [COLUMN_VCPU] = "vcpu",
		[COLUMN_TID] = "tid",	  [COLUMN_COUNT] = "total", [COLUMN_RATE] = "rate",
		[COLUMN_SHARE] = "share", [COLUMN_IDLE_SHARE] = "halt_percent",
	};

	return type->rows == ROWS_GUESTS || type->rows == ROWS_VCPUS ? threads[column] :
									exits[column];
}

/* A row for each of what: that is a view of its own. */
static const struct view_type *type_of(const struct report_options *options)
{
	if (options->tally_event == EXITS_USERSPACE)
		return view_type_of(ROWS_EVENTS);
	if (options->tally_event != EXITS_VMEXIT)
		return view_type_of(ROWS_ARGUMENTS);
	switch (options->group_by) {
	case BY_GUEST:
		return view_type_of(ROWS_GUESTS);
	case BY_VCPU:
	case BY_TID:
		return view_type_of(ROWS_VCPUS);
	default:
		return view_type_of(ROWS_EXITS);
	}
}

/* One kind of argument only, or only exits to user space. */
static int choose_filter(struct look *look, const struct report_options *options, struct why *why)
{
	char text[64];

	if (options->tally_event == EXITS_VMEXIT)
		return 0;
	snprintf(text, sizeof(text), "^%s%s\\(",
		 options->tally_event == EXITS_USERSPACE ? "kvm_" : "",
		 options->tally_event == EXITS_USERSPACE ? "userspace_exit" : options->event);
	return pattern_new(text, &look->filter, why);
}

/* -p: a guest, or one of its vCPUs. False: that is no view, such as several guests. */
static bool choose_guest(struct look *look, const char *pid)
{
	const struct guest *guest = guests_by_pid(look->recorded.guests, atoi(pid));

	if (strchr(pid, ',') || !guest)
		return false;
	look->query.guest = guest->id;
	for (size_t i = 0; i < guest->nr_vcpus; i++) {
		if (guest->vcpus[i].tid != atoi(pid) || guest->pid == atoi(pid))
			continue;
		look->query.has_vcpu = true;
		look->query.vcpu = guest->vcpus[i].index;
	}
	return true;
}

static int choose(struct look *look, const struct report_options *options, struct why *why)
{
	struct query *query = &look->query;
	const char *id;
	int column, err;

	query->type = type_of(options);
	query->sort = query->type->sort;
	query->children = query->type->has_trees;
	query->is_whole = true;
	if (options->pids && !choose_guest(look, options->pids))
		return -ENOENT;
	if (options->has_vcpu) {
		query->has_vcpu = true;
		query->vcpu = (int32_t)options->vcpu;
	}
	id = options->key ? sort_id(options->sort, query->type) : NULL;
	column = id ? view_column_by_id(query->type, id) : -ENOENT;
	if (column >= 0)
		query->sort = (size_t)column;
	err = choose_filter(look, options, why);
	query->filter = look->filter;
	return err;
}

/* ---- what the title says */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void describe(struct look *look, const struct recording *recording)
{
	const struct pairing *pairing = &recording->pairing;
	struct screen_recording *title = &look->title;
	size_t nr = 0;
	int len;

	while (trace_file(recording->trace, nr))
		nr++;
	len = snprintf(title->files, sizeof(title->files), "%s",
		       base_name(trace_file(recording->trace, 0)->path));
	if (nr > 1 && (size_t)len < sizeof(title->files))
		snprintf(title->files + len, sizeof(title->files) - (size_t)len,
			 " and %zu more", nr - 1);
	title->span_ns = look->recorded.span_ns;
	title->nr_events = pairing->nr_events;
	title->nr_lost = pairing->nr_lost_events;
	title->is_more_lost = pairing->has_unknown_loss;
}

/* ---- the screen */

static int begin(struct look *look, const struct recording *recording,
		 const struct report_options *options)
{
	const struct monitor_config config = {
		.recording = { recorded_players, &look->recorded, look->recorded.guests },
	};
	struct why why = { "" }; /* text says itself that there is nothing of KVM in it */
	int err = choose(look, options, &why);

	if (!err)
		err = monitor_open(&config, &look->monitor, &why);
	if (!err)
		err = monitor_want(look->monitor, &look->query, &why);
	if (!err)
		err = live_init(&look->live, false, true);
	describe(look, recording);
	return err;
}

/* A terminal that can show no screen is fine for text: that is no news. */
static int run(struct look *look)
{
	struct why why = { "" };
	const struct tui_config config = {
		.monitor = look->monitor,
		.recording = &look->title,
		.query = &look->query,
		.signals = look->live.signals,
	};

	return tui_run(&config, &why);
}

/* Why there is nothing to look at in these views: they have nanoseconds. */
static int why_no_time(const struct recording *recording, struct why *why)
{
	if (trace_file(recording->trace, 0)->clock == TRACE_CLOCK_COUNT)
		return why_set(why, -EINVAL, "the recording's clock only counts: without times "
					     "there is text only");
	return why_set(why, -EINVAL, "times are in cycles: for the screen, say with -f MHZ how "
				     "fast the TSC is");
}

int report_screen(const struct recording *recording, const struct report_options *options,
		  struct why *why)
{
	double ns_per_unit = recording_ns_per_unit(recording->trace, options->mhz);
	struct look look = { .live.signals = -1 };
	int err;

	if (!(ns_per_unit > 0))
		return why_no_time(recording, why);
	err = recorded_init(&look.recorded, recording, ns_per_unit);
	if (err)
		return err;
	err = begin(&look, recording, options);
	if (!err)
		err = run(&look);
	monitor_close(look.monitor);
	pattern_free(look.filter);
	field_set_release(&look.query.open);
	recorded_release(&look.recorded);
	if (look.live.signals >= 0)
		close(look.live.signals);
	return err;
}
