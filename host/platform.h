/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * platform - what a platform calls a guest, beside the name that its VMM has: libvirt, OpenStack,
 * Proxmox, KubeVirt, Kata and others.
 *
 * The words come from the VMM's arguments, its root folder, its cgroup and the file that libvirt
 * keeps of a running domain: no daemon is asked. They are found once, when the guest is found.
 * Words are as names are (host/guest_name.h): safe to print, and cut to fit.
 */
#ifndef KVMTOP_HOST_PLATFORM_H
#define KVMTOP_HOST_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "host/env.h"

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

#endif
