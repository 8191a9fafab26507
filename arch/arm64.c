/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arm64: the exception type (`ret`) and, when that is a trap, the exception class (`esr_ec`).
 *
 * Sources: arch/arm64/include/asm/kvm_asm.h, kvm_arm.h, esr.h, arch/arm64/kvm/trace_arm.h. The
 * kernel prints two lists, the types and the classes; `esr_ec` is 0 unless the exit is a trap.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "lib/array.h"

/*
 * The code of a reason is `esr_ec` when `ret` is 2 (a trap), else its type `ret`: an IRQ must not
 * become UNKNOWN, which is class 0. The type SERROR is EL1_SERROR here, because a class is named
 * SERROR, too.
 */
#define RET_TRAP 2
#define TYPE(ret) (REASON_TYPE | (ret))

/* The kernel names 35 of the classes; the others are from esr.h. */
static const struct reason reasons[] = {
	{ 0x00, "UNKNOWN", NULL, 0 },
	{ 0x01, "WFx", NULL, REASON_IDLE },
	{ 0x03, "CP15_32", NULL, 0 },
	{ 0x04, "CP15_64", NULL, 0 },
	{ 0x05, "CP14_MR", NULL, 0 },
	{ 0x06, "CP14_LS", NULL, 0 },
	{ 0x07, "FP_ASIMD", NULL, 0 },
	{ 0x08, "CP10_ID", NULL, 0 },
	{ 0x09, "PAC", NULL, 0 },
	{ 0x0a, "OTHER", NULL, 0 },
	{ 0x0c, "CP14_64", NULL, 0 },
	{ 0x0d, "BTI", NULL, 0 },
	{ 0x0e, "ILL", NULL, 0 },
	{ 0x11, "SVC32", NULL, 0 },
	{ 0x12, "HVC32", NULL, 0 },
	{ 0x13, "SMC32", NULL, 0 },
	{ 0x15, "SVC64", NULL, 0 },
	{ 0x16, "HVC64", NULL, 0 },
	{ 0x17, "SMC64", NULL, 0 },
	{ 0x18, "SYS64", NULL, 0 },
	{ 0x19, "SVE", NULL, 0 },
	{ 0x1a, "ERET", NULL, 0 },
	{ 0x1c, "FPAC", NULL, 0 },
	{ 0x1d, "SME", NULL, 0 },
	{ 0x1f, "IMP_DEF", NULL, 0 },
	{ 0x20, "IABT_LOW", NULL, 0 },
	{ 0x21, "IABT_CUR", NULL, 0 },
	{ 0x22, "PC_ALIGN", NULL, 0 },
	{ 0x24, "DABT_LOW", NULL, 0 },
	{ 0x25, "DABT_CUR", NULL, 0 },
	{ 0x26, "SP_ALIGN", NULL, 0 },
	{ 0x27, "MOPS", NULL, 0 },
	{ 0x28, "FP_EXC32", NULL, 0 },
	{ 0x2c, "FP_EXC64", NULL, 0 },
	{ 0x2d, "GCS", NULL, 0 },
	{ 0x2f, "SERROR", NULL, 0 },
	{ 0x30, "BREAKPT_LOW", NULL, 0 },
	{ 0x31, "BREAKPT_CUR", NULL, 0 },
	{ 0x32, "SOFTSTP_LOW", NULL, 0 },
	{ 0x33, "SOFTSTP_CUR", NULL, 0 },
	{ 0x34, "WATCHPT_LOW", NULL, 0 },
	{ 0x35, "WATCHPT_CUR", NULL, 0 },
	{ 0x38, "BKPT32", NULL, 0 },
	{ 0x3a, "VECTOR32", NULL, 0 },
	{ 0x3c, "BRK64", NULL, 0 },
	{ TYPE(0), "IRQ", NULL, 0 },
	{ TYPE(1), "EL1_SERROR", NULL, 0 },
	{ TYPE(3), "IL", NULL, 0 },
	{ TYPE(0xbadca11), "HYP_GONE", NULL, 0 },
};

static int exit_filter(const struct split *split, const struct reason *reason, char *buf,
		       size_t size)
{
	if (reason->code & REASON_TYPE)
		return snprintf(buf, size, "ret==%" PRIu64, reason->code & ~REASON_TYPE);
	return snprintf(buf, size, "ret==%d&&%s==%" PRIu64, RET_TRAP, split->field, reason->code);
}

/* The record has ret without the flag of an SError that came with the exit. */
static const struct raw_exit raw = { .type_mask = 0x7fffffff };

static const struct split splits[] = {
	{
		.system = "kvm",
		.event = "kvm_exit",
		.field = "esr_ec",
		.format_list = 1,
		.mask = 0x3f,
		.type_field = "ret",
		.type_of_field = RET_TRAP,
		.raw = &raw,
		.pc_field = "vcpu_pc",
		.entry_event = "kvm_entry",
		.reasons = reasons,
		.nr_reasons = ARRAY_SIZE(reasons),
		.filter = exit_filter,
	},
	{ .event = NULL },
};

static bool is_host(const char *root, const char *machine)
{
	(void)root;
	return strncmp(machine, "aarch64", 7) == 0 || strcmp(machine, "arm64") == 0;
}

const struct arch arch_arm64 = {
	.name = "arm64",
	.is_host = is_host,
	.splits = splits,
};
