// SPDX-License-Identifier: GPL-2.0-or-later
/* Groups keys, and makes cells of their sums. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "lib/array.h"
#include "core/facts/key_sums.h"
#include "core/views/groups.h"

/* ---- where time went ---- */

void time_split_add(struct time_split *split, const struct field *field,
		    const struct stats_item *stat)
{
	split->ns[field->part] += stat->delta;
	if (field->part == TIME_WHOLE)
		split->whole_source = field->source;
	else if (field->part == TIME_WAIT)
		split->wait_source = field->source;
	/* Shares are of whole intervals: the first sample, without a rate, ends none. */
	if (stat->has_rate)
		split->has |= 1u << field->part;
}

struct cell time_split_percent(const struct time_split *split, enum time_part part)
{
	if (!(split->has >> part & 1) ||
	    (part == TIME_WAIT && split->wait_source != split->whole_source))
		return cell_none();
	return cell_percent(split->ns[part], split->ns[TIME_WHOLE]);
}

struct cell time_split_sleep(const struct time_split *split)
{
	if (!(split->has >> TIME_POLL & split->has >> TIME_HALT & 1))
		return cell_none();
	return cell_percent(time_slept_ns(split->ns), split->ns[TIME_WHOLE]);
}

struct cell time_split_cell(struct time_split *split)
{
	const uint64_t ns[SPLIT_PARTS] = {
		[SPLIT_GUEST] = split->ns[TIME_GUEST],
		[SPLIT_KVM] = split->ns[TIME_KVM],
		[SPLIT_USER] = split->ns[TIME_USER],
		[SPLIT_POLL] = split->ns[TIME_POLL],
		[SPLIT_HALT] = time_slept_ns(split->ns),
	};
	double whole = (double)split->ns[TIME_WHOLE];

	if (!(split->has >> TIME_GUEST & 1) || !split->ns[TIME_WHOLE])
		return cell_none();
	for (int i = 0; i < SPLIT_PARTS; i++)
		split->shares[i] = (double)ns[i] / whole;
	return (struct cell){ .type = CELL_SPLIT, .split = split->shares };
}

/* ---- sums ---- */

/* has_totals: timing.total[], too. */
static void exit_sum_add(struct exit_sum *sum, const struct stats_item *stat, bool has_totals,
			 uint64_t open_ns)
{
	if (open_ns > sum->open_ns)
		sum->open_ns = open_ns;
	sum->total += stat->total;
	sum->delta += stat->delta;
	sum->rate_per_s += stat->rate_per_s;
	sum->has_rate |= stat->has_rate;
	if (stat->timing && has_totals)
		timing_sum_add(&sum->timing, stat->timing);
	else if (stat->timing)
		timing_sum_add_interval(&sum->timing, stat->timing);
}

static void group_merge(struct group *all, const struct group *group)
{
	all->sum.total += group->sum.total;
	all->sum.delta += group->sum.delta;
	all->sum.rate_per_s += group->sum.rate_per_s;
	all->sum.has_rate |= group->sum.has_rate;
	timing_sum_merge(&all->sum.timing, &group->sum.timing);
	all->nr_halts += group->nr_halts;
	all->halt_ns += group->halt_ns;
	all->halt_delta_ns += group->halt_delta_ns;
}

struct cell exit_sum_rate(const struct exit_sum *sum)
{
	if (!sum->has_rate)
		return cell_none();
	return (struct cell){ .type = CELL_RATE, .number = sum->rate_per_s };
}

/*
 * Of the exits that ended; absent when none did. A Prometheus has the number and the time of a
 * reason's exits, and no histogram.
 */
static struct cell average(const uint64_t *hist, uint64_t ended_ns, uint64_t count)
{
	uint64_t nr = hist_count(hist);

	if (!nr && ended_ns)
		nr = count;
	return nr ? cell_ns(ended_ns / nr) : cell_none();
}

static struct cell interval_average(const struct exit_sum *sum)
{
	return average(sum->timing.delta, sum->timing.delta_ended_ns, sum->delta);
}

