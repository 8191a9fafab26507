/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timed_world - what the tests of views of timed exits share: two guests, what their vCPUs did, and
 * a view as text.
 */
#ifndef KVMTOP_TESTS_WORLDS_TIMED_WORLD_H
#define KVMTOP_TESTS_WORLDS_TIMED_WORLD_H

#include "tests/worlds/view_world.h"
#include "core/views/view.h"
#include "core/views/fill.h"

enum {
	KVM_EXIT, VMEXIT, HLT, MSR, IO, USERSPACE, USER_IO, TIME, GUEST, KVM, USER, IDLE, BLOCK,
	WAIT, MSR_EVENT, MSR_TSC, MSR_EOI, IOPORT, PORT, ON_CPU, PART_IDLE, HLT_IDLE, PART_POLLED,
	HLT_POLLED, PART_BLOCKED, IO_BLOCKED, PART_WAITED, MSR_WAITED, IO_WAITED, NR_FIELDS
};

#define PARENT_OF_PARTS(what, of) \
	{ .name = "vmexit_" what, .parent = FIELD_NONE, .use = USE_EXIT_PART, .part = (of), \
	  .reason = VMEXIT }
#define PART(what, text, parent_of, of, exit) \
	{ .name = "vmexit_" what "(" text ")", .label = (text), .parent = (parent_of), \
	  .use = USE_EXIT_PART, .part = (of), .reason = (exit) }

/* As the provider has them: reasons carry their parent's rank. */
static const struct field specs[] = {
	[KVM_EXIT] = { .name = "kvm_exit", .parent = FIELD_NONE, .source = 1, .exit_rank = 1 },
	[VMEXIT] = { .name = "vmexit", .listed = "kvm_exit", .parent = FIELD_NONE,
		     .use = USE_EXIT, .exit_rank = 1 },
	[HLT] = { .name = "vmexit(HLT)", .parent = VMEXIT, .use = USE_EXIT, .exit_rank = 1,
		  .is_idle = true },
	[MSR] = { .name = "vmexit(MSR_WRITE)", .parent = VMEXIT, .use = USE_EXIT, .exit_rank = 1 },
	[IO] = { .name = "vmexit(IO)", .parent = VMEXIT, .use = USE_EXIT, .exit_rank = 1 },
	[USERSPACE] = { .name = "userspace", .listed = "kvm_userspace_exit",
			.parent = FIELD_NONE, .use = USE_EXIT, .exit_rank = 2 },
	[USER_IO] = { .name = "userspace(IO)", .parent = USERSPACE, .use = USE_EXIT,
		      .exit_rank = 2 },
	[TIME] = { .name = "time", .parent = FIELD_NONE, .use = USE_TIME },
	[GUEST] = { .name = "time(guest)", .parent = TIME, .use = USE_TIME, .part = TIME_GUEST },
	[KVM] = { .name = "time(kvm)", .parent = TIME, .use = USE_TIME, .part = TIME_KVM },
	[USER] = { .name = "time(user)", .parent = TIME, .use = USE_TIME, .part = TIME_USER },
	[IDLE] = { .name = "time(idle)", .parent = TIME, .use = USE_TIME, .part = TIME_IDLE },
	[BLOCK] = { .name = "time(block)", .parent = TIME, .use = USE_TIME, .part = TIME_BLOCK },
	[WAIT] = { .name = "time(wait)", .parent = TIME, .use = USE_TIME, .part = TIME_WAIT },
	[MSR_EVENT] = { .name = "msr", .listed = "kvm_msr", .parent = FIELD_NONE,
			.use = USE_ARGUMENT, .reason = FIELD_NONE },
	[MSR_TSC] = { .name = "msr(MSR_WRITE 0x6e0 TSC)", .label = "0x6e0 TSC",
		      .parent = MSR_EVENT, .use = USE_ARGUMENT, .reason = MSR },
	[MSR_EOI] = { .name = "msr(MSR_WRITE 0x80b EOI)", .label = "0x80b EOI",
		      .parent = MSR_EVENT, .use = USE_ARGUMENT, .reason = MSR },
	[IOPORT] = { .name = "ioport", .listed = "kvm_pio", .parent = FIELD_NONE,
		     .use = USE_ARGUMENT, .reason = FIELD_NONE },
	[PORT] = { .name = "ioport(IO 0x3f8 write 1)", .label = "0x3f8 write 1",
		   .parent = IOPORT, .use = USE_ARGUMENT, .reason = FIELD_NONE },
	[ON_CPU] = { .name = "cpu", .parent = FIELD_NONE, .use = USE_CPU, .kind = FIELD_GAUGE },
	[PART_IDLE] = PARENT_OF_PARTS("idle", EXIT_IDLE),
	[HLT_IDLE] = PART("idle", "HLT", PART_IDLE, EXIT_IDLE, HLT),
	[PART_POLLED] = PARENT_OF_PARTS("polled", EXIT_POLLED),
	[HLT_POLLED] = PART("polled", "HLT", PART_POLLED, EXIT_POLLED, HLT),
	[PART_BLOCKED] = PARENT_OF_PARTS("blocked", EXIT_BLOCKED),
	[IO_BLOCKED] = PART("blocked", "IO", PART_BLOCKED, EXIT_BLOCKED, IO),
	[PART_WAITED] = PARENT_OF_PARTS("waited", EXIT_WAITED),
	[MSR_WAITED] = PART("waited", "MSR_WRITE", PART_WAITED, EXIT_WAITED, MSR),
	[IO_WAITED] = PART("waited", "IO", PART_WAITED, EXIT_WAITED, IO),
};

