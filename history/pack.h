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
#include "history/sums.h"

#define PACK_MAX ((size_t)256 << 20) /* bytes of a part, uncompressed */

struct blob {
	unsigned char *bytes;
	size_t size, room;
};

void blob_release(struct blob *blob);

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

/* Replaces moment->changes and source_ns; or totals; or guests. -EBADMSG with why. */
int unpack_changes(struct packer *packer, const struct blob *blob, enum unpack_depth depth,
		   struct moment *moment, struct why *why);
int unpack_totals(struct packer *packer, const struct blob *blob, enum unpack_depth depth,
		  struct moment *moment, struct why *why);
int unpack_guests(struct packer *packer, const struct blob *blob, struct moment *moment,
		  struct why *why);

#endif
