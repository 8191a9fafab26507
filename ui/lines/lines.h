/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lines - the renderers that write lines: batch, text log, CSV and JSON.
 *
 * Batch and CSV are exactly as kvm_stat's, for programs that read kvm_stat's output, except that a
 * CSV has levels, not their changes; text is for people; JSON has one object on one line for each
 * sample. Of views that kvm_stat does not have, each row is a line with all columns. Every renderer
 * takes a finished view.
 *
 * Each sample is flushed when it is written, so that neither a signal nor a crash loses a sample.
 * If a regular file has no room for a sample, the written part is removed: no line is ever
 * incomplete.
 */
#ifndef KVMTOP_UI_LINES_LINES_H
#define KVMTOP_UI_LINES_LINES_H

#include <stdint.h>
#include <stdio.h>

#include "trace/exits/recording.h"
#include "ui/lines/format.h"

struct lines;

/*
 * Opens the file, if any, and makes it (0644) if it does not exist; lib/output.h says which files
 * are refused. 0, or -errno with error: -EINVAL if the file is another log than this one would be.
 * The config's pointers must outlive the lines.
 */
int lines_open(const struct lines_config *config, struct lines **ret_lines, struct error *error);

/*
 * Writes and flushes one sample. time_ns is CLOCK_REALTIME (0: not known; for JSON and tables
 * only), elapsed_ns is the time that the deltas cover (0: not known). 0, or -errno with error:
 * -EPIPE means that the reader of standard output is gone, which needs no message.
 */
int lines_write(struct lines *lines, const struct view *view, uint64_t time_ns,
		uint64_t elapsed_ns, struct error *error);

/* Opens, writes one sample and closes. 0, or -errno with error, as above. */
int lines_write_once(const struct lines_config *config, const struct view *view, uint64_t time_ns,
		     uint64_t elapsed_ns, struct error *error);

/*
 * Closes the file and opens it anew under its name, as lines_open() does, for log rotation; no-op
 * for standard output. If that fails, samples go to the old file, and error says so.
 */
int lines_reopen(struct lines *lines, struct error *error);

/* The width of standard output for struct lines_config.room; 0: it is no terminal. */
int lines_room(void);

/* The JSON schema of LINES_JSON, of every view, and of the findings and metrics. */
void lines_print_schema(FILE *out);

/* Flushes and closes; 0, or -errno with error if the file did not get all data. NULL is fine. */
int lines_close(struct lines *lines, struct error *error);

/*
 * ---- recording.c: the description of a recording that is written with a view: its files, its
 * length, and the losses. json.c writes the same as JSON.
 */

struct view;

struct lines_recording {
	const struct trace *trace;
	const struct pairing *pairing; /* the numbers of events and of losses */
	enum time_unit unit;	    /* cycles: their length is not known */
	bool has_time, has_exits;   /* exits have durations; the view shows exits */
	bool has_waits; /* the times in the view include waiting, of which the view says nothing */
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
