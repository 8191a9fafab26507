/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * s390: why the SIE instruction ended, and what the guest asked for in the most frequent
 * intercepts.
 *
 * Sources: arch/s390/include/uapi/asm/sie.h, arch/s390/kvm/trace.h. The kernel's names have blanks
 * and parentheses; the names here are as reasons_of() changes them. kvm_s390_intercept_instruction
 * is not split: the kernel computes its mnemonic from `instruction`, and no field has it.
 */
#include <string.h>

#include "arch/arch.h"
#include "lib/array.h"

static const struct reason icpt_reasons[] = {
	{ 0x00, "Host_interruption", NULL, 0 },
	{ 0x04, "Instruction", NULL, 0 },
	{ 0x08, "Program_interruption", NULL, 0 },
	{ 0x0c, "Instruction_and_program_interruption", NULL, 0 },
	{ 0x10, "External_request", NULL, 0 },
	{ 0x14, "External_interruption", NULL, 0 },
	{ 0x18, "I/O_request", NULL, 0 },
	{ 0x1c, "Wait_state", NULL, REASON_IDLE },
	{ 0x20, "Validity", NULL, 0 },
	{ 0x28, "Stop_request", NULL, 0 },
	{ 0x2c, "Operation_exception", NULL, 0 },
	{ 0x38, "Partial-execution", NULL, 0 },
	{ 0x3c, "I/O_interruption", NULL, 0 },
	{ 0x40, "I/O_instruction", NULL, 0 },
	{ 0x48, "Timing_subset", NULL, 0 },
};

static const struct reason sigp_reasons[] = {
	{ 0x01, "SIGP_sense", NULL, 0 },
	{ 0x02, "SIGP_external_call", NULL, 0 },
	{ 0x03, "SIGP_emergency_signal", NULL, 0 },
	{ 0x04, "SIGP_start", NULL, 0 },
	{ 0x05, "SIGP_stop", NULL, 0 },
	{ 0x06, "SIGP_restart", NULL, 0 },
	{ 0x09, "SIGP_stop_and_store_status", NULL, 0 },
	{ 0x0b, "SIGP_initial_cpu_reset", NULL, 0 },
	{ 0x0c, "SIGP_cpu_reset", NULL, 0 },
	{ 0x0d, "SIGP_set_prefix", NULL, 0 },
	{ 0x0e, "SIGP_store_status_at_address", NULL, 0 },
	{ 0x12, "SIGP_set_architecture", NULL, 0 },
	{ 0x13, "SIGP_conditional_emergency_signal", NULL, 0 },
	{ 0x15, "SIGP_sense_running", NULL, 0 },
	{ 0x16, "SIGP_set_multithreading", NULL, 0 },
	{ 0x17, "SIGP_store_additional_status_at_address", NULL, 0 },
};

static const struct reason diag_reasons[] = {
	{ 0x010, "DIAG__0x10__release_pages", NULL, 0 },
	{ 0x044, "DIAG__0x44__time_slice_end", NULL, 0 },
	{ 0x09c, "DIAG__0x9c__time_slice_end_directed", NULL, 0 },
	{ 0x204, "DIAG__0x204__logical-cpu_utilization", NULL, 0 },
	{ 0x258, "DIAG__0x258__page-reference_services", NULL, 0 },
	{ 0x288, "DIAG__0x288__watchdog_functions", NULL, 0 },
	{ 0x308, "DIAG__0x308__ipl_functions", NULL, 0 },
	{ 0x500, "DIAG__0x500__KVM_virtio_functions", NULL, 0 },
	{ 0x501, "DIAG__0x501__KVM_breakpoint", NULL, 0 },
};

