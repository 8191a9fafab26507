/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text - text that grows, and metrics in it: Prometheus' text format 0.0.4, without timestamps.
 *
 * Every scraper reads this format, and so does node_exporter's textfile collector. Numbers are
 * written without floating point, so that no digit of a counter is lost.
 */
#ifndef KVMTOP_UI_METRICS_TEXT_H
#define KVMTOP_UI_METRICS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/metrics.h"

/* Zero-initialised is empty; free(bytes) when done. */
struct metrics_text {
	char *bytes; /* no NUL at the end */
	size_t size, room;
	size_t nr_series; /* lines with a value */
	const struct metric *metric; /* the latest */
};

/* Empties the text, but keeps its memory. */
void text_clear(struct metrics_text *text);

/*
 * One series: its metric, a suffix of the name ("_bucket" or ""), then labels, then the value. A
 * metric's first series is preceded by its HELP and TYPE.
 */
void text_series(struct metrics_text *text, enum metric_id id, const char *suffix);
/* value: any text; it is escaped. */
void text_label(struct metrics_text *text, const char *name, const char *value);
void text_label_number(struct metrics_text *text, const char *name, int64_t value);
void text_label_seconds(struct metrics_text *text, const char *name, uint64_t value_ns);
void text_value(struct metrics_text *text, uint64_t value);
void text_value_seconds(struct metrics_text *text, uint64_t value_ns);

#endif
