/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_arch - the tables against kvm_stat's, the kernel's headers and captured print formats.
 */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <asm/kvm.h>
#include <asm/vmx.h>
#endif

#include "arch/arch.h"
#include "arch/argument.h"
#include "lib/file.h"
#include "host/env.h"
#include "tests/unit/unit.h"

#define SIZE(array) (sizeof(array) / sizeof((array)[0]))

struct named {
	uint64_t code;
	const char *name;
};

/* The tables of Linux 6.1's tools/kvm/kvm_stat/kvm_stat. */
static const struct named kvm_stat_vmx[] = {
	{ 0, "EXCEPTION_NMI" }, { 1, "EXTERNAL_INTERRUPT" }, { 2, "TRIPLE_FAULT" },
	{ 3, "INIT_SIGNAL" }, { 4, "SIPI_SIGNAL" }, { 7, "INTERRUPT_WINDOW" },
	{ 8, "NMI_WINDOW" }, { 9, "TASK_SWITCH" }, { 10, "CPUID" }, { 12, "HLT" },
	{ 13, "INVD" }, { 14, "INVLPG" }, { 15, "RDPMC" }, { 16, "RDTSC" }, { 18, "VMCALL" },
	{ 19, "VMCLEAR" }, { 20, "VMLAUNCH" }, { 21, "VMPTRLD" }, { 22, "VMPTRST" },
	{ 23, "VMREAD" }, { 24, "VMRESUME" }, { 25, "VMWRITE" }, { 26, "VMOFF" }, { 27, "VMON" },
	{ 28, "CR_ACCESS" }, { 29, "DR_ACCESS" }, { 30, "IO_INSTRUCTION" }, { 31, "MSR_READ" },
	{ 32, "MSR_WRITE" }, { 33, "INVALID_STATE" }, { 34, "MSR_LOAD_FAIL" },
	{ 36, "MWAIT_INSTRUCTION" }, { 37, "MONITOR_TRAP_FLAG" }, { 39, "MONITOR_INSTRUCTION" },
	{ 40, "PAUSE_INSTRUCTION" }, { 41, "MCE_DURING_VMENTRY" }, { 43, "TPR_BELOW_THRESHOLD" },
	{ 44, "APIC_ACCESS" }, { 45, "EOI_INDUCED" }, { 46, "GDTR_IDTR" }, { 47, "LDTR_TR" },
	{ 48, "EPT_VIOLATION" }, { 49, "EPT_MISCONFIG" }, { 50, "INVEPT" }, { 51, "RDTSCP" },
	{ 52, "PREEMPTION_TIMER" }, { 53, "INVVPID" }, { 54, "WBINVD" }, { 55, "XSETBV" },
	{ 56, "APIC_WRITE" }, { 57, "RDRAND" }, { 58, "INVPCID" }, { 59, "VMFUNC" },
	{ 60, "ENCLS" }, { 61, "RDSEED" }, { 62, "PML_FULL" }, { 63, "XSAVES" },
	{ 64, "XRSTORS" }, { 67, "UMWAIT" }, { 68, "TPAUSE" }, { 74, "BUS_LOCK" },
	{ 75, "NOTIFY" },
	{ 0, NULL },
};

static const struct named kvm_stat_svm[] = {
	{ 0x00, "READ_CR0" }, { 0x02, "READ_CR2" }, { 0x03, "READ_CR3" }, { 0x04, "READ_CR4" },
	{ 0x08, "READ_CR8" }, { 0x10, "WRITE_CR0" }, { 0x12, "WRITE_CR2" },
	{ 0x13, "WRITE_CR3" }, { 0x14, "WRITE_CR4" }, { 0x18, "WRITE_CR8" },
	{ 0x20, "READ_DR0" }, { 0x21, "READ_DR1" }, { 0x22, "READ_DR2" }, { 0x23, "READ_DR3" },
	{ 0x24, "READ_DR4" }, { 0x25, "READ_DR5" }, { 0x26, "READ_DR6" }, { 0x27, "READ_DR7" },
	{ 0x30, "WRITE_DR0" }, { 0x31, "WRITE_DR1" }, { 0x32, "WRITE_DR2" },
	{ 0x33, "WRITE_DR3" }, { 0x34, "WRITE_DR4" }, { 0x35, "WRITE_DR5" },
	{ 0x36, "WRITE_DR6" }, { 0x37, "WRITE_DR7" }, { 0x40, "EXCP_BASE" },
	{ 0x5f, "LAST_EXCP" }, { 0x60, "INTR" }, { 0x61, "NMI" }, { 0x62, "SMI" },
	{ 0x63, "INIT" }, { 0x64, "VINTR" }, { 0x65, "CR0_SEL_WRITE" }, { 0x66, "IDTR_READ" },
	{ 0x67, "GDTR_READ" }, { 0x68, "LDTR_READ" }, { 0x69, "TR_READ" },
	{ 0x6a, "IDTR_WRITE" }, { 0x6b, "GDTR_WRITE" }, { 0x6c, "LDTR_WRITE" },
	{ 0x6d, "TR_WRITE" }, { 0x6e, "RDTSC" }, { 0x6f, "RDPMC" }, { 0x70, "PUSHF" },
	{ 0x71, "POPF" }, { 0x72, "CPUID" }, { 0x73, "RSM" }, { 0x74, "IRET" },
	{ 0x75, "SWINT" }, { 0x76, "INVD" }, { 0x77, "PAUSE" }, { 0x78, "HLT" },
	{ 0x79, "INVLPG" }, { 0x7a, "INVLPGA" }, { 0x7b, "IOIO" }, { 0x7c, "MSR" },
	{ 0x7d, "TASK_SWITCH" }, { 0x7e, "FERR_FREEZE" }, { 0x7f, "SHUTDOWN" },
	{ 0x80, "VMRUN" }, { 0x81, "VMMCALL" }, { 0x82, "VMLOAD" }, { 0x83, "VMSAVE" },
	{ 0x84, "STGI" }, { 0x85, "CLGI" }, { 0x86, "SKINIT" }, { 0x87, "RDTSCP" },
	{ 0x88, "ICEBP" }, { 0x89, "WBINVD" }, { 0x8a, "MONITOR" }, { 0x8b, "MWAIT" },
	{ 0x8c, "MWAIT_COND" }, { 0x8d, "XSETBV" }, { 0x8e, "RDPRU" },
	{ 0x8f, "EFER_WRITE_TRAP" }, { 0x90, "CR0_WRITE_TRAP" }, { 0x91, "CR1_WRITE_TRAP" },
	{ 0x92, "CR2_WRITE_TRAP" }, { 0x93, "CR3_WRITE_TRAP" }, { 0x94, "CR4_WRITE_TRAP" },
	{ 0x95, "CR5_WRITE_TRAP" }, { 0x96, "CR6_WRITE_TRAP" }, { 0x97, "CR7_WRITE_TRAP" },
	{ 0x98, "CR8_WRITE_TRAP" }, { 0x99, "CR9_WRITE_TRAP" }, { 0x9a, "CR10_WRITE_TRAP" },
	{ 0x9b, "CR11_WRITE_TRAP" }, { 0x9c, "CR12_WRITE_TRAP" }, { 0x9d, "CR13_WRITE_TRAP" },
	{ 0x9e, "CR14_WRITE_TRAP" }, { 0x9f, "CR15_WRITE_TRAP" }, { 0xa2, "INVPCID" },
	{ 0x400, "NPF" }, { 0x401, "AVIC_INCOMPLETE_IPI" },
	{ 0x402, "AVIC_UNACCELERATED_ACCESS" }, { 0x403, "VMGEXIT" },
	{ 0, NULL },
};

