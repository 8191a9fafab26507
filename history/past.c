// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Plays the chosen moment after the moments before it, so that stats and sparklines are what a live
 * program would have had.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "history/past.h"
#include "history/segment_ids.h"
#include "history/state.h"

/* The totals after a moment: moments that are chosen later begin with them. */
struct milestone {
	uint64_t id; /* 0: none */
	struct state state;
};

#define MILESTONES 10
#define MILESTONE_STEP 16 /* moments between two of them */

struct past {
	struct store store;
	struct segment_ids *ids;
	struct guests *guests;
	struct packer *packer;
	struct blob blob;
	struct moment moment;	/* the latest that was unpacked */
	struct stored at;
	struct segment segment;
	/*
	 * The moments that are played, the chosen one last: a rate of each is remembered. When it
	 * goes on there may be more than there is room for: moment i is at i % STATS_HISTORY.
	 */
	struct stored moments[STATS_HISTORY];
	size_t nr_moments;
	bool has_gone_on; /* the first ones may not be here any more */
	/* The totals before the first of them, a sample without an interval, if they are known. */
	bool has_before;
	struct state before;
	uint64_t before_ns[SAMPLE_SOURCES];
	struct milestone milestones[MILESTONES];
	size_t next_milestone;
	/* The sample that was played last: its number, and the totals after it. */
	size_t nr_played;
	struct state state;
	uint64_t source_ns[SAMPLE_SOURCES];
};

int past_new(struct store store, struct fields *fields, struct past **ret_past)
{
	struct past *past = calloc(1, sizeof(*past));

	if (!past)
		return -ENOMEM;
	past->store = store;
	past->ids = segment_ids_new(store, fields);
	past->guests = guests_new(NULL);
	past->packer = packer_new();
	*ret_past = past;
	if (past->ids && past->guests && past->packer)
		return 0;
	past_free(past);
	return -ENOMEM;
}

void past_free(struct past *past)
{
	if (!past)
		return;
	segment_ids_free(past->ids);
	guests_free(past->guests);
	packer_free(past->packer);
	blob_release(&past->blob);
	moment_release(&past->moment);
	for (size_t i = 0; i < MILESTONES; i++)
		state_release(&past->milestones[i].state);
	state_release(&past->before);
	state_release(&past->state);
	free(past);
}

struct store past_store(const struct past *past)
{
	return past->store;
}

struct guests *past_guests(struct past *past)
{
	return past->guests;
}

const struct stored *past_at(const struct past *past)
{
	return &past->at;
}

const struct segment *past_segment(const struct past *past)
{
	return &past->segment;
}

/* ---- reading */

static bool is_counter(const void *arg, uint32_t field)
{
	return segment_ids_is_counter(arg, field);
}

static int read_changes(struct past *past, uint64_t id, enum unpack_depth depth, struct why *why)
{
	int err = past->store.type->read(past->store.state, id, PART_CHANGES, &past->blob, why);

	return err ? err : unpack_changes(past->packer, &past->blob, depth, &past->moment, why);
}

static int read_totals(struct past *past, uint64_t id, struct state *state, struct why *why)
{
	int err = past->store.type->read(past->store.state, id, PART_TOTALS, &past->blob, why);

	if (!err)
		err = unpack_totals(past->packer, &past->blob, UNPACK_TIMES, &past->moment, why);
	return err ? err : state_load(state, &past->moment.totals);
}

static int apply(struct past *past, struct state *state, uint32_t flags)
{
	return state_apply(state, &past->moment.changes, flags, is_counter, past->ids);
}

static int copy_state(struct state *to, const struct state *from)
{
	if (array_grow(&to->list, &to->room, from->nr) < 0)
		return -ENOMEM;
	if (from->nr)
		memcpy(to->list, from->list, from->nr * sizeof(*from->list));
	to->nr = from->nr;
	to->has_gone = from->has_gone;
	return 0;
}

