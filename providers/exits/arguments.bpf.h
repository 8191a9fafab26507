/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arguments - the cells in which exits.bpf.c counts the arguments of exits.
 */
#ifndef KVMTOP_PROVIDERS_EXITS_ARGUMENTS_BPF_H
#define KVMTOP_PROVIDERS_EXITS_ARGUMENTS_BPF_H

#include "providers/exits/maps.bpf.h"
#include "providers/exits/queues.bpf.h"

/* NULL: arguments are not counted, or no more. */
static __always_inline void *arguments_now(void)
{
	__u32 only = 0;

	return bpf_map_lookup_elem(&arguments, &only);
}

static __always_inline struct exits_cell *argument_cell(const struct exits_argument_key *key)
{
	void *now = arguments_now();

	return now ? bpf_map_lookup_elem(now, key) : 0;
}

/*
 * The first arguments of a thread's epoch have a cell each, and the busiest ones are nearly always
 * among them; the others share one cell. So no guest takes the room of others, however many
 * different arguments it uses.
 */
static __noinline struct exits_cell *add_argument(struct exits_thread *thread,
						  struct exits_argument_key *key)
{
	static const struct exits_cell zero;
	void *now = arguments_now();
	struct exits_cell *cell;

	if (!now)
		return 0;
	if (thread->nr_arguments < EXITS_ARGUMENTS) {
		thread->nr_arguments++;
	} else {
		key->a = 0;
		key->b = 0;
		key->c = 0;
		key->is_rest = 1;
		cell = bpf_map_lookup_elem(now, key);
		if (cell)
			return cell;
	}
	bpf_map_update_elem(now, key, &zero, BPF_NOEXIST);
	cell = bpf_map_lookup_elem(now, key);
	if (!cell)
		__sync_fetch_and_add(&lost_arguments, 1);
	return cell;
}

static __always_inline struct exits_cell *count_in(struct exits_cell *cell)
{
	if (cell)
		cell->count++;
	return cell;
}

/* The cell of an argument of the thread's, which counts it; NULL: it has none. */
static __always_inline struct exits_cell *count_argument(struct exits_thread *thread,
							 struct exits_argument_key *key)
{
	struct exits_cell *cell = argument_cell(key);

	return count_in(cell ? cell : add_argument(thread, key));
}

static __always_inline void set_argument(struct exits_thread *thread, enum exit_kind kind, __u64 a,
					 __u32 b, __u32 c)
{
	struct exits_argument_key *key = &thread->argument;

	key->a = a;
	key->b = b;
	key->c = c;
	key->thread = thread->number;
	key->kind = kind;
	key->cell = exits_open_since(&thread->at) ? exits_cell_of(thread->at.cell) : EXITS_NO_CELL;
	key->epoch = thread->epoch;
	key->is_rest = 0;
}

static __always_inline int on_argument(enum exit_kind kind, __u64 a, __u32 b, __u32 c)
{
	struct exits_thread *thread = find_thread(bpf_get_smp_processor_id());

	if (!thread)
		thread = add_thread(EXITS_NO_VCPU, !has_exits);
	if (!thread)
		return 0;
	set_argument(thread, kind, a, b, c);
	if (count_argument(thread, &thread->argument))
		thread->has_argument = exits_open_since(&thread->at) != 0;
	return 0;
}

/* The cell of the thread's argument, a write that is not among its arguments, or no longer. */
static __noinline struct exits_cell *add_write(struct exits_thread *thread, __u64 write,
					       const void *value)
{
	struct exits_argument_key *key = &thread->argument;
	__u32 bytes = WRITE_BYTES(key->b);
	const struct exits_queue *queue;
	struct exits_cell *cell;

	if (thread->nr_arguments < EXITS_ARGUMENTS) {
		find_queue(thread, write);
		queue = known_queue(thread, write);
		key->b = bytes | (queue ? number_in(queue, bytes, value) : 0);
		cell = argument_cell(key);
		if (cell)
			return cell;
	}
	return add_argument(thread, key);
}

/*
 * Where the value of a write is, by the arguments of its event; NULL: there are several, or, as for
 * kvm_fast_mmio, the event has none. It is read where it is needed, which is rare.
 */
static __always_inline const void *value_of(enum exit_kind kind, const __u64 *args)
{
	if (!args)
		return 0;
	if (kind == EXITS_IOPORT)
		return ARGUMENT(args, 3) == 1 ? POINTER(args, 4) : 0;
	return POINTER(args, 3);
}

static __always_inline int on_write(enum exit_kind kind, __u64 address, __u32 bytes, __u32 type,
				    const __u64 *args)
{
	struct exits_thread *thread = find_thread(bpf_get_smp_processor_id());
	__u64 write = write_of(kind, address, bytes);
	const struct exits_queue *queue;
	struct exits_cell *cell;
	__u32 b = bytes;

	if (!thread)
		thread = add_thread(EXITS_NO_VCPU, !has_exits);
	if (!thread)
		return 0;
	queue = known_queue(thread, write);
	if (queue)
		b |= number_in(queue, bytes, value_of(kind, args));
	set_argument(thread, kind, address, b, type);
	cell = argument_cell(&thread->argument);
	if (count_in(cell ? cell : add_write(thread, write, value_of(kind, args))))
		thread->has_argument = exits_open_since(&thread->at) != 0;
	return 0;
}

#endif
