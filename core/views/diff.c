// SPDX-License-Identifier: GPL-2.0-or-later
/* A view of two others. What is compared is per second: they need not be of one length. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/xalloc.h"
#include "core/views/view.h"

/* From FIRST on, for each number: its value in the other view, in this one, and the change. */
enum { REASON, GUEST, FIRST = 3 };
enum { OTHER, THIS, CHANGE, PARTS };

/* The columns that are compared; the total becomes a rate. */
static const enum column_id compared[] = { COL_TOTAL, COL_AVERAGE, COL_P99, COL_TIME_SHARE };

enum { ENDED = FIRST + PARTS * ARRAY_SIZE(compared) };

static const struct column columns[] = {
	{ COL_REASON, .width = 24, .least = 12, .is_key = true,
	  .help = "why the vCPU left the guest, or what was accessed" },
	{ COL_GUEST, .width = 16, .least = 8, .is_key = true, .help = "its name" },
	{ COL_VCPU, .is_key = true },
	{ .id = COL_OTHER_RATE },
	{ COL_RATE, .title = "Count/s 2", .help = "exits per second in the second" },
	{ COL_RATE_CHANGE, .rank = 2 },
	{ COL_OTHER_AVERAGE, .rank = 3 },
	{ COL_AVERAGE, .rank = 3, .title = "Avg 2", .help = "how long one took in the second" },
	{ COL_AVERAGE_CHANGE, .rank = 3 },
	{ COL_OTHER_P99, .rank = 4 },
	{ COL_P99, .rank = 4, .title = "p99 2", .help = "99 % took no longer, in the second" },
	{ COL_P99_CHANGE, .rank = 4 },
	{ .id = COL_OTHER_TIME_SHARE },
	{ COL_TIME_SHARE, .title = "Time% 2", .help = "share of the vCPUs' time in the second" },
	{ COL_TIME_CHANGE, .rank = 1 },
	{ COL_ENDED, .help = "1: it has ended", .is_for_machines = true, .is_marked = true,
	  .is_of_live = true },
	{ .id = COL_NONE },
};
VIEW_TABLE_FITS(columns);

const struct view_type view_difference = {
	.name = "diff",
	.title = "Difference",
	.noun = "exit",
	.columns = columns,
	.is_timed = true,
};

/* A row of both views, or of one. */
struct pair {
	const struct view_row *rows[2];
	double change;
};

static const struct cell *cell_of(const struct view_row *row, enum column_id id)
{
	return &row->cells[view_column(&view_exits, id)];
}

static bool has_times(const struct view_side *side)
{
	return cell_of(&side->view->total, COL_TIME)->type == CELL_NS;
}

/* ---- which rows belong together */

static const enum column_id keys[] = { COL_REASON, COL_GUEST, COL_VCPU };

static int compare_keys(const void *a, const void *b)
{
	const struct view_row *one = *(const struct view_row *const *)a;
	const struct view_row *other = *(const struct view_row *const *)b;
	int order = 0;

	for (size_t i = 0; i < ARRAY_SIZE(keys) && !order; i++)
		order = cell_compare(cell_of(one, keys[i]), cell_of(other, keys[i]));
	return order;
}

/* The rows in the order of their keys; to be freed. */
static const struct view_row **sort_rows(const struct view *view)
{
	const struct view_row **rows = xcalloc(view->nr_rows + 1, sizeof(struct view_row *));

	for (size_t i = 0; i < view->nr_rows; i++)
		rows[i] = &view->rows[i];
	qsort(rows, view->nr_rows, sizeof(struct view_row *), compare_keys);
	return rows;
}

static const struct view_row *find(const struct view_row **rows, size_t nr,
				   const struct view_row *wanted)
{
	const struct view_row **found = bsearch(&wanted, rows, nr, sizeof(struct view_row *),
						compare_keys);

	return found ? *found : NULL;
}

/* How much a row had in a second: time, or exits where these have no times. */
static double weight(const struct view_side *side, const struct view_row *row)
{
	double span = side->span ? (double)side->span : 1;

	if (!row)
		return 0;
	return (has_times(side) ? (double)cell_of(row, COL_TIME)->ns :
				 (double)cell_of(row, COL_TOTAL)->count) / span;
}

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *one = a, *other = b;
	double x = fabs(one->change), y = fabs(other->change);

	return (x < y) - (x > y);
}

