/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stormguest - on an AMD host: a guest that does too much of many things, for the shell tests.
 *
 * usage: stormguest [--name NAME]
 *
 * Prints "ready PID", waits for a line on stdin, and then makes these exits in turn, for two
 * minutes at the most: a write to the serial port; and 16 times each a timer that is set, a request
 * to interrupt vCPUs, an MSR that is read, a CPUID, an access to the interrupt controller's memory,
 * and the first touch of a page, which user space took away when it answered the serial port. Exit
 * status: 1 failure.
 */
#ifdef __x86_64__
#include "tests/worlds/x86_guest.h"

#define CODE_GPA    0x1000
#define PAGES_GPA   0x10000 /* 16 of them */
#define PAGES_SIZE  0x10000
#define MEMORY_SIZE (PAGES_GPA + PAGES_SIZE)
#define TSS_GPA	    0xfffbd000UL
#define APIC_GPA    0xfee00000
#define PORT	    0x3f8
#define LIMIT_S	    120

extern const uint8_t storm_code[], storm_end[];

/*
 * In real mode. The MSRs are IA32_TSC_DEADLINE and IA32_TSC, the hypercall is KVM_HC_SEND_IPI, and
 * 0xb0 of the interrupt controller is its EOI; %es has the pages.
 */
__asm__(".pushsection .rodata\n"
	".code16\n"
	"storm_code:\n"
	"	movw	$0x3f8, %dx\n"
	"	outb	%al, %dx\n"
	"	movl	$16, %esi\n"
	"1:	movl	$0x6e0, %ecx\n"
	"	xorl	%eax, %eax\n"
	"	xorl	%edx, %edx\n"
	"	wrmsr\n"
	"	movl	$10, %eax\n"
	"	vmmcall\n"
	"	movl	$0x10, %ecx\n"
	"	rdmsr\n"
	"	xorl	%eax, %eax\n"
	"	cpuid\n"
	"	movl	%eax, 0xb0\n"
	"	movw	%si, %di\n"
	"	shlw	$12, %di\n"
	"	movb	%al, %es:(%di)\n"
	"	decl	%esi\n"
	"	jnz	1b\n"
	"	jmp	storm_code\n"
	"storm_end:\n"
	".code64\n"
	".popsection\n");

static void set_segment(struct kvm_segment *segment, uint32_t base)
{
	segment->base = base;
	segment->selector = (uint16_t)(base >> 4);
}

static void set_state(int vcpu)
{
	struct kvm_regs regs = { .rflags = 2 };
	struct kvm_sregs sregs;

	must(ioctl(vcpu, KVM_GET_SREGS, &sregs), "KVM_GET_SREGS");
	set_segment(&sregs.cs, CODE_GPA);
	set_segment(&sregs.ds, APIC_GPA);
	set_segment(&sregs.es, PAGES_GPA);
	must(ioctl(vcpu, KVM_SET_SREGS, &sregs), "KVM_SET_SREGS");
	must(ioctl(vcpu, KVM_SET_REGS, &regs), "KVM_SET_REGS");
}

int main(void)
{
	struct x86_guest guest;

	x86_guest_make(&guest, MEMORY_SIZE);
	memcpy(guest.memory + CODE_GPA, storm_code, (size_t)(storm_end - storm_code));
	must(ioctl(guest.vm, KVM_SET_TSS_ADDR, TSS_GPA), "KVM_SET_TSS_ADDR");
	must(ioctl(guest.vm, KVM_CREATE_IRQCHIP, 0), "KVM_CREATE_IRQCHIP");
	x86_guest_add_vcpu(&guest);
	set_state(guest.vcpu);
	x86_guest_wait();
	alarm(LIMIT_S);
	do {
		must(madvise(guest.memory + PAGES_GPA, PAGES_SIZE, MADV_DONTNEED), "madvise");
		x86_guest_run(&guest);
	} while (guest.run->exit_reason == KVM_EXIT_IO && guest.run->io.port == PORT);
	fprintf(stderr, "stormguest: exit to user space %u\n", guest.run->exit_reason);
	return 1;
}
#else
#include <stdio.h>

int main(void)
{
	fprintf(stderr, "stormguest: for x86 only\n");
	return 1;
}
#endif
