// SPDX-License-Identifier: GPL-2.0-or-later
/* Each rule at its threshold and just below it; what is named; how severe it is; thresholds. */
#include <math.h>

#include "tests/unit/unit.h"
#include "tests/worlds/cpu_time.h"
#include "tests/worlds/view_world.h"

#include "arch/arch.h"
#include "core/facts/shared_fields.h"
#include "core/findings/findings.h"
#include "core/views/view.h"
#include "lib/array.h"

/* The ids, in the order in which add_fields() adds them. */
enum {
	VMEXIT, USERSPACE, TIME, GUEST, IN_WAIT, POLL, BLOCK, BLOCK_USER, ON_CPU, IOPORT, MMIO, MSR,
	CPUID_ARGUMENT, HYPERCALL, SYSREG, FAULT, INTERRUPT,
	HLT, PAUSE, EPT, NPF, CPUID, MSR_EXIT, IO_EXIT, USER_IO, USER_MMIO, MEMORY_FAULT,
	USER_RESTART,
	COM1, IDE, PIT, LAPIC, PL011, DISK, DEADLINE, ICR, EOI, SPEC_CTRL, CNTV, SGI,
	WRITE_FAULT, DEVICE_FAULT, WRITE, RAISED, RTC, LOWERED,
	BLOCKED, BLOCKED_NPF, BLOCKED_CPUID, USER_BLOCKED, USER_BLOCKED_IO,
	USER_BLOCKED_RESTART, STOPPED, RUN, HOST_ON, AFFINITY, MIGRATIONS, THROTTLED, VMM,
	BUSY, NODE, CORE, SIBLING, WAIT, REMOTE, TOLD, COST, SWAPPED, HUGE, QUOTA,
	HIDDEN_QUOTA, IOTHREAD, TOLD_WAIT, TOLD_TIMER, TOLD_NEW,
	PML, DIRTY_RING, SWAP, NESTED, ACCEPTED, PLE_WINDOW, LOST, PAGES_4K, PAGES_2M, YIELD,
	WAITS, RAN_OTHER, RAN_OWN, RAN_PROCESS, RAN_VMM, RAN_KERNEL, NR_FIELDS
};

#define EVENT(text) { .name = (text), .parent = FIELD_NONE }

static const struct {
	enum exit_kind kind;
	const char *name;
} reasons[] = {
	{ EXITS_VMEXIT, "HLT" },
	{ EXITS_VMEXIT, "PAUSE_INSTRUCTION" },
	{ EXITS_VMEXIT, "EPT_VIOLATION" },
	{ EXITS_VMEXIT, "npf" },
	{ EXITS_VMEXIT, "CPUID" },
	{ EXITS_VMEXIT, "MSR_WRITE" },
	{ EXITS_VMEXIT, "IO_INSTRUCTION" },
	{ EXITS_USERSPACE, "IO" },
	{ EXITS_USERSPACE, "MMIO" },
	{ EXITS_USERSPACE, "MEMORY_FAULT" },
	{ EXITS_USERSPACE, "INTR" },
};

static const struct {
	enum exit_kind kind;
	const char *reason;
	uint32_t reason_field;
	const char *label;
} arguments[] = {
	{ EXITS_IOPORT, "IO_INSTRUCTION", IO_EXIT, "0x3f8 write 1 COM1" },
	{ EXITS_IOPORT, "IO_INSTRUCTION", IO_EXIT, "0x1f0 read 2 IDE1" },
	{ EXITS_IOPORT, "IO_INSTRUCTION", IO_EXIT, "0x40 write 1 PIT" },
	{ EXITS_MMIO, "npf", NPF, "0xfee000b0 write 4" },
	{ EXITS_MMIO, "DABT_LOW", FIELD_NONE, "0x9000000 write 4" },
	{ EXITS_MMIO, "npf", NPF, "0xfebf1000 write 4" },
	{ EXITS_MSR, "MSR_WRITE", MSR_EXIT, "0x6e0 IA32_TSC_DEADLINE write" },
	{ EXITS_MSR, "MSR_WRITE", MSR_EXIT, "0x830 X2APIC_ICR write" },
	{ EXITS_MSR, "MSR_WRITE", MSR_EXIT, "0x80b X2APIC_EOI write" },
	{ EXITS_MSR, "MSR_WRITE", MSR_EXIT, "0x48 IA32_SPEC_CTRL write" },
	{ EXITS_SYSREG, "SYS64", FIELD_NONE, "S3_3_C14_C3_2 CNTV_CVAL_EL0 write" },
	{ EXITS_SYSREG, "SYS64", FIELD_NONE, "S3_0_C12_C11_5 ICC_SGI1R_EL1 write" },
	{ EXITS_FAULT, "npf", NPF, "write-protected 4K" },
	{ EXITS_FAULT, "npf", NPF, "write mmio" },
	{ EXITS_FAULT, "npf", NPF, "write 4K" },
	{ EXITS_INTERRUPT, NULL, FIELD_NONE, "line 5 raised" },
	{ EXITS_INTERRUPT, NULL, FIELD_NONE, "line 8 raised" },
	{ EXITS_INTERRUPT, NULL, FIELD_NONE, "line 5 lowered" },
};

static const struct field others[] = {
	EVENT("kvm_pml_full"),
	EVENT("kvm_dirty_ring_push"),
	EVENT("kvm_async_pf_not_present"),
	EVENT("kvm_nested_vmexit"),
	EVENT("kvm_apic_accept_irq"),
	EVENT("kvm_ple_window_update"),
	{ .name = "lost_exits", .parent = FIELD_NONE, .is_extra = true },
	{ .name = "pages_4k", .parent = FIELD_NONE, .kind = FIELD_GAUGE,
	  .part = EVENT_PART(EVENT_PAGES_4K, 0) },
	{ .name = "pages_2m", .parent = FIELD_NONE, .kind = FIELD_GAUGE,
	  .part = EVENT_PART(EVENT_PAGES_2M, 0) },
	{ .name = "directed_yield_attempted", .parent = FIELD_NONE, .part = EVENT_BY_VCPU },
	{ .name = "waits", .parent = FIELD_NONE, .use = USE_WAIT, .reason = FIELD_NONE },
	{ .name = "waits(guest 5000 web1 vCPU 0)", .label = "vCPU 0", .alias = "web1",
	  .parent = WAITS, .use = USE_WAIT, .part = WAIT_GUEST },
	{ .name = "waits(own 4000 db1 vCPU 1)", .label = "vCPU 1", .alias = "db1",
	  .parent = WAITS, .use = USE_WAIT, .part = WAIT_OWN },
	{ .name = "waits(process make make)", .label = "make", .alias = "make",
	  .parent = WAITS, .use = USE_WAIT, .part = WAIT_PROCESS },
	{ .name = "waits(vmm 5000 web1 io)", .label = "io", .alias = "web1",
	  .parent = WAITS, .use = USE_WAIT, .part = WAIT_VMM },
	{ .name = "waits(kernel kworker)", .label = "kworker", .parent = WAITS,
	  .use = USE_WAIT, .part = WAIT_KERNEL },
};

