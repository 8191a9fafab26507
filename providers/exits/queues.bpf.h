/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * queues - for which queue of a device a write is, by the ioeventfds that KVM has for the guest.
 *
 * A virtio device has a register that takes the number of the queue (legacy PCI, MMIO): each queue
 * has an ioeventfd with its number as datamatch. Or it has a register for each queue, every 4
 * bytes from the begin of a page on (PCI): each has an ioeventfd that takes any value. One queue
 * alone on a page may be any, and one beyond a gap, too.
 *
 * The ioeventfds are looked at when a thread makes a write that is not among its arguments; the
 * thread's record knows the queue from then on. So most writes pay for a comparison.
 */
#ifndef KVMTOP_PROVIDERS_EXITS_QUEUES_BPF_H
#define KVMTOP_PROVIDERS_EXITS_QUEUES_BPF_H

#include "providers/exits/maps.bpf.h"

#define IOEVENTFDS   1024 /* of a guest, that are looked at */
#define QUEUE_PAGE   4096
#define QUEUE_STRIDE 4

/* A write to a port or an address, as one number; bytes 0: not known. */
static __always_inline __u64 write_of(enum exit_kind kind, __u64 address, __u32 bytes)
{
	return address << 8 | bytes << 1 | (kind == EXITS_IOPORT);
}

static __always_inline __u64 hash_of(__u64 write)
{
	return write * 0x9e3779b97f4a7c15;
}

/* NULL: there is no room for them. */
static __always_inline struct exits_queue *queues_of(struct exits_thread *thread, __u64 hash,
						     _Bool may_add)
{
	struct exits_thread *further = further_at(&thread->extra, may_add);

	return further ? further->has.queues[(hash >> 32) % EXITS_QUEUE_SETS] : 0;
}

/* What is known of the write; NULL: nothing. */
static __always_inline const struct exits_queue *known_queue(struct exits_thread *thread,
							     __u64 write)
{
	__u64 hash = hash_of(write);
	const struct exits_queue *set;

	if (!(thread->has_queues >> (hash >> 58) & 1))
		return 0;
	set = queues_of(thread, hash, 0);
	if (!set)
		return 0;
	for (int i = 0; i < EXITS_QUEUE_WAYS; i++) {
		if (set[i].write == write)
			return &set[i];
	}
	return 0;
}

/* The high half of b. value: where it is; NULL: there are several. */
static __always_inline __u32 number_in(const struct exits_queue *queue, __u32 bytes,
				       const void *value)
{
	__u64 number = queue->number;

	if (queue->is_value) {
		number = value ? read_number(value, 4) : WRITE_QUEUES;
		if (bytes == 2)
			number &= 0xffff;
	}
	return number < WRITE_QUEUES ? WRITE_TO_QUEUE(number) : 0;
}

/* What the guest's ioeventfds say of a write. */
struct queue_search {
	const char *list, *at; /* the list of ioeventfds, and the next one */
	__u64 address, bytes, bus, page;
	__u64 last;	/* of the row of registers up to this one, which has two at least */
	__u64 nr;	/* ioeventfds in the row */
	__u64 is_any;	/* one takes the write, whatever the value is */
	__u64 is_value; /* one takes it by its value */
};

static __always_inline void see_ioeventfd(struct queue_search *search, const char *at)
{
	__u64 address = READ(at, struct _ioeventfd, addr);
	__u64 length = READ(at, struct _ioeventfd, length);
	_Bool is_it = address == search->address && (!length || length == search->bytes);

	if (address < search->page || address > search->last ||
	    READ(at, struct _ioeventfd, bus_idx) != search->bus)
		return;
	if (!READ(at, struct _ioeventfd, wildcard)) {
		search->is_value |= is_it && (length == 2 || length == 4);
		return;
	}
	search->is_any |= is_it;
	search->nr += address % QUEUE_STRIDE == 0 && (!length || length == 2);
}

static long see_next(__u32 i __attribute__((unused)), struct queue_search *search)
{
	const char *at = search->at;

	if (!at || at == search->list)
		return 1;
	see_ioeventfd(search, at - bpf_core_field_offset(struct _ioeventfd, list));
	search->at = READ_POINTER(at, struct list_head, next);
	return 0;
}

/* Linux 5.17 has the loop. Before, and without a list, no queue is known. */
static __always_inline void search_ioeventfds(struct queue_search *search)
{
	const char *vcpu = vcpu_of(bpf_get_current_task_btf());

	if (!vcpu || !bpf_core_field_exists(struct _ioeventfd, addr) ||
	    !bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_loop))
		return;
	search->list = READ_POINTER(vcpu, struct kvm_vcpu, kvm) +
		       bpf_core_field_offset(struct kvm, ioeventfds);
	search->at = READ_POINTER(search->list, struct list_head, next);
	bpf_loop(IOEVENTFDS, see_next, search, 0);
}

/* In place of one that is known already, or of none, or of another. */
static __always_inline void keep_queue(struct exits_thread *thread, const struct exits_queue *queue)
{
	__u64 hash = hash_of(queue->write);
	struct exits_queue *set = queues_of(thread, hash, 1);
	__u32 way = thread->nr_arguments;

	if (!set)
		return;
	for (__u32 i = 0; i < EXITS_QUEUE_WAYS; i++) {
		if (!set[i].write)
			way = i;
	}
	set[way % EXITS_QUEUE_WAYS] = *queue;
	thread->has_queues |= 1ull << (hash >> 58);
}

static __always_inline void forget_queue(struct exits_thread *thread, __u64 write)
{
	struct exits_queue *set = queues_of(thread, hash_of(write), 0);

	if (!set)
		return;
	for (__u32 i = 0; i < EXITS_QUEUE_WAYS; i++) {
		if (set[i].write == write)
			set[i].write = 0;
	}
}

/*
 * Looks for the write among the guest's ioeventfds, and keeps what they say of its queue. What was
 * known of it may be over: the guest has given the address to another device.
 */
static __noinline int find_queue(struct exits_thread *thread, __u64 write)
{
	struct queue_search search = { .address = write >> 8, .bytes = (write & 0xff) >> 1 };
	struct exits_queue queue = { .write = write };
	_Bool is_row;

	search.bus = write & 1 ? KVM_PIO_BUS : KVM_MMIO_BUS;
	search.page = search.address & ~(QUEUE_PAGE - 1ull);
	queue.number = (search.address - search.page) / QUEUE_STRIDE;
	search.last = queue.number ? search.address : search.page + QUEUE_STRIDE;
	search_ioeventfds(&search);
	queue.is_value = search.is_value;
	is_row = search.is_any && search.bus == KVM_MMIO_BUS &&
		 search.address % QUEUE_STRIDE == 0 &&
		 search.nr == (search.last - search.page) / QUEUE_STRIDE + 1;
	forget_queue(thread, write);
	if (is_row || search.is_value)
		keep_queue(thread, &queue);
	return 0;
}

#endif
