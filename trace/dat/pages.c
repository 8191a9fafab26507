// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the pages of the kernel's rings with libtraceevent's kbuffer. In version 7 they may be in
 * compressed chunks. Reading a CPU ends at an offset outside of the file or of the page.
 */
#include <endian.h>
#include <errno.h>
#include <kbuffer.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "trace/dat/dat.h"

#define PAGES_SIZE (64 * 1024) /* one read of a CPU; one page if a page is larger */
#define CHUNK_MAX (16 * 1024 * 1024)
#define CPU_LEAST 16 /* bytes in the file for a CPU with pages: an entry in a table */
#define SLACK 64 /* kbuffer reads the length behind a record that fills the page */

/* The pages of one CPU in one buffer. */
struct cpu_pages {
	struct trace_source source;
	struct dat *dat;
	struct kbuffer *kbuf;
	uint8_t *buf, *packed; /* packed: a compressed chunk */
	size_t room, packed_room; /* bytes that were allocated for buf and packed */
	size_t size, used; /* bytes in buf, and bytes in buf before the next page */
	uint64_t offset, end; /* in the file: the part that is not yet in buf */
	bool is_compressed, has_begun;
	uint32_t nr_chunks; /* not yet read */
	const uint8_t *page; /* the current page; NULL: none */
	int64_t missed;
	bool is_held; /* the loss was returned, the event behind it is next */
};

static uint64_t read_commit(const struct cpu_pages *pages, const uint8_t *page)
{
	const struct dat *dat = pages->dat;
	uint64_t u64;
	uint32_t u32;

	if (dat->machine.is_32bit) {
		memcpy(&u32, page + 8, sizeof(u32));
		u64 = dat->machine.is_big_endian ? be32toh(u32) : le32toh(u32);
	} else {
		memcpy(&u64, page + 8, sizeof(u64));
		u64 = dat->machine.is_big_endian ? be64toh(u64) : le64toh(u64);
	}
	return u64 & 0x7ffffff; /* as kbuffer does; the higher bits are the flags of a loss */
}

static int read_at(const struct cpu_pages *pages, void *buf, size_t size)
{
	ssize_t got;

	do
		got = pread(pages->source.file->fd, buf, size, (off_t)pages->offset);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	return (size_t)got < size ? -EINVAL : 0;
}

static uint32_t read_u32(const struct dat *dat, const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return dat->machine.is_big_endian ? be32toh(value) : le32toh(value);
}

/* Uncompresses the next chunk. */
static int fill_chunk(struct cpu_pages *pages)
{
	uint8_t sizes[8];
	uint32_t packed, size;
	int err = pages->end - pages->offset < 8 ? -EINVAL : read_at(pages, sizes, 8);

	pages->size = pages->used = 0;
	if (err)
		return err;
	packed = read_u32(pages->dat, sizes);
	size = read_u32(pages->dat, sizes + 4);
	if (packed == 0 || packed > pages->end - pages->offset - 8 || packed > CHUNK_MAX ||
	    size == 0 || size > CHUNK_MAX || size % pages->dat->machine.page_size)
		return -EINVAL;
	err = array_grow_bytes(&pages->buf, &pages->room, (size_t)size + SLACK);
	if (!err)
		err = array_grow_bytes(&pages->packed, &pages->packed_room, packed);
	if (err)
		return err;
	pages->offset += 8;
	err = read_at(pages, pages->packed, packed);
	if (!err)
		err = pages->dat->inflate(pages->packed, packed, pages->buf, size);
	if (err)
		return err;
	memset(pages->buf + size, 0, SLACK);
	pages->offset += packed;
	pages->source.file->done += packed;
	pages->nr_chunks--;
	pages->size = size;
	return 0;
}

static int begin_chunks(struct cpu_pages *pages)
{
	uint8_t nr[4];
	int err = pages->end - pages->offset < 4 ? -EINVAL : read_at(pages, nr, 4);

	if (err)
		return err;
	pages->nr_chunks = read_u32(pages->dat, nr);
	pages->has_begun = true;
	pages->offset += 4;
	return 0;
}

