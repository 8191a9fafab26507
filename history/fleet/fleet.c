// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One thread talks to the server, makes moments of what it answers, and adds them; the reader finds
 * them, and says which it misses. The lock is held to add and to find, and not to make.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/process.h"
#include "history/fleet/fleet.h"
#include "history/fleet/scope.h"

#define NS_PER_S UINT64_C(1000000000)
#define SLOW_NS (2 * NS_PER_S) /* a notice says so */
#define MISSED 4 /* moments that a stretch may lack */

/* What the thread is to fetch. */
struct request {
	uint32_t cache;
	uint64_t first, last;
};

struct fleet {
	struct fleet_config config;
	struct http *http;
	struct scope_common common; /* its fields are the thread's */
	int news_fd;	  /* an eventfd: moments came */
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t changed;
	struct fields *fields; /* of the moments that are there, as the thread numbers them */
	unsigned int patience_ms; /* of a reader */
	struct caches caches;
	uint32_t entered; /* the cache that is looked at */
	bool has_request, is_busy, is_ending;
	struct request request; /* the latest: has_request: not taken yet */
	uint64_t busy_since_ns;
	int failed; /* of the latest request: -errno with error; 0: none */
	struct error error;
};

/* ---- the thread */

/* Called with the lock. The fields are there before the reader finds the moment. */
static void add_made(struct fleet *fleet, const struct request *request, struct kept *made)
{
	const struct fields *fields = fleet->common.fields;

	for (uint32_t id = fields_count(fleet->fields); id < fields_count(fields); id++)
		fields_add(fleet->fields, fields_get(fields, id));
	cache_take(fleet->caches.list[request->cache], made);
	caches_keep_limit(&fleet->caches, request->cache, request->first, request->last);
}

static long timeout_ms(const struct fleet *fleet)
{
	return 1000L * fleet->config.timeout_s;
}

/* Without sums a server adds up all hosts for each query: with very many it refuses or is late. */
static void advise_rules(const struct fleet *fleet, int err, struct error *error)
{
	const struct error said = *error;

	if ((err == -ETIMEDOUT || err == -EINVAL) && !fleet->common.nr_summed)
		error_set(error, err, "%s; many hosts need the recording rules of "
			  "kvmtop.rules.yml, see kvmtop-export(8)", said.text);
}

/* Makes the moments that are requested. Called without the lock. */
static int make_moment(const struct fleet *fleet, const struct request *request,
		       struct cache *cache, struct kept *made, struct error *error)
{
	struct http_query queries[QUERIES];
	int err;

	if (!cache->scope)
		cache->scope = scope_new(&fleet->common, request->cache + 1,
					 cache->host[0] ? cache->host : NULL);
	scope_make_queries(cache->scope, request->first, request->last, queries);
	err = http_send(fleet->http, queries, scope_queries(cache->scope), timeout_ms(fleet),
			error);
	if (!err)
		err = scope_take(cache->scope, request->first, request->last, queries,
				 cache_made, made, error);
	if (!cache->host[0])
		advise_rules(fleet, err, error);
	http_drop(queries, QUERIES);
	return err;
}

/* Called with the lock, which the screen needs: it is not held while the moments are made. */
static int fetch(struct fleet *fleet, const struct request *request, struct error *error)
{
	struct cache *cache = fleet->caches.list[request->cache];
	struct kept made = { .nr = 0 };
	int err;

	pthread_mutex_unlock(&fleet->lock);
	err = make_moment(fleet, request, cache, &made, error);
	pthread_mutex_lock(&fleet->lock);
	add_made(fleet, request, &made);
	return err;
}

static void *run(void *arg)
{
	struct fleet *fleet = arg;

	pthread_mutex_lock(&fleet->lock);
	while (!fleet->is_ending) {
		struct request request = fleet->request;
		struct error error = { "" };

		if (!fleet->has_request) {
			pthread_cond_wait(&fleet->changed, &fleet->lock);
			continue;
		}
		fleet->has_request = false;
		fleet->is_busy = true;
		fleet->busy_since_ns = clock_now_ns();
		fleet->failed = fetch(fleet, &request, &error);
		if (fleet->failed && !error.text[0])
			error_set(&error, 0, "%s", strerror(-fleet->failed));
		fleet->error = error;
		fleet->is_busy = false;
		pthread_cond_broadcast(&fleet->changed);
		/* Not of a failure: the reader would request it again at once. */
		if (!fleet->failed)
			eventfd_write(fleet->news_fd, 1);
	}
	pthread_mutex_unlock(&fleet->lock);
	return NULL;
}

/* ---- requests: all below is called with the lock */

/* Waits while the thread has work, at most as long as the reader has patience. */
static void wait_idle(struct fleet *fleet)
{
	const struct timespec end = thread_time_in(fleet->patience_ms);
	int err = 0;

	while (!err && (fleet->has_request || fleet->is_busy))
		err = pthread_cond_timedwait(&fleet->changed, &fleet->lock, &end);
}

