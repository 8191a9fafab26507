// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Adds up moments. Totals, which are stored at intervals, save reading the changes of all moments
 * between them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/xalloc.h"
#include "core/monitor.h"
#include "core/views/query.h"
#include "core/views/view.h"
#include "history/interval.h"
#include "history/past.h"
#include "history/play.h"

/* Totals do not go on from the moment before one of these. */
#define BREAKS (MOMENT_FIRST | MOMENT_RESET | MOMENT_AFTER_LOSS)

struct interval {
	struct play play;
	struct reader *reader; /* of the play */
	struct fields *fields, *own_fields;
	struct guests *guests;
	struct moment low, high; /* two totals that are compared */
	uint64_t *ids; /* of the totals between them that have what was forgotten */
	size_t nr_ids, room_ids;
	struct tally tally;
	struct stored first, last; /* first: of what was read so far */
	uint64_t from_ns, to_ns;
	struct long_exits long_exits;
	uint64_t elapsed_ns, counted_ns[USES];
};

static const struct play_type interval_type;

struct interval *interval_new(struct store store, struct fields *fields)
{
	struct interval *interval = xcalloc(1, sizeof(*interval));

	interval->play.type = &interval_type;
	interval->reader = &interval->play.reader;
	reader_init(interval->reader, store, fields);
	interval->own_fields = fields ? NULL : fields_new();
	interval->fields = fields ? fields : interval->own_fields;
	interval->guests = guests_new(NULL);
	interval->tally = (struct tally){ .reader = interval->reader,
					  .fields = interval->fields,
					  .guests = interval->guests };
	return interval;
}

void interval_free(struct interval *interval)
{
	if (!interval)
		return;
	tally_release(&interval->tally);
	long_exits_release(&interval->long_exits);
	reader_release(interval->reader);
	guests_free(interval->guests);
	moment_release(&interval->low);
	moment_release(&interval->high);
	fields_free(interval->own_fields);
	free(interval->ids);
	free(interval);
}

struct guests *interval_guests(struct interval *interval)
{
	return interval->guests;
}

struct fields *interval_fields(struct interval *interval)
{
	return interval->fields;
}

const struct stored *interval_first(const struct interval *interval)
{
	return &interval->first;
}

const struct stored *interval_last(const struct interval *interval)
{
	return &interval->last;
}

uint64_t interval_elapsed_ns(const struct interval *interval)
{
	return interval->elapsed_ns;
}

/* ---- moments */

/* A moment's changes, unless it has no interval, or was dropped meanwhile. */
static int add_moment(struct interval *interval, const struct stored *stored, struct error *error)
{
	int err = -ENOENT;

	if (stored->elapsed_ns)
		err = reader_changes(interval->reader, stored->id, UNPACK_ALL, NULL, error);
	if (!err)
		tally_add(&interval->tally, &interval->reader->moment.changes,
			  stored->id == interval->last.id);
	return err == -ENOENT ? 0 : err;
}

/* The moments from `to` back to the first one that is later than low_id. */
static int add_moments(struct interval *interval, uint64_t low_id, const struct stored *to,
		       struct error *error)
{
	struct stored at = *to;
	int err = 0;

	while (!err && at.id > low_id) {
		err = add_moment(interval, &at, error);
		if (!err)
			err = reader_step(interval->reader, &at, true, &at, error);
	}
	return err == -ENOENT ? 0 : err;
}

/* ---- totals */

/* The totals after `low`, up to `high`, that have what was forgotten; the latest first. */
static int find_forgotten(struct interval *interval, uint64_t low_id, const struct stored *high,
			  struct error *error)
{
	struct stored at = *high;
	int err = 0;

	interval->nr_ids = 0;
	while (!err && at.id > low_id) {
		err = reader_find_flagged(interval->reader, at.id, MOMENT_HAS_FORGOTTEN, &at,
					  error);
		if (err || at.id <= low_id)
			break;
		*array_add(interval->ids, interval->nr_ids, interval->room_ids) = at.id--;
	}
	return err == -ENOENT ? 0 : err;
}

