/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * layout - what the bytes of a statistics descriptor mean: KVM_GET_STATS_FD in the kernel's
 * Documentation/virt/kvm/api.rst, struct kvm_stats_header and kvm_stats_desc in linux/kvm.h.
 *
 * A header and a list of counters, which never change while a descriptor is open, come before or
 * after the values. All vCPUs of a host have one layout, all VMs another.
 */
#ifndef KVMTOP_PROVIDERS_STATS_LAYOUT_H
#define KVMTOP_PROVIDERS_STATS_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/facts/field.h"
#include "core/facts/sample.h"

#define STATS_BYTES_MAX 65536 /* of a descriptor; x86 vCPUs have 4,056 */

struct stats_counter {
	const char *name; /* the layout owns it */
	enum field_kind kind; /* from the kernel */
	size_t at;	  /* where its values begin */
	uint16_t nr;	  /* how many values; of a histogram one for each bucket */
	bool has_durations; /* the buckets are durations in ns, in powers of two */
	size_t sum_at;	  /* with has_durations: where their sum is */
	uint32_t field;	  /* the owner's, FIELD_NONE at first */
	bool is_wanted;	  /* the owner's */
};

struct stats_layout {
	struct stats_layout *next; /* the owner's list */
	struct stats_counter *counters;
	size_t nr_counters;
	char *counter_bytes; /* the list of counters, as it was read */
	size_t counters_at, counters_size;
	char header[24];
	size_t size; /* of all bytes */
	/* Reading on from here is enough: the last counter, which tells the layout, and values. */
	size_t tail_at;
};

/*
 * Reads the layout. Counters of unknown kinds, and counters with the name of another counter or
 * with a name that is no word, are left out. 0, or -EINVAL: the bytes are no statistics.
 */
int stats_layout_parse(const char *bytes, size_t size, struct stats_layout **ret_layout);

/* Whether the bytes have this layout; the bytes before `from` were not read. */
bool stats_layout_fits(const struct stats_layout *layout, const char *bytes, size_t from,
		       size_t size);

/* stats_counter_value() for a level, or for several values. */
uint64_t stats_counter_sum(const struct stats_counter *counter, const char *bytes);

/* The value, or the sum of a histogram's buckets; the bytes have the layout of the counter. */
static inline uint64_t stats_counter_value(const struct stats_counter *counter, const char *bytes)
{
	uint64_t value;

	if (counter->nr != 1 || counter->kind != FIELD_COUNTER)
		return stats_counter_sum(counter, bytes);
	memcpy(&value, bytes + counter->at, sizeof(value));
	return value;
}

/* The durations of a counter with has_durations. max_ns: the upper edge of the highest bucket. */
void stats_counter_timing(const struct stats_counter *counter, const char *bytes,
			  struct timing *ret_timing);

void stats_layout_free(struct stats_layout *layout); /* NULL is fine */

#endif
