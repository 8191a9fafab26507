/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * thread_log - the threads that begin on this machine while it records, each with its process.
 *
 * The kernel sends a message for each (proc connector, linux/cn_proc.h), also for a thread that
 * runs for a millisecond. The option record-tgid of tracefs would do the same; but if two programs
 * trace at once, the kernel counts the option's users wrongly, and never stops recording.
 */
#ifndef KVMTOP_TRACE_TRACER_THREAD_LOG_H
#define KVMTOP_TRACE_TRACER_THREAD_LOG_H

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

/* 0, or -errno: no messages (not root, a container). The log is valid in any case. */
int thread_log_init(struct thread_log *log);
void thread_log_release(struct thread_log *log);

/* Takes the messages since the last call. To be called every 100 ms or sooner. */
void thread_log_drain(struct thread_log *log);

#endif
