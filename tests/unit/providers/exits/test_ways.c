// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Both ways into a vCPU, in this kernel: the programs are run on a made-up vCPU in the kernel's
 * memory, and say the reason that is there, with all its bits and no others.
 */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <cmocka.h>

#include "lib/array.h"
#include "providers/bpf/bpf.h"
#include "providers/exits/program.h"
#include "tests/unit/unit.h"
#include "tests/worlds/cmocka_range.h"

#define ISA_SVM 2

/* Has a reason on the spot, as on VMX, and one behind a pointer, as on SVM. */
struct vcpu {
	uint64_t own_address; /* in the kernel */
	uint64_t there;
	uint64_t reason;
	uint32_t vcpu_id;
	uint64_t own_vmcb, nested_vmcb; /* pointers; `there` is the current one */
	uint64_t vmcb[3];
	uint64_t pc, copied, is_nested; /* KVM's copy */
};

struct box {
	struct env env;
	struct exits_bpf *bpf;
	struct vcpu *vcpu; /* the same memory as the kernel's; NULL: BPF is not to be had */
	int map;
	uint32_t cast, run_delay;
	int pointer, time; /* types */
};

/* Makes the vCPU know its own address, which only a program in the kernel can tell it. */
static int tell_address(int map)
{
	const struct bpf_insn insns[] = {
		{ BPF_DW, 1, BPF_PSEUDO_MAP_VALUE, 0, map }, /* BPF_LD and BPF_IMM are 0 */
		{ 0 },
		{ BPF_STX | BPF_MEM | BPF_DW, 1, 1, 0, 0 },
		{ BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0 },
		{ BPF_JMP | BPF_EXIT, 0, 0, 0, 0 },
	};
	LIBBPF_OPTS(bpf_test_run_opts, options);
	int program = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "address", "GPL", insns,
				    ARRAY_SIZE(insns), NULL);
	int err;

	if (program < 0)
		return program;
	err = bpf_prog_test_run_opts(program, &options);
	close(program);
	return err;
}

static void make_vcpu(struct box *box)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	void *memory;

	box->map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "vcpu", sizeof(uint32_t),
				  sizeof(struct vcpu), 1, &options);
	if (box->map < 0 || tell_address(box->map) < 0)
		return;
	memory = mmap(NULL, sizeof(struct vcpu), PROT_READ | PROT_WRITE, MAP_SHARED, box->map, 0);
	if (memory != MAP_FAILED)
		box->vcpu = memory;
}

/* What this kernel needs for loads; without it they are not tried. */
static void look_at_kernel(struct box *box)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int cast = btf ? btf__find_by_name_kind(btf, "bpf_rdonly_cast", BTF_KIND_FUNC) : -1;

	box->cast = cast < 0 ? 0 : (uint32_t)cast;
	box->pointer = btf ? btf__find_by_name_kind(btf, "list_head", BTF_KIND_STRUCT) : 0;
	box->time = btf ? btf__find_by_name_kind(btf, "timespec64", BTF_KIND_STRUCT) : 0;
	box->run_delay = btf ? exits_raw_find_run_delay(btf) : 0;
	btf__free(btf);
}

static int setup(void **state)
{
	struct box *box = calloc(1, sizeof(*box));
	struct error error = { "" };

	assert_non_null(box);
	*state = box;
	assert_int_equal(env_init(&box->env, "", &error), 0);
	bpf_be_quiet();
	if (!box->env.tracefs || bpf_probe(&box->env, &error)) {
		print_message("BPF is not to be had here: %s\n", error.text);
		return 0;
	}
	make_vcpu(box);
	look_at_kernel(box);
	return 0;
}

static int teardown(void **state)
{
	struct box *box = *state;

	if (box->vcpu)
		munmap(box->vcpu, sizeof(*box->vcpu));
	if (box->map > 0)
		close(box->map);
	env_release(&box->env);
	free(box);
	return 0;
}

static void set_number(struct exits_raw *raw, enum exits_raw_number which, size_t value)
{
	raw->numbers[which - RAW_FIRST] = (int)value;
}

