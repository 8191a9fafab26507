// SPDX-License-Identifier: GPL-2.0-or-later
/* Which providers are open, what a query needs of them, and their samples. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include "core/guests/guests.h"
#include "core/monitor.h"
#include "core/views/query.h"
#include "core/views/view.h"

struct monitor {
	struct monitor_config config;
	struct guests *guests; /* a recording's belong to the caller */
	struct fields *fields;
	struct stats *stats;
	struct sample sample;
	struct stack_sums left_stacks, owed_stacks; /* see stacks_fit(), stacks_keep() */
	struct field_set needed; /* by the latest query; want.fields may be more */
	struct want want;
	char *filter; /* the text of the latest query's filter; NULL: it had none */
	bool has_want, has_new_counts;
	bool has_own_events; /* the latest query needs events */
	bool begins_stacks;  /* the next samples of code are the first ones */
	bool is_answered; /* the recording's samples were taken for the latest want */
	bool goes_on;	  /* and one more is to be taken */
	struct feed feeds[SAMPLE_SOURCES];
	size_t nr_feeds;
	struct error guests_why; /* why the inventory may be wrong; "": it is not */
	struct facts facts;
};

static bool is_recorded(const struct monitor *monitor)
{
	return !monitor->config.env;
}

bool monitor_is_live(const struct monitor *monitor)
{
	for (size_t i = 0; i < monitor->nr_feeds; i++) {
		if (monitor->feeds[i].is_open && !monitor->feeds[i].is_aside)
			return true;
	}
	return false;
}

/* The feed that this one is opened instead of; NULL: there is none. */
static const struct feed *first_choice(const struct monitor *monitor, const struct feed *feed)
{
	for (size_t i = 0; feed->provider->instead_of && i < monitor->nr_feeds; i++) {
		if (monitor->feeds[i].provider == feed->provider->instead_of)
			return &monitor->feeds[i];
	}
	return NULL;
}

static bool is_spare(const struct monitor *monitor, const struct feed *feed)
{
	const struct feed *first = first_choice(monitor, feed);

	return first && first->is_open;
}

static bool is_replaced(const struct monitor *monitor, const struct feed *feed)
{
	for (size_t i = 0; i < monitor->nr_feeds; i++) {
		if (monitor->feeds[i].is_open && first_choice(monitor, &monitor->feeds[i]) == feed)
			return true;
	}
	return false;
}

/* Why nothing counts: the first feed's reason; of a feed that replaces it, the reason, too. */
static void say_why(const struct monitor *monitor, struct error *error)
{
	error->text[0] = '\0';
	for (size_t i = 0; i < monitor->nr_feeds; i++) {
		const struct feed *feed = &monitor->feeds[i];
		const struct feed *first = first_choice(monitor, feed);

		if (feed->is_open || feed->is_aside)
			continue;
		if (!error->text[0])
			error_set(error, 0, "%s", feed->notice);
		else if (first && strcmp(first->notice, error->text) == 0)
			error_set(error, 0, "%s; %s", first->notice, feed->notice);
	}
}

static void find_programs(void *arg, struct programs *programs)
{
	const struct monitor *monitor = arg;

	for (size_t i = 0; i < monitor->nr_feeds; i++) {
		const struct feed *feed = &monitor->feeds[i];

		if (feed->is_open && feed->provider->programs)
			feed->provider->programs(feed->state, programs);
	}
}

static bool find_count(void *arg, const char *event, uint64_t *ret_count)
{
	const struct monitor *monitor = arg;

	for (size_t i = 0; i < monitor->nr_feeds; i++) {
		const struct feed *feed = &monitor->feeds[i];

		if (feed->is_open && feed->provider->count_event &&
		    feed->provider->count_event(feed->state, event, ret_count))
			return true;
	}
	return false;
}

