// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of metrics, and the groups that the user chooses of it. */
#include <errno.h>
#include <string.h>

#include "lib/array.h"
#include "core/metrics.h"

static const struct metric metrics[METRICS_NR] = {
	[METRIC_BUILD_INFO] = {
		"kvmtop_build_info", METRIC_GAUGE, NULL, "version, arch, engine", METRICS_ALWAYS,
		"The program, the kind of virtualization, and what counts trace events." },
	[METRIC_START_TIME] = {
		"kvmtop_start_time_seconds", METRIC_GAUGE, "seconds", "", METRICS_ALWAYS,
		"When counting began, since 1970." },
	[METRIC_SAMPLE_DURATION] = {
		"kvmtop_sample_duration_seconds", METRIC_GAUGE, "seconds", "", METRICS_ALWAYS,
		"How long the latest sample took." },
	[METRIC_SOURCE_UP] = {
		"kvmtop_source_up", METRIC_GAUGE, NULL, "source", METRICS_ALWAYS,
		"Whether a source of numbers works: kvmtop --list-providers says why not." },
	[METRIC_EXITS_LOST] = {
		"kvmtop_exits_lost_total", METRIC_COUNTER, NULL, "", METRICS_ALWAYS,
		"Exits and arguments of exits that could not be counted." },
	[METRIC_OWN_EXIT] = {
		"kvmtop_own_exit_seconds", METRIC_GAUGE, "seconds", "", METRICS_ALWAYS,
		"How long the program's own BPF programs take of a VM exit." },
	[METRIC_OWN_RATIO] = {
		"kvmtop_own_ratio", METRIC_GAUGE, NULL, "", METRICS_ALWAYS,
		"The share of the vCPUs' time that the program's own BPF programs take." },
	[METRIC_GUEST_INFO] = {
		"kvmtop_guest_info", METRIC_GAUGE, NULL, METRICS_INFO_LABELS, METRICS_ALWAYS,
		"Attributes of a guest, value 1; uuid to pod are what its platform calls it." },
	[METRIC_GUEST_VCPUS] = {
		"kvmtop_guest_vcpus", METRIC_GAUGE, NULL, "guest", METRICS_ALWAYS,
		"How many vCPUs the guest has." },
	[METRIC_FINDING] = {
		"kvmtop_finding", METRIC_GAUGE, NULL, "guest, rule", METRICS_FINDINGS,
		"What kvmtop why finds now: 1 minor, 2 major, 3 critical." },
	[METRIC_EXITS] = {
		"kvmtop_exits_total", METRIC_COUNTER, NULL, "guest, reason", METRICS_EXITS,
		"VM exits, halts among them." },
	[METRIC_EXIT_SECONDS] = {
		"kvmtop_exit_seconds_total", METRIC_COUNTER, "seconds", "guest, reason",
		METRICS_EXITS,
		"Time of VM exits as it passes, from kvm_exit to kvm_entry, over all vCPUs." },
	[METRIC_EXIT_OPEN] = {
		"kvmtop_exit_open_seconds", METRIC_GAUGE, "seconds", "guest, vcpu, reason",
		METRICS_EXITS,
		"How long a VM exit that has not ended lasts, if longer than the interval; no "
		"halts." },
	[METRIC_EXIT_DURATION] = {
		"kvmtop_exit_duration_seconds", METRIC_HISTOGRAM, "seconds", "guest",
		METRICS_DURATIONS,
		"Durations of VM exits that ended, without halts." },
	[METRIC_HOST_CPU] = {
		"kvmtop_host_cpu_busy_seconds_total", METRIC_COUNTER, "seconds", "cpu",
		METRICS_HOST,
		"Time that a CPU of the host was not idle." },
	[METRIC_VCPU_SECONDS] = {
		"kvmtop_vcpu_seconds_total", METRIC_COUNTER, "seconds", "guest, vcpu, mode",
		METRICS_VCPUS,
		"Where the time of a vCPU went: guest, kvm, user, poll, idle, block, wait and "
		"throttled add up to all of it. Where exits are not timed, cpu is all of the first "
		"four. In wait it could run but had no CPU, in throttled a quota stopped it." },
	[METRIC_WAIT_SECONDS] = {
		"kvmtop_wait_seconds_total", METRIC_COUNTER, "seconds", "guest, kind",
		METRICS_WAITS,
		"Time that vCPUs waited for a CPU, by the kind of what had it meanwhile." },
	[METRIC_INTERRUPT_SECONDS] = {
		"kvmtop_interrupt_seconds_total", METRIC_COUNTER, "seconds", "guest, vcpu, part",
		METRICS_INTERRUPTS,
		"Time that interrupts were pending before the vCPU entered its guest: waking, "
		"waiting for a CPU, and entering." },
	[METRIC_USER_EXITS] = {
		"kvmtop_user_exits_total", METRIC_COUNTER, NULL, "guest, reason", METRICS_USER,
		"Exits to user space." },
	[METRIC_USER_EXIT_SECONDS] = {
		"kvmtop_user_exit_seconds_total", METRIC_COUNTER, "seconds", "guest, reason",
		METRICS_USER,
		"Time in user space, as it passes, where KVM traces VM exits." },
	[METRIC_REASON_DURATION] = {
		"kvmtop_exit_reason_duration_seconds", METRIC_HISTOGRAM, "seconds",
		"guest, reason", METRICS_REASONS,
		"Durations of VM exits that ended, by reason." },
	[METRIC_EVENTS] = {
		"kvmtop_events_total", METRIC_COUNTER, NULL, "guest, event", METRICS_EVENTS,
		"KVM's trace events; kvm_exit and kvm_userspace_exit are the sums of the exits." },
	[METRIC_STATISTIC] = {
		"kvmtop_statistic_total", METRIC_COUNTER, NULL, "guest, name", METRICS_STATISTICS,
		"KVM's own counters, of debugfs or read by BPF." },
	[METRIC_STATISTIC_LEVEL] = {
		"kvmtop_statistic_level", METRIC_GAUGE, NULL, "guest, name", METRICS_STATISTICS,
		"KVM's own levels, such as pages; of max_* the highest." },
	[METRIC_SERIES_DROPPED] = {
		"kvmtop_series_dropped", METRIC_GAUGE, NULL, "metric", METRICS_ALWAYS,
		"Series that were left out because of --max-series." },
};

