// SPDX-License-Identifier: GPL-2.0-or-later
/* What the painter makes of hand-made facts, compared as text pictures. */
#include <locale.h>
#include <math.h>

#include "tests/unit/unit.h"
#include "tests/worlds/cmocka_range.h"
#include "tests/worlds/screen_world.h"
#include "ui/screen/chart.h"

TEST(guests_by_their_exits, setup, teardown)
{
	struct world *w = *state;
	uint32_t db = guests_add_fake(w->guests, 41233, "db1", 8);
	uint32_t wide = guests_add_fake(w->guests, 417, "データベース-データベース", 2);

	w->query.type = &view_guests;
	w->query.sort = view_default_sort(&view_guests);
	for (uint64_t i = 1; i < 4; i++) {
		w->counts[EXIT] = 1000 * i;
		take(w, db);
		w->counts[EXIT] = UINT64_C(1000000000) * i;
		take(w, wide);
		w->counts[EXIT] = 77;
		take(w, 99);
		tick(w);
	}
	shows(w, 80, 10,
	      "kvmtop  alpha  SVM  64 CPUs  2 guests 10 vCPUs                    3.0s  12:31:07\n"
	      "kvm_exit 1000001000/s 0-2G/s 96s ▅▅\n"
	      " 1 Events [2 Guests] 3 vCPUs  4 Exits  5 Hot spots  6 Host  7 Who  8 Where\n"
	      " Guest Name                    PID vCPUs      Total  %Total  ▾CurAvg/s\n"
	      " データベース-データベース     417     2 3000000000   100.0 1000000000\n"
	      " db1                         41233     8       3000     0.0       1000\n"
	      " (ended)                         -     -         77     0.0          0\n"
	      " Total                                   3000003077         1000001000\n"
	      "\n"
	      "h help  q quit  Enter open  f filter  g guest  m heat map  o order  < > column\n");
	shows(w, 40, 10,
	      "kvmtop  alpha  SVM        3.0s  12:31:07\n"
	      "kvm_exit 1000001000/s 0-2G/s 18s ▅▅\n"
	      " 1 Events [2 Guests] 3  4  5  6  7  8\n"
	      " Guest Name             vCPUs  ▾CurAvg/s\n"
	      " データベ…-データベース     2 1000000000\n"
	      " db1                        8       1000\n"
	      " (ended)                    -          0\n"
	      " Total                        1000001000\n"
	      "\n"
	      "h help  q quit  Enter open  f filter\n");
	picture(w, 120, 10);
	assert_non_null(strstr(line(w, 5), " db1 "));
	assert_non_null(strstr(line(w, 5), " 41233     8 ")); /* a pid has no marks */
}

TEST(small_screens_keep_what_matters_most, setup, teardown)
{
	struct world *w = *state;

	usual(w);
	shows(w, 68, 10,
	      "kvmtop  alpha  SVM  64 CPUs  0 guests 0 vCPUs         3.0s  12:31:07\n"
	      "kvm_exit 1200/s     0-2k/s 96s ▃▄▆\n"
	      "[1 Events] 2 Guests  3 vCPUs  4 Exits  5 Hot spots  6 Host  7  8\n"
	      " Event                             Total  %Total ▾CurAvg/s\n"
	      " kvm_entry                          3400    38.5      1200\n"
	      "▾kvm_exit                           3400    38.5      1200\n"
	      "  ├ MSR_WRITE                       1700    50.0       600\n"
	      "  ├ HLT                             1020    30.0       360\n"
	      " Total  1-4 of 10                   8840              3120\n"
	      "h help  q quit  Enter open  x reasons  b guests  f filter  g guest\n");
	shows(w, 45, 9,
	      "kvmtop  alpha  SVM  64 CPUs    3.0s  12:31:07\n"
	      "kvm_exit 1200/s     0-2k/s 30s ▃▄▆\n"
	      "[1 Events] 2 Guests  3 vCPUs  4  5  6  7  8\n"
	      " Event                        Total ▾CurAvg/s\n"
	      " kvm_entry                     3400      1200\n"
	      "▾kvm_exit                      3400      1200\n"
	      "  ├ MSR_WRITE                  1700       600\n"
	      " Total  1-3 of 10              8840      3120\n"
	      "h help  q quit  Enter open  x reasons  t back\n");
	shows(w, 20, 5,
	      "[1 Events] 2  3  4\n"
	      " Event     ▾CurAvg/s\n"
	      " kvm_entry      1200\n"
	      "▾kvm_exit       1200\n"
	      "h help     1-2 of 10\n");
	shows(w, 20, 4,
	      "[1 Events] 2  3  4\n"
	      " Event     ▾CurAvg/s\n"
	      " kvm_entry      1200\n"
	      "h help     1-1 of 10\n");
	shows(w, 20, 3,
	      " Event     ▾CurAvg/s\n"
	      " kvm_entry      1200\n"
	      "h help     1-1 of 10\n");
}

TEST(flaw_E1_no_size_is_too_small, setup, teardown)
{
	struct world *w = *state;

	usual(w);
	shows(w, 3, 3,
	      "too\n"
	      "\n"
	      "\n");
	shows(w, 15, 40,
	      "too small\n"
	      "(39 blank)\n");
	shows(w, 80, 2,
	      "too small\n"
	      "\n");
	shows(w, 1, 1,
	      "t\n");
	assert_int_equal(w->screen.prompt_col, -1); /* no text cursor */
	for (int page = PAGE_TABLE; page <= PAGE_HELP; page++) {
		w->screen.page = (enum screen_page)page;
		w->screen.has_prompt = page == PAGE_TABLE;
		prompt_begin(&w->screen.prompt, "Guest or pid: ", "db");
		for (int cols = 0; cols < 90; cols++) {
			for (int rows = 0; rows < 12; rows++)
				picture(w, cols, rows);
		}
	}
}

TEST(large_screens_have_marks_in_numbers, setup, teardown)
{
	struct world *w = *state;

	usual(w);
	shows(w, 200, 60,
	      "kvmtop  alpha  SVM  64 CPUs  0 guests 0 vCPUs                                   "
	        "                                                                                "
	        "                          3.0s  12:31:07\n"
	      "\n"
	      "kvm_exit 1,200/s    0-2k/s 96s ▃▄▆\n"
	      "[1 Events] 2 Guests  3 vCPUs  4 Exits  5 Hot spots  6 Host  7 Who  8 Where\n"
	      " Event                                 Total  %Total    ▾CurAvg/s History 0-2k/s"
	        " 96s\n"
	      " kvm_entry                             3,400    38.5        1,200               "
	        "               ▃▄▆\n"
	      "▾kvm_exit                              3,400    38.5        1,200               "
	        "               ▃▄▆\n"
	      "  ├ MSR_WRITE                          1,700    50.0          600               "
	        "               ▂▃▄\n"
	      "  ├ HLT                                1,020    30.0          360               "
	        "               ▂▂▃\n"
	      "  └ other                                680    20.0          240\n"
	      "▾kvm_userspace_exit                    1,360    15.4          480               "
	        "               ▂▃▃\n"
	      "  ├ IO                                   340    25.0          120               "
	        "               ▂▂▂\n"
	      "  └ other                              1,020    75.0          360\n"
	      " kvm_pio                                 680     7.7          240               "
	        "               ▂▂▂\n"
	      " pages_4k                                512       -            -\n"
	      " Total                                 8,840                3,120\n"
	      "(43 blank)\n"
	      "h help  q quit  Enter open  x reasons  b guests  f filter  g guest  m heat map  "
	        "o order  < > column  r reset  s delay  Space hold  t back  j jump  / search  "
	        "w why\n");
}

