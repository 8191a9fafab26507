// SPDX-License-Identifier: GPL-2.0-or-later
/* Which moments of a Prometheus stay in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fleet/fleet.c" /* NOLINT(bugprone-suspicious-include): its insides */

#define MOMENT_SIZE (LIMIT / 16)

/* Of all hosts, and of one. */
static int setup(void **state)
{
	struct fleet *fleet = calloc(1, sizeof(*fleet));

	assert_non_null(fleet);
	*state = fleet;
	fleet->news_fd = -1;
	pthread_mutex_init(&fleet->lock, NULL);
	pthread_cond_init(&fleet->changed, NULL);
	fleet->common = (struct scope_common){ .fields = fields_new(), .step_ns = NS_PER_S };
	return add_cache(fleet, "") < 0 || add_cache(fleet, "kvm1") < 0;
}

static int teardown(void **state)
{
	fleet_close(*state);
	return 0;
}

/* Moments that a scope was asked for, and got. */
static void get(struct fleet *fleet, const struct request *request)
{
	struct adding adding = { fleet, fleet->caches[request->cache] };

	for (uint64_t at = request->first; at <= request->last; at++) {
		struct packed packed = { .flags = 0 };
		struct blob *part = &packed.parts[PART_CHANGES];

		assert_int_equal(array_grow_bytes(&part->bytes, &part->room, MOMENT_SIZE), 0);
		assert_int_equal(add_moment(&adding, at, &packed), 0);
		packed_release(&packed);
	}
	keep_limit(fleet, request);
	assert_true(fleet->size <= LIMIT);
	for (uint64_t at = request->first; at <= request->last; at++)
		assert_true(has_moment(adding.cache, at));
}

static void what_was_asked_for_stays(void **state)
{
	struct fleet *fleet = *state;

	get(fleet, &(struct request){ 0, 1, 10 });
	for (uint64_t at = 1000; at < 1040; at++)
		get(fleet, &(struct request){ 1, at, at });
	assert_int_equal(fleet->caches[0]->nr, 0);
	get(fleet, &(struct request){ 1, 500, 507 }); /* long before */
	assert_int_equal(fleet->caches[1]->slots[0].at, 500);
	get(fleet, &(struct request){ 1, 492, 499 }); /* back from there */
	assert_int_equal(fleet->caches[1]->slots[0].at, 492);
	get(fleet, &(struct request){ 1, 1040, 1047 }); /* and to the latest */
	get(fleet, &(struct request){ 1, 1020, 1030 });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_was_asked_for_stays, setup, teardown),
	};

	return cmocka_run_group_tests_name("fleet", tests, NULL, NULL);
}