static const struct named kvm_stat_arm64[] = {
	{ 0x00, "UNKNOWN" }, { 0x01, "WFx" }, { 0x03, "CP15_32" }, { 0x04, "CP15_64" },
	{ 0x05, "CP14_MR" }, { 0x06, "CP14_LS" }, { 0x07, "FP_ASIMD" }, { 0x08, "CP10_ID" },
	{ 0x09, "PAC" }, { 0x0c, "CP14_64" }, { 0x0d, "BTI" }, { 0x0e, "ILL" },
	{ 0x11, "SVC32" }, { 0x12, "HVC32" }, { 0x13, "SMC32" }, { 0x15, "SVC64" },
	{ 0x16, "HVC64" }, { 0x17, "SMC64" }, { 0x18, "SYS64" }, { 0x19, "SVE" },
	{ 0x1a, "ERET" }, { 0x1c, "FPAC" }, { 0x1d, "SME" }, { 0x1f, "IMP_DEF" },
	{ 0x20, "IABT_LOW" }, { 0x21, "IABT_CUR" }, { 0x22, "PC_ALIGN" }, { 0x24, "DABT_LOW" },
	{ 0x25, "DABT_CUR" }, { 0x26, "SP_ALIGN" }, { 0x28, "FP_EXC32" }, { 0x2c, "FP_EXC64" },
	{ 0x2f, "SERROR" }, { 0x30, "BREAKPT_LOW" }, { 0x31, "BREAKPT_CUR" },
	{ 0x32, "SOFTSTP_LOW" }, { 0x33, "SOFTSTP_CUR" }, { 0x34, "WATCHPT_LOW" },
	{ 0x35, "WATCHPT_CUR" }, { 0x38, "BKPT32" }, { 0x3a, "VECTOR32" }, { 0x3c, "BRK64" },
	{ 0, NULL },
};

static const struct named kvm_stat_userspace[] = {
	{ 0, "UNKNOWN" }, { 1, "EXCEPTION" }, { 2, "IO" }, { 3, "HYPERCALL" }, { 4, "DEBUG" },
	{ 5, "HLT" }, { 6, "MMIO" }, { 7, "IRQ_WINDOW_OPEN" }, { 8, "SHUTDOWN" },
	{ 9, "FAIL_ENTRY" }, { 10, "INTR" }, { 11, "SET_TPR" }, { 12, "TPR_ACCESS" },
	{ 13, "S390_SIEIC" }, { 14, "S390_RESET" }, { 15, "DCR" }, { 16, "NMI" },
	{ 17, "INTERNAL_ERROR" }, { 18, "OSI" }, { 19, "PAPR_HCALL" }, { 20, "S390_UCONTROL" },
	{ 21, "WATCHDOG" }, { 22, "S390_TSCH" }, { 23, "EPR" }, { 24, "SYSTEM_EVENT" },
	{ 25, "S390_STSI" }, { 26, "IOAPIC_EOI" }, { 27, "HYPERV" }, { 28, "ARM_NISV" },
	{ 29, "X86_RDMSR" }, { 30, "X86_WRMSR" }, { 31, "DIRTY_RING_FULL" },
	{ 32, "AP_RESET_HOLD" }, { 33, "X86_BUS_LOCK" }, { 34, "XEN" }, { 35, "RISCV_SBI" },
	{ 36, "RISCV_CSR" }, { 37, "NOTIFY" },
	{ 0, NULL },
};

