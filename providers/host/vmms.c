// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads proc(5) task/, comm and schedstat of VMMs' threads, and of the kernel's for them. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/xalloc.h"
#include "host/guest_name.h"
#include "host/guest_proc.h"
#include "host/machine.h"
#include "providers/host/host.h"

#define NAMES_MAX 256 /* of all VMMs together; the threads of further names are "other" */

/* All threads of a VMM that have one name. */
struct vmm_name {
	uint32_t field;
	uint64_t run_ns; /* since each of them was found */
};

struct vmm_thread {
	pid_t tid;
	pid_t pid; /* the VMM's; of a thread of the kernel its own */
	int schedstat; /* -1: not open */
	uint64_t run_ns;
	size_t name; /* in the VMM's list */
	bool has_ended; /* a thread that has its number now is another one */
};

struct vmm {
	struct followed of;
	struct vmm_thread *threads; /* ascending by tid */
	size_t nr_threads;
	struct vmm_name *names;
	size_t nr_names, room_names;
};

struct host_vmms {
	const struct env *env;
	const struct guests *guests;
	const struct host_fields *fields;
	struct follow follow; /* struct vmm */
	struct host_kernel_threads *kernel_threads;
	uint32_t nr_names; /* that were added to the dictionary */
	bool has_schedstat;
};

static void close_thread(const struct vmm_thread *thread)
{
	if (thread->schedstat >= 0)
		close(thread->schedstat);
}

static void release(void *arg, void *item)
{
	struct vmm *vmm = item;

	(void)arg;
	for (size_t i = 0; i < vmm->nr_threads; i++)
		close_thread(&vmm->threads[i]);
	free(vmm->threads);
	free(vmm->names);
}

struct host_vmms *host_vmms_new(const struct env *env, const struct guests *guests,
				const struct host_fields *fields)
{
	struct host_vmms *vmms = xcalloc(1, sizeof(*vmms));

	vmms->env = env;
	vmms->guests = guests;
	vmms->fields = fields;
	vmms->follow = (struct follow){ .guests = guests, .size = sizeof(struct vmm),
					.drop = release };
	vmms->kernel_threads = host_kernel_threads_new(env);
	vmms->has_schedstat = schedstat_is_on(env);
	return vmms;
}

void host_vmms_free(struct host_vmms *vmms)
{
	if (!vmms)
		return;
	follow_release(&vmms->follow);
	host_kernel_threads_free(vmms->kernel_threads);
	free(vmms);
}

/* ---- names */

/* Whether a thread of any VMM had this name before. */
static bool is_known(const struct host_fields *host, const char *label)
{
	for (uint32_t i = 0; i < fields_count(host->fields); i++) {
		const struct field *field = fields_get(host->fields, i);

		if (field->parent == host->parts[HOST_THREAD] && strcmp(field->label, label) == 0)
			return true;
	}
	return false;
}

/* The number of the name in the VMM's list. */
static void get_name(struct host_vmms *vmms, struct vmm *vmm, const char *label, size_t *ret_name)
{
	uint32_t before = fields_count(vmms->fields->fields), field;

	if (!label[0] || (vmms->nr_names >= NAMES_MAX && !is_known(vmms->fields, label)))
		label = "other";
	field = host_fields_thread(vmms->fields, label);
	vmms->nr_names += fields_count(vmms->fields->fields) - before;
	for (*ret_name = 0; *ret_name < vmm->nr_names; ++*ret_name) {
		if (vmm->names[*ret_name].field == field)
			return;
	}
	*array_add(vmm->names, vmm->nr_names, vmm->room_names) =
		(struct vmm_name){ .field = field };
}

/* ---- threads */

/* proc(5), schedstat: the first number is ns on a CPU. */
static bool read_run(const struct host_vmms *vmms, struct vmm_thread *thread, uint64_t *ret_ns)
{
	char path[PATH_MAX] = "", text[96];

	if (thread->schedstat < 0)
		env_path(vmms->env, path, sizeof(path), "/proc/%d/task/%d/schedstat",
			 (int)thread->pid, (int)thread->tid);
	if (!descriptors_read(&thread->schedstat, path, text, sizeof(text)))
		return false;
	*ret_ns = strtoull(text, NULL, 10);
	return true;
}

static void begin_thread(struct host_vmms *vmms, struct vmm *vmm, pid_t tid,
			 struct vmm_thread *ret_thread)
{
	pid_t pid = host_kernel_threads_has(vmms->kernel_threads, tid) ? tid : vmm->of.pid;
	char comm[32], name[sizeof(comm)];

