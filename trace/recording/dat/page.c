// SPDX-License-Identifier: GPL-2.0-or-later
/* Decodes the records of a page of the kernel's ring buffer. */
#include <errno.h>

#include "trace/recording/dat/dat.h"

#define WORD 4
#define TIME_SIZE 8
#define HAS_MISSED (1U << 31) /* events are missing before the page */
#define HAS_NUMBER (1U << 30) /* of lost events, after the records */
#define TIME_BITS 27
#define TIME_MASK ((1U << TIME_BITS) - 1)
#define STAMP_BITS 59

enum { TYPE_LONG = 0, TYPE_PADDING = 29, TYPE_TIME_EXTEND, TYPE_TIME_STAMP };

/* A number of the kernel's type long. */
static uint64_t read_long(const struct dat_page *page, const uint8_t *at, size_t size)
{
	return size == WORD ? bytes_u32(at, page->swap) : bytes_u64(at, page->swap);
}

/* The number is left out where the page has no room for it. */
static int64_t read_missed(const struct dat_page *page, uint32_t flags, size_t size, size_t room)
{
	uint64_t missed = 0;

	if (!(flags & HAS_MISSED))
		return 0;
	if (flags & HAS_NUMBER && room >= size)
		missed = read_long(page, page->end, size);
	return missed > 0 && missed <= INT64_MAX ? (int64_t)missed : -1;
}

bool page_begin(struct dat_page *page, const struct page_format *format, const uint8_t *bytes)
{
	size_t long_size = format->is_32bit ? 4 : 8, room = format->size - TIME_SIZE - long_size;
	uint32_t used, flags;
	uint64_t commit;

	*page = (struct dat_page){
		.swap = format->swap,
		.is_big_endian = format->swap != IS_BIG_HERE,
		.at = bytes + TIME_SIZE + long_size,
	};
	page->time = bytes_u64(bytes, page->swap);
	commit = read_long(page, bytes + TIME_SIZE, long_size);
	flags = (uint32_t)commit & (HAS_MISSED | HAS_NUMBER);
	used = (uint32_t)commit & ~flags;
	/* The kernel extends the sign of HAS_MISSED. */
	if (used > room || (commit >> 32 && commit >> 32 != UINT32_MAX))
		return false;
	page->end = page->at + used;
	page->missed = read_missed(page, flags, long_size, room - used);
	return true;
}

/* The time of a stamp without the highest bits: the first one after `before`. */
static uint64_t whole_time(uint64_t before, uint64_t stamp)
{
	uint64_t high = before >> STAMP_BITS << STAMP_BITS;

	if (!high)
		return stamp;
	stamp |= high;
	return stamp < before ? stamp + (UINT64_C(1) << STAMP_BITS) : stamp;
}

/* The size in the next word: of this word and what follows, in whole words. */
static size_t read_size(const struct dat_page *page)
{
	return ((size_t)bytes_u32(page->at, page->swap) + WORD - 1) / WORD * WORD;
}

/* Skips padding. Its time counts, but 1 means that there is none. False: it is damaged. */
static bool skip_padding(struct dat_page *page, uint32_t time)
{
	size_t left = (size_t)(page->end - page->at), size;

	if (!time) {
		page->at = page->end;
		return true;
	}
	size = left < WORD ? 0 : read_size(page);
	if (size < WORD || size > left)
		return false;
	page->time += time == 1 ? 0 : time;
	page->at += size;
	return true;
}

/* Takes a word with the higher bits of a time. False: there is none. */
static bool take_time(struct dat_page *page, uint32_t type, uint32_t time)
{
	uint64_t whole;

	if (page->end - page->at < WORD)
		return false;
	whole = (uint64_t)bytes_u32(page->at, page->swap) << TIME_BITS | time;
	page->time = type == TYPE_TIME_STAMP ? whole_time(page->time, whole) : page->time + whole;
	page->at += WORD;
	return true;
}

/* Takes an event of so many words, or with its size in front. False: it is damaged. */
static bool take_event(struct dat_page *page, uint32_t words, uint32_t time)
{
	size_t left = (size_t)(page->end - page->at), size = (size_t)words * WORD;

	page->time += time;
	if (words == TYPE_LONG) {
		if (left < WORD)
			return false;
		size = read_size(page);
		if (size < WORD)
			return false;
		page->at += WORD;
		left -= WORD;
		size -= WORD;
	}
	if (size > left)
		return false;
	page->data = page->at;
	page->size = (uint32_t)size;
	page->at += size;
	return true;
}

int page_next(struct dat_page *page)
{
	while (page->end - page->at >= WORD) {
		uint32_t head = bytes_u32(page->at, page->swap);
		uint32_t type = page->is_big_endian ? head >> TIME_BITS : head & 31;
		uint32_t time = page->is_big_endian ? head & TIME_MASK : head >> 5;
		bool is_good;

		page->at += WORD;
		if (type < TYPE_PADDING)
			return take_event(page, type, time) ? 1 : -EINVAL;
		is_good = type == TYPE_PADDING ? skip_padding(page, time) :
						 take_time(page, type, time);
		if (!is_good)
			return -EINVAL;
	}
	return page->at == page->end ? 0 : -EINVAL;
}
