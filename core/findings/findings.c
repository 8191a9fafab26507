// SPDX-License-Identifier: GPL-2.0-or-later
/* Measures the rules for each vCPU, and makes findings of what is above its threshold. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/xalloc.h"
#include "core/facts/shared_fields.h"
#include "core/findings/findings.h"

#define NEIGHBOURS_MAX 4 /* that are named */

/* What one rule measures of one vCPU. Most vCPUs have a few of the rules only. */
struct rule_counts {
	uint32_t rule;	/* its index */
	uint32_t next;	/* of the same vCPU: a position in the measure's counts, with 1 added */
	uint64_t count, ns, ended_ns, less_ns, level;
	double rate_per_s, less_per_s;
	uint64_t nr_ended; /* durations */
	/* The field that counts most: of the ones to name, else of what is measured. */
	uint32_t top : 31;
	bool is_named : 1;
	uint32_t open; /* the field of the longest that is open */
	uint64_t open_ns;
	uint64_t top_ns;
	double top_per_s;
};

/* A vCPU; with vcpu -1 what is only known of a whole guest. */
struct subject {
	struct key key; /* of no field */
	uint64_t whole_ns; /* of its exits and the guest; 0: not known */
	uint64_t interval_ns; /* used instead where exits have no times; 0: not known */
	uint64_t guest_ns;
	bool is_here; /* in the latest sample; else it has ended */
	bool has_hidden_quota; /* what stops it may be a quota that cannot be read */
	bool has_cpu;
	uint64_t cpu, affinity; /* how many CPUs it may run on; 0: not known */
	bool has_run;
	double run_per_s; /* ns on a CPU */
	uint32_t counts; /* the first of its rule_counts, as their next; 0: none */
};

/* How busy a CPU of the host is. */
struct cpu_busy {
	uint64_t cpu;
	double per_s; /* ns */
};

/* The rules that a field counts for, as bits. */
struct field_rules {
	uint32_t what, less, named;
};

static uint32_t any_of(const struct field_rules *rules)
{
	return rules->what | rules->less | rules->named;
}

struct measure {
	const struct facts *facts;
	const struct thresholds *thresholds;
	uint32_t guest;
	const struct field_rules *rules; /* by field */
	struct key_index index; /* of subjects */
	struct subject *subjects;
	size_t nr, room;
	struct rule_counts *counts; /* of all subjects */
	size_t nr_counts, room_counts;
	struct cpu_busy *busy;
	size_t nr_busy, room_busy;
	bool has_arguments;
};

/* The vCPUs of one guest, and what is known of the whole guest. */
struct guest_subjects {
	const struct subject *const *list;
	size_t nr;
};

/* Where a vCPU is, and what it gets there. */
static bool is_of_place(const struct field *field)
{
	return field->use == USE_HOST && field->part <= HOST_THROTTLED;
}

bool findings_need(const struct field *field)
{
	if (field->use == USE_EVENT)
		return field->parent == FIELD_NONE && rules_need_event(field);
	if (field->use == USE_HOST)
		return is_of_place(field) || field->part == HOST_QUOTA ||
		       field->part == HOST_REMOTE || field->part == HOST_STOPPED ||
		       field->part == HOST_BUSY || field->part == HOST_FINDING;
	return true;
}

const char *severity_name(enum severity severity)
{
	static const char *const names[] = { "critical", "major", "minor" };

	return names[severity];
}

bool finding_is_worse(const struct finding *a, const struct finding *b)
{
	double a_cost = a->has_cost ? a->cost : -1, b_cost = b->has_cost ? b->cost : -1;

	if (a->severity != b->severity)
		return a->severity < b->severity;
	if (a_cost > b_cost || a_cost < b_cost)
		return a_cost > b_cost;
	return rule_index(a->rule) < rule_index(b->rule);
}

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

static struct field_rules rules_of(const struct fields *fields, const struct field *field)
{
	struct field_rules rules = { 0 };
	const struct rule *rule;

