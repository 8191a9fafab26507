/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threads - from the records of vCPU threads to rows of their guests' vCPUs, with names, and to
 * long exits.
 */
#ifndef KVMTOP_PROVIDERS_EXITS_THREADS_H
#define KVMTOP_PROVIDERS_EXITS_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/arch.h"
#include "core/provider.h"
#include "core/facts/field.h"
#include "core/facts/sample.h"
#include "core/guests/guests.h"
#include "providers/exits/shared.h"

/* ---- names: the fields of the provider, as names for its cells and arguments */

struct exits_names;

/*
 * Adds the fields that are known before any exit. exit: the split of the VM exit, NULL: none;
 * parts: the parts of time that are measured, as bits.
 */
struct exits_names *exits_names_new(const struct provider_args *args, const struct split *exit,
				    unsigned int parts);
void exits_names_free(struct exits_names *names);

/* The fields of all exits of a kind, of the CPU, and of a part of the time (or FIELD_NONE). */
const struct exit_fields *exits_names_fields(const struct exits_names *names);

/* Adds the field of a part that was not measured until now. */
void exits_names_add_part(struct exits_names *names, enum time_part part);

/* arch.h's REASON_* of a cell of VM exits; 0 for other cells. */
unsigned int exits_names_flags(const struct exits_names *names, const struct exits_code *code);

/* The field of a cell, and of a part of its time. */
uint32_t exits_names_cell(struct exits_names *names, const struct exits_code *code);
uint32_t exits_names_part(struct exits_names *names, const struct exits_code *code,
			  enum exit_part part);

/*
 * The field of an argument. Arguments without a field of their own share one, the rest: without
 * may_add, all new arguments; else the arguments beyond the limit of names. code: the exit's;
 * NULL: not known.
 */
uint32_t exits_names_argument(struct exits_names *names, const struct exits_argument_key *key,
			      const struct exits_code *code, bool may_add);
uint32_t exits_names_rest(struct exits_names *names, const struct exits_argument_key *key,
			  const struct exits_code *code);

/*
 * ---- record: the counts of threads, read from the BPF program's memory, added, subtracted.
 *
 * Pure, except that another CPU may write the memory meanwhile, and that the reader may wait for
 * it. Times are in ns of CLOCK_MONOTONIC.
 */

_Static_assert(EXITS_BUCKETS == HIST_BUCKETS, "a cell's buckets are copied into struct timing");

/*
 * The program publishes by plain stores: what it wrote before tid or at.begun is to be seen with
 * these, and no time in a cell before its exit is over by at.over. x86 shows stores to other CPUs
 * in their order. Other processors may show them in another order, and a barrier in the program
 * would cost in each exit; but a store is not held back for longer than some 100 ns. So on these
 * the reader waits for a microsecond where an order matters, and then looks whether anything
 * changed.
 */
void exits_record_settle(void);

/* An exit that has not ended: its cell has counted it, without its time. */
struct exits_open {
	uint32_t cell;
	uint64_t since_ns; /* 0: no exit is open */
	uint64_t time_ns;  /* until now */
	uint64_t sum_ns;   /* the same and the time of its cell */
};

/* All records, which are in the BPF program's memory: the first ones, and chunks of EXITS_CHUNK. */
struct exits_records {
	struct exits_thread *first;
	uint32_t nr_first;
	struct exits_thread *more[EXITS_CHUNKS];
};

static inline struct exits_thread *exits_records_at(const struct exits_records *records,
						    uint32_t number)
{
	if (number < records->nr_first)
		return &records->first[number];
	number -= records->nr_first;
	return &records->more[number / EXITS_CHUNK][number % EXITS_CHUNK];
}

/* The counts of one thread, or the sum of several. Cells that are not used are undefined. */
struct exits_record {
	uint64_t used[EXITS_CELLS / 64]; /* a bit for each cell */
	uint64_t whole_ns; /* since the first exit; 0: not timed */
	bool has_nested;    /* an exit was of L2 */
	bool is_held_back;  /* see exits_record_read() */
	uint64_t open_ns[EXITS_CELLS]; /* by cell: how long exits that have not ended last */
	/* For one thread: its open exits by enum exit_kind, and the argument of the VM exit. */
	struct exits_open open[EXITS_REASONS];
	bool has_argument;
	struct exits_argument_key argument;
	struct exit_machine at; /* of a sum only its sums */
	struct exits_cell cells[EXITS_CELLS]; /* without the time of open exits */
	struct exits_parts parts[EXITS_CELLS]; /* of the cells that are used */
};

/* A record without unused cells: with 20 reasons a sixth of the size. */
struct exits_packed;

