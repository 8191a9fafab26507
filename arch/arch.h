/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arch - what differs between architectures: which events split into named reasons, and the names.
 *
 * Every architecture is compiled in; the architecture of the machine is found at run time. A new
 * one is one file that defines a `const struct arch` and one line in arch/arch.c.
 *
 * The names of reasons come from the running kernel, or from the one that made a recording:
 * reasons_parse() reads the `{ value, "name" }` lists in an event's print format. The tables have
 * what no list says: flags, reasons that a kernel reports but does not name, and kvm_stat's names.
 * Only VMX's and SVM's have more names: recordings of ACRN and kvmtrace come without formats. A
 * reason without a name in both is shown as a number.
 */
#ifndef KVMTOP_ARCH_ARCH_H
#define KVMTOP_ARCH_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/exit_kind.h"

enum {
	REASON_IDLE = 1 << 0,	    /* the vCPU has nothing to do: HLT, WFx, MWAIT ... */
	REASON_ENTRY_FAIL = 1 << 1, /* comes with VMX's FAILED_VMENTRY bit set if an entry fails */
	REASON_PROTECTED = 1 << 2,  /* the guest hides its registers from the host */
	REASON_MAY_IDLE = 1 << 3,   /* of several instructions, one of which waits for work */
};

#define REASON_TYPE (UINT64_C(1) << REASON_TYPE_BIT)

/* One reason. Strings are static or owned by the list that has the reason. */
struct reason {
	uint64_t code;	   /* the field's value & mask, or as the architecture's file says */
	const char *name;  /* the kernel's spelling */
	const char *alias; /* kvm_stat's name where it differs; else NULL */
	unsigned int flags; /* REASON_* */
};

/* An event with a field that says why the event happened. Source: the kernel's trace headers. */
struct split {
	const char *system; /* "kvm" */
	const char *event;  /* "kvm_exit" */
	const char *field;  /* "exit_reason"; without it the event is not split */
	/*
	 * Which symbol list of the event's print format holds the names, counted from 0; -1: there
	 * is no list (riscv), or the list must not be used.
	 */
	int format_list;
	const char *prefix; /* the start of all kernel names that our names leave out, or NULL */
	uint64_t mask; /* the bits of the field that are the reason; the others are flags */
	/*
	 * The name of another field that says what kind of exit it was (arm64's `ret`), and the
	 * value of that field with which `field` has the reason. With any other value the reason's
	 * code is REASON_TYPE | value. NULL: there is no such field.
	 */
	const char *type_field;
	uint64_t type_of_field;
	enum exit_place place; /* where BPF programs find the reason */
	const char *module;    /* that has the types for that; NULL: none but KVM's own */
	const char *pc_field; /* says where the guest was: "guest_rip"; NULL: none does */
	/*
	 * The event of the same system that enters the guest again, which ends the exit; or NULL.
	 */
	const char *entry_event;
	const struct reason *reasons; /* the table, in order of codes */
	size_t nr_reasons;
};

struct arch {
	const char *name;    /* as the title line shows it: "VMX", "SVM", "arm64" */
	/*
	 * A machine is of this kind if its name from uname(2) begins with `machine` (NULL: any
	 * name), and is_host() agrees (NULL: it does). root "" is this machine.
	 */
	const char *machine;
	bool (*is_host)(const char *root, const char *machine);
	const struct split *splits; /* ended by event == NULL; without arch_userspace_split */
	bool samples_all_code; /* its counter of cycles interrupts code with interrupts off, too */
	/*
	 * The debugfs counter that `name` is a part of (s390: instruction_* of exit_instruction);
	 * NULL: it stands alone. The function itself may be NULL.
	 */
	const char *(*debugfs_parent)(const char *name);
};

/* The architecture of the machine below root. Never NULL: an unknown one has no splits. */
const struct arch *arch_of_host(const char *root);

/* By name, as in the table ("VMX"); NULL: no such. */
const struct arch *arch_by_name(const char *name);

/*
 * The i-th architecture of the table, NULL past the end; for tests and for readers of recordings.
 */
const struct arch *arch_at(size_t i);

/* kvm:kvm_userspace_exit, the same on every architecture. Source: uapi linux/kvm.h KVM_EXIT_*. */
extern const struct split arch_userspace_split;

/* The reason with this code in the split's own table; NULL: unknown. */
const struct reason *split_reason(const struct split *split, uint64_t code);

/*
 * The values that an event may have for a reason: the code of the reason, and a second value where
 * a flag in the field or the size of the field can change it. Returns how many.
 */
#define REASON_CODES 2
size_t split_codes(const struct reason *reason, uint64_t *ret_codes);

/*
 * Writes the kernel's trace filter that selects one reason; the numbers are decimal. Returns the
 * length as snprintf() does.
 */
int split_filter(const struct split *split, const struct reason *reason, char *buf, size_t size);

/* A list of reasons that owns its strings. */
struct reasons {
	struct reason *list;
	size_t nr;
};

/*
 * The reasons of a split: first the reasons of the kernel's print format (the text of the event's
 * `format` file, or NULL), in the kernel's spelling, then the reasons that only the built-in table
 * has. Aliases and flags come from the table, matched by code. Sorted by code, no code twice.
 * Text that makes no sense is skipped. Release them with reasons_release().
 */
void reasons_of(const struct split *split, const char *format, struct reasons *ret);
void reasons_release(struct reasons *reasons);

/* The reason of a field's value, whose other bits may be flags; NULL: not known. */
const struct reason *reasons_find(const struct reasons *reasons, const struct split *split,
				  uint64_t value);

/* "HLT", "INVALID_STATE FAILED_VMENTRY"; a value without a reason (NULL) in hex. */
void reason_write(const struct reason *reason, uint64_t value, char *buf, size_t size);

/*
 * Parses the index-th `{ value, "name" }, ...` list of a print format (what __print_symbolic,
 * __print_symbolic_u64 and __print_flags take). The strings are copied.
 * Returns 0, or -ENOENT when there is no such list.
 */
int reasons_parse(const char *format, int index, struct reasons *ret);

#endif
