// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers as text: shortened to fit, never cut. */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "lib/text.h"
#include "lib/xalloc.h"
#include "ui/numbers.h"

#define NUMBER_MAX 32 /* a uint64_t with commas and a unit fits */

/* Copies as much as fits and returns its length. */
static int put(char *buf, size_t size, const char *text, size_t len)
{
	if (!size)
		return 0;
	if (len > size - 1)
		len = size - 1;
	memcpy(buf, text, len);
	buf[len] = '\0';
	return (int)len;
}

/*
 * The length in bytes of the character at text; ret_width is its width in columns. Text is UTF-8 in
 * every locale; in one that lacks the character a wide one counts as one column.
 */
static size_t next_character(const char *text, int *ret_width)
{
	uint32_t code;
	size_t bytes;
	int width;

	*ret_width = 1;
	/* Nearly all text is ASCII. */
	if (*text >= ' ' && *text <= '~')
		return 1;
	bytes = utf8_decode(text, strnlen(text, MB_LEN_MAX), &code);
	if (bytes == 0)
		return 1;
	width = wcwidth((wchar_t)code);
	if (width >= 0)
		*ret_width = width;
	return bytes;
}

int format_width(const char *text)
{
	int all = 0, width;

	while (*text) {
		text += next_character(text, &width);
		all += width;
	}
	return all;
}

static int format_text(char *buf, size_t size, const char *text, int width)
{
	size_t len = 0;
	int used = 0, more;

	while (text[len]) {
		size_t bytes = next_character(text + len, &more);

		if (used + more > width || len + bytes >= size)
			break;
		used += more;
		len += bytes;
	}
	return put(buf, size, text, len);
}

/* Whether the text fits: no character has more columns than bytes. */
static bool fits(const char *text, int width)
{
	return (width >= 0 && strlen(text) <= (size_t)width) || format_width(text) <= width;
}

/* The sign for text that is left out. */
static const char *cut_sign(bool is_utf8)
{
	return is_utf8 ? "…" : "..";
}

static int cut_width(bool is_utf8)
{
	return is_utf8 ? 1 : 2;
}

int format_cut(char *buf, size_t size, const char *text, int width, bool is_utf8)
{
	const char *sign = cut_sign(is_utf8);
	int room = width - cut_width(is_utf8), len;

	if (room <= 0 || fits(text, width))
		return format_text(buf, size, text, width);
	len = format_text(buf, size, text, room);
	return len + put(buf + len, size - (size_t)len, sign, strlen(sign));
}

int format_middle(char *buf, size_t size, const char *text, int width, bool is_utf8)
{
	const char *sign = cut_sign(is_utf8);
	int room = width - cut_width(is_utf8), head = room * 2 / 5, all, word, len, more;

	if (room <= 1 || fits(text, width))
		return format_text(buf, size, text, width);
	all = format_width(text);
	word = (int)strcspn(text, " ");
	/* Names of one kind differ at their ends; a number is kept first. */
	if (word > head && word <= room / 2)
		head = word;
	len = format_text(buf, size, text, head);
	room -= format_width(buf);
	len += put(buf + len, size - (size_t)len, sign, strlen(sign));
	while (all > room) {
		text += next_character(text, &more);
		all -= more;
	}
	return len + put(buf + len, size - (size_t)len, text, strlen(text));
}

static uint64_t divide_rounded(uint64_t value, uint64_t by)
{
	return value / by + (value % by >= by - by / 2);
}

/* Three significant digits and a unit, or fewer digits if width is smaller. */
static int format_scaled(char *buf, size_t size, uint64_t value, const char *const *units,
			 int width)
{
	char text[NUMBER_MAX];
	uint64_t scale = 1;

	/* Rounding may carry: 999,999 is 1.00M, not 1000k. */
	while (units[1] && divide_rounded(value, scale) >= 1000) {
		scale *= 1000;
		units++;
	}
	for (int decimals = scale > 1 ? 2 : 0;; decimals--) {
		uint64_t one = decimals == 2 ? 100 : decimals == 1 ? 10 : 1;
		uint64_t digits = divide_rounded(value, scale / one);

		if (decimals)
			snprintf(text, sizeof(text), "%" PRIu64 ".%0*" PRIu64 "%s", digits / one,
				 decimals, digits % one, *units);
		else
			snprintf(text, sizeof(text), "%" PRIu64 "%s", digits, *units);
		if (!decimals || (digits < 1000 && format_width(text) <= width))
			return put(buf, size, text, strlen(text));
	}
}

static const char *const count_units[] = { "", "k", "M", "G", "T", "P", NULL };

static int print_grouped(char *text, uint64_t count)
{
	char digits[NUMBER_MAX];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, count), out = 0;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			text[out++] = ',';
		text[out++] = digits[i];
	}
	text[out] = '\0';
	return out;
}

