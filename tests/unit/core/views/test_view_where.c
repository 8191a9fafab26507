// SPDX-License-Identifier: GPL-2.0-or-later
/* The code that takes the time of exits: paths of functions, their sums, and the view of both. */
#include "tests/unit/unit.h"
#include "tests/worlds/cpu_time.h"
#include "tests/worlds/timed_world.h"
#include "core/facts/stacks.h"

#define MS INT64_C(1000000)

/* Of the test that runs. */
static struct stacks *stacks;

static int set_up(void **state)
{
	struct world *world;

	setup(state);
	world = *state;
	stacks = stacks_new();
	world->facts.stacks = stacks;
	set_view(world, &view_where);
	return 0;
}

static int clean_up(void **state)
{
	stacks_free(stacks);
	return teardown(state);
}

static uint32_t call(uint32_t node, const char *name, enum function_side side)
{
	return stacks_call(stacks, node, stacks_function(stacks, name, side));
}

/* "run;ioctl;handle_io" */
static uint32_t io_path(void)
{
	uint32_t node = stacks_exit(stacks, "IO", IO, false);

	node = call(node, "run", FUNCTION_VMM);
	node = call(node, "ioctl", FUNCTION_VMM);
	return call(node, "handle_io", FUNCTION_KERNEL);
}

static void spent(struct world *world, uint32_t guest, int32_t vcpu, uint32_t node, int64_t ms)
{
	const struct stack_item item = { { guest, vcpu, node }, ms * MS, 1, 0 };

	stack_sums_add(&world->sample.stacks, &item);
}

/* Exits that the guest's function, of the node, made. */
static void made(struct world *world, uint32_t guest, int32_t vcpu, uint32_t node, uint64_t exits)
{
	const struct stack_item item = { { guest, vcpu, node }, 0, 0, exits };

	stack_sums_add(&world->sample.stacks, &item);
}

TEST(a_path_has_one_node, set_up, clean_up)
{
	uint32_t node = io_path(), function = stacks_node_at(stacks, node)->function;

	assert_int_equal(io_path(), node);
	assert_int_equal(stacks_count_nodes(stacks), 5);
	assert_int_equal(stacks_node_at(stacks, node)->reason, IO);
	assert_string_equal(stacks_function_at(stacks, function)->name, "handle_io");
	/* The same name on another side is another function. */
	assert_int_not_equal(stacks_function(stacks, "run", FUNCTION_KERNEL),
			     stacks_function(stacks, "run", FUNCTION_VMM));
}

static const char *name_of_node(uint32_t node)
{
	return stacks_function_at(stacks, stacks_node_at(stacks, node)->function)->name;
}

static void check_exits(const char *label, uint32_t reason, bool is_idle)
{
	uint32_t node = stacks_exit(stacks, label, reason, is_idle);

	assert_int_equal(stacks_node_at(stacks, node)->reason, reason);
	assert_int_equal(stacks_node_at(stacks, node)->is_idle, is_idle);
	assert_string_equal(name_of_node(node), label);
}

/* Code that fills the tree takes no exit's place: no name becomes another one. */
TEST(too_many_nodes, set_up, clean_up)
{
	uint32_t node = stacks_exit(stacks, "IO", IO, false), last = STACK_ROOT;
	uint32_t function = stacks_function(stacks, "f", FUNCTION_VMM);

	assert_false(stacks_is_full(stacks));
	for (uint32_t i = 0; i < STACKS_NODES; i++) {
		last = node;
		node = stacks_call(stacks, node, function);
	}
	assert_int_equal(stacks_count_nodes(stacks), STACKS_NODES - STACKS_EXITS);
	assert_int_equal(node, last); /* the stack ends there */
	assert_true(stacks_is_full(stacks));
	assert_int_equal(stacks_exit(stacks, "IO", IO, false), 1); /* what is known stays */
	assert_int_equal(stacks_call(stacks, 1, function), 2);
	check_exits("HLT", 11, true);
	check_exits("MSR_WRITE", 22, false);
}

