// SPDX-License-Identifier: GPL-2.0-or-later
/* Totals, deltas and rates: a table of keys that successive samples bring up to date. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/xalloc.h"
#include "core/facts/key_index.h"
#include "core/facts/stats.h"

struct stats {
	struct stats_item *list;
	size_t nr, room;
	struct key_index index; /* of the list */
	bool keeps_no_rates;
	const struct guests *guests; /* see stats_know_guests() */
	size_t next; /* the index of the next row's key if rows have the order of the last sample */
	uint64_t tick;
	uint64_t time_ns[SAMPLE_SOURCES]; /* of the last sample that had the source */
	uint64_t elapsed_ns[SAMPLE_SOURCES];
	uint64_t latest[SAMPLE_SOURCES]; /* the tick of that sample */
	uint64_t before[SAMPLE_SOURCES]; /* and of the one before it */
	uint64_t resets;
	struct long_exits long_exits;
	uint64_t lost;
	struct key *removed;
	size_t nr_removed, room_removed;
	size_t nr_reported; /* of them, removed up to the end of the latest update */
};

struct stats *stats_new(void)
{
	struct stats *stats = xcalloc(1, sizeof(*stats));

	if (stats)
		stats->index.size = sizeof(*stats->list);
	return stats;
}

void stats_keep_no_rates(struct stats *stats)
{
	stats->keeps_no_rates = true;
}

static struct stats_item *stats_find(const struct stats *stats, const struct key *key)
{
	uint32_t at;

	if (!stats->nr)
		return NULL;
	at = *key_index_slot(&stats->index, stats->list, key);
	return at ? &stats->list[at - 1] : NULL;
}

/* The same for a row of a sample. Rows nearly always have the order of the sample before. */
static struct stats_item *stats_find_row(struct stats *stats, const struct key *key)
{
	struct stats_item *stat = stats->next < stats->nr ? &stats->list[stats->next] : NULL;

	if (!stat || !key_equal(&stat->key, key))
		stat = stats_find(stats, key);
	if (stat)
		stats->next = (size_t)(stat - stats->list) + 1;
	return stat;
}

/* Moves all others. */
static struct stats_item *stats_insert(struct stats *stats, const struct key *key)
{
	struct stats_item *stat;

	array_grow_unset(&stats->list, &stats->room, stats->nr + 1);
	key_index_grow(&stats->index, stats->list, stats->nr, stats->nr + 1);
	stat = &stats->list[stats->nr++];
	*stat = (struct stats_item){ .key = *key, .born = stats->tick };
	*key_index_slot(&stats->index, stats->list, key) = (uint32_t)stats->nr;
	return stat;
}

/* The last one takes its place. */
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

/* The same, and stats_removed_at() reports it. */
static void stats_end(struct stats *stats, size_t i)
{
	array_grow(&stats->removed, &stats->room_removed, stats->nr_removed + 1);
	stats->removed[stats->nr_removed++] = stats->list[i].key;
	stats_remove(stats, i);
}

