/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * view - a table to look at: facts grouped, filtered and sorted into rows of typed cells.
 *
 * A pure function of a query and the facts: no I/O, no clock, no terminal. A renderer turns cells
 * into text. Headings, units, help and machine names are in the column tables only. A new view is
 * one file and one line in list.h. What sets a view apart is in struct view_type; outside
 * core/views/ a view is named only where a command or a key is for this one view.
 */
#ifndef KVMTOP_CORE_VIEWS_VIEW_H
#define KVMTOP_CORE_VIEWS_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/why.h"
#include "core/facts/facts.h"

#define VIEW_COLUMNS 29

enum cell_type {
	CELL_NONE, /* absent: "-" on a screen, null in JSON */
	CELL_TEXT,
	CELL_COUNT,
	CELL_PERCENT,
	CELL_RATE,  /* per second */
	CELL_NS,    /* a duration */
	CELL_SPARK, /* STATS_HISTORY rates, oldest first, < 0 where there is none */
	CELL_HIST,  /* counts by duration: HIST_BUCKETS counts */
	CELL_SPLIT, /* where time went: shares of the whole, 0 to 1 */
};

/* A picture is drawn on the screen only: lines of text omit it, and rows are not sorted by it. */
static inline bool cell_is_picture(enum cell_type type)
{
	return type == CELL_SPARK || type == CELL_HIST || type == CELL_SPLIT;
}

/* The parts of CELL_SPLIT, in the order in which they are drawn. HALT: as far as it is no POLL. */
enum split_part { SPLIT_GUEST, SPLIT_KVM, SPLIT_USER, SPLIT_POLL, SPLIT_HALT, SPLIT_PARTS };

struct cell {
	enum cell_type type : 8;
	bool has_ended; /* what a CELL_TEXT names: a mark for people; programs have a column */
	uint8_t end; /* of a CELL_HIST: its last bucket has no upper edge, and is before this one */
	float whole;	/* of a CELL_PERCENT: what 100 % are, such as ns; 0: the same in all rows */
	union {
		const char *text; /* owned by the dictionary or the inventory */
		uint64_t count;
		double number;
		uint64_t ns;
		const float *spark; /* owned by the view, as are hist and split */
		const uint64_t *hist;
		const double *split; /* SPLIT_PARTS */
	};
};

enum {
	COLUMN_MACHINE_ONLY = 1 << 0, /* not for screens */
	COLUMN_KEY = 1 << 1, /* names the row, with the first column; orders equal rows */
	COLUMN_COST = 1 << 2, /* a cost: halts rank below other rows unless they have a share */
	/* The same in all rows when one guest, or one reason, is chosen: a screen leaves it out. */
	COLUMN_OF_GUEST = 1 << 3,
	COLUMN_OF_REASON = 1 << 4,
	COLUMN_OF_RECORDING = 1 << 5, /* known of a recording only: absent live */
	COLUMN_MARKED = 1 << 6, /* a mark in the row's name says the same: not for text */
	COLUMN_OF_LIVE = 1 << 7, /* the reverse: absent in a recording */
};

/*
 * A screen shows the ranks that it has room for, the lowest first, and the columns of one rank
 * together; 0: see ui/screen/layout.c.
 */
#define COLUMN_SPARE(rank) ((rank) << 8)
#define COLUMN_SPARE_OF(flags) ((flags) >> 8 & 0xff)

/* The least width of a text: other columns are dropped before the text becomes narrower. */
#define COLUMN_LEAST(width) ((width) << 16)
#define COLUMN_LEAST_OF(flags) ((int)((flags) >> 16 & 0x3f))

/*
 * What the row Total has of the column, see build.c: the sum of the rows; or, of shares, their mean
 * by what they are shares of. Neither: nothing, as of names, pids and durations.
 */
#define COLUMN_SUM (1U << 22)
#define COLUMN_MEAN (1U << 23)

/* The share, in percent, from which on the reader should look at it; 0: never. */
#define COLUMN_WARN(percent) ((unsigned int)(percent) << 24)
#define COLUMN_WARN_OF(flags) ((int)((flags) >> 24 & 0x7f))

/* Sentences: people read them below the table's row, with the title before them; a log has them. */
#define COLUMN_BELOW (1U << 31)

