/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest - the list of guests, brought up to date by each refresh, and the functions that find a
 * guest.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/read.h"
#include "host/guest.h"
#include "host/guest_find.h"
#include "host/guest_name.h"
#include "host/guest_proc.h"

#define REEXAMINE_NS 10000000000ull
#define LOOKS 3 /* examinations while a vCPU has no thread; a new thread resets them */

/* A guest, and what only the inventory needs of its process. */
struct guest_entry {
	struct guest guest;
	struct pid_list tids;
	long nr_threads;
	uint64_t examine_ns; /* when it is examined again at the latest */
	int looks;	     /* how many examinations are left while a vCPU has no thread */
	bool wants_look;     /* the next refresh examines it */
	bool wants_fds;	     /* the next refresh reads its descriptors, too */
	bool is_gone;
	bool is_given; /* guests_add() added it */
	uint64_t ended_ns; /* when its end was noticed */
};

struct tid_ref {
	int tid;
	struct guest_entry *entry;
	UT_hash_handle hh;
};

struct guests {
	const struct env *env;
	struct guest_entry **entries; /* ascending by id */
	size_t nr, room;
	struct tid_ref *tids;
	uint32_t last_id;
	uint64_t generation;
	struct guest_finder *finder;
	struct pid_list known, found; /* of the current refresh */
	uint64_t now_ns;	      /* of the latest refresh or meeting */
	struct guest_entry *ended[GUESTS_ENDED]; /* in order of their end */
	size_t nr_ended;
};

struct guests *guests_new(const struct env *env)
{
	struct guests *guests = calloc(1, sizeof(*guests));

	if (!guests)
		return NULL;
	guests->env = env;
	guests->finder = env ? guest_finder_new(env) : NULL;
	if (guests->finder || !env)
		return guests;
	free(guests);
	return NULL;
}

static void forget_tid(struct guests *guests, const struct guest_entry *entry, pid_t tid)
{
	struct tid_ref *ref;

	HASH_FIND_INT(guests->tids, &tid, ref);
	if (!ref || ref->entry != entry)
		return;
	HASH_DEL(guests->tids, ref);
	free(ref);
}

static void forget_tids(struct guests *guests, struct guest_entry *entry)
{
	forget_tid(guests, entry, entry->guest.pid);
	for (size_t i = 0; i < entry->tids.nr; i++)
		forget_tid(guests, entry, entry->tids.pids[i]);
	entry->tids.nr = 0;
}

static int remember_tid(struct guests *guests, struct guest_entry *entry, pid_t tid)
{
	struct tid_ref *ref;

	HASH_FIND_INT(guests->tids, &tid, ref);
	if (ref) { /* the thread number was reused */
		ref->entry = entry;
		return 0;
	}
	ref = calloc(1, sizeof(*ref));
	if (!ref)
		return -ENOMEM;
	ref->tid = tid;
	ref->entry = entry;
	hash_add(guests->tids, tid, ref);
	return ref ? 0 : -ENOMEM;
}

/* Takes the list tids over. */
static int set_tids(struct guests *guests, struct guest_entry *entry, struct pid_list *tids)
{
	int err;

	forget_tids(guests, entry);
	pid_list_release(&entry->tids);
	entry->tids = *tids;
	*tids = (struct pid_list){ 0 };
	err = remember_tid(guests, entry, entry->guest.pid);
	for (size_t i = 0; !err && i < entry->tids.nr; i++)
		err = remember_tid(guests, entry, entry->tids.pids[i]);
	return err;
}

static void entry_free(struct guests *guests, struct guest_entry *entry)
{
	forget_tids(guests, entry);
	pid_list_release(&entry->tids);
	free(entry->guest.vcpus);
	free(entry);
}

void guests_clear(struct guests *guests)
{
	for (size_t i = 0; i < guests->nr; i++)
		entry_free(guests, guests->entries[i]);
	for (size_t i = 0; i < guests->nr_ended; i++)
		entry_free(guests, guests->ended[i]);
	guests->nr = 0;
	guests->nr_ended = 0;
	guests->last_id = 0;
	guests->generation++;
}