static void add_fields(struct fields *fields)
{
	static const enum host_part more[] = { HOST_REMOTE, HOST_FINDING, HOST_COST, HOST_SWAPPED,
					       HOST_HUGE };
	static const char *const rules[] = { "cpu_wait", "timer", "of_a_later_kvmtop" };
	const struct exit_events events = { .lacks = { false } };
	struct exit_fields exits;
	struct host_fields host;

	exit_fields_add(fields, 0, &events,
			1U << TIME_WHOLE | 1U << TIME_GUEST | 1U << TIME_WAIT | 1U << TIME_POLL |
				1U << TIME_BLOCK | 1U << TIME_BLOCK_USER, &exits);
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		exit_fields_reason(&exits, reasons[i].kind, reasons[i].name, NULL, i == 0);
	for (size_t i = 0; i < ARRAY_SIZE(arguments); i++)
		exit_fields_argument(&exits, arguments[i].kind, arguments[i].reason,
				     arguments[i].reason_field, arguments[i].label);
	exit_fields_exit_part(&exits, EXITS_VMEXIT, NPF, EXIT_BLOCKED);
	exit_fields_exit_part(&exits, EXITS_VMEXIT, CPUID, EXIT_BLOCKED);
	exit_fields_exit_part(&exits, EXITS_USERSPACE, USER_IO, EXIT_BLOCKED);
	exit_fields_exit_part(&exits, EXITS_USERSPACE, USER_RESTART, EXIT_BLOCKED);
	host_fields_add_part(fields, 1, HOST_STOPPED); /* of another source than all others */
	host_fields_add(fields, 0, &host);
	for (size_t i = 0; i < ARRAY_SIZE(more); i++)
		host_fields_add_part(fields, 0, more[i]);
	host_fields_quota(&host, "/sys/fs/cgroup/db1/cpu.max: 0.5 CPUs");
	host_fields_quota(&host, HOST_QUOTA_HIDDEN);
	host_fields_thread(&host, "IO");
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		host_fields_add_child(fields, TOLD, rules[i]);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		fields_add(fields, &others[i]);
	assert_int_equal(fields_count(fields), NR_FIELDS);
}

static int setup(void **state)
{
	struct world *world;

	world_setup(state, NULL, 0, &view_why);
	world = *state;
	add_fields(world->fields);
	assert_int_equal(guests_add_fake(world->guests, 4000, "db1", 2), 1);
	assert_int_equal(guests_add_fake(world->guests, 5000, "web1", 1), 2);
	take(world); /* an interval begins here */
	return 0;
}

static void add(struct world *world, struct key key, uint64_t count)
{
	sample_add(&world->sample, key, count, ROW_NEW);
}

/* In the interval of a second: exits that take so many ns each. */
static void exits(struct world *world, uint32_t guest, int32_t vcpu, uint32_t field, uint32_t nr,
		  uint64_t ns)
{
	struct key key = { guest, vcpu, field };
	struct timing timing = { .time_ns = nr * ns, .max_ns = ns };

	timing.hist[5] = nr;
	sample_add_timed(&world->sample, key, nr, ROW_NEW, &timing);
}

/* An exit that has not ended; its time in the interval is a second at most. */
static void open_exit(struct world *world, uint32_t guest, int32_t vcpu, uint32_t field,
		      uint64_t ns)
{
	const struct timing timing = { .time_ns = ns, .open_ns = ns };

	sample_add_timed(&world->sample, (struct key){ guest, vcpu, field }, 1, ROW_NEW, &timing);
}

/* With waits apart from the time of exits. */
static void whole_second(struct world *world, uint32_t guest, int32_t vcpu)
{
	add(world, (struct key){ guest, vcpu, IN_WAIT }, 0);
	add(world, (struct key){ guest, vcpu, TIME }, SECOND);
}

/* The rows: "rule guest vCPU severity cost%, ...". */
static const char *found(struct world *world)
{
	static const char *const ids[] = { "rule", "guest", "vcpu", "severity", "cost_percent" };
	const struct view *view = build(world);
	size_t len = 0;

	world->text[0] = '\0';
	for (size_t i = 0; i < view->nr_rows; i++) {
		for (size_t c = 0; c < sizeof(ids) / sizeof(ids[0]); c++) {
			int column = view_column_by_id(view->type, ids[c]);

			len += (size_t)sprintf(world->text + len, "%s", c ? " " : i ? ", " : "");
			len += put_cell(world->text + len, &view->rows[i].cells[column]);
		}
	}
	return world->text;
}

static const char *cell_of(const struct world *world, const char *id)
{
	assert_int_equal(world->view.nr_rows, 1);
	return world->view.rows[0].cells[view_column_by_id(&view_why, id)].text;
}

#define OWN_NS 500 /* what kvmtop takes of an exit */

/* What makes each cause: a field, and how long each of its exits takes (0: not timed). */
static const struct {
	const char *rule;
	uint32_t field;
	uint64_t ns;
	int32_t vcpu;
} causes[] = {
	{ "cpu_wait", WAIT, 0, 0 },	   { "user_device", USER_IO, 10000, 0 },
	{ "user_device", USER_MMIO, 10000, 0 }, { "serial", COM1, 10000, 0 },
	{ "serial", PL011, 10000, 0 },	   { "timer", DEADLINE, 1, 0 },
	{ "timer", CNTV, 1, 0 },	   { "ipi", ICR, 1, 0 },
	{ "ipi", SGI, 1, 0 },		   { "pause", PAUSE, 1, 0 },
	{ "page_faults", WRITE, 10000, 0 },
	{ "dirty_log", PML, 0, -1 },	   { "dirty_ring", DIRTY_RING, 0, -1 },
	{ "halt_poll", POLL, 0, 0 },	   { "signals", USER_RESTART, 10000, 0 },
	{ "paused", USER_BLOCKED_RESTART, 0, 0 },
	{ "blocked_in_kvm", BLOCK, 0, 0 }, { "blocked_in_vmm", USER_BLOCKED_IO, 0, 0 },
	{ "throttled", THROTTLED, 0, 0 },  { "migrations", MIGRATIONS, 0, 0 },
	{ "stopped", STOPPED, 0, 0 },
	{ "lost", LOST, 0, -1 },		   { "remote_memory", REMOTE, 0, 0 },
	{ "yield", YIELD, 0, 0 },	   { "ple_window", PLE_WINDOW, 0, -1 },
	{ "swapped", SWAPPED, 0, -1 },	   { "small_pages", PAGES_4K, 0, -1 },
	{ "swap", SWAP, 0, -1 },	   { "nested", NESTED, 0, -1 },
	{ "exit_open", IO_EXIT, 0, 0 },
	{ "write_faults", WRITE_FAULT, 10000, 0 }, { "conversions", MEMORY_FAULT, 1, 0 },
	{ "kvmtop", VMEXIT, OWN_NS, 0 },
	{ "slow_vmm", USER_IO, 0, 0 },	   { "apic", LAPIC, 10000, 0 },
	{ "msr", SPEC_CTRL, 10000, 0 },	   { "cpuid", CPUID, 10000, 0 },
	{ "vmm_thread", IOTHREAD, 0, -1 }, { "interrupts", RAISED, 0, -1 },
};

/* So many MiB in pages of 4 KiB, of so many in all. */
static void mapped(struct world *world, uint64_t small_mib, uint64_t all_mib)
{
	add(world, (struct key){ 1, -1, PAGES_4K }, small_mib * 256);
	add(world, (struct key){ 1, -1, PAGES_2M }, (all_mib - small_mib) / 2);
}

/* Makes the cause i of a value a bit above the threshold or below it. */
static void make_cause(struct world *world, size_t i, const struct rule *rule, bool is_below)
{
	struct key key = { 1, causes[i].vcpu, causes[i].field };
	double value = rule->by_default * (is_below ? 0.99 : 1.01);

	whole_second(world, 1, 0);
	add(world, (struct key){ GUEST_NONE, -1, COST }, OWN_NS);
	if (rule->needs)
		add(world, (struct key){ GUEST_NONE, -1, ACCEPTED }, 0);
	if (rule->measure == MEASURE_LEVEL)
		add(world, key, (uint64_t)lround(value * 1000));
	else if (rule->measure == MEASURE_PAGES)
		mapped(world, (uint64_t)(value * 1000), 1000);
	else if (rule->measure == MEASURE_OPEN)
		open_exit(world, 1, 0, key.field, (uint64_t)(value * 1e9));
	else if (rule->measure == MEASURE_MEAN)
		exits(world, 1, 0, key.field, 40, (uint64_t)(value * 1e9));
	else if (rule->what.use == USE_TIME || rule->what.use == USE_EXIT_PART ||
		 key.field == WAIT || key.field == THROTTLED || key.field == STOPPED ||
		 rule->measure == MEASURE_CPU)
		add(world, key, (uint64_t)(value * SECOND));
	else if (rule->what.use == USE_EVENT || key.field == MIGRATIONS || key.field == RAISED)
		add(world, key, (uint64_t)lround(value * 100) / 100 + !is_below);
	else if (rule->measure == MEASURE_RATE)
		exits(world, 1, 0, key.field, (uint32_t)value, causes[i].ns);
	else
		exits(world, 1, 0, key.field, (uint32_t)(value * SECOND / causes[i].ns),
		      causes[i].ns);
	take(world);
}

