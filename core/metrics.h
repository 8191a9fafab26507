/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metrics - every metric of the exporter: its name, type, labels, unit and meaning.
 *
 * No other table has them: the output, the man page and packaging/contrib/ follow it.
 */
#ifndef KVMTOP_CORE_METRICS_H
#define KVMTOP_CORE_METRICS_H

#include <stdbool.h>
#include <stdio.h>

#include "lib/error.h"

/* What the user chooses by --metrics, as bits. A metric of METRICS_ALWAYS cannot be left out. */
enum metrics_group {
	METRICS_ALWAYS = 0,
	METRICS_VCPUS = 1 << 0,
	METRICS_EXITS = 1 << 1,
	METRICS_DURATIONS = 1 << 2,
	METRICS_HOST = 1 << 3,
	METRICS_FINDINGS = 1 << 4,
	METRICS_DEFAULT = METRICS_VCPUS | METRICS_EXITS | METRICS_DURATIONS | METRICS_HOST |
			METRICS_FINDINGS,
	METRICS_USER = 1 << 5,
	METRICS_REASONS = 1 << 6,
	METRICS_EVENTS = 1 << 7,
	METRICS_STATISTICS = 1 << 8,
	METRICS_ARGUMENTS = 1 << 9,
	METRICS_WAITS = 1 << 10,
	METRICS_INTERRUPTS = 1 << 11,
	METRICS_OF_WHO = METRICS_WAITS | METRICS_INTERRUPTS, /* what kvmtop who measures */
};

/* In the order of the output: where series are capped, the first metrics keep theirs. */
enum metric_id {
	METRIC_BUILD_INFO,
	METRIC_START_TIME,
	METRIC_SAMPLE_DURATION,
	METRIC_SOURCE_UP,
	METRIC_EXITS_LOST,
	METRIC_OWN_EXIT,
	METRIC_OWN_RATIO,
	METRIC_GUEST_INFO,
	METRIC_GUEST_VCPUS,
	METRIC_FINDING,
	METRIC_EXITS,
	METRIC_EXIT_SECONDS,
	METRIC_EXIT_OPEN,
	METRIC_EXIT_DURATION,
	METRIC_HOST_CPU,
	METRIC_VCPU_SECONDS,
	METRIC_WAIT_SECONDS,
	METRIC_INTERRUPT_SECONDS,
	METRIC_USER_EXITS,
	METRIC_USER_EXIT_SECONDS,
	METRIC_REASON_DURATION,
	METRIC_EVENTS,
	METRIC_STATISTIC,
	METRIC_STATISTIC_LEVEL,
	METRIC_SERIES_DROPPED,
	METRICS_NR
};

/* The words of enum guest_word between the name and the pid; see guest_word_names[]. */
#define METRICS_INFO_LABELS "guest, uuid, id, title, project, flavor, pod, pid, vmm"

enum metric_type { METRIC_GAUGE, METRIC_COUNTER, METRIC_HISTOGRAM };

struct metric {
	const char *name;   /* of a counter with _total */
	enum metric_type type;
	const char *unit;   /* "seconds"; NULL: a number */
	const char *labels; /* "guest, reason"; "": none */
	unsigned int group;
	const char *help;   /* a sentence */
};

const struct metric *metric_at(size_t i); /* NULL past the end */

/* "counter" */
const char *metric_type_name(enum metric_type type);

/* The name and the meaning of a group; false past the end. */
bool metrics_group_at(size_t i, const char **ret_name, const char **ret_help);

/*
 * Changes groups by a list of names, "events,no-vcpus". 0, or -EINVAL with error.
 */
int metrics_groups_parse(const char *list, unsigned int *groups, struct error *error);

/* The groups and their metrics, for --metrics help. */
void metrics_print_help(FILE *out);

#endif
