// SPDX-License-Identifier: GPL-2.0-or-later
/* The list of long exits: a row for each exit that took longer than the query's threshold. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/array.h"
#include "lib/when.h"
#include "core/facts/exit_counter.h"
#include "core/views/list.h"
#include "core/views/query.h"

enum {
	TIME, END, TOOK, USER_SHARE, USER, POLL_SHARE, WAIT_SHARE, REASON, ARGUMENT, GUEST, PID,
	VCPU, CPU, PC, SYMBOL, ENDED
};

static const struct column columns[] = {
	[TIME] = { "end", "Time", "when it ended; in a recording, in seconds from the start",
		   CELL_TEXT, 15, COLUMN_LEAST(15) },
	[END] = { "end_ns", "End", "the same in ns since 1970, or from the start",
		  CELL_COUNT, 19, COLUMN_MACHINE_ONLY },
	[TOOK] = { "took_ns", "Took", "from the exit to the next entry into the guest",
		   CELL_NS, 7, 0 },
	[USER_SHARE] = { "user_percent", "User%",
			 "share of Took from the first exit to user space on; -: there was none",
			 CELL_PERCENT, 5, COLUMN_SPARE(4) },
	[USER] = { "user_ns", "User", "the same as a time", CELL_NS, 7, COLUMN_MACHINE_ONLY },
	[POLL_SHARE] = { "poll_percent", "Poll%", "share of Took in which KVM polled, in a halt",
			 CELL_PERCENT, 5, COLUMN_SPARE(4) },
	[WAIT_SHARE] = { "wait_percent", "Wait%",
			 "share of Took in which its thread waited for a CPU; -: not known",
			 CELL_PERCENT, 5, COLUMN_SPARE(4) },
	[REASON] = { "reason", "Exit reason", "why the vCPU left the guest", CELL_TEXT, 18,
		     COLUMN_OF_REASON | COLUMN_LEAST(12) },
	[ARGUMENT] = { "argument", "Argument", "port, MSR, address, CPUID leaf, call, register",
		       CELL_TEXT, 24, COLUMN_LEAST(22) | COLUMN_SPARE(3) },
	[GUEST] = { "guest", "Guest", "as its VMM names it", CELL_TEXT, 16,
		    COLUMN_OF_GUEST | COLUMN_LEAST(8) | COLUMN_SPARE(1) },
	[PID] = { "pid", "PID", "of the process that runs it", CELL_COUNT, 7,
		  COLUMN_KEY | COLUMN_OF_GUEST | COLUMN_SPARE(7) },
	[VCPU] = { "vcpu", "vCPU", "its number", CELL_COUNT, 4, COLUMN_KEY | COLUMN_SPARE(2) },
	[CPU] = { "cpu", "CPU", "the host's CPU on which the exit began", CELL_COUNT, 4,
		  COLUMN_KEY | COLUMN_SPARE(5) },
	[PC] = { "pc", "Guest PC",
		 "the address at which the guest was left, or goes on (Intel); -: not known",
		 CELL_TEXT, 18, COLUMN_LEAST(18) | COLUMN_SPARE(8) },
	[SYMBOL] = { "symbol", "Function", "the guest's function there, by --guest-kallsyms",
		     CELL_TEXT, 24, COLUMN_LEAST(16) | COLUMN_SPARE(6) },
	[ENDED] = { "ended", "Ended", "1: its guest has ended", CELL_COUNT, 5,
		    COLUMN_MACHINE_ONLY | COLUMN_MARKED | COLUMN_OF_LIVE },
	{ 0 },
};

/* The texts of a row. */
struct texts {
	char time[WHEN_SIZE], pc[24], symbol[96];
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

static void fill_where(struct view_row *row, const struct query *query, const struct guest *guest,
		       const struct long_exit *exit, struct texts *texts)
{
	if (!exit->pc)
		return;
	snprintf(texts->pc, sizeof(texts->pc), "0x%" PRIx64, exit->pc);
	row->cells[PC] = cell_text(texts->pc);
	for (size_t i = 0; guest && i < query->nr_symbols; i++) {
		const struct guest_symbols *of = &query->symbols[i];

		if (strcmp(of->guest, guest->name) == 0 &&
		    kallsyms_name(of->symbols, exit->pc, texts->symbol, sizeof(texts->symbol)))
			row->cells[SYMBOL] = cell_text(texts->symbol);
	}
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

static int add_row(struct view *view, const struct query *query, const struct facts *facts,
		   const struct long_exit *exit, struct texts *texts)
{
	const struct guest *guest = guests_find(facts->guests, exit->guest);
	struct view_row *row = view_add(view);

	if (!row)
		return -ENOMEM;
	row->field = exit->reason;
	row->number = exit->number;
	row->is_idle = exit->is_idle;
	if (facts->source == SOURCE_RECORDING)
		snprintf(texts->time, sizeof(texts->time), "%6" PRIu64 ".%06" PRIu64,
			 exit->end_ns / 1000000000, exit->end_ns / 1000 % 1000000);
	else
		when_format_exact(texts->time, sizeof(texts->time), exit->end_ns);
	row->cells[TIME] = cell_text(texts->time);
	row->cells[END] = cell_count(exit->end_ns);
	row->cells[TOOK] = cell_ns(exit->took_ns);
	if (exit->user_ns) {
		row->cells[USER_SHARE] = cell_percent(exit->user_ns, exit->took_ns);
		row->cells[USER] = cell_ns(exit->user_ns);
	}
	if (exit->polled_ns)
		row->cells[POLL_SHARE] = cell_percent(exit->polled_ns, exit->took_ns);
	if (exit->knows_wait)
		row->cells[WAIT_SHARE] = cell_percent(exit->waited_ns, exit->took_ns);
	row->cells[REASON] = cell_text(fields_get(facts->fields, exit->reason)->label);
	if (exit->argument != FIELD_NONE)
		row->cells[ARGUMENT] = cell_text(fields_get(facts->fields, exit->argument)->label);
	fill_owner(row, guest, exit);
	fill_where(row, query, guest, exit, texts);
	return 0;
}

/* People are not shown columns in which no row has anything. */
static void drop_empty(struct view *view)
{
	static const size_t may_be_empty[] = { POLL_SHARE, WAIT_SHARE, ARGUMENT, PC, SYMBOL };

	for (size_t i = 0; i < ARRAY_SIZE(may_be_empty); i++) {
		size_t column = may_be_empty[i], at = 0;

		while (at < view->nr_rows && view->rows[at].cells[column].type == CELL_NONE)
			at++;
		if (at == view->nr_rows)
			view->absent |= 1U << column;
	}
}

static int build(struct view *view, const struct query *query, const struct facts *facts)
{
	const struct long_exits *exits = facts->long_exits;
	size_t first = query->is_latest && exits->nr_latest < exits->nr ?
			       exits->nr - exits->nr_latest : 0;
	struct texts *texts = view_scratch(view, (exits->nr - first) * sizeof(*texts));
	int err = texts ? 0 : -ENOMEM;

	for (size_t i = first; i < exits->nr && !err; i++) {
		const struct long_exit *exit = long_exits_at(exits, i);

		if (selects(query, facts, exit))
			err = add_row(view, query, facts, exit, &texts[view->nr_rows]);
	}
	drop_empty(view);
	view->note = exits->none ? exits->none : exits_note(facts);
	if (exits->nr_ever > exits->nr && !query->is_latest)
		view->note = "There were more long exits: these are of the latest 8,192.";
	return err;
}

/* Enter on an exit leads to all exits of its vCPU. */
static bool enter(struct query *query, const struct view_row *row, const struct facts *facts,
		  const char **ret_sought)
{
	if (!row)
		return false;
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
	.sort = END,
	.by_guest = true,
	.is_timed = true,
	.takes_longer = true,
	.source_need = NEED_SINGLE,
	.wants = wants,
	.needs = query_needs_exits,
	.build = build,
	.enter = enter,
};
