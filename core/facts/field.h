/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * field - the dictionary of what can be counted; each field has a number.
 *
 * "kvm_exit" is a field, and so is its child "kvm_exit(HLT)". Providers add fields when they open,
 * and later when the kernel shows something new. No field is ever removed, so a number stays valid
 * for the whole run. Samples, stats and views have the numbers; only the dictionary has the names.
 */
#ifndef KVMTOP_CORE_FACTS_FIELD_H
#define KVMTOP_CORE_FACTS_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FIELD_NONE UINT32_MAX

enum field_kind {
	FIELD_COUNTER, /* only grows; shown as total and rate */
	FIELD_GAUGE,   /* a level now: pages, vCPUs in guest mode; adds up over guests */
	FIELD_PEAK,    /* the highest level so far; the maximum over guests */
};

/*
 * What a field counts; each view shows its own kinds. All kinds but USE_EVENT and USE_HOST come
 * from the provider "exits", with a key for each guest and vCPU; the rows of a parent have the sums
 * of its children.
 */
enum field_use {
	/* How often an event happened; the children are the reasons. See EVENT_PART(). */
	USE_EVENT,
	/*
	 * "vmexit" (exit_rank 1): VM exits, timed from kvm_exit to kvm_entry; "userspace" (rank 2):
	 * exits to user space, timed from the return to user space on. The children are the
	 * reasons: "vmexit(HLT)". An exit is counted when it begins; the time has unfinished exits
	 * up to now. It is without waiting for a CPU, where waits are measured.
	 */
	USE_EXIT,
	/*
	 * "time": the whole time of a vCPU in ns; the children are the parts of enum time_part.
	 */
	USE_TIME,
	/* "cpu": the number of the CPU that the vCPU's latest exit was on; a gauge. */
	USE_CPU,
	/*
	 * "ioport", "mmio", "msr", "cpuid", "hypercall", "sysreg", "fault": the arguments of exits,
	 * with the time of their exits. Children: "msr(MSR_WRITE 0x6e0 IA32_TSC_DEADLINE)", with
	 * the label "0x6e0 IA32_TSC_DEADLINE". And "interrupt", of the guest and without times:
	 * what raises interrupts, "interrupt(IRQ line 5 raised)".
	 */
	USE_ARGUMENT,
	/* A number of the provider "host"; the part is one of enum host_part. */
	USE_HOST,
	/*
	 * "waits": how often a vCPU waited for a CPU, with how long it did; the children are what
	 * had the CPU meanwhile, with the time of each. The part is one of enum wait_part. Counted
	 * by the provider "who" while it is asked for.
	 */
	USE_WAIT,
	/*
	 * "code": ns that a vCPU was in a call, without what it called in turn. The children are
	 * the calls of a tree (core/facts/stacks.h): the label is the function, the part its side
	 * (enum function_side), the parent the caller. Of an exit, or of its argument, the reason
	 * is its field. Counted only for a history that keeps it.
	 */
	USE_CODE,
	/*
	 * "interrupts": how often one was pending for a vCPU, with how long until it entered the
	 * guest; the children are the vectors, and the parts of these times in ns. The part is one
	 * of enum interrupt_part. The same provider.
	 */
	USE_INTERRUPT,
	/*
	 * "vmexit_blocked" and the like: ns of exits, by enum exit_part. Only the children have
	 * rows: "vmexit_blocked(npf)", of the reason in `reason`.
	 */
	USE_EXIT_PART,
	USES
};

/*
 * What a counter of KVM's counts, whatever an architecture calls it: accesses to ports and to
 * memory of devices, halts, exits for interrupts of the host and for signals, instructions that KVM
 * emulates, page faults of the second level; and the pages in its tables. Histories have these
 * numbers.
 */
enum event_kind {
	EVENT_OTHER,
	EVENT_IO,
	EVENT_MMIO,
	EVENT_HALT,
	EVENT_INTERRUPT,
	EVENT_SIGNAL,
	EVENT_EMULATED,
	EVENT_FAULT,
	EVENT_PAGES_4K,
	EVENT_PAGES_2M,
	EVENT_PAGES_1G,
	EVENT_KINDS
};

