// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a VMM's memory through slots, walks page tables, and finds where a kernel is mapped. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "host/guest_symbols.h"
#include "lib/clock.h"

/* The bounds of one reading: a kernel's symbols take at most a quarter of each. */
#define BYTES_MAX (UINT64_C(64) << 20)
#define TABLES_MAX 128
#define STEPS_MAX 400000000
#define TIME_MAX_NS (20 * UINT64_C(1000000000)) /* of the clock: 25 ms on an idle machine */

#define MIB (UINT64_C(1) << 20)
#define IMAGE_BELOW (64 * MIB) /* the code: how far the image may begin */
#define IMAGE_MAX (192 * MIB)
#define IMAGE_HOLE_MAX (32 * MIB) /* freed parts are smaller */

#define BITS(high, low) ((UINT64_MAX >> (63 - (high))) & (UINT64_MAX << (low)))
#define BIT(n) (UINT64_C(1) << (n))

void guest_memory_init(struct guest_memory *memory, int fd, const struct guest_slot *slots,
		       size_t nr_slots)
{
	memset(memory, 0, sizeof(*memory));
	memory->fd = fd;
	memory->slots = slots;
	memory->nr_slots = nr_slots;
	memory->bytes = BYTES_MAX;
	memory->tables = TABLES_MAX;
	memory->steps = STEPS_MAX;
	memory->end_ns = clock_now_ns() + TIME_MAX_NS;
}

int guest_memory_work(struct guest_memory *memory, uint64_t steps)
{
	if (steps > memory->steps)
		return -E2BIG;
	memory->steps -= steps;
	return 0;
}

static const struct guest_slot *slot_of(const struct guest_memory *memory, uint64_t gpa,
					size_t size)
{
	for (size_t i = 0; i < memory->nr_slots; i++) {
		const struct guest_slot *slot = &memory->slots[i];
		uint64_t at = gpa - slot->gpa;

		if (at < slot->bytes && size <= slot->bytes - at)
			return slot;
	}
	return NULL;
}

int guest_memory_read(struct guest_memory *memory, uint64_t gpa, void *buf, size_t size)
{
	const struct guest_slot *slot = slot_of(memory, gpa, size);
	ssize_t n;

	if (!slot)
		return -EFAULT;
	if (size > memory->bytes || clock_now_ns() > memory->end_ns)
		return -E2BIG;
	memory->bytes -= size;
	n = pread(memory->fd, buf, size, (off_t)(slot->hva + (gpa - slot->gpa)));
	if (n < 0)
		return -errno;
	return (size_t)n == size ? 0 : -EIO;
}

/* ---- page tables */

#define CR3_KPTI BIT(12) /* the user's tables, where the kernel has two */
#define CR4_LA57 BIT(12)

static void use_x86(struct guest_memory *memory, uint64_t cr3, uint64_t cr4)
{
	memory->root = cr3 & BITS(51, 12);
	memory->page_shift = 12;
	memory->table_bits = memory->top_bits = 9;
	memory->levels = cr4 & CR4_LA57 ? 5 : 4;
}

#define TCR_T1SZ(tcr) ((unsigned int)((tcr) >> 16 & 63))
#define TCR_TG1(tcr) ((unsigned int)((tcr) >> 30 & 3))
#define TCR_DS BIT(59)

/*
 * Physical addresses beyond 48 bits have their high bits where the low ones would be. With KPTI
 * user mode has tables with little of the kernel, and Linux has the kernel's two pages behind them.
 */
static bool use_arm64(struct guest_memory *memory, uint64_t ttbr1, uint64_t tcr, unsigned int try)
{
	static const unsigned int page_shifts[] = { 0, 14, 12, 16 };
	unsigned int shift = page_shifts[TCR_TG1(tcr)], bits = 64 - TCR_T1SZ(tcr);

	if (!shift || bits > 52 || bits <= shift + 3)
		return false;
	memory->has_wide_addresses = tcr & TCR_DS;
	memory->page_shift = shift;
	memory->table_bits = shift - 3;
	memory->levels = (bits - shift + memory->table_bits - 1) / memory->table_bits;
	memory->top_bits = bits - shift - (memory->levels - 1) * memory->table_bits;
	memory->root = ttbr1 & BITS(47, 6);
	if (memory->has_wide_addresses || shift == 16)
		memory->root |= (ttbr1 & BITS(5, 2)) << 46;
	memory->root += (uint64_t)try * 2 << shift;
	return memory->levels <= GUEST_LEVELS;
}

