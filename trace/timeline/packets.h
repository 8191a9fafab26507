/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * packets - protobuf by hand: a file that is a list of packets, Perfetto's TracePacket.
 *
 *	packet_begin(&packets);
 *	put_number(&packets, 10, 7);
 *	mark = message_begin(&packets, 11);
 *	put_text(&packets, 2, "name", 4);
 *	message_end(&packets, mark);
 *	packet_end(&packets);
 *
 * Packets are collected in blocks. A thread compresses a full block by zlib while the next one is
 * filled, and the caller's thread writes it, as one packet. Errors of writing are the file's:
 * ferror().
 */
#ifndef KVMTOP_TRACE_TIMELINE_PACKETS_H
#define KVMTOP_TRACE_TIMELINE_PACKETS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PACKET_NUMBERS 8192 /* bytes of a packet beside its texts, at most */
#define PACKETS_BLOCK (256 * 1024) /* bytes; a packet of packets is to have less than 512 KiB */

/* Who has the full block; the lock guards this alone. */
enum packets_state { PACKETS_NONE, PACKETS_FULL, PACKETS_PACKED, PACKETS_END };

struct packets {
	FILE *file;
	uint8_t *block, *at; /* at: where the next byte goes */
	size_t room;
	size_t packet; /* the open one, in the block */
	bool has_thread; /* else blocks are compressed by the caller */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum packets_state state;
	uint8_t *full, *packed; /* a block, and the same compressed */
	size_t full_len, full_room, packed_len, packed_room;
};

void packets_init(struct packets *packets, FILE *file);
/* Writes the rest. */
void packets_release(struct packets *packets);


/* ---- fields of the open packet or message; at most PACKET_NUMBERS bytes without the texts */

static inline void put_varint(struct packets *packets, uint64_t number)
{
	while (number >= 0x80) {
		*packets->at++ = (uint8_t)(number | 0x80);
		number >>= 7;
	}
	*packets->at++ = (uint8_t)number;
}

static inline void put_number(struct packets *packets, uint32_t field, uint64_t number)
{
	put_varint(packets, field << 3);
	put_varint(packets, number);
}

void put_fixed(struct packets *packets, uint32_t field, uint64_t number);
void put_double(struct packets *packets, uint32_t field, double number);

/* Each byte that is not UTF-8 becomes a question mark. */
void put_text(struct packets *packets, uint32_t field, const char *text, size_t len);

/* A message within; what is returned is for its end. */
static inline size_t message_begin(struct packets *packets, uint32_t field)
{
	put_varint(packets, field << 3 | 2);
	packets->at++; /* its length, if that is one byte */
	return (size_t)(packets->at - packets->block);
}

void message_end_long(struct packets *packets, size_t mark);

static inline void message_end(struct packets *packets, size_t mark)
{
	size_t len = (size_t)(packets->at - packets->block) - mark;

	if (len < 0x80)
		packets->block[mark - 1] = (uint8_t)len;
	else
		message_end_long(packets, mark);
}

/* ---- packets */

/* The full block is compressed and written; in the next one there is room for a packet. */
void packets_hand_over(struct packets *packets);

static inline void packet_begin(struct packets *packets)
{
	packets->packet = message_begin(packets, 1); /* of a trace */
}

static inline void packet_end(struct packets *packets)
{
	message_end(packets, packets->packet);
	if (packets->at - packets->block >= PACKETS_BLOCK)
		packets_hand_over(packets);
}

#endif
