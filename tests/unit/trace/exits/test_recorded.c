/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_recorded - recordings as guests and as rows of the live program's views: made-up recordings
 * to the digit, recordings of other programs as the text report has them.
 */
#include "lib/array.h"
#include "core/monitor.h"
#include "core/facts/shared_fields.h"
#include "core/views/fill.h"
#include "tests/unit/unit.h"
#include "tests/worlds/exit_cases.h"
#include "tests/worlds/cmocka_range.h"
#include "tests/worlds/trace_file.h"
#include "trace/exits/recording.h"
#include "core/views/query.h"
#include "core/views/view.h"

enum {
	ID_USER = 105, ID_IRQ, ID_SWITCH, ID_WAKING, ID_WAKEUP, ID_LIMIT, ID_NESTED, ID_VMGEXIT,
	ID_FAULT
};

#define NR_FORMATS (NR_WORLD_FORMATS + 9)

static const char *formats[NR_FORMATS];

static int add_formats(void **state)
{
	for (size_t i = 0; i < NR_WORLD_FORMATS; i++)
		formats[i] = world_formats[i];
	formats[NR_WORLD_FORMATS] =
		"name: kvm_userspace_exit\nID: 105\n" COMMON_FIELDS
		"\tfield:__u32 reason;\toffset:8;\tsize:4;\tsigned:0;\n"
		"\tfield:int errno;\toffset:12;\tsize:4;\tsigned:1;\n\n"
		"print fmt: \"reason %s\", REC->errno < 0 ? \"error\" : "
		"__print_symbolic(REC->reason, { 6, \"KVM_EXIT_MMIO\" })\n";
	formats[NR_WORLD_FORMATS + 1] = "name: kvm_set_irq\nID: 106\n" COMMON_FIELDS
					"\tfield:int gsi;\toffset:8;\tsize:4;\tsigned:1;\n"
					"\tfield:int level;\toffset:12;\tsize:4;\tsigned:1;\n\n"
					"print fmt: \"gsi %d\", REC->gsi\n";
	formats[NR_WORLD_FORMATS + 2] =
		"name: sched_switch\nID: 107\n" COMMON_FIELDS
		"\tfield:pid_t prev_pid;\toffset:8;\tsize:4;\tsigned:1;\n"
		"\tfield:long prev_state;\toffset:16;\tsize:8;\tsigned:1;\n"
		"\tfield:pid_t next_pid;\toffset:24;\tsize:4;\tsigned:1;\n\n"
		"print fmt: \"%d\", REC->prev_pid\n";
	formats[NR_WORLD_FORMATS + 3] =
		"name: sched_waking\nID: 108\n" COMMON_FIELDS
		"\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n\n"
		"print fmt: \"%d\", REC->pid\n";
	formats[NR_WORLD_FORMATS + 4] = "name: kvm_vcpu_wakeup\nID: 109\n" COMMON_FIELDS
					"\tfield:__u64 ns;\toffset:8;\tsize:8;\tsigned:0;\n"
					"\tfield:bool waited;\toffset:16;\tsize:1;\tsigned:0;\n\n"
					"print fmt: \"%lld\", REC->ns\n";
	formats[NR_WORLD_FORMATS + 5] =
		"name: kvm_halt_poll_ns\nID: 110\n" COMMON_FIELDS
		"\tfield:unsigned int new;\toffset:8;\tsize:4;\tsigned:0;\n"
		"\tfield:unsigned int old;\toffset:12;\tsize:4;\tsigned:0;\n\n"
		"print fmt: \"%u\", REC->new\n";
	formats[NR_WORLD_FORMATS + 6] =
		"name: kvm_nested_vmexit\nID: 111\n" COMMON_FIELDS
		"\tfield:__u32 exit_code;\toffset:8;\tsize:4;\tsigned:0;\n\n"
		"print fmt: \"%u\", REC->exit_code\n";
	formats[NR_WORLD_FORMATS + 7] =
		"name: kvm_vmgexit_enter\nID: 112\n" COMMON_FIELDS
		"\tfield:unsigned int vcpu_id;\toffset:8;\tsize:4;\tsigned:0;\n"
		"\tfield:u64 exit_reason;\toffset:16;\tsize:8;\tsigned:0;\n\n"
		"print fmt: \"vcpu %u, exit_reason %llx\", REC->vcpu_id, REC->exit_reason\n";
	formats[NR_WORLD_FORMATS + 8] = "name: kvm_page_fault\nID: 113\n" COMMON_FIELDS
					"\tfield:u64 error_code;\toffset:8;\tsize:8;\tsigned:0;\n\n"
					"print fmt: \"%llx\", REC->error_code\n";
	return set_up(state);
}

static void put_user(struct bytes *bytes, uint32_t tid, uint32_t reason, int error)
{
	put_common(bytes, ID_USER, tid);
	put_u32(bytes, reason);
	put_u32(bytes, (uint32_t)error);
}

static void put_wakeup(struct bytes *bytes, uint32_t tid, uint64_t ns, bool has_waited)
{
	put_common(bytes, ID_WAKEUP, tid);
	put_u64(bytes, ns);
	put_u8(bytes, has_waited);
	put(bytes, "\0\0\0", 3);
}

static void put_limit(struct bytes *bytes, uint32_t tid, uint32_t new, uint32_t old)
{
	put_common(bytes, ID_LIMIT, tid);
	put_u32(bytes, new);
	put_u32(bytes, old);
}

static void put_nested(struct bytes *bytes, uint32_t tid, uint32_t reason)
{
	put_common(bytes, ID_NESTED, tid);
	put_u32(bytes, reason);
}

static void put_vmgexit(struct bytes *bytes, uint32_t tid, uint64_t code)
{
	put_common(bytes, ID_VMGEXIT, tid);
	put_u32(bytes, 0);
	put_u32(bytes, 0);
	put_u64(bytes, code);
}

static void put_irq(struct bytes *bytes, uint32_t tid)
{
	put_common(bytes, ID_IRQ, tid);
	put_u32(bytes, 4);
	put_u32(bytes, 1);
}

static void put_switch(struct bytes *bytes, uint32_t from, uint64_t state, uint32_t to)
{
	put_common(bytes, ID_SWITCH, from);
	put_u32(bytes, from);
	put_u32(bytes, 0);
	put_u64(bytes, state);
	put_u32(bytes, to);
	put_u32(bytes, 0);
}

static void put_waking(struct bytes *bytes, uint32_t by, uint32_t tid)
{
	put_common(bytes, ID_WAKING, by);
	put_u32(bytes, tid);
}

/* ---- a recording that is made, read and looked at */

struct world {
	struct made_ring rings[2];
	struct bytes event;
	struct recording recording;
	struct monitor *monitor;
	struct query query;
	struct view view;
};

static void begin(struct world *world)
{
	*world = (struct world){ .monitor = NULL };
	ring_init(&world->rings[0], 0);
	ring_init(&world->rings[1], 0);
}

static void add(struct world *world, int cpu, uint64_t time)
{
	ring_add(&world->rings[cpu], time, &world->event);
}

static void look(struct world *world, const struct view_type *type)
{
	struct error error = { "" };

	world->query.type = type;
	world->query.sort = view_default_sort(type);
	assert_int_equal(monitor_want(world->monitor, &world->query, &error), 0);
	assert_true(monitor_has_new_counts(world->monitor));
	assert_true(monitor_is_ready(world->monitor));
	monitor_sample(world->monitor);
	view_build(&world->view, &world->query, monitor_facts(world->monitor));
}

static void read_recording(struct world *world, const char *name,
			   const struct recording_choice *choice)
{
	const char *paths[] = { name };
	struct error error = { "" };

	assert_int_equal(recording_read(paths, 1, choice, &world->recording, &error), 0);
}

static void open_file(struct world *world, const char *name, double ns_per_unit)
{
	const struct recording_choice choice = {
		.arguments = PAIRING_ALL_ARGUMENTS,
		.mhz = 1e3 / ns_per_unit,
	};
	struct monitor_config config = { .list = recorded_players, .source = SOURCE_RECORDING,
					 .is_span = true };
	struct error error = { "" };

	read_recording(world, name, &choice);
	config.recording = (struct monitor_recording){
		.recording = &world->recording,
		.guests = world->recording.guests,
	};
	assert_int_equal(monitor_open(&config, &world->monitor, &error), 0);
}

static void open_bytes(struct world *world, struct bytes *file, double ns_per_unit)
{
	save(path, file->data, file->len);
	bytes_release(file);
	open_file(world, path, ns_per_unit);
}

static void write_dat(struct world *world)
{
	struct bytes file = { .len = 0 };

	put_dat6(&file, world->rings, 2, formats, NR_FORMATS, "[local]");
	bytes_release(&world->event);
	save(path, file.data, file.len);
	bytes_release(&file);
}

static void open_dat(struct world *world)
{
	write_dat(world);
	open_file(world, path, 1);
}

static void end(struct world *world)
{
	view_release(&world->view);
	field_set_release(&world->query.open);
	monitor_close(world->monitor);
	recording_release(&world->recording);
}

static const struct stats_item *find_item(const struct world *world, uint32_t guest, int32_t vcpu,
					  const char *name)
{
	const struct facts *facts = monitor_facts(world->monitor);
	uint32_t field = fields_find(facts->fields, name);

	for (size_t i = 0; i < facts->stats->nr; i++) {
		const struct stats_item *item = &facts->stats->list[i];

		if (item->key.guest == guest && item->key.vcpu == vcpu && item->key.field == field)
			return item;
	}
	return NULL;
}

static const struct stats_item *item(const struct world *world, uint32_t guest, int32_t vcpu,
				     const char *name)
{
	const struct stats_item *found = find_item(world, guest, vcpu, name);

	if (!found)
		fail_msg("no %s of guest %u vCPU %d", name, guest, vcpu);
	return found;
}

static uint64_t total(const struct world *world, int32_t vcpu, const char *name)
{
	return item(world, 1, vcpu, name)->total;
}

static uint64_t time_of(const struct world *world, int32_t vcpu, const char *name)
{
	assert_non_null(item(world, 1, vcpu, name)->timing);
	return item(world, 1, vcpu, name)->timing->total_ns;
}

static const struct view_row *row(const struct world *world, const char *name)
{
	for (size_t i = 0; i < world->view.nr_rows; i++) {
		const struct cell *cell = &world->view.rows[i].cells[0];

		if (cell->type == CELL_TEXT && strcmp(cell->text, name) == 0)
			return &world->view.rows[i];
	}
	fail_msg("no row %s", name);
	return NULL;
}

static const struct cell *cell(const struct world *world, const char *name, const char *column)
{
	int i = view_column_by_id(world->query.type, column);

	assert_true(i >= 0);
	return &row(world, name)->cells[i];
}

/*
 * 10 us of a guest, and what happens in them: vCPU 0 halts, writes an MSR, asks user space about an
 * address, and halts until the end; vCPU 1 writes an MSR by another kind of exit; another thread
 * sends an interrupt.
 */
