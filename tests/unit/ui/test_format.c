// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers and names as text: units, rounding, widths, and buffers that are too small. */
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "ui/numbers.h"

static void count_is(uint64_t count, int width, bool grouped, const char *wanted)
{
	char buf[64] = "unset";

	assert_int_equal(format_count(buf, sizeof(buf), count, width, grouped), strlen(wanted));
	assert_string_equal(buf, wanted);
}

static void duration_is(uint64_t ns, const char *wanted)
{
	char buf[64] = "unset";

	assert_int_equal(format_duration(buf, sizeof(buf), ns), strlen(wanted));
	assert_string_equal(buf, wanted);
}

static void cell_is(struct cell cell, int width, bool grouped, const char *wanted)
{
	char buf[64] = "unset";

	assert_int_equal(format_cell(buf, sizeof(buf), &cell, width, grouped), strlen(wanted));
	assert_string_equal(buf, wanted);
}

static struct cell rate(double per_s)
{
	return (struct cell){ .type = CELL_RATE, .number = per_s };
}

TEST(counts_that_fit_are_printed_in_full)
{
	count_is(0, 1, false, "0");
	count_is(999, 3, true, "999");
	count_is(1234567, 7, false, "1234567");
	count_is(1234567, 9, true, "1,234,567");
	count_is(100000, 7, true, "100,000");
	count_is(UINT64_MAX, 20, false, "18446744073709551615");
	count_is(UINT64_MAX, 26, true, "18,446,744,073,709,551,615");
}

TEST(counts_lose_commas_before_digits)
{
	count_is(1234567, 8, true, "1234567");
	count_is(1234567, 7, true, "1234567");
	count_is(1234567, 6, true, "1.23M");
}

TEST(counts_that_do_not_fit_have_a_unit)
{
	count_is(1234, 3, false, "1k");
	count_is(12345, 4, false, "12k");
	count_is(123456, 5, false, "123k");
	count_is(12345678, 5, false, "12.3M");
	count_is(12345678, 4, false, "12M");
	count_is(1234567890, 9, false, "1.23G");
	count_is(1234567890, 4, false, "1.2G");
	count_is(1234567890123, 9, false, "1.23T");
	count_is(1234567890123456, 9, false, "1.23P");
	count_is(UINT64_MAX, 9, false, "18447P");
}

TEST(edges_of_durations_have_no_decimals)
{
	static const struct {
		uint64_t ns;
		const char *wanted;
	} cases[] = { { 128, "128ns" }, { 1024, "1µs" }, { 16384, "16µs" }, { 524288, "524µs" },
		      { 1048576, "1ms" }, { 1073741824, "1s" }, { 0, "0ns" } };
	char buf[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		format_whole_duration(buf, sizeof(buf), cases[i].ns);
		assert_string_equal(buf, cases[i].wanted);
	}
}

TEST(rounding_carries_into_the_next_unit)
{
	count_is(999499, 5, false, "999k");
	count_is(999999, 5, false, "1.00M");
	count_is(9995000, 5, false, "10.0M");
	count_is(9994999, 5, false, "9.99M");
	count_is(1500, 3, false, "2k");
}

TEST(counts_are_never_cut)
{
	count_is(999, 1, false, "999");
	count_is(123456789, 1, false, "123M");
	count_is(123456789, 0, true, "123M");
	count_is(5, -1, false, "5");
}

static void short_is(struct cell cell, int width, const char *wanted)
{
	char buf[64];

	assert_int_equal(format_short(buf, sizeof(buf), &cell, width), strlen(wanted));
	assert_string_equal(buf, wanted);
}

TEST(short_numbers_have_a_unit_whatever_the_width)
{
	short_is(cell_count(999), 9, "999");
	short_is(cell_count(1000), 9, "1.00k");
	short_is(cell_count(5621560575), 20, "5.62G");
	short_is(cell_count(12345), 3, "12k");
	short_is(rate(4711.4), 9, "4.71k");
	short_is(rate(NAN), 9, "-");
	short_is(cell_none(), 9, "-");
	short_is(cell_text("halt"), 9, "halt");
}

TEST(digits_are_those_of_the_whole_number)
{
	struct cell cell = cell_count(12957982765);

	assert_int_equal(format_digits(&cell, false), 11);
	assert_int_equal(format_digits(&cell, true), 14);
	cell = cell_count(999);
	assert_int_equal(format_digits(&cell, true), 3);
	cell = rate(999.6);
	assert_int_equal(format_digits(&cell, true), 5);
	cell = cell_none();
	assert_int_equal(format_digits(&cell, true), 1);
}