/* A command of a remedy can be copied: it has the numbers of the guest and of its thread. */
static void has_no_blanks(const struct rule *rule, const struct view_row *row)
{
	const char *remedy = row->cells[view_column_by_id(&view_why, "remedy")].text;

	if (strstr(remedy, "PID") || strstr(remedy, "TID"))
		fail_msg("%s: a word in place of a number: %s", rule->id, remedy);
}

TEST(each_rule_at_its_threshold, setup, teardown)
{
	const struct rule *rule;
	uint64_t done = 0;

	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
		for (int is_below = 0; is_below < 2; is_below++) {
			struct world *world = *state;
			const char *text;
			size_t at = 0;

			while ((rule = rule_at(at)) && strcmp(rule->id, causes[i].rule) != 0)
				at++;
			assert_non_null(rule);
			done |= UINT64_C(1) << at;
			make_cause(world, i, rule, is_below);
			text = found(world);
			if ((strncmp(text, rule->id, strlen(rule->id)) == 0 ||
			     strstr(text, rule->id)) == is_below)
				fail_msg("%s, %s: found: \"%s\"", rule->id,
					 is_below ? "below" : "above", text);
			if (is_below && rule->measure != MEASURE_MEAN)
				assert_string_equal(text, "");
			for (size_t row = 0; row < world->view.nr_rows; row++)
				has_no_blanks(rule, &world->view.rows[row]);
			teardown(state);
			setup(state);
		}
	}
	for (size_t at = 0; rule_at(at); at++)
		if (!(done >> at & 1))
			fail_msg("%s: no case", rule_at(at)->id);
}

/* Each thread by itself; the evidence names it. */
TEST(a_busy_thread_of_the_vmm, setup, teardown)
{
	struct world *world = *state;

	add(world, (struct key){ 1, -1, VMM }, SECOND / 5);
	add(world, (struct key){ 1, -1, IOTHREAD }, SECOND / 11);
	take(world);
	assert_string_equal(found(world), "");
	add(world, (struct key){ 1, -1, VMM }, SECOND / 2);
	add(world, (struct key){ 1, -1, IOTHREAD }, SECOND / 11 + SECOND / 4);
	take(world);
	assert_string_equal(found(world), "vmm_thread db1 - minor -");
	assert_string_equal(cell_of(world, "evidence"),
			    "25.0 % of a CPU (threshold 10 %); IO");
	assert_non_null(strstr(cell_of(world, "remedy"), "perf top -p 4000 --sort comm,symbol"));
}

/* What the guest takes is no cause, nor is a line of a guest that is not known. */
TEST(interrupts_that_are_not_taken, setup, teardown)
{
	struct world *world = *state;

	add(world, (struct key){ 1, -1, RAISED }, 1000);
	add(world, (struct key){ 1, -1, LOWERED }, 1000);
	add(world, (struct key){ 1, -1, ACCEPTED }, 900);
	add(world, (struct key){ GUEST_NONE, -1, RAISED }, 1000);
	take(world);
	assert_string_equal(found(world), "");
	add(world, (struct key){ 1, -1, RAISED }, 1500);
	add(world, (struct key){ 1, -1, RTC }, 1024);
	add(world, (struct key){ 1, -1, ACCEPTED }, 900);
	add(world, (struct key){ 1, 1, ACCEPTED }, 50);
	take(world);
	assert_string_equal(found(world), "interrupts db1 - minor -");
	assert_string_equal(cell_of(world, "evidence"),
			    "1474/s (threshold 500/s); most: line 8 raised 1024/s");
	assert_non_null(strstr(cell_of(world, "remedy"), "RTC"));
}

/* Of so little memory it does not matter, and most of it may not be touched yet. */
TEST(small_pages_of_a_small_guest, setup, teardown)
{
	struct world *world = *state;

	mapped(world, 63, 63);
	take(world);
	assert_string_equal(found(world), "");
	mapped(world, 64, 64);
	take(world);
	assert_string_equal(found(world), "small_pages db1 - minor -");
	assert_string_equal(cell_of(world, "evidence"),
			    "100.0 % of it (threshold 50 %)");
}

/* It is a finding where the host gives huge pages, or that is not known. */
TEST(small_pages_of_a_host_without_others, setup, teardown)
{
	struct world *world = *state;

	mapped(world, 64, 64);
	add(world, (struct key){ GUEST_NONE, -1, HUGE }, 0);
	take(world);
	assert_string_equal(found(world), "");
	mapped(world, 64, 64);
	add(world, (struct key){ GUEST_NONE, -1, HUGE }, 1);
	take(world);
	assert_string_equal(found(world), "small_pages db1 - minor -");
}

/* An access to a device is no fault of memory, and a write to a logged page is another cause. */
TEST(faults_of_new_pages, setup, teardown)
{
	struct world *world = *state;

	whole_second(world, 1, 0);
	exits(world, 1, 0, NPF, 90000, 10000);
	exits(world, 1, 0, DEVICE_FAULT, 90000, 1000);
	exits(world, 1, 0, WRITE_FAULT, 20000, 10000);
	exits(world, 1, 0, WRITE, 4900, 10000);
	take(world);
	assert_string_equal(found(world), "write_faults db1 0 major 20.0%");
	add(world, (struct key){ 1, 0, TIME }, 2 * SECOND); /* since the start */
	exits(world, 1, 0, WRITE, 4900 + 30000, 10000);
	take(world);
	assert_string_equal(found(world), "page_faults db1 0 critical 30.0%");
	assert_string_equal(cell_of(world, "evidence"),
			    "vCPU 0: 30.0 % of its time (threshold 5 %); most: npf write "
			    "4K 30000/s");
}

TEST(a_healthy_guest_has_none, setup, teardown)
{
	struct world *world = *state;

	assert_string_equal(found(world), "");
	for (int32_t vcpu = 0; vcpu < 2; vcpu++) {
		whole_second(world, 1, vcpu);
		add(world, (struct key){ 1, vcpu, WAIT }, SECOND / 50);
		exits(world, 1, vcpu, HLT, 1000, 700000);
		exits(world, 1, vcpu, DEADLINE, 2000, 1000);
		exits(world, 1, vcpu, ICR, 500, 1000);
		exits(world, 1, vcpu, USER_IO, 50, 20000);
		exits(world, 1, vcpu, COM1, 50, 22000);
		exits(world, 1, vcpu, PAUSE, 10, 1000);
		exits(world, 1, vcpu, EPT, 100, 3000);
	}
	take(world);
	assert_string_equal(found(world), "");
}

TEST(the_worst_vcpu_and_how_many, setup, teardown)
{
	struct world *world = *state;

	for (int32_t vcpu = 0; vcpu < 2; vcpu++) {
		whole_second(world, 1, vcpu);
		add(world, (struct key){ 1, vcpu, WAIT }, SECOND / 10 * (vcpu ? 3 : 1));
		add(world, (struct key){ 1, vcpu, ON_CPU }, 3);
	}
	whole_second(world, 2, 0);
	add(world, (struct key){ 2, 0, GUEST }, SECOND / 2);
	add(world, (struct key){ 2, 0, ON_CPU }, 3);
	take(world);
	assert_string_equal(found(world), "cpu_wait db1 1 critical 30.0%");
	assert_string_equal(cell_of(world, "evidence"),
			    "vCPU 1: 30.0 % of its time (threshold 10 %); it was last on "
			    "CPU 3; 2 of 2 vCPUs");
}