static void make_guest(struct world *world)
{
	begin(world);
	put_exit(&world->event, 77, 0, 1, 12);
	add(world, 0, 1000);
	put_entry(&world->event, 77, 0);
	add(world, 0, 3000);
	put_exit(&world->event, 77, 0, 1, 32);
	add(world, 0, 4000);
	put_msr(&world->event, 77, 1, 0x6e0);
	add(world, 0, 4100);
	put_entry(&world->event, 77, 0);
	add(world, 0, 4500);
	put_exit(&world->event, 77, 0, 1, 48);
	add(world, 0, 5000);
	put_mmio(&world->event, 77, 2, 0x2000);
	add(world, 0, 5100);
	put_user(&world->event, 77, 6, 0);
	add(world, 0, 5200);
	put_user(&world->event, 77, 6, -4); /* -EINTR */
	add(world, 0, 5300);
	put_entry(&world->event, 77, 0);
	add(world, 0, 7000);
	put_exit(&world->event, 77, 0, 1, 12);
	add(world, 0, 9000);
	put_exit(&world->event, 78, 1, 1, 30);
	add(world, 1, 2000);
	put_msr(&world->event, 78, 1, 0x6e0);
	add(world, 1, 2100);
	put_entry(&world->event, 78, 1);
	add(world, 1, 2600);
	put_irq(&world->event, 5);
	add(world, 1, 11000);
	open_dat(world);
}

TEST(exits_to_the_digit)
{
	struct world world;

	make_guest(&world);
	look(&world, &view_hotspots);
	assert_int_equal(world.recording.span_ns, 10000);
	assert_int_equal(monitor_elapsed_ns(world.monitor), 10000);
	assert_int_equal(total(&world, 0, "vmexit"), 3); /* one has no end */
	assert_int_equal(time_of(&world, 0, "vmexit"), 4500);
	assert_int_equal(time_of(&world, 0, "vmexit(HLT)"), 2000);
	assert_int_equal(total(&world, 0, "vmexit(HLT)"), 1);
	assert_int_equal(time_of(&world, 0, "vmexit(MSR_WRITE)"), 500);
	assert_int_equal(time_of(&world, 0, "vmexit(EPT_VIOLATION)"), 2000);
	assert_int_equal(time_of(&world, 1, "vmexit(IO_INSTRUCTION)"), 600);
	assert_int_equal(item(&world, 1, 1, "vmexit(IO_INSTRUCTION)")->timing->max_ns, 600);
	assert_int_equal(item(&world, 1, 1, "vmexit(IO_INSTRUCTION)")->timing->total[3], 1);
	assert_true(item(&world, 1, 0, "vmexit")->has_rate);
	assert_true(item(&world, 1, 0, "vmexit")->rate_per_s == 300000);
	/* Of two exits to user space in a row the second ends the first, as live. */
	assert_int_equal(total(&world, 0, "userspace(MMIO)"), 1);
	assert_int_equal(time_of(&world, 0, "userspace(MMIO)"), 100);
	assert_int_equal(total(&world, 0, "userspace(INTR)"), 1);
	assert_int_equal(time_of(&world, 0, "userspace(INTR)"), 1700);
	end(&world);
}

/* An exit that is open at the end is in the time. */
TEST(the_parts_of_time)
{
	struct world world;

	make_guest(&world);
	look(&world, &view_vcpus);
	assert_int_equal(total(&world, 0, "time"), 10000);
	assert_int_equal(total(&world, 0, "time(idle)"), 4000);
	assert_int_equal(total(&world, 0, "time(user)"), 1800);
	assert_int_equal(total(&world, 0, "time(kvm)"), 700);
	assert_int_equal(total(&world, 0, "time(guest)"), 3500);
	assert_int_equal(total(&world, 1, "time"), 9000); /* from its first exit on */
	assert_int_equal(total(&world, 1, "time(kvm)"), 600);
	assert_int_equal(total(&world, 1, "time(guest)"), 8400);
	assert_int_equal(total(&world, 1, "cpu"), 1);
	assert_int_equal(world.view.nr_rows, 2);
	assert_false(view_has_column(&world.view,
				     (size_t)view_column_by_id(&view_vcpus, "wait_percent")));
	assert_false(view_has_column(&world.view,
				     (size_t)view_column_by_id(&view_vcpus, "history")));
	assert_string_equal(world.view.note, TIMES_WITH_WAITS);
	end(&world);
}

/*
 * A halt that signals interrupt: user space has the vCPU for 50 us each time. The thread's last
 * event is another signal.
 */
static void make_interrupted(struct world *world, bool has_sched)
{
	static const uint64_t sleeps[] = { 20000, 110000, 210000, 231000 };
	static const uint64_t wakes[] = { 60000, 160000, 220000, 241000 };

	begin(world);
	put_entry(&world->event, 77, 0);
	add(world, 0, 1000);
	for (uint64_t i = 0; i < 4; i++) {
		if (i % 3 == 0) {
			put_exit(&world->event, 77, 0, 1, 12);
			add(world, 0, sleeps[i]);
		}
		if (has_sched) {
			put_switch(&world->event, 77, 1, 0);
			add(world, 0, sleeps[i]);
			put_waking(&world->event, 0, 77);
			add(world, 0, wakes[i]);
			put_switch(&world->event, 0, 0, 77);
			add(world, 0, wakes[i]);
		}
		if (i == 2)
			put_entry(&world->event, 77, 0);
		else
			put_user(&world->event, 77, 0, -4); /* -EINTR */
		add(world, 0, wakes[i]);
	}
	put_irq(&world->event, 5);
	add(world, 1, 251000);
	open_dat(world);
}

/* KVM_RUN has begun again when the thread sleeps. */
TEST(interrupted_halts)
{
	struct world world;

	make_interrupted(&world, true);
	look(&world, &view_vcpus);
	assert_int_equal(total(&world, 0, "time"), 240000);
	assert_int_equal(total(&world, 0, "time(guest)"), 19000 + 11000);
	assert_int_equal(total(&world, 0, "time(user)"), 100000);
	assert_int_equal(total(&world, 0, "time(idle)"), 40000 + 50000 + 10000 + 10000);
	assert_int_equal(total(&world, 0, "time(kvm)"), 0);
	assert_int_equal(total(&world, 0, "time(block)"), 0);
	assert_int_equal(total(&world, 0, "userspace(INTR)"), 2);
	assert_int_equal(time_of(&world, 0, "userspace(INTR)"), 100000);
	assert_int_equal(time_of(&world, 0, "vmexit(HLT)"), 200000);
	assert_int_equal(total(&world, 0, "vmexit_idle(HLT)"), 100000);
	end(&world);
}

/* Without the scheduler's events such a halt is one as a whole. */
TEST(halts_that_may_go_on)
{
	struct world world;

	make_interrupted(&world, false);
	look(&world, &view_vcpus);
	assert_int_equal(total(&world, 0, "time"), 240000);
	assert_int_equal(total(&world, 0, "time(guest)"), 30000);
	assert_int_equal(total(&world, 0, "time(user)"), 0);
	assert_int_equal(total(&world, 0, "time(idle)"), 210000);
	assert_int_equal(total(&world, 0, "time(kvm)"), 0);
	assert_null(find_item(&world, 1, 0, "time(block)"));
	end(&world);
}

/* Only that: another exit to user space is no halt. */
TEST(user_space_beside_a_halt_that_may_go_on)
{
	struct world world;

	begin(&world);
	put_entry(&world.event, 77, 0);
	add(&world, 0, 1000);
	put_exit(&world.event, 77, 0, 1, 12);
	add(&world, 0, 20000);
	put_user(&world.event, 77, 0, -4);
	add(&world, 0, 30000);
	put_entry(&world.event, 77, 0);
	add(&world, 0, 50000);
	put_exit(&world.event, 77, 0, 1, 30);
	add(&world, 0, 60000);
	put_user(&world.event, 77, 2, 0);
	add(&world, 0, 61000);
	put_entry(&world.event, 77, 0);
	add(&world, 0, 66000);
	put_irq(&world.event, 5);
	add(&world, 1, 71000);
	open_dat(&world);
	look(&world, &view_vcpus);
	assert_int_equal(total(&world, 0, "time(guest)"), 19000 + 10000 + 5000);
	assert_int_equal(total(&world, 0, "time(idle)"), 30000);
	assert_int_equal(total(&world, 0, "time(user)"), 5000);
	assert_int_equal(total(&world, 0, "time(kvm)"), 1000);
	end(&world);
}

/* One halt is polled to its end, the next up to its limit, the last one not at all. */
TEST(polls_in_halts)
{
	struct world world;

	begin(&world);
	put_wakeup(&world.event, 77, 500, false); /* of a halt that began before */
	add(&world, 0, 900);
	for (uint64_t i = 1; i <= 3; i++) {
		put_exit(&world.event, 77, 0, 1, 12);
		add(&world, 0, 10000 * i);
		if (i == 2) {
			put_limit(&world.event, 77, 2000, 1000);
			add(&world, 0, 10000 * i + 3990);
		}
		put_wakeup(&world.event, 77, i == 1 ? 400 : 3900, i > 1);
		add(&world, 0, 10000 * i + 4000);
		put_entry(&world.event, 77, 0);
		add(&world, 0, 10000 * i + 4100);
	}
	put_exit(&world.event, 77, 0, 1, 32);
	add(&world, 0, 40000);
	put_entry(&world.event, 77, 0);
	add(&world, 0, 40500);
	open_dat(&world);
	look(&world, &view_vcpus);
	assert_int_equal(total(&world, 0, "time(idle)"), 12300 - 1400);
	assert_int_equal(total(&world, 0, "time(poll)"), 1400);
	look(&world, &view_exits);
	assert_true(cell(&world, "HLT", "time_percent")->number > 4.5);
	assert_true(cell(&world, "HLT", "poll_percent")->number < 4.7);
	assert_true(cell(&world, "MSR_WRITE", "poll_percent")->number < 0.1);
	assert_ptr_equal(row(&world, "HLT"), &world.view.rows[0]);
	end(&world);
}

/* Three entries and exits; the second exit is of L2, and so is the time before it. */
TEST(exits_of_l2)
{
	struct world world;

	begin(&world);
	for (uint64_t i = 0; i < 3; i++) {
		put_entry(&world.event, 77, 0);
		add(&world, 0, 10000 * i);
		put_exit(&world.event, 77, 0, 1, 32);
		add(&world, 0, 10000 * i + 4000 + i);
		if (i == 1) {
			put_nested(&world.event, 77, 32);
			add(&world, 0, 10000 * i + 4100);
		}
	}
	put_entry(&world.event, 77, 0);
	add(&world, 0, 30000);
	open_dat(&world);
	look(&world, &view_vcpus);
	assert_int_equal(total(&world, 0, "vmexit(MSR_WRITE)"), 2);
	assert_int_equal(time_of(&world, 0, "vmexit(MSR_WRITE)"), 6000 + 5998);
	assert_int_equal(total(&world, 0, "vmexit(MSR_WRITE L2)"), 1);
	assert_int_equal(time_of(&world, 0, "vmexit(MSR_WRITE L2)"), 5999);
	assert_int_equal(total(&world, 0, "time(L2)"), 4001);
	assert_true(view_has_column(&world.view,
				    (size_t)view_column_by_id(&view_vcpus, "l2_percent")));
	end(&world);
}

/* One argument of exits with two reasons is two hot spots. */
/*
 * A protected guest leaves by VMGEXIT, and says what for: also to halt, which is no time of KVM's.
 * An exit of another reason, or no exit, stays what it is.
 */
