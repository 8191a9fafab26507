/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace - recordings as one stream of events, ordered by time.
 *
 * Reads trace-cmd's trace.dat (versions 6 and 7), perf's perf.data (a file, a pipe, or the folder
 * that perf record --threads makes), the files of ACRN's acrntrace and the files of kvmtrace.
 * Several files, and the CPUs in them, are merged. Memory is bounded by what is open at once
 * (CPUs), never by the size of a file.
 *
 *	err = trace_open(paths, nr, TRACE_ANY, NULL, &trace, &error);
 *	while (trace_next(trace, &event)) {
 *		if (!event->type)
 *			event->lost events are missing here;
 *		else if (event->type == my_type)
 *			number = trace_field_number(my_field, event);
 *	}
 *	for (i = 0; (problem = trace_problem(trace, i)); i++)
 *		the rest of this file could not be read;
 *	trace_close(trace);
 *
 * Damage in a file ends that file, not the stream: it becomes a problem with its offset, and the
 * other files are read on.
 *
 * A type stays valid until trace_close(). Look a type's fields up by name when its first event
 * comes (a type's index counts up from 0), then compare pointers or indexes.
 */
#ifndef KVMTOP_TRACE_RECORDING_TRACE_H
#define KVMTOP_TRACE_RECORDING_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "lib/error.h"
#include "host/kallsyms.h"
#include "trace/recording/event.h"

struct trace;

/* The name of a buffer of a trace.dat, as --buffer takes it: "top" is the main one. */
const char *trace_buffer_name(const struct trace_info *info);

const char *trace_kind_name(enum trace_kind kind); /* "trace.dat", "perf.data", "acrn", ... */

/*
 * By this name, for --input-format: a kind that has events, or one that has records. 0, or -EINVAL
 * with error: no such kind has the name.
 */
int trace_kind_by_name(const char *name, bool has_records, enum trace_kind *ret_kind,
		       struct error *error);

/*
 * Opens files as one stream; "-" is standard input, for acrn and kvmtrace. TRACE_ANY finds the kind
 * from what is in them; all must be of one kind and clock. Buffers of a trace.dat (instances) are
 * files of their own in the stream; an event that two of them recorded is one event. A guest's
 * trace.dat that trace-cmd recorded together with its host's has the host's time, any other its
 * own.
 *
 * buffer: only what the buffer of this name recorded is read; "top" is the main one; NULL: all are.
 * Buffers with different clocks cannot be read together.
 *
 * Returns 0, or -errno with error. A file that ends too early opens, and is a problem; so is an
 * empty one among others. A file of no known kind does not open (-EINVAL), nor does a folder that
 * perf record did not make (-EISDIR), nor a file that is named twice (-EEXIST): its events would be
 * counted twice.
 */
int trace_open(const char *const *paths, size_t nr, enum trace_kind kind, const char *buffer,
	       struct trace **ret_trace, struct error *error);

/* Whether it is a plain file or a folder that TRACE_ANY recognizes. */
bool trace_is_recording(const char *path);

/*
 * Opens files of kvmtrace and ACRN, also of several kinds, for each record as it is in the
 * file: also where no event of its number is known. A file that cannot be opened is a problem;
 * the others are read. An empty file among others has no records.
 */
struct trace *trace_open_records(const char *const *paths, size_t nr, enum trace_kind kind);

void trace_close(struct trace *trace); /* takes NULL */

/* Before the first event: also gives samples that have stacks (perf record -g). */
void trace_want_stacks(struct trace *trace);

/*
 * What is at an address of the latest event's stack. False: the recording does not say. The texts
 * are valid until the next event.
 */
bool trace_locate(const struct trace *trace, const struct trace_event *event, uint64_t address,
		  bool is_kernel, struct trace_place *ret_place);

/*
 * How many maps the kernel and the latest event's process had by then. Where two samples of a
 * process have the same number, an address is the same code.
 */
uint32_t trace_count_maps(const struct trace *trace, const struct trace_event *event);

/* The symbols of the kernel that a file is of, if the file brings them; else NULL. */
const struct kallsyms *trace_symbols(const struct trace *trace, size_t file);

/* The next event; false: there is no more. */
bool trace_next(struct trace *trace, const struct trace_event **ret_event);

/* After trace_open_records(): trace_next() may wait until more comes through a pipe. */
bool trace_may_wait(const struct trace *trace);

/* The i-th file, NULL past the end. What it says may only be known after the first trace_next(). */
const struct trace_info *trace_file(const struct trace *trace, size_t i);

/*
 * Whether a file says that events of this name were recorded, also if there were none: perf.data,
 * and what kvmtop record writes. trace-cmd extract writes the formats of all events.
 */
bool trace_has_recorded(const struct trace *trace, const char *event);

/* The file that says of which clock the stream's times are. */
const struct trace_info *trace_clock_info(const struct trace *trace);

/*
 * Two files with clocks of different names, so that their times may be apart; false: there are
 * none. A guest's own file has the times of its host.
 */
bool trace_has_two_clocks(const struct trace *trace, const struct trace_info **ret_one,
			  const struct trace_info **ret_other);

/*
 * Whether two buffers of a trace.dat have events so far apart that one of them has another clock
 * than the file says. trace-cmd (3.0 to at least 3.4) writes files of version 7 with the clock of
 * its main buffer for all buffers, whatever -C says. To be called after the last event.
 */
bool trace_has_wrong_clock(const struct trace *trace, const struct trace_info **ret_one,
			   const struct trace_info **ret_other);

/*
 * The i-th problem so far, NULL past the end: a few for each file, and one for each CPU. Why a file
 * could be read only up to an offset, or not at all: "a.dat: at byte 992: the last record has 8 of
 * 32 bytes".
 */
const char *trace_problem(const struct trace *trace, size_t i);

/* Bytes read of bytes to read, for a progress bar; total 0: not known. */
void trace_progress(const struct trace *trace, uint64_t *ret_done, uint64_t *ret_total);

/*
 * The name of a thread as the recording has it so far, "" if it has none; '?' for control
 * characters.
 */
const char *trace_comm(const struct trace *trace, const struct trace_event *event);

/* The i-th guest that a file names, false past the end. */
bool trace_guest(const struct trace *trace, size_t file, size_t i, struct trace_guest *ret_guest);

/*
 * The symbols of its kernel, where the guest's own trace.dat, recorded together with this file, is
 * open, too. NULL: there are none.
 */
const struct kallsyms *trace_guest_symbols(const struct trace *trace, size_t file, size_t i);

/*
 * Which guest a thread belongs to, and as which vCPU (-1: the file does not say): the guest's i, or
 * -1 if a file names none.
 */
int64_t trace_guest_of(const struct trace *trace, size_t file, int32_t tid,
		       struct trace_guest *ret_guest, int32_t *ret_vcpu);

/* The i-th extra word of kvmtrace or acrn in this machine's byte order; 0 where there is none. */
uint32_t trace_word(const struct trace *trace, const struct trace_event *event, unsigned int i);

/*
 * ---- a progress bar on standard error while a recording is read, and other lines that are shown
 * for a while (progress.c)
 *
 * The bar is only drawn on a terminal, and only if reading takes more than a second.
 */

struct progress {
	uint64_t began_ns, shown_ns; /* shown_ns 0: not shown yet */
};

void progress_begin(struct progress *progress);
/* Draws the bar if it is time to; to be called often. */
void progress_show(struct progress *progress, const struct trace *trace);
/* As progress_show(), by bytes that were read; total 0: not known. */
void progress_step(struct progress *progress, uint64_t done, uint64_t total);
void progress_end(const struct progress *progress); /* erases the bar */

/* On a terminal: replaces the line on standard error by this text, cut to the width. */
void progress_line(const char *text);

#endif
