// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of a process' functions: by its maps, the symbols of its files, and their debug files. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/env.h"
#include "host/functions.h"
#include "lib/text.h"
#include "tests/unit/unit.h"
#include "tests/worlds/elf_file.h"

#define PID 123
#define BEGIN UINT64_C(0x7f0000000000) /* of the mapping with the part of the file */

/* A machine with one process, which has mapped one file. */
struct machine {
	char root[32];
	struct env env;
	struct functions *functions;
	char name[64];
};

/* Makes the folders above it, too. */
static void write_below(const struct machine *machine, const char *path, const void *bytes,
			size_t size)
{
	char whole[256];
	FILE *file;

	snprintf(whole, sizeof(whole), "%s%s", machine->root, path);
	for (char *slash = strchr(whole + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(whole, 0755);
		*slash = '/';
	}
	file = fopen(whole, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static void write_maps(const struct machine *machine, const char *maps)
{
	write_below(machine, "/proc/123/maps", maps, strlen(maps));
}

static void write_program(const struct machine *machine, const void *bytes, size_t size)
{
	write_below(machine, "/proc/123/map_files/7f0000000000-7f0000001000", bytes, size);
}

static int set_up(void **state)
{
	struct machine *machine = calloc(1, sizeof(*machine));

	assert_non_null(machine);
	strcpy(machine->root, "/tmp/functions.XXXXXX");
	assert_non_null(mkdtemp(machine->root));
	machine->env.root = machine->root;
	machine->functions = functions_new(&machine->env);
	write_maps(machine, "400000-500000 r--p 00000000 fe:01 77 /usr/bin/vmm\n"
			    "7f0000000000-7f0000001000 r-xp 00001000 fe:01 77 /usr/bin/vmm\n"
			    "7f0000002000-7f0000003000 r-xp 00000000 00:00 0 [vdso]\n"
			    "7f0000003000-7f0000004000 rwxp 00000000 00:00 0\n"
			    "7f0000004000-7f0000005000 r-xp 00002000 fe:01 78 /x/a\033b (deleted)\n"
			    "no line of this file\n");
	*state = machine;
	return 0;
}

static int clean_up(void **state)
{
	struct machine *machine = *state;
	char command[64];

	functions_free(machine->functions);
	snprintf(command, sizeof(command), "rm -r %s", machine->root);
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): a path of our own */
	free(machine);
	return 0;
}

static const char *name_at(struct machine *machine, uint64_t address)
{
	functions_of_process(machine->functions, PID, address, machine->name,
			     sizeof(machine->name));
	return machine->name;
}

TEST(by_symbols, set_up, clean_up)
{
	struct machine *machine = *state;
	struct elf_file file;

	elf_file_init(&file, SHT_SYMTAB);
	elf_file_add(&file, "main_loop", 0x100, 0x40);
	elf_file_add(&file, "memcpy@@GLIBC_2.14", 0x200, 0);
	elf_file_add(&file, "bad\033[31m", 0x300, 0x10);
	elf_file_add(&file, "inner", 0x310, 0x4);
	elf_file_add(&file, "outer", 0x310, 0x20);
	write_program(machine, &file, sizeof(file));
	assert_string_equal(name_at(machine, BEGIN + 0x100), "main_loop");
	assert_string_equal(name_at(machine, BEGIN + 0x13f), "main_loop");
	assert_string_equal(name_at(machine, BEGIN + 0x140), "vmm+0x1140");
	assert_string_equal(name_at(machine, BEGIN + 0xff), "vmm+0x10ff");
	assert_string_equal(name_at(machine, BEGIN + 0x2ff), "memcpy"); /* no size: to the next */
	assert_string_equal(name_at(machine, BEGIN + 0x300), "bad?[31m");
	assert_string_equal(name_at(machine, BEGIN + 0x320), "outer"); /* of two */
	assert_string_equal(name_at(machine, BEGIN + 0x900), "vmm+0x1900"); /* not in the file */
}

TEST(without_a_file, set_up, clean_up)
{
	struct machine *machine = *state;

	assert_string_equal(name_at(machine, 0x400010), "[unknown]"); /* not to be executed */
	assert_string_equal(name_at(machine, BEGIN + 0x100), "vmm+0x1100");
	assert_string_equal(name_at(machine, BEGIN + 0x2100), "[vdso]");
	assert_string_equal(name_at(machine, BEGIN + 0x3100), "[unknown]"); /* made at run time */
	assert_string_equal(name_at(machine, BEGIN + 0x4010), "a?b+0x2010");
	assert_string_equal(name_at(machine, BEGIN + 0x5000), "[unknown]");
}

/* A process may have other maps later, and no other process has these. */
TEST(looks_again, set_up, clean_up)
{
	struct machine *machine = *state;

	assert_string_equal(name_at(machine, BEGIN), "vmm+0x1000");
	functions_of_process(machine->functions, PID + 1, BEGIN, machine->name,
			     sizeof(machine->name));
	assert_string_equal(machine->name, "[unknown]");
	write_maps(machine, "");
	assert_string_equal(name_at(machine, BEGIN), "vmm+0x1000"); /* read once in a look */
	functions_look_again(machine->functions);
	assert_string_equal(name_at(machine, BEGIN), "[unknown]");
}

/* The process has ended before its file was opened; another one has mapped the file, too. */
TEST(a_file_of_two_processes, set_up, clean_up)
{
	static const char maps[] = "7f0000000000-7f0000001000 r-xp 1000 fe:01 77 /usr/bin/vmm\n";
	struct machine *machine = *state;
	struct elf_file file;

	elf_file_init(&file, SHT_SYMTAB);
	elf_file_add(&file, "main_loop", 0x100, 0x40);
	assert_string_equal(name_at(machine, BEGIN + 0x100), "vmm+0x1100");
	write_below(machine, "/proc/124/maps", maps, strlen(maps));
	write_below(machine, "/proc/124/map_files/7f0000000000-7f0000001000", &file, sizeof(file));
	functions_of_process(machine->functions, PID + 1, BEGIN + 0x100, machine->name,
			     sizeof(machine->name));
	assert_string_equal(machine->name, "main_loop");
}

/* Mappings without a file are told apart by their names, as they are kept. */
TEST(many_mappings_of_one_name, set_up, clean_up)
{
	static const char odd[] = "7e0000000000-7e0000001000 rwxp 0 00:00 0 [odd\033]\n";
	static const char vmm[] = "7f0000000000-7f0000001000 r-xp 1000 fe:01 77 /usr/bin/vmm\n";
	struct machine *machine = *state;
	char maps[600 * sizeof(odd) + sizeof(vmm)] = "";

	for (size_t i = 0; i < 600; i++)
		memcpy(maps + i * (sizeof(odd) - 1), odd, sizeof(odd));
	strcat(maps, vmm);
	write_maps(machine, maps);
	assert_string_equal(name_at(machine, BEGIN), "vmm+0x1000");
	assert_string_equal(name_at(machine, UINT64_C(0x7e0000000000)), "[odd?]");
}

/* A stripped file has the names of its interface; its debug file has all. */
TEST(by_debug_file, set_up, clean_up)
{
	struct machine *machine = *state;
	struct elf_file stripped, whole;

	elf_file_init(&stripped, SHT_DYNSYM);
	elf_file_add(&stripped, "exported", 0x100, 0x40);
	write_program(machine, &stripped, sizeof(stripped));
	elf_file_init(&whole, SHT_SYMTAB);
	elf_file_add(&whole, "exported", 0x100, 0x40);
	elf_file_add(&whole, "static_one", 0x200, 0x40);
	write_below(machine, "/usr/lib/debug/.build-id/ab/cdef01.debug", &whole, sizeof(whole));
	assert_string_equal(name_at(machine, BEGIN + 0x100), "exported");
	assert_string_equal(name_at(machine, BEGIN + 0x200), "static_one");
}

TEST(by_dynamic_symbols, set_up, clean_up)
{
	struct machine *machine = *state;
	struct elf_file stripped;

	elf_file_init(&stripped, SHT_DYNSYM);
	elf_file_add(&stripped, "exported", 0x100, 0x40);
	write_program(machine, &stripped, sizeof(stripped));
	assert_string_equal(name_at(machine, BEGIN + 0x100), "exported");
	assert_string_equal(name_at(machine, BEGIN + 0x200), "vmm+0x1200");
}

/* Tables that claim to be larger than what is read, and files that end too early. */
TEST(a_false_file, set_up, clean_up)
{
	struct machine *machine = *state;
	struct elf_file file;

	elf_file_init(&file, SHT_SYMTAB);
	elf_file_add(&file, "main_loop", 0x100, 0x40);
	file.sections[1].sh_size = UINT64_C(1) << 40;
	write_program(machine, &file, sizeof(file));
	assert_string_equal(name_at(machine, BEGIN + 0x100), "vmm+0x1100");
	for (size_t size = 0; size < sizeof(file); size += 31) {
		functions_free(machine->functions);
		machine->functions = functions_new(&machine->env);
		write_program(machine, &file, size);
		assert_non_null(strstr("vmm+0x1100 main_loop", name_at(machine, BEGIN + 0x100)));
	}
}

static const char *name_in(struct machine *machine, const struct elf_file *file)
{
	functions_free(machine->functions);
	machine->functions = functions_new(&machine->env);
	write_program(machine, file, sizeof(*file));
	return name_at(machine, BEGIN + 0x100);
}

/* Numbers that would take any memory or time, and names that are none. */
TEST(a_hostile_file, set_up, clean_up)
{
	struct machine *machine = *state;
	struct elf_file good, file;

	elf_file_init(&good, SHT_SYMTAB);
	elf_file_add(&good, "main_loop", 0x100, 0x40);
	assert_string_equal(name_in(machine, &good), "main_loop");
	file = good;
	file.header.e_shnum = 0; /* it is in the first section: */
	file.sections[0].sh_size = 4;
	assert_string_equal(name_in(machine, &file), "vmm+0x1100");
	file = good;
	file.header.e_phnum = PN_XNUM;
	file.sections[0].sh_info = 1;
	assert_string_equal(name_in(machine, &file), "vmm+0x1100");
	file = good;
	file.sections[2].sh_type = SHT_NOBITS; /* no bytes of the file */
	assert_string_equal(name_in(machine, &file), "vmm+0x1100");
	file = good;
	memset(file.names + 1, 'x', sizeof(file.names) - 1); /* a name without an end */
	assert_string_equal(name_in(machine, &file), "vmm+0x1100");
	file = good;
	file.symbols[1].st_name = sizeof(file.names); /* behind the names */
	assert_string_equal(name_in(machine, &file), "vmm+0x1100");
}

/* What names functions and may not be read is said, once. */
TEST(without_rights, set_up, clean_up)
{
	static const char hidden[] = "0000000000000000 T do_idle\n";
	struct machine *machine = *state;
	struct error error = { "" };
	char name[64];

	functions_report(machine->functions, &error);
	assert_string_equal(error.text, "");
	write_below(machine, "/proc/kallsyms", hidden, strlen(hidden));
	functions_of_kernel(machine->functions, 0xffffffff81000000, name, sizeof(name));
	assert_string_equal(name, "[kernel]");
	functions_report(machine->functions, &error);
	assert_string_equal(error.text, "the kernel hides the addresses of its functions: "
					"CAP_SYSLOG, and kernel.kptr_restrict below 2, are needed");
	error.text[0] = '\0';
	functions_report(machine->functions, &error);
	assert_string_equal(error.text, "");
}

TEST(of_this_kernel, set_up, clean_up)
{
	static const char symbols[] = "ffffffff81000000 T startup_64\nffffffff81000000 T _text\n"
				      "ffffffff81000100 T do_idle\n";
	static const uint8_t notes[] = {
		6, 0, 0, 0, 4, 0, 0, 0, 0x01, 1, 0, 0, 'L', 'i', 'n', 'u', 'x', 0, 0, 0, 1, 2, 3, 4,
		4, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 0xab, 0xcd, 0xef, 0,
	};
	struct machine *machine = *state;
	struct functions *functions = machine->functions;
	const uint64_t text = 0xffffffff81000000;

	write_below(machine, "/proc/sys/kernel/osrelease", "6.1.0\n", 6);
	write_below(machine, "/sys/kernel/notes", notes, sizeof(notes));
	write_below(machine, "/proc/kallsyms", symbols, strlen(symbols));
	assert_true(functions_kernel_is(functions, "abcdef", "another", "_text", text));
	assert_false(functions_kernel_is(functions, "abcdee", "6.1.0", "_text", text));
	assert_true(functions_kernel_is(functions, "", "6.1.0", "_text", text));
	assert_false(functions_kernel_is(functions, "", "6.1", "_text", text));
	/* Of another boot. */
	assert_false(functions_kernel_is(functions, "abcdef", "", "_text", text + 0x100));
	assert_false(functions_kernel_is(functions, "abcdef", "", "_text", text - 1));
}

/* Whether the file is opened while a recording that names it is read. */
static bool is_opened(struct machine *machine, const char *path, char *name, size_t size)
{
	int events = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	struct inotify_event event;
	bool is_opened;

	assert_true(events >= 0 && inotify_add_watch(events, path, IN_OPEN) >= 0);
	functions_of_file(machine->functions, path, "", 0x1100, name, size);
	is_opened = read(events, &event, sizeof(event)) > 0;
	close(events);
	return is_opened;
}

/* A recording names files: only programs are opened, also where others could be read. */
TEST(files_of_recordings, set_up, clean_up)
{
	struct machine *machine = *state;
	char path[64], name[64];
	struct elf_file file;

	elf_file_init(&file, SHT_SYMTAB);
	elf_file_add(&file, "main_loop", 0x100, 0x40);
	write_below(machine, "/vmm", &file, sizeof(file));
	snprintf(path, sizeof(path), "%s/vmm", machine->root);
	assert_true(is_opened(machine, path, name, sizeof(name)));
	assert_string_equal(name, "main_loop");
	snprintf(path, sizeof(path), "%s/fifo", machine->root);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_false(is_opened(machine, path, name, sizeof(name)));
	assert_string_equal(name, "fifo+0x1100");
	/* To open a file of tracefs may be an action. */
	assert_false(is_opened(machine, "/proc/version", name, sizeof(name)));
	assert_string_equal(name, "version+0x1100");
}

/* ---- many files, and large ones */

#define PAGE UINT64_C(0x1000)

/* Lets a process map so many files, beginning with a number, each with one function. */
static void map_files(struct machine *machine, int pid, unsigned int first, unsigned int nr)
{
	char path[128], *maps = NULL;
	struct elf_file file;
	size_t size;
	FILE *out = open_memstream(&maps, &size);

	assert_non_null(out);
	elf_file_init(&file, SHT_SYMTAB);
	elf_file_add(&file, "main_loop", 0x100, 0x40);
	for (unsigned int i = first; i < first + nr; i++) {
		uint64_t at = BEGIN + i * PAGE;

		fprintf(out, "%" PRIx64 "-%" PRIx64 " r-xp 00001000 00:01 %u /memfd:x%u\n", at,
			at + PAGE, 1000 + i, i);
		snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, at,
			 at + PAGE);
		write_below(machine, path, &file, sizeof(file));
	}
	assert_int_equal(fclose(out), 0);
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	write_below(machine, path, maps, size);
	free(maps);
}

static const char *name_of(struct machine *machine, int pid, unsigned int file)
{
	functions_of_process(machine->functions, pid, BEGIN + file * PAGE + 0x100, machine->name,
			     sizeof(machine->name));
	return machine->name;
}

/* What one VMM maps takes no names of another one, and comes back when it is not used. */
TEST(a_process_has_a_share_of_files, set_up, clean_up)
{
	struct machine *machine = *state;
	struct error error = { "" };

	map_files(machine, 200, 0, 600);
	assert_string_equal(name_of(machine, 200, 599), "main_loop");
	for (unsigned int i = 0; i < 63; i++)
		assert_string_equal(name_of(machine, 200, i), "main_loop");
	functions_report(machine->functions, &error);
	assert_string_equal(error.text, "");
	assert_string_equal(name_of(machine, 200, 70), "memfd:x70+0x1100"); /* but no name */
	assert_string_equal(name_of(machine, 200, 3), "main_loop");
	functions_report(machine->functions, &error);
	assert_string_equal(error.text, "some functions have no names: process 200 maps more "
					"programs, or larger ones, than there is room for");
	map_files(machine, 201, 700, 1);
	assert_string_equal(name_of(machine, 201, 700), "main_loop");
	for (unsigned int i = 0; i < 101; i++)
		functions_look_again(machine->functions);
	for (unsigned int i = 100; i < 164; i++)
		assert_string_equal(name_of(machine, 200, i), "main_loop");
	assert_string_equal(name_of(machine, 200, 164), "memfd:x164+0x1100");
}

/* Many processes fill the room of all: what has no name keeps its file, and comes back, too. */
TEST(all_processes_have_a_limit_of_files, set_up, clean_up)
{
	struct machine *machine = *state;
	unsigned int nr = 0;

	for (int pid = 300; pid < 320; pid++) {
		map_files(machine, pid, (unsigned int)(pid - 300) * 64, 64);
		for (unsigned int i = 0; i < 64; i++)
			nr += !strcmp(name_of(machine, pid, (unsigned int)(pid - 300) * 64 + i),
				      "main_loop");
	}
	assert_int_equal(nr, 1024);
	assert_string_equal(machine->name, "memfd:x1279+0x1100");
	for (unsigned int i = 0; i < 101; i++)
		functions_look_again(machine->functions);
	assert_string_equal(name_of(machine, 319, 1279), "main_loop");
}

/* An ELF file of sections that are all of the same bytes, which are behind their headers. */
static void write_sections(const struct machine *machine, const Elf64_Shdr *section, uint16_t nr,
			   const void *bytes, size_t size)
{
	Elf64_Ehdr header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					   ELFDATA2LSB, EV_CURRENT },
			      .e_version = EV_CURRENT, .e_ehsize = sizeof(header),
			      .e_shoff = sizeof(header), .e_shentsize = sizeof(*section),
			      .e_shnum = (uint16_t)(nr + 1) };
	size_t begin = sizeof(header) + (nr + 1U) * sizeof(*section);
	char *file = calloc(1, begin + size);

	assert_non_null(file);
	memcpy(file, &header, sizeof(header));
	for (uint16_t i = 0; i < nr; i++) {
		Elf64_Shdr *to = (Elf64_Shdr *)(file + sizeof(header)) + i + 1;

		*to = section[i % 2];
		to->sh_offset = begin;
	}
	memcpy(file + begin, bytes, size);
	write_program(machine, file, begin + size);
	free(file);
}

