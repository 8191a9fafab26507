/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debugfs - KVM's own counters: one small file each in debugfs' folder kvm/PID-FD/ of every VM.
 *
 * Source: virt/kvm/kvm_main.c. The names come from the files beside these folders, which exist
 * without any VM. Their values are not used: they are sums over the present VMs, so they go back
 * when a VM ends.
 *
 * No file stays open. The kernel's files are not seekable and give their value once per open
 * (pread(2) fails with ESPIPE), and an open one keeps its VM, with folder and assigned devices,
 * after the guest has ended.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/xalloc.h"
#include "host/descriptors.h"
#include "host/machine.h"
#include "providers/debugfs/counter.h"
#include "providers/debugfs/vms.h"
#include "providers/debugfs/why_not.h"
#include "providers/kvm_counter.h"
#include "providers/providers.h"

struct debugfs {
	struct provider_args args;
	struct debugfs_counter *counters; /* a parent comes before its children */
	size_t nr_counters;
	enum want_scope scope;
	uint32_t guest;
	struct debugfs_vms vms;
};

/* A descriptor, or -errno with why. */
static int folder_open(const struct env *env, struct why *why)
{
	struct lockdown lockdown = { "" };
	struct statfs fs;
	int fd = -ENOENT;

	if (env->debugfs_kvm)
		fd = open(env->debugfs_kvm, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return debugfs_why_no_folder(env, env->debugfs_kvm ? -errno : fd, why);
	/* Where lockdown is known no counter is tried: the kernel would log that. */
	if (fstatfs(fd, &fs) == 0 && fs.f_type == DEBUGFS_MAGIC)
		lockdown = lockdown_read(env);
	if (!lockdown.level[0])
		return fd;
	close(fd);
	return debugfs_why_locked(&lockdown, why);
}

static void add_field(struct debugfs *debugfs, const char *name, mode_t mode)
{
	const struct provider_args *args = &debugfs->args;
	/* In the kernel only counters can be written (reset); copied files may have any mode. */
	bool is_level = !(mode & 0222) && !env_is_captured(args->env);
	uint32_t id;

	kvm_counter_add(args, name, is_level ? FIELD_GAUGE : FIELD_COUNTER, 0, &id);
	if (id == FIELD_NONE)
		return;
	debugfs->counters[debugfs->nr_counters++] = (struct debugfs_counter){
		.field = id,
		.kind = fields_get(args->fields, id)->kind,
		.is_writable = mode & 0222,
	};
}

/* Adds the counters that are parts of another one (is_children), or the others. */
static void add_fields(struct debugfs *debugfs, int folder, struct dirent **names, int nr,
		       bool is_children)
{
	const struct env *env = debugfs->args.env;

	for (int i = 0; i < nr; i++) {
		const char *name = names[i]->d_name;
		struct stat st;

		if (kvm_counter_is_child(env, name) != is_children ||
		    fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
			continue;
		add_field(debugfs, name, st.st_mode);
	}
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int find_fields(struct debugfs *debugfs, int folder, struct why *why)
{
	const struct env *env = debugfs->args.env;
	struct dirent **names;
	int nr = scandir(env->debugfs_kvm, &names, NULL, by_name);

	if (nr < 0)
		return debugfs_why_no_folder(env, -errno, why);
	debugfs->counters = xcalloc((size_t)nr + 1, sizeof(*debugfs->counters));
	add_fields(debugfs, folder, names, nr, false);
	add_fields(debugfs, folder, names, nr, true);
	for (int i = 0; i < nr; i++)
		free(names[i]);
	free(names);
	return debugfs->nr_counters ? 0 : debugfs_why_no_folder(env, -ENOENT, why);
}

static const char *name_of(const struct debugfs *debugfs, const struct debugfs_counter *counter)
{
	return fields_get(debugfs->args.fields, counter->field)->name;
}

/* The counter that shows whether we may read: `exits`, or the first that lockdown forbids. */
static const struct debugfs_counter *find_trial(const struct debugfs *debugfs)
{
	const struct debugfs_counter *trial = NULL;

	for (size_t i = 0; i < debugfs->nr_counters; i++) {
		const struct debugfs_counter *counter = &debugfs->counters[i];

		if (strcmp(name_of(debugfs, counter), "exits") == 0)
			return counter;
		if (!trial && counter->is_writable)
			trial = counter;
	}
	return trial ? trial : debugfs->counters;
}

static int check_readable(const struct debugfs *debugfs, int folder, struct why *why)
{
	const char *name = name_of(debugfs, find_trial(debugfs));
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	char path[PATH_MAX];
	int err = -errno;

	if (fd >= 0) {
		close(fd);
		return 0;
	}
	snprintf(path, sizeof(path), "%s/%s", debugfs->args.env->debugfs_kvm, name);
	return debugfs_why_unreadable(debugfs->args.env, path, err, why);
}

static bool is_anything_wanted(const struct debugfs *debugfs)
{
	for (size_t i = 0; i < debugfs->nr_counters; i++) {
		if (debugfs->counters[i].is_wanted)
			return true;
	}
	return false;
}

static int debugfs_want(void *opened, const struct want *want, struct why *why)
{
	struct debugfs *debugfs = opened;

	for (size_t i = 0; i < debugfs->nr_counters; i++) {
		struct debugfs_counter *counter = &debugfs->counters[i];

		counter->is_wanted = field_set_has(&want->fields, counter->field);
	}
	debugfs->scope = want->scope;
	debugfs->guest = want->guest;
	if (debugfs->vms.is_other_namespace && is_anything_wanted(debugfs))
		why_set(why, 0,
			"debugfs has the pids of another pid namespace: its counters are "
			"not by guest; run in the host's");
	return 0;
}

static bool is_in_scope(const struct debugfs *debugfs, const struct debugfs_owner *owner)
{
	return owner && (debugfs->scope != WANT_GUEST || owner->guest == debugfs->guest);
}

static void take(const struct debugfs_counter *counter, struct debugfs_vm *vm, size_t i,
		 uint64_t value)
{
	struct debugfs_reading *reading = &vm->readings[i];

	if (counter->kind == FIELD_COUNTER && value < reading->last)
		vm->owner->totals[i].kept += reading->last; /* it was reset */
	if (counter->kind != FIELD_COUNTER)
		value = kvm_counter_level(value);
	reading->last = value;
	reading->is_known = true;
}

/*
 * A file that does not exist leaves the last value: the guest is ending, or its kernel has no such
 * file; in a new folder it may appear later. Returns only errors that reading any other file would
 * meet, too.
 */
static int read_vm(const struct debugfs *debugfs, int folder, struct debugfs_vm *vm)
{
	for (size_t i = 0; i < debugfs->nr_counters; i++) {
		const struct debugfs_counter *counter = &debugfs->counters[i];
		struct debugfs_reading *reading = &vm->readings[i];
		uint64_t value;
		int err;

		if (!counter->is_wanted || reading->is_absent)
			continue;
		err = counter_read(folder, name_of(debugfs, counter), &value);
		if (err == -EPERM || err == -EACCES || descriptors_are_short(err))
			return err;
		if (!err)
			take(counter, vm, i, value);
		reading->is_absent = err == -ENOENT && !vm->is_new;
	}
	return 0;
}

static int read_vms(const struct debugfs *debugfs, int top)
{
	int err = 0;

	for (struct debugfs_vm *vm = debugfs->vms.first; !err && vm; vm = vm->next) {
		int folder;

		if (!is_in_scope(debugfs, vm->owner))
			continue;
		folder = openat(top, vm->name, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (folder < 0 && descriptors_are_short(-errno))
			return -errno;
		if (folder < 0)
			continue;
		err = read_vm(debugfs, folder, vm);
		close(folder);
	}
	return err;
}

static void add_up(const struct debugfs *debugfs)
{
	for (struct debugfs_owner *owner = debugfs->vms.owners; owner; owner = owner->next) {
		for (size_t i = 0; i < debugfs->nr_counters; i++)
			owner->totals[i].now = 0;
	}
	for (const struct debugfs_vm *vm = debugfs->vms.first; vm; vm = vm->next) {
		for (size_t i = 0; vm->owner && i < debugfs->nr_counters; i++) {
			struct debugfs_total *total = &vm->owner->totals[i];

			if (!vm->readings[i].is_known)
				continue;
			total->now = debugfs_combine(debugfs->counters[i].kind, total->now,
						     vm->readings[i].last);
			total->is_known = true;
		}
	}
}

static void add_rows(const struct debugfs *debugfs, const struct debugfs_owner *owner,
		     struct sample *sample)
{
	bool is_from_zero = (owner->is_new && owner->is_from_zero) ||
			    debugfs->args.env->include_past;
	uint32_t flags = is_from_zero ? ROW_FROM_ZERO : 0;

	for (size_t i = 0; i < debugfs->nr_counters; i++) {
		const struct debugfs_counter *counter = &debugfs->counters[i];
		const struct debugfs_total *total = &owner->totals[i];
		struct key key = { owner->guest, -1, counter->field };
		uint64_t count = debugfs_combine(counter->kind, total->kept, total->now);

		if (counter->is_wanted && total->is_known)
			sample_add(sample, key, count, flags);
	}
}

/* Brings VMs, owners and readings up to date. */
static int read_all(struct debugfs *debugfs, uint64_t *ret_time_ns, struct why *why)
{
	const char *path = debugfs->args.env->debugfs_kvm;
	DIR *dir = opendir(path);
	int err = dir || errno == ENOENT ? 0 : -errno;

	if (!err) {
		debugfs_vms_update(&debugfs->vms, dir);
		*ret_time_ns = clock_now_ns();
		err = read_vms(debugfs, dir ? dirfd(dir) : -1);
	}
	if (dir)
		closedir(dir);
	if (!err)
		return 0;
	err = debugfs_why_unreadable(debugfs->args.env, path, err, why);
	return descriptors_are_short(err) ? -EAGAIN : err;
}

static int debugfs_collect(void *opened, struct sample *sample, struct why *why)
{
	struct debugfs *debugfs = opened;
	struct debugfs_owner *owner;
	uint64_t time_ns = clock_now_ns();
	int err = 0;

	if (is_anything_wanted(debugfs))
		err = read_all(debugfs, &time_ns, why);
	else
		debugfs_vms_forget(&debugfs->vms);
	if (err)
		return err;
	sample->time_ns[debugfs->args.source] = time_ns;
	add_up(debugfs);
	for (owner = debugfs->vms.owners; owner; owner = owner->next) {
		if (is_in_scope(debugfs, owner))
			add_rows(debugfs, owner, sample);
		owner->is_new = false;
	}
	return 0;
}

static void debugfs_close(void *opened)
{
	struct debugfs *debugfs = opened;

	if (!debugfs)
		return;
	debugfs_vms_forget(&debugfs->vms);
	free(debugfs->counters);
	free(debugfs);
}

static int debugfs_open(const struct provider_args *args, void **ret_state, struct why *why)
{
	int folder = folder_open(args->env, why);
	struct debugfs *debugfs;
	int err;

	if (folder < 0)
		return folder;
	debugfs = xcalloc(1, sizeof(*debugfs));
	debugfs->args = *args;
	err = find_fields(debugfs, folder, why);
	debugfs->vms = (struct debugfs_vms){
		.args = &debugfs->args,
		.counters = debugfs->counters,
		.nr_counters = debugfs->nr_counters,
		.is_other_namespace = pid_namespace_is_other(args->env),
	};
	if (!err)
		err = check_readable(debugfs, folder, why);
	if (err)
		debugfs_close(debugfs);
	else
		*ret_state = debugfs;
	close(folder);
	return err;
}

const struct provider debugfs_provider = {
	.name = "debugfs",
	.help = "KVM's own counters in debugfs, by guest; root only, none under lockdown",
	.is_always_by_guest = true,
	.open = debugfs_open,
	.want = debugfs_want,
	.collect = debugfs_collect,
	.close = debugfs_close,
};
