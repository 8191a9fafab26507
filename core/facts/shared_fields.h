/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shared_fields - the fields that all sources share: VM exits and their arguments, the parts of a
 * vCPU's time, and the numbers of the host's scheduler, cgroups and topology.
 *
 * A live host, a captured machine and a recording have the same names with the same meaning, see
 * enum field_use.
 */
#ifndef KVMTOP_CORE_FACTS_SHARED_FIELDS_H
#define KVMTOP_CORE_FACTS_SHARED_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/exit_kind.h"
#include "core/facts/field.h"

struct exit_fields {
	struct fields *fields;
	uint32_t source; /* the provider's number */
	uint32_t parents[EXITS_KINDS]; /* "vmexit", "userspace", "ioport" ... */
	uint32_t times[TIME_PARTS]; /* FIELD_NONE: not measured */
	uint32_t exit_parts[EXITS_REASONS][EXIT_PARTS]; /* "vmexit_blocked"; FIELD_NONE: none yet */
	uint32_t cpu;
};

/* The parts that are known where it is known when a vCPU's thread has a CPU. */
#define EXIT_FIELDS_AWAY (1U << TIME_WAIT | 1U << TIME_BLOCK | 1U << TIME_BLOCK_USER)

/* All but TIME_L2, which only hosts with guests in guests have. */
#define EXIT_FIELDS_PARTS (((1U << TIME_PARTS) - 1) & ~(1U << TIME_L2))

/* The event that counts each kind of exits, "kvm_exit"; NULL: the default. */
struct exit_events {
	const char *names[EXITS_KINDS];
	bool lacks[EXITS_REASONS]; /* whether there were such exits is not known */
};

/* Adds the parents, and the parts (bits) of vCPUs' time that are measured. */
void exit_fields_add(struct fields *dictionary, uint32_t source, const struct exit_events *events,
		     unsigned int parts, struct exit_fields *ret_fields);

/* Adds one more part, or finds it. */
void exit_fields_add_part(struct exit_fields *fields, enum time_part part);

const char *exit_fields_part(enum time_part part); /* "time(guest)" */

/*
 * The mark of exits of L2, a guest that the guest runs, after the reason: "vmexit(npf L2)". Exits
 * without it are of L1, the guest itself.
 */
#define EXIT_FIELDS_L2 " L2"

/*
 * A reason (kind: EXITS_VMEXIT, EXITS_USERSPACE): "vmexit(HLT)". alias: kvm_stat's name for the
 * reason where it differs; else NULL.
 */
uint32_t exit_fields_reason(const struct exit_fields *fields, enum exit_kind kind,
			    const char *reason, const char *alias, bool is_idle);

/*
 * Adds an argument, "msr(MSR_WRITE 0x6e0 write)". The label is the part after the reason: "0x6e0
 * write". reason is the reason of the exit, reason_field is the field of that reason; NULL and
 * FIELD_NONE: not known.
 */
uint32_t exit_fields_argument(const struct exit_fields *fields, enum exit_kind kind,
			      const char *reason, uint32_t reason_field, const char *label);

const char *exit_part_name(enum exit_part part); /* "blocked" */

/* "vmexit_blocked(npf)", of the reason "vmexit(npf)". */
uint32_t exit_fields_exit_part(struct exit_fields *fields, enum exit_kind kind,
			       uint32_t reason_field, enum exit_part part);

/*
 * The name of a failure among the codes of exits_user_code(): "INTR", "error"; NULL: the code is
 * a reason.
 */
const char *exit_fields_failure(uint64_t code);

/*
 * The time of a vCPU's exits in ns, and parts of it; by enum exit_kind: of VM exits, and of it what
 * user space had.
 */
struct exits_time {
	uint64_t ns[EXITS_REASONS]; /* of all, without waiting where that is known */
	uint64_t idle_ns[EXITS_REASONS], blocked_ns[EXITS_REASONS];
	uint64_t polled_ns; /* of VM exits */
	uint64_t waited_ns, idle_out_ns; /* beside the time of VM exits; idle_out_ns: asleep */
	uint64_t nested_ns; /* see TIME_L2 */
};

/*
 * Splits the whole time of a vCPU into parts. The time outside the guest is the time of VM exits,
 * with what lies beside it. All parts that add up, see enum time_part, do so to the nanosecond.
 */
void exit_fields_split(uint64_t whole_ns, const struct exits_time *time, uint64_t *ret_parts);

/*
 * Keeps each part from going below its earlier value, as it may if a thread was read while it
 * changed; if a sleeper turns out to have been woken, and to wait; or if KVM says what it polled
 * when the halt ends, most of which was in earlier samples. Where one part is raised, others are
 * lowered, so that they still add up to the whole: what is too much now is added later.
 */
void exit_fields_keep(const uint64_t *earlier, uint64_t *parts);

/* ---- the host's numbers */

#define HOST_QUOTA_SIZE 256
/* the label where the quota cannot be read */
#define HOST_QUOTA_HIDDEN "maybe a quota that cannot be read"

struct host_fields {
	struct fields *fields;
	uint32_t source; /* the provider's number */
	uint32_t parts[HOST_PARTS]; /* FIELD_NONE: not on this machine */
};

/* Adds the fields that every machine has. */
void host_fields_add(struct fields *dictionary, uint32_t source, struct host_fields *ret_fields);

/*
 * Adds a part that not every machine has: HOST_REMOTE of machines with several NUMA nodes,
 * HOST_SWAPPED of machines with swap, HOST_HUGE of machines with huge pages.
 */
void host_fields_add_rare(struct host_fields *fields, enum host_part part);

/* Adds one part, of any machine or of a host among others. */
uint32_t host_fields_add_part(struct fields *dictionary, uint32_t source, enum host_part part);

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
