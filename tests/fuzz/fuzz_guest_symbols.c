/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_guest_symbols - a guest with a layout, page tables and changed bytes of its memory, of its
 * registers, or of both: an error with a text, or names; within the bounds.
 */
#include <stdlib.h>

#include "host/guest_symbols.h"
#include "lib/array.h"
#include "tests/worlds/guest_kernel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the input changes: where, and up to 8 bytes. */
struct change {
	uint8_t region, bytes;
	uint16_t offset;
	uint8_t value[8];
};

static size_t region(const struct guest_kernel *kernel, unsigned int number)
{
	const size_t regions[] = {
		kernel->nr, kernel->names, kernel->markers, kernel->tokens, kernel->index,
		kernel->addresses, kernel->base, kernel->end, KERNEL_TABLES, KERNEL_TABLES + 0x1000,
		kernel->next_table - 0x2000, kernel->next_table - 0x1000,
		KERNEL_GPA + KERNEL_DATA,
	};

	return regions[number % ARRAY_SIZE(regions)];
}

static void apply(struct guest_kernel *kernel, const struct change *change)
{
	size_t bytes = change->bytes % 8 + 1;
	uint64_t *const registers[] = { &kernel->registers.pc, &kernel->registers.root,
					&kernel->registers.control, &kernel->registers.lstar,
					&kernel->registers.idt, &kernel->slot.bytes };

	if (change->region & 0x80)
		memcpy(registers[change->region % ARRAY_SIZE(registers)], change->value, bytes);
	else
		memcpy(kernel->memory + region(kernel, change->region) + change->offset % 0x4000,
		       change->value, bytes);
	if (kernel->slot.bytes > KERNEL_MEMORY)
		kernel->slot.bytes = KERNEL_MEMORY;
}

static void use(const struct guest_symbols *symbols, struct guest_memory *memory,
		const struct guest_kernel *kernel)
{
	uint64_t address, offset, last = 0;
	char name[96];

	for (size_t i = 0; guest_symbols_at(symbols, i, &address, name, sizeof(name)); i += 307) {
		if (address < last)
			abort();
		last = address;
	}
	for (uint64_t at = 0; at < KERNEL_END; at += 9001) {
		bool is_there = guest_symbols_function(symbols, kernel->paging->begin + at, name,
						       sizeof(name), &offset);

		if (is_there && (!name[0] || offset > at))
			abort();
	}
	guest_memory_init(memory, kernel->fd, &kernel->slot, 1);
	guest_symbols_are_valid(symbols, memory, &kernel->registers);
}

static void run(const struct guest_kernel *kernel)
{
	struct guest_memory *memory = xmalloc(sizeof(*memory));
	struct guest_symbols *symbols = NULL;
	struct error error = { "" };
	int err;

	guest_memory_init(memory, kernel->fd, &kernel->slot, 1);
	err = guest_symbols_find(memory, &kernel->registers, &symbols, &error);
	if (!err != (symbols != NULL) || !err != !error.text[0])
		abort();
	if (symbols)
		use(symbols, memory, kernel);
	guest_symbols_free(symbols);
	free(memory);
}

/* Guests are made once; what an input changes in the memory is put back. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct guest_kernel kernels[ARRAY_SIZE(kernel_shapes)][ARRAY_SIZE(kernel_pagings)];
	static uint8_t *good[ARRAY_SIZE(kernel_shapes)][ARRAY_SIZE(kernel_pagings)];
	struct change changes[64];
	size_t nr = 0, shape, paging;
	struct guest_kernel kernel;

	if (size < 2)
		return 0;
	shape = data[0] % ARRAY_SIZE(kernel_shapes);
	paging = data[1] % ARRAY_SIZE(kernel_pagings);
	if (!good[shape][paging]) {
		kernel_make(&kernels[shape][paging], &kernel_shapes[shape],
			    &kernel_pagings[paging]);
		good[shape][paging] = xmalloc(KERNEL_MEMORY);
		memcpy(good[shape][paging], kernels[shape][paging].memory, KERNEL_MEMORY);
	}
	kernel = kernels[shape][paging];
	for (data += 2, size -= 2; size >= sizeof(*changes) && nr < ARRAY_SIZE(changes); nr++) {
		memcpy(&changes[nr], data, sizeof(*changes));
		apply(&kernel, &changes[nr]);
		data += sizeof(*changes);
		size -= sizeof(*changes);
	}
	run(&kernel);
	for (size_t i = 0; i < nr; i++) {
		size_t at = region(&kernel, changes[i].region) + changes[i].offset % 0x4000;

		memcpy(kernel.memory + at, good[shape][paging] + at, 8);
	}
	return 0;
}
