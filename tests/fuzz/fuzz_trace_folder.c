/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_trace_folder - any bytes as the files of a folder of perf record --threads, read to the end.
 *
 * Two numbers of 16 bits are the sizes of data.0 and data.1, in units of 8 bytes; then come these
 * two, and the rest is data.
 */
#include <fcntl.h>

#include "tests/fuzz/trace_fuzz.h"

static char folder[64];

static void remove_folder(void)
{
	static const char *const names[] = { "data", "data.0", "data.1" };
	char path[96];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		unlink(path);
	}
	rmdir(folder);
}

static void make_folder(void)
{
	const char *where = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";

	if (folder[0])
		return;
	snprintf(folder, sizeof(folder), "%s/kvmtop-fuzz.XXXXXX", where);
	if (!mkdtemp(folder))
		abort();
	atexit(remove_folder);
}

/* Takes so many bytes, or what is left, as a file. */
static void save_file(const char *name, const uint8_t **data, size_t *left, size_t size)
{
	char path[96];
	int fd;

	size = size < *left ? size : *left;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, *data, size) != (ssize_t)size)
		abort();
	close(fd);
	*data += size;
	*left -= size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *paths[] = { folder };
	const struct trace_event *event;
	struct trace *trace;
	uint16_t sizes[2];
	struct error error;

	if (size < sizeof(sizes))
		return 0;
	make_folder();
	memcpy(sizes, data, sizeof(sizes));
	data += sizeof(sizes);
	size -= sizeof(sizes);
	save_file("data.0", &data, &size, (size_t)8 * sizes[0]);
	save_file("data.1", &data, &size, (size_t)8 * sizes[1]);
	save_file("data", &data, &size, size);
	if (trace_open(paths, 1, TRACE_PERF, NULL, &trace, &error) < 0)
		return 0;
	while (trace_next(trace, &event))
		fuzz_check(trace, event);
	for (size_t i = 0; trace_problem(trace, i); i++) {
		if (!trace_problem(trace, i)[0])
			abort();
	}
	trace_close(trace);
	return 0;
}