TEST(too_many_functions, set_up, clean_up)
{
	char name[32];
	uint32_t node, f;

	for (uint32_t i = 0; i < STACKS_FUNCTIONS; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		stacks_function(stacks, name, FUNCTION_KERNEL);
	}
	check_exits("HLT", 11, true);
	check_exits("MSR_WRITE", 22, false);
	f = stacks_function(stacks, "new", FUNCTION_VMM);
	assert_string_equal(stacks_function_at(stacks, f)->name, "[unknown]");
	assert_int_equal(stacks_function_at(stacks, f)->side, FUNCTION_VMM);
	f = stacks_function(stacks, "f7", FUNCTION_KERNEL);
	assert_string_equal(stacks_function_at(stacks, f)->name, "f7");
	node = stacks_exit(stacks, "HLT", 11, true);
	assert_int_equal(stacks_argument(stacks, node, "0xcafe", 5), node);
}

/* More exits than there can be: a recording may have any. */
TEST(too_many_exits, set_up, clean_up)
{
	uint32_t node = STACK_ROOT;
	char name[32];

	for (uint32_t i = 0; i < STACKS_NODES + 10; i++) {
		snprintf(name, sizeof(name), "e%u", i);
		node = stacks_exit(stacks, name, i, true);
		assert_int_not_equal(node, STACK_ROOT);
	}
	assert_int_equal(stacks_node_at(stacks, node)->reason, FIELD_NONE);
	assert_false(stacks_node_at(stacks, node)->is_idle);
	assert_string_equal(name_of_node(node), "[unknown]");
	check_exits("e7", 7, true);
}

/* What one process fills is not the room of another one. */
TEST(a_process_has_a_share, set_up, clean_up)
{
	uint32_t io = stacks_exit(stacks, "IO", IO, false), node = io, f = 0;
	char name[32];

	stacks_charge(stacks, 100);
	for (uint32_t i = 0; i < STACKS_NODES; i++) {
		snprintf(name, sizeof(name), "x%u", i);
		f = stacks_function(stacks, name, FUNCTION_VMM);
		node = stacks_call(stacks, io, f);
	}
	assert_string_equal(stacks_function_at(stacks, f)->name, "[unknown]");
	assert_int_equal(stacks_function_at(stacks, stacks_node_at(stacks, node)->function)->side,
			 FUNCTION_VMM);
	assert_true(stacks_is_full(stacks));
	stacks_charge(stacks, 200);
	f = stacks_function(stacks, "qemu_main", FUNCTION_VMM);
	node = stacks_call(stacks, io, f);
	assert_string_equal(stacks_function_at(stacks, f)->name, "qemu_main");
	assert_int_equal(stacks_node_at(stacks, node)->function, f);
}

TEST(a_guest_has_a_share_of_sums, set_up, clean_up)
{
	struct stack_sums sums = { 0 };

	for (uint32_t i = 0; i < STACKS_SUMS; i++)
		stack_sums_add(&sums, &(struct stack_item){ .key = { 1, 0, i }, .ns = 1 });
	assert_int_equal(sums.lost_ns, STACKS_SUMS / 2);
	stack_sums_add(&sums, &(struct stack_item){ .key = { 2, 0, 1 }, .ns = 5 });
	stack_sums_add(&sums, &(struct stack_item){ .key = { 2, 0, 1 }, .ns = 5 });
	assert_int_equal(sums.list[sums.nr - 1].ns, 10);
	assert_int_equal(sums.lost_ns, STACKS_SUMS / 2);
	for (uint32_t guest = 3; guest < 30; guest++) {
		for (uint32_t i = 0; i < STACKS_SUMS / 2; i++)
			stack_sums_add(&sums, &(struct stack_item){ .key = { guest, 0, i } });
	}
	assert_int_equal(sums.nr, STACKS_SUMS - 1);
	stack_sums_add(&sums, &(struct stack_item){ .key = { 30, 0, 1 }, .ns = 3, .exits = 2 });
	assert_int_equal(sums.lost_ns, STACKS_SUMS / 2 + 3);
	assert_int_equal(sums.lost_exits, 2);
	stack_sums_add(&sums, &(struct stack_item){ .key = { 1, 0, 5 }, .ns = 1 });
	assert_int_equal(sums.list[5].ns, 2); /* what is known stays */
	stack_sums_release(&sums);
}

