// SPDX-License-Identifier: GPL-2.0-or-later
/* The Who view: rows of waits, and what had the CPU below them. */
#include <math.h>

#include "tests/unit/unit.h"
#include "tests/worlds/view_world.h"

#define MS UINT64_C(1000000)

enum { CPU, EXITS, WAITS, PREEMPTED, IN_KERNEL, OWN, MAKE, SED, CAT, IDLE, KERNEL, NR_FIELDS };

#define RAN(text, of, kind) \
	{ .name = "waits(" text ")", .label = (text), .alias = (of), .parent = WAITS, \
	  .use = USE_WAIT, .part = (kind) }

static const struct field specs[] = {
	[CPU] = { .name = "host_cpu", .parent = FIELD_NONE, .use = USE_HOST, .part = HOST_CPU,
		  .source = 1 },
	[EXITS] = { .name = "vmexit", .parent = FIELD_NONE, .use = USE_EXIT, .exit_rank = 1,
		    .source = 1 },
	[WAITS] = { .name = "waits", .parent = FIELD_NONE, .use = USE_WAIT },
	[PREEMPTED] = { .name = "preempted", .parent = FIELD_NONE, .use = USE_WAIT,
			.part = WAIT_PREEMPTED },
	[IN_KERNEL] = { .name = "preempted_in_kernel", .parent = FIELD_NONE, .use = USE_WAIT,
			.part = WAIT_IN_KERNEL },
	[OWN] = RAN("vCPU 1", "db1", WAIT_OWN),
	[MAKE] = RAN("make", "make", WAIT_PROCESS),
	[SED] = RAN("sed", "sed", WAIT_PROCESS),
	[CAT] = RAN("cat", "cat", WAIT_PROCESS),
	[IDLE] = RAN("idle", NULL, WAIT_IDLE),
	[KERNEL] = RAN("kworker", NULL, WAIT_KERNEL),
};

static int setup(void **state)
{
	struct world *world;

	world_setup(state, specs, NR_FIELDS, &view_who);
	world = *state;
	assert_int_equal(guests_add_fake(world->guests, 4000, "db1", 2), 1);
	take(world); /* an interval begins here */
	return 0;
}

static void waited(struct world *world, uint32_t field, uint64_t nr, uint64_t ns)
{
	const struct timing timing = { .time_ns = ns, .max_ns = ns };

	sample_add_timed(&world->sample, (struct key){ 1, 0, field }, nr, ROW_NEW, &timing);
}

/* 400 ms, of which sed has 3 and cat has 2. */
static void a_second(struct world *world)
{
	waited(world, WAITS, 40, 400 * MS);
	waited(world, OWN, 30, 300 * MS);
	waited(world, MAKE, 8, 95 * MS);
	waited(world, SED, 3, 3 * MS);
	waited(world, CAT, 2, 2 * MS);
	take(world);
}

/* "name time, ..." */
static const char *rows(struct world *world)
{
	const struct view *view = build(world);
	int time = view_column_by_id(&view_who, "time_ns");
	size_t len = 0;

	world->text[0] = '\0';
	for (size_t i = 0; i < view->nr_rows; i++) {
		len += (size_t)sprintf(world->text + len, "%s%s ", i ? ", " : "",
				       view->rows[i].cells[0].text);
		len += put_cell(world->text + len, &view->rows[i].cells[time]);
	}
	return world->text;
}

/* Its interval is the waits', whatever else is counted: rates and shares are of it. */
TEST(interval_is_that_of_waits, setup, teardown)
{
	struct world *world = *state;
	const struct view *view;
	int rate = view_column_by_id(&view_who, "rate");

	count_in(world, 1, EXITS, 10);
	waited(world, WAITS, 40, 400 * MS);
	world->sample.time_ns[0] = world->now_ns + SECOND / 2;
	world->sample.time_ns[1] = world->now_ns + SECOND;
	stats_update(world->stats, world->fields, &world->sample);
	sample_reset(&world->sample);
	view = build(world);
	assert_int_equal(view->elapsed_ns, SECOND / 2);
	assert_int_equal((int)view->rows[0].cells[rate].number, 80);
}

