// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps the lists of VMs and of their owners, and reads the VMs' counters. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "lib/xalloc.h"
#include "host/machine.h"
#include "host/guest_proc.h"
#include "providers/debugfs/vms.h"
#include "providers/providers.h"

static struct debugfs_vm *find_vm(const struct debugfs_vms *vms, const struct dirent *entry)
{
	struct debugfs_vm *vm = vms->first;

	while (vm && (vm->inode != entry->d_ino || strcmp(vm->name, entry->d_name) != 0))
		vm = vm->next;
	return vm;
}

static void add_vm(struct debugfs_vms *vms, const struct dirent *entry)
{
	struct vm_folder folder;
	struct debugfs_vm *vm;

	if (strlen(entry->d_name) >= sizeof(vm->name) || !vm_folder_parse(entry->d_name, &folder))
		return;
	vm = find_vm(vms, entry);
	if (!vm) {
		vm = xcalloc(1, sizeof(*vm) + vms->nr_counters * sizeof(vm->readings[0]));
		strcpy(vm->name, entry->d_name);
		vm->inode = entry->d_ino;
		vm->pid = folder.creator;
		vm->is_new = true;
		vm->is_late = vms->is_watching;
		LL_PREPEND(vms->first, vm);
	}
	vm->is_there = true;
}

/* Sets is_there of each VM that has a folder. dir NULL: the module was unloaded, there is none. */
static void list_vms(struct debugfs_vms *vms, DIR *dir)
{
	struct dirent *entry;

	for (struct debugfs_vm *vm = vms->first; vm; vm = vm->next)
		vm->is_there = vm->is_new = false;
	while (dir && (entry = readdir(dir)))
		add_vm(vms, entry);
}

static struct debugfs_owner *get_owner(struct debugfs_vms *vms, uint32_t guest)
{
	struct debugfs_owner *owner = vms->owners;

	while (owner && owner->guest != guest)
		owner = owner->next;
	if (owner)
		return owner;
	owner = xcalloc(1, sizeof(*owner) + vms->nr_counters * sizeof(owner->totals[0]));
	owner->guest = guest;
	owner->is_new = owner->is_from_zero = true;
	LL_PREPEND(vms->owners, owner);
	return owner;
}

/* See the header. Lost: a VM from before the first update would make GUEST_NONE jump. */
static void find_owner(struct debugfs_vms *vms, struct debugfs_vm *vm)
{
	const struct guest *guest = NULL;

	if (!vms->is_other_namespace) {
		guest = guests_by_pid(vms->args->guests, vm->pid);
		if (!guest && env_has(vms->args->env, "/proc/%d", (int)vm->pid))
			return;
		vm->is_lost = !guest && !vm->is_new && !vm->is_late;
		if (vm->is_lost)
			return;
	}
	vm->owner = get_owner(vms, guest ? guest->id : GUEST_NONE);
	vm->owner->nr_vms++;
	vm->owner->is_from_zero &= vm->is_late;
}

/* What a VM has counted stays with its owner, which may have other VMs; its levels are gone. */
static void leave_owner(const struct debugfs_vms *vms, struct debugfs_vm *vm)
{
	if (!vm->owner)
		return;
	for (size_t i = 0; i < vms->nr_counters; i++) {
		if (vms->counters[i].kind == FIELD_GAUGE)
			vm->owner->totals[i].value -= vm->readings[i].last;
	}
	vm->owner->nr_vms--;
	vm->owner = NULL;
}

/* If another process holds the VM, its folder remains after the guest; it is no longer counted. */
static void leave_ended_owner(const struct debugfs_vms *vms, struct debugfs_vm *vm)
{
	if (!vm->owner || vm->owner->guest == GUEST_NONE ||
	    guests_by_id(vms->args->guests, vm->owner->guest))
		return;
	leave_owner(vms, vm);
	vm->is_lost = true;
}

static void find_owners(struct debugfs_vms *vms)
{
	for (struct debugfs_vm *vm = vms->first; vm; vm = vm->next) {
		leave_ended_owner(vms, vm);
		if (vm->is_there && !vm->owner && !vm->is_lost)
			find_owner(vms, vm);
	}
}

static void drop_gone_vms(struct debugfs_vms *vms)
{
	struct debugfs_vm *vm, *next;

	LL_FOREACH_SAFE(vms->first, vm, next) {
		if (vm->is_there)
			continue;
		leave_owner(vms, vm);
		LL_DELETE(vms->first, vm);
		free(vm);
	}
}

