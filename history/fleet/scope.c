// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Answers are series with points, which are put into lines; then each time is a sample, and stats
 * and history make moments of samples as of live ones.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/metrics.h"
#include "lib/array.h"
#include "lib/clock.h"
#include "lib/xalloc.h"
#include "history/fleet/scope.h"

#define NS_PER_S 1e9
#define SCRAPED_S 15.0 /* if the server does not report it */
#define MEMBERS_SHIFT 15 /* ids of guests are the store's: each scope has 32,768 */
_Static_assert(MEMBERS_MAX < 1 << MEMBERS_SHIFT, "ids of a scope");
#define HOSTS_AT_ONCE 2000 /* times steps; of each the answers have some 300 bytes */

/* Moments that follow each other. */
struct stretch {
	uint64_t number;
	struct stats *stats;
	struct guests *guests;
	struct moment_taker taker;
	struct rate_sum { /* so far */
		struct key key;
		uint64_t count, ns;
	} *sums;
	size_t nr_sums, room_sums;
	struct key_index index; /* of sums */
	struct moment moment;
	struct sample sample;
	uint64_t last;	/* the latest time; 0: none yet */
};

struct scope {
	const struct scope_common *common;
	uint32_t number;
	char *host; /* escaped for a query; NULL: all hosts */
	struct lines lines;
	struct packer *packer;
	struct stretch stretch;
	uint64_t nr_stretches;
};

/* ---- stretches */

static void stretch_release(struct stretch *stretch)
{
	stats_free(stretch->stats);
	guests_free(stretch->guests);
	free(stretch->sums);
	key_index_release(&stretch->index);
	moment_taker_release(&stretch->taker);
	moment_release(&stretch->moment);
	sample_release(&stretch->sample);
	*stretch = (struct stretch){ .stats = NULL };
}

static void stretch_begin(struct stretch *stretch, uint64_t number)
{
	stretch_release(stretch);
	stretch->number = number;
	stretch->stats = stats_new();
	stretch->guests = guests_new(NULL);
	stretch->stats->guests = stretch->guests;
}

/* ---- the scope */

struct scope *scope_new(const struct scope_common *common, uint32_t number, const char *host)
{
	struct scope *scope = xcalloc(1, sizeof(*scope));

	scope->common = common;
	scope->number = number;
	scope->lines.fields = common->fields;
	scope->lines.step_ns = common->step_ns;
	scope->lines.is_all = !host;
	scope->lines.last_member = number << MEMBERS_SHIFT;
	scope->host = host ? query_quote(host) : NULL;
	scope->packer = packer_new();
	lines_init(&scope->lines);
	return scope;
}

void scope_free(struct scope *scope)
{
	if (!scope)
		return;
	lines_release(&scope->lines);
	stretch_release(&scope->stretch);
	packer_free(scope->packer);
	free(scope->host);
	free(scope);
}

unsigned int scope_steps(const struct scope_common *common, bool is_all)
{
	uint64_t nr_hosts = common->nr_summed ? common->nr_summed : HOSTS_AT_ONCE;
	uint64_t steps = is_all ? HOSTS_AT_ONCE / nr_hosts : LINES_STEPS;

	if (steps > LINES_STEPS - 1)
		return LINES_STEPS - 1;
	return steps ? (unsigned int)steps : 1;
}

/* ---- queries */

unsigned int scope_queries(const struct scope *scope)
{
	return scope->host ? QUERIES : QUERIES_OF_ALL;
}

static char *make_form(const struct scope *scope, enum query query, uint64_t first,
		       uint64_t last)
{
	double step_s = (double)scope->common->step_ns / NS_PER_S;
	char *text = query_make(query, scope->host, scope->common->nr_summed);
	char *escaped = http_escape(text);
	char *form = xasprintf("query=%s&start=%.3f&end=%.3f&step=%.3f", escaped,
			       (double)first * step_s, (double)last * step_s, step_s);

	free(text);
	free(escaped);
	return form;
}

/* Where the answers to first and last begin: what is before is compared with. */
static uint64_t begins_at(const struct scope *scope, uint64_t first)
{
	return scope->stretch.last && scope->stretch.last + 1 == first ? first : first - 1;
}

void scope_make_queries(const struct scope *scope, uint64_t first, uint64_t last,
			struct http_query ret_queries[QUERIES])
{
	for (unsigned int i = 0; i < QUERIES; i++)
		ret_queries[i] = (struct http_query){ .path = "/api/v1/query_range" };
	for (unsigned int i = 0; i < scope_queries(scope); i++)
		ret_queries[i].form = make_form(scope, (enum query)i,
						  begins_at(scope, first), last);
}