static const struct split *split_of(const char *arch, const char *event)
{
	const struct split *split = arch_by_name(arch)->splits;

	while (split->event && strcmp(split->event, event) != 0)
		split++;
	assert_non_null(split->event);
	return split;
}

/* The i-th of all splits there are, NULL past the end. */
static const struct split *split_at(size_t i)
{
	if (i-- == 0)
		return &arch_userspace_split;
	for (size_t a = 0; arch_at(a); a++) {
		for (const struct split *split = arch_at(a)->splits; split->event; split++) {
			if (i-- == 0)
				return split;
		}
	}
	return NULL;
}

static void read_format(const char *name, char *buf, size_t size)
{
	char path[256];

	snprintf(path, sizeof(path), "tests/formats/%s", name);
	assert_true(read_small(path, buf, size) > 0);
}

/* What is left of a name when it is fit to show. */
static const char *clean(const char *name, char *buf, size_t size)
{
	snprintf(buf, size, "%s", name);
	for (char *p = buf; *p; p++) {
		if (strchr(" (),#", *p))
			*p = '_';
	}
	return buf;
}

/* The reason of this name, or one that no test asks for. */
static const struct reason *find_name(const struct reasons *reasons, const char *name)
{
	static const struct reason none = { .code = 0xdead, .alias = "none", .flags = ~0u };

	for (size_t i = 0; i < reasons->nr; i++) {
		if (strcmp(reasons->list[i].name, name) == 0)
			return &reasons->list[i];
	}
	return &none;
}

static bool has_name(const struct reasons *reasons, const char *name)
{
	return find_name(reasons, name)->name != NULL;
}

static void assert_order(const struct reason *list, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (i > 0)
			assert_true(list[i].code > list[i - 1].code);
		for (const char *p = list[i].name; *p; p++)
			assert_true(*p > ' ' && *p < 0x7f && !strchr("(),", *p));
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(list[i].name, list[j].name);
	}
}

TEST(test_tables_are_in_order)
{
	const struct split *split;

	for (size_t i = 0; (split = split_at(i)); i++) {
		assert_order(split->reasons, split->nr_reasons);
		for (size_t j = 0; j < split->nr_reasons; j++) {
			const struct reason *reason = &split->reasons[j];

			assert_null(strchr(reason->name, '#'));
			assert_ptr_equal(split_reason(split, reason->code), reason);
			/* arm64's codes above that are not the field's. */
			if (reason->code <= UINT32_MAX)
				assert_int_equal(reason->code & ~split->mask, 0);
			if (reason->alias)
				assert_string_not_equal(reason->alias, reason->name);
		}
	}
}

/* Kernels whose formats are captured, and the splits that these are of. */
static const struct captured {
	const char *format, *arch, *event;
} captured[] = {
	{ "kvm_exit-vmx-6.1.format", "VMX", "kvm_exit" },
	{ "kvm_exit-svm-6.1.format", "SVM", "kvm_exit" },
	{ "kvm_exit-pvm-6.18.format", "VMX", "kvm_exit" },
	{ "kvm_exit-pvm-6.18.format", "SVM", "kvm_exit" },
	{ "kvm_exit-svm-7.0.format", "SVM", "kvm_exit" },
	{ "kvm_exit-arm64-6.1.format", "arm64", "kvm_exit" },
	{ "kvm_guest_exit-powerpc-6.1.format", "powerpc", "kvm_guest_exit" },
	{ "kvm_hcall_enter-powerpc-6.1.print", "powerpc", "kvm_hcall_enter" },
	{ "kvm_s390_sie_exit-6.1.print", "s390", "kvm_s390_sie_exit" },
	{ "kvm_s390_handle_sigp-6.1.print", "s390", "kvm_s390_handle_sigp" },
	{ "kvm_s390_handle_diag-6.1.print", "s390", "kvm_s390_handle_diag" },
	{ "kvm_s390_intercept_prog-6.1.print", "s390", "kvm_s390_intercept_prog" },
	{ "kvm_userspace_exit-6.18.format", NULL, NULL },
};

static const struct split *split_of_captured(const struct captured *from)
{
	return from->arch ? split_of(from->arch, from->event) : &arch_userspace_split;
}

static const struct reason *find_code(const struct reasons *reasons, uint64_t code)
{
	for (size_t i = 0; i < reasons->nr; i++) {
		if (reasons->list[i].code == code)
			return &reasons->list[i];
	}
	return NULL;
}

/* Whether a captured kernel has the split, but does not print this reason. */
static bool is_lacking(const struct split *split, const struct reason *reason)
{
	char text[16384];
	bool is_lacking = false;

	for (size_t i = 0; i < SIZE(captured) && !is_lacking; i++) {
		struct reasons reasons = { .nr = 0 };

		if (split_of_captured(&captured[i]) != split)
			continue;
		read_format(captured[i].format, text, sizeof(text));
		assert_int_equal(reasons_parse(text, split->format_list, &reasons), 0);
		is_lacking = !find_code(&reasons, reason->code);
		reasons_release(&reasons);
	}
	return is_lacking;
}

