/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_report - exits from made-up recordings: what belongs together, how long it took, its name.
 */
#include <errno.h>
#include <math.h>

#include "lib/array.h"
#include "tests/unit/unit.h"
#include "tests/worlds/trace_file.h"
#include "trace/exits/recording.h"
#include "core/views/view.h"

/* ---- exits */

/* A recording under construction, then read. */
struct world {
	struct made_ring rings[2];
	struct bytes event;
	struct recording recording;
	enum exit_kind kind; /* what the test is about */
};

static void begin(struct world *world)
{
	*world = (struct world){ .kind = EXITS_VMEXIT };
	ring_init(&world->rings[0], 0);
	ring_init(&world->rings[1], 0);
}

static void add(struct world *world, int cpu, uint64_t time)
{
	ring_add(&world->rings[cpu], time, &world->event);
}

static void read_file(struct world *world, enum exit_kind event)
{
	const struct recording_choice choice = { .arguments = 1U << event };
	const char *paths[] = { path };
	struct error error;

	world->kind = event;
	assert_int_equal(recording_read(paths, 1, &choice, &world->recording, &error), 0);
}

static void read_it(struct world *world, enum exit_kind event)
{
	struct bytes file = { .len = 0 };

	put_dat6(&file, world->rings, 2, world_formats, NR_WORLD_FORMATS, "[local]");
	save(path, file.data, file.len);
	bytes_release(&file);
	bytes_release(&world->event);
	read_file(world, event);
}

static void end(struct world *world)
{
	recording_release(&world->recording);
}

/* What was counted of this name, of any thread. */
static const struct exit_count *count_of(const struct world *world, const char *name)
{
	const struct pairing *pairing = &world->recording.pairing;

	for (size_t i = 0; i < pairing->table.nr_threads; i++) {
		const struct recorded_thread *thread = pairing->table.threads[i];

		for (size_t j = 0; j < thread->counts.nr; j++) {
			char got[96];

			meaning_name(&pairing->meanings, &thread->counts.list[j]->key, got,
				     sizeof(got));
			if (thread->counts.list[j]->key.kind == world->kind &&
			    strcmp(got, name) == 0)
				return thread->counts.list[j];
		}
	}
	fail_msg("no %s", name);
	return NULL;
}

/* Exit and entry of a thread belong together, whatever CPU it is on and what others do. */
TEST(pairs_by_thread)
{
	struct world world;

	begin(&world);
	put_exit(&world.event, 77, 0, 1, 12);
	add(&world, 0, 1000);
	put_exit(&world.event, 78, 1, 1, 30);
	add(&world, 0, 1500);
	put_entry(&world.event, 77, 0); /* migrated */
	add(&world, 1, 2000);
	put_entry(&world.event, 78, 1);
	add(&world, 0, 5500);
	put_exit(&world.event, 77, 0, 1, 12); /* has no end */
	add(&world, 1, 6000);
	read_it(&world, EXITS_VMEXIT);

	assert_int_equal(world.recording.pairing.table.nr_threads, 2);
	assert_int_equal(count_of(&world, "HLT")->begun, 2);
	assert_int_equal(count_of(&world, "HLT")->took.count, 1);
	assert_int_equal(count_of(&world, "HLT")->took.total_ns, 1000);
	assert_true(meaning_is_idle(&world.recording.pairing.meanings,
				    &count_of(&world, "HLT")->key));
	assert_int_equal(count_of(&world, "IO_INSTRUCTION")->took.total_ns, 4000);
	assert_int_equal(world.recording.pairing.table.threads[1]->vcpu, 1);
	assert_string_equal(world.recording.pairing.table.threads[0]->comm, "CPU 0/KVM");
	end(&world);
}

