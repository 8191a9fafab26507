/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_name - what a process that holds a VM is called, and which of its threads are vCPUs.
 *
 * The name comes from the first of: the option of the command line with which its VMM is told the
 * name; kvmtool's own default; the machine scope or libvirt folder in proc(5) cgroup; the command
 * name. Only processes known to hold a VM may be asked about: `find -name x` would be a guest else.
 * All input is text that others chose. What comes out is valid UTF-8, safe to print, without blanks
 * at its ends, cut at a character to fit.
 *
 * What takes a buffer for a name returns false, and leaves the buffer alone, when there is none.
 */
#ifndef KVMTOP_HOST_GUEST_NAME_H
#define KVMTOP_HOST_GUEST_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "host/env.h"
#include "host/guest.h"

/* Fills in name, vmm and is_named of a guest whose pid is set. */
void guest_name_find(const struct env *env, struct guest *guest);

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