/* The part of an event; EVENT_BY_VCPU: it has a key for each vCPU. */
#define EVENT_BY_VCPU 1
#define EVENT_PART(kind, by_vcpu) ((unsigned int)(kind) << 1 | (by_vcpu))

/*
 * Where a vCPU's time goes: each nanosecond is in one of GUEST, KVM, USER, POLL, IDLE, BLOCK and
 * WAIT, which add up to the whole; a source that does not know one of them leaves it out, and the
 * others have its time. In the first four the thread is on a CPU: the guest runs, KVM works, the
 * VMM works, or KVM polls for the end of a halt. IDLE: asleep in a halt, or before the interrupt
 * that starts the vCPU. BLOCK: asleep, though the guest has work: for a page, a lock, I/O. WAIT: it
 * could run, but has no CPU. L2 is the part of GUEST in which a guest of the guest ran, BLOCK_USER
 * the part of BLOCK in the VMM. Histories have these numbers.
 */
enum time_part {
	TIME_WHOLE,
	TIME_GUEST,
	TIME_KVM,
	TIME_USER,
	TIME_IDLE,
	TIME_WAIT,
	TIME_POLL,
	TIME_L2,
	TIME_BLOCK,
	TIME_BLOCK_USER,
	TIME_PARTS
};

/* Whether the part is one of the parts that add up to the whole. */
static inline bool time_adds_up(enum time_part part)
{
	return part != TIME_WHOLE && part != TIME_L2 && part != TIME_BLOCK_USER;
}

/*
 * Parts of the time of exits: asleep though the guest had work (BLOCKED), asleep in a halt, polling
 * in a halt. WAITED is beside that time: the thread waited for a CPU. Histories have these numbers.
 */
enum exit_part {
	EXIT_WAITED,
	EXIT_BLOCKED,
	EXIT_IDLE,
	EXIT_POLLED,
	EXIT_PARTS
};

/*
 * All waits of a vCPU; waits that began in the guest, and in the guest's kernel; and the kinds of
 * what had the CPU meanwhile. An entry each: the part, and its name. Histories have the numbers.
 */
#define WAIT_LIST(KIND) \
	KIND(ALL, "waits") \
	KIND(PREEMPTED, "preempted") \
	KIND(IN_KERNEL, "preempted_in_kernel") \
	KIND(OWN, "own") /* another vCPU of the guest */ \
	KIND(GUEST, "guest") /* a vCPU of another guest */ \
	KIND(VMM, "vmm") /* another thread of a VMM */ \
	KIND(VHOST, "vhost") \
	KIND(KERNEL, "kernel") /* a thread of the kernel */ \
	KIND(PROCESS, "process") \
	KIND(IRQ, "irq") \
	KIND(SOFTIRQ, "softirq") \
	KIND(IDLE, "idle") /* the CPU was waking up */ \
	KIND(QUOTA, "quota") /* whatever ran: a quota kept the vCPU from running */ \
	KIND(UNKNOWN, "unknown") /* it was not seen */

#define WAIT_NUMBER(part, ...) WAIT_##part,

struct field;

enum wait_part { WAIT_LIST(WAIT_NUMBER) WAIT_PARTS };

/* "own" */
const char *wait_part_name(enum wait_part part);

/* What had the CPU: "web2 vCPU 0", of the vCPU's own guest "vCPU 1", "qemu-io of web2", "make". */
void wait_name_culprit(char *buf, size_t size, const struct field *field);

/*
 * All interrupts of a vCPU; of one vector; how late its timer was; and, of the field in `reason`,
 * the time in which the vCPU's thread slept, and waited for a CPU. Histories have the numbers.
 */
enum interrupt_part {
	INTERRUPT_ALL,
	INTERRUPT_VECTOR,
	INTERRUPT_LATE,
	INTERRUPT_WAKING,
	INTERRUPT_WAITING,
	INTERRUPT_PARTS
};

