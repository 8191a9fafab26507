/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hash - uthash, where running out of memory is an error like any other.
 *
 * HASH_ADD() and its variants leave the element out when there is no memory; hash_has() tells.
 */
#ifndef KVMTOP_LIB_HASH_H
#define KVMTOP_LIB_HASH_H

#define HASH_NONFATAL_OOM 1
#include <stdlib.h>
#include <uthash.h>

/* Whether the element, with a handle hh, is in its table. */
#define hash_has(element) ((element)->hh.tbl != NULL)

/*
 * Adds an element that was allocated, by one of its members. Without memory frees it and sets it to
 * NULL:
 *
 *	hash_add(table, key, element);
 *	if (!element)
 *		return -ENOMEM;
 */
#define hash_add(table, member, element)                                                     \
	do {                                                                                 \
		HASH_ADD(hh, table, member, sizeof((element)->member), element);              \
		if (!hash_has(element)) {                                                    \
			free(element);                                                       \
			(element) = NULL;                                                    \
		}                                                                            \
	} while (0)

#endif
