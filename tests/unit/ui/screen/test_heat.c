// SPDX-License-Identifier: GPL-2.0-or-later
/* What a series over time looks like: the heat map, the graphs, the times of day, the cursor. */
#include <time.h>

#include "tests/unit/unit.h"
#include "tests/worlds/cmocka_range.h"
#include "tests/worlds/screen_world.h"
#include "ui/screen/chart.h"
#include "ui/screen/parts.h"

#define POINTS 200
#define NEWEST_NS (UINT64_C(1763807467) * SECOND) /* 2025-11-22 10:31:07 UTC */

static struct series_point points[POINTS];
static struct series series;

/* The newest points of what does the same number of exits each interval of 3 s. */
static struct series_point *begin_series(struct world *w, size_t nr)
{
	memset(points, 0, sizeof(points));
	series = (struct series){ .points = points, .nr = nr, .room = POINTS };
	for (size_t i = 0; i < nr; i++) {
		points[i].time_ns = NEWEST_NS - (nr - 1 - i) * 3 * SECOND;
		points[i].interval_ns = 3 * SECOND;
	}
	w->query.type = w->view.type = &view_exits;
	w->query.sort = view_default_sort(&view_exits);
	w->screen.series = &series;
	w->screen.series_cursor = -1;
	w->screen.series_first_ns = 0;
	w->screen.shows_heat = true;
	strcpy(w->screen.series_title, "MSR_WRITE of db1");
	return points;
}

static void put_exits(struct series_point *point, unsigned int bucket, uint64_t count)
{
	point->hist[bucket] += count;
	point->count += count;
}

/* Most take 1 µs, a few 1 ms; in the middle all of them take longer. */
static void usual_series(struct world *w, size_t nr)
{
	begin_series(w, nr);
	for (size_t i = 0; i < nr; i++) {
		unsigned int slower = i > nr / 2 && i < nr / 2 + 8 ? 3 : 0;

		put_exits(&points[i], 3 + slower, 90 + i % 7);
		put_exits(&points[i], 4 + slower, 1000 + 100 * (i % 5));
		put_exits(&points[i], 5 + slower, 30);
		put_exits(&points[i], 13 + slower, i % 9 == 0);
	}
}

static const char *heat_picture(struct world *w, int cols, int rows)
{
	grid_resize(&w->grid, rows, cols);
	screen_paint(&w->screen, &w->grid);
	return grid_text(w);
}

static struct area whole_area(struct world *w, int cols, int rows)
{
	grid_resize(&w->grid, rows, cols);
	return (struct area){ .grid = &w->grid, .width = cols, .height = rows, .is_utf8 = true };
}

/* ---- what is in a column ---- */

static void check_columns(const struct heat *heat, const struct chart *chart, int lines)
{
	assert_int_in_range(heat->lines, 1, lines);
	for (size_t i = 0; i < chart->nr; i++) {
		const struct series_point *point = chart_point(chart, i);
		uint64_t all = 0, sum = 0;

		for (int line = 0; line < heat->lines; line++) {
			uint64_t count = heat_count(heat, point, line);

			assert_int_equal(heat_step(heat, count) > 0, count > 0);
			assert_int_equal(heat_step(heat, count) == HEAT_STEPS,
					 count > 0 && count > heat_step_end(heat, 4) &&
					 count > heat_step_end(heat, 3));
			sum += count;
		}
		for (int bucket = 0; bucket < HIST_BUCKETS; bucket++)
			all += point->hist[bucket];
		assert_int_equal(sum, all);
	}
}

