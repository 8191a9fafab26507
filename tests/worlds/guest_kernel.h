/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_kernel - the memory of a guest with page tables, and a kernel of 1,100 symbols in it.
 *
 * The tables of symbols are in each order and form that Linux 4.19 to 7.3 have. What a test does to
 * `memory` is done to the guest.
 */
#ifndef KVMTOP_TESTS_WORLDS_GUEST_KERNEL_H
#define KVMTOP_TESTS_WORLDS_GUEST_KERNEL_H

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/guest_symbols.h"
#include "lib/xalloc.h"

#define KERNEL_NR 1100
#define KERNEL_NUMBERS 5      /* of these, with FORM_PERCPU: no addresses, but numbers */
#define KERNEL_STEP 40	      /* bytes from function to function */
#define KERNEL_ETEXT (KERNEL_NR - 20) /* the symbols from here on are data */
#define KERNEL_LONG 700	      /* its name has 140 tokens, where Linux has such names */

#define KERNEL_GPA 0x200000 /* where the image is */
#define KERNEL_TABLES 0x10000 /* page tables, from here on */
#define KERNEL_TEXT 0	    /* offsets in the image, and its parts of 64 KiB */
#define KERNEL_RODATA 0x10000
#define KERNEL_DATA 0x30000 /* behind a part that is not mapped */
#define KERNEL_END 0x40000
#define KERNEL_MEMORY 0x300000

enum kernel_order { ORDER_OLD8, ORDER_OLD, ORDER_SEQS, ORDER_NEW };
enum kernel_form { FORM_OF_BASE, FORM_OF_CPUS, FORM_OF_PLACE, FORM_OF_WORDS };

struct kernel_shape {
	const char *name;
	enum kernel_order order;
	enum kernel_form form;
};

static const struct kernel_shape kernel_shapes[] = {
	{ "4.19, base", ORDER_OLD8, FORM_OF_BASE },
	{ "4.19, percpu", ORDER_OLD8, FORM_OF_CPUS },
	{ "4.19, absolute", ORDER_OLD8, FORM_OF_WORDS },
	{ "5.10, base", ORDER_OLD, FORM_OF_BASE },
	{ "5.10, percpu", ORDER_OLD, FORM_OF_CPUS },
	{ "5.10, absolute", ORDER_OLD, FORM_OF_WORDS },
	{ "6.2, base", ORDER_SEQS, FORM_OF_BASE },
	{ "6.2, percpu", ORDER_SEQS, FORM_OF_CPUS },
	{ "6.4, base", ORDER_NEW, FORM_OF_BASE },
	{ "6.4, percpu", ORDER_NEW, FORM_OF_CPUS },
	{ "6.4, absolute", ORDER_NEW, FORM_OF_WORDS },
	{ "7.2", ORDER_NEW, FORM_OF_PLACE },
};

/* Page tables: AArch64's by TCR_EL1 (T1SZ, TG1, DS). */
struct kernel_paging {
	const char *name;
	enum guest_machine machine;
	unsigned int page_shift, bits;
	uint64_t control;
	uint64_t begin; /* of the image */
	uint64_t memory; /* the physical address of all that is here */
};

#define ARM64_TCR(granule, bits, ds) \
	((uint64_t)(granule) << 30 | (uint64_t)(64 - (bits)) << 16 | (uint64_t)(ds) << 59)

static const struct kernel_paging kernel_pagings[] = {
	{ "x86-64", GUEST_X86_64, 12, 48, 0, 0xffffffff81000000, 0 },
	{ "x86-64, 5 levels", GUEST_X86_64, 12, 57, 1 << 12, 0xffffffffa7e00000,
	  UINT64_C(5) << 49 },
	{ "4K, 39 bits", GUEST_ARM64, 12, 39, ARM64_TCR(2, 39, 0), 0xffffffc008010000, 0 },
	{ "4K, 48 bits", GUEST_ARM64, 12, 48, ARM64_TCR(2, 48, 0), 0xffffd2e9eb360000, 0 },
	{ "4K, 52 bits", GUEST_ARM64, 12, 52, ARM64_TCR(2, 52, 1), 0xfffff2e9eb360000,
	  UINT64_C(0xb) << 48 },
	{ "16K, 47 bits", GUEST_ARM64, 14, 47, ARM64_TCR(1, 47, 0), 0xffffd2e9eb360000, 0 },
	{ "16K, 52 bits", GUEST_ARM64, 14, 52, ARM64_TCR(1, 52, 1), 0xfffff2e9eb360000,
	  UINT64_C(0xb) << 48 },
	{ "64K, 48 bits", GUEST_ARM64, 16, 48, ARM64_TCR(3, 48, 0), 0xffffd2e9eb360000, 0 },
	{ "64K, 52 bits", GUEST_ARM64, 16, 52, ARM64_TCR(3, 52, 0), 0xfffff2e9eb360000,
	  UINT64_C(0xb) << 48 },
};

