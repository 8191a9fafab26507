// SPDX-License-Identifier: GPL-2.0-or-later
/* Which moments of a Prometheus stay in memory. */
#include "lib/array.h"
#include "history/fleet/http.h"
#include "history/fleet/scope.h"
#include "tests/unit/unit.h"

static int answer(struct http *http, struct http_query *queries, size_t nr, long timeout_ms,
		  struct error *error);
static int take_unlocked(struct scope *scope, uint64_t first, uint64_t last,
			 const struct http_query *queries, scope_moment_fn take, void *arg,
			 struct error *error);

#define http_send(...) answer(__VA_ARGS__)
#define scope_take(...) take_unlocked(__VA_ARGS__)
#include "history/fleet/fleet.c" /* NOLINT(bugprone-suspicious-include): it needs no server so */

#define MOMENT_SIZE (CACHES_LIMIT / 17)

/* Of all hosts, and of one. */
static int setup(void **state)
{
	struct fleet *fleet = calloc(1, sizeof(*fleet));

	assert_non_null(fleet);
	*state = fleet;
	fleet->news_fd = -1;
	pthread_mutex_init(&fleet->lock, NULL);
	pthread_cond_init(&fleet->changed, NULL);
	fleet->fields = fields_new();
	fleet->common = (struct scope_common){ .fields = fields_new(), .step_ns = NS_PER_S };
	caches_find(&fleet->caches, "");
	caches_find(&fleet->caches, "kvm1");
	return 0;
}

static int teardown(void **state)
{
	fleet_close(*state);
	return 0;
}

static size_t size_of_all(const struct fleet *fleet)
{
	return fleet->caches.list[0]->kept.size + fleet->caches.list[1]->kept.size;
}

/* Moments that a scope was asked for, and got. */
static void get(struct fleet *fleet, const struct request *request)
{
	static uint64_t run;
	struct kept made = { .nr = 0 };

	run++;
	for (uint64_t at = request->first; at <= request->last; at++) {
		const struct moment moment = { .flags = 0 };
		struct packed packed = { .work = 0 };
		struct blob *part = &packed.parts[PART_CHANGES];

		array_grow_unset(&part->bytes, &part->room, MOMENT_SIZE);
		memset(part->bytes, 0, MOMENT_SIZE);
		part->size = MOMENT_SIZE;
		cache_made(&made, at, run, &moment, &packed);
		packed_release(&packed);
	}
	add_made(fleet, request, &made);
	assert_true(size_of_all(fleet) <= CACHES_LIMIT);
	for (uint64_t at = request->first; at <= request->last; at++)
		assert_true(kept_has(&fleet->caches.list[request->cache]->kept, at));
}

/* A moment is of a host, or of all of them, which have the server's name. */
TEST(hosts_of_segments, setup, teardown)
{
	static const char *const hosts[] = { "http://x", "http://x", "kvm1", "http://x" };
	struct fleet *fleet = *state;
	struct segment segment;

	fleet->config.url = "http://x";
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(segment_of(fleet, i, &segment, NULL), 0);
		assert_string_equal(segment.host, hosts[i]);
	}
	assert_int_equal(segment_of(fleet, UINT32_MAX, &segment, NULL), 0);
	assert_string_equal(segment.host, "http://x");
}

TEST(what_was_asked_for_stays, setup, teardown)
{
	struct fleet *fleet = *state;

	get(fleet, &(struct request){ 0, 1, 10 });
	for (uint64_t at = 1000; at < 1040; at++)
		get(fleet, &(struct request){ 1, at, at });
	assert_int_equal(fleet->caches.list[0]->kept.nr, 0);
	get(fleet, &(struct request){ 1, 500, 507 }); /* long before */
	assert_int_equal(fleet->caches.list[1]->kept.list[0].id, 500);
	get(fleet, &(struct request){ 1, 492, 499 }); /* back from there */
	assert_int_equal(fleet->caches.list[1]->kept.list[0].id, 492);
	get(fleet, &(struct request){ 1, 1040, 1047 }); /* and to the latest */
	get(fleet, &(struct request){ 1, 1020, 1030 });
}

/* What is larger than the limit alone is there until the next one. */
TEST(the_latest_of_large_ones_stays, setup, teardown)
{
	struct fleet *fleet = *state;
	struct kept *kept = &fleet->caches.list[1]->kept;

	for (uint64_t at = 1; at < 4; at++) {
		const struct kept_moment large = { .id = at, .sizes = { CACHES_LIMIT },
						   .bytes = malloc(1) };

		kept_take(kept, &large);
		caches_keep_limit(&fleet->caches, 1, at, at);
		assert_int_equal(kept->nr, 1);
		assert_int_equal(kept->list[0].id, at);
	}
}

