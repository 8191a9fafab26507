// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds the rows of a view and sorts them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include "core/views/query.h"
#include "core/views/view.h"

/*
 * How rows are compared. Rows that are equal in the sort column are ordered by view_type.then, by
 * the other counts and rates, from the right (rate before total, as kvm_stat does), and by name, so
 * that rows without change do not move. Shares do not count: two rows may have shares of different
 * wholes.
 */
struct order {
	size_t sort;
	bool is_ascending, is_cost; /* of the sort column */
	size_t numbers[VIEW_COLUMNS], nr_numbers, names[VIEW_COLUMNS], nr_names;
};

static struct order order_of(const struct query *query, size_t by)
{
	const struct column *columns = query->type->columns, *sort = &columns[by];
	struct order order = {
		.sort = by,
		.is_ascending = (column_type(sort) == CELL_TEXT) != query->reverse,
		.is_cost = column_dictionary[sort->id].is_cost,
	};
	size_t nr = view_columns(query->type);

	if (query->type->then)
		order.numbers[order.nr_numbers++] =
			(size_t)view_column(query->type, query->type->then);
	for (size_t i = nr; i-- > 0;) {
		enum cell_type type = column_type(&columns[i]);

		if ((type == CELL_COUNT || type == CELL_RATE) && i != by &&
		    !columns[i].is_key)
			order.numbers[order.nr_numbers++] = i;
	}
	for (size_t i = 0; i < nr; i++) {
		if (i == 0 || columns[i].is_key)
			order.names[order.nr_names++] = i;
	}
	return order;
}

static int compare_equals(const struct view_row *a, const struct view_row *b,
			  const struct order *order)
{
	int by = 0;

	for (size_t i = 0; !by && i < order->nr_numbers; i++)
		by = cell_compare(&b->cells[order->numbers[i]], &a->cells[order->numbers[i]]);
	for (size_t i = 0; !by && i < order->nr_names; i++)
		by = cell_compare(&a->cells[order->names[i]], &b->cells[order->names[i]]);
	return by;
}

/* The length of a halt is no cost, but its share of the time is: that is what was polled. */
static bool is_no_cost(const struct view_row *row, const struct order *order)
{
	return row->is_idle && order->is_cost && row->cells[order->sort].type != CELL_PERCENT;
}

/* Numbers sort from the largest, names from A; what has ended comes last, in any order. */
static int compare_siblings(const struct view_row *a, const struct view_row *b,
			    const struct order *order)
{
	bool ranks_last = is_no_cost(a, order);
	int by;

	if (a->is_rest != b->is_rest)
		return a->is_rest - b->is_rest;
	if (a->is_gone != b->is_gone)
		return a->is_gone - b->is_gone;
	if (ranks_last != is_no_cost(b, order))
		return ranks_last ? 1 : -1;
	by = cell_compare(&a->cells[order->sort], &b->cells[order->sort]);
	if (by)
		return order->is_ascending ? by : -by;
	return compare_equals(a, b, order);
}

static int compare_flat(const void *a, const void *b, void *order)
{
	return compare_siblings(a, b, order);
}

/* Trees of rows, while they are sorted: rows have their numbers until all are in order. */
struct trees {
	const struct view_row *rows;
	const struct order *order;
	size_t *lengths; /* of a row with the rows below it */
	struct view_row *sorted;
	size_t nr_sorted;
};

static int compare_rows(const void *a, const void *b, void *of)
{
	const struct trees *trees = of;

	return compare_siblings(&trees->rows[*(const size_t *)a], &trees->rows[*(const size_t *)b],
				trees->order);
}

/* A row is after the rows below it, here. */
static void set_lengths(struct trees *trees, size_t nr)
{
	for (size_t i = nr; i-- > 0;) {
		size_t end = i + 1;

		while (end < nr && trees->rows[end].depth > trees->rows[i].depth)
			end += trees->lengths[end];
		trees->lengths[i] = end - i;
	}
}