static long megabytes(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss / 1024;
}

/* Ten thousand sections of notes are the same bytes: each would be read into memory of its own. */
TEST(notes_without_end, set_up, clean_up)
{
	const Elf64_Shdr note = { .sh_type = SHT_NOTE, .sh_size = 65536, .sh_addralign = 4 };
	const Elf64_Shdr notes[2] = { note, note };
	struct machine *machine = *state;
	char *bytes = calloc(1, 65536);
	long before = megabytes();

	assert_non_null(bytes);
	write_sections(machine, notes, 9999, bytes, 65536);
	assert_string_equal(name_at(machine, BEGIN + 0x100), "vmm+0x1100");
	assert_in_range(megabytes() - before, 0, 200);
	free(bytes);
}

/* More functions than a process may have: none of them has a name, and others have theirs. */
TEST(a_process_has_a_share_of_symbols, set_up, clean_up)
{
	const size_t nr = 260000, size = nr * sizeof(Elf64_Sym);
	const Elf64_Shdr sections[2] = {
		{ .sh_type = SHT_SYMTAB, .sh_size = size, .sh_link = 2,
		  .sh_entsize = sizeof(Elf64_Sym) },
		{ .sh_type = SHT_STRTAB, .sh_size = size },
	};
	struct machine *machine = *state;
	Elf64_Sym *symbols = calloc(nr, sizeof(*symbols));
	struct error error = { "" };

	assert_non_null(symbols);
	for (size_t i = 0; i < nr - 1; i++)
		symbols[i] = (Elf64_Sym){ .st_name = 4, .st_shndx = 1, .st_value = 0x1000 + i,
					  .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC) };
	write_sections(machine, sections, 2, symbols, size);
	free(symbols);
	assert_string_equal(name_at(machine, BEGIN + 0x100), "vmm+0x1100");
	functions_report(machine->functions, &error);
	assert_non_null(strstr(error.text, "process 123 maps more programs"));
	map_files(machine, 200, 0, 1);
	assert_string_equal(name_of(machine, 200, 0), "main_loop");
}
