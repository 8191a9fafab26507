// SPDX-License-Identifier: GPL-2.0-or-later
/* Measures the rules for each vCPU: which fields count for them, and their values. */
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/number.h"
#include "lib/text.h"
#include "core/facts/shared_fields.h"
#include "core/findings/measure.h"
#include "core/findings/rules.h"

/* Less memory needs no huge pages, and a guest that begins has touched less. */
#define PAGES_LEAST_KIB (64 * 1024)

/* ---- which fields count for which rules */

/*
 * Whether a field of `less` counts a part of what the rule measures: an argument of another exit
 * reason does not.
 */
static bool is_part(const struct rule *rule, const struct fields *fields,
		    const struct field *field)
{
	const struct field *reason;

	if (field->use != USE_ARGUMENT || field->reason == FIELD_NONE)
		return true;
	reason = fields_get(fields, field->reason);
	if (reason->parent == FIELD_NONE ||
	    strcmp(fields_get(fields, reason->parent)->name, rule->what.parents) != 0)
		return true;
	return rule_fields_have(&rule->what, fields, reason);
}

struct field_rules measure_rules(const struct fields *fields, const struct field *field)
{
	struct field_rules rules = { .blocked = FIELD_NONE, .idle = FIELD_NONE };
	const struct rule *rule;

	for (size_t i = 0; (rule = rule_at(i)); i++) {
		rules.what |= (uint64_t)rule_fields_have(&rule->what, fields, field) << i;
		rules.named |= (uint64_t)rule_fields_have(&rule->named, fields, field) << i;
		rules.less |= (uint64_t)(rule_fields_have(&rule->less, fields, field) &&
					 is_part(rule, fields, field)) << i;
		if (!rule->needs)
			continue;
		rules.needs |= (uint64_t)(strcmp(rule->needs, field->name) == 0) << i;
		rules.is_of_guest |= any_of(&rules) >> i & 1;
	}
	return rules;
}

/* ---- one pass over the keys */

/* The keys of a vCPU follow each other. */
static struct subject *subject_of(struct measure *measure, const struct key *key)
{
	const struct key of = { key->guest, key->vcpu, 0 };
	size_t at = measure->latest;

	if (at < measure->nr && key_equal(&measure->subjects[at].key, &of))
		return &measure->subjects[at];
	at = key_index_add(&measure->index, measure->subjects, sizeof(struct subject),
			   measure->nr, &of);
	measure->latest = at;
	if (at == measure->nr) {
		*array_add(measure->subjects, measure->nr, measure->room) =
			(struct subject){ .key = of };
	}
	return &measure->subjects[at];
}

static struct subject *subject_of_stat(struct measure *measure, const struct stats_item *stat)
{
	const struct key guest = { stat->key.guest, -1, 0 };

	return subject_of(measure, measure->rules[stat->key.field].is_of_guest ? &guest :
										 &stat->key);
}

/* Its position, with 1 added; 0: the subject has nothing of the rule. */
static uint32_t find_counts(const struct measure *measure, const struct subject *subject,
			    size_t rule)
{
	uint32_t at = subject->counts;

	while (at && measure->counts[at - 1].rule != rule)
		at = measure->counts[at - 1].next;
	return at;
}

const struct rule_counts *measure_counts(const struct measure *measure,
					   const struct subject *subject, size_t rule)
{
	static const struct rule_counts none;
	uint32_t at = find_counts(measure, subject, rule);

	return at ? &measure->counts[at - 1] : &none;
}

/* Valid until the next call. */
static struct rule_counts *make_counts(struct measure *measure, struct subject *subject,
				       size_t rule)
{
	uint32_t at = find_counts(measure, subject, rule);

	if (at)
		return &measure->counts[at - 1];
	*array_add(measure->counts, measure->nr_counts, measure->room_counts) =
		(struct rule_counts){ .rule = (uint32_t)rule, .next = subject->counts };
	subject->counts = (uint32_t)measure->nr_counts;
	return &measure->counts[measure->nr_counts - 1];
}

