// SPDX-License-Identifier: GPL-2.0-or-later
/* The words of a finding's evidence. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/array.h"
#include "core/facts/shared_fields.h"
#include "core/guests/guests.h"
#include "core/findings/findings.h"
#include "core/findings/measure.h"

#define NEIGHBOURS_MAX 4 /* how many the evidence names */

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
	case MEASURE_CPU:
		add_words(finding, "%.1f %% of a CPU (a finding from %g %% on)", value * 100,
			  threshold * 100);
		break;
	case MEASURE_LEVEL:
	case MEASURE_PAGES:
		add_words(finding, "%.1f %% of it (a finding from %g %% on)", value * 100,
			  threshold * 100);
		break;
	case MEASURE_CODE:
		add_words(finding, "%.1f %% of %s (a finding from %g %% on)", value * 100,
			  finding->rule->code.words ? "the time of these exits" : "its exits",
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

/* "; most in tomoyo_file_ioctl" */
static void add_function(const struct measure *measure, struct finding *finding,
			 const struct rule_counts *counts)
{
	const char *function = measure_function(measure, counts);

	if (function)
		add_words(finding, "; %s%s", finding->rule->code.words ? "most in " : "",
			  function);
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
	if (field->use == USE_HOST) { /* a quota, or that it cannot be read; or a thread */
		if (field->part == HOST_QUOTA || field->part == HOST_THREAD)
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

static void add_neighbour(const struct measure *measure, struct finding *finding,
			  const struct subject *subject, const struct subject *other)
{
	const struct guest *guest = guests_find(measure->facts->guests, other->key.guest);

	if (other->key.guest == subject->key.guest)
		add_words(finding, "its own ");
	else if (guest)
		add_words(finding, "%s ", guest->name);
	add_words(finding, "vCPU %d", (int)other->key.vcpu);
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
	size_t first = array_count_first(measure->nr_by_cpu, i,
					 measure->by_cpu[i]->cpu < subject->cpu);
	double vcpus_per_s = subject_load(subject);
	size_t nr = 0;

	for (size_t i = first; i < measure->nr_by_cpu; i++) {
		const struct subject *other = measure->by_cpu[i];

		if (other->cpu != subject->cpu)
			break;
		if (other == subject)
			continue;
		vcpus_per_s += subject_load(other);
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

/* The one that had the CPU longest while the vCPU waited, after `before`; NULL: none is known. */
static const struct stats_item *find_culprit(const struct measure *measure,
					     const struct subject *subject,
					     const struct stats_item *before)
{
	const struct stats_item *found = NULL;

	for (uint32_t at = subject->culprits; at; at = measure->culprits[at - 1].next) {
		const struct stats_item *item = measure->culprits[at - 1].stat;
		uint64_t ns = item->timing->delta_ns;

		if (!ns)
			continue;
		if (before && (ns > before->timing->delta_ns ||
			       (ns == before->timing->delta_ns && item <= before)))
			continue;
		if (!found || ns > found->timing->delta_ns ||
		    (ns == found->timing->delta_ns && item < found))
			found = item;
	}
	return found;
}

static uint64_t waited_ns(const struct measure *measure, const struct subject *subject)
{
	uint64_t ns = 0;

	for (uint32_t at = subject->culprits; at; at = measure->culprits[at - 1].next)
		ns += measure->culprits[at - 1].stat->timing->delta_ns;
	return ns;
}

/* What had the CPU while the vCPU waited, by its share of the waits. False: it is not known. */
static bool add_culprits(const struct measure *measure, struct finding *finding,
			 const struct subject *subject)
{
	const struct stats_item *item = NULL;
	uint64_t all_ns = waited_ns(measure, subject);

	for (size_t nr = 0; nr < NEIGHBOURS_MAX; nr++) {
		char name[GUEST_NAME_SIZE + 32];
		const struct field *field;

		item = find_culprit(measure, subject, item);
		if (!item || (nr && item->timing->delta_ns < all_ns / 100))
			break;
		field = fields_get(measure->facts->fields, item->key.field);
		wait_name_culprit(name, sizeof(name), field);
		add_words(finding, "%s%s%s (%.0f %%)", nr ? ", " : "; who had the CPU: ",
			  field->part == WAIT_OWN ? "its own " : "", name,
			  (double)item->timing->delta_ns * 100 / (double)all_ns);
	}
	return all_ns;
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
	if (finding->rule->names_neighbours && !add_culprits(measure, finding, subject))
		add_neighbours(measure, finding, subject);
}

static void add_own(struct finding *finding, const struct rule_counts *counts)
{
	if (counts->count)
		add_words(finding, "; %llu ns of each exit",
			  (unsigned long long)(counts->ns / counts->count));
}

void finding_describe(const struct measure *measure, struct finding *finding,
		      const struct worst_subject *worst)
{
	size_t i = rule_index(finding->rule);

	if (finding->vcpu >= 0)
		add_words(finding, "vCPU %d: ", (int)finding->vcpu);
	add_value(finding, finding->value, measure->thresholds->rules[i]);
	add_function(measure, finding, measure_counts(measure, worst->subject, i));
	if (finding->rule->measure == MEASURE_OPEN)
		add_open(measure, finding, measure_counts(measure, worst->subject, i));
	else if (finding->rule->names_cpu)
		add_cpu(measure, finding, worst->subject);
	else if (finding->rule->is_own)
		add_own(finding, measure_counts(measure, worst->subject, i));
	else if (finding->rule->what.use != USE_EVENT && finding->rule->what.use != USE_TIME)
		add_top(measure, finding, measure_counts(measure, worst->subject, i));
	if (worst->subject->has_hidden_quota && finding->rule->less.use == USE_HOST)
		add_words(finding, "; " HOST_QUOTA_HIDDEN);
	if (finding->vcpu >= 0 && worst->nr_all > 1)
		add_words(finding, "; %zu of %zu vCPUs", worst->nr_above, worst->nr_all);
}
