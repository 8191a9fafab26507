// SPDX-License-Identifier: GPL-2.0-or-later
/* Code in a history is played as it was kept; and a file's fields may be anything. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

#include "core/facts/field.h"
#include "core/facts/sample.h"
#include "core/facts/stats.h"
#include "lib/xalloc.h"

#define MS INT64_C(1000000)
#define SECOND UINT64_C(1000000000)

struct world {
	struct fields *fields;
	struct stacks *stacks;
	struct stats *stats;
	struct sample sample;
	struct stack_sums owed;
	uint64_t now_ns;
	uint32_t io, port; /* fields */
};

static int setup(void **state)
{
	struct world *world = xcalloc(1, sizeof(*world));
	const struct field exit = { .name = "vmexit(io)", .label = "io", .parent = FIELD_NONE,
				    .use = USE_EXIT };
	const struct field port = { .name = "ioport(0x80)", .parent = FIELD_NONE,
				    .use = USE_ARGUMENT };

	world->fields = fields_new();
	world->stacks = stacks_new();
	world->stats = stats_new();
	world->io = fields_add(world->fields, &exit);
	world->port = fields_add(world->fields, &port);
	*state = world;
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;

	sample_release(&world->sample);
	stack_sums_release(&world->owed);
	stats_free(world->stats);
	stacks_free(world->stacks);
	fields_free(world->fields);
	free(world);
	return 0;
}

static uint32_t call(struct stacks *stacks, uint32_t node, const char *name,
		     enum function_side side)
{
	return stacks_call(stacks, node, stacks_function(stacks, name, side));
}

static void spent(struct world *world, int32_t vcpu, uint32_t node, int64_t ms)
{
	stack_sums_add(&world->sample.stacks, &(struct stack_item){
		.key = { 1, vcpu, node }, .ns = ms * MS, .count = 1 });
}

static void take(struct world *world)
{
	world->now_ns += SECOND;
	world->sample.time_ns[0] = world->now_ns;
	stacks_keep(world->stacks, world->stats, world->fields, 0, &world->owed, &world->sample);
	stats_update(world->stats, world->fields, &world->sample);
	sample_reset(&world->sample);
}

/* "io/0x80/run/halt=5": the stacks that are played, with their ms. */
static void plays(struct world *world, const char *want)
{
	struct stacks *stacks = stacks_new();
	struct stack_sums sums = { 0 };
	char text[512] = "", path[256], longer[512];

	stacks_play(stacks, world->stats, world->fields, &sums);
	for (size_t i = 0; i < sums.nr; i++) {
		uint32_t node = sums.list[i].key.field;

		path[0] = '\0';
		for (; node != STACK_ROOT; node = stacks_node_at(stacks, node)->parent) {
			const struct stack_node *at = stacks_node_at(stacks, node);

			snprintf(longer, sizeof(longer), "%s%s%s",
				 stacks_function_at(stacks, at->function)->name,
				 *path ? "/" : "", path);
			snprintf(path, sizeof(path), "%.255s", longer);
		}
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%d %.200s=%d",
			 i ? " " : "", (int)sums.list[i].key.vcpu, path,
			 (int)(sums.list[i].ns / MS));
	}
	assert_string_equal(text, want);
	stack_sums_release(&sums);
	stacks_free(stacks);
}

/* Each interval has its own, and what an absence had too much is taken back. */
TEST(each_interval_is_played, setup, teardown)
{
	struct world *world = *state;
	uint32_t io = stacks_exit(world->stacks, "io", world->io, false);
	uint32_t run, away;

	io = stacks_argument(world->stacks, io, "0x80", world->port);
	run = call(world->stacks, io, "run", FUNCTION_VMM);
	away = call(world->stacks, run, "[off CPU]", FUNCTION_OFF);
	spent(world, 0, run, 5);
	spent(world, 0, away, 20);
	take(world);
	plays(world, "0 io/0x80/run=5 0 io/0x80/run/[off CPU]=20");
	spent(world, 0, run, 7);
	spent(world, 0, away, 30);
	spent(world, 0, away, -20);
	spent(world, 1, run, 1);
	take(world);
	plays(world, "0 io/0x80/run=7 0 io/0x80/run/[off CPU]=10 1 io/0x80/run=1");
	take(world);
	plays(world, "");
	spent(world, 0, run, 2); /* the counter begins anew, as the key was away */
	take(world);
	plays(world, "0 io/0x80/run=2");
}

/* A file may have any depth: the outermost calls are left out. */
TEST(too_deep, setup, teardown)
{
	struct world *world = *state;
	struct stacks *stacks = stacks_new();
	struct stack_sums sums = { 0 };
	uint32_t node = stacks_exit(world->stacks, "io", world->io, false), depth = 0;

	for (int i = 0; i < 300; i++)
		node = call(world->stacks, node, "run", FUNCTION_VMM);
	spent(world, 0, node, 5);
	take(world);
	stacks_play(stacks, world->stats, world->fields, &sums);
	assert_int_equal(sums.nr, 1);
	for (node = sums.list[0].key.field; node != STACK_ROOT; depth++)
		node = stacks_node_at(stacks, node)->parent;
	assert_int_equal(depth, UINT8_MAX - 1);
	stack_sums_release(&sums);
	stacks_free(stacks);
}

