// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The header of a trace.dat of version 6.
 *
 * Source: man 5 trace-cmd.dat.v6. The header is a list of texts with their sizes, then options,
 * then offset and size of each CPU's pages. A buffer (instance) is an option with the offset of
 * another list of options and pages.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/recording/dat/dat.h"

static int get_buffer(struct cursor *cursor, struct dat *dat)
{
	struct dat_buffer *buffer = dat_new_buffer(dat);
	int err = buffer ? cursor_u64(cursor, &buffer->offset) : -ENOMEM;

	if (!err)
		err = cursor_name(cursor, buffer->name, sizeof(buffer->name));
	if (!err)
		trace_clean_text(buffer->name, sizeof(buffer->name));
	else
		dat->nr_buffers -= buffer != NULL;
	return err;
}

/* Each option has a size, so unknown options are skipped. dat NULL: all options are skipped. */
static int get_options(struct cursor *cursor, struct dat *dat)
{
	for (;;) {
		uint16_t id;
		uint32_t size;
		uint64_t begin;
		int err = cursor_u16(cursor, &id);

		if (err || id == DAT_OPTION_DONE)
			return err;
		err = cursor_u32(cursor, &size);
		begin = cursor->at;
		if (!err)
			err = cursor_skip(cursor, size);
		if (err)
			return err;
		cursor->at = begin;
		if (dat)
			err = id == DAT_OPTION_BUFFER ? get_buffer(cursor, dat) :
							dat_read_option(cursor, dat, id, size);
		if (err && err != -EINVAL)
			return err;
		cursor->at = begin + size;
	}
}

/* The clock's name, after the table of CPUs. A damaged one is ignored. */
static void get_late_clock(struct cursor *cursor, struct dat *dat)
{
	uint64_t size;
	char *text;

	if (cursor_u64(cursor, &size) < 0 || size == 0 || size > TRACING_NAME_SIZE ||
	    cursor_text(cursor, size, &text) < 0)
		return;
	dat_set_clock(&cursor->file->info, dat->strings.clock, sizeof(dat->strings.clock), text);
	free(text);
}

/* Offset and size of each CPU's pages; more options may come before. */
static int get_cpus(struct cursor *cursor, struct dat *dat, bool has_dat)
{
	char what[10];
	int err = cursor_get(cursor, what, sizeof(what));

	if (!err && memcmp(what, "options  ", sizeof(what)) == 0) {
		err = get_options(cursor, has_dat ? dat : NULL);
		if (!err)
			err = cursor_get(cursor, what, sizeof(what));
	}
	if (err || memcmp(what, "flyrecord", sizeof(what)) != 0)
		return err ? err : -EINVAL;
	for (int cpu = 0; cpu < cursor->file->info.nr_cpus && !err; cpu++) {
		struct dat_cpu pages = { .cpu = cpu };

		err = cursor_u64(cursor, &pages.offset);
		if (!err)
			err = cursor_u64(cursor, &pages.size);
		if (!err && pages.size > 0)
			err = dat_add_cpu(cursor->file, dat, &pages);
	}
	if (!err && has_dat && dat->has_late_clock)
		get_late_clock(cursor, dat);
	return err;
}

static int get_nr_cpus(struct cursor *cursor)
{
	uint32_t nr;
	int err = cursor_u32(cursor, &nr);

	if (err || nr > DAT_CPUS_MAX)
		return err ? err : -EINVAL;
	cursor->file->info.nr_cpus = (int)nr;
	return 0;
}

static int get_all(struct cursor *cursor, struct dat *dat)
{
	char version[4];
	int err = cursor_name(cursor, version, sizeof(version));

	if (!err)
		err = dat_read_machine(cursor, dat);
	if (!err)
		err = tracing_read_formats(cursor, &dat->types, true);
	if (!err)
		err = get_nr_cpus(cursor);
	return err ? err : get_cpus(cursor, dat, true);
}

int dat6_open(struct trace_file *file, const struct cursor *from)
{
	struct cursor cursor = *from;
	struct dat *dat = file->priv;
	int err = dat_forgive(&cursor, get_all(&cursor, dat));

	dat_settle_clock(&file->info, dat);
	for (size_t i = 0; i < dat->nr_buffers && !err; i++) {
		cursor.at = dat->buffers[i].offset;
		cursor.file = trace_add_part(file);
		if (!cursor.file)
			return -ENOMEM;
		cursor.file->info.instance = dat->buffers[i].name;
		err = dat_forgive(&cursor, get_cpus(&cursor, dat, false));
	}
	return err;
}
