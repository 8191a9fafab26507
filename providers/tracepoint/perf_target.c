// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens, groups, starts, reads and closes the perf events at one target. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utlist.h>

#include "lib/array.h"
#include "lib/process.h"
#include "lib/xalloc.h"
#include "providers/tracepoint/perf_target.h"

static int perf_event_open(struct perf_event_attr *attr, const struct target *target, int leader)
{
	return (int)syscall(SYS_perf_event_open, attr, target->is_thread ? target->id : -1,
			    target->is_thread ? -1 : target->id, leader, PERF_FLAG_FD_CLOEXEC);
}

int perf_leader_open(const struct target *target)
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

int perf_counter_open(const struct counter *counter, const struct target *target, int leader,
		      uint64_t *ret_id)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = counter->tracepoint_id,
		.read_format = PERF_FORMAT_ID, /* without the group: see read_each() */
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

/* A dummy event passes the same checks as a tracepoint and costs nothing to close. */
int perf_probe(const struct env *env, struct error *error)
{
	struct target target = { .id = 0 };
	char paranoid[16];
	int fd = perf_leader_open(&target);

	if (fd >= 0)
		close(fd);
	if (fd >= 0 || fd == -ENODEV) /* allowed, though CPU 0 may be offline */
		return 0;
	if (fd == -ENOSYS)
		return error_set(error, fd, "this kernel has no perf events (CONFIG_PERF_EVENTS)");
	if (fd != -EACCES && fd != -EPERM)
		return error_set(error, fd, "cannot open perf events: %s", strerror(-fd));
	if (env_read_line(env, paranoid, sizeof(paranoid),
			  "/proc/sys/kernel/perf_event_paranoid") < 0)
		strcpy(paranoid, "?");
	/* Levels above 2 are Debian's and Ubuntu's: for them cap_perfmon is not enough. */
	return error_set(error, fd,
			 "not allowed to count events (perf_event_paranoid is %s): %sgrant it: "
			 "setcap cap_perfmon,%scap_dac_read_search,cap_sys_ptrace+ep kvmtop",
			 paranoid, unless_root("run as root, or "),
			 atoi(paranoid) > 2 ? "cap_sys_admin," : "");
}

struct perf_target *perf_target_new(const struct target *target, uint32_t nr_counters)
{
	struct perf_target *at = xcalloc(1, sizeof(*at));

	at->slots = xcalloc(nr_counters, sizeof(*at->slots));
	for (uint32_t i = 0; i < nr_counters; i++)
		at->slots[i].fd = -1;
	at->nr_slots = nr_counters;
	at->target = *target;
	return at;
}

void perf_target_free(struct perf_target *at)
{
	struct perf_group *group, *next;

	for (uint32_t i = 0; i < at->nr_slots; i++) {
		if (at->slots[i].fd >= 0)
			close(at->slots[i].fd);
	}
	LL_FOREACH_SAFE(at->groups, group, next) {
		close(group->leader);
		free(group->order);
		free(group);
	}
	free(at->slots);
	free(at);
}

struct perf_group *perf_target_add_group(struct perf_target *at, int leader)
{
	struct perf_group *group = xcalloc(1, sizeof(*group));

	group->leader = leader;
	LL_PREPEND(at->groups, group);
	return group;
}

void perf_group_join(struct perf_group *group, uint32_t counter)
{
	*array_add(group->order, group->nr, group->room) = counter;
	group->is_full = group->nr + 1 == GROUP_MAX; /* the leader is in it, too */
}

void perf_group_leave(struct perf_group *group, uint32_t counter)
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

void perf_group_start(struct perf_group *group)
{
	ioctl(group->leader, PERF_EVENT_IOC_ENABLE, 0);
	group->is_enabled = true;
}

void perf_group_stop(struct perf_group *group)
{
	ioctl(group->leader, PERF_EVENT_IOC_DISABLE, 0);
	group->is_enabled = false;
}

/* Returns false when an event of the group is missing: see read_each(). */
static bool read_group(struct perf_target *at, const struct perf_group *group,
		       struct perf_values *buffer)
{
	ssize_t size = read(group->leader, buffer, sizeof(*buffer));
	uint64_t nr = size < (ssize_t)sizeof(buffer->nr) ? 0 : buffer->nr;
	uint32_t i = 0;

	/*
	 * The first value is the leader's. An event that is being closed may be among the others.
	 */
	for (uint64_t value = 1; i < group->nr && value < nr; value++) {
		struct perf_slot *slot = &at->slots[group->order[i]];

		if (buffer->values[value].id != slot->id)
			continue;
		slot->count = buffer->values[value].count;
		i++;
	}
	return i == group->nr;
}

/*
 * For a group that the kernel has dissolved because its CPU went offline, even if that is back. On
 * some kernels (seen on 6.1) an event with PERF_FORMAT_GROUP would read the leader's empty group.
 */
static void read_each(struct perf_target *at, const struct perf_group *group)
{
	for (uint32_t i = 0; i < group->nr; i++) {
		struct perf_slot *slot = &at->slots[group->order[i]];
		struct perf_value value;

		if (read(slot->fd, &value, sizeof(value)) == sizeof(value))
			slot->count = value.count;
	}
}

bool perf_target_read(struct perf_target *at, struct perf_values *buffer)
{
	bool is_whole = true;

	for (const struct perf_group *group = at->groups; group; group = group->next) {
		if (!group->is_enabled || read_group(at, group, buffer))
			continue;
		read_each(at, group);
		is_whole = false;
	}
	return is_whole;
}