/* A function that calls itself counts once. */
TEST(self_and_total, set_up, clean_up)
{
	struct world *world = *state;
	uint32_t io = io_path(), guest = stacks_exit(stacks, "[no exit]", FIELD_NONE, false);

	guest = call(guest, "[guest]", FUNCTION_GUEST);
	spent(world, 1, 0, io, 30);
	spent(world, 1, 0, call(io, "handle_io", FUNCTION_KERNEL), 10);
	spent(world, 1, 0, stacks_node_at(stacks, io)->parent, 20);
	spent(world, 1, 0, guest, 40);
	take(world);
	assert_string_equal(picture(world, "function side self_percent incl_percent self_ns "
					   "time_ns samples"),
			    "handle_io kernel 66.7% 66.7% 40000000ns 40000000ns 2\n"
			    "ioctl VMM 33.3% 100.0% 20000000ns 60000000ns 3\n"
			    "run VMM 0.0% 100.0% 0ns 60000000ns 3\n"
			    "- - - - - - -\n");
}

/* It is in a line above; with exits that are asked for it has rows. */
TEST(time_that_is_no_code, set_up, clean_up)
{
	struct world *world = *state;
	uint32_t io = io_path(), guest = stacks_exit(stacks, "[no exit]", FIELD_NONE, false);

	spent(world, 1, 0, io, 10);
	take(world);
	build(world);
	assert_null(world->view.lead);
	spent(world, 1, 0, call(io, "[off CPU]", FUNCTION_OFF), 50);
	spent(world, 1, 0, call(guest, "[guest]", FUNCTION_GUEST), 40);
	take(world);
	assert_string_equal(picture(world, "function self_percent incl_percent"),
			    "handle_io 100.0% 100.0%\nioctl 0.0% 100.0%\nrun 0.0% 100.0%\n- - -\n");
	assert_string_equal(world->view.lead, "Off the CPU 50.0 %, in the guest 40.0 % of the "
					      "time; shares are of the rest.");
	world->query.children = true;
	assert_null(strstr(picture(world, "function"), "[off CPU]"));
	world->query.children = false;
	set_filter(world, "IO");
	assert_string_equal(picture(world, "function self_percent incl_percent"),
			    "[off CPU] 83.3% 83.3%\nhandle_io 16.7% 100.0%\nioctl 0.0% 100.0%\n"
			    "run 0.0% 100.0%\n- - -\n");
	assert_null(world->view.lead);
	set_filter(world, NULL);
	world->query.has_halts = true;
	assert_non_null(strstr(picture(world, "function"), "[guest]"));
}

/* A history has times only: the column is of nothing there. */
TEST(samples_that_are_not_known, set_up, clean_up)
{
	struct world *world = *state;
	struct stack_item item = { .key = { 1, 0, io_path() }, .ns = 30 * MS };

	stack_sums_add(&world->sample.stacks, &item);
	take(world);
	assert_false(view_has(build(world), COL_SAMPLES));
	spent(world, 1, 0, io_path(), 30);
	take(world);
	assert_true(view_has(build(world), COL_SAMPLES));
}

/* A file may have any times. */
TEST(too_much_time, set_up, clean_up)
{
	struct world *world = *state;
	uint32_t io = io_path();
	struct stack_item item = { .key = { 1, 0, io }, .ns = INT64_MAX, .count = 1 };

	stack_sums_add(&world->sample.stacks, &item);
	item.key.vcpu = 1;
	stack_sums_add(&world->sample.stacks, &item);
	item.key.field = stacks_node_at(stacks, io)->parent;
	stack_sums_add(&world->sample.stacks, &item);
	take(world);
	for (int children = 0; children < 2; children++) {
		world->query.children = children;
		assert_non_null(strstr(picture(world, "time_ns"), "9223372036854775807ns"));
	}
}

