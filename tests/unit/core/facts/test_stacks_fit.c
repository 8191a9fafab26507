// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples of stacks stand for the time that exits took: the time of a reason is exact. */
#include <string.h>

#include "tests/unit/unit.h"

#include "core/facts/field.h"
#include "core/facts/sample.h"
#include "core/facts/stats.h"
#include "lib/xalloc.h"

#define MS	  INT64_C(1000000)
#define PERIOD_MS 10 /* of the samples */

struct world {
	struct fields *fields;
	struct stacks *stacks;
	struct stats *stats;
	struct sample sample;
	struct stack_sums left, sums;
	uint32_t io, msr, guest; /* fields */
	uint64_t now_ms, io_ms, msr_ms, guest_ms;
};

static int setup(void **state)
{
	struct world *world = xcalloc(1, sizeof(*world));
	uint32_t vmexit;

	world->fields = fields_new();
	world->stacks = stacks_new();
	world->stats = stats_new();
	vmexit = fields_add(
		world->fields,
		&(struct field){ .name = "vmexit", .parent = FIELD_NONE, .use = USE_EXIT });
	world->io = fields_add(world->fields, &(struct field){ .name = "vmexit(io)",
							       .label = "io",
							       .parent = vmexit,
							       .use = USE_EXIT });
	world->msr = fields_add(world->fields, &(struct field){ .name = "vmexit(msr)",
								.label = "msr",
								.parent = vmexit,
								.use = USE_EXIT });
	world->guest = fields_add(world->fields, &(struct field){ .name = "time(guest)",
								  .parent = FIELD_NONE,
								  .use = USE_TIME,
								  .part = TIME_GUEST });
	world->sample.stacks.has_off = true;
	*state = world;
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;

	sample_release(&world->sample);
	stack_sums_release(&world->left);
	stack_sums_release(&world->sums);
	stats_free(world->stats);
	stacks_free(world->stacks);
	fields_free(world->fields);
	free(world);
	return 0;
}

static uint32_t node_of(struct world *world, uint32_t reason, const char *name,
			enum function_side side)
{
	struct stacks *stacks = world->stacks;
	uint32_t node = reason == FIELD_NONE ?
				stacks_no_exit(stacks) :
				stacks_exit(stacks, fields_get(world->fields, reason)->label,
					    reason, false);

	return name ? stacks_call(stacks, node, stacks_function(stacks, name, side)) : node;
}

static void sampled(struct world *world, uint32_t reason, const char *name, unsigned int nr)
{
	stack_sums_add(&world->sample.stacks,
		       &(struct stack_item){
			       .key = { 1, 0, node_of(world, reason, name, FUNCTION_KERNEL) },
			       .ns = nr * PERIOD_MS * MS,
			       .count = nr });
}

static void was_off(struct world *world, uint32_t reason, int64_t ms)
{
	stack_sums_add(&world->sample.stacks,
		       &(struct stack_item){
			       .key = { 1, 0, node_of(world, reason, "[off CPU]", FUNCTION_OFF) },
			       .ns = ms * MS,
			       .count = 1 });
}

static void add_exits(struct world *world, uint32_t field, uint64_t ms)
{
	const struct timing timing = { .time_ns = ms * MS };

	sample_add_timed(&world->sample, (struct key){ 1, 0, field }, 1,
			 ROW_FROM_ZERO | ROW_WHOLE_INTERVAL, &timing);
}

/* Exits took so long since the sample before, and the guest ran so long. */
static void take(struct world *world, uint64_t io_ms, uint64_t msr_ms, uint64_t guest_ms)
{
	world->now_ms += 1000;
	world->sample.time_ns[0] = world->now_ms * MS;
	add_exits(world, world->io, world->io_ms += io_ms);
	add_exits(world, world->msr, world->msr_ms += msr_ms);
	sample_add(&world->sample, (struct key){ 1, 0, world->guest },
		   (world->guest_ms += guest_ms) * MS, ROW_FROM_ZERO | ROW_WHOLE_INTERVAL);
	stacks_fit(world->stacks, world->stats, world->fields, &world->left, &world->sample);
	stats_update(world->stats, world->fields, &world->sample);
	stack_sums_take(&world->sums, &world->sample.stacks);
	sample_reset(&world->sample);
	world->sample.stacks.has_off = true;
}

/* How long it was in the function so far; NULL: in the exit itself. In ms. */
static int64_t spent(struct world *world, uint32_t reason, const char *name,
		     enum function_side side)
{
	uint32_t node = node_of(world, reason, name, side);

	for (size_t i = 0; i < world->sums.nr; i++) {
		if (world->sums.list[i].key.field == node)
			return world->sums.list[i].ns / MS;
	}
	return 0;
}

