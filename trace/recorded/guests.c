// SPDX-License-Identifier: GPL-2.0-or-later
/* Whose threads those of a recording are: guests, and the numbers of their vCPUs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/recorded/recorded.h"

/* A thread that ran a vCPU, and what tells its guest from others. */
struct member {
	uint64_t strand;
	int32_t pid, tid, vcpu; /* -1: not known */
	bool is_stray;		/* whose it is, nobody says */
	char guest[64], comm[32];
};

struct members {
	struct member *list;
	size_t nr;
};

/* ---- what the recording says of a thread */

static bool find_named(const struct trace *trace, const struct tally_thread *thread,
		       struct member *member)
{
	struct trace_guest guest;
	int32_t vcpu;

	if (trace_guest_of(trace, thread->file, thread->tid, &guest, &vcpu) < 0)
		return false;
	snprintf(member->guest, sizeof(member->guest), "%s", guest.name);
	return true;
}

static void name_process(const struct trace *trace, const struct tally_thread *thread,
			 struct member *member)
{
	const struct trace_event process = { .file = thread->file, .pid = thread->pid,
					     .tid = thread->pid };
	bool is_vm = trace_file(trace, thread->file)->kind == TRACE_ACRN;
	const char *comm = trace_comm(trace, &process);

	if (comm[0])
		snprintf(member->guest, sizeof(member->guest), "%s", comm);
	else
		snprintf(member->guest, sizeof(member->guest), "%s %d", is_vm ? "VM" : "process",
			 (int)thread->pid);
}

static void name_stray(const struct trace *trace, const struct tally_thread *thread,
		       struct member *member)
{
	const char *instance = trace_file(trace, thread->file)->instance;

	member->is_stray = true;
	snprintf(member->guest, sizeof(member->guest), "%s", instance[0] ? instance : "unknown");
}

static struct member member_of(const struct trace *trace, const struct tally_thread *thread)
{
	struct member member = { .strand = thread->strand, .pid = thread->pid,
				 .tid = thread->tid, .vcpu = thread->vcpu };

	snprintf(member.comm, sizeof(member.comm), "%s", thread->comm);
	if (find_named(trace, thread, &member))
		return member;
	if (thread->pid >= 0) {
		name_process(trace, thread, &member);
	} else if (thread->tid < 0) {
		snprintf(member.guest, sizeof(member.guest), "CPU %d", (int)thread->cpu);
		member.vcpu = thread->cpu;
	} else {
		name_stray(trace, thread, &member);
	}
	return member;
}

/* What a tally does not know of a vCPU's number another one may. */
static int32_t vcpu_number(const struct recording *recording, uint64_t strand)
{
	for (unsigned int i = 0; i < TALLY_EVENTS; i++) {
		const struct tally_thread *thread =
			tally_thread_by_strand(&recording->tallies[i], strand);

		if (thread && thread->vcpu >= 0)
			return thread->vcpu;
	}
	return -1;
}

/* Whoever leaves or enters a guest, or does what only vCPUs do. */
static bool ran_vcpu(const struct recording *recording, uint64_t strand)
{
	for (unsigned int i = 0; i < TALLY_EVENTS; i++) {
		if (tally_thread_by_strand(&recording->tallies[i], strand))
			return true;
	}
	return false;
}

static int list_members(const struct recording *recording, struct members *ret_members)
{
	const struct tally *all = &recording->tallies[TALLY_EVENTS];

	ret_members->nr = 0;
	ret_members->list = calloc(all->nr_threads + 1, sizeof(*ret_members->list));
	if (!ret_members->list)
		return -ENOMEM;
	for (size_t i = 0; i < all->nr_threads; i++) {
		struct tally_thread thread = *all->threads[i];

		if (!ran_vcpu(recording, thread.strand))
			continue;
		thread.vcpu = vcpu_number(recording, thread.strand);
		ret_members->list[ret_members->nr++] = member_of(recording->trace, &thread);
	}
	return 0;
}

/* ---- guests */

static int compare_guests(const struct member *x, const struct member *y)
{
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return strcmp(x->guest, y->guest);
}

