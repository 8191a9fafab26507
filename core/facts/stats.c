// SPDX-License-Identifier: GPL-2.0-or-later
/* Totals, deltas and rates: a table of keys that successive samples bring up to date. */
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/xalloc.h"
#include "core/facts/stats.h"

struct stats *stats_new(void)
{
	return xcalloc(1, sizeof(struct stats));
}

struct stats_item *stats_find(const struct stats *stats, const struct key *key)
{
	uint32_t at;

	if (!stats->nr)
		return NULL;
	at = *key_index_slot(&stats->index, stats->list, key);
	return at ? &stats->list[at - 1] : NULL;
}

/* Finds the key of a row. Rows nearly always have the order of the sample before. */
static struct stats_item *stats_find_row(struct stats *stats, const struct key *key)
{
	struct stats_item *stat = stats->next < stats->nr ? &stats->list[stats->next] : NULL;

	if (!stat || !key_equal(&stat->key, key))
		stat = stats_find(stats, key);
	if (stat)
		stats->next = (size_t)(stat - stats->list) + 1;
	return stat;
}

/* Moves all items. The key is not there yet. */
static struct stats_item *stats_insert(struct stats *stats, const struct key *key)
{
	struct stats_item *stat;

	key_index_add(&stats->index, stats->list, sizeof(*stats->list), stats->nr, key);
	stat = array_add(stats->list, stats->nr, stats->room);
	*stat = (struct stats_item){ .key = *key, .born = stats->tick };
	return stat;
}

/* The last item fills the gap. */
static void stats_remove(struct stats *stats, size_t i)
{
	struct stats_item *stat = &stats->list[i], *last = &stats->list[stats->nr - 1];

	key_index_remove(&stats->index, stats->list,
			 key_index_slot(&stats->index, stats->list, &stat->key));
	free(stat->timing);
	free(stat->history);
	if (stat != last) {
		*key_index_slot(&stats->index, stats->list, &last->key) = (uint32_t)i + 1;
		*stat = *last;
	}
	stats->nr--;
}

/* Removes an item that stats_removed_at() then reports. */
static void stats_end(struct stats *stats, size_t i)
{
	struct stats_item *removed =
		array_add(stats->removed, stats->nr_removed, stats->room_removed);

	*removed = stats->list[i];
	removed->history = NULL;
	stats->list[i].timing = NULL; /* the removed one's */
	stats_remove(stats, i);
}

/* Forgets the first nr of the removed ones. */
static void forget_removed(struct stats *stats, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free(stats->removed[i].timing);
	stats->nr_removed -= nr;
	if (nr)
		memmove(stats->removed, stats->removed + nr,
			stats->nr_removed * sizeof(*stats->removed));
}

void stats_clear(struct stats *stats)
{
	while (stats->nr)
		stats_remove(stats, stats->nr - 1);
	stats->tick = 0;
	stack_sums_reset(&stats->stacks);
	forget_removed(stats, stats->nr_removed);
	stats->nr_reported = 0;
	memset(stats->latest, 0, sizeof(stats->latest));
	memset(stats->before, 0, sizeof(stats->before));
	memset(stats->time_ns, 0, sizeof(stats->time_ns));
	memset(stats->elapsed_ns, 0, sizeof(stats->elapsed_ns));
}

void stats_free(struct stats *stats)
{
	if (!stats)
		return;
	stats_clear(stats);
	free(stats->list);
	key_index_release(&stats->index);
	free(stats->removed);
	long_exits_release(&stats->long_exits);
	stack_sums_release(&stats->stacks);
	free(stats);
}

static void stats_clock(struct stats *stats, const struct sample *sample)
{
	for (int i = 0; i < SAMPLE_SOURCES; i++) {
		uint64_t now = sample->time_ns[i], before = stats->time_ns[i];

		if (!now)
			continue;
		stats->elapsed_ns[i] = before && now > before ? now - before :
								sample->elapsed_ns[i];
		stats->time_ns[i] = now;
		stats->before[i] = stats->latest[i];
		stats->latest[i] = stats->tick;
	}
}

/* A counter's next value. A counter that went back was restarted at 0. */
static void stat_advance(struct stats_item *stat, uint64_t raw, uint64_t elapsed_ns)
{
	if (raw < stat->raw) {
		stat->base = 0 - stat->total;
		stat->raw = 0;
	}
	stat->delta = raw - stat->raw;
	stat->raw = raw;
	stat->total = raw - stat->base;
	stat->has_rate = elapsed_ns > 0;
	stat->rate_per_s = elapsed_ns ? (double)stat->delta * 1e9 / (double)elapsed_ns : 0;
}

