/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * long_exits - exits that took longer than a threshold, one by one: the latest of them.
 *
 * A sample has the exits that ended since the sample before, stats keep the latest of all samples.
 */
#ifndef KVMTOP_CORE_FACTS_LONG_EXITS_H
#define KVMTOP_CORE_FACTS_LONG_EXITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LONG_EXITS_MAX 8192 /* kept: 0.6 MB */
#define LONG_EXITS_DEFAULT_NS UINT64_C(1000000) /* the threshold, unless the user gives one */
#define LONG_EXITS_NO_CPU UINT32_MAX

struct long_exit {
	uint64_t number; /* counts from 1 in stats; 0: not there yet */
	/* When it ended, in ns: CLOCK_REALTIME; of a recording, since its first event. */
	uint64_t end_ns;
	uint64_t took_ns;
	/* Parts of took_ns: */
	uint64_t user_ns; /* from its first exit to user space on; 0: it had none */
	uint64_t polled_ns; /* KVM polled, in a halt; 0: it did not, or that is not known */
	uint64_t waited_ns; /* its thread waited for a CPU; valid if knows_wait */
	uint64_t pc;	  /* where the guest was left, or goes on (Intel); 0: not known */
	uint32_t guest;	  /* struct guest's id; GUEST_ANY: not known */
	int32_t vcpu;	  /* its index; -1: not known */
	uint32_t cpu;	  /* where the exit began; LONG_EXITS_NO_CPU: not known */
	uint32_t reason;   /* a field */
	uint32_t argument; /* a field; FIELD_NONE: none, or not known */
	bool knows_wait;
	bool is_idle;	  /* the reason means that the vCPU had nothing to do */
};

/* Zero-initialised is empty. */
struct long_exits {
	struct long_exit *list; /* a ring */
	size_t nr, room, first;
	size_t nr_latest; /* of stats: came with the latest sample */
	uint64_t nr_ever; /* with the forgotten ones */
	uint64_t lost;	  /* were reported, and there was no room for them */
	/* Of live samples: what ended from this CLOCK_REALTIME on is listed; 0: nothing is. */
	uint64_t since_ns;
	const char *none; /* why nothing can be listed, a sentence; NULL: it can */
};

/* The sentence of a captured machine and of a history. */
#define LONG_EXITS_ELSEWHERE \
	"A captured machine and a history have no list of long exits: they are listed live, and " \
	"of recordings."

/* Adds a copy, in place of the oldest if there are LONG_EXITS_MAX. */
void long_exits_add(struct long_exits *exits, const struct long_exit *exit);

/* i < exits->nr; the oldest first. */
const struct long_exit *long_exits_at(const struct long_exits *exits, size_t i);

/* Adds the exits of a sample, which are then the latest. */
void long_exits_take(struct long_exits *exits, const struct long_exits *sample);

void long_exits_reset(struct long_exits *exits); /* empties it and keeps its memory */
void long_exits_release(struct long_exits *exits);

#endif
