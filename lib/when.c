// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads and writes moments. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lib/array.h"
#include "lib/units.h"
#include "lib/when.h"

#define NS_PER_S UINT64_C(1000000000)
#define YEAR_MIN 1970
#define YEAR_MAX 2199 /* its nanoseconds fit int64_t */
#define TEXT_MAX 64
#define NEAR_S (3 * 3600)

/* ---- the local time zone ---- */

/*
 * A local time that is there twice is the first one; one that is skipped is as of before. Which of
 * both has the flag differs: in Dublin winter time has it.
 */
static time_t from_local(const struct tm *local)
{
	time_t first = -1, later = -1;

	for (int is_dst = 0; is_dst <= 1; is_dst++) {
		struct tm tm = *local;
		time_t time;

		tm.tm_isdst = is_dst;
		time = mktime(&tm);
		if (tm.tm_hour == local->tm_hour && tm.tm_min == local->tm_min &&
		    (first < 0 || time < first))
			first = time;
		if (time > later)
			later = time;
	}
	return first < 0 ? later : first;
}

/* The date and time of a moment. */
static struct tm to_local(uint64_t time_ns)
{
	time_t time = (time_t)(time_ns / NS_PER_S);
	struct tm tm = { .tm_mday = 1 };

	localtime_r(&time, &tm);
	return tm;
}

static long offset_at(time_t time)
{
	return to_local((uint64_t)time * NS_PER_S).tm_gmtoff;
}

/*
 * Whether clocks show this time twice, because they are set back; by how much they are: no more
 * than NEAR_S. mktime(3) could tell, too, but may look through years for a zone's other time.
 */
static bool is_there_twice(const struct tm *local, time_t time)
{
	for (int side = -1; side <= 1; side += 2) {
		long near = offset_at(time + side * NEAR_S);

		if (near * side < local->tm_gmtoff * side &&
		    offset_at(time + local->tm_gmtoff - near) == near)
			return true;
	}
	return false;
}

/* ---- reading ---- */

/* A moment as it was typed. */
struct typed {
	struct tm tm;
	uint64_t ns; /* the fraction of a second */
	bool has_day, has_time, has_zone;
	bool has_name; /* the zone's name, which says whether it is summer time */
};

static const char *skip_blanks(const char *text)
{
	while (*text == ' ')
		text++;
	return text;
}

/* What follows the word; NULL: text does not begin with it. "+08", a zone, is not in "+08:00". */
static const char *skip_word(const char *text, const char *word)
{
	size_t len = strlen(word);
	bool is_word = len && strncmp(text, word, len) == 0 && text[len] != ':' &&
		       !isalnum((unsigned char)text[len]);

	return is_word ? text + len : NULL;
}

/* ".25" as nanoseconds, where it is there. Returns what follows. */
static const char *parse_fraction(const char *text, uint64_t *ret_ns)
{
	uint64_t scale = NS_PER_S;

	*ret_ns = 0;
	if (*text != '.' || !isdigit((unsigned char)text[1]))
		return text;
	for (text++; isdigit((unsigned char)*text); text++) {
		scale /= 10;
		*ret_ns += (uint64_t)(*text - '0') * scale;
	}
	return text;
}

static void set_day(struct tm *tm, const struct tm *day, int days_before)
{
	tm->tm_year = day->tm_year;
	tm->tm_mon = day->tm_mon;
	tm->tm_mday = day->tm_mday - days_before;
}

/* False: 30 February, or a year that is not supported. */
static bool is_day(const struct tm *day)
{
	struct tm tm = { .tm_year = day->tm_year, .tm_mon = day->tm_mon, .tm_mday = day->tm_mday };

	timegm(&tm);
	return tm.tm_mday == day->tm_mday && tm.tm_year >= YEAR_MIN - 1900 &&
	       tm.tm_year <= YEAR_MAX - 1900;
}

/*
 * "2026-11-21", "today", "yesterday". Returns what follows: `text` itself where there is no day;
 * NULL: no such day.
 */
