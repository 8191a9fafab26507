// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * JSON: one object on one line for each sample; the keys are the ids of the view's columns.
 *
 *	{"time":"2026-11-21T01:26:48.123+01:00","elapsed_s":3.0012,"view":"events","rows":[
 *	 {"event":"kvm_exit(HLT)","parent":"kvm_exit","total":12,"total_percent":4.812,...},...]}
 *
 * An absent value is null. Durations are in ns; "hist" has HIST_BUCKETS counts, of durations below
 * 128 ns, 256 ns and so on, the last of all from 2^31 ns on (of events: one less, and from 2^30 ns
 * on, as in KVM's own histograms); "halt":true marks exits that mean that the vCPU had nothing to
 * do. Rows of events have a "parent", null or the event of depth 0 above them: the view must be in
 * the order of its trees. "other":true marks a sum of what has no row. Counts and rates are of the
 * interval elapsed_s: the row's, which events of another source have, else the sample's.
 *
 * The view of the host has, where it is known, what kvmtop's own programs take of an exit, and of
 * the time of all vCPUs, null if that is not known: "kvmtop":{"exit_ns":412,"percent":0.812}.
 *
 * The time of a recording's sample is a number: seconds from the recording's start. A recording is
 * described before the rows:
 *
 *	"recording":{"files":[{"path":...,"kind":...}],"unit":"ns","span":...,"events":...,
 *	 "guests":...,"vcpus":...,"unfinished":...,
 *	 "lost":[{"time":...,"cpu":1,"events":7}],"lost_events":...,"losses":...}
 *
 * The schema says the same to programs, of every view, from the tables that the output is made of.
 */
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "lib/array.h"
#include "lib/text.h"
#include "lib/when.h"
#include "core/findings/rules.h"
#include "core/guests/guests.h"
#include "core/metrics.h"
#include "ui/lines/format.h"
#include "ui/lines/lines.h"
#include "core/views/view.h"

/* ---- a writer: a value follows its key, or within a list the value before it */

struct json {
	FILE *out;
	bool needs_comma;
};

static void put_comma(struct json *json)
{
	if (json->needs_comma)
		fputc(',', json->out);
	json->needs_comma = true;
}

static void put_quoted(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else if ((unsigned char)*text < 0x20)
			fprintf(out, "\\u%04x", (unsigned int)*text);
		else
			fputc(*text, out);
	}
	fputc('"', out);
}

static void put_key(struct json *json, const char *key)
{
	put_comma(json);
	put_quoted(json->out, key);
	fputc(':', json->out);
}

/* key NULL: within a list. opening: "{" or "[" */
static void begin(struct json *json, const char *key, char opening)
{
	if (key)
		put_key(json, key);
	else
		put_comma(json);
	fputc(opening, json->out);
	json->needs_comma = false;
}

static void finish(struct json *json, char closing)
{
	fputc(closing, json->out);
	json->needs_comma = true;
}

/* text NULL: null. */
static void add_text(struct json *json, const char *key, const char *text)
{
	put_key(json, key);
	if (text)
		put_quoted(json->out, text);
	else
		fputs("null", json->out);
}

static void add_count(struct json *json, const char *key, uint64_t count)
{
	put_key(json, key);
	fprintf(json->out, "%" PRIu64, count);
}

static void add_true(struct json *json, const char *key)
{
	put_key(json, key);
	fputs("true", json->out);
}

/* n / 10^digits, by hand: printf() writes the decimal point of the locale. */
static void add_fixed(struct json *json, const char *key, uint64_t n, int digits)
{
	uint64_t one = 1;

	for (int i = 0; i < digits; i++)
		one *= 10;
	put_key(json, key);
	fprintf(json->out, "%" PRIu64 ".%0*" PRIu64, n / one, digits, n % one);
}

static void add_elapsed(struct json *json, uint64_t ns)
{
	if (ns)
		add_fixed(json, "elapsed_s", ns / 100000 + (ns % 100000 >= 50000), 4);
	else
		add_text(json, "elapsed_s", NULL);
}

/* A recording has a number of seconds. */
static void add_time(struct json *json, const struct lines_config *config, const char *key,
		     uint64_t time_ns)
{
	char text[WHEN_SIZE];

	if (time_ns && config->start_ns) {
		add_fixed(json, key, (time_ns - config->start_ns) / 1000, 6);
		return;
	}
	if (time_ns)
		when_format_iso(text, sizeof(text), time_ns);
	add_text(json, key, time_ns ? text : NULL);
}

/* ---- the rows */

