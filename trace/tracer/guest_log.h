/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_log - all guests that ran during a recording, with their names, the threads of their vCPUs,
 * and their other threads. dat_write() puts them into the file.
 */
#ifndef KVMTOP_TRACE_TRACER_GUEST_LOG_H
#define KVMTOP_TRACE_TRACER_GUEST_LOG_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/error.h"
#include "core/guests/guests.h"
#include "trace/tracer/thread_log.h"

struct logged_guest {
	uint32_t id; /* struct guest's id */
	pid_t pid;
	char name[GUEST_NAME_SIZE];
	pid_t *tids; /* by vCPU number; -1: not known */
	size_t nr_vcpus, tids_room;
	pid_t *others; /* further threads of its process, which began while it recorded */
	size_t nr_others, others_room;
};

struct guest_log;

/* env must outlive the log. */
struct guest_log *guest_log_new(const struct env *env);
void guest_log_free(struct guest_log *log); /* takes NULL */

/* Adds new guests and new vCPUs. Returns 0, or -errno with why. */
int guest_log_refresh(struct guest_log *log, struct error *why);

/*
 * Adds the threads of the guests' processes. A vCPU's thread that began and ended between two
 * refreshes is among them.
 */
void guest_log_add_threads(struct guest_log *log, const struct thread_log *threads);

/* The i-th guest in the log; NULL past the end. */
const struct logged_guest *guest_log_at(const struct guest_log *log, size_t i);

/*
 * The process of the guest with this name, or, if name is NULL, with this pid. Returns 0, or -errno
 * with why.
 */
int guest_log_find(const struct guest_log *log, const char *name, pid_t pid,
		   pid_t *ret_pid, struct error *why);

#endif
