/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * thread - starts threads that no signal reaches: signals are for the threads that wait for them.
 */
#ifndef KVMTOP_LIB_THREAD_H
#define KVMTOP_LIB_THREAD_H

#include <pthread.h>
#include <signal.h>

/* The thread blocks all signals. 0 or -errno. */
static inline int thread_start(pthread_t *ret_thread, void *(*run)(void *), void *arg)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(ret_thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -err;
}

#endif
