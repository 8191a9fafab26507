// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the pages of the kernel's rings, one CPU after the other. In version 7 they may be in
 * compressed chunks. Reading a CPU ends at an offset outside of the file, or at a damaged page.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "trace/recording/dat/dat.h"

#define PAGES_SIZE (64 * 1024) /* one read of a CPU; one page if a page is larger */
#define CHUNK_MAX (16 * 1024 * 1024)
#define CPU_LEAST 16 /* bytes in the file for a CPU with pages: an entry in a table */
#define RECORD_LEAST 8 /* bytes of the fields that every event has */
/*
 * The memory for the chunks of all CPUs: so many bytes, and so many for each byte of the file. A
 * chunk of zeroes is a thousandth of its size.
 */
#define CHUNKS_LEAST (16 * 1024 * 1024)
#define CHUNKS_RATIO 32

/* The pages of one CPU in one buffer. */
struct cpu_pages {
	struct trace_source source;
	struct dat *dat;
	struct page_format format;
	struct dat_scale scale;
	uint8_t *buf, *packed; /* packed: a compressed chunk */
	size_t room, packed_room; /* bytes that were allocated for buf and packed */
	size_t size, used; /* bytes in buf, and bytes in buf before the next page */
	uint64_t offset, end; /* in the file: the part that is not yet in buf */
	bool is_compressed, has_begun;
	uint32_t nr_chunks; /* not yet read */
	struct dat_page page; /* the current page */
	bool is_held; /* the loss was returned, the event after it is next */
};

/* Makes room for a chunk, unless the file claims too much. */
static int grow_chunk(struct cpu_pages *pages, size_t size)
{
	struct dat *dat = pages->dat;
	uint64_t most = CHUNKS_LEAST + CHUNKS_RATIO * pages->source.file->info.size;
	size_t before = pages->room;

	if (size > before && dat->chunks_bytes + (size - before) > most)
		return -EFBIG;
	array_grow_unset(&pages->buf, &pages->room, size);
	dat->chunks_bytes += pages->room - before;
	return 0;
}

static struct cursor cursor_at(const struct cpu_pages *pages)
{
	return (struct cursor){ .file = pages->source.file, .at = pages->offset,
				.swap = pages->dat->types.swap };
}

/* Uncompresses the next chunk. */
static int fill_chunk(struct cpu_pages *pages)
{
	struct cursor cursor = cursor_at(pages);
	uint32_t packed = cursor_u32(&cursor), size = cursor_u32(&cursor);
	int err;

	pages->size = pages->used = 0;
	/* What was read is in the file, and so are the bytes before. */
	if (!cursor_check(&cursor, cursor.at <= pages->end && packed > 0 &&
					   packed <= pages->end - cursor.at &&
					   packed <= cursor_end(&cursor) - cursor.at &&
					   packed <= CHUNK_MAX && size > 0 && size <= CHUNK_MAX &&
					   size % pages->format.size == 0))
		return cursor.err;
	err = grow_chunk(pages, size);
	if (err)
		return err;
	array_grow_unset(&pages->packed, &pages->packed_room, packed);
	pages->offset = cursor.at;
	cursor_get(&cursor, pages->packed, packed);
	if (!cursor.err)
		cursor_check(&cursor,
			     pages->dat->inflate(pages->packed, packed, pages->buf, size));
	if (cursor.err)
		return cursor.err;
	pages->offset = cursor.at;
	pages->source.file->done += packed;
	pages->nr_chunks--;
	pages->size = size;
	return 0;
}

/* A compressed CPU begins with the number of its chunks, and ends with the last of them. */
static int fill_compressed(struct cpu_pages *pages)
{
	if (!pages->has_begun) {
		struct cursor cursor = cursor_at(pages);

		pages->nr_chunks = cursor_u32(&cursor);
		if (!cursor_check(&cursor, cursor.at <= pages->end))
			return cursor.err;
		pages->has_begun = true;
		pages->offset = cursor.at;
	}
	if (pages->nr_chunks > 0)
		return fill_chunk(pages);
	pages->end = pages->offset;
	pages->size = pages->used = 0;
	return 0;
}

/* Reads more pages into buf. 0, -EINVAL: what is there is cut or damaged, or another -errno. */
static int fill_buffer(struct cpu_pages *pages)
{
	size_t page_size = pages->format.size;
	size_t size = page_size > PAGES_SIZE ? page_size : PAGES_SIZE / page_size * page_size;
	ssize_t got;

	if (pages->is_compressed)
		return fill_compressed(pages);
	if (size > pages->end - pages->offset)
		size = pages->end - pages->offset;
	if (size > pages->room)
		size = pages->room;
	got = bytes_read(pages->source.file, pages->buf, size, pages->offset);
	if (got < 0)
		return (int)got;
	pages->offset += (size_t)got;
	pages->source.file->done += (size_t)got;
	pages->size = (size_t)got;
	pages->used = 0;
	return 0;
}

/* Where the current page is in the file; if it is compressed, where its chunk ends. */
static uint64_t page_offset(const struct cpu_pages *pages)
{
	if (pages->is_compressed)
		return pages->offset;
	return pages->offset - pages->size + pages->used - pages->format.size;
}

