// SPDX-License-Identifier: GPL-2.0-or-later
/* The list of long exits, in stats and as a view. */
#include "tests/unit/unit.h"
#include "tests/worlds/timed_world.h"

#define MS UINT64_C(1000000)
#define NOON (UINT64_C(1763812800) * SECOND) /* 2025-11-22 12:00:00 UTC */

static int set_up(void **state)
{
	struct world *world;

	setenv("TZ", "UTC", 1);
	setup(state);
	world = *state;
	set_view(world, &view_long_exits);
	world->query.longer_ns = 5 * MS;
	return 0;
}

/* In the next sample: an exit that took so many ms and ended so many ms after noon. */
static struct long_exit *slow(struct world *world, uint64_t end_ms, uint64_t ms, uint32_t reason)
{
	const struct long_exit exit = {
		.end_ns = NOON + end_ms * MS, .took_ns = ms * MS, .guest = 1, .cpu = 3,
		.reason = reason, .argument = FIELD_NONE, .is_idle = reason == HLT,
	};
	struct long_exits *list = &world->sample.long_exits;

	long_exits_add(list, &exit);
	return &list->list[list->nr - 1];
}

TEST(newest_first, set_up, teardown)
{
	struct world *world = *state;
	struct long_exit *exit;

	slow(world, 1000, 20, MSR);
	slow(world, 900, 10, MSR)->knows_wait = true; /* and did not wait */
	take(world);
	exit = slow(world, 2500, 40, IO);
	exit->user_ns = 30 * MS;
	exit->polled_ns = 4 * MS;
	exit->waited_ns = 2 * MS;
	exit->knows_wait = true;
	exit->pc = 0xfff0;
	exit->argument = PORT;
	exit->guest = 2;
	take(world);
	assert_string_equal(picture(world, "end took_ns user_ns reason argument "
					   "guest pid vcpu cpu pc end_ns"),
			    "12:00:02.500000 40000000ns 30000000ns IO 0x3f8 write 1 web1 "
			    "5000 0 3 0xfff0 1763812802500000000\n"
			    "12:00:01.000000 20000000ns - MSR_WRITE - db1 4000 0 3 - "
			    "1763812801000000000\n"
			    "12:00:00.900000 10000000ns - MSR_WRITE - db1 4000 0 3 - "
			    "1763812800900000000\n"
			    "- - - - - - - - - - -\n");
	assert_string_equal(picture(world, "poll_ns wait_ns"),
			    "4000000ns 2000000ns\n- -\n- 0ns\n- -\n");
	world->query.is_latest = true;
	assert_string_equal(order(world), "12:00:02.500000");
	take(world);
	assert_string_equal(order(world), ""); /* the latest sample has none */
	world->query.is_latest = false;
	world->query.reverse = true;
	assert_string_equal(order(world), "12:00:00.900000 12:00:01.000000 12:00:02.500000");
	world->query.after_ns = UINT64_C(1763812800900000000);
	world->query.until_ns = UINT64_C(1763812801000000000);
	assert_string_equal(order(world), "12:00:01.000000");
}

TEST(what_is_asked_for, set_up, teardown)
{
	struct world *world = *state;

	slow(world, 1, 20, MSR);
	slow(world, 2, 5, MSR); /* not longer */
	slow(world, 3, 500, HLT);
	slow(world, 4, 20, IO)->argument = PORT;
	slow(world, 5, 20, IO)->guest = 2;
	slow(world, 6, 20, IO)->vcpu = 1;
	take(world);
	world->query.reverse = true;
	assert_string_equal(order(world), "12:00:00.001000 12:00:00.004000 12:00:00.005000 "
					  "12:00:00.006000");
	world->query.guest = 1;
	world->query.has_vcpu = true;
	assert_string_equal(order(world), "12:00:00.001000 12:00:00.004000");
	set_filter(world, "MSR");
	assert_string_equal(order(world), "12:00:00.001000");
	set_filter(world, "0x3f8");
	assert_string_equal(order(world), "12:00:00.004000");
	set_filter(world, NULL);
	world->query.has_halts = true;
	assert_string_equal(order(world), "12:00:00.001000 12:00:00.003000 12:00:00.004000");
	world->query.has_halts = false;
	world->query.has_reason = true;
	world->query.reason = HLT;
	assert_string_equal(order(world), "12:00:00.003000");
	world->query.has_reason = false;
	world->query.until_ns = NOON + 3 * MS; /* a look back */
	assert_string_equal(order(world), "12:00:00.001000");
	world->query.until_ns = 0;
	world->query.longer_ns = 20 * MS;
	assert_string_equal(order(world), "");
}

