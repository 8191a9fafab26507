/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * config - how lines are to be written: in which format, and where to.
 */
#ifndef KVMTOP_UI_LINES_CONFIG_H
#define KVMTOP_UI_LINES_CONFIG_H

#include <stdbool.h>

#include "views/view.h"

enum lines_format {
	LINES_BATCH, /* a row a line: as kvm_stat -1; of views that it has not, a table */
	LINES_TEXT,  /* a sample a line under headings, as vmstat */
	LINES_CSV,   /* a sample a line, as kvm_stat -l -c; columns never change */
	LINES_JSON,  /* a sample a line */
	LINES_ROWS,  /* a row a line, as CSV below their ids */
	LINES_LOG_ROWS, /* the same with the sample's time before it: rows come and go */
	LINES_TABLE, /* a row a line below headings, of every view */
};

struct lines_recording;

struct lines_config {
	enum lines_format format;
	const char *path;  /* NULL: standard output; else appended to */
	bool overwrites;   /* the file is emptied first */
	int room;	   /* LINES_TABLE: how wide a line may be; 0: as wide as it is */
	const struct lines_recording *recording; /* JSON: what to say of it; NULL: it is live */
	bool skip_zero;	   /* nothing for a sample in which nothing happened */
	/* CSV: the columns, from the first sample to the last. */
	const struct fields *fields;
	const struct field_set *columns;
	const struct view_type *type; /* LINES_LOG_ROWS: of every view */
};

#endif
