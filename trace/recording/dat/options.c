// SPDX-License-Identifier: GPL-2.0-or-later
/* The parts of trace.dat that versions 6 and 7 share: the machine, options, guests, closing. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/text.h"
#include "trace/recording/dat/dat.h"

int dat_read_machine(struct cursor *cursor, struct dat *dat)
{
	int err = tracing_read_machine(cursor, &dat->types, &dat->machine);

	if (err)
		return err;
	if (dat->machine.page_size < DAT_PAGE_MIN || dat->machine.page_size > DAT_PAGE_MAX)
		return -EINVAL;
	cursor->file->info.is_big_endian = dat->machine.is_big_endian;
	return 0;
}

/* ---- options */

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

/* kvmtop's own recordings have a list of other threads after the vCPUs. */
static int get_others(struct cursor *cursor, struct dat_guest *guest, uint64_t end)
{
	uint64_t nr = cursor->at < end ? (end - cursor->at) / sizeof(uint32_t) : 0;
	int err = 0;

	if (nr == 0)
		return 0;
	guest->others = calloc(nr, sizeof(*guest->others));
	if (!guest->others)
		return -ENOMEM;
	while (!err && guest->nr_others < nr) {
		uint32_t tid = 0;

		err = cursor_u32(cursor, &tid);
		guest->others[guest->nr_others++] = (int)tid;
	}
	return err;
}

/* "name\0", trace_id, the number of vCPUs, then 8 bytes for each: its number and its thread. */
static int get_guest(struct cursor *cursor, struct dat *dat, uint32_t size)
{
	struct dat_guest guest = { .name = NULL };
	uint64_t end = cursor->at + size;
	char name[TRACING_NAME_SIZE];
	uint32_t nr = 0;
	int err = cursor_name(cursor, name, sizeof(name));

	if (!err)
		err = cursor_u64(cursor, &guest.trace_id);
	if (!err)
		err = cursor_u32(cursor, &nr);
	if (err || nr > DAT_CPUS_MAX || cursor->at > end || nr > (end - cursor->at) / 8)
		return err ? err : -EINVAL;
	array_grow(&dat->guests, &dat->guests_room, dat->nr_guests + 1);
	if (!utf8_clean(name, strlen(name), name, sizeof(name)))
		snprintf(name, sizeof(name), "guest");
	guest.name = strdup(name);
	guest.tids = calloc(nr + 1, sizeof(int));
	guest.nr_vcpus = nr;
	dat->guests[dat->nr_guests++] = guest;
	if (!guest.name || !guest.tids)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr && !err; i++) {
		uint32_t vcpu = 0, tid = 0;

		err = cursor_u32(cursor, &vcpu);
		if (!err)
			err = cursor_u32(cursor, &tid);
		if (!err && vcpu < nr)
			guest.tids[vcpu] = (int)tid;
	}
	return err ? err : get_others(cursor, &dat->guests[dat->nr_guests - 1], end);
}

static int get_words(struct cursor *cursor, struct dat *dat, uint16_t id, uint32_t size)
{
	struct trace_info *info = &cursor->file->info;
	char *text;
	int err = cursor_text(cursor, size, &text);

	if (err)
		return err;
	if (id == DAT_OPTION_CLOCK && text[0])
		dat_set_clock(info, dat->strings.clock, sizeof(dat->strings.clock), text);
	else if (id == DAT_OPTION_CLOCK)
		dat->has_late_clock = true;
	else
		set_uname(info, &dat->strings, text);
	free(text);
	return 0;
}

static int get_tsc2nsec(struct cursor *cursor, struct dat *dat)
{
	uint32_t mult = 0, shift = 0;
	int err = cursor_u32(cursor, &mult);

	if (!err)
		err = cursor_u32(cursor, &shift);
	if (err || mult == 0 || shift >= 64)
		return err;
	dat->tsc = (struct dat_scale){ mult, shift };
	cursor->file->info.tsc_khz = (uint32_t)((UINT64_C(1000000) << (shift < 44 ? shift : 44)) /
						mult);
	return 0;
}

static int get_shift(struct cursor *cursor, struct dat *dat, uint32_t size)
{
	int err = dat_shift_read(&dat->to_host, cursor, size);

	cursor->file->info.host_id = dat->to_host.host_id;
	return err;
}

/* A number of nanoseconds, as text. */
static int get_offset(struct cursor *cursor, struct dat *dat, uint32_t size)
{
	char *text;
	int err = cursor_text(cursor, size, &text);

	if (err)
		return err;
	dat->add_ns = (uint64_t)strtoll(text, NULL, 0);
	free(text);
	return 0;
}

int dat_read_option(struct cursor *cursor, struct dat *dat, uint16_t id, uint32_t size)
{
	switch (id) {
	case DAT_OPTION_CLOCK:
	case DAT_OPTION_UNAME:
		return get_words(cursor, dat, id, size);
	case DAT_OPTION_TRACE_ID:
		return cursor_u64(cursor, &cursor->file->info.trace_id);
	case DAT_OPTION_GUEST:
		return get_guest(cursor, dat, size);
	case DAT_OPTION_TSC2NSEC:
		return get_tsc2nsec(cursor, dat);
	case DAT_OPTION_TIME_SHIFT:
		return get_shift(cursor, dat, size);
	case DAT_OPTION_OFFSET:
		return get_offset(cursor, dat, size);
	default:
		return 0;
	}
}

struct dat_buffer *dat_new_buffer(struct dat *dat)
{
	array_grow(&dat->buffers, &dat->buffers_room, dat->nr_buffers + 1);
	dat->buffers[dat->nr_buffers] = (struct dat_buffer){ .offset = 0 };
	return &dat->buffers[dat->nr_buffers++];
}

int dat_forgive(const struct cursor *cursor, int err)
{
	if (err != -EINVAL)
		return err;
	trace_add_problem(cursor->file, cursor->at, "%s",
			  cursor->at + 8 >= cursor->file->info.size ?
				  "the file ends in its header" :
				  "the header is damaged from here on");
	return 0;
}

/* ---- for the table of readers */

void dat_close(struct trace_file *file)
{
	struct dat *dat = file->priv;

	if (!dat)
		return;
	for (size_t i = 0; i < dat->nr_guests; i++) {
		free(dat->guests[i].name);
		free(dat->guests[i].tids);
		free(dat->guests[i].others);
	}
	free(dat->guests);
	for (size_t i = 0; i < dat->nr_buffers; i++)
		free(dat->buffers[i].cpus);
	free(dat->buffers);
	dat_shift_release(&dat->to_host);
	event_types_release(&dat->types);
	free(dat);
}

const char *dat_comm(const struct trace_event *event, const struct trace_file *file)
{
	const struct dat *dat = file->priv;

	return comms_get(&dat->types.comms, event->tid);
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

bool dat_guest(const struct trace_file *file, size_t i, struct trace_guest *ret_guest)
{
	const struct dat *dat = file->priv;
	const struct dat_guest *guest = dat && i < dat->nr_guests ? &dat->guests[i] : NULL;

	if (!guest)
		return false;
	*ret_guest = (struct trace_guest){ guest->name,	    guest->trace_id, -1,
					   guest->tids,	    guest->nr_vcpus, guest->others,
					   guest->nr_others };
	if (guest->trace_id > 0 && guest->trace_id <= DAT_PID_MAX)
		ret_guest->pid = (int32_t)guest->trace_id;
	return true;
}
