// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions on the state for the painters and the event loop: rows, columns, keys. */
#include <stdio.h>
#include <string.h>

#include "ui/numbers.h"
#include "ui/screen/picture.h"

const struct key_help screen_keys[] = {
	{ "h ? F1", "h help", "this help", 0, 'h' },
	{ "q F10", "q quit", "quit", 0, 'q' },
	{ "m", "m table  Left Right time", NULL, KEY_HEAT, 'm' },
	{ "Tab", NULL, NULL, KEY_VIEWS, 0 },
	{ "Enter", "Enter open", "deeper: an event's reasons; guest, vCPU, exit, argument", 0,
	  '\r' },
	{ "Backspace", "Backspace back", "back to where Enter, b, l or w came from", KEY_BACK,
	  '\b' },
	{ "x", "x reasons", "all reasons, or none; all of Who; the tree of calls", KEY_TREES, 'x' },
	{ "G", "G guest code", "with the guest's functions that make the exits, or without",
	  KEY_CODE | KEY_LIVE, 'G' },
	{ "b", "b guests", "by guest, and back", KEY_GUESTS, 'b' },
	{ "f", "f filter", "show what matches a regular expression", 0, 'f' },
	{ "c", NULL, "clear the filter and the guest", 0, 0 },
	{ "g", "g guest", "one guest only, by name or pid", 0, 'g' },
	{ "m", "m heat map", "the row's durations over time, and back to the table", KEY_TABLE,
	  'm' },
	{ "l", "l long", "long exits one by one, of the selected row; there: how long",
	  KEY_EXITS | KEY_TABLE, 'l' },
	{ "I", NULL, "how long interrupts are pending, by vCPU and vector", 0, 0 },
	{ "o", "o order", "sort by rate, or by total", 0, 'o' },
	{ "< > R", "< > column", "sort by the column to the left or right; reverse", 0, '>' },
	{ "r", "r reset", "totals count from now on", KEY_LIVE, 'r' },
	{ "s", "s delay", "interval", KEY_LIVE, 's' },
	{ "Space", "Space hold", "hold this moment; return to now, as does End", KEY_LIVE, ' ' },
	{ "Space", "Space entire", "the entire recording, as does End", KEY_RECORDED, ' ' },
	{ "t T", "t back", "a sample back in time, forward; as Left, Right", 0, 't' },
	{ "j", "j jump", "jump to a time (03:12), back (5m) or forward (+5m)", 0, 'j' },
	{ "d", NULL, "mark this moment; at another one, what changed since then", 0, 0 },
	{ "/ n", "/ search", "search for a name; again", 0, '/' },
	{ "W", NULL, "keep view, order and interval for the next start", 0, 0 },
	{ "w", "w why", "what makes guests slow, and what to do", 0, 'w' },
	{ "Ctrl-L", NULL, "draw the screen anew", 0, 0 },
	{ "arrows", NULL, "move, as do PgUp, PgDn, Home, End; Esc selects no row", 0, 0 },
	{ 0 },
};

bool screen_has_key(const struct screen *screen, const struct key_help *key)
{
	if (key->needs & KEY_LIVE && screen->recording)
		return false;
	if (key->needs & KEY_RECORDED && !screen->recording)
		return false;
	if (key->needs & KEY_CODE && !screen->query->type->has_calls)
		return false;
	return !(key->needs & KEY_TREES) || screen->query->type->has_trees;
}

struct row_id row_id_of(const struct view *view, size_t at)
{
	const struct view_row *row = &view->rows[at];
	struct row_id id = { row->field, row->guest, row->vcpu, FIELD_NONE, row->is_rest,
			     row->rule, row->number };

	/* Each event that is open may have a row for the rest, below it. */
	while (id.is_rest && at && view->rows[at].depth)
		at--;
	if (id.is_rest)
		id.parent = view->rows[at].field;
	return id;
}

bool row_id_equal(const struct row_id *a, const struct row_id *b)
{
	if (a->rule || b->rule) /* what counts most may change */
		return a->rule == b->rule && a->guest == b->guest;
	return a->field == b->field && a->guest == b->guest && a->vcpu == b->vcpu &&
	       a->parent == b->parent && a->is_rest == b->is_rest && a->number == b->number;
}