void guests_free(struct guests *guests)
{
	if (!guests)
		return;
	guests_clear(guests);
	HASH_CLEAR(hh, guests->tids);
	free(guests->entries);
	guest_finder_free(guests->finder);
	pid_list_release(&guests->known);
	pid_list_release(&guests->found);
	free(guests);
}

static struct guest_entry *entry_by_tid(const struct guests *guests, pid_t tid)
{
	struct tid_ref *ref;

	HASH_FIND_INT(guests->tids, &tid, ref);
	return ref ? ref->entry : NULL;
}

static struct guest_entry *entry_by_pid(const struct guests *guests, pid_t pid)
{
	struct guest_entry *entry = entry_by_tid(guests, pid);

	return entry && entry->guest.pid == pid ? entry : NULL;
}

/* Keeps what is known of a guest that has ended, in place of the one that ended first. */
static void keep_ended(struct guests *guests, struct guest_entry *entry)
{
	entry->guest.has_ended = true;
	if (guests->nr_ended == GUESTS_ENDED) {
		entry_free(guests, guests->ended[0]);
		memmove(guests->ended, guests->ended + 1,
			--guests->nr_ended * sizeof(struct guest_entry *));
	}
	guests->ended[guests->nr_ended++] = entry;
	guests->generation++;
}

static void retire(struct guests *guests, struct guest_entry *entry)
{
	forget_tids(guests, entry);
	pid_list_release(&entry->tids);
	for (size_t i = 0; i < entry->guest.nr_vcpus; i++)
		entry->guest.vcpus[i].tid = vcpu_last_tid(&entry->guest.vcpus[i]);
	entry->ended_ns = guests->now_ns;
	keep_ended(guests, entry);
}

/* Retires the guests that are gone. */
static void sweep(struct guests *guests)
{
	size_t kept = 0;

	for (size_t i = 0; i < guests->nr; i++) {
		struct guest_entry *entry = guests->entries[i];

		if (entry->is_gone)
			retire(guests, entry);
		else
			guests->entries[kept++] = entry;
	}
	guests->nr = kept;
}

static struct guest_entry *entry_new(struct guests *guests, pid_t pid)
{
	struct guest_entry *entry = calloc(1, sizeof(*entry));

	if (!entry)
		return NULL;
	entry->guest.pid = pid;
	entry->guest.nr_vms = 1;
	entry->looks = LOOKS;
	entry->wants_fds = true;
	if (array_grow(&guests->entries, &guests->room, guests->nr + 1) < 0 ||
	    (pid && remember_tid(guests, entry, pid))) {
		free(entry);
		return NULL;
	}
	entry->guest.id = ++guests->last_id;
	guests->entries[guests->nr++] = entry;
	guests->generation++;
	return entry;
}

/* A zombie with more threads is a main thread that ended before the others. */
static bool has_ended(const struct proc_stat *stat)
{
	return (stat->state == 'Z' || stat->state == 'X') && stat->nr_threads <= 1;
}

/* Adds the process as a guest, unless it is a guest already or has just ended. */
static int add_guest(struct guests *guests, pid_t pid)
{
	struct guest_entry *entry = entry_by_pid(guests, pid);
	struct guest_name name;
	struct proc_stat stat;
	int err;

	if (entry) {
		entry->wants_fds = true;
		return 0;
	}
	err = proc_stat_read(guests->env, pid, &stat);
	if (err || has_ended(&stat))
		return proc_has_failed(err) ? err : 0;
	entry = entry_new(guests, pid);
	if (!entry)
		return -ENOMEM;
	entry->guest.start_ticks = stat.start_ticks;
	entry->nr_threads = stat.nr_threads;
	name = guest_name_find(guests->env, pid);
	snprintf(entry->guest.name, sizeof(entry->guest.name), "%s", name.name);
	snprintf(entry->guest.vmm, sizeof(entry->guest.vmm), "%s", name.vmm);
	snprintf(entry->guest.uuid, sizeof(entry->guest.uuid), "%s", name.uuid);
	entry->guest.is_named = name.is_own;
	return 0;
}

