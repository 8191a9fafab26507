// SPDX-License-Identifier: GPL-2.0-or-later
/* Threads that KVM's events show: which guest each is of, and which of its vCPUs it runs. */
#include <stdlib.h>
#include <string.h>

#include "lib/xalloc.h"
#include "host/guest.h"
#include "host/guest_list.h"
#include "host/guest_name.h"
#include "host/guest_proc.h"

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
	struct guest_entry *entry = xcalloc(1, sizeof(*entry));
	struct guest *guest;

	guest = &entry->guest;
	guest->id = ++guests->last_id;
	guest->pid = thread->pid;
	guest->nr_vms = 1;
	memcpy(guest->name, name.name, sizeof(name.name));
	memcpy(guest->vmm, name.vmm, sizeof(guest->vmm));
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

/* The inventory does not have the thread, and nothing else tells its vCPU; not of guests_add(). */
static bool must_look(const struct guests *guests, const struct vcpu_thread *thread)
{
	const struct guest_entry *entry = guest_list_by_tid(guests, thread->pid);

	if (entry)
		return !entry->is_given && thread->vcpu < 0 &&
		       !guest_vcpu_by_tid(&entry->guest, thread->tid);
	return guests->env && !ended_by_pid(guests, thread);
}

/* The process has ended, and its parent has not taken note of that yet. */
static bool is_zombie(const struct guests *guests, pid_t pid)
{
	struct proc_stat stat;

	return guests->env && proc_stat_read(guests->env, pid, &stat) == 0 &&
	       proc_stat_has_ended(&stat);
}

uint32_t guests_meet(struct guests *guests, const struct vcpu_thread *thread, uint64_t now_ns)
{
	struct guest_entry *entry;

	guests->now_ns = now_ns;
	if (must_look(guests, thread))
		guest_look_at(guests, thread->pid);
	entry = guest_list_by_tid(guests, thread->pid);
	if (!entry)
		entry = ended_by_pid(guests, thread);
	if (!entry && (thread->has_ended || is_zombie(guests, thread->pid)))
		entry = add_ended(guests, thread);
	if (!entry)
		return GUEST_ANY;
	note_thread(guests, &entry->guest, thread);
	return entry->guest.id;
}
