/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bytes - the records of a perf.data, one after the other, from a file, from a pipe, or from
 * compressed records (perf record -z) in a file or a pipe.
 *
 * Records are in blocks of memory. A block is used again when none of its records is held, so the
 * held records bound the memory.
 *
 * Source: tools/perf/Documentation/perf.data-file-format.txt.
 */
#ifndef KVMTOP_TRACE_RECORDING_PERF_BYTES_H
#define KVMTOP_TRACE_RECORDING_PERF_BYTES_H

#include <zstd.h>

#include "trace/recording/reader.h"

#define PERF_RECORD_HEADER_SIZE 8

struct perf_block;

/* A block, and the part of it that was not returned yet. */
struct perf_reel {
	struct perf_block *block;
	size_t at, end;
};

/* Zero-initialised but for file and swap. */
struct perf_bytes {
	struct trace_file *file;
	bool swap;
	bool is_stream;	    /* a pipe: cannot be read at an offset */
	uint64_t offset, limit; /* in the file: the next read, and the end of the records */
	struct perf_reel outer, inner; /* outer: the file's records; inner: uncompressed ones */
	struct perf_block *free;
	size_t nr_blocks;
	ZSTD_DStream *inflater;
	ZSTD_inBuffer packed; /* the data to uncompress next, in outer's block */
	bool is_inflating;
	uint64_t record_at; /* offset of the current record, or of the compressed record around */
};

/* One record. */
struct perf_piece {
	uint32_t type;
	uint16_t misc; /* flags; their meaning depends on the type */
	const uint8_t *at; /* after the record's header */
	size_t size;
	uint64_t offset; /* in the file */
	struct perf_block *block; /* the record's memory; to be held to keep the record */
};

/* For a stream: `head` has its first bytes, and `skip` of them are no records. 0 or -ENOMEM. */
int perf_bytes_begin(struct perf_bytes *bytes, const struct head *head, size_t skip);
void perf_bytes_release(struct perf_bytes *bytes); /* to be called when no block is held */

/*
 * The next record, valid until the next call, or longer with perf_block_hold(). 1, 0 at the end or
 * at a damaged record (a problem of the file), or -errno.
 */
int perf_bytes_next(struct perf_bytes *bytes, struct perf_piece *ret_piece);

void perf_block_hold(struct perf_block *block);
void perf_block_drop(struct perf_bytes *bytes, struct perf_block *block); /* takes NULL */

/* False: enough records are held, some must be dropped before more are read. */
bool perf_bytes_has_room(const struct perf_bytes *bytes);

/*
 * Reads `size` bytes of data that is not a record, after a record. The caller frees *ret_data;
 * ret_data NULL: the data is skipped. 0, -EINVAL if the file has fewer bytes, or another -errno.
 */
int perf_bytes_data(struct perf_bytes *bytes, uint64_t size, uint8_t **ret_data);

#endif
