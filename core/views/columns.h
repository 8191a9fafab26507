/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * columns - the dictionary of all columns: names, headings, units, help, and what a column needs.
 *
 * A view has a table of columns, each with what is its own: the rank, and words that differ. What
 * the table leaves out is as in the dictionary. Two columns of one name mean the same thing of
 * different rows, and have different numbers if different code fills them.
 */
#ifndef KVMTOP_CORE_VIEWS_COLUMNS_H
#define KVMTOP_CORE_VIEWS_COLUMNS_H

#include <stdbool.h>

#include "core/views/cell.h"
#include "core/views/column_list.h"

#define COLUMN_NUMBER(id, ...) COL_##id,

enum column_id {
	COL_NONE, /* ends a table */
	COLUMN_LIST(COLUMN_NUMBER)
	COLUMNS
};

/* What a column has to show anything; else it is absent. */
enum column_needs {
	NEEDS_NOTHING,
	NEEDS_VALUE, /* in any row */
	NEEDS_EXITS, /* fields of timed exits */
	NEEDS_TIMES, /* and times in them: where kvm_exit never happens there are none */
	NEEDS_PART,  /* the same, and a field of this part of vCPUs' time */
	NEEDS_WAIT,  /* a field of TIME_WAIT */
	NEEDS_HOST,  /* a field of this part of what the host says */
};

/* What the row Total has of a column: nothing, as of names and durations; see build.c. */
enum column_total {
	TOTAL_NONE,
	TOTAL_SUM,  /* the sum of the rows */
	TOTAL_MEAN, /* of shares: the mean of the rows, by what they are shares of */
};

struct column {
	enum column_id id;

	/* In the dictionary, and in a view's table where these are different: */
	const char *title; /* as a heading */
	const char *help;
	int width; /* characters: enough for nearly all values */

	/* In the dictionary only: */
	const char *name; /* in JSON and for --sort */
	enum cell_type type;
	enum column_total total;
	enum column_needs needs;
	unsigned int part;  /* see needs */
	bool is_cost;	    /* halts rank below other rows unless they have a share */
	bool is_sentence;   /* people read it below the row, with the title before it */

	/* In a view's table only: */
	int rank; /* the lowest ones are shown first; 0: see ui/screen/layout.c */
	int least; /* of a text: other columns are dropped before it becomes narrower */
	int warn; /* the share, in percent, from which on the reader should look at it; 0: never */
	bool is_for_machines; /* not for screens */
	bool is_key; /* names the row, with the first column; orders equal rows */
	/* The same in all rows when one guest, or one reason, is chosen: a screen leaves it out. */
	bool is_of_guest, is_of_reason;
	bool is_of_recording; /* absent live */
	bool is_of_live;      /* absent in a recording */
	bool is_marked;	      /* a mark in the row's name says the same: not for text */
};

extern const struct column column_dictionary[COLUMNS];

static inline const char *column_name(const struct column *column)
{
	return column_dictionary[column->id].name;
}

static inline enum cell_type column_type(const struct column *column)
{
	return column_dictionary[column->id].type;
}

static inline enum column_total column_total(const struct column *column)
{
	return column_dictionary[column->id].total;
}

static inline bool column_is_sentence(const struct column *column)
{
	return column_dictionary[column->id].is_sentence;
}

static inline const char *column_title(const struct column *column)
{
	return column->title ? column->title : column_dictionary[column->id].title;
}

static inline const char *column_help(const struct column *column)
{
	return column->help ? column->help : column_dictionary[column->id].help;
}

static inline int column_width(const struct column *column)
{
	return column->width ? column->width : column_dictionary[column->id].width;
}

#endif