#define NAME_100 "üüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüü"

/* At a character, with a mark. */
TEST(long_evidence_is_cut, setup, teardown)
{
	struct world *world = *state;
	struct field field = { .name = "waits(process 1 x)", .label = NAME_100 NAME_100,
			       .parent = WAITS, .use = USE_WAIT, .part = WAIT_PROCESS };
	const char *evidence;
	uint32_t code, one = fields_add(world->fields, &field), two;

	field.name = "waits(process 2 x)";
	two = fields_add(world->fields, &field);
	whole_second(world, 1, 0);
	add(world, (struct key){ 1, 0, WAIT }, SECOND / 2);
	add(world, (struct key){ 1, 0, HOST_ON }, 3);
	exits(world, 1, 0, WAITS, 50, SECOND / 100);
	exits(world, 1, 0, one, 30, SECOND / 100);
	exits(world, 1, 0, two, 20, SECOND / 100);
	take(world);
	assert_string_equal(found(world), "cpu_wait db1 0 critical 50.0%");
	evidence = cell_of(world, "evidence");
	assert_string_equal(evidence + strlen(evidence) - 5, "ü…");
	for (size_t n, i = 0; evidence[i]; i += n) {
		n = utf8_decode(evidence + i, strlen(evidence + i), &code);
		assert_true(n);
	}
}

TEST(who_had_the_cpu, setup, teardown)
{
	struct world *world = *state;

	whole_second(world, 1, 0);
	add(world, (struct key){ 1, 0, WAIT }, SECOND / 2);
	add(world, (struct key){ 1, 0, HOST_ON }, 3);
	add(world, (struct key){ 2, 0, HOST_ON }, 3);
	add(world, (struct key){ 2, 0, RUN }, SECOND / 50);
	exits(world, 1, 0, WAITS, 50, SECOND / 100);
	exits(world, 1, 0, RAN_OTHER, 5, SECOND / 100);
	exits(world, 1, 0, RAN_OWN, 40, SECOND / 100);
	exits(world, 1, 0, RAN_PROCESS, 5, SECOND / 100);
	exits(world, 1, 0, RAN_KERNEL, 1, SECOND / 1000); /* below 1 % */
	exits(world, 2, 0, RAN_PROCESS, 500, SECOND / 100);
	take(world);
	assert_string_equal(found(world), "cpu_wait db1 0 critical 50.0%");
	assert_string_equal(cell_of(world, "evidence"),
			    "vCPU 0: 50.0 % of its time (threshold 10 %); it was last on "
			    "CPU 3; who had the CPU: its own vCPU 1 (80 %), web1 vCPU 0 (10 %), "
			    "make (10 %)");
}

/* Who had the CPU was not measured. A vCPU that is on it in the end may have had nothing of it. */
TEST(who_had_the_cpu_is_not_known, setup, teardown)
{
	struct world *world = *state;

	whole_second(world, 1, 0);
	add(world, (struct key){ 1, 0, WAIT }, SECOND / 2);
	add(world, (struct key){ 1, 0, AFFINITY }, 1);
	add(world, (struct key){ 1, 0, HOST_ON }, 3);
	add(world, (struct key){ 1, 0, RUN }, SECOND / 10);
	add(world, (struct key){ 2, 0, HOST_ON }, 3);
	add(world, (struct key){ 2, 0, RUN }, SECOND / 2);
	add(world, (struct key){ GUEST_NONE, 3, BUSY }, SECOND / 100 * 95);
	take(world);
	assert_string_equal(found(world), "cpu_wait db1 0 critical 50.0%");
	assert_string_equal(cell_of(world, "evidence"),
			    "vCPU 0: 50.0 % of its time (threshold 10 %); it was last on "
			    "CPU 3, the only one that it may use");
	whole_second(world, 1, 0);
	add(world, (struct key){ 1, 0, WAIT }, SECOND);
	add(world, (struct key){ 1, 0, AFFINITY }, 64);
	add(world, (struct key){ 1, 0, HOST_ON }, 3);
	add(world, (struct key){ 1, 0, TIME }, 2 * SECOND);
	take(world);
	found(world);
	assert_non_null(strstr(cell_of(world, "evidence"), " CPU 3 of 64 that it may use"));
}

/* What stands still is one finding, not one of each thing that it would cost. */
TEST(an_exit_that_does_not_end, setup, teardown)
{
	struct world *world = *state;

	for (uint64_t second = 1; second <= 2; second++) {
		uint64_t ns = second * SECOND + SECOND / 5;

		add(world, (struct key){ 1, 0, TIME }, second * SECOND);
		add(world, (struct key){ 2, 0, TIME }, second * SECOND);
		open_exit(world, 1, 0, IO_EXIT, ns);
		open_exit(world, 1, 0, USER_IO, ns);
		open_exit(world, 1, 0, COM1, ns);
		open_exit(world, 2, 0, HLT, ns);
		take(world);
	}
	assert_string_equal(found(world), "exit_open db1 0 critical 100.0%");
	assert_string_equal(cell_of(world, "evidence"),
			    "vCPU 0: open 2.2 s (threshold 1 s); IO_INSTRUCTION, which the "
			    "VMM has as IO");
	assert_non_null(strstr(cell_of(world, "remedy"), "ps -L -o tid,stat,wchan 4000 (T: "));
	assert_non_null(strstr(cell_of(world, "remedy"), "/proc/4000/task/4001/stack"));
}

/* On a busy host a source is read later than another: each share is of the source's interval. */
TEST(sources_have_intervals_of_their_own, setup, teardown)
{
	struct world *world = *state;

	add(world, (struct key){ 1, 0, TIME }, SECOND);
	add(world, (struct key){ 1, 0, STOPPED }, SECOND / 5 * 6);
	take_late(world, SECOND / 5);
	add(world, (struct key){ 1, 0, TIME }, 2 * SECOND);
	add(world, (struct key){ 1, 0, STOPPED }, 2 * SECOND);
	take(world);
	assert_string_equal(found(world), "stopped db1 0 critical 100.0%");
}

/* A VMM that is stopped holds its vCPUs' exits open: that is one cause. */
TEST(a_vmm_that_is_stopped, setup, teardown)
{
	struct world *world = *state;

	for (uint64_t second = 1; second <= 2; second++) {
		add(world, (struct key){ 1, 0, TIME }, second * SECOND);
		add(world, (struct key){ 1, 0, STOPPED }, second * SECOND);
		open_exit(world, 1, 0, IO_EXIT, second * SECOND + SECOND / 5);
		take(world);
	}
	assert_string_equal(found(world), "stopped db1 0 critical 100.0%");
	assert_string_equal(cell_of(world, "evidence"),
			    "vCPU 0: 100.0 % of its time (threshold 5 %)");
	assert_non_null(strstr(cell_of(world, "remedy"), "kill -CONT"));
}

/* Of a vCPU that has ended nothing is known: it is not one that is well. */
TEST(an_ended_vcpu_is_none_of_them, setup, teardown)
{
	struct world *world = *state;

	world->stats->guests = world->guests;
	for (uint64_t i = 1; i <= 2; i++) {
		for (int32_t vcpu = 0; vcpu < 3 - (int32_t)i; vcpu++) {
			add(world, (struct key){ 1, vcpu, TIME }, i * SECOND);
			add(world, (struct key){ 1, vcpu, WAIT }, i * SECOND / 2 * !vcpu);
		}
		take(world);
		assert_string_equal(found(world), "cpu_wait db1 0 critical 50.0%");
		assert_string_equal(cell_of(world, "evidence"),
				    i == 1 ? "vCPU 0: 50.0 % of its time (threshold 10 %); "
					     "1 of 2 vCPUs" :
					     "vCPU 0: 50.0 % of its time (threshold 10 %)");
	}
}

