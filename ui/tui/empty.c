// SPDX-License-Identifier: GPL-2.0-or-later
/* The text of an empty table: why there are no rows, and what to do. */
#include <stdarg.h>
#include <stdio.h>

#include "lib/clock.h"
#include "lib/when.h"
#include "history/past.h"
#include "core/guests/guests.h"
#include "ui/numbers.h"
#include "ui/tui/actions.h"

static const char *say(struct tui *tui, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static const char *say(struct tui *tui, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(tui->empty, sizeof(tui->empty), fmt, args);
	va_end(args);
	return tui->empty;
}

/* Most exits have no arguments. */
static const char *why_no_arguments(struct tui *tui)
{
	return say(tui, "No argument of %s seen yet. I/O, MSR, CPUID and hypercall exits have "
			"arguments, most others have none. Enter shows its vCPUs.",
		   fields_get(tui->facts.fields, tui->query->reason)->label);
}

static bool has_reasons(const struct fields *fields)
{
	for (uint32_t i = 0; i < fields_count(fields); i++) {
		const struct field *field = fields_get(fields, i);

		if (field->use == USE_EVENT && field->exit_rank && field->has_children)
			return true;
	}
	return false;
}

static const char *why_no_exits(struct tui *tui, const char *why)
{
	if (!has_reasons(tui->facts.fields))
		return say(tui, "This view needs what cannot be counted here. %s", why);
	return say(tui, "This view needs what cannot be counted here. %s. Press %c, then x: that "
			"counts reasons, without times.", why, view_events.key);
}

static const char *why_ended(struct tui *tui)
{
	return say(tui, "%s has ended; %s", tui->guest.name,
		   tui->ways.nr ? "Backspace goes back" : "c shows all guests");
}

static const char *why_filtered(struct tui *tui)
{
	return say(tui, "The filter %s matches no %s; c clears it",
		   pattern_text(tui->query->filter), tui->query->type->noun);
}

static const char *why_no_findings(const struct tui *tui)
{
	if (tui->sampling.due && !tui->back.monitor)
		return "Counting ...";
	return "Nothing found in this interval. kvmtop-why(8) has the causes that are looked for.";
}

/* The live list has the exits since it was first shown. */
static const char *why_none_since(struct tui *tui, const char *longer)
{
	uint64_t since_ns = tui->facts.long_exits->since_ns, now_ns = clock_real_ns();
	char since[WHEN_SIZE];

	when_format(since, sizeof(since), since_ns, now_ns);
	if (!since_ns)
		return tui->back.monitor ? "Long exits were not listed then: End leads back to "
					   "now, and the list begins" :
					   "Long exits are listed from now on";
	if (tui->query->until_ns && tui->query->until_ns <= since_ns)
		return say(tui, "Long exits were not listed then: the list of exits longer than %s "
				"begins at %s", longer, since);
	return say(tui, "No exit took longer than %s since %s; l sets how long", longer, since);
}

static const char *why_not_long(struct tui *tui)
{
	char longer[32];

	if (tui->facts.long_exits->none)
		return "No long exits are known."; /* the view's note says why */
	format_duration(longer, sizeof(longer), tui->query->longer_ns);
	if (!tui_is_recording(tui))
		return why_none_since(tui, longer);
	return say(tui, "No exit took longer than %s; l sets how long", longer);
}

static const char *why_nothing(struct tui *tui)
{
	const struct query *query = tui->query;
	bool is_recorded = tui_is_recording(tui);

	if (query_lacks(query, &tui->facts))
		return query_lacks(query, &tui->facts);
	if (tui_shows_machines(tui) && query->type != &view_hosts && query->type != &view_exits)
		return say(tui, "This is known of one host at a time: press %c, then Enter on a "
				"host", view_guests.key);
	if (tui->source->past && past_has_machines(tui->source->past) && query->has_vcpu)
		return say(tui, "Prometheus has the exits of a guest, not of a vCPU: Backspace, "
				"then %c", view_exits.key);
	if (query->type->by_guest && !guests_count(tui->facts.guests))
		return is_recorded ? "The recording has no guest." : "No guest is running.";
	if (query->type == &view_long_exits && !query->filter)
		return why_not_long(tui);
	if (query->type == &view_why && !query->filter)
		return why_no_findings(tui);
	if (query->filter && !query_selects_any(query, tui->facts.fields))
		return why_filtered(tui);
	if (tui->back.monitor && !query_is_counted(query, &tui->facts))
		return "Nothing of this view was counted at that moment; End leads back";
	if (query->type == &view_hotspots && query->has_reason)
		return why_no_arguments(tui);
	if (is_recorded)
		return tui->back.monitor ? "Nothing of this kind happened until then." :
					   "Nothing of this kind is in the recording.";
	return "No matching events reported yet";
}

const char *tui_why_empty(struct tui *tui)
{
	const struct monitor *monitor = tui_monitor(tui);
	const char *no_exits = monitor_no_exits(monitor);

	if (!monitor_is_live(monitor))
		return "Waiting for KVM";
	if (tui->query->type->is_timed && no_exits)
		return why_no_exits(tui, no_exits);
	if (tui->sampling.is_opening && !tui->back.monitor)
		return "Opening events ...";
	if (query_is_of_ended(tui->query, &tui->facts))
		return why_ended(tui);
	return why_nothing(tui);
}