static const struct reason prog_reasons[] = {
	{ 0x001, "Prog_Operation", NULL, 0 },
	{ 0x002, "Prog_Privileged_Operation", NULL, 0 },
	{ 0x003, "Prog_Execute", NULL, 0 },
	{ 0x004, "Prog_Protection", NULL, 0 },
	{ 0x005, "Prog_Addressing", NULL, 0 },
	{ 0x006, "Prog_Specification", NULL, 0 },
	{ 0x007, "Prog_Data", NULL, 0 },
	{ 0x008, "Prog_Fixedpoint_overflow", NULL, 0 },
	{ 0x009, "Prog_Fixedpoint_divide", NULL, 0 },
	{ 0x00a, "Prog_Decimal_overflow", NULL, 0 },
	{ 0x00b, "Prog_Decimal_divide", NULL, 0 },
	{ 0x00c, "Prog_HFP_exponent_overflow", NULL, 0 },
	{ 0x00d, "Prog_HFP_exponent_underflow", NULL, 0 },
	{ 0x00e, "Prog_HFP_significance", NULL, 0 },
	{ 0x00f, "Prog_HFP_divide", NULL, 0 },
	{ 0x010, "Prog_Segment_translation", NULL, 0 },
	{ 0x011, "Prog_Page_translation", NULL, 0 },
	{ 0x012, "Prog_Translation_specification", NULL, 0 },
	{ 0x013, "Prog_Special_operation", NULL, 0 },
	{ 0x015, "Prog_Operand", NULL, 0 },
	{ 0x016, "Prog_Trace_table", NULL, 0 },
	{ 0x017, "Prog_ASNtranslation_specification", NULL, 0 },
	{ 0x01c, "Prog_Spaceswitch_event", NULL, 0 },
	{ 0x01d, "Prog_HFP_square_root", NULL, 0 },
	{ 0x01f, "Prog_PCtranslation_specification", NULL, 0 },
	{ 0x020, "Prog_AFX_translation", NULL, 0 },
	{ 0x021, "Prog_ASX_translation", NULL, 0 },
	{ 0x022, "Prog_LX_translation", NULL, 0 },
	{ 0x023, "Prog_EX_translation", NULL, 0 },
	{ 0x024, "Prog_Primary_authority", NULL, 0 },
	{ 0x025, "Prog_Secondary_authority", NULL, 0 },
	{ 0x026, "Prog_LFXtranslation_exception", NULL, 0 },
	{ 0x027, "Prog_LSXtranslation_exception", NULL, 0 },
	{ 0x028, "Prog_ALET_specification", NULL, 0 },
	{ 0x029, "Prog_ALEN_translation", NULL, 0 },
	{ 0x02a, "Prog_ALE_sequence", NULL, 0 },
	{ 0x02b, "Prog_ASTE_validity", NULL, 0 },
	{ 0x02c, "Prog_ASTE_sequence", NULL, 0 },
	{ 0x02d, "Prog_Extended_authority", NULL, 0 },
	{ 0x02e, "Prog_LSTE_sequence", NULL, 0 },
	{ 0x02f, "Prog_ASTE_instance", NULL, 0 },
	{ 0x030, "Prog_Stack_full", NULL, 0 },
	{ 0x031, "Prog_Stack_empty", NULL, 0 },
	{ 0x032, "Prog_Stack_specification", NULL, 0 },
	{ 0x033, "Prog_Stack_type", NULL, 0 },
	{ 0x034, "Prog_Stack_operation", NULL, 0 },
	{ 0x039, "Prog_Region_first_translation", NULL, 0 },
	{ 0x03a, "Prog_Region_second_translation", NULL, 0 },
	{ 0x03b, "Prog_Region_third_translation", NULL, 0 },
	{ 0x040, "Prog_Monitor_event", NULL, 0 },
	{ 0x080, "Prog_PER_event", NULL, 0 },
	{ 0x119, "Prog_Crypto_operation", NULL, 0 },
};

static const struct split splits[] = {
	{
		.system = "kvm",
		.event = "kvm_s390_sie_exit",
		.field = "icptcode",
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
		.mask = 0xff,
		.reasons = sigp_reasons,
		.nr_reasons = ARRAY_SIZE(sigp_reasons),
	},
	{
		.system = "kvm",
		.event = "kvm_s390_handle_diag",
		.field = "code",
		.mask = 0xffff,
		.reasons = diag_reasons,
		.nr_reasons = ARRAY_SIZE(diag_reasons),
	},
	{
		.system = "kvm",
		.event = "kvm_s390_intercept_prog",
		.field = "code",
		.mask = 0xffff,
		.reasons = prog_reasons,
		.nr_reasons = ARRAY_SIZE(prog_reasons),
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