static struct exits_raw make_raw(const struct box *box, enum exits_way way, bool has_pointer,
				 int bytes)
{
	struct exits_raw raw = {
		.way = way,
		.reason = -1,
		.type = -1,
		.isa = 1,
		.cast = box->cast,
	};

	set_number(&raw, RAW_VCPU_ID, offsetof(struct vcpu, vcpu_id));
	set_number(&raw, RAW_HAS_POINTER, has_pointer);
	set_number(&raw, RAW_OFFSET, has_pointer ? offsetof(struct vcpu, there) :
						   offsetof(struct vcpu, reason));
	set_number(&raw, RAW_OFFSET_THERE, has_pointer ? sizeof(uint64_t) : 0);
	set_number(&raw, RAW_BYTES, (size_t)bytes);
	set_number(&raw, RAW_POINTER, (size_t)box->pointer);
	set_number(&raw, RAW_NUMBER, (size_t)box->time);
	set_number(&raw, RAW_ISA, ISA_SVM);
	set_number(&raw, RAW_OWN_VMCB, offsetof(struct vcpu, own_vmcb));
	set_number(&raw, RAW_NESTED_VMCB, offsetof(struct vcpu, nested_vmcb));
	set_number(&raw, RAW_PC, 2 * sizeof(uint64_t));
	set_number(&raw, RAW_PC_COPY, has_pointer ? 0 : offsetof(struct vcpu, pc));
	set_number(&raw, RAW_COPIED, offsetof(struct vcpu, copied) + 2);
	set_number(&raw, RAW_COPIED_BIT, 1);
	set_number(&raw, RAW_IS_NESTED, offsetof(struct vcpu, is_nested));
	return raw;
}

static bool is_program(int fd)
{
	char path[64], target[64];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	length = readlink(path, target, sizeof(target) - 1);
	target[length < 0 ? 0 : length] = '\0';
	return strstr(target, "bpf-prog") != NULL;
}

/* This process' program of that name; of the earlier ones some may not be closed yet. */
static int find_program(const char *name)
{
	uint32_t latest = 0;
	int found = -1;

	for (int fd = 0; fd < 256; fd++) {
		struct bpf_prog_info info = { 0 };
		uint32_t size = sizeof(info);

		if (!is_program(fd) || bpf_obj_get_info_by_fd(fd, &info, &size) < 0 ||
		    strcmp(info.name, name) != 0 || info.id < latest)
			continue;
		latest = info.id;
		found = fd;
	}
	return found;
}

static void exits(const struct box *box, const char *name, uint64_t isa)
{
	uint64_t arguments[] = { box->vcpu->own_address, isa };
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = arguments,
		    .ctx_size_in = sizeof(arguments));
	int program = find_program(name);

	assert_true(program >= 0);
	assert_int_equal(bpf_prog_test_run_opts(program, &options), 0);
}

/* How often the reason was counted, in this process' only record. */
static uint64_t count_of(const struct exits_bpf *bpf, uint64_t code)
{
	const struct exits_code *codes = bpf->codes;

	for (uint32_t i = 0; i < EXITS_CELLS; i++) {
		if (codes[i].is_used && codes[i].code == code)
			return exits_bpf_thread(bpf, 0)->cells[i].count;
	}
	return 0;
}

/* The memory around the reason has other bits, which none of it may get. */
static void check_reason(struct box *box, enum exits_way way, const char *name, bool has_pointer,
			 int bytes)
{
	struct exits_raw raw = make_raw(box, way, has_pointer, bytes);
	const struct exits_bpf_config config = {
		.env = &box->env,
		.exit = &arch_by_name("SVM")->splits[0],
		.raw = &raw,
		.max_threads = 1,
	};
	uint64_t there = UINT64_MAX - 1, seen = bytes == 4 ? (uint32_t)there : there;
	struct error error = { "" };

	assert_int_equal(exits_bpf_open(&config, &box->bpf, &error), 0);
	assert_int_equal(box->bpf->raw.way, way); /* the kernel has taken the program */
	assert_int_equal(exits_bpf_attach(box->bpf, &error), 0);
	box->vcpu->vcpu_id = 77;
	box->vcpu->there = box->vcpu->own_address + offsetof(struct vcpu, vmcb);
	box->vcpu->reason = has_pointer ? 1 : there;
	box->vcpu->vmcb[1] = has_pointer ? there : 1;
	exits(box, name, ISA_SVM);
	exits(box, name, ISA_SVM);
	exits(box, name, ISA_SVM + 1);
	assert_int_equal(count_of(box->bpf, seen), 2);
	assert_int_equal(exits_bpf_thread(box->bpf, 0)->cells[EXITS_OTHER].count, 1);
	assert_int_equal(exits_bpf_thread(box->bpf, 0)->vcpu, 77);
	assert_int_equal(exits_bpf_thread(box->bpf, 0)->tid, getpid());
	exits_bpf_close(box->bpf);
}

