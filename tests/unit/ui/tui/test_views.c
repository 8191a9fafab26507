// SPDX-License-Identifier: GPL-2.0-or-later
/* Enter on rows of a view that leads nowhere. */
#include "tests/unit/unit.h"
#include "ui/tui/session.h"
#include "core/views/view.h"

static const struct view_type plain = { .name = "plain", .title = "Plain", .noun = "row" };

TEST(test_leads_nowhere)
{
	struct query query = { .type = &plain, .guest = GUEST_ALL };
	struct source source = { .kind = SOURCE_LIVE };
	struct tui tui = { .source = &source, .query = &query };

	tui_enter_row(&tui);
	assert_ptr_equal(query.type, &plain);
	assert_int_equal(tui.trail.nr, 0);
}

TEST(test_leads_nowhere_from_row)
{
	struct query query = { .type = &plain, .guest = GUEST_ALL };
	struct view_row row = { .field = FIELD_NONE, .guest = GUEST_ALL, .vcpu = -1 };
	struct source source = { .kind = SOURCE_LIVE };
	struct tui tui = {
		.source = &source, .query = &query, .view = { .rows = &row, .nr_rows = 1 },
	};

	tui.screen.view = &tui.view;
	tui_enter_row(&tui);
	assert_ptr_equal(query.type, &plain);
	assert_string_equal(tui.screen.notice, "Nothing is known below this row");
}
