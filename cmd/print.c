// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds views of facts and prints them as lines. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/process.h"
#include "lib/text.h"
#include "cmd/run.h"
#include "core/views/query.h"
#include "core/views/view.h"

/* ---- the output ---- */

/* Events, and guests with -b, have the formats of kvm_stat. */
static enum lines_format format_of(const struct options *options, const struct view_type *type)
{
	bool is_log = options->mode == MODE_LOG;
	bool has_events = type == &view_events;

	if (options->json)
		return LINES_JSON;
	if (options->csv)
		return has_events ? LINES_CSV : LINES_ROWS;
	if (has_events || options->by_guest)
		return is_log ? LINES_TEXT : LINES_BATCH;
	return LINES_TABLE;
}

void run_lines_top(struct run *run)
{
	const struct options *options = run->options;
	const struct facts *facts = monitor_facts(run->monitor);

	run->lines.config = (struct lines_config){
		.format = format_of(options, run->query.type),
		.path = options->mode == MODE_LOG ? options->output : NULL,
		.has_time = options->csv || options->mode == MODE_LOG,
		.skip_zero = options->skip_zero,
		.start_ns = run->source ? run->source->recording.start_ns : 0,
		.fields = facts->fields,
		.columns = facts->wanted,
		.type = run->query.type,
	};
}

void run_lines_plain(struct run *run)
{
	const struct options *options = run->options;

	run->lines.config.format = LINES_TABLE;
	if (options->csv)
		run->lines.config.format = LINES_ROWS;
	if (options->json)
		run->lines.config.format = LINES_JSON;
	run->lines.config.path = options->output;
	if (options->folded)
		run->lines.config.format = LINES_FOLDED;
	if (options->svg) {
		run->lines.config.format = LINES_SVG;
		run->lines.config.path = strcmp(options->svg, "-") == 0 ? NULL : options->svg;
	}
	run->lines.config.overwrites = true;
	run->lines.config.start_ns = run->source ? run->source->recording.start_ns : 0;
}

int run_lines_open(struct run *run, struct error *error)
{
	int err;

	/* A FIFO is opened when its reader comes. */
	run_begin_write(run);
	err = lines_open(&run->lines.config, &run->lines.lines, error);
	run_end_write(run);
	return err;
}

int run_lines_close(struct run *run, int err, struct error *error)
{
	int close_err = lines_close(run->lines.lines, err ? &(struct error){ "" } : error);

	run->lines.lines = NULL;
	return err ? err : close_err;
}

/* ---- views ---- */

void run_note(struct run *run, const char *note)
{
	if (note != run->lines.noted)
		say(note);
	run->lines.noted = note;
}

/* Above and below a table: the two sides, or the recording. */
static int write_text(struct run *run, const struct view *view, uint64_t time_ns,
		      uint64_t elapsed_ns, struct error *error)
{
	const struct lines_recording *recording = run->lines.config.side[0].recording;
	const struct lines_recording *other = run->lines.config.side[1].recording;
	bool has_sides = run->lines.heads[0][0];
	int err = 0;

	for (int i = 0; i < 2 && has_sides; i++)
		printf("%d: %s\n", i + 1, run->lines.heads[i]);
	if (has_sides)
		puts(view->unit == UNIT_CYCLES ? "times in cycles\n" : "");
	else if (recording)
		lines_recording_head(recording, stdout);
	if (recording && !has_sides && !view->nr_rows)
		puts(recording->none);
	else
		err = lines_write(run->lines.lines, view, time_ns, elapsed_ns, error);
	if (err || !recording)
		return err;
	if (has_sides) {
		if (lines_recording_has_lacks(other) || lines_recording_has_lacks(recording))
			putchar('\n');
		lines_recording_lacks(other, 1, stdout);
		lines_recording_lacks(recording, 2, stdout);
	} else {
		if (view->nr_rows)
			lines_recording_total(recording, view, stdout);
		lines_recording_notes(recording, stdout);
	}
	return 0;
}

int run_write(struct run *run, const struct view *view, uint64_t time_ns, uint64_t elapsed_ns,
	      struct error *error)
{
	int err = run->query.filter ? pattern_check(run->query.filter, error) : 0;

	if (!err && !run->lines.lines)
		err = run_lines_open(run, error);
	if (err)
		return err;
	run_begin_write(run);
	if (run->lines.config.format == LINES_TABLE && !run->lines.config.has_time)
		err = write_text(run, view, time_ns, elapsed_ns, error);
	else
		err = lines_write(run->lines.lines, view, time_ns, elapsed_ns, error);
	run_end_write(run);
	return err == -EINTR ? 0 : err;
}

/* Warns once: a misspelt filter would look like a quiet host. */
static void warn_no_match(struct run *run)
{
	const struct view_type *type = run->query.type;

	if (pattern_check(run->query.filter, &(struct error){ "" }) < 0)
		return; /* run_write() says so */
	if (!run->lines.has_warned)
		fprintf(stderr,
			"kvmtop: no %s matches \"%s\"; kvmtop%s%s -f help lists the names\n",
			type->noun, pattern_text(run->query.filter),
			type == view_type_at(0) ? "" : " --view ",
			type == view_type_at(0) ? "" : type->name);
	run->lines.has_warned = true;
}

void run_remark(struct run *run, const char *note)
{
	const struct query *query = &run->query;

	if (query->filter && !run->view.lacks &&
	    !query_selects_any(query, monitor_facts(run->monitor)->fields))
		warn_no_match(run);
	else
		run_note(run, note);
}

int run_print(struct run *run, uint64_t time_ns, struct error *error)
{
	const struct facts *facts = monitor_facts(run->monitor);
	const struct query *query = &run->query;
	bool is_log = run->options->mode == MODE_LOG;
	const char *note;

	view_build(&run->view, query, facts);
	if (is_log)
		view_drop_repeated(&run->view);
	/* Guests come and go: a log waits for them. */
	note = is_log && !query_lacks(query, facts) ? run->view.note : view_remark(&run->view);
	/* kvm_stat's columns, of -b, have no times that could be missing. */
	if (run->view.nr_rows && run->options->by_guest && !run->options->csv &&
	    !run->options->json)
		note = NULL;
	if (!note && run->options->mode == MODE_ONCE && !run->view.nr_rows) {
		if (query->type == &view_why)
			note = "Nothing found in this interval. kvmtop-why(8) has the causes that "
			       "are looked for.";
		else if (query->type == &view_events) /* which has no headings, either */
			note = "No event of KVM was counted.";
	}
	run_remark(run, note);
	if (!run->lines.lines)
		run_lines_top(run);
	return run_write(run, &run->view, time_ns, run->view.elapsed_ns, error);
}
