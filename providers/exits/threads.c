// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the vCPU of each thread's record, and adds the record's new counts to the vCPU. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/argument.h"
#include "lib/clock.h"
#include "lib/hash.h"
#include "lib/xalloc.h"
#include "host/guest_name.h"
#include "providers/exits/threads.h"

#define SCHEDULER_TEXT 512
#define LONG_IN_USER_NS 20000000
#define TICK_NS 10000000 /* CONFIG_HZ=100 */

/* What happens to a thread after this sample: it goes on, gets another vCPU, or has ended. */
enum fate { STAYS, MOVES, ENDS };

/* The argument of a thread's open exit. */
struct open_argument {
	struct exits_argument_key key;
	uint64_t since_ns; /* when the exit began; 0: none is open */
	uint64_t time_ns;  /* since then */
	uint64_t sum_ns;   /* the same and the time of its cell, in the sample before */
};

struct watched_thread {
	const volatile struct exits_thread *record;
	struct exits_vcpu *vcpu; /* that it runs; NULL: not found out yet */
	bool is_other; /* it had raised interrupts, and made no exit, when the vCPU was found */
	bool is_listed; /* the inventory has it as a vCPU's thread, and shows when it ends */
	enum fate fate;
	struct exits_packed *base; /* its counts for other vCPUs before; NULL: none */
	struct exits_before before;
	struct open_argument argument;
};

/* The count of a thread's argument for other vCPUs before. */
struct argument_base {
	struct exits_argument_key key;
	struct exits_cell cell;
	UT_hash_handle hh;
};

struct exits_threads {
	struct exits_threads_config config;
	struct watched_thread *list; /* by number of the record */
	struct argument_base *bases;
	struct exits_vcpus *vcpus;
	uint64_t generation; /* of the inventory, at the previous sample */
	bool is_stale;	     /* the inventory has changed since then */
	uint32_t nr_leaving; /* how many threads do not stay */
};

struct exits_threads *exits_threads_new(const struct exits_threads_config *config)
{
	struct exits_threads *threads = xcalloc(1, sizeof(*threads));

	threads->config = *config;
	threads->list = xcalloc(config->max_threads, sizeof(*threads->list));
	threads->vcpus = exits_vcpus_new(&threads->config);
	return threads;
}

static void forget_arguments(struct exits_threads *threads, uint32_t number)
{
	struct argument_base *base, *next;

	HASH_ITER(hh, threads->bases, base, next) {
		if (base->key.thread != number)
			continue;
		HASH_DEL(threads->bases, base);
		free(base);
	}
}

static void forget(struct exits_threads *threads, uint32_t number)
{
	struct watched_thread *thread = &threads->list[number];

	exits_vcpu_drop(thread->vcpu);
	if (thread->base)
		forget_arguments(threads, number);
	free(thread->base);
	*thread = (struct watched_thread){ 0 };
}

static void free_list(struct exits_threads *threads)
{
	for (uint32_t i = 0; i < threads->config.max_threads; i++)
		forget(threads, i);
	free(threads->list);
}

void exits_threads_free(struct exits_threads *threads)
{
	if (!threads)
		return;
	free_list(threads);
	exits_vcpus_free(threads->vcpus);
	free(threads);
}

void exits_threads_begin(struct exits_threads *threads)
{
	uint64_t generation = guests_generation(threads->config.guests);

	threads->is_stale = generation != threads->generation;
	threads->generation = generation;
	exits_vcpus_begin(threads->vcpus);
}

static bool is_alive(const volatile struct exits_thread *record)
{
	return syscall(SYS_tgkill, record->tgid, record->tid, 0) == 0 || errno != ESRCH;
}

/* The guest of a thread that the inventory does not have as a vCPU's, and that may end now. */
static const struct guest *meet(const struct exits_threads *threads,
				const volatile struct exits_thread *record)
{
	struct vcpu_thread thread = {
		.pid = (pid_t)record->tgid,
		.tid = (pid_t)record->tid,
		.vcpu = record->vcpu < EXITS_NOT_VCPU ? (int32_t)record->vcpu : -1,
		.first_ns = record->first_ns,
	};
	char comm[sizeof(record->comm) + 1] = "";
	uint32_t id;

	memcpy(comm, (const void *)(uintptr_t)record->comm, sizeof(record->comm));
	thread.comm = comm;
	do {
		thread.has_ended = !is_alive(record);
		id = guests_of_thread(threads->config.guests, &thread, clock_now_ns());
	} while (id == GUEST_NONE && !thread.has_ended && !is_alive(record));
	return guests_find(threads->config.guests, id);
}

