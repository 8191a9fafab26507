/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * powerpc: the interrupt that caused an exit, for each of the two kinds of KVM, and hcalls.
 *
 * Sources: arch/powerpc/kvm/trace_book3s.h, trace_hv.h and trace_pr.h, asm/kvm_asm.h, asm/hvcall.h.
 * A host runs one kind of KVM, and has only the events of that kind.
 */
#include "arch/arch.h"
#include "lib/array.h"

/*
 * Under HV a guest halts with the hypercall H_CEDE. On POWER9 and later the trap of that exit is 0,
 * but other exits have trap 0, too. On all machines `ceded` is 1 for this exit only. So `ceded` is
 * the type field.
 */
#define CEDED 1

/*
 * RETURN_TO_HOST, H_VIRT and H_FAC_UNAVAIL are perf's names, the other names are from
 * BOOK3S_INTERRUPT_*.
 */
static const struct reason book3s_reasons[] = {
	{ 0x000, "RETURN_TO_HOST", NULL, 0 },
	{ 0xa00, "DOORBELL", NULL, 0 },
	{ 0xe60, "HMI", NULL, 0 },
	{ 0xe80, "H_DOORBELL", NULL, 0 },
	{ 0xea0, "H_VIRT", NULL, 0 },
	{ 0xf60, "FAC_UNAVAIL", NULL, 0 },
	{ 0xf80, "H_FAC_UNAVAIL", NULL, 0 },
	{ 0x1500, "HV_SOFTPATCH", NULL, 0 },
	{ 0x1980, "NESTED_HV_DECREMENTER", NULL, 0 },
	{ 0x5555, "HV_RM_HARD", NULL, 0 },
	{ REASON_TYPE | CEDED, "H_CEDE", NULL, REASON_IDLE }, /* of HV only: must be last */
};
#define NR_BOOK3S (ARRAY_SIZE(book3s_reasons) - 1) /* without H_CEDE */

