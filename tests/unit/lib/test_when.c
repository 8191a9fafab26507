// SPDX-License-Identifier: GPL-2.0-or-later
/* Moments, durations and sizes as users type them. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/units.h"
#include "lib/when.h"
#include "tests/unit/unit.h"

#define NS_PER_S UINT64_C(1000000000)

/* The rules of Europe/Berlin and Asia/Kolkata, for machines that have no list of time zones. */
#define BERLIN "CET-1CEST,M3.5.0,M10.5.0/3"
#define KOLKATA "IST-5:30"
/* Of Europe/Dublin: winter is the exception, tm_isdst is 1 then, and the clocks are set back. */
#define DUBLIN "IST-1GMT0,M10.5.0,M3.5.0/1"

static struct error error;

static void use_zone(const char *zone)
{
	setenv("TZ", zone, 1);
	tzset();
}

/* The seconds since 1970 of a date and time in UTC. */
static uint64_t utc(const char *text)
{
	struct tm tm = { .tm_year = 0 };

	assert_non_null(strptime(text, "%Y-%m-%d %H:%M:%S", &tm));
	return (uint64_t)timegm(&tm);
}

static int parse(const char *text, const char *now, const char *shown, uint64_t *ret_ns)
{
	const struct when_origin origin = { utc(now) * NS_PER_S, utc(shown) * NS_PER_S };

	error = (struct error){ "" };
	return when_parse(text, &origin, ret_ns, &error);
}

static void means_fraction(const char *text, const char *now, const char *want, uint64_t want_ns)
{
	uint64_t ns = 0;

	if (parse(text, now, now, &ns) < 0)
		fail_msg("\"%s\": %s", text, error.text);
	if (ns != utc(want) * NS_PER_S + want_ns)
		fail_msg("\"%s\" at %s is %" PRIu64 ", wanted %s", text, now, ns, want);
}

/* now and want are in UTC. */
static void means(const char *text, const char *now, const char *want)
{
	means_fraction(text, now, want, 0);
}

static void refuses(const char *text, const char *with)
{
	uint64_t untouched = 4711;

	assert_int_equal(parse(text, "2026-11-22 12:00:00", "2026-11-22 12:00:00", &untouched),
			 -EINVAL);
	assert_int_equal(untouched, 4711);
	if (!strstr(error.text, with))
		fail_msg("\"%s\": \"%s\", wanted \"%s\"", text, error.text, with);
}

TEST(utc_has_no_surprises)
{
	const char *now = "2026-11-22 10:31:07";

	use_zone("UTC0");
	means("now", now, now);
	means("03:12", now, "2026-11-22 03:12:00");
	means("3:12", now, "2026-11-22 03:12:00");
	means(" 03:12 ", now, "2026-11-22 03:12:00");
	means("03:12:10", now, "2026-11-22 03:12:10");
	means("10:31:07", now, now);
	means("10:31:08", now, "2026-11-21 10:31:08");
	means("00:00", now, "2026-11-22 00:00:00");
	means("23:59", now, "2026-11-21 23:59:00");
	means("23:59", "2026-01-01 00:00:00", "2025-12-31 23:59:00");
	means("2026-11-21 03:12", now, "2026-11-21 03:12:00");
	means("2026-11-21T03:12:10", now, "2026-11-21 03:12:10");
	means("2026-11-21  03:12:10", now, "2026-11-21 03:12:10");
	means("2026-11-21", now, "2026-11-21 00:00:00");
	means("2026-11-30 03:12", now, "2026-11-30 03:12:00");
	means("2024-02-29 00:00", now, "2024-02-29 00:00:00");
	means("yesterday 03:12", now, "2026-11-21 03:12:00");
	means("yesterday", "2026-03-01 12:00:00", "2026-02-28 00:00:00");
	means("today", now, "2026-11-22 00:00:00");
	means("today 23:00", now, "2026-11-22 23:00:00");
	means("@1763773930", now, "2025-11-22 01:12:10");
	means_fraction("2026-11-21 03:12:10.250", now, "2026-11-21 03:12:10", 250000000);
	means_fraction("03:12:10.123456789123", now, "2026-11-22 03:12:10", 123456789);
	means_fraction("@1763773930.5", now, "2025-11-22 01:12:10", 500000000);
}

