/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pack - the parts of a moment as bytes: numbers in columns, each part a frame of zstd.
 *
 * kvmtop-history(5) says what is in them. Unpacking takes bytes of any origin: damaged ones are
 * -EBADMSG, never a crash and never more memory than a few times PACK_MAX.
 */
#ifndef KVMTOP_HISTORY_PACK_H
#define KVMTOP_HISTORY_PACK_H

#include "history/moment.h"

#define PACK_MAX ((size_t)256 << 20) /* bytes of a part, uncompressed */

/* A part with histograms follows the part that has their rows. */
enum moment_part {
	PART_CHANGES, /* in every moment; with source_ns */
	PART_HISTS,
	PART_TOTALS,
	PART_TOTAL_HISTS,
	PART_LONG_EXITS, /* while they are listed, also of a moment that has none */
	PART_GUESTS, /* in memory; a file has rows, see struct store_type */
	MOMENT_PARTS,
};

/* The parts of a moment as they are stored. One that the moment has not got has size 0. */
struct packed {
	size_t work; /* bytes of memory that it took to make it */
	struct blob parts[MOMENT_PARTS];
};

void packed_release(struct packed *packed);

/* Which fields add up to which, by their ids: see field_adds_up(). */
struct sum_fields {
	const uint32_t *sum_of; /* 1 + the field that is the sum of this one and others; 0: none */
	size_t nr;
};

/* sums.c: memory to find and to make rows that are sums. Zero-initialised is empty. */
struct sums {
	struct left *lefts; /* of one vCPU */
	size_t nr, room;
	uint32_t *rows; /* the latest row of each field */
	size_t room_rows;
};

/* Sets CHANGE_IS_SUM in rows of sorted changes that follow from others. */
void sums_mark(struct sums *sums, struct changes *changes);
/* Makes change->sum of each row 1 + the index of the CHANGE_IS_SUM row that it adds to; or 0. */
void sums_link(struct sums *sums, const struct sum_fields *fields, struct changes *changes);
/* Add to rows that are linked; a sum has room for the counts of all buckets. */
void sums_add_counts(struct changes *changes);
void sums_add_times(struct changes *changes);
void sums_add_hists(struct changes *changes);
void sums_release(struct sums *sums);

/* Memory and zstd's state, used again from moment to moment. */
struct packer {
	struct ZSTD_CCtx_s *pack;
	struct ZSTD_DCtx_s *unpack;
	struct blob plain; /* a part before or after compression */
	struct sums sums;
};

struct packer *packer_new(void);
void packer_free(struct packer *packer);

/* Sorts the changes and totals, and packs all parts. */
void pack_moment(struct packer *packer, struct moment *moment, struct packed *packed);

/* How much of a moment is wanted: the more, the longer it takes. The rest is not checked. */
enum unpack_depth {
	UNPACK_COUNTS, /* keys and counts; no durations */
	UNPACK_TIMES,  /* and the time and the longest; hist[] is not valid */
	UNPACK_ALL,    /* and the buckets */
};

/*
 * Replaces moment->changes and source_ns, of PART_CHANGES, or totals, of PART_TOTALS; or guests.
 * blobs: the part, and with UNPACK_ALL the histograms. -EBADMSG with error.
 */
int unpack_rows(struct packer *packer, enum moment_part part, const struct blob blobs[2],
		enum unpack_depth depth, const struct sum_fields *fields, struct moment *moment,
		struct error *error);
int unpack_guests(struct packer *packer, const struct blob *blob, struct moment *moment,
		  struct error *error);
/* Replaces long_exits of a moment of this time: nothing of an empty part. -EBADMSG with error. */
int unpack_long_exits(struct packer *packer, const struct blob *blob, uint64_t time_ns,
		      struct long_exits *exits, struct error *error);

#endif
