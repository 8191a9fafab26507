// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The perf engine of these tests. It is included, not linked: a CPU that goes offline can only be
 * played by answering its read(2)s as the kernel would.
 */
#include <unistd.h>

#include "tests/worlds/perf_world.h"

/* NOLINTBEGIN(bugprone-suspicious-include): see above */
static ssize_t played_read(int fd, void *buf, size_t size);

#define read(fd, buf, size) played_read(fd, buf, size)
#include "lib/file.h"
#include "providers/tracepoint/perf_target.c"
#undef read
#include "providers/tracepoint/perf_engine.c"
/* NOLINTEND(bugprone-suspicious-include) */

/* The leader of its group, as it was before; no group any more. */
static struct {
	bool is_so;
	int leader;
} dissolved;

void played_offline(const void *engine)
{
	const struct perf_state *perf = engine;

	dissolved.is_so = perf;
	dissolved.leader = perf ? perf->targets->groups->leader : -1;
}

/*
 * As kernel/events/core.c answers once perf_event_exit_cpu() has detached the group: the leader is
 * alone, and so is every event, unless it were one that reads its group.
 */
static ssize_t played_read(int fd, void *buf, size_t size)
{
	const uint64_t nr = 1;
	ssize_t n = read(fd, buf, size);

	if (!dissolved.is_so || fd != dissolved.leader || n < (ssize_t)sizeof(nr))
		return n;
	memcpy(buf, &nr, sizeof(nr));
	return sizeof(nr) + sizeof(struct perf_value);
}

unsigned int played_groups(void *engine)
{
	struct perf_state *perf = engine;
	unsigned int nr = 0;

	pthread_mutex_lock(&perf->lock);
	for (const struct perf_target *args = perf->targets; args; args = args->next) {
		for (const struct perf_group *group = args->groups; group && !args->is_gone;
		     group = group->next)
			nr++;
	}
	pthread_mutex_unlock(&perf->lock);
	return nr;
}
