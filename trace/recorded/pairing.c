// SPDX-License-Identifier: GPL-2.0-or-later
/* Pairs what begins with what ends it, thread by thread. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/recorded/pairing_private.h"

#define SVM_LEAST 0x60 /* SVM's first exit that every guest has: an interrupt */

enum { MMIO_UNSATISFIED_READ, MMIO_READ, MMIO_WRITE };

/* ---- what begins and ends */

static void begin(struct tally_thread *thread, uint64_t time)
{
	thread->is_open = true;
	thread->has_key = false;
	thread->begin = time;
}

static int set_key(struct tally *tally, struct tally_thread *thread, const struct tally_key *key)
{
	size_t cell;
	int err = tally_cell_of(tally, thread, key, &cell);

	if (err)
		return err;
	thread->cell = cell;
	thread->has_key = true;
	thread->cells[cell].seen++;
	return 0;
}

static void end(struct tally_thread *thread, uint64_t time)
{
	if (thread->is_open && thread->has_key && time >= thread->begin)
		durations_add(&thread->cells[thread->cell].took, time - thread->begin);
	thread->is_open = thread->has_key = false;
}

static int on_user_exit(struct tally *tally, struct tally_thread *thread, const struct role *role,
			const struct trace_event *event)
{
	struct tally_key key = role_user_reason(role, event);

	begin(thread, event->time);
	return set_key(tally, thread, &key);
}

/* What the exit is about comes later. */
static void await_argument(const struct tally *tally, struct tally_thread *thread,
			   const struct role *role, const struct trace_event *event)
{
	thread->exit = role_reason(role, event);
	thread->has_exit = true;
	if (tally->event != EXITS_IOPORT)
		begin(thread, event->time);
}

static int on_exit_event(struct tally *tally, struct tally_thread *thread, const struct role *role,
			 const struct trace_event *event)
{
	struct tally_key key;

	if (!tally->has_exits)
		tally->first_exit = event->time;
	tally->has_exits = true;
	if (tally->event == EXITS_USERSPACE)
		return on_user_exit(tally, thread, role, event);
	if (tally->event != EXITS_VMEXIT) {
		await_argument(tally, thread, role, event);
		return 0;
	}
	begin(thread, event->time);
	key = role_reason(role, event);
	return set_key(tally, thread, &key);
}

/* The number of what was left the guest for; 0: not known, or there are too many. */
static uint16_t exit_number(struct tally *tally, const struct tally_thread *thread)
{
	uint16_t i = 0;

	if (!thread->has_exit)
		return 0;
	while (i < tally->nr_exits && !tally_key_is(&tally->exits[i], &thread->exit))
		i++;
	if (i == TALLY_EXITS)
		return 0;
	if (i == tally->nr_exits)
		tally->exits[tally->nr_exits++] = thread->exit;
	return (uint16_t)(i + 1);
}

/* A read ends with its kvm_mmio, and began with the exit; a write begins with it. */
static int on_mmio(struct tally *tally, struct tally_thread *thread, const struct tally_key *key,
		   uint64_t time)
{
	bool is_begun = thread->is_open;
	int err;

	if (key->c == MMIO_UNSATISFIED_READ)
		return 0;
	if (key->c == MMIO_WRITE)
		begin(thread, time);
	err = set_key(tally, thread, key);
	if (!err && key->c == MMIO_READ && is_begun)
		end(thread, time);
	return err;
}

static int on_argument(struct tally *tally, struct tally_thread *thread, const struct role *role,
		       const struct trace_event *event)
{
	struct tally_key key = role_argument(role, event);

	/* The first argument is what the exit is about. Without exits there is only this event. */
	if (tally->event > EXITS_MMIO && thread->is_open && thread->has_key)
		return 0;
	key.exit = exit_number(tally, thread);
	if (tally->event == EXITS_MMIO)
		return on_mmio(tally, thread, &key, event->time);
	if (tally->event == EXITS_IOPORT)
		begin(thread, event->time);
	return set_key(tally, thread, &key);
}

static int on_event(struct tally *tally, struct tally_thread *thread, const struct role *role)
{
	const struct tally_key key = { .a = role->of->index };

	return set_key(tally, thread, &key);
}

/* ---- events */

static int grow_roles(struct tally *tally, size_t index)
{
	size_t nr = (index | 63) + 1;
	struct role *roles = reallocarray(tally->roles, nr, sizeof(*roles));

	if (!roles)
		return -ENOMEM;
	memset(roles + tally->nr_roles, 0, (nr - tally->nr_roles) * sizeof(*roles));
	tally->roles = roles;
	tally->nr_roles = nr;
	return 0;
}

static int get_role(struct tally *tally, const struct trace_type *type, struct role **ret_role)
{
	int err = 0;

	if (type->index >= tally->nr_roles)
		err = grow_roles(tally, type->index);
	if (!err && tally->roles[type->index].kind == ROLE_UNSEEN)
		err = role_find(tally, type, &tally->roles[type->index]);
	if (!err)
		*ret_role = &tally->roles[type->index];
	return err;
}

static void lose(struct tally_thread *thread)
{
	if (thread->is_open)
		thread->unknown += thread->last - thread->begin;
	thread->is_open = thread->has_key = thread->has_exit = false;
	thread->is_lost = true;
}