/* Ends the reading of this CPU, and gives its memory back. Returns false. */
static bool finish(struct cpu_pages *pages)
{
	if (pages->is_compressed)
		pages->dat->chunks_bytes -= pages->room;
	free(pages->buf);
	free(pages->packed);
	pages->buf = pages->packed = NULL;
	pages->room = pages->packed_room = 0;
	pages->page = (struct dat_page){ .at = NULL };
	pages->end = pages->offset;
	pages->size = pages->used = 0;
	return false;
}

static bool damaged(struct cpu_pages *pages, const char *what)
{
	trace_add_problem(pages->source.file, page_offset(pages), "CPU %d: a damaged %s",
			  pages->source.event.cpu, what);
	return finish(pages);
}

/* Numbers of missing events; -1: some, and how many is not known. */
static int64_t add_missed(int64_t a, int64_t b)
{
	int64_t sum;

	return a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum) ? -1 : sum;
}

/* The next page. False: at the end; one that comes too early is a problem of the file. */
static bool next_page(struct cpu_pages *pages)
{
	struct trace_file *file = pages->source.file;
	int64_t missed = pages->page.missed;
	size_t left;
	int err = 0;

	if (pages->used == pages->size && pages->offset < pages->end)
		err = fill_buffer(pages);
	if (err)
		trace_add_problem(file, pages->offset, "CPU %d: %s", pages->source.event.cpu,
				  err == -EINVAL ? "the pages are cut or damaged" :
				  err == -EFBIG	 ? "a chunk claims too much for such a small file" :
						   strerror(-err));
	else if (pages->used == pages->size && pages->offset < pages->end)
		trace_add_problem(file, pages->offset, "CPU %d: %" PRIu64 " bytes are missing",
				  pages->source.event.cpu, pages->end - pages->offset);
	if (err || pages->used == pages->size)
		return finish(pages);
	left = pages->size - pages->used;
	pages->used += pages->format.size;
	if (left < pages->format.size ||
	    !page_begin(&pages->page, &pages->format,
			pages->buf + pages->used - pages->format.size))
		return damaged(pages, "page");
	/* What is missing before an empty page is missing before the next event. */
	pages->page.missed = add_missed(missed, pages->page.missed);
	return true;
}

static uint64_t to_ns(const struct dat_scale *scale, uint64_t time)
{
	uint64_t high = (time >> 32) * scale->mult, low = (time & UINT32_MAX) * scale->mult;

	if (!scale->mult)
		return time;
	if (scale->shift <= 32)
		return (high << (32 - scale->shift)) + (low >> scale->shift);
	return (high + (low >> 32)) >> (scale->shift - 32);
}

static uint64_t real_time(const struct cpu_pages *pages, uint64_t time)
{
	const struct dat *dat = pages->dat;

	if (dat->to_host.host_id)
		time = dat_shift_time(&dat->to_host, pages->source.event.cpu, time);
	return to_ns(&pages->scale, time) + dat->add_ns;
}

/* Gives the page's current event, and before it what is missing. */
static bool give(struct cpu_pages *pages)
{
	struct trace_event *event = &pages->source.event;
	struct dat_page *page = &pages->page;

	event->time = real_time(pages, page->time);
	event->lost = page->missed;
	pages->is_held = page->missed;
	page->missed = 0;
	if (pages->is_held)
		event->type = NULL;
	else
		event_types_set(&pages->dat->types, event, page->data, page->size);
	return true;
}

static bool next_of_pages(struct trace_source *source)
{
	struct cpu_pages *pages = (struct cpu_pages *)source;
	int got;

	if (pages->is_held)
		return give(pages);
	/* The names of the clocks are known when all of the header was read. */
	if (!pages->size)
		pages->scale = dat_scale(&source->file->info, pages->dat);
	while ((got = page_next(&pages->page)) == 0) {
		if (!next_page(pages))
			return false;
	}
	if (got < 0 || pages->page.size < RECORD_LEAST)
		return damaged(pages, "record");
	return give(pages);
}

static void free_pages(struct trace_source *source)
{
	struct cpu_pages *pages = (struct cpu_pages *)source;

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

bool dat_add_cpu(struct trace_file *file, struct dat *dat, const struct dat_cpu *cpu)
{
	uint32_t page_size = cpu->page_size ? cpu->page_size : dat->machine.page_size;
	size_t buf_size = page_size > PAGES_SIZE ? page_size : PAGES_SIZE;
	uint64_t bytes = bytes_in(file, cpu);
	struct cpu_pages *pages;

	if (cpu->offset > INT64_MAX || cpu->size > INT64_MAX - cpu->offset)
		return false;
	/* CPUs that share bytes are damage: a small file could have millions of them. */
	dat->pages_bytes += bytes > CPU_LEAST ? bytes : CPU_LEAST;
	if (dat->pages_bytes > file->info.size || ++dat->nr_sources > DAT_SOURCES_MAX)
		return false;
	pages = trace_add_source(file, sizeof(*pages), next_of_pages, free_pages);
	pages->source.event.cpu = cpu->cpu;
	pages->dat = dat;
	pages->format = (struct page_format){ page_size, dat->machine.is_32bit, dat->types.swap };
	pages->offset = cpu->offset;
	pages->end = cpu->offset + cpu->size;
	pages->is_compressed = cpu->is_compressed;
	if (cpu->is_compressed)
		pages->end += sizeof(uint32_t); /* trace-cmd's size excludes the number of chunks */
	else
		array_grow_unset(&pages->buf, &pages->room, buf_size < bytes ? buf_size : bytes);
	return true;
}