/* ---- samples */

/*
 * A series begins when there is something to count. Of a guest that was there at the moment before
 * it begins at 0; of another one it may have begun at any time before.
 */
static uint32_t row_flags(const struct stretch *stretch, const struct line *line)
{
	return guests_find(stretch->guests, line->key.guest) ? ROW_NEW : 0;
}

/* Valid until the next one is added. */
static struct rate_sum *sum_of(struct stretch *stretch, const struct key *key)
{
	size_t at = key_index_add(&stretch->index, stretch->sums, sizeof(*stretch->sums),
				  stretch->nr_sums, key);

	if (at == stretch->nr_sums) {
		*array_add(stretch->sums, stretch->nr_sums, stretch->room_sums) =
			(struct rate_sum){ .key = *key };
	}
	return &stretch->sums[at];
}

/* What a line has at a time; of rates, the sum so far. */
static void add_row(struct scope *scope, struct stretch *stretch, const struct line *line,
		    unsigned int at)
{
	const struct line_cell *cell = &line->cells[at];
	const struct field *field = fields_get(scope->common->fields, line->key.field);
	uint32_t flags = row_flags(stretch, line);
	uint64_t count = cell->count;
	struct timing timing;

	if (!cell->has_count)
		return;
	line_timing(line, at, &timing);
	if (!scope->host && field->kind == FIELD_COUNTER) {
		struct rate_sum *sum = sum_of(stretch, &line->key);

		count = sum->count += cell->count;
		timing.time_ns = sum->ns += cell->ns;
	}
	if (line->is_timed)
		sample_add_timed(&stretch->sample, line->key, count, flags, &timing);
	else
		sample_add(&stretch->sample, line->key, count, flags);
}

static void put_guests(const struct scope *scope, struct stretch *stretch, unsigned int at)
{
	const struct member *member = scope->lines.members;

	guests_clear(stretch->guests);
	for (; member; member = member->hh.next) {
		if (member->is_there[at])
			guests_put(stretch->guests, &member->guest);
	}
}

/* Rows first: they are compared with the guests of the moment before. */
static void take_sample(struct scope *scope, struct stretch *stretch, unsigned int at)
{
	uint64_t time_ns = (scope->lines.first + at) * scope->common->step_ns;

	sample_reset(&stretch->sample);
	stretch->sample.time_ns[PROVIDER_EXITS] = time_ns;
	stretch->sample.time_ns[PROVIDER_HOST] = time_ns;
	for (const struct line *line = scope->lines.lines; line; line = line->hh.next)
		add_row(scope, stretch, line, at);
	put_guests(scope, stretch, at);
	stats_update(stretch->stats, scope->common->fields, &stretch->sample);
}

/* Each moment has all: any of them may be the oldest that is kept. */
static void make_moment(struct scope *scope, struct stretch *stretch, struct packed *ret_packed)
{
	const struct facts facts = { .fields = scope->common->fields, .stats = stretch->stats,
				     .guests = stretch->guests };

	stretch->taker.since_totals = MOMENT_TOTALS_EVERY;
	moment_take(&stretch->taker, &facts, stretch->sample.time_ns[PROVIDER_EXITS],
		    &stretch->moment);
	pack_moment(scope->packer, &stretch->moment, ret_packed);
}

/* The first sample is there to be compared with: the next moment is one after a loss. */
static void make_moments(struct scope *scope, struct stretch *stretch, scope_moment_fn take,
			 void *arg)
{
	for (unsigned int i = 0; i < scope->lines.nr; i++) {
		struct packed packed = { .work = 0 };
		bool is_first = !stretch->last;

		take_sample(scope, stretch, i);
		stretch->last = scope->lines.first + i;
		if (is_first) {
			stretch->taker.tick = stretch->stats->tick;
			stretch->taker.has_lost = true;
			continue;
		}
		make_moment(scope, stretch, &packed);
		take(arg, scope->lines.first + i, stretch->number, &stretch->moment, &packed);
		packed_release(&packed);
	}
}

/* ---- answers */

struct taking {
	struct lines *lines;
	enum query query;
};

static int take_series(void *arg, const struct answer_series *series)
{
	const struct taking *taking = arg;

	return lines_take(taking->lines, taking->query, series);
}

