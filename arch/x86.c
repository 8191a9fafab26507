/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86: Intel's VMX, AMD's SVM with the SEV-ES calls of encrypted guests, and hosts with neither.
 *
 * Sources: uapi asm/vmx.h and asm/svm.h, arch/x86/kvm/trace.h. Every kernel prints both lists in
 * kvm_exit, VMX first, and picks one by the record's `isa` (1: VMX, 2: SVM).
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "lib/array.h"
#include "lib/file.h"

/*
 * All names that kernels print, for recordings of ACRN and kvmtrace, and OTHER_SMI and SEAMCALL,
 * which no kernel prints. UMWAIT and TPAUSE are not idle: KVM lets the guest execute them, and an
 * exit for them ends in #UD.
 */
static const struct reason vmx_reasons[] = {
	{ 0, "EXCEPTION_NMI", NULL, 0 },
	{ 1, "EXTERNAL_INTERRUPT", NULL, 0 },
	{ 2, "TRIPLE_FAULT", NULL, 0 },
	{ 3, "INIT_SIGNAL", NULL, 0 },
	{ 4, "SIPI_SIGNAL", NULL, 0 },
	{ 6, "OTHER_SMI", NULL, 0 },
	{ 7, "INTERRUPT_WINDOW", NULL, 0 },
	{ 8, "NMI_WINDOW", NULL, 0 },
	{ 9, "TASK_SWITCH", NULL, 0 },
	{ 10, "CPUID", NULL, 0 },
	{ 12, "HLT", NULL, REASON_IDLE },
	{ 13, "INVD", NULL, 0 },
	{ 14, "INVLPG", NULL, 0 },
	{ 15, "RDPMC", NULL, 0 },
	{ 16, "RDTSC", NULL, 0 },
	{ 18, "VMCALL", NULL, 0 },
	{ 19, "VMCLEAR", NULL, 0 },
	{ 20, "VMLAUNCH", NULL, 0 },
	{ 21, "VMPTRLD", NULL, 0 },
	{ 22, "VMPTRST", NULL, 0 },
	{ 23, "VMREAD", NULL, 0 },
	{ 24, "VMRESUME", NULL, 0 },
	{ 25, "VMWRITE", NULL, 0 },
	{ 26, "VMOFF", NULL, 0 },
	{ 27, "VMON", NULL, 0 },
	{ 28, "CR_ACCESS", NULL, 0 },
	{ 29, "DR_ACCESS", NULL, 0 },
	{ 30, "IO_INSTRUCTION", NULL, 0 },
	{ 31, "MSR_READ", NULL, 0 },
	{ 32, "MSR_WRITE", NULL, 0 },
	{ 33, "INVALID_STATE", NULL, REASON_ENTRY_FAIL },
	{ 34, "MSR_LOAD_FAIL", NULL, REASON_ENTRY_FAIL },
	{ 36, "MWAIT_INSTRUCTION", NULL, REASON_IDLE },
	{ 37, "MONITOR_TRAP_FLAG", NULL, 0 },
	{ 39, "MONITOR_INSTRUCTION", NULL, 0 },
	{ 40, "PAUSE_INSTRUCTION", NULL, 0 },
	{ 41, "MCE_DURING_VMENTRY", NULL, REASON_ENTRY_FAIL },
	{ 43, "TPR_BELOW_THRESHOLD", NULL, 0 },
	{ 44, "APIC_ACCESS", NULL, 0 },
	{ 45, "EOI_INDUCED", NULL, 0 },
	{ 46, "GDTR_IDTR", NULL, 0 },
	{ 47, "LDTR_TR", NULL, 0 },
	{ 48, "EPT_VIOLATION", NULL, 0 },
	{ 49, "EPT_MISCONFIG", NULL, 0 },
	{ 50, "INVEPT", NULL, 0 },
	{ 51, "RDTSCP", NULL, 0 },
	{ 52, "PREEMPTION_TIMER", NULL, 0 },
	{ 53, "INVVPID", NULL, 0 },
	{ 54, "WBINVD", NULL, 0 },
	{ 55, "XSETBV", NULL, 0 },
	{ 56, "APIC_WRITE", NULL, 0 },
	{ 57, "RDRAND", NULL, 0 },
	{ 58, "INVPCID", NULL, 0 },
	{ 59, "VMFUNC", NULL, 0 },
	{ 60, "ENCLS", NULL, 0 },
	{ 61, "RDSEED", NULL, 0 },
	{ 62, "PML_FULL", NULL, 0 },
	{ 63, "XSAVES", NULL, 0 },
	{ 64, "XRSTORS", NULL, 0 },
	{ 67, "UMWAIT", NULL, 0 },
	{ 68, "TPAUSE", NULL, 0 },
	{ 74, "BUS_LOCK", NULL, 0 },
	{ 75, "NOTIFY", NULL, 0 },
	{ 76, "SEAMCALL", NULL, 0 },
	{ 77, "TDCALL", NULL, 0 },
	{ 84, "MSR_READ_IMM", NULL, 0 },
	{ 85, "MSR_WRITE_IMM", NULL, 0 },
};

