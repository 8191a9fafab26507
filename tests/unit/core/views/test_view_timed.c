// SPDX-License-Identifier: GPL-2.0-or-later
/* The views of timed exits: guests, vCPUs, exits, hot spots, and the totals of `kvmtop exits`. */
#include "core/facts/facts.h"
#include "tests/unit/unit.h"
#include "tests/worlds/timed_world.h"
#include "core/views/fill.h"

/* ---- guests */

static size_t at(const struct world *world, enum column_id id)
{
	return (size_t)view_column(world->view.type, id);
}

/* A column of the provider "host" or of KVM's own counters, or one that has no value here. */
static bool is_empty(const struct world *world, size_t column)
{
	enum column_needs needs = column_dictionary[world->view.type->columns[column].id].needs;

	return needs == NEEDS_HOST || needs == NEEDS_EVENT || needs == NEEDS_VALUE;
}

TEST(guests_with_the_time_of_their_vcpus, setup, teardown)
{
	struct world *world = *state;

	set_view(world, &view_guests);
	usual(world);
	assert_string_equal(picture(world, "guest total delta rate guest_percent kvm_percent "
					   "user_percent idle_percent block_percent "
					   "wait_percent"),
			    "db1 960 480 480/s 38.0% 13.0% 7.0% 38.0% 2.0% 2.0%\n"
			    "web1 320 160 160/s 38.0% 13.0% 7.0% 38.0% 2.0% 2.0%\n"
			    "Total 1280 640 640/s 38.0% 13.0% 7.0% 38.0% 2.0% 2.0%\n");
	assert_string_equal(picture(world, "guest split vcpu_ns top top_percent"),
			    "db1 0.38 0.13 0.07 0.00 0.02 0.02 0.38 3000000000ns MSR_WRITE 10.0%\n"
			    "web1 0.38 0.13 0.07 0.00 0.02 0.02 0.38 1000000000ns MSR_WRITE 10.0%\n"
			    "Total - - - -\n");
	assert_string_equal(world->view.rate_title, "Exits/s");
	for (size_t i = 0; i < view_columns(&view_guests); i++)
		assert_int_equal(view_has_column(&world->view, i),
				 !is_empty(world, i) && i != at(world, COL_IN_L2) &&
					 i != at(world, COL_IN_POLL) &&
					 i != at(world, COL_BLOCK_USER));
}

/* Of a read the argument is known when it ends, and then it has all of its time. */
TEST(no_share_is_above_100_percent, setup, teardown)
{
	struct world *world = *state;

	for (uint32_t second = 1; second <= 2; second++) {
		count(world, 1, 0, PORT, second - 1, 5000000000);
		count(world, 1, 0, IOPORT, second - 1, 5000000000);
		live(world, 1, 0, TIME, 1000 * second);
		take(world);
	}
	set_view(world, &view_hotspots);
	assert_string_equal(picture(world, "argument delta time_percent time_ns"),
			    "0x3f8 write 1 1 100.0% 5000000000ns\n- 1 100.0% -\n");
}

/* As `kvmtop exits` counts: since the start, the most frequent first. */
static void set_totals(struct world *world, unsigned int groups, uint32_t seconds)
{
	set_view(world, &view_exits);
	world->query.sort = (size_t)view_column(&view_exits, COL_TOTAL);
	world->query.groups = groups;
	world->query.since_ns = seconds * SECOND;
}

/* Its time is counted as it passes, and it says how long; averages are of what ended. */
TEST(an_exit_that_does_not_end, setup, teardown)
{
	struct world *world = *state;

	for (uint32_t second = 1; second <= 3; second++)
		stands_still(world, second);
	set_view(world, &view_exits);
	world->query.guest = 1;
	assert_string_equal(picture(world, "reason total delta time_percent time_ns avg_ns p99_ns "
					   "max_ns open_ns"),
			    "IO 2 0 100.0% 1000000000ns - - 10000000ns 3000000000ns\n"
			    "Total 2 0 100.0% 1000000000ns - - 10000000ns 3000000000ns\n");
	world->query.guest = GUEST_ALL;
	set_view(world, &view_vcpus);
	world->query.sort = 0;
	assert_string_equal(picture(world, "guest vcpu top top_percent open_ns"),
			    "db1 0 IO 100.0% 3000000000ns\n"
			    "db1 1 - - -\n"
			    "web1 0 - - -\n"
			    "Total - - - -\n");
	assert_true(view_has_column(&world->view, at(world, COL_OPEN)));
	set_view(world, &view_guests);
	world->query.sort = 0;
	assert_string_equal(picture(world, "guest top open_ns"),
			    "db1 IO 3000000000ns\nweb1 - -\nTotal - -\n");
	set_totals(world, GROUP_REASON, 3);
	assert_string_equal(picture(world, "reason total time_ns avg_ns"),
			    "IO 2 3010000000ns 10000000ns\nHLT 1 3000000000ns -\n"
			    "Total 3 6010000000ns 10000000ns\n");
}

