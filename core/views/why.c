// SPDX-License-Identifier: GPL-2.0-or-later
/* The view of causes: a row for each finding, with its evidence and what to do, worst first. */
#include <stdio.h>
#include <string.h>

#include "core/facts/facts.h"
#include "core/findings/findings.h"
#include "core/views/view.h"
#include "core/views/query.h"
#include "lib/text.h"

static const struct column columns[] = {
	{ COL_FINDING, .least = 30 },
	{ COL_GUEST, .width = 16, .least = 10, .is_key = true, .is_of_guest = true },
	{ COL_SEVERITY, .rank = 1, .least = 8 },
	{ .id = COL_COST },
	{ .id = COL_EVIDENCE },
	{ .id = COL_REMEDY },
	{ COL_RULE, .is_for_machines = true, .is_key = true },
	{ COL_PID, .is_for_machines = true, .is_key = true, .help = "of the guest's process" },
	{ COL_VCPU, .is_for_machines = true, .is_key = true, .help = "where it is worst" },
	{ .id = COL_NONE },
};
VIEW_TABLE_FITS(columns);

enum { FINDING, GUEST, SEVERITY, COST, EVIDENCE, REMEDY, RULE, PID, VCPU }; /* their order */

/* A filter selects findings by their names and words. */
static bool is_selected(const struct query *query, const struct finding *finding)
{
	return !query->filter || pattern_match(query->filter, finding->rule->id) >= 0 ||
	       pattern_match(query->filter, finding->rule->finding) >= 0;
}

static void add_row(struct view *view, const struct facts *facts, const struct finding *finding)
{
	const struct guest *guest = guests_find(facts->guests, finding->guest);
	struct view_row *row = view_add(view);

	row->guest = finding->guest;
	row->field = finding->field;
	row->rule = (uint8_t)(rule_index(finding->rule) + 1);
	row->is_gone = finding->guest != GUEST_ALL && (!guest || guest->has_ended);
	row->cells[FINDING] = cell_text(finding->rule->finding);
	row->cells[GUEST] = finding->guest == GUEST_ALL ? cell_text("all guests") :
							  cell_guest(guest);
	row->cells[SEVERITY] = cell_text(severity_name(finding->severity));
	if (finding->has_cost)
		row->cells[COST] = (struct cell){ .type = CELL_PERCENT,
						  .number = finding->cost * 100 };
	row->cells[EVIDENCE] = cell_text(finding->evidence);
	row->cells[REMEDY] = cell_text(finding->remedy);
	row->cells[RULE] = cell_text(finding->rule->id);
	if (guest)
		row->cells[PID] = cell_pid(guest->pid);
	if (finding->vcpu >= 0)
		row->cells[VCPU] = cell_count((uint64_t)finding->vcpu);
}

/* In the view's memory, because its texts are here. */
struct kept {
	char untold[256];
	struct finding findings[];
};

/* Names the rules about times and the host for which the recording has no fields. NULL: none. */
static const char *say_untold(const struct findings *findings, struct kept *kept)
{
	const size_t size = sizeof(kept->untold);
	const struct rule *rule;
	size_t len = 0;

	for (size_t i = 0; (rule = rule_at(i)); i++) {
		bool is_listed = rule->what.use == USE_TIME || rule->what.use == USE_HOST;

		if (is_listed && !findings_can_have(findings, rule) && len < size)
			len += (size_t)snprintf(kept->untold + len, size - len, "%s%s",
						len ? ", " : "This recording cannot show: ",
						rule->id);
	}
	if (len && len < size)
		snprintf(kept->untold + len, size - len, ": see kvmtop-why(8).");
	return len ? kept->untold : NULL;
}

static void build(struct view *view, const struct query *query, const struct facts *facts)
{
	struct findings findings = { 0 };
	const struct findings *from = query->followed ? query->followed : &findings;
	struct kept *kept;

	if (!query->followed)
		findings_find(&findings, facts, query->guest, query->thresholds);
	kept = view_scratch(view, sizeof(*kept) + from->nr * sizeof(struct finding));
	if (from->nr)
		memcpy(kept->findings, from->list, from->nr * sizeof(struct finding));
	if (facts_lack(facts, NEED_TIMES))
		view->note = facts_lack(facts, NEED_TIMES);
	else if (!fields_have_exits(facts->fields))
		view->note = "Exits cannot be timed here: only causes that events show are looked "
			     "for.";
	else if (exits_note(facts))
		view->note = "KVM does not trace the VM exits of these guests: only causes that "
			     "need no times of exits are looked for.";
	else if (facts->is_span)
		view->note = say_untold(&findings, kept);
	for (size_t i = 0; i < from->nr; i++) {
		if (is_selected(query, &kept->findings[i]) &&
		    query_has_guest(query, kept->findings[i].guest))
			add_row(view, facts, &kept->findings[i]);
	}
	findings_release(&findings);
}

/* Enter on a finding leads to the view of its guest that shows more of it. */
static bool enter(struct query *query, const struct view_row *row, const struct facts *facts,
		  const char **ret_sought)
{
	static const struct view_type *const ways[] = {
		[TARGET_VCPUS] = &view_vcpus,
		[TARGET_EXITS] = &view_exits,
		[TARGET_ARGUMENTS] = &view_hotspots,
		[TARGET_EVENTS] = &view_events,
	};

	(void)facts;
	(void)ret_sought;
	if (!row)
		return false;
	query_narrow(query, row->guest);
	query->type = ways[rule_at(row->rule - 1U)->target];
	return true;
}

/* Who had the CPU is the evidence of waits; query_wants() leaves it out while none is found. */
static bool needs(const struct field *field)
{
	return field->use == USE_WAIT || findings_need(field);
}

const struct view_type view_why = {
	.name = "why",
	.key = 'w',
	.title = "Why",
	.noun = "finding",
	.columns = columns,
	.sort = COL_SEVERITY, /* findings of another host have no cost */
	.then = COL_COST,
	.by_guest = true,
	.has_host = true,
	.has_events = true,
	.needs = needs,
	.build = build,
	.enter = enter,
};
