/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hash - uthash; without memory for a table the program ends.
 */
#ifndef KVMTOP_LIB_HASH_H
#define KVMTOP_LIB_HASH_H

#include "lib/xalloc.h"

#define uthash_malloc(size) xmalloc(size)
#include <uthash.h>

/* Adds an element by one of its members. */
#define hash_add(table, member, element) \
	HASH_ADD(hh, table, member, sizeof((element)->member), element)

#endif
