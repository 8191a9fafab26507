// SPDX-License-Identifier: GPL-2.0-or-later
/* What keys and the mouse do: they change the query and the screen's state, and the loop paints. */
#include <curses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "guest.h"
#include "options.h"
#include "ui/tui_private.h"
#include "view_timed.h"

#define CTRL(c) ((c) & 0x1f)
#define HELP_END 1000 /* farther down than there are lines */

/* ---- the cursor ---- */

static void put_cursor(struct tui *tui, size_t at)
{
	if (!tui->view.nr_rows)
		return;
	at = at < tui->view.nr_rows ? at : tui->view.nr_rows - 1;
	tui->screen.cursor = row_id_of(&tui->view.rows[at]);
	tui->screen.has_cursor = true;
}

/* Where the cursor is; the first visible row while there is none. */
static size_t cursor_at(const struct tui *tui)
{
	size_t at = tui->screen.has_cursor ? screen_find_row(&tui->screen, &tui->screen.cursor) :
					     tui->view.nr_rows;

	return at < tui->view.nr_rows ? at : tui->screen.top;
}

static void move_cursor(struct tui *tui, long by)
{
	long at = (long)cursor_at(tui) + by;

	/* The first arrow shows the cursor where it is; the next one moves it. */
	if (!tui->screen.has_cursor && (by == 1 || by == -1))
		at -= by;
	put_cursor(tui, at < 0 ? 0 : (size_t)at);
}

/* ---- what keys do ---- */

static void begin_view(struct tui *tui, const struct view_type *type)
{
	tui->query->type = type;
	tui->query->sort = type->sort;
	tui->query->reverse = false;
	tui->screen.has_cursor = false;
	tui->screen.top = 0;
	tui_ask(tui);
}

static bool is_below_vcpus(const struct view_type *type)
{
	return type == &view_exits || type == &view_hotspots;
}

/*
 * Another tab: of the same guest, and of the same vCPU where that means anything. The guests to
 * choose from are all that there were before one was chosen.
 */
static void show_view(struct tui *tui, const struct view_type *type)
{
	struct query *query = tui->query;

	if (!type || (type == query->type && !query->has_reason))
		return;
	if (type == &view_guests && tui->has_entered_guest) {
		query->guest = tui->guest_before;
		tui->has_entered_guest = false;
	}
	tui->nr_ways = 0;
	query->has_vcpu &= is_below_vcpus(type);
	query->has_reason = false;
	begin_view(tui, type);
}

/* by: 1 to the next, -1 to the one before. */
static void step_view(struct tui *tui, int by)
{
	size_t i = 0, nr;

	while (view_type_at(i) != tui->query->type)
		i++;
	for (nr = i + 1; view_type_at(nr);)
		nr++;
	show_view(tui, view_type_at((i + nr + (size_t)by) % nr));
}

void tui_set_guest(struct tui *tui, uint32_t guest)
{
	struct query *query = tui->query;

	if (guest == query->guest && !query->has_vcpu && !query->has_reason)
		return;
	query->guest = guest;
	query->has_vcpu = query->has_reason = false;
	tui->has_entered_guest = false;
	tui->nr_ways = 0;
	tui->screen.has_cursor = false;
	tui_ask(tui);
}

static void set_filter(struct tui *tui, struct pattern *filter)
{
	struct pattern *old = tui->filter;

	tui->filter = filter;
	tui->query->filter = filter;
	tui_ask(tui);
	pattern_free(old);
}

static void toggle_row(struct tui *tui, const struct view_row *row)
{
	struct field_set *open = &tui->query->open;
	const struct fields *fields = monitor_facts(tui->config.monitor)->fields;

	if (!row->can_open)
		return;
	/* Closing one of all: the others stay open. */
	if (tui->query->children) {
		for (uint32_t i = 0; i < fields_count(fields); i++) {
			if (fields_get(fields, i)->has_children)
				field_set_add(open, i);
		}
		tui->query->children = false;
	}
	if (field_set_has(open, row->field))
		field_set_del(open, row->field);
	else
		field_set_add(open, row->field);
	tui_ask(tui);
}

/* Remembers where we are, for Backspace. */
static void remember_way(struct tui *tui)
{
	const struct query *query = tui->query;

	if (tui->nr_ways == WAYS_MAX)
		return;
	tui->ways[tui->nr_ways++] = (struct way){
		.type = query->type,
		.guest = query->guest,
		.has_vcpu = query->has_vcpu,
		.vcpu = query->vcpu,
		.has_reason = query->has_reason,
		.reason = query->reason,
		.has_cursor = tui->screen.has_cursor,
		.cursor = tui->screen.cursor,
		.sort = query->sort,
		.reverse = query->reverse,
	};
}

