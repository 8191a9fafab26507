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
#include "host/machine.h"
#include "providers/debugfs/vms.h"
#include "providers/providers.h"

struct debugfs {
	struct provider_args args;
	struct debugfs_counter *counters; /* a parent comes before its children */
	size_t nr_counters;
	enum want_scope scope;
	uint32_t guest;
	struct debugfs_vms vms;
};

/* ---- why counters cannot be read: each returns -errno, and lockdown is always -EPERM */

static int why_locked(const struct lockdown *lockdown, struct error *error)
{
	bool is_all = strcmp(lockdown->level, "confidentiality") == 0;

	return error_set(error, -EPERM, "debugfs counters are blocked by kernel lockdown (%s): %s",
			 lockdown->level,
			 is_all ? "so are tracepoints: boot with "
				"lockdown=integrity" : "use tracepoints");
}

/* err: the -errno of opening path. */
static int why_unreadable(const struct env *env, const char *path, int err, struct error *error)
{
	bool is_forbidden = err == -EPERM || err == -EACCES;
	struct lockdown lockdown = { "" };

	if (is_forbidden)
		lockdown = lockdown_read(env);
	if (lockdown.level[0])
		return why_locked(&lockdown, error);
	if (is_forbidden)
		return error_set(error, -EPERM, "cannot read %s: %s: %s", path, strerror(-err),
				 err == -EPERM ? "probably because of kernel lockdown: use "
					       "tracepoints" :
					       "root is needed");
	return error_set(error, err, "cannot read %s: %s%s", path, strerror(-err),
			 err == -EMFILE ? ": raise the limit with ulimit -n" : "");
}

/* The folder kvm does not exist, or may not be entered: debugfs has the mode 0700 by default. */
static int why_no_folder(const struct env *env, int err, struct error *error)
{
	const char *path = env->debugfs_kvm;
	char debugfs[PATH_MAX];

	if (!path) {
		path = env_path(env, debugfs, sizeof(debugfs), "/sys/kernel/debug");
		err = euidaccess(path, X_OK) < 0 && errno == EACCES ? -EACCES : -ENOENT;
	}
	if (err != -ENOENT)
		return why_unreadable(env, path, err, error);
	return error_set(error, err, "no debugfs counters: %s%s: %s%s", path,
			 env->debugfs_kvm ? " has none" : "/kvm is missing",
			 kvm_is_loaded(env) ? "KVM is there" : "load the kvm module",
			 env->debugfs_kvm ? "" : ", mount debugfs");
}

/* ---- fields */

