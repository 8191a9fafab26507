// SPDX-License-Identifier: GPL-2.0-or-later
/* The records of a perf.data, from a file, from a pipe, or through zstd; and those that wait. */
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "trace/recording/perf/perf.h"

#define DATA_MAX ((uint64_t)256 * 1024 * 1024)
#define KEPT_MAX 1024 /* bytes of a waiting entry's memory that is used again */

/* Records of perf's own. Source: tools/lib/perf/include/perf/event.h. */
enum { RECORD_COMPRESSED = 81, RECORD_COMPRESSED2 = 83 };

void perf_records_release(struct perf_records *records)
{
	window_release(&records->window);
	free(records->inflated);
	records->inflated = NULL;
	ZSTD_freeDStream(records->inflater);
	records->inflater = NULL;
}

static bool damaged(const struct perf_records *records, const char *text)
{
	trace_add_problem(records->file, records->record_at, "%s", text);
	return false;
}

/* The size of a whole record, which is in its header. */
static size_t size_at(const struct perf_records *records, const uint8_t *at)
{
	return bytes_u16(at + 6, records->swap);
}

static struct perf_piece piece_at(const struct perf_records *records, const uint8_t *at,
				  size_t size)
{
	return (struct perf_piece){
		.type = bytes_u32(at, records->swap),
		.misc = bytes_u16(at + 4, records->swap),
		.at = at + PERF_RECORD_HEADER_SIZE,
		.size = size - PERF_RECORD_HEADER_SIZE,
		.offset = records->record_at,
	};
}

/* The next record of the file. */
static bool next_of_file(struct perf_records *records, struct perf_piece *ret_piece)
{
	struct window *window = &records->window;
	size_t size = PERF_RECORD_HEADER_SIZE;

	records->record_at = window_offset(window);
	if (window_want(window, size)) {
		size = size_at(records, window->at);
		if (size < PERF_RECORD_HEADER_SIZE) {
			trace_add_problem(records->file, records->record_at,
					  "a record of %zu bytes", size);
			return false;
		}
	}
	if (window_want(window, size)) {
		*ret_piece = piece_at(records, window->at, size);
		window->at += size;
		return true;
	}
	if (window->err)
		trace_add_problem(records->file, window->offset, "%s", strerror(-window->err));
	else if (window_left(window) > 0 ||
		 (window->limit != UINT64_MAX && window->offset < window->limit))
		damaged(records, "the records end too early");
	else if (records->end > records->at)
		damaged(records, "the compressed records end too early");
	return false;
}

/* ---- compressed records */

/* perf compresses one stream and cuts it into records at any byte. False: it is damaged. */
static bool begin_inflating(struct perf_records *records, const struct perf_piece *piece)
{
	const uint8_t *at = piece->at;
	size_t size = piece->size;

	if (piece->type == RECORD_COMPRESSED2) {
		uint64_t used = size >= 8 ? bytes_u64(at, records->swap) : UINT64_MAX;

		if (used > size - 8)
			return false;
		at += 8;
		size = used;
	}
	if (!records->inflater) {
		records->inflated = xmalloc(records->room);
		records->inflater = ZSTD_createDStream();
		if (!records->inflater)
			out_of_memory();
	}
	records->packed = (ZSTD_inBuffer){ at, size, 0 };
	records->is_inflating = true;
	return true;
}

/* Uncompresses as much as there is room for. False: it is damaged. */
static bool inflate(struct perf_records *records)
{
	size_t before = records->packed.pos;
	ZSTD_outBuffer out;

	if (records->room - records->end < PERF_RECORD_MAX) {
		records->end -= records->at;
		memmove(records->inflated, records->inflated + records->at, records->end);
		records->at = 0;
	}
	out = (ZSTD_outBuffer){ records->inflated + records->end, records->room - records->end, 0 };
	if (ZSTD_isError(ZSTD_decompressStream(records->inflater, &out, &records->packed)))
		return false;
	records->end += out.pos;
	records->is_inflating = records->packed.pos < records->packed.size || out.pos == out.size;
	return !records->is_inflating || out.pos > 0 || records->packed.pos > before;
}

/* ---- both kinds of records */

