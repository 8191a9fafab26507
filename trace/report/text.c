// SPDX-License-Identifier: GPL-2.0-or-later
/* A report as text for people, and as CSV. */
#include <inttypes.h>
#include <string.h>

#include "trace/report/report.h"

#define NS_PER_US 1000

static const char *heading(const struct report *report, enum report_column column)
{
	static const char *const names[] = {
		[EXITS_VMEXIT] = "Exit reason",
		[EXITS_USERSPACE] = "Exit to user space",
		[EXITS_IOPORT] = "Port",
		[EXITS_MMIO] = "Address",
		[EXITS_MSR] = "MSR",
		[EXITS_CPUID] = "CPUID leaf",
		[EXITS_HYPERCALL] = "Hypercall",
		[EXITS_SYSREG] = "System register",
	};

	return column == COLUMN_NAME ? names[report->event] : report_columns[column].heading;
}

static int name_width(const struct report *report)
{
	size_t width = strlen(heading(report, COLUMN_NAME));

	for (size_t i = 0; i < report->nr_rows; i++) {
		size_t len = strlen(report->rows[i].name);

		width = len > width ? len : width;
	}
	return (int)width;
}

static int width_of(const struct report *report, enum report_column column)
{
	return column == COLUMN_NAME ? name_width(report) : report_columns[column].width;
}

static void print_value(const struct report *report, enum report_column column,
			const struct value *value, FILE *out)
{
	int width = width_of(report, column);

	if (value->is_absent) {
		fprintf(out, "%*s", report_columns[column].as == AS_TEXT ? -width : width, "-");
		return;
	}
	switch (report_columns[column].as) {
	case AS_TEXT:
		fprintf(out, "%-*s", width, value->text);
		break;
	case AS_ID:
	case AS_COUNT:
		fprintf(out, "%*" PRIu64, width, value->number);
		break;
	case AS_RATE:
		fprintf(out, "%*.1f", width, value->real);
		break;
	case AS_PERCENT:
		fprintf(out, "%*.2f", width, value->real);
		break;
	case AS_TIME:
		if (report->ns_per_unit > 0)
			fprintf(out, "%*.2f", width, value->real / NS_PER_US);
		else
			fprintf(out, "%*.0f", width, value->real);
		break;
	}
}

/* Left out first where the terminal is narrow. */
static const enum report_column dispensable[] = {
	COLUMN_STDDEV, COLUMN_P50,   COLUMN_MIN, COLUMN_TIME_SHARE,
	COLUMN_SHARE,  COLUMN_TOTAL, COLUMN_P99, COLUMN_RATE,
	COLUMN_TID,
};

static int width_of_all(const struct report *report, unsigned int columns)
{
	int width = -1;

	for (enum report_column column = 0; column < NR_COLUMNS; column++) {
		if (columns & 1U << column)
			width += 1 + width_of(report, column);
	}
	return width;
}

/* A bit for each column that is shown within so many characters; 0: any number of them. */
static unsigned int choose_columns(const struct report *report, int room)
{
	unsigned int columns = 0;

	for (enum report_column column = 0; column < NR_COLUMNS; column++)
		columns |= (unsigned int)report_has_column(report, column) << column;
	for (size_t i = 0; i < sizeof(dispensable) / sizeof(dispensable[0]); i++) {
		if (room > 0 && width_of_all(report, columns) > room)
			columns &= ~(1U << dispensable[i]);
	}
	return columns;
}

static void print_row(const struct report *report, const struct report_row *row,
		      unsigned int columns, FILE *out)
{
	bool is_first = true;

	for (enum report_column column = 0; column < NR_COLUMNS; column++) {
		struct value value;

		if (!(columns & 1U << column))
			continue;
		value = report_value(report, row, column);
		if (!is_first)
			fputc(' ', out);
		is_first = false;
		print_value(report, column, &value, out);
	}
	fputc('\n', out);
}

static void print_headings(const struct report *report, unsigned int columns, FILE *out)
{
	bool is_first = true;

	for (enum report_column column = 0; column < NR_COLUMNS; column++) {
		int width = width_of(report, column);

		if (!(columns & 1U << column))
			continue;
		if (!is_first)
			fputc(' ', out);
		is_first = false;
		fprintf(out, "%*s", report_columns[column].as == AS_TEXT ? -width : width,
			heading(report, column));
	}
	fputc('\n', out);
}

/* "a.dat: trace.dat, x86_64, Linux 6.1" of each file. */
static void print_files(const struct report *report, FILE *out)
{
	const struct trace_info *info;

	for (size_t i = 0; (info = trace_file(report->pairing->trace, i)); i++) {
		fprintf(out, "%s: %s", info->path, trace_kind_name(info->kind));
		if (info->instance[0])
			fprintf(out, ", buffer %s", info->instance);
		if (info->arch[0] && info->kind != TRACE_ACRN)
			fprintf(out, ", %s", info->arch);
		if (info->release[0])
			fprintf(out, ", Linux %s", info->release);
		if (info->clock_name[0])
			fprintf(out, ", clock %s", info->clock_name);
		fputc('\n', out);
	}
}

static void print_wall(const struct report *report, FILE *out)
{
	if (report->ns_per_unit > 0)
		fprintf(out, "%.6f s", (double)report->wall * report->ns_per_unit / 1e9);
	else
		fprintf(out, "%" PRIu64 " cycles", report->wall);
	fprintf(out, ", %" PRIu64 " events, %u vCPU%s", report->pairing->nr_events,
		report->total.nr_vcpus, report->total.nr_vcpus == 1 ? "" : "s");
	if (report->nr_guests)
		fprintf(out, " of %zu guest%s", report->nr_guests,
			report->nr_guests == 1 ? "" : "s");
	if (report->has_time)
		fprintf(out, "; times in %s", report->ns_per_unit > 0 ? "us" : "cycles");
	fputs("\n\n", out);
}

