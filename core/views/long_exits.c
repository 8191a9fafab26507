// SPDX-License-Identifier: GPL-2.0-or-later
/* The list of long exits: a row for each exit that took longer than the query's threshold. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/text.h"
#include "lib/when.h"
#include "core/facts/facts.h"
#include "core/views/view.h"
#include "core/views/query.h"

static const struct column columns[] = {
	{ COL_END, .least = 15 },
	{ COL_END_NS, .is_for_machines = true },
	{ .id = COL_TOOK },
	{ COL_USER, .rank = 4 },
	{ COL_EXIT_POLL, .rank = 4 },
	{ COL_EXIT_WAIT, .rank = 4 },
	{ COL_REASON, .width = 18, .least = 12, .is_of_reason = true },
	{ COL_EXIT_ARGUMENT, .rank = 3, .least = 22 },
	{ COL_GUEST, .rank = 1, .least = 8, .width = 16, .is_of_guest = true },
	{ COL_PID, .rank = 7, .is_key = true, .is_of_guest = true },
	{ COL_VCPU, .rank = 2, .is_key = true },
	{ COL_CPU, .rank = 5, .is_key = true,
	  .help = "the host's CPU on which the exit began" },
	{ COL_PC, .rank = 8, .least = 18 },
	{ COL_SYMBOL, .rank = 6, .least = 16 },
	{ COL_ENDED, .is_for_machines = true, .is_marked = true, .is_of_live = true },
	{ .id = COL_NONE },
};
VIEW_TABLE_FITS(columns);

enum { /* the columns' order */
	TIME, END, TOOK, USER, POLL, WAIT, REASON, ARGUMENT, GUEST, PID, VCPU,
	CPU, PC, SYMBOL, ENDED
};

/* The texts of a row. */
struct texts {
	char time[WHEN_SIZE], pc[24];
};

static bool wants(const struct query *query, const struct field *field)
{
	return field->use == USE_EXIT ||
	       (field->use == USE_ARGUMENT && query->has_arguments);
}

static bool selects(const struct query *query, const struct facts *facts,
		    const struct long_exit *exit)
{
	const struct key key = { exit->guest, exit->vcpu, exit->reason };

	if (exit->took_ns <= query->longer_ns || !query_has_key(query, &key) ||
	    exit->end_ns <= query->after_ns ||
	    (query->until_ns && exit->end_ns > query->until_ns))
		return false;
	if (query->has_reason)
		return exit->reason == query->reason;
	if (exit->is_idle && !query->has_halts)
		return false;
	return query_selects(query, facts->fields, fields_get(facts->fields, exit->reason)) ||
	       (exit->argument != FIELD_NONE &&
		query_selects(query, facts->fields, fields_get(facts->fields, exit->argument)));
}

static void fill_where(struct view_row *row, const struct long_exit *exit, struct texts *texts)
{
	if (!exit->pc)
		return;
	snprintf(texts->pc, sizeof(texts->pc), "0x%" PRIx64, exit->pc);
	row->cells[PC] = cell_text(texts->pc);
	if (exit->symbol[0])
		row->cells[SYMBOL] = cell_text(exit->symbol);
}

static void fill_owner(struct view_row *row, const struct guest *guest,
		       const struct long_exit *exit)
{
	row->guest = exit->guest;
	row->vcpu = exit->vcpu;
	row->is_gone = !guest || guest->has_ended;
	row->cells[GUEST] = cell_guest(guest);
	if (guest)
		row->cells[PID] = cell_pid(guest->pid);
	if (row->is_gone)
		row->cells[ENDED] = cell_count(1);
	if (exit->vcpu >= 0)
		row->cells[VCPU] = cell_count((uint64_t)exit->vcpu);
	if (exit->cpu != LONG_EXITS_NO_CPU)
		row->cells[CPU] = cell_count(exit->cpu);
}

