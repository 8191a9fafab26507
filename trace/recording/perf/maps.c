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

#define NO_PROCESS (-2)
#define WAITING_MAX ((size_t)48 << 20) /* bytes of records that wait for their time */
#define PARTS_MAX 80 /* new parts by one map: two at each depth of a tree; and its path */
#define PATH_PART 64 /* bytes of a path that are counted as a part */

struct map_file {
	uint32_t nr_users;
	uint64_t begin, offset; /* of the whole map */
	char id[ID_TEXT];
	char path[];
};

/*
 * A part of a map, and a tree of those below and above it, balanced (AVL). Parts do not overlap: a
 * newer map ends the parts of older ones. A process that forks shares its tree with its child: a
 * part with several users does not change, but is copied.
 */
struct part {
	uint32_t nr_users;
	uint32_t height;
	uint64_t begin, end;
	struct map_file *place;
	struct part *low, *high;
};

struct process_maps {
	int32_t pid;
	struct part *tree;
	uint32_t nr_changes;
	UT_hash_handle hh;
};

struct file_id {
	UT_hash_handle hh;
	char id[ID_TEXT];
	char path[];
};

static size_t parts_of_path(const struct map_file *place)
{
	return strlen(place->path) / PATH_PART;
}

/* ---- trees. Functions take over the trees that they are given, and a NULL is an empty one. */

static struct part *new_part(struct perf_maps *maps, uint64_t begin, uint64_t end,
			     struct map_file *place)
{
	struct part *part = xcalloc(1, sizeof(*part));

	*part = (struct part){ 1, 1, begin, end, place, NULL, NULL };
	if (!place->nr_users++)
		maps->nr += parts_of_path(place);
	maps->nr++;
	return part;
}

static void drop(struct perf_maps *maps, struct part *part)
{
	if (!part || --part->nr_users)
		return;
	drop(maps, part->low);
	drop(maps, part->high);
	if (!--part->place->nr_users) {
		maps->nr -= parts_of_path(part->place);
		free(part->place);
	}
	free(part);
	maps->nr--;
}

static struct part *share(struct part *part)
{
	if (part)
		part->nr_users++;
	return part;
}

/* The part, or a copy of it, that may be changed. */
static struct part *own(struct perf_maps *maps, struct part *part)
{
	struct part *copy;

	if (part->nr_users == 1)
		return part;
	copy = new_part(maps, part->begin, part->end, part->place);
	copy->height = part->height;
	copy->low = share(part->low);
	copy->high = share(part->high);
	part->nr_users--;
	return copy;
}

static uint32_t height(const struct part *part)
{
	return part ? part->height : 0;
}

static struct part *with(struct part *part, struct part *low, struct part *high)
{
	part->low = low;
	part->high = high;
	part->height = 1 + (height(low) > height(high) ? height(low) : height(high));
	return part;
}

/* The upper one of two parts becomes the root. */
static struct part *turn_high(struct perf_maps *maps, struct part *part)
{
	struct part *high = own(maps, part->high);

	return with(high, with(part, part->low, high->low), high->high);
}

static struct part *turn_low(struct perf_maps *maps, struct part *part)
{
	struct part *low = own(maps, part->low);

	return with(low, low->low, with(part, low->high, part->high));
}

static struct part *balance(struct perf_maps *maps, struct part *part)
{
	if (height(part->high) > height(part->low) + 1) {
		if (height(part->high->low) > height(part->high->high))
			part->high = turn_low(maps, own(maps, part->high));
		return turn_high(maps, part);
	}
	if (height(part->low) > height(part->high) + 1) {
		if (height(part->low->high) > height(part->low->low))
			part->low = turn_high(maps, own(maps, part->low));
		return turn_low(maps, part);
	}
	return part;
}

/* A tree of one below the part, the part, and one above it. */
static struct part *join_parts(struct perf_maps *maps, struct part *low, struct part *part,
			       struct part *high)
{
	if (height(low) > height(high) + 1) {
		low = own(maps, low);
		return balance(maps, with(low, low->low, join_parts(maps, low->high, part, high)));
	}
	if (height(high) > height(low) + 1) {
		high = own(maps, high);
		return balance(maps, with(high, join_parts(maps, low, part, high->low),
					  high->high));
	}
	return with(part, low, high);
}

/* Into trees of what is below and above the address, which may be within a part. */
static void split_part(struct perf_maps *maps, struct part *part, uint64_t at,
		       struct part **ret_low, struct part **ret_high)
{
	struct part *low, *high, *more;