	for (size_t i = 0; (rule = rule_at(i)); i++) {
		rules.what |= (uint32_t)rule_fields_have(&rule->what, fields, field) << i;
		rules.named |= (uint32_t)rule_fields_have(&rule->named, fields, field) << i;
		rules.less |= (uint32_t)(rule_fields_have(&rule->less, fields, field) &&
					 is_part(rule, fields, field)) << i;
	}
	return rules;
}

/* Looks at new fields only: comparing all names costs more than the rest of a refresh. */
static void find_rules(struct findings *findings, const struct fields *fields)
{
	uint32_t nr = fields_count(fields);

	if (findings->fields != fields)
		findings->nr_rules = 0;
	findings->fields = fields;
	array_grow(&findings->rules, &findings->room_rules, nr);
	for (; findings->nr_rules < nr; findings->nr_rules++)
		findings->rules[findings->nr_rules] =
			rules_of(fields, fields_get(fields, (uint32_t)findings->nr_rules));
}

bool findings_can_have(const struct findings *findings, const struct rule *rule)
{
	for (size_t i = 0; i < findings->nr_rules; i++) {
		if (findings->rules[i].what >> rule_index(rule) & 1)
			return true;
	}
	return false;
}

/* ---- one pass over the keys */

static struct subject *subject_of(struct measure *measure, const struct key *key)
{
	const struct key of = { key->guest, key->vcpu, 0 };
	size_t at = key_index_add(&measure->index, measure->subjects, sizeof(struct subject),
				  measure->nr, &of);

	if (at == measure->nr) {
		array_grow_unset(&measure->subjects, &measure->room, at + 1);
		measure->subjects[measure->nr++] = (struct subject){ .key = of };
	}
	return &measure->subjects[at];
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

/* All 0 where the subject has nothing of the rule. */
static const struct rule_counts *counts_of(const struct measure *measure,
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
	array_grow_unset(&measure->counts, &measure->room_counts, measure->nr_counts + 1);
	measure->counts[measure->nr_counts++] = (struct rule_counts){
		.rule = (uint32_t)rule,
		.next = subject->counts,
	};
	subject->counts = (uint32_t)measure->nr_counts;
	return &measure->counts[measure->nr_counts - 1];
}

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

	for (unsigned int i = 0; timing && i < HIST_BUCKETS; i++)
		nr += timing->delta[i];
	return nr;
}

/* The ns that a key adds. open_ns: of an exit that stands still, which costs nothing else. */
static uint64_t ns_of(const struct rule *rule, const struct stats_item *stat,
		      const struct field *field, uint64_t open_ns)
{
	if (field->use == USE_TIME ||
	    (field->use == USE_HOST &&
	     (field->part == HOST_THROTTLED || field->part == HOST_QUOTA ||
	      field->part == HOST_STOPPED)))
		return stat->delta;
	if (!stat->timing || !open_ns != (rule->measure != MEASURE_OPEN))
		return 0;
	return stat->timing->delta_ns;
}

/* Adds what the rule measures. */
static void add_counts(struct rule_counts *counts, const struct rule *rule,
		       const struct stats_item *stat, const struct field *field, uint64_t open_ns)
{
	counts->count += stat->delta;
	counts->level = field->kind == FIELD_GAUGE ? stat->total : 0;
	counts->ns += ns_of(rule, stat, field, open_ns);
	counts->ended_ns += stat->timing ? stat->timing->delta_ended_ns : 0;
	if (open_ns > counts->open_ns) {
		counts->open_ns = open_ns;
		counts->open = stat->key.field;
	}
	counts->rate_per_s += stat->has_rate ? stat->rate_per_s : 0;
	counts->nr_ended += count_ended(stat->timing);
}