struct guest_kernel {
	int fd;
	uint8_t *memory; /* KERNEL_MEMORY bytes */
	struct guest_slot slot;
	struct guest_registers registers;
	const struct kernel_shape *shape;
	const struct kernel_paging *paging;
	size_t next_table; /* of page tables */
	/* where the tables are in the memory */
	size_t nr, names, markers, tokens, index, addresses, base, end;
};

/* ---- what the symbols are */

static inline _Bool kernel_has_numbers(const struct guest_kernel *kernel)
{
	return kernel->shape->form == FORM_OF_CPUS;
}

/* The type, and the name. */
static inline void kernel_symbol(const struct guest_kernel *kernel, size_t i, char *buf)
{
	if (i < KERNEL_NUMBERS && kernel_has_numbers(kernel)) {
		sprintf(buf, "Anumber_%zu", i);
	} else if (i == KERNEL_NUMBERS) {
		strcpy(buf, "T_stext");
	} else if (i == KERNEL_ETEXT) {
		strcpy(buf, "T_etext");
	} else if (i == KERNEL_LONG && kernel->shape->order >= ORDER_SEQS) {
		memset(buf, 'z', 140);
		buf[0] = 't';
		buf[140] = '\0';
	} else {
		sprintf(buf, "%cfunc_%zu", i > KERNEL_ETEXT ? 'd' : i % 2 ? 't' : 'T', i);
	}
}

static inline uint64_t kernel_address(const struct guest_kernel *kernel, size_t i)
{
	uint64_t begin = kernel->paging->begin;

	if (i < KERNEL_NUMBERS && kernel_has_numbers(kernel))
		return 16 * i;
	if (i > KERNEL_ETEXT)
		return begin + KERNEL_DATA + 8 * i;
	return begin + KERNEL_STEP * i;
}

/* ---- writing them */

static inline void kernel_put(struct guest_kernel *kernel, const void *bytes, size_t size)
{
	memcpy(kernel->memory + kernel->end, bytes, size);
	kernel->end += size;
}

static inline void kernel_put_u32(struct guest_kernel *kernel, uint32_t value)
{
	kernel_put(kernel, &value, sizeof(value));
}

static inline void kernel_put_u64(struct guest_kernel *kernel, uint64_t value)
{
	kernel_put(kernel, &value, sizeof(value));
}

/* A label of the assembler. Returns where it is. */
static inline size_t kernel_label(struct guest_kernel *kernel)
{
	size_t to = kernel->shape->form == FORM_OF_PLACE ? 4 : 8;

	return kernel->end = (kernel->end + to - 1) / to * to;
}

/* A character is its own token; 0x80 is "func_"; the others are not used. */
static inline void kernel_put_name(struct guest_kernel *kernel, size_t i)
{
	uint8_t tokens[256];
	char name[256];
	size_t nr = 0;

	kernel_symbol(kernel, i, name);
	for (const char *at = name; *at; nr++) {
		_Bool is_func = strncmp(at, "func_", 5) == 0;

		tokens[nr] = is_func ? 0x80 : (uint8_t)*at;
		at += is_func ? 5 : 1;
	}
	if (nr > 0x7f) {
		uint8_t len[2] = { (uint8_t)(nr | 0x80), (uint8_t)(nr >> 7) };

		kernel_put(kernel, len, sizeof(len));
	} else {
		uint8_t len = (uint8_t)nr;

		kernel_put(kernel, &len, sizeof(len));
	}
	kernel_put(kernel, tokens, nr);
}

