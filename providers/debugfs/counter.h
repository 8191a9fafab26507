/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counter - the value of one counter file of debugfs.
 */
#ifndef KVMTOP_PROVIDERS_DEBUGFS_COUNTER_H
#define KVMTOP_PROVIDERS_DEBUGFS_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

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
