// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Brings the list of guests up to date: which processes are guests, and the names, vCPUs and
 * threads of each.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/xalloc.h"
#include "core/guests/guests.h"
#include "core/guests/list.h"
#include "host/guest_name.h"
#include "host/guest_proc.h"

#define REEXAMINE_NS 10000000000ull
#define REMEMBER_NS 600000000000ull /* how long a guest that has ended is kept */

static void set_name(struct guest *guest, const struct guest_name *name)
{
	memcpy(guest->name, name->name, sizeof(name->name));
	memcpy(guest->vmm, name->vmm, sizeof(guest->vmm));
	guest->words = name->words;
	guest->is_named = name->is_own;
}

/* The latest one of this process that has ended, at that time or later; NULL: there is none. */
static struct guest_entry *ended_by_pid(const struct guests *guests, pid_t pid, uint64_t from_ns)
{
	for (size_t i = guests->nr_ended; i-- > 0;) {
		if (guests->ended[i]->guest.pid == pid && guests->ended[i]->ended_ns >= from_ns)
			return guests->ended[i];
	}
	return NULL;
}

/* The name of a process that has ended. comm: what is known of it else. */
static struct guest_name name_by_start(const struct guests *guests, pid_t pid, const char *comm)
{
	for (size_t i = 1; i <= GUEST_STARTS && i <= guests->nr_starts; i++) {
		const struct guest_start *start =
			&guests->starts[(guests->nr_starts - i) % GUEST_STARTS];

		if (start->pid == pid)
			return guest_name_of_ended(pid, start->comm, start->command, start->size);
	}
	return guest_name_of_ended(pid, comm, "", 0);
}

void guests_note_start(struct guests *guests, pid_t pid, uint64_t now_ns, const char *comm,
		       const char *command, size_t size)
{
	struct guest_start *start = &guests->starts[guests->nr_starts++ % GUEST_STARTS];
	struct guest_entry *ended = ended_by_pid(guests, pid, now_ns);
	struct guest_name name;

	free(start->command);
	*start = (struct guest_start){ .pid = pid, .size = size, .command = xmalloc(size + 1) };
	memcpy(start->command, command, size);
	start->command[size] = '\0';
	snprintf(start->comm, sizeof(start->comm), "%.15s", comm);
	if (!ended || ended->guest.is_named)
		return;
	name = name_by_start(guests, pid, comm);
	set_name(&ended->guest, &name);
	guests->generation++;
}

/* A process that is about to end has no arguments any more. */
static void find_name(const struct guests *guests, struct guest_entry *entry)
{
	struct guest *guest = &entry->guest;
	struct guest_name name = guest_name_find(guests->env, guest->pid), at_start;

	if (!name.is_own) {
		at_start = name_by_start(guests, guest->pid, "");
		name = at_start.is_own ? at_start : name;
	}
	set_name(guest, &name);
	entry->wants_name = name.is_late;
}

int guest_add(struct guests *guests, pid_t pid)
{
	struct guest_entry *entry = guest_list_by_pid(guests, pid);
	struct proc_stat stat;
	int err;

	if (entry) {
		entry->wants_fds = true;
		return 0;
	}
	err = proc_stat_read(guests->env, pid, &stat);
	if (err || proc_stat_has_ended(&stat))
		return proc_has_failed(err) ? err : 0;
	entry = guest_list_add(guests, pid);
	entry->guest.start_ticks = stat.start_ticks;
	entry->nr_threads = stat.nr_threads;
	find_name(guests, entry);
	return 0;
}

/* A guest that cannot be read now counts as alive. */
static bool is_alive(struct guests *guests, struct guest_entry *entry)
{
	struct proc_stat stat;
	int err = proc_stat_read(guests->env, entry->guest.pid, &stat);

	if (err)
		return err != -ESRCH && err != -ENOTDIR;
	if (proc_stat_has_ended(&stat) || stat.start_ticks != entry->guest.start_ticks)
		return false;
	if (stat.nr_threads != entry->nr_threads) {
		entry->nr_threads = stat.nr_threads;
		entry->looks = GUEST_LOOKS;
		entry->wants_look = true;
	}
	return true;
}

/* False: the process has made a new VM, perhaps with as many threads as the old one. */
static bool has_first_vcpu(struct guests *guests, const struct guest *guest)
{
	char path[PATH_MAX];
	struct stat st;

	if (!guest->nr_vcpus || !guest->vcpus[0].tid || guest->vcpus[0].tid == guest->pid)
		return true;
	env_path(guests->env, path, sizeof(path), "/proc/%d/task/%d", (int)guest->pid,
		 (int)guest->vcpus[0].tid);
	return !stat(path, &st) || errno != ENOENT;
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
		if (!entry->is_gone && entry->wants_name) {
			find_name(guests, entry);
			guests->generation += !entry->wants_name;
		}
	}
	guest_list_sweep(guests);
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