/*
 * The names that kvm_stat spells differently, that a kvmtrace may need, and that no kernel prints:
 * these are defined without a name, or only posted as patches (vmgexit_hv_ipi,
 * vmgexit_get_apic_ids, vmgexit_hvdb_page), and follow the kernel's spelling. 0x80000001 and up are
 * the calls of an SEV-ES guest. A vCPU in vmgexit_ap_hlt_loop sleeps until it is started.
 */
static const struct reason svm_reasons[] = {
	{ 0x000, "read_cr0", "READ_CR0", 0 },
	{ 0x002, "read_cr2", "READ_CR2", 0 },
	{ 0x003, "read_cr3", "READ_CR3", 0 },
	{ 0x004, "read_cr4", "READ_CR4", 0 },
	{ 0x008, "read_cr8", "READ_CR8", 0 },
	{ 0x010, "write_cr0", "WRITE_CR0", 0 },
	{ 0x012, "write_cr2", "WRITE_CR2", 0 },
	{ 0x013, "write_cr3", "WRITE_CR3", 0 },
	{ 0x014, "write_cr4", "WRITE_CR4", 0 },
	{ 0x018, "write_cr8", "WRITE_CR8", 0 },
	{ 0x020, "read_dr0", "READ_DR0", 0 },
	{ 0x021, "read_dr1", "READ_DR1", 0 },
	{ 0x022, "read_dr2", "READ_DR2", 0 },
	{ 0x023, "read_dr3", "READ_DR3", 0 },
	{ 0x024, "read_dr4", "READ_DR4", 0 },
	{ 0x025, "read_dr5", "READ_DR5", 0 },
	{ 0x026, "read_dr6", "READ_DR6", 0 },
	{ 0x027, "read_dr7", "READ_DR7", 0 },
	{ 0x030, "write_dr0", "WRITE_DR0", 0 },
	{ 0x031, "write_dr1", "WRITE_DR1", 0 },
	{ 0x032, "write_dr2", "WRITE_DR2", 0 },
	{ 0x033, "write_dr3", "WRITE_DR3", 0 },
	{ 0x034, "write_dr4", "WRITE_DR4", 0 },
	{ 0x035, "write_dr5", "WRITE_DR5", 0 },
	{ 0x036, "write_dr6", "WRITE_DR6", 0 },
	{ 0x037, "write_dr7", "WRITE_DR7", 0 },
	{ 0x040, "DE_excp", "EXCP_BASE", 0 },
	{ 0x041, "DB_excp", NULL, 0 },
	{ 0x043, "BP_excp", NULL, 0 },
	{ 0x044, "OF_excp", NULL, 0 },
	{ 0x045, "BR_excp", NULL, 0 },
	{ 0x046, "UD_excp", NULL, 0 },
	{ 0x047, "NM_excp", NULL, 0 },
	{ 0x048, "DF_excp", NULL, 0 },
	{ 0x04a, "TS_excp", NULL, 0 },
	{ 0x04b, "NP_excp", NULL, 0 },
	{ 0x04c, "SS_excp", NULL, 0 },
	{ 0x04d, "GP_excp", NULL, 0 },
	{ 0x04e, "PF_excp", NULL, 0 },
	{ 0x050, "MF_excp", NULL, 0 },
	{ 0x051, "AC_excp", NULL, 0 },
	{ 0x052, "MC_excp", NULL, 0 },
	{ 0x053, "XF_excp", NULL, 0 },
	{ 0x05f, "last_excp", "LAST_EXCP", 0 },
	{ 0x060, "interrupt", "INTR", 0 },
	{ 0x061, "nmi", "NMI", 0 },
	{ 0x062, "smi", "SMI", 0 },
	{ 0x063, "init", "INIT", 0 },
	{ 0x064, "vintr", "VINTR", 0 },
	{ 0x065, "cr0_sel_write", "CR0_SEL_WRITE", 0 },
	{ 0x066, "read_idtr", "IDTR_READ", 0 },
	{ 0x067, "read_gdtr", "GDTR_READ", 0 },
	{ 0x068, "read_ldtr", "LDTR_READ", 0 },
	{ 0x069, "read_rt", "TR_READ", 0 },
	{ 0x06a, "write_idtr", "IDTR_WRITE", 0 },
	{ 0x06b, "write_gdtr", "GDTR_WRITE", 0 },
	{ 0x06c, "write_ldtr", "LDTR_WRITE", 0 },
	{ 0x06d, "write_rt", "TR_WRITE", 0 },
	{ 0x06e, "rdtsc", "RDTSC", 0 },
	{ 0x06f, "rdpmc", "RDPMC", 0 },
	{ 0x070, "pushf", "PUSHF", 0 },
	{ 0x071, "popf", "POPF", 0 },
	{ 0x072, "cpuid", "CPUID", 0 },
	{ 0x073, "rsm", "RSM", 0 },
	{ 0x074, "iret", "IRET", 0 },
	{ 0x075, "swint", "SWINT", 0 },
	{ 0x076, "invd", "INVD", 0 },
	{ 0x077, "pause", "PAUSE", 0 },
	{ 0x078, "hlt", "HLT", REASON_IDLE },
	{ 0x079, "invlpg", "INVLPG", 0 },
	{ 0x07a, "invlpga", "INVLPGA", 0 },
	{ 0x07b, "io", "IOIO", 0 },
	{ 0x07c, "msr", "MSR", 0 },
	{ 0x07d, "task_switch", "TASK_SWITCH", 0 },
	{ 0x07e, "ferr_freeze", "FERR_FREEZE", 0 },
	{ 0x07f, "shutdown", "SHUTDOWN", 0 },
	{ 0x080, "vmrun", "VMRUN", 0 },
	{ 0x081, "hypercall", "VMMCALL", 0 },
	{ 0x082, "vmload", "VMLOAD", 0 },
	{ 0x083, "vmsave", "VMSAVE", 0 },
	{ 0x084, "stgi", "STGI", 0 },
	{ 0x085, "clgi", "CLGI", 0 },
	{ 0x086, "skinit", "SKINIT", 0 },
	{ 0x087, "rdtscp", "RDTSCP", 0 },
	{ 0x088, "icebp", "ICEBP", 0 },
	{ 0x089, "wbinvd", "WBINVD", 0 },
	{ 0x08a, "monitor", "MONITOR", 0 },
	{ 0x08b, "mwait", "MWAIT", REASON_IDLE },
	{ 0x08c, "mwait_cond", "MWAIT_COND", REASON_IDLE },
	{ 0x08d, "xsetbv", "XSETBV", 0 },
	{ 0x08e, "rdpru", "RDPRU", 0 },
	{ 0x08f, "write_efer_trap", "EFER_WRITE_TRAP", 0 },
	{ 0x090, "write_cr0_trap", "CR0_WRITE_TRAP", 0 },
	{ 0x091, "write_cr1_trap", "CR1_WRITE_TRAP", 0 },
	{ 0x092, "write_cr2_trap", "CR2_WRITE_TRAP", 0 },
	{ 0x093, "write_cr3_trap", "CR3_WRITE_TRAP", 0 },
	{ 0x094, "write_cr4_trap", "CR4_WRITE_TRAP", 0 },
	{ 0x095, "write_cr5_trap", "CR5_WRITE_TRAP", 0 },
	{ 0x096, "write_cr6_trap", "CR6_WRITE_TRAP", 0 },
	{ 0x097, "write_cr7_trap", "CR7_WRITE_TRAP", 0 },
	{ 0x098, "write_cr8_trap", "CR8_WRITE_TRAP", 0 },
	{ 0x099, "write_cr9_trap", "CR9_WRITE_TRAP", 0 },
	{ 0x09a, "write_cr10_trap", "CR10_WRITE_TRAP", 0 },
	{ 0x09b, "write_cr11_trap", "CR11_WRITE_TRAP", 0 },
	{ 0x09c, "write_cr12_trap", "CR12_WRITE_TRAP", 0 },
	{ 0x09d, "write_cr13_trap", "CR13_WRITE_TRAP", 0 },
	{ 0x09e, "write_cr14_trap", "CR14_WRITE_TRAP", 0 },
	{ 0x09f, "write_cr15_trap", "CR15_WRITE_TRAP", 0 },
	{ 0x0a2, "invpcid", "INVPCID", 0 },
	{ 0x0a5, "buslock", NULL, 0 },
	{ 0x0a6, "idle-halt", NULL, REASON_IDLE },
	{ 0x400, "npf", "NPF", 0 },
	{ 0x401, "avic_incomplete_ipi", "AVIC_INCOMPLETE_IPI", 0 },
	{ 0x402, "avic_unaccelerated_access", "AVIC_UNACCELERATED_ACCESS", 0 },
	{ 0x403, "vmgexit", "VMGEXIT", REASON_PROTECTED },
	{ 0x80000004, "vmgexit_ap_hlt_loop", NULL, REASON_IDLE },
	{ 0x80000014, "vmgexit_hvdb_page", NULL, 0 },
	{ 0x80000015, "vmgexit_hv_ipi", NULL, 0 },
	{ 0x80000017, "vmgexit_get_apic_ids", NULL, 0 },
	{ 0x80000018, "vmgexit_snp_run_vmpl", NULL, 0 },
	{ 0x8000001a, "vmgexit_savic", NULL, 0 },
	{ 0x8000fffe, "vmgexit_term_request", NULL, 0 },
	{ 0x8000ffff, "vmgexit_unsupported_event", NULL, 0 },
	{ 0xf0000000, "sw", NULL, 0 },
	{ 0xffffffff, "invalid_guest_state", NULL, 0 },
};

