/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * when - moments as users type and read them: "-30s", "03:12", "yesterday 03:12".
 *
 *	-30s +5m -2h -1d12h	from the moment that is shown; units.h has the units
 *	03:12 03:12:10.5	the latest such time of day that is not after now
 *	2026-11-21 03:12:10	also with a T between them, a fraction, and a zone: Z +01:00 +0100
 *	03:12 CET		in summer or winter time, by the names of the local zone
 *	2026-11-21		where that day begins
 *	yesterday 03:12, today	the same
 *	now
 *	@1763773930.25		seconds since 1970
 *
 * Times are in ns of CLOCK_REALTIME, texts in the local time zone. A time of day that exists twice,
 * because clocks were set back, is read as the first one, and written with the zone's name; one
 * that does not exist, because clocks were set forward, is read by the clock of before that: 02:30
 * means 03:30.
 */
#ifndef KVMTOP_LIB_WHEN_H
#define KVMTOP_LIB_WHEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"

/* What a text may refer to. */
struct when_origin {
	uint64_t now_ns;   /* the present; of what is over, its end */
	uint64_t shown_ns; /* the moment that is shown */
};

/* 0, or -EINVAL with error: what is wrong, and a right example. */
int when_parse(const char *text, const struct when_origin *origin, uint64_t *ret_ns,
	       struct error *error);

/*
 * A span of time, from a moment to a later one. NULL or "": from the beginning (0), to the end
 * (UINT64_MAX). In `to`, "+5m" is after the first moment, and a time of day without a day is the
 * next one after it, if that is not after now. 0, -EINVAL with error, or -ERANGE with error: the
 * second moment, which may be relative, is not after the first.
 */
int when_parse_span(const char *from, const char *to, const struct when_origin *origin,
		    uint64_t *ret_from_ns, uint64_t *ret_to_ns, struct error *error);

/* Parses a span that is one text, FROM..TO. */
int when_parse_range(const char *text, const struct when_origin *origin, uint64_t *ret_from_ns,
		     uint64_t *ret_to_ns, struct error *error);

#define WHEN_SIZE 48 /* for the texts below */

/* "10:31:07"; of another day than now "2026-11-21 10:31:07"; also with decimals. */
void when_format(char *buf, size_t size, uint64_t time_ns, uint64_t now_ns);
void when_format_ms(char *buf, size_t size, uint64_t time_ns, uint64_t now_ns);
void when_format_us(char *buf, size_t size, uint64_t time_ns, uint64_t now_ns);

/* "10:31:07", with the date before it, or milliseconds after it. */
void when_format_clock(char *buf, size_t size, uint64_t time_ns, bool has_date, bool has_ms);

/* Whether clocks show this time twice: the texts above then end with the zone, " CET". */
bool when_is_twice(uint64_t time_ns);

/* The zone that local times are in then: "CET". */
void when_format_zone(char *buf, size_t size, uint64_t time_ns);

/* Seconds from the start of what has no time of day: "2.500000". */
void when_format_seconds(char *buf, size_t size, uint64_t ns);

/* ISO 8601, to the millisecond, with the offset from UTC: "2026-11-21T10:31:07.123+01:00". */
void when_format_iso(char *buf, size_t size, uint64_t time_ns);

/* "45 s ago", "3 h 12 min ago", "2 d ago"; less than a second: "0 s ago"; later: "in 45 s". */
void when_format_ago(char *buf, size_t size, uint64_t time_ns, uint64_t now_ns);

#endif
