/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vms - the VMs that debugfs has folders of, their owners, and their counters as read last.
 *
 * The owner of a VM is its guest in the inventory. A VM without a guest there is read as soon as
 * the guest is found, and no count is lost. If the guest can never be found, because PID is of
 * another pid namespace or is a thread that ended before kvmtop started, the owner is GUEST_NONE,
 * so that the sums of the host are complete.
 */
#ifndef KVMTOP_PROVIDERS_DEBUGFS_VMS_H
#define KVMTOP_PROVIDERS_DEBUGFS_VMS_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/facts/field.h"
#include "core/provider.h"

struct debugfs_counter {
	uint32_t field;
	enum field_kind kind;
	bool is_writable; /* lockdown forbids even to read writable files */
	bool is_wanted;
};

/* A counter of a VM. */
struct debugfs_reading {
	uint64_t last;
	bool is_absent; /* there is no such file: it is not tried again */
};

/*
 * A counter of an owner: of all VMs that it has or had. A counter adds up what each VM has counted
 * since it was read before, so it never goes back; a level is the sum of the present ones; a peak
 * is the highest ever read.
 */
struct debugfs_total {
	uint64_t value;
	bool is_known;
};

/* A guest, or GUEST_NONE, that has VMs. */
struct debugfs_owner {
	struct debugfs_owner *next;
	uint32_t guest;
	size_t nr_vms;
	bool is_new;	   /* found by this update */
	bool is_from_zero; /* all its VMs are late: its first row counts from zero */
	struct debugfs_total totals[]; /* as the counters */
};

struct debugfs_vm {
	struct debugfs_vm *next;
	char name[32]; /* the folder's */
	ino_t inode;   /* of the folder: the next VM of the same name has another */
	pid_t pid;
	struct debugfs_owner *owner; /* NULL: not known yet, or it has ended */
	bool is_there;
	bool is_new;  /* in this update */
	bool is_late; /* created after the first update */
	bool is_lost; /* will never have an owner */
	struct debugfs_reading readings[]; /* as the counters */
};

/* No VMs: the first four members are set, the others are 0. */
struct debugfs_vms {
	const struct provider_args *args;
	const struct debugfs_counter *counters; /* neither these nor their number change any more */
	size_t nr_counters;
	bool is_other_namespace; /* pids in debugfs are not our /proc's */
	bool is_watching;	 /* there was an update: VMs found later are late */
	struct debugfs_vm *first;
	struct debugfs_owner *owners;
};

/*
 * Brings VMs and owners up to date with debugfs' folder kvm; NULL: the module was unloaded, so
 * there are none.
 */
void debugfs_vms_update(struct debugfs_vms *vms, DIR *dir);

/*
 * Reads the wanted counters of all VMs of a guest, or of each owner; top is the folder kvm. 0, or
 * -errno: reading any other file would fail, too.
 */
int debugfs_vms_read(struct debugfs_vms *vms, int top, enum want_scope scope, uint32_t guest);

/* Drops all of them. */
void debugfs_vms_forget(struct debugfs_vms *vms);

/* The decimal number of a counter's text, a negative one as 0. False: it is something else. */
bool debugfs_counter_parse(const char *text, uint64_t *ret_value);

#endif
