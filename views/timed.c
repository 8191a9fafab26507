// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums and cells that the views of timed exits share. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "facts/exit_counter.h"
#include "views/timed.h"

void life_add(struct life *life, const struct field *field, const struct stats_item *stat)
{
	life->ns[field->part] += stat->delta;
	/* An interval that nobody has seen the beginning of has no shares. */
	if (stat->has_rate)
		life->has |= 1u << field->part;
}

void life_merge(struct life *life, const struct life *part)
{
	for (int i = 0; i < TIME_PARTS; i++)
		life->ns[i] += part->ns[i];
	life->has |= part->has;
}

struct cell life_percent(const struct life *life, enum time_part part)
{
	if (!(life->has >> part & 1))
		return cell_none();
	return cell_percent(life->ns[part], life->ns[TIME_WHOLE]);
}

struct cell life_split(struct life *life)
{
	static const enum time_part parts[SPLIT_PARTS] = {
		[SPLIT_GUEST] = TIME_GUEST,
		[SPLIT_KVM] = TIME_KVM,
		[SPLIT_USER] = TIME_USER,
		[SPLIT_HALT] = TIME_HALT,
	};
	double whole = (double)life->ns[TIME_WHOLE];

	if (!(life->has >> TIME_GUEST & 1) || !life->ns[TIME_WHOLE])
		return cell_none();
	for (int i = 0; i < SPLIT_PARTS; i++)
		life->split[i] = (double)life->ns[parts[i]] / whole;
	return (struct cell){ CELL_SPLIT, { .split = life->split } };
}

static void add_counts(struct exit_sum *sum, const struct stats_item *stat)
{
	sum->nr++;
	sum->total += stat->total;
	sum->delta += stat->delta;
	sum->rate_per_s += stat->rate_per_s;
	sum->has_rate |= stat->has_rate;
}

void exit_sum_add(struct exit_sum *sum, const struct stats_item *stat)
{
	add_counts(sum, stat);
	if (stat->timing)
		timing_sum_add_interval(&sum->timing, stat->timing);
}

void exit_sum_add_totals(struct exit_sum *sum, const struct stats_item *stat)
{
	add_counts(sum, stat);
	if (stat->timing)
		timing_sum_add(&sum->timing, stat->timing);
}

struct cell exit_sum_rate(const struct exit_sum *sum)
{
	if (!sum->has_rate)
		return cell_none();
	return (struct cell){ CELL_RATE, { .number = sum->rate_per_s } };
}

struct cell exit_sum_average(const struct exit_sum *sum)
{
	if (!sum->timing.nr || !sum->delta)
		return cell_none();
	return cell_ns(sum->timing.delta_ns / sum->delta);
}

static bool has_hist(const struct exit_sum *sum)
{
	for (unsigned int i = 0; i < HIST_BUCKETS; i++) {
		if (sum->timing.delta[i])
			return true;
	}
	return false;
}

struct cell exit_sum_percentile(const struct exit_sum *sum, double share)
{
	if (!has_hist(sum))
		return cell_none();
	return cell_ns(hist_percentile_ns(sum->timing.delta, share, sum->timing.max_ns));
}

struct cell exit_sum_hist(const struct exit_sum *sum)
{
	if (!has_hist(sum))
		return cell_none();
	return (struct cell){ CELL_HIST, { .hist = sum->timing.delta } };
}

struct cell exit_sum_longest(const struct exit_sum *sum)
{
	return sum->timing.max_ns ? cell_ns(sum->timing.max_ns) : cell_none();
}

struct cell exit_sum_shortest(const struct exit_sum *sum)
{
	const struct spread *spread = &sum->timing.spread;

	return spread->count ? cell_ns(spread->min_ns) : cell_none();
}

struct cell exit_sum_deviation(const struct exit_sum *sum)
{
	const struct spread *spread = &sum->timing.spread;