	*ret_thread = (struct vmm_thread){ .tid = tid, .pid = pid, .schedstat = -1 };
	env_read_line(vmms->env, comm, sizeof(comm), "/proc/%d/task/%d/comm", (int)pid, (int)tid);
	guest_name_thread(comm, sizeof(comm), name, sizeof(name));
	get_name(vmms, vmm, name, &ret_thread->name);
	read_run(vmms, ret_thread, &ret_thread->run_ns);
}

/* Takes threads that are there over from the old list, and closes the others. */
static void list_threads(struct host_vmms *vmms, struct vmm *vmm, const struct pid_list *tids)
{
	const struct guest *guest = guests_by_id(vmms->guests, vmm->of.guest);
	struct vmm_thread *list = NULL;
	size_t nr = 0, room = 0, old = 0;

	for (size_t i = 0; i < tids->nr; i++) {
		pid_t tid = tids->pids[i];

		if (guest_vcpu_by_tid(guest, tid))
			continue;
		array_grow(&list, &room, nr + 1);
		while (old < vmm->nr_threads &&
		       (vmm->threads[old].tid < tid ||
			(vmm->threads[old].tid == tid && vmm->threads[old].has_ended)))
			close_thread(&vmm->threads[old++]);
		if (old < vmm->nr_threads && vmm->threads[old].tid == tid)
			list[nr] = vmm->threads[old++];
		else
			begin_thread(vmms, vmm, tid, &list[nr]);
		nr++;
	}
	while (old < vmm->nr_threads)
		close_thread(&vmm->threads[old++]);
	free(vmm->threads);
	vmm->threads = list;
	vmm->nr_threads = nr;
}

static void take_turn(struct host_vmms *vmms, struct vmm *vmm)
{
	struct pid_list tids = { 0 };

	/* Else it has ended, or cannot be read now. */
	if (proc_threads(vmms->env, vmm->of.pid, &tids) == 0) {
		host_kernel_threads_add(vmms->kernel_threads, &tids);
		list_threads(vmms, vmm, &tids);
	}
	pid_list_release(&tids);
}

static void take_turns(struct host_vmms *vmms)
{
	const struct follow *follow = &vmms->follow;
	size_t nr = follow->nr < HOST_VMMS_TURN ? follow->nr : HOST_VMMS_TURN;

	if (nr && (!follow->next || follow->next + nr > follow->nr))
		host_kernel_threads_list(vmms->kernel_threads);
	host_kernel_threads_name(vmms->kernel_threads);
	for (; nr; nr--)
		take_turn(vmms, follow_take_turn(&vmms->follow));
}

/* ---- a sample */

static void read_times(const struct host_vmms *vmms, struct vmm *vmm)
{
	for (size_t i = 0; i < vmm->nr_threads; i++) {
		struct vmm_thread *thread = &vmm->threads[i];
		uint64_t run_ns;

		if (thread->has_ended)
			continue;
		thread->has_ended = !read_run(vmms, thread, &run_ns) || run_ns < thread->run_ns;
		if (thread->has_ended)
			continue;
		vmm->names[thread->name].run_ns += run_ns - thread->run_ns;
		thread->run_ns = run_ns;
	}
}

static void add_rows(const struct host_vmms *vmms, const struct vmm *vmm, struct sample *sample)
{
	struct key key = { vmm->of.guest, -1, vmms->fields->parts[HOST_THREAD] };
	uint64_t sum_ns = 0;

	if (!vmm->nr_names) /* its threads were not listed yet */
		return;
	for (size_t i = 0; i < vmm->nr_names; i++)
		sum_ns += vmm->names[i].run_ns;
	sample_add(sample, key, sum_ns, 0);
	for (size_t i = 0; i < vmm->nr_names; i++) {
		key.field = vmm->names[i].field;
		sample_add(sample, key, vmm->names[i].run_ns, 0);
	}
}

void host_vmms_collect(struct host_vmms *vmms, struct sample *sample)
{
	if (vmms->has_schedstat)
		follow_update(&vmms->follow);
	take_turns(vmms);
	for (size_t i = 0; i < vmms->follow.nr; i++) {
		struct vmm *vmm = (struct vmm *)vmms->follow.list + i;

		read_times(vmms, vmm);
		add_rows(vmms, vmm, sample);
	}
}
