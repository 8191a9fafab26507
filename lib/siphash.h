/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * siphash - SipHash-2-4: a hash with a key, which cannot be foreseen or inverted without the key.
 *
 * J.-P. Aumasson, D. J. Bernstein: "SipHash: a fast short-input PRF", 2012.
 */
#ifndef KVMTOP_LIB_SIPHASH_H
#define KVMTOP_LIB_SIPHASH_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t siphash_rotate(uint64_t x, unsigned int bits)
{
	return x << bits | x >> (64 - bits);
}

static inline void siphash_rounds(uint64_t v[4], unsigned int nr)
{
	while (nr--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = siphash_rotate(v[1], 13) ^ v[0];
		v[3] = siphash_rotate(v[3], 16) ^ v[2];
		v[0] = siphash_rotate(v[0], 32) + v[3];
		v[2] += v[1];
		v[3] = siphash_rotate(v[3], 21) ^ v[0];
		v[1] = siphash_rotate(v[1], 17) ^ v[2];
		v[2] = siphash_rotate(v[2], 32);
	}
}

static inline uint64_t siphash(const uint64_t key[2], const void *bytes, size_t size)
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
		siphash_rounds(v, 2);
		v[0] ^= word;
	}
	v[2] ^= 0xff;
	siphash_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

#endif
