/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lines - the renderers that write lines: batch, text log, CSV and JSON.
 *
 * batch and CSV are kvm_stat's to the letter, for the programs that read them; the text log is for
 * people; JSON is one object a sample and line. All take a finished view.
 */
#ifndef KVMTOP_UI_LINES_LINES_H
#define KVMTOP_UI_LINES_LINES_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/why.h"
#include "views/view.h"

enum record_format {
	RECORD_BATCH, /* a row a line: as kvm_stat -1; of views that it has not, a table */
	RECORD_TEXT,  /* a sample a line under headings, as vmstat */
	RECORD_CSV,   /* a sample a line, as kvm_stat -l -c; columns never change */
	RECORD_JSON,  /* a sample a line */
	RECORD_ROWS,  /* a row a line, as CSV below their ids */
	RECORD_LOG_ROWS, /* the same with the sample's time before it: rows come and go */
	RECORD_TABLE, /* a row a line below headings, of every view */
};

struct recorder;
struct lines_recording;

struct recorder_config {
	enum record_format format;
	const char *path;  /* NULL: standard output; else appended to */
	bool overwrites;   /* the file is emptied first */
	int room;	   /* RECORD_TABLE: how wide a line may be; 0: as wide as it is */
	const struct lines_recording *recording; /* JSON: what to say of it; NULL: it is live */
	bool skip_zero;	   /* no record for a sample in which nothing happened */
	/* CSV: the columns, from the first record to the last. */
	const struct fields *fields;
	const struct field_set *columns;
	const struct view_type *type; /* RECORD_LOG_ROWS: of every view */
};

/*
 * Opens the file, if any; a CSV that is there already must have the same columns. -EEXIST when it
 * does not; why names file, difference and remedy. The config's pointers must outlive the
 * recorder.
 */
int recorder_open(const struct recorder_config *config, struct recorder **ret_recorder,
		  struct why *why);

/*
 * Writes and flushes one record. when is the time of day (NULL: not known; for JSON and tables
 * only), elapsed_ns what the deltas cover (0: not known). 0, or -errno with why: -EPIPE when the
 * reader of standard output went away (not an error to shout about), -ENOSPC ... for the rest.
 */
int recorder_write(struct recorder *recorder, const struct view *view, const struct timespec *when,
		   uint64_t elapsed_ns, struct why *why);

/* Closes the file and opens it anew under its name, for log rotation; no-op for standard output. */
int recorder_reopen(struct recorder *recorder, struct why *why);

/*
 * Flushes and closes; 0 or -errno with why if what was written did not reach the file. NULL is
 * fine.
 */
int recorder_close(struct recorder *recorder, struct why *why);

#endif
