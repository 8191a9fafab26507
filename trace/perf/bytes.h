/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bytes - the records of a perf.data, one after the other, wherever their bytes come from: a
 * file, a pipe, or compressed records (perf record -z) in one of these.
 *
 * A record stays where it was read to as long as it is held, in a block of memory. Blocks that hold
 * none are used again, so memory is bounded by what is held.
 *
 * Source: tools/perf/Documentation/perf.data-file-format.txt.
 */
#ifndef KVMTOP_TRACE_PERF_BYTES_H
#define KVMTOP_TRACE_PERF_BYTES_H

#include <zstd.h>

#include "trace/reader.h"

#define PERF_RECORD_HEADER_SIZE 8

/* Numbers at a place that need not be aligned. */
static inline uint32_t perf_u32(const uint8_t *at, bool swap)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return swap ? __builtin_bswap32(value) : value;
}

static inline uint64_t perf_u64(const uint8_t *at, bool swap)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return swap ? __builtin_bswap64(value) : value;
}

struct perf_block;

/* A block with what of it was not yet given out. */
struct perf_reel {
	struct perf_block *block;
	size_t at, end;
};

/* Begins as zeroes with the file and its byte order. */
struct perf_bytes {
	struct trace_file *file;
	bool swap;
	bool is_stream;	    /* it cannot be read at a place */
	uint64_t offset, limit; /* in the file: of what is read next, and where the records end */
	struct perf_reel outer, inner; /* as in the file; what was compressed in a record */
	struct perf_block *free;
	size_t nr_blocks;
	ZSTD_DStream *inflater;
	ZSTD_inBuffer packed; /* what is to be uncompressed next, in outer's block */
	bool is_inflating;
	uint64_t record_at; /* in the file: of the current record, or of that which it was in */
};

/* One record. */
struct perf_piece {
	uint32_t type;
	const uint8_t *at; /* behind its header */
	size_t size;
	uint64_t offset; /* in the file */
	struct perf_block *block; /* it is in there: to be held, if it is to stay */
};

/* A stream: `head` is what was read of it, of which so much is not records. 0 or -ENOMEM. */
int perf_bytes_begin(struct perf_bytes *bytes, const struct head *head, size_t skip);
void perf_bytes_release(struct perf_bytes *bytes); /* no block may be held any more */

/*
 * The next record, valid until the next call, but see perf_block_hold(). 1, 0 at the end or where
 * they make no sense any more (a problem of the file's), or -errno.
 */
int perf_bytes_next(struct perf_bytes *bytes, struct perf_piece *ret_piece);

void perf_block_hold(struct perf_block *block);
void perf_block_drop(struct perf_bytes *bytes, struct perf_block *block); /* takes NULL */

/* Whether more may be read while all that is held stays. */
bool perf_bytes_has_room(const struct perf_bytes *bytes);

/*
 * Data that is no record, behind one that tells its size. To be freed, or ret_data NULL: leaves it
 * out. 0, -EINVAL where there is less, or another -errno.
 */
int perf_bytes_data(struct perf_bytes *bytes, uint64_t size, uint8_t **ret_data);

#endif
