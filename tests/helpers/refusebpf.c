// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs a program on a kernel that lets BPF be probed and then refuses ours, as Linux 5.4 does: a
 * program without maps can be loaded, but no map can be made.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of an argument: on big-endian machines it is the second word. */
#define LOWER_HALF (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0)

static struct sock_filter filter[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 0, 3),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + LOWER_HALF),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, BPF_MAP_CREATE, 0, 1),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

int main(int argc, char **argv)
{
	const struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	if (argc < 2)
		return 2;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0) {
		perror("seccomp");
		return 77;
	}
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 1;
}