/* The moments after low_id, up to `high`: both have totals, which go on from one to the other. */
static int add_between(struct interval *interval, uint64_t low_id, const struct stored *high,
		       struct error *error)
{
	struct changes *low = &interval->low.totals;
	int err = 0;

	if (high->id == low_id)
		return 0;
	err = find_forgotten(interval, low_id, high, error);
	if (!err)
		err = reader_totals(interval->reader, low_id, &interval->low, error);
	while (!err && interval->nr_ids) {
		err = reader_totals(interval->reader, interval->ids[--interval->nr_ids],
				    &interval->high, error);
		if (!err)
			tally_add_forgotten(&interval->tally, low, &interval->high.totals);
	}
	if (!err)
		err = reader_totals(interval->reader, high->id, &interval->high, error);
	if (!err)
		tally_add_between(&interval->tally, low, &interval->high.totals);
	return err;
}

/* ---- stretches: moments of one segment, with totals that go on */

/* The first moment from `id` on that has totals; at most `high`, which has. */
static int find_totals(struct interval *interval, const struct stored *from, uint64_t high_id,
		       struct stored *ret_stored, struct error *error)
{
	struct stored at = *from;
	int err = 0;

	while (!err && at.id < high_id && !(at.flags & MOMENT_HAS_TOTALS))
		err = reader_step(interval->reader, &at, false, &at, error);
	*ret_stored = at;
	return err;
}

/* Keys that were there. */
static int add_present(struct interval *interval, uint64_t id, struct error *error)
{
	int err = reader_totals(interval->reader, id, &interval->high, error);

	if (!err)
		tally_add_present(&interval->tally, &interval->high.totals,
				  id == interval->last.id);
	return err;
}

static int add_stretch(struct interval *interval, const struct stored *from,
		       const struct stored *to, struct error *error)
{
	struct stored low, high;
	int err = reader_find_flagged(interval->reader, to->id, MOMENT_HAS_TOTALS, &high, error);

	if (err == -ENOENT)
		return add_moments(interval, from->id - 1, to, error);
	if (!err && high.id < from->id) {
		err = add_moments(interval, from->id - 1, to, error);
		return err ? err : add_present(interval, high.id, error);
	}
	if (!err)
		err = add_moments(interval, high.id, to, error);
	if (!err)
		err = add_present(interval, high.id, error);
	if (!err)
		err = find_totals(interval, from, high.id, &low, error);
	if (!err)
		err = add_between(interval, low.id, &high, error);
	return err ? err : add_moments(interval, from->id - 1, &low, error);
}

/* What is counted does not change in a stretch. Without any exit nothing shows what was. */
static void add_counted(struct interval *interval, uint64_t ns)
{
	bool is_known = interval->tally.uses & 1U << USE_EXIT;

	for (unsigned int i = 0; i < USES; i++)
		interval->counted_ns[i] += !is_known || interval->tally.uses & 1U << i ? ns : 0;
}

/* The time that a stretch took, the first moment's interval included. */
static int add_elapsed(struct interval *interval, const struct stored *from,
		       const struct stored *to, struct error *error)
{
	uint64_t before_ns[SAMPLE_SOURCES], most_ns = 0;
	const struct brief *brief;
	int err = reader_brief(interval->reader, from->id, &brief, error);

	if (!err)
		memcpy(before_ns, brief->source_ns, sizeof(before_ns));
	if (!err)
		err = reader_brief(interval->reader, to->id, &brief, error);
	for (unsigned int i = 0; !err && i < SAMPLE_SOURCES; i++) {
		uint64_t after_ns = brief->source_ns[i];

		if (before_ns[i] && after_ns > before_ns[i] && after_ns - before_ns[i] > most_ns)
			most_ns = after_ns - before_ns[i];
	}
	if (!err) {
		interval->elapsed_ns += most_ns + from->elapsed_ns;
		add_counted(interval, most_ns + from->elapsed_ns);
	}
	return err == -ENOENT ? 0 : err;
}

