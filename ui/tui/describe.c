// SPDX-License-Identifier: GPL-2.0-or-later
/* What the screen says beside the table: guest, path, troubles, findings, why it is empty. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/text.h"
#include "lib/when.h"
#include "history/past.h"
#include "history/recorder.h"
#include "core/guests/guests.h"
#include "ui/numbers.h"
#include "ui/tui/session.h"

#define NOTICE_NS 5000000000ull /* how long a notice stays */

/* ---- the guest, the path to what is shown, and what does not work ---- */

/* A notice disappears after a while; a trouble stays while the problem exists. */
static void choose_notice(struct tui *tui)
{
	const char *trouble = monitor_notice(tui_monitor(tui), 0);
	struct error error = { "" };

	if (!trouble && past_check(tui->source->past, &error) < 0)
		trouble = error.text;
	if (tui->said_ns && clock_now_ns() - tui->said_ns >= NOTICE_NS)
		tui_unsay(tui);
	text_put(tui->screen.trouble, sizeof(tui->screen.trouble), "%s", trouble ? trouble : "");
	if (!trouble && tui->config.writer)
		recorder_notice(tui->config.writer, tui->screen.trouble,
				sizeof(tui->screen.trouble));
	if (!tui->screen.trouble[0] && tui->source->recorder)
		recorder_notice(tui->source->recorder, tui->screen.trouble,
				sizeof(tui->screen.trouble));
}

static void describe_guest(struct tui *tui)
{
	const struct guests *guests = tui->facts.guests;
	const struct guest *guest = guests_find(guests, tui->query->guest);
	struct screen *screen = &tui->screen;

	screen->is_guest_dead = tui->query->guest != GUEST_ALL && (!guest || guest->has_ended);
	if (tui->query->guest == GUEST_ALL) {
		screen->guest[0] = '\0';
		tui->guest.choice = (struct guest_choice){ .id = GUEST_ALL };
	}
	if (!guest)
		return;
	if (guest->pid)
		snprintf(screen->guest, sizeof(screen->guest), "%s (pid %d)", guest->name,
			 (int)guest->pid);
	else
		snprintf(screen->guest, sizeof(screen->guest), "%s", guest->name);
	snprintf(tui->guest.name, sizeof(tui->guest.name), "%s", guest->name);
	guest_choice_point(&tui->guest.choice, guests, guest);
}

/* "web1 > vCPU 2 > HLT": the path from guest to exit. */
static void describe_path(struct tui *tui)
{
	const struct query *query = tui->query;
	const struct fields *fields = tui->facts.fields;
	const struct stacks *stacks = monitor_facts(tui->source->monitor)->stacks;
	const char *sign = tui->screen.is_utf8 ? "›" : ">";
	char *crumbs = tui->screen.crumbs, text[32];
	size_t size = sizeof(tui->screen.crumbs);

	crumbs[0] = '\0';
	if (!query->has_vcpu && !query->has_reason && !query->has_cpu && !query->has_function &&
	    query->type != &view_long_exits)
		return;
	text_put(crumbs, size, "%s", query->guest == GUEST_ALL ? "all guests" : tui->guest.name);
	if (query->has_cpu)
		text_add(crumbs, size, " %s CPU %u", sign, query->cpu);
	if (query->has_vcpu)
		text_add(crumbs, size, " %s vCPU %d", sign, (int)query->vcpu);
	if (query->has_reason)
		text_add(crumbs, size, " %s %s", sign, fields_get(fields, query->reason)->label);
	if (query->has_argument)
		text_add(crumbs, size, " %s %s", sign, fields_get(fields, query->argument)->label);
	if (query->has_function)
		text_add(crumbs, size, " %s %s", sign,
			 stacks_function_at(stacks, query->function)->name);
	if (query->type != &view_long_exits)
		return;
	format_duration(text, sizeof(text), query->longer_ns);
	text_add(crumbs, size, " %s longer than %s", sign, text);
}

void tui_describe(struct tui *tui)
{
	describe_guest(tui);
	describe_path(tui);
	choose_notice(tui);
}

/* ---- the worst finding, for the line at the top of the screen ---- */

/* A moment of the past and a recording are one interval: their findings are shown at once. */
static const struct finding *worst_then(const struct findings *findings)
{
	const struct finding *worst = NULL;

	for (size_t i = 0; i < findings->nr; i++) {
		if (!worst || finding_is_worse(&findings->list[i], worst))
			worst = &findings->list[i];
	}
	return worst;
}

static void describe_finding(struct tui *tui, const struct finding *finding, size_t nr)
{
	const struct guest *guest = guests_find(tui->facts.guests, finding->guest);
	struct screen *screen = &tui->screen;
	char more[32] = "", name[SHORT_NAME_SIZE];

	if (nr > 1)
		snprintf(more, sizeof(more), ", and %zu more", nr - 1);
	snprintf(screen->finding_more, sizeof(screen->finding_more), "%s: press %c", more,
		 view_why.key);
	text_put(screen->finding, sizeof(screen->finding), "%s: %s (%s)",
		 guest ? tui_short_name(tui, guest->name, name) : "all guests",
		 finding->rule->finding, severity_name(finding->severity));
	screen->has_finding = true;
	screen->finding_why = finding->evidence;
	screen->finding_remedy = finding->remedy;
}

static void find(struct tui *tui)
{
	findings_find(&tui->worst.findings, &tui->facts, tui->query->guest,
		      tui->query->thresholds);
}

