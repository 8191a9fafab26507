// SPDX-License-Identifier: GPL-2.0-or-later
/* The row Total of every view, with every filter and on every level: the rows' sum or mean. */
#include <math.h>

#include "lib/array.h"
#include "tests/unit/unit.h"
#include "tests/worlds/timed_world.h"

#define VIEW_POINTER(view) &(view),
#define FIRST_CPU 6
#define MS UINT64_C(1000000)

static const struct view_type *const types[] = { VIEW_LIST(VIEW_POINTER) };

static uint32_t add(struct world *world, struct field field)
{
	uint32_t id;

	id = fields_add(world->fields, &field);
	return id;
}

static void put(struct world *world, uint32_t guest, int32_t vcpu, uint32_t field, uint64_t count)
{
	struct key key = { guest, vcpu, field };

	sample_add(&world->sample, key, count, ROW_FROM_ZERO);
}

/*
 * Two vCPUs of db1 and one of web1, on CPUs 6, 7 and 6, with the threads of their VMMs and a level
 * of pages, and what the host says of its CPUs.
 */
static void busy_host(struct world *world)
{
	static const int32_t vcpus[][2] = { { 1, 0 }, { 1, 1 }, { 2, 0 } };
	const uint32_t run = add(world, (struct field){ .name = "thread(run)", .use = USE_HOST,
				 .parent = FIELD_NONE, .part = HOST_RUN });
	const uint32_t on = add(world, (struct field){ .name = "thread(cpu)", .use = USE_HOST,
				.kind = FIELD_GAUGE, .parent = FIELD_NONE, .part = HOST_CPU });
	const uint32_t busy = add(world, (struct field){ .name = "host_cpu(busy)",
				  .use = USE_HOST, .parent = FIELD_NONE, .part = HOST_BUSY });
	const uint32_t vmm = add(world, (struct field){ .name = "vmm", .use = USE_HOST,
				 .parent = FIELD_NONE, .part = HOST_THREAD });
	const uint32_t worker = add(world, (struct field){ .name = "vmm(worker)", .use = USE_HOST,
				    .label = "worker", .parent = vmm, .part = HOST_THREAD });
	const uint32_t pages = add(world, (struct field){ .name = "pages_4k",
				   .kind = FIELD_GAUGE, .parent = FIELD_NONE });

	for (uint32_t second = 1; second <= 2; second++) {
		for (uint32_t i = 0; i < ARRAY_SIZE(vcpus); i++) {
			uint32_t guest = (uint32_t)vcpus[i][0];
			int32_t vcpu = vcpus[i][1];

			usual_vcpu(world, guest, vcpu, second);
			put(world, guest, vcpu, run, (100 + 200 * i) * second * MS);
			put(world, guest, vcpu, on, FIRST_CPU + i % 2);
			if (vcpu)
				continue;
			put(world, guest, -1, vmm, 70 * second * MS);
			put(world, guest, -1, worker, 70 * second * MS);
			put(world, guest, -1, KVM_EXIT, 160 * guest * second);
			put(world, guest, -1, pages, 512);
		}
		put(world, GUEST_NONE, FIRST_CPU, busy, 900 * second * MS);
		put(world, GUEST_NONE, FIRST_CPU + 1, busy, 500 * second * MS);
		take(world);
	}
}

static double number_of(const struct cell *cell)
{
	return cell->type == CELL_COUNT ? (double)cell->count : cell->number;
}

/* How many of the vCPUs that the query is about a row is about. */
static double vcpus_of(const struct query *query, const struct view_row *row)
{
	bool is_one = row->vcpu >= 0 || query->has_vcpu || query->nr_only;

	if (query->type->groups & GROUP_REASON && row->guest == GUEST_ALL)
		return 1; /* all of them, as every row */
	return is_one || row->guest == 2 ? 1 : 2;
}

/* Rows of one guest and vCPU are parts of one whole. */
static bool is_first_of_its_whole(const struct view *view, size_t at, size_t column)
{
	const struct view_row *row = &view->rows[at];

	for (size_t i = 0; i < at; i++) {
		if (view->rows[i].guest == row->guest && view->rows[i].vcpu == row->vcpu &&
		    view->rows[i].cells[column].type == CELL_PERCENT)
			return false;
	}
	return true;
}

static void total_is_of_rows(const struct world *world, size_t column)
{
	const struct view *view = &world->view;
	const struct cell *total = &view->total.cells[column];
	double sum = 0, part = 0, whole = 0, least = INFINITY, most = 0, value = number_of(total);

	for (size_t i = 0; i < view->nr_rows; i++) {
		const struct view_row *row = &view->rows[i];
		const struct cell *cell = &row->cells[column];
		double number = number_of(cell), weight = vcpus_of(&world->query, row);

		if (row->depth || cell->type != total->type || row->is_level)
			continue;
		sum += number;
		part += number * weight;
		whole += is_first_of_its_whole(view, i, column) ? weight : 0;
		least = fmin(least, number);
		most = fmax(most, number);
	}
	if (fabs(value - sum) < 0.001 * fmax(sum, 1) || fabs(value - part / whole) < 0.001)
		return;
	/* Of host CPUs, which want differently much, each share has a weight of its own. */
	if (view->type == &view_host && value >= least && value <= most)
		return;
	fail_msg("%s of %s: Total %g of rows that are %g, or %g on average",
		 column_name(&view->type->columns[column]), view->type->name, value, sum,
		 part / whole);
}

