// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a delay and checks its limits. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/delay.h"

int delay_parse(const char *text, double *ret_delay_s, struct why *why)
{
	char *end;
	double delay = strtod(text, &end);

	if (end == text || *end || !isfinite(delay))
		return why_set(why, -EINVAL, "\"%s\": not a number of seconds", text);
	if (delay < DELAY_MIN_S)
		return why_set(why, -EINVAL, "\"%s\": delay must be >= %.1f", text, DELAY_MIN_S);
	if (delay > DELAY_MAX_S)
		return why_set(why, -EINVAL, "\"%s\": delay must be <= %.0f, a day", text,
			       DELAY_MAX_S);
	*ret_delay_s = delay;
	return 0;
}
