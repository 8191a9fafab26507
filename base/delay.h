/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * delay - the time between two samples, as -s and the s key take it.
 */
#ifndef KVMTOP_BASE_DELAY_H
#define KVMTOP_BASE_DELAY_H

#include "base/why.h"

#define DELAY_MIN_S 0.1
#define DELAY_MAX_S 86400.0 /* a day */
#define DELAY_DEFAULT_S 3.0

/* Reads a number of seconds: 0, or -EINVAL with why. */
int delay_parse(const char *text, double *ret_delay_s, struct why *why);

#endif