/* What is not there is absent, as everywhere. */
TEST(what_is_no_thread_has_none, setup, teardown)
{
	struct world *world = *state;
	int owner = view_column_by_id(&view_who, "owner");
	int thread = view_column_by_id(&view_who, "thread");
	const struct view *view;

	waited(world, WAITS, 40, 400 * MS);
	waited(world, MAKE, 8, 95 * MS);
	waited(world, IDLE, 8, 305 * MS);
	take(world);
	assert_string_equal(rows(world), "db1 vCPU 0 400000000ns, idle 305000000ns, "
					 "make 95000000ns");
	view = &world->view;
	assert_int_equal(view->rows[0].cells[thread].type, CELL_NONE);
	assert_int_equal(view->rows[1].cells[thread].type, CELL_NONE);
	assert_int_equal(view->rows[1].cells[owner].type, CELL_NONE);
	assert_string_equal(view->rows[2].cells[thread].text, "make");
}

/* Rows below a vCPU add up to its waits, also without the small ones. */
TEST(small_ones_are_a_row, setup, teardown)
{
	struct world *world = *state;

	a_second(world);
	assert_string_equal(rows(world), "db1 vCPU 0 400000000ns, vCPU 1 300000000ns, "
					 "make 95000000ns, "
					 "2 others 5000000ns");
	assert_true(world->view.rows[3].is_rest && world->view.rows[3].depth == 1);
	world->query.children = true;
	assert_string_equal(rows(world), "db1 vCPU 0 400000000ns, vCPU 1 300000000ns, "
					 "make 95000000ns, "
					 "sed 3000000ns, cat 2000000ns");
	world->query.children = false;
	set_filter(world, "cat");
	assert_string_equal(rows(world), "db1 vCPU 0 400000000ns, cat 2000000ns");
	set_filter(world, NULL);
	assert_null(world->view.note);
	a_second(world); /* the same sums: nothing has waited since */
	assert_string_equal(rows(world), "db1 vCPU 0 0ns");
}

/* A screen with too many rows names the first few of each vCPU, whatever was asked for. */
TEST(a_screen_names_a_few, setup, teardown)
{
	struct world *world = *state;

	waited(world, WAITS, 60, 1000 * MS);
	waited(world, OWN, 10, 100 * MS);
	waited(world, MAKE, 10, 90 * MS);
	waited(world, SED, 10, 250 * MS);
	waited(world, CAT, 10, 240 * MS);
	waited(world, IDLE, 10, 220 * MS);
	waited(world, KERNEL, 10, 130 * MS);
	take(world);
	world->query.children = true;
	world->query.most_rows = 6;
	assert_string_equal(rows(world), "db1 vCPU 0 1000000000ns, sed 250000000ns, "
					 "cat 240000000ns, idle 220000000ns, kworker 130000000ns, "
					 "vCPU 1 100000000ns, make 90000000ns");
	world->query.most_rows = 5;
	assert_string_equal(rows(world), "db1 vCPU 0 1000000000ns, sed 250000000ns, "
					 "cat 240000000ns, idle 220000000ns, kworker 130000000ns, "
					 "2 others 190000000ns");
}

/* What was not measured is not said to be nothing. */
TEST(nothing_is_said_of_what_was_measured, setup, teardown)
{
	struct world *world = *state;

	assert_non_null(strstr(build(world)->note, "No wait was measured at this time"));
	world->facts.source = SOURCE_HISTORY;
	assert_non_null(strstr(build(world)->note, "kvmtop -w FILE --keep who"));
	waited(world, WAITS, 0, 0);
	take(world);
	assert_string_equal(build(world)->note, "No vCPU waited for a CPU.");
	world->facts.source = SOURCE_LIVE;
	assert_string_equal(build(world)->note, "No vCPU waited for a CPU.");
	world->query.guest = 2; /* which is not measured */
	assert_non_null(strstr(build(world)->note, "No wait was measured at this time"));
}

