// SPDX-License-Identifier: GPL-2.0-or-later
/* The Hot spots view: one row an argument of exits (a port, an MSR, an address) and guest. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "views/timed.h"

enum {
	WHAT, ARGUMENT, TOTAL, DELTA, RATE, TIME_SHARE, TIME, MIN, AVERAGE, STDDEV, P50, P99,
	LONGEST, GUEST, PID, HIST
};

static const struct column columns[] = {
	[WHAT] = { "what", "What", "the exit's reason, or what kind of access it was",
		   CELL_TEXT, 18, COLUMN_OF_REASON | COLUMN_LEAST(14) | COLUMN_SPARE(3) },
	[ARGUMENT] = { "argument", "Argument", "port, MSR, address, CPUID leaf, call, register",
		       CELL_TEXT, 30, COLUMN_KEY | COLUMN_LEAST(22) },
	[TOTAL] = { "total", "Total", "since the start, r, or a change of filter",
		    CELL_COUNT, 10, COLUMN_SPARE(8) },
	[DELTA] = { "delta", "Delta", "since the previous sample",
		    CELL_COUNT, 10, COLUMN_MACHINE_ONLY },
	[RATE] = { "rate", "Count/s", "per second between the last two samples",
		   CELL_RATE, 9, 0 },
	[TIME_SHARE] = { "time_percent", "Time%", "of the vCPUs' time that they took",
			 CELL_PERCENT, 5, COLUMN_COST | COLUMN_SPARE(1) },
	[TIME] = { "time_ns", "Time", "that they took between the last two samples",
		   CELL_NS, 7, COLUMN_MACHINE_ONLY },
	[MIN] = { "min_ns", "Min", "the shortest", CELL_NS, 7,
		  COLUMN_SPARE(10) | COLUMN_OF_RECORDING },
	[AVERAGE] = { "avg_ns", "Avg", "of one", CELL_NS, 7, COLUMN_SPARE(4) },
	[STDDEV] = { "stddev_ns", "Stddev", "how far from Avg they are: the standard deviation",
		     CELL_NS, 7, COLUMN_SPARE(11) | COLUMN_OF_RECORDING },
	[P50] = { "p50_ns", "p50", "half took no longer: the upper edge of the bucket",
		  CELL_NS, 7, COLUMN_SPARE(7) },
	[P99] = { "p99_ns", "p99", "99 % took no longer: the upper edge of the bucket",
		  CELL_NS, 7, COLUMN_SPARE(5) },
	[LONGEST] = { "max_ns", "Max", "the longest since the start or r", CELL_NS, 7,
		      COLUMN_SPARE(6) },
	[GUEST] = { "guest", "Guest", "as its VMM names it", CELL_TEXT, 24,
		    COLUMN_KEY | COLUMN_OF_GUEST | COLUMN_LEAST(14) | COLUMN_SPARE(2) },
	[PID] = { "pid", "PID", "of the process that runs it",
		  CELL_COUNT, 7, COLUMN_MACHINE_ONLY | COLUMN_KEY },
	[HIST] = { "hist", "Latency", "how many took how long, from 128 ns to 2 s",
		   CELL_HIST, HIST_BUCKETS, COLUMN_SPARE(9) },
	{ 0 },
};

/* The guest and the argument of a row, with their sum. */
struct spot {
	uint32_t guest, field;
	struct exit_sum sum;
};

static bool wants(const struct query *query, const struct field *field)
{
	(void)query;
	return field->use == USE_ARGUMENT;
}

/* Exits, too: so they are not counted anew when one looks back at them. */
static bool needs(const struct field *field)
{
	return field->use != USE_EVENT;
}

/*
 * Whether the argument came with the reason that is asked for. Where kvm_exit never fires nobody
 * saw what it came with; but exits to user space for I/O and MMIO have those arguments only.
 */