bool guest_memory_use(struct guest_memory *memory, const struct guest_registers *registers,
		      unsigned int try)
{
	uint64_t cr3 = registers->root;

	for (size_t i = 0; i < GUEST_LEVELS; i++)
		memory->cache[i].is_read = false;
	memory->machine = registers->machine;
	if (registers->machine == GUEST_ARM64)
		return try < 2 && use_arm64(memory, registers->root, registers->control, try);
	if (try > 1 || (try == 1 && !(cr3 & CR3_KPTI)))
		return false;
	use_x86(memory, try == 0 ? cr3 & ~CR3_KPTI : cr3, registers->control);
	return true;
}

static int read_entry(struct guest_memory *memory, unsigned int level, uint64_t gpa,
		      uint64_t *ret_entry)
{
	struct guest_table *table = &memory->cache[level];
	uint64_t begin = gpa & ~(uint64_t)(GUEST_TABLE - 1);
	int err;

	if (!table->is_read || table->gpa != begin) {
		if (!memory->tables)
			return -E2BIG;
		memory->tables--;
		table->is_read = false;
		err = guest_memory_read(memory, begin, table->bytes, GUEST_TABLE);
		if (err)
			return err;
		table->is_read = true;
		table->gpa = begin;
	}
	memcpy(ret_entry, table->bytes + (gpa - begin), sizeof(*ret_entry));
	return 0;
}

struct entry {
	bool is_present, is_page;
	uint64_t gpa;
};

/* Also narrows what the page may be used for. */
static struct entry x86_entry(uint64_t bits, unsigned int level, struct guest_page *page)
{
	page->is_writable &= (bits & BIT(1)) != 0;
	page->is_executable &= !(bits & BIT(63));
	return (struct entry){
		.is_present = bits & BIT(0),
		.is_page = level == 0 || bits & BIT(7),
		.gpa = bits & BITS(51, 12),
	};
}

#define ARM64_READ_ONLY BIT(7)
#define ARM64_DIRTY BIT(51) /* writable, and read-only until the first write */
#define ARM64_NO_KERNEL_CODE BIT(53)

static uint64_t arm64_address(const struct guest_memory *memory, uint64_t bits)
{
	if (memory->has_wide_addresses && memory->page_shift < 16)
		return (bits & BITS(49, memory->page_shift)) | (bits & BITS(9, 8)) << 42;
	if (memory->page_shift == 16)
		return (bits & BITS(47, 16)) | (bits & BITS(15, 12)) << 36;
	return bits & BITS(47, memory->page_shift);
}

static struct entry arm64_entry(const struct guest_memory *memory, uint64_t bits,
				unsigned int level, struct guest_page *page)
{
	bool is_table = bits & BIT(1);

	page->is_writable = !(bits & ARM64_READ_ONLY) || bits & ARM64_DIRTY;
	page->is_executable = !(bits & ARM64_NO_KERNEL_CODE);
	return (struct entry){
		.is_present = bits & BIT(0) && (level > 0 || is_table),
		.is_page = level == 0 || !is_table,
		.gpa = arm64_address(memory, bits),
	};
}

int guest_memory_walk(struct guest_memory *memory, uint64_t address, struct guest_page *ret_page)
{
	struct guest_page page = { .is_executable = true, .is_writable = true };
	uint64_t table = memory->root, bits;
	int err = guest_memory_work(memory, GUEST_LEVELS);

	for (unsigned int level = memory->levels; !err && level-- > 0;) {
		unsigned int shift = memory->page_shift + level * memory->table_bits;
		unsigned int index_bits =
			level == memory->levels - 1 ? memory->top_bits : memory->table_bits;
		struct entry entry;

		err = read_entry(memory, level,
				 table + 8 * (address >> shift & (BIT(index_bits) - 1)), &bits);
		if (err)
			return err;
		entry = memory->machine == GUEST_ARM64 ? arm64_entry(memory, bits, level, &page)
						       : x86_entry(bits, level, &page);
		page.bytes = BIT(shift);
		page.is_mapped = entry.is_present && entry.is_page && level <= 2;
		page.gpa = (entry.gpa & ~(page.bytes - 1)) | (address & (page.bytes - 1));
		if (!entry.is_present || entry.is_page)
			break;
		table = entry.gpa;
	}
	if (!err)
		*ret_page = page;
	return err;
}