/* A row that repeats what kernels print. VMX and SVM have the names for kvmtrace and ACRN. */
TEST(test_rows_say_what_kernels_do_not)
{
	for (size_t i = 0; i < SIZE(captured); i++) {
		const struct split *split = split_of_captured(&captured[i]);

		if (split == arch_by_name("VMX")->splits || split == arch_by_name("SVM")->splits)
			continue;
		for (size_t j = 0; j < split->nr_reasons; j++) {
			const struct reason *reason = &split->reasons[j];

			if (!reason->flags && !reason->alias && !is_lacking(split, reason))
				fail_msg("%s: kernels print %s", split->event, reason->name);
		}
	}
}

static void assert_has_kvm_stat(const char *format, const struct split *split,
				const struct named *list)
{
	struct reasons reasons;
	char text[16384];

	read_format(format, text, sizeof(text));
	reasons_of(split, text, &reasons);
	for (; list->name; list++) {
		const struct reason *reason = find_code(&reasons, list->code);

		assert_non_null(reason);
		assert_string_equal(reason->alias ? reason->alias : reason->name, list->name);
	}
	reasons_release(&reasons);
}

TEST(test_kvm_stat_names_are_known)
{
	assert_has_kvm_stat("kvm_exit-vmx-6.1.format", split_of("VMX", "kvm_exit"), kvm_stat_vmx);
	assert_has_kvm_stat("kvm_exit-svm-6.1.format", split_of("SVM", "kvm_exit"), kvm_stat_svm);
	assert_has_kvm_stat("kvm_exit-arm64-6.1.format", split_of("arm64", "kvm_exit"),
			    kvm_stat_arm64);
	assert_has_kvm_stat("kvm_userspace_exit-6.18.format", &arch_userspace_split,
			    kvm_stat_userspace);
}

/* For recordings of ACRN: no kernel's list comes with these. */
TEST(test_vmx_has_its_header)
{
#ifdef VMX_EXIT_REASONS
	static const struct named vmx[] = { VMX_EXIT_REASONS };

	for (size_t i = 0; i < SIZE(vmx); i++) {
		const struct reason *reason = split_reason(split_of("VMX", "kvm_exit"),
							   vmx[i].code);

		assert_non_null(reason);
		assert_string_equal(reason->name, vmx[i].name);
	}
#else
	print_message("the headers of x86 are not installed here\n");
	skip();
#endif
}

/* Numbers of KVM_EXIT_* that are no exit reasons, but say more about one. */
static bool is_detail(const char *name)
{
	return strncmp(name, "KVM_EXIT_HYPERV_", 16) == 0 ||
	       strncmp(name, "KVM_EXIT_XEN_", 13) == 0 || strncmp(name, "KVM_EXIT_IO_", 12) == 0;
}

TEST(test_user_reasons_have_the_header)
{
	FILE *file = fopen("/usr/include/linux/kvm.h", "re");
	char line[256], name[128], text[16384];
	struct reasons reasons;
	unsigned int code, nr = 0;

	if (!file) {
		print_message("linux/kvm.h is not installed here\n");
		skip();
	}
	read_format("kvm_userspace_exit-6.18.format", text, sizeof(text));
	reasons_of(&arch_userspace_split, text, &reasons);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "#define %127s %u", name, &code) != 2 ||
		    strncmp(name, "KVM_EXIT_", 9) != 0 || is_detail(name))
			continue;
		assert_non_null(find_code(&reasons, code));
		assert_string_equal(find_code(&reasons, code)->name, name + strlen("KVM_EXIT_"));
		nr++;
	}
	fclose(file);
	reasons_release(&reasons);
	assert_true(nr > 30);
}

TEST(test_flags_are_set)
{
	static const struct {
		const char *arch, *event, *names;
		unsigned int flags;
	} flagged[] = {
		{ "VMX", "kvm_exit", "HLT MWAIT_INSTRUCTION", REASON_IDLE },
		{ "VMX", "kvm_exit", "INVALID_STATE MSR_LOAD_FAIL MCE_DURING_VMENTRY",
		  REASON_ENTRY_FAIL },
		{ "SVM", "kvm_exit", "hlt mwait mwait_cond idle-halt vmgexit_ap_hlt_loop",
		  REASON_IDLE },
		{ "arm64", "kvm_exit", "WFx", REASON_IDLE },
		{ "s390", "kvm_s390_sie_exit", "Wait_state", REASON_IDLE },
		{ "powerpc", "kvm_guest_exit", "H_CEDE", REASON_IDLE },
		{ "powerpc", "kvm_hcall_enter", "H_CEDE", REASON_IDLE },
		{ "riscv", "kvm_exit", "", REASON_IDLE },
		{ "loongarch", "kvm_exit", "IDLE", REASON_IDLE },
	};

	for (size_t i = 0; i < SIZE(flagged); i++) {
		const struct split *split = split_of(flagged[i].arch, flagged[i].event);
		char names[256] = "";
		size_t len = 0;

		for (size_t j = 0; j < split->nr_reasons; j++) {
			if (!(split->reasons[j].flags & flagged[i].flags))
				continue;
			len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s",
						len ? " " : "", split->reasons[j].name);
		}
		assert_string_equal(names, flagged[i].names);
	}
	assert_int_equal(split_reason(&arch_userspace_split, 5)->flags, REASON_IDLE);
}

static void assert_filter(const char *arch, const char *event, uint64_t code, const char *filter)
{
	const struct split *split = arch ? split_of(arch, event) : &arch_userspace_split;
	const struct reason unknown = { .code = code }, *known = split_reason(split, code);
	char buf[128];

	assert_int_equal(split_filter(split, known ? known : &unknown, buf, sizeof(buf)),
			 strlen(filter));
	assert_string_equal(buf, filter);
}