/* A guest's vCPUs; its events where nobody counts by vCPU. */
static void enter_guest(struct tui *tui, uint32_t guest)
{
	bool has_exits = fields_have_exits(monitor_facts(tui->config.monitor)->fields);

	remember_way(tui);
	tui->has_entered_guest = true;
	tui->guest_before = tui->query->guest;
	tui->query->guest = guest;
	begin_view(tui, has_exits ? &view_vcpus : &view_events);
}

static void enter_vcpu(struct tui *tui, const struct view_row *row)
{
	remember_way(tui);
	tui->query->guest = row->guest;
	tui->query->has_vcpu = true;
	tui->query->vcpu = row->vcpu;
	begin_view(tui, &view_exits);
}

static void enter_exit(struct tui *tui, uint32_t reason)
{
	remember_way(tui);
	tui->query->has_reason = true;
	tui->query->reason = reason;
	begin_view(tui, &view_hotspots);
}

/* Deeper: an event's reasons, a guest's vCPUs, their exits, what those were about. */
static void enter_row(struct tui *tui)
{
	const struct view_type *type = tui->query->type;
	const struct view_row *row;

	if (!tui->view.nr_rows)
		return;
	if (!tui->screen.has_cursor)
		put_cursor(tui, tui->screen.top);
	row = &tui->view.rows[cursor_at(tui)];
	if (type == &view_guests && !row->is_gone)
		enter_guest(tui, row->guest);
	else if (type == &view_vcpus && !row->is_gone)
		enter_vcpu(tui, row);
	else if (type == &view_exits)
		enter_exit(tui, row->field);
	else if (type == &view_events && row->field != FIELD_NONE)
		toggle_row(tui, row);
}

static void go_back(struct tui *tui)
{
	struct query *query = tui->query;
	const struct way *way;

	if (!tui->nr_ways) { /* come here by a tab */
		query->has_reason = query->has_vcpu = false;
		return;
	}
	way = &tui->ways[--tui->nr_ways];
	query->guest = way->guest;
	query->has_vcpu = way->has_vcpu;
	query->vcpu = way->vcpu;
	query->has_reason = way->has_reason;
	query->reason = way->reason;
	tui->has_entered_guest &= way->type != &view_guests;
	begin_view(tui, way->type);
	query->sort = way->sort;
	query->reverse = way->reverse;
	tui->screen.has_cursor = way->has_cursor;
	tui->screen.cursor = way->cursor;
}

static void toggle_children(struct tui *tui)
{
	tui->query->children = !tui->query->children;
	field_set_clear(&tui->query->open);
	tui_ask(tui);
}

static bool can_sort(const struct tui *tui, size_t index)
{
	const struct column *column = &tui->query->type->columns[index];

	return !(column->flags & COLUMN_MACHINE_ONLY) && column->type != CELL_SPARK &&
	       column->type != CELL_HIST && column->type != CELL_SPLIT &&
	       view_has_column(&tui->view, index);
}

static void move_sort(struct tui *tui, int by)
{
	size_t nr = view_columns(tui->query->type);
	size_t sort = tui->query->sort;

	do {
		sort = (sort + nr + (size_t)by) % nr;
	} while (!can_sort(tui, sort));
	tui->query->sort = sort;
}

/* kvm_stat's o: rates or totals. */
static void toggle_order(struct tui *tui)
{
	int total = view_column_by_id(tui->query->type, "total");
	int rate = view_column_by_id(tui->query->type, "rate");

	tui->query->sort = (size_t)(tui->query->sort == (size_t)rate ? total : rate);
	tui->query->reverse = false;
	tui_say(tui, tui->query->sort == (size_t)rate ? "Sorted by rate" : "Sorted by total");
}

static void set_delay(struct tui *tui, double delay_s)
{
	/* Tenths, so that - undoes +. */
	delay_s = (double)(long)(delay_s * 10 + 0.5) / 10;
	delay_s = delay_s < DELAY_MIN_S ? DELAY_MIN_S : delay_s;
	tui->delay_s = delay_s > DELAY_MAX_S ? DELAY_MAX_S : delay_s;
	tui_set_timer(tui, tui->delay_s);
}

static double delay_step(double delay_s)
{
	return delay_s < 1 ? 0.1 : delay_s < 5 ? 0.5 : 1;
}