/* A history has events of the whole host, and exits by guest. */
TEST(a_filter_without_events_by_guest_counts_exits, setup, teardown)
{
	struct world *world = *state;

	set_view(world, &view_guests);
	usual(world);
	set_filter(world, "MSR_WRITE");
	assert_string_equal(picture(world, "guest total delta"),
			    "db1 600 300\nweb1 200 100\nTotal 800 400\n");
	assert_string_equal(world->view.rate_title, "Exits/s");
	set_filter(world, "kvm_pio");
	build(world);
	assert_null(world->view.rate_title);
}

/* Numbers of all exits beside the filter's would look as if they were of the same. */
TEST(a_filter_blanks_what_it_does_not_select, setup, teardown)
{
	struct world *world = *state;

	set_view(world, &view_guests);
	usual(world);
	assert_string_equal(picture(world, "guest rate cost_percent kvm_percent top"),
			    "db1 480/s 20.0% 13.0% MSR_WRITE\nweb1 160/s 20.0% 13.0% MSR_WRITE\n"
			    "Total 640/s 20.0% 13.0% -\n");
	assert_int_equal(world->view.sort, at(world, COL_EXIT_COST));
	set_filter(world, "MSR_WRITE");
	assert_string_equal(picture(world, "guest rate cost_percent kvm_percent top split"),
			    "db1 300/s - - - -\nweb1 100/s - - - -\nTotal 400/s - - - -\n");
	assert_false(view_has_column(&world->view, at(world, COL_IN_KVM)));
	assert_false(view_has_column(&world->view, at(world, COL_TOP)));
	assert_int_equal(world->view.sort, at(world, COL_RATE)); /* there is no cost */
	set_view(world, &view_vcpus); /* there the costliest reason is the filter's */
	assert_string_equal(picture(world, "guest vcpu delta guest_percent top"),
			    "db1 0 200 - MSR_WRITE\ndb1 1 100 - MSR_WRITE\n"
			    "web1 0 100 - MSR_WRITE\nTotal - 400 - -\n");
}

/* So much is polled in the halts of guest 1, in ms of each second. */
static void poll(struct world *world, uint32_t ms)
{
	static const struct field spec = { .name = "time(poll)", .parent = TIME, .use = USE_TIME,
					   .part = TIME_POLL };
	uint32_t id;

	id = fields_add(world->fields, &spec);
	for (uint32_t second = 1; second <= 2; second++) {
		polling_vcpu(world, 1, 0, 2 * second, ms);
		live(world, 1, 0, id, 2 * ms * second);
		polling_vcpu(world, 1, 1, second, ms);
		live(world, 1, 1, id, ms * second);
		usual_vcpu(world, 2, 0, second);
		live(world, 2, 0, id, 0);
		take(world);
	}
}

TEST(polls_are_a_cost, setup, teardown)
{
	struct world *world = *state;

	set_view(world, &view_guests);
	poll(world, 300);
	assert_string_equal(picture(world, "guest poll_percent idle_percent top top_percent "
					   "split"),
			    "db1 30.0% 8.0% HLT 32.0% 0.38 0.13 0.07 0.30 0.02 0.02 0.08\n"
			    "web1 0.0% 38.0% MSR_WRITE 10.0% 0.38 0.13 0.07 0.00 0.02 0.02 0.38\n"
			    "Total 22.5% 15.5% - - -\n");
	assert_true(view_has_column(&world->view, at(world, COL_IN_POLL)));
	set_view(world, &view_vcpus);
	assert_string_equal(picture(world, "guest vcpu poll_percent idle_percent top"),
			    "db1 0 30.0% 8.0% HLT\ndb1 1 30.0% 8.0% HLT\n"
			    "web1 0 0.0% 38.0% MSR_WRITE\nTotal - 22.5% 15.5% -\n");
}

