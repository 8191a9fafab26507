// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Nothing is kept of a guest that was read, nor of the reader: no VM, no program, map or link in
 * the kernel. Skipped where there is no KVM or BPF.
 */
#include <fcntl.h>
#include <linux/netlink.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "providers/account/account.h"
#include "tests/unit/providers/account/bench.h"
#include "tests/unit/unit.h"

#define WAIT_MS 5000

/* Waits for the event of KVM that the VM of the process is gone. */
static bool is_destroyed(int events, pid_t pid)
{
	struct timeval wait = { .tv_sec = WAIT_MS / 1000 };
	char text[4096], wanted[32];
	ssize_t n;

	snprintf(wanted, sizeof(wanted), "PID=%d", (int)pid);
	setsockopt(events, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	while ((n = recv(events, text, sizeof(text) - 1, 0)) > 0) {
		bool is_end = false, is_ours = false;

		text[n] = '\0';
		for (char *line = text; line < text + n; line += strlen(line) + 1) {
			is_end |= strcmp(line, "EVENT=destroy") == 0;
			is_ours |= strcmp(line, wanted) == 0;
		}
		if (is_end && is_ours)
			return true;
	}
	return false;
}

static int open_events(void)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	int events = socket(AF_NETLINK, SOCK_DGRAM, NETLINK_KOBJECT_UEVENT);

	assert_int_equal(bind(events, (struct sockaddr *)&address, sizeof(address)), 0);
	return events;
}

TEST(no_vm_is_kept)
{
	struct bench bench;
	int events;

	bench_begin(&bench, 1);
	events = open_events();
	assert_int_equal(bench_collect(&bench), 0);
	/* The links are there, and the guest is in the latest sample. */
	kill(latest_heir, SIGKILL);
	kill(bench.guest, SIGKILL);
	assert_true(is_destroyed(events, bench.guest));
	close(events);
	bench_end(&bench);
}

#define MANY_VMS 24 /* their statistics are more than the kernel gives at once */

struct half_read {
	pid_t guest;
	int events;
	int nr_taken, nr_destroyed;
};

/* At the first of what was read the guest ends; the iterator is open, and not at its end. */
static void end_guest(void *arg, const struct account_head *head, const char *bytes)
{
	struct half_read *half = arg;

	(void)head;
	(void)bytes;
	if (half->nr_taken++ > 0)
		return;
	kill(latest_heir, SIGKILL);
	kill(half->guest, SIGKILL);
	while (half->nr_destroyed < MANY_VMS && is_destroyed(half->events, half->guest))
		half->nr_destroyed++;
}

TEST(no_vm_is_kept_by_half_a_reading)
{
	struct account_layout layouts[ACCOUNT_LAYOUTS] = { 0 };
	struct account_reader *reader;
	struct half_read half;
	struct bench bench;

	bench_begin(&bench, MANY_VMS);
	half = (struct half_read){ .guest = bench.guest, .events = open_events() };
	assert_int_equal(account_reader_new(layouts, &reader, &bench.error), 0);
	/* Before Linux 6.1 of all processes: others may be there, too. */
	assert_int_equal(account_read(reader, account_reads_one(reader) ? bench.guest : 0, true,
				      end_guest, &half), 0);
	assert_int_equal(half.nr_destroyed, MANY_VMS);
	if (account_reads_one(reader)) /* it was half of it, indeed */
		assert_true(half.nr_taken < 3 * MANY_VMS);
	account_reader_free(reader);
	for (size_t i = 0; i < ACCOUNT_LAYOUTS; i++)
		free(layouts[i].counters);
	close(half.events);
	bench_end(&bench);
}

#define IDS 64

struct ids {
	uint32_t programs[IDS], maps[IDS], links[IDS];
	size_t nr_programs, nr_maps, nr_links;
};

static void add_id(uint32_t *list, size_t *nr, const char *text, const char *key)
{
	const char *at = strstr(text, key);

	if (at && *nr < IDS)
		list[(*nr)++] = (uint32_t)strtoul(at + strlen(key), NULL, 10);
}

/* What this process has of BPF, by its descriptors. */
static void list_ids(struct ids *ret_ids)
{
	*ret_ids = (struct ids){ 0 };
	for (int fd = 0; fd < 256; fd++) {
		char path[64], text[1024];
		ssize_t n;
		int info;

		snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
		info = open(path, O_RDONLY | O_CLOEXEC);
		n = info < 0 ? 0 : read(info, text, sizeof(text) - 1);
		if (info >= 0)
			close(info);
		text[n > 0 ? n : 0] = '\0';
		add_id(ret_ids->programs, &ret_ids->nr_programs, text, "prog_id:");
		add_id(ret_ids->maps, &ret_ids->nr_maps, text, "map_id:");
		add_id(ret_ids->links, &ret_ids->nr_links, text, "link_id:");
	}
}

/* The kernel frees after a while. */
static void assert_gone(const uint32_t *list, size_t nr, int (*open_by_id)(uint32_t))
{
	const struct timespec pause = { .tv_nsec = 10000000 };

	for (size_t i = 0; i < nr; i++) {
		int fd = open_by_id(list[i]), tries = 0;

		while (fd >= 0 && tries++ < WAIT_MS / 10) {
			close(fd);
			nanosleep(&pause, NULL);
			fd = open_by_id(list[i]);
		}
		assert_true(fd < 0);
	}
}

TEST(nothing_stays_in_the_kernel)
{
	struct bench bench;
	struct ids ids;

	bench_begin(&bench, 1);
	assert_int_equal(bench_collect(&bench), 0);
	list_ids(&ids);
	assert_true(ids.nr_programs >= 1 && ids.nr_maps >= 1 && ids.nr_links >= 2);
	bench_end(&bench);
	assert_gone(ids.links, ids.nr_links, bpf_link_get_fd_by_id);
	assert_gone(ids.programs, ids.nr_programs, bpf_prog_get_fd_by_id);
	assert_gone(ids.maps, ids.nr_maps, bpf_map_get_fd_by_id);
	list_ids(&ids);
	assert_int_equal(ids.nr_programs + ids.nr_maps + ids.nr_links, 0);
}