struct cell exit_sum_total_average(const struct exit_sum *sum)
{
	return average(sum->timing.total, sum->timing.total_ended_ns, sum->total);
}

static const double shares[NR_PERCENTILES] = { [PERCENTILE_50] = 0.5, [PERCENTILE_99] = 0.99 };

static struct cell percentile(const struct exit_sum *sum, enum percentile which,
			      const uint64_t *hist, struct hist_known known)
{
	if (!hist_count(hist))
		return cell_none();
	return cell_ns(sum->has_percentiles ? sum->percentiles_ns[which] :
					      hist_percentile_ns(hist, shares[which], known));
}

static struct cell interval_percentile(const struct exit_sum *sum, enum percentile which)
{
	const struct timing_sum *timing = &sum->timing;

	return percentile(sum, which, timing->delta, (struct hist_known){
		timing->delta_ended_ns, timing->spread.min_ns, timing->interval_max_ns });
}

struct cell exit_sum_total_percentile(const struct exit_sum *sum, enum percentile which)
{
	const struct timing_sum *timing = &sum->timing;

	return percentile(sum, which, timing->total, (struct hist_known){
		timing->total_ended_ns, timing->spread.min_ns, timing->max_ns });
}

struct cell exit_sum_hist(const struct exit_sum *sum)
{
	if (!hist_count(sum->timing.delta))
		return cell_none();
	return cell_hist(sum->timing.delta);
}

struct cell exit_sum_open(const struct exit_sum *sum)
{
	return sum->open_ns ? cell_ns(sum->open_ns) : cell_none();
}

/* By a clock of 10 ms an exit may have taken 0: a longest of 0 is known if any ended. */
static struct cell interval_longest(const struct exit_sum *sum)
{
	const struct timing_sum *timing = &sum->timing;

	return timing->interval_max_ns || hist_count(timing->delta) ?
		       cell_ns(timing->interval_max_ns) : cell_none();
}

/* Where the sum has no buckets of all intervals, the buckets of the last interval are used. */
struct cell exit_sum_longest(const struct exit_sum *sum)
{
	const struct timing_sum *timing = &sum->timing;

	return timing->max_ns || hist_count(timing->total) || hist_count(timing->delta) ?
		       cell_ns(timing->max_ns) : cell_none();
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

bool group_is_polled(const struct groups *groups, const struct group *group)
{
	bool has_all = !(groups->by & GROUP_REASON) || group == &groups->all;

	return groups->has_polls && groups->halt.is_known && group->nr_halts &&
	       field_set_has(&groups->chosen, groups->halt.field) &&
	       (has_all || group->key.field == groups->halt.field);
}

struct cell group_time_share(const struct groups *groups, const struct group *group)
{
	uint32_t nr = group->sum.timing.nr;
	uint64_t cost_ns = group->sum.timing.delta_ns - group->halt_delta_ns;
	bool is_polled = group_is_polled(groups, group);

