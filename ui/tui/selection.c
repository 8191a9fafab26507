// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The selected row. It is found by its guest, vCPU and field, so sorting does not change it. While
 * it is not in the view, the arrows move from its last position.
 */
#include <stdio.h>
#include <string.h>

#include "core/guests/guests.h"
#include "core/views/query.h"
#include "ui/screen/picture.h"
#include "ui/tui/session.h"
#include "lib/text.h"

/* The index of the selected row; the number of rows if it is not in the view. */
static size_t find_cursor(const struct tui *tui)
{
	return tui->screen.has_cursor ? screen_find_row(&tui->screen, &tui->screen.cursor) :
					tui->view.nr_rows;
}

void tui_put_cursor(struct tui *tui, size_t at)
{
	if (!tui->view.nr_rows)
		return;
	at = at < tui->view.nr_rows ? at : tui->view.nr_rows - 1;
	tui->screen.cursor = row_id_of(&tui->view, at);
	tui->screen.has_cursor = true;
}

void tui_move_cursor(struct tui *tui, long by)
{
	size_t found = find_cursor(tui);
	bool is_seen = found < tui->view.nr_rows;
	long at = (long)(is_seen ? found : tui->screen.has_cursor ? tui->seen.at : tui->screen.top);

	/* The first arrow shows the cursor where it is; the next one moves it. */
	if (is_seen || (by != 1 && by != -1))
		at += by;
	tui_put_cursor(tui, at < 0 ? 0 : (size_t)at);
}

static void remember_row(struct tui *tui, size_t at)
{
	const struct cell *name = &tui->view.rows[at].cells[0];

	tui->seen.at = at;
	snprintf(tui->seen.name, sizeof(tui->seen.name), "%s",
		 name->type == CELL_TEXT ? name->text : "");
}

/*
 * Selects the sought row, unless the user has selected another row; a notice says when it does
 * not appear.
 */
static void seek_row(struct tui *tui)
{
	char text[SHORT_NAME_SIZE + 32], name[SHORT_NAME_SIZE];

	for (size_t i = 0; !tui->screen.has_cursor && i < tui->view.nr_rows; i++) {
		const struct cell *cell = &tui->view.rows[i].cells[0];

		if (cell->type == CELL_TEXT && strcmp(cell->text, tui->sought) == 0)
			tui_put_cursor(tui, i);
	}
	if (!tui->screen.has_cursor && (tui->sampling.due && !tui->back.monitor))
		return;
	if (!tui->screen.has_cursor && tui->view.nr_rows) {
		snprintf(text, sizeof(text), "%s is not among these",
			 tui_short_name(tui, tui->sought, name));
		tui_say(tui, text);
	}
	tui->sought[0] = '\0';
}

void tui_follow_cursor(struct tui *tui)
{
	size_t at;

	if (tui->sought[0])
		seek_row(tui);
	at = find_cursor(tui);
	if (at < tui->view.nr_rows)
		remember_row(tui, at);
}

static void say_gone(struct tui *tui)
{
	uint32_t guest = tui->screen.cursor.guest;
	bool has_ended = guest != GUEST_NONE && !guests_by_id(tui->facts.guests, guest);
	char text[SHORT_NAME_SIZE + 64], name[SHORT_NAME_SIZE];

	snprintf(text, sizeof(text), "%s %s: choose another row",
		 tui_short_name(tui, tui->seen.name, name),
		 has_ended ? "has ended" : "is no longer here");
	tui_say(tui, text);
}

const struct view_row *tui_selected_row(struct tui *tui)
{
	size_t at;

	if (!tui->view.nr_rows)
		return NULL;
	if (!tui->screen.has_cursor)
		tui_put_cursor(tui, tui->screen.top);
	at = find_cursor(tui);
	if (at < tui->view.nr_rows)
		return &tui->view.rows[at];
	say_gone(tui);
	return NULL;
}

struct selection tui_selection(const struct tui *tui)
{
	struct selection selection = {
		.has_cursor = tui->screen.has_cursor,
		.cursor = tui->screen.cursor,
		.seen = tui->seen,
	};

	return selection;
}

void tui_select(struct tui *tui, const struct selection *selection)
{
	tui->screen.has_cursor = selection->has_cursor;
	tui->screen.cursor = selection->cursor;
	tui->seen = selection->seen;
}

/* Whether the search matches any text of the row. */
static bool is_found(const struct tui *tui, const struct view_row *row)
{
	for (size_t i = 0; i < view_columns(tui->query->type); i++) {
		if (row->cells[i].type == CELL_TEXT &&
		    pattern_match(tui->search, row->cells[i].text) >= 0)
			return true;
	}
	return false;
}

void tui_find_next(struct tui *tui)
{
	size_t nr = tui->view.nr_rows, found = find_cursor(tui);
	size_t from = found < nr ? found + 1 : tui->screen.has_cursor ? tui->seen.at : 0;

	for (size_t i = 0; tui->search && i < nr; i++) {
		size_t at = (from + i) % nr;

		if (is_found(tui, &tui->view.rows[at])) {
			tui_put_cursor(tui, at);
			return;
		}
	}
	if (tui->search)
		tui_say(tui, "Not found");
}

/* ---- for large screens: tables of the exits and the vCPUs of the selected guest or vCPU ---- */

/* A query with the main query's filter, for the guest and the vCPU of the selected row. */
static struct query query_of_row(const struct tui *tui, const struct view_type *type)
{
	const struct row_id *row = &tui->screen.cursor;
	struct query query = *tui->query;

	query.type = type;
	query.sort = view_default_sort(type);
	query.reverse = false;
	if (tui->screen.has_cursor && row->guest != GUEST_NONE)
		query.guest = row->guest;
	if (tui->screen.has_cursor && row->vcpu >= 0) {
		query.has_vcpu = true;
		query.vcpu = row->vcpu;
	}
	return query;
}

static void describe_detail(struct tui *tui, const struct query *query, char *title, size_t size)
{
	const struct guest *guest = guests_find(tui->facts.guests, query->guest);

	text_put(title, size, "%s of %s", query->type->title, guest ? guest->name : "all guests");
	if (query->has_vcpu)
		text_add(title, size, " vCPU %d", (int)query->vcpu);
}

/* A table without rows is left out. */
static void add_detail(struct tui *tui, const struct view_type *type)
{
	size_t nr = tui->screen.nr_details;
	struct screen_detail *detail = &tui->screen.details[nr];
	struct query *query = &tui->details.queries[nr];
	struct view *view = &tui->details.views[nr];

	*query = query_of_row(tui, type);
	view_build(view, query, &tui->facts);
	if (!view->nr_rows)
		return;
	detail->view = view;
	detail->query = query;
	describe_detail(tui, query, detail->title, sizeof(detail->title));
	tui->screen.nr_details++;
}

void tui_build_details(struct tui *tui)
{
	const struct view_type *const *details = tui->query->type->details;
	bool has_guest = tui->screen.has_cursor && tui->screen.cursor.guest != GUEST_NONE;

	tui->screen.nr_details = 0;
	if (!screen_has_details(&tui->screen, &tui->grid) ||
	    (has_guest && tui->screen.cursor.guest == STATS_ENDED))
		return;
	for (size_t i = 0; i < VIEW_DETAILS && details[i]; i++) {
		if (has_guest || !(details[i]->groups & GROUP_GUEST))
			add_detail(tui, details[i]);
	}
}

void tui_release_details(struct tui *tui)
{
	for (size_t i = 0; i < VIEW_DETAILS; i++)
		view_release(&tui->details.views[i]);
}
