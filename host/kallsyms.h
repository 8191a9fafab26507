/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kallsyms - the functions of a kernel by address, from a copy of its /proc/kallsyms.
 *
 * The file comes from a guest, or from this machine's kernel. A line that the kernel would not
 * write is an error.
 */
#ifndef KVMTOP_HOST_KALLSYMS_H
#define KVMTOP_HOST_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"

struct kallsyms;

/* The symbols of a guest, which is known by its name. */
struct guest_kallsyms {
	const char *guest;
	struct kallsyms *symbols;
};

/* 0, or -errno with error, which names the file and what to do. */
int kallsyms_read(const char *path, struct kallsyms **ret_symbols, struct error *error);

/* Reads a text, which ends with a NUL; path: for error. Takes the text over, to be freed. */
int kallsyms_parse(char *text, size_t size, const char *path, struct kallsyms **ret_symbols,
		   struct error *error);

void kallsyms_free(struct kallsyms *symbols); /* NULL is fine */

/* "do_idle+0x12", of a module "e1000_intr+0x4 [e1000]". False: no function is there. */
bool kallsyms_name(const struct kallsyms *symbols, uint64_t address, char *buf, size_t size);

/* Whether a symbol of any kind with this name is at the address. */
bool kallsyms_has(const struct kallsyms *symbols, const char *name, uint64_t address);

/* The function's name alone; NULL: no function is there. */
const char *kallsyms_function(const struct kallsyms *symbols, uint64_t address);

#endif
