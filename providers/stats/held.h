/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * held - the statistics that a VMM holds: what their bytes mean, and how they are read.
 */
#ifndef KVMTOP_PROVIDERS_STATS_HELD_H
#define KVMTOP_PROVIDERS_STATS_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "core/facts/field.h"
#include "core/facts/sample.h"
#include "host/env.h"

/*
 * ---- layout - what the bytes of a statistics descriptor mean: KVM_GET_STATS_FD in the kernel's
 * Documentation/virt/kvm/api.rst, struct kvm_stats_header and kvm_stats_desc in linux/kvm.h.
 *
 * A header and a list of counters, which never change while a descriptor is open, come before or
 * after the values. All vCPUs of a host have one layout, all VMs another.
 */

#define STATS_BYTES_MAX 65536 /* of a descriptor; x86 vCPUs have 4,056 */

struct stats_counter {
	const char *name; /* the layout owns it */
	enum field_kind kind; /* from the kernel */
	size_t at;	  /* where its values begin */
	uint16_t nr;	  /* how many values; of a histogram one for each bucket */
	bool has_durations; /* the buckets are durations in ns, in powers of two */
	size_t sum_at;	  /* with has_durations: where their sum is */
	uint32_t field;	  /* the owner's, FIELD_NONE at first */
	bool is_wanted;	  /* the owner's */
};

struct stats_layout {
	struct stats_layout *next; /* the owner's list */
	struct stats_counter *counters;
	size_t nr_counters;
	char *counter_bytes; /* the list of counters, as it was read */
	size_t counters_at, counters_size;
	char header[24];
	size_t size; /* of all bytes */
	/* Reading on from here is enough: the last counter, which tells the layout, and values. */
	size_t tail_at;
};

/*
 * Reads the layout. Counters of unknown kinds, and counters with the name of another counter or
 * with a name that is no word, are left out. 0, or -EINVAL: the bytes are no statistics.
 */
int stats_layout_parse(const char *bytes, size_t size, struct stats_layout **ret_layout);

/* Whether the bytes have this layout; the bytes before `from` were not read. */
bool stats_layout_fits(const struct stats_layout *layout, const char *bytes, size_t from,
		       size_t size);

/* stats_counter_value() for a level, or for several values. */
uint64_t stats_counter_sum(const struct stats_counter *counter, const char *bytes);

/* The value, or the sum of a histogram's buckets; the bytes have the layout of the counter. */
static inline uint64_t stats_counter_value(const struct stats_counter *counter, const char *bytes)
{
	uint64_t value;

	if (counter->nr != 1 || counter->kind != FIELD_COUNTER)
		return stats_counter_sum(counter, bytes);
	memcpy(&value, bytes + counter->at, sizeof(value));
	return value;
}

/* The durations of a counter with has_durations. max_ns: the upper edge of the highest bucket. */
void stats_counter_timing(const struct stats_counter *counter, const char *bytes,
			  struct timing *ret_timing);

void stats_layout_free(struct stats_layout *layout); /* NULL is fine */

/*
 * ---- descriptors - finds the statistics descriptors that a VMM holds, and reads them without
 * keeping them.
 *
 * QEMU holds one for each vCPU from version 8.1 on: "anon_inode:kvm-vcpu-stats:N" in /proc/PID/fd.
 * There is no other way to them: the kernel gives such a descriptor only to the process that made
 * the VM (KVM_GET_STATS_FD, EIO for others), and opens none by its link.
 *
 * pidfd_getfd(2) copies a descriptor of the process that a pidfd names. The pidfd stays open:
 * opening one takes as long as three copies, and it keeps nothing of the guest alive. A copied
 * descriptor would keep the VM's memory after the guest's end, so it is closed at once. Kernels
 * without commit eed3013faa40 ("KVM: Grab a reference to KVM for VM and vCPU stats file
 * descriptors", Linux 6.5) need the VM itself while a descriptor is read: there the VM's is copied
 * first, closed last.
 *
 * A captured machine has the bytes in files, DIR/kvmtop/stats/PID/FD.
 */

struct held_fd {
	int fd;	      /* the number in the VMM */
	int32_t vcpu; /* as the kernel numbers it; -1: the VM's own */
	const struct stats_layout *layout; /* the owner's; NULL: not read yet */
};

/* What a VMM holds. HELD_NOTHING at first. */
struct held {
	struct held_fd *fds; /* ascending by vcpu; one for each, the lowest */
	size_t nr, room;
	int vm_fd; /* the VM's lowest descriptor in the VMM; -1: it is not needed */
	int pidfd; /* the VMM's; -1: the VMM holds no statistics, or the machine is captured */
};

#define HELD_NOTHING ((struct held){ .vm_fd = -1, .pidfd = -1 })

/*
 * Looks for statistics descriptors in /proc/PID/fd. 0, or -errno, and held has none: -ENOSYS: a
 * system call is filtered; or too few descriptors.
 */
int held_find(const struct env *env, pid_t pid, struct held *held);
void held_release(struct held *held);

/* Reading: from held_look() to held_look_away(). */
struct held_look {
	const struct env *env;
	pid_t pid;
	int pidfd; /* struct held's; -1: the machine is captured */
	int vm;	   /* the copy of the VM's descriptor; -1: it is not needed */
	int first, end; /* copies that are still to be closed */
};

/*
 * 0, or -errno: -ESRCH: the process has ended; -EBADF: it holds something else by now; -EPERM: its
 * descriptors may not be copied; -ENOSYS: a system call is filtered; or too few descriptors.
 */
int held_look(const struct env *env, pid_t pid, const struct held *held,
	      struct held_look *ret_look);

/*
 * Reads the statistics from a position on into bytes, at the same position; bytes has room for
 * size. Returns where the statistics end, or -errno as above.
 */
ssize_t held_read(struct held_look *look, int fd, char *bytes, size_t from, size_t size);
void held_look_away(struct held_look *look);

#endif