/* The kernel's word. A thread that is not there is one that has ended. */
static void take_report(const struct guest_entry *entry, struct guest_search *search)
{
	for (size_t i = 0; i < entry->reported.nr; i++) {
		const struct vcpu *vcpu = &entry->reported.vcpus[i];

		vcpu_list_add(&search->vcpus, vcpu->index,
			      pid_list_has(&search->tids, vcpu->tid) ? vcpu->tid : 0);
	}
	search->nr_vms = entry->reported_vms;
}

static int find_out(struct guests *guests, const struct guest_entry *entry,
		    struct guest_search *search)
{
	pid_t pid = entry->guest.pid;
	int err = proc_threads(guests->env, pid, &search->tids);

	if (proc_has_failed(err))
		return err;
	if (entry->is_reported) {
		take_report(entry, search);
		search->has_vm = err != -ESRCH; /* the process has ended since */
		err = 0;
	} else {
		err = read_folders(guests, pid, search);
		if (!err)
			err = read_descriptors(guests, entry, search);
	}
	if (!err && (!search->vcpus.nr || vcpu_list_missing(&search->vcpus)))
		err = proc_name_threads(guests->env, pid, &search->tids, search->nr_vms,
					&search->vcpus);
	return err;
}

/*
 * A vCPU for which no thread was found keeps the thread that it had, or its TID if that thread has
 * ended. If it had no thread, the process' only thread runs it, as long as it is the only one: most
 * VMMs make the vCPU before its thread. A process that ends may have closed its vCPUs, but not yet
 * its VM.
 */
static void keep_vcpus(const struct guest *guest, struct guest_search *search)
{
	const struct pid_list *tids = &search->tids;
	bool is_closed = !search->vcpus.nr;

	for (size_t i = 0; is_closed && i < guest->nr_vcpus; i++)
		vcpu_list_add(&search->vcpus, guest->vcpus[i].index, 0);
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
}

static void set_vcpus(struct guests *guests, struct guest *guest, struct vcpu_list *vcpus)
{
	if (vcpu_list_is_same(vcpus, &(struct vcpu_list){ guest->vcpus, guest->nr_vcpus, 0 }))
		return;
	free(guest->vcpus);
	guest->vcpus = vcpus->vcpus;
	guest->nr_vcpus = vcpus->nr;
	*vcpus = (struct vcpu_list){ 0 };
	guests->generation++;
}

/*
 * A guest is examined again while one of its vCPUs has no thread: without a limit if debugfs has
 * the vCPUs, because debugfs names the thread when the vCPU has run; GUEST_LOOKS times if only
 * thread names tell the vCPUs.
 */
static void plan_next_look(struct guest_entry *entry, const struct guest_search *search,
			   uint64_t now_ns)
{
	bool is_missing = !search->vcpus.nr || vcpu_list_missing(&search->vcpus);

	if (!is_missing)
		entry->looks = GUEST_LOOKS;
	else if (entry->looks)
		entry->looks--;
	entry->wants_look = is_missing && (search->has_folder_vcpus || entry->looks);
	entry->wants_fds = is_missing && entry->looks;
	entry->examine_ns = now_ns + REEXAMINE_NS;
}

int guest_examine(struct guests *guests, struct guest_entry *entry)
{
	struct guest_search search = { 0 };
	int err = find_out(guests, entry, &search);

	if (!err)
		keep_vcpus(&entry->guest, &search);
	if (!err)
		entry->is_gone = !search.has_vm;
	else
		entry->wants_look = true;
	if (!err && !entry->is_gone) {
		plan_next_look(entry, &search, guests->now_ns);
		entry->guest.nr_vms = search.nr_vms ? search.nr_vms : 1;
		set_vcpus(guests, &entry->guest, &search.vcpus);
		guest_list_set_tids(guests, entry, &search.tids);
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
			this_err = guest_examine(guests, entry);
		if (this_err)
			err = this_err;
	}
	guest_list_sweep(guests);
	return err;
}

static int update(struct guests *guests, uint64_t now_ns)
{
	int err;

	check_alive(guests);
	if (guests->has_reports)
		return examine_guests(guests, now_ns);
	guests->known.nr = 0;
	for (size_t i = 0; i < guests->nr; i++) {
		if (!guests->entries[i]->is_given)
			pid_list_add(&guests->known, guests->entries[i]->guest.pid);
	}
	pid_list_sort(&guests->known);
	err = guest_finder_run(guests->finder, &guests->known, now_ns, &guests->found);
	for (size_t i = 0; !err && i < guests->found.nr; i++)
		err = guest_add(guests, guests->found.pids[i]);
	return err ? err : examine_guests(guests, now_ns);
}