static inline int setup(void **state)
{
	struct world *world;

	world_setup(state, specs, NR_FIELDS, &view_exits);
	world = *state;
	assert_int_equal(guests_add_fake(world->guests, 4000, "db1", 2), 1);
	assert_int_equal(guests_add_fake(world->guests, 5000, "web1", 1), 2);
	return 0;
}

/* So many of so many ns each; they are in a vCPU's row and in its parent's. */
static inline void count(struct world *world, uint32_t guest, int32_t vcpu, uint32_t field,
			 uint32_t nr, uint64_t ns)
{
	struct key key = { guest, vcpu, field };
	struct timing timing = { .time_ns = nr * ns, .max_ns = nr ? ns : 0 };
	unsigned int bucket = 0;

	while (ns >= hist_edge_ns(bucket))
		bucket++;
	timing.hist[bucket] = nr;
	sample_add_timed(&world->sample, key, nr, ROW_FROM_ZERO, &timing);
}

static inline void live(struct world *world, uint32_t guest, int32_t vcpu, uint32_t field,
			uint64_t ms)
{
	struct key key = { guest, vcpu, field };

	sample_add(&world->sample, key, ms * 1000000, ROW_FROM_ZERO);
}

/*
 * What one vCPU has done after so many seconds: 100 MSRs of 1 ms, 10 I/Os of 10 ms, of which 9 are
 * the VMM's, who sleeps in 2; and 50 halts of 8 ms, of which KVM works for 0.4 ms and polls for so
 * many ms a second. It waits for 20 ms a second beside these.
 */