static void add_row(struct view *view, const struct facts *facts, const struct long_exit *exit,
		    uint64_t latest_ns, struct texts *texts)
{
	const struct guest *guest = guests_find(facts->guests, exit->guest);
	struct view_row *row = view_add(view);

	row->field = exit->reason;
	row->number = exit->number;
	row->is_idle = exit->is_idle;
	if (facts->source == SOURCE_RECORDING)
		snprintf(texts->time, sizeof(texts->time), "%6" PRIu64 ".%06" PRIu64,
			 exit->end_ns / 1000000000, exit->end_ns / 1000 % 1000000);
	else
		when_format_us(texts->time, sizeof(texts->time), exit->end_ns, latest_ns);
	row->cells[TIME] = cell_text(texts->time);
	row->cells[END] = cell_count(exit->end_ns);
	row->cells[TOOK] = cell_ns(exit->took_ns);
	if (exit->user_ns)
		row->cells[USER] = cell_ns(exit->user_ns);
	if (exit->polled_ns)
		row->cells[POLL] = cell_ns(exit->polled_ns);
	if (exit->knows_wait)
		row->cells[WAIT] = cell_ns(exit->waited_ns);
	row->cells[REASON] = cell_text(fields_get(facts->fields, exit->reason)->label);
	if (exit->argument != FIELD_NONE)
		row->cells[ARGUMENT] = cell_text(fields_get(facts->fields, exit->argument)->label);
	fill_owner(row, guest, exit);
	fill_where(row, exit, texts);
}

/* What a history lacks of the list; NULL: nothing. */
static const char *say_not_kept(struct view *view, const struct query *query,
				const struct facts *facts, const struct long_exits *exits)
{
	double ms = (double)exits->longer_ns / 1e6;
	char note[256] = "";

	if (facts->source != SOURCE_HISTORY)
		return NULL;
	if (exits->listed_ns < view->elapsed_ns)
		text_add(note, sizeof(note), "Long exits were kept for %.1f s of these %.1f s. ",
			 (double)exits->listed_ns / 1e9, (double)view->elapsed_ns / 1e9);
	if (exits->lost)
		text_add(note, sizeof(note), "%" PRIu64 " more exits of more than %g ms were not "
			 "kept: of each sample the longest %d are. ", exits->lost, ms,
			 LONG_EXITS_KEPT);
	if (query->longer_ns < exits->longer_ns)
		text_add(note, sizeof(note), "Exits of %g ms and less were not kept. ", ms);
	if (note[0])
		note[strlen(note) - 1] = '\0';
	return note[0] ? view_text(view, note) : NULL;
}

static void build(struct view *view, const struct query *query, const struct facts *facts)
{
	const struct long_exits *exits = facts->long_exits;
	size_t first = query->is_latest && exits->nr_latest < exits->nr ?
			       exits->nr - exits->nr_latest : 0;
	struct texts *texts = view_scratch(view, (exits->nr - first) * sizeof(*texts));
	const char *not_kept = say_not_kept(view, query, facts, exits);
	uint64_t latest_ns = exits->nr ? long_exits_at(exits, exits->nr - 1)->end_ns : 0;

	for (size_t i = first; i < exits->nr; i++) {
		const struct long_exit *exit = long_exits_at(exits, i);

		if (selects(query, facts, exit))
			add_row(view, facts, exit, latest_ns, &texts[view->nr_rows]);
	}
	view->note = exits->none ? exits->none : not_kept ? not_kept : exits_note(facts);
	if (!exits->none && exits_are_untimed(facts))
		view->note = "No exit can be timed here: KVM traces neither the VM exits of these "
			     "guests nor their entries.";
	if (exits->nr_ever > exits->nr && !query->is_latest)
		view->note = "There were more long exits: these are of the latest 8,192.";
}

/* Enter on an exit leads to the code of its vCPU in such exits, or to all exits of its vCPU. */
static bool enter(struct query *query, const struct view_row *row, const struct facts *facts,
		  const char **ret_sought)
{
	if (!row)
		return false;
	if (!facts_lack(facts, NEED_STACKS))
		return query_enter_code(query, row, facts);
	query_narrow(query, row->guest);
	query->has_vcpu = row->vcpu >= 0;
	query->vcpu = row->vcpu;
	query->type = &view_exits;
	*ret_sought = fields_get(facts->fields, row->field)->label;
	return true;
}

const struct view_type view_long_exits = {
	.name = "long",
	.title = "Long exits",
	.noun = "long exit so far",
	.takes_vcpu = true,
	.key = 'l',
	.columns = columns,
	.sort = COL_END_NS,
	.by_guest = true,
	.is_timed = true,
	.source_need = NEED_SINGLE,
	.wants = wants,
	.needs = query_needs_exits,
	.build = build,
	.enter = enter,
};
