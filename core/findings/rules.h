/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rules - the table of causes: what is measured of a vCPU, the value from which it is a finding,
 * and the texts.
 *
 * A new cause is a row of the table in rules.c.
 */
#ifndef KVMTOP_CORE_FINDINGS_RULES_H
#define KVMTOP_CORE_FINDINGS_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/error.h"
#include "core/facts/field.h"

#define RULES_MAX 64

/* What is compared with the threshold. */
enum rule_measure {
	MEASURE_SHARE, /* of the vCPU's time: a ratio */
	MEASURE_RATE,  /* per second */
	MEASURE_MEAN,  /* seconds for each */
	MEASURE_LEVEL, /* a gauge of thousandths: a ratio */
	MEASURE_PAGES, /* what part of the guest's memory is in these pages: a ratio */
	MEASURE_OPEN,  /* seconds that an exit has been open, see stats_open_ns() */
	MEASURE_CPU,   /* what the field that counts most takes of a CPU: a ratio */
};

/*
 * Some fields. A list of words is one text, "IO|MMIO". An argument's word is the name of its port,
 * address, MSR, register or call, as in arch/argument.h; any other field's word is its label.
 * Halts never match. Zero-initialised is no field.
 */
struct rule_fields {
	enum field_use use;
	const char *parents; /* NULL: fields that have no parent */
	const char *words;   /* NULL: any */
	const char *but;     /* not these; NULL: no exception */
};

/*
 * The remedy where one of the words is of the field that counts most, or is the maker of the host's
 * CPU (AMD, Intel, Arm).
 */
struct rule_remedy {
	const char *words; /* NULL: any; ends the list */
	const char *text;
};

/* The view that Enter on a finding shows. */
enum rule_target { TARGET_VCPUS, TARGET_EXITS, TARGET_ARGUMENTS, TARGET_EVENTS };

struct rule {
	const char *id; /* "cpu_wait": for programs, in filters */
	const char *finding; /* "vCPUs wait for a CPU" */
	enum rule_measure measure;
	const char *threshold; /* its name: "cpu_wait_ratio" */
	double by_default; /* the threshold if the user sets none */
	struct rule_fields what; /* what is measured, */
	struct rule_fields less; /* except what these fields count, too */
	/*
	 * An event of `less` without which nothing is known; the rule is of whole guests, for any
	 * thread may have either. NULL: no such.
	 */
	const char *needs;
	struct rule_fields named; /* the evidence names the greatest of these; none: of `what` */
	bool names_cpu;		 /* the evidence has the vCPU's CPU, */
	bool names_culprits;	 /* and what had that CPU meanwhile, if that is measured */
	const char *is_said_by;	 /* the ids of rules that report the same, "a|b"; NULL: none */
	bool is_of_all;		 /* a finding of the guest: all its vCPUs are above the threshold */
	bool is_own;		 /* each exit of `what` costs what kvmtop takes of it */
	enum rule_target target;
	const char *where; /* options of `kvmtop where`, if it shows the code; else NULL */
	const struct rule_remedy *remedies;
};

/* The table, for rule_fields.c. */
extern const struct rule finding_rules[];
extern const size_t nr_finding_rules;

/* ---- rule_fields.c */

const struct rule *rule_at(size_t i); /* NULL past the end, of at most RULES_MAX */
const struct rule *rule_by_id(const char *id); /* NULL: no such */

/* Whether one of "words|words" is the word. */
bool rule_has_word(const char *words, const char *word);
size_t rule_index(const struct rule *rule);

/* Whether the fields of the choice have this field. */
bool rule_fields_have(const struct rule_fields *choice, const struct fields *fields,
		      const struct field *field);

/* The maker of the CPU, by the exit reasons that are known; NULL: none, or several hosts'. */
const char *rules_cpu_maker(const struct fields *fields);

/* field NULL: not known. */
const char *rule_remedy(const struct rule *rule, const char *cpu_maker,
			const struct fields *fields, const struct field *field);

/* Whether any rule needs the event, which has no parent. */
bool rules_need_event(const struct field *event);

/*
 * ---- thresholds: the values from which a measured cause is a finding. Names end in their unit:
 * _ratio, _per_second, _seconds.
 */

/* Thresholds that are of all rules. */
enum { THRESHOLD_CRITICAL, THRESHOLD_MAJOR, THRESHOLD_NOISE, THRESHOLDS_GENERAL };

struct thresholds {
	double general[THRESHOLDS_GENERAL];
	double rules[RULES_MAX]; /* INFINITY: the rule is off */
};

void thresholds_init(struct thresholds *thresholds); /* to the defaults */

/* One of them; name NULL: past the last. */
struct threshold {
	const char *name;
	double by_default;
	const char *help;
};

struct threshold thresholds_at(size_t i);

/*
 * Takes values from text with lines "name = value"; a value is a number or "off", and # begins a
 * comment. 0, or -EINVAL with error, which begins with the number of the bad line.
 */
int thresholds_parse(struct thresholds *thresholds, const char *text, struct error *error);

#endif