int guests_refresh(struct guests *guests, uint64_t now_ns, struct error *error)
{
	char path[PATH_MAX];
	int err = 0;

	if (!guests->env)
		return 0;
	guests->now_ns = now_ns;
	guests->looked.nr = 0;
	if (now_ns > REMEMBER_NS)
		guest_list_forget(guests, now_ns - REMEMBER_NS);
	env_path(guests->env, path, sizeof(path), "/proc");
	if (access(path, R_OK | X_OK))
		err = -errno;
	else
		err = update(guests, now_ns);
	if (!err)
		return 0;
	return error_set(error, err, "cannot list the guests: %s: %s%s", path, strerror(-err),
			 err == -EMFILE ? ": raise the limit with ulimit -n" : "");
}

/*
 * Examines a process. It may have ended, or its VM may be closed; what cannot be read now, the next
 * refresh reads.
 */
static void look_at(struct guests *guests, pid_t pid)
{
	struct guest_entry *entry;
	int err = guest_add(guests, pid);

	entry = guest_list_by_pid(guests, pid);
	if (!err && entry)
		guest_examine(guests, entry);
	guest_list_sweep(guests);
}

/* ---- threads that KVM's events show: the guest of each, and the vCPU that it runs */

/* A guest that came and went between two refreshes. */
static struct guest_entry *add_ended(struct guests *guests, const struct vcpu_thread *thread)
{
	const struct guest_name name = name_by_start(guests, thread->pid, thread->comm);
	struct guest_entry *entry = xcalloc(1, sizeof(*entry));
	struct guest *guest;

	guest = &entry->guest;
	guest->id = ++guests->last_id;
	guest->pid = thread->pid;
	guest->nr_vms = 1;
	set_name(guest, &name);
	guest_list_retire(guests, entry);
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
static void add_vcpu(struct guest *guest, int index, pid_t tid)
{
	struct vcpu_list list = { guest->vcpus, guest->nr_vcpus, guest->nr_vcpus };

	vcpu_list_add(&list, index < 0 ? (int)list.nr : index, tid);
	vcpu_list_sort(&list);
	guest->vcpus = list.vcpus;
	guest->nr_vcpus = list.nr;
}

/*
 * Notes that the thread runs a vCPU of the guest. Without an index it is the only vCPU without a
 * thread; of a guest that has ended, the first such vCPU, or else a new one.
 */
static void note_thread(struct guests *guests, struct guest *guest,
			const struct vcpu_thread *thread)
{
	int index = thread->vcpu < 0 ? guest_name_vcpu(thread->comm) : thread->vcpu;
	struct vcpu *vcpu = NULL;
	size_t nr;

	if (guest_vcpu_by_tid(guest, thread->tid))
		return;
	nr = waiting_vcpus(guest, index, &vcpu);
	if (index < 0 && nr != 1 && !guest->has_ended)
		return;
	if (!nr && guest_vcpu(guest, index)) /* another thread runs it */
		return;
	guests->generation++;
	if (nr)
		vcpu->tid = thread->tid;
	else
		add_vcpu(guest, index, thread->tid);
}

/*
 * The inventory does not have the thread, and the event does not name its vCPU. A process may have
 * thousands of threads, and all of them are read in one look. Guests of guests_add() are never
 * examined.
 */
static bool must_look(const struct guests *guests, const struct vcpu_thread *thread)
{
	const struct guest_entry *entry = guest_list_by_tid(guests, thread->pid);

	if (pid_list_has(&guests->looked, thread->pid))
		return false;
	if (entry)
		return !entry->is_given && thread->vcpu < 0 &&
		       !guest_vcpu_by_tid(&entry->guest, thread->tid);
	return guests->env && !ended_by_pid(guests, thread->pid, thread->first_ns);
}

/* The process has ended, and its parent has not taken note of that yet. */
static bool is_zombie(const struct guests *guests, pid_t pid)
{
	struct proc_stat stat;

	return guests->env && proc_stat_read(guests->env, pid, &stat) == 0 &&
	       proc_stat_has_ended(&stat);
}

uint32_t guests_of_thread(struct guests *guests, const struct vcpu_thread *thread, uint64_t now_ns)
{
	struct guest_entry *entry;

	guests->now_ns = now_ns;
	if (must_look(guests, thread)) {
		look_at(guests, thread->pid);
		pid_list_add(&guests->looked, thread->pid);
		pid_list_sort(&guests->looked);
	}
	entry = guest_list_by_tid(guests, thread->pid);
	if (!entry) /* a process that ended before is another one, with the same pid */
		entry = ended_by_pid(guests, thread->pid, thread->first_ns);
	if (!entry && (thread->has_ended || is_zombie(guests, thread->pid)))
		entry = add_ended(guests, thread);
	if (!entry)
		return GUEST_NONE;
	note_thread(guests, &entry->guest, thread);
	return entry->guest.id;
}