static int open_sources(struct monitor *monitor, struct error *error)
{
	bool waits = false;
	int err = -ENOENT;

	for (size_t i = 0; monitor->config.list[i]; i++) {
		struct feed *feed = &monitor->feeds[monitor->nr_feeds];
		int this_err;

		if (!is_recorded(monitor) && !(monitor->config.providers & 1U << i))
			continue;
		monitor->nr_feeds++;
		feed->provider = monitor->config.list[i];
		feed->is_aside = monitor->config.asides & 1U << i;
		feed->is_asked = monitor->config.asked & 1U << i;
		feed->args = (struct provider_args){
			.env = monitor->config.env,
			.recording = monitor->config.recording.recording,
			.guests = monitor->guests,
			.fields = monitor->fields,
			.stacks = monitor->facts.stacks,
			.stats = monitor->stats,
			.find_programs = find_programs,
			.find_count = find_count,
			.monitor = monitor,
			.source = (uint32_t)i,
			.options = monitor->config.options,
		};
		if (is_spare(monitor, feed))
			continue;
		this_err = feed_open(feed, monitor->config.waits);
		waits |= feed->is_waiting;
		if (this_err && !feed->is_aside)
			err = this_err;
	}
	if (monitor_is_live(monitor) || waits)
		return 0;
	say_why(monitor, error);
	return err;
}

static enum source_kind source_of(const struct monitor_config *config)
{
	if (!config->env)
		return config->source;
	return env_is_captured(config->env) ? SOURCE_MACHINE : SOURCE_LIVE;
}

int monitor_open(const struct monitor_config *config, struct monitor **ret_monitor,
		 struct error *error)
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
		.cost = config->cost,
		.wanted = &monitor->needed,
		.fields = monitor->fields,
		.stats = monitor->stats,
		.long_exits = config->recording.long_exits,
		.stacks = stacks_new(),
		.guests = monitor->guests,
		.counted = &monitor->want.fields,
	};
	if (!monitor->facts.long_exits)
		monitor->facts.long_exits = &monitor->stats->long_exits;
	monitor->stats->guests = monitor->guests;
	err = open_sources(monitor, error);
	if (err) {
		monitor_close(monitor);
		return err;
	}
	*ret_monitor = monitor;
	return 0;
}

void monitor_close(struct monitor *monitor)
{
	if (!monitor)
		return;
	for (size_t i = 0; i < monitor->nr_feeds; i++)
		feed_close(&monitor->feeds[i]);
	free(monitor->filter);
	field_set_release(&monitor->needed);
	field_set_release(&monitor->want.fields);
	sample_release(&monitor->sample);
	stack_sums_release(&monitor->left_stacks);
	stack_sums_release(&monitor->owed_stacks);
	stats_free(monitor->stats);
	stacks_free(monitor->facts.stacks);
	if (!monitor->config.recording.fields)
		fields_free(monitor->fields);
	if (!is_recorded(monitor))
		guests_free(monitor->guests);
	free(monitor);
}

/*
 * The next guest of a name has its counts from its start on if each guest is counted apart. Events
 * are counted of the chosen one; findings need the exits of all guests that bear the name, too.
 */
static enum want_scope scope_of(const struct query *query, bool has_events)
{
	bool follows = query->is_by_name &&
		       (!has_events || (query->type->by_guest && query->type->has_events));

	if (query->guest != GUEST_ALL && !follows)
		return WANT_GUEST;
	if (query->is_by_name)
		return WANT_EACH;
	return query->type->by_guest ? WANT_EACH : WANT_HOST;
}

static bool keeps(const struct monitor *monitor, enum keep what)
{
	return monitor->config.keeps >> what & 1;
}

static uint32_t stack_hz_of(const struct monitor *monitor, const struct query *query)
{
	uint32_t hz = query_wants_stacks(query);

	return hz || !keeps(monitor, KEEP_WHERE) ? hz : STACKS_HZ;
}

/*
 * The lower threshold where the screen and the history both list long exits. Causes of what is
 * played are told by them, too.
 */