static void add_number(struct json *json, const char *key, double number)
{
	put_key(json, key);
	if (!lines_print_number(json->out, number))
		fputs("null", json->out);
}

static void add_hist(struct json *json, const char *key, const struct cell *cell)
{
	begin(json, key, '[');
	for (unsigned int i = 0; i < cell->end; i++) {
		put_comma(json);
		fprintf(json->out, "%" PRIu64, cell->hist[i]);
	}
	finish(json, ']');
}

static void add_cell(struct json *json, const char *key, const struct cell *cell)
{
	switch (cell->type) {
	case CELL_TEXT:
		add_text(json, key, cell->text);
		return;
	case CELL_COUNT:
		add_count(json, key, cell->count);
		return;
	case CELL_PERCENT:
		add_number(json, key, cell->number);
		return;
	case CELL_RATE:
		if (cell->number < 0)
			break;
		add_number(json, key, cell->number);
		return;
	case CELL_NS:
		add_count(json, key, cell->ns);
		return;
	case CELL_HIST:
		add_hist(json, key, cell);
		return;
	case CELL_NONE:
	case CELL_SPARK:
	case CELL_SPLIT:
		break;
	}
	add_text(json, key, NULL);
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

/* Other keys have the values of pictures. A histogram is left out if no row has one. */
static bool is_written(const struct view *view, size_t column)
{
	enum cell_type type = column_type(&view->type->columns[column]);

	return type != CELL_SPARK && type != CELL_SPLIT && lines_is_written(view, column) &&
	       (type != CELL_HIST || view_has_column(view, column));
}

static void put_row(struct json *json, const struct view *view, size_t i)
{
	const struct column *columns = view->type->columns;
	const struct view_row *row = &view->rows[i];
	const struct cell none = cell_none();
	char id[LINES_ID_SIZE];

	begin(json, NULL, '{');
	add_cell(json, column_name(&columns[0]), &row->cells[0]);
	if (columns[0].id == COL_EVENT)
		add_cell(json, "parent", parent_of(view, i));
	for (size_t c = 1; columns[c].id; c++) {
		/* A word instead of a number, such as "halt" for a share of time, becomes null. */
		bool is_word = column_type(&columns[c]) != CELL_TEXT &&
			       row->cells[c].type == CELL_TEXT;

		if (is_written(view, c))
			add_cell(json, lines_id(view, c, id), is_word ? &none : &row->cells[c]);
	}
	if (row->is_idle && view->type->is_timed)
		add_true(json, "halt");
	if (row->elapsed_ns)
		add_elapsed(json, row->elapsed_ns);
	if (row->is_rest)
		add_true(json, "other");
	finish(json, '}');
}

/* What kvmtop's own programs take; the view of the host has it. */
static void add_cost(struct json *json, const struct own_cost *cost)
{
	if (!cost->exit_ns)
		return;
	begin(json, "kvmtop", '{');
	add_count(json, "exit_ns", cost->exit_ns);
	if (cost->has_share)
		add_number(json, "percent", cost->share * 100);
	else
		add_text(json, "percent", NULL);
	finish(json, '}');
}

/* ---- the source of the view */

static void add_span(struct json *json, const struct lines_config *config, const char *key,
		     const struct lines_span *span)
{
	begin(json, key, '{');
	add_time(json, config, "from", span->from_ns);
	add_time(json, config, "to", span->to_ns);
	add_elapsed(json, span->elapsed_ns);
	finish(json, '}');
}

static void add_guest(struct json *json, const char *key, const struct guest *guest)
{
	begin(json, key, '{');
	add_text(json, "name", guest->name);
	add_count(json, "pid", (uint64_t)guest->pid);
	finish(json, '}');
}

static const char *text_or_null(const char *text)
{
	return text[0] ? text : NULL;
}

static void add_files(struct json *json, const struct trace *trace)
{
	const struct trace_info *info;

	begin(json, "files", '[');
	for (size_t i = 0; (info = trace_file(trace, i)); i++) {
		char path[PATH_MAX] = "";

		if (info->is_left_out)
			continue;
		utf8_clean(info->path, strlen(info->path), path, sizeof(path));
		begin(json, NULL, '{');
		add_text(json, "path", text_or_null(path));
		add_text(json, "kind", trace_kind_name(info->kind));
		add_text(json, "buffer", text_or_null(info->instance));
		add_text(json, "arch", text_or_null(info->arch));
		add_text(json, "release", text_or_null(info->release));
		add_text(json, "clock", text_or_null(info->clock_name));
		finish(json, '}');
	}
	finish(json, ']');
}

static void add_losses(struct json *json, const struct pairing *pairing)
{
	begin(json, "lost", '[');
	for (size_t i = 0; i < pairing->nr_losses && i < PAIRING_LOSSES; i++) {
		const struct recorded_loss *lost = &pairing->losses[i];

		begin(json, NULL, '{');
		add_count(json, "time", lost->time);
		if (lost->cpu < 0)
			add_text(json, "cpu", NULL);
		else
			add_count(json, "cpu", (uint64_t)lost->cpu);
		if (lost->lost > 0)
			add_count(json, "events", (uint64_t)lost->lost);
		else
			add_text(json, "events", NULL);
		finish(json, '}');
	}
	finish(json, ']');
	add_count(json, "lost_events", pairing->nr_lost_events);
	add_count(json, "losses", pairing->nr_losses);
}

static void add_recording(struct json *json, const char *key, const struct lines_recording *about)
{
	begin(json, key, '{');
	add_files(json, about->trace);
	add_text(json, "unit", lines_recording_unit(about));
	add_count(json, "span", about->span);
	add_count(json, "events", about->pairing->nr_events);
	add_count(json, "guests", about->nr_guests);
	add_count(json, "vcpus", about->nr_vcpus);
	if (about->has_time)
		add_count(json, "unfinished", about->nr_unfinished);
	else
		add_text(json, "unfinished", NULL);
	add_losses(json, about->pairing);
	finish(json, '}');
}

static void add_side(struct json *json, const struct lines_config *config, bool is_other)
{
	const struct lines_side *side = &config->side[is_other];

	if (side->recording)
		add_recording(json, is_other ? "other" : "recording", side->recording);
	if (side->span)
		add_span(json, config, is_other ? "other" : "span", side->span);
	if (side->guest)
		add_guest(json, is_other ? "other" : "guest", side->guest);
}

static void print(void *state, FILE *out, const struct lines_sample *sample)
{
	struct json json = { .out = out };

	(void)state;
	begin(&json, NULL, '{');
	add_time(&json, sample->config, "time", sample->time_ns);
	add_elapsed(&json, sample->elapsed_ns);
	add_text(&json, "view", sample->view->type->name);
	if (view_remark(sample->view))
		add_text(&json, "note", view_remark(sample->view));
	add_cost(&json, &sample->view->cost);
	for (int i = 0; i < 2; i++)
		add_side(&json, sample->config, i);
	begin(&json, "rows", '[');
	for (size_t i = 0; i < sample->view->nr_rows; i++) {
		if (lines_has_row(sample, &sample->view->rows[i]))
			put_row(&json, sample->view, i);
	}
	finish(&json, ']');
	finish(&json, '}');
	fputc('\n', out);
}

/* ---- the schema, of https://json-schema.org; other words are "unit", "findings" and "metrics" */

static const char schema_head[] =
	"\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\n"
	"\"title\":\"kvmtop " KVMTOP_VERSION " --json: the object of a line\",\n"
	"\"description\":\"What is not known is null. Of a recording in cycles, names end in "
	"_cycles instead of _ns, and a time is a number of seconds from its start.\",\n"
	"\"type\":\"object\",\"required\":[\"time\",\"elapsed_s\",\"view\",\"rows\"],\n"
	"\"properties\":{\n"
	"\"time\":{\"type\":[\"string\",\"number\",\"null\"]},\n"
	"\"elapsed_s\":{\"type\":[\"number\",\"null\"],\"unit\":\"s\"},\n"
	"\"view\":{\"type\":\"string\"},\n"
	"\"note\":{\"type\":\"string\",\"description\":\"what the rows lack\"},\n"
	"\"kvmtop\":{\"type\":\"object\",\"description\":\"what kvmtop takes of an exit, and of "
	"the vCPUs' time\",\"properties\":{\"exit_ns\":{\"type\":\"integer\",\"unit\":\"ns\"},"
	"\"percent\":{\"type\":[\"number\",\"null\"],\"unit\":\"percent\"}}},\n"
	"\"recording\":{\"type\":\"object\"},\n"
	"\"span\":{\"type\":\"object\"},\n"
	"\"guest\":{\"type\":\"object\"},\n"
	"\"other\":{\"type\":\"object\",\"description\":\"what it is compared with\"},\n"
	"\"rows\":{\"type\":\"array\"}},\n"
	"\"additionalProperties\":false";

static void add_word(struct json *json, const char *word)
{
	put_comma(json);
	put_quoted(json->out, word);
}

static void add_line(struct json *json)
{
	put_comma(json);
	fputc('\n', json->out);
	json->needs_comma = false;
}

static void add_property(struct json *json, const char *name, const char *type, const char *unit)
{
	add_line(json);
	begin(json, name, '{');
	begin(json, "type", '[');
	add_word(json, type);
	add_word(json, "null");
	finish(json, ']');
	if (unit)
		add_text(json, "unit", unit);
}

static void add_column(struct json *json, const struct column *column)
{
	static const struct {
		const char *type, *unit;
	} cells[] = {
		[CELL_TEXT] = { "string", NULL },
		[CELL_COUNT] = { "integer", NULL },
		[CELL_PERCENT] = { "number", "percent" },
		[CELL_RATE] = { "number", "per second" },
		[CELL_NS] = { "integer", "ns" },
		[CELL_HIST] = { "array", NULL },
		[CELL_SPLIT] = { NULL, NULL },
	};
	enum cell_type type = column_type(column);

	if (!cells[type].type)
		return;
	add_property(json, column_name(column), cells[type].type, cells[type].unit);
	add_text(json, "title", column_title(column));
	if (column_help(column))
		add_text(json, "description", column_help(column));
	if (type == CELL_HIST)
		fputs(",\"items\":{\"type\":\"integer\"}", json->out);
	finish(json, '}');
}

static void add_view(struct json *json, const struct view_type *type)
{
	add_line(json);
	begin(json, type->name, '{');
	add_text(json, "title", type->title);
	add_text(json, "type", "object");
	begin(json, "properties", '{');
	for (size_t i = 0; type->columns[i].id; i++)
		add_column(json, &type->columns[i]);
	if (type->columns[0].id == COL_EVENT) {
		add_property(json, "parent", "string", NULL);
		finish(json, '}');
	}
	add_property(json, "elapsed_s", "number", "s");
	finish(json, '}');
	fputs(",\n\"halt\":{\"const\":true},\"other\":{\"const\":true}", json->out);
	finish(json, '}');
	fputs(",\n\"patternProperties\":{\"_cycles$\":{\"type\":[\"integer\",\"null\"]}},"
	      "\"additionalProperties\":false", json->out);
	finish(json, '}');
}

/* Ties the view's name to the rows that add_view() describes. */
static void add_choice(struct json *json, const struct view_type *type)
{
	add_line(json);
	fprintf(json->out, "{\"properties\":{\"view\":{\"const\":\"%s\"},"
			   "\"rows\":{\"items\":{\"$ref\":\"#/$defs/%s\"}}}}",
		type->name, type->name);
	json->needs_comma = true;
}

static void add_findings(struct json *json)
{
	const struct rule *rule;

	begin(json, "findings", '[');
	for (size_t i = 0; (rule = rule_at(i)); i++) {
		add_line(json);
		begin(json, NULL, '{');
		add_text(json, "rule", rule->id);
		add_text(json, "finding", rule->finding);
		add_text(json, "threshold", rule->threshold);
		add_fixed(json, "default", (uint64_t)(rule->by_default * 1e4 + 0.5), 4);
		finish(json, '}');
	}
	finish(json, ']');
}

static void add_metrics(struct json *json)
{
	const struct metric *metric;

	begin(json, "metrics", '[');
	for (size_t i = 0; (metric = metric_at(i)); i++) {
		add_line(json);
		begin(json, NULL, '{');
		add_text(json, "name", metric->name);
		add_text(json, "type", metric_type_name(metric->type));
		add_text(json, "unit", metric->unit);
		add_text(json, "labels", metric->labels);
		add_text(json, "help", metric->help);
		finish(json, '}');
	}
	finish(json, ']');
}

void lines_print_schema(FILE *out)
{
#define ITS_ADDRESS(view) &(view),
	static const struct view_type *const all[] = {
		VIEW_LIST(ITS_ADDRESS)
		&view_difference,
	};
	struct json json = { .out = out };

	begin(&json, NULL, '{');
	fputs(schema_head, out);
	json.needs_comma = true;
	add_line(&json);
	begin(&json, "oneOf", '[');
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		add_choice(&json, all[i]);
	finish(&json, ']');
	add_line(&json);
	begin(&json, "$defs", '{');
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		add_view(&json, all[i]);
	finish(&json, '}');
	add_line(&json);
	add_findings(&json);
	add_line(&json);
	add_metrics(&json);
	finish(&json, '}');
	fputc('\n', out);
}

const struct lines_type lines_json = {
	.print = print,
};
