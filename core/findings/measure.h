/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * measure - what the rules measure of each vCPU, for findings.c and evidence.c alone.
 */
#ifndef KVMTOP_CORE_FINDINGS_MEASURE_H
#define KVMTOP_CORE_FINDINGS_MEASURE_H

#include "core/facts/facts.h"
#include "core/findings/rules.h"

struct finding;

/* What one rule measures of one vCPU. Most vCPUs have a few of the rules only. */
struct rule_counts {
	uint32_t rule;	/* its index */
	uint32_t next;	/* of the same vCPU: a position in the measure's counts, with 1 added */
	uint64_t count, ns, ended_ns, less_ns, level, less_level;
	uint64_t interval_ns; /* of ns, of another source than exits; 0: as the subject's */
	double rate_per_s, less_per_s;
	uint64_t nr_ended; /* durations, of a rule about their mean */
	/* The field that counts most: of the ones to name, else of what is measured. */
	uint32_t top : 31;
	bool is_named : 1;
	uint32_t open; /* the field of the longest that is open */
	uint64_t open_ns;
	uint64_t top_ns;
	double top_per_s;
};

/* A vCPU; with vcpu -1 the numbers of a whole guest. */
struct subject {
	struct key key; /* of no field */
	uint64_t whole_ns; /* of its exits and the guest; 0: not known */
	uint64_t interval_ns; /* used instead where exits have no times; 0: not known */
	bool is_here; /* in the latest sample; else it has ended */
	bool splits_waits;     /* exits' times are without waiting for a CPU; else it may be */
	uint64_t waited_ns;    /* in any of them */
	bool has_hidden_quota; /* what stops it may be a quota that cannot be read */
	bool has_cpu;
	uint64_t cpu, affinity; /* how many CPUs it may run on; 0: not known */
	uint32_t counts; /* the first of its rule_counts, as their next; 0: none */
	uint32_t culprits; /* the latest of its struct culprit, as their next; 0: none */
};

/* What had a CPU while a vCPU waited for one; if delta_ns is not 0, in the interval. */
struct culprit {
	const struct stats_item *stat;
	uint32_t next; /* of the same vCPU: a position in the measure's culprits, with 1 added */
};

/* How busy a CPU of the host is. */
struct cpu_busy {
	uint64_t cpu;
	double per_s; /* ns */
};

/* The rules that a field counts for, as bits. */
struct field_rules {
	uint64_t what, less, named, needs;
	/* The fields of what the exits of a reason slept; FIELD_NONE: not known. */
	uint32_t blocked, idle;
	bool is_of_guest; /* it counts for the whole guest, whichever vCPU has it */
};

_Static_assert(RULES_MAX <= 64, "struct field_rules has a bit for each");

static inline uint64_t any_of(const struct field_rules *rules)
{
	return rules->what | rules->less | rules->named;
}

/* Zero-initialised is empty. Its memory serves the next measure_take(). */
struct measure {
	const struct facts *facts;
	const struct thresholds *thresholds;
	uint32_t guest;
	const struct field_rules *rules; /* by field */
	uint64_t own_ns;		 /* what kvmtop takes of an exit; 0: not known */
	struct exits exits;		 /* where KVM traces no VM exits, the ones to user space */
	bool lacks_huge_pages;		 /* the host gives none */
	const char *cpu_maker;		 /* as rules_cpu_maker() */
	uint64_t counted;		 /* the rules with an event of `needs` that is counted */
	struct key_index index; /* of subjects */
	struct subject *subjects;
	size_t nr, room, latest;
	struct rule_counts *counts; /* of all subjects */
	size_t nr_counts, room_counts;
	struct culprit *culprits; /* of all subjects */
	size_t nr_culprits, room_culprits;
	struct cpu_busy *busy;
	size_t nr_busy, room_busy;
	const char **names; /* of the guests that run, sorted */
	size_t nr_names, room_names;
};

/* The vCPUs of one guest, and the numbers of the whole guest. */
struct guest_subjects {
	const struct subject *const *list;
	size_t nr;
};

/* The subject with the highest value of a rule. */
struct worst_subject {
	const struct subject *subject; /* NULL: none is above the threshold */
	double value;
	size_t nr_above, nr_all; /* vCPUs */
};

/* The rules that a field counts for, which never change. */
struct field_rules measure_rules(const struct fields *fields, const struct field *field);

/* One pass over the keys of stats, for the subjects; the ones before are forgotten. */
void measure_take(struct measure *measure);
void measure_release(struct measure *measure);

/* All 0 where the subject has nothing of the rule. */
const struct rule_counts *measure_counts(const struct measure *measure,
					 const struct subject *subject, size_t rule);

/* The value of a rule, in its threshold's unit. */
double measure_value(const struct measure *measure, const struct subject *subject,
		     const struct rule *rule);

/* The share of the vCPU's time that this costs. False: not known. */
bool measure_cost(const struct subject *subject, const struct rule_counts *counts,
		  double *ret_cost);

/* Whether a field is about the CPU that a vCPU is on, and its share of the CPU. */
static inline bool field_is_of_cpu(const struct field *field)
{
	return field->use == USE_HOST &&
	       (field->part <= HOST_THROTTLED || field->part == HOST_WAITED);
}

/* Writes the evidence of a finding, and its remedy; see evidence.c. */
void finding_describe(const struct measure *measure, struct finding *finding,
		      const struct worst_subject *worst);
void finding_advise(const struct measure *measure, struct finding *finding,
		    const struct subject *worst);

#endif