static int compare_members(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	int order = compare_guests(x, y);

	if (order)
		return order;
	if (x->vcpu != y->vcpu)
		return x->vcpu < y->vcpu ? -1 : 1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

static void sort_members(struct members *members)
{
	if (members->nr)
		qsort(members->list, members->nr, sizeof(*members->list), compare_members);
}

/* Two vCPUs of one number are of two guests. */
static bool are_strays_several(const struct members *members)
{
	for (size_t i = 1; i < members->nr; i++) {
		const struct member *member = &members->list[i], *before = member - 1;

		if (member->is_stray && before->is_stray && member->vcpu >= 0 &&
		    member->vcpu == before->vcpu && compare_guests(member, before) == 0)
			return true;
	}
	return false;
}

static void part_strays(struct members *members)
{
	for (size_t i = 0; i < members->nr; i++) {
		struct member *member = &members->list[i];

		if (!member->is_stray)
			continue;
		member->pid = member->tid;
		if (member->comm[0])
			snprintf(member->guest, sizeof(member->guest), "%s", member->comm);
		else
			snprintf(member->guest, sizeof(member->guest), "thread %d",
				 (int)member->tid);
	}
	sort_members(members);
}

static void number_vcpus(struct members *members)
{
	for (size_t i = 0; i < members->nr; i++) {
		struct member *member = &members->list[i];

		if (member->vcpu < 0)
			member->vcpu = member->tid >= 0 ? member->tid : 0;
	}
	sort_members(members);
}

/* By name, and of one name those of a process together. */
static int compare_names(const void *a, const void *b)
{
	const struct member *x = *(struct member *const *)a, *y = *(struct member *const *)b;
	int order = strcmp(x->guest, y->guest);

	return order ? order : (x->pid > y->pid) - (x->pid < y->pid);
}

static void put_pid_first(struct member *member)
{
	char name[sizeof(member->guest)];

	memcpy(name, member->guest, sizeof(name));
	snprintf(member->guest, sizeof(member->guest), "%d %.50s", (int)member->pid, name);
}

/* Guests of one name: the process comes first. */
static int tell_apart(struct members *members)
{
	struct member **by_name = calloc(members->nr + 1, sizeof(*by_name));

	if (!by_name)
		return -ENOMEM;
	for (size_t i = 0; i < members->nr; i++)
		by_name[i] = &members->list[i];
	qsort(by_name, members->nr, sizeof(*by_name), compare_names);
	for (size_t i = 0, nr; i < members->nr; i += nr) {
		bool is_one = true;

		for (nr = 1; i + nr < members->nr; nr++) {
			if (strcmp(by_name[i]->guest, by_name[i + nr]->guest) != 0)
				break;
			is_one &= by_name[i]->pid == by_name[i + nr]->pid;
		}
		for (size_t j = i; !is_one && j < i + nr; j++)
			put_pid_first(by_name[j]);
	}
	free(by_name);
	return 0;
}

/* The vCPUs of members that belong together, each once. */
static size_t list_vcpus(const struct member *members, size_t nr, struct vcpu *ret_vcpus)
{
	size_t nr_vcpus = 0;

	for (size_t i = 0; i < nr; i++) {
		nr_vcpus += i == 0 || members[i].vcpu != members[i - 1].vcpu;
		ret_vcpus[nr_vcpus - 1] = (struct vcpu){
			.index = members[i].vcpu,
			.tid = members[i].tid > 0 ? members[i].tid : 0,
		};
	}
	return nr_vcpus;
}

static int add_guest(struct recorded *recorded, const struct member *members, size_t nr)
{
	struct vcpu *vcpus = calloc(nr, sizeof(*vcpus));
	struct guest guest = { .pid = members->pid > 0 ? members->pid : 0, .vcpus = vcpus };
	uint32_t id;

	if (!vcpus)
		return -ENOMEM;
	guest.nr_vcpus = list_vcpus(members, nr, vcpus);
	snprintf(guest.name, sizeof(guest.name), "%s", members->guest);
	id = guests_add(recorded->guests, &guest);
	free(vcpus);
	for (size_t i = 0; id && i < nr; i++)
		recorded->vcpus[recorded->nr_vcpus++] =
			(struct recorded_vcpu){ members[i].strand, id, members[i].vcpu };
	return id ? 0 : -ENOMEM;
}

static int add_guests(struct recorded *recorded, const struct members *members)
{
	int err = 0;

	for (size_t i = 0, nr; i < members->nr && !err; i += nr) {
		const struct member *first = &members->list[i];

		for (nr = 1; i + nr < members->nr && compare_guests(first, first + nr) == 0;)
			nr++;
		err = add_guest(recorded, first, nr);
	}
	return err;
}

static int compare_vcpus(const void *a, const void *b)
{
	const struct recorded_vcpu *x = a, *y = b;

	return (x->strand > y->strand) - (x->strand < y->strand);
}

int recorded_find_guests(struct recorded *recorded)
{
	struct members members;
	int err = list_members(recorded->recording, &members);

	if (err)
		return err;
	sort_members(&members);
	if (are_strays_several(&members))
		part_strays(&members);
	number_vcpus(&members);
	recorded->vcpus = calloc(members.nr + 1, sizeof(*recorded->vcpus));
	err = recorded->vcpus ? tell_apart(&members) : -ENOMEM;
	if (!err)
		err = add_guests(recorded, &members);
	free(members.list);
	if (!err && recorded->nr_vcpus)
		qsort(recorded->vcpus, recorded->nr_vcpus, sizeof(*recorded->vcpus),
		      compare_vcpus);
	return err;
}

const struct recorded_vcpu *recorded_vcpu(const struct recorded *recorded, uint64_t strand)
{
	const struct recorded_vcpu wanted = { .strand = strand };

	if (!recorded->nr_vcpus)
		return NULL;
	return bsearch(&wanted, recorded->vcpus, recorded->nr_vcpus, sizeof(wanted),
		       compare_vcpus);
}