TEST(what_vmgexits_are_for)
{
	static const uint64_t codes[] = { 0x78, 0x7c, 0x80000001, 0x12345, 0 };
	struct world world;
	uint64_t now = 1000;

	begin(&world);
	put_vmgexit(&world.event, 77, 0x78);
	add(&world, 0, now);
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		put_exit(&world.event, 77, 0, 2, codes[i] ? 0x403 : 0x400);
		add(&world, 0, now += 100);
		put_vmgexit(&world.event, 77, codes[i]);
		add(&world, 0, now += 10);
		put_entry(&world.event, 77, 0);
		add(&world, 0, now += 90 + i);
	}
	open_dat(&world);
	look(&world, &view_exits);
	assert_int_equal(total(&world, 0, "vmexit"), 5);
	assert_int_equal(time_of(&world, 0, "vmexit(vmgexit hlt)"), 100);
	assert_int_equal(time_of(&world, 0, "vmexit(vmgexit msr)"), 101);
	assert_int_equal(time_of(&world, 0, "vmexit(vmgexit_mmio_read)"), 102);
	assert_int_equal(time_of(&world, 0, "vmexit(vmgexit 0x12345)"), 103);
	assert_int_equal(time_of(&world, 0, "vmexit(npf)"), 104);
	assert_int_equal(total(&world, 0, "time(idle)"), 100);
	assert_int_equal(total(&world, 0, "time(kvm)"), 101 + 102 + 103 + 104);
	world.query.children = true;
	look(&world, &view_events);
	assert_int_equal(total(&world, 0, "kvm_exit(vmgexit hlt)"), 1);
	assert_null(find_item(&world, 1, 0, "kvm_exit(vmgexit)"));
	end(&world);
}

TEST(arguments_and_their_exits)
{
	const struct fields *fields;
	struct world world;
	uint32_t hot;

	make_guest(&world);
	look(&world, &view_hotspots);
	fields = monitor_facts(world.monitor)->fields;
	assert_int_equal(world.view.nr_rows, 4);
	assert_int_equal(time_of(&world, 0, "msr(MSR_WRITE 0x6e0 IA32_TSC_DEADLINE write)"), 500);
	assert_int_equal(time_of(&world, 1, "msr(IO_INSTRUCTION 0x6e0 IA32_TSC_DEADLINE write)"),
			 600);
	assert_int_equal(time_of(&world, 0, "mmio(EPT_VIOLATION 0x2000 write 4)"), 1900);
	assert_int_equal(total(&world, 0, "msr"), 1);
	hot = fields_find(fields, "mmio(EPT_VIOLATION 0x2000 write 4)");
	assert_int_equal(fields_get(fields, hot)->reason,
			 fields_find(fields, "vmexit(EPT_VIOLATION)"));

	world.query.has_reason = true;
	world.query.reason = fields_find(fields, "vmexit(EPT_VIOLATION)");
	look(&world, &view_hotspots);
	assert_int_equal(world.view.nr_rows, 1);
	end(&world);
}

/* All exits of a kind: how many, and how long. */
static void sum_of_kind(const struct pairing *pairing, enum exit_kind kind, uint64_t *ret_count,
			uint64_t *ret_time)
{
	*ret_count = *ret_time = 0;
	for (size_t i = 0; i < pairing->table.nr_threads; i++) {
		const struct recorded_thread *thread = pairing->table.threads[i];

		for (size_t j = 0; j < thread->counts.nr; j++) {
			if (thread->counts.list[j]->key.kind != kind)
				continue;
			*ret_count += thread->counts.list[j]->begun;
			*ret_time += thread->counts.list[j]->took.total_ns;
		}
	}
}

/*
 * A read begins with its exit and ends with its event, a write begins with its event and ends with
 * the entry. A read that was not answered says nothing; one without its exit has no time.
 */
TEST(reads_and_writes_of_memory)
{
	enum { UNSATISFIED, READ, WRITE };
	struct world world;

	begin(&world);
	put_entry(&world.event, 77, 0);
	add(&world, 0, 500);
	put_mmio(&world.event, 77, READ, 0x1000);
	add(&world, 0, 800);
	put_exit(&world.event, 77, 0, 1, 48);
	add(&world, 0, 1000);
	put_mmio(&world.event, 77, UNSATISFIED, 0);
	add(&world, 0, 1100);
	put_mmio(&world.event, 77, READ, 0x2000);
	add(&world, 0, 1700);
	put_mmio(&world.event, 77, WRITE, 0x3000);
	add(&world, 0, 1800);
	put_entry(&world.event, 77, 0);
	add(&world, 0, 2000);
	put_exit(&world.event, 77, 0, 1, 48);
	add(&world, 0, 3000);
	put_mmio(&world.event, 77, WRITE, 0x3000);
	add(&world, 0, 3400);
	put_entry(&world.event, 77, 0);
	add(&world, 0, 4000);
	open_dat(&world);
	look(&world, &view_hotspots);
	assert_int_equal(time_of(&world, 0, "mmio(EPT_VIOLATION 0x2000 read 4)"), 700);
	assert_int_equal(time_of(&world, 0, "mmio(EPT_VIOLATION 0x3000 write 4)"), 200 + 600);
	assert_int_equal(total(&world, 0, "mmio(EPT_VIOLATION 0x3000 write 4)"), 2);
	assert_int_equal(total(&world, 0, "mmio"), 3);
	end(&world);
}

static void put_fault(struct bytes *event, uint32_t tid, uint64_t code)
{
	put_common(event, ID_FAULT, tid);
	put_u64(event, code);
}

/* A fault of memory, by AMD's and Intel's codes, and one of a device. */
TEST(faults_of_memory)
{
	struct world world;

	begin(&world);
	put_exit(&world.event, 77, 0, 2, 0x400);
	add(&world, 0, 1000);
	put_fault(&world.event, 77, 0x100000007);
	add(&world, 0, 1100);
	put_entry(&world.event, 77, 0);
	add(&world, 0, 2000);
	put_exit(&world.event, 77, 0, 2, 0x400);
	add(&world, 0, 3000);
	put_fault(&world.event, 77, 0x10000000f);
	add(&world, 0, 3100);
	put_mmio(&world.event, 77, 2, 0x3000);
	add(&world, 0, 3200);
	put_entry(&world.event, 77, 0);
	add(&world, 0, 4000);
	put_exit(&world.event, 78, 1, 1, 48);
	add(&world, 0, 5000);
	put_fault(&world.event, 78, 0x184);
	add(&world, 0, 5100);
	put_entry(&world.event, 78, 1);
	add(&world, 0, 5700);
	open_dat(&world);
	look(&world, &view_hotspots);
	assert_int_equal(time_of(&world, 0, "fault(npf write-protected)"), 1000);
	assert_int_equal(time_of(&world, 1, "fault(EPT_VIOLATION exec)"), 700);
	assert_int_equal(time_of(&world, 0, "mmio(npf 0x3000 write 4)"), 800);
	assert_int_equal(total(&world, 0, "fault"), 1);
	assert_int_equal(total(&world, 0, "mmio"), 1);
	end(&world);
}

/* An argument outside an exit is counted where it says so, but is over at once. */
TEST(arguments_without_exits)
{
	struct world world;
	uint64_t count, time;

	begin(&world);
	put_entry(&world.event, 77, 0);
	add(&world, 0, 500);
	put_msr(&world.event, 77, 1, 0x6e0);
	add(&world, 0, 600);
	put_exit(&world.event, 77, 0, 1, 12);
	add(&world, 0, 1000);
	put_entry(&world.event, 77, 0);
	add(&world, 0, 3000);
	open_dat(&world);
	sum_of_kind(&world.recording.pairing, EXITS_MSR, &count, &time);
	assert_int_equal(count, 1);
	assert_int_equal(time, 0);
	end(&world);
}

TEST(events_and_who_fired_them)
{
	struct world world;

	make_guest(&world);
	world.query.children = true;
	look(&world, &view_events);
	assert_int_equal(total(&world, 0, "kvm_exit"), 4);
	assert_int_equal(total(&world, 0, "kvm_exit(HLT)"), 2);
	assert_int_equal(total(&world, 1, "kvm_exit(IO_INSTRUCTION)"), 1);
	assert_int_equal(total(&world, 0, "kvm_userspace_exit(MMIO)"), 1);
	assert_int_equal(total(&world, 0, "kvm_userspace_exit(INTR)"), 1);
	assert_int_equal(total(&world, 1, "kvm_msr"), 1);
	assert_int_equal(item(&world, GUEST_NONE, -1, "kvm_set_irq")->total, 1);
	assert_int_equal(cell(&world, "kvm_exit", "total")->count, 5);
	assert_int_equal(cell(&world, "kvm_entry", "total")->count, 4);
	assert_true(row(&world, "kvm_exit")->can_open);
	assert_true(row(&world, "kvm_exit(HLT)")->is_idle);
	end(&world);
}

/* Another sample changes nothing; the same query later has the same answer. */
TEST(it_is_over)
{
	struct world world;

	make_guest(&world);
	for (int i = 0; i < 3; i++) {
		look(&world, &view_exits);
		monitor_sample(world.monitor);
		assert_int_equal(total(&world, 0, "vmexit"), 3);
		assert_true(item(&world, 1, 0, "vmexit")->rate_per_s == 300000);
		look(&world, &view_events);
		assert_int_equal(total(&world, 0, "kvm_exit"), 4);
		world.query.guest = 1;
	}
	end(&world);
}

/* ---- what is not known */

/* The time between the last event before a loss and the next one of the thread. */
TEST(lost_time_is_no_life)
{
	struct world world;

	begin(&world);
	put_exit(&world.event, 77, 0, 1, 30);
	add(&world, 0, 1000);
	put_entry(&world.event, 77, 0);
	add(&world, 0, 1500);
	put_exit(&world.event, 77, 0, 1, 30);
	add(&world, 0, 2000);
	ring_lose(&world.rings[0], 7);
	put_entry(&world.event, 77, 0);
	add(&world, 0, 8000);
	put_exit(&world.event, 77, 0, 1, 30);
	add(&world, 0, 8700);
	put_entry(&world.event, 77, 0);
	add(&world, 0, 9000);
	open_dat(&world);
	look(&world, &view_vcpus);
	assert_int_equal(total(&world, 0, "vmexit"), 2);
	assert_int_equal(total(&world, 0, "time"), 2000);
	assert_int_equal(total(&world, 0, "time(guest)"), 1200);
	assert_int_equal(total(&world, 0, "time(kvm)"), 800);
	/* User space was not recorded: its time is KVM's, and a note says so. */
	assert_null(find_item(&world, 1, 0, "time(user)"));
	assert_non_null(world.view.note);
	end(&world);
}

/* What is lost of one CPU is lost of its threads alone; more losses than are kept are counted. */
/* A guest whose last event is an exit to user space has perhaps ended: it spends no more time. */
TEST(an_ended_guest_spends_no_time)
{
	struct world world;

	begin(&world);
	for (uint32_t i = 0; i < 2; i++) {
		put_exit(&world.event, 200 + i, i, 1, 30);
		add(&world, 0, 1000 + 100 * i);
		put_user(&world.event, 200 + i, 6, -4);
		add(&world, 0, 1010 + 100 * i);
	}
	put_exit(&world.event, 202, 2, 1, 12); /* halts until the end */
	add(&world, 0, 1150);
	put_irq(&world.event, 5); /* not the guest's */
	add(&world, 0, 11000);
	put_entry(&world.event, 300, 0); /* another guest, which runs on */
	add(&world, 0, 12000);
	open_dat(&world);
	look(&world, &view_vcpus);
	assert_int_equal(total(&world, 0, "time"), 150);
	assert_int_equal(total(&world, 0, "time(user)"), 140);
	assert_int_equal(total(&world, 0, "time(kvm)"), 10);
	assert_int_equal(total(&world, 1, "time"), 50);
	assert_int_equal(total(&world, 1, "time(user)"), 40);
	assert_int_equal(total(&world, 2, "time(idle)"), 10850);
	end(&world);
}

