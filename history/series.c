// SPDX-License-Identifier: GPL-2.0-or-later
/* Extends a series to both sides, one moment after the other. */
#include <errno.h>
#include <string.h>

#include "history/play.h"
#include "lib/array.h"
#include "history/past.h"

#define GAP_NS UINT64_C(1000000000)

/* ---- one point */

static bool is_of(const struct reader *reader, const struct change *change,
		  const struct key *subject)
{
	uint32_t source;
	struct key key;

	/* Nearly all are of another field, and one field is looked up sooner than a key. */
	return reader_field(reader, change->key.field) == subject->field &&
	       reader_key(reader, &change->key, &source, &key) &&
	       (subject->guest == GUEST_ALL || key.guest == subject->guest) &&
	       (subject->vcpu < 0 || key.vcpu == subject->vcpu);
}

static int add_rows(struct reader *reader, const struct key *subject, bool has_times,
		    struct series_point *point, struct error *error)
{
	const struct changes *changes = &reader->moment.changes;
	int err = reader_changes(reader, point->id, has_times ? UNPACK_ALL : UNPACK_COUNTS, NULL,
				 error);

	for (size_t i = 0; !err && i < changes->nr; i++) {
		const struct change *change = &changes->list[i];
		const struct change_timing *timing = changes_timing(changes, change);

		if (change->flags & ~(CHANGE_NEW | CHANGE_HAS_RATE) ||
		    !is_of(reader, change, subject))
			continue;
		point->count += change->count;
		if (!timing || !has_times)
			continue;
		point->exit_ns += change_timing_spent_ns(timing);
		changes_add_counts(changes, timing, point->hist);
	}
	return err;
}

static int add_brief(struct reader *reader, const struct key *subject, struct series_point *point,
		     struct error *error)
{
	const struct brief *brief;
	int err = reader_brief(reader, point->id, &brief, error);

	if (!err && subject->field < brief->nr)
		point->count = brief->counts[subject->field];
	return err;
}

static int read_point(struct reader *reader, const struct stored *at, const struct key *subject,
		      bool has_times, struct series_point *ret_point, struct error *error)
{
	bool is_of_all = subject->guest == GUEST_ALL && subject->vcpu < 0;

	*ret_point = (struct series_point){
		.id = at->id,
		.time_ns = at->time_ns,
		.interval_ns = at->elapsed_ns,
		.is_gap = at->flags & MOMENT_AFTER_LOSS,
		.segment = at->segment,
	};
	return is_of_all && !has_times ? add_brief(reader, subject, ret_point, error) :
					 add_rows(reader, subject, has_times, ret_point, error);
}

/* Other BPF programs take a moment to begin counting: so short a time is no gap. */
static bool is_gap(const struct series_point *point, const struct series_point *before)
{
	return point->is_first && (point->segment != before->segment ||
				   point->time_ns - before->time_ns > point->interval_ns + GAP_NS);
}

/* ---- to both sides */

/* The first sample since what is counted changed has no interval, and no point. */
static int add_last(struct series *series, struct reader *reader, const struct stored *at,
		    bool has_times, struct error *error)
{
	int err = 0;

	array_grow(&series->points, &series->room, series->nr + 1);
	if (at->elapsed_ns)
		err = read_point(reader, at, &series->subject, has_times,
				 &series->points[series->nr], error);
	if (err)
		return err;
	if (at->elapsed_ns) {
		struct series_point *point = &series->points[series->nr++];

		point->is_first = series->is_after_start;
		if (series->nr > 1)
			point->is_gap |= is_gap(point, point - 1);
	}
	series->is_after_start = !at->elapsed_ns;
	series->last_id = at->id;
	series->last_segment = at->segment;
	if (series->nr > SERIES_MAX) {
		memmove(series->points, series->points + 1, --series->nr * sizeof(*series->points));
		series->first_id = series->points[0].id;
	}
	return 0;
}

static int add_first(struct series *series, struct reader *reader, const struct stored *at,
		     bool has_times, struct error *error)
{
	struct series_point point = { 0 };
	int err = 0;

	array_grow(&series->points, &series->room, series->nr + 1);
	if (at->elapsed_ns)
		err = read_point(reader, at, &series->subject, has_times, &point, error);
	if (err)
		return err;
	series->first_id = at->id;
	series->first_segment = at->segment;
	if (!at->elapsed_ns) {
		if (series->nr)
			series->points[0].is_first = true;
		return 0;
	}
	if (series->nr)
		series->points[0].is_gap |= is_gap(&series->points[0], &point);
	memmove(series->points + 1, series->points, series->nr++ * sizeof(*series->points));
	series->points[0] = point;
	if (series->nr > SERIES_MAX) {
		series->nr--;
		series->last_id = series->points[series->nr - 1].id;
		series->is_after_start = false;
	}
	return 0;
}

/* The moment next to the series. -ENOENT: there is none of the same boot. */
static int find_next(const struct series *series, struct reader *reader, bool is_back,
		     struct stored *ret_at, struct error *error)
{
	const struct stored end = {
		.id = is_back ? series->first_id : series->last_id,
		.segment = is_back ? series->first_segment : series->last_segment,
	};

	return reader_near_of_boot(reader, &end, is_back, ret_at, error);
}

static int extend(struct series *series, struct reader *reader, uint64_t id,
		  const struct series_span *span, struct error *error)
{
	size_t nr = 0, nr_after = 0, nr_wanted;
	struct stored at;
	int err = 0;

	for (size_t i = 0; i < series->nr; i++) {
		nr += series->points[i].id <= id;
		nr_after += series->points[i].id > id;
	}
	while (!err && (series->last_id < id || nr_after < span->nr_after)) {
		err = find_next(series, reader, false, &at, error);
		if (!err)
			err = add_last(series, reader, &at, span->has_times, error);
		nr += !err && at.elapsed_ns && at.id <= id;
		nr_after += !err && at.elapsed_ns && at.id > id;
	}
	if (err == -ENOENT)
		err = 0;
	nr_wanted = span->nr + (nr_after < span->nr_after ? span->nr_after - nr_after : 0);
	while (!err && nr < nr_wanted && nr < SERIES_MAX) {
		err = find_next(series, reader, true, &at, error);
		if (!err)
			err = add_first(series, reader, &at, span->has_times, error);
		nr += !err && at.elapsed_ns;
	}
	return err == -ENOENT ? 0 : err;
}

/* ---- the series */

/* Whether it is less work to go on from what is there than to begin anew. */
static bool is_near(const struct series *series, uint64_t id, const struct series_span *span)
{
	return series->first_id <= id + span->nr && id <= series->last_id + span->nr;
}

int series_read(struct series *series, struct reader *reader, const struct key *subject,
		const struct stored *at, const struct series_span *span, struct error *error)
{
	bool goes_on = series->last_id && key_equal(subject, &series->subject) &&
		       is_near(series, at->id, span);
	int err = 0;

	if (!goes_on) {
		series->subject = *subject;
		series->nr = 0;
		series->is_after_start = false;
		series->first_id = at->id;
		series->first_segment = at->segment;
		err = add_last(series, reader, at, span->has_times, error);
	}
	return err ? err : extend(series, reader, at->id, span, error);
}
