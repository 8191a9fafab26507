// SPDX-License-Identifier: GPL-2.0-or-later
/* Changes between views: tabs, Enter, and back again. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/text.h"
#include "core/guests/guests.h"
#include "ui/tui/session.h"

void tui_sort(struct tui *tui, size_t column, bool reverse)
{
	*preferences_order(&tui->preferences, tui->query->type) =
		(struct view_order){ tui->query->type, column, reverse };
	tui->query->sort = column;
	tui->query->reverse = reverse;
}

void tui_begin_order(struct tui *tui)
{
	const struct view_order *order =
		preferences_order(&tui->preferences, tui->query->type);

	if (order->type && !tui->config.is_sorted)
		tui_sort(tui, order->sort, order->reverse);
	else
		tui_sort(tui, tui->query->sort, tui->query->reverse);
}

void tui_keep_preferences(struct tui *tui)
{
	struct preferences kept = tui->preferences;
	const struct view_type *type = tui->query->type;
	char path[PATH_MAX];
	struct error error = { "" };

	if (view_type_by_name(type->name) == type)
		kept.view = type;
	if (source_has_now(tui->source->kind))
		kept.interval_s = tui->sampling.delay_s;
	preferences_path(path, sizeof(path));
	if (!path[0])
		error_set(&error, -ENOENT, "Not saved: set HOME or XDG_CONFIG_HOME");
	else if (preferences_write(&kept, path, &error) == 0)
		error_set(&error, 0, "View, order and interval are saved in %s", path);
	tui_say(tui, error.text);
}

static void begin_view(struct tui *tui, const struct view_type *type)
{
	const struct view_order *order = preferences_order(&tui->preferences, type);

	tui->query->type = type;
	tui->query->sort = order->type ? order->sort : query_default_sort(tui->query);
	tui->query->reverse = order->reverse;
	tui->screen.has_cursor = false;
	tui->screen.top = 0;
	tui->screen.nr_hits = 0; /* a click that is read before the next picture has no target */
	tui->sought[0] = '\0';
	tui_ask(tui);
}

/* Returns to the guest, or to all guests, of the query before Enter chose a guest. */
static void leave_guest(struct tui *tui)
{
	if (tui->trail.has_entered_guest)
		tui->query->guest = tui->trail.guest_before;
	tui->trail.has_entered_guest = false;
}

static bool is_of_guests(const struct view_type *type)
{
	return type == &view_guests || type == &view_hosts;
}

/* Where all hosts are shown: hosts instead of guests. */
static const struct view_type *guests_type(const struct tui *tui)
{
	return tui_shows_machines(tui) ? &view_hosts : &view_guests;
}

/*
 * Forgets the way to a view that has a number: such views are places, and Backspace leads out of
 * the other ones. Of the way only the views that lead from all hosts to one stay.
 */
static void forget_views(struct tui *tui)
{
	struct trail *trail = &tui->trail;
	size_t nr = 0;

	while (nr < trail->nr && strcmp(trail->list[nr].machine, tui->back.machine) != 0)
		nr++;
	trail->nr = nr;
}

/* Remembers the query for Backspace; drops the oldest if there are too many. */
static void remember_view(struct tui *tui, const struct query *query)
{
	struct trail *trail = &tui->trail;

	if (trail->nr == TRAIL_MAX)
		memmove(trail->list, trail->list + 1, --trail->nr * sizeof(*trail->list));
	trail->list[trail->nr++] = (struct earlier_view){
		.type = query->type,
		.scope = query->scope,
		.children = query->children,
		.has_entered_guest = trail->has_entered_guest,
		.guest_before = trail->guest_before,
		.selection = tui_selection(tui),
	};
	memcpy(trail->list[trail->nr - 1].machine, tui->back.machine, sizeof(tui->back.machine));
}

/* Beside guest and vCPU, which tabs keep. */
static bool is_narrowed(const struct query *query)
{
	return query->has_reason || query->has_cpu || query->has_argument || query->has_function;
}

void tui_show_view(struct tui *tui, const struct view_type *type)
{
	struct query *query = tui->query;

	if (!type || (type == query->type && !is_narrowed(query)))
		return;
	if (type == &view_why)
		remember_view(tui, query);
	else
		forget_views(tui);
	if (type == &view_guests) {
		leave_guest(tui);
		type = guests_type(tui);
	}
	tui->screen.shows_heat = false; /* another picture, not only another tab */
	query->has_vcpu &= type->takes_vcpu;
	query_widen(query);
	begin_view(tui, type);
}

void tui_step_view(struct tui *tui, int by)
{
	size_t i = 0, nr;

	while (view_type_at(i) && view_type_at(i) != tui->query->type)
		i++;
	if (!view_type_at(i)) /* the view of hosts, which has no tab */
		for (i = 0; view_type_at(i) != &view_guests;)
			i++;
	for (nr = i + 1; view_type_at(nr);)
		nr++;
	tui_show_view(tui, view_type_at((i + nr + (size_t)by) % nr));
}