/* What a quota takes is no want of CPUs; and where the scheduler has a vCPU is what counts. */
TEST(a_quota_is_no_want_of_cpus, setup, teardown)
{
	struct world *world = *state;

	whole_second(world, 1, 0);
	add(world, (struct key){ 1, 0, WAIT }, SECOND / 2);
	add(world, (struct key){ 1, 0, THROTTLED }, SECOND / 2);
	add(world, (struct key){ 1, 0, QUOTA }, SECOND / 2);
	add(world, (struct key){ 1, 0, ON_CPU }, 5);
	add(world, (struct key){ 1, 0, HOST_ON }, 7);
	take(world);
	assert_string_equal(found(world), "throttled db1 0 critical 50.0%");
	assert_string_equal(cell_of(world, "evidence"),
			    "vCPU 0: 50.0 % of its time (threshold 5 %); "
			    "/sys/fs/cgroup/db1/cpu.max: 0.5 CPUs");
	assert_non_null(strstr(cell_of(world, "remedy"),
			       "Raise the quota in /sys/fs/cgroup/db1/cpu.max, which allows 0.5 "
			       "CPUs (libvirt"));
}

/* What had the CPU longest is kept off it. */
TEST(remedies_are_for_the_culprit, setup, teardown)
{
	static const struct {
		uint32_t field;
		const char *remedy;
	} culprits[] = {
		{ RAN_OWN, "Keep its vCPU 1 off CPU 3: pin the guest's vCPUs to CPUs of their " },
		{ RAN_OTHER, "Keep web1 vCPU 0 off CPU 3: pin the two to different CPUs" },
		{ RAN_PROCESS, "Keep make (4711) off CPU 3: taskset, " },
		{ RAN_VMM, "Keep io of web1 (thread 5007) off CPU 3: give the VMM's " },
		{ RAN_KERNEL, "Keep kworker off CPU 3: leave this CPU out of " },
	};

	for (size_t i = 0; i < sizeof(culprits) / sizeof(culprits[0]); i++) {
		struct world *world = *state;
		const char *remedy;

		fields_set_pid(world->fields, RAN_PROCESS, 4711);
		fields_set_pid(world->fields, RAN_VMM, 5007);
		whole_second(world, 1, 0);
		add(world, (struct key){ 1, 0, WAIT }, SECOND / 2);
		add(world, (struct key){ 1, 0, HOST_ON }, 3);
		for (size_t j = 0; j < sizeof(culprits) / sizeof(culprits[0]); j++)
			exits(world, 1, 0, culprits[j].field, 1 + 10 * (i == j), SECOND / 100);
		take(world);
		found(world);
		remedy = cell_of(world, "remedy");
		if (strncmp(remedy, culprits[i].remedy, strlen(culprits[i].remedy)) != 0)
			fail_msg("%s: %s", culprits[i].remedy, remedy);
		teardown(state);
		setup(state);
	}
}

TEST(a_cpu_of_its_own_beside_idle_ones, setup, teardown)
{
	struct world *world = *state;

	whole_second(world, 1, 0);
	add(world, (struct key){ 1, 0, WAIT }, SECOND / 2);
	add(world, (struct key){ 1, 0, HOST_ON }, 3);
	add(world, (struct key){ 1, 0, AFFINITY }, 1);
	exits(world, 1, 0, RAN_OTHER, 5, SECOND / 100);
	for (int32_t cpu = 0; cpu < 4; cpu++)
		add(world, (struct key){ GUEST_NONE, cpu, BUSY }, cpu == 3 ? SECOND : 0);
	take(world);
	found(world);
	assert_string_equal(cell_of(world, "remedy"),
			    "Let the vCPU use other CPUs than 3: 3 of them are idle (libvirt: "
			    "vcpupin; taskset).");
}

/* Where two guests have a name, the process tells them apart; so it does for a shell. */
TEST(guests_of_one_name, setup, teardown)
{
	struct world *world = *state;

	assert_int_equal(guests_add_fake(world->guests, 5001, "web1", 1), 3);
	assert_int_equal(guests_add_fake(world->guests, 6000, "a b", 1), 4);
	whole_second(world, 1, 0);
	add(world, (struct key){ 1, 0, WAIT }, SECOND / 2);
	add(world, (struct key){ 1, 0, HOST_ON }, 3);
	exits(world, 1, 0, RAN_OTHER, 5, SECOND / 100);
	take(world);
	found(world);
	assert_non_null(strstr(cell_of(world, "evidence"), "web1 vCPU 0 (5000) (100 %)"));
	assert_non_null(strstr(cell_of(world, "remedy"), "Keep web1 vCPU 0 (5000) off CPU 3"));
	for (uint32_t guest = 2; guest <= 4; guest += 2) {
		world->query.guest = guest;
		whole_second(world, guest, 0);
		add(world, (struct key){ guest, 0, USER_BLOCKED_IO }, SECOND / 2);
		take(world);
		found(world);
		assert_int_equal(strncmp(cell_of(world, "evidence"), "process 5000, ", 14) == 0,
				 guest == 2);
		assert_non_null(strstr(cell_of(world, "remedy"),
				       guest == 2 ? "kvmtop where -p 5000 --halts shows" :
						    "kvmtop where -p 6000 --halts shows"));
	}
}

/* As a CPU of ACRN: no option names it. */
TEST(a_guest_without_a_process, setup, teardown)
{
	struct world *world = *state;

	assert_int_equal(guests_add_fake(world->guests, 0, "CPU 0", 1), 3);
	whole_second(world, 3, 0);
	add(world, (struct key){ 3, 0, USER_BLOCKED_IO }, SECOND / 2);
	take(world);
	found(world);
	assert_null(strstr(cell_of(world, "remedy"), "kvmtop where"));
}

TEST(a_quota_without_a_name, setup, teardown)
{
	struct world *world = *state;

	whole_second(world, 1, 0);
	add(world, (struct key){ 1, 0, THROTTLED }, SECOND / 2);
	take(world);
	assert_string_equal(found(world), "throttled db1 0 critical 50.0%");
	assert_string_equal(cell_of(world, "evidence"),
			    "vCPU 0: 50.0 % of its time (threshold 5 %)");
}

/* Who cannot read a quota must not blame the CPUs alone. */
TEST(a_quota_that_cannot_be_read_may_be_the_cause, setup, teardown)
{
	struct world *world = *state;

	whole_second(world, 1, 0);
	add(world, (struct key){ 1, 0, WAIT }, SECOND / 2);
	add(world, (struct key){ 1, 0, HIDDEN_QUOTA }, SECOND / 2);
	take(world);
	assert_string_equal(found(world), "cpu_wait db1 0 critical 50.0%");
	assert_string_equal(cell_of(world, "evidence"),
			    "vCPU 0: 50.0 % of its time (threshold 10 %); maybe a quota "
			    "that cannot be read");
}

/* What is lost has no guest. */
TEST(what_is_lost_is_of_all_guests, setup, teardown)
{
	struct world *world = *state;

	add(world, (struct key){ GUEST_NONE, -1, LOST }, 7);
	take(world);
	assert_string_equal(found(world), "lost all guests - minor -");
	world->query.guest = 1;
	assert_string_equal(found(world), "");
}

