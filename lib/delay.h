/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * delay - the time between two samples, as -s and the s key take it, and + and - change it.
 */
#ifndef KVMTOP_LIB_DELAY_H
#define KVMTOP_LIB_DELAY_H

#include "lib/why.h"

#define DELAY_MIN_S 0.1
#define DELAY_MAX_S 86400.0 /* a day */
#define DELAY_DEFAULT_S 3.0

/* Reads a number of seconds, from DELAY_MIN_S to max_s: 0, or -EINVAL with why. */
int seconds_parse(const char *text, double max_s, double *ret_seconds, struct why *why);

/*
 * The next longer delay, in tenths of a second and within the limits. The longer the delay, the
 * larger the step: from 0.1 s to an hour. delay_shorter() undoes delay_longer().
 */
double delay_longer(double delay_s);
double delay_shorter(double delay_s);

#endif