/* A guest that cannot be read now counts as alive. */
static bool is_alive(struct guests *guests, struct guest_entry *entry)
{
	struct proc_stat stat;
	int err = proc_stat_read(guests->env, entry->guest.pid, &stat);

	if (err)
		return err != -ESRCH && err != -ENOTDIR;
	if (has_ended(&stat) || stat.start_ticks != entry->guest.start_ticks)
		return false;
	if (stat.nr_threads != entry->nr_threads) {
		entry->nr_threads = stat.nr_threads;
		entry->looks = LOOKS;
		entry->wants_look = true;
	}
	return true;
}

/* False: the process has made a new VM, perhaps with as many threads as the old one. */
static bool has_first_vcpu(struct guests *guests, const struct guest *guest)
{
	char path[PATH_MAX];

	if (!guest->nr_vcpus || !guest->vcpus[0].tid || guest->vcpus[0].tid == guest->pid)
		return true;
	env_path(guests->env, path, sizeof(path), "/proc/%d/task/%d", (int)guest->pid,
		 (int)guest->vcpus[0].tid);
	return !access(path, F_OK) || errno != ENOENT;
}

static void check_alive(struct guests *guests)
{
	for (size_t i = 0; i < guests->nr; i++) {
		struct guest_entry *entry = guests->entries[i];

		if (entry->is_given)
			continue;
		entry->is_gone = !is_alive(guests, entry);
		if (!entry->is_gone && !has_first_vcpu(guests, &entry->guest))
			entry->wants_look = true;
	}
	sweep(guests);
}

/* The result of examining a guest. */
struct guest_search {
	struct pid_list tids;
	struct vcpu_list vcpus;
	unsigned int nr_vms;
	bool has_vm; /* it has a VM, or its descriptors could not be read */
	bool has_folder_vcpus;
};

static int read_folders(struct guests *guests, pid_t pid, struct guest_search *search)
{
	int nr = guest_finder_read_folders(guests->finder, pid, &search->tids, &search->vcpus);

	if (nr < 0)
		return nr;
	search->nr_vms = (unsigned int)nr;
	search->has_vm = nr > 0;
	search->has_folder_vcpus = search->vcpus.nr > 0;
	return 0;
}

/*
 * QEMU has many descriptors. They are read only if they may have changed, or if debugfs has no
 * vCPUs.
 */
static int read_descriptors(struct guests *guests, const struct guest_entry *entry,
			    struct guest_search *search)
{
	struct vcpu_list *vcpus = search->vcpus.nr ? NULL : &search->vcpus;
	unsigned int nr_vms = 0;
	int err;

	if (!entry->wants_fds && !vcpus) {
		search->nr_vms = entry->guest.nr_vms;
		return 0;
	}
	err = proc_read_fds(guests->env, entry->guest.pid, &nr_vms, vcpus);
	if (nr_vms)
		search->nr_vms = nr_vms;
	/* The process of another user: we may not read its descriptors. */
	search->has_vm |= nr_vms > 0 || err == -EACCES || err == -EPERM;
	return proc_has_failed(err) ? err : 0;
}

static int find_out(struct guests *guests, const struct guest_entry *entry,
		    struct guest_search *search)
{
	pid_t pid = entry->guest.pid;
	char path[PATH_MAX];
	int err;

	env_path(guests->env, path, sizeof(path), "/proc/%d/task", (int)pid);
	err = pid_list_read(&search->tids, path);
	if (proc_has_failed(err))
		return err;
	err = read_folders(guests, pid, search);
	if (!err)
		err = read_descriptors(guests, entry, search);
	if (!err && (!search->vcpus.nr || vcpu_list_missing(&search->vcpus)))
		err = proc_name_threads(guests->env, pid, &search->tids, search->nr_vms,
					&search->vcpus);
	return err;
}

