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

#include "core/guests/follow.h"
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
	"Samples are taken by a clock (no counter of cycles here interrupts all code): code with " \
	"interrupts off is seen where they are on again, or is [interrupts off]."
#define NO_GUEST_CODE \
	"KVM traces no VM exits here: which code of guests makes them is not known."

/* A thread that is away; ns: for how long, and item: what a sample was given of that. */
struct away {
	struct exits_stack_key key;
	uint64_t ns;
	struct stack_item item;
};

struct away_list {
	struct away *list;
	size_t nr, room;
};

/* What is closed in the background: the kernel waits for RCU. */
struct attached {
	struct attached_link {
		struct bpf_link *link;
		int cpu; /* that it takes samples on; NO_CPU: it is on another event */
		bool is_online;
	} *list;
	size_t nr, room;
};

#define NO_CPU (-1)
#define BATCH 256 /* entries of a map that are read at once */

struct exits_stacks {
	struct exits_stacks_config config;
	struct exits_paths *paths;
	struct exits_guest_code *guest_code; /* NULL: it is not counted */
	struct attached *attached;
	struct follow watched; /* threads of vCPUs: struct followed */
	struct away_list away; /* as of the call before */
	uint64_t lost_ns, lost; /* as of the call before */
	uint64_t now_ns;
	/* For one reading. The first nr_waiting are left from the last one: they wait for names. */
	struct exits_stack_key *keys;
	struct exits_stack_sum *sums;
	uint32_t nr_waiting, nr;
	struct stack_sums *to;
};

/* ---- samples */

static void *detach(void *arg)
{
	struct attached *attached = arg;

	for (size_t i = 0; i < attached->nr; i++)
		bpf_link__destroy(attached->list[i].link);
	free(attached->list);
	free(attached);
	return NULL;
}

static void detach_later(struct attached *attached)
{
	pthread_t thread;

	if (thread_start(&thread, detach, attached) == 0)
		pthread_detach(thread);
	else
		detach(attached);
}

static void add_link(struct attached *attached, struct bpf_link *link, int cpu)
{
	array_grow(&attached->list, &attached->room, attached->nr + 1);
	attached->list[attached->nr++] = (struct attached_link){ link, cpu, true };
}