/* Subtracts what is not meant, and names what counts most. */
static void add_details(struct rule_counts *counts, const struct rule *rule, size_t bit,
			const struct field_rules *rules, const struct stats_item *stat,
			const struct field *field, uint64_t open_ns)
{
	bool is_open = rule->measure == MEASURE_OPEN;
	uint64_t ns = ns_of(rule, stat, field, open_ns);
	bool is_named = rules->named >> bit & 1;

	if (rules->less >> bit & 1) {
		counts->less_ns += ns;
		counts->less_per_s += stat->has_rate ? stat->rate_per_s : 0;
	}
	if (is_open ? is_named && open_ns : is_named || rules->what >> bit & 1)
		name_top(counts, stat, is_open ? open_ns : ns, is_named);
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
	else if (field->use == USE_TIME && field->part == TIME_GUEST)
		subject->guest_ns += stat->delta;
	if (stat->has_rate && subject->key.vcpu >= 0 &&
	    (field->use == USE_HOST || (field->use == USE_TIME && field->part == TIME_WAIT)))
		subject->interval_ns = stats->elapsed_ns[field->source];
	if (field->use == USE_HOST && field->part == HOST_AFFINITY)
		subject->affinity = stat->total;
	if (field->use == USE_HOST && field->part == HOST_RUN && stat->has_rate) {
		subject->has_run = true;
		subject->run_per_s = stat->rate_per_s;
	}
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
	array_grow(&measure->busy, &measure->room_busy, measure->nr_busy + 1);
	measure->busy[measure->nr_busy++] = (struct cpu_busy){
		.cpu = (uint64_t)stat->key.vcpu,
		.per_s = stat->has_rate ? stat->rate_per_s : 0,
	};
}

static void add_stat(struct measure *measure, const struct stats_item *stat)
{
	const struct field *field = fields_get(measure->facts->fields, stat->key.field);
	const struct field_rules *rules = &measure->rules[stat->key.field];
	struct subject *subject;
	uint64_t open_ns;

	measure->has_arguments |= field->use == USE_ARGUMENT;
	if (field->use == USE_HOST && field->part == HOST_BUSY) {
		add_busy(measure, stat);
		return;
	}
	if (!any_of(rules) && field->use != USE_TIME && !is_cpu(field) && !is_of_place(field))
		return;
	subject = subject_of(measure, &stat->key);
	subject->is_here |= stat->seen >= measure->facts->stats->latest[field->source];
	add_time(measure->facts->stats, subject, stat, field);
	open_ns = stats_open_ns(measure->facts->stats, measure->facts->fields, stat);
	for (uint32_t rest = rules->what; rest; rest &= rest - 1) {
		size_t i = (size_t)__builtin_ctz(rest);

		add_counts(make_counts(measure, subject, i), rule_at(i), stat, field, open_ns);
	}
}

static void add_stat_details(struct measure *measure, const struct stats_item *stat)
{
	const struct field *field = fields_get(measure->facts->fields, stat->key.field);
	const struct field_rules *rules = &measure->rules[stat->key.field];
	const struct subject *subject;
	uint64_t open_ns;

	if (!any_of(rules))
		return;
	subject = subject_of(measure, &stat->key);
	if (!subject->counts)
		return;
	open_ns = stats_open_ns(measure->facts->stats, measure->facts->fields, stat);
	for (uint32_t rest = any_of(rules); rest; rest &= rest - 1) {
		size_t i = (size_t)__builtin_ctz(rest);
		uint32_t at = find_counts(measure, subject, i);

		if (at)
			add_details(&measure->counts[at - 1], rule_at(i), i, rules, stat, field,
				    open_ns);
	}
}

/* A rule has details of those vCPUs only of which it measures anything: most have none. */
static void add_stats(struct measure *measure)
{
	const struct stats *stats = measure->facts->stats;

	for (size_t i = 0; i < stats->nr; i++)
		add_stat(measure, &stats->list[i]);
	for (size_t i = 0; i < stats->nr; i++)
		add_stat_details(measure, &stats->list[i]);
}

/* ---- a rule and a vCPU */

static uint64_t own_ns(const struct rule_counts *counts)
{
	return counts->ns > counts->less_ns ? counts->ns - counts->less_ns : 0;
}