/* The recording's own list comes first, then the built-in one, then a number. */
TEST(names_of_reasons)
{
	static const struct {
		uint32_t isa, reason;
		const char *name;
	} cases[] = {
		{ 1, 0x77, "FROM_THE_FUTURE" }, { 1, 48, "EPT_VIOLATION" },
		{ 1, 0x80000021, "INVALID_STATE FAILED_VMENTRY" },
		{ 1, 0x3fff, "0x3fff" },	    { 2, 0x78, "hlt" },
		{ 2, 0x400, "npf" },		    { 3, 5, "0x5" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world world;

		begin(&world);
		put_exit(&world.event, 77, 0, cases[i].isa, cases[i].reason);
		add(&world, 0, 1);
		read_it(&world, EXITS_VMEXIT);
		assert_int_equal(count_of(&world, cases[i].name)->begun, 1);
		end(&world);
	}
}

/* What was open on the CPU that lost events may have ended: it is not timed over the gap. */
TEST(a_loss_ends_what_was_open)
{
	struct world world;

	begin(&world);
	put_exit(&world.event, 77, 0, 1, 12);
	add(&world, 0, 1000);
	put_exit(&world.event, 78, 1, 1, 30);
	add(&world, 1, 1100);
	ring_lose(&world.rings[0], 5);
	put_entry(&world.event, 77, 0);
	add(&world, 0, 900000);
	put_entry(&world.event, 78, 1);
	add(&world, 1, 900100);
	read_it(&world, EXITS_VMEXIT);
	assert_int_equal(count_of(&world, "HLT")->took.count, 0);
	assert_int_equal(count_of(&world, "IO_INSTRUCTION")->took.total_ns, 899000);
	assert_int_equal(world.recording.pairing.nr_losses, 1);
	assert_int_equal(world.recording.pairing.nr_lost_events, 5);
	assert_int_equal(world.recording.pairing.losses[0].cpu, 0);
	end(&world);
}

/* As perf kvm stat: a read from the exit to its event, a write from its event to the entry. */
TEST(mmio_as_perf_has_it)
{
	struct world world;

	begin(&world);
	put_exit(&world.event, 77, 0, 1, 48);
	add(&world, 0, 1000);
	put_mmio(&world.event, 77, 0, 0x1000); /* begun, not answered yet */
	add(&world, 0, 1200);
	put_mmio(&world.event, 77, 1, 0x1000);
	add(&world, 0, 1700);
	put_entry(&world.event, 77, 0);
	add(&world, 0, 2000);
	put_exit(&world.event, 77, 0, 1, 48);
	add(&world, 0, 3000);
	put_mmio(&world.event, 77, 2, 0x2000);
	add(&world, 0, 3100);
	put_entry(&world.event, 77, 0);
	add(&world, 0, 3500);
	read_it(&world, EXITS_MMIO);
	assert_int_equal(count_of(&world, "0x1000 read 4")->took.total_ns, 700);
	assert_int_equal(count_of(&world, "0x2000 write 4")->took.total_ns, 400);
	assert_int_equal(world.recording.pairing.table.nr_counts[world.kind], 2);
	end(&world);
}

TEST(an_msr_takes_the_whole_exit)
{
	struct world world;

	begin(&world);
	put_exit(&world.event, 77, 0, 1, 32);
	add(&world, 0, 1000);
	put_msr(&world.event, 77, 1, 0x6e0);
	add(&world, 0, 1400);
	put_msr(&world.event, 77, 0, 0x10); /* by the way: it is the first that counts */
	add(&world, 0, 1450);
	put_entry(&world.event, 77, 0);
	add(&world, 0, 1500);
	put_exit(&world.event, 77, 0, 1, 12); /* no MSR */
	add(&world, 0, 2000);
	put_entry(&world.event, 77, 0);
	add(&world, 0, 9000);
	read_it(&world, EXITS_MSR);
	assert_int_equal(world.recording.pairing.table.nr_counts[world.kind], 1);
	assert_int_equal(count_of(&world, "0x6e0 IA32_TSC_DEADLINE write")->took.total_ns, 500);
	end(&world);
}

/* Addresses may be any: more than there is room for are one row, and none is lost. */
TEST(many_arguments)
{
	enum { NR = 30000 };
	struct world world;
	uint64_t count = 0;

	begin(&world);
	for (uint32_t i = 0; i < NR; i++) {
		put_mmio(&world.event, 77, 2, UINT64_C(0x1000) * i);
		add(&world, 0, 10 * i);
		put_entry(&world.event, 77, 0);
		add(&world, 0, 10 * i + 5);
	}
	read_it(&world, EXITS_MMIO);
	assert_true(world.recording.pairing.table.nr_counts[world.kind] < NR);
	for (size_t i = 0; i < world.recording.pairing.table.threads[0]->counts.nr; i++)
		count += world.recording.pairing.table.threads[0]->counts.list[i]->took.count;
	assert_int_equal(count, NR);
	assert_true(count_of(&world, "(others)")->took.count > NR / 4);
	end(&world);
}

/* kvmtrace does not say whose numbers these are: SVM's have some that VMX has not. */
TEST(kvmtrace_of_both_vendors)
{
	static const struct {
		uint32_t reasons[2];
		const char *names[2];
	} cases[] = {
		{ { 12, 48 }, { "HLT", "EPT_VIOLATION" } },
		{ { 0x78, 0x10 }, { "hlt", "write_cr0" } },
		{ { 0x400, UINT32_MAX }, { "npf", "invalid_guest_state" } }, /* -1 */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct bytes file = { .len = 0 };
		struct world world = { .kind = EXITS_VMEXIT };

		for (uint32_t vcpu = 0; vcpu < 2; vcpu++) {
			put_kvmtrace(&file, 100, 0x10002, 7, vcpu, 1, &cases[i].reasons[vcpu]);
			put_kvmtrace(&file, 150 + vcpu, 0x10001, 7, vcpu, 0, NULL);
		}
		save(path, file.data, file.len);
		bytes_release(&file);
		read_file(&world, EXITS_VMEXIT);
		assert_int_equal(count_of(&world, cases[i].names[0])->took.total_ns, 50);
		assert_int_equal(count_of(&world, cases[i].names[1])->took.total_ns, 51);
		end(&world);
	}
}

/* ---- rows */

/* 0: the recording has none. */
static void check_change(const struct view *view, size_t i, const char *reason, uint64_t other_avg,
			 uint64_t avg, double change)
{
	const char *const ids[] = { "other_avg_ns", "avg_ns", "avg_change" };
	const struct view_row *row = &view->rows[i];
	const struct cell *cells[3];

	for (int c = 0; c < 3; c++)
		cells[c] = &row->cells[view_column_by_id(view->type, ids[c])];
	assert_string_equal(row->cells[0].text, reason);
	assert_int_equal(cells[0]->type, other_avg ? CELL_NS : CELL_NONE);
	assert_int_equal(cells[1]->type, avg ? CELL_NS : CELL_NONE);
	assert_int_equal(cells[2]->type, other_avg && avg ? CELL_PERCENT : CELL_NONE);
	if (other_avg && avg)
		assert_true(fabs(cells[2]->number - change) < 1e-9);
}

/* What changed most comes first, and what is in one recording only has no number in the other. */
TEST(a_diff_begins_with_what_changed)
{
	static const struct {
		const char *name;
		uint64_t took[2]; /* 0: not there */
	} cases[] = { { "HLT", { 1000, 1200 } }, { "IO", { 1000, 9000 } }, { "EPT", { 0, 4000 } } };
	const struct view_type *type = &view_exits;
	struct view_side sides[2];
	struct view views[2] = { { .nr_rows = 0 }, { .nr_rows = 0 } }, both;
	struct error error = { "" };

	for (unsigned int i = 0; i < 2; i++) {
		view_begin(&views[i], type);
		for (size_t j = 0; j < 3; j++) {
			struct view_row *row = cases[j].took[i] ? view_add(&views[i]) : NULL;

			if (!row)
				continue;
			row->cells[view_column_by_id(type, "reason")] = cell_text(cases[j].name);
			row->cells[view_column_by_id(type, "time_ns")] = cell_ns(cases[j].took[i]);
			row->cells[view_column_by_id(type, "avg_ns")] = cell_ns(cases[j].took[i]);
		}
		views[i].total.cells[view_column_by_id(type, "time_ns")] = cell_ns(10000);
		sides[i] = (struct view_side){
			.path = "file",
			.view = &views[i],
			.span = 50000,
		};
	}
	views[1].note = "what is counted";
	assert_int_equal(view_diff(sides, &both, &error), 0);
	assert_string_equal(both.note, "what is counted");
	assert_int_equal(both.nr_rows, 3);
	check_change(&both, 0, "IO", 1000, 9000, 800);
	check_change(&both, 1, "EPT", 0, 4000, 0);
	check_change(&both, 2, "HLT", 1000, 1200, 20);
	view_release(&both);
	sides[1].unit = UNIT_CYCLES;
	assert_int_equal(view_diff(sides, &both, &error), -EINVAL);
	assert_non_null(strstr(error.text, "with --frequency 2.4GHz"));
	view_release(&both);
	for (unsigned int i = 0; i < 2; i++)
		view_release(&views[i]);
}

GROUP(set_up, tear_down);