TEST(large_numbers_stay_apart, setup, teardown)
{
	struct world *w = *state;

	usual(w);
	second(w, 130000000);
	second(w, 130000000);
	shows(w, 80, 12,
	      "kvmtop  alpha  SVM  64 CPUs  0 guests 0 vCPUs                     3.0s  12:31:07\n"
	      "kvm_exit 1300000000/s 0-2G/s 96s ▂▂▂▆▆\n"
	      "[1 Events] 2 Guests  3 vCPUs  4 Exits  5 Hot spots  6 Host  7 Who  8 Where\n"
	      " Event                   Total  %Total  ▾CurAvg/s History 0-2G/s 90s\n"
	      " kvm_entry          2600003400    38.5 1300000000                          ▂▂▂▆▆\n"
	      "▾kvm_exit           2600003400    38.5 1300000000                          ▂▂▂▆▆\n"
	      "  ├ MSR_WRITE       1300001700    50.0  650000000                          ▂▂▂▄▄\n"
	      "  ├ HLT              780001020    30.0  390000000                          ▂▂▂▃▃\n"
	      "  └ other            520000680    20.0  260000000\n"
	      "▾kvm_userspace_exit 1040001360    15.4  520000000                          ▂▂▂▃▃\n"
	      " Total  1-6 of 10   6760008840         3380000000\n"
	      "h help  q quit  Enter open  x reasons  b guests  f filter  g guest  m heat map\n");
	shows(w, 120, 12,
	      "kvmtop  alpha  SVM  64 CPUs  0 guests 0 vCPUs                                   "
	        "                          3.0s  12:31:07\n"
	      "kvm_exit 1,300,000,000/s 0-2G/s 96s ▂▂▂▆▆\n"
	      "[1 Events] 2 Guests  3 vCPUs  4 Exits  5 Hot spots  6 Host  7 Who  8 Where\n"
	      " Event                                 Total  %Total     ▾CurAvg/s History 0-2G/"
	        "s 96s\n"
	      " kvm_entry                     2,600,003,400    38.5 1,300,000,000              "
	        "              ▂▂▂▆▆\n"
	      "▾kvm_exit                      2,600,003,400    38.5 1,300,000,000              "
	        "              ▂▂▂▆▆\n"
	      "  ├ MSR_WRITE                  1,300,001,700    50.0   650,000,000              "
	        "              ▂▂▂▄▄\n"
	      "  ├ HLT                          780,001,020    30.0   390,000,000              "
	        "              ▂▂▂▃▃\n"
	      "  └ other                        520,000,680    20.0   260,000,000\n"
	      "▾kvm_userspace_exit            1,040,001,360    15.4   520,000,000              "
	        "              ▂▂▂▃▃\n"
	      " Total  1-6 of 10              6,760,008,840         3,380,000,000\n"
	      "h help  q quit  Enter open  x reasons  b guests  f filter  g guest  m heat map  "
	        "o order  < > column  r reset  s delay\n");
	second(w, UINT64_C(1300000000000));
	shows(w, 80, 12,
	      "kvmtop  alpha  SVM  64 CPUs  0 guests 0 vCPUs                     3.0s  12:31:07\n"
	      "kvm_exit 13000000000000/s 0-20T/s 96s ▂▂▂▂▂▆\n"
	      "[1 Events] 2 Guests  3 vCPUs  4 Exits  5 Hot spots  6 Host  7 Who  8 Where\n"
	      " Event                                 Total  %Total      ▾CurAvg/s\n"
	      " kvm_entry                    13002600003400    38.5 13000000000000\n"
	      "▾kvm_exit                     13002600003400    38.5 13000000000000\n"
	      "  ├ MSR_WRITE                  6501300001700    50.0  6500000000000\n"
	      "  ├ HLT                        3900780001020    30.0  3900000000000\n"
	      "  └ other                      2600520000680    20.0  2600000000000\n"
	      "▾kvm_userspace_exit            5201040001360    15.4  5200000000000\n"
	      " Total  1-6 of 10             33806760008840         33800000000000\n"
	      "h help  q quit  Enter open  x reasons  b guests  f filter  g guest  m heat map\n");
}

/* The table's heading and what else there is at a width. */
TEST(columns_go_by_their_worth, setup, teardown)
{
	struct world *w = *state;
	char headings[4096] = "";
	static const int widths[] = { 16, 17, 20, 23, 33, 34, 47, 48, 61, 62, 68, 80, 99,
				      100, 200 };

	usual(w);
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		picture(w, widths[i], 10);
		sprintf(headings + strlen(headings), "%3d|%s\n", widths[i], line(w, 3));
	}
	strcpy(w->text, headings);
	shows_text(w,
	      " 16| Event ▾CurAvg/s\n"
	      " 17| Event  ▾CurAvg/s\n"
	      " 20| Event     ▾CurAvg/s\n"
	      " 23| Event        ▾CurAvg/s\n"
	      " 33| Event                  ▾CurAvg/s\n"
	      " 34| Event                   ▾CurAvg/s\n"
	      " 47| Event                          Total ▾CurAvg/s\n"
	      " 48| Event                   Total  %Total ▾CurAvg/s\n"
	      " 61| Event                             Total  %Total ▾CurAvg/s\n"
	      " 62| Event                             Total  %Total ▾CurAvg/s\n"
	      " 68| Event                             Total  %Total ▾CurAvg/s\n"
	      " 80| Event                   Total  %Total ▾CurAvg/s History 0-2k/s 93s\n"
	      " 99| Event                             Total  %Total ▾CurAvg/s History 0-2k/s 96s\n"
	      "100| Event                                 Total  %Total    ▾CurAvg/s History 0-"
	        "2k/s 96s\n"
	      "200| Event                                 Total  %Total    ▾CurAvg/s History 0-"
	        "2k/s 96s\n");
}

