/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recent - the latest moments in memory, for the past of a live screen: one segment, 1.
 *
 * One thread adds, another reads.
 */
#ifndef KVMTOP_HISTORY_RECENT_H
#define KVMTOP_HISTORY_RECENT_H

#include "history/recorder.h"
#include "history/store.h"

struct recent;

/* Moments, and the memory to make them, take at most limit bytes. */
struct recent *recent_new(size_t limit, const struct segment *segment);
void recent_free(struct recent *recent);

/* Copies the packed parts, and drops the oldest moments. 0 or -EFBIG. */
int recent_add(struct recent *recent, const struct packed *packed);

/*
 * Adds samples in the thread that takes them, for what is read faster than it happened.
 * Zero-initialised but for the first two; recent_writer_release() in any case.
 */
struct recent_writer {
	struct recent *recent;
	uint64_t start_ns; /* CLOCK_REALTIME of what offsets are from */
	bool has_begun;
	struct moment_taker taker;
	struct moment moment;
	struct packer *packer;
	struct packed packed;
};

/*
 * arg: a struct recent_writer. The latest sample of the stats, offset_ns after start_ns. The
 * first one is only what the second is compared with. 0 or -EFBIG.
 */
int recent_write(void *arg, const struct facts *facts, uint64_t offset_ns);
void recent_writer_release(struct recent_writer *writer);

/* For a recorder. */
struct sink recent_sink(struct recent *recent);

/* For readers; valid as long as this is. It has no fields: they are the live dictionary's. */
struct store recent_store(struct recent *recent);

#endif
