// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads lines of perf stat: JSON, or fields between separators. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "lib/array.h"
#include "lib/hash.h"
#include "lib/text.h"
#include "trace/timeline/timeline.h"

#define FIELDS_MAX 48
#define LINE_SIZE 8192 /* JSON of an event with a metric takes some 500 */
#define NS_DIGITS 9

struct perf_line_fields {
	char *at[FIELDS_MAX];
	size_t nr;
};

/* ---- numbers ---- */

/* Digits with at most one point, and nothing else. */
static bool is_decimal(const char *text)
{
	size_t whole = strspn(text, "0123456789"), rest = 0;

	if (text[whole] == '.')
		rest = 1 + strspn(text + whole + 1, "0123456789");
	return whole > 0 && !text[whole + rest];
}

static bool is_integer(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

static bool is_not_counted(const char *text)
{
	return strcmp(text, "<not counted>") == 0;
}

/* A value, or perf's text for a missing value. */
static bool is_value(const char *text)
{
	return is_decimal(text) || is_not_counted(text) || strcmp(text, "<not supported>") == 0;
}

/* Makes it a JSON number: no leading zeros, a point, digits after it. */
static bool set_value(struct perf_line *line, const char *text)
{
	size_t whole;

	text += strspn(text, "0");
	whole = strcspn(text, ".");
	return snprintf(line->value, sizeof(line->value), "%s%.*s%s%s%s", whole ? "" : "0",
			(int)whole, text, text[whole] ? "." : "",
			text[whole] ? text + whole + 1 : "",
			text[whole] && !text[whole + 1] ? "0" : "") < (int)sizeof(line->value);
}

/* ---- fields ---- */

static void cut(char *text, char separator, struct perf_line_fields *fields)
{
	const char separators[] = { separator, '\0' };

	while (text && fields->nr < FIELDS_MAX)
		fields->at[fields->nr++] = strsep(&text, separators);
}

static const char *field_at(const struct perf_line_fields *fields, size_t i)
{
	return i < fields->nr ? fields->at[i] : "";
}

/*
 * The index of the value: the first field, or after the counted CPU or thread ("CPU0",
 * "comm-17"), which a number of CPUs may follow ("S0-D0-C1", 2).
 */
static size_t find_value(const struct perf_line_fields *fields)
{
	if (is_value(field_at(fields, 0)))
		return 0;
	if (is_integer(field_at(fields, 1)) && is_value(field_at(fields, 2)))
		return 2;
	return 1;
}

static void add_name(struct perf_line *line, const char *text, const char *between)
{
	name_add(line->name, sizeof(line->name), "%s%s", line->name[0] ? between : "", text);
}

static void add_unit(struct perf_line *line, const char *unit)
{
	if (!*unit)
		return;
	add_name(line, "(", " ");
	add_name(line, unit, "");
	add_name(line, ")", "");
}

/* The event, the CPU or thread, and the unit. */
static bool set_name(struct perf_line *line, const struct perf_line_fields *fields, size_t value)
{
	const char *event = field_at(fields, value + 2);

	if (!*event)
		return false;
	add_name(line, event, "");
	if (value > 0)
		add_name(line, fields->at[0], " ");
	add_unit(line, field_at(fields, value + 1));
	return true;
}

/* text: after the separator that follows the time. */
static int parse_fields(char *text, char separator, struct perf_line *line)
{
	struct perf_line_fields fields = { .nr = 0 };
	const char *number, *first;
	size_t value;

	cut(text, separator, &fields);
	value = find_value(&fields);
	number = field_at(&fields, value);
	first = field_at(&fields, 0);
	if (!is_value(number)) /* a line with only a metric, or a wrong number */
		return *number || (*first && !first[strspn(first, "0123456789.,")]) ? -EINVAL : 0;
	if (!*first) /* a separator of two characters */
		return -EINVAL;
	if (!set_name(line, &fields, value))
		return 0;
	if (*number == '<')
		return is_not_counted(number);
	return set_value(line, number) ? 1 : -EINVAL;
}

/* ---- -j ---- */

static const char *member(struct json_object *object, const char *name)
{
	struct json_object *value;

	return json_object_object_get_ex(object, name, &value) && value ?
		json_object_get_string(value) : NULL;
}

static int fill_json(struct json_object *object, struct perf_line *line)
{
	static const char *const of[] = { "cpu", "core", "die", "socket", "node", "thread",
					  "cgroup" };
	const char *time = member(object, "interval"), *value = member(object, "counter-value");
	const char *event = member(object, "event"), *unit = member(object, "unit"), *text;

	if (time ? !decimal_read(time, NS_DIGITS, &line->ns) : !value || !event)
		return -EINVAL;
	if (!time || !value || !event || !(is_decimal(value) || is_not_counted(value)))
		return 0; /* without a time: a line of the summary */
	add_name(line, event, "");
	for (size_t i = 0; i < ARRAY_SIZE(of); i++) {
		text = member(object, of[i]);
		if (!text)
			continue;
		add_name(line, of[i], " ");
		add_name(line, text, " ");
	}
	add_unit(line, unit ? unit : "");
	return is_not_counted(value) || set_value(line, value) ? 1 : -EINVAL;
}

static int parse_json(const char *text, struct perf_line *line)
{
	struct json_object *object = json_tokener_parse(text);
	int got = -EINVAL;

	if (object && json_object_is_type(object, json_type_object))
		got = fill_json(object, line);
	json_object_put(object);
	return got;
}

/* ---- lines ---- */

/* A line of the summary has this word instead of the time. */
static bool is_summary(const char *text, char separator)
{
	static const char word[] = "summary";

	return strncmp(text, word, strlen(word)) == 0 && separator &&
	       text[strlen(word)] == separator;
}

static int parse_text(char *text, char *separator, struct perf_line *line)
{
	const char *end = decimal_read(text, NS_DIGITS, &line->ns);

	if (!end)
		return is_summary(text, *separator) ? 0 : -EINVAL;
	text += end - text;
	if (!*separator && *text && strchr(PERF_SEPARATORS, *text))
		*separator = *text;
	if (!*separator || *text != *separator)
		return -EINVAL;
	return parse_fields(text + 1, *separator, line);
}

int perf_line_parse(char *text, char *separator, struct perf_line *ret_line)
{
	struct perf_line line = { 0 };
	int got;

	text[strcspn(text, "\r\n")] = '\0';
	text += strspn(text, " \t");
	if (!*text || (text[0] == '#' && text[1] == ' '))
		return 0;
	got = *text == '{' ? parse_json(text, &line) : parse_text(text, separator, &line);
	if (got > 0)
		*ret_line = line;
	return got;
}

/* "rdtsc N": the host's TSC when perf began. The user may write it into the first line. */
static bool parse_anchor(const char *text, uint64_t *ret_tsc)
{
	char *end;
	uint64_t tsc;

	if (strncmp(text, "rdtsc ", 6) != 0 || !isdigit((unsigned char)text[6]))
		return false;
	errno = 0;
	tsc = strtoull(text + 6, &end, 10);
	end += strspn(end, "\r\n \t");
	if (errno || *end)
		return false;
	*ret_tsc = tsc;
	return true;
}

/* ---- a file ---- */

/* An interval of a counter begins at the end of the previous one. */
struct perf_counter {
	char name[192];
	int64_t track; /* of its gaps; 0: it has none so far */
	uint64_t begin_ns;
	bool has_value; /* there is something to end */
	bool is_gap;	/* it is not counted since gap_ns */
	uint64_t gap_ns;
	UT_hash_handle hh;
};

struct perf_stat_reader {
	struct timeline_out *out;
	int32_t process;
	int64_t anchor_ns;
	struct perf_counter *counters;
	char separator; /* 0: not known yet */
	int64_t nr_tracks;
};

static struct perf_counter *get_counter(struct perf_stat_reader *perf, const char *name)
{
	struct perf_counter *counter;

	HASH_FIND_STR(perf->counters, name, counter);
	if (counter)
		return counter;
	counter = xcalloc(1, sizeof(*counter));
	snprintf(counter->name, sizeof(counter->name), "%s", name);
	HASH_ADD_STR(perf->counters, name, counter);
	return counter;
}

static void draw_counter(struct perf_stat_reader *perf, const struct perf_counter *counter,
			 const char *value)
{
	const struct timeline_event event = {
		.name = counter->name,
		.category = "perf",
		.process = perf->process,
		.ns = perf->anchor_ns + (int64_t)counter->begin_ns,
	};

	out_counter(perf->out, &event, value);
}

/* After an interval with a value: the value would seem to go on. */
static void draw_end(struct perf_stat_reader *perf, const struct perf_counter *counter)
{
	if (counter->has_value)
		draw_counter(perf, counter, "0");
}

/* One bar for all intervals in a row in which the event was not counted. */
static void end_gap(struct perf_stat_reader *perf, struct perf_counter *counter)
{
	const struct timeline_event event = {
		.name = "not counted",
		.category = "perf",
		.process = perf->process,
		.track = counter->track ? counter->track : ++perf->nr_tracks,
		.ns = perf->anchor_ns + (int64_t)counter->gap_ns,
	};

	if (!counter->track)
		out_track(perf->out, perf->process, event.track, counter->name, event.track);
	counter->track = event.track;
	out_slice(perf->out, &event, perf->anchor_ns + (int64_t)counter->begin_ns, NULL);
	counter->is_gap = false;
}

static void add_line(struct perf_stat_reader *perf, const struct perf_line *line)
{
	struct perf_counter *counter = get_counter(perf, line->name);
	bool is_counted = line->value[0];

	if (counter->is_gap && is_counted)
		end_gap(perf, counter);
	if (!counter->is_gap && !is_counted) {
		draw_end(perf, counter);
		counter->is_gap = true;
		counter->gap_ns = counter->begin_ns;
	}
	if (is_counted)
		draw_counter(perf, counter, line->value);
	counter->has_value |= is_counted;
	counter->begin_ns = line->ns;
}

/* Ends all counters after their last interval. One that was never counted is not drawn. */
static void end_counters(struct perf_stat_reader *perf)
{
	struct perf_counter *counter;

	for (counter = perf->counters; counter; counter = counter->hh.next) {
		if (counter->is_gap && counter->has_value)
			end_gap(perf, counter);
		else
			draw_end(perf, counter);
	}
	hash_free(perf->counters, free);
}

static int read_lines(struct perf_stat_reader *perf, FILE *in, const char *path,
		      struct error *error)
{
	const struct timeline_clock *clock = &perf->out->clock;
	char text[LINE_SIZE];
	size_t nr_values = 0;
	int err = 0, got;

	for (size_t nr = 1; !err && fgets(text, sizeof(text), in); nr++) {
		bool is_whole = strchr(text, '\n') || feof(in);
		struct perf_line line;
		uint64_t tsc;

		if (nr == 1 && parse_anchor(text, &tsc)) {
			if (clock->has_no_tsc)
				err = error_set(error, -EINVAL,
						"%s: rdtsc in the first line needs a "
						"recording with times in TSC cycles "
						"(kvmtop record -C x86-tsc)",
						path);
			perf->anchor_ns = timeline_clock_ns(clock, tsc);
			continue;
		}
		got = is_whole ? perf_line_parse(text, &perf->separator, &line) : -EINVAL;
		nr_values += got > 0 && line.value[0];
		if (got > 0)
			add_line(perf, &line);
		else if (got < 0)
			err = error_set(error, got,
					"%s:%zu: not a line of perf stat -I -j, or -x with one of "
					PERF_SEPARATORS, path, nr);
	}
	if (!err && !nr_values)
		err = error_set(error, -ENODATA,
				"%s: no counter has a value (perf stat -I MS -x ,)", path);
	return err;
}

int timeline_perf(FILE *in, const char *path, int64_t anchor_ns, struct timeline_out *out,
		  struct error *error)
{
	struct perf_stat_reader perf = { .out = out, .anchor_ns = anchor_ns };
	int err;

	perf.process = out_process(out, "perf stat");
	err = read_lines(&perf, in, path, error);
	end_counters(&perf);
	return err;
}
