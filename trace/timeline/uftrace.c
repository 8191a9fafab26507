// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs uftrace and nm. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/timeline/uftrace.h"

/* Runs a program with out as its standard output. */
static int run(const char *const *argv, int out, pid_t *ret_child, struct why *why)
{
	posix_spawn_file_actions_t actions;
	int err = posix_spawn_file_actions_init(&actions);

	if (err)
		return -err;
	err = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	if (!err)
		err = posix_spawnp(ret_child, argv[0], &actions, NULL,
				   (char *const *)(uintptr_t)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return err ? why_set(why, -err, "%s cannot be run: %s", argv[0], strerror(err)) : 0;
}

/* is_cut: nobody reads its output to the end, and a SIGPIPE is no failure. */
static int wait_end(pid_t child, const char *name, const char *of, bool is_cut, struct why *why)
{
	int status;

	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (is_cut && WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE)
		return 0;
	return why_set(why, -EIO, "%s failed on %s", name, of);
}

int uftrace_symbols(const char *folder, const char *binary, const char *name, struct why *why)
{
	const char *const argv[] = { "nm", "-n", "--", binary, NULL };
	char path[4096];
	pid_t child = 0;
	int fd, err;

	snprintf(path, sizeof(path), "%s/%s.sym", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return why_set(why, -errno, "%s: %s", path, strerror(errno));
	err = run(argv, fd, &child, why);
	close(fd);
	return err ? err : wait_end(child, "nm", binary, false, why);
}

/* Runs uftrace, and reads its output. */
static int dump(const char *folder, struct uftrace *ret_uftrace, struct why *why)
{
	const char *const argv[] = { "uftrace", "dump", "--chrome", "-d", folder, NULL };
	int ends[2], err;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	err = run(argv, ends[1], &ret_uftrace->child, why);
	close(ends[1]);
	if (!err && !(ret_uftrace->json = fdopen(ends[0], "r")))
		err = -errno;
	if (err)
		close(ends[0]);
	return err;
}

int uftrace_open(const char *path, struct uftrace *ret_uftrace, struct why *why)
{
	struct uftrace uftrace = { 0 };
	struct stat st;
	int err = 0;

	if (stat(path, &st) < 0)
		return why_set(why, -errno, "%s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode)) {
		err = dump(path, &uftrace, why);
	} else {
		uftrace.json = fopen(path, "re");
		if (!uftrace.json)
			err = why_set(why, -errno, "%s: %s", path, strerror(errno));
	}
	if (!err)
		*ret_uftrace = uftrace;
	return err;
}

int uftrace_close(struct uftrace *uftrace, const char *path, int err, struct why *why)
{
	fclose(uftrace->json);
	return uftrace->child ? wait_end(uftrace->child, "uftrace", path, err < 0, why) : 0;
}
