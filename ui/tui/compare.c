// SPDX-License-Identifier: GPL-2.0-or-later
/* Two moments side by side: a mark at one, and at another one a table of what changed most. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/when.h"
#include "lib/xalloc.h"
#include "history/past.h"
#include "core/guests/guests.h"
#include "history/interval.h"
#include "ui/tui/session.h"

/* The guest's id in the span: ids may differ from span to span. */
static uint32_t guest_in(const struct tui *tui, uint32_t id, const struct guests *guests)
{
	const struct guest *wanted = guests_find(tui->facts.guests, id), *guest;

	for (size_t i = 0; wanted && (guest = guests_at(guests, i)); i++) {
		if (guest->pid == wanted->pid && guest->start_ticks == wanted->start_ticks)
			return guest->id;
	}
	for (size_t i = 0; wanted && (guest = guests_ended_at(guests, i)); i++) {
		if (guest->pid == wanted->pid && guest->start_ticks == wanted->start_ticks)
			return guest->id;
	}
	return id;
}

/*
 * The query of the span gets the vCPUs that are shown, on one host CPU. They are compared although
 * they may have been on other CPUs at the other moment. 0, or -errno with error.
 */
static int set_vcpus(const struct tui *tui, struct history_span *span, struct vcpu_key **ret_keys,
		     struct error *error)
{
	const struct guests *guests = interval_guests(span->interval);
	const struct view *view = &tui->view;
	struct vcpu_key *keys = xcalloc(view->nr_rows + 1, sizeof(*keys));

	*ret_keys = keys;
	for (size_t i = 0; i < view->nr_rows; i++) {
		const struct view_row *row = &view->rows[i];

		if (row->guest != GUEST_NONE && row->vcpu >= 0)
			keys[span->query.nr_only++] = (struct vcpu_key){
				guest_in(tui, row->guest, guests), row->vcpu
			};
	}
	span->query.only = keys;
	if (!span->query.nr_only)
		return error_set(error, -ENOENT,
				 "No vCPU is on this CPU at this moment: choose another moment");
	return 0;
}

/* What is looked at, by the ids that the guest and the reason have in the span. */
static struct query query_in(const struct tui *tui, const struct history_span *span)
{
	const struct query *query = tui->query;
	struct query here = {
		.filter = query->filter,
		.groups = span_groups(query->type),
		.has_vcpu = query->has_vcpu,
		.vcpu = query->vcpu,
		.has_reason = query->has_reason,
	};

	if (query->guest != GUEST_ALL)
		here.guest = guest_in(tui, query->guest, interval_guests(span->interval));
	if (query->has_reason)
		here.reason = fields_find(interval_fields(span->interval),
					  fields_get(tui->facts.fields, query->reason)->name);
	return here;
}

/* The interval of one moment. */
static int read_moment(struct tui *tui, uint64_t time_ns, int i, struct error *error)
{
	struct history_span *span = &tui->comparison.spans[i];
	int err = span_read(span, tui->source->store, source_fields(tui->source),
				   time_ns - 1, time_ns, error);

	if (err)
		return err;
	span->query = query_in(tui, span);
	return tui->query->has_cpu ? set_vcpus(tui, span, &tui->comparison.only[i], error) : 0;
}

/* With milliseconds: samples may be less than a second apart. A recording has no time of day. */
static void format_moment(const struct tui *tui, uint64_t time_ns, char *text, size_t size)
{
	const struct source_recording *recording = &tui->source->recording;

	if (tui_is_recording(tui))
		snprintf(text, size, "%.3f s", (double)(time_ns - recording->start_ns) / 1e9);
	else
		when_format_ms(text, size, time_ns, clock_real_ns());
}

static void describe(struct tui *tui, uint64_t one_ns, uint64_t other_ns)
{
	struct screen_detail *detail = &tui->screen.comparison;
	char one[WHEN_SIZE], other[WHEN_SIZE];

	format_moment(tui, one_ns, one, sizeof(one));
	format_moment(tui, other_ns, other, sizeof(other));
	snprintf(detail->title, sizeof(detail->title), "1: %s  2: %s  what changed most is first",
		 one, other);
}

/* Returns whether the comparison is shown; else a notice says why not. */
static bool show(struct tui *tui, uint64_t one_ns, uint64_t other_ns)
{
	struct comparison *comparison = &tui->comparison;
	struct error error = { "" };
	int err;

	tui_release_comparison(tui);
	err = read_moment(tui, one_ns, 0, &error);
	if (!err)
		err = read_moment(tui, other_ns, 1, &error);
	if (!err)
		err = spans_diff(comparison->spans, &comparison->view, &error);
	if (err) {
		tui_say(tui, error.text[0] ? error.text : strerror(-err));
		return false;
	}
	comparison->query = (struct query){ .type = comparison->view.type };
	tui->screen.comparison.view = &comparison->view;
	tui->screen.comparison.query = &comparison->query;
	tui->screen.comparison.empty = "Neither moment has anything that this view shows.";
	tui->screen.page_top = 0;
	describe(tui, one_ns, other_ns);
	tui->screen.page = PAGE_COMPARISON;
	return true;
}

void tui_mark(struct tui *tui)
{
	struct comparison *comparison = &tui->comparison;
	const struct stored *at;

	if (tui_is_recording(tui) && !tui->back.monitor) {
		tui_say(tui, "The entire recording is no moment: choose one first, with t, T or j");
		return;
	}
	if (!tui_hold(tui))
		return;
	at = past_at(tui->source->past);
	if (!at->elapsed_ns) {
		tui_say(tui, "The first sample of a run has no rates: choose another moment");
	} else if (!comparison->marked_ns || comparison->marked_ns == at->time_ns) {
		comparison->marked_ns = at->time_ns;
		tui_say(tui, "Marked: d at another moment shows what changed since this one");
	} else if (show(tui, comparison->marked_ns, at->time_ns)) {
		comparison->marked_ns = 0;
	}
	tui_show_moment(tui);
}

void tui_release_comparison(struct tui *tui)
{
	struct comparison *comparison = &tui->comparison;

	view_release(&comparison->view);
	comparison->view = (struct view){ .nr_rows = 0 };
	for (int i = 0; i < 2; i++) {
		span_release(&comparison->spans[i]);
		free(comparison->only[i]);
		comparison->only[i] = NULL;
	}
}