TEST(what_is_asked_for, set_up, clean_up)
{
	struct world *world = *state;
	uint32_t io = io_path(), hlt = stacks_exit(stacks, "HLT", HLT, true);

	hlt = call(hlt, "sleep", FUNCTION_KERNEL);
	spent(world, 1, 0, io, 30);
	spent(world, 1, 1, call(io, "other", FUNCTION_KERNEL), 10);
	spent(world, 2, 0, call(io, "third", FUNCTION_KERNEL), 5);
	spent(world, 1, 0, hlt, 500);
	take(world);
	assert_string_equal(order(world), "handle_io other third ioctl run");
	world->query.has_halts = true;
	assert_string_equal(order(world), "sleep handle_io other third ioctl run");
	world->query.has_halts = false;
	world->query.guest = 1;
	world->query.has_vcpu = true;
	assert_string_equal(order(world), "handle_io ioctl run");
	world->query.has_reason = true; /* then halts, too */
	world->query.reason = HLT;
	assert_string_equal(order(world), "sleep");
	world->query.has_reason = false;
	set_filter(world, "IO");
	assert_string_equal(order(world), "handle_io ioctl run");
	set_filter(world, "MSR");
	assert_string_equal(order(world), "");
}

/* What a sample told too much the next one takes back. */
TEST(takes_back, set_up, clean_up)
{
	struct world *world = *state;
	uint32_t io = io_path();

	spent(world, 1, 0, io, 100);
	take(world);
	spent(world, 1, 0, io, -60);
	take(world);
	assert_string_equal(picture(world, "function self_ns"),
			    "handle_io 40000000ns\nioctl 0ns\nrun 0ns\n- -\n");
	spent(world, 1, 0, io, -60);
	take(world);
	assert_string_equal(order(world), "");
}

/* The share of a guest's exits that its kernel makes; it is not known of all of them. */
TEST(kernel_of_the_guest, set_up, clean_up)
{
	struct world *world = *state;
	uint32_t io = stacks_exit(stacks, "IO", IO, false);
	uint32_t user = call(io, "[user]", FUNCTION_GUEST_USER);

	made(world, 1, 0, call(io, "outb", FUNCTION_GUEST_KERNEL), 2);
	made(world, 1, 0, user, 2);
	made(world, 1, 1, user, 3);
	made(world, 1, 1, call(io, "[unknown]", FUNCTION_GUEST), 1);
	made(world, 2, 0, call(io, "[unknown]", FUNCTION_GUEST), 1);
	take(world);
	world->query.children = true;
	world->query.sort = (size_t)view_column_by_id(&view_where, "exits");
	assert_string_equal(picture(world, "function side exits gsys_percent"),
			    "db1 - 8 28.6%\n"
			    "vCPU 0 - 4 50.0%\n"
			    "IO exit 4 50.0%\n"
			    "[user] guest 2 0.0%\n"
			    "outb guest 2 100.0%\n"
			    "vCPU 1 - 4 0.0%\n"
			    "IO exit 4 0.0%\n"
			    "[user] guest 3 0.0%\n"
			    "[unknown] guest 1 -\n"
			    "web1 - 1 -\n"
			    "vCPU 0 - 1 -\n"
			    "IO exit 1 -\n"
			    "[unknown] guest 1 -\n"
			    "- - - -\n");
}

/* The guest's function has the time of the exits that it makes, and how many there were. */
TEST(code_of_the_guest, set_up, clean_up)
{
	struct world *world = *state;
	uint32_t msr = stacks_exit(stacks, "MSR", MSR, false);
	uint32_t timer = call(msr, "program_timer", FUNCTION_GUEST_KERNEL);
	uint32_t tsc = stacks_argument(stacks, timer, "0x6e0 TSC", MSR_TSC);

	made(world, 1, 0, timer, 500);
	made(world, 1, 0, call(msr, "rare", FUNCTION_GUEST_KERNEL), 1);
	spent(world, 1, 0, call(tsc, "set_tsc", FUNCTION_KERNEL), 30);
	spent(world, 1, 0, call(timer, "handle_msr", FUNCTION_KERNEL), 10);
	take(world);
	assert_string_equal(picture(world, "function self_ns time_ns samples exits"),
			    "set_tsc 30000000ns 30000000ns 1 -\n"
			    "handle_msr 10000000ns 10000000ns 1 -\n"
			    "program_timer 0ns 40000000ns 2 500\n"
			    "rare 0ns 0ns 0 1\n"
			    "- - - - -\n");
	world->query.has_function = true;
	world->query.function = stacks_node_at(stacks, timer)->function;
	assert_string_equal(order(world), "program_timer calls set_tsc handle_msr");
	world->query.function = stacks_function(stacks, "set_tsc", FUNCTION_KERNEL);
	assert_string_equal(order(world), "set_tsc called by program_timer");
	world->query.has_function = false;
	set_filter(world, "TSC");
	assert_string_equal(order(world), "set_tsc program_timer");
}

