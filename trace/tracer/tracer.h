/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracer - records KVM's events: the rings of kvmtop's own tracefs instance, the pages that were
 * moved from them, the guests that ran, and the file that has all of it.
 *
 * The instance is called kvmtop-PID, so that the next kvmtop can remove the instance of a killed
 * process (kvmtop.c). The top instance and other programs' instances are never touched. Full
 * pages are moved (splice) from each ring to a file without a name.
 */
#ifndef KVMTOP_TRACE_TRACER_TRACER_H
#define KVMTOP_TRACE_TRACER_TRACER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/error.h"
#include "core/guests/guests.h"

/*
 * ---- pages.c: the recorded pages of each CPU, in files without a name, and their move to the
 * output file on a disk that has room for the pages only once
 *
 * Moved bytes are freed in the source file. If there is still no room, the newest pages of the CPU
 * with most pages are given up, until there is room.
 */

/* The pages of one CPU. */
struct pages {
	int file;	/* -1: none */
	uint64_t bytes; /* of all pages that were not given up */
	uint64_t moved; /* of these, bytes that were moved */
};

/* How many bytes a file may have (ulimit -f); RLIM_INFINITY is the largest number. */
uint64_t pages_most(void);

/* Appends the content of a pipe, or one page. Returns 0, or -errno with error. */
int pages_splice(struct pages *pages, int pipe, size_t bytes, struct error *error);
int pages_append(struct pages *pages, const char *page, size_t bytes, struct error *error);
int pages_error(int err, struct error *error); /* -err: why pages cannot be written */

/* Gives up some pages that were not moved yet; false: there are none. */
bool pages_give_up(struct pages *cpus, size_t nr);

/* Gives up pages until all CPUs together have at most `bytes`. Whether any were given up. */
bool pages_fit(struct pages *cpus, size_t nr, uint64_t bytes);

/*
 * Moves the pages of CPU i to offset `at` of a file: afterwards cpus[i].bytes are there, in whole
 * pages. Returns 0, or -errno: why some pages had to be given up.
 */
int pages_move(struct pages *cpus, size_t nr, size_t i, int out, uint64_t at);

/* ---- ring.c: a ring for each CPU */

/* Events to record: a pattern of their names, and a filter. */
struct ring_choice {
	const char *pattern; /* "kvm_exit", "kvm_*", "kvmmmu:*" */
	const char *filter;  /* a kernel filter for the matching events; NULL: none */
};

struct ring_config {
	const char *tracefs; /* the mount point */
	size_t nr_cpus;	     /* one more than the highest number of a CPU */
	const struct ring_choice *choices;
	size_t nr_choices; /* 0: all events of all systems of KVM but kvmmmu */
	const char *filter; /* a kernel filter for all events if there are 0 choices */
	const char *clock; /* NULL: the kernel's choice */
	unsigned long kib;   /* per CPU; 0: the kernel's choice */
	const pid_t *tids;   /* record these threads and their children; nr_tids 0: all threads */
	size_t nr_tids;
	bool sched;	     /* the scheduler's events of these threads, too */
	const char *folder;  /* for the files without a name */
};

struct ring_event {
	char *system, *name;
};

/* What the kernel counted over all CPUs. */
struct ring_counts {
	uint64_t read; /* events that were read, in whole pages */
	uint64_t lost; /* overwritten or dropped because a ring was full */
};

struct tracefs_instance;

struct ring {
	struct tracefs_instance *instance;
	int hold; /* a file of the instance: while it is open the instance cannot be removed */
	struct ring_event *events;
	size_t nr_events, events_room;
	int *raw; /* trace_pipe_raw of each CPU; -1: there is no such CPU */
	struct pages *pages; /* that were moved, of each CPU */
	size_t nr_cpus;
	int pipe[2];
	size_t page_bytes;
	char *page;
};

#define RING_NAME_PREFIX "kvmtop-" /* of the instance's name; the pid follows */

/* Makes an instance that does not record yet. */
int ring_new(const struct ring_config *config, struct ring **ret_ring, struct error *error);

/* Removes the instance. Takes NULL. */
void ring_free(struct ring *ring);

/* Records these threads, too, where not all are recorded. 0, or -errno with error. */
int ring_add_tids(struct ring *ring, const pid_t *tids, size_t nr, struct error *error);

int ring_begin(struct ring *ring, struct error *error);
void ring_end(struct ring *ring);

/* Moves full pages. Returns 0, or -errno with error; pages moved before are kept. */
int ring_drain(struct ring *ring, struct error *error);

/* After ring_end(): moves all remaining pages. */
int ring_drain_rest(struct ring *ring, struct error *error);

/* The bytes of all pages that were moved. */
uint64_t ring_bytes(const struct ring *ring);

void ring_count(const struct ring *ring, struct ring_counts *ret_counts);

/* The content of a small file: "trace_clock", "per_cpu/cpu0/stats". To be freed; NULL: none. */
char *ring_read(const struct ring *ring, const char *file);

/*
 * ---- dat_write.c: the recording as a trace.dat of version 6, which every trace-cmd and
 * KernelShark can open. Source: trace-cmd.dat.v6(5)
 */

struct guest_log;

/* Whether fd is a regular file, and empty or a trace.dat already: no other one is overwritten. */
bool dat_may_write(int fd);

/*
 * Writes the file; fd is a regular file. The ring's pages are moved into it, and ring_bytes() is
 * then how many bytes of pages the file has. Returns 0 and sets *ret_given_up: 0, or the
 * -errno for which the newest pages were left out; or returns -errno with error: there is no file.
 */
int dat_write(struct ring *ring, const struct guest_log *log, int fd, int *ret_given_up,
	      struct error *error);

/*
 * ---- guest_log.c: all guests that ran during a recording, with their names, the threads of their
 * vCPUs, and their other threads. dat_write() puts them into the file.
 */

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

/* Zero-initialised, except for the inventory, which is released with it. */
struct guest_log {
	struct guests *inventory;
	uint64_t generation;
	struct logged_guest *list;
	size_t nr, room;
};

void guest_log_release(struct guest_log *log);

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

#endif