/* Each exit of a vCPU costs it what kvmtop takes; where that is not known, nothing is found. */
TEST(what_kvmtop_takes, setup, teardown)
{
	struct world *world = *state;

	for (uint32_t second = 1; second <= 2; second++) {
		assert_string_equal(found(world), "");
		if (second == 2)
			add(world, (struct key){ GUEST_NONE, -1, COST }, OWN_NS);
		add(world, (struct key){ 1, 0, TIME }, second * SECOND);
		add(world, (struct key){ 1, 1, TIME }, second * SECOND);
		exits(world, 1, 0, VMEXIT, second * 200000, 1000);
		exits(world, 1, 1, VMEXIT, second * 1000, 1000);
		take(world);
	}
	assert_string_equal(found(world), "kvmtop db1 0 major 10.0%");
	assert_string_equal(cell_of(world, "evidence"),
			    "vCPU 0: 10.0 % of its time (threshold 3 %); 500 ns of each "
			    "exit; 1 of 2 vCPUs");
}

/* What it takes of an exit is measured of a few, and is at most all of the exits' time. */
TEST(what_kvmtop_takes_is_bounded, setup, teardown)
{
	struct world *world = *state;

	for (uint32_t second = 1; second <= 2; second++) {
		add(world, (struct key){ GUEST_NONE, -1, COST }, OWN_NS);
		add(world, (struct key){ 1, 0, TIME }, second * SECOND);
		exits(world, 1, 0, VMEXIT, second * 200000, 300);
		take(world);
	}
	assert_string_equal(found(world), "kvmtop db1 0 minor 6.0%");
	assert_non_null(strstr(cell_of(world, "evidence"), "; 300 ns of each exit"));
	assert_int_equal(facts_cost(&world->facts).exit_ns, 300);
	assert_true(fabs(facts_cost(&world->facts).share - 0.06) < 1e-9);
}

/* Where KVM traces no VM exits; where it does, an exit to user space is a part of one. */
TEST(what_kvmtop_takes_of_user_space, setup, teardown)
{
	struct world *world = *state;

	for (uint32_t second = 1; second <= 3; second++) {
		add(world, (struct key){ GUEST_NONE, -1, COST }, OWN_NS);
		add(world, (struct key){ 1, 0, RUN }, second);
		exits(world, 1, 0, USERSPACE, second * 200000, 1000);
		if (second == 3)
			exits(world, 1, 0, VMEXIT, 80000, 1000);
		take(world);
		if (second > 1)
			assert_string_equal(found(world), second == 2 ?
					    "kvmtop db1 0 major 10.0%" : "kvmtop db1 0 minor 4.0%");
	}
}

/* Of another host's findings the names are known; what is measured here has numbers as well. */
TEST(what_another_kvmtop_found, setup, teardown)
{
	struct world *world = *state;

	whole_second(world, 1, 0);
	add(world, (struct key){ 1, 0, WAIT }, SECOND / 5);
	add(world, (struct key){ 1, -1, TOLD_WAIT }, 3);
	add(world, (struct key){ 1, -1, TOLD_TIMER }, 1);
	add(world, (struct key){ 2, -1, TOLD_WAIT }, 3);
	add(world, (struct key){ 2, -1, TOLD_NEW }, 3);
	add(world, (struct key){ GUEST_NONE, -1, TOLD_TIMER }, 2);
	take(world);
	assert_string_equal(found(world), "cpu_wait web1 - critical -, "
					  "cpu_wait db1 0 major 20.0%, timer all guests - major -, "
					  "timer db1 - minor -");
	world->query.guest = 2;
	assert_string_equal(found(world), "cpu_wait web1 - critical -");
	assert_non_null(strstr(cell_of(world, "evidence"), "run kvmtop why there"));
	assert_non_null(strstr(cell_of(world, "remedy"), "Move vCPUs to idle CPUs"));
	take(world);
	assert_string_equal(found(world), ""); /* it is over */
}

static bool wants_waits(struct world *world)
{
	struct field_set wanted = { 0 };
	bool is_wanted;

	query_wants(&world->query, world->fields, &wanted);
	is_wanted = field_set_has(&wanted, WAITS);
	field_set_release(&wanted);
	return is_wanted;
}

/*
 * A live screen's view has what the line on other views has: a finding stays for a while. While it
 * says that vCPUs wait, what has the CPU is measured.
 */
TEST(what_is_steady_is_in_the_view, setup, teardown)
{
	struct world *world = *state;
	struct findings findings = { 0 }, followed = { 0 };

	assert_true(wants_waits(world)); /* of a single sample it always is */
	world->query.followed = &followed;
	for (uint64_t i = 1; i <= 3 + STEADY_SAMPLES; i++) {
		add(world, (struct key){ 1, 0, TIME }, i * SECOND);
		add(world, (struct key){ 1, 0, WAIT }, (i < 3 ? i : 3) * SECOND / 2);
		take(world);
		findings_find(&findings, &world->facts, GUEST_ALL, NULL);
		findings_follow(&followed, &findings);
		assert_int_equal(wants_waits(world),
				 i >= STEADY_SAMPLES && i < 3 + STEADY_SAMPLES);
		if (i == 3 + STEADY_SAMPLES) {
			assert_string_equal(found(world), "");
			continue;
		}
		assert_string_equal(found(world), "cpu_wait db1 0 critical 50.0%");
		assert_int_equal(strstr(cell_of(world, "evidence"), "; not in the latest") != NULL,
				 i > 3);
	}
	findings_release(&followed);
	findings_release(&findings);
}

/* KVM may not trace a guest's exits: a wait is then a share of the interval. */
TEST(a_wait_needs_no_exits, setup, teardown)
{
	struct world *world = *state;

	add(world, (struct key){ 1, 0, WAIT }, SECOND / 4);
	add(world, (struct key){ 2, 0, WAIT }, SECOND / 11);
	take(world);
	assert_string_equal(found(world), "cpu_wait db1 0 critical 25.0%");
}

/* What the scheduler says may be some ms newer than the vCPU's own times. */
TEST(no_cost_is_above_all, setup, teardown)
{
	struct world *world = *state;

	whole_second(world, 1, 0);
	add(world, (struct key){ 1, 0, WAIT }, SECOND / 100 * 102);
	take(world);
	assert_string_equal(found(world), "cpu_wait db1 0 critical 100.0%");
}

TEST(worst_first, setup, teardown)
{
	struct world *world = *state;

	whole_second(world, 1, 0);
	whole_second(world, 2, 0);
	add(world, (struct key){ 1, 0, WAIT }, SECOND / 5);
	add(world, (struct key){ 2, 0, WAIT }, SECOND / 3);
	exits(world, 2, 0, CPUID, 60000, 1000);
	add(world, (struct key){ 2, -1, PML }, 100);
	take(world);
	assert_string_equal(found(world), "cpu_wait web1 0 critical 33.3%, "
					  "cpu_wait db1 0 major 20.0%, cpuid web1 0 minor 6.0%, "
					  "dirty_log web1 - minor -");
	world->query.guest = 1;
	assert_string_equal(found(world), "cpu_wait db1 0 major 20.0%");
	world->query.guest = GUEST_ALL;
	set_filter(world, "dirty");
	assert_string_equal(found(world), "dirty_log web1 - minor -");
	assert_true(query_selects_any(&world->query, world->fields));
}

/* A port of user space's, not KVM's own PIT; the serial port has a finding of its own. */
TEST(the_device_is_named, setup, teardown)
{
	struct world *world = *state;

	whole_second(world, 1, 0);
	exits(world, 1, 0, USER_IO, 3000, 100000);
	exits(world, 1, 0, COM1, 1000, 20000);
	exits(world, 1, 0, IDE, 1500, 100000);
	exits(world, 1, 0, PIT, 9000, 100000);
	take(world);
	assert_string_equal(found(world), "user_device db1 0 critical 28.0%");
	assert_string_equal(cell_of(world, "evidence"),
			    "vCPU 0: 28.0 % of its time (threshold 5 %); most: "
			    "IO_INSTRUCTION 0x1f0 read 2 IDE1 1500/s");
	assert_string_equal(cell_of(world, "remedy"),
			    "Use virtio-blk or virtio-scsi in place of the IDE disk.");
}

