// SPDX-License-Identifier: GPL-2.0-or-later
/* Heads of CBOR are as in RFC 8949, appendix A; what is cut off or another kind is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "history/columns.h"
#include "tests/unit/unit.h"

static const struct {
	enum cbor_kind kind;
	uint64_t number;
	size_t size;
	const char *bytes;
} heads[] = {
	{ CBOR_NUMBER, 0, 1, "\x00" },
	{ CBOR_NUMBER, 23, 1, "\x17" },
	{ CBOR_NUMBER, 24, 2, "\x18\x18" },
	{ CBOR_NUMBER, 255, 2, "\x18\xff" },
	{ CBOR_NUMBER, 256, 3, "\x19\x01\x00" },
	{ CBOR_NUMBER, 65535, 3, "\x19\xff\xff" },
	{ CBOR_NUMBER, 1000000, 5, "\x1a\x00\x0f\x42\x40" },
	{ CBOR_NUMBER, UINT32_MAX, 5, "\x1a\xff\xff\xff\xff" },
	{ CBOR_NUMBER, 1000000000000, 9, "\x1b\x00\x00\x00\xe8\xd4\xa5\x10\x00" },
	{ CBOR_NUMBER, UINT64_MAX, 9, "\x1b\xff\xff\xff\xff\xff\xff\xff\xff" },
	{ CBOR_BYTES, 4, 1, "\x44" },
	{ CBOR_TEXT, 4, 1, "\x64" },
	{ CBOR_ARRAY, 25, 2, "\x98\x19" },
	{ CBOR_MAP, 2, 1, "\xa2" },
};
#define NR_HEADS (sizeof(heads) / sizeof(heads[0]))

static void heads_are_the_rfcs(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR_HEADS; i++) {
		const unsigned char *bytes = (const unsigned char *)heads[i].bytes;
		unsigned char written[CBOR_HEAD_MAX];
		uint64_t number = 4711;

		assert_int_equal(cbor_head_write(written, heads[i].kind, heads[i].number),
				 heads[i].size);
		assert_memory_equal(written, bytes, heads[i].size);
		assert_int_equal(cbor_head_read(bytes, heads[i].size, heads[i].kind, &number),
				 heads[i].size);
		assert_true(number == heads[i].number);
	}
}

static void what_is_cut_off_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR_HEADS; i++) {
		for (size_t size = 0; size < heads[i].size; size++) {
			unsigned char cut[CBOR_HEAD_MAX];
			uint64_t number = 4711;

			/* At the end of its room: a sanitizer sees who reads on. */
			memcpy(cut + CBOR_HEAD_MAX - size, heads[i].bytes, size);
			assert_int_equal(cbor_head_read(cut + CBOR_HEAD_MAX - size, size,
							heads[i].kind, &number), 0);
			assert_true(number == 4711);
		}
	}
}

static void other_items_are_refused(void **state)
{
	/* An array and a map without an end, text in pieces, a reserved size; text is no bytes. */
	static const struct {
		enum cbor_kind kind;
		const char *bytes;
	} others[] = {
		{ CBOR_ARRAY, "\x9f" },  { CBOR_MAP, "\xbf" },   { CBOR_TEXT, "\x7f" },
		{ CBOR_NUMBER, "\x1c" }, { CBOR_BYTES, "\x64" }, { CBOR_NUMBER, "\x20" },
	};
	uint64_t number;

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_int_equal(cbor_head_read((const unsigned char *)others[i].bytes, 1,
						others[i].kind, &number), 0);
}

UNIT(test_cbor)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heads_are_the_rfcs),
		cmocka_unit_test(what_is_cut_off_is_refused),
		cmocka_unit_test(other_items_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