/* The row of halts ranks by what was polled, in columns of durations still last. */
TEST(polls_rank_among_exits, setup, teardown)
{
	struct world *world = *state;
	struct exits_summary summary;

	set_view(world, &view_exits);
	poll(world, 300);
	assert_string_equal(picture(world, "reason time_percent run_percent poll_percent "
					   "block_percent wait_percent idle_percent"),
			    "HLT 24.5% 24.5% 22.5% 0.0% 0.0% 15.5%\n"
			    "MSR_WRITE 10.0% 10.0% 0.0% 0.0% 1.5% 0.0%\n"
			    "IO 10.0% 8.0% 0.0% 2.0% 0.5% 0.0%\n"
			    "Total 44.5% 42.5% 22.5% 2.0% 2.0% 15.5%\n");
	world->query.sort = (size_t)view_column_by_id(&view_exits, "max_ns");
	assert_string_equal(picture(world, "reason"), "IO\nMSR_WRITE\nHLT\nTotal\n");
	set_filter(world, "MSR");
	assert_string_equal(picture(world, "reason time_percent"),
			    "MSR_WRITE 10.0%\nTotal 10.0%\n");
	summary = exits_summarize(&world->facts, GUEST_NONE);
	assert_true(summary.all.time[TIME_POLL].nr);
	assert_int_equal(summary.reason, HLT);
	assert_true(summary.rate_per_s == 150);
}

TEST(totals_with_polls, setup, teardown)
{
	struct world *world = *state;

	set_totals(world, GROUP_REASON, 2);
	poll(world, 300);
	assert_string_equal(picture(world, "reason time_percent poll_percent"),
			    "MSR_WRITE 10.0% 0.0%\nHLT 24.5% 22.5%\nIO 10.0% 0.0%\n"
			    "Total 44.5% 22.5%\n");
	world->query.groups = GROUP_GUEST;
	assert_string_equal(picture(world, "guest time_percent poll_percent idle_percent"),
			    "db1 52.0% 30.0% 8.0%\nweb1 22.0% 0.0% 38.0%\n"
			    "- 44.5% 22.5% 15.5%\n");
	world->query.event = EXITS_USERSPACE;
	assert_string_equal(picture(world, "guest time_percent"),
			    "db1 9.0%\nweb1 9.0%\n- 9.0%\n");
}

/* With them kvm_exit need not be counted as well; a filter wants events, the time stays. */
TEST(guests_want_no_events_but_for_a_filter, setup, teardown)
{
	struct world *world = *state;

	set_view(world, &view_guests);
	usual(world);
	build(world);
	assert_false(field_set_has(&world->wanted, KVM_EXIT));
	assert_true(field_set_has(&world->wanted, MSR));
	set_filter(world, "kvm_exit");
	live(world, 1, -1, KVM_EXIT, 1);
	take(world);
	assert_string_equal(picture(world, "guest total"), "db1 1000000\nweb1 -\nTotal 1000000\n");
	assert_true(field_set_has(&world->wanted, KVM_EXIT));
	assert_true(field_set_has(&world->wanted, TIME));
	assert_null(world->view.rate_title);
}

TEST(guests_without_the_provider_have_no_such_columns, setup, teardown)
{
	struct world *world = *state;

	set_view(world, &view_guests);
	fields_free(world->fields);
	world->facts.fields = world->fields = fields_new();
	fields_add(world->fields, &(struct field){ .name = "kvm_exit", .parent = FIELD_NONE,
						   .exit_rank = 1 });
	build(world);
	for (size_t i = 0; i < view_columns(&view_guests); i++)
		assert_int_equal(view_has_column(&world->view, i),
				 (i < at(world, COL_EXIT_COST) || i >= at(world, COL_HISTORY)) &&
					 !is_empty(world, i));
	assert_null(world->view.rate_title);
}

/* ---- vCPUs */