TEST(what_is_sorted_by_has_a_sign, setup, teardown)
{
	struct world *w = *state;

	usual(w);
	w->query.reverse = true;
	picture(w, 80, 10);
	assert_non_null(strstr(line(w, 3), " ▴CurAvg/s"));
	w->query.reverse = false;
	for (size_t i = 0; i < 3; i++) {
		static const char *const wanted[] = { " Event▾ ", " ▾Total", " ▾%Total" };

		w->query.sort = i;
		picture(w, 80, 10);
		assert_non_null(strstr(line(w, 3), wanted[i]));
		assert_null(strstr(line(w, 3), "▾CurAvg/s"));
	}
	w->screen.is_utf8 = false;
	picture(w, 80, 10);
	assert_non_null(strstr(line(w, 3), " *%Total"));
	w->query.reverse = true;
	picture(w, 80, 10);
	assert_non_null(strstr(line(w, 3), " ^%Total"));
}

TEST(flaw_E2_the_cursor_stays_in_sight, setup, teardown)
{
	struct world *w = *state;

	many_events(w);
	w->query.children = false;
	picture(w, 80, 14);
	assert_int_equal(w->screen.page_rows, 8);
	assert_int_equal(w->screen.first_row, 4);
	w->screen.has_cursor = true;
	for (size_t n = 0; n < 2 * w->view.nr_rows; n++) {
		size_t at = n < w->view.nr_rows ? n : 2 * w->view.nr_rows - 1 - n;
		const struct grid_cell *cells;

		w->screen.cursor = row_id_of(&w->view, at);
		picture(w, 80, 14);
		assert_int_equal(screen_find_row(&w->screen, &w->screen.cursor), at);
		assert_int_in_range(at, w->screen.top, w->screen.top + 7);
		assert_true(w->screen.top + 8 <= w->view.nr_rows);
		cells = &w->grid.cells[((int)(at - w->screen.top) + w->screen.first_row) * 80];
		assert_int_equal(cells[0].style, STYLE_SELECTED);
		assert_int_equal(cells[79].style, STYLE_SELECTED);
	}
	w->screen.cursor = row_id_of(&w->view, 30);
	shows(w, 80, 14,
	      "kvmtop  alpha  SVM  64 CPUs  0 guests 0 vCPUs                     3.0s  12:31:07\n"
	      "kvm_exit 10/s       0-2k/s 96s ▃▄▆▂▂\n"
	      "[1 Events] 2 Guests  3 vCPUs  4 Exits  5 Hot spots  6 Host  7 Who  8 Where\n"
	      " Event                   Total  %Total ▾CurAvg/s History 0-2k/s 93s\n"
	      " event_23                   34     0.3        17                              ▂▂\n"
	      " event_24                   32     0.3        16                              ▂▂\n"
	      " event_25                   30     0.3        15                              ▂▂\n"
	      " event_26                   28     0.3        14                              ▂▂\n"
	      " event_27                   26     0.2        13                              ▂▂\n"
	      " event_28                   24     0.2        12                              ▂▂\n"
	      " event_29                   22     0.2        11                              ▂▂\n"
	      " kvm_entry                3420    32.5        10                           ▃▄▆▂▂\n"
	      " Total  24-31 of 45      10532               846\n"
	      "h help  q quit  Enter open  x reasons  b guests  f filter  g guest  m heat map\n");
}

TEST(the_last_page_is_full, setup, teardown)
{
	struct world *w = *state;

	many_events(w);
	w->screen.top = SIZE_MAX / 2;
	picture(w, 80, 24);
	assert_int_equal(w->screen.top, w->view.nr_rows - w->screen.page_rows);
	picture(w, 80, 100);
	assert_int_equal(w->screen.top, 0);
}

TEST(flaw_B8_the_total_is_of_rows_out_of_sight_too, setup, teardown)
{
	struct world *w = *state;
	char all[256];

	many_events(w);
	picture(w, 80, 60);
	assert_int_equal(strncmp(line(w, 5 + (int)w->view.nr_rows), " Total ", 7), 0);
	strcpy(all, line(w, 5 + (int)w->view.nr_rows));
	picture(w, 80, 10);
	assert_string_equal(strrchr(line(w, -2), ' '), strrchr(all, ' '));
}

TEST(each_event_has_a_rest_of_its_own, setup, teardown)
{
	struct world *w = *state;
	size_t nr_selected = 0, first, second_rest;

	usual(w);
	picture(w, 80, 24);
	for (first = 0; !w->view.rows[first].is_rest; first++)
		;
	for (second_rest = first + 1; !w->view.rows[second_rest].is_rest; second_rest++)
		;
	w->screen.cursor = row_id_of(&w->view, second_rest);
	w->screen.has_cursor = true;
	assert_int_equal(screen_find_row(&w->screen, &w->screen.cursor), second_rest);
	picture(w, 80, 24);
	for (int row = 0; row < 24; row++)
		nr_selected += w->grid.cells[row * 80].style == STYLE_SELECTED;
	assert_int_equal(nr_selected, 1);
}

TEST(help_fits_or_scrolls, setup, teardown)
{
	struct world *w = *state;

	usual(w);
	w->screen.page = PAGE_HELP;
	picture(w, 80, 35);
	assert_non_null(strstr(line(w, 30), " Event      what happened; "));
	shows(w, 40, 12,
	      "kvmtop  alpha  SVM        3.0s  12:31:07\n"
	      "kvm_exit 1200/s 0-2k/s 27s ▃▄▆\n"
	      "[1 Events] 2 Guests  3  4  5  6  7  8\n"
	      " h ? F1     this help\n"
	      " q F10      quit\n"
	      " 1 - 8 Tab  views: events, guests,\n"
	      "            vCPUs, exits, hot spots,\n"
	      "            host, who, where\n"
	      " Enter      deeper: an event's reasons;\n"
	      "            guest, vCPU, exit, argument\n"
	      " Backspace  back to where Enter, b, l or\n"
	      "arrows: more  other keys: back\n");
	w->screen.page_top = 1000;
	shows(w, 40, 12,
	      "kvmtop  alpha  SVM        3.0s  12:31:07\n"
	      "kvm_exit 1200/s 0-2k/s 27s ▃▄▆\n"
	      "[1 Events] 2 Guests  3  4  5  6  7  8\n"
	      " %Total     of all events of the same\n"
	      "            provider; a reason: of its\n"
	      "            event\n"
	      " CurAvg/s   per second between the last\n"
	      "            two samples\n"
	      " History    the rate over the last\n"
	      "            samples; all rows have one\n"
	      "            scale\n"
	      "arrows: more  other keys: back\n");
	w->screen.page_top = 1;
	shows(w, 20, 5,
	      "[1 Events] 2  3  4\n"
	      "  this help\n"
	      " q F10\n"
	      "  quit\n"
	      "arrows: more  other\n");
	w->screen.page_top = 1000;
	picture(w, 80, 36);
	assert_int_equal(w->screen.page_top, 0);
}

