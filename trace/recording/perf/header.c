// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the header of perf.data: the events, the offset of the records, the machine. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/array.h"
#include "trace/recording/perf/bytes.h"
#include "trace/recording/perf/header.h"

#define HEADER_SIZE 104
#define MAGIC_SIZE 8

/* The features that kvmtop reads. Source: tools/perf/util/header.h. */
enum {
	FEATURE_TRACING_DATA = 1,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_ARCH = 6,
	FEATURE_NRCPUS = 7,
	FEATURE_CPUID = 9,
	FEATURE_DIR_FORMAT = 24,
	NR_FEATURES = 256,
};

struct section {
	uint64_t offset, size;
};

static int get_section(struct cursor *cursor, struct section *ret)
{
	int err = cursor_u64(cursor, &ret->offset);

	return err ? err : cursor_u64(cursor, &ret->size);
}

/* Whether the whole section is within the file. */
static bool is_inside(const struct trace_file *file, const struct section *section)
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

#define FLAG_INHERIT 1
#define FLAG_INHERIT_STAT 11
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
	       a->has_sample_id == b->has_sample_id && a->counts_by_thread == b->counts_by_thread;
}

static int add_layout(struct perf_header *header, const struct perf_layout *layout,
		      uint32_t *ret_index)
{
	for (size_t i = 0; i < header->nr_layouts; i++) {
		if (is_same_layout(&header->layouts[i], layout)) {
			*ret_index = (uint32_t)i;
			return 0;
		}
	}
	array_grow(&header->layouts, &header->layouts_room, header->nr_layouts + 1);
	header->layouts[header->nr_layouts] = *layout;
	*ret_index = (uint32_t)header->nr_layouts++;
	return 0;
}

static struct perf_id *find_id(const struct perf_header *header, uint64_t id)
{
	struct perf_id *found;

	HASH_FIND(hh, header->ids, &id, sizeof(id), found);
	return found;
}

static int add_id(struct perf_header *header, uint64_t id, const struct perf_id *like)
{
	struct perf_id *added;

	if (find_id(header, id))
		return 0;
	added = calloc(1, sizeof(*added));
	if (!added)
		return -ENOMEM;
	*added = *like;
	added->id = id;
	hash_add(header->ids, id, added);
	return 0;
}

/* Reads `nr` ids at the cursor. Each id has bytes of its own in the file. */
static int add_ids(struct cursor *cursor, struct perf_header *header, uint64_t nr,
		   const struct perf_id *like)
{
	bool is_kept = like->layout ||
		       header->layouts[like->layout].read_format & PERF_FORMAT_GROUP;
	uint64_t file_size = cursor->file->info.size;
	uint64_t most = file_size ? file_size / sizeof(uint64_t) : PERF_IDS_MAX;
	int err = nr > most - header->nr_ids ? -EINVAL : 0;

	for (uint64_t i = 0; i < nr && !err; i++) {
		uint64_t id = 0;

		err = cursor_u64(cursor, &id);
		header->nr_ids += !err;
		if (!err && is_kept)
			err = add_id(header, id, like);
	}
	return err;
}

/* ret_like: what all ids of the event have. */
static int take_attr(struct cursor *cursor, struct perf_header *header, uint64_t size,
		     struct perf_id *ret_like)
{
	const struct trace_info *info = &cursor->file->info;
	uint8_t attr[PERF_ATTR_SIZE_VER3] = { 0 };
	struct perf_layout layout = { .sample_type = 0 };
	uint64_t flags, config, begin = cursor->at;
	int err = cursor_get(cursor, attr, size < sizeof(attr) ? size : sizeof(attr));

	if (err)
		return err;
	cursor->at = begin + size;
	config = bytes_u64(attr + 8, header->swap);
	flags = bytes_u64(attr + 40, header->swap);
	layout.sample_type = bytes_u64(attr + 24, header->swap);
	layout.read_format = bytes_u64(attr + 32, header->swap);
	layout.has_sample_id = flag(info, flags, FLAG_SAMPLE_ID_ALL);
	layout.counts_by_thread = flag(info, flags, FLAG_INHERIT) &&
				  flag(info, flags, FLAG_INHERIT_STAT);
	if (flag(info, flags, FLAG_USE_CLOCKID))
		snprintf(header->clock, sizeof(header->clock), "%s",
			 clock_of((int32_t)bytes_u32(attr + 92, header->swap)));
	*ret_like = (struct perf_id){ .layout = 0 };
	if (bytes_u32(attr, header->swap) == PERF_TYPE_TRACEPOINT && config <= UINT16_MAX)
		ret_like->tracepoint = (uint16_t)config;
	return add_layout(header, &layout, &ret_like->layout);
}

/* Reads an attr of `size` bytes at the cursor, and the section of its ids. */
static int get_attr(struct cursor *cursor, struct perf_header *header, uint64_t size)
{
	struct perf_id like;
	struct section ids;
	int err = take_attr(cursor, header, size, &like);

	if (!err)
		err = get_section(cursor, &ids);
	if (!err && !is_inside(cursor->file, &ids))
		err = -EINVAL;
	if (err)
		return err;
	cursor->at = ids.offset;
	return add_ids(cursor, header, ids.size / sizeof(uint64_t), &like);
}

