// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the guests' names, the vCPUs' numbers, and which threads belong to one guest. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "lib/file.h"
#include "lib/number.h"
#include "lib/text.h"
#include "host/guest_name.h"
#include "trace/exits/guests.h"

#define NAME_SIZE GUEST_NAME_SIZE

/* ---- one thread */

void guests_identify(const struct trace *trace, struct recorded_thread *thread)
{
	const struct trace_event event = { .file = thread->file, .pid = thread->pid,
					   .tid = thread->tid };
	struct trace_guest guest;
	int32_t vcpu;

	snprintf(thread->comm, sizeof(thread->comm), "%s", trace_comm(trace, &event));
	thread->guest = (int32_t)trace_guest_of(trace, thread->file, thread->tid, &guest, &vcpu);
	if (thread->guest >= 0 && thread->vcpu < 0)
		thread->vcpu = vcpu;
	if (thread->guest >= 0 && thread->pid < 0)
		thread->pid = guest.pid;
	if (thread->vcpu < 0)
		thread->vcpu = guest_name_vcpu(thread->comm);
}

const struct kallsyms *guests_symbols(const struct trace *trace,
				      const struct recorded_thread *thread)
{
	return thread->guest < 0 ? NULL :
				   trace_guest_symbols(trace, thread->file, (size_t)thread->guest);
}

/* The name of a thread's guest. False: unknown. */
static bool find_name(const struct trace *trace, const struct recorded_thread *thread, char *name)
{
	const struct trace_event process = { .file = thread->file, .pid = thread->pid,
					     .tid = thread->pid };
	bool is_vm = trace_file(trace, thread->file)->kind == TRACE_ACRN;
	struct trace_guest guest;
	const char *comm;

	if (thread->guest >= 0 &&
	    trace_guest(trace, thread->file, (size_t)thread->guest, &guest)) {
		snprintf(name, NAME_SIZE, "%s", guest.name);
		return true;
	}
	if (thread->pid < 0)
		return false;
	comm = trace_comm(trace, &process);
	if (comm[0])
		snprintf(name, NAME_SIZE, "%s", comm);
	else
		snprintf(name, NAME_SIZE, "%s %d", is_vm ? "VM" : "process", (int)thread->pid);
	return true;
}

/* ---- guests */

#define GUEST_IS_CPU (-2) /* in guest_key.guest */

void recorded_guests_release(struct recorded_guests *guests)
{
	hash_free(guests->hash, free);
	hash_free(guests->vcpus, free);
}

/* Finds or adds a key. A new one has number SIZE_MAX. */
static struct recorded_guest *get_guest(struct recorded_guests *guests, const struct guest_key *key)
{
	struct recorded_guest *guest;

	HASH_FIND(hh, guests->hash, key, sizeof(*key), guest);
	if (!guest) {
		guest = xcalloc(1, sizeof(*guest));
		*guest = (struct recorded_guest){ .key = *key, .number = SIZE_MAX, .pid = -1 };
		hash_add(guests->hash, key, guest);
	}
	return guest;
}

/*
 * For a thread of which no guest is known: the n-th thread with the same vCPU number in the file
 * belongs to the n-th guest. Returns n, from 0.
 */
static uint32_t count_vcpu(struct recorded_guests *guests, const struct recorded_thread *thread,
			   uint32_t file)
{
	struct vcpu_threads *vcpu, fresh = { .key = { thread->vcpu, file } };

	if (thread->vcpu < 0)
		return 0;
	HASH_FIND(hh, guests->vcpus, &fresh.key, sizeof(fresh.key), vcpu);
	if (!vcpu) {
		vcpu = xcalloc(1, sizeof(*vcpu));
		*vcpu = fresh;
		hash_add(guests->vcpus, key, vcpu);
	}
	return vcpu->nr++;
}

/* "unknown", or where several files were read, the file's name; "unknown (2)". */
static void name_unknown(const struct trace *trace, struct recorded_guest *guest)
{
	const char *first = "unknown";
	uint32_t nr = 1;

	while (trace_file(trace, nr))
		nr++;
	if (trace_file(trace, nr - 1)->main != 0)
		first = path_base(trace_file(trace, guest->file)->path);
	name_put(guest->name, NAME_SIZE, guest->key.nth ? "%s (%u)" : "%s", first,
		 guest->key.nth + 1);
}

