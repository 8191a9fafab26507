// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the addresses that belong to the names in a kernel's image; looks names up. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "host/guest_symbols.h"
#include "lib/array.h"
#include "lib/text.h"
#include "lib/xalloc.h"

#define BASE_BELOW (UINT64_C(2) << 20) /* the image, at most */
#define LAST_BYTES 0x10000 /* how long the last function may be: nothing says where it ends */

struct guest_symbols {
	struct guest_tables tables;
	uint64_t begin, end; /* of the image */
	size_t first;	     /* what is before is not of the image */
	uint32_t *offsets;   /* from begin, not descending */
	uint64_t index_gpa;
};

struct search {
	struct guest_memory *memory;
	struct guest_image image;
	uint64_t code; /* an address of an instruction */
	struct guest_symbols *found;
};

void guest_symbols_free(struct guest_symbols *symbols)
{
	if (!symbols)
		return;
	guest_tables_release(&symbols->tables);
	free(symbols->offsets);
	free(symbols);
}

/* ---- addresses: the last table, and the last proof */

enum form {
	FORM_BASE,     /* u32 above a base (AArch64) */
	FORM_PERCPU,   /* s32: below 0 from a base, else a number, such as a thing of each CPU */
	FORM_RELATIVE, /* s32 from where it stands (Linux 7.2) */
	FORM_ABSOLUTE, /* u64 */
	FORMS
};

struct addresses {
	enum form form;
	uint64_t at, base; /* where the array is */
	const uint8_t *bytes;
};

/* False: no address of the kernel, but a number. */
static bool address_of(const struct addresses *addresses, size_t i, uint64_t *ret_address)
{
	const uint8_t *at = addresses->bytes + i * (addresses->form == FORM_ABSOLUTE ? 8 : 4);
	int64_t value = addresses->form == FORM_ABSOLUTE ? 0 : (int32_t)guest_u32(at);

	switch (addresses->form) {
	case FORM_ABSOLUTE:
		*ret_address = guest_u64(at);
		break;
	case FORM_RELATIVE:
		*ret_address = addresses->at + 4 * i + (uint64_t)value;
		break;
	case FORM_PERCPU:
		*ret_address = value >= 0 ? (uint64_t)value : addresses->base - 1 - (uint64_t)value;
		return value < 0;
	default:
		*ret_address = addresses->base + (uint32_t)value;
		break;
	}
	return true;
}

/* _stext and _etext must be around the instruction. */
static bool code_is_within(const struct search *search, const struct addresses *addresses)
{
	const struct guest_tables *tables = &search->found->tables;
	const uint8_t *at = tables->names, *name;
	uint64_t stext = 0, etext = 0;

	for (size_t i = 0; i < tables->nr; i++) {
		name = at;
		if (guest_tables_is(tables, &at, "_stext"))
			address_of(addresses, i, &stext);
		at = name;
		if (guest_tables_is(tables, &at, "_etext"))
			address_of(addresses, i, &etext);
	}
	return stext && stext <= search->code && search->code < etext;
}

static bool addresses_fit(const struct search *search, const struct addresses *addresses)
{
	const struct guest_image *image = &search->image;
	struct guest_symbols *symbols = search->found;
	uint64_t previous = 0, address;
	size_t nr = 0, within = 0;

	symbols->first = 0;
	for (size_t i = 0; i < symbols->tables.nr; i++) {
		bool is_address = address_of(addresses, i, &address);
		uint64_t offset = address - image->begin;

		if (address < previous)
			return false;
		previous = address;
		nr += is_address;
		within += is_address && address >= image->begin && address < image->end;
		symbols->first += address < image->begin;
		symbols->offsets[i] = offset > UINT32_MAX ? UINT32_MAX : (uint32_t)offset;
	}
	return nr >= GUEST_SYMBOLS_MIN && within >= nr - nr / 50 &&
	       code_is_within(search, addresses);
}

/* Where an array of one form may be, and where its base. */
static int try_addresses(struct search *search, enum form form, uint64_t at, uint64_t base_at)
{
	const struct guest_image *image = &search->image;
	size_t nr = search->found->tables.nr, size = nr * (form == FORM_ABSOLUTE ? 8 : 4);
	struct addresses addresses = { .form = form, .at = at };
	uint8_t base[8], *bytes;
	int err = 0;

	if (at < image->begin || at >= image->end || image->end - at < size)
		return -ENOENT;
	if (form == FORM_BASE || form == FORM_PERCPU) {
		err = guest_image_read(search->memory, image, base_at, base, sizeof(base));
		if (err)
			return err;
		addresses.base = guest_u64(base);
		/* The checks below would find it, too, after the array was read. */
		if (addresses.base < image->begin - BASE_BELOW || addresses.base >= image->end)
			return -ENOENT;
	}
	bytes = xmalloc(size);
	addresses.bytes = bytes;
	err = guest_memory_work(search->memory, 2 * nr);
	if (!err)
		err = guest_image_read(search->memory, image, at, bytes, size);
	if (!err && !addresses_fit(search, &addresses))
		err = -ENOENT;
	free(bytes);
	return err;
}

