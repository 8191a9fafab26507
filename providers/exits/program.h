/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * program - the BPF programs of the provider "exits", and the memory they share with the provider.
 *
 * Functions that can fail return 0 or more, or -errno with error.
 */
#ifndef KVMTOP_PROVIDERS_EXITS_PROGRAM_H
#define KVMTOP_PROVIDERS_EXITS_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/arch.h"
#include "lib/error.h"
#include "host/env.h"
#include "providers/bpf/bpf.h"
#include "providers/exits/shared.h"

/*
 * ---- raw.c: the events that the programs are for, and where a program reads the reason of an exit
 * or the fields of another event: in the event's record or, by the running kernel's BTF, without
 * it, in a program on the raw event.
 *
 * A trace event copies the fields of its record from arguments or structures. struct raw_exit says
 * from where, for the kernels that are known. The BTF says whether the running kernel has the same
 * members, and at which offsets. If anything is not as expected, the record is used.
 */

#define EXITS_FIELDS 3

struct exits_event {
	const char *system, *event;
	struct bpf_field fields[EXITS_FIELDS + 1]; /* the last one ends the list */
};

/* The event of a kind other than EXITS_VMEXIT; false: this kernel has none. */
bool exits_event_of(const struct env *env, enum exit_kind kind, struct exits_event *ret_event);

/* The fields of an event, if all are among its arguments. */
struct exits_raw_event {
	bool is_raw;
	int arguments[EXITS_FIELDS]; /* their numbers, from 0; -1: the field is not wanted */
};

struct exits_raw {
	enum exits_way way; /* the best way to the reason */
	enum exits_way polls; /* the best way to KVM's polled time; EXITS_BY_RECORD: by events */
	/* Numbers of the event's arguments, from 0; -1: there is no argument of that name. */
	int reason, type, vcpu, isa, pc;
	int entry_vcpu; /* the vCPU in the event that ends the exit */
	bool has_pc; /* the program counter is found without the record, too */
	uint32_t cast; /* the type of bpf_rdonly_cast() in vmlinux; 0: there is none */
	uint32_t run_delay; /* offset in the task: its wait for CPUs; 0: there is none */
	int numbers[RAW_END - RAW_FIRST]; /* by enum exits_raw_number */
	struct exits_raw_event events[EXITS_KINDS]; /* without EXITS_VMEXIT */
};

/* BTF of the kernel and of two modules, which are NULL where they are built in. */
struct exits_btf {
	const struct btf *vmlinux, *kvm, *vendor;
};

/*
 * Reads the running kernel's BTF. split: NULL if there is no exit event. way is EXITS_BY_RECORD,
 * with error, if the BTF does not tell enough.
 */
void exits_raw_find(const struct env *env, const struct split *split, struct exits_raw *ret_raw,
		    struct error *error);

/*
 * The same for any BTF. bytes: the size of the field in the event's record. 0, or -ENOENT with
 * error: something is missing or not as expected.
 */
int exits_raw_look(const struct exits_btf *btf, const struct split *split, int bytes,
		   struct exits_raw *ret_raw, struct error *error);

/* The offset in a task of its wait for CPUs, in ns; 0: there is none, or it is not known. */
uint32_t exits_raw_find_run_delay(const struct btf *vmlinux);

/*
 * Finds the fields of an event among its arguments. A field and an argument of the same name have
 * the same value: KVM's trace headers copy such arguments as they are.
 */
void exits_raw_look_at_event(const struct btf *kvm, const struct exits_event *event,
			     struct exits_raw_event *ret_event);

/* Whether any of the events is raw. */
bool exits_raw_has_events(const struct exits_raw *raw);

/* Put the numbers into programs that are not loaded yet: on the exit, on the entry. 0 or -errno. */
int exits_raw_set_exit(const struct exits_raw *raw, struct bpf_program *program);
int exits_raw_set_entry(const struct exits_raw *raw, struct bpf_program *program);

/* The same for the program of a raw event, which was compiled for the trace event. */
int exits_raw_set_event(const struct exits_raw *raw, enum exit_kind kind,
			const struct exits_event *event, struct bpf_program *program);

/* ---- program.c */

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

/* Takes a report of a long exit. */
typedef void (*exits_long_fn)(void *arg, const struct exits_long *exit);

