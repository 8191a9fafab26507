// SPDX-License-Identifier: GPL-2.0-or-later
/* Symbols found in the memory of guests: each layout, each kind of page table. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/guest_symbols.h"
#include "lib/array.h"
#include "tests/unit/unit.h"
#include "tests/worlds/guest_kernel.h"

static const struct kernel_shape *const newest = &kernel_shapes[ARRAY_SIZE(kernel_shapes) - 1];
static const struct kernel_shape *const percpu = &kernel_shapes[4];
static const struct kernel_paging *const x86 = &kernel_pagings[0];

static bool is_valid(const struct guest_kernel *kernel, const struct guest_symbols *symbols)
{
	struct guest_memory *memory = xmalloc(sizeof(*memory));
	bool is;

	guest_memory_init(memory, kernel->fd, &kernel->slot, 1);
	is = guest_symbols_are_valid(symbols, memory, &kernel->registers);
	free(memory);
	return is;
}

/* All symbols, in order. */
static void has_all(const struct guest_kernel *kernel, const struct guest_symbols *symbols)
{
	size_t first = kernel_has_numbers(kernel) ? KERNEL_NUMBERS : 0;
	char name[256], wanted[256];
	uint64_t address;

	for (size_t i = first; i < KERNEL_NR; i++) {
		assert_true(guest_symbols_at(symbols, i - first, &address, name, sizeof(name)));
		kernel_symbol(kernel, i, wanted);
		assert_string_equal(name, wanted);
		assert_int_equal(address, kernel_address(kernel, i));
	}
	assert_false(guest_symbols_at(symbols, KERNEL_NR - first, &address, name, sizeof(name)));
}

static void is_found(const struct kernel_shape *shape, const struct kernel_paging *paging)
{
	struct guest_symbols *symbols = NULL;
	struct guest_kernel kernel;

	kernel_make(&kernel, shape, paging);
	if (kernel_find(&kernel, &symbols))
		fail_msg("nothing found: %s, %s", shape->name, paging->name);
	has_all(&kernel, symbols);
	assert_true(is_valid(&kernel, symbols));
	guest_symbols_free(symbols);
	kernel_end(&kernel);
}

TEST(each_layout_is_found)
{
	for (size_t i = 0; i < ARRAY_SIZE(kernel_shapes); i++)
		is_found(&kernel_shapes[i], x86);
}

TEST(each_kind_of_page_table_is_walked)
{
	for (size_t i = 0; i < ARRAY_SIZE(kernel_pagings); i++)
		is_found(newest, &kernel_pagings[i]);
}

/* What is of the image, and for which use. */
TEST(the_image_has_extents)
{
	static const struct guest_extent wanted[] = {
		{ KERNEL_TEXT, KERNEL_RODATA, true, false },
		{ KERNEL_RODATA, KERNEL_DATA - 0x10000, false, false },
		{ KERNEL_DATA, KERNEL_END, false, true },
	};
	struct guest_memory *memory = xmalloc(sizeof(*memory));
	struct guest_image *image = xmalloc(sizeof(*image));

	for (size_t i = 0; i < ARRAY_SIZE(kernel_pagings); i++) {
		uint64_t begin = kernel_pagings[i].begin;
		struct guest_kernel kernel;

		kernel_make(&kernel, newest, &kernel_pagings[i]);
		guest_memory_init(memory, kernel.fd, &kernel.slot, 1);
		assert_true(guest_memory_use(memory, &kernel.registers, 0));
		assert_int_equal(guest_image_find(memory, begin + KERNEL_RODATA, image), -ENOENT);
		assert_int_equal(guest_image_find(memory, kernel.registers.pc, image), 0);
		assert_int_equal(image->nr, ARRAY_SIZE(wanted));
		for (size_t k = 0; k < ARRAY_SIZE(wanted); k++) {
			const struct guest_extent *extent = &image->extents[k];

			assert_int_equal(extent->begin - begin, wanted[k].begin);
			assert_int_equal(extent->end - begin, wanted[k].end);
			assert_int_equal(extent->is_executable, wanted[k].is_executable);
			assert_int_equal(extent->is_writable, wanted[k].is_writable);
		}
		kernel_end(&kernel);
	}
	free(image);
	free(memory);
}

