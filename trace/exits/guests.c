// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the guests' names, the vCPUs' numbers, and which threads belong to one guest. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "lib/file.h"
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

/* ---- guests while the recording is read */

/* Two threads with the same key belong to the same guest. */
struct guest_key {
	int64_t pid;   /* -1: not known */
	int64_t guest; /* index in the file's list of guests; -1: the file has no list */
	uint32_t file;
	uint32_t nth; /* if pid and guest are unknown: the number of earlier threads of this vCPU */
};

/* A guest's number. If key.guest is IS_VCPU, key.pid is a vCPU, and number counts its threads. */
struct guest_number {
	struct guest_key key;
	size_t number;
	UT_hash_handle hh;
};

#define IS_VCPU (-2) /* value of guest_key.guest */

void guest_numbers_release(struct guest_numbers *numbers)
{
	struct guest_number *number, *next;

	HASH_ITER(hh, numbers->hash, number, next) {
		HASH_DEL(numbers->hash, number);
		free(number);
	}
}

/* Finds or adds a key. A new one has number SIZE_MAX. */
static struct guest_number *get_number(struct guest_numbers *numbers, const struct guest_key *key)
{
	struct guest_number *number;

	HASH_FIND(hh, numbers->hash, key, sizeof(*key), number);
	if (number)
		return number;
	number = xcalloc(1, sizeof(*number));
	number->key = *key;
	number->number = SIZE_MAX;
	hash_add(numbers->hash, key, number);
	return number;
}

/* The main buffer of a file: further buffers have the same threads. */
static uint32_t main_file(const struct trace *trace, uint32_t file)
{
	return trace_file(trace, file)->main;
}

/*
 * For a thread of which no guest is known: the n-th thread with the same vCPU number in the file
 * belongs to the n-th guest. Returns n, from 0.
 */
static uint32_t count_vcpu(struct guest_numbers *numbers, const struct trace *trace,
			   const struct recorded_thread *thread)
{
	const struct guest_key of = { .pid = thread->vcpu, .guest = IS_VCPU,
				      .file = main_file(trace, thread->file) };

	if (thread->vcpu < 0)
		return 0;
	return (uint32_t)++get_number(numbers, &of)->number; /* from SIZE_MAX to 0 */
}

static void name_number(const struct trace *trace, const struct recorded_thread *thread,
			uint32_t nth, char *ret_name, size_t size)
{
	const char *file = path_base(trace_file(trace, thread->file)->path);
	char name[NAME_SIZE], number[16];

	snprintf(number, sizeof(number), " %d", (int)thread->pid);
	if (!find_name(trace, thread, name))
		snprintf(ret_name, size, nth ? "%s (%u)" : "%s", file, nth + 1);
	else if (thread->pid < 0 || strstr(name, number))
		snprintf(ret_name, size, "%s", name);
	else
		snprintf(ret_name, size, "%s (%d)", name, (int)thread->pid);
}

size_t guest_numbers_add(struct guest_numbers *numbers, const struct trace *trace,
			 const struct recorded_thread *thread, char *ret_name, size_t size)
{
	struct guest_key key = { .pid = thread->pid, .guest = thread->guest,
				 .file = main_file(trace, thread->file) };
	struct guest_number *number;

	if (trace_file(trace, thread->file)->kind == TRACE_ACRN)
		key.file = 0; /* all files are of one machine, one for each CPU */
	if (key.guest >= 0)
		key.pid = -1;
	if (key.pid < 0 && key.guest < 0)
		key.nth = count_vcpu(numbers, trace, thread);
	number = get_number(numbers, &key);
	ret_name[0] = '\0';
	if (number->number == SIZE_MAX) {
		number->number = numbers->nr++;
		name_number(trace, thread, key.nth, ret_name, size);
	}
	return number->number;
}

/* ---- guests after the recording is read, from all threads that ran a vCPU */

/* A thread and the guest it belongs to. */
struct member {
	const struct recorded_thread *thread;
	int32_t pid, vcpu; /* -1: not known */
	char guest[NAME_SIZE];
};

struct members {
	struct member *list;
	size_t nr;
};

