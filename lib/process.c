// SPDX-License-Identifier: GPL-2.0-or-later
/* This process: descriptors, messages, signals, threads, libraries and commands. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/process.h"
#include "lib/text.h"

#define LINE_SIZE 1024 /* of a message */

void stdfd_fill(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		/* open() takes the lowest free number: fd. In this direction any use fails. */
		if (fcntl(fd, F_GETFD) < 0)
			(void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
	}
}

int stack_raise(void)
{
	struct rlimit limit;
	pthread_attr_t threads;

	if (getrlimit(RLIMIT_STACK, &limit) < 0 || limit.rlim_cur >= STACK_BYTES)
		return 0;
	limit.rlim_cur = STACK_BYTES;
	if (limit.rlim_max < STACK_BYTES)
		limit.rlim_max = STACK_BYTES;
	if (setrlimit(RLIMIT_STACK, &limit) < 0)
		return -errno;
	pthread_attr_init(&threads);
	pthread_attr_setstacksize(&threads, STACK_BYTES);
	pthread_setattr_default_np(&threads);
	pthread_attr_destroy(&threads);
	return 0;
}

/* ---- messages */

/*
 * The name of a file may have an escape sequence, which must not steer the terminal. A line that
 * goes on is one with two blanks before it: no name can make it look like a message of its own.
 */
void say(const char *text)
{
	const char *before = "kvmtop: ";
	char line[LINE_SIZE];

	while (text) {
		const char *end = strstr(text, "\n  ");

		if (utf8_clean(text, end ? (size_t)(end - text) : strlen(text), line, sizeof(line)))
			fprintf(stderr, "%s%s\n", before, line);
		text = end ? end + 1 : NULL;
		before = "  ";
	}
}

int say_failure(int err, const struct error *error)
{
	say(error->text[0] ? error->text : strerror(-err));
	return STATUS_FAILURE;
}

void say_notice(struct error *error)
{
	say(error->text);
	error->text[0] = '\0';
}

int say_usage(const char *command, const struct error *error)
{
	say(error->text);
	fprintf(stderr, "Try kvmtop %s%s--help.\n", command, command[0] ? " " : "");
	return STATUS_USAGE;
}

const char *unless_root(const char *words)
{
	return geteuid() ? words : "";
}

int say_end(int status)
{
	errno = EIO;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	if (errno == EPIPE)
		return status;
	fprintf(stderr, "kvmtop: cannot write to standard output: %s\n", strerror(errno));
	return STATUS_FAILURE;
}

/* ---- signals and threads */

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

/* ---- child: forks the process at once, which executes the command after a byte in a pipe */

void child_init(struct child *child)
{
	*child = (struct child){ .go = -1, .error = -1 };
}

/* In the child: waits for the byte, then executes the command. */
static void child_main(char **command, const sigset_t *mask, int go, int error)
{
	char byte;
	int err;

	sigprocmask(SIG_SETMASK, mask, NULL);
	if (read(go, &byte, 1) != 1)
		_exit(STATUS_FAILURE);
	execvp(command[0], command);
	err = errno;
	(void)!write(error, &err, sizeof(err));
	_exit(127);
}

int child_new(struct child *child, char **command, const sigset_t *mask,
		     struct error *error)
{
	int go[2], failed[2];

	if (pipe2(go, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(failed, O_CLOEXEC) < 0) {
		close(go[0]);
		close(go[1]);
		return -errno;
	}
	child->pid = fork();
	if (child->pid == 0) {
		close(go[1]); /* an open writing end would make read() wait for ever */
		child_main(command, mask, go[0], failed[1]);
	}
	close(go[0]);
	close(failed[1]);
	child->go = go[1];
	child->error = failed[0];
	if (child->pid < 0)
		return error_set(error, -errno, "%s cannot be run: %s", command[0],
				 strerror(errno));
	return 0;
}

int child_begin(struct child *child, char **command, struct error *error)
{
	int err = 0;

	if (write(child->go, "", 1) != 1)
		return -errno;
	if (read(child->error, &err, sizeof(err)) == sizeof(err))
		return error_set(error, -err, "%s cannot be run: %s", command[0], strerror(err));
	return 0;
}

bool child_has_ended(struct child *child)
{
	int status;

	if (child->pid <= 0 || waitpid(child->pid, &status, WNOHANG) != child->pid)
		return false;
	child->pid = 0;
	child->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return true;
}

void child_release(struct child *child)
{
	if (child->pid > 0)
		kill(child->pid, SIGTERM);
	if (child->go >= 0)
		close(child->go);
	if (child->error >= 0)
		close(child->error);
}
