/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rollup - the keys of stats added up, for every view, the head line and the exporter.
 *
 * An owner is a guest, a vCPU, a host CPU, or all together: where its time went, the host's numbers
 * of it, its exits with their history, its costliest reason. A group is a field of an owner, or all
 * of the chosen ones: counts and durations. The memory is the roll-up's, and serves the next one.
 */
#ifndef KVMTOP_CORE_VIEWS_ROLLUP_H
#define KVMTOP_CORE_VIEWS_ROLLUP_H

#include "core/facts/facts.h"
#include "core/views/columns.h"

/* What exits are grouped by, together: a vCPU is GROUP_GUEST | GROUP_VCPU. */
enum {
	GROUP_GUEST = 1 << 0,
	GROUP_VCPU = 1 << 1, /* with GROUP_GUEST */
	GROUP_REASON = 1 << 2, /* or argument, see struct query */
	GROUP_ALL = GROUP_GUEST | GROUP_VCPU | GROUP_REASON,
};

#define VCPU_ANY INT32_MIN

/* One vCPU of a guest; VCPU_ANY: all of the guest. */
struct vcpu_key {
	uint32_t guest;
	int32_t vcpu;
};

/* Which keys are added up. */
struct keys {
	uint32_t guest; /* GUEST_ALL: of all */
	bool has_vcpu;
	int32_t vcpu;
	const struct vcpu_key *only; /* nr_only of them; 0: all */
	size_t nr_only;
};

bool keys_list(const struct keys *keys, const struct key *key);

static inline bool keys_have(const struct keys *keys, const struct key *key)
{
	return (keys->guest == GUEST_ALL || key->guest == keys->guest) &&
	       (!keys->has_vcpu || key->vcpu == keys->vcpu) &&
	       (!keys->nr_only || keys_list(keys, key));
}

struct owner {
	struct key key; /* of GUEST_NONE the vCPU is a host CPU's number, or -1: all */
	struct sum time[TIME_PARTS]; /* ns */
	struct sum host[HOST_PARTS];
	struct sum events[EVENT_KINDS]; /* KVM's counters, by what they count */
	bool has_throttled_sums; /* of keys that have many vCPUs each */
	bool has_exit_cpu;
	uint64_t exit_cpu; /* where its latest exit was */
	struct sum exits; /* of rollup.counted, */
	float history[STATS_HISTORY]; /* and their rates, if there are exits */
	uint64_t open_ns; /* the longest exit that is open, see stats_open_ns() */
	/* The costliest of rollup.reasons; idle time costs nothing. */
	uint32_t top; /* valid if top_ns or top_count is not 0 */
	uint64_t top_ns, top_count;
	uint64_t all_ns, all_count; /* of all reasons */
	double shares[SPLIT_PARTS]; /* for the cell of a picture */
};

enum percentile { PERCENTILE_50, PERCENTILE_99, NR_PERCENTILES };

#define FIELD_ANY 0 /* in the key of a group: the group has all fields */

struct group {
	struct key key; /* GUEST_ALL, -1, FIELD_ANY: all guests, vCPUs, fields */
	uint32_t owner; /* the number in owners; all_groups has none */
	uint32_t spreads; /* the roll-up's own */
	struct sum sum;
	bool has_percentiles; /* of a recording, which has finer buckets than timing */
	uint64_t percentiles_ns[NR_PERCENTILES];
	uint64_t open_ns; /* the longest that is open, see stats_open_ns() */
	struct sum parts[EXIT_PARTS]; /* of the time of the exits, or beside it */
	struct timing_sum timing;
};

struct rollup {
	/* Set by the caller after rollup_begin(): */
	struct keys keys;
	unsigned int by; /* GROUP_*: an owner for each guest, vCPU; a group for each reason */
	bool joins_names;	   /* guests of one name are one, the first of them */
	bool is_since_start; /* groups' buckets are since the start, not of the interval */
	struct field_set counted;  /* the fields that are added up */
	struct field_set reasons;  /* the fields that may be an owner's costliest */

	/* The result: */
	struct owner *owners; /* without groups: ascending by guest and vCPU */
	size_t nr_owners;
	struct owner all; /* with groups: the sum of the owners */
	struct group *groups;
	size_t nr_groups;
	struct group all_groups; /* after rollup_sum_groups() */
	bool has_parts; /* parts of the time of exits are known; else all of a halt is idle */

	/* Its own: */
	bool has_groups;
	size_t room_owners, room_groups, latest;
	uint32_t joined, joined_as; /* the latest guest, and the first of its name */
	struct key_index owner_index, group_index, cost_index;
	struct reason_cost { /* of an owner */
		struct key key;
		uint64_t count, ns, idle_ns;
	} *costs;
	size_t nr_costs, room_costs;
	struct spread_of_group {
		const struct spread *spread;
		uint32_t next;
	} *spreads;
	size_t nr_spreads, room_spreads;
};

/* Forgets what was asked for and the result, but keeps the memory. */
void rollup_begin(struct rollup *rollup, unsigned int by);
/* All reasons of this counter may be the costliest. */
void rollup_choose_reasons(struct rollup *rollup, const struct facts *facts, struct exits exits);
/* An owner that is in the result also if there is no key of it. */
void rollup_expect(struct rollup *rollup, uint32_t guest, int32_t vcpu);
/* Adds up the keys: what is counted is in its owner's exits, */
void rollup_owners(struct rollup *rollup, const struct facts *facts);
/* or in groups of its owner. */
void rollup_groups(struct rollup *rollup, const struct facts *facts);
/* For shares of all: makes all_groups; and, of recordings, the groups' percentiles. */
void rollup_sum_groups(struct rollup *rollup);
void rollup_release(struct rollup *rollup);

/* An owner, after rollup_owners(); NULL: none. */
struct owner *rollup_find(const struct rollup *rollup, uint32_t guest, int32_t vcpu);
/* How many exits the owners that are guests, or of guests, with these keys had since the start. */
uint64_t rollup_total(const struct rollup *rollup, const struct keys *keys);
/* The number of a key's owner, after rollup_groups(); nr_owners: none. */
size_t rollup_owner(const struct rollup *rollup, const struct key *key);
/* Adds a key to a group, also to one that is not the roll-up's: of many rows most are not shown. */
void group_add(struct rollup *rollup, struct group *group, const struct facts *facts,
	       const struct stats_item *stat);
/* Adds the parts and exits of one owner to another. */
void owner_join(struct owner *owner, const struct owner *more);
/* The memory that KVM maps for the owner in pages of this size, EVENT_PAGES_4K ..., or larger. */
uint64_t owner_pages_kib(const struct owner *owner, enum event_kind least);

#endif
