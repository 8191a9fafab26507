// SPDX-License-Identifier: GPL-2.0-or-later
/* Programs get the running kernel's places for the fields they read: by real format files. */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <linux/bpf.h>

#include "providers/bpf/bpf.h"
#include "providers/bpf/placeholders.h"
#include "tests/unit/unit.h"

#define LDX(dst, offset) \
	{ .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = (dst), .src_reg = 1, .off = (offset) }
#define MOV(dst, number) \
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = (dst), .imm = (number) }

#define NR_INSNS 4

/* As our programs are compiled: loads from places that no event has, among other things. */
static const struct bpf_insn program[NR_INSNS] = {
	LDX(2, FIELD_REASON),
	LDX(3, 56), /* no placeholder */
	LDX(4, FIELD_TYPE),
	LDX(5, FIELD_REASON),
};

struct box {
	char root[64];
	struct env env;
	struct bpf_insn insns[NR_INSNS];
};

/* A tracefs whose system kvm has the one event, with the format in tests/formats/. */
static void make_event(struct box *box, const char *event, const char *format)
{
	char command[512];

	snprintf(command, sizeof(command),
		 "mkdir -p %s/events/kvm/%s && cp tests/formats/%s.format %s/events/kvm/%s/format",
		 box->root, event, format, box->root, event);
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): our own words */
	box->env = (struct env){ .root = "", .tracefs = box->root };
	memcpy(box->insns, program, sizeof(program));
}

static int patch(struct box *box, const char *event, const struct bpf_field *fields)
{
	return bpf_fields_patch(box->insns, NR_INSNS, &box->env, "kvm", event, fields);
}

static int setup(void **state)
{
	struct box *box = calloc(1, sizeof(*box));

	assert_non_null(box);
	snprintf(box->root, sizeof(box->root), "/tmp/kvmtop-fields.XXXXXX");
	assert_non_null(mkdtemp(box->root));
	*state = box;
	return 0;
}

static int teardown(void **state)
{
	struct box *box = *state;
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", box->root);
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): our own words */
	free(box);
	return 0;
}

static void loads(const struct bpf_insn *insn, int dst, int size, int offset)
{
	assert_int_equal(insn->code, BPF_LDX | BPF_MEM | size);
	assert_int_equal(insn->dst_reg, dst);
	assert_int_equal(insn->src_reg, 1);
	assert_int_equal(insn->off, offset);
}

static void test_old_reason(void **state)
{
	const struct bpf_field fields[] = {
		{ FIELD_REASON, "exit_reason", 0, 0 },
		{ FIELD_TYPE, NULL, 9, 0 },
		{ 0 },
	};
	const struct bpf_insn number = MOV(4, 9);
	struct box *box = *state;

	make_event(box, "kvm_exit", "kvm_exit-svm-6.1");
	assert_int_equal(patch(box, "kvm_exit", fields), 0);
	loads(&box->insns[0], 2, BPF_W, 8);
	loads(&box->insns[3], 5, BPF_W, 8);
	assert_memory_equal(&box->insns[1], &program[1], sizeof(program[1])); /* as it was */
	assert_memory_equal(&box->insns[2], &number, sizeof(number));
}

/* The kernel would take such a program, and it would read whatever is there. */
static void test_placeholder_is_left_over(void **state)
{
	const struct bpf_field fields[] = { { FIELD_REASON, "exit_reason", 0, 0 }, { 0 } };
	struct box *box = *state;

	make_event(box, "kvm_exit", "kvm_exit-svm-6.1");
	assert_int_equal(patch(box, "kvm_exit", fields), -EINVAL);
}

/* Coming kernels have a u64. */
static void test_wide_reason(void **state)
{
	const struct bpf_field fields[] = {
		{ FIELD_REASON, "exit_reason", 0, 0 },
		{ FIELD_TYPE, "isa", 0, 0 },
		{ 0 },
	};
	struct box *box = *state;

	make_event(box, "kvm_exit", "kvm_exit-svm-7.0");
	assert_int_equal(patch(box, "kvm_exit", fields), 0);
	loads(&box->insns[0], 2, BPF_DW, 8);
	loads(&box->insns[2], 4, BPF_W, 24);
	loads(&box->insns[3], 5, BPF_DW, 8);
}

