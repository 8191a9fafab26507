/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process - its standard descriptors, signals and threads, and libraries that it loads.
 */
#ifndef KVMTOP_LIB_PROCESS_H
#define KVMTOP_LIB_PROCESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "lib/error.h"

/*
 * Opens /dev/null for each one that is closed; to be called first in main(). Otherwise the next
 * file that is opened would get its number, and output would go into that file.
 */
void stdfd_fill(void);

/*
 * A write into a pipe without a reader or beyond `ulimit -f` fails with EPIPE or EFBIG, as one to a
 * full disk fails with ENOSPC, and no signal ends the program. To be called first in main(). A
 * program that is executed gets SIGPIPE and SIGXFSZ as they were.
 */
void signals_init(void);

/* A signal that was ignored when the program started stays ignored, as nohup(1) needs it. */
bool signal_is_ignored(int signal);

/* Starts a thread that no signal reaches: signals are for the threads that wait. 0 or -errno. */
int thread_start(pthread_t *ret_thread, void *(*run)(void *), void *arg);

/* A condition that is waited for until a time of CLOCK_MONOTONIC, and the time in so many ms. */
void thread_cond_init(pthread_cond_t *cond);
struct timespec thread_time_in(unsigned int ms);

/* A function of a library, and the pointer to it that is set. */
struct library_function {
	const char *name;
	void *pointer;
};

/*
 * Loads the first of the libraries that is there, names up to a NULL, and finds its functions. 0,
 * -ENOENT without error: none is there (a program without libraries can load none), or -ENOSYS with
 * error: one is too old. *ret_handle is for dlclose(3), and set only if one was there.
 */
int library_load(const char *const *names, const struct library_function *functions, size_t nr,
		 void **ret_handle, struct error *error);

#endif
