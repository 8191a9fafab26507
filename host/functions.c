// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names the functions of this machine's kernel, and of processes by their maps and the symbols of
 * ELF files.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/env.h"
#include "host/functions.h"
#include "host/kallsyms.h"
#include "lib/array.h"
#include "lib/file.h"
#include "lib/hash.h"
#include "lib/process.h"
#include "lib/text.h"

#define NAME_BYTES 256
#define FILES_MAX 512
#define MAPS_MAX ((size_t)16 << 20) /* bytes of a process' maps */

/* A program or library. */
struct code_file {
	uint64_t device, inode;
	char base[NAME_BYTES]; /* its name without folders */
	bool is_read;
	struct code_symbols symbols;
};

struct mapping {
	uint64_t begin, end, offset;
	size_t file; /* its number */
};

/* The executable mappings of the process that was asked about last. */
struct functions {
	const struct env *env;
	struct kallsyms *kernel; /* NULL: not read, or it cannot be */
	bool has_tried_kernel;
	struct code_file **files;
	size_t nr_files, room_files;
	size_t nr_symbols; /* of all of them */
	pid_t pid; /* 0: none */
	struct mapping *maps;
	size_t nr_maps, room_maps;
	struct error missing; /* why there are no names, until that is said */
	bool has_missed;
};

struct functions *functions_new(const struct env *env)
{
	struct functions *functions = xcalloc(1, sizeof(*functions));

	functions->env = env;
	return functions;
}

void functions_free(struct functions *functions)
{
	if (!functions)
		return;
	for (size_t i = 0; i < functions->nr_files; i++) {
		struct code_file *file = functions->files[i];

		code_symbols_release(&file->symbols);
		free(file);
	}
	free(functions->files);
	free(functions->maps);
	kallsyms_free(functions->kernel);
	free(functions);
}

void functions_look_again(struct functions *functions)
{
	functions->pid = 0;
}

/* Keeps the first reason why names are missing. */
static void __attribute__((format(printf, 2, 3)))
miss(struct functions *functions, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (!functions->has_missed)
		vsnprintf(functions->missing.text, sizeof(functions->missing.text), format, args);
	va_end(args);
	functions->has_missed = true;
}

/* err: of what the kernel has of the process. Other errors than these: it has ended. */
static void miss_process(struct functions *functions, int err)
{
	if (err == -EACCES || err == -EPERM)
		miss(functions, "functions of process %d have no names: %sCAP_SYS_PTRACE and "
				"CAP_SYS_ADMIN are needed", (int)functions->pid,
		     unless_root("root, or "));
}

void functions_report(struct functions *functions, struct error *error)
{
	if (functions->missing.text[0])
		*error = functions->missing;
	functions->missing.text[0] = '\0';
}

/* ---- the kernel */

static void read_kernel(struct functions *functions)
{
	struct error error;
	char path[PATH_MAX];
	int err;

	if (functions->has_tried_kernel)
		return;
	functions->has_tried_kernel = true;
	err = kallsyms_read(env_path(functions->env, path, sizeof(path), "/proc/kallsyms"),
			    &functions->kernel, &error);
	if (err == -ENODATA)
		miss(functions, "the kernel hides the addresses of its functions: CAP_SYSLOG, and "
				"kernel.kptr_restrict below 2, are needed");
	else if (err)
		miss(functions, "the kernel's functions have no names: %s", error.text);
}

void functions_of_kernel(struct functions *functions, uint64_t address, char *buf, size_t size)
{
	const char *name = NULL;

	read_kernel(functions);
	if (functions->kernel)
		name = kallsyms_function(functions->kernel, address);
	snprintf(buf, size, "%s", name ? name : "[kernel]");
}

static bool has_release(const struct env *env, const char *release)
{
	char path[PATH_MAX], text[128];

	if (read_small(env_path(env, path, sizeof(path), "/proc/sys/kernel/osrelease"), text,
		       sizeof(text)) <= 0)
		return false;
	text[strcspn(text, "\n")] = '\0';
	return strcmp(text, release) == 0;
}

bool functions_kernel_is(struct functions *functions, const char *id, const char *release,
			 const char *symbol, uint64_t address)
{
	char own[CODE_ID_SIZE];

	code_kernel_id(functions->env, own);
	if (*id ? strcmp(id, own) != 0 : !has_release(functions->env, release))
		return false;
	read_kernel(functions);
	return functions->kernel && kallsyms_has(functions->kernel, symbol, address);
}

/* ---- the maps of a process */

/* The file of a mapping: by its entry of map_files, which is right in containers, too. */
static int open_mapped(struct functions *functions, const struct mapping *map)
{
	char path[PATH_MAX];
	int fd;

	env_path(functions->env, path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64,
		 (int)functions->pid, map->begin, map->end);
	fd = open_program(path);
	if (fd < 0)
		miss_process(functions, fd);
	return fd;
}

