/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vms - the VMs that debugfs has folders of, whose they are, and what was read of them.
 *
 * Whose a VM is, the inventory says. One that it does not know yet waits for it, and loses nothing
 * by that. One that it can never know, because PID is of another pid namespace or was a thread that
 * ended before we came, is counted under GUEST_ANY: the host's sums stay whole.
 */
#ifndef KVMTOP_PROVIDERS_DEBUGFS_VMS_H
#define KVMTOP_PROVIDERS_DEBUGFS_VMS_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "facts/field.h"
#include "providers/provider.h"

struct debugfs_counter {
	uint32_t field;
	enum field_kind kind;
	bool is_writable; /* which is what lockdown objects to, even when it is only read */
	bool is_wanted;
};

/* What a VM said of a counter. */
struct debugfs_reading {
	uint64_t last;
	bool is_known;
	bool is_absent; /* its kernel has no such file: not tried again */
};

/* What the VMs of a guest say of a counter together. */
struct debugfs_total {
	uint64_t now;
	uint64_t kept; /* of VMs that are gone, and of counters before somebody reset them */
	bool is_known;
};

/* A guest, or GUEST_ANY, that has VMs. */
struct debugfs_owner {
	struct debugfs_owner *next;
	uint32_t guest;
	size_t nr_vms;
	bool is_new;	   /* since this update, */
	bool is_from_zero; /* and its VMs too */
	struct debugfs_total totals[]; /* as the counters */
};

struct debugfs_vm {
	struct debugfs_vm *next;
	char name[32]; /* its folder's */
	ino_t inode;   /* tells it from the next VM of that name */
	pid_t pid;
	struct debugfs_owner *owner; /* NULL: not known yet or no more */
	bool is_there;
	bool is_new;  /* in this update */
	bool is_late; /* began since the update before the one that found it */
	bool is_lost; /* will never have an owner */
	struct debugfs_reading readings[]; /* as the counters */
};

/* Zero-initialised, but for the first four, is none. */
struct debugfs_vms {
	const struct provider_site *site;
	const struct debugfs_counter *counters; /* neither these nor their number change any more */
	size_t nr_counters;
	bool is_other_namespace; /* pids in debugfs are not those of our /proc */
	bool is_watching;	 /* an update has known all VMs there were */
	struct debugfs_vm *first;
	struct debugfs_owner *owners;
};

/*
 * Brings VMs and owners up to date with debugfs' folder kvm; NULL: the module was unloaded, and
 * there are none. What was read of VMs that are gone stays with their owners. 0 or -ENOMEM.
 */
int debugfs_vms_update(struct debugfs_vms *vms, DIR *dir);

/* Drops all of them. */
void debugfs_vms_forget(struct debugfs_vms *vms);

/* Two values as one: counts add up, levels too, of peaks the highest counts. */
uint64_t debugfs_combine(enum field_kind kind, uint64_t a, uint64_t b);

#endif