/* Without events of user space an open exit may be the last, but for a halt. */
TEST(what_is_gone_without_user_space)
{
	struct world world;

	begin(&world);
	put_exit(&world.event, 77, 0, 1, 30);
	add(&world, 0, 1000);
	put_entry(&world.event, 77, 0);
	add(&world, 0, 1100);
	put_exit(&world.event, 77, 0, 1, 1);
	add(&world, 0, 1300);
	put_exit(&world.event, 78, 1, 1, 12);
	add(&world, 0, 1400);
	put_irq(&world.event, 5);
	add(&world, 0, 11000);
	open_dat(&world);
	look(&world, &view_vcpus);
	assert_int_equal(total(&world, 0, "time"), 400);
	assert_int_equal(total(&world, 0, "time(kvm)"), 200);
	assert_int_equal(total(&world, 1, "time(idle)"), 9600);
	end(&world);
}

static uint64_t unfinished(const struct world *world, enum exit_kind kind)
{
	const struct table *table = &world->recording.pairing.table;
	uint64_t nr = 0;

	for (size_t i = 0; i < table->nr_threads; i++)
		for (size_t k = 0; k < table->threads[i]->counts.nr; k++)
			nr += count_unfinished(table->threads[i]->counts.list[k], kind);
	return nr;
}

/* Interrupts have no times and no end, and the thread that raises them needs no vCPU. */
TEST(interrupts)
{
	struct world world;

	begin(&world);
	put_exit(&world.event, 77, 0, 1, 30);
	add(&world, 0, 1000);
	put_irq(&world.event, 77);
	add(&world, 0, 1100);
	put_entry(&world.event, 77, 0);
	add(&world, 0, 1200);
	put_irq(&world.event, 5);
	add(&world, 0, 1300);
	put_exit(&world.event, 77, 0, 1, 30);
	add(&world, 0, 1400);
	open_dat(&world);
	look(&world, &view_hotspots);
	assert_int_equal(total(&world, -1, "interrupt(IRQ line 4 raised)"), 1);
	assert_null(item(&world, 1, -1, "interrupt(IRQ line 4 raised)")->timing);
	assert_int_equal(item(&world, GUEST_NONE, -1, "interrupt(IRQ line 4 raised)")->total, 1);
	assert_int_equal(unfinished(&world, EXITS_INTERRUPT), 0);
	assert_int_equal(unfinished(&world, EXITS_VMEXIT), 1);
	look(&world, &view_vcpus);
	assert_int_equal(world.view.nr_rows, 1);
	end(&world);
}

TEST(losses_of_one_cpu)
{
	struct world world;

	begin(&world);
	for (uint32_t vcpu = 0; vcpu < 2; vcpu++) {
		put_exit(&world.event, 77 + vcpu, vcpu, 1, 30);
		add(&world, (int)vcpu, 1000);
	}
	for (uint64_t i = 1; i <= PAIRING_LOSSES + 2; i++) {
		ring_lose(&world.rings[1], i);
		put_irq(&world.event, 5);
		add(&world, 1, 1000 + i);
	}
	for (uint32_t vcpu = 0; vcpu < 2; vcpu++) {
		put_entry(&world.event, 77 + vcpu, vcpu);
		add(&world, (int)vcpu, 5000);
	}
	open_dat(&world);
	assert_int_equal(world.recording.pairing.nr_losses, PAIRING_LOSSES + 2);
	assert_int_equal(world.recording.pairing.losses[PAIRING_LOSSES - 1].lost, PAIRING_LOSSES);
	look(&world, &view_exits);
	assert_int_equal(total(&world, 0, "vmexit"), 1);
	assert_int_equal(time_of(&world, 0, "vmexit"), 4000);
	assert_null(find_item(&world, 1, 1, "vmexit"));
	end(&world);
}

/*
 * An exit, and time in the guest, that end on another CPU than they began on, after that CPU lost
 * events: perhaps they ended among these. What begins after the loss has its time.
 */
TEST(losses_before_a_migration)
{
	enum { US = 1000, S = 1000000000 };
	struct world world;

	begin(&world);
	put_irq(&world.event, 5);
	add(&world, 1, 1 * S);
	put_entry(&world.event, 77, 0);
	add(&world, 0, 1 * S);
	put_exit(&world.event, 77, 0, 1, 30);
	add(&world, 0, 2 * S);
	ring_lose(&world.rings[1], 50000);
	put_entry(&world.event, 77, 0);
	add(&world, 1, 12ull * S);
	put_exit(&world.event, 77, 0, 1, 30);
	add(&world, 0, 12ull * S + 40 * US);
	put_entry(&world.event, 77, 0);
	add(&world, 1, 12ull * S + 50 * US);
	/* in the guest, over a loss of the other CPU */
	ring_lose(&world.rings[0], 7);
	put_exit(&world.event, 77, 0, 1, 30);
	add(&world, 0, 15ull * S);
	put_entry(&world.event, 77, 0);
	add(&world, 0, 15ull * S + 10 * US);
	open_dat(&world);
	look(&world, &view_exits);
	assert_int_equal(total(&world, 0, "vmexit"), 2);
	assert_int_equal(item(&world, 1, 0, "vmexit")->timing->total_ended_ns, 20 * US);
	assert_int_equal(item(&world, 1, 0, "vmexit")->timing->raw.max_ns, 10 * US);
	look(&world, &view_vcpus);
	assert_int_equal(item(&world, 1, 0, "time(guest)")->total, 1ull * S + 40 * US);
	end(&world);
}

/* The same of a wait for a CPU; one that began after the loss is known. */
TEST(losses_before_a_wait_ends)
{
	enum { S = 1000000000 };
	struct world world;

	begin(&world);
	put_irq(&world.event, 5);
	add(&world, 1, 900);
	put_entry(&world.event, 77, 0);
	add(&world, 0, 1000);
	put_exit(&world.event, 77, 0, 1, 30);
	add(&world, 0, 1100);
	put_switch(&world.event, 77, 0, 0);
	add(&world, 0, 1200);
	ring_lose(&world.rings[1], 50000);
	put_switch(&world.event, 0, 0, 77);
	add(&world, 1, 5ull * S);
	put_entry(&world.event, 77, 0);
	add(&world, 1, 5ull * S + 100);
	put_exit(&world.event, 77, 0, 1, 12);
	add(&world, 1, 5ull * S + 200);
	put_switch(&world.event, 77, 1, 0);
	add(&world, 1, 5ull * S + 300);
	ring_lose(&world.rings[0], 50000);
	put_waking(&world.event, 0, 77);
	add(&world, 0, 6ull * S);
	put_switch(&world.event, 0, 0, 77);
	add(&world, 0, 6ull * S + 70);
	put_entry(&world.event, 77, 0);
	add(&world, 0, 6ull * S + 100);
	open_dat(&world);
	look(&world, &view_vcpus);
	/* It lies in time of which it is not known where it went. */
	assert_int_equal(item(&world, 1, 0, "time(wait)")->total, 0);
	assert_null(find_item(&world, 1, 0, "vmexit"));
	end(&world);
}

/* LoongArch's kvm_exit says that an instruction was not allowed, the event after it which one. */
static const char *const of_riscv[] = {
	"name: kvm_exit\nID: 100\n" COMMON_FIELDS
	"\tfield:unsigned long sepc;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned long scause;\toffset:16;\tsize:8;\tsigned:0;\n\n"
	"print fmt: \"%lx\", REC->scause\n",
	"name: kvm_entry\nID: 101\n" COMMON_FIELDS
	"\tfield:unsigned long pc;\toffset:8;\tsize:8;\tsigned:0;\n\nprint fmt: \"\"\n",
	"name: kvm_vcpu_wakeup\nID: 102\n" COMMON_FIELDS
	"\tfield:__u64 ns;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:bool waited;\toffset:16;\tsize:1;\tsigned:0;\n\nprint fmt: \"\"\n",
	"name: kvm_vcpu_exit\nID: 103\n" COMMON_FIELDS
	"\tfield:unsigned long vcpu_id;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned long scause;\toffset:16;\tsize:8;\tsigned:0;\n\nprint fmt: \"\"\n",
	"name: kvm_mmio_emulate\nID: 104\n" COMMON_FIELDS
	"\tfield:unsigned long vcpu_id;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned long fault_addr;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:bool write;\toffset:24;\tsize:1;\tsigned:0;\n"
	"\tfield:int len;\toffset:28;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n",
	"name: kvm_vcpu_irq\nID: 105\n" COMMON_FIELDS
	"\tfield:unsigned long vcpu_id;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned int irq;\toffset:16;\tsize:4;\tsigned:0;\n"
	"\tfield:int level;\toffset:20;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n",
	"name: sched_switch\nID: 204\n" COMMON_FIELDS
	"\tfield:pid_t prev_pid;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:16;\tsize:8;\tsigned:1;\n"
	"\tfield:pid_t next_pid;\toffset:24;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n",
};

/* An event of KVM's with two numbers. */
static void add_riscv(struct world *world, uint64_t time, uint32_t id, uint64_t a, uint64_t b)
{
	put_common(&world->event, id, 77);
	put_u64(&world->event, a);
	put_u64(&world->event, b);
	add(world, 0, time);
}

static void open_riscv(struct world *world)
{
	struct bytes file = { .len = 0 };

	world_uname = "Linux alpha 7.3.0 riscv64";
	put_dat6(&file, world->rings, 2, of_riscv, ARRAY_SIZE(of_riscv), "[local]");
	world_uname = "Linux alpha 6.1.0 x86_64";
	bytes_release(&world->event);
	save(path, file.data, file.len);
	bytes_release(&file);
	open_file(world, path, 1);
}

/* A WFI is one of what EXC_VIRTUAL_INST_FAULT is for: as live its sleep is in no exit's time. */
TEST(sleeps_that_no_reason_tells)
{
	for (int has_sched = 0; has_sched < 2; has_sched++) {
		struct world world;

		begin(&world);
		add_riscv(&world, 1000, 100, 0, 22);
		if (has_sched) {
			put_switch(&world.event, 77, 1, 5);
			add(&world, 0, 1500);
			put_switch(&world.event, 5, 1, 77);
			add(&world, 0, 8500);
		}
		add_riscv(&world, 8900, 102, 7000, 1);
		add_riscv(&world, 9000, 101, 0, 0);
		add_riscv(&world, 9500, 100, 0, 22);
		add_riscv(&world, 9600, 101, 0, 0);
		open_riscv(&world);
		look(&world, &view_exits);
		assert_int_equal(cell(&world, "EXC_VIRTUAL_INST_FAULT", "total")->count, 2);
		assert_int_equal(time_of(&world, 0, "vmexit(EXC_VIRTUAL_INST_FAULT)"), 1100);
		look(&world, &view_vcpus);
		assert_int_equal(total(&world, 0, "time(idle)"), 7000);
		assert_int_equal(total(&world, 0, "time(kvm)"), 1100);
		end(&world);
	}
}

/* Since 7.3: exits do not name their vCPU, but these do; an interrupt is for another one. */
TEST(further_events_of_riscv)
{
	struct world world;

	begin(&world);
	add_riscv(&world, 1000, 100, 0, 23);
	add_riscv(&world, 1050, 105, 2, 10 | UINT64_C(1) << 32);
	add_riscv(&world, 1100, 103, 3, 23);
	put_common(&world.event, 104, 77);
	put_u64(&world.event, 3);
	put_u64(&world.event, 0x10000000);
	put_u32(&world.event, 1);
	put_u32(&world.event, 4);
	add(&world, 0, 1200);
	add_riscv(&world, 2000, 101, 0, 0);
	add_riscv(&world, 3000, 100, 0, 21);
	put_common(&world.event, 104, 77);
	put_u64(&world.event, 3);
	put_u64(&world.event, 0x10000000);
	put_u32(&world.event, 0);
	put_u32(&world.event, 1);
	add(&world, 0, 3200);
	add_riscv(&world, 4000, 101, 0, 0);
	open_riscv(&world);
	look(&world, &view_hotspots);
	assert_int_equal(time_of(&world, 3, "vmexit(EXC_STORE_GUEST_PAGE_FAULT)"), 1000);
	assert_int_equal(time_of(&world, 3, "mmio(EXC_STORE_GUEST_PAGE_FAULT 0x10000000 write 4)"),
			 800);
	assert_int_equal(time_of(&world, 3, "mmio(EXC_LOAD_GUEST_PAGE_FAULT 0x10000000 read 1)"),
			 1000);
	assert_int_equal(item(&world, 1, -1, "interrupt(IRQ line 10 raised)")->total, 1);
	end(&world);
}

