// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The symbols of programs and libraries. A file is hostile input: libelf checks it, and the number
 * of symbols is limited.
 */
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/env.h"
#include "host/functions.h"
#include "lib/array.h"
#include "lib/file.h"
#include "lib/number.h"
#include "lib/text.h"

#define NAME_BYTES 256
#define RAW_BYTES 65536 /* of a name in the file: templates of C++ have long ones */
#define NOTES_MAX 65536 /* bytes of all notes of a file */
#define SECTIONS_MAX 10000
#define LOADS_MAX 64
#define ALIASES_MAX 64 /* symbols of one address that are looked at */

struct code_symbol {
	uint64_t address, size; /* size: 0: up to the next one */
	uint32_t name;		/* offset in names */
};

/* A part of the file in memory. */
struct load {
	uint64_t offset, size, address;
};

/* Without a version: "memcpy@@GLIBC_2.14". */
static void add_symbol(struct code_symbols *file, const GElf_Sym *symbol, const char *raw)
{
	char name[NAME_BYTES];
	size_t len = strnlen(raw, RAW_BYTES);
	const char *version = memchr(raw, '@', len);

	if (GELF_ST_TYPE(symbol->st_info) != STT_FUNC || !symbol->st_value ||
	    symbol->st_shndx == SHN_UNDEF ||
	    !utf8_clean(raw, version ? (size_t)(version - raw) : len, name, sizeof(name)))
		return;
	len = strlen(name) + 1;
	array_grow_unset(&file->names, &file->room_names, file->size_names + len);
	memcpy(file->names + file->size_names, name, len);
	*array_add(file->symbols, file->nr_symbols, file->room_symbols) = (struct code_symbol){
		symbol->st_value, symbol->st_size, (uint32_t)file->size_names,
	};
	file->size_names += len;
}

/* Whether the section may be read, which takes of the bytes: libelf reads all of it. */
static bool take_section(Elf_Scn *section, GElf_Shdr *ret_header, size_t *bytes)
{
	if (!section || !gelf_getshdr(section, ret_header) || ret_header->sh_size > *bytes ||
	    ret_header->sh_flags & SHF_COMPRESSED)
		return false;
	*bytes -= ret_header->sh_size;
	return true;
}

/* The first section of this kind: SHT_SYMTAB, SHT_DYNSYM; NULL: there is none. */
static Elf_Scn *find_section(Elf *elf, uint32_t type)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	for (int i = 0; i < SECTIONS_MAX && (section = elf_nextscn(elf, section)); i++) {
		if (gelf_getshdr(section, &header) && header.sh_type == type)
			return section;
	}
	return NULL;
}

/*
 * The names of a table of symbols; NULL: they cannot be read, or the last has no end. elf_strptr()
 * may look for the end of all names once for each.
 */
static Elf_Data *read_names(Elf_Scn *section, struct code_room *room)
{
	GElf_Shdr header;
	const char *bytes;
	Elf_Data *data;

	if (!take_section(section, &header, &room->bytes) || header.sh_type != SHT_STRTAB)
		return NULL;
	data = elf_getdata(section, NULL);
	bytes = data ? data->d_buf : NULL;
	return bytes && data->d_size && bytes[data->d_size - 1] == '\0' ? data : NULL;
}

/* 1: the file has such a table of symbols, 0: it has none, -1: there is no room for it. */
static int add_symbols(struct code_symbols *file, Elf *elf, uint32_t type, struct code_room *room)
{
	Elf_Scn *section = find_section(elf, type);
	GElf_Shdr header;
	Elf_Data *data, *names;
	GElf_Sym symbol;

	if (!section)
		return 0;
	if (!take_section(section, &header, &room->bytes))
		return -1;
	names = read_names(elf_getscn(elf, header.sh_link), room);
	data = names ? elf_getdata(section, NULL) : NULL;
	for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
		if (file->nr_symbols > room->symbols)
			return -1;
		if (symbol.st_name < names->d_size)
			add_symbol(file, &symbol, (const char *)names->d_buf + symbol.st_name);
	}
	return data != NULL;
}

static void add_loads(struct code_symbols *file, Elf *elf)
{
	GElf_Phdr header;

	for (int i = 0; file->nr_loads < LOADS_MAX && gelf_getphdr(elf, i, &header); i++) {
		if (header.p_type != PT_LOAD)
			continue;
		*array_add(file->loads, file->nr_loads, file->room_loads) =
			(struct load){ header.p_offset, header.p_filesz, header.p_vaddr };
	}
}

#define ID_BYTES (CODE_ID_SIZE / 2)

/* The build id as text; "": there is none. */
static void read_id(Elf_Data *data, char *ret_id)
{
	size_t at = 0, name, desc;
	GElf_Nhdr note;

	while (data && !*ret_id && (at = gelf_getnote(data, at, &note, &name, &desc))) {
		const uint8_t *bytes = (const uint8_t *)data->d_buf + desc;

		if (note.n_type != NT_GNU_BUILD_ID || note.n_descsz > ID_BYTES)
			continue;
		hex_put(ret_id, bytes, note.n_descsz);
	}
}

