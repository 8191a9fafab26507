// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * trace-cmd's trace.dat: what versions 6 and 7 share, which are the machine, options and guests.
 *
 * The file is read by our own code, not by libtracecmd. libtracecmd 1.3 crashes (SIGSEGV in
 * tracecmd_close) on a truncated file of version 6, which a full disk or a killed recorder leaves.
 * In version 7 it keeps all uncompressed data in memory, and searches all of it for every
 * page.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/text.h"
#include "trace/recording/dat/dat.h"

/* The option that names a guest, with all its threads. */
#define GUEST_BYTES_MAX (4 * DAT_THREADS_MAX + (1 << 20))

void dat_read_machine(struct cursor *cursor, struct dat *dat)
{
	dat->machine = tracing_read_machine(cursor, &dat->types);
	cursor_check(cursor, dat->machine.page_size >= DAT_PAGE_MIN &&
				     dat->machine.page_size <= DAT_PAGE_MAX);
	cursor->file->info.is_big_endian = cursor->swap != IS_BIG_HERE;
}

void dat_forgive(struct cursor *cursor)
{
	const char *text = "the header is damaged from here on";

	if (cursor->err && cursor->err != -EINVAL)
		text = strerror(-cursor->err);
	else if (cursor->at + 8 >= cursor->file->info.size)
		text = "the file ends in its header";
	if (cursor->err)
		trace_add_problem(cursor->file, cursor->at, "%s", text);
	cursor->err = 0;
}

struct dat_buffer *dat_new_buffer(struct cursor *cursor, struct dat *dat)
{
	struct dat_buffer *buffer;

	if (!cursor_check(cursor, dat->nr_buffers < DAT_BUFFERS_MAX))
		return NULL;
	buffer = array_add(dat->buffers, dat->nr_buffers, dat->buffers_room);
	*buffer = (struct dat_buffer){ .offset = 0 };
	return buffer;
}

/* ---- clocks */

void dat_set_clock(struct trace_info *info, char *buf, size_t size, const char *text)
{
	const char *begin = strchr(text, '[');
	size_t len;

	begin = begin ? begin + 1 : text;
	len = strcspn(begin, "] \n");
	if (len >= size)
		len = size - 1;
	memmove(buf, begin, len);
	buf[len] = '\0';
	trace_clean_text(buf, size);
	info->clock_name = buf;
	info->clock = trace_clock_by_name(buf);
}

void dat_settle_clock(struct trace_info *info, const struct dat *dat)
{
	if (dat->tsc.mult && info->clock == TRACE_CLOCK_CYCLES)
		info->clock = TRACE_CLOCK_NS;
}

struct dat_scale dat_scale(const struct trace_info *info, const struct dat *dat)
{
	/* USER_HZ: the clock counts hundredths of a second. */
	if (strcmp(info->clock_name, "uptime") == 0)
		return (struct dat_scale){ .mult = 10000000 };
	if (trace_clock_by_name(info->clock_name) == TRACE_CLOCK_CYCLES)
		return dat->tsc;
	return (struct dat_scale){ .mult = 0 };
}

/* ---- options */

/* text: "Linux HOST RELEASE MACHINE". */
static void set_uname(struct trace_info *info, struct dat_strings *strings, const char *text)
{
	text += strcspn(text, " ");
	for (size_t i = 0; i < 3; i++) {
		size_t len;

		text += strspn(text, " ");
		len = strcspn(text, " \n");
		if (len >= sizeof(strings->uname[i]))
			len = sizeof(strings->uname[i]) - 1;
		memcpy(strings->uname[i], text, len);
		strings->uname[i][len] = '\0';
		trace_clean_text(strings->uname[i], sizeof(strings->uname[i]));
		text += len;
	}
	info->host = strings->uname[0];
	info->release = strings->uname[1];
	info->arch = strings->uname[2];
}

/*
 * "name\0", trace_id, the number of vCPUs, then 8 bytes for each: its number and its thread.
 * kvmtop's own recordings have a list of other threads after the vCPUs.
 */
static void get_guest(struct cursor *cursor, uint32_t size)
{
	struct trace_file *file = cursor->file;
	uint64_t end = cursor->at + size;
	struct trace_guest *guest;
	char name[TRACING_NAME_SIZE];
	uint64_t trace_id;
	bool has_name;
	uint32_t nr;

	cursor_name(cursor, name, sizeof(name));
	trace_id = cursor_u64(cursor);
	nr = cursor_u32(cursor);
	if (!cursor_check(cursor, nr <= DAT_CPUS_MAX && cursor->at <= end &&
					  nr <= (end - cursor->at) / 8 &&
					  size <= GUEST_BYTES_MAX &&
					  file->nr_guests < DAT_GUESTS_MAX))
		return;
	has_name = utf8_clean(name, strlen(name), name, sizeof(name));
	guest = array_add(file->guests, file->nr_guests, file->guests_room);
	*guest = (struct trace_guest){
		.name = xstrdup(has_name ? name : "guest"),
		.trace_id = trace_id,
		.pid = trace_id > 0 && trace_id <= DAT_PID_MAX ? (int32_t)trace_id : -1,
		.tids = xcalloc(nr, sizeof(int)),
		.nr_vcpus = nr,
		.nr_others = (end - cursor->at - nr * UINT64_C(8)) / sizeof(uint32_t),
	};
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t vcpu = cursor_u32(cursor), tid = cursor_u32(cursor);

		if (vcpu < nr)
			guest->tids[vcpu] = (int)tid;
	}
	guest->others = xcalloc(guest->nr_others, sizeof(int));
	for (size_t i = 0; i < guest->nr_others; i++)
		guest->others[i] = (int)cursor_u32(cursor);
}

