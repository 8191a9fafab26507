// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts tracepoints with groups of perf events on every CPU, or in threads.
 *
 * The kernel serialises opening and closing of tracepoints, and closing the last event of one
 * waits for RCU (about 36 ms each): a worker thread does both, opening first, and whoever draws
 * never waits for it. The lock guards the tables and is never held across such a call.
 *
 * What cannot be opened everywhere is not shown at all, rather than too low, unless it was shown
 * before.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/read.h"
#include "host/descriptors.h"
#include "providers/tracepoint/counts.h"
#include "providers/tracepoint/engine.h"
#include "providers/tracepoint/perf_site.h"

struct perf {
	const struct counter *counters;
	uint32_t nr_counters;
	struct tallies tallies;
	bool *is_wanted; /* by counter */
	pthread_t worker;
	bool has_worker;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool stop;
	uint64_t asked;	   /* grows whenever there may be something to open or close */
	uint64_t answered; /* all that was asked up to here is open */
	struct site *sites;
	int *failed;   /* by counter: why it would not open somewhere; no more is tried; or 0 */
	bool has_room; /* descriptors were given back */
	bool is_asked_anew; /* something was wanted since the latest retarget */
	struct read_buffer buffer;
};

/* Sets the worker to what has changed. */
static void ask(struct perf *perf)
{
	perf->asked++;
	pthread_cond_signal(&perf->wake);
}

/* ---- sites: under the lock ---- */

/* Adds a site's counts to sums of its tally. */
static void site_add(const struct perf *perf, const struct site *site, struct tally *tally,
		     uint64_t *sums)
{
	for (uint32_t i = 0; i < perf->nr_counters; i++) {
		const struct slot *slot = &site->slots[i];

		if (slot->fd < 0 || !slot->group->is_enabled || !perf->is_wanted[i])
			continue;
		sums[i] += slot->count;
		tally->is_counted[i] = true;
	}
}

/* Moves what a site has counted to its tally. */
static void site_retire(struct perf *perf, struct site *site, struct tally *tally)
{
	site->is_gone = true;
	ask(perf);
	if (tally)
		site_add(perf, site, tally, tally->retired);
}

/* ---- the worker ---- */

static bool slot_is_missing(const struct perf *perf, const struct site *site, uint32_t counter)
{
	return !site->is_gone && !site->is_ended && site->slots[counter].fd < 0 &&
	       perf->is_wanted[counter] && !perf->failed[counter];
}

static int group_begin(struct perf *perf, struct site *site, struct group **ret_group)
{
	struct target target = site->target;
	struct group *group;
	int leader;

	pthread_mutex_unlock(&perf->lock);
	leader = leader_open(&target);
	pthread_mutex_lock(&perf->lock);
	if (leader < 0)
		return leader;
	group = site_add_group(site, leader);
	if (!group) {
		close(leader);
		return -ENOMEM;
	}
	*ret_group = group;
	return 0;
}

/* The group to open into, a new one if need be: 0 or -errno. */
static int site_group(struct perf *perf, struct site *site, struct group **ret_group)
{
	struct group *group = site->groups;

	while (group && (group->is_full || group->is_enabled))
		group = group->next;
	if (!group)
		return group_begin(perf, site, ret_group);
	*ret_group = group;
	return 0;
}

/* What it means that an event would not open. */
static void open_failed(struct perf *perf, struct site *site, struct group *group, uint32_t counter,
			int err)
{
	switch (err) {
	case -ESRCH:  /* the thread ended */
	case -ENODEV: /* the CPU went offline */
	case -ENXIO:
		site->is_ended = true;
		return;
	case -E2BIG: /* the group's read would be too long */
	case -ENOSPC:
		if (group && group->nr) {
			group->is_full = true;
			return;
		}
		break;
	default:
		break;
	}
	perf->failed[counter] = err;
}

