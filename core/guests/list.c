// SPDX-License-Identifier: GPL-2.0-or-later
/* The list of guests, and the functions that look something up in it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/hash.h"
#include "lib/xalloc.h"
#include "core/guests/guests.h"
#include "core/guests/list.h"
#include "host/guest_proc.h"

struct tid_ref {
	int tid;
	struct guest_entry *entry;
	UT_hash_handle hh;
};

struct guests *guests_new(const struct env *env)
{
	struct guests *guests = xcalloc(1, sizeof(*guests));

	guests->env = env;
	guests->finder = env ? guest_finder_new(env) : NULL;
	return guests;
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

static void remember_tid(struct guests *guests, struct guest_entry *entry, pid_t tid)
{
	struct tid_ref *ref;

	if (!tid) /* not known */
		return;
	ref = hash_get(guests->tids, tid, &tid); /* of another guest, if the number was reused */
	ref->entry = entry;
}

void guest_list_set_tids(struct guests *guests, struct guest_entry *entry, struct pid_list *tids)
{
	forget_tids(guests, entry);
	pid_list_release(&entry->tids);
	entry->tids = *tids;
	*tids = (struct pid_list){ 0 };
	remember_tid(guests, entry, entry->guest.pid);
	for (size_t i = 0; i < entry->tids.nr; i++)
		remember_tid(guests, entry, entry->tids.pids[i]);
}

static void entry_free(struct guests *guests, struct guest_entry *entry)
{
	forget_tids(guests, entry);
	pid_list_release(&entry->tids);
	vcpu_list_release(&entry->reported);
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
	pid_list_release(&guests->looked);
	for (size_t i = 0; i < GUEST_STARTS; i++)
		free(guests->starts[i].command);
	free(guests);
}

struct guest_entry *guest_list_by_tid(const struct guests *guests, pid_t tid)
{
	struct tid_ref *ref;

	HASH_FIND_INT(guests->tids, &tid, ref);
	return ref ? ref->entry : NULL;
}

struct guest_entry *guest_list_by_pid(const struct guests *guests, pid_t pid)
{
	struct guest_entry *entry = guest_list_by_tid(guests, pid);

	return entry && entry->guest.pid == pid ? entry : NULL;
}

static void forget_ended(struct guests *guests, size_t i)
{
	entry_free(guests, guests->ended[i]);
	memmove(guests->ended + i, guests->ended + i + 1,
		(--guests->nr_ended - i) * sizeof(struct guest_entry *));
	guests->generation++;
}

/* The guest that ended first and need not be kept; nr_ended: there is none. */
static size_t first_ended(const struct guests *guests)
{
	size_t i = 0;

	while (i < guests->nr_ended && guests->ended[i]->is_kept)
		i++;
	return i;
}

void guest_list_forget(struct guests *guests, uint64_t time_ns)
{
	size_t i;

	while ((i = first_ended(guests)) < guests->nr_ended &&
	       guests->ended[i]->ended_ns <= time_ns)
		forget_ended(guests, i);
}

void guests_keep(struct guests *guests, uint32_t id)
{
	for (size_t i = 0; i < guests->nr; i++)
		guests->entries[i]->is_kept |= guests->entries[i]->guest.id == id;
	for (size_t i = 0; i < guests->nr_ended; i++)
		guests->ended[i]->is_kept |= guests->ended[i]->guest.id == id;
}

/* Keeps what is known of a guest that has ended, in place of the one that ended first. */
static void keep_ended(struct guests *guests, struct guest_entry *entry)
{
	entry->guest.has_ended = true;
	if (guests->nr_ended == GUESTS_ENDED)
		forget_ended(guests, first_ended(guests) % GUESTS_ENDED);
	guests->ended[guests->nr_ended++] = entry;
	guests->generation++;
}