/*
 * A vCPU for which no thread was found keeps the thread that it had, or its TID if that thread has
 * ended. If it had no thread, the process' only thread runs it, as long as it is the only one: most
 * VMMs make the vCPU before its thread. A process that ends may have closed its vCPUs, but not yet
 * its VM. 0 or -ENOMEM.
 */
static int keep_vcpus(const struct guest *guest, struct guest_search *search)
{
	const struct pid_list *tids = &search->tids;
	bool is_closed = !search->vcpus.nr;
	int err = 0;

	for (size_t i = 0; !err && is_closed && i < guest->nr_vcpus; i++)
		err = vcpu_list_add(&search->vcpus, guest->vcpus[i].index, 0);
	for (size_t i = 0; i < search->vcpus.nr; i++) {
		struct vcpu *vcpu = &search->vcpus.vcpus[i];
		const struct vcpu *known = guest_vcpu(guest, vcpu->index);

		vcpu->last = vcpu_last_tid(known);
		if (!vcpu->tid && pid_list_has(tids, vcpu->last) &&
		    (is_closed || vcpu->last != guest->pid || tids->nr == 1))
			vcpu->tid = vcpu->last;
	}
	if (search->vcpus.nr == 1 && tids->nr == 1 && !search->vcpus.vcpus[0].last &&
	    !search->vcpus.vcpus[0].tid)
		search->vcpus.vcpus[0].tid = tids->pids[0];
	return err;
}

static void set_vcpus(struct guests *guests, struct guest *guest, struct vcpu_list *vcpus)
{
	bool is_same = guest->nr_vcpus == vcpus->nr;

	for (size_t i = 0; is_same && i < vcpus->nr; i++)
		is_same = guest->vcpus[i].index == vcpus->vcpus[i].index &&
			  guest->vcpus[i].tid == vcpus->vcpus[i].tid;
	if (is_same)
		return;
	free(guest->vcpus);
	guest->vcpus = vcpus->vcpus;
	guest->nr_vcpus = vcpus->nr;
	*vcpus = (struct vcpu_list){ 0 };
	guests->generation++;
}

/*
 * A guest is examined again while one of its vCPUs has no thread: without a limit if debugfs has
 * the vCPUs, because debugfs names the thread when the vCPU has run; LOOKS times if only thread
 * names tell the vCPUs.
 */
static void plan_next_look(struct guest_entry *entry, const struct guest_search *search,
			   uint64_t now_ns)
{
	bool is_missing = !search->vcpus.nr || vcpu_list_missing(&search->vcpus);

	if (!is_missing)
		entry->looks = LOOKS;
	else if (entry->looks)
		entry->looks--;
	entry->wants_look = is_missing && (search->has_folder_vcpus || entry->looks);
	entry->wants_fds = is_missing && entry->looks;
	entry->examine_ns = now_ns + REEXAMINE_NS;
}

/* After an error the guest stays as it was, and the next refresh examines it again. */
static int examine(struct guests *guests, struct guest_entry *entry, uint64_t now_ns)
{
	struct guest_search search = { 0 };
	int err = find_out(guests, entry, &search);

	if (!err)
		err = keep_vcpus(&entry->guest, &search);
	if (!err)
		entry->is_gone = !search.has_vm;
	else
		entry->wants_look = true;
	if (!err && !entry->is_gone) {
		plan_next_look(entry, &search, now_ns);
		entry->guest.nr_vms = search.nr_vms ? search.nr_vms : 1;
		set_vcpus(guests, &entry->guest, &search.vcpus);
		err = set_tids(guests, entry, &search.tids);
	}
	pid_list_release(&search.tids);
	vcpu_list_release(&search.vcpus);
	return err;
}