TEST(test_filters)
{
	assert_filter("VMX", "kvm_exit", 12, "exit_reason==12");
	assert_filter("VMX", "kvm_exit", 33, "exit_reason==33||exit_reason==2147483681");
	assert_filter("VMX", "kvm_exit", 34, "exit_reason==34||exit_reason==2147483682");
	assert_filter("VMX", "kvm_exit", 41, "exit_reason==41||exit_reason==2147483689");
	assert_filter("SVM", "kvm_exit", 0x400, "exit_reason==1024");
	assert_filter("SVM", "kvm_exit", 0x80000001, "exit_reason==2147483649");
	assert_filter("SVM", "kvm_exit", UINT32_MAX, "exit_reason==4294967295||"
		      "exit_reason==18446744073709551615");
	assert_filter("arm64", "kvm_exit", 0, "ret==2&&esr_ec==0");
	assert_filter("arm64", "kvm_exit", 0x24, "ret==2&&esr_ec==36");
	assert_filter("arm64", "kvm_exit", UINT64_C(1) << 32 | 0, "ret==0");
	assert_filter("arm64", "kvm_exit", UINT64_C(1) << 32 | 1, "ret==1");
	assert_filter("arm64", "kvm_exit", UINT64_C(1) << 32 | 3, "ret==3");
	assert_filter("arm64", "kvm_exit", UINT64_C(1) << 32 | 0xbadca11, "ret==195938833");
	assert_filter("s390", "kvm_s390_sie_exit", 0x1c, "icptcode==28");
	assert_filter("powerpc", "kvm_guest_exit", 0x500, "ceded==0&&trap==1280");
	assert_filter("powerpc", "kvm_guest_exit", UINT64_C(1) << 32 | 1, "ceded==1");
	assert_filter("powerpc", "kvm_hcall_enter", 0xe0, "req==224");
	assert_filter("riscv", "kvm_exit", UINT64_C(1) << 63 | 5, "scause==9223372036854775813");
	assert_filter("loongarch", "kvm_exit", 22, "reason==22");
	assert_filter(NULL, NULL, 2, "reason==2");
}

TEST(test_filter_of_a_number_nobody_knows)
{
	const struct reason reason = { .code = 200, .name = "0xc8" };
	char buf[8];

	assert_int_equal(split_filter(split_of("VMX", "kvm_exit"), &reason, buf, sizeof(buf)), 16);
	assert_string_equal(buf, "exit_re");
	assert_null(split_reason(split_of("VMX", "kvm_exit"), 200));
}

TEST(test_captured_formats)
{
	static const struct {
		const char *name;
		size_t nr[4]; /* of each list; the last is followed by none */
	} formats[] = {
		{ "kvm_exit-svm-6.1.format", { 62, 108, 0 } },
		{ "kvm_exit-vmx-6.1.format", { 62, 108, 0 } },
		{ "kvm_exit-pvm-6.18.format", { 65, 110, 0 } },
		/* Made up from 6.18's: there is no capture of one yet. */
		{ "kvm_exit-svm-7.0.format", { 65, 110, 0 } },
		{ "kvm_exit-arm64-6.1.format", { 4, 34, 0, 0 } },
		{ "kvm_guest_exit-powerpc-6.1.format", { 21, 0, 0, 0 } },
		{ "kvm_userspace_exit-6.18.format", { 31, 0, 0, 0 } },
		/* The print format alone, from Debian 12's modules. */
		{ "kvm_hcall_enter-powerpc-6.1.print", { 133, 0 } },
		{ "kvm_s390_sie_exit-6.1.print", { 15, 0 } },
		{ "kvm_s390_handle_sigp-6.1.print", { 16, 0 } },
		{ "kvm_s390_handle_diag-6.1.print", { 9, 0 } },
		{ "kvm_s390_intercept_prog-6.1.print", { 52, 0 } },
	};
	char text[16384];

	for (size_t i = 0; i < SIZE(formats); i++) {
		read_format(formats[i].name, text, sizeof(text));
		for (int list = 0; list < 4; list++) {
			struct reasons reasons = { .nr = 0 };
			int err = reasons_parse(text, list, &reasons);

			assert_int_equal(err, formats[i].nr[list] ? 0 : -ENOENT);
			assert_int_equal(reasons.nr, formats[i].nr[list]);
			reasons_release(&reasons);
		}
	}
}

TEST(test_names_of_captured_kernels)
{
	char text[16384], name[128];

	for (size_t i = 0; i < SIZE(captured); i++) {
		const struct split *split = split_of_captured(&captured[i]);
		size_t prefix = split->prefix ? strlen(split->prefix) : 0, nr = split->nr_reasons;
		struct reasons kernel, reasons;

		read_format(captured[i].format, text, sizeof(text));
		assert_int_equal(reasons_parse(text, split->format_list, &kernel), 0);
		reasons_of(split, text, &reasons);
		assert_order(reasons.list, reasons.nr);
		for (size_t j = 0; j < kernel.nr; j++) {
			uint64_t code = kernel.list[j].code & split->mask;
			const struct reason *row = split_reason(split, code);

			clean(kernel.list[j].name + prefix, name, sizeof(name));
			assert_string_equal(find_code(&reasons, code)->name, name);
			if (row)
				assert_string_equal(row->name, name);
			nr += row == NULL;
		}
		assert_int_equal(reasons.nr, nr);
		reasons_release(&kernel);
		reasons_release(&reasons);
	}
}

