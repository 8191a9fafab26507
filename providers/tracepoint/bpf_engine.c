// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts tracepoints with small BPF programs: one for each event, and one more for the reasons of
 * an event. Every CPU, or every target thread, has a page of counters, a slot, which is mapped:
 * reading needs no system call, and more CPUs need no more descriptors. Slots for more threads are
 * added while the programs run.
 *
 * The kernel does not run a program that would interrupt itself, but counts how often that happens:
 * this count is added.
 *
 * On all CPUs, the programs of the provider "exits" see some of the events for what they do anyway:
 * while they run, theirs is the count, and the event has no program of ours.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/xalloc.h"
#include "core/guests/guests.h"
#include "host/machine.h"
#include "providers/bpf/bpf.h"
#include "providers/tracepoint/bpf_programs.h"
#include "providers/tracepoint/counters_shared.h"
#include "providers/tracepoint/engine.h"
/* Needs the types above. */
#include "providers/tracepoint/counters.skel.h"

#define MOST_SLOTS (COUNTERS_CHUNK * COUNTERS_CHUNKS) /* of threads */

/* The page of a target. */
struct bpf_slot {
	struct target target;
	bool is_used;
};

/* An event's count by the programs of another provider. */
struct seen_count {
	bool is_used;
	uint64_t latest; /* as it was read last; it begins at 0 with its programs */
	uint64_t sum;	 /* since the counter was wanted */
};

struct bpf_state {
	const struct provider_args *args;
	int cpus_end; /* the last possible CPU + 1: the same until the next boot */
	const struct counter *counters;
	uint32_t nr_counters;
	bool *is_wanted; /* by counter */
	bool *is_open;	 /* by counter: wanted, and its program runs */
	struct bpf_hook *hooks; /* by counter; not used for reasons */
	struct seen_count *seen; /* the same */
	struct bpf_reasons reasons;
	struct counters_program *program; /* NULL: nothing was wanted yet */
	struct counter_values *values; /* of the first slots, */
	uint32_t nr_first;	       /* by thread whole chunks of them; by CPU all */
	struct counter_values *chunks[COUNTERS_CHUNKS]; /* of the others */
	struct bpf_slot *slots;
	uint32_t nr_slots;
	uint32_t next_slot; /* slots before it are used */
	bool is_by_thread, is_new_want; /* see perf_engine.c */
	size_t nr_left_out; /* threads without a slot */
	struct counts counts;
	struct counter_values copy;
	int err; /* of the latest open that failed, */
	unsigned int nr_failed; /* and how many failed */
};

static bool is_plain(const struct bpf_state *bpf, uint32_t counter)
{
	return !bpf->counters[counter].split;
}

/* ---- the programs and their memory ---- */

static size_t values_size(uint32_t nr_slots)
{
	return nr_slots * sizeof(struct counter_values);
}

static struct counter_values *values_of(const struct bpf_state *bpf, uint32_t slot)
{
	if (slot < bpf->nr_first)
		return &bpf->values[slot];
	return &bpf->chunks[slot / COUNTERS_CHUNK][slot % COUNTERS_CHUNK];
}

static void add_slots(struct bpf_state *bpf, uint32_t nr)
{
	bpf->slots = xreallocarray(bpf->slots, bpf->nr_slots + nr, sizeof(*bpf->slots));
	memset(&bpf->slots[bpf->nr_slots], 0, nr * sizeof(*bpf->slots));
	bpf->nr_slots += nr;
}

static int load_programs(struct bpf_state *bpf)
{
	int err;

	bpf->program = counters_program__open();
	if (!bpf->program)
		return -errno;
	if (bpf->is_by_thread) {
		err = bpf_map__set_max_entries(bpf->program->maps.values, bpf->nr_first);
		if (!err)
			err = bpf_map__set_max_entries(bpf->program->maps.slots,
						       MOST_SLOTS);
	} else {
		err = bpf_map__set_value_size(bpf->program->maps.values,
					      (__u32)values_size(bpf->nr_first));
	}
	return err ? err : counters_program__load(bpf->program);
}

static int load_reasons(struct bpf_state *bpf)
{
	const struct bpf_reasons_place place = {
		.values = bpf_map__fd(bpf->program->maps.values),
		.chunks = bpf_map__fd(bpf->program->maps.chunks),
		.slots = bpf_map__fd(bpf->program->maps.slots),
		.nr_cpus = bpf->nr_slots,
		.is_by_thread = bpf->is_by_thread,
	};

	return bpf->reasons.program ? 0 : bpf_reasons_load(&bpf->reasons, &place);
}