TEST(lines_of_a_column_add_up_to_its_exits, setup, teardown)
{
	struct world *w = *state;

	for (unsigned int seed = 0; seed < 60; seed++) {
		struct area area = whole_area(w, 80, 30);
		struct chart chart;
		struct heat heat;

		begin_series(w, 40);
		srand48(seed);
		for (size_t i = 0; i < 40; i++) {
			for (int n = 0; n < 5; n++)
				put_exits(&points[i], (unsigned int)(lrand48() % (1 + seed % 26)),
					  (uint64_t)lrand48() >> lrand48() % 31);
		}
		chart_make(&chart, &series, -1, &area);
		assert_int_equal(chart.nr, 40);
		for (int lines = 1; lines <= 30; lines++) {
			heat_make(&heat, &chart, lines, seed % 2);
			check_columns(&heat, &chart, lines);
		}
	}
}

/* What the numbers say at the cursor is what the column has. */
TEST(the_cursor_tells_what_ended, setup, teardown)
{
	struct world *w = *state;

	usual_series(w, 60);
	for (long i = 0; i < 60; i++) {
		uint64_t ended = points[i].count;
		char text[64];

		points[i].count += 1000000; /* not ended yet */
		w->screen.series_cursor = i;
		heat_picture(w, 150, 40);
		snprintf(text, sizeof(text), "  %d,%03d ended", (int)ended / 1000,
			 (int)ended % 1000);
		assert_non_null(strstr(line(w, 5), text));
		snprintf(text, sizeof(text), "  1,00%d,%03d exits", (int)ended / 1000,
			 (int)ended % 1000);
		assert_non_null(strstr(line(w, 5), text));
	}
}

TEST(steps_are_a_logarithmic_scale, setup, teardown)
{
	static const uint64_t tops[] = { 1, 2, 3, 5, 9, 31, 32, 33, 100, 243, 1024, 3125, 99999,
					 1000000, UINT64_C(1) << 40, UINT64_C(1) << 60 };
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(tops) / sizeof(tops[0]); i++) {
		struct area area = whole_area(w, 1, 1);
		struct chart chart;
		struct heat heat;
		uint64_t before = 0;

		begin_series(w, 1);
		put_exits(points, 5, tops[i]);
		chart_make(&chart, &series, -1, &area);
		heat_make(&heat, &chart, 1, false);

		for (int step = 1; step <= HEAT_STEPS; step++) {
			uint64_t end = heat_step_end(&heat, step);

			if (!end)
				continue;
			assert_int_equal(heat_step(&heat, end), step);
			assert_int_equal(heat_step(&heat, before + 1), step);
			before = end;
		}
		assert_int_equal(before, tops[i]);
		assert_int_equal(heat_step(&heat, tops[i]), HEAT_STEPS);
		assert_int_equal(heat_step(&heat, 0), 0);
	}
}

/* ---- pictures ---- */

TEST(a_map_of_signs, setup, teardown)
{
	struct world *w = *state;

	usual_series(w, 40);
	heat_picture(w, 80, 24);
	shows_text(w,
	      "kvmtop  alpha  SVM  64 CPUs  0 guests 0 vCPUs                     3.0s  12:31:07\n"
	      "\n"
	      "\n"
	      " 1 Events  2 Guests  3 vCPUs [4 Exits] 5 Hot spots  6 Host  7 Who  8 Where\n"
	      " MSR_WRITE of db1  120s                   up to · 4 ░ 18 ▒ 80 ▓ 346 █ 1493 exits\n"
	      " 10:31:07  1524 exits  508/s  p50 1.51µs  p99 3.06µs  max 2.05µs-4.10µs\n"
	      "    4ms                                                            ·\n"
	      "    1ms\n"
	      "  262µs                                 ·        ·        ·                 ·\n"
	      "   66µs\n"
	      "   16µs                                                      ▒▒▒▒▒▒▒\n"
	      "    4µs                                                      ███████\n"
	      "    1µs                                 █████████████████████       ████████████\n"
	      "  256ns                                 ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓       ▓▓▓▓▓▓▓▓▓▓▓▓\n"
	      "                                                    10:30╯              10:31╯\n"
	      "        exits/s  highest 509\n"
	      "     1k\n"
	      "\n"
	      "\n"
	      "                                          ▂▄▅  ▂▄▅  ▂▄▅  ▂▄▅  ▂▄▅  ▂▄▅  ▂▄▅  ▂▄▅\n"
	      "                                        ▆████▆████▆████▆████▆████▆████▆████▆████\n"
	      "                                        ████████████████████████████████████████\n"
	      "      0                                 ████████████████████████████████████████\n"
	      "h help  q quit  m table  Left Right time  Enter open  b guests  f filter  t back\n");
	w->screen.is_utf8 = false;
	w->screen.has_palette = true; /* of no use without UTF-8 */
	heat_picture(w, 60, 14);
	shows_text(w,
	      "kvmtop  alpha  SVM  64 CPUs  0 guests 0 vCPUs 3.0s  12:31:07\n"
	      "\n"
	      " 1 Events  2 Guests  3 vCPUs [4 Exits] 5 Hot spots  6  7  8\n"
	      " MSR_WRITE of db1  120s                   # up to 1496 exits\n"
	      " 10:31:07  1524 exits  508/s  p50 1.51µs  p99 3.06µs\n"
	      "    1ms                                        .\n"
	      "  131µs             .        .        .                 .\n"
	      "   16µs                                  ooooooo\n"
	      "    2µs             ooooooooooooooooooooo#######oooooooooooo\n"
	      "  256ns             #####################       ############\n"
	      "                                10:30'              10:31'\n"
	      "\n"
	      "\n"
	      "h help  q quit  m table  Left Right time  Enter open  t back\n");
}

