/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86 - the demo guest's code for x86-64, in real mode: page tables would add exits.
 */
#ifdef __x86_64__
#include <errno.h>
#include <linux/kvm.h>
#include <string.h>
#include <sys/ioctl.h>

#include "cmd/demo/demo.h"

#define MEMORY_GPA 0x1000
#define UNBACKED_GPA 0xd0000
#define TSS_GPA 0xfffbd000UL /* three pages, where QEMU has them */

extern const uint8_t demo_x86_code[], demo_x86_code_end[];

/* %cs begins at the memory, %ds where no memory is. CPUID keeps %esi. Port 0xe9 has no device. */
__asm__(".pushsection .rodata\n"
	".code16\n"
	"demo_x86_code:\n"
	"	movl	%cs:0, %esi\n"
	"	movw	$0xe9, %dx\n"
	"	jmp	2f\n"
	"1:	outb	%al, %dx\n"
	"	decl	%esi\n"
	"2:	testl	%esi, %esi\n"
	"	jnz	1b\n"

	"	movl	%cs:4, %esi\n"
	"	jmp	4f\n"
	"3:	movb	%al, 0\n"
	"	decl	%esi\n"
	"4:	testl	%esi, %esi\n"
	"	jnz	3b\n"

	"	movl	%cs:8, %esi\n"
	"	jmp	6f\n"
	"5:	movl	%esi, %eax\n"
	"	andl	%cs:12, %eax\n"
	"	cpuid\n"
	"	decl	%esi\n"
	"6:	testl	%esi, %esi\n"
	"	jnz	5b\n"

	"	hlt\n"
	"	jmp	demo_x86_code\n"
	"demo_x86_code_end:\n"
	".code64\n"
	".popsection\n");

/* Intel processors without unrestricted guests need a TSS for real mode; others ignore it. */
static void prepare_vm(int vm_fd)
{
	(void)ioctl(vm_fd, KVM_SET_TSS_ADDR, TSS_GPA);
}

/* In real mode the base is 16 times the selector; with another base some hosts emulate. */
static void set_segment(struct kvm_segment *segment, uint32_t base)
{
	segment->base = base;
	segment->selector = (uint16_t)(base >> 4);
}

static int prepare_vcpu(int vm_fd, int vcpu_fd)
{
	struct kvm_regs regs = { .rip = DEMO_CODE_OFFSET, .rflags = 2 };
	struct kvm_sregs sregs;

	(void)vm_fd;
	if (ioctl(vcpu_fd, KVM_GET_SREGS, &sregs) < 0)
		return -errno;
	set_segment(&sregs.cs, MEMORY_GPA);
	set_segment(&sregs.ds, UNBACKED_GPA);
	if (ioctl(vcpu_fd, KVM_SET_SREGS, &sregs) < 0 || ioctl(vcpu_fd, KVM_SET_REGS, &regs) < 0)
		return -errno;
	return 0;
}

const struct demo_machine demo_machine_x86 = {
	.remedy = "is kvm_intel or kvm_amd loaded, is virtualization on in the firmware?",
	.memory_gpa = MEMORY_GPA,
	.code = demo_x86_code,
	.code_end = demo_x86_code_end,
	.prepare_vm = prepare_vm,
	.prepare_vcpu = prepare_vcpu,
};
#endif
