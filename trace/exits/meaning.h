/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * meaning - what the events of a recording mean: an exit, an entry, what an exit was about.
 *
 * Each type of event is looked at once, when its first event comes. The names of reasons come from
 * the recording's own format files where it has any, else they are the built-in ones.
 */
#ifndef KVMTOP_TRACE_EXITS_MEANING_H
#define KVMTOP_TRACE_EXITS_MEANING_H

#include "arch/arch.h"
#include "arch/exit_kind.h"
#include "trace/recording/trace.h"

enum meaning_kind {
	MEANING_UNSEEN, /* the type was not looked at yet */
	MEANING_EVENT,	/* an event of KVM without any of the meanings below */
	MEANING_EXIT,	/* leaves the guest */
	MEANING_ENTRY,	/* enters the guest */
	MEANING_USERSPACE, /* KVM_RUN returns to user space */
	MEANING_ARGUMENT,  /* says what the exit is about */
	MEANING_WAKEUP,	   /* a halt is over */
	MEANING_NESTED,	   /* the exit that has just begun is of L2 */
	MEANING_VMGEXIT, /* what a protected guest (SEV-ES) asks for by the exit that has begun */
	MEANING_CAUSE,	 /* the reason of the exit that has begun, more exactly (LoongArch) */
	MEANING_POLL_LIMIT, /* how long KVM polls in a halt changes; before the halt is over */
	/* No event of KVM's, see meaning_is_of_kvm(): */
	MEANING_NONE,
	MEANING_SWITCH, /* of the scheduler: a CPU goes from one thread to another */
	MEANING_WAKING, /* of the scheduler: a thread could run from now on */
};

struct meaning {
	enum meaning_kind kind;
	enum exit_kind counted_as; /* of an exit, to user space or not, or an argument */
	const struct trace_type *type;
	uint32_t number; /* counts KVM's types from 0 */
	uint32_t field; /* for rows.c: in the dictionary, with 1 added; 0: not asked for yet */
	/* The fields that say why there is an exit; `isa` chooses between the splits of x86. */
	const struct trace_field *reason, *reason_type, *isa;
	const struct trace_field *pc; /* where the guest was; NULL: not known */
	const struct trace_field *error; /* of an exit to user space: below 0 if that is why */
	struct {
		const struct split *split;
		uint32_t names; /* index in struct meanings.names */
	} lists[2];
	/* What fills struct exit_key's members for an argument; fixed_c: without a field. */
	const struct trace_field *a, *b, *c;
	uint16_t fixed_c;
	uint32_t a_bytes; /* see struct argument_event */
	__u64 (*a_of)(__u64 value);
	/* How long a halt was that is over, whether the vCPU waited; ns also: the old limit. */
	const struct trace_field *ns, *has_waited;
	const struct trace_field *code; /* of a VMGEXIT: what it is for; of a cause: which */
	/* The vCPU that gets an interrupt; NULL: there is none. level 0: it is over. */
	const struct trace_field *target, *level;
	/* The thread before a switch, its state, the next thread; tid also: who is woken. */
	const struct trace_field *tid, *state, *next_tid;
};

enum exit_of {
	EXIT_OF_GUEST,
	EXIT_OF_L2,
	EXIT_OF_VMGEXIT, /* the reason is what the guest asks for by a VMGEXIT */
};

/* What makes two exits different. It has 16 bytes, because it is looked up for every exit. */
struct exit_key {
	uint64_t a;   /* the reason's code with its flags; the port, address, MSR, leaf ... */
	uint32_t b;   /* of a reason: index in struct meanings.names; else the argument's size */
	uint16_t c;   /* of an argument: read or write, or the like; of an exit: enum exit_of */
	/*
	 * The exit of an argument, of struct meanings.exits, plus 1; 0: not known.
	 * EXIT_KEY_OTHERS: the catch-all of further keys, and only kind is valid.
	 */
	uint8_t exit;
	uint8_t kind; /* enum exit_kind */
};

/* The names of one kind of exit reasons. */
struct reason_names {
	const struct split *split;
	struct reasons reasons;
};

#define EXIT_KEY_OTHERS UINT8_MAX
#define MEANING_EXITS 128 /* of the exits that have arguments, so many have a number */

struct meanings {
	const struct trace *trace;
	struct meaning *list; /* by the type's index */
	size_t nr;
	uint32_t nr_kvm_types;
	struct reason_names *names;
	size_t nr_names, room_names;
	struct exit_key exits[MEANING_EXITS]; /* exits that have arguments */
	uint8_t nr_exits;
};

void meanings_release(struct meanings *meanings);

/* Looks at a type for the first time. */
void meanings_add(struct meanings *meanings, const struct trace_type *type);

/* Valid until the next one is asked for. */
static inline const struct meaning *meaning_of(struct meanings *meanings,
					       const struct trace_type *type)
{
	if (type->index >= meanings->nr || meanings->list[type->index].kind == MEANING_UNSEEN)
		meanings_add(meanings, type);
	return &meanings->list[type->index];
}

static inline bool meaning_is_of_kvm(const struct meaning *meaning)
{
	return meaning->kind > MEANING_UNSEEN && meaning->kind < MEANING_NONE;
}

static inline bool exit_key_is(const struct exit_key *a, const struct exit_key *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static inline bool exit_key_is_others(const struct exit_key *key)
{
	return key->exit == EXIT_KEY_OTHERS;
}

/* Why the guest was left, or KVM_RUN. */
struct exit_key meaning_reason(const struct meaning *meaning, const struct trace_event *event);

/* What the exit is about; exit: why the guest was left, NULL: not known. */
struct exit_key meaning_argument(struct meanings *meanings, const struct meaning *meaning,
				 const struct trace_event *event, const struct exit_key *exit);

/*
 * The key as the user reads it: "HLT", "hlt L2", "vmgexit msr", "0x6e0 IA32_TSC_DEADLINE write",
 * "(others)".
 */
void meaning_name(const struct meanings *meanings, const struct exit_key *key, char *buf,
		  size_t size);

/* REASON_* of arch.h. */
unsigned int meaning_flags(const struct meanings *meanings, const struct exit_key *key);

/* Whether the vCPU is idle meanwhile (HLT, WFx ...). */
static inline bool meaning_is_idle(const struct meanings *meanings, const struct exit_key *key)
{
	return meaning_flags(meanings, key) & REASON_IDLE;
}

/* The exit that the argument belongs to; NULL: not known. */
const struct exit_key *meaning_exit(const struct meanings *meanings, const struct exit_key *key);

#endif