/* Whether a child begins later than its parent, see stats.h. ret_parent: the parent's total. */
static bool is_late(const struct stats *stats, const struct fields *fields, const struct row *row,
		    uint64_t *ret_parent)
{
	const struct field *field = fields_get(fields, row->key.field);
	struct key parent = { row->key.guest, row->key.vcpu, field->parent };
	const struct stats_item *stat;

	if (field->use != USE_EVENT || row->flags & ROW_WHOLE_INTERVAL ||
	    field->parent == FIELD_NONE)
		return false;
	stat = stats_find(stats, &parent);
	if (!stat || stat->born == stats->tick)
		return false;
	*ret_parent = stat->total;
	return true;
}

/*
 * A counter's first value. It is a total only if the counter began at 0; then all of it is of this
 * interval, as its rate is, also if it began late in it: a rate is a delta by the interval's
 * length, in each row and each sum.
 */
static void stat_begin(const struct stats *stats, const struct fields *fields,
		       struct stats_item *stat, const struct row *row, uint64_t elapsed_ns)
{
	bool late = is_late(stats, fields, row, &stat->parent_before);
	bool is_total = row->flags & ROW_FROM_ZERO && !late;

	stat->raw = row->count;
	stat->base = is_total ? 0 : row->count;
	stat->total = stat->delta = row->count - stat->base;
	stat->has_rate = is_total && elapsed_ns > 0;
	stat->rate_per_s = stat->has_rate ? (double)stat->delta * 1e9 / (double)elapsed_ns : 0;
}

/*
 * A counter is back after samples without it, and nothing says that it began at 0: what it counted
 * meanwhile is of no interval.
 */
static void stat_begin_again(struct stats_item *stat, uint64_t raw)
{
	stat->raw = raw;
	stat->base = raw - stat->total;
	stat->delta = 0;
	stat->has_rate = false;
	stat->rate_per_s = 0;
}

static float latest_rate(const struct stats_item *stat)
{
	return stat->has_rate ? (float)stat->rate_per_s : -1;
}

/* Room for all rates, with the latest one, which is of this tick. */
static void history_begin(struct stats_item *stat, uint64_t tick)
{
	stat->history = xmalloc(STATS_HISTORY * sizeof(*stat->history));
	for (int i = 0; i < STATS_HISTORY; i++)
		stat->history[i] = -1;
	stat->history[tick % STATS_HISTORY] = latest_rate(stat);
}

/* Call it before this tick's rate replaces the latest one. */
static void keep_rate(const struct stats *stats, struct stats_item *stat)
{
	if (stat->history || !stat->has_rate || stat->born == stats->tick || stats->keeps_no_rates)
		return;
	history_begin(stat, stats->tick - 1);
}

static void put_rate(const struct stats *stats, struct stats_item *stat)
{
	if (stat->history)
		stat->history[stats->tick % STATS_HISTORY] = latest_rate(stat);
}

/* The key is not in the sample. is_known: nothing happened; else the value is not known. */
static void stat_rest(const struct stats *stats, struct stats_item *stat, bool is_known)
{
	keep_rate(stats, stat);
	stat->delta = 0;
	stat->rate_per_s = 0;
	stat->has_rate = is_known;
	put_rate(stats, stat);
	if (stat->timing)
		timing_rest(stat->timing);
}

/* What a provider says of a key in this sample. */
static void stats_take(struct stats *stats, const struct fields *fields,
		       const struct sample *sample, const struct row *row)
{
	const struct field *field = fields_get(fields, row->key.field);
	const struct timing *timing = row->timing ? &sample->timings[row->timing - 1] : NULL;
	struct stats_item *stat = stats_find_row(stats, &row->key);
	bool is_new = !stat, has_restarted = stat && row->count < stat->raw;
	bool is_found_again = stat && stat->seen < stats->before[field->source] &&
			      !(row->flags & ROW_FROM_ZERO);

	if (is_new)
		stat = stats_insert(stats, &row->key);
	keep_rate(stats, stat);
	if (field->kind != FIELD_COUNTER) {
		stat->raw = stat->total;
		stat->total = row->count;
	} else if (is_new) {
		stat_begin(stats, fields, stat, row, stats->elapsed_ns[field->source]);
	} else if (is_found_again) {
		stat_begin_again(stat, row->count);
	} else {
		stat_advance(stat, row->count, stats->elapsed_ns[field->source]);
	}
	put_rate(stats, stat);
	stat->seen = stats->tick;
	if (!timing)
		return;
	if (!stat->timing) {
		stat->timing = xcalloc(1, sizeof(*stat->timing));
		timing_begin(stat->timing, timing, !is_new || row->flags & ROW_FROM_ZERO);
	}
	if (has_restarted)
		timing_restart(stat->timing);
	if (is_found_again)
		timing_begin(stat->timing, timing, false);
	timing_advance(stat->timing, timing);
}

