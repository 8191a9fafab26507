/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacks - the code that the threads of vCPUs were in, as paths in a tree of calls.
 *
 * A node is a function called from its parent's. The nodes below the root are exits: their
 * functions have the names of exit reasons; the nodes below these may be the guest's function, and
 * the exit's argument. So a node and a vCPU say which exit it was, and the whole stack. As fields,
 * functions and nodes are never removed, and their numbers stay valid. Both are limited, and a part
 * is for exits alone. Beyond the limit a function is [unknown] and a stack ends where it would need
 * a new node. A process may add an eighth of what was free when it began: its code cannot take the
 * names of others.
 */
#ifndef KVMTOP_CORE_FACTS_STACKS_H
#define KVMTOP_CORE_FACTS_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/facts/key.h"

#define STACKS_FUNCTIONS 65536
#define STACKS_NODES 131072
#define STACKS_EXITS 1024 /* of each, for exits */
#define STACKS_SUMS 262144 /* stacks of vCPUs, each with its time */

#define STACKS_HZ 99 /* samples a second, unless the user gives a number */
#define STACKS_HZ_MAX 10000

#define STACK_ROOT 0 /* the node above all others */

enum function_side {
	FUNCTION_KERNEL,
	FUNCTION_VMM,
	FUNCTION_GUEST, /* in the guest, but not known where */
	FUNCTION_GUEST_KERNEL,
	FUNCTION_GUEST_USER,
	FUNCTION_OFF,
	FUNCTION_EXIT,
	FUNCTION_SIDES
};

struct stack_function {
	const char *name;
	enum function_side side;
};

struct stack_node {
	uint32_t parent, function;
	uint32_t reason; /* the field of the exit; FIELD_NONE: none was open, or it is not known */
	uint32_t argument; /* what it was for, a field; FIELD_NONE: not known */
	bool is_idle;	 /* the reason means that the vCPU had nothing to do */
};

/* The dictionary of functions and nodes. */
struct stacks;

struct stacks *stacks_new(void);
void stacks_free(struct stacks *stacks); /* NULL is fine */

/* From now on new functions and calls are of this process' share; 0: of no share. */
void stacks_charge(struct stacks *stacks, uint32_t process);
/* Whether a function or a call found no room. */
bool stacks_is_full(const struct stacks *stacks);

/* The number of a function; a new one is added. The name is copied. */
uint32_t stacks_function(struct stacks *stacks, const char *name, enum function_side side);

/*
 * The node of an exit, the node of its argument, and the node of a function that a node calls; new
 * ones are added.
 */
uint32_t stacks_exit(struct stacks *stacks, const char *label, uint32_t reason, bool is_idle);
uint32_t stacks_no_exit(struct stacks *stacks); /* the same, while no exit is open */
uint32_t stacks_argument(struct stacks *stacks, uint32_t node, const char *label,
			 uint32_t argument);
uint32_t stacks_call(struct stacks *stacks, uint32_t node, uint32_t function);

/* The field that a node has in a history, to be set by stacks_kept.c; FIELD_NONE: none yet. */
uint32_t *stacks_field(struct stacks *stacks, uint32_t node);

const struct stack_function *stacks_function_at(const struct stacks *stacks, uint32_t function);
const struct stack_node *stacks_node_at(const struct stacks *stacks, uint32_t node);
uint32_t stacks_count_nodes(const struct stacks *stacks); /* of a parent first, then its calls */
uint32_t stacks_count_functions(const struct stacks *stacks);

/* How long a vCPU was in a stack. */
struct stack_item {
	struct key key; /* guest, vCPU, and the node as the field */
	int64_t ns;	/* of a sample: since the one before, which may have had too much */
	uint64_t count; /* samples, and absences that ended */
	uint64_t exits; /* that the guest's function made, of its node */
};

/* How many stacks of a guest have room. */
struct stack_share {
	uint32_t guest, left;
};

/* Zero-initialised is empty. */
struct stack_sums {
	struct stack_item *list;
	size_t nr, room;
	struct stack_share *shares;
	size_t nr_shares, room_shares;
	struct key_index index;
	const char *clock; /* what takes the samples; NULL: none are taken */
	/*
	 * The sample has the time in which threads had no CPU, which was measured. So it has all
	 * the time of exits, see stacks_fit().
	 */
	bool has_off;
	char none[256];	   /* why samples, or the guest's code, are missing; "": nothing is */
	uint64_t lost_ns;  /* found no room */
	uint64_t lost;	   /* stacks that found none: their time is there without them */
	uint64_t lost_exits; /* found none */
};

/* A file's times may be anything; their sum stays in the range. */
static inline void stack_ns_add(int64_t *sum, int64_t ns)
{
	if (__builtin_add_overflow(*sum, ns, sum))
		*sum = ns < 0 ? -INT64_MAX : INT64_MAX;
}

/* Beyond the limit, and beyond half of what was free for the guest, the time is lost. */
void stack_sums_add(struct stack_sums *sums, const struct stack_item *item);
/* Adds the sums of a sample. */
void stack_sums_take(struct stack_sums *sums, const struct stack_sums *sample);
void stack_sums_reset(struct stack_sums *sums); /* empties it and keeps its memory */
void stack_sums_release(struct stack_sums *sums);

struct fields;
struct sample;
struct stats;

/*
 * ---- stacks_fit.c: the time that samples stand for
 *
 * How long exits took is measured, and in which code they were is sampled: a sample stands for the
 * time on a CPU of its vCPU's exits of that reason, since the sample before it. What has no sample
 * yet is the exit's own. left: that, from call to call; stats: as of the sample before.
 */
void stacks_fit(struct stacks *stacks, const struct stats *stats, const struct fields *fields,
		struct stack_sums *left, struct sample *sample);

/* ---- stacks_kept.c: calls as fields of USE_CODE, which histories have */

#define STACKS_FIELDS 8192 /* the time of further calls is their callers' */
#define STACKS_ROWS 32768  /* in a sample */

/*
 * Adds rows of the sample's stacks to it; stats: as of the sample before. owed: from call to call,
 * by field, what counters have too much: they cannot go back, so their next time is that much less.
 */
void stacks_keep(struct stacks *stacks, const struct stats *stats, struct fields *fields,
		 uint32_t source, struct stack_sums *owed, struct sample *sample);

/* Makes the sums of such rows of the latest interval, if there are any. */
void stacks_play(struct stacks *stacks, const struct stats *stats, const struct fields *fields,
		 struct stack_sums *ret_sums);

#endif
