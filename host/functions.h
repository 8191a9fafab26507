/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * functions - names of the functions of this machine's kernel and processes. Files are read when an
 * address in them is named for the first time, and kept while they are used. Each process has a
 * share of the room for them.
 */
#ifndef KVMTOP_HOST_FUNCTIONS_H
#define KVMTOP_HOST_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/env.h"
#include "lib/error.h"

struct functions;

struct functions *functions_new(const struct env *env);
void functions_free(struct functions *functions); /* NULL is fine */

/* "kvm_vcpu_halt"; "[kernel]" where the kernel hides its addresses. */
void functions_of_kernel(struct functions *functions, uint64_t address, char *buf, size_t size);

/*
 * Whether that is the kernel with this build id or, where id is "", of this release, and has the
 * symbol at the address, as it has until the next boot.
 */
bool functions_kernel_is(struct functions *functions, const char *id, const char *release,
			 const char *symbol, uint64_t address);

/*
 * "main_loop_wait", by the symbols of the program or library, or of its separate debug file; else
 * "qemu-system-x86_64+0x1234", or "[unknown]" if no file is there. functions_look_again() is to be
 * called after a while: the process may have other maps.
 */
void functions_of_process(struct functions *functions, pid_t pid, uint64_t address, char *buf,
			  size_t size);
void functions_look_again(struct functions *functions);

/* A notice in error, once, if we have no right to read what names functions. */
void functions_report(struct functions *functions, struct error *error);

/*
 * The function at a byte of a file that had this build id ("": not known) when a recording was
 * made; another file at its path has no names.
 */
void functions_of_file(struct functions *functions, const char *path, const char *id,
		       uint64_t offset, char *buf, size_t size);

/* ---- code_symbols.c: of an ELF file. Zero-initialised is none. */

struct code_symbols {
	struct load *loads;
	size_t nr_loads, room_loads;
	struct code_symbol *symbols;
	size_t nr_symbols, room_symbols;
	char *names;
	size_t size_names, room_names;
};

/* How many symbols may be kept, and how many bytes read. */
struct code_room {
	size_t symbols, bytes;
};

/*
 * Reads the file, and its separate debug file below the root of env, and takes of the room. id: its
 * build id, else it is not read; "": any. False: there is not enough room, and there are no
 * symbols: one of a part of them would end where another one begins.
 */
bool code_symbols_read(struct code_symbols *file, const struct env *env, int fd, const char *id,
		       struct code_room *room);

/* The build id of the machine's kernel as text of CODE_ID_SIZE; "": it has none. */
#define CODE_ID_SIZE 129
void code_kernel_id(const struct env *env, char *ret_id);

/* The function at an offset of the file; NULL: none is known. */
const char *code_symbols_find(const struct code_symbols *file, uint64_t offset);
void code_symbols_release(struct code_symbols *file);

#endif