/* Keeps the totals after a moment: the next one that is chosen is probably near. */
static int remember(struct past *past, uint64_t id, const struct state *state)
{
	struct milestone *milestone = &past->milestones[past->next_milestone];

	for (size_t i = 0; i < MILESTONES; i++) {
		if (past->milestones[i].id == id)
			return 0;
	}
	past->next_milestone = (past->next_milestone + 1) % MILESTONES;
	milestone->id = id;
	return copy_state(&milestone->state, state);
}

/* The latest totals that are known of a moment from first to last; NULL: none are. */
static const struct milestone *recall(const struct past *past, uint64_t first, uint64_t last)
{
	const struct milestone *best = NULL;

	for (size_t i = 0; i < MILESTONES; i++) {
		const struct milestone *milestone = &past->milestones[i];

		if (milestone->id >= first && milestone->id <= last &&
		    (!best || milestone->id > best->id))
			best = milestone;
	}
	return best;
}

/* The totals after a moment: stored ones, and the changes since. */
static int load_state(struct past *past, const struct stored *stored, struct state *state,
		      struct why *why)
{
	const struct milestone *known;
	struct stored from;
	int err = past->store.type->find_flagged(past->store.state, stored->id,
						 MOMENT_HAS_TOTALS, &from, why);

	if (err)
		return err;
	known = recall(past, from.id, stored->id);
	if (known) {
		from.id = known->id;
		err = copy_state(state, &known->state);
	} else {
		err = read_totals(past, from.id, state, why);
	}
	for (size_t i = 1; !err && from.id < stored->id; i++) {
		err = past->store.type->step(past->store.state, from.id, false, &from, why);
		if (!err)
			err = read_changes(past, from.id, UNPACK_TIMES, why);
		if (!err)
			err = apply(past, state, from.flags);
		if (!err && (i % MILESTONE_STEP == 0 || from.id == stored->id))
			err = remember(past, from.id, state);
	}
	return err;
}

/* ---- choosing */

/*
 * The moments to play, back to the first one of the question, or to where moments were lost or
 * dropped. ret_prev: the moment before them, with id 0 if it does not belong to them.
 */
static int find_moments(struct past *past, const struct stored *at, struct stored *ret_prev,
			struct why *why)
{
	struct stored moments[STATS_HISTORY], prev = *at;
	size_t nr = 0;
	int err = 0;

	while (!err && nr < STATS_HISTORY && prev.id) {
		moments[nr++] = prev;
		if (prev.flags & (MOMENT_FIRST | MOMENT_AFTER_LOSS))
			prev.id = 0;
		else
			err = past->store.type->step(past->store.state, prev.id, true, &prev, why);
		if (err == -ENOENT || prev.segment != at->segment)
			prev.id = 0;
		if (err == -ENOENT)
			err = 0;
	}
	*ret_prev = prev;
	past->nr_moments = nr;
	for (size_t i = 0; i < nr; i++)
		past->moments[i] = moments[nr - 1 - i];
	return err;
}

/* Where the moment before is not known, it is made of the first one. */
static int undo_first(struct past *past, struct why *why)
{
	const struct stored *first = &past->moments[0];
	int err = load_state(past, first, &past->before, why);

	if (!err)
		err = read_changes(past, first->id, UNPACK_TIMES, why);
	if (err)
		return err;
	state_undo(&past->before, &past->moment.changes, is_counter, past->ids);
	for (unsigned int i = 0; i < SAMPLE_SOURCES; i++)
		past->before_ns[i] = past->moment.source_ns[i] > first->elapsed_ns ?
					     past->moment.source_ns[i] - first->elapsed_ns : 0;
	return 0;
}

