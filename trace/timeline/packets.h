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

#define VARINT_MAX 10 /* bytes */

/* Returns its end. */
static inline uint8_t *varint_put(uint8_t *at, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		*at++ = (uint8_t)(number | 0x80);
	*at++ = (uint8_t)number;
	return at;
}

static inline void put_varint(struct packets *packets, uint64_t number)
{
	packets->at = varint_put(packets->at, number);
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

/*
 * ---- what is used of Perfetto's messages: the numbers of their fields, and values
 *
 * From protos/perfetto/trace/ of Perfetto's source. A field keeps its number for ever.
 */

/* TracePacket */
enum {
	PACKET_CLOCKS = 6,
	PACKET_TIME = 8, /* timestamp */
	PACKET_SEQUENCE = 10, /* trusted_packet_sequence_id */
	PACKET_EVENT = 11, /* track_event */
	PACKET_NAMES = 12, /* interned_data */
	PACKET_FLAGS = 13, /* sequence_flags */
	PACKET_CLOCK = 58, /* timestamp_clock_id */
	PACKET_DEFAULTS = 59,
	PACKET_TRACK = 60, /* track_descriptor */
	PACKET_IS_FIRST = 87, /* first_packet_on_sequence */
	PACKET_ATTRIBUTES = 126,
};

/* SEQ_INCREMENTAL_STATE_CLEARED, SEQ_NEEDS_INCREMENTAL_STATE */
enum { FLAG_BEGINS = 1, FLAG_NEEDS_NAMES = 2 };

/* ClockSnapshot, and a Clock; clocks up to 63 are of the whole trace, from 64 on of a sequence */
enum { CLOCKS_CLOCK = 1 };
enum { CLOCK_ID = 1, CLOCK_TIME = 2, CLOCK_IS_DIFFERENCE = 3 };
enum { CLOCK_OF_TRACE = 6, CLOCK_OF_SEQUENCE = 64 };

/* TracePacketDefaults */
enum { DEFAULTS_EVENT = 11, DEFAULTS_CLOCK = 58 };

/* TrackDescriptor, and what a track may be */
enum {
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	TRACK_RANK = 12, /* sibling_order_rank */
	TRACK_MERGES = 15, /* sibling_merge_behavior: with tracks of the same name */
	TRACK_PROCESSES = 19, /* process_ordering, of the track 0 alone, as the next */
	TRACK_THREADS = 20,
};
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum { COUNTER_CATEGORY = 2 };
enum { MERGES_NEVER = 2 };
enum { ORDER_BY_RANK = 1 };

/* TrackEvent */
enum {
	EVENT_CATEGORY = 3,
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME = 10,
	EVENT_TRACK = 11,
	EVENT_INTEGER = 30, /* a counter's value, as the next */
	EVENT_DOUBLE = 44,
	EVENT_FLOW = 47, /* of 64 bits, as the next: terminating_flow_ids */
	EVENT_FLOW_END = 48,
};
enum event_type { TYPE_BEGIN = 1, TYPE_END, TYPE_INSTANT, TYPE_COUNTER };

/* DebugAnnotation */
enum {
	ANNOTATION_NAME = 1,
	ANNOTATION_INTEGER = 4,
	ANNOTATION_DOUBLE = 5,
	ANNOTATION_TEXT = 6,
	ANNOTATION_POINTER = 7,
};

/* InternedData: fields for three kinds of names; and a name */
enum name_kind { NAME_OF_CATEGORY = 1, NAME_OF_EVENT, NAME_OF_ARG, NR_NAME_KINDS };
enum { NAME_NUMBER = 1, NAME_TEXT = 2 };

/* TraceAttributes, and an Attribute */
enum { ATTRIBUTES_ATTRIBUTE = 1 };
enum { ATTRIBUTE_KEY = 1, ATTRIBUTE_INTEGER = 2, ATTRIBUTE_TEXT = 3 };

#endif