int format_count(char *buf, size_t size, uint64_t count, int width, bool grouped)
{
	char text[NUMBER_MAX];
	int len = grouped ? print_grouped(text, count) : 0;

	if (!grouped || len > width)
		len = snprintf(text, sizeof(text), "%" PRIu64, count);
	if (len <= width || count < 1000)
		return put(buf, size, text, (size_t)len);
	return format_scaled(buf, size, count, count_units, width);
}

int format_percent(char *buf, size_t size, double percent)
{
	char text[NUMBER_MAX], number[512];
	int len;

	if (!isfinite(percent))
		return put(buf, size, "-", 1);
	len = snprintf(number, sizeof(number), "%.1f", percent);
	/* printf() writes the decimal point of the locale, which may be several bytes. */
	len = snprintf(text, sizeof(text), "%.*s.%c", (int)strspn(number, "-0123456789"), number,
		       number[len - 1]);
	return put(buf, size, text, len < NUMBER_MAX ? (size_t)len : NUMBER_MAX - 1);
}

static const char *const *duration_units(void)
{
	static const char *const units[] = { "ns", "µs", "ms", "s", NULL };
	static const char *const ascii[] = { "ns", "us", "ms", "s", NULL };
	wchar_t micro;

	/* The locale has no µ. */
	return mbtowc(&micro, units[1], strlen(units[1])) == 2 ? units : ascii;
}

int format_duration(char *buf, size_t size, uint64_t ns)
{
	return format_scaled(buf, size, ns, duration_units(), INT_MAX);
}

int format_whole_duration(char *buf, size_t size, uint64_t ns)
{
	return format_scaled(buf, size, ns, duration_units(), 0);
}

/* Rounds half to even, as kvm_stat does. False: the rate is too large, or not a number. */
static bool whole_rate(double rate, uint64_t *ret_whole)
{
	uint64_t whole;
	double rest;

	if (!(rate >= 0 && rate < 1e18))
		return false;
	whole = (uint64_t)rate;
	rest = rate - (double)whole;
	*ret_whole = whole + (rest > 0.5 || (rest == 0.5 && whole % 2));
	return true;
}

static int format_rate(char *buf, size_t size, double rate, int width, bool grouped)
{
	uint64_t whole;

	if (!whole_rate(rate, &whole))
		return put(buf, size, "-", 1);
	return format_count(buf, size, whole, width, grouped);
}

/* The number of a count or a rate. */
static bool cell_number(const struct cell *cell, uint64_t *ret_number)
{
	if (cell->type == CELL_RATE)
		return whole_rate(cell->number, ret_number);
	*ret_number = cell->count;
	return cell->type == CELL_COUNT;
}

int format_digits(const struct cell *cell, bool grouped)
{
	uint64_t number;
	int digits = 1;

	if (!cell_number(cell, &number))
		return 1;
	for (; number > 9; number /= 10)
		digits++;
	return grouped ? digits + (digits - 1) / 3 : digits;
}

int format_short(char *buf, size_t size, const struct cell *cell, int width)
{
	uint64_t number;

	if (!cell_number(cell, &number))
		return format_cell(buf, size, cell, width, false);
	return format_scaled(buf, size, number, count_units, width);
}

int format_cell(char *buf, size_t size, const struct cell *cell, int width, bool grouped)
{
	char *ended;
	int len;

	switch (cell->type) {
	case CELL_TEXT:
		if (!cell->has_ended)
			return format_text(buf, size, cell->text, width);
		ended = xasprintf("%s (ended)", cell->text);
		len = format_text(buf, size, ended, width);
		free(ended);
		return len;
	case CELL_COUNT:
		return format_count(buf, size, cell->count, width, grouped);
	case CELL_PERCENT:
		return format_percent(buf, size, cell->number);
	case CELL_RATE:
		return format_rate(buf, size, cell->number, width, grouped);
	case CELL_NS:
		return format_duration(buf, size, cell->ns);
	case CELL_NONE:
	case CELL_SPARK:
	case CELL_HIST:
	case CELL_SPLIT:
		break;
	}
	return put(buf, size, "-", 1);
}

/* Whole characters of a word that is longer than the line, but at least one. */
static int part_of_word(const char *text, int width)
{
	int columns, len = (int)next_character(text, &columns), bytes;

	while ((bytes = (int)next_character(text + len, &columns)) <= width - len)
		len += bytes;
	return len;
}

static int words_that_fit(const char *text, int width)
{
	int len = (int)strlen(text);

	if (len <= width)
		return len;
	for (len = width; len > 0 && text[len] != ' ';)
		len--;
	return len > 0 ? len : part_of_word(text, width);
}

const char *line_of_words(const char **text, int width, int *ret_len)
{
	const char *line = *text;

	*ret_len = words_that_fit(line, width);
	*text += *ret_len;
	*text += **text == ' ';
	return *line ? line : NULL;
}

int lines_of_words(const char *text, int width)
{
	int nr = 0, len;

	while (line_of_words(&text, width, &len))
		nr++;
	return nr;
}
