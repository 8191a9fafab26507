// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The header of a trace.dat of version 7.
 *
 * Source: man 5 trace-cmd.dat.v7. Options hold the offsets of all sections, and of further options.
 * Each section begins with its type, whether it is compressed, and its size.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "lib/array.h"
#include "trace/recording/dat/dat.h"

#define OPTION_LISTS_MAX 4096 /* in a damaged file, lists may refer to each other for ever */
#define INFLATED_MAX (64 * 1024 * 1024) /* bytes of all sections; formats are most of these */
#define SECTIONS_MAX 64 /* with formats or names: trace-cmd writes three */
#define CPU_BYTES 20 /* of a CPU in the option of a buffer: its number, offset and size */
#define IS_COMPRESSED 1

/* ---- compression */

/* For a file that says it is not compressed: a compressed block is damage. */
static bool inflate_none(const void *from, size_t from_size, void *to, size_t to_size)
{
	(void)from;
	(void)from_size;
	(void)to;
	(void)to_size;
	return false;
}

static bool inflate_zlib(const void *from, size_t from_size, void *to, size_t to_size)
{
	uLongf got = to_size;

	return uncompress(to, &got, from, from_size) == Z_OK && got == to_size;
}

static bool inflate_zstd(const void *from, size_t from_size, void *to, size_t to_size)
{
	/* zstd returns an error as a number that is larger than any size. */
	return ZSTD_decompress(to, to_size, from, from_size) == to_size;
}

/* By its name in the file ("zstd"). NULL: unknown. */
static dat_inflate *inflate_by_name(const char *compression)
{
	static const struct {
		const char *name;
		dat_inflate *inflate;
	} compressions[] = {
		{ "none", inflate_none },
		{ "zlib", inflate_zlib },
		{ "zstd", inflate_zstd },
	};

	for (size_t i = 0; i < ARRAY_SIZE(compressions); i++) {
		if (strcmp(compressions[i].name, compression) == 0)
			return compressions[i].inflate;
	}
	return NULL;
}

/* ---- sections */

/* A section, uncompressed. */
struct section {
	struct cursor cursor; /* after the section's header; it has the error */
	uint8_t *memory;
	bool is_compressed;
};

static void section_release(struct section *section)
{
	free(section->memory);
	section->memory = NULL;
}

static void section_inflate(struct section *section, struct dat *dat)
{
	struct cursor *cursor = &section->cursor;
	uint32_t packed_size = cursor_u32(cursor), size = cursor_u32(cursor);
	char *packed;

	if (!cursor_check(cursor, packed_size <= cursor_end(cursor) - cursor->at &&
					  size <= INFLATED_MAX - dat->inflated))
		return;
	dat->inflated += size;
	packed = xmalloc(packed_size);
	section->memory = xmalloc(size);
	cursor_get(cursor, packed, packed_size);
	if (cursor_check(cursor, dat->inflate(packed, packed_size, section->memory, size))) {
		cursor->memory = section->memory;
		cursor->size = size;
		cursor->at = 0;
	}
	free(packed);
}

/* Reads the header of the section at an offset. */
static void section_head(const struct cursor *from, uint64_t at, uint16_t wanted,
			 struct section *section)
{
	struct cursor *cursor = &section->cursor;

	*section = (struct section){ .cursor = *from };
	cursor->memory = NULL;
	cursor->at = at;
	cursor_check(cursor, cursor_u16(cursor) == wanted);
	section->is_compressed = cursor_u16(cursor) & IS_COMPRESSED;
	cursor_skip(cursor, 4 + 8); /* description and size */
}

static void section_open(struct dat *dat, const struct cursor *from, uint64_t at, uint16_t wanted,
			 struct section *section)
{
	section_head(from, at, wanted, section);
	if (!section->cursor.err && section->is_compressed)
		section_inflate(section, dat);
}

/* ---- options */

