// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts tracepoints with groups of perf events on every CPU, or in threads.
 *
 * The kernel serialises opening and closing of tracepoints, and closing the last event of one
 * waits for RCU (about 36 ms each): a worker thread does both, opening first, and the thread that
 * draws never waits for it. The lock guards the tables and is never held across such a call.
 *
 * A counter that cannot be opened everywhere is not shown, unless it was shown before: it would be
 * too low.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <utlist.h>

#include "lib/clock.h"
#include "lib/process.h"
#include "lib/xalloc.h"
#include "host/machine.h"
#include "providers/tracepoint/engine.h"
#include "providers/tracepoint/perf_target.h"

struct perf_state {
	const struct counter *counters;
	uint32_t nr_counters;
	struct counts counts;
	bool *is_wanted; /* by counter */
	pthread_t worker;
	bool has_worker;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool stop;
	uint64_t asked;	   /* grows whenever there may be something to open or close */
	uint64_t answered; /* the value of asked up to which everything is open */
	struct perf_target *targets;
	int *failed;	  /* by counter: the -errno of an open, then no other is tried; or 0 */
	bool has_room;	  /* descriptors were closed */
	bool is_new_want; /* want() was called since the latest retarget() */
	struct perf_values buffer;
};

/* Wakes the worker. */
static void ask(struct perf_state *perf)
{
	perf->asked++;
	pthread_cond_signal(&perf->wake);
}

/* ---- targets, under the lock ---- */

/* Adds a target's counts to sums, which are the retired or the present ones of its guest. */
static void add_counts(const struct perf_state *perf, const struct perf_target *at,
		       struct guest_counts *counted, uint64_t *sums)
{
	for (uint32_t i = 0; i < perf->nr_counters; i++) {
		const struct perf_slot *slot = &at->slots[i];

		if (slot->fd < 0 || !slot->group->is_enabled || !perf->is_wanted[i])
			continue;
		sums[i] += slot->count;
		counted->is_counted[i] = true;
	}
}

/* Ends a target: its counts go to the retired ones of its guest (NULL: there is none any more). */
static void retire(struct perf_state *perf, struct perf_target *at, struct guest_counts *counted)
{
	at->is_gone = true;
	ask(perf);
	if (counted)
		add_counts(perf, at, counted, counted->retired);
}

/* ---- the worker ---- */

static bool slot_is_missing(const struct perf_state *perf, const struct perf_target *at,
			    uint32_t counter)
{
	return !at->is_gone && !at->is_ended && at->slots[counter].fd < 0 &&
	       perf->is_wanted[counter] && !perf->failed[counter];
}

/* The group to open into, a new one if need be: 0 or -errno. */
static int group_to_open(struct perf_state *perf, struct perf_target *at,
			 struct perf_group **ret_group)
{
	struct perf_group *group = at->groups;
	struct target target = at->target;

	while (group && (group->is_full || group->is_enabled))
		group = group->next;
	if (!group) {
		int leader;

		pthread_mutex_unlock(&perf->lock);
		leader = perf_leader_open(&target);
		pthread_mutex_lock(&perf->lock);
		if (leader < 0)
			return leader;
		group = perf_target_add_group(at, leader);
	}
	*ret_group = group;
	return 0;
}

/* Notes what the error of an open means for the target, the group or the counter. */
static void open_failed(struct perf_state *perf, struct perf_target *at, struct perf_group *group,
			uint32_t counter, int err)
{
	if (err == -ESRCH || err == -ENODEV || err == -ENXIO) /* thread ended, CPU offline */
		at->is_ended = true;
	else if ((err == -E2BIG || err == -ENOSPC) && group && group->nr) /* read too long */
		group->is_full = true;
	else
		perf->failed[counter] = err;
}

static void slot_open(struct perf_state *perf, struct perf_target *at, uint32_t counter)
{
	struct target target = at->target;
	struct perf_group *group = NULL;
	uint64_t id = 0;
	int fd = group_to_open(perf, at, &group);

	if (!fd && !descriptors_are_left())
		fd = -EMFILE;
	if (!fd) {
		pthread_mutex_unlock(&perf->lock);
		fd = perf_counter_open(&perf->counters[counter], &target, group->leader, &id);
		pthread_mutex_lock(&perf->lock);
	}
	if (fd < 0) {
		open_failed(perf, at, group, counter, fd);
		return;
	}
	perf_group_join(group, counter);
	at->slots[counter] = (struct perf_slot){ .fd = fd, .id = id, .group = group };
}

/*
 * Opens the missing events, counter by counter, so that one counts everywhere before the next does.
 * Returns false when asked has grown meanwhile.
 */
static bool open_pass(struct perf_state *perf, uint64_t asked)
{
	for (uint32_t i = 0; i < perf->nr_counters; i++) {
		if (!perf->is_wanted[i])
			continue;
		for (struct perf_target *at = perf->targets; at; at = at->next) {
			while (slot_is_missing(perf, at, i))
				slot_open(perf, at, i);
			if (perf->stop || perf->asked != asked)
				return false;
		}
	}
	return true;
}