static const struct split vmx_splits[] = {
	{
		.system = "kvm",
		.event = "kvm_exit",
		.field = "exit_reason",
		.mask = 0xffff,
		.place = EXIT_IN_VMX,
		.module = "kvm_intel",
		.pc_field = "guest_rip",
		.entry_event = "kvm_entry",
		.reasons = vmx_reasons,
		.nr_reasons = ARRAY_SIZE(vmx_reasons),
	},
	{ .event = NULL },
};

static const struct split svm_splits[] = {
	{
		.system = "kvm",
		.event = "kvm_exit",
		.field = "exit_reason",
		.format_list = 1,
		.mask = 0xffffffff,
		.place = EXIT_IN_SVM,
		.module = "kvm_amd",
		.pc_field = "guest_rip",
		.entry_event = "kvm_entry",
		.reasons = svm_reasons,
		.nr_reasons = ARRAY_SIZE(svm_reasons),
	},
	{ .event = NULL },
};

/*
 * PVM's kvm_exit has other codes than VMX and SVM, but prints them with the names of VMX and SVM.
 */
static const struct split no_splits[] = {
	{ .event = NULL },
};

static bool is_x86(const char *machine)
{
	return strcmp(machine, "x86_64") == 0 ||
	       (machine[0] == 'i' && isdigit((unsigned char)machine[1]) &&
		strcmp(machine + 2, "86") == 0);
}

