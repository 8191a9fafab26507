/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_name - what a process that holds a VM is called, and which of its threads are vCPUs.
 *
 * The name comes from the first of: the option of the command line that gives its VMM the name;
 * kvmtool's own default; the machine scope or libvirt folder in proc(5) cgroup; the command name.
 * It is looked for only in processes that hold a VM: `find -name x` is not a guest. All input is
 * text that others chose. The name is valid UTF-8, safe to print, without blanks at its ends, and
 * cut at a character to fit.
 *
 * A function that takes a buffer for a name returns false, and leaves the buffer alone, when it
 * finds none.
 */
#ifndef KVMTOP_HOST_GUEST_NAME_H
#define KVMTOP_HOST_GUEST_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "host/env.h"

struct guest_name {
	char name[64];	/* never empty */
	char vmm[24];	/* "qemu", "firecracker" ...; the command name where unknown */
	bool is_own;	/* name is the VM's own, not just the command's */
};

/* The name of the process pid, which holds a VM. */
struct guest_name guest_name_find(const struct env *env, pid_t pid);

/* "qemu" ... for a command (a path or a thread's name of at most 15 bytes); NULL: not known. */
const char *guest_name_vmm(const char *command);

/* By the arguments of proc(5) cmdline, each ended by NUL; vmm as above, NULL: any. */
bool guest_name_from_cmdline(const char *vmm, const char *cmdline, size_t len, char *ret_name,
			     size_t size);

/* By the text of proc(5) cgroup, version 1 or 2. */
bool guest_name_from_cgroup(const char *text, char *ret_name, size_t size);

/* The number of the vCPU that a thread of this name runs; -1: not a vCPU's thread. */
int guest_name_vcpu(const char *comm);

#endif
