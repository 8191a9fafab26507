/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * userspace: why KVM_RUN returned to the VMM, the same on every architecture.
 *
 * Sources: uapi linux/kvm.h, include/trace/events/kvm.h. The kernel prints names up to 30 only.
 */
#include "arch/arch.h"
#include "arch/exit_kind.h"
#include "lib/array.h"

static const struct reason reasons[] = {
	{ 0, "UNKNOWN", NULL, 0 },
	{ 1, "EXCEPTION", NULL, 0 },
	{ 2, "IO", NULL, 0 },
	{ 3, "HYPERCALL", NULL, 0 },
	{ 4, "DEBUG", NULL, 0 },
	{ EXITS_USER_HLT, "HLT", NULL, REASON_IDLE },
	{ 6, "MMIO", NULL, 0 },
	{ 7, "IRQ_WINDOW_OPEN", NULL, 0 },
	{ 8, "SHUTDOWN", NULL, 0 },
	{ 9, "FAIL_ENTRY", NULL, 0 },
	{ 10, "INTR", NULL, 0 },
	{ 11, "SET_TPR", NULL, 0 },
	{ 12, "TPR_ACCESS", NULL, 0 },
	{ 13, "S390_SIEIC", NULL, 0 },
	{ 14, "S390_RESET", NULL, 0 },
	{ 15, "DCR", NULL, 0 },
	{ 16, "NMI", NULL, 0 },
	{ 17, "INTERNAL_ERROR", NULL, 0 },
	{ 18, "OSI", NULL, 0 },
	{ 19, "PAPR_HCALL", NULL, 0 },
	{ 20, "S390_UCONTROL", NULL, 0 },
	{ 21, "WATCHDOG", NULL, 0 },
	{ 22, "S390_TSCH", NULL, 0 },
	{ 23, "EPR", NULL, 0 },
	{ 24, "SYSTEM_EVENT", NULL, 0 },
	{ 25, "S390_STSI", NULL, 0 },
	{ 26, "IOAPIC_EOI", NULL, 0 },
	{ 27, "HYPERV", NULL, 0 },
	{ 28, "ARM_NISV", NULL, 0 },
	{ 29, "X86_RDMSR", NULL, 0 },
	{ 30, "X86_WRMSR", NULL, 0 },
	{ 31, "DIRTY_RING_FULL", NULL, 0 },
	{ 32, "AP_RESET_HOLD", NULL, 0 },
	{ 33, "X86_BUS_LOCK", NULL, 0 },
	{ 34, "XEN", NULL, 0 },
	{ 35, "RISCV_SBI", NULL, 0 },
	{ 36, "RISCV_CSR", NULL, 0 },
	{ 37, "NOTIFY", NULL, 0 },
	{ 38, "LOONGARCH_IOCSR", NULL, 0 },
	{ 39, "MEMORY_FAULT", NULL, 0 },
	{ 40, "TDX", NULL, 0 },
	{ 41, "ARM_SEA", NULL, 0 },
	{ 42, "ARM_LDST64B", NULL, 0 },
	{ 43, "SNP_REQ_CERTS", NULL, 0 },
};

const struct split arch_userspace_split = {
	.system = "kvm",
	.event = "kvm_userspace_exit",
	.field = "reason",
	.prefix = "KVM_EXIT_",
	.mask = 0xffffffff,
	.reasons = reasons,
	.nr_reasons = ARRAY_SIZE(reasons),
};