/* A key that rules are measured by. */
struct seen {
	const struct stats_item *stat;
	const struct field *field;
	uint64_t open_ns; /* of an exit that stands still, which costs nothing else */
	double on_cpu;	  /* the part of its time in which its thread did not sleep */
};

static void name_top(struct rule_counts *counts, const struct stats_item *stat, uint64_t ns,
		     bool is_named)
{
	double rate = stat->has_rate ? stat->rate_per_s : 0;

	if (is_named && !counts->is_named) {
		counts->top_ns = 0;
		counts->top_per_s = 0;
	}
	if (!is_named && counts->is_named)
		return;
	counts->is_named = is_named;
	if (ns < counts->top_ns || (ns == counts->top_ns && rate <= counts->top_per_s))
		return;
	counts->top = stat->key.field;
	counts->top_ns = ns;
	counts->top_per_s = rate;
}

static uint64_t count_ended(const struct stats_timing *timing)
{
	uint64_t nr = 0;

	for (unsigned int i = timing->delta_first; i < timing->delta_end; i++)
		nr += timing->delta[i];
	return nr;
}

static uint64_t scale(uint64_t ns, double by)
{
	return by < 1 ? (uint64_t)((double)ns * by) : ns;
}

/* The ns that a key adds: of an exit, its time on a CPU. */
static uint64_t ns_of(const struct measure *measure, const struct rule *rule,
		      const struct seen *seen)
{
	const struct field *field = seen->field;
	const struct stats_item *stat = seen->stat;

	if (rule->is_own)
		return exits_has(&measure->exits, field) ?
			       facts_own_ns(stat, measure->own_ns) : 0;
	if (field->use == USE_TIME || field->use == USE_EXIT_PART ||
	    (field->use == USE_HOST &&
	     (field->part == HOST_WAITED || field->part == HOST_THROTTLED ||
	      field->part == HOST_QUOTA || field->part == HOST_STOPPED)))
		return stat->delta;
	/* An exit that stands still counts for MEASURE_OPEN, and nothing else does. */
	if (!stat->timing || (seen->open_ns > 0) != (rule->measure == MEASURE_OPEN))
		return 0;
	return seen->open_ns ? stat->timing->delta_ns : scale(stat->timing->delta_ns, seen->on_cpu);
}

/* A level of pages is their memory, so that pages of different sizes can be added up. */
static uint64_t level_of(const struct rule *rule, const struct seen *seen)
{
	uint64_t total = seen->stat->total;

	if (seen->field->kind != FIELD_GAUGE)
		return 0;
	return rule->measure == MEASURE_PAGES ? event_pages_kib(field_event(seen->field), total) :
						total;
}

/* The scheduler's numbers of a vCPU, in a whole interval. */
static bool is_of_thread(const struct stats_item *stat, const struct field *field)
{
	return stat->has_rate && stat->key.vcpu >= 0 && field->use == USE_HOST;
}

/* Adds what the rule measures. */
static void add_counts(const struct measure *measure, struct rule_counts *counts,
		       const struct rule *rule, const struct seen *seen)
{
	const struct stats_item *stat = seen->stat;
	const struct field *field = seen->field;

	if (!rule->is_own || exits_has(&measure->exits, field))
		counts->count += stat->delta;
	if (rule->measure != MEASURE_PAGES)
		counts->level = 0;
	counts->level += level_of(rule, seen);
	counts->ns += ns_of(measure, rule, seen);
	if (stat->timing)
		counts->ended_ns += scale(stat->timing->delta_ended_ns, seen->on_cpu);
	if (seen->open_ns > counts->open_ns) {
		counts->open_ns = seen->open_ns;
		counts->open = stat->key.field;
	}
	counts->rate_per_s += stat->has_rate ? stat->rate_per_s : 0;
	if (is_of_thread(stat, field) && field->source != measure->exits.source)
		counts->interval_ns = measure->facts->stats->elapsed_ns[field->source];
	if (rule->measure == MEASURE_MEAN && stat->timing)
		counts->nr_ended += count_ended(stat->timing);
}

