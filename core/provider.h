/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * provider - a source of facts: something that counts on this machine, or plays what was counted.
 *
 * A provider adds its fields to the dictionary when it opens, gets the set of the wanted ones, and
 * adds rows to a sample when it is called for one. It does not depend on screens, stats or other
 * providers. A player gives earlier samples: its fields have the names that live providers give
 * them, and its rows the same meaning. All calls come from one thread. The monitor gets a list of
 * providers (cmd/source.c has the live ones).
 */
#ifndef KVMTOP_CORE_PROVIDER_H
#define KVMTOP_CORE_PROVIDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/array.h"
#include "lib/error.h"
#include "core/facts/field.h"
#include "core/facts/sample.h"
#include "core/guests/guests.h"
#include "host/env.h"
#include "host/kallsyms.h"

/* Which guests are counted, and how rows are keyed. */
enum want_scope {
	WANT_HOST,  /* the whole host; a row for each guest only where that costs nothing more */
	WANT_GUEST, /* one guest, want.guest */
	WANT_EACH,  /* every guest, with rows of its own */
};

struct want {
	struct field_set fields; /* only fields of this provider */
	enum want_scope scope;
	uint32_t guest;
	uint64_t longer_ns; /* exits that take longer are listed one by one; 0: none */
	bool has_halts;	    /* halts, too */
	uint32_t stack_hz; /* samples a second of the code that vCPU threads are in; 0: none */
	bool has_guest_code; /* with the guest's code that made each exit, which is counted */
};

/* What the user chose; zero-initialised is nothing. */
struct provider_options {
	const char *engine; /* for tracepoints: "perf", "bpf"; NULL: the best */
	bool include_past;  /* KVM's own counters begin at the start of the guest */
	bool has_times;	    /* exits are timed, which tells where all time of vCPUs goes */
	/* The functions of guests: nr_kallsyms have a file; the others' memory may be read. */
	const struct guest_kallsyms *kallsyms;
	size_t nr_kallsyms;
	bool reads_guests;
};

/* The BPF programs of providers that run in exits, by their descriptors. */
struct programs {
	struct program {
		int fd;
		const char *event; /* that it is on: "kvm_exit"; NULL: another one than an exit's */
	} *list;
	size_t nr, room;
};

static inline void programs_add(struct programs *programs, int fd, const char *event)
{
	*array_add(programs->list, programs->nr, programs->room) = (struct program){ fd, event };
}

/* What a provider works with; all of it outlives the provider. */
struct provider_args {
	const struct env *env; /* the machine; NULL for the player of a recording */
	struct guests *guests;
	struct fields *fields;
	struct stacks *stacks;
	const struct stats *stats; /* as of the sample before; NULL: none are made */
	/* Adds the programs of all providers, as of now. NULL: there are none. */
	void (*find_programs)(void *monitor, struct programs *programs);
	/* See count_event() of struct provider: of the one that can. NULL: none can. */
	bool (*find_count)(void *monitor, const char *event, uint64_t *ret_count);
	void *monitor;
	uint32_t source; /* the provider's number, for struct field and struct sample */
	const void *recording; /* what a player plays, where env is NULL */
	struct provider_options options;
};

struct provider {
	const char *name; /* "tracepoint" */
	const char *help; /* one line for --list-providers */
	bool is_always_by_guest; /* rows are the same for WANT_HOST and WANT_EACH */
	bool is_of_exits; /* its fields are about exits; it always gets WANT_EACH */
	/* Opened only if the provider named here, which has the same counts, cannot be. */
	const struct provider *instead_of;

	/*
	 * Adds its fields, or says why it cannot work here: it tries what it needs. Nothing is
	 * counted before want(). 0, or -errno with error.
	 */
	int (*open)(const struct provider_args *args, void **ret_state, struct error *error);

	/*
	 * Says what is wanted from now on. It is called when that changes and when all counts begin
	 * anew; a row that is in the next sample for the first time may have counted before.
	 *
	 * May return before everything is counted (see is_ready): it does not wait where the kernel
	 * is slow, as it is when events are closed. Loading a BPF program takes about 0.2 ms, and
	 * the engine bpf loads one for each new event; the programs of the provider "exits" take
	 * longer, and are loaded when one of its fields is wanted. 0, or -errno with error, which
	 * switches the provider off. The want is valid until the next call of this one.
	 */
	int (*want)(void *state, const struct want *want, struct error *error);

	/*
	 * For a player, after each want: goes back to the first sample for the chosen moment,
	 * and returns the number of its samples: the last two are its interval, or the last one
	 * is, if its rows are given. NULL: samples come in their order, each at its time.
	 */
	size_t (*rewind)(void *state);

	/* Whether everything that is wanted is being counted, or cannot be. NULL: always. */
	bool (*is_ready)(void *state);

	/*
	 * Adds rows for the fields that are wanted, and sample->time_ns[source]. -EAGAIN: there are
	 * none now, but there may be next time. After any other -errno with error the rows are
	 * dropped, and it is tried again; ten in a row switch the provider off. A text in error
	 * with 0 or -EAGAIN is a notice for the status line (as is one from want()): what is not
	 * counted, and what to do.
	 */
	int (*collect)(void *state, struct sample *sample, struct error *error);

	/*
	 * Between two samples: takes note of threads that are new. What is wrong the next collect()
	 * says. NULL: it takes note of none.
	 */
	void (*look)(void *state);

	/*
	 * Adds its programs that run in exits, not the ones that only the scheduler runs. They stay
	 * open until the next call of this provider. NULL: it has none.
	 */
	void (*programs)(void *state, struct programs *programs);

	/*
	 * Where its programs see every trace event of this name on all CPUs, for what they do
	 * anyway: how many, since they are attached. So no other program need count them. False:
	 * they do not, or are not attached. NULL: it has none that do.
	 */
	bool (*count_event)(void *state, const char *event, uint64_t *ret_count);

	/* The engine, where there is a choice: "bpf", "perf". NULL: there is no choice. */
	const char *(*engine)(void *state);

	/* Undoes everything; may take seconds. NULL is fine. */
	void (*close)(void *state);
};

/*
 * The live providers: the number, the name, and the provider that a captured machine has instead.
 * The symbols end in _provider. A set of providers has the bits 1U << number. They are read in this
 * order: the inventory before what needs its threads. Histories have the numbers.
 */
#define PROVIDER_LIST(PROVIDER) \
	PROVIDER(DEBUGFS, debugfs, debugfs) /* read in the captured files themselves */ \
	PROVIDER(ACCOUNT, account, captured_account) \
	PROVIDER(INVENTORY, inventory, inventory) \
	PROVIDER(TRACEPOINT, tracepoint, captured_tracepoint) \
	PROVIDER(EXITS, exits, captured_exits) \
	PROVIDER(HOST, host, captured_host) \
	PROVIDER(COST, cost, cost) \
	PROVIDER(WHO, who, who)

#define PROVIDER_NUMBER(number, ...) PROVIDER_##number,

enum { PROVIDER_LIST(PROVIDER_NUMBER) };

#define PROVIDERS_STATISTICS (1U << PROVIDER_DEBUGFS | 1U << PROVIDER_ACCOUNT) /* KVM's counters */

#endif
