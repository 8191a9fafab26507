// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads a program for each event. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/array.h"
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
