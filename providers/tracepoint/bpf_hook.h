/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf_hook - the program that counts an event, attached to it.
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
	uint64_t counted;  /* the caller's count when missed was read last */
	uint64_t missed;
};

#define BPF_HOOK_CLOSED ((struct bpf_hook){ .program = -1, .link = -1 })

/*
 * Counts the counter's event in the value of this number, by CPU. values: the map with the slots of
 * all CPUs in its only entry. 0 or -errno: then the hook must be closed, too.
 */
int bpf_hook_on_cpu(int values, uint32_t nr_cpus, const struct counter *counter, uint32_t number,
		    struct bpf_hook *ret_hook);

/* The same in the threads that the pattern's tables have. */
int bpf_hook_in_thread(const struct bpf_program *pattern, const struct counter *counter,
		       uint32_t number, struct bpf_hook *ret_hook);

/* At once: closing a raw tracepoint does not wait. */
void bpf_hook_close(struct bpf_hook *hook);

/*
 * How often the kernel did not run the program because it would have interrupted itself. counted:
 * its count now; the kernel is asked only if that has grown.
 */
uint64_t bpf_hook_missed(struct bpf_hook *hook, uint64_t counted);

#endif