TEST(zones_are_those_of_the_text)
{
	static const char *const zones[] = { "UTC0", BERLIN, KOLKATA };
	const char *now = "2026-11-22 10:31:07";

	for (size_t i = 0; i < ARRAY_SIZE(zones); i++) {
		use_zone(zones[i]);
		means("2026-11-21T03:12:10Z", now, "2026-11-21 03:12:10");
		means("2026-11-21 03:12Z", now, "2026-11-21 03:12:00");
		means("2026-11-21T03:12:10+01:00", now, "2026-11-21 02:12:10");
		means("2026-11-21T03:12:10 +0530", now, "2026-11-20 21:42:10");
		means("2026-11-21T03:12:10-08:00", now, "2026-11-21 11:12:10");
		means_fraction("2026-11-21T03:12:10.250+01:00", now, "2026-11-21 02:12:10",
			       250000000);
		means("@1763773930", now, "2025-11-22 01:12:10");
	}
}

TEST(half_an_hour_is_an_offset)
{
	use_zone(KOLKATA);
	means("03:12", "2026-11-22 10:31:07", "2026-11-21 21:42:00");
	means("16:01:07", "2026-11-22 10:31:07", "2026-11-22 10:31:07");
	means("16:01:08", "2026-11-22 10:31:07", "2026-11-21 10:31:08");
	means("yesterday 03:12", "2026-11-22 19:00:00", "2026-11-21 21:42:00");
	means("2026-11-21", "2026-11-22 10:31:07", "2026-11-20 18:30:00");
}

/* Names of zones that are numbers, as those of Asia/Dubai and America/Sao_Paulo. */
TEST(zones_named_by_a_number)
{
	static const char *const zones[] = { "<-03>3", "<+04>-4", "<+03>-3", "<+08>-8",
					     "<+0545>-5:45", "<-03>3<-02>,M10.3.0/0,M2.3.0/0" };
	const char *now = "2026-11-22 12:00:00";

	for (size_t i = 0; i < ARRAY_SIZE(zones); i++) {
		use_zone(zones[i]);
		means("2026-11-21 03:12:10-03:00", now, "2026-11-21 06:12:10");
		means("2026-11-21 03:12:10 +0800", now, "2026-11-20 19:12:10");
		means("2026-11-21 03:12:10+04:00", now, "2026-11-20 23:12:10");
		means("2026-11-21T03:12:10+03", now, "2026-11-21 00:12:10");
		means("2026-11-21T03:12:10+0545", now, "2026-11-20 21:27:10");
	}
	use_zone("<+08>-8");
	means("03:12 +08", now, "2026-11-21 19:12:00");
}

/* 2026-10-25: at 03:00 CEST clocks are set to 02:00 CET. */
static void clocks_go_back(void)
{
	means("02:30", "2026-10-25 12:00:00", "2026-10-25 00:30:00"); /* twice: the first */
	means("2026-10-25 02:00", "2026-10-25 12:00:00", "2026-10-25 00:00:00");
	means("2026-10-25 02:59:59", "2026-10-25 12:00:00", "2026-10-25 00:59:59");
	means("2026-10-25 01:59:59", "2026-10-25 12:00:00", "2026-10-24 23:59:59");
	means("2026-10-25 03:00", "2026-10-25 12:00:00", "2026-10-25 02:00:00");
	means("02:30", "2026-10-25 01:10:00", "2026-10-25 00:30:00"); /* in the second 02:10 */
	means("02:30", "2026-10-25 00:29:59", "2026-10-24 00:30:00");
	means("03:12", "2026-10-25 12:00:00", "2026-10-25 02:12:00");
	means("yesterday 03:12", "2026-10-25 12:00:00", "2026-10-24 01:12:00");
	means("2026-10-25T02:30+01:00", "2026-10-25 12:00:00", "2026-10-25 01:30:00");
	means("2026-10-26", "2026-10-25 12:00:00", "2026-10-25 23:00:00");
}

/* 2026-03-29: at 02:00 CET clocks are set to 03:00 CEST. */
static void clocks_go_forward(void)
{
	means("02:30", "2026-03-29 12:00:00", "2026-03-29 01:30:00"); /* never: as of winter */
	means("2026-03-29 02:00", "2026-03-29 12:00:00", "2026-03-29 01:00:00");
	means("2026-03-29 02:59:59", "2026-03-29 12:00:00", "2026-03-29 01:59:59");
	means("2026-03-29 01:59:59", "2026-03-29 12:00:00", "2026-03-29 00:59:59");
	means("2026-03-29 03:00", "2026-03-29 12:00:00", "2026-03-29 01:00:00");
	means("02:30", "2026-03-29 00:59:59", "2026-03-28 01:30:00");
	means("yesterday 02:30", "2026-03-29 12:00:00", "2026-03-28 01:30:00");
	means("yesterday 02:30", "2026-03-30 12:00:00", "2026-03-29 01:30:00");
	means("03:12", "2026-03-30 00:00:00", "2026-03-29 01:12:00");
}

