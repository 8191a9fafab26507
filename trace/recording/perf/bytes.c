// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads records into blocks of memory, from the file or through zstd. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/array.h"
#include "trace/recording/perf/bytes.h"

#define BLOCK_SIZE ((size_t)1024 * 1024)
#define BLOCKS_MAX 32 /* more held blocks: perf_bytes_has_room() is false */
#define ROOM_LEAST 65536 /* the largest record's size: with less room, a new block is begun */
#define DATA_MAX ((uint64_t)256 * 1024 * 1024)

/* Records of perf's own. Source: tools/lib/perf/include/perf/event.h. */
enum { RECORD_COMPRESSED = 81, RECORD_COMPRESSED2 = 83 };

struct perf_block {
	uint8_t bytes[BLOCK_SIZE];
	size_t held; /* the number of held records in it */
	struct perf_block *next; /* in the list of free blocks */
};

/* ---- blocks ---- */

void perf_block_hold(struct perf_block *block)
{
	block->held++;
}

void perf_block_drop(struct perf_bytes *bytes, struct perf_block *block)
{
	if (!block || --block->held > 0 || block == bytes->outer.block ||
	    block == bytes->inner.block)
		return;
	block->next = bytes->free;
	bytes->free = block;
}

bool perf_bytes_has_room(const struct perf_bytes *bytes)
{
	return bytes->free || bytes->nr_blocks < BLOCKS_MAX;
}

static struct perf_block *get_block(struct perf_bytes *bytes)
{
	struct perf_block *block = bytes->free;

	if (block) {
		bytes->free = block->next;
		return block;
	}
	block = malloc(sizeof(*block));
	if (!block)
		return NULL;
	block->held = 0;
	bytes->nr_blocks++;
	return block;
}

/* Moves the rest of the block to the beginning of a block without held records. */
static int change_block(struct perf_bytes *bytes, struct perf_reel *reel)
{
	struct perf_block *old = reel->block, *block;
	size_t rest = reel->end - reel->at;

	if (old && old->held == 0) {
		memmove(old->bytes, old->bytes + reel->at, rest);
	} else {
		block = get_block(bytes);
		if (!block)
			return -ENOMEM;
		if (old)
			memcpy(block->bytes, old->bytes + reel->at, rest);
		reel->block = block;
	}
	reel->at = 0;
	reel->end = rest;
	return 0;
}

int perf_bytes_begin(struct perf_bytes *bytes, const struct head *head, size_t skip)
{
	int err = change_block(bytes, &bytes->outer);

	if (err)
		return err;
	memcpy(bytes->outer.block->bytes, head->bytes, head->len);
	bytes->is_stream = true;
	bytes->outer.at = skip < head->len ? skip : head->len;
	bytes->outer.end = bytes->offset = head->len;
	bytes->limit = INT64_MAX;
	return 0;
}

void perf_bytes_release(struct perf_bytes *bytes)
{
	while (bytes->free) {
		struct perf_block *block = bytes->free;

		bytes->free = block->next;
		free(block);
	}
	free(bytes->outer.block);
	free(bytes->inner.block);
	if (bytes->inflater)
		ZSTD_freeDStream(bytes->inflater);
}

/* ---- the file ---- */