static int take_answers(struct scope *scope, const struct http_query *queries,
			struct error *error)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < scope_queries(scope); i++) {
		struct taking taking = { &scope->lines, (enum query)i };

		err = answer_read(queries[i].status, queries[i].body, queries[i].size,
				  take_series, &taking, error);
	}
	if (err == -EFBIG)
		error_set(error, err, "the server has more series than kvmtop takes at once%s",
			  scope->host ? "" : ": --host NAME queries one host's");
	return err;
}

int scope_take(struct scope *scope, uint64_t first, uint64_t last,
	       const struct http_query *queries, scope_moment_fn take, void *arg,
	       struct error *error)
{
	struct stretch other = { .stats = NULL }, *stretch = &scope->stretch;
	uint64_t begin = begins_at(scope, first);
	int err;

	lines_begin(&scope->lines, begin, (unsigned int)(last - begin + 1));
	err = take_answers(scope, queries, error);
	if (!err && begin != first) { /* it does not go on from the latest one */
		if (first < scope->stretch.last)
			stretch = &other;
		stretch_begin(stretch, ++scope->nr_stretches);
	}
	if (!err)
		make_moments(scope, stretch, take, arg);
	stretch_release(&other);
	lines_clear(&scope->lines);
	return err;
}

/* ---- what all scopes have in common */

/* Points of one series: its latest time, and the least distance of two. */
struct scrapes {
	uint64_t latest_ns, distance_ns;
	double value;
	char instance[GUEST_NAME_SIZE];
	size_t nr;
};

static int take_scrapes(void *arg, const struct answer_series *series)
{
	struct scrapes *scrapes = arg;
	uint64_t time_ns;

	answer_label(series, "instance", scrapes->instance, sizeof(scrapes->instance));
	for (size_t i = 0; i < answer_points(series); i++) {
		if (!answer_point(series, i, &time_ns, &scrapes->value))
			continue;
		if (scrapes->latest_ns && time_ns > scrapes->latest_ns &&
		    (!scrapes->distance_ns ||
		     time_ns - scrapes->latest_ns < scrapes->distance_ns))
			scrapes->distance_ns = time_ns - scrapes->latest_ns;
		scrapes->latest_ns = time_ns;
		scrapes->nr++;
	}
	return 0;
}

/* A query's value now. */
static int query_now(struct http *http, const char *text, long timeout_ms,
		     struct scrapes *ret_scrapes, struct error *error)
{
	struct http_query query = { .path = "/api/v1/query" };
	struct error line = { "" };
	char *escaped = http_escape(text);
	int err;

	*ret_scrapes = (struct scrapes){ .nr = 0 };
	query.form = xasprintf("query=%s", escaped);
	free(escaped);
	err = http_send(http, &query, 1, timeout_ms, error);
	if (!err)
		err = answer_read(query.status, query.body, query.size, take_scrapes,
				  ret_scrapes, &line);
	if (line.text[0])
		error_set(error, err, "%s: %s", http_url(http), line.text);
	http_drop(&query, 1);
	return err;
}

int scope_common_read(struct http *http, double interval_s, long timeout_ms,
		      struct scope_common *common, struct error *error)
{
	const char *info = metric_at(METRIC_BUILD_INFO)->name;
	struct scrapes scrapes;
	char query[1024];
	int err;

	err = query_now(http, "count(" QUERY_HOSTS ")", timeout_ms, &scrapes, error);
	if (err)
		return err;
	common->nr_summed = scrapes.nr ? (uint64_t)scrapes.value : 0;
	snprintf(query, sizeof(query), "topk(1, %s) * 0 + time()", info);
	err = query_now(http, query, timeout_ms, &scrapes, error);
	if (err)
		return err;
	if (!scrapes.nr)
		return error_set(error, -ENODATA, "%s has no %s of the last minutes: let it scrape "
				 "kvmtop export --listen, or node_exporter with --prometheus",
				 http_url(http), info);
	common->ahead_ns = (int64_t)(scrapes.value * 1e3) * 1000000 - (int64_t)clock_real_ns();
	if (!interval_s && !strpbrk(scrapes.instance, "\"\\\n")) {
		snprintf(query, sizeof(query), "%s{instance=\"%s\"}[5m]", info, scrapes.instance);
		err = query_now(http, query, timeout_ms, &scrapes, error);
		interval_s = round((double)scrapes.distance_ns / NS_PER_S);
	}
	if (interval_s <= 0)
		interval_s = SCRAPED_S;
	common->step_ns = (uint64_t)(interval_s * 1e3) * 1000000;
	return err;
}