	if (nr && nr == group->nr_halts && !is_polled)
		return cell_text("halt");
	if (!nr || !groups->has_interval)
		return cell_none();
	if (is_polled)
		cost_ns += group->polled_delta_ns;
	/* What a read was about is known when the read ends, and then has its whole time. */
	if (cost_ns > group->whole_delta_ns)
		cost_ns = group->whole_delta_ns;
	return cell_percent(cost_ns, group->whole_delta_ns);
}

struct cell group_poll_share(const struct groups *groups, const struct group *group)
{
	if (!groups->has_interval || !group_is_polled(groups, group))
		return cell_none();
	return cell_percent(group->polled_delta_ns, group->whole_delta_ns);
}

void group_fill_times(struct cell *cells, const struct group *group)
{
	enum { TIME, SHORTEST, AVERAGE, DEVIATION, P50, P99, CUR_LONGEST, LONGEST };
	const struct exit_sum *sum = &group->sum;

	if (sum->timing.nr)
		cells[TIME] = cell_ns(sum->timing.delta_ns);
	cells[SHORTEST] = exit_sum_shortest(sum);
	cells[AVERAGE] = interval_average(sum);
	cells[DEVIATION] = exit_sum_deviation(sum);
	cells[P50] = interval_percentile(sum, PERCENTILE_50);
	cells[P99] = interval_percentile(sum, PERCENTILE_99);
	cells[CUR_LONGEST] = interval_longest(sum);
	cells[LONGEST] = exit_sum_longest(sum);
}

/* ---- grouping ---- */

static struct key key_of_group(const struct groups *groups, struct key key)
{
	if (!(groups->by & GROUP_GUEST))
		key.guest = GUEST_ANY;
	if (!(groups->by & GROUP_VCPU))
		key.vcpu = -1;
	if (!(groups->by & GROUP_REASON))
		key.field = FIELD_ANY;
	return key;
}

/* NULL: no memory. */
static struct group *group_of(struct groups *groups, struct key_sums *numbers, struct view *view,
			      struct key key)
{
	const struct key_sum *number = key_sums_get(numbers, &key);

	if (numbers->nr > groups->nr) {
		struct group *list = view_scratch_grow(view, (groups->nr + 1) * sizeof(*list));

		if (!list)
			return NULL;
		groups->list = list;
		list[groups->nr++] = (struct group){ .key = key };
	}
	return &groups->list[number - numbers->list];
}

static void add_stat(struct group *group, const struct stats_item *stat, bool is_halt,
		     bool has_totals, uint64_t open_ns)
{
	exit_sum_add(&group->sum, stat, has_totals, open_ns);
	if (!is_halt || !stat->timing)
		return;
	group->nr_halts++;
	group->halt_ns += stat->timing->total_ns;
	group->halt_delta_ns += stat->timing->delta_ns;
}

static bool is_summed(const struct groups *groups, enum time_part part)
{
	return part == TIME_WHOLE || part == TIME_POLL ||
	       (part == TIME_HALT && groups->has_totals);
}

/* Adds a part of a vCPU's time to its group's sum (count: of all intervals, ns: of the last). */
static void add_time(struct groups *groups, struct key_sums *times, const struct stats_item *stat,
		     enum time_part part)
{
	struct key key = key_of_group(groups, stat->key);
	struct key_sum *time;

