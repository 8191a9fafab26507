// SPDX-License-Identifier: GPL-2.0-or-later
/* Which parts of the screen give way where it is small, and that the answer never does. */

#include "tests/unit/unit.h"
#include "tests/worlds/cmocka_range.h"
#include "tests/worlds/screen_world.h"
#include "ui/screen/parts.h"

#define LONG_NAME "prod-customer-db-eu-west-1-node-0012"
#define WIDE_NAME "データベース-本番-東京-0038"

static const struct view_type *const types[] = {
	&view_events, &view_guests, &view_vcpus, &view_exits, &view_hotspots,
	&view_host, &view_who, &view_where, &view_long_exits, &view_why,
	&view_interrupts, &view_hosts,
};
#define NR_TYPES (sizeof(types) / sizeof(types[0]))

static const uint64_t hist[HIST_BUCKETS] = { [3] = 1, [4] = 60, [5] = 30, [13] = 9 };

/* A view made by hand: its rows are what they are, whatever the facts. */
static const char *made_picture(struct world *w, int cols, int rows)
{
	w->view.sort = w->query.sort;
	grid_resize(&w->grid, rows, cols);
	screen_paint(&w->screen, &w->grid);
	return grid_text(w);
}

static void begin_view(struct world *w, const struct view_type *type)
{
	view_begin(&w->view, type);
	w->query.type = type;
	w->query.sort = view_default_sort(type);
	w->view.absent = 0;
	if (type == &view_exits) { /* a row for each reason */
		view_drop(&w->view, COL_GUEST);
		view_drop(&w->view, COL_PID);
		view_drop(&w->view, COL_VCPU);
		view_drop(&w->view, COL_TID);
	}
	for (size_t i = 0; type->columns[i].id; i++) {
		/* No exit is open. */
		if (type->columns[i].is_of_recording ||
		    type->columns[i].id == COL_OPEN)
			w->view.absent |= UINT64_C(1) << i;
	}
	w->view.total.cells[0] = cell_text("Total");
}

static void set_cell(struct world *w, const char *id, struct cell cell)
{
	int column = view_column_by_id(w->view.type, id);

	assert_true(column >= 0);
	w->view.rows[w->view.nr_rows - 1].cells[column] = cell;
}

static void add_row(struct world *w, const char *name)
{
	struct view_row *row = view_add(&w->view);

	assert_non_null(row);
	row->guest = (uint32_t)w->view.nr_rows;
	row->cells[0] = cell_text(name);
	if (view_column_by_id(w->view.type, "rate") >= 0)
		set_cell(w, "rate", (struct cell){ .type = CELL_RATE, .number = 4711 });
}

static void add_spot(struct world *w, const char *what, const char *argument, const char *guest)
{
	add_row(w, what);
	set_cell(w, "argument", cell_text(argument));
	set_cell(w, "guest", cell_text(guest));
	set_cell(w, "time_percent", cell_percent(31, 1000));
	set_cell(w, "avg_ns", cell_ns(1240));
	set_cell(w, "p50_ns", cell_ns(1020));
	set_cell(w, "p99_ns", cell_ns(8190));
	set_cell(w, "max_ns", cell_ns(25900));
	set_cell(w, "hist", cell_hist(hist));
}

static void hot_spots(struct world *w)
{
	begin_view(w, &view_hotspots);
	add_spot(w, "MSR_WRITE", "0x6e0 IA32_TSC_DEADLINE write", LONG_NAME);
	add_spot(w, "EPT_MISCONFIG", "0xfee000b0 write 4", WIDE_NAME);
}

TEST(names_are_told_apart_at_80_columns, setup, teardown)
{
	struct world *w = *state;
	char name[64];

	w->query.type = &view_guests;
	w->query.sort = view_default_sort(&view_guests);
	guests_add_fake(w->guests, 90, WIDE_NAME, 2);
	for (int i = 12; i < 15; i++) {
		snprintf(name, sizeof(name), "prod-customer-db-eu-west-1-node-%04d", i);
		guests_add_fake(w->guests, 100 + i, name, 2);
	}
	assert_non_null(strstr(picture(w, 80, 24), " prod-cus"));
	assert_non_null(strstr(w->text, "node-0012 "));
	assert_non_null(strstr(w->text, "node-0014 "));
	begin_view(w, &view_guests);
	add_row(w, LONG_NAME);
	add_row(w, WIDE_NAME);
	drop_rare(w);
	made_picture(w, 80, 24);
	/* Where all time went is what matters most; the costliest exit is in line 3. */
	assert_string_equal(line(w, 4), " Guest Name         vCPUs  CurAvg/s ▾Cost% Guest%  KVM% "
					"User% Block% Wait%  CPU%");
		assert_non_null(strstr(line(w, 5), "-node-0012     - "));
	assert_non_null(strstr(line(w, 6), "東京-0038  "));
	made_picture(w, 210, 24);
	assert_non_null(strstr(line(w, 5), LONG_NAME));
	w->screen.is_utf8 = false;
	made_picture(w, 80, 24);
	assert_non_null(strstr(line(w, 5), "-node-0012     - "));
}

