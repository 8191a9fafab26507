// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Notes a finding when it has been there for a while, and when it is gone; and what was lost, which
 * may be over at once.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/array.h"
#include "core/findings/rules.h"
#include "history/recorder.h"
#include "core/guests/guests.h"

#define LOOK_NS UINT64_C(10000000000)

struct cause {
	const struct rule *rule;
	uint32_t guest;
	char name[GUEST_NAME_SIZE + 32]; /* "guest web1 (pid 12)" */
};

static bool is_steady(const struct causes *causes, const struct cause *cause)
{
	const struct finding *found = findings_get(&causes->findings, cause->rule, cause->guest);

	return found && finding_is_steady(found);
}

static bool is_noted(const struct causes *causes, const struct finding *finding)
{
	size_t i = 0;

	while (i < causes->nr && (causes->list[i].rule != finding->rule ||
				  causes->list[i].guest != finding->guest))
		i++;
	return i < causes->nr;
}

static void note_end(const struct cause *cause, struct moment *moment)
{
	struct moment_notice *notice = moment_add_notice(moment);

	snprintf(notice->text, sizeof(notice->text), "%s: no longer found: %s", cause->name,
		 cause->rule->finding);
}

static void note_begin(struct causes *causes, const struct finding *finding,
		       const struct guests *guests, struct moment *moment)
{
	const struct guest *guest = guests_find(guests, finding->guest);
	struct moment_notice *notice = moment_add_notice(moment);
	struct cause *cause;

	array_grow(&causes->list, &causes->room, causes->nr + 1);
	cause = &causes->list[causes->nr++];
	*cause = (struct cause){ .rule = finding->rule, .guest = finding->guest };
	if (guest)
		snprintf(cause->name, sizeof(cause->name), "guest %s (pid %d)", guest->name,
			 (int)guest->pid);
	else
		snprintf(cause->name, sizeof(cause->name), "all guests");
	snprintf(notice->text, sizeof(notice->text), "%s: %s (%s): %s", cause->name,
		 finding->rule->finding, severity_name(finding->severity), finding->evidence);
}

static void note(struct causes *causes, const struct guests *guests, struct moment *moment)
{
	size_t kept = 0;

	for (size_t i = 0; i < causes->nr; i++) {
		const struct cause cause = causes->list[i];

		if (is_steady(causes, &cause))
			causes->list[kept++] = cause;
		else
			note_end(&cause, moment);
	}
	causes->nr = kept;
	for (size_t i = 0; i < causes->findings.nr; i++) {
		const struct finding *found = &causes->findings.list[i];

		if (finding_is_steady(found) && !is_noted(causes, found))
			note_begin(causes, found, guests, moment);
	}
}

static void note_lost(struct causes *causes, const struct facts *facts, struct moment *moment)
{
	uint64_t lost = facts->stats->lost, more = lost - causes->lost;
	struct moment_notice *notice;

	if (!more)
		return;
	causes->lost = lost;
	notice = moment_add_notice(moment);
	snprintf(notice->text, sizeof(notice->text), "%" PRIu64 " exits or arguments could not be "
		 "counted: what is counted is too low", more);
}

void causes_take(struct causes *causes, const struct facts *facts, struct moment *moment)
{
	/* Unsigned, so a clock set back is due, too. */
	if (causes->looked_ns && moment->time_ns - causes->looked_ns < LOOK_NS)
		return;
	causes->looked_ns = moment->time_ns;
	findings_find(&causes->latest, facts, GUEST_ANY, causes->thresholds);
	findings_follow(&causes->findings, &causes->latest);
	note_lost(causes, facts, moment);
	note(causes, facts->guests, moment);
}

void causes_release(struct causes *causes)
{
	findings_release(&causes->findings);
	findings_release(&causes->latest);
	free(causes->list);
	*causes = (struct causes){ .thresholds = NULL };
}