	key.field = part;
	time = key_sums_get(times, &key);
	time->count += stat->total;
	time->ns += stat->delta;
	if (part == TIME_HALT) {
		groups->all.halted_ns += stat->total;
	} else if (part == TIME_POLL) {
		groups->all.polled_ns += stat->total;
		groups->all.polled_delta_ns += stat->delta;
		groups->has_polls = true;
	} else {
		groups->all.whole_ns += stat->total;
		groups->all.whole_delta_ns += stat->delta;
		groups->has_interval |= stat->has_rate;
	}
}

/* A part that is not summed up is 0. */
static void find_time(struct key_sums *times, const struct group *group, enum time_part part,
		      uint64_t *ret_total_ns, uint64_t *ret_delta_ns)
{
	struct key key = { group->key.guest, group->key.vcpu, part };
	const struct key_sum *time = key_sums_get(times, &key);

	*ret_total_ns = time->count;
	*ret_delta_ns = time->ns;
}

static void set_times(struct group *group, struct key_sums *times)
{
	uint64_t halted_delta_ns;

	find_time(times, group, TIME_WHOLE, &group->whole_ns, &group->whole_delta_ns);
	find_time(times, group, TIME_HALT, &group->halted_ns, &halted_delta_ns);
	find_time(times, group, TIME_POLL, &group->polled_ns,
		  &group->polled_delta_ns);
}

/* The buckets of a recording, in a list for each group; a list's end is 0, not a list's number. */
struct spreads {
	struct spread_of_group {
		const struct spread *spread;
		uint32_t next;
	} *list;
	size_t nr, room;
};

static void add_spread(struct spreads *spreads, struct group *group, const struct spread *spread)
{
	array_grow(&spreads->list, &spreads->room, spreads->nr + 1);
	spreads->list[spreads->nr++] = (struct spread_of_group){ spread, group->spreads };
	group->spreads = (uint32_t)spreads->nr;
}

static void set_percentiles(struct exit_sum *sum, const struct buckets *buckets, double unit_ns)
{
	const struct timing_sum *timing = &sum->timing;

	sum->has_percentiles = true;
	for (int i = 0; i < NR_PERCENTILES; i++) {
		double ns = (double)buckets_percentile(buckets, shares[i]) * unit_ns + 0.5;

		ns = fmin(fmax(ns, (double)timing->spread.min_ns), (double)timing->max_ns);
		sum->percentiles_ns[i] = (uint64_t)ns;
	}
}

/* Also of all groups together. All spreads have the same unit. */
static void set_all_percentiles(struct groups *groups, const struct spreads *spreads)
{
	struct buckets all = { .nr = 0 };
	double unit_ns;

	if (!spreads->nr)
		return;
	unit_ns = spreads->list[0].spread->ns_per_unit;
	for (size_t i = 0; i < groups->nr; i++) {
		struct group *group = &groups->list[i];
		struct buckets sum = { .nr = 0 };

		for (uint32_t at = group->spreads; at; at = spreads->list[at - 1].next)
			buckets_join(&sum, spreads->list[at - 1].spread->buckets);
		if (group->spreads) {
			set_percentiles(&group->sum, &sum, unit_ns);
			buckets_join(&all, &sum);
		}
		buckets_release(&sum);
	}
	set_percentiles(&groups->all.sum, &all, unit_ns);
	buckets_release(&all);
}

int group_by(struct groups *groups, struct view *view, const struct query *query,
	     const struct facts *facts)
{
	struct key_sums numbers = { 0 }, times = { 0 }; /* of groups and of vCPUs' time */
	struct spreads spreads = { .nr = 0 };
	int err = 0;

	for (size_t i = 0; !err && i < stats_count(facts->stats); i++) {
		const struct stats_item *stat = stats_at(facts->stats, i);
		const struct field *field = fields_get(facts->fields, stat->key.field);
		struct group *group;

		if (!query_has_key(query, &stat->key))
			continue;
		if (field->use == USE_TIME && is_summed(groups, field->part))
			add_time(groups, &times, stat, field->part);
		if (field->is_idle)
			halt_reason_look(&groups->halt, field, stat);
		if (!field_set_has(&groups->chosen, stat->key.field))
			continue;
		group = group_of(groups, &numbers, view, key_of_group(groups, stat->key));
		if (!group) {
			err = -ENOMEM;
			break;
		}
		add_stat(group, stat, field->is_idle, groups->has_totals,
			 stats_open_ns(facts->stats, facts->fields, stat));
		if (stat->timing && stat->timing->raw.spread &&
		    stat->timing->raw.spread->buckets)
			add_spread(&spreads, group, stat->timing->raw.spread);
	}
	for (size_t i = 0; !err && i < groups->nr; i++) {
		group_merge(&groups->all, &groups->list[i]);
		set_times(&groups->list[i], &times);
	}
	if (!err)
		set_all_percentiles(groups, &spreads);
	free(spreads.list);
	key_sums_release(&numbers);
	key_sums_release(&times);
	return err;
}

static bool is_shown(const struct query *query, const struct exit_sum *sum)
{
	return query->zeros || sum->total || sum->delta || sum->timing.delta_ns;
}

int groups_build(struct groups *groups, struct view *view, const struct query *query,
		 const struct facts *facts, group_row_fn add_row)
{
	int err = group_by(groups, view, query, facts);

	for (size_t i = 0; !err && i < groups->nr; i++) {
		if (is_shown(query, &groups->list[i].sum))
			err = add_row(view, facts, groups, &groups->list[i]);
	}
	return err;
}