/* Adds siblings in their order, each with the rows below it. list: room for the siblings' rows. */
static void add_siblings(struct trees *trees, size_t first, size_t end, size_t *list)
{
	size_t nr = 0;

	for (size_t i = first; i < end; i += trees->lengths[i])
		list[nr++] = i;
	qsort_r(list, nr, sizeof(*list), compare_rows, trees);
	for (size_t k = 0; k < nr; k++) {
		size_t i = list[k];

		trees->sorted[trees->nr_sorted] = trees->rows[i];
		trees->sorted[trees->nr_sorted++].is_last = k + 1 == nr;
		if (trees->lengths[i] > 1)
			add_siblings(trees, i + 1, i + trees->lengths[i], list + nr);
	}
}

static void view_sort_trees(struct view *view, const struct order *order)
{
	size_t nr = view->nr_rows;
	struct trees trees = {
		.rows = view->rows,
		.order = order,
		.lengths = xcalloc(nr, sizeof(*trees.lengths)),
		.sorted = xcalloc(nr, sizeof(*trees.sorted)),
	};
	size_t *list = xcalloc(nr, sizeof(*list));

	set_lengths(&trees, nr);
	add_siblings(&trees, 0, nr, list);
	free(list);
	free(trees.lengths);
	free(view->rows);
	view->rows = trees.sorted;
	view->room_rows = nr;
}

/* ---- columns without values */

/* Bits of the parts that have fields: of vCPUs' time, of the host's numbers, of KVM's counters. */
struct known {
	bool is_set, has_exits, is_untimed;
	bool has_costs; /* exits have durations, and vCPUs time: there are some, or will be */
	uint32_t times, hosts, events;
};

static struct known known_of(const struct facts *facts)
{
	struct known known = { .is_set = true, .has_exits = fields_have_exits(facts->fields) };

	/* Where kvm_exit never happens, the fields exist but have no times. */
	known.is_untimed = known.has_exits && exits_choose(facts, true, true).rank == 2;
	known.has_costs = facts->source != SOURCE_RECORDING && !known.is_untimed;
	for (uint32_t i = 0; i < fields_count(facts->fields); i++) {
		const struct field *field = fields_get(facts->fields, i);

		if (field->use == USE_TIME)
			known.times |= field->is_abandoned ? 0 : 1U << field->part;
		else if (field->use == USE_HOST)
			known.hosts |= 1U << field->part;
		else if (!field->is_abandoned)
			known.events |= 1U << field_event(field);
	}
	return known;
}

static bool has_value(const struct view *view, size_t column)
{
	size_t i = 0;

	while (i < view->nr_rows && view->rows[i].cells[column].type == CELL_NONE)
		i++;
	return i < view->nr_rows;
}

static bool is_there(const struct view *view, size_t i, const struct facts *facts,
		     struct known *known)
{
	const struct column_entry *entry = &column_dictionary[view->type->columns[i].id];

	if ((entry->needs > NEEDS_VALUE || view->type->is_timed) && !known->is_set)
		*known = known_of(facts);
	if (view->type->is_timed && !known->has_costs &&
	    (entry->is_cost || entry->type == CELL_HIST))
		return has_value(view, i);
	switch (entry->needs) {
	case NEEDS_NOTHING:
		break;
	case NEEDS_VALUE:
		return has_value(view, i);
	case NEEDS_EXITS:
		return known->has_exits;
	case NEEDS_TIMES:
		return known->has_exits && !known->is_untimed;
	case NEEDS_PART:
		return !known->is_untimed && known->times >> entry->part & 1;
	case NEEDS_WAIT:
		return (known->times >> TIME_WAIT | known->hosts >> HOST_WAITED) & 1;
	case NEEDS_HOST:
		return known->hosts >> entry->part & 1;
	case NEEDS_EVENT:
		return known->events >> entry->part & 1;
	}
	return true;
}

/*
 * A recording is one interval and has no history to draw, and nothing ends in it; a live view has
 * no values for the columns that only a recording has.
 */