struct column {
	const char *id;	   /* in JSON and for --sort */
	const char *title; /* as a heading */
	const char *help;
	enum cell_type type;
	int width;	     /* characters: enough for nearly all values */
	unsigned int flags;  /* COLUMN_* */
};

struct view_row {
	uint32_t field; /* what the row is about; FIELD_NONE, GUEST_ANY, -1: several */
	uint32_t guest;
	int32_t vcpu;
	uint64_t number; /* of a long exit: its own, different from all others; else 0 */
	uint8_t depth;
	bool can_open, is_open;
	bool is_last; /* of its siblings */
	bool is_rest; /* what a parent counted beyond its children */
	bool is_level; /* its count is a level, such as pages, which is no part of a sum */
	bool is_idle, is_gone;
	bool shares_name; /* with the row of another guest; of a query that shows both apart */
	uint8_t rule; /* of a finding: which; else 0 */
	uint64_t elapsed_ns; /* of its interval, if that is not the view's; else 0 */
	struct cell cells[VIEW_COLUMNS];
};

struct query; /* core/views/query.h */
struct view;

/* What the rows of a view are, together: a vCPU is GROUP_GUEST | GROUP_VCPU. */
enum {
	GROUP_GUEST = 1 << 0,
	GROUP_VCPU = 1 << 1, /* with GROUP_GUEST */
	GROUP_REASON = 1 << 2, /* or argument, see struct query */
	GROUP_ALL = GROUP_GUEST | GROUP_VCPU | GROUP_REASON,
	GROUP_ARGUMENT = 1 << 3, /* of exits */
	GROUP_EVENT = 1 << 4,
	GROUP_HOST = 1 << 5, /* each a guest of the inventory; no tab */
};

#define VIEW_DETAILS 2

struct view_type {
	const char *name;  /* for --view: "events" */
	char key;	   /* on the screen: '1', 'w' */
	const char *title; /* on its tab: "Events" */
	const char *noun;  /* what a filter selects: "The filter X matches no event" */
	const struct column *columns; /* ended by one with id == NULL; the first names the row */
	size_t sort;	   /* the column to sort by when the user chose none */
	size_t then;	   /* the column that orders equal rows; 0: counts and rates do */
	unsigned int groups; /* GROUP_*; 0: its rows are something else */
	bool by_guest;	     /* needs rows for each guest */
	bool has_trees;	     /* shows children; else only if a filter names them */
	bool is_timed;	     /* is made of fields of the provider "exits" */
	bool has_events;     /* shows counts of events or of debugfs */
	bool has_stats;	     /* shows what the provider "stats" says, too, beside timed exits */
	bool has_host;	     /* shows what the provider "host" says */
	bool is_of_host;     /* shows what the host says also where no exits are known */
	bool has_findings;   /* its rows: the worst needs no line at the top of a screen */
	bool is_on_demand;   /* what it shows is counted only while it is asked for */
	bool takes_vcpu;     /* can be of one vCPU: another tab's vCPU stays chosen */
	bool takes_groups;   /* the rows are what query.event, .groups and .only say */
	bool takes_longer;   /* lists exits that took longer than query.longer_ns */
	enum source_need source_need; /* the rows need it */
	/* For large screens: tables of what the selected row is made of; NULL ends them. */
	const struct view_type *details[VIEW_DETAILS];
	/*
	 * Whether the view shows this field, which has no parent, if the filter selects it. NULL:
	 * the filter is not about fields.
	 */
	bool (*wants)(const struct query *query, const struct field *field);
	/* Whether the view needs this field, whatever the filter is. NULL: it needs no field. */
	bool (*needs)(const struct field *field);
	/* Adds the rows: parents before children, siblings in any order. */
	int (*build)(struct view *view, const struct query *query, const struct facts *facts);
	/*
	 * Changes the query to what Enter on a row leads to, and sets *ret_sought to the name of
	 * the row to select in the new view, if any. False: Enter leads nowhere, as if this is
	 * NULL. row is NULL when the view has no rows. Not called for rows that open as trees, nor
	 * for ended guests.
	 */
	bool (*enter)(struct query *query, const struct view_row *row, const struct facts *facts,
		      const char **ret_sought);
};

