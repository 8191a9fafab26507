/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sums - what is exported of facts: the keys of stats added up by guest, reason and vCPU.
 */
#ifndef KVMTOP_UI_METRICS_SUMS_H
#define KVMTOP_UI_METRICS_SUMS_H

#include "core/facts/facts.h"
#include "ui/metrics/names.h"

/* One field of one guest. */
struct cell_sum {
	bool is_set; /* the guest has the field */
	/* An event that is known as exits, too: they are counted from the first one on. */
	bool is_of_exits;
	uint64_t count, ns, ended_ns; /* ended_ns: of what is in hist */
	uint64_t hist[HIST_BUCKETS];
};

struct vcpu_sum {
	int32_t index;
	bool has[TIME_PARTS], has_throttled;
	uint64_t part_ns[TIME_PARTS], throttled_ns;
};

struct guest_sum {
	struct named_guest *named;
	struct cell_sum *cells; /* by struct metric_sums' columns, nr_columns of them */
	struct vcpu_sum *vcpus;
	size_t nr_vcpus, room_vcpus, latest;
};

struct host_cpu_sum {
	int32_t cpu;
	uint64_t busy_ns;
};

/* Zero-initialised is empty. */
struct metric_sums {
	struct guest_sum *guests; /* ascending by id */
	size_t nr_guests, room_guests;
	uint32_t *columns; /* fields with a cell for each guest */
	uint32_t *column_of; /* by field */
	uint32_t *event_of; /* by field: the event that exits of this reason are; else FIELD_NONE */
	size_t room_events;
	size_t nr_columns, room_columns, room_fields;
	struct cell_sum *host_cells; /* the cells without a guest */
	struct host_cpu_sum *cpus;
	size_t nr_cpus, room_cpus;
	bool has_lost;
	uint64_t lost;
};

/* Adds up all keys; the sums before are forgotten. */
void metric_sums_take(struct metric_sums *sums, const struct facts *facts,
		      const struct names *names);
void metric_sums_release(struct metric_sums *sums);

#endif
