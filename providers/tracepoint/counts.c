// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums by guest, as rows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "providers/tracepoint/counts.h"

struct tally *tallies_find(const struct tallies *tallies, uint32_t guest)
{
	struct tally *tally = tallies->first;

	while (tally && tally->guest != guest)
		tally = tally->next;
	return tally;
}

static void tally_free(struct tally *tally)
{
	free(tally->retired);
	free(tally->now);
	free(tally->state);
	free(tally->is_counted);
	free(tally);
}

struct tally *tallies_get(struct tallies *tallies, uint32_t guest)
{
	struct tally *tally = tallies_find(tallies, guest);
	size_t n = tallies->nr_counters;

	if (tally)
		return tally;
	tally = calloc(1, sizeof(*tally));
	if (!tally)
		return NULL;
	tally->guest = guest;
	tally->retired = calloc(n, sizeof(*tally->retired));
	tally->now = calloc(n, sizeof(*tally->now));
	tally->state = calloc(n, sizeof(*tally->state));
	tally->is_counted = calloc(n, sizeof(*tally->is_counted));
	if (!tally->retired || !tally->now || !tally->state || !tally->is_counted) {
		tally_free(tally);
		return NULL;
	}
	tally->next = tallies->first;
	tallies->first = tally;
	return tally;
}

void tallies_release(struct tallies *tallies)
{
	while (tallies->first) {
		struct tally *tally = tallies->first;

		tallies->first = tally->next;
		tally_free(tally);
	}
}

/* A counter that comes back before its events were closed goes on from where they are. */
void tallies_begin(struct tallies *tallies, uint32_t counter, bool is_running)
{
	for (struct tally *tally = tallies->first; tally; tally = tally->next) {
		tally->retired[counter] = 0;
		tally->is_counted[counter] = false;
		tally->state[counter] = is_running ? TALLY_RUNNING : TALLY_FRESH;
	}
}

void tallies_clear_now(struct tallies *tallies)
{
	for (struct tally *tally = tallies->first; tally; tally = tally->next)
		memset(tally->now, 0, tallies->nr_counters * sizeof(*tally->now));
}

static bool has_guest(const struct target *targets, size_t nr, uint32_t guest)
{
	for (size_t i = 0; i < nr; i++) {
		if (targets[i].guest == guest)
			return true;
	}
	return false;
}

void tallies_end(struct tallies *tallies, const struct target *targets, size_t nr, uint32_t keep,
		 bool is_asked_anew)
{
	for (struct tally **link = &tallies->first; *link;) {
		struct tally *tally = *link;

		tally->is_ending = tally->guest != keep && !has_guest(targets, nr, tally->guest);
		if (!tally->is_ending || !is_asked_anew) {
			link = &tally->next;
			continue;
		}
		*link = tally->next;
		tally_free(tally);
	}
}

static int tally_emit(const struct tallies *tallies, struct tally *tally, const bool *is_wanted,
		      const int *failed, struct sample *sample)
{
	for (uint32_t i = 0; i < tallies->nr_counters; i++) {
		struct key key = { tally->guest, -1, tallies->counters[i].field };
		uint32_t flags = tally->state[i] == TALLY_FRESH ? ROW_FROM_ZERO : 0;

		if (!is_wanted[i] || !tally->is_counted[i] ||
		    (failed && failed[i] && tally->state[i] == TALLY_FRESH))
			continue;
		if (sample_add(sample, key, tally->retired[i] + tally->now[i], flags) < 0)
			return -ENOMEM;
		tally->state[i] = TALLY_RUNNING;
	}
	return 0;
}

int tallies_emit(struct tallies *tallies, const bool *is_wanted, const int *failed,
		 struct sample *sample)
{
	int err = 0;

	for (struct tally **link = &tallies->first; *link && !err;) {
		struct tally *tally = *link;

		err = tally_emit(tallies, tally, is_wanted, failed, sample);
		if (!tally->is_ending) {
			link = &tally->next;
			continue;
		}
		*link = tally->next;
		tally_free(tally);
	}
	return err;
}

int target_compare(const void *a, const void *b)
{
	const struct target *x = a, *y = b;

	if (x->is_thread != y->is_thread)
		return x->is_thread - y->is_thread;
	return (x->id > y->id) - (x->id < y->id);
}
