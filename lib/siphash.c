// SPDX-License-Identifier: GPL-2.0-or-later
/* J.-P. Aumasson, D. J. Bernstein: "SipHash: a fast short-input PRF", 2012. */
#include <endian.h>
#include <string.h>

#include "lib/siphash.h"

static uint64_t rotate(uint64_t x, unsigned int bits)
{
	return x << bits | x >> (64 - bits);
}

static void rounds(uint64_t v[4], unsigned int nr)
{
	while (nr--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] = rotate(v[0], 32) + v[3];
		v[2] += v[1];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[2] = rotate(v[2], 32);
	}
}

uint64_t siphash(const uint64_t key[2], const void *bytes, size_t size)
{
	uint64_t v[4] = {
		key[0] ^ UINT64_C(0x736f6d6570736575), key[1] ^ UINT64_C(0x646f72616e646f6d),
		key[0] ^ UINT64_C(0x6c7967656e657261), key[1] ^ UINT64_C(0x7465646279746573),
	};

	for (size_t at = 0; at <= size; at += 8) {
		size_t left = size - at < 8 ? size - at : 8;
		uint64_t word = 0;

		memcpy(&word, (const char *)bytes + at, left);
		word = le64toh(word);
		if (left < 8)
			word |= (uint64_t)size << 56;
		v[3] ^= word;
		rounds(v, 2);
		v[0] ^= word;
	}
	v[2] ^= 0xff;
	rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