/* Subtracts what `less` has, and finds the field that counts most. */
static void add_details(const struct measure *measure, struct rule_counts *counts, size_t bit,
			const struct seen *seen)
{
	const struct stats_item *stat = seen->stat;
	const struct field_rules *rules = &measure->rules[stat->key.field];
	const struct rule *rule = rule_at(bit);
	uint64_t ns = ns_of(measure, rule, seen), top_ns = ns;
	bool is_named = rules->named >> bit & 1;
	bool may_be_top = is_named || rules->what >> bit & 1;

	if (rules->less >> bit & 1) {
		counts->less_ns += ns;
		counts->less_per_s += stat->has_rate ? stat->rate_per_s : 0;
		counts->less_level += level_of(rule, seen);
	}
	if (rule->measure == MEASURE_OPEN) {
		top_ns = seen->open_ns;
		may_be_top = is_named && seen->open_ns;
	}
	if (may_be_top)
		name_top(counts, stat, top_ns, is_named);
}

static bool is_cpu(const struct field *field)
{
	return field->use == USE_CPU || (field->use == USE_HOST && field->part == HOST_CPU);
}

static void add_time(const struct stats *stats, struct subject *subject,
		     const struct stats_item *stat, const struct field *field)
{
	/* Shares are of whole intervals: the first one, without a rate, is not. */
	if (field->use == USE_TIME && stat->has_rate && field->part == TIME_WHOLE)
		subject->whole_ns += stat->delta;
	if (is_of_thread(stat, field))
		subject->interval_ns = stats->elapsed_ns[field->source];
	subject->splits_waits |= field->use == USE_TIME && field->part == TIME_WAIT;
	if (is_of_thread(stat, field) && field->part == HOST_WAITED)
		subject->waited_ns = stat->delta;
	if (field->use == USE_HOST && field->part == HOST_AFFINITY)
		subject->affinity = stat->total;
	subject->has_hidden_quota |= field->use == USE_HOST && field->part == HOST_QUOTA &&
				     stat->delta && !strcmp(field->label, HOST_QUOTA_HIDDEN);
	/* The scheduler's CPU is newer than the CPU of the latest exit. */
	if (is_cpu(field) && (field->use == USE_HOST || !subject->has_cpu)) {
		subject->has_cpu = true;
		subject->cpu = stat->total;
	}
}

static void add_busy(struct measure *measure, const struct stats_item *stat)
{
	*array_add(measure->busy, measure->nr_busy, measure->room_busy) = (struct cpu_busy){
		.cpu = (uint64_t)stat->key.vcpu,
		.per_s = stat->has_rate ? stat->rate_per_s : 0,
	};
}

static void add_culprit(struct measure *measure, const struct stats_item *stat)
{
	struct subject *subject = subject_of(measure, &stat->key);

	*array_add(measure->culprits, measure->nr_culprits, measure->room_culprits) =
		(struct culprit){ .stat = stat, .next = subject->culprits };
	subject->culprits = (uint32_t)measure->nr_culprits;
}

static uint64_t delta_of(const struct measure *measure, struct key key, uint32_t field)
{
	const struct stats_item *stat = NULL;

	key.field = field;
	if (field != FIELD_NONE)
		stat = stats_find(measure->facts->stats, &key);
	return stat ? stat->delta : 0;
}

