/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debugfs - KVM's own counters: one small file each in debugfs' folder kvm/PID-FD/ of every VM.
 *
 * Source: virt/kvm/kvm_main.c. The names come from the files beside those folders, which are there
 * without any VM. Their values are not used: sums over the VMs there are, less when one ends.
 *
 * No file stays open. The kernel's are not seekable and tell their value once per open (pread(2) is
 * ESPIPE), and an open one keeps its VM, with folder and assigned devices, after the guest ended.
 *
 * Whose a VM is, the inventory says. One that it does not know yet waits for it, and loses nothing
 * by that. One that it can never know, because PID is of another pid namespace or was a thread that
 * ended before we came, is counted under GUEST_ANY: the host's sums stay whole.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "arch/arch.h"
#include "clock.h"
#include "guest_proc.h"
#include "providers/debugfs_counter.h"
#include "providers/provider.h"

#define INIT_PID_NAMESPACE "pid:[4026531836]" /* linux/proc_ns.h: PROC_PID_INIT_INO */

struct counter {
	uint32_t field;
	enum field_kind kind;
	bool is_writable; /* which is what lockdown objects to, even when it is only read */
	bool is_wanted;
};

/* What a VM said of a counter. */
struct reading {
	uint64_t last;
	bool is_known;
	bool is_absent; /* its kernel has no such file: not tried again */
};

/* What the VMs of a guest say of a counter together. */
struct total {
	uint64_t now;
	uint64_t kept; /* of VMs that are gone, and of counters before somebody reset them */
	bool is_known;
};

/* A guest, or GUEST_ANY, that has VMs. */
struct owner {
	struct owner *next;
	uint32_t guest;
	size_t nr_vms;
	bool is_new;	   /* since this collect, */
	bool is_from_zero; /* and its VMs too */
	struct total totals[]; /* as state->counters */
};

struct vm {
	struct vm *next;
	char name[32]; /* its folder's */
	ino_t inode;   /* tells it from the next VM of that name */
	pid_t pid;
	struct owner *owner; /* NULL: not known yet or no more */
	bool is_there;
	bool is_new;  /* in this collect */
	bool is_late; /* began since the collect before the one that found it */
	bool is_lost; /* will never have an owner */
	struct reading readings[]; /* as state->counters */
};

struct state {
	struct provider_site site;
	struct counter *counters; /* a parent comes before its children */
	size_t nr_counters;
	enum want_scope scope;
	uint32_t guest;
	bool is_other_namespace; /* pids in debugfs are not those of our /proc */
	bool is_watching;	 /* the collect before this one knew all VMs */
	struct vm *vms;
	struct owner *owners;
};

/* "integrity", or "" where nothing is locked down. */
static void lockdown_level(const struct env *env, char *ret_level, size_t size)
{
	char path[PATH_MAX], text[128] = "";
	const char *start;

	env_path(env, path, sizeof(path), "/sys/kernel/security/lockdown");
	env_read(path, text, sizeof(text));
	start = strchr(text, '[');
	if (!start || strncmp(start, "[none]", 6) == 0)
		start = "[";
	snprintf(ret_level, size, "%.*s", (int)strcspn(start + 1, "]\n"), start + 1);
}

static int why_locked(const char *level, struct why *why)
{
	bool is_all = strcmp(level, "confidentiality") == 0;

	return why_set(why, -EPERM, "debugfs counters are blocked by kernel lockdown (%s): %s",
		       level, is_all ? "so are tracepoints: boot with less" : "use tracepoints");
}

static int why_unreadable(const struct env *env, const char *path, int err, struct why *why)
{
	bool is_forbidden = err == -EPERM || err == -EACCES;
	char level[32] = "";

	if (is_forbidden)
		lockdown_level(env, level, sizeof(level));
	if (level[0])
		return why_locked(level, why);
	if (is_forbidden)
		return why_set(why, -EPERM, "cannot read %s: %s: %s", path, strerror(-err),
			       err == -EPERM ? "kernel lockdown, it seems: use tracepoints" :
					       "root is needed");
	return why_set(why, err, "cannot read %s: %s", path, strerror(-err));
}

