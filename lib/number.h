/* SPDX-License-Identifier: GPL-2.0-or-later */
/* number - differences that do not wrap around. */
#ifndef KVMTOP_LIB_NUMBER_H
#define KVMTOP_LIB_NUMBER_H

#include <stdint.h>

/* from without the part; 0 if the part is more, as it may be where it is read later. */
static inline uint64_t minus(uint64_t from, uint64_t part)
{
	return from > part ? from - part : 0;
}

#endif
