// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes rows, and the cells of groups. */
#include <math.h>

#include "core/views/fill.h"
#include "core/views/view.h"

/* ---- of a group: counts and durations */

struct cell cell_rate_of(const struct row_of *of, const struct group *group)
{
	if (!of->query->since_ns)
		return cell_rate(&group->sum);
	return (struct cell){
		.type = CELL_RATE,
		.number = (double)group->sum.total * 1e9 / (double)of->query->since_ns,
	};
}

static struct cell share_of(const struct row_of *of)
{
	const struct group *all = &of->rollup->all_groups;

	if (of->rollup->is_since_start)
		return cell_percent(of->group->sum.total, all->sum.total);
	return cell_percent(of->group->sum.delta, all->sum.delta);
}

/*
 * The mean of the exits that ended; absent if none did. A Prometheus has the number and the time of
 * a reason's exits, and no histogram.
 */
static struct cell average(const struct row_of *of)
{
	const struct timing_sum *timing = &of->group->timing;
	bool is_all = of->rollup->is_since_start;
	uint64_t ended_ns = is_all ? timing->total_ended_ns : timing->delta_ended_ns;
	uint64_t nr = hist_count(timing->hist);

	if (!nr && ended_ns)
		nr = is_all ? of->group->sum.total : of->group->sum.delta;
	return nr ? cell_ns(ended_ns / nr) : cell_none();
}

static struct cell percentile(const struct row_of *of, enum percentile which)
{
	static const double shares[] = { [PERCENTILE_50] = 0.5, [PERCENTILE_99] = 0.99 };
	const struct timing_sum *timing = &of->group->timing;
	bool is_all = of->rollup->is_since_start;
	struct hist_known known = {
		.time_ns = is_all ? timing->total_ended_ns : timing->delta_ended_ns,
		.min_ns = timing->spread.min_ns,
		.max_ns = is_all ? timing->max_ns : timing->interval_max_ns,
	};

	if (!hist_count(timing->hist))
		return cell_none();
	if (of->group->has_percentiles)
		return cell_ns(of->group->percentiles_ns[which]);
	return cell_ns(hist_percentile_ns(timing->hist, shares[which], known));
}

/* The shortest duration: exact in a recording, else, since the start, its bucket's lower edge. */
static struct cell shortest(const struct row_of *of)
{
	const struct timing_sum *timing = &of->group->timing;

	if (timing->spread.count)
		return cell_ns(timing->spread.min_ns);
	for (unsigned int i = 0; of->rollup->is_since_start && i < HIST_BUCKETS; i++) {
		if (timing->hist[i])
			return cell_ns(i ? hist_edge_ns(i - 1) : 0);
	}
	return cell_none();
}

/* By a clock of 10 ms an exit may have taken 0: a longest of 0 is known if any ended. */
static struct cell longest(const struct timing_sum *timing, uint64_t max_ns)
{
	return max_ns || hist_count(timing->hist) ? cell_ns(max_ns) : cell_none();
}

/* Only a recording has it. The deviation of a single duration is 0. */
static struct cell deviation(const struct spread *spread)
{
	double variance;

	if (!spread->count)
		return cell_none();
	if (spread->count < 2)
		return cell_ns(0);
	variance = spread_squares(spread) / (double)(spread->count - 1);
	return cell_ns((uint64_t)(sqrt(variance) + 0.5));
}

/* A part of the time of the group's vCPUs: since the start, or of the last interval. */
static uint64_t part_of(const struct row_of *of, enum time_part part)
{
	const struct sum *sum = &of->owner->time[part];

	return of->rollup->is_since_start ? sum->total : sum->delta;
}

/* What the shares of exits are of: the time of the row's vCPUs, or of all that are shown. */
static uint64_t whole_of(enum column_id id, const struct row_of *of)
{
	const struct sum *all = &of->rollup->all.time[TIME_WHOLE];

	if (id != COL_TIME_OF_ALL)
		return part_of(of, TIME_WHOLE);
	return of->rollup->is_since_start ? all->total : all->delta;
}

/* Whether there are shares of time: of an interval only if all of it was measured. */
static bool has_times(const struct row_of *of)
{
	return of->group->timing.nr &&
	       (of->rollup->is_since_start || of->rollup->all.time[TIME_WHOLE].nr_rates);
}

