/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * array - the length of an array, and growth of one that was allocated.
 */
#ifndef KVMTOP_LIB_ARRAY_H
#define KVMTOP_LIB_ARRAY_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* How many elements an array has. Not for pointers. */
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

static inline int array_grow_items(void *array, size_t *room, size_t need, size_t size,
				   bool has_zeros)
{
	char *old, *grown;
	size_t more;

	if (need <= *room)
		return 0;
	more = need > 2 * *room ? need : 2 * *room;
	if (more < 8)
		more = 8;
	if (more > PTRDIFF_MAX / size)
		return -ENOMEM;
	memcpy(&old, array, sizeof(old));
	grown = realloc(old, more * size);
	if (!grown)
		return -ENOMEM;
	if (has_zeros)
		memset(grown + *room * size, 0, (more - *room) * size);
	memcpy(array, &grown, sizeof(grown));
	*room = more;
	/* cppcheck-suppress memleak ; the caller's pointer has it, by memcpy() */
	return 0;
}

/*
 * Makes room for at least need elements, before one is added:
 *
 *	if (array_grow(&list->items, &list->room, list->nr + 1) < 0)
 *		return -ENOMEM;
 *	list->items[list->nr++] = item;
 *
 * room (a size_t) is how many elements there is room for: 0 while the array is NULL. It at least
 * doubles, and new elements are zero. Returns 0, or -ENOMEM with the array as it was.
 */
#define array_grow(array, room, need) array_grow_items(array, room, need, sizeof(**(array)), true)

/* The same, but new elements are not set: they take no memory until they are. */
#define array_grow_unset(array, room, need) \
	array_grow_items(array, room, need, sizeof(**(array)), false)

#endif
