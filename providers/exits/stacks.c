// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples stacks on each CPU, and adds up the time in each. */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/machine.h"
#include "lib/array.h"
#include "lib/clock.h"
#include "lib/process.h"
#include "lib/xalloc.h"
#include "providers/exits/stacks.h"
/* Needs the types above. */
#include "providers/exits/exits.skel.h"

/* What takes the samples, and what is to be known about it. */
#define BY_CYCLES "Samples are taken by the CPUs' cycles."
#define BY_CLOCK \
	"Samples are taken by a clock (no counter of cycles here): code with interrupts off is " \
	"seen where they are on again, or is [interrupts off]."

/* How much of a thread's absence was given to samples before it ended. */
struct given {
	uint32_t tid;
	uint64_t since, ns;
	struct exits_stack_key key;
};

struct given_list {
	struct given *list; /* ascending by tid */
	size_t nr, room;
};

/* What is closed in the background: the kernel waits for RCU. */
struct attached {
	struct bpf_link **list; /* of the CPUs, and of switches */
	size_t nr, room;
};

struct exits_stacks {
	struct exits_stacks_config config;
	struct exits_paths *paths;
	struct attached *attached;
	struct given_list given;
	uint64_t lost_ns, lost; /* as of the call before */
	uint64_t now_ns;
	/* Of a reading. */
	struct exits_stack_key *keys;
	struct exits_stack_sum *sums;
	struct stack_sums *to;
};

/* As the program has it. */
struct absence {
	uint64_t since;
	struct exits_stack_key key;
};

/* ---- samples */

static void *detach(void *arg)
{
	struct attached *attached = arg;

	for (size_t i = 0; i < attached->nr; i++)
		bpf_link__destroy(attached->list[i]);
	free(attached->list);
	free(attached);
	return NULL;
}

static int keep_link(struct exits_stacks *stacks, struct bpf_link *link)
{
	struct attached *attached = stacks->attached;

	if (!link)
		return -errno;
	array_grow(&attached->list, &attached->room, attached->nr + 1);
	attached->list[attached->nr++] = link;
	return 0;
}

/* An event that takes samples on a CPU: of cycles outside guests, or of a clock. -errno */
static int open_event(bool has_cycles, uint32_t hz, int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = has_cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.config = has_cycles ? (uint64_t)PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_SW_CPU_CLOCK,
		.freq = has_cycles,
		.exclude_guest = has_cycles,
		.exclude_idle = true,
		.disabled = true,
	};
	long fd;

	if (has_cycles)
		attr.sample_freq = hz;
	else
		attr.sample_period = 1000000000 / hz;
	fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

static int sample_cpu(void *arg, int cpu)
{
	struct exits_stacks *stacks = arg;
	const struct exits_bpf *bpf = stacks->config.bpf;
	struct bpf_link *link;
	int fd = open_event(bpf->config.has_cycles, bpf->config.stack_hz, cpu), err;

	if (fd == -ENODEV) /* the CPU has gone offline */
		return 0;
	if (fd < 0)
		return fd;
	link = bpf_program__attach_perf_event(bpf->program->progs.on_sample, fd);
	err = keep_link(stacks, link);
	if (err)
		close(fd);
	return err;
}

static int attach(struct exits_stacks *stacks)
{
	const struct exits_bpf *bpf = stacks->config.bpf;
	int err = cpus_online(stacks->config.env, sample_cpu, stacks);

	if (err >= 0 && !bpf->config.has_cycles)
		err = keep_link(stacks, bpf_program__attach(bpf->program->progs.on_timer));
	if (err < 0)
		return err;
	return keep_link(stacks, bpf_program__attach(bpf->program->progs.on_switch));
}

