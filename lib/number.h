/* SPDX-License-Identifier: GPL-2.0-or-later */
/* number - the order of numbers, and differences that do not wrap around. */
#ifndef KVMTOP_LIB_NUMBER_H
#define KVMTOP_LIB_NUMBER_H

#include <stdint.h>

/* -1, 0 or 1; what counts less follows: compared(a->x, b->x) ?: compared(a->y, b->y) */
#define compared(a, b) (((a) > (b)) - ((a) < (b)))

/* from without the part; 0 if the part is more, as it may be where it is read later. */
static inline uint64_t minus(uint64_t from, uint64_t part)
{
	return from > part ? from - part : 0;
}

#endif