TEST(a_prompt_shows_the_end_of_a_long_line, setup, teardown)
{
	struct world *w = *state;

	usual(w);
	w->screen.has_prompt = true;
	prompt_begin(&w->screen.prompt, "Filter (regex): ", "kvm_exit");
	picture(w, 80, 10);
	assert_string_equal(line(w, -1), "Filter (regex): kvm_exit");
	assert_int_equal(w->screen.prompt_col, 24);
	w->screen.prompt.cursor = 3;
	picture(w, 80, 10);
	assert_int_equal(w->screen.prompt_col, 19);
	prompt_begin(&w->screen.prompt, "Filter (regex): ", "0123456789abcdefghijklmnopqrstuvwxyz");
	picture(w, 40, 10);
	assert_string_equal(line(w, -1), "Filter (regex): defghijklmnopqrstuvwxyz");
	assert_int_equal(w->screen.prompt_col, 39);
	prompt_begin(&w->screen.prompt, "Filter (regex): ", "xxxxxxxxxxxxxxxxxxxxデータベース");
	picture(w, 35, 10);
	assert_string_equal(line(w, -1), "Filter (regex): xxxxxxデータベース");
	assert_int_equal(w->screen.prompt_col, 34);
	picture(w, 20, 10);
	assert_string_equal(line(w, -1), "> xxxxxデータベース");
	assert_int_equal(w->screen.prompt_col, 19);
	w->screen.has_prompt = false;
	picture(w, 80, 10);
	assert_int_equal(w->screen.prompt_col, -1);
}

TEST(what_is_wrong_is_said_in_the_last_line, setup, teardown)
{
	struct world *w = *state;

	usual(w);
	w->screen.has_prompt = true;
	prompt_begin(&w->screen.prompt, "Filter (regex): ", "(");
	strcpy(w->screen.prompt.error, "\"(\": missing closing parenthesis at 1");
	picture(w, 80, 10);
	assert_string_equal(line(w, -1), "\"(\": missing closing parenthesis at 1");
	assert_int_equal(w->grid.cells[9 * 80].style, STYLE_ALERT);
	assert_int_equal(w->screen.prompt_col, -1);
	w->screen.has_prompt = false;
	strcpy(w->screen.notice,
	       "debugfs: blocked by kernel lockdown (integrity): use tracepoints");
	picture(w, 80, 10);
	assert_string_equal(line(w, -1), w->screen.notice);
	assert_int_equal(w->grid.cells[9 * 80].style, STYLE_NOTICE);
	picture(w, 40, 10);
	assert_string_equal(line(w, -1), "debugfs: blocked by kernel lockdown (in…");
	/* A notice takes no row of the table. */
	assert_int_equal(w->screen.page_rows, 4);
	w->screen.notice[0] = '\0';
	picture(w, 40, 10);
	assert_int_equal(w->screen.page_rows, 4);
}

/* What lasts leaves the keys where they are; it is whole in the help. */
TEST(trouble_stands_above_the_keys, setup, teardown)
{
	static const char *const trouble =
		"debugfs: debugfs counters are blocked by kernel lockdown (integrity): use "
		"tracepoints, or start without -d";
	struct world *w = *state;

	usual(w);
	strcpy(w->screen.trouble, trouble);
	picture(w, 80, 24);
	assert_string_equal(line(w, -3), "debugfs: debugfs counters are blocked by kernel lockdown "
					 "(integrity): use");
	assert_string_equal(line(w, -2), "tracepoints, or start without -d");
	assert_int_equal(strncmp(line(w, -1), "h help  q quit", 14), 0);
	assert_int_equal(w->grid.cells[22 * 80].style, STYLE_NOTICE);
	/* It takes no row of the table: the page is shorter. */
	assert_int_equal(w->screen.page_rows, 15);
	picture(w, 80, 12);
	assert_string_equal(line(w, -2), "debugfs: debugfs counters are blocked by kernel lockdown "
					 "(integrity): use trace…");
	strcpy(w->screen.notice, "Sorted by total");
	picture(w, 80, 12);
	assert_string_equal(line(w, -1), "Sorted by total");
	assert_int_equal(strncmp(line(w, -2), "debugfs: ", 9), 0);
	w->screen.notice[0] = '\0';
	/* No line to spare: a sign of it. */
	picture(w, 30, 8);
	assert_string_equal(line(w, -1), "! h help  q quit  Enter open");
	w->screen.page = PAGE_HELP;
	picture(w, 80, 40);
	assert_string_equal(line(w, 3), " debugfs: debugfs counters are blocked by kernel lockdown "
					"(integrity): use");
	assert_string_equal(line(w, 4), " tracepoints, or start without -d");
	assert_string_equal(line(w, -1), "any key: back");
}

TEST(keys_are_those_of_the_view, setup, teardown)
{
	struct world *w = *state;

	usual(w);
	w->query.type = &view_exits;
	picture(w, 80, 12);
	assert_string_equal(line(w, -1), "h help  q quit  Enter open  b guests  f filter  g guest  "
					 "m heat map  l long");
	w->screen.can_go_back = true;
	picture(w, 80, 12);
	assert_string_equal(line(w, -1), "h help  q quit  Enter open  Backspace back  b guests  "
					 "f filter  g guest  l long");
	w->query.type = &view_guests;
	assert_null(strstr(picture(w, 200, 12), "l long"));
	picture(w, 50, 12);
	assert_string_equal(line(w, -1), "h help  q quit  Enter open  Backspace back  t back");
	picture(w, 200, 12);
	assert_null(strstr(line(w, -1), "b guests"));
	assert_non_null(strstr(line(w, -1), "Space hold  t back  j jump  / search"));
	w->screen.page = PAGE_HELP;
	assert_null(strstr(picture(w, 80, 40), "all reasons"));
	assert_non_null(strstr(w->text, " b  "));
	w->query.type = &view_events;
	assert_non_null(strstr(picture(w, 80, 40), "all reasons"));
}

TEST(a_moment_of_the_past_is_seen_at_every_size, setup, teardown)
{
	struct world *w = *state;

	usual(w);
	strcpy(w->screen.then, "paused at 12:31:07, 45 s ago");
	picture(w, 80, 10);
	assert_string_equal(line(w, 0) + 52, "paused at 12:31:07, 45 s ago");
	assert_string_equal(line(w, -1), "PAUSED  h help  q quit  Enter open  x reasons  "
			    "b guests  f filter  g guest");
	picture(w, 40, 10);
	assert_string_equal(line(w, 0), "kvmtop      paused at 12:31:07, 45 s ago");
	picture(w, 34, 10);
	assert_string_equal(line(w, 0), "kvmtop  alpha  SVM        12:31:07");
	picture(w, 20, 5);
	assert_string_equal(line(w, 0), "[1 Events] 2  3  4");
	assert_string_equal(line(w, -1), "PAUSED  h help");
}

