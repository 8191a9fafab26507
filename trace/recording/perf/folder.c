// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The files beside the header in the folder that perf record --threads makes.
 *
 * perf writes a file for each ring, which is a CPU's: data.0, data.1 ... They have records and
 * nothing else. An idle CPU's file is empty.
 *
 * Source: tools/perf/util/data.c.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/array.h"
#include "host/machine.h"
#include "trace/recording/perf/perf.h"

#define PREFIX "data."
#define PIECES_MAX 8192 /* as many CPUs as Linux can have */
#define NAME_SIZE 32 /* of "data.8191" */

/* The number in the name of a piece; -1: it is another file. */
static long number_of(const char *name)
{
	const char *digits = name + strlen(PREFIX);
	char again[NAME_SIZE];
	unsigned long number;

	if (strncmp(name, PREFIX, strlen(PREFIX)) != 0 || !*digits)
		return -1;
	number = strtoul(digits, NULL, 10);
	if (number >= PIECES_MAX)
		return -1;
	snprintf(again, sizeof(again), PREFIX "%lu", number);
	return strcmp(again, name) == 0 ? (long)number : -1;
}

/* Which pieces there are, by their numbers. Returns the highest number and one more. */
static size_t list_pieces(DIR *dir, bool *is_there)
{
	const struct dirent *entry;
	size_t nr = 0;

	while ((entry = readdir(dir))) {
		long number = number_of(entry->d_name);

		if (number < 0)
			continue;
		is_there[number] = true;
		nr = (size_t)number >= nr ? (size_t)number + 1 : nr;
	}
	return nr;
}

/* Does not wait for a pipe's writer. */
static bool open_piece(struct trace_file *file, int folder, size_t number)
{
	char name[NAME_SIZE];
	struct stat st;
	char *line;
	int fd, err = 0;

	snprintf(name, sizeof(name), PREFIX "%zu", number);
	fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0)
		err = errno;
	else if (!S_ISREG(st.st_mode))
		err = EINVAL;
	if (!err && st.st_size > 0) {
		trace_add_piece(file, fd, name, (uint64_t)st.st_size);
		return true;
	}
	if (fd >= 0)
		close(fd);
	if (!err)
		return false;
	line = xasprintf("%s/%s: %s", file->folder, name, strerror(err));
	trace_add_failure(file->trace, line);
	free(line);
	return false;
}

static void say_missing(struct trace_file *file, size_t first, size_t nr)
{
	char *line = nr == 1 ? xasprintf("%s: data.%zu is missing", file->folder, first) :
			       xasprintf("%s: data.%zu and %zu more files are missing",
					 file->folder, first, nr - 1);

	trace_add_failure(file->trace, line);
	free(line);
}

size_t perf_folder_open(struct trace_file *file)
{
	bool *is_there = xcalloc(PIECES_MAX, sizeof(*is_there));
	DIR *dir = opendir(file->folder);
	size_t nr = dir ? list_pieces(dir, is_there) : 0, nr_added = 0, nr_missing = 0, first = 0;

	descriptors_raise(nr + DESCRIPTORS_SPARE);
	for (size_t i = 0; i < nr; i++) {
		if (is_there[i])
			nr_added += open_piece(file, dirfd(dir), i);
		else if (nr_missing++ == 0)
			first = i;
	}
	if (nr_missing || nr == 0)
		say_missing(file, first, nr ? nr_missing : 1);
	if (dir)
		closedir(dir);
	free(is_there);
	return nr_added;
}