static int examine_guests(struct guests *guests, uint64_t now_ns)
{
	int err = 0;

	for (size_t i = 0; i < guests->nr; i++) {
		struct guest_entry *entry = guests->entries[i];
		int this_err = 0;

		if (!entry->is_given &&
		    (entry->wants_look || entry->wants_fds || now_ns >= entry->examine_ns))
			this_err = examine(guests, entry, now_ns);
		if (this_err)
			err = this_err;
	}
	sweep(guests);
	return err;
}

static int list_known(struct guests *guests)
{
	int err = 0;

	guests->known.nr = 0;
	for (size_t i = 0; !err && i < guests->nr; i++)
		if (!guests->entries[i]->is_given)
			err = pid_list_add(&guests->known, guests->entries[i]->guest.pid);
	pid_list_sort(&guests->known);
	return err;
}

static int update(struct guests *guests, uint64_t now_ns)
{
	int err;

	check_alive(guests);
	err = list_known(guests);
	if (!err)
		err = guest_finder_run(guests->finder, &guests->known, now_ns, &guests->found);
	for (size_t i = 0; !err && i < guests->found.nr; i++)
		err = add_guest(guests, guests->found.pids[i]);
	return err ? err : examine_guests(guests, now_ns);
}

int guests_refresh(struct guests *guests, uint64_t now_ns, struct why *why)
{
	char path[PATH_MAX];
	int err = 0;

	if (!guests->env)
		return 0;
	guests->now_ns = now_ns;
	env_path(guests->env, path, sizeof(path), "/proc");
	if (access(path, R_OK | X_OK))
		err = -errno;
	else
		err = update(guests, now_ns);
	if (!err)
		return 0;
	return why_set(why, err, "cannot list the guests: %s: %s%s", path, strerror(-err),
		       err == -EMFILE ? ": raise the limit with ulimit -n" : "");
}

uint64_t guests_generation(const struct guests *guests)
{
	return guests->generation;
}

size_t guests_count(const struct guests *guests)
{
	return guests->nr;
}

size_t guests_count_vcpus(const struct guests *guests)
{
	size_t nr = 0;

	for (size_t i = 0; i < guests_count(guests); i++)
		nr += guests_at(guests, i)->nr_vcpus;
	return nr;
}

const struct guest *guests_at(const struct guests *guests, size_t i)
{
	return i < guests->nr ? &guests->entries[i]->guest : NULL;
}

static int compare_id(const void *id, const void *entry)
{
	uint32_t x = *(const uint32_t *)id, y = (*(struct guest_entry *const *)entry)->guest.id;

	return (x > y) - (x < y);
}

const struct guest *guests_by_id(const struct guests *guests, uint32_t id)
{
	struct guest_entry **found = NULL;

	if (guests->nr)
		found = bsearch(&id, guests->entries, guests->nr, sizeof(struct guest_entry *),
				compare_id);
	return found ? &(*found)->guest : NULL;
}

const struct guest *guests_ended_at(const struct guests *guests, size_t i)
{
	return i < guests->nr_ended ? &guests->ended[i]->guest : NULL;
}

const struct guest *guests_find(const struct guests *guests, uint32_t id)
{
	const struct guest *guest = guests_by_id(guests, id), *ended;

	for (size_t i = 0; !guest && (ended = guests_ended_at(guests, i)); i++) {
		if (ended->id == id)
			guest = ended;
	}
	return guest;
}

const struct guest *guests_by_pid(const struct guests *guests, pid_t pid)
{
	struct guest_entry *entry = entry_by_tid(guests, pid);
	pid_t process;

	if (!entry && pid > 0 && guests->env) { /* a thread that began after the last refresh */
		process = proc_of_thread(guests->env, pid);
		entry = process != pid ? entry_by_pid(guests, process) : NULL;
	}
	return entry ? &entry->guest : NULL;
}

