// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of interrupts: a row for each vCPU and vector, and the parts of its time. */
#include "tests/unit/unit.h"
#include "tests/worlds/view_world.h"

enum { ALL, ALL_WAKING, ALL_WAITING, IPI, IPI_WAKING, IPI_WAITING, LATE, NR_FIELDS };

#define PART(name_, part_, of) \
	{ .name = (name_), .parent = ALL, .use = USE_INTERRUPT, .part = (part_), .reason = (of) }

static const struct field specs[NR_FIELDS] = {
	[ALL] = { .name = "interrupts", .parent = FIELD_NONE, .use = USE_INTERRUPT,
		  .part = INTERRUPT_ALL, .reason = FIELD_NONE },
	[ALL_WAKING] = PART("interrupts(waking)", INTERRUPT_WAKING, ALL),
	[ALL_WAITING] = PART("interrupts(waiting)", INTERRUPT_WAITING, ALL),
	[IPI] = PART("interrupts(vector 0xfd)", INTERRUPT_VECTOR, FIELD_NONE),
	[IPI_WAKING] = PART("interrupts(vector 0xfd waking)", INTERRUPT_WAKING, IPI),
	[IPI_WAITING] = PART("interrupts(vector 0xfd waiting)", INTERRUPT_WAITING, IPI),
	[LATE] = PART("interrupts(timer)", INTERRUPT_LATE, FIELD_NONE),
};

static int setup(void **state)
{
	struct world *world;

	world_setup(state, specs, NR_FIELDS, &view_interrupts);
	world = *state;
	return guests_add_fake(world->guests, 4000, "db1", 2) == 1 ? 0 : -1;
}

static void put(struct world *world, int32_t vcpu, uint32_t field, uint64_t count, uint64_t ns)
{
	const struct timing timing = { .time_ns = count * ns, .max_ns = ns };

	sample_add_timed(&world->sample, (struct key){ 1, vcpu, field }, count, ROW_NEW, &timing);
}

static void put_part(struct world *world, int32_t vcpu, uint32_t field, uint64_t ns)
{
	sample_add(&world->sample, (struct key){ 1, vcpu, field }, ns, ROW_NEW);
}

/*
 * vCPU 1 has ten IPIs, of 1 ms each, of which it sleeps 2, waits 7, and enters for 1 tenth. The sum
 * has other parts, to tell them apart.
 */
static void put_second(struct world *world, uint64_t second)
{
	put(world, 1, LATE, 3 * second, 5000);
	put_part(world, 1, IPI_WAITING, 7000000 * second);
	put(world, 1, IPI, 10 * second, 1000000);
	put_part(world, 1, IPI_WAKING, 2000000 * second);
	put(world, 1, ALL, 10 * second, 1000000);
	put_part(world, 1, ALL_WAKING, 3000000 * second);
	put_part(world, 1, ALL_WAITING, 6000000 * second);
	take(world);
}

static struct cell cell(struct world *world, size_t row, enum column_id id)
{
	return *view_cell(&world->view, &world->view.rows[row], id);
}

static void shares(struct world *world, size_t row, double waking, double waiting, double entering)
{
	assert_float_equal(cell(world, row, COL_WAKING).number, waking, 0.01);
	assert_float_equal(cell(world, row, COL_WAITING).number, waiting, 0.01);
	assert_float_equal(cell(world, row, COL_ENTERING).number, entering, 0.01);
}

TEST(a_vcpu_and_its_vectors, setup, teardown)
{
	struct world *world = *state;

	put_second(world, 1);
	put_second(world, 2);
	build(world);
	assert_int_equal(world->view.nr_rows, 3);
	assert_string_equal(cell(world, 0, COL_INTERRUPT).text, "db1 vCPU 1");
	assert_int_equal(cell(world, 0, COL_VECTOR).type, CELL_NONE);
	assert_int_equal(cell(world, 0, COL_DELTA).count, 10);
	shares(world, 0, 30, 60, 10);
	assert_string_equal(cell(world, 1, COL_VECTOR).text, "vector 0xfd");
	assert_int_equal(cell(world, 1, COL_TIME).ns, 10000000);
	shares(world, 1, 20, 70, 10);
	assert_int_equal(world->view.rows[1].depth, 1);
}

/* A timer that is late is no interrupt: it has no parts, and the sum is without it. */
TEST(a_timer_is_late, setup, teardown)
{
	struct world *world = *state;

	put_second(world, 1);
	put_second(world, 2);
	build(world);
	assert_string_equal(cell(world, 2, COL_VECTOR).text, "timer");
	assert_int_equal(cell(world, 2, COL_DELTA).count, 3);
	assert_int_equal(cell(world, 2, COL_LONGEST).ns, 5000);
	assert_int_equal(cell(world, 2, COL_WAKING).type, CELL_NONE);
	assert_int_equal(cell(world, 2, COL_ENTERING).type, CELL_NONE);
}

/* Parts of a row that is not shown belong to no other row. */
TEST(a_filter_leaves_vectors_out, setup, teardown)
{
	struct world *world = *state;

	set_filter(world, "timer");
	put_second(world, 1);
	put_second(world, 2);
	build(world);
	assert_int_equal(world->view.nr_rows, 2);
	assert_string_equal(cell(world, 1, COL_VECTOR).text, "timer");
	assert_int_equal(cell(world, 1, COL_WAKING).type, CELL_NONE);
	shares(world, 0, 30, 60, 10);
}

/* A part of no time is 0 %, also where no row has it. */
TEST(a_vcpu_that_never_sleeps)
{
	for (int has_waking = 0; has_waking < 2; has_waking++) {
		struct world *world;

		setup(state);
		world = *state;
		for (uint64_t second = 1; second <= 2; second++) {
			put(world, 1, ALL, 10 * second, 1000000);
			if (has_waking)
				put_part(world, 1, ALL_WAKING, 0);
			put_part(world, 1, ALL_WAITING, 6000000 * second);
			take(world);
		}
		build(world);
		assert_int_equal(cell(world, 0, COL_WAKING).type, CELL_PERCENT);
		shares(world, 0, 0, 60, 40);
		teardown(state);
	}
}

TEST(nothing_came, setup, teardown)
{
	struct world *world = *state;

	take(world);
	build(world);
	assert_non_null(strstr(world->view.note, "No interrupt was measured at this time"));
	world->facts.source = SOURCE_HISTORY;
	build(world);
	assert_non_null(strstr(world->view.note, "kvmtop -w FILE --keep interrupts"));
	put(world, 1, ALL, 0, 0);
	take(world);
	build(world);
	assert_string_equal(world->view.note, "No interrupt that needs an entry was seen.");
}