static void get_all_cpu_pages(struct cursor *cursor, struct dat_buffer *buffer, uint32_t page_size,
			      uint32_t nr)
{
	struct section section;

	section_head(cursor, buffer->offset, DAT_OPTION_BUFFER, &section);
	cursor->err = section.cursor.err;
	buffer->cpus = xcalloc(nr, sizeof(buffer->cpus[0]));
	for (uint32_t i = 0; i < nr && !cursor->err; i++) {
		struct dat_cpu *cpu = &buffer->cpus[buffer->nr_cpus];
		uint32_t number = cursor_u32(cursor);

		cpu->cpu = (int)number;
		cpu->offset = cursor_u64(cursor);
		cpu->size = cursor_u64(cursor);
		cpu->page_size = page_size;
		cpu->is_compressed = section.is_compressed;
		buffer->nr_cpus += cursor_check(cursor, number < DAT_CPUS_MAX);
	}
}

static void get_buffer(struct cursor *cursor, struct dat *dat, uint32_t size)
{
	struct dat_buffer *buffer = dat_new_buffer(cursor, dat);
	uint64_t end = cursor->at + size;
	char clock[TRACING_NAME_SIZE];
	uint32_t page_size, nr;

	if (!buffer)
		return;
	buffer->offset = cursor_u64(cursor);
	cursor_name(cursor, buffer->name, sizeof(buffer->name));
	cursor_name(cursor, clock, sizeof(clock));
	page_size = cursor_u32(cursor);
	nr = cursor_u32(cursor);
	if (!cursor_check(cursor, page_size >= DAT_PAGE_MIN && page_size <= DAT_PAGE_MAX &&
					  nr <= DAT_CPUS_MAX && cursor->at <= end &&
					  nr <= (end - cursor->at) / CPU_BYTES)) {
		dat->nr_buffers--;
		return;
	}
	trace_clean_text(buffer->name, sizeof(buffer->name));
	snprintf(buffer->clock, sizeof(buffer->clock), "%.31s", clock);
	get_all_cpu_pages(cursor, buffer, page_size, nr);
}

/* Reads the section at the option's offset. */
static void get_section(struct cursor *cursor, struct dat *dat, uint16_t id)
{
	struct section section;
	uint64_t at = cursor_u64(cursor);

	if (!cursor_check(cursor, ++dat->nr_sections <= SECTIONS_MAX))
		return;
	section_open(dat, cursor, at, id, &section);
	if (id == DAT_OPTION_FTRACE_EVENTS)
		tracing_read_events(&section.cursor, &dat->types, "ftrace");
	else if (id == DAT_OPTION_EVENT_FORMATS)
		tracing_read_systems(&section.cursor, &dat->types);
	else
		tracing_read_comms(&section.cursor, &dat->types);
	cursor->err = section.cursor.err;
	section_release(&section);
}

static void get_option(struct cursor *cursor, struct dat *dat, uint16_t id, uint32_t size)
{
	uint32_t nr;

	switch (id) {
	case DAT_OPTION_BUFFER:
		get_buffer(cursor, dat, size);
		break;
	case DAT_OPTION_FTRACE_EVENTS:
	case DAT_OPTION_EVENT_FORMATS:
	case DAT_OPTION_COMMS:
		get_section(cursor, dat, id);
		break;
	case DAT_OPTION_SYMBOLS:
		dat->types.symbols_at = cursor_u64(cursor);
		break;
	case DAT_OPTION_CPUS:
		nr = cursor_u32(cursor);
		if (!cursor->err && nr <= DAT_CPUS_MAX)
			cursor->file->info.nr_cpus = (int)nr;
		break;
	default:
		dat_read_option(cursor, dat, id, size);
		break;
	}
}

/* Reads a list of options. The last option is the offset of the next list; 0: there is none. */
static uint64_t get_options(struct cursor *cursor, struct dat *dat)
{
	while (!cursor->err) {
		uint16_t id = cursor_u16(cursor);
		uint32_t size = cursor_u32(cursor);
		struct cursor option = *cursor;

		if (id == DAT_OPTION_DONE)
			return cursor_u64(cursor);
		cursor_skip(cursor, size);
		if (!cursor->err)
			get_option(&option, dat, id, size);
		if (option.err)
			cursor->err = option.err;
	}
	return 0;
}

