// SPDX-License-Identifier: GPL-2.0-or-later
/* A finding is noted when it has been there for three looks, and when it is gone. */
#include "tests/unit/unit.h"
#include "tests/worlds/view_world.h"

#include "core/facts/shared_fields.h"
#include "history/recorder.h"
#include "core/views/view.h"

static struct exit_fields exits;
static uint32_t wait; /* its field */
static uint64_t time_ns, waited_ns; /* of the vCPU, so far */

static int setup(void **state)
{
	const struct exit_events events = { .lacks = { false } };
	struct world *world;

	world_setup(state, NULL, 0, &view_why);
	world = *state;
	exit_fields_add(world->fields, 0, &events, 1U << TIME_WHOLE, &exits);
	wait = host_fields_add_part(world->fields, 0, HOST_WAITED);
	assert_int_equal(guests_add_fake(world->guests, 4000, "db1", 1), 1);
	take(world);
	return 0;
}

/* A sample of a second, in which the vCPU waits so long, at a time in seconds. */
static void look(struct world *world, struct causes *causes, struct moment *moment, uint64_t at_s,
		 uint64_t wait_ns)
{
	const struct facts facts = { .fields = world->fields, .stats = world->stats,
				     .guests = world->guests };
	const uint32_t flags = ROW_NEW;

	time_ns += SECOND;
	waited_ns += wait_ns;
	sample_add(&world->sample, (struct key){ 1, 0, exits.times[TIME_WHOLE] }, time_ns, flags);
	sample_add(&world->sample, (struct key){ 1, 0, wait }, waited_ns, flags);
	take(world);
	moment_reset(moment);
	moment->time_ns = at_s * SECOND;
	causes_take(causes, &facts, moment);
}

TEST(is_noted_once, setup, teardown)
{
	struct causes causes = { .thresholds = NULL };
	struct moment moment = { 0 };
	struct world *world = *state;

	for (uint64_t i = 0; i < 100; i++) {
		look(world, &causes, &moment, 1000 + i, SECOND / 2);
		assert_int_equal(moment.nr_notices, i == 20);
		if (i == 20)
			assert_memory_equal(moment.notices[0].text, "guest db1 (pid 4000): vCPUs ",
					    28);
	}
	for (uint64_t i = 100; i < 200; i++) {
		look(world, &causes, &moment, 1000 + i, 0);
		assert_int_equal(moment.nr_notices, i == 120);
		if (i == 120)
			assert_memory_equal(moment.notices[0].text,
					    "guest db1 (pid 4000): no longer found: vCPUs ", 45);
	}
	/* A clock that was set back does not end the looks. */
	for (uint64_t i = 0; i < 30; i++)
		look(world, &causes, &moment, 500 + i, SECOND / 2);
	assert_int_equal(causes.nr, 1);
	causes_release(&causes);
	moment_release(&moment);
}

/* Once for what was lost since the look before. */
TEST(a_loss_is_noted, setup, teardown)
{
	static const char text[] = " exits or arguments could not be counted: what is counted is "
				   "too low";
	struct causes causes = { .thresholds = NULL };
	struct moment moment = { 0 };
	struct world *world = *state;
	char want[sizeof(text) + 8];

	for (uint64_t i = 0; i < 50; i++) {
		world->sample.lost = i == 0 ? 7 : i == 11 || i == 19 ? 3 : 0;
		look(world, &causes, &moment, 1000 + i, 0);
		assert_int_equal(moment.nr_notices, i == 0 || i == 20);
		snprintf(want, sizeof(want), "%d%s", i ? 6 : 7, text);
		if (moment.nr_notices)
			assert_string_equal(moment.notices[0].text, want);
	}
	stats_reset(world->stats, world->fields);
	stats_clear(world->stats);
	assert_int_equal(world->stats->lost, 13);
	causes_release(&causes);
	moment_release(&moment);
}