static uint64_t longer_of(const struct monitor *monitor, const struct query *query)
{
	uint64_t ns = query_wants_longer(query), kept_ns = LONG_EXITS_DEFAULT_NS;

	if (is_recorded(monitor) && query->type == &view_why)
		return kept_ns;
	if (!keeps(monitor, KEEP_LONG))
		return ns;
	return ns && ns < kept_ns ? ns : kept_ns;
}

/* The fields of the query, and of the views that a history keeps. */
static void find_needed(struct monitor *monitor, const struct query *query)
{
	static const struct view_type *const views[KEEPS] = {
		[KEEP_HOTSPOTS] = &view_hotspots,
		[KEEP_WHO] = &view_who,
		[KEEP_WHERE] = &view_where,
		[KEEP_INTERRUPTS] = &view_interrupts,
		[KEEP_LONG] = &view_long_exits,
	};
	struct field_set kept = { 0 };

	query_wants(query, monitor->fields, &monitor->needed);
	for (enum keep i = 0; i < KEEPS; i++) {
		const struct query other = { .type = views[i] };

		if (!keeps(monitor, i))
			continue;
		query_wants(&other, monitor->fields, &kept);
		for (uint32_t id = 0; id < fields_count(monitor->fields); id++) {
			if (field_set_has(&kept, id))
				field_set_add(&monitor->needed, id);
		}
	}
	field_set_release(&kept);
}

static bool is_filter_new(const struct monitor *monitor, const struct query *query)
{
	if (!monitor->filter || !query->filter)
		return monitor->filter || query->filter;
	return strcmp(monitor->filter, pattern_text(query->filter)) != 0;
}

/* Whether every guest is counted apart, and goes on to be when a query asks for one of them. */
static bool counts_each(const struct monitor *monitor)
{
	size_t i = 0;

	while (i < monitor->nr_feeds && monitor->feeds[i].provider->is_always_by_guest)
		i++;
	return i == monitor->nr_feeds && monitor->config.counts_all && !is_recorded(monitor) &&
	       monitor->has_want && monitor->want.guest == GUEST_ALL;
}

/* Whether all counts begin anew for the query, which needs these fields. */
static bool begins_anew(const struct monitor *monitor, const struct query *query,
			const struct field_set *needed)
{
	const struct want *want = &monitor->want;
	bool counts_all = monitor->config.counts_all;
	bool has_events = field_set_has_use(needed, monitor->fields, USE_EVENT) ||
			  (monitor->has_own_events && !counts_all);
	enum want_scope scope;

	if (!monitor->has_want || is_recorded(monitor))
		return true;
	/* Only what the filter selects was counted. */
	if (!counts_all && is_filter_new(monitor, query))
		return true;
	/* Exits are always counted for each guest; events as a query asks for them. */
	scope = scope_of(query, true);
	return has_events && !counts_each(monitor) &&
	       (want->guest != (scope == WANT_GUEST ? query->guest : GUEST_ALL) ||
		want->scope != scope);
}

bool monitor_begins_anew(struct monitor *monitor, const struct query *query)
{
	find_needed(monitor, query);
	return begins_anew(monitor, query, &monitor->needed);
}

static bool is_any_left(const struct monitor *monitor)
{
	size_t i = 0;

	while (i < monitor->nr_feeds && !monitor->feeds[i].is_waiting)
		i++;
	return i < monitor->nr_feeds || monitor_is_live(monitor);
}

/*
 * Adds the fields that are always counted, and of a history all that it keeps. The children of
 * events cost too much.
 */
static void add_all(struct monitor *monitor)
{
	for (uint32_t i = 0; i < fields_count(monitor->fields); i++) {
		const struct field *field = fields_get(monitor->fields, i);
		bool is_always = field->use == USE_EVENT ? field->parent == FIELD_NONE :
							   is_recorded(monitor) ||
								   !field_is_on_demand(field);

		if (is_always && !field->is_extra && !field->is_abandoned)
			field_set_add(&monitor->want.fields, i);
	}
}