TEST(clocks_are_set)
{
	use_zone(BERLIN);
	clocks_go_back();
	clocks_go_forward();
	if (access("/usr/share/zoneinfo/Europe/Berlin", R_OK) == 0) {
		use_zone("Europe/Berlin");
		clocks_go_back();
		clocks_go_forward();
	}
}

/* 2026-10-25: at 02:00 of summer clocks are set to 01:00; 2026-03-29: at 01:00 GMT to 02:00. */
TEST(winter_is_the_exception)
{
	static const char *const zones[] = { DUBLIN, "Europe/Dublin" };

	for (size_t i = 0; i < ARRAY_SIZE(zones); i++) {
		if (i && access("/usr/share/zoneinfo/Europe/Dublin", R_OK) < 0)
			continue;
		use_zone(zones[i]);
		means("2026-10-25 01:30", "2026-10-25 12:00:00", "2026-10-25 00:30:00");
		means("2026-10-25 02:30", "2026-10-25 12:00:00", "2026-10-25 02:30:00");
		means("2026-03-29 01:30", "2026-03-29 12:00:00", "2026-03-29 01:30:00");
		means("2026-07-01 12:00", "2026-07-01 12:00:00", "2026-07-01 11:00:00");
		means("2026-12-01 12:00", "2026-12-01 12:00:00", "2026-12-01 12:00:00");
	}
}

/* Samoa skipped a whole day, 2011-12-30. */
TEST(days_beside_one_that_is_missing)
{
	if (access("/usr/share/zoneinfo/Pacific/Apia", R_OK) < 0)
		skip();
	use_zone("Pacific/Apia");
	means("2011-12-29 12:00", "2012-01-02 00:00:00", "2011-12-29 22:00:00");
	means("2011-12-31 12:00", "2012-01-02 00:00:00", "2011-12-30 22:00:00");
}

TEST(steps_are_from_what_is_shown)
{
	const char *now = "2026-11-22 12:00:00", *shown = "2026-11-22 10:31:07";
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "-30s", "2026-11-22 10:30:37" },
		{ "+5m", "2026-11-22 10:36:07" },
		{ "5m", "2026-11-22 10:26:07" },
		{ "1d 12h", "2026-11-20 22:31:07" },
		{ "+5 min", "2026-11-22 10:36:07" },
		{ "-2h", "2026-11-22 08:31:07" },
		{ "-1d12h", "2026-11-20 22:31:07" },
		{ "-1d 12h", "2026-11-20 22:31:07" },
		{ "-1.5h", "2026-11-22 09:01:07" },
		{ "-0", "2026-11-22 10:31:07" },
		{ "-90w", "2025-03-02 10:31:07" },
		{ "-80 w", "2025-05-11 10:31:07" },
		{ "-99d99h", "2026-08-11 07:31:07" },
		{ "now", "2026-11-22 12:00:00" },
		{ "11:59", "2026-11-22 11:59:00" },
	};
	uint64_t ns = 0;

	use_zone("UTC0");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(parse(cases[i].text, now, shown, &ns), 0);
		assert_int_equal(ns, utc(cases[i].want) * NS_PER_S);
	}
	assert_int_equal(parse("-100ms", now, shown, &ns), 0);
	assert_int_equal(ns, utc(shown) * NS_PER_S - NS_PER_S / 10);
	assert_int_equal(parse("-99w", "1970-01-02 00:00:00", "1970-01-02 00:00:00", &ns), 0);
	assert_int_equal(ns, 0);
}

