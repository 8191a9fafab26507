/* SPDX-License-Identifier: GPL-2.0-or-later */
/* where - what the rows of the view Where are made from, in each of its forms. */
#ifndef KVMTOP_CORE_VIEWS_WHERE_H
#define KVMTOP_CORE_VIEWS_WHERE_H

#include "core/views/query.h"
#include "core/views/view.h"

/* The numbers of a function, or of a node of the tree. */
struct where_sum {
	int64_t self_ns, ns;
	uint64_t samples;
	uint64_t exits; /* that the guest's code made, */
	uint64_t kernel, user; /* and in the tree: its kernel's, and its user mode's */
	uint32_t latest; /* the node whose stack was added last, plus 1 */
	bool is_linked;	 /* in the tree: to its caller */
	uint32_t depth;	 /* in the tree: of the rows of its calls; 0: it has no row */
};

/* What the rows are made from. */
struct where_building {
	struct view *view;
	const struct query *query;
	const struct facts *facts;
	const struct stacks *stacks;
	struct where_sum *nodes; /* by number */
	struct where_sum *functions;
	bool *selects; /* by node: whether it is selected, of any vCPU */
	int64_t whole_ns;
	int64_t off_ns, guest_ns; /* what is no code, and in no row */
	bool has_samples; /* a history has the time alone */
	int64_t least_ns; /* in the tree: calls with less have no row */
};

/* But for the time in the function itself. */
void where_sum_add(struct where_sum *sum, const struct where_sum *more);

/* A row with the sum; without a side, or of a function. */
struct view_row *where_add_row(const struct where_building *building, const struct where_sum *sum,
			       struct cell name);
struct view_row *where_add_function(const struct where_building *building,
				    const struct where_sum *sum, uint32_t function);

/*
 * where_tree.c: the tree of calls: guest, vCPU, exit, argument, functions. selected: positions of
 * stacks in the stats. The sums of nodes are empty afterwards. False: not all rows are there, as
 * there are more than query.most_rows, with none left out.
 */
bool where_build_tree(struct where_building *building, const uint32_t *selected, size_t nr);

#endif