static void toggle_pause(struct tui *tui)
{
	tui->screen.is_paused = !tui->screen.is_paused;
	if (!tui->screen.is_paused)
		tui_set_timer(tui, FIRST_DELAY_S);
}

/* In any of its texts. */
static bool is_found(const struct tui *tui, const struct view_row *row)
{
	for (size_t i = 0; i < view_columns(tui->query->type); i++) {
		if (row->cells[i].type == CELL_TEXT &&
		    pattern_match(tui->search, row->cells[i].text) >= 0)
			return true;
	}
	return false;
}

static void find_next(struct tui *tui)
{
	size_t nr = tui->view.nr_rows, from = tui->screen.has_cursor ? cursor_at(tui) + 1 : 0;

	for (size_t i = 0; tui->search && i < nr; i++) {
		size_t at = (from + i) % nr;

		if (is_found(tui, &tui->view.rows[at])) {
			put_cursor(tui, at);
			return;
		}
	}
	if (tui->search)
		tui_say(tui, "Not found");
}

/* ---- prompts ---- */

static void open_prompt(struct tui *tui, const char *label, const char *text, prompt_fn fn)
{
	prompt_begin(&tui->screen.prompt, label, text);
	tui->screen.has_prompt = true;
	tui->prompt_fn = fn;
}

void tui_close_prompt(struct tui *tui)
{
	tui->screen.has_prompt = false;
	tui->screen.page = PAGE_TABLE;
}

static int take_filter(struct tui *tui, const char *text, struct why *why)
{
	struct pattern *filter = NULL;
	int err = text[0] ? pattern_new(text, &filter, why) : 0;

	if (!err)
		set_filter(tui, filter);
	return err;
}

static int take_search(struct tui *tui, const char *text, struct why *why)
{
	struct pattern *search = NULL;
	int err = text[0] ? pattern_new(text, &search, why) : 0;

	if (err)
		return err;
	pattern_free(tui->search);
	tui->search = search;
	find_next(tui);
	return 0;
}

static int take_delay(struct tui *tui, const char *text, struct why *why)
{
	double delay_s = DELAY_DEFAULT_S;
	int err = text[0] ? options_delay(text, &delay_s, why) : 0;

	if (!err)
		set_delay(tui, delay_s);
	return err;
}

static int take_guest(struct tui *tui, const char *text, struct why *why)
{
	const struct guests *guests = monitor_facts(tui->config.monitor)->guests;
	const struct guest *guest = NULL;
	int err = 0;

	if (!text[0] || strcmp(text, "0") == 0) {
		tui_set_guest(tui, GUEST_ANY);
		return 0;
	}
	/* Nine digits are more than the kernel has pids, and fit into one. */
	if (strspn(text, "0123456789") == strlen(text) && strlen(text) <= 9)
		guest = guests_by_pid(guests, atoi(text));
	if (!guest)
		err = guests_by_name(guests, text, &guest, why);
	if (!err)
		tui_set_guest(tui, guest->id);
	return err;
}

static void prompt_guest(struct tui *tui)
{
	open_prompt(tui, "Guest or pid (Enter: all): ", "", take_guest);
	tui->screen.page = PAGE_GUESTS;
}

static void prompt_delay(struct tui *tui)
{
	static char label[64];

	snprintf(label, sizeof(label), "Seconds (now %.1f, Enter: %.1f): ", tui->delay_s,
		 DELAY_DEFAULT_S);
	open_prompt(tui, label, "", take_delay);
}

static void prompt_filter(struct tui *tui)
{
	open_prompt(tui, "Filter (regex): ",
		    tui->query->filter ? pattern_text(tui->query->filter) : "", take_filter);
}

static void type_prompt(struct tui *tui, const struct terminal_event *event)
{
	struct prompt *prompt = &tui->screen.prompt;
	struct why why = { "" };
	char text[PROMPT_BYTES];

	switch (prompt_type(prompt, event->is_key, event->code)) {
	case PROMPT_GOES_ON:
		return;
	case PROMPT_LEFT:
		tui_close_prompt(tui);
		return;
	case PROMPT_DONE:
		break;
	}
	prompt_text(prompt, text, sizeof(text));
	if (tui->prompt_fn(tui, text, &why) == 0)
		tui_close_prompt(tui);
	else
		snprintf(prompt->error, sizeof(prompt->error), "%s", why.text);
}

/* ---- keys ---- */