TEST(vcpus_one_by_one, setup, teardown)
{
	struct world *world = *state;

	set_view(world, &view_vcpus);
	usual(world);
	assert_string_equal(picture(world, "guest vcpu tid total total_percent rate "
					   "idle_percent top"),
			    "db1 0 4001 640 50.0% 320/s 38.0% MSR_WRITE\n"
			    "db1 1 4002 320 25.0% 160/s 38.0% MSR_WRITE\n"
			    "web1 0 5001 320 25.0% 160/s 38.0% MSR_WRITE\n"
			    "Total - - 1280 - 640/s 38.0% -\n");
	assert_int_equal(world->view.rows[0].guest, 1);
	assert_int_equal(world->view.rows[0].vcpu, 0);
	world->query.guest = 1;
	assert_string_equal(picture(world, "guest vcpu total_percent"),
			    "db1 0 66.7%\ndb1 1 33.3%\nTotal - -\n");
}

TEST(vcpus_and_where_they_were, setup, teardown)
{
	struct world *world = *state;
	size_t column = (size_t)view_column_by_id(&view_vcpus, "cpu");

	set_view(world, &view_vcpus);
	usual(world);
	assert_false(view_has_column(build(world), column)); /* no provider says */
	usual_vcpu(world, 1, 0, 5);
	usual_vcpu(world, 2, 0, 3);
	sample_add(&world->sample, (struct key){ 1, 0, ON_CPU }, 63, 0);
	sample_add(&world->sample, (struct key){ 2, 0, ON_CPU }, 0, 0);
	take(world);
	assert_string_equal(picture(world, "guest vcpu cpu"),
			    "db1 0 63\nweb1 0 0\ndb1 1 -\n(ended) - -\nTotal - -\n");
	assert_true(view_has_column(&world->view, column));
}

/* A KVM that emulates its guests never fires kvm_exit: columns of dashes would say nothing. */
TEST(vcpus_whose_exits_are_not_seen, setup, teardown)
{
	struct world *world = *state;

	set_view(world, &view_vcpus);
	for (uint32_t second = 1; second <= 2; second++) {
		count(world, 1, 0, USERSPACE, 10 * second, 1000);
		count(world, 1, 0, USER_IO, 10 * second, 1000);
		take(world);
	}
	assert_string_equal(picture(world, "guest vcpu total top"),
			    "db1 0 20 IO\ndb1 1 0 -\nweb1 0 0 -\nTotal - 20 -\n");
	for (size_t i = at(world, COL_IN_GUEST); i <= at(world, COL_SPLIT); i++)
		assert_int_equal(view_has_column(&world->view, i),
				 i == at(world, COL_VCPU_TIME) || i == at(world, COL_IN_WAIT));
	usual(world);
	build(world);
	for (size_t i = at(world, COL_IN_GUEST); i <= at(world, COL_SPLIT); i++)
		assert_int_equal(view_has_column(&world->view, i),
				 !is_empty(world, i) && i != at(world, COL_IN_L2) &&
					 i != at(world, COL_IN_POLL) &&
					 i != at(world, COL_BLOCK_USER));
}

/* After r nothing but an exit to user space: it goes on in an exit that began before r. */
TEST(exits_of_a_quiet_host_after_a_reset, setup, teardown)
{
	struct world *world = *state;

	set_view(world, &view_exits);
	for (uint32_t second = 1; second <= 2; second++) {
		count(world, 1, 0, VMEXIT, 10, 1000);
		count(world, 1, 0, MSR, 10, 1000);
		count(world, 1, 0, USERSPACE, 10 + second, 1000);
		count(world, 1, 0, USER_IO, 10 + second, 1000);
		take(world);
		if (second == 1)
			stats_reset(world->stats, world->fields);
	}
	assert_string_equal(picture(world, "reason rate"), "Total 0/s\n");
}

TEST(vcpus_that_do_nothing_are_in_order, setup, teardown)
{
	struct world *world = *state;

	set_view(world, &view_vcpus);
	assert_string_equal(picture(world, "guest vcpu rate kvm_percent top"),
			    "db1 0 - - -\ndb1 1 - - -\nweb1 0 - - -\nTotal - - - -\n");
}