/* ---- guests */

/* Adds guests that are not known yet; of an earlier inventory they have ended. */
static void add_guests(struct interval *interval, const struct guests *guests, bool is_latest)
{
	const struct guest *guest;

	for (size_t i = 0; (guest = guests_ended_at(guests, i)); i++) {
		if (!guests_find(interval->guests, guest->id) &&
		    !guests_ended_at(interval->guests, GUESTS_ENDED - 1))
			guests_put(interval->guests, guest);
	}
	for (size_t i = 0; (guest = guests_at(guests, i)); i++) {
		struct guest copy = *guest;

		copy.has_ended = !is_latest;
		if (!guests_find(interval->guests, guest->id) &&
		    (is_latest || !guests_ended_at(interval->guests, GUESTS_ENDED - 1)))
			guests_put(interval->guests, &copy);
	}
}

static int read_guests(struct interval *interval, const struct stored *at, struct error *error)
{
	struct guests *here = guests_new(NULL);
	int err = reader_guests(interval->reader, at, here, error);

	if (!err)
		add_guests(interval, here, !guests_count(interval->guests) &&
						   !guests_ended_at(interval->guests, 0));
	guests_free(here);
	return err;
}

/* The inventories of a stretch, the latest first. */
static int add_inventories(struct interval *interval, const struct stored *from,
			   const struct stored *to, struct error *error)
{
	struct stored at = *to;
	int err;

	do {
		err = reader_find_flagged(interval->reader, at.id, MOMENT_HAS_GUESTS, &at, error);
		if (!err)
			err = read_guests(interval, &at, error);
	} while (!err && at.id-- > from->id);
	return err == -ENOENT ? 0 : err;
}

/* ---- the interval */

/* The stretch that ends with `to`, and the moment before the stretch; id 0: none. */
static int read_stretch(struct interval *interval, struct stored *to, struct error *error)
{
	struct stored from;
	int err = reader_find_flagged(interval->reader, to->id, BREAKS, &from, error);

	if (err == -ENOENT || from.id < interval->first.id) {
		from = interval->first; /* what is older was dropped, or is not of it */
		err = 0;
	}
	interval->tally.uses = 0;
	if (!err)
		err = add_inventories(interval, &from, to, error);
	if (!err)
		err = add_stretch(interval, &from, to, error);
	if (!err)
		err = add_elapsed(interval, &from, to, error);
	if (err)
		return err;
	if (from.id == interval->first.id) {
		to->id = 0;
		return 0;
	}
	return reader_step(interval->reader, &from, true, to, error);
}

/* The stretches of moments that follow each other, from the first one to `at`. */
static int read_run(struct interval *interval, struct stored *at, struct error *error)
{
	int err = 0;

	while (!err && at->id)
		err = read_stretch(interval, at, error);
	return err;
}

/*
 * Where the clock was set the moments of a time may be in several places: the latest comes first.
 */
int interval_read(struct interval *interval, uint64_t from_ns, uint64_t to_ns, struct error *error)
{
	struct reader *reader = interval->reader;
	struct stored at;
	int err = reader_run(reader, from_ns, to_ns, UINT64_MAX, &interval->first, &at, error);

	if (err) {
		interval->first.id = interval->last.id = 0;
		return err;
	}
	interval->from_ns = from_ns;
	interval->to_ns = to_ns;
	interval->last = at;
	err = reader_open(reader, interval->fields, error);
	if (err)
		return err;
	do {
		err = read_run(interval, &at, error);
		if (err)
			return err;
		err = reader_run(reader, from_ns, to_ns, interval->first.id, &interval->first, &at,
				 error);
	} while (!err);
	return err == -ENOENT ? 0 : err;
}

