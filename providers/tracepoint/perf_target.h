/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_target - the perf events at one target, in groups that are read with one read(2) each.
 *
 * Each group is led by a dummy event that counts nothing, so that any real event can be closed.
 * Events that are opened later get a group of their own: an event that joins a running group may
 * never count (seen on 6.18), and events that are started together agree.
 *
 * Nothing here locks. Opening and closing a counter takes the kernel's time: see perf_engine.c.
 *
 * Sources: perf_event_open(2); kernel/events/core.c: a group's read is limited to 16 KiB, which old
 * kernels check only where every event reads the group; when a CPU goes offline its groups are
 * dissolved, but every event keeps its count until it is closed.
 */
#ifndef KVMTOP_PROVIDERS_TRACEPOINT_PERF_TARGET_H
#define KVMTOP_PROVIDERS_TRACEPOINT_PERF_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "providers/tracepoint/engine.h"

#define GROUP_MAX 1023 /* more do not fit into the kernel's 16 KiB */

/* What read(2) gives for an event, in a group or alone: PERF_FORMAT_GROUP | PERF_FORMAT_ID. */
struct perf_value {
	uint64_t count, id;
};

struct perf_values {
	uint64_t nr;
	struct perf_value values[GROUP_MAX];
};

/* One counter at one target. */
struct perf_slot {
	int fd; /* -1: closed */
	uint64_t id;
	struct perf_group *group; /* the one it is in */
	uint64_t count;		  /* at the latest read */
};

/* A perf group: its events are in the order of its read(2), which is checked by id each time. */
struct perf_group {
	int leader;
	bool is_enabled; /* it counts, and no event can join any more */
	bool is_full;
	uint32_t *order; /* counter numbers */
	uint32_t nr;
	size_t room;
	struct perf_group *next;
};

/*
 * A target with its groups: one, or more where events joined late or the kernel refused the size.
 */
struct perf_target {
	struct target target;
	bool is_ended; /* the thread ended or the CPU is offline: no more events can be opened */
	bool is_gone;  /* its counts are among the retired; its events are to be closed */
	struct perf_group *groups;
	struct perf_slot *slots; /* one a counter */
	uint32_t nr_slots;
	struct perf_target *next;
};

/* Whether per-CPU events may be opened at all: 0, or -errno with error. */
int perf_probe(const struct env *env, struct error *error);

/* A descriptor or -errno. A counter joins the leader's group, which must not be enabled. */
int perf_leader_open(const struct target *target);
int perf_counter_open(const struct counter *counter, const struct target *target, int leader,
		      uint64_t *ret_id);

struct perf_target *perf_target_new(const struct target *target, uint32_t nr_counters);
void perf_target_free(struct perf_target *at); /* closes what is open */

/* Adds an empty group, which owns the leader. */
struct perf_group *perf_target_add_group(struct perf_target *at, int leader);

void perf_group_join(struct perf_group *group, uint32_t counter);
void perf_group_leave(struct perf_group *group, uint32_t counter);
void perf_group_start(struct perf_group *group);
void perf_group_stop(struct perf_group *group); /* so that events can join again */

/* Reads the counts of all slots. Returns false when they will not grow any more. */
bool perf_target_read(struct perf_target *at, struct perf_values *buffer);

#endif