static void get_words(struct cursor *cursor, struct dat *dat, uint16_t id, uint32_t size)
{
	struct trace_info *info = &cursor->file->info;
	char *text = cursor_text(cursor, size, CURSOR_TEXT_MAX);

	if (!text)
		return;
	if (id == DAT_OPTION_OFFSET)
		dat->add_ns = (uint64_t)strtoll(text, NULL, 0);
	else if (id == DAT_OPTION_UNAME)
		set_uname(info, &dat->strings, text);
	else if (text[0])
		dat_set_clock(info, dat->strings.clock, sizeof(dat->strings.clock), text);
	else
		dat->has_late_clock = true;
	free(text);
}

static void get_tsc2nsec(struct cursor *cursor, struct dat *dat)
{
	uint32_t mult = cursor_u32(cursor), shift = cursor_u32(cursor);

	if (mult == 0 || shift >= 64 || cursor->err)
		return;
	dat->tsc = (struct dat_scale){ mult, shift };
	cursor->file->info.tsc_khz = (uint32_t)((UINT64_C(1000000) << (shift < 44 ? shift : 44)) /
						mult);
}

void dat_read_option(struct cursor *cursor, struct dat *dat, uint16_t id, uint32_t size)
{
	switch (id) {
	case DAT_OPTION_CLOCK:
	case DAT_OPTION_UNAME:
	case DAT_OPTION_OFFSET: /* a number of nanoseconds, as text */
		get_words(cursor, dat, id, size);
		break;
	case DAT_OPTION_TRACE_ID:
		cursor->file->info.trace_id = cursor_u64(cursor);
		break;
	case DAT_OPTION_GUEST:
		get_guest(cursor, size);
		break;
	case DAT_OPTION_TSC2NSEC:
		get_tsc2nsec(cursor, dat);
		break;
	case DAT_OPTION_TIME_SHIFT:
		dat_shift_read(&dat->to_host, cursor, size);
		cursor->file->info.host_id = dat->to_host.host_id;
		break;
	default:
		break;
	}
}

/* ---- the reader */

static bool is_kind(const struct head *head)
{
	return head->len >= TRACING_MAGIC_SIZE &&
	       memcmp(head->bytes, TRACING_MAGIC, TRACING_MAGIC_SIZE) == 0;
}

static int open_dat(struct trace_file *file, const struct head *head, struct error *error)
{
	struct cursor cursor = { .file = file, .at = TRACING_MAGIC_SIZE };
	struct dat *dat = file->priv = xcalloc(1, sizeof(*dat));

	event_types_init(&dat->types, file);
	file->info.clock_name = "local";
	if (head->len < TRACING_MAGIC_SIZE + 2 || !is_kind(head)) {
		trace_add_problem(file, head->len, "the file ends in its first line");
	} else if (memcmp(head->bytes + TRACING_MAGIC_SIZE, "6", 2) == 0) {
		file->info.version = 6;
		dat6_open(file, &cursor);
	} else if (memcmp(head->bytes + TRACING_MAGIC_SIZE, "7", 2) == 0) {
		file->info.version = 7;
		dat7_open(file, &cursor);
	} else {
		return error_set(error, -EINVAL, "%s: a trace.dat of a version other than 6 and 7",
				 file->info.path);
	}
	return 0;
}

static void close_dat(struct trace_file *file)
{
	struct dat *dat = file->priv;

	for (size_t i = 0; i < dat->nr_buffers; i++)
		free(dat->buffers[i].cpus);
	free(dat->buffers);
	dat_shift_release(&dat->to_host);
	event_types_release(&dat->types);
	free(dat);
}

static char *read_symbols(struct trace_file *file, size_t *ret_size)
{
	const struct dat *dat = file->priv;
	struct cursor cursor = { .file = file,
				 .at = dat->types.symbols_at,
				 .swap = dat->types.swap };

	if (!cursor.at)
		return NULL;
	return file->info.version == 7 ? dat7_read_symbols(&cursor, ret_size) :
					 tracing_read_symbols(&cursor, ret_size);
}

const struct trace_reader trace_dat_reader = {
	.kind = TRACE_DAT,
	.name = "trace.dat",
	.has_events = true,
	.is_kind = is_kind,
	.open = open_dat,
	.close = close_dat,
	.read_symbols = read_symbols,
};
