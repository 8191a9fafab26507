/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store - packed moments in the order in which they were taken: in the memory of a live screen
 * (recent.h), in a file (file.h), or in a Prometheus (fleet/fleet.h).
 *
 * A segment is a writer from its start to its end: totals begin at 0 with it. Ids of fields and
 * guests are the store's, and no other field or guest ever gets one. Moments have ids that ascend
 * from segment to segment; there may be gaps. In a damaged file, too, a step goes on in its
 * direction, or fails: so a walk ends.
 * Times are CLOCK_REALTIME, and may go back where the clock was set.
 */
#ifndef KVMTOP_HISTORY_STORE_H
#define KVMTOP_HISTORY_STORE_H

#include "lib/error.h"
#include "history/pack.h"
#include "history/moment.h"

/* What is known of a moment without unpacking it. */
struct stored {
	uint64_t id;	  /* > 0 */
	uint32_t segment; /* > 0 */
	uint32_t flags;	  /* MOMENT_* */
	uint64_t time_ns, elapsed_ns;
};

/* Called for each field, ascending by id. 0 goes on; else the caller returns it. */
typedef int (*stored_field_fn)(void *arg, uint32_t id, const struct field *field);

/*
 * Each function returns 0, or -errno with error: -ENOENT: there is no such moment (error is not
 * set); -EBADMSG: damaged; others as the system has them. All calls of a reader come from one
 * thread.
 */
struct store_type {
	/*
	 * The latest moment that is not later than time_ns; where all are later, the first one.
	 * UINT64_MAX: the last. -ENOENT: the store is empty.
	 */
	int (*find)(void *store, uint64_t time_ns, struct stored *ret_stored, struct error *error);
	/*
	 * The next moment after id, or with is_back the one before, wherever it is kept. -ENOENT:
	 * there is none; -EAGAIN: it will come later.
	 */
	int (*step)(void *store, uint64_t id, bool is_back, struct stored *ret_stored,
		    struct error *error);
	/*
	 * The latest moments with an id below before_id that follow each other and are all later
	 * than from_ns and not later than to_ns: the first and the last of them. Where the clock
	 * was set there may be more of them before. -ENOENT: there are none. NULL: time never goes
	 * back, so find() finds them.
	 */
	int (*run)(void *store, uint64_t from_ns, uint64_t to_ns, uint64_t before_id,
		   struct stored *ret_first, struct stored *ret_last, struct error *error);
	/* The latest moment up to id, in its segment, that has one of the flags. */
	int (*find_flagged)(void *store, uint64_t id, uint32_t flags, struct stored *ret_stored,
			    struct error *error);
	/* Replaces the blob by a part of a moment. -ENOENT: the moment was dropped meanwhile. */
	int (*read)(void *store, uint64_t id, enum moment_part part, struct blob *blob,
		    struct error *error);
	/* The fields with an id of at least first. */
	int (*fields)(void *store, uint32_t first, stored_field_fn take, void *arg,
		      struct error *error);
	/* Makes `to` the inventory of a moment. NULL: moments have it as PART_GUESTS. */
	int (*guests)(void *store, const struct stored *at, struct guests *to,
		      struct error *error);
	int (*segment)(void *store, uint32_t segment, struct segment *ret_segment,
		       struct error *error);
	/* -ESTALE: its file was removed or replaced since it was opened. NULL: it has none. */
	int (*check)(void *store, struct error *error);
	/*
	 * While it is held a store stays as it is, and calls cost less. For moments only: the
	 * writer's file does not shrink meanwhile. NULL: calls cost little anyway.
	 */
	void (*hold)(void *store, bool is_held);
	/*
	 * In a store of several machines find() finds moments of this one from now on; "": of all
	 * together. NULL: the store has one machine.
	 */
	int (*enter)(void *store, const char *machine, struct error *error);
	/*
	 * As step(), but of the moments that are in memory, with gaps: for what is worth no
	 * waiting, and for no sums. NULL: step() never waits.
	 */
	int (*near)(void *store, uint64_t id, bool is_back, struct stored *ret_stored,
		    struct error *error);
	/*
	 * A descriptor that can be read when moments came after an -EAGAIN; the reader takes 8
	 * bytes from it. NULL: there is never an -EAGAIN.
	 */
	int (*news_fd)(void *store);
	bool has_long_exits; /* its moments may have PART_LONG_EXITS */
};

struct store {
	const struct store_type *type;
	void *state;
};

#endif