/* Every column there is. */
TEST(names_keep_their_least_width, setup, teardown)
{
	struct world *w = *state;

	for (size_t t = 0; t < NR_TYPES; t++) {
		const struct column *columns = types[t]->columns;
		struct layout layout;

		begin_view(w, types[t]);
		layout_make(&layout, &w->screen, 80);
		for (size_t i = 0; columns[i].id; i++) {
			bool is_name = i == 0 || columns[i].is_key;

			int least = columns[i].least;

			if (column_type(&columns[i]) != CELL_TEXT ||
			    columns[i].is_for_machines || column_is_sentence(&columns[i]) ||
			    !view_has_column(&w->view, i))
				continue;
			assert_true(least > 0);
			if (is_name)
				assert_true(layout.width[i] >= least);
		}
	}
}

TEST(what_is_sorted_by_is_on_the_screen, setup, teardown)
{
	struct world *w = *state;

	for (size_t t = 0; t < NR_TYPES; t++) {
		const struct column *columns = types[t]->columns;

		begin_view(w, types[t]);
		for (size_t i = 0; columns[i].id; i++) {
			if (columns[i].is_for_machines || columns[i].is_of_recording ||
			    column_is_sentence(&columns[i]) ||
			    column_type(&columns[i]) >= CELL_SPARK || !view_has_column(&w->view, i))
				continue;
			w->view.sort = w->query.sort = i;
			for (int cols = 16; cols <= 200; cols++) {
				struct layout layout;
				int used = 0;

				layout_make(&layout, &w->screen, cols);
				for (size_t j = 0; columns[j].id; j++)
					used += layout.width[j] ? layout.width[j] + 1 : 0;
				assert_int_in_range(used, 1, cols);
				assert_true(layout.width[i] > 0);
				assert_true(layout.width[layout.name] > 0);
			}
		}
	}
	hot_spots(w);
	w->query.sort = (size_t)view_column_by_id(&view_hotspots, "total");
	made_picture(w, 80, 24);
	assert_non_null(strstr(line(w, 4), " ▾Total   Count/s Time% Guest"));
}

/* The columns on the screen, as bits. */
static uint64_t columns_at(const struct world *w, int cols)
{
	struct layout layout;
	uint64_t shown = 0;

	layout_make(&layout, &w->screen, cols);
	for (size_t i = 0; w->view.type->columns[i].id; i++)
		shown |= (uint64_t)(layout.width[i] > 0) << i;
	return shown;
}

/* Whatever the order: no narrow column has a place that a wide one takes on a wider screen. */
TEST(a_wider_screen_has_every_column, setup, teardown)
{
	struct world *w = *state;

	for (size_t t = 0; t < NR_TYPES; t++) {
		const struct column *columns = types[t]->columns;

		begin_view(w, types[t]);
		for (size_t i = view_default_sort(types[t]) % 4; i < view_columns(types[t]);
		     i += 4) {
			uint64_t before = 0;

			if (columns[i].is_for_machines || column_is_sentence(&columns[i]) ||
			    column_type(&columns[i]) >= CELL_SPARK || !view_has_column(&w->view, i))
				continue;
			w->view.sort = w->query.sort = i;
			for (int cols = 20; cols <= 240; cols++) {
				uint64_t now = columns_at(w, cols);

				if (before & ~now)
					fail_msg("%s by %s, %d columns: %s is gone",
						 types[t]->name, view_title(&w->view, i), cols,
						 view_title(&w->view, (size_t)__builtin_ctzll(
										before & ~now)));
				before = now;
			}
		}
	}
}

