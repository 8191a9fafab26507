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
#include "lib/aside.h"
#include "lib/file.h"
#include "lib/hash.h"
#include "lib/process.h"
#include "lib/text.h"

#define NAME_BYTES 256
#define MAPS_MAX ((size_t)16 << 20) /* bytes of a process' maps */
#define LOOKS 100 /* without use, after which a file or a process is forgotten */

/* Limits for all files, and for the files of one process, which decides what it maps. */
#define FILES_MAX 1024
#define FILES_OF_PROCESS 64
static const struct code_room all_room = { .symbols = 1000000, .bytes = SIZE_MAX };
static const struct code_room process_room = { .symbols = 250000, .bytes = (size_t)64 << 20 };

struct file_key {
	uint64_t device, inode;
	char base[NAME_BYTES]; /* its name without folders */
};

/* A program or library that was read, or is not there. */
struct code_file {
	UT_hash_handle hh;
	struct file_key key;
	struct code_symbols symbols;
	struct code_room took;
	pid_t payer;
	unsigned int look; /* the latest */
};

/* What is left of the share of a process. */
struct payer {
	UT_hash_handle hh;
	pid_t pid;
	size_t nr_files;
	struct code_room room;
	unsigned int look;
};

struct mapping {
	uint64_t begin, end, offset, device, inode;
	const char *path; /* in the text of all maps */
};

/* The executable mappings of a process, as they are in this look. */
struct process {
	UT_hash_handle hh;
	pid_t pid;
	bool is_read;
	char *text; /* of its maps */
	struct mapping *maps;
	size_t nr_maps, room_maps;
};

struct functions {
	const struct env *env;
	struct kallsyms *kernel; /* NULL: not read, or it cannot be */
	bool has_tried_kernel;
	struct code_file *files;
	struct payer *payers;
	struct code_room room;
	unsigned int look; /* this one */
	struct process *processes; /* that were asked about in it */
	pid_t pid; /* of the latest one */
	struct error missing; /* why there are no names, until that is said */
	bool has_missed, has_been_full;
};

struct functions *functions_new(const struct env *env)
{
	struct functions *functions = xcalloc(1, sizeof(*functions));

	functions->env = env;
	functions->room = all_room;
	return functions;
}

static void forget_file(struct functions *functions, struct code_file *file)
{
	struct payer *payer;

	HASH_FIND_INT(functions->payers, &file->payer, payer);
	if (payer) {
		payer->nr_files--;
		payer->room.symbols += file->took.symbols;
		payer->room.bytes += file->took.bytes;
	}
	functions->room.symbols += file->took.symbols;
	HASH_DEL(functions->files, file);
	code_symbols_release(&file->symbols);
	free(file);
}

static void free_process(struct process *process)
{
	free(process->text);
	free(process->maps);
	free(process);
}

void functions_free(struct functions *functions)
{
	struct code_file *file, *next;

	if (!functions)
		return;
	HASH_ITER(hh, functions->files, file, next)
		forget_file(functions, file);
	hash_free(functions->payers, free);
	hash_free(functions->processes, free_process);
	kallsyms_free(functions->kernel);
	free(functions);
}

void functions_look_again(struct functions *functions)
{
	struct code_file *file, *next;
	struct payer *payer, *after;

	hash_free(functions->processes, free_process);
	functions->look++;
	HASH_ITER(hh, functions->files, file, next) {
		if (functions->look - file->look > LOOKS)
			forget_file(functions, file);
	}
	HASH_ITER(hh, functions->payers, payer, after) {
		if (functions->look - payer->look <= LOOKS)
			continue;
		HASH_DEL(functions->payers, payer);
		free(payer);
	}
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

static void miss_room(struct functions *functions)
{
	if (!functions->has_been_full && !functions->missing.text[0])
		error_set(&functions->missing, 0, "some functions have no names: process %d maps "
			  "more programs, or larger ones, than there is room for",
			  (int)functions->pid);
	functions->has_been_full = true;
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
	name_put(buf, size, "%s", name ? name : "[kernel]");
}

static bool has_release(const struct env *env, const char *release)
{
	char text[128];

	return env_read_line(env, text, sizeof(text), "/proc/sys/kernel/osrelease") >= 0 &&
	       strcmp(text, release) == 0;
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
	fd = aside_open_program(path);
	if (fd < 0)
		miss_process(functions, fd);
	return fd;
}

/* "7f00-7f10 r-xp 00001000 fe:01 1234   /usr/bin/qemu" */
static void take_line(struct process *process, const char *line)
{
	struct mapping map;
	unsigned int major, minor;
	char mode[5];
	int at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &map.begin,
		   &map.end, mode, &map.offset, &major, &minor, &map.inode, &at) < 7 || !at ||
	    mode[2] != 'x' || !line[at])
		return;
	map.device = (uint64_t)major << 32 | minor;
	map.path = line + at;
	*array_add(process->maps, process->nr_maps, process->room_maps) = map;
}

static void read_maps(struct functions *functions, struct process *process)
{
	char path[PATH_MAX], *line, *rest;
	size_t size;
	int err;

	env_path(functions->env, path, sizeof(path), "/proc/%d/maps", (int)process->pid);
	err = aside_read_whole(path, MAPS_MAX, &process->text, &size);
	if (err < 0) {
		miss_process(functions, err);
		return;
	}
	rest = process->text;
	while ((line = strsep(&rest, "\n")))
		take_line(process, line);
}