/* A compressed CPU ends with its last chunk. */
static int fill_compressed(struct cpu_pages *pages)
{
	int err = pages->has_begun ? 0 : begin_chunks(pages);

	if (err)
		return err;
	if (pages->nr_chunks == 0) {
		pages->end = pages->offset;
		pages->size = pages->used = 0;
		return 0;
	}
	return fill_chunk(pages);
}

static int fill(struct cpu_pages *pages)
{
	size_t page_size = pages->dat->machine.page_size;
	size_t size = page_size > PAGES_SIZE ? page_size : PAGES_SIZE / page_size * page_size;
	ssize_t got;

	if (pages->is_compressed)
		return fill_compressed(pages);
	if (size > pages->end - pages->offset)
		size = pages->end - pages->offset;
	if (size > pages->room - SLACK)
		size = pages->room - SLACK;
	do
		got = pread(pages->source.file->fd, pages->buf, size, (off_t)pages->offset);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	memset(pages->buf + got, 0, SLACK);
	pages->offset += (size_t)got;
	pages->source.file->done += (size_t)got;
	pages->size = (size_t)got;
	pages->used = 0;
	return 0;
}

/* For a compressed page: the offset of the end of its chunk. */
static uint64_t page_offset(const struct cpu_pages *pages)
{
	if (pages->is_compressed)
		return pages->offset;
	return pages->offset - pages->size + pages->used;
}

/* Ends the reading of this CPU. Returns 0. */
static int finish(struct cpu_pages *pages)
{
	pages->page = NULL;
	pages->end = pages->offset;
	pages->size = pages->used = 0;
	return 0;
}

/* The next page: 1, or 0 at the end. An end that comes too early is a problem of the file. */
static int next_page(struct cpu_pages *pages)
{
	size_t page_size = pages->dat->machine.page_size;
	struct trace_file *file = pages->source.file;
	uint64_t room = page_size - (size_t)kbuffer_start_of_data(pages->kbuf);
	int err = 0;

	pages->page = NULL;
	if (pages->used == pages->size && pages->offset < pages->end)
		err = fill(pages);
	if (err == -ENOMEM)
		return err;
	if (err)
		trace_add_problem(file, pages->offset, "CPU %d: %s", pages->source.event.cpu,
				  err == -EINVAL ? "the pages are cut or damaged" :
						   strerror(-err));
	if (err || pages->used == pages->size) {
		if (!err && pages->offset < pages->end)
			trace_add_problem(file, pages->offset, "CPU %d: %llu bytes are missing",
					  pages->source.event.cpu,
					  (unsigned long long)(pages->end - pages->offset));
		return finish(pages);
	}
	pages->page = pages->buf + pages->used;
	if (pages->size - pages->used < page_size ||
	    read_commit(pages, pages->page) > room ||
	    kbuffer_load_subbuffer(pages->kbuf, pages->buf + pages->used) != 0) {
		trace_add_problem(file, page_offset(pages), "CPU %d: a damaged page",
				  pages->source.event.cpu);
		return finish(pages);
	}
	pages->used += page_size;
	pages->missed = kbuffer_missed_events(pages->kbuf);
	return 1;
}

static uint64_t to_ns(const struct dat *dat, uint64_t time)
{
	uint64_t high = (time >> 32) * dat->mult, low = (time & UINT32_MAX) * dat->mult;

	if (!dat->mult)
		return time;
	if (dat->shift <= 32)
		return (high << (32 - dat->shift)) + (low >> dat->shift);
	return (high + (low >> 32)) >> (dat->shift - 32);
}

static uint64_t real_time(const struct cpu_pages *pages, uint64_t time)
{
	const struct dat *dat = pages->dat;

	if (dat->to_host.host_id)
		time = dat_shift_time(&dat->to_host, pages->source.event.cpu, time);
	return to_ns(dat, time) + dat->add_ns;
}

