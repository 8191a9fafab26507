/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timed_world - what the tests of views of timed exits share: two guests, what their vCPUs did, and
 * a view as text.
 */
#ifndef KVMTOP_TESTS_WORLDS_TIMED_WORLD_H
#define KVMTOP_TESTS_WORLDS_TIMED_WORLD_H

#include "tests/worlds/view_world.h"
#include "core/facts/shared_fields.h"
#include "core/views/view.h"
#include "lib/array.h"
#include "core/views/fill.h"

/* The exits' fields are in the order in which exit_fields_add() adds them. */
enum {
	VMEXIT, USERSPACE, TIME, GUEST, KVM, USER, IDLE, WAIT, BLOCK, ON_CPU, IOPORT, MMIO,
	MSR_EVENT,
	HLT = MSR_EVENT + EXITS_KINDS - EXITS_MSR, MSR, IO, USER_IO, MSR_TSC, MSR_EOI, PORT,
	PART_IDLE, HLT_IDLE, PART_POLLED, HLT_POLLED, PART_BLOCKED, IO_BLOCKED, PART_WAITED,
	MSR_WAITED, IO_WAITED, KVM_EXIT, NR_FIELDS
};

static inline void add_fields(struct fields *fields)
{
	static const enum time_part parts[] = { TIME_WHOLE, TIME_GUEST, TIME_KVM, TIME_USER,
						TIME_IDLE, TIME_WAIT, TIME_BLOCK };
	const struct exit_events events = { .lacks = { false } };
	struct exit_fields exits;
	unsigned int bits = 0;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		bits |= 1U << parts[i];
	exit_fields_add(fields, 0, &events, bits, &exits);
	exit_fields_reason(&exits, EXITS_VMEXIT, "HLT", NULL, true);
	exit_fields_reason(&exits, EXITS_VMEXIT, "MSR_WRITE", NULL, false);
	exit_fields_reason(&exits, EXITS_VMEXIT, "IO", NULL, false);
	exit_fields_reason(&exits, EXITS_USERSPACE, "IO", NULL, false);
	exit_fields_argument(&exits, EXITS_MSR, "MSR_WRITE", MSR, "0x6e0 TSC");
	exit_fields_argument(&exits, EXITS_MSR, "MSR_WRITE", MSR, "0x80b EOI");
	exit_fields_argument(&exits, EXITS_IOPORT, "IO", FIELD_NONE, "0x3f8 write 1");
	exit_fields_exit_part(&exits, EXITS_VMEXIT, HLT, EXIT_IDLE);
	exit_fields_exit_part(&exits, EXITS_VMEXIT, HLT, EXIT_POLLED);
	exit_fields_exit_part(&exits, EXITS_VMEXIT, IO, EXIT_BLOCKED);
	exit_fields_exit_part(&exits, EXITS_VMEXIT, MSR, EXIT_WAITED);
	exit_fields_exit_part(&exits, EXITS_VMEXIT, IO, EXIT_WAITED);
	fields_add(fields, &(struct field){ .name = "kvm_exit", .parent = FIELD_NONE, .source = 1,
					    .exit_rank = 1 });
	assert_int_equal(fields_count(fields), NR_FIELDS);
}

static inline int setup(void **state)
{
	struct world *world;

	world_setup(state, NULL, 0, &view_exits);
	world = *state;
	add_fields(world->fields);
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