TEST(moments_of_no_scope, setup, teardown)
{
	const uint64_t ids[] = { 0, UINT64_C(3) << SCOPE_SHIFT | 7, UINT64_MAX };
	const struct store store = fleet_store(*state);
	struct error error = { "" };
	struct blob blob = { 0 };
	struct stored stored;

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		for (int is_back = 0; is_back < 2; is_back++) {
			assert_int_equal(store.type->step(store.state, ids[i], is_back, &stored,
							  &error), -ENOENT);
			assert_int_equal(store.type->near(store.state, ids[i], is_back, &stored,
							  &error), -ENOENT);
		}
		assert_int_equal(store.type->find_flagged(store.state, ids[i], MOMENT_HAS_TOTALS,
							  &stored, &error), -ENOENT);
		assert_int_equal(store.type->read(store.state, ids[i], PART_CHANGES, &blob, &error),
				 -ENOENT);
	}
}

/* Whether totals go on from the moment before. */
static bool is_break(struct fleet *fleet, uint64_t at)
{
	const struct kept *kept = &fleet->caches.list[1]->kept;

	return cache_stored(&fleet->caches, 1, kept_index(kept, at)).flags & MOMENT_AFTER_LOSS;
}

TEST(totals_go_on_within_a_run, setup, teardown)
{
	struct fleet *fleet = *state;
	struct kept *kept = &fleet->caches.list[1]->kept;
	struct stored stored;

	get(fleet, &(struct request){ 1, 500, 507 });
	assert_true(is_break(fleet, 500));
	assert_false(is_break(fleet, 501));
	get(fleet, &(struct request){ 1, 496, 499 }); /* of another run, just before */
	assert_true(is_break(fleet, 500));
	assert_true(is_break(fleet, 496));
	assert_false(is_break(fleet, 499));
	get(fleet, &(struct request){ 1, 480, 494 }); /* the oldest of these is dropped again */
	kept_drop(kept, kept_index(kept, 480), 1);
	assert_true(is_break(fleet, 481));
	assert_int_equal(find_flagged(fleet, (UINT64_C(2) << SCOPE_SHIFT) | 490, MOMENT_AFTER_LOSS,
				      &stored, NULL), 0);
	assert_int_equal(stored.id & 0xffff, 481);
}

/* ---- what is done without the lock */

static struct fleet *asking;

static void expect_unlocked(void)
{
	assert_int_equal(pthread_mutex_trylock(&asking->lock), 0);
	assert_int_equal(pthread_mutex_unlock(&asking->lock), 0);
}

/* Every query gets the same. */
static int answer(struct http *http, struct http_query *queries, size_t nr, long timeout_ms,
		  struct error *error)
{
	static const char text[] = "{\"status\":\"success\",\"data\":{\"result\":[{\"metric\":"
				   "{\"guest\":\"web1\",\"reason\":\"new\"},\"values\":"
				   "[[500,\"1\"],[501,\"2\"]]}]}}";

	(void)http;
	(void)timeout_ms;
	(void)error;
	expect_unlocked();
	for (size_t i = 0; i < nr; i++) {
		queries[i].status = 200;
		queries[i].body = strdup(text);
		queries[i].size = strlen(text);
	}
	return 0;
}

static int take_unlocked(struct scope *scope, uint64_t first, uint64_t last,
			 const struct http_query *queries, scope_moment_fn take, void *arg,
			 struct error *error)
{
	int err = (scope_take)(scope, first, last, queries, take, arg, error);

	expect_unlocked();
	assert_int_equal(fields_find(asking->fields, "vmexit(new)"), FIELD_NONE);
	return err;
}

TEST(the_screen_does_not_wait_for_an_answer_to_be_read, setup, teardown)
{
	const struct request request = { 1, 501, 501 };
	struct error error = { "" };

	asking = *state;
	pthread_mutex_lock(&asking->lock);
	assert_int_equal(fetch(asking, &request, &error), 0);
	assert_true(kept_has(&asking->caches.list[1]->kept, 501));
	assert_int_not_equal(fields_find(asking->fields, "vmexit(new)"), FIELD_NONE);
	pthread_mutex_unlock(&asking->lock);
}
