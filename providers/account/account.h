/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * account - which process holds which VM and vCPU, and the statistics that KVM keeps of each: how
 * they are read, and what they mean.
 *
 * Source: struct kvm_vm_stat and struct kvm_vcpu_stat of the running kernel, named by its BTF. The
 * members are the counters, under the names that they have in debugfs, too.
 */
#ifndef KVMTOP_PROVIDERS_ACCOUNT_ACCOUNT_H
#define KVMTOP_PROVIDERS_ACCOUNT_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/error.h"
#include "arch/arch.h"
#include "core/facts/durations.h"
#include "core/facts/field.h"
#include "core/guests/guests.h"
#include "host/env.h"
#include "host/guest_symbols.h"
#include "providers/account/shared.h"

struct account_counter {
	char name[64];
	size_t at;	  /* of its first value in the bytes; each has 64 bits */
	unsigned int nr;  /* how many; of a histogram one for each bucket */
	size_t sum_at;	  /* of a histogram of durations: where their sum in ns is; else 0 */
	bool has_durations;
	uint32_t field;	  /* FIELD_NONE: not shown */
	enum field_kind kind; /* of the field */
	bool is_wanted;
};

struct account_layout {
	struct account_counter *counters;
	size_t nr, room;
	size_t size; /* of all bytes */
};

enum { ACCOUNT_VM, ACCOUNT_VCPU, ACCOUNT_LAYOUTS };

/* Gets what one descriptor has; valid until it returns. NULL: nothing is to be done with it. */
typedef void account_take_fn(void *arg, const struct account_head *head, const char *bytes);

struct account_reader;

/* Whether a reader may work here, without loading anything. 0, or -errno with error. */
int account_check(const struct env *env, struct error *error);

/*
 * Loads the program, fills layouts, where they are wanted (NULL: no statistics), and tries to read:
 * some 40 ms. 0, or -errno with error.
 */
int account_reader_new(struct account_layout *layouts, struct account_reader **ret_reader,
		       struct error *error);
void account_reader_free(struct account_reader *reader);

/* Whether one process can be read alone (Linux 6.1); else every reading is of all. */
bool account_reads_one(const struct account_reader *reader);

/* Before the readings of a sample: what it takes to know for how long threads have slept. */
void account_set_clock(struct account_reader *reader);

/*
 * Reads what the process holds; 0: what all processes hold. Without bytes each head has size 0. 0
 * or -errno.
 */
int account_read(struct account_reader *reader, pid_t pid, bool with_bytes, account_take_fn *take,
		 void *arg);

/*
 * ---- Which VMs have begun and ended since the reading before, in the kernel's order: what a guest
 * that is not there at any reading is called and has counted, and the last counts of others.
 *
 * Source: programs on KVM's kvm_arch_init_vm(), kvm_arch_destroy_vm() and kvm_arch_vcpu_destroy(),
 * which no exit runs.
 */

/* What they get is valid until they return. ended NULL: only begins are noted. */
struct account_lives {
	void (*begun)(void *arg, const struct account_begun *begun);
	account_take_fn *ended;
	void *arg;
};

/* False: the kernel attaches no such programs. */
bool account_watch_lives(struct account_reader *reader, const struct account_lives *lives);

/* Gives all since the call before. */
void account_read_lives(struct account_reader *reader);

/*
 * ---- Reads guests' memory and registers instead, with account_read_guest() alone. arch: of the
 * host. 0, or -errno with error.
 */
int account_guest_reader_new(const struct arch *arch, struct account_reader **ret_reader,
			     struct error *error);

/*
 * What the names of a guest's functions need (host/guest_symbols.h). Of AMD's processors the
 * registers are as the vCPU left the guest last. Of Intel's KVM has copies of the program counter
 * and CR3, which may be of an earlier moment; IDT and LSTAR are not known. On AArch64 there is a
 * program counter only when the vCPU left the guest's kernel.
 */
struct account_guest {
	struct guest_registers registers;
	struct guest_slot *slots; /* the caller frees them */
	size_t nr;
};

/*
 * The guest by a thread of a vCPU. -ESRCH: no such vCPU; -ENODATA: its memory or page tables are
 * not known (Linux before 5.17, or no architecture with symbols); or another -errno.
 */
int account_read_guest(struct account_reader *reader, pid_t pid, pid_t tid,
		       struct account_guest *ret_guest);

/* Nothing is kept for the process any more. */
void account_forget(struct account_reader *reader, pid_t pid);

/* Adds a counter, unless there is no room in ACCOUNT_BYTES_MAX. */
void account_layout_add(struct account_layout *layout, const char *name, size_t at,
			unsigned int nr);

/* When all counters are there: finds the sums of the histograms of durations. */
void account_layout_end(struct account_layout *layout);

/* Adds the durations of a counter that has them to what timing has. */
void account_timing_add(const struct account_counter *counter, const char *bytes,
			struct timing *timing);

#endif