TEST(vcpus_with_a_filter_count_its_reasons, setup, teardown)
{
	struct world *world = *state;

	set_view(world, &view_vcpus);
	usual(world);
	set_filter(world, "IO$|IO\\)");
	assert_string_equal(picture(world, "guest vcpu delta top"),
			    "db1 0 20 IO\ndb1 1 10 IO\nweb1 0 10 IO\nTotal - 40 -\n");
	set_filter(world, "vmexit");
	assert_string_equal(picture(world, "guest vcpu delta top"),
			    "db1 0 320 MSR_WRITE\ndb1 1 160 MSR_WRITE\nweb1 0 160 MSR_WRITE\n"
			    "Total - 640 -\n");
	assert_null(world->view.note);
	set_filter(world, "kvm_exit$");
	assert_string_equal(picture(world, "guest vcpu delta"),
			    "db1 0 320\ndb1 1 160\nweb1 0 160\nTotal - 640\n");
	set_filter(world, "userspace");
	assert_string_equal(picture(world, "guest vcpu delta top"),
			    "db1 0 20 IO\ndb1 1 10 IO\nweb1 0 10 IO\nTotal - 40 -\n");
	set_filter(world, "kvm_entry");
	build(world);
	assert_string_equal(world->view.note, "The filter matches no exit so far.");
}

TEST(vcpus_that_ended, setup, teardown)
{
	struct world *world = *state;

	set_view(world, &view_vcpus);
	usual(world);
	usual_vcpu(world, 1, 0, 6);
	usual_vcpu(world, 2, 0, 3);
	take(world); /* without vCPU 1 of db1; the inventory has not noticed */
	assert_string_equal(picture(world, "guest vcpu total delta"),
			    "db1 0 960 320\nweb1 0 480 160\ndb1 1 0 0\n(ended) - 320 0\n"
			    "Total - 1760 480\n");
	world->query.guest = 1;
	assert_string_equal(picture(world, "guest vcpu total"),
			    "db1 0 960\ndb1 1 0\nTotal - 960\n");
}

TEST(vcpus_by_one_reason, setup, teardown)
{
	struct world *world = *state;

	set_view(world, &view_vcpus);
	usual(world);
	world->query.has_reason = true;
	world->query.reason = IO;
	assert_string_equal(picture(world, "guest vcpu delta idle_percent top"),
			    "db1 0 20 38.0% IO\ndb1 1 10 38.0% IO\nweb1 0 10 38.0% IO\n"
			    "Total - 40 38.0% -\n");
	world->query.reason = HLT;
	assert_string_equal(picture(world, "guest vcpu delta top"),
			    "db1 0 100 HLT\ndb1 1 50 HLT\nweb1 0 50 HLT\nTotal - 200 -\n");
}

/* ---- exits */

TEST(exits_by_what_they_cost, setup, teardown)
{
	struct world *world = *state;

	set_view(world, &view_exits);
	usual(world);
	/* 400 MSRs of 1 ms in 4 s of the vCPUs' time; of halts KVM's work is a cost. */
	assert_string_equal(picture(world, "reason rate total_percent time_percent avg_ns p50_ns "
					   "p99_ns max_ns hist"),
			    "MSR_WRITE 400/s 62.5% 10.0% 1000000ns 762144ns 995243ns 1000000ns "
			    "hist of 400\n"
			    "IO 40/s 6.2% 10.0% 10000000ns 9194304ns 9983886ns 10000000ns "
			    "hist of 40\n"
			    "HLT 200/s 31.2% 2.0% 8000000ns 6097152ns 7961943ns 8000000ns "
			    "hist of 200\n"
			    "Total 640/s 100.0% 22.0% 3750000ns 943718ns 9742177ns 10000000ns hist "
			    "of 640\n");
	assert_true(world->view.rows[2].is_idle);
	assert_null(world->view.note);
	world->query.reverse = true;
	assert_string_equal(picture(world, "reason"), "HLT\nMSR_WRITE\nIO\nTotal\n");
	world->query.sort = (size_t)view_column_by_id(&view_exits, "avg_ns");
	assert_string_equal(picture(world, "reason"), "MSR_WRITE\nIO\nHLT\nTotal\n");
	world->query.reverse = false;
	assert_string_equal(picture(world, "reason"), "IO\nMSR_WRITE\nHLT\nTotal\n");
	/* By count they rank as all others. */
	world->query.sort = (size_t)view_column_by_id(&view_exits, "rate");
	assert_string_equal(picture(world, "reason"), "MSR_WRITE\nHLT\nIO\nTotal\n");
}

