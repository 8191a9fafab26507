// SPDX-License-Identifier: GPL-2.0-or-later
/* Paints the frame around the table: title, summary, tabs, last line, help. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "exits.h"
#include "ui/format.h"
#include "ui/screen_private.h"

#define ROWS_FULL 9 /* from this height on the frame has all its lines */
#define ROWS_MIN 3
#define COLS_MIN 16
#define SPARK_COL 34 /* of the summary */
#define SPARK_MIN 8
#define FILTER_MIN 8 /* columns of a filter that say something */
#define FILTER_MAX 44
#define FILTERS_WIDTH 24 /* that a filter, a guest or what was drilled down to may need */
#define PROMPT_ROOM 8 /* columns to type in */
#define HOTTEST_MIN 16
#define HOTTEST_MAX 44

const struct key_help screen_keys[] = {
	{ "h ?", "h help", "this help", false },
	{ "q", "q quit", "quit", false },
	{ "1 - 5 Tab", NULL, "views: events, guests, vCPUs, exits, hot spots", false },
	{ "Enter", "Enter open", "deeper: an event's reasons; guest, vCPU, exit, argument", false },
	{ "Backspace", NULL, "back to where Enter came from", false },
	{ "x", "x reasons", "all reasons, or none", false },
	{ "b", "b guests", "by guest, and back", false },
	{ "f", "f filter", "show events that match a regular expression", false },
	{ "c", NULL, "clear the filter and the guest", false },
	{ "g p", "g guest", "one guest only, by name or pid", false },
	{ "o", "o order", "sort by rate, or by total", false },
	{ "< > R", NULL, "sort by the column to the left or right; reverse", false },
	{ "r", "r reset", "totals count from now on", true },
	{ "s + -", "s delay", "interval", true },
	{ "Space", NULL, "pause, and go on", true },
	{ "/ n", NULL, "search for a name; again", false },
	{ "arrows", NULL, "move, as do PgUp, PgDn, Home, End; Esc lets go of the row", false },
	{ 0 },
};

bool screen_has_key(const struct screen *screen, const struct key_help *key)
{
	return !key->is_live || !screen->recording;
}

struct row_id row_id_of(const struct view_row *row)
{
	struct row_id id = { row->field, row->guest, row->vcpu, FIELD_NONE, row->is_rest };

	/* Each event that is open may have a rest, below it. */
	while (id.is_rest && row->depth)
		row--;
	if (id.is_rest)
		id.parent = row->field;
	return id;
}

bool row_id_equal(const struct row_id *a, const struct row_id *b)
{
	return a->field == b->field && a->guest == b->guest && a->vcpu == b->vcpu &&
	       a->parent == b->parent && a->is_rest == b->is_rest;
}

size_t screen_find_row(const struct screen *screen, const struct row_id *id)
{
	const struct view *view = screen->view;

	for (size_t i = 0; i < view->nr_rows; i++) {
		struct row_id this = row_id_of(&view->rows[i]);

		if (row_id_equal(&this, id))
			return i;
	}
	return view->nr_rows;
}

void screen_add_hit(struct screen *screen, struct hit hit)
{
	if (screen->nr_hits < SCREEN_HITS)
		screen->hits[screen->nr_hits++] = hit;
}

/* Text at the right edge, unless it would touch what is at the left. */
static bool put_right(struct grid *grid, int row, int left, enum style style, const char *text)
{
	int col = grid->cols - format_width(text);

	if (col > left)
		grid_put(grid, row, col, style, text);
	return col > left;
}

/* As much of the text as fits into width columns, with an ellipsis where that is not all. */
static void cut_text(char *buf, size_t size, const char *text, int width)
{
	struct cell cell = cell_text(text);

	if (format_width(text) <= width) {
		snprintf(buf, size, "%s", text);
		return;
	}
	format_cell(buf, size, &cell, width > 3 ? width - 3 : 0, false);
	snprintf(buf + strlen(buf), size - strlen(buf), "%.*s", width > 0 ? width : 0, "...");
}

static size_t count_vcpus(const struct guests *guests)
{
	size_t nr = 0;

	for (size_t i = 0; i < guests_count(guests); i++)
		nr += guests_at(guests, i)->nr_vcpus;
	return nr;
}