const struct perf_layout *perf_header_layout(const struct perf_header *header, uint64_t id)
{
	const struct perf_id *found = find_id(header, id);

	return &header->layouts[found ? found->layout : 0];
}

const struct perf_id *perf_header_id(const struct perf_header *header, uint64_t id)
{
	return find_id(header, id);
}

/* Their number, and of each id: id, index, CPU, thread (-1: it counts all threads of the CPU). */
void perf_header_take_index(struct perf_header *header, const uint8_t *at, size_t size)
{
	const size_t entry_size = 4 * sizeof(uint64_t);
	uint64_t nr = size >= 8 ? bytes_u64(at, header->swap) : 0;

	for (size_t i = 8; nr > 0 && size - i >= entry_size; nr--, i += entry_size) {
		struct perf_id *id = find_id(header, bytes_u64(at + i, header->swap));

		if (id)
			id->is_of_thread = bytes_u64(at + i + 24, header->swap) != UINT64_MAX;
	}
}

static int get_attrs(struct cursor *cursor, struct perf_header *header,
		     const struct section *section, uint64_t entry_size)
{
	uint64_t nr;
	int err = 0;

	if (entry_size < PERF_ATTR_SIZE_VER0 + 16 || entry_size > 4096 ||
	    !is_inside(cursor->file, section))
		return -EINVAL;
	nr = section->size / entry_size;
	if (nr == 0 || nr > PERF_ATTRS_MAX)
		return -EINVAL;
	for (uint64_t i = 0; i < nr && !err; i++) {
		cursor->at = section->offset + i * entry_size;
		err = get_attr(cursor, header, entry_size - 16);
	}
	return err;
}

/* ---- features */

static int get_tracing_data(struct cursor *cursor, struct event_types *types)
{
	struct tracing_machine machine;
	char magic[TRACING_MAGIC_SIZE], version[16];
	int err = cursor_get(cursor, magic, sizeof(magic));

	if (!err && memcmp(magic, TRACING_MAGIC, sizeof(magic)) != 0)
		err = -EINVAL;
	if (!err)
		err = cursor_name(cursor, version, sizeof(version));
	if (!err)
		err = tracing_read_machine(cursor, types, &machine);
	if (err)
		return err;
	return tracing_read_formats(cursor, types, strcmp(version, "0.5") != 0);
}

static int get_string(struct cursor *cursor, char *text, size_t size)
{
	uint32_t len;
	int err = cursor_u32(cursor, &len);

	if (err)
		return err;
	if (len >= size)
		len = (uint32_t)size - 1;
	memset(text, 0, size);
	err = cursor_get(cursor, text, len);
	trace_clean_text(text, size);
	return err;
}

static int get_vendor(struct cursor *cursor, struct perf_header *header)
{
	int err = get_string(cursor, header->vendor, sizeof(header->vendor));

	header->vendor[strcspn(header->vendor, ",")] = '\0';
	return err;
}

static int get_nr_cpus(struct cursor *cursor)
{
	uint32_t nr;
	int err = cursor_u32(cursor, &nr);

	if (!err && nr < 65536)
		cursor->file->info.nr_cpus = (int)nr;
	return err;
}

static int get_feature(struct cursor *cursor, struct perf_header *header, struct event_types *types,
		       unsigned int feature)
{
	switch (feature) {
	case FEATURE_TRACING_DATA:
		return get_tracing_data(cursor, types);
	case FEATURE_HOSTNAME:
		return get_string(cursor, header->host, sizeof(header->host));
	case FEATURE_OSRELEASE:
		return get_string(cursor, header->release, sizeof(header->release));
	case FEATURE_ARCH:
		return get_string(cursor, header->arch, sizeof(header->arch));
	case FEATURE_NRCPUS:
		return get_nr_cpus(cursor);
	case FEATURE_CPUID:
		return get_vendor(cursor, header);
	case FEATURE_DIR_FORMAT:
		trace_add_problem(cursor->file, cursor->at,
				  "the records are in files beside it, which kvmtop cannot read: "
				  "record without --threads");
		return 0;
	default:
		return 0;
	}
}

/* Reads the table of sections after the records: one section for each bit that is set. */
static int get_features(struct cursor *cursor, struct perf_header *header,
			struct event_types *types, const uint64_t *bits)
{
	uint64_t at = header->data_at + header->data_size;
	int err = 0;

