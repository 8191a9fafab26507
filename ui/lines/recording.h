/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording - the description of a recording that is written with a view: its files, its length,
 * and the losses. json.c writes the same as JSON.
 */
#ifndef KVMTOP_UI_LINES_RECORDING_H
#define KVMTOP_UI_LINES_RECORDING_H

#include <stdio.h>

#include "trace/exits/recording.h"

struct view;

struct lines_recording {
	const struct trace *trace;
	const struct pairing *pairing; /* the numbers of events and of losses */
	enum time_unit unit;	    /* cycles: their length is not known */
	bool has_time, has_exits;   /* exits have durations; the view shows exits */
	double ns_per_unit;	    /* of the times of losses; 0: not known */
	uint64_t span;		    /* from the first event to the last, in ns, cycles or counts */
	size_t nr_guests, nr_vcpus;
	uint64_t nr_unfinished; /* exits without an end */
	const char *none;	/* the text instead of a view without rows */
};

/* "ns", "cycles", or "counts" of a clock that only counts events. */
const char *lines_recording_unit(const struct lines_recording *about);

/* As text: the lines above a table, the sum below it, and what the numbers do not include. */
void lines_recording_head(const struct lines_recording *about, FILE *out);
void lines_recording_total(const struct lines_recording *about, const struct view *view, FILE *out);
void lines_recording_notes(const struct lines_recording *about, FILE *out);

/* Below two recordings side by side: a line for each thing that the numbers do not include. */
void lines_recording_lacks(const struct lines_recording *about, int nr, FILE *out);
bool lines_recording_has_lacks(const struct lines_recording *about);

#endif
