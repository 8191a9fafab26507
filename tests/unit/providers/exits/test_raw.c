// SPDX-License-Identifier: GPL-2.0-or-later
/* Where the reason of an exit is, by made-up BTF: of kernels that are known, and of others. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <bpf/btf.h>
#include <cmocka.h>

#include "providers/bpf/placeholders.h"
#include "providers/exits/program.h"
#include "tests/unit/unit.h"

/* What a kernel has; each test changes one thing. */
struct kernel {
	const char *exit_arguments[4]; /* "vcpu" is one, the others are numbers */
	const char *entry_argument;
	bool has_cast;
	const char *svm_first;	/* the type of vcpu_svm's first member */
	const char *exit_code;	/* the name of that member, and its size */
	int exit_code_bytes;
	bool is_vmcb_far;	/* vmcb is a pointer to a struct that is not there */
	bool has_union; /* vmcb.save is in one without a name: Linux 6.11 */
	const char *own_vmcb;	/* the name of the member with the guest's own VMCB */
	bool has_old_vmx, has_new_vmx, has_tdx; /* vcpu_vmx.exit_reason, .vt.exit_reason */
	int tdx_offset;
	bool is_without_delays; /* CONFIG_SCHED_INFO is off */
	bool is_without_notifiers; /* of preemption: KVM is not built in */
	bool has_old_polls; /* the sums of x86 alone */
	int fail_offset; /* of the second sum, from the first */
	const char *pc_bit; /* the name of the program counter in enum kvm_reg, where it is 16 */
	bool has_rip;	    /* arch.rip: Linux 7.2; arch.regs has 16 registers then, else 17 */
	const char *mode;   /* of kvm_vcpu_stat: "guest_mode" */
};

static const struct kernel linux_6_12 = {
	.exit_arguments = { "vcpu", "isa" },
	.entry_argument = "vcpu",
	.has_cast = true,
	.svm_first = "kvm_vcpu",
	.exit_code = "exit_code",
	.exit_code_bytes = 4,
	.has_union = true,
	.own_vmcb = "vmcb01",
	.has_old_vmx = true,
	.fail_offset = 8,
	.pc_bit = "VCPU_REGS_RIP",
	.mode = "guest_mode",
};

struct box {
	struct btf *vmlinux, *kvm, *vendor;
	int number[9], pointer; /* types by size: int, void * */
	struct exits_raw raw;
	struct error error;
};

static int add_struct(struct btf *btf, const char *name, int bytes)
{
	int id = btf__add_struct(btf, name, (__u32)bytes);

	assert_true(id > 0);
	return id;
}

static void add_member(struct btf *btf, const char *name, int type, int offset)
{
	assert_int_equal(btf__add_field(btf, name, type, (__u32)offset * 8, 0), 0);
}

/* task_struct.sched_info.run_delay is at byte 908, preempt_notifiers is at byte 2000. */
static void add_task(struct btf *btf, const struct box *box, const struct kernel *kernel)
{
	int list = add_struct(btf, "hlist_head", 8), info;

	add_member(btf, "first", box->pointer, 0);
	info = add_struct(btf, "sched_info", 32);
	if (!kernel->is_without_delays)
		add_member(btf, "run_delay", box->number[8], 8);
	add_struct(btf, "task_struct", 9000);
	add_member(btf, "sched_info", info, 900);
	if (!kernel->is_without_notifiers)
		add_member(btf, "preempt_notifiers", list, 2000);
}

static void make_vmlinux(struct box *box, const struct kernel *kernel)
{
	struct btf *btf = btf__new_empty();
	int proto;

	assert_non_null(btf);
	box->vmlinux = btf;
	box->number[4] = btf__add_int(btf, "unsigned int", 4, 0);
	box->number[8] = btf__add_int(btf, "unsigned long", 8, 0);
	box->pointer = btf__add_ptr(btf, 0);
	add_struct(btf, "list_head", 16);
	add_member(btf, "next", box->pointer, 0);
	add_struct(btf, "timespec64", 16);
	add_member(btf, "tv_sec", box->number[8], 0);
	add_task(btf, box, kernel);
	proto = btf__add_func_proto(btf, box->pointer);
	if (kernel->has_cast)
		assert_true(btf__add_func(btf, "bpf_rdonly_cast", BTF_FUNC_STATIC, proto) > 0);
}

