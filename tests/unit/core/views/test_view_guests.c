// SPDX-License-Identifier: GPL-2.0-or-later
/* The Guests view: the exits that are shown, the sums of a filter, and guests that ended. */
#include <math.h>

#include "lib/array.h"
#include "tests/unit/unit.h"
#include "tests/worlds/view_world.h"

enum { DEBUGFS_EXITS, PAGES, EXIT, EXIT_HLT, EXIT_MSR, USER, PIO, NR_FIELDS };

static const struct field specs[] = {
	[DEBUGFS_EXITS] = { .name = "exits", .parent = FIELD_NONE, .source = 0, .exit_rank = 1 },
	[PAGES] = { .name = "pages_4k", .parent = FIELD_NONE, .kind = FIELD_GAUGE },
	[EXIT] = { .name = "kvm_exit", .parent = FIELD_NONE, .source = 1, .exit_rank = 1 },
	[EXIT_HLT] = { .name = "kvm_exit(HLT)", .parent = EXIT, .source = 1 },
	[EXIT_MSR] = { .name = "kvm_exit(MSR)", .parent = EXIT, .source = 1 },
	[USER] = { .name = "kvm_userspace_exit", .parent = FIELD_NONE, .source = 1,
		   .exit_rank = 2 },
	[PIO] = { .name = "kvm_pio", .parent = FIELD_NONE, .source = 1 },
};

static int setup(void **state)
{
	return world_setup(state, specs, NR_FIELDS, &view_guests);
}

static void two_guests(struct world *world)
{
	assert_int_equal(guests_add_fake(world->guests, 4000, "db1", 8), 1);
	assert_int_equal(guests_add_fake(world->guests, 5000, "web1", 2), 2);
}

/* These columns of each row, then of the row Total. */
static const char *picture(struct world *world)
{
	static const char *const names[] = { "guest", "pid", "vcpus", "total", "total_percent",
					     "delta", "rate", NULL };
	const struct view *view = build(world);
	size_t len = 0;

	for (size_t i = 0; i <= view->nr_rows; i++) {
		const struct view_row *row = i < view->nr_rows ? &view->rows[i] : &view->total;

		for (size_t j = 0; names[j]; j++) {
			int column = view_column_by_id(&view_guests, names[j]);

			len += (size_t)sprintf(world->text + len, "%s", j ? " " : "");
			len += put_cell(world->text + len, &row->cells[column]);
		}
		len += (size_t)sprintf(world->text + len, "\n");
	}
	return world->text;
}

TEST(no_guests, setup, teardown)
{
	struct world *world = *state;

	assert_string_equal(picture(world), "Total - - 0 - 0 -\n");
	count_in(world, GUEST_NONE, EXIT, 10); /* the host's keys are no guest's */
	take(world);
	assert_string_equal(picture(world), "Total - - 0 - 0 -\n");
}

TEST(guests_that_nothing_counted_for, setup, teardown)
{
	struct world *world = *state;

	two_guests(world);
	assert_string_equal(picture(world), "db1 4000 8 - - - -\n"
					    "web1 5000 2 - - - -\n"
					    "Total - - 0 - 0 -\n");
	assert_string_equal(
		world->view.rows[0].cells[view_column_by_id(&view_guests, "vmm")].text, "qemu");
}

TEST(flaw_E6_guests_by_tracepoints, setup, teardown)
{
	struct world *world = *state;

	two_guests(world);
	for (uint64_t i = 1; i <= 2; i++) {
		count_in(world, 1, EXIT, 300 * i);
		count_in(world, 2, EXIT, 100 * i);
		count_in(world, 2, PAGES, 77);
		take(world);
	}
	assert_string_equal(picture(world), "db1 4000 8 600 75.0% 300 300/s\n"
					    "web1 5000 2 200 25.0% 100 100/s\n"
					    "Total - - 800 - 400 400/s\n");
	assert_int_equal(world->view.rows[0].guest, 1);
	assert_int_equal(world->view.rows[0].field, FIELD_NONE);
	assert_false(world->view.rows[0].is_gone || world->view.rows[0].can_open);
	assert_int_equal(world->view.rows[0].cells[view_column_by_id(&view_guests, "history")].type,
			 CELL_SPARK);
}

