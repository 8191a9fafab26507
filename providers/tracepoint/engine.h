/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * engine - what counts tracepoints for the tracepoint provider; which ones there are, and the sums.
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
#include "core/provider.h"
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
	uint32_t guest; /* the guest of its rows' keys; GUEST_NONE for CPUs */
};

#define ENGINE_KEEP_NONE UINT32_MAX

struct engine {
	const char *name;

	/* Whether it can count here: 0, or -errno with error. Leaves nothing open. */
	int (*probe)(const struct env *env, struct error *error);

	/*
	 * args and counters outlive the engine. 0, or -errno with error: another engine may work.
	 */
	int (*open)(const struct provider_args *args, const struct counter *counters, size_t nr,
		    void **ret_state, struct error *error);

	/* Which counters to keep from now on; never waits. */
	void (*want)(void *state, const struct field_set *fields);

	/*
	 * Where to count from now on; targets are ascending by (is_thread, id), none twice. The
	 * counts of a target that is gone stay in its guest's sum while another target has that
	 * guest, or keep is it (ENGINE_KEEP_NONE: none). After that they are read once more, unless
	 * want() was called just before. Never waits.
	 */
	int (*retarget)(void *state, const struct target *targets, size_t nr, uint32_t keep);

	/* Everything wanted is open, or could not be opened. NULL: always. */
	bool (*is_ready)(void *state);

	/*
	 * Adds a row per guest and wanted counter; *ret_time_ns is when they were read
	 * (CLOCK_MONOTONIC). 0, or -errno with error; a text in error with 0 says what is not
	 * counted, and what helps.
	 */
	int (*read)(void *state, struct sample *sample, uint64_t *ret_time_ns, struct error *error);

	/* Adds its BPF programs. NULL: it has none. */
	void (*programs)(void *state, struct programs *programs);

	void (*close)(void *state);
};

extern const struct engine perf_engine;
extern const struct engine bpf_engine;

/*
 * ---- events: which trace events of KVM a kernel has: their fields, and what to count for each.
 *
 * The kernel is this machine's or a captured one's: the names are the same for both.
 */

struct tracepoint_events {
	struct provider_args args;
	struct counter *counters;
	size_t nr, room;
	int unread_err; /* of the last event that is left out because its id cannot be read */
};

/* Adds all fields. 0, or -errno with error: no event was found. */
int tracepoint_events_find(struct tracepoint_events *events, const struct provider_args *args,
			   struct error *error);

/* Reads the events' ids again. */
void tracepoint_events_number(struct tracepoint_events *events);

void tracepoint_events_release(struct tracepoint_events *events);

/*
 * ---- counts: what an engine has counted for each guest, or for the host as a whole.
 *
 * A target that goes away leaves its counts in its guest's sums, so that they never go back.
 */

/* The counts of a guest, or of the host (GUEST_NONE). Arrays are by counter. */
struct guest_counts {
	uint32_t guest;
	uint64_t *retired; /* the sums of targets that are gone */
	uint64_t *now;	   /* the sums of the others */
	bool *was_sampled; /* false: the next row counts from zero */
	bool *is_counted;  /* its event was open at a target */
	bool is_ending;	   /* its targets are gone: it is dropped after one more sample */
	struct guest_counts *next;
};

struct counts {
	const struct counter *counters;
	uint32_t nr_counters;
	struct guest_counts *first;
};

struct guest_counts *counts_find(const struct counts *counts, uint32_t guest); /* NULL: none */
/* The guest's, new ones if need be. was_sampled: its first row does not count from zero. */
struct guest_counts *counts_get(struct counts *counts, uint32_t guest, bool was_sampled);
void counts_release(struct counts *counts);

/* The counter is wanted from now on; is_running: its events were not closed since the last want. */
void counts_begin(struct counts *counts, uint32_t counter, bool is_running);

/* Zeroes the sums that are read next. */
void counts_clear_now(struct counts *counts);

/*
 * Ends the counts of each guest that is not in targets and not keep: after the next sample, or,
 * with is_new_want, at once.
 */
void counts_end(struct counts *counts, const struct target *targets, size_t nr, uint32_t keep,
		bool is_new_want);

/*
 * Adds a row for each guest and wanted counter, then drops the guests that have ended. failed: by
 * counter, an -errno if it is not counted everywhere: then it gets no first row; NULL: none failed.
 */
void counts_emit(struct counts *counts, const bool *is_wanted, const int *failed,
		 struct sample *sample);

/* Ascending by (is_thread, id), for qsort() and bsearch() over struct target. */
int target_compare(const void *a, const void *b);

#endif