/* Returns the type of the vCPU's counters, the two sums at byte 40, or at byte 24. */
static int add_stat(struct btf *btf, const struct box *box, const struct kernel *kernel)
{
	int at = kernel->has_old_polls ? 24 : 32;
	int sums = add_struct(btf, "kvm_vcpu_stat_generic", 200), stat;

	add_member(btf, "halt_poll_success_ns", box->number[8], at);
	add_member(btf, "halt_poll_fail_ns", box->number[8], at + kernel->fail_offset);
	if (kernel->has_old_polls)
		return sums;
	stat = add_struct(btf, "kvm_vcpu_stat", 400);
	add_member(btf, "generic", sums, 8);
	if (kernel->mode)
		add_member(btf, kernel->mode, box->number[8], 300);
	return stat;
}

/* Registers from byte 0, their bits at byte 152, the program counter of Linux 7.2 at byte 136. */
static int add_arch(struct btf *btf, const struct box *box, const struct kernel *kernel)
{
	int registers = btf__add_array(btf, box->number[4], box->number[8],
				       kernel->has_rip ? 16 : 17), arch;

	assert_int_equal(btf__add_enum(btf, "kvm_reg", 4) > 0, 1);
	assert_int_equal(btf__add_enum_value(btf, "VCPU_REGS_RAX", 0), 0);
	if (kernel->pc_bit)
		assert_int_equal(btf__add_enum_value(btf, kernel->pc_bit, 16), 0);
	arch = add_struct(btf, "kvm_vcpu_arch", 160);
	add_member(btf, "regs", registers, 0);
	if (kernel->has_rip)
		add_member(btf, "rip", box->number[8], 136);
	add_member(btf, "regs_avail", box->number[4], 152);
	return arch;
}

/*
 * Returns the type of the vCPU: the notifier is at byte 16, the number at 72, registers at 1000,
 * counters at 5000.
 */
static int add_vcpu(struct btf *btf, const struct box *box, const char *name,
		    const struct kernel *kernel)
{
	int stat = add_stat(btf, box, kernel), node = add_struct(btf, "hlist_node", 16);
	int arch = add_arch(btf, box, kernel), notifier, id;

	notifier = add_struct(btf, "preempt_notifier", 24);
	add_member(btf, "link", node, 0);
	id = add_struct(btf, name, 6480);
	add_member(btf, "kvm", box->pointer, 0);
	add_member(btf, "preempt_notifier", notifier, 16);
	add_member(btf, "vcpu_id", box->number[4], 72);
	add_member(btf, "arch", arch, 1000);
	add_member(btf, "stat", stat, 5000);
	return id;
}

static void add_event(struct btf *btf, const struct box *box, const char *name, int vcpu,
		      const char *const *arguments)
{
	int proto = btf__add_func_proto(btf, box->number[4]);

	assert_int_equal(btf__add_func_param(btf, "__data", box->pointer), 0);
	for (; *arguments; arguments++)
		assert_int_equal(btf__add_func_param(btf, *arguments,
						     strcmp(*arguments, "vcpu") == 0 ?
							     vcpu :
							     box->number[4]),
				 0);
	assert_true(btf__add_func(btf, name, BTF_FUNC_GLOBAL, proto) > 0);
}

static void make_kvm(struct box *box, const struct kernel *kernel)
{
	const char *const entry[] = { kernel->entry_argument, NULL };
	struct btf *btf = btf__new_empty_split(box->vmlinux);
	int vcpu;

	assert_non_null(btf);
	box->kvm = btf;
	vcpu = btf__add_ptr(btf, add_vcpu(btf, box, "kvm_vcpu", kernel));
	add_event(btf, box, "__traceiter_kvm_exit", vcpu, kernel->exit_arguments);
	add_event(btf, box, "__traceiter_kvm_entry", vcpu, entry);
}

/*
 * vcpu_svm.vmcb is at byte 6480, its control.exit_code at byte 112, its save.rip at byte 1400. The
 * pointers to the guest's own VMCB and to that of its guest are at bytes 6488 and 7000.
 */
