// SPDX-License-Identifier: GPL-2.0-or-later
/* The words of a finding's evidence, and of its remedy. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/text.h"
#include "lib/when.h"
#include "core/facts/shared_fields.h"
#include "core/guests/guests.h"
#include "core/findings/findings.h"
#include "core/findings/measure.h"

#define CULPRITS_MAX 4 /* how many the evidence names */

static void add_words(struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void add_words(struct finding *finding, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text_vadd(finding->evidence, sizeof(finding->evidence), format, args);
	va_end(args);
}

static void add_remedy(struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void add_remedy(struct finding *finding, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text_vadd(finding->remedy, sizeof(finding->remedy), format, args);
	va_end(args);
}

/* Whether several guests that run have the name. */
static bool is_shared(const struct measure *measure, const char *name)
{
	size_t at = array_lower_bound(measure->nr_names, i, strcmp(measure->names[i], name) < 0);

	return at + 1 < measure->nr_names && strcmp(measure->names[at], name) == 0 &&
	       strcmp(measure->names[at + 1], name) == 0;
}

static void add_value(struct finding *finding, double value, double threshold)
{
	switch (finding->rule->measure) {
	case MEASURE_SHARE:
		add_words(finding, "%.1f %% of its time (threshold %g %%)", value * 100,
			  threshold * 100);
		break;
	case MEASURE_RATE:
		add_words(finding, "%.0f/s (threshold %g/s)", value, threshold);
		break;
	case MEASURE_CPU:
		add_words(finding, "%.1f %% of a CPU (threshold %g %%)", value * 100,
			  threshold * 100);
		break;
	case MEASURE_LEVEL:
	case MEASURE_PAGES:
		add_words(finding, "%.1f %% of it (threshold %g %%)", value * 100,
			  threshold * 100);
		break;
	case MEASURE_OPEN:
		add_words(finding, "open %.1f s (threshold %g s)", value, threshold);
		break;
	case MEASURE_MEAN:
		if (value < 0.1)
			add_words(finding, "%.3g ms", value * 1000);
		else
			add_words(finding, "%.2f s", value);
		add_words(finding, " each (threshold %g ms)", threshold * 1000);
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
	if (field->use == USE_EVENT || field->use == USE_TIME)
		return;
	if (field->use == USE_HOST) { /* a quota, or that it cannot be read; or a thread */
		if (field->part == HOST_QUOTA || field->part == HOST_THREAD)
			add_words(finding, "; %s", field->label);
		return;
	}
	if (field->use == USE_ARGUMENT && field->reason != FIELD_NONE)
		reason = fields_get(fields, field->reason);
	add_words(finding, "; most: %s%s%s", reason ? reason->label : "", reason ? " " : "",
		  field->label);
	if (counts->top_per_s > 0 && field->use != USE_EXIT_PART)
		add_words(finding, " %.0f/s", counts->top_per_s);
}

/* Whether a finding with this field is about the exit. */
static bool is_about(const struct measure *measure, const struct finding *finding,
		     const struct long_exit *exit)
{
	const struct fields *fields = measure->facts->fields;
	const struct field *field = fields_get(fields, finding->field);
	uint32_t reason = finding->field;

	if (exit->guest != finding->guest ||
	    (finding->vcpu >= 0 && exit->vcpu != finding->vcpu))
		return false;
	if (field->use == USE_ARGUMENT && exit->argument != FIELD_NONE)
		return exit->argument == finding->field;
	if (field->use == USE_ARGUMENT || field->use == USE_EXIT_PART)
		reason = field->reason;
	if (reason == FIELD_NONE || fields_get(fields, reason)->use != USE_EXIT)
		return false;
	return fields_get(fields, reason)->exit_rank == 1 ? exit->reason == reason :
							    exit->user_ns > 0;
}

/* The longest of the long exits that the finding is about, of the latest sample; NULL: none. */
static const struct long_exit *find_longest(const struct measure *measure,
					    const struct finding *finding)
{
	const struct long_exits *exits = &measure->facts->stats->long_exits;
	const struct long_exit *longest = NULL;

	for (size_t i = exits->nr - exits->nr_latest; i < exits->nr; i++) {
		const struct long_exit *exit = long_exits_at(exits, i);

		if ((!longest || exit->took_ns > longest->took_ns) &&
		    is_about(measure, finding, exit))
			longest = exit;
	}
	return longest;
}

/* "; longest: io 0x1f0 read 2 IDE1, 87.3 ms, ended 03:01:05.123", where exits are listed. */
static void add_longest(const struct measure *measure, struct finding *finding)
{
	const struct fields *fields = measure->facts->fields;
	const struct long_exit *exit =
		finding->field == FIELD_NONE ? NULL : find_longest(measure, finding);
	bool has_argument = exit && exit->argument != FIELD_NONE;
	bool has_date = !source_has_now(measure->facts->source); /* a span may be of many days */
	char end[WHEN_SIZE];

	if (!exit)
		return;
	when_format_clock(end, sizeof(end), exit->end_ns, has_date, true);
	add_words(finding, "; longest: %s%s%s, %.3g ms, ended %s",
		  fields_get(fields, exit->reason)->label, has_argument ? " " : "",
		  has_argument ? fields_get(fields, exit->argument)->label : "",
		  (double)exit->took_ns / 1e6, end);
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

/*
 * With the number of the process or thread; else, where guests share the name, with the guest's:
 * "waits(guest 5000 web1 vCPU 0)" is the field's name.
 */
static void name_culprit(const struct measure *measure, char *buf, size_t size,
			 const struct field *field)
{
	const char *pid = strchr(field->name, ' ');
	size_t len;

	wait_name_culprit(buf, size, field);
	len = strlen(buf);
	if (field->pid)
		snprintf(buf + len, size - len, " (%s%d)",
			 field->part == WAIT_PROCESS ? "" : "thread ", (int)field->pid);
	else if (field->part != WAIT_OWN && field->alias && pid && is_shared(measure, field->alias))
		snprintf(buf + len, size - len, " (%d)", (int)strtol(pid, NULL, 10));
}

/* What had the CPU while the vCPU waited, by its share of the waits, if that is known. */
static void add_culprits(const struct measure *measure, struct finding *finding,
			 const struct subject *subject)
{
	const struct stats_item *item = NULL;
	uint64_t all_ns = waited_ns(measure, subject);

	for (size_t nr = 0; nr < CULPRITS_MAX; nr++) {
		char name[GUEST_NAME_SIZE + 48];
		const struct field *field;

		item = find_culprit(measure, subject, item);
		if (!item || (nr && item->timing->delta_ns < all_ns / 100))
			break;
		field = fields_get(measure->facts->fields, item->key.field);
		name_culprit(measure, name, sizeof(name), field);
		add_words(finding, "%s%s%s (%.0f %%)", nr ? ", " : "; who had the CPU: ",
			  field->part == WAIT_OWN ? "its own " : "", name,
			  (double)item->timing->delta_ns * 100 / (double)all_ns);
	}
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
	if (finding->rule->names_culprits)
		add_culprits(measure, finding, subject);
}

void finding_describe(const struct measure *measure, struct finding *finding,
		      const struct worst_subject *worst)
{
	const struct guest *guest = guests_find(measure->facts->guests, finding->guest);
	size_t i = rule_index(finding->rule);
	const struct rule_counts *counts = measure_counts(measure, worst->subject, i);

	if (guest && is_shared(measure, guest->name))
		add_words(finding, "process %d%s", (int)guest->pid,
			  finding->vcpu >= 0 ? ", " : ": ");
	if (finding->vcpu >= 0)
		add_words(finding, "vCPU %d: ", (int)finding->vcpu);
	else if (finding->rule->is_of_all)
		add_words(finding, "all vCPUs, out of KVM_RUN and asleep: ");
	add_value(finding, finding->value, measure->thresholds->rules[i]);
	if (finding->rule->measure == MEASURE_OPEN)
		add_open(measure, finding, counts);
	else if (finding->rule->names_cpu)
		add_cpu(measure, finding, worst->subject);
	else if (finding->rule->is_own && counts->count)
		add_words(finding, "; %llu ns of each exit",
			  (unsigned long long)(counts->ns / counts->count));
	else if (!finding->rule->is_own && !finding->rule->is_of_all)
		add_top(measure, finding, counts);
	if (finding->rule->measure != MEASURE_OPEN)
		add_longest(measure, finding);
	if (worst->subject->has_hidden_quota && finding->rule->less.use == USE_HOST)
		add_words(finding, "; " HOST_QUOTA_HIDDEN);
	if (finding->vcpu >= 0 && worst->nr_all > 1)
		add_words(finding, "; %zu of %zu vCPUs", worst->nr_above, worst->nr_all);
}

/* ---- the remedy */

/* How to keep it off a vCPU's CPU, by enum wait_part. */
static const char *const keep_off[WAIT_PARTS] = {
	[WAIT_OWN] = "pin the guest's vCPUs to CPUs of their own (libvirt: vcpupin), or give the "
		     "guest fewer vCPUs",
	[WAIT_GUEST] = "pin the two to different CPUs (libvirt: vcpupin), or run fewer vCPUs on "
		       "this host",
	[WAIT_VMM] = "give the VMM's other threads CPUs of their own (libvirt: emulatorpin, "
		     "iothreadpin; taskset -cp)",
	[WAIT_VHOST] = "give these threads CPUs of their own (libvirt: emulatorpin; taskset -cp)",
	[WAIT_KERNEL] = "leave this CPU out of /sys/devices/virtual/workqueue/cpumask (kworker), "
			"or move what makes the kernel work there",
	[WAIT_PROCESS] = "taskset, systemd's AllowedCPUs=, or a lower weight (CPUWeight=, nice)",
	[WAIT_IRQ] = "/proc/irq/NUMBER/smp_affinity_list, or irqbalance",
	[WAIT_SOFTIRQ] = "move the interrupts that cause it: /proc/irq/NUMBER/smp_affinity_list, "
			 "the network device's queues",
};

/* CPUs that do nothing for more than half of the time. */
static size_t count_idle_cpus(const struct measure *measure)
{
	size_t nr = 0;

	for (size_t i = 0; i < measure->nr_busy; i++)
		nr += measure->busy[i].per_s < 0.5e9;
	return nr;
}

/* Against waits for a CPU. False: there is no better advice than the rule's. */
static bool advise_culprit(const struct measure *measure, struct finding *finding,
			   const struct subject *subject)
{
	const struct stats_item *item = find_culprit(measure, subject, NULL);
	const struct field *field =
		item ? fields_get(measure->facts->fields, item->key.field) : NULL;
	size_t nr_idle = count_idle_cpus(measure);
	char name[GUEST_NAME_SIZE + 48];

	if (!subject->has_cpu)
		return false;
	if (subject->affinity == 1 && nr_idle) {
		add_remedy(finding, "Let the vCPU use other CPUs than %llu: %zu of them %s idle "
			   "(libvirt: vcpupin; taskset).", (unsigned long long)subject->cpu,
			   nr_idle, nr_idle == 1 ? "is" : "are");
		return true;
	}
	if (!field || !keep_off[field->part])
		return false;
	name_culprit(measure, name, sizeof(name), field);
	add_remedy(finding, "Keep %s%s off CPU %llu: %s.", field->part == WAIT_OWN ? "its " : "",
		   name, (unsigned long long)subject->cpu, keep_off[field->part]);
	return true;
}

/* The quota's label is "FILE: 0.5 CPUs". */
static bool advise_quota(const struct measure *measure, struct finding *finding)
{
	const struct field *field = finding->field == FIELD_NONE ? NULL :
				    fields_get(measure->facts->fields, finding->field);
	const char *value = field && field->use == USE_HOST && field->part == HOST_QUOTA ?
				    strrchr(field->label, ':') : NULL;

	if (!value)
		return false;
	add_remedy(finding, "Raise the quota in %.*s, which allows%s (libvirt: vcpu_quota; "
		   "Kubernetes: the CPU limit), or give the guest fewer vCPUs.",
		   (int)(value - field->label), field->label, value + 1);
	return true;
}

/* Whether a shell takes the word as it is. */
static bool is_plain(const char *word)
{
	static const char others[] = "-_.,:@%+/0123456789";

	for (const char *at = word; *at; at++) {
		bool is_letter = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z');

		if (!is_letter && (!strchr(others, *at) || (at == word && *at == '-')))
			return false;
	}
	return *word;
}

/* The text, with numbers for the words PID, the guest's, and TID, its vCPU's, if they are known. */
static void add_text(const struct measure *measure, struct finding *finding, const char *text)
{
	const struct guest *guest = guests_find(measure->facts->guests, finding->guest);
	const struct vcpu *vcpu = guest_vcpu(guest, finding->vcpu);

	for (const char *id; (id = strstr(text, "ID")); text = id + 2) {
		bool is_pid = id > text && id[-1] == 'P' && guest && guest->pid > 0;
		bool is_tid = id > text && id[-1] == 'T' && vcpu && vcpu->tid > 0;

		if (is_pid || is_tid)
			add_remedy(finding, "%.*s%d", (int)(id - 1 - text), text,
				   (int)(is_pid ? guest->pid : vcpu->tid));
		else
			add_remedy(finding, "%.*s", (int)(id + 2 - text), text);
	}
	add_remedy(finding, "%s", text);
}

/* The command that shows the code, of exits of the reason if it is one of VM exits. */
static void name_command(const struct measure *measure, struct finding *finding)
{
	const struct fields *fields = measure->facts->fields;
	const struct guest *guest = guests_find(measure->facts->guests, finding->guest);
	const struct field *field =
		finding->field == FIELD_NONE ? NULL : fields_get(fields, finding->field);

	bool is_named;

	if (!guest || !finding->rule->where)
		return;
	is_named = is_plain(guest->name) && !is_shared(measure, guest->name);
	if (!is_named && guest->pid <= 0) /* as a CPU of ACRN */
		return;
	if (field && (field->use == USE_ARGUMENT || field->use == USE_EXIT_PART))
		field = field->reason == FIELD_NONE ? NULL : fields_get(fields, field->reason);
	add_remedy(finding, " kvmtop where ");
	if (is_named)
		add_remedy(finding, "-g %s", guest->name);
	else
		add_remedy(finding, "-p %d", (int)guest->pid);
	if (field && field->use == USE_EXIT && field->exit_rank == 1 && is_plain(field->label))
		add_remedy(finding, " -f %s", field->label);
	add_remedy(finding, "%s shows the code.", finding->rule->where);
}

void finding_advise(const struct measure *measure, struct finding *finding,
		    const struct subject *worst)
{
	const struct fields *fields = measure->facts->fields;
	const struct field *field =
		finding->field == FIELD_NONE ? NULL : fields_get(fields, finding->field);

	if (finding->rule->names_culprits ? !advise_culprit(measure, finding, worst) :
					      !advise_quota(measure, finding))
		add_text(measure, finding,
			 rule_remedy(finding->rule, measure->cpu_maker, fields, field));
	name_command(measure, finding);
}