/* What was open on that CPU has perhaps ended meanwhile. */
static void on_loss(struct tally *tally, const struct trace_event *event)
{
	if (tally->nr_lost < TALLY_LOST_KEPT)
		tally->lost[tally->nr_lost] =
			(struct tally_lost){ event->time, event->lost, event->cpu };
	tally->nr_lost++;
	if (event->lost > 0)
		tally->sum_lost += (uint64_t)event->lost;
	else
		tally->has_unknown_loss = true;
	for (size_t i = 0; i < tally->nr_threads; i++) {
		struct tally_thread *thread = tally->threads[i];

		if (event->cpu < 0 || thread->cpu == event->cpu)
			lose(thread);
	}
}

/* After a loss: nobody knows what the thread did up to now. */
static void find_again(struct tally_thread *thread, uint64_t time)
{
	thread->unknown += time - thread->last;
	thread->is_lost = false;
}

static int dispatch(struct tally *tally, const struct role *role, const struct trace_event *event)
{
	struct tally_thread *thread = tally_thread_of(tally, event);

	if (!thread)
		return -ENOMEM;
	thread->cpu = event->cpu;
	if (thread->is_lost)
		find_again(thread, event->time);
	thread->last = event->time;
	if (role->kind == ROLE_ARGUMENT)
		return on_argument(tally, thread, role, event);
	if (role->kind == ROLE_EVENT)
		return on_event(tally, thread, role);
	if (event->vcpu >= 0)
		thread->vcpu = event->vcpu;
	else if (role->vcpu)
		thread->vcpu = (int32_t)trace_field_number(role->vcpu, event);
	if (role->kind == ROLE_EXIT)
		return on_exit_event(tally, thread, role, event);
	tally->has_entries = true;
	tally->last_entry = event->time;
	end(thread, event->time);
	thread->has_exit = false;
	return 0;
}

int tally_add(struct tally *tally, const struct trace_event *event)
{
	struct role *role;
	int err;

	if (!event->type) {
		on_loss(tally, event);
		return 0;
	}
	if (tally->nr_events++ == 0)
		tally->first = event->time;
	tally->last_time = event->time;
	err = get_role(tally, event->type, &role);
	if (err || role->kind == ROLE_NONE)
		return err;
	return dispatch(tally, role, event);
}

/* ---- the end */

/*
 * The number in a vCPU thread's name, as the VMMs give it: "CPU 3/KVM" (QEMU), "vcpu3" (cloud
 * hypervisor), "fc_vcpu 3" (Firecracker), "crosvm_vcpu3", "kvm-vcpu-3" (kvmtool). -1: none.
 */
static int32_t vcpu_of_comm(const char *comm)
{
	const char *at = strstr(comm, "vcpu");
	char *end_of;
	long vcpu;

	if (strncmp(comm, "CPU ", 4) == 0)
		at = comm + 4;
	else if (at)
		at += 4 + strspn(at + 4, " -_");
	else
		return -1;
	vcpu = strtol(at, &end_of, 10);
	return end_of > at && vcpu >= 0 && vcpu < INT32_MAX ? (int32_t)vcpu : -1;
}

/* What the file says of the guest whose thread it is. */
static void look_up_guest(const struct tally *tally, struct tally_thread *thread)
{
	struct trace_guest guest;
	int32_t vcpu;

	if (trace_guest_of(tally->trace, thread->file, thread->tid, &guest, &vcpu) < 0)
		return;
	if (thread->vcpu < 0)
		thread->vcpu = vcpu;
	if (thread->pid < 0)
		thread->pid = guest.pid;
}

/* kvmtrace does not say whose numbers its reasons are. No VMX exit has one from 0x60 on. */
static void guess_svm(struct tally *tally)
{
	uint64_t most = 0;

	if (trace_file(tally->trace, 0)->kind != TRACE_KVMTRACE)
		return;
	for (uint32_t i = 0; i < tally->nr_exits; i++)
		most = tally->exits[i].a > most ? tally->exits[i].a : most;
	for (size_t i = 0; i < tally->nr_threads && tally->event == EXITS_VMEXIT; i++) {
		for (size_t j = 0; j < tally->threads[i]->nr_cells; j++) {
			uint64_t code = tally->threads[i]->cells[j].key.a;

			most = code > most ? code : most;
		}
	}
	if (most >= SVM_LEAST && most != UINT16_MAX)
		tally_rename(tally, arch_by_name("SVM")->splits);
}

void tally_end(struct tally *tally)
{
	guess_svm(tally);
	for (size_t i = 0; i < tally->nr_threads; i++) {
		struct tally_thread *thread = tally->threads[i];
		struct trace_event event = {
			.file = thread->file,
			.pid = thread->pid,
			.tid = thread->tid,
		};

		snprintf(thread->comm, sizeof(thread->comm), "%s",
			 trace_comm(tally->trace, &event));
		look_up_guest(tally, thread);
		if (thread->vcpu < 0)
			thread->vcpu = vcpu_of_comm(thread->comm);
	}
}

bool tally_has_time(const struct tally *tally)
{
	return tally->has_entries;
}

uint64_t tally_count(const struct tally *tally, const struct tally_cell *cell)
{
	return tally_has_time(tally) ? cell->took.count : cell->seen;
}
