// SPDX-License-Identifier: GPL-2.0-or-later
/* Splits the time of vCPUs by what KVM and the scheduler have counted at each reading. */
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "lib/number.h"
#include "core/facts/shared_fields.h"
#include "providers/account/times.h"

struct vcpu_key {
	uint64_t vm;
	uint64_t vcpu;
};

/* What has passed of a vCPU's time at a reading. */
struct passed {
	struct account_halts halts;
	uint64_t open_ns; /* of the halt, or the wait for a start, that is not over; 0: none is */
	struct account_thread thread;
};

struct vcpu_times {
	struct vcpu_key key;
	uint32_t tid;
	bool is_read; /* since the latest sweep */
	struct passed first, latest;
	uint64_t unhalted_ns; /* idle, in what was no halt and is over */
	uint64_t uncounted_ns; /* neither running, nor waiting, nor asleep */
	uint64_t parts[TIME_PARTS]; /* at the latest reading */
	UT_hash_handle hh;
};

static bool is_blocked(const struct passed *passed)
{
	return passed->thread.asleep_ns && !passed->open_ns;
}

/* Whether the thread slept in halts alone since the reading before. */
static bool has_only_halted(const struct passed *before, const struct passed *now)
{
	uint64_t sleeps = minus(now->thread.sleeps, before->thread.sleeps);
	uint64_t halts = minus(now->halts.count, before->halts.count);

	if (is_blocked(before) || is_blocked(now))
		return false;
	return sleeps + (before->open_ns > 0) <= halts + (now->open_ns > 0);
}

static void split(struct vcpu_times *vcpu, const struct passed *now)
{
	const struct passed *first = &vcpu->first, *before = &vcpu->latest;
	uint64_t whole_ns = minus(now->thread.now_ns, first->thread.now_ns);
	uint64_t ran_ns = minus(now->thread.ran_ns, first->thread.ran_ns);
	uint64_t waited_ns = minus(now->thread.waited_ns, first->thread.waited_ns);
	uint64_t slept_ns = minus(whole_ns, ran_ns + waited_ns + vcpu->uncounted_ns);
	uint64_t idle_ns = minus(now->halts.ns + now->open_ns + vcpu->unhalted_ns,
				 first->halts.ns + first->open_ns);
	struct exits_time time = { .waited_ns = waited_ns };
	uint64_t earlier[TIME_PARTS], blocked_ns, more_ns;

	if (idle_ns > slept_ns)
		idle_ns = slept_ns;
	blocked_ns = slept_ns - idle_ns;
	more_ns = minus(blocked_ns, vcpu->parts[TIME_BLOCK]);
	if (has_only_halted(before, now)) {
		vcpu->uncounted_ns += more_ns;
		blocked_ns -= more_ns;
	}
	time.idle_ns[EXITS_VMEXIT] = idle_ns;
	time.blocked_ns[EXITS_VMEXIT] = blocked_ns;
	memcpy(earlier, vcpu->parts, sizeof(earlier));
	exit_fields_split(whole_ns, &time, vcpu->parts);
	exit_fields_keep(earlier, vcpu->parts);
}

bool account_times_read(struct account_times *times, const struct account_head *head,
			struct account_halts halts, uint64_t ret_parts[TIME_PARTS])
{
	struct vcpu_key key = { head->vm, (uint64_t)(int64_t)head->vcpu };
	struct passed now = { .halts = halts, .thread = head->thread };
	struct passed *before;
	struct vcpu_times *vcpu;

	if (!now.thread.now_ns || !head->tid)
		return false;
	if (now.thread.is_idle)
		now.open_ns = now.thread.asleep_ns;
	vcpu = hash_get(times->vcpus, key, &key);
	if (vcpu->tid != head->tid)
		*vcpu = (struct vcpu_times){ .key = vcpu->key, .hh = vcpu->hh, .tid = head->tid,
					     .first = now, .latest = now };
	before = &vcpu->latest;
	/* The thread has slept from one reading to the other. */
	if (now.open_ns && before->open_ns && before->thread.sleeps == now.thread.sleeps)
		now.open_ns = before->open_ns + minus(now.thread.now_ns, before->thread.now_ns);
	/* The wait for a start is in no sum of KVM's: what was seen of it is kept. */
	if (!now.open_ns && now.halts.count == before->halts.count)
		vcpu->unhalted_ns += before->open_ns;
	split(vcpu, &now);
	vcpu->latest = now;
	vcpu->is_read = true;
	memcpy(ret_parts, vcpu->parts, sizeof(vcpu->parts));
	return true;
}

void account_times_sweep(struct account_times *times)
{
	struct vcpu_times *vcpu, *next;

	HASH_ITER(hh, times->vcpus, vcpu, next) {
		if (!vcpu->is_read) {
			HASH_DEL(times->vcpus, vcpu);
			free(vcpu);
			continue;
		}
		vcpu->is_read = false;
	}
}

void account_times_release(struct account_times *times)
{
	hash_free(times->vcpus, free);
	times->vcpus = NULL;
}