static void check_way(struct box *box, enum exits_way way, const char *name)
{
	for (int i = 0; i < 4; i++)
		check_reason(box, way, name, i % 2, i / 2 ? 4 : 8);
}

static void take_long(void *arg, const struct exits_long *exit)
{
	struct exits_long *ret_exit = arg;

	*ret_exit = *exit;
}

/* How long this thread has waited for a CPU so far. */
static uint64_t run_delay(void)
{
	unsigned long long ran = 0, waited = 0;
	FILE *file = fopen("/proc/thread-self/schedstat", "re");

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%llu %llu", &ran, &waited), 2); /* NOLINT(cert-err34-c) */
	fclose(file);
	return waited;
}

/* Shares its CPU with a child that never sleeps, until it has had to wait. */
static void wait_for_cpu(void)
{
	uint64_t before = run_delay();
	cpu_set_t all, one;
	pid_t child;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		for (;;)
			__asm__ volatile("");
	}
	while (run_delay() == before)
		sched_yield();
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

/*
 * Program counter and wait of a long exit are read where they are, when the exit ends: the program
 * counter in a VMCB, or in KVM's copy.
 */
static void check_long(struct box *box, enum exits_way way, bool has_copy)
{
	/* The kernel's names are that short; one of the programs that begin so is loaded. */
	static const char begins[] = "on_long_exit_by", ends[] = "on_long_vcpu_en";
	static const bool nothing[EXITS_CELLS];
	struct exits_raw raw = make_raw(box, way, !has_copy, sizeof(uint64_t));
	const struct exits_bpf_config config = {
		.env = &box->env,
		.exit = &arch_by_name("SVM")->splits[0],
		.raw = &raw,
		.max_threads = 1,
		.has_long = true,
	};
	struct exits_long exit = { .pc = 0 };
	struct error error = { "" };
	uint64_t waited[4];

	raw.has_pc = true;
	raw.run_delay = box->run_delay;
	assert_int_equal(exits_bpf_open(&config, &box->bpf, &error), 0);
	assert_int_equal(box->bpf->raw.way, way);
	assert_int_equal(box->bpf->raw.run_delay != 0, box->run_delay != 0);
	assert_int_equal(exits_bpf_attach(box->bpf, &error), 0);
	exits_bpf_set_long(box->bpf, 1, nothing);
	box->vcpu->vmcb[1] = 0x7b;
	box->vcpu->vmcb[2] = 0xffffffff81234567;
	box->vcpu->there = box->vcpu->own_address + offsetof(struct vcpu, vmcb);
	box->vcpu->own_vmcb = box->vcpu->there;
	box->vcpu->pc = 0xffffffff81234569;
	box->vcpu->copied = 1 << 16;
	waited[0] = run_delay();
	exits(box, begins, ISA_SVM);
	waited[1] = run_delay();
	if (box->run_delay)
		wait_for_cpu();
	waited[2] = run_delay();
	exits(box, ends, ISA_SVM);
	waited[3] = run_delay();
	assert_int_equal(exits_bpf_long(box->bpf, take_long, &exit), 0);
	assert_int_equal(exit.pc, has_copy ? box->vcpu->pc : box->vcpu->vmcb[2]);
	assert_true(exit.took_ns > 1);
	assert_int_in_range(exit.waited_ns, box->run_delay ? waited[2] - waited[1] : 0,
			    box->run_delay ? waited[3] - waited[0] : 0);
	exits_bpf_close(box->bpf);
}

