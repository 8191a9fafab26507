// SPDX-License-Identifier: GPL-2.0-or-later
/* Starts and ends the child process that holds the demo guest's VM. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/demo/demo.h"

/* 20 rounds a second of 111 exits on each of two vCPUs: 4440 a second. */
const struct demo_plan demo_default = {
	.pio = 30,
	.mmio = 20,
	.cpuid = 60,
	.rounds = 0,
	.pause_us = 50000,
	.vcpus = 2,
};

/* What the child reports to its parent, in one write of less than PIPE_BUF bytes. */
struct report {
	int err;
	struct error error;
};

/* Drops the parent's handlers. Ctrl-C is ignored: the parent ends, and with it the child. */
static void reset_signals(void)
{
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, sig == SIGINT ? SIG_IGN : SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* A pipe from the parent's stdout must end with the parent, so the child must not hold it. */
static void replace_stdio(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int i = 0; i <= STDERR_FILENO; i++) {
		if (fd < 0)
			close(i);
		else if (fd != i)
			dup2(fd, i);
	}
	if (fd > STDERR_FILENO)
		close(fd);
}

/* If stdin or stdout was closed, the pipe may have got its number. */
static int move_above_stdio(int fd)
{
	return fd > STDERR_FILENO ? fd : fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

/* PR_SET_PDEATHSIG is about the thread that forked, so demo_start() is for the main thread. */
_Noreturn static void child_main(const struct demo_plan *plan, pid_t parent, int report_fd)
{
	struct report report = { 0 };
	struct demo_vm *vm = NULL;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1); /* the parent died before prctl() */
	prctl(PR_SET_NAME, "kvmtop-demo");
	reset_signals();
	report_fd = move_above_stdio(report_fd);
	replace_stdio();
	report.err = demo_vm_new(plan, &vm, &report.error);
	if (vm)
		demo_vm_go(vm);
	if (write(report_fd, &report, sizeof(report)) != (ssize_t)sizeof(report) || !vm)
		_exit(1);
	close(report_fd);
	_exit(demo_vm_wait(vm, -1, NULL) ? 1 : 0);
}

/* Signals are blocked meanwhile: the parent's handlers must not run in the child. */
static pid_t fork_child(const struct demo_plan *plan, const int pipe_fds[2])
{
	sigset_t all, before;
	pid_t parent = getpid(), pid;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = fork();
	err = errno;
	if (!pid) {
		close(pipe_fds[0]);
		child_main(plan, parent, pipe_fds[1]);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return pid < 0 ? -err : pid;
}

static void read_report(int fd, struct report *ret_report)
{
	struct report report;
	ssize_t len;

	do {
		len = read(fd, &report, sizeof(report));
	} while (len < 0 && errno == EINTR);
	if (len != (ssize_t)sizeof(report))
		report.err =
			error_set(&report.error, -EIO, "the demo guest's process died at once");
	*ret_report = report;
}

int demo_start(const struct demo_plan *plan, pid_t *ret_pid, struct error *error)
{
	struct report report;
	int pipe_fds[2];
	pid_t pid;

	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return error_set(error, -errno, "cannot make a pipe to the demo guest: %m");
	pid = fork_child(plan, pipe_fds);
	close(pipe_fds[1]);
	if (pid < 0) {
		close(pipe_fds[0]);
		return error_set(error, (int)pid, "cannot fork the demo guest: %s", strerror(-pid));
	}
	read_report(pipe_fds[0], &report);
	close(pipe_fds[0]);
	if (report.err) {
		demo_stop(pid);
		return error_set(error, report.err, "%s", report.error.text);
	}
	*ret_pid = pid;
	return 0;
}

/* SIGKILL is enough: the kernel removes the VM with the process. */
void demo_stop(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}
