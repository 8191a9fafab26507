// SPDX-License-Identifier: GPL-2.0-or-later
/* The Hosts view: a row for each host, with the sums of its guests and its worst finding. */
#include <stdlib.h>

#include "core/findings/findings.h"
#include "core/views/view.h"
#include "core/views/fill.h"

static const struct column columns[] = {
	{ COL_HOST, .least = 20 },
	{ COL_GUESTS, .rank = 20 },
	{ COL_FINDINGS, .is_for_machines = true },
	{ COL_SEVERITY, .rank = 45, .least = 8,
	  .help = "of its worst finding: critical, major, minor" },
	{ COL_WORST, .rank = 25, .least = 13 },
	OWNER_COLUMNS("of all hosts"),
	{ .id = COL_NONE },
};
VIEW_TABLE_FITS(columns);

static bool needs(const struct field *field)
{
	return guests_needs(field) ||
	       (field->use == USE_HOST &&
		(field->part == HOST_GUESTS || field->part == HOST_FINDING));
}

static int compare_guest(const void *key, const void *element)
{
	const uint32_t *guest = key;
	const struct view_row *row = element;

	return (*guest > row->guest) - (*guest < row->guest);
}

static void add_finding(const struct view *view, struct view_row *row, uint64_t *worst,
			const struct field *field, uint64_t level)
{
	struct cell *findings = view_cell(view, row, COL_FINDINGS);

	*findings = cell_count(findings->count + 1);
	if (level <= *worst)
		return;
	*worst = level;
	*view_cell(view, row, COL_SEVERITY) = cell_text(severity_name(level));
	*view_cell(view, row, COL_WORST) = cell_text(field->label);
}

static void build(struct view *view, const struct query *query, const struct facts *facts)
{
	uint64_t tick = facts->stats->tick, *worst;

	guests_build(view, query, facts);
	if (!view->nr_rows)
		return;
	worst = view_scratch(view, view->nr_rows * sizeof(*worst));
	for (size_t i = 0; i < facts->stats->nr; i++) {
		const struct stats_item *stat = &facts->stats->list[i];
		const struct field *field = fields_get(facts->fields, stat->key.field);
		struct view_row *row;

		if (field->use != USE_HOST || field->part != HOST_FINDING || stat->seen != tick ||
		    !stat->total)
			continue;
		row = bsearch(&stat->key.guest, view->rows, view->nr_rows, sizeof(*row),
			      compare_guest);
		if (row)
			add_finding(view, row, &worst[row - view->rows], field, stat->total);
	}
}

/* Enter on a host leads to its guests; the caller goes to the host. */
static bool enter(struct query *query, const struct view_row *row, const struct facts *facts,
		  const char **ret_sought)
{
	(void)facts;
	(void)ret_sought;
	if (!row)
		return false;
	query_narrow(query, GUEST_ALL);
	query->type = &view_guests;
	return true;
}

const struct view_type view_hosts = {
	.name = "hosts",
	.title = "Hosts",
	.noun = "event",
	.columns = columns,
	.sort = COL_EXIT_COST,
	.by_guest = true,
	.has_host = true,
	.has_events = true,
	.details = { &view_exits },
	.wants = guests_wants,
	.needs = needs,
	.build = build,
	.finish = owners_finish,
	.enter = enter,
};