/* A descriptor, or -errno with error. */
static int folder_open(const struct env *env, struct error *error)
{
	struct lockdown lockdown = { "" };
	struct statfs fs;
	int fd = -ENOENT;

	if (env->debugfs_kvm)
		fd = open(env->debugfs_kvm, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return why_no_folder(env, env->debugfs_kvm ? -errno : fd, error);
	/* Where lockdown is known no counter is tried: the kernel would log that. */
	if (fstatfs(fd, &fs) == 0 && fs.f_type == DEBUGFS_MAGIC)
		lockdown = lockdown_read(env);
	if (!lockdown.level[0])
		return fd;
	close(fd);
	return why_locked(&lockdown, error);
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

static int find_fields(struct debugfs *debugfs, int folder, struct error *error)
{
	const struct env *env = debugfs->args.env;
	struct dirent **names;
	int nr = scandir(env->debugfs_kvm, &names, NULL, by_name);

	if (nr < 0)
		return why_no_folder(env, -errno, error);
	debugfs->counters = xcalloc((size_t)nr + 1, sizeof(*debugfs->counters));
	add_fields(debugfs, folder, names, nr, false);
	add_fields(debugfs, folder, names, nr, true);
	for (int i = 0; i < nr; i++)
		free(names[i]);
	free(names);
	return debugfs->nr_counters ? 0 : why_no_folder(env, -ENOENT, error);
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

static int check_readable(const struct debugfs *debugfs, int folder, struct error *error)
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
	return why_unreadable(debugfs->args.env, path, err, error);
}

static bool is_anything_wanted(const struct debugfs *debugfs)
{
	for (size_t i = 0; i < debugfs->nr_counters; i++) {
		if (debugfs->counters[i].is_wanted)
			return true;
	}
	return false;
}

static int debugfs_want(void *opened, const struct want *want, struct error *error)
{
	struct debugfs *debugfs = opened;

	for (size_t i = 0; i < debugfs->nr_counters; i++) {
		struct debugfs_counter *counter = &debugfs->counters[i];

		counter->is_wanted = field_set_has(&want->fields, counter->field);
	}
	debugfs->scope = want->scope;
	debugfs->guest = want->guest;
	if (debugfs->vms.is_other_namespace && is_anything_wanted(debugfs))
		error_set(error, 0,
			  "debugfs has the pids of another pid namespace: its counters are "
			  "not by guest; run in the host's");
	return 0;
}

static void add_rows(const struct debugfs *debugfs, const struct debugfs_owner *owner,
		     struct sample *sample)
{
	bool is_from_zero = (owner->is_new && owner->is_from_zero) ||
			    debugfs->args.options.include_past;
	uint32_t flags = is_from_zero ? ROW_FROM_ZERO : 0;

	for (size_t i = 0; i < debugfs->nr_counters; i++) {
		const struct debugfs_counter *counter = &debugfs->counters[i];
		const struct debugfs_total *total = &owner->totals[i];
		struct key key = { owner->guest, -1, counter->field };

		if (counter->is_wanted && total->is_known)
			sample_add(sample, key, total->value, flags);
	}
}

/* Brings VMs, owners and readings up to date. */
static int read_all(struct debugfs *debugfs, uint64_t *ret_time_ns, struct error *error)
{
	const char *path = debugfs->args.env->debugfs_kvm;
	DIR *dir = opendir(path);
	int err = dir || errno == ENOENT ? 0 : -errno;

	if (!err) {
		debugfs_vms_update(&debugfs->vms, dir);
		*ret_time_ns = clock_now_ns();
		err = debugfs_vms_read(&debugfs->vms, dir ? dirfd(dir) : -1, debugfs->scope,
				       debugfs->guest);
	}
	if (dir)
		closedir(dir);
	if (!err)
		return 0;
	err = why_unreadable(debugfs->args.env, path, err, error);
	return descriptors_are_short(err) ? -EAGAIN : err;
}

static int debugfs_collect(void *opened, struct sample *sample, struct error *error)
{
	struct debugfs *debugfs = opened;
	struct debugfs_owner *owner;
	uint64_t time_ns = clock_now_ns();
	int err = 0;

	if (is_anything_wanted(debugfs))
		err = read_all(debugfs, &time_ns, error);
	else
		debugfs_vms_forget(&debugfs->vms);
	if (err)
		return err;
	sample->time_ns[debugfs->args.source] = time_ns;
	for (owner = debugfs->vms.owners; owner; owner = owner->next) {
		if (debugfs->scope != WANT_GUEST || owner->guest == debugfs->guest)
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

static int debugfs_open(const struct provider_args *args, void **ret_state, struct error *error)
{
	int folder = folder_open(args->env, error);
	struct debugfs *debugfs;
	int err;

	if (folder < 0)
		return folder;
	debugfs = xcalloc(1, sizeof(*debugfs));
	debugfs->args = *args;
	err = find_fields(debugfs, folder, error);
	debugfs->vms = (struct debugfs_vms){
		.args = &debugfs->args,
		.counters = debugfs->counters,
		.nr_counters = debugfs->nr_counters,
		.is_other_namespace = pid_namespace_is_other(args->env),
	};
	if (!err)
		err = check_readable(debugfs, folder, error);
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
