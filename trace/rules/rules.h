/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rules - the rules that say how a record is printed, in the language of kvmtrace_format,
 * xentrace_format and acrntrace_format.py.
 *
 *	# a comment
 *	0x00010001  %(tsc)d (+%(reltsc)12d)  VMENTRY  vcpu = 0x%(vcpu)08x  pid = 0x%(pid)08x
 *
 * A line is an event's number, blanks, and a template as Python's % takes it with a dictionary.
 * Of two rules for an event the later one holds. The rule for event 0 is for events without one,
 * but for ACRN. The fields are tsc (or ts), reltsc (relts), event, pid, vcpu, cpu, vm, and the
 * words 1 to 16.
 *
 * What is printed has the bytes that those scripts print, in Python 2 those for kvmtrace and
 * xentrace, in Python 3 that for ACRN. Where Python would raise a TypeError they print the template
 * and all fields, and so does this. Templates with which they would die are refused.
 */
#ifndef KVMTOP_TRACE_RULES_RULES_H
#define KVMTOP_TRACE_RULES_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/why.h"
#include "trace/rules/record.h"

struct rules;

/* text need not end in NUL. Returns 0, -ENOMEM, or -EINVAL with why, which begins "name:LINE: ". */
int rules_parse(const char *name, const char *text, size_t size, struct rules **ret_rules,
		struct why *why);

/* The same from a file. */
int rules_read(const char *path, struct rules **ret_rules, struct why *why);
void rules_free(struct rules *rules);

/* What a rule is filled with. */
struct rules_values {
	const struct rules_record *record;
	uint64_t reltsc; /* since the TSC before */
	bool reltsc_is_negative;
	uint64_t mhz; /* not 0: tsc is a float, seconds */
};

/* Prints the line of a record; nothing where it has no rule. Errors of out are the caller's. */
void rules_print(const struct rules *rules, const struct rules_values *values, FILE *out);

#endif
