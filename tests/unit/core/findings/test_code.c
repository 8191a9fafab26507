// SPDX-License-Identifier: GPL-2.0-or-later
/* Rules about code: what stacks they are about, what is named, and what may be chance. */
#include "tests/unit/unit.h"
#include "tests/worlds/view_world.h"

#include "core/facts/stacks.h"
#include "core/findings/findings.h"
#include "core/views/view.h"

#define MS INT64_C(1000000)

enum { TIME, VMEXIT, IO, CPUID, INTR, HLT, INTERRUPT, USERSPACE, USER_IO, NR_FIELDS };

static const struct field specs[] = {
	[TIME] = { .name = "time", .parent = FIELD_NONE, .use = USE_TIME },
	[VMEXIT] = EXIT_OF(FIELD_NONE, "vmexit", 1),
	[IO] = EXIT_OF(VMEXIT, "vmexit(io)", 1),
	[CPUID] = EXIT_OF(VMEXIT, "vmexit(cpuid)", 1),
	[INTR] = EXIT_OF(VMEXIT, "vmexit(INTR)", 1),
	[INTERRUPT] = EXIT_OF(VMEXIT, "vmexit(interrupt)", 1),
	[HLT] = { .name = "vmexit(hlt)", .parent = VMEXIT, .use = USE_EXIT, .exit_rank = 1,
		  .is_idle = true },
	[USERSPACE] = EXIT_OF(FIELD_NONE, "userspace", 2),
	[USER_IO] = EXIT_OF(USERSPACE, "userspace(IO)", 2),
};

static struct stack_sums latest; /* of the latest sample */
static struct findings kept;	 /* from sample to sample */

static int setup(void **state)
{
	struct world *world;

	world_setup(state, specs, NR_FIELDS, &view_why);
	world = *state;
	world->facts.stacks = stacks_new();
	world->facts.latest_stacks = &latest;
	assert_int_equal(guests_add_fake(world->guests, 4000, "db1", 2), 1);
	take(world);
	return 0;
}

static int clean_up(void **state)
{
	struct world *world = *state;

	stack_sums_release(&latest);
	findings_release(&kept);
	stacks_free(world->facts.stacks);
	return teardown(state);
}

/* Exits that took so long since the start, at each sample; ten in a ms. */
static void more_exits(struct world *world, int32_t vcpu, uint32_t field, uint64_t ms)
{
	const struct timing timing = { .time_ns = ms * MS, .max_ns = 1 };

	sample_add_timed(&world->sample, (struct key){ 1, vcpu, specs[field].parent },
			 ms * 10, ROW_NEW, &timing);
	sample_add_timed(&world->sample, (struct key){ 1, vcpu, field }, ms * 10, ROW_NEW, &timing);
}

static void exits(struct world *world, int32_t vcpu, uint32_t field, uint64_t ms)
{
	sample_add(&world->sample, (struct key){ 1, vcpu, TIME }, world->now_ns, ROW_NEW);
	more_exits(world, vcpu, field, ms);
}

/* A stack of an exit, "=run ioctl": with = functions of the VMM, with % of the guest's kernel. */
static void spent(struct world *world, int32_t vcpu, uint32_t reason, const char *stack,
		  int64_t ms, uint64_t count)
{
	const struct field *field = fields_get(world->fields, reason);
	uint32_t node = stacks_exit(world->facts.stacks, field->label, reason, field->is_idle);
	char copy[256], *rest = copy, *name;

	snprintf(copy, sizeof(copy), "%s", stack);
	while ((name = strsep(&rest, " "))) {
		enum function_side side = *name == '%' ? FUNCTION_GUEST_KERNEL :
					  *name == '=' ? FUNCTION_VMM : FUNCTION_KERNEL;

		name += side != FUNCTION_KERNEL;
		node = stacks_call(world->facts.stacks, node,
				   stacks_function(world->facts.stacks, name, side));
	}
	stack_sums_add(&world->sample.stacks, &(struct stack_item){
		.key = { 1, vcpu, node }, .ns = ms * MS, .count = count, .exits = count,
	});
}

