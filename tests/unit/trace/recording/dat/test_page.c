/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_page - pages of every shape that the kernel's ring buffer may have, and of some that it may
 * not. What is read is compared event by event with what was written.
 */
#include <errno.h>
#include <zlib.h>

#include "tests/unit/unit.h"
#include "tests/worlds/trace_file.h"
#include "trace/recording/dat/dat.h"

#define NR_PAGES (NR_FIRST * NR_LAST * NR_MISSED) /* of a recording: of each shape one */

/* The first record of a page. */
enum first { FIRST_SMALL, FIRST_LONG, FIRST_DISCARDED, FIRST_EXTEND, FIRST_STAMP, NR_FIRST };

/* How a page ends. */
enum last { LAST_ROOM, LAST_EVENT, LAST_PADDING, LAST_NO_TIME, NR_LAST };

/* Whether events are missing before a page. */
enum missed { MISSED_NONE, MISSED_SOME, MISSED_NUMBER, NR_MISSED };

/* What is to be read. */
struct written {
	uint64_t time;
	uint32_t size, tid; /* tid: counts the events */
	int64_t lost;	    /* not 0: a loss, of which only this and time are set */
};

struct writer {
	struct bytes bytes;
	size_t page; /* where the current page begins */
	uint64_t time;
	struct written *list;
	size_t nr, room;
	uint32_t nr_events, random;
	int64_t lost; /* before the next event */
};

static size_t head_size(void)
{
	return 8U + world_long_size;
}

/* A number below `below`. */
static uint32_t any(struct writer *w, uint32_t below)
{
	w->random = w->random * 1664525 + 1013904223;
	return (w->random >> 8) % below;
}

static size_t left(const struct writer *w)
{
	return w->page + world_page_size - w->bytes.len;
}

static void expect(struct writer *w, const struct written *written)
{
	if (w->nr == w->room) {
		w->room = 2 * w->room + 64;
		w->list = realloc(w->list, w->room * sizeof(*w->list));
		assert_non_null(w->list);
	}
	w->list[w->nr++] = *written;
}

