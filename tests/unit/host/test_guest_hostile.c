// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory of guests that is to mislead: nothing is found in it, at limited cost. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "host/guest_symbols.h"
#include "lib/array.h"
#include "tests/unit/unit.h"
#include "tests/worlds/guest_kernel.h"

static const struct kernel_shape *const newest = &kernel_shapes[ARRAY_SIZE(kernel_shapes) - 1];
static const struct kernel_shape *const percpu = &kernel_shapes[4];
static const struct kernel_paging *const x86 = &kernel_pagings[0];

/* Overwrites `size` bytes of the guest: the symbols are not found, and nothing else happens. */
static void is_refused(const struct kernel_shape *shape, size_t offset, const void *bytes,
		       size_t size, int line)
{
	struct guest_symbols *symbols = NULL;
	struct guest_kernel kernel;
	size_t at;

	kernel_make(&kernel, shape, x86);
	memcpy(&at, (char *)&kernel + offset, sizeof(at));
	memcpy(kernel.memory + at, bytes, size);
	if (kernel_find(&kernel, &symbols) != -ENOENT || symbols)
		fail_msg("line %d: found", line);
	kernel_end(&kernel);
}

#define REFUSED(shape, member, type, ...)                                                          \
	do {                                                                                       \
		const type bytes_[] = { __VA_ARGS__ };                                             \
		is_refused(shape, offsetof(struct guest_kernel, member), bytes_, sizeof(bytes_),  \
			   __LINE__);                                                              \
	} while (0)

TEST(tables_that_do_not_fit_are_refused)
{
	REFUSED(newest, nr, uint32_t, UINT32_MAX);
	REFUSED(newest, nr, uint32_t, 1 << 20);
	REFUSED(newest, nr, uint32_t, 0);
	REFUSED(newest, nr, uint32_t, KERNEL_NR - 2);
	REFUSED(newest, nr, uint32_t, KERNEL_NR + 1);
	REFUSED(newest, names, uint8_t, 0);
	REFUSED(newest, names, uint8_t, 0xff, 0xff);
	REFUSED(newest, markers, uint32_t, 1);
	REFUSED(newest, markers, uint32_t, 0, UINT32_MAX);
	REFUSED(newest, tokens, uint8_t, 0);
	REFUSED(newest, tokens, uint8_t, '\033');
	REFUSED(newest, index, uint16_t, 1);
	REFUSED(percpu, base, uint64_t, 0);
	REFUSED(percpu, base, uint64_t, UINT64_MAX);
	REFUSED(percpu, addresses, uint32_t, 0x80000000); /* descending */
	REFUSED(newest, addresses, uint32_t, 0x10000000);
	REFUSED(&kernel_shapes[5], addresses, uint64_t, UINT64_MAX);
}

/* The list is right, but not of the kernel that runs. */
TEST(the_code_must_be_between_stext_and_etext)
{
	struct guest_symbols *symbols = NULL;
	struct guest_kernel kernel;

	kernel_make(&kernel, newest, x86);
	kernel.registers.pc = x86->begin + 5 * KERNEL_STEP - 1;
	assert_int_equal(kernel_find(&kernel, &symbols), -ENOENT);
	kernel.registers.pc++;
	assert_int_equal(kernel_find(&kernel, &symbols), 0);
	guest_symbols_free(symbols);
	kernel.registers.pc = x86->begin + KERNEL_ETEXT * KERNEL_STEP;
	assert_int_equal(kernel_find(&kernel, &symbols), -ENOENT);
	kernel.registers.pc--;
	assert_int_equal(kernel_find(&kernel, &symbols), 0);
	guest_symbols_free(symbols);
	kernel_end(&kernel);
}

/* An entry of each table that leads to its own table. */
TEST(page_tables_that_loop_end)
{
	struct guest_symbols *symbols = NULL;
	struct guest_kernel kernel;
	uint64_t loop;

	for (size_t i = 0; i < ARRAY_SIZE(kernel_pagings); i++) {
		kernel_make(&kernel, newest, &kernel_pagings[i]);
		loop = kernel_entry(&kernel, KERNEL_TABLES) | 3;
		for (size_t at = KERNEL_TABLES; at < kernel.next_table; at += sizeof(loop))
			memcpy(kernel.memory + at, &loop, sizeof(loop));
		assert_int_equal(kernel_find(&kernel, &symbols), -ENOENT);
		kernel_end(&kernel);
	}
}

