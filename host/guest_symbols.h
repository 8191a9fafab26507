/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_symbols - the functions of a guest's kernel by address, from the guest's memory alone.
 *
 * Linux has the list of its symbols in its image (CONFIG_KALLSYMS): names packed by a table of 256
 * tokens, and addresses in an array. It is found from the address of one instruction of the kernel
 * and the page tables (x86-64, AArch64). Modules are not in this list, nor are BPF programs.
 *
 * All bytes are the guest's: they change while they are read, and may be there to mislead. So they
 * are copied and then checked, and each reading has bounds in bytes, tables, steps and time. The
 * names are what the guest says. A read may wait where the VMM's memory comes by userfaultfd: so it
 * belongs in a thread of its own.
 *
 * What a caller does: memory slots of the VM and registers of a vCPU that was in its kernel, then
 * guest_memory_init(), guest_symbols_find(); before names are used again guest_memory_init(),
 * guest_symbols_are_valid() with fresh registers.
 *
 * Sources: scripts/kallsyms.c and kernel/kallsyms.c of Linux 4.19 to 7.3; Intel SDM volume 3,
 * "Paging"; Arm ARM, "VMSAv8-64 translation table format descriptors"; proc(5), /proc/PID/mem.
 */
#ifndef KVMTOP_HOST_GUEST_SYMBOLS_H
#define KVMTOP_HOST_GUEST_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/error.h"

/* ---- memory: guest_memory.c */

/* A memory slot of the VM: physical addresses of the guest, and where the VMM has them. */
struct guest_slot {
	uint64_t gpa, bytes, hva;
};

enum guest_machine { GUEST_X86_64, GUEST_ARM64 };

/* The registers of one vCPU at one moment. */
struct guest_registers {
	enum guest_machine machine;
	uint64_t pc;
	uint64_t root;	     /* CR3; TTBR1_EL1 */
	uint64_t control;    /* CR4; TCR_EL1 */
	uint64_t lstar, idt; /* x86-64: MSR_LSTAR, the IDT's base; 0: not known */
};

#define GUEST_LEVELS 5
#define GUEST_TABLE 4096 /* larger tables are read in pieces */

/* One reading. On the heap: 20 KiB. */
struct guest_memory {
	int fd; /* of the VMM's /proc/PID/mem; byte hva of it is the slot's first one */
	const struct guest_slot *slots;
	size_t nr_slots;

	/* what is left of the bounds */
	uint64_t bytes, steps;
	unsigned int tables;
	uint64_t end_ns; /* CLOCK_MONOTONIC */

	/* the page tables in use, and the latest piece of a table of each level */
	enum guest_machine machine;
	uint64_t root;
	bool has_wide_addresses; /* AArch64: LPA2 */
	unsigned int page_shift, table_bits, top_bits, levels;
	struct guest_table {
		bool is_read;
		uint64_t gpa;
		uint8_t bytes[GUEST_TABLE];
	} cache[GUEST_LEVELS];
};

/* Begins a reading with all bounds. fd and slots stay the caller's, and outlive the reading. */
void guest_memory_init(struct guest_memory *memory, int fd, const struct guest_slot *slots,
		       size_t nr_slots);

/* Bytes within one slot. Returns 0, -E2BIG: a bound is reached, -EFAULT: no such slot, -errno. */
int guest_memory_read(struct guest_memory *memory, uint64_t gpa, void *buf, size_t size);

/* Counts work on the guest's data. Returns 0, or -E2BIG. */
int guest_memory_work(struct guest_memory *memory, uint64_t steps);

/*
 * Takes the page tables of the registers. There may be two that come into question (x86-64: bit 12
 * of CR3 is a flag with KPTI, otherwise an address): tries 0, 1. False: no such try.
 */
bool guest_memory_use(struct guest_memory *memory, const struct guest_registers *registers,
		      unsigned int try);

/* The address of an instruction of the kernel, by what the registers have; 0: none is known. */
uint64_t guest_memory_code(struct guest_memory *memory, const struct guest_registers *registers);

/* What an address is mapped to. */
struct guest_page {
	uint64_t gpa;
	uint64_t bytes; /* of the page around the address, or of the hole that its entry is */
	bool is_mapped, is_executable, is_writable;
};

/* Returns 0, also without a mapping, or an error of guest_memory_read(). */
int guest_memory_walk(struct guest_memory *memory, uint64_t address, struct guest_page *ret_page);

