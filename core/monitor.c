// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens providers, gives them the wanted fields, and collects their samples. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/clock.h"
#include "lib/xalloc.h"
#include "core/guests/guests.h"
#include "core/monitor.h"
#include "core/provider.h"
#include "core/views/query.h"

#define NS_PER_MS UINT64_C(1000000)
#define COLLECT_TRIES 10 /* failures in a row, with the last of which a source is switched off */

struct source {
	bool is_aside; /* see monitor_config.asides */
	const struct provider *provider;
	struct provider_args args;
	void *state; /* NULL: not open */
	bool is_open, has_collected;
	unsigned int nr_failures; /* of collect(), in a row */
	bool is_waiting; /* it is not there yet; monitor_revive() tries again */
	bool is_told;
	struct want told;      /* the latest want that it got */
	size_t nr_samples;     /* of a player, for this want; 0: it cannot rewind */
	uint32_t nr_told_with; /* the number of fields then: newer ones are counted anyway */
	char notice[sizeof(struct error) + 32];
};

struct monitor {
	struct monitor_config config;
	struct guests *guests; /* a recording's belong to the caller */
	struct fields *fields;
	struct stats *stats;
	struct sample sample;
	struct field_set needed; /* by the latest query; want.fields may be more */
	struct want want;
	char *filter; /* the text of the latest query's filter; NULL: it had none */
	bool has_want, has_new_question;
	bool has_own_events; /* the latest query needs events */
	bool is_answered; /* the recording's samples were taken for the latest want */
	bool goes_on;	  /* and one more is to be taken */
	struct source sources[SAMPLE_SOURCES];
	size_t nr_sources;
	struct error guests_why; /* why the inventory may not be true; "": it is */
	struct facts facts;
};

static void source_say(struct source *source, const char *text)
{
	if (text[0])
		snprintf(source->notice, sizeof(source->notice), "%s: %s",
			 source->provider->name, text);
	else
		source->notice[0] = '\0';
}

/*
 * Switches a source off for good. If it has never counted, views are to be as they are where it
 * could not be opened.
 */
static void source_fail(struct source *source, int err, const struct error *why)
{
	source_say(source, why->text[0] ? why->text : strerror(-err));
	if (source->is_open)
		source->provider->close(source->state);
	if (!source->has_collected)
		fields_abandon(source->args.fields, source->args.source);
	source->is_open = false;
	source->state = NULL;
}

/* Opens a source, or leaves it waiting or failed with its notice set. */
static int source_open(struct source *source, bool waits)
{
	struct error why = { "" };
	int err = source->provider->open(&source->args, &source->state, &why);

	source->is_open = !err;
	source->is_told = false;
	source->is_waiting = err == -ENOENT && waits;
	if (err)
		source_fail(source, err, &why);
	if (!err || source->is_aside)
		source_say(source, "");
	return err;
}

static bool is_recorded(const struct monitor *monitor)
{
	return !monitor->config.env;
}

bool monitor_is_live(const struct monitor *monitor)
{
	for (size_t i = 0; i < monitor->nr_sources; i++) {
		if (monitor->sources[i].is_open && !monitor->sources[i].is_aside)
			return true;
	}
	return false;
}

/* The source that this one would be in place of; NULL: none. */
static const struct source *replaced_by(const struct monitor *monitor, const struct source *source)
{
	for (size_t i = 0; source->provider->instead_of && i < monitor->nr_sources; i++) {
		if (monitor->sources[i].provider == source->provider->instead_of)
			return &monitor->sources[i];
	}
	return NULL;
}

/* Whether it is not needed, because that one is open. */
static bool is_spare(const struct monitor *monitor, const struct source *source)
{
	const struct source *first = replaced_by(monitor, source);

	return first && first->is_open;
}

/* Whether another one is open in its place. */
static bool is_replaced(const struct monitor *monitor, const struct source *source)
{
	for (size_t i = 0; i < monitor->nr_sources; i++) {
		const struct source *other = &monitor->sources[i];

		if (other->is_open && replaced_by(monitor, other) == source)
			return true;
	}
	return false;
}

/* Why the last source could not be opened; of one in place of another, both reasons. */
static void say_why(const struct monitor *monitor, const struct source *source, struct error *why)
{
	const struct source *first = replaced_by(monitor, source);

	if (!first)
		error_set(why, 0, "%s", source->notice);
	else if (strcmp(first->notice, why->text) == 0)
		error_set(why, 0, "%s; %s", first->notice, source->notice);
}

