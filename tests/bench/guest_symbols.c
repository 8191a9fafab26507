// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * guest_symbols - what it costs to find the symbols of a Linux kernel in a guest's memory.
 *
 * usage: guest_symbols [VMLINUZ...]	(x86-64; default: the ones in /boot)
 *
 * The memory is made of the kernel's file, as its loader would have it. Prints for each kernel the
 * CPU milliseconds of the thread that reads it (median), the MiB read and kept, the time in which a
 * later use is proved, and the time of a name. Ends with 1 when a target is missed.
 */
#include <elf.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/bench/measure.h"
#include "host/guest_symbols.h"
#include "lib/array.h"
#include "lib/file.h"
#include "lib/xalloc.h"

#define ROUNDS 11
#define NAMES 100000
#define RAM (UINT64_C(256) << 20)
#define MAPPED UINT64_C(0xffffffff80000000) /* the guest's first MiB are at this address */
#define LARGE (UINT64_C(2) << 20) /* bytes of a page */
#define TABLES 0x10000
#define MIB (1 << 20)

/* The targets. */
#define MS_MAX 50.0
#define READ_MAX 20.0 /* MiB */
#define KEPT_MAX 4.0
#define NAME_US_MAX 3.0

struct bench_guest {
	int fd;
	uint8_t *ram;
	struct guest_slot slot;
	struct guest_registers registers;
};

/* ---- the guest's memory, of the kernel's file */

static const struct packer {
	const char *magic, *command;
} packers[] = {
	{ "\x28\xb5\x2f\xfd", "zstd -dc" },
	{ "\xfd" "7zXZ", "xz -dc" },
	{ "\x1f\x8b", "gzip -dc" },
	{ "\x02\x21\x4c\x18", "lz4 -dc" },
};

/* Unpacks what a boot loader starts; NULL: it cannot be unpacked here. Freed by the caller. */
static uint8_t *unpack(const uint8_t *packed, size_t size)
{
	char path[] = "/tmp/kvmtop-bench.XXXXXX", command[96];
	uint8_t *kernel = xmalloc(RAM);
	size_t len = 0;
	int fd = mkstemp(path);
	FILE *pipe;

	for (size_t i = 0; fd >= 0 && !len && i < ARRAY_SIZE(packers); i++) {
		if (memcmp(packed, packers[i].magic, strlen(packers[i].magic)) != 0)
			continue;
		check(write(fd, packed, size) == (ssize_t)size ? 0 : -EIO, NULL);
		/* Behind it the loader has a number. */
		snprintf(command, sizeof(command), "%s <%s 2>/dev/null", packers[i].command, path);
		pipe = popen(command, "r");
		len = pipe ? fread(kernel, 1, RAM, pipe) : 0;
		if (pipe)
			pclose(pipe);
	}
	close(fd);
	unlink(path);
	if (len > sizeof(Elf64_Ehdr) && memcmp(kernel, ELFMAG, SELFMAG) == 0)
		return kernel;
	free(kernel);
	return NULL;
}

/* A page for instructions if any of its sections has them. */
static void map_pages(struct bench_guest *guest, const uint8_t *kernel, const Elf64_Ehdr *header)
{
	const Elf64_Shdr *sections = (const void *)(kernel + header->e_shoff);
	const char *names = (const char *)kernel + sections[header->e_shstrndx].sh_offset;
	uint64_t *tables = (uint64_t *)(void *)(guest->ram + TABLES);

	tables[511] = (TABLES + 0x1000) | 3;
	tables[512 + 510] = (TABLES + 0x2000) | 3;
	for (uint16_t i = 0; i < header->e_shnum; i++) {
		const Elf64_Shdr *section = &sections[i];
		bool is_written = section->sh_flags & SHF_WRITE &&
				  strcmp(names + section->sh_name, ".rodata") != 0;
		uint64_t flags = 0x81 | (is_written ? 2 : 0);
		uint64_t begin = section->sh_addr - MAPPED;

		if (section->sh_addr < MAPPED || begin + section->sh_size > RAM ||
		    !section->sh_size)
			continue;
		if (!guest->registers.pc && section->sh_flags & SHF_EXECINSTR)
			guest->registers.pc = section->sh_addr + 0x1000;
		for (uint64_t at = begin / LARGE; at <= (begin + section->sh_size - 1) / LARGE;
		     at++) {
			uint64_t *entry = &tables[1024 + at];

			if (!*entry)
				*entry = (at * LARGE) | UINT64_C(1) << 63;
			*entry |= flags;
			if (section->sh_flags & SHF_EXECINSTR)
				*entry &= ~(UINT64_C(1) << 63);
		}
	}
}