static void drop_absent(struct view *view, const struct facts *facts)
{
	struct known known = { .is_set = false };

	for (size_t i = 0; view->type->columns[i].id; i++) {
		const struct column *column = &view->type->columns[i];
		bool is_absent = facts->is_span ? column->is_of_live : column->is_of_recording;

		is_absent |= facts->is_span && column_type(column) == CELL_SPARK;
		is_absent |= facts->unit == UNIT_CYCLES && column_type(column) == CELL_RATE;
		if (is_absent || !is_there(view, i, facts, &known))
			view_drop(view, column->id);
	}
}

/* Rates per second are not known where the length of a second is not known. */
static void drop_rates(struct view *view)
{
	for (size_t c = 0; view->type->columns[c].id; c++) {
		if (column_type(&view->type->columns[c]) != CELL_RATE)
			continue;
		for (size_t i = 0; i < view->nr_rows; i++)
			view->rows[i].cells[c] = cell_none();
	}
}

/* ---- the row Total: the sum or the mean of the rows, whatever the view and the filter ---- */

/* A child is a part of its parent. */
static bool is_added(const struct view_row *row)
{
	return !row->depth && !row->is_level;
}

static struct cell sum_of(const struct view *view, size_t column)
{
	struct cell sum = { .type = column_type(&view->type->columns[column]) };
	bool is_known = sum.type == CELL_COUNT; /* no rows: none was counted */

	for (size_t i = 0; i < view->nr_rows; i++) {
		const struct cell *cell = &view->rows[i].cells[column];

		if (!is_added(&view->rows[i]) || cell->type != sum.type)
			continue;
		is_known = true;
		if (sum.type == CELL_COUNT)
			sum.count += cell->count;
		else
			sum.number += cell->number;
	}
	return is_known ? sum : cell_none();
}

/* The wholes that were counted: rows of one guest and vCPU, such as exit reasons, have one. */
struct wholes {
	struct key *list;
	size_t nr, room;
	struct key_index index;
};

/* Whether the whole is a new one. */
static bool add_whole(struct wholes *wholes, const struct view_row *row)
{
	const struct key key = { row->guest, row->vcpu, 0 };
	size_t at = key_index_add(&wholes->index, wholes->list, sizeof(key), wholes->nr, &key);

	if (at < wholes->nr)
		return false;
	array_grow_unset(&wholes->list, &wholes->room, at + 1);
	wholes->list[wholes->nr++] = key;
	return true;
}

static void add_share(const struct view_row *row, size_t column, struct wholes *wholes,
		      double *part, double *whole)
{
	const struct cell *cell = &row->cells[column];
	double of = cell->whole > 0 ? (double)cell->whole : 1;

	if (!is_added(row) || cell->type != CELL_PERCENT)
		return;
	*part += cell->number * of;
	if (row->field == FIELD_NONE || add_whole(wholes, row))
		*whole += of;
}

static struct cell mean_of(const struct view *view, size_t column)
{
	struct wholes wholes = { 0 };
	double part = 0, whole = 0;

	for (size_t i = 0; i < view->nr_rows; i++)
		add_share(&view->rows[i], column, &wholes, &part, &whole);
	free(wholes.list);
	key_index_release(&wholes.index);
	if (!(whole > 0))
		return cell_none();
	return (struct cell){
		.type = CELL_PERCENT, .whole = (float)whole, .number = part / whole,
	};
}

static void add_up(struct view *view)
{
	const struct column *columns = view->type->columns;

	for (size_t i = 0; columns[i].id; i++) {
		enum column_total total = column_total(&columns[i]);

		if (total == TOTAL_NONE)
			continue;
		view->total.cells[0] = cell_text("Total");
		if (!view->has_total)
			view->total.cells[i] = total == TOTAL_SUM ? sum_of(view, i) :
								    mean_of(view, i);
	}
}

/* ---- guests of one name ---- */