/* "unknown", or where several files were read, the file's name; "unknown (2)". */
static void name_unknown(const struct trace *trace, const struct recorded_thread *thread,
			 uint32_t nth, char *name)
{
	uint32_t file = main_file(trace, thread->file), nr = 1;
	const char *first = "unknown";

	while (trace_file(trace, nr))
		nr++;
	if (main_file(trace, nr - 1) != 0)
		first = path_base(trace_file(trace, file)->path);
	snprintf(name, NAME_SIZE, nth ? "%.50s (%u)" : "%.50s", first, nth + 1);
}

static void set_member(struct member *member, const struct trace *trace,
		       const struct recorded_thread *thread, struct guest_numbers *numbers)
{
	*member = (struct member){ .thread = thread, .pid = thread->pid, .vcpu = thread->vcpu };
	if (find_name(trace, thread, member->guest))
		return;
	if (thread->tid < 0) {
		snprintf(member->guest, sizeof(member->guest), "CPU %d", (int)thread->cpu);
		member->vcpu = thread->cpu;
		return;
	}
	name_unknown(trace, thread, count_vcpu(numbers, trace, thread), member->guest);
}

static struct members list_members(const struct trace *trace, const struct table *table)
{
	struct guest_numbers numbers = { .nr = 0 };
	struct members members = { .nr = 0 };

	members.list = xcalloc(table->nr_threads, sizeof(*members.list));
	for (size_t i = 0; i < table->nr_threads; i++) {
		if (table->threads[i]->is_vcpu)
			set_member(&members.list[members.nr++], trace, table->threads[i],
				   &numbers);
	}
	guest_numbers_release(&numbers);
	return members;
}

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
	return (x->thread->tid > y->thread->tid) - (x->thread->tid < y->thread->tid);
}

static void sort_members(struct members *members)
{
	qsort(members->list, members->nr, sizeof(*members->list), compare_members);
}

static void number_vcpus(struct members *members)
{
	for (size_t i = 0; i < members->nr; i++) {
		struct member *member = &members->list[i];

		if (member->vcpu < 0)
			member->vcpu = member->thread->tid >= 0 ? member->thread->tid : 0;
	}
	sort_members(members);
}

/* By name, then by process. */
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
	guest_put_pid_first(member->guest, sizeof(member->guest), member->pid, name);
}

/* Puts the pid in front of names that several guests have. */
static void tell_apart(struct members *members)
{
	struct member **by_name = xcalloc(members->nr, sizeof(*by_name));

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
}

/* The vCPUs of one guest's members, each once. */
static size_t list_vcpus(const struct member *members, size_t nr, struct vcpu *ret_vcpus)
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

static void add_guest(struct guests *guests, const struct member *members, size_t nr,
		      struct recorded_vcpu *of_threads)
{
	struct vcpu *vcpus = xcalloc(nr, sizeof(*vcpus));
	struct guest guest = { .pid = members->pid > 0 ? members->pid : 0, .vcpus = vcpus };
	uint64_t last = 0;
	uint32_t id;

	guest.nr_vcpus = list_vcpus(members, nr, vcpus);
	snprintf(guest.name, sizeof(guest.name), "%s", members->guest);
	id = guests_add(guests, &guest);
	free(vcpus);
	for (size_t i = 0; i < nr; i++)
		last = members[i].thread->last > last ? members[i].thread->last : last;
	for (size_t i = 0; i < nr; i++)
		of_threads[members[i].thread->index] =
			(struct recorded_vcpu){ id, members[i].vcpu, last };
}

static void add_guests(struct guests *guests, const struct members *members,
		       struct recorded_vcpu *of_threads)
{
	for (size_t i = 0, nr; i < members->nr; i += nr) {
		const struct member *first = &members->list[i];

		for (nr = 1; i + nr < members->nr && compare_guests(first, first + nr) == 0;)
			nr++;
		add_guest(guests, first, nr, of_threads);
	}
}

struct recorded_vcpu *guests_of_table(const struct trace *trace, const struct table *table,
				      struct guests *guests)
{
	struct recorded_vcpu *vcpus = xcalloc(table->nr_threads, sizeof(*vcpus));
	struct members members = list_members(trace, table);

	number_vcpus(&members);
	tell_apart(&members);
	add_guests(guests, &members, vcpus);
	free(members.list);
	return vcpus;
}
