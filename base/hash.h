/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hash - uthash, where running out of memory is an error like any other.
 *
 * HASH_ADD() and its variants leave the element out when there is no memory. So after each of them:
 *
 *	HASH_ADD(hh, table, key, sizeof(key), element);
 *	if (!hash_has(element)) {
 *		free(element);
 *		return -ENOMEM;
 *	}
 */
#ifndef KVMTOP_BASE_HASH_H
#define KVMTOP_BASE_HASH_H

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* Whether the element, with a handle hh, is in its table. */
#define hash_has(element) ((element)->hh.tbl != NULL)

#endif
