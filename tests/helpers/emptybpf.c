/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * emptybpf - a program that does nothing at each event of KVM: what the kernel takes to run any.
 *
 * For tests/bench/overhead. Prints the number of events; ends by itself after 240 seconds at the
 * latest. Exit status: 1 failure.
 */
#include <glob.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EVENTS "/sys/kernel/tracing/events/kvm/kvm_*"
#define LIMIT_S 240

static int call(enum bpf_cmd command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int load_program(void)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
		.insns = (uintptr_t)insns,
		.insn_cnt = sizeof(insns) / sizeof(insns[0]),
		.license = (uintptr_t)"GPL",
	};

	return call(BPF_PROG_LOAD, &attr);
}

/* Each event has a program of its own, as counters have. */
static int attach(const char *event)
{
	int program = load_program();
	union bpf_attr attr = {
		.raw_tracepoint = { .name = (uintptr_t)event, .prog_fd = (uint32_t)program },
	};

	return program < 0 ? -1 : call(BPF_RAW_TRACEPOINT_OPEN, &attr);
}

int main(void)
{
	const struct rlimit no_limit = { RLIM_INFINITY, RLIM_INFINITY };
	glob_t events;

	setrlimit(RLIMIT_MEMLOCK, &no_limit); /* before Linux 5.11 programs are locked memory */
	if (glob(EVENTS, 0, NULL, &events) != 0) {
		fputs("emptybpf: no events of KVM\n", stderr);
		return 1;
	}
	for (size_t i = 0; i < events.gl_pathc; i++) {
		if (attach(strrchr(events.gl_pathv[i], '/') + 1) < 0) {
			perror("emptybpf");
			return 1;
		}
	}
	printf("%zu\n", events.gl_pathc);
	fflush(stdout);
	globfree(&events);
	sleep(LIMIT_S);
	return 0;
}
