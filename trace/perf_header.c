// SPDX-License-Identifier: GPL-2.0-or-later
/* The header of perf.data: which events there are, where the records lie, what the machine was. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>

#include "trace/perf_data.h"

#define HEADER_SIZE 104
#define PIPE_HEADER_SIZE 16
#define MAGIC_SIZE 8

/* The features that are looked at. Source: tools/perf/util/header.h. */
enum {
	FEATURE_TRACING_DATA = 1,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_ARCH = 6,
	FEATURE_NRCPUS = 7,
	FEATURE_CPUID = 9,
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

/* Whether all of it is within the file. */
static bool is_inside(const struct trace_file *file, const struct section *section)
{
	return section->offset <= file->info.size &&
	       section->size <= file->info.size - section->offset;
}

/* ---- events */

/* Bitfields begin at the other end on machines of the other byte order. */
static bool flag(const struct trace_info *info, uint64_t flags, unsigned int bit)
{
	return flags >> (info->is_big_endian ? 63 - bit : bit) & 1;
}

#define FLAG_SAMPLE_ID_ALL 18
#define FLAG_USE_CLOCKID 25

static const char *clock_of(int32_t clockid)
{
	static const char *const names[] = { [0] = "real",     [1] = "mono", [4] = "mono_raw",
					     [7] = "boot", [11] = "tai" };
	bool is_known = clockid >= 0 && (size_t)clockid < sizeof(names) / sizeof(names[0]);

	return is_known && names[clockid] ? names[clockid] : "perf";
}

static bool is_same_layout(const struct perf_layout *a, const struct perf_layout *b)
{
	return a->sample_type == b->sample_type && a->read_format == b->read_format &&
	       a->has_sample_id == b->has_sample_id;
}

static int add_layout(struct perf_header *header, const struct perf_layout *layout,
		      uint32_t *ret_index)
{
	struct perf_layout *layouts;

	for (size_t i = 0; i < header->nr_layouts; i++) {
		if (is_same_layout(&header->layouts[i], layout)) {
			*ret_index = (uint32_t)i;
			return 0;
		}
	}
	layouts = reallocarray(header->layouts, header->nr_layouts + 1, sizeof(*layouts));
	if (!layouts)
		return -ENOMEM;
	header->layouts = layouts;
	layouts[header->nr_layouts] = *layout;
	*ret_index = (uint32_t)header->nr_layouts++;
	return 0;
}

static int add_ids(struct cursor *cursor, struct perf_header *header,
		   const struct section *section, uint32_t layout)
{
	uint64_t nr = section->size / sizeof(uint64_t);
	struct perf_id *ids;
	int err = 0;

	if (!is_inside(cursor->file, section))
		return -EINVAL;
	ids = reallocarray(header->ids, header->nr_ids + nr + 1, sizeof(*ids));
	if (!ids)
		return -ENOMEM;
	header->ids = ids;
	cursor->at = section->offset;
	for (uint64_t i = 0; i < nr && !err; i++) {
		struct perf_id *id = &ids[header->nr_ids];

		err = cursor_u64(cursor, &id->id);
		id->layout = layout;
		header->nr_ids += !err;
	}
	return err;
}

/* The attr at the cursor, of which `size` bytes are in the file. */
static int get_attr(struct cursor *cursor, struct perf_header *header, uint64_t size)
{
	const struct trace_info *info = &cursor->file->info;
	uint8_t attr[PERF_ATTR_SIZE_VER3] = { 0 };
	struct perf_layout layout = { .sample_type = 0 };
	struct section ids;
	uint64_t flags, begin = cursor->at;
	uint32_t index;
	int err;

	err = cursor_get(cursor, attr, size < sizeof(attr) ? size : sizeof(attr));
	cursor->at = begin + size;
	if (!err)
		err = get_section(cursor, &ids);
	if (err)
		return err;
	flags = perf_u64(attr + 40, header->swap);
	layout.sample_type = perf_u64(attr + 24, header->swap);
	layout.read_format = perf_u64(attr + 32, header->swap);
	layout.has_sample_id = flag(info, flags, FLAG_SAMPLE_ID_ALL);
	if (flag(info, flags, FLAG_USE_CLOCKID))
		snprintf(header->clock, sizeof(header->clock), "%s",
			 clock_of((int32_t)perf_u32(attr + 92, header->swap)));
	err = add_layout(header, &layout, &index);
	return err ? err : add_ids(cursor, header, &ids, index);
}

static int compare_ids(const void *a, const void *b)
{
	const struct perf_id *one = a, *other = b;

	return (one->id > other->id) - (one->id < other->id);
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
	if (header->nr_ids)
		qsort(header->ids, header->nr_ids, sizeof(header->ids[0]), compare_ids);
	return err;
}

/* ---- features */

static int get_tracing_data(struct cursor *cursor, struct tep_types *types)
{
	struct dat_machine machine;
	char magic[DAT_MAGIC_SIZE], version[16];
	int err = cursor_get(cursor, magic, sizeof(magic));

	if (!err && memcmp(magic, DAT_MAGIC, sizeof(magic)) != 0)
		err = -EINVAL;
	if (!err)
		err = cursor_name(cursor, version, sizeof(version));
	if (!err)
		err = dat_header_machine(cursor, &machine);
	if (err)
		return err;
	dat_set_machine(types->tep, &machine);
	tep_types_init(types, cursor->file, types->tep);
	return dat_header_formats(cursor, types, strcmp(version, "0.5") != 0);
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
	return cursor_get(cursor, text, len);
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

static int get_feature(struct cursor *cursor, struct perf_header *header, struct tep_types *types,
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
	default:
		return 0;
	}
}

/* A table of sections behind the records, one for each bit that is set. */
static int get_features(struct cursor *cursor, struct perf_header *header,
			struct tep_types *types, const uint64_t *bits)
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

/* ---- all of it */

static void set_info(struct trace_info *info, struct perf_header *header)
{
	if (!header->clock[0])
		strcpy(header->clock, "perf");
	info->clock = TRACE_CLOCK_NS;
	info->clock_name = header->clock;
	info->arch = header->arch;
	info->cpu_vendor = header->vendor;
	info->release = header->release;
	info->host = header->host;
}

static int read_all(struct cursor *cursor, struct perf_header *header, struct tep_types *types)
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
				  "perf record did not come to its end: no event has a format");
	return data.size ? get_features(cursor, header, types, bits) : 0;
}