const struct vcpu *guest_vcpu(const struct guest *guest, int32_t index)
{
	for (size_t i = 0; guest && i < guest->nr_vcpus; i++) {
		if (guest->vcpus[i].index == index)
			return &guest->vcpus[i];
	}
	return NULL;
}

const struct vcpu *guest_vcpu_by_tid(const struct guest *guest, pid_t tid)
{
	for (size_t i = 0; guest && tid && i < guest->nr_vcpus; i++) {
		if (guest->vcpus[i].tid == tid)
			return &guest->vcpus[i];
	}
	return NULL;
}

/* Adds an item to the list that begins at start in why; a list without room ends in "...". */
static void list_add(struct why *why, size_t start, const char *item)
{
	static const char more[] = ", ...";
	size_t at = strlen(why->text), room = sizeof(why->text) - at;
	const char *comma = at == start ? "" : ", ";

	if (at >= strlen(more) && !strcmp(why->text + at - strlen(more), more))
		return;
	if (strlen(comma) + strlen(item) + sizeof(more) + sizeof("): use -p PID") > room)
		item = more + strlen(", ");
	snprintf(why->text + at, room, "%s%s", comma, item);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int not_found(const struct guests *guests, const char *name, struct why *why)
{
	const char **names = calloc(guests->nr + 1, sizeof(*names));
	size_t start;

	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < guests->nr; i++)
		names[i] = guests->entries[i]->guest.name;
	qsort(names, guests->nr, sizeof(*names), compare_names);
	why_set(why, 0, "no guest named \"%.64s\"; there %s", name,
		guests->nr ? "are: " : "are no guests");
	start = strlen(why->text);
	for (size_t i = 0; i < guests->nr; i++)
		if (!i || strcmp(names[i], names[i - 1]))
			list_add(why, start, names[i]);
	free(names);
	return -ENOENT;
}

static int not_unique(const struct guests *guests, const char *name, size_t nr, struct why *why)
{
	size_t start, end;

	why_set(why, 0, "%zu guests are named \"%.64s\" (pids ", nr, name);
	start = strlen(why->text);
	for (size_t i = 0; i < guests->nr; i++) {
		const struct guest *guest = &guests->entries[i]->guest;
		char pid[12];

		if (strcmp(guest->name, name))
			continue;
		snprintf(pid, sizeof(pid), "%d", (int)guest->pid);
		list_add(why, start, pid);
	}
	end = strlen(why->text);
	snprintf(why->text + end, sizeof(why->text) - end, "): use -p PID");
	return -ENOTUNIQ;
}

int guests_by_name(const struct guests *guests, const char *name, const struct guest **ret_guest,
		   struct why *why)
{
	const struct guest *found = NULL;
	struct why unread;
	size_t nr = 0;

	for (size_t i = 0; i < guests->nr; i++) {
		if (strcmp(guests->entries[i]->guest.name, name))
			continue;
		found = &guests->entries[i]->guest;
		nr++;
	}
	if (!why)
		why = &unread;
	if (!nr)
		return not_found(guests, name, why);
	if (nr > 1)
		return not_unique(guests, name, nr, why);
	*ret_guest = found;
	return 0;
}

int guests_choose(const struct guests *guests, const char *name, pid_t pid,
		  const struct guest **ret_guest, struct why *why)
{
	const struct guest *guest;
	char path[PATH_MAX];

	if (name)
		return guests_by_name(guests, name, ret_guest, why);
	guest = guests_by_pid(guests, pid);
	env_path(guests->env, path, sizeof(path), "/proc/%d", (int)pid);
	if (!guest && !path_exists(path))
		return why_set(why, -ESRCH, "there is no process %d", (int)pid);
	if (!guest)
		return why_set(why, -ESRCH, "process %d is not a KVM guest: it holds no VM",
			       (int)pid);
	*ret_guest = guest;
	return 0;
}