/* Adds the counts of a slot to sums, which are the retired or the present ones of its guest. */
static void slot_add(struct bpf_state *bpf, uint32_t slot, struct guest_counts *counted,
		     uint64_t *sums)
{
	/* All at once, so that an event and its reasons agree. */
	memcpy(&bpf->copy, values_of(bpf, slot), bpf->nr_counters * sizeof(bpf->copy.values[0]));
	for (uint32_t i = 0; i < bpf->nr_counters; i++) {
		if (!bpf->is_open[i])
			continue;
		sums[i] += bpf->copy.values[i];
		counted->is_counted[i] = true;
	}
}

static void slot_retire(struct bpf_state *bpf, uint32_t slot)
{
	struct guest_counts *counted = counts_find(&bpf->counts, bpf->slots[slot].target.guest);
	__u32 tid = (__u32)bpf->slots[slot].target.id;

	if (bpf->is_by_thread)
		bpf_map_delete_elem(bpf_map__fd(bpf->program->maps.slots), &tid);
	if (counted)
		slot_add(bpf, slot, counted, counted->retired);
	memset(values_of(bpf, slot), 0, sizeof(struct counter_values));
	bpf->slots[slot].is_used = false;
}

/* Closes everything; the counts are kept as retired ones. */
static void stop(struct bpf_state *bpf)
{
	struct guest_counts *counted = counts_find(&bpf->counts, GUEST_NONE);

	for (uint32_t i = 0; i < bpf->nr_slots; i++) {
		if (bpf->slots[i].is_used)
			slot_retire(bpf, i);
	}
	for (uint32_t i = 0; i < bpf->nr_counters; i++) {
		bpf_hook_close(&bpf->hooks[i]);
		if (counted)
			counted->retired[i] += bpf->seen[i].sum;
		bpf->seen[i] = (struct seen_count){ .is_used = false };
	}
	bpf_reasons_unload(&bpf->reasons);
	if (bpf->values)
		munmap(bpf->values, values_size(bpf->nr_first));
	for (uint32_t i = bpf->nr_first; i < bpf->nr_slots; i += COUNTERS_CHUNK)
		munmap(values_of(bpf, i), values_size(COUNTERS_CHUNK));
	free(bpf->slots);
	counters_program__destroy(bpf->program);
	bpf->values = NULL;
	bpf->slots = NULL;
	bpf->program = NULL;
	bpf->nr_slots = 0;
}

static int start(struct bpf_state *bpf, bool is_by_thread, uint32_t nr_first)
{
	int err;

	stop(bpf);
	bpf->is_by_thread = is_by_thread;
	bpf->nr_first = nr_first;
	err = load_programs(bpf);
	if (!err)
		bpf->values = bpf_memory(bpf_map__fd(bpf->program->maps.values),
					 values_size(nr_first));
	if (!err && !bpf->values)
		err = -errno;
	if (err)
		stop(bpf);
	else
		add_slots(bpf, nr_first);
	return err;
}

/* The program finds them as soon as they are in chunks, but no thread has one yet. */
static int add_chunk(struct bpf_state *bpf)
{
	uint32_t number = bpf->nr_slots / COUNTERS_CHUNK;
	void *memory;
	int err = bpf_add_chunk(bpf->program->obj, bpf->program->maps.chunks, number,
				bpf->program->maps.values, COUNTERS_CHUNK, &memory);

	if (err)
		return err;
	bpf->chunks[number] = memory;
	add_slots(bpf, COUNTERS_CHUNK);
	return 0;
}

/* ---- what is wanted ---- */

static int open_event(const struct bpf_state *bpf, uint32_t counter, struct bpf_hook *hook)
{
	const struct counter *counted = &bpf->counters[counter];

	if (bpf->is_by_thread)
		return bpf_hook_in_thread(bpf->program->progs.event_in_thread, counted, counter,
					  hook);
	return bpf_hook_on_cpu(bpf_map__fd(bpf->program->maps.values), bpf->nr_slots, counted,
			       counter, hook);
}

static bool wants_reasons(const struct bpf_state *bpf, const struct split *split)
{
	for (uint32_t i = 0; i < bpf->nr_counters; i++) {
		if (bpf->is_wanted[i] && bpf->counters[i].split == split)
			return true;
	}
	return false;
}

static void open_failed(struct bpf_state *bpf, int err)
{
	bpf->err = err;
	bpf->nr_failed++;
}

static int open_reasons(struct bpf_state *bpf, size_t split)
{
	int err = descriptors_are_left() ? load_reasons(bpf) : -EMFILE;

	return err ? err : bpf_reasons_attach(&bpf->reasons, split);
}

