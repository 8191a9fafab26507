// SPDX-License-Identifier: GPL-2.0-or-later
/* The description of a recording that is written with a view, as text. */
#include <inttypes.h>

#include "ui/lines/format.h"
#include "ui/lines/lines.h"
#include "core/views/view.h"

/* "a.dat: trace.dat, x86_64, Linux 6.1" of each file. */
static void print_files(const struct lines_recording *about, FILE *out)
{
	const struct trace_info *info;

	for (size_t i = 0; (info = trace_file(about->trace, i)); i++) {
		if (info->is_left_out)
			continue;
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

static const char *plural(uint64_t nr)
{
	return nr == 1 ? "" : "s";
}

const char *lines_recording_unit(const struct lines_recording *about)
{
	if (trace_clock_info(about->trace)->clock == TRACE_CLOCK_COUNT)
		return "counts";
	return about->unit == UNIT_CYCLES ? "cycles" : "ns";
}

void lines_recording_head(const struct lines_recording *about, FILE *out)
{
	print_files(about, out);
	if (about->unit == UNIT_CYCLES)
		fprintf(out, "%" PRIu64 " %s", about->span, lines_recording_unit(about));
	else
		fprintf(out, "%.6f s", (double)about->span / 1e9);
	fprintf(out, ", %" PRIu64 " event%s, %zu vCPU%s", about->pairing->nr_events,
		plural(about->pairing->nr_events), about->nr_vcpus, plural(about->nr_vcpus));
	if (about->nr_guests)
		fprintf(out, " of %zu guest%s", about->nr_guests, plural(about->nr_guests));
	if (about->pairing->table.others)
		fprintf(out, ", and others: more than %u threads", TABLE_THREADS);
	if (about->unit == UNIT_CYCLES && about->has_time)
		fputs("; times in cycles: give the TSC's frequency with --frequency 2.4GHz", out);
	fputs("\n\n", out);
}

void lines_recording_total(const struct lines_recording *about, const struct view *view, FILE *out)
{
	const struct cell *count = lines_cell(view, &view->total, COL_TOTAL);
	const struct cell *rate = lines_cell(view, &view->total, COL_RATE);
	const struct cell *time = lines_cell(view, &view->total, COL_TIME_SHARE);
	const struct cell *idle = lines_cell(view, &view->total, COL_IDLE_SHARE);
	const struct cell *poll = lines_cell(view, &view->total, COL_POLL_SHARE);
	const struct cell *wait = lines_cell(view, &view->total, COL_WAIT_SHARE);

	if (count->type != CELL_COUNT)
		return;
	fprintf(out, "\n%" PRIu64 " in all", count->count);
	if (rate->type == CELL_RATE && about->unit == UNIT_NS)
		fprintf(out, ", %.1f/s", rate->number);
	if (time->type == CELL_PERCENT)
		fprintf(out, ": %.1f %% of the vCPUs' time", time->number);
	if (time->type == CELL_PERCENT && poll->type == CELL_PERCENT)
		fprintf(out, ", of which KVM polled %.1f", poll->number);
	if (time->type == CELL_PERCENT && wait->type == CELL_PERCENT)
		fprintf(out, "; waited for a CPU %.1f %%", wait->number);
	if (time->type == CELL_PERCENT && idle->type == CELL_PERCENT)
		fprintf(out, "; idle %.1f %%", idle->number);
	fputc('\n', out);
}

/* "42 events were lost in 1 place" */
static void print_lost(const struct lines_recording *about, FILE *out)
{
	const struct pairing *pairing = about->pairing;

	fprintf(out, "%s%" PRIu64 " event%s lost in %zu place%s",
		pairing->has_unknown_loss ? "more than " : "", pairing->nr_lost_events,
		pairing->nr_lost_events == 1 ? " was" : "s were", pairing->nr_losses,
		plural(pairing->nr_losses));
}

static void print_losses(const struct lines_recording *about, FILE *out)
{
	const struct pairing *pairing = about->pairing;

	if (!pairing->nr_losses)
		return;
	print_lost(about, out);
	fputs(":\n", out);
	for (size_t i = 0; i < pairing->nr_losses && i < PAIRING_LOSSES; i++) {
		const struct recorded_loss *lost = &pairing->losses[i];

		if (about->unit == UNIT_CYCLES)
			fprintf(out, "  before %" PRIu64, lost->time);
		else
			fprintf(out, "  before %.6f",
				(double)lost->time * about->ns_per_unit / 1e9);
		if (lost->cpu >= 0)
			fprintf(out, " on CPU %d", lost->cpu);
		if (lost->lost > 0)
			fprintf(out, ": %" PRId64 "\n", lost->lost);
		else
			fputs(": the number is not known\n", out);
	}
	if (pairing->nr_losses > PAIRING_LOSSES)
		fprintf(out, "  and in %zu more\n", pairing->nr_losses - PAIRING_LOSSES);
}

static void print_waits(FILE *out)
{
	fputs("Times include waiting for a CPU: the scheduler's events are not recorded.\n", out);
}

static void print_unfinished(const struct lines_recording *about, FILE *out)
{
	uint64_t nr = about->nr_unfinished;

	fprintf(out, "%" PRIu64 " more %s no end in the recording and %s not counted.\n", nr,
		nr == 1 ? "has" : "have", nr == 1 ? "is" : "are");
}

void lines_recording_lacks(const struct lines_recording *about, int nr, FILE *out)
{
	if (about->pairing->nr_losses) {
		fprintf(out, "%d: ", nr);
		print_lost(about, out);
		fputs(".\n", out);
	}
	if (about->nr_unfinished) {
		fprintf(out, "%d: ", nr);
		print_unfinished(about, out);
	}
	if (about->has_waits) {
		fprintf(out, "%d: ", nr);
		print_waits(out);
	}
}

bool lines_recording_has_lacks(const struct lines_recording *about)
{
	return about->pairing->nr_losses || about->nr_unfinished || about->has_waits;
}

void lines_recording_notes(const struct lines_recording *about, FILE *out)
{
	if (about->nr_unfinished)
		print_unfinished(about, out);
	if (!about->has_time && about->has_exits)
		fputs(about->pairing->has_entries ?
		      "The recording's clock only counts events: no durations. Record with another "
		      "clock.\n" :
		      "No events of entering the guest are recorded: no durations.\n", out);
	if (about->has_waits)
		print_waits(out);
	print_losses(about, out);
}
