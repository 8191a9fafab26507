// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads the programs that measure interrupts, and adds their rows. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/clock.h"
#include "lib/xalloc.h"
#include "host/env.h"
#include "providers/bpf/bpf.h"
#include "providers/who/interrupts.h"
#include "providers/who/shared.h"
/* Needs the types above. */
#include "providers/who/interrupts.skel.h"

#define BATCH 256
#define NAME_SIZE 64

#ifdef __aarch64__
#define IS_ARM64 true
#else
#define IS_ARM64 false
#endif
#ifdef __x86_64__
#define IS_X86 true
#else
#define IS_X86 false
#endif

struct who_interrupts {
	struct provider_args args;
	struct interrupts_program *program; /* NULL: nothing is wanted */
	uint32_t all, waking, waiting; /* fields */
	bool is_direct; /* running vCPUs may get interrupts without an entry */
	struct vcpu_sum *sums; /* of the present sample */
	size_t nr_sums, room_sums;
	struct key_index index;
};

/* All interrupts of a vCPU. */
struct vcpu_sum {
	struct key key;
	struct interrupt_time time;
};

/* ---- fields */

static uint32_t add_field(const struct who_interrupts *interrupts, const char *name,
			  enum interrupt_part part, uint32_t of)
{
	return fields_add(interrupts->args.fields,
			  &(struct field){ .name = name, .use = USE_INTERRUPT, .part = part,
					   .parent = part == INTERRUPT_ALL ? FIELD_NONE :
									     interrupts->all,
					   .source = interrupts->args.source, .reason = of });
}

static const char *gic_kind(uint32_t irq)
{
	if (irq < 16)
		return "SGI";
	if (irq < 32)
		return "PPI";
	return irq < 8192 ? "SPI" : "LPI";
}

/* As the guest's own lists have them: "vector 0xec"; of AArch64 "PPI 27". */
static void name_irq(char *name, uint32_t irq)
{
	if (irq == INTERRUPT_TIMER)
		snprintf(name, NAME_SIZE, "timer");
	else if (!IS_ARM64)
		snprintf(name, NAME_SIZE, "vector 0x%x", irq);
	else
		snprintf(name, NAME_SIZE, "%s %u", gic_kind(irq), irq);
}

/* of: a vector's field, for the parts of its time. */
static uint32_t field_of(const struct who_interrupts *interrupts, uint32_t irq,
			 enum interrupt_part part, uint32_t of)
{
	char irq_name[NAME_SIZE], name[NAME_SIZE + 32];

	name_irq(irq_name, irq);
	snprintf(name, sizeof(name), "interrupts(%s%s)", irq_name,
		 part == INTERRUPT_WAKING ? " waking" :
		 part == INTERRUPT_WAITING ? " waiting" : "");
	return add_field(interrupts, name, part, of);
}

struct who_interrupts *who_interrupts_new(const struct provider_args *args)
{
	struct who_interrupts *interrupts = xcalloc(1, sizeof(*interrupts));

	interrupts->args = *args;
	interrupts->all = add_field(interrupts, "interrupts", INTERRUPT_ALL, FIELD_NONE);
	interrupts->waking = add_field(interrupts, "interrupts(waking)", INTERRUPT_WAKING,
				       interrupts->all);
	interrupts->waiting = add_field(interrupts, "interrupts(waiting)", INTERRUPT_WAITING,
					interrupts->all);
	return interrupts;
}

/* ---- the counter of AArch64 */

static void set_clock(struct interrupts_program__bss *bss)
{
#ifdef __aarch64__
	uint32_t next = !bss->present_clock;
	struct counter_clock *clock = &bss->clocks[next];
	uint64_t frequency;

	__asm__("mrs %0, cntfrq_el0" : "=r"(frequency));
	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(clock->cycles));
	clock->ns = clock_now_ns();
	clock->rate = (uint64_t)(clock_rate() * 1e9 * (1 << 24) / (double)frequency);
	__atomic_store_n(&bss->present_clock, next, __ATOMIC_RELEASE);
#else
	(void)bss;
#endif
}

/* ---- the programs */

/* APICv or AVIC, if the module's parameter says so. */
static bool is_on(const struct env *env, const char *parameter)
{
	char text[8];

	env_read(env, text, sizeof(text), "/sys/module/%s", parameter);
	return *text == 'Y' || *text == '1';
}