/* ---- the image */

static bool is_of_image(const struct guest_page *page, const struct guest_image *image,
			uint64_t address)
{
	return page->is_mapped && page->gpa - address == image->distance;
}

static int find_begin(struct guest_memory *memory, uint64_t code, struct guest_image *image)
{
	struct guest_page page;
	int err;

	for (image->begin = code + 1; code - image->begin + 1 < IMAGE_BELOW;) {
		uint64_t below = image->begin - 1;

		err = guest_memory_walk(memory, below, &page);
		if (err || !is_of_image(&page, image, below))
			return err;
		image->begin = below & ~(page.bytes - 1);
	}
	return 0;
}

static int add_page(struct guest_image *image, const struct guest_page *page, uint64_t begin,
		    uint64_t end)
{
	struct guest_extent *last = image->nr ? &image->extents[image->nr - 1] : NULL;

	image->end = end;
	if (last && last->end == begin && last->is_executable == page->is_executable &&
	    last->is_writable == page->is_writable) {
		last->end = end;
		return 0;
	}
	if (image->nr == GUEST_EXTENTS)
		return -E2BIG;
	image->extents[image->nr++] = (struct guest_extent){
		begin, end, page->is_executable, page->is_writable
	};
	return 0;
}

int guest_image_find(struct guest_memory *memory, uint64_t code, struct guest_image *ret_image)
{
	struct guest_image *image = ret_image;
	struct guest_page page;
	int err = guest_memory_walk(memory, code, &page);

	if (!err && (!page.is_mapped || !page.is_executable))
		err = -ENOENT;
	if (err)
		return err;
	image->nr = 0;
	image->distance = page.gpa - code;
	err = find_begin(memory, code, image);
	image->end = image->begin;
	for (uint64_t at = image->begin, next; !err; at = next) {
		err = guest_memory_walk(memory, at, &page);
		if (err)
			break;
		next = (at & ~(page.bytes - 1)) + page.bytes;
		if (is_of_image(&page, image, at))
			err = add_page(image, &page, at, next);
		/* The last addresses of all end the image, too. */
		if (next < at || next - image->begin > IMAGE_MAX ||
		    next - image->end > IMAGE_HOLE_MAX)
			break;
	}
	return err;
}

int guest_image_read(struct guest_memory *memory, const struct guest_image *image,
		     uint64_t address, void *buf, size_t size)
{
	return guest_memory_read(memory, address + image->distance, buf, size);
}

/* ---- where the kernel is */

/* Between the fixed mappings of x86-64's kernel and its modules. */
static bool is_code(const struct guest_registers *registers, uint64_t address)
{
	if (registers->machine == GUEST_ARM64)
		return address >> 63;
	return address >= 0xffffffff80000000 && address < 0xffffffffc0000000;
}

#define GATE_PRESENT 0x80
#define GATE_INTERRUPT 0xe

struct gate {
	uint16_t low, selector;
	uint8_t stack, type; /* with GATE_PRESENT */
	uint16_t middle;
	uint32_t high, reserved;
};

/* The first handler of interrupts; KPTI has the table in the user's page tables, too. */
static uint64_t first_gate(struct guest_memory *memory, uint64_t idt)
{
	struct guest_page page;
	struct gate gate;

	if (!idt || guest_memory_walk(memory, idt, &page) || !page.is_mapped ||
	    guest_memory_read(memory, page.gpa, &gate, sizeof(gate)) ||
	    (gate.type & (GATE_PRESENT | 0xf)) != (GATE_PRESENT | GATE_INTERRUPT))
		return 0;
	return (uint64_t)gate.high << 32 | (uint32_t)gate.middle << 16 | gate.low;
}

uint64_t guest_memory_code(struct guest_memory *memory, const struct guest_registers *registers)
{
	uint64_t gate;

	if (is_code(registers, registers->pc))
		return registers->pc;
	if (registers->machine == GUEST_ARM64)
		return 0;
	if (is_code(registers, registers->lstar))
		return registers->lstar;
	gate = first_gate(memory, registers->idt);
	return is_code(registers, gate) ? gate : 0;
}
