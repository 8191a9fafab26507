// SPDX-License-Identifier: GPL-2.0-or-later
/* Each plays one source of the same moments. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/xalloc.h"
#include "history/past.h"
#include "history/play.h"

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

static int player_open(const struct provider_args *args, void **ret_state, struct error *why)
{
	struct player *player;
	struct play *play;
	int err;

	memcpy(&play, args->recording, sizeof(play)); /* a pointer to a past or an interval */
	err = play->type->open(play, args->fields, why);
	if (err)
		return err;
	player = xcalloc(1, sizeof(*player));
	*player = (struct player){ .play = play, .source = args->source };
	*ret_state = player;
	return 0;
}

static int exits_open(const struct provider_args *args, void **ret_state, struct error *why)
{
	struct player *player;
	int err = player_open(args, ret_state, why);

	if (err)
		return err;
	player = *ret_state;
	if (reader_has_source(&player->play->reader, args->source))
		return 0;
	player_close(player);
	return error_set(why, -ENODATA, "no exits were recorded");
}

static int player_want(void *state, const struct want *want, struct error *why)
{
	struct player *player = state;

	(void)why;
	player->want = want;
	return 0;
}

static size_t player_rewind(void *state)
{
	struct player *player = state;

	player->nr = 0;
	return player->play->type->rewind(player->play);
}

static int player_collect(void *state, struct sample *sample, struct error *why)
{
	struct player *player = state;

	player->play->type->collect(player->play, ++player->nr, player->source, player->want,
				    sample, why);
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

const struct provider *const history_players[] = {
	[PROVIDER_DEBUGFS] = PLAYER("debugfs", false),
	[PROVIDER_TRACEPOINT] = PLAYER("tracepoint", false),
	[PROVIDER_EXITS] = PLAYER("exits", true),
	[PROVIDER_STATS] = PLAYER("stats", false),
	[PROVIDER_HOST] = PLAYER("host", false),
	NULL,
};

const struct provider *const history_recorded_players[] = {
	PLAYER("recording", false),
	PLAYER("exits", true),
	NULL,
};