/* Further buffers of a file have the same threads. All files of ACRN are of one machine. */
static struct guest_key key_of(const struct trace *trace, const struct recorded_thread *thread)
{
	const struct trace_info *info = trace_file(trace, thread->file);

	return (struct guest_key){ .pid = thread->guest < 0 ? thread->pid : -1,
				   .guest = thread->guest,
				   .file = info->kind == TRACE_ACRN ? 0 : info->main };
}

struct recorded_guest *recorded_guest_of(struct recorded_guests *guests, const struct trace *trace,
					 struct recorded_thread *thread)
{
	struct guest_key key = key_of(trace, thread);
	struct recorded_guest *guest;

	if (thread->of)
		return thread->of;
	if (key.guest < 0 && key.pid < 0)
		key.nth = count_vcpu(guests, thread, trace_file(trace, thread->file)->main);
	guest = get_guest(guests, &key);
	if (guest->number == SIZE_MAX) {
		guest->number = guests->nr++;
		guest->pid = thread->pid;
		guest->file = trace_file(trace, thread->file)->main;
		guest->is_known = find_name(trace, thread, guest->name);
		if (!guest->is_known)
			name_unknown(trace, guest);
	}
	thread->of = guest;
	return guest;
}

/* If ACRN's records have no VM, each CPU is a guest. */
static const struct recorded_guest *guest_of_cpu(struct recorded_guests *guests, int32_t cpu)
{
	const struct guest_key key = { .pid = cpu, .guest = GUEST_IS_CPU };
	struct recorded_guest *guest = get_guest(guests, &key);

	snprintf(guest->name, NAME_SIZE, "CPU %d", (int)cpu);
	return guest;
}

/* ---- the inventory, from all threads that ran a vCPU */

/* A thread and the guest it belongs to. */
struct guest_thread {
	struct recorded_thread *thread;
	const struct recorded_guest *guest;
	int32_t vcpu;
};

struct guest_threads {
	struct guest_thread *list;
	size_t nr;
};

static struct guest_threads list_members(const struct trace *trace, const struct table *table,
					 struct recorded_guests *guests)
{
	struct guest_threads members = { .nr = 0 };

	members.list = xcalloc(table->nr_threads, sizeof(*members.list));
	for (size_t i = 0; i < table->nr_threads; i++) {
		struct recorded_thread *thread = table->threads[i];
		struct guest_thread *member = &members.list[members.nr];

		if (!thread->is_vcpu || thread->is_others)
			continue;
		members.nr++;
		member->thread = thread;
		if (thread->tid < 0 && thread->pid < 0 && thread->guest < 0) {
			member->guest = guest_of_cpu(guests, thread->cpu);
			member->vcpu = thread->cpu;
		} else {
			member->guest = recorded_guest_of(guests, trace, thread);
			member->vcpu = thread->vcpu;
		}
	}
	return members;
}

static int compare_guests(const struct recorded_guest *x, const struct recorded_guest *y)
{
	return compared(x->pid, y->pid) ?: strcmp(x->name, y->name);
}

static int compare_members(const void *a, const void *b)
{
	const struct guest_thread *x = a, *y = b;
	int order = x->guest == y->guest ? 0 : compare_guests(x->guest, y->guest);

	return order ?: compared(x->vcpu, y->vcpu) ?: compared(x->thread->tid, y->thread->tid);
}

static void number_vcpus(struct guest_threads *members)
{
	for (size_t i = 0; i < members->nr; i++) {
		struct guest_thread *member = &members->list[i];

		if (member->vcpu < 0)
			member->vcpu = member->thread->tid >= 0 ? member->thread->tid : 0;
	}
	qsort(members->list, members->nr, sizeof(*members->list), compare_members);
}

/* By name, then by process. */
static int compare_names(const void *a, const void *b)
{
	const struct recorded_guest *x = *(struct recorded_guest *const *)a;
	const struct recorded_guest *y = *(struct recorded_guest *const *)b;
	int order = strcmp(x->name, y->name);

	return order ? order : (x->pid > y->pid) - (x->pid < y->pid);
}

static void put_pid_first(struct recorded_guest *guest)
{
	char name[sizeof(guest->name)];

	memcpy(name, guest->name, sizeof(name));
	guest_put_pid_first(guest->name, sizeof(guest->name), guest->pid, name);
}