static inline void kernel_put_names(struct guest_kernel *kernel)
{
	uint32_t markers[KERNEL_NR / 256 + 1];

	kernel->nr = kernel_label(kernel);
	kernel_put_u32(kernel, KERNEL_NR);
	kernel->names = kernel_label(kernel);
	for (size_t i = 0; i < KERNEL_NR; i++) {
		if (i % 256 == 0)
			markers[i / 256] = (uint32_t)(kernel->end - kernel->names);
		kernel_put_name(kernel, i);
	}
	kernel->markers = kernel_label(kernel);
	for (size_t i = 0; i <= KERNEL_NR / 256; i++) {
		kernel_put_u32(kernel, markers[i]);
		if (kernel->shape->order == ORDER_OLD8)
			kernel_put_u32(kernel, 0);
	}
}

static inline void kernel_put_tokens(struct guest_kernel *kernel)
{
	uint16_t index[256];

	kernel->tokens = kernel_label(kernel);
	for (unsigned int i = 0; i < 256; i++) {
		char text[8];

		index[i] = (uint16_t)(kernel->end - kernel->tokens);
		if (i > ' ' && i < 0x7f)
			sprintf(text, "%c", (int)i);
		else
			strcpy(text, i == 0x80 ? "func_" : "qz");
		kernel_put(kernel, text, strlen(text) + 1);
	}
	kernel->index = kernel_label(kernel);
	kernel_put(kernel, index, sizeof(index));
}

static inline void kernel_put_addresses(struct guest_kernel *kernel)
{
	uint64_t base = kernel->paging->begin, there;

	kernel->addresses = kernel_label(kernel);
	for (size_t i = 0; i < KERNEL_NR; i++) {
		uint64_t address = kernel_address(kernel, i);

		there = base + kernel->end - KERNEL_GPA;
		switch (kernel->shape->form) {
		case FORM_OF_BASE:
			kernel_put_u32(kernel, (uint32_t)(address - base));
			break;
		case FORM_OF_CPUS:
			kernel_put_u32(kernel, (uint32_t)(i < KERNEL_NUMBERS ? address
								     : base - 1 - address));
			break;
		case FORM_OF_PLACE:
			kernel_put_u32(kernel, (uint32_t)(address - there));
			break;
		default:
			kernel_put_u64(kernel, address);
		}
	}
	kernel->base = kernel_label(kernel);
	if (kernel->shape->form == FORM_OF_BASE || kernel->shape->form == FORM_OF_CPUS)
		kernel_put_u64(kernel, base);
}

/* The order of the symbols by name: numbers of three bytes. */
static inline void kernel_put_seqs(struct guest_kernel *kernel)
{
	kernel_label(kernel);
	for (uint32_t i = 0; i < KERNEL_NR; i++) {
		uint8_t seq[3] = { (uint8_t)(i >> 16), (uint8_t)(i >> 8), (uint8_t)i };

		kernel_put(kernel, seq, sizeof(seq));
	}
}

static inline void kernel_put_all(struct guest_kernel *kernel)
{
	enum kernel_order order = kernel->shape->order;
	/* Strings of digits that are no tokens. */
	static const char digits[] = "x\0000\0001\0002\0003\0004\0005\0006\0007\0008\0009\0y";

	kernel->end = KERNEL_GPA + KERNEL_RODATA + 0x1003;
	kernel_put(kernel, digits, sizeof(digits));
	if (order < ORDER_NEW)
		kernel_put_addresses(kernel);
	kernel_put_names(kernel);
	if (order == ORDER_SEQS)
		kernel_put_seqs(kernel);
	kernel_put_tokens(kernel);
	if (order == ORDER_NEW) {
		kernel_put_addresses(kernel);
		kernel_put_seqs(kernel);
	}
	assert(kernel->end <= KERNEL_GPA + KERNEL_DATA - 0x10000);
}

/* ---- mapping them */

static inline size_t kernel_new_table(struct guest_kernel *kernel)
{
	size_t table = kernel->next_table;

	kernel->next_table += (size_t)1 << kernel->paging->page_shift;
	assert(kernel->next_table <= KERNEL_GPA);
	return table;
}

