/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf_programs - the programs that count events, and those that count their reasons: loaded and
 * attached for bpf_engine.c.
 */
#ifndef KVMTOP_PROVIDERS_TRACEPOINT_BPF_PROGRAMS_H
#define KVMTOP_PROVIDERS_TRACEPOINT_BPF_PROGRAMS_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/env.h"
#include "providers/tracepoint/counters_shared.h"
#include "providers/tracepoint/engine.h"

/* ---- a hook: the program that counts an event, attached to it */

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

/* Whether this kernel's version is that or a later one. */
bool bpf_kernel_is(unsigned int major, unsigned int minor);

/* Counts it in the threads of the pattern's tables, in their values of this number. */
int bpf_hook_in_thread(const struct bpf_program *pattern, const struct counter *counter,
		       uint32_t number, struct bpf_hook *ret_hook);

/* At once: closing a raw tracepoint does not wait. */
void bpf_hook_close(struct bpf_hook *hook);

/*
 * How often the kernel did not run the program because it would have interrupted itself. counted:
 * its count now; the kernel is asked only if that has grown.
 */
uint64_t bpf_hook_missed(struct bpf_hook *hook, uint64_t counted);

/* ---- reasons: the programs that count the reasons of events (reasons.bpf.c) */

struct bpf_reasons {
	const struct env *env;
	const struct counter *counters;
	uint32_t nr_counters;
	const struct split *splits[COUNTERS_SPLITS];
	struct bpf_link *links[COUNTERS_SPLITS]; /* NULL: its reasons are not counted now */
	size_t nr;
	struct reasons_program *program; /* NULL: not loaded */
};

/* Finds the splits of the counters. 0, or -errno: there is a split that cannot be counted. */
int bpf_reasons_find(struct bpf_reasons *reasons, const struct env *env,
		     const struct counter *counters, uint32_t nr_counters);

/* Where to count: in the maps of these descriptors. */
struct bpf_reasons_place {
	int values, chunks, slots;
	uint32_t nr_cpus;
	bool is_by_thread;
};

/* Takes some 15 ms. 0 or -errno. */
int bpf_reasons_load(struct bpf_reasons *reasons, const struct bpf_reasons_place *place);

/* Begins and ends to count reasons of a split. 0 or -errno; -ENOENT: its module is missing. */
int bpf_reasons_attach(struct bpf_reasons *reasons, size_t split);
void bpf_reasons_detach(struct bpf_reasons *reasons, size_t split);

/* Adds the ones that are attached. */
void bpf_reasons_programs(const struct bpf_reasons *reasons, struct programs *programs);

/* All of them; they may be loaded again. */
void bpf_reasons_unload(struct bpf_reasons *reasons);

#endif