/* Samples of code begin anew with the programs that take them. */
static void want_stacks(struct monitor *monitor, const struct query *query, bool is_new)
{
	struct want *want = &monitor->want;
	uint32_t hz = stack_hz_of(monitor, query);
	bool has_guest_code = query_wants_guest_code(query);

	if (is_new || want->stack_hz != hz || want->has_guest_code != has_guest_code) {
		stack_sums_reset(&monitor->stats->stacks);
		stack_sums_reset(&monitor->left_stacks);
		monitor->begins_stacks = !is_new && hz;
	}
	want->stack_hz = hz;
	want->has_guest_code = has_guest_code;
}

int monitor_want(struct monitor *monitor, const struct query *query, struct error *error)
{
	bool is_new, has_failed = false;
	int err;

	find_needed(monitor, query);
	is_new = begins_anew(monitor, query, &monitor->needed);
	monitor->has_own_events = field_set_has_use(&monitor->needed, monitor->fields, USE_EVENT);
	field_set_copy(&monitor->want.fields, &monitor->needed);
	for (size_t i = 0; query->is_by_name && i < query->nr_only; i++)
		guests_keep(monitor->guests, query->only[i].guest);
	if (monitor->config.counts_all)
		add_all(monitor);
	monitor->want.longer_ns = longer_of(monitor, query);
	monitor->want.has_halts = query->has_halts;
	free(monitor->filter);
	monitor->filter = query->filter ? xstrdup(pattern_text(query->filter)) : NULL;
	monitor->has_new_counts = is_new;
	if (is_new)
		stats_clear(monitor->stats);
	want_stacks(monitor, query, is_new);
	/* Events that no query asked for go on as they are. */
	if (!counts_each(monitor) && (monitor->has_own_events || !monitor->config.counts_all)) {
		monitor->want.scope = scope_of(query, monitor->has_own_events);
		monitor->want.guest = monitor->want.scope == WANT_GUEST ? query->guest : GUEST_ALL;
	}
	monitor->has_want = true;
	monitor->is_answered = false;
	monitor->goes_on = false;
	stats_keep_only(monitor->stats, &monitor->want.fields);
	for (size_t i = 0; i < monitor->nr_feeds; i++) {
		struct feed *feed = &monitor->feeds[i];
		bool was_open = feed->is_open;

		monitor->has_new_counts |= feed_want(feed, &monitor->want, is_new);
		has_failed |= was_open && !feed->is_open && !feed->is_aside;
	}
	if (!has_failed)
		return 0;
	if (!is_any_left(monitor)) {
		say_why(monitor, error);
		return -EIO;
	}
	err = monitor_want(monitor, query, error); /* the others may count what it cannot */
	monitor->has_new_counts = true;
	return err;
}

bool monitor_has_new_counts(const struct monitor *monitor)
{
	return monitor->has_new_counts;
}

bool monitor_is_ready(struct monitor *monitor)
{
	for (size_t i = 0; i < monitor->nr_feeds; i++) {
		struct feed *feed = &monitor->feeds[i];

		if (feed->is_open && feed->provider->is_ready &&
		    !feed->provider->is_ready(feed->state))
			return false;
	}
	return true;
}

bool monitor_revive(struct monitor *monitor)
{
	bool any = false;

	for (size_t i = 0; i < monitor->nr_feeds; i++) {
		struct feed *feed = &monitor->feeds[i];

		if (!feed->is_waiting)
			continue;
		env_refresh(monitor->config.env);
		if (is_spare(monitor, feed)) {
			feed->is_waiting = false;
			feed_say(feed, "");
			continue;
		}
		any |= feed_open(feed, true) == 0;
	}
	return any;
}

int monitor_find_guests(struct monitor *monitor, struct error *error)
{
	return guests_refresh(monitor->guests, clock_now_ns(), error);
}