static int find_before(struct past *past, const struct stored *prev, struct why *why)
{
	int err;

	past->has_before = prev->id || past->moments[0].elapsed_ns;
	past->before.nr = 0;
	if (!past->has_before)
		return 0;
	if (!prev->id)
		return undo_first(past, why);
	err = load_state(past, prev, &past->before, why);
	if (!err)
		err = read_changes(past, prev->id, UNPACK_COUNTS, why);
	memcpy(past->before_ns, past->moment.source_ns, sizeof(past->before_ns));
	return err;
}

static int find_guests(struct past *past, const struct stored *at, struct why *why)
{
	struct stored from;
	int err = past->store.type->find_flagged(past->store.state, at->id, MOMENT_HAS_GUESTS,
						 &from, why);

	if (!err)
		err = past->store.type->read(past->store.state, from.id, PART_GUESTS, &past->blob,
					     why);
	if (!err)
		err = unpack_guests(past->packer, &past->blob, &past->moment, why);
	return err ? err : segment_ids_guests(past->ids, past->moment.guests, past->guests);
}

static int choose(struct past *past, const struct stored *at, struct why *why)
{
	struct stored prev;
	int err = 0;

	if (at->segment != past->at.segment)
		err = past->store.type->segment(past->store.state, at->segment, &past->segment,
						why);
	if (!err)
		err = segment_ids_load(past->ids, at->segment, &past->segment, why);
	if (!err)
		err = find_guests(past, at, why);
	if (!err)
		err = find_moments(past, at, &prev, why);
	if (!err)
		err = find_before(past, &prev, why);
	past->nr_played = 0;
	past->has_gone_on = false;
	if (!err)
		past->at = *at;
	return err;
}

int past_go(struct past *past, uint64_t time_ns, struct why *why)
{
	struct stored at;
	int err = past->store.type->find(past->store.state, time_ns, &at, why);

	return err ? err : choose(past, &at, why);
}

int past_go_to(struct past *past, uint64_t time_ns, struct why *why)
{
	struct stored at, next;
	int err = past->store.type->find(past->store.state, time_ns, &at, why);

	if (!err && at.time_ns < time_ns) {
		err = past->store.type->step(past->store.state, at.id, false, &next, why);
		if (!err && next.time_ns > time_ns && next.time_ns - time_ns < next.elapsed_ns)
			at = next;
		err = err == -ENOENT ? 0 : err;
	}
	return err ? err : choose(past, &at, why);
}

int past_step(struct past *past, bool is_back, struct why *why)
{
	struct stored at;
	int err = past->at.id ? past->store.type->step(past->store.state, past->at.id, is_back,
						       &at, why) : -ENOENT;

	return err ? err : choose(past, &at, why);
}

static size_t count_samples(const struct past *past)
{
	return past->nr_moments + past->has_before;
}

/* Whether the samples of a moment follow the ones that were played: of the same question. */
static bool follows(const struct past *past, const struct stored *at)
{
	return past->nr_played == count_samples(past) && at->segment == past->at.segment &&
	       !(at->flags & (MOMENT_FIRST | MOMENT_AFTER_LOSS));
}

int past_go_on(struct past *past, struct why *why)
{
	uint32_t nr_fields = segment_ids_fields(past->ids);
	struct stored at;
	int err = past->at.id ? past->store.type->step(past->store.state, past->at.id, false, &at,
						       why) : -ENOENT;

	if (err)
		return err;
	if (follows(past, &at))
		err = segment_ids_load(past->ids, at.segment, &past->segment, why);
	/* What is wanted may be more now. */
	if (err || !follows(past, &at) || segment_ids_fields(past->ids) != nr_fields) {
		err = err ? err : choose(past, &at, why);
		return err ? err : 1;
	}
	if (at.flags & MOMENT_HAS_GUESTS)
		err = find_guests(past, &at, why);
	if (err)
		return err;
	past->moments[past->nr_moments++ % STATS_HISTORY] = at;
	past->has_gone_on = true;
	past->at = at;
	return 0;
}

/* ---- playing */