/* The argument of an exit, by a raw event's arguments: all their bits, each in its place. */
static void check_argument(struct box *box)
{
	uint64_t arguments[] = { 1, 0xcf8, 4 };
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = arguments,
		    .ctx_size_in = sizeof(arguments));
	struct exits_raw raw = make_raw(box, EXITS_BY_READ, false, 8);
	const struct exits_bpf_config config = {
		.env = &box->env,
		.exit = &arch_by_name("SVM")->splits[0],
		.raw = &raw,
		.max_threads = 1,
		.has_arguments = true,
	};
	const struct exits_argument_key *keys;
	const struct exits_cell *cells;
	struct error error = { "" };
	int program;

	raw.events[EXITS_IOPORT] = (struct exits_raw_event){ true, { 1, 2, 0 } };
	assert_int_equal(exits_bpf_open(&config, &box->bpf, &error), 0);
	assert_int_equal(exits_bpf_attach(box->bpf, &error), 0);
	exits(box, "on_exit_by_read", ISA_SVM);
	program = find_program("on_ioport");
	assert_true(program >= 0);
	assert_int_equal(bpf_prog_test_run_opts(program, &options), 0);
	assert_int_equal(exits_bpf_arguments(box->bpf, &keys, &cells, &error), 1);
	assert_int_equal(keys[0].a, 0xcf8);
	assert_int_equal(keys[0].b, 4);
	assert_int_equal(keys[0].c, 1);
	assert_int_equal(cells[0].count, 1);
	exits_bpf_close(box->bpf);
}

static bool has_events(void)
{
	return access("/sys/kernel/tracing/events/kvm/kvm_exit", F_OK) == 0;
}

/* Whether a page fault's record has the program counter here: else copies are not used. */
static bool has_copies(const struct box *box)
{
	return box->vcpu && has_events() &&
	       bpf_field_size(&box->env, "kvm", "kvm_page_fault", "guest_rip") > 0;
}

static void test_copy(void **state)
{
	struct box *box = *state;

	if (!has_copies(box))
		skip();
	check_long(box, EXITS_BY_READ, true);
	if (box->cast)
		check_long(box, EXITS_BY_LOAD, true);
}

/* Where a page fault's record has no program counter, long exits take theirs from kvm_exit's. */
static void test_older_page_fault(void **state)
{
	struct box *box = *state;
	struct exits_raw raw = make_raw(box, EXITS_BY_READ, false, sizeof(uint64_t));
	struct split exit = arch_by_name("SVM")->splits[0];
	struct exits_bpf_config config = {
		.env = &box->env, .exit = &exit, .raw = &raw, .max_threads = 1, .has_long = true,
	};
	struct error error = { "" };

	raw.has_pc = true;
	if (!has_copies(box))
		skip();
	assert_int_equal(exits_bpf_open(&config, &box->bpf, &error), 0);
	assert_int_equal(box->bpf->raw.way, EXITS_BY_READ);
	exits_bpf_close(box->bpf);
	exit.pc_field = "no_such_field";
	assert_int_equal(exits_bpf_open(&config, &box->bpf, &error), 0);
	assert_int_equal(box->bpf->raw.way, EXITS_BY_RECORD);
	exits_bpf_close(box->bpf);
}

static void test_read(void **state)
{
	struct box *box = *state;

	if (!box->vcpu || !has_events())
		skip();
	check_way(box, EXITS_BY_READ, "on_exit_by_read");
	check_long(box, EXITS_BY_READ, false);
}

static void test_load(void **state)
{
	struct box *box = *state;

	if (!box->vcpu || !box->cast || !has_events())
		skip();
	check_way(box, EXITS_BY_LOAD, "on_exit_by_load");
	check_long(box, EXITS_BY_LOAD, false);
}

static void test_argument(void **state)
{
	struct box *box = *state;

	if (!box->vcpu || access("/sys/kernel/tracing/events/kvm/kvm_pio", F_OK) < 0)
		skip();
	check_argument(box);
}

UNIT(test_ways)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_read, setup, teardown),
		cmocka_unit_test_setup_teardown(test_load, setup, teardown),
		cmocka_unit_test_setup_teardown(test_argument, setup, teardown),
		cmocka_unit_test_setup_teardown(test_copy, setup, teardown),
		cmocka_unit_test_setup_teardown(test_older_page_fault, setup, teardown),
	};

	return cmocka_run_group_tests_name("exits_ways", tests, NULL, NULL);
}
