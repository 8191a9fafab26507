/* SPDX-License-Identifier: GPL-2.0-or-later */
/* load - the BPF programs of the provider "exits": the choice of them, loading and attaching. */
#ifndef KVMTOP_PROVIDERS_EXITS_LOAD_H
#define KVMTOP_PROVIDERS_EXITS_LOAD_H

#include "arch/arch.h"
#include "host/env.h"
#include "providers/exits/raw.h"
#include "providers/exits/shared.h"

#define HOOKS_MAX (4 + EXITS_KINDS) /* of arguments, exit, entry, user space, polls, L2 */

struct exits_bpf_config {
	const struct env *env;
	const struct split *exit; /* NULL: only exits to user space */
	const struct exits_raw *raw; /* NULL: the reason is taken from the event's record */
	uint32_t max_threads;
	bool has_arguments;
	bool has_long; /* reports long exits */
	bool has_polls; /* what exits_bpf_knows_polls() said */
};

/* Whether this kernel's events tell what is polled in a halt (TIME_POLL). */
bool exits_bpf_knows_polls(void);

struct exits_load {
	/* Set before; all else is zeroed. */
	struct exits_bpf_config config;
	uint32_t max_arguments; /* entries of the map */
	/* Set by exits_load(): */
	struct exits_raw raw; /* of the config, as far as the kernel takes such programs */
	struct exits_program *program;
	struct bpf_program *on_exit, *on_entry; /* the ones of several that are loaded */
	bool is_timed;
	int hooks[HOOKS_MAX]; /* descriptors of what is attached */
	size_t nr_hooks;
};

/* Tries older ways until the kernel takes one. 0 or -errno. */
int exits_load(struct exits_load *load);

/* 0 or -errno; what was attached stays so until the release. */
int exits_load_attach(struct exits_load *load);

/* How many exits and arguments there were since loading for which the kernel ran no program. */
uint64_t exits_load_missed(const struct exits_load *load);

/* Also after a failure. Waits for the kernel's RCU, some 40 ms a hook. */
void exits_load_release(struct exits_load *load);

#endif