/* A part of the time of the group's exits, or beside it: since the start, or of the interval. */
static uint64_t exit_part(const struct row_of *of, enum exit_part part)
{
	const struct sum *sum = &of->group->parts[part];

	return of->rollup->is_since_start ? sum->total : sum->delta;
}

/*
 * What the exits cost, and parts of it; and beside it what they waited, and idled. Of arguments
 * only their time is known, and no part that is not known of vCPUs.
 */
static struct cell exit_share(enum column_id id, const struct row_of *of)
{
	const struct timing_sum *timing = &of->group->timing;
	uint64_t ns = of->rollup->is_since_start ? timing->total_ns : timing->delta_ns;
	uint64_t idle_ns = exit_part(of, EXIT_IDLE), blocked_ns = exit_part(of, EXIT_BLOCKED);
	uint64_t whole_ns = whole_of(id, of), cost_ns = ns > idle_ns ? ns - idle_ns : 0;
	uint64_t on_cpu_ns = cost_ns > blocked_ns ? cost_ns - blocked_ns : 0;
	enum time_part needs = TIME_WHOLE;

	switch (id) {
	case COL_RUN_SHARE:
		ns = on_cpu_ns;
		needs = TIME_BLOCK;
		break;
	case COL_BLOCK_SHARE:
		ns = blocked_ns;
		needs = TIME_BLOCK;
		break;
	case COL_WAIT_SHARE:
		ns = exit_part(of, EXIT_WAITED);
		needs = TIME_WAIT;
		break;
	case COL_POLL_SHARE:
		ns = exit_part(of, EXIT_POLLED);
		needs = TIME_POLL;
		break;
	case COL_IDLE_SHARE:
		ns = idle_ns;
		needs = TIME_IDLE;
		break;
	default:
		ns = cost_ns;
		break;
	}
	if (!has_times(of) || !of->rollup->all.time[needs].nr ||
	    (needs != TIME_WHOLE && of->query->event >= EXITS_FIRST_ARGUMENT))
		return cell_none();
	/* The argument of a read comes when the read ends, and then has its whole time. */
	return cell_percent(ns < whole_ns ? ns : whole_ns, whole_ns);
}

/* Whether the group has all exits of its vCPUs. */
static bool has_all_exits(const struct row_of *of)
{
	const struct query *query = of->query;

	return query->event == EXITS_VMEXIT && !query->filter && !query->has_reason &&
	       (of->group == &of->rollup->all_groups || !(of->rollup->by & GROUP_REASON));
}

/*
 * What vCPUs waited or idled beside the time of their exits. In a recording their time has exits
 * without an end, too.
 */
static struct cell share_beside(enum column_id id, const struct row_of *of)
{
	enum time_part part = id == COL_WAIT_SHARE ? TIME_WAIT : TIME_IDLE;

	if (!has_all_exits(of) || !has_times(of) || !of->rollup->all.time[part].nr)
		return exit_share(id, of);
	return cell_percent(part_of(of, part), part_of(of, TIME_WHOLE));
}

static struct cell cell_of_group(enum column_id id, const struct row_of *of)
{
	const struct group *group = of->group;
	const struct timing_sum *timing = &group->timing;