/* Puts the pid in front of names that several guests have. */
static void tell_apart(const struct recorded_guests *guests)
{
	size_t nr_all = 0, nr;
	struct recorded_guest **sorted = xcalloc(HASH_COUNT(guests->hash), sizeof(*sorted));

	for (struct recorded_guest *guest = guests->hash; guest; guest = guest->hh.next)
		sorted[nr_all++] = guest;
	qsort(sorted, nr_all, sizeof(*sorted), compare_names);
	for (size_t i = 0; i < nr_all; i += nr) {
		bool is_one = true;

		for (nr = 1; i + nr < nr_all; nr++) {
			if (strcmp(sorted[i]->name, sorted[i + nr]->name) != 0)
				break;
			is_one &= sorted[i]->pid == sorted[i + nr]->pid;
		}
		for (size_t j = i; !is_one && j < i + nr; j++)
			put_pid_first(sorted[j]);
	}
	free(sorted);
}

/* The vCPUs of one guest's members, each once. */
static size_t list_vcpus(const struct guest_thread *members, size_t nr, struct vcpu *ret_vcpus)
{
	size_t nr_vcpus = 0;

	for (size_t i = 0; i < nr; i++) {
		nr_vcpus += i == 0 || members[i].vcpu != members[i - 1].vcpu;
		ret_vcpus[nr_vcpus - 1] = (struct vcpu){
			.index = members[i].vcpu,
			.tid = members[i].thread->tid > 0 ? members[i].thread->tid : 0,
		};
	}
	return nr_vcpus;
}

static void add_guest(struct guests *guests, const struct guest_thread *members, size_t nr,
		      struct recorded_vcpu *of_threads)
{
	struct vcpu *vcpus = xcalloc(nr, sizeof(*vcpus));
	struct guest guest = { .pid = members->guest->pid, .vcpus = vcpus };
	uint64_t last = 0;
	uint32_t id;

	if (guest.pid < 0)
		guest.pid = 0;
	guest.nr_vcpus = list_vcpus(members, nr, vcpus);
	snprintf(guest.name, sizeof(guest.name), "%s", members->guest->name);
	id = guests_add(guests, &guest);
	free(vcpus);
	for (size_t i = 0; i < nr; i++)
		last = members[i].thread->last > last ? members[i].thread->last : last;
	for (size_t i = 0; i < nr; i++)
		of_threads[members[i].thread->index] =
			(struct recorded_vcpu){ id, members[i].vcpu, last };
}

static void add_guests(struct guests *guests, const struct guest_threads *members,
		       struct recorded_vcpu *of_threads)
{
	for (size_t i = 0, nr; i < members->nr; i += nr) {
		const struct guest_thread *first = &members->list[i];

		/* Several files may have the same guest. */
		for (nr = 1; i + nr < members->nr; nr++) {
			if (compare_guests(first->guest, first[nr].guest) != 0)
				break;
		}
		add_guest(guests, first, nr, of_threads);
	}
}

struct recorded_vcpu *guests_of_table(const struct trace *trace, const struct table *table,
				      struct recorded_guests *recorded, struct guests *guests)
{
	struct recorded_vcpu *vcpus = xcalloc(table->nr_threads, sizeof(*vcpus));
	struct guest_threads members = list_members(trace, table, recorded);

	number_vcpus(&members);
	tell_apart(recorded);
	add_guests(guests, &members, vcpus);
	free(members.list);
	/* How many vCPUs the others are is not known; in views of vCPUs they are one row. */
	if (table->others && table->others->is_vcpu)
		vcpus[table->others->index].guest =
			guests_add(guests, &(struct guest){ .name = "(others)" });
	return vcpus;
}

void recorded_guest_name(const struct trace *trace, const struct recorded_guest *guest, char *buf,
			 size_t size)
{
	const char *file = path_base(trace_file(trace, guest->file)->path);
	char pid[16];

	snprintf(pid, sizeof(pid), " %d", (int)guest->pid);
	if (!guest->is_known)
		name_put(buf, size, guest->key.nth ? "%s (%u)" : "%s", file, guest->key.nth + 1);
	else if (guest->pid < 0 || strstr(guest->name, pid))
		name_put(buf, size, "%s", guest->name);
	else
		name_put(buf, size, "%s (%d)", guest->name, (int)guest->pid);
}