/* The least width of a column in the layout. */
static int least_width(const struct world *w, const struct layout *layout, size_t i, int cols)
{
	const struct column *column = &w->view.type->columns[i];
	int width = column_width(column), title = (int)strlen(view_title(&w->view, i));
	bool is_count = column_type(column) == CELL_COUNT || column_type(column) == CELL_RATE;

	if (column_type(column) == CELL_TEXT)
		return column->least;
	if (column_type(column) == CELL_SPARK)
		return 16;
	if (layout->is_grouped[i] && is_count && cols >= 100)
		width += (width + 2) / 3;
	return cell_is_picture(column_type(column)) || title <= width ? width : title;
}

/* How many columns the hidden ones of a rank need; 0: none is hidden. */
static int needed_for(const struct world *w, const struct layout *layout, int rank,
		      int cols)
{
	const struct column *columns = w->view.type->columns;
	bool has_picture = false;
	int needed = 0;

	for (size_t i = 0; columns[i].id; i++) {
		if (layout->width[i] || columns[i].rank != rank ||
		    columns[i].is_for_machines || column_is_sentence(&columns[i]) ||
		    !view_has_column(&w->view, i))
			continue;
		needed += least_width(w, layout, i, cols) + 1;
		has_picture |= cell_is_picture(column_type(&columns[i]));
	}
	for (size_t i = 0; has_picture && columns[i].id; i++) {
		int least = columns[i].least;

		if (column_type(&columns[i]) == CELL_TEXT && layout->width[i] &&
		    column_width(&columns[i]) > least)
			needed += column_width(&columns[i]) - least;
	}
	return needed;
}

static int free_columns(const struct world *w, const struct layout *layout, int cols)
{
	const struct column *columns = w->view.type->columns;
	int used = 0;

	for (size_t i = 0; columns[i].id; i++) {
		if (layout->width[i] && column_type(&columns[i]) != CELL_TEXT &&
		    column_type(&columns[i]) != CELL_SPARK)
			used += layout->width[i] + 1;
		else if (layout->width[i])
			used += least_width(w, layout, i, cols) + 1;
	}
	return cols - used;
}

TEST(the_next_hidden_column_would_not_fit, setup, teardown)
{
	struct world *w = *state;

	for (size_t t = 0; t < NR_TYPES; t++) {
		begin_view(w, types[t]);
		for (int cols = 20; cols <= 300; cols++) {
			struct layout layout;
			int room;

			layout_make(&layout, &w->screen, cols);
			room = free_columns(w, &layout, cols);
			for (int rank = 1, needed = 0; rank < 256 && !needed; rank++) {
				needed = needed_for(w, &layout, rank, cols);
				if (needed && needed <= room)
					fail_msg("%s, %d columns: rank %u needs %d of %d",
						 types[t]->name, cols, rank, needed, room);
			}
		}
	}
}

TEST(the_active_tab_is_always_seen, setup, teardown)
{
	struct world *w = *state;

	for (size_t t = 0; t < NR_TYPES; t++) {
		char tab[32];

		begin_view(w, types[t]);
		if (types[t] == &view_hosts) /* it has the tab of Guests, in a fleet */
			continue;
		snprintf(tab, sizeof(tab), "[%c %s]", types[t]->key, types[t]->title);
		for (int cols = 20; cols <= 200; cols++) {
			made_picture(w, cols, 5);
			assert_non_null(strstr(line(w, 0), tab));
			made_picture(w, cols, 24);
			assert_non_null(strstr(line(w, 3), tab));
		}
	}
}

TEST(more_rows_than_fit_are_told_everywhere, setup, teardown)
{
	static const struct {
		int cols, rows;
		const char *where;
	} sizes[] = { { 80, 24, "1-17 of 302" }, { 40, 10, "1-4 of 302" }, { 30, 7, "1-3 of 302" },
		      { 20, 5, "1-2 of 302" }, { 200, 60, "1-53 of 302" } };
	struct world *w = *state;

	for (size_t t = 0; t < NR_TYPES; t++) {
		begin_view(w, types[t]);
		for (int i = 0; i < 302; i++)
			add_row(w, LONG_NAME);
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			w->screen.top = 0;
			assert_non_null(strstr(made_picture(w, sizes[i].cols, sizes[i].rows),
					       sizes[i].where));
		}
		w->screen.top = 1000;
		assert_non_null(strstr(made_picture(w, 80, 24), "286-302 of 302"));
		/* Beside numbers that leave no gap of their own. */
		if (view_column_by_id(types[t], "total") >= 0)
			w->view.total.cells[view_column_by_id(types[t], "total")] = cell_count(1);
		w->screen.top = 1000;
		assert_non_null(strstr(made_picture(w, 40, 10), "299-302 of 302"));
		w->view.nr_rows = 3;
		assert_null(strstr(made_picture(w, 80, 24), " of "));
	}
}

