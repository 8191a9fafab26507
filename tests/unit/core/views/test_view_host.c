// SPDX-License-Identifier: GPL-2.0-or-later
/* The Host view: which CPUs have a row. */
#include "core/facts/shared_fields.h"
#include "tests/unit/unit.h"
#include "tests/worlds/view_world.h"

static struct exit_fields exits;
static uint32_t busy, cost; /* fields */

static int setup(void **state)
{
	const struct exit_events events = { .lacks = { false } };
	struct world *world;

	world_setup(state, NULL, 0, &view_host);
	world = *state;
	exit_fields_add(world->fields, 0, &events, 1U << TIME_WHOLE, &exits);
	busy = host_fields_add_part(world->fields, 0, HOST_BUSY);
	cost = host_fields_add_part(world->fields, 0, HOST_COST);
	return 0;
}

static void put_cpu(struct world *world, int32_t number)
{
	const struct key key = { GUEST_NONE, number, busy };

	sample_add(&world->sample, key, world->now_ns / 2, 0);
}

/* A history may be damaged: there is no row for each number up to the greatest. */
TEST(a_number_that_no_cpu_has_is_left_out, setup, teardown)
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

/* A second of two vCPUs: half of it is measured, 30,000 exits in all. */
static void put_second(struct world *world, uint64_t cost_ns, bool has_times)
{
	if (cost_ns)
		sample_add(&world->sample, (struct key){ GUEST_NONE, -1, cost }, cost_ns, 0);
	for (int32_t vcpu = 0; vcpu < 2; vcpu++) {
		const struct key key = { 1, vcpu, exits.parents[EXITS_VMEXIT] };
		struct timing timing = { .time_ns = 1000 };

		if (has_times)
			sample_add(&world->sample, (struct key){ 1, vcpu, exits.times[TIME_WHOLE] },
				   world->now_ns / 2, 0);
		sample_add_timed(&world->sample, key,
				 world->now_ns / SECOND * 10000 * (uint64_t)(vcpu + 1), 0, &timing);
	}
	take(world);
	build(world);
}

/* What kvmtop takes of an exit, and of all vCPUs' time; unknown is absent. */
TEST(what_kvmtop_takes, setup, teardown)
{
	struct world *world = *state;

	assert_int_equal(guests_add_fake(world->guests, 4000, "db1", 2), 1);
	put_second(world, 0, true);
	put_second(world, 0, true);
	assert_int_equal(world->view.cost.exit_ns, 0);
	assert_false(world->view.cost.has_share);
	put_second(world, 400, true);
	assert_int_equal(world->view.cost.exit_ns, 400);
	assert_true(world->view.cost.has_share);
	assert_float_equal(world->view.cost.share, 30000 * 400 / 1e9, 1e-6);
	set_view(world, &view_vcpus);
	build(world);
	assert_int_equal(world->view.cost.exit_ns, 0);
}

/* Without times of exits it is of the time that passes. */
TEST(what_kvmtop_takes_of_passing_time, setup, teardown)
{
	struct world *world = *state;

	assert_int_equal(guests_add_fake(world->guests, 4000, "db1", 2), 1);
	put_second(world, 400, false);
	assert_false(world->view.cost.has_share);
	put_second(world, 400, false);
	assert_float_equal(world->view.cost.share, 30000 * 400 / 2e9, 1e-6);
}
