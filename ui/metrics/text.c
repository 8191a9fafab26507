// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes series, a line each, and the lines before the first one of a metric. */
#include <string.h>

#include "lib/array.h"
#include "ui/metrics/metrics.h"

void text_clear(struct metrics_text *text)
{
	text->size = text->nr_series = 0;
	text->metric = NULL;
}

static void put_bytes(struct metrics_text *text, const char *bytes, size_t size)
{
	array_grow_unset(&text->bytes, &text->room, text->size + size);
	memcpy(text->bytes + text->size, bytes, size);
	text->size += size;
}

static void put_text(struct metrics_text *text, const char *string)
{
	put_bytes(text, string, strlen(string));
}

static void put_number(struct metrics_text *text, uint64_t value)
{
	char digits[24];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	put_bytes(text, digits + at, sizeof(digits) - at);
}

/* Without zeros at the end: "0.000000256", "1.5", "3.0". */
static void put_seconds(struct metrics_text *text, uint64_t value_ns)
{
	uint64_t rest = value_ns % 1000000000;
	char digits[10] = ".";
	size_t len = 10;

	put_number(text, value_ns / 1000000000);
	for (size_t i = 9; i > 0; i--, rest /= 10)
		digits[i] = (char)('0' + rest % 10);
	while (len > 2 && digits[len - 1] == '0')
		len--;
	put_bytes(text, digits, len);
}

static void put_escaped(struct metrics_text *text, const char *value)
{
	for (;; value++) {
		size_t len = strcspn(value, "\\\"\n");

		put_bytes(text, value, len);
		value += len;
		if (!*value)
			return;
		put_text(text, *value == '\n' ? "\\n" : *value == '"' ? "\\\"" : "\\\\");
	}
}

static void put_header(struct metrics_text *text, const char *what, const char *value)
{
	put_text(text, "# ");
	put_text(text, what);
	put_text(text, " ");
	put_text(text, text->metric->name);
	put_text(text, " ");
	put_text(text, value);
	put_text(text, "\n");
}

void text_series(struct metrics_text *text, enum metric_id id, const char *suffix)
{
	const struct metric *metric = metric_at(id);

	if (text->metric != metric) {
		text->metric = metric;
		put_header(text, "HELP", metric->help);
		put_header(text, "TYPE", metric_type_name(metric->type));
	}
	put_text(text, metric->name);
	put_text(text, suffix);
	text->nr_series++;
}

static void begin_label(struct metrics_text *text, const char *name)
{
	bool has_labels = text->size && text->bytes[text->size - 1] == '"';

	put_text(text, has_labels ? "," : "{");
	put_text(text, name);
	put_text(text, "=\"");
}

void text_label(struct metrics_text *text, const char *name, const char *value)
{
	begin_label(text, name);
	put_escaped(text, value);
	put_text(text, "\"");
}

void text_label_number(struct metrics_text *text, const char *name, int64_t value)
{
	begin_label(text, name);
	if (value < 0)
		put_text(text, "-");
	put_number(text, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
	put_text(text, "\"");
}

void text_label_seconds(struct metrics_text *text, const char *name, uint64_t value_ns)
{
	begin_label(text, name);
	put_seconds(text, value_ns);
	put_text(text, "\"");
}

static void begin_value(struct metrics_text *text)
{
	bool has_labels = text->size && text->bytes[text->size - 1] == '"';

	put_text(text, has_labels ? "} " : " ");
}

void text_value(struct metrics_text *text, uint64_t value)
{
	begin_value(text);
	put_number(text, value);
	put_text(text, "\n");
}

void text_value_seconds(struct metrics_text *text, uint64_t value_ns)
{
	begin_value(text);
	put_seconds(text, value_ns);
	put_text(text, "\n");
}