TEST(causes_of_an_exit)
{
	static const char *const of_loongarch[] = {
		"name: kvm_exit\nID: 100\n" COMMON_FIELDS
		"\tfield:unsigned int reason;\toffset:8;\tsize:4;\tsigned:0;\n\n"
		"print fmt: \"%d\", REC->reason\n",
		"name: kvm_enter\nID: 101\n" COMMON_FIELDS "\nprint fmt: \"\"\n",
		"name: kvm_exit_idle\nID: 102\n" COMMON_FIELDS
		"\tfield:unsigned int reason;\toffset:8;\tsize:4;\tsigned:0;\n\n"
		"print fmt: \"%d\", REC->reason\n",
		"name: kvm_exit_csr\nID: 103\n" COMMON_FIELDS
		"\tfield:unsigned int reason;\toffset:8;\tsize:4;\tsigned:0;\n\n"
		"print fmt: \"%d\", REC->reason\n",
		"name: kvm_iocsr\nID: 104\n" COMMON_FIELDS
		"\tfield:u32 type;\toffset:8;\tsize:4;\tsigned:0;\n"
		"\tfield:u32 len;\toffset:12;\tsize:4;\tsigned:0;\n"
		"\tfield:u64 gpa;\toffset:16;\tsize:8;\tsigned:0;\n\n"
		"print fmt: \"%d\", REC->len\n",
	};
	static const struct {
		uint64_t time;
		uint32_t id, reason;
	} events[] = { { 1000, 100, 22 }, { 1100, 102, 64 }, { 9000, 101, 0 },
		       { 9500, 100, 23 }, { 9600, 101, 0 }, { 9650, 100, 22 }, { 9660, 103, 67 },
		       { 9670, 101, 0 }, { 9700, 100, 22 }, { 9710, 104, 2 }, { 9720, 101, 0 } };
	struct bytes file = { .len = 0 };
	struct world world;

	begin(&world);
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		put_common(&world.event, events[i].id, 77);
		if (events[i].id != 101)
			put_u32(&world.event, events[i].reason);
		if (events[i].id == 104) {
			put_u32(&world.event, 4);
			put_u64(&world.event, 0x1040);
		}
		add(&world, 0, events[i].time);
	}
	world_uname = "Linux alpha 6.18.0 loongarch64";
	put_dat6(&file, world.rings, 2, of_loongarch, ARRAY_SIZE(of_loongarch), "[local]");
	world_uname = "Linux alpha 6.1.0 x86_64";
	bytes_release(&world.event);
	save(path, file.data, file.len);
	bytes_release(&file);
	open_file(&world, path, 1);
	look(&world, &view_exits);
	assert_int_equal(cell(&world, "IDLE", "total")->count, 1);
	assert_int_equal(cell(&world, "Hypercall", "total")->count, 1);
	look(&world, &view_vcpus);
	assert_int_equal(item(&world, 1, 0, "time(idle)")->total, 8000);
	assert_int_equal(item(&world, 1, 0, "time(kvm)")->total, 140);
	look(&world, &view_hotspots);
	assert_int_equal(time_of(&world, 0, "vmexit(CSR)"), 20);
	assert_int_equal(time_of(&world, 0, "mmio(Privilege_Error 0x1040 write 4)"), 10);
	end(&world);
}

/* MIPS has the event with that field, too: other reasons have these numbers. */
TEST(an_exit_of_another_machine)
{
	static const char *const of_mips[] = {
		"name: kvm_exit\nID: 100\n" COMMON_FIELDS
		"\tfield:unsigned int reason;\toffset:8;\tsize:4;\tsigned:0;\n\n"
		"print fmt: \"%d\", REC->reason\n",
	};
	static const char *const machines[] = { "loongarch64", "mips64" };
	char name[64];

	for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
		struct bytes file = { .len = 0 };
		struct world world;

		begin(&world);
		put_common(&world.event, 100, 77);
		put_u32(&world.event, 23);
		add(&world, 0, 1000);
		snprintf(name, sizeof(name), "Linux alpha 6.18.0 %s", machines[i]);
		world_uname = name;
		put_dat6(&file, world.rings, 2, of_mips, ARRAY_SIZE(of_mips), "[local]");
		world_uname = "Linux alpha 6.1.0 x86_64";
		bytes_release(&world.event);
		open_bytes(&world, &file, 1);
		assert_int_equal(fields_find(monitor_facts(world.monitor)->fields,
					     "vmexit(Hypercall)") == FIELD_NONE, i);
		end(&world);
	}
}

/* ---- many threads */

/* Further threads are counted as one. */
TEST(more_threads_than_are_kept)
{
	enum { MORE = 1000 };
	const struct guest *others;
	uint64_t time = 1000;
	struct world world;

	begin(&world);
	for (uint32_t tid = 1; tid <= TABLE_THREADS + MORE; tid++) {
		put_mmio(&world.event, tid, 1, 0xfee00000);
		add(&world, 0, time++);
	}
	put_exit(&world.event, 1, 1, 1, 30);
	add(&world, 0, time);
	put_entry(&world.event, 1, 1);
	add(&world, 0, time + 100);
	put_exit(&world.event, TABLE_THREADS + MORE, 1, 1, 30);
	add(&world, 0, time + 200);
	put_entry(&world.event, TABLE_THREADS + MORE, 1);
	add(&world, 0, time + 300);
	open_dat(&world);
	assert_int_equal(world.recording.pairing.table.nr_threads, TABLE_THREADS + 1);
	look(&world, &view_events);
	assert_int_equal(cell(&world, "kvm_mmio", "total")->count, TABLE_THREADS + MORE);
	others = guests_at(world.recording.guests, guests_count(world.recording.guests) - 1);
	assert_string_equal(others->name, "(others)");
	assert_int_equal(item(&world, others->id, 0, "kvm_mmio")->total, MORE);
	look(&world, &view_exits);
	assert_int_equal(cell(&world, "IO_INSTRUCTION", "total")->count, 1);
	end(&world);
}

/* kvmtrace names process and vCPU by any numbers: none of them is taken for another thread. */
TEST(any_number_is_a_thread)
{
	static const uint32_t pids[] = { 0x20000000, 0x40000000, 0x60000000, 0x7fffffff,
					 0xffffffff };
	const uint32_t reason = 30;
	struct bytes file = { .len = 0 };
	struct recording_choice choice = { .kind = TRACE_ANY, .mhz = 1000, .has_moments = true };
	struct world world;

	for (size_t i = 0; i < ARRAY_SIZE(pids); i++) {
		put_kvmtrace(&file, 100 + 100 * i, 0x10002, pids[i], 0, 1, &reason);
		put_kvmtrace(&file, 150 + 100 * i, 0x10001, pids[i], 0, 0, NULL);
	}
	for (uint32_t i = 0; i < 5000; i++) {
		put_kvmtrace(&file, 10000 + 100 * i, 0x10002, 1000 + i, 0, 1, &reason);
		put_kvmtrace(&file, 10050 + 100 * i, 0x10001, 1000 + i, 0, 0, NULL);
	}
	save(path, file.data, file.len);
	bytes_release(&file);
	world.recording = (struct recording){ .trace = NULL };
	read_recording(&world, path, &choice);
	assert_int_equal(world.recording.pairing.table.nr_threads, ARRAY_SIZE(pids) + 5000);
	recording_release(&world.recording);
}

/* An exit of 50 ns of each thread, more than KVM has vCPUs: none is left out in any format. */
TEST(many_threads_of_each_format)
{
	enum { DAT6, DAT7, PERF, KVMTRACE, NR, THREADS = 5000 };
	const uint32_t reason = 30;

	for (int format = 0; format < NR; format++) {
		struct bytes file = { .len = 0 };
		struct world world;
		size_t data;

		begin(&world);
		if (format == PERF)
			put_perf_header(&file);
		data = file.len;
		for (uint32_t i = 0; i < THREADS; i++) {
			uint32_t tid = 1000 + i;
			uint64_t time = 1000 + 100 * i;

			put_exit(&world.event, tid, i, 1, reason);
			if (format == PERF)
				put_sample(&file, time, 0, 70, tid, &world.event);
			else if (format == KVMTRACE)
				put_kvmtrace(&file, time, 0x10002, 70, i, 1, &reason);
			else
				add(&world, 0, time);
			put_entry(&world.event, tid, i);
			if (format == PERF)
				put_sample(&file, time + 50, 0, 70, tid, &world.event);
			else if (format == KVMTRACE)
				put_kvmtrace(&file, time + 50, 0x10001, 70, i, 0, NULL);
			else
				add(&world, 0, time + 50);
		}
		if (format == PERF)
			put_perf_features(&file, data, "GenuineIntel,6,143,8");
		else if (format == DAT6)
			put_dat6(&file, world.rings, 2, formats, NR_FORMATS, "[local]");
		else if (format == DAT7)
			put_dat7(&file, world.rings, 2, "none", NULL);
		bytes_release(&world.event);
		open_bytes(&world, &file, 1);
		look(&world, &view_exits);
		assert_int_equal(cell(&world, "IO_INSTRUCTION", "total")->count, THREADS);
		assert_int_equal(cell(&world, "IO_INSTRUCTION", "max_ns")->ns, 50);
		look(&world, &view_vcpus);
		assert_int_equal(world.view.nr_rows, THREADS);
		assert_int_equal(total(&world, THREADS - 1, "vmexit(IO_INSTRUCTION)"), 1);
		end(&world);
	}
}

/* A damaged file makes up types of events: beyond a number of counts, others have them. */
TEST(more_types_than_are_kept)
{
	enum { TYPES = 1 << 20, NR = 20 };
	struct table table = { .nr_threads = 0 };
	uint64_t count = 0;

	for (uint32_t i = 0; i < NR; i++) {
		const struct trace_event event = { .tid = 1000 + (int32_t)i, .thread_key = i,
						   .pid = -1 };
		struct recorded_thread *thread = table_thread(&table, &event);

		if (!table_has_room(&table, thread, TYPES - 1))
			thread = table_others(&table);
		table_count_event(&table, thread, TYPES - 1);
		assert_int_in_range(table.nr_events, TYPES, TABLE_EVENTS + TYPES);
	}
	for (size_t i = 0; i < table.nr_threads; i++) {
		if (table.threads[i]->counts.nr_events)
			count += table.threads[i]->counts.events[TYPES - 1];
	}
	assert_int_equal(count, NR);
	assert_int_equal(table.others->counts.events[TYPES - 1], NR - 16);
	table_release(&table);
}