static int check_magic(struct trace_file *file, struct perf_header *header, struct why *why)
{
	static const char native[] = "PERFILE2", swapped[] = "2ELIFREP";
	bool is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	struct cursor cursor = { .file = file, .is_big_endian = is_big };
	char magic[MAGIC_SIZE];
	uint64_t size = 0;

	if (cursor_get(&cursor, magic, sizeof(magic)) < 0)
		return 0;
	if (memcmp(magic, swapped, sizeof(magic)) == 0)
		header->swap = true;
	else if (memcmp(magic, native, sizeof(magic)) != 0)
		return why_set(why, -EINVAL, "%s: not a perf.data that is known here",
			       file->info.path);
	file->info.is_big_endian = cursor.is_big_endian = is_big != header->swap;
	if (cursor_u64(&cursor, &size) == 0 && size == PIPE_HEADER_SIZE)
		return why_set(why, -EINVAL,
			       "%s: written to a pipe; only what perf wrote to a file can be read",
			       file->info.path);
	return 0;
}

int perf_header_read(struct trace_file *file, struct perf_header *header, struct tep_types *types,
		     struct why *why)
{
	struct cursor cursor = { .file = file };
	int err = check_magic(file, header, why);

	if (err)
		return err;
	cursor.is_big_endian = file->info.is_big_endian;
	err = read_all(&cursor, header, types);
	set_info(&file->info, header);
	if (err == -EINVAL) {
		trace_add_problem(file, cursor.at, "the header ends here or makes no sense");
		err = 0;
	}
	return err;
}

void perf_header_release(struct perf_header *header)
{
	free(header->layouts);
	free(header->ids);
}

/* ---- samples */

/* What is left of a record. */
struct rest {
	const uint8_t *at;
	size_t size;
	bool swap, is_short;
};

static const uint8_t *take(struct rest *rest, uint64_t size)
{
	const uint8_t *at = rest->at;

	if (size > rest->size) {
		rest->is_short = true;
		rest->size = 0;
		return NULL;
	}
	rest->at += size;
	rest->size -= size;
	return at;
}

static uint64_t take_u64(struct rest *rest)
{
	const uint8_t *at = take(rest, 8);

	return at ? perf_u64(at, rest->swap) : 0;
}

static uint32_t take_u32(struct rest *rest)
{
	const uint8_t *at = take(rest, 4);

	return at ? perf_u32(at, rest->swap) : 0;
}