/* The number of the file; FILES_MAX: there are too many. */
static size_t find_file(struct functions *functions, uint64_t device, uint64_t inode,
			const char *path)
{
	const char *base = path_base(path), *deleted = strstr(base, " (deleted)");
	size_t nr = functions->nr_files, len = deleted ? (size_t)(deleted - base) : strlen(base);
	struct code_file *file;
	char name[NAME_BYTES];

	if (!utf8_clean(base, len, name, sizeof(name)))
		strcpy(name, "[unknown]");
	for (size_t i = 0; i < nr; i++) {
		file = functions->files[i];
		if (file->device == device && file->inode == inode &&
		    strcmp(file->base, name) == 0)
			return i;
	}
	if (nr == FILES_MAX)
		return FILES_MAX;
	file = xcalloc(1, sizeof(*file));
	file->device = device;
	file->inode = inode;
	strcpy(file->base, name);
	array_grow_unset(&functions->files, &functions->room_files, nr + 1);
	functions->files[functions->nr_files++] = file;
	return nr;
}

/* "7f00-7f10 r-xp 00001000 fe:01 1234   /usr/bin/qemu" */
static void take_line(struct functions *functions, const char *line)
{
	struct mapping map;
	unsigned int major, minor;
	uint64_t inode;
	char mode[5];
	int at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &map.begin,
		   &map.end, mode, &map.offset, &major, &minor, &inode, &at) < 7 || !at ||
	    mode[2] != 'x' || !line[at])
		return;
	map.file = find_file(functions, (uint64_t)major << 32 | minor, inode, line + at);
	if (map.file == FILES_MAX)
		return;
	array_grow_unset(&functions->maps, &functions->room_maps, functions->nr_maps + 1);
	functions->maps[functions->nr_maps++] = map;
}

static void read_maps(struct functions *functions, pid_t pid)
{
	char path[PATH_MAX], *text, *line, *rest;
	size_t size;
	int err;

	functions->pid = pid;
	functions->nr_maps = 0;
	env_path(functions->env, path, sizeof(path), "/proc/%d/maps", (int)pid);
	err = read_whole(path, MAPS_MAX, &text, &size);
	if (err < 0) {
		miss_process(functions, err);
		return;
	}
	rest = text;
	while ((line = strsep(&rest, "\n")))
		take_line(functions, line);
	free(text);
}

static const struct mapping *find_mapping(const struct functions *functions, uint64_t address)
{
	for (size_t i = 0; i < functions->nr_maps; i++) {
		const struct mapping *map = &functions->maps[i];

		if (address >= map->begin && address < map->end)
			return map;
	}
	return NULL;
}

static void read_symbols(struct functions *functions, struct code_file *file, int fd,
			 const char *id)
{
	code_symbols_read(&file->symbols, functions->env, fd, id, &functions->nr_symbols);
	close(fd);
	file->is_read = true;
}

/*
 * The file of the mapping, which is read when it is needed for the first time. A process that has
 * ended has no mappings, but the next one may have mapped the same file.
 */
static const struct code_file *file_of(struct functions *functions, const struct mapping *map)
{
	struct code_file *file = functions->files[map->file];
	int fd = file->inode && !file->is_read ? open_mapped(functions, map) : -1;

	if (fd >= 0)
		read_symbols(functions, file, fd, "");
	return file;
}

static void name_in_file(const struct code_file *file, uint64_t offset, char *buf, size_t size)
{
	const char *name = code_symbols_find(&file->symbols, offset);

	if (name)
		snprintf(buf, size, "%s", name);
	else if (!file->inode) /* "[vdso]" */
		snprintf(buf, size, "%s", file->base);
	else
		snprintf(buf, size, "%s+0x%" PRIx64, file->base, offset);
}

void functions_of_process(struct functions *functions, pid_t pid, uint64_t address, char *buf,
			  size_t size)
{
	const struct mapping *map;

	if (functions->pid != pid)
		read_maps(functions, pid);
	map = find_mapping(functions, address);
	if (!map) {
		snprintf(buf, size, "[unknown]");
		return;
	}
	name_in_file(file_of(functions, map), address - map->begin + map->offset, buf, size);
}

void functions_of_file(struct functions *functions, const char *path, const char *id,
		       uint64_t offset, char *buf, size_t size)
{
	bool is_file = *path == '/';
	/* Files that are known by their paths alone. */
	uint64_t inode = is_file ? hash_text(HASH_START, path) : 0;
	size_t at = find_file(functions, UINT64_MAX, inode, path);
	struct code_file *file = at == FILES_MAX ? NULL : functions->files[at];
	int fd = -1;

	if (!file) {
		snprintf(buf, size, "[unknown]");
		return;
	}
	if (is_file && !file->is_read)
		fd = open_program(path);
	file->is_read = true; /* or it is not there */
	if (fd >= 0)
		read_symbols(functions, file, fd, id);
	name_in_file(file, offset, buf, size);
}