static int open_sources(struct monitor *monitor, struct error *why)
{
	bool waits = false;
	int err = -ENOENT;

	for (size_t i = 0; monitor->config.list[i]; i++) {
		struct source *source = &monitor->sources[monitor->nr_sources];
		int this_err;

		if (!is_recorded(monitor) && !(monitor->config.providers & 1U << i))
			continue;
		monitor->nr_sources++;
		source->provider = monitor->config.list[i];
		source->is_aside = monitor->config.asides & 1U << i;
		source->args = (struct provider_args){
			.env = monitor->config.env,
			.recording = monitor->config.recording.recording,
			.guests = monitor->guests,
			.fields = monitor->fields,
			.source = (uint32_t)i,
			.options = monitor->config.options,
		};
		if (is_spare(monitor, source))
			continue;
		this_err = source_open(source, monitor->config.waits);
		waits |= source->is_waiting;
		if (this_err) {
			err = this_err;
			say_why(monitor, source, why);
		}
	}
	return monitor_is_live(monitor) || waits ? 0 : err;
}

static enum source_kind source_of(const struct monitor_config *config)
{
	if (!config->env)
		return config->source;
	return env_is_captured(config->env) ? SOURCE_MACHINE : SOURCE_LIVE;
}

int monitor_open(const struct monitor_config *config, struct monitor **ret_monitor,
		 struct error *why)
{
	struct monitor *monitor = xcalloc(1, sizeof(*monitor));
	int err;

	monitor->config = *config;
	monitor->guests = is_recorded(monitor) ? config->recording.guests : guests_new(config->env);
	monitor->fields = config->recording.fields ? config->recording.fields : fields_new();
	monitor->stats = stats_new();
	monitor->facts = (struct facts){
		.source = source_of(config),
		.is_span = config->is_span,
		.unit = config->unit,
		.wanted = &monitor->needed,
		.fields = monitor->fields,
		.stats = monitor->stats,
		.long_exits = config->recording.long_exits,
		.guests = monitor->guests,
		.counted = &monitor->want.fields,
	};
	if (!monitor->facts.long_exits)
		monitor->facts.long_exits = &monitor->stats->long_exits;
	monitor->stats->guests = monitor->guests;
	err = open_sources(monitor, why);
	if (err) {
		monitor_close(monitor);
		return err;
	}
	why->text[0] = '\0'; /* of a provider that others stand in for */
	*ret_monitor = monitor;
	return 0;
}

void monitor_close(struct monitor *monitor)
{
	if (!monitor)
		return;
	for (size_t i = 0; i < monitor->nr_sources; i++) {
		if (monitor->sources[i].is_open)
			monitor->sources[i].provider->close(monitor->sources[i].state);
		field_set_release(&monitor->sources[i].told.fields);
	}
	free(monitor->filter);
	field_set_release(&monitor->needed);
	field_set_release(&monitor->want.fields);
	sample_release(&monitor->sample);
	stats_free(monitor->stats);
	if (!monitor->config.recording.fields)
		fields_free(monitor->fields);
	if (!is_recorded(monitor))
		guests_free(monitor->guests);
	free(monitor);
}

static enum want_scope scope_of(const struct query *query)
{
	if (query->guest != GUEST_ANY)
		return WANT_GUEST;
	return query->type->by_guest ? WANT_EACH : WANT_HOST;
}

static bool has_use(const struct monitor *monitor, const struct field_set *set,
		    enum field_use use)
{
	for (uint32_t i = 0; i < fields_count(monitor->fields); i++) {
		if (fields_get(monitor->fields, i)->use == use && field_set_has(set, i))
			return true;
	}
	return false;
}

static bool is_filter_new(const struct monitor *monitor, const struct query *query)
{
	if (!monitor->filter || !query->filter)
		return monitor->filter || query->filter;
	return strcmp(monitor->filter, pattern_text(query->filter)) != 0;
}

static void remember_filter(struct monitor *monitor, const struct query *query)
{
	free(monitor->filter);
	monitor->filter = query->filter ? xstrdup(pattern_text(query->filter)) : NULL;
}

/*
 * Whether the counts so far do not answer the query, so that all counts begin anew. has_events: the
 * previous want or this one has events.
 */
static bool is_new_question(const struct monitor *monitor, const struct query *query,
			    bool has_events)
{
	const struct want *want = &monitor->want;
	bool is_scoped = false;

	if (!monitor->has_want || is_recorded(monitor))
		return true;
	if (!monitor->config.counts_all && is_filter_new(monitor, query))
		return true;
	if (!has_events) /* exits are always counted for each guest */
		return false;
	if (want->guest != query->guest)
		return true;
	for (size_t i = 0; i < monitor->nr_sources; i++)
		is_scoped |= !monitor->sources[i].provider->is_always_by_guest;
	return is_scoped && want->scope != scope_of(query);
}

