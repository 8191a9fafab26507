/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_site - the perf events at one target, in groups that are read with one read(2) each.
 *
 * Each group is led by a dummy event that counts nothing, so that any real event can leave. Events
 * that join later get a group of their own: one that is put into a running group may never count
 * (seen on 6.18), and started together they agree.
 *
 * Nothing here locks. Opening and closing a counter takes the kernel's time: see perf_engine.c.
 *
 * Sources: perf_event_open(2); kernel/events/core.c: a group's read is limited to 16 KiB, of which
 * old kernels assure themselves only where every event reads the group; a CPU that goes offline
 * dissolves its groups, but every event keeps its count until it is closed.
 */
#ifndef KVMTOP_PROVIDERS_TRACEPOINT_PERF_SITE_H
#define KVMTOP_PROVIDERS_TRACEPOINT_PERF_SITE_H

#include <stdbool.h>
#include <stdint.h>

#include "providers/tracepoint/engine.h"

#define GROUP_MAX 1023 /* more do not fit into the kernel's 16 KiB */

/* An event's place in a group's read, and alone: PERF_FORMAT_GROUP | PERF_FORMAT_ID. */
struct value {
	uint64_t count, id;
};

struct read_buffer {
	uint64_t nr;
	struct value values[GROUP_MAX];
};

/* One counter at one target. */
struct slot {
	int fd; /* -1: closed */
	uint64_t id;
	struct group *group; /* that it was opened into */
	uint64_t count;	     /* at the latest read */
};

/* What a perf group reads, in its order: grown as slots open, checked by id at each read. */
struct group {
	int leader;
	bool is_enabled; /* it counts, and nothing can join any more */
	bool is_full;
	uint32_t *order; /* counter numbers */
	uint32_t nr, cap;
	struct group *next;
};

/*
 * A target with its groups: one, or more where events joined late or the kernel refused the size.
 */
struct site {
	struct target target;
	bool is_ended; /* the thread ended, the CPU is offline: nothing more will open */
	bool is_gone;  /* its counts are in the tally; what is left is to be closed */
	struct group *groups;
	struct slot *slots; /* one a counter */
	struct site *next;
};

/* A descriptor or -errno. A counter joins the leader's group, which must not be enabled. */
int leader_open(const struct target *target);
int counter_open(const struct counter *counter, const struct target *target, int leader,
		 uint64_t *ret_id);

struct site *site_new(const struct target *target, uint32_t nr_counters); /* NULL: no memory */
void site_free(struct site *site); /* all counters are closed */

/* Adds an empty group, which owns the leader. NULL: no memory. */
struct group *site_add_group(struct site *site, int leader);

int group_join(struct group *group, uint32_t counter); /* 0 or -ENOMEM */
void group_leave(struct group *group, uint32_t counter);
void group_start(struct group *group);
void group_stop(struct group *group); /* an empty one may be filled again */

/*
 * Brings the counts of a site's slots up to date. Returns false when they will not grow any more.
 */
bool site_read(struct site *site, struct read_buffer *buffer);

#endif