static int compare_by_guest(const void *a, const void *b)
{
	const struct view_row *x = *(struct view_row *const *)a, *y = *(struct view_row *const *)b;

	return (x->guest > y->guest) - (x->guest < y->guest);
}

static int compare_by_name(const void *a, const void *b, void *column)
{
	const struct view_row *x = *(struct view_row *const *)a, *y = *(struct view_row *const *)b;
	size_t i = *(const size_t *)column;
	int order = cell_compare(&x->cells[i], &y->cells[i]);

	if (!order)
		order = x->is_gone - y->is_gone;
	return order ? order : compare_by_guest(a, b);
}

/* Whether two rows look alike: one that has ended says so. */
static bool look_alike(const struct view_row *a, const struct view_row *b, size_t column)
{
	return a->is_gone == b->is_gone && !cell_compare(&a->cells[column], &b->cells[column]);
}

/* Marks the rows of guests with the name of another guest. */
static void mark_shared_names(struct view *view)
{
	int found = view_column(view->type, COL_GUEST);
	struct view_row **rows;
	size_t column = (size_t)found;

	if (found < 0)
		return;
	rows = xcalloc(view->nr_rows, sizeof(*rows));
	for (size_t i = 0; i < view->nr_rows; i++)
		rows[i] = &view->rows[i];
	qsort_r(rows, view->nr_rows, sizeof(*rows), compare_by_name, &column);
	for (size_t i = 0, nr; i < view->nr_rows; i += nr) {
		for (nr = 1; i + nr < view->nr_rows; nr++) {
			if (!look_alike(rows[i], rows[i + nr], column))
				break;
		}
		for (size_t j = i; rows[i]->guest != rows[i + nr - 1]->guest && j < i + nr; j++)
			rows[j]->shares_name = rows[j]->cells[column].type == CELL_TEXT;
	}
	free(rows);
}

/* ---- what has ended, as one row ---- */

/* A share has a sum where all rows have shares of the same whole. */
static struct cell sum_of_ended(const struct view_row *rows, size_t nr, size_t column)
{
	struct cell sum = cell_none();

	for (size_t i = 0; i < nr; i++) {
		const struct cell *cell = &rows[i].cells[column];

		if (cell->type == CELL_NONE)
			continue;
		if (sum.type == CELL_NONE)
			sum = (struct cell){ .type = cell->type, .whole = cell->whole };
		else if (cell->whole > sum.whole || cell->whole < sum.whole)
			return cell_none();
		if (cell->type == CELL_COUNT)
			sum.count += cell->count;
		else
			sum.number += cell->number;
	}
	return sum;
}

static void fill_ended(struct view *view, struct view_row *row, const struct view_row *rows,
		       size_t nr)
{
	const struct column *columns = view->type->columns;
	bool has_rest = rows[nr - 1].is_rest; /* the number of all is unknown */

	row->guest = STATS_ENDED;
	row->can_open = row->is_gone = true;
	snprintf(view->ended, sizeof(view->ended), "%s%zu ended", has_rest ? "over " : "",
		 nr - has_rest);
	for (size_t i = 0; columns[i].id; i++) {
		enum column_total total = column_total(&columns[i]);

		if (total == TOTAL_SUM ||
		    (column_type(&columns[i]) == CELL_PERCENT && total != TOTAL_MEAN))
			row->cells[i] = sum_of_ended(rows, nr, i);
	}
	row->cells[0] = cell_text(view->ended);
}

/* The rows that have ended are the last ones. */
static void fold_ended(struct view *view, const struct query *query)
{
	size_t first = view->nr_rows, nr;
	struct view_row row;

	while (first > 0 && view->rows[first - 1].is_gone)
		first--;
	nr = view->nr_rows - first;
	if (nr < 2)
		return;
	row = *view_add(view);
	fill_ended(view, &row, &view->rows[first], nr);
	row.is_open = query->opens_ended;
	if (!row.is_open) {
		view->nr_rows = first + 1;
		view->rows[first] = row;
		return;
	}
	memmove(&view->rows[first + 1], &view->rows[first], nr * sizeof(row));
	view->rows[first] = row;
	for (size_t i = first + 1; i < view->nr_rows; i++)
		view->rows[i].depth = 1;
	view->rows[view->nr_rows - 1].is_last = true;
}