/* The first used cell, from i on; EXITS_CELLS: none. */
static inline unsigned int exits_record_next(const struct exits_record *record, unsigned int i)
{
	for (; i < EXITS_CELLS; i = (i / 64 + 1) * 64) {
		uint64_t bits = record->used[i / 64] >> i % 64;

		if (bits)
			return i + (unsigned int)__builtin_ctzll(bits);
	}
	return EXITS_CELLS;
}

/*
 * Reads a thread's record as it was at one moment. It has no times before exits_record_time().
 * records: where its further records are.
 *
 * If the vCPU nests, the event after kvm_exit tells whether the exit was of L2. So an exit without
 * such an event yet is held back: it is counted when it has ended.
 */
void exits_record_read(struct exits_record *record, const struct exits_records *records,
		       const volatile struct exits_thread *thread);

/* What is remembered of a thread from sample to sample. Zero-initialised before the first. */
struct exits_before {
	struct exits_open open[EXITS_REASONS];
	uint64_t from_ns; /* the time before is another vCPU's; 0: none is */
};

/*
 * The times up to now. Take the clock after exits_record_read(): no exit in it ended later. off: of
 * user space's part of the open exit; it becomes less of what was known if the thread was away.
 */
void exits_record_time(struct exits_record *record, const volatile struct exits_thread *thread,
		       struct exits_before *before, struct exits_off off, uint64_t now_ns);

/*
 * Adds the time of open exits to their cells. For a thread that goes on with another vCPU: this
 * record is then subtracted from the next vCPU's.
 */
void exits_record_fold(struct exits_record *record);

/*
 * In place of these times, for a thread that ended. It ended inside its last exit: the exit has no
 * time, and the thread's time ends where it began. What stats have of it stays there.
 */
void exits_record_end(struct exits_record *record, const volatile struct exits_thread *thread,
		      uint64_t now_ns);

void exits_record_add(struct exits_record *to, const struct exits_record *from);
void exits_record_add_packed(struct exits_record *to, const struct exits_packed *from);

/* Subtracts an earlier reading; a cell that becomes 0 is unused. */
void exits_record_less(struct exits_record *record, const struct exits_packed *earlier);

/* A copy, for free(); */
struct exits_packed *exits_record_pack(const struct exits_record *record);

void exits_cell_add(struct exits_cell *to, const struct exits_cell *from);

/*
 * Subtracts an earlier reading of the cell. The longest duration of the rest: the longest of all if
 * it is new, else the upper edge of the highest bucket, at most the earlier longest.
 */
void exits_cell_less(struct exits_cell *cell, const struct exits_cell *earlier);

/*
 * ---- vcpus: the counts of all threads of a vCPU, also of ended ones, as rows of a sample.
 *
 * In a sample: begin, then add the counts of each thread and each argument, then emit. Counts that
 * are added as former are kept for all later samples and are not added again. A vCPU with several
 * threads has one row for each field.
 */

struct exits_vcpus;
struct exits_vcpu;

/* What vcpus and threads work with; it outlives both. */
struct exits_threads_config {
	const struct env *env;
	struct guests *guests;
	struct exits_names *names;
	const struct fields *fields;
	const struct exits_code *codes; /* EXITS_CELLS of them */
	const struct exits_records *records;
	uint32_t max_threads;
	bool is_timed;
	bool sees_away; /* it is measured when threads have no CPU */
	uint64_t (*clock)(void); /* CLOCK_MONOTONIC; read beside each record that is timed */
};

struct exits_vcpu_id {
	uint32_t guest; /* GUEST_NONE: not known */
	int32_t index;	/* -1: not known */
};

struct exits_vcpus *exits_vcpus_new(const struct exits_threads_config *config);
void exits_vcpus_free(struct exits_vcpus *vcpus);

void exits_vcpus_begin(struct exits_vcpus *vcpus);

/* Never NULL. A vCPU is kept while its guest exists or while it is held. */
struct exits_vcpu *exits_vcpus_get(struct exits_vcpus *vcpus, struct exits_vcpu_id id);
void exits_vcpu_hold(struct exits_vcpu *vcpu);
void exits_vcpu_drop(struct exits_vcpu *vcpu); /* NULL is fine */

struct exits_vcpu_id exits_vcpu_id(const struct exits_vcpu *vcpu);
void exits_vcpu_set_cpu(struct exits_vcpu *vcpu, uint32_t cpu); /* where its latest exit was */

void exits_vcpu_add(struct exits_vcpu *vcpu, const struct exits_record *record,
		    bool is_former);
/*
 * A vCPU has room for the arguments that are counted now and for as many former ones, and may add a
 * limited number of new names. Arguments beyond these are added to the rest.
 */
bool exits_vcpu_has_room(const struct exits_vcpu *vcpu, uint32_t field);
bool exits_vcpu_may_name(const struct exits_vcpu *vcpu);
/* open_ns: how long its exit has been open, which is not in the cell; of a former one, nothing. */
void exits_vcpu_add_argument(struct exits_vcpu *vcpu, uint32_t field, enum exit_kind kind,
			     const struct exits_cell *cell, bool is_former, uint64_t open_ns);