/*
 * The numbers of the provider "host", and their keys: of a vCPU's thread, the vCPU's; of a guest,
 * the guest's, without a vCPU; of a host CPU, GUEST_NONE, and the CPU's number as vCPU. Where hosts
 * are compared, each is a guest of the inventory.
 *
 * An entry each: the part, the field's name, its kind, and whether every machine has it. Histories
 * have the numbers of the parts: a new one is the last.
 */
#define HOST_LIST(PART) \
	/* Of a vCPU's thread: ns on a CPU, */ \
	PART(RUN, "thread(run)", FIELD_COUNTER, true) \
	/* the CPU that it is on, or was on last, */ \
	PART(CPU, "thread(cpu)", FIELD_GAUGE, true) \
	/* how many CPUs it may run on, */ \
	PART(AFFINITY, "thread(affinity)", FIELD_GAUGE, true) \
	/* how often it went to another CPU, */ \
	PART(MIGRATIONS, "thread(migrations)", FIELD_COUNTER, true) \
	/* ns that a quota kept it from running; they are in WAITED, too. */ \
	PART(THROTTLED, "thread(throttled)", FIELD_COUNTER, true) \
	/* Of a guest: ns on a CPU of its VMM's other threads, and vhost's; by their names. */ \
	PART(THREAD, "vmm", FIELD_COUNTER, true) \
	/* Of a host CPU: ns, */ \
	PART(BUSY, "host_cpu(busy)", FIELD_COUNTER, true) \
	PART(NODE, "host_cpu(node)", FIELD_GAUGE, true) \
	PART(CORE, "host_cpu(core)", FIELD_GAUGE, true) \
	/* another CPU of the same core. */ \
	PART(SIBLING, "host_cpu(sibling)", FIELD_GAUGE, true) \
	/* Of a vCPU's thread: thousandths of the guest's memory on other NUMA nodes. */ \
	PART(REMOTE, "thread(remote)", FIELD_GAUGE, false) \
	/* Of a host among others: how many it has. */ \
	PART(GUESTS, "host(guests)", FIELD_GAUGE, false) \
	/* \
	 * Of a guest, or of a host among others, what another kvmtop found: how severe it is, 3 \
	 * at most; the children are the rules. \
	 */ \
	PART(FINDING, "finding", FIELD_PEAK, false) \
	/* Of a vCPU's thread: THROTTLED again, as a child of it: its label is the quota; */ \
	PART(QUOTA, NULL, FIELD_COUNTER, false) \
	/* ns in which a signal or a debugger had stopped it: whole intervals. */ \
	PART(STOPPED, "thread(stopped)", FIELD_COUNTER, true) \
	/* Of neither guest nor CPU: ns that kvmtop's own programs take of an exit. */ \
	PART(COST, "kvmtop(exit)", FIELD_GAUGE, false) \
	/* Of a guest: thousandths of its memory that the host has swapped out. */ \
	PART(SWAPPED, "memory(swapped)", FIELD_GAUGE, false) \
	/* Of neither guest nor CPU: whether the host gives huge pages, 0 or 1. */ \
	PART(HUGE, "memory(huge_pages)", FIELD_GAUGE, false) \
	/* Of a vCPU's thread: ns that it waited for a CPU, by the scheduler. */ \
	PART(WAITED, "thread(waited)", FIELD_COUNTER, true)

#define HOST_NUMBER(part, ...) HOST_##part,

enum host_part { HOST_LIST(HOST_NUMBER) HOST_PARTS };

static inline bool host_is_of_cpu(enum host_part part)
{
	return part >= HOST_BUSY && part <= HOST_SIBLING;
}

static inline bool host_is_of_host(enum host_part part)
{
	return part == HOST_COST || part == HOST_HUGE;
}

