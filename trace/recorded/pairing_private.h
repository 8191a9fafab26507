/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pairing_private - what the files of `tally` share: meanings of events, and where things are kept.
 */
#ifndef KVMTOP_TRACE_RECORDED_PAIRING_PRIVATE_H
#define KVMTOP_TRACE_RECORDED_PAIRING_PRIVATE_H

#include "trace/recorded/pairing.h"

enum role_kind {
	ROLE_UNSEEN, /* not looked at yet */
	ROLE_NONE,
	ROLE_EXIT,     /* leaves the guest */
	ROLE_ENTRY,    /* enters it */
	ROLE_ARGUMENT, /* says what the exit is about */
	ROLE_EVENT,    /* is counted, whatever it means */
};

/* What the events of a type mean. */
struct role {
	enum role_kind kind;
	const struct trace_type *of;
	/* Of an exit: the fields that say why; `isa` chooses between the two splits of x86. */
	const struct trace_field *reason, *type, *isa, *vcpu;
	const struct trace_field *error; /* of an exit to user space: below 0 if that is why */
	const struct split *split[2];
	uint32_t names[2];
	/* Of an argument: its fields, and what `c` is where there is no such field. */
	const struct trace_field *a, *b, *c;
	uint32_t a_bytes; /* see struct argument_event */
	uint32_t fixed_c;
};

/* What the type's events mean when `event` is asked for. 0 or -ENOMEM. */
int role_find(struct tally *tally, const struct trace_type *type, struct role *ret_role);

struct tally_key role_reason(const struct role *role, const struct trace_event *event);
struct tally_key role_user_reason(const struct role *role, const struct trace_event *event);
struct tally_key role_argument(const struct role *role, const struct trace_event *event);

/* The thread of an event, new if need be; NULL: no memory. */
struct tally_thread *tally_find_thread(struct tally *tally, const struct trace_event *event);

/* The index of the thread's cell, new if need be: 0 or -ENOMEM. */
int tally_find_cell(struct tally *tally, struct tally_thread *thread, const struct tally_key *key,
		    size_t *ret_cell);

static inline bool tally_key_is(const struct tally_key *a, const struct tally_key *b)
{
	return a->a == b->a && a->b == b->b && a->c == b->c && a->exit == b->exit;
}

/* The same with a look at what was found last: this is done for every event. */
static inline struct tally_thread *tally_thread_of(struct tally *tally,
						   const struct trace_event *event)
{
	uint64_t mixed = event->strand ^ event->strand >> 32;
	struct tally_thread **hint = &tally->hints[mixed % TALLY_HINTS];

	if (!*hint || (*hint)->strand != event->strand)
		*hint = tally_find_thread(tally, event);
	return *hint;
}

static inline int tally_cell_of(struct tally *tally, struct tally_thread *thread,
				const struct tally_key *key, size_t *ret_cell)
{
	uint32_t *hint = &thread->hints[key->a % TALLY_HINTS];
	int err;

	if (*hint && tally_key_is(&thread->cells[*hint - 1].key, key) &&
	    !thread->cells[*hint - 1].is_other) {
		*ret_cell = *hint - 1;
		return 0;
	}
	err = tally_find_cell(tally, thread, key, ret_cell);
	if (!err)
		*hint = (uint32_t)*ret_cell + 1;
	return err;
}

/* All reasons get the names of another split; without memory they keep theirs. */
void tally_rename(struct tally *tally, const struct split *split);

#endif
