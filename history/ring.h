/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ring - the latest moments in memory, for the past of a live screen: one segment, 1.
 *
 * One thread adds, another reads.
 */
#ifndef KVMTOP_HISTORY_RING_H
#define KVMTOP_HISTORY_RING_H

#include "history/store.h"

struct ring;

/* Keeps at most size bytes of moments. NULL: no memory. */
struct ring *ring_new(size_t size, const struct segment *segment);
void ring_free(struct ring *ring);

/* Takes the packed parts over, and drops the oldest moments. 0 or -ENOMEM. */
int ring_add(struct ring *ring, struct packed *packed);

/* For readers; valid as long as the ring. It has no fields: they are the live dictionary's. */
struct store ring_store(struct ring *ring);

#endif
