/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counter - one counter file of debugfs: what its name says, and its value.
 */
#ifndef KVMTOP_PROVIDERS_DEBUGFS_COUNTER_H
#define KVMTOP_PROVIDERS_DEBUGFS_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

#include "facts/field.h"

/* What a counter's name says of it. */
struct trait {
	const char *pattern; /* fnmatch(3) */
	enum field_kind kind;
	uint8_t exit_rank;
	bool is_idle;
	bool is_time; /* nanoseconds would swamp the counts beside them: left out */
};

/* Never NULL. */
const struct trait *trait_of(const char *name);

/*
 * Adds up decimal numbers between blanks, one below 0 as 0; the sum saturates. False: any other
 * text.
 */
bool counter_parse(const char *text, uint64_t *ret_value);

/*
 * Opens the file in the folder, reads and closes it: these files tell their value once per open.
 * 0 or -errno; -EINVAL: not a counter's text.
 */
int counter_read(int folder, const char *name, uint64_t *ret_value);

#endif