/* How long exits of one argument slept is not measured: as long as others of the reason. */
static double on_cpu(const struct measure *measure, const struct stats_item *stat,
		     const struct field *field)
{
	const struct stats_item *exits = stat;
	const struct field_rules *of;
	struct key key = stat->key;
	uint64_t ns, slept_ns;

	if (field->use == USE_ARGUMENT && field->reason != FIELD_NONE) {
		key.field = field->reason;
		exits = stats_find(measure->facts->stats, &key);
	}
	ns = exits && exits->timing ? exits->timing->delta_ns : 0;
	of = &measure->rules[key.field];
	slept_ns = delta_of(measure, key, of->blocked) + delta_of(measure, key, of->idle);
	if (!slept_ns || !ns)
		return 1;
	return slept_ns < ns ? 1 - (double)slept_ns / (double)ns : 0;
}

static struct seen see_stat(const struct measure *measure, const struct stats_item *stat,
			    const struct field *field)
{
	return (struct seen){
		.stat = stat,
		.field = field,
		.open_ns = stats_open_ns(measure->facts->stats, field, stat),
		.on_cpu = stat->timing ? on_cpu(measure, stat, field) : 1,
	};
}

static void add_stat(struct measure *measure, const struct stats_item *stat)
{
	const struct field *field = fields_get(measure->facts->fields, stat->key.field);
	const struct field_rules *rules = &measure->rules[stat->key.field];
	struct subject *subject;
	struct seen seen;
	bool is_here;

	if (field->use == USE_HOST && field->part == HOST_BUSY) {
		add_busy(measure, stat);
		return;
	}
	if (field->use == USE_WAIT && field->part >= WAIT_OWN && stat->timing)
		add_culprit(measure, stat);
	if (!any_of(rules) && field->use != USE_TIME && !is_cpu(field) && !field_is_of_cpu(field))
		return;
	if (field->use == USE_ARGUMENT && stat->key.guest == GUEST_NONE)
		return; /* of interrupts, that several guests may have */
	subject = subject_of_stat(measure, stat);
	is_here = stat->seen >= measure->facts->stats->latest[field->source];
	if (is_here)
		measure->counted |= rules->needs;
	subject->is_here |= is_here;
	add_time(measure->facts->stats, subject, stat, field);
	if (!rules->what)
		return;
	seen = see_stat(measure, stat, field);
	for (uint64_t rest = rules->what; rest; rest &= rest - 1) {
		size_t i = (size_t)__builtin_ctzll(rest);

		add_counts(measure, make_counts(measure, subject, i), rule_at(i), &seen);
	}
}

static void add_stat_details(struct measure *measure, const struct stats_item *stat)
{
	const struct field *field = fields_get(measure->facts->fields, stat->key.field);
	const struct field_rules *rules = &measure->rules[stat->key.field];
	const struct subject *subject;
	struct seen seen;

	if (!any_of(rules))
		return;
	subject = subject_of_stat(measure, stat);
	if (!subject->counts)
		return;
	seen = see_stat(measure, stat, field);
	for (uint64_t rest = any_of(rules); rest; rest &= rest - 1) {
		size_t i = (size_t)__builtin_ctzll(rest);
		uint32_t at = find_counts(measure, subject, i);

		if (at)
			add_details(measure, &measure->counts[at - 1], i, &seen);
	}
}

static void sort_names(struct measure *measure)
{
	const struct guests *guests = measure->facts->guests;

	measure->nr_names = guests_count(guests);
	array_grow_unset(&measure->names, &measure->room_names, measure->nr_names + 1);
	for (size_t i = 0; i < measure->nr_names; i++)
		measure->names[i] = guests_at(guests, i)->name;
	qsort(measure->names, measure->nr_names, sizeof(*measure->names), text_compare);
}

