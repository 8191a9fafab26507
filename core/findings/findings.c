// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes findings of what is above its threshold, and follows them from sample to sample. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/xalloc.h"
#include "core/findings/findings.h"
#include "core/findings/measure.h"

/* Looks at new fields only: comparing all names costs more than the rest of a refresh. */
static void find_rules(struct findings *findings, const struct fields *fields)
{
	uint32_t nr = fields_count(fields);

	if (findings->fields != fields)
		findings->nr_rules = 0;
	findings->fields = fields;
	array_grow(&findings->rules, &findings->room_rules, nr);
	for (uint32_t i = (uint32_t)findings->nr_rules; i < nr; i++) {
		const struct field *field = fields_get(fields, i);

		findings->rules[i] = measure_rules(fields, field);
		if (field->use != USE_EXIT_PART || field->reason >= i)
			continue;
		if (field->part == EXIT_BLOCKED)
			findings->rules[field->reason].blocked = i;
		if (field->part == EXIT_IDLE)
			findings->rules[field->reason].idle = i;
	}
	findings->nr_rules = nr;
}

bool findings_can_have(const struct findings *findings, const struct rule *rule)
{
	for (size_t i = 0; i < findings->nr_rules; i++) {
		if (findings->rules[i].what >> rule_index(rule) & 1)
			return true;
	}
	return false;
}

bool findings_need(const struct field *field)
{
	if (field->use == USE_EVENT)
		return field->parent == FIELD_NONE && rules_need_event(field);
	if (field->use == USE_HOST)
		return field_is_of_cpu(field) || field->part == HOST_QUOTA ||
		       field->part == HOST_REMOTE || field->part == HOST_STOPPED ||
		       field->part == HOST_THREAD ||
		       field->part == HOST_BUSY || field->part == HOST_FINDING ||
		       host_is_of_host(field->part) || field->part == HOST_SWAPPED;
	return field->use != USE_INTERRUPT;
}

const char *severity_name(uint64_t severity)
{
	return severity <= SEVERITY_MINOR ? "minor" :
	       severity == SEVERITY_MAJOR ? "major" : "critical";
}

bool finding_is_worse(const struct finding *a, const struct finding *b)
{
	double a_cost = a->has_cost ? a->cost : -1, b_cost = b->has_cost ? b->cost : -1;

	if (a->severity != b->severity)
		return a->severity > b->severity;
	if (a_cost > b_cost || a_cost < b_cost)
		return a_cost > b_cost;
	return rule_index(a->rule) < rule_index(b->rule);
}

/* ---- a rule and a guest */