/* Counters begin with their totals, and at 0 where a key is absent and comes back later. */
static int begin(struct state *to, const struct state *from)
{
	if (array_grow(&to->list, &to->room, from->nr) < 0)
		return -ENOMEM;
	to->nr = from->nr;
	for (size_t i = 0; i < from->nr; i++) {
		struct key_state *key = &to->list[i];

		*key = from->list[i];
		key->flags = 0;
		key->nr_counts = 0;
		key->count_base = key->is_absent ? key->count : 0;
		key->time_base = key->is_absent ? key->time_ns : 0;
	}
	return 0;
}

/* Plays a moment. Only the last one needs its durations by bucket. */
static int play(struct past *past, size_t i, struct why *why)
{
	bool is_last = i + 1 == past->nr_moments;
	const struct stored *moment = &past->moments[i % STATS_HISTORY];
	int err;

	if (past->has_gone_on)
		state_keep_hists(&past->state);
	err = read_changes(past, moment->id, is_last ? UNPACK_ALL : UNPACK_TIMES, why);
	if (!err)
		err = apply(past, &past->state, moment->flags);
	memcpy(past->source_ns, past->moment.source_ns, sizeof(past->source_ns));
	return err;
}

/* Goes on to the next sample. */
static int advance(struct past *past, struct why *why)
{
	int err = 0;

	if (!past->nr_played)
		err = begin(&past->state, &past->before);
	if (!err && past->nr_played >= past->has_before)
		err = play(past, past->nr_played - past->has_before, why);
	else
		memcpy(past->source_ns, past->before_ns, sizeof(past->source_ns));
	past->nr_played += !err;
	return err;
}

/*
 * Durations are needed of the last interval only, so of the samples two have them: it is faster
 * so. For their totals the first has them, too, and one before a reset, and all samples of guests
 * that have ended.
 */
static bool wants_durations(const struct past *past, const struct key *key)
{
	size_t next = past->nr_played - past->has_before;

	return past->nr_played == 1 || past->nr_played + 1 >= count_samples(past) ||
	       past->moments[next % STATS_HISTORY].flags & MOMENT_RESET ||
	       !guests_by_id(past->guests, key->guest);
}

/*
 * What a live provider would have said. What ended before the first sample is in that one, so that
 * its totals are known.
 */
static int add_row(const struct past *past, const struct key_state *key, struct key as,
		   struct sample *sample)
{
	uint32_t flags = ROW_FROM_ZERO |
			 (key->flags & CHANGE_HAS_RATE ? ROW_WHOLE_INTERVAL : 0);
	bool is_first = past->nr_played == 1;
	bool is_level = !segment_ids_is_counter(past->ids, key->key.field);
	uint64_t count = key->count - (is_first || is_level ? 0 : key->count_base);
	struct timing timing;

	if (key->is_gone || (key->is_absent && !is_first))
		return 0;
	if (!key->is_timed || !wants_durations(past, &as))
		return sample_add(sample, as, count, flags);
	timing = (struct timing){
		.time_ns = key->time_ns - (is_first ? 0 : key->time_base),
		.max_ns = key->max_ns,
	};
	memcpy(timing.hist, key->hist_before, sizeof(timing.hist));
	for (unsigned int i = 0; i < key->nr_counts; i++)
		timing.hist[key->first_bucket + i] += (uint32_t)key->counts[i];
	return sample_add_timed(sample, as, count, flags, &timing);
}

static int add_rows(const struct past *past, uint32_t source, const struct want *want,
		    struct sample *sample)
{
	int err = 0;

	for (size_t i = 0; i < past->state.nr && !err; i++) {
		const struct key_state *key = &past->state.list[i];
		struct key as;

		if (segment_ids_key(past->ids, &key->key, source, &as) &&
		    field_set_has(&want->fields, as.field))
			err = add_row(past, key, as, sample);
	}
	return err;
}

struct source {
	struct past *past;
	uint32_t source;
	size_t nr_played;
};

static void source_close(void *state)
{
	free(state);
}