TEST(test_kernel_comes_first)
{
	/* 5.4's spelling of 7, a reason of tomorrow, a bit that is a flag, and two for 12. */
	static const char format[] =
		"print fmt: \"%s\", __print_symbolic(REC->exit_reason, { 200, \"NEW\" }, "
		"{ 7, \"PENDING_INTERRUPT\" }, { 12, \"HALT\" }, { 12, \"HLT\" }, "
		"{ 0x80000021, \"INVALID\" })";
	const struct split *split = split_of("VMX", "kvm_exit");
	struct reasons reasons;

	reasons_of(split, format, &reasons);
	assert_order(reasons.list, reasons.nr);
	assert_int_equal(reasons.nr, split->nr_reasons + 1);
	assert_int_equal(find_name(&reasons, "PENDING_INTERRUPT")->code, 7);
	assert_string_equal(find_name(&reasons, "PENDING_INTERRUPT")->alias, "INTERRUPT_WINDOW");
	assert_false(has_name(&reasons, "INTERRUPT_WINDOW"));
	assert_int_equal(find_name(&reasons, "HALT")->flags, REASON_IDLE);
	assert_false(has_name(&reasons, "HLT"));
	assert_int_equal(find_name(&reasons, "INVALID")->code, 33);
	assert_int_equal(find_name(&reasons, "INVALID")->flags, REASON_ENTRY_FAIL);
	assert_int_equal(find_name(&reasons, "NEW")->code, 200);
	assert_null(find_name(&reasons, "NEW")->alias);
	assert_null(find_name(&reasons, "CPUID")->alias);
	reasons_release(&reasons);
}

TEST(test_aliases_of_the_kernel_s_names)
{
	struct reasons reasons;
	char text[16384];

	read_format("kvm_exit-svm-6.1.format", text, sizeof(text));
	reasons_of(split_of("SVM", "kvm_exit"), text, &reasons);
	assert_string_equal(find_name(&reasons, "npf")->alias, "NPF");
	assert_string_equal(find_name(&reasons, "DE_excp")->alias, "EXCP_BASE");
	assert_string_equal(find_name(&reasons, "io")->alias, "IOIO");
	assert_null(find_name(&reasons, "PF_excp")->alias);
	assert_int_equal(find_name(&reasons, "invalid_guest_state")->code, UINT32_MAX);
	reasons_release(&reasons);
	read_format("kvm_exit-arm64-6.1.format", text, sizeof(text));
	reasons_of(split_of("arm64", "kvm_exit"), text, &reasons);
	assert_int_equal(find_name(&reasons, "SERROR")->code, 0x2f);
	assert_int_equal(find_name(&reasons, "IRQ")->code, UINT64_C(1) << 32);
	assert_int_equal(find_name(&reasons, "ERET")->code, 0x1a);
	reasons_release(&reasons);
}

TEST(test_names_become_unique_and_clean)
{
	static const char format[] =
		"print fmt: \"\", __print_symbolic(x, { 0x41, \"NAME\" }, { 3, \"NAME\" }, "
		"{ 0x42, \"NAME\" }, { 4, \"NAME#0x41\" }, { 5, \"a (b), c\\td\\xe9\" }, "
		"{ 6, \"\" }, { 0xffffffffffffffff, \"NAME\" })";
	static const struct split split = { .field = "x", .mask = UINT64_MAX };
	struct reasons reasons;

	reasons_of(&split, format, &reasons);
	assert_int_equal(reasons.nr, 6);
	assert_string_equal(reasons.list[0].name, "NAME");
	assert_string_equal(reasons.list[1].name, "NAME_0x41");
	assert_string_equal(reasons.list[2].name, "a__b___c\\td\\xe9");
	assert_string_equal(reasons.list[3].name, "NAME#0x41");
	assert_string_equal(reasons.list[4].name, "NAME#0x42");
	assert_string_equal(reasons.list[5].name, "NAME#0xffffffffffffffff");
	reasons_release(&reasons);
}

TEST(test_table_alone)
{
	static const char *const formats[] = { NULL, "", "print fmt: \"x\", REC->x" };
	const struct split *split;

	for (size_t i = 0; (split = split_at(i)); i++) {
		for (size_t j = 0; j < SIZE(formats); j++) {
			struct reasons reasons;

			reasons_of(split, formats[j], &reasons);
			assert_int_equal(reasons.nr, split->nr_reasons);
			for (size_t k = 0; k < reasons.nr; k++) {
				assert_int_equal(reasons.list[k].code, split->reasons[k].code);
				assert_string_equal(reasons.list[k].name, split->reasons[k].name);
				assert_ptr_equal(reasons.list[k].alias, split->reasons[k].alias);
				assert_int_equal(reasons.list[k].flags, split->reasons[k].flags);
			}
			reasons_release(&reasons);
		}
	}
}

TEST(test_riscv_has_no_list)
{
	struct reasons reasons;

	reasons_of(split_of("riscv", "kvm_exit"),
		   "__print_symbolic(x, { 5, \"WRONG\" })", &reasons);
	assert_false(has_name(&reasons, "WRONG"));
	assert_int_equal(find_name(&reasons, "IRQ_S_TIMER")->code, 0x8000000000000005);
	reasons_release(&reasons);
	reasons_release(&reasons);
	assert_int_equal(reasons.nr, 0);
}

/* The list as "code:name code:name"; codes in hex. */
static void print_list(const struct reasons *reasons, char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < reasons->nr; i++)
		len += (size_t)snprintf(buf + len, size - len, "%s%jx:%s", i ? " " : "",
					(uintmax_t)reasons->list[i].code, reasons->list[i].name);
}