static void middle_is(const char *text, int width, bool is_utf8, const char *wanted)
{
	char buf[128];

	assert_int_equal(format_middle(buf, sizeof(buf), text, width, is_utf8), strlen(wanted));
	assert_string_equal(buf, wanted);
	assert_true(format_width(buf) <= width);
}

TEST(names_lose_their_middle)
{
	static const char name[] = "prod-customer-db-eu-west-1-node-0012";

	middle_is(name, 36, true, name);
	middle_is(name, 16, true, "prod-c…node-0012");
	middle_is(name, 16, false, "prod-..node-0012");
	middle_is(name, 3, true, "…12");
	middle_is(name, 2, true, "pr");
	middle_is(name, 0, true, "");
	middle_is("", 0, true, "");
	/* A character of two columns is not cut in half. */
	middle_is("データベース", 12, true, "データベース");
	middle_is("データベース", 11, true, "デー…ベース");
	middle_is("データベース", 10, true, "デ…ベース");
	middle_is("データベース", 6, true, "デ…ス");
	/* A number at the beginning stays whole where it can. */
	middle_is("0x40000001 paravirtual features", 22, true, "0x40000001…al features");
	middle_is("0x40000001 paravirtual features", 12, true, "0x40…eatures");
}

TEST(lines_lose_their_end)
{
	char buf[32], small[8];

	format_cut(buf, sizeof(buf), "kvm_exit", 8, true);
	assert_string_equal(buf, "kvm_exit");
	format_cut(buf, sizeof(buf), "kvm_exit", 7, true);
	assert_string_equal(buf, "kvm_ex…");
	format_cut(buf, sizeof(buf), "kvm_exit", 7, false);
	assert_string_equal(buf, "kvm_e..");
	format_cut(buf, sizeof(buf), "kvm_exit", 1, true);
	assert_string_equal(buf, "k");
	/* Nothing is written after the buffer. */
	format_cut(small, sizeof(small), "kvm_userspace_exit", 16, true);
	assert_true(strlen(small) < sizeof(small));
	format_middle(small, sizeof(small), "kvm_userspace_exit", 16, true);
	assert_true(strlen(small) < sizeof(small));
}

