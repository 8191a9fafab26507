/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arm64 - the demo guest's code for AArch64: EL1 with the MMU off.
 */
#ifdef __aarch64__
#include <errno.h>
#include <linux/kvm.h>
#include <sys/ioctl.h>

#include "cmd/demo/demo.h"

#define MEMORY_GPA 0x40000000
#define MARK_GPA 0x10010000
#define DEFAULT_GPA_BITS 40 /* of KVM_CREATE_VM with type 0 */

extern const uint8_t demo_arm64_code[], demo_arm64_halted[], demo_arm64_code_end[];

/*
 * The loops: HVC with PSCI_VERSION, which KVM answers in the kernel; a store where no memory is; an
 * ID register, which KVM traps. Then the mark, and the halt. PSCI may change x0 to x3.
 */
__asm__(".pushsection .rodata\n"
	".balign 4\n"
	"demo_arm64_code:\n"
	"	adr	x20, demo_arm64_code - 16\n"
	"	mov	x21, #0x10000000\n"
	"	mov	x22, #0x10010000\n"

	"	ldr	w19, [x20]\n"
	"	b	2f\n"
	"1:	mov	x0, #0x84000000\n"
	"	hvc	#0\n"
	"	sub	w19, w19, #1\n"
	"2:	cbnz	w19, 1b\n"

	"	ldr	w19, [x20, #4]\n"
	"	b	4f\n"
	"3:	strb	wzr, [x21]\n"
	"	sub	w19, w19, #1\n"
	"4:	cbnz	w19, 3b\n"

	"	ldr	w19, [x20, #8]\n"
	"	b	6f\n"
	"5:	mrs	x0, ID_AA64PFR0_EL1\n"
	"	sub	w19, w19, #1\n"
	"6:	cbnz	w19, 5b\n"

	"	strb	wzr, [x22]\n"
	"7:	wfi\n"
	"demo_arm64_halted:\n"
	"	b	7b\n"
	"demo_arm64_code_end:\n"
	".popsection\n");

/* Some processors have fewer bits of physical addresses than the default; old kernels say 0. */
static unsigned long vm_type(int kvm_fd)
{
	int bits = ioctl(kvm_fd, KVM_CHECK_EXTENSION, KVM_CAP_ARM_VM_IPA_SIZE);

	if (bits <= 0 || bits >= DEFAULT_GPA_BITS)
		return 0;
	return KVM_VM_TYPE_ARM_IPA_SIZE((unsigned int)bits);
}

static int prepare_vcpu(int vm_fd, int vcpu_fd)
{
	struct kvm_vcpu_init init;

	if (ioctl(vm_fd, KVM_ARM_PREFERRED_TARGET, &init) < 0)
		return -errno;
	init.features[0] |= 1u << KVM_ARM_VCPU_PSCI_0_2;
	return ioctl(vcpu_fd, KVM_ARM_VCPU_INIT, &init) < 0 ? -errno : 0;
}

const struct demo_machine demo_machine_arm64 = {
	.remedy = "did the firmware start the kernel in EL2, with KVM built in?",
	.memory_gpa = MEMORY_GPA,
	.code = demo_arm64_code,
	.halted = demo_arm64_halted,
	.code_end = demo_arm64_code_end,
	.vm_type = vm_type,
	.prepare_vcpu = prepare_vcpu,
	.mark_gpa = MARK_GPA,
	.pc_id = KVM_REG_ARM64 | KVM_REG_SIZE_U64 | KVM_REG_ARM_CORE |
		 KVM_REG_ARM_CORE_REG(regs.pc),
};
#endif