/* The same with all else that makes counts begin anew; needed: the fields of the query. */
static bool begins_anew(const struct monitor *monitor, const struct query *query,
			const struct field_set *needed)
{
	bool had_arguments = has_use(monitor, &monitor->want.fields, USE_ARGUMENT);
	bool had_events = monitor->has_own_events && !monitor->config.counts_all;

	/* Arguments and long exits need other BPF programs, which begin at 0. */
	return is_new_question(monitor, query,
			       had_events || has_use(monitor, needed, USE_EVENT)) ||
	       had_arguments != has_use(monitor, needed, USE_ARGUMENT) ||
	       (monitor->want.longer_ns > 0) != (query_wants_longer(query) > 0);
}

bool monitor_begins_anew(struct monitor *monitor, const struct query *query)
{
	query_wants(query, monitor->fields, &monitor->needed);
	return begins_anew(monitor, query, &monitor->needed);
}

static bool has_told(const struct source *source, const struct want *want)
{
	const struct want *told = &source->told;

	if (!source->is_told || want->scope != told->scope || want->guest != told->guest ||
	    want->longer_ns != told->longer_ns || want->has_halts != told->has_halts)
		return false;
	for (uint32_t i = 0; i < source->nr_told_with; i++) {
		if (field_set_has(&want->fields, i) != field_set_has(&told->fields, i))
			return false;
	}
	return true;
}

/* The part of the want that is about the fields of a source. */
static void want_of(const struct monitor *monitor, const struct source *source,
		    struct want *ret_want)
{
	const struct want *want = &monitor->want;

	*ret_want = (struct want){ .scope = want->scope, .guest = want->guest,
				   .longer_ns = want->longer_ns,
				   .has_halts = want->has_halts };
	/* Always all guests: a closer look at one guest must not end the counts of others. */
	if (source->provider->is_of_exits) {
		ret_want->scope = WANT_EACH;
		ret_want->guest = GUEST_ANY;
	}
	for (uint32_t i = 0; i < fields_count(monitor->fields); i++) {
		if (fields_get(monitor->fields, i)->source == source->args.source &&
		    field_set_has(&want->fields, i))
			field_set_add(&ret_want->fields, i);
	}
}

static void tell_source(struct source *source, const struct want *want)
{
	struct error why = { "" };
	int err = source->provider->want(source->state, want, &why);

	source->is_told = true;
	if (err) {
		source_fail(source, err, &why);
		return;
	}
	source_say(source, why.text);
	if (source->provider->rewind)
		source->nr_samples = source->provider->rewind(source->state);
}

/*
 * Passes the wanted fields to a source if they have changed: each call makes the source begin anew,
 * and exits that have just begun are lost. Returns whether they were passed.
 */
static bool tell_source_news(const struct monitor *monitor, struct source *source, bool is_new)
{
	struct want want;

	if (!source->is_open)
		return 0;
	want_of(monitor, source, &want);
	if (!is_new && has_told(source, &want)) {
		field_set_release(&want.fields);
		return 0;
	}
	field_set_release(&source->told.fields);
	source->told = want;
	source->nr_told_with = fields_count(monitor->fields);
	tell_source(source, &source->told);
	return 1;
}

static bool is_any_left(const struct monitor *monitor)
{
	size_t i = 0;

	while (i < monitor->nr_sources && !monitor->sources[i].is_waiting)
		i++;
	return i < monitor->nr_sources || monitor_is_live(monitor);
}

/* Adds what is always counted. Arguments and the children of events cost too much for that. */
static void add_all(struct monitor *monitor)
{
	for (uint32_t i = 0; i < fields_count(monitor->fields); i++) {
		const struct field *field = fields_get(monitor->fields, i);
		bool is_usual = field->use == USE_EVENT ? field->parent == FIELD_NONE :
							  field->use != USE_ARGUMENT;

		if (is_usual && !field->is_extra && !field->is_abandoned)
			field_set_add(&monitor->want.fields, i);
	}
}