size_t screen_find_row(const struct screen *screen, const struct row_id *id)
{
	const struct view *view = screen->view;

	for (size_t i = 0; i < view->nr_rows; i++) {
		struct row_id this = row_id_of(view, i);

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

/* Whether the user hides the column; the one that names the row and the sort column stay. */
static bool is_hidden(const struct screen *screen, size_t column)
{
	const char *name = column_name(&screen->view->type->columns[column]), *at = screen->hide;
	size_t len = strlen(name);

	if (!column || column == screen->view->sort)
		return false;
	for (; at && *at; at += strspn(at, " ")) {
		size_t word = strcspn(at, " ");

		if (word == len && memcmp(at, name, len) == 0)
			return true;
		at += word;
	}
	return false;
}

bool screen_has_column(const struct screen *screen, size_t column)
{
	const struct column *columns = screen->view->type->columns;

	return !columns[column].is_for_machines && view_has_column(screen->view, column) &&
	       !is_hidden(screen, column);
}

/* The mark of a row that has ended stands after its name. */
static bool has_ended_rows(const struct view *view)
{
	for (size_t i = 0; i < view->nr_rows; i++) {
		if (view->rows[i].is_gone)
			return true;
	}
	return false;
}

bool screen_is_same_column(const struct screen *screen, size_t column)
{
	const struct column *of = &screen->view->type->columns[column];

	return (of->is_of_guest && screen->query->guest != GUEST_ALL &&
		!has_ended_rows(screen->view)) ||
	       (of->is_of_reason && screen->query->has_reason);
}

/* The names of guests are cut in the middle, so the pid stays. */
static void add_pid(const struct screen *screen, const struct view_row *row, char *buf, size_t size)
{
	const struct guest *guest = guests_find(screen->facts->guests, row->guest);
	size_t len = strlen(buf);

	if (guest && guest->pid)
		snprintf(buf + len, size - len, " (%d)", (int)guest->pid);
}

const char *screen_text_of(const struct screen *screen, const struct view_row *row, size_t column,
			   char *buf, size_t size)
{
	/* Below kvm_exit, kvm_exit(HLT) is HLT. */
	if (!column && row->depth && row->field != FIELD_NONE && view_has_whole_names(screen->view))
		return fields_get(screen->facts->fields, row->field)->label;
	format_cell(buf, size, &row->cells[column], (int)size, false);
	if (row->shares_name && screen->view->type->columns[column].id == COL_GUEST)
		add_pid(screen, row, buf, size);
	return buf;
}

static double span_of(const struct screen *screen, int nr)
{
	double span_s = 0;

	for (int i = 1; i <= nr; i++) {
		double interval_s = screen->intervals_s && i <= SCREEN_HISTORY ?
				    (double)screen->intervals_s[SCREEN_HISTORY - i] : 0;

		span_s += interval_s > 0 ? interval_s : screen->delay_s;
	}
	return span_s;
}

void format_span(char *buf, size_t size, double span_s)
{
	if (span_s > 0 && span_s < 0.95)
		snprintf(buf, size, "%.*fms", span_s < 0.00995 ? 1 : 0, span_s * 1e3);
	else if (span_s < 9.95)
		snprintf(buf, size, "%.1fs", span_s);
	else if (span_s < 180)
		snprintf(buf, size, "%.0fs", span_s);
	else if (span_s < 180 * 60)
		snprintf(buf, size, "%.0fmin", span_s / 60);
	else if (span_s < 72 * 3600)
		snprintf(buf, size, "%.0fh", span_s / 3600);
	else
		snprintf(buf, size, "%.0fd", span_s / 86400);
}

void screen_scale(const struct screen *screen, double end, int nr, int width, char *buf,
		  size_t size)
{
	char rate[32], span[32];
	int len;

	format_count(rate, sizeof(rate), (uint64_t)end, 3, false);
	format_span(span, sizeof(span), span_of(screen, nr));
	len = snprintf(buf, size, "0-%s/s", rate);
	snprintf(buf + len, size - (size_t)len, " %s", span);
	if ((int)strlen(buf) > width)
		buf[len] = '\0';
}