	for (unsigned int i = 0; i < NR_FEATURES && !err; i++) {
		struct section section;

		if (!(bits[i / 64] >> i % 64 & 1))
			continue;
		cursor->at = at;
		cursor->is_big_endian = cursor->file->info.is_big_endian;
		err = get_section(cursor, &section);
		at = cursor->at;
		if (!err && !is_inside(cursor->file, &section))
			err = -EINVAL;
		if (err)
			return err;
		cursor->at = section.offset;
		err = get_feature(cursor, header, types, i);
	}
	return err;
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

static int read_all(struct cursor *cursor, struct perf_header *header, struct event_types *types)
{
	uint64_t size, attr_size = 0, bits[NR_FEATURES / 64];
	struct section attrs, data, unused;
	int err;

	cursor->at = MAGIC_SIZE;
	err = cursor_u64(cursor, &size);
	if (!err)
		err = cursor_u64(cursor, &attr_size);
	if (!err)
		err = get_section(cursor, &attrs);
	if (!err)
		err = get_section(cursor, &data);
	if (!err)
		err = get_section(cursor, &unused);
	for (size_t i = 0; i < NR_FEATURES / 64 && !err; i++)
		err = cursor_u64(cursor, &bits[i]);
	if (!err)
		err = get_attrs(cursor, header, &attrs, attr_size);
	if (err)
		return err;
	if (data.offset > INT64_MAX || data.size > INT64_MAX - data.offset)
		return -EINVAL;
	header->data_at = data.offset;
	header->data_size = data.size;
	if (data.size == 0)
		trace_add_problem(cursor->file, 40,
				  "perf record was interrupted: the events have no formats");
	return data.size ? get_features(cursor, header, types, bits) : 0;
}

static int check_magic(struct trace_file *file, const struct head *head,
		       struct perf_header *header, struct error *why)
{
	static const char native[] = "PERFILE2", swapped[] = "2ELIFREP";
	bool is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	struct cursor cursor = {
		.file = file,
		.is_big_endian = is_big,
		.memory = head->bytes,
		.size = head->len,
	};
	char magic[MAGIC_SIZE];
	uint64_t size = 0;

	if (cursor_get(&cursor, magic, sizeof(magic)) < 0)
		return 0;
	if (memcmp(magic, swapped, sizeof(magic)) == 0)
		header->swap = true;
	else if (memcmp(magic, native, sizeof(magic)) != 0)
		return error_set(why, -EINVAL, "%s: an unknown version of perf.data",
				 file->info.path);
	file->info.is_big_endian = cursor.is_big_endian = is_big != header->swap;
	header->is_piped = cursor_u64(&cursor, &size) == 0 && size == PERF_PIPE_HEADER_SIZE;
	return 0;
}

int perf_header_read(struct trace_file *file, const struct head *head, bool is_stream,
		     struct perf_header *header, struct event_types *types, struct error *why)
{
	struct cursor cursor = { .file = file };
	int err = check_magic(file, head, header, why);

	if (err)
		return err;
	set_info(&file->info, header);
	if (header->is_piped)
		return 0;
	if (is_stream)
		return error_set(why, -ESPIPE,
				 "%s: this perf.data cannot be read from a pipe: name "
				 "the file, or record with perf record -o -",
				 file->info.path);
	cursor.is_big_endian = file->info.is_big_endian;
	err = read_all(&cursor, header, types);
	if (err == -EINVAL) {
		trace_add_problem(file, cursor.at, "the header ends here or is damaged");
		err = 0;
	}
	return err;
}

void perf_header_release(struct perf_header *header)
{
	struct perf_id *id, *next;

	HASH_ITER(hh, header->ids, id, next) {
		HASH_DEL(header->ids, id);
		free(id);
	}
	free(header->layouts);
}

/* ---- parts of the header among the records of a pipe */

static struct cursor memory_cursor(struct trace_file *file, const uint8_t *at, size_t size)
{
	return (struct cursor){
		.file = file,
		.is_big_endian = file->info.is_big_endian,
		.memory = at,
		.size = size,
	};
}

static int forgive(int err)
{
	return err == -EINVAL ? 0 : err;
}

/* The attr begins with its size; the rest of the record are ids. */
int perf_header_add_attr(struct trace_file *file, struct perf_header *header, const uint8_t *at,
			 size_t size)
{
	struct cursor cursor = memory_cursor(file, at, size);
	uint32_t attr_size = size >= 8 ? bytes_u32(at + 4, header->swap) : 0;
	struct perf_id like;
	int err;

	if (attr_size < PERF_ATTR_SIZE_VER0 || attr_size > size ||
	    header->nr_layouts >= PERF_ATTRS_MAX)
		return 0;
	err = take_attr(&cursor, header, attr_size, &like);
	if (!err)
		err = add_ids(&cursor, header, (size - attr_size) / sizeof(uint64_t), &like);
	return forgive(err);
}

int perf_header_add_feature(struct trace_file *file, struct perf_header *header,
			    struct event_types *types, const uint8_t *at, size_t size)
{
	struct cursor cursor = memory_cursor(file, at, size);
	uint64_t feature = 0;
	int err = cursor_u64(&cursor, &feature);

	if (err || feature >= NR_FEATURES || feature == FEATURE_TRACING_DATA)
		return 0;
	return forgive(get_feature(&cursor, header, types, (unsigned int)feature));
}

int perf_header_add_formats(struct trace_file *file, struct event_types *types, const uint8_t *at,
			    size_t size)
{
	struct cursor cursor = memory_cursor(file, at, size);

	return forgive(get_tracing_data(&cursor, types));
}