const struct view_type *view_type_at(size_t i); /* a tab, the default first; NULL past the end */
const struct view_type *view_type_by_name(const char *name); /* NULL: no such tab */
/* The same for a user's text: 0, or -EINVAL with why, which lists the tabs. */
int view_type_find(const char *name, const struct view_type **ret_type, struct why *why);
const struct view_type *view_type_by_key(uint32_t key); /* NULL: no such tab */
/* The first view with these rows. GROUP_ALL: the table of `exits` and `report`, which is no tab. */
const struct view_type *view_type_by_groups(unsigned int groups);

/* The names of the tabs: "events, guests, ..."; of titles with a number: "events, hot spots". */
void view_type_names(char *buf, size_t size);
void view_type_titles(char *buf, size_t size);

struct view {
	const struct view_type *type;
	struct view_row *rows;
	size_t nr_rows, room_rows;
	struct view_row total; /* the sums and means of the rows */
	enum time_unit unit; /* of CELL_NS */
	uint64_t elapsed_ns; /* of the interval that counts and rates are of; 0: not known */
	uint32_t absent; /* columns without any value, as bits: for programs only */
	const char *rate_title; /* the heading of the column "rate"; NULL: as in the table */
	const char *note; /* a note about the rows, for the user; NULL: none */
	char ended[32]; /* the name of the row that what has ended is folded into */
	void *scratch; /* the builder's sums, which cells point into */
	size_t scratch_size;
};

void view_release(struct view *view);

/* -1, 0, 1 as for qsort(): absent cells first, then numbers ascending, then texts by bytes. */
int cell_compare(const struct cell *a, const struct cell *b);

/* For the builders of views. NULL: no memory. */
struct view_row *view_add(struct view *view);
/*
 * Memory for sums, valid until the next build. view_scratch() zeroes it; view_scratch_grow() keeps
 * its contents and does not zero the rest.
 */
void *view_scratch(struct view *view, size_t size);
void *view_scratch_grow(struct view *view, size_t size);

static inline struct cell cell_text(const char *text)
{
	return (struct cell){ .type = CELL_TEXT, .text = text };
}

static inline struct cell cell_count(uint64_t count)
{
	return (struct cell){ .type = CELL_COUNT, .count = count };
}

static inline struct cell cell_pid(pid_t pid) /* absent when it is 0: not known */
{
	return (struct cell){ .type = pid ? CELL_COUNT : CELL_NONE, .count = (uint64_t)pid };
}

/* A guest's name. NULL: all guests that ended longer ago. */
struct cell cell_guest(const struct guest *guest);

static inline struct cell cell_none(void)
{
	return (struct cell){ .type = CELL_NONE };
}

/* hist: HIST_BUCKETS counts. */
static inline struct cell cell_hist(const uint64_t *hist)
{
	return (struct cell){ .type = CELL_HIST, .end = HIST_BUCKETS, .hist = hist };
}

static inline struct cell cell_ns(uint64_t ns)
{
	return (struct cell){ .type = CELL_NS, .ns = ns };
}

static inline bool view_has_column(const struct view *view, size_t column)
{
	return !(view->absent >> column & 1);
}

/* Absent when whole is 0. Shares that are added up have wholes of one unit. */
struct cell cell_percent(uint64_t part, uint64_t whole);
struct cell cell_rate(const struct stat_sum *sum);	 /* absent when the sum has no rate */
struct cell cell_spark(const struct stat_sum *sum);

/* Sets view->absent for a column that has a value in no row. */
void view_absent_unless_any(struct view *view, size_t column);

/* A column's heading in this view. */
const char *view_title(const struct view *view, size_t column);

/* The number of columns of a type. */
size_t view_columns(const struct view_type *type);
/* By id, e.g. "rate", or by another word for it, e.g. perf's "mean": its index, or -ENOENT. */
int view_column_by_id(const struct view_type *type, const char *id);
/* The ids of the columns that rows can be sorted by: "reason, total, rate". */
void view_column_ids(const struct view_type *type, bool is_recording, char *buf, size_t size);
/* The same for a user's text: one of these columns, or -EINVAL with why, which lists the ids. */
int view_column_find(const struct view_type *type, const char *id, bool is_recording,
		     size_t *ret_column, struct why *why);

/* Whether nothing was counted or timed in the row since the previous sample. */
bool view_row_is_quiet(const struct view *view, const struct view_row *row);

/*
 * For a log: drops the quiet rows, which only repeat an earlier sample: of exit reasons, arguments,
 * and of what has ended. A guest or vCPU that is there stays, as its time passes, and so do events.
 */
void view_drop_repeated(struct view *view);

#endif
