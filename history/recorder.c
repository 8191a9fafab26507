// SPDX-License-Identifier: GPL-2.0-or-later
/* A queue between the thread that samples and the thread that stores. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/process.h"
#include "lib/xalloc.h"
#include "lib/array.h"
#include "lib/text.h"
#include "core/findings/rules.h"
#include "core/guests/guests.h"
#include "history/recorder.h"

#define LOOK_NS UINT64_C(10000000000)
#define QUEUE 16 /* moments; of the ones that may wait half as many do */

/* ---- causes: a finding is noted when it is steady, and when it is gone; a loss at once */

struct cause {
	const struct rule *rule;
	uint32_t guest;
	char name[GUEST_NAME_SIZE + 32]; /* "guest web1 (pid 12)" */
};

static bool is_steady(const struct causes *causes, const struct cause *cause)
{
	const struct finding *found = findings_get(&causes->findings, cause->rule, cause->guest);

	return found && finding_is_steady(found);
}

static bool is_noted(const struct causes *causes, const struct finding *finding)
{
	size_t i = 0;

	while (i < causes->nr && (causes->list[i].rule != finding->rule ||
				  causes->list[i].guest != finding->guest))
		i++;
	return i < causes->nr;
}

static void note_end(const struct cause *cause, struct moment *moment)
{
	struct moment_notice *notice = moment_add_notice(moment);

	text_put(notice->text, sizeof(notice->text), "%s: no longer found: %s", cause->name,
		 cause->rule->finding);
}

static void note_begin(struct causes *causes, const struct finding *finding,
		       const struct guests *guests, struct moment *moment)
{
	const struct guest *guest = guests_find(guests, finding->guest);
	struct moment_notice *notice = moment_add_notice(moment);
	struct cause *cause;

	cause = array_add(causes->list, causes->nr, causes->room);
	*cause = (struct cause){ .rule = finding->rule, .guest = finding->guest };
	if (guest)
		snprintf(cause->name, sizeof(cause->name), "guest %s (pid %d)", guest->name,
			 (int)guest->pid);
	else
		snprintf(cause->name, sizeof(cause->name), "all guests");
	text_put(notice->text, sizeof(notice->text), "%s: %s (%s): %s", cause->name,
		 finding->rule->finding, severity_name(finding->severity), finding->evidence);
}

static void note_causes(struct causes *causes, const struct guests *guests, struct moment *moment)
{
	size_t kept = 0;

	for (size_t i = 0; i < causes->nr; i++) {
		const struct cause cause = causes->list[i];

		if (is_steady(causes, &cause))
			causes->list[kept++] = cause;
		else
			note_end(&cause, moment);
	}
	causes->nr = kept;
	for (size_t i = 0; i < causes->findings.nr; i++) {
		const struct finding *found = &causes->findings.list[i];

		if (finding_is_steady(found) && !is_noted(causes, found))
			note_begin(causes, found, guests, moment);
	}
}

static void note_lost(struct causes *causes, const struct facts *facts, struct moment *moment)
{
	uint64_t lost = facts->stats->lost, more = lost - causes->lost;
	struct moment_notice *notice;

	if (!more)
		return;
	causes->lost = lost;
	notice = moment_add_notice(moment);
	snprintf(notice->text, sizeof(notice->text), "%" PRIu64 " exits or arguments could not be "
		 "counted: what is counted is too low", more);
}

void causes_take(struct causes *causes, const struct facts *facts, struct moment *moment)
{
	/* Unsigned, so a clock set back is due, too. */
	if (causes->looked_ns && moment->time_ns - causes->looked_ns < LOOK_NS)
		return;
	causes->looked_ns = moment->time_ns;
	findings_find(&causes->latest, facts, GUEST_ALL, causes->thresholds);
	findings_follow(&causes->findings, &causes->latest);
	note_lost(causes, facts, moment);
	note_causes(causes, facts->guests, moment);
}

void causes_release(struct causes *causes)
{
	findings_release(&causes->findings);
	findings_release(&causes->latest);
	free(causes->list);
	*causes = (struct causes){ .thresholds = NULL };
}

/* ---- the recorder */