/* A VMM that is slow to answer is slow for its devices, too: that is one cause. */
TEST(a_slow_device_is_one_cause, setup, teardown)
{
	struct world *world = *state;

	whole_second(world, 1, 0);
	exits(world, 1, 0, USER_IO, 100, SECOND / 200);
	exits(world, 1, 0, IDE, 100, SECOND / 200);
	take(world);
	assert_string_equal(found(world), "slow_vmm db1 0 critical 50.0%");
	assert_string_equal(cell_of(world, "evidence"),
			    "vCPU 0: 5 ms each (threshold 0.5 ms); most: IO_INSTRUCTION "
			    "0x1f0 read 2 IDE1 100/s");
}

/* Seconds are not thousands of milliseconds. */
TEST(a_very_slow_device_takes_seconds, setup, teardown)
{
	struct world *world = *state;

	whole_second(world, 1, 0);
	exits(world, 1, 0, USER_IO, 1, SECOND * 999 / 1000);
	take(world);
	assert_string_equal(found(world), "slow_vmm db1 0 critical 99.9%");
	assert_non_null(strstr(cell_of(world, "evidence"), "vCPU 0: 1.00 s each (threshold "));
}

/* Where the arguments were not counted the exit is named. */
TEST(without_an_argument_the_exit_is_named, setup, teardown)
{
	struct world *world = *state;

	whole_second(world, 1, 0);
	exits(world, 1, 0, USER_IO, 3000, 100000);
	take(world);
	assert_string_equal(found(world), "user_device db1 0 critical 30.0%");
	assert_non_null(strstr(cell_of(world, "evidence"), "; most: IO 3000/s"));
}

/* Advice is for the host that it is given to; for several kinds of hosts it names each. */
TEST(remedies_are_for_the_host, setup, teardown)
{
	static const struct {
		const char *reason, *remedy;
	} hosts[] = { { "vmexit(npf)", "kvm_amd avic=1" }, { "vmexit(DABT_LOW)", "Use a GICv3" },
		      { "vmexit(EPT_VIOLATION)", "kvm_intel enable_apicv=1" } };
	const struct rule *rule = rule_by_id("apic");
	struct world *world = *state;

	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		struct fields *fields = fields_new();
		const char *remedy;
		uint32_t id;

		id = fields_add(fields, &(struct field)EXIT_OF(FIELD_NONE, "vmexit", 1));
		id = fields_add(fields, &(struct field)EXIT_OF(id, hosts[i].reason, 1));
		remedy = rule_remedy(rule, rules_cpu_maker(fields), fields, NULL);
		for (size_t j = 0; j < sizeof(hosts) / sizeof(hosts[0]); j++)
			assert_int_equal(strstr(remedy, hosts[j].remedy) != NULL, i == j);
		fields_free(fields);
	}
	assert_non_null(strstr(rule_remedy(rule, NULL, world->fields, NULL),
			       "avic=1 or kvm_intel"));
}

/* What only goes to the serial port is not a device's finding, too. */
TEST(a_serial_port_alone, setup, teardown)
{
	struct world *world = *state;

	whole_second(world, 1, 0);
	exits(world, 1, 0, USER_IO, 10000, 9000);
	exits(world, 1, 0, COM1, 10000, 10000);
	take(world);
	assert_string_equal(found(world), "serial db1 0 major 10.0%");
}

/* What kvmtop takes of an exit was measured of a few: an exit is not all kvmtop's. */
TEST(what_kvmtop_takes_is_no_more_than_the_exits, setup, teardown)
{
	struct world *world = *state;

	for (uint32_t second = 1; second <= 2; second++) {
		add(world, (struct key){ GUEST_NONE, -1, COST }, 30 * OWN_NS);
		add(world, (struct key){ 1, 0, TIME }, second * SECOND);
		exits(world, 1, 0, VMEXIT, second * 200000, 1000);
		take(world);
	}
	assert_string_equal(found(world), "kvmtop db1 0 major 20.0%");
}

/* A second in which the vCPU was out of KVM_RUN by a signal, and slept. */
static void out_and_asleep(struct world *world, int32_t vcpu, uint64_t second, uint64_t ns)
{
	add(world, (struct key){ 1, vcpu, TIME }, second * SECOND);
	add(world, (struct key){ 1, vcpu, BLOCK }, ns);
	add(world, (struct key){ 1, vcpu, BLOCK_USER }, ns);
	add(world, (struct key){ 1, vcpu, USER_BLOCKED_RESTART }, ns);
	open_exit(world, 1, vcpu, CPUID, second * SECOND + SECOND / 5);
	open_exit(world, 1, vcpu, USER_RESTART, second * SECOND + SECOND / 5);
}

/* All of a guest's vCPUs are out: that is one cause, and neither a slow VMM nor a vCPU's. */
TEST(a_paused_guest, setup, teardown)
{
	struct world *world = *state;

	for (uint64_t second = 1; second <= 2; second++) {
		out_and_asleep(world, 0, second, second * SECOND);
		out_and_asleep(world, 1, second, second * SECOND);
		take(world);
	}
	assert_string_equal(found(world), "paused db1 - critical 100.0%");
	assert_string_equal(cell_of(world, "evidence"),
			    "all vCPUs, out of KVM_RUN and asleep: 100.0 % of its time (threshold "
			    "95 %)");
	assert_non_null(strstr(cell_of(world, "remedy"), "virsh resume"));
	out_and_asleep(world, 0, 3, 3 * SECOND);
	out_and_asleep(world, 1, 3, 3 * SECOND);
	add(world, (struct key){ 1, 0, STOPPED }, SECOND);
	add(world, (struct key){ 1, 1, STOPPED }, SECOND);
	take(world);
	assert_string_equal(found(world), "stopped db1 0 critical 100.0%");
}

/* One vCPU that is kept out is not the guest. */
TEST(a_guest_of_which_one_vcpu_goes_on, setup, teardown)
{
	struct world *world = *state;

	for (uint64_t second = 1; second <= 2; second++) {
		out_and_asleep(world, 0, second, second * SECOND);
		add(world, (struct key){ 1, 1, TIME }, second * SECOND);
		add(world, (struct key){ 1, 1, GUEST }, second * SECOND);
		take(world);
	}
	assert_string_equal(found(world), "exit_open db1 0 critical 100.0%");
	assert_non_null(strstr(cell_of(world, "remedy"), "The VMM took this vCPU out"));
}

/* Time asleep is no work of KVM's: a pager is the cause, not the number of faults. */
TEST(a_pager, setup, teardown)
{
	struct world *world = *state;

	whole_second(world, 1, 0);
	exits(world, 1, 0, NPF, 100, SECOND / 110);
	exits(world, 1, 0, WRITE, 100, SECOND / 110);
	add(world, (struct key){ 1, 0, BLOCKED_NPF }, SECOND / 100 * 88);
	add(world, (struct key){ 1, 0, BLOCK }, SECOND / 100 * 90);
	add(world, (struct key){ 1, 0, BLOCK_USER }, SECOND / 100 * 2);
	add(world, (struct key){ 1, 0, USER_BLOCKED_IO }, SECOND / 100 * 2);
	take(world);
	assert_string_equal(found(world), "blocked_in_kvm db1 0 critical 88.0%");
	assert_string_equal(cell_of(world, "evidence"),
			    "vCPU 0: 88.0 % of its time (threshold 5 %); most: npf");
	assert_non_null(strstr(cell_of(world, "remedy"), "handle_userfault"));
	assert_non_null(strstr(cell_of(world, "remedy"),
			       " kvmtop where -g db1 -f npf --halts shows the code."));
}

