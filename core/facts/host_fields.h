/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host_fields - the fields of what the host's scheduler, cgroups and topology say.
 *
 * A live host and a captured machine have the same names with the same meaning, see enum host_part.
 */
#ifndef KVMTOP_CORE_FACTS_HOST_FIELDS_H
#define KVMTOP_CORE_FACTS_HOST_FIELDS_H

#include "core/facts/field.h"

#define HOST_QUOTA_SIZE 256
#define HOST_QUOTA_HIDDEN "perhaps by a quota, which cannot be read" /* in place of a quota */

struct host_fields {
	struct fields *fields;
	uint32_t source; /* the provider's number */
	uint32_t parts[HOST_PARTS]; /* FIELD_NONE: not on this machine */
	uint32_t wait; /* USE_TIME, TIME_WAIT */
};

/* Adds the fields that every machine has. */
void host_fields_add(struct fields *dictionary, uint32_t source, struct host_fields *ret_fields);

/* Adds HOST_REMOTE, which only machines with several NUMA nodes have. */
void host_fields_add_remote(struct host_fields *fields);

/* Adds one part, of any machine or of a host among others; or TIME_WAIT. */
uint32_t host_fields_add_part(struct fields *dictionary, uint32_t source, enum host_part part);
uint32_t host_fields_add_wait(struct fields *dictionary, uint32_t source);

/* Adds a child, "finding(cpu_wait)". */
uint32_t host_fields_add_child(struct fields *dictionary, uint32_t parent, const char *name);

/*
 * Adds a child of HOST_THROTTLED, HOST_QUOTA_HIDDEN or the quota:
 * "/sys/fs/cgroup/x/cpu.max: 0.2 CPUs".
 */
uint32_t host_fields_quota(const struct host_fields *fields, const char *quota);

/* Adds a child of HOST_THREAD: a name that threads of VMMs have. */
uint32_t host_fields_thread(const struct host_fields *fields, const char *name);

#endif