/* A page that begins before the one before it ends is damage: no time passes backwards. */
TEST(time_that_goes_back)
{
	const struct recorded_thread *thread;
	struct world world;

	begin(&world);
	put_exit(&world.event, 77, 0, 1, 30);
	add(&world, 0, 10000);
	put_entry(&world.event, 77, 0);
	add(&world, 0, 11000);
	ring_end_page(&world.rings[0]);
	put_exit(&world.event, 77, 0, 1, 30);
	add(&world, 0, 5000);
	put_nested(&world.event, 77, 30);
	add(&world, 0, 5000);
	open_dat(&world);
	thread = world.recording.pairing.table.threads[0];
	assert_int_equal(thread->state->at.sums.nested, 0);
	look(&world, &view_vcpus);
	for (size_t i = 0; i < world.view.nr_rows; i++) {
		for (size_t k = 0; world.view.type->columns[k].id; k++)
			assert_true(world.view.rows[i].cells[k].type != CELL_NS ||
				    world.view.rows[i].cells[k].ns < 1000000);
	}
	end(&world);
}

/* A thread's first event may be in one buffer, and what is missing of its CPU in another one. */
TEST(a_loss_in_another_buffer)
{
	for (uint32_t tid = 77; tid <= 78; tid++) {
		struct bytes file = { .len = 0 };
		struct world world;

		begin(&world);
		put_mmio(&world.event, tid, 1, 0xfee00000);
		add(&world, 0, 500);
		put_exit(&world.event, 77, 0, 1, 30);
		add(&world, 1, 1000);
		ring_lose(&world.rings[1], 7);
		put_entry(&world.event, 77, 0);
		add(&world, 1, 5000);
		put_exit(&world.event, 77, 0, 1, 30);
		add(&world, 1, 8700);
		put_entry(&world.event, 77, 0);
		add(&world, 1, 9000);
		world_buffer7 = (struct world_buffer7){ "kvm", "local", WORLD_PAGE,
							&world.rings[1] };
		put_dat7(&file, world.rings, 1, "none", NULL);
		world_buffer7.name = NULL;
		save(path, file.data, file.len);
		bytes_release(&file);
		bytes_release(&world.event);
		open_file(&world, path, 1);
		look(&world, &view_exits);
		assert_int_equal(total(&world, 0, "vmexit"), 1);
		assert_int_equal(time_of(&world, 0, "vmexit"), 300);
		end(&world);
	}
}

/*
 * vCPU 0 exits, and loses its CPU for 300 ns; it halts, sleeps for 1000 ns, is woken twice and
 * waits 200 ns from the first time on; at the end it waits. Other threads do not count, and a
 * thread that is woken while it runs does not wait. No exit has the time that it waits.
 */
TEST(waiting_for_a_cpu)
{
	enum { SLEEPS = 1, PREEMPTED = 0x100 };
	struct world world;

	begin(&world);
	put_switch(&world.event, 77, 0, 5); /* not known as a vCPU's yet */
	add(&world, 0, 500);
	put_exit(&world.event, 77, 0, 1, 30);
	add(&world, 0, 1000);
	put_waking(&world.event, 6, 77);
	add(&world, 0, 1050);
	put_switch(&world.event, 77, PREEMPTED, 5);
	add(&world, 0, 1100);
	put_waking(&world.event, 5, 6);
	add(&world, 0, 1200);
	put_switch(&world.event, 5, SLEEPS, 77);
	add(&world, 0, 1400);
	put_entry(&world.event, 77, 0);
	add(&world, 0, 1500);
	put_exit(&world.event, 77, 0, 1, 12);
	add(&world, 0, 2000);
	put_switch(&world.event, 77, SLEEPS, 5);
	add(&world, 0, 2100);
	put_waking(&world.event, 5, 77);
	add(&world, 0, 3100);
	put_waking(&world.event, 5, 77);
	add(&world, 0, 3150);
	put_switch(&world.event, 5, 0, 77);
	add(&world, 0, 3300);
	put_entry(&world.event, 77, 0);
	add(&world, 0, 3500);
	put_exit(&world.event, 77, 0, 1, 30);
	add(&world, 0, 4000);
	put_switch(&world.event, 77, 0, 5);
	add(&world, 0, 4500);
	put_irq(&world.event, 5);
	add(&world, 0, 5000);
	open_dat(&world);
	look(&world, &view_vcpus);
	assert_int_equal(total(&world, 0, "time"), 4000);
	assert_int_equal(total(&world, 0, "time(guest)"), 500 + 500);
	assert_int_equal(total(&world, 0, "time(wait)"), 300 + 200 + 500);
	assert_int_equal(total(&world, 0, "time(idle)"), 1000);
	assert_int_equal(total(&world, 0, "time(block)"), 0);
	assert_int_equal(total(&world, 0, "time(kvm)"), 200 + 300 + 500);
	assert_int_equal(total(&world, 0, "vmexit"), 2);
	assert_int_equal(time_of(&world, 0, "vmexit(IO_INSTRUCTION)"), 200);
	assert_int_equal(item(&world, 1, 0, "vmexit(IO_INSTRUCTION)")->timing->max_ns, 200);
	assert_int_equal(total(&world, 0, "vmexit_waited(IO_INSTRUCTION)"), 300);
	assert_int_equal(time_of(&world, 0, "vmexit(HLT)"), 1300);
	assert_int_equal(total(&world, 0, "vmexit_waited(HLT)"), 200);
	assert_int_equal(total(&world, 0, "vmexit_idle(HLT)"), 1000);
	assert_null(find_item(&world, 1, 0, "vmexit_blocked(HLT)"));
	assert_true(view_has_column(&world.view,
				    (size_t)view_column_by_id(&view_vcpus, "wait_percent")));
	look(&world, &view_events); /* only KVM's */
	assert_int_equal(fields_find(monitor_facts(world.monitor)->fields, "sched_switch"),
			 FIELD_NONE);
	end(&world);
}

/* No argument has the time either: a write lasts from its event on, an MSR is the whole exit's. */
TEST(waits_in_arguments)
{
	struct world world;

	begin(&world);
	for (uint64_t i = 0; i < 2; i++) {
		put_exit(&world.event, 77, 0, 1, i ? 32 : 48);
		add(&world, 0, 1000 + 1000 * i);
		put_switch(&world.event, 77, 0, 0);
		add(&world, 0, 1010 + 1000 * i);
		put_switch(&world.event, 0, 0, 77);
		add(&world, 0, 1050 + 1000 * i);
		if (i)
			put_msr(&world.event, 77, 1, 0x6e0);
		else
			put_mmio(&world.event, 77, 2, 0x2000);
		add(&world, 0, 1100 + 1000 * i);
		put_switch(&world.event, 77, 0, 0);
		add(&world, 0, 1200 + 1000 * i);
		put_switch(&world.event, 0, 0, 77);
		add(&world, 0, 1500 + 1000 * i);
		put_entry(&world.event, 77, 0);
		add(&world, 0, 1600 + 1000 * i);
	}
	open_dat(&world);
	look(&world, &view_hotspots);
	assert_int_equal(time_of(&world, 0, "mmio(EPT_VIOLATION 0x2000 write 4)"), 200);
	assert_int_equal(time_of(&world, 0, "msr(MSR_WRITE 0x6e0 IA32_TSC_DEADLINE write)"), 260);
	assert_int_equal(time_of(&world, 0, "vmexit"), 2 * 260);
	end(&world);
}

/*
 * Of an absence without an end nothing is known: the thread's next event shows that it is over. A
 * wait is lost with the exit that has it.
 */
TEST(absences_that_are_cut)
{
	struct world world;

	begin(&world);
	put_exit(&world.event, 77, 0, 1, 48);
	add(&world, 0, 1000);
	put_switch(&world.event, 77, 0, 0);
	add(&world, 0, 1100);
	put_user(&world.event, 77, 2, 0);
	add(&world, 0, 1300);
	put_entry(&world.event, 77, 0);
	add(&world, 0, 1500);
	put_switch(&world.event, 0, 0, 77);
	add(&world, 0, 1600);
	put_exit(&world.event, 77, 0, 1, 32);
	add(&world, 0, 2000);
	put_switch(&world.event, 77, 0, 0);
	add(&world, 0, 2100);
	put_switch(&world.event, 0, 0, 77);
	add(&world, 0, 2400);
	ring_lose(&world.rings[0], 7);
	put_entry(&world.event, 77, 0);
	add(&world, 0, 3000);
	put_exit(&world.event, 77, 0, 1, 32);
	add(&world, 0, 3500);
	put_entry(&world.event, 77, 0);
	add(&world, 0, 3600);
	open_dat(&world);
	look(&world, &view_vcpus);
	assert_int_equal(time_of(&world, 0, "vmexit(EPT_VIOLATION)"), 500);
	assert_int_equal(time_of(&world, 0, "vmexit(MSR_WRITE)"), 100);
	assert_int_equal(total(&world, 0, "time"), 2600 - 1000);
	assert_int_equal(total(&world, 0, "time(wait)"), 0);
	assert_int_equal(total(&world, 0, "time(block)"), 0);
	assert_int_equal(total(&world, 0, "time(guest)"), 1000);
	end(&world);
}

/* ---- the cases that the BPF program has, too: see test_program.c of providers/exits */

static void add_step(struct world *world, const struct exit_step *step)
{
	static const uint32_t exits[] = { [FOR_IO] = 30, [FOR_HALT] = 12 };
	static const uint32_t users[] = { [FOR_IO] = 2, [FOR_HALT] = 5, [FOR_SIGNAL] = 0 };

	switch (step->kind) {
	case STEP_EXIT:
		put_exit(&world->event, 77, 0, 1, exits[step->why]);
		break;
	case STEP_L2:
		put_nested(&world->event, 77, exits[FOR_IO]);
		break;
	case STEP_MSR:
		put_msr(&world->event, 77, 1, 0x6e0);
		break;
	case STEP_POLLED:
		put_wakeup(&world->event, 77, step->why, false);
		break;
	case STEP_ENTRY:
		put_entry(&world->event, 77, 0);
		break;
	case STEP_LEAVE:
		put_user(&world->event, 77, users[step->why], step->why == FOR_SIGNAL ? -4 : 0);
		break;
	case STEP_RUN: /* is no event */
		return;
	case STEP_PREEMPTED:
		put_switch(&world->event, 77, 0x100, 0);
		break;
	case STEP_SLEEP:
		put_switch(&world->event, 77, 1, 0);
		break;
	case STEP_WAKE:
		put_waking(&world->event, 0, 77);
		break;
	case STEP_GET_CPU:
		put_switch(&world->event, 0, 0, 77);
		break;
	case STEP_END:
		put_irq(&world->event, 5);
		break;
	}
	add(world, 0, 1000 + step->at_ns);
}

static void check_parts(const struct exits_parts *parts, const struct exits_parts *wanted)
{
	assert_int_equal(parts->waited_ns, wanted->waited_ns);
	assert_int_equal(parts->blocked_ns, wanted->blocked_ns);
	assert_int_equal(parts->idle_ns, wanted->idle_ns);
	assert_int_equal(parts->polled_ns, wanted->polled_ns);
}

static void check_case(const struct world *world, const struct exit_case *wanted)
{
	const struct recorded_thread *thread = world->recording.pairing.table.threads[0];
	uint64_t nr_msrs, msr_ns;

	for (int part = 0; part < TIME_PARTS; part++) {
		const struct stats_item *got =
			find_item(world, 1, 0, exit_fields_part((enum time_part)part));

		assert_int_equal(got ? got->total : 0, wanted->boxes[part]);
	}
	for (int kind = 0; kind < EXITS_REASONS; kind++) {
		struct exits_parts parts = { 0 };
		uint64_t ns = 0;

		for (size_t i = 0; i < thread->counts.nr; i++) {
			const struct exit_count *count = thread->counts.list[i];

			if (count->key.kind != kind)
				continue;
			exits_parts_join(&parts, &count->parts);
			ns += count->took.total_ns;
		}
		assert_int_equal(ns, wanted->took_ns[kind]);
		if (!exit_case_is_open(wanted))
			check_parts(&parts, &wanted->parts[kind]);
	}
	sum_of_kind(&world->recording.pairing, EXITS_MSR, &nr_msrs, &msr_ns);
	assert_int_equal(msr_ns, wanted->took_ns[CASE_MSRS]);
}

