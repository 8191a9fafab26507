/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacks - the code that the threads of vCPUs are in: sampled, named, and added to a sample.
 */
#ifndef KVMTOP_PROVIDERS_EXITS_STACKS_H
#define KVMTOP_PROVIDERS_EXITS_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/error.h"
#include "host/env.h"
#include "host/functions.h"
#include "host/kallsyms.h"
#include "core/facts/stacks.h"
#include "core/guests/guests.h"
#include "providers/exits/program.h"
#include "providers/exits/threads.h"

struct exits_stacks;

/* What it works with; all of it outlives it. */
struct exits_stacks_config {
	const struct env *env;
	struct guests *guests;
	struct guest_functions *functions; /* NULL: the guest's code is not counted */
	struct exits_names *names;
	struct exits_bpf *bpf; /* loaded for stacks, and attached */
	struct exits_threads *threads;
	const struct fields *fields;
	struct stacks *stacks; /* the dictionary */
};

/* Whether the CPUs have a counter of cycles that takes samples of all code. */
bool exits_stacks_have_cycles(const struct env *env);

/* Begins to sample each CPU that is online. 0, or -errno with error. */
int exits_stacks_new(const struct exits_stacks_config *config, struct exits_stacks **ret_stacks,
		     struct error *error);
void exits_stacks_free(struct exits_stacks *stacks); /* NULL is fine */

/*
 * Adds what was found since the last call, between exits_threads_begin() and the release of
 * records. 0 or -errno, and where the guest's code cannot be read an error.
 */
int exits_stacks_collect(struct exits_stacks *stacks, struct stack_sums *sums, struct error *error);

/* The record of a thread that has ended is about to be another one's. */
void exits_stacks_release(struct exits_stacks *stacks, uint32_t number);

/* ---- paths.c: the path of functions of a stack */

struct exits_paths;

struct exits_paths *exits_paths_new(const struct exits_stacks_config *config);
void exits_paths_free(struct exits_paths *paths); /* NULL is fine */

/* Before the stacks of a reading: processes may have other maps than before. */
void exits_paths_begin(struct exits_paths *paths);

/*
 * The node of the stack's path in the dictionary. guest_function: the guest's, which made the exit,
 * in the dictionary; 0: not known.
 */
uint32_t exits_paths_node(struct exits_paths *paths, const struct exits_stack_key *of,
			  uint32_t guest_function);

/* As functions_report(). */
void exits_paths_report(const struct exits_paths *paths, struct error *error);

/*
 * After a reading: the kernel keeps stacks until there may be too many; then all are forgotten, and
 * kept anew, except for these nr, which are sorted.
 */
bool exits_paths_are_many(const struct exits_paths *paths);
void exits_paths_forget(struct exits_paths *paths, uint64_t *stay, size_t nr);

/*
 * ---- which code of guests makes their exits: counted by the BPF program, named, and added to a
 * sample as paths of the tree of calls: an exit, and the guest's function below it
 */

/* ---- guest_functions.c: the names of guests' functions */

struct guest_functions_config {
	const struct env *env;
	const struct guests *guests;
	const struct guest_kallsyms *files; /* outlive it */
	size_t nr_files;
	bool reads_memory; /* of guests without a file */
};

struct guest_functions;

struct guest_functions *guest_functions_new(const struct guest_functions_config *config);
void guest_functions_free(struct guest_functions *functions); /* NULL is fine */

/*
 * For each sample: says of which guests there will be addresses to be named, with the thread of a
 * vCPU (what is no kernel's has no name); gets names, which takes 30 ms at most; then names
 * addresses of guests that are not being read any more: "do_idle", or "do_idle+0x12". False: there
 * is no name.
 */
void guest_functions_want(struct guest_functions *functions, uint32_t guest, pid_t tid,
			  uint64_t address);
void guest_functions_prepare(struct guest_functions *functions);
bool guest_functions_are_being_read(const struct guest_functions *functions, uint32_t guest);
bool guest_functions_name(const struct guest_functions *functions, uint32_t guest,
			  uint64_t address, bool has_offset, char *buf, size_t size);

/* Whether no guest is being read: a sample would have all that was counted. */
bool guest_functions_are_ready(const struct guest_functions *functions);

/* A notice in error, once, if a guest's memory gave no names. */
void guest_functions_report(struct guest_functions *functions, struct error *error);

/* ---- guest_code.c */

struct exits_guest_code;

struct exits_guest_code *exits_guest_code_new(const struct exits_stacks_config *config);
void exits_guest_code_free(struct exits_guest_code *code); /* NULL is fine */

/* Says that there will be an address to be named, of the guest that a record is of. */
void exits_guest_code_want(struct exits_guest_code *code, uint32_t number, uint64_t pc);

/*
 * Adds to the sums what is new in records, and in the program's map: these are all its entries.
 * Gets names for it, and for what was said to be wanted since the last call.
 */
void exits_guest_code_take(struct exits_guest_code *code, const struct exits_pc_key *keys,
			   const uint64_t *counts, uint32_t nr, struct stack_sums *to);

/* Reads the entries as they are now, and adds them. 0 or -errno with error. */
int exits_guest_code_collect(struct exits_guest_code *code, struct stack_sums *sums,
			     struct error *error);

/* After that: the function in the dictionary, by its name. False: names are being read. */
bool exits_guest_code_function(struct exits_guest_code *code, uint32_t number, uint64_t pc,
			       uint32_t *ret_function);

void exits_guest_code_release(struct exits_guest_code *code, uint32_t number);

#endif
