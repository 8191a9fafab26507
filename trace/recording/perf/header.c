// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the header of perf.data: the events, the offset of the records, the machine. */
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/array.h"
#include "trace/recording/perf/perf.h"

/* The features that kvmtop reads. Source: tools/perf/util/header.h. */
enum {
	FEATURE_TRACING_DATA = 1,
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_ARCH = 6,
	FEATURE_NRCPUS = 7,
	FEATURE_CPUID = 9,
	FEATURE_DIR_FORMAT = 24,
	NR_FEATURES = 256,
};

/* Records of perf's own. */
enum { RECORD_ATTR = 64, RECORD_FEATURE = 80 };

#define NS_PER_S UINT64_C(1000000000)

struct perf_section {
	uint64_t offset, size;
};

static struct perf_section get_section(struct cursor *cursor)
{
	uint64_t offset = cursor_u64(cursor);

	return (struct perf_section){ offset, cursor_u64(cursor) };
}

/* Whether the whole section is within the file. */
static bool is_inside(const struct trace_file *file, const struct perf_section *section)
{
	return section->offset <= file->info.size &&
	       section->size <= file->info.size - section->offset;
}

/* ---- events */

/* Big-endian machines number the bits of a bitfield from the highest one. */
static bool flag(const struct trace_info *info, uint64_t flags, unsigned int bit)
{
	return flags >> (info->is_big_endian ? 63 - bit : bit) & 1;
}

#define FLAG_FREQ 10
#define FLAG_SAMPLE_ID_ALL 18
#define FLAG_USE_CLOCKID 25

static const char *clock_of(int32_t clockid)
{
	static const char *const names[] = { [0] = "real",     [1] = "mono", [4] = "mono_raw",
					     [7] = "boot", [11] = "tai" };
	bool is_known = clockid >= 0 && (size_t)clockid < ARRAY_SIZE(names);

	return is_known && names[clockid] ? names[clockid] : "perf";
}

static bool is_same_layout(const struct perf_layout *a, const struct perf_layout *b)
{
	return a->sample_type == b->sample_type && a->read_format == b->read_format &&
	       a->stack_ns == b->stack_ns && a->has_sample_id == b->has_sample_id;
}

/*
 * The time that a sample stands for. Only of clocks, and of cycles at a rate: others happen at no
 * rate that is known.
 */
static uint64_t stack_ns_of(const struct trace_info *info, const uint8_t *attr, uint64_t flags,
			    bool swap)
{
	uint32_t type = bytes_u32(attr, swap);
	uint64_t config = bytes_u64(attr + 8, swap), rate = bytes_u64(attr + 16, swap);
	bool is_rate = flag(info, flags, FLAG_FREQ);

	if (type == PERF_TYPE_SOFTWARE &&
	    (config == PERF_COUNT_SW_CPU_CLOCK || config == PERF_COUNT_SW_TASK_CLOCK))
		return is_rate || rate > NS_PER_S ? STACK_PERIOD : rate;
	if (type != PERF_TYPE_HARDWARE || (uint32_t)config != PERF_COUNT_HW_CPU_CYCLES ||
	    !is_rate || !rate)
		return 0;
	return NS_PER_S / rate;
}

/* Finds or adds a layout: its index. */
static uint32_t add_layout(struct perf_header *header, const struct perf_layout *layout)
{
	for (size_t i = 0; i < header->nr_layouts; i++) {
		if (is_same_layout(&header->layouts[i], layout))
			return (uint32_t)i;
	}
	*array_add(header->layouts, header->nr_layouts, header->layouts_room) = *layout;
	return (uint32_t)header->nr_layouts - 1;
}

static const struct perf_id *find_id(const struct perf_header *header, uint64_t id)
{
	const struct perf_id *found;

	HASH_FIND(hh, header->ids, &id, sizeof(id), found);
	return found;
}

