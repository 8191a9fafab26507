/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * s390: why the SIE instruction ended, and what the guest asked for in the most frequent
 * intercepts.
 *
 * Source: arch/s390/kvm/trace.h. The kernel's names have blanks and parentheses, which reasons_of()
 * changes. kvm_s390_intercept_instruction is not split: the kernel computes its mnemonic from
 * `instruction`, and no field has it.
 */
#include <string.h>

#include "arch/arch.h"
#include "lib/array.h"

static const struct reason icpt_reasons[] = {
	{ 0x1c, "Wait_state", NULL, REASON_IDLE },
};

static const struct split splits[] = {
	{
		.system = "kvm",
		.event = "kvm_s390_sie_exit",
		.field = "icptcode",
		.place = EXIT_IN_SECOND,
		.mask = 0xff,
		.pc_field = "pswaddr",
		.entry_event = "kvm_s390_sie_enter",
		.reasons = icpt_reasons,
		.nr_reasons = ARRAY_SIZE(icpt_reasons),
	},
	{
		.system = "kvm",
		.event = "kvm_s390_handle_sigp",
		.field = "order_code",
		.place = EXIT_IN_SECOND,
		.mask = 0xff,
	},
	{
		.system = "kvm",
		.event = "kvm_s390_handle_diag",
		.field = "code",
		.place = EXIT_IN_SECOND,
		.mask = 0xffff,
	},
	{
		.system = "kvm",
		.event = "kvm_s390_intercept_prog",
		.field = "code",
		.place = EXIT_IN_SECOND,
		.mask = 0xffff,
	},
	{ .event = NULL },
};

static const char *debugfs_parent(const char *name)
{
	return strncmp(name, "instruction_", 12) == 0 ? "exit_instruction" : NULL;
}

const struct arch arch_s390 = {
	.name = "s390",
	.machine = "s390",
	.splits = splits,
	.debugfs_parent = debugfs_parent,
};