static int put_guests(const struct screen *screen, struct grid *grid, int col)
{
	size_t guests = guests_count(screen->facts->guests);
	size_t vcpus = count_vcpus(screen->facts->guests);

	return grid_printf(grid, 0, col, STYLE_PLAIN, "  %zu guest%s %zu vCPU%s", guests,
			   guests == 1 ? "" : "s", vcpus, vcpus == 1 ? "" : "s");
}

/* What is lost is said first, and the files' names have what the rest leaves. */
static void paint_recording(const struct screen *screen, struct grid *grid)
{
	const struct screen_recording *recording = screen->recording;
	const struct cell whole = cell_ns(recording->span_ns);
	char span[32], events[32], files[96], lost[48] = "";
	int col, room = grid->cols / 3;

	format_cell(span, sizeof(span), &whole, 10, false);
	format_count(events, sizeof(events), recording->nr_events, 14, true);
	if (recording->nr_lost || recording->is_more_lost)
		snprintf(lost, sizeof(lost), "%s%" PRIu64 " lost",
			 recording->is_more_lost ? "more than " : "", recording->nr_lost);
	cut_text(files, sizeof(files), recording->files, room);
	col = grid_put(grid, 0, 0, STYLE_BOLD, "kvmtop");
	col = grid_printf(grid, 0, col, STYLE_PLAIN, "  %s  ", files);
	if (lost[0])
		col = grid_printf(grid, 0, col, STYLE_ALERT, "%s  ", lost);
	col = grid_printf(grid, 0, col, STYLE_PLAIN, "%s  %s events", span, events);
	col = put_guests(screen, grid, col);
	put_right(grid, 0, col + 1, STYLE_PLAIN, "recording");
}

static void paint_title(const struct screen *screen, struct grid *grid)
{
	enum style style = screen->is_paused ? STYLE_NOTICE : STYLE_PLAIN;
	char right[64];
	int col;

	col = grid_put(grid, 0, 0, STYLE_BOLD, "kvmtop");
	col = grid_printf(grid, 0, col, STYLE_PLAIN, "  %s  %s", screen->host, screen->kvm);
	if (screen->nr_cpus)
		col = grid_printf(grid, 0, col, STYLE_PLAIN, "  %d CPU%s", screen->nr_cpus,
				  screen->nr_cpus == 1 ? "" : "s");
	col = put_guests(screen, grid, col);
	if (screen->engine)
		col = grid_printf(grid, 0, col, STYLE_DIM, "  %s", screen->engine);
	snprintf(right, sizeof(right), "%s%.1fs  %s", screen->is_paused ? "PAUSED  " : "",
		 screen->delay_s, screen->clock);
	if (put_right(grid, 0, col, style, right))
		return;
	snprintf(right, sizeof(right), "%s%.1fs", screen->is_paused ? "PAUSED " : "",
		 screen->delay_s);
	put_right(grid, 0, col, style, right);
}

/* The provider's own words for what it counts are for machines. */
static const char *summary_name(const struct exits_summary *summary)
{
	if (strcmp(summary->name, "vmexit") == 0)
		return "exits";
	return strcmp(summary->name, "userspace") == 0 ? "exits to user space" : summary->name;
}

static int put_rate(struct grid *grid, int row, const struct exits_summary *summary)
{
	char text[64];
	int col;

	format_count(text, sizeof(text), (uint64_t)(summary->sum.rate_per_s + 0.5), 14, true);
	col = grid_printf(grid, row, 0, STYLE_PLAIN, "%s ", summary_name(summary));
	return grid_printf(grid, row, col, STYLE_BOLD, "%s/s ",
			   summary->sum.has_rate ? text : "-");
}

/* "guest 71% kvm 9% user 3% halt 17%" */
static void format_parts(const struct exits_summary *summary, char *buf, size_t size)
{
	const uint64_t *ns = summary->part_ns;
	double whole = (double)ns[TIME_WHOLE] / 100;

	char user[32] = "+user";

	buf[0] = '\0';
	if (!summary->has_parts || !ns[TIME_WHOLE])
		return;
	if (summary->has_user)
		snprintf(user, sizeof(user), " %.0f%% user", (double)ns[TIME_KVM] / whole);
	snprintf(buf, size, "guest %.0f%% kvm%s %.0f%% halt %.0f%%",
		 (double)ns[TIME_GUEST] / whole, user,
		 (double)ns[summary->has_user ? TIME_USER : TIME_KVM] / whole,
		 (double)ns[TIME_HALT] / whole);
}

