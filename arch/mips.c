/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mips: the exception code of the exit; codes from 64 on are the guest's own exceptions (VZ).
 *
 * Source: arch/mips/kvm/trace.h. The names are the kernel's, as reasons_of() changes them.
 */
#include <string.h>

#include "arch/arch.h"
#include "base/array.h"

static const struct reason reasons[] = {
	{ 0x00, "Interrupt", NULL, 0 },
	{ 0x01, "TLB_Mod", NULL, 0 },
	{ 0x02, "TLB_Miss__LD_", NULL, 0 },
	{ 0x03, "TLB_Miss__ST_", NULL, 0 },
	{ 0x04, "Address_Error__LD_", NULL, 0 },
	{ 0x05, "Address_Err__ST_", NULL, 0 },
	{ 0x08, "System_Call", NULL, 0 },
	{ 0x09, "Break_Inst", NULL, 0 },
	{ 0x0a, "Reserved_Inst", NULL, 0 },
	{ 0x0b, "COP0/1_Unusable", NULL, 0 },
	{ 0x0d, "Trap_Inst", NULL, 0 },
	{ 0x0e, "MSA_FPE", NULL, 0 },
	{ 0x0f, "FPE", NULL, 0 },
	{ 0x15, "MSA_Disabled", NULL, 0 },
	{ 0x1b, "Guest_Exit", NULL, 0 },
	{ 0x20, "WAIT", NULL, REASON_IDLE },
	{ 0x21, "CACHE", NULL, 0 },
	{ 0x22, "Signal", NULL, 0 },
	{ 0x40, "GPSI", NULL, 0 },
	{ 0x41, "GSFC", NULL, 0 },
	{ 0x42, "HC", NULL, 0 },
	{ 0x43, "GRR", NULL, 0 },
	{ 0x48, "GVA", NULL, 0 },
	{ 0x49, "GHFC", NULL, 0 },
	{ 0x4a, "GPA", NULL, 0 },
};

static const struct split splits[] = {
	{
		.system = "kvm",
		.event = "kvm_exit",
		.field = "reason",
		.mask = 0xffffffff,
		.entry_event = "kvm_enter",
		.reasons = reasons,
		.nr_reasons = ARRAY_SIZE(reasons),
	},
	{ .event = NULL },
};

const struct arch arch_mips = {
	.name = "mips",
	.machine = "mips",
	.splits = splits,
};
