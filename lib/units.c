// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads numbers with units. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/array.h"
#include "lib/units.h"

#define NS_PER_US 1e3
#define NS_PER_MS 1e6
#define NS_PER_S 1e9
#define SIZE_MAX_BYTES 9e18
#define NUMBER_SIZE 32

struct unit {
	const char *name;
	double size;
};

static const struct unit durations[] = {
	{ "us", NS_PER_US }, { "µs", NS_PER_US },
	{ "ms", NS_PER_MS },
	{ "s", NS_PER_S }, { "sec", NS_PER_S },
	{ "m", 60 * NS_PER_S }, { "min", 60 * NS_PER_S },
	{ "h", 3600 * NS_PER_S },
	{ "d", 86400 * NS_PER_S },
	{ "w", 7 * 86400 * NS_PER_S },
};

static const struct unit sizes[] = {
	{ "B", 1 },
	{ "K", 0x1p10 }, { "KiB", 0x1p10 }, { "kB", 1e3 },
	{ "M", 0x1p20 }, { "MiB", 0x1p20 }, { "MB", 1e6 },
	{ "G", 0x1p30 }, { "GiB", 0x1p30 }, { "GB", 1e9 },
	{ "T", 0x1p40 }, { "TiB", 0x1p40 }, { "TB", 1e12 },
};

static const char *skip_blanks(const char *text)
{
	while (*text == ' ')
		text++;
	return text;
}

/* The unit that these letters are, or NULL. */
static const struct unit *find_unit(const struct unit *units, size_t nr, const char *letters,
				    size_t len)
{
	for (size_t i = 0; i < nr; i++) {
		if (strlen(units[i].name) == len && strncasecmp(units[i].name, letters, len) == 0)
			return &units[i];
	}
	return NULL;
}

/* Adds a number with its unit to the sum. Returns what follows; NULL: there is no such number. */
static const char *add_one(const char *text, const struct unit *units, size_t nr, double *sum)
{
	size_t digits = strspn(text, "0123456789."), letters;
	char number[NUMBER_SIZE] = "", *end;
	const struct unit *unit;
	double value;

	if (!digits || digits >= sizeof(number))
		return NULL;
	memcpy(number, text, digits);
	value = strtod(number, &end);
	text = skip_blanks(text + digits);
	letters = strcspn(text, " .0123456789");
	unit = find_unit(units, nr, text, letters);
	if (*end || !unit)
		return NULL;
	*sum += value * unit->size;
	return skip_blanks(text + letters);
}

int duration_parse(const char *text, uint64_t *ret_ns, struct error *error)
{
	const char *at = skip_blanks(text);
	double ns = 0;

	if (strcmp(at, "0") == 0)
		at = "";
	else
		do {
			at = add_one(at, durations, ARRAY_SIZE(durations), &ns);
		} while (at && *at);
	if (!at)
		return error_set(error, -EINVAL,
				 "\"%.40s\": not a duration such as 200us, 5ms, 30s, 10min, 7d",
				 text);
	if (ns > (double)DURATION_MAX_NS)
		return error_set(error, -EINVAL, "\"%.40s\": longer than 100 years", text);
	*ret_ns = (uint64_t)llround(ns);
	return 0;
}

int size_parse(const char *text, uint64_t *ret_bytes, struct error *error)
{
	const char *at = skip_blanks(text);
	double bytes = 0;

	at = strcmp(at, "0") == 0 ? "" : add_one(at, sizes, ARRAY_SIZE(sizes), &bytes);
	if (!at || *at || bytes > SIZE_MAX_BYTES)
		return error_set(error, -EINVAL, "\"%.40s\": not a size such as 500M, 64MiB, 2G",
				 text);
	*ret_bytes = (uint64_t)llround(bytes);
	return 0;
}

int seconds_parse(const char *text, double min_s, double max_s, double *ret_seconds,
		  struct error *error)
{
	char *end;
	double seconds = strtod(text, &end);
	uint64_t ns;

	if (*end && duration_parse(text, &ns, &(struct error){ "" }) == 0)
		seconds = (double)ns / NS_PER_S;
	else if (end == text || *end)
		seconds = NAN;
	if (!(seconds >= min_s && seconds <= max_s && seconds > 0))
		return error_set(error, -EINVAL,
				 "\"%.40s\": not a time from %g s to %.0f s, as in 5, 0.5, "
				 "10s, 1min", text, min_s, max_s);
	*ret_seconds = seconds;
	return 0;
}
