// SPDX-License-Identifier: GPL-2.0-or-later
/* Copies guests from the inventory, which forgets guests that have ended. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/clock.h"
#include "core/guests/guests.h"
#include "trace/tracer/guest_log.h"

#define VCPUS_MAX 4096

struct guest_log {
	struct guests *inventory;
	uint64_t generation;
	struct logged_guest *list;
	size_t nr, room;
};

struct guest_log *guest_log_new(const struct env *env)
{
	struct guest_log *log = xcalloc(1, sizeof(*log));

	log->inventory = guests_new(env);
	return log;
}

void guest_log_free(struct guest_log *log)
{
	if (!log)
		return;
	for (size_t i = 0; i < log->nr; i++) {
		free(log->list[i].tids);
		free(log->list[i].others);
	}
	free(log->list);
	guests_free(log->inventory);
	free(log);
}

static struct logged_guest *get(struct guest_log *log, uint32_t id)
{
	for (size_t i = 0; i < log->nr; i++) {
		if (log->list[i].id == id)
			return &log->list[i];
	}
	array_grow(&log->list, &log->room, log->nr + 1);
	log->list[log->nr] = (struct logged_guest){ .id = id };
	return &log->list[log->nr++];
}

static void grow(struct logged_guest *copy, size_t nr)
{
	array_grow(&copy->tids, &copy->tids_room, nr);
	while (copy->nr_vcpus < nr)
		copy->tids[copy->nr_vcpus++] = -1;
}

/* Two VMs in one process have the same vCPU numbers: the first VM's thread is kept. */
static void keep(struct guest_log *log, const struct guest *guest)
{
	struct logged_guest *copy = get(log, guest->id);

	memcpy(copy->name, guest->name, sizeof(copy->name));
	copy->pid = guest->pid;
	for (size_t i = 0; i < guest->nr_vcpus; i++) {
		const struct vcpu *vcpu = &guest->vcpus[i];

		if (vcpu->index < 0 || vcpu->index >= VCPUS_MAX)
			continue;
		grow(copy, (size_t)vcpu->index + 1);
		if (vcpu->tid > 0 && copy->tids[vcpu->index] < 0)
			copy->tids[vcpu->index] = vcpu->tid;
	}
}

int guest_log_refresh(struct guest_log *log, struct error *why)
{
	int err = guests_refresh(log->inventory, clock_now_ns(), why);
	uint64_t generation = guests_generation(log->inventory);
	const struct guest *guest;

	if (err || generation == log->generation)
		return err;
	for (size_t i = 0; (guest = guests_at(log->inventory, i)); i++)
		keep(log, guest);
	log->generation = generation;
	return 0;
}

static bool is_vcpu(const struct logged_guest *guest, pid_t tid)
{
	for (size_t i = 0; i < guest->nr_vcpus; i++) {
		if (guest->tids[i] == tid)
			return true;
	}
	return false;
}

static void add_thread(struct guest_log *log, pid_t tid, pid_t pid)
{
	for (size_t i = 0; i < log->nr; i++) {
		struct logged_guest *guest = &log->list[i];

		if (guest->pid != pid || is_vcpu(guest, tid))
			continue;
		array_grow(&guest->others, &guest->others_room, guest->nr_others + 1);
		guest->others[guest->nr_others++] = tid;
	}
}

void guest_log_add_threads(struct guest_log *log, const struct thread_log *threads)
{
	for (size_t i = 0; i < threads->nr; i++)
		add_thread(log, threads->list[i].tid, threads->list[i].pid);
}

const struct logged_guest *guest_log_at(const struct guest_log *log, size_t i)
{
	return i < log->nr ? &log->list[i] : NULL;
}

int guest_log_find(const struct guest_log *log, const char *name, pid_t pid,
		   pid_t *ret_pid, struct error *why)
{
	const struct guest *guest = NULL;
	int err = guests_choose(log->inventory, name, pid, &guest, why);

	if (!err)
		*ret_pid = guest->pid;
	return err;
}