/* "hottest db1: MSR_WRITE 188k/s", cut to the room there is. */
static void format_hottest(const struct screen *screen, const struct exits_summary *summary,
			   char *buf, size_t size, int room)
{
	const struct guest *guest = guests_by_id(screen->facts->guests, summary->guest);
	char rate[32], text[256];

	buf[0] = '\0';
	if (!guest || summary->reason == FIELD_NONE)
		return;
	format_count(rate, sizeof(rate), (uint64_t)(summary->rate_per_s + 0.5), 5, false);
	snprintf(text, sizeof(text), "hottest %s: %s %s/s", guest->name,
		 fields_get(screen->facts->fields, summary->reason)->label, rate);
	cut_text(buf, size, text, room < HOTTEST_MAX ? room : HOTTEST_MAX);
}

/* A picture between the rate and what stands at the right, at a place that numbers do not move. */
static void put_spark(const struct screen *screen, struct grid *grid, int row, int col, int right,
		      const struct exits_summary *summary)
{
	int room = right - (col < SPARK_COL ? SPARK_COL : col);

	if (room < STATS_HISTORY)
		room = right - col;
	room = room > STATS_HISTORY ? STATS_HISTORY : room;
	col = right - room > SPARK_COL ? SPARK_COL : right - room;
	if (room >= SPARK_MIN)
		spark_paint(grid, row, col, room, STYLE_SPARK, summary->sum.history,
			    screen->is_utf8);
}

static void paint_summary(const struct screen *screen, struct grid *grid, int row)
{
	struct exits_summary summary;
	char parts[64], hottest[256];
	int col, right = grid->cols;

	if (exits_summarize(screen->facts, &summary) < 0 || !summary.name) {
		grid_put(grid, row, 0, STYLE_DIM, "no exits counted yet");
		return;
	}
	col = put_rate(grid, row, &summary);
	format_parts(&summary, parts, sizeof(parts));
	if (parts[0] && right - col - 1 > format_width(parts)) {
		int room = right - col - 3 - format_width(parts);

		format_hottest(screen, &summary, hottest, sizeof(hottest), room);
		if (hottest[0] && room >= HOTTEST_MIN) {
			right -= format_width(hottest);
			grid_put(grid, row, right, STYLE_PLAIN, hottest);
			right -= 3;
		}
		right -= format_width(parts);
		grid_put(grid, row, right, STYLE_PLAIN, parts);
		right -= 2;
	}
	if (!screen->recording)
		put_spark(screen, grid, row, col, right, &summary);
}

/* How far drilling down went, and the filter if there is room for it. */
static void format_crumbs(const struct screen *screen, char *buf, size_t size, int room)
{
	const char *dead = screen->is_guest_dead ? " (DEAD)" : "";
	char crumbs[208], filter[256];
	int rest;

	snprintf(crumbs, sizeof(crumbs), "%s%s", screen->crumbs, dead);
	rest = room - format_width(crumbs) - 2;
	if (screen->filter && rest >= FILTER_MIN) {
		cut_text(filter, sizeof(filter), screen->filter,
			 rest < FILTER_MAX ? rest : FILTER_MAX);
		snprintf(buf, size, "%s  %s", filter, crumbs);
		return;
	}
	cut_text(buf, size, crumbs, room);
}

/* Filter and guest side by side; what does not fit: first their names, then the filter's end. */
static void format_filters(const struct screen *screen, char *buf, size_t size, int room)
{
	const char *filter = screen->filter ? screen->filter : "-";
	const char *dead = screen->is_guest_dead ? " is DEAD" : "";
	char guest[128], cut[256];
	bool has_guest = screen->guest[0];
	int width = format_width(filter) < FILTER_MAX ? format_width(filter) : FILTER_MAX;
	int rest, bare;

	if (screen->crumbs[0]) {
		format_crumbs(screen, buf, size, room);
		return;
	}
	snprintf(guest, sizeof(guest), "%s%s", has_guest ? screen->guest : "all", dead);
	rest = room - format_width(guest) - (int)strlen("filter:   guest: ");
	bare = room - (has_guest ? format_width(guest) + 2 : 0);
	/* What is whole without the words is not cut for their sake. */
	if (rest >= width || (rest >= FILTER_MIN && bare < width)) {
		cut_text(cut, sizeof(cut), filter, rest < FILTER_MAX ? rest : FILTER_MAX);
		snprintf(buf, size, "filter: %s  guest: %s", cut, guest);
		return;
	}
	if (screen->filter && bare >= FILTER_MIN) {
		cut_text(cut, sizeof(cut), filter, bare < FILTER_MAX ? bare : FILTER_MAX);
		snprintf(buf, size, "%s%s%s", cut, has_guest ? "  " : "", has_guest ? guest : "");
		return;
	}
	cut_text(buf, size, has_guest ? guest : screen->filter ? screen->filter : "", room);
}