static void load(struct bench_guest *guest, const uint8_t *kernel)
{
	const Elf64_Ehdr *header = (const void *)kernel;
	const Elf64_Phdr *segments = (const void *)(kernel + header->e_phoff);

	*guest = (struct bench_guest){
		.fd = memfd_create("guest", MFD_CLOEXEC),
		.slot = { 0, RAM, 0 },
		.registers = { .machine = GUEST_X86_64, .root = TABLES, .control = 0x20 },
	};
	check(guest->fd >= 0 && ftruncate(guest->fd, RAM) == 0 ? 0 : -errno, NULL);
	guest->ram = mmap(NULL, RAM, PROT_READ | PROT_WRITE, MAP_SHARED, guest->fd, 0);
	check(guest->ram != MAP_FAILED ? 0 : -errno, NULL);
	for (uint16_t i = 0; i < header->e_phnum; i++) {
		const Elf64_Phdr *segment = &segments[i];

		if (segment->p_type == PT_LOAD && segment->p_vaddr >= MAPPED &&
		    segment->p_vaddr - MAPPED + segment->p_filesz <= RAM)
			memcpy(guest->ram + (segment->p_vaddr - MAPPED),
			       kernel + segment->p_offset, segment->p_filesz);
	}
	map_pages(guest, kernel, header);
}

/* ---- the cost */

static double thread_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

struct cost {
	double ms, read_mib, kept_mib, proof_us, name_us;
	size_t nr;
};

static struct guest_symbols *find(const struct bench_guest *guest, struct cost *cost)
{
	struct guest_memory *memory = xmalloc(sizeof(*memory));
	size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
	struct guest_symbols *symbols = NULL;
	struct error error = { "" };
	double begin = thread_ms();
	uint64_t bytes;

	guest_memory_init(memory, guest->fd, &guest->slot, 1);
	bytes = memory->bytes;
	check(guest_symbols_find(memory, &guest->registers, &symbols, &error), &error);
	cost->ms = thread_ms() - begin;
	cost->read_mib = (double)(bytes - memory->bytes) / MIB;
	cost->kept_mib = (double)(mallinfo2().uordblks + mallinfo2().hblkhd - before) / MIB;
	begin = thread_ms();
	guest_memory_init(memory, guest->fd, &guest->slot, 1);
	if (!guest_symbols_are_valid(symbols, memory, &guest->registers))
		check(-EINVAL, NULL);
	cost->proof_us = (thread_ms() - begin) * 1e3;
	free(memory);
	return symbols;
}

static void name_all(const struct guest_symbols *symbols, struct cost *cost)
{
	char name[GUEST_NAME_MAX + 1];
	uint64_t first = 0, last = 0, address, offset;
	double begin;

	while (guest_symbols_at(symbols, cost->nr, &address, name, sizeof(name))) {
		first = cost->nr++ ? first : address;
		last = address;
	}
	begin = thread_ms();
	for (uint64_t i = 0; i < NAMES; i++)
		guest_symbols_function(symbols, first + (last - first) / NAMES * i, name,
				       sizeof(name), &offset);
	cost->name_us = (thread_ms() - begin) * 1e3 / NAMES;
}

static bool measure(const char *path)
{
	struct bench_guest guest;
	struct cost cost = { .nr = 0 };
	double ms[ROUNDS];
	char *file;
	uint8_t *kernel;
	size_t size, at;
	bool is_good;

	check(read_whole(path, RAM, &file, &size), NULL);
	at = size > 0x250 ? (size_t)((uint8_t)file[0x1f1] + 1) * 512 +
			    guest_u32((uint8_t *)file + 0x248) : size;
	kernel = at + 8 < size ? unpack((uint8_t *)file + at, size - at) : NULL;
	free(file);
	if (!kernel) {
		printf("%s: not here: it cannot be unpacked\n", path);
		return true;
	}
	load(&guest, kernel);
	free(kernel);
	for (size_t i = 0; i < ROUNDS; i++) {
		struct guest_symbols *symbols = find(&guest, &cost);

		ms[i] = cost.ms;
		if (i == ROUNDS - 1)
			name_all(symbols, &cost);
		guest_symbols_free(symbols);
	}
	cost.ms = median(ms, ROUNDS);
	munmap(guest.ram, RAM);
	close(guest.fd);
	is_good = cost.ms <= MS_MAX && cost.read_mib <= READ_MAX && cost.kept_mib <= KEPT_MAX &&
		  cost.name_us <= NAME_US_MAX;
	printf("%s: %zu symbols, %.1f ms, %.1f MiB read, %.1f MiB kept, %.0f us to prove, "
	       "%.2f us a name%s\n", path, cost.nr, cost.ms, cost.read_mib, cost.kept_mib,
	       cost.proof_us, cost.name_us, is_good ? "" : ": missed");
	return is_good;
}

int main(int argc, char **argv)
{
	glob_t found = { .gl_pathc = 0 };
	bool is_good = true;

	if (argc < 2 && glob("/boot/vmlinuz-*", 0, NULL, &found) == 0) {
		argc = (int)found.gl_pathc + 1;
		argv = found.gl_pathv - 1;
	}
	for (int i = 1; i < argc; i++)
		is_good &= measure(argv[i]);
	if (argc < 2)
		printf("guest_symbols: not here: no kernel in /boot\n");
	globfree(&found);
	return !is_good;
}
