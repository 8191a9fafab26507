// SPDX-License-Identifier: GPL-2.0-or-later
/* SipHash has the values that its authors print. */
#include "lib/siphash.h"
#include "tests/unit/unit.h"

/* The vectors of the paper's authors: the key 00 01 02 ..., and the text as far. */
TEST(siphash_is_siphash)
{
	const uint64_t key[2] = { UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908) };
	unsigned char text[15];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (unsigned char)i;
	assert_true(siphash(key, text, 0) == UINT64_C(0x726fdb47dd0e0e31));
	assert_true(siphash(key, text, 8) == UINT64_C(0x93f5f5799a932462));
	assert_true(siphash(key, text, 15) == UINT64_C(0xa129ca6149be45e5));
}
