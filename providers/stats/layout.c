// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the header and the list of counters of a statistics descriptor, trusting neither. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/xalloc.h"
#include "providers/providers.h"
#include "providers/stats/held.h"

/* Linux has fewer than 64 counters of a vCPU, with names of fewer than 48 bytes. */
#define COUNTERS_MAX 512
#define NAME_MAX_BYTES 256

/* As in linux/kvm.h, which has them from Linux 5.14 on. */
struct header {
	uint32_t flags, name_size, nr_counters, id_at, counters_at, values_at;
};

struct counter_head {
	uint32_t flags;
	int16_t exponent;
	uint16_t nr_values;
	uint32_t at, bucket_size;
	/* the name follows */
};

enum { CUMULATIVE, INSTANT, PEAK, LINEAR_HIST, LOG_HIST, TYPE_MASK = 0xf };
enum { SECONDS = 0x20, UNIT_MASK = 0xf0, POWERS_OF_10 = 0, BASE_MASK = 0xf00 };

#define NANO (-9)
#define LOG_128_NS 7 /* the last of the kernel's buckets that is in our first one */

_Static_assert(sizeof(struct header) == sizeof(((struct stats_layout *)0)->header),
	       "the header has grown");

static bool kind_of(uint32_t flags, enum field_kind *ret_kind)
{
	switch (flags & TYPE_MASK) {
	case CUMULATIVE:
	case LINEAR_HIST:
	case LOG_HIST:
		*ret_kind = FIELD_COUNTER;
		return true;
	case INSTANT:
		*ret_kind = FIELD_GAUGE;
		return true;
	case PEAK:
		*ret_kind = FIELD_PEAK;
		return true;
	default:
		return false;
	}
}

/* Whether the text can be a name on the screen and in filters. */
static bool is_name(const char *name, size_t size)
{
	size_t len = strnlen(name, size);

	for (size_t i = 0; i < len; i++) {
		if (!isalnum((unsigned char)name[i]) && name[i] != '_')
			return false;
	}
	return len && len < size;
}

static bool has_name(const struct stats_layout *layout, const char *name)
{
	for (size_t i = 0; i < layout->nr_counters; i++) {
		if (strcmp(layout->counters[i].name, name) == 0)
			return true;
	}
	return false;
}

static bool is_in_ns(const struct counter_head *head)
{
	return (head->flags & UNIT_MASK) == SECONDS && (head->flags & BASE_MASK) == POWERS_OF_10 &&
	       head->exponent == NANO;
}

static int add_counter(struct stats_layout *layout, const struct header *header,
		       const char *at, size_t size)
{
	const char *name = at + sizeof(struct counter_head);
	struct stats_counter counter = { .name = name, .field = FIELD_NONE };
	struct counter_head head;
	uint64_t begin, end;

	memcpy(&head, at, sizeof(head));
	begin = (uint64_t)header->values_at + head.at;
	end = begin + head.nr_values * sizeof(uint64_t);
	if (!head.nr_values || end > size)
		return -EINVAL;
	if (!kind_of(head.flags, &counter.kind) || !is_name(name, header->name_size) ||
	    has_name(layout, name))
		return 0;
	counter.at = (size_t)begin;
	counter.nr = head.nr_values;
	counter.has_durations = (head.flags & TYPE_MASK) == LOG_HIST && is_in_ns(&head);
	layout->counters[layout->nr_counters++] = counter;
	return 0;
}

/* The sum of what "halt_wait_hist" has is "halt_wait_ns". */
static void find_sum(const struct stats_layout *layout, struct stats_counter *counter)
{
	const char *suffix = strrchr(counter->name, '_');
	size_t length = suffix ? (size_t)(suffix - counter->name) : 0;

	counter->has_durations = false;
	if (!suffix || strcmp(suffix, "_hist") != 0)
		return;
	for (size_t i = 0; i < layout->nr_counters; i++) {
		const struct stats_counter *sum = &layout->counters[i];

		if (strncmp(sum->name, counter->name, length) != 0 ||
		    strcmp(sum->name + length, "_ns") != 0)
			continue;
		counter->has_durations = true;
		counter->sum_at = sum->at;
	}
}

