/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shared - the memory that the BPF program of the provider "exits" shares with its reader.
 *
 * A thread that runs a vCPU has a record with the counts of its reasons; of many reasons it has
 * more records. Only that thread writes them, so there are no locks; the reader maps them and can
 * deal with an exit that is half written (see record.c). The reader itself writes what begins an
 * epoch of arguments, records of vCPUs that slept before there was a program (see asleep.c), and
 * records of threads that have ended.
 */
#ifndef KVMTOP_PROVIDERS_EXITS_SHARED_H
#define KVMTOP_PROVIDERS_EXITS_SHARED_H

#include <linux/types.h>

#include "arch/exit_kind.h"
#include "arch/exit_machine.h"

#define EXITS_BUCKETS 26  /* of struct timing */
/* There are EXITS_CELLS different reasons on one host. */
#define EXITS_OTHER 0	  /* the cell of all reasons without a cell of their own */
#define EXITS_OWN 16	  /* reasons in a record of 3 KiB; most threads have fewer */
#define EXITS_STEP 32	  /* from a record's first slot to the next one's; a power of two, too */
#define EXITS_FURTHER 8	  /* records of a thread: room for all cells; a power of two */
#define EXITS_DENSE 0x1000 /* codes below this find their cell without a hash table */
#define EXITS_NO_CELL 0xff
#define EXITS_HALTS 8 /* reasons of such exits, at most */
#define EXITS_ARGUMENTS 64 /* different arguments of a thread in an epoch; the rest share one */
#define EXITS_UNCOUNTED 2
#define EXITS_QUEUE_SETS 16 /* a power of two; of writes that tell a device's queue */
#define EXITS_QUEUE_WAYS 4  /* a set is a cache line */
#define EXITS_LONG_BYTES (256 * 1024) /* the ring of long exits: some 2,500 of them */
#define EXITS_CHUNK 256	  /* records that are added at once */
#define EXITS_CHUNKS 32	  /* how many times, at most */

#define EXITS_CPUS 2048 /* on larger hosts two CPUs share a guess and counts */

/* Events that the programs see, whoever makes them: also where a thread has no record. */
enum exits_event { EXITS_EVENT_EXIT, EXITS_EVENT_ENTRY, EXITS_EVENT_USERSPACE, EXITS_EVENTS };

/* What each exit on a CPU touches, in a cache line of its own. */
struct exits_cpu {
	__u32 guess; /* the record of the thread that was seen there last */
	__u64 events[EXITS_EVENTS];
} __attribute__((aligned(64)));

/* The names are struct timing's. */
struct exits_cell {
	__u64 count, time_ns, max_ns;
	__u32 hist[EXITS_BUCKETS];
};

/* The counts of a thread's exits for one reason. */
struct exits_reason {
	struct exits_cell cell;
	struct exits_parts parts; /* of the cell's time */
};

/* What a cell counts. */
struct exits_code {
	__u64 code; /* the field's value; with a type field, see struct split */
	__u32 kind; /* enum exit_kind: EXITS_VMEXIT or EXITS_USERSPACE */
	__u16 is_used;
	__u16 is_nested; /* exits of a guest that the guest runs (L2) */
};

/* The key of the map from codes to cells. */
struct exits_code_key {
	__u64 code;
	__u64 kind; /* with EXITS_NESTED: the twin, a cell of the same code for exits of L2 */
};

#define EXITS_NESTED 0x100

/* The argument of an exit. */
struct exits_argument_key {
	__u64 a;      /* the port, the address ... */
	__u32 b;      /* its size, or the like */
	__u32 thread; /* number of the record */
	__u32 c;      /* read or write, or the like */
	__u8 kind;    /* enum exit_kind: an argument */
	__u8 cell;    /* of the exit; EXITS_NO_CELL: none was open */
	__u8 epoch;   /* of the thread */
	__u8 is_rest; /* all arguments beyond EXITS_ARGUMENTS: a, b and c are 0 */
};

/* ---- program counters: where guests were when they left, see pc.bpf.h */

#define EXITS_PCS 16384 /* in the map, of all threads */
#define EXITS_PC_SETS 32 /* of two slots each, in a thread's record; a power of two */
#define EXITS_PC_USER 1 /* below the half of the addresses that kernels have */
#define EXITS_PC_NESTED 2 /* in a guest of the guest */

struct exits_pc_key {
	__u64 pc;     /* 0: not known */
	__u32 record; /* its number */
	__u32 cell;   /* of the exit */
};

/* A busy one, of the thread's: what the map counts for the same key is added to it. */
struct exits_pc_slot {
	__u64 pc;
	__u64 count; /* 0: the slot is free, or about to change its key */
	__u32 cell, unused;
};

/* A write that tells a device which of its queues has work, see queues.bpf.h. */
struct exits_queue {
	__u64 write; /* 0: none */
	__u32 number; /* of the queue, where it does not depend on the value; */
	__u32 is_value; /* or the value is the number */
};

/* What few threads need, in a record of its own. */
struct exits_extra {
	struct exits_queue queues[EXITS_QUEUE_SETS][EXITS_QUEUE_WAYS]; /* by hash of the write */
	struct exits_pc_slot pcs[2 * EXITS_PC_SETS]; /* while the guest's code is counted */
};