	if (!spread->count)
		return cell_none();
	if (spread->count < 2)
		return cell_ns(0);
	return cell_ns((uint64_t)(sqrt(spread->squares / (double)(spread->count - 1)) + 0.5));
}

void life_row_add_reason(struct life_row *row, uint32_t field, uint64_t ns, uint64_t count)
{
	row->all_ns += ns;
	row->all_count += count;
	if (ns < row->top_ns || (ns == row->top_ns && count <= row->top_count))
		return;
	row->top = field;
	row->top_ns = ns;
	row->top_count = count;
}

void life_row_fill(struct view_row *row, struct life_row *life, const struct fields *fields,
		   uint64_t whole)
{
	if (life->exits.nr) {
		row->cells[LIFE_TOTAL] = cell_count(life->exits.total);
		row->cells[LIFE_SHARE] = cell_percent(life->exits.total, whole);
		row->cells[LIFE_DELTA] = cell_count(life->exits.delta);
		row->cells[LIFE_RATE] = cell_rate(&life->exits);
		row->cells[LIFE_SPARK] = cell_spark(&life->exits);
	}
	for (int part = TIME_GUEST; part <= TIME_WAIT; part++)
		row->cells[LIFE_GUEST + part - TIME_GUEST] =
			life_percent(&life->life, (enum time_part)part);
	if (life->life.has & 1u << TIME_WHOLE)
		row->cells[LIFE_WHOLE] = cell_ns(life->life.ns[TIME_WHOLE]);
	row->cells[LIFE_SPLIT] = life_split(&life->life);
	if (!life->top_ns && !life->top_count)
		return;
	row->cells[LIFE_TOP] = cell_text(fields_get(fields, life->top)->label);
	row->cells[LIFE_TOP_SHARE] = life->all_ns ? cell_percent(life->top_ns, life->all_ns) :
						    cell_percent(life->top_count, life->all_count);
}

void life_row_merge(struct life_row *all, const struct life_row *row)
{
	stat_sum_merge(&all->exits, &row->exits);
	life_merge(&all->life, &row->life);
}

void life_row_total(struct view *view, struct life_row *all)
{
	struct cell *cells = view->total.cells;

	cells[0] = cell_text("Total");
	cells[LIFE_TOTAL] = cell_count(all->exits.total);
	cells[LIFE_DELTA] = cell_count(all->exits.delta);
	cells[LIFE_RATE] = cell_rate(&all->exits);
	for (int part = TIME_GUEST; part <= TIME_WAIT; part++)
		cells[LIFE_GUEST + part - TIME_GUEST] = life_percent(&all->life,
								     (enum time_part)part);
}

/* The parts of time that can be told, as bits. */
static uint32_t parts_of(const struct fields *fields)
{
	uint32_t parts = 0;

	for (uint32_t i = 0; i < fields_count(fields); i++) {
		const struct field *field = fields_get(fields, i);

		if (field->use == USE_TIME)
			parts |= 1u << field->part;
	}
	return parts;
}

void life_columns_absent(struct view *view, const struct facts *facts)
{
	/* Where kvm_exit never fires nothing is timed, whatever could be. */
	bool is_timed = exits_choose(facts, true, true).rank != 2;
	uint32_t parts = is_timed ? parts_of(facts->fields) : 0;

	if (!fields_have_exits(facts->fields)) {
		for (int i = LIFE_GUEST; i <= LIFE_TOP_SHARE; i++)
			view->absent |= 1u << i;
		return;
	}
	for (int part = TIME_GUEST; part <= TIME_WAIT; part++)
		view->absent |= (~parts >> part & 1) << (LIFE_GUEST + part - TIME_GUEST);
	if (!is_timed)
		view->absent |= 1u << LIFE_SPLIT;
	if (parts && !(parts >> TIME_USER & 1))
		view->note = "Exits to user space were not recorded: KVM's time has that of user "
			     "space in it.";
}