void stats_clear(struct stats *stats)
{
	while (stats->nr)
		stats_remove(stats, stats->nr - 1);
	stats->tick = 0;
	stats->nr_removed = 0;
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

/* The parent of a child; NULL: there is none, or it was first counted in this sample. */
static const struct stats_item *older_parent(const struct stats *stats, const struct fields *fields,
				       const struct key *key)
{
	struct key parent = *key;
	const struct stats_item *stat;

	parent.field = fields_get(fields, key->field)->parent;
	stat = parent.field == FIELD_NONE ? NULL : stats_find(stats, &parent);
	return stat && stat->born < stats->tick ? stat : NULL;
}

/*
 * A counter's first value gives a total but no rate: how long the counter ran is not known. If the
 * parent was counted before, the child's total starts at this value: the child counted during a
 * part of the interval only, and its share of the parent would be wrong. The provider "exits"
 * counts all the time, and has no row before something happened: its first value counts.
 */
static void stat_begin(struct stats_item *stat, const struct row *row,
		       const struct stats_item *parent, uint64_t elapsed_ns)
{
	bool is_known = row->flags & ROW_FROM_ZERO && !parent;

	stat->raw = row->count;
	stat->base = is_known ? 0 : row->count;
	stat->total = row->count - stat->base;
	stat->delta = stat->total;
	stat->parent_before = parent ? parent->total : 0;
	stat->has_rate = is_known && row->flags & ROW_WHOLE_INTERVAL && elapsed_ns > 0;
	stat->rate_per_s = stat->has_rate ? (double)stat->delta * 1e9 / (double)elapsed_ns : 0;
}

/*
 * The longest duration since the reset is known when it is longer than the longest before the
 * reset; else only its bucket is known.
 */
static uint64_t longest_since(const struct stats_timing *timing)
{
	unsigned int top = HIST_BUCKETS - 1;

	if (timing->raw.max_ns > timing->max_before)
		return timing->raw.max_ns;
	while (top && !timing->total[top])
		top--;
	if (!timing->total[top])
		return 0;
	return timing->raw.max_ns < hist_edge_ns(top) ? timing->raw.max_ns : hist_edge_ns(top);
}

/* See stats_timing.interval_max_ns. Call it before raw is taken over, after delta[] is. */
static uint64_t longest_between(const struct stats_timing *timing, uint64_t max_ns)
{
	uint64_t edge_ns;

	if (max_ns > timing->raw.max_ns)
		return max_ns;
	if (timing->delta_first == timing->delta_end)
		return 0;
	edge_ns = hist_edge_ns(timing->delta_end - 1u);
	return max_ns < edge_ns ? max_ns : edge_ns;
}

static void forget_delta(struct stats_timing *timing)
{
	for (unsigned int i = timing->delta_first; i < timing->delta_end; i++)
		timing->delta[i] = 0;
	timing->delta_first = timing->delta_end = 0;
}

/* Buckets are taken modulo 2^32. Only a few of them count in an interval. */
static void hist_advance(struct stats_timing *timing, const uint32_t *raw)
{
	unsigned int first = 0, end = HIST_BUCKETS;

	forget_delta(timing);
	while (first < end && raw[first] == timing->raw.hist[first])
		first++;
	while (end > first && raw[end - 1] == timing->raw.hist[end - 1])
		end--;
	for (unsigned int i = first; i < end; i++) {
		uint32_t delta = raw[i] - timing->raw.hist[i];

		timing->delta[i] = delta;
		timing->total[i] += delta;
	}
	timing->delta_first = (uint8_t)first;
	timing->delta_end = (uint8_t)end;
}

/* How much a time grew; modulo 2^64, as a difference of two times may begin below 0. */
static uint64_t growth(uint64_t before, uint64_t now)
{
	return (int64_t)(now - before) > 0 ? now - before : 0;
}

/* The next durations. Time goes back where something never ends: its total stays. */
static void timing_advance(struct stats_timing *timing, const struct timing *raw)
{
	uint64_t longest;

	timing->delta_ns = growth(timing->raw.time_ns, raw->time_ns);
	timing->delta_ended_ns = growth(timing_ended_ns(&timing->raw), timing_ended_ns(raw));
	timing->total_ns += timing->delta_ns;
	timing->total_ended_ns += timing->delta_ended_ns;
	timing->open_before_ns = timing->open_ns;
	timing->open_ns = raw->open_ns;
	hist_advance(timing, raw->hist);
	timing->interval_max_ns = longest_between(timing, raw->max_ns);
	timing->raw = *raw;
	longest = longest_since(timing);
	if (longest > timing->max_ns)
		timing->max_ns = longest;
}

static void timing_rest(struct stats_timing *timing)
{
	timing->delta_ns = timing->delta_ended_ns = 0;
	timing->open_ns = timing->open_before_ns = 0;
	timing->interval_max_ns = 0;
	forget_delta(timing);
}

static void timing_reset(struct stats_timing *timing)
{
	timing->total_ns = timing->total_ended_ns = 0;
	timing->max_ns = 0;
	timing->max_before = timing->raw.max_ns;
	memset(timing->total, 0, sizeof(timing->total));
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

/* Before this tick's rate takes the place of the one before. */
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

/* from_zero: the durations began at 0 after the previous sample. */
static void timing_begin(struct stats_item *stat, const struct timing *raw, bool from_zero)
{
	stat->timing = xcalloc(1, sizeof(*stat->timing));
	if (!from_zero) {
		stat->timing->raw = *raw;
		stat->timing->max_before = raw->max_ns;
	}
}

/* has_restarted: the count went back, so the durations began at 0 as well. */
static void stat_time(struct stats_item *stat, const struct timing *raw, bool from_zero,
		      bool has_restarted)
{
	if (!stat->timing)
		timing_begin(stat, raw, from_zero);
	if (has_restarted) {
		stat->timing->raw = (struct timing){ 0 };
		stat->timing->max_before = 0;
	}
	timing_advance(stat->timing, raw);
}

static void stat_count(struct stats *stats, const struct fields *fields, struct stats_item *stat,
		       const struct row *row, bool is_new)
{
	const struct field *field = fields_get(fields, row->key.field);
	uint64_t elapsed_ns = stats->elapsed_ns[field->source];
	bool is_late;

	if (field->kind != FIELD_COUNTER) {
		stat->raw = stat->total;
		stat->total = row->count;
	} else if (is_new) {
		is_late = field->use == USE_EVENT && !(row->flags & ROW_WHOLE_INTERVAL);
		stat_begin(stat, row, is_late ? older_parent(stats, fields, &row->key) : NULL,
			   elapsed_ns);
	} else {
		stat_advance(stat, row->count, elapsed_ns);
	}
	put_rate(stats, stat);
	stat->seen = stats->tick;
}

static void stat_adopt(struct stats_item *stat, const struct row_past *past, uint64_t tick)
{
	stat->parent_before = past->parent_before;
	history_begin(stat, tick);
	for (uint64_t i = 0; i < STATS_HISTORY; i++)
		stat->history[(tick - i) % STATS_HISTORY] = past->history[STATS_HISTORY - 1 - i];
}

static void stats_take(struct stats *stats, const struct fields *fields,
		       const struct sample *sample, const struct row *row)
{
	struct stats_item *stat = stats_find_row(stats, &row->key);
	const struct row_past *past = row->past ? &sample->pasts[row->past - 1] : NULL;
	bool is_new = !stat, has_restarted;

	if (is_new)
		stat = stats_insert(stats, &row->key);
	keep_rate(stats, stat);
	has_restarted = !is_new && row->count < stat->raw;
	stat_count(stats, fields, stat, row, is_new);
	if (is_new && past)
		stat_adopt(stat, past, stats->tick);
	if (!row->timing)
		return;
	stat_time(stat, &sample->timings[row->timing - 1],
		  !is_new || row->flags & ROW_FROM_ZERO, has_restarted);
	if (is_new && past)
		stat->timing->total_ns -= past->untold_ns;
}

/* Views call it for every key: written without branches, so that the compiler makes vectors. */
static void history_join(float *restrict history, const float *restrict more)
{
	for (int i = 0; i < STATS_HISTORY; i++) {
		float sum = history[i] + (more[i] > 0 ? more[i] : 0);

		history[i] = history[i] < 0 ? more[i] : sum;
	}
}

static void timing_retire(struct stats_item *ended, const struct stats_timing *timing)
{
	if (!ended->timing)
		ended->timing = xcalloc(1, sizeof(*ended->timing));
	ended->timing->total_ns += timing->total_ns;
	ended->timing->total_ended_ns += timing->total_ended_ns;
	if (timing->max_ns > ended->timing->max_ns)
		ended->timing->max_ns = timing->max_ns;
	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		ended->timing->total[i] += timing->total[i];
}

static void history_retire(struct stats_item *ended, const struct stats_item *stat, uint64_t tick)
{
	if (!stat->history)
		return;
	if (!ended->history)
		history_begin(ended, tick);
	history_join(ended->history, stat->history);
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
	if (stat->timing)
		timing_retire(ended, stat->timing);
}

/*
 * Whether a counter has its last value in a sample. What the host says of a thread ends with the
 * thread: what came after the latest sample is not known.
 */
static bool has_last_value(const struct field *field)
{
	return field->use != USE_HOST && !(field->use == USE_TIME && field->part == TIME_WAIT);
}

/* The counter is gone. A counter that comes back begins at 0, and its total goes on. */
static void stat_close(const struct stats *stats, struct stats_item *stat,
		       const struct field *field)
{
	stat_rest(stats, stat, has_last_value(field));
	stat->base = 0 - stat->total;
	stat->raw = 0;
	if (stat->timing) {
		stat->timing->raw = (struct timing){ 0 };
		stat->timing->max_before = 0;
	}
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
 * Ends keys that are not in the sample although their source is: their guest or vCPU has ended. If
 * the source is not in the sample, its keys keep their totals and lose their rates. The loop goes
 * backwards, because entries of STATS_ENDED are added at the end, and the last entry replaces a
 * removed one.
 */
static void stats_expire(struct stats *stats, const struct fields *fields,
			 const struct sample *sample)
{
	struct guest_lookup latest = { GUEST_ANY, false };

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

void stats_know_guests(struct stats *stats, const struct guests *guests)
{
	stats->guests = guests;
}

void stats_reset(struct stats *stats, const struct fields *fields)
{
	stats->resets++;
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

/* See struct sample. */
static void play_reset(struct stats *stats, const struct fields *fields)
{
	stats_reset(stats, fields);
	for (size_t i = 0; i < stats->nr; i++) {
		struct stats_timing *timing = stats->list[i].timing;

		if (timing)
			timing->raw.max_ns = timing->max_before = 0;
	}
}

static void forget_reported(struct stats *stats)
{
	stats->nr_removed -= stats->nr_reported;
	if (stats->nr_reported)
		memmove(stats->removed, stats->removed + stats->nr_reported,
			stats->nr_removed * sizeof(*stats->removed));
}

void stats_update(struct stats *stats, const struct fields *fields, const struct sample *sample)
{
	if (sample->is_reset)
		play_reset(stats, fields);
	stats->tick++;
	stats->lost += sample->lost;
	stats->next = 0;
	forget_reported(stats);
	stats_clock(stats, sample);
	for (size_t i = 0; i < sample->nr_rows; i++)
		stats_take(stats, fields, sample, &sample->rows[i]);
	stats_expire(stats, fields, sample);
	stats->nr_reported = stats->nr_removed;
	long_exits_take(&stats->long_exits, &sample->long_exits);
}

void stats_keep_only(struct stats *stats, const struct field_set *fields)
{
	for (size_t i = stats->nr; i-- > 0;) {
		if (!field_set_has(fields, stats->list[i].key.field))
			stats_end(stats, i);
	}
}

size_t stats_count(const struct stats *stats)
{
	return stats->nr;
}

const struct stats_item *stats_at(const struct stats *stats, size_t i)
{
	return &stats->list[i];
}

uint64_t stats_tick(const struct stats *stats)
{
	return stats->tick;
}

uint64_t stats_resets(const struct stats *stats)
{
	return stats->resets;
}

const struct key *stats_removed_at(const struct stats *stats, size_t i)
{
	return i < stats->nr_reported ? &stats->removed[i] : NULL;
}

const struct long_exits *stats_long_exits(const struct stats *stats)
{
	return &stats->long_exits;
}

uint64_t stats_lost(const struct stats *stats)
{
	return stats->lost;
}

uint64_t stats_time_ns(const struct stats *stats, uint32_t source)
{
	return stats->latest[source] == stats->tick ? stats->time_ns[source] : 0;
}

uint64_t stats_latest_tick(const struct stats *stats, uint32_t source)
{
	return stats->latest[source];
}

uint64_t stats_tick_before(const struct stats *stats, uint32_t source)
{
	return stats->before[source];
}

uint64_t stats_elapsed_ns(const struct stats *stats, uint32_t source)
{
	return stats->elapsed_ns[source];
}

uint64_t stats_open_ns(const struct stats *stats, const struct fields *fields,
		       const struct stats_item *stat)
{
	const struct field *field = fields_get(fields, stat->key.field);
	uint64_t elapsed_ns = stats->elapsed_ns[field->source];

	if (!stat->timing || field->is_idle || field->parent == FIELD_NONE || !elapsed_ns)
		return 0;
	return stat->timing->open_ns > elapsed_ns ? stat->timing->open_ns : 0;
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

static void history_add(struct stat_sum *sum, const struct stats_item *stat, uint64_t tick)
{
	float rates[STATS_HISTORY];

	if (!sum->nr) {
		stats_rates(stat, tick, sum->history);
		return;
	}
	stats_rates(stat, tick, rates);
	history_join(sum->history, rates);
}

void stat_sum_add(struct stat_sum *sum, const struct stats_item *stat, enum field_kind kind,
		  uint64_t tick)
{
	history_add(sum, stat, tick);
	sum->nr++;
	if (kind == FIELD_PEAK)
		sum->total = stat->total > sum->total ? stat->total : sum->total;
	else
		sum->total += stat->total;
	sum->delta += stat->delta;
	sum->rate_per_s += stat->rate_per_s;
	sum->has_rate |= stat->has_rate;
	sum->parent_before += stat->parent_before;
}

void stat_sum_merge(struct stat_sum *sum, const struct stat_sum *part)
{
	if (sum->nr && part->nr)
		history_join(sum->history, part->history);
	else if (part->nr)
		memcpy(sum->history, part->history, sizeof(sum->history));
	sum->nr += part->nr;
	sum->total += part->total;
	sum->delta += part->delta;
	sum->rate_per_s += part->rate_per_s;
	sum->has_rate |= part->has_rate;
}

void timing_sum_add(struct timing_sum *sum, const struct stats_timing *timing, bool is_since_start)
{
	sum->nr++;
	sum->total_ns += timing->total_ns;
	sum->delta_ns += timing->delta_ns;
	sum->total_ended_ns += timing->total_ended_ns;
	sum->delta_ended_ns += timing->delta_ended_ns;
	if (timing->max_ns > sum->max_ns)
		sum->max_ns = timing->max_ns;
	if (timing->interval_max_ns > sum->interval_max_ns)
		sum->interval_max_ns = timing->interval_max_ns;
	if (timing->raw.spread)
		spread_join(&sum->spread, timing->raw.spread);
	for (unsigned int i = 0; is_since_start && i < HIST_BUCKETS; i++)
		sum->hist[i] += timing->total[i];
	for (unsigned int i = timing->delta_first; !is_since_start && i < timing->delta_end; i++)
		sum->hist[i] += timing->delta[i];
}

void timing_sum_merge(struct timing_sum *sum, const struct timing_sum *part)
{
	sum->nr += part->nr;
	sum->total_ns += part->total_ns;
	sum->delta_ns += part->delta_ns;
	sum->total_ended_ns += part->total_ended_ns;
	sum->delta_ended_ns += part->delta_ended_ns;
	if (part->max_ns > sum->max_ns)
		sum->max_ns = part->max_ns;
	if (part->interval_max_ns > sum->interval_max_ns)
		sum->interval_max_ns = part->interval_max_ns;
	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		sum->hist[i] += part->hist[i];
	spread_join(&sum->spread, &part->spread);
}

uint64_t hist_count(const uint64_t *hist)
{
	uint64_t count = 0;

	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		count += hist[i];
	return count;
}

uint64_t hist_percentile_ns(const uint64_t *hist, double share, struct hist_known known)
{
	uint64_t nr = hist_count(hist), lower, upper;
	double rank = share * (double)nr;
	unsigned int i = 0;

	if (!(rank > 0))
		return 0;
	if (nr == 1 && known.time_ns)
		known.min_ns = known.max_ns = known.time_ns;
	while (i + 1 < HIST_BUCKETS && rank > (double)hist[i])
		rank -= (double)hist[i++];
	lower = i ? hist_edge_ns(i - 1) : 0;
	upper = hist_edge_ns(i);
	if (lower < known.min_ns)
		lower = known.min_ns;
	if (upper > known.max_ns)
		upper = known.max_ns;
	if (upper <= lower || !hist[i])
		return upper;
	return lower + (uint64_t)((double)(upper - lower) * rank / (double)hist[i] + 0.5);
}
