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
#include "lib/error.h"
#include "core/facts/field.h"
#include "core/facts/sample.h"
#include "host/env.h"

/*
 * What to count. Events come before their reasons, so that descriptors run out for reasons first.
 */
struct counter {
	uint64_t tracepoint_id; /* may change before each want() */
	char *system, *event; /* its names */
	char *filter;	      /* a trace filter for one reason; NULL: count the whole event */
	const struct split *split;    /* with filter: the split that has this reason, */
	uint64_t codes[REASON_CODES]; /* and the values of its field that mean this reason */
	size_t nr_codes;
	const char *name; /* the field's */
	uint32_t field;
};

/* Where to count: on a CPU (any thread), or in a thread (on any CPU). */
struct target {
	bool is_thread;
	int id;		/* CPU number or tid */
	uint32_t guest; /* the guest of its rows' keys; GUEST_ANY for CPUs */
};

#define ENGINE_KEEP_NONE UINT32_MAX

struct engine {
	const char *name;

	/* Whether it can count here: 0, or -errno with why. Leaves nothing open. */
	int (*probe)(const struct env *env, struct error *why);

	/* counters outlive the engine. 0, or -errno with why: another engine may work. */
	int (*open)(const struct env *env, const struct counter *counters, size_t nr,
		    void **ret_state, struct error *why);

	/* Which counters to keep from now on; never waits. */
	void (*want)(void *state, const struct field_set *fields);

	/*
	 * Where to count from now on; targets are ascending by (is_thread, id), none twice. The
	 * counts of a target that is gone stay in its guest's sum while another target has that
	 * guest, or keep is it (ENGINE_KEEP_NONE: none). After that they are read once more, unless
	 * want() was called just before. Never waits.
	 */
	int (*retarget)(void *state, const struct target *targets, size_t nr, uint32_t keep);

	/* Everything wanted is open, or could not be opened. */
	bool (*is_ready)(void *state);

	/*
	 * Adds a row per guest and wanted counter; *ret_time_ns is when they were read
	 * (CLOCK_MONOTONIC). 0, or -errno with why; a why without an error says what is not
	 * counted, and what helps.
	 */
	int (*read)(void *state, struct sample *sample, uint64_t *ret_time_ns, struct error *why);

	void (*close)(void *state);
};

extern const struct engine perf_engine;
extern const struct engine bpf_engine;

#endif
