// SPDX-License-Identifier: GPL-2.0-or-later
/* Paints the lines above the table: title, summary, tabs with filter and guest. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/views/fill.h"
#include "ui/numbers.h"
#include "ui/screen/chart.h"
#include "ui/screen/parts.h"

#define SPARK_COL 20 /* after rates up to "exits 999,999,999/s" */
#define SPARK_MIN 6
#define SCALE_MIN 9  /* "0-500k/s " */
#define SCALE_MAX 15 /* "0-500k/s 19min " */
#define COLS_SIGNS 100 /* from this width on the parts of time have their signs */
#define FILTER_MIN 8 /* the fewest columns in which a filter is of use */
#define FILTER_MAX 44
#define NAME_LEAST 6    /* columns of a guest's name, */
#define REASON_LEAST 10 /* and of a reason: the fewest that identify them */
#define RATE_WIDTH 7    /* "188,021", */
#define RATE_LEAST 5    /* or "188k" */
#define DEAD_WIDTH 8    /* " is DEAD" */

static int smaller(int a, int b)
{
	return a < b ? a : b;
}

/* Text at the right edge, unless it would touch the text at the left. */
static bool put_right(struct grid *grid, int row, int left, enum style style, const char *text)
{
	int col = grid->cols - format_width(text);

	if (col > left)
		grid_put(grid, row, col, style, text);
	return col > left;
}

/* The moment that is shown, or `now`; without room shorter. Returns where it begins. */
static int put_moment(const struct screen *screen, struct grid *grid, int left, const char *now,
		      const char *shorter)
{
	const enum style style = screen->then[0] ? STYLE_THEN : STYLE_PLAIN;
	const char *text = screen->then[0] ? screen->then : now;

	if (screen->then[0])
		shorter = screen->clock;
	if (put_right(grid, 0, left, style, text))
		return grid->cols - format_width(text);
	if (shorter[0] && put_right(grid, 0, left, style, shorter))
		return grid->cols - format_width(shorter);
	return grid->cols + 1;
}

/*
 * One more part of the title, if it ends before `end`. Returns where it ends; `end`: there is no
 * room, nor for any after it.
 */
