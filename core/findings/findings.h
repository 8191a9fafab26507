/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * findings - the causes of slowness that the facts of the last interval show: pure, no I/O, no
 * clock.
 *
 * A rule is measured for each vCPU. A guest has at most one finding of a rule, about the vCPU with
 * the highest value. What was not counted is not found. Findings that the kvmtop of another host
 * exports are there, too, without numbers.
 */
#ifndef KVMTOP_CORE_FINDINGS_FINDINGS_H
#define KVMTOP_CORE_FINDINGS_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/facts/facts.h"
#include "core/findings/rules.h"

/* By the share of the vCPU's time. The exporter and HOST_FINDING have these numbers. */
enum severity { SEVERITY_MINOR = 1, SEVERITY_MAJOR, SEVERITY_CRITICAL };

/* A finding appears after so many samples with it in a row, and goes after so many without it. */
#define STEADY_SAMPLES 3

struct finding {
	const struct rule *rule;
	uint32_t guest;
	int32_t vcpu; /* -1: it is of the whole guest */
	double value; /* in the threshold's unit */
	bool has_cost;
	double cost; /* the share of the vCPU's time, 0 to 1 */
	enum severity severity;
	uint32_t field; /* what counts most; FIELD_NONE: not known */
	char evidence[440];
	char remedy[560];
	/* For findings_follow(): how many samples had it, and how many of the latest lack it. */
	unsigned int nr_found, nr_missing;
};

struct field_rules;
struct measure;

/* Zero-initialised is none. */
struct findings {
	struct finding *list; /* in no order */
	size_t nr, room;
	/* For findings_follow(): the worst, which stays as long as no other is more severe. */
	const struct rule *named; /* NULL: none */
	uint32_t named_guest;
	/* The rules that each field of the dictionary counts for, which never change. */
	const struct fields *fields;
	struct field_rules *rules;
	size_t nr_rules, room_rules;
	struct measure *measure; /* findings_find()'s own */
};

/*
 * The findings of one guest, or of all with GUEST_ALL; replaces the list. thresholds NULL: the
 * defaults.
 */
void findings_find(struct findings *findings, const struct facts *facts, uint32_t guest,
		   const struct thresholds *thresholds);
void findings_release(struct findings *findings);

/* The guest's finding of a rule; NULL: none. */
const struct finding *findings_get(const struct findings *findings, const struct rule *rule,
				   uint32_t guest);

/*
 * For a live screen, without flicker: takes over the findings of the next sample. Steady findings
 * that are missing for a moment stay, and their evidence says so.
 */
void findings_follow(struct findings *findings, const struct findings *latest);

/* For a screen that turns to one guest: forgets what was found of others. GUEST_ALL: nothing. */
void findings_narrow(struct findings *findings, uint32_t guest);

static inline bool finding_is_steady(const struct finding *finding)
{
	return finding->nr_found >= STEADY_SAMPLES;
}

/* The steady finding to show; NULL: there is none. Valid until the next one follows. */
const struct finding *findings_named(const struct findings *findings);
size_t findings_count_steady(const struct findings *findings);
/* Whether a steady finding is of vCPUs that wait for a CPU: then what had it is the evidence. */
bool findings_has_waits(const struct findings *findings);

/* Whether rules need the field. Arguments are needed, too, and cost more than other fields. */
bool findings_need(const struct field *field);

/* Whether the dictionary of the latest findings_find() has a field that the rule is measured by. */
bool findings_can_have(const struct findings *findings, const struct rule *rule);

const char *severity_name(uint64_t severity); /* a larger number: "critical" */

/* Whether a is worse than b: by severity, then by cost, then by the order of the rules. */
bool finding_is_worse(const struct finding *a, const struct finding *b);

#endif