struct recorder {
	struct sink sink;
	pthread_t thread;
	/* The sampling thread's: */
	struct moment_taker taker;
	struct causes causes;
	/* The storing thread's: */
	struct packer *packer;
	struct packed packed;
	uint64_t nr_noted; /* losses */
	/*
	 * A circle of moments. The sampling thread writes after the last, the other one reads the
	 * first; both without the lock, which is for the members after the queue.
	 */
	struct moment queue[QUEUE];
	pthread_mutex_t lock;
	pthread_cond_t has_changed; /* first, nr, is_called or is_ending */
	size_t first, nr;
	size_t nr_waiting; /* keys, since the queue was empty */
	bool is_called; /* to store what there is until the queue is empty */
	bool is_ending;
	bool has_lost; /* the next moment that is stored must have all totals */
	bool wants_totals; /* the next one that is taken should have them */
	struct losses losses;
};

/* ---- the storing thread */

static int store(struct recorder *recorder, struct moment *moment, struct error *error)
{
	const struct sink *sink = &recorder->sink;
	int err = sink->map ? sink->map(sink->state, moment, error) : 0;

	if (err)
		return err;
	pack_moment(recorder->packer, moment, &recorder->packed);
	return sink->add(sink->state, moment, &recorder->packed, error);
}

static void lose(struct losses *losses, const struct error *error)
{
	losses->nr++;
	losses->is_losing = true;
	if (error->text[0])
		losses->error = *error;
}

/* Whether the moment can be stored: its changes must not be since a lost moment. */
static bool is_usable(const struct recorder *recorder, const struct moment *moment)
{
	return !recorder->has_lost || moment->flags & (MOMENT_AFTER_LOSS | MOMENT_FIRST);
}

/* losses: before the moment of time_ns, which is stored. */
static void note_losses(struct recorder *recorder, const struct losses *losses, uint64_t time_ns)
{
	char text[sizeof(struct error) + 64];
	uint64_t nr = losses->nr - recorder->nr_noted;

	if (!nr || !recorder->sink.note)
		return;
	snprintf(text, sizeof(text), "%" PRIu64 " sample%s lost: %s", nr,
		 nr == 1 ? " was" : "s were", losses->error.text);
	/* An error is left out: losses are shown, too. */
	(void)recorder->sink.note(recorder->sink.state, time_ns, text, NULL);
	recorder->nr_noted = losses->nr;
}

/* Called with the lock held; stores without it. */
static void store_first(struct recorder *recorder)
{
	struct moment *moment = &recorder->queue[recorder->first];
	struct losses before = recorder->losses;
	const struct sink *sink = &recorder->sink;
	struct error error = { "" };
	int err = -EAGAIN;

	if (is_usable(recorder, moment)) {
		recorder->has_lost = false;
		pthread_mutex_unlock(&recorder->lock);
		err = store(recorder, moment, &error);
		if (!err)
			note_losses(recorder, &before, moment->time_ns);
		pthread_mutex_lock(&recorder->lock);
	}
	recorder->has_lost = err;
	recorder->wants_totals = sink->wants_totals && sink->wants_totals(sink->state);
	if (err)
		lose(&recorder->losses, &error);
	else
		recorder->losses.is_losing = false;
	moment_reset(moment);
	recorder->first = (recorder->first + 1) % QUEUE;
	recorder->nr--;
	if (!recorder->nr) {
		recorder->nr_waiting = 0;
		recorder->is_called = false;
	}
	pthread_cond_broadcast(&recorder->has_changed);
}

static void *run(void *arg)
{
	struct recorder *recorder = arg;

	pthread_mutex_lock(&recorder->lock);
	while (recorder->nr || !recorder->is_ending) {
		if (recorder->is_called)
			store_first(recorder);
		else
			pthread_cond_wait(&recorder->has_changed, &recorder->lock);
	}
	pthread_mutex_unlock(&recorder->lock);
	return NULL;
}

/* ---- the sampling thread */

static void recorder_free(struct recorder *recorder)
{
	for (size_t i = 0; i < QUEUE; i++)
		moment_release(&recorder->queue[i]);
	moment_taker_release(&recorder->taker);
	causes_release(&recorder->causes);
	packer_free(recorder->packer);
	packed_release(&recorder->packed);
	pthread_cond_destroy(&recorder->has_changed);
	pthread_mutex_destroy(&recorder->lock);
	free(recorder);
}