int guest_threads(const struct env *env, pid_t pid, pid_t *ret_tids, int max)
{
	struct pid_list tids = { 0 };
	char path[PATH_MAX];
	int err, nr;

	err = pid_list_read(&tids, env_path(env, path, sizeof(path), "/proc/%d/task", (int)pid));
	nr = (int)tids.nr;
	for (int i = 0; !err && i < nr && i < max; i++)
		ret_tids[i] = tids.pids[i];
	pid_list_release(&tids);
	if (err == -ENOENT || (!err && !nr))
		return -ESRCH;
	return err ? err : nr;
}

/*
 * Lets guests_by_pid() find the guest by the threads of its vCPUs. A thread is left out without
 * memory.
 */
static void claim_threads(struct guests *guests, struct guest_entry *entry)
{
	if (entry->guest.pid)
		remember_tid(guests, entry, entry->guest.pid);
	for (size_t i = 0; i < entry->guest.nr_vcpus; i++) {
		pid_t tid = entry->guest.vcpus[i].tid;

		if (tid && pid_list_add(&entry->tids, tid) == 0)
			remember_tid(guests, entry, tid);
	}
}

int guests_put(struct guests *guests, const struct guest *guest)
{
	struct vcpu *vcpus = calloc(guest->nr_vcpus + 1, sizeof(*vcpus));
	struct guest_entry *entry = vcpus ? calloc(1, sizeof(*entry)) : NULL;
	size_t at = guests->nr;

	if (!entry || array_grow(&guests->entries, &guests->room, guests->nr + 1) < 0) {
		free(entry);
		free(vcpus);
		return -ENOMEM;
	}
	if (guest->nr_vcpus)
		memcpy(vcpus, guest->vcpus, guest->nr_vcpus * sizeof(*vcpus));
	entry->is_given = true;
	entry->guest = *guest;
	entry->guest.vcpus = vcpus;
	if (guest->id > guests->last_id)
		guests->last_id = guest->id;
	if (guest->has_ended) {
		keep_ended(guests, entry);
		return 0;
	}
	while (at && guests->entries[at - 1]->guest.id > guest->id) {
		guests->entries[at] = guests->entries[at - 1];
		at--;
	}
	guests->entries[at] = entry;
	guests->nr++;
	guests->generation++;
	claim_threads(guests, entry);
	return 0;
}

uint32_t guests_add(struct guests *guests, const struct guest *guest)
{
	struct guest copy = *guest;

	copy.id = guests->last_id + 1;
	return guests_put(guests, &copy) < 0 ? 0 : copy.id;
}

struct guests *guests_copy(const struct guests *guests)
{
	struct guests *copy = guests_new(NULL);
	const struct guest *guest;
	int err = copy ? 0 : -ENOMEM;

	for (size_t i = 0; !err && (guest = guests_ended_at(guests, i)); i++)
		err = guests_put(copy, guest);
	for (size_t i = 0; !err && (guest = guests_at(guests, i)); i++)
		err = guests_put(copy, guest);
	if (!err)
		return copy;
	guests_free(copy);
	return NULL;
}

/* ---- threads that KVM's events show */

/* The process ended after the thread was seen: else its pid was reused. */
static struct guest_entry *ended_by_pid(const struct guests *guests,
					const struct vcpu_thread *thread)
{
	for (size_t i = guests->nr_ended; i-- > 0;) {
		struct guest_entry *entry = guests->ended[i];

		if (entry->guest.pid == thread->pid && entry->ended_ns >= thread->first_ns)
			return entry;
	}
	return NULL;
}

/* A guest that came and went between two refreshes. */
static struct guest_entry *add_ended(struct guests *guests, const struct vcpu_thread *thread)
{
	const struct guest_name name = guest_name_of_ended(thread->pid, thread->comm);
	struct guest_entry *entry = calloc(1, sizeof(*entry));
	struct guest *guest;

	if (!entry)
		return NULL;
	guest = &entry->guest;
	guest->id = ++guests->last_id;
	guest->pid = thread->pid;
	guest->nr_vms = 1;
	memcpy(guest->name, name.name, sizeof(guest->name));
	memcpy(guest->vmm, name.vmm, sizeof(guest->vmm));
	retire(guests, entry);
	return entry;
}