TEST(exits_of_one_vcpu, setup, teardown)
{
	struct world *world = *state;

	set_view(world, &view_exits);
	usual(world);
	world->query.guest = 1;
	world->query.has_vcpu = true;
	world->query.vcpu = 1;
	assert_string_equal(picture(world, "reason delta time_ns time_percent"),
			    "MSR_WRITE 100 100000000ns 10.0%\nIO 10 100000000ns 10.0%\n"
			    "HLT 50 400000000ns 2.0%\nTotal 160 600000000ns 22.0%\n");
}

TEST(exits_that_a_filter_selects, setup, teardown)
{
	struct world *world = *state;

	set_view(world, &view_exits);
	usual(world);
	set_filter(world, "^IO$"); /* what stands on the screen */
	assert_string_equal(picture(world, "reason delta total_percent"),
			    "IO 40 100.0%\nTotal 40 100.0%\n");
	set_filter(world, "vmexit\\(HLT");
	assert_string_equal(picture(world, "reason"), "HLT\nTotal\n");
}

TEST(an_exit_that_is_not_over_is_shown, setup, teardown)
{
	struct world *world = *state;
	struct timing timing = { .time_ns = SECOND };
	struct key key = { 1, 0, HLT };

	set_view(world, &view_exits);
	for (int i = 0; i < 2; i++) {
		live(world, 1, 0, TIME, 1000);
		live(world, 1, 0, VMEXIT, 1);
		sample_add_timed(&world->sample, key, 1, ROW_FROM_ZERO, &timing);
		timing.time_ns += SECOND;
		take(world);
	}
	assert_string_equal(picture(world, "reason delta rate time_ns avg_ns p50_ns max_ns"),
			    "HLT 0 0/s 1000000000ns - - -\nTotal 0 0/s 1000000000ns - - -\n");
}

/* Its bucket is 65,536 to 131,072 ns, and the longest of the interval is not known exactly. */
TEST(percentiles_of_a_single_exit_are_exact, setup, teardown)
{
	struct world *world = *state;
	struct timing timing = { .time_ns = 120000, .max_ns = 120000, .hist = { [10] = 1 } };

	set_view(world, &view_exits);
	for (int i = 0; i < 2; i++) {
		live(world, 1, 0, TIME, 1000);
		live(world, 1, 0, VMEXIT, 1);
		sample_add_timed(&world->sample, (struct key){ 1, 0, IO }, timing.hist[10],
				 ROW_FROM_ZERO, &timing);
		timing.time_ns += 70000;
		timing.hist[10]++;
		take(world);
	}
	assert_string_equal(picture(world, "reason avg_ns p50_ns p99_ns interval_max_ns"),
			    "IO 70000ns 70000ns 70000ns 120000ns\n"
			    "Total 70000ns 70000ns 70000ns 120000ns\n");
}

TEST(where_kvm_exit_never_fires, setup, teardown)
{
	struct world *world = *state;

	set_view(world, &view_exits);
	for (uint32_t second = 1; second <= 2; second++) {
		count(world, 1, 0, USERSPACE, 10 * second, 1000);
		count(world, 1, 0, USER_IO, 10 * second, 1000);
		take(world);
	}
	assert_string_equal(picture(world, "reason rate time_percent"),
			    "IO 10/s -\nTotal 10/s -\n");
	assert_non_null(world->view.note);
	/* A column of nothing but "-" is not there, and rates order the rows. */
	assert_false(view_has_column(&world->view, at(world, COL_TIME_SHARE)));
	assert_true(view_has_column(&world->view, at(world, COL_P99)));
	assert_int_equal(world->query.sort, at(world, COL_TIME_SHARE));
	assert_int_equal(world->view.sort, at(world, COL_RATE));
	/* And so the other views do. */
	set_view(world, &view_vcpus);
	assert_string_equal(picture(world, "guest vcpu rate top"),
			    "db1 0 10/s IO\ndb1 1 0/s -\nweb1 0 0/s -\nTotal - 10/s -\n");
}

TEST(zeros_are_for_programs, setup, teardown)
{
	struct world *world = *state;

	set_view(world, &view_exits);
	count(world, 1, 0, VMEXIT, 1, 1000);
	count(world, 1, 0, MSR, 1, 1000);
	count(world, 1, 0, IO, 0, 0);
	take(world);
	assert_string_equal(picture(world, "reason"), "MSR_WRITE\nTotal\n");
	world->query.zeros = true;
	assert_string_equal(picture(world, "reason hist"),
			    "MSR_WRITE hist of 1\nIO -\nTotal hist of 1\n");
}