/* What has ended may have rows without a guest that runs. */
static const char *find_lack(const struct view *view, const struct query *query,
			     const struct facts *facts)
{
	const char *lacks = query_lacks(query, facts);

	if (lacks || view->nr_rows || !query->type->by_guest || guests_count(facts->guests))
		return lacks;
	return facts->source == SOURCE_RECORDING ? "The recording has no guest." :
						   "No guest is running.";
}

/* What a history has of a view only if it keeps it. NULL: there is nothing to say. */
static const char *say_kept(struct view *view, const struct query *query,
			    const struct facts *facts)
{
	static const struct {
		const struct view_type *type;
		enum field_use use;
		const char *name;
	} kept[] = {
		{ &view_hotspots, USE_ARGUMENT, "Hot spots were" },
		{ &view_who, USE_WAIT, "Waits were" },
		{ &view_where, USE_CODE, "Code was" },
		{ &view_interrupts, USE_INTERRUPT, "Interrupts were" },
	};
	size_t i = 0;
	uint64_t ns;
	char note[160];

	while (i < ARRAY_SIZE(kept) && kept[i].type != query->type)
		i++;
	if (facts->source != SOURCE_HISTORY || i == ARRAY_SIZE(kept))
		return NULL;
	if (query->type == &view_hotspots && !query_is_counted(query, facts))
		return "Hot spots were not kept: kvmtop -w FILE --keep hotspots keeps them.";
	ns = facts->stats->counted_ns[kept[i].use];
	if (!ns || ns >= view->elapsed_ns)
		return NULL;
	snprintf(note, sizeof(note), "%s kept for %.1f s of these %.1f s. Rates and shares are of "
		 "the whole span.", kept[i].name, (double)ns / 1e9, (double)view->elapsed_ns / 1e9);
	return view_text(view, note);
}

/* Costs are not known everywhere, rates are. */
static size_t find_sort(const struct view *view, const struct query *query)
{
	return !view_has_column(view, query->sort) && view_has(view, COL_RATE) ?
		       (size_t)view_column(view->type, COL_RATE) : query->sort;
}

void view_build(struct view *view, const struct query *query, const struct facts *facts)
{
	struct order order;

	view_begin(view, query->type);
	view->has_total = false;
	view->absent = 0;
	view->unit = facts->unit;
	view->elapsed_ns = query_elapsed_ns(query, facts);
	view->rate_title = view->lead = view->note = NULL;
	view->cost = (struct own_cost){ 0 };
	query->type->build(view, query, facts);
	drop_absent(view, facts);
	if (query->type->finish)
		query->type->finish(view, query, facts);
	if (query->filter && pattern_check(query->filter, &(struct error){ "" }) < 0)
		view->note = "The filter ran into a limit: rows may be missing.";
	if (!view->note)
		view->note = say_kept(view, query, facts);
	view->lacks = find_lack(view, query, facts);
	if (view->lacks) /* the reason; the view's note says less */
		view->note = NULL;
	if (facts->unit == UNIT_CYCLES)
		drop_rates(view);
	view->sort = find_sort(view, query);
	order = order_of(query, view->sort);
	add_up(view);
	if (!view->nr_rows)
		return;
	if (query->marks_shared_names)
		mark_shared_names(view);
	if (query->type->has_calls || (!query->flat && query->type->has_trees)) {
		view_sort_trees(view, &order);
		return;
	}
	qsort_r(view->rows, view->nr_rows, sizeof(*view->rows), compare_flat, &order);
	/* All rows of a guest that has ended have ended, and are what the user wants to see. */
	if (query->folds_ended && !query_is_of_ended(query, facts))
		fold_ended(view, query);
}