TEST(filter_and_guest_share_a_line, setup, teardown)
{
	static const char tail[] = "[regularexpression]|exit|something|that_is_long";
	struct world *w = *state;

	usual(w);
	w->screen.filter = "kvm_exit";
	picture(w, 104, 10);
	assert_string_equal(line(w, 2),
			    "[1 Events] 2 Guests  3 vCPUs  4 Exits  5 Hot spots  6 Host "
			    " 7 Who  8 Where              filter: kvm_exit");
	strcpy(w->screen.guest, "web1 (pid 41233)");
	picture(w, 104, 10);
	assert_string_equal(line(w, 2),
			    "[1 Events] 2 Guests  3 vCPUs  4 Exits  5 Hot spots  6 Host "
			    " 7 Who  8 Where    kvm_exit  web1 (pid 41233)");
	picture(w, 120, 10);
	assert_string_equal(line(w, 2) + 74, "     filter: kvm_exit  guest: web1 (pid 41233)");
	w->screen.is_guest_dead = true;
	picture(w, 88, 10);
	assert_string_equal(line(w, 2),
			    "[1 Events] 2 Guests  3 vCPUs  4 Exits  5  6  7  8"
			    "     kvm_exit  web1 (pid 41233) is DEAD");
	assert_int_equal(w->grid.cells[2 * 88 + 87].style, STYLE_ALERT);
	w->screen.filter = tail;
	picture(w, 69, 10);
	assert_string_equal(line(w, 2),
			    "[1 Events] 2  3  4  5  6  7  8  [regularex…  web1 (pid 41233) "
			    "is DEAD");
	picture(w, 59, 10);
	assert_string_equal(line(w, 2),
			    "[1 Events] 2  3  4  5  6  7  8     web1 (pid 41233) is DEAD");
	picture(w, 45, 10);
	assert_string_equal(line(w, 2),
			    "[1 Events] 2  3  4  5  6  7  8  web1… is DEAD");
	w->screen.guest[0] = '\0';
	w->screen.is_guest_dead = false;
	picture(w, 45, 10);
	assert_string_equal(line(w, 2),
			    "[1 Events] 2  3  4  5  6  7  8  [regularexpr…");
	w->screen.filter = "データベースデータベース";
	picture(w, 66, 10);
	assert_string_equal(line(w, 2),
			    "[1 Events] 2 Guests  3  4  5  6  7  8     データベースデータベース");
	picture(w, 20, 10);
	assert_string_equal(line(w, 2),
			    "[1 Events] 2  3  4");
	w->screen.filter = NULL;
	picture(w, 75, 10);
	assert_string_equal(line(w, 2),
			    "[1 Events] 2 Guests  3 vCPUs  4 Exits  5 Hot spots  6 Host "
			    " 7 Who  8 Where");
	picture(w, 59, 10);
	assert_string_equal(line(w, 2),
			    "[1 Events] 2 Guests  3 vCPUs  4 Exits  5  6  7  8");
	w->query.type = &view_why; /* all names but one fit beside it */
	picture(w, 80, 10);
	assert_string_equal(line(w, 2),
			    " 1 Events  2 Guests  3 vCPUs  4 Exits  5 Hot spots  6 Host "
			    " 7 Who  8 [w Why]");
}

/* As long as names get, of a host and of a guest: the middle is left out. */
TEST(long_names_leave_room, setup, teardown)
{
	static char host[GUEST_NAME_SIZE];
	struct world *w = *state;

	usual(w);
	memset(host, 'h', sizeof(host) - 2);
	host[sizeof(host) - 2] = '1';
	memset(w->screen.guest, 'g', GUEST_NAME_SIZE - 1);
	strcpy(w->screen.guest + GUEST_NAME_SIZE - 1, " (pid 41233)");
	w->screen.host = host;
	picture(w, 80, 10);
	assert_string_equal(line(w, 0),
			    "kvmtop  hhhhhhhhhhhhhhh…hhhhhhhhhhhhhhhhhhhhhhh1  SVM  64 CPUs    "
			    "3.0s  12:31:07");
	assert_string_equal(line(w, 2),
			    "[1 Events] 2  3  4  5  6  7  8  gggggggggggggggggg…ggggggggggggggggg"
			    " (pid 41233)");
	snprintf(w->screen.crumbs, sizeof(w->screen.crumbs), "%.*s › vCPU 2 › HLT",
		 GUEST_NAME_SIZE - 1, w->screen.guest);
	picture(w, 80, 10);
	assert_non_null(strstr(line(w, 2), "g › vCPU 2 › HLT"));
}

/*
 * It has line 2 where lines are not scarce, so that no row moves when it comes or goes, else the
 * summary's line; and a click on it is its key.
 */
TEST(the_worst_finding_has_a_line, setup, teardown)
{
	static const char finding[] = "web1: vCPUs wait for a CPU (critical)";
	struct world *w = *state;
	char before[8192];

	usual(w);
	many_events(w);
	picture(w, 80, 24);
	strcpy(before, strstr(w->text, " Event "));
	strcpy(w->screen.finding, "Nothing found that makes guests slow");
	strcpy(w->screen.finding_more, "; w looks for more");
	picture(w, 80, 24);
	assert_string_equal(line(w, 1), "Nothing found that makes guests slow; w looks for more");
	assert_int_equal(w->grid.cells[80].style, STYLE_DIM);
	assert_string_equal(strstr(w->text, " Event "), before);
	picture(w, 80, 19); /* for that there is no line */
	assert_non_null(strstr(line(w, 1), "kvm_exit "));

	strcpy(w->screen.finding, finding);
	strcpy(w->screen.finding_more, ", and 2 more: press w");
	w->screen.has_finding = true;
	w->screen.finding_why = "vCPU 2: 31 % of its time";
	w->screen.finding_remedy = "Pin it.";
	picture(w, 80, 24);
	assert_string_equal(line(w, 1),
			    "web1: vCPUs wait for a CPU (critical), and 2 more: press w");
	assert_int_equal(w->grid.cells[80].style, STYLE_NOTICE);
	assert_string_equal(strstr(w->text, " Event "), before);
	assert_int_equal(w->screen.hits[0].row, 1);
	assert_int_equal(screen_keys[w->screen.hits[0].index].types, 'w');
	picture(w, 40, 20);
	assert_string_equal(line(w, 1), finding);
	picture(w, 30, 20);
	assert_string_equal(line(w, 1), "web1: vCPUs wait for a CPU (c…");
	picture(w, 80, 19);
	assert_string_equal(line(w, 1),
			    "web1: vCPUs wait for a CPU (critical), and 2 more: press w");
	assert_non_null(strstr(line(w, 2), "[1 Events]"));
	w->screen.page = PAGE_HELP;
	picture(w, 80, 24);
	assert_null(strstr(w->text, "web1"));
}

