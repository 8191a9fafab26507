// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One thread talks to the server, makes moments of what it answers, and adds them; the reader finds
 * them, and says which it misses. The lock is held to add and to find, and not to make.
 *
 * A moment's id has the number of its scope above, and which multiple of the interval it is below.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/clock.h"
#include "lib/process.h"
#include "history/fleet/prometheus.h"
#include "history/fleet/fleet.h"
#include "history/fleet/scope.h"
#include "core/metrics.h"

#define NS_PER_S UINT64_C(1000000000)
#define SLOW_NS (2 * NS_PER_S) /* a notice says so */
#define SCRAPED_S 15.0	       /* if the server does not report it */
#define LIMIT ((size_t)64 << 20)
#define SCOPE_SHIFT 40
#define MISSED 4 /* moments that a run may lack */

/* The moments of a scope that are in memory. */
struct cache {
	char host[GUEST_NAME_SIZE]; /* "": all hosts */
	struct scope *scope;	    /* the thread's; NULL: not asked about yet */
	struct slot {
		uint64_t at;  /* which multiple of the interval */
		uint64_t run; /* its totals go on in the next moment of the same run */
		struct packed packed;
	} *slots; /* ascending */
	size_t nr, room;
};

/* What the thread is to fetch. */
struct request {
	uint32_t cache;
	uint64_t first, last;
};

struct fleet {
	struct fleet_config config;
	struct http *http;
	struct scope_common common; /* its fields are the thread's */
	int64_t ahead_ns; /* the server's clock less ours */
	int news_fd;	  /* an eventfd: moments came */
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t changed;
	struct fields *fields; /* of the moments that are there, as the thread numbers them */
	unsigned int patience_ms; /* of a reader */
	struct cache **caches;
	size_t nr_caches, room_caches;
	uint32_t entered; /* the cache that is looked at */
	size_t size;	  /* of all moments */
	bool has_request, is_busy, is_ending;
	struct request request; /* the latest: has_request: not taken yet */
	uint64_t busy_since_ns;
	int failed; /* of the latest request: -errno with why; 0: none */
	struct why why;
};

/* ---- moments */

static size_t size_of(const struct packed *packed)
{
	size_t size = sizeof(struct slot);

	for (unsigned int i = 0; i < MOMENT_PARTS; i++)
		size += packed->parts[i].room;
	return size;
}

