// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The files beside the header in the folder that perf record --threads makes.
 *
 * perf writes a file for each ring, which is a CPU's: data.0, data.1 ... They have records and
 * nothing else. An idle CPU's file is empty.
 *
 * Source: tools/perf/util/data.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/xalloc.h"
#include "host/machine.h"
#include "trace/recording/perf/perf.h"

#define PIECES_MAX 8192 /* as many CPUs as Linux can have */
#define NAME_SIZE 32 /* of "data.8191" */

/*
 * Adds the file with this number; an empty one is left out. -ENOENT: there is none. Does not wait
 * for a pipe's writer.
 */
static int add_piece(struct trace_file *file, int folder, size_t number)
{
	char name[NAME_SIZE];
	struct stat st;
	char *line;
	int fd, err = 0;

	snprintf(name, sizeof(name), "data.%zu", number);
	fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0)
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = -EINVAL;
	if (!err && st.st_size > 0) {
		trace_add_piece(file, fd, name, (uint64_t)st.st_size);
		return 0;
	}
	if (fd >= 0)
		close(fd);
	if (!err || err == -ENOENT)
		return err;
	line = xasprintf("%s/%s: %s", file->folder, name, strerror(-err));
	trace_add_failure(file->trace, line);
	free(line);
	return err;
}

size_t perf_folder_open(struct trace_file *file)
{
	int folder = open(file->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t before = file->trace->pieces.nr, nr = 0, nr_missing = 0, first = 0;
	char *line = NULL;

	descriptors_raise(PIECES_MAX + DESCRIPTORS_SPARE);
	for (size_t i = 0; folder >= 0 && i < PIECES_MAX; i++) {
		int err = add_piece(file, folder, i);

		if (descriptors_are_short(err))
			break;
		if (err == -ENOENT)
			continue;
		first = nr_missing ? first : nr;
		nr_missing += i - nr;
		nr = i + 1;
	}
	if (nr_missing > 1)
		line = xasprintf("%s: data.%zu and %zu more files are missing", file->folder,
				 first, nr_missing - 1);
	else if (nr_missing || !nr)
		line = xasprintf("%s: data.%zu is missing", file->folder, first);
	if (line)
		trace_add_failure(file->trace, line);
	free(line);
	if (folder >= 0)
		close(folder);
	return file->trace->pieces.nr - before;
}