/* What is found: rules, with evidence and remedy of the first. */
static const char *found_again(struct world *world)
{
	const struct view *view;
	int rule = view_column_by_id(&view_why, "rule");
	size_t len = 0;

	query_wants(&world->query, world->fields, &world->wanted);
	findings_find(&kept, &world->facts, GUEST_ALL, NULL);
	for (size_t i = 0; i < kept.nr; i++)
		kept.list[i].nr_found = STEADY_SAMPLES;
	world->query.followed = &kept;
	view = build(world);
	world->text[0] = '\0';
	for (size_t i = 0; i < view->nr_rows; i++)
		len += (size_t)sprintf(world->text + len, "%s%s", i ? " " : "",
				       view->rows[i].cells[rule].text);
	return world->text;
}

static const char *found(struct world *world)
{
	stack_sums_reset(&latest);
	stack_sums_take(&latest, &world->sample.stacks);
	take(world);
	return found_again(world);
}

static bool says(const struct world *world, const char *column, const char *text)
{
	const char *cell = world->view.rows[0].cells[view_column_by_id(&view_why, column)].text;

	if (strstr(cell, text))
		return true;
	print_message("%s\n", cell);
	return false;
}

static double cost(const struct world *world)
{
	return world->view.rows[0].cells[view_column_by_id(&view_why, "cost_percent")].number;
}

#define LSM "ioctl security_file_ioctl tomoyo_file_ioctl"

/* 400 of 1000 ms are exits that the VMM answers, 6 % of these in TOMOYO. */
static void a_security_module(void **state)
{
	struct world *world = *state;

	exits(world, 0, IO, 40);
	spent(world, 0, IO, "=run", 3000, 30);
	spent(world, 0, IO, "ioctl", 760, 70);
	spent(world, 0, IO, LSM, 240, 24);
	assert_string_equal(found(world), "security_module");
	assert_true(says(world, "evidence", "vCPU 0: 6.0 % of the time of these exits (a finding "
					    "from 5 % on); most in tomoyo_file_ioctl; most: io "
					    "400/s"));
	assert_true(says(world, "remedy", "a list without it"));
	assert_true(cost(world) > 0.23 && cost(world) < 0.25);
	spent(world, 0, IO, "=run", 1000, 30); /* 4.7 % */
	exits(world, 0, IO, 80);
	assert_string_equal(found(world), "");
}

/* A few samples say nothing; nor do exits that take no time, and exits that no VMM answers. */
static void not_of_a_security_module(void **state)
{
	struct world *world = *state;

	exits(world, 0, IO, 40);
	spent(world, 0, IO, "=run", 900, 90);
	spent(world, 0, IO, LSM, 90, 9);
	assert_string_equal(found(world), "");
	spent(world, 0, IO, LSM, 30, 3);
	exits(world, 0, IO, 40 + 9); /* below noise_ratio */
	assert_string_equal(found(world), "");
	spent(world, 1, CPUID, LSM, 500, 50);
	spent(world, 1, CPUID, "=run", 50, 5);
	exits(world, 1, CPUID, 45);
	exits(world, 0, IO, 40 + 9);
	assert_string_equal(found(world), "");
}

/* What another rule says of a function is of no interest. */
static void a_function_of_two_rules(void **state)
{
	struct world *world = *state;

	exits(world, 0, IO, 40);
	spent(world, 0, IO, "=run", 500, 30);
	spent(world, 0, IO, "security_bql_lock tomoyo_file_ioctl", 500, 24);
	assert_string_equal(found(world), "security_module vmm_lock");
	assert_true(says(world, "evidence", "most in tomoyo_file_ioctl"));
}