static inline void polling_vcpu(struct world *world, uint32_t guest, int32_t vcpu,
				uint32_t seconds, uint32_t polled_ms)
{
	count(world, guest, vcpu, VMEXIT, 160 * seconds, 1000000);
	count(world, guest, vcpu, MSR, 100 * seconds, 1000000);
	count(world, guest, vcpu, IO, 10 * seconds, 10000000);
	count(world, guest, vcpu, HLT, 50 * seconds, 8000000);
	count(world, guest, vcpu, USERSPACE, 10 * seconds, 9000000);
	count(world, guest, vcpu, USER_IO, 10 * seconds, 9000000);
	live(world, guest, vcpu, TIME, 1000 * seconds);
	live(world, guest, vcpu, GUEST, 380 * seconds);
	live(world, guest, vcpu, KVM, 130 * seconds);
	live(world, guest, vcpu, USER, 70 * seconds);
	live(world, guest, vcpu, IDLE, (380 - polled_ms) * seconds);
	live(world, guest, vcpu, BLOCK, 20 * seconds);
	live(world, guest, vcpu, WAIT, 20 * seconds);
	live(world, guest, vcpu, HLT_IDLE, (380 - polled_ms) * seconds);
	if (polled_ms)
		live(world, guest, vcpu, HLT_POLLED, polled_ms * seconds);
	live(world, guest, vcpu, IO_BLOCKED, 20 * seconds);
	live(world, guest, vcpu, MSR_WAITED, 15 * seconds);
	live(world, guest, vcpu, IO_WAITED, 5 * seconds);
	count(world, guest, vcpu, MSR_EVENT, 100 * seconds, 1000000);
	count(world, guest, vcpu, MSR_TSC, 90 * seconds, 1000000);
	count(world, guest, vcpu, MSR_EOI, 10 * seconds, 1000000);
	count(world, guest, vcpu, IOPORT, 10 * seconds, 10000000);
	count(world, guest, vcpu, PORT, 10 * seconds, 10000000);
}

static inline void usual_vcpu(struct world *world, uint32_t guest, int32_t vcpu, uint32_t seconds)
{
	polling_vcpu(world, guest, vcpu, seconds, 0);
}

/* vCPU 0 of db1 is twice as busy as the others. */
static inline void usual(struct world *world)
{
	for (uint32_t second = 1; second <= 2; second++) {
		usual_vcpu(world, 1, 0, 2 * second);
		usual_vcpu(world, 1, 1, second);
		usual_vcpu(world, 2, 0, second);
		take(world);
	}
}

/* One vCPU has an I/O that never ends, and another one a halt; both since the first second. */
static inline void stands_still(struct world *world, uint32_t second)
{
	const uint64_t open_ns = second * UINT64_C(1000000000);
	struct timing io = { .time_ns = 10000000 + open_ns, .open_ns = open_ns,
			     .max_ns = 10000000 };
	struct timing halt = { .time_ns = open_ns, .open_ns = open_ns };

	io.hist[17] = 1;
	sample_add_timed(&world->sample, (struct key){ 1, 0, IO }, 2,
					  ROW_FROM_ZERO, &io);
	sample_add_timed(&world->sample, (struct key){ 1, 0, VMEXIT }, 2,
					  ROW_FROM_ZERO, &io);
	sample_add_timed(&world->sample, (struct key){ 2, 0, HLT }, 1,
					  ROW_FROM_ZERO, &halt);
	sample_add_timed(&world->sample, (struct key){ 2, 0, VMEXIT }, 1,
					  ROW_FROM_ZERO, &halt);
	live(world, 1, 0, TIME, 10 + 1000 * second);
	live(world, 1, 0, KVM, 10 + 1000 * second);
	live(world, 2, 0, TIME, 1000 * second);
	live(world, 2, 0, IDLE, 1000 * second);
	live(world, 2, 0, HLT_IDLE, 1000 * second);
	take(world);
}

/* The columns, named one after the other, of each row and the Total row. */
static inline const char *picture(struct world *world, const char *columns)
{
	const struct view *view = build(world);
	char list[256], *at, *id;
	size_t len = 0;

	world->text[0] = '\0';
	for (size_t i = 0; i <= view->nr_rows; i++) {
		const struct view_row *row = i < view->nr_rows ? &view->rows[i] : &view->total;

		snprintf(list, sizeof(list), "%s", columns);
		for (at = list; (id = strsep(&at, " "));) {
			int column = view_column_by_id(view->type, id);

			assert_true(column >= 0);
			len += put_cell(world->text + len, &row->cells[column]);
			len += (size_t)sprintf(world->text + len, at ? " " : "\n");
		}
	}
	return world->text;
}

#endif
