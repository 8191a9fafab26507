// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens, groups, starts, reads and closes the perf events at one target. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "providers/tracepoint/perf_site.h"

static int perf_event_open(struct perf_event_attr *attr, const struct target *target, int leader)
{
	return (int)syscall(SYS_perf_event_open, attr, target->is_thread ? target->id : -1,
			    target->is_thread ? -1 : target->id, leader, PERF_FLAG_FD_CLOEXEC);
}

int leader_open(const struct target *target)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID,
		.disabled = 1,
	};
	int fd = perf_event_open(&attr, target, -1);

	return fd < 0 ? -errno : fd;
}

int counter_open(const struct counter *counter, const struct target *target, int leader,
		 uint64_t *ret_id)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = counter->tracepoint_id,
		.read_format = PERF_FORMAT_ID, /* by itself: see read_each() */
	};
	int fd = perf_event_open(&attr, target, leader), err;

	if (fd < 0)
		return -errno;
	if (ioctl(fd, PERF_EVENT_IOC_ID, ret_id) < 0)
		goto fail;
	if (counter->filter && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, counter->filter) < 0)
		goto fail;
	return fd;
fail:
	err = -errno;
	close(fd);
	return err;
}

struct site *site_new(const struct target *target, uint32_t nr_counters)
{
	struct site *site = calloc(1, sizeof(*site));

	if (!site)
		return NULL;
	site->slots = calloc(nr_counters, sizeof(*site->slots));
	if (!site->slots) {
		free(site);
		return NULL;
	}
	for (uint32_t i = 0; i < nr_counters; i++)
		site->slots[i].fd = -1;
	site->target = *target;
	return site;
}

void site_free(struct site *site)
{
	while (site->groups) {
		struct group *group = site->groups;

		site->groups = group->next;
		close(group->leader);
		free(group->order);
		free(group);
	}
	free(site->slots);
	free(site);
}

struct group *site_add_group(struct site *site, int leader)
{
	struct group *group = calloc(1, sizeof(*group));

	if (!group)
		return NULL;
	group->leader = leader;
	group->next = site->groups;
	site->groups = group;
	return group;
}

int group_join(struct group *group, uint32_t counter)
{
	if (group->nr == group->cap) {
		uint32_t cap = group->cap ? 2 * group->cap : 128;
		uint32_t *order = reallocarray(group->order, cap, sizeof(*order));

		if (!order)
			return -ENOMEM;
		group->order = order;
		group->cap = cap;
	}
	group->order[group->nr++] = counter;
	group->is_full = group->nr + 1 == GROUP_MAX; /* the leader is in it, too */
	return 0;
}

void group_leave(struct group *group, uint32_t counter)
{
	uint32_t i = 0;

	while (i < group->nr && group->order[i] != counter)
		i++;
	if (i == group->nr)
		return;
	group->nr--;
	memmove(&group->order[i], &group->order[i + 1], (group->nr - i) * sizeof(*group->order));
	group->is_full = false;
}

void group_start(struct group *group)
{
	ioctl(group->leader, PERF_EVENT_IOC_ENABLE, 0);
	group->is_enabled = true;
}

void group_stop(struct group *group)
{
	ioctl(group->leader, PERF_EVENT_IOC_DISABLE, 0);
	group->is_enabled = false;
}

/* Reads an event's group. Returns how many values there are. */
static uint64_t read_values(int fd, struct read_buffer *buffer)
{
	ssize_t n = read(fd, buffer, sizeof(*buffer));

	return n < (ssize_t)sizeof(buffer->nr) ? 0 : buffer->nr;
}

/* Returns false when some of the group is missing: see read_each(). */
static bool read_group(struct site *site, const struct group *group, struct read_buffer *buffer)
{
	uint64_t nr = read_values(group->leader, buffer);
	uint32_t i = 0;

	/* The first value is the leader's. An event on its way out may be among the rest. */
	for (uint64_t at = 1; i < group->nr && at < nr; at++) {
		struct slot *slot = &site->slots[group->order[i]];

		if (buffer->values[at].id != slot->id)
			continue;
		slot->count = buffer->values[at].count;
		i++;
	}
	return i == group->nr;
}

/*
 * The kernel has dissolved the group, for the CPU went offline; it may be back. An event that reads
 * its group would still read the leader's on some kernels (seen on 6.1), which is empty.
 */
static void read_each(struct site *site, const struct group *group)
{
	for (uint32_t i = 0; i < group->nr; i++) {
		struct slot *slot = &site->slots[group->order[i]];
		struct value value;

		if (read(slot->fd, &value, sizeof(value)) == sizeof(value))
			slot->count = value.count;
	}
}

bool site_read(struct site *site, struct read_buffer *buffer)
{
	bool is_whole = true;

	for (const struct group *group = site->groups; group; group = group->next) {
		if (!group->is_enabled || read_group(site, group, buffer))
			continue;
		read_each(site, group);
		is_whole = false;
	}
	return is_whole;
}