static void open_wanted_reasons(struct bpf_state *bpf)
{
	for (size_t i = 0; i < bpf->reasons.nr; i++) {
		const struct split *split = bpf->reasons.splits[i];
		bool is_wanted = wants_reasons(bpf, split);
		int err = is_wanted && !bpf->reasons.links[i] ? open_reasons(bpf, i) : 0;

		if (err)
			open_failed(bpf, err);
		if (!is_wanted)
			bpf_reasons_detach(&bpf->reasons, i);
		for (uint32_t j = 0; j < bpf->nr_counters; j++) {
			if (bpf->counters[j].split == split)
				bpf->is_open[j] = bpf->is_wanted[j] && bpf->reasons.links[i];
		}
	}
}

/* A program and its link for each event. */
static uint64_t descriptors_needed(const struct bpf_state *bpf)
{
	uint64_t needed = DESCRIPTORS_SPARE + 2 * bpf->reasons.nr;

	for (uint32_t i = 0; i < bpf->nr_counters; i++)
		needed += bpf->is_wanted[i] && is_plain(bpf, i) ? 2 : 0;
	return needed;
}

/* Opens and closes what has changed. An event that cannot be opened is not shown, not even as 0. */
static void open_wanted(struct bpf_state *bpf)
{
	bpf->err = 0;
	bpf->nr_failed = 0;
	descriptors_raise(descriptors_needed(bpf));
	for (uint32_t i = 0; i < bpf->nr_counters; i++) { /* a new counter begins at 0 */
		for (uint32_t j = 0; j < bpf->nr_slots; j++)
			if (bpf->is_wanted[i] && !bpf->is_open[i])
				values_of(bpf, j)->values[i] = 0;
	}
	open_wanted_reasons(bpf);
	for (uint32_t i = 0; i < bpf->nr_counters; i++) {
		struct bpf_hook *hook = &bpf->hooks[i];
		int err = 0;

		if (!is_plain(bpf, i))
			continue;
		if (bpf->is_wanted[i] && hook->link < 0 && !bpf->seen[i].is_used)
			err = descriptors_are_left() ? open_event(bpf, i, hook) : -EMFILE;
		if (err)
			open_failed(bpf, err);
		if (!bpf->is_wanted[i] || err)
			bpf_hook_close(hook);
		bpf->is_open[i] = bpf->is_wanted[i] && (hook->link >= 0 || bpf->seen[i].is_used);
	}
}

static void engine_want(void *state, const struct field_set *fields)
{
	struct bpf_state *bpf = state;

	for (uint32_t i = 0; i < bpf->nr_counters; i++) {
		bool is_wanted = field_set_has(fields, bpf->counters[i].field);

		/* The first row has a count already: programs start one after the other. */
		if (is_wanted && !bpf->is_wanted[i])
			counts_begin(&bpf->counts, i, true);
		if (is_wanted != bpf->is_wanted[i])
			bpf->seen[i] = (struct seen_count){ .is_used = false };
		bpf->is_wanted[i] = is_wanted;
	}
	bpf->is_new_want = true;
	if (bpf->program)
		open_wanted(bpf);
}

/* ---- where ---- */

/* Gives the target a free page; a CPU's is the one with its number. */
static int slot_begin(struct bpf_state *bpf, const struct target *target)
{
	uint32_t i = target->is_thread ? bpf->next_slot : (uint32_t)target->id;
	__u32 tid = (__u32)target->id;

	while (target->is_thread && i < bpf->nr_slots && bpf->slots[i].is_used)
		i++;
	bpf->next_slot = i;
	if (i >= bpf->nr_slots) {
		bpf->nr_left_out++;
		return 0;
	}
	bpf->slots[i] = (struct bpf_slot){ *target, true };
	if (target->is_thread &&
	    bpf_map_update_elem(bpf_map__fd(bpf->program->maps.slots), &tid, &i, BPF_ANY) < 0)
		return -errno;
	return 0;
}

/* Ends each slot of a target that is not in targets; *ret_has_slot: which of targets have one. */
static void retire_others(struct bpf_state *bpf, const struct target *targets, size_t nr,
			  bool *ret_has_slot)
{
	for (uint32_t i = 0; i < bpf->nr_slots; i++) {
		const struct target *mine = &bpf->slots[i].target, *target = NULL;

		if (!bpf->slots[i].is_used)
			continue;
		if (nr)
			target = bsearch(mine, targets, nr, sizeof(*targets), target_compare);
		if (target && target->guest == mine->guest)
			ret_has_slot[target - targets] = true;
		else if (mine->is_thread) /* a CPU keeps its slot */
			slot_retire(bpf, i);
	}
}