static void add_svm(struct box *box, const struct kernel *kernel, int vcpu)
{
	struct btf *btf = box->vendor;
	int control, save, inner = 0, vmcb, pointer, info, nested;

	control = add_struct(btf, "vmcb_control_area", 1024);
	add_member(btf, kernel->exit_code, box->number[kernel->exit_code_bytes], 112);
	save = add_struct(btf, "vmcb_save_area", 744);
	add_member(btf, "rip", box->number[8], 376);
	if (kernel->has_union) {
		inner = btf__add_union(btf, NULL, 1648);
		add_member(btf, "save", save, 0);
	}
	vmcb = add_struct(btf, "vmcb", 2672);
	add_member(btf, "control", control, 0);
	add_member(btf, inner ? NULL : "save", inner ? inner : save, 1024);
	pointer = btf__add_ptr(btf, kernel->is_vmcb_far ? 0 : vmcb);
	info = add_struct(btf, "kvm_vmcb_info", 40);
	add_member(btf, "ptr", pointer, 0);
	nested = add_struct(btf, "svm_nested_state", 200);
	add_member(btf, "vmcb02", info, 40);
	add_struct(btf, "vcpu_svm", 7240);
	add_member(btf, "vcpu", vcpu, 0);
	add_member(btf, "vmcb", pointer, 6480);
	if (kernel->own_vmcb)
		add_member(btf, kernel->own_vmcb, info, 6488);
	add_member(btf, "nested", nested, 6960);
}

static void add_vmx(struct box *box, const struct kernel *kernel, int vcpu)
{
	struct btf *btf = box->vendor;
	int reason, common;

	reason = btf__add_union(btf, "vmx_exit_reason", 4);
	add_member(btf, "full", box->number[4], 0);
	common = add_struct(btf, "vcpu_vt", 128);
	add_member(btf, "exit_reason", reason, 80);
	add_struct(btf, "vcpu_vmx", 9280);
	add_member(btf, "vcpu", vcpu, 0);
	if (kernel->has_old_vmx)
		add_member(btf, "exit_reason", reason, 7744);
	if (kernel->has_new_vmx)
		add_member(btf, "vt", common, 6720);
	if (!kernel->has_tdx)
		return;
	add_struct(btf, "vcpu_tdx", 9280);
	add_member(btf, "vcpu", vcpu, 0);
	add_member(btf, "vt", common, kernel->tdx_offset);
}

static int number(const struct box *box, enum exits_raw_number which)
{
	return box->raw.numbers[which - RAW_FIRST];
}

/* What is found on such a kernel, where the event's field has as many bytes. */
static int look(struct box *box, const struct kernel *kernel, const char *arch, int bytes)
{
	struct exits_btf btf;
	int vcpu, err;

	memset(box, 0, sizeof(*box));
	make_vmlinux(box, kernel);
	make_kvm(box, kernel);
	box->vendor = btf__new_empty_split(box->vmlinux);
	assert_non_null(box->vendor);
	vcpu = add_vcpu(box->vendor, box, kernel->svm_first, kernel);
	add_svm(box, kernel, vcpu);
	add_vmx(box, kernel, vcpu);
	btf = (struct exits_btf){ box->vmlinux, box->kvm, box->vendor };
	err = exits_raw_look(&btf, &arch_by_name(arch)->splits[0], bytes, &box->raw, &box->error);
	box->raw.run_delay = exits_raw_find_run_delay(box->vmlinux);
	btf__free(box->vendor);
	btf__free(box->kvm);
	btf__free(box->vmlinux);
	return err;
}

static void test_svm(void **state)
{
	struct box box;

	(void)state;
	assert_int_equal(look(&box, &linux_6_12, "SVM", 4), 0);
	assert_int_equal(box.raw.way, EXITS_BY_LOAD);
	assert_int_equal(box.raw.vcpu, 0);
	assert_int_equal(box.raw.isa, 1);
	assert_int_equal(box.raw.entry_vcpu, 0);
	assert_int_equal(number(&box, RAW_ISA), 2);
	assert_int_equal(number(&box, RAW_VCPU_ID), 72);
	assert_int_equal(number(&box, RAW_HAS_POINTER), 1);
	assert_int_equal(number(&box, RAW_OFFSET), 6480);
	assert_int_equal(number(&box, RAW_OFFSET_THERE), 112);
	assert_int_equal(number(&box, RAW_BYTES), 4);
}

