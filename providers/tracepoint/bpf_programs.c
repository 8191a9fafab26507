// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loads a program for each event; the programs of reasons when the first reason is wanted, and
 * attaches these one by one.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/xalloc.h"
#include "providers/bpf/bpf.h"
#include "providers/tracepoint/bpf_programs.h"
#include "providers/tracepoint/counters_shared.h"
/* Needs the types above. */
#include "providers/tracepoint/reasons.skel.h"

/* ---- a hook */

/* A copy of a pattern's instructions, with the maps in them. */
static struct bpf_insn *copy_pattern(const struct bpf_program *pattern, size_t *ret_nr)
{
	size_t nr = bpf_program__insn_cnt(pattern);
	struct bpf_insn *insns = xcalloc(nr, sizeof(*insns));

	memcpy(insns, bpf_program__insns(pattern), nr * sizeof(*insns));
	*ret_nr = nr;
	return insns;
}

static int hook_event(const struct bpf_insn *insns, size_t nr, const struct counter *counter,
		      struct bpf_hook *ret_hook)
{
	ret_hook->program = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "kvmtop_count", "GPL",
					  insns, nr, NULL);
	if (ret_hook->program < 0)
		return -errno;
	ret_hook->link = bpf_raw_tracepoint_open(counter->event, ret_hook->program);
	return ret_hook->link < 0 ? -errno : 0;
}

bool bpf_kernel_is(unsigned int major, unsigned int minor)
{
	unsigned int a = 0, b = 0;
	struct utsname name;

	return uname(&name) == 0 && sscanf(name.release, "%u.%u", &a, &b) == 2 &&
	       (a > major || (a == major && b >= minor));
}

/*
 * Written as instructions: C has no address of a map's entry, and code here runs at every event.
 * Since Linux 6.2 a program does not interrupt itself on its CPU, and nothing else writes the
 * counter: a plain addition takes 4 ns less.
 */
int bpf_hook_on_cpu(int values, uint32_t nr_cpus, const struct counter *counter, uint32_t number,
		    struct bpf_hook *ret_hook)
{
	const __s16 at = (__s16)(number * sizeof(__u64));
	const struct bpf_insn plain[] = {
		{ .code = BPF_LDX | BPF_MEM | BPF_DW,
		  .dst_reg = BPF_REG_2,
		  .src_reg = BPF_REG_1,
		  .off = at },
		{ .code = BPF_ALU64 | BPF_ADD, .dst_reg = BPF_REG_2, .imm = 1 },
		{ .code = BPF_STX | BPF_MEM | BPF_DW,
		  .dst_reg = BPF_REG_1,
		  .src_reg = BPF_REG_2,
		  .off = at },
	};
	const struct bpf_insn atomic[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = 1 },
		{ .code = BPF_STX | BPF_ATOMIC | BPF_DW,
		  .dst_reg = BPF_REG_1,
		  .src_reg = BPF_REG_2,
		  .off = at,
		  .imm = BPF_ADD },
		{ .code = BPF_JMP | BPF_JA }, /* to the next one; the kernel drops it */
	};
	const struct bpf_insn *add = bpf_kernel_is(6, 2) ? plain : atomic;
	const struct bpf_insn insns[] = {
		/* r0 = the number of the CPU, which is the result, too; r1 = its slot */
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_smp_processor_id },
		{ .code = BPF_JMP | BPF_JGE | BPF_K,
		  .dst_reg = BPF_REG_0,
		  .off = 7, /* to the end */
		  .imm = (__s32)nr_cpus },
		{ .code = BPF_ALU64 | BPF_MUL | BPF_K,
		  .dst_reg = BPF_REG_0,
		  .imm = sizeof(struct counter_values) },
		{ .code = BPF_LD | BPF_DW, /* of a constant: BPF_IMM is 0, too */
		  .dst_reg = BPF_REG_1,
		  .src_reg = BPF_PSEUDO_MAP_VALUE,
		  .imm = values },
		{ .imm = 0 }, /* the second half of that: from the entry's beginning on */
		{ .code = BPF_ALU64 | BPF_ADD | BPF_X,
		  .dst_reg = BPF_REG_1,
		  .src_reg = BPF_REG_0 },
		add[0],
		add[1],
		add[2],
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return hook_event(insns, ARRAY_SIZE(insns), counter, ret_hook);
}

int bpf_hook_in_thread(const struct bpf_program *pattern, const struct counter *counter,
		       uint32_t number, struct bpf_hook *ret_hook)
{
	struct bpf_insn *insns;
	size_t nr;
	int err;

	insns = copy_pattern(pattern, &nr);
	for (size_t i = 0; i < nr; i++) { /* its only addition */
		if (insns[i].code == (BPF_STX | BPF_ATOMIC | BPF_DW))
			insns[i].off = (__s16)(number * sizeof(__u64));
	}
	err = hook_event(insns, nr, counter, ret_hook);
	free(insns);
	return err;
}

void bpf_hook_close(struct bpf_hook *hook)
{
	if (hook->link >= 0)
		close(hook->link);
	if (hook->program >= 0)
		close(hook->program);
	*hook = BPF_HOOK_CLOSED;
}