/*
 * A guest_tables_take_fn. The addresses follow the index of tokens since Linux 6.4, and were before
 * the number of symbols.
 */
static int find_addresses(void *arg, const struct guest_tables *tables)
{
	uint64_t after = tables->index_address + sizeof(tables->index);
	uint64_t before = tables->nr_address, base_at = before - 8;
	uint64_t bytes = 4 * (uint64_t)tables->nr;
	struct search *search = arg;
	int err = -ENOENT;

	free(search->found->offsets);
	search->found->offsets = xmalloc(tables->nr * sizeof(*search->found->offsets));
	for (enum form form = 0; form < FORMS && err == -ENOENT; form++) {
		for (uint64_t to = 8; to >= 4 && err == -ENOENT; to /= 2) {
			uint64_t at = guest_align(after, to);

			err = try_addresses(search, form, at, guest_align(at + bytes, to));
			if (err != -ENOENT)
				break;
			if (form == FORM_ABSOLUTE)
				err = try_addresses(search, form, before - 2 * bytes, 0);
			else
				err = try_addresses(search, form,
						    base_at - guest_align(bytes, to), base_at);
		}
	}
	return err;
}

/* ---- finding */

static int search_guest(struct search *search, const struct guest_registers *registers)
{
	int err = -ENOENT;

	for (unsigned int try = 0; try < 2 && (err == -ENOENT || err == -EFAULT); try++) {
		if (!guest_memory_use(search->memory, registers, try))
			break;
		err = -ENOENT;
		search->code = guest_memory_code(search->memory, registers);
		if (search->code)
			err = guest_image_find(search->memory, search->code, &search->image);
		if (!err)
			err = guest_tables_find(search->memory, &search->image, find_addresses,
						search, &search->found->tables);
	}
	return err;
}

int guest_symbols_find(struct guest_memory *memory, const struct guest_registers *registers,
		       struct guest_symbols **ret_symbols, struct error *error)
{
	struct search *search = xcalloc(1, sizeof(*search));
	int err;

	search->memory = memory;
	search->found = xcalloc(1, sizeof(*search->found));
	err = search_guest(search, registers);
	if (!err) {
		search->found->begin = search->image.begin;
		search->found->end = search->image.end;
		search->found->index_gpa =
			search->found->tables.index_address + search->image.distance;
		*ret_symbols = search->found;
	} else {
		guest_symbols_free(search->found);
	}
	free(search);
	if (err == -ENOENT || err == -EFAULT)
		return error_set(error, -ENOENT, "no symbols of a Linux kernel in its memory");
	if (err == -E2BIG)
		return error_set(error, err, "its memory has too much that looks like symbols");
	if (err)
		return error_set(error, err, "its memory cannot be read: %s", strerror(-err));
	return 0;
}

bool guest_symbols_are_valid(const struct guest_symbols *symbols, struct guest_memory *memory,
			     const struct guest_registers *registers)
{
	uint16_t index[GUEST_TOKENS];
	struct guest_page page;

	for (unsigned int try = 0; guest_memory_use(memory, registers, try); try++) {
		if (guest_memory_walk(memory, symbols->tables.index_address, &page) == 0 &&
		    page.is_mapped && page.gpa == symbols->index_gpa)
			return guest_memory_read(memory, page.gpa, index, sizeof(index)) == 0 &&
			       memcmp(index, symbols->tables.index, sizeof(index)) == 0;
	}
	return false;
}

/* ---- looking up */

bool guest_symbols_at(const struct guest_symbols *symbols, size_t i, uint64_t *ret_address,
		      char *buf, size_t size)
{
	if (i >= symbols->tables.nr - symbols->first)
		return false;
	i += symbols->first;
	*ret_address = symbols->begin + symbols->offsets[i];
	guest_tables_unpack(&symbols->tables, i, buf, size);
	return true;
}

bool guest_symbols_function(const struct guest_symbols *symbols, uint64_t address, char *buf,
			    size_t size, uint64_t *ret_offset)
{
	const uint32_t *offsets = symbols->offsets + symbols->first;
	size_t all = symbols->tables.nr - symbols->first, nr, first;
	uint64_t offset = address - symbols->begin;
	char name[GUEST_NAME_MAX + 1];

	if (address < symbols->begin || address >= symbols->end)
		return false;
	nr = array_lower_bound(all, i, offsets[i] <= offset);
	if (!nr)
		return false;
	/* An address with several names has the first one, as in the kernel. */
	first = array_lower_bound(nr, i, offsets[i] < offsets[nr - 1]);
	offset -= offsets[first];
	guest_tables_unpack(&symbols->tables, symbols->first + first, name, sizeof(name));
	if (!name[0] || !strchr("tTwW", name[0]) || !name[1])
		return false;
	if (nr == all && offset >= LAST_BYTES)
		return false;
	name_put(buf, size, "%s", name + 1);
	*ret_offset = offset;
	return true;
}