/* Whether the picture has this text. */
static void has_text(struct world *w, int cols, int rows, const char *text)
{
	const char *picture = heat_picture(w, cols, rows);

	if (!strstr(picture, text))
		fail_msg("no \"%s\" in\n%s", text, picture);
}

TEST(one_exit_is_no_plural, setup, teardown)
{
	struct world *w = *state;

	begin_series(w, 10);
	for (unsigned int i = 0; i < 10; i++)
		put_exits(&points[i], 4, 1);
	has_text(w, 80, 24, " up to █ 1 exit\n");
	has_text(w, 80, 24, " 10:31:07  1 exit  0/s ");
	has_text(w, 30, 14, " █ up to 1 exit\n");
	w->query.type = w->view.type = &view_events;
	has_text(w, 80, 24, " 10:31:07  1 event  0/s ");
	put_exits(&points[9], 4, 1);
	has_text(w, 80, 24, " up to · 1 █ 2 events\n");
	has_text(w, 80, 24, " 10:31:07  2 events  1/s ");
}

/* The style of a character; its sign must be the one given. */
static enum style style_of(const struct world *w, int row, int col, wchar_t ch)
{
	const struct grid_cell *cell = &w->grid.cells[row * w->grid.cols + col];

	assert_int_equal(cell->ch, ch);
	return cell->style;
}

TEST(buckets_share_a_line_where_lines_are_few, setup, teardown)
{
	struct world *w = *state;

	begin_series(w, 10);
	w->screen.has_palette = true;
	for (unsigned int i = 0; i < 10; i++) {
		put_exits(&points[i], 0, 1);
		put_exits(&points[i], 4, 1000);
		put_exits(&points[i], 5, i % 2 ? 1000 : 10);
		put_exits(&points[i], 15, 3);
	}
	heat_picture(w, 80, 16);
	shows_text(w,
	      "kvmtop  alpha  SVM  64 CPUs  0 guests 0 vCPUs                     3.0s  12:31:07\n"
	      "\n"
	      " 1 Events  2 Guests  3 vCPUs [4 Exits] 5 Hot spots  6 Host  7 Who  8 Where\n"
	      " MSR_WRITE of db1  30s                    up to · 4 ░ 20 ▒ 95 ▓ 437 █ 2000 exits\n"
	      " 10:31:07  2004 exits  668/s  p50 2.05µs  p99 4.06µs  max 2.10ms-4.19ms\n"
	      "    1ms                                                               ··········\n"
	      "  262µs\n"
	      "   66µs\n"
	      "   16µs\n"
	      "    4µs\n"
	      "    1µs                                                               ██████████\n"
	      "  256ns\n"
	      "      0                                                               ··········\n"
	      "                                                                        10:31╯\n"
	      "\n"
	      "h help  q quit  m table  Left Right time  Enter open  b guests  f filter  t back\n");
	/* 1 µs is the lower edge of its line. */
	assert_int_equal(style_of(w, 10, 79, L'█'), style_heat(5, 4));
	assert_int_equal(style_of(w, 12, 79, L'·'), style_mark(1));
}