static void fill(const struct view_side sides[2], struct pair *pairs, size_t *ret_nr)
{
	const struct view *one = sides[OTHER].view, *other = sides[THIS].view;
	const struct view_row **of_one = sort_rows(one), **of_other = sort_rows(other);
	size_t nr = 0;

	for (size_t i = 0; i < one->nr_rows; i++)
		pairs[nr++] = (struct pair){ { &one->rows[i], find(of_other, other->nr_rows,
								   &one->rows[i]) }, 0 };
	for (size_t i = 0; i < other->nr_rows; i++) {
		if (!find(of_one, one->nr_rows, &other->rows[i]))
			pairs[nr++] = (struct pair){ { NULL, &other->rows[i] }, 0 };
	}
	for (size_t i = 0; i < nr; i++)
		pairs[i].change = weight(&sides[THIS], pairs[i].rows[THIS]) -
				  weight(&sides[OTHER], pairs[i].rows[OTHER]);
	qsort(pairs, nr, sizeof(*pairs), compare_pairs);
	free(of_one);
	free(of_other);
	*ret_nr = nr;
}

/* ---- the view */

static double number_of(const struct cell *cell)
{
	switch (cell->type) {
	case CELL_RATE:
	case CELL_PERCENT:
		return cell->number;
	case CELL_NS:
		return (double)cell->ns;
	default:
		return 0;
	}
}

/* By how many per cent the second is more. */
static struct cell change(const struct cell *one, const struct cell *other)
{
	double from = number_of(one), to = number_of(other);

	if (one->type != other->type || !(from > 0))
		return cell_none();
	return (struct cell){ .type = CELL_PERCENT, .number = 100 * (to - from) / from };
}

/* Not the view's own rate: a view may be of many samples, and its rate is of the last interval. */
static struct cell number_in(const struct view_side *side, const struct view_row *row,
			     enum column_id id)
{
	const struct cell *cell = cell_of(row, id);

	if (cell->type != CELL_COUNT)
		return *cell;
	if (side->unit == UNIT_CYCLES || !side->span)
		return cell_none();
	return (struct cell){ .type = CELL_RATE,
			      .number = (double)cell->count * 1e9 / (double)side->span };
}

static void fill_row(struct view_row *row, const struct view_side sides[2],
		     const struct pair *pair)
{
	/* The second span is the later one: what has ended in it has ended. */
	const struct view_row *any = pair->rows[pair->rows[THIS] ? THIS : OTHER];

	row->is_idle = any->is_idle;
	if (cell_of(any, COL_GUEST)->has_ended)
		row->cells[ENDED] = cell_count(1);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		row->cells[i] = *cell_of(any, keys[i]);
	for (size_t i = 0; i < ARRAY_SIZE(compared); i++) {
		struct cell *cells = &row->cells[FIRST + PARTS * i];

		for (int side = OTHER; side <= THIS; side++) {
			if (pair->rows[side])
				cells[side] = number_in(&sides[side], pair->rows[side],
							compared[i]);
		}
		cells[CHANGE] = change(&cells[OTHER], &cells[THIS]);
	}
}

static uint64_t absent_columns(const struct view *view)
{
	uint64_t absent = 0;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		int column = view_column(&view_exits, keys[i]);

		if (!view_has_column(view, (size_t)column))
			absent |= UINT64_C(1) << i;
	}
	return absent;
}

static int check_units(const struct view_side sides[2], struct error *error)
{
	if (!has_times(&sides[0]) || !has_times(&sides[1]) ||
	    sides[0].unit == sides[1].unit)
		return 0;
	return error_set(error, -EINVAL,
			 "%s: times are in TSC cycles: give the TSC's frequency with "
			 "--frequency 2.4GHz",
			 sides[sides[0].unit == UNIT_CYCLES ? 0 : 1].path);
}

int view_diff(const struct view_side sides[2], struct view *ret_view, struct error *error)
{
	size_t most = sides[OTHER].view->nr_rows + sides[THIS].view->nr_rows, nr = 0;
	struct pair *pairs = xcalloc(most + 1, sizeof(*pairs));
	int err = check_units(sides, error);

	*ret_view = (struct view){ .nr_rows = 0 };
	view_begin(ret_view, &view_difference);
	/* The rows are in no column's order: what changed most is first. */
	ret_view->sort = view_columns(&view_difference);
	ret_view->sort = view_columns(&view_difference); /* no column: what changed most is first */
	if (!err)
		fill(sides, pairs, &nr);
	if (!err) {
		ret_view->unit = sides[has_times(&sides[OTHER]) ? OTHER : THIS].unit;
		ret_view->absent = absent_columns(sides[OTHER].view);
		/* Nothing ends in a recording. */
		if ((sides[OTHER].path && sides[OTHER].path[0]) ||
		    ret_view->absent & UINT64_C(1) << GUEST)
			ret_view->absent |= UINT64_C(1) << ENDED;
		ret_view->note = view_remark(sides[OTHER].view);
		if (!ret_view->note)
			ret_view->note = view_remark(sides[THIS].view);
	}
	for (size_t i = 0; i < nr && !err; i++)
		fill_row(view_add(ret_view), sides, &pairs[i]);
	fill_row(&ret_view->total, sides, &(const struct pair){ { &sides[OTHER].view->total,
								  &sides[THIS].view->total }, 0 });
	ret_view->total.cells[REASON] = cell_text("Total");
	free(pairs);
	return err;
}