/*
 * The vCPUs of this index (-1: any) that wait for a thread: they have none, or only the main
 * thread, which the inventory uses until it finds another one. Returns their number, and the first.
 */
static size_t waiting_vcpus(const struct guest *guest, int index, struct vcpu **ret_first)
{
	size_t nr = 0;

	for (size_t i = guest->nr_vcpus; i-- > 0;) {
		struct vcpu *vcpu = &guest->vcpus[i];

		if ((index >= 0 && vcpu->index != index) ||
		    (vcpu->tid && vcpu->tid != guest->pid))
			continue;
		*ret_first = vcpu;
		nr++;
	}
	return nr;
}

/* Gives the thread a vCPU of its own; without an index the next one. */
static int add_vcpu(struct guest *guest, int index, pid_t tid)
{
	struct vcpu_list list = { guest->vcpus, guest->nr_vcpus, guest->nr_vcpus };
	int err = vcpu_list_add(&list, index < 0 ? (int)list.nr : index, tid);

	vcpu_list_sort(&list);
	guest->vcpus = list.vcpus;
	guest->nr_vcpus = list.nr;
	return err;
}

/*
 * Notes that the thread runs a vCPU of the guest. Without an index it is the only vCPU without a
 * thread; of a guest that has ended, the first such vCPU, or else a new one.
 */
static int note_thread(struct guests *guests, struct guest *guest, const struct vcpu_thread *thread)
{
	int index = thread->vcpu < 0 ? guest_name_vcpu(thread->comm) : thread->vcpu;
	struct vcpu *vcpu = NULL;
	size_t nr;

	if (guest_vcpu_by_tid(guest, thread->tid))
		return 0;
	nr = waiting_vcpus(guest, index, &vcpu);
	if (index < 0 && nr != 1 && !guest->has_ended)
		return 0;
	guests->generation++;
	if (nr)
		vcpu->tid = thread->tid;
	else if (!guest_vcpu(guest, index))
		return add_vcpu(guest, index, thread->tid);
	return 0;
}

/* The inventory does not have the thread, and nothing else tells its vCPU; not of guests_add(). */
static bool must_look(const struct guests *guests, const struct vcpu_thread *thread)
{
	const struct guest_entry *entry = entry_by_tid(guests, thread->pid);

	if (entry)
		return !entry->is_given && thread->vcpu < 0 &&
		       !guest_vcpu_by_tid(&entry->guest, thread->tid);
	return guests->env && !ended_by_pid(guests, thread);
}

/*
 * Examines a process. It may have ended, or its VM may be closed; what cannot be read now, the next
 * refresh reads.
 */
static void look_at(struct guests *guests, pid_t pid)
{
	struct guest_entry *entry;
	int err = add_guest(guests, pid);

	entry = entry_by_pid(guests, pid);
	if (!err && entry)
		examine(guests, entry, guests->now_ns);
	sweep(guests);
}

/* The process has ended, and its parent has not taken note of that yet. */
static bool is_zombie(const struct guests *guests, pid_t pid)
{
	struct proc_stat stat;

	return guests->env && proc_stat_read(guests->env, pid, &stat) == 0 && has_ended(&stat);
}

uint32_t guests_meet(struct guests *guests, const struct vcpu_thread *thread, uint64_t now_ns)
{
	struct guest_entry *entry;

	guests->now_ns = now_ns;
	if (must_look(guests, thread))
		look_at(guests, thread->pid);
	entry = entry_by_tid(guests, thread->pid);
	if (!entry)
		entry = ended_by_pid(guests, thread);
	if (!entry && (thread->has_ended || is_zombie(guests, thread->pid)))
		entry = add_ended(guests, thread);
	if (!entry || note_thread(guests, &entry->guest, thread) < 0)
		return GUEST_ANY;
	return entry->guest.id;
}