static void paint_filters(const struct screen *screen, struct grid *grid, int row, int col)
{
	enum style style = screen->is_guest_dead ? STYLE_ALERT : STYLE_PLAIN;
	char right[512];

	format_filters(screen, right, sizeof(right), grid->cols - col - 1);
	put_right(grid, row, col, style, right);
}

static int tab_width(const struct screen *screen, size_t i, bool is_short)
{
	const struct view_type *type = view_type_at(i);
	bool has_title = !is_short || type == screen->query->type;

	return 3 + (has_title ? (int)strlen(type->title) + 1 : 0);
}

/* Where not all of them fit beside what is filtered, those that are not active are numbers. */
static bool are_tabs_short(const struct screen *screen, const struct grid *grid)
{
	bool is_filtered = screen->filter || screen->guest[0] || screen->crumbs[0];
	int width = is_filtered ? FILTERS_WIDTH : 0;

	for (size_t i = 0; view_type_at(i); i++)
		width += tab_width(screen, i, false);
	return width > grid->cols;
}

static void paint_tabs(struct screen *screen, struct grid *grid, int row)
{
	bool is_short = are_tabs_short(screen, grid);
	const struct view_type *type;
	int col = 0;

	for (size_t i = 0; (type = view_type_at(i)); i++) {
		bool is_active = type == screen->query->type;
		int first = col;

		if (is_active)
			col = grid_printf(grid, row, col, STYLE_TAB, "[%zu %s]", i + 1,
					  type->title);
		else if (is_short)
			col = grid_printf(grid, row, col, STYLE_PLAIN, " %zu ", i + 1);
		else
			col = grid_printf(grid, row, col, STYLE_PLAIN, " %zu %s ", i + 1,
					  type->title);
		screen_add_hit(screen, (struct hit){ HIT_TAB, row, first, col - 1, i });
	}
	paint_filters(screen, grid, row, col);
}

static void paint_keys(const struct screen *screen, struct grid *grid, int row, int col)
{
	for (const struct key_help *key = screen_keys; key->key; key++) {
		if (!key->brief || !screen_has_key(screen, key) ||
		    col + (int)strlen(key->brief) > grid->cols)
			continue;
		grid_put(grid, row, col, STYLE_DIM, key->brief);
		col += (int)strlen(key->brief) + 2;
	}
}

/* Of a line that is too long the part up to the cursor is shown: how much before it is not. */
static size_t hidden_part(const struct prompt *prompt, int room)
{
	size_t first = prompt->cursor;

	while (first && room > 0) {
		room -= wcwidth(prompt->text[first - 1]) == 2 ? 2 : 1;
		first -= room >= 0;
	}
	return first;
}

/* What is wrong with the text takes its place until the next key. */
static void paint_prompt(struct screen *screen, struct grid *grid, int row)
{
	const struct prompt *prompt = &screen->prompt;
	char text[PROMPT_BYTES];
	struct prompt part = *prompt;
	size_t skip;
	int col;

	screen->prompt_col = -1;
	if (prompt->error[0]) {
		cut_text(text, sizeof(text), prompt->error, grid->cols);
		grid_put(grid, row, 0, STYLE_ALERT, text);
		return;
	}
	col = grid_put(grid, row, 0, STYLE_BOLD, prompt->label);
	/* A label that leaves no room gives way. */
	if (grid->cols - col < PROMPT_ROOM) {
		grid_clear_row(grid, row);
		col = grid_put(grid, row, 0, STYLE_BOLD, "> ");
	}
	skip = hidden_part(prompt, grid->cols - col - 1);
	part.len -= skip;
	wmemmove(part.text, prompt->text + skip, part.len);
	prompt_text(&part, text, sizeof(text));
	grid_put(grid, row, col, STYLE_PLAIN, text);
	part.len = prompt->cursor - skip;
	prompt_text(&part, text, sizeof(text));
	screen->prompt_col = col + format_width(text);
}