TEST(errors_say_what_is_right)
{
	use_zone(BERLIN);
	refuses("", "\"\": not a time such as 03:12, -30s, yesterday 03:12, 2026-11-21 03:12:10");
	refuses("tomorrow", "not a time such as");
	refuses("25:12", "not a time such as");
	refuses("03:60", "not a time such as");
	refuses("03", "not a time such as");
	refuses("03:12:", "not a time such as");
	refuses("03:12:10.", "not a time such as");
	refuses("03:12 x", "not a time such as");
	refuses("03:12Z", "not a time such as"); /* of which day? */
	refuses("2026-02-30 03:12", "not a time such as");
	refuses("2026-02-30", "not a time such as");
	refuses("2026-13-01", "not a time such as");
	refuses("1969-12-31", "not a time such as");
	refuses("2200-01-01", "not a time such as");
	refuses("2026-11-21x03:12", "not a time such as");
	refuses("2026-11-21 03:12 EET", "not a time such as");
	refuses("nowadays", "not a time such as");
	refuses("now 03:12", "not a time such as");
	refuses("yesterdays", "not a time such as");
	refuses("@", "not a time such as");
	refuses("@-5", "not a time such as");
	refuses("@7258118400", "not a time such as"); /* 2200 */
	refuses("@99999999999999999999", "not a time such as");
	refuses("-30", "\"-30\": not a step such as -30s, +5m, -1d12h");
	refuses("5", "not a time such as");
	refuses("-", "not a step such as");
	refuses("-5y", "not a step such as");
	refuses("--5s", "not a step such as");
	refuses("-101w99999999d", "not a step such as");
}

TEST(spans_go_forward)
{
	const struct when_origin origin = { utc("2026-11-22 10:00:00") * NS_PER_S,
					    utc("2026-11-22 09:00:00") * NS_PER_S };
	static const struct {
		const char *text, *from, *to;
	} cases[] = {
		{ "03:10..03:15", "2026-11-22 03:10:00", "2026-11-22 03:15:00" },
		{ "23:50..00:10", "2026-11-21 23:50:00", "2026-11-22 00:10:00" },
		{ "2026-11-01 03:10..03:15", "2026-11-01 03:10:00", "2026-11-01 03:15:00" },
		{ "2026-11-01 03:10..+5m", "2026-11-01 03:10:00", "2026-11-01 03:15:00" },
		{ "2026-11-01 23:50..00:10", "2026-11-01 23:50:00", "2026-11-02 00:10:00" },
		{ "yesterday 03:10 .. today 03:15", "2026-11-21 03:10:00", "2026-11-22 03:15:00" },
		{ "-2h..-1h", "2026-11-22 07:00:00", "2026-11-22 08:00:00" },
		{ "-2h..+1h", "2026-11-22 07:00:00", "2026-11-22 08:00:00" },
		{ "-2h..now", "2026-11-22 07:00:00", "2026-11-22 10:00:00" },
		{ "03:12:10.0..03:12:11", "2026-11-22 03:12:10", "2026-11-22 03:12:11" },
		{ "2026-10-01..2026-11-01", "2026-10-01 00:00:00", "2026-11-01 00:00:00" },
	};
	uint64_t from = 1, to = 1;

	use_zone("UTC0");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (when_parse_range(cases[i].text, &origin, &from, &to, &error) < 0)
			fail_msg("\"%s\": %s", cases[i].text, error.text);
		if (from != utc(cases[i].from) * NS_PER_S || to != utc(cases[i].to) * NS_PER_S)
			fail_msg("\"%s\": %" PRIu64 " %" PRIu64, cases[i].text, from, to);
	}
	assert_int_equal(when_parse_range("..", &origin, &from, &to, &error), 0);
	assert_true(from == 0 && to == UINT64_MAX);
	assert_int_equal(when_parse_range("03:10..", &origin, &from, &to, &error), 0);
	assert_true(from == utc("2026-11-22 03:10:00") * NS_PER_S && to == UINT64_MAX);
	assert_int_equal(when_parse_range("..03:10", &origin, &from, &to, &error), 0);
	assert_true(from == 0 && to == utc("2026-11-22 03:10:00") * NS_PER_S);
	assert_int_equal(when_parse_span(NULL, NULL, &origin, &from, &to, &error), 0);
	assert_true(from == 0 && to == UINT64_MAX);
}

