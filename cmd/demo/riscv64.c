/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * riscv64 - the demo guest's code for 64-bit RISC-V: VS-mode with the MMU off.
 */
#if defined(__riscv) && __riscv_xlen == 64
#include <errno.h>
#include <linux/kvm.h>
#include <sys/ioctl.h>

#include "cmd/demo/demo.h"

#define MEMORY_GPA 0x80000000UL
#define MARK_GPA 0x10010000

extern const uint8_t demo_riscv64_code[], demo_riscv64_halted[], demo_riscv64_code_end[];

/*
 * The loops: an SBI call (the version), which KVM answers in the kernel and which may change a0 and
 * a1; a store where no memory is; the cycle counter, which KVM traps. Then the mark, and the halt.
 */
__asm__(".pushsection .rodata\n"
	".balign 4\n"
	".option push\n"
	".option norelax\n"
	"demo_riscv64_code:\n"
	"	auipc	s4, 0\n"
	"	addi	s4, s4, -16\n"
	"	li	s5, 0x10000000\n"
	"	li	s6, 0x10010000\n"

	"	lwu	s3, 0(s4)\n"
	"	j	2f\n"
	"1:	li	a7, 0x10\n"
	"	li	a6, 0\n"
	"	ecall\n"
	"	addi	s3, s3, -1\n"
	"2:	bnez	s3, 1b\n"

	"	lwu	s3, 4(s4)\n"
	"	j	4f\n"
	"3:	sb	zero, 0(s5)\n"
	"	addi	s3, s3, -1\n"
	"4:	bnez	s3, 3b\n"

	"	lwu	s3, 8(s4)\n"
	"	j	6f\n"
	"5:	rdcycle	a0\n"
	"	addi	s3, s3, -1\n"
	"6:	bnez	s3, 5b\n"

	"	sb	zero, 0(s6)\n"
	"7:	wfi\n"
	"demo_riscv64_halted:\n"
	"	j	7b\n"
	"demo_riscv64_code_end:\n"
	".option pop\n"
	".popsection\n");

/* Without it, the second and later vCPUs wait until the first starts them. */
static int prepare_vcpu(int vm_fd, int vcpu_fd)
{
	struct kvm_mp_state state = { .mp_state = KVM_MP_STATE_RUNNABLE };

	(void)vm_fd;
	return ioctl(vcpu_fd, KVM_SET_MP_STATE, &state) < 0 ? -errno : 0;
}

const struct demo_machine demo_machine_riscv64 = {
	.remedy = "has the processor the hypervisor extension, is the module kvm loaded?",
	.memory_gpa = MEMORY_GPA,
	.code = demo_riscv64_code,
	.halted = demo_riscv64_halted,
	.code_end = demo_riscv64_code_end,
	.prepare_vcpu = prepare_vcpu,
	.mark_gpa = MARK_GPA,
	.pc_id = KVM_REG_RISCV | KVM_REG_SIZE_U64 | KVM_REG_RISCV_CORE |
		 KVM_REG_RISCV_CORE_REG(regs.pc),
};
#endif