bool perf_records_next(struct perf_records *records, struct perf_piece *ret_piece)
{
	for (;;) {
		size_t left = records->end - records->at;

		if (left >= PERF_RECORD_HEADER_SIZE) {
			const uint8_t *at = records->inflated + records->at;
			size_t size = size_at(records, at);

			if (size < PERF_RECORD_HEADER_SIZE)
				return damaged(records, "damaged compressed records");
			if (size <= left) {
				*ret_piece = piece_at(records, at, size);
				records->at += size;
				return true;
			}
		}
		if (!records->is_inflating) {
			if (!next_of_file(records, ret_piece))
				return false;
			if (ret_piece->type != RECORD_COMPRESSED &&
			    ret_piece->type != RECORD_COMPRESSED2)
				return true;
			if (!begin_inflating(records, ret_piece))
				return damaged(records, "damaged compressed records");
		}
		if (!inflate(records))
			return damaged(records, "damaged compressed records");
	}
}

/* Skips data that was not read yet, if the file is plain. Returns what is left to be skipped. */
static uint64_t jump(struct window *window, uint64_t size)
{
	uint64_t more = size - window_left(window);

	if (window->limit == UINT64_MAX || size <= window_left(window) ||
	    more > window->limit - window->offset)
		return size;
	window_seek(window, window->offset + more, window->limit);
	return 0;
}

bool perf_records_data(struct perf_records *records, uint64_t size, uint8_t **ret_data)
{
	struct window *window = &records->window;
	uint8_t *data = NULL;
	size_t room = 0, have = 0;

	if (ret_data && size > DATA_MAX)
		return damaged(records, "the data after this record claims more than 256 MiB");
	if (!ret_data)
		size = jump(window, size);
	while (have < size) {
		size_t n;

		if (!window_want(window, 1)) {
			free(data);
			return damaged(records, "the data after this record ends too early");
		}
		n = window_left(window) < size - have ? window_left(window) : size - have;
		/* The memory grows as bytes arrive: the size may be damaged. */
		if (ret_data) {
			array_grow_unset(&data, &room, have + n);
			memcpy(data + have, window->at, n);
		}
		window->at += n;
		have += n;
	}
	if (ret_data)
		*ret_data = data;
	return true;
}

/*
 * ---- records that wait until no earlier one can come. perf writes one CPU's records after the
 * other's, each sorted, except where an interrupt came between: so sorted runs wait in a heap, by
 * their first records.
 */

struct perf_entry *perf_waiting_new(struct perf_waiting *waiting)
{
	struct perf_entry *entry = waiting->free;

	if (!entry)
		return xcalloc(1, sizeof(*entry));
	waiting->free = entry->next;
	return entry;
}

void perf_waiting_drop(struct perf_waiting *waiting, struct perf_entry *entry)
{
	if (!entry)
		return;
	if (entry->room > KEPT_MAX) {
		free(entry->bytes);
		entry->bytes = NULL;
		entry->room = 0;
	}
	entry->next = waiting->free;
	waiting->free = entry;
}

void perf_waiting_add(struct perf_waiting *waiting, struct perf_entry *entry, int64_t lost)
{
	struct perf_sample *sample = &entry->sample;
	size_t raw_size = sample->raw ? sample->raw_size : 0;
	size_t chain_size = sample->chain ? (size_t)sample->nr_chain * sizeof(uint64_t) : 0;

	array_grow_unset(&entry->bytes, &entry->room, raw_size + chain_size);
	if (raw_size)
		sample->raw = memcpy(entry->bytes, sample->raw, raw_size);
	if (chain_size)
		sample->chain = memcpy(entry->bytes + raw_size, sample->chain, chain_size);
	entry->lost = lost;
	entry->order = waiting->order++;
	entry->next = NULL;
	if (waiting->latest && sample->time >= waiting->latest->sample.time)
		waiting->latest->next = entry;
	else
		queue_add(&waiting->runs, &(struct queued){ sample->time, entry->order, entry });
	waiting->latest = entry;
	waiting->bytes += sizeof(*entry) + entry->room;
}

struct perf_entry *perf_waiting_take(struct perf_waiting *waiting)
{
	struct perf_entry *first = waiting->runs.heap[0].item, *next = first->next;

	if (first == waiting->latest)
		waiting->latest = NULL;
	queue_replace(&waiting->runs,
		      next ? &(struct queued){ next->sample.time, next->order, next } : NULL);
	waiting->bytes -= sizeof(*first) + first->room;
	return first;
}

static void free_list(struct perf_entry *entry)
{
	while (entry) {
		struct perf_entry *next = entry->next;

		free(entry->bytes);
		free(entry);
		entry = next;
	}
}

void perf_waiting_release(struct perf_waiting *waiting)
{
	for (size_t i = 0; i < waiting->runs.nr; i++)
		free_list(waiting->runs.heap[i].item);
	free_list(waiting->free);
	free(waiting->runs.heap);
	*waiting = (struct perf_waiting){ .free = NULL };
}