/* Whether cpuinfo has this flag; the first CPU's flags are within the first few kB. */
static bool has_flag(const char *root, const char *flag)
{
	char path[4096], text[8192] = "\n", *flags, *word;

	if ((size_t)snprintf(path, sizeof(path), "%s/proc/cpuinfo", root) >= sizeof(path) ||
	    read_small(path, text + 1, sizeof(text) - 1) < 0)
		return false;
	flags = strstr(text, "\nflags");
	if (!flags)
		return false;
	flags += strlen("\nflags");
	flags[strcspn(flags, "\n")] = '\0';
	while ((word = strsep(&flags, " \t:"))) {
		if (strcmp(word, flag) == 0)
			return true;
	}
	return false;
}

static bool has_module(const char *root, const char *module)
{
	char path[4096];

	return (size_t)snprintf(path, sizeof(path), "%s/sys/module/%s", root, module) <
		       sizeof(path) &&
	       path_exists(path);
}

/*
 * Where cpuinfo has neither flag, the loaded module decides. If KVM is built in, both modules
 * appear loaded.
 */
static bool is_kind(const char *root, const char *machine, bool vmx)
{
	if (!is_x86(machine))
		return false;

	bool has_vmx = has_flag(root, "vmx"), has_svm = has_flag(root, "svm");

	if (!has_vmx && !has_svm) {
		has_vmx = has_module(root, "kvm_intel");
		has_svm = has_module(root, "kvm_amd");
	}
	return has_vmx != has_svm && has_vmx == vmx;
}

static bool is_vmx(const char *root, const char *machine)
{
	return is_kind(root, machine, true);
}

static bool is_svm(const char *root, const char *machine)
{
	return is_kind(root, machine, false);
}

/* PVM is checked before the others: its module is loaded only where it runs the guests. */
static bool is_pvm(const char *root, const char *machine)
{
	return is_x86(machine) && has_module(root, "kvm_pvm");
}

static bool is_other(const char *root, const char *machine)
{
	(void)root;
	return is_x86(machine);
}

const struct arch arch_pvm = {
	.name = "PVM",
	.is_host = is_pvm,
	.splits = no_splits,
};

const struct arch arch_vmx = {
	.name = "VMX",
	.is_host = is_vmx,
	.splits = vmx_splits,
	.samples_all_code = true,
};

const struct arch arch_svm = {
	.name = "SVM",
	.is_host = is_svm,
	.splits = svm_splits,
	.samples_all_code = true,
};

const struct arch arch_x86 = {
	.name = "x86",
	.is_host = is_other,
	.splits = no_splits,
};
