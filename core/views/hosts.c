// SPDX-License-Identifier: GPL-2.0-or-later
/* The Hosts view: a row for each host, with the sums of its guests and its worst finding. */
#include <errno.h>
#include <stdlib.h>

#include "core/findings/findings.h"
#include "core/views/guests.h"
#include "core/views/list.h"

enum { HOST, GUESTS, FINDINGS, SEVERITY, FINDING };

static const struct column columns[] = {
	[HOST] = { "host", "Host", "as Prometheus names it: the label \"instance\"", CELL_TEXT, 28,
		   COLUMN_LEAST(20) },
	[GUESTS] = { "guests", "Guests", "how many it has", CELL_COUNT, 6, COLUMN_SPARE(20) },
	[FINDINGS] = { "findings", "Findings",
		       "how many rules of kvmtop why apply, each to one or more of its guests",
		       CELL_COUNT, 8, COLUMN_MACHINE_ONLY },
	[SEVERITY] = { "severity", "Severity", "of its worst finding: critical, major, minor",
		       CELL_TEXT, 8, COLUMN_LEAST(8) | COLUMN_SPARE(45) },
	[FINDING] = { "finding", "Worst finding", "its rule, see kvmtop why", CELL_TEXT, 18,
		      COLUMN_LEAST(13) | COLUMN_SPARE(25) },
	OWNER_COLUMNS("of all hosts"),
	{ 0 },
};

static bool is_of_host(const struct field *field)
{
	return field->part == HOST_GUESTS || field->part == HOST_FINDING;
}

static bool needs(const struct field *field)
{
	return guests_needs(field) || (field->use == USE_HOST && is_of_host(field));
}

static void fill(struct view_row *row, const struct owner *owner)
{
	(void)row;
	(void)owner;
}

static int compare_guest(const void *key, const void *element)
{
	const uint32_t *guest = key;
	const struct view_row *row = element;

	return (*guest > row->guest) - (*guest < row->guest);
}

static void add_finding(struct view_row *row, uint64_t *worst, const struct field *field,
			uint64_t level)
{
	row->cells[FINDINGS] = cell_count(row->cells[FINDINGS].count + 1);
	if (level <= *worst)
		return;
	*worst = level;
	row->cells[SEVERITY] = cell_text(severity_name(severity_of_level(level)));
	row->cells[FINDING] = cell_text(field->label);
}

static int build(struct view *view, const struct query *query, const struct facts *facts)
{
	int err = guests_build(view, query, facts, fill);
	uint64_t tick = stats_tick(facts->stats), *worst;

	if (err || !view->nr_rows)
		return err;
	worst = calloc(view->nr_rows, sizeof(*worst));
	if (!worst)
		return -ENOMEM;
	for (size_t i = 0; i < stats_count(facts->stats); i++) {
		const struct stats_item *stat = stats_at(facts->stats, i);
		const struct field *field = fields_get(facts->fields, stat->key.field);
		struct view_row *row;

		if (field->use != USE_HOST || !is_of_host(field) || stat->seen != tick ||
		    !stat->total)
			continue;
		row = bsearch(&stat->key.guest, view->rows, view->nr_rows, sizeof(*row),
			      compare_guest);
		if (row && field->part == HOST_GUESTS)
			row->cells[GUESTS] = cell_count(stat->total);
		else if (row)
			add_finding(row, &worst[row - view->rows], field, stat->total);
	}
	free(worst);
	return 0;
}

/* Enter on a host leads to its guests; the caller goes to the host. */
static bool enter(struct query *query, const struct view_row *row, const struct facts *facts,
		  const char **ret_sought)
{
	(void)facts;
	(void)ret_sought;
	if (!row)
		return false;
	query_narrow(query, GUEST_ANY);
	query->type = &view_guests;
	return true;
}

const struct view_type view_hosts = {
	.name = "hosts",
	.title = "Hosts",
	.noun = "event",
	.groups = GROUP_HOST,
	.columns = columns,
	.sort = OWNER_RATE,
	.by_guest = true,
	.has_host = true,
	.has_events = true,
	.details = { &view_exits },
	.wants = guests_wants,
	.needs = needs,
	.build = build,
	.enter = enter,
};