static struct worst_subject find_worst(const struct measure *measure,
				       const struct guest_subjects *of, const struct rule *rule)
{
	double threshold = measure->thresholds->rules[rule_index(rule)];
	struct worst_subject worst = { .subject = NULL };

	for (size_t i = 0; i < of->nr; i++) {
		const struct subject *subject = of->list[i];
		double value = measure_value(measure, subject, rule);
		bool is_above = value > 0 && value >= threshold;

		worst.nr_all += subject->key.vcpu >= 0 && subject->is_here;
		worst.nr_above += subject->key.vcpu >= 0 && is_above;
		if (is_above && value > worst.value) {
			worst.value = value;
			worst.subject = subject;
		}
	}
	if (rule->is_of_all && worst.nr_above < worst.nr_all)
		worst.subject = NULL;
	return worst;
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

static void find_rule(const struct measure *measure, const struct guest_subjects *of,
		      const struct rule *rule, struct findings *findings)
{
	struct worst_subject worst = find_worst(measure, of, rule);
	const struct rule_counts *counts;
	struct finding *finding;
	bool has_top;

	if (!worst.subject)
		return;
	counts = measure_counts(measure, worst.subject, rule_index(rule));
	has_top = counts->top_ns || counts->top_per_s > 0;
	finding = array_add(findings->list, findings->nr, findings->room);
	*finding = (struct finding){
		.rule = rule,
		.guest = worst.subject->key.guest,
		.vcpu = rule->is_of_all ? -1 : worst.subject->key.vcpu,
		.value = worst.value,
		.field = has_top ? counts->top : FIELD_NONE,
	};
	finding->has_cost = measure_cost(worst.subject, counts, &finding->cost);
	finding->severity = severity_of(measure, finding);
	finding_describe(measure, finding, &worst);
	finding_advise(measure, finding, worst.subject);
}

/* Whether a rule that reports the same finds something. */
static bool is_said(const struct measure *measure, const struct guest_subjects *of,
		    const struct rule *rule)
{
	const struct rule *other;

	for (size_t i = 0; rule->is_said_by && (other = rule_at(i)); i++) {
		if (rule_has_word(rule->is_said_by, other->id) &&
		    find_worst(measure, of, other).subject)
			return true;
	}
	return false;
}

static void find_guest(const struct measure *measure, const struct guest_subjects *of,
		       struct findings *findings)
{
	uint32_t guest = of->list[0]->key.guest;
	const struct rule *rule;

	if (measure->guest != GUEST_ALL && measure->guest != guest)
		return;
	for (size_t i = 0; (rule = rule_at(i)); i++) {
		if (!is_said(measure, of, rule))
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

/* ---- findings of another kvmtop: they have no numbers here */

/* Whether one of the first nr, which are in the order of their guests, is this one. */
static bool has_finding(const struct findings *findings, size_t nr, const struct rule *rule,
			uint32_t guest)
{
	size_t at = array_lower_bound(nr, i, findings->list[i].guest < guest);

	for (; at < nr && findings->list[at].guest == guest; at++) {
		if (findings->list[at].rule == rule)
			return true;
	}
	return false;
}

static void add_reported(const struct measure *measure, const struct stats_item *stat,
		     struct findings *findings, size_t nr_measured)
{
	const struct fields *fields = measure->facts->fields;
	const struct rule *rule = rule_by_id(fields_get(fields, stat->key.field)->label);
	struct finding *finding;

	if (!rule || has_finding(findings, nr_measured, rule, stat->key.guest))
		return;
	finding = array_add(findings->list, findings->nr, findings->room);
	*finding = (struct finding){
		.rule = rule,
		.guest = stat->key.guest,
		.vcpu = -1,
		.severity = stat->total < SEVERITY_CRITICAL ? (enum severity)stat->total :
								     SEVERITY_CRITICAL,
		.field = FIELD_NONE,
		.evidence = "found on the host, which exports no numbers of it: run kvmtop why "
			    "there",
	};
	snprintf(finding->remedy, sizeof(finding->remedy), "%s",
		 rule_remedy(rule, measure->cpu_maker, fields, NULL));
}

static void add_all_reported(const struct measure *measure, struct findings *findings)
{
	const struct stats *stats = measure->facts->stats;
	size_t nr_measured = findings->nr;

	for (size_t i = 0; i < stats->nr; i++) {
		const struct stats_item *stat = &stats->list[i];
		const struct field *field = fields_get(measure->facts->fields, stat->key.field);

		if (field->use == USE_HOST && field->part == HOST_FINDING && stat->total &&
		    stat->seen == stats->tick &&
		    (measure->guest == GUEST_ALL || stat->key.guest == measure->guest))
			add_reported(measure, stat, findings, nr_measured);
	}
}

void findings_find(struct findings *findings, const struct facts *facts, uint32_t guest,
		   const struct thresholds *thresholds)
{
	struct thresholds defaults;
	struct measure *measure = findings->measure;

	if (!measure)
		findings->measure = measure = xcalloc(1, sizeof(*measure));
	if (!thresholds)
		thresholds_init(&defaults);
	findings->nr = 0;
	find_rules(findings, facts->fields);
	measure->facts = facts;
	measure->thresholds = thresholds ? thresholds : &defaults;
	measure->guest = guest;
	measure->rules = findings->rules;
	measure->cpu_maker = rules_cpu_maker(facts->fields);
	measure_take(measure);
	find_all(measure, findings);
	add_all_reported(measure, findings);
}

/* ---- from sample to sample */

const struct finding *findings_get(const struct findings *findings, const struct rule *rule,
				   uint32_t guest)
{
	for (size_t i = 0; i < findings->nr; i++) {
		if (findings->list[i].rule == rule && findings->list[i].guest == guest)
			return &findings->list[i];
	}
	return NULL;
}

/* A finding that is not steady yet begins anew; a steady one stays for a while. */
static void keep_missing(struct findings *findings, const struct finding *before)
{
	struct finding *kept;
	size_t len;

	if (!finding_is_steady(before) || before->nr_missing + 1 == STEADY_SAMPLES)
		return;
	kept = array_add(findings->list, findings->nr, findings->room);
	*kept = *before;
	if (kept->nr_missing++)
		return;
	len = strlen(kept->evidence);
	snprintf(kept->evidence + len, sizeof(kept->evidence) - len,
		 "; not in the latest interval");
}

/* The worst steady finding, unless it is no more severe than the one that is named. */
static void choose_named(struct findings *findings)
{
	const struct finding *named = findings_named(findings), *worst = named;

	for (size_t i = 0; i < findings->nr; i++) {
		const struct finding *this = &findings->list[i];

		if (finding_is_steady(this) && (!worst || finding_is_worse(this, worst)))
			worst = this;
	}
	if (named && worst->severity == named->severity)
		return;
	findings->named = worst ? worst->rule : NULL;
	findings->named_guest = worst ? worst->guest : GUEST_ALL;
}

void findings_follow(struct findings *findings, const struct findings *latest)
{
	struct findings before = *findings;

	findings->list = NULL;
	findings->nr = findings->room = 0;
	for (size_t i = 0; i < latest->nr; i++) {
		const struct finding *found = &latest->list[i];
		const struct finding *same = findings_get(&before, found->rule, found->guest);
		struct finding *added = array_add(findings->list, findings->nr, findings->room);

		*added = *found;
		added->nr_found = same ? same->nr_found + 1 : 1;
	}
	for (size_t i = 0; i < before.nr; i++) {
		if (!findings_get(latest, before.list[i].rule, before.list[i].guest))
			keep_missing(findings, &before.list[i]);
	}
	free(before.list);
	choose_named(findings);
}

void findings_narrow(struct findings *findings, uint32_t guest)
{
	size_t nr = 0;

	if (guest == GUEST_ALL)
		return;
	for (size_t i = 0; i < findings->nr; i++) {
		if (findings->list[i].guest == guest)
			findings->list[nr++] = findings->list[i];
	}
	findings->nr = nr;
	choose_named(findings);
}

const struct finding *findings_named(const struct findings *findings)
{
	return findings->named ?
		       findings_get(findings, findings->named, findings->named_guest) : NULL;
}

size_t findings_count_steady(const struct findings *findings)
{
	size_t nr = 0;

	for (size_t i = 0; i < findings->nr; i++)
		nr += finding_is_steady(&findings->list[i]);
	return nr;
}

bool findings_has_waits(const struct findings *findings)
{
	for (size_t i = 0; i < findings->nr; i++) {
		if (findings->list[i].rule->names_culprits &&
		    finding_is_steady(&findings->list[i]))
			return true;
	}
	return false;
}

void findings_release(struct findings *findings)
{
	free(findings->list);
	free(findings->rules);
	if (findings->measure)
		measure_release(findings->measure);
	free(findings->measure);
	*findings = (struct findings){ 0 };
}
