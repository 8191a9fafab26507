// SPDX-License-Identifier: GPL-2.0-or-later
/* Documents, and their compression. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "lib/http/server.h"
#include "lib/xalloc.h"

#define GZIP_WINDOW (15 + 16) /* zlib's number for gzip */

static size_t compress_gzip(const char *bytes, size_t size, char *ret_bytes, size_t room)
{
	z_stream stream = {
		.next_in = (Bytef *)(uintptr_t)bytes,
		.avail_in = (uInt)size,
		.next_out = (Bytef *)ret_bytes,
		.avail_out = (uInt)room,
	};
	size_t written;

	if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		out_of_memory();
	deflate(&stream, Z_FINISH); /* there is room for all */
	written = stream.total_out;
	deflateEnd(&stream);
	return written;
}

struct document *document_new(const char *type, const char *bytes, size_t size, bool is_gzip)
{
	size_t room = is_gzip ? compressBound(size) + 32 : size;
	struct document *document = xmalloc(sizeof(*document) + room);

	atomic_init(&document->nr_holders, 1);
	document->type = type;
	document->is_gzip = is_gzip;
	document->size = is_gzip ? compress_gzip(bytes, size, document->bytes, room) : size;
	if (!is_gzip && size)
		memcpy(document->bytes, bytes, size);
	return document;
}

struct document *document_hold(struct document *document)
{
	if (document)
		atomic_fetch_add(&document->nr_holders, 1);
	return document;
}

void document_drop(struct document *document)
{
	if (document && atomic_fetch_sub(&document->nr_holders, 1) == 1)
		free(document);
}
