// SPDX-License-Identifier: GPL-2.0-or-later
/* Two recordings side by side. What is compared is per second: they need not be of one length. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/report/report.h"

/* A reason in both recordings, or in one. */
struct pair {
	const struct report_row *rows[2];
	double change;
};

/* Guests of one name in one recording: their processes tell them apart. */
static bool is_ambiguous(const struct report *report, const struct report_row *row)
{
	for (size_t i = 0; i < report->nr_rows; i++) {
		const struct report_row *other = &report->rows[i];

		if (other->pid != row->pid && strcmp(other->guest, row->guest) == 0)
			return true;
	}
	return false;
}

static const char *label(const struct report *report, const struct report_row *row, char *buf,
			 size_t size)
{
	if (report->by == BY_REASON)
		return row->name;
	snprintf(buf, size, "%s", row->guest[0] ? row->guest : "guest");
	if (row->pid >= 0 && is_ambiguous(report, row))
		snprintf(buf + strlen(buf), size - strlen(buf), " (%d)", row->pid);
	if (row->vcpu >= 0)
		snprintf(buf + strlen(buf), size - strlen(buf), " vCPU %d", row->vcpu);
	if (row->tid >= 0)
		snprintf(buf + strlen(buf), size - strlen(buf), " %d", row->tid);
	return buf;
}

static const struct report_row *find(const struct report *report, const struct report *of,
				     const struct report_row *wanted)
{
	char one[ROW_NAME_SIZE], other[ROW_NAME_SIZE];

	for (size_t i = 0; i < report->nr_rows; i++) {
		if (strcmp(label(report, &report->rows[i], one, sizeof(one)),
			   label(of, wanted, other, sizeof(other))) == 0)
			return &report->rows[i];
	}
	return NULL;
}

/* A number of a side; absent if the row or the value is. */
static struct value side(const struct report *report, const struct report_row *row,
			 enum report_column column)
{
	if (!row)
		return (struct value){ .is_absent = true };
	return report_value(report, row, column);
}

/* What a second of the recording had of it: of handling time, or where there is none of exits. */
static double weight(const struct report *report, const struct report_row *row)
{
	double wall = report->wall ? (double)report->wall : 1;

	if (!row)
		return 0;
	return (report->has_time ? (double)row->took.total : (double)row->count) / wall;
}

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *one = a, *other = b;
	double x = fabs(one->change), y = fabs(other->change);

	return (x < y) - (x > y);
}

static size_t fill(const struct report *one, const struct report *other, struct pair *pairs)
{
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
		pairs[i].change = weight(other, pairs[i].rows[1]) - weight(one, pairs[i].rows[0]);
	qsort(pairs, nr, sizeof(*pairs), compare_pairs);
	return nr;
}

static void print_number(const struct value *value, double scale, int digits, FILE *out)
{
	if (value->is_absent)
		fprintf(out, " %11s", "-");
	else
		fprintf(out, " %11.*f", digits, value->real / scale);
}

/* Both sides, and by how many per cent the second is more. */
static void print_column(const struct report *reports[2], const struct pair *pair,
			 enum report_column column, FILE *out)
{
	bool is_time = report_columns[column].as == AS_TIME;
	struct value values[2];

	for (int i = 0; i < 2; i++) {
		bool is_us = is_time && reports[i]->ns_per_unit > 0;

		values[i] = side(reports[i], pair->rows[i], column);
		print_number(&values[i], is_us ? 1000 : 1, is_time && !is_us ? 0 : 2, out);
	}
	if (values[0].is_absent || values[1].is_absent || !(values[0].real > 0))
		fprintf(out, " %8s", "-");
	else
		fprintf(out, " %+7.1f%%", 100 * (values[1].real - values[0].real) / values[0].real);
}

static const enum report_column compared[] = { COLUMN_RATE, COLUMN_AVG, COLUMN_P99,
					       COLUMN_WALL_SHARE };

#define NR_COMPARED (sizeof(compared) / sizeof(compared[0]))

static void print_head(const struct report *one, const struct report *other, int width, FILE *out)
{
	fprintf(out, "1: %s\n2: %s\n", trace_file(one->pairing->trace, 0)->path,
		trace_file(other->pairing->trace, 0)->path);
	if (one->has_time || other->has_time)
		fprintf(out, "times in %s\n", one->ns_per_unit > 0 ? "us" : "cycles");
	fprintf(out, "\n%-*s", width,
		one->by == BY_REASON ? "Exit reason" : report_columns[COLUMN_GUEST].heading);
	for (size_t i = 0; i < NR_COMPARED; i++) {
		const char *heading = report_columns[compared[i]].heading;

		fprintf(out, " %9s 1 %9s 2 %8s", heading, heading, "change");
	}
	fputc('\n', out);
}

static int check_units(const struct report *one, const struct report *other, struct why *why)
{
	const struct report *cycles = one->ns_per_unit > 0 ? other : one;

	if (!one->has_time || !other->has_time ||
	    (one->ns_per_unit > 0) == (other->ns_per_unit > 0))
		return 0;
	return why_set(why, -EINVAL, "%s: its times are TSCs: how fast is that? -f MHZ",
		       trace_file(cycles->pairing->trace, 0)->path);
}

/* What the numbers of a side lack. */
static void print_lacks(const struct report *report, int side_nr, FILE *out)
{
	const struct pairing *pairing = report->pairing;

	if (pairing->nr_losses)
		fprintf(out, "%d: %s%" PRIu64 " events were lost in %zu place%s.\n", side_nr,
			pairing->has_unknown_loss ? "more than " : "", pairing->nr_lost_events,
			pairing->nr_losses, pairing->nr_losses == 1 ? "" : "s");
	if (report->has_time && report->nr_open)
		fprintf(out,
			"%d: %" PRIu64 " more %s no end in the recording and %s not counted.\n",
			side_nr, report->nr_open, report->nr_open == 1 ? "has" : "have",
			report->nr_open == 1 ? "is" : "are");
}

int report_diff(const struct report *one, const struct report *other, FILE *out, struct why *why)
{
	struct pair *pairs = calloc(one->nr_rows + other->nr_rows + 1, sizeof(*pairs));
	const struct report *reports[2] = { one, other };
	char buf[ROW_NAME_SIZE];
	int width = 24;
	size_t nr;
	int err = pairs ? check_units(one, other, why) : -ENOMEM;

	if (err) {
		free(pairs);
		return err;
	}
	nr = fill(one, other, pairs);
	print_head(one, other, width, out);
	for (size_t i = 0; i < nr; i++) {
		int from = pairs[i].rows[0] ? 0 : 1;

		fprintf(out, "%-*s", width,
			label(reports[from], pairs[i].rows[from], buf, sizeof(buf)));
		for (size_t j = 0; j < NR_COMPARED; j++)
			print_column(reports, &pairs[i], compared[j], out);
		fputc('\n', out);
	}
	if (one->nr_open || other->nr_open || one->pairing->nr_losses || other->pairing->nr_losses)
		fputc('\n', out);
	print_lacks(one, 1, out);
	print_lacks(other, 2, out);
	free(pairs);
	return 0;
}