static int keep_link(struct exits_stacks *stacks, struct bpf_link *link, int cpu)
{
	if (!link)
		return -errno;
	add_link(stacks->attached, link, cpu);
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
		.exclude_idle = !has_cycles, /* idle CPUs count none */
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

static int sample_cpu(struct exits_stacks *stacks, int cpu)
{
	const struct exits_bpf *bpf = stacks->config.bpf;
	struct bpf_link *link;
	int fd = open_event(bpf->config.has_cycles, bpf->config.stack_hz, cpu), err;

	if (fd == -ENODEV) /* the CPU has gone offline */
		return 0;
	if (fd < 0)
		return fd;
	link = bpf_program__attach_perf_event(bpf->stacks->progs.on_sample, fd);
	err = keep_link(stacks, link, cpu);
	if (err)
		close(fd);
	return err;
}

/* Samples are taken on the CPU, unless that was not online the last time. */
static int follow_cpu(struct exits_stacks *stacks, int cpu)
{
	struct attached *attached = stacks->attached;

	for (size_t i = 0; i < attached->nr; i++) {
		if (attached->list[i].cpu == cpu) {
			attached->list[i].is_online = true;
			return 0;
		}
	}
	return sample_cpu(stacks, cpu);
}

static int sample_cpus(struct exits_stacks *stacks)
{
	char list[CPUS_TEXT];
	int err = (int)env_read(stacks->config.env, list, sizeof(list), CPUS_ONLINE);
	struct cpus cpus = cpus_of(list);

	for (int cpu; err >= 0 && (cpu = cpus_next(&cpus)) >= 0;)
		err = follow_cpu(stacks, cpu);
	return err;
}

/* The event of a CPU that goes takes no sample when the CPU is back: it needs a new one. */
static void follow_cpus(struct exits_stacks *stacks, struct error *error)
{
	struct attached *attached = stacks->attached, *gone = NULL;
	size_t nr = 0;
	int err;

	for (size_t i = 0; i < attached->nr; i++)
		attached->list[i].is_online = attached->list[i].cpu == NO_CPU;
	err = sample_cpus(stacks);
	if (err < 0) {
		error_set(error, 0, "code is not sampled on all CPUs: %s", strerror(-err));
		return;
	}
	for (size_t i = 0; i < attached->nr; i++) {
		struct attached_link *link = &attached->list[i];

		if (link->is_online) {
			attached->list[nr++] = *link;
			continue;
		}
		if (!gone)
			gone = xcalloc(1, sizeof(*gone));
		add_link(gone, link->link, link->cpu);
	}
	attached->nr = nr;
	if (gone)
		detach_later(gone);
}

static int attach(struct exits_stacks *stacks)
{
	const struct exits_bpf *bpf = stacks->config.bpf;
	int err;

	/* An event and its link by CPU. */
	descriptors_raise(2 * (uint64_t)sysconf(_SC_NPROCESSORS_CONF) + DESCRIPTORS_SPARE);
	err = sample_cpus(stacks);
	if (err >= 0 && !bpf->config.has_cycles)
		err = keep_link(stacks, bpf_program__attach(bpf->stacks->progs.on_timer), NO_CPU);
	if (err < 0)
		return err;
	return keep_link(stacks, bpf_program__attach(bpf->stacks->progs.on_switch), NO_CPU);
}

bool exits_stacks_have_cycles(const struct env *env)
{
	int fd = env->arch->samples_all_code ? open_event(true, STACKS_HZ, 0) : -ENOENT;

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* The thread runs a vCPU of the inventory: the program looks at it even without a record. */
static void watch_thread(void *arg, void *item)
{
	const struct exits_stacks *stacks = arg;
	const struct followed *thread = item;
	const struct exits_absence none = { 0 };

	bpf_map_update_elem(bpf_map__fd(stacks->config.bpf->stacks->maps.absences), &thread->tid,
			    &none, BPF_NOEXIST);
}

static void unwatch_thread(void *arg, void *item)
{
	const struct exits_stacks *stacks = arg;
	const struct followed *thread = item;

	bpf_map_delete_elem(bpf_map__fd(stacks->config.bpf->stacks->maps.absences), &thread->tid);
}

void exits_stacks_free(struct exits_stacks *stacks)
{
	if (!stacks)
		return;
	detach_later(stacks->attached);
	exits_paths_free(stacks->paths);
	exits_guest_code_free(stacks->guest_code);
	follow_release(&stacks->watched);
	free(stacks->away.list);
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
	stacks->lost_ns = config->bpf->bss->lost_stack_ns;
	stacks->lost = config->bpf->bss->lost_stacks;
	stacks->watched = (struct follow){ .guests = config->guests,
					   .size = sizeof(struct followed), .of_vcpus = true,
					   .begin = watch_thread, .drop = unwatch_thread,
					   .arg = stacks };
	stacks->attached = xcalloc(1, sizeof(*stacks->attached));
	stacks->keys = xcalloc(2 * EXITS_STACK_SUMS, sizeof(*stacks->keys));
	stacks->sums = xcalloc(2 * EXITS_STACK_SUMS, sizeof(*stacks->sums));
	err = attach(stacks);
	if (err) {
		exits_stacks_free(stacks);
		return error_set(error, err, "cannot sample stacks: %s", strerror(-err));
	}
	stacks->paths = exits_paths_new(config);
	if (config->functions && config->bpf->is_timed)
		stacks->guest_code = exits_guest_code_new(config);
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

static void want_name(const struct exits_stacks *stacks, const struct exits_stack_key *key)
{
	if (stacks->guest_code && key->record)
		exits_guest_code_want(stacks->guest_code, key->record - 1, key->pc);
}

/* False: the guest's function has no name yet. */
static bool add_stack(struct exits_stacks *stacks, const struct exits_stack_key *key,
		      struct stack_item *item)
{
	struct exits_vcpu_id owner = owner_of(stacks, key);
	uint32_t function = 0;

	if (stacks->guest_code && key->record && key->cell != EXITS_NO_CELL &&
	    !exits_guest_code_function(stacks->guest_code, key->record - 1, key->pc, &function))
		return false;
	item->key = (struct key){ owner.guest, owner.index,
				  exits_paths_node(stacks->paths, key, function) };
	stack_sums_add(stacks->to, item);
	return true;
}

static int read_sums(struct exits_stacks *stacks)
{
	uint32_t nr = EXITS_STACK_SUMS, batch;
	int fd = bpf_map__fd(stacks->config.bpf->stacks->maps.stack_sums);
	int err = bpf_map_lookup_and_delete_batch(fd, NULL, &batch,
						  stacks->keys + stacks->nr_waiting,
						  stacks->sums + stacks->nr_waiting, &nr, NULL);

	if (err && err != -ENOENT) /* that is: these are all */
		return err;
	stacks->nr = stacks->nr_waiting + nr;
	for (uint32_t i = 0; i < stacks->nr; i++)
		want_name(stacks, &stacks->keys[i]);
	return 0;
}

static void add_sums(struct exits_stacks *stacks)
{
	stacks->nr_waiting = 0;
	for (uint32_t i = 0; i < stacks->nr; i++) {
		const struct exits_stack_sum sum = stacks->sums[i];
		struct stack_item item = { .ns = (int64_t)sum.ns, .count = sum.count };

		if (add_stack(stacks, &stacks->keys[i], &item))
			continue;
		if (stacks->nr_waiting == EXITS_STACK_SUMS) {
			stacks->to->lost_ns += sum.ns;
			continue;
		}
		stacks->keys[stacks->nr_waiting] = stacks->keys[i];
		stacks->sums[stacks->nr_waiting++] = sum;
	}
}

/* ---- threads that are away */

static bool has_ended(const struct exits_absence *absence)
{
	return absence->since && syscall(SYS_tgkill, absence->key.tgid, absence->key.tid, 0) &&
	       errno == ESRCH;
}

static void list_absence(const struct exits_stacks *stacks, const struct exits_absence *absence,
			 struct away_list *list)
{
	want_name(stacks, &absence->key);
	array_grow_unset(&list->list, &list->room, list->nr + 1);
	list->list[list->nr++] = (struct away){
		.key = absence->key,
		.ns = stacks->now_ns > absence->since ? stacks->now_ns - absence->since : 0,
	};
}

/* The threads that are away now, with how long they are; threads that have ended are forgotten. */
static void list_absences(const struct exits_stacks *stacks, struct away_list *list)
{
	int fd = bpf_map__fd(stacks->config.bpf->stacks->maps.absences), err = 0;
	struct exits_absence absences[BATCH];
	uint32_t tids[BATCH], at, *from = NULL;

	for (; !err; from = &at) {
		uint32_t nr = BATCH;

		err = bpf_map_lookup_batch(fd, from, &at, tids, absences, &nr, NULL);
		if (err && err != -ENOENT) /* that is: these are the last */
			return;
		for (uint32_t i = 0; i < nr; i++) {
			if (has_ended(&absences[i]))
				bpf_map_delete_elem(fd, &tids[i]);
			else if (absences[i].since)
				list_absence(stacks, &absences[i], list);
		}
	}
}

/*
 * Adds the time of threads that are away, which the program adds when they are back: what was given
 * before is then too much. What has no name yet is given later.
 */
static void add_absences(struct exits_stacks *stacks, const struct away_list *now)
{
	for (size_t i = 0; i < stacks->away.nr; i++) {
		struct stack_item *before = &stacks->away.list[i].item;

		before->ns = -before->ns;
		if (before->ns)
			stack_sums_add(stacks->to, before);
	}
	for (size_t i = 0; i < now->nr; i++) {
		struct away *away = &now->list[i];
		struct stack_item item = { .ns = (int64_t)away->ns };

		if (add_stack(stacks, &away->key, &item))
			away->item = item;
	}
	free(stacks->away.list);
	stacks->away = *now;
}

/* The stacks of threads that are away are needed when these are back. */
static void forget_paths(struct exits_stacks *stacks)
{
	struct away_list away = { 0 };
	uint64_t *stay;

	list_absences(stacks, &away);
	stay = xcalloc(2 * away.nr + 1, sizeof(*stay));
	for (size_t i = 0; i < away.nr; i++) {
		stay[2 * i] = away.list[i].key.kernel;
		stay[2 * i + 1] = away.list[i].key.user;
	}
	exits_paths_forget(stacks->paths, stay, 2 * away.nr);
	free(stay);
	free(away.list);
}

void exits_stacks_release(struct exits_stacks *stacks, uint32_t number)
{
	for (uint32_t i = 0; i < stacks->nr_waiting; i++) {
		if (stacks->keys[i].record == number + 1)
			stacks->keys[i].record = 0;
	}
	if (stacks->guest_code)
		exits_guest_code_release(stacks->guest_code, number);
}

int exits_stacks_collect(struct exits_stacks *stacks, struct stack_sums *sums, struct error *error)
{
	const struct exits_bpf *bpf = stacks->config.bpf;
	uint64_t lost_ns = bpf->bss->lost_stack_ns, lost = bpf->bss->lost_stacks;
	struct away_list away = { 0 };
	int err;

	stacks->to = sums;
	stacks->now_ns = clock_now_ns();
	follow_cpus(stacks, error);
	exits_paths_begin(stacks->paths);
	follow_update(&stacks->watched);
	err = read_sums(stacks);
	if (err)
		return err;
	list_absences(stacks, &away);
	if (stacks->guest_code)
		err = exits_guest_code_collect(stacks->guest_code, sums, error);
	else if (stacks->config.functions)
		snprintf(sums->none, sizeof(sums->none), "%s", NO_GUEST_CODE);
	add_sums(stacks);
	add_absences(stacks, &away);
	if (!err)
		exits_paths_report(stacks->paths, error);
	if (!stacks->nr_waiting && exits_paths_are_many(stacks->paths))
		forget_paths(stacks);
	sums->lost_ns += lost_ns - stacks->lost_ns;
	sums->lost = lost - stacks->lost;
	sums->has_off = true;
	sums->clock = bpf->stacks->rodata->is_by_clock ? BY_CLOCK : BY_CYCLES;
	stacks->lost_ns = lost_ns;
	stacks->lost = lost;
	return err;
}
