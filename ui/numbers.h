/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * numbers - numbers as text, the same in every renderer for people.
 */
#ifndef KVMTOP_UI_NUMBERS_H
#define KVMTOP_UI_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/views/columns.h"

/*
 * All write a NUL-terminated text of at most size - 1 bytes and return its length. width is the
 * room in columns: a longer number is shortened with a unit (12.3M), never cut.
 */
/* grouped: 1,234 */
int format_count(char *buf, size_t size, uint64_t count, int width, bool grouped);
int format_percent(char *buf, size_t size, double percent);			   /* 45.1 */
int format_duration(char *buf, size_t size, uint64_t ns); /* three digits and ns, µs, ms or s */
int format_whole_duration(char *buf, size_t size, uint64_t ns); /* no decimals: 524µs, 1ms */

/*
 * A cell for people: "-" when absent; text as it is, cut to width columns (not bytes) at a
 * character; rates rounded to whole numbers half to even, as kvm_stat's are. Not for pictures.
 */
int format_cell(char *buf, size_t size, const struct cell *cell, int width, bool grouped);

/*
 * format_digits(): the columns that a count or a rate takes when it is not shortened.
 * format_short(): as format_cell(), but from 1,000 on always with three digits and a unit: for a
 * column with a number that is too long, so that all numbers of the column have the same form.
 */
int format_digits(const struct cell *cell, bool grouped);
int format_short(char *buf, size_t size, const struct cell *cell, int width);

/*
 * Text cut to at most width columns, with a sign ("…", or ".." without UTF-8) for the part that is
 * left out: the end, or the middle with format_middle().
 */
int format_cut(char *buf, size_t size, const char *text, int width, bool is_utf8);
int format_middle(char *buf, size_t size, const char *text, int width, bool is_utf8);

/* Columns that UTF-8 text takes on a terminal; characters that cannot be printed count as one. */
int format_width(const char *text);

/*
 * Takes the next line off the text: of at most width bytes, whole words or a longer word's start.
 * *ret_len: its bytes. NULL: there is no more.
 */
const char *line_of_words(const char **text, int width, int *ret_len);

int lines_of_words(const char *text, int width); /* how many lines that makes */

#endif