static int not_yet(const struct fleet *fleet, struct error *error)
{
	return error_set(error, -EAGAIN, "%s has not answered yet", fleet->config.url);
}

static bool is_late(const struct fleet *fleet)
{
	return fleet->is_busy && clock_now_ns() - fleet->busy_since_ns > SLOW_NS;
}

static uint64_t now(const struct fleet *fleet)
{
	const struct scope_common *common = &fleet->common;

	return (uint64_t)((int64_t)clock_real_ns() + common->ahead_ns) / common->step_ns;
}

/* The moments to request: `at`, and many before or after it, up to one that is there. */
static struct request request_around(const struct fleet *fleet, uint32_t number, uint64_t at,
				     bool is_back)
{
	const struct cache *cache = fleet->caches.list[number];
	uint64_t more = scope_steps(&fleet->common, !cache->host[0]) - 1;
	struct request request = { number, at, at };
	size_t i = kept_index(&cache->kept, at);

	if (is_back) {
		request.first = at > more ? at - more : 1;
		/* Also where one is requested at a time: a few that are missing end no run. */
		if (i && at - cache->kept.list[i - 1].id <= (more > MISSED ? more : MISSED))
			request.first = cache->kept.list[i - 1].id + 1;
	} else if (at + more > now(fleet)) {
		request.last = at > now(fleet) ? at : now(fleet);
	} else {
		request.last = at + more;
	}
	return request;
}

/* Orders a moment of a cache. A reader that waits gets it, or the reason why not. */
static int request(struct fleet *fleet, uint32_t number, uint64_t at, bool is_back, bool waits,
		   struct error *error)
{
	const struct kept *kept = &fleet->caches.list[number]->kept;

	if (is_late(fleet)) /* it would not answer this, either */
		return kept_has(kept, at) ? 0 : not_yet(fleet, error);
	if (waits && !kept_has(kept, at))
		wait_idle(fleet);
	if (kept_has(kept, at) || (!waits && (fleet->has_request || fleet->is_busy)))
		return 0;
	fleet->request = request_around(fleet, number, at, is_back);
	fleet->has_request = true;
	pthread_cond_broadcast(&fleet->changed);
	if (!waits)
		return 0;
	wait_idle(fleet);
	if (kept_has(kept, at))
		return 0;
	if (fleet->has_request || fleet->is_busy)
		return not_yet(fleet, error);
	*error = fleet->error;
	return fleet->failed ? fleet->failed : not_yet(fleet, error);
}

/* ---- the store */

/* Takes the lock, and finds a moment's scope and time. NULL: there is no such scope. */
static const struct kept *lock_moment(struct fleet *fleet, uint64_t id, uint32_t *ret_cache,
				      uint64_t *ret_at)
{
	pthread_mutex_lock(&fleet->lock);
	*ret_cache = (uint32_t)(id >> SCOPE_SHIFT) - 1;
	*ret_at = id & ((UINT64_C(1) << SCOPE_SHIFT) - 1);
	return *ret_cache < fleet->caches.nr ? &fleet->caches.list[*ret_cache]->kept : NULL;
}

/* The latest moment: of the ones that are there, while a later one is fetched. */
static int find_latest(struct fleet *fleet, struct stored *ret_stored, struct error *error)
{
	const struct kept *kept = &fleet->caches.list[fleet->entered]->kept;
	int err = request(fleet, fleet->entered, now(fleet), true, !kept->nr, error);

	if (!kept->nr)
		return err ? err : -ENOENT;
	*ret_stored = cache_stored(&fleet->caches, fleet->entered, kept->nr - 1);
	return 0;
}

static int fleet_find(void *state, uint64_t time_ns, struct stored *ret_stored, struct error *error)
{
	struct fleet *fleet = state;
	uint64_t at = time_ns / fleet->common.step_ns, latest = now(fleet);
	const struct kept *kept;
	int err;

	pthread_mutex_lock(&fleet->lock);
	kept = &fleet->caches.list[fleet->entered]->kept;
	if (!time_ns && kept->nr) { /* the first in memory: the server's first is not known */
		*ret_stored = cache_stored(&fleet->caches, fleet->entered, 0);
		err = 0;
	} else if (!time_ns || at >= latest) {
		err = find_latest(fleet, ret_stored, error);
	} else {
		err = request(fleet, fleet->entered, at, true, true, error);
		if (!err)
			*ret_stored = cache_stored(&fleet->caches, fleet->entered,
						   kept_index(kept, at));
	}
	pthread_mutex_unlock(&fleet->lock);
	return err;
}

static int fleet_step(void *state, uint64_t id, bool is_back, struct stored *ret_stored,
		      struct error *error)
{
	struct fleet *fleet = state;
	uint32_t cache;
	uint64_t at;
	const struct kept *kept = lock_moment(fleet, id, &cache, &at);
	int err = -ENOENT;

	at = is_back ? at - 1 : at + 1;
	if (kept && at && at <= now(fleet))
		err = request(fleet, cache, at, is_back, true, error);
	if (!err)
		*ret_stored = cache_stored(&fleet->caches, cache, kept_index(kept, at));
	pthread_mutex_unlock(&fleet->lock);
	return err;
}