	*ret_low = *ret_high = NULL;
	if (!part)
		return;
	part = own(maps, part);
	low = part->low;
	high = part->high;
	if (at <= part->begin) {
		split_part(maps, low, at, ret_low, &more);
		*ret_high = join_parts(maps, more, part, high);
	} else if (at >= part->end) {
		split_part(maps, high, at, &more, ret_high);
		*ret_low = join_parts(maps, low, part, more);
	} else {
		more = new_part(maps, at, part->end, part->place);
		part->end = at;
		*ret_low = join_parts(maps, low, part, NULL);
		*ret_high = join_parts(maps, NULL, more, high);
	}
}

/* ---- records */

static void put_id(char *text, const uint8_t *bytes, size_t size)
{
	hex_put(text, bytes, size < ID_BYTES ? size : ID_BYTES);
}

/* Up to its NUL, or the record's end. */
static bool take_path(const uint8_t *at, size_t size, char *path)
{
	return utf8_clean((const char *)at, strnlen((const char *)at, size), path, PATH_BYTES);
}

/* The process that a record changes. NULL: there is no room, and the record is left out. */
static struct process_maps *changed(struct perf_maps *maps, int32_t pid)
{
	struct process_maps *process;

	if (maps->nr + HASH_COUNT(maps->processes) + PARTS_MAX > PERF_MAPS_MAX)
		return NULL;
	process = hash_get(maps->processes, pid, &pid);
	process->nr_changes++;
	return process;
}