static int add_counters(struct stats_layout *layout, const char *bytes, size_t size)
{
	struct header header;
	size_t step;
	int err = 0;

	memcpy(&header, bytes, sizeof(header));
	step = sizeof(struct counter_head) + header.name_size;
	layout->counters_at = header.counters_at;
	layout->counters_size = step * header.nr_counters;
	layout->size = size;
	if (header.values_at >= layout->counters_at + layout->counters_size)
		layout->tail_at = layout->counters_at + layout->counters_size - step;
	layout->counter_bytes = xcalloc(1, layout->counters_size);
	layout->counters = xcalloc(header.nr_counters, sizeof(*layout->counters));
	memcpy(layout->counter_bytes, bytes + layout->counters_at, layout->counters_size);
	for (size_t i = 0; !err && i < header.nr_counters; i++)
		err = add_counter(layout, &header, layout->counter_bytes + i * step, size);
	for (size_t i = 0; !err && i < layout->nr_counters; i++) {
		if (layout->counters[i].has_durations)
			find_sum(layout, &layout->counters[i]);
	}
	return err;
}

static bool is_header(const char *bytes, size_t size)
{
	struct header header;
	size_t step;

	if (size < sizeof(header) || size > STATS_BYTES_MAX)
		return false;
	memcpy(&header, bytes, sizeof(header));
	if (!header.name_size || header.name_size > NAME_MAX_BYTES || !header.nr_counters ||
	    header.nr_counters > COUNTERS_MAX)
		return false;
	step = sizeof(struct counter_head) + header.name_size;
	return header.counters_at >= sizeof(header) && header.counters_at <= size &&
	       header.nr_counters * step <= size - header.counters_at;
}

int stats_layout_parse(const char *bytes, size_t size, struct stats_layout **ret_layout)
{
	struct stats_layout *layout;
	int err;

	if (!is_header(bytes, size))
		return -EINVAL;
	layout = xcalloc(1, sizeof(*layout));
	memcpy(layout->header, bytes, sizeof(layout->header));
	err = add_counters(layout, bytes, size);
	if (err)
		stats_layout_free(layout);
	else
		*ret_layout = layout;
	return err;
}

bool stats_layout_fits(const struct stats_layout *layout, const char *bytes, size_t from,
		       size_t size)
{
	size_t skip = from > layout->counters_at ? from - layout->counters_at : 0;

	return size == layout->size &&
	       (from || memcmp(bytes, layout->header, sizeof(layout->header)) == 0) &&
	       memcmp(bytes + layout->counters_at + skip, layout->counter_bytes + skip,
		      layout->counters_size - skip) == 0;
}

uint64_t stats_counter_sum(const struct stats_counter *counter, const char *bytes)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < counter->nr; i++) {
		uint64_t value;

		memcpy(&value, bytes + counter->at + i * sizeof(value), sizeof(value));
		if (counter->kind != FIELD_COUNTER)
			value = kvm_counter_level(value);
		if (__builtin_add_overflow(sum, value, &sum))
			sum = UINT64_MAX;
	}
	return sum;
}

/*
 * The kernel's bucket i has what is below 2^i ns, its last one the rest: today 2^30 ns and more. So
 * the bucket of ours that has these is open to its end, too, and nothing counts as longer.
 */
void stats_counter_timing(const struct stats_counter *counter, const char *bytes,
			  struct timing *ret_timing)
{
	*ret_timing = (struct timing){ 0 };
	memcpy(&ret_timing->time_ns, bytes + counter->sum_at, sizeof(ret_timing->time_ns));
	for (unsigned int i = 0; i < counter->nr; i++) {
		unsigned int bucket = i > LOG_128_NS ? i - LOG_128_NS : 0;
		uint64_t count;

		memcpy(&count, bytes + counter->at + i * sizeof(count), sizeof(count));
		if (!count)
			continue;
		if (bucket >= HIST_BUCKETS)
			bucket = HIST_BUCKETS - 1;
		ret_timing->hist[bucket] += (uint32_t)count;
		ret_timing->max_ns = i + 1 < counter->nr ? hist_edge_ns(bucket) : INT64_MAX;
	}
}

void stats_layout_free(struct stats_layout *layout)
{
	if (!layout)
		return;
	free(layout->counters);
	free(layout->counter_bytes);
	free(layout);
}