static void slot_open(struct perf *perf, struct site *site, uint32_t counter)
{
	struct target target = site->target;
	struct group *group = NULL;
	uint64_t id = 0;
	int fd = site_group(perf, site, &group);

	if (!fd && !descriptors_are_left())
		fd = -EMFILE;
	if (!fd) {
		pthread_mutex_unlock(&perf->lock);
		fd = counter_open(&perf->counters[counter], &target, group->leader, &id);
		pthread_mutex_lock(&perf->lock);
	}
	if (fd >= 0 && group_join(group, counter) < 0) {
		pthread_mutex_unlock(&perf->lock);
		close(fd);
		pthread_mutex_lock(&perf->lock);
		fd = -ENOMEM;
	}
	if (fd < 0)
		open_failed(perf, site, group, counter, fd);
	else
		site->slots[counter] = (struct slot){ .fd = fd, .id = id, .group = group };
}

/*
 * Opens what is missing, counter by counter, so that one counts everywhere before the next does.
 * Returns false when something else was asked meanwhile.
 */
static bool open_pass(struct perf *perf, uint64_t asked)
{
	for (uint32_t i = 0; i < perf->nr_counters; i++) {
		if (!perf->is_wanted[i])
			continue;
		for (struct site *site = perf->sites; site; site = site->next) {
			while (slot_is_missing(perf, site, i))
				slot_open(perf, site, i);
			if (perf->stop || perf->asked != asked)
				return false;
		}
	}
	return true;
}

/* Starts all new groups one right after the other, so that related events agree from the start. */
static void enable_groups(const struct perf *perf)
{
	for (struct site *site = perf->sites; site; site = site->next) {
		for (struct group *group = site->groups; group; group = group->next) {
			if (!site->is_gone && !group->is_enabled && group->nr)
				group_start(group);
		}
	}
}

static void slot_close(struct perf *perf, struct slot *slot, uint32_t counter)
{
	int fd = slot->fd;

	slot->fd = -1;
	group_leave(slot->group, counter);
	if (!slot->group->nr)
		group_stop(slot->group);
	pthread_mutex_unlock(&perf->lock);
	close(fd);
	pthread_mutex_lock(&perf->lock);
	perf->has_room = true;
}

/* Closes what nobody wants, counter by counter: only the last of one tracepoint waits for RCU. */
static bool close_pass(struct perf *perf, uint64_t asked)
{
	for (uint32_t i = 0; i < perf->nr_counters; i++) {
		for (struct site *site = perf->sites; site; site = site->next) {
			struct slot *slot = &site->slots[i];

			if (slot->fd < 0 || (!site->is_gone && perf->is_wanted[i]))
				continue;
			slot_close(perf, slot, i);
			if (perf->stop || perf->asked != asked)
				return false;
		}
	}
	return true;
}

/* Drops sites that are gone; none has an event left. */
static void sweep(struct perf *perf)
{
	struct site *gone = NULL;

	for (struct site **link = &perf->sites; *link;) {
		struct site *site = *link;

		if (!site->is_gone) {
			link = &site->next;
			continue;
		}
		*link = site->next;
		site->next = gone;
		gone = site;
	}
	if (!gone)
		return;
	pthread_mutex_unlock(&perf->lock);
	while (gone) {
		struct site *site = gone;

		gone = site->next;
		site_free(site);
	}
	pthread_mutex_lock(&perf->lock);
	perf->has_room = true;
}

/* Opening comes before closing: what found no descriptor may find one now. False: nothing may. */
static bool try_again(struct perf *perf)
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
	struct perf *perf = arg;

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
	struct perf *perf = state;

	if (!perf)
		return;
	if (perf->has_worker) {
		pthread_mutex_lock(&perf->lock);
		perf->stop = true;
		pthread_cond_signal(&perf->wake);
		pthread_mutex_unlock(&perf->lock);
		pthread_join(perf->worker, NULL);
	}
	while (perf->sites) {
		struct site *site = perf->sites;

		for (uint32_t i = 0; i < perf->nr_counters; i++) {
			if (site->slots[i].fd >= 0)
				close(site->slots[i].fd);
		}
		perf->sites = site->next;
		site_free(site);
	}
	tallies_release(&perf->tallies);
	pthread_cond_destroy(&perf->wake);
	pthread_mutex_destroy(&perf->lock);
	free(perf->is_wanted);
	free(perf->failed);
	free(perf);
}