/*
 * After find_owners(), so that an owner stays if a new VM replaces its old one. The statistics
 * (core/facts/stats.h) keep the counts of a guest that has ended; GUEST_NONE never ends, so it
 * stays without VMs, too.
 */
static void drop_ended_owners(struct debugfs_vms *vms)
{
	struct debugfs_owner *owner, *next;

	LL_FOREACH_SAFE(vms->owners, owner, next) {
		if (owner->nr_vms || owner->guest == GUEST_NONE)
			continue;
		LL_DELETE(vms->owners, owner);
		free(owner);
	}
}

void debugfs_vms_update(struct debugfs_vms *vms, DIR *dir)
{
	list_vms(vms, dir);
	find_owners(vms);
	drop_gone_vms(vms);
	drop_ended_owners(vms);
	vms->is_watching = true;
}

void debugfs_vms_forget(struct debugfs_vms *vms)
{
	struct debugfs_owner *owner, *next;

	for (struct debugfs_vm *vm = vms->first; vm; vm = vm->next)
		vm->is_there = false;
	drop_gone_vms(vms);
	LL_FOREACH_SAFE(vms->owners, owner, next)
		free(owner);
	vms->owners = NULL;
	vms->is_watching = false;
}

/* ---- counters */

bool debugfs_counter_parse(const char *text, uint64_t *ret_value)
{
	const char *at = text + strspn(text, " \t\n");
	bool is_negative = *at == '-';
	unsigned long long value;
	char *end;

	at += is_negative;
	if (!isdigit((unsigned char)*at))
		return false;
	errno = 0;
	value = strtoull(at, &end, 10);
	if (errno || end[strspn(end, " \t\n")])
		return false;
	*ret_value = is_negative ? 0 : value;
	return true;
}

/*
 * Opens the file in the folder, reads and closes it: such a file gives its value once per open. 0
 * or -errno; -EINVAL: not a counter's text.
 */
static int read_counter(int folder, const char *name, uint64_t *ret_value)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC), err;
	char text[64];
	ssize_t len;

	if (fd < 0)
		return -errno;
	len = read(fd, text, sizeof(text) - 1);
	err = len < 0 ? -errno : 0;
	close(fd);
	if (err)
		return err;
	text[len] = '\0';
	return debugfs_counter_parse(text, ret_value) ? 0 : -EINVAL;
}

static void take_vm(const struct debugfs_counter *counter, struct debugfs_reading *reading,
		    struct debugfs_total *total, uint64_t value)
{
	if (counter->kind != FIELD_COUNTER)
		value = kvm_counter_level(value);
	if (counter->kind == FIELD_PEAK)
		total->value = value > total->value ? value : total->value;
	else if (counter->kind == FIELD_COUNTER && value < reading->last) /* it was reset */
		total->value += value;
	else
		total->value += value - reading->last;
	reading->last = value;
	total->is_known = true;
}

/*
 * A file that does not exist leaves the last value: the guest is ending, or its kernel has no such
 * file; in a new folder it may appear later.
 */
static int read_vm(const struct debugfs_vms *vms, int folder, struct debugfs_vm *vm)
{
	for (size_t i = 0; i < vms->nr_counters; i++) {
		const struct debugfs_counter *counter = &vms->counters[i];
		struct debugfs_reading *reading = &vm->readings[i];
		uint64_t value;
		int err;

		if (!counter->is_wanted || reading->is_absent)
			continue;
		err = read_counter(folder, fields_get(vms->args->fields, counter->field)->name,
				   &value);
		if (err == -EPERM || err == -EACCES || descriptors_are_short(err))
			return err;
		if (!err)
			take_vm(counter, reading, &vm->owner->totals[i], value);
		reading->is_absent = err == -ENOENT && !vm->is_new;
	}
	return 0;
}

int debugfs_vms_read(struct debugfs_vms *vms, int top, enum want_scope scope, uint32_t guest)
{
	int err = 0;

	for (struct debugfs_vm *vm = vms->first; !err && vm; vm = vm->next) {
		int folder;

		if (!vm->owner || (scope == WANT_GUEST && vm->owner->guest != guest))
			continue;
		folder = openat(top, vm->name, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (folder < 0 && descriptors_are_short(-errno))
			return -errno;
		if (folder < 0)
			continue;
		err = read_vm(vms, folder, vm);
		close(folder);
	}
	return err;
}
