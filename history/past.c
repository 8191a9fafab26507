// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses moments of a store, with their inventories, and plays them; and the players. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/xalloc.h"
#include "history/past.h"
#include "history/play.h"

struct past {
	struct play play;
	struct guests *guests;
	struct segment segment; /* of the chosen moment */
	uint32_t segment_id; /* 0: none yet */
	struct replay replay;
	struct error failure; /* see past_failure() */
};

static const struct play_type past_type;

struct past *past_new(struct store store, struct fields *fields)
{
	struct past *past = xcalloc(1, sizeof(*past));

	past->play.type = &past_type;
	reader_init(&past->play.reader, store, fields);
	past->replay.reader = &past->play.reader;
	past->guests = guests_new(NULL);
	return past;
}

void past_free(struct past *past)
{
	if (!past)
		return;
	reader_release(&past->play.reader);
	guests_free(past->guests);
	replay_release(&past->replay);
	free(past);
}

int past_check(const struct past *past, struct error *error)
{
	const struct store *store = &past->play.reader.store;

	return store->type->check ? store->type->check(store->state, error) : 0;
}

/* Keeps the first failure. Returns err. */
static int keep_failure(struct past *past, int err, const struct error *error)
{
	if (err && err != -ENOENT && err != -EAGAIN && !past->failure.text[0])
		error_set(&past->failure, 0, "%s", error->text[0] ? error->text : strerror(-err));
	return err;
}

const char *past_failure(const struct past *past)
{
	return past->failure.text[0] ? past->failure.text : NULL;
}

struct guests *past_guests(struct past *past)
{
	return past->guests;
}

const struct stored *past_at(const struct past *past)
{
	return &past->replay.at;
}

const struct segment *past_segment(const struct past *past)
{
	return &past->segment;
}

/* ---- choosing */

/* The moment before, with id 0 where none is used. */
static int find_prev(struct past *past, const struct stored *at, struct stored *ret_prev,
		     struct error *error)
{
	int err = at->flags & NOTHING_BEFORE ?
			  -ENOENT : reader_near(&past->play.reader, at, true, ret_prev, error);

	if (err == -ENOENT || (!err && ret_prev->segment != at->segment))
		*ret_prev = (struct stored){ 0 };
	return err == -ENOENT ? 0 : err;
}

static int read_segment(struct past *past, uint32_t id, struct error *error)
{
	const struct store *store = &past->play.reader.store;
	int err = id == past->segment_id ?
			  0 : store->type->segment(store->state, id, &past->segment, error);

	past->segment_id = err ? 0 : id;
	return err;
}

static int choose_moment(struct past *past, const struct stored *at, struct error *error)
{
	struct stored prev = { 0 };
	int err = read_segment(past, at->segment, error);

	if (!err)
		err = reader_load_fields(&past->play.reader, error);

	if (!err)
		err = find_prev(past, at, &prev, error);
	if (!err)
		err = reader_guests(&past->play.reader, at, past->guests, error);
	if (!err)
		replay_choose(&past->replay, at, &prev);
	return err;
}

int past_go(struct past *past, uint64_t time_ns, struct error *error)
{
	const struct store *store = &past->play.reader.store;
	struct stored at;
	int err = store->type->find(store->state, time_ns, &at, error);

	return keep_failure(past, err ? err : choose_moment(past, &at, error), error);
}

/* Where time never goes back the end is not looked for: moments may come later. */
static int go_on_after(struct past *past, uint64_t from_ns, struct error *error)
{
	int err = past_go(past, from_ns, error);

	return !err && past_at(past)->time_ns <= from_ns ? past_step(past, false, error) : err;
}

int past_go_first(struct past *past, uint64_t from_ns, uint64_t to_ns, uint64_t *ret_last_id,
		  struct error *error)
{
	struct reader *reader = &past->play.reader;
	struct stored first, last;
	uint64_t last_id = UINT64_MAX;
	int err;

	if (!reader->store.type->run) {
		*ret_last_id = last_id;
		return go_on_after(past, from_ns, error);
	}
	err = reader_run(reader, from_ns, to_ns, UINT64_MAX, &first, &last, error);
	if (err)
		return keep_failure(past, err, error);
	for (last_id = last.id; !err;)
		err = reader_run(reader, from_ns, to_ns, first.id, &first, &last, error);
	if (err == -ENOENT)
		err = choose_moment(past, &first, error);
	if (!err)
		*ret_last_id = last_id;
	return keep_failure(past, err, error);
}

int past_go_to(struct past *past, uint64_t time_ns, struct error *error)
{
	const struct store *store = &past->play.reader.store;
	struct stored at, next;
	int err = store->type->find(store->state, time_ns, &at, error);

	if (!err && at.time_ns < time_ns) {
		err = reader_step(&past->play.reader, &at, false, &next, error);
		if (!err && next.time_ns > time_ns && next.time_ns - time_ns < next.elapsed_ns)
			at = next;
		err = err == -ENOENT ? 0 : err;
	}
	return keep_failure(past, err ? err : choose_moment(past, &at, error), error);
}

int past_step(struct past *past, bool is_back, struct error *error)
{
	const struct stored *from = past_at(past);
	struct stored at;
	int err = from->id ? reader_step(&past->play.reader, from, is_back, &at, error) : -ENOENT;

	return keep_failure(past, err ? err : choose_moment(past, &at, error), error);
}

