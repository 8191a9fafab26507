// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The header of a trace.dat of version 7.
 *
 * Source: man 5 trace-cmd.dat.v7. Options hold the offsets of all sections, and of further options.
 * Each section begins with its type, whether it is compressed, and its size.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/recording/dat/dat.h"

#define OPTION_LISTS_MAX 4096 /* in a damaged file, lists may refer to each other for ever */
#define INFLATED_MAX (64 * 1024 * 1024) /* bytes of all sections; formats are most of these */
#define SECTIONS_MAX 64 /* with formats or names: trace-cmd writes three */
#define CPU_BYTES 20 /* of a CPU in the option of a buffer: its number, offset and size */
#define IS_COMPRESSED 1

/* A section, uncompressed. */
struct section {
	struct cursor cursor; /* after the section's header */
	uint8_t *memory;
	bool is_compressed;
};

static void section_release(struct section *section)
{
	free(section->memory);
	section->memory = NULL;
}

static int section_inflate(struct section *section, struct dat *dat)
{
	struct cursor *cursor = &section->cursor;
	uint32_t packed_size = 0, size = 0;
	char *packed = NULL;
	int err = cursor_u32(cursor, &packed_size);

	if (!err)
		err = cursor_u32(cursor, &size);
	if (!err && (packed_size > cursor->file->info.size || size > INFLATED_MAX - dat->inflated))
		err = -EINVAL;
	if (err)
		return err;
	dat->inflated += size;
	packed = malloc((size_t)packed_size + 1);
	section->memory = malloc((size_t)size + 1);
	if (!packed || !section->memory)
		err = -ENOMEM;
	if (!err)
		err = cursor_get(cursor, packed, packed_size);
	if (!err)
		err = dat->inflate(packed, packed_size, section->memory, size);
	free(packed);
	if (err)
		return err;
	cursor->memory = section->memory;
	cursor->size = size;
	cursor->at = 0;
	return 0;
}

/* Reads the header of the section at an offset. */
static int section_head(const struct cursor *from, uint64_t at, uint16_t wanted,
			struct section *section)
{
	uint16_t id = 0, flags = 0;
	int err;

	*section = (struct section){ .cursor = *from };
	section->cursor.memory = NULL;
	section->cursor.at = at;
	err = cursor_u16(&section->cursor, &id);
	if (!err)
		err = cursor_u16(&section->cursor, &flags);
	if (!err)
		err = cursor_skip(&section->cursor, 4 + 8); /* description and size */
	if (!err && id != wanted)
		err = -EINVAL;
	section->is_compressed = flags & IS_COMPRESSED;
	return err;
}

static int section_open(struct dat *dat, const struct cursor *from, uint64_t at,
			uint16_t wanted, struct section *section)
{
	int err = section_head(from, at, wanted, section);

	if (!err && section->is_compressed)
		err = section_inflate(section, dat);
	if (err)
		section_release(section);
	return err;
}

/* ---- sections */

static int get_cpu_pages(struct cursor *cursor, bool is_compressed, struct dat_cpu *ret_cpu)
{
	struct dat_cpu pages = { .is_compressed = is_compressed };
	uint32_t cpu = 0;
	int err = cursor_u32(cursor, &cpu);

	if (!err)
		err = cursor_u64(cursor, &pages.offset);
	if (!err)
		err = cursor_u64(cursor, &pages.size);
	if (!err && cpu >= DAT_CPUS_MAX)
		err = -EINVAL;
	pages.cpu = (int)cpu;
	if (!err)
		*ret_cpu = pages;
	return err;
}

static int get_all_cpu_pages(struct cursor *cursor, struct dat_buffer *buffer, uint32_t page_size,
			     uint32_t nr)
{
	struct section section;
	int err = section_head(cursor, buffer->offset, DAT_OPTION_BUFFER, &section);

	buffer->cpus = calloc((size_t)nr + 1, sizeof(buffer->cpus[0]));
	if (!buffer->cpus)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr && !err; i++) {
		err = get_cpu_pages(cursor, section.is_compressed, &buffer->cpus[i]);
		buffer->cpus[i].page_size = page_size;
		buffer->nr_cpus += !err;
	}
	return err;
}

static int get_buffer(struct cursor *cursor, struct dat *dat, uint32_t size)
{
	struct dat_buffer *buffer = dat_new_buffer(dat);
	uint64_t end = cursor->at + size;
	uint32_t page_size = 0, nr = 0;
	char clock[TRACING_NAME_SIZE] = "";
	int err = buffer ? cursor_u64(cursor, &buffer->offset) : -ENOMEM;

	if (!err)
		err = cursor_name(cursor, buffer->name, sizeof(buffer->name));
	if (!err)
		err = cursor_name(cursor, clock, sizeof(clock));
	if (!err)
		err = cursor_u32(cursor, &page_size);
	if (!err)
		err = cursor_u32(cursor, &nr);
	if (!err && (page_size < DAT_PAGE_MIN || page_size > DAT_PAGE_MAX || nr > DAT_CPUS_MAX ||
		     cursor->at > end || nr > (end - cursor->at) / CPU_BYTES))
		err = -EINVAL;
	if (err) {
		dat->nr_buffers -= buffer != NULL; /* its name may have no end */
		return err;
	}
	trace_clean_text(buffer->name, sizeof(buffer->name));
	snprintf(buffer->clock, sizeof(buffer->clock), "%s", clock);
	return get_all_cpu_pages(cursor, buffer, page_size, nr);
}