/* Views call it for every key: written without branches, so that the compiler makes vectors. */
void stats_rates_join(float rates[STATS_HISTORY], bool is_first, const float more[STATS_HISTORY])
{
	for (int i = 0; i < STATS_HISTORY; i++) {
		float sum = rates[i] + (more[i] > 0 ? more[i] : 0);

		rates[i] = is_first || rates[i] < 0 ? more[i] : sum;
	}
}

static void history_retire(struct stats_item *ended, const struct stats_item *stat, uint64_t tick)
{
	if (!stat->history)
		return;
	if (!ended->history)
		history_begin(ended, tick);
	stats_rates_join(ended->history, false, stat->history);
}

/*
 * Adds the totals of a guest to STATS_ENDED, zeros as well: without a row for each child the
 * children of STATS_ENDED would look incomplete. Levels end with their guest.
 */
static void stats_retire(struct stats *stats, const struct fields *fields, size_t i)
{
	struct key key = { .guest = STATS_ENDED, .vcpu = -1, .field = stats->list[i].key.field };
	struct stats_item *ended, *stat;

	if (fields_get(fields, key.field)->kind != FIELD_COUNTER)
		return;
	ended = stats_find(stats, &key);
	if (!ended)
		ended = stats_insert(stats, &key);
	stat = &stats->list[i];
	stat_rest(stats, stat, true);
	stat_rest(stats, ended, true);
	history_retire(ended, stat, stats->tick);
	ended->total += stat->total;
	ended->parent_before += stat->parent_before;
	if (!stat->timing)
		return;
	if (!ended->timing)
		ended->timing = xcalloc(1, sizeof(*ended->timing));
	timing_retire(ended->timing, stat->timing);
}

/*
 * Whether a counter has its last value in a sample. The host's numbers of a thread end with the
 * thread: their increase after the latest sample is unknown.
 */
static bool has_last_value(const struct field *field)
{
	return field->use != USE_HOST;
}

/* The counter is gone. If it comes back and begins at 0, its total goes on. */
static void stat_close(const struct stats *stats, struct stats_item *stat,
		       const struct field *field)
{
	stat_rest(stats, stat, has_last_value(field));
	stat->base = 0 - stat->total;
	stat->raw = 0;
	if (stat->timing)
		timing_restart(stat->timing);
}

/* Whether a guest is in the inventory. Keys of one guest follow each other: looked up once. */
struct guest_lookup {
	uint32_t guest;
	bool is_known;
};

static bool is_kept(const struct stats *stats, const struct fields *fields, const struct key *key,
		    struct guest_lookup *latest)
{
	if (!stats->guests || !key->guest ||
	    fields_get(fields, key->field)->kind != FIELD_COUNTER)
		return false;
	if (latest->guest != key->guest)
		*latest = (struct guest_lookup){ key->guest,
						 guests_find(stats->guests, key->guest) != NULL };
	return latest->is_known;
}

/*
 * Ends keys that are not in the sample although their source is: their guest or vCPU has ended.
 * If the source is not in the sample, its keys keep their totals and lose their rates. The loop
 * goes backwards, because entries of STATS_ENDED are added at the end, and the last entry replaces
 * a removed one.
 */
static void stats_expire(struct stats *stats, const struct fields *fields,
			 const struct sample *sample)
{
	struct guest_lookup latest = { GUEST_NONE, false };

	for (size_t i = stats->nr; i-- > 0;) {
		struct stats_item *stat = &stats->list[i];
		const struct field *field = fields_get(fields, stat->key.field);
		bool is_in = sample->time_ns[field->source] != 0;

		if (stat->seen == stats->tick)
			continue;
		if (!is_in || stat->key.guest == STATS_ENDED) {
			stat_rest(stats, stat, is_in);
		} else if (is_kept(stats, fields, &stat->key, &latest)) {
			stat_close(stats, stat, field);
		} else {
			if (stat->key.guest)
				stats_retire(stats, fields, i);
			stats_end(stats, i);
		}
	}
}