TEST(empty_columns_are_not_shown, set_up, teardown)
{
	struct world *world = *state;
	size_t pc = (size_t)view_column_by_id(&view_long_exits, "pc");
	size_t argument = (size_t)view_column_by_id(&view_long_exits, "argument");

	slow(world, 1, 20, MSR);
	take(world);
	assert_false(view_has_column(build(world), pc));
	assert_false(view_has_column(&world->view, argument));
	slow(world, 2, 20, IO)->pc = 1;
	take(world);
	assert_true(view_has_column(build(world), pc));
	assert_false(view_has_column(&world->view, argument));
}

TEST(functions_of_a_guest, set_up, teardown)
{
	struct world *world = *state;
	struct long_exit *exit = slow(world, 1, 20, MSR);

	world->query.reverse = true;
	exit->pc = 0xffffffff81000010;
	strcpy(exit->symbol, "startup_64+0x10");
	slow(world, 2, 20, MSR)->pc = 0x400000;
	take(world);
	assert_string_equal(picture(world, "pc symbol guest"),
			    "0xffffffff81000010 startup_64+0x10 db1\n"
			    "0x400000 - db1\n"
			    "- - -\n");
}

/* A recording has no time of day. */
TEST(seconds_of_a_recording, set_up, teardown)
{
	struct world *world = *state;

	world->facts.source = SOURCE_RECORDING;
	slow(world, 0, 20, MSR)->end_ns = 12345678901;
	take(world);
	assert_string_equal(order(world), "    12.345678");
}

TEST(guests_that_ended, set_up, teardown)
{
	struct world *world = *state;

	slow(world, 1, 20, MSR)->guest = 77;
	slow(world, 2, 20, IO)->vcpu = -1;
	take(world);
	assert_string_equal(picture(world, "guest pid vcpu ended"), "db1 4000 - -\n"
								   "(ended) - 0 1\n"
								   "- - - -\n");
}

/* The latest ones stay, each with a number of its own; a reset of totals does not touch them. */
TEST(only_so_many_are_kept, set_up, teardown)
{
	struct world *world = *state;
	const struct long_exits *kept = &world->stats->long_exits;

	for (int sample = 0; sample < 2; sample++) {
		for (uint64_t i = 0; i < LONG_EXITS_MAX - 100; i++)
			slow(world, (uint64_t)sample * LONG_EXITS_MAX + i, 6 + (uint64_t)sample,
			     MSR);
		world->sample.long_exits.lost = 3;
		take(world);
	}
	stats_reset(world->stats, world->fields);
	stats_clear(world->stats);
	assert_int_equal(kept->nr, LONG_EXITS_MAX);
	assert_int_equal(kept->nr_latest, LONG_EXITS_MAX - 100);
	assert_int_equal(kept->nr_ever, 2 * (LONG_EXITS_MAX - 100));
	assert_int_equal(kept->lost, 6);
	for (size_t i = 0; i < kept->nr; i++) {
		assert_int_equal(long_exits_at(kept, i)->took_ns, (i < 100 ? 6 : 7) * MS);
		assert_int_equal(long_exits_at(kept, i)->number, LONG_EXITS_MAX - 200 + 1 + i);
	}
	assert_int_equal(build(world)->nr_rows, LONG_EXITS_MAX);
	assert_int_equal(world->view.rows[0].number, 2 * (LONG_EXITS_MAX - 100));
}

/* What lists none says so; what does says since when. */
TEST(a_source_may_have_no_list, set_up, teardown)
{
	static const char none[] = "This has no list.";
	struct world *world = *state;
	const struct long_exits *kept = &world->stats->long_exits;

	take(world);
	assert_null(build(world)->note);
	assert_int_equal(kept->since_ns, 0);
	world->sample.long_exits.none = none;
	take(world);
	assert_string_equal(build(world)->note, none);
	world->sample.long_exits.since_ns = 7;
	take(world);
	assert_int_equal(kept->since_ns, 7);
	assert_null(build(world)->note);
}

TEST(what_it_needs, set_up, teardown)
{
	struct world *world = *state;

	build(world);
	assert_true(field_set_has(&world->wanted, MSR));
	assert_false(field_set_has(&world->wanted, MSR_EVENT));
	assert_false(field_set_has(&world->wanted, KVM_EXIT));
	world->query.has_arguments = true;
	build(world);
	assert_true(field_set_has(&world->wanted, MSR_EVENT));
}