void exits_vcpus_forget_arguments(struct exits_vcpus *vcpus);

/* Adds the rows of all vCPUs, with these flags. */
void exits_vcpus_emit(struct exits_vcpus *vcpus, struct sample *sample, uint32_t flags);

/* Drops each vCPU that is not held and of a guest that has ended: stats keeps its totals. */
void exits_vcpus_sweep(struct exits_vcpus *vcpus);

/*
 * ---- threads: the vCPU of each record, and the new counts in it.
 *
 * Records are read while other CPUs write them: an exit that ends meanwhile may be missing in one
 * sample and is in the next. The vCPU of a thread may become known late, or change: the counts up
 * to then stay with the old vCPU, as do the counts of a thread that has ended. So nothing is
 * counted twice, and no vCPU's values go back while its guest exists; after a guest has ended, one
 * more sample has its rows.
 */

struct exits_threads;

struct exits_threads *exits_threads_new(const struct exits_threads_config *config);
void exits_threads_free(struct exits_threads *threads);

/*
 * A sample: begin, then take each record in use, then each argument, then end; then release the
 * records of threads that have ended.
 */
void exits_threads_begin(struct exits_threads *threads);

/* Whether the thread has ended, and its counts were kept. */
bool exits_threads_take(struct exits_threads *threads, const volatile struct exits_thread *record);

/*
 * Returns the vCPU that a record's thread runs, and whether the vCPU may have more names of
 * arguments. Call it between begin and end.
 */
void exits_threads_owner(struct exits_threads *threads,
			 const volatile struct exits_thread *record,
			 struct exits_vcpu_id *ret_owner, bool *ret_may_name);

/*
 * The cell was read after all records were taken. is_over: the argument is not counted any more.
 */
void exits_threads_argument(struct exits_threads *threads, const struct exits_argument_key *key,
			    const struct exits_cell *cell, bool is_over);

/* Arguments begin at 0 again, or are not counted any more. */
void exits_threads_forget_arguments(struct exits_threads *threads);

/* Adds the rows of all vCPUs, with these flags. */
void exits_threads_end(struct exits_threads *threads, struct sample *sample, uint32_t flags);

void exits_threads_release(struct exits_threads *threads, uint32_t number);

/* Makes room for this many records. */
void exits_threads_grow(struct exits_threads *threads, uint32_t max_threads);

/* ---- long: makes long exits of a sample from the BPF program's reports */

/* About each cell; zero-initialised: nothing is known. */
struct exits_long_cells {
	bool is_left_out[EXITS_CELLS]; /* a halt, which is not listed */
	uint64_t are_protected[EXITS_CELLS / 64]; /* bits: reasons of protected guests only */
};

/* Fills it in for all cells. has_halts: halts are listed, too. */
void exits_long_look(struct exits_long_cells *cells, const struct exits_names *names,
		     const struct exits_code *codes, bool has_halts);

/* Whether the thread has had an exit that only protected guests have. */
bool exits_long_is_protected(const struct exits_long_cells *cells,
			     const volatile struct exits_thread *record);

struct guest_functions;

/* What a report needs to become a long exit. */
struct exits_long_output {
	const struct exits_long_cells *cells;
	struct exits_threads *threads;
	struct exits_names *names;
	const struct exits_code *codes;
	struct guest_functions *functions; /* get what is to be named; NULL: nothing is */
	uint64_t epoch_ns; /* the time of day when CLOCK_MONOTONIC was 0 */
	struct long_exits *long_exits;
};

/* record: the thread's. hides_pc: the guest is protected. */
void exits_long_add(const struct exits_long_output *output, const struct exits_long *exit,
		    const volatile struct exits_thread *record, bool hides_pc);

/* Which long exits are listed. Zero-initialised: none. */
struct exits_long_list {
	uint64_t longer_ns; /* that take longer; 0: none */
	bool has_halts;	    /* halts, too */
	uint64_t since_ns;  /* all since then; CLOCK_REALTIME */
	struct exits_long_cells cells;
	struct long_exits waiting; /* for the names of guests' functions */
};

struct exits_bpf;

/* Sets them in the program. Each sample does it again, as there may be new reasons. */
void exits_long_set(struct exits_long_list *list, struct exits_bpf *bpf,
		    const struct exits_names *names);

/* Adds what was reported since the last call to the sample. 0 or -errno. */
int exits_long_collect(struct exits_long_list *list, struct exits_bpf *bpf,
		       struct exits_threads *threads, struct exits_names *names,
		       struct guest_functions *functions, struct sample *sample);

/* What waits for names is dropped. */
void exits_long_forget(struct exits_long_list *list);

#endif