TEST(spans_that_are_none)
{
	const struct when_origin origin = { utc("2026-11-22 10:00:00") * NS_PER_S,
					    utc("2026-11-22 09:00:00") * NS_PER_S };
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "03:10", "\"03:10\": not a span such as 03:10..03:15" },
		{ "03:10-03:15", "not a span such as" },
		{ "03:10..x", "\"x\": not a time such as" },
		{ "x..03:10", "\"x\": not a time such as" },
		{ "03:10...03:15", "\".03:15\": not a time such as" },
		{ "-1h..-2h", "\"-2h\" is not after \"-1h\"" },
		{ "03:10..+0", "\"+0\" is not after \"03:10\"" },
		{ "09:50..09:40", "\"09:40\" is not after \"09:50\"" }, /* tomorrow's is to come */
		{ "..-30000d", "\"-30000d\" is not after \"@0\"" },
		{ "2026-11-21 03:12:10.0000000000000000000000000000000000000000000000000000..",
		  "not a span such as" },
	};
	uint64_t from = 1, to = 2;

	use_zone("UTC0");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(when_parse_range(cases[i].text, &origin, &from, &to, &error),
				 strstr(cases[i].error, "is not after") ? -ERANGE : -EINVAL);
		if (!strstr(error.text, cases[i].error))
			fail_msg("\"%s\": %s", cases[i].text, error.text);
		assert_true(from == 1 && to == 2);
	}
	assert_int_equal(when_parse_span(NULL, "-30000d", &origin, &from, &to, &error), -ERANGE);
	assert_string_equal(error.text, "\"-30000d\" is not after \"@0\"");
}

static void is_written(const char *time, const char *now, const char *want)
{
	char text[WHEN_SIZE];

	when_format(text, sizeof(text), utc(time) * NS_PER_S + NS_PER_S / 2, utc(now) * NS_PER_S);
	assert_string_equal(text, want);
}

TEST(times_are_written)
{
	use_zone(BERLIN);
	is_written("2026-11-22 09:31:07", "2026-11-22 12:00:00", "10:31:07");
	is_written("2026-11-22 09:31:07", "2026-11-22 22:59:59", "10:31:07");
	is_written("2026-11-22 09:31:07", "2026-11-22 23:00:00", "2026-11-22 10:31:07");
	is_written("2026-11-21 23:00:00", "2026-11-22 12:00:00", "00:00:00");
	is_written("2025-11-22 09:31:07", "2026-11-22 12:00:00", "2025-11-22 10:31:07");
	is_written("2026-07-01 09:31:07", "2026-11-22 12:00:00", "2026-07-01 11:31:07");
	is_written("2026-10-24 23:59:59", "2026-10-25 12:00:00", "01:59:59");
	is_written("2026-10-25 00:30:00", "2026-10-25 12:00:00", "02:30:00 CEST");
	is_written("2026-10-25 01:30:00", "2026-10-25 12:00:00", "02:30:00 CET");
	is_written("2026-10-25 02:00:00", "2026-10-26 12:00:00", "2026-10-25 03:00:00");
	is_written("2026-03-29 01:30:00", "2026-03-29 12:00:00", "03:30:00");
	use_zone(KOLKATA);
	is_written("2026-11-22 09:31:07", "2026-11-22 12:00:00", "15:01:07");
}

/* With all that a text may have; 25 October has an hour that comes twice. */
TEST(decimals_stand_before_the_zone)
{
	const uint64_t time_ns = UINT64_C(1792888200) * NS_PER_S + 123456789; /* 00:30 UTC */
	char text[WHEN_SIZE];

	use_zone(BERLIN);
	when_format_us(text, sizeof(text), time_ns, time_ns);
	assert_string_equal(text, "02:30:00.123456 CEST");
	when_format_us(text, sizeof(text), time_ns, time_ns + 86400 * NS_PER_S);
	assert_string_equal(text, "2026-10-25 02:30:00.123456 CEST");
	when_format_ms(text, sizeof(text), time_ns + 3600 * NS_PER_S, time_ns);
	assert_string_equal(text, "02:30:00.123 CET");
}

static void is_ago(uint64_t time_s, uint64_t now_s, const char *want)
{
	char text[WHEN_SIZE];

	when_format_ago(text, sizeof(text), time_s * NS_PER_S, now_s * NS_PER_S + 999);
	assert_string_equal(text, want);
}

TEST(spans_are_written)
{
	const uint64_t now = 1763773930;

	is_ago(now, now, "0 s ago");
	is_ago(now - 1, now, "1 s ago");
	is_ago(now - 45, now, "45 s ago");
	is_ago(now - 60, now, "1 min ago");
	is_ago(now - 61, now, "1 min 1 s ago");
	is_ago(now - 3599, now, "59 min 59 s ago");
	is_ago(now - 3600, now, "1 h ago");
	is_ago(now - 3 * 3600 - 12 * 60 - 59, now, "3 h 12 min ago");
	is_ago(now - 2 * 86400 - 59 * 60, now, "2 d ago");
	is_ago(now - 2 * 86400 - 3600, now, "2 d 1 h ago");
	is_ago(0, now, "20414 d 1 h ago");
	is_ago(now + 46, now, "in 45 s");
}

