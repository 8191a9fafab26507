/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counter - one counter file of debugfs: the traits of its name, and its value.
 */
#ifndef KVMTOP_PROVIDERS_DEBUGFS_COUNTER_H
#define KVMTOP_PROVIDERS_DEBUGFS_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

#include "facts/field.h"

/* What the name of a counter means. */
struct trait {
	const char *pattern; /* fnmatch(3) */
	enum field_kind kind;
	uint8_t exit_rank;
	bool is_idle;
	bool is_time; /* in ns, so left out: it would be much larger than the counts beside it */
};

/* Never NULL. */
const struct trait *trait_of(const char *name);

/*
 * Adds up decimal numbers between blanks, negative ones as 0; the sum saturates. False: the text is
 * something else.
 */
bool counter_parse(const char *text, uint64_t *ret_value);

/*
 * Opens the file in the folder, reads and closes it: such a file gives its value once per open. 0
 * or -errno; -EINVAL: not a counter's text.
 */
int counter_read(int folder, const char *name, uint64_t *ret_value);

#endif