int monitor_want(struct monitor *monitor, const struct query *query, struct error *why)
{
	const struct source *failed = NULL;
	bool is_new;
	int err;

	query_wants(query, monitor->fields, &monitor->needed);
	is_new = begins_anew(monitor, query, &monitor->needed);
	monitor->has_own_events = has_use(monitor, &monitor->needed, USE_EVENT);
	field_set_copy(&monitor->want.fields, &monitor->needed);
	if (monitor->config.counts_all)
		add_all(monitor);
	monitor->want.longer_ns = query_wants_longer(query);
	monitor->want.has_halts = query->has_halts;
	remember_filter(monitor, query);
	monitor->has_new_question = is_new;
	if (is_new)
		stats_clear(monitor->stats);
	/* Events that no query asked for go on as they are. */
	if (monitor->has_own_events || !monitor->config.counts_all) {
		monitor->want.guest = query->guest;
		monitor->want.scope = scope_of(query);
	}
	monitor->has_want = true;
	monitor->is_answered = false;
	monitor->goes_on = false;
	stats_keep_only(monitor->stats, &monitor->want.fields);
	for (size_t i = 0; i < monitor->nr_sources; i++) {
		struct source *source = &monitor->sources[i];
		bool was_open = source->is_open;

		monitor->has_new_question |= tell_source_news(monitor, source, is_new);
		if (was_open && !source->is_open)
			failed = source;
	}
	if (!failed)
		return 0;
	if (!is_any_left(monitor))
		return error_set(why, -EIO, "%s", failed->notice);
	err = monitor_want(monitor, query, why); /* the others may count what it cannot */
	monitor->has_new_question = true;
	return err;
}

bool monitor_has_new_question(const struct monitor *monitor)
{
	return monitor->has_new_question;
}

bool monitor_is_ready(struct monitor *monitor)
{
	for (size_t i = 0; i < monitor->nr_sources; i++) {
		struct source *source = &monitor->sources[i];

		if (source->is_open && source->provider->is_ready &&
		    !source->provider->is_ready(source->state))
			return false;
	}
	return true;
}