static void write_case(struct world *world, const struct exit_case *of, bool has_sched)
{
	begin(world);
	put_exit(&world->event, 77, 0, 1, 12);
	add(world, 0, 1000);
	put_entry(&world->event, 77, 0);
	add(world, 0, 1000);
	if (has_sched) {
		put_switch(&world->event, 5, 0, 6);
		add(world, 0, 1000);
	}
	for (const struct exit_step *step = of->steps;; step++) {
		if (has_sched || step->kind < STEP_PREEMPTED)
			add_step(world, step);
		if (step->kind == STEP_END)
			break;
	}
	open_dat(world);
}

/* Without the scheduler's events exits have what perf has: from the exit to the entry. */
TEST(perfs_times)
{
	for (size_t i = 0; i < ARRAY_SIZE(exit_cases); i++) {
		const struct exit_case *of = &exit_cases[i];
		struct world world;

		write_case(&world, of, false);
		look(&world, &view_vcpus);
		assert_int_equal(time_of(&world, 0, "vmexit"),
				 of->took_ns[EXITS_VMEXIT] + of->parts[EXITS_VMEXIT].waited_ns);
		end(&world);
	}
}

static void run_case(const struct exit_case *of)
{
	struct world world;

	write_case(&world, of, true);
	look(&world, &view_vcpus);
	check_case(&world, of);
	end(&world);
}

TEST(cases_of_the_program)
{
	for (size_t i = 0; i < ARRAY_SIZE(exit_cases); i++) {
		print_message("%s\n", exit_cases[i].name);
		run_case(&exit_cases[i]);
	}
}

TEST(cases_of_a_model)
{
	for (uint32_t seed = 1; seed <= 200; seed++) {
		struct exit_case random;

		exit_case_make(&random, seed, false);
		run_case(&random);
	}
}

/* Halts only if they are asked for; an entry without an exit is the end of nothing. */
TEST(long_exits)
{
	for (int has_halts = 0; has_halts < 2; has_halts++) {
		const struct recording_choice choice = { .longer_ns = 500,
							 .has_halts = has_halts };
		struct recorded_long *longs;
		struct world world;

		begin(&world);
		put_entry(&world.event, 77, 0);
		add(&world, 0, 900);
		put_exit(&world.event, 77, 0, 1, 12);
		add(&world, 0, 1000);
		put_entry(&world.event, 77, 0);
		add(&world, 0, 3000);
		put_entry(&world.event, 77, 0);
		add(&world, 0, 4000);
		put_exit(&world.event, 77, 0, 1, 30);
		add(&world, 0, 5000);
		put_user(&world.event, 77, 2, 0);
		add(&world, 0, 5200);
		put_user(&world.event, 77, 2, -4);
		add(&world, 0, 5400);
		put_entry(&world.event, 77, 0);
		add(&world, 0, 5501);
		put_exit(&world.event, 77, 0, 1, 30);
		add(&world, 0, 6000);
		put_entry(&world.event, 77, 0);
		add(&world, 0, 6500);
		write_dat(&world);
		read_recording(&world, path, &choice);
		longs = world.recording.pairing.longs;
		assert_int_equal(world.recording.pairing.nr_longs, 1 + has_halts);
		assert_int_equal(longs[0].begin, has_halts ? 1000 : 5000);
		assert_int_equal(longs[has_halts].end, 5501);
		assert_int_equal(longs[has_halts].user, 301);
		assert_int_equal(longs[has_halts].cpu, 0);
		recording_release(&world.recording);
	}
}

/*
 * How long an exit waited for a CPU is known only where the scheduler was recorded; then it is long
 * without that. One of 600 ns waits 300, one of 300 waits 200.
 */
TEST(wait_of_a_long_exit)
{
	for (int has_sched = 0; has_sched < 2; has_sched++) {
		const struct recording_choice choice = { .longer_ns = 250 };
		struct fields *fields = fields_new();
		struct long_exits exits = { 0 };
		struct world world;

		begin(&world);
		for (uint64_t i = 0; i < 2; i++) {
			put_exit(&world.event, 77, 0, 1, 30);
			add(&world, 0, 1000 + 1000 * i);
			if (has_sched) {
				put_switch(&world.event, 77, 0, 5);
				add(&world, 0, 1100 + 950 * i);
				put_switch(&world.event, 5, 0, 77);
				add(&world, 0, 1400 + 850 * i);
			}
			put_entry(&world.event, 77, 0);
			add(&world, 0, 1600 + 700 * i);
		}
		write_dat(&world);
		read_recording(&world, path, &choice);
		recorded_long_exits(&world.recording, fields, RECORDED_EXITS, &exits);
		assert_int_equal(exits.nr, has_sched ? 1 : 2);
		assert_int_equal(exits.list[0].took_ns, has_sched ? 300 : 600);
		assert_int_equal(exits.list[0].waited_ns, has_sched ? 300 : 0);
		assert_int_equal(exits.list[0].knows_wait, has_sched);
		long_exits_release(&exits);
		fields_free(fields);
		recording_release(&world.recording);
	}
}

TEST(no_exits_but_events)
{
	struct world world;

	begin(&world);
	put_irq(&world.event, 5);
	add(&world, 0, 1000);
	put_irq(&world.event, 5);
	add(&world, 0, 2000);
	open_dat(&world);
	look(&world, &view_events);
	assert_int_equal(cell(&world, "kvm_set_irq", "total")->count, 2);
	assert_int_equal(guests_count(world.recording.guests), 0);
	assert_non_null(strstr(monitor_no_exits(world.monitor), "no VM exits"));
	end(&world);
}

/* The same number is another reason in the recording of another kernel. */
TEST(two_kernels_have_two_names)
{
	const struct recording_choice choice = { .mhz = 1000 };
	const char *others[NR_FORMATS], *paths[] = { path, "/tmp/kvmtop-other-kernel" };
	char *format = strdup(formats[0]), names[64] = "";
	struct error error = { "" };
	struct bytes file = { .len = 0 };
	struct world world;

	begin(&world);
	put_exit(&world.event, 77, 0, 1, 0x77);
	add(&world, 0, 1000);
	memcpy(others, formats, sizeof(others));
	others[0] = format;
	*strstr(format, "FROM_THE_FUTURE") = 'f'; /* "fROM" */
	put_dat6(&file, world.rings, 2, others, NR_FORMATS, "[local]");
	save(paths[1], file.data, file.len);
	bytes_release(&file);
	bytes_release(&world.event);
	begin(&world);
	put_exit(&world.event, 77, 0, 1, 0x77);
	add(&world, 0, 1000);
	write_dat(&world);
	assert_int_equal(recording_read(paths, 2, &choice, &world.recording, &error), 0);
	unlink(paths[1]);
	for (size_t i = 0; i < world.recording.pairing.table.nr_threads; i++) {
		const struct thread_counts *counts =
			&world.recording.pairing.table.threads[i]->counts;

		assert_int_equal(counts->nr, 1);
		meaning_name(&world.recording.pairing.meanings, &counts->list[0]->key,
			     names + strlen(names), sizeof(names) - strlen(names));
		strcat(names, " ");
	}
	assert_string_equal(names, "FROM_THE_FUTURE fROM_THE_FUTURE ");
	recording_release(&world.recording);
	free(format);
}

/* An access shows that there is a guest. How many exits it made is not known, and not 0. */
TEST(exits_that_are_not_known)
{
	struct world world;
	int i;

	begin(&world);
	put_mmio(&world.event, 77, 1, 0xfee00000);
	add(&world, 0, 1000);
	put_mmio(&world.event, 77, 1, 0xfee00000);
	add(&world, 0, 2000);
	open_dat(&world);
	look(&world, &view_guests);
	assert_int_equal(world.view.nr_rows, 1);
	i = view_column_by_id(&view_guests, "total");
	assert_int_equal(world.view.rows[0].cells[i].type, CELL_NONE);
	end(&world);
}

/* As live: what is beside the reason in its field is a flag. */
TEST(an_entry_that_failed)
{
	struct world world;

	begin(&world);
	put_exit(&world.event, 77, 0, 1, 0x80000021);
	add(&world, 0, 1000);
	put_exit(&world.event, 77, 0, 1, 0x21);
	add(&world, 0, 2000);
	put_exit(&world.event, 77, 0, 1, 0x0800000c);
	add(&world, 0, 3000);
	open_dat(&world);
	look(&world, &view_exits);
	assert_int_equal(total(&world, 0, "vmexit(INVALID_STATE FAILED_VMENTRY)"), 1);
	assert_int_equal(total(&world, 0, "vmexit(INVALID_STATE)"), 1);
	assert_int_equal(total(&world, 0, "vmexit(HLT 0x8000000)"), 1);
	assert_true(row(&world, "HLT 0x8000000")->is_idle);
	end(&world);
}

TEST(no_entries_no_times)
{
	struct world world;

	begin(&world);
	put_exit(&world.event, 77, 0, 1, 12);
	add(&world, 0, 1000);
	put_exit(&world.event, 77, 0, 1, 30);
	add(&world, 0, 2000);
	open_dat(&world);
	look(&world, &view_exits);
	assert_int_equal(total(&world, 0, "vmexit"), 2);
	assert_null(item(&world, 1, 0, "vmexit")->timing);
	assert_null(find_item(&world, 1, 0, "time"));
	assert_int_equal(cell(&world, "HLT", "avg_ns")->type, CELL_NONE);
	end(&world);
}

/* ---- guests */

static const struct guest *guest_at(const struct world *world, size_t i)
{
	const struct guest *guest = guests_at(world->recording.guests, i);

	assert_non_null(guest);
	return guest;
}

TEST(a_guest_with_a_name)
{
	const struct guest *guest;
	struct world world;

	make_guest(&world);
	assert_int_equal(guests_count(world.recording.guests), 1);
	guest = guest_at(&world, 0);
	assert_string_equal(guest->name, "web1");
	assert_int_equal(guest->pid, 0);
	assert_int_equal(guest->nr_vcpus, 2);
	assert_int_equal(guest->vcpus[1].index, 1);
	assert_int_equal(guest->vcpus[1].tid, 78);
	assert_ptr_equal(guests_by_pid(world.recording.guests, 78), guest);
	assert_null(guests_by_pid(world.recording.guests, 5));
	end(&world);
}

/* Threads without a name are one guest; a second thread of a vCPU number is of a second guest. */
TEST(threads_without_names)
{
	for (uint32_t number = 0; number < 2; number++) {
		struct world world;

		begin(&world);
		put_exit(&world.event, 100, 1, 1, 12);
		add(&world, 0, 1000);
		put_exit(&world.event, 101, number, 1, 12);
		add(&world, 0, 1100);
		open_dat(&world);
		assert_int_equal(guests_count(world.recording.guests), number ? 2 : 1);
		assert_string_equal(guest_at(&world, 0)->name, "unknown");
		assert_int_equal(guest_at(&world, 0)->pid, 0);
		assert_int_equal(guest_at(&world, 0)->nr_vcpus, number ? 1 : 2);
		if (number)
			assert_string_equal(guest_at(&world, 1)->name, "unknown (2)");
		look(&world, &view_exits);
		assert_int_equal(cell(&world, "HLT", "total")->count, 2);
		end(&world);
	}
}