/* ---- names */

static void is_at(const struct guest_symbols *symbols, uint64_t address, const char *wanted)
{
	char name[64] = "-";
	uint64_t offset;

	assert_int_equal(guest_symbols_function(symbols, address, name, sizeof(name), &offset),
			 wanted != NULL);
	assert_string_equal(name, wanted ? wanted : "-");
}

TEST(addresses_have_names)
{
	uint64_t begin = x86->begin, offset = 0;
	struct guest_symbols *symbols;
	struct guest_kernel kernel;
	char name[16];

	kernel_make(&kernel, percpu, x86);
	assert_int_equal(kernel_find(&kernel, &symbols), 0);
	assert_true(guest_symbols_function(symbols, begin + 1000 * KERNEL_STEP + 3, name,
					   sizeof(name), &offset));
	assert_int_equal(offset, 3);
	is_at(symbols, 0, NULL);
	is_at(symbols, 16, NULL); /* a number, no address */
	is_at(symbols, begin, NULL);
	is_at(symbols, begin + 5 * KERNEL_STEP, "_stext");
	is_at(symbols, begin + 6 * KERNEL_STEP - 1, "_stext");
	is_at(symbols, begin + 1000 * KERNEL_STEP + 3, "func_1000");
	is_at(symbols, begin + KERNEL_DATA + 8 * KERNEL_NR, NULL); /* data */
	is_at(symbols, begin + KERNEL_END, NULL);
	is_at(symbols, UINT64_MAX, NULL);
	guest_symbols_free(symbols);
	kernel_end(&kernel);
}

/* As in the kernel: of several names the first one. */
TEST(of_names_at_one_address_the_first_one_counts)
{
	struct guest_symbols *symbols;
	struct guest_kernel kernel;
	uint32_t value;

	kernel_make(&kernel, percpu, x86);
	memcpy(&value, kernel.memory + kernel.addresses + 4 * 100, 4);
	for (size_t i = 101; i < 105; i++)
		memcpy(kernel.memory + kernel.addresses + 4 * i, &value, 4);
	assert_int_equal(kernel_find(&kernel, &symbols), 0);
	is_at(symbols, x86->begin + 100 * KERNEL_STEP + 1, "func_100");
	is_at(symbols, x86->begin + 104 * KERNEL_STEP + 1, "func_100");
	is_at(symbols, x86->begin + 105 * KERNEL_STEP + 1, "func_105");
	is_at(symbols, x86->begin + 99 * KERNEL_STEP + 1, "func_99");
	guest_symbols_free(symbols);
	kernel_end(&kernel);
}

/* A name goes into SVG, JSON and a terminal. */
TEST(names_have_no_other_characters)
{
	struct guest_symbols *symbols;
	struct guest_kernel kernel;

	kernel_make(&kernel, newest, x86);
	memcpy(memmem(kernel.memory + kernel.tokens, 2048, "func_", 5), "<&;\"'", 5);
	assert_int_equal(kernel_find(&kernel, &symbols), 0);
	is_at(symbols, x86->begin + 10 * KERNEL_STEP, "?????10");
	guest_symbols_free(symbols);
	kernel_end(&kernel);
}

/* ---- where the search begins */

TEST(other_instructions_lead_to_the_kernel)
{
	uint64_t handler = x86->begin + 0x2000;
	uint64_t gate[2] = { (handler & 0xffff) | 0x10 << 16 | 0x8eull << 40 |
				     (handler >> 16 & 0xffff) << 48,
			     handler >> 32 };
	struct guest_symbols *symbols;
	struct guest_kernel kernel;

	kernel_make(&kernel, newest, x86);
	kernel.registers.pc = 0x400000; /* in user mode */
	assert_int_equal(kernel_find(&kernel, &symbols), -ENOENT);
	kernel.registers.lstar = handler;
	assert_int_equal(kernel_find(&kernel, &symbols), 0);
	guest_symbols_free(symbols);
	kernel.registers.lstar = 0;
	kernel.registers.idt = x86->begin + KERNEL_DATA;
	assert_int_equal(kernel_find(&kernel, &symbols), -ENOENT); /* not present */
	memcpy(kernel.memory + KERNEL_GPA + KERNEL_DATA, gate, sizeof(gate));
	assert_int_equal(kernel_find(&kernel, &symbols), 0);
	guest_symbols_free(symbols);
	kernel.registers.idt += 8;
	assert_int_equal(kernel_find(&kernel, &symbols), -ENOENT);
	kernel_end(&kernel);
}