static int source_open(const void *recording, const struct provider_args *args, void **ret_state,
		       struct why *why)
{
	struct past *past = *(struct past *const *)recording;
	struct source *source;
	int err = segment_ids_open(past->ids, args->fields, why);

	if (err)
		return err;
	source = calloc(1, sizeof(*source));
	if (!source)
		return -ENOMEM;
	*source = (struct source){ .past = past, .source = args->source };
	*ret_state = source;
	return 0;
}

static int exits_open(const void *recording, const struct provider_args *args, void **ret_state,
		      struct why *why)
{
	const struct past *past = *(struct past *const *)recording;
	int err = segment_ids_open(past->ids, args->fields, why);

	if (!err && !segment_ids_has_source(past->ids, args->source))
		err = why_set(why, -ENODATA, "no exits were recorded");
	return err ? err : source_open(recording, args, ret_state, why);
}

static size_t source_rewind(void *state)
{
	struct source *source = state;
	struct past *past = source->past;
	const struct stored at = past->at;

	source->nr_played = 0;
	if (past->has_gone_on) /* a failure is one of the samples, too */
		choose(past, &at, &(struct why){ "" });
	return count_samples(past);
}

/* A sample that is damaged has no rows. */
static int source_next(void *state, const struct want *want, uint32_t flags,
		       struct sample *sample, struct why *why)
{
	struct source *source = state;
	struct past *past = source->past;
	const struct stored *moment;

	(void)flags;
	source->nr_played++;
	if (past->nr_played > source->nr_played)
		past->nr_played = 0;
	while (past->nr_played < source->nr_played) {
		if (advance(past, why) < 0)
			return 0;
	}
	if (source->nr_played > past->has_before) {
		moment = &past->moments[(source->nr_played - 1 - past->has_before) % STATS_HISTORY];
		sample->is_reset |= (moment->flags & MOMENT_RESET) != 0;
	}
	sample->time_ns[source->source] = past->source_ns[source->source];
	if (!sample->time_ns[source->source])
		return 0;
	return add_rows(past, source->source, want, sample);
}

#define PAST_PLAYER(its_name, of_exits, its_open) \
	&(const struct player){ \
		.name = (its_name), \
		.is_of_exits = (of_exits), \
		.is_always_by_guest = true, \
		.open = (its_open), \
		.rewind = source_rewind, \
		.next = source_next, \
		.close = source_close, \
	}

const struct player *const past_players[] = {
	[PROVIDER_DEBUGFS] = PAST_PLAYER("debugfs", false, source_open),
	[PROVIDER_TRACEPOINT] = PAST_PLAYER("tracepoint", false, source_open),
	[PROVIDER_EXITS] = PAST_PLAYER("exits", true, exits_open),
	[PROVIDER_STATS] = PAST_PLAYER("stats", false, source_open),
	NULL,
};

const struct player *const past_recorded_players[] = {
	PAST_PLAYER("recording", false, source_open),
	PAST_PLAYER("exits", true, exits_open),
	NULL,
};

/* ---- series */

static bool is_of(const struct past *past, const struct change *change, uint32_t source,
		  const struct key *subject)
{
	struct key key;

	return segment_ids_key(past->ids, &change->key, source, &key) &&
	       key.field == subject->field &&
	       (subject->guest == GUEST_ANY || key.guest == subject->guest) &&
	       (subject->vcpu < 0 || key.vcpu == subject->vcpu);
}

/* Adds the point of a moment. The first sample of a question has no interval, and no point. */
static int add_point(struct past *past, const struct stored *stored, uint32_t source,
		     struct series *series, struct why *why)
{
	const struct changes *changes = &past->moment.changes;
	struct series_point *point;
	int err = stored->elapsed_ns ? read_changes(past, stored->id, UNPACK_ALL, why) : 0;