TEST(with_a_line_for_each_bucket_percentiles_are_marked, setup, teardown)
{
	struct world *w = *state;

	begin_series(w, 10);
	w->screen.has_palette = true;
	for (unsigned int i = 0; i < 10; i++) {
		put_exits(&points[i], 3, 1);
		put_exits(&points[i], 4, 960);
		put_exits(&points[i], 6, 38);
		put_exits(&points[i], 8, 1);
	}
	w->screen.series_cursor = 5;
	heat_picture(w, 80, 24);
	shows_text(w,
	      "kvmtop  alpha  SVM  64 CPUs  0 guests 0 vCPUs                     3.0s  12:31:07\n"
	      "\n"
	      "\n"
	      " 1 Events  2 Guests  3 vCPUs [4 Exits] 5 Hot spots  6 Host  7 Who  8 Where\n"
	      " MSR_WRITE of db1  30s       up to · 3 ░ 15 ▒ 61 ▓ 243 █ 960 exits  ─ p50  ━ p99\n"
	      " 10:30:55  1000 exits  333/s  p50 1.56µs  p99 7.22µs  max 16.4µs-32.8µs\n"
	      "   16µs                                                               ·····│····\n"
	      "    8µs                                                                    │\n"
	      "    4µs                                                               ━━━━━━━━━━\n"
	      "    2µs                                                                    │\n"
	      "    1µs                                                               ──────────\n"
	      "  512ns                                                               ·····│····\n"
	      "                                                                   10:30:55▲\n"
	      "        exits/s  highest 333\n"
	      "    500                                                                    │\n"
	      "                                                                      ▆▆▆▆▆▆▆▆▆▆\n"
	      "                                                                      ██████████\n"
	      "      0                                                               ██████████\n"
	      "        p99  highest 7.22µs\n"
	      "   10µs                                                                    │\n"
	      "                                                                      ██████████\n"
	      "                                                                      ██████████\n"
	      "      0                                                               ██████████\n"
	      "h help  q quit  m table  Left Right time  Enter open  b guests  f filter  t back\n");
	assert_int_equal(style_of(w, 10, 79, L'─'), style_mark(5));
	assert_int_equal(style_of(w, 8, 79, L'━'), style_mark(3));
	assert_int_equal(style_of(w, 11, 79, L'·'), style_mark(1));
	/* The cursor: over the exits, and where there are none. */
	assert_int_equal(style_of(w, 11, 75, L'│'), style_mark(1));
	assert_int_equal(style_of(w, 9, 75, L'│'), STYLE_NOTICE);
	assert_int_equal(style_of(w, 10, 75, L'─'), style_mark(5));
}

TEST(what_has_no_durations_has_graphs_only, setup, teardown)
{
	struct world *w = *state;

	begin_series(w, 30);
	w->query.type = &view_events;
	for (size_t i = 0; i < 30; i++)
		points[i].count = i * 3;
	strcpy(w->screen.series_title, "kvm_pio");
	heat_picture(w, 60, 14);
	shows_text(w,
	      "kvmtop  alpha  SVM  64 CPUs  0 guests 0 vCPUs 3.0s  12:31:07\n"
	      "no exits counted yet\n"
	      "[1 Events] 2 Guests  3 vCPUs  4 Exits  5 Hot spots  6  7  8\n"
	      " kvm_pio  90s\n"
	      " 10:31:07  87 events  29/s\n"
	      "        events/s  highest 29\n"
	      "     50\n"
	      "\n"
	      "                                                       ▁▂▃▄▅\n"
	      "                                              ▁▁▂▃▄▅▆▇██████\n"
	      "                                      ▁▂▃▄▅▆▇███████████████\n"
	      "      0                       ▁▂▃▄▅▆▇███████████████████████\n"
	      "                                10:30╯              10:31╯\n"
	      "h help  q quit  m table  Left Right time  Enter open  t back\n");
}