TEST(arguments_outlive_what_else_names_the_row, setup, teardown)
{
	struct world *w = *state;

	hot_spots(w);
	made_picture(w, 80, 12);
	assert_string_equal(line(w, 3), " What          Argument                   Count/s "
					"▾Time%     Avg Guest");
	assert_string_equal(line(w, 4), " MSR_WRITE     0x6e0 IA3…DEADLINE write      4711 "
					"   3.1  1.24µs prod-…node-0012");
	made_picture(w, 60, 12);
	assert_string_equal(line(w, 3), " Argument                    Count/s ▾Time% Guest");
	assert_non_null(strstr(line(w, 4), "   3.1 prod-"));
	assert_non_null(strstr(line(w, 4), "node-0012"));
	made_picture(w, 40, 12);
	assert_string_equal(line(w, 3), " Argument                 Count/s ▾Time%");
	assert_string_equal(line(w, 4), " 0x6e0 IA…EADLINE write      4711    3.1");
	assert_string_equal(line(w, 5), " 0xfee000b0 write 4          4711    3.1");
	made_picture(w, 20, 5);
	assert_string_equal(line(w, 1), " Argument     ▾Time%");
	assert_string_equal(line(w, 2), " 0x6e0… write    3.1");
}

/* What one text does not need, another gets; what no text needs, the pictures. */
TEST(spare_room_goes_to_the_names_that_need_it, setup, teardown)
{
	struct world *w = *state;

	begin_view(w, &view_hotspots);
	add_spot(w, "MSR_WRITE", "0x6e0 IA32_TSC_DEADLINE write", "db1");
	add_spot(w, "IO", "0x3f8 write 1 COM1", "web1");
	made_picture(w, 80, 12);
	assert_string_equal(line(w, 3), " What         Argument                           Count/s "
					"▾Time%     Avg Guest");
	assert_non_null(strstr(line(w, 4), " 0x6e0 IA32_TSC_DEADLINE write "));
	made_picture(w, 150, 40);
	assert_non_null(strstr(line(w, 5), " 0x6e0 IA32_TSC_DEADLINE write "));
	hot_spots(w);
	for (int cols = 150; cols < 200; cols++) {
		made_picture(w, cols, 40);
		assert_non_null(strstr(line(w, 5), " 0x6e0 IA32_TSC_DEADLINE write "));
	}
	made_picture(w, 200, 40);
	assert_non_null(strstr(line(w, 5), " " LONG_NAME " "));
	assert_non_null(strstr(line(w, 4), " 1ms "));
}

/* After each heading of the picture is a blank. */
/* A name ends where its column does, however deep its row is; with room it is whole. */
TEST(deep_names_have_their_column, setup, teardown)
{
	struct world *w = *state;

	begin_view(w, &view_where);
	for (uint32_t depth = 0; depth < 20; depth++) {
		add_row(w, "entry_SYSCALL_64_after_hwframe_of_a_guest");
		w->view.rows[depth].depth = (uint8_t)depth;
		set_cell(w, "side", cell_text("kernel"));
		set_cell(w, "self_percent", cell_percent(31, 1000));
		set_cell(w, "incl_percent", cell_percent(31, 1000));
	}
	for (int cols = 50; cols < 200; cols++) {
		made_picture(w, cols, 30);
		for (int row = 5; row < 25; row++)
			assert_true(strstr(line(w, row), " kernel ") || cols < 60);
	}
	assert_non_null(strstr(line(w, 24), " entry_SYSCALL_64_after_hwframe_of_a_guest "));
}

static int indent_of(struct world *w, int row)
{
	return (int)strcspn(line(w, row), "e");
}

/* Else a function looks as if it were beside the one that it was called by. */
TEST(deep_names_are_indented, setup, teardown)
{
	struct world *w = *state;

	begin_view(w, &view_where);
	for (uint32_t depth = 0; depth < 24; depth++) {
		add_row(w, "entry");
		w->view.rows[depth].depth = (uint8_t)depth;
	}
	made_picture(w, 200, 40);
	for (int row = 6; row < 28; row++)
		assert_int_equal(indent_of(w, row + 1), indent_of(w, row) + 1);
	made_picture(w, 80, 40);
	assert_int_equal(indent_of(w, 28), indent_of(w, 17));
	assert_int_equal(indent_of(w, 17), indent_of(w, 16) + 1);
}