	if (!stored->elapsed_ns)
		series->is_after_gap = series->nr > 0;
	if (err || !stored->elapsed_ns)
		return err;
	if (array_grow(&series->points, &series->room, series->nr + 1) < 0)
		return why_set(why, -ENOMEM, "out of memory");
	point = &series->points[series->nr++];
	*point = (struct series_point){
		.id = stored->id,
		.time_ns = stored->time_ns,
		.interval_ns = stored->elapsed_ns,
		.is_gap = series->is_after_gap ||
			  (series->nr > 1 && stored->flags & MOMENT_AFTER_LOSS),
	};
	series->is_after_gap = false;
	for (size_t i = 0; i < changes->nr; i++) {
		const struct change *change = &changes->list[i];
		const struct change_timing *timing;

		if (change->flags & ~(CHANGE_NEW | CHANGE_HAS_RATE) ||
		    !is_of(past, change, source, &series->subject))
			continue;
		point->count += change->count;
		timing = changes_timing(changes, change);
		if (!timing)
			continue;
		point->exit_ns += timing->time_ns;
		changes_add_counts(changes, timing, point->hist);
	}
	return 0;
}

/* Adds the moments after the last point, or from this moment on. */
static int add_points(struct past *past, const struct stored *first, size_t nr,
		      struct series *series, struct why *why)
{
	uint32_t source = segment_ids_source(past->ids, series->subject.field);
	struct stored stored = *first;
	int err = 0;

	while (!err && nr-- && stored.segment == first->segment) {
		err = add_point(past, &stored, source, series, why);
		if (!err)
			err = past->store.type->step(past->store.state, stored.id, false, &stored,
						     why);
	}
	return err == -ENOENT ? 0 : err;
}

/* The moment that is nr moments before, or fewer where the segment begins. */
static int go_back(const struct past *past, size_t nr, struct stored *stored, struct why *why)
{
	struct stored at = *stored;
	int err = 0;

	while (!err && nr--) {
		err = past->store.type->step(past->store.state, at.id, true, &at, why);
		if (!err && at.segment != stored->segment)
			return 0;
		if (!err)
			*stored = at;
	}
	return err == -ENOENT ? 0 : err;
}

static bool is_same(const struct key *a, const struct key *b)
{
	return a->guest == b->guest && a->vcpu == b->vcpu && a->field == b->field;
}

static void keep_latest(struct series *series, size_t nr)
{
	if (series->nr <= nr)
		return;
	memmove(series->points, series->points + series->nr - nr, nr * sizeof(*series->points));
	series->nr = nr;
}

/* A series that goes on; -ENOENT: it has to be made anew. */
static int go_on(struct past *past, struct series *series, struct why *why)
{
	struct stored next;
	int err = past->store.type->step(past->store.state,
					 series->points[series->nr - 1].id, false, &next, why);

	if (err == -ENOENT)
		return 0;
	if (err || next.segment != series->segment)
		return err ? err : -ENOENT;
	return add_points(past, &next, SIZE_MAX, series, why);
}

int past_series(struct past *past, const struct key *subject, size_t nr, uint64_t around,
		struct series *series, struct why *why)
{
	bool is_known = series->nr && is_same(subject, &series->subject) &&
			(!around || around >= series->points[0].id);
	struct stored first;
	int err = -ENOENT;

	nr = nr < SERIES_MAX ? nr : SERIES_MAX;
	if (is_known)
		err = go_on(past, series, why);
	if (!err && !around)
		keep_latest(series, SERIES_MAX);
	if (err != -ENOENT)
		return err;
	series->subject = *subject;
	series->nr = 0;
	series->is_after_gap = false;
	err = past->store.type->find(past->store.state, UINT64_MAX, &first, why);
	if (!err)
		err = go_back(past, nr - 1, &first, why);
	if (!err && around && around < first.id) {
		first = past->at;
		err = go_back(past, nr / 2, &first, why);
	}
	series->segment = first.segment;
	return err ? err : add_points(past, &first, nr, series, why);
}
