/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * argument - the events with the argument of an exit: a port, address, MSR, leaf or call; and of
 * interrupts, which the VMM raises at any time.
 */
#ifndef KVMTOP_ARCH_ARGUMENT_H
#define KVMTOP_ARCH_ARGUMENT_H

#include <stddef.h>
#include <stdint.h>

#include "arch/exit_kind.h"
#include "lib/error.h"

#define ARGUMENT_TEXT 64 /* enough characters for any */
#define ARGUMENT_EVENTS 2

/* Source: the kernel's include/trace/events/kvm.h and arch/.../kvm/trace.h. */
struct argument {
	const char *name; /* "msr" */
	const char *what; /* "MSR": shown where the exit's reason is not known */
	struct argument_event {
		const char *system, *event; /* the first that exists is used */
		const char *a, *b, *c; /* the fields that make an argument; NULL: fewer */
		/*
		 * The bytes to read from field a on, when several fields have a byte each; 0: field
		 * a only.
		 */
		uint32_t a_bytes;
		__u64 (*a_of)(__u64 value); /* makes a of the field; NULL: it is the field */
	} events[ARGUMENT_EVENTS];
	/* Writes the values of a, b and c as text: "0x6e0 IA32_TSC_DEADLINE write". */
	void (*format)(char *buf, size_t size, uint64_t a, uint32_t b, uint32_t c);
};

/* The value of c when the exit ends: what was a read that began is a read. */
uint32_t argument_at_end(enum exit_kind kind, uint32_t c);

/* NULL: exits of this kind are counted by reason. */
const struct argument *argument_of(enum exit_kind kind);
const struct argument *argument_by_name(const char *name); /* NULL: there is none */

/*
 * "vmexit", "userspace", "ioport", "mmio", "msr", "cpuid", "hypercall", "sysreg", "fault",
 * "interrupt".
 */
const char *exit_kind_name(enum exit_kind kind);

/* 0, or -EINVAL with error, which lists the names. */
int exit_kind_by_name(const char *name, enum exit_kind *ret_kind, struct error *error);

/* AArch64's system registers as one number. */
#define ARGUMENT_SYSREG(op0, op1, crn, crm, op2) \
	((uint64_t)(op0) << 16 | (op1) << 12 | (crn) << 8 | (crm) << 4 | (op2))

/*
 * The common name of a number that exits of this kind are about: a port, the address of a device,
 * an MSR, a leaf, a call, a register (ARGUMENT_SYSREG). NULL: it has none.
 */
const char *argument_number_name(enum exit_kind kind, uint64_t number);

#endif
