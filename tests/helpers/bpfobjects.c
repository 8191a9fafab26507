/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpfobjects - prints the programs, maps, links and type tables of BPF that the kernel has, a line
 * each: "prog_id 12", as fdinfo calls them. For the shell tests. Exit status: 1 failure.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	enum bpf_cmd next;
	const char *name;
} kinds[] = {
	{ BPF_PROG_GET_NEXT_ID, "prog_id" },
	{ BPF_MAP_GET_NEXT_ID, "map_id" },
	{ BPF_LINK_GET_NEXT_ID, "link_id" },
	{ BPF_BTF_GET_NEXT_ID, "btf_id" },
};

int main(void)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		union bpf_attr attr = { .start_id = 0 };

		while (syscall(SYS_bpf, kinds[i].next, &attr, sizeof(attr)) == 0) {
			printf("%s %u\n", kinds[i].name, attr.next_id);
			attr.start_id = attr.next_id;
		}
		if (errno != ENOENT) {
			perror("bpfobjects");
			return 1;
		}
	}
	return 0;
}
