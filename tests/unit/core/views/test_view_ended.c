// SPDX-License-Identifier: GPL-2.0-or-later
/* Views of what is counted no more: of guests that ended, of a sample that is held. */
#include "lib/array.h"
#include "tests/unit/unit.h"
#include "tests/worlds/timed_world.h"

/* Guests 3 and 4, which nothing but KVM's events showed. */
static void meet(struct world *world, pid_t pid, int32_t nr_vcpus, const char *comm)
{
	for (int32_t i = 0; i < nr_vcpus; i++) {
		struct vcpu_thread thread = { pid, pid + 1 + i, i, comm, 1, true };

		assert_int_not_equal(guests_of_thread(world->guests, &thread, 2), GUEST_NONE);
	}
}

static void guests_that_ended(struct world *world)
{
	world->stats->guests = world->guests;
	meet(world, 600, 2, "CPU 0/KVM");
	meet(world, 700, 1, "fc_vcpu 0");
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

TEST(ended_guests_keep_their_names_and_counts, setup, teardown)
{
	struct world *world = *state;

	guests_that_ended(world);
	set_view(world, &view_guests);
	assert_string_equal(picture(world, "guest pid vcpus total rate ended"),
			    "db1 4000 2 320 160/s -\nweb1 5000 1 0 0/s -\n"
			    "qemu 600 2 800 0/s 1\nfirecracker 700 1 320 0/s 1\n"
			    "Total - - 1440 160/s -\n");
	set_view(world, &view_vcpus);
	assert_string_equal(picture(world, "guest vcpu tid total rate ended"),
			    "db1 0 4001 320 160/s -\ndb1 1 4002 0 0/s -\n"
			    "web1 0 5001 0 0/s -\nqemu 0 601 480 0/s 1\n"
			    "firecracker 0 701 320 0/s 1\nqemu 1 602 320 0/s 1\n"
			    "Total - - 1440 160/s -\n");
}

/* On the screen, what has ended is one row, and the Total stays the sum of the rows. */
TEST(ended_guests_are_one_row, setup, teardown)
{
	struct world *world = *state;

	guests_that_ended(world);
	set_view(world, &view_guests);
	world->query.folds_ended = true;
	assert_string_equal(picture(world, "guest pid vcpus total total_percent rate ended"),
			    "db1 4000 2 320 22.2% 160/s -\nweb1 5000 1 0 0.0% 0/s -\n"
			    "2 ended - - 1120 77.8% 0/s -\nTotal - - 1440 - 160/s -\n");
	assert_true(world->view.rows[2].can_open);
	assert_false(world->view.rows[2].is_open);
	world->query.opens_ended = true;
	assert_string_equal(picture(world, "guest pid total rate"),
			    "db1 4000 320 160/s\nweb1 5000 0 0/s\n2 ended - 1120 0/s\n"
			    "qemu 600 800 0/s\nfirecracker 700 320 0/s\nTotal - 1440 160/s\n");
	assert_true(world->view.rows[2].is_open);
	assert_int_equal(world->view.rows[3].depth, 1);
	assert_true(world->view.rows[4].is_last);

	world->query.opens_ended = false;
	set_view(world, &view_vcpus);
	assert_string_equal(picture(world, "guest vcpu tid total rate"),
			    "db1 0 4001 320 160/s\ndb1 1 4002 0 0/s\nweb1 0 5001 0 0/s\n"
			    "3 ended - - 1120 0/s\nTotal - - 1440 160/s\n");

	/* Of a guest that has ended all rows have. */
	world->query.guest = 3;
	assert_string_equal(picture(world, "guest vcpu tid total rate"),
			    "qemu 0 601 480 0/s\nqemu 1 602 320 0/s\nTotal - - 800 0/s\n");
}

/* One that has ended stays itself; of the ones before it is not known how many there were. */
TEST(one_that_ended_is_not_folded, setup, teardown)
{
	struct world *world = *state;

	set_view(world, &view_guests);
	world->query.folds_ended = true;
	world->stats->guests = world->guests;
	meet(world, 600, 1, "CPU 0/KVM");
	usual_vcpu(world, 3, 0, 1);
	take(world);
	usual_vcpu(world, 1, 0, 1);
	take(world);
	assert_string_equal(picture(world, "guest total"),
			    "db1 160\nweb1 0\nqemu 160\nTotal 320\n");
	for (pid_t i = 0; i < GUESTS_ENDED; i++)
		meet(world, 10000 + i, 1, "vcpu0");
	usual_vcpu(world, 1, 0, 2);
	usual_vcpu(world, 4, 0, 1);
	take(world);
	usual_vcpu(world, 1, 0, 3);
	take(world);
	assert_string_equal(picture(world, "guest total"),
			    "db1 480\nweb1 0\nover 1 ended 320\nTotal 800\n");
}

/* In a log, a row that ended is in the sample that has its last counts, and in no later one. */
TEST(a_log_has_what_ended_once, setup, teardown)
{
	struct world *world = *state;

	set_view(world, &view_vcpus);
	guests_that_ended(world);
	build(world);
	view_drop_repeated(&world->view);
	assert_int_equal(world->view.nr_rows, 3);
	for (size_t i = 0; i < world->view.nr_rows; i++)
		assert_false(world->view.rows[i].is_gone);
	usual_vcpu(world, 1, 0, 3);
	usual_vcpu(world, 3, 0, 4);
	take(world);
	build(world);
	view_drop_repeated(&world->view);
	assert_int_equal(world->view.nr_rows, 4);
}

/* Reasons and arguments are in a log's samples that counted some; what runs is in all. */
TEST(a_log_does_not_repeat_what_did_nothing, setup, teardown)
{
	static const struct view_type *const types[] = { &view_exits, &view_hotspots };
	static const size_t nr_rows[] = { 3, 6 };
	struct world *world = *state;

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		set_view(world, types[i]);
		usual(world);
		build(world);
		view_drop_repeated(&world->view);
		assert_int_equal(world->view.nr_rows, nr_rows[i]);
		usual_vcpu(world, 1, 0, 4); /* as in the latest sample */
		usual_vcpu(world, 1, 1, 2);
		usual_vcpu(world, 2, 0, 2);
		take(world);
		build(world);
		assert_int_equal(world->view.nr_rows, nr_rows[i]);
		view_drop_repeated(&world->view);
		assert_int_equal(world->view.nr_rows, 0);
	}
	set_view(world, &view_vcpus);
	build(world);
	view_drop_repeated(&world->view);
	assert_int_equal(world->view.nr_rows, 3);
}