/* The last line: the prompt, else a notice, else the keys. A notice never hides a row. */
static void paint_last_line(struct screen *screen, struct grid *grid, int row)
{
	char text[512];
	int col = 0;

	screen->prompt_col = -1;
	if (screen->has_prompt) {
		paint_prompt(screen, grid, row);
	} else if (screen->page == PAGE_HELP) {
		grid_put(grid, row, 0, STYLE_DIM, screen->has_more_help ?
			 "arrows: more  other keys: back" : "any key: back");
	} else if (screen->notice[0]) {
		cut_text(text, sizeof(text), screen->notice, grid->cols);
		grid_put(grid, row, 0, STYLE_NOTICE, text);
	} else {
		if (screen->is_paused)
			col = grid_put(grid, row, 0, STYLE_NOTICE, "PAUSED") + 2;
		paint_keys(screen, grid, row, col);
	}
}

/* What is typed narrows the list down: a part of the name, or how the pid begins. */
static bool is_meant(const struct guest *guest, const char *typed)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)guest->pid);
	return strstr(guest->name, typed) || strncmp(pid, typed, strlen(typed)) == 0;
}

/* The guests to choose from: the prompt below takes a name or a pid. */
static void paint_guests(const struct screen *screen, struct grid *grid, int row, int last_row)
{
	const struct guests *guests = screen->facts->guests;
	const struct guest *guest;
	char typed[PROMPT_BYTES], pid[16];
	size_t nr = 0;
	int room = last_row - row;

	prompt_text(&screen->prompt, typed, sizeof(typed));
	grid_style(grid, row, 0, STYLE_HEADING);
	grid_printf(grid, row++, 1, STYLE_HEADING, "%7s %4s  %s", "PID", "vCPU", "Guest");
	for (size_t i = 0; (guest = guests_at(guests, i)); i++) {
		if (!is_meant(guest, typed))
			continue;
		snprintf(pid, sizeof(pid), "%d", (int)guest->pid);
		if (nr++ < (size_t)room)
			grid_printf(grid, row++, 1, STYLE_PLAIN, "%7s %4zu  %s",
				    guest->pid ? pid : "-", guest->nr_vcpus, guest->name);
	}
	if (nr > (size_t)room && room > 0) {
		grid_clear_row(grid, last_row);
		grid_printf(grid, last_row, 1, STYLE_DIM, "%7s and %zu more", "",
			    nr - (size_t)room + 1);
	}
	if (!nr && guests_count(guests))
		grid_put(grid, row, 1, STYLE_PLAIN, "No guest has this name.");
	else if (!nr)
		grid_put(grid, row, 1, STYLE_PLAIN, "No guest is running.");
}

static void paint_page(struct screen *screen, struct grid *grid, int first_row, int last_row)
{
	switch (screen->page) {
	case PAGE_TABLE:
		table_paint(screen, grid, first_row, last_row);
		break;
	case PAGE_HELP:
		help_paint(screen, grid, first_row, last_row);
		break;
	case PAGE_GUESTS:
		paint_guests(screen, grid, first_row, last_row);
		break;
	}
}

void screen_paint(struct screen *screen, struct grid *grid)
{
	int row = 0;

	grid_clear(grid);
	screen->nr_hits = 0;
	if (grid->rows < ROWS_MIN || grid->cols < COLS_MIN) {
		grid_put(grid, 0, 0, STYLE_PLAIN, "too small");
		return;
	}
	if (grid->rows >= ROWS_FULL) {
		if (screen->recording)
			paint_recording(screen, grid);
		else
			paint_title(screen, grid);
		paint_summary(screen, grid, 1);
		paint_tabs(screen, grid, 2);
		row = 3;
	} else if (grid->rows > ROWS_MIN) {
		paint_tabs(screen, grid, 0);
		row = 1;
	}
	paint_page(screen, grid, row, grid->rows - 2);
	paint_last_line(screen, grid, grid->rows - 1);
}
