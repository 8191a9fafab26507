// SPDX-License-Identifier: GPL-2.0-or-later
/* Forks the process at once; it executes the command after a byte in a pipe. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/say.h"
#include "trace/tracer/child.h"

void record_child_init(struct record_child *child)
{
	*child = (struct record_child){ .go = -1, .error = -1 };
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

int record_child_new(struct record_child *child, char **command, const sigset_t *mask,
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

int record_child_begin(struct record_child *child, char **command, struct error *error)
{
	int err = 0;

	if (write(child->go, "", 1) != 1)
		return -errno;
	if (read(child->error, &err, sizeof(err)) == sizeof(err))
		return error_set(error, -err, "%s cannot be run: %s", command[0], strerror(err));
	return 0;
}

bool record_child_has_ended(struct record_child *child)
{
	int status;

	if (child->pid <= 0 || waitpid(child->pid, &status, WNOHANG) != child->pid)
		return false;
	child->pid = 0;
	child->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return true;
}

void record_child_release(struct record_child *child)
{
	if (child->pid > 0)
		kill(child->pid, SIGTERM);
	if (child->go >= 0)
		close(child->go);
	if (child->error >= 0)
		close(child->error);
}
