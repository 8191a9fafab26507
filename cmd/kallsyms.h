/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kallsyms - the functions of guests: --guest-kallsyms NAME=FILE, which several guests may have.
 */
#ifndef KVMTOP_CMD_KALLSYMS_H
#define KVMTOP_CMD_KALLSYMS_H

#include <stddef.h>

#include "lib/error.h"
#include "core/views/query.h"

#define KALLSYMS_GUESTS 16

/* The options' words; zero-initialised: none. */
struct kallsyms_options {
	const char *texts[KALLSYMS_GUESTS]; /* in argv */
	size_t nr;
};

/* Takes one NAME=FILE, without reading the file. 0, or -EINVAL with why. */
int kallsyms_option_take(struct kallsyms_options *options, const char *text, struct error *why);

/* The functions in these files; zero-initialised: none. */
struct kallsyms_files {
	char *names[KALLSYMS_GUESTS];
	struct guest_symbols list[KALLSYMS_GUESTS];
	size_t nr;
};

/* Reads the files for the query; the result must outlive it. 0, or -errno with why. */
int kallsyms_files_read(const struct kallsyms_options *options, struct kallsyms_files *files,
			struct query *query, struct error *why);
void kallsyms_files_release(struct kallsyms_files *files);

#endif
