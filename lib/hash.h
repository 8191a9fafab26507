/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hash - uthash; without memory for a table the program ends. And FNV-1a, a number for bytes.
 */
#ifndef KVMTOP_LIB_HASH_H
#define KVMTOP_LIB_HASH_H

#include <stdint.h>

#include "lib/xalloc.h"

#define uthash_malloc(size) xmalloc(size)
#include <uthash.h>

/* Adds an element by one of its members. */
#define hash_add(table, member, element) \
	HASH_ADD(hh, table, member, sizeof((element)->member), element)

/* The element with this key, or a new one, which is zero otherwise. */
#define hash_get(table, member, key_at)                                               \
	__extension__({                                                               \
		__typeof__(table) hash_found;                                         \
		HASH_FIND(hh, table, key_at, sizeof(hash_found->member), hash_found); \
		if (!hash_found) {                                                    \
			hash_found = xcalloc(1, sizeof(*hash_found));                 \
			hash_found->member = *(key_at);                               \
			hash_add(table, member, hash_found);                          \
		}                                                                     \
		hash_found;                                                           \
	})

/* Empties a table; release, such as free(), takes each element. */
#define hash_free(table, release)                               \
	do {                                                    \
		__typeof__(table) hash_at = (table), hash_next; \
		HASH_CLEAR(hh, table);                          \
		for (; hash_at; hash_at = hash_next) {          \
			hash_next = hash_at->hh.next;           \
			release(hash_at);                       \
		}                                               \
	} while (0)

#define HASH_START UINT64_C(0xcbf29ce484222325)

/* The hash of some bytes becomes that of one more, or of a text after them. */
static inline uint64_t hash_byte(uint64_t hash, uint8_t byte)
{
	return (hash ^ byte) * UINT64_C(0x100000001b3);
}

static inline uint64_t hash_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = hash_byte(hash, (uint8_t)*text);
	return hash;
}

#endif
