/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guests - which guest and which vCPU a thread of a recording belongs to.
 *
 * A trace.dat may have a list of its guests (kvmtop record, trace-cmd record -A). perf.data,
 * kvmtrace and ACRN have each thread's process (ACRN: the VM's number). Any other trace.dat has
 * only threads and, from events or a thread's name, their vCPU numbers. There the n-th thread with
 * a vCPU number, in the order of first events, is taken for a thread of the n-th guest: a guess if
 * several guests run.
 */
#ifndef KVMTOP_TRACE_EXITS_GUESTS_H
#define KVMTOP_TRACE_EXITS_GUESTS_H

#include "core/guests/guests.h"
#include "lib/hash.h"
#include "trace/exits/table.h"
#include "trace/recording/trace.h"

/* Sets facts about a thread that are not in its events: name, guest, process, vCPU. */
void guests_identify(const struct trace *trace, struct recorded_thread *thread);

/* After that: the symbols of its guest's kernel, by the guest's own recording; NULL: none. */
const struct kallsyms *guests_symbols(const struct trace *trace,
				      const struct recorded_thread *thread);

/* ---- while the recording is read: guests are numbered from 0 as they are asked for */

/* Threads with the same key belong to one guest. */
struct guest_key {
	int64_t pid;   /* -1: not known */
	/* Index in the file's list of guests; -1: it has no list; GUEST_IS_CPU: pid is a CPU. */
	int64_t guest;
	uint32_t file;
	uint32_t nth; /* if both are unknown: from 0, the number of earlier threads of this vCPU */
};

struct recorded_guest {
	struct guest_key key;
	size_t number;
	int32_t pid; /* of its process; -1: not known */
	uint32_t file; /* the main file of its first thread */
	bool is_known; /* else it is key.nth of the file's guests that are not known */
	char name[GUEST_NAME_SIZE]; /* "unknown (2)" if it is not known */
	UT_hash_handle hh;
};

/* How many threads of a file, of which no guest is known, had this vCPU number. */
struct vcpu_threads {
	struct {
		int32_t vcpu;
		uint32_t file;
	} key;
	uint32_t nr;
	UT_hash_handle hh;
};

/* Zero-initialised is empty. */
struct recorded_guests {
	struct recorded_guest *hash;
	size_t nr;
	struct vcpu_threads *vcpus; /* a hash */
};

void recorded_guests_release(struct recorded_guests *guests);

/* The guest of a thread, new if need be; after guests_identify(). */
struct recorded_guest *recorded_guest_of(struct recorded_guests *guests, const struct trace *trace,
					 struct recorded_thread *thread);

/* ---- after the recording is read: all guests with their vCPUs */

/* The vCPU that a thread ran. Several threads may have run one vCPU. */
struct recorded_vcpu {
	uint32_t guest; /* struct guest's id; GUEST_NONE: the thread ran no vCPU */
	int32_t vcpu;	/* the vCPU's number; if unknown, the thread's tid */
	uint64_t last;	/* the time of the guest's last event */
};

/*
 * Adds the guests. Returns one for each thread of the table, to be freed by the caller. If ACRN's
 * records have no VM, each CPU is a guest. What stands for other threads is the guest "(others)".
 */
struct recorded_vcpu *guests_of_table(const struct trace *trace, const struct table *table,
				      struct recorded_guests *recorded, struct guests *guests);

/* "web1 (4711)"; of guests that are not known "trace.dat", "trace.dat (2)". */
void recorded_guest_name(const struct trace *trace, const struct recorded_guest *guest, char *buf,
			 size_t size);

#endif