/* With H_CEDE a vCPU sleeps until the next interrupt. */
static const struct reason hcall_reasons[] = {
	{ 0x0e0, "H_CEDE", NULL, REASON_IDLE },
	{ 0x2a0, "H_VASI_SIGNAL", NULL, 0 },
	{ 0x2a8, "H_VIOCTL", NULL, 0 },
	{ 0x2dc, "H_REG_SUB_CRQ", NULL, 0 },
	{ 0x2e0, "H_FREE_SUB_CRQ", NULL, 0 },
	{ 0x2e4, "H_SEND_SUB_CRQ", NULL, 0 },
	{ 0x2e8, "H_SEND_SUB_CRQ_INDIRECT", NULL, 0 },
	{ 0x328, "H_BLOCK_REMOVE", NULL, 0 },
	{ 0x358, "H_CLEAR_HPT", NULL, 0 },
	{ 0x360, "H_REQUEST_VMC", NULL, 0 },
	{ 0x36c, "H_RESIZE_HPT_PREPARE", NULL, 0 },
	{ 0x370, "H_RESIZE_HPT_COMMIT", NULL, 0 },
	{ 0x380, "H_SIGNAL_SYS_RESET", NULL, 0 },
	{ 0x388, "H_ALLOCATE_VAS_WINDOW", NULL, 0 },
	{ 0x38c, "H_MODIFY_VAS_WINDOW", NULL, 0 },
	{ 0x390, "H_DEALLOCATE_VAS_WINDOW", NULL, 0 },
	{ 0x394, "H_QUERY_VAS_WINDOW", NULL, 0 },
	{ 0x39c, "H_QUERY_NX_CAPABILITIES", NULL, 0 },
	{ 0x3a0, "H_GET_NX_FAULT", NULL, 0 },
	{ 0x3b0, "H_INT_GET_SOURCE_CONFIG", NULL, 0 },
	{ 0x3bc, "H_INT_GET_QUEUE_CONFIG", NULL, 0 },
	{ 0x3c0, "H_INT_SET_OS_REPORTING_LINE", NULL, 0 },
	{ 0x3c4, "H_INT_GET_OS_REPORTING_LINE", NULL, 0 },
	{ 0x3cc, "H_INT_SYNC", NULL, 0 },
	{ 0x3e4, "H_SCM_READ_METADATA", NULL, 0 },
	{ 0x3e8, "H_SCM_WRITE_METADATA", NULL, 0 },
	{ 0x3ec, "H_SCM_BIND_MEM", NULL, 0 },
	{ 0x3f0, "H_SCM_UNBIND_MEM", NULL, 0 },
	{ 0x3f4, "H_SCM_QUERY_BLOCK_MEM_BINDING", NULL, 0 },
	{ 0x3f8, "H_SCM_QUERY_LOGICAL_MEM_BINDING", NULL, 0 },
	{ 0x3fc, "H_SCM_UNBIND_ALL", NULL, 0 },
	{ 0x400, "H_SCM_HEALTH", NULL, 0 },
	{ 0x418, "H_SCM_PERFORMANCE_STATS", NULL, 0 },
	{ 0x41c, "H_PKS_GET_CONFIG", NULL, 0 },
	{ 0x420, "H_PKS_SET_PASSWORD", NULL, 0 },
	{ 0x424, "H_PKS_GEN_PASSWORD", NULL, 0 },
	{ 0x42c, "H_PKS_WRITE_OBJECT", NULL, 0 },
	{ 0x430, "H_PKS_GEN_KEY", NULL, 0 },
	{ 0x434, "H_PKS_READ_OBJECT", NULL, 0 },
	{ 0x438, "H_PKS_REMOVE_OBJECT", NULL, 0 },
	{ 0x43c, "H_PKS_CONFIRM_OBJECT_FLUSHED", NULL, 0 },
	{ 0x44c, "H_SCM_FLUSH", NULL, 0 },
	{ 0x454, "H_PKS_SIGNED_UPDATE", NULL, 0 },
	{ 0x45c, "H_WATCHDOG", NULL, 0 },
	{ 0x460, "H_GUEST_GET_CAPABILITIES", NULL, 0 },
	{ 0x464, "H_GUEST_SET_CAPABILITIES", NULL, 0 },
	{ 0x470, "H_GUEST_CREATE", NULL, 0 },
	{ 0x474, "H_GUEST_CREATE_VCPU", NULL, 0 },
	{ 0x478, "H_GUEST_GET_STATE", NULL, 0 },
	{ 0x47c, "H_GUEST_SET_STATE", NULL, 0 },
	{ 0x480, "H_GUEST_RUN_VCPU", NULL, 0 },
	{ 0x484, "H_GUEST_COPY_MEMORY", NULL, 0 },
	{ 0x488, "H_GUEST_DELETE", NULL, 0 },
};

static const struct split splits[] = {
	{
		.system = "kvm_hv",
		.event = "kvm_guest_exit",
		.field = "trap",
		.mask = 0xffffffff,
		.type_field = "ceded",
		.type_of_field = 0,
		.pc_field = "pc",
		.entry_event = "kvm_guest_enter",
		.reasons = book3s_reasons,
		.nr_reasons = NR_BOOK3S + 1,
	},
	{
		.system = "kvm_hv",
		.event = "kvm_hcall_enter",
		.field = "req",
		.mask = UINT64_MAX,
		.reasons = hcall_reasons,
		.nr_reasons = ARRAY_SIZE(hcall_reasons),
	},
	{
		.system = "kvm_pr",
		.event = "kvm_exit",
		.field = "exit_nr",
		.place = EXIT_IN_FIRST,
		.mask = 0xffffffff,
		.reasons = book3s_reasons,
		.nr_reasons = NR_BOOK3S,
	},
	{ .event = NULL },
};

const struct arch arch_powerpc = {
	.name = "powerpc",
	.machine = "ppc",
	.splits = splits,
	.samples_all_code = true,
};
