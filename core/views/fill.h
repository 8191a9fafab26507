/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fill - the cells of a row, each made by its column's number of a group or an owner.
 */
#ifndef KVMTOP_CORE_VIEWS_FILL_H
#define KVMTOP_CORE_VIEWS_FILL_H

#include "core/views/query.h"

/* What a row is of. */
struct row_of {
	const struct facts *facts;
	const struct query *query;
	const struct rollup *rollup;
	struct owner *owner;	   /* of the group, or the row's own */
	const struct group *group; /* NULL: the row is of the owner */
	const struct guest *guest; /* NULL: none, or the forgotten ones together */
	const struct field *field; /* NULL: none */
	const char *name;	   /* of the field, where it is not the label */
	uint64_t total;		   /* of owners: what %Total is a share of */
	/* Of owners without exits: their count is 0, and so is their rate. */
	bool is_zero, has_zero_rate;
};

/* Adds a row of this guest and vCPU, with all cells that are filled alike in every view. */
struct view_row *fill_row(struct view *view, const struct row_of *of);
/* Fills the cells, without adding a row. */
void fill_cells(struct cell *cells, const struct view_type *type, const struct row_of *of,
		bool is_gone);

/* A part of an owner's time, in percent of the whole; absent when it was not measured. */
struct cell owner_share(const struct owner *owner, enum time_part part);

#endif