void stats_reset(struct stats *stats, const struct fields *fields)
{
	stats->resets++;
	stack_sums_reset(&stats->stacks);
	for (size_t i = 0; i < stats->nr; i++) {
		struct stats_item *stat = &stats->list[i];

		if (fields_get(fields, stat->key.field)->kind != FIELD_COUNTER)
			continue;
		stat->base = stat->raw;
		stat->total = 0;
		stat->parent_before = 0;
		if (stat->timing)
			timing_reset(stat->timing);
	}
}

/* The rates before this sample's. */
static void stat_adopt(struct stats_item *stat, const struct rates_before *past, uint64_t tick)
{
	history_begin(stat, tick);
	for (uint64_t i = 1; i < STATS_HISTORY; i++)
		stat->history[(tick - i) % STATS_HISTORY] = past->per_s[STATS_HISTORY - i];
}

static void stats_give(struct stats *stats, const struct fields *fields,
		       const struct sample *sample, const struct row *row)
{
	const struct row_given *given = &sample->givens[row->given - 1];
	const struct field *field = fields_get(fields, row->key.field);
	bool is_read = stats->latest[field->source] == stats->tick;
	uint64_t elapsed_ns = is_read ? stats->elapsed_ns[field->source] : 0;
	struct stats_item *stat = stats_find_row(stats, &row->key);
	bool is_new = !stat, is_counter = field->kind == FIELD_COUNTER;
	bool is_known = !given->is_absent || row->key.guest == STATS_ENDED || has_last_value(field);

	if (given->is_gone) {
		if (stat)
			stats_remove(stats, (size_t)(stat - stats->list));
		return;
	}
	if (is_new)
		stat = stats_insert(stats, &row->key);
	keep_rate(stats, stat);
	stat->total = row->count;
	stat->parent_before = given->parent_before;
	stat->delta = is_counter ? given->delta : 0;
	stat->has_rate = is_counter && given->has_rate && is_known && elapsed_ns;
	stat->rate_per_s = stat->has_rate ? (double)stat->delta * 1e9 / (double)elapsed_ns : 0;
	put_rate(stats, stat);
	if (!given->is_absent)
		stat->seen = stats->tick;
	if (is_new && given->past)
		stat_adopt(stat, &sample->pasts[given->past - 1], stats->tick);
	if (!given->is_timed)
		return;
	if (!stat->timing)
		stat->timing = xcalloc(1, sizeof(*stat->timing));
	timing_give(stat->timing, &given->timing);
}

void stats_update(struct stats *stats, const struct fields *fields, const struct sample *sample)
{
	stats->tick++;
	stats->lost += sample->lost;
	stats->next = 0;
	forget_removed(stats, stats->nr_reported);
	stats_clock(stats, sample);
	for (size_t i = 0; i < sample->nr_rows; i++) {
		const struct row *row = &sample->rows[i];

		if (sample->is_given)
			stats_give(stats, fields, sample, row);
		else
			stats_take(stats, fields, sample, row);
	}
	if (!sample->is_given)
		stats_expire(stats, fields, sample);
	stats->nr_reported = stats->nr_removed;
	memcpy(stats->counted_ns, sample->counted_ns, sizeof(stats->counted_ns));
	if (sample->is_given) /* a moment, which is no later than the one before */
		long_exits_reset(&stats->long_exits);
	long_exits_take(&stats->long_exits, &sample->long_exits);
	stack_sums_take(&stats->stacks, &sample->stacks);
}

void stats_keep_only(struct stats *stats, const struct field_set *fields)
{
	for (size_t i = stats->nr; i-- > 0;) {
		if (!field_set_has(fields, stats->list[i].key.field))
			stats_end(stats, i);
	}
}

const struct stats_item *stats_removed_at(const struct stats *stats, size_t i)
{
	return i < stats->nr_reported ? &stats->removed[i] : NULL;
}

void stats_rates(const struct stats_item *stat, uint64_t tick, float rates[STATS_HISTORY])
{
	size_t oldest = (tick + 1) % STATS_HISTORY, nr_old = STATS_HISTORY - oldest;

	if (stat->history) {
		memcpy(rates, stat->history + oldest, nr_old * sizeof(*rates));
		memcpy(rates + nr_old, stat->history, oldest * sizeof(*rates));
		return;
	}
	for (int i = 0; i < STATS_HISTORY - 1; i++)
		rates[i] = -1;
	rates[STATS_HISTORY - 1] = latest_rate(stat);
}

void stats_rates_add(float rates[STATS_HISTORY], bool is_first, const struct stats_item *stat,
		     uint64_t tick)
{
	float of_stat[STATS_HISTORY];

	stats_rates(stat, tick, of_stat);
	stats_rates_join(rates, is_first, of_stat);
}