static const char *parse_day(const char *text, uint64_t now_ns, struct typed *typed)
{
	const struct tm now = to_local(now_ns);
	const char *end;

	typed->has_day = true;
	end = isdigit((unsigned char)*text) ? strptime(text, "%Y-%m-%d", &typed->tm) : NULL;
	if (end)
		return is_day(&typed->tm) ? end : NULL;
	for (int i = 0; i < 2; i++) {
		end = skip_word(text, i ? "yesterday" : "today");
		if (!end)
			continue;
		set_day(&typed->tm, &now, i);
		return end;
	}
	typed->has_day = false;
	return text;
}

/* "03:12", "03:12:10.250", "03:12 CET", and after a day the zone. NULL: it is none of these. */
static const char *parse_time(const char *text, struct typed *typed)
{
	const char *end = strptime(text, "%H:%M", &typed->tm), *zone;

	if (!end)
		return NULL;
	typed->has_time = true;
	if (*end == ':') {
		end = strptime(end, ":%S", &typed->tm);
		if (!end)
			return NULL;
		end = parse_fraction(end, &typed->ns);
	}
	zone = skip_blanks(end);
	for (size_t i = 0; i < 2 && *zone; i++) {
		const char *rest = skip_word(zone, tzname[i]);

		if (rest) {
			typed->tm.tm_isdst = (int)i;
			typed->has_name = true;
			return rest;
		}
	}
	if (!typed->has_day || !*zone || !strchr("Z+-", *zone))
		return end;
	typed->has_zone = true;
	return strptime(zone, "%z", &typed->tm);
}

static uint64_t moment_of(const struct typed *typed)
{
	struct tm tm = typed->tm;
	time_t zone_s = tm.tm_gmtoff, time;

	time = typed->has_zone ? timegm(&tm) - zone_s :
	       typed->has_name ? mktime(&tm) : from_local(&tm);
	return time < 0 ? 0 : (uint64_t)time * NS_PER_S + typed->ns;
}

/* What may be meant, and the moment that "+5m" and a time of day have to follow; 0: none. */
struct time_context {
	const struct when_origin *origin;
	uint64_t from_ns;
};

/*
 * The latest such time of day that is not after now; or the first one after from_ns. If that is
 * still to come, the two were mixed up: then the one on the day of from_ns, which makes no span.
 */
static uint64_t find_time_of_day(struct typed *typed, const struct time_context *meaning)
{
	uint64_t from_ns = meaning->from_ns, now_ns = meaning->origin->now_ns;
	const struct tm day = to_local(from_ns ? from_ns : now_ns);
	uint64_t time_ns;

	set_day(&typed->tm, &day, 0);
	time_ns = moment_of(typed);
	if (from_ns && time_ns <= from_ns) {
		set_day(&typed->tm, &day, -1);
		if (moment_of(typed) > now_ns)
			return time_ns;
	} else if (!from_ns && time_ns > now_ns) {
		set_day(&typed->tm, &day, 1);
	}
	return moment_of(typed);
}

/* A day, a time, or both. False: not understood. */
static bool parse_calendar(const char *text, const struct time_context *meaning, uint64_t *ret_ns)
{
	struct typed typed = { .has_day = false };
	const char *end = parse_day(text, meaning->origin->now_ns, &typed);

	if (!end)
		return false;
	if (typed.has_day && *end) {
		if (*end != 'T' && *end != ' ')
			return false;
		end = skip_blanks(end + 1);
	}
	if (*end || !typed.has_day)
		end = parse_time(end, &typed);
	if (!end || *skip_blanks(end))
		return false;
	*ret_ns = typed.has_day ? moment_of(&typed) : find_time_of_day(&typed, meaning);
	return true;
}

