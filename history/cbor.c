// SPDX-License-Identifier: GPL-2.0-or-later
/* Heads of CBOR: the shortest that holds the number is written, all four sizes are read. */
#include "history/cbor.h"

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