TEST(tree_of_calls, set_up, clean_up)
{
	struct world *world = *state;
	uint32_t io = io_path();

	spent(world, 1, 0, io, 30);
	spent(world, 1, 0, call(io, "deep", FUNCTION_KERNEL), 10);
	spent(world, 1, 0, call(io, "deeper", FUNCTION_KERNEL), 20);
	spent(world, 2, 0, io, 100);
	take(world);
	world->query.children = true;
	assert_string_equal(picture(world, "function self_ns time_ns"),
			    "web1 0ns 100000000ns\n"
			    "vCPU 0 0ns 100000000ns\n"
			    "IO 0ns 100000000ns\n"
			    "run 0ns 100000000ns\n"
			    "ioctl 0ns 100000000ns\n"
			    "handle_io 100000000ns 100000000ns\n"
			    "db1 0ns 60000000ns\n"
			    "vCPU 0 0ns 60000000ns\n"
			    "IO 0ns 60000000ns\n"
			    "run 0ns 60000000ns\n"
			    "ioctl 0ns 60000000ns\n"
			    "handle_io 30000000ns 60000000ns\n"
			    "deeper 20000000ns 20000000ns\n"
			    "deep 10000000ns 10000000ns\n"
			    "- - -\n");
	assert_int_equal(world->view.rows[5].depth, 5);
	assert_int_equal(world->view.rows[5].cells[view_column(&view_where, COL_DEPTH)].count, 5);
	assert_int_equal(world->view.rows[6].depth, 0);
}

/* Enter on a function: who calls it, and what it calls; Enter on one of these leads on. */
TEST(callers_and_callees, set_up, clean_up)
{
	struct world *world = *state;
	uint32_t io = io_path(), msr = stacks_exit(stacks, "MSR", MSR, false);
	const char *sought = NULL;

	spent(world, 1, 0, call(io, "leaf", FUNCTION_KERNEL), 30);
	/* It calls itself: this counts once. */
	spent(world, 1, 0, call(call(io, "handle_io", FUNCTION_KERNEL), "leaf", FUNCTION_KERNEL),
	      20);
	spent(world, 1, 0, call(call(msr, "ioctl", FUNCTION_VMM), "handle_msr", FUNCTION_KERNEL),
	      50);
	spent(world, 1, 0, call(call(msr, "timer", FUNCTION_KERNEL), "handle_io",
				FUNCTION_KERNEL), 10);
	take(world);
	picture(world, "function");
	for (size_t i = 0; !world->query.has_function; i++) {
		if (strcmp(world->view.rows[i].cells[0].text, "handle_io") == 0)
			assert_true(view_where.enter(&world->query, &world->view.rows[i],
						     &world->facts, &sought));
	}
	assert_string_equal(picture(world, "function side self_ns time_ns incl_percent"),
			    "handle_io kernel 10000000ns 60000000ns 100.0%\n"
			    "called by - - - -\n"
			    "ioctl VMM - 50000000ns 83.3%\n"
			    "handle_io kernel - 20000000ns 33.3%\n"
			    "timer kernel - 10000000ns 16.7%\n"
			    "calls - - - -\n"
			    "leaf kernel - 50000000ns 83.3%\n"
			    "handle_io kernel - 20000000ns 33.3%\n"
			    "- - - - -\n");
	assert_false(view_where.enter(&world->query, &world->view.rows[0], &world->facts,
				      &sought));
	assert_false(view_where.enter(&world->query, &world->view.rows[1], &world->facts,
				      &sought));
	assert_true(view_where.enter(&world->query, &world->view.rows[2], &world->facts, &sought));
	assert_string_equal(order(world), "ioctl called by run calls handle_io handle_msr");
}