static bool is_of_reason(const struct query *query, const struct facts *facts,
			 const struct field *field)
{
	static const char *const kinds[][2] = { { "IO", "ioport" }, { "MMIO", "mmio" } };
	const struct field *reason;

	if (!query->has_reason || field->reason == query->reason)
		return true;
	reason = fields_get(facts->fields, query->reason);
	if (reason->exit_rank != 2 || field->reason != FIELD_NONE)
		return false;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i][0], reason->label) == 0)
			return strcmp(kinds[i][1],
				      fields_get(facts->fields, field->parent)->name) == 0;
	}
	return false;
}

/* The arguments that the filter selects, of one reason where the query asks for one. */
static int choose(const struct query *query, const struct facts *facts,
		  struct field_set *ret_arguments)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < fields_count(facts->fields); i++) {
		const struct field *field = fields_get(facts->fields, i);

		if (field->use != USE_ARGUMENT || field->parent == FIELD_NONE ||
		    !is_of_reason(query, facts, field) ||
		    !query_has_name(query, field))
			continue;
		err = field_set_add(ret_arguments, i);
	}
	return err;
}

static bool is_chosen(const struct query *query, const struct field_set *arguments,
		      const struct stats_item *stat)
{
	return field_set_has(arguments, stat->key.field) && query_has_key(query, &stat->key) &&
	       (query->zeros || stat->total || stat->delta);
}

/* Numbers the pairs of a guest and an argument; pair->count is the number. */
static int number_spots(const struct query *query, const struct facts *facts,
			const struct field_set *arguments, struct key_sums *ret_pairs)
{
	for (size_t i = 0; i < stats_count(facts->stats); i++) {
		const struct stats_item *stat = stats_at(facts->stats, i);
		struct key key = { stat->key.guest, -1, stat->key.field };
		size_t nr = ret_pairs->nr;
		struct key_sum *pair;

		if (!is_chosen(query, arguments, stat))
			continue;
		pair = key_sums_get(ret_pairs, key);
		if (!pair)
			return -ENOMEM;
		if (ret_pairs->nr > nr)
			pair->count = nr;
	}
	return 0;
}

static void add_stats(const struct query *query, const struct facts *facts,
		      const struct field_set *arguments, struct key_sums *pairs, struct spot *spots,
		      struct life *life)
{
	for (size_t i = 0; i < stats_count(facts->stats); i++) {
		const struct stats_item *stat = stats_at(facts->stats, i);
		const struct field *field = fields_get(facts->fields, stat->key.field);
		struct key key = { stat->key.guest, -1, stat->key.field };
		struct spot *spot;

		if (field->use == USE_TIME && query_has_key(query, &stat->key))
			life_add(life, field, stat);
		if (!is_chosen(query, arguments, stat))
			continue;
		spot = &spots[key_sums_get(pairs, key)->count];
		spot->guest = stat->key.guest;
		spot->field = stat->key.field;
		exit_sum_add(&spot->sum, stat);
	}
}

static const char *what_of(const struct facts *facts, const struct field *field)
{
	uint32_t what = field->reason != FIELD_NONE ? field->reason : field->parent;

	return fields_get(facts->fields, what)->label;
}

static struct cell time_cell(const struct exit_sum *sum, const struct life *life)
{
	if (!sum->timing.nr || !(life->has >> TIME_WHOLE & 1))
		return cell_none();
	return cell_percent(sum->timing.delta_ns, life->ns[TIME_WHOLE]);
}

static void fill_numbers(struct view_row *row, const struct exit_sum *sum, const struct life *life)
{
	row->cells[TOTAL] = cell_count(sum->total);
	row->cells[DELTA] = cell_count(sum->delta);
	row->cells[RATE] = exit_sum_rate(sum);
	row->cells[TIME_SHARE] = time_cell(sum, life);
	if (sum->timing.nr)
		row->cells[TIME] = cell_ns(sum->timing.delta_ns);
	row->cells[MIN] = exit_sum_shortest(sum);
	row->cells[AVERAGE] = exit_sum_average(sum);
	row->cells[STDDEV] = exit_sum_deviation(sum);
	row->cells[P50] = exit_sum_percentile(sum, 0.5);
	row->cells[P99] = exit_sum_percentile(sum, 0.99);
	row->cells[LONGEST] = exit_sum_longest(sum);
	row->cells[HIST] = exit_sum_hist(sum);
}