TEST(percents_have_one_decimal)
{
	const struct {
		double percent;
		const char *text;
	} cases[] = {
		{ 0, "0.0" }, { 45.14, "45.1" },  { 99.95, "100.0" }, { 100, "100.0" },
		{ 0.25, "0.2" }, { 373.1, "373.1" }, { NAN, "-" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char buf[16];

		assert_int_equal(format_percent(buf, sizeof(buf), cases[i].percent),
				 strlen(cases[i].text));
		assert_string_equal(buf, cases[i].text);
	}
}

TEST(durations_have_three_digits_and_a_unit)
{
	duration_is(0, "0ns");
	duration_is(999, "999ns");
	duration_is(1000, "1.00µs");
	duration_is(12345, "12.3µs");
	duration_is(999499, "999µs");
	duration_is(999999, "1.00ms");
	duration_is(27000000, "27.0ms");
	duration_is(123456789012, "123s");
	duration_is(4321000000000, "4321s");
	duration_is(UINT64_MAX, "18446744074s");
	/* Where the locale has no such letter. */
	setlocale(LC_ALL, "C");
	duration_is(1000, "1.00us");
	setlocale(LC_ALL, "C.UTF-8");
}

/* Python's round(), which kvm_stat uses. */
TEST(rates_round_half_to_even)
{
	cell_is(rate(0.5), 9, false, "0");
	cell_is(rate(1.5), 9, false, "2");
	cell_is(rate(2.5), 9, false, "2");
	cell_is(rate(2.51), 9, false, "3");
	cell_is(rate(412345.4), 9, true, "412,345");
	cell_is(rate(NAN), 9, false, "-");
	cell_is(rate(-1), 9, false, "-");
}

TEST(absent_cells_are_dashes)
{
	static const float history[STATS_HISTORY];

	cell_is((struct cell){ .type = CELL_NONE }, 9, false, "-");
	cell_is((struct cell){ .type = CELL_SPARK, .spark = history }, 9, false, "-");
}

TEST(cells_print_by_type)
{
	cell_is(cell_count(1234567), 10, false, "1234567");
	cell_is(cell_count(1234567), 10, true, "1,234,567");
	cell_is((struct cell){ .type = CELL_PERCENT, .number = 45.14 }, 7, false, "45.1");
	cell_is(cell_text("kvm_exit"), 40, true, "kvm_exit");
}

TEST(text_is_cut_at_a_character)
{
	cell_is(cell_text("kvm_exit"), 8, false, "kvm_exit");
	cell_is(cell_text("kvm_exit"), 3, false, "kvm");
	cell_is(cell_text("kvm_exit"), 0, false, "");
	cell_is(cell_text("Bär"), 2, false, "Bä");
	cell_is(cell_text("Bär"), 1, false, "B");
	cell_is(cell_text("日本"), 4, false, "日本");
	cell_is(cell_text("日本"), 3, false, "日");
	/* A combining accent takes no column and stays with its letter. */
	cell_is(cell_text("e\xcc\x81x"), 1, false, "e\xcc\x81");
}

static int length_of_line(const char *text, int width)
{
	int len;

	line_of_words(&text, width, &len);
	return len;
}

TEST(a_long_word_is_cut_at_a_character)
{
	const char *text = "ab cd", *rest = text;
	int len;

	assert_int_equal(length_of_line("ab cd", 4), 2);
	assert_int_equal(length_of_line("abcdef", 4), 4);
	assert_int_equal(length_of_line("ääää", 5), 4);
	assert_int_equal(length_of_line("日本", 5), 3);
	/* No character fits: one is taken, so that a caller's loop ends. */
	assert_int_equal(length_of_line("日本", 2), 3);
	assert_int_equal(lines_of_words("ääää", 5), 2);
	assert_int_equal(lines_of_words("日本", 1), 2);
	/* The space between two lines is in neither. */
	assert_ptr_equal(line_of_words(&rest, 4, &len), text);
	assert_int_equal(len, 2);
	assert_string_equal(line_of_words(&rest, 4, &len), "cd");
	assert_null(line_of_words(&rest, 4, &len));
	/* What is no character is cut anywhere. */
	assert_int_equal(length_of_line("\x80\x80\x80\x80", 2), 2);
}

TEST(widths_are_columns_not_bytes)
{
	assert_int_equal(format_width(""), 0);
	assert_int_equal(format_width("kvm"), 3);
	assert_int_equal(format_width("Bär"), 3);
	assert_int_equal(format_width("日本"), 4);
	assert_int_equal(format_width("e\xcc\x81"), 1);
	setlocale(LC_ALL, "C");
	assert_int_equal(format_width("Bär"), 3);
	cell_is(cell_text("Bär"), 2, false, "Bä");
	setlocale(LC_ALL, "C.UTF-8");
}

TEST(what_cannot_be_printed_counts_as_one)
{
	assert_int_equal(format_width("a\nb"), 3);
	assert_int_equal(format_width("a\xff"), 2);
	assert_int_equal(format_width("a\xe6\x97"), 3);
	cell_is(cell_text("a\xff\xff"), 2, false, "a\xff");
}

/* Exact allocations, so that a sanitizer sees a byte too many. */
TEST(small_buffers_are_not_overrun)
{
	const struct cell cells[] = { cell_count(123456), cell_text("日本"), rate(123456),
				      { .type = CELL_PERCENT, .number = 45.14 },
				      { .type = CELL_NONE } };

	for (size_t size = 0; size < 8; size++) {
		for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
			char *buf = test_malloc(size + 1);
			int len;

			memset(buf, '~', size + 1);
			len = format_cell(buf, size, &cells[i], 40, false);
			assert_int_equal(buf[size], '~');
			if (size)
				assert_int_equal(strlen(buf), len);
			else
				assert_int_equal(len, 0);
			test_free(buf);
		}
	}
}

TEST(small_buffers_hold_whole_characters)
{
	struct cell cell = cell_text("日本");
	char buf[6];

	assert_int_equal(format_cell(buf, sizeof(buf), &cell, 40, false), 3);
	assert_string_equal(buf, "日");
}

/* A name of any length: what is said of it is not lost. */
TEST(what_has_ended_is_said_of_long_names)
{
	struct cell cell = cell_text("1234567890123456789012345678901234567890123456789012345678"
				     "1234567890123456789012345678901234567890123456789012345678");
	char buf[256];

	cell.has_ended = true;
	format_cell(buf, sizeof(buf), &cell, 200, false);
	assert_string_equal(buf + 116, " (ended)");
}
