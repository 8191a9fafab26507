/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * view - a table to look at: facts grouped, filtered and sorted into rows of typed cells.
 *
 * A pure function of a query and the facts: no I/O, no clock, no terminal. A renderer turns cells
 * into text. Headings, units, help and machine names are in the column tables only. A new view is
 * one file and one line in VIEW_LIST. What sets a view apart is in struct view_type.
 */
#ifndef KVMTOP_CORE_VIEWS_VIEW_H
#define KVMTOP_CORE_VIEWS_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"
#include "core/views/columns.h"
#include "core/views/rollup.h"
#include "core/facts/facts.h"

#define VIEW_COLUMNS 44 /* of one view, at the most */

struct view_row {
	uint32_t field; /* what the row is about; FIELD_NONE, GUEST_ALL, -1: several */
	uint32_t guest;
	int32_t vcpu;
	uint64_t number; /* of a long exit: its own number; else 0 */
	uint8_t depth;
	bool can_open, is_open;
	bool is_last; /* of its siblings */
	bool is_rest; /* what a parent counted beyond its children */
	bool is_level; /* its count is a level, such as pages, which is no part of a sum */
	bool is_idle, is_gone;
	bool shares_name; /* with the row of another guest; of a query that shows both apart */
	uint8_t rule; /* of a finding: which; else 0 */
	uint64_t elapsed_ns; /* of its interval, if that is not the view's; else 0 */
	struct cell *cells; /* one for each column; the view's */
};

struct query; /* core/views/query.h */
struct view;

#define VIEW_DETAILS 2

struct view_type {
	const char *name;  /* for --view: "events" */
	char key;	   /* on the screen: '1', 'w' */
	const char *title; /* on its tab: "Events" */
	const char *noun;  /* what a filter selects: "The filter X matches no event" */
	const struct column *columns; /* COL_NONE ends it; the first names the row */
	enum column_id sort; /* to sort by when the user chose none */
	enum column_id then; /* orders equal rows; COL_NONE: counts and rates do */
	unsigned int groups; /* GROUP_*, of exits that its rows have; 0: something else */
	/* What must be counted: */
	bool by_guest;	 /* rows for each guest */
	bool is_timed;	 /* fields of the provider "exits", which the view is made of */
	bool has_events; /* events, or KVM's own counters */
	bool has_host;	 /* what the provider "host" says */
	/* What it can: */
	bool has_trees;	 /* shows children; else only if a filter names them */
	bool has_calls;	 /* query.children makes another table of it: a tree, never flat */
	bool takes_vcpu; /* be of one vCPU: another tab's vCPU stays chosen */
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
	void (*build)(struct view *view, const struct query *query, const struct facts *facts);
	/*
	 * Called when the absent columns are known: adds a note, for example. NULL: nothing is left
	 * to do.
	 */
	void (*finish)(struct view *view, const struct query *query, const struct facts *facts);
	/*
	 * Changes the query to what Enter on a row leads to, and sets *ret_sought to the name of
	 * the row to select in the new view, if any. False: Enter leads nowhere, as if this is
	 * NULL. row is NULL when the view has no rows. Not called for rows that open as trees, nor
	 * for ended guests.
	 */
	bool (*enter)(struct query *query, const struct view_row *row, const struct facts *facts,
		      const char **ret_sought);
};

/* Stands below a view's table of columns: one that is too long does not compile. */
#define VIEW_TABLE_FITS(table) \
	_Static_assert(sizeof(table) <= (VIEW_COLUMNS + 1) * sizeof((table)[0]), \
		       "more columns than VIEW_COLUMNS of core/views/view.h")

/*
 * The views: the tabs in their order, then the views without a key, which are no tabs. Outside
 * core/views/ a view is named only where a command or a key is for this one view.
 */
#define VIEW_LIST(VIEW) \
	VIEW(view_events) \
	VIEW(view_guests) \
	VIEW(view_vcpus) \
	VIEW(view_exits) \
	VIEW(view_hotspots) \
	VIEW(view_host) \
	VIEW(view_who) \
	VIEW(view_where) \
	VIEW(view_long_exits) \
	VIEW(view_why) \
	VIEW(view_interrupts) \
	VIEW(view_hosts)

#define VIEW_DECLARE(view) extern const struct view_type view;
#define VIEW_BYTE(view) char view;

VIEW_LIST(VIEW_DECLARE)

#define VIEWS sizeof(struct { VIEW_LIST(VIEW_BYTE) }) /* how many there are */

const struct view_type *view_type_at(size_t i); /* a tab, the default first; NULL past the end */
const struct view_type *view_type_by_name(const char *name); /* NULL: no such tab */
/* The tab that a user names: 0, or -EINVAL with error, which lists the tabs. */
int view_type_find(const char *name, const struct view_type **ret_type, struct error *error);
const struct view_type *view_type_by_key(uint32_t key); /* NULL: no such tab */
/* The names of the tabs: "events, guests, ..."; of titles with a number: "events, hot spots". */
void view_type_names(char *buf, size_t size);
void view_type_titles(char *buf, size_t size);

