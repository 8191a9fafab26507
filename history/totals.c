// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the nearest totals before a moment, and adds the changes since. */
#include <errno.h>
#include <string.h>

#include "lib/array.h"
#include "history/totals.h"

#define MILESTONE_STEP 16 /* moments between two that are kept */
#define NEAR 8		  /* moments after stored totals: a step back over them is likely */

static void copy_state(struct state *to, const struct state *from)
{
	array_grow(&to->list, &to->room, from->nr);
	if (from->nr)
		memcpy(to->list, from->list, from->nr * sizeof(*from->list));
	to->nr = from->nr;
	to->has_gone = from->has_gone;
}

static void remember(struct totals *totals, uint64_t id, const struct state *state)
{
	struct milestone *milestone = &totals->milestones[totals->next];

	totals->next = (totals->next + 1) % MILESTONES;
	milestone->id = id;
	copy_state(&milestone->state, state);
}

/* The latest one of a moment from first to last; NULL: there is none. */
static const struct milestone *recall(const struct totals *totals, uint64_t first, uint64_t last)
{
	const struct milestone *best = NULL;

	for (size_t i = 0; i < MILESTONES; i++) {
		const struct milestone *milestone = &totals->milestones[i];

		if (milestone->id >= first && milestone->id <= last &&
		    (!best || milestone->id > best->id))
			best = milestone;
	}
	return best;
}

static int load_totals(struct reader *reader, uint64_t id, struct state *state, struct error *why)
{
	int err = reader_totals(reader, id, NULL, why);

	if (!err)
		state_load(state, &reader->moment);
	return err;
}

/* Goes on from the state after *from, which is of the same segment, to the one after last_id. */
static int add_changes(struct totals *totals, struct reader *reader, struct stored *from,
		       uint64_t last_id, const struct totals_watch *watch, struct state *state,
		       struct error *why)
{
	struct moment *moment = &totals->moment;
	int err = 0;

	for (size_t i = 1; !err && from->id < last_id; i++) {
		err = reader_step(reader, from, false, from, why);
		if (!err)
			err = reader_changes(reader, from->id, UNPACK_TIMES, moment, why);
		if (!err)
			state_apply(state, &moment->changes, from->flags, reader);
		if (!err && watch)
			err = watch->take(watch->arg, from, moment, why);
		if (!err && i % MILESTONE_STEP == 0 && from->id < last_id)
			remember(totals, from->id, state);
	}
	return err;
}

int totals_load(struct totals *totals, struct reader *reader, const struct stored *stored,
		const struct totals_watch *watch, struct state *state, uint64_t *state_id,
		struct error *why)
{
	const struct milestone *known;
	struct stored from;
	uint64_t had = *state_id;
	int err = reader_find_flagged(reader, stored->id, MOMENT_HAS_TOTALS, &from, why);

	*state_id = 0;
	if (err)
		return err;
	known = recall(totals, from.id, stored->id);
	if (had >= from.id && had <= stored->id && (!known || had >= known->id)) {
		from.id = had;
	} else if (known) {
		from.id = known->id;
		copy_state(state, &known->state);
	} else {
		err = load_totals(reader, from.id, state, why);
	}
	if (!err)
		err = add_changes(totals, reader, &from, stored->id, watch, state, why);
	if (!err)
		*state_id = stored->id;
	return err;
}

/* The last moment before the totals that a moment is near. -ENOENT: none, or it is not near. */
static int find_end(struct reader *reader, const struct stored *stored, struct stored *ret_end,
		    struct error *why)
{
	struct stored run;
	int err = reader_find_flagged(reader, stored->id, MOMENT_HAS_TOTALS, &run, why);

	if (!err && stored->id - run.id > NEAR)
		err = -ENOENT;
	if (!err)
		err = reader_near(reader, &run, true, ret_end, why);
	return err ? err : ret_end->segment == stored->segment ? 0 : -ENOENT;
}

int totals_prepare(struct totals *totals, struct reader *reader, const struct stored *stored,
		   struct error *why)
{
	const struct milestone *known;
	struct stored from, end;
	uint64_t to;
	int err = find_end(reader, stored, &end, why);

	if (!err)
		err = reader_find_flagged(reader, end.id, MOMENT_HAS_TOTALS, &from, why);
	if (err)
		return err == -ENOENT ? 0 : err;
	known = recall(totals, from.id, end.id);
	if (known && known->id == end.id)
		return 0;
	if (known)
		from.id = known->id;
	if (known)
		copy_state(&totals->prepared, &known->state);
	else
		err = load_totals(reader, from.id, &totals->prepared, why);
	to = end.id - from.id > MILESTONE_STEP ? from.id + MILESTONE_STEP : end.id;
	if (!err)
		err = add_changes(totals, reader, &from, to, NULL, &totals->prepared, why);
	if (!err)
		remember(totals, from.id, &totals->prepared);
	return err ? err : 1;
}

void totals_release(struct totals *totals)
{
	for (size_t i = 0; i < MILESTONES; i++)
		state_release(&totals->milestones[i].state);
	state_release(&totals->prepared);
	moment_release(&totals->moment);
}
