// SPDX-License-Identifier: GPL-2.0-or-later
/* The Events view: rows, shares, order, the Total row; and what all views share. */
#include <math.h>

#include "lib/array.h"
#include "tests/unit/unit.h"
#include "tests/worlds/view_world.h"

enum {
	EXIT, EXIT_HLT, EXIT_MSR, EXIT_WFX, ENTRY, USER, USER_IO, PIO, /* source 0 */
	EXITS, PAGES, RMAP, INSN, INSN_DIAG, /* source 1 */
	NR_FIELDS
};

static const struct field specs[] = {
	[EXIT] = { .name = "kvm_exit", .parent = FIELD_NONE, .exit_rank = 1 },
	[EXIT_HLT] = { .name = "kvm_exit(HLT)", .parent = EXIT, .is_idle = true },
	[EXIT_MSR] = { .name = "kvm_exit(MSR_WRITE)", .parent = EXIT },
	[EXIT_WFX] = { .name = "kvm_exit(WFx)", .parent = EXIT },
	[ENTRY] = { .name = "kvm_entry", .parent = FIELD_NONE },
	[USER] = { .name = "kvm_userspace_exit", .parent = FIELD_NONE, .exit_rank = 2 },
	[USER_IO] = { .name = "kvm_userspace_exit(IO)", .parent = USER },
	[PIO] = { .name = "kvm_pio", .parent = FIELD_NONE },
	[EXITS] = { .name = "exits", .parent = FIELD_NONE, .source = 1, .exit_rank = 1 },
	[PAGES] = { .name = "pages_4k", .parent = FIELD_NONE, .source = 1, .kind = FIELD_GAUGE },
	[RMAP] = { .name = "max_rmap", .parent = FIELD_NONE, .source = 1, .kind = FIELD_PEAK },
	[INSN] = { .name = "exit_instruction", .parent = FIELD_NONE, .source = 1 },
	[INSN_DIAG] = { .name = "instruction_diag", .parent = INSN, .source = 1 },
};

static int setup(void **state)
{
	return world_setup(state, specs, NR_FIELDS, &view_events);
}

static void count(struct world *world, uint32_t field, uint64_t count)
{
	count_in(world, GUEST_NONE, field, count);
}

/* Two samples a second apart: the first has the counts, the second adds the rates. */
static void two_samples(struct world *world, const uint64_t *counts, const uint64_t *rates)
{
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < NR_FIELDS; i++) {
			if (counts[i] != UINT64_MAX)
				count(world, i, counts[i] + (round ? rates[i] : 0));
		}
		take(world);
	}
}

static const uint64_t usual_counts[NR_FIELDS] = {
	[EXIT] = 400, [EXIT_HLT] = 50, [EXIT_MSR] = 100, [EXIT_WFX] = 0,
	[ENTRY] = 450, [USER] = 30, [USER_IO] = 30, [PIO] = 0,
	[EXITS] = 90, [PAGES] = 300, [RMAP] = 7, [INSN] = 10, [INSN_DIAG] = 4,
};

static const uint64_t usual_rates[NR_FIELDS] = {
	[EXIT] = 100, [EXIT_HLT] = 50, [EXIT_MSR] = 10, [ENTRY] = 50, [EXITS] = 10,
};

/* "name total share delta rate" a row; "+" before what can open, " |" or " `" before children. */
static const char *picture(struct world *world)
{
	const struct view *view = build(world);
	size_t len = 0;

	world->text[0] = '\0';
	for (size_t i = 0; i < view->nr_rows; i++) {
		const struct view_row *row = &view->rows[i];

		if (row->depth)
			len += (size_t)sprintf(world->text + len, "%s", row->is_last ? " `" : " |");
		else if (row->can_open)
			len += (size_t)sprintf(world->text + len, "%s", row->is_open ? "-" : "+");
		len += (size_t)sprintf(world->text + len, "%s", row->cells[0].text);
		for (size_t j = 1; j < 5; j++) {
			len += (size_t)sprintf(world->text + len, " ");
			len += put_cell(world->text + len, &row->cells[j]);
		}
		len += (size_t)sprintf(world->text + len, "\n");
	}
	return world->text;
}

