/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * engine - what counts tracepoints for the tracepoint provider.
 *
 * All engines give the same numbers under the same names. "perf" needs nothing but
 * perf_event_open(2); "bpf" costs each event a quarter of that, where the kernel allows it.
 */
#ifndef KVMTOP_PROVIDERS_TRACEPOINT_ENGINE_H
#define KVMTOP_PROVIDERS_TRACEPOINT_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "arch/arch.h"
#include "base/why.h"
#include "facts/field.h"
#include "facts/sample.h"
#include "host/env.h"

/* One thing to count. Plain events come before children, so that those go without first. */
struct counter {
	uint64_t tracepoint_id; /* may be another one at each want() */
	char *system, *event; /* its names */
	char *filter;	  /* a trace filter that narrows it to one reason; NULL: all of it */
	const struct split *split; /* with filter: of which this is a reason, */
	uint64_t codes[REASON_CODES]; /* and what the field may hold for it */
	size_t nr_codes;
	const char *name; /* the field's */
	uint32_t field;
};

/* Where to count: a CPU (whoever runs there), or a thread (wherever it runs). */
struct target {
	bool is_thread;
	int id;		/* CPU number or tid */
	uint32_t guest; /* under whose key it goes; GUEST_ANY for CPUs */
};

#define ENGINE_KEEP_NONE UINT32_MAX

struct engine {
	const char *name;

	/* Whether it can count here: 0, or -errno with why. Leaves nothing open. */
	int (*probe)(const struct env *env, struct why *why);

	/* counters outlive the engine. 0, or -errno with why: another engine may work. */
	int (*open)(const struct env *env, const struct counter *counters, size_t nr,
		    void **ret_state, struct why *why);

	/* Which counters to keep from now on; never waits. 0 or -ENOMEM. */
	int (*want)(void *state, const struct field_set *fields);

	/*
	 * Where to count from now on; targets are ascending by (is_thread, id), none twice. What a
	 * target that left had counted stays in its guest's sum as long as a target has that
	 * guest, or keep is it (ENGINE_KEEP_NONE: none), and is read once more after that, unless
	 * want() was called just before. Never waits.
	 */
	int (*retarget)(void *state, const struct target *targets, size_t nr, uint32_t keep);

	/* All that is wanted is open, or could not be opened. */
	bool (*is_ready)(void *state);

	/*
	 * Adds a row per guest and wanted counter, and tells when they were read
	 * (CLOCK_MONOTONIC). 0, or -errno with why; a why without an error says what could not be
	 * counted and the remedy.
	 */
	int (*read)(void *state, struct sample *sample, uint64_t *ret_time_ns, struct why *why);

	void (*close)(void *state);
};

extern const struct engine perf_engine;
extern const struct engine bpf_engine;

#endif
