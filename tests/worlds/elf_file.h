/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_file - a small ELF file, as bytes: a part in memory, functions, and a build id.
 */
#ifndef KVMTOP_TESTS_WORLDS_ELF_FILE_H
#define KVMTOP_TESTS_WORLDS_ELF_FILE_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ELF_FILE_OFFSET 0x1000	/* of the part in memory, */
#define ELF_FILE_ADDRESS 0x4000 /* where its symbols have it */
#define ELF_FILE_BYTES 0x800
#define ELF_FILE_SYMBOLS 8

struct elf_file {
	Elf64_Ehdr header;
	Elf64_Phdr load;
	Elf64_Shdr sections[4]; /* none, symbols, names, build id */
	Elf64_Sym symbols[ELF_FILE_SYMBOLS];
	char names[256];
	struct {
		Elf64_Nhdr header;
		char owner[4];
		uint8_t id[4];
	} note;
};

static inline void elf_file_init(struct elf_file *file, uint32_t table)
{
	*file = (struct elf_file){
		.header = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				     EV_CURRENT },
			.e_type = ET_DYN,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_phoff = offsetof(struct elf_file, load),
			.e_shoff = offsetof(struct elf_file, sections),
			.e_ehsize = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 1,
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = 4,
		},
		.load = { .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = ELF_FILE_OFFSET,
			  .p_vaddr = ELF_FILE_ADDRESS, .p_filesz = ELF_FILE_BYTES,
			  .p_memsz = ELF_FILE_BYTES },
		.sections = {
			[1] = { .sh_type = table, .sh_link = 2, .sh_entsize = sizeof(Elf64_Sym),
				.sh_offset = offsetof(struct elf_file, symbols),
				.sh_size = sizeof(file->symbols), .sh_addralign = 8 },
			[2] = { .sh_type = SHT_STRTAB, .sh_addralign = 1,
				.sh_offset = offsetof(struct elf_file, names),
				.sh_size = sizeof(file->names) },
			[3] = { .sh_type = SHT_NOTE, .sh_addralign = 4,
				.sh_offset = offsetof(struct elf_file, note),
				.sh_size = sizeof(file->note) },
		},
		.note = { .header = { 4, 4, NT_GNU_BUILD_ID }, .owner = "GNU",
			  .id = { 0xab, 0xcd, 0xef, 0x01 } },
	};
}

/* A function at an offset of the part in memory. */
static inline void elf_file_add(struct elf_file *file, const char *name, uint64_t at, uint64_t size)
{
	size_t used = 1, i = 1;

	while (file->symbols[i].st_name) {
		used += strlen(file->names + file->symbols[i].st_name) + 1;
		i++;
	}
	memcpy(file->names + used, name, strlen(name));
	file->symbols[i] = (Elf64_Sym){
		.st_name = (Elf64_Word)used,
		.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		.st_shndx = 1,
		.st_value = ELF_FILE_ADDRESS + at,
		.st_size = size,
	};
}

#endif