struct exits_thread {
	__u64 pid_tgid; /* as bpf_get_current_pid_tgid() returns it */
	/*
	 * The address of the vCPU that the thread runs, from the first entry or exit of a KVM_RUN
	 * to its end: only this thread can run the vCPU meanwhile. 0: not known.
	 */
	__u64 running;
	__u64 ended_ns; /* when the latest exit that is over ended */
	__u32 ended_cell; /* its cell */
	__u32 has_argument; /* EXITS_UNCOUNTED: it is counted when the exit ends */
	struct exit_machine at; /* in ns */
	__u32 cpu; /* where its latest exit was */
	__u32 number; /* of this record */
	struct exits_argument_key argument; /* of the open exit */
	/* How long it had waited for CPUs when it lost its CPU, by the scheduler's sum. */
	__u64 delay_before;
	__u32 nr_arguments; /* different arguments in this epoch */
	__u32 epoch; /* the reader begins a new one when a thread has too many arguments */
	__u32 next_slot; /* for the next reason that counts anything; 0: none has */
	/* The scheduler's sums when user space got the exit, see note_userspace(). */
	__u64 user_delay, user_ran, user_off, user_switches;
	/*
	 * The open exit, while long exits are reported. pc: as its begin or an exit to user space
	 * has it (also while program counters are counted); user_ns: before at.user_since;
	 * waited_before_ns: at.sums.waited when it began.
	 */
	__u64 pc, user_ns, polled_ns, waited_before_ns;
	/* The vCPU of the latest halt, and KVM's own sum of what it polled in its halts. */
	__u64 polling_vcpu, poll_sum_ns;
	__u64 ended_pc; /* of the latest exit that is over, while program counters are counted */
	__u64 has_queues; /* by hash: a write with this bit may be among the extra's queues */
	__u64 first_ns; /* when the record began */
	__u32 tid, tgid; /* tid 0: no thread's, or not its first record */
	__u32 vcpu; /* the event's vcpu_id; EXITS_NO_VCPU: it has none; or EXITS_NOT_VCPU */
	__u32 is_further; /* a further record of a thread: it has counts, or an extra, alone */
	char comm[16]; /* its name when it was first seen */
	__u32 further[EXITS_FURTHER]; /* its further records: their numbers, plus 1; the first: 0 */
	__u32 extra; /* the same, of the one that has an extra */
	/* By cell: its slot, plus 1; 0: it has none. further[SLOT / STEP], own[SLOT % STEP]. */
	__u8 slots[EXITS_CELLS];
	union {
		struct exits_reason own[EXITS_OWN];
		struct exits_extra has;
	};
};

_Static_assert(EXITS_OWN <= EXITS_STEP && EXITS_OWN * EXITS_FURTHER >= EXITS_CELLS &&
		       EXITS_STEP * EXITS_FURTHER <= 256,
	       "a slot of a byte for each cell");
_Static_assert(sizeof(struct exits_extra) <= sizeof(struct exits_reason) * EXITS_OWN,
	       "an extra makes no record larger");

/* An exit that took longer than the threshold, in the ring of long exits. */
struct exits_long {
	__u64 end_ns, took_ns; /* CLOCK_MONOTONIC; without waited_ns */
	/* Parts of took_ns; 0: none. */
	__u64 user_ns; /* in user space */
	__u64 polled_ns; /* KVM polled */
	__u64 waited_ns; /* its thread waited for a CPU; EXITS_UNKNOWN: took_ns has it */
	__u64 pc;
	__u32 thread; /* number of the record */
	__u32 cpu;    /* where it began */
	__u32 cell;
	__u32 has_argument;
	struct exits_argument_key argument;
};

/* ---- stacks: which code a vCPU's thread is in, see stacks.bpf.h */

#define EXITS_FRAMES 64 /* of a stack */
#define EXITS_STACKS 8192
#define EXITS_STACK_SUMS 16384 /* between two samples */
#define EXITS_ABSENCES 8192 /* threads */
#define EXITS_NO_STACK 2 /* there was no room for it; a stack's hash is odd */

enum exits_stack_state {
	EXITS_STACK_ON,    /* the thread was on a CPU */
	EXITS_STACK_LATE,  /* the same, in an exit that ended before the sample could be taken */
	EXITS_STACK_OFF,   /* it was not */
	EXITS_STACK_GUEST, /* the guest ran */
};

struct exits_stack_key {
	__u64 kernel, user; /* hashes of stacks; 0: none */
	__u64 pc; /* of the exit, as in exits_pc_key, while they are counted */
	__u32 tid, tgid;
	__u32 record; /* its number, plus 1; 0: none */
	__u8 cell;    /* of the open exit, or of the one that user space has; or EXITS_NO_CELL */
	__u8 state;   /* enum exits_stack_state */
	__u16 unused;
	struct exits_argument_key argument; /* of the open exit; kind 0: not known */
};

struct exits_stack_sum {
	__u64 ns, count;
};

/* A vCPU's thread without a CPU, by its tid. */
struct exits_absence {
	__u64 since; /* 0: the thread has a CPU */
	struct exits_stack_key key;
};

#define EXITS_NOT_VCPU 0xfffffffeu /* it raised an interrupt, and may be any thread */
#define EXITS_NO_VCPU 0xffffffffu
#define EXITS_UNKNOWN (~0ull)

/*
 * Whether the thread runs a vCPU, or has run one. A thread that only raises interrupts has a record
 * too; and the thread of a vCPU may raise one before its first exit.
 */
static inline _Bool exits_is_of_vcpu(const volatile struct exits_thread *thread)
{
	return thread->vcpu != EXITS_NOT_VCPU || thread->next_slot;
}

#endif
