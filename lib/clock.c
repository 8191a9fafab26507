// SPDX-License-Identifier: GPL-2.0-or-later
/* How fast the clock runs. */
#include <sys/timex.h>

#include "lib/clock.h"

#define TICK_US	   10000
#define FREQ_UNITS 65536e6

double clock_rate(void)
{
	struct timex ntp = { .modes = 0 };

	if (adjtimex(&ntp) < 0)
		return 1;
	return (double)ntp.tick / TICK_US * (1 + (double)ntp.freq / FREQ_UNITS);
}