TEST(vcpus_of_a_guest_add_up, setup, teardown)
{
	struct world *world = *state;

	two_guests(world);
	for (int32_t vcpu = 0; vcpu < 8; vcpu++) {
		struct key key = { 1, vcpu, EXIT };

		sample_add(&world->sample, key, 10, ROW_FROM_ZERO);
	}
	take(world);
	assert_non_null(strstr(picture(world), "db1 4000 8 80 100.0% 80 -\n"));
}

/* Exits, not exits and their parts: kvm_userspace_exit is among kvm_exit. */
TEST(flaw_B12_one_counter_of_exits_is_chosen, setup, teardown)
{
	struct world *world = *state;

	two_guests(world);
	count_in(world, 1, EXIT, 100);
	count_in(world, 1, USER, 90);
	count_in(world, 1, PIO, 80);
	take(world);
	assert_non_null(strstr(picture(world), "db1 4000 8 100 100.0%"));
}

TEST(falls_back_where_kvm_exit_never_counts, setup, teardown)
{
	struct world *world = *state;

	two_guests(world);
	for (uint64_t i = 1; i <= 2; i++) {
		for (uint32_t guest = 1; guest <= 2; guest++) {
			count_in(world, guest, EXIT, 0);
			count_in(world, guest, USER, 50 * guest * i);
		}
		take(world);
	}
	assert_string_equal(picture(world), "web1 5000 2 200 66.7% 100 100/s\n"
					    "db1 4000 8 100 33.3% 50 50/s\n"
					    "Total - - 300 - 150 150/s\n");
	/* Still so in the moment of a reset. */
	stats_reset(world->stats, world->fields);
	assert_string_equal(picture(world), "web1 5000 2 0 - 100 100/s\n"
					    "db1 4000 8 0 - 50 50/s\n"
					    "Total - - 0 - 150 150/s\n");
}

TEST(of_two_providers_the_first_is_chosen, setup, teardown)
{
	struct world *world = *state;

	two_guests(world);
	count_in(world, 1, DEBUGFS_EXITS, 0);
	count_in(world, 1, EXIT, 100);
	take(world);
	assert_non_null(strstr(picture(world), "db1 4000 8 100 100.0%"));
	count_in(world, 1, DEBUGFS_EXITS, 7);
	count_in(world, 1, EXIT, 100);
	take(world);
	assert_non_null(strstr(picture(world), "db1 4000 8 7 100.0%"));
}

TEST(exits_that_are_all_zero_are_zero, setup, teardown)
{
	struct world *world = *state;

	two_guests(world);
	count_in(world, 1, EXIT, 0);
	count_in(world, 1, USER, 0);
	take(world);
	assert_non_null(strstr(picture(world), "db1 4000 8 0 - 0 -\n"));
}

TEST(a_filter_adds_up_what_it_names, setup, teardown)
{
	struct world *world = *state;

	two_guests(world);
	set_filter(world, "pio|userspace|pages");
	count_in(world, 1, EXIT, 1000);
	count_in(world, 1, USER, 20);
	count_in(world, 1, PIO, 3);
	count_in(world, 1, PAGES, 7);
	count_in(world, GUEST_NONE, PIO, 500);
	take(world);
	assert_non_null(strstr(picture(world), "db1 4000 8 23 100.0%"));
	assert_null(world->view.note);
}

TEST(events_of_the_host_are_of_no_guest, setup, teardown)
{
	struct world *world = *state;

	set_filter(world, "pio");
	count_in(world, GUEST_NONE, PIO, 500);
	take(world);
	build(world);
	assert_null(world->view.note);
	assert_string_equal(world->view.lacks, "No guest is running.");
	world->facts.source = SOURCE_RECORDING;
	build(world);
	assert_string_equal(world->view.lacks, "The recording has no guest.");
	world->facts.source = SOURCE_LIVE;
	two_guests(world);
	build(world);
	assert_null(world->view.lacks);
	assert_string_equal(world->view.note,
			    "These events were counted for the whole host only.");
}