/* An absence whose stack has another name at its end was given to the first one. */
TEST(what_is_taken_back_is_owed, setup, teardown)
{
	struct world *world = *state;
	uint32_t io = stacks_exit(world->stacks, "io", world->io, false);
	uint32_t unknown = call(world->stacks, io, "[unknown]", FUNCTION_VMM);
	uint32_t run = call(world->stacks, io, "run", FUNCTION_VMM);

	spent(world, 0, unknown, 20);
	take(world);
	plays(world, "0 io/[unknown]=20");
	spent(world, 0, unknown, -20);
	spent(world, 0, run, 25);
	take(world);
	plays(world, "0 io/run=25");
	spent(world, 0, unknown, 5);
	spent(world, 1, unknown, 5);
	take(world);
	plays(world, "1 io/[unknown]=5");
	spent(world, 0, unknown, 18);
	take(world);
	plays(world, "0 io/[unknown]=3");
	spent(world, 0, unknown, 18);
	take(world);
	plays(world, "0 io/[unknown]=18");
}

/* What a view asks of the nodes is there again. */
TEST(exits_are_what_they_were, setup, teardown)
{
	struct world *world = *state;
	uint32_t hlt = stacks_exit(world->stacks, "hlt", world->io, true);
	struct stacks *stacks = stacks_new();
	struct stack_sums sums = { 0 };
	const struct stack_node *node;

	hlt = call(world->stacks, hlt, "func", FUNCTION_GUEST_KERNEL);
	spent(world, 0, stacks_argument(world->stacks, hlt, "0x80", world->port), 3);
	take(world);
	stacks_play(stacks, world->stats, world->fields, &sums);
	assert_int_equal(sums.nr, 1);
	node = stacks_node_at(stacks, sums.list[0].key.field);
	assert_true(node->is_idle);
	assert_int_equal(node->reason, world->io);
	assert_int_equal(node->argument, world->port);
	node = stacks_node_at(stacks, node->parent);
	assert_int_equal(stacks_function_at(stacks, node->function)->side, FUNCTION_GUEST_KERNEL);
	stack_sums_release(&sums);
	stacks_free(stacks);
}

/* The same stack has the same field in another run; beyond the limit the time is the caller's. */
TEST(fields_are_of_stacks, setup, teardown)
{
	struct world *world = *state;
	struct stacks *other = stacks_new(), *own = world->stacks;
	uint32_t io = stacks_exit(own, "io", world->io, false), nr, node;

	spent(world, 0, call(own, io, "run", FUNCTION_VMM), 1);
	take(world);
	nr = fields_count(world->fields);
	world->stacks = other;
	stacks_exit(other, "other", FIELD_NONE, false);
	node = call(other, stacks_exit(other, "io", world->io, false), "run", FUNCTION_VMM);
	spent(world, 0, node, 1);
	take(world);
	assert_int_equal(fields_count(world->fields), nr);
	for (uint32_t i = 0; i < STACKS_FIELDS + 10; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%u", i);
		spent(world, 0, call(other, node, name, FUNCTION_VMM), 1);
	}
	take(world);
	assert_int_equal(fields_count(world->fields), nr + STACKS_FIELDS - 2);
	assert_int_equal(stats_find(world->stats,
				    &(struct key){ 1, 0, *stacks_field(other, node) })->delta,
			 12 * MS);
	world->stacks = own;
	stacks_free(other);
}

/* A chain without end, and a parent that is no call. */
TEST(a_file_may_have_any_fields, setup, teardown)
{
	struct world *world = *state;
	struct field field = { .name = "code", .parent = FIELD_NONE, .use = USE_CODE,
			       .part = FUNCTION_VMM, .label = "f", .reason = FIELD_NONE };
	char name[16];
	uint32_t id = fields_add(world->fields, &field);
	struct stack_sums sums = { 0 };

	sample_add(&world->sample, (struct key){ 1, 0, id }, 1, ROW_FROM_ZERO);
	for (uint32_t i = 0; i < 100000; i++) {
		snprintf(name, sizeof(name), "code(%u)", i);
		field.name = name;
		field.parent = id;
		id = fields_add(world->fields, &field);
	}
	sample_add(&world->sample, (struct key){ 1, 0, id }, 1, ROW_FROM_ZERO);
	field.name = "odd";
	field.parent = world->io;
	id = fields_add(world->fields, &field);
	sample_add(&world->sample, (struct key){ 1, 0, id }, 1, ROW_FROM_ZERO);
	world->sample.time_ns[0] = SECOND;
	stats_update(world->stats, world->fields, &world->sample);
	stacks_play(world->stacks, world->stats, world->fields, &sums);
	assert_int_equal(sums.nr, 2);
	assert_int_equal(sums.lost_ns, 1);
	stack_sums_release(&sums);
}

/* Calls of several fields may be the same, and each may claim any time. */
TEST(a_file_may_have_any_times, setup, teardown)
{
	struct world *world = *state;
	struct field field = { .name = "code", .parent = FIELD_NONE, .use = USE_CODE,
			       .part = FUNCTION_EXIT, .label = "f", .reason = FIELD_NONE };
	uint32_t root = fields_add(world->fields, &field);
	const uint64_t times[] = { INT64_MAX, UINT64_MAX, 5 };
	struct stack_sums sums = { 0 };
	char name[16];

	field.parent = root;
	for (size_t i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "code(%zu)", i);
		field.name = name;
		sample_add(&world->sample, (struct key){ 1, 0, fields_add(world->fields, &field) },
			   times[i], ROW_FROM_ZERO);
	}
	world->sample.time_ns[0] = SECOND;
	stats_update(world->stats, world->fields, &world->sample);
	stacks_play(world->stacks, world->stats, world->fields, &sums);
	assert_int_equal(sums.nr, 1);
	assert_true(sums.list[0].ns == INT64_MAX);
	stack_sums_release(&sums);
}
