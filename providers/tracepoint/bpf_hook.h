/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf_hook - a copy of a pattern (counters.bpf.c) in the kernel, and what holds it to its event.
 */
#ifndef KVMTOP_PROVIDERS_TRACEPOINT_BPF_HOOK_H
#define KVMTOP_PROVIDERS_TRACEPOINT_BPF_HOOK_H

#include <bpf/libbpf.h>
#include <stddef.h>
#include <stdint.h>

#include "host/env.h"
#include "providers/tracepoint/engine.h"

struct bpf_hook {
	int program, link; /* -1: not open */
	uint64_t counted;  /* by it, when it was last asked */
	uint64_t missed;   /* what it said then */
};

#define BPF_HOOK_CLOSED ((struct bpf_hook){ .program = -1, .link = -1 })

/*
 * Counts the counter's event in its number's place of the pattern's memory. 0 or -errno: then, too,
 * close what there is of it.
 */
int bpf_hook_event(const struct bpf_program *pattern, const struct counter *counter,
		   uint32_t number, struct bpf_hook *ret_hook);

/* Counts all reasons of the counter's split, the one of this number in the pattern's tables. */
int bpf_hook_reasons(const struct env *env, const struct bpf_program *pattern,
		     const struct counter *counter, size_t number, struct bpf_hook *ret_hook);

/* At once: right for an event, whose raw tracepoint does not wait. */
void bpf_hook_close(struct bpf_hook *hook);

/* By a thread, for reasons: closing their trace event waits for the kernel's RCU. */
void bpf_hook_close_later(struct bpf_hook *hook);

/*
 * How often the program would have interrupted itself, and was not run for it. counted: by it now;
 * only one that has run since it was asked last can have been interrupted.
 */
uint64_t bpf_hook_missed(struct bpf_hook *hook, uint64_t counted);

#endif
