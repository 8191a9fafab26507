/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lines - what answers say of a host's guests, or of all hosts: a line for each key, in it a cell
 * for each time.
 *
 * Of a host the cells have counters; of all hosts, what happened in the step that ends then.
 */
#ifndef KVMTOP_HISTORY_FLEET_LINES_H
#define KVMTOP_HISTORY_FLEET_LINES_H

#include "lib/hash.h"
#include "core/facts/exit_fields.h"
#include "history/fleet/prometheus.h"
#include "core/provider.h"

#define LINES_STEPS 33 /* cells of a line */

/* A guest of the host; or, of all hosts, a host. */
struct member {
	struct guest guest; /* its name is the label's value */
	size_t room_vcpus;
	bool is_there[LINES_STEPS]; /* at these times */
	UT_hash_handle hh;
};

struct line_cell {
	bool has_count;
	uint64_t count, ns;
};

/* What one key was at each time. */
struct line {
	struct key key;
	bool is_timed;
	/* How many took at most as long as the edge of a bucket; < 0: not known. NULL: none is. */
	double (*counts)[HIST_BUCKETS];
	UT_hash_handle hh;
	struct line_cell cells[]; /* struct lines' nr */
};

struct lines {
	struct fields *fields; /* the dictionary, not owned */
	uint64_t step_ns;
	bool is_all; /* members are hosts */
	struct member *members;
	uint32_t last_member;
	struct exit_fields exits;
	uint32_t wait, throttled, finding, guests; /* the last: of all hosts */
	struct line *lines;
	size_t nr_lines, size; /* how many there are, and their bytes */
	uint64_t first; /* the time of the first cell, in steps */
	unsigned int nr; /* of cells */
};

/* Adds the fields. Zeroed before, but for fields, step_ns and is_all. */
void lines_init(struct lines *lines);
void lines_release(struct lines *lines);

/* Empty lines of nr cells, at most LINES_STEPS, and no member is there; the members stay known. */
void lines_begin(struct lines *lines, uint64_t first, unsigned int nr);

/* Frees the lines: there are many of all hosts, and they are not needed between answers. */
void lines_clear(struct lines *lines);

/*
 * Puts a series of the answer to a query into lines. 0, or -EFBIG: there are more than a fleet
 * has.
 */
int lines_take(struct lines *lines, enum query query, const struct answer_series *series);

/* Time and histogram of a cell. */
void line_timing(const struct line *line, unsigned int cell, struct timing *ret_timing);

#endif