/* Signals are for the thread that draws. */
static int worker_start(struct perf *perf)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&perf->worker, NULL, worker_main, perf);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	perf->has_worker = err == 0;
	return -err;
}

/*
 * Whether per-CPU events may be opened at all; a dummy event meets the same checks as a tracepoint
 * and costs nothing to close.
 */
static int engine_probe(const struct env *env, struct why *why)
{
	struct target target = { .id = 0 };
	char path[PATH_MAX], paranoid[16] = "?";
	int fd = leader_open(&target);

	if (fd >= 0)
		close(fd);
	if (fd >= 0 || fd == -ENODEV) /* CPU 0 is offline: no question of rights */
		return 0;
	if (fd == -ENOSYS)
		return why_set(why, fd, "this kernel has no perf events (CONFIG_PERF_EVENTS)");
	if (fd != -EACCES && fd != -EPERM)
		return why_set(why, fd, "cannot open perf events: %s", strerror(-fd));
	env_path(env, path, sizeof(path), "/proc/sys/kernel/perf_event_paranoid");
	read_small(path, paranoid, sizeof(paranoid));
	paranoid[strcspn(paranoid, "\n")] = '\0';
	/* Above 2 is Debian's and Ubuntu's own, for which cap_perfmon is not enough. */
	return why_set(why, fd,
		       "not allowed to count events (perf_event_paranoid is %s): run as root, or "
		       "grant it: setcap "
		       "cap_perfmon,%scap_dac_read_search,cap_sys_ptrace+ep kvmtop",
		       paranoid, atoi(paranoid) > 2 ? "cap_sys_admin," : "");
}

static int engine_open(const struct env *env, const struct counter *counters, size_t nr,
		       void **ret_state, struct why *why)
{
	struct perf *perf = calloc(1, sizeof(*perf));
	int err;

	(void)env;
	if (!perf)
		return -ENOMEM;
	pthread_mutex_init(&perf->lock, NULL);
	pthread_cond_init(&perf->wake, NULL);
	perf->counters = counters;
	perf->nr_counters = (uint32_t)nr;
	perf->tallies = (struct tallies){ counters, (uint32_t)nr, NULL };
	perf->is_wanted = calloc(nr, sizeof(*perf->is_wanted));
	perf->failed = calloc(nr, sizeof(*perf->failed));
	err = perf->is_wanted && perf->failed ? worker_start(perf) : -ENOMEM;
	if (err) {
		engine_close(perf);
		return why_set(why, err, "cannot start a thread: %s", strerror(-err));
	}
	*ret_state = perf;
	return 0;
}

static bool is_open_anywhere(const struct perf *perf, uint32_t counter)
{
	for (const struct site *site = perf->sites; site; site = site->next) {
		if (!site->is_gone && site->slots[counter].fd >= 0)
			return true;
	}
	return false;
}

/* For all that is wanted, with the groups there are and one more for what joins late. */
static uint64_t descriptors_needed(const struct perf *perf)
{
	uint64_t nr_wanted = 0, needed = DESCRIPTORS_SPARE;

	for (uint32_t i = 0; i < perf->nr_counters; i++)
		nr_wanted += perf->is_wanted[i];
	for (const struct site *site = perf->sites; site; site = site->next) {
		needed += nr_wanted + nr_wanted / GROUP_MAX + 1;
		for (const struct group *group = site->groups; group; group = group->next)
			needed++;
	}
	return needed;
}