static int put_part(struct grid *grid, int col, int end, enum style style, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

static int put_part(struct grid *grid, int col, int end, enum style style, const char *fmt, ...)
{
	char text[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return col + 2 + format_width(text) < end ? grid_put(grid, 0, col + 2, style, text) : end;
}

static int put_guests(const struct screen *screen, struct grid *grid, int col, int end)
{
	size_t guests = guests_count(screen->facts->guests);
	size_t vcpus = guests_count_vcpus(screen->facts->guests);

	if (screen->has_hosts)
		return put_part(grid, col, end, STYLE_PLAIN, "%zu host%s", guests,
				guests == 1 ? "" : "s");
	return put_part(grid, col, end, STYLE_PLAIN, "%zu guest%s %zu vCPU%s", guests,
			guests == 1 ? "" : "s", vcpus, vcpus == 1 ? "" : "s");
}

/* The files' names are cut, the number of lost events is not. */
static void paint_recording(const struct screen *screen, struct grid *grid)
{
	const struct source_recording *recording = screen->recording;
	const struct cell whole = cell_ns(recording->span_ns);
	char span[32], events[32], files[96], lost[48] = "";
	int col, end;

	format_cell(span, sizeof(span), &whole, 10, false);
	format_count(events, sizeof(events), recording->nr_events, 14, screen->has_marks);
	if (recording->nr_lost || recording->is_more_lost)
		snprintf(lost, sizeof(lost), "%s%" PRIu64 " lost",
			 recording->is_more_lost ? "more than " : "", recording->nr_lost);
	format_cut(files, sizeof(files), recording->files, grid->cols / 3, screen->is_utf8);
	col = grid_put(grid, 0, 0, STYLE_BOLD, "kvmtop");
	end = put_moment(screen, grid, col + (lost[0] ? format_width(lost) + 2 : 0),
			 "entire recording", "");
	col = put_part(grid, col, end - (lost[0] ? format_width(lost) + 2 : 0), STYLE_PLAIN, "%s",
		       files);
	if (lost[0])
		col = put_part(grid, col, end, STYLE_ALERT, "%s", lost);
	col = put_part(grid, col, end, STYLE_PLAIN, "%s", span);
	col = put_part(grid, col, end, STYLE_PLAIN, "%s events", events);
	put_guests(screen, grid, col, end);
}

/* The time and the interval stay when there is little room. */
static void paint_machine(const struct screen *screen, struct grid *grid)
{
	char now[64], host[256];
	int col, end;

	col = grid_put(grid, 0, 0, STYLE_BOLD, "kvmtop");
	snprintf(now, sizeof(now), "%.1fs  %s", screen->delay_s, screen->clock);
	end = put_moment(screen, grid, col, now, screen->clock);
	format_middle(host, sizeof(host), screen->host, grid->cols / 2, screen->is_utf8);
	col = put_part(grid, col, end, STYLE_PLAIN, "%s", host);
	col = put_part(grid, col, end, STYLE_PLAIN, "%s", screen->kvm);
	if (screen->nr_cpus)
		col = put_part(grid, col, end, STYLE_PLAIN, "%d CPU%s", screen->nr_cpus,
			       screen->nr_cpus == 1 ? "" : "s");
	col = put_guests(screen, grid, col, end);
	if (screen->engine)
		put_part(grid, col, end, STYLE_DIM, "%s", screen->engine);
}

void head_paint_title(const struct screen *screen, struct grid *grid)
{
	if (screen->recording)
		paint_recording(screen, grid);
	else
		paint_machine(screen, grid);
}

/* The fields of the provider "exits" have names for machines. */
static const char *summary_name(const struct exits_summary *summary)
{
	if (strcmp(summary->name, "vmexit") == 0)
		return "exits";
	return strcmp(summary->name, "userspace") == 0 ? "userspace exits" : summary->name;
}

static int put_rate(const struct screen *screen, struct grid *grid, int row,
		    const struct exits_summary *summary)
{
	char text[64];
	int col;

	format_count(text, sizeof(text), (uint64_t)(summary->all.exits.rate_per_s + 0.5), 14,
		     screen->has_marks);
	col = grid_printf(grid, row, 0, STYLE_PLAIN, "%s ", summary_name(summary));
	return grid_printf(grid, row, col, STYLE_BOLD, "%s/s ",
			   summary->all.exits.nr_rates ? text : "-");
}

/*
 * Where the vCPUs' time went: "guest 71% kvm 9% user 3% wait 5% idle 12%". Polling and blocked time
 * are there if there is any. A narrow screen has no "idle", which is the rest, and leaves the room
 * of a percent or two to the hottest exit.
 */
struct parts {
	bool has_signs; /* of the pictures in the column Time split: "█ guest 71%  " */
	char texts[SPLIT_PARTS][32]; /* "": counted as KVM's */
	int width;		     /* 0: not known */
};

static void format_parts(const struct exits_summary *summary, int cols, struct parts *ret_parts)
{
	const struct sum *time = summary->all.time;
	const double whole = (double)time[TIME_WHOLE].delta / 100;
	const double least = cols >= COLS_SIGNS ? 0.5 : 2;
	const struct {
		const char *name;
		enum time_part part;
		bool is_rare; /* shown where there is any */
	} parts[SPLIT_PARTS] = {
		[SPLIT_GUEST] = { "guest", TIME_GUEST, false },
		[SPLIT_KVM] = { time[TIME_USER].nr ? "kvm" : "kvm+user", TIME_KVM, false },
		[SPLIT_USER] = { "user", TIME_USER, false },
		[SPLIT_POLL] = { "poll", TIME_POLL, true },
		[SPLIT_BLOCK] = { "block", TIME_BLOCK, true },
		[SPLIT_WAIT] = { "wait", TIME_WAIT, false },
		[SPLIT_IDLE] = { cols >= COLS_SIGNS ? "idle" : NULL, TIME_IDLE, false },
	};

	*ret_parts = (struct parts){ .has_signs = cols >= COLS_SIGNS };
	for (int i = 0; time[TIME_GUEST].nr_rates && whole > 0 && i < SPLIT_PARTS; i++) {
		const struct sum *part = &time[parts[i].part];
		double percent = (double)part->delta / whole;
		char *text = ret_parts->texts[i];

		if (!parts[i].name || !part->nr || (parts[i].is_rare && percent < least))
			continue;
		snprintf(text, sizeof(ret_parts->texts[i]), "%s %.0f%%", parts[i].name, percent);
		/* With a sign and a blank before it, and a second blank after it. */
		ret_parts->width += (int)strlen(text) + (ret_parts->width > 0) +
				    (ret_parts->has_signs ? 2 + (ret_parts->width > 0) : 0);
	}
}

static void put_parts(const struct screen *screen, struct grid *grid, int row, int col,
		      const struct parts *parts)
{
	for (enum split_part i = 0; i < SPLIT_PARTS; i++) {
		if (!parts->texts[i][0])
			continue;
		if (parts->has_signs)
			col = grid_put(grid, row, col, split_style(i),
				       split_sign(i, screen->is_utf8)) + 1;
		col = grid_put(grid, row, col, STYLE_PLAIN, parts->texts[i]) + 1 +
		      parts->has_signs;
	}
}

/*
 * "hottest db1: MSR_WRITE 188k/s". On a narrow screen the word "hottest" is dropped, then the
 * middle of the name, then the middle of the reason. The rate is never cut: without room for it the
 * text is empty.
 */
static void format_hottest(const struct screen *screen, const struct exits_summary *summary,
			   char *buf, size_t size, int room)
{
	const struct guest *guest = guests_by_id(screen->facts->guests, summary->guest);
	char rate[32], name[256], reason[128];
	const char *word = "hottest ", *label;
	int least;

	buf[0] = '\0';
	if (!guest || summary->reason == FIELD_NONE)
		return;
	label = fields_get(screen->facts->fields, summary->reason)->label;
	format_count(rate, sizeof(rate), (uint64_t)(summary->rate_per_s + 0.5),
		     screen->has_marks ? RATE_WIDTH : RATE_LEAST, screen->has_marks);
	room -= (int)strlen(": " " /s") + format_width(rate);
	least = smaller(format_width(guest->name), NAME_LEAST);
	if (room < format_width(word) + least + format_width(label))
		word = "";
	room -= format_width(word);
	if (room < least + smaller(format_width(label), REASON_LEAST))
		return;
	format_middle(reason, sizeof(reason), label, room - least, screen->is_utf8);
	format_middle(name, sizeof(name), guest->name, room - format_width(reason),
		      screen->is_utf8);
	snprintf(buf, size, "%s%s: %s %s/s", word, name, reason, rate);
}

/* "kvmtop costs 412 ns an exit, 0.8%": what counting takes of the guests' time. */
static void format_cost(const struct own_cost *cost, char *buf, size_t size, int room)
{
	int n = snprintf(buf, size, "kvmtop costs %" PRIu64 " ns an exit", cost->exit_ns);

	if (cost->has_share)
		snprintf(buf + n, size - (size_t)n, ", %.1f%%", cost->share * 100);
	if (format_width(buf) > room)
		buf[0] = '\0';
}

/*
 * The history of exits, from left up to right: its scale, then the rates, which grow to the right
 * until there is no more room. Without room for the scale there is no history.
 */
static void put_history(const struct screen *screen, struct grid *grid, int row, int left,
			int right, const struct exits_summary *summary)
{
	const float *rates = screen->history ? screen->history : summary->all.history;
	int nr = screen->history ? SCREEN_HISTORY : STATS_HISTORY, known = nr, room, width;
	struct area area = { .grid = grid, .row = row, .is_utf8 = screen->is_utf8 };
	char scale[32];
	double end;

	left = left < SPARK_COL && right - SPARK_COL > SCALE_MAX + SPARK_MIN ? SPARK_COL : left;
	room = right - left;
	width = smaller(nr, room - SCALE_MAX);
	width = width < SPARK_MIN ? SPARK_MIN : width;
	while (known && rates[nr - known] < 0)
		known--;
	if (!known || room < SCALE_MIN + SPARK_MIN)
		return;
	end = scale_end(spark_highest(rates, nr, width));
	screen_scale(screen, end, width, room - width - 1, scale, sizeof(scale));
	area.col = grid_printf(grid, row, left, STYLE_DIM, "%s ", scale);
	area.width = smaller(width, known);
	spark_paint(&area, rates, nr, end);
}

/* At the right edge: in the view of the host what kvmtop costs, else the hottest guest. */
static void format_right(const struct screen *screen, const struct exits_summary *summary,
			 char *buf, size_t size, int room, bool has_parts)
{
	buf[0] = '\0';
	if (screen->view->cost.exit_ns)
		format_cost(&screen->view->cost, buf, size, room);
	else if (has_parts)
		format_hottest(screen, summary, buf, size, room);
}

void head_paint_summary(const struct screen *screen, struct grid *grid, int row)
{
	struct exits_summary summary = exits_summarize(screen->facts, screen->query->guest);
	struct parts parts;
	bool has_parts;
	char text[512];
	int col, right = grid->cols;

	if (!summary.name) {
		/* If exits cannot be timed, the view shows why. */
		if (!screen->query->type->is_timed || fields_have_exits(screen->facts->fields))
			grid_put(grid, row, 0, STYLE_DIM, "no exits counted yet");
		return;
	}
	col = put_rate(screen, grid, row, &summary);
	format_parts(&summary, grid->cols, &parts);
	has_parts = parts.width && right - col - 1 > parts.width;
	format_right(screen, &summary, text, sizeof(text),
		     right - col - 3 - (has_parts ? parts.width : 0), has_parts);
	if (text[0]) {
		right -= format_width(text);
		grid_put(grid, row, right, STYLE_PLAIN, text);
		right -= 3;
	}
	if (has_parts) {
		right -= parts.width;
		put_parts(screen, grid, row, right, &parts);
		right -= 2;
	}
	if (!screen->facts->is_span)
		put_history(screen, grid, row, col, right, &summary);
}

/* The whole path from guest to exit; returns the length of the guest's name in bytes. */
static size_t whole_crumbs(const struct screen *screen, char *buf, size_t size)
{
	const char *end = strstr(screen->crumbs, screen->is_utf8 ? " ›" : " >");

	snprintf(buf, size, "%s%s", screen->crumbs, screen->is_guest_dead ? " (DEAD)" : "");
	return end ? (size_t)(end - screen->crumbs) : strlen(screen->crumbs);
}

/*
 * The path from guest to exit, and the filter if there is room for it. The guest's name is cut, not
 * the vCPU and the exit: the screen shows them nowhere else.
 */
static void format_crumbs(const struct screen *screen, char *buf, size_t size, int room)
{
	char crumbs[sizeof(screen->crumbs) + DEAD_WIDTH], filter[256], guest[sizeof(crumbs)],
		name[sizeof(crumbs)];
	size_t len = whole_crumbs(screen, crumbs, sizeof(crumbs));
	int rest = room - format_width(crumbs) - 2;

	if (screen->filter && rest >= FILTER_MIN) {
		format_cut(filter, sizeof(filter), screen->filter, smaller(rest, FILTER_MAX),
			   screen->is_utf8);
		snprintf(buf, size, "%s  %s", filter, crumbs);
		return;
	}
	snprintf(guest, sizeof(guest), "%.*s", (int)len, crumbs);
	rest = room - format_width(crumbs + len);
	if (rest < NAME_LEAST) {
		format_middle(buf, size, crumbs, room, screen->is_utf8);
		return;
	}
	format_middle(name, sizeof(name), guest, rest, screen->is_utf8);
	snprintf(buf, size, "%s%s", name, crumbs + len);
}

/* Filter and guest. On a narrow screen the labels are dropped first, then the end of the filter. */
static void format_filters(const struct screen *screen, char *buf, size_t size, int room)
{
	const char *filter = screen->filter ? screen->filter : "";
	const char *dead = screen->is_guest_dead ? " is DEAD" : "";
	char guest[sizeof(screen->guest) + DEAD_WIDTH] = "", cut[256] = "";
	bool has_guest = screen->guest[0], has_labels;
	int labels = (filter[0] ? (int)strlen("filter: ") : 0) +
		     (has_guest ? (int)strlen("guest: ") : 0);
	int width = smaller(format_width(filter), FILTER_MAX), rest = room;

	if (screen->crumbs[0]) {
		format_crumbs(screen, buf, size, room);
		return;
	}
	if (has_guest)
		snprintf(guest, sizeof(guest), "%s%s", screen->guest, dead);
	rest -= format_width(guest) + (filter[0] && has_guest ? 2 : 0);
	/* With labels, unless only the labels make the filter too long. */
	has_labels = rest - labels >= width ||
		     (filter[0] && rest - labels >= FILTER_MIN && rest < width);
	rest -= has_labels ? labels : 0;
	if (has_guest && (!filter[0] || rest < FILTER_MIN)) {
		format_middle(cut, sizeof(cut), guest, room, screen->is_utf8);
		snprintf(buf, size, "%s%s", has_labels ? "guest: " : "", cut);
		return;
	}
	format_cut(cut, sizeof(cut), filter, smaller(rest, FILTER_MAX), screen->is_utf8);
	snprintf(buf, size, "%s%s%s%s%s", has_labels && filter[0] ? "filter: " : "", cut,
		 has_guest ? "  " : "", has_guest && has_labels ? "guest: " : "", guest);
}

static void paint_filters(const struct screen *screen, struct grid *grid, int row, int col)
{
	enum style style = screen->is_guest_dead ? STYLE_ALERT : STYLE_PLAIN;
	char right[1024];

	format_filters(screen, right, sizeof(right), grid->cols - col - 1);
	put_right(grid, row, col, style, right);
}

/* The view that a tab shows: of a fleet, hosts instead of guests. */
static const struct view_type *shown_by(const struct screen *screen, const struct view_type *tab)
{
	return tab == &view_guests && screen->has_hosts ? &view_hosts : tab;
}

/* Views without a number have a tab only while they are shown. */
static bool has_tab(const struct screen *screen, const struct view_type *tab)
{
	return tab == screen->query->type || (tab->key >= '1' && tab->key <= '9');
}

/* Whether the tab has its title; the first nr_named have one, and the view that is shown. */
static bool has_title(const struct screen *screen, size_t tab, size_t nr_named)
{
	return tab < nr_named || shown_by(screen, view_type_at(tab)) == screen->query->type;
}

static int tab_width(const struct screen *screen, size_t tab, size_t nr_named)
{
	const struct view_type *type = view_type_at(tab);

	if (!has_tab(screen, type))
		return 0;
	return 3 + (has_title(screen, tab, nr_named) ?
			    (int)strlen(shown_by(screen, type)->title) + 1 : 0);
}

/* The columns that filter and guest, or the path, take when nothing is cut. */
static int filters_width(const struct screen *screen)
{
	char crumbs[256];
	int width = 0;

	if (screen->crumbs[0]) {
		whole_crumbs(screen, crumbs, sizeof(crumbs));
		return format_width(crumbs) + 1;
	}
	if (screen->filter)
		width += smaller(format_width(screen->filter), FILTER_MAX) + 2;
	if (screen->guest[0])
		width += format_width(screen->guest) + 1 + screen->is_guest_dead * DEAD_WIDTH;
	return width;
}

static int tabs_width(const struct screen *screen, size_t nr_named)
{
	int width = 0;

	for (size_t i = 0; view_type_at(i); i++)
		width += tab_width(screen, i, nr_named);
	return width;
}

/* How many tabs have titles, beside filter and guest: on a narrow screen only the first ones. */
static size_t count_named(const struct screen *screen, const struct grid *grid)
{
	int room = grid->cols - filters_width(screen);
	size_t nr = 0;

	while (view_type_at(nr))
		nr++;
	while (nr && tabs_width(screen, nr) > room)
		nr--;
	return nr;
}

/* Where the first tab begins: left of the screen if the active one would not be seen otherwise. */
static int first_tab_col(const struct screen *screen, const struct grid *grid, size_t nr_named)
{
	const struct view_type *tab;
	int col = 0;

	for (size_t i = 0; (tab = view_type_at(i)); i++) {
		col += tab_width(screen, i, nr_named);
		if (shown_by(screen, tab) == screen->query->type)
			break;
	}
	return smaller(grid->cols - col, 0);
}

void head_paint_tabs(struct screen *screen, struct grid *grid, int row)
{
	size_t nr_named = count_named(screen, grid);
	int col = first_tab_col(screen, grid, nr_named);
	const struct view_type *tab;

	for (size_t i = 0; (tab = view_type_at(i)); i++) {
		const struct view_type *shown = shown_by(screen, tab);
		int first = col;

		col += tab_width(screen, i, nr_named);
		if (first < 0 || !has_tab(screen, tab))
			continue;
		if (shown == screen->query->type)
			grid_printf(grid, row, first, STYLE_TAB, "[%c %s]", tab->key, shown->title);
		else if (!has_title(screen, i, nr_named))
			grid_printf(grid, row, first, STYLE_PLAIN, " %c ", tab->key);
		else
			grid_printf(grid, row, first, STYLE_PLAIN, " %c %s ", tab->key,
				    shown->title);
		screen_add_hit(screen, (struct hit){ HIT_TAB, row, first, col - 1, i });
	}
	paint_filters(screen, grid, row, col);
}