/* The record at `data`, checked to lie within the page. */
static int set_event(struct cpu_pages *pages, const uint8_t *data, uint64_t time)
{
	struct trace_event *event = &pages->source.event;
	int size = kbuffer_event_size(pages->kbuf);
	size_t page_size = pages->dat->machine.page_size;
	const uint8_t *end = pages->page + page_size;

	event->time = real_time(pages, time);
	if (data < pages->page || size < 8 || size > end - data) {
		trace_add_problem(pages->source.file,
				  page_offset(pages) - (pages->is_compressed ? 0 : page_size),
				  "CPU %d: a record of %d bytes does not fit its page",
				  event->cpu, size);
		return finish(pages);
	}
	if (pages->missed) {
		event->type = NULL;
		event->lost = pages->missed;
		pages->missed = 0;
		pages->is_held = true;
		return 1;
	}
	event->lost = 0;

	int err = event_types_set(&pages->dat->types, event, data, (uint32_t)size);

	return err ? err : 1;
}

static int next(struct trace_source *source)
{
	struct cpu_pages *pages = (struct cpu_pages *)source;
	unsigned long long time = 0;
	const uint8_t *data = NULL;

	if (pages->is_held) {
		pages->is_held = false;
		data = kbuffer_read_event(pages->kbuf, &time);
	} else if (pages->page) {
		data = kbuffer_next_event(pages->kbuf, &time);
	}
	while (!data) {
		int got = next_page(pages);

		if (got <= 0)
			return got;
		data = kbuffer_read_event(pages->kbuf, &time);
	}
	return set_event(pages, data, time);
}

static void free_pages(struct trace_source *source)
{
	struct cpu_pages *pages = (struct cpu_pages *)source;

	if (pages->kbuf)
		kbuffer_free(pages->kbuf);
	free(pages->buf);
	free(pages->packed);
	free(pages);
}

/* How many bytes of a CPU's pages are in the file, which may be cut. */
static uint64_t bytes_in(const struct trace_file *file, const struct dat_cpu *cpu)
{
	uint64_t left = cpu->offset < file->info.size ? file->info.size - cpu->offset : 0;

	return cpu->size < left ? cpu->size : left;
}

int dat_add_cpu(struct trace_file *file, struct dat *dat, const struct dat_cpu *cpu)
{
	struct cpu_pages *pages;
	size_t buf_size = dat->machine.page_size > PAGES_SIZE ? dat->machine.page_size : PAGES_SIZE;
	uint64_t bytes = bytes_in(file, cpu);

	if (cpu->offset > INT64_MAX || cpu->size > INT64_MAX - cpu->offset)
		return -EINVAL;
	/* CPUs that share bytes are damage: a small file could have millions of them. */
	dat->pages_bytes += bytes > CPU_LEAST ? bytes : CPU_LEAST;
	if (dat->pages_bytes > file->info.size)
		return -EINVAL;
	if (buf_size > bytes)
		buf_size = bytes;
	pages = calloc(1, sizeof(*pages));
	if (!pages)
		return -ENOMEM;
	source_init(&pages->source, file);
	pages->source.next = next;
	pages->source.free = free_pages;
	pages->source.event.cpu = cpu->cpu;
	pages->dat = dat;
	pages->offset = cpu->offset;
	pages->end = cpu->offset + cpu->size;
	pages->is_compressed = cpu->is_compressed;
	if (cpu->is_compressed)
		pages->end += sizeof(uint32_t); /* trace-cmd's size excludes the number of chunks */
	pages->kbuf = kbuffer_alloc(dat->machine.is_32bit ? KBUFFER_LSIZE_4 : KBUFFER_LSIZE_8,
				    dat->machine.is_big_endian ? KBUFFER_ENDIAN_BIG :
							 KBUFFER_ENDIAN_LITTLE);
	if (array_grow_bytes(&pages->buf, &pages->room, buf_size + SLACK) < 0 || !pages->kbuf) {
		free_pages(&pages->source);
		return -ENOMEM;
	}
	return trace_add_source(file->trace, &pages->source);
}

