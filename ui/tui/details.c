// SPDX-License-Identifier: GPL-2.0-or-later
/* For large screens: tables of the exits and the vCPUs of the selected guest or vCPU. */
#include <stdio.h>

#include "core/guests/guests.h"
#include "ui/screen/screen.h"
#include "ui/tui/actions.h"
#include "core/views/query.h"

/* A query with the main query's filter, for the guest and the vCPU of the selected row. */
static struct query query_of_row(const struct tui *tui, const struct view_type *type)
{
	const struct row_id *row = &tui->screen.cursor;
	struct query query = *tui->query;

	query.type = type;
	query.sort = view_usual_sort(type);
	query.reverse = false;
	if (tui->screen.has_cursor && row->guest != GUEST_ANY)
		query.guest = row->guest;
	if (tui->screen.has_cursor && row->vcpu >= 0) {
		query.has_vcpu = true;
		query.vcpu = row->vcpu;
	}
	return query;
}

static void describe(struct tui *tui, const struct query *query, char *title, size_t size)
{
	const struct guest *guest = guests_find(tui->facts.guests, query->guest);
	int len = snprintf(title, size, "%s of %s", query->type->title,
			   guest ? guest->name : "all guests");

	if (query->has_vcpu && len < (int)size)
		snprintf(title + len, size - (size_t)len, " vCPU %d", (int)query->vcpu);
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
	describe(tui, query, detail->title, sizeof(detail->title));
	tui->screen.nr_details++;
}

void tui_build_details(struct tui *tui)
{
	const struct view_type *const *details = tui->query->type->details;
	bool has_guest = tui->screen.has_cursor && tui->screen.cursor.guest != GUEST_ANY;

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