/* perf.data has processes: two guests with one name are two guests. */
TEST(processes_are_guests)
{
	static const char *const names[][2] = { { "alpha", "beta" }, { "qemu", "qemu" } };
	static const char *const wanted[][2] = { { "alpha", "beta" }, { "70 qemu", "80 qemu" } };

	for (size_t i = 0; i < 2; i++) {
		struct bytes file = { .len = 0 }, event = { .len = 0 };
		struct world world;
		size_t data;

		begin(&world);
		put_perf_header(&file);
		data = file.len;
		for (uint32_t guest = 0; guest < 2; guest++) {
			uint32_t pid = 70 + 10 * guest;

			put_perf_comm(&file, pid, pid, names[i][guest]);
			put_exit(&event, pid + 1, 0, 1, 12);
			put_sample(&file, 1000 * guest + 1, 0, pid, pid + 1, &event);
			put_entry(&event, pid + 1, 0);
			put_sample(&file, 1000 * guest + 101, 0, pid, pid + 1, &event);
		}
		put_perf_features(&file, data, "GenuineIntel,6,143,8");
		bytes_release(&event);
		open_bytes(&world, &file, 1);
		assert_int_equal(guests_count(world.recording.guests), 2);
		for (size_t guest = 0; guest < 2; guest++) {
			assert_string_equal(guest_at(&world, guest)->name, wanted[i][guest]);
			assert_int_equal(guest_at(&world, guest)->pid, 70 + 10 * guest);
		}
		look(&world, &view_guests);
		assert_int_equal(cell(&world, wanted[i][1], "total")->count, 1);
		/* As --diff joins them: as a live host's, in a recording with one of them, too. */
		world.query.joins_names = true;
		world.query.groups = GROUP_GUEST;
		look(&world, &view_exits);
		assert_int_equal(world.view.nr_rows, 2 - i);
		assert_string_equal(world.view.rows[0].cells[view_column(&view_exits,
									 COL_GUEST)].text,
				    names[i][0]);
		end(&world);
	}
}

/* Whether exits to user space were recorded is in the file, also if there were none. */
TEST(exits_to_user_space_that_never_came)
{
	for (size_t is_recorded = 0; is_recorded < 2; is_recorded++) {
		struct bytes file = { .len = 0 }, event = { .len = 0 };
		struct world world;
		size_t data;

		begin(&world);
		put_perf_header(&file);
		data = file.len;
		put_perf_comm(&file, 70, 70, "alpha");
		put_exit(&event, 71, 0, 1, 12);
		put_sample(&file, 1, 0, 70, 71, &event);
		put_entry(&event, 71, 0);
		put_sample(&file, 101, 0, 70, 71, &event);
		put_exit(&event, 71, 0, 1, 12);
		put_sample(&file, 201, 0, 70, 71, &event);
		put_perf_features_with(&file, data, "GenuineIntel,6,143,8", false, formats,
				       NR_WORLD_FORMATS + is_recorded);
		bytes_release(&event);
		open_bytes(&world, &file, 1);
		look(&world, &view_guests);
		assert_non_null(world.view.note);
		assert_int_equal(!strstr(world.view.note, "user space were not recorded"),
				 is_recorded);
		end(&world);
	}
}

/* Where nothing else is known, a CPU is a guest; cycles have a length. */
TEST(a_cpu_of_acrn)
{
	struct bytes file = { .len = 0 };
	struct world world;

	begin(&world);
	put_acrn(&file, 1000, 3, 0x10, 12, 0);
	put_acrn(&file, 3000, 3, 0x11, 0, 0);
	put_acrn(&file, 5000, 3, 0x10, 10, 0);
	put_acrn(&file, 6000, 3, 0x11, 0, 0);
	open_bytes(&world, &file, 0.5);
	assert_string_equal(guest_at(&world, 0)->name, "CPU 3");
	look(&world, &view_exits);
	assert_int_equal(world.recording.span_ns, 2500);
	assert_int_equal(cell(&world, "HLT", "avg_ns")->ns, 1000);
	assert_int_equal(cell(&world, "CPUID", "max_ns")->ns, 500);
	assert_true(cell(&world, "CPUID", "time_percent")->number == 20);
	end(&world);
}

/* A file may have any time: one that makes no sense is a very long time. */
TEST(times_that_make_no_sense)
{
	struct bytes file = { .len = 0 };
	struct world world;

	begin(&world);
	put_acrn(&file, 1, 0, 0x10, 12, 0);
	put_acrn(&file, UINT64_MAX, 0, 0x11, 0, 0);
	open_bytes(&world, &file, 10);
	look(&world, &view_exits);
	assert_int_equal(world.recording.span_ns, INT64_MAX);
	assert_int_equal(cell(&world, "HLT", "total")->count, 1);
	end(&world);
}

/* ---- the same as the text report, which has them from the tallies */

/* All exits with a name: how many, and how long. */
static void sum_counts(const struct pairing *pairing, const char *name, uint64_t *ret_count,
		       uint64_t *ret_time)
{
	char got[128];

	*ret_count = *ret_time = 0;
	for (size_t i = 0; i < pairing->table.nr_threads; i++) {
		const struct recorded_thread *thread = pairing->table.threads[i];

		for (size_t j = 0; j < thread->counts.nr; j++) {
			const struct exit_count *count = thread->counts.list[j];

			meaning_name(&pairing->meanings, &count->key, got, sizeof(got));
			if (count->key.kind != EXITS_VMEXIT || strcmp(got, name) != 0)
				continue;
			*ret_count += pairing->has_entries ? count->took.count :
								   count->begun;
			*ret_time += count->took.total_ns;
		}
	}
}

static void check_exits(struct world *world)
{
	const struct pairing *pairing = &world->recording.pairing;
	uint64_t count, time, all = 0;

	look(world, &view_exits);
	assert_true(world->view.nr_rows > 3);
	for (size_t i = 0; i < world->view.nr_rows; i++) {
		const char *name = world->view.rows[i].cells[0].text;

		sum_counts(pairing, name, &count, &time);
		assert_int_equal(cell(world, name, "total")->count, count);
		assert_int_equal(cell(world, name, "time_ns")->ns, time);
		all += count;
	}
	assert_int_equal(all, world->view.total.cells[view_column_by_id(&view_exits, "total")]
				      .count);
}

/* The parts of a vCPU's time add up to all of it. */
static void check_life(struct world *world)
{
	static const char *const parts[] = { "time(guest)", "time(kvm)", "time(idle)" };
	const struct guest *guest;

	look(world, &view_vcpus);
	for (size_t i = 0; (guest = guests_at(world->recording.guests, i)); i++) {
		for (size_t vcpu = 0; vcpu < guest->nr_vcpus; vcpu++) {
			uint64_t sum = 0;

			for (size_t part = 0; part < 3; part++)
				sum += item(world, guest->id, guest->vcpus[vcpu].index,
					    parts[part])->total;
			assert_int_equal(sum, item(world, guest->id, guest->vcpus[vcpu].index,
						   "time")->total);
		}
	}
}

static int compare_numbers(const void *a, const void *b)
{
	uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

	return (one > other) - (one < other);
}

/* Both percentiles of a row, which are those of the list. */
static void check_percentiles(const struct world *world, const struct view_row *row, uint64_t *list,
			      size_t nr)
{
	static const char *const columns[] = { "p50_ns", "p99_ns" };

	qsort(list, nr, sizeof(list[0]), compare_numbers);
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
		const struct cell *cell = &row->cells[view_column_by_id(world->query.type,
									columns[i])];
		uint64_t exact = list[(nr * (i ? 99 : 50) + 99) / 100 - 1];

		assert_int_equal(cell->type, CELL_NS);
		if (cell->ns < exact / 20 * 19 || cell->ns > exact / 20 * 21)
			fail_msg("%s: %lu, exact %lu", columns[i], cell->ns, exact);
	}
}

/* Of two vCPUs and two reasons, together and by reason: 2.62 to 2.70 ms, and a few of 7. */
TEST(percentiles_are_nearly_exact)
{
	enum { NR = 400 };
	uint64_t all[NR], halts[NR], now = 0, seed = 1;
	size_t nr_halts = 0;
	struct world world;

	begin(&world);
	for (uint32_t i = 0; i < NR; i++) {
		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
		all[i] = i % 20 == 7 ? 7000000 + (seed >> 47) : 2620000 + (seed >> 33) % 80000;
		if (i % 3)
			halts[nr_halts++] = all[i];
		put_exit(&world.event, 300 + i % 2, i % 2, 1, i % 3 ? 12 : 30);
		add(&world, 0, now);
		now += all[i];
		put_entry(&world.event, 300 + i % 2, i % 2);
		add(&world, 0, now);
		now += 1000;
	}
	open_dat(&world);
	world.query.groups = GROUP_GUEST;
	look(&world, &view_exits);
	assert_int_equal(world.view.nr_rows, 1);
	check_percentiles(&world, &world.view.rows[0], all, NR);
	world.query.groups = GROUP_REASON;
	look(&world, &view_exits);
	check_percentiles(&world, row(&world, "HLT"), halts, nr_halts);
	end(&world);
}

/* By a clock of 10 ms most exits take 0: that is known, and no reason for "-". */
TEST(exits_that_take_nothing)
{
	static const char *const columns[] = { "time_ns", "min_ns", "avg_ns", "stddev_ns", "p50_ns",
					       "p99_ns", "max_ns" };
	struct world world;

	begin(&world);
	for (int i = 0; i < 3; i++) {
		put_exit(&world.event, 77, 0, 1, 12);
		add(&world, 0, 1000 + 1000 * i);
		put_entry(&world.event, 77, 0);
		add(&world, 0, 1000 + 1000 * i);
	}
	open_dat(&world);
	look(&world, &view_exits);
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
		const struct cell *cell = &world.view.rows[0].cells[
			view_column_by_id(world.query.type, columns[i])];

		assert_int_equal(cell->type, CELL_NS);
		assert_int_equal(cell->ns, 0);
	}
	assert_int_equal(cell(&world, "HLT", "max_ns")->type, CELL_NS);
	assert_int_equal(cell(&world, "HLT", "interval_max_ns")->type, CELL_NS);
	end(&world);
}

TEST(samples_of_other_programs)
{
	static const char *const files[] = { "tests/data/trace/svm-perf.data",
					     "tests/data/trace/arm64-perf.data" };

	for (size_t i = 0; i < 2; i++) {
		struct world world;

		begin(&world);
		open_file(&world, files[i], 1);
		assert_int_equal(guests_count(world.recording.guests), 2);
		check_exits(&world);
		check_life(&world);
		end(&world);
	}
}

/* In a picture: the process is told with its pid, once, and what is not known by its file. */
TEST(names_of_guests)
{
	static const struct {
		struct recorded_guest guest;
		const char *name;
	} cases[] = {
		{ { .pid = 70, .is_known = true, .name = "web" }, "web (70)" },
		{ { .pid = 70, .is_known = true, .name = "guest 70" }, "guest 70" },
		{ { .pid = -1, .is_known = true, .name = "web" }, "web" },
		{ { .pid = -1, .name = "unknown" }, "" }, /* of the file, and this */
		{ { .pid = -1, .name = "unknown (2)", .key.nth = 1 }, " (2)" },
	};
	struct world world;

	begin(&world);
	put_exit(&world.event, 77, 0, 1, 30);
	add(&world, 0, 1000);
	open_dat(&world);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *file = cases[i].guest.is_known ? "" : strrchr(path, '/') + 1;
		char name[128] = "", wanted[128];

		recorded_guest_name(world.recording.trace, &cases[i].guest, name, sizeof(name));
		snprintf(wanted, sizeof(wanted), "%s%s", file, cases[i].name);
		assert_string_equal(name, wanted);
	}
	end(&world);
}

GROUP(add_formats, tear_down);