/* Starts all new groups at once, so that related events agree from the start. */
static void enable_groups(const struct perf_state *perf)
{
	for (struct perf_target *at = perf->targets; at; at = at->next) {
		for (struct perf_group *group = at->groups; group; group = group->next) {
			if (!at->is_gone && !group->is_enabled && group->nr)
				perf_group_start(group);
		}
	}
}

static void slot_close(struct perf_state *perf, struct perf_slot *slot, uint32_t counter)
{
	int fd = slot->fd;

	slot->fd = -1;
	perf_group_leave(slot->group, counter);
	if (!slot->group->nr)
		perf_group_stop(slot->group);
	pthread_mutex_unlock(&perf->lock);
	close(fd);
	pthread_mutex_lock(&perf->lock);
	perf->has_room = true;
}

/*
 * Closes the events that are not wanted, counter by counter: only the last one of a tracepoint
 * waits for RCU. Returns false when asked has grown meanwhile.
 */
static bool close_pass(struct perf_state *perf, uint64_t asked)
{
	for (uint32_t i = 0; i < perf->nr_counters; i++) {
		for (struct perf_target *at = perf->targets; at; at = at->next) {
			struct perf_slot *slot = &at->slots[i];

			if (slot->fd < 0 || (!at->is_gone && perf->is_wanted[i]))
				continue;
			slot_close(perf, slot, i);
			if (perf->stop || perf->asked != asked)
				return false;
		}
	}
	return true;
}

/* Frees the targets that are gone when all of their events are closed. */
static void sweep(struct perf_state *perf)
{
	struct perf_target *gone = NULL, *at, *next;

	LL_FOREACH_SAFE(perf->targets, at, next) {
		if (!at->is_gone)
			continue;
		LL_DELETE(perf->targets, at);
		LL_PREPEND(gone, at);
	}
	if (!gone)
		return;
	pthread_mutex_unlock(&perf->lock);
	LL_FOREACH_SAFE(gone, at, next)
		perf_target_free(at);
	pthread_mutex_lock(&perf->lock);
	perf->has_room = true;
}

/* Whether an open that failed without descriptors may succeed now that others are closed. */
static bool try_again(struct perf_state *perf)
{
	bool any = false;

	if (!perf->has_room)
		return false;
	perf->has_room = false;
	for (uint32_t i = 0; i < perf->nr_counters; i++) {
		if (!descriptors_are_short(perf->failed[i]))
			continue;
		perf->failed[i] = 0;
		any |= perf->is_wanted[i];
	}
	return any;
}

static void *worker_main(void *arg)
{
	struct perf_state *perf = arg;

	pthread_mutex_lock(&perf->lock);
	while (!perf->stop) {
		uint64_t asked = perf->asked;

		if (!open_pass(perf, asked))
			continue;
		enable_groups(perf);
		perf->answered = asked;
		if (!close_pass(perf, asked))
			continue;
		sweep(perf);
		if (try_again(perf))
			continue;
		while (!perf->stop && perf->asked == asked)
			pthread_cond_wait(&perf->wake, &perf->lock);
	}
	pthread_mutex_unlock(&perf->lock);
	return NULL;
}

/* ---- the engine ---- */

static void engine_close(void *state)
{
	struct perf_state *perf = state;
	struct perf_target *at, *next;

	if (!perf)
		return;
	if (perf->has_worker) {
		pthread_mutex_lock(&perf->lock);
		perf->stop = true;
		pthread_cond_signal(&perf->wake);
		pthread_mutex_unlock(&perf->lock);
		pthread_join(perf->worker, NULL);
	}
	LL_FOREACH_SAFE(perf->targets, at, next)
		perf_target_free(at);
	counts_release(&perf->counts);
	pthread_cond_destroy(&perf->wake);
	pthread_mutex_destroy(&perf->lock);
	free(perf->is_wanted);
	free(perf->failed);
	free(perf);
}

static int engine_open(const struct provider_args *args, const struct counter *counters, size_t nr,
		       void **ret_state, struct error *error)
{
	struct perf_state *perf = xcalloc(1, sizeof(*perf));
	int err;

	(void)args;
	pthread_mutex_init(&perf->lock, NULL);
	pthread_cond_init(&perf->wake, NULL);
	perf->counters = counters;
	perf->nr_counters = (uint32_t)nr;
	perf->counts = (struct counts){ counters, (uint32_t)nr, NULL };
	perf->is_wanted = xcalloc(nr, sizeof(*perf->is_wanted));
	perf->failed = xcalloc(nr, sizeof(*perf->failed));
	err = thread_start(&perf->worker, worker_main, perf);
	perf->has_worker = !err;
	if (err) {
		engine_close(perf);
		return error_set(error, err, "cannot start a thread: %s", strerror(-err));
	}
	*ret_state = perf;
	return 0;
}

static bool is_open_anywhere(const struct perf_state *perf, uint32_t counter)
{
	for (const struct perf_target *at = perf->targets; at; at = at->next) {
		if (!at->is_gone && at->slots[counter].fd >= 0)
			return true;
	}
	return false;
}