/* ---- hot spots */

TEST(hot_spots_by_guest, setup, teardown)
{
	struct world *world = *state;

	set_view(world, &view_hotspots);
	usual(world);
	assert_string_equal(picture(world, "what argument guest rate time_percent avg_ns"),
			    "ioport 0x3f8 write 1 db1 30/s 7.5% 10000000ns\n"
			    "MSR_WRITE 0x6e0 TSC db1 270/s 6.8% 1000000ns\n"
			    "ioport 0x3f8 write 1 web1 10/s 2.5% 10000000ns\n"
			    "MSR_WRITE 0x6e0 TSC web1 90/s 2.2% 1000000ns\n"
			    "MSR_WRITE 0x80b EOI db1 30/s 0.8% 1000000ns\n"
			    "MSR_WRITE 0x80b EOI web1 10/s 0.2% 1000000ns\n"
			    "Total - - 440/s 20.0% -\n");
	assert_int_equal(world->view.rows[0].field, PORT);
	assert_int_equal(world->view.rows[0].guest, 1);
	/* The shares are of the time of all that is shown, as in the view of exits. */
	world->query.guest = 2;
	assert_string_equal(picture(world, "what guest time_percent"),
			    "ioport web1 10.0%\nMSR_WRITE web1 9.0%\nMSR_WRITE web1 1.0%\n"
			    "Total - 20.0%\n");
}

TEST(hot_spots_of_one_exit, setup, teardown)
{
	struct world *world = *state;

	set_view(world, &view_hotspots);
	usual(world);
	world->query.guest = 1;
	world->query.has_vcpu = true;
	world->query.vcpu = 0;
	world->query.has_reason = true;
	world->query.reason = MSR;
	assert_string_equal(picture(world, "what argument total"),
			    "MSR_WRITE 0x6e0 TSC 360\nMSR_WRITE 0x80b EOI 40\nTotal - 400\n");
	world->query.reason = HLT;
	assert_string_equal(picture(world, "what"), "Total\n");
	world->query.has_reason = false;
	set_filter(world, "0x80b");
	assert_string_equal(picture(world, "argument"), "0x80b EOI\n-\n");
}

/* ---- kvmtop exits */

/* There an argument is of no reason, but I/O and MMIO that user space answers have no others. */
TEST(hot_spots_where_kvm_exit_never_fires, setup, teardown)
{
	struct world *world = *state;

	set_view(world, &view_hotspots);
	usual(world);
	world->query.has_reason = true;
	world->query.reason = USER_IO;
	assert_string_equal(picture(world, "what argument delta"),
			    "ioport 0x3f8 write 1 30\nioport 0x3f8 write 1 10\nTotal - 40\n");
	world->query.reason = IO;
	assert_int_equal(build(world)->nr_rows, 0);
}

TEST(totals_by_vcpu_and_reason, setup, teardown)
{
	struct world *world = *state;
	const struct vcpu_key only = { 1, 1 };

	set_totals(world, GROUP_ALL, 2);
	usual(world);
	world->query.guest = 1;
	assert_string_equal(picture(world, "pid vcpu reason total total_percent"),
			    "4000 0 MSR_WRITE 400 41.7%\n4000 0 HLT 200 20.8%\n"
			    "4000 1 MSR_WRITE 200 20.8%\n4000 1 HLT 100 10.4%\n"
			    "4000 0 IO 40 4.2%\n4000 1 IO 20 2.1%\n- - Total 960 100.0%\n");
	world->query.groups = GROUP_GUEST | GROUP_REASON;
	assert_string_equal(picture(world, "pid vcpu reason total time_ns time_percent avg_ns "
					   "p50_ns min_ns max_ns"),
			    "4000 - MSR_WRITE 600 600000000ns 10.0% 1000000ns 762144ns 524288ns "
			    "1000000ns\n"
			    "4000 - HLT 300 2400000000ns 2.0% 8000000ns 6097152ns 4194304ns "
			    "8000000ns\n"
			    "4000 - IO 60 600000000ns 10.0% 10000000ns 9194304ns 8388608ns "
			    "10000000ns\n"
			    "- - Total 960 3600000000ns 22.0% 3750000ns 943718ns 524288ns "
			    "10000000ns\n");
	world->query.groups = GROUP_ALL;
	world->query.guest = GUEST_ALL;
	world->query.only = &only;
	world->query.nr_only = 1;
	assert_string_equal(picture(world, "pid vcpu reason time_percent"),
			    "4000 1 MSR_WRITE 10.0%\n4000 1 HLT 2.0%\n4000 1 IO 10.0%\n"
			    "- - Total 22.0%\n");
}

