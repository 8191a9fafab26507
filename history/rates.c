// SPDX-License-Identifier: GPL-2.0-or-later
/* A table of rates: a line for each key, a column for each moment. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "history/play.h"

#define NOTHING (-2) /* the key is not among the moment's changes */

static size_t find_column(const struct rates *rates, uint64_t id)
{
	size_t column = 0;

	while (column < STATS_HISTORY && rates->columns[column].id != id)
		column++;
	return column;
}

static bool is_chosen(const struct rates *rates, uint64_t id)
{
	size_t i = 0;

	while (i < rates->nr_chosen && rates->chosen[i] != id)
		i++;
	return id && i < rates->nr_chosen;
}

bool rates_want(const struct rates *rates, uint64_t id)
{
	return is_chosen(rates, id) && find_column(rates, id) == STATS_HISTORY;
}

static void set_order(struct rates *rates)
{
	for (size_t i = 0; i < rates->nr_chosen; i++)
		rates->order[i] = rates->chosen[i] ? find_column(rates, rates->chosen[i]) :
						     STATS_HISTORY;
}

static void empty(struct rates *rates, size_t column)
{
	rates->columns[column].id = 0;
	for (size_t i = 0; i < rates->nr; i++) {
		rates->keys[i].per_s[column] = NOTHING;
		rates->keys[i].is_new &= ~(1u << column);
	}
}

void rates_choose(struct rates *rates, const uint64_t *ids, size_t nr)
{
	bool is_any = false;

	memcpy(rates->chosen, ids, nr * sizeof(*ids));
	rates->nr_chosen = nr;
	for (size_t i = 0; i < STATS_HISTORY; i++)
		is_any |= is_chosen(rates, rates->columns[i].id);
	if (!is_any)
		rates->nr = 0;
	for (size_t i = 0; i < STATS_HISTORY; i++) {
		if (rates->columns[i].id && !is_chosen(rates, rates->columns[i].id))
			empty(rates, i);
	}
	rates->next = 0;
	set_order(rates);
}

void rates_add(struct rates *rates, const struct rates_change *change)
{
	*array_add(rates->changes, rates->nr_changes, rates->room_changes) = *change;
}

/* ---- putting */

static int compare(const void *a, const void *b)
{
	return key_compare(&((const struct rates_change *)a)->key,
			      &((const struct rates_change *)b)->key);
}

/* Nearly always they are sorted: ids here have the order of the ids there. */
static void sort_changes(struct rates *rates)
{
	size_t i = 1;

	while (i < rates->nr_changes && compare(&rates->changes[i - 1], &rates->changes[i]) < 0)
		i++;
	if (i < rates->nr_changes)
		qsort(rates->changes, rates->nr_changes, sizeof(*rates->changes), compare);
}

static struct rates_key new_key(const struct key *key)
{
	struct rates_key new = { .key = *key };

	for (size_t i = 0; i < STATS_HISTORY; i++)
		new.per_s[i] = NOTHING;
	return new;
}

/* Makes a line for each change: no line is there yet. The table stays sorted. */
static void insert_keys(struct rates *rates)
{
	size_t from = rates->nr, to = from + rates->nr_changes, at = rates->nr_changes;

	array_grow(&rates->keys, &rates->room, to);
	rates->nr = to;
	while (to > from) {
		const struct key *key = &rates->changes[at - 1].key;

		if (from && key_compare(&rates->keys[from - 1].key, key) > 0) {
			rates->keys[--to] = rates->keys[--from];
		} else {
			rates->keys[--to] = new_key(key);
			at--;
		}
	}
}

static float rate_of(const struct rates_change *change, uint64_t elapsed_ns)
{
	if (!elapsed_ns || (change->is_new && !change->has_rate))
		return -1;
	return (float)((double)change->count * 1e9 / (double)elapsed_ns);
}

/* Puts the rates of keys that have a line. The changes of other keys stay in the list. */
static void fill_column(struct rates *rates, size_t column, const uint64_t *elapsed_ns)
{
	size_t at = 0, nr_left = 0;

	for (size_t i = 0; i < rates->nr_changes; i++) {
		const struct rates_change *change = &rates->changes[i];
		int order = -1;

		while (at < rates->nr &&
		       (order = key_compare(&rates->keys[at].key, &change->key)) < 0)
			at++;
		if (at == rates->nr || order > 0) {
			rates->changes[nr_left++] = *change;
			continue;
		}
		rates->keys[at].per_s[column] = rate_of(change, elapsed_ns[change->source]);
		rates->keys[at].is_new |= (uint32_t)change->is_new << column;
	}
	rates->nr_changes = nr_left;
}

void rates_put(struct rates *rates, uint64_t id, const uint64_t *elapsed_ns)
{
	size_t column = find_column(rates, 0);

	sort_changes(rates);
	fill_column(rates, column, elapsed_ns);
	if (rates->nr_changes)
		insert_keys(rates);
	fill_column(rates, column, elapsed_ns);
	rates->columns[column].id = id;
	for (size_t i = 0; i < SAMPLE_SOURCES; i++)
		rates->columns[column].has_source[i] = elapsed_ns[i];
	set_order(rates);
	rates->nr_changes = 0;
}

/* ---- asking */

/* NULL: no moment has a change of it. */
static const struct rates_key *find_key(struct rates *rates, const struct key *key)
{
	size_t at = rates->next;

	if (at >= rates->nr || key_compare(&rates->keys[at].key, key) != 0)
		at = array_lower_bound(rates->nr, i, key_compare(&rates->keys[i].key, key) < 0);
	if (at == rates->nr || key_compare(&rates->keys[at].key, key) != 0)
		return NULL;
	rates->next = at + 1;
	return &rates->keys[at];
}

void rates_of(struct rates *rates, const struct key *key, uint32_t source, float *ret_history)
{
	const struct rates_key *line = find_key(rates, key);
	size_t nr = rates->nr_chosen;
	bool is_there = true;

	for (size_t i = 1; i <= STATS_HISTORY; i++) {
		size_t column = i <= nr ? rates->order[nr - i] : STATS_HISTORY;
		float *rate = &ret_history[STATS_HISTORY - i];

		*rate = -1;
		if (column == STATS_HISTORY || !is_there)
			continue;
		if (line && line->per_s[column] != NOTHING)
			*rate = line->per_s[column];
		else if (rates->columns[column].has_source[source])
			*rate = 0;
		is_there = !line || !(line->is_new >> column & 1);
	}
}

void rates_release(struct rates *rates)
{
	free(rates->keys);
	free(rates->changes);
	*rates = (struct rates){ 0 };
}