TEST(a_filter_of_reasons_counts_those_only, setup, teardown)
{
	struct world *world = *state;

	two_guests(world);
	for (uint32_t guest = 1; guest <= 2; guest++) {
		count_in(world, guest, EXIT, 100);
		count_in(world, guest, EXIT_HLT, 10 * guest);
		count_in(world, guest, EXIT_MSR, 5);
	}
	take(world);
	set_filter(world, "HLT");
	assert_string_equal(order(world), "web1 db1");
	assert_non_null(strstr(picture(world), "Total - - 30 -"));
	set_filter(world, "HLT|MSR");
	assert_non_null(strstr(picture(world), "Total - - 40 -"));
	/* The event itself has its reasons in it already. */
	set_filter(world, "kvm_exit");
	assert_non_null(strstr(picture(world), "Total - - 200 -"));
	world->query.children = true;
	assert_non_null(strstr(picture(world), "Total - - 200 -"));
	set_filter(world, "exit|HLT\\)");
	assert_non_null(strstr(picture(world), "Total - - 200 -"));
}

TEST(flaw_B4_the_ended_have_a_row_of_their_own, setup, teardown)
{
	struct world *world = *state;

	two_guests(world);
	for (uint64_t i = 1; i <= 2; i++) {
		count_in(world, 1, EXIT, 10 * i);
		count_in(world, 2, EXIT, 20 * i);
		count_in(world, 3, EXIT, 500 * i); /* ended: not in the inventory */
		take(world);
	}
	assert_string_equal(picture(world), "web1 5000 2 40 3.8% 20 20/s\n"
					    "db1 4000 8 20 1.9% 10 10/s\n"
					    "(ended) - - 1000 94.3% 500 500/s\n"
					    "Total - - 1060 - 530 530/s\n");
	count_in(world, 1, EXIT, 30);
	count_in(world, 2, EXIT, 60);
	take(world);
	assert_string_equal(picture(world), "web1 5000 2 60 5.5% 20 20/s\n"
					    "db1 4000 8 30 2.8% 10 10/s\n"
					    "(ended) - - 1000 91.7% 0 0/s\n"
					    "Total - - 1090 - 30 30/s\n");
	assert_int_equal(world->view.rows[2].guest, STATS_ENDED);
	assert_true(world->view.rows[2].is_gone && world->view.rows[2].is_rest);
}

TEST(the_ended_are_last_in_every_order, setup, teardown)
{
	struct world *world = *state;

	two_guests(world);
	count_in(world, 1, EXIT, 10);
	count_in(world, 2, EXIT, 20);
	count_in(world, 3, EXIT, 15);
	take(world);
	for (size_t i = 0; i < 2 * view_columns(&view_guests); i++) {
		world->query.sort = i / 2;
		world->query.reverse = i % 2;
		build(world);
		assert_int_equal(world->view.nr_rows, 3);
		assert_string_equal(world->view.rows[2].cells[0].text, "(ended)");
	}
}

TEST(the_total_is_of_the_guests_shown, setup, teardown)
{
	struct world *world = *state;

	two_guests(world);
	count_in(world, 1, EXIT, 10);
	count_in(world, 2, EXIT, 30);
	count_in(world, 3, EXIT, 60);
	take(world);
	world->query.guest = 2;
	assert_string_equal(picture(world), "web1 5000 2 30 30.0% 30 -\n"
					    "Total - - 30 - 30 -\n");
}

