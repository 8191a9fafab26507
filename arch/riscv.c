/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * riscv: the trap cause (`scause`); the top bit means an interrupt and is a part of the code.
 *
 * Sources: arch/riscv/include/asm/csr.h, arch/riscv/kvm/trace.h (since Linux 6.11). The kernel
 * prints no names. A WFI is one of many causes of EXC_VIRTUAL_INST_FAULT, so no reason means idle;
 * a thread that sleeps in this exit is. Since 7.3 further events name the vCPU: kvm_vcpu_exit,
 * kvm_mmio_emulate, and kvm_vcpu_irq the vCPU that an interrupt is for.
 */
#include "arch/arch.h"
#include "lib/array.h"

#define INTERRUPT (UINT64_C(1) << 63)

static const struct reason reasons[] = {
	{ 0, "EXC_INST_MISALIGNED", NULL, 0 },
	{ 1, "EXC_INST_ACCESS", NULL, 0 },
	{ 2, "EXC_INST_ILLEGAL", NULL, 0 },
	{ 3, "EXC_BREAKPOINT", NULL, 0 },
	{ 4, "EXC_LOAD_MISALIGNED", NULL, 0 },
	{ 5, "EXC_LOAD_ACCESS", NULL, 0 },
	{ 6, "EXC_STORE_MISALIGNED", NULL, 0 },
	{ 7, "EXC_STORE_ACCESS", NULL, 0 },
	{ 8, "EXC_SYSCALL", NULL, 0 },
	{ 9, "EXC_HYPERVISOR_SYSCALL", NULL, 0 },
	{ 10, "EXC_SUPERVISOR_SYSCALL", NULL, 0 },
	{ 12, "EXC_INST_PAGE_FAULT", NULL, 0 },
	{ 13, "EXC_LOAD_PAGE_FAULT", NULL, 0 },
	{ 15, "EXC_STORE_PAGE_FAULT", NULL, 0 },
	{ 20, "EXC_INST_GUEST_PAGE_FAULT", NULL, 0 },
	{ 21, "EXC_LOAD_GUEST_PAGE_FAULT", NULL, 0 },
	{ 22, "EXC_VIRTUAL_INST_FAULT", NULL, REASON_MAY_IDLE },
	{ 23, "EXC_STORE_GUEST_PAGE_FAULT", NULL, 0 },
	{ INTERRUPT | 1, "IRQ_S_SOFT", NULL, 0 },
	{ INTERRUPT | 2, "IRQ_VS_SOFT", NULL, 0 },
	{ INTERRUPT | 3, "IRQ_M_SOFT", NULL, 0 },
	{ INTERRUPT | 5, "IRQ_S_TIMER", NULL, 0 },
	{ INTERRUPT | 6, "IRQ_VS_TIMER", NULL, 0 },
	{ INTERRUPT | 7, "IRQ_M_TIMER", NULL, 0 },
	{ INTERRUPT | 9, "IRQ_S_EXT", NULL, 0 },
	{ INTERRUPT | 10, "IRQ_VS_EXT", NULL, 0 },
	{ INTERRUPT | 11, "IRQ_M_EXT", NULL, 0 },
	{ INTERRUPT | 12, "IRQ_S_GEXT", NULL, 0 },
	{ INTERRUPT | 13, "IRQ_PMU_OVF", NULL, 0 },
};

static const struct split splits[] = {
	{
		.system = "kvm",
		.event = "kvm_exit",
		.field = "scause",
		.place = EXIT_IN_TRAP,
		.format_list = -1,
		.mask = UINT64_MAX,
		.pc_field = "sepc",
		.entry_event = "kvm_entry",
		.reasons = reasons,
		.nr_reasons = ARRAY_SIZE(reasons),
	},
	{ .event = NULL },
};

const struct arch arch_riscv = {
	.name = "riscv",
	.machine = "riscv",
	.splits = splits,
};
