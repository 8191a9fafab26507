// SPDX-License-Identifier: GPL-2.0-or-later
/* Which threads are measured: the vCPUs of the inventory, each with a record of the programs'. */
#include <stdlib.h>
#include <string.h>

#include "lib/xalloc.h"
#include "providers/who/members.h"

static int by_tid(const void *a, const void *b)
{
	const struct who_member *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

struct who_member *who_members_find(const struct who_members *members, pid_t tid)
{
	const struct who_member sought = { .tid = tid };

	return members->nr ? bsearch(&sought, members->list, members->nr, sizeof(sought), by_tid) :
			     NULL;
}

static void begin_member(struct who_members *members, struct who_bpf *bpf,
			 struct who_member *member)
{
	uint32_t number = members->latest;

	/* A program may still write to the record of a thread that has just been removed. */
	do
		number = (number + 1) % WHO_VCPUS;
	while (members->is_used[number] && number != members->latest);
	if (members->is_used[number] || who_bpf_add_vcpu(bpf, member->tid, number) < 0)
		return;
	members->is_used[number] = true;
	members->latest = member->number = number;
}

static void end_member(struct who_members *members, struct who_bpf *bpf,
		       struct who_member *member)
{
	if (member->number == WHO_NO_RECORD)
		return;
	who_bpf_remove(bpf, member->tid);
	members->is_used[member->number] = false;
	member->number = WHO_NO_RECORD;
}

static size_t add_vcpus(const struct guest *guest, struct who_member *list)
{
	size_t nr = 0;

	for (size_t i = 0; i < guest->nr_vcpus; i++) {
		if (guest->vcpus[i].tid)
			list[nr++] = (struct who_member){
				.tid = guest->vcpus[i].tid,
				.guest = guest->id,
				.vcpu = guest->vcpus[i].index,
				.number = WHO_NO_RECORD,
				.is_there = true,
			};
	}
	return nr;
}

/* Takes over what an earlier list has; threads that have ended stay as long as their guest. */
static size_t keep_members(struct who_members *members, struct who_bpf *bpf,
			   struct who_member *list, size_t nr)
{
	size_t all = nr;

	for (size_t i = 0; i < members->nr; i++) {
		struct who_member *old = &members->list[i];
		struct who_member *same = nr ? bsearch(old, list, nr, sizeof(*list), by_tid) : NULL;

		if (same && same->guest == old->guest && same->vcpu == old->vcpu) {
			same->number = old->number;
			continue;
		}
		end_member(members, bpf, old);
		if (old->is_there)
			pid_list_add(&members->ended, old->tid);
		old->is_there = false;
		if (!same && guests_find(members->guests, old->guest))
			list[all++] = *old;
	}
	return all;
}

static void find_vmms(struct who_members *members, struct who_bpf *bpf)
{
	const struct guest *guest;

	for (size_t i = 0; i < members->vmms.nr; i++) {
		if (!guests_by_pid(members->guests, members->vmms.pids[i]) &&
		    !who_members_find(members, members->vmms.pids[i]))
			who_bpf_remove(bpf, members->vmms.pids[i]);
	}
	members->vmms.nr = 0;
	for (size_t i = 0; (guest = guests_at(members->guests, i)); i++) {
		pid_list_add(&members->vmms, guest->pid);
		(void)who_bpf_add_vmm(bpf, guest->pid); /* else it is a process */
	}
}

bool who_members_update(struct who_members *members, struct who_bpf *bpf)
{
	size_t room = guests_count_vcpus(members->guests) + members->nr, nr = 0;
	const struct guest *guest;
	struct who_member *list;

	if (members->generation == guests_generation(members->guests))
		return false;
	members->generation = guests_generation(members->guests);
	list = xcalloc(room + 1, sizeof(*list));
	for (size_t i = 0; (guest = guests_at(members->guests, i)); i++)
		nr += add_vcpus(guest, list + nr);
	qsort(list, nr, sizeof(*list), by_tid);
	nr = keep_members(members, bpf, list, nr);
	free(members->list);
	members->list = list;
	members->nr = nr;
	qsort(list, nr, sizeof(*list), by_tid);
	members->nr_left_out = 0;
	for (size_t i = 0; bpf && i < nr; i++) {
		if (list[i].is_there && list[i].number == WHO_NO_RECORD)
			begin_member(members, bpf, &list[i]);
		members->nr_left_out += list[i].is_there && list[i].number == WHO_NO_RECORD;
	}
	if (bpf)
		find_vmms(members, bpf);
	return true;
}

void who_members_init(struct who_members *members, const struct guests *guests)
{
	*members = (struct who_members){ .guests = guests, .generation = UINT64_MAX };
}

void who_members_forget(struct who_members *members)
{
	members->nr = members->vmms.nr = 0;
	members->generation = UINT64_MAX;
	memset(members->is_used, 0, sizeof(members->is_used));
}

void who_members_release(struct who_members *members)
{
	free(members->list);
	pid_list_release(&members->vmms);
	pid_list_release(&members->ended);
}