static int engine_want(void *state, const struct field_set *fields)
{
	struct perf *perf = state;

	pthread_mutex_lock(&perf->lock);
	for (uint32_t i = 0; i < perf->nr_counters; i++) {
		bool is_wanted = field_set_has(fields, perf->counters[i].field);

		if (is_wanted && !perf->is_wanted[i])
			tallies_begin(&perf->tallies, i, is_open_anywhere(perf, i));
		perf->is_wanted[i] = is_wanted;
		perf->failed[i] = 0;
	}
	perf->is_asked_anew = true;
	descriptors_raise(descriptors_needed(perf));
	ask(perf);
	pthread_mutex_unlock(&perf->lock);
	return 0;
}

/* Retires the sites that are no targets any more; tells which targets have one. */
static void retire_others(struct perf *perf, const struct target *targets, size_t nr,
			  bool *ret_has_site)
{
	for (struct site *site = perf->sites; site; site = site->next) {
		const struct target *target = NULL;

		if (site->is_gone)
			continue;
		if (nr)
			target = bsearch(&site->target, targets, nr, sizeof(*targets),
					 target_compare);
		if (target && target->guest == site->target.guest && !site->is_ended) {
			ret_has_site[target - targets] = true;
			continue;
		}
		site_read(site, &perf->buffer);
		site_retire(perf, site, tallies_find(&perf->tallies, site->target.guest));
	}
}

static bool site_begin(struct perf *perf, const struct target *target)
{
	struct site *site = site_new(target, perf->nr_counters);

	if (!site)
		return false;
	site->next = perf->sites;
	perf->sites = site;
	return true;
}

static int engine_retarget(void *state, const struct target *targets, size_t nr, uint32_t keep)
{
	struct perf *perf = state;
	bool *has_site = calloc(nr + 1, sizeof(*has_site));
	uint64_t asked;
	int err = 0;

	if (!has_site)
		return -ENOMEM;
	pthread_mutex_lock(&perf->lock);
	asked = perf->asked;
	retire_others(perf, targets, nr, has_site);
	tallies_end(&perf->tallies, targets, nr, keep, perf->is_asked_anew);
	perf->is_asked_anew = false;
	for (size_t i = 0; i < nr && !err; i++) {
		if (has_site[i])
			continue;
		if (!tallies_get(&perf->tallies, targets[i].guest) ||
		    !site_begin(perf, &targets[i]))
			err = -ENOMEM;
		ask(perf);
	}
	if (perf->asked != asked)
		descriptors_raise(descriptors_needed(perf));
	pthread_mutex_unlock(&perf->lock);
	free(has_site);
	return err;
}

static bool engine_is_ready(void *state)
{
	struct perf *perf = state;
	bool ready;

	pthread_mutex_lock(&perf->lock);
	ready = perf->answered == perf->asked;
	pthread_mutex_unlock(&perf->lock);
	return ready;
}

static void explain(const struct perf *perf, struct why *why)
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
		descriptors_explain(why, nr_short, descriptors_needed(perf));
	else if (nr_refused)
		why_set(why, 0, "%u events not counted: %s", nr_refused, strerror(-err));
}

static int engine_read(void *state, struct sample *sample, uint64_t *ret_time_ns, struct why *why)
{
	struct perf *perf = state;
	int err;

	pthread_mutex_lock(&perf->lock);
	*ret_time_ns = clock_now_ns();
	tallies_clear_now(&perf->tallies);
	for (struct site *site = perf->sites; site; site = site->next) {
		struct tally *tally = tallies_find(&perf->tallies, site->target.guest);

		if (site->is_gone || !tally)
			continue;
		if (site_read(site, &perf->buffer))
			site_add(perf, site, tally, tally->now);
		else
			site_retire(perf, site, tally);
	}
	err = tallies_emit(&perf->tallies, perf->is_wanted, perf->failed, sample);
	explain(perf, why);
	pthread_mutex_unlock(&perf->lock);
	return err;
}

const struct engine perf_engine = {
	.name = "perf",
	.probe = engine_probe,
	.open = engine_open,
	.want = engine_want,
	.retarget = engine_retarget,
	.is_ready = engine_is_ready,
	.read = engine_read,
	.close = engine_close,
};
