// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the kernel's messages about new tasks from a netlink socket. */
#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/array.h"
#include "trace/tracer/thread_log.h"

#define BUFFER_BYTES (4 << 20) /* between two drains */
#define THREADS_MAX (1 << 20)
#define MESSAGE_MAX 1024

static int tell(int fd, enum proc_cn_mcast_op what)
{
	struct nlmsghdr head = {
		.nlmsg_len = NLMSG_LENGTH(sizeof(struct cn_msg) + sizeof(what)),
		.nlmsg_type = NLMSG_DONE,
		.nlmsg_pid = (uint32_t)getpid(),
	};
	struct cn_msg message = {
		.id = { CN_IDX_PROC, CN_VAL_PROC },
		.len = sizeof(what),
	};
	uint8_t bytes[NLMSG_LENGTH(sizeof(message) + sizeof(what))] = { 0 };

	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + NLMSG_HDRLEN, &message, sizeof(message));
	memcpy(bytes + NLMSG_HDRLEN + sizeof(message), &what, sizeof(what));
	return send(fd, bytes, sizeof(bytes), 0) < 0 ? -errno : 0;
}

int thread_log_init(struct thread_log *log)
{
	const struct sockaddr_nl address = {
		.nl_family = AF_NETLINK,
		.nl_groups = CN_IDX_PROC,
	};
	const int bytes = BUFFER_BYTES;
	int err = 0;

	*log = (struct thread_log){ .socket = -1 };
	log->socket = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			     NETLINK_CONNECTOR);
	if (log->socket < 0)
		return -errno;
	setsockopt(log->socket, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes));
	if (bind(log->socket, (const struct sockaddr *)&address, sizeof(address)) < 0)
		err = -errno;
	if (!err)
		err = tell(log->socket, PROC_CN_MCAST_LISTEN);
	if (err) {
		close(log->socket);
		log->socket = -1;
	}
	return err;
}

void thread_log_release(struct thread_log *log)
{
	if (log->socket >= 0) {
		/* Kernels before 6.6 do not see that the socket is closed. */
		tell(log->socket, PROC_CN_MCAST_IGNORE);
		close(log->socket);
	}
	free(log->list);
	*log = (struct thread_log){ .socket = -1 };
}

static void take_message(struct thread_log *log, const uint8_t *bytes, size_t size)
{
	const size_t at = NLMSG_HDRLEN + sizeof(struct cn_msg);
	struct proc_event event = { 0 };
	struct begun_thread thread;

	if (size < at + offsetof(struct proc_event, event_data) + sizeof(event.event_data.fork))
		return;
	memcpy(&event, bytes + at, size - at < sizeof(event) ? size - at : sizeof(event));
	thread.tid = event.event_data.fork.child_pid;
	thread.pid = event.event_data.fork.child_tgid;
	/* A new process is no thread of a guest. */
	if (event.what != PROC_EVENT_FORK || thread.tid == thread.pid || log->nr == THREADS_MAX)
		return;
	array_grow(&log->list, &log->room, log->nr + 1);
	log->list[log->nr++] = thread;
}

void thread_log_drain(struct thread_log *log)
{
	while (log->socket >= 0) {
		struct sockaddr_nl from = { 0 };
		socklen_t from_size = sizeof(from);
		uint8_t bytes[MESSAGE_MAX];
		ssize_t size = recvfrom(log->socket, bytes, sizeof(bytes), 0,
					(struct sockaddr *)&from, &from_size);

		if (size < 0 && (errno == EINTR || errno == ENOBUFS))
			continue; /* ENOBUFS: some were lost */
		if (size <= 0)
			break;
		if (from.nl_pid == 0) /* the kernel, and no other program */
			take_message(log, bytes, (size_t)size);
	}
}