TEST(sorts_by_every_column, setup, teardown)
{
	static const struct {
		const char *column, *down, *up;
	} cases[] = {
		{ "guest", "a b c", "c b a" },	 { "pid", "b a c", "c a b" },
		{ "vcpus", "a c b", "b c a" },	 { "total", "c b a", "a b c" },
		{ "total_percent", "c b a", "a b c" },	 { "delta", "c a b", "b a c" },
		{ "rate", "c a b", "b a c" },	 { "history", "c a b", "c a b" },
	};
	struct world *world = *state;

	guests_add_fake(world->guests, 300, "b", 1);
	guests_add_fake(world->guests, 200, "a", 3);
	guests_add_fake(world->guests, 100, "c", 2);
	for (uint64_t i = 0; i < 2; i++) {
		count_in(world, 1, EXIT, 100 + i);
		count_in(world, 2, EXIT, 50 + 2 * i);
		count_in(world, 3, EXIT, 200 + 3 * i);
		take(world);
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		world->query.sort = (size_t)view_column_by_id(&view_guests, cases[i].column);
		world->query.reverse = false;
		assert_string_equal(order(world), cases[i].down);
		world->query.reverse = true;
		assert_string_equal(order(world), cases[i].up);
	}
}

TEST(twins_keep_their_order, setup, teardown)
{
	struct world *world = *state;

	for (int i = 0; i < 100; i++)
		guests_add_fake(world->guests, 1000 + i * 37 % 100, "twin", 1);
	for (int reverse = 0; reverse < 2; reverse++) {
		world->query.reverse = reverse;
		build(world);
		for (uint64_t i = 0; i < 100; i++)
			assert_int_equal(world->view.rows[i].cells[1].count, 1099 - i);
	}
}

/*
 * Of a host a counter is the sum of all vCPUs: here of ten, which waited 4 s of their 10 s. The
 * waits are a part of their time, and there are waits by the scheduler beside it.
 */
TEST(throttled_of_a_host_is_a_share_of_its_vcpus, setup, teardown)
{
	static const struct field host_specs[] = {
		{ .name = "time", .parent = FIELD_NONE, .use = USE_TIME, .part = TIME_WHOLE },
		{ .name = "wait", .parent = FIELD_NONE, .use = USE_TIME, .part = TIME_WAIT },
		{ .name = "guest", .parent = FIELD_NONE, .use = USE_TIME, .part = TIME_GUEST },
		{ .name = "waited", .parent = FIELD_NONE, .use = USE_HOST, .part = HOST_WAITED },
		{ .name = "throttled", .parent = FIELD_NONE, .use = USE_HOST,
		  .part = HOST_THROTTLED },
	};
	const struct view *view;
	struct world *world;
	int wait, throttled;

	teardown(state);
	world_setup(state, host_specs, ARRAY_SIZE(host_specs), &view_hosts);
	world = *state;
	wait = view_column_by_id(&view_hosts, "wait_percent");
	throttled = view_column_by_id(&view_hosts, "throttled_percent");
	assert_int_equal(guests_add_fake(world->guests, 4000, "kvm1", 0), 1);
	for (uint64_t i = 1; i <= 2; i++) {
		count_in(world, 1, 0, 10 * i * SECOND);
		count_in(world, 1, 1, 4 * i * SECOND);
		count_in(world, 1, 2, 6 * i * SECOND);
		count_in(world, 1, 3, 4 * i * SECOND);
		count_in(world, 1, 4, 1 * i * SECOND);
		take(world);
	}
	view = build(world);
	assert_true(fabs(view->rows[0].cells[wait].number - 40) < 0.01);
	assert_true(fabs(view->rows[0].cells[throttled].number - 10) < 0.01);
	assert_true(fabs(view->total.cells[throttled].number - 10) < 0.01);
}

