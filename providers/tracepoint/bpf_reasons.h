/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf_reasons - the programs that count the reasons of events (reasons.bpf.c).
 */
#ifndef KVMTOP_PROVIDERS_TRACEPOINT_BPF_REASONS_H
#define KVMTOP_PROVIDERS_TRACEPOINT_BPF_REASONS_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/env.h"
#include "providers/tracepoint/counters_shared.h"
#include "providers/tracepoint/engine.h"

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
	int values, slots;
	uint32_t nr_cpus;
	bool is_by_thread;
};

/* Takes some 15 ms. 0 or -errno. */
int bpf_reasons_load(struct bpf_reasons *reasons, const struct bpf_reasons_place *place);

/* Begins and ends to count reasons of a split. 0 or -errno; -ENOENT: its module is missing. */
int bpf_reasons_attach(struct bpf_reasons *reasons, size_t split);
void bpf_reasons_detach(struct bpf_reasons *reasons, size_t split);

/* All of them; they may be loaded again. */
void bpf_reasons_unload(struct bpf_reasons *reasons);

#endif