/* Reads `nr` ids at the cursor. Each id has bytes of its own in the file. */
static void add_ids(struct cursor *cursor, struct perf_header *header, uint64_t nr,
		    uint32_t layout)
{
	uint64_t most = cursor->file->info.size / sizeof(uint64_t);

	if (header->is_piped || most > PERF_IDS_MAX)
		most = PERF_IDS_MAX;
	if (!cursor_check(cursor, nr <= most - header->nr_ids))
		return;
	for (uint64_t i = 0; i < nr && !cursor->err; i++) {
		uint64_t id = cursor_u64(cursor);
		struct perf_id *added;

		header->nr_ids += !cursor->err;
		if (cursor->err || !layout || find_id(header, id))
			continue;
		added = xcalloc(1, sizeof(*added));
		added->id = id;
		added->layout = layout;
		hash_add(header->ids, id, added);
	}
}

/* Once: which events perf only counted is of no use, for their counts are not read. */
static void say_members(struct trace_file *file, struct perf_header *header, uint64_t offset)
{
	if (!header->has_members)
		trace_add_problem(file, offset, "of a group ({...}:S) only the first event is "
				  "counted: record the others with an -e of their own");
	header->has_members = true;
}

/*
 * Reads an attr of `size` bytes at the cursor; offset: of the attr in the file. Returns its layout,
 * 0 after an error, too.
 */
static uint32_t take_attr(struct cursor *cursor, struct perf_header *header, uint64_t size,
			  uint64_t offset)
{
	const struct trace_info *info = &cursor->file->info;
	uint8_t attr[PERF_ATTR_SIZE_VER3] = { 0 };
	struct perf_layout layout = { .sample_type = 0 };
	uint64_t flags, begin = cursor->at;

	cursor_get(cursor, attr, size < sizeof(attr) ? size : sizeof(attr));
	if (cursor->err)
		return 0;
	cursor->at = begin + size;
	flags = bytes_u64(attr + 40, header->swap);
	layout.sample_type = bytes_u64(attr + 24, header->swap);
	layout.read_format = bytes_u64(attr + 32, header->swap);
	layout.stack_ns = stack_ns_of(info, attr, flags, header->swap);
	layout.has_sample_id = flag(info, flags, FLAG_SAMPLE_ID_ALL);
	if (flag(info, flags, FLAG_USE_CLOCKID))
		snprintf(header->clock, sizeof(header->clock), "%s",
			 clock_of((int32_t)bytes_u32(attr + 92, header->swap)));
	/* Without a period it has no samples. */
	if (bytes_u32(attr, header->swap) == PERF_TYPE_TRACEPOINT &&
	    !bytes_u64(attr + 16, header->swap))
		say_members(cursor->file, header, offset);
	perf_layout_find_places(&layout);
	return add_layout(header, &layout);
}

/* Reads an attr of `size` bytes at the cursor, and the section of its ids. */
static void get_attr(struct cursor *cursor, struct perf_header *header, uint64_t size)
{
	uint32_t layout = take_attr(cursor, header, size, cursor->at);
	struct perf_section ids = get_section(cursor);

	if (!cursor_check(cursor, is_inside(cursor->file, &ids)))
		return;
	cursor->at = ids.offset;
	add_ids(cursor, header, ids.size / sizeof(uint64_t), layout);
}

const struct perf_layout *perf_header_layout(const struct perf_header *header, uint64_t id)
{
	const struct perf_id *found = find_id(header, id);

	return &header->layouts[found ? found->layout : 0];
}

static void get_attrs(struct cursor *cursor, struct perf_header *header,
		      const struct perf_section *section, uint64_t entry_size)
{
	uint64_t nr;

	if (!cursor_check(cursor, entry_size >= PERF_ATTR_SIZE_VER0 + 16 && entry_size <= 4096 &&
					  is_inside(cursor->file, section)))
		return;
	nr = section->size / entry_size;
	cursor_check(cursor, nr > 0 && nr <= PERF_ATTRS_MAX);
	for (uint64_t i = 0; i < nr && !cursor->err; i++) {
		cursor->at = section->offset + i * entry_size;
		get_attr(cursor, header, entry_size - 16);
	}
}

/* ---- features */

