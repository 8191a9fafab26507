/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exit_kind - the kinds of things that are counted of VM exits: reasons and arguments.
 *
 * BPF programs include this header: it needs no libc. Names and events are in argument.h.
 */
#ifndef KVMTOP_ARCH_EXIT_KIND_H
#define KVMTOP_ARCH_EXIT_KIND_H

#include <asm/errno.h>
#include <linux/types.h>

enum exit_kind {
	EXITS_VMEXIT,	 /* why the CPU left the guest */
	EXITS_USERSPACE, /* why KVM_RUN returned to user space */
	EXITS_IOPORT,	 /* from here on: the argument of the exit */
	EXITS_MMIO,
	EXITS_MSR,
	EXITS_CPUID,
	EXITS_HYPERCALL,
	EXITS_SYSREG,
	EXITS_FAULT, /* an access of memory that the second-level tables do not allow */
	EXITS_INTERRUPT, /* no exit's: a line or a message that raises an interrupt */
	EXITS_KINDS
};

/* Whether what is of this kind ends, and so has a time. */
static inline _Bool exits_have_end(enum exit_kind kind)
{
	return kind != EXITS_INTERRUPT;
}

/* The reason of an exit: where a program on the event finds it (providers/bpf/kernel.bpf.h). */
enum exit_place {
	EXIT_NOWHERE,	  /* only the event's record has it */
	EXIT_IN_SVM,	  /* in the vCPU */
	EXIT_IN_VMX,	  /* the same */
	EXIT_IN_SYNDROME, /* AArch64's arguments: ret and esr_ec */
	EXIT_IN_TRAP,	  /* RISC-V's argument */
	EXIT_IN_FIRST,	  /* the first argument */
	EXIT_IN_SECOND	  /* the second, after the vCPU */
};

/* What the guest did, and why it may not: the bits of an argument of EXITS_FAULT. */
#define FAULT_WRITE 1	  /* without this and the next bit: a read */
#define FAULT_EXEC 2
#define FAULT_PROTECTED 4 /* the page is mapped, but not for this access */
#define FAULT_PRIVATE 8	  /* the access was of private memory */
#define FAULT_MMIO 16	  /* no memory: the address of a device */

#define FAULT_IF(bit, condition) ((condition) ? (bit) : 0)

/*
 * By error_code of kvm_page_fault: Intel's exit qualification, which has bit 7 for accesses of a
 * linear address, or the error code of a page fault, with AMD's and KVM's bits above.
 */
static inline __u64 exits_fault_of_x86(__u64 code)
{
	if ((code & 0x80) && !(code >> 32))
		return FAULT_IF(FAULT_WRITE, code & 0x2) | FAULT_IF(FAULT_EXEC, code & 0x4) |
		       FAULT_IF(FAULT_PROTECTED, code & 0x38);
	return FAULT_IF(FAULT_WRITE, code & 0x2) | FAULT_IF(FAULT_EXEC, code & 0x10) |
	       FAULT_IF(FAULT_MMIO, code & 0x8) |
	       FAULT_IF(FAULT_PROTECTED, (code & 0x1) && !(code & 0x8)) |
	       FAULT_IF(FAULT_PRIVATE, code & (1ull << 34 | 1ull << 49));
}

/* By hsr of kvm_guest_fault: class, cause, and whether it was a write. */
static inline __u64 exits_fault_of_arm64(__u64 syndrome)
{
	_Bool is_exec = (syndrome >> 26 & 0x3e) == 0x20;

	return FAULT_IF(FAULT_EXEC, is_exec) |
	       FAULT_IF(FAULT_WRITE, !is_exec && (syndrome & 0x40)) |
	       FAULT_IF(FAULT_PROTECTED, (syndrome & 0x3c) == 0xc);
}

/*
 * The address of a message, by kvm_msi_set_irq. For a device of its own QEMU gives KVM the place in
 * the window of the local APICs, which is 1 MiB: KVM looks at these bits only.
 */
static inline __u64 exits_message_of_x86(__u64 address)
{
	return address < 0x100000 ? 0xfee00000 + address : address;
}

/* The types of kvm_mmio, as the kernel numbers them. A read of user space's is two events. */
enum { MMIO_READ_BEGUN, MMIO_READ, MMIO_WRITE };

/*
 * b of a write to a device: the bytes in the low half and, where the write tells the device which
 * of its queues has work, the queue plus 1 in the high half.
 */
#define WRITE_BYTES(b) ((b) & 0xffff)
#define WRITE_QUEUE(b) ((b) >> 16)
#define WRITE_TO_QUEUE(queue) (((__u32)(queue) + 1) << 16)
#define WRITE_QUEUES 0xffff /* a queue is less */

#define REASON_TYPE_BIT 32 /* of a code: see struct split's type_field */

#define EXITS_REASONS 2 /* kinds that are counted by reason */
#define EXITS_FIRST_ARGUMENT EXITS_IOPORT

/* Codes of EXITS_USERSPACE where KVM_RUN failed, and the reason has no meaning. */
#define EXITS_RESTART 0x500 /* a signal: -EINTR, as a rule with the reason KVM_EXIT_INTR */
#define EXITS_ERROR 0x501

#define EXITS_USER_HLT 5 /* KVM_EXIT_HLT: user space halts the vCPU */
#define EXITS_USER_INTR 10 /* KVM_EXIT_INTR */

/* The code of an exit to user space: its reason, or a failure of KVM_RUN (error < 0). */
static inline __u64 exits_user_code(__u64 reason, int error)
{
	if (error >= 0)
		return reason == EXITS_USER_INTR ? EXITS_RESTART : reason;
	return error == -EINTR ? EXITS_RESTART : EXITS_ERROR;
}

#endif
