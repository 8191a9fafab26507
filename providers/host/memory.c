// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads proc(5) numa_maps, seldom, in a thread: the kernel takes up to a second for a big guest. */
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/process.h"
#include "lib/xalloc.h"
#include "host/machine.h"
#include "providers/host/host.h"

#define NODES_MAX 64 /* memory of further nodes is remote to every CPU */
#define ROUND_NS (UINT64_C(30) * 1000000000)
#define REST 100 /* times as long as the latest reading took */
#define FIRST_NS UINT64_C(1000000000) /* for further new guests of one reading */
#define LEFT_NS UINT64_C(10000000000) /* then a guest's lock is held, and its thread is left */
#define LEFT_MAX 8

struct by_node {
	uint64_t all_kib, kib[NODES_MAX];
};

struct guest_memory {
	struct followed of;
	struct by_node nodes;
	bool was_tried, is_stuck;
};

/* Freed by whoever finishes last: reader thread or owner. */
enum reading_state { READING_GOES_ON, READING_HAS_ENDED, READING_IS_LEFT };

struct target {
	uint32_t guest;
	pid_t pid;
	struct by_node nodes;
};

struct reading {
	char proc[PATH_MAX];
	uint64_t begun_ns, took_ns;
	atomic_int state;
	atomic_size_t nr_done; /* targets that were read */
	size_t nr;
	struct target targets[];
};

struct host_memory {
	const struct env *env;
	struct host_cpus *cpus;
	struct follow follow; /* struct guest_memory */
	uint64_t next_ns;
	struct reading *reading; /* that goes on, or has ended; NULL: none */
	size_t nr_taken; /* of its targets */
	unsigned int nr_left;
	bool has_nodes;
};

/* Not every node that is online has memory. */
bool host_memory_has_nodes(const struct env *env)
{
	char list[CPUS_TEXT];

	env_read(env, list, sizeof(list), "/sys/devices/system/node/has_memory");
	return cpus_count(list) > 1;
}

/* A new guest has its turn in this sample. */
static void begin_guest(void *arg, void *item)
{
	struct host_memory *memory = arg;

	(void)item;
	memory->next_ns = 0;
}

static struct guest_memory *guest_at(const struct host_memory *memory, size_t i)
{
	return (struct guest_memory *)memory->follow.list + i;
}

struct host_memory *host_memory_new(const struct env *env, const struct guests *guests,
				    struct host_cpus *cpus)
{
	struct host_memory *memory = xcalloc(1, sizeof(*memory));

	memory->env = env;
	memory->cpus = cpus;
	memory->follow = (struct follow){ .guests = guests, .size = sizeof(struct guest_memory),
					  .begin = begin_guest, .arg = memory };
	memory->has_nodes = host_memory_has_nodes(env);
	return memory;
}

/* Whether it has ended; if not, its thread frees it. */
static bool leave(struct reading *reading)
{
	return atomic_exchange(&reading->state, READING_IS_LEFT) == READING_HAS_ENDED;
}

void host_memory_free(struct host_memory *memory)
{
	if (!memory)
		return;
	if (memory->reading && leave(memory->reading))
		free(memory->reading);
	follow_release(&memory->follow);
	free(memory);
}

/* ---- a reading */

/* "7f00 bind:0 anon=9 N0=5 N1=4 kernelpagesize_kB=4": pages by node, and their size. */
static void add_line(struct by_node *nodes, char *line)
{
	static const char size_is[] = "kernelpagesize_kB=";
	const char *size = strstr(line, size_is);
	uint64_t page_kib = size ? strtoull(size + strlen(size_is), NULL, 10) : 0;
	char *word, *rest = line;

	while ((word = strsep(&rest, " \n"))) {
		unsigned int node;
		unsigned long long pages;

		if (sscanf(word, "N%u=%llu", &node, &pages) != 2) /* NOLINT(cert-err34-c) */
			continue;
		nodes->all_kib += pages * page_kib;
		if (node < NODES_MAX)
			nodes->kib[node] += pages * page_kib;
	}
}

static void read_target(const struct reading *reading, struct target *target)
{
	char path[PATH_MAX + 32], *line = NULL;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%d/numa_maps", reading->proc, (int)target->pid);
	file = fopen(path, "re");
	while (file && getline(&line, &room, file) > 0)
		add_line(&target->nodes, line);
	free(line);
	if (file)
		fclose(file);
}

/* The first target is read in any case, the others as long as there is time. */
static bool goes_on(struct reading *reading, size_t i)
{
	return i < reading->nr && atomic_load(&reading->state) == READING_GOES_ON &&
	       (!i || clock_now_ns() - reading->begun_ns < FIRST_NS);
}

static void *run(void *arg)
{
	struct reading *reading = arg;

	for (size_t i = 0; goes_on(reading, i); i++) {
		read_target(reading, &reading->targets[i]);
		atomic_store(&reading->nr_done, i + 1);
	}
	reading->took_ns = clock_now_ns() - reading->begun_ns;
	if (atomic_exchange(&reading->state, READING_HAS_ENDED) == READING_IS_LEFT)
		free(reading);
	return NULL;
}