/* From the lists of exits and arguments: the code of what the row is of. */
TEST(narrowed_to_a_row, set_up, clean_up)
{
	struct world *world = *state;
	uint32_t msr = stacks_exit(stacks, "MSR", MSR, false);
	struct view_row reason = { .field = MSR, .guest = GUEST_ALL, .vcpu = -1 };
	struct view_row argument = { .field = MSR_TSC, .guest = 1, .vcpu = -1 };
	struct view_row one = { .field = MSR, .guest = 1, .vcpu = 1 };
	struct query before;

	spent(world, 1, 0, call(stacks_argument(stacks, msr, "0x6e0 TSC", MSR_TSC), "tsc",
				FUNCTION_KERNEL), 30);
	spent(world, 1, 1, call(stacks_argument(stacks, msr, "0x80b EOI", MSR_EOI), "eoi",
				FUNCTION_KERNEL), 20);
	spent(world, 1, 1, call(msr, "early", FUNCTION_KERNEL), 10);
	spent(world, 2, 0, call(msr, "other", FUNCTION_KERNEL), 5);
	spent(world, 1, 0, io_path(), 100);
	take(world);
	before = world->query;
	assert_true(query_enter_code(&world->query, &reason, &world->facts));
	assert_string_equal(order(world), "tsc eoi early other");
	world->query = before;
	assert_true(query_enter_code(&world->query, &argument, &world->facts));
	assert_string_equal(order(world), "tsc");
	world->query = before;
	/* The samples of a recording have no arguments. */
	world->facts.source = SOURCE_RECORDING;
	assert_true(query_enter_code(&world->query, &argument, &world->facts));
	assert_string_equal(order(world), "tsc eoi early");
	world->facts.source = SOURCE_LIVE;
	world->query = before;
	assert_true(query_enter_code(&world->query, &one, &world->facts));
	assert_string_equal(order(world), "eoi early");
	world->query = before;
	set_filter(world, "EOI");
	assert_string_equal(order(world), "eoi");
}

/* In the tree also on a guest, a vCPU, an exit and its argument. */
TEST(enter_in_the_tree, set_up, clean_up)
{
	struct world *world = *state;
	uint32_t msr = stacks_exit(stacks, "MSR", MSR, false);
	const char *sought = NULL;
	struct query all;

	msr = stacks_argument(stacks, msr, "0x6e0 TSC", MSR_TSC);
	spent(world, 1, 1, call(msr, "tsc", FUNCTION_KERNEL), 30);
	take(world);
	world->query.children = true;
	assert_string_equal(order(world), "db1 vCPU 1 MSR 0x6e0 TSC tsc");
	all = world->query;
	for (size_t i = 0; i < 5; i++) {
		world->query = all;
		assert_true(view_where.enter(&world->query, &world->view.rows[i], &world->facts,
					     &sought));
		assert_int_equal(world->query.guest, 1);
		assert_int_equal(world->query.has_vcpu, i > 0);
		assert_int_equal(world->query.has_reason, i == 2 || i == 3);
		assert_int_equal(world->query.has_argument, i == 3);
		assert_int_equal(world->query.has_function, i == 4);
	}
}

/* With very many stacks the tree has the calls with most time, and says so. */
TEST(a_large_tree, set_up, clean_up)
{
	struct world *world = *state;
	uint32_t io = stacks_exit(stacks, "IO", IO, false), small = io;

	spent(world, 1, 0, call(io, "most", FUNCTION_KERNEL), 100000);
	for (int i = 0; i < 60; i++)
		small = call(small, "deeper", FUNCTION_KERNEL);
	spent(world, 1, 0, small, 6000);
	take(world);
	world->query.children = true;
	view_build(&world->view, &world->query, &world->facts);
	assert_int_equal(world->view.nr_rows, 2 + 1 + 1 + 60);
	for (int32_t i = 0; i < 6000; i++)
		spent(world, 2, i, small, 1);
	take(world);
	view_build(&world->view, &world->query, &world->facts);
	assert_int_equal(world->view.rows[4].depth, 3);
	assert_string_equal(world->view.note, "Calls of less than 0.1 % of the time are left out: "
			    "choose a guest, or an exit.");
	for (size_t i = 0; i < world->view.nr_rows; i++)
		assert_true(world->view.rows[i].guest == 1 || world->view.rows[i].depth < 2);
}

static void build_view(void *arg)
{
	struct world *world = arg;

	view_build(&world->view, &world->query, &world->facts);
}

