/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shared - the interface of a format of lines, and the functions that formats share.
 *
 * A format is a const struct lines_type that prints one sample; lines.c does the rest. A new one is
 * one file and one line in lines.c.
 */
#ifndef KVMTOP_UI_LINES_SHARED_H
#define KVMTOP_UI_LINES_SHARED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/error.h"
#include "ui/lines/config.h"
#include "core/views/view.h"

#define LINES_PAGE 20	    /* samples between headings, as kvm_stat's */
#define LINES_NAME_SIZE (GUEST_NAME_SIZE + 32)

struct lines_sample {
	const struct lines_config *config;
	const struct view *view;
	uint64_t time_ns;    /* CLOCK_REALTIME; 0: not known */
	uint64_t elapsed_ns; /* 0: not known */
	uint64_t nr;	     /* earlier samples since the start, a reopening or an error */
	bool needs_header;   /* print the header, if the format has only one */
};

struct lines_type {
	/* State from one sample to the next. 0, or -errno with why. NULL: there is none. */
	int (*start)(const struct lines_config *config, void **ret_state, struct error *why);
	void (*end)(void *state);
	/*
	 * Whether a file that begins with head can be continued: 0, -EEXIST with why if it is such
	 * a file with other columns, or -EINVAL with why. The function may change head. NULL:
	 * always.
	 */
	int (*check)(const void *state, char *head, const char *path, struct error *why);
	/* 0 or -errno; the caller checks errors of out. */
	int (*print)(void *state, FILE *out, const struct lines_sample *sample);
};

extern const struct lines_type lines_batch, lines_csv, lines_json, lines_text, lines_rows,
	lines_log_rows, lines_table, lines_log_table;

/* Prints the heading of the times, padded to width: "time (per 3.0 s)", with the interval. */
void lines_print_interval(FILE *out, uint64_t elapsed_ns, int width);

/* The event or guest of the row. Guests of one name are told apart by pid: "db1(4711)". */
void lines_name(char *buf, size_t size, const struct view *view, const struct view_row *row);

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

/* "other": belongs to a parent and means nothing on a line of its own. */
bool lines_is_other(const struct view_row *row);

/* Whether the row counted anything, now or before. */
bool lines_is_active(const struct view *view, const struct view_row *row);

/* One field of a line, quoted when it must be (RFC 4180). */
void csv_print_name(FILE *out, const char *name);

/*
 * Takes the next name from the first line of a CSV, unquoted in place, and moves *at after it. *at
 * is NULL after the last name; the next call then returns NULL.
 */
char *csv_next_name(char **at);

#define CSV_KVM_STAT_TIME "timestamp" /* the first column's heading */
#define CSV_TIME "time"		      /* the same where each row has a line, as in JSON */

/* The heading of the i-th column; NULL past the last. */
typedef const char *csv_name_at(const void *state, size_t i);

/* Whether a file that begins with head has these columns: see struct lines_type. */
int csv_check(csv_name_at *name_at, const void *state, char *head, const char *path,
	      struct error *why);

#endif
