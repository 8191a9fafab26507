// SPDX-License-Identifier: GPL-2.0-or-later
/* Packets in a block, and a block in a packet. */
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "lib/array.h"
#include "lib/process.h"
#include "lib/text.h"
#include "trace/timeline/packets.h"

#define FIELD_PACKET 1	    /* of a trace */
#define FIELD_COMPRESSED 50 /* of a packet */

static size_t used(const struct packets *packets)
{
	return (size_t)(packets->at - packets->block);
}

/* ---- full blocks ---- */

static void pack(struct packets *packets)
{
	uLongf len = compressBound(packets->full_len);

	array_grow_unset(&packets->packed, &packets->packed_room, len);
	if (compress2(packets->packed, &len, packets->full, packets->full_len, Z_BEST_SPEED))
		out_of_memory(); /* there is room, so nothing else fails */
	packets->packed_len = len;
}

static void *pack_all(void *arg)
{
	struct packets *packets = arg;

	pthread_mutex_lock(&packets->lock);
	while (packets->state != PACKETS_END) {
		if (packets->state == PACKETS_FULL) {
			pthread_mutex_unlock(&packets->lock);
			pack(packets);
			pthread_mutex_lock(&packets->lock);
			packets->state = PACKETS_PACKED;
			pthread_cond_signal(&packets->changed);
		}
		pthread_cond_wait(&packets->changed, &packets->lock);
	}
	pthread_mutex_unlock(&packets->lock);
	return NULL;
}

static void set_state(struct packets *packets, enum packets_state state)
{
	pthread_mutex_lock(&packets->lock);
	packets->state = state;
	pthread_cond_signal(&packets->changed);
	pthread_mutex_unlock(&packets->lock);
}

/* A packet in which the compressed block is the only field. */
static void write_packed(struct packets *packets)
{
	uint8_t packet[2 * VARINT_MAX], field[2 * VARINT_MAX], *at;
	size_t len;

	at = varint_put(field, FIELD_COMPRESSED << 3 | 2);
	len = (size_t)(varint_put(at, packets->packed_len) - field);
	at = varint_put(packet, FIELD_PACKET << 3 | 2);
	at = varint_put(at, len + packets->packed_len);
	fwrite_unlocked(packet, 1, (size_t)(at - packet), packets->file);
	fwrite_unlocked(field, 1, len, packets->file);
	fwrite_unlocked(packets->packed, 1, packets->packed_len, packets->file);
}

/* Waits for the thread. Whether there is a compressed block. */
static bool wait_packed(struct packets *packets)
{
	bool is_packed;

	pthread_mutex_lock(&packets->lock);
	if (!packets->has_thread && packets->state == PACKETS_FULL) {
		pack(packets);
		packets->state = PACKETS_PACKED;
	}
	while (packets->state == PACKETS_FULL)
		pthread_cond_wait(&packets->changed, &packets->lock);
	is_packed = packets->state == PACKETS_PACKED;
	pthread_mutex_unlock(&packets->lock);
	return is_packed;
}

void packets_hand_over(struct packets *packets)
{
	bool is_packed = wait_packed(packets);
	uint8_t *block = packets->full;
	size_t room = packets->full_room;

	packets->full = packets->block;
	packets->full_room = packets->room;
	packets->full_len = used(packets);
	packets->block = packets->at = block;
	packets->room = room;
	if (is_packed)
		write_packed(packets);
	set_state(packets, PACKETS_FULL);
}

void packets_init(struct packets *packets, FILE *file)
{
	*packets = (struct packets){ .file = file };
	array_grow_unset(&packets->block, &packets->room, PACKETS_BLOCK + 2 * PACKET_NUMBERS);
	array_grow_unset(&packets->full, &packets->full_room, packets->room);
	packets->at = packets->block;
	pthread_mutex_init(&packets->lock, NULL);
	pthread_cond_init(&packets->changed, NULL);
	packets->has_thread = thread_start(&packets->thread, pack_all, packets) == 0;
}

void packets_release(struct packets *packets)
{
	packets_hand_over(packets);
	if (wait_packed(packets))
		write_packed(packets);
	set_state(packets, PACKETS_END);
	if (packets->has_thread)
		pthread_join(packets->thread, NULL);
	pthread_mutex_destroy(&packets->lock);
	pthread_cond_destroy(&packets->changed);
	free(packets->block);
	free(packets->full);
	free(packets->packed);
}

/* ---- fields ---- */

void message_end_long(struct packets *packets, size_t mark)
{
	size_t len = used(packets) - mark, nr = 0;
	uint8_t *at;

	for (size_t more = len >> 7; more; more >>= 7)
		nr++;
	memmove(packets->block + mark + nr, packets->block + mark, len);
	packets->at += nr;
	at = packets->block + mark - 1;
	for (; len >= 0x80; len >>= 7)
		*at++ = (uint8_t)(len | 0x80);
	*at = (uint8_t)len;
}

void put_fixed(struct packets *packets, uint32_t field, uint64_t number)
{
	put_varint(packets, field << 3 | 1);
	for (unsigned int i = 0; i < 8; i++)
		*packets->at++ = (uint8_t)(number >> 8 * i);
}

void put_double(struct packets *packets, uint32_t field, double number)
{
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	put_fixed(packets, field, bits);
}

/* For a text and what may come after it. */
static void make_room(struct packets *packets, size_t len)
{
	size_t before = used(packets);

	array_grow_unset(&packets->block, &packets->room, before + len + PACKET_NUMBERS);
	packets->at = packets->block + before;
}

void put_text(struct packets *packets, uint32_t field, const char *text, size_t len)
{
	uint32_t code;

	make_room(packets, len);
	put_varint(packets, field << 3 | 2);
	put_varint(packets, len);
	for (size_t i = 0, n; i < len; i += n) {
		n = (unsigned char)text[i] < 0x80 ? 1 : utf8_decode(text + i, len - i, &code);
		if (n)
			memcpy(packets->at, text + i, n);
		else
			*packets->at = '?';
		n += !n;
		packets->at += n;
	}
}