/* Its words are below it where the table leaves room, or where they take little of the screen. */
TEST(a_finding_has_its_words, setup, teardown)
{
	struct world *w = *state;

	usual(w);
	strcpy(w->screen.finding, "web1: vCPUs wait for a CPU (critical)");
	w->screen.has_finding = true;
	w->screen.finding_why = "vCPU 2: 31 % of its time";
	w->screen.finding_remedy = "Move vCPUs to CPUs that are idle, pin vCPUs that need much "
				   "apart, or run fewer vCPUs on this host.";
	picture(w, 80, 24);
	assert_string_equal(line(w, 2), " Why: vCPU 2: 31 % of its time");
	assert_string_equal(line(w, 3), " Do: Move vCPUs to CPUs that are idle, pin vCPUs that "
					"need much apart, or run");
	assert_string_equal(line(w, 4), " fewer vCPUs on this host.");
	assert_non_null(strstr(line(w, 5), "kvm_exit "));
	many_events(w);
	picture(w, 80, 24);
	assert_non_null(strstr(line(w, 2), "kvm_exit "));
	picture(w, 80, 40);
	assert_non_null(strstr(line(w, 5), "kvm_exit "));
}

TEST(ascii_where_utf8_is_not, setup, teardown)
{
	struct world *w = *state;

	usual(w);
	w->screen.is_utf8 = false;
	shows(w, 80, 12,
	      "kvmtop  alpha  SVM  64 CPUs  0 guests 0 vCPUs                     3.0s  12:31:07\n"
	      "kvm_exit 1200/s     0-2k/s 96s .-=\n"
	      "[1 Events] 2 Guests  3 vCPUs  4 Exits  5 Hot spots  6 Host  7 Who  8 Where\n"
	      " Event                   Total  %Total *CurAvg/s History 0-2k/s 93s\n"
	      " kvm_entry                3400    38.5      1200                             .-=\n"
	      "-kvm_exit                 3400    38.5      1200                             .-=\n"
	      "  |-MSR_WRITE             1700    50.0       600                             ..-\n"
	      "  |-HLT                   1020    30.0       360                             ...\n"
	      "  `-other                  680    20.0       240\n"
	      "-kvm_userspace_exit       1360    15.4       480                             ...\n"
	      " Total  1-6 of 10         8840              3120\n"
	      "h help  q quit  Enter open  x reasons  b guests  f filter  g guest  m heat map\n");
	for (int i = 0; i < 12 * 80; i++)
		assert_int_in_range(w->grid.cells[i].ch, 32, 126);
}

TEST(every_hit_is_where_its_text_is, setup, teardown)
{
	static const char *const wanted[] = { "[1 Events]", " 2 Guests ", " 3 vCPUs ", " 4 Exits ",
					      " 5 Hot spots ", " 6 Host ", " 7 Who ", " 8 Where ",
					      "Event", "     Total", " %Total", "▾CurAvg/s",
					      "History " };
	struct world *w = *state;

	usual(w);
	picture(w, 80, 24);
	assert_int_equal(w->screen.nr_hits, 21);
	for (size_t i = 0; i < 13; i++) {
		const struct hit *hit = &w->screen.hits[i];
		char text[256] = "";
		size_t len = 0;

		for (int col = hit->first_col; col <= hit->last_col; col++)
			len += (size_t)wctomb(text + len, w->grid.cells[hit->row * 80 + col].ch);
		text[len] = '\0';
		assert_int_equal(hit->kind, i < 8 ? HIT_TAB : HIT_COLUMN);
		assert_int_equal(hit->row, i < 8 ? 3 : 4);
		assert_int_equal(strncmp(text, wanted[i], strlen(wanted[i])), 0);
	}
	assert_int_equal(w->screen.hits[1].index, 1);
	assert_int_equal(w->screen.hits[11].index, view_column_by_id(&view_events, "rate"));
	for (size_t i = 13; i < w->screen.nr_hits; i++) {
		const struct hit *hit = &w->screen.hits[i];
		const char *brief = screen_keys[hit->index].brief;

		assert_int_equal(hit->kind, HIT_KEY);
		assert_int_equal(hit->row, 23);
		assert_int_equal(hit->last_col - hit->first_col + 1, strlen(brief));
		assert_ptr_equal(strstr(line(w, -1), brief), line(w, -1) + hit->first_col);
		assert_int_not_equal(screen_keys[hit->index].types, 0);
	}
	/* Nothing but the tabs can be clicked where there is no table. */
	w->screen.page = PAGE_HELP;
	picture(w, 80, 24);
	assert_int_equal(w->screen.nr_hits, 8);
	picture(w, 1, 1);
	assert_int_equal(w->screen.nr_hits, 0);
}

/* ---- timed exits */

static const uint64_t made_hist[HIST_BUCKETS] = { [3] = 1, [4] = 60, [5] = 30, [13] = 9 };
static const double made_split[SPLIT_PARTS] = { 0.4375, 0.125,	0.0625, 0.0625,
						0.125,	0.125, 0.0625 };

/* A view made by hand: its rows are what they are, whatever the facts. */
static const char *made_picture(struct world *w, int cols, int rows)
{
	grid_resize(&w->grid, rows, cols);
	screen_paint(&w->screen, &w->grid);
	return grid_text(w);
}

static void make_exits(struct world *w)
{
	struct view_row *row;

	w->query.type = w->view.type = &view_exits;
	w->query.sort = view_default_sort(&view_exits);
	w->view.absent = UINT64_C(1) << view_column_by_id(&view_exits, "open_ns");
	for (int i = 0; i < 2; i++) {
		row = view_add(&w->view);
		assert_non_null(row);
		row->field = i ? EXIT_HLT : EXIT_MSR;
		row->is_idle = i;
		row->cells[0] = cell_text(i ? "HLT" : "MSR_WRITE");
		row->cells[view_column_by_id(&view_exits, "time_percent")] =
			cell_percent(i ? 4 : 31, 1000);
		row->cells[view_column_by_id(&view_exits, "avg_ns")] = cell_ns(1200);
		row->cells[view_column_by_id(&view_exits, "hist")] = cell_hist(made_hist);
	}
	w->view.total.cells[0] = cell_text("Total");
}

/* KVM's own histograms end earlier: whatever took 2^30 ns or more is in the last bucket. */
TEST(a_histogram_of_kvm_is_open_at_its_end, setup, teardown)
{
	static const uint64_t hist[HIST_BUCKETS] = { [22] = 1, [24] = 3 };
	struct world *w = *state;

	make_exits(w);
	w->view.rows[0].cells[view_column_by_id(&view_exits, "hist")] = cell_hist(hist);
	made_picture(w, 80, 24);
	assert_int_equal(strncmp(line(w, 10), "   268ms -   537ms ", 19), 0);
	assert_int_equal(strncmp(line(w, 12), "   1.07s -   2.15s ", 19), 0);
	w->view.rows[0].cells[view_column_by_id(&view_exits, "hist")].end = HIST_BUCKETS - 1;
	made_picture(w, 80, 24);
	assert_int_equal(strncmp(line(w, 10), "   268ms -   537ms ", 19), 0);
	assert_int_equal(strncmp(line(w, 12), "   1.07s -    more ", 19), 0);
}

