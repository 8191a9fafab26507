// SPDX-License-Identifier: GPL-2.0-or-later
/* Copies patterns of programs into the kernel, one for each event. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/process.h"
#include "lib/xalloc.h"
#include "providers/bpf/bpf.h"
#include "providers/tracepoint/bpf_hook.h"
#include "providers/tracepoint/counters_shared.h"

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

/* Written as instructions: C has no address of a map's entry, and code here runs at every event. */
int bpf_hook_on_cpu(int values, uint32_t nr_cpus, const struct counter *counter, uint32_t number,
		    struct bpf_hook *ret_hook)
{
	const struct bpf_insn insns[] = {
		/* r0 = the number of the CPU, which is the result, too; r1 = its slot */
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_smp_processor_id },
		{ .code = BPF_JMP | BPF_JGE | BPF_K,
		  .dst_reg = BPF_REG_0,
		  .off = 6, /* to the end */
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
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = 1 },
		{ .code = BPF_STX | BPF_ATOMIC | BPF_DW,
		  .dst_reg = BPF_REG_1,
		  .src_reg = BPF_REG_2,
		  .off = (__s16)(number * sizeof(__u64)),
		  .imm = BPF_ADD },
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
	err = bpf_fields_patch_offset(insns, nr, OFFSET_VALUE, (int)(number * sizeof(__u64)));
	if (!err)
		err = hook_event(insns, nr, counter, ret_hook);
	free(insns);
	return err;
}

/* Loads the program of a split's reasons. Its descriptor or -errno. */
static int load_reasons(const struct env *env, const struct bpf_program *pattern,
			const struct split *split, size_t number)
{
	const struct bpf_field fields[] = {
		{ FIELD_REASON, split->field, 0, 0 },
		{ FIELD_TYPE, split->type_field, (int)split->type_of_field, 0 },
		{ 0 },
	};
	struct bpf_insn *insns;
	int program, err;
	size_t nr;

	insns = copy_pattern(pattern, &nr);
	err = bpf_fields_patch(insns, nr, env, split->system, split->event, fields);
	if (!err)
		err = bpf_fields_patch_number(insns, nr, NUMBER_SPLIT, (int)number);
	if (!err)
		err = bpf_fields_patch_number(insns, nr, NUMBER_TYPE, (int)split->type_of_field);
	program = err ? err : bpf_prog_load(BPF_PROG_TYPE_TRACEPOINT, "kvmtop_reasons", "GPL",
					    insns, nr, NULL);
	if (!err && program < 0)
		program = -errno;
	free(insns);
	return program;
}

int bpf_hook_reasons(const struct env *env, const struct bpf_program *pattern,
		     const struct counter *counter, size_t number, struct bpf_hook *ret_hook)
{
	ret_hook->program = load_reasons(env, pattern, counter->split, number);
	if (ret_hook->program < 0)
		return ret_hook->program;
	ret_hook->link = bpf_attach(env, counter->tracepoint_id, ret_hook->program);
	return ret_hook->link < 0 ? ret_hook->link : 0;
}

void bpf_hook_close(struct bpf_hook *hook)
{
	if (hook->link >= 0)
		close(hook->link);
	if (hook->program >= 0)
		close(hook->program);
	*hook = BPF_HOOK_CLOSED;
}

static void *close_copy(void *copy)
{
	bpf_hook_close(copy);
	free(copy);
	return NULL;
}

void bpf_hook_close_later(struct bpf_hook *hook)
{
	struct bpf_hook *copy;
	pthread_t thread;

	if (hook->link < 0 && hook->program < 0)
		return;
	copy = xmalloc(sizeof(*copy));
	*copy = *hook;
	*hook = BPF_HOOK_CLOSED;
	if (thread_start(&thread, close_copy, copy) == 0)
		pthread_detach(thread);
	else
		close_copy(copy);
}

uint64_t bpf_hook_missed(struct bpf_hook *hook, uint64_t counted)
{
	if (hook->program < 0 || hook->counted == counted)
		return hook->missed;
	hook->counted = counted;
	hook->missed = bpf_missed(hook->program);
	return hook->missed;
}
