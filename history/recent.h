/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recent - moments in memory: the latest ones of a live screen, and lists of moments, of which the
 * cache of a Prometheus is made.
 */
#ifndef KVMTOP_HISTORY_RECENT_H
#define KVMTOP_HISTORY_RECENT_H

#include "history/recorder.h"
#include "history/store.h"

/* ---- a list */

struct kept_moment {
	uint64_t id, time_ns, elapsed_ns;
	uint64_t stretch; /* of a Prometheus: totals go on in the next moment of the same stretch */
	uint32_t flags;
	uint32_t sizes[MOMENT_PARTS];
	unsigned char *bytes; /* of the parts, one after the other */
};

/* Zero-initialised is empty. */
struct kept {
	struct kept_moment *list; /* ascending by id */
	size_t nr, room;
	size_t size; /* bytes of all */
};

/* A moment with a copy of its packed parts, for kept_take(). */
struct kept_moment kept_copy(uint64_t id, uint64_t stretch, const struct moment *moment,
			     const struct packed *packed);

/* Takes the moment and its bytes; frees these if the moment is there already. */
void kept_take(struct kept *kept, const struct kept_moment *moment);

/* Drops nr moments from this index on. */
void kept_drop(struct kept *kept, size_t first, size_t nr);
void kept_release(struct kept *kept);

/* The index of the first moment that is not before this one. */
size_t kept_index(const struct kept *kept, uint64_t id);
bool kept_has(const struct kept *kept, uint64_t id);

/* As struct store_type's read. */
int kept_read(const struct kept *kept, uint64_t id, enum moment_part part, struct blob *blob,
	      struct error *error);

/* ---- the past of a live screen: one segment, 1. One thread adds, another reads. */

struct recent;

/*
 * Moments, and the memory to make them, take at most limit bytes. fields: the dictionary of the
 * facts that moments are made of; the reading thread adds to it.
 */
struct recent *recent_new(size_t limit, const struct segment *segment,
			  const struct fields *fields);
void recent_free(struct recent *recent);

/* Copies the packed parts, and drops the oldest moments. 0 or -EFBIG. */
int recent_add(struct recent *recent, const struct moment *moment, const struct packed *packed);

/*
 * Adds samples in the thread that takes them, for what is read faster than it happened.
 * Zero-initialised except for the first two; recent_writer_release() in any case.
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

/* For readers; valid as long as this is. */
struct store recent_store(struct recent *recent);

#endif