/* Only vCPUs for which a rule measures anything have details of it: most have none. */
void measure_take(struct measure *measure)
{
	const uint64_t *own_ns = facts_of_host(measure->facts, HOST_COST);
	const uint64_t *gives_huge_pages = facts_of_host(measure->facts, HOST_HUGE);
	const struct stats *stats = measure->facts->stats;

	key_index_clear(&measure->index);
	measure->nr = measure->latest = measure->nr_counts = measure->nr_busy = 0;
	measure->nr_culprits = 0;
	measure->own_ns = own_ns ? *own_ns : 0;
	measure->counted = 0;
	measure->exits = exits_choose(measure->facts, false, true);
	measure->lacks_huge_pages = gives_huge_pages && !*gives_huge_pages;
	for (size_t i = 0; i < stats->nr; i++)
		add_stat(measure, &stats->list[i]);
	for (size_t i = 0; i < stats->nr; i++)
		add_stat_details(measure, &stats->list[i]);
	sort_names(measure);
}

/* ---- a rule and a vCPU */

/*
 * What exits waited for a CPU, where it is not known which: so much of any rule's time may have
 * been waiting, and is no finding about exits.
 */
static uint64_t waited_in_exits(const struct subject *subject, const struct rule_counts *counts)
{
	const struct rule *rule = rule_at(counts->rule);
	bool is_of_exits = rule->what.use == USE_EXIT || rule->what.use == USE_ARGUMENT;

	return is_of_exits && rule->measure != MEASURE_OPEN && !rule->is_own &&
	       !subject->splits_waits ? subject->waited_ns : 0;
}

static uint64_t own_ns(const struct subject *subject, const struct rule_counts *counts)
{
	return minus(counts->ns, counts->less_ns + waited_in_exits(subject, counts));
}

/* Sources are read one after the other: on a busy host their intervals differ. */
static uint64_t whole_of(const struct subject *subject, const struct rule_counts *counts)
{
	if (counts->interval_ns)
		return counts->interval_ns;
	return subject->whole_ns ? subject->whole_ns : subject->interval_ns;
}

static double share_of(const struct subject *subject, const struct rule_counts *counts,
		       uint64_t ns)
{
	uint64_t whole_ns = whole_of(subject, counts);

	if (!whole_ns)
		return 0;
	return ns < whole_ns ? (double)ns / (double)whole_ns : 1;
}

double measure_value(const struct measure *measure, const struct subject *subject,
		       const struct rule *rule)
{
	const struct rule_counts *counts = measure_counts(measure, subject, rule_index(rule));

	if (rule->needs && !(measure->counted >> rule_index(rule) & 1))
		return 0;
	switch (rule->measure) {
	case MEASURE_SHARE:
		return share_of(subject, counts, own_ns(subject, counts));
	case MEASURE_RATE:
		return counts->rate_per_s - counts->less_per_s;
	case MEASURE_MEAN:
		if (!counts->nr_ended ||
		    share_of(subject, counts, counts->ns) <
			    measure->thresholds->general[THRESHOLD_NOISE])
			return 0;
		return (double)minus(counts->ended_ns, waited_in_exits(subject, counts)) /
		       (double)counts->nr_ended / 1e9;
	case MEASURE_OPEN:
		return (double)counts->open_ns / 1e9;
	case MEASURE_LEVEL:
		return (double)counts->level / 1000;
	case MEASURE_CPU:
		return counts->top_per_s / 1e9;
	case MEASURE_PAGES:
		if (counts->level < PAGES_LEAST_KIB || measure->lacks_huge_pages)
			return 0;
		return 1 - (double)counts->less_level / (double)counts->level;
	}
	return 0;
}

bool measure_cost(const struct subject *subject, const struct rule_counts *counts,
		  double *ret_cost)
{
	if (!whole_of(subject, counts) || !counts->ns)
		return false;
	*ret_cost = share_of(subject, counts, own_ns(subject, counts));
	return true;
}

void measure_release(struct measure *measure)
{
	key_index_release(&measure->index);
	free(measure->subjects);
	free(measure->counts);
	free(measure->culprits);
	free(measure->names);
	free(measure->busy);
	*measure = (struct measure){ .facts = NULL };
}
