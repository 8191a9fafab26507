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

/* ---- threads */

/*
 * The kernel sends a message for each thread that begins (proc connector, linux/cn_proc.h), also
 * for a thread that runs for a millisecond. The option record-tgid of tracefs would do the same;
 * but if two programs trace at once, the kernel counts the option's users wrongly, and never stops
 * recording.
 */
struct begun_thread {
	pid_t tid, pid;
};

struct thread_log {
	int socket; /* -1: none */
	struct begun_thread *list;
	size_t nr, room;
};

/* 0, or -errno: no messages (not root, a container). The log is valid in any case. */
int thread_log_init(struct thread_log *log);
void thread_log_release(struct thread_log *log);

/* Takes the messages since the last call. To be called every 100 ms or sooner. */
void thread_log_drain(struct thread_log *log);

/* ---- guests */

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

/* Adds new guests and new vCPUs. Returns 0, or -errno with error. */
int guest_log_refresh(struct guest_log *log, struct error *error);

/*
 * Adds the threads of the guests' processes. A vCPU's thread that began and ended between two
 * refreshes is among them.
 */
void guest_log_add_threads(struct guest_log *log, const struct thread_log *threads);

/*
 * Adds the process of a command, if it began a thread and is not in the log: a guest that was too
 * short for a refresh. It has the name in its arguments.
 */
void guest_log_add_command(struct guest_log *log, pid_t pid, char *const *argv,
			   const struct thread_log *threads);

/* The i-th guest in the log; NULL past the end. */
const struct logged_guest *guest_log_at(const struct guest_log *log, size_t i);

/*
 * The process of the guest with this name, or, if name is NULL, with this pid. Returns 0, or -errno
 * with error.
 */
int guest_log_find(const struct guest_log *log, const char *name, pid_t pid,
		   pid_t *ret_pid, struct error *error);

#endif
