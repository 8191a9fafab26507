/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * program - the BPF programs of the provider "exits", and the memory they share with the provider.
 *
 * Functions that can fail return 0 or more, or -errno with error.
 */
#ifndef KVMTOP_PROVIDERS_EXITS_PROGRAM_H
#define KVMTOP_PROVIDERS_EXITS_PROGRAM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "arch/arch.h"
#include "lib/error.h"
#include "host/env.h"
#include "providers/bpf/bpf.h"
#include "providers/exits/shared.h"
#include "providers/exits/threads.h"

struct exits_program;
struct exits_program__bss;
struct programs;

struct exits_bpf_config {
	const struct env *env;
	const struct split *exit; /* NULL: only exits to user space */
	uint32_t max_threads;
	bool has_arguments;
	bool has_long; /* reports long exits */
	bool has_pcs;  /* counts exits by the guest's program counter */
	uint32_t stack_hz; /* samples of stacks a second; 0: none */
	bool has_cycles;   /* they are taken by a counter of cycles, not by a clock */
};

/* Takes a report of a long exit. */
typedef void (*exits_long_fn)(void *arg, const struct exits_long *exit);

/* A program that is attached while guests do what it is for. */
struct exits_watch {
	struct bpf_link *link; /* NULL: it is not attached */
	unsigned int idle; /* samples since it was needed last */
};

/* The programs and their memory. The first part is for all to read. */
struct exits_bpf {
	struct exits_bpf_config config;
	bool is_timed; /* times of exits are measured; else there are counts only */
	bool sees_away; /* and when threads have no CPU; known once the programs are attached */
	const struct exits_code *codes; /* EXITS_CELLS; other CPUs write them all the time */
	uint32_t max_threads; /* records that there are now */

	struct exits_program *program;
	struct exits_program *arguments, *stacks; /* more programs; NULL: they are not loaded */
	struct exits_program__bss *bss; /* the variables of all of them */

	/* load.c's */
	struct bpf_link *away_links[2]; /* NULL: not attached */
	bool is_away_direct;
	uint64_t events_missed[EXITS_EVENTS]; /* by programs that others have replaced */
	pthread_t ending; /* programs that have been replaced, or are not needed any more */
	bool is_ending;

	/* program.c's */
	struct exits_records records; /* the maps' own memory */
	uint32_t nr_more;
	int arguments_map; /* with max_arguments entries; -1: they are not counted */
	uint32_t max_arguments;
	struct exits_argument_key *keys; /* read by exits_bpf_arguments() */
	struct exits_cell *cells;
	uint32_t nr_keys;
	struct ring_buffer *ring; /* of long exits; NULL: they are not reported */
	uint64_t missed; /* by the kernel, before exits were counted */
	struct exits_watch nested; /* on_nested_entry */
	exits_long_fn take; /* of exits_bpf_long() */
	void *take_arg;
};

/* Loads the program, with room for max_threads at first. */
int exits_bpf_open(const struct exits_bpf_config *config, struct exits_bpf **ret_bpf,
		   struct error *error);

/* Makes room for EXITS_CHUNK more threads; may wait for the kernel, some 40 ms. */
int exits_bpf_add_threads(struct exits_bpf *bpf, struct error *error);

/* Begins counting. */
int exits_bpf_attach(struct exits_bpf *bpf, struct error *error);

/*
 * Counts what the config wants from now on, but max_threads stays as it is. What is counted already
 * goes on: all counts stay. Arguments, stacks and program counters begin at 0 where there were
 * none. When exits begin or end to be reported, or to be counted by program counter, exits of a
 * moment may be counted twice: some 0.1 ms, and 40 ms where programs are attached by perf events.
 */
int exits_bpf_change(struct exits_bpf *bpf, const struct exits_bpf_config *config,
		     struct error *error);

/* Detaches the programs in the background, which takes the kernel a while. NULL is fine. */
void exits_bpf_close(struct exits_bpf *bpf);

