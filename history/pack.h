/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pack - the parts of a moment as bytes: columns in CBOR (RFC 8949), compressed by zstd.
 *
 * kvmtop-history(5) says what is in them. Unpacking takes bytes of any origin: damaged ones are
 * -EBADMSG, never a crash and never more memory than PACK_MAX.
 */
#ifndef KVMTOP_HISTORY_PACK_H
#define KVMTOP_HISTORY_PACK_H

#include "history/moment.h"

#define PACK_MAX ((size_t)256 << 20) /* bytes of a part, uncompressed */

enum moment_part {
	PART_CHANGES, /* in every moment; with source_ns */
	PART_TOTALS,
	PART_GUESTS,
	MOMENT_PARTS,
};

/* A moment as it is stored. A part that the moment has not got has size 0. */
struct packed {
	uint64_t time_ns, elapsed_ns;
	uint32_t flags;
	size_t work; /* bytes of memory that it took to make it */
	struct blob parts[MOMENT_PARTS];
};

void packed_release(struct packed *packed);

/*
 * sums.c: rows that need not be stored, because other rows of the same vCPU add up to them.
 *
 * A vCPU's exits are the sum of its reasons, and its time is the sum of its parts. sums_find()
 * marks such rows where that is so to the digit; unpack.c makes their numbers again. That needs no
 * dictionary: the ranges say which fields add up to which.
 */

/* Fields that add up to one. */
struct sum_range {
	uint32_t first, nr; /* fields */
	uint32_t sum;	    /* the field that is their sum */
};

/* Zero-initialised is empty. */
struct sums {
	struct sum_range *ranges; /* ascending */
	size_t nr, room;
	uint32_t *by_field; /* for sums_find() */
	size_t room_fields;
};

void sums_release(struct sums *sums);

/*
 * Makes the ranges of sorted changes, and sets CHANGE_IS_SUM in the rows that follow from others:
 * the count, and of durations the time and the buckets.
 */
void sums_find(struct sums *sums, struct changes *changes);

/* Makes change->sum of each row 1 + the index of the CHANGE_IS_SUM row that it adds to; or 0. */
void sums_link(const struct sums *sums, struct changes *changes);

/* Adds up the buckets of rows that are linked. */
void sums_add_hists(struct changes *changes);

/* Takes CHANGE_IS_SUM from all rows. */
void sums_unmark(struct changes *changes);

/* Memory and zstd's state, used again from moment to moment; of pack.c and unpack.c. */
struct packer {
	struct ZSTD_CCtx_s *pack;
	struct ZSTD_DCtx_s *unpack;
	struct blob plain;  /* a part before or after compression */
	struct blob column; /* for one of its columns, or to sort; its size: the most in use */
	struct sums sums;   /* of the part's rows */
};

struct packer *packer_new(void);
void packer_free(struct packer *packer);

/* Sorts the changes and totals, and packs all parts. */
void pack_moment(struct packer *packer, struct moment *moment, struct packed *packed);

/* How much of a part is wanted: the more, the longer it takes. The rest is not checked. */
enum unpack_depth {
	UNPACK_COUNTS, /* keys and counts; no durations */
	UNPACK_TIMES,  /* and the time and the longest; hist[] is not valid */
	UNPACK_ALL,    /* and the buckets; of totals, reasons that began late */
};

/* Replaces moment->changes and source_ns; or totals; or guests. -EBADMSG with error. */
int unpack_changes(struct packer *packer, const struct blob *blob, enum unpack_depth depth,
		   struct moment *moment, struct error *error);
int unpack_totals(struct packer *packer, const struct blob *blob, enum unpack_depth depth,
		  struct moment *moment, struct error *error);
int unpack_guests(struct packer *packer, const struct blob *blob, struct moment *moment,
		  struct error *error);

#endif
