/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guests - the inventory: every process that has a KVM VM, for every VMM.
 *
 * A guest is a process with a descriptor on "anon_inode:kvm-vm" (proc(5), fd/). Its vCPUs are the
 * "anon_inode:kvm-vcpu:N" descriptors; their threads come from the kernel, where a provider can
 * read it, else from debugfs kvm/PID-FD/vcpuN/pid (readable under lockdown) or from the names that
 * VMMs give to threads. A guest has an id that is never used again, so that a reused pid is another
 * guest.
 */
#ifndef KVMTOP_CORE_GUESTS_GUESTS_H
#define KVMTOP_CORE_GUESTS_GUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/error.h"
#include "host/env.h"
#include "host/guest_name.h"
#include "host/kallsyms.h"
#include "host/thread_list.h"

/*
 * As the id of a guest. In a key or a row: the host, or an unknown guest. In a choice: all
 * guests, and what belongs to none.
 */
#define GUEST_NONE 0u
#define GUEST_ALL  0u

/* In a fleet a label: VM's name and pid, see ui/metrics/metrics.h, or a host's name and port. */
#define GUEST_NAME_SIZE (VM_NAME_SIZE + 32)

struct guest {
	uint32_t id;		/* > 0, ascending in order of discovery */
	pid_t pid;
	uint64_t start_ticks;	/* proc(5) stat field 22: pid and start identify a process */
	char name[GUEST_NAME_SIZE]; /* never empty; printable, no blanks at its ends */
	char vmm[24];		/* see struct guest_name */
	struct guest_words words; /* see host/guest_name.h */
	bool is_named;		/* name is the VM's name, not the command's */
	bool has_ended;		/* all other members are as when it was last seen */
	struct vcpu *vcpus;	/* ascending by index */
	size_t nr_vcpus;
	unsigned int nr_vms;	/* VM descriptors; 1 for nearly all */
};

struct guests;

/*
 * An empty inventory of the machine that env describes; env must outlive the inventory. env NULL:
 * the inventory of a recording, where only guests_add() adds guests.
 */
struct guests *guests_new(const struct env *env);
void guests_free(struct guests *guests);

/*
 * Brings the inventory up to date. Without reports (see guests_report()) processes are searched
 * for VMs when KVM says that it has made one, and every ten seconds; a guest is examined when its
 * threads have changed, and as often. Else only the guests themselves are read, a few microseconds
 * each. now_ns is CLOCK_MONOTONIC; tests choose it. A guest that has ended is found by
 * guests_find() only. Returns 0, or -errno with error when /proc cannot be read, or a file in it
 * cannot be read now (-EMFILE): then the guest stays as it was, and the next refresh reads it
 * again.
 */
int guests_refresh(struct guests *guests, uint64_t now_ns, struct error *error);

/* Grows by one whenever a guest or vCPU thread came or went. */
uint64_t guests_generation(const struct guests *guests);

size_t guests_count(const struct guests *guests);
size_t guests_count_vcpus(const struct guests *guests);
/* Ascending by id; valid until the next guests_refresh(). NULL past the end. */
const struct guest *guests_at(const struct guests *guests, size_t i);
const struct guest *guests_by_id(const struct guests *guests, uint32_t id);

/* A guest that runs, or one of the latest GUESTS_ENDED that ended in the last ten minutes. */
const struct guest *guests_find(const struct guests *guests, uint32_t id);
#define GUESTS_ENDED 64
/* This one is not forgotten when it has ended, unless GUESTS_ENDED others are kept, too. */
void guests_keep(struct guests *guests, uint32_t id);
/* In order of their end; NULL past the last one. */
const struct guest *guests_ended_at(const struct guests *guests, size_t i);
/* By the process's pid or the tid of any of its threads. */
const struct guest *guests_by_pid(const struct guests *guests, pid_t pid);
/* NULL: the guest is NULL, or has no such vCPU, or the thread runs none of its vCPUs. */
const struct vcpu *guest_vcpu(const struct guest *guest, int32_t index);
const struct vcpu *guest_vcpu_by_tid(const struct guest *guest, pid_t tid);

/* A thread that ran a vCPU, as KVM's trace events show it. */
struct vcpu_thread {
	pid_t pid, tid;
	int32_t vcpu;	     /* -1: not known */
	const char *comm;    /* the thread's name */
	uint64_t first_ns;   /* CLOCK_MONOTONIC: when it was first seen */
	bool has_ended;
};

/*
 * The guest of such a thread. A process is examined now if the inventory does not have it yet, or
 * if nothing else tells which vCPU the thread runs; if it has ended meanwhile, it becomes a guest
 * that has ended, with the threads that are known. now_ns: as for guests_refresh(). Returns the id;
 * GUEST_NONE: the process is alive and cannot be read now.
 */
uint32_t guests_of_thread(struct guests *guests, const struct vcpu_thread *thread, uint64_t now_ns);

/*
 * A process has made a VM at now_ns: what it is called if it ends before it is looked at, also if
 * its threads were seen before this call. command: its arguments as in proc(5) cmdline.
 */
void guests_note_start(struct guests *guests, pid_t pid, uint64_t now_ns, const char *comm,
		       const char *command, size_t size);

