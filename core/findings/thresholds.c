// SPDX-License-Identifier: GPL-2.0-or-later
/* Thresholds: their defaults, and the values of a text. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/settings.h"
#include "lib/xalloc.h"
#include "core/findings/rules.h"

static const struct threshold general[THRESHOLDS_GENERAL] = {
	[THRESHOLD_CRITICAL] = { "critical_ratio", 0.25,
				 "a finding is critical if it takes this much of a vCPU's time" },
	[THRESHOLD_MAJOR] = { "major_ratio", 0.10, "and major from here on" },
	[THRESHOLD_NOISE] = { "noise_ratio", 0.01,
			      "what takes less of a vCPU's time cannot be slow" },
};

void thresholds_init(struct thresholds *thresholds)
{
	*thresholds = (struct thresholds){ .general = { 0 } };
	for (size_t i = 0; i < THRESHOLDS_GENERAL; i++)
		thresholds->general[i] = general[i].by_default;
	for (size_t i = 0; rule_at(i); i++)
		thresholds->rules[i] = rule_at(i)->by_default;
}

struct threshold thresholds_at(size_t i)
{
	const struct rule *rule = i < THRESHOLDS_GENERAL ? NULL : rule_at(i - THRESHOLDS_GENERAL);

	if (i < THRESHOLDS_GENERAL)
		return general[i];
	return rule ? (struct threshold){ rule->threshold, rule->by_default, rule->finding } :
		      (struct threshold){ .name = NULL };
}

static double *find_threshold(struct thresholds *thresholds, const char *name)
{
	for (size_t i = 0; thresholds_at(i).name; i++) {
		if (strcmp(thresholds_at(i).name, name) == 0)
			return i < THRESHOLDS_GENERAL ? &thresholds->general[i] :
							&thresholds->rules[i - THRESHOLDS_GENERAL];
	}
	return NULL;
}

/* A value: a number that is 0 or more, or "off". Returns whether it is one. */
static bool parse_value(const char *text, double *ret_value)
{
	char *end;
	double value;

	if (strcmp(text, "off") == 0) {
		*ret_value = INFINITY;
		return true;
	}
	if (*text < '0' || *text > '9')
		return false;
	value = strtod(text, &end);
	if (*end || !isfinite(value))
		return false;
	*ret_value = value;
	return true;
}

static int parse_line(struct thresholds *thresholds, char *line, unsigned int number,
		      struct error *error)
{
	struct error what = { "" };
	char *value, *name;
	double *threshold;
	int err = assignment_parse(line, &name, &value, &what);

	if (err <= 0)
		return err ? error_set(error, err, "line %u: %s", number, what.text) : 0;
	threshold = find_threshold(thresholds, name);
	if (!threshold)
		return error_set(error, -EINVAL, "line %u: \"%s\": no such threshold; "
					     "kvmtop why --thresholds help lists them",
				 number, name);
	if (!parse_value(value, threshold))
		return error_set(error, -EINVAL,
				 "line %u: %s = \"%s\": not a number >= 0, nor \"off\"",
				 number, name, value);
	return 0;
}

int thresholds_parse(struct thresholds *thresholds, const char *text, struct error *error)
{
	char *copy = xstrdup(text), *rest = copy, *line;
	int err = 0;

	for (unsigned int number = 1; !err && (line = strsep(&rest, "\n")); number++)
		err = parse_line(thresholds, line, number, error);
	free(copy);
	return err;
}