/* For all wanted events, the groups there are, and one more group for events opened later. */
static uint64_t descriptors_needed(const struct perf_state *perf)
{
	uint64_t nr_wanted = 0, needed = DESCRIPTORS_SPARE;

	for (uint32_t i = 0; i < perf->nr_counters; i++)
		nr_wanted += perf->is_wanted[i];
	for (const struct perf_target *at = perf->targets; at; at = at->next) {
		needed += nr_wanted + nr_wanted / GROUP_MAX + 1;
		for (const struct perf_group *group = at->groups; group; group = group->next)
			needed++;
	}
	return needed;
}

static void engine_want(void *state, const struct field_set *fields)
{
	struct perf_state *perf = state;

	pthread_mutex_lock(&perf->lock);
	for (uint32_t i = 0; i < perf->nr_counters; i++) {
		bool is_wanted = field_set_has(fields, perf->counters[i].field);

		if (is_wanted && !perf->is_wanted[i])
			counts_begin(&perf->counts, i, is_open_anywhere(perf, i));
		perf->is_wanted[i] = is_wanted;
		perf->failed[i] = 0;
	}
	perf->is_new_want = true;
	descriptors_raise(descriptors_needed(perf));
	ask(perf);
	pthread_mutex_unlock(&perf->lock);
}

/* Ends each open target that is not in targets; *ret_is_open: which of targets are open. */
static void retire_others(struct perf_state *perf, const struct target *targets, size_t nr,
			  bool *ret_is_open)
{
	for (struct perf_target *at = perf->targets; at; at = at->next) {
		const struct target *target = NULL;

		if (at->is_gone)
			continue;
		if (nr)
			target = bsearch(&at->target, targets, nr, sizeof(*targets),
					 target_compare);
		if (target && target->guest == at->target.guest && !at->is_ended) {
			ret_is_open[target - targets] = true;
			continue;
		}
		perf_target_read(at, &perf->buffer);
		retire(perf, at, counts_find(&perf->counts, at->target.guest));
	}
}

static int engine_retarget(void *state, const struct target *targets, size_t nr, uint32_t keep)
{
	struct perf_state *perf = state;
	bool *is_open = xcalloc(nr + 1, sizeof(*is_open));
	uint64_t asked;

	pthread_mutex_lock(&perf->lock);
	asked = perf->asked;
	retire_others(perf, targets, nr, is_open);
	counts_end(&perf->counts, targets, nr, keep, perf->is_new_want);
	perf->is_new_want = false;
	for (size_t i = 0; i < nr; i++) {
		struct perf_target *at;

		if (is_open[i])
			continue;
		counts_get(&perf->counts, targets[i].guest, false);
		at = perf_target_new(&targets[i], perf->nr_counters);
		LL_PREPEND(perf->targets, at);
		ask(perf);
	}
	if (perf->asked != asked)
		descriptors_raise(descriptors_needed(perf));
	pthread_mutex_unlock(&perf->lock);
	free(is_open);
	return 0;
}

static bool engine_is_ready(void *state)
{
	struct perf_state *perf = state;
	bool ready;

	pthread_mutex_lock(&perf->lock);
	ready = perf->answered == perf->asked;
	pthread_mutex_unlock(&perf->lock);
	return ready;
}

static void explain(const struct perf_state *perf, struct error *error)
{
	unsigned int nr_short = 0, nr_refused = 0;
	int err = 0;

	for (uint32_t i = 0; i < perf->nr_counters; i++) {
		if (!perf->is_wanted[i] || !perf->failed[i])
			continue;
		if (descriptors_are_short(perf->failed[i])) {
			nr_short++;
		} else {
			nr_refused++;
			err = perf->failed[i];
		}
	}
	if (nr_short)
		descriptors_explain(error, nr_short, descriptors_needed(perf));
	else if (nr_refused)
		error_set(error, 0, "%u events not counted: %s", nr_refused, strerror(-err));
}

static int engine_read(void *state, struct sample *sample, uint64_t *ret_time_ns,
		       struct error *error)
{
	struct perf_state *perf = state;

	pthread_mutex_lock(&perf->lock);
	*ret_time_ns = clock_now_ns();
	counts_clear_now(&perf->counts);
	for (struct perf_target *at = perf->targets; at; at = at->next) {
		struct guest_counts *counted = counts_find(&perf->counts, at->target.guest);

		if (at->is_gone || !counted)
			continue;
		if (perf_target_read(at, &perf->buffer))
			add_counts(perf, at, counted, counted->now);
		else
			retire(perf, at, counted);
	}
	counts_emit(&perf->counts, perf->is_wanted, perf->failed, sample);
	explain(perf, error);
	pthread_mutex_unlock(&perf->lock);
	return 0;
}

const struct engine perf_engine = {
	.name = "perf",
	.probe = perf_probe,
	.open = engine_open,
	.want = engine_want,
	.retarget = engine_retarget,
	.is_ready = engine_is_ready,
	.read = engine_read,
	.close = engine_close,
};