/* Of a long exit, the time to the microsecond and the whole address; a name may be cut. */
TEST(long_exits_on_a_narrow_screen, setup, teardown)
{
	struct world *w = *state;
	struct view_row *row;

	w->query.type = w->view.type = &view_long_exits;
	w->query.sort = view_default_sort(&view_long_exits);
	row = view_add(&w->view);
	assert_non_null(row);
	row->cells[0] = cell_text("23:59:58.123456");
	row->cells[view_column_by_id(&view_long_exits, "took_ns")] = cell_ns(1200000);
	row->cells[view_column_by_id(&view_long_exits, "reason")] =
		cell_text("EPT_MISCONFIG_OR_SUCH");
	row->cells[view_column_by_id(&view_long_exits, "argument")] =
		cell_text("0x380000001000 write 4");
	row->cells[view_column_by_id(&view_long_exits, "guest")] =
		cell_text("a-guest-with-a-name-that-is-long");
	made_picture(w, 80, 24);
	assert_non_null(strstr(line(w, 5), " 23:59:58.123456 "));
	assert_non_null(strstr(line(w, 5), " 0x380000001000 write 4 "));
}

TEST(exits_in_ascii, setup, teardown)
{
	struct world *w = *state;

	make_exits(w);
	w->screen.is_utf8 = false;
	setlocale(LC_ALL, "C");
	made_picture(w, 120, 24);
	setlocale(LC_ALL, "C.UTF-8");
	for (int i = 0; i < 24 * 120; i++)
		assert_int_in_range(w->grid.cells[i].ch, 32, 126);
}

/* Of its own sign and style, so that it needs no colours; the legend is in line 2. */
TEST(each_part_of_the_split_differs, setup, teardown)
{
	static const enum style styles[] = { STYLE_GUEST, STYLE_KVM, STYLE_USER, STYLE_POLL,
					     STYLE_BLOCK, STYLE_WAIT, STYLE_IDLE };
	static const int widths[] = { 7, 2, 1, 1, 2, 2, 1 };
	struct world *w = *state;
	struct view_row *row;
	const struct grid_cell *cells;

	w->query.type = w->view.type = &view_guests;
	w->query.sort = view_default_sort(&view_guests);
	row = view_add(&w->view);
	assert_non_null(row);
	row->cells[0] = cell_text("db1");
	row->cells[view_column_by_id(&view_guests, "split")] =
		(struct cell){ .type = CELL_SPLIT, .split = made_split };
	drop_rare(w);
	made_picture(w, 170, 14);
	cells = &w->grid.cells[4 * 170];
	for (int part = 0; part < SPLIT_PARTS; part++) {
		const char *sign = split_sign(part, true);
		wchar_t ch = 0;
		int first = 0, nr = 0;

		mbtowc(&ch, sign, strlen(sign));
		for (int col = 169; col >= 0; col--) {
			nr += cells[col].ch == ch;
			first = cells[col].ch == ch ? col : first;
		}
		assert_int_equal(nr, widths[part]);
		assert_int_equal(cells[first].style, styles[part]);
	}
	w->screen.has_cursor = true;
	w->screen.cursor = row_id_of(&w->view, 0);
	made_picture(w, 150, 14);
	cells = &w->grid.cells[4 * 150];
	for (int col = 0; col < 150; col++)
		assert_int_equal(cells[col].style, STYLE_SELECTED);
}

static enum style style_at(const struct world *w, int row, const char *text)
{
	char line_text[1024];
	const char *at;

	grid_row_text(&w->grid, row, line_text, sizeof(line_text));
	at = strstr(line_text, text);
	assert_non_null(at);
	return w->grid.cells[row * w->grid.cols + (at - line_text)].style;
}

TEST(high_shares_of_time_stand_out, setup, teardown)
{
	static const char *const ids[] = { "guest_percent", "kvm_percent", "user_percent",
					   "wait_percent" };
	struct world *w = *state;
	struct view_row *row;

	w->query.type = w->view.type = &view_vcpus;
	w->view.absent = UINT64_C(1) << view_column_by_id(&view_vcpus, "thread");
	w->query.sort = view_default_sort(&view_vcpus);
	drop_rare(w);
	for (int i = 0; i < 2; i++) {
		row = view_add(&w->view);
		assert_non_null(row);
		row->guest = (uint32_t)i + 1;
		row->cells[0] = cell_text("db1");
		for (size_t id = 0; id < 4; id++)
			row->cells[view_column_by_id(&view_vcpus, ids[id])] =
				cell_percent((i ? 200 : 75) + id, 1000);
	}
	made_picture(w, 80, 14);
	assert_int_equal(style_at(w, 4, "7.5"), STYLE_PLAIN);
	assert_int_equal(style_at(w, 4, "7.6"), STYLE_PLAIN);
	assert_int_equal(style_at(w, 4, "7.8"), STYLE_PLAIN);
	assert_int_equal(style_at(w, 5, "20.0"), STYLE_PLAIN);
	assert_int_equal(style_at(w, 5, "20.1"), STYLE_WARN);
	assert_int_equal(style_at(w, 5, "20.2"), STYLE_PLAIN);
	assert_int_equal(style_at(w, 5, "20.3"), STYLE_WARN);
	w->screen.has_cursor = true;
	w->screen.cursor = row_id_of(&w->view, 1);
	made_picture(w, 80, 14);
	assert_int_equal(style_at(w, 5, "20.3"), STYLE_SELECTED);
	w->screen.page = PAGE_HELP;
	made_picture(w, 100, 60);
	assert_non_null(strstr(w->text, "KVM worked, on a CPU: for exits, halts too; "
					"highlighted from 20 on\n"));
}

/* A history has one scale from 0 on, in its heading, with the time that it covers. */
TEST(histories_have_a_scale, setup, teardown)
{
	static const struct {
		double rate, end;
	} ends[] = { { 0, 1 }, { 1, 1 }, { 1.5, 2 }, { 3, 5 }, { 5, 5 }, { 5.5, 10 },
		     { 1200, 2000 }, { 200001, 500000 }, { 4e6, 5e6 }, { 1e12, 1e12 } };
	struct world *w = *state;
	float intervals_s[SCREEN_HISTORY] = { 0 };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		assert_true(fabs(scale_end(ends[i].rate) - ends[i].end) < ends[i].end / 1e9);
	usual(w);
	picture(w, 80, 24);
	assert_non_null(strstr(line(w, 2), " 0-2k/s 96s ▃▄▆"));
	assert_non_null(strstr(line(w, 4), " History 0-2k/s 93s"));
	/* A steady load is a line, and its height is the load. */
	for (int i = 0; i < 40; i++)
		second(w, 20);
	picture(w, 80, 24);
	assert_non_null(strstr(line(w, 4), " History 0-200/s 93s"));
	assert_non_null(strstr(line(w, 5), " ███████████████████████████████"));
	assert_non_null(strstr(line(w, 7), " ▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅"));
	/* Only 0 has the lowest bar. */
	w->counts[PIO]++;
	second(w, 0);
	picture(w, 80, 24);
	assert_non_null(strstr(line(w, 5), "kvm_pio"));
	assert_non_null(strstr(line(w, 5), "▃▃▃▃▂"));
	assert_non_null(strstr(line(w, 6), " ██████████████████████████████▁"));
	/* The interval was 60 s until four samples ago. */
	for (int i = 0; i < SCREEN_HISTORY; i++)
		intervals_s[i] = i < SCREEN_HISTORY - 4 ? 60 : 3;
	w->screen.intervals_s = intervals_s;
	picture(w, 80, 24);
	assert_non_null(strstr(line(w, 4), " History 0-200/s 27min"));
	/* A recording is a single interval: the summary has no history either. */
	w->screen.recording = &(const struct source_recording){ .files = "kvm.dat" };
	w->facts.is_span = true;
	picture(w, 80, 24);
	assert_null(strstr(line(w, 4), "History"));
	assert_null(strstr(line(w, 2), "/s 27min"));
}

