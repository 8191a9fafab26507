/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * list - the inventory from the inside, for the files of core/guests that change it.
 *
 * list.c has the list, refresh.c reads /proc and takes what KVM's events say, report.c takes what a
 * provider reads in the kernel, choose.c finds the guest that a user names. All other files include
 * guests.h.
 */
#ifndef KVMTOP_CORE_GUESTS_LIST_H
#define KVMTOP_CORE_GUESTS_LIST_H

#include "core/guests/guests.h"
#include "host/thread_list.h"

#define GUEST_LOOKS 3 /* examinations while a vCPU has no thread; a new thread resets them */

/* A guest, and what only the inventory needs of its process. */
struct guest_entry {
	struct guest guest;
	struct pid_list tids;
	long nr_threads;
	uint64_t examine_ns; /* when it is examined again at the latest */
	int looks;	     /* how many examinations are left while a vCPU has no thread */
	bool wants_look;     /* the next refresh examines it */
	bool wants_fds;	     /* the next refresh reads its descriptors, too */
	bool wants_name;     /* the next refresh asks for it again */
	bool is_gone;
	bool is_reported; /* guests_report() had it: its vCPUs, and how many VMs they are of */
	struct vcpu_list reported;
	unsigned int reported_vms;
	uint64_t report; /* the number of the latest */
	bool is_given; /* guests_add() added it */
	uint64_t ended_ns; /* when its end was noticed */
	bool is_kept; /* see guests_keep() */
};

#define GUEST_STARTS 256 /* that are remembered */

/* See guests_note_start(). */
struct guest_start {
	pid_t pid;
	char comm[16];
	char *command;
	size_t size;
};

struct guests {
	const struct env *env;
	struct guest_entry **entries; /* ascending by id */
	size_t nr, room;
	struct tid_ref *tids;
	uint32_t last_id;
	uint64_t generation;
	struct guest_finder *finder;
	bool has_reports; /* of all processes: the finder is not needed */
	uint64_t report;  /* the number of the latest */
	struct pid_list known, found; /* of the current refresh */
	struct pid_list looked; /* processes that a thread was looked for in since */
	uint64_t now_ns;	      /* of the latest refresh, or of a guest found since */
	struct guest_entry *ended[GUESTS_ENDED]; /* in order of their end */
	size_t nr_ended;
	struct guest_start starts[GUEST_STARTS]; /* the latest at nr_starts - 1, modulo */
	size_t nr_starts;
};

/* A guest of the process, with the next id and nothing else. */
struct guest_entry *guest_list_add(struct guests *guests, pid_t pid);

/* By the pid, or the tid of any thread; NULL: no such guest. */
struct guest_entry *guest_list_by_tid(const struct guests *guests, pid_t tid);
struct guest_entry *guest_list_by_pid(const struct guests *guests, pid_t pid);

/* The guest's threads; takes the list over. */
void guest_list_set_tids(struct guests *guests, struct guest_entry *entry, struct pid_list *tids);

/* Moves a guest that is in no list, or all that are gone, to the guests that have ended. */
void guest_list_retire(struct guests *guests, struct guest_entry *entry);
void guest_list_sweep(struct guests *guests);

/* Forgets the guests that were found to have ended at this time or before. */
void guest_list_forget(struct guests *guests, uint64_t time_ns);

/* Adds the process as a guest, unless it is a guest already or has ended. 0 or -errno. */
int guest_add(struct guests *guests, pid_t pid);

/*
 * Reads the threads of a guest and, where no report has them, its VMs and vCPUs. It may be gone
 * then: see guest_list_sweep(). After an error it stays as it was, and the next refresh examines
 * it again. 0 or -errno.
 */
int guest_examine(struct guests *guests, struct guest_entry *entry);

#endif