/* ---- long exits: of each moment that has any */

/*
 * Where the clock was set, moments of other times may be among the others. How long they were
 * listed is a part of the interval: the lengths of moments add up to another one.
 */
static int read_long_exits(struct interval *interval, struct error *error)
{
	struct long_exits *exits = &interval->long_exits;
	struct stored at = interval->first;
	uint64_t all_ns = 0;
	int err = 0;

	long_exits_reset(exits);
	if (!reader_has_long_exits(interval->reader))
		return 0;
	reader_hold(interval->reader, true);
	while (!err && at.id <= interval->last.id) {
		if (at.elapsed_ns && at.time_ns > interval->from_ns &&
		    at.time_ns <= interval->to_ns) {
			err = reader_long_exits(interval->reader, &at, exits, error);
			all_ns += at.elapsed_ns;
		}
		if (!err)
			err = reader_step(interval->reader, &at, false, &at, error);
	}
	reader_hold(interval->reader, false);
	if (exits->listed_ns)
		exits->listed_ns = (uint64_t)((double)interval->elapsed_ns *
					      ((double)exits->listed_ns / (double)all_ns));
	return err == -ENOENT ? 0 : err;
}

/* ---- playing */

static int play_open(struct play *play, struct fields *fields, struct error *error)
{
	(void)play;
	(void)fields; /* interval_fields() */
	(void)error;
	return 0;
}

static size_t play_rewind(struct play *play)
{
	(void)play;
	return 1;
}

static void play_collect(struct play *play, size_t nr, uint32_t source, const struct want *want,
			 struct sample *sample, struct error *error)
{
	struct interval *interval = (struct interval *)play;

	(void)nr;
	if (source == PROVIDER_EXITS && want->longer_ns && !read_long_exits(interval, error))
		play_long_exits(&interval->long_exits, sample);
	sample->time_ns[source] = 1 + interval->elapsed_ns; /* 0 is none */
	sample->elapsed_ns[source] = interval->elapsed_ns;
	memcpy(sample->counted_ns, interval->counted_ns, sizeof(sample->counted_ns));
	tally_play(&interval->tally, source, want, sample);
}

static const struct play_type interval_type = {
	.open = play_open,
	.rewind = play_rewind,
	.collect = play_collect,
};

/* ---- two intervals, compared: a table of exits of each */

int span_read(struct history_span *span, struct store store, struct fields *fields,
	      uint64_t from_ns, uint64_t to_ns, struct error *error)
{
	struct monitor_config config = {
		.list = history_players,
		.is_span = true,
		.recording.recording = &span->interval,
	};
	int err;

	span->interval = interval_new(store, fields);
	err = interval_read(span->interval, from_ns, to_ns, error);
	if (err)
		return err;
	config.recording.guests = interval_guests(span->interval);
	config.recording.fields = interval_fields(span->interval);
	return monitor_open(&config, &span->monitor, error);
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

static int build_span(struct history_span *span, struct error *error)
{
	int err;

	span->query.type = &view_exits;
	span->query.sort = view_default_sort(span->query.type);
	span->query.joins_names = true;
	err = monitor_want(span->monitor, &span->query, error);
	if (err)
		return err;
	monitor_sample(span->monitor);
	view_build(&span->view, &span->query, monitor_facts(span->monitor));
	return 0;
}

int spans_diff(struct history_span spans[2], struct view *ret_view, struct error *error)
{
	struct view_side sides[2];
	int err = build_span(&spans[0], error);

	if (!err)
		err = build_span(&spans[1], error);
	for (int i = 0; i < 2 && !err; i++)
		sides[i] = (struct view_side){
			.path = "",
			.view = &spans[i].view,
			.span = interval_elapsed_ns(spans[i].interval),
		};
	return err ? err : view_diff(sides, ret_view, error);
}