static int add_row(struct view *view, const struct facts *facts, const struct spot *spot,
		   const struct life *life)
{
	const struct field *field = fields_get(facts->fields, spot->field);
	const struct guest *guest = guests_by_id(facts->guests, spot->guest);
	struct view_row *row = view_add(view);

	if (!row)
		return -ENOMEM;
	row->field = spot->field;
	row->guest = spot->guest;
	row->is_gone = !guest;
	row->cells[WHAT] = cell_text(what_of(facts, field));
	row->cells[ARGUMENT] = cell_text(field->label);
	row->cells[GUEST] = cell_text(guest ? guest->name : "(ended)");
	if (guest)
		row->cells[PID] = cell_pid(guest->pid);
	fill_numbers(row, &spot->sum, life);
	return 0;
}

static void add_total(struct view *view, const struct spot *spots, size_t nr,
		      const struct life *life)
{
	struct exit_sum all = { 0 };
	struct cell *cells = view->total.cells;

	for (size_t i = 0; i < nr; i++) {
		all.total += spots[i].sum.total;
		all.delta += spots[i].sum.delta;
		all.rate_per_s += spots[i].sum.rate_per_s;
		all.has_rate |= spots[i].sum.has_rate;
		all.timing.nr += spots[i].sum.timing.nr;
		all.timing.delta_ns += spots[i].sum.timing.delta_ns;
	}
	cells[WHAT] = cell_text("Total");
	cells[TOTAL] = cell_count(all.total);
	cells[DELTA] = cell_count(all.delta);
	cells[RATE] = exit_sum_rate(&all);
	cells[TIME_SHARE] = time_cell(&all, life);
}

static int build(struct view *view, const struct query *query, const struct facts *facts)
{
	struct field_set arguments = { 0 };
	struct key_sums pairs = { 0 };
	struct life life = { 0 };
	struct spot *spots = NULL;
	int err = choose(query, facts, &arguments);

	if (!err)
		err = number_spots(query, facts, &arguments, &pairs);
	if (!err)
		spots = view_scratch(view, pairs.nr * sizeof(*spots));
	if (!spots)
		err = -ENOMEM;
	if (!err) {
		add_stats(query, facts, &arguments, &pairs, spots, &life);
		add_total(view, spots, pairs.nr, &life);
	}
	for (size_t i = 0; !err && i < pairs.nr; i++)
		err = add_row(view, facts, &spots[i], &life);
	key_sums_release(&pairs);
	field_set_release(&arguments);
	return err;
}

/* An argument leads to the vCPUs of its guest, compared by the argument's exit reason. */
static bool enter(struct query *query, const struct view_row *row, const struct facts *facts,
		  const char **ret_sought)
{
	bool has_reason = query->has_reason;

	(void)ret_sought;
	if (!row && !has_reason)
		return false;
	query_narrow(query, row ? row->guest : query->guest);
	if (!has_reason)
		query->reason = fields_get(facts->fields, row->field)->reason;
	query->has_reason = query->reason != FIELD_NONE;
	query->type = &view_vcpus;
	return true;
}

const struct view_type view_hotspots = {
	.name = "hotspots",
	.title = "Hot spots",
	.noun = "argument of an exit so far",
	.rows = ROWS_ARGUMENTS,
	.takes_vcpu = true,
	.columns = columns,
	.sort = TIME_SHARE,
	.by_guest = true,
	.is_timed = true,
	.wants = wants,
	.needs = needs,
	.build = build,
	.enter = enter,
};
