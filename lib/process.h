/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process - its standard descriptors, messages and exit status, its signals and threads, libraries
 * that it loads and commands that it runs.
 */
#ifndef KVMTOP_LIB_PROCESS_H
#define KVMTOP_LIB_PROCESS_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#include "lib/error.h"

/*
 * Opens /dev/null for each one that is closed; to be called first in main(). Otherwise the next
 * file that is opened would get its number, and output would go into that file.
 */
void stdfd_fill(void);

/*
 * The stacks of this thread and of later ones have at least so many bytes; the kernel makes the
 * first one larger when it is used. -errno: a lower limit may not be raised.
 */
#define STACK_BYTES (1024 * 1024)
int stack_raise(void);

/*
 * ---- messages: errors and notices of the program and its commands.
 *
 * Everything below them returns 0 or -errno and a struct error; only commands print. Controls and
 * what is not UTF-8 are printed as '?'.
 */

/* STATUS_FOUND: of `kvmtop why`, which found something. */
enum { STATUS_OK = 0, STATUS_FAILURE = 1, STATUS_USAGE = 2, STATUS_FOUND = 3 };

/* Prints the error's text or, if it is "", the errno's; returns STATUS_FAILURE. */
int say_failure(int err, const struct error *error);

/* Prints a notice: "kvmtop: TEXT". Of NULL and "" nothing. */
void say(const char *text);

/* Prints the text of a call that succeeded, a notice, and empties it. */
void say_notice(struct error *error);

/* command: "" for the program itself, "report" for a command. Returns STATUS_USAGE. */
int say_usage(const char *command, const struct error *error);

/*
 * Words of a remedy that are no help to root, such as "run as root, or ": "" for root, from which a
 * container or a unit may have taken a capability.
 */
const char *unless_root(const char *words);

/*
 * Flushes standard output at the end. Returns status, or STATUS_FAILURE if output could not be
 * written (a full disk is an error; a reader that went away is none).
 */
int say_end(int status);

/* ---- signals and threads */

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

/* ---- libraries */

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

/*
 * ---- child: a command that runs while something is counted or recorded.
 *
 * The process is forked before that begins, so that the fork is not in it, and executes the command
 * when it has begun.
 */

struct child {
	pid_t pid;     /* 0: no command, or it has ended */
	int go, error; /* ends of pipes: to begin, and for the errno of exec; -1: none */
	int status;    /* exit status after the end; 128 + signal, as in shells */
};

void child_init(struct child *child);

/*
 * command is an argv that ends in NULL; it gets this mask of signals. Returns 0, or -errno with
 * error.
 */
int child_new(struct child *child, char **command, const sigset_t *mask,
		     struct error *error);

/* Executes the command. Returns 0, or -errno with error: the command cannot be run. */
int child_begin(struct child *child, char **command, struct error *error);

/* Whether the command has ended since the last call. */
bool child_has_ended(struct child *child);

/* Ends the command if it still runs. */
void child_release(struct child *child);

#endif
