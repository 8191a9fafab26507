// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes a table of exits of each span, and compares these. */
#include <errno.h>

#include "core/monitor.h"
#include "core/views/diff.h"
#include "history/interval.h"
#include "history/past.h"
#include "core/views/query.h"

int span_read(struct history_span *span, struct store store, struct fields *fields,
		     uint64_t from_ns, uint64_t to_ns, struct error *why)
{
	struct monitor_config config = {
		.list = history_players,
		.is_span = true,
		.recording.recording = &span->interval,
	};
	int err;

	span->interval = interval_new(store, fields);
	err = interval_read(span->interval, from_ns, to_ns, why);
	if (err)
		return err;
	config.recording.guests = interval_guests(span->interval);
	config.recording.fields = interval_fields(span->interval);
	return monitor_open(&config, &span->monitor, why);
}

void span_release(struct history_span *span)
{
	view_release(&span->view);
	monitor_close(span->monitor);
	interval_free(span->interval);
	*span = (struct history_span){ 0 };
}

unsigned int span_groups(const struct view_type *type)
{
	return type->groups & GROUP_GUEST ? type->groups : GROUP_REASON;
}

static int build(struct history_span *span, enum exit_kind event, struct error *why)
{
	int err = 0;

	span->query.type = &view_exit_totals;
	span->query.sort = view_usual_sort(span->query.type);
	span->query.event = event;
	err = monitor_want(span->monitor, &span->query, why);
	if (err)
		return err;
	monitor_sample(span->monitor);
	view_build(&span->view, &span->query, monitor_facts(span->monitor));
	return 0;
}

static int build_both(struct history_span spans[2], enum exit_kind event, struct error *why)
{
	int err = build(&spans[0], event, why);

	return err ? err : build(&spans[1], event, why);
}

int spans_diff(struct history_span spans[2], struct view *ret_view, struct error *why)
{
	struct view_side sides[2];
	int err = build_both(spans, EXITS_VMEXIT, why);

	/* Where KVM traces no VM exits, the exits to user space are compared. */
	if (!err && !spans[0].view.nr_rows && !spans[1].view.nr_rows)
		err = build_both(spans, EXITS_USERSPACE, why);
	for (int i = 0; i < 2 && !err; i++)
		sides[i] = (struct view_side){
			.path = "",
			.view = &spans[i].view,
			.span = interval_elapsed_ns(spans[i].interval),
		};
	return err ? err : view_diff(sides, ret_view, why);
}
