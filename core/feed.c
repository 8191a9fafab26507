// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens a provider, gives it the wanted fields, collects its samples, and counts its failures. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/text.h"
#include "core/monitor.h"

#define COLLECT_TRIES 10 /* failures in a row, with the last of which a feed is switched off */

void feed_say(struct feed *feed, const char *text)
{
	if (text[0])
		text_put(feed->notice, sizeof(feed->notice), "%s: %s",
			 feed->provider->name, text);
	else
		feed->notice[0] = '\0';
}

/*
 * Switches a feed off for good. If it has never counted, views are as if it could not be opened.
 */
static void feed_fail(struct feed *feed, int err, const struct error *error)
{
	feed_say(feed, feed->is_aside && !feed->is_asked ? "" :
		       error->text[0] ? error->text : strerror(-err));
	if (feed->is_open)
		feed->provider->close(feed->state);
	if (!feed->has_collected)
		fields_abandon(feed->args.fields, feed->args.source);
	feed->is_open = false;
	feed->state = NULL;
}

int feed_open(struct feed *feed, bool waits)
{
	struct error error = { "" };
	int err = feed->provider->open(&feed->args, &feed->state, &error);

	feed->is_open = !err;
	feed->has_want = false;
	feed->is_waiting = err == -ENOENT && waits;
	if (err)
		feed_fail(feed, err, &error);
	else
		feed_say(feed, "");
	return err;
}

void feed_close(struct feed *feed)
{
	if (feed->is_open)
		feed->provider->close(feed->state);
	field_set_release(&feed->want.fields);
}

/* The part of a want that is about the fields of a feed. */
static struct want want_of(const struct feed *feed, const struct want *all)
{
	const struct fields *fields = feed->args.fields;
	struct want want = { .scope = all->scope, .guest = all->guest,
			     .longer_ns = all->longer_ns, .has_halts = all->has_halts,
			     .stack_hz = all->stack_hz,
			     .has_guest_code = all->has_guest_code };

	/* Always all guests: a closer look at one guest must not end the counts of others. */
	if (feed->provider->is_of_exits) {
		want.scope = WANT_EACH;
		want.guest = GUEST_ALL;
	}
	for (uint32_t i = 0; i < fields_count(fields); i++) {
		if (fields_get(fields, i)->source == feed->args.source &&
		    field_set_has(&all->fields, i))
			field_set_add(&want.fields, i);
	}
	return want;
}

/* Whether a want equals the latest one. Newer fields are counted anyway. */
static bool has_want(const struct feed *feed, const struct want *want)
{
	const struct want *latest = &feed->want;

	if (!feed->has_want || want->scope != latest->scope || want->guest != latest->guest ||
	    want->longer_ns != latest->longer_ns || want->has_halts != latest->has_halts ||
	    want->stack_hz != latest->stack_hz || want->has_guest_code != latest->has_guest_code)
		return false;
	for (uint32_t i = 0; i < feed->nr_fields; i++) {
		if (field_set_has(&want->fields, i) != field_set_has(&latest->fields, i))
			return false;
	}
	return true;
}

bool feed_want(struct feed *feed, const struct want *all, bool is_new)
{
	struct error error = { "" };
	struct want want;
	int err;

	if (!feed->is_open)
		return false;
	want = want_of(feed, all);
	if (!is_new && has_want(feed, &want)) {
		field_set_release(&want.fields);
		return false;
	}
	field_set_release(&feed->want.fields);
	feed->want = want;
	feed->has_want = true;
	feed->nr_fields = fields_count(feed->args.fields);
	err = feed->provider->want(feed->state, &feed->want, &error);
	if (err) {
		feed_fail(feed, err, &error);
		return true;
	}
	feed_say(feed, error.text);
	if (feed->provider->rewind)
		feed->nr_samples = feed->provider->rewind(feed->state);
	return true;
}

void feed_look(const struct feed *feed)
{
	if (feed->is_open && feed->has_want && feed->provider->look)
		feed->provider->look(feed->state);
}

/* The feed is not in this sample. After too many failures it is switched off. */
static void count_failure(struct feed *feed, int err, const struct error *error)
{
	struct error again = { "" };

	if (++feed->nr_failures == COLLECT_TRIES) {
		feed_fail(feed, err, error);
		return;
	}
	error_set(&again, 0, "%s; trying again", error->text[0] ? error->text : strerror(-err));
	feed_say(feed, again.text);
}

void feed_collect(struct feed *feed, struct sample *sample)
{
	size_t nr_rows = sample->nr_rows, nr_timings = sample->nr_timings;
	struct error error = { "" };
	int err;

	if (!feed->is_open)
		return;
	err = feed->provider->collect(feed->state, sample, &error);
	if (err && err != -EAGAIN) {
		sample->nr_rows = nr_rows; /* which may be incomplete */
		sample->nr_timings = nr_timings;
		sample->time_ns[feed->args.source] = 0;
		count_failure(feed, err, &error);
		return;
	}
	if (!err || error.text[0])
		feed_say(feed, error.text);
	if (!err)
		feed->nr_failures = 0;
	feed->has_collected |= !err;
}

bool feed_has_no_exits(const struct feed *feed)
{
	return feed->provider->is_of_exits && !feed->is_open && !feed->has_collected;
}

/* Some load their programs only when they are made to count. */
static int begin_counting(struct feed *feed, struct error *error)
{
	struct want want = { .scope = WANT_EACH };
	int err;

	if (feed->provider->is_of_exits) {
		for (uint32_t i = 0; i < fields_count(feed->args.fields); i++)
			field_set_add(&want.fields, i);
	}
	err = feed->provider->want(feed->state, &want, error);
	field_set_release(&want.fields);
	return err;
}

static int feed_try(struct feed *feed, struct error *error)
{
	int err = feed->provider->open(&feed->args, &feed->state, error);

	if (err)
		return err;
	err = begin_counting(feed, error);
	if (!err)
		error->text[0] = '\0';
	feed->provider->close(feed->state);
	return err;
}

int provider_try(const struct provider *provider, const struct env *env,
		const struct provider_options *options, struct error *error)
{
	struct feed feed = {
		.provider = provider,
		.args = { .env = env, .guests = guests_new(env), .fields = fields_new(),
			  .options = *options },
	};
	int err = feed_try(&feed, error);

	fields_free(feed.args.fields);
	guests_free(feed.args.guests);
	return err;
}
