// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs uftrace and nm, and cuts the JSON into events: a file may have any size. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <json-c/json.h>

#include "lib/file.h"
#include "lib/xalloc.h"
#include "trace/timeline/timeline.h"

#define SYMBOLS_AT_ONCE (1 << 20) /* bytes */
#define CHUNK 65536
#define EVENT_MAX (1 << 20) /* bytes of one event */

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

/* What nm prints, in memory. */
static int run_nm(const char *binary, int *ret_fd, struct error *error)
{
	const char *const argv[] = { "nm", "-n", "--", binary, NULL };
	pid_t child = 0;
	int fd = memfd_create("nm", MFD_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = run(argv, fd, &child, error);
	if (!err)
		err = wait_end(child, "nm", binary, false, error);
	if (err)
		close(fd);
	else
		*ret_fd = fd;
	return err;
}

static int copy(int in, int out)
{
	off_t at = 0;
	ssize_t n;

	do
		n = sendfile(out, in, &at, SYMBOLS_AT_ONCE);
	while (n > 0);
	return n < 0 ? -errno : 0;
}

/* Any user may have made the folder: a link in it is not followed. */
static int write_symbols(int in, const char *path, const char *binary, struct error *error)
{
	struct whole_file file = { .file = NULL };
	struct stat st;
	int err;

	if (output_find_input(path, &binary, 1))
		return error_set(error, -EINVAL,
				 "%s: this file is an input: choose another --binary-name", path);
	if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
		return error_set(error, -ELOOP, "%s: a link, which is not followed: remove it",
				 path);
	err = whole_file_open(&file, path, error);
	if (err)
		return err;
	err = copy(in, fileno(file.file));
	if (err)
		whole_file_drop(&file);
	else
		err = whole_file_keep(&file);
	return err ? error_set(error, err, "%s: %s", path, strerror(-err)) : 0;
}

int uftrace_symbols(const char *folder, const char *binary, const char *name, struct error *error)
{
	char path[4096];
	int in = -1, err = run_nm(binary, &in, error);

	if (err)
		return err;
	snprintf(path, sizeof(path), "%s/%s.sym", folder, name);
	err = write_symbols(in, path, binary, error);
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

/* ---- events ---- */

struct uftrace_reader {
	FILE *in;
	char data[CHUNK];
	size_t begin, end;
	uint64_t offset; /* of data[begin] */
};

/* The next byte, which stays unread; -1: the end. */
static int peek(struct uftrace_reader *reader)
{
	if (reader->begin == reader->end) {
		reader->begin = 0;
		reader->end = fread(reader->data, 1, sizeof(reader->data), reader->in);
	}
	return reader->begin < reader->end ? (unsigned char)reader->data[reader->begin] : -1;
}

static void advance(struct uftrace_reader *reader, size_t n)
{
	reader->begin += n;
	reader->offset += n;
}

static int skip(struct uftrace_reader *reader, const char *what)
{
	int c;

	while ((c = peek(reader)) > 0 && strchr(what, c))
		advance(reader, 1);
	return c;
}

/* Skips everything up to and including this text. */
static bool find_text(struct uftrace_reader *reader, const char *text)
{
	size_t matched = 0;
	int c;

	while (text[matched] && (c = peek(reader)) >= 0) {
		advance(reader, 1);
		if (c == text[matched])
			matched++;
		else
			matched = c == text[0];
	}
	return !text[matched];
}

/* Goes to the first event: the file is a list of events, or an object with a list of events. */
static bool find_list(struct uftrace_reader *reader)
{
	int c = skip(reader, " \t\r\n");

	if (c == '{' && find_text(reader, "\"traceEvents\""))
		c = skip(reader, " \t\r\n:");
	if (c != '[')
		return false;
	advance(reader, 1);
	return true;
}

/* NULL: the event is damaged or truncated. */
static struct json_object *read_event(struct uftrace_reader *reader, struct json_tokener *tokener)
{
	size_t size = 0;

	json_tokener_reset(tokener);
	while (peek(reader) >= 0 && size < EVENT_MAX) {
		size_t n = reader->end - reader->begin;
		struct json_object *event = json_tokener_parse_ex(
			tokener, reader->data + reader->begin, (int)n);
		enum json_tokener_error error = json_tokener_get_error(tokener);

		if (error == json_tokener_continue) {
			advance(reader, n);
			size += n;
			continue;
		}
		if (error == json_tokener_success && event)
			advance(reader, json_tokener_get_parse_end(tokener));
		return event;
	}
	return NULL;
}

static int read_events(struct uftrace_reader *reader, struct json_tokener *tokener,
		       const char *path, uftrace_event_fn take, void *arg, struct error *error)
{
	struct json_object *event;
	int c, err = 0;

	while (!err) {
		c = skip(reader, " \t\r\n,");
		if (c == ']')
			return 0;
		event = c < 0 ? NULL : read_event(reader, tokener);
		err = event ? take(arg, event) : -EINVAL;
		json_object_put(event);
	}
	return error_set(error, err,
			 "%s: %s at offset %" PRIu64 ": write it again, as with uftrace "
			 "dump --chrome",
			 path,
			 peek(reader) < 0 ? "ends too early," : "not an event of a Chrome trace",
			 reader->offset);
}

int uftrace_read(FILE *in, const char *path, uftrace_event_fn take, void *arg, struct error *error)
{
	struct json_tokener *tokener = json_tokener_new();
	struct uftrace_reader *reader = xcalloc(1, sizeof(*reader));
	int err;

	if (!tokener)
		out_of_memory();
	reader->in = in;
	if (find_list(reader))
		err = read_events(reader, tokener, path, take, arg, error);
	else if (!reader->offset && peek(reader) < 0)
		err = error_set(error, -ENODATA, "%s: is empty: write a Chrome trace with "
				"uftrace dump --chrome", path);
	else
		err = error_set(error, -EINVAL,
				"%s: not a Chrome trace: write one with uftrace dump "
				"--chrome",
				path);
	json_tokener_free(tokener);
	free(reader);
	return err;
}
