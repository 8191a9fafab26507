// SPDX-License-Identifier: GPL-2.0-or-later
/* What is put into packets comes out of the compressed blocks: in its order, and once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "trace/timeline/packets.h"
#include "tests/unit/unit.h"

enum { NR = 30010 };
enum { FIELD_TEXT = 2, FIELD_DOUBLE, FIELD_NR = 8, FIELD_MESSAGE = 11, FIELD_COMPRESSED = 50 };

static char text[100000];

/* Of a packet: a few are as long as a packet may be, so that lengths have up to three bytes. */
static size_t length_of(uint32_t i)
{
	return i % 5000 == 4999 ? sizeof(text) : i % 100 == 99 ? 200 : i % 50;
}

/* ---- a reader */

struct bytes {
	const uint8_t *at, *end;
};

static uint64_t get_varint(struct bytes *bytes)
{
	uint64_t number = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		assert_true(bytes->at < bytes->end);
		number |= (uint64_t)(*bytes->at & 0x7f) << shift;
		if (!(*bytes->at++ & 0x80))
			return number;
	}
	fail_msg("no end of a number");
	return 0;
}

/* The bytes of the next field, which is this one. */
static struct bytes get_message(struct bytes *bytes, uint32_t field)
{
	struct bytes message;
	uint64_t len;

	assert_int_equal(get_varint(bytes), field << 3 | 2);
	len = get_varint(bytes);
	assert_true(len <= (uint64_t)(bytes->end - bytes->at));
	message = (struct bytes){ bytes->at, bytes->at + len };
	bytes->at = message.end;
	return message;
}

static void expect_packet(struct bytes packet, uint32_t i)
{
	const double part = i / 3.0;
	struct bytes message, found;

	assert_int_equal(get_varint(&packet), FIELD_NR << 3);
	assert_int_equal(get_varint(&packet), UINT64_C(1000000007) * i);
	assert_int_equal(get_varint(&packet), FIELD_DOUBLE << 3 | 1);
	for (unsigned int shift = 0; shift < 64; shift += 8) {
		uint64_t bits;

		memcpy(&bits, &part, sizeof(bits));
		assert_true(packet.at < packet.end);
		assert_int_equal(*packet.at++, bits >> shift & 0xff);
	}
	message = get_message(&packet, FIELD_MESSAGE);
	assert_true(packet.at == packet.end);
	found = get_message(&message, FIELD_TEXT);
	assert_true(message.at == message.end);
	assert_int_equal(found.end - found.at, length_of(i));
	assert_memory_equal(found.at, text, length_of(i));
}

/* A packet with a compressed block of packets; returns the number of the next packet. */
static uint32_t expect_block(struct bytes outer, uint32_t first)
{
	struct bytes packed = get_message(&outer, FIELD_COMPRESSED), block;
	uLongf size = 4 * PACKETS_BLOCK;
	uint8_t *whole = malloc(size);

	assert_non_null(whole);
	assert_true(outer.at == outer.end);
	assert_int_equal(uncompress(whole, &size, packed.at, (uLong)(packed.end - packed.at)),
			 Z_OK);
	assert_in_range(size, 1, 2 * PACKETS_BLOCK);
	block = (struct bytes){ whole, whole + size };
	while (block.at < block.end)
		expect_packet(get_message(&block, 1), first++);
	free(whole);
	return first;
}

/* ---- */

TEST(packets_come_back)
{
	char *file_bytes = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&file_bytes, &size);
	struct packets packets;
	struct bytes bytes;
	uint32_t next = 0, nr_blocks = 0;

	assert_non_null(file);
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)('a' + i * i % 26);
	packets_init(&packets, file);
	for (uint32_t i = 0; i < NR; i++) {
		size_t mark;

		packet_begin(&packets);
		put_number(&packets, FIELD_NR, UINT64_C(1000000007) * i);
		put_double(&packets, FIELD_DOUBLE, i / 3.0);
		mark = message_begin(&packets, FIELD_MESSAGE);
		put_text(&packets, FIELD_TEXT, text, length_of(i));
		message_end(&packets, mark);
		packet_end(&packets);
	}
	packets_release(&packets);
	assert_int_equal(fclose(file), 0);
	bytes = (struct bytes){ (uint8_t *)file_bytes, (uint8_t *)file_bytes + size };
	while (bytes.at < bytes.end) {
		next = expect_block(get_message(&bytes, 1), next);
		nr_blocks++;
	}
	assert_int_equal(next, NR);
	assert_true(nr_blocks > 2);
	free(file_bytes);
}
