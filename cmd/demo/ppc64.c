/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ppc64 - the demo guest's code for 64-bit POWER: privileged, address translation off.
 */
#ifdef __powerpc64__
#include <errno.h>
#include <linux/kvm.h>
#include <sys/ioctl.h>

#include "cmd/demo/demo.h"

#define MEMORY_GPA 0 /* where interrupt handlers are */
#define MARK_GPA 0x10010000
#define MSR_SF (UINT64_C(1) << 63)
#define MSR_LE UINT64_C(1)
#define LPCR_LD UINT64_C(0x20000) /* a decrementer of more than 32 bits: four seconds */
#define LPCR_ILE UINT64_C(0x2000000)
#define IS_LITTLE (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

extern const uint8_t demo_ppc64_code[], demo_ppc64_halted[], demo_ppc64_code_end[];

/*
 * The loops: H_PUT_TERM_CHAR, a hypercall that KVM leaves to user space and that may change r3 to
 * r12; a store where no memory is; an illegal instruction, for which KVM injects a program
 * interrupt; its handler returns to the next instruction. Then the mark, and H_CEDE, which halts
 * and enables interrupts; the decrementer (32 bits or more) is set so high that it does not end the
 * halt.
 */
__asm__(".pushsection .rodata\n"
	".balign 4\n"
	"demo_ppc64_code:\n"
	"	bcl	20, 31, 1f\n"
	"1:	mflr	20\n"
	"	addi	20, 20, -20\n"
	"	lis	21, 0x1000\n"
	"	lis	22, 0x1001\n"
	"	li	23, 0\n"

	"	lwz	19, 0(20)\n"
	"	b	2f\n"
	"1:	li	3, 0x58\n"
	"	sc	1\n"
	"	addi	19, 19, -1\n"
	"2:	cmplwi	19, 0\n"
	"	bne	1b\n"

	"	lwz	19, 4(20)\n"
	"	b	4f\n"
	"3:	stb	23, 0(21)\n"
	"	addi	19, 19, -1\n"
	"4:	cmplwi	19, 0\n"
	"	bne	3b\n"

	"	lwz	19, 8(20)\n"
	"	b	6f\n"
	"5:	.long	0\n"
	"	addi	19, 19, -1\n"
	"6:	cmplwi	19, 0\n"
	"	bne	5b\n"

	"	stb	23, 0(22)\n"
	"	lis	24, 0x7fff\n"
	"	ori	24, 24, 0xffff\n"
	"	li	25, 1\n"
	"	sldi	25, 25, 40\n"
	"	or	24, 24, 25\n"
	"	mtdec	24\n"
	"	li	3, 0xe0\n"
	"	sc	1\n"
	"demo_ppc64_halted:\n"
	"	li	24, 2\n"
	"	mtmsrd	24, 1\n"
	"	b	demo_ppc64_code\n"

	"	.org	demo_ppc64_code + 0x700 - 16\n"
	"	mfsrr0	25\n"
	"	addi	25, 25, 4\n"
	"	mtsrr0	25\n"
	"	rfid\n"
	"demo_ppc64_code_end:\n"
	".popsection\n");

/* A processor without a large decrementer ignores LPCR_LD. */
static int set_lpcr(int vcpu_fd)
{
	uint64_t lpcr = 0;
	struct kvm_one_reg reg = { .id = KVM_REG_PPC_LPCR_64, .addr = (uintptr_t)&lpcr };

	if (ioctl(vcpu_fd, KVM_GET_ONE_REG, &reg) < 0)
		return -errno;
	lpcr |= LPCR_LD | (IS_LITTLE ? LPCR_ILE : 0);
	return ioctl(vcpu_fd, KVM_SET_ONE_REG, &reg) < 0 ? -errno : 0;
}

static int prepare_vcpu(int vm_fd, int vcpu_fd)
{
	struct kvm_enable_cap papr = { .cap = KVM_CAP_PPC_PAPR };
	struct kvm_regs regs;

	(void)vm_fd;
	if (ioctl(vcpu_fd, KVM_ENABLE_CAP, &papr) < 0 || ioctl(vcpu_fd, KVM_GET_REGS, &regs) < 0)
		return -errno;
	regs.pc = MEMORY_GPA + DEMO_CODE_OFFSET;
	regs.msr = MSR_SF | (IS_LITTLE ? MSR_LE : 0);
	return ioctl(vcpu_fd, KVM_SET_REGS, &regs) < 0 ? -errno : set_lpcr(vcpu_fd);
}

static uint64_t read_pc(int vcpu_fd)
{
	struct kvm_regs regs;

	return ioctl(vcpu_fd, KVM_GET_REGS, &regs) < 0 ? 0 : regs.pc;
}

const struct demo_machine demo_machine_ppc64 = {
	.remedy = "is the module kvm_hv loaded, and is this a POWER8 or later?",
	.memory_gpa = MEMORY_GPA,
	.code = demo_ppc64_code,
	.halted = demo_ppc64_halted,
	.code_end = demo_ppc64_code_end,
	.prepare_vcpu = prepare_vcpu,
	.mark_gpa = MARK_GPA,
	.read_pc = read_pc,
};
#endif
