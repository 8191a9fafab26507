// SPDX-License-Identifier: GPL-2.0-or-later
/* Descriptors, signals, threads and libraries of this process. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "lib/process.h"

void stdfd_fill(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		/* open() takes the lowest free number: fd. In this direction any use fails. */
		if (fcntl(fd, F_GETFD) < 0)
			(void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
	}
}

static void do_nothing(int signal)
{
	(void)signal;
}

bool signal_is_ignored(int signal)
{
	struct sigaction action;

	return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/* Caught, not ignored: exec() takes the handler away, and would leave an ignored signal so. */
void signals_init(void)
{
	const struct sigaction action = { .sa_handler = do_nothing, .sa_flags = SA_RESTART };

	if (!signal_is_ignored(SIGPIPE))
		sigaction(SIGPIPE, &action, NULL);
	if (!signal_is_ignored(SIGXFSZ))
		sigaction(SIGXFSZ, &action, NULL);
}

int thread_start(pthread_t *ret_thread, void *(*run)(void *), void *arg)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(ret_thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -err;
}

void thread_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attributes);
	pthread_condattr_destroy(&attributes);
}

struct timespec thread_time_in(unsigned int ms)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	time.tv_sec += ms / 1000;
	time.tv_nsec += (long)(ms % 1000) * 1000000;
	time.tv_sec += time.tv_nsec / 1000000000;
	time.tv_nsec %= 1000000000;
	return time;
}

int library_load(const char *const *names, const struct library_function *functions, size_t nr,
		 void **ret_handle, struct error *error)
{
	void *handle = NULL;

	for (; *names && !handle; names++)
		handle = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return -ENOENT;
	*ret_handle = handle;
	for (size_t i = 0; i < nr; i++) {
		void *function = dlsym(handle, functions[i].name);

		if (!function)
			return error_set(error, -ENOSYS, "%s is too old: it has no %s", names[-1],
					 functions[i].name);
		memcpy(functions[i].pointer, &function, sizeof(function));
	}
	return 0;
}
