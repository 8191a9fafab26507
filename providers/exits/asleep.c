// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vCPUs that fell asleep before they had a record: before the programs were attached, or, as vCPUs
 * that no guest starts, before their first exit. An idle vCPU makes no exit while its guest has
 * nothing to do. The reader makes its record here, and the vCPU's thread goes on with it when it
 * wakes up.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/clock.h"
#include "core/guests/guests.h"
#include "providers/exits/program.h"

#define TEXT_SIZE 256

static bool read_text(const struct env *env, const struct exits_sleeper *thread, const char *name,
		      char *text)
{
	return env_read(env, text, TEXT_SIZE, "/proc/%u/task/%u/%s", thread->tgid, thread->tid,
			name) > 0;
}

/* By the scheduler: how long the thread has waited for CPUs, and how often it got one. */
static bool read_sums(const struct env *env, const struct exits_sleeper *thread,
		      uint64_t *ret_waited_ns, uint64_t *ret_slices)
{
	char text[TEXT_SIZE];

	return read_text(env, thread, "schedstat", text) &&
	       sscanf(text, "%*u %" SCNu64 " %" SCNu64, ret_waited_ns, ret_slices) == 2;
}

/* Whether KVM blocks the thread until its vCPU has something to do. */
static bool is_blocked(const struct env *env, const struct exits_sleeper *thread)
{
	char text[TEXT_SIZE];

	return read_text(env, thread, "wchan", text) && strcmp(text, "kvm_vcpu_block") == 0;
}

/* A thread that ran before it had the record has not ended its sleep there. */
static void look(struct exits_bpf *bpf, struct exits_sleeper *thread)
{
	const struct env *env = bpf->config.env;
	uint64_t waited_ns, slices, slices_after;
	uint32_t number;

	if (!is_blocked(env, thread) || !read_sums(env, thread, &thread->waited_ns, &slices))
		return;
	thread->since_ns = clock_now_ns();
	if (!exits_bpf_add_sleeper(bpf, thread, &number))
		return;
	if (!read_sums(env, thread, &waited_ns, &slices_after) || slices_after != slices)
		exits_bpf_wake(bpf, thread, number);
}

void exits_asleep_find(struct exits_bpf *bpf, const struct guests *guests)
{
	const struct guest *guest;

	for (size_t i = 0; bpf->sees_away && (guest = guests_at(guests, i)); i++) {
		for (size_t j = 0; !guest->has_ended && j < guest->nr_vcpus; j++) {
			struct exits_sleeper thread = {
				.tgid = (uint32_t)guest->pid,
				.tid = (uint32_t)guest->vcpus[j].tid,
				.vcpu = (uint32_t)guest->vcpus[j].index,
			};

			if (guest->vcpus[j].tid > 0 && !exits_bpf_has_record(bpf, thread.tid))
				look(bpf, &thread);
		}
	}
}