/* Linux 7: 64 bits in the VMCB, of which a record with 32 has the lower half. */
static void test_svm_with_64_bits(void **state)
{
	struct kernel kernel = linux_6_12;
	struct box box;

	(void)state;
	kernel.exit_code_bytes = 8;
	assert_int_equal(look(&box, &kernel, "SVM", 4), 0);
	assert_int_equal(number(&box, RAW_BYTES), 4);
	assert_int_equal(look(&box, &kernel, "SVM", 8), 0);
	assert_int_equal(number(&box, RAW_BYTES), 8);
	assert_int_equal(look(&box, &linux_6_12, "SVM", 8), 0);
	assert_int_equal(number(&box, RAW_BYTES), 4);
}

/* vcpu_vmx has it itself, or in the part that it has in common with vcpu_tdx. */
static void test_vmx(void **state)
{
	struct kernel kernel = linux_6_12;
	struct box box;

	(void)state;
	assert_int_equal(look(&box, &kernel, "VMX", 4), 0);
	assert_int_equal(number(&box, RAW_HAS_POINTER), 0);
	assert_int_equal(number(&box, RAW_OFFSET), 7744);
	assert_int_equal(number(&box, RAW_ISA), 1);
	kernel.has_old_vmx = false;
	kernel.has_new_vmx = kernel.has_tdx = true;
	kernel.tdx_offset = 6720;
	assert_int_equal(look(&box, &kernel, "VMX", 4), 0);
	assert_int_equal(number(&box, RAW_OFFSET), 6800);
	kernel.tdx_offset = 6728;
	assert_int_equal(look(&box, &kernel, "VMX", 4), -ENOENT);
	assert_string_equal(box.error.text,
			    "the BTF has more than one place of vcpu_tdx.vt.exit_reason.full");
}

static bool has_pc(struct box *box, const struct kernel *kernel, const char *arch)
{
	assert_int_equal(look(box, kernel, arch, 4), 0);
	return box->raw.has_pc;
}

/* Where a long exit has its program counter without the record. */
static void test_pc(void **state)
{
	struct kernel kernel = linux_6_12;
	struct box box;

	(void)state;
	assert_true(has_pc(&box, &kernel, "SVM"));
	assert_int_equal(number(&box, RAW_OWN_VMCB), 6488);
	assert_int_equal(number(&box, RAW_NESTED_VMCB), 7000);
	assert_int_equal(number(&box, RAW_PC), 1400);
	assert_int_equal(number(&box, RAW_PC_COPY), 0);
	kernel.has_union = false;
	assert_true(has_pc(&box, &kernel, "SVM"));
	assert_int_equal(number(&box, RAW_PC), 1400);
	kernel.own_vmcb = "hsave"; /* before Linux 5.13 */
	assert_false(has_pc(&box, &kernel, "SVM"));
	assert_int_equal(box.raw.way, EXITS_BY_LOAD);
	/* The entry must say which vCPU it is. */
	kernel = linux_6_12;
	kernel.entry_argument = "vcpu_id";
	assert_false(has_pc(&box, &kernel, "SVM"));
}