/* In the summary of the view of the host; without room it is dropped as a whole. */
TEST(what_kvmtop_costs, setup, teardown)
{
	struct world *w = *state;

	usual(w);
	w->view.cost = (struct own_cost){ .exit_ns = 412, .has_share = true, .share = 0.0081 };
	picture(w, 80, 24);
	assert_null(strstr(line(w, 2), "kvmtop costs")); /* of this view nothing is known */
	w->query.type = w->view.type = &view_host;
	made_picture(w, 80, 24);
	w->view.cost = (struct own_cost){ .exit_ns = 412, .has_share = true, .share = 0.0081 };
	made_picture(w, 80, 24);
	assert_non_null(strstr(line(w, 2), "   kvmtop costs 412 ns an exit, 0.8%"));
	w->view.cost.has_share = false;
	made_picture(w, 80, 24);
	assert_non_null(strstr(line(w, 2), "   kvmtop costs 412 ns an exit"));
	assert_null(strstr(line(w, 2), "exit,"));
	made_picture(w, 30, 24);
	assert_null(strstr(line(w, 2), "kvmtop"));
}

TEST(a_host_that_is_quiet_again, setup, teardown)
{
	struct world *w = *state;

	usual(w);
	for (int i = 0; i < 40; i++)
		second(w, 0);
	picture(w, 80, 24);
	assert_non_null(strstr(line(w, 4), " History"));
	assert_null(strstr(line(w, 4), "History 0-"));
	assert_non_null(strstr(line(w, 5), " ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁"));
}

TEST(crumbs_and_a_note, setup, teardown)
{
	struct world *w = *state;

	make_exits(w);
	strcpy(w->screen.crumbs, "db1 › vCPU 2");
	w->screen.filter = "MSR";
	made_picture(w, 104, 12);
	assert_string_equal(line(w, 2), " 1 Events  2 Guests  3 vCPUs [4 Exits] 5 Hot spots "
					" 6 Host  7 Who  8 Where             MSR  db1 › vCPU 2");
	w->screen.is_guest_dead = true;
	made_picture(w, 49, 12);
	assert_string_equal(line(w, 2), " 1  2  3 [4 Exits] 5  6  7  8  db1 › …PU 2 (DEAD)");
	w->view.note = "These are exits to user space, and nothing else, for there is "
		       "nothing else.";
	made_picture(w, 60, 14);
	assert_int_equal(strncmp(line(w, 6), " Total ", 7), 0);
	assert_string_equal(line(w, 7), "");
	assert_string_equal(line(w, 8),
			    " These are exits to user space, and nothing else, for there");
	assert_string_equal(line(w, 9), " is nothing else.");
}

TEST(an_empty_table_says_why, setup, teardown)
{
	struct world *w = *state;

	w->screen.empty = "Waiting for KVM";
	w->screen.nr_cpus = 0;
	shows(w, 80, 12,
	      "kvmtop  alpha  SVM  0 guests 0 vCPUs                              3.0s  12:31:07\n"
	      "no exits counted yet\n"
	      "[1 Events] 2 Guests  3 vCPUs  4 Exits  5 Hot spots  6 Host  7 Who  8 Where\n"
	      " Event                   Total  %Total ▾CurAvg/s History\n"
	      "\n"
	      " Waiting for KVM\n"
	      "(5 blank)\n"
	      "h help  q quit  Enter open  x reasons  b guests  f filter  g guest  m heat map\n");
	picture(w, 20, 3);
	assert_string_equal(line(w, 1), " Waiting for KVM");
	picture(w, 20, 5);
	assert_string_equal(line(w, 3), " Waiting for KVM");
	/* Without room for all words the blank line goes. */
	w->screen.empty = "No matching events reported yet";
	picture(w, 20, 5);
	assert_string_equal(line(w, 2), " No matching events");
	assert_string_equal(line(w, 3), " reported yet");
}

TEST(one_event_needs_no_total, setup, teardown)
{
	struct world *w = *state;

	w->counts[PIO] = 5;
	take(w, GUEST_NONE);
	tick(w);
	picture(w, 80, 12);
	assert_string_equal(line(w, 4), " kvm_pio                    5   100.0         -");
	assert_string_equal(line(w, -2), "");
}

TEST(the_same_state_is_the_same_picture, setup, teardown)
{
	struct world *w = *state;
	static char before[sizeof(w->text)];

	many_events(w);
	w->screen.has_cursor = true;
	picture(w, 80, 24);
	w->screen.cursor = row_id_of(&w->view, w->view.nr_rows - 1);
	strcpy(before, picture(w, 80, 24));
	screen_paint(&w->screen, &w->grid);
	assert_string_equal(grid_text(w), before);
}

/* What is lost stays in sight when the files' names are long and the screen is small. */
TEST(a_recording_says_what_it_is, setup, teardown)
{
	static const struct source_recording recording = {
		.files = "a-name-that-is-longer-than-any-title.dat and 3 more",
		.span_ns = 12345678901,
		.nr_events = 1234567,
		.nr_lost = 42,
		.is_more_lost = true,
	};
	struct world *w = *state;

	w->screen.recording = &recording;
	w->facts.is_span = true;
	w->counts[PIO] = 5;
	take(w, GUEST_NONE);
	tick(w);
	picture(w, 160, 12);
	assert_string_equal(line(w, 0),
			    "kvmtop  a-name-that-is-longer-than-any-title.dat and 3 more  more "
			    "than 42 lost  12.3s  1,234,567 events  0 guests 0 vCPUs"
			    "                       entire recording");
	picture(w, 80, 12);
	assert_string_equal(line(w, 0), "kvmtop  a-name-that-is-longer-tha…  more than 42 lost  "
					"12.3s    entire recording");
	assert_null(strstr(line(w, 3), "History"));
	assert_null(strstr(line(w, -1), "delay"));
	assert_null(strstr(line(w, -1), "reset"));
	picture(w, 40, 12);
	assert_string_equal(line(w, 0), "kvmtop  a-name-that-…  more than 42 lost");
	w->screen.page = PAGE_HELP;
	assert_non_null(strstr(picture(w, 80, 40), "first to its last moment"));
}