/* "@1763773930.25" */
static bool parse_epoch(const char *text, uint64_t *ret_ns)
{
	uint64_t seconds = 0, ns;
	struct tm tm;
	time_t time;

	if (!isdigit((unsigned char)*text))
		return false;
	for (; isdigit((unsigned char)*text); text++) {
		if (seconds > UINT32_MAX)
			return false;
		seconds = seconds * 10 + (uint64_t)(*text - '0');
	}
	time = (time_t)seconds;
	if (*parse_fraction(text, &ns) || !gmtime_r(&time, &tm) || !is_day(&tm))
		return false;
	*ret_ns = seconds * NS_PER_S + ns;
	return true;
}

/* "-30s", "+5m"; "30s" leads back */
static bool parse_offset(const char *text, const struct time_context *meaning, uint64_t *ret_ns)
{
	uint64_t base_ns = meaning->origin->shown_ns, ns;

	if (duration_parse(text + (*text == '-' || *text == '+'), &ns, &(struct error){ "" }) < 0)
		return false;
	if (*text == '+')
		*ret_ns = (meaning->from_ns ? meaning->from_ns : base_ns) + ns;
	else
		*ret_ns = base_ns > ns ? base_ns - ns : 0;
	return true;
}

static int parse(const char *text, const struct time_context *meaning, uint64_t *ret_ns,
		 struct error *error)
{
	const char *at = skip_blanks(text), *end = skip_word(at, "now");
	bool is_valid;

	if (*at == '-' || *at == '+') {
		if (parse_offset(at, meaning, ret_ns))
			return 0;
		return error_set(error, -EINVAL, "\"%.40s\": not a step such as -30s, +5m, -1d12h",
				 text);
	}
	if (end && !*skip_blanks(end)) {
		*ret_ns = meaning->origin->now_ns;
		return 0;
	}
	is_valid = *at == '@' ? parse_epoch(at + 1, ret_ns) :
				parse_calendar(at, meaning, ret_ns) ||
					parse_offset(at, meaning, ret_ns);
	if (is_valid)
		return 0;
	return error_set(error, -EINVAL,
			 "\"%.40s\": not a time such as 03:12, -30s, yesterday 03:12, "
				     "2026-11-21 03:12:10", text);
}

int when_parse(const char *text, const struct when_origin *origin, uint64_t *ret_ns,
	       struct error *error)
{
	return parse(text, &(struct time_context){ .origin = origin }, ret_ns, error);
}

int when_parse_span(const char *from, const char *to, const struct when_origin *origin,
		    uint64_t *ret_from_ns, uint64_t *ret_to_ns, struct error *error)
{
	struct time_context meaning = { .origin = origin };
	uint64_t from_ns = 0, to_ns = UINT64_MAX;
	int err = 0;

	if (from && *from)
		err = parse(from, &meaning, &from_ns, error);
	meaning.from_ns = from_ns;
	if (!err && to && *to)
		err = parse(to, &meaning, &to_ns, error);
	if (err)
		return err;
	if (to_ns <= from_ns)
		return error_set(error, -ERANGE, "\"%.40s\" is not after \"%.40s\"", to,
				 from && *from ? from : "@0");
	*ret_from_ns = from_ns;
	*ret_to_ns = to_ns;
	return 0;
}

int when_parse_range(const char *text, const struct when_origin *origin, uint64_t *ret_from_ns,
		     uint64_t *ret_to_ns, struct error *error)
{
	const char *dots = strstr(text, "..");
	char from[TEXT_MAX];

	if (!dots || (size_t)(dots - text) >= sizeof(from))
		return error_set(error, -EINVAL, "\"%.80s\": not a span such as 03:10..03:15",
				 text);
	snprintf(from, sizeof(from), "%.*s", (int)(dots - text), text);
	return when_parse_span(from, dots + 2, origin, ret_from_ns, ret_to_ns, error);
}

/* ---- writing ---- */

static bool is_same_day(uint64_t time_ns, uint64_t other_ns)
{
	const struct tm tm = to_local(time_ns), other = to_local(other_ns);

	return tm.tm_year == other.tm_year && tm.tm_yday == other.tm_yday;
}

