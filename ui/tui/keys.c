// SPDX-License-Identifier: GPL-2.0-or-later
/* Keys and the mouse: they change the query and the screen's state; the event loop paints. */
#include <curses.h>
#include <wchar.h>

#include "core/guests/guests.h"
#include "ui/tui/session.h"

#define CTRL(c) ((c) & 0x1f)
#define PAGE_END 1000000 /* more lines than a page has */

/* ---- order ---- */

static void toggle_children(struct tui *tui)
{
	bool is_default = tui->query->sort == query_default_sort(tui->query);

	if (!tui->query->type->has_trees) {
		tui_say(tui, "x opens the reasons of events, all of Who and the calls of code: "
			     "1, 7 and 8 show them");
		return;
	}
	tui->query->children = !tui->query->children;
	if (is_default)
		tui_sort(tui, query_default_sort(tui->query), tui->query->reverse);
	field_set_clear(&tui->query->open);
	tui_ask(tui);
}

static void toggle_guest_code(struct tui *tui)
{
	bool *has_it = &tui->query->has_guest_code;

	if (!tui->query->type->has_calls) {
		tui_say(tui, "G shows the guests' functions in the view of code: press 8");
		return;
	}
	*has_it = !*has_it;
	tui_say(tui, *has_it ? "With the guests' functions, and how many exits each makes" :
			       "Without the guests' functions");
	tui_ask(tui);
}

static bool can_sort(const struct tui *tui, size_t index)
{
	const struct column *column = &tui->query->type->columns[index];

	return !column->is_for_machines && !column_is_sentence(column) &&
	       !cell_is_picture(column_type(column)) && view_has_column(&tui->view, index);
}

static void move_sort(struct tui *tui, int by)
{
	size_t nr = view_columns(tui->query->type);
	size_t sort = tui->view.sort;

	do {
		sort = (sort + nr + (size_t)by) % nr;
	} while (!can_sort(tui, sort));
	tui_sort(tui, sort, tui->query->reverse);
}

/* kvm_stat's o: rates or totals. */
static void toggle_order(struct tui *tui)
{
	int total = view_column(tui->query->type, COL_TOTAL);
	int rate = view_column(tui->query->type, COL_RATE);

	if (total < 0 || rate < 0) {
		tui_say(tui, "The rows of this view have no rate; < and > sort by a column");
		return;
	}
	tui_sort(tui, (size_t)(tui->view.sort == (size_t)rate ? total : rate), false);
	tui_say(tui, tui->query->sort == (size_t)rate ? "Sorted by rate" : "Sorted by total");
}

/* ---- keys ---- */

static void say_unknown(struct tui *tui)
{
	tui_say(tui, "This key does nothing here; h lists the keys");
}

static void open_help(struct tui *tui)
{
	tui->screen.page = PAGE_HELP;
	tui->screen.page_top = 0;
}

static void press_special(struct tui *tui, wint_t key)
{
	long page = tui->screen.page_rows > 1 ? (long)tui->screen.page_rows - 1 : 1;

	switch (key) {
	case KEY_UP:
		tui_move_cursor(tui, -1);
		break;
	case KEY_DOWN:
		tui_move_cursor(tui, 1);
		break;
	case KEY_PPAGE:
		tui_move_cursor(tui, -page);
		break;
	case KEY_NPAGE:
		tui_move_cursor(tui, page);
		break;
	case KEY_LEFT:
		tui_step_time(tui, true);
		break;
	case KEY_RIGHT:
		tui_step_time(tui, false);
		break;
	case KEY_HOME:
		if (tui->screen.shows_heat)
			tui_go_to_first(tui);
		else
			tui_put_cursor(tui, 0);
		break;
	case KEY_END:
		if (tui->back.monitor)
			tui_return_to_now(tui);
		else
			tui_put_cursor(tui, tui->view.nr_rows);
		break;
	case KEY_ENTER:
		tui_enter_row(tui);
		break;
	case KEY_BACKSPACE:
		tui_go_back(tui);
		break;
	case KEY_BTAB:
		tui_step_view(tui, -1);
		break;
	case KEY_F(1):
		open_help(tui);
		break;
	case KEY_F(10):
		tui->quit = true;
		break;
	default:
		say_unknown(tui);
	}
}

/* On the help and the comparison, which scroll and have no cursor. */
static void press_page(struct tui *tui, const struct terminal_event *event)
{
	size_t page = tui->screen.page_rows, *top = &tui->screen.page_top;
	int key = event->is_key ? (int)event->code : 0;

	/* The painter corrects a position after the end. */
	if (key == KEY_DOWN || (key == KEY_MOUSE && event->wheel > 0))
		++*top;
	else if (key == KEY_UP || (key == KEY_MOUSE && event->wheel < 0))
		*top -= *top > 0;
	else if (key == KEY_NPAGE || (!event->is_key && event->code == ' '))
		*top += page;
	else if (key == KEY_PPAGE)
		*top -= *top < page ? *top : page;
	else if (key == KEY_HOME)
		*top = 0;
	else if (key == KEY_END)
		*top = PAGE_END;
	else
		tui->screen.page = PAGE_TABLE;
}