TEST(what_is_looked_at_stays_when_its_guest_ends, setup, teardown)
{
	struct world *world = *state;

	world->query.guest = 3;
	guests_that_ended(world);
	set_view(world, &view_guests);
	assert_string_equal(picture(world, "guest pid total rate idle_percent"),
			    "qemu 600 800 0/s -\nTotal - 800 0/s -\n");
	set_view(world, &view_vcpus);
	assert_string_equal(picture(world, "guest vcpu tid total rate guest_percent"),
			    "qemu 0 601 480 0/s -\nqemu 1 602 320 0/s -\n"
			    "Total - - 800 0/s -\n");
	assert_true(world->view.rows[0].is_gone);
	assert_false(world->view.rows[0].is_rest);
	set_view(world, &view_exits);
	assert_string_equal(picture(world, "reason total rate avg_ns max_ns"),
			    "MSR_WRITE 500 0/s - 1000000ns\nIO 50 0/s - 10000000ns\n"
			    "HLT 250 0/s - 8000000ns\nTotal 800 0/s - 10000000ns\n");
	set_view(world, &view_hotspots);
	assert_string_equal(picture(world, "guest pid argument total rate ended"),
			    "qemu 600 0x6e0 TSC 450 0/s 1\nqemu 600 0x80b EOI 50 0/s 1\n"
			    "qemu 600 0x3f8 write 1 50 0/s 1\n- - - 550 0/s -\n");
}

/* As many ended later as the inventory keeps. */
TEST(then_they_go_with_the_others_that_ended, setup, teardown)
{
	struct world *world = *state;

	set_view(world, &view_guests);
	guests_that_ended(world);
	for (pid_t i = 0; i < GUESTS_ENDED; i++)
		meet(world, 10000 + i, 1, "vcpu0");
	usual_vcpu(world, 1, 0, 3);
	take(world);
	assert_string_equal(picture(world, "guest total rate"),
			    "db1 480 160/s\nweb1 0 0/s\n(ended) 1120 0/s\nTotal 1600 160/s\n");
}

/* A vCPU that is taken out and put in again counts from 0, its total goes on. */
TEST(what_comes_back_begins_at_0, setup, teardown)
{
	struct world *world = *state;

	set_view(world, &view_exits);
	world->query.guest = 1;
	world->stats->guests = world->guests;
	usual(world);
	take(world);
	usual_vcpu(world, 1, 0, 7);
	take(world);
	world->query.has_vcpu = true;
	assert_string_equal(picture(world, "reason total delta avg_ns"),
			    "MSR_WRITE 1100 700 1000000ns\nIO 110 70 10000000ns\n"
			    "HLT 550 350 8000000ns\nTotal 1760 1120 3750000ns\n");
}

/* What a held sample can show. */
TEST(what_is_counted, setup, teardown)
{
	struct world *world = *state;

	set_view(world, &view_exits);
	build(world);
	assert_false(query_is_counted(&world->query, &world->facts));
	live(world, GUEST_NONE, -1, KVM_EXIT, 1);
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