TEST(memory_outside_the_slot_is_not_read)
{
	struct guest_symbols *symbols = NULL;
	struct guest_kernel kernel;

	kernel_make(&kernel, newest, x86);
	kernel.slot.bytes = kernel.end; /* within the page */
	assert_int_equal(kernel_find(&kernel, &symbols), -ENOENT);
	kernel.slot.bytes = KERNEL_TABLES + 100;
	assert_int_equal(kernel_find(&kernel, &symbols), -ENOENT);
	kernel.slot.bytes = KERNEL_MEMORY;
	kernel.registers.root = UINT64_MAX;
	assert_int_equal(kernel_find(&kernel, &symbols), -ENOENT);
	/* The VMM's memory is gone. */
	kernel.registers.root = KERNEL_TABLES;
	assert_int_equal(ftruncate(kernel.fd, 0), 0);
	assert_int_equal(kernel_find(&kernel, &symbols), -EIO);
	kernel_end(&kernel);
}

TEST(registers_that_make_no_sense_are_refused)
{
	struct guest_symbols *symbols = NULL;
	struct guest_kernel kernel;

	kernel_make(&kernel, newest, &kernel_pagings[3]);
	for (uint64_t control = 0; control < UINT64_C(1) << 32; control += 1 << 16) {
		kernel.registers.control = control * 0x9e3779b97f4a7c15;
		if (kernel_find(&kernel, &symbols) == 0)
			guest_symbols_free(symbols);
	}
	kernel_end(&kernel);
}

/* ---- bounds */

/* All that is before the tokens is markers, and so many names that these fit. */
TEST(false_markers_cost_limited_work)
{
	const uint32_t markers[] = { 0, 1000, 2000, 3000, 4000, 5000, 1500, 1500 };
	struct guest_symbols *symbols = NULL;
	struct guest_kernel kernel;
	size_t moved = KERNEL_GPA + KERNEL_RODATA + 0xf000;
	int err;

	kernel_make(&kernel, newest, x86);
	memmove(kernel.memory + moved, kernel.memory + kernel.tokens,
		kernel.index + 512 - kernel.tokens);
	for (size_t at = KERNEL_GPA + KERNEL_RODATA; at < moved; at += sizeof(markers))
		memcpy(kernel.memory + at, markers, sizeof(markers));
	err = kernel_find(&kernel, &symbols);
	assert_true(err == -ENOENT || err == -E2BIG);
	kernel_end(&kernel);
}

TEST(bounds_end_the_search)
{
	struct guest_memory *memory = xmalloc(sizeof(*memory));
	struct guest_symbols *symbols = NULL;
	struct error error = { "" };
	struct guest_kernel kernel;

	kernel_make(&kernel, newest, x86);
	for (int bound = 0; bound < 4; bound++) {
		guest_memory_init(memory, kernel.fd, &kernel.slot, 1);
		if (bound == 0)
			memory->bytes = 50000;
		else if (bound == 1)
			memory->steps = 30000;
		else if (bound == 2)
			memory->tables = 3;
		else
			memory->end_ns = 1;
		assert_int_equal(guest_symbols_find(memory, &kernel.registers, &symbols, &error),
				 -E2BIG);
		assert_string_equal(error.text,
				    "its memory has too much that looks like symbols");
	}
	free(memory);
	kernel_end(&kernel);
}

struct writer {
	struct guest_kernel *kernel;
	atomic_bool ends;
};

static void *keep_writing(void *arg)
{
	struct writer *writer = arg;
	struct guest_kernel *kernel = writer->kernel;
	size_t size = kernel->end - kernel->nr;
	uint32_t random = 1;
	uint8_t *good = xmalloc(size);

	memcpy(good, kernel->memory + kernel->nr, size);
	while (!writer->ends) {
		for (int i = 0; i < 8; i++) {
			random = random * 1664525 + 1013904223;
			kernel->memory[kernel->nr + random % size] = (uint8_t)(random >> 24);
		}
		memcpy(kernel->memory + kernel->nr, good, size);
	}
	free(good);
	return NULL;
}

/* The guest changes its tables while they are read: found or not, and never read beyond them. */
TEST(tables_that_change_are_no_danger)
{
	struct guest_kernel kernel;
	struct writer writer = { &kernel, false };
	struct guest_symbols *symbols;
	char name[64];
	uint64_t offset;
	pthread_t thread;
	int found = 0;

	kernel_make(&kernel, newest, x86);
	assert_int_equal(pthread_create(&thread, NULL, keep_writing, &writer), 0);
	for (int i = 0; i < 200; i++) {
		if (kernel_find(&kernel, &symbols))
			continue;
		for (uint64_t at = 0; at < KERNEL_END; at += 400)
			guest_symbols_function(symbols, x86->begin + at, name, sizeof(name),
					       &offset);
		guest_symbols_free(symbols);
		found++;
	}
	writer.ends = true;
	pthread_join(thread, NULL);
	print_message("found %d of 200\n", found);
	kernel_end(&kernel);
}