/* Keys that need a live machine. Returns whether the key is one of them. */
static bool press_live(struct tui *tui, wint_t ch)
{
	if (!wcschr(L"rsG", (wchar_t)ch) || !ch)
		return false;
	if (!source_has_now(tui->source->kind)) {
		tui_say(tui, source_lacks(tui->source->kind, NEED_NOW));
		return true;
	}
	switch (ch) {
	case 'r':
		monitor_reset(tui->source->monitor);
		tui_say(tui, "Totals count from now on");
		break;
	case 's':
		tui_prompt_delay(tui);
		break;
	default:
		toggle_guest_code(tui);
	}
	return true;
}

/* Keys that choose a moment. Returns whether the key is one of them. */
static bool press_time(struct tui *tui, wint_t ch)
{
	switch (ch) {
	case 't':
	case 'T':
		tui_step_time(tui, ch == 't');
		return true;
	case 'j':
		tui_prompt_time(tui);
		return true;
	case ' ':
		tui_toggle_hold(tui);
		return true;
	case 'm':
		tui_toggle_heat(tui);
		return true;
	case 'd':
		tui_mark(tui);
		return true;
	default:
		return false;
	}
}

static void press_query(struct tui *tui, wint_t ch)
{
	switch (ch) {
	case 'b':
		tui_show_guests(tui);
		break;
	case 'c':
		tui_set_guest(tui, GUEST_ALL);
		tui_set_filter(tui, NULL);
		break;
	case 'f':
		tui_prompt_filter(tui);
		break;
	case 'g':
		tui_prompt_guest(tui);
		break;
	case 'o':
		toggle_order(tui);
		break;
	case '<':
		move_sort(tui, -1);
		break;
	case '>':
		move_sort(tui, 1);
		break;
	case 'R':
		tui_sort(tui, tui->view.sort, !tui->query->reverse);
		break;
	case 'x':
		toggle_children(tui);
		break;
	case 'l':
		tui_show_long(tui);
		break;
	default:
		if (ch == (wint_t)view_where.key)
			tui_show_code(tui);
		else if (ch && view_type_by_key(ch))
			tui_show_view(tui, view_type_by_key(ch));
		else
			say_unknown(tui);
	}
}

static void press_char(struct tui *tui, wint_t ch)
{
	switch (ch) {
	case 'q':
		tui->quit = true;
		break;
	case 'h':
	case '?':
		open_help(tui);
		break;
	case 'W':
		tui_keep_preferences(tui);
		break;
	case '/':
		tui_prompt_search(tui);
		break;
	case 'n':
		tui_find_next(tui);
		break;
	case '\t':
		tui_step_view(tui, 1);
		break;
	case '\r':
	case '\n':
		tui_enter_row(tui);
		break;
	case 127:
	case CTRL('h'):
		tui_go_back(tui);
		break;
	case 27:
		if (tui->screen.shows_heat)
			tui_toggle_heat(tui);
		else
			tui->screen.has_cursor = false;
		break;
	case CTRL('l'):
		terminal_redraw(tui->terminal);
		break;
	default:
		if (!press_live(tui, ch) && !press_time(tui, ch))
			press_query(tui, ch);
	}
}

static void click_hit(struct tui *tui, const struct hit *hit)
{
	switch (hit->kind) {
	case HIT_TAB:
		tui_show_view(tui, view_type_at(hit->index));
		break;
	case HIT_KEY:
		press_char(tui, (wint_t)screen_keys[hit->index].types);
		break;
	case HIT_COLUMN:
		if (tui->view.sort == hit->index)
			tui_sort(tui, hit->index, !tui->query->reverse);
		else if (can_sort(tui, hit->index))
			tui_sort(tui, hit->index, tui->query->reverse);
		break;
	}
}

static void click(struct tui *tui, const struct terminal_event *event)
{
	const struct screen *screen = &tui->screen;
	long row = event->row - screen->first_row;

	if (event->wheel) {
		tui_move_cursor(tui, 3L * event->wheel);
		return;
	}
	for (size_t i = 0; i < screen->nr_hits; i++) {
		const struct hit *hit = &screen->hits[i];

		if (event->row == hit->row && event->col >= hit->first_col &&
		    event->col <= hit->last_col) {
			click_hit(tui, hit);
			return;
		}
	}
	if (row < 0 || (size_t)row >= screen->page_rows ||
	    screen->top + (size_t)row >= tui->view.nr_rows)
		return;
	/* A sample may have moved the rows since the first click: that selected the row. */
	if (event->is_double)
		tui_enter_row(tui);
	else
		tui_put_cursor(tui, screen->top + (size_t)row);
}

void tui_press(struct tui *tui, const struct terminal_event *event)
{
	if (tui->screen.has_prompt) {
		tui_type_prompt(tui, event);
	} else if (tui->screen.page == PAGE_HELP || tui->screen.page == PAGE_COMPARISON) {
		press_page(tui, event);
	} else if (!event->is_key) {
		press_char(tui, event->code);
	} else if (event->code == KEY_MOUSE) {
		click(tui, event);
	} else {
		press_special(tui, event->code);
	}
}