/* The view of causes counts what other views do not. */
static void describe_health(struct tui *tui)
{
	bool is_known = tui->back.monitor || !tui->sampling.due;

	if (!is_known || !guests_count(tui->facts.guests))
		return;
	text_put(tui->screen.finding, sizeof(tui->screen.finding),
		 "Nothing found that makes guests slow");
	snprintf(tui->screen.finding_more, sizeof(tui->screen.finding_more), "; %c looks for more",
		 view_why.key);
}

/* Live findings are taken once for each sample. They may need other evidence than before. */
static void follow_now(struct tui *tui)
{
	struct worst *worst = &tui->worst;
	uint64_t tick = tui->facts.stats->tick;
	bool had_waits = findings_has_waits(&worst->followed);

	if (worst->guest != tui->query->guest) {
		findings_narrow(&worst->followed, tui->query->guest);
		worst->guest = tui->query->guest;
		worst->tick = 0;
	}
	if (worst->tick == tick)
		return;
	worst->tick = tick;
	find(tui);
	findings_follow(&worst->followed, &worst->findings);
	if (findings_has_waits(&worst->followed) != had_waits)
		tui_ask_now(tui);
}

void tui_follow_worst(struct tui *tui)
{
	bool is_now = source_has_now(tui->source->kind) && !tui->back.monitor;
	struct worst *worst = &tui->worst;
	const struct finding *finding;
	bool has_rows = tui->query->type == &view_why; /* these rows show the findings */

	if (is_now)
		follow_now(tui);
	else if (!has_rows)
		find(tui);
	tui->query->followed = is_now ? &worst->followed : NULL;
	tui->screen.finding[0] = tui->screen.finding_more[0] = '\0';
	tui->screen.has_finding = false;
	if (has_rows)
		return;
	finding = is_now ? findings_named(&worst->followed) : worst_then(&worst->findings);
	if (finding)
		describe_finding(tui, finding, is_now ? findings_count_steady(&worst->followed) :
						worst->findings.nr);
	else
		describe_health(tui);
}

void tui_release_worst(struct tui *tui)
{
	findings_release(&tui->worst.findings);
	findings_release(&tui->worst.followed);
}

/* ---- an empty table: why there are no rows, and what to do ---- */

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
			"arguments, most others have none. Enter shows its %s.",
		   fields_get(tui->facts.fields, tui->query->reason)->label,
		   facts_lack(&tui->facts, NEED_STACKS) ? "vCPUs" : "code");
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

static const char *why_no_exits(struct tui *tui, const char *error)
{
	if (!has_reasons(tui->facts.fields))
		return say(tui, "This view needs what cannot be counted here. %s", error);
	return say(tui, "This view needs what cannot be counted here. %s. Press %c, then x: that "
			"counts reasons, without times.", error, view_events.key);
}

static const char *why_ended(struct tui *tui)
{
	return say(tui, "%s has ended; %s", tui->guest.name,
		   tui->trail.nr ? "Backspace goes back" : "c shows all guests");
}

static const char *why_filtered(struct tui *tui)
{
	struct error error = { "" };

	if (pattern_check(tui->query->filter, &error) < 0)
		return say(tui, "%s", error.text);
	return say(tui, "The filter %s matches no %s; c clears it",
		   pattern_text(tui->query->filter), tui->query->type->noun);
}

static const char *why_no_findings(const struct tui *tui)
{
	if (tui->sampling.due && !tui->back.monitor)
		return "Counting ...";
	return "Nothing found in this interval. kvmtop-why(8) has the causes that are looked for.";
}

#define NOT_KNOWN "No long exits are known." /* the view's note says why */

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
	if (exits_are_untimed(&tui->facts))
		return NOT_KNOWN;
	return say(tui, "No exit took longer than %s since %s; l sets how long", longer, since);
}

static const char *why_not_long(struct tui *tui)
{
	char longer[32];

	if (tui->facts.long_exits->none)
		return NOT_KNOWN;
	format_duration(longer, sizeof(longer), tui->query->longer_ns);
	if (!tui_is_recording(tui))
		return why_none_since(tui, longer);
	return say(tui, "No exit took longer than %s; l sets how long", longer);
}

static const char *why_nothing(struct tui *tui)
{
	const struct query *query = tui->query;
	bool is_recorded = tui_is_recording(tui);

	if (tui->view.lacks)
		return tui->view.lacks;
	if (tui_shows_machines(tui) && query->type != &view_hosts && query->type != &view_exits)
		return say(tui, "This is known of one host at a time: press %c, then Enter on a "
				"host", view_guests.key);
	if (tui->source->past && past_has_machines(tui->source->past) && query->has_vcpu)
		return say(tui, "Prometheus has the exits of a guest, not of a vCPU: Backspace, "
				"then %c", view_exits.key);
	if (query->type == &view_long_exits && !query->filter)
		return why_not_long(tui);
	if (query->type == &view_why && !query->filter)
		return why_no_findings(tui);
	if (query->type == &view_where && !query->filter)
		return tui->back.monitor ? "Code is sampled now, not then; End leads back" :
					   "No code of this kind has been sampled yet";
	if (query->filter && !query_selects_any(query, tui->facts.fields))
		return why_filtered(tui);
	if (tui->back.monitor && !query_is_counted(query, &tui->facts))
		return "Nothing of this view was counted at that moment; End leads back";
	if (query->type == &view_hotspots && query->has_reason)
		return why_no_arguments(tui);
	if (is_recorded)
		return tui->back.monitor ? "Nothing of this kind happened until then." :
					   "Nothing of this kind is in the recording.";
	if (query->type == &view_host)
		return "No host CPU is known."; /* the view's note says why */
	return query->type->has_events ? "No matching events reported yet" :
					 "Nothing has been counted yet";
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