static ssize_t read_some(const struct perf_bytes *bytes, uint8_t *to, size_t room)
{
	ssize_t got;

	do
		got = bytes->is_stream ? read(bytes->file->fd, to, room) :
					 pread(bytes->file->fd, to, room, (off_t)bytes->offset);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

/* Reads more of the file into outer: 1, 0 at the end, or -errno. */
static int fill(struct perf_bytes *bytes)
{
	struct perf_reel *reel = &bytes->outer;
	size_t room = BLOCK_SIZE - reel->end;
	ssize_t got;

	if (room > bytes->limit - bytes->offset)
		room = bytes->limit - bytes->offset;
	got = read_some(bytes, reel->block->bytes + reel->end, room);
	if (got <= 0)
		return (int)got;
	reel->end += (size_t)got;
	bytes->offset += (size_t)got;
	bytes->file->done = bytes->offset;
	return 1;
}

static uint64_t outer_offset(const struct perf_bytes *bytes)
{
	return bytes->offset - (bytes->outer.end - bytes->outer.at);
}

/* Reads until outer has `size` bytes: 1, 0 if the file ends before, or -errno. */
static int need(struct perf_bytes *bytes, size_t size)
{
	struct perf_reel *reel = &bytes->outer;

	while (reel->end - reel->at < size) {
		int got = 1;

		if (!reel->block || BLOCK_SIZE - reel->at < size)
			got = change_block(bytes, reel);
		if (got >= 0)
			got = bytes->offset < bytes->limit ? fill(bytes) : 0;
		if (got <= 0)
			return got;
	}
	return 1;
}

/* ---- records ---- */

/* A number of the record's header. */
static uint16_t header_u16(const struct perf_bytes *bytes, const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return bytes->swap ? __builtin_bswap16(value) : value;
}

static size_t size_at(const struct perf_bytes *bytes, const struct perf_reel *reel)
{
	return header_u16(bytes, reel->block->bytes + reel->at + 6);
}

/* Takes the first record of the reel, which is complete. */
static void take(struct perf_bytes *bytes, struct perf_reel *reel, size_t size,
		 struct perf_piece *ret_piece)
{
	const uint8_t *at = reel->block->bytes + reel->at;

	reel->at += size;
	*ret_piece = (struct perf_piece){
		.type = bytes_u32(at, bytes->swap),
		.misc = header_u16(bytes, at + 4),
		.at = at + PERF_RECORD_HEADER_SIZE,
		.size = size - PERF_RECORD_HEADER_SIZE,
		.offset = bytes->record_at,
		.block = reel->block,
	};
}

static int no_record(struct perf_bytes *bytes, size_t size)
{
	trace_add_problem(bytes->file, bytes->record_at, "a record of %zu bytes", size);
	return 0;
}

/* The next record of the file: 1, 0 at the end, or -errno. */
static int next_outer(struct perf_bytes *bytes, struct perf_piece *ret_piece)
{
	int got = need(bytes, PERF_RECORD_HEADER_SIZE);
	bool is_known_end = !bytes->is_stream;
	size_t size;

	bytes->record_at = outer_offset(bytes);
	if (got > 0) {
		size = size_at(bytes, &bytes->outer);
		if (size < PERF_RECORD_HEADER_SIZE)
			return no_record(bytes, size);
		got = need(bytes, size);
		if (got > 0)
			take(bytes, &bytes->outer, size, ret_piece);
	}
	if (got == 0 && (bytes->outer.end > bytes->outer.at ||
			 (is_known_end && bytes->offset < bytes->limit)))
		trace_add_problem(bytes->file, bytes->record_at, "the records end too early");
	if (got < 0 && got != -ENOMEM) {
		trace_add_problem(bytes->file, bytes->offset, "%s", strerror(-got));
		got = 0;
	}
	return got;
}

/* ---- compressed records ---- */

/* perf compresses one stream and cuts it into records at any byte. 0, -EINVAL or -ENOMEM. */
static int begin_inflating(struct perf_bytes *bytes, const struct perf_piece *piece)
{
	const uint8_t *at = piece->at;
	size_t size = piece->size;

	if (piece->type == RECORD_COMPRESSED2) {
		uint64_t used = size >= 8 ? bytes_u64(at, bytes->swap) : UINT64_MAX;

		if (used > size - 8)
			return -EINVAL;
		at += 8;
		size = used;
	}
	if (!bytes->inflater)
		bytes->inflater = ZSTD_createDStream();
	if (!bytes->inflater)
		return -ENOMEM;
	bytes->packed = (ZSTD_inBuffer){ at, size, 0 };
	bytes->is_inflating = true;
	return 0;
}

static int inflate(struct perf_bytes *bytes)
{
	struct perf_reel *reel = &bytes->inner;
	ZSTD_outBuffer out;
	size_t before = bytes->packed.pos, got;

	if ((!reel->block || BLOCK_SIZE - reel->end < ROOM_LEAST) &&
	    change_block(bytes, reel) < 0)
		return -ENOMEM;
	out = (ZSTD_outBuffer){ reel->block->bytes + reel->end, BLOCK_SIZE - reel->end, 0 };
	got = ZSTD_decompressStream(bytes->inflater, &out, &bytes->packed);
	if (ZSTD_isError(got))
		return -EINVAL;
	reel->end += out.pos;
	bytes->is_inflating = bytes->packed.pos < bytes->packed.size || out.pos == out.size;
	return bytes->is_inflating && out.pos == 0 && bytes->packed.pos == before ? -EINVAL : 0;
}

/* The next record in compressed data: 1, 0 if there is none, or -EINVAL. */
static int next_inner(struct perf_bytes *bytes, struct perf_piece *ret_piece)
{
	size_t left = bytes->inner.end - bytes->inner.at, size;

	if (left < PERF_RECORD_HEADER_SIZE)
		return 0;
	size = size_at(bytes, &bytes->inner);
	if (size < PERF_RECORD_HEADER_SIZE)
		return -EINVAL;
	if (left < size)
		return 0;
	take(bytes, &bytes->inner, size, ret_piece);
	return 1;
}

/* ---- both kinds of records ---- */

static int bad_compression(struct perf_bytes *bytes, int err)
{
	if (err != -EINVAL)
		return err;
	trace_add_problem(bytes->file, bytes->record_at,
			  "damaged compressed records");
	return 0;
}

int perf_bytes_next(struct perf_bytes *bytes, struct perf_piece *ret_piece)
{
	int got, err;

	for (;;) {
		got = next_inner(bytes, ret_piece);
		if (got != 0)
			return got > 0 ? got : bad_compression(bytes, got);
		if (!bytes->is_inflating) {
			got = next_outer(bytes, ret_piece);
			if (got <= 0 || (ret_piece->type != RECORD_COMPRESSED &&
					 ret_piece->type != RECORD_COMPRESSED2))
				break;
			err = begin_inflating(bytes, ret_piece);
		} else {
			err = inflate(bytes);
		}
		if (err)
			return bad_compression(bytes, err);
	}
	if (got == 0 && bytes->inner.end > bytes->inner.at)
		trace_add_problem(bytes->file, bytes->record_at,
				  "the compressed records end too early");
	return got;
}

/* ---- data that is not a record ---- */

/* Skips data that was not read yet, if the file is not a stream. */
static void jump(struct perf_bytes *bytes, uint64_t *size)
{
	uint64_t there = bytes->outer.end - bytes->outer.at;

	if (bytes->is_stream || *size <= there)
		return;
	*size -= there;
	bytes->outer.at = bytes->outer.end;
	if (*size > bytes->limit - bytes->offset)
		*size = bytes->limit - bytes->offset;
	bytes->offset += *size;
	*size = 0;
}

int perf_bytes_data(struct perf_bytes *bytes, uint64_t size, uint8_t **ret_data)
{
	struct perf_reel *reel = &bytes->outer;
	uint8_t *data = NULL;
	size_t room = 0, have = 0;
	int err = 0;

	if (ret_data && size > DATA_MAX)
		return -EINVAL;
	if (!ret_data)
		jump(bytes, &size);
	while (have < size && !err) {
		int got = need(bytes, 1);
		size_t n = got > 0 ? reel->end - reel->at : 0;

		if (n > size - have)
			n = size - have;
		err = got < 0 ? got : got == 0 ? -EINVAL : 0;
		/* The memory grows as bytes arrive: the size may be damaged. */
		if (!err && ret_data)
			array_grow(&data, &room, have + n);
		if (!err && ret_data)
			memcpy(data + have, reel->block->bytes + reel->at, n);
		reel->at += n;
		have += n;
	}
	if (err || !ret_data)
		free(data);
	else
		*ret_data = data;
	return err;
}