static uint64_t whole_of(const struct subject *subject)
{
	return subject->whole_ns ? subject->whole_ns : subject->interval_ns;
}

static double share_of(const struct subject *subject, uint64_t ns)
{
	uint64_t whole_ns = whole_of(subject);

	if (!whole_ns)
		return 0;
	/* Times of another source may be of an interval that is some ms longer. */
	return ns < whole_ns ? (double)ns / (double)whole_ns : 1;
}

static double value_of(const struct measure *measure, const struct subject *subject,
		       const struct rule *rule)
{
	const struct rule_counts *counts = counts_of(measure, subject, rule_index(rule));

	switch (rule->measure) {
	case MEASURE_SHARE:
		return share_of(subject, own_ns(counts));
	case MEASURE_RATE:
		return counts->rate_per_s - counts->less_per_s;
	case MEASURE_MEAN:
		if (!counts->nr_ended ||
		    share_of(subject, counts->ns) < measure->thresholds->general[THRESHOLD_NOISE])
			return 0;
		return (double)counts->ended_ns / (double)counts->nr_ended / 1e9;
	case MEASURE_OPEN:
		return (double)counts->open_ns / 1e9;
	case MEASURE_LEVEL:
		return (double)counts->level / 1000;
	}
	return 0;
}

static enum severity severity_of(const struct measure *measure, const struct finding *finding)
{
	const double *general = measure->thresholds->general;

	if (finding->has_cost && finding->cost >= general[THRESHOLD_CRITICAL])
		return SEVERITY_CRITICAL;
	if (finding->has_cost && finding->cost >= general[THRESHOLD_MAJOR])
		return SEVERITY_MAJOR;
	return SEVERITY_MINOR;
}

/* ---- words */

