/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_name - the name of a process that has a VM, and which of its threads are vCPUs.
 *
 * The name comes from the first of these that has one: the option of the command line that names
 * the guest; kvmtool's own default; the id that a platform gave it; the machine scope or libvirt
 * folder in proc(5) cgroup; the command name. Only a process that has a VM gets a name: `find -name
 * x` is not a guest. Any user may have written the input. The name is valid UTF-8, safe to print,
 * without blanks at its ends, and cut between characters to fit.
 *
 * A function that takes a buffer for a name returns false, and does not change the buffer, when it
 * finds no name.
 */
#ifndef KVMTOP_HOST_GUEST_NAME_H
#define KVMTOP_HOST_GUEST_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "host/env.h"
#include "host/platform.h"

#define VM_NAME_SIZE 256 /* libvirt's names are names of files */

struct guest_name {
	char name[VM_NAME_SIZE]; /* never empty */
	char vmm[24];	/* "qemu", "firecracker" ...; the command name where unknown */
	bool is_own;	/* name is the VM's name, not the command's */
	struct guest_words words;
};

/* The name of the process pid, which has a VM. */
struct guest_name guest_name_find(const struct env *env, pid_t pid);

/* The name of a process that has ended; comm: the name of its thread that ran a vCPU. */
struct guest_name guest_name_of_ended(pid_t pid, const char *comm);

/* "qemu" ... for a command (a path or a thread's name of at most 15 bytes); NULL: not known. */
const char *guest_name_vmm(const char *command);

/*
 * Finds the name in the arguments of proc(5) cmdline, each ended by NUL; vmm as above, NULL: any.
 */
bool guest_name_from_cmdline(const char *vmm, const char *cmdline, size_t len, char *ret_name,
			     size_t size);

/* Finds the name in the text of proc(5) cgroup, version 1 or 2. */
bool guest_name_from_cgroup(const char *text, char *ret_name, size_t size);

/* The number of the vCPU that a thread of this name runs; -1: not a vCPU's thread. */
int guest_name_vcpu(const char *comm);

#endif