uint64_t bpf_hook_missed(struct bpf_hook *hook, uint64_t counted)
{
	if (hook->program < 0 || hook->counted == counted)
		return hook->missed;
	hook->counted = counted;
	hook->missed = bpf_missed(hook->program);
	return hook->missed;
}

/* ---- reasons */

static bool has_split(const struct bpf_reasons *reasons, const struct split *split)
{
	size_t i = 0;

	while (i < reasons->nr && reasons->splits[i] != split)
		i++;
	return i < reasons->nr;
}

int bpf_reasons_find(struct bpf_reasons *reasons, const struct env *env,
		     const struct counter *counters, uint32_t nr_counters)
{
	*reasons = (struct bpf_reasons){ .env = env, .counters = counters,
					 .nr_counters = nr_counters };
	for (uint32_t i = 0; i < nr_counters; i++) {
		const struct split *split = counters[i].split;

		if (!split || has_split(reasons, split))
			continue;
		if (split->place == EXIT_NOWHERE)
			return -ENOTSUP;
		if (reasons->nr == COUNTERS_SPLITS)
			return -E2BIG;
		reasons->splits[reasons->nr++] = split;
	}
	return 0;
}

static int add_code(const struct bpf_reasons *reasons, size_t split, uint64_t code,
		    uint32_t counter)
{
	struct counter_code key = { code, split };
	__u32 value = counter + 1;

	if (code < COUNTERS_DENSE) {
		reasons->program->bss->dense[split][code] = (__u16)value;
		return 0;
	}
	return bpf_map_update_elem(bpf_map__fd(reasons->program->maps.codes), &key, &value,
				   BPF_ANY) ? -errno : 0;
}

static int add_codes(const struct bpf_reasons *reasons)
{
	int err = 0;

	for (size_t i = 0; i < reasons->nr; i++) {
		for (uint32_t j = 0; j < reasons->nr_counters && !err; j++) {
			const struct counter *counter = &reasons->counters[j];

			if (counter->split != reasons->splits[i])
				continue;
			for (size_t k = 0; k < counter->nr_codes && !err; k++)
				err = add_code(reasons, i, counter->codes[k], j);
		}
	}
	return err;
}

static struct bpf_program *program_of(const struct bpf_reasons *reasons, size_t split)
{
	struct bpf_program *const programs[COUNTERS_SPLITS] = {
		reasons->program->progs.reason_0, reasons->program->progs.reason_1,
		reasons->program->progs.reason_2, reasons->program->progs.reason_3,
		reasons->program->progs.reason_4,
	};

	return programs[split];
}

/* Whether the module is loaded that has the types for the reasons. */
static bool has_types(const struct bpf_reasons *reasons, const struct split *split)
{
	return !split->module || env_has(reasons->env, "/sys/module/%s", split->module);
}

static int set_program(const struct bpf_reasons *reasons, size_t i)
{
	const struct split *split = i < reasons->nr ? reasons->splits[i] : NULL;
	struct bpf_program *program = program_of(reasons, i);
	bool is_loaded = split && has_types(reasons, split);

	bpf_program__set_autoload(program, is_loaded);
	if (!is_loaded)
		return 0;
	reasons->program->rodata->places[i] = split->place;
	return bpf_program__set_attach_target(program, 0, split->event);
}

int bpf_reasons_load(struct bpf_reasons *reasons, const struct bpf_reasons_place *place)
{
	int err;

	reasons->program = reasons_program__open();
	if (!reasons->program)
		return -errno;
	reasons->program->rodata->is_by_thread = place->is_by_thread;
	reasons->program->rodata->nr_cpus = place->nr_cpus;
	err = bpf_map__reuse_fd(reasons->program->maps.values, place->values);
	if (!err)
		err = bpf_map__reuse_fd(reasons->program->maps.chunks, place->chunks);
	if (!err)
		err = bpf_map__reuse_fd(reasons->program->maps.slots, place->slots);
	for (size_t i = 0; i < COUNTERS_SPLITS && !err; i++)
		err = set_program(reasons, i);
	if (!err)
		err = reasons_program__load(reasons->program);
	if (!err)
		err = add_codes(reasons);
	if (err)
		bpf_reasons_unload(reasons);
	return err;
}

int bpf_reasons_attach(struct bpf_reasons *reasons, size_t split)
{
	struct bpf_program *program = program_of(reasons, split);

	if (!bpf_program__autoload(program))
		return -ENOENT;
	reasons->links[split] = bpf_program__attach(program);
	return reasons->links[split] ? 0 : -errno;
}

void bpf_reasons_detach(struct bpf_reasons *reasons, size_t split)
{
	bpf_link__destroy(reasons->links[split]);
	reasons->links[split] = NULL;
}

void bpf_reasons_programs(const struct bpf_reasons *reasons, struct programs *programs)
{
	for (size_t i = 0; i < reasons->nr; i++) {
		if (reasons->links[i])
			programs_add(programs, bpf_program__fd(program_of(reasons, i)),
				     reasons->splits[i]->event);
	}
}

void bpf_reasons_unload(struct bpf_reasons *reasons)
{
	for (size_t i = 0; i < reasons->nr; i++)
		bpf_reasons_detach(reasons, i);
	reasons_program__destroy(reasons->program);
	reasons->program = NULL;
}
