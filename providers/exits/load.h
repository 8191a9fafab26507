/* SPDX-License-Identifier: GPL-2.0-or-later */
/* load - chooses, loads and attaches the BPF programs of the provider "exits". */
#ifndef KVMTOP_PROVIDERS_EXITS_LOAD_H
#define KVMTOP_PROVIDERS_EXITS_LOAD_H

#include "arch/arch.h"
#include "host/env.h"
#include "providers/exits/raw.h"
#include "providers/exits/shared.h"

/* Of arguments, exit, entry, user space, polls, L2, page faults. */
#define HOOKS_MAX (5 + EXITS_KINDS)

struct exits_bpf_config {
	const struct env *env;
	const struct split *exit; /* NULL: only exits to user space */
	const struct exits_raw *raw; /* NULL: the reason is taken from the event's record */
	uint32_t max_threads;
	bool has_arguments;
	bool has_long; /* reports long exits */
	bool has_polls; /* what exits_bpf_knows_polls() returned */
};

/* Whether this kernel's events tell how long halts are polled (TIME_POLL). */
bool exits_bpf_knows_polls(const struct env *env);

struct exits_load {
	/* Set by the caller, who zeroes the rest. */
	struct exits_bpf_config config;
	uint32_t max_arguments; /* entries of the map */
	/* Set by exits_load(): */
	struct exits_raw raw; /* the config's, or an older way that the kernel accepts */
	struct exits_program *program;
	struct bpf_program *on_exit, *on_entry; /* the loaded ones of several programs */
	bool is_timed;
	int hooks[HOOKS_MAX]; /* descriptors of attached programs */
	size_t nr_hooks;
};

/* Loads the programs; tries older ways until the kernel accepts one. 0 or -errno. */
int exits_load(struct exits_load *load);

/* Attaches the programs. 0 or -errno; what was attached stays attached until the release. */
int exits_load_attach(struct exits_load *load);

/* How many exits and arguments the kernel ran no program for, since loading. */
uint64_t exits_load_missed(const struct exits_load *load);

/* Also after a failure. Waits for the kernel's RCU, some 40 ms a hook. */
void exits_load_release(struct exits_load *load);

#endif
