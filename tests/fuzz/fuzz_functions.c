/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_functions - any bytes as the maps of a process, or as a program with symbols: a name for
 * each address, without characters that move a terminal's cursor.
 */
#include <sys/mman.h>

#include "host/functions.c" /* NOLINT(bugprone-suspicious-include): it reads a file */

#define PID 123

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_up(struct functions *functions, uint64_t address)
{
	char name[NAME_BYTES] = "";

	functions_of_process(functions, PID, address, name, sizeof(name));
	if (!name[0])
		abort();
	for (const char *at = name; *at; at++) {
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			abort();
	}
}

static void take_maps(struct functions *functions, const uint8_t *data, size_t size)
{
	pid_t pid = PID;
	struct process *process = hash_get(functions->processes, pid, &pid);
	char *line, *rest = strndup((const char *)data, size);

	process->is_read = true;
	process->text = rest;
	while ((line = strsep(&rest, "\n")))
		take_line(process, line);
	for (size_t i = 0; i < process->nr_maps && i < 100; i++) {
		look_up(functions, process->maps[i].begin);
		look_up(functions, process->maps[i].end);
	}
}

static void take_program(const struct env *env, const uint8_t *data, size_t size)
{
	struct code_room room = { .symbols = 250000, .bytes = (size_t)64 << 20 };
	struct code_symbols symbols = { 0 };
	int fd = memfd_create("program", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	code_symbols_read(&symbols, env, fd, "", &room);
	close(fd);
	for (uint64_t at = 0; at < 0x10000; at += 0x101)
		code_symbols_find(&symbols, at);
	code_symbols_release(&symbols);
}

/* The first byte: which of both. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct env env = { .root = "/nowhere" };
	struct functions *functions;

	if (!size)
		return 0;
	functions = functions_new(&env);
	if (data[0] == 'm')
		take_maps(functions, data + 1, size - 1);
	else
		take_program(&env, data + 1, size - 1);
	functions_free(functions);
	return 0;
}
