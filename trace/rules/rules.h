/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rules - rules to print records, in the language of kvmtrace_format and acrntrace_format.py.
 *
 *	# a comment
 *	0x00010001  %(tsc)d (+%(reltsc)12d)  VMENTRY  vcpu = 0x%(vcpu)08x  pid = 0x%(pid)08x
 *
 * A line is an event's number, blanks, and a template as Python's % operator with a dictionary has
 * it: the conversions d i u x X o s c with the flags 0 - + blank and a width. If an event has two
 * rules, the later one holds. Events without a rule are printed with the rule for event 0, except
 * in ACRN's files. The fields are tsc (or ts), reltsc (relts), event, pid, vcpu, cpu, vm, and the
 * words 1 to 16.
 *
 * Rules shipped with the two scripts give the same output here. A number that is no character of
 * ASCII is printed as "?", and a TSC in seconds as an integer is cut.
 */
#ifndef KVMTOP_TRACE_RULES_RULES_H
#define KVMTOP_TRACE_RULES_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/error.h"
#include "lib/hash.h"
#include "trace/recording/trace.h"

/* ---- records */

#define RULES_WORDS 16

struct rules_record {
	enum trace_kind kind;
	uint64_t event;
	uint64_t tsc; /* 0 if the record has none */
	bool has_tsc;
	bool is_signed; /* the words are int64_t */
	uint32_t pid, vcpu, cpu, vm; /* 0 where the kind has none */
	uint64_t words[RULES_WORDS]; /* 0 where there are fewer */
};

/* Makes a record of an event from trace_open_records(). */
void rules_record_set(struct rules_record *record, const struct trace *trace,
		      const struct trace_event *event);

/* ---- rules */

struct rules;

/*
 * Parses rules; text need not end in NUL. Returns 0, or -EINVAL with error, which begins with
 * "name:LINE: ".
 */
int rules_parse(const char *name, const char *text, size_t size, struct rules **ret_rules,
		struct error *error);

/* Reads and parses a file of rules. */
int rules_read(const char *path, struct rules **ret_rules, struct error *error);
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

/* ---- for rules.c and print.c: a parsed rule, its template cut into pieces */

enum rules_field {
	FIELD_TSC,
	FIELD_RELTSC,
	FIELD_EVENT,
	FIELD_PID,
	FIELD_VCPU,
	FIELD_CPU,
	FIELD_VM,
	FIELD_WORD, /* the first of RULES_WORDS */
};

/* Text, or one conversion. */
struct rules_piece {
	const char *text; /* in the template; NULL: a conversion */
	size_t len;
	enum rules_field field;
	char conversion;
	bool has_zeros, is_left, has_sign, has_blank; /* 0 - + blank */
	int width;
};

struct print_rule {
	uint64_t event;
	char *template;
	struct rules_piece *pieces;
	size_t nr_pieces, room;
	UT_hash_handle hh;
};

struct rules {
	struct print_rule *by_event;
};

#endif
