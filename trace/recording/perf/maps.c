// SPDX-License-Identifier: GPL-2.0-or-later
/* Which file is where in the memory of processes, as the records of a perf.data say. */
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/file.h"
#include "lib/text.h"
#include "trace/recording/perf/perf.h"

#define MAPS_MAX 131072
#define MAPS_OF_PROCESS 4096
#define IDS_MAX 65536
#define SYMBOLS_MAX ((size_t)64 << 20) /* bytes */
#define PATH_BYTES 1024
#define ID_BYTES 20
#define ID_TEXT (2 * ID_BYTES + 1)
#define OF_KERNEL (-1) /* as a process */
#define KERNEL "[kernel.kallsyms]" /* of maps, a symbol follows */

#define MISC_DATA (1U << 13)	 /* of MMAP: no code */
#define MISC_BUILD_ID (1U << 14) /* of MMAP2: a build id in place of a device and inode */
#define MISC_ID_SIZE (1U << 15)	 /* of a build id: its size follows */

struct map {
	uint64_t begin, end, offset;
	char id[ID_TEXT];
	char *path;
};

/* The latest map of an address counts. */
struct process_maps {
	int32_t pid;
	struct map *list;
	size_t nr, room;
	UT_hash_handle hh;
};

struct file_id {
	UT_hash_handle hh;
	char id[ID_TEXT];
	char path[];
};

/* ---- records */

static void put_id(char *text, const uint8_t *bytes, size_t size)
{
	text[0] = '\0';
	for (size_t i = 0; i < size && i < ID_BYTES; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

static struct process_maps *process_of(struct perf_maps *maps, int32_t pid)
{
	struct process_maps *process;

	HASH_FIND(hh, maps->processes, &pid, sizeof(pid), process);
	if (process)
		return process;
	process = xcalloc(1, sizeof(*process));
	process->pid = pid;
	hash_add(maps->processes, pid, process);
	return process;
}

/* Up to its NUL, or the record's end. */
static bool take_path(const uint8_t *at, size_t size, char *path)
{
	return utf8_clean((const char *)at, strnlen((const char *)at, size), path, PATH_BYTES);
}

void perf_maps_take(struct perf_maps *maps, const struct perf_piece *piece, bool swap)
{
	bool is_second = piece->type == PERF_RECORD_MMAP2;
	size_t head = is_second ? 64 : 32;
	char path[PATH_BYTES];
	struct process_maps *process;
	struct map map = { .id = "" };
	int32_t pid;

	if (piece->misc & MISC_DATA || maps->nr == MAPS_MAX || piece->size <= head ||
	    !take_path(piece->at + head, piece->size - head, path))
		return;
	pid = (int32_t)bytes_u32(piece->at, swap);
	if ((piece->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL)
		pid = OF_KERNEL;
	map.begin = bytes_u64(piece->at + 8, swap);
	map.end = map.begin + bytes_u64(piece->at + 16, swap);
	map.offset = bytes_u64(piece->at + 24, swap);
	if (is_second && piece->misc & MISC_BUILD_ID)
		put_id(map.id, piece->at + 36, piece->at[32]);
	if (map.end <= map.begin)
		return;
	process = process_of(maps, pid);
	if (process->nr == MAPS_OF_PROCESS)
		return;
	map.path = xstrdup(path);
	array_grow_unset(&process->list, &process->room, process->nr + 1);
	process->list[process->nr++] = map;
	maps->nr++;
}

static void add_id(struct perf_maps *maps, const char *path, const uint8_t *id, size_t size)
{
	size_t len = strlen(path) + 1;
	struct file_id *known;

	HASH_FIND(hh, maps->ids, path, len, known);
	if (known || maps->nr_ids == IDS_MAX)
		return;
	known = xcalloc(1, sizeof(*known) + len);
	put_id(known->id, id, size);
	memcpy(known->path, path, len);
	HASH_ADD_KEYPTR(hh, maps->ids, known->path, len, known);
	maps->nr_ids++;
}

/* Records with a header: a process, an id with 4 bytes more, and a path. */
void perf_maps_take_ids(struct perf_maps *maps, struct cursor *cursor, uint64_t size)
{
	uint64_t end = cursor->at + size;

	while (!cursor->err && cursor->at < end) {
		uint8_t id[ID_BYTES + 4], text[PATH_BYTES];
		uint64_t begin = cursor->at;
		uint16_t misc, all;
		char path[PATH_BYTES];
		size_t left;

		cursor_u32(cursor);
		misc = cursor_u16(cursor);
		all = cursor_u16(cursor);
		cursor_u32(cursor);
		cursor_get(cursor, id, sizeof(id));
		if (cursor->err || all <= cursor->at - begin)
			return;
		left = all - (size_t)(cursor->at - begin);
		left = left < sizeof(text) ? left : sizeof(text);
		cursor_get(cursor, text, left);
		if (!cursor->err && take_path(text, left, path))
			add_id(maps, path, id, misc & MISC_ID_SIZE ? id[ID_BYTES] : ID_BYTES);
		cursor->at = begin + all;
	}
}

/* ---- places */

static const char *id_of(const struct perf_maps *maps, const struct map *map)
{
	const char *path = strncmp(map->path, KERNEL, strlen(KERNEL)) == 0 ? KERNEL : map->path;
	struct file_id *known;

	if (*map->id)
		return map->id;
	HASH_FIND(hh, maps->ids, path, strlen(path) + 1, known);
	return known ? known->id : "";
}

bool perf_maps_locate(const struct trace_file *file, const struct trace_event *event,
		      uint64_t address, bool is_kernel, struct trace_place *ret_place)
{
	const struct perf_maps *maps = &((const struct perf_header *)file->priv)->maps;
	int32_t of = is_kernel ? OF_KERNEL : event->pid;
	const struct process_maps *process;

	HASH_FIND(hh, maps->processes, &of, sizeof(of), process);
	for (size_t i = process ? process->nr : 0; i-- > 0;) {
		const struct map *map = &process->list[i];

		if (address < map->begin || address >= map->end)
			continue;
		*ret_place = (struct trace_place){
			.path = map->path,
			.offset = address - map->begin + (is_kernel ? 0 : map->offset),
			.begin = map->begin,
			.build_id = id_of(maps, map),
		};
		return true;
	}
	return false;
}

char *perf_maps_symbols(struct trace_file *file, size_t *ret_size)
{
	char path[PATH_MAX], *text = NULL;

	if (!file->folder)
		return NULL;
	snprintf(path, sizeof(path), "%s/kcore_dir/kallsyms", file->folder);
	return read_whole(path, SYMBOLS_MAX, &text, ret_size) < 0 ? NULL : text;
}

void perf_maps_release(struct perf_maps *maps)
{
	struct process_maps *process, *next;
	struct file_id *id, *next_id;

	HASH_ITER(hh, maps->processes, process, next) {
		HASH_DEL(maps->processes, process);
		for (size_t i = 0; i < process->nr; i++)
			free(process->list[i].path);
		free(process->list);
		free(process);
	}
	HASH_ITER(hh, maps->ids, id, next_id) {
		HASH_DEL(maps->ids, id);
		free(id);
	}
	*maps = (struct perf_maps){ .processes = NULL };
}