/* On VMX by KVM's copy of it: in the array of registers, or beside it. */
static void test_pc_copy(void **state)
{
	struct kernel kernel = linux_6_12;
	struct box box;

	(void)state;
	assert_true(has_pc(&box, &kernel, "VMX"));
	assert_int_equal(number(&box, RAW_PC_COPY), 1000 + 16 * 8);
	assert_int_equal(number(&box, RAW_COPIED), 1000 + 152 + 2);
	assert_int_equal(number(&box, RAW_COPIED_BIT), 1);
	assert_int_equal(number(&box, RAW_IS_NESTED), 5000 + 300);
	kernel.has_rip = true;
	kernel.pc_bit = "VCPU_REG_RIP";
	assert_true(has_pc(&box, &kernel, "VMX"));
	assert_int_equal(number(&box, RAW_PC_COPY), 1000 + 136);
	kernel.pc_bit = "VCPU_REGS_RIP"; /* behind the end of the array */
	assert_false(has_pc(&box, &kernel, "VMX"));
	kernel.pc_bit = NULL;
	assert_false(has_pc(&box, &kernel, "VMX"));
	kernel = linux_6_12;
	kernel.mode = NULL; /* before Linux 5.14 */
	assert_false(has_pc(&box, &kernel, "VMX"));
	assert_int_equal(box.raw.way, EXITS_BY_LOAD);
	kernel = linux_6_12;
	kernel.entry_argument = "vcpu_id";
	assert_false(has_pc(&box, &kernel, "VMX"));
}

static void test_run_delay(void **state)
{
	struct kernel kernel = linux_6_12;
	struct box box;

	(void)state;
	look(&box, &kernel, "SVM", 4);
	assert_int_equal(box.raw.run_delay, 908);
	kernel.is_without_delays = true;
	look(&box, &kernel, "SVM", 4);
	assert_int_equal(box.raw.run_delay, 0);
}

static void test_older_kernels(void **state)
{
	struct kernel kernel = linux_6_12;
	struct box box;

	(void)state;
	kernel.has_cast = false;
	assert_int_equal(look(&box, &kernel, "SVM", 4), 0);
	assert_int_equal(box.raw.way, EXITS_BY_READ);
	/* 5.10: the reason is an argument. */
	kernel.exit_arguments[0] = "exit_reason";
	kernel.exit_arguments[1] = "vcpu";
	kernel.exit_arguments[2] = "isa";
	assert_int_equal(look(&box, &kernel, "SVM", 4), 0);
	assert_int_equal(box.raw.way, EXITS_BY_ARGUMENT);
	assert_int_equal(box.raw.reason, 0);
	assert_int_equal(box.raw.vcpu, 1);
	assert_int_equal(box.raw.isa, 2);
	assert_false(box.raw.has_pc);
}

static void test_arm64(void **state)
{
	const struct kernel kernel = {
		.exit_arguments = { "ret", "esr_ec", "vcpu_pc" },
		.entry_argument = "vcpu_pc",
		.svm_first = "kvm_vcpu",
		.exit_code = "exit_code",
		.exit_code_bytes = 4,
		.fail_offset = 8,
	};
	struct box box;

	(void)state;
	assert_int_equal(look(&box, &kernel, "arm64", 4), 0);
	assert_int_equal(box.raw.way, EXITS_BY_ARGUMENT);
	assert_int_equal(box.raw.type, 0);
	assert_int_equal(box.raw.reason, 1);
	assert_int_equal(box.raw.vcpu, -1);
	assert_int_equal(box.raw.isa, -1);
	assert_int_equal(box.raw.entry_vcpu, -1);
	assert_int_equal(box.raw.pc, 2);
	assert_true(box.raw.has_pc);
	assert_int_equal(number(&box, RAW_VCPU_ID), 0);
	assert_int_equal(number(&box, RAW_TYPE_MASK), 0x7fffffff);
	assert_int_equal(box.raw.polls, EXITS_BY_READ);
}

/* The sums are found from the task; without them, events tell what halts polled. */
static void test_polls(void **state)
{
	struct kernel kernel = linux_6_12;
	struct box box;

	(void)state;
	assert_int_equal(look(&box, &kernel, "SVM", 4), 0);
	assert_int_equal(box.raw.polls, EXITS_BY_LOAD);
	assert_int_equal(number(&box, RAW_NOTIFIER), 2000);
	assert_int_equal(number(&box, RAW_POLL_SUMS), 5040 - 16);
	assert_int_equal(number(&box, RAW_VCPU_POLL_SUMS), 5040);
	kernel.has_cast = false;
	kernel.has_old_polls = true;
	assert_int_equal(look(&box, &kernel, "SVM", 4), 0);
	assert_int_equal(box.raw.polls, EXITS_BY_READ);
	assert_int_equal(number(&box, RAW_POLL_SUMS), 5024 - 16);
	kernel.fail_offset = 16;
	assert_int_equal(look(&box, &kernel, "SVM", 4), 0);
	assert_int_equal(box.raw.polls, EXITS_BY_RECORD);
	kernel = linux_6_12;
	kernel.is_without_notifiers = true;
	assert_int_equal(look(&box, &kernel, "SVM", 4), 0);
	assert_int_equal(box.raw.polls, EXITS_BY_RECORD);
	assert_int_equal(box.raw.way, EXITS_BY_LOAD);
}