bool exits_stacks_have_cycles(void)
{
	int fd = open_event(true, STACKS_HZ, 0);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

void exits_stacks_free(struct exits_stacks *stacks)
{
	pthread_t thread;

	if (!stacks)
		return;
	if (thread_start(&thread, detach, stacks->attached) == 0)
		pthread_detach(thread);
	else
		detach(stacks->attached);
	exits_paths_free(stacks->paths);
	free(stacks->given.list);
	free(stacks->keys);
	free(stacks->sums);
	free(stacks);
}

int exits_stacks_new(const struct exits_stacks_config *config, struct exits_stacks **ret_stacks,
		     struct error *error)
{
	struct exits_stacks *stacks = xcalloc(1, sizeof(*stacks));
	int err;

	stacks->config = *config;
	stacks->attached = xcalloc(1, sizeof(*stacks->attached));
	stacks->keys = xcalloc(EXITS_STACK_SUMS, sizeof(*stacks->keys));
	stacks->sums = xcalloc(EXITS_STACK_SUMS, sizeof(*stacks->sums));
	err = attach(stacks);
	if (err) {
		exits_stacks_free(stacks);
		return error_set(error, err, "cannot sample stacks: %s", strerror(-err));
	}
	stacks->paths = exits_paths_new(config);
	*ret_stacks = stacks;
	return 0;
}

/* ---- the sums of a sample */

static struct exits_vcpu_id owner_of(const struct exits_stacks *stacks,
				     const struct exits_stack_key *key)
{
	const struct guest *guest = guests_by_pid(stacks->config.guests, (pid_t)key->tgid);
	const struct vcpu *vcpu = guest_vcpu_by_tid(guest, (pid_t)key->tid);
	struct exits_vcpu_id owner = { guest ? guest->id : GUEST_NONE, vcpu ? vcpu->index : -1 };
	const volatile struct exits_thread *record;
	bool may_name;

	if (!key->record || key->record > stacks->config.bpf->max_threads)
		return owner;
	record = exits_bpf_thread(stacks->config.bpf, key->record - 1);
	if (record->tid == key->tid)
		exits_threads_owner(stacks->config.threads, record, &owner, &may_name);
	return owner;
}

static void add(struct exits_stacks *stacks, const struct exits_stack_key *key, int64_t ns,
		uint64_t count)
{
	struct exits_vcpu_id owner = owner_of(stacks, key);
	const struct stack_item item = {
		.key = { owner.guest, owner.index, exits_paths_node(stacks->paths, key) },
		.ns = ns,
		.count = count,
	};

	stack_sums_add(stacks->to, &item);
}

static int take_sums(struct exits_stacks *stacks)
{
	uint32_t nr = EXITS_STACK_SUMS, batch;
	int fd = bpf_map__fd(stacks->config.bpf->program->maps.stack_sums);
	int err = bpf_map_lookup_and_delete_batch(fd, NULL, &batch, stacks->keys, stacks->sums, &nr,
						  NULL);

	if (err && err != -ENOENT) /* that is: these are all */
		return err;
	for (uint32_t i = 0; i < nr; i++)
		add(stacks, &stacks->keys[i], (int64_t)stacks->sums[i].ns, stacks->sums[i].count);
	return 0;
}

/* ---- threads that are away */

static int compare_given(const void *a, const void *b)
{
	const struct given *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

/* The thread runs a vCPU of the inventory: the program looks at it even without a record. */
static void watch_threads(const struct exits_stacks *stacks)
{
	int fd = bpf_map__fd(stacks->config.bpf->program->maps.absences);
	const struct absence none = { 0 };

	for (size_t i = 0; guests_at(stacks->config.guests, i); i++) {
		const struct guest *guest = guests_at(stacks->config.guests, i);

		for (size_t v = 0; v < guest->nr_vcpus; v++) {
			uint32_t tid = (uint32_t)guest->vcpus[v].tid;

			if (tid)
				bpf_map_update_elem(fd, &tid, &none, BPF_NOEXIST);
		}
	}
}

static bool has_ended(const struct absence *absence)
{
	return absence->key.tid && syscall(SYS_tgkill, absence->key.tgid, absence->key.tid, 0) &&
	       errno == ESRCH;
}

/* The threads that are away now, with how long they are; threads that have ended are forgotten. */
static void list_absences(const struct exits_stacks *stacks, struct given_list *list)
{
	int fd = bpf_map__fd(stacks->config.bpf->program->maps.absences);
	uint32_t tid, *last = NULL, ended = 0;
	struct absence absence;

	while (bpf_map_get_next_key(fd, last, &tid) == 0) {
		if (ended)
			bpf_map_delete_elem(fd, &ended);
		ended = 0;
		last = &tid;
		if (bpf_map_lookup_elem(fd, &tid, &absence) || !absence.since)
			continue;
		if (has_ended(&absence)) {
			ended = tid;
			continue;
		}
		array_grow_unset(&list->list, &list->room, list->nr + 1);
		list->list[list->nr++] = (struct given){
			.tid = tid, .since = absence.since, .key = absence.key,
			.ns = stacks->now_ns > absence.since ? stacks->now_ns - absence.since : 0,
		};
	}
	if (ended)
		bpf_map_delete_elem(fd, &ended);
	if (list->nr)
		qsort(list->list, list->nr, sizeof(*list->list), compare_given);
}

/*
 * Adds the time of threads that are away, which the program adds when they are back: what was given
 * before is then too much.
 */
static void take_absences(struct exits_stacks *stacks)
{
	struct given_list now = { 0 };

	list_absences(stacks, &now);
	for (size_t i = 0; i < stacks->given.nr; i++) {
		const struct given *before = &stacks->given.list[i];

		add(stacks, &before->key, -(int64_t)before->ns, 0);
	}
	for (size_t i = 0; i < now.nr; i++)
		add(stacks, &now.list[i].key, (int64_t)now.list[i].ns, 0);
	free(stacks->given.list);
	stacks->given = now;
}

int exits_stacks_collect(struct exits_stacks *stacks, struct stack_sums *sums)
{
	const struct exits_program *program = stacks->config.bpf->program;
	uint64_t lost_ns = program->bss->lost_stack_ns, lost = program->bss->lost_stacks;
	int err;

	stacks->to = sums;
	stacks->now_ns = clock_now_ns();
	exits_paths_begin(stacks->paths);
	watch_threads(stacks);
	err = take_sums(stacks);
	if (err)
		return err;
	take_absences(stacks);
	exits_paths_forget(stacks->paths);
	sums->lost_ns = lost_ns - stacks->lost_ns;
	sums->lost = lost - stacks->lost;
	sums->clock = program->rodata->is_by_clock ? BY_CLOCK : BY_CYCLES;
	stacks->lost_ns = lost_ns;
	stacks->lost = lost;
	return 0;
}
