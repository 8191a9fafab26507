// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The list of long exits: its key, its threshold, and looks back. Remembered samples have no long
 * exits: at a moment of the past, the live list is shown up to that moment.
 */
#include <errno.h>
#include <stdio.h>

#include "lib/units.h"
#include "history/past.h"
#include "ui/numbers.h"
#include "ui/tui/actions.h"

static int take_threshold(struct tui *tui, const char *text, struct error *why)
{
	uint64_t longer_ns = LONG_EXITS_DEFAULT_NS;
	int err = text[0] ? duration_parse(text, &longer_ns, why) : 0;

	if (err)
		return err;
	if (tui_is_recording(tui) && longer_ns < tui->source->recording.longer_ns)
		return error_set(why, -EINVAL, "for shorter ones start kvmtop report with --longer "
					     "and the time");
	tui->query->longer_ns = longer_ns ? longer_ns : 1;
	tui_ask(tui);
	return 0;
}

static void prompt_threshold(struct tui *tui)
{
	char label[96];
	char now[32], usual[32];

	format_duration(now, sizeof(now), tui->query->longer_ns);
	format_duration(usual, sizeof(usual), LONG_EXITS_DEFAULT_NS);
	snprintf(label, sizeof(label), "Longer than (now %s, Enter: %s): ", now, usual);
	tui_open_prompt(tui, label, "", take_threshold);
}

/* Halts are not listed, unless a halt is selected. */
static bool enter(struct query *query, const struct view_row *row, const struct facts *facts,
		  const char **ret_sought)
{
	(void)facts;
	(void)ret_sought;
	query->has_halts = row && row->is_idle;
	query->has_reason = row != NULL;
	if (row)
		query->reason = row->field;
	query->type = &view_long_exits;
	return true;
}

void tui_show_long(struct tui *tui)
{
	bool has_exit = tui->query->type->groups & GROUP_REASON && tui->screen.has_cursor;

	if (tui->query->type == &view_long_exits)
		prompt_threshold(tui);
	else
		tui_enter_by(tui, has_exit ? tui_selected_row(tui) : NULL, enter);
}

void tui_look_at_long(struct tui *tui)
{
	const struct source_recording *recording = &tui->source->recording;

	tui->query->until_ns = 0;
	if (!tui->back.monitor)
		return;
	tui->query->until_ns = past_at(tui->source->past)->time_ns;
	if (tui_is_recording(tui))
		tui->query->until_ns -= recording->start_ns;
	tui->facts.long_exits = monitor_facts(tui->source->monitor)->long_exits;
}
