// SPDX-License-Identifier: GPL-2.0-or-later
/* Two recordings side by side. What is compared is per second: they need not be of one length. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "trace/report/report.h"

#define LABEL_SIZE 160
#define LABEL_WIDTH 24
#define NS_PER_US 1000

/* A row of both recordings, or of one. */
struct pair {
	const struct view_row *rows[2];
	double change;
};

static const struct cell *cell_of(const struct view_row *row, const char *id)
{
	return &row->cells[view_column_by_id(view_type_of(ROWS_TOTALS), id)];
}

/* ---- which rows belong together */

static const char *guest_of(const struct view_row *row)
{
	const struct cell *guest = cell_of(row, "guest");

	return guest->type == CELL_TEXT ? guest->text : "";
}

/* Guests of one name in one recording: their processes tell them apart. */
static bool is_ambiguous(const struct view *view, const struct view_row *row)
{
	for (size_t i = 0; i < view->nr_rows; i++) {
		const struct view_row *other = &view->rows[i];

		if (other->guest != row->guest && strcmp(guest_of(other), guest_of(row)) == 0)
			return true;
	}
	return false;
}

static void add_number(char *buf, const char *before, const struct cell *cell, const char *behind)
{
	size_t len = strlen(buf);

	if (cell->type == CELL_COUNT)
		snprintf(buf + len, LABEL_SIZE - len, "%s%" PRIu64 "%s", before, cell->count,
			 behind);
}

static const char *label(const struct view *view, const struct view_row *row, char *buf)
{
	const struct cell *reason = cell_of(row, "reason");

	if (reason->type == CELL_TEXT)
		return reason->text;
	snprintf(buf, LABEL_SIZE, "%.100s", guest_of(row));
	if (is_ambiguous(view, row))
		add_number(buf, " (", cell_of(row, "pid"), ")");
	add_number(buf, " vCPU ", cell_of(row, "vcpu"), "");
	return buf;
}

static const struct view_row *find(const struct view *view, const struct view *of,
				   const struct view_row *wanted)
{
	char one[LABEL_SIZE], other[LABEL_SIZE];

	for (size_t i = 0; i < view->nr_rows; i++) {
		if (strcmp(label(view, &view->rows[i], one), label(of, wanted, other)) == 0)
			return &view->rows[i];
	}
	return NULL;
}

/* What a second of the recording had of it: of time, or where exits have none, of exits. */
static double weight(const struct report_side *side, const struct view_row *row)
{
	double span = side->span ? (double)side->span : 1;

	if (!row)
		return 0;
	return (side->has_time ? (double)cell_of(row, "time_ns")->ns :
				 (double)cell_of(row, "total")->count) / span;
}

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *one = a, *other = b;
	double x = fabs(one->change), y = fabs(other->change);

	return (x < y) - (x > y);
}

static size_t fill(const struct report_side sides[2], struct pair *pairs)
{
	const struct view *one = sides[0].view, *other = sides[1].view;
	size_t nr = 0;

	for (size_t i = 0; i < one->nr_rows; i++)
		pairs[nr++].rows[0] = &one->rows[i];
	for (size_t i = 0; i < nr; i++)
		pairs[i].rows[1] = find(other, one, pairs[i].rows[0]);
	for (size_t i = 0; i < other->nr_rows; i++) {
		if (!find(one, other, &other->rows[i]))
			pairs[nr++].rows[1] = &other->rows[i];
	}
	for (size_t i = 0; i < nr; i++)
		pairs[i].change = weight(&sides[1], pairs[i].rows[1]) -
				  weight(&sides[0], pairs[i].rows[0]);
	qsort(pairs, nr, sizeof(*pairs), compare_pairs);
	return nr;
}

/* ---- what is printed */

static const char *const compared[] = { "rate", "avg_ns", "p99_ns", "time_percent" };

/* Durations in us, or in cycles. False: there is none. */
static bool number_of(const struct report_side *side, const struct view_row *row, const char *id,
		      double *ret_number)
{
	const struct cell *cell = row ? cell_of(row, id) : &(struct cell){ .type = CELL_NONE };

	switch (cell->type) {
	case CELL_RATE:
	case CELL_PERCENT:
		*ret_number = cell->number;
		return true;
	case CELL_NS:
		*ret_number = (double)cell->ns / (side->is_cycles ? 1 : NS_PER_US);
		return true;
	default:
		return false;
	}
}

