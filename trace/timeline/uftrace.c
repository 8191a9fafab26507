// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs uftrace and nm. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/file.h"
#include "trace/timeline/timeline.h"

#define SYMBOLS_AT_ONCE (1 << 20) /* bytes */

/* Runs a program with out as its standard output. */
static int run(const char *const *argv, int out, pid_t *ret_child, struct error *error)
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
	return err ? error_set(error, -err, "%s cannot be run: %s", argv[0], strerror(err)) : 0;
}

/* is_cut: its output is not read to the end, and a SIGPIPE is no failure. */
static int wait_end(pid_t child, const char *name, const char *of, bool is_cut, struct error *error)
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
	return error_set(error, -EIO, "%s failed on %s", name, of);
}

/* What nm prints, in memory: a file that may have to be written to directly is opened after it. */
static int run_nm(const char *binary, struct error *error)
{
	const char *const argv[] = { "nm", "-n", "--", binary, NULL };
	int fd = memfd_create("nm", MFD_CLOEXEC), err;
	pid_t child = 0;

	if (fd < 0)
		return -errno;
	err = run(argv, fd, &child, error);
	if (!err)
		err = wait_end(child, "nm", binary, false, error);
	if (!err)
		return fd;
	close(fd);
	return err;
}

static int write_symbols(int in, const char *path, struct error *error)
{
	struct whole_file file = { .file = NULL };
	off_t at = 0;
	ssize_t n;
	int err = whole_file_open(&file, path, error);

	if (err)
		return err;
	do
		n = sendfile(fileno(file.file), in, &at, SYMBOLS_AT_ONCE);
	while (n > 0);
	err = -errno;
	if (n < 0)
		whole_file_drop(&file);
	else
		err = whole_file_keep(&file);
	return err ? error_set(error, err, "%s: %s", path, strerror(-err)) : 0;
}

int uftrace_symbols(const char *folder, const char *binary, const char *name, struct error *error)
{
	char path[4096];
	struct stat st;
	int in, err;

	snprintf(path, sizeof(path), "%s/%s.sym", folder, name);
	if (output_find_input(path, &binary, 1))
		return error_set(error, -EINVAL,
				 "%s: this file is an input: choose another --binary-name", path);
	/* Any user may have made the folder: a link in it is not followed. */
	if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
		return error_set(error, -ELOOP, "%s: a link, which is not followed: remove it",
				 path);
	in = run_nm(binary, error);
	if (in < 0)
		return in;
	err = write_symbols(in, path, error);
	close(in);
	return err;
}

/* Runs uftrace, and reads its output. */
static int dump(const char *folder, struct uftrace *ret_uftrace, struct error *error)
{
	const char *const argv[] = { "uftrace", "dump", "--chrome", "-d", folder, NULL };
	int ends[2], err;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	err = run(argv, ends[1], &ret_uftrace->child, error);
	close(ends[1]);
	if (!err && !(ret_uftrace->json = fdopen(ends[0], "r")))
		err = -errno;
	if (err)
		close(ends[0]);
	return err;
}

int uftrace_open(const char *path, struct uftrace *ret_uftrace, struct error *error)
{
	struct uftrace uftrace = { 0 };
	struct stat st;
	int err = 0;

	if (stat(path, &st) < 0)
		return error_set(error, -errno, "%s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode)) {
		err = dump(path, &uftrace, error);
	} else {
		uftrace.json = fopen(path, "re");
		if (!uftrace.json)
			err = error_set(error, -errno, "%s: %s", path, strerror(errno));
	}
	if (!err)
		*ret_uftrace = uftrace;
	return err;
}

int uftrace_close(struct uftrace *uftrace, const char *path, int err, struct error *error)
{
	fclose(uftrace->json);
	return uftrace->child ? wait_end(uftrace->child, "uftrace", path, err < 0, error) : 0;
}
