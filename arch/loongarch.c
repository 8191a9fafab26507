/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * loongarch: the exception code of the exit.
 *
 * Sources: arch/loongarch/kvm/trace.h (since Linux 6.8), asm/loongarch.h (EXCCODE_*). The kernel
 * prints names from 64 on only; perf has names for ten exceptions; the other names are from the
 * header. What caused a Privilege_Error says an event that follows, with a reason of its own:
 * kvm_exit_idle (64) and kvm_exit_cache, since Linux 6.17 (commit 36d09b96d3e7) kvm_exit_cpucfg and
 * kvm_exit_csr. Of an IOCSR kvm_iocsr has the address, since 6.13.
 */
#include "arch/arch.h"
#include "lib/array.h"

static const struct reason reasons[] = {
	{ 0, "Interrupt", NULL, 0 },
	{ 1, "Mem_Read", NULL, 0 },
	{ 2, "Mem_Store", NULL, 0 },
	{ 3, "Inst_Fetch", NULL, 0 },
	{ 4, "Mem_Modify", NULL, 0 },
	{ 5, "TLBNR", NULL, 0 },
	{ 6, "TLBNX", NULL, 0 },
	{ 7, "TLBPE", NULL, 0 },
	{ 8, "ADE", NULL, 0 },
	{ 9, "ALE", NULL, 0 },
	{ 10, "BCE", NULL, 0 },
	{ 11, "SYS", NULL, 0 },
	{ 12, "BP", NULL, 0 },
	{ 13, "INE", NULL, 0 },
	{ 14, "IPE", NULL, 0 },
	{ 15, "FPU", NULL, 0 },
	{ 16, "LSX", NULL, 0 },
	{ 17, "LASX", NULL, 0 },
	{ 18, "FPE", NULL, 0 },
	{ 19, "WATCH", NULL, 0 },
	{ 20, "BTDIS", NULL, 0 },
	{ 21, "BTE", NULL, 0 },
	{ 22, "Privilege_Error", NULL, REASON_MAY_IDLE },
	{ 23, "Hypercall", NULL, 0 },
	{ 24, "GCM", NULL, 0 },
	{ 25, "SE", NULL, 0 },
	{ 64, "IDLE", NULL, REASON_IDLE },
	{ 65, "CACHE", NULL, 0 },
	{ 66, "CPUCFG", NULL, 0 },
	{ 67, "CSR", NULL, 0 },
};

static const struct split splits[] = {
	{
		.system = "kvm",
		.event = "kvm_exit",
		.field = "reason",
		.place = EXIT_IN_SECOND,
		.mask = 0xffffffff,
		.entry_event = "kvm_enter",
		.reasons = reasons,
		.nr_reasons = ARRAY_SIZE(reasons),
	},
	{ .event = NULL },
};

const struct arch arch_loongarch = {
	.name = "loongarch",
	.machine = "loongarch",
	.splits = splits,
};