static void take_sample(struct monitor *monitor)
{
	/* If /proc cannot be read, names and guests may be missing; the counts go on. */
	monitor->guests_why.text[0] = '\0';
	monitor_find_guests(monitor, &monitor->guests_why);
	sample_reset(&monitor->sample);
	for (size_t i = 0; i < monitor->nr_feeds; i++)
		feed_collect(&monitor->feeds[i], &monitor->sample);
	if (monitor->begins_stacks && monitor->sample.stacks.has_off) {
		/* They are of the end of an interval, and would stand for all its exits. */
		stack_sums_reset(&monitor->sample.stacks);
		monitor->begins_stacks = false;
	}
	stacks_fit(monitor->facts.stacks, monitor->stats, monitor->fields, &monitor->left_stacks,
		   &monitor->sample);
	if (keeps(monitor, KEEP_WHERE))
		stacks_keep(monitor->facts.stacks, monitor->stats, monitor->fields, PROVIDER_EXITS,
			    &monitor->owed_stacks, &monitor->sample);
	stats_update(monitor->stats, monitor->fields, &monitor->sample);
	if (is_recorded(monitor))
		stacks_play(monitor->facts.stacks, monitor->stats, monitor->fields,
			    &monitor->stats->stacks);
}

/* How many samples the players have for the latest want; 0: live providers have no last one. */
static size_t count_samples(const struct monitor *monitor)
{
	size_t most = 0;

	for (size_t i = 0; i < monitor->nr_feeds; i++) {
		if (monitor->feeds[i].is_open && monitor->feeds[i].nr_samples > most)
			most = monitor->feeds[i].nr_samples;
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

void monitor_look(struct monitor *monitor)
{
	for (size_t i = 0; i < monitor->nr_feeds; i++)
		feed_look(&monitor->feeds[i]);
}

void monitor_reset(struct monitor *monitor)
{
	stats_reset(monitor->stats, monitor->fields);
	stack_sums_reset(&monitor->left_stacks);
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

static bool is_wanted(const struct monitor *monitor, const struct feed *feed)
{
	for (uint32_t i = 0; i < fields_count(monitor->fields); i++) {
		if (fields_get(monitor->fields, i)->source == feed->args.source &&
		    field_set_has(&monitor->needed, i))
			return true;
	}
	return false;
}

const char *monitor_notice(const struct monitor *monitor, size_t i)
{
	if (monitor->guests_why.text[0] && i-- == 0)
		return monitor->guests_why.text;
	for (size_t j = 0; j < monitor->nr_feeds; j++) {
		const struct feed *feed = &monitor->feeds[j];

		bool is_shown = is_wanted(monitor, feed) || keeps(monitor, KEEP_WHERE);

		if (!feed->notice[0] || is_replaced(monitor, feed) ||
		    (feed->provider->is_of_exits && (!is_shown || feed_has_no_exits(feed))))
			continue;
		if (i-- == 0)
			return feed->notice;
	}
	return NULL;
}

const char *monitor_no_exits(const struct monitor *monitor)
{
	for (size_t i = 0; i < monitor->nr_feeds; i++) {
		if (feed_has_no_exits(&monitor->feeds[i]))
			return monitor->feeds[i].notice;
	}
	return NULL;
}

bool monitor_source(const struct monitor *monitor, size_t i, const char **ret_name, bool *ret_is_up)
{
	for (size_t j = 0; j < monitor->nr_feeds; j++) {
		const struct feed *feed = &monitor->feeds[j];

		if (is_spare(monitor, feed) || is_replaced(monitor, feed) || i-- > 0)
			continue;
		*ret_name = feed->provider->name;
		*ret_is_up = feed->is_open;
		return true;
	}
	return false;
}

const char *monitor_engine(const struct monitor *monitor)
{
	for (size_t i = 0; i < monitor->nr_feeds; i++) {
		const struct feed *feed = &monitor->feeds[i];

		if (feed->is_open && feed->provider->engine)
			return feed->provider->engine(feed->state);
	}
	return NULL;
}
