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

#define MISC_EXEC (1U << 13)	 /* of COMM: a new program, and so no map of before */
#define MISC_NO_COPY (1U << 13)	 /* of FORK: perf's own record of a process that was there */

#define PARENTS_MAX 16
#define NO_PROCESS (-2)

struct map {
	uint64_t time; /* 0: from the beginning on */
	uint64_t begin, end, offset;
	uint64_t reach; /* the greatest end of this and those before it in its run */
	char id[ID_TEXT];
	char *path;
};

/* From a time on there is what another process had then, and no map of before. */
struct origin {
	uint64_t time;
	int32_t parent;
};

/* Of a time and an address the latest map before it counts. */
struct process_maps {
	int32_t pid;
	struct map *list; /* runs, each ascending by begin; their sizes are the bits of nr */
	size_t nr, room;
	struct origin *origins;
	size_t nr_origins, room_origins;
	uint64_t latest; /* time of a map or an origin */
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
	hex_put(text, bytes, size < ID_BYTES ? size : ID_BYTES);
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

/* The process of one more map or origin; NULL: there is no room. */
static struct process_maps *count(struct perf_maps *maps, int32_t pid, uint64_t time)
{
	struct process_maps *process;

	maps->is_full = maps->nr == PERF_MAPS_MAX;
	if (maps->is_full)
		return NULL;
	process = process_of(maps, pid);
	maps->nr++;
	if (time > process->latest)
		process->latest = time;
	return process;
}

static int by_begin(const void *a, const void *b)
{
	const struct map *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

/* The last runs become one: a map is sorted as often as nr has bits, and found in as many runs. */
static void sort_last(struct process_maps *process)
{
	size_t size = process->nr & -process->nr;
	struct map *run = process->list + process->nr - size;

	qsort(run, size, sizeof(*run), by_begin);
	for (size_t i = 0; i < size; i++)
		run[i].reach = i && run[i - 1].reach > run[i].end ? run[i - 1].reach : run[i].end;
}

/* Takes the map's path over. */
static void add_map(struct perf_maps *maps, int32_t pid, const struct map *map)
{
	struct process_maps *process = count(maps, pid, map->time);

	if (!process) {
		free(map->path);
		return;
	}
	array_grow_unset(&process->list, &process->room, process->nr + 1);
	process->list[process->nr++] = *map;
	sort_last(process);
}

/* From now on the process has the parent's maps, or none. */
static void replace_maps(struct perf_maps *maps, int32_t pid, int32_t parent, uint64_t time)
{
	struct process_maps *process = time ? count(maps, pid, time) : NULL;

	if (!process)
		return;
	array_grow_unset(&process->origins, &process->room_origins, process->nr_origins + 1);
	process->origins[process->nr_origins++] = (struct origin){ time, parent };
}

static void take_map(struct perf_maps *maps, const struct perf_piece *piece, uint64_t time,
		     bool swap)
{
	bool is_second = piece->type == PERF_RECORD_MMAP2;
	size_t head = is_second ? 64 : 32;
	char path[PATH_BYTES];
	struct map map = { .time = time };
	int32_t pid;

	if (piece->misc & MISC_DATA || piece->size <= head ||
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
	map.path = xstrdup(path);
	add_map(maps, pid, &map);
}

/* A process begins with the maps of its parent, a program with none. */
static void take_change(struct perf_maps *maps, const struct perf_piece *piece, uint64_t time,
			bool swap)
{
	int32_t pid, parent;

	if (piece->size < 8)
		return;
	pid = (int32_t)bytes_u32(piece->at, swap);
	parent = (int32_t)bytes_u32(piece->at + 4, swap);
	if (piece->type == PERF_RECORD_COMM && piece->misc & MISC_EXEC)
		replace_maps(maps, pid, NO_PROCESS, time);
	if (piece->type == PERF_RECORD_FORK && !(piece->misc & MISC_NO_COPY) && pid != parent)
		replace_maps(maps, pid, parent, time);
}

bool perf_maps_take(struct perf_maps *maps, const struct perf_piece *piece, uint64_t time,
		    bool swap)
{
	bool was_full = maps->is_full;

	if (piece->type == PERF_RECORD_MMAP || piece->type == PERF_RECORD_MMAP2)
		take_map(maps, piece, time, swap);
	else
		take_change(maps, piece, time, swap);
	return was_full || !maps->is_full;
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

/* The latest of a run's maps at the address, if it is later than found. */
static const struct map *find_in_run(const struct map *run, size_t nr, uint64_t address,
				     uint64_t time, const struct map *found)
{
	for (size_t i = array_count_first(nr, k, run[k].begin <= address);
	     i-- > 0 && run[i].reach > address;) {
		if (run[i].end > address && run[i].time <= time &&
		    (!found || run[i].time > found->time))
			found = &run[i];
	}
	return found;
}

static const struct map *find_own(const struct process_maps *process, uint64_t address,
				  uint64_t time)
{
	const struct map *found = NULL;

	for (size_t left = process->nr, size; left; left -= size) {
		size = left & -left;
		found = find_in_run(process->list + left - size, size, address, time, found);
	}
	return found;
}

static const struct origin *find_origin(const struct process_maps *process, uint64_t time)
{
	const struct origin *found = NULL;

	for (size_t i = 0; i < process->nr_origins; i++) {
		const struct origin *origin = &process->origins[i];

		if (origin->time <= time && (!found || origin->time >= found->time))
			found = origin;
	}
	return found;
}

/* NULL: nothing is known to be there. */
static const struct map *find_map(const struct perf_maps *maps, int32_t pid, uint64_t address,
				  uint64_t time)
{
	for (int i = 0; i < PARENTS_MAX; i++) {
		const struct process_maps *process;
		const struct origin *origin;
		const struct map *map;

		HASH_FIND(hh, maps->processes, &pid, sizeof(pid), process);
		if (!process)
			return NULL;
		map = find_own(process, address, time);
		origin = find_origin(process, time);
		if (!origin || (map && map->time >= origin->time))
			return map;
		pid = origin->parent;
		time = origin->time;
	}
	return NULL;
}

bool perf_maps_locate(const struct trace_file *file, const struct trace_event *event,
		      uint64_t address, bool is_kernel, struct trace_place *ret_place)
{
	const struct perf_maps *maps = &((const struct perf_header *)file->priv)->maps;
	int32_t of = is_kernel ? OF_KERNEL : event->pid;
	const struct map *map = find_map(maps, of, address, event->time);

	if (!map)
		return false;
	*ret_place = (struct trace_place){
		.path = map->path,
		.offset = address - map->begin + (is_kernel ? 0 : map->offset),
		.begin = map->begin,
		.build_id = id_of(maps, map),
	};
	return true;
}

static uint32_t count_maps(const struct perf_maps *maps, int32_t pid, uint64_t time)
{
	const struct process_maps *process;
	uint32_t nr = 0;

	HASH_FIND(hh, maps->processes, &pid, sizeof(pid), process);
	if (!process || time >= process->latest)
		return process ? (uint32_t)(process->nr + process->nr_origins) : 0;
	for (size_t i = 0; i < process->nr; i++)
		nr += process->list[i].time <= time;
	for (size_t i = 0; i < process->nr_origins; i++)
		nr += process->origins[i].time <= time;
	return nr;
}

uint32_t perf_maps_count(const struct trace_file *file, const struct trace_event *event)
{
	const struct perf_maps *maps = &((const struct perf_header *)file->priv)->maps;

	return count_maps(maps, OF_KERNEL, event->time) +
	       count_maps(maps, event->pid, event->time);
}

char *perf_maps_symbols(struct trace_file *file, size_t *ret_size)
{
	char path[PATH_MAX], *text = NULL;

	if (!file->folder)
		return NULL;
	snprintf(path, sizeof(path), "%s/kcore_dir/kallsyms", file->folder);
	return read_whole(path, SYMBOLS_MAX, &text, ret_size) < 0 ? NULL : text;
}

static void process_free(struct process_maps *process)
{
	for (size_t i = 0; i < process->nr; i++)
		free(process->list[i].path);
	free(process->list);
	free(process->origins);
	free(process);
}

void perf_maps_release(struct perf_maps *maps)
{
	hash_free(maps->processes, process_free);
	hash_free(maps->ids, free);
	*maps = (struct perf_maps){ .processes = NULL };
}
