// SPDX-License-Identifier: GPL-2.0-or-later
/* Which view is shown, of what: the tabs, how Enter goes deeper, and how Backspace comes back. */
#include <stdio.h>
#include <string.h>

#include "facts/exit_counter.h"
#include "host/guest.h"
#include "ui/tui/tui_private.h"

static void begin_view(struct tui *tui, const struct view_type *type)
{
	tui->query->type = type;
	tui->query->sort = type->sort;
	tui->query->reverse = false;
	tui->screen.has_cursor = false;
	tui->screen.top = 0;
	tui->sought[0] = '\0';
	tui_ask(tui);
}

static bool is_below_vcpus(const struct view_type *type)
{
	return type == &view_exits || type == &view_hotspots;
}

/* The guests to choose from are all that there were before one was chosen. */
static void leave_guest(struct tui *tui)
{
	if (tui->has_entered_guest)
		tui->query->guest = tui->guest_before;
	tui->has_entered_guest = false;
}

void tui_show_view(struct tui *tui, const struct view_type *type)
{
	struct query *query = tui->query;

	if (!type || (type == query->type && !query->has_reason))
		return;
	if (type == &view_guests)
		leave_guest(tui);
	tui->nr_ways = 0;
	query->has_vcpu &= is_below_vcpus(type);
	query->has_reason = false;
	begin_view(tui, type);
}

void tui_step_view(struct tui *tui, int by)
{
	size_t i = 0, nr;

	while (view_type_at(i) != tui->query->type)
		i++;
	for (nr = i + 1; view_type_at(nr);)
		nr++;
	tui_show_view(tui, view_type_at((i + nr + (size_t)by) % nr));
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

/* Remembers where we are, for Backspace: the latest few. */
static void remember_way(struct tui *tui)
{
	const struct query *query = tui->query;

	if (tui->nr_ways == WAYS_MAX)
		memmove(tui->ways, tui->ways + 1, --tui->nr_ways * sizeof(*tui->ways));
	tui->ways[tui->nr_ways++] = (struct way){
		.type = query->type,
		.guest = query->guest,
		.has_vcpu = query->has_vcpu,
		.vcpu = query->vcpu,
		.has_reason = query->has_reason,
		.reason = query->reason,
		.has_entered_guest = tui->has_entered_guest,
		.guest_before = tui->guest_before,
		.selection = tui_selection(tui),
		.sort = query->sort,
		.reverse = query->reverse,
	};
}

void tui_go_back(struct tui *tui)
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
	tui->has_entered_guest = way->has_entered_guest;
	tui->guest_before = way->guest_before;
	begin_view(tui, way->type);
	query->sort = way->sort;
	query->reverse = way->reverse;
	tui_select(tui, &way->selection);
}

void tui_show_guests(struct tui *tui)
{
	if (tui->query->type != &view_guests) {
		remember_way(tui);
		leave_guest(tui);
		tui->query->has_vcpu = tui->query->has_reason = false;
		begin_view(tui, &view_guests);
	} else if (tui->nr_ways) {
		tui_go_back(tui);
	} else {
		tui_show_view(tui, &view_events);
	}
}

/* ---- deeper ---- */

/* From now on it is about this guest, and no vCPU or reason of it. */
static void narrow_to(struct tui *tui, uint32_t guest)
{
	struct query *query = tui->query;

	remember_way(tui);
	if (guest != query->guest && !tui->has_entered_guest) {
		tui->has_entered_guest = true;
		tui->guest_before = query->guest;
	}
	query->guest = guest;
	query->has_vcpu = query->has_reason = false;
}

/* A guest's vCPUs; its events where nobody counts by vCPU. */
static void enter_guest(struct tui *tui, uint32_t guest)
{
	narrow_to(tui, guest);
	begin_view(tui, fields_have_exits(tui->facts.fields) ? &view_vcpus : &view_events);
}

/* Its exits; the one that its vCPUs were compared by is selected there. */
static void enter_vcpu(struct tui *tui, const struct view_row *row)
{
	bool has_reason = tui->query->has_reason;

	narrow_to(tui, row->guest);
	tui->query->has_vcpu = true;
	tui->query->vcpu = row->vcpu;
	begin_view(tui, &view_exits);
	if (has_reason)
		snprintf(tui->sought, sizeof(tui->sought), "%s",
			 fields_get(tui->facts.fields, tui->query->reason)->label);
}

static void enter_exit(struct tui *tui, uint32_t reason)
{
	remember_way(tui);
	tui->query->has_reason = true;
	tui->query->reason = reason;
	begin_view(tui, &view_hotspots);
}

/* Whose it is: the vCPUs of the row's guest, by the exits that the row is about. */
static void enter_spot(struct tui *tui, const struct view_row *row)
{
	struct query *query = tui->query;
	uint32_t reason = row ? fields_get(tui->facts.fields, row->field)->reason : FIELD_NONE;
	bool had_reason = query->has_reason;

	narrow_to(tui, row ? row->guest : query->guest);
	query->has_reason = had_reason || reason != FIELD_NONE;
	if (!had_reason)
		query->reason = reason;
	begin_view(tui, &view_vcpus);
}

static void open_tree(struct tui *tui, uint32_t id)
{
	struct field_set *open = &tui->query->open;
	const struct fields *fields = tui->facts.fields;

	/* Closing one of all: the others stay open. */
	if (tui->query->children) {
		for (uint32_t i = 0; i < fields_count(fields); i++) {
			if (fields_get(fields, i)->has_children)
				field_set_add(open, i);
		}
		tui->query->children = false;
	}
	if (field_set_has(open, id))
		field_set_del(open, id);
	else
		field_set_add(open, id);
	tui_ask(tui);
}

/* An event's reasons; a reason among the exits, where what it costs is told. */
static void enter_event(struct tui *tui, const struct view_row *row)
{
	const struct fields *fields = tui->facts.fields;
	const struct field *field = row->is_rest ? NULL : fields_get(fields, row->field);
	char text[128];

	if (row->can_open) {
		open_tree(tui, row->field);
		return;
	}
	if (field && field->parent != FIELD_NONE &&
	    fields_get(fields, field->parent)->exit_rank) {
		remember_way(tui);
		begin_view(tui, &view_exits);
		snprintf(tui->sought, sizeof(tui->sought), "%s", field->label);
		return;
	}
	snprintf(text, sizeof(text), "Nothing is known below %s", field ? field->name : "others");
	tui_say(tui, text);
}

void tui_enter_row(struct tui *tui)
{
	const struct view_type *type = tui->query->type;
	const struct view_row *row = tui_selected_row(tui);

	if (type == &view_hotspots && !tui->view.nr_rows && tui->query->has_reason)
		enter_spot(tui, NULL);
	if (!row)
		return;
	if (type == &view_events)
		enter_event(tui, row);
	else if (type == &view_exits)
		enter_exit(tui, row->field);
	else if (row->is_rest || row->guest == STATS_ENDED)
		tui_say(tui, "These guests have ended: only their totals are left");
	else if (type == &view_guests)
		enter_guest(tui, row->guest);
	else if (type == &view_vcpus)
		enter_vcpu(tui, row);
	else if (type == &view_hotspots)
		enter_spot(tui, row);
}
