/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_name - the name of a process that has a VM, what a platform calls the guest, and which of
 * the process' threads are vCPUs.
 *
 * The name comes from the first of these that has one: the option of the command line that names
 * the guest; kvmtool's own default; the id that a platform gave it; the machine scope, libvirt
 * folder or unit ("web1" of firecracker@web1.service) in proc(5) cgroup; the command name. Only a
 * process that has a VM gets a name: `find -name x` is not a guest. Any user may have written the
 * input. The name is valid UTF-8, safe to print, without blanks at its ends, and cut between
 * characters to fit.
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

/*
 * ---- words: what a platform calls a guest, beside the name that its VMM has: libvirt, OpenStack,
 * Proxmox, KubeVirt, Kata and others.
 *
 * The words come from the VMM's arguments, its root folder, its cgroup and the file that libvirt
 * keeps of a running domain: no daemon is asked. They are found once, when the guest is found.
 * Words are as names are: safe to print, and cut to fit.
 */

#define WORD_SIZE 128 /* a name of Kubernetes has at most 63 bytes in nearly all objects */

enum guest_word {
	WORD_UUID,    /* 36 characters in lower case */
	WORD_ID,      /* Proxmox' number; Kata's or gVisor's sandbox; the name of its folder */
	WORD_TITLE,   /* libvirt's title; its name in Nova or KubeVirt; never the VMM's name */
	WORD_PROJECT, /* of Nova or Incus; in Kubernetes the namespace */
	WORD_FLAVOR,  /* Nova's */
	WORD_POD,     /* the UID of its pod in Kubernetes, as the UUID */
	GUEST_WORDS,
};

/* The words of one guest; "": it has none of the kind. */
struct guest_words {
	char text[GUEST_WORDS][WORD_SIZE];
};

/* What a word is called as a label, and as a column. */
extern const char *const guest_word_names[GUEST_WORDS];

/* Sets the words that are in the arguments of proc(5) cmdline. */
void words_of_cmdline(const char *cmdline, size_t len, struct guest_words *words);

/* Sets the pod, if the text of proc(5) cgroup has one. */
void words_of_cgroup(const char *text, struct guest_words *words);

/* Sets the words that libvirt's file of a running domain has, if the domain is this process. */
void words_of_domain(const char *text, size_t len, pid_t pid, struct guest_words *words);

/*
 * Sets the words of a guest that is known by name: KubeVirt's, if it has a pod, and the ones in
 * libvirt's file of this name. Firecracker's jailer gives the id. A title that is the name goes.
 */
void words_of_name(const struct env *env, pid_t pid, const char *vmm, const char *name,
		   struct guest_words *words);

/* ---- the name */

#define VM_NAME_SIZE 256 /* libvirt's names are names of files */

struct guest_name {
	char name[VM_NAME_SIZE]; /* never empty */
	/* "qemu", "firecracker" ...; the command's name where that is not known; "": nor is this */
	char vmm[24];
	bool is_own;	/* name is the VM's name, not the command's */
	bool is_late;	/* the process does not let its command be read now: "pid-N" */
	struct guest_words words;
};

/* The name of the process pid, which has a VM. */
struct guest_name guest_name_find(const struct env *env, pid_t pid);

/*
 * The name of a process that has ended; comm: the name of its thread that ran a vCPU; cmdline: len
 * bytes of its arguments, as far as they are known.
 */
struct guest_name guest_name_of_ended(pid_t pid, const char *comm, const char *cmdline, size_t len);

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

/* Whether a thread of this name is vhost's: "vhost-4110". */
bool guest_name_is_vhost(const char *comm);

/*
 * The name of a thread as it is shown: utf8_clean() of at most len bytes, up to a NUL, without a
 * number at its end that may be a pid, "vhost" of "vhost-4110". "": nothing is left.
 */
void guest_name_thread(const char *comm, size_t len, char *ret_name, size_t size);

/* The VMM of a thread of the kernel, "vhost-4110" or "kvm-pit/4110"; 0: the name has none. */
pid_t guest_name_vmm_pid(const char *comm);

/*
 * ---- arguments: walks over those of a process, the text of proc(5) cmdline, in which a NUL ends
 * each.
 */

/* What is left of the text. */
struct args {
	const char *at, *end;
};

/* Takes the next argument. False: there is none. */
bool args_next(struct args *args, const char **ret_arg, size_t *ret_len);

/*
 * Where the value of the option begins: 0: it is the next argument; > 0: the offset in this one,
 * after "OPTION="; -1: this is another option.
 */
int args_value_at(const char *option, const char *arg, size_t len);

/* Walks to the option, and takes its value. False: the option does not follow. */
bool args_value(struct args *args, const char *option, const char **ret_value, size_t *ret_len);

/*
 * Takes the next part off the value *pos of the form key=value,key=value, with doubled commas made
 * single. Returns its length, at most size.
 */
size_t args_part(const char **pos, const char *end, char *part, size_t size);

#endif