int recorder_start(const struct sink *sink, struct recorder **ret_recorder)
{
	struct recorder *recorder = xcalloc(1, sizeof(*recorder));
	int err;

	recorder->sink = *sink;
	recorder->causes.thresholds = sink->thresholds;
	recorder->taker.has_long_exits = sink->has_long_exits;
	pthread_mutex_init(&recorder->lock, NULL);
	thread_cond_init(&recorder->has_changed);
	recorder->packer = packer_new();
	err = thread_start(&recorder->thread, run, recorder);
	if (err)
		recorder_free(recorder);
	else
		*ret_recorder = recorder;
	return err;
}

/* The free slot after the last moment; NULL: there is none, so this moment is lost. */
static struct moment *get_slot(struct recorder *recorder)
{
	struct moment *slot = NULL;

	pthread_mutex_lock(&recorder->lock);
	if (!recorder->nr) /* the first slot has memory from earlier moments */
		recorder->first = 0;
	if (recorder->nr < QUEUE) {
		slot = &recorder->queue[(recorder->first + recorder->nr) % QUEUE];
		recorder->taker.has_lost |= recorder->has_lost;
		if (recorder->wants_totals)
			recorder->taker.since_totals = MOMENT_TOTALS_EVERY;
	} else {
		lose(&recorder->losses, &(struct error){ "writing is slower than sampling" });
	}
	pthread_mutex_unlock(&recorder->lock);
	return slot;
}

void recorder_take(struct recorder *recorder, const struct facts *facts, uint64_t time_ns)
{
	struct moment *slot = get_slot(recorder);
	bool is_due;

	if (!slot) {
		moment_skip(&recorder->taker, facts);
		return;
	}
	moment_take(&recorder->taker, facts, time_ns, slot);
	if (recorder->sink.thresholds)
		causes_take(&recorder->causes, facts, slot);
	pthread_mutex_lock(&recorder->lock);
	recorder->nr++;
	recorder->nr_waiting += slot->changes.nr + slot->totals.nr;
	is_due = recorder->nr_waiting >= recorder->sink.may_wait || recorder->nr >= QUEUE / 2;
	recorder->is_called |= is_due;
	pthread_mutex_unlock(&recorder->lock);
	if (is_due) /* without the lock, which the thread takes first */
		pthread_cond_broadcast(&recorder->has_changed);
}

/* Called with the lock held. */
static void call(struct recorder *recorder)
{
	recorder->is_called = recorder->nr > 0;
	pthread_cond_broadcast(&recorder->has_changed);
}

size_t recorder_flush(struct recorder *recorder, unsigned int timeout_ms)
{
	const struct timespec end = thread_time_in(timeout_ms);
	size_t left;
	int err = 0;

	pthread_mutex_lock(&recorder->lock);
	if (recorder->nr)
		call(recorder);
	while (recorder->nr && !err)
		err = pthread_cond_timedwait(&recorder->has_changed, &recorder->lock, &end);
	left = recorder->nr;
	pthread_mutex_unlock(&recorder->lock);
	return left;
}

void recorder_losses(struct recorder *recorder, struct losses *ret_losses)
{
	pthread_mutex_lock(&recorder->lock);
	*ret_losses = recorder->losses;
	pthread_mutex_unlock(&recorder->lock);
}

void recorder_notice(struct recorder *recorder, char *text, size_t size)
{
	struct losses losses;

	recorder_losses(recorder, &losses);
	if (losses.nr)
		text_put(text, size, "%" PRIu64 " sample%s not be stored: %s", losses.nr,
			 losses.nr == 1 ? " could" : "s could", losses.error.text);
	else
		snprintf(text, size, "%s", "");
}

void recorder_stop(struct recorder *recorder)
{
	if (!recorder)
		return;
	pthread_mutex_lock(&recorder->lock);
	recorder->is_ending = true;
	call(recorder);
	pthread_mutex_unlock(&recorder->lock);
	pthread_join(recorder->thread, NULL);
	recorder_free(recorder);
}
