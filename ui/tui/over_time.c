// SPDX-License-Identifier: GPL-2.0-or-later
/* What the selected row, or all rows, did over time: gathers its points, moves the time cursor. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "facts/exit_counter.h"
#include "host/guest.h"
#include "ui/tui/actions.h"

#define POINTS_MAX 512 /* as many as a wide screen has columns for */

/* The field that counts all exits; FIELD_NONE: there is none. */
static uint32_t all_exits(const struct tui *tui)
{
	const struct fields *fields = tui->facts.fields;
	struct exits exits = exits_choose(&tui->facts, false, false);

	for (uint32_t i = 0; i < fields_count(fields); i++) {
		if (exits_has(&exits, fields_get(fields, i)))
			return i;
	}
	return FIELD_NONE;
}

/*
 * What the selected row counts; all exits where no row is selected, and for rows of several fields
 * and of levels. It stays while the row is not in the view.
 */
static struct key find_subject(const struct tui *tui)
{
	const struct query *query = tui->query;
	const struct fields *fields = tui->facts.fields;
	const struct row_id *row = &tui->screen.cursor;
	struct key subject = { query->guest, query->has_vcpu ? query->vcpu : -1, FIELD_NONE };

	if (tui->screen.has_cursor && !row->is_rest) {
		if (row->field != FIELD_NONE &&
		    fields_get(fields, row->field)->kind == FIELD_COUNTER)
			subject.field = row->field;
		if (row->guest != GUEST_ANY)
			subject.guest = row->guest;
		if (row->vcpu >= 0)
			subject.vcpu = row->vcpu;
	}
	if (subject.field == FIELD_NONE)
		subject.field = query->has_reason ? query->reason : all_exits(tui);
	return subject;
}

static bool is_of(const struct key *key, const struct key *subject)
{
	return key->field == subject->field &&
	       (subject->guest == GUEST_ANY || key->guest == subject->guest) &&
	       (subject->vcpu < 0 || key->vcpu == subject->vcpu);
}

/* Makes room for one more point: the oldest is dropped when there are too many. */
static struct series_point *add_point(struct series *series)
{
	if (series->nr == POINTS_MAX) {
		series->nr--;
		memmove(series->points, series->points + 1, series->nr * sizeof(*series->points));
	} else if (array_grow(&series->points, &series->room, series->nr + 1) < 0) {
		return NULL;
	}
	series->points[series->nr] = (struct series_point){ 0 };
	return &series->points[series->nr++];
}

void tui_add_point(struct tui *tui)
{
	struct over_time *over_time = &tui->over_time;
	uint64_t elapsed_ns = monitor_elapsed_ns(tui->config.monitor);
	const struct facts *facts = monitor_facts(tui->config.monitor);
	struct series_point *point;
	struct timespec now;

	/* The first sample of a question has no interval before it. */
	if (!elapsed_ns || tui->sampling.due) {
		over_time->is_after_gap = over_time->series.nr > 0;
		return;
	}
	point = add_point(&over_time->series);
	if (!point)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	point->time_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	point->interval_ns = elapsed_ns;
	point->is_gap = over_time->is_after_gap;
	over_time->is_after_gap = false;
	for (size_t i = 0; i < stats_count(facts->stats); i++) {
		const struct stats_item *stat = stats_at(facts->stats, i);

		if (!is_of(&stat->key, &over_time->subject))
			continue;
		point->count += stat->delta;
		for (int bucket = 0; stat->timing && bucket < HIST_BUCKETS; bucket++)
			point->hist[bucket] += stat->timing->delta[bucket];
	}
}

static bool is_same(const struct key *a, const struct key *b)
{
	return a->guest == b->guest && a->vcpu == b->vcpu && a->field == b->field;
}

/* "MSR_WRITE 0x6e0 of db1 vCPU 2": what the points are of. */
static void describe(struct tui *tui)
{
	const struct key *subject = &tui->over_time.subject;
	const struct guest *guest = guests_find(tui->facts.guests, subject->guest);
	const struct field *field = fields_get(tui->facts.fields, subject->field);
	char *title = tui->screen.series_title;
	size_t size = sizeof(tui->screen.series_title);
	int len;

	if (field->use == USE_ARGUMENT && field->reason != FIELD_NONE)
		len = snprintf(title, size, "%s %s",
			       fields_get(tui->facts.fields, field->reason)->label, field->label);
	else if (field->use == USE_EXIT && field->parent == FIELD_NONE)
		len = snprintf(title, size, "all exits");
	else
		len = snprintf(title, size, "%s", field->label);
	if (guest && len < (int)size)
		len += snprintf(title + len, size - (size_t)len, " of %s", guest->name);
	if (subject->vcpu >= 0 && len < (int)size)
		snprintf(title + len, size - (size_t)len, " vCPU %d", (int)subject->vcpu);
}

/* The point that the time cursor is on: it moves to the left as points are added. */
static long find_time(const struct over_time *over_time)
{
	for (size_t i = 0; over_time->at_ns && i < over_time->series.nr; i++) {
		if (over_time->series.points[i].time_ns >= over_time->at_ns)
			return (long)i;
	}
	return -1;
}

void tui_toggle_heat(struct tui *tui)
{
	tui->screen.shows_heat = !tui->screen.shows_heat;
	tui->over_time.at_ns = 0;
}

void tui_move_time(struct tui *tui, long by)
{
	struct over_time *over_time = &tui->over_time;
	long nr = (long)over_time->series.nr, at = find_time(over_time);

	at = at < 0 ? nr - 1 : at;
	at = by < -at ? 0 : by >= nr - at ? nr : at + by;
	over_time->at_ns = at < nr - 1 ? over_time->series.points[at].time_ns : 0;
}

void tui_follow_series(struct tui *tui)
{
	struct over_time *over_time = &tui->over_time;
	struct key subject = find_subject(tui);

	if (!is_same(&subject, &over_time->subject)) {
		over_time->subject = subject;
		over_time->series.nr = 0;
		over_time->is_after_gap = false;
		if (subject.field != FIELD_NONE)
			tui_add_point(tui);
	}
	tui->screen.series = NULL;
	if (subject.field == FIELD_NONE)
		return;
	describe(tui);
	tui->screen.series = &over_time->series;
	tui->screen.series_cursor = find_time(over_time);
}