static void press_movement(struct tui *tui, wint_t key)
{
	long page = tui->screen.page_rows > 1 ? (long)tui->screen.page_rows - 1 : 1;

	switch (key) {
	case KEY_UP:
		move_cursor(tui, -1);
		break;
	case KEY_DOWN:
		move_cursor(tui, 1);
		break;
	case KEY_PPAGE:
		move_cursor(tui, -page);
		break;
	case KEY_NPAGE:
		move_cursor(tui, page);
		break;
	case KEY_HOME:
		put_cursor(tui, 0);
		break;
	case KEY_END:
		put_cursor(tui, tui->view.nr_rows);
		break;
	case KEY_ENTER:
		enter_row(tui);
		break;
	case KEY_BACKSPACE:
		go_back(tui);
		break;
	case KEY_BTAB:
		step_view(tui, -1);
		break;
	default:
		break;
	}
}

static void press_help(struct tui *tui, const struct terminal_event *event)
{
	size_t page = tui->screen.page_rows, *top = &tui->screen.help_top;
	int key = event->is_key ? (int)event->code : 0;

	/* The painter corrects what is too far down. */
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
		*top = HELP_END;
	else
		tui->screen.page = PAGE_TABLE;
}

/* Keys about time as it goes on. Returns whether the key is one. */
static bool press_live(struct tui *tui, wint_t ch)
{
	if (!wcschr(L"rs+- ", (wchar_t)ch) || !ch)
		return false;
	if (tui->config.recording) {
		tui_say(tui, "This is a recording: it is over, and shown as a whole");
		return true;
	}
	switch (ch) {
	case 'r':
		monitor_reset(tui->config.monitor);
		tui_say(tui, "Totals count from now on");
		break;
	case 's':
		prompt_delay(tui);
		break;
	case '+':
		set_delay(tui, tui->delay_s + delay_step(tui->delay_s));
		break;
	case '-':
		set_delay(tui, tui->delay_s - delay_step(tui->delay_s - 0.01));
		break;
	default:
		toggle_pause(tui);
	}
	return true;
}

static void press_query(struct tui *tui, wint_t ch)
{
	switch (ch) {
	case 'b':
		show_view(tui, tui->query->type == &view_guests ? &view_events : &view_guests);
		break;
	case 'c':
		tui_set_guest(tui, GUEST_ANY);
		set_filter(tui, NULL);
		break;
	case 'f':
		prompt_filter(tui);
		break;
	case 'g':
	case 'p':
		prompt_guest(tui);
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
		tui->query->reverse = !tui->query->reverse;
		break;
	case 'x':
		toggle_children(tui);
		break;
	default:
		if (ch >= '1' && ch <= '9')
			show_view(tui, view_type_at(ch - '1'));
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
		tui->screen.page = PAGE_HELP;
		tui->screen.help_top = 0;
		break;
	case '/':
		open_prompt(tui, "Search (regex): ", "", take_search);
		break;
	case 'n':
		find_next(tui);
		break;
	case '\t':
		step_view(tui, 1);
		break;
	case '\r':
	case '\n':
		enter_row(tui);
		break;
	case 127:
	case CTRL('h'):
		go_back(tui);
		break;
	case 27:
		tui->screen.has_cursor = false;
		break;
	case CTRL('l'):
		terminal_redraw(tui->terminal);
		break;
	default:
		if (!press_live(tui, ch))
			press_query(tui, ch);
	}
}

static void click(struct tui *tui, const struct terminal_event *event)
{
	const struct screen *screen = &tui->screen;
	long row = event->row - screen->first_row;

	if (event->wheel) {
		move_cursor(tui, 3L * event->wheel);
		return;
	}
	for (size_t i = 0; i < screen->nr_hits; i++) {
		const struct hit *hit = &screen->hits[i];

		if (event->row != hit->row || event->col < hit->first_col ||
		    event->col > hit->last_col)
			continue;
		if (hit->kind == HIT_TAB) {
			show_view(tui, view_type_at(hit->index));
		} else if (tui->query->sort == hit->index) {
			tui->query->reverse = !tui->query->reverse;
		} else if (can_sort(tui, hit->index)) {
			tui->query->sort = hit->index;
		}
		return;
	}
	if (row >= 0 && (size_t)row < screen->page_rows &&
	    screen->top + (size_t)row < tui->view.nr_rows)
		put_cursor(tui, screen->top + (size_t)row);
}

void tui_press(struct tui *tui, const struct terminal_event *event)
{
	if (tui->screen.has_prompt) {
		type_prompt(tui, event);
	} else if (tui->screen.page == PAGE_HELP) {
		press_help(tui, event);
	} else if (!event->is_key) {
		press_char(tui, event->code);
	} else if (event->code == KEY_MOUSE) {
		click(tui, event);
	} else {
		press_movement(tui, event->code);
	}
}