/* What is of all the time since the start is so in every column. */
TEST(all_since_the_start, setup, teardown)
{
	struct world *world = *state;
	const struct view_row *row;

	waited(world, WAITS, 30, 300 * MS);
	take(world);
	a_second(world);
	world->query.since_ns = 2 * SECOND;
	row = &build(world)->rows[0];
	assert_int_equal(row->cells[view_column_by_id(&view_who, "total")].count, 40);
	assert_int_equal(row->cells[view_column_by_id(&view_who, "delta")].count, 40);
	assert_int_equal((int)row->cells[view_column_by_id(&view_who, "rate")].number, 20);
	assert_int_equal(row->cells[view_column_by_id(&view_who, "time_ns")].ns, 400 * MS);
}

TEST(one_small_one_is_itself, setup, teardown)
{
	struct world *world = *state;

	waited(world, WAITS, 40, 400 * MS);
	waited(world, OWN, 30, 397 * MS);
	waited(world, SED, 3, 3 * MS);
	take(world);
	assert_string_equal(rows(world), "db1 vCPU 0 400000000ns, vCPU 1 397000000ns, "
					 "sed 3000000ns");
}

/* A vCPU that hardly waits has no row for each process that ran at all. */
TEST(a_short_wait_has_few_rows, setup, teardown)
{
	struct world *world = *state;

	waited(world, WAITS, 40, MS);
	waited(world, OWN, 30, MS / 5 * 3);
	waited(world, SED, 3, MS / 5);
	waited(world, CAT, 3, MS / 5);
	take(world);
	assert_string_equal(rows(world), "db1 vCPU 0 1000000ns, vCPU 1 600000ns, "
					 "2 others 400000ns");
	world->query.children = true;
	assert_string_equal(rows(world), "db1 vCPU 0 1000000ns, vCPU 1 600000ns, cat 200000ns, "
					 "sed 200000ns");
}

/* In the guest's kernel none, whether a row has that (1) or not (0). */
TEST(preempted_in_user_mode)
{
	int share = view_column_by_id(&view_who, "kernel_percent");

	for (int has_row = 0; has_row < 2; has_row++) {
		struct world *world;

		setup(state);
		world = *state;
		waited(world, WAITS, 40, 400 * MS);
		sample_add(&world->sample, (struct key){ 1, 0, PREEMPTED }, 10, ROW_NEW);
		if (has_row)
			sample_add(&world->sample, (struct key){ 1, 0, IN_KERNEL }, 0, ROW_NEW);
		take(world);
		build(world);
		assert_int_equal(world->view.rows[0].cells[share].type, CELL_PERCENT);
		assert_true(world->view.rows[0].cells[share].number == 0);
		teardown(state);
	}
}

/* vCPUs of a guest are compared, whatever other guests do. */
TEST(vcpus_that_wait_longer, setup, teardown)
{
	static const struct {
		uint32_t guest;
		int32_t vcpu;
		uint64_t ms;
	} list[] = { { 1, 0, 300 }, { 2, 0, 10 }, { 1, 1, 100 } };
	struct world *world = *state;
	int skew = view_column_by_id(&view_who, "skew_percent");
	const struct view *view;

	assert_int_equal(guests_add_fake(world->guests, 5000, "web1", 1), 2);
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		const struct timing timing = { .time_ns = list[i].ms * MS };

		sample_add_timed(&world->sample,
				 (struct key){ list[i].guest, list[i].vcpu, WAITS }, 1,
				 ROW_NEW, &timing);
	}
	take(world);
	view = build(world);
	assert_int_equal(view->nr_rows, 3);
	assert_true(fabs(view->rows[0].cells[skew].number - 20) < 1e-6);
	assert_true(fabs(view->rows[1].cells[skew].number) < 1e-6);
	assert_int_equal(view->rows[2].cells[skew].type, CELL_NONE);
}
