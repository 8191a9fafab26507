// SPDX-License-Identifier: GPL-2.0-or-later
/* What the selected row, or all rows, did over time. */
#include <stdio.h>
#include <string.h>

#include "lib/text.h"
#include "core/facts/facts.h"
#include "history/past.h"
#include "history/recorder.h"
#include "core/guests/guests.h"
#include "ui/screen/picture.h"
#include "ui/tui/session.h"

#define BESIDE_HISTORY 20 /* columns that the rate and the scale of the history take at least */
#define FLUSH_MS 50 /* until the latest sample is remembered */

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
 * What the selected row counts. Without a selected row, and for rows of several fields or of
 * levels, it is all exits. It stays while the row is not in the view.
 */
static struct key find_subject(const struct tui *tui)
{
	const struct query *query = tui->query;
	const struct fields *fields = tui->facts.fields;
	const struct row_id *row = &tui->screen.cursor;
	struct key subject = { query->guest, query->has_vcpu ? query->vcpu : -1, FIELD_NONE };

	if (tui->screen.has_cursor && !row->is_rest && row->guest != STATS_ENDED) {
		if (row->field != FIELD_NONE &&
		    fields_get(fields, row->field)->kind == FIELD_COUNTER)
			subject.field = row->field;
		if (row->guest != GUEST_NONE)
			subject.guest = row->guest;
		if (row->vcpu >= 0)
			subject.vcpu = row->vcpu;
	}
	if (subject.field == FIELD_NONE)
		subject.field = query->has_reason ? query->reason : all_exits(tui);
	return subject;
}

/* "MSR_WRITE 0x6e0 of db1 vCPU 2": the heading of the points. */
static void describe(struct tui *tui, const struct key *subject)
{
	const struct guest *guest = guests_find(tui->facts.guests, subject->guest);
	const struct field *field = fields_get(tui->facts.fields, subject->field);
	char *title = tui->screen.series_title;
	size_t size = sizeof(tui->screen.series_title);

	if (field->use == USE_ARGUMENT && field->reason != FIELD_NONE)
		text_put(title, size, "%s %s", fields_get(tui->facts.fields, field->reason)->label,
			 field->label);
	else if (field->use == USE_EXIT && field->parent == FIELD_NONE)
		text_put(title, size, "all exits");
	else
		text_put(title, size, "%s", field->label);
	if (guest)
		text_add(title, size, " of %s", guest->name);
	if (subject->vcpu >= 0)
		text_add(title, size, " vCPU %d", (int)subject->vcpu);
}

void tui_toggle_heat(struct tui *tui)
{
	tui->screen.shows_heat = !tui->screen.shows_heat;
}

/*
 * The index of the point of the moment that is shown; -1: now is shown. The first sample of a run
 * has no point: then it is the point after it.
 */
static void find_moment(struct tui *tui)
{
	const struct stored *at = past_at(tui->source->past);
	const struct series *series = &tui->series;
	struct screen *screen = &tui->screen;
	size_t i = 0;

	screen->series_cursor = -1;
	screen->series_first_ns = 0;
	if (!tui->back.monitor)
		return;
	while (i < series->nr && series->points[i].id < at->id)
		i++;
	screen->series_cursor = (long)i;
	if (i == series->nr || series->points[i].id != at->id)
		screen->series_first_ns = at->time_ns;
}

/*
 * The points of the subject up to now, or around the moment that is shown. *ret_nr_missing:
 * how many of the latest samples are not remembered yet.
 */
static int gather(struct tui *tui, const struct key *subject, const struct series_span *span,
		  struct series *series, size_t *ret_nr_missing)
{
	*ret_nr_missing = 0;
	if (tui->source->recorder)
		*ret_nr_missing = recorder_flush(tui->source->recorder, FLUSH_MS);
	return past_series(tui->source->past, subject, !tui_plays_moment(tui), span, series,
			   &(struct error){ "" });
}