/* ---- time ---- */

TEST(the_cursor_reaches_every_point, setup, teardown)
{
	struct world *w = *state;

	usual_series(w, 200);
	points[150].is_gap = true;
	for (size_t i = 0; i < 150; i++)
		points[i].time_ns -= 60 * SECOND;
	/* The newest, the oldest, both sides of the gap, one that is older than what fits. */
	w->screen.series_cursor = 199;
	heat_picture(w, 60, 14);
	assert_non_null(strstr(line(w, 4), " 10:31:07  1"));
	assert_non_null(strstr(line(w, -3), "10:31:07▲"));
	assert_int_equal(style_of(w, 11, 59, L'▲'), STYLE_NOTICE);
	w->screen.series_cursor = 150;
	heat_picture(w, 60, 14);
	assert_non_null(strstr(line(w, 4), " 10:28:40 after a gap  1"));
	assert_int_equal(style_of(w, 11, 10, L'▲'), STYLE_NOTICE);
	assert_int_equal(style_of(w, 8, 9, L'┊'), STYLE_DIM);
	w->screen.series_cursor = 149;
	heat_picture(w, 60, 14);
	assert_non_null(strstr(line(w, 4), " 10:27:37  1"));
	assert_int_equal(style_of(w, 11, 8, L'▲'), STYLE_NOTICE);
	w->screen.series_cursor = 0;
	heat_picture(w, 60, 14);
	assert_non_null(strstr(line(w, 4), " 10:20:10  1"));
	assert_int_equal(style_of(w, 11, 8, L'▲'), STYLE_NOTICE);
	/* What is no point is no cursor. */
	w->screen.series_cursor = 200;
	heat_picture(w, 60, 14);
	assert_null(strstr(w->text, "▲"));
}

/* It has no interval, and so no point: the numbers are not of the sample that follows. */
TEST(the_first_sample_has_no_numbers, setup, teardown)
{
	static const char numbers[] = "  counting begins: the first sample has no rates";
	struct world *w = *state;

	usual_series(w, 30);
	points[10].is_gap = true;
	w->screen.series_cursor = 10;
	w->screen.series_first_ns = points[10].time_ns - SECOND;
	heat_picture(w, 60, 14);
	assert_non_null(strstr(line(w, 4), " 10:30:09"));
	assert_non_null(strstr(line(w, 4), numbers));
	assert_null(strstr(line(w, 4), "exits"));
	assert_int_equal(style_of(w, 8, 39, L'│'), STYLE_NOTICE); /* instead of the gap */
	assert_non_null(strstr(w->text, "10:30:09▲"));
	/* Before all points, and after them. */
	w->screen.series_cursor = 0;
	w->screen.series_first_ns = points[0].time_ns - SECOND;
	heat_picture(w, 60, 14);
	assert_non_null(strstr(line(w, 4), numbers));
	assert_int_equal(style_of(w, 8, 28, L'│'), STYLE_NOTICE);
	heat_picture(w, 38, 14); /* the first one has no room before it */
	assert_null(strstr(w->text, "│"));
	w->screen.series_cursor = 30;
	w->screen.series_first_ns = NEWEST_NS + SECOND;
	heat_picture(w, 60, 14);
	assert_non_null(strstr(line(w, 4), numbers));
	assert_null(strstr(w->text, "│"));
}

