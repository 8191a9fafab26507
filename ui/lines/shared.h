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
#include <time.h>

#include "base/why.h"
#include "ui/lines/config.h"
#include "views/view.h"

#define LINES_PAGE 20	    /* samples between headings, as kvm_stat's */
#define LINES_TIME_SIZE 64 /* for lines_print_time() */

struct lines_sample {
	const struct lines_config *config;
	const struct view *view;
	const struct timespec *when;
	uint64_t elapsed_ns; /* 0: not known */
	uint64_t nr;	     /* earlier samples since the start, a reopening or an error */
	bool needs_header;   /* print the header, if the format has only one */
};

struct lines_type {
	/* State from one sample to the next. 0, or -errno with why. NULL: there is none. */
	int (*start)(const struct lines_config *config, void **ret_state, struct why *why);
	void (*end)(void *state);
	/*
	 * Whether a file that begins with head can be continued: 0, or -EEXIST with why. The
	 * function may change head. NULL: always.
	 */
	int (*check)(const void *state, char *head, const char *path, struct why *why);
	/* 0 or -errno; the caller checks errors of out. */
	int (*print)(void *state, FILE *out, const struct lines_sample *sample);
};

extern const struct lines_type lines_batch, lines_csv, lines_json, lines_text, lines_rows,
	lines_log_rows, lines_table;

/* "YYYY-MM-DD HH:MM:SS", local time. 0 or -errno. */
int lines_print_time(char *buf, const struct timespec *when);

/* What the row is about, in a few words: "kvm_exit", "db1/0", "MSR_WRITE 0x6e0 db1". */
void lines_name(char *buf, size_t size, const struct view *view, const struct view_row *row);

/*
 * Prints the columns of a view for which there is room (see struct lines_config), below headings.
 */
void lines_print_table(FILE *out, const struct view *view, int room);

#define LINES_ID_SIZE 32

/* A column's id: "avg_ns", or "avg_cycles" where durations are in cycles. */
const char *lines_id(const struct view *view, size_t column, char *buf);

/* The cell by the column's id; an absent cell if the view has no such column. */
const struct cell *lines_cell(const struct view *view, const struct view_row *row, const char *id);

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
 * Takes the next name from the first line of a CSV, unquoted in place, and moves *at behind it. *at
 * is NULL after the last name; the next call then returns NULL.
 */
char *csv_next_name(char **at);

#define CSV_TIME_NAME "timestamp"

/* The heading of the i-th column; NULL past the last. */
typedef const char *csv_name_at(const void *state, size_t i);

/* Whether a file that begins with head has these columns: 0, or -EEXIST with why. */
int csv_check(csv_name_at *name_at, const void *state, char *head, const char *path,
	      struct why *why);

#endif
