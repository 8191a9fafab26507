// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * JSON: one object on one line for each sample; the keys are the ids of the view's columns.
 *
 *	{"time":"2026-11-21T01:26:48.123+01:00","elapsed_s":3.0012,"view":"events","rows":[
 *	 {"event":"kvm_exit(HLT)","parent":"kvm_exit","total":12,"share":4.812,...},...]}
 *
 * An absent value is null. Durations are in ns; "hist" has HIST_BUCKETS counts, of durations below
 * 128 ns, 256 ns and so on, the last of all from 2^31 ns on (of events: one less, and from 2^30 ns
 * on, as in KVM's own histograms); "halt":true marks exits that mean that the vCPU had nothing to
 * do. Rows of events have a "parent", null or the event of depth 0 above them: the view must be in
 * the order of its trees. "other":true marks a sum of what has no row. Counts and rates are of the
 * interval elapsed_s: the row's, which events of another source have, else the sample's.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/when.h"
#include "lib/xalloc.h"
#include "core/guests/guests.h"
#include "ui/lines/json_object.h"
#include "ui/lines/shared.h"
#include "ui/lines/recording.h"

/* n / 10^digits, by hand: printf() writes the decimal point of the locale. sign: "" or "-". */
static struct json_object *fixed_new(const char *sign, uint64_t n, int digits)
{
	uint64_t one = 1;
	char text[48];

	for (int i = 0; i < digits; i++)
		one *= 10;
	snprintf(text, sizeof(text), "%s%" PRIu64 ".%0*" PRIu64, sign, n / one, digits, n % one);
	return json_object_new_double_s((double)n / (*sign ? -(double)one : (double)one), text);
}

static void add_number(struct json_object *object, const char *key, double number)
{
	double size = number < 0 ? -number : number;

	if (size < 1e15)
		json_add_new(object, key, fixed_new(number < 0 ? "-" : "",
						    (uint64_t)(size * 1000 + 0.5), 3));
	else
		json_add(object, key, NULL);
}

static struct json_object *hist_new(const struct cell *cell)
{
	struct json_object *array = json_made(json_object_new_array());

	for (unsigned int i = 0; i < cell->end; i++)
		json_append(array, json_made(json_object_new_uint64(cell->hist[i])));
	return array;
}

static void add_cell(struct json_object *object, const char *key, const struct cell *cell)
{
	switch (cell->type) {
	case CELL_TEXT:
		json_add_new(object, key, json_object_new_string(cell->text));
		return;
	case CELL_COUNT:
		json_add_new(object, key, json_object_new_uint64(cell->count));
		return;
	case CELL_PERCENT:
		add_number(object, key, cell->number);
		return;
	case CELL_RATE:
		if (cell->number < 0)
			break;
		add_number(object, key, cell->number);
		return;
	case CELL_NS:
		json_add_new(object, key, json_object_new_uint64(cell->ns));
		return;
	case CELL_HIST:
		json_add_new(object, key, hist_new(cell));
		return;
	case CELL_NONE:
	case CELL_SPARK:
	case CELL_SPLIT:
		break;
	}
	json_add(object, key, NULL);
}

static const struct cell *parent_of(const struct view *view, size_t i)
{
	static const struct cell none = { .type = CELL_NONE };

	if (view->rows[i].depth == 0)
		return &none;
	while (i > 0 && view->rows[i].depth > 0)
		i--;
	return view->rows[i].depth == 0 ? &view->rows[i].cells[0] : &none;
}

/* A word instead of a number, such as "halt" for a share of time, becomes null. */
static void add_value(struct json_object *object, const char *id, const struct column *column,
		      const struct cell *cell)
{
	const struct cell none = cell_none();
	bool is_number = column_type(column) != CELL_TEXT && cell->type == CELL_TEXT;

	add_cell(object, id, is_number ? &none : cell);
}

/* Other keys have the values of pictures. A histogram is left out if no row has one. */
static bool is_written(const struct view *view, size_t column)
{
	enum cell_type type = column_type(&view->type->columns[column]);

	return type != CELL_SPARK && type != CELL_SPLIT && lines_is_written(view, column) &&
	       (type != CELL_HIST || view_has_column(view, column));
}

static void add_elapsed(struct json_object *object, uint64_t ns)
{
	if (ns)
		json_add_new(object, "elapsed_s",
			     fixed_new("", ns / 100000 + (ns % 100000 >= 50000), 4));
	else
		json_add(object, "elapsed_s", NULL);
}

static void fill_row(struct json_object *object, const struct view *view, size_t i)
{
	const struct column *columns = view->type->columns;
	const struct view_row *row = &view->rows[i];
	bool is_event = view->type->columns[0].id == COL_EVENT;
	char id[LINES_ID_SIZE];

	add_cell(object, column_name(&columns[0]), &row->cells[0]);
	if (is_event)
		add_cell(object, "parent", parent_of(view, i));
	for (size_t c = 1; columns[c].id; c++) {
		if (is_written(view, c))
			add_value(object, lines_id(view, c, id), &columns[c], &row->cells[c]);
	}
	if (row->is_idle && view->type->is_timed)
		json_add_new(object, "halt", json_object_new_boolean(true));
	if (row->elapsed_ns)
		add_elapsed(object, row->elapsed_ns);
	if (row->is_rest)
		json_add_new(object, "other", json_object_new_boolean(true));
}

static void add_time(struct json_object *object, const char *key, uint64_t time_ns)
{
	char text[WHEN_SIZE];

	if (!time_ns) {
		json_add(object, key, NULL);
		return;
	}
	when_format_iso(text, sizeof(text), time_ns);
	json_add_new(object, key, json_object_new_string(text));
}

static void add_span(struct json_object *object, const char *key, const struct lines_span *span)
{
	struct json_object *item = json_object_new_object();

	json_add_new(object, key, item);
	add_time(item, "from", span->from_ns);
	add_time(item, "to", span->to_ns);
	add_elapsed(item, span->elapsed_ns);
}

static void add_guest(struct json_object *object, const char *key, const struct guest *guest)
{
	struct json_object *item = json_object_new_object();

	json_add_new(object, key, item);
	json_add_new(item, "name", json_object_new_string(guest->name));
	json_add_new(item, "pid", json_object_new_int64(guest->pid));
}

/* Fills in everything but the rows. */
static void fill_head(struct json_object *object, const struct lines_sample *sample)
{
	const struct lines_config *config = sample->config;

	add_time(object, "time", sample->time_ns);
	add_elapsed(object, sample->elapsed_ns);
	json_add_new(object, "view",
		     json_object_new_string(sample->view->type->name));
	if (config->recording)
		lines_recording_json(config->recording, "recording", object);
	if (config->other)
		lines_recording_json(config->other, "other", object);
	if (config->span)
		add_span(object, "span", config->span);
	if (config->other_span)
		add_span(object, "other", config->other_span);
	if (config->guest)
		add_guest(object, "guest", config->guest);
	if (config->other_guest)
		add_guest(object, "other", config->other_guest);
}

/* The text belongs to the object. */
static const char *text_of(struct json_object *object)
{
	const char *text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
							  JSON_C_TO_STRING_NOSLASHESCAPE);

	if (!text)
		out_of_memory();
	return text;
}

static void print_head(FILE *out, const struct lines_sample *sample)
{
	struct json_object *object = json_made(json_object_new_object());
	const char *text;

	fill_head(object, sample);
	text = text_of(object);
	fprintf(out, "%.*s,\"rows\":[", (int)strlen(text) - 1, text); /* without its } */
	json_object_put(object);
}

static void print_row(FILE *out, const struct view *view, size_t i)
{
	struct json_object *object = json_made(json_object_new_object());

	fill_row(object, view, i);
	fprintf(out, "%s%s", i ? "," : "", text_of(object));
	json_object_put(object);
}

/* Row by row: all of them as objects would take ten times the memory of the view. */
static int print(void *state, FILE *out, const struct lines_sample *sample)
{
	print_head(out, sample);
	(void)state;
	for (size_t i = 0; i < sample->view->nr_rows; i++)
		print_row(out, sample->view, i);
	fputs("]}\n", out);
	return 0;
}

const struct lines_type lines_json = {
	.print = print,
};