TEST(gaps_take_a_column, setup, teardown)
{
	struct world *w = *state;
	struct chart chart;
	struct area area = whole_area(w, 20, 5);

	usual_series(w, 100);
	chart_make(&chart, &series, -1, &area);
	assert_int_equal(chart.nr, 20);
	points[90].is_gap = points[91].is_gap = true;
	chart_make(&chart, &series, -1, &area);
	assert_int_equal(chart.nr, 18);
	assert_int_equal(chart.cols[17], 19);
	assert_int_equal(chart.cols[0], 0);
	assert_int_equal(chart.cols[8] - chart.cols[7], 2);
	assert_int_equal(chart.cols[9] - chart.cols[8], 2);
	assert_int_equal(chart.cols[10] - chart.cols[9], 1);
	/* A gap before the first point that is shown is not seen. */
	points[82].is_gap = true;
	chart_make(&chart, &series, -1, &area);
	assert_int_equal(chart.nr, 18);
	chart_make(&chart, &series, 82, &area);
	assert_int_equal(chart.nr, 18);
	assert_int_equal(chart.cursor_col, 0);
}

/* After the point `jump`, if any, the clock goes on an hour earlier. */
static const char *times_of(struct world *w, uint64_t interval_ns, size_t jump)
{
	struct area area = whole_area(w, 100, 1);
	struct chart chart;

	begin_series(w, 100);
	for (size_t i = 0; i < 100; i++) {
		points[i].interval_ns = interval_ns;
		points[i].time_ns = NEWEST_NS - (99 - i) * interval_ns;
		points[i].time_ns += i <= jump && jump ? 3600 * SECOND : 0;
	}
	chart_make(&chart, &series, -1, &area);
	chart_paint_times(&chart, 0);
	return line(w, 0);
}

TEST(times_of_day_are_round, setup, teardown)
{
	struct world *w = *state;

	assert_string_equal(times_of(w, SECOND / 1000, 0),
			    "       10:31:06.920╯       10:31:06.940╯       10:31:06.960╯"
			    "       10:31:06.980╯       10:31:07.000╯");
	assert_string_equal(times_of(w, SECOND, 0),
			    "         10:29:45╯      10:30:00╯      10:30:15╯      10:30:30╯"
			    "      10:30:45╯      10:31:00╯");
	assert_string_equal(times_of(w, 3 * SECOND, 0),
			    "            10:27╯              10:28╯              10:29╯"
			    "              10:30╯              10:31╯");
	assert_string_equal(times_of(w, 600 * SECOND, 0),
			    "       20:00╯      22:00╯      00:00╯      02:00╯      04:00╯"
			    "      06:00╯      08:00╯      10:00╯");
	assert_non_null(strstr(times_of(w, 86400 * SECOND, 0), " 11-12╯ 11-19╯"));
	/* Without lengths the newest point has its time. */
	assert_non_null(strstr(times_of(w, 0, 0), " 10:31:07╯"));
}

/* Its first point has its own time. */
TEST(a_clock_that_was_set_is_told, setup, teardown)
{
	struct world *w = *state;

	assert_string_equal(times_of(w, SECOND, 57),
			    "         11:29:45╯      11:30:00╯      11:30:15╯  10:30:26╯"
			    "          10:30:45╯      10:31:00╯");
}

/* ---- edges ---- */

/* Nothing is painted outside the area, whatever its size. */
TEST(it_stays_in_its_area, setup, teardown)
{
	struct world *w = *state;

	usual_series(w, 200);
	points[190].is_gap = true;
	for (int i = 0; i < 4; i++) {
		w->screen.has_palette = i & 1;
		w->screen.series_cursor = i & 2 ? 180 : -1;
		for (int cols = 0; cols < 120; cols++) {
			for (int rows = 1; rows < 45; rows++) {
				struct area area = whole_area(w, 7 + cols, 3 + rows + 3);

				area.row = 3;
				area.col = 7;
				area.width = cols;
				area.height = rows;
				over_time_paint(&w->screen, &area);
				for (int at = 0; at < w->grid.rows * w->grid.cols; at++) {
					int row = at / w->grid.cols, col = at % w->grid.cols;

					if (row < 3 || row >= 3 + rows || col < 7)
						assert_int_equal(w->grid.cells[at].ch, L' ');
				}
			}
		}
	}
}