/* The vCPU by the inventory, or, for a thread that is not there, by the event's vcpu_id. */
static struct exits_vcpu_id identify(const struct guest *guest,
				     const volatile struct exits_thread *record,
				     bool *ret_is_listed)
{
	const struct vcpu *vcpu = guest_vcpu_by_tid(guest, (pid_t)record->tid);
	struct exits_vcpu_id id = { guest->id, -1 };

	*ret_is_listed = vcpu && !guest->has_ended;
	if (vcpu)
		id.index = vcpu->index;
	else if (record->vcpu < EXITS_NOT_VCPU)
		id.index = (int32_t)record->vcpu;
	return id;
}

/* A thread of the VMM, or of the kernel for it. */
static const struct guest *guest_of(const struct exits_threads *threads,
				    const volatile struct exits_thread *record)
{
	const struct guest *guest = guests_by_pid(threads->config.guests, (pid_t)record->tgid);
	char comm[sizeof(record->comm) + 1] = "";

	if (guest || exits_is_of_vcpu(record))
		return guest;
	memcpy(comm, (const void *)(uintptr_t)record->comm, sizeof(record->comm));
	return guests_by_pid(threads->config.guests, guest_name_vmm_pid(comm));
}

/*
 * Whether the thread runs another vCPU now. A thread that the inventory no longer has as a vCPU's
 * (index -1), because another thread runs its vCPU now, keeps the vCPU it had; so does the thread
 * of a guest that has ended.
 */
static bool runs_another(const struct exits_threads *threads, struct watched_thread *thread,
			 const volatile struct exits_thread *record)
{
	const struct guest *guest = guest_of(threads, record);
	struct exits_vcpu_id known = exits_vcpu_id(thread->vcpu), id;

	if (!guest)
		return false;
	id = identify(guest, record, &thread->is_listed);
	if (id.guest == known.guest)
		return id.index != known.index && id.index >= 0;
	return true;
}

static void find_vcpu(struct exits_threads *threads, struct watched_thread *thread,
		      const volatile struct exits_thread *record)
{
	struct exits_vcpu_id id = { GUEST_NONE, -1 };
	const struct guest *guest;

	exits_record_settle(); /* it may have been published just now */
	guest = guest_of(threads, record);
	thread->is_other = !exits_is_of_vcpu(record);
	if (!thread->is_other && !guest_vcpu_by_tid(guest, (pid_t)record->tid))
		guest = meet(threads, record);
	thread->is_listed = false;
	if (guest)
		id = identify(guest, record, &thread->is_listed);
	thread->vcpu = exits_vcpus_get(threads->vcpus, id);
	exits_vcpu_hold(thread->vcpu);
}

/*
 * Finds the thread's vCPU and its fate. The inventory shows when a thread that it lists has ended;
 * for other threads the kernel is asked. The counts of a thread that has ended stay with the vCPU
 * it had, even if the inventory has changed.
 */
static void update_thread(struct exits_threads *threads, struct watched_thread *thread,
			  const volatile struct exits_thread *record)
{
	if (!thread->vcpu)
		find_vcpu(threads, thread, record);
	if (thread->is_listed && !threads->is_stale)
		return;
	if (!is_alive(record))
		thread->fate = ENDS;
	else if ((thread->is_other && exits_is_of_vcpu(record)) ||
		 (threads->is_stale && runs_another(threads, thread, record)))
		thread->fate = MOVES;
}

/* What is open goes on with the next vCPU, which has its time from now on. */
static void add_to_vcpu(struct watched_thread *thread, struct exits_record *now, uint64_t now_ns)
{
	struct exits_packed *counted = NULL;

	if (thread->fate == MOVES) {
		exits_record_fold(now);
		counted = exits_record_pack(now);
	}
	if (thread->base)
		exits_record_less(now, thread->base);
	exits_vcpu_add(thread->vcpu, now, thread->fate != STAYS);
	if (thread->fate != MOVES)
		return;
	thread->before.from_ns = now_ns;
	free(thread->base);
	thread->base = counted; /* is subtracted for the thread's next vCPU */
}