static void headings_are_apart(const struct world *w)
{
	for (size_t i = 0; i < w->screen.nr_hits; i++) {
		const struct hit *hit = &w->screen.hits[i];
		int behind = hit->last_col + 1;

		if (hit->kind == HIT_COLUMN && behind < w->grid.cols)
			assert_int_equal(w->grid.cells[hit->row * w->grid.cols + behind].ch, L' ');
	}
}

TEST(headings_never_touch, setup, teardown)
{
	struct world *w = *state;

	for (size_t t = 0; t < NR_TYPES; t++) {
		const struct column *columns = types[t]->columns;

		begin_view(w, types[t]);
		add_row(w, LONG_NAME);
		for (size_t i = 0; columns[i].id; i++) {
			if (columns[i].is_for_machines || columns[i].is_of_recording ||
			    column_is_sentence(&columns[i]) ||
			    cell_is_picture(column_type(&columns[i])) ||
			    !view_has_column(&w->view, i))
				continue;
			w->query.sort = i;
			for (int cols = 20 + (int)i % 3; cols <= 200; cols += 3) {
				made_picture(w, cols, 12);
				headings_are_apart(w);
			}
		}
	}
}

TEST(what_was_chosen_is_no_column, setup, teardown)
{
	struct world *w = *state;

	hot_spots(w);
	w->query.guest = 1;
	made_picture(w, 80, 12);
	assert_null(strstr(line(w, 3), "Guest"));
	assert_non_null(strstr(line(w, 3), " What "));
	w->query.has_reason = true;
	made_picture(w, 80, 12);
	assert_string_equal(line(w, 3), " Argument                         Count/s ▾Time%"
					"     Avg     p50     p99     Max");
	assert_non_null(strstr(line(w, 4), " 0x6e0 IA32_TSC_DEADLINE write "));
	assert_int_equal(strncmp(line(w, 6), " Total ", 7), 0);
	/* Who sorts by it wants to see it. */
	w->query.sort = (size_t)view_column_by_id(&view_hotspots, "guest");
	made_picture(w, 80, 12);
	assert_non_null(strstr(line(w, 3), " Guest▾"));
}

TEST(a_column_is_read_in_one_way, setup, teardown)
{
	struct world *w = *state;

	begin_view(w, &view_exits);
	add_row(w, "MSR_WRITE");
	set_cell(w, "rate", (struct cell){ .type = CELL_RATE, .number = 12957982765.0 });
	add_row(w, "HLT");
	w->view.total.cells[view_column_by_id(&view_exits, "rate")] =
		(struct cell){ .type = CELL_RATE, .number = 12957987476.0 };
	made_picture(w, 80, 12);
	assert_non_null(strstr(line(w, 4), " 12957982765 "));
	assert_non_null(strstr(line(w, 5), "        4711 "));
	/* Where there is no line for the sum, too. */
	made_picture(w, 80, 5);
	assert_non_null(strstr(line(w, 3), "        4711 "));
	w->query.sort = 0;
	made_picture(w, 18, 5);
	assert_string_equal(line(w, 2), " MSR_WRITE   13.0G");
	assert_string_equal(line(w, 3), " HLT         4.71k");
}

/* What the provider "exits" would say of one guest's vCPU: where its time went, and one reason. */
static void hottest_guest(struct world *w, const char *name, const char *reason)
{
	const struct field timed[] = {
		{ .name = "vmexit", .parent = FIELD_NONE, .use = USE_EXIT, .exit_rank = 1 },
		{ .name = reason, .parent = NR_FIELDS, .use = USE_EXIT, .exit_rank = 1 },
		{ .name = "time", .parent = FIELD_NONE, .use = USE_TIME },
		{ .name = "time(guest)", .parent = NR_FIELDS + 2, .use = USE_TIME,
		  .part = TIME_GUEST },
		{ .name = "time(user)", .parent = NR_FIELDS + 2, .use = USE_TIME,
		  .part = TIME_USER },
	};
	uint32_t guest = guests_add_fake(w->guests, 41233, name, 8);

	for (size_t i = 0; i < sizeof(timed) / sizeof(timed[0]); i++)
		fields_add(w->fields, &timed[i]);
	for (uint64_t n = 1; n < 4; n++) {
		struct timing timing = { .time_ns = n * SECOND / 10 };

		for (uint32_t field = NR_FIELDS; field < NR_FIELDS + 5; field++) {
			struct key key = { guest, 0, field };
			uint64_t count = field < NR_FIELDS + 2 ? 188000 * n : n * SECOND / 2;

			count <<= field == NR_FIELDS + 2;
			sample_add_timed(&w->sample, key, count, ROW_FROM_ZERO,
							  &timing);
		}
		tick(w);
	}
}