	switch (id) {
	case COL_TOTAL:
		return cell_count(group->sum.total);
	case COL_DELTA:
		return cell_count(of->query->since_ns ? group->sum.total : group->sum.delta);
	case COL_RATE:
		return cell_rate_of(of, group);
	case COL_SHARE:
		return share_of(of);
	case COL_TIME_SHARE:
	case COL_TIME_OF_ALL:
	case COL_RUN_SHARE:
	case COL_POLL_SHARE:
	case COL_BLOCK_SHARE:
		return exit_share(id, of);
	case COL_WAIT_SHARE:
	case COL_IDLE_SHARE:
		return share_beside(id, of);
	case COL_WAIT_TIME:
		return exit_share(COL_WAIT_SHARE, of).type == CELL_NONE ?
			       cell_none() : cell_ns(exit_part(of, EXIT_WAITED));
	case COL_OPEN:
		return group->open_ns ? cell_ns(group->open_ns) : cell_none();
	default:
		break;
	}
	if (!timing->nr)
		return cell_none();
	switch (id) {
	case COL_TIME:
		return cell_ns(of->rollup->is_since_start ? timing->total_ns : timing->delta_ns);
	case COL_SHORTEST:
		return shortest(of);
	case COL_AVERAGE:
		return average(of);
	case COL_DEVIATION:
		return deviation(&timing->spread);
	case COL_P50:
		return percentile(of, PERCENTILE_50);
	case COL_P99:
		return percentile(of, PERCENTILE_99);
	case COL_CUR_LONGEST:
		return longest(timing, of->rollup->is_since_start ? timing->max_ns :
								    timing->interval_max_ns);
	case COL_LONGEST:
		return longest(timing, timing->max_ns);
	case COL_HIST:
		return hist_count(timing->hist) ? cell_hist(timing->hist) : cell_none();
	default:
		return cell_none();
	}
}

/* ---- rows */

static const struct key *key_of(const struct row_of *of)
{
	return of->group ? &of->group->key : &of->owner->key;
}

/* What the row is of: its guest, vCPU, reason. False: the column is no name. */
static bool fill_name(struct cell *cell, enum column_id id, const struct row_of *of, bool is_gone)
{
	const struct key *key = key_of(of);
	const struct field *field = of->field;
	uint32_t what;

	switch (id) {
	case COL_GUEST:
	case COL_HOST:
		if (key->guest != GUEST_NONE)
			*cell = cell_guest(of->guest);
		if (of->guest && of->query->joins_names)
			cell->text = guest_shared_name(of->guest);
		cell->has_ended = of->guest && is_gone;
		return true;
	case COL_PID:
		if (of->guest)
			*cell = cell_pid(of->guest->pid);
		return true;
	case COL_VCPU:
		if (key->vcpu >= 0)
			*cell = cell_count((uint64_t)key->vcpu);
		return true;
	case COL_TID:
		*cell = cell_pid(vcpu_last_tid(guest_vcpu(of->guest, key->vcpu)));
		return true;
	case COL_ENDED:
		if (is_gone)
			*cell = cell_count(1);
		return true;
	case COL_REASON:
		if (of->name || field)
			*cell = cell_text(of->name ? of->name : field->label);
		return true;
	case COL_ARGUMENT:
		*cell = cell_text(field->label);
		return true;
	case COL_WHAT: /* the exit's reason, or the kind of access where the reason is not known */
		what = field->reason != FIELD_NONE ? field->reason : field->parent;
		*cell = cell_text(fields_get(of->facts->fields, what)->label);
		return true;
	default:
		return false;
	}
}

void fill_cells(struct cell *cells, const struct view_type *type, const struct row_of *of,
		bool is_gone)
{
	bool is_cpu = !of->group && of->owner->key.guest == GUEST_NONE;

	for (size_t i = 0; type->columns[i].id; i++) {
		enum column_id id = type->columns[i].id;

		cells[i] = cell_none();
		if (is_cpu)
			cells[i] = cell_of_cpu(id, of->owner);
		else if (fill_name(&cells[i], id, of, is_gone))
			continue;
		else if (of->group)
			cells[i] = cell_of_group(id, of);
		else
			cells[i] = cell_of_owner(id, of, is_gone);
	}
}

struct view_row *fill_row(struct view *view, const struct row_of *of)
{
	const struct key *key = key_of(of);
	struct view_row *row = view_add(view);

	row->guest = key->guest;
	row->vcpu = key->vcpu;
	row->is_gone = key->guest != GUEST_NONE && (!of->guest || of->guest->has_ended);
	if (!of->group && row->vcpu >= 0 && of->guest && !row->is_gone)
		row->is_gone = !guest_vcpu(of->guest, row->vcpu) ||
			       !guests_by_id(of->facts->guests, row->guest);
	if (of->group && of->rollup->by & GROUP_REASON)
		row->field = of->group->key.field;
	row->is_rest = !of->group && key->guest == STATS_ENDED;
	fill_cells(row->cells, view->type, of, row->is_gone);
	return row;
}
