// SPDX-License-Identifier: GPL-2.0-or-later
/* Grows by whole powers of two. */
#include <stdlib.h>
#include <string.h>

#include "lib/xalloc.h"
#include "core/facts/buckets.h"

void buckets_reserve(struct buckets *buckets, unsigned int number)
{
	unsigned int first = number - number % BUCKETS_PARTS, end = first + BUCKETS_PARTS;
	uint32_t *counts;

	if (buckets->nr) {
		first = first < buckets->first ? first : buckets->first;
		if (end < buckets->first + (unsigned int)buckets->nr)
			end = buckets->first + (unsigned int)buckets->nr;
	}
	counts = xcalloc(end - first, sizeof(*counts));
	if (buckets->nr)
		memcpy(counts + (buckets->first - first), buckets->counts,
		       buckets->nr * sizeof(*counts));
	free(buckets->counts);
	buckets->counts = counts;
	buckets->first = (uint16_t)first;
	buckets->nr = (uint16_t)(end - first);
}

void buckets_join(struct buckets *buckets, const struct buckets *more)
{
	if (!more->nr)
		return;
	if (!buckets->nr || more->first < buckets->first)
		buckets_reserve(buckets, more->first);
	if (more->first + more->nr > buckets->first + buckets->nr)
		buckets_reserve(buckets, more->first + more->nr - 1u);
	for (unsigned int i = 0; i < more->nr; i++)
		buckets->counts[more->first - buckets->first + i] += more->counts[i];
}

uint64_t buckets_percentile(const struct buckets *buckets, double share)
{
	unsigned int i = 0, last = 0;
	uint64_t all = 0, begin;
	double rank;

	for (unsigned int k = 0; k < buckets->nr; k++) {
		all += buckets->counts[k];
		last = buckets->counts[k] ? k : last;
	}
	if (!all)
		return 0;
	rank = share * (double)all;
	while (i < last && (!buckets->counts[i] || rank > (double)buckets->counts[i]))
		rank -= (double)buckets->counts[i++];
	begin = buckets_begin(buckets->first + i);
	return begin + (buckets_begin(buckets->first + i + 1) - 1 - begin) / 2;
}

void buckets_release(struct buckets *buckets)
{
	free(buckets->counts);
	*buckets = (struct buckets){ .nr = 0 };
}