/* A program that is attached while guests do what it is for. */
struct exits_watch {
	int fd; /* -1: it is not attached */
	unsigned int idle; /* samples since it was needed last */
};

/* The programs and their memory. The first part is for all to read. */
struct exits_bpf {
	struct exits_bpf_config config;
	/*
	 * Where the programs read: as in config.raw, or in an older way that the kernel accepts.
	 * raw.way: where the reason of an exit is found; with long exits their program counter is
	 * found there, too. raw.polls: where the time that halts polled is found. raw.run_delay: 0:
	 * reports of long exits do not say how long their threads waited for a CPU.
	 */
	struct exits_raw raw;
	bool is_timed; /* times of exits are measured; else there are counts only */
	const struct exits_code *codes; /* EXITS_CELLS; other CPUs write them all the time */
	uint32_t max_threads; /* records that there are now */

	/* load.c's */
	struct exits_program *program;
	struct bpf_program *on_exit, *on_entry; /* the loaded ones of several programs */
	bool has_task_storage;
	int hooks[HOOKS_MAX]; /* descriptors of attached programs */
	size_t nr_hooks;

	/* program.c's */
	struct exits_thread *threads; /* the map's own memory */
	struct exits_thread *more[EXITS_CHUNKS]; /* the same, of more_threads */
	uint32_t nr_more;
	uint32_t nr_late; /* entries of late_threads that were taken */
	uint32_t max_arguments; /* entries of the map */
	struct exits_argument_key *keys; /* read by exits_bpf_arguments() */
	struct exits_cell *cells;
	uint32_t nr_keys;
	struct ring_buffer *ring; /* of long exits; NULL: they are not reported */
	uint64_t missed; /* by the kernel, before exits were counted */
	struct exits_watch nested; /* on_nested_entry */
	struct exits_watch runs;   /* on_run */
	uint32_t nr_watches; /* how often on_run was attached */
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

/* Detaches the programs in the background, which takes the kernel a while. NULL is fine. */
void exits_bpf_close(struct exits_bpf *bpf);

/*
 * To be called for each sample. Returns whether any guest has run a guest of its own (L2) since the
 * last call. While one does, the time in L2 is measured, at a cost in each entry.
 */
bool exits_bpf_look_for_nested(struct exits_bpf *bpf);

/*
 * The same for halts in which KVM_RUN failed: while there are any, it is measured how long user
 * space has the vCPU in them, at a cost in each KVM_RUN. The first of them are halts to their end.
 */
void exits_bpf_look_for_interrupts(struct exits_bpf *bpf);

/* Other CPUs write it all the time. i < max_threads. */
const volatile struct exits_thread *exits_bpf_thread(const struct exits_bpf *bpf, uint32_t i);

struct exits_bpf_lost {
	uint64_t exits;	    /* by threads without a record, beyond EXITS_LATE of these */
	uint64_t arguments; /* the map had no room */
	uint64_t long_exits; /* the ring had no room */
	uint64_t missed;     /* exits or arguments for which the kernel ran no program */
};
struct exits_bpf_lost exits_bpf_lost(const struct exits_bpf *bpf); /* since it was attached */

/* How many threads have found no free record since the latest exits_bpf_take_late(). */
uint32_t exits_bpf_nr_late(const struct exits_bpf *bpf);

/*
 * Calls take for each of these threads, with a record that has its counts and no times. Make room
 * for the threads before: each gets a record of its own with its next exit. 0 or -errno.
 */
typedef void (*exits_late_fn)(void *arg, const struct exits_thread *record);
int exits_bpf_take_late(struct exits_bpf *bpf, exits_late_fn take, void *arg);

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

/*
 * ---- load.c: chooses, loads and attaches the programs.
 */

/* Loads the programs; tries older ways until the kernel accepts one. 0 or -errno. */
int exits_load(struct exits_bpf *bpf);

/* Attaches the programs. 0 or -errno; what was attached stays attached until the release. */
int exits_attach(struct exits_bpf *bpf);

/* How many exits and arguments the kernel ran no program for, since loading. */
uint64_t exits_missed(const struct exits_bpf *bpf);

/* Also after a failure. Waits for the kernel's RCU, some 40 ms a hook. */
void exits_unload(struct exits_bpf *bpf);

#endif