struct field {
	const char *name; /* "kvm_exit(HLT)", unique */
	/*
	 * The name that users see. "vmexit(HLT)" counts the same as an event, and has the event's
	 * name, "kvm_exit(HLT)"; other fields have their own.
	 */
	const char *listed;
	const char *label; /* its name below its parent: "HLT"; without a parent the name */
	/*
	 * kvm_stat's name where it differs, "kvm_exit(WFI)"; of USE_WAIT the guest or process of
	 * the thread that the label names; else NULL.
	 */
	const char *alias;
	uint32_t parent;   /* FIELD_NONE: none */
	uint32_t source;   /* the provider, as numbered in SAMPLE_SOURCES */
	enum field_kind kind;
	enum field_use use;
	/* EVENT_PART(), or enum time_part, host_part, wait_part, function_side ...; see use */
	unsigned int part;
	/*
	 * Of WAIT_PROCESS a process of this name that runs, of WAIT_VMM and WAIT_VHOST a thread;
	 * 0: not known.
	 */
	int32_t pid;
	bool is_idle;	   /* an exit that means the vCPU has nothing to do */
	bool is_extra;	   /* counted only when a filter names it */
	uint8_t exit_rank; /* 1: counts VM exits; 2: exits to user space; 0: neither */
	/* USE_ARGUMENT: of its exits; USE_CODE, USE_INTERRUPT, USE_EXIT_PART: see there */
	uint32_t reason;
	bool has_children;
	/* The parent's row of a vCPU is the sum of this field's row and its siblings'. */
	bool adds_up;
	bool is_abandoned; /* the provider failed before it counted anything, or cannot count it */
};

/* EVENT_OTHER: it is no event. */
static inline enum event_kind field_event(const struct field *field)
{
	return field->use == USE_EVENT ? (enum event_kind)(field->part >> 1) : EVENT_OTHER;
}

/* The memory of the pages that a level counts, in KiB; 0: it counts no pages. */
static inline uint64_t event_pages_kib(enum event_kind kind, uint64_t pages)
{
	return kind < EVENT_PAGES_4K ? 0 : (pages << 2) << 9 * (kind - EVENT_PAGES_4K);
}

/* Whether it is about exits, or about a part of their time. */
static inline bool field_is_of_exits(const struct field *field)
{
	return field->use == USE_EXIT || field->use == USE_EXIT_PART;
}

static inline bool field_is_by_vcpu(const struct field *field)
{
	return field->use == USE_EVENT && field->part & EVENT_BY_VCPU;
}

/* Whether it is counted only while it is asked for, because counting costs more. */
static inline bool field_is_on_demand(const struct field *field)
{
	return field->use == USE_ARGUMENT || field->use == USE_WAIT ||
	       field->use == USE_INTERRUPT;
}

/* What adds_up of a field with these properties is. Histories depend on it. */
bool field_adds_up(const struct field *spec);

struct fields;

struct fields *fields_new(void);
void fields_free(struct fields *fields);

/*
 * Adds a copy of spec (its strings too). Sets has_children and adds_up; the label if it is NULL;
 * and listed if it is NULL: to the name, in which the parent's listed name replaces the parent's
 * name. A name that exists already keeps its number, which is returned, and all else; only an
 * abandoned field becomes the new provider's. Returns the number.
 */
uint32_t fields_add(struct fields *fields, const struct field *spec);

void fields_set_pid(struct fields *fields, uint32_t id, int32_t pid);

/* Marks the fields of a provider that failed before it counted anything. */
void fields_abandon(struct fields *fields, uint32_t source);

uint32_t fields_count(const struct fields *fields);
const struct field *fields_get(const struct fields *fields, uint32_t id); /* id < fields_count() */
/* All fields as an array, valid until a field is added. */
const struct field *const *fields_all(const struct fields *fields);
uint32_t fields_find(const struct fields *fields, const char *name); /* FIELD_NONE: no such */

/* A set of fields; grows as needed. Zero-initialised is empty. */
struct field_set {
	uint64_t *words;
	uint32_t nr_words;
	size_t room;
};

/* Views ask this for every key. */
static inline bool field_set_has(const struct field_set *set, uint32_t id)
{
	return id / 64 < set->nr_words && set->words[id / 64] >> (id % 64) & 1;
}

/* Whether any of its fields has this use. */
bool field_set_has_use(const struct field_set *set, const struct fields *fields,
		       enum field_use use);

void field_set_add(struct field_set *set, uint32_t id);
void field_set_del(struct field_set *set, uint32_t id);
void field_set_clear(struct field_set *set);
void field_set_copy(struct field_set *to, const struct field_set *from);
void field_set_release(struct field_set *set);

#endif