static void get_tracing_data(struct cursor *cursor)
{
	struct event_types *types = cursor->file->types;
	char magic[TRACING_MAGIC_SIZE], version[16];

	cursor_get(cursor, magic, sizeof(magic));
	cursor_check(cursor, memcmp(magic, TRACING_MAGIC, sizeof(magic)) == 0);
	cursor_name(cursor, version, sizeof(version));
	tracing_read_machine(cursor, types);
	tracing_read_formats(cursor, types, strcmp(version, "0.5") != 0);
}

static void get_string(struct cursor *cursor, char *text, size_t size)
{
	uint32_t len = cursor_u32(cursor);

	memset(text, 0, size);
	cursor_get(cursor, text, len < size ? len : size - 1);
	trace_clean_text(text, size);
}

/*
 * Version 1: the records are in further files of the folder. perf's single file of a folder (perf
 * record --kcore) has version 0, or does not have this feature.
 */
static void get_dir_format(struct cursor *cursor, struct perf_header *header)
{
	uint64_t at = cursor->at, version = cursor_u64(cursor);

	if (cursor->err || version == 0)
		return;
	header->has_pieces = version == 1 && cursor->file->folder;
	if (version > 1)
		trace_add_problem(cursor->file, at, "a folder of the unknown version %" PRIu64,
				  version);
	else if (!cursor->file->folder)
		trace_add_problem(cursor->file, at,
				  "its records are in the files beside it: name the folder");
}

static void get_feature(struct cursor *cursor, struct perf_header *header, unsigned int feature,
			uint64_t size)
{
	uint32_t nr;

	switch (feature) {
	case FEATURE_TRACING_DATA:
		get_tracing_data(cursor);
		break;
	case FEATURE_BUILD_ID:
		perf_maps_take_ids(&header->maps, cursor, size);
		break;
	case FEATURE_HOSTNAME:
		get_string(cursor, header->host, sizeof(header->host));
		break;
	case FEATURE_OSRELEASE:
		get_string(cursor, header->release, sizeof(header->release));
		break;
	case FEATURE_ARCH:
		get_string(cursor, header->arch, sizeof(header->arch));
		break;
	case FEATURE_NRCPUS:
		nr = cursor_u32(cursor);
		if (!cursor->err && nr < 65536)
			cursor->file->info.nr_cpus = (int)nr;
		break;
	case FEATURE_CPUID:
		get_string(cursor, header->vendor, sizeof(header->vendor));
		header->vendor[strcspn(header->vendor, ",")] = '\0';
		break;
	case FEATURE_DIR_FORMAT:
		get_dir_format(cursor, header);
		break;
	default:
		break;
	}
}

/* Reads the table of sections after the records: one section for each bit that is set. */
static void get_features(struct cursor *cursor, struct perf_header *header, const uint64_t *bits)
{
	uint64_t at = header->data_at + header->data_size;

	for (unsigned int i = 0; i < NR_FEATURES && !cursor->err; i++) {
		struct perf_section section;

		if (!(bits[i / 64] >> i % 64 & 1))
			continue;
		cursor->at = at;
		cursor->swap = header->swap;
		section = get_section(cursor);
		at = cursor->at;
		if (!cursor_check(cursor, is_inside(cursor->file, &section)))
			return;
		cursor->at = section.offset;
		get_feature(cursor, header, i, section.size);
	}
}

/* ---- the whole header */

/* info points into header, so strings that are read later appear in info, too. */
static void set_info(struct trace_info *info, struct perf_header *header)
{
	strcpy(header->clock, "perf");
	info->clock = TRACE_CLOCK_NS;
	info->clock_name = header->clock;
	info->arch = header->arch;
	info->cpu_vendor = header->vendor;
	info->release = header->release;
	info->host = header->host;
}