static void find_id(Elf *elf, char *id)
{
	Elf_Scn *section = NULL;
	size_t bytes = NOTES_MAX;
	GElf_Shdr header;

	for (int i = 0; !*id && i < SECTIONS_MAX && (section = elf_nextscn(elf, section)); i++) {
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_NOTE &&
		    take_section(section, &header, &bytes))
			read_id(elf_getdata(section, NULL), id);
	}
}

void code_kernel_id(const struct env *env, char *ret_id)
{
	char path[PATH_MAX], *notes;
	size_t size;

	*ret_id = '\0';
	env_path(env, path, sizeof(path), "/sys/kernel/notes");
	if (read_whole(path, NOTES_MAX, &notes, &size) < 0)
		return;
	elf_version(EV_CURRENT);
	read_id(&(Elf_Data){ .d_buf = notes, .d_size = size, .d_type = ELF_T_NHDR,
			     .d_version = EV_CURRENT }, ret_id);
	free(notes);
}

/*
 * NULL: the file is not read. libelf takes memory for as many sections as a file says it has, and
 * reads as many program headers. Where 16 bits are too few for these numbers, the header has 0 or
 * PN_XNUM, and the first section has up to 2^64 and 2^32. No program needs them. 0 is also the
 * number of a file without sections, which has no symbols.
 */
static Elf *begin(int fd)
{
	union {
		Elf32_Ehdr of_32_bits;
		Elf64_Ehdr of_64_bits;
	} header;

	if (pread(fd, &header, sizeof(header), 0) != sizeof(header))
		return NULL;
	if (header.of_64_bits.e_ident[EI_CLASS] == ELFCLASS64 ?
		    !header.of_64_bits.e_shnum || header.of_64_bits.e_phnum == PN_XNUM :
		    !header.of_32_bits.e_shnum || header.of_32_bits.e_phnum == PN_XNUM)
		return NULL;
	elf_version(EV_CURRENT);
	return elf_begin(fd, ELF_C_READ, NULL);
}

/* As add_symbols(), of all symbols in the separate debug file; id: "": there is none. */
static int read_debug_file(struct code_symbols *file, const struct env *env, const char *id,
			   struct code_room *room)
{
	char path[PATH_MAX];
	int fd, found = 0;
	Elf *elf;

	if (strlen(id) <= 2)
		return 0;
	env_path(env, path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2);
	fd = open_program(path);
	if (fd < 0)
		return 0;
	elf = begin(fd);
	if (elf)
		found = add_symbols(file, elf, SHT_SYMTAB, room);
	elf_end(elf);
	close(fd);
	return found;
}

static int compare(const void *a, const void *b)
{
	const struct code_symbol *x = a, *y = b;

	return compared(x->address, y->address) ?: compared(x->name, y->name);
}

/* Files are not mapped: one that becomes shorter meanwhile would be a signal. */
bool code_symbols_read(struct code_symbols *file, const struct env *env, int fd, const char *id,
		       struct code_room *room)
{
	Elf *elf;
	char own[CODE_ID_SIZE] = "";
	int found;

	elf = begin(fd);
	if (!elf)
		return true;
	find_id(elf, own);
	if (*id && strcmp(id, own) != 0) {
		elf_end(elf);
		return true;
	}
	add_loads(file, elf);
	found = add_symbols(file, elf, SHT_SYMTAB, room);
	if (!found)
		found = read_debug_file(file, env, own, room);
	if (!found)
		found = add_symbols(file, elf, SHT_DYNSYM, room);
	elf_end(elf);
	if (found < 0 || file->nr_symbols > room->symbols) {
		code_symbols_release(file);
		return false;
	}
	room->symbols -= file->nr_symbols;
	if (file->nr_symbols)
		qsort(file->symbols, file->nr_symbols, sizeof(*file->symbols), compare);
	return true;
}

/* The last symbol at the address or below it, if it reaches that far; NULL: none does. */
static const char *find_symbol(const struct code_symbols *file, uint64_t address)
{
	size_t nr = array_lower_bound(file->nr_symbols, i, file->symbols[i].address <= address);

	for (size_t left = ALIASES_MAX; nr > 0 && left > 0; nr--, left--) {
		const struct code_symbol *symbol = &file->symbols[nr - 1];

		if (!symbol->size || address - symbol->address < symbol->size)
			return file->names + symbol->name;
		if (nr < 2 || file->symbols[nr - 2].address != symbol->address)
			return NULL;
	}
	return NULL;
}

const char *code_symbols_find(const struct code_symbols *file, uint64_t offset)
{
	for (size_t i = 0; i < file->nr_loads; i++) {
		const struct load *load = &file->loads[i];

		if (offset - load->offset < load->size)
			return find_symbol(file, offset - load->offset + load->address);
	}
	return NULL;
}

void code_symbols_release(struct code_symbols *file)
{
	free(file->loads);
	free(file->symbols);
	free(file->names);
	*file = (struct code_symbols){ .loads = NULL };
}