/* The points up to the moment that is shown, each at its position from the end. */
static void fill_history(const struct tui *tui, struct history *history)
{
	const struct series *series = &history->exits;
	uint64_t last = tui_plays_moment(tui) ? past_at(tui->source->past)->id : UINT64_MAX;
	size_t nr = series->nr;

	while (nr && series->points[nr - 1].id > last)
		nr--;
	for (size_t i = SCREEN_HISTORY; i-- > 0;) {
		const struct series_point *point = nr ? &series->points[--nr] : NULL;
		double seconds = point ? (double)point->interval_ns / 1e9 : 0;

		history->intervals_s[i] = (float)seconds;
		history->rates[i] = point ? (float)((double)point->count / seconds) : -1;
	}
}

static int gather_history(struct tui *tui, const struct key *subject, size_t room)
{
	struct history *history = &tui->history;
	const struct field *field = fields_get(tui->facts.fields, subject->field);
	const struct series_span span = { .nr = room };
	size_t nr_missing;
	int err = gather(tui, subject, &span, &history->exits, &nr_missing);

	if (err)
		return err;
	fill_history(tui, history);
	history->subject = *subject;
	history->room = room;
	/* Ticks of different played moments cannot be compared. */
	history->tick = tui_plays_moment(tui) || nr_missing ? 0 :
			tui->facts.stats->latest[field->source];
	return 0;
}

/* The rate in the latest interval; < 0: not known. */
static double latest_rate(const struct facts *facts, const struct key *subject)
{
	double rate = -1;

	for (size_t i = 0; i < facts->stats->nr; i++) {
		const struct stats_item *stat = &facts->stats->list[i];

		if (stat->key.field == subject->field && stat->has_rate &&
		    (subject->guest == GUEST_ALL || stat->key.guest == subject->guest))
			rate = (rate < 0 ? 0 : rate) + stat->rate_per_s;
	}
	return rate;
}

/* Adds the latest sample to the earlier ones. False: the sample before it is not there. */
static bool go_on(struct tui *tui, const struct key *subject, size_t room)
{
	struct history *history = &tui->history;
	const struct stats *stats = tui->facts.stats;
	uint32_t source = fields_get(tui->facts.fields, subject->field)->source;
	uint64_t tick = stats->latest[source];
	size_t rest = SCREEN_HISTORY - 1;

	if (tui_plays_moment(tui) || !history->tick || history->room != room ||
	    memcmp(subject, &history->subject, sizeof(*subject)) != 0)
		return false;
	if (tick == history->tick)
		return true;
	if (stats->before[source] != history->tick)
		return false;
	memmove(history->rates, history->rates + 1, rest * sizeof(*history->rates));
	memmove(history->intervals_s, history->intervals_s + 1,
		rest * sizeof(*history->intervals_s));
	history->rates[rest] = (float)latest_rate(&tui->facts, subject);
	history->intervals_s[rest] = (float)((double)stats->elapsed_ns[source] / 1e9);
	history->tick = tick;
	return true;
}

void tui_follow_history(struct tui *tui)
{
	size_t cols = tui->grid.cols > BESIDE_HISTORY ? (size_t)tui->grid.cols - BESIDE_HISTORY : 1;
	size_t room = cols < SCREEN_HISTORY ? cols : SCREEN_HISTORY;
	struct key subject = { tui->query->guest, -1, all_exits(tui) };

	tui->screen.history = NULL;
	tui->screen.intervals_s = NULL;
	if (subject.field == FIELD_NONE ||
	    (!go_on(tui, &subject, room) && gather_history(tui, &subject, room) < 0))
		return;
	tui->screen.history = tui->history.rates;
	tui->screen.intervals_s = tui->history.intervals_s;
}

void tui_follow_series(struct tui *tui)
{
	struct key subject = find_subject(tui);
	size_t nr = tui->grid.cols > 0 ? (size_t)tui->grid.cols : 0;
	/* A moment of the past is in the middle, unless the end is near. */
	const struct series_span now = { .nr = nr, .has_times = true };
	const struct series_span then = { .nr = nr / 2, .nr_after = nr / 2, .has_times = true };
	size_t nr_missing;

	tui->screen.series = NULL;
	if (subject.field == FIELD_NONE ||
	    !screen_shows_series(&tui->screen, &tui->grid) ||
	    gather(tui, &subject, tui->back.monitor ? &then : &now,
		   &tui->series, &nr_missing) < 0 || !tui->series.nr)
		return;
	describe(tui, &subject);
	tui->screen.series = &tui->series;
	find_moment(tui);
}