static void load_programs(struct who_interrupts *interrupts, struct error *error)
{
	struct interrupts_program *program;
	int err;

	if (!IS_X86 && !IS_ARM64) {
		error_set(error, 0, "interrupts are measured on x86 and AArch64 only");
		return;
	}
	program = interrupts_program__open();
	if (!program) {
		error_set(error, 0, "cannot open our BPF programs: %s", strerror(errno));
		return;
	}
	bpf_program__set_autoload(program->progs.on_accept, !IS_ARM64);
	bpf_program__set_autoload(program->progs.on_expire, !IS_ARM64);
	bpf_program__set_autoload(program->progs.on_sched_in, !IS_ARM64);
	bpf_program__set_autoload(program->progs.on_queue, IS_ARM64);
	bpf_program__set_autoload(program->progs.on_inject, IS_ARM64);
	bpf_program__set_autoload(program->progs.on_probed_in, IS_ARM64);
	err = interrupts_program__load(program);
	if (!err)
		err = interrupts_program__attach(program);
	if (err) {
		interrupts_program__destroy(program);
		error_set(error, 0, "the kernel refuses our programs for interrupts: %s%s",
			  strerror(-err), err == -EPERM ? ": a security policy, such as lockdown, "
			  "allows programs at KVM's events, but not at its functions" : "");
		return;
	}
	set_clock(program->bss);
	interrupts->program = program;
	interrupts->is_direct = is_on(interrupts->args.env, "kvm_intel/parameters/enable_apicv") ||
				is_on(interrupts->args.env, "kvm_amd/parameters/avic");
}

void who_interrupts_want(struct who_interrupts *interrupts, const struct field_set *wanted,
			struct error *error)
{
	bool is_wanted = field_set_has(wanted, interrupts->all);

	if (!is_wanted) {
		interrupts_program__destroy(interrupts->program);
		interrupts->program = NULL;
	} else if (!interrupts->program) {
		bpf_be_quiet();
		load_programs(interrupts, error);
	}
}

bool who_interrupts_are_measured(const struct who_interrupts *interrupts)
{
	return interrupts->program;
}

void who_interrupts_programs(const struct who_interrupts *interrupts, struct programs *programs)
{
	struct bpf_program *each;

	if (!interrupts->program)
		return;
	bpf_object__for_each_program(each, interrupts->program->obj) {
		if (bpf_program__fd(each) >= 0)
			programs_add(programs, bpf_program__fd(each), NULL);
	}
}

void who_interrupts_free(struct who_interrupts *interrupts)
{
	if (!interrupts)
		return;
	interrupts_program__destroy(interrupts->program);
	free(interrupts->sums);
	key_index_release(&interrupts->index);
	free(interrupts);
}

/* ---- rows */

static void add_time(struct sample *sample, struct key key, const struct interrupt_time *time)
{
	struct timing timing = { .time_ns = time->ns, .max_ns = time->max_ns };

	memcpy(timing.hist, time->hist, sizeof(timing.hist));
	sample_add_timed(sample, key, time->count, ROW_NEW, &timing);
}

static void add_sum(struct who_interrupts *interrupts, struct key key,
		    const struct interrupt_time *time)
{
	struct interrupt_time *sum;
	size_t at;

	key.field = interrupts->all;
	at = key_index_add(&interrupts->index, interrupts->sums, sizeof(*interrupts->sums),
			   interrupts->nr_sums, &key);
	if (at == interrupts->nr_sums) {
		*array_add(interrupts->sums, interrupts->nr_sums, interrupts->room_sums) =
			(struct vcpu_sum){ .key = key };
	}
	sum = &interrupts->sums[at].time;
	sum->count += time->count;
	sum->ns += time->ns;
	sum->waking_ns += time->waking_ns;
	sum->waiting_ns += time->waiting_ns;
	if (time->max_ns > sum->max_ns)
		sum->max_ns = time->max_ns;
	for (int i = 0; i < WHO_BUCKETS; i++)
		sum->hist[i] += time->hist[i];
}

static void add_parts(struct sample *sample, struct key key, const struct interrupt_time *time,
		      uint32_t waking, uint32_t waiting)
{
	key.field = waking;
	sample_add(sample, key, time->waking_ns, ROW_NEW);
	key.field = waiting;
	sample_add(sample, key, time->waiting_ns, ROW_NEW);
}