static void skip_read(struct rest *rest, uint64_t format)
{
	uint64_t nr = 1, words = 1;

	if (format & PERF_FORMAT_GROUP)
		nr = take_u64(rest);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		take_u64(rest);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		take_u64(rest);
	words += !!(format & PERF_FORMAT_ID) + !!(format & (1U << 4)); /* PERF_FORMAT_LOST */
	take(rest, nr < 65536 ? nr * words * 8 : UINT64_MAX);
}

static void skip_words(struct rest *rest, uint64_t nr)
{
	take(rest, nr < 65536 ? nr * 8 : UINT64_MAX);
}

/* The layout by the sample's own number, where it has one. */
static const struct perf_layout *layout_of(const struct perf_header *header,
					   const struct rest *rest)
{
	struct perf_id wanted;
	const struct perf_id *id;

	if (header->nr_layouts == 0)
		return NULL;
	if (!(header->layouts[0].sample_type & PERF_SAMPLE_IDENTIFIER) || header->nr_ids == 0 ||
	    header->nr_layouts == 1 || rest->size < 8)
		return &header->layouts[0];
	wanted.id = perf_u64(rest->at, rest->swap);
	id = bsearch(&wanted, header->ids, header->nr_ids, sizeof(*id), compare_ids);
	return &header->layouts[id ? id->layout : 0];
}

static void take_ids(struct rest *rest, uint64_t type, struct perf_sample *sample)
{
	if (type & PERF_SAMPLE_TID) {
		sample->pid = (int32_t)take_u32(rest);
		sample->tid = (int32_t)take_u32(rest);
	}
	if (type & PERF_SAMPLE_TIME)
		sample->time = take_u64(rest);
}

static void take_cpu(struct rest *rest, uint64_t type, struct perf_sample *sample)
{
	if (!(type & PERF_SAMPLE_CPU))
		return;
	sample->cpu = (int32_t)take_u32(rest);
	take_u32(rest);
}

static void skip_if(struct rest *rest, uint64_t type, uint64_t bit)
{
	if (type & bit)
		take_u64(rest);
}

bool perf_sample_read(const struct perf_header *header, const uint8_t *at, size_t size,
		      struct perf_sample *ret_sample)
{
	struct rest rest = { at, size, header->swap, false };
	const struct perf_layout *layout = layout_of(header, &rest);
	struct perf_sample sample = { .pid = -1, .tid = -1, .cpu = -1 };
	uint64_t type = layout ? layout->sample_type : 0;

	skip_if(&rest, type, PERF_SAMPLE_IDENTIFIER);
	skip_if(&rest, type, PERF_SAMPLE_IP);
	take_ids(&rest, type, &sample);
	skip_if(&rest, type, PERF_SAMPLE_ADDR);
	skip_if(&rest, type, PERF_SAMPLE_ID);
	skip_if(&rest, type, PERF_SAMPLE_STREAM_ID);
	take_cpu(&rest, type, &sample);
	skip_if(&rest, type, PERF_SAMPLE_PERIOD);
	if (type & PERF_SAMPLE_READ)
		skip_read(&rest, layout->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN)
		skip_words(&rest, take_u64(&rest));
	if (type & PERF_SAMPLE_RAW) {
		sample.raw_size = take_u32(&rest);
		sample.raw = take(&rest, sample.raw_size);
	}
	if (rest.is_short || !layout)
		return false;
	*ret_sample = sample;
	return true;
}

/* From the end: time and thread come before the event's numbers and the CPU. */
void perf_sample_read_id(const struct perf_header *header, const uint8_t *at, size_t size,
			 struct perf_sample *ret_sample)
{
	const struct perf_layout *layout = header->nr_layouts ? &header->layouts[0] : NULL;
	uint64_t type = layout ? layout->sample_type : 0, words;
	struct perf_sample sample = { .pid = -1, .tid = -1, .cpu = -1 };
	struct rest rest = { at, size, header->swap, false };

	words = !!(type & PERF_SAMPLE_TID) + !!(type & PERF_SAMPLE_TIME) +
		!!(type & PERF_SAMPLE_ID) + !!(type & PERF_SAMPLE_STREAM_ID) +
		!!(type & PERF_SAMPLE_CPU) + !!(type & PERF_SAMPLE_IDENTIFIER);
	*ret_sample = sample;
	if (!layout || !layout->has_sample_id || size < 8 * words)
		return;
	take(&rest, size - 8 * words);
	take_ids(&rest, type, &sample);
	skip_if(&rest, type, PERF_SAMPLE_ID);
	skip_if(&rest, type, PERF_SAMPLE_STREAM_ID);
	take_cpu(&rest, type, &sample);
	*ret_sample = sample;
}