TEST(seconds_are_written)
{
	char text[WHEN_SIZE];

	when_format_seconds(text, sizeof(text), 0);
	assert_string_equal(text, "0.000000");
	when_format_seconds(text, sizeof(text), 12345678901999);
	assert_string_equal(text, "12345.678901");
}

/* What is written is read as the same second, also in the hour that comes twice. */
TEST(what_is_written_is_read)
{
	static const char *const zones[] = { "UTC0", BERLIN, KOLKATA };
	const uint64_t now = utc("2026-12-31 22:00:00");
	const struct when_origin origin = { now * NS_PER_S, now * NS_PER_S };
	char text[WHEN_SIZE];
	uint64_t ns;

	for (size_t i = 0; i < ARRAY_SIZE(zones); i++) {
		use_zone(zones[i]);
		for (uint64_t time = utc("2026-01-01 00:00:00"); time <= now; time += 3593) {
			when_format(text, sizeof(text), time * NS_PER_S, now * NS_PER_S);
			assert_int_equal(when_parse(text, &origin, &ns, &error), 0);
			assert_int_equal(ns, time * NS_PER_S);
		}
	}
}

static void lasts(const char *text, uint64_t ms)
{
	uint64_t ns = 4711;

	if (duration_parse(text, &ns, &error) < 0)
		fail_msg("\"%s\": %s", text, error.text);
	assert_int_equal(ns, ms * 1000000);
}

TEST(durations_have_units)
{
	static const char *const wrong[] = { "", "7", "d", "7y", "7d12", "-7d", "1.2.3s", ".s",
					     "0x5s", "7d,12h", "1e3s", "nans", "7 d x" };
	uint64_t untouched = 4711;

	lasts("0", 0);
	lasts("0s", 0);
	lasts("250ms", 250);
	lasts("3000us", 3);
	lasts("3000 µs", 3);
	lasts("7d", UINT64_C(7) * 86400 * 1000);
	lasts("7 d", UINT64_C(7) * 86400 * 1000);
	lasts("12h", 12 * 3600 * 1000);
	lasts("30min", 30 * 60 * 1000);
	lasts("30m", 30 * 60 * 1000);
	lasts("30MIN", 30 * 60 * 1000);
	lasts("90s", 90 * 1000);
	lasts("90 sec", 90 * 1000);
	lasts("2w", UINT64_C(14) * 86400 * 1000);
	lasts("1d12h", 36 * 3600 * 1000);
	lasts("1 h 30 min", 90 * 60 * 1000);
	lasts("1.5h", 90 * 60 * 1000);
	lasts("36525d", DURATION_MAX_NS / 1000000);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		assert_int_equal(duration_parse(wrong[i], &untouched, &error), -EINVAL);
		assert_non_null(strstr(error.text, "such as 200us, 5ms, 30s, 10min, 7d"));
	}
	assert_int_equal(duration_parse("36526d", &untouched, &error), -EINVAL);
	assert_string_equal(error.text, "\"36526d\": longer than 100 years");
	assert_int_equal(untouched, 4711);
}

static void has_size(const char *text, uint64_t want)
{
	uint64_t bytes = 4711;

	if (size_parse(text, &bytes, &error) < 0)
		fail_msg("\"%s\": %s", text, error.text);
	assert_int_equal(bytes, want);
}

TEST(sizes_have_units)
{
	static const char *const wrong[] = { "", "2", "G", "2X", "2G5M", "-2G", "2.2.2G", "2GBit",
					     "9999999999T" };
	uint64_t untouched = 4711;

	has_size("0", 0);
	has_size("100B", 100);
	has_size("2G", UINT64_C(2) << 30);
	has_size("2g", UINT64_C(2) << 30);
	has_size("500M", UINT64_C(500) << 20);
	has_size("4MiB", 4 << 20);
	has_size("4 MiB", 4 << 20);
	has_size("64k", 64 << 10);
	has_size("1.5G", UINT64_C(3) << 29);
	has_size("2GB", UINT64_C(2000000000));
	has_size("1T", UINT64_C(1) << 40);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		assert_int_equal(size_parse(wrong[i], &untouched, &error), -EINVAL);
		assert_non_null(strstr(error.text, "not a size such as 500M, 64MiB, 2G"));
	}
	assert_int_equal(untouched, 4711);
}
