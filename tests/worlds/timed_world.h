/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timed_world - what the tests of views of timed exits share: two guests, what their vCPUs did, and
 * a view as text.
 */
#ifndef KVMTOP_TESTS_WORLDS_TIMED_WORLD_H
#define KVMTOP_TESTS_WORLDS_TIMED_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/env.h"
#include "tests/worlds/fake_guest.h"
#include "views/build.h"
#include "views/owners.h"

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define SECOND UINT64_C(1000000000)

enum {
	KVM_EXIT, VMEXIT, HLT, MSR, IO, USERSPACE, USER_IO, TIME, GUEST, KVM, USER, HALT, WAIT,
	MSR_EVENT, MSR_TSC, MSR_EOI, IOPORT, PORT, ON_CPU, NR_FIELDS
};

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
	[HALT] = { .name = "time(halt)", .parent = TIME, .use = USE_TIME, .part = TIME_HALT },
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
};

struct world {
	struct env env;
	struct fields *fields;
	struct stats *stats;
	struct guests *guests;
	struct sample sample;
	struct field_set wanted;
	struct pattern *filter;
	struct query query;
	struct view view;
	struct facts facts;
	uint64_t now_ns;
	char text[8192];
};

static inline int setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	uint32_t id;

	assert_non_null(world);
	world->env.root = "/nonexistent";
	world->guests = guests_new(&world->env);
	world->fields = fields_new();
	world->stats = stats_new();
	world->facts = (struct facts){ &world->wanted, world->fields, world->stats,
				       world->guests };
	for (uint32_t i = 0; i < NR_FIELDS; i++)
		assert_int_equal(fields_add(world->fields, &specs[i], &id), 0);
	assert_int_equal(guests_add_fake(world->guests, 4000, "db1", 2), 1);
	assert_int_equal(guests_add_fake(world->guests, 5000, "web1", 1), 2);
	*state = world;
	return 0;
}

static inline int teardown(void **state)
{
	struct world *world = *state;

	view_release(&world->view);
	field_set_release(&world->wanted);
	pattern_free(world->filter);
	sample_release(&world->sample);
	stats_free(world->stats);
	guests_free(world->guests);
	fields_free(world->fields);
	free(world);
	return 0;
}

static inline void set_view(struct world *world, const struct view_type *type)
{
	world->query.type = type;
	world->query.sort = type->sort;
}

static inline void set_filter(struct world *world, const char *text)
{
	pattern_free(world->filter);
	assert_int_equal(pattern_new(text, &world->filter, NULL), 0);
	world->query.filter = world->filter;
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
	assert_int_equal(sample_add_timed(&world->sample, key, nr, ROW_FROM_ZERO, &timing), 0);
}

static inline void live(struct world *world, uint32_t guest, int32_t vcpu, uint32_t field,
			uint64_t ms)
{
	struct key key = { guest, vcpu, field };

	assert_int_equal(sample_add(&world->sample, key, ms * 1000000, ROW_FROM_ZERO), 0);
}

/* What one vCPU has done after so many seconds: 100 MSRs of 1 ms, 10 I/Os of 10 ms, halts. */
static inline void usual_vcpu(struct world *world, uint32_t guest, int32_t vcpu, uint32_t seconds)
{
	count(world, guest, vcpu, VMEXIT, 160 * seconds, 1000000);
	count(world, guest, vcpu, MSR, 100 * seconds, 1000000);
	count(world, guest, vcpu, IO, 10 * seconds, 10000000);
	count(world, guest, vcpu, HLT, 50 * seconds, 8000000);
	count(world, guest, vcpu, USERSPACE, 10 * seconds, 9000000);
	count(world, guest, vcpu, USER_IO, 10 * seconds, 9000000);
	live(world, guest, vcpu, TIME, 1000 * seconds);
	live(world, guest, vcpu, GUEST, 400 * seconds);
	live(world, guest, vcpu, KVM, 110 * seconds);
	live(world, guest, vcpu, USER, 90 * seconds);
	live(world, guest, vcpu, HALT, 400 * seconds);
	live(world, guest, vcpu, WAIT, 20 * seconds);
	count(world, guest, vcpu, MSR_EVENT, 100 * seconds, 1000000);
	count(world, guest, vcpu, MSR_TSC, 90 * seconds, 1000000);
	count(world, guest, vcpu, MSR_EOI, 10 * seconds, 1000000);
	count(world, guest, vcpu, IOPORT, 10 * seconds, 10000000);
	count(world, guest, vcpu, PORT, 10 * seconds, 10000000);
}

static inline void take(struct world *world)
{
	world->now_ns += SECOND;
	world->sample.time_ns[0] = world->sample.time_ns[1] = world->now_ns;
	assert_int_equal(stats_update(world->stats, world->fields, &world->sample), 0);
	sample_reset(&world->sample);
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

static inline const struct view *build(struct world *world)
{
	assert_int_equal(query_wants(&world->query, world->fields, &world->wanted), 0);
	assert_int_equal(view_build(&world->view, &world->query, &world->facts), 0);
	return &world->view;
}

static inline size_t put_cell(char *text, const struct cell *cell)
{
	unsigned int nr = 0;

	switch (cell->type) {
	case CELL_TEXT:
		return (size_t)sprintf(text, "%s", cell->text);
	case CELL_COUNT:
		return (size_t)sprintf(text, "%llu", (unsigned long long)cell->count);
	case CELL_PERCENT:
		return (size_t)sprintf(text, "%.1f%%", cell->number);
	case CELL_RATE:
		return (size_t)sprintf(text, "%.0f/s", cell->number);
	case CELL_NS:
		return (size_t)sprintf(text, "%lluns", (unsigned long long)cell->ns);
	case CELL_HIST:
		for (int i = 0; i < HIST_BUCKETS; i++)
			nr += (unsigned int)cell->hist[i];
		return (size_t)sprintf(text, "hist of %u", nr);
	case CELL_SPLIT:
		return (size_t)sprintf(text, "%.2f %.2f %.2f %.2f", cell->split[0],
				       cell->split[1], cell->split[2], cell->split[3]);
	default:
		return (size_t)sprintf(text, "-");
	}
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