/*
 * To be called for each sample. Returns whether any guest has run a guest of its own (L2) since the
 * last call. While one does, the time in L2 is measured, at a cost in each entry.
 */
bool exits_bpf_look_for_nested(struct exits_bpf *bpf);

/* Other CPUs write it all the time. i < max_threads. */
const volatile struct exits_thread *exits_bpf_thread(const struct exits_bpf *bpf, uint32_t i);

/* The thread of a vCPU that is asleep and idle, and has made no exit yet. */
struct exits_sleeper {
	uint32_t tgid, tid, vcpu;
	uint64_t since_ns; /* from when on its sleep counts */
	uint64_t waited_ns; /* for CPUs, by the scheduler */
};

bool exits_bpf_has_record(const struct exits_bpf *bpf, uint32_t tid);

/* Makes its record. False: it has one now, or there is no room. */
bool exits_bpf_add_sleeper(struct exits_bpf *bpf, const struct exits_sleeper *sleeper,
			   uint32_t *ret_number);

/* It had woken up before it had the record, of this number. */
void exits_bpf_wake(struct exits_bpf *bpf, const struct exits_sleeper *sleeper, uint32_t number);

struct exits_bpf_lost {
	uint64_t exits;	    /* by threads, or of reasons, for which there was no record */
	uint64_t arguments; /* the map had no room */
	uint64_t long_exits; /* the ring had no room */
	uint64_t missed;     /* exits or arguments for which the kernel ran no program */
};
struct exits_bpf_lost exits_bpf_lost(const struct exits_bpf *bpf); /* since it was attached */

/*
 * With has_long: reports exits that take longer than this from now on. is_left_out: for each of
 * EXITS_CELLS cells, whether its exits are not reported.
 */
void exits_bpf_set_long(struct exits_bpf *bpf, uint64_t longer_ns, const bool *is_left_out);

/* Calls take for each report since the last call. 0 or -errno. */
int exits_bpf_long(struct exits_bpf *bpf, exits_long_fn take, void *arg);

/*
 * All arguments with their counts, in one or a few system calls; the arrays are valid until the
 * next call. Returns how many there are.
 */
long exits_bpf_arguments(struct exits_bpf *bpf, const struct exits_argument_key **ret_keys,
			 const struct exits_cell **ret_cells, struct error *error);

/* Whether the argument's epoch is over: exits_bpf_end_sample() drops the argument. */
bool exits_bpf_is_over(const struct exits_bpf *bpf, const struct exits_argument_key *key);

/*
 * Frees the records of these threads, which must have ended before the last call of
 * exits_bpf_arguments(). A thread that has too many arguments gets a new epoch.
 */
void exits_bpf_end_sample(struct exits_bpf *bpf, const uint32_t *numbers, uint32_t nr);

/* ---- asleep.c: makes records of the vCPUs that are asleep. After the programs are attached. */
struct guests;
void exits_asleep_find(struct exits_bpf *bpf, const struct guests *guests);

/*
 * ---- load.c: chooses, loads and attaches the programs.
 */

/* 0 or -errno. */
int exits_load(struct exits_bpf *bpf);

/* 0 or -errno; what was attached stays attached until the release. */
int exits_attach(struct exits_bpf *bpf);

/* 0 or -errno. Changes from the config before to bpf->config. */
int exits_change(struct exits_bpf *bpf, const struct exits_bpf_config *before);
/* Waits until programs that an earlier change ended are detached. */
void exits_wait_for_end(struct exits_bpf *bpf);

/* How many exits and arguments the kernel has run no program for, since loading. */
uint64_t exits_missed(const struct exits_bpf *bpf);

/*
 * How often a trace event came since the programs are attached, on all CPUs. False: no program
 * counts it.
 */
bool exits_event_count(const struct exits_bpf *bpf, const char *event, uint64_t *ret_count);

/* Adds the ones that run in exits. */
void exits_programs(const struct exits_bpf *bpf, struct programs *programs);

/* Also after a failure. May wait for the kernel's RCU, some 40 ms. */
void exits_unload(struct exits_bpf *bpf);

#endif