/* AArch64 has the bits from 48 or 50 on further down. */
static inline uint64_t kernel_entry(const struct guest_kernel *kernel, size_t at)
{
	const struct kernel_paging *paging = kernel->paging;
	uint64_t gpa = paging->memory + at;

	if (paging->machine == GUEST_X86_64)
		return gpa;
	if (paging->page_shift == 16)
		return (gpa & ((UINT64_C(1) << 48) - 1)) | gpa >> 48 << 12;
	return (gpa & ((UINT64_C(1) << 50) - 1)) | gpa >> 50 << 8;
}

static inline uint64_t kernel_root(const struct guest_kernel *kernel)
{
	uint64_t gpa = kernel->paging->memory + KERNEL_TABLES;

	if (kernel->paging->machine == GUEST_X86_64)
		return gpa;
	return (gpa & ((UINT64_C(1) << 48) - 1)) | gpa >> 48 << 2 | 1;
}

static inline void kernel_map(struct guest_kernel *kernel, uint64_t address, size_t page,
			      uint64_t flags)
{
	const struct kernel_paging *paging = kernel->paging;
	unsigned int table_bits = paging->page_shift - 3, low = paging->page_shift;
	size_t table = KERNEL_TABLES;
	uint64_t *entry;

	while (low + table_bits < paging->bits)
		low += table_bits;
	for (unsigned int bits = paging->bits - low;; bits = table_bits, low -= table_bits) {
		entry = (uint64_t *)(void *)(kernel->memory + table) +
			(address >> low & ((1u << bits) - 1));
		if (low == paging->page_shift)
			break;
		if (!*entry)
			*entry = kernel_entry(kernel, kernel_new_table(kernel)) | 3;
		/* All tables are below 16 MiB. */
		table = *entry & 0xffffff & ~(((uint64_t)1 << paging->page_shift) - 1);
	}
	*entry = kernel_entry(kernel, page) | flags;
}

static inline void kernel_map_all(struct guest_kernel *kernel)
{
	/* present, accessed; read-only or writable; no instructions */
	static const uint64_t flags[2][3] = {
		{ 0x21, 0x21 | 1ull << 63, 0x23 | 1ull << 63 },
		{ 0x403 | 1 << 7, 0x403 | 1 << 7 | 1ull << 53, 0x403 | 1ull << 53 },
	};
	size_t page = (size_t)1 << kernel->paging->page_shift;

	kernel->next_table = KERNEL_TABLES;
	kernel_new_table(kernel);
	for (size_t at = 0; at < KERNEL_END; at += page) {
		unsigned int kind = at < KERNEL_RODATA ? 0 : at < KERNEL_DATA ? 1 : 2;

		if (at >= KERNEL_DATA - 0x10000 && at < KERNEL_DATA)
			continue;
		kernel_map(kernel, kernel->paging->begin + at, KERNEL_GPA + at,
			   flags[kernel->paging->machine][kind]);
	}
}

static inline void kernel_make(struct guest_kernel *kernel, const struct kernel_shape *shape,
			       const struct kernel_paging *paging)
{
	memset(kernel, 0, sizeof(*kernel));
	kernel->fd = memfd_create("guest", 0);
	assert(kernel->fd >= 0 && ftruncate(kernel->fd, KERNEL_MEMORY) == 0);
	kernel->memory = mmap(NULL, KERNEL_MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED, kernel->fd,
			      0);
	assert(kernel->memory != MAP_FAILED);
	kernel->slot = (struct guest_slot){ paging->memory, KERNEL_MEMORY, 0 };
	kernel->shape = shape;
	kernel->paging = paging;
	kernel->registers = (struct guest_registers){
		.machine = paging->machine,
		.pc = paging->begin + 0x1000,
		.root = kernel_root(kernel),
		.control = paging->control,
	};
	kernel_put_all(kernel);
	kernel_map_all(kernel);
}

/* Its symbols. An error has words. */
static inline int kernel_find(const struct guest_kernel *kernel, struct guest_symbols **ret_symbols)
{
	struct guest_memory *memory = xmalloc(sizeof(*memory));
	struct error error = { "" };
	int err;

	guest_memory_init(memory, kernel->fd, &kernel->slot, 1);
	err = guest_symbols_find(memory, &kernel->registers, ret_symbols, &error);
	assert(!err == !error.text[0]);
	free(memory);
	return err;
}

static inline void kernel_end(struct guest_kernel *kernel)
{
	munmap(kernel->memory, KERNEL_MEMORY);
	close(kernel->fd);
}

#endif
