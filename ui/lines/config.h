/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * config - the format of lines and the file to write.
 */
#ifndef KVMTOP_UI_LINES_CONFIG_H
#define KVMTOP_UI_LINES_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "core/views/view.h"

enum lines_format {
	/* Of events, and of guests as kvm_stat counts them. */
	LINES_BATCH, /* a line for each row: name, total, delta */
	LINES_TEXT,  /* a line for each sample under headings, as vmstat */
	LINES_CSV,   /* a line for each sample; the columns never change. Of events only. */
	/* Of every view: */
	LINES_JSON,  /* a sample a line */
	LINES_ROWS,  /* a row a line, as CSV below the columns' ids */
	LINES_TABLE, /* a row a line below headings */
	/* The same with the sample's time before each row. */
	LINES_LOG_ROWS,
	LINES_LOG_TABLE,
};

struct guest;
struct lines_recording;

/* A span of time in a history. */
struct lines_span {
	uint64_t from_ns, to_ns; /* CLOCK_REALTIME */
	uint64_t elapsed_ns;	 /* without the time when nothing was recorded */
};

struct lines_config {
	enum lines_format format;
	const char *path;  /* NULL: standard output; else appended to */
	bool overwrites;   /* the file is emptied first */
	bool goes_on;	   /* LINES_TABLE, LINES_ROWS: samples below the headings of the first */
	int room;	   /* LINES_TABLE: the largest width of a line; 0: no limit */
	const struct lines_recording *recording; /* JSON: the recording; NULL: live */
	const struct lines_recording *other; /* the same: another beside it; NULL: none */
	/* JSON: the span of time that the view is of, and another one beside it; NULL: none */
	const struct lines_span *span, *other_span;
	const struct guest *guest, *other_guest; /* the same: two guests that are compared */
	bool skip_zero;	   /* no line where nothing happened: for a sample, or for a row */
	/* CSV: the columns, from the first sample to the last. */
	const struct fields *fields;
	const struct field_set *columns;
	const struct view_type *type; /* LINES_LOG_ROWS: of every view */
};

#endif
