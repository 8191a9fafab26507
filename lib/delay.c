// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a delay, checks its limits, and changes it in steps. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "lib/array.h"
#include "lib/delay.h"

/* In tenths of a second: the step from a delay below the limit to the next delay. */
static const struct {
	long limit, step;
} steps[] = {
	{ 10, 1 }, { 50, 5 }, { 100, 10 }, { 600, 50 }, { 6000, 600 }, { 36000, 3000 },
	{ (long)(DELAY_MAX_S * 10), 36000 },
};

int seconds_parse(const char *text, double max_s, double *ret_seconds, struct why *why)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !(seconds >= DELAY_MIN_S && seconds <= max_s))
		return why_set(why, -EINVAL, "\"%s\": not a number of seconds from %.1f to %.0f",
			       text, DELAY_MIN_S, max_s);
	*ret_seconds = seconds;
	return 0;
}

double delay_longer(double delay_s)
{
	long delay = lround(delay_s * 10);

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		if (delay < steps[i].limit)
			return fmin((double)(delay + steps[i].step) / 10, DELAY_MAX_S);
	}
	return DELAY_MAX_S;
}

double delay_shorter(double delay_s)
{
	long delay = lround(delay_s * 10), limit = lround(DELAY_MIN_S * 10);

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		long before = delay - steps[i].step;

		if (before >= limit && before < steps[i].limit)
			return (double)before / 10;
		if (delay <= steps[i].limit) /* no step leads from a delay to this one */
			break;
		limit = steps[i].limit;
	}
	return (double)limit / 10;
}