/* 48,000 rows: a row is made, and moved, once, however deep it is. */
static double tree_s(struct world *world, uint32_t depth)
{
	const uint32_t nr = 48000 / depth;

	for (uint32_t i = 0; i < nr; i++) {
		uint32_t node = stacks_exit(stacks, "IO", IO, false);
		char name[32];

		snprintf(name, sizeof(name), "f%u", i);
		for (uint32_t k = 0; k < depth; k++)
			node = call(node, name, FUNCTION_KERNEL);
		spent(world, 1, 0, node, 1 + i % 100);
	}
	take(world);
	world->query.children = true;
	return least_cpu_s(build_view, world);
}

TEST(a_deep_tree, set_up, clean_up)
{
	struct world *world = *state;
	double flat = tree_s(world, 10), deep;

	assert_int_equal(world->view.nr_rows, 3 + 48000);
	stats_reset(world->stats, world->fields);
	stack_sums_reset(&world->sample.stacks);
	deep = tree_s(world, 240);
	assert_int_equal(world->view.nr_rows, 3 + 48000);
	assert_true(deep < 2 * flat);
	for (size_t i = 3; i < world->view.nr_rows; i++) { /* in order, of the 200 */
		const struct view_row *row = &world->view.rows[i];

		assert_int_equal(row->depth, 3 + (i - 3) % 240);
		assert_int_equal(row->is_last, row->depth > 3 || i == 3 + 48000 - 240);
	}
}

/* On a screen, which nobody scrolls so far, small calls are left out. */
TEST(a_tree_on_a_screen, set_up, clean_up)
{
	struct world *world = *state;
	uint32_t io = stacks_exit(stacks, "IO", IO, false);

	spent(world, 1, 0, call(io, "most", FUNCTION_KERNEL), 100000);
	spent(world, 1, 0, call(io, "least", FUNCTION_KERNEL), 1);
	take(world);
	world->query.children = true;
	world->query.most_rows = 5;
	assert_string_equal(order(world), "db1 vCPU 0 IO most least");
	assert_null(world->view.note);
	world->query.most_rows = 4;
	assert_string_equal(order(world), "db1 vCPU 0 IO most");
	assert_string_equal(world->view.note, "Calls of less than 0.1 % of the time are left out: "
			    "choose a guest, or an exit.");
}

TEST(says_what_is_missing, set_up, clean_up)
{
	struct world *world = *state;

	world->sample.stacks.clock = "by a clock";
	take(world);
	order(world);
	assert_string_equal(world->view.note, "by a clock");
	world->sample.stacks.lost = 1;
	take(world);
	order(world);
	assert_non_null(strstr(world->view.note, "[unknown]"));
	world->sample.stacks.lost_exits = 1;
	take(world);
	view_build(&world->view, &world->query, &world->facts);
	assert_string_equal(world->view.note, "Some exits are missing: there were more different "
			    "addresses of guests than there is room for.");
	world->sample.stacks.lost_ns = 1;
	take(world);
	order(world);
	assert_non_null(strstr(world->view.note, "Some time is missing"));
	snprintf(world->sample.stacks.none, sizeof(world->sample.stacks.none), "not allowed");
	take(world); /* who says so may be closed before the picture is drawn */
	world->sample.stacks.none[0] = '\0';
	order(world);
	assert_string_equal(world->view.note, "not allowed");
}

/* Why there is no code, which differs by source. */
TEST(without_code, set_up, clean_up)
{
	static const struct {
		enum source_kind source;
		bool is_span;
		const char *note; /* its begin; NULL: none */
	} all[] = {
		{ SOURCE_LIVE, false, NULL },
		{ SOURCE_HISTORY, false, "No code was kept: kvmtop -w FILE --keep where" },
		{ SOURCE_RECORDING, true, "No code was sampled: perf record -g" },
		{ SOURCE_RECORDING, false, "Code is shown for the entire recording" },
	};
	struct world *world = *state;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const char *note;

		world->facts.source = all[i].source;
		world->facts.is_span = all[i].is_span;
		note = build(world)->note;
		assert_int_equal(note != NULL, all[i].note != NULL);
		if (note)
			assert_memory_equal(note, all[i].note, strlen(all[i].note));
	}
}