static void test_absent_field_is_a_number(void **state)
{
	const struct bpf_field fields[] = {
		{ FIELD_REASON, "esr_ec", 0, 0 },
		{ FIELD_TYPE, "vcpu_id", -1, 0 },
		{ 0 },
	};
	const struct bpf_insn number = MOV(4, -1);
	struct box *box = *state;

	make_event(box, "kvm_exit", "kvm_exit-arm64-6.1");
	assert_int_equal(patch(box, "kvm_exit", fields), 0);
	loads(&box->insns[0], 2, BPF_W, 12);
	assert_memory_equal(&box->insns[2], &number, sizeof(number));
}

/* Several fields of a byte as one number; and a print format that libtraceevent cannot parse. */
static void test_adjacent_bytes(void **state)
{
	const struct bpf_field fields[] = {
		{ FIELD_REASON, "Op0", 0, 4 },
		{ FIELD_TYPE, "Op2", 0, 0 },
		{ 0 },
	};
	struct box *box = *state;

	make_event(box, "kvm_sys_access", "kvm_sys_access-arm64-6.1");
	assert_int_equal(patch(box, "kvm_sys_access", fields), 0);
	loads(&box->insns[0], 2, BPF_W, 32);
	loads(&box->insns[2], 4, BPF_B, 36);
}

static void test_what_cannot_be(void **state)
{
	const struct bpf_field no_such[] = { { FIELD_REASON, "reason", 0, 0 }, { 0 } };
	const struct bpf_field odd[] = { { FIELD_REASON, "Op0", 0, 3 }, { 0 } };
	struct box *box = *state;

	make_event(box, "kvm_sys_access", "kvm_sys_access-arm64-6.1");
	assert_int_equal(patch(box, "kvm_sys_access", no_such), -ENOENT);
	assert_int_equal(patch(box, "kvm_exit", no_such), -ENOENT);
	assert_int_equal(patch(box, "kvm_sys_access", odd), -EINVAL);
	assert_memory_equal(box->insns, program, sizeof(program));
}

/* A raw tracepoint's arguments are known by the order of the fields. */
static void test_order_of_fields(void **state)
{
	static const char *const wakeup[] = { "ns", "waited", NULL };
	static const char *const other[] = { "waited", "ns", NULL };
	static const char *const more[] = { "ns", "waited", "valid", "vcpu_id", NULL };
	struct box *box = *state;

	make_event(box, "kvm_vcpu_wakeup", "kvm_vcpu_wakeup-6.18");
	assert_true(bpf_fields_are(&box->env, "kvm", "kvm_vcpu_wakeup", wakeup));
	assert_false(bpf_fields_are(&box->env, "kvm", "kvm_vcpu_wakeup", other));
	assert_false(bpf_fields_are(&box->env, "kvm", "kvm_vcpu_wakeup", more));
	assert_false(bpf_fields_are(&box->env, "kvm", "kvm_exit", wakeup));
}

static void test_numbers(void **state)
{
	struct bpf_insn insns[] = {
		MOV(1, 7),
		MOV(2, 8),
		{ .code = BPF_STX | BPF_MEM | BPF_DW, .off = 40 },
	};

	(void)state;
	assert_int_equal(bpf_fields_patch_number(insns, 3, 7, 99), 0);
	assert_int_equal(bpf_fields_patch_offset(insns, 3, 40, 4096), 0);
	assert_int_equal(insns[0].imm, 99);
	assert_int_equal(insns[1].imm, 8);
	assert_int_equal(insns[2].off, 4096);
	/* What is not there is no success. */
	assert_int_equal(bpf_fields_patch_number(insns, 3, 7, 1), -EINVAL);
	assert_int_equal(bpf_fields_patch_offset(insns, 3, 40, 1), -EINVAL);
}

#define BOXED(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

UNIT(test_fields)
{
	const struct CMUnitTest tests[] = {
		BOXED(test_old_reason),
		BOXED(test_placeholder_is_left_over),
		BOXED(test_wide_reason),
		BOXED(test_absent_field_is_a_number),
		BOXED(test_adjacent_bytes),
		BOXED(test_what_cannot_be),
		BOXED(test_order_of_fields),
		cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests_name("bpf_fields", tests, NULL, NULL);
}
