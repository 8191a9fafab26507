/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_functions - any bytes as the maps of a process, or as a program with symbols: a name for
 * each address, without characters that move a terminal's cursor.
 */
#include <sys/mman.h>

#include "host/functions.c" /* NOLINT(bugprone-suspicious-include): it reads a file */

#define BEGIN UINT64_C(0x7f0000000000)
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
	char *text = strndup((const char *)data, size), *line, *rest = text;

	while ((line = strsep(&rest, "\n")))
		take_line(functions, line);
	free(text);
	for (size_t i = 0; i < functions->nr_maps && i < 100; i++) {
		look_up(functions, functions->maps[i].begin);
		look_up(functions, functions->maps[i].end);
	}
}

static void take_program(struct functions *functions, const uint8_t *data, size_t size)
{
	int fd = memfd_create("program", MFD_CLOEXEC);
	char line[64];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(line, sizeof(line), "%" PRIx64 "-%" PRIx64 " r-xp 0 1:1 1 /vmm", BEGIN,
		 BEGIN + 0x10000);
	take_line(functions, line);
	functions->files[0]->is_read = true;
	code_symbols_read(&functions->files[0]->symbols, functions->env, fd, "",
			  &functions->nr_symbols);
	close(fd);
	for (uint64_t at = BEGIN; at < BEGIN + 0x10000; at += 0x101)
		look_up(functions, at);
}

/* The first byte: which of both. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct env env = { .root = "/nowhere" };
	struct functions *functions;

	if (!size)
		return 0;
	functions = functions_new(&env);
	functions->pid = PID;
	if (data[0] == 'm')
		take_maps(functions, data + 1, size - 1);
	else
		take_program(functions, data + 1, size - 1);
	functions_free(functions);
	return 0;
}
