// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads proc(5) numa_maps, seldom. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/read.h"
#include "host/cpus.h"
#include "providers/host/memory.h"

#define NODES_MAX 64 /* memory of further nodes is remote to every CPU */
#define ROUND_NS (UINT64_C(30) * 1000000000)
#define REST 100 /* times as long as the latest reading took */

struct guest_memory {
	uint32_t guest;
	pid_t pid;
	uint64_t all_kib, kib[NODES_MAX];
	bool was_tried;
};

struct host_memory {
	const struct env *env;
	const struct guests *guests;
	struct host_cpus *cpus;
	struct guest_memory *list; /* ascending by guest */
	size_t nr;
	size_t next; /* that has its turn */
	uint64_t next_ns;
	uint64_t generation; /* of the inventory */
	bool has_nodes;
};

static int count_node(void *arg, int node)
{
	(void)node;
	++*(int *)arg;
	return 0;
}

bool host_memory_has_nodes(const struct env *env)
{
	char path[PATH_MAX], list[4096];
	int nr = 0;

	/* Not every node that is online has memory. */
	env_path(env, path, sizeof(path), "/sys/devices/system/node/has_memory");
	if (read_small(path, list, sizeof(list)) > 0)
		cpus_parse(list, count_node, &nr);
	return nr > 1;
}

struct host_memory *host_memory_new(const struct env *env, const struct guests *guests,
				    struct host_cpus *cpus)
{
	struct host_memory *memory = calloc(1, sizeof(*memory));

	if (!memory)
		return NULL;
	memory->env = env;
	memory->guests = guests;
	memory->cpus = cpus;
	memory->generation = UINT64_MAX;
	memory->has_nodes = host_memory_has_nodes(env);
	return memory;
}

void host_memory_free(struct host_memory *memory)
{
	if (memory)
		free(memory->list);
	free(memory);
}

static int by_guest(const void *a, const void *b)
{
	const struct guest_memory *x = a, *y = b;

	return (x->guest > y->guest) - (x->guest < y->guest);
}

static struct guest_memory *find(const struct host_memory *memory, uint32_t guest)
{
	const struct guest_memory wanted = { .guest = guest };

	return memory->nr ? bsearch(&wanted, memory->list, memory->nr, sizeof(wanted), by_guest) :
			    NULL;
}

/* Follows the inventory, which is in the order of guests. */
static int find_guests(struct host_memory *memory)
{
	size_t nr = guests_count(memory->guests);
	struct guest_memory *list;

	if (memory->generation == guests_generation(memory->guests))
		return 0;
	list = calloc(nr + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		const struct guest *guest = guests_at(memory->guests, i);
		const struct guest_memory *known = find(memory, guest->id);

		if (known)
			list[i] = *known;
		else
			list[i] = (struct guest_memory){ .guest = guest->id, .pid = guest->pid };
		if (!known)
			memory->next_ns = 0; /* it has its turn in this sample */
	}
	free(memory->list);
	memory->list = list;
	memory->nr = nr;
	memory->next = 0;
	memory->generation = guests_generation(memory->guests);
	return 0;
}

/* "7f00 bind:0 anon=9 N0=5 N1=4 kernelpagesize_kB=4": pages by node, and their size. */
static void add_line(struct guest_memory *of, char *line)
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
		of->all_kib += pages * page_kib;
		if (node < NODES_MAX)
			of->kib[node] += pages * page_kib;
	}
}

/* A process that has ended, or cannot be looked into, keeps what was known. */
static void read_guest(const struct host_memory *memory, struct guest_memory *guest)
{
	struct guest_memory now = { .guest = guest->guest, .pid = guest->pid, .was_tried = true };
	char path[PATH_MAX], *line = NULL;
	size_t room = 0;
	FILE *file;

	guest->was_tried = true;
	env_path(memory->env, path, sizeof(path), "/proc/%d/numa_maps", (int)guest->pid);
	file = fopen(path, "re");
	if (!file)
		return;
	while (getline(&line, &room, file) > 0)
		add_line(&now, line);
	free(line);
	fclose(file);
	if (now.all_kib)
		*guest = now;
}

static bool has_untried(const struct host_memory *memory)
{
	for (size_t i = 0; i < memory->nr; i++) {
		if (!memory->list[i].was_tried)
			return true;
	}
	return false;
}

/* The next guest in turn; guests that were never read come first. */
static struct guest_memory *choose(struct host_memory *memory)
{
	bool has_new = has_untried(memory);
	struct guest_memory *guest;

	do {
		guest = &memory->list[memory->next];
		memory->next = (memory->next + 1) % memory->nr;
	} while (has_new && guest->was_tried);
	return guest;
}

int host_memory_take_turn(struct host_memory *memory)
{
	uint64_t begun_ns = clock_now_ns(), rest_ns, wait_ns;
	int err = memory->has_nodes ? find_guests(memory) : 0;

	if (err || !memory->nr || begun_ns < memory->next_ns)
		return err;
	read_guest(memory, choose(memory));
	rest_ns = REST * (clock_now_ns() - begun_ns);
	wait_ns = has_untried(memory) ? 0 : ROUND_NS / memory->nr;
	memory->next_ns = begun_ns + (wait_ns > rest_ns ? wait_ns : rest_ns);
	return 0;
}

int host_memory_remote(const struct host_memory *memory, uint32_t guest, int cpu)
{
	const struct guest_memory *of = find(memory, guest);
	int node = of && of->all_kib && cpu >= 0 ? host_cpus_node(memory->cpus, cpu) : -1;

	if (node < 0)
		return -1;
	return (int)((of->all_kib - (node < NODES_MAX ? of->kib[node] : 0)) * 1000 / of->all_kib);
}
