/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source - what is looked at: a machine, a captured machine, a recording, a history, a Prometheus.
 *
 * The monitor has the facts of what is shown first: of now, of the recording as a whole, or of the
 * moment of a history that is chosen. The past (past.h) has the moments: go to one, step, the
 * guests then; interval.h has the sums of a span. core/facts/source.h says what a kind lacks.
 */
#ifndef KVMTOP_HISTORY_SOURCE_H
#define KVMTOP_HISTORY_SOURCE_H

#include "core/facts/source.h"
#include "core/monitor.h"
#include "history/store.h"

/* A recording, for titles. */
struct source_recording {
	char files[96]; /* "perf.data", "cpu0 and 3 more" */
	uint64_t span_ns, nr_events, nr_lost;
	uint64_t nr_counted; /* of nr_events: were only counted */
	bool is_more_lost; /* more events than nr_lost, the number is not known */
	uint64_t longer_ns; /* exits that took longer are known one by one */
	/* Of its moments, where it has any: the time when it began, and how far they are apart. */
	uint64_t start_ns;
	double interval_s;
};

struct source {
	enum source_kind kind;
	const char *name;	 /* the path or the URL; NULL: this machine */
	const struct env *env;	 /* the machine; NULL: it is not here */
	struct monitor *monitor; /* NULL: a recording without events of KVM */
	struct past *past;	 /* NULL: no moments are remembered */
	struct store store;	 /* of the past */
	/* Puts samples into the past; NULL: all are there, or another process writes them. */
	struct recorder *recorder;
	struct source_recording recording; /* of a recording */
};

/* Whether the monitor plays the past: it has the moment that is chosen, and no other facts. */
static inline bool source_plays_past(const struct source *source)
{
	return source->kind == SOURCE_HISTORY || source->kind == SOURCE_PROMETHEUS;
}

/* The dictionary that the monitor and the past share; NULL: the monitor plays the past. */
static inline struct fields *source_fields(const struct source *source)
{
	return source_plays_past(source) ? NULL : monitor_fields(source->monitor);
}

#endif