/* What exits_threads_argument() needs when the argument's cell is read. */
static void note_argument(struct watched_thread *thread, const struct exits_record *now,
			  uint64_t now_ns)
{
	const struct exits_open *exit = &now->open[EXITS_VMEXIT];
	struct open_argument *argument = &thread->argument;
	struct exits_argument_key key = now->argument;
	bool is_same;

	if (!key.is_rest)
		key.c = argument_at_end((enum exit_kind)key.kind, key.c);
	is_same = argument->since_ns == exit->since_ns &&
		  memcmp(&argument->key, &key, sizeof(key)) == 0;
	if (now->has_argument && !is_same)
		*argument = (struct open_argument){ .key = key, .since_ns = exit->since_ns };
	if (now->has_argument)
		argument->time_ns = exit->time_ns;
	else if (argument->since_ns)
		argument->time_ns = now_ns - argument->since_ns;
}

/* "Two numbers", and the letter of the state in "1 (name) S ...". */
static bool read_scheduler(const struct exits_threads *threads,
			   const volatile struct exits_thread *record, uint64_t *ret_ran_ns,
			   uint64_t *ret_waited_ns, bool *ret_is_runnable)
{
	char text[SCHEDULER_TEXT];
	const char *state;

	env_read(threads->config.env, text, sizeof(text), "/proc/%u/task/%u/schedstat",
		 record->tgid, record->tid);
	if (sscanf(text, "%" SCNu64 " %" SCNu64, ret_ran_ns, ret_waited_ns) != 2 ||
	    env_read(threads->config.env, text, sizeof(text), "/proc/%u/task/%u/stat",
		     record->tgid, record->tid) <= 0)
		return false;
	state = strrchr(text, ')');
	*ret_is_runnable = state && state[1] && state[2] == 'R';
	return true;
}

/*
 * While user space has an exit for long, the scheduler's sums say what its thread does. They are
 * brought up to date with each tick while the thread runs.
 */
static struct exits_off look_off(const struct exits_threads *threads,
				 const volatile struct exits_thread *record, uint64_t now_ns)
{
	uint64_t since_ns = record->at.user_since, delay_ns = record->user_delay;
	uint64_t began_ns = record->user_ran, ran_ns, waited_ns, off_ns;
	bool is_runnable;

	if (!threads->config.sees_away || !since_ns || now_ns < since_ns + LONG_IN_USER_NS ||
	    !read_scheduler(threads, record, &ran_ns, &waited_ns, &is_runnable) ||
	    record->at.user_since != since_ns || ran_ns < began_ns || waited_ns < delay_ns)
		return (struct exits_off){ 0 };
	ran_ns -= began_ns;
	waited_ns -= delay_ns;
	if (ran_ns + waited_ns + TICK_NS > now_ns - since_ns)
		return (struct exits_off){ waited_ns, 0 };
	off_ns = now_ns - since_ns - ran_ns - waited_ns;
	return is_runnable ? (struct exits_off){ waited_ns + off_ns, 0 } :
			     (struct exits_off){ waited_ns, off_ns };
}

bool exits_threads_take(struct exits_threads *threads, const volatile struct exits_thread *record)
{
	struct watched_thread *thread = &threads->list[record->number];
	uint64_t now_ns = 0;
	struct exits_off off;
	struct exits_record now;

	update_thread(threads, thread, record);
	thread->record = record;
	exits_record_read(&now, threads->config.records, record);
	if (threads->config.is_timed)
		now_ns = threads->config.clock();
	if (thread->fate == ENDS) {
		exits_record_end(&now, record, now_ns);
	} else if (threads->config.is_timed) {
		off = look_off(threads, record, now_ns);
		exits_record_time(&now, record, &thread->before, off, now_ns);
		note_argument(thread, &now, now_ns);
	}
	if (thread->fate == STAYS)
		exits_vcpu_set_cpu(thread->vcpu, record->cpu);
	else
		threads->nr_leaving++;
	add_to_vcpu(thread, &now, now_ns);
	return thread->fate == ENDS;
}

void exits_threads_owner(struct exits_threads *threads,
			 const volatile struct exits_thread *record,
			 struct exits_vcpu_id *ret_owner, bool *ret_may_name)
{
	struct watched_thread *thread = &threads->list[record->number];

	if (!thread->vcpu)
		find_vcpu(threads, thread, record);
	*ret_owner = exits_vcpu_id(thread->vcpu);
	*ret_may_name = exits_vcpu_may_name(thread->vcpu);
}

static struct argument_base *find_base(const struct exits_threads *threads,
				       const struct exits_argument_key *key)
{
	struct argument_base *base;

	HASH_FIND(hh, threads->bases, key, sizeof(*key), base);
	return base;
}