int past_enter(struct past *past, const char *machine, struct error *error)
{
	const struct store *store = &past->play.reader.store;

	return store->type->enter ? store->type->enter(store->state, machine, error) : -ENOTSUP;
}

int past_news_fd(const struct past *past)
{
	const struct store *store = &past->play.reader.store;

	return store->type->news_fd ? store->type->news_fd(store->state) : -1;
}

bool past_has_machines(const struct past *past)
{
	return past->play.reader.store.type->enter;
}

int past_go_on(struct past *past, struct error *error)
{
	const struct fields *fields = past->play.reader.fields;
	uint32_t nr_fields = fields ? fields_count(fields) : 0;
	const struct stored *from = past_at(past);
	struct stored at;
	int err = from->id ? reader_step(&past->play.reader, from, false, &at, error) : -ENOENT;

	if (err)
		return keep_failure(past, err, error);
	if (replay_goes_on(&past->replay, &at))
		err = reader_load_fields(&past->play.reader, error);
	/* What is wanted may be more now. */
	if (err || !replay_goes_on(&past->replay, &at) ||
	    (fields && fields_count(fields) != nr_fields)) {
		err = err ? err : choose_moment(past, &at, error);
		return err ? keep_failure(past, err, error) : 1;
	}
	if (at.flags & MOMENT_HAS_GUESTS)
		err = reader_guests(&past->play.reader, &at, past->guests, error);
	if (err)
		return keep_failure(past, err, error);
	replay_add(&past->replay, &at);
	return 0;
}

/* ---- playing */

static int play_open(struct play *play, struct fields *fields, struct error *error)
{
	struct past *past = (struct past *)play;

	replay_forget(&past->replay);
	return keep_failure(past, reader_open(&play->reader, fields, error), error);
}

static size_t play_rewind(struct play *play)
{
	struct past *past = (struct past *)play;
	const struct stored at = past->replay.at;

	if (past->replay.nr_added) /* a failure is one of the samples, too */
		choose_moment(past, &at, &(struct error){ "" });
	return replay_samples(&past->replay);
}

static void play_collect(struct play *play, size_t nr, uint32_t source, const struct want *want,
			 struct sample *sample, struct error *error)
{
	struct past *past = (struct past *)play;

	if (!keep_failure(past, replay_go_to(&past->replay, nr, error), error))
		replay_collect(&past->replay, source, want, sample);
}

static const struct play_type past_type = {
	.open = play_open,
	.rewind = play_rewind,
	.collect = play_collect,
};

int past_series(struct past *past, const struct key *subject, bool is_now,
		const struct series_span *span, struct series *series, struct error *error)
{
	const struct store *store = &past->play.reader.store;
	struct stored at = past->replay.at;
	int err = 0;

	reader_hold(&past->play.reader, true);
	if (is_now)
		err = store->type->find(store->state, UINT64_MAX, &at, error);
	if (!err)
		err = series_read(series, &past->play.reader, subject, &at, span, error);
	reader_hold(&past->play.reader, false);
	return keep_failure(past, err, error);
}

/* ---- players, of a past and of an interval: each plays one source */

struct player {
	struct play *play;
	uint32_t source;
	size_t nr; /* of the latest sample, from 1 on */
	const struct want *want; /* the latest */
};

static void player_close(void *state)
{
	free(state);
}

static int player_open(const struct provider_args *args, void **ret_state, struct error *error)
{
	struct player *player;
	struct play *play;
	int err;

	memcpy(&play, args->recording, sizeof(play)); /* a pointer to a past or an interval */
	err = play->type->open(play, args->fields, error);
	if (err)
		return err;
	player = xcalloc(1, sizeof(*player));
	*player = (struct player){ .play = play, .source = args->source };
	*ret_state = player;
	return 0;
}

static int exits_open(const struct provider_args *args, void **ret_state, struct error *error)
{
	struct player *player;
	int err = player_open(args, ret_state, error);

	if (err)
		return err;
	player = *ret_state;
	if (reader_has_source(&player->play->reader, args->source))
		return 0;
	player_close(player);
	return error_set(error, -ENODATA, "no exits were recorded");
}

static int player_want(void *state, const struct want *want, struct error *error)
{
	struct player *player = state;

	(void)error;
	player->want = want;
	return 0;
}

static size_t player_rewind(void *state)
{
	struct player *player = state;

	player->nr = 0;
	return player->play->type->rewind(player->play);
}

static int player_collect(void *state, struct sample *sample, struct error *error)
{
	struct player *player = state;

	player->play->type->collect(player->play, ++player->nr, player->source, player->want,
				    sample, error);
	return 0;
}

#define PLAYER(its_name, of_exits) \
	&(const struct provider){ \
		.name = (its_name), \
		.is_of_exits = (of_exits), \
		.is_always_by_guest = true, \
		.open = (of_exits) ? exits_open : player_open, \
		.want = player_want, \
		.rewind = player_rewind, \
		.collect = player_collect, \
		.close = player_close, \
	}

#define PLAYER_OF(number, live, captured) \
	[PROVIDER_##number] = PLAYER(#live, PROVIDER_##number == PROVIDER_EXITS),

const struct provider *const history_players[] = { PROVIDER_LIST(PLAYER_OF) NULL };

const struct provider *const history_recorded_players[] = {
	PLAYER("recording", false),
	PLAYER("exits", true),
	NULL,
};