static size_t totals_are_of_rows(struct world *world)
{
	const struct column *columns = world->query.type->columns;
	size_t nr = 0;

	build(world);
	for (size_t i = 0; columns[i].id; i++) {
		enum cell_type type = world->view.total.cells[i].type;

		if ((type != CELL_COUNT && type != CELL_RATE && type != CELL_PERCENT) ||
		    !view_has_column(&world->view, i) || !world->view.nr_rows)
			continue;
		total_is_of_rows(world, i);
		nr++;
	}
	return nr;
}

/* What is asked of a view: all, or less. */
static const struct {
	uint32_t guest;
	bool has_vcpu, has_reason, has_cpu;
	const char *filter;
	size_t nr_only;
} queries[] = {
	{ .guest = GUEST_ALL }, { .guest = 1 }, { .guest = 2 },
	{ .guest = 1, .has_vcpu = true },
	{ .has_reason = true }, { .guest = 1, .has_reason = true },
	{ .has_cpu = true }, { .guest = 1, .has_cpu = true },
	{ .filter = "HLT" }, { .filter = "MSR|IO" }, { .guest = 1, .filter = "exit" },
	{ .nr_only = 2 }, { .nr_only = 2, .filter = "MSR" },
};

static void ask(struct world *world, size_t i)
{
	static const struct vcpu_key only[] = { { 1, 1 }, { 2, 0 } };
	struct query *query = &world->query;

	query->guest = queries[i].guest;
	query->has_vcpu = queries[i].has_vcpu;
	query->vcpu = 1;
	query->has_reason = queries[i].has_reason;
	query->reason = MSR;
	query->has_cpu = queries[i].has_cpu;
	query->cpu = FIRST_CPU;
	query->only = only;
	query->nr_only = queries[i].nr_only;
	set_filter(world, queries[i].filter);
}

TEST(every_total_is_of_the_rows, setup, teardown)
{
	static const unsigned int groups[] = { GROUP_REASON, GROUP_GUEST, GROUP_GUEST | GROUP_VCPU,
					       GROUP_ALL };
	struct world *world = *state;
	size_t nr = 0;

	busy_host(world);
	for (size_t type = 0; type < ARRAY_SIZE(types); type++) {
		set_view(world, types[type]);
		for (size_t i = 0; i < ARRAY_SIZE(queries) * ARRAY_SIZE(groups); i++) {
			world->query.groups = groups[i / ARRAY_SIZE(queries)];
			world->query.children = i % 2;
			world->query.zeros = i % 3;
			ask(world, i % ARRAY_SIZE(queries));
			nr += totals_are_of_rows(world);
		}
	}
	assert_true(nr > 1000);
}

static double total(struct world *world, const struct view_type *type, const char *id)
{
	int column = view_column_by_id(type, id);

	set_view(world, type);
	build(world);
	assert_true(column >= 0);
	return number_of(&world->view.total.cells[column]);
}

TEST(a_host_cpu_has_the_vcpus_that_are_on_it, setup, teardown)
{
	struct world *world = *state;

	busy_host(world);
	world->query.has_cpu = true;
	world->query.cpu = FIRST_CPU + 1; /* vCPU 1 of db1 alone */
	assert_int_equal((int)total(world, &view_vcpus, "rate"), 160);
	world->query.cpu = FIRST_CPU;
	assert_int_equal((int)total(world, &view_vcpus, "rate"), 320);
	assert_int_equal(world->view.nr_rows, 2);
}

TEST(threads_of_the_vmm_are_in_the_total, setup, teardown)
{
	struct world *world = *state;

	busy_host(world);
	world->query.guest = 1;
	assert_int_equal((int)round(total(world, &view_vcpus, "cpu_percent")), 10 + 30 + 7);
	assert_int_equal(world->view.nr_rows, 3);
}

/* Of web1 only the share is not known: it is no 0. */
TEST(what_is_not_known_is_in_no_mean, setup, teardown)
{
	struct world *world = *state;

	for (uint32_t second = 1; second <= 2; second++) {
		for (int32_t vcpu = 0; vcpu < 2; vcpu++) {
			live(world, 1, vcpu, TIME, 1000 * second);
			live(world, 1, vcpu, WAIT, 600 * second);
			live(world, 1, vcpu, GUEST, 1000 * second);
		}
		live(world, 2, 0, TIME, 1000 * second);
		live(world, 2, 0, GUEST, 400 * second);
		take(world);
	}
	assert_int_equal((int)round(total(world, &view_guests, "wait_percent")), 60);
	assert_int_equal((int)round(total(world, &view_guests, "guest_percent")), 80);
	assert_int_equal((int)round(total(world, &view_vcpus, "wait_percent")), 60);
}