/* One of two vCPUs has a quota: the guest's share is of both. */
TEST(throttled_of_a_guest_is_a_share_of_all_vcpus, setup, teardown)
{
	static const struct field vcpu_specs[] = {
		{ .name = "waited", .parent = FIELD_NONE, .use = USE_HOST, .part = HOST_WAITED },
		{ .name = "throttled", .parent = FIELD_NONE, .use = USE_HOST,
		  .part = HOST_THROTTLED },
	};
	const struct view *view;
	struct world *world;
	int throttled = view_column_by_id(&view_guests, "throttled_percent");

	teardown(state);
	world_setup(state, vcpu_specs, ARRAY_SIZE(vcpu_specs), &view_guests);
	world = *state;
	assert_int_equal(guests_add_fake(world->guests, 4000, "db1", 2), 1);
	for (uint64_t i = 1; i <= 2; i++) {
		for (int32_t vcpu = 0; vcpu < 2; vcpu++)
			sample_add(&world->sample, (struct key){ 1, vcpu, 0 },
						    i * SECOND / 2, 0);
		sample_add(&world->sample, (struct key){ 1, 0, 1 },
					    i * SECOND / 5, 0);
		take(world);
	}
	view = build(world);
	assert_true(fabs(view->rows[0].cells[throttled].number - 10) < 0.01);
}

/* The clock is read before the times: a thread's may be of a bit more than the interval. */
TEST(no_share_is_above_all, setup, teardown)
{
	static const struct field vcpu_specs[] = {
		{ .name = "waited", .parent = FIELD_NONE, .use = USE_HOST, .part = HOST_WAITED },
		{ .name = "run", .parent = FIELD_NONE, .use = USE_HOST, .part = HOST_RUN },
	};
	int wait = view_column_by_id(&view_guests, "wait_percent");
	int cpu = view_column_by_id(&view_guests, "cpu_percent");
	const struct view *view;
	struct world *world;

	teardown(state);
	world_setup(state, vcpu_specs, ARRAY_SIZE(vcpu_specs), &view_guests);
	world = *state;
	assert_int_equal(guests_add_fake(world->guests, 4000, "db1", 2), 1);
	for (uint64_t i = 1; i <= 2; i++) {
		for (int32_t vcpu = 0; vcpu < 2; vcpu++) {
			sample_add(&world->sample, (struct key){ 1, vcpu, 0 },
						    i * SECOND / 100 * 102, 0);
			sample_add(&world->sample, (struct key){ 1, vcpu, 1 },
						    i * SECOND / 100 * 103, 0);
		}
		take(world);
	}
	view = build(world);
	assert_true(fabs(view->rows[0].cells[wait].number - 100) < 0.001);
	assert_true(fabs(view->rows[0].cells[cpu].number - 200) < 0.001);
	assert_true(fabs(view->total.cells[wait].number - 100) < 0.001);
}

enum { EXITS, WHOLE, WAITED, RAN };

static const struct field specs_of_two_sources[] = {
	[EXITS] = { .name = "vmexit", .parent = FIELD_NONE, .use = USE_EXIT, .exit_rank = 1 },
	[WHOLE] = { .name = "time", .parent = FIELD_NONE, .use = USE_TIME, .part = TIME_WHOLE },
	[WAITED] = { .name = "waited", .parent = FIELD_NONE, .use = USE_HOST, .part = HOST_WAITED,
		     .source = 1 },
	[RAN] = { .name = "run", .parent = FIELD_NONE, .use = USE_HOST, .part = HOST_RUN,
		  .source = 1 },
};

/* The first source is read each second, the other one has its second reading half a second late. */
static void count_two_sources(struct world *world)
{
	assert_int_equal(guests_add_fake(world->guests, 4000, "db1", 1), 1);
	for (uint64_t i = 1; i <= 2; i++) {
		uint64_t late = i == 2 ? SECOND / 2 : 0;
		const uint64_t counts[] = {
			[EXITS] = 1000 * i,
			[WHOLE] = i * SECOND,
			[WAITED] = (i * SECOND + late) * 6 / 10,
			[RAN] = (i * SECOND + late) * 4 / 10,
		};

		for (uint32_t field = 0; field < ARRAY_SIZE(counts); field++)
			sample_add(&world->sample, (struct key){ 1, 0, field },
						    counts[field], 0);
		world->sample.time_ns[0] = i * SECOND;
		world->sample.time_ns[1] = i * SECOND + late;
		stats_update(world->stats, world->fields, &world->sample);
		sample_reset(&world->sample);
	}
}