static int64_t spent_on(struct world *world, uint32_t reason, const char *name)
{
	return spent(world, reason, name, FUNCTION_KERNEL);
}

/* However many samples a clock takes, the time is the exits', by the samples' shares. */
TEST(samples_stand_for_the_time_of_their_exits, setup, teardown)
{
	struct world *world = *state;

	sampled(world, world->io, "pio", 3);
	sampled(world, world->io, "copy", 1);
	sampled(world, world->msr, "wrmsr", 20);
	sampled(world, FIELD_NONE, "[guest]", 1);
	take(world, 400, 100, 500);
	assert_int_equal(spent_on(world, world->io, "pio"), 300);
	assert_int_equal(spent_on(world, world->io, "copy"), 100);
	assert_int_equal(spent_on(world, world->msr, "wrmsr"), 100);
	assert_int_equal(spent_on(world, FIELD_NONE, "[guest]"), 500);
	assert_int_equal(world->sums.list[0].count, 3);
}

TEST(time_off_the_cpu_is_as_it_was_measured, setup, teardown)
{
	struct world *world = *state;

	sampled(world, world->io, "pio", 1);
	was_off(world, world->io, 350);
	take(world, 400, 0, 600);
	assert_int_equal(spent_on(world, world->io, "pio"), 50);
	assert_int_equal(spent(world, world->io, "[off CPU]", FUNCTION_OFF), 350);
}

TEST(time_without_a_sample_is_the_exits_own_until_one_comes, setup, teardown)
{
	struct world *world = *state;

	take(world, 7, 0, 993);
	assert_int_equal(spent_on(world, world->io, NULL), 7);
	assert_int_equal(spent_on(world, FIELD_NONE, NULL), 993);
	take(world, 5, 0, 995);
	assert_int_equal(spent_on(world, world->io, NULL), 12);
	sampled(world, world->io, "pio", 1);
	take(world, 8, 0, 992);
	assert_int_equal(spent_on(world, world->io, NULL), 0);
	assert_int_equal(spent_on(world, world->io, "pio"), 20);
}

/* As when the end of an absence is read before the time of its exit. */
TEST(time_that_comes_late_is_made_up_for, setup, teardown)
{
	struct world *world = *state;

	was_off(world, world->io, 300);
	sampled(world, world->io, "pio", 1);
	take(world, 100, 0, 0);
	assert_int_equal(spent_on(world, world->io, NULL), -200);
	assert_int_equal(spent_on(world, world->io, "pio"), 0);
	sampled(world, world->io, "pio", 1);
	take(world, 250, 0, 0);
	assert_int_equal(spent_on(world, world->io, NULL), 0);
	assert_int_equal(spent_on(world, world->io, "pio"), 50);
}

TEST(what_is_not_measured_is_as_the_clock_has_it, setup, teardown)
{
	struct world *world = *state;
	uint32_t hlt = fields_add(world->fields, &(struct field){ .name = "vmexit(hlt)",
								  .label = "hlt",
								  .parent = FIELD_NONE,
								  .use = USE_EXIT });

	sampled(world, hlt, "halt", 2);
	take(world, 0, 0, 0);
	assert_int_equal(spent_on(world, hlt, "halt"), 2 * PERIOD_MS);
	world->sample.stacks.has_off = false; /* how long it slept is not known */
	sampled(world, world->io, "pio", 2);
	take(world, 500, 0, 0);
	assert_int_equal(spent_on(world, world->io, "pio"), 2 * PERIOD_MS);
}

/* Where KVM traces no exits: a reason of user space has time of its own, if it has samples. */
TEST(user_space_has_exits_of_its_own, setup, teardown)
{
	struct world *world = *state;
	uint32_t userspace = fields_add(
		world->fields,
		&(struct field){ .name = "userspace", .parent = FIELD_NONE, .use = USE_EXIT });
	uint32_t mmio = fields_add(world->fields, &(struct field){ .name = "userspace(mmio)",
								   .label = "mmio",
								   .parent = userspace,
								   .use = USE_EXIT });

	add_exits(world, mmio, 100);
	stacks_fit(world->stacks, world->stats, world->fields, &world->left, &world->sample);
	assert_int_equal(world->sample.stacks.nr, 0);
	stats_update(world->stats, world->fields, &world->sample);
	sample_reset(&world->sample);
	world->sample.stacks.has_off = true;
	add_exits(world, mmio, 300);
	sampled(world, mmio, "answer", 1);
	stacks_fit(world->stacks, world->stats, world->fields, &world->left, &world->sample);
	assert_int_equal(world->sample.stacks.nr, 1);
	assert_int_equal(world->sample.stacks.list[0].ns / MS, 200);
}