/* ---- the kernel's image: virtual addresses with the same distance to physical ones */

#define GUEST_EXTENTS 512

struct guest_extent {
	uint64_t begin, end;
	bool is_executable, is_writable;
};

struct guest_image {
	uint64_t begin, end; /* with the holes */
	uint64_t distance;   /* from a virtual to the physical address, modulo 2^64 */
	size_t nr;
	struct guest_extent extents[GUEST_EXTENTS]; /* ascending */
};

/*
 * Finds what is mapped around the address of an instruction of the kernel. Returns 0, -ENOENT:
 * there is no code, or an error of guest_memory_read().
 */
int guest_image_find(struct guest_memory *memory, uint64_t code, struct guest_image *ret_image);

/* Bytes of an extent of the image by virtual address; errors as guest_memory_read(). */
int guest_image_read(struct guest_memory *memory, const struct guest_image *image,
		     uint64_t address, void *buf, size_t size);

/* Its numbers, which need not be aligned; as on the host, the lowest byte is first. */
static inline uint32_t guest_u32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static inline uint64_t guest_u64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static inline uint64_t guest_align(uint64_t value, uint64_t to)
{
	return (value + to - 1) & ~(to - 1);
}

/* ---- the tables of names in an image: guest_tables.c */

#define GUEST_TOKENS 256
#define GUEST_SYMBOLS_MIN 1000
#define GUEST_SYMBOLS_MAX ((size_t)1 << 20)
#define GUEST_NAME_MAX 1023 /* characters, with the type */

struct guest_tables {
	size_t nr, bytes;
	uint8_t *names;	   /* each: its length in tokens (ULEB128 of 1 or 2 bytes), tokens */
	uint32_t *markers; /* where each 256th name begins */
	char *tokens;
	uint16_t index[GUEST_TOKENS]; /* where each token begins */
	uint64_t nr_address, index_address; /* where the number of symbols and the index are */
};

/* Returns 0: these are the tables; -ENOENT: the search goes on; another error ends it. */
typedef int guest_tables_take_fn(void *arg, const struct guest_tables *tables);

/*
 * Gives take each set of tables that agree with each other, and keeps the one that it takes.
 * Returns 0, -ENOENT, -E2BIG: too much looks like tables, or another error of a read or of take.
 */
int guest_tables_find(struct guest_memory *memory, const struct guest_image *image,
		      guest_tables_take_fn *take, void *arg, struct guest_tables *ret_tables);
void guest_tables_release(struct guest_tables *tables);

/* Whether the packed name at *at, without its type, is this one; then *at is the next name. */
bool guest_tables_is(const struct guest_tables *tables, const uint8_t **at, const char *name);

/*
 * Type and name of the i-th symbol; of a name that is too long the begin. Characters that have no
 * business in a name are '?': names go to terminals and into SVG and JSON.
 */
void guest_tables_unpack(const struct guest_tables *tables, size_t i, char *buf, size_t size);

/* ---- symbols: guest_symbols.c */

struct guest_symbols;

/*
 * Takes 10 to 50 ms of CPU, and longer on the clock: belongs in a thread of its own. After an error
 * the guest may still be booting: try again later, and not before its code is at another address
 * or some seconds have passed. Returns 0, or -errno with error, which says what was not found.
 */
int guest_symbols_find(struct guest_memory *memory, const struct guest_registers *registers,
		       struct guest_symbols **ret_symbols, struct error *error);

void guest_symbols_free(struct guest_symbols *symbols); /* NULL is fine */

/*
 * Whether the guest still runs the kernel with these symbols: to be asked with fresh registers, and
 * a reading of its own, before each use. A guest that was reset has its old list for some time, but
 * not at the same address.
 */
bool guest_symbols_are_valid(const struct guest_symbols *symbols, struct guest_memory *memory,
			     const struct guest_registers *registers);

/*
 * "do_idle", as kallsyms_function(), and how far the address is behind its begin. False: no
 * function of the image is there.
 */
bool guest_symbols_function(const struct guest_symbols *symbols, uint64_t address, char *buf,
			    size_t size, uint64_t *ret_offset);

/*
 * The symbols of the image in the order of the guest's list, its type before the name:
 * "Tdo_idle". False: there is no such index.
 */
bool guest_symbols_at(const struct guest_symbols *symbols, size_t i, uint64_t *ret_address,
		      char *buf, size_t size);

#endif
