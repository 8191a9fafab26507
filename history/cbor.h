/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cbor - what a history has of CBOR (RFC 8949): numbers from 0, text, bytes, arrays, maps.
 *
 * An item begins with a head: its kind, and a number. Of text and bytes the number is how many
 * bytes follow, of an array how many items, of a map how many pairs of items.
 */
#ifndef KVMTOP_HISTORY_CBOR_H
#define KVMTOP_HISTORY_CBOR_H

#include <stddef.h>
#include <stdint.h>

#define CBOR_HEAD_MAX 9 /* bytes */

/* As in the three highest bits of a head. */
enum cbor_kind {
	CBOR_NUMBER = 0,
	CBOR_BYTES = 2,
	CBOR_TEXT = 3,
	CBOR_ARRAY = 4,
	CBOR_MAP = 5,
};

/* Writes a head at bytes, which have room for CBOR_HEAD_MAX; returns its size. */
size_t cbor_head_write(unsigned char *bytes, enum cbor_kind kind, uint64_t number);

/* Reads a head of this kind; returns its size, or 0: another kind, or damaged. */
size_t cbor_head_read(const unsigned char *bytes, size_t size, enum cbor_kind kind,
		      uint64_t *ret_number);

#endif
