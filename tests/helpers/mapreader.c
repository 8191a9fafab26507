/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mapreader - another user of BPF: reads a large map all the time, for the shell tests.
 *
 * In these system calls the kernel runs no program on a trace event on that CPU. Prints "ready";
 * ends by itself after 240 seconds at the latest. Exit status: 1 failure.
 */
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ENTRIES 16384
#define LIMIT_S 240

static uint32_t keys[ENTRIES];
static uint64_t values[ENTRIES];

static int call(enum bpf_cmd command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int make_map(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_HASH,
		.key_size = sizeof(keys[0]),
		.value_size = sizeof(values[0]),
		.max_entries = ENTRIES,
	};

	return call(BPF_MAP_CREATE, &attr);
}

/* All of the map in one call. */
static int use_map(enum bpf_cmd command, int map)
{
	uint32_t end;
	union bpf_attr attr = {
		.batch = {
			.map_fd = (uint32_t)map,
			.count = ENTRIES,
			.keys = (uintptr_t)keys,
			.values = (uintptr_t)values,
			.out_batch = (uintptr_t)&end,
		},
	};

	if (command == BPF_MAP_UPDATE_BATCH)
		attr.batch.out_batch = 0;
	return call(command, &attr);
}

int main(void)
{
	const struct rlimit no_limit = { RLIM_INFINITY, RLIM_INFINITY };
	time_t end = time(NULL) + LIMIT_S;
	int map;

	setrlimit(RLIMIT_MEMLOCK, &no_limit); /* before Linux 5.11 maps count as locked memory */
	map = make_map();
	for (uint32_t i = 0; i < ENTRIES; i++)
		keys[i] = i;
	if (map < 0 || use_map(BPF_MAP_UPDATE_BATCH, map) < 0) {
		perror("mapreader");
		return 1;
	}
	puts("ready");
	fflush(stdout);
	while (time(NULL) < end)
		use_map(BPF_MAP_LOOKUP_BATCH, map);
	return 0;
}