/* In the interval in which a thread ends it is not known how long it ran and waited. */
TEST(what_an_ended_thread_waited_is_not_known, setup, teardown)
{
	int wait = view_column_by_id(&view_vcpus, "wait_percent");
	int cpu = view_column_by_id(&view_vcpus, "cpu_percent");
	struct world *world;

	teardown(state);
	world_setup(state, specs_of_two_sources, ARRAY_SIZE(specs_of_two_sources), &view_vcpus);
	world = *state;
	world->stats->guests = world->guests;
	assert_int_equal(guests_add_fake(world->guests, 4000, "db1", 2), 1);
	for (uint64_t i = 1; i <= 4; i++) {
		for (int32_t vcpu = 0; vcpu < 2; vcpu++) {
			bool has_ended = vcpu == 1 && i > 2; /* the exits' last counts are known */
			const uint64_t counts[] = { 10 * i, i * SECOND, i * SECOND * 7 / 10,
						    i * SECOND * 3 / 10 };

			for (uint32_t field = 0; field < (has_ended ? WAITED : 4u); field++)
				sample_add(&world->sample,
							    (struct key){ 1, vcpu, field },
							    counts[field], 0);
		}
		take(world);
		if (i == 1)
			continue;
		build(world);
		assert_int_equal(world->view.nr_rows, 2);
		for (size_t j = 0; j < 2; j++) {
			const struct view_row *row = &world->view.rows[j];
			bool is_known = row->vcpu == 0 || i == 2;

			assert_int_equal(row->cells[wait].type,
					 is_known ? CELL_PERCENT : CELL_NONE);
			assert_int_equal(row->cells[cpu].type,
					 is_known ? CELL_PERCENT : CELL_NONE);
		}
		assert_true(fabs(world->view.total.cells[wait].number - 70) < 0.01);
	}
}

/* The wait is a share of the interval in which it was measured, and not of the exits'. */
TEST(shares_are_of_their_own_interval, setup, teardown)
{
	const struct view_type *const types[] = { &view_guests, &view_vcpus };

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		int wait = view_column_by_id(types[i], "wait_percent");
		int cpu = view_column_by_id(types[i], "cpu_percent");
		const struct view_row *rows[2];
		struct world *world;

		teardown(state);
		world_setup(state, specs_of_two_sources, ARRAY_SIZE(specs_of_two_sources),
			    types[i]);
		world = *state;
		count_two_sources(world);
		rows[0] = &build(world)->rows[0];
		rows[1] = &world->view.total;
		for (int j = 0; j < 2; j++) {
			assert_true(fabs(rows[j]->cells[wait].number - 60) < 0.01);
			assert_true(fabs(rows[j]->cells[cpu].number - 40) < 0.01);
		}
	}
}

/* Whichever source a view counts by: its rate is the difference by the interval that it names. */
TEST(rates_are_of_the_interval_that_is_named, setup, teardown)
{
	const struct view_type *const types[] = { &view_guests, &view_vcpus, &view_exits };

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct field late[ARRAY_SIZE(specs_of_two_sources)];
		const struct view_row *total;
		const struct view *view;
		struct world *world;

		teardown(state);
		memcpy(late, specs_of_two_sources, sizeof(late));
		for (size_t j = 0; j < ARRAY_SIZE(late); j++) /* exits have the late one */
			late[j].source = !late[j].source;
		world_setup(state, late, ARRAY_SIZE(late), types[i]);
		world = *state;
		count_two_sources(world);
		view = build(world);
		total = &view->total;
		assert_int_equal(view->elapsed_ns, SECOND * 3 / 2);
		assert_true(fabs(total->cells[view_column_by_id(types[i], "rate")].number * 1.5 -
				 (double)total->cells[view_column_by_id(types[i], "delta")].count) <
			    0.01);
	}
}