/* With KPTI the kernel's tables are before the user's, otherwise the bit is of the address. */
TEST(bit_12_of_cr3_is_a_flag_or_an_address)
{
	struct guest_symbols *symbols;
	struct guest_kernel kernel;

	kernel_make(&kernel, newest, x86);
	kernel.registers.root |= 0x1000;
	assert_int_equal(kernel_find(&kernel, &symbols), 0);
	assert_true(is_valid(&kernel, symbols));
	guest_symbols_free(symbols);
	/* The top table moves to where the bit points. */
	memcpy(kernel.memory + 0xf000, kernel.memory + KERNEL_TABLES, 0x1000);
	memset(kernel.memory + KERNEL_TABLES, 0, 8);
	kernel.registers.root = 0xf000 | 0x800;
	memset(kernel.memory + 0xe000, 0, 0x1000);
	assert_int_equal(kernel_find(&kernel, &symbols), 0);
	assert_true(is_valid(&kernel, symbols));
	guest_symbols_free(symbols);
	kernel_end(&kernel);
}

/* With KPTI, at EL0. Of pages of 64 KiB there is no room before the tables. */
TEST(tables_of_arm64s_user_mode_lead_to_the_kernels)
{
	struct guest_symbols *symbols;
	struct guest_kernel kernel;

	for (size_t i = 2; kernel_pagings[i].page_shift < 16; i++) {
		uint64_t pages = 2ull << kernel_pagings[i].page_shift;

		kernel_make(&kernel, newest, &kernel_pagings[i]);
		kernel.registers.root -= pages;
		assert_int_equal(kernel_find(&kernel, &symbols), 0);
		assert_true(is_valid(&kernel, symbols));
		guest_symbols_free(symbols);
		kernel.registers.root -= pages;
		assert_int_equal(kernel_find(&kernel, &symbols), -ENOENT);
		kernel_end(&kernel);
	}
}

/* ---- the same guest later */

/* After a reset the old kernel's bytes stay for some time: the new one runs elsewhere. */
TEST(a_guest_that_was_reset_has_no_valid_symbols)
{
	const struct kernel_paging moved = { "moved", GUEST_X86_64, 12, 48, 0,
					      0xffffffff91000000, 0 };
	struct guest_symbols *symbols;
	struct guest_kernel kernel;
	uint64_t *entry;

	kernel_make(&kernel, newest, x86);
	assert_int_equal(kernel_find(&kernel, &symbols), 0);
	kernel.memory[kernel.index + 9] ^= 1; /* the place is right, the bytes are not */
	assert_false(is_valid(&kernel, symbols));
	kernel.memory[kernel.index + 9] ^= 1;
	assert_true(is_valid(&kernel, symbols));
	/* The bytes are right, and are mapped elsewhere. */
	memset(kernel.memory + KERNEL_TABLES, 0, KERNEL_GPA - KERNEL_TABLES);
	kernel.paging = &moved;
	kernel_map_all(&kernel);
	assert_false(is_valid(&kernel, symbols));
	/* Or the address is mapped to other memory with the same bytes. */
	kernel.paging = x86;
	kernel_map_all(&kernel);
	assert_true(is_valid(&kernel, symbols));
	memcpy(kernel.memory + 0x2f0000, kernel.memory + (kernel.index & ~(size_t)0xfff), 0x2000);
	for (size_t at = KERNEL_TABLES; at < kernel.next_table; at += 8) {
		entry = (uint64_t *)(void *)(kernel.memory + at);
		if ((*entry & 0xffffffffff000) == (kernel.index & ~(size_t)0xfff))
			*entry = (*entry & ~(uint64_t)0xffffffffff000) | 0x2f0000;
	}
	assert_false(is_valid(&kernel, symbols));
	guest_symbols_free(symbols);
	kernel_end(&kernel);
}