/* Its maps are read once in a look: stacks of many processes come in no order. */
static const struct process *process_of(struct functions *functions, pid_t pid)
{
	struct process *process = hash_get(functions->processes, pid, &pid);

	functions->pid = pid;
	if (!process->is_read)
		read_maps(functions, process);
	process->is_read = true;
	return process;
}

static const struct mapping *find_mapping(const struct process *process, uint64_t address)
{
	for (size_t i = 0; i < process->nr_maps; i++) {
		const struct mapping *map = &process->maps[i];

		if (address >= map->begin && address < map->end)
			return map;
	}
	return NULL;
}

/* ---- files */

static void set_key(struct file_key *key, uint64_t device, uint64_t inode, const char *path)
{
	const char *base = path_base(path), *deleted = strstr(base, " (deleted)");
	size_t len = deleted ? (size_t)(deleted - base) : strlen(base);

	memset(key, 0, sizeof(*key));
	key->device = device;
	key->inode = inode;
	if (!utf8_clean(base, len, key->base, sizeof(key->base)))
		strcpy(key->base, "[unknown]");
}

static struct code_file *find_file(struct functions *functions, const struct file_key *key)
{
	struct code_file *file;

	HASH_FIND(hh, functions->files, key, sizeof(*key), file);
	if (file)
		file->look = functions->look;
	return file;
}

static struct payer *get_payer(struct functions *functions, pid_t pid)
{
	struct payer *payer;

	HASH_FIND_INT(functions->payers, &pid, payer);
	if (!payer) {
		payer = xcalloc(1, sizeof(*payer));
		payer->pid = pid;
		payer->room = process_room;
		hash_add(functions->payers, pid, payer);
	}
	payer->look = functions->look;
	return payer;
}

/* Whether another file may be read; payer NULL: of a recording, which is the user's choice. */
static bool has_room(struct functions *functions, const struct payer *payer)
{
	bool has = HASH_COUNT(functions->files) < FILES_MAX &&
		   (!payer || payer->nr_files < FILES_OF_PROCESS);

	if (!has)
		miss_room(functions);
	return has;
}

static struct code_file *read_file(struct functions *functions, const struct file_key *key, int fd,
				   const char *id, struct payer *payer)
{
	struct code_file *file = xcalloc(1, sizeof(*file));
	struct code_room room = payer ? payer->room : all_room, before;

	if (room.symbols > functions->room.symbols)
		room.symbols = functions->room.symbols;
	before = room;
	file->key = *key;
	file->look = functions->look;
	if (fd >= 0 && !code_symbols_read(&file->symbols, functions->env, fd, id, &room))
		miss_room(functions);
	file->took = (struct code_room){ before.symbols - room.symbols,
					 before.bytes - room.bytes };
	functions->room.symbols -= file->took.symbols;
	if (payer) {
		file->payer = payer->pid;
		payer->nr_files++;
		payer->room.symbols -= file->took.symbols;
		payer->room.bytes -= file->took.bytes;
	}
	HASH_ADD(hh, functions->files, key, sizeof(file->key), file);
	return file;
}

/*
 * The file of the mapping, which is read when it is needed for the first time; NULL: it cannot be.
 * A process that has ended has no mappings, but the next one may have mapped the same file.
 */
static const struct code_file *file_of(struct functions *functions, const struct mapping *map,
				       const struct file_key *key)
{
	struct code_file *file = find_file(functions, key);
	struct payer *payer;
	int fd;

	if (file || !key->inode)
		return file;
	payer = get_payer(functions, functions->pid);
	fd = has_room(functions, payer) ? open_mapped(functions, map) : -1;
	if (fd < 0)
		return NULL;
	file = read_file(functions, key, fd, "", payer);
	close(fd);
	return file;
}

static void name_in_file(const struct file_key *key, const struct code_file *file, uint64_t offset,
			 char *buf, size_t size)
{
	const char *name = file ? code_symbols_find(&file->symbols, offset) : NULL;

	if (name)
		name_put(buf, size, "%s", name);
	else if (!key->inode) /* "[vdso]" */
		snprintf(buf, size, "%s", key->base);
	else
		name_put(buf, size, "%s+0x%" PRIx64, key->base, offset);
}

void functions_of_process(struct functions *functions, pid_t pid, uint64_t address, char *buf,
			  size_t size)
{
	const struct mapping *map;
	struct file_key key;

	map = find_mapping(process_of(functions, pid), address);
	if (!map) {
		snprintf(buf, size, "[unknown]");
		return;
	}
	set_key(&key, map->device, map->inode, map->path);
	name_in_file(&key, file_of(functions, map, &key), address - map->begin + map->offset, buf,
		     size);
}

void functions_of_file(struct functions *functions, const char *path, const char *id,
		       uint64_t offset, char *buf, size_t size)
{
	/* Files that are known by their paths alone. */
	uint64_t inode = *path == '/' ? hash_text(HASH_START, path) : 0;
	const struct code_file *file;
	struct file_key key;
	int fd;

	set_key(&key, UINT64_MAX, inode, path);
	file = find_file(functions, &key);
	if (!file && inode && has_room(functions, NULL)) {
		fd = open_program(path); /* or it is not there */
		file = read_file(functions, &key, fd, id, NULL);
		if (fd >= 0)
			close(fd);
	}
	name_in_file(&key, file, offset, buf, size);
}
