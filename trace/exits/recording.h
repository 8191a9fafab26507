/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording - recordings, read once: what was counted, and what could not be read.
 */
#ifndef KVMTOP_TRACE_EXITS_RECORDING_H
#define KVMTOP_TRACE_EXITS_RECORDING_H

#include "core/provider.h"
#include "core/facts/facts.h"
#include "providers/playback/rows.h"
#include "trace/exits/guests.h"
#include "trace/exits/pairing.h"

/* Which parts of the files are read and counted. */
struct recording_choice {
	enum trace_kind kind;	/* of the files */
	const char *buffer;	/* only this one of each trace.dat; NULL: all */
	unsigned int arguments; /* see struct pairing */
	uint64_t longer_ns; /* keeps the exits that took longer; 0: none; */
	bool has_halts;	    /* halts, too; */
	const struct guest_kallsyms *kallsyms; /* functions of nr_kallsyms guests in them */
	size_t nr_kallsyms;
	double mhz; /* of the TSC; 0: as the recording says */
	bool has_moments; /* keeps intervals, unless the clock's unit is not known */
	double interval_s; /* their length; 0: any */
	bool has_code; /* adds up the code in samples, if there are any */
};

/* Zero-initialised is none. */
struct recording {
	struct recording_choice choice;
	struct trace *trace;
	enum time_unit unit; /* of durations */
	double ns_per_unit;  /* of the clock; 1 of cycles; 0: it only counts, nothing has a time */
	struct pairing pairing;
	/* After the last event: */
	uint64_t span_ns;    /* from the first event to the last */
	bool is_moment;	     /* the recording goes on: exits that have not ended have time, too */
	struct guests *guests;
	struct recorded_vcpu *vcpus; /* of each thread */
	struct recorded_code *code; /* NULL: it is not wanted */
};

/*
 * Opens the files as one stream (see trace.h) and reads it to its end, once, with a progress bar.
 * 0 or -errno with error.
 */
int recording_read(const char *const *paths, size_t nr, const struct recording_choice *choice,
		   struct recording *ret_recording, struct error *error);

/* recording_read() in steps. */
int recording_open(const char *const *paths, size_t nr, const struct recording_choice *choice,
		   struct recording *ret_recording, struct error *error);
void recording_add(struct recording *recording, const struct trace_event *event);
void recording_end(struct recording *recording); /* finds the guests and the length */

/* Zero-initialised is fine. */
void recording_release(struct recording *recording);

/* From the first event to the last, in the clock's unit. */
uint64_t recording_span(const struct recording *recording);

/* ---- code.c: the code that vCPUs were in, by samples with stacks (perf record -g) */

struct recorded_code *recorded_code_new(const struct trace *trace);
void recorded_code_free(struct recorded_code *code); /* NULL is fine */

/*
 * The thread of a vCPU that a sample is of, its stack as a node of the dictionary, and whether it
 * is in KVM_RUN (may be NULL). NULL: it is of no vCPU.
 */
struct recorded_thread *recorded_code_find(struct recorded_code *code, struct table *table,
					   const struct trace_event *event,
					   uint32_t *ret_node, bool *ret_is_in_kvm);
const struct stacks *recorded_code_stacks(const struct recorded_code *code);

/* Takes an event that is a sample. */
void recorded_code_add(struct recorded_code *code, struct pairing *pairing,
		       const struct trace_event *event);

/* After recorded_add_exits(): as paths in this dictionary, and their sums. */
void recorded_code_sums(const struct recording *recording, const struct fields *fields,
			struct stacks *to, struct stack_sums *ret_sums);

/* ---- rows.c: the counts of a recording as rows of samples, of the whole or cut into intervals */

/*
 * Add fields of this source to the dictionary, which is the same in all calls, and rows: events
 * with their reasons as children; or exits, their arguments, and the vCPUs' time split. Several
 * rows may have the same key. An exit without an end in the recording adds to the time split, but
 * is not counted as an exit. No event says that a guest has ended: so the time of a vCPU in user
 * space ends with its guest's last event.
 */
void recorded_add_events(struct played_rows *rows, const struct recording *recording,
			 struct fields *fields, uint32_t source);
void recorded_add_exits(struct played_rows *rows, const struct recording *recording,
			struct fields *fields, uint32_t source);

/* The long exits that were kept, after recorded_add_exits(). */
void recorded_long_exits(const struct recording *recording, struct fields *fields, uint32_t source,
			 struct long_exits *ret_exits);

/*
 * ---- the whole recording in two samples, its first moment, where all counts are 0, and
 * its last one
 */

/* The providers' input is a struct recording. NULL ends the list. */
extern const struct provider *const recorded_players[];

/* Their numbers, as in struct field.source. */
enum { RECORDED_EVENTS, RECORDED_EXITS };

/*
 * ---- moments.c: the samples that a live program would have taken
 *
 * An interval has the exits that ended in it, with their times, and the events that happened in it:
 * the sums over all intervals are the numbers of the whole recording. So are the parts of a vCPU's
 * time, except where events are missing: there the recording takes back an exit that had no end.
 */

/*
 * Takes a sample: first of the recording's start, then of each interval's end, offset_ns after the
 * start. 0 or -errno.
 */
typedef int (*moment_fn)(void *arg, const struct facts *facts, uint64_t offset_ns);

/*
 * How long the intervals of a recording are that was read with moments, in s. 0: there are none,
 * as the clock's unit is not known. If any length is fine it is a hundredth of the recording,
 * rounded up, but at most a second. Longer if so many moments would take more than a few seconds to
 * make.
 */
double moments_interval_s(struct recording *recording);

/*
 * Makes them. fields: the dictionary, which a monitor of recorded_players has opened. They are
 * gone afterwards. 0, or an error of take().
 */
int moments_make(struct recording *recording, struct fields *fields, moment_fn take, void *arg);

#endif