static int near(void *state, uint64_t id, bool is_back, struct stored *ret_stored,
		struct error *error)
{
	struct fleet *fleet = state;
	uint32_t cache;
	uint64_t at;
	const struct kept *kept = lock_moment(fleet, id, &cache, &at);
	size_t i = kept ? kept_index(kept, is_back ? at : at + 1) : 0;
	bool is_there = kept && (is_back ? i > 0 : i < kept->nr);

	(void)error;
	if (is_there)
		*ret_stored = cache_stored(&fleet->caches, cache, is_back ? i - 1 : i);
	pthread_mutex_unlock(&fleet->lock);
	return is_there ? 0 : -ENOENT;
}

/* Each moment has all parts; few have other flags. */
static int find_flagged(void *state, uint64_t id, uint32_t flags, struct stored *ret_stored,
			struct error *error)
{
	struct fleet *fleet = state;
	uint32_t cache;
	uint64_t at;
	const struct kept *kept = lock_moment(fleet, id, &cache, &at);
	size_t i = kept ? kept_index(kept, at + 1) : 0;

	(void)error;
	while (i && !(cache_stored(&fleet->caches, cache, i - 1).flags & flags))
		i--;
	if (i)
		*ret_stored = cache_stored(&fleet->caches, cache, i - 1);
	pthread_mutex_unlock(&fleet->lock);
	return i ? 0 : -ENOENT;
}

static int read_part(void *state, uint64_t id, enum moment_part part, struct blob *blob,
		     struct error *error)
{
	struct fleet *fleet = state;
	uint32_t cache;
	uint64_t at;
	const struct kept *kept = lock_moment(fleet, id, &cache, &at);
	int err = kept ? kept_read(kept, at, part, blob, error) : -ENOENT;

	pthread_mutex_unlock(&fleet->lock);
	return err;
}

static int each_field(void *state, uint32_t first, stored_field_fn take, void *arg,
		      struct error *error)
{
	struct fleet *fleet = state;
	int err = 0;

	(void)error;
	pthread_mutex_lock(&fleet->lock);
	for (uint32_t id = first; !err && id < fields_count(fleet->fields); id++)
		err = take(arg, id, fields_get(fleet->fields, id));
	pthread_mutex_unlock(&fleet->lock);
	return err;
}

static int segment_of(void *state, uint32_t segment, struct segment *ret_segment,
		      struct error *error)
{
	struct fleet *fleet = state;
	const char *host;

	(void)error;
	*ret_segment = (struct segment){
		.interval_s = (double)fleet->common.step_ns / (double)NS_PER_S,
	};
	pthread_mutex_lock(&fleet->lock);
	host = segment && segment <= fleet->caches.nr ? fleet->caches.list[segment - 1]->host : "";
	snprintf(ret_segment->host, sizeof(ret_segment->host), "%.*s",
		 (int)sizeof(ret_segment->host) - 1, host[0] ? host : fleet->config.url);
	snprintf(ret_segment->boot_id, sizeof(ret_segment->boot_id), "%u", segment);
	pthread_mutex_unlock(&fleet->lock);
	return 0;
}

static int check(void *state, struct error *error)
{
	struct fleet *fleet = state;
	int err = 0;

	pthread_mutex_lock(&fleet->lock);
	if (is_late(fleet)) {
		err = not_yet(fleet, error);
	} else if (fleet->failed) {
		*error = fleet->error;
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

static int enter(void *state, const char *machine, struct error *error)
{
	struct fleet *fleet = state;
	if (strlen(machine) >= GUEST_NAME_SIZE)
		return error_set(error, -EINVAL, "the name of the host is too long");
	pthread_mutex_lock(&fleet->lock);
	fleet->entered = caches_find(&fleet->caches, machine);
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
		.find = fleet_find,
		.step = fleet_step,
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

/* ---- opening */

int fleet_open(const struct fleet_config *config, struct fleet **ret_fleet, struct error *error)
{
	struct fleet *fleet = xcalloc(1, sizeof(*fleet));
	int err;

	fleet->config = *config;
	fleet->news_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = fleet->news_fd < 0 ? -errno : 0;
	fleet->patience_ms = UINT_MAX;
	pthread_mutex_init(&fleet->lock, NULL);
	thread_cond_init(&fleet->changed);
	fleet->fields = fields_new();
	fleet->common.fields = fields_new();
	if (!err)
		err = http_open(config->url, config->access, &fleet->http, error);
	if (!err)
		err = scope_common_read(fleet->http, config->interval_s, timeout_ms(fleet),
					&fleet->common, error);
	if (!err) {
		caches_find(&fleet->caches, "");
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
	caches_release(&fleet->caches);
	http_close(fleet->http);
	if (fleet->news_fd >= 0)
		close(fleet->news_fd);
	fields_free(fleet->fields);
	fields_free(fleet->common.fields);
	pthread_cond_destroy(&fleet->changed);
	pthread_mutex_destroy(&fleet->lock);
	free(fleet);
}
