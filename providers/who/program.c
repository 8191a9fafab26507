// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads the programs of the provider "who", reads their maps, and names what they have seen. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/clock.h"
#include "lib/xalloc.h"
#include "lib/array.h"
#include "host/guest_name.h"
#include "providers/bpf/bpf.h"
#include "providers/who/program.h"
#include "providers/who/who.skel.h"

#define CROWDED (WHO_TIMES / 8)

/* What was read of a place. */
struct place {
	uint64_t hash, count, ns;
	uint32_t field;
};

struct who_bpf {
	struct who_program *program;
	struct who_record *records;
	struct who_time *times;
	struct place *places; /* WHO_TIMES */
	size_t nr_taken;      /* of them */
};

/* Where a variable of each CPU is in the kernel's section of these; -1: not known. */
static int64_t percpu_offset(const struct btf *btf, const char *name)
{
	int section = btf__find_by_name_kind(btf, ".data..percpu", BTF_KIND_DATASEC);
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_VAR);
	const struct btf_type *type = section < 0 ? NULL : btf__type_by_id(btf, (uint32_t)section);
	const struct btf_var_secinfo *vars = type ? btf_var_secinfos(type) : NULL;

	for (uint32_t i = 0; vars && i < btf_vlen(type); i++) {
		if ((int)vars[i].type == id)
			return vars[i].offset;
	}
	return -1;
}

/* Without it the time of interrupts is the time of the thread that they interrupt. */
static int64_t cpustat_from_rq(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int64_t rq = btf ? percpu_offset(btf, "runqueues") : -1;
	int64_t stat = btf ? percpu_offset(btf, "kernel_cpustat") : -1;

	btf__free(btf);
	return rq < 0 || stat < 0 ? 0 : stat - rq;
}

static int load_programs(struct who_bpf *bpf, struct error *error)
{
	int nr_cpus = libbpf_num_possible_cpus(), err;

	bpf->program = who_program__open();
	if (!bpf->program)
		return error_set(error, -errno, "cannot open our BPF programs: %s",
				 strerror(errno));
	bpf->program->rodata->cpustat_from_rq = cpustat_from_rq();
	err = nr_cpus < 0 ? nr_cpus : bpf_map__set_max_entries(bpf->program->maps.queues,
							       (uint32_t)nr_cpus);
	if (!err)
		err = who_program__load(bpf->program);
	if (err)
		return error_set(error, err, "the kernel refuses our programs for its scheduler's "
				 "events: %s", strerror(-err));
	bpf->records = bpf_memory(bpf_map__fd(bpf->program->maps.records),
				  WHO_VCPUS * sizeof(*bpf->records));
	bpf->times = bpf_memory(bpf_map__fd(bpf->program->maps.times),
				WHO_TIMES * sizeof(*bpf->times));
	if (!bpf->records || !bpf->times)
		return error_set(error, -errno, "cannot map what our BPF programs count: %s",
				 strerror(errno));
	bpf->program->bss->attached_ns = clock_now_ns();
	err = who_program__attach(bpf->program);
	if (err)
		return error_set(error, err, "our BPF programs get no event of the scheduler: %s",
				 strerror(-err));
	return 0;
}

int who_bpf_open(struct who_bpf **ret_bpf, struct error *error)
{
	struct who_bpf *bpf = xcalloc(1, sizeof(*bpf));
	int err;

	bpf_be_quiet();
	bpf->places = xcalloc(WHO_TIMES, sizeof(*bpf->places));
	err = load_programs(bpf, error);
	if (err)
		who_bpf_close(bpf);
	else
		*ret_bpf = bpf;
	return err;
}

void who_bpf_close(struct who_bpf *bpf)
{
	if (!bpf)
		return;
	if (bpf->records)
		munmap(bpf->records, WHO_VCPUS * sizeof(*bpf->records));
	if (bpf->times)
		munmap(bpf->times, WHO_TIMES * sizeof(*bpf->times));
	who_program__destroy(bpf->program);
	free(bpf->places);
	free(bpf);
}

/* ---- threads */

/* Its place, or NULL. tid 0: a free one for the thread. */
static struct who_thread *find_thread(struct who_bpf *bpf, pid_t at, uint32_t tid)
{
	for (uint32_t i = 0; i < WHO_TRIES; i++) {
		struct who_thread *thread =
			&bpf->program->bss->threads[(WHO_PLACE(at) + i) % WHO_THREADS];

		if (thread->tid == tid || (!tid && thread->tid == WHO_WAS_THREAD))
			return thread;
	}
	return NULL;
}

static int add_thread(struct who_bpf *bpf, pid_t tid, uint32_t number)
{
	struct who_thread *thread = find_thread(bpf, tid, (uint32_t)tid);

	if (!thread)
		thread = find_thread(bpf, tid, 0);
	if (!thread)
		return -ENOSPC;
	thread->number = number;
	__atomic_store_n(&thread->tid, (uint32_t)tid, __ATOMIC_RELEASE);
	return 0;
}

static void free_place(struct who_bpf *bpf, size_t i)
{
	bpf->places[i].hash = 0;
	bpf->times[i].hash = 0;
}

/* What an earlier thread of this number has waited is not this one's. */
static void free_places(struct who_bpf *bpf, pid_t tid)
{
	for (size_t i = 0; i < WHO_TIMES && bpf->nr_taken; i++) {
		const struct who_time *time = &bpf->times[i];

		if (time->hash > WHO_BEING_MADE && time->tid == (uint32_t)tid)
			free_place(bpf, i);
	}
}

