/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * thread_log - the threads that begin on this machine while it records, each with its process.
 *
 * The kernel sends a message for each (proc connector, linux/cn_proc.h), so a thread that runs for
 * a millisecond is among them. tracefs has the option record-tgid for this, but where two programs
 * trace at once the kernel counts its users wrongly, and then records for ever.
 */
#ifndef KVMTOP_TRACE_RECORD_THREAD_LOG_H
#define KVMTOP_TRACE_RECORD_THREAD_LOG_H

#include <stddef.h>
#include <sys/types.h>

struct begun_thread {
	pid_t tid, pid;
};

struct thread_log {
	int socket; /* -1: none */
	struct begun_thread *list;
	size_t nr, room;
};

/* 0 or -errno: the kernel does not tell (not root, a container). The log is valid in any case. */
int thread_log_init(struct thread_log *log);
void thread_log_release(struct thread_log *log);

/* Takes what the kernel has told since: 0 or -ENOMEM. At least every 100 ms. */
int thread_log_drain(struct thread_log *log);

#endif
