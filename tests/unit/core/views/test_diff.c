// SPDX-License-Identifier: GPL-2.0-or-later
/* A view of two others: which rows belong together, also where guests have one name. */
#include "tests/unit/unit.h"
#include "tests/worlds/timed_world.h"

/* Exits by guest and reason; those of guests with one name together. */
static void build_side(struct world *world, struct view *view, struct view_side *side,
		       uint64_t seconds)
{
	query_wants(&world->query, world->fields, &world->wanted);
	view_build(view, &world->query, &world->facts);
	*side = (struct view_side){ .view = view, .span = seconds * SECOND };
}

static int diff_setup(void **state)
{
	struct world *world;

	setup(state);
	world = *state;
	assert_int_equal(guests_add_fake(world->guests, 6000, "web1", 1), 3);
	set_view(world, &view_exits);
	world->query.groups = GROUP_GUEST | GROUP_REASON;
	world->query.joins_names = true;
	set_filter(world, "HLT|MSR"); /* no two changes are the same */
	return 0;
}

/* Rows and Total of the view of both, by these columns. */
static const char *picture_of(struct world *world, const struct view *view, const char *columns)
{
	char list[256], *at, *id;
	size_t len = 0;

	world->text[0] = '\0';
	for (size_t i = 0; i <= view->nr_rows; i++) {
		const struct view_row *row = i < view->nr_rows ? &view->rows[i] : &view->total;

		snprintf(list, sizeof(list), "%s", columns);
		for (at = list; (id = strsep(&at, " "));) {
			len += put_cell(world->text + len,
					&row->cells[view_column_by_id(view->type, id)]);
			len += (size_t)sprintf(world->text + len, at ? " " : "\n");
		}
	}
	return world->text;
}

/* One web1 in the first seconds; another one, too, in all of them. */
TEST(guests_of_one_name_are_one_row, diff_setup, teardown)
{
	struct world *world = *state;
	struct view first = { 0 }, second = { 0 }, both;
	struct view_side sides[2];

	usual_vcpu(world, 2, 0, 1);
	take(world);
	build_side(world, &first, &sides[0], 1);
	usual_vcpu(world, 1, 0, 3);
	usual_vcpu(world, 2, 0, 2);
	usual_vcpu(world, 3, 0, 4);
	take(world);
	build_side(world, &second, &sides[1], 2);
	assert_int_equal(view_diff(sides, &both, NULL), 0);
	assert_string_equal(picture_of(world, &both, "reason guest other_rate rate rate_change"),
			    "HLT web1 50/s 150/s 200.0%\n"
			    "HLT db1 - 75/s -\n"
			    "MSR_WRITE web1 100/s 300/s 200.0%\n"
			    "MSR_WRITE db1 - 150/s -\n"
			    "Total - 150/s 675/s 350.0%\n");
	view_release(&both);
	view_release(&first);
	view_release(&second);
}

/* The row that changed most is the first, also if it went down, or is not there any more. */
TEST(the_largest_change_is_first, diff_setup, teardown)
{
	struct world *world = *state;
	struct view first = { 0 }, second = { 0 }, both;
	struct view_side sides[2];

	usual_vcpu(world, 1, 0, 1);
	usual_vcpu(world, 2, 0, 3);
	take(world);
	build_side(world, &first, &sides[0], 1);
	world->query.guest = 1;
	build_side(world, &second, &sides[1], 2);
	assert_int_equal(view_diff(sides, &both, NULL), 0);
	assert_string_equal(picture_of(world, &both, "reason guest other_rate rate rate_change"),
			    "HLT web1 150/s - -\n"
			    "MSR_WRITE web1 300/s - -\n"
			    "HLT db1 50/s 25/s -50.0%\n"
			    "MSR_WRITE db1 100/s 50/s -50.0%\n"
			    "Total - 600/s 75/s -87.5%\n");
	view_release(&both);
	view_release(&first);
	view_release(&second);
}

TEST(cycles_are_no_nanoseconds, diff_setup, teardown)
{
	struct world *world = *state;
	struct view view = { 0 }, both;
	struct view_side sides[2];
	struct error error = { "" };

	set_filter(world, "HLT");
	usual_vcpu(world, 1, 0, 1);
	take(world);
	build_side(world, &view, &sides[0], 1);
	sides[1] = sides[0];
	sides[0].path = "one";
	sides[1].path = "other";
	sides[1].unit = UNIT_CYCLES;
	assert_int_equal(view_diff(sides, &both, &error), -EINVAL);
	assert_string_equal(error.text, "other: times are in TSC cycles: give the TSC's frequency "
					"with --frequency 2.4GHz");
	view_release(&both);
	sides[0].unit = UNIT_CYCLES;
	assert_int_equal(view_diff(sides, &both, &error), 0);
	/* There are no cycles in a second. */
	assert_string_equal(picture_of(world, &both, "reason guest other_rate rate avg_change"),
			    "HLT db1 - - 0.0%\nTotal - - - 0.0%\n");
	view_release(&both);
	view_release(&view);
}