void guest_list_retire(struct guests *guests, struct guest_entry *entry)
{
	forget_tids(guests, entry);
	pid_list_release(&entry->tids);
	for (size_t i = 0; i < entry->guest.nr_vcpus; i++)
		entry->guest.vcpus[i].tid = vcpu_last_tid(&entry->guest.vcpus[i]);
	entry->ended_ns = guests->now_ns;
	keep_ended(guests, entry);
}

void guest_list_sweep(struct guests *guests)
{
	size_t kept = 0;

	for (size_t i = 0; i < guests->nr; i++) {
		struct guest_entry *entry = guests->entries[i];

		if (entry->is_gone)
			guest_list_retire(guests, entry);
		else
			guests->entries[kept++] = entry;
	}
	guests->nr = kept;
}

struct guest_entry *guest_list_add(struct guests *guests, pid_t pid)
{
	struct guest_entry *entry = xcalloc(1, sizeof(*entry));

	entry->guest.pid = pid;
	entry->guest.nr_vms = 1;
	entry->looks = GUEST_LOOKS;
	entry->wants_fds = true;
	remember_tid(guests, entry, pid);
	entry->guest.id = ++guests->last_id;
	*array_add(guests->entries, guests->nr, guests->room) = entry;
	guests->generation++;
	return entry;
}

pid_t guests_denied_at(const struct guests *guests, size_t i)
{
	const struct pid_list *denied =
		guests->finder ? guest_finder_denied(guests->finder) : NULL;

	return denied && i < denied->nr ? denied->pids[i] : 0;
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
	struct guest_entry *entry = guest_list_by_tid(guests, pid);
	pid_t process;

	if (!entry && pid > 0 && guests->env) { /* a thread that began after the last refresh */
		process = proc_of_thread(guests->env, pid);
		entry = process != pid ? guest_list_by_pid(guests, process) : NULL;
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

/* NULL where the guest has ended, as its threads no longer belong to a guest. */
static struct guest_entry *put_guest(struct guests *guests, const struct guest *guest)
{
	struct vcpu *vcpus = xcalloc(guest->nr_vcpus + 1, sizeof(*vcpus));
	struct guest_entry *entry = xcalloc(1, sizeof(*entry));
	size_t at = guests->nr;

	array_grow(&guests->entries, &guests->room, guests->nr + 1);
	if (guest->nr_vcpus)
		memcpy(vcpus, guest->vcpus, guest->nr_vcpus * sizeof(*vcpus));
	entry->is_given = true;
	entry->guest = *guest;
	entry->guest.vcpus = vcpus;
	if (guest->id > guests->last_id)
		guests->last_id = guest->id;
	if (guest->has_ended) {
		keep_ended(guests, entry);
		return NULL;
	}
	while (at && guests->entries[at - 1]->guest.id > guest->id) {
		guests->entries[at] = guests->entries[at - 1];
		at--;
	}
	guests->entries[at] = entry;
	guests->nr++;
	guests->generation++;
	return entry;
}

void guests_put(struct guests *guests, const struct guest *guest)
{
	struct guest_entry *entry = put_guest(guests, guest);
	struct pid_list tids = { 0 };

	for (size_t i = 0; entry && i < guest->nr_vcpus; i++)
		pid_list_add(&tids, guest->vcpus[i].tid);
	if (entry)
		guest_list_set_tids(guests, entry, &tids);
}

uint32_t guests_add(struct guests *guests, const struct guest *guest)
{
	struct guest copy = *guest;

	copy.id = guests->last_id + 1;
	guests_put(guests, &copy);
	return copy.id;
}

struct guests *guests_copy(const struct guests *guests)
{
	struct guests *copy = guests_new(NULL);
	const struct guest *guest;

	for (size_t i = 0; (guest = guests_ended_at(guests, i)); i++)
		put_guest(copy, guest);
	for (size_t i = 0; (guest = guests_at(guests, i)); i++)
		put_guest(copy, guest);
	return copy;
}