static void add_words(struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void add_words(struct finding *finding, const char *format, ...)
{
	size_t len = strlen(finding->evidence);
	va_list args;

	va_start(args, format);
	vsnprintf(finding->evidence + len, sizeof(finding->evidence) - len, format, args);
	va_end(args);
}

static void add_value(struct finding *finding, double value, double threshold)
{
	switch (finding->rule->measure) {
	case MEASURE_SHARE:
		add_words(finding, "%.1f %% of its time (a finding from %g %% on)", value * 100,
			  threshold * 100);
		break;
	case MEASURE_RATE:
		add_words(finding, "%.0f/s (a finding from %g/s on)", value, threshold);
		break;
	case MEASURE_LEVEL:
		add_words(finding, "%.1f %% of it (a finding from %g %% on)", value * 100,
			  threshold * 100);
		break;
	case MEASURE_OPEN:
		add_words(finding, "open %.1f s (a finding from %g s on)", value, threshold);
		break;
	case MEASURE_MEAN:
		if (value < 0.1)
			add_words(finding, "%.3g ms", value * 1000);
		else
			add_words(finding, "%.2f s", value);
		add_words(finding, " each (a finding from %g ms on)", threshold * 1000);
		break;
	}
}

/* "; most: io 0x1f0 read 2 IDE1, 12400/s" */
static void add_top(const struct measure *measure, struct finding *finding,
		    const struct rule_counts *counts)
{
	const struct fields *fields = measure->facts->fields;
	const struct field *field, *reason = NULL;

	if (finding->field == FIELD_NONE)
		return;
	field = fields_get(fields, finding->field);
	if (field->use == USE_HOST) { /* a quota; or that is not known */
		if (field->part == HOST_QUOTA)
			add_words(finding, "; %s", field->label);
		return;
	}
	if (field->use == USE_ARGUMENT && field->reason != FIELD_NONE)
		reason = fields_get(fields, field->reason);
	add_words(finding, "; most: %s%s%s", reason ? reason->label : "", reason ? " " : "",
		  field->label);
	if (counts->top_per_s > 0)
		add_words(finding, " %.0f/s", counts->top_per_s);
}

/* "; io, which the VMM has as IO" */
static void add_open(const struct measure *measure, struct finding *finding,
		     const struct rule_counts *counts)
{
	const struct fields *fields = measure->facts->fields;

	add_words(finding, "; %s, which ", fields_get(fields, counts->open)->label);
	if (finding->field == FIELD_NONE)
		add_words(finding, "KVM handles");
	else
		add_words(finding, "the VMM has as %s", fields_get(fields, finding->field)->label);
}

/* What the threads of a vCPU take of a CPU: by the scheduler, or by the guest's time. */
static double load_of(const struct subject *subject)
{
	return subject->has_run ? subject->run_per_s : (double)subject->guest_ns;
}

static bool is_busier(const struct subject *a, const struct subject *b)
{
	return load_of(a) > load_of(b) || (load_of(a) >= load_of(b) && a < b);
}

/* Less than half a per cent of a CPU, which the evidence would call 0 %. */
static bool has_rested(const struct subject *subject)
{
	return subject->has_run && subject->run_per_s < 5e6;
}

/* The busiest vCPU that ran and was last on the same CPU, after `before`; NULL: none. */
static const struct subject *find_neighbour(const struct measure *measure,
					    const struct subject *subject,
					    const struct subject *before)
{
	const struct subject *found = NULL;

	for (size_t i = 0; i < measure->nr; i++) {
		const struct subject *other = &measure->subjects[i];

		if (other == subject || other->key.vcpu < 0 || !other->has_cpu ||
		    other->cpu != subject->cpu || has_rested(other) ||
		    (before && !is_busier(before, other)))
			continue;
		if (!found || is_busier(other, found))
			found = other;
	}
	return found;
}

static void add_neighbour(const struct measure *measure, struct finding *finding,
			  const struct subject *subject, const struct subject *other)
{
	const struct guest *guest = guests_find(measure->facts->guests, other->key.guest);

	add_words(finding, "%svCPU %d", other->key.guest == subject->key.guest ? "its own " : "",
		  (int)other->key.vcpu);
	if (other->key.guest != subject->key.guest && guest)
		add_words(finding, " of %s", guest->name);
	if (other->has_run)
		add_words(finding, " (%.0f %%)", other->run_per_s / 1e7);
}

/* What else ran on the CPU: threads of VMMs, and other processes where they can be counted. */
static void add_others(const struct measure *measure, struct finding *finding,
		       const struct subject *subject, double vcpus_per_s, const char *before)
{
	for (size_t i = 0; i < measure->nr_busy; i++) {
		double others_per_s = measure->busy[i].per_s - vcpus_per_s;

		if (measure->busy[i].cpu == subject->cpu && others_per_s >= 1e7)
			add_words(finding, "%sother threads (%.0f %%)", before,
				  others_per_s / 1e7);
	}
}

/*
 * The vCPUs that were on the CPU when the sample was taken, the busiest first, and the share of a
 * CPU that each had. Not all of them were there when the vCPU waited, and others may have left.
 */
static void add_neighbours(const struct measure *measure, struct finding *finding,
			   const struct subject *subject)
{
	const struct subject *other = find_neighbour(measure, subject, NULL);
	double vcpus_per_s = load_of(subject);
	size_t nr = 0;

	for (; other; other = find_neighbour(measure, subject, other)) {
		vcpus_per_s += load_of(other);
		if (nr < NEIGHBOURS_MAX) {
			add_words(finding, nr ? ", " : ", beside ");
			add_neighbour(measure, finding, subject, other);
		}
		nr++;
	}
	if (nr > NEIGHBOURS_MAX)
		add_words(finding, ", and %zu more vCPUs", nr - NEIGHBOURS_MAX);
	if (subject->has_run)
		add_others(measure, finding, subject, vcpus_per_s, nr ? ", " : ", beside ");
}

static void add_cpu(const struct measure *measure, struct finding *finding,
		    const struct subject *subject)
{
	if (!subject->has_cpu)
		return;
	add_words(finding, "; it was last on CPU %llu", (unsigned long long)subject->cpu);
	if (subject->affinity == 1)
		add_words(finding, ", the only one that it may use");
	else if (subject->affinity)
		add_words(finding, " of %llu that it may use",
			  (unsigned long long)subject->affinity);
	if (finding->rule->names_neighbours)
		add_neighbours(measure, finding, subject);
}

/* ---- a rule and a guest */

/* The subject with the highest value of a rule. */
struct worst_subject {
	const struct subject *subject; /* NULL: none is above the threshold */
	double value;
	size_t nr_above, nr_all; /* vCPUs */
};

static struct worst_subject find_worst(const struct measure *measure,
				       const struct guest_subjects *of, const struct rule *rule)
{
	double threshold = measure->thresholds->rules[rule_index(rule)];
	struct worst_subject worst = { .subject = NULL };

	for (size_t i = 0; i < of->nr; i++) {
		const struct subject *subject = of->list[i];
		double value = value_of(measure, subject, rule);
		bool is_above = value > 0 && value >= threshold;

		worst.nr_all += subject->key.vcpu >= 0 && subject->is_here;
		worst.nr_above += subject->key.vcpu >= 0 && is_above;
		if (is_above && value > worst.value) {
			worst.value = value;
			worst.subject = subject;
		}
	}
	return worst;
}

static void describe(const struct measure *measure, struct finding *finding,
		     const struct worst_subject *worst)
{
	size_t i = rule_index(finding->rule);

	if (finding->vcpu >= 0)
		add_words(finding, "vCPU %d: ", (int)finding->vcpu);
	add_value(finding, finding->value, measure->thresholds->rules[i]);
	if (finding->rule->measure == MEASURE_OPEN)
		add_open(measure, finding, counts_of(measure, worst->subject, i));
	else if (finding->rule->names_cpu)
		add_cpu(measure, finding, worst->subject);
	else if (finding->rule->what.use != USE_EVENT && finding->rule->what.use != USE_TIME)
		add_top(measure, finding, counts_of(measure, worst->subject, i));
	if (worst->subject->has_hidden_quota && finding->rule->less.use == USE_HOST)
		add_words(finding, "; " HOST_QUOTA_HIDDEN);
	if (finding->vcpu >= 0 && worst->nr_all > 1)
		add_words(finding, "; %zu of %zu vCPUs", worst->nr_above, worst->nr_all);
}

static void find_rule(const struct measure *measure, const struct guest_subjects *of,
		      const struct rule *rule, struct findings *findings)
{
	struct worst_subject worst = find_worst(measure, of, rule);
	const struct fields *fields = measure->facts->fields;
	const struct rule_counts *counts;
	struct finding *finding;
	bool has_top;

	if (!worst.subject || (rule->needs_arguments && !measure->has_arguments))
		return;
	array_grow(&findings->list, &findings->room, findings->nr + 1);
	counts = counts_of(measure, worst.subject, rule_index(rule));
	has_top = counts->top_ns || counts->top_per_s > 0;
	finding = &findings->list[findings->nr++];
	*finding = (struct finding){
		.rule = rule,
		.guest = worst.subject->key.guest,
		.vcpu = worst.subject->key.vcpu,
		.value = worst.value,
		.has_cost = whole_of(worst.subject) && counts->ns,
		.cost = share_of(worst.subject, own_ns(counts)),
		.field = has_top ? counts->top : FIELD_NONE,
	};
	finding->severity = severity_of(measure, finding);
	finding->remedy = rule_remedy(rule, fields,
				      has_top ? fields_get(fields, counts->top) : NULL);
	describe(measure, finding, &worst);
}

static void find_guest(const struct measure *measure, const struct guest_subjects *of,
		       struct findings *findings)
{
	uint32_t guest = of->list[0]->key.guest;
	const struct rule *rule;

	if (measure->guest != GUEST_ANY && measure->guest != guest)
		return;
	for (size_t i = 0; (rule = rule_at(i)); i++) {
		if (!rule->is_said_by ||
		    !find_worst(measure, of, rule_by_id(rule->is_said_by)).subject)
			find_rule(measure, of, rule, findings);
	}
}

static int compare_subjects(const void *a, const void *b)
{
	const struct subject *const *x = a, *const *y = b;

	return key_compare(&(*x)->key, &(*y)->key);
}

static void find_all(const struct measure *measure, struct findings *findings)
{
	const struct subject **sorted = xcalloc(measure->nr + 1, sizeof(struct subject *));

	for (size_t i = 0; i < measure->nr; i++)
		sorted[i] = &measure->subjects[i];
	qsort(sorted, measure->nr, sizeof(struct subject *), compare_subjects);
	for (size_t i = 0, end; i < measure->nr; i = end) {
		struct guest_subjects of = { &sorted[i], 0 };
		uint32_t guest = sorted[i]->key.guest;

		for (end = i; end < measure->nr && sorted[end]->key.guest == guest; end++)
			of.nr++;
		find_guest(measure, &of, findings);
	}
	free(sorted);
}

/* ---- what another kvmtop found: its numbers are not known here */

/* Whether one of the first nr, which are in the order of their guests, is this one. */
static bool has_finding(const struct findings *findings, size_t nr, const struct rule *rule,
			uint32_t guest)
{
	size_t first = 0, end = nr;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (findings->list[middle].guest < guest)
			first = middle + 1;
		else
			end = middle;
	}
	for (; first < nr && findings->list[first].guest == guest; first++) {
		if (findings->list[first].rule == rule)
			return true;
	}
	return false;
}

