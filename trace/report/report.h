/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report - `kvmtop report`: exits of a recording as rows, and what they look like.
 *
 * Rows are made from struct pairing by grouping its counts; renderers write them as text, CSV or
 * JSON.
 */
#ifndef KVMTOP_TRACE_REPORT_REPORT_H
#define KVMTOP_TRACE_REPORT_REPORT_H

#include <stdio.h>

#include "cmd/command.h"
#include "trace/recorded/recording.h"

extern const struct command report_command;

enum report_by { BY_REASON, BY_GUEST, BY_VCPU, BY_TID };

enum report_column {
	COLUMN_NAME, /* the reason or the argument */
	COLUMN_GUEST,
	COLUMN_PID,
	COLUMN_VCPU,
	COLUMN_TID,
	COLUMN_COUNT,
	COLUMN_RATE,
	COLUMN_SHARE,
	COLUMN_TOTAL,
	COLUMN_TIME_SHARE, /* of all handling time */
	COLUMN_WALL_SHARE, /* of the vCPUs' wall time, idling left out where rows are not reasons */
	COLUMN_IDLE_SHARE, /* of their wall time, idling alone */
	COLUMN_MIN,
	COLUMN_AVG,
	COLUMN_STDDEV,
	COLUMN_P50,
	COLUMN_P99,
	COLUMN_MAX,
	NR_COLUMNS,
};

/* What is asked for. Strings point into argv. */
struct report_options {
	bool json, acrn, text, help;
	const char *event, *by, *key, *csv, *diff, *input_format, *pids;
	const char *mhz_text; /* as the user wrote it; NULL: not */
	double mhz;
	unsigned long vcpu;
	bool has_vcpu;
	/* What event, by and key mean. */
	enum exit_kind tally_event;
	enum report_by group_by;
	enum report_column sort;
	enum trace_kind kind;
};

/* 0 or -EINVAL with why; fills in what the words mean. ret_first: where the files begin in argv. */
int report_options_parse(int argc, char **argv, struct report_options *ret_options,
			 int *ret_first, struct why *why);
void report_options_help(FILE *out);

#define ROW_NAME_SIZE 96

struct report_row {
	char name[ROW_NAME_SIZE], guest[ROW_NAME_SIZE];
	int32_t pid, vcpu, tid, cpu; /* -1: not known, or not told apart */
	uint64_t count;
	uint64_t idle; /* of took.total */
	bool is_idle;
	unsigned int nr_vcpus;
	struct durations took;
};

struct report {
	const struct pairing *pairing;
	enum exit_kind event;
	enum report_by by;
	struct report_row *rows;
	size_t nr_rows, nr_guests;
	struct report_row total;
	uint64_t wall; /* from the first event to the last, in the clock's unit */
	double ns_per_unit; /* 0: the clock's unit is not known */
	uint64_t nr_open; /* began, but have no end in the recording, or one behind a loss */
	bool has_time;
};

/* Groups, filters and sorts. The recording stays the caller's and must outlive it. 0 or -ENOMEM. */
int report_init(struct report *report, const struct recording *recording,
		const struct report_options *options);
void report_release(struct report *report);

/* How a column is called and written. */
struct report_heading {
	const char *id, *heading, *help;
	enum { AS_TEXT, AS_ID, AS_COUNT, AS_RATE, AS_PERCENT, AS_TIME } as;
	int width;
	unsigned int by; /* bit of each report_by that has it */
};

extern const struct report_heading report_columns[NR_COLUMNS];

bool report_has_column(const struct report *report, enum report_column column);

/* A column's value. */
struct value {
	bool is_absent;
	const char *text;
	uint64_t number; /* AS_ID, AS_COUNT */
	double real;	 /* AS_RATE, AS_PERCENT; of AS_TIME in ns, or in cycles */
};

struct value report_value(const struct report *report, const struct report_row *row,
			  enum report_column column);

/* "ns", or "cycles" where nobody knows how long one is. */
const char *report_unit(const struct report *report);

/*
 * The renderers: 0, or -errno with why where they open a file or take memory. room: how wide a line
 * may be, for which columns are left out; 0: as wide as it is.
 */
void report_text(const struct report *report, int room, FILE *out);
void report_csv(const struct report *report, FILE *out);
int report_json(const struct report *report, FILE *out);

/*
 * The views of the live program over a recording, until the user has seen enough.
 * 0, or -errno with why: that cannot be shown, and text is to be printed; without words where there
 * is nothing to be said about it.
 */
int report_screen(const struct recording *recording, const struct report_options *options,
		  struct why *why);

/* ACRN's vm_exit report and its CSV file, to the letter. mhz_text is printed as it is. */
int report_acrn(const struct recording *recording, double mhz, const char *mhz_text,
		const char *csv, FILE *out, struct why *why);

/*
 * Two recordings beside each other, the biggest change from one to other first. 0, -EINVAL with why
 * where one has times in ns and the other in cycles, or -ENOMEM.
 */
int report_diff(const struct report *one, const struct report *other, FILE *out, struct why *why);

#endif