static void read_all(struct cursor *cursor, struct perf_header *header)
{
	uint64_t attr_size, bits[NR_FEATURES / 64];
	struct perf_section attrs, data;

	cursor->at = PERF_MAGIC_SIZE + sizeof(uint64_t); /* the header's size */
	attr_size = cursor_u64(cursor);
	attrs = get_section(cursor);
	data = get_section(cursor);
	get_section(cursor); /* not in use any more */
	for (size_t i = 0; i < NR_FEATURES / 64; i++)
		bits[i] = cursor_u64(cursor);
	get_attrs(cursor, header, &attrs, attr_size);
	if (!cursor_check(cursor, data.offset <= INT64_MAX &&
					  data.size <= INT64_MAX - data.offset))
		return;
	header->data_at = data.offset;
	header->data_size = data.size;
	if (data.size)
		get_features(cursor, header, bits);
	else
		trace_add_problem(cursor->file, 40,
				  "perf record was interrupted: the events have no formats");
}

int perf_header_read(struct trace_file *file, const struct head *head, bool is_stream,
		     struct perf_header *header, struct error *error)
{
	struct cursor cursor = {
		.file = file,
		.memory = head->bytes,
		.size = head->len,
	};
	char magic[PERF_MAGIC_SIZE];

	cursor_get(&cursor, magic, sizeof(magic));
	header->swap = memcmp(magic, PERF_MAGIC_SWAPPED, sizeof(magic)) == 0;
	if (!cursor.err && !header->swap && memcmp(magic, PERF_MAGIC, sizeof(magic)) != 0)
		return error_set(error, -EINVAL, "%s: an unknown version of perf.data",
				 file->info.path);
	cursor.swap = header->swap;
	file->info.is_big_endian = header->swap != IS_BIG_HERE;
	header->is_piped = cursor_u64(&cursor) == PERF_PIPE_HEADER_SIZE;
	set_info(&file->info, header);
	if (header->is_piped)
		return 0;
	if (is_stream)
		return error_set(error, -ESPIPE, "%s: this perf.data cannot be read from a pipe: "
				 "name the file, or record with perf record -o -",
				 file->info.path);
	cursor = (struct cursor){ .file = file, .swap = header->swap };
	read_all(&cursor, header);
	if (cursor.err)
		trace_add_problem(file, cursor.at, "%s", cursor.err == -EINVAL ?
				  "the header ends here or is damaged" : strerror(-cursor.err));
	return 0;
}

void perf_header_release(struct perf_header *header)
{
	hash_free(header->ids, free);
	free(header->layouts);
	perf_maps_release(&header->maps);
}

/* ---- parts of the header among the records */

static struct cursor memory_cursor(struct trace_file *file, const uint8_t *at, size_t size)
{
	return (struct cursor){
		.file = file,
		.swap = file->info.is_big_endian != IS_BIG_HERE,
		.memory = at,
		.size = size,
	};
}

/* The attr begins with its size; the rest of the record are ids. */
static void add_attr(struct trace_file *file, struct perf_header *header,
		     const struct perf_piece *piece)
{
	struct cursor cursor = memory_cursor(file, piece->at, piece->size);
	uint32_t size = piece->size >= 8 ? bytes_u32(piece->at + 4, header->swap) : 0, layout;

	if (size < PERF_ATTR_SIZE_VER0 || size > piece->size ||
	    header->nr_layouts >= PERF_ATTRS_MAX)
		return;
	layout = take_attr(&cursor, header, size, piece->offset);
	add_ids(&cursor, header, (piece->size - size) / sizeof(uint64_t), layout);
}

static void add_feature(struct trace_file *file, struct perf_header *header, const uint8_t *at,
			size_t size)
{
	struct cursor cursor = memory_cursor(file, at, size);
	uint64_t feature = cursor_u64(&cursor);

	if (!cursor.err && feature < NR_FEATURES && feature != FEATURE_TRACING_DATA)
		get_feature(&cursor, header, (unsigned int)feature, size - 8);
}

void perf_header_take(struct trace_file *file, struct perf_header *header,
		      const struct perf_piece *piece)
{
	if (piece->type == RECORD_ATTR)
		add_attr(file, header, piece);
	else if (piece->type == RECORD_FEATURE)
		add_feature(file, header, piece->at, piece->size);
}

void perf_header_add_formats(struct trace_file *file, const uint8_t *at, size_t size)
{
	struct cursor cursor = memory_cursor(file, at, size);

	get_tracing_data(&cursor);
}