void tui_set_guest(struct tui *tui, uint32_t guest)
{
	struct query *query = tui->query;

	if (guest == query->guest && !query->has_vcpu && !is_narrowed(query))
		return;
	query_narrow(query, guest);
	tui->trail.has_entered_guest = false;
	forget_views(tui);
	tui->screen.has_cursor = false;
	tui_ask(tui);
}

void tui_go_back(struct tui *tui)
{
	struct query *query = tui->query;
	const struct earlier_view *earlier;
	int err;

	if (!tui->trail.nr) { /* a tab led here */
		query->has_vcpu = false;
		query_widen(query);
		return;
	}
	earlier = &tui->trail.list[tui->trail.nr - 1];
	err = tui_enter_machine(tui, earlier->machine);
	if (err == -EAGAIN)
		tui->again = tui_go_back;
	if (err)
		return;
	tui->trail.nr--;
	query->scope = earlier->scope;
	query->children = earlier->children;
	tui->trail.has_entered_guest = earlier->has_entered_guest;
	tui->trail.guest_before = earlier->guest_before;
	begin_view(tui, earlier->type);
	tui_select(tui, &earlier->selection);
}

void tui_show_guests(struct tui *tui)
{
	if (!is_of_guests(tui->query->type)) {
		remember_view(tui, tui->query);
		leave_guest(tui);
		tui->query->has_vcpu = false;
		query_widen(tui->query);
		begin_view(tui, guests_type(tui));
	} else if (tui->trail.nr) {
		tui_go_back(tui);
	} else {
		tui_show_view(tui, view_type_at(0));
	}
}

static void open_tree(struct tui *tui, uint32_t id)
{
	struct field_set *open = &tui->query->open;
	const struct fields *fields = tui->facts.fields;

	/* All trees are open: closing one keeps the others open. */
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

/* Keeps the row that Enter was pressed on until the server answers. */
static int enter_host(struct tui *tui, const struct view_row *row)
{
	const struct guest *host = guests_find(tui->facts.guests, row->guest);
	int err = host ? tui_enter_machine(tui, host->name) : -ENOENT;

	if (!host)
		tui_say(tui, "This host has no guest now");
	if (err == -EAGAIN) {
		tui->screen.cursor = row_id_of(&tui->view, (size_t)(row - tui->view.rows));
		tui->screen.has_cursor = true;
		tui->again = tui_enter_row;
	}
	return err;
}

bool tui_enter_by(struct tui *tui, const struct view_row *row,
		  bool (*enter)(struct query *query, const struct view_row *row,
				const struct facts *facts, const char **ret_sought))
{
	const struct query before = *tui->query;
	bool is_host = tui_shows_machines(tui) && row && row->guest != GUEST_NONE;
	const char *sought = NULL;

	if (!enter || !enter(tui->query, row, &tui->facts, &sought))
		return false;
	remember_view(tui, &before);
	if (is_host && enter_host(tui, row) < 0) {
		*tui->query = before;
		tui->trail.nr--;
		return true;
	}
	if (is_host)
		query_narrow(tui->query, GUEST_ALL);
	if (is_host && before.type == &view_why) /* first to the findings of the host */
		tui->query->type = before.type;
	if (tui->query->guest != before.guest && !tui->trail.has_entered_guest) {
		tui->trail.has_entered_guest = true;
		tui->trail.guest_before = before.guest;
	}
	begin_view(tui, tui->query->type);
	snprintf(tui->sought, sizeof(tui->sought), "%s", sought ? sought : "");
	return true;
}

/* Each view defines what Enter leads to. */
static bool enter_view(struct tui *tui, const struct view_row *row)
{
	return tui_enter_by(tui, row, tui->query->type->enter);
}

static void say_nothing_below(struct tui *tui, const struct view_row *row)
{
	const char *name = row->is_rest ? "others" : "this row";
	char text[128];

	if (!row->is_rest && row->field != FIELD_NONE)
		name = fields_get(tui->facts.fields, row->field)->name;
	text_put(text, sizeof(text), "Nothing is known below %s", name);
	tui_say(tui, text);
}

void tui_enter_row(struct tui *tui)
{
	const struct view_row *row = tui_selected_row(tui);

	if (!row) {
		if (!tui->view.nr_rows)
			enter_view(tui, NULL);
	} else if (row->can_open && row->guest == STATS_ENDED) {
		tui->query->opens_ended = !row->is_open;
	} else if (row->can_open) {
		open_tree(tui, row->field);
	} else if (row->guest == STATS_ENDED) {
		tui_say(tui, "These guests have ended: only their totals are left");
	} else if (!enter_view(tui, row)) {
		say_nothing_below(tui, row);
	}
}
