/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file_state - what an open history file consists of; for file*.c only.
 */
#ifndef KVMTOP_HISTORY_FILE_STATE_H
#define KVMTOP_HISTORY_FILE_STATE_H

#include <sys/stat.h>

#include "history/db.h"
#include "history/file.h"
#include "history/moment.h"
#include "host/guest.h"

/* ---- file_guests.c: the guests of a segment, for the rows about them */

struct file_guest {
	struct guest guest; /* without its vcpus */
	uint64_t first_s, last_s; /* when it was seen, in seconds since 1970 */
	bool is_known;	/* it is in the latest inventory, alive or ended */
	bool is_changed; /* its row is not as in the file */
	bool came, ended; /* and there is no note of that yet */
};

/* Zero-initialised: no inventory was seen. */
struct file_guests {
	struct file_guest *list; /* ascending by id */
	size_t nr, room;
	bool has_any; /* an inventory was seen; the guests of the first one did not come */
};

/* Takes a new inventory, or with NULL the old one, at this time. */
void file_guests_update(struct file_guests *guests, const struct guests *inventory,
			uint64_t time_ns);

/* Everything is in the file now; or with false nothing is, as it is a new one. */
void file_guests_written(struct file_guests *guests, bool is_written);

void file_guests_release(struct file_guests *guests);

/*
 * minutes.c: the exits of a minute by guest and reason, summed up from its moments. A moment is in
 * the minute of the middle of its interval.
 */

struct minute_row {
	uint32_t guest, field; /* the field of the reason */
	uint64_t count;
	bool is_timed; /* the rest is known */
	uint64_t time_ns, max_ns, p50_ns, p99_ns;
};

/* Zero-initialised: nothing was added. */
struct minutes {
	uint64_t start_s; /* of the minute that is summed up, in seconds since 1970; 0: none is */
	struct minute_sum *sums;
	struct minute_sum *next; /* where the next key likely is: they come in the same order */
};

/* In which minute a moment is. */
uint64_t minute_of(const struct moment *moment);

/* Adds a moment to the minute. fields: the dictionary of its ids. */
void minutes_add(struct minutes *minutes, const struct moment *moment,
		 const struct fields *fields);

/* Called for each row, ascending by guest and field. 0 goes on; else it is returned. */
typedef int (*minute_row_fn)(void *arg, const struct minute_row *row);
int minutes_each(struct minutes *minutes, minute_row_fn take, void *arg);

/* Begins with the next minute. */
void minutes_reset(struct minutes *minutes);
void minutes_release(struct minutes *minutes);

/* The second moment with totals; id 0: there is none. */
struct next_run {
	uint64_t id;
	uint32_t segment;
	uint64_t before_ns; /* recorded up to the moment before it */
};

/*
 * How old moments are, whatever the wall clock says: the time that was recorded from the file's
 * begin on, and CLOCK_MONOTONIC of the boot at the same moment, 0 if it is not known.
 */
struct file_clock {
	uint64_t recorded_ns, monotonic_ns;
};

struct history_file {
	struct db db; /* closed: it could not be made anew, and is tried again */
	char *name;   /* as the user wrote it */
	char *real;   /* absolute */

	/* The rest is of a writer. */
	int lock;	 /* the file, with the lock of a writer; -1: none */
	struct stat own; /* the file that is locked, or read */
	bool has_log;	 /* there is a -wal */
	struct segment segment;
	struct file_limits limits;
	uint32_t segment_id;	   /* 0: not begun in the file */
	struct fields *fields;	   /* of the segment */
	uint32_t nr_fields;	   /* how many of them are in the file */
	struct file_guests guests; /* of the segment */
	struct minutes minutes;
	uint64_t latest_ns;	/* of the latest moment in the file */
	struct file_clock clock; /* of the same */
	uint64_t nr_dropping;	/* moments, in this transaction */
	_Atomic uint64_t nr_dropped;
	bool needs_totals;	/* the next moment needs them */
	bool was_replaced;	/* by another program, and no note says so yet */
	bool has_next_run;	/* next_run is right */
	struct next_run next_run;
};

/* Neither opens nor locks anything. 0, or -errno with why. */
int history_file_new(const char *path, bool writes, struct history_file **ret_file,
		     struct why *why);
void history_file_free(struct history_file *file); /* NULL is fine */

/*
 * Locks the file for a writer, and opens the database; and the reverse. A damaged file is set
 * aside; then 0 is returned, and why says so.
 */
int history_file_enter(struct history_file *file, struct why *why);
void history_file_leave(struct history_file *file);

/*
 * Leaves the file and renames it, with what belongs to it: it is damaged. 0 or -errno; why says
 * both in any case.
 */
int history_file_set_aside(struct history_file *file, struct why *why);

/* False: the file that is written to, or the log beside it, was removed or replaced. */
bool history_file_is_there(struct history_file *file);

/* The size of the log that SQLite has beside the file. */
uint64_t history_file_log_size(const struct history_file *file, bool *ret_exists);

/*
 * Drops the oldest runs of moments that are more than the limits allow, and shrinks the file; a
 * bounded part of it with each call, within a transaction. recorded_ns: up to the latest moment.
 */
int history_file_keep_limits(struct history_file *file, uint64_t recorded_ns, struct why *why);

/* Reads the clock of the file's latest moment; of one without clocks, makes them. */
int history_file_load_clock(struct history_file *file, struct why *why);

/* The clock of the moment that is next to be written. */
struct file_clock history_file_next_clock(const struct history_file *file,
					  const struct moment *moment);

/* Stores the clock of a moment with totals. */
int history_file_add_clock(struct history_file *file, uint64_t id, const struct file_clock *clock,
			   struct why *why);

#endif