/* What user space has of an exit is a part of it, and costs no more. */
static void a_part_of_an_exit_counts_once(void **state)
{
	struct world *world = *state;

	exits(world, 0, IO, 40);
	more_exits(world, 0, USER_IO, 30);
	spent(world, 0, IO, "=run", 500, 30);
	spent(world, 0, IO, LSM, 500, 24);
	assert_string_equal(found(world), "security_module");
	assert_true(cost(world) > 1.9 && cost(world) < 2.1);
}

/* Where KVM traces no VM exits the ones to user space have the time. */
static void exits_to_user_space_alone(void **state)
{
	struct world *world = *state;

	exits(world, 0, USER_IO, 40);
	spent(world, 0, USER_IO, "=run", 200, 20);
	spent(world, 0, USER_IO, "ioctl security_file_ioctl", 100, 10);
	assert_string_equal(found(world), "security_module");
	assert_true(says(world, "evidence", "33.3 %"));
	assert_true(says(world, "remedy", "exempt the VMM"));
	assert_true(cost(world) > 1.3 && cost(world) < 1.4);
}

static void instructions_that_a_cpu_can_do(void **state)
{
	struct world *world = *state;

	exits(world, 0, CPUID, 40);
	spent(world, 0, CPUID, "run cpuid skip x86_emulate_instruction x86_decode_insn", 100, 10);
	spent(world, 0, CPUID, "run", 300, 10);
	assert_string_equal(found(world), "emulated");
	assert_true(says(world, "evidence", "25.0 % of the time of these exits"));
	exits(world, 0, IO, 40); /* an access to a device is emulated anyway */
	spent(world, 0, IO, "run x86_emulate_instruction", 1000, 10);
	spent(world, 0, CPUID, "run", 700, 10); /* 9 % */
	exits(world, 0, CPUID, 80);
	assert_string_equal(found(world), "");
}

/* A wait for work, and a guest that is paused, are no locks. */
static void a_lock_of_the_vmm(void **state)
{
	struct world *world = *state;

	exits(world, 0, IO, 40);
	spent(world, 0, IO, "=run =bql_lock_impl =pthread_mutex_lock do_futex futex_wait", 100, 10);
	spent(world, 0, IO, "=run", 100, 10);
	assert_string_equal(found(world), "vmm_lock");
	assert_true(says(world, "evidence", "50.0 %"));
	assert_true(says(world, "evidence", "most in bql_lock_impl"));
	assert_true(says(world, "remedy", "QEMU's big lock"));
	exits(world, 0, IO, 80);
	spent(world, 0, IO, "=run =__pthread_cond_wait futex_wait", 900, 10);
	exits(world, 1, INTR, 40);
	spent(world, 1, INTR, "=run =pthread_mutex_lock futex_wait", 900, 10);
	assert_string_equal(found(world), "");
}

static const char *seconds_of_exits(struct world *world, unsigned int nr, int64_t lock_ms,
				    int64_t other_ms)
{
	const char *rules = "";

	for (unsigned int i = 0; i < nr; i++) {
		exits(world, 0, IO, (world->now_ns / SECOND) * 40);
		if (lock_ms)
			spent(world, 0, IO, "=run =bql_lock_impl futex_wait", lock_ms, 3);
		spent(world, 0, IO, "=run", other_ms, 1);
		rules = found(world);
	}
	return rules;
}

/* An interval has few samples: the latest ones count together, and none for long. */
static void the_latest_samples_count(void **state)
{
	struct world *world = *state;

	assert_string_equal(seconds_of_exits(world, 2, 30, 10), "");
	assert_string_equal(seconds_of_exits(world, 60, 30, 10), "vmm_lock");
	assert_true(says(world, "evidence", "75.0 %"));
	assert_string_equal(seconds_of_exits(world, 10, 0, 40), "vmm_lock");
	assert_true(says(world, "evidence", "37.2 %"));
	for (int i = 0; i < 100; i++)
		assert_string_equal(found_again(world), "vmm_lock"); /* counts once */
	assert_true(says(world, "evidence", "37.2 %"));
	assert_string_equal(seconds_of_exits(world, 30, 0, 40), "");
	assert_string_equal(seconds_of_exits(world, 10, 30, 10), "vmm_lock");
}