enum severity severity_of_level(uint64_t level)
{
	return level > SEVERITY_MINOR ? SEVERITY_CRITICAL :
					(enum severity)(SEVERITY_MINOR + 1 - level);
}

static void add_told(const struct measure *measure, const struct stats_item *stat,
		     struct findings *findings, size_t nr_measured)
{
	const struct fields *fields = measure->facts->fields;
	const struct rule *rule = rule_by_id(fields_get(fields, stat->key.field)->label);
	struct finding *finding;

	if (!rule || has_finding(findings, nr_measured, rule, stat->key.guest))
		return;
	array_grow(&findings->list, &findings->room, findings->nr + 1);
	finding = &findings->list[findings->nr++];
	*finding = (struct finding){
		.rule = rule,
		.guest = stat->key.guest,
		.vcpu = -1,
		.severity = severity_of_level(stat->total),
		.field = FIELD_NONE,
		.remedy = rule_remedy(rule, fields, NULL),
		.evidence = "found on the host, which exports no numbers of it: run kvmtop why "
			    "there",
	};
}

static void add_all_told(const struct measure *measure, struct findings *findings)
{
	const struct stats *stats = measure->facts->stats;
	size_t nr_measured = findings->nr;

	for (size_t i = 0; i < stats->nr; i++) {
		const struct stats_item *stat = &stats->list[i];
		const struct field *field = fields_get(measure->facts->fields, stat->key.field);

		if (field->use == USE_HOST && field->part == HOST_FINDING && stat->total &&
		    stat->seen == stats->tick &&
		    (measure->guest == GUEST_ANY || stat->key.guest == measure->guest))
			add_told(measure, stat, findings, nr_measured);
	}
}

void findings_find(struct findings *findings, const struct facts *facts, uint32_t guest,
		   const struct thresholds *thresholds)
{
	struct thresholds usual;
	struct measure measure = { .facts = facts, .thresholds = thresholds, .guest = guest };

	if (!thresholds) {
		thresholds_init(&usual);
		measure.thresholds = &usual;
	}
	findings->nr = 0;
	find_rules(findings, facts->fields);
	measure.rules = findings->rules;
	add_stats(&measure);
	find_all(&measure, findings);
	add_all_told(&measure, findings);
	key_index_release(&measure.index);
	free(measure.subjects);
	free(measure.counts);
	free(measure.busy);
}

void findings_release(struct findings *findings)
{
	free(findings->list);
	free(findings->rules);
	*findings = (struct findings){ 0 };
}