static void keep_base(struct exits_threads *threads, const struct exits_argument_key *key,
		      const struct exits_cell *cell)
{
	struct argument_base *base = find_base(threads, key);

	if (!base) {
		base = xcalloc(1, sizeof(*base));
		base->key = *key;
		hash_add(threads->bases, key, base);
	}
	base->cell = *cell;
}

/*
 * How long the argument's exit has been open, if its cell does not have the exit: it is open still,
 * or the program is about to add it, so that the cell has less than in the sample before.
 */
static uint64_t open_ns(struct watched_thread *thread, const struct exits_argument_key *key,
			const struct exits_cell *cell)
{
	struct open_argument *argument = &thread->argument;

	if (!argument->since_ns || memcmp(&argument->key, key, sizeof(*key)) != 0)
		return 0;
	if (exits_open_since(&thread->record->at) != argument->since_ns &&
	    cell->time_ns >= argument->sum_ns)
		argument->since_ns = argument->time_ns = 0;
	argument->sum_ns = cell->time_ns + argument->time_ns;
	return thread->fate == ENDS ? 0 : argument->time_ns;
}

void exits_threads_argument(struct exits_threads *threads, const struct exits_argument_key *key,
			    const struct exits_cell *cell, bool is_over)
{
	const struct exits_code *code = NULL;
	struct watched_thread *thread;
	struct exits_vcpu *vcpu;
	const struct argument_base *base;
	struct exits_cell now = *cell, counted;
	uint64_t open;
	uint32_t field;

	if (key->thread >= threads->config.max_threads || !argument_of((enum exit_kind)key->kind))
		return;
	thread = &threads->list[key->thread];
	if (!thread->vcpu)
		return;
	vcpu = thread->vcpu;
	if (key->kind == EXITS_INTERRUPT) /* it is of the guest, whatever thread raises it */
		vcpu = exits_vcpus_get(threads->vcpus,
				       (struct exits_vcpu_id){ exits_vcpu_id(vcpu).guest, -1 });
	if (key->cell < EXITS_CELLS)
		code = &threads->config.codes[key->cell];
	field = exits_names_argument(threads->config.names, key, code, exits_vcpu_may_name(vcpu));
	if (!exits_vcpu_has_room(vcpu, field))
		field = exits_names_rest(threads->config.names, key, code);
	open = open_ns(thread, key, cell);
	if (thread->fate == MOVES)
		now.time_ns += open;
	counted = now;
	base = find_base(threads, key);
	if (base)
		exits_cell_less(&now, &base->cell);
	exits_vcpu_add_argument(vcpu, field, (enum exit_kind)key->kind, &now,
				is_over || thread->fate != STAYS, open);
	if (thread->fate == MOVES)
		keep_base(threads, key, &counted);
}

/* Takes leaving threads from their vCPUs. The next sample finds the new vCPU of one that moves. */
static void release_leaving(struct exits_threads *threads)
{
	for (uint32_t i = 0; threads->nr_leaving && i < threads->config.max_threads; i++) {
		struct watched_thread *thread = &threads->list[i];

		if (thread->fate == STAYS)
			continue;
		exits_vcpu_drop(thread->vcpu);
		thread->vcpu = NULL;
		thread->fate = STAYS;
		threads->nr_leaving--;
	}
}

void exits_threads_forget_arguments(struct exits_threads *threads)
{
	hash_free(threads->bases, free);
	for (uint32_t i = 0; i < threads->config.max_threads; i++)
		threads->list[i].argument = (struct open_argument){ .since_ns = 0 };
	exits_vcpus_forget_arguments(threads->vcpus);
}

void exits_threads_end(struct exits_threads *threads, struct sample *sample, uint32_t flags)
{
	exits_vcpus_emit(threads->vcpus, sample, flags);
	release_leaving(threads);
	exits_vcpus_sweep(threads->vcpus);
}

void exits_threads_release(struct exits_threads *threads, uint32_t number)
{
	forget(threads, number);
}

void exits_threads_grow(struct exits_threads *threads, uint32_t max_threads)
{
	struct watched_thread *list = xreallocarray(threads->list, max_threads, sizeof(*list));

	threads->list = list;
	memset(list + threads->config.max_threads, 0,
	       (max_threads - threads->config.max_threads) * sizeof(*list));
	threads->config.max_threads = max_threads;
}
