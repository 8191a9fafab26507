/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * thresholds - the values from which a measured cause is a finding. Names end in their unit:
 * _ratio, _per_second, _seconds.
 */
#ifndef KVMTOP_CORE_FINDINGS_THRESHOLDS_H
#define KVMTOP_CORE_FINDINGS_THRESHOLDS_H

#include <stddef.h>

#include "lib/error.h"
#include "core/findings/rules.h"

/* Thresholds that are of all rules. */
enum { THRESHOLD_CRITICAL, THRESHOLD_MAJOR, THRESHOLD_NOISE, THRESHOLDS_GENERAL };

struct thresholds {
	double general[THRESHOLDS_GENERAL];
	double rules[RULES_MAX]; /* INFINITY: the rule is off */
};

void thresholds_init(struct thresholds *thresholds); /* to the defaults */

/* One of them: its name, default and meaning; false past the last. */
bool thresholds_at(size_t i, const char **ret_name, double *ret_default, const char **ret_help);

/*
 * Takes values from text with lines "name = value"; a value is a number or "off", and # begins a
 * comment. 0, or -EINVAL with error, which begins with the number of the bad line.
 */
int thresholds_parse(struct thresholds *thresholds, const char *text, struct error *error);

#endif