static void put_word(struct writer *w, uint32_t type, uint32_t time)
{
	bool is_big = (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != (w->bytes.swap != 0);

	put_u32(&w->bytes, is_big ? type << 27 | time : type | time << 5);
}

/* The bytes of an event, after its first words: its number in the recording, then anything. */
static void put_event(struct writer *w, uint32_t size)
{
	size_t begin = w->bytes.len;

	if (w->lost)
		expect(w, &(struct written){ .time = w->time, .lost = w->lost });
	w->lost = 0;
	expect(w, &(struct written){ w->time, size, w->nr_events, 0 });
	put_common(&w->bytes, ID_ENTRY, w->nr_events++);
	while (w->bytes.len < begin + size)
		put_u32(&w->bytes, any(w, UINT32_MAX));
}

static void put_small(struct writer *w, uint32_t size, uint32_t delta)
{
	w->time += delta;
	put_word(w, size / 4, delta);
	put_event(w, size);
}

static void put_long(struct writer *w, uint32_t size, uint32_t delta)
{
	w->time += delta;
	put_word(w, 0, delta);
	put_u32(&w->bytes, size + 4);
	put_event(w, size);
}

/* An event that the kernel took back: its time counts, but 1 stands for 0. */
static void put_discarded(struct writer *w, uint32_t size, uint32_t delta)
{
	w->time += delta;
	put_word(w, 29, delta ? delta : 1);
	put_u32(&w->bytes, size);
	put(&w->bytes, NULL, size - 4);
}

static void put_extend(struct writer *w, uint64_t delta)
{
	w->time += delta;
	put_word(w, 30, delta & 0x7ffffff);
	put_u32(&w->bytes, (uint32_t)(delta >> 27));
	put_small(w, 12, 0);
}

/* The time itself, without its highest five bits. */
static void put_stamp(struct writer *w, uint64_t delta)
{
	w->time += delta;
	put_word(w, 31, w->time & 0x7ffffff);
	put_u32(&w->bytes, (uint32_t)(w->time >> 27));
	put_small(w, 12, 0);
}

static void put_any(struct writer *w, enum first what)
{
	switch (what) {
	case FIRST_SMALL:
		put_small(w, 8 + 4 * any(w, 27), any(w, 1 << 20));
		break;
	case FIRST_LONG:
		put_long(w, any(w, 4) ? 116 + 4 * any(w, 40) : 8, any(w, 1 << 20));
		break;
	case FIRST_DISCARDED:
		put_discarded(w, 4 + 4 * any(w, 40), any(w, 3) ? 2 + any(w, 1 << 20) : 0);
		break;
	case FIRST_EXTEND:
		put_extend(w, any(w, 2) ? UINT64_C(1) << (27 + any(w, 13)) : any(w, 100));
		break;
	default:
		put_stamp(w, any(w, 1 << 20));
		break;
	}
}

/* Says how much of the page is in use, and what is missing before it; fills it up. */
static void end_page(struct writer *w, enum missed missed, int64_t lost)
{
	uint64_t used = w->bytes.len - w->page - head_size();
	size_t at = w->page + 8;
	uint32_t half;

	if (missed != MISSED_NONE)
		used += (uint64_t)INT64_MIN >> 32; /* the kernel extends the sign */
	if (lost > 0) {
		used |= 1U << 30;
		if (world_long_size == 4)
			put_u32(&w->bytes, (uint32_t)lost);
		else
			put_u64(&w->bytes, (uint64_t)lost);
	}
	half = w->bytes.swap ? __builtin_bswap32((uint32_t)used) : (uint32_t)used;
	if (world_long_size == 4)
		memcpy(w->bytes.data + at, &half, sizeof(half));
	else
		set_u64(&w->bytes, at, used);
	put(&w->bytes, NULL, left(w));
}

/* Fills the page with anything, and ends it as it is to end. */
static void fill_page(struct writer *w, enum last last)
{
	size_t room = last == LAST_ROOM ? 64 + any(w, world_page_size / 2) : 0;

	while (left(w) > 360 + room)
		put_any(w, any(w, NR_FIRST));
	/* An event of 12 to 112 bytes, its word in front, fills the rest. */
	while (last == LAST_EVENT && left(w) > 116)
		put_small(w, 12, 7);
	if (last == LAST_EVENT)
		put_small(w, (uint32_t)left(w) - 4, 3);
	if (last == LAST_PADDING) {
		put_word(w, 29, 1);
		put_u32(&w->bytes, (uint32_t)left(w));
		put(&w->bytes, NULL, left(w));
	}
	if (last == LAST_NO_TIME) {
		put_word(w, 29, 0);
		while (left(w))
			put_u32(&w->bytes, any(w, UINT32_MAX));
	}
}

static void put_page(struct writer *w, enum first first, enum last last, enum missed missed)
{
	int64_t lost = 0;

	if (missed == MISSED_NUMBER && last == LAST_ROOM)
		lost = 1 + any(w, 1000); /* a full page has no room for the number */
	w->page = w->bytes.len;
	w->time += any(w, 1 << 20);
	put_u64(&w->bytes, w->time);
	put(&w->bytes, NULL, world_long_size);
	if (missed != MISSED_NONE && w->lost >= 0)
		w->lost = lost ? w->lost + lost : -1;
	put_any(w, first);
	fill_page(w, last);
	end_page(w, missed, lost);
}

static void put_empty_page(struct writer *w)
{
	w->page = w->bytes.len;
	put_u64(&w->bytes, w->time);
	put(&w->bytes, NULL, world_long_size);
	end_page(w, MISSED_NONE, 0);
}

/* Pages of all shapes, from a time on. */
static void put_pages(struct writer *w, uint64_t time)
{
	w->time = time;
	for (unsigned int i = 0; i < NR_PAGES; i++) {
		put_page(w, i % NR_FIRST, i / NR_FIRST % NR_LAST,
			 i / NR_FIRST / NR_LAST % NR_MISSED);
		if (i % 16 == 15)
			put_empty_page(w);
	}
}

static void check_events(const struct writer *w)
{
	const struct trace_event *event;
	struct trace *trace = open_it();

	for (size_t i = 0; i < w->nr; i++) {
		const struct written *written = &w->list[i];

		assert_int_equal(trace_next(trace, &event), 1);
		assert_int_equal(event->time, written->time);
		assert_int_equal(event->lost, written->lost);
		if (written->lost)
			continue;
		assert_int_equal(event->tid, written->tid);
		assert_int_equal(event->size, written->size);
	}
	assert_int_equal(trace_next(trace, &event), 0);
	assert_null(trace_problem(trace, 0));
	trace_close(trace);
}

static size_t deflate_zlib(const struct bytes *from, uint8_t *to, size_t room)
{
	uLongf len = room;

	return compress(to, &len, from->data, from->len) == Z_OK ? len : 0;
}

/* Of version 6, of version 7, and of version 7 with compressed pages. */
static void save_version(const struct writer *w, int kind)
{
	struct bytes file = { .swap = w->bytes.swap };
	struct made_ring ring;

	ring_init(&ring, w->bytes.swap);
	put(&ring.bytes, w->bytes.data, w->bytes.len);
	if (kind == 0)
		put_dat6(&file, &ring, 1, world_formats, NR_WORLD_FORMATS, "[local]");
	else if (kind == 1)
		put_dat7(&file, &ring, 1, "none", NULL);
	else
		put_dat7(&file, &ring, 1, "zlib", deflate_zlib);
	save(path, file.data, file.len);
	bytes_release(&file);
}

/* On one kind of machine. The second time needs more than 59 bits, and soon one bit more. */
static void check_machine(uint32_t page_size, uint8_t long_size, int swap)
{
	static const uint64_t times[] = { 1000, (UINT64_C(23) << 59) - 3000000000 };

	world_page_size = page_size;
	world_long_size = long_size;
	for (size_t i = 0; i < 2; i++) {
		struct writer w = { .bytes = { .swap = swap }, .random = page_size + i };

		put_pages(&w, times[i]);
		for (int kind = 0; kind < 3; kind++) {
			save_version(&w, kind);
			check_events(&w);
		}
		bytes_release(&w.bytes);
		free(w.list);
	}
	world_page_size = WORLD_PAGE;
	world_long_size = 8;
}

TEST(every_legal_page, set_up, tear_down)
{
	static const uint32_t sizes[] = { 4096, 65536 };

	for (size_t i = 0; i < 2; i++) {
		for (int swap = 0; swap < 2; swap++) {
			check_machine(sizes[i], 8, swap);
			check_machine(sizes[i], 4, swap);
		}
	}
}

/* ---- damage */

static const struct page_format format = { .size = 64 };

/* Begins a page with these words, `used` bytes of which are in use. */
static bool begin(struct writer *w, struct dat_page *page, uint64_t used)
{
	if (w->bytes.len < 64)
		put(&w->bytes, NULL, 64 - w->bytes.len);
	put_u64(&w->bytes, 77); /* of the next page */
	set_u64(&w->bytes, 8, used);
	return page_begin(page, &format, w->bytes.data);
}

static void begin_writing(struct writer *w)
{
	w->bytes.len = 0;
	put_u64(&w->bytes, 100);
	put_u64(&w->bytes, 0);
}

/* Of 32 bytes in use, a record of this kind with this size in the next word. */
static int read_one(uint32_t type, uint32_t time, uint32_t size)
{
	struct writer w = { .time = 0 };
	struct dat_page page;
	int got;

	begin_writing(&w);
	put_word(&w, type, time);
	put_u32(&w.bytes, size);
	put_word(&w, 6, 1);
	assert_true(begin(&w, &page, 32));
	got = page_next(&page);
	assert_true(page.at <= page.end);
	bytes_release(&w.bytes);
	return got;
}

TEST(sizes_that_do_not_fit)
{
	/* Padding of -4 bytes would come again and again, of less it would go back. */
	static const uint32_t paddings[] = { 0, 29, 32, 0x7fffffff, -8U, -4U, -1U };
	static const uint32_t events[] = { 0, 29, 0x7fffffff, -8U, -4U, -1U };

	for (size_t i = 0; i < sizeof(paddings) / sizeof(paddings[0]); i++)
		assert_int_equal(read_one(29, 1, paddings[i]), -EINVAL);
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		assert_int_equal(read_one(0, 1, events[i]), -EINVAL);
	assert_int_equal(read_one(0, 1, 28), 1);
	assert_int_equal(read_one(29, 1, 28), 0);
	assert_int_equal(read_one(29, 0, 0), 0);
	assert_int_equal(read_one(7, 1, 0), 1);
	assert_int_equal(read_one(8, 1, 0), -EINVAL);
}

TEST(a_page_that_claims_too_much)
{
	struct writer w = { .time = 0 };
	struct dat_page page;

	begin_writing(&w);
	assert_true(begin(&w, &page, 48));
	assert_int_equal(page.missed, 0);
	assert_true(begin(&w, &page, 40 | 3U << 30));
	assert_int_equal(page.missed, -1); /* it says that there are 0 */
	assert_true(begin(&w, &page, 48 | 3U << 30)); /* no room for the number */
	assert_int_equal(page.missed, -1);
	assert_false(begin(&w, &page, 52));
	assert_false(begin(&w, &page, 16 | 1U << 29));
	assert_false(begin(&w, &page, 16 | UINT64_C(1) << 32));
	bytes_release(&w.bytes);
}

/* A time without its second word, and a rest that is no record. */
TEST(a_page_that_ends_within_a_record)
{
	struct writer w = { .time = 0 };
	struct dat_page page;

	for (uint32_t type = 30; type <= 31; type++) {
		begin_writing(&w);
		put_word(&w, type, 5);
		assert_true(begin(&w, &page, 4));
		assert_int_equal(page_next(&page), -EINVAL);
	}
	begin_writing(&w);
	put_small(&w, 8, 5);
	assert_true(begin(&w, &page, 14));
	assert_int_equal(page_next(&page), 1);
	assert_int_equal(page.time, 105);
	assert_int_equal(page_next(&page), -EINVAL);
	bytes_release(&w.bytes);
	free(w.list);
}

/* The highest bits of a time stamp are those of the time before, or one more. */
TEST(a_time_stamp_of_59_bits)
{
	const uint64_t low = UINT64_C(23) << 59;
	struct writer w = { .time = low - 5 };
	struct dat_page page;

	w.bytes.len = 0;
	put_u64(&w.bytes, w.time);
	put_u64(&w.bytes, 0);
	put_stamp(&w, 3);
	put_stamp(&w, 4);
	assert_true(begin(&w, &page, 48));
	assert_int_equal(page_next(&page), 1);
	assert_int_equal(page.time, low - 2);
	assert_int_equal(page_next(&page), 1);
	assert_int_equal(page.time, low + 2);
	bytes_release(&w.bytes);
	free(w.list);
}