TEST(the_hottest_reason_is_never_cut, setup, teardown)
{
	struct world *w = *state;
	int nr = 0;

	hottest_guest(w, LONG_NAME, "vmexit(MSR_WRITE)");
	for (int cols = 40; cols < 200; cols++) {
		picture(w, cols, 10);
		if (!strstr(line(w, 1), "012:"))
			continue;
		assert_non_null(strstr(line(w, 1), cols < 100 ? "012: MSR_WRITE 188k/s" :
								"012: MSR_WRITE 188,000/s"));
		nr++;
	}
	assert_int_in_range(nr, 135, 145); /* from 60 columns on, or so */
	picture(w, 80, 10);
	assert_string_equal(line(w, 1), "exits 188000/s guest 50% user 50%   "
					"hottest prod-c…1-node-0012: MSR_WRITE 188k/s");
	picture(w, 200, 10);
	assert_non_null(strstr(line(w, 1), "hottest " LONG_NAME ": MSR_WRITE 188,000/s"));
	/* The signs that the pictures of the split have. */
	assert_non_null(strstr(line(w, 1), "█ guest 50%  ▒ user 50%   hot"));
}

TEST(a_long_reason_keeps_its_rate, setup, teardown)
{
	struct world *w = *state;

	hottest_guest(w, WIDE_NAME, "vmexit(EXTERNAL_INTERRUPT)");
	picture(w, 80, 10);
	assert_string_equal(line(w, 1), "exits 188000/s  guest 50% user 50%   "
					"hottest デ…-0038: EXTERNAL_INTERRUPT 188k/s");
}

static void drilled_down_to(struct world *w, const char *crumbs)
{
	begin_view(w, &view_exits);
	strcpy(w->screen.crumbs, crumbs);
}

TEST(crumbs_take_what_they_need_from_the_tabs, setup, teardown)
{
	struct world *w = *state;

	drilled_down_to(w, "db1 › vCPU 1 › MSR_WRITE");
	made_picture(w, 104, 12);
	assert_string_equal(line(w, 2), " 1 Events  2 Guests  3 vCPUs [4 Exits] 5 Hot spots "
					" 6 Host  7 Who  8 Where      db1 › vCPU 1 › MSR_WRITE");
	drilled_down_to(w, WIDE_NAME " › vCPU 13 › EXTERNAL_INTERRUPT");
	made_picture(w, 89, 12);
	assert_string_equal(line(w, 2), " 1  2  3 [4 Exits] 5  6  7  8  "
					WIDE_NAME " › vCPU 13 › EXTERNAL_INTERRUPT");
	drilled_down_to(w, LONG_NAME " › vCPU 13 › EXTERNAL_INTERRUPT");
	made_picture(w, 89, 12);
	assert_string_equal(line(w, 2), " 1  2  3 [4 Exits] 5  6  7  8  prod-custo…west-1-node"
					"-0012 › vCPU 13 › EXTERNAL_INTERRUPT");
	made_picture(w, 69, 12);
	assert_string_equal(line(w, 2), " 1  2  3 [4 Exits] 5  6  7  8  pr…0012 › vCPU 13 › "
					"EXTERNAL_INTERRUPT");
}

TEST(latency_has_its_numbers_first, setup, teardown)
{
	struct world *w = *state;

	hot_spots(w);
	w->screen.has_cursor = true;
	w->screen.cursor = row_id_of(&w->view, 0);
	made_picture(w, 80, 24);
	assert_string_equal(line(w, 9), " MSR_WRITE 0x6e0…E write  Avg 1.24µs p50 1.02µs "
					 "p99 8.19µs Max 25.9µs  100 ended");
	made_picture(w, 120, 24);
	assert_non_null(strstr(line(w, 9), " MSR_WRITE 0x6e0 IA32_TSC_DEADLINE write "));
	assert_non_null(strstr(line(w, 9), " Max 25.9µs  100 ended"));
	made_picture(w, 60, 24);
	assert_string_equal(line(w, 9), "  Avg 1.24µs p50 1.02µs p99 8.19µs Max 25.9µs  "
					 "100 ended");
}
