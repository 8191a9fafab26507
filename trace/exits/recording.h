/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording - recordings, read once: what was counted, and what could not be read.
 */
#ifndef KVMTOP_TRACE_EXITS_RECORDING_H
#define KVMTOP_TRACE_EXITS_RECORDING_H

#include "core/facts/facts.h"
#include "trace/exits/guests.h"
#include "trace/exits/pairing.h"

/* Which parts of the files are read and counted. */
struct recording_choice {
	enum trace_kind kind;	/* of the files */
	const char *buffer;	/* only this one of each trace.dat; NULL: all */
	unsigned int arguments; /* see struct pairing */
	uint64_t longer_ns; /* keeps the exits that took longer; 0: none */
	bool has_halts;	    /* halts, too */
	double mhz; /* of the TSC; 0: as the recording says */
	bool has_moments; /* keeps intervals, unless the clock's unit is not known */
	double interval_s; /* their length; 0: any */
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
};

/*
 * Opens the files as one stream (see trace.h) and reads it to its end, once, with a progress bar.
 * 0 or -errno with error.
 */
int recording_read(const char *const *paths, size_t nr, const struct recording_choice *choice,
		   struct recording *ret_recording, struct error *error);

/* The same in steps. Between them pairing_add() takes the events of the trace. */
int recording_open(const char *const *paths, size_t nr, const struct recording_choice *choice,
		   struct recording *ret_recording, struct error *error);
void recording_end(struct recording *recording); /* finds the guests and the length */

/* Zero-initialised is fine. */
void recording_release(struct recording *recording);

/* From the first event to the last, in the clock's unit. */
uint64_t recording_span(const struct recording *recording);

#endif
