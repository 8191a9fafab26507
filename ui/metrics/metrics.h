/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metrics - a renderer: facts become text for Prometheus.
 *
 * It writes totals since counting began. A guest's series begin with the guest and never go back;
 * when the guest has ended, one more text has their last values. Guests of one name have different
 * labels, see names.h.
 */
#ifndef KVMTOP_UI_METRICS_METRICS_H
#define KVMTOP_UI_METRICS_METRICS_H

#include "core/facts/facts.h"
#include "core/findings/rules.h"
#include "ui/metrics/text.h"

#define METRICS_SERIES_MAX 20000 /* the default limit: 1,000 vCPUs have some 17,000 */

struct metrics_config {
	unsigned int groups; /* of enum metrics_group */
	size_t max_series;   /* of guests and CPUs; the program's own are few and always there */
	unsigned int statistics; /* the sources of KVM's own counters, as bits */
	const struct thresholds *thresholds; /* of findings; NULL: the defaults; outlive it */
};

struct metrics_source {
	const char *name;
	bool is_up;
};

/* About the program itself: facts do not have it. */
struct metrics_self {
	const char *arch, *engine; /* engine NULL: nothing counts trace events */
	uint64_t start_ns;	   /* CLOCK_REALTIME */
	uint64_t sample_ns;	   /* how long the latest sample took */
	struct metrics_source sources[SAMPLE_SOURCES];
	size_t nr_sources;
};

struct metrics;

struct metrics *metrics_new(const struct metrics_config *config);
void metrics_free(struct metrics *metrics);

/* The text of the facts. It is metrics' own, and valid until the next call. */
const struct metrics_text *metrics_write(struct metrics *metrics, const struct facts *facts,
					 const struct metrics_self *self);

/* Of the latest text: the series that are limited, and how many were left out. */
size_t metrics_series(const struct metrics *metrics);
size_t metrics_dropped(const struct metrics *metrics);

#endif