/* A kernel that is not as expected is said to be so, and its reason is not looked for. */
static void check_refused(const struct kernel *kernel, int bytes, const char *error)
{
	struct box box;

	assert_int_equal(look(&box, kernel, "SVM", bytes), -ENOENT);
	assert_string_equal(box.error.text, error);
	assert_int_equal(box.raw.way, EXITS_BY_RECORD);
}

static void test_other_kernels(void **state)
{
	static const char no_path[] = "the BTF of kvm_amd has no vcpu_svm.vmcb->control.exit_code";
	struct kernel kernel = linux_6_12;

	(void)state;
	kernel.exit_code = "exit_code_lo";
	check_refused(&kernel, 4, no_path);
	kernel = linux_6_12;
	kernel.is_vmcb_far = true;
	check_refused(&kernel, 4, no_path);
	kernel = linux_6_12;
	kernel.svm_first = "vcpu_common";
	check_refused(&kernel, 4, no_path);
	kernel = linux_6_12;
	kernel.exit_arguments[1] = "vendor";
	check_refused(&kernel, 4, "kvm_exit has other arguments");
	kernel = linux_6_12;
	kernel.exit_arguments[0] = "run";
	check_refused(&kernel, 4, "kvm_exit has other arguments");
	check_refused(&linux_6_12, 2, "exit_reason has 2 bytes");
}

/* Of a kernel in which kvm_pio has these arguments, all of them numbers but "vcpu". */
static struct exits_raw_event look_at_pio(const char *const *arguments, const char *field,
					  int bytes)
{
	const struct exits_event event = {
		.event = "kvm_pio",
		.fields = { { FIELD_A, "port", 0, bytes }, { FIELD_B, field, 0, 0 } },
	};
	struct exits_raw_event raw;
	struct box box = { 0 };

	make_vmlinux(&box, &linux_6_12);
	box.kvm = btf__new_empty_split(box.vmlinux);
	if (arguments)
		add_event(box.kvm, &box, "__traceiter_kvm_pio", box.pointer, arguments);
	exits_raw_look_at_event(box.kvm, &event, &raw);
	btf__free(box.kvm);
	btf__free(box.vmlinux);
	return raw;
}

static void test_fields_that_are_arguments(void **state)
{
	static const char *const arguments[] = { "rw", "port", "size", "vcpu", NULL };
	struct exits_raw_event raw = look_at_pio(arguments, "size", 0);

	(void)state;
	assert_true(raw.is_raw);
	assert_int_equal(raw.arguments[0], 1);
	assert_int_equal(raw.arguments[1], 2);
	assert_int_equal(raw.arguments[2], -1);
	assert_false(look_at_pio(arguments, "size", 4).is_raw); /* several fields at once */
	assert_false(look_at_pio(arguments, "count", 0).is_raw);
	assert_false(look_at_pio(arguments, "vcpu", 0).is_raw); /* a pointer */
	assert_false(look_at_pio(NULL, "size", 0).is_raw); /* the BTF has no such event */
}

UNIT(test_raw)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_svm),	       cmocka_unit_test(test_svm_with_64_bits),
		cmocka_unit_test(test_vmx),	       cmocka_unit_test(test_older_kernels),
		cmocka_unit_test(test_arm64),	       cmocka_unit_test(test_other_kernels),
		cmocka_unit_test(test_polls),	       cmocka_unit_test(test_pc),
		cmocka_unit_test(test_fields_that_are_arguments),
		cmocka_unit_test(test_pc_copy),	       cmocka_unit_test(test_run_delay),
	};

	return cmocka_run_group_tests_name("exits_raw", tests, NULL, NULL);
}