TEST(test_parse)
{
	static const char two[] = "__print_flags(f(x, (y)), \"|(\", {1,\"a\"}) ? "
				  "__print_symbolic_u64(f(x, (y)), {2,\"b\"}) : "
				  "__print_symbolic(x, {3,\"c\"})";
	const struct {
		const char *text, *list; /* NULL: there is none */
		int index;
	} cases[] = {
		{ "", NULL, 0 },
		{ "print fmt: \"%d\", REC->x", NULL, 0 },
		{ "__print_symbolic(x, {1,\"a\"})", NULL, -1 },
		{ "__print_symbolic(x, {1,\"a\"},{ 2 , \"b\" } )", "1:a 2:b", 0 },
		{ "__print_symbolic(x)", "", 0 },
		/* Numbers. */
		{ "__print_symbolic(x, {0x10,\"a\"}, {010,\"b\"}, {-1,\"c\"}, {-1ull,\"d\"})",
		  "10:a 8:b ffffffffffffffff:c ffffffffffffffff:d", 0 },
		{ "__print_symbolic(x, {1u,\"a\"}, {2UL,\"b\"}, {3ULL,\"c\"}, {4ll,\"d\"})",
		  "1:a 2:b 3:c 4:d", 0 },
		{ "__print_symbolic(x, {99999999999999999999,\"a\"}, {0x,\"b\"}, {09,\"c\"}, "
		  "{1.5,\"d\"}, {1e3,\"e\"}, {,\"f\"}, {7,\"g\"})", "7:g", 0 },
		/* Expressions. */
		{ "__print_symbolic(x, {(((0x20UL))),\"b\"}, {0x40 + 14,\"c\"}, "
		  "{(0x40ull) + (2) + 1 ,\"d\"}, {5 + -1,\"e\"})",
		  "20:b 4e:c 43:d 4:e", 0 },
		{ "__print_symbolic(x, {ENUM,\"a\"}, {(u32)1,\"b\"}, {1 ? 2 : 3,\"c\"}, "
		  "{1 || 0,\"d\"}, {1 << 3,\"e\"}, {1 - 1,\"f\"}, {-,\"g\"}, {1 +,\"i\"}, "
		  "{9,\"z\"})",
		  "9:z", 0 },
		/* Strings. */
		{ "__print_symbolic(x, {1,\"A_\" \"b\"\t\"\"}, {2,\"q\\\"}{\\\\\"}, {3,\"n\\n\"}, "
		  "{4,\"\"}, {5,x}, {6}, {7,\"a\",8}, {8,\"é\"})",
		  "1:A_b 2:q\\\"}{\\\\ 3:n\\n 4: 8:é", 0 },
		{ "__print_symbolic(x, {1,\"a\"}, {2,\"b", "1:a", 0 },
		{ "__print_symbolic(x, {1,\"a\"}, {2,\"b\\\"", "1:a", 0 },
		{ "__print_symbolic(x, {1,\"a\"}, {2 {3,\"c\"} {4,\"d\"}", "1:a 3:c 4:d", 0 },
		/* Which list. */
		{ "field:char __print_symbolic({ 1, \"no\" }); "
		  "print fmt: __print_symbolic(y, {1,\"yes\"})", "1:yes", 0 },
		{ two, "2:b", 0 },
		{ two, "3:c", 1 },
		{ two, NULL, 2 },
		{ "__print_symbolic(x, {(1,\"a\"}, {x,\"b)\"}), __print_symbolic(y, {3,\"c\"})",
		  "3:c", 1 },
		{ "__print_symbolic_str(x, {1,\"a\"}) __print_symbolic", NULL, 0 },
	};

	for (size_t i = 0; i < SIZE(cases); i++) {
		struct reasons reasons = { .nr = 0 };
		char list[512];

		assert_int_equal(reasons_parse(cases[i].text, cases[i].index, &reasons),
				 cases[i].list ? 0 : -ENOENT);
		print_list(&reasons, list, sizeof(list));
		assert_string_equal(list, cases[i].list ? cases[i].list : "");
		reasons_release(&reasons);
	}
}

TEST(test_arch_table)
{
	size_t nr = 0;

	for (; arch_at(nr); nr++) {
		assert_ptr_equal(arch_by_name(arch_at(nr)->name), arch_at(nr));
		assert_non_null(arch_at(nr)->splits);
		assert_true(arch_at(nr)->is_host || arch_at(nr)->machine || !arch_at(nr + 1));
	}
	assert_null(arch_at(SIZE_MAX));
	assert_null(arch_by_name("vax"));
	assert_non_null(arch_of_host(""));
	assert_null(arch_by_name("PVM")->splits->event);
	assert_null(arch_by_name("unknown")->splits->event);
	assert_true(arch_by_name("SVM")->samples_all_code);
	assert_false(arch_by_name("arm64")->samples_all_code);
}

/* A root with these files ("path=content", NULL ends); `root` is a template for mkdtemp(). */
static void make_root(char *root, const char *const *files)
{
	char path[256];

	assert_non_null(mkdtemp(root));
	for (; *files; files++) {
		const char *content = strchr(*files, '=');

		snprintf(path, sizeof(path), "%s/%.*s", root, (int)(content - *files), *files);
		for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
			*slash = '\0';
			mkdir(path, 0700);
			*slash = '/';
		}

		FILE *file = fopen(path, "we");

		assert_non_null(file);
		fputs(content + 1, file);
		fclose(file);
	}
}