/* A VM or vCPU that a process holds, as the kernel has it. */
struct vm_part {
	pid_t pid;
	int32_t vcpu; /* -1: the VM itself */
	pid_t tid;    /* of the thread that ran the vCPU last; 0: none has */
	uint64_t vm;  /* differs between VMs */
};

/*
 * All that a process holds, or, with pid 0, all processes: what is not there has ended. From then
 * on guests_refresh() takes the VMs, vCPUs and threads from here alone, and after a report of all
 * processes looks for no others; only of vCPUs without a thread the names of threads still tell.
 * Changes the order of parts.
 */
void guests_report(struct guests *guests, pid_t pid, struct vm_part *parts, size_t nr);

/* There are no more reports: guests_refresh() finds out by itself again. */
void guests_end_reports(struct guests *guests);

/* In a recording, guests of one name get the pid in front of it: "112 web1". */
void guest_put_pid_first(char *ret_name, size_t size, pid_t pid, const char *name);
/* The name without it. */
const char *guest_shared_name(const struct guest *guest);

/*
 * Whether a user's word means the guest: its name (exact, case matters; also without the pid in
 * front), a word of its platform, or PROJECT/TITLE or PROJECT/NAME. The case of a UUID is of no
 * matter.
 */
bool guest_is_called(const struct guest *guest, const char *word);

/* The copy of the guest's /proc/kallsyms among nr of them; NULL: there is none. */
const struct kallsyms *guest_kallsyms_of(const struct guest *guest,
					 const struct guest_kallsyms *list, size_t nr);

/*
 * The one guest of this name or, where none has this name, which its platform calls so.
 * -ENOENT: none; -ENOTUNIQ: several; error lists the pids, or the names of all guests, and what
 * guests_denied_at() has.
 */
int guests_by_name(const struct guests *guests, const char *name, const struct guest **ret_guest,
		   struct error *error);

/* Adds the remedy, such as "use -p PID", if err says that there are several. Returns err. */
int guests_advise(int err, struct error *error, const char *remedy);

/*
 * The guest that a user chose; a name means the guest that has it at each moment. Zero-initialised:
 * all guests.
 */
struct guest_choice {
	uint32_t id;		    /* the id of the guest that has the name now */
	char word[GUEST_NAME_SIZE]; /* what finds it again; "": it was chosen by its pid */
	pid_t pid;		    /* of the process or one of its threads; 0: see word */
	/*
	 * Only a guest with a greater id may follow the chosen one. 0: any guest may. If the user
	 * selected the guest, only guests that came after its end may.
	 */
	uint32_t newest;
};

/* What the user asked for: by name or, with name NULL, by pid. */
void guest_choice_init(struct guest_choice *choice, const char *name, pid_t pid);

/*
 * Chooses one now. -ESRCH with error: the pid is not a guest's; -EACCES: it may not be looked into;
 * else as guests_by_name().
 */
int guest_choice_now(struct guest_choice *choice, const struct guests *guests, struct error *error);

/* The user selects the guest, or still looks at it: another guest of its name is not meant. */
void guest_choice_point(struct guest_choice *choice, const struct guests *guests,
			const struct guest *guest);

/*
 * Brings the choice up to date: returns the guest that has the name now, if the chosen one has
 * ended. NULL: it is still the same.
 */
const struct guest *guest_choice_follow(struct guest_choice *choice, const struct guests *guests);

/*
 * Begins a choice of all guests that bear the name from now on, one after the other or at once:
 * chooses the one that is there, as guest_choice_now(). If there is none, it may come.
 */
int guest_choice_begin(struct guest_choice *choice, const char *name, pid_t pid,
		       const struct guests *guests, struct error *error);

/* The next guest that came since and bears the name; it may have ended. NULL: there is none. */
const struct guest *guest_choice_next(struct guest_choice *choice, const struct guests *guests);

/*
 * Chooses one of the inventory of a moment of the past: the same guest while it was there, else
 * the one that had the name then, else the latest of the name that had ended. -ENOENT with error:
 * none had come yet; -ENOTUNIQ: as guest_choice_now().
 */
int guest_choice_then(struct guest_choice *choice, const struct guests *guests,
		      struct error *error);

/*
 * The i-th process of the latest search that may not be looked into, because it is another user's;
 * 0: past the last one. It is a guest, most likely, if guest_is_likely() (host/guest_proc.h).
 */
pid_t guests_denied_at(const struct guests *guests, size_t i);

/*
 * Adds a copy of a guest under a new id; guests_refresh() neither reads nor removes it. A pid or
 * tid of 0 means not known. Returns the id.
 */
uint32_t guests_add(struct guests *guests, const struct guest *guest);

/*
 * As guests_add(), under the guest's own id, which no other guest has. A guest that has ended
 * becomes the latest that ended.
 */
void guests_put(struct guests *guests, const struct guest *guest);

/* Empties an inventory, which then gives ids from 1 again. */
void guests_clear(struct guests *guests);

/*
 * A copy of the inventory as it is now, as guests_put() makes one; but guests_by_pid() finds no
 * guest in it.
 */
struct guests *guests_copy(const struct guests *guests);

#endif