/* Reads the section at the option's offset. */
static int get_section(struct cursor *cursor, struct dat *dat, uint16_t id)
{
	struct section section;
	uint64_t at = 0;
	int err = cursor_u64(cursor, &at);

	if (!err && ++dat->nr_sections > SECTIONS_MAX)
		err = -EINVAL;
	if (!err)
		err = section_open(dat, cursor, at, id, &section);
	if (err)
		return err;
	if (id == DAT_OPTION_FTRACE_EVENTS)
		err = tracing_read_events(&section.cursor, &dat->types, "ftrace");
	else if (id == DAT_OPTION_EVENT_FORMATS)
		err = tracing_read_systems(&section.cursor, &dat->types);
	else
		err = tracing_read_comms(&section.cursor, &dat->types);
	section_release(&section);
	return err;
}

static int get_nr_cpus(struct cursor *cursor)
{
	uint32_t nr = 0;
	int err = cursor_u32(cursor, &nr);

	if (!err && nr <= DAT_CPUS_MAX)
		cursor->file->info.nr_cpus = (int)nr;
	return err;
}

static int get_option(struct cursor *cursor, struct dat *dat, uint16_t id, uint32_t size)
{
	switch (id) {
	case DAT_OPTION_BUFFER:
		return get_buffer(cursor, dat, size);
	case DAT_OPTION_FTRACE_EVENTS:
	case DAT_OPTION_EVENT_FORMATS:
	case DAT_OPTION_COMMS:
		return get_section(cursor, dat, id);
	case DAT_OPTION_CPUS:
		return get_nr_cpus(cursor);
	default:
		return dat_read_option(cursor, dat, id, size);
	}
}

/* Reads a list of options. The last option is the offset of the next list. */
static int get_options(struct cursor *cursor, struct dat *dat, uint64_t *ret_next)
{
	for (;;) {
		uint16_t id = 0;
		uint32_t size = 0;
		uint64_t begin;
		int err = cursor_u16(cursor, &id);

		if (!err)
			err = cursor_u32(cursor, &size);
		if (err || id == DAT_OPTION_DONE)
			return err ? err : cursor_u64(cursor, ret_next);
		begin = cursor->at;
		err = cursor_skip(cursor, size);
		if (err)
			return err;
		cursor->at = begin;
		err = get_option(cursor, dat, id, size);
		if (err)
			return err;
		cursor->at = begin + size;
	}
}

static int get_all_options(struct cursor *cursor, struct dat *dat)
{
	uint64_t at = 0, bytes = 0;
	int err = cursor_u64(cursor, &at);

	for (int i = 0; at && i < OPTION_LISTS_MAX && !err; i++) {
		struct section section;

		cursor->at = at;
		err = section_open(dat, cursor, at, DAT_OPTION_DONE, &section);
		if (err)
			return err;
		err = get_options(&section.cursor, dat, &at);
		bytes += section.is_compressed ? 0 : section.cursor.at - cursor->at;
		section_release(&section);
		if (!err && bytes > cursor->file->info.size)
			err = -EINVAL;
	}
	return err;
}

static int get_all(struct cursor *cursor, struct dat *dat)
{
	char version[4], compression[TRACING_NAME_SIZE], its_version[TRACING_NAME_SIZE];
	int err = cursor_name(cursor, version, sizeof(version));

	if (!err)
		err = dat_read_machine(cursor, dat);
	if (!err)
		err = cursor_name(cursor, compression, sizeof(compression));
	if (!err)
		err = cursor_name(cursor, its_version, sizeof(its_version));
	if (err)
		return err;
	dat->inflate = dat_inflate_by_name(compression);
	if (dat->inflate) {
		err = get_all_options(cursor, dat);
		if (!err && dat->nr_buffers == 0)
			trace_add_problem(cursor->file, cursor->at,
					  "the header names no buffer with events: the recorder "
					  "was interrupted");
		return err;
	}
	trace_clean_text(compression, sizeof(compression));
	trace_add_problem(cursor->file, cursor->at,
			  "compressed with \"%.32s\", which kvmtop cannot read: make another file "
			  "with trace-cmd convert --compression none", compression);
	return 0;
}

/* ---- buffers */

static int add_buffer(struct trace_file *file, struct dat *dat, const struct dat_buffer *buffer)
{
	int err = 0;

	for (size_t i = 0; i < buffer->nr_cpus && !err; i++) {
		if (buffer->cpus[i].size > 0)
			err = dat_add_cpu(file, dat, &buffer->cpus[i]);
	}
	return err;
}

static int add_buffers(struct trace_file *file, struct dat *dat)
{
	int err = 0;

	for (size_t i = 0; i < dat->nr_buffers && !err; i++) {
		struct dat_buffer *buffer = &dat->buffers[i];
		struct trace_file *part = file;

		if (buffer->name[0]) {
			part = trace_add_part(file);
			if (!part)
				return -ENOMEM;
			part->info.instance = buffer->name;
		}
		if (buffer->clock[0])
			dat_set_clock(&part->info, buffer->clock, sizeof(buffer->clock),
				      buffer->clock);
		dat_settle_clock(&part->info, dat);
		err = add_buffer(part, dat, buffer);
	}
	return err;
}

int dat7_open(struct trace_file *file, const struct cursor *from)
{
	struct cursor cursor = *from;
	struct dat *dat = file->priv;
	int err = dat_forgive(&cursor, get_all(&cursor, dat));

	dat_settle_clock(&file->info, dat);
	return err ? err : dat_forgive(&cursor, add_buffers(file, dat));
}