/* Both sides, and by how many per cent the second is more. */
static void print_column(const struct report_side sides[2], const struct pair *pair,
			 const char *id, FILE *out)
{
	double numbers[2] = { 0, 0 };
	bool has[2];

	for (int i = 0; i < 2; i++) {
		has[i] = number_of(&sides[i], pair->rows[i], id, &numbers[i]);
		if (has[i])
			fprintf(out, " %11.2f", numbers[i]);
		else
			fprintf(out, " %11s", "-");
	}
	if (!has[0] || !has[1] || !(numbers[0] > 0))
		fprintf(out, " %8s", "-");
	else
		fprintf(out, " %+7.1f%%", 100 * (numbers[1] - numbers[0]) / numbers[0]);
}

static const char *title_of(const char *id)
{
	const struct view_type *type = view_type_of(ROWS_TOTALS);

	return type->columns[view_column_by_id(type, id)].title;
}

static void print_head(const struct report_side sides[2], FILE *out)
{
	bool is_by_reason = view_has_column(sides[0].view, (size_t)view_column_by_id(
						view_type_of(ROWS_TOTALS), "reason"));

	fprintf(out, "1: %s\n2: %s\n", sides[0].path, sides[1].path);
	if (sides[0].has_time || sides[1].has_time)
		fprintf(out, "times in %s\n", sides[0].is_cycles ? "cycles" : "us");
	fprintf(out, "\n%-*s", LABEL_WIDTH, title_of(is_by_reason ? "reason" : "guest"));
	for (size_t i = 0; i < ARRAY_SIZE(compared); i++) {
		const char *title = title_of(compared[i]);

		fprintf(out, " %9s 1 %9s 2 %8s", title, title, "change");
	}
	fputc('\n', out);
}

static int check_units(const struct report_side sides[2], struct why *why)
{
	if (!sides[0].has_time || !sides[1].has_time || sides[0].is_cycles == sides[1].is_cycles)
		return 0;
	return why_set(why, -EINVAL,
		       "%s: times are in TSC cycles: give the TSC's frequency with -f MHZ",
		       sides[sides[0].is_cycles ? 0 : 1].path);
}

/* What the numbers of a side lack. */
static void print_lacks(const struct report_side *side, int nr, FILE *out)
{
	const struct pairing *pairing = side->pairing;
	uint64_t open = side->nr_unfinished;

	if (pairing->nr_losses)
		fprintf(out, "%d: %s%" PRIu64 " events were lost in %zu place%s.\n", nr,
			pairing->has_unknown_loss ? "more than " : "", pairing->nr_lost_events,
			pairing->nr_losses, pairing->nr_losses == 1 ? "" : "s");
	if (open)
		fprintf(out,
			"%d: %" PRIu64 " more %s no end in the recording and %s not counted.\n",
			nr, open, open == 1 ? "has" : "have", open == 1 ? "is" : "are");
}

int report_diff(const struct report_side sides[2], FILE *out, struct why *why)
{
	size_t most = sides[0].view->nr_rows + sides[1].view->nr_rows, nr;
	struct pair *pairs = calloc(most + 1, sizeof(*pairs));
	int err = pairs ? check_units(sides, why) : -ENOMEM;

	if (err) {
		free(pairs);
		return err;
	}
	nr = fill(sides, pairs);
	print_head(sides, out);
	for (size_t i = 0; i < nr; i++) {
		int from = pairs[i].rows[0] ? 0 : 1;
		char buf[LABEL_SIZE];

		fprintf(out, "%-*s", LABEL_WIDTH,
			label(sides[from].view, pairs[i].rows[from], buf));
		for (size_t j = 0; j < ARRAY_SIZE(compared); j++)
			print_column(sides, &pairs[i], compared[j], out);
		fputc('\n', out);
	}
	if (sides[0].nr_unfinished || sides[1].nr_unfinished || sides[0].pairing->nr_losses ||
	    sides[1].pairing->nr_losses)
		fputc('\n', out);
	print_lacks(&sides[0], 1, out);
	print_lacks(&sides[1], 2, out);
	free(pairs);
	return 0;
}