/* A file's interval has its own sums. */
static void an_interval_of_a_file(void **state)
{
	struct world *world = *state;

	world->facts.latest_stacks = NULL;
	exits(world, 0, IO, 40);
	spent(world, 0, IO, "=run", 3000, 30);
	spent(world, 0, IO, LSM, 240, 24);
	assert_string_equal(found(world), "security_module");
	assert_string_equal(found_again(world), "security_module");
	assert_true(says(world, "evidence", "7.4 %"));
	stack_sums_reset(&world->stats->stacks);
	exits(world, 0, IO, 80);
	spent(world, 0, IO, "=run", 300, 30);
	assert_string_equal(found(world), "");
}

/* Of one vCPU's exits, no halts or interrupts. Two functions that make a third each are none. */
static void a_function_of_the_guest(void **state)
{
	struct world *world = *state;

	exits(world, 0, IO, 40);
	spent(world, 0, IO, "%io_serial_out", 1, 600);
	spent(world, 0, CPUID, "%native_cpuid", 100, 400);
	spent(world, 0, HLT, "%default_idle", 100, 9000);
	spent(world, 0, INTERRUPT, "%clear_page_rep", 100, 9000);
	assert_string_equal(found(world), "guest_function");
	assert_true(says(world, "evidence", "60.0 % of its exits (a finding from 50 % on); "
					    "io_serial_out"));
	assert_true(says(world, "remedy", "hvc0"));
	spent(world, 0, CPUID, "%lapic_next_deadline", 1, 600);
	exits(world, 0, IO, 80);
	assert_string_equal(found(world), "");
	spent(world, 0, CPUID, "%0xffffffff81000000", 1, 9000); /* has no name */
	exits(world, 0, IO, 120);
	assert_string_equal(found(world), "");
	spent(world, 0, CPUID, "%native_queued_spin_lock_slowpath", 1, 90000);
	exits(world, 0, IO, 160);
	assert_string_equal(found(world), "guest_function");
	assert_true(says(world, "remedy", "It spins"));
}

/* Code is sampled while exits are a finding, on a screen a steady one. */
static void stacks_are_wanted(void **state)
{
	struct world *world = *state;
	struct findings followed = { 0 };

	world->query.stack_hz = STACKS_HZ;
	assert_int_equal(query_wants_stacks(&world->query), STACKS_HZ);
	world->query.followed = &followed;
	assert_int_equal(query_wants_stacks(&world->query), 0);
	for (uint64_t i = 1; i <= STEADY_SAMPLES; i++) {
		exits(world, 0, CPUID, i * 100);
		take(world);
		findings_find(&kept, &world->facts, GUEST_ALL, NULL);
		assert_false(findings_have_exits(&kept)); /* it is not followed */
		findings_follow(&followed, &kept);
		assert_int_equal(query_wants_stacks(&world->query),
				 i == STEADY_SAMPLES ? STACKS_HZ : 0);
	}
	findings_release(&followed);
}

#define CODE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, clean_up)

UNIT(test_code)
{
	const struct CMUnitTest tests[] = {
		CODE_TEST(a_security_module),
		CODE_TEST(not_of_a_security_module),
		CODE_TEST(a_function_of_two_rules),
		CODE_TEST(a_part_of_an_exit_counts_once),
		CODE_TEST(exits_to_user_space_alone),
		CODE_TEST(instructions_that_a_cpu_can_do),
		CODE_TEST(a_lock_of_the_vmm),
		CODE_TEST(the_latest_samples_count),
		CODE_TEST(an_interval_of_a_file),
		CODE_TEST(a_function_of_the_guest),
		CODE_TEST(stacks_are_wanted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
