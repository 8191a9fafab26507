// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks whether BPF works, and attaches programs to trace events. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/machine.h"
#include "providers/bpf/attach.h"

int bpf_probe(const struct env *env, struct why *why)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd, err;

	err = pid_namespace_check(env, "BPF", why);
	if (err)
		return err;
	fd = bpf_prog_load(BPF_PROG_TYPE_TRACEPOINT, "kvmtop_probe", "GPL", insns, 2, NULL);
	err = fd < 0 ? -errno : 0;
	if (fd >= 0)
		close(fd);
	if (err == -EPERM || err == -EACCES)
		return why_set(why, err, "the kernel allows no BPF: run as root, or grant it: "
					 "setcap cap_bpf,cap_perfmon,cap_dac_read_search,"
					 "cap_sys_ptrace+ep kvmtop");
	if (err)
		return why_set(why, err, "the kernel has no BPF for trace events: %s",
			       strerror(-err));
	return 0;
}

static int be_quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

void bpf_be_quiet(void)
{
	libbpf_set_print(be_quiet);
}

static int take_cpu(void *arg, int cpu)
{
	int *first = arg;

	if (*first < 0)
		*first = cpu;
	return 0;
}

/* The event itself stays disabled: its count would be of one CPU, and is not used. */
int bpf_attach(const struct env *env, uint64_t tracepoint_id, int program)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = tracepoint_id,
		.disabled = 1,
	};
	int cpu = -1, fd, err;

	if (cpus_online(env, take_cpu, &cpu) < 0 || cpu < 0)
		return -EIO;
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, program) == 0)
		return fd;
	err = -errno;
	close(fd);
	return err;
}

uint64_t bpf_missed(int program)
{
	struct bpf_prog_info info = { 0 };
	__u32 size = sizeof(info);

	return bpf_obj_get_info_by_fd(program, &info, &size) == 0 ? info.recursion_misses : 0;
}