static void every_size(struct world *w)
{
	for (int cols = 16; cols < 210; cols += 7) {
		for (int rows = 3; rows < 62; rows += 3) {
			w->screen.shows_heat = true;
			heat_picture(w, cols, rows);
			w->screen.shows_heat = false;
			heat_picture(w, cols, rows);
		}
	}
	w->screen.shows_heat = true;
}

TEST(hostile_series_do_no_harm, setup, teardown)
{
	struct world *w = *state;

	w->screen.has_palette = true;
	begin_series(w, 0);
	every_size(w);
	heat_picture(w, 80, 24);
	assert_string_equal(line(w, 4), " Nothing is known of the past yet.");
	begin_series(w, 1);
	every_size(w);
	heat_picture(w, 80, 24);
	assert_non_null(strstr(line(w, 5), " 10:31:07  0 exits  0/s"));
	begin_series(w, 50); /* all zero */
	every_size(w);
	begin_series(w, 50);
	for (size_t i = 0; i < 50; i++) {
		points[i].time_ns = i % 3 ? UINT64_MAX - i : 0;
		points[i].interval_ns = i % 5 ? 1 : i % 2 ? 0 : UINT64_MAX;
		points[i].is_gap = i % 4 == 0;
		for (unsigned int bucket = 0; bucket < HIST_BUCKETS; bucket++)
			put_exits(&points[i], bucket, UINT64_C(1) << 60);
	}
	for (long cursor = -1; cursor < 51; cursor += 13) {
		w->screen.series_cursor = cursor;
		every_size(w);
	}
}

/* ---- below the table ---- */

TEST(small_screens_stay_as_they_are, setup, teardown)
{
	static const int sizes[][2] = { { 80, 24 }, { 20, 5 }, { 80, 40 }, { 200, 24 } };
	struct world *w = *state;
	static char before[sizeof(w->text)];

	usual(w);
	usual_series(w, 60);
	w->screen.shows_heat = false;
	w->query.type = &view_events;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		w->screen.series = NULL;
		strcpy(before, picture(w, sizes[i][0], sizes[i][1]));
		w->screen.series = &series;
		assert_string_equal(picture(w, sizes[i][0], sizes[i][1]), before);
	}
}

TEST(free_lines_show_the_past, setup, teardown)
{
	struct world *w = *state;

	usual(w);
	usual_series(w, 60);
	w->screen.shows_heat = false;
	w->query.type = &view_events;
	picture(w, 120, 41);
	/* The Total stays right under its rows. */
	assert_int_equal(strncmp(line(w, 15), " Total ", 7), 0);
	assert_string_equal(line(w, 16), "");
	assert_int_equal(strncmp(line(w, 17), " MSR_WRITE of db1  3min  ", 25), 0);
	assert_non_null(strstr(line(w, 17), " up to · 4 ░ 18 ▒ 77 ▓ 328 █ 1,400 events"));
	assert_int_equal(strncmp(line(w, 18), " 10:31:07  1,523 events  508/s  p50 ", 36), 0);
	assert_int_equal(strncmp(line(w, 32), "  512ns ", 8), 0);
	assert_non_null(strstr(line(w, 33), " 10:31╯"));
	assert_string_equal(line(w, 34), "        events/s  highest 509");
	/* 12 free lines are enough, 11 are not. */
	many_events(w);
	assert_null(strstr(picture(w, 120, 69), " MSR_WRITE of db1  "));
	assert_non_null(strstr(picture(w, 120, 70), " MSR_WRITE of db1  "));
}

