// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reports to the inventory which VMs and vCPUs processes hold, and says when all processes are to
 * be read: KVM sends an event for each VM that is made (kvm_uevent_notify_change(), kobject events
 * of /dev/kvm).
 */
#include <errno.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/array.h"
#include "providers/account/account.h"

#define WALK_NS UINT64_C(10000000000) /* at the latest */
/* The process gets the descriptor after the event: so the next sample looks again. */
#define WALKS 2
#define EVENT_SIZE 4096
#define KERNEL_GROUP 1 /* of the kernel's events; udev has another one for its own */
#define EVENT "change@/devices/virtual/misc/kvm"
#define CREATED "EVENT=create"

static int open_events(void)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = KERNEL_GROUP };
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			NETLINK_KOBJECT_UEVENT);
	int err = fd < 0 ? -errno : 0;

	if (!err && bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		err = -errno;
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

/* The text has lines that end with NUL. */
static bool is_created(const char *text, size_t size)
{
	if (size < sizeof(EVENT) || memcmp(text, EVENT, sizeof(EVENT)) != 0)
		return false;
	for (size_t at = 0; at < size; at += strnlen(text + at, size - at) + 1) {
		if (size - at >= sizeof(CREATED) &&
		    memcmp(text + at, CREATED, sizeof(CREATED)) == 0)
			return true;
	}
	return false;
}

/* Whether a VM was made since the last call, or events were too many. */
static bool take_events(int fd)
{
	char text[EVENT_SIZE];
	bool is_new = false;

	for (;;) {
		ssize_t n = recv(fd, text, sizeof(text), 0);

		if (n < 0 && errno != EINTR && errno != ENOBUFS)
			return is_new;
		is_new |= n < 0 ? errno == ENOBUFS : is_created(text, (size_t)n);
	}
}

void holdings_init(struct holdings *holdings, struct guests *guests)
{
	*holdings = (struct holdings){ .guests = guests, .events = open_events() };
}

void holdings_release(struct holdings *holdings)
{
	if (holdings->events >= 0)
		close(holdings->events);
	free(holdings->parts);
	guests_end_reports(holdings->guests);
}

bool holdings_want_walk(struct holdings *holdings, uint64_t now_ns)
{
	if (holdings->events >= 0 && take_events(holdings->events))
		holdings->walks = WALKS;
	if (!holdings->walks && now_ns < holdings->walk_ns)
		return false;
	holdings->walks -= holdings->walks > 0;
	holdings->walk_ns = now_ns + WALK_NS;
	return true;
}

void holdings_begin(struct holdings *holdings)
{
	holdings->nr = 0;
}

void holdings_add(struct holdings *holdings, const struct account_head *head)
{
	array_grow(&holdings->parts, &holdings->room, holdings->nr + 1);
	holdings->parts[holdings->nr++] = (struct vm_part){
		.pid = (pid_t)head->pid,
		.vcpu = head->vcpu < 0 ? -1 : head->vcpu,
		.tid = (pid_t)head->tid,
		.vm = head->vm,
	};
}

void holdings_report(struct holdings *holdings, pid_t pid)
{
	guests_report(holdings->guests, pid, holdings->parts, holdings->nr);
}