/* ---- turns */

static size_t count_untried(const struct host_memory *memory)
{
	size_t nr = 0;

	for (size_t i = 0; i < memory->follow.nr; i++)
		nr += !guest_at(memory, i)->was_tried;
	return nr;
}

static void add_target(struct reading *reading, const struct guest_memory *guest)
{
	reading->targets[reading->nr++] =
		(struct target){ .guest = guest->of.guest, .pid = guest->of.pid };
}

/* All guests that were never read, or the next one in turn. */
static void choose_guest(struct host_memory *memory, struct reading *reading)
{
	for (size_t i = 0; i < memory->follow.nr; i++) {
		if (!guest_at(memory, i)->was_tried)
			add_target(reading, guest_at(memory, i));
	}
	for (size_t i = 0; i < memory->follow.nr && !reading->nr; i++) {
		const struct guest_memory *next = follow_take_turn(&memory->follow);

		if (!next->is_stuck)
			add_target(reading, next);
	}
}

/* If no thread can be started, these guests are read in a later turn. */
static void begin_reading(struct host_memory *memory)
{
	size_t most = count_untried(memory) + 1;
	struct reading *reading =
		xcalloc(1, sizeof(*reading) + most * sizeof(reading->targets[0]));
	pthread_t thread;

	reading->begun_ns = clock_now_ns();
	env_path(memory->env, reading->proc, sizeof(reading->proc), "/proc");
	choose_guest(memory, reading);
	if (thread_start(&thread, run, reading) < 0) {
		free(reading);
		return;
	}
	pthread_detach(thread);
	memory->reading = reading;
	memory->nr_taken = 0;
}

/* A process that has ended, or cannot be looked into, keeps what was known. */
static void take_results(struct host_memory *memory)
{
	size_t nr_done = atomic_load(&memory->reading->nr_done);

	for (; memory->nr_taken < nr_done; memory->nr_taken++) {
		const struct target *target = &memory->reading->targets[memory->nr_taken];
		struct guest_memory *guest = follow_find(&memory->follow, target->guest);

		if (!guest)
			continue;
		guest->was_tried = true;
		if (target->nodes.all_kib)
			guest->nodes = target->nodes;
	}
}

/*
 * Plans the next reading: at once if there are guests that were never read, else so that each guest
 * has a turn in a round; but not before the thread has rested.
 */
static void end_reading(struct host_memory *memory)
{
	struct reading *reading = memory->reading;
	uint64_t turn_ns = memory->follow.nr ? ROUND_NS / memory->follow.nr : ROUND_NS;
	uint64_t rest_ns = REST * reading->took_ns;

	if (count_untried(memory))
		turn_ns = 0;
	memory->next_ns = reading->begun_ns + (turn_ns > rest_ns ? turn_ns : rest_ns);
	memory->reading = NULL;
	free(reading);
}

/* This guest's maps cannot be read, as it holds the lock: it has no second turn. */
static void leave_behind(struct host_memory *memory)
{
	const struct reading *reading = memory->reading;
	const struct target *target = &reading->targets[memory->nr_taken];
	struct guest_memory *guest =
		memory->nr_taken < reading->nr ? follow_find(&memory->follow, target->guest) : NULL;

	if (guest)
		guest->was_tried = guest->is_stuck = true;
	if (leave(memory->reading))
		free(memory->reading);
	else
		memory->nr_left++;
	memory->reading = NULL;
	memory->next_ns = 0;
}

/* Takes what the thread has read; that is all if the thread had ended before. */
static void take_reading(struct host_memory *memory)
{
	bool has_ended;

	if (!memory->reading)
		return;
	has_ended = atomic_load(&memory->reading->state) == READING_HAS_ENDED;
	take_results(memory);
	if (has_ended)
		end_reading(memory);
	else if (clock_now_ns() - memory->reading->begun_ns > LEFT_NS &&
		 memory->nr_left < LEFT_MAX)
		leave_behind(memory);
}

void host_memory_take_turn(struct host_memory *memory)
{
	take_reading(memory);
	if (memory->has_nodes)
		follow_update(&memory->follow);
	if (!memory->reading && memory->follow.nr && clock_now_ns() >= memory->next_ns)
		begin_reading(memory);
}

int host_memory_remote(const struct host_memory *memory, uint32_t guest, int cpu)
{
	const struct guest_memory *of = follow_find(&memory->follow, guest);
	bool is_known = of && of->nodes.all_kib >= HOST_MEMORY_LEAST_KIB;
	const struct by_node *nodes = is_known ? &of->nodes : NULL;
	int node = nodes && cpu >= 0 ? host_cpus_node(memory->cpus, cpu) : -1;

	if (node < 0)
		return -1;
	return (int)((nodes->all_kib - (node < NODES_MAX ? nodes->kib[node] : 0)) * 1000 /
		     nodes->all_kib);
}