static void get_all_options(struct cursor *cursor, struct dat *dat)
{
	uint64_t at = cursor_u64(cursor), bytes = 0;

	for (int i = 0; at && i < OPTION_LISTS_MAX && !cursor->err; i++) {
		struct section section;

		cursor->at = at;
		section_open(dat, cursor, at, DAT_OPTION_DONE, &section);
		at = get_options(&section.cursor, dat);
		bytes += section.is_compressed ? 0 : section.cursor.at - cursor->at;
		cursor->err = section.cursor.err;
		section_release(&section);
		cursor_check(cursor, bytes <= cursor->file->info.size);
	}
}

static void get_all(struct cursor *cursor, struct dat *dat)
{
	char version[4], compression[TRACING_NAME_SIZE], its_version[TRACING_NAME_SIZE];

	cursor_name(cursor, version, sizeof(version));
	dat_read_machine(cursor, dat);
	cursor_name(cursor, compression, sizeof(compression));
	cursor_name(cursor, its_version, sizeof(its_version));
	if (cursor->err)
		return;
	dat->inflate = inflate_by_name(compression);
	if (!dat->inflate) {
		trace_clean_text(compression, sizeof(compression));
		trace_add_problem(cursor->file, cursor->at,
				  "compressed with \"%.32s\", which kvmtop cannot read: make "
				  "another file with trace-cmd convert --compression none",
				  compression);
		return;
	}
	get_all_options(cursor, dat);
	if (!cursor->err && dat->nr_buffers == 0)
		trace_add_problem(cursor->file, cursor->at,
				  "the header names no buffer with events: the recorder was "
				  "interrupted");
}

/* ---- buffers */

/*
 * trace-cmd writes the clock of the main buffer for every buffer, also if only another one was
 * recorded (record -B). The option has the clock of the first buffer that was recorded. Where
 * trace-cmd knows how to convert cycles, the buffer's clock is "tsc2nsec" and right.
 */
static bool has_main_clock(const struct dat *dat, const struct dat_buffer *buffer)
{
	size_t nr = 0;

	for (size_t i = 0; i < dat->nr_buffers; i++)
		nr += dat->buffers[i].nr_cpus > 0;
	return nr == 1 && buffer->name[0] && dat->strings.clock[0] &&
	       strcmp(buffer->clock, "tsc2nsec") != 0;
}

static void add_buffers(struct trace_file *file, struct dat *dat, struct cursor *cursor)
{
	for (size_t i = 0; i < dat->nr_buffers && !cursor->err; i++) {
		struct dat_buffer *buffer = &dat->buffers[i];
		struct trace_file *part = file;

		if (buffer->name[0]) {
			part = trace_add_part(file);
			part->info.instance = buffer->name;
		}
		if (buffer->clock[0])
			dat_set_clock(&part->info, buffer->clock, sizeof(buffer->clock),
				      has_main_clock(dat, buffer) ? dat->strings.clock :
								    buffer->clock);
		dat_settle_clock(&part->info, dat);
		for (size_t cpu = 0; cpu < buffer->nr_cpus && !cursor->err; cpu++) {
			if (buffer->cpus[cpu].size > 0)
				cursor_check(cursor, dat_add_cpu(part, dat, &buffer->cpus[cpu]));
		}
	}
}

char *dat7_read_symbols(struct cursor *cursor, size_t *ret_size)
{
	struct section section;
	char *text = NULL;

	section_open(cursor->file->priv, cursor, cursor->at, DAT_OPTION_SYMBOLS, &section);
	if (!section.cursor.err)
		text = tracing_read_symbols(&section.cursor, ret_size);
	section_release(&section);
	return text;
}

void dat7_open(struct trace_file *file, struct cursor *cursor)
{
	struct dat *dat = file->priv;

	get_all(cursor, dat);
	dat_forgive(cursor);
	dat_settle_clock(&file->info, dat);
	add_buffers(file, dat, cursor);
	dat_forgive(cursor);
}
