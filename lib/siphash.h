/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * siphash - SipHash-2-4: a hash with a key, which cannot be foreseen or inverted without the key.
 */
#ifndef KVMTOP_LIB_SIPHASH_H
#define KVMTOP_LIB_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t siphash(const uint64_t key[2], const void *bytes, size_t size);

#endif