TEST(what_sleeps_in_an_exit_is_no_work, setup, teardown)
{
	struct world *world = *state;

	whole_second(world, 1, 0);
	exits(world, 1, 0, CPUID, 100, SECOND / 1000);
	add(world, (struct key){ 1, 0, BLOCKED_CPUID }, SECOND / 100 * 6);
	add(world, (struct key){ 1, 0, BLOCK }, SECOND / 100 * 6);
	take(world);
	assert_string_equal(found(world), "blocked_in_kvm db1 0 minor 6.0%");
	assert_non_null(strstr(cell_of(world, "evidence"), "(threshold 5 %)"));
	assert_null(strstr(cell_of(world, "evidence"), "most"));
	assert_null(strstr(cell_of(world, "remedy"), "page"));
}

/* A VMM that sleeps for each exit is not slow at work. */
TEST(a_vmm_that_sleeps, setup, teardown)
{
	struct world *world = *state;

	whole_second(world, 1, 0);
	exits(world, 1, 0, USER_IO, 100, SECOND / 105);
	add(world, (struct key){ 1, 0, BLOCK }, SECOND / 100 * 92);
	add(world, (struct key){ 1, 0, BLOCK_USER }, SECOND / 100 * 92);
	add(world, (struct key){ 1, 0, USER_BLOCKED_IO }, SECOND / 100 * 92);
	take(world);
	assert_string_equal(found(world), "blocked_in_vmm db1 0 critical 92.0%");
	assert_string_equal(cell_of(world, "evidence"),
			    "vCPU 0: 92.0 % of its time (threshold 5 %); most: IO");
	assert_non_null(strstr(cell_of(world, "remedy"),
			       " kvmtop where -g db1 --halts shows the code."));
}

/* 150 us of the VMM for each exit, and half of the CPUs that its vCPUs need. */
TEST(a_vmm_without_a_cpu, setup, teardown)
{
	struct world *world = *state;

	for (int32_t vcpu = 0; vcpu < 2; vcpu++) {
		whole_second(world, 1, vcpu);
		add(world, (struct key){ 1, vcpu, WAIT }, SECOND / 1000 * 551);
		exits(world, 1, vcpu, USER_IO, 2900, 150000);
	}
	take(world);
	assert_string_equal(found(world), "cpu_wait db1 0 critical 55.1%, "
					  "user_device db1 0 critical 43.5%");
}

/* Where it is not known in which exits a vCPU waited, all of it may have been in these. */
TEST(waits_that_are_in_the_times_of_exits, setup, teardown)
{
	struct world *world = *state;

	add(world, (struct key){ 1, 0, TIME }, SECOND);
	add(world, (struct key){ 1, 0, WAIT }, SECOND / 1000 * 551);
	exits(world, 1, 0, USER_IO, 1000, 580000);
	exits(world, 1, 0, CPUID, 100, SECOND / 1000);
	take(world);
	assert_string_equal(found(world), "cpu_wait db1 0 critical 55.1%");
}

/* One slow exit in a second is less than the noise. */
TEST(a_few_slow_exits_are_noise, setup, teardown)
{
	struct world *world = *state;

	whole_second(world, 1, 0);
	exits(world, 1, 0, USER_IO, 2, 3000000);
	take(world);
	assert_string_equal(found(world), "");
}

/* ---- thresholds */

TEST(thresholds_are_set, setup, teardown)
{
	struct world *world = *state;
	struct thresholds thresholds;
	struct error error = { "" };

	thresholds_init(&thresholds);
	assert_int_equal(thresholds_parse(&thresholds, "# ours\n\n cpu_wait_ratio=0.4 # high\n"
					  "timer_per_second = off\nmajor_ratio = 0\n", &error), 0);
	whole_second(world, 1, 0);
	add(world, (struct key){ 1, 0, WAIT }, SECOND / 100 * 39);
	exits(world, 1, 0, DEADLINE, 900000, 1);
	exits(world, 1, 0, PAUSE, 2000, 1);
	take(world);
	world->query.thresholds = &thresholds;
	assert_string_equal(found(world), "pause db1 0 major 0.0%");
	world->query.thresholds = NULL;
	assert_string_equal(found(world), "cpu_wait db1 0 critical 39.0%, timer db1 0 minor 0.1%, "
					  "pause db1 0 minor 0.0%");
}

TEST(bad_lines_are_named, setup, teardown)
{
	static const char *const texts[][2] = {
		{ "\ncpu_wait_ratio", "line 2: \"cpu_wait_ratio\": not \"name = value\"" },
		{ "wait = 1", "line 1: \"wait\": no such threshold; kvmtop why --thresholds help "
			      "lists them" },
		{ "cpu_wait_ratio = 10%", "line 1: cpu_wait_ratio = \"10%\": not a number >= 0, "
					  "nor \"off\"" },
		{ "cpu_wait_ratio = -1", "line 1: cpu_wait_ratio = \"-1\": not a number >= 0, "
					 "nor \"off\"" },
		{ "cpu_wait_ratio = 1e999", "line 1: cpu_wait_ratio = \"1e999\": not a number "
					    ">= 0, nor \"off\"" },
		{ "cpu_wait_ratio =", "line 1: cpu_wait_ratio = \"\": not a number >= 0, nor "
				      "\"off\"" },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct thresholds thresholds;
		struct error error = { "" };

		thresholds_init(&thresholds);
		assert_int_equal(thresholds_parse(&thresholds, texts[i][0], &error), -EINVAL);
		assert_string_equal(error.text, texts[i][1]);
	}
}

/* Every threshold has a name that ends in its unit, and no name is there twice. */
TEST(names_have_units, setup, teardown)
{
	const char *name;

	for (size_t i = 0; (name = thresholds_at(i).name); i++) {
		assert_true(strstr(name, "_ratio") || strstr(name, "_per_second") ||
			    strstr(name, "_seconds"));
		assert_true(thresholds_at(i).by_default > 0);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(name, thresholds_at(j).name);
	}
}

static void find_all_findings(void *arg)
{
	struct world *world = arg;
	struct findings findings = { 0 };

	findings_find(&findings, &world->facts, GUEST_ALL, NULL);
	assert_int_equal(findings.nr, guests_count(world->guests));
	findings_release(&findings);
}

/* So many guests whose vCPUs wait, ten on each CPU, and how long their findings take. */
static double waits_s(struct world *world, uint32_t nr, uint32_t nr_culprits)
{
	static uint64_t seconds;
	const uint32_t first = NR_FIELDS;

	seconds++;
	for (uint32_t i = 0; i < nr_culprits; i++) {
		char name[32];

		snprintf(name, sizeof(name), "waits(process %u)", i);
		assert_int_equal(fields_add(world->fields,
					    &(struct field){ .name = name, .parent = WAITS,
							     .use = USE_WAIT,
							     .part = WAIT_PROCESS }),
				 first + i);
	}
	for (uint32_t guest = 1; guest <= nr; guest++) {
		if (guest > guests_count(world->guests))
			guests_add_fake(world->guests, 10000 + 10 * (pid_t)guest, "guest", 1);
		add(world, (struct key){ guest, 0, TIME }, seconds * SECOND);
		add(world, (struct key){ guest, 0, WAIT }, seconds * SECOND / 2);
		add(world, (struct key){ guest, 0, HOST_ON }, guest / 10);
		for (uint32_t i = 0; i < nr_culprits; i++)
			exits(world, guest, 0, first + i, (uint32_t)seconds, 1000000 + i);
	}
	take(world);
	return least_cpu_s(find_all_findings, world);
}

/* The evidence of each is of what was on its own CPU, not of all vCPUs. */
TEST(many_guests_that_wait, setup, teardown)
{
	double few = waits_s(*state, 250, 0);

	assert_true(waits_s(*state, 2000, 0) < 24 * few);
}

/* And of its own vCPU's culprits, not of all. */
TEST(many_culprits, setup, teardown)
{
	double few = waits_s(*state, 60, 50);

	assert_true(waits_s(*state, 480, 50) < 24 * few);
}