bool monitor_wait_ready(struct monitor *monitor, unsigned int timeout_ms)
{
	uint64_t end = clock_now_ns() + timeout_ms * NS_PER_MS;
	struct timespec pause = { .tv_nsec = 500000 };

	while (!monitor_is_ready(monitor)) {
		if (clock_now_ns() >= end)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

/* The source is not in this sample. After too many failures it is switched off. */
static void count_failure(struct source *source, int err, const struct error *why)
{
	struct error again = { "" };

	if (++source->nr_failures == COLLECT_TRIES) {
		source_fail(source, err, why);
		return;
	}
	error_set(&again, 0, "%s; trying again", why->text[0] ? why->text : strerror(-err));
	source_say(source, again.text);
}

static void collect(struct monitor *monitor, struct source *source)
{
	struct sample *sample = &monitor->sample;
	size_t nr_rows = sample->nr_rows, nr_timings = sample->nr_timings;
	struct error why = { "" };
	int err;

	if (!source->is_open)
		return;
	err = source->provider->collect(source->state, sample, &why);
	if (err && err != -EAGAIN) {
		sample->nr_rows = nr_rows; /* which may be a part of all */
		sample->nr_timings = nr_timings;
		sample->time_ns[source->args.source] = 0;
		count_failure(source, err, &why);
		return;
	}
	if (!err || why.text[0])
		source_say(source, why.text);
	if (!err)
		source->nr_failures = 0;
	source->has_collected |= !err;
}

bool monitor_revive(struct monitor *monitor)
{
	bool any = false;

	for (size_t i = 0; i < monitor->nr_sources; i++) {
		struct source *source = &monitor->sources[i];

		if (!source->is_waiting)
			continue;
		env_refresh(monitor->config.env);
		if (is_spare(monitor, source)) {
			source->is_waiting = false;
			source_say(source, "");
			continue;
		}
		any |= source_open(source, true) == 0;
	}
	return any;
}

int monitor_find_guests(struct monitor *monitor, struct error *why)
{
	return guests_refresh(monitor->guests, clock_now_ns(), why);
}

static void take_sample(struct monitor *monitor)
{
	/* If /proc cannot be read, names and guests may be missing; the counts go on. */
	monitor->guests_why.text[0] = '\0';
	monitor_find_guests(monitor, &monitor->guests_why);
	sample_reset(&monitor->sample);
	for (size_t i = 0; i < monitor->nr_sources; i++)
		collect(monitor, &monitor->sources[i]);
	stats_update(monitor->stats, monitor->fields, &monitor->sample);
}

/* How many samples the players have for the latest want; 0: live providers have no last one. */
static size_t count_samples(const struct monitor *monitor)
{
	size_t most = 0;

	for (size_t i = 0; i < monitor->nr_sources; i++) {
		const struct source *source = &monitor->sources[i];
		size_t nr = source->is_open ? source->nr_samples : 0;

		most = nr > most ? nr : most;
	}
	return most;
}

void monitor_go_on(struct monitor *monitor)
{
	monitor->goes_on = true;
}

void monitor_sample(struct monitor *monitor)
{
	size_t nr = is_recorded(monitor) && !monitor->goes_on ? count_samples(monitor) : 1;

	if (is_recorded(monitor) && monitor->is_answered && !monitor->goes_on)
		return;
	monitor->is_answered = true;
	monitor->goes_on = false;
	for (size_t i = 0; i < nr; i++)
		take_sample(monitor);
}

void monitor_reset(struct monitor *monitor)
{
	stats_reset(monitor->stats, monitor->fields);
}

const struct facts *monitor_facts(const struct monitor *monitor)
{
	return &monitor->facts;
}

struct fields *monitor_fields(struct monitor *monitor)
{
	return monitor->fields;
}

uint64_t monitor_elapsed_ns(const struct monitor *monitor)
{
	uint64_t elapsed = 0, aside = 0;

	for (uint32_t i = 0; i < SAMPLE_SOURCES && !elapsed; i++) {
		if (!(monitor->config.asides & 1U << i))
			elapsed = monitor->stats->elapsed_ns[i];
		else if (!aside)
			aside = monitor->stats->elapsed_ns[i];
	}
	return elapsed ? elapsed : aside;
}

static bool is_wanted(const struct monitor *monitor, const struct source *source)
{
	for (uint32_t i = 0; i < fields_count(monitor->fields); i++) {
		if (fields_get(monitor->fields, i)->source == source->args.source &&
		    field_set_has(&monitor->needed, i))
			return true;
	}
	return false;
}

/* Whether the provider of exits could not be opened, or failed before its first sample. */
static bool has_no_exits(const struct source *source)
{
	return source->provider->is_of_exits && !source->is_open && !source->has_collected;
}

const char *monitor_notice(const struct monitor *monitor, size_t i)
{
	if (monitor->guests_why.text[0] && i-- == 0)
		return monitor->guests_why.text;
	for (size_t j = 0; j < monitor->nr_sources; j++) {
		const struct source *source = &monitor->sources[j];

		if (!source->notice[0] || is_replaced(monitor, source) ||
		    (source->provider->is_of_exits &&
		     (!is_wanted(monitor, source) || has_no_exits(source))))
			continue;
		if (i-- == 0)
			return source->notice;
	}
	return NULL;
}

const char *monitor_no_exits(const struct monitor *monitor)
{
	for (size_t i = 0; i < monitor->nr_sources; i++) {
		if (has_no_exits(&monitor->sources[i]))
			return monitor->sources[i].notice;
	}
	return NULL;
}

/* The provider "exits" must be made to count: only then it loads its programs. */
static int count_exits(struct source *source, struct error *why)
{
	struct want want = { .scope = WANT_EACH };
	int err = 0;

	for (uint32_t i = 0; !err && i < fields_count(source->args.fields); i++)
		field_set_add(&want.fields, i);
	if (!err)
		err = source->provider->want(source->state, &want, why);
	field_set_release(&want.fields);
	return err;
}

static int try_source(struct source *source, struct error *why)
{
	int err = source->provider->open(&source->args, &source->state, why);

	if (err)
		return err;
	if (source->provider->is_of_exits)
		err = count_exits(source, why);
	if (!err)
		why->text[0] = '\0';
	if (!err && source->provider->explain)
		source->provider->explain(source->state, why);
	source->provider->close(source->state);
	return err;
}

int monitor_try(const struct provider *provider, const struct env *env,
		const struct provider_options *options, struct error *why)
{
	struct source source = {
		.provider = provider,
		.args = { .env = env, .guests = guests_new(env), .fields = fields_new(),
			  .options = *options },
	};
	int err = try_source(&source, why);

	fields_free(source.args.fields);
	guests_free(source.args.guests);
	return err;
}

bool monitor_source(const struct monitor *monitor, size_t i, const char **ret_name, bool *ret_is_up)
{
	for (size_t j = 0; j < monitor->nr_sources; j++) {
		const struct source *source = &monitor->sources[j];

		if (is_spare(monitor, source) || is_replaced(monitor, source) || i-- > 0)
			continue;
		*ret_name = source->provider->name;
		*ret_is_up = source->is_open;
		return true;
	}
	return false;
}

const char *monitor_engine(const struct monitor *monitor)
{
	for (size_t i = 0; i < monitor->nr_sources; i++) {
		const struct source *source = &monitor->sources[i];

		if (source->is_open && source->provider->engine)
			return source->provider->engine(source->state);
	}
	return NULL;
}
