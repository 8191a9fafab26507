/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * functions - function calls recorded by uftrace, as slices.
 *
 * Reads the output of `uftrace dump --chrome` event by event, so a file may have any size. A begin
 * ("B") and its end ("E") become a slice. An end without a begin is a call that already ran when
 * the trace began; a begin without an end is a call that still ran when the trace ended. These
 * calls are drawn from the trace's begin or to its end, in the category "cut".
 */
#ifndef KVMTOP_TRACE_TIMELINE_FUNCTIONS_H
#define KVMTOP_TRACE_TIMELINE_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "lib/error.h"
#include "trace/timeline/out.h"

/* How to convert the trace's times to the host's clock, and where to cut it. */
struct functions_config {
	struct timeline_clock *clock; /* without a base, the first event sets it */
	uint64_t after_ns;	      /* then the first event is at base + after_ns */
	/* Host time = time of the nr-th thread (from 0) minus this offset; NULL: no offsets. */
	int64_t (*offset)(const void *state, size_t nr, uint64_t time);
	const void *state;
	bool has_cut;
	int64_t from_ns, to_ns; /* then nothing before and after this is drawn */
	const char *name; /* for processes without a name */
};

/* From the first event to the last, whether they are drawn or not. */
struct functions_span {
	bool has_events;
	int64_t first_ns, last_ns;
};

/* 0, or -errno with error, which names the offset of the error; ret_span is set in any case. */
int timeline_functions(FILE *in, const char *path, const struct functions_config *config,
		       struct timeline_out *out, struct functions_span *ret_span,
		       struct error *error);

/* Nanoseconds from uftrace's time of an event: microseconds with decimals. */
bool functions_time(const char *text, uint64_t *ret_time);

/*
 * ---- uftrace.c: a folder that uftrace recorded, as the JSON of `uftrace dump --chrome`, or a file
 * with this JSON
 */

struct uftrace {
	FILE *json;
	pid_t child; /* 0: none */
};

/*
 * Writes the symbols of a program, in the format of `nm -n`, into the folder for uftrace, where a
 * file of that name is replaced when nm has ended well.
 */
int uftrace_symbols(const char *folder, const char *binary, const char *name, struct error *error);

/* Returns 0, or -errno with error. */
int uftrace_open(const char *path, struct uftrace *ret_uftrace, struct error *error);

/*
 * Returns 0, or -EIO with error when uftrace failed. err: of reading its output, which ends uftrace
 * early; 0: it was read to its end.
 */
int uftrace_close(struct uftrace *uftrace, const char *path, int err, struct error *error);

struct json_object;

/* Takes an event of the JSON. 0, or -EINVAL: it is not an event of a Chrome trace. */
typedef int (*uftrace_event_fn)(void *arg, struct json_object *event);

/* Calls take() for each event. 0, or -errno with error, which names the offset of the error. */
int uftrace_read(FILE *in, const char *path, uftrace_event_fn take, void *arg, struct error *error);

#endif
