/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arm64: the exception type (`ret`) and, when that is a trap, the exception class (`esr_ec`).
 *
 * Sources: arch/arm64/include/asm/kvm_asm.h, kvm_arm.h, esr.h, arch/arm64/kvm/trace_arm.h. The
 * kernel prints two lists, the types and the classes; `esr_ec` is 0 unless the exit is a trap.
 */
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

/* Classes that kernels do not print, by their names in esr.h; older ones do not print ERET. */
static const struct reason reasons[] = {
	{ 0x01, "WFx", NULL, REASON_IDLE },
	{ 0x0a, "OTHER", NULL, 0 },
	{ 0x0d, "BTI", NULL, 0 },
	{ 0x0e, "ILL", NULL, 0 },
	{ 0x11, "SVC32", NULL, 0 },
	{ 0x12, "HVC32", NULL, 0 },
	{ 0x13, "SMC32", NULL, 0 },
	{ 0x1a, "ERET", NULL, 0 },
	{ 0x1c, "FPAC", NULL, 0 },
	{ 0x1d, "SME", NULL, 0 },
	{ 0x27, "MOPS", NULL, 0 },
	{ 0x2d, "GCS", NULL, 0 },
	{ TYPE(0), "IRQ", NULL, 0 },
	{ TYPE(1), "EL1_SERROR", NULL, 0 },
	{ TYPE(3), "IL", NULL, 0 },
	{ TYPE(0xbadca11), "HYP_GONE", NULL, 0 },
};

static const struct split splits[] = {
	{
		.system = "kvm",
		.event = "kvm_exit",
		.field = "esr_ec",
		.format_list = 1,
		.mask = 0x3f,
		.type_field = "ret",
		.type_of_field = RET_TRAP,
		.place = EXIT_IN_SYNDROME,
		.pc_field = "vcpu_pc",
		.entry_event = "kvm_entry",
		.reasons = reasons,
		.nr_reasons = ARRAY_SIZE(reasons),
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