static void put_clock(char *buf, size_t size, uint64_t time_ns, bool has_date, int decimals)
{
	const struct tm tm = to_local(time_ns);
	size_t len = strftime(buf, size, has_date ? "%Y-%m-%d %H:%M:%S" : "%H:%M:%S", &tm);
	char fraction[16];

	snprintf(fraction, sizeof(fraction), ".%09u", (unsigned int)(time_ns % NS_PER_S));
	if (decimals)
		len += (size_t)snprintf(buf + len, size - len, "%.*s", 1 + decimals, fraction);
	if (when_is_twice(time_ns))
		snprintf(buf + len, size - len, " %s", tm.tm_zone);
}

void when_format(char *buf, size_t size, uint64_t time_ns, uint64_t now_ns)
{
	put_clock(buf, size, time_ns, !is_same_day(time_ns, now_ns), 0);
}

void when_format_ms(char *buf, size_t size, uint64_t time_ns, uint64_t now_ns)
{
	put_clock(buf, size, time_ns, !is_same_day(time_ns, now_ns), 3);
}

void when_format_us(char *buf, size_t size, uint64_t time_ns, uint64_t now_ns)
{
	put_clock(buf, size, time_ns, !is_same_day(time_ns, now_ns), 6);
}

void when_format_clock(char *buf, size_t size, uint64_t time_ns, bool has_date, bool has_ms)
{
	put_clock(buf, size, time_ns, has_date, has_ms ? 3 : 0);
}

bool when_is_twice(uint64_t time_ns)
{
	const struct tm tm = to_local(time_ns);

	return is_there_twice(&tm, (time_t)(time_ns / NS_PER_S));
}

void when_format_zone(char *buf, size_t size, uint64_t time_ns)
{
	const struct tm tm = to_local(time_ns);

	snprintf(buf, size, "%s", tm.tm_zone);
}

/* %f would write the decimal point of the locale. */
void when_format_seconds(char *buf, size_t size, uint64_t ns)
{
	uint64_t us = ns / 1000;

	snprintf(buf, size, "%" PRIu64 ".%06" PRIu64, us / 1000000, us % 1000000);
}

void when_format_iso(char *buf, size_t size, uint64_t time_ns)
{
	const struct tm tm = to_local(time_ns);
	size_t len = strftime(buf, size, "%Y-%m-%dT%H:%M:%S", &tm);
	long minutes = labs(tm.tm_gmtoff) / 60;

	snprintf(buf + len, size - len, ".%03u%c%02ld:%02ld",
		 (unsigned int)(time_ns / 1000000 % 1000), tm.tm_gmtoff < 0 ? '-' : '+',
		 minutes / 60, minutes % 60);
}

/* The two largest units, without the second one where it is 0. */
static void format_span(char *buf, size_t size, uint64_t seconds)
{
	static const struct {
		const char *name;
		uint64_t seconds;
	} units[] = { { "d", 86400 }, { "h", 3600 }, { "min", 60 }, { "s", 1 } };
	size_t i = 0;
	uint64_t rest;
	int len;

	while (i < ARRAY_SIZE(units) - 1 && seconds < units[i].seconds)
		i++;
	len = snprintf(buf, size, "%" PRIu64 " %s", seconds / units[i].seconds, units[i].name);
	if (i == ARRAY_SIZE(units) - 1)
		return;
	rest = seconds % units[i].seconds / units[i + 1].seconds;
	if (rest)
		snprintf(buf + len, size - (size_t)len, " %" PRIu64 " %s", rest, units[i + 1].name);
}

void when_format_ago(char *buf, size_t size, uint64_t time_ns, uint64_t now_ns)
{
	bool is_later = time_ns > now_ns;
	uint64_t seconds = (is_later ? time_ns - now_ns : now_ns - time_ns) / NS_PER_S;
	char span[WHEN_SIZE];

	format_span(span, sizeof(span), seconds);
	if (is_later && seconds)
		snprintf(buf, size, "in %s", span);
	else
		snprintf(buf, size, "%s ago", span);
}
