// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The header of a trace.dat of version 6.
 *
 * Source: man 5 trace-cmd.dat.v6. The header is a list of texts with their sizes, then options,
 * then offset and size of each CPU's pages. A buffer (instance) is an option with the offset of
 * another list of options and pages.
 */
#include <stdlib.h>
#include <string.h>

#include "trace/recording/dat/dat.h"

static void get_buffer(struct cursor *cursor, struct dat *dat)
{
	struct dat_buffer *buffer = dat_new_buffer(cursor, dat);

	if (!buffer)
		return;
	buffer->offset = cursor_u64(cursor);
	cursor_name(cursor, buffer->name, sizeof(buffer->name));
	trace_clean_text(buffer->name, sizeof(buffer->name));
	if (cursor->err)
		dat->nr_buffers--;
}

/*
 * Each option has a size, so unknown options are skipped, and damage within one does not matter for
 * the next. dat NULL: all options are skipped.
 */
static void get_options(struct cursor *cursor, struct dat *dat)
{
	uint16_t id;

	while ((id = cursor_u16(cursor)) != DAT_OPTION_DONE) {
		uint32_t size = cursor_u32(cursor);
		struct cursor option = *cursor;

		cursor_skip(cursor, size);
		if (cursor->err || !dat)
			continue;
		if (id == DAT_OPTION_BUFFER)
			get_buffer(&option, dat);
		else
			dat_read_option(&option, dat, id, size);
	}
}

/* The clock's name, after the table of CPUs. A damaged one is ignored. */
static void get_late_clock(struct cursor cursor, struct dat *dat)
{
	uint64_t size = cursor_u64(&cursor);
	char *text = size ? cursor_text(&cursor, size, TRACING_NAME_SIZE) : NULL;

	if (text)
		dat_set_clock(&cursor.file->info, dat->strings.clock, sizeof(dat->strings.clock),
			      text);
	free(text);
}

/* Offset and size of each CPU's pages; more options may come before. */
static void get_cpus(struct cursor *cursor, struct dat *dat, bool has_dat)
{
	char what[10];

	cursor_get(cursor, what, sizeof(what));
	if (memcmp(what, "options  ", sizeof(what)) == 0) {
		get_options(cursor, has_dat ? dat : NULL);
		cursor_get(cursor, what, sizeof(what));
	}
	cursor_check(cursor, memcmp(what, "flyrecord", sizeof(what)) == 0);
	for (int cpu = 0; cpu < cursor->file->info.nr_cpus && !cursor->err; cpu++) {
		struct dat_cpu pages = { .cpu = cpu };

		pages.offset = cursor_u64(cursor);
		pages.size = cursor_u64(cursor);
		if (!cursor->err && pages.size > 0)
			cursor_check(cursor, dat_add_cpu(cursor->file, dat, &pages));
	}
	if (!cursor->err && has_dat && dat->has_late_clock)
		get_late_clock(*cursor, dat);
}

void dat6_open(struct trace_file *file, struct cursor *cursor)
{
	struct dat *dat = file->priv;
	uint64_t lists_bytes = 0; /* of options and tables of CPUs */
	char version[4];
	uint32_t nr_cpus;

	cursor_name(cursor, version, sizeof(version));
	dat_read_machine(cursor, dat);
	tracing_read_formats(cursor, &dat->types, true);
	nr_cpus = cursor_u32(cursor);
	if (cursor_check(cursor, nr_cpus <= DAT_CPUS_MAX)) {
		file->info.nr_cpus = (int)nr_cpus;
		get_cpus(cursor, dat, true);
	}
	dat_forgive(cursor);
	dat_settle_clock(&file->info, dat);
	/* Buffers that share their lists are damage: a small file could have thousands of them. */
	for (size_t i = 0; i < dat->nr_buffers && lists_bytes <= file->info.size; i++) {
		cursor->at = dat->buffers[i].offset;
		cursor->file = trace_add_part(file);
		cursor->file->info.instance = dat->buffers[i].name;
		get_cpus(cursor, dat, false);
		lists_bytes += cursor->at - dat->buffers[i].offset;
		cursor_check(cursor, lists_bytes <= file->info.size);
		dat_forgive(cursor);
	}
}
