/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source - an open source: a machine, a captured machine, a recording, a history, a Prometheus.
 *
 * The monitor has the facts for the first picture: of now, of the recording as a whole, or of the
 * chosen moment of a history. The past (past.h) goes to a moment, steps, and has the guests of that
 * moment; interval.h has the sums of a span. core/facts/facts.h says what each kind lacks.
 */
#ifndef KVMTOP_HISTORY_SOURCE_H
#define KVMTOP_HISTORY_SOURCE_H

#include "core/facts/facts.h"
#include "core/monitor.h"
#include "history/store.h"

/* A recording, for titles. */
struct source_recording {
	char files[96]; /* "perf.data", "cpu0 and 3 more" */
	uint64_t span_ns, nr_events, nr_lost;
	bool is_more_lost; /* more events than nr_lost; how many is unknown */
	uint64_t longer_ns; /* exits that took longer are listed one by one */
	/* If it has moments: when they begin, and their interval. */
	uint64_t start_ns;
	double interval_s;
};

struct source {
	enum source_kind kind;
	const char *name;	 /* the path or the URL; NULL: this machine */
	const struct env *env;	 /* the machine or captured machine, else NULL */
	struct monitor *monitor; /* NULL: a recording without events of KVM */
	struct past *past;	 /* NULL: no moments are remembered */
	struct store store;	 /* of the past */
	/* Adds samples to the past; NULL: the past is complete, or another process adds them. */
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
