/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * units - durations, sizes and seconds as users type them: "7d", "1h30min", "2G", "4MiB", "0.5".
 *
 * A number may have a fraction ("1.5h") and a blank after it ("30 min"). Small and capital letters
 * are the same. A number without a unit is an error, except for seconds; 0 needs none.
 */
#ifndef KVMTOP_LIB_UNITS_H
#define KVMTOP_LIB_UNITS_H

#include <stdint.h>

#include "lib/error.h"

/* The time between two samples. */
#define DELAY_MIN_S 0.1
#define DELAY_MAX_S 86400.0 /* a day */
#define DELAY_DEFAULT_S 3.0

#define DURATION_MAX_NS (UINT64_C(36525) * 86400 * 1000000000) /* 100 years */

/*
 * One or more numbers with the units us or µs, ms, s, m or min, h, d, w, added up: 0, or -EINVAL
 * with error. A day has 24 hours. Longer than DURATION_MAX_NS is an error.
 */
int duration_parse(const char *text, uint64_t *ret_ns, struct error *error);

/*
 * A number with a unit: 0, or -EINVAL with error. K, M, G and T, with or without "iB", are powers
 * of 1024; kB, MB, GB and TB are powers of 1000; B is a byte.
 */
int size_parse(const char *text, uint64_t *ret_bytes, struct error *error);

/*
 * Reads seconds, above 0 and from min_s to max_s: a number, or a duration as above. 0, or -EINVAL
 * with error.
 */
int seconds_parse(const char *text, double min_s, double max_s, double *ret_seconds,
		  struct error *error);

#endif