static const struct {
	const char *name;
	unsigned int group;
	const char *help;
} groups[] = {
	{ "vcpus", METRICS_VCPUS, "where the time of each vCPU goes" },
	{ "exits", METRICS_EXITS, "VM exits and their time by guest and reason" },
	{ "durations", METRICS_DURATIONS, "a histogram of exits' durations for each guest" },
	{ "host", METRICS_HOST, "the host's CPUs" },
	{ "findings", METRICS_FINDINGS, "what kvmtop why finds" },
	{ "user", METRICS_USER, "exits to user space by guest and reason" },
	{ "reasons", METRICS_REASONS, "a histogram of durations for each reason, too" },
	{ "events", METRICS_EVENTS, "KVM's trace events by guest" },
	{ "statistics", METRICS_STATISTICS, "KVM's own counters by guest" },
	{ "arguments", METRICS_ARGUMENTS,
	  "findings that need the arguments of exits; counting these costs guests more" },
	{ "waits", METRICS_WAITS,
	  "what had the CPU while vCPUs waited; measuring this slows switches of threads" },
	{ "interrupts", METRICS_INTERRUPTS,
	  "how long interrupts are pending; measuring this slows exits" },
};

const struct metric *metric_at(size_t i)
{
	return i < METRICS_NR ? &metrics[i] : NULL;
}

const char *metric_type_name(enum metric_type type)
{
	static const char *const names[] = { "gauge", "counter", "histogram" };

	return names[type];
}

bool metrics_group_at(size_t i, const char **ret_name, const char **ret_help)
{
	if (i >= ARRAY_SIZE(groups))
		return false;
	*ret_name = groups[i].name;
	*ret_help = groups[i].help;
	return true;
}

static int find_group(const char *name, size_t len, unsigned int *ret_group)
{
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		if (strlen(groups[i].name) == len && memcmp(groups[i].name, name, len) == 0) {
			*ret_group = groups[i].group;
			return 0;
		}
	}
	return -EINVAL;
}

int metrics_groups_parse(const char *list, unsigned int *ret_groups, struct error *error)
{
	unsigned int chosen = *ret_groups, group;

	for (const char *at = list;; at++) {
		size_t len = strcspn(at, ",");
		bool is_off = len > 3 && strncmp(at, "no-", 3) == 0;

		if (find_group(at + 3 * is_off, len - 3 * is_off, &group) < 0)
			return error_set(error, -EINVAL,
					 "\"%.*s\": no such metrics; kvmtop export --metrics help "
					 "lists them", (int)len, at);
		chosen = is_off ? chosen & ~group : chosen | group;
		at += len;
		if (!*at)
			break;
	}
	*ret_groups = chosen;
	return 0;
}

static void print_group(FILE *out, unsigned int group)
{
	for (size_t i = 0; i < METRICS_NR; i++) {
		const struct metric *metric = &metrics[i];
		const char *open = metric->labels[0] ? "{" : "";
		const char *close = metric->labels[0] ? "}" : "";

		if (metric->group == group)
			fprintf(out, "      %s%s%s%s\n          %s: %s\n", metric->name, open,
				metric->labels, close, metric_type_name(metric->type),
				metric->help);
	}
}

void metrics_print_help(FILE *out)
{
	fputs("Always:\n", out);
	print_group(out, METRICS_ALWAYS);
	fputs("By --metrics NAME,..., or left out by no-NAME:\n", out);
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		fprintf(out, "  %-11s %s%s\n", groups[i].name, groups[i].help,
			groups[i].group & METRICS_DEFAULT ? " (default)" : "");
		print_group(out, groups[i].group);
	}
}