static void sort_by(struct world *world, const char *column, bool reverse)
{
	int i = view_column_by_id(world->query.type, column);

	assert_true(i >= 0);
	world->query.sort = (size_t)i;
	world->query.reverse = reverse;
}

/* ---- rows ---- */

/* All are shares of the time of the row's vCPUs. Another name has another whole. */
static bool is_share_of_vcpus(const char *name)
{
	static const char *const names[] = { "cost_percent", "time_percent", "poll_percent",
					     "block_percent", "idle_percent", "wait_percent" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

TEST(a_heading_means_one_thing)
{
	for (size_t i = COL_NONE + 1; i < COLUMNS; i++) {
		const struct column_entry *a = &column_dictionary[i];

		for (size_t j = i + 1; j < COLUMNS; j++) {
			const struct column_entry *b = &column_dictionary[j];

			if (strcmp(a->title, b->title) == 0 && strcmp(a->title, "Change%") != 0)
				assert_string_equal(a->name, b->name);
			if (strcmp(a->name, b->name) != 0)
				continue;
			assert_int_equal(a->type, b->type);
			if (a->type == CELL_PERCENT && !is_share_of_vcpus(a->name))
				fail_msg("%s: of what?", a->name);
		}
	}
}

TEST(no_fields_no_rows, setup, teardown)
{
	struct world *world = *state;
	struct fields *none = fields_new();
	struct facts facts = {
		.wanted = &world->wanted,
		.fields = none,
		.stats = world->stats,
		.guests = NULL,
	};

	for (int flat = 0; flat < 2; flat++) {
		world->query.flat = flat;
		view_build(&world->view, &world->query, &facts);
		assert_int_equal(world->view.nr_rows, 0);
		assert_int_equal(world->view.total.cells[1].count, 0);
		assert_int_equal(world->view.total.cells[4].type, CELL_NONE);
	}
	fields_free(none);
}

/* The sums of the interval, over all vCPUs; without any vCPU the column is absent. */
TEST(durations_of_counters, setup, teardown)
{
	struct world *world = *state;
	const struct view *view;
	size_t hist = (size_t)view_column_by_id(&view_events, "hist");

	for (uint32_t round = 1; round <= 2; round++) {
		const struct timing timing = { .time_ns = 1000 * round,
					       .hist = { [3] = 10 * round, [7] = 5 } };

		count(world, ENTRY, 7);
		for (int32_t vcpu = 0; vcpu < 2; vcpu++)
			sample_add_timed(&world->sample, (struct key){ 1, vcpu, INSN }, 10 * round,
					 0, &timing);
		take(world);
	}
	view = build(world);
	assert_true(view_has_column(view, hist));
	for (size_t i = 0; i < view->nr_rows; i++) {
		const struct cell *cell = &view->rows[i].cells[hist];

		if (view->rows[i].field != INSN) {
			assert_int_equal(cell->type, CELL_NONE);
			continue;
		}
		assert_int_equal(cell->type, CELL_HIST);
		assert_int_equal(cell->end, HIST_BUCKETS - 1); /* KVM's last one has no end */
		assert_int_equal(cell->hist[3], 20);
		assert_int_equal(cell->hist[7], 0);
	}
	assert_int_equal(view->nr_rows, 2);
}

TEST(no_samples_no_rows, setup, teardown)
{
	struct world *world = *state;

	assert_string_equal(picture(world), "");
	world->query.zeros = true;
	world->query.flat = true;
	assert_string_equal(picture(world), "");
}

TEST(closed_trees, setup, teardown)
{
	struct world *world = *state;

	two_samples(world, usual_counts, usual_rates);
	assert_string_equal(picture(world), "+kvm_exit 500 48.5% 100 100/s\n"
					    "kvm_entry 500 48.5% 50 50/s\n"
					    "exits 100 90.9% 10 10/s\n"
					    "+kvm_userspace_exit 30 2.9% 0 0/s\n"
					    "+exit_instruction 10 9.1% 0 0/s\n"
					    "pages_4k 300 - - -\n"
					    "max_rmap 7 - - -\n");
}

TEST(open_trees, setup, teardown)
{
	struct world *world = *state;

	world->query.children = true;
	two_samples(world, usual_counts, usual_rates);
	assert_string_equal(picture(world), "-kvm_exit 500 48.5% 100 100/s\n"
					    " |kvm_exit(HLT) 100 20.0% 50 50/s\n"
					    " |kvm_exit(MSR_WRITE) 110 22.0% 10 10/s\n"
					    " `other 290 58.0% 40 40/s\n"
					    "kvm_entry 500 48.5% 50 50/s\n"
					    "exits 100 90.9% 10 10/s\n"
					    "-kvm_userspace_exit 30 2.9% 0 0/s\n"
					    " `kvm_userspace_exit(IO) 30 100.0% 0 0/s\n"
					    "-exit_instruction 10 9.1% 0 0/s\n"
					    " |instruction_diag 4 40.0% 0 0/s\n"
					    " `other 6 60.0% 0 0/s\n"
					    "pages_4k 300 - - -\n"
					    "max_rmap 7 - - -\n");
}

TEST(rows_carry_what_they_are_about, setup, teardown)
{
	struct world *world = *state;

	set_filter(world, "HLT");
	two_samples(world, usual_counts, usual_rates);
	picture(world);
	assert_int_equal(world->view.nr_rows, 2);
	assert_int_equal(world->view.rows[0].field, EXIT);
	assert_int_equal(world->view.rows[0].depth, 0);
	assert_true(world->view.rows[0].is_last && !world->view.rows[0].is_idle);
	assert_int_equal(world->view.rows[1].field, EXIT_HLT);
	assert_int_equal(world->view.rows[1].depth, 1);
	assert_true(world->view.rows[1].is_last && world->view.rows[1].is_idle);
	assert_false(world->view.rows[1].can_open);
}

TEST(only_the_last_of_siblings_is_last, setup, teardown)
{
	struct world *world = *state;

	two_samples(world, usual_counts, usual_rates);
	build(world);
	for (size_t i = 0; i < world->view.nr_rows; i++)
		assert_int_equal(world->view.rows[i].is_last, i + 1 == world->view.nr_rows);
}

TEST(a_row_opened_just_now_is_open, setup, teardown)
{
	struct world *world = *state;

	count(world, EXIT, 10);
	take(world);
	field_set_add(&world->query.open, EXIT);
	assert_string_equal(picture(world), "-kvm_exit 10 100.0% 10 -\n");
}

TEST(zeros_show_what_counted_nothing, setup, teardown)
{
	struct world *world = *state;
	uint64_t counts[NR_FIELDS] = { 0 };

	world->query.zeros = true;
	set_filter(world, "kvm_(pio|entry)|pages");
	counts[ENTRY] = UINT64_MAX; /* not counted: absent, not zero */
	two_samples(world, counts, counts);
	assert_string_equal(picture(world), "kvm_pio 0 - 0 0/s\npages_4k 0 - - -\n");
	world->query.zeros = false;
	assert_string_equal(picture(world), "");
}

TEST(a_row_that_was_reset_stays, setup, teardown)
{
	struct world *world = *state;

	set_filter(world, "kvm_entry");
	two_samples(world, usual_counts, usual_rates);
	stats_reset(world->stats, world->fields);
	assert_string_equal(picture(world), "kvm_entry 0 - 50 50/s\n");
}

TEST(flaw_B7_building_again_changes_nothing, setup, teardown)
{
	struct world *world = *state;
	char before[sizeof(world->text)];

	world->query.children = true;
	two_samples(world, usual_counts, usual_rates);
	strcpy(before, picture(world));
	for (int i = 0; i < 3; i++)
		assert_string_equal(picture(world), before);
}

TEST(sparks_are_the_views, setup, teardown)
{
	struct world *world = *state;
	const struct cell *cell;

	set_filter(world, "kvm_entry|pages");
	two_samples(world, usual_counts, usual_rates);
	cell = &build(world)->rows[0].cells[5];
	assert_int_equal(cell->type, CELL_SPARK);
	assert_true(cell->spark[STATS_HISTORY - 1] > 49 && cell->spark[STATS_HISTORY - 1] < 51);
	assert_true(cell->spark[STATS_HISTORY - 2] < 0);
	assert_int_equal(world->view.rows[1].cells[5].type, CELL_NONE);
}

TEST(one_guest_only, setup, teardown)
{
	struct world *world = *state;

	set_filter(world, "kvm_entry|pages");
	for (uint64_t i = 1; i <= 2; i++) {
		count_in(world, 1, ENTRY, 10 * i);
		count_in(world, 2, ENTRY, 100 * i);
		count_in(world, 1, PAGES, 3);
		count_in(world, 2, PAGES, 4);
		take(world);
	}
	assert_string_equal(picture(world), "kvm_entry 220 100.0% 110 110/s\npages_4k 7 - - -\n");
	world->query.guest = 1;
	assert_string_equal(picture(world), "kvm_entry 20 100.0% 10 10/s\npages_4k 3 - - -\n");
	assert_int_equal(world->view.total.cells[1].count, 20);
	world->query.guest = 3;
	assert_string_equal(picture(world), "");
	world->query.guest = GUEST_ALL;
	count_in(world, 2, ENTRY, 300);
	take(world);
	assert_string_equal(picture(world), "kvm_entry 320 100.0% 100 100/s\n");
}

TEST(flaw_B11_levels_have_no_share_nor_rate, setup, teardown)
{
	struct world *world = *state;
	const struct view *view;

	set_filter(world, "pages_4k"); /* crashed kvm_stat */
	two_samples(world, usual_counts, usual_rates);
	assert_string_equal(picture(world), "pages_4k 300 - - -\n");
	view = build(world);
	assert_int_equal(view->total.cells[1].count, 0);
	assert_int_equal(view->total.cells[4].type, CELL_NONE);
}

TEST(flaw_B12_shares_are_of_the_provider, setup, teardown)
{
	struct world *world = *state;
	uint64_t none[NR_FIELDS] = { 0 };

	two_samples(world, usual_counts, none);
	/* 880 tracepoints, 100 in debugfs; levels count nowhere. */
	assert_non_null(strstr(picture(world), "kvm_exit 400 45.5%"));
	assert_non_null(strstr(picture(world), "exits 90 90.0%"));
	assert_non_null(strstr(picture(world), "exit_instruction 10 10.0%"));
}

TEST(flaw_B8_total_row_counts_all_rows, setup, teardown)
{
	struct world *world = *state;
	const struct view *view;

	two_samples(world, usual_counts, usual_rates);
	for (int mode = 0; mode < 8; mode++) {
		world->query.children = mode & 1;
		world->query.flat = mode & 2;
		world->query.zeros = mode & 4;
		view = build(world);
		assert_string_equal(view->total.cells[0].text, "Total");
		assert_int_equal(view->total.cells[1].count, 500 + 500 + 30 + 100 + 10);
		assert_int_equal(view->total.cells[2].type, CELL_NONE);
		assert_int_equal(view->total.cells[3].count, 160);
		assert_true(view->total.cells[4].number > 159.9);
		assert_true(view->total.cells[4].number < 160.1);
	}
}

/* ---- what the parent counted beyond its children ---- */

TEST(flaw_B15_other_is_what_no_reason_covers, setup, teardown)
{
	struct world *world = *state;
	uint64_t counts[NR_FIELDS] = { [EXIT] = 100, [EXIT_HLT] = 60, [EXIT_MSR] = 10 };
	uint64_t rates[NR_FIELDS] = { [EXIT] = 20, [EXIT_HLT] = 5 };

	set_filter(world, "kvm_exit");
	world->query.children = true;
	two_samples(world, counts, rates);
	assert_string_equal(picture(world), "-kvm_exit 120 100.0% 20 20/s\n"
					    " |kvm_exit(HLT) 65 54.2% 5 5/s\n"
					    " |kvm_exit(MSR_WRITE) 10 8.3% 0 0/s\n"
					    " `other 45 37.5% 15 15/s\n");
	assert_true(world->view.rows[3].is_rest);
	assert_int_equal(world->view.rows[3].field, FIELD_NONE);
	assert_int_equal(world->view.rows[3].cells[5].type, CELL_NONE);
}

TEST(no_other_when_children_cover_all, setup, teardown)
{
	struct world *world = *state;
	/* Counters are not read at one moment: the children may be ahead. */
	uint64_t counts[NR_FIELDS] = { [EXIT] = 100, [EXIT_HLT] = 90, [EXIT_MSR] = 11 };
	uint64_t rates[NR_FIELDS] = { 0 };

	set_filter(world, "kvm_exit");
	world->query.children = true;
	two_samples(world, counts, rates);
	assert_null(strstr(picture(world), "other"));
	counts[EXIT_MSR] = 10;
	stats_clear(world->stats);
	two_samples(world, counts, rates);
	assert_null(strstr(picture(world), "other"));
}

TEST(flaw_B15_no_other_when_a_child_is_not_counted, setup, teardown)
{
	struct world *world = *state;
	uint64_t counts[NR_FIELDS] = { [EXIT] = 100, [EXIT_HLT] = 60, [EXIT_MSR] = 10 };
	uint64_t rates[NR_FIELDS] = { 0 };

	set_filter(world, "HLT|MSR");
	two_samples(world, counts, rates);
	assert_null(strstr(picture(world), "other"));

	/* The kernel refused one of them. */
	set_filter(world, NULL);
	world->query.children = true;
	assert_non_null(strstr(picture(world), "other 30"));
	stats_clear(world->stats);
	counts[EXIT_WFX] = UINT64_MAX;
	two_samples(world, counts, rates);
	assert_null(strstr(picture(world), "other"));
}

TEST(flaw_B15_no_other_when_children_began_apart, setup, teardown)
{
	struct world *world = *state;

	set_filter(world, "kvm_exit");
	world->query.children = true;
	for (uint64_t i = 1; i <= 4; i++) {
		count(world, EXIT, 100 * i);
		if (i > 1)
			count(world, EXIT_HLT, 10 * i);
		if (i > 2) {
			count(world, EXIT_MSR, 10 * i);
			count(world, EXIT_WFX, 10 * i);
		}
		take(world);
	}
	assert_null(strstr(picture(world), "other"));
	/* From a reset on they are even. */
	stats_reset(world->stats, world->fields);
	for (uint32_t i = EXIT; i <= EXIT_WFX; i++)
		count(world, i, i == EXIT ? 500 : 50);
	take(world);
	assert_string_equal(picture(world), "-kvm_exit 100 100.0% 100 100/s\n"
					    " |kvm_exit(HLT) 10 10.0% 10 10/s\n"
					    " |kvm_exit(MSR_WRITE) 10 10.0% 10 10/s\n"
					    " |kvm_exit(WFx) 10 10.0% 10 10/s\n"
					    " `other 70 70.0% 70 70/s\n");
}

TEST(shares_of_late_children_count_from_their_start, setup, teardown)
{
	struct world *world = *state;

	set_filter(world, "kvm_exit");
	world->query.children = true;
	count(world, EXIT, 1000);
	take(world);
	for (uint64_t i = 0; i < 2; i++) {
		count(world, EXIT, 1000 + 100 * i);
		count(world, EXIT_HLT, 60 * i);
		count(world, EXIT_MSR, 30 * i);
		count(world, EXIT_WFX, 0);
		take(world);
	}
	assert_string_equal(picture(world), "-kvm_exit 1100 100.0% 100 100/s\n"
					    " |kvm_exit(HLT) 60 60.0% 60 60/s\n"
					    " |kvm_exit(MSR_WRITE) 30 30.0% 30 30/s\n"
					    " `other 10 10.0% 10 10/s\n");
}

TEST(other_survives_the_end_of_a_guest, setup, teardown)
{
	struct world *world = *state;

	set_filter(world, "kvm_exit");
	world->query.children = true;
	for (uint64_t i = 1; i <= 2; i++) {
		count_in(world, 1, EXIT, 100 * i);
		count_in(world, 1, EXIT_HLT, 60 * i);
		count_in(world, 1, EXIT_MSR, 0);
		count_in(world, 1, EXIT_WFX, 0);
		take(world);
	}
	take(world);
	assert_string_equal(picture(world), "-kvm_exit 200 100.0% 0 0/s\n"
					    " |kvm_exit(HLT) 120 60.0% 0 0/s\n"
					    " `other 80 40.0% 0 0/s\n");
}

/* A provider that loses a parent for once must not make numbers near 2^64. */
TEST(a_parent_that_began_again, setup, teardown)
{
	const struct key parent = { GUEST_NONE, -1, EXIT };
	struct world *world = *state;

	set_filter(world, "kvm_exit");
	world->query.children = true;
	for (uint64_t i = 1; i <= 5; i++) {
		if (i != 3) /* without ROW_FROM_ZERO it comes back at 0 */
			sample_add(&world->sample, parent, i == 5 ? 4001 : 1000 * i,
				   i == 1 ? ROW_FROM_ZERO : 0);
		for (uint32_t j = EXIT_HLT; j <= EXIT_WFX && i > 1; j++)
			count(world, j, i);
		take(world);
	}
	assert_string_equal(picture(world), "-kvm_exit 1 100.0% 1 1/s\n"
					    " |kvm_exit(HLT) 3 - 1 1/s\n"
					    " |kvm_exit(MSR_WRITE) 3 - 1 1/s\n"
					    " `kvm_exit(WFx) 3 - 1 1/s\n");
}

/* ---- order ---- */

TEST(sorts_by_every_column, setup, teardown)
{
	static const struct {
		const char *column;
		bool reverse;
		const char *order;
	} cases[] = {
		{ "event", false, "exits kvm_entry kvm_exit pages_4k" },
		{ "event", true, "pages_4k kvm_exit kvm_entry exits" },
		{ "total", false, "kvm_exit kvm_entry pages_4k exits" },
		{ "total", true, "exits pages_4k kvm_exit kvm_entry" },
		{ "total_percent", false, "exits kvm_exit kvm_entry pages_4k" },
		{ "total_percent", true, "pages_4k kvm_exit kvm_entry exits" },
		{ "delta", false, "kvm_exit kvm_entry exits pages_4k" },
		{ "delta", true, "pages_4k exits kvm_entry kvm_exit" },
		{ "rate", false, "kvm_exit kvm_entry exits pages_4k" },
		{ "rate", true, "pages_4k exits kvm_entry kvm_exit" },
		{ "history", false, "kvm_exit kvm_entry exits pages_4k" },
		{ "history", true, "pages_4k kvm_exit kvm_entry exits" },
	};
	struct world *world = *state;

	set_filter(world, "^(kvm_exit|kvm_entry|exits|pages_4k)$");
	two_samples(world, usual_counts, usual_rates);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		sort_by(world, cases[i].column, cases[i].reverse);
		assert_string_equal(order(world), cases[i].order);
	}
}

TEST(ties_stay_where_they_are, setup, teardown)
{
	struct world *world = *state;
	uint64_t same[NR_FIELDS] = { 0 };
	char before[sizeof(world->text)];

	for (int i = 0; i < 200; i++) {
		struct field spec = { .name = before, .parent = FIELD_NONE };
		uint32_t id;

		sprintf(before, "event_%03d", i * 77 % 200);
		id = fields_add(world->fields, &spec);
		count(world, id, 5);
	}
	take(world);
	set_filter(world, "event");
	strcpy(before, order(world));
	assert_memory_equal(before, "event_000 event_001 event_002", 29);
	for (int i = 199; i >= 0; i--)
		count(world, NR_FIELDS + (uint32_t)i, 5);
	two_samples(world, same, same);
	assert_int_equal(build(world)->nr_rows, 0); /* the keys left and came back */
	stats_clear(world->stats);
	for (int i = 199; i >= 0; i--)
		count(world, NR_FIELDS + (uint32_t)i, 5);
	take(world);
	assert_string_equal(order(world), before);
	world->query.flat = true;
	assert_string_equal(order(world), before);
}

/* As kvm_stat: by rate, then by total. */
TEST(equal_rates_sort_by_total, setup, teardown)
{
	struct world *world = *state;
	uint64_t rates[NR_FIELDS] = { 0 };

	set_filter(world, "^(kvm_exit|kvm_entry|kvm_userspace_exit)$");
	two_samples(world, usual_counts, rates);
	assert_string_equal(order(world), "kvm_entry kvm_exit kvm_userspace_exit");
}

TEST(children_stay_below_their_parent, setup, teardown)
{
	struct world *world = *state;

	world->query.children = true;
	set_filter(world, "^kvm_[eu]");
	two_samples(world, usual_counts, usual_rates);
	sort_by(world, "total", true);
	assert_string_equal(order(world),
			    "kvm_userspace_exit kvm_userspace_exit(IO) "
			    "kvm_exit kvm_exit(HLT) kvm_exit(MSR_WRITE) other kvm_entry");
	sort_by(world, "event", true);
	assert_string_equal(order(world),
			    "kvm_userspace_exit kvm_userspace_exit(IO) "
			    "kvm_exit kvm_exit(MSR_WRITE) kvm_exit(HLT) other kvm_entry");
}

TEST(flat_sorts_children_among_all, setup, teardown)
{
	struct world *world = *state;

	world->query.children = true;
	world->query.flat = true;
	set_filter(world, "^kvm_[eu].*");
	two_samples(world, usual_counts, usual_rates);
	sort_by(world, "total", false);
	assert_string_equal(order(world),
			    "kvm_exit kvm_entry kvm_exit(MSR_WRITE) kvm_exit(HLT) "
			    "kvm_userspace_exit kvm_userspace_exit(IO) other");
	sort_by(world, "event", false);
	assert_string_equal(order(world),
			    "kvm_entry kvm_exit kvm_exit(HLT) kvm_exit(MSR_WRITE) "
			    "kvm_userspace_exit kvm_userspace_exit(IO) other");
}

TEST(cells_compare)
{
	const struct cell none = { .type = CELL_NONE }, one = cell_count(1), two = cell_count(2);
	const struct cell big = cell_count(UINT64_MAX), a = cell_text("a"), z = cell_text("zz");
	const struct cell low = cell_percent(1, 100), high = cell_percent(2, 100);

	assert_int_equal(cell_compare(&none, &none), 0);
	assert_int_equal(cell_compare(&none, &one), -1);
	assert_int_equal(cell_compare(&one, &none), 1);
	assert_int_equal(cell_compare(&one, &two), -1);
	assert_int_equal(cell_compare(&two, &two), 0);
	assert_int_equal(cell_compare(&big, &one), 1);
	assert_int_equal(cell_compare(&a, &z), -1);
	assert_int_equal(cell_compare(&z, &a), 1);
	/* A word instead of a number: "halt" among shares. */
	assert_int_equal(cell_compare(&a, &low), -1);
	assert_int_equal(cell_compare(&low, &a), 1);
	assert_int_equal(cell_compare(&low, &high), -1);
	assert_int_equal(cell_percent(5, 0).type, CELL_NONE);
}

TEST(columns_and_types)
{
	assert_ptr_equal(view_type_by_name("events"), &view_events);
	assert_ptr_equal(view_type_by_name("guests"), &view_guests);
	assert_null(view_type_by_name("event"));
	assert_null(view_type_by_name("exit_totals")); /* no tab */
	for (size_t i = 0; view_type_at(i); i++) {
		const struct view_type *type = view_type_at(i);

		assert_ptr_equal(view_type_by_name(type->name), type);
		assert_true(view_columns(type) <= VIEW_COLUMNS);
		assert_true(view_default_sort(type) < view_columns(type));
		assert_true(column_type(&type->columns[0]) == CELL_TEXT ||
			    column_type(&type->columns[0]) == CELL_COUNT);
		for (size_t j = 0; j < view_columns(type); j++)
			assert_int_equal(view_column_by_id(type, column_name(&type->columns[j])),
					 j);
		assert_true(view_column_by_id(type, "nonsense") < 0);
	}
	assert_null(view_type_at(1000));
}

/* Each event's rate is the difference by the interval of its source: the view's, or its own. */
TEST(an_event_of_another_source_has_its_interval, setup, teardown)
{
	struct world *world = *state;
	const struct view *view;

	for (uint64_t i = 1; i <= 2; i++) {
		count(world, ENTRY, 300 * i);
		count(world, EXITS, 300 * i);
		world->sample.time_ns[0] = i * SECOND;
		world->sample.time_ns[1] = i * i * SECOND;
		stats_update(world->stats, world->fields, &world->sample);
		sample_reset(&world->sample);
	}
	view = build(world);
	assert_int_equal(view->elapsed_ns, SECOND);
	assert_int_equal(view->nr_rows, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct view_row *row = &view->rows[i];
		bool is_other = row->field == EXITS;

		assert_int_equal(row->elapsed_ns, is_other ? 3 * SECOND : 0);
		assert_true(fabs(row->cells[view_column_by_id(&view_events, "rate")].number -
				 (is_other ? 100 : 300)) < 0.01);
	}
}
