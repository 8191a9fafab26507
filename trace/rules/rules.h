/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rules - rules to print records, in the language of kvmtrace_format, xentrace_format and
 * acrntrace_format.py.
 *
 *	# a comment
 *	0x00010001  %(tsc)d (+%(reltsc)12d)  VMENTRY  vcpu = 0x%(vcpu)08x  pid = 0x%(pid)08x
 *
 * A line is an event's number, blanks, and a template for Python's % operator with a dictionary.
 * If an event has two rules, the later one holds. Events without a rule are printed with the rule
 * for event 0, except in ACRN's files. The fields are tsc (or ts), reltsc (relts), event, pid,
 * vcpu, cpu, vm, and the words 1 to 16.
 *
 * The output is byte for byte the output of kvmtrace_format and xentrace_format with Python 2, and
 * of acrntrace_format.py with Python 3. If Python raises a TypeError, the scripts print the
 * template and all fields, and so does rules_print(). Templates that make the scripts fail are
 * refused.
 */
#ifndef KVMTOP_TRACE_RULES_RULES_H
#define KVMTOP_TRACE_RULES_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/error.h"
#include "trace/rules/record.h"

struct rules;

/*
 * Parses rules; text need not end in NUL. Returns 0, or -EINVAL with why, which begins with
 * "name:LINE: ".
 */
int rules_parse(const char *name, const char *text, size_t size, struct rules **ret_rules,
		struct error *why);

/* Reads and parses a file of rules. */
int rules_read(const char *path, struct rules **ret_rules, struct error *why);
void rules_free(struct rules *rules);

/* The values for a rule's fields. */
struct rules_values {
	const struct rules_record *record;
	uint64_t reltsc; /* since the previous TSC */
	bool reltsc_is_negative;
	uint64_t mhz; /* not 0: tsc is printed in seconds, as a float */
};

/* Prints a record's line; nothing if no rule matches. The caller checks out for errors. */
void rules_print(const struct rules *rules, const struct rules_values *values, FILE *out);

#endif
