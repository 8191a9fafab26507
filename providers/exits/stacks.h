/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacks - the code that the threads of vCPUs are in: sampled, named, and added to a sample.
 */
#ifndef KVMTOP_PROVIDERS_EXITS_STACKS_H
#define KVMTOP_PROVIDERS_EXITS_STACKS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/facts/stacks.h"
#include "lib/error.h"
#include "providers/exits/program.h"
#include "providers/exits/threads.h"

struct exits_stacks;

/* What it works with; all of it outlives it. */
struct exits_stacks_config {
	const struct env *env;
	struct guests *guests;
	struct exits_names *names;
	struct exits_bpf *bpf; /* loaded for stacks, and attached */
	struct exits_threads *threads;
	const struct fields *fields;
	struct stacks *stacks; /* the dictionary */
};

/* Whether the CPUs have a counter of cycles that takes samples. */
bool exits_stacks_have_cycles(void);

/* Begins to sample each CPU that is online. 0, or -errno with error. */
int exits_stacks_new(const struct exits_stacks_config *config, struct exits_stacks **ret_stacks,
		     struct error *error);
void exits_stacks_free(struct exits_stacks *stacks); /* NULL is fine */

/*
 * Adds what was found since the last call, between exits_threads_begin() and the release of
 * records. 0 or -errno.
 */
int exits_stacks_collect(struct exits_stacks *stacks, struct stack_sums *sums);

/* ---- paths.c: the path of functions of a stack */

struct exits_paths;

struct exits_paths *exits_paths_new(const struct exits_stacks_config *config);
void exits_paths_free(struct exits_paths *paths); /* NULL is fine */

/* Before the stacks of a reading: processes may have other maps than before. */
void exits_paths_begin(struct exits_paths *paths);

/* The node of the stack's path in the dictionary. */
uint32_t exits_paths_node(struct exits_paths *paths, const struct exits_stack_key *of);

/*
 * After a reading: the kernel keeps stacks until there may be too many; then all are forgotten, and
 * kept anew.
 */
void exits_paths_forget(struct exits_paths *paths);

/*
 * ---- functions.c: of this machine. Files are read when an address in them is named for the first
 * time, and kept.
 */

struct functions;

struct functions *functions_new(const struct env *env);
void functions_free(struct functions *functions); /* NULL is fine */

/* "kvm_vcpu_halt"; "[kernel]" where the kernel hides its addresses. */
void functions_of_kernel(struct functions *functions, uint64_t address, char *buf, size_t size);

/*
 * "main_loop_wait", by the symbols of the program or library, or of its separate debug file; else
 * "qemu-system-x86_64+0x1234", or "[unknown]" if no file is there. To be told before a process is
 * looked at again after a while: it may have other maps.
 */
void functions_of_process(struct functions *functions, pid_t pid, uint64_t address, char *buf,
			  size_t size);
void functions_look_again(struct functions *functions);

#endif