/* A report's: one interval, and rows with fewer differences. */
TEST(totals_by_less, setup, teardown)
{
	struct world *world = *state;

	set_totals(world, GROUP_REASON, 2);
	world->facts.is_span = true;
	usual(world);
	assert_string_equal(picture(world, "reason guest total total_percent time_percent max_ns"),
			    "MSR_WRITE - 800 62.5% 10.0% 1000000ns\n"
			    "HLT - 400 31.2% 2.0% 8000000ns\n"
			    "IO - 80 6.2% 10.0% 10000000ns\n"
			    "Total - 1280 100.0% 22.0% 10000000ns\n");
	world->query.groups = GROUP_GUEST;
	assert_string_equal(picture(world, "reason guest vcpu total time_percent idle_percent"),
			    "- db1 - 960 22.0% 38.0%\n- web1 - 320 22.0% 38.0%\n"
			    "Total - - 1280 22.0% 38.0%\n");
	world->query.groups = GROUP_GUEST | GROUP_VCPU;
	world->query.event = EXITS_USERSPACE;
	assert_string_equal(picture(world, "guest vcpu total avg_ns"),
			    "db1 0 40 9000000ns\ndb1 1 20 9000000ns\nweb1 0 20 9000000ns\n"
			    "- - 80 9000000ns\n");
}

TEST(totals_of_arguments, setup, teardown)
{
	struct world *world = *state;

	set_totals(world, GROUP_ALL, 2);
	build(world);
	assert_false(field_set_has(&world->wanted, MSR_TSC));
	world->query.event = EXITS_MSR;
	world->query.guest = 2;
	build(world);
	assert_true(field_set_has(&world->wanted, MSR_TSC));
	assert_false(field_set_has(&world->wanted, PORT));
	usual(world);
	assert_string_equal(picture(world, "pid reason total"),
			    "5000 MSR_WRITE 0x6e0 TSC 180\n5000 MSR_WRITE 0x80b EOI 20\n"
			    "- Total 200\n");
}

TEST(totals_of_guests_that_ended, setup, teardown)
{
	struct world *world = *state;

	set_totals(world, GROUP_ALL, 2);
	usual(world);
	take(world);
	assert_string_equal(picture(world, "guest pid reason total"),
			    "(ended) - MSR_WRITE 800\n(ended) - HLT 400\n(ended) - IO 80\n"
			    "- - Total 1280\n");
}

/* ---- the summary */

TEST(summary_of_the_host, setup, teardown)
{
	struct world *world = *state;
	struct exits_summary summary;

	set_view(world, &view_vcpus);
	build(world);
	summary = exits_summarize(&world->facts, GUEST_NONE);
	assert_null(summary.name);
	usual(world);
	summary = exits_summarize(&world->facts, GUEST_NONE);
	assert_string_equal(summary.name, "vmexit");
	assert_true(summary.all.exits.rate_per_s > 639 && summary.all.exits.rate_per_s < 641);
	assert_true(summary.all.time[TIME_GUEST].nr_rates);
	assert_int_equal(summary.all.time[TIME_WHOLE].delta, 4 * SECOND);
	assert_int_equal(summary.all.time[TIME_IDLE].delta, 1520 * UINT64_C(1000000));
	assert_int_equal(summary.guest, 1);
	assert_int_equal(summary.reason, MSR);
	assert_true(summary.rate_per_s > 299 && summary.rate_per_s < 301);
}

TEST(summary_of_one_guest, setup, teardown)
{
	struct world *world = *state;
	struct exits_summary summary;

	set_view(world, &view_vcpus);
	build(world);
	usual(world);
	summary = exits_summarize(&world->facts, 2);
	assert_string_equal(summary.name, "vmexit");
	assert_true(summary.all.exits.rate_per_s > 159 && summary.all.exits.rate_per_s < 161);
	assert_int_equal(summary.all.time[TIME_WHOLE].delta, SECOND);
	assert_int_equal(summary.guest, 2);
}
