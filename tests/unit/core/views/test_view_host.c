// SPDX-License-Identifier: GPL-2.0-or-later
/* The Host view: which CPUs have a row. */
#include "tests/unit/unit.h"
#include "tests/worlds/view_world.h"

enum { BUSY, NR_FIELDS };

static const struct field specs[NR_FIELDS] = {
	[BUSY] = { .name = "host_cpu(busy)", .parent = FIELD_NONE, .use = USE_HOST,
		   .part = HOST_BUSY },
};

static int setup(void **state)
{
	return world_setup(state, specs, NR_FIELDS, &view_host);
}

static void put_cpu(struct world *world, int32_t number)
{
	const struct key key = { GUEST_NONE, number, BUSY };

	sample_add(&world->sample, key, world->now_ns / 2, 0);
}

/* A history may be damaged: there is no row for each number up to the greatest. */
static void a_number_that_no_cpu_has_is_left_out(void **state)
{
	struct world *world = *state;

	for (int i = 0; i < 2; i++) {
		put_cpu(world, 0);
		put_cpu(world, 7);
		put_cpu(world, INT32_MAX);
		take(world);
	}
	build(world);
	assert_int_equal(world->view.nr_rows, 2);
	assert_int_equal(world->view.rows[0].vcpu + world->view.rows[1].vcpu, 7);
	assert_string_equal(world->view.total.cells[0].text, "Total");
}

UNIT(test_view_host)
{
	const struct CMUnitTest tests[] = {
		TEST(a_number_that_no_cpu_has_is_left_out),
	};

	return cmocka_run_group_tests_name("view_host", tests, NULL, NULL);
}