static void remove_root(const char *root)
{
	static const char *const paths[] = {
		"kvmtop/machine", "kvmtop", "proc/cpuinfo", "proc", "sys/module/kvm_intel/x",
		"sys/module/kvm_intel", "sys/module/kvm_amd/x", "sys/module/kvm_amd",
		"sys/module/kvm_pvm/x", "sys/module/kvm_pvm", "sys/module", "sys", "",
	};
	char path[256];

	for (size_t i = 0; i < SIZE(paths); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, paths[i]);
		remove(path);
	}
	assert_int_not_equal(access(root, F_OK), 0);
}

TEST(test_arch_of_host)
{
#define X86(flags) "proc/cpuinfo=processor\t: 0\nvendor_id\t: X\ncpu family\t: 6\n" flags
	static const struct {
		const char *arch, *files[5];
	} hosts[] = {
		{ "unknown", { NULL } },
		{ "VMX", { X86("flags\t\t: fpu vmx sse\nvmx flags\t: ept svm\n") } },
		{ "SVM", { X86("flags\t\t: fpu svm sse\n") } },
		{ "SVM", { X86("flags\t\t: fpu svm") } },
		{ "x86", { X86("flags\t\t: fpu vmx_x xsvm sse\nvmx flags\t: vmx\n") } },
		{ "VMX", { "kvmtop/machine=x86_64\n", "sys/module/kvm_intel/x=" } },
		{ "SVM", { "kvmtop/machine=i686\n", "sys/module/kvm_amd/x=" } },
		{ "x86", { "kvmtop/machine=x86_64\n", "sys/module/kvm_amd/x=",
			   "sys/module/kvm_intel/x=" } },
		{ "SVM", { "sys/module/kvm_intel/x=", X86("flags\t: svm\n") } },
		{ "PVM", { "sys/module/kvm_pvm/x=", X86("flags\t: fpu\n") } },
		{ "x86", { X86("flags\t\t:\n") } },
		{ "x86", { X86("fl\t: vmx\nflags\t: fpu\n") } },
		{ "arm64", { "kvmtop/machine=aarch64\n" } },
		{ "arm64", { "kvmtop/machine=aarch64\n", X86("flags\t: vmx\n") } },
		{ "arm64", { "proc/cpuinfo=processor\t: 0\nBogoMIPS\t: 1\nFeatures\t: fp\n"
			     "CPU implementer\t: 0x41\n" } },
		{ "s390", { "kvmtop/machine=s390x\n" } },
		{ "s390", { "proc/cpuinfo=vendor_id       : IBM/S390\n# processors    : 2\n" } },
		{ "powerpc", { "kvmtop/machine=ppc64le\n" } },
		{ "powerpc", { "proc/cpuinfo=processor\t: 0\ncpu\t\t: POWER9 (raw)\n" } },
		{ "riscv", { "kvmtop/machine=riscv64\n" } },
		{ "riscv", { "proc/cpuinfo=processor\t: 0\nhart\t\t: 1\n" } },
		{ "loongarch", { "kvmtop/machine=loongarch64\n" } },
		{ "loongarch", { "proc/cpuinfo=system type\t: generic-loongson-machine\n\n"
				 "CPU Family\t\t: Loongson-64bit\n" } },
		{ "unknown", { "kvmtop/machine=mips64\n" } },
		{ "unknown", { "proc/cpuinfo=cpu model\t\t: ICT Loongson-3 V0.4\n" } },
		{ "unknown", { "kvmtop/machine=vax\n", X86("flags\t: vmx\n") } },
		{ "unknown", { "proc/cpuinfo=cpu\t: TI UltraSparc\nhartley\t: 0\n" } },
	};

	for (size_t i = 0; i < SIZE(hosts); i++) {
		char root[] = "/tmp/kvmtop-test-arch.XXXXXX";

		make_root(root, hosts[i].files);

		const char *name = arch_of_host(root)->name;

		remove_root(root);
		assert_string_equal(name, hosts[i].arch);
	}
}

/* QEMU gives KVM the place in the window of the APICs, other VMMs an address. */
TEST(test_messages_are_no_lines)
{
	static const struct {
		uint64_t address;
		const char *text;
	} list[] = {
		{ 0, "MSI 0xfee00000 data 0x41" },
		{ 0x1000, "MSI 0xfee01000 data 0x41" },
		{ 0xff008, "MSI 0xfeeff008 data 0x41" },
		{ 0xfee01000, "MSI 0xfee01000 data 0x41" },
		{ UINT64_C(0x100fee00000), "MSI 0x100fee00000 data 0x41" },
	};
	const struct argument *argument = argument_of(EXITS_INTERRUPT);
	const struct argument_event *event = &argument->events[1];
	char text[ARGUMENT_TEXT];

	assert_string_equal(event->event, "kvm_msi_set_irq");
	for (size_t i = 0; i < SIZE(list); i++) {
		argument->format(text, sizeof(text), event->a_of(list[i].address), 0x41, 0);
		assert_string_equal(text, list[i].text);
	}
}

TEST(test_debugfs_parent)
{
	const struct arch *s390 = arch_by_name("s390");

	assert_string_equal(s390->debugfs_parent("instruction_stsi"), "exit_instruction");
	assert_null(s390->debugfs_parent("exit_instruction"));
	assert_null(s390->debugfs_parent("diagnose_44"));
	assert_null(arch_by_name("VMX")->debugfs_parent);
}
