// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds what happened between two samples of a group. */
#include <errno.h>

#include "lib/xalloc.h"
#include "trace/recording/perf/group.h"

#define COUNT_MAX (UINT64_C(1) << 48) /* a larger count is damage */

/* No member of the key has padding. */
struct perf_count_key {
	uint64_t id;
	int64_t tid; /* -1: the count is of the id alone */
};

struct perf_count {
	struct perf_count_key key;
	uint64_t latest;
	UT_hash_handle hh;
};

void perf_counts_release(struct perf_counts *counts)
{
	struct perf_count *count, *next;

	HASH_ITER(hh, counts->hash, count, next) {
		HASH_DEL(counts->hash, count);
		free(count);
	}
}

/* The i-th count of a sample. */
struct value {
	uint64_t count, id;
};

static bool has_ids(const struct perf_sample *sample)
{
	return sample->count_size >= 2 * sizeof(uint64_t);
}

static struct value value_at(const struct perf_header *header, const struct perf_sample *sample,
			     uint32_t i)
{
	const uint8_t *at = sample->counts + (size_t)i * sample->count_size;

	return (struct value){ bytes_u64(at, header->swap), bytes_u64(at + 8, header->swap) };
}

enum perf_group perf_group_look(const struct perf_header *header, const struct perf_sample *sample)
{
	enum perf_group group = PERF_GROUP_NONE;

	if (sample->nr_counts > 1 && !has_ids(sample))
		return PERF_GROUP_UNKNOWN;
	for (uint32_t i = 0; i < sample->nr_counts && has_ids(sample); i++) {
		const struct value value = value_at(header, sample, i);
		const struct perf_id *id = perf_header_id(header, value.id);

		if (value.count > COUNT_MAX)
			return PERF_GROUP_DAMAGED;
		if (!id)
			group = PERF_GROUP_UNKNOWN;
		else if (id->tracepoint && group == PERF_GROUP_NONE)
			group = PERF_GROUP_COUNTS;
	}
	return group;
}

static int add_count(struct perf_counts *counts, const struct perf_count_key *key,
		     struct perf_count **ret_count)
{
	struct perf_count *count;

	if (HASH_COUNT(counts->hash) >= PERF_COUNTS_MAX)
		return -E2BIG;
	count = xcalloc(1, sizeof(*count));
	count->key = *key;
	hash_add(counts->hash, key, count);
	*ret_count = count;
	return 0;
}

/*
 * By how much a count has grown. An interrupt may write its sample before the sample that it
 * interrupts: the later record then has the smaller count, and nothing has grown.
 */
static int grow(struct perf_counts *counts, const struct perf_count_key *key, uint64_t now,
		uint64_t *ret_grown)
{
	struct perf_count *count;
	int err = 0;

	*ret_grown = 0;
	HASH_FIND(hh, counts->hash, key, sizeof(*key), count);
	if (!count && now)
		err = add_count(counts, key, &count);
	if (err || !count || now <= count->latest)
		return err;
	*ret_grown = now - count->latest;
	count->latest = now;
	return 0;
}

int perf_group_take(struct perf_counts *counts, const struct perf_header *header,
		    struct perf_sample *sample, struct perf_counted *ret_counted)
{
	int err = 0;

	while (sample->nr_counts > 0 && has_ids(sample) && !err) {
		const struct value value = value_at(header, sample, 0);
		const struct perf_id *id = perf_header_id(header, value.id);
		struct perf_count_key key = { value.id, -1 };
		uint64_t grown;

		if (!sample->id)
			sample->id = value.id; /* the kernel begins with the first event */
		sample->counts += sample->count_size;
		sample->nr_counts--;
		if (!id || !id->tracepoint)
			continue;
		if (sample->counts_by_thread)
			key.tid = sample->tid;
		err = grow(counts, &key, value.count, &grown);
		if (err || !grown || value.id == sample->id)
			continue;
		*ret_counted = (struct perf_counted){
			.tracepoint = id->tracepoint,
			.is_of_thread = sample->tid >= 0 &&
					(id->is_of_thread || sample->counts_by_thread),
			.nr = grown,
		};
		return 1;
	}
	return err;
}
