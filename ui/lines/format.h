/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * format - which format lines have, what writes one, and the functions that formats share.
 *
 * A format is a const struct lines_type that prints one sample; lines.c does the rest. A new one is
 * one file and one line in lines.c.
 */
#ifndef KVMTOP_UI_LINES_FORMAT_H
#define KVMTOP_UI_LINES_FORMAT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/error.h"
#include "core/views/columns.h"

enum lines_format {
	/* For events, and for guests as kvm_stat counts them: */
	LINES_BATCH, /* a line for each row: name, total, delta */
	LINES_TEXT,  /* a line for each sample under headings, as vmstat */
	LINES_CSV,   /* a line for each sample; the columns never change. Of events only. */
	/* For every view: */
	LINES_JSON,  /* a sample a line */
	LINES_ROWS,  /* a row a line, as CSV below the columns' ids */
	LINES_TABLE, /* a row a line below headings */
	/* For trees of calls: */
	LINES_FOLDED, /* a line for each stack, as flamegraph.pl reads it */
	LINES_SVG,    /* a picture of all stacks */
};

struct guest;
struct lines_recording;
struct view;
struct view_row;
struct view_type;

/* A span of time in a history. */
struct lines_span {
	uint64_t from_ns, to_ns; /* CLOCK_REALTIME */
	uint64_t elapsed_ns;	 /* without the time when nothing was recorded */
};

/* The source of a view, for JSON: at most one of these; all NULL: it is live. */
struct lines_side {
	const struct lines_recording *recording;
	const struct lines_span *span;
	const struct guest *guest;
};

struct lines_config {
	enum lines_format format;
	const char *path;  /* NULL: standard output; else appended to */
	bool overwrites;   /* the file is replaced by what is written; if that goes on, at once */
	bool has_time;	   /* LINES_TABLE, LINES_ROWS: a log, with the sample's time in each row */
	bool goes_on;	   /* the same: samples below the headings of the first */
	uint64_t start_ns; /* of a recording: times are seconds from then on; 0: times of day */
	int room;	   /* LINES_TABLE: the largest width of a line; 0: no limit */
	struct lines_side side[2]; /* JSON: of the view, and of what it is compared with */
	bool skip_zero;	   /* no line where nothing happened: for a sample, or for a row */
	/* LINES_CSV: the columns, from the first sample to the last. */
	const struct fields *fields;
	const struct field_set *columns;
	const struct view_type *type; /* LINES_ROWS with has_time: of every view */
};

/* ---- the renderer of a format */

#define LINES_PAGE 20	    /* samples between headings, as kvm_stat's */

struct lines_sample {
	const struct lines_config *config;
	const struct view *view;
	uint64_t time_ns;    /* CLOCK_REALTIME; 0: not known */
	uint64_t elapsed_ns; /* 0: not known */
	uint64_t nr;	     /* earlier samples since the start, a reopening or an error */
	bool needs_header;   /* print the header, if the format has only one */
};

struct lines_type {
	/* State from one sample to the next. NULL: there is none. */
	void *(*start)(const struct lines_config *config);
	void (*end)(void *state);
	/*
	 * Whether a file that begins with head can be continued: 0, or -EINVAL with error. The
	 * function may change head. NULL: always.
	 */
	int (*check)(const void *state, char *head, const char *path, struct error *error);
	/* The caller checks errors of out. */
	void (*print)(void *state, FILE *out, const struct lines_sample *sample);
};

extern const struct lines_type lines_batch, lines_csv, lines_json, lines_text, lines_rows,
	lines_table, lines_folded, lines_svg;

/*
 * The sample's time: seconds from the start of a recording, else ISO 8601, or without is_iso as
 * people read it.
 */
void lines_time(const struct lines_sample *sample, bool is_iso, char *buf, size_t size);

/*
 * Prints thousandths, with a point in any locale. False, with nothing printed: the number is too
 * large, or none.
 */
bool lines_print_number(FILE *out, double number);

/* Prints the heading of the times, padded to width: "time (per 3.0 s)", with the interval. */
void lines_print_interval(FILE *out, uint64_t elapsed_ns, int width);

/* Whether the row has a line in this sample: with skip_zero not if nothing happened in it. */
bool lines_has_row(const struct lines_sample *sample, const struct view_row *row);

/*
 * Whether programs get the column. Columns of recordings are written for recordings only, and the
 * reverse. All other columns are written on every host: programs ask for them by name.
 */
bool lines_is_written(const struct view *view, size_t column);

#define LINES_ID_SIZE 32

/* A column's id: "avg_ns", or "avg_cycles" where durations are in cycles. */
const char *lines_id(const struct view *view, size_t column, char *buf);

/* The cell by the column's id; an absent cell if the view has no such column. */
const struct cell *lines_cell(const struct view *view, const struct view_row *row,
			      enum column_id id);

/* The number of a count; 0 when absent. */
uint64_t lines_count(const struct cell *cell);

/* The value of a row in a log: a counter's delta, or the level of a gauge or peak. */
const struct cell *lines_value(const struct view *view, const struct view_row *row);

/*
 * Takes the next name from the first line of a CSV, unquoted in place, and moves *at after it. *at
 * is NULL after the last name; the next call then returns NULL.
 */
char *csv_next_name(char **at);

#endif