/* Where there is a picture of durations already, the past is beside it, or below. */
TEST(durations_and_the_past_share_the_lines, setup, teardown)
{
	static uint64_t hist[HIST_BUCKETS];
	struct world *w = *state;
	struct view_row *row;

	usual_series(w, 60);
	memcpy(hist, points[59].hist, sizeof(hist));
	w->screen.shows_heat = false;
	row = view_add(&w->view);
	row->cells[0] = cell_text("MSR_WRITE");
	row->cells[view_column_by_id(&view_exits, "hist")] = cell_hist(hist);
	heat_picture(w, 150, 40);
	assert_int_equal(strncmp(line(w, 7), " MSR_WRITE", 10), 0);
	assert_non_null(strstr(line(w, 7), "  1,523 ended"));
	assert_non_null(strstr(line(w, 7), " MSR_WRITE of db1  3min"));
	heat_picture(w, 120, 40);
	assert_null(strstr(line(w, 7), " MSR_WRITE of db1  3min"));
	assert_int_equal(strncmp(line(w, 12), " MSR_WRITE of db1  3min", 23), 0);
}

/* A guest's exits, in a table of their own at the left. */
TEST(details_are_left_of_the_past, setup, teardown)
{
	struct world *w = *state;
	struct query query = { .type = &view_exits, .sort = view_default_sort(&view_exits) };
	struct view exits = { .sort = view_default_sort(&view_exits) };
	struct view_row *row;

	view_begin(&exits, &view_exits);
	usual_series(w, 100);
	w->query.type = w->view.type = &view_guests;
	w->query.sort = view_default_sort(&view_guests);
	w->screen.shows_heat = false;
	row = view_add(&w->view);
	row->cells[0] = cell_text("db1");
	for (int i = 0; i < 2; i++) {
		row = view_add(&exits);
		row->cells[0] = cell_text(i ? "HLT" : "MSR_WRITE");
	}
	exits.total.cells[0] = cell_text("Total");
	w->screen.details[0] = (struct screen_detail){ &exits, &query, "Exits of db1", NULL };
	w->screen.details[1] = (struct screen_detail){ &exits, &query, "Exits of db2", NULL };
	w->screen.nr_details = 2;
	heat_picture(w, 150, 40);
	assert_true(screen_has_details(&w->screen, &w->grid));
	assert_int_equal(strncmp(line(w, 7), " Exits of db1   ", 16), 0);
	assert_non_null(strstr(line(w, 7), " MSR_WRITE of db1  "));
	assert_int_equal(strncmp(line(w, 8), " Exit reason  ", 14), 0);
	assert_non_null(strstr(line(w, 8), " 10:31:07  "));
	assert_int_equal(strncmp(line(w, 9), " MSR_WRITE  ", 12), 0);
	assert_int_equal(strncmp(line(w, 10), " HLT  ", 6), 0);
	assert_int_equal(strncmp(line(w, 11), " Total  ", 8), 0);
	assert_int_equal(strncmp(line(w, 14), " Exits of db2  ", 15), 0);
	/* Nothing in them can be clicked. */
	for (size_t i = 0; i < w->screen.nr_hits; i++)
		assert_false(w->screen.hits[i].row > 4 && w->screen.hits[i].row < 38);
	/* What has no room is left out: a table, then all, then the past. */
	heat_picture(w, 150, 30);
	assert_non_null(strstr(w->text, " Exits of db2 "));
	heat_picture(w, 149, 40);
	assert_null(strstr(w->text, " Exits of db1 "));
	assert_false(screen_has_details(&w->screen, &w->grid));
	assert_non_null(strstr(w->text, " MSR_WRITE of db1  "));
	heat_picture(w, 150, 29);
	assert_null(strstr(w->text, " Exits of db1 "));
	w->screen.series = NULL;
	heat_picture(w, 200, 60);
	assert_null(strstr(w->text, " Exits of db1 "));
	view_release(&exits);
}

static int prepare(void **state)
{
	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	return 0;
}

GROUP(prepare);