static bool take_map(struct perf_maps *maps, const struct perf_piece *piece, bool swap)
{
	bool is_second = piece->type == PERF_RECORD_MMAP2;
	size_t head = is_second ? 64 : 32, len;
	struct part *low, *old, *high;
	struct process_maps *process;
	uint64_t begin, end;
	struct map_file *place;
	char path[PATH_BYTES];
	int32_t pid;

	if (piece->misc & MISC_DATA || piece->size <= head ||
	    !take_path(piece->at + head, piece->size - head, path))
		return true;
	pid = (int32_t)bytes_u32(piece->at, swap);
	if ((piece->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL)
		pid = OF_KERNEL;
	begin = bytes_u64(piece->at + 8, swap);
	end = begin + bytes_u64(piece->at + 16, swap);
	if (end <= begin)
		return true;
	process = changed(maps, pid);
	if (!process)
		return false;
	len = strlen(path) + 1;
	place = xcalloc(1, sizeof(*place) + len);
	memcpy(place->path, path, len);
	place->begin = begin;
	place->offset = bytes_u64(piece->at + 24, swap);
	if (is_second && piece->misc & MISC_BUILD_ID)
		put_id(place->id, piece->at + 36, piece->at[32]);
	split_part(maps, process->tree, begin, &low, &high);
	split_part(maps, high, end, &old, &high);
	drop(maps, old);
	process->tree = join_parts(maps, low, new_part(maps, begin, end, place), high);
	return true;
}

/* From now on the process has the parent's maps, or none. */
static bool replace_maps(struct perf_maps *maps, int32_t pid, int32_t parent)
{
	struct process_maps *process = changed(maps, pid), *of;
	struct part *old;

	if (!process)
		return false;
	HASH_FIND(hh, maps->processes, &parent, sizeof(parent), of);
	old = process->tree;
	process->tree = of ? share(of->tree) : NULL;
	drop(maps, old);
	return true;
}

/* Other threads may go on for a moment: maps are dropped once room may become short. */
static void end_process(struct perf_maps *maps, int32_t pid, int32_t tid)
{
	struct process_maps *process = NULL;

	if (pid == tid && maps->nr > PERF_MAPS_MAX / 2)
		HASH_FIND(hh, maps->processes, &pid, sizeof(pid), process);
	if (!process)
		return;
	drop(maps, process->tree);
	process->tree = NULL;
	process->nr_changes++;
}

/* A process begins with the maps of its parent, a program with none. */
static bool take_change(struct perf_maps *maps, const struct perf_piece *piece, bool swap)
{
	int32_t pid, parent;

	if (piece->size < 8)
		return true;
	pid = (int32_t)bytes_u32(piece->at, swap);
	parent = (int32_t)bytes_u32(piece->at + 4, swap);
	if (piece->type == PERF_RECORD_EXIT) {
		if (piece->size >= 12)
			end_process(maps, pid, (int32_t)bytes_u32(piece->at + 8, swap));
		return true;
	}
	if (piece->type == PERF_RECORD_COMM && piece->misc & MISC_EXEC)
		return replace_maps(maps, pid, NO_PROCESS);
	if (piece->type == PERF_RECORD_FORK && !(piece->misc & MISC_NO_COPY) && pid != parent)
		return replace_maps(maps, pid, parent);
	return true;
}

/* Applies the records up to this time, in its order. */
static void apply(struct perf_maps *maps, uint64_t until, bool swap)
{
	while (maps->waiting.runs.nr && maps->waiting.runs.heap[0].time <= until) {
		struct perf_entry *entry = perf_waiting_take(&maps->waiting);
		const struct perf_piece piece = {
			.type = entry->sample.map_type,
			.misc = entry->sample.map_misc,
			.at = entry->sample.raw,
			.size = entry->sample.raw_size,
		};
		bool is_map = piece.type == PERF_RECORD_MMAP || piece.type == PERF_RECORD_MMAP2;

		if (!(is_map ? take_map(maps, &piece, swap) : take_change(maps, &piece, swap)) &&
		    !maps->nr_left_out++)
			maps->left_out_at = entry->sample.id;
		perf_waiting_drop(&maps->waiting, entry);
	}
}

void perf_maps_take(struct perf_maps *maps, const struct perf_piece *piece, uint64_t time,
		    bool swap)
{
	bool is_map = piece->type == PERF_RECORD_MMAP || piece->type == PERF_RECORD_MMAP2;
	struct perf_entry *entry;

	if (!is_map && !time) /* perf's own record of a process that was there */
		return;
	entry = perf_waiting_new(&maps->waiting);
	entry->sample = (struct perf_sample){
		.time = time,
		.raw = piece->at,
		.raw_size = (uint32_t)piece->size,
		.map_type = piece->type,
		.map_misc = piece->misc,
		.id = piece->offset,
	};
	perf_waiting_add(&maps->waiting, entry, 0);
	if (maps->waiting.bytes > WAITING_MAX)
		apply(maps, UINT64_MAX, swap);
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

static const char *id_of(const struct perf_maps *maps, const struct map_file *place)
{
	const char *path = strncmp(place->path, KERNEL, strlen(KERNEL)) == 0 ? KERNEL : place->path;
	struct file_id *known;

	if (*place->id)
		return place->id;
	HASH_FIND(hh, maps->ids, path, strlen(path) + 1, known);
	return known ? known->id : "";
}

/* As they are at the event's time. Events come in the order of their times. */
static const struct perf_maps *maps_at(const struct trace_file *file,
				       const struct trace_event *event)
{
	struct perf_header *header = file->priv;

	apply(&header->maps, event->time, header->swap);
	return &header->maps;
}

static const struct process_maps *find_process(const struct perf_maps *maps, int32_t pid)
{
	const struct process_maps *process;

	HASH_FIND(hh, maps->processes, &pid, sizeof(pid), process);
	return process;
}

bool perf_maps_locate(const struct trace_file *file, const struct trace_event *event,
		      uint64_t address, bool is_kernel, struct trace_place *ret_place)
{
	const struct perf_maps *maps = maps_at(file, event);
	const struct process_maps *process = find_process(maps, is_kernel ? OF_KERNEL : event->pid);
	const struct part *part = process ? process->tree : NULL;

	while (part && (address < part->begin || address >= part->end))
		part = address < part->begin ? part->low : part->high;
	if (!part)
		return false;
	*ret_place = (struct trace_place){
		.path = part->place->path,
		.offset = address - part->place->begin + (is_kernel ? 0 : part->place->offset),
		.begin = part->place->begin,
		.build_id = id_of(maps, part->place),
	};
	return true;
}

uint32_t perf_maps_count(const struct trace_file *file, const struct trace_event *event)
{
	const struct perf_maps *maps = maps_at(file, event);
	const struct process_maps *kernel = find_process(maps, OF_KERNEL);
	const struct process_maps *process = find_process(maps, event->pid);

	return (kernel ? kernel->nr_changes : 0) + (process ? process->nr_changes : 0);
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
	struct process_maps *process;

	for (process = maps->processes; process; process = process->hh.next)
		drop(maps, process->tree);
	hash_free(maps->processes, free);
	hash_free(maps->ids, free);
	perf_waiting_release(&maps->waiting);
	*maps = (struct perf_maps){ .processes = NULL };
}