/* How many pages there must be, one for each possible CPU. */
static uint32_t cpu_slots(const struct bpf_state *bpf, const struct target *targets, size_t nr)
{
	int last = nr ? targets[nr - 1].id + 1 : 1;

	return (uint32_t)(bpf->cpus_end > last ? bpf->cpus_end : last);
}

/* For twice the threads, as the kernel waits for RCU when a chunk is added. */
static uint32_t first_slots(uint32_t nr)
{
	uint32_t chunks = 2 * nr / COUNTERS_CHUNK + 1;

	return (chunks < COUNTERS_CHUNKS ? chunks : COUNTERS_CHUNKS) * COUNTERS_CHUNK;
}

/* Loads the programs again if they are of the other kind. Room for more threads is only added. */
static int fit(struct bpf_state *bpf, const struct target *targets, size_t nr)
{
	bool is_by_thread = nr ? targets[0].is_thread : bpf->is_by_thread;
	uint32_t needed = is_by_thread ? (uint32_t)nr : cpu_slots(bpf, targets, nr);
	int err = 0;

	if (!bpf->program || bpf->is_by_thread != is_by_thread ||
	    (!is_by_thread && needed > bpf->nr_slots)) {
		err = start(bpf, is_by_thread, is_by_thread ? first_slots(needed) : needed);
		if (!err)
			open_wanted(bpf);
	}
	/* Without memory for more threads there are the slots of threads that have ended. */
	while (!err && needed > bpf->nr_slots && bpf->nr_slots < MOST_SLOTS && !add_chunk(bpf))
		;
	return err;
}

static int engine_retarget(void *state, const struct target *targets, size_t nr, uint32_t keep)
{
	struct bpf_state *bpf = state;
	bool *has_slot = xcalloc(nr + 1, sizeof(*has_slot)), is_new_want = bpf->is_new_want;
	int err = fit(bpf, targets, nr);

	if (!err)
		retire_others(bpf, targets, nr, has_slot);
	counts_end(&bpf->counts, targets, nr, keep, is_new_want);
	bpf->is_new_want = false;
	bpf->nr_left_out = 0;
	bpf->next_slot = 0;
	for (size_t i = 0; i < nr && !err; i++) {
		if (has_slot[i])
			continue;
		/* Programs start one by one: after a new want counts begin with a sample. */
		counts_get(&bpf->counts, targets[i].guest, is_new_want);
		err = slot_begin(bpf, &targets[i]);
	}
	free(has_slot);
	return err;
}

/* ---- reading ---- */

/*
 * Adds to the host's counts only: the kernel does not report which thread missed an event, and
 * others' programs count by CPU.
 */
static void add_to_host(struct bpf_state *bpf)
{
	struct guest_counts *counted = counts_find(&bpf->counts, GUEST_NONE);

	for (uint32_t i = 0; counted && !bpf->is_by_thread && i < bpf->nr_counters; i++) {
		if (!bpf->is_wanted[i] || !is_plain(bpf, i))
			continue;
		counted->now[i] += bpf_hook_missed(&bpf->hooks[i], counted->now[i]);
		counted->now[i] += bpf->seen[i].sum;
	}
}

static bool find_count(const struct bpf_state *bpf, uint32_t counter, uint64_t *ret_count)
{
	const struct provider_args *args = bpf->args;

	return !bpf->is_by_thread && args->find_count &&
	       args->find_count(args->monitor, bpf->counters[counter].event, ret_count);
}

/*
 * Our program ends before theirs is asked: no event counts twice, and what comes in between is
 * before the first sample, as both begin with a want. If theirs have ended ours comes back.
 */
static void look_for_count(struct bpf_state *bpf, uint32_t i)
{
	struct seen_count *seen = &bpf->seen[i];
	struct bpf_hook *hook = &bpf->hooks[i];
	uint64_t count;

	if (!find_count(bpf, i, &count)) {
		int err = seen->is_used ? open_event(bpf, i, hook) : 0;

		if (err) {
			open_failed(bpf, err);
			bpf_hook_close(hook);
		}
		seen->is_used = false;
		bpf->is_open[i] = hook->link >= 0;
		return;
	}
	if (!seen->is_used) {
		seen->sum += bpf_hook_missed(hook, UINT64_MAX);
		bpf_hook_close(hook);
		find_count(bpf, i, &count);
		seen->latest = count;
		seen->is_used = true;
	}
	seen->sum += count >= seen->latest ? count - seen->latest : count;
	seen->latest = count;
	bpf->is_open[i] = true;
}