struct view {
	const struct view_type *type;
	struct view_row *rows;
	size_t nr_rows, room_rows;
	struct view_row total; /* the sums and means of the rows, */
	bool has_total; /* or what the view itself says */
	enum time_unit unit; /* of CELL_NS */
	uint64_t elapsed_ns; /* of the interval that counts and rates are of; 0: not known */
	size_t sort; /* the query's column; where that is absent, of rates if there are */
	uint64_t absent; /* columns without any value, as bits: for programs only */
	const char *rate_title; /* the heading of the column "rate"; NULL: as in the table */
	struct own_cost cost; /* of the Host view */
	const char *lead; /* what stands above the table, for the user; NULL: nothing */
	const char *note; /* a note about the rows, for the user; NULL: none */
	const char *lacks; /* why there cannot be rows, instead of a note; NULL: there can be */
	char ended[32]; /* the name of the row that what has ended is folded into */
	struct cell_block *blocks; /* the cells of rows, and some of their texts */
	struct rollup sums; /* cells point into it, */
	char *scratch; /* and into this */
	size_t scratch_size;
};

_Static_assert(VIEW_COLUMNS <= 64, "view.absent has a bit for each column");

void view_release(struct view *view);

/* For the builders of views: empties it, for rows of a type; a row more. */
void view_begin(struct view *view, const struct view_type *type);
struct view_row *view_add(struct view *view);
/*
 * For what cells point to, valid until the next build: zeroed memory, a copy of a text; and memory
 * that there is once.
 */
void *view_memory(struct view *view, size_t size);
const char *view_text(struct view *view, const char *text);
void *view_scratch(struct view *view, size_t size);
/* Makes a column absent. */
void view_drop(struct view *view, enum column_id id);

/* A column's index in the view's table; -ENOENT: the view does not have it. */
int view_column(const struct view_type *type, enum column_id id);

/* The column to sort by when the user chose none. */
static inline size_t view_default_sort(const struct view_type *type)
{
	return (size_t)view_column(type, type->sort);
}

static inline bool view_has_column(const struct view *view, size_t column)
{
	return !(view->absent >> column & 1);
}

/* For a face that has one line for both; NULL: there is nothing to say. */
static inline const char *view_remark(const struct view *view)
{
	return view->lacks ? view->lacks : view->note;
}

/* A row below another one has a whole name: kvm_exit(HLT), not HLT. */
static inline bool view_has_whole_names(const struct view *view)
{
	return view->type->columns[0].id == COL_EVENT;
}

static inline bool view_has(const struct view *view, enum column_id id)
{
	int column = view_column(view->type, id);

	return column >= 0 && view_has_column(view, (size_t)column);
}

/* The row's cell of a column that the view has. */
static inline struct cell *view_cell(const struct view *view, struct view_row *row,
				     enum column_id id)
{
	return &row->cells[view_column(view->type, id)];
}

/* A column's heading in this view. */
const char *view_title(const struct view *view, size_t column);

/* The number of columns of a type. */
size_t view_columns(const struct view_type *type);
/* By name, e.g. "rate", or by another word for it, e.g. perf's "mean": its index, or -ENOENT. */
int view_column_by_id(const struct view_type *type, const char *id);
/* The names of the columns that rows can be sorted by: "reason, total, rate". */
void view_column_ids(const struct view_type *type, bool is_recording, char *buf, size_t size);
/* The column that a user names: one of these, or -EINVAL with error, which lists them. */
int view_column_find(const struct view_type *type, const char *id, bool is_recording,
		     size_t *ret_column, struct error *error);

/* Whether nothing was counted or timed in the row since the previous sample. */
bool view_row_is_quiet(const struct view *view, const struct view_row *row);

/*
 * For a log: drops the quiet rows, which only repeat an earlier sample: of exit reasons, arguments,
 * and of what has ended. A guest or vCPU that is there stays, as its time passes, and so do events.
 */
void view_drop_repeated(struct view *view);

/* ---- a view of two others: what changed from the first to the second (diff.c) */

/* A recording, a span of a history, or a guest: one of the two that are compared. */
struct view_side {
	const char *path;	 /* of a recording; else "" or NULL */
	const struct view *view; /* of exits by guest, vCPU and reason */
	uint64_t span;		 /* how long it is, in ns or in cycles */
	enum time_unit unit;
};

extern const struct view_type view_difference;

/*
 * A view of both, from the first to the second: the row that changed most is the first. Its texts
 * belong to the sides' views. 0, -EINVAL with error where one has times in ns and the other in
 * cycles; release the view in any case.
 */
int view_diff(const struct view_side sides[2], struct view *ret_view, struct error *error);

#endif