/* There is no folder, or none that we are let into: 0700 is usual for debugfs. */
static int why_no_folder(const struct env *env, int err, struct why *why)
{
	const char *path = env->debugfs_kvm;
	char debugfs[PATH_MAX];

	if (!path) {
		path = env_path(env, debugfs, sizeof(debugfs), "/sys/kernel/debug");
		err = euidaccess(path, X_OK) < 0 && errno == EACCES ? -EACCES : -ENOENT;
	}
	if (err != -ENOENT)
		return why_unreadable(env, path, err, why);
	return why_set(why, err, "no debugfs counters: %s%s: load the kvm module%s", path,
		       env->debugfs_kvm ? " has none" : "/kvm is missing",
		       env->debugfs_kvm ? "" : ", mount debugfs");
}

static int folder_open(const struct env *env)
{
	int fd;

	if (!env->debugfs_kvm)
		return -ENOENT;
	fd = open(env->debugfs_kvm, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return fd;
}

/* Looks at no counter, for under lockdown each look is a line in the kernel's log. */
static int debugfs_probe(const struct env *env, struct why *why)
{
	int folder = folder_open(env);
	char level[32];

	if (folder < 0)
		return why_no_folder(env, folder, why);
	close(folder);
	lockdown_level(env, level, sizeof(level));
	return level[0] && !env_is_captured(env) ? why_locked(level, why) : 0;
}

static int add_field(struct state *state, const char *name, mode_t mode, const char *parent)
{
	const struct trait *trait = trait_of(name);
	struct fields *fields = state->site.fields;
	struct field spec = {
		.name = name,
		.parent = parent ? fields_find(fields, parent) : FIELD_NONE,
		.source = state->site.source,
		.kind = trait->kind,
		.exit_rank = trait->exit_rank,
		.is_idle = trait->is_idle,
	};
	const struct field *field;
	uint32_t id;

	if (trait->is_time)
		return 0;
	/* The kernel lets nobody write to what is not counted; copied files may have any mode. */
	if (!(mode & 0222) && !env_is_captured(state->site.env) && spec.kind == FIELD_COUNTER)
		spec.kind = FIELD_GAUGE;
	if (fields_add(fields, &spec, &id) < 0)
		return -ENOMEM;
	field = fields_get(fields, id);
	if (field->source != spec.source) /* the name is taken */
		return 0;
	state->counters[state->nr_counters++] = (struct counter){
		.field = id,
		.kind = field->kind,
		.is_writable = mode & 0222,
	};
	return 0;
}

/* Those that are parts of another, or those that are not. */
static int add_fields(struct state *state, int folder, struct dirent **names, int nr,
		      bool is_children)
{
	const struct arch *arch = state->site.env->arch;
	int err = 0;

	for (int i = 0; !err && i < nr; i++) {
		const char *name = names[i]->d_name;
		const char *parent = arch->debugfs_parent ? arch->debugfs_parent(name) : NULL;
		struct stat st;

		if (!parent == is_children || fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		err = add_field(state, name, st.st_mode, parent);
	}
	return err;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int find_fields(struct state *state, int folder, struct why *why)
{
	const struct env *env = state->site.env;
	struct dirent **names;
	int nr = scandir(env->debugfs_kvm, &names, NULL, by_name);
	int err;

	if (nr < 0)
		return why_no_folder(env, -errno, why);
	state->counters = calloc((size_t)nr + 1, sizeof(*state->counters));
	err = state->counters ? 0 : -ENOMEM;
	if (!err)
		err = add_fields(state, folder, names, nr, false);
	if (!err)
		err = add_fields(state, folder, names, nr, true);
	for (int i = 0; i < nr; i++)
		free(names[i]);
	free(names);
	if (!err && !state->nr_counters)
		return why_no_folder(env, -ENOENT, why);
	return err;
}

static const char *name_of(const struct state *state, const struct counter *counter)
{
	return fields_get(state->site.fields, counter->field)->name;
}

/* The one to see by whether we may read them: `exits`, or the first that lockdown is about. */
static const struct counter *find_trial(const struct state *state)
{
	const struct counter *trial = NULL;

	for (size_t i = 0; i < state->nr_counters; i++) {
		const struct counter *counter = &state->counters[i];

		if (strcmp(name_of(state, counter), "exits") == 0)
			return counter;
		if (!trial && counter->is_writable)
			trial = counter;
	}
	return trial ? trial : state->counters;
}

static int check_readable(const struct state *state, int folder, struct why *why)
{
	const char *name = name_of(state, find_trial(state));
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	char path[PATH_MAX];
	int err = -errno;

	if (fd >= 0) {
		close(fd);
		return 0;
	}
	snprintf(path, sizeof(path), "%s/%s", state->site.env->debugfs_kvm, name);
	return why_unreadable(state->site.env, path, err, why);
}

static bool is_other_namespace(const struct env *env)
{
	char path[PATH_MAX], link[64];
	ssize_t len;

	env_path(env, path, sizeof(path), "/proc/self/ns/pid");
	len = readlink(path, link, sizeof(link) - 1);
	if (len < 0)
		return false;
	link[len] = '\0';
	return strcmp(link, INIT_PID_NAMESPACE) != 0;
}

static bool is_anything_wanted(const struct state *state)
{
	for (size_t i = 0; i < state->nr_counters; i++) {
		if (state->counters[i].is_wanted)
			return true;
	}
	return false;
}

static int debugfs_want(void *opened, const struct want *want, struct why *why)
{
	struct state *state = opened;

	for (size_t i = 0; i < state->nr_counters; i++) {
		struct counter *counter = &state->counters[i];

		counter->is_wanted = field_set_has(&want->fields, counter->field);
	}
	state->scope = want->scope;
	state->guest = want->guest;
	if (state->is_other_namespace && is_anything_wanted(state))
		why_set(why, 0, "debugfs has the pids of another pid namespace: its counters are "
				"not told apart by guest; run in the host's");
	return 0;
}

/* "PID-FD"; something may follow after another '-' one day. 0: not a VM's folder. */
static pid_t folder_pid(const char *name)
{
	size_t len = strcspn(name, "-");
	char pid[12];
	size_t digits;

	if (len >= sizeof(pid) || !name[len])
		return 0;
	digits = strspn(name + len + 1, "0123456789");
	if (!digits || !strchr("-", name[len + 1 + digits]))
		return 0;
	memcpy(pid, name, len);
	pid[len] = '\0';
	return pid_parse(pid);
}

static struct vm *find_vm(const struct state *state, const struct dirent *entry)
{
	struct vm *vm = state->vms;

	while (vm && (vm->inode != entry->d_ino || strcmp(vm->name, entry->d_name) != 0))
		vm = vm->next;
	return vm;
}

static int meet_vm(struct state *state, const struct dirent *entry)
{
	pid_t pid = folder_pid(entry->d_name);
	struct vm *vm;

	if (!pid || strlen(entry->d_name) >= sizeof(vm->name))
		return 0;
	vm = find_vm(state, entry);
	if (!vm) {
		vm = calloc(1, sizeof(*vm) + state->nr_counters * sizeof(vm->readings[0]));
		if (!vm)
			return -ENOMEM;
		strcpy(vm->name, entry->d_name);
		vm->inode = entry->d_ino;
		vm->pid = pid;
		vm->is_new = true;
		vm->is_late = state->is_watching;
		vm->next = state->vms;
		state->vms = vm;
	}
	vm->is_there = true;
	return 0;
}

/* Leaves is_there set for those that are. NULL: the module was unloaded, and there are none. */
static int list_vms(struct state *state, DIR *dir)
{
	struct dirent *entry;
	int err = 0;

	for (struct vm *vm = state->vms; vm; vm = vm->next)
		vm->is_there = vm->is_new = false;
	while (!err && dir && (entry = readdir(dir)))
		err = meet_vm(state, entry);
	return err;
}

static struct owner *get_owner(struct state *state, uint32_t guest)
{
	struct owner *owner = state->owners;

	while (owner && owner->guest != guest)
		owner = owner->next;
	if (owner)
		return owner;
	owner = calloc(1, sizeof(*owner) + state->nr_counters * sizeof(owner->totals[0]));
	if (!owner)
		return NULL;
	owner->guest = guest;
	owner->is_new = owner->is_from_zero = true;
	owner->next = state->owners;
	state->owners = owner;
	return owner;
}

static bool is_process(const struct env *env, pid_t pid)
{
	char path[PATH_MAX];

	return access(env_path(env, path, sizeof(path), "/proc/%d", (int)pid), F_OK) == 0;
}

/* See the top. A VM of unknown past that joined GUEST_ANY late would make it jump: lost. */
static int find_owner(struct state *state, struct vm *vm)
{
	const struct guest *guest = NULL;

	if (!state->is_other_namespace) {
		guest = guests_by_pid(state->site.guests, vm->pid);
		if (!guest && is_process(state->site.env, vm->pid))
			return 0;
		vm->is_lost = !guest && !vm->is_new && !vm->is_late;
		if (vm->is_lost)
			return 0;
	}
	vm->owner = get_owner(state, guest ? guest->id : GUEST_ANY);
	if (!vm->owner)
		return -ENOMEM;
	vm->owner->nr_vms++;
	vm->owner->is_from_zero &= vm->is_late;
	return 0;
}

/* Counts add up, levels too, of peaks the highest counts. */
static uint64_t combine(enum field_kind kind, uint64_t a, uint64_t b)
{
	if (kind == FIELD_PEAK)
		return a > b ? a : b;
	return a + b;
}

/* What it counted stays with its owner, should that have other VMs. */
static void leave_owner(const struct state *state, struct vm *vm)
{
	if (!vm->owner)
		return;
	for (size_t i = 0; i < state->nr_counters; i++) {
		struct total *total = &vm->owner->totals[i];

		if (state->counters[i].kind != FIELD_GAUGE)
			total->kept = combine(state->counters[i].kind, total->kept,
					      vm->readings[i].last);
	}
	vm->owner->nr_vms--;
	vm->owner = NULL;
}

/* A folder may outlive its guest where somebody else keeps it: not ours to count any more. */
static void leave_ended_owner(const struct state *state, struct vm *vm)
{
	if (!vm->owner || vm->owner->guest == GUEST_ANY ||
	    guests_by_id(state->site.guests, vm->owner->guest))
		return;
	leave_owner(state, vm);
	vm->is_lost = true;
}

static int find_owners(struct state *state)
{
	int err = 0;

	for (struct vm *vm = state->vms; !err && vm; vm = vm->next) {
		leave_ended_owner(state, vm);
		if (vm->is_there && !vm->owner && !vm->is_lost)
			err = find_owner(state, vm);
	}
	return err;
}

/* After find_owners(): a VM that took the place of another inherits the owner with its past. */
static void drop_gone(struct state *state)
{
	struct owner **owner = &state->owners;
	struct vm **vm = &state->vms;

	while (*vm) {
		struct vm *gone = *vm;

		if (gone->is_there) {
			vm = &gone->next;
			continue;
		}
		leave_owner(state, gone);
		*vm = gone->next;
		free(gone);
	}
	while (*owner) {
		struct owner *gone = *owner;

		if (gone->nr_vms) {
			owner = &gone->next;
			continue;
		}
		*owner = gone->next;
		free(gone);
	}
}

static void forget_vms(struct state *state)
{
	for (struct vm *vm = state->vms; vm; vm = vm->next)
		vm->is_there = false;
	drop_gone(state);
}

static bool is_in_scope(const struct state *state, const struct owner *owner)
{
	return owner && (state->scope != WANT_GUEST || owner->guest == state->guest);
}

static void take(const struct counter *counter, struct vm *vm, size_t i, uint64_t value)
{
	struct reading *reading = &vm->readings[i];

	if (counter->kind == FIELD_COUNTER && value < reading->last)
		vm->owner->totals[i].kept += reading->last; /* somebody reset it */
	if (counter->kind != FIELD_COUNTER && value > INT64_MAX)
		value = 0; /* printed unsigned, but below 0 */
	reading->last = value;
	reading->is_known = true;
}

/*
 * A file that cannot be read leaves the last value: the guest is about to go, or its kernel has no
 * such file. In a folder that is just being made there may be none yet.
 */
static int read_vm(const struct state *state, int folder, struct vm *vm)
{
	for (size_t i = 0; i < state->nr_counters; i++) {
		const struct counter *counter = &state->counters[i];
		struct reading *reading = &vm->readings[i];
		uint64_t value;
		int err;

		if (!counter->is_wanted || reading->is_absent)
			continue;
		err = counter_read(folder, name_of(state, counter), &value);
		if (err == -EPERM || err == -EACCES)
			return err;
		if (!err)
			take(counter, vm, i, value);
		reading->is_absent = err == -ENOENT && !vm->is_new;
	}
	return 0;
}

static int read_vms(const struct state *state, int top)
{
	int err = 0;

	for (struct vm *vm = state->vms; !err && vm; vm = vm->next) {
		int folder;

		if (!is_in_scope(state, vm->owner))
			continue;
		folder = openat(top, vm->name, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (folder < 0)
			continue;
		err = read_vm(state, folder, vm);
		close(folder);
	}
	return err;
}

static void add_up(const struct state *state)
{
	for (struct owner *owner = state->owners; owner; owner = owner->next) {
		for (size_t i = 0; i < state->nr_counters; i++)
			owner->totals[i].now = 0;
	}
	for (const struct vm *vm = state->vms; vm; vm = vm->next) {
		for (size_t i = 0; vm->owner && i < state->nr_counters; i++) {
			struct total *total = &vm->owner->totals[i];

			if (!vm->readings[i].is_known)
				continue;
			total->now = combine(state->counters[i].kind, total->now,
					     vm->readings[i].last);
			total->is_known = true;
		}
	}
}

static int add_rows(const struct state *state, const struct owner *owner, struct sample *sample)
{
	bool is_from_zero = (owner->is_new && owner->is_from_zero) || state->site.env->include_past;
	uint32_t flags = is_from_zero ? ROW_FROM_ZERO : 0;
	int err = 0;

	for (size_t i = 0; !err && i < state->nr_counters; i++) {
		const struct counter *counter = &state->counters[i];
		const struct total *total = &owner->totals[i];
		struct key key = { owner->guest, -1, counter->field };
		uint64_t count = combine(counter->kind, total->kept, total->now);

		if (counter->is_wanted && total->is_known)
			err = sample_add(sample, key, count, flags);
	}
	return err;
}

/* Brings VMs, owners and readings up to date. */
static int look(struct state *state, uint64_t *ret_time_ns, struct why *why)
{
	const char *path = state->site.env->debugfs_kvm;
	DIR *dir = opendir(path);
	int err = dir || errno == ENOENT ? 0 : -errno;

	if (!err)
		err = list_vms(state, dir);
	if (!err)
		err = find_owners(state);
	if (!err) {
		drop_gone(state);
		*ret_time_ns = clock_now_ns();
		err = read_vms(state, dir ? dirfd(dir) : -1);
	}
	if (dir)
		closedir(dir);
	return err && err != -ENOMEM ? why_unreadable(state->site.env, path, err, why) : err;
}

static int debugfs_collect(void *opened, struct sample *sample, struct why *why)
{
	struct state *state = opened;
	uint64_t time_ns = clock_now_ns();
	int err = 0;

	if (is_anything_wanted(state))
		err = look(state, &time_ns, why);
	else
		forget_vms(state);
	if (err)
		return err;
	state->is_watching = is_anything_wanted(state);
	sample->time_ns[state->site.source] = time_ns;
	add_up(state);
	for (struct owner *owner = state->owners; !err && owner; owner = owner->next) {
		if (is_in_scope(state, owner))
			err = add_rows(state, owner, sample);
		owner->is_new = false;
	}
	return err;
}

static void debugfs_close(void *opened)
{
	struct state *state = opened;

	if (!state)
		return;
	forget_vms(state);
	free(state->counters);
	free(state);
}

static int debugfs_open(const struct provider_site *site, void **ret_state, struct why *why)
{
	int folder = folder_open(site->env);
	struct state *state;
	int err = -ENOMEM;

	if (folder < 0)
		return why_no_folder(site->env, folder, why);
	state = calloc(1, sizeof(*state));
	if (!state)
		goto out;
	state->site = *site;
	state->is_other_namespace = is_other_namespace(site->env);
	err = find_fields(state, folder, why);
	if (!err)
		err = check_readable(state, folder, why);
	if (err)
		debugfs_close(state);
	else
		*ret_state = state;
out:
	close(folder);
	return err;
}

const struct provider debugfs_provider = {
	.name = "debugfs",
	.help = "KVM's own counters in debugfs, by guest; root only, none under lockdown",
	.is_always_by_guest = true,
	.probe = debugfs_probe,
	.open = debugfs_open,
	.want = debugfs_want,
	.collect = debugfs_collect,
	.close = debugfs_close,
};
