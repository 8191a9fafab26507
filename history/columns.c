// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes and reads columns. Heads of CBOR: the shortest that holds the number is written, all four
 * sizes are read. The bytes that are read may be damaged: every number is checked.
 */
#include <string.h>
#include <zstd.h>

#include "lib/text.h"
#include "lib/xalloc.h"
#include "history/columns.h"

#define FRAME_MIN 2048 /* bytes */

/* A head's low five bits: the number itself, or from 24 to 27 that 1, 2, 4 or 8 bytes have it. */
#define FIRST_SIZE 24
#define SIZES 4

size_t cbor_head_write(unsigned char *bytes, enum cbor_kind kind, uint64_t number)
{
	unsigned int log = 0;
	size_t size;

	if (number < FIRST_SIZE) {
		bytes[0] = (unsigned char)((unsigned int)kind << 5 | number);
		return 1;
	}
	while (log < SIZES - 1 && number >> (8U << log))
		log++;
	size = (size_t)1 << log;
	bytes[0] = (unsigned char)((unsigned int)kind << 5 | (FIRST_SIZE + log));
	for (size_t i = size; i > 0; i--, number >>= 8)
		bytes[i] = (unsigned char)number;
	return 1 + size;
}

size_t cbor_head_read(const unsigned char *bytes, size_t size, enum cbor_kind kind,
		      uint64_t *ret_number)
{
	uint64_t number = 0;
	unsigned int low;
	size_t follow;

	if (!size || bytes[0] >> 5 != (unsigned char)kind)
		return 0;
	low = bytes[0] & 31;
	if (low < FIRST_SIZE) {
		*ret_number = low;
		return 1;
	}
	if (low >= FIRST_SIZE + SIZES)
		return 0;
	follow = (size_t)1 << (low - FIRST_SIZE);
	if (size < 1 + follow)
		return 0;
	for (size_t i = 1; i <= follow; i++)
		number = number << 8 | bytes[i];
	*ret_number = number;
	return 1 + follow;
}

/* ---- writing */

/* Where up to size bytes more may be written. */
static unsigned char *out_room(struct out *out, size_t size)
{
	struct blob *blob = out->blob;

	array_grow_unset(&blob->bytes, &blob->room, blob->size + size);
	return blob->bytes + blob->size;
}

void out_head(struct out *out, enum cbor_kind kind, uint64_t number)
{
	unsigned char *at = out_room(out, CBOR_HEAD_MAX);

	out->blob->size += cbor_head_write(at, kind, number);
}

void out_text(struct out *out, const char *text)
{
	size_t size = strlen(text);
	unsigned char *at;

	out_head(out, CBOR_TEXT, size);
	at = out_room(out, size);
	memcpy(at, text, size); /* NOLINT(bugprone-not-null-terminated-result) */
	out->blob->size += size;
}

void out_begin_frame(struct out *out)
{
	size_t before = out->nr_frames ? out->frames[out->nr_frames - 1] : 0;

	if (out->blob->size - before >= FRAME_MIN)
		out->frames[out->nr_frames++] = out->blob->size;
}

void out_column(struct out *out, enum column_id column, const unsigned char *end)
{
	size_t size = (size_t)(end - out->column->bytes);
	unsigned char *at;

	out_note_size(out->column, size);
	out_number(out, column);
	out_head(out, CBOR_BYTES, size);
	at = out_room(out, size);
	memcpy(at, out->column->bytes, size);
	out->blob->size += size;
}

void out_compress(const struct out *made, struct ZSTD_CCtx_s *zstd, struct blob *blob)
{
	size_t size = made->blob->size, begin = 0;

	blob->size = 0;
	for (size_t i = 0; i <= made->nr_frames; i++) {
		size_t end = i < made->nr_frames ? made->frames[i] : size, got;

		array_grow_unset(&blob->bytes, &blob->room,
				 blob->size + ZSTD_compressBound(end - begin));
		got = ZSTD_compress2(zstd, blob->bytes + blob->size, blob->room - blob->size,
				     made->blob->bytes + begin, end - begin);
		if (ZSTD_isError(got)) /* there is room for the largest result */
			out_of_memory();
		blob->size += got;
		begin = end;
	}
}

/* ---- reading */

uint64_t in_head(struct in *in, enum cbor_kind kind)
{
	uint64_t number;
	size_t head;

	if (in->is_bad)
		return 0;
	head = cbor_head_read(in->at, (size_t)(in->end - in->at), kind, &number);
	in->is_bad = !head;
	if (in->is_bad)
		return 0;
	in->at += head;
	if (kind != CBOR_TEXT && kind != CBOR_BYTES)
		return number;
	in->is_bad = number > (uint64_t)(in->end - in->at);
	if (in->is_bad)
		return 0;
	in->text = (const char *)in->at;
	in->at += number;
	return number;
}

uint64_t in_small(struct in *in, uint64_t max)
{
	uint64_t value = in_head(in, CBOR_NUMBER);

	in->is_bad |= value > max;
	return in->is_bad ? 0 : value;
}

size_t in_array(struct in *in)
{
	uint64_t nr = in_head(in, CBOR_ARRAY);

	in->is_bad |= nr > (uint64_t)(in->end - in->at);
	return in->is_bad ? 0 : (size_t)nr;
}

struct in_column in_begin_column(struct in *in, enum column_id name, size_t nr)
{
	struct in_column column = { 0 };
	uint64_t size;

	in->is_bad |= in_number(in) != name;
	size = in_head(in, CBOR_BYTES);
	in->is_bad |= size < nr;
	column.is_bad = in->is_bad;
	if (in->is_bad)
		return column;
	column.at = (const unsigned char *)in->text;
	column.end = column.at + size;
	return column;
}

void in_end_column(struct in *in, struct in_column column)
{
	in->is_bad |= column.is_bad || column.at != column.end;
}

void in_text(struct in *in, char *text, size_t size)
{
	uint64_t len = in_head(in, CBOR_TEXT);

	text[0] = '\0';
	if (!in->is_bad && len && !utf8_clean(in->text, (size_t)len, text, size))
		in->is_bad = true;
}

/* Uncompresses the next frame, in place of the one before. */
static void next_frame(struct in *in)
{
	size_t left = (size_t)(in->rest_end - in->rest), got;
	size_t frame = ZSTD_findFrameCompressedSize(in->rest, left);
	unsigned long long size = ZSTD_getFrameContentSize(in->rest, left);
	struct blob *plain = in->plain;

	/* Not known and damaged are numbers larger than any size. */
	in->is_bad |= ZSTD_isError(frame) || size > in->frame_max;
	if (in->is_bad)
		return;
	array_grow_unset(&plain->bytes, &plain->room, (size_t)size + 1);
	got = ZSTD_decompressDCtx(in->zstd, plain->bytes, plain->room, in->rest, frame);
	in->is_bad |= ZSTD_isError(got) || got != size;
	if (in->is_bad)
		return;
	in->rest += frame;
	in->at = plain->bytes;
	in->end = plain->bytes + got;
}

void in_go_on(struct in *in)
{
	if (in->at == in->end && in->rest < in->rest_end)
		next_frame(in);
}

struct in in_uncompress(struct ZSTD_DCtx_s *zstd, struct blob *plain, const struct blob *blob,
			size_t max)
{
	struct in in = { .zstd = zstd, .plain = plain, .frame_max = max, .is_bad = !blob->size };

	if (in.is_bad)
		return in;
	in.rest = blob->bytes;
	in.rest_end = blob->bytes + blob->size;
	next_frame(&in);
	return in;
}