/* The index of the first moment that is not before this time. */
static size_t index_of(const struct cache *cache, uint64_t at)
{
	size_t low = 0, high = cache->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (cache->slots[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool has_moment(const struct cache *cache, uint64_t at)
{
	size_t i = index_of(cache, at);

	return i < cache->nr && cache->slots[i].at == at;
}

static void drop_slot(struct fleet *fleet, struct cache *cache, size_t i)
{
	fleet->size -= size_of(&cache->slots[i].packed);
	packed_release(&cache->slots[i].packed);
	memmove(&cache->slots[i], &cache->slots[i + 1], (--cache->nr - i) * sizeof(*cache->slots));
}

/* The first or the last moment: which is further away from the ones that were asked for. */
static size_t furthest(const struct cache *cache, const struct request *request)
{
	uint64_t first = cache->slots[0].at, last = cache->slots[cache->nr - 1].at;
	uint64_t before = request->first > first ? request->first - first : 0;
	uint64_t after = last > request->last ? last - request->last : 0;

	return after > before ? cache->nr - 1 : 0;
}

/* Drops the oldest ones of other scopes first; what was asked for last stays. */
static void keep_limit(struct fleet *fleet, const struct request *request)
{
	struct cache *kept = fleet->caches[request->cache];

	for (size_t i = 0; i < fleet->nr_caches; i++) {
		struct cache *cache = fleet->caches[i];

		while (fleet->size > LIMIT && cache != kept && cache->nr)
			drop_slot(fleet, cache, 0);
	}
	while (fleet->size > LIMIT && kept->nr > 1)
		drop_slot(fleet, kept, furthest(kept, request));
}

static void add_moment(struct fleet *fleet, struct cache *cache, struct slot *slot)
{
	size_t i = index_of(cache, slot->at);

	if (has_moment(cache, slot->at))
		return;
	array_grow(&cache->slots, &cache->room, cache->nr + 1);
	memmove(&cache->slots[i + 1], &cache->slots[i], (cache->nr - i) * sizeof(*cache->slots));
	cache->slots[i] = *slot;
	cache->nr++;
	fleet->size += size_of(&slot->packed);
	slot->packed = (struct packed){ .flags = 0 };
}

/* Moments that the thread has made, and not added yet. */
struct made {
	struct slot *slots;
	size_t nr, room;
};

static void take_moment(void *arg, uint64_t at, uint64_t run, struct packed *packed)
{
	struct made *made = arg;

	array_grow(&made->slots, &made->room, made->nr + 1);
	made->slots[made->nr++] = (struct slot){ at, run, *packed };
	*packed = (struct packed){ .flags = 0 };
}

static void made_release(struct made *made)
{
	for (size_t i = 0; i < made->nr; i++)
		packed_release(&made->slots[i].packed);
	free(made->slots);
}

/* Called with the lock. The fields are there before the reader finds the moment. */
static void add_made(struct fleet *fleet, const struct request *request, struct made *made)
{
	const struct fields *fields = fleet->common.fields;

	for (uint32_t id = fields_count(fleet->fields); id < fields_count(fields); id++)
		fields_add(fleet->fields, fields_get(fields, id));
	for (size_t i = 0; i < made->nr; i++)
		add_moment(fleet, fleet->caches[request->cache], &made->slots[i]);
	keep_limit(fleet, request);
}

/* ---- the thread */

static void drop_questions(struct http_question *questions, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		free(questions[i].form);
		free(questions[i].body);
	}
}

static long timeout_ms(const struct fleet *fleet)
{
	return 1000L * fleet->config.timeout_s;
}

/* Without sums a server adds up all hosts for each query: with very many it refuses or is late. */
static void advise_rules(const struct fleet *fleet, int err, struct why *why)
{
	const struct why said = *why;

	if ((err == -ETIMEDOUT || err == -EINVAL) && !fleet->common.nr_summed)
		why_set(why, err, "%s; many hosts need the recording rules of "
			"kvmtop.rules.yml, see kvmtop-export(8)", said.text);
}

/* Makes the moments that are asked for. Called without the lock. */
static int make(const struct fleet *fleet, const struct request *request, struct cache *cache,
		struct made *made, struct why *why)
{
	struct http_question questions[QUESTIONS];
	int err;

	if (!cache->scope)
		cache->scope = scope_new(&fleet->common, request->cache + 1,
					 cache->host[0] ? cache->host : NULL);
	scope_ask(cache->scope, request->first, request->last, questions);
	err = http_ask(fleet->http, questions, scope_questions(cache->scope), timeout_ms(fleet),
		       why);
	if (!err)
		err = scope_take(cache->scope, request->first, request->last, questions,
				 take_moment, made, why);
	if (!cache->host[0])
		advise_rules(fleet, err, why);
	drop_questions(questions, QUESTIONS);
	return err;
}

/* Called with the lock, which the screen needs: it is not held while the moments are made. */
static int fetch(struct fleet *fleet, const struct request *request, struct why *why)
{
	struct cache *cache = fleet->caches[request->cache];
	struct made made = { .nr = 0 };
	int err;

	pthread_mutex_unlock(&fleet->lock);
	err = make(fleet, request, cache, &made, why);
	pthread_mutex_lock(&fleet->lock);
	add_made(fleet, request, &made);
	made_release(&made);
	return err;
}

static void *run(void *arg)
{
	struct fleet *fleet = arg;

	pthread_mutex_lock(&fleet->lock);
	while (!fleet->is_ending) {
		struct request request = fleet->request;
		struct why why = { "" };

		if (!fleet->has_request) {
			pthread_cond_wait(&fleet->changed, &fleet->lock);
			continue;
		}
		fleet->has_request = false;
		fleet->is_busy = true;
		fleet->busy_since_ns = clock_now_ns();
		fleet->failed = fetch(fleet, &request, &why);
		if (fleet->failed && !why.text[0])
			why_set(&why, 0, "%s", strerror(-fleet->failed));
		fleet->why = why;
		fleet->is_busy = false;
		pthread_cond_broadcast(&fleet->changed);
		/* Not of a failure: the reader would ask again at once. */
		if (!fleet->failed)
			eventfd_write(fleet->news_fd, 1);
	}
	pthread_mutex_unlock(&fleet->lock);
	return NULL;
}

/* ---- requests: all below is called with the lock */

static void add_ms(struct timespec *time, unsigned int ms)
{
	time->tv_sec += ms / 1000;
	time->tv_nsec += (long)(ms % 1000) * 1000000;
	if (time->tv_nsec >= (long)NS_PER_S) {
		time->tv_nsec -= (long)NS_PER_S;
		time->tv_sec++;
	}
}

/* Waits while the thread has work, at most as long as the reader has patience. */
static void wait_idle(struct fleet *fleet)
{
	struct timespec end;
	int err = 0;

	clock_gettime(CLOCK_MONOTONIC, &end);
	add_ms(&end, fleet->patience_ms);
	while (!err && (fleet->has_request || fleet->is_busy))
		err = pthread_cond_timedwait(&fleet->changed, &fleet->lock, &end);
}

static int not_yet(const struct fleet *fleet, struct why *why)
{
	return why_set(why, -EAGAIN, "%s has not answered yet", fleet->config.url);
}

static bool is_late(const struct fleet *fleet)
{
	return fleet->is_busy && clock_now_ns() - fleet->busy_since_ns > SLOW_NS;
}

static uint64_t now(const struct fleet *fleet)
{
	return (uint64_t)((int64_t)clock_real_ns() + fleet->ahead_ns) / fleet->common.step_ns;
}

/* The moments to ask for: `at`, and many before or after it, up to one that is there. */
static struct request request_around(const struct fleet *fleet, uint32_t number, uint64_t at,
				     bool is_back)
{
	const struct cache *cache = fleet->caches[number];
	uint64_t more = scope_steps(&fleet->common, !cache->host[0]) - 1;
	struct request request = { number, at, at };
	size_t i = index_of(cache, at);

	if (is_back) {
		request.first = at > more ? at - more : 1;
		/* Also where one is asked for at a time: a few that are missing end no run. */
		if (i && at - cache->slots[i - 1].at <= (more > MISSED ? more : MISSED))
			request.first = cache->slots[i - 1].at + 1;
	} else if (at + more > now(fleet)) {
		request.last = at > now(fleet) ? at : now(fleet);
	} else {
		request.last = at + more;
	}
	return request;
}

/* Orders a moment of a cache. A reader that waits gets it, or the reason why not. */
static int request(struct fleet *fleet, uint32_t number, uint64_t at, bool is_back, bool waits,
		   struct why *why)
{
	const struct cache *cache = fleet->caches[number];

	if (is_late(fleet)) /* it would not answer this, either */
		return has_moment(cache, at) ? 0 : not_yet(fleet, why);
	if (waits && !has_moment(cache, at))
		wait_idle(fleet);
	if (has_moment(cache, at) || (!waits && (fleet->has_request || fleet->is_busy)))
		return 0;
	fleet->request = request_around(fleet, number, at, is_back);
	fleet->has_request = true;
	pthread_cond_broadcast(&fleet->changed);
	if (!waits)
		return 0;
	wait_idle(fleet);
	if (has_moment(cache, at))
		return 0;
	if (fleet->has_request || fleet->is_busy)
		return not_yet(fleet, why);
	*why = fleet->why;
	return fleet->failed ? fleet->failed : not_yet(fleet, why);
}

/* ---- the store */

/* Whether totals go on from the moment before it: that one is in memory, and of the same run. */
static bool goes_on(const struct cache *cache, size_t i)
{
	const struct slot *slot = &cache->slots[i];

	return i && slot[-1].at + 1 == slot->at && slot[-1].run == slot->run;
}

static struct stored stored_of(const struct fleet *fleet, uint32_t cache, size_t i)
{
	const struct slot *slot = &fleet->caches[cache]->slots[i];

	return (struct stored){
		.id = (uint64_t)(cache + 1) << SCOPE_SHIFT | slot->at,
		.segment = cache + 1,
		.flags = slot->packed.flags |
			 (goes_on(fleet->caches[cache], i) ? 0 : MOMENT_AFTER_LOSS),
		.time_ns = slot->packed.time_ns,
		.elapsed_ns = slot->packed.elapsed_ns,
	};
}

/* The scope and the time of a moment. False: there is no such scope. */
static bool parse_id(const struct fleet *fleet, uint64_t id, uint32_t *ret_cache, uint64_t *ret_at)
{
	*ret_cache = (uint32_t)(id >> SCOPE_SHIFT) - 1;
	*ret_at = id & ((UINT64_C(1) << SCOPE_SHIFT) - 1);
	return *ret_cache < fleet->nr_caches;
}

/* The latest moment: of the ones that are there, while a later one is fetched. */
static int find_latest(struct fleet *fleet, struct stored *ret_stored, struct why *why)
{
	struct cache *cache = fleet->caches[fleet->entered];
	int err = request(fleet, fleet->entered, now(fleet), true, !cache->nr, why);

	if (!cache->nr)
		return err ? err : -ENOENT;
	*ret_stored = stored_of(fleet, fleet->entered, cache->nr - 1);
	return 0;
}

static int find(void *state, uint64_t time_ns, struct stored *ret_stored, struct why *why)
{
	struct fleet *fleet = state;
	uint64_t at = time_ns / fleet->common.step_ns, latest = now(fleet);
	struct cache *cache;
	int err;

	pthread_mutex_lock(&fleet->lock);
	cache = fleet->caches[fleet->entered];
	if (!time_ns && cache->nr) { /* the first in memory: the server's first is not known */
		*ret_stored = stored_of(fleet, fleet->entered, 0);
		err = 0;
	} else if (!time_ns || at >= latest) {
		err = find_latest(fleet, ret_stored, why);
	} else {
		err = request(fleet, fleet->entered, at, true, true, why);
		if (!err)
			*ret_stored = stored_of(fleet, fleet->entered, index_of(cache, at));
	}
	pthread_mutex_unlock(&fleet->lock);
	return err;
}

static int step(void *state, uint64_t id, bool is_back, struct stored *ret_stored, struct why *why)
{
	struct fleet *fleet = state;
	uint32_t cache;
	uint64_t at;
	int err = -ENOENT;

	pthread_mutex_lock(&fleet->lock);
	if (parse_id(fleet, id, &cache, &at)) {
		at = is_back ? at - 1 : at + 1;
		if (at && at <= now(fleet))
			err = request(fleet, cache, at, is_back, true, why);
		if (!err)
			*ret_stored = stored_of(fleet, cache, index_of(fleet->caches[cache], at));
	}
	pthread_mutex_unlock(&fleet->lock);
	return err;
}

static int near(void *state, uint64_t id, bool is_back, struct stored *ret_stored, struct why *why)
{
	struct fleet *fleet = state;
	uint32_t cache;
	uint64_t at;
	int err = -ENOENT;

	(void)why;
	pthread_mutex_lock(&fleet->lock);
	if (parse_id(fleet, id, &cache, &at)) {
		size_t i = index_of(fleet->caches[cache], is_back ? at : at + 1);

		if (is_back ? i > 0 : i < fleet->caches[cache]->nr) {
			*ret_stored = stored_of(fleet, cache, is_back ? i - 1 : i);
			err = 0;
		}
	}
	pthread_mutex_unlock(&fleet->lock);
	return err;
}

/* Each moment has all parts; few have other flags. */
static int find_flagged(void *state, uint64_t id, uint32_t flags, struct stored *ret_stored,
			struct why *why)
{
	struct fleet *fleet = state;
	uint32_t cache;
	uint64_t at;
	int err = -ENOENT;

	(void)why;
	pthread_mutex_lock(&fleet->lock);
	if (parse_id(fleet, id, &cache, &at)) {
		size_t i = index_of(fleet->caches[cache], at + 1);

		while (i && !(stored_of(fleet, cache, i - 1).flags & flags))
			i--;
		if (i) {
			*ret_stored = stored_of(fleet, cache, i - 1);
			err = 0;
		}
	}
	pthread_mutex_unlock(&fleet->lock);
	return err;
}

static int read_part(void *state, uint64_t id, enum moment_part part, struct blob *blob,
		     struct why *why)
{
	struct fleet *fleet = state;
	uint32_t cache;
	uint64_t at;
	int err = -ENOENT;

	pthread_mutex_lock(&fleet->lock);
	if (parse_id(fleet, id, &cache, &at) && has_moment(fleet->caches[cache], at)) {
		const struct cache *on = fleet->caches[cache];
		const struct blob *from = &on->slots[index_of(on, at)].packed.parts[part];

		array_grow(&blob->bytes, &blob->room, from->size);
		if (from->size)
			memcpy(blob->bytes, from->bytes, from->size);
		blob->size = from->size;
		err = 0;
	}
	pthread_mutex_unlock(&fleet->lock);
	return err ? why_set(why, err, "this sample is not in memory any more") : 0;
}

static int each_field(void *state, uint32_t segment, uint32_t first, stored_field_fn take,
		      void *arg, struct why *why)
{
	struct fleet *fleet = state;
	int err = 0;

	(void)segment;
	(void)why;
	pthread_mutex_lock(&fleet->lock);
	for (uint32_t id = first; !err && id < fields_count(fleet->fields); id++)
		err = take(arg, id, fields_get(fleet->fields, id));
	pthread_mutex_unlock(&fleet->lock);
	return err;
}

static int segment_of(void *state, uint32_t segment, struct segment *ret_segment, struct why *why)
{
	struct fleet *fleet = state;
	const char *host;

	(void)why;
	*ret_segment = (struct segment){
		.interval_s = (double)fleet->common.step_ns / (double)NS_PER_S,
	};
	pthread_mutex_lock(&fleet->lock);
	host = segment && segment <= fleet->nr_caches ? fleet->caches[segment - 1]->host : "";
	snprintf(ret_segment->host, sizeof(ret_segment->host), "%.*s",
		 (int)sizeof(ret_segment->host) - 1, host[0] ? host : fleet->config.url);
	snprintf(ret_segment->boot_id, sizeof(ret_segment->boot_id), "%u", segment);
	pthread_mutex_unlock(&fleet->lock);
	return 0;
}

static int check(void *state, struct why *why)
{
	struct fleet *fleet = state;
	int err = 0;

	pthread_mutex_lock(&fleet->lock);
	if (is_late(fleet)) {
		err = not_yet(fleet, why);
	} else if (fleet->failed) {
		*why = fleet->why;
		err = fleet->failed;
	}
	pthread_mutex_unlock(&fleet->lock);
	return err;
}

static int news_fd(void *state)
{
	const struct fleet *fleet = state;

	return fleet->news_fd;
}

/* ---- scopes */

static void add_cache(struct fleet *fleet, const char *host)
{
	struct cache *cache = xcalloc(1, sizeof(*cache));

	array_grow(&fleet->caches, &fleet->room_caches, fleet->nr_caches + 1);
	snprintf(cache->host, sizeof(cache->host), "%s", host);
	fleet->caches[fleet->nr_caches++] = cache;
}

static int enter(void *state, const char *machine, struct why *why)
{
	struct fleet *fleet = state;
	uint32_t i = 0;

	if (strlen(machine) >= GUEST_NAME_SIZE)
		return why_set(why, -EINVAL, "the name of the host is too long");
	pthread_mutex_lock(&fleet->lock);
	while (i < fleet->nr_caches && strcmp(fleet->caches[i]->host, machine) != 0)
		i++;
	if (i == fleet->nr_caches)
		add_cache(fleet, machine);
	fleet->entered = i;
	pthread_mutex_unlock(&fleet->lock);
	return 0;
}

void fleet_set_patience(struct fleet *fleet, unsigned int ms)
{
	pthread_mutex_lock(&fleet->lock);
	fleet->patience_ms = ms;
	pthread_mutex_unlock(&fleet->lock);
}

struct store fleet_store(struct fleet *fleet)
{
	static const struct store_type type = {
		.find = find,
		.step = step,
		.find_flagged = find_flagged,
		.read = read_part,
		.fields = each_field,
		.segment = segment_of,
		.check = check,
		.enter = enter,
		.near = near,
		.news_fd = news_fd,
	};

	return (struct store){ .type = &type, .state = fleet };
}

/* ---- the first contact */

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

/* Asks for one query's value now. */
static int ask(struct fleet *fleet, const char *query, struct scrapes *ret_scrapes,
	       struct why *why)
{
	struct http_question question = { .path = "/api/v1/query" };
	struct why line = { "" };
	char *escaped = http_escape(query);
	int err;

	*ret_scrapes = (struct scrapes){ .nr = 0 };
	question.form = xasprintf("query=%s", escaped);
	free(escaped);
	err = http_ask(fleet->http, &question, 1, timeout_ms(fleet), why);
	if (!err)
		err = answer_read(question.status, question.body, question.size, take_scrapes,
				  ret_scrapes, &line);
	if (line.text[0])
		why_set(why, err, "%s: %s", fleet->config.url, line.text);
	drop_questions(&question, 1);
	return err;
}

/* Where hosts are scraped at different intervals, the first one counts. */
static int meet(struct fleet *fleet, struct why *why)
{
	const char *info = metric_at(METRIC_BUILD_INFO)->name;
	double interval_s = fleet->config.interval_s;
	struct scrapes scrapes;
	char query[1024];
	int err;

	err = ask(fleet, "count(" QUERY_HOSTS ")", &scrapes, why);
	if (err)
		return err;
	fleet->common.nr_summed = scrapes.nr ? (uint64_t)scrapes.value : 0;
	snprintf(query, sizeof(query), "topk(1, %s) * 0 + time()", info);
	err = ask(fleet, query, &scrapes, why);
	if (err)
		return err;
	if (!scrapes.nr)
		return why_set(why, -ENODATA, "%s has no %s of the last minutes: let it scrape "
			       "kvmtop export --listen, or node_exporter with --prometheus",
			       fleet->config.url, info);
	fleet->ahead_ns = (int64_t)(scrapes.value * 1e3) * 1000000 - (int64_t)clock_real_ns();
	if (!interval_s && !strpbrk(scrapes.instance, "\"\\\n")) {
		snprintf(query, sizeof(query), "%s{instance=\"%s\"}[5m]", info, scrapes.instance);
		err = ask(fleet, query, &scrapes, why);
		interval_s = round((double)scrapes.distance_ns / (double)NS_PER_S);
	}
	if (interval_s <= 0)
		interval_s = SCRAPED_S;
	fleet->common.step_ns = (uint64_t)(interval_s * 1e3) * 1000000;
	return err;
}

int fleet_open(const struct fleet_config *config, struct fleet **ret_fleet, struct why *why)
{
	struct fleet *fleet = xcalloc(1, sizeof(*fleet));
	pthread_condattr_t attributes;
	int err;

	fleet->config = *config;
	fleet->news_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = fleet->news_fd < 0 ? -errno : 0;
	fleet->patience_ms = UINT_MAX;
	pthread_mutex_init(&fleet->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&fleet->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	fleet->fields = fields_new();
	fleet->common.fields = fields_new();
	if (!err)
		err = http_open(config->url, config->access, &fleet->http, why);
	if (!err)
		err = meet(fleet, why);
	if (!err) {
		add_cache(fleet, "");
		err = thread_start(&fleet->thread, run, fleet);
		fleet->has_thread = !err;
	}
	if (err)
		fleet_close(fleet);
	else
		*ret_fleet = fleet;
	return err;
}

void fleet_close(struct fleet *fleet)
{
	if (!fleet)
		return;
	if (fleet->has_thread) {
		pthread_mutex_lock(&fleet->lock);
		fleet->is_ending = true;
		pthread_cond_broadcast(&fleet->changed);
		pthread_mutex_unlock(&fleet->lock);
		http_stop(fleet->http);
		pthread_join(fleet->thread, NULL);
	}
	for (size_t i = 0; i < fleet->nr_caches; i++) {
		struct cache *cache = fleet->caches[i];

		while (cache->nr)
			drop_slot(fleet, cache, cache->nr - 1);
		scope_free(cache->scope);
		free(cache->slots);
		free(cache);
	}
	free(fleet->caches);
	http_close(fleet->http);
	if (fleet->news_fd >= 0)
		close(fleet->news_fd);
	fields_free(fleet->fields);
	fields_free(fleet->common.fields);
	pthread_cond_destroy(&fleet->changed);
	pthread_mutex_destroy(&fleet->lock);
	free(fleet);
}
