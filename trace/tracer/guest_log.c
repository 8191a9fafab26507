// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Copies guests from the inventory, which forgets guests that have ended; and reads the kernel's
 * messages about new tasks from a netlink socket.
 */
#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/clock.h"
#include "core/guests/guests.h"
#include "host/guest_name.h"
#include "trace/recording/dat/dat.h"
#include "trace/tracer/tracer.h"

#define VCPUS_MAX 4096
#define BUFFER_BYTES (4 << 20) /* between two drains */
#define MESSAGE_MAX 1024
#define NO_ID UINT32_MAX /* of a guest that the inventory does not have */

/* ---- threads */

static int send_op(int fd, enum proc_cn_mcast_op what)
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
		err = send_op(log->socket, PROC_CN_MCAST_LISTEN);
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
		send_op(log->socket, PROC_CN_MCAST_IGNORE);
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
	if (event.what != PROC_EVENT_FORK || thread.tid == thread.pid || log->nr == DAT_THREADS_MAX)
		return;
	*array_add(log->list, log->nr, log->room) = thread;
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

/* ---- guests */

void guest_log_release(struct guest_log *log)
{
	for (size_t i = 0; i < log->nr; i++) {
		free(log->list[i].tids);
		free(log->list[i].others);
	}
	free(log->list);
	guests_free(log->inventory);
}

static struct logged_guest *get_logged(struct guest_log *log, uint32_t id)
{
	for (size_t i = 0; i < log->nr; i++) {
		if (log->list[i].id == id)
			return &log->list[i];
	}
	*array_add(log->list, log->nr, log->room) = (struct logged_guest){ .id = id };
	return &log->list[log->nr - 1];
}

/* Two VMs in one process have the same vCPU numbers: the first VM's thread is kept. */
static void keep_guest(struct guest_log *log, const struct guest *guest)
{
	struct logged_guest *copy = get_logged(log, guest->id);

	memcpy(copy->name, guest->name, sizeof(copy->name));
	copy->pid = guest->pid;
	for (size_t i = 0; i < guest->nr_vcpus; i++) {
		const struct vcpu *vcpu = &guest->vcpus[i];

		if (vcpu->index < 0 || vcpu->index >= VCPUS_MAX)
			continue;
		array_grow(&copy->tids, &copy->tids_room, (size_t)vcpu->index + 1);
		while (copy->nr_vcpus <= (size_t)vcpu->index)
			copy->tids[copy->nr_vcpus++] = -1;
		if (vcpu->tid > 0 && copy->tids[vcpu->index] < 0)
			copy->tids[vcpu->index] = vcpu->tid;
	}
}

int guest_log_refresh(struct guest_log *log, struct error *error)
{
	int err = guests_refresh(log->inventory, clock_now_ns(), error);
	uint64_t generation = guests_generation(log->inventory);
	const struct guest *guest;

	if (err || generation == log->generation)
		return err;
	for (size_t i = 0; (guest = guests_at(log->inventory, i)); i++)
		keep_guest(log, guest);
	log->generation = generation;
	return 0;
}

static bool is_vcpu(const struct logged_guest *guest, pid_t tid)
{
	for (size_t i = 0; i < guest->nr_vcpus; i++) {
		if (guest->tids[i] == tid)
			return true;
	}
	return false;
}

static void add_thread(struct guest_log *log, pid_t tid, pid_t pid)
{
	for (size_t i = 0; i < log->nr; i++) {
		struct logged_guest *guest = &log->list[i];

		if (guest->pid != pid || is_vcpu(guest, tid))
			continue;
		*array_add(guest->others, guest->nr_others, guest->others_room) = tid;
	}
}

void guest_log_add_threads(struct guest_log *log, const struct thread_log *threads)
{
	for (size_t i = 0; i < threads->nr; i++)
		add_thread(log, threads->list[i].tid, threads->list[i].pid);
}

static void name_by_arguments(pid_t pid, char *const *argv, char *ret_name, size_t size)
{
	const char *slash = strrchr(argv[0], '/');
	char *line;
	size_t len = 0, nr;

	for (nr = 0; argv[nr]; nr++)
		len += strlen(argv[nr]) + 1;
	line = xcalloc(len, 1);
	len = 0;
	for (size_t i = 0; i < nr; i++)
		len = (size_t)(stpcpy(line + len, argv[i]) - line) + 1;
	if (!guest_name_from_cmdline(guest_name_vmm(argv[0]), line, len, ret_name, size))
		snprintf(ret_name, size, "%s",
			 guest_name_of_ended(pid, slash ? slash + 1 : argv[0], "", 0).name);
	free(line);
}

static bool is_logged(const struct guest_log *log, pid_t pid)
{
	for (size_t i = 0; i < log->nr; i++) {
		if (log->list[i].pid == pid)
			return true;
	}
	return false;
}

static bool has_threads(const struct thread_log *threads, pid_t pid)
{
	for (size_t i = 0; i < threads->nr; i++) {
		if (threads->list[i].pid == pid)
			return true;
	}
	return false;
}

void guest_log_add_command(struct guest_log *log, pid_t pid, char *const *argv,
			   const struct thread_log *threads)
{
	struct logged_guest *guest;

	if (is_logged(log, pid) || !has_threads(threads, pid))
		return;
	guest = get_logged(log, NO_ID);
	guest->pid = pid;
	name_by_arguments(pid, argv, guest->name, sizeof(guest->name));
}