static void add_vector(struct who_interrupts *interrupts, struct sample *sample, struct key key,
		       uint32_t irq, const struct interrupt_time *time)
{
	bool is_timer = irq == INTERRUPT_TIMER;
	uint32_t field = field_of(interrupts, irq, is_timer ? INTERRUPT_LATE : INTERRUPT_VECTOR,
				  FIELD_NONE);

	key.field = field;
	add_time(sample, key, time);
	if (is_timer)
		return;
	add_parts(sample, key, time, field_of(interrupts, irq, INTERRUPT_WAKING, field),
		  field_of(interrupts, irq, INTERRUPT_WAITING, field));
	add_sum(interrupts, key, time);
}

static int add_vectors(struct who_interrupts *interrupts, who_vcpu_fn *vcpu_of, void *arg,
		       struct sample *sample)
{
	int map = bpf_map__fd(interrupts->program->maps.interrupts), err = 0;
	struct interrupt keys[BATCH];
	struct interrupt_time times[BATCH];
	uint32_t at, *from = NULL;

	for (; !err; from = &at) {
		uint32_t nr = BATCH;

		err = bpf_map_lookup_batch(map, from, &at, keys, times, &nr, NULL);
		if (err && err != -ENOENT) /* that is: these are the last */
			return err;
		for (uint32_t i = 0; i < nr; i++) {
			struct key key;

			if (vcpu_of(arg, (pid_t)keys[i].tid, &key))
				add_vector(interrupts, sample, key, keys[i].irq, &times[i]);
		}
	}
	return 0;
}

/* Interrupts come, but KVM does not report when vCPUs enter: none is measured. */
static bool are_unseen(const struct interrupts_program__bss *bss)
{
	return bss->nr_came && !bss->has_entered;
}

static void say_unseen(const struct who_interrupts *interrupts, struct error *error)
{
	const struct interrupts_program__bss *bss = interrupts->program->bss;

	if (are_unseen(bss))
		error_add(error, "interrupts come, but KVM does not report when vCPUs enter "
			  "their guests: how long they are pending is not known");
	else if (bss->nr_lost)
		error_add(error, "%llu interrupts are not measured: there is no room for them",
			  (unsigned long long)bss->nr_lost);
	else if (interrupts->is_direct || bss->nr_direct)
		error_add(error, "vCPUs that run get interrupts without an entry here (APICv, "
			  "AVIC): only interrupts that need an entry are measured");
}

int who_interrupts_collect(struct who_interrupts *interrupts, who_vcpu_fn *vcpu_of, void *arg,
			   struct sample *sample, struct error *error)
{
	int err;

	set_clock(interrupts->program->bss);
	interrupts->nr_sums = 0;
	key_index_clear(&interrupts->index);
	err = add_vectors(interrupts, vcpu_of, arg, sample);
	if (err)
		return error_set(error, err, "cannot read how long interrupts were pending: %s",
				 strerror(-err));
	for (size_t i = 0; i < interrupts->nr_sums; i++) {
		add_time(sample, interrupts->sums[i].key, &interrupts->sums[i].time);
		add_parts(sample, interrupts->sums[i].key, &interrupts->sums[i].time,
			  interrupts->waking, interrupts->waiting);
	}
	say_unseen(interrupts, error);
	return 0;
}

void who_interrupts_add_none(const struct who_interrupts *interrupts, struct key key,
			     struct sample *sample)
{
	const struct interrupt_time none = { 0 };

	key.field = interrupts->all;
	if (are_unseen(interrupts->program->bss) ||
	    (interrupts->nr_sums &&
	     *key_index_slot(&interrupts->index, interrupts->sums, &key)))
		return;
	add_time(sample, key, &none);
	add_parts(sample, key, &none, interrupts->waking, interrupts->waiting);
}

/* ---- threads that have ended */

static void forget_of(int map, who_ended_fn *has_ended, void *arg)
{
	struct interrupt key, next = { 0 }; /* it begins with the thread, which may be all of it */
	bool has_next = bpf_map_get_next_key(map, NULL, &next) == 0;

	while (has_next) {
		key = next;
		has_next = bpf_map_get_next_key(map, &key, &next) == 0;
		if (has_ended(arg, (pid_t)key.tid))
			(void)bpf_map_delete_elem(map, &key);
	}
}

void who_interrupts_forget(struct who_interrupts *interrupts, who_ended_fn *has_ended, void *arg)
{
	forget_of(bpf_map__fd(interrupts->program->maps.irq_threads), has_ended, arg);
	forget_of(bpf_map__fd(interrupts->program->maps.interrupts), has_ended, arg);
}
