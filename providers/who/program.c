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

#include "lib/xalloc.h"
#include "lib/array.h"
#include "host/guest_name.h"
#include "providers/bpf/bpf.h"
#include "providers/who/program.h"
#include "providers/who/who.skel.h"

#define BATCH 1024 /* pairs that are read at once */

struct who_bpf {
	struct who_program *program;
	struct who_record *records;
	struct who_pair *pairs; /* BATCH of each */
	struct who_time *times;
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

static int load(struct who_bpf *bpf, struct error *error)
{
	size_t size = WHO_VCPUS * sizeof(*bpf->records);
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
	bpf->records = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
			    bpf_map__fd(bpf->program->maps.records), 0);
	if (bpf->records == MAP_FAILED) {
		bpf->records = NULL;
		return error_set(error, -errno, "cannot map what our BPF programs count: %s",
				 strerror(errno));
	}
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
	bpf->pairs = xcalloc(BATCH, sizeof(*bpf->pairs));
	bpf->times = xcalloc(BATCH, sizeof(*bpf->times));
	err = load(bpf, error);
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
	who_program__destroy(bpf->program);
	free(bpf->pairs);
	free(bpf->times);
	free(bpf);
}

/* ---- threads */

static int add_thread(struct who_bpf *bpf, pid_t tid, uint32_t value, uint64_t flags)
{
	uint32_t key = (uint32_t)tid;
	int err;

	bpf->program->bss->may_be_known[tid / 64 % WHO_WORDS] |= UINT64_C(1) << tid % 64;
	err = bpf_map_update_elem(bpf_map__fd(bpf->program->maps.threads), &key, &value, flags);

	return err < 0 ? -errno : 0;
}

int who_bpf_add_vcpu(struct who_bpf *bpf, pid_t tid, uint32_t number)
{
	bpf->records[number] = (struct who_record){ .tid = (uint32_t)tid };
	return add_thread(bpf, tid, number, BPF_ANY);
}

int who_bpf_add_vmm(struct who_bpf *bpf, pid_t pid)
{
	int err = add_thread(bpf, pid, WHO_IS_VMM, BPF_NOEXIST);

	return err == -EEXIST ? 0 : err;
}

void who_bpf_remove(struct who_bpf *bpf, pid_t tid)
{
	uint32_t key = (uint32_t)tid;

	(void)bpf_map_delete_elem(bpf_map__fd(bpf->program->maps.threads), &key);
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

int who_bpf_take(struct who_bpf *bpf, who_take_fn *take, void *arg)
{
	int map = bpf_map__fd(bpf->program->maps.pairs), err = 0;
	uint32_t at, *from = NULL;

	for (; !err; from = &at) {
		uint32_t nr = BATCH;

		err = bpf_map_lookup_and_delete_batch(map, from, &at, bpf->pairs, bpf->times, &nr,
						      NULL);
		if (err && err != -ENOENT) /* that is: these are the last */
			return err;
		for (uint32_t i = 0; i < nr; i++)
			take(arg, &bpf->pairs[i], &bpf->times[i]);
	}
	return 0;
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
	guest_name_thread(time->thread.text, WHO_NAME, names->thread, sizeof(names->thread));
	names->thread[strcspn(names->thread, "/")] = '\0';
	if (!guest_name_is_vhost(time->thread.text))
		return;
	names->part = WAIT_VHOST;
	guest = guests_by_pid(guests, guest_name_vmm_pid(time->thread.text));
	if (guest)
		name_owner(names, guest);
}

static void name_vmm(const struct guests *guests, const struct who_time *time,
		     struct who_names *names)
{
	const struct guest *guest = guests_by_pid(guests, (pid_t)time->number);

	names->part = guest_name_is_vhost(time->thread.text) ? WAIT_VHOST : WAIT_VMM;
	if (!guest)
		return;
	guest_name_thread(time->thread.text, WHO_NAME, names->thread, sizeof(names->thread));
	name_owner(names, guest);
}

void who_names_of(const struct guests *guests, enum who_kind kind, const struct who_time *time,
		  const struct key *ran, uint32_t waits, struct who_names *names)
{
	static const enum wait_part parts[] = {
		[WHO_IRQ] = WAIT_IRQ, [WHO_SOFTIRQ] = WAIT_SOFTIRQ, [WHO_IDLE] = WAIT_IDLE,
		[WHO_QUOTA] = WAIT_QUOTA, [WHO_UNKNOWN] = WAIT_UNKNOWN,
	};

	switch (kind) {
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
		guest_name_thread(time->thread.text, WHO_NAME, names->thread,
				  sizeof(names->thread));
		guest_name_thread(time->process.text, WHO_NAME, names->owner,
				  sizeof(names->owner));
		break;
	default:
		names->part = kind < ARRAY_SIZE(parts) ? parts[kind] : WAIT_UNKNOWN;
	}
}
