// SPDX-License-Identifier: GPL-2.0-or-later
/* The worst finding, for the line at the top of the screen. */
#include <stdio.h>

#include "core/guests/guests.h"
#include "ui/tui/actions.h"

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

static void describe(struct tui *tui, const struct finding *finding, size_t nr)
{
	const struct guest *guest = guests_find(tui->facts.guests, finding->guest);
	char more[32] = "", name[SHORT_NAME_SIZE];

	if (nr > 1)
		snprintf(more, sizeof(more), ", and %zu more", nr - 1);
	snprintf(tui->screen.finding, sizeof(tui->screen.finding), "%s: %s (%s)%s: press %c",
		 guest ? tui_short_name(tui, guest->name, name) : "all guests",
		 finding->rule->finding, severity_name(finding->severity), more,
		 view_why.key);
}

static void find(struct tui *tui)
{
	findings_find(&tui->worst.findings, &tui->facts, tui->query->guest,
		      tui->query->thresholds);
}

/* Live findings are taken once for each sample. */
static void follow_now(struct tui *tui)
{
	struct worst *worst = &tui->worst;
	uint64_t tick = tui->facts.stats->tick;

	if (worst->guest != tui->query->guest) {
		findings_release(&worst->followed);
		worst->guest = tui->query->guest;
		worst->tick = 0;
	}
	if (worst->tick == tick)
		return;
	worst->tick = tick;
	find(tui);
	findings_follow(&worst->followed, &worst->findings);
}

void tui_follow_worst(struct tui *tui)
{
	bool is_now = source_has_now(tui->source->kind) && !tui->back.monitor;
	struct worst *worst = &tui->worst;
	const struct finding *finding;
	bool has_rows = tui->query->type == &view_why; /* which need no line */

	if (is_now)
		follow_now(tui);
	else if (!has_rows)
		find(tui);
	tui->query->followed = is_now ? &worst->followed : NULL;
	tui->screen.finding[0] = '\0';
	if (has_rows)
		return;
	finding = is_now ? findings_named(&worst->followed) : worst_then(&worst->findings);
	if (finding)
		describe(tui, finding, is_now ? findings_count_steady(&worst->followed) :
						worst->findings.nr);
}

void tui_release_worst(struct tui *tui)
{
	findings_release(&tui->worst.findings);
	findings_release(&tui->worst.followed);
}
