/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * array - the length of an array, and growth of one that was allocated.
 */
#ifndef KVMTOP_LIB_ARRAY_H
#define KVMTOP_LIB_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "lib/xalloc.h"

/* How many elements an array has. Not for pointers. */
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

static inline void *array_grown(void *array, size_t *room, size_t need, size_t size, bool has_zeros)
{
	size_t more = need > 2 * *room ? need : 2 * *room;

	if (need <= *room)
		return array;
	if (more < 8)
		more = 8;
	array = xreallocarray(array, more, size);
	if (has_zeros)
		memset((char *)array + *room * size, 0, (more - *room) * size);
	*room = more;
	return array;
}

/*
 * Makes room for at least need elements:
 *
 *	array_grow(&list->items, &list->room, need);
 *
 * room (a size_t) is how many elements there is room for: 0 while the array is NULL. It at least
 * doubles, and new elements are zero.
 */
#define array_grow(array, room, need) \
	(*(array) = array_grown(*(array), room, need, sizeof(**(array)), true))

/* As array_grow(), but new elements are not set: they take no memory until they are. */
#define array_grow_unset(array, room, need) \
	(*(array) = array_grown(*(array), room, need, sizeof(**(array)), false))

/* Adds an element, which is not set: *array_add(list->items, list->nr, list->room) = item; */
#define array_add(array, nr, room) \
	((void)array_grow_unset(&(array), &(room), (size_t)(nr) + 1), &(array)[(nr)++])

/*
 * How many of nr sorted elements stand before the first one for which the condition is false; i is
 * an element's number:
 *
 *	nr_before = array_lower_bound(list->nr, i, list->items[i].time < time);
 */
#define array_lower_bound(nr, i, condition)                                                        \
	__extension__({                                                                            \
		size_t array_low = 0, array_high = (nr);                                           \
		while (array_low < array_high) {                                                   \
			size_t i = array_low + (array_high - array_low) / 2;                       \
			if (condition)                                                             \
				array_low = (i) + 1;                                               \
			else                                                                       \
				array_high = i;                                                    \
		}                                                                                  \
		array_low;                                                                         \
	})

#endif