int who_bpf_add_vcpu(struct who_bpf *bpf, pid_t tid, uint32_t number)
{
	free_places(bpf, tid);
	bpf->records[number] = (struct who_record){ .tid = (uint32_t)tid };
	return add_thread(bpf, tid, number + 1);
}

int who_bpf_add_vmm(struct who_bpf *bpf, pid_t pid)
{
	return find_thread(bpf, pid, (uint32_t)pid) ? 0 : add_thread(bpf, pid, WHO_IS_VMM);
}

/* Its place is free again if none after it is tried for any thread; so are those before it then. */
void who_bpf_remove(struct who_bpf *bpf, pid_t tid)
{
	struct who_thread *threads = bpf->program->bss->threads;
	struct who_thread *thread = find_thread(bpf, tid, (uint32_t)tid);
	uint32_t at;

	if (!thread)
		return;
	thread->tid = WHO_WAS_THREAD;
	thread->number = 0; /* the idle thread finds it by its tid, which is 0 */
	for (at = (uint32_t)(thread - threads); !threads[(at + 1) % WHO_THREADS].tid &&
	     threads[at].tid == WHO_WAS_THREAD; at = (at - 1) % WHO_THREADS)
		threads[at].tid = 0;
}

/* ---- what is counted */

const struct who_record *who_bpf_record(const struct who_bpf *bpf, uint32_t number)
{
	return &bpf->records[number];
}

uint64_t who_bpf_lost_ns(const struct who_bpf *bpf)
{
	return bpf->program->bss->lost_ns;
}

static void take_place(const struct who_time *time, uint64_t count, struct place *place,
		       who_take_fn *take, void *arg)
{
	uint64_t ns = time->ns;

	take(arg, time, count - place->count, ns - place->ns, &place->field);
	place->count = count;
	place->ns = ns;
}

void who_bpf_take(struct who_bpf *bpf, who_take_fn *take, void *arg)
{
	const struct who_time *times = bpf->times;
	bool is_crowded = bpf->nr_taken > CROWDED;

	bpf->nr_taken = 0;
	for (size_t i = 0; i < WHO_TIMES; i++) {
		struct place *place = &bpf->places[i];
		uint64_t hash = __atomic_load_n(&times[i].hash, __ATOMIC_ACQUIRE);
		uint64_t count = __atomic_load_n(&times[i].count, __ATOMIC_ACQUIRE);

		if (hash <= WHO_BEING_MADE)
			continue;
		bpf->nr_taken++;
		if (place->hash != hash)
			*place = (struct place){ .hash = hash, .field = FIELD_NONE };
		if (place->count != count)
			take_place(&times[i], count, place, take, arg);
		else if (is_crowded && count)
			free_place(bpf, i);
	}
}

/* ---- names of what had the CPU */

static void name_owner(struct who_names *names, const struct guest *guest)
{
	snprintf(names->owner, sizeof(names->owner), "%s", guest->name);
	names->pid = guest->pid;
}

/* One that ended before this has no name. */
static void name_vcpu(const struct guests *guests, const struct key *ran, uint32_t waits,
		      struct who_names *names)
{
	const struct guest *guest = ran ? guests_find(guests, ran->guest) : NULL;

	names->part = WAIT_GUEST;
	if (!guest)
		return;
	if (ran->guest == waits)
		names->part = WAIT_OWN;
	snprintf(names->thread, sizeof(names->thread), "vCPU %d", (int)ran->vcpu);
	name_owner(names, guest);
}

static void name_kernel(const struct guests *guests, const struct who_time *time,
			struct who_names *names)
{
	const struct guest *guest;

	names->part = WAIT_KERNEL;
	guest_name_thread(time->thread, WHO_NAME, names->thread, sizeof(names->thread));
	names->thread[strcspn(names->thread, "/")] = '\0';
	if (!guest_name_is_vhost(time->thread))
		return;
	names->part = WAIT_VHOST;
	guest = guests_by_pid(guests, guest_name_vmm_pid(time->thread));
	if (guest)
		name_owner(names, guest);
}

static void name_vmm(const struct guests *guests, const struct who_time *time,
		     struct who_names *names)
{
	const struct guest *guest = guests_by_pid(guests, (pid_t)time->ran_pid);

	names->part = guest_name_is_vhost(time->thread) ? WAIT_VHOST : WAIT_VMM;
	if (!guest)
		return;
	guest_name_thread(time->thread, WHO_NAME, names->thread, sizeof(names->thread));
	name_owner(names, guest);
}

void who_names_of(const struct guests *guests, const struct who_time *time, const struct key *ran,
		  uint32_t waits, struct who_names *names)
{
	static const enum wait_part parts[] = {
		[WHO_IRQ] = WAIT_IRQ, [WHO_SOFTIRQ] = WAIT_SOFTIRQ, [WHO_IDLE] = WAIT_IDLE,
		[WHO_QUOTA] = WAIT_QUOTA, [WHO_UNKNOWN] = WAIT_UNKNOWN,
	};

	switch (time->kind) {
	case WHO_VCPU:
		name_vcpu(guests, ran, waits, names);
		break;
	case WHO_VMM:
		name_vmm(guests, time, names);
		break;
	case WHO_KERNEL:
		name_kernel(guests, time, names);
		break;
	case WHO_PROCESS:
		names->part = WAIT_PROCESS;
		guest_name_thread(time->thread, WHO_NAME, names->thread,
				  sizeof(names->thread));
		guest_name_thread(time->process, WHO_NAME, names->owner,
				  sizeof(names->owner));
		break;
	default:
		names->part =
			time->kind < ARRAY_SIZE(parts) ? parts[time->kind] : WAIT_UNKNOWN;
	}
}