static int engine_read(void *state, struct sample *sample, uint64_t *ret_time_ns,
		       struct error *error)
{
	struct bpf_state *bpf = state;

	*ret_time_ns = clock_now_ns();
	for (uint32_t i = 0; i < bpf->nr_counters; i++) {
		if (bpf->is_wanted[i] && is_plain(bpf, i))
			look_for_count(bpf, i);
	}
	counts_clear_now(&bpf->counts);
	for (uint32_t i = 0; i < bpf->nr_slots; i++) {
		const struct bpf_slot *slot = &bpf->slots[i];
		struct guest_counts *counted = counts_find(&bpf->counts, slot->target.guest);

		if (slot->is_used && counted)
			slot_add(bpf, i, counted, counted->now);
	}
	add_to_host(bpf);
	if (descriptors_are_short(bpf->err))
		descriptors_explain(error, bpf->nr_failed, descriptors_needed(bpf));
	else if (bpf->err)
		error_set(error, 0, "%u events not counted: %s", bpf->nr_failed,
			  strerror(-bpf->err));
	else if (bpf->nr_left_out)
		error_set(error, 0, "the events of %zu threads are not counted: there is room for "
			  "%u", bpf->nr_left_out, bpf->nr_slots);
	counts_emit(&bpf->counts, bpf->is_wanted, NULL, sample);
	return 0;
}

static void engine_programs(void *state, struct programs *programs)
{
	const struct bpf_state *bpf = state;

	for (uint32_t i = 0; i < bpf->nr_counters; i++) {
		if (bpf->hooks[i].program >= 0)
			programs_add(programs, bpf->hooks[i].program, bpf->counters[i].event);
	}
	bpf_reasons_programs(&bpf->reasons, programs);
}

/* ---- the engine ---- */

static void engine_close(void *state)
{
	struct bpf_state *bpf = state;

	if (!bpf)
		return;
	stop(bpf);
	counts_release(&bpf->counts);
	free(bpf->hooks);
	free(bpf->seen);
	free(bpf->is_wanted);
	free(bpf->is_open);
	free(bpf);
}

static int engine_open(const struct provider_args *args, const struct counter *counters, size_t nr,
		       void **ret_state, struct error *error)
{
	struct bpf_state *bpf;
	int err;

	if (nr >= COUNTERS_MAX)
		return error_set(error, -E2BIG, "more than %d events and reasons", COUNTERS_MAX);
	bpf = xcalloc(1, sizeof(*bpf));
	bpf_be_quiet();
	bpf->args = args;
	bpf->cpus_end = cpus_end(args->env, CPUS_POSSIBLE);
	bpf->counters = counters;
	bpf->nr_counters = (uint32_t)nr;
	bpf->counts = (struct counts){ counters, (uint32_t)nr, NULL };
	bpf->is_wanted = xcalloc(nr, sizeof(*bpf->is_wanted));
	bpf->is_open = xcalloc(nr, sizeof(*bpf->is_open));
	bpf->hooks = xcalloc(nr, sizeof(*bpf->hooks));
	bpf->seen = xcalloc(nr, sizeof(*bpf->seen));
	for (size_t i = 0; i < nr; i++)
		bpf->hooks[i] = BPF_HOOK_CLOSED;
	err = bpf_reasons_find(&bpf->reasons, args->env, counters, (uint32_t)nr);
	if (!err && bpf->reasons.nr) /* they are in KVM's structures */
		err = bpf_probe(args->env, error);
	/* Tries to load now, while another engine can still be chosen. */
	if (!err)
		err = start(bpf, false, cpu_slots(bpf, NULL, 0));
	/* Older kernels may refuse these. libbpf takes some 15 ms to read the kernel's BTF. */
	if (!err && bpf->reasons.nr && !bpf_kernel_is(5, 16))
		err = load_reasons(bpf);
	if (!err)
		stop(bpf);
	if (err) {
		if (!error->text[0])
			error_set(error, err, "the kernel refuses our BPF program: %s",
				  strerror(-err));
		engine_close(bpf);
		return err;
	}
	*ret_state = bpf;
	return 0;
}

const struct engine bpf_engine = {
	.name = "bpf",
	.probe = bpf_probe_counters,
	.open = engine_open,
	.want = engine_want,
	.retarget = engine_retarget,
	.read = engine_read,
	.programs = engine_programs,
	.close = engine_close,
};