static void print_total(const struct report *report, FILE *out)
{
	const struct report_row *total = &report->total;
	struct value busy = report_value(report, total, COLUMN_WALL_SHARE);
	struct value idle = report_value(report, total, COLUMN_IDLE_SHARE);
	struct value rate = report_value(report, total, COLUMN_RATE);
	double all = (double)report->wall * total->nr_vcpus;

	fprintf(out, "\n%" PRIu64 " in all", total->count);
	if (!rate.is_absent)
		fprintf(out, ", %.1f/s", rate.real);
	if (report->has_time && report->ns_per_unit > 0)
		fprintf(out, ", %.2f us", (double)total->took.total * report->ns_per_unit /
						  NS_PER_US);
	else if (report->has_time)
		fprintf(out, ", %" PRIu64 " cycles", total->took.total);
	if (!busy.is_absent && all > 0)
		fprintf(out, ": %.2f%% of the vCPUs' time",
			100 * (double)(total->took.total - total->idle) / all);
	if (!idle.is_absent && all > 0)
		fprintf(out, ", and idle %.2f%%", idle.real);
	fputc('\n', out);
}

static void print_losses(const struct report *report, FILE *out)
{
	const struct pairing *pairing = report->pairing;
	double unit = report->ns_per_unit > 0 ? report->ns_per_unit / 1e9 : 1;

	if (pairing->nr_losses == 0)
		return;
	fprintf(out, "Lost: %s%" PRIu64 " events in %zu place%s:\n",
		pairing->has_unknown_loss ? "more than " : "", pairing->nr_lost_events,
		pairing->nr_losses,
		pairing->nr_losses == 1 ? "" : "s");
	for (size_t i = 0; i < pairing->nr_losses && i < PAIRING_LOSSES; i++) {
		const struct recorded_loss *lost = &pairing->losses[i];

		fprintf(out, "  before %.*f", report->ns_per_unit > 0 ? 6 : 0,
			(double)lost->time * unit);
		if (lost->cpu >= 0)
			fprintf(out, " on CPU %d", lost->cpu);
		if (lost->lost > 0)
			fprintf(out, ": %" PRId64 "\n", lost->lost);
		else
			fputs(": nobody knows how many\n", out);
	}
	if (pairing->nr_losses > PAIRING_LOSSES)
		fprintf(out, "  and %zu more\n", pairing->nr_losses - PAIRING_LOSSES);
}

static void print_notes(const struct report *report, FILE *out)
{
	uint64_t open = report->has_time ? report->nr_open : 0;

	if (open)
		fprintf(out, "%" PRIu64 " more %s no end in the recording and %s not counted.\n",
			open, open == 1 ? "has" : "have", open == 1 ? "is" : "are");
	if (!report->has_time && report->total.count)
		fputs("The recording has no events of entering the guest: no durations.\n", out);
	print_losses(report, out);
}

/* What would give something. */
static void print_nothing(const struct report *report, FILE *out)
{
	if (report->pairing->table.nr_counts[report->event])
		fputs("Nothing is of the processes, threads and vCPUs that were chosen; --by tid "
		      "shows which there are.\n", out);
	else if (report->event == EXITS_VMEXIT && !report->pairing->has_exits[EXITS_VMEXIT])
		fputs("The recording has no VM exits (kvm_exit); --event userspace shows those "
		      "that reached user space.\n", out);
	else
		fputs("Nothing of this kind is in the recording.\n", out);
}

void report_text(const struct report *report, int room, FILE *out)
{
	unsigned int columns = choose_columns(report, room);

	print_files(report, out);
	print_wall(report, out);
	if (report->nr_rows == 0) {
		print_nothing(report, out);
		print_notes(report, out);
		return;
	}
	print_headings(report, columns, out);
	for (size_t i = 0; i < report->nr_rows; i++)
		print_row(report, &report->rows[i], columns, out);
	print_total(report, out);
	print_notes(report, out);
}

/* ---- CSV */

/* RFC 4180: quoted where it must be. */
static void csv_text(const char *text, FILE *out)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static void csv_value(enum report_column column, const struct value *value, FILE *out)
{
	if (value->is_absent)
		return;
	switch (report_columns[column].as) {
	case AS_TEXT:
		csv_text(value->text, out);
		break;
	case AS_ID:
	case AS_COUNT:
		fprintf(out, "%" PRIu64, value->number);
		break;
	case AS_RATE:
	case AS_PERCENT:
		fprintf(out, "%.3f", value->real);
		break;
	case AS_TIME:
		fprintf(out, "%.0f", value->real);
		break;
	}
}

void report_csv(const struct report *report, FILE *out)
{
	const char *comma = "";

	for (enum report_column column = 0; column < NR_COLUMNS; column++) {
		if (!report_has_column(report, column))
			continue;
		fprintf(out, "%s%s", comma, report_columns[column].id);
		if (report_columns[column].as == AS_TIME)
			fprintf(out, "_%s", report_unit(report));
		comma = ",";
	}
	fputc('\n', out);
	for (size_t i = 0; i < report->nr_rows; i++) {
		comma = "";
		for (enum report_column column = 0; column < NR_COLUMNS; column++) {
			struct value value;

			if (!report_has_column(report, column))
				continue;
			value = report_value(report, &report->rows[i], column);
			fputs(comma, out);
			csv_value(column, &value, out);
			comma = ",";
		}
		fputc('\n', out);
	}
}
