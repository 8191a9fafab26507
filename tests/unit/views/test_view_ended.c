// SPDX-License-Identifier: GPL-2.0-or-later
/* Views of what nobody counts any more: of a guest that ended, of a sample that is held. */
#include "tests/worlds/timed_world.h"

/* Guest 3 was there for two samples, with two vCPUs, and so was 4, which nobody asks for. */
static void guest_that_ended(struct world *world)
{
	usual_vcpu(world, 3, 0, 1);
	usual_vcpu(world, 3, 1, 1);
	usual_vcpu(world, 4, 0, 1);
	take(world);
	usual_vcpu(world, 1, 0, 1);
	usual_vcpu(world, 3, 0, 3);
	usual_vcpu(world, 3, 1, 2);
	usual_vcpu(world, 4, 0, 2);
	take(world);
	usual_vcpu(world, 1, 0, 2);
	take(world);
}

static void what_is_looked_at_stays_when_its_guest_ends(void **state)
{
	struct world *world = *state;

	world->query.guest = 3;
	stats_keep_guest(world->stats, 3);
	guest_that_ended(world);
	set_view(world, &view_guests);
	assert_string_equal(picture(world, "guest pid total rate halt_percent"),
			    "(ended) - 800 0/s -\nTotal - 1440 160/s 40.0%\n");
	set_view(world, &view_vcpus);
	assert_string_equal(picture(world, "guest vcpu tid total rate guest_percent"),
			    "(ended) 0 - 480 0/s -\n(ended) 1 - 320 0/s -\n"
			    "Total - - 800 0/s -\n");
	assert_true(world->view.rows[0].is_gone);
	assert_false(world->view.rows[0].is_rest);
	set_view(world, &view_exits);
	assert_string_equal(picture(world, "reason total rate avg_ns max_ns"),
			    "MSR_WRITE 500 0/s - 1000000ns\nIO 50 0/s - 10000000ns\n"
			    "HLT 250 0/s - 8000000ns\nTotal 800 0/s - -\n");
	set_view(world, &view_hotspots);
	assert_string_equal(picture(world, "guest argument total rate"),
			    "(ended) 0x6e0 TSC 450 0/s\n(ended) 0x80b EOI 50 0/s\n"
			    "(ended) 0x3f8 write 1 50 0/s\n- - 550 0/s\n");
}

static void then_it_goes_with_the_others_that_ended(void **state)
{
	struct world *world = *state;

	set_view(world, &view_guests);
	stats_keep_guest(world->stats, 3);
	guest_that_ended(world);
	stats_keep_guest(world->stats, GUEST_ANY);
	usual_vcpu(world, 1, 0, 3);
	take(world);
	assert_string_equal(picture(world, "guest total rate"),
			    "db1 480 160/s\nweb1 - -\n(ended) 1120 0/s\nTotal 1600 160/s\n");
}

/* A vCPU that is taken out and put in again counts from 0, its total goes on. */
static void what_comes_back_begins_at_0(void **state)
{
	struct world *world = *state;

	set_view(world, &view_exits);
	world->query.guest = 1;
	stats_keep_guest(world->stats, 1);
	usual(world);
	take(world);
	usual_vcpu(world, 1, 0, 7);
	take(world);
	world->query.has_vcpu = true;
	assert_string_equal(picture(world, "reason total delta avg_ns"),
			    "MSR_WRITE 1100 700 1000000ns\nIO 110 70 10000000ns\n"
			    "HLT 550 350 8000000ns\nTotal 1760 1120 -\n");
}

/* What a held sample can show. */
static void what_is_counted(void **state)
{
	struct world *world = *state;

	set_view(world, &view_exits);
	build(world);
	assert_false(query_is_counted(&world->query, &world->facts));
	live(world, GUEST_ANY, -1, KVM_EXIT, 1);
	take(world);
	assert_false(query_is_counted(&world->query, &world->facts));
	set_view(world, &view_guests);
	set_filter(world, "kvm_exit");
	build(world);
	assert_false(query_is_counted(&world->query, &world->facts)); /* not by guest */
	set_view(world, &view_events);
	build(world);
	assert_true(query_is_counted(&world->query, &world->facts));
	world->query.guest = 1;
	assert_false(query_is_counted(&world->query, &world->facts));
	usual(world);
	set_view(world, &view_vcpus);
	build(world);
	assert_true(query_is_counted(&world->query, &world->facts));
	world->query.guest = 7;
	assert_false(query_is_counted(&world->query, &world->facts));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_looked_at_stays_when_its_guest_ends),
		TEST(then_it_goes_with_the_others_that_ended),
		TEST(what_comes_back_begins_at_0),
		TEST(what_is_counted),
	};

	return cmocka_run_group_tests_name("view_ended", tests, NULL, NULL);
}
