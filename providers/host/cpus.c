// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads /proc/stat in each sample, and the topology of a CPU when it is seen for the first time. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/file.h"
#include "lib/xalloc.h"
#include "host/machine.h"
#include "providers/host/host.h"

#define TEXT_MAX ((size_t)16 << 20)
#define NS_PER_S UINT64_C(1000000000)

/* -1: not known. */
struct host_cpu {
	bool is_seen;
	int node, core, sibling;
};

struct host_cpus {
	const struct env *env;
	const struct host_fields *fields;
	uint64_t tick_ns;
	struct host_cpu *list; /* by number */
	size_t nr;
};

struct host_cpus *host_cpus_new(const struct env *env, const struct host_fields *fields)
{
	struct host_cpus *cpus = xcalloc(1, sizeof(*cpus));
	long hz = sysconf(_SC_CLK_TCK);

	cpus->env = env;
	cpus->fields = fields;
	cpus->tick_ns = NS_PER_S / (uint64_t)(hz > 0 ? hz : 100);
	return cpus;
}

void host_cpus_free(struct host_cpus *cpus)
{
	if (cpus)
		free(cpus->list);
	free(cpus);
}

/* ---- topology ---- */

#define TOPOLOGY "/sys/devices/system/cpu/cpu%d/topology/"

/* Another CPU of the same core. */
static int sibling_of(const struct host_cpus *cpus, int number)
{
	char list[CPUS_TEXT];
	struct cpus siblings;
	int cpu;

	env_read(cpus->env, list, sizeof(list), TOPOLOGY "thread_siblings_list", number);
	siblings = cpus_of(list);
	do
		cpu = cpus_next(&siblings);
	while (cpu == number);
	return cpu;
}

static int core_of(const struct host_cpus *cpus, int number)
{
	char text[32];

	return env_read(cpus->env, text, sizeof(text), TOPOLOGY "core_id", number) > 0 ?
		       (int)strtol(text, NULL, 10) : -1;
}

static void find_nodes(struct host_cpus *cpus)
{
	char nodes_list[CPUS_TEXT], list[CPUS_TEXT];
	struct cpus nodes, of_node;

	env_read(cpus->env, nodes_list, sizeof(nodes_list), "/sys/devices/system/node/online");
	nodes = cpus_of(nodes_list);
	for (int node; (node = cpus_next(&nodes)) >= 0;) {
		env_read(cpus->env, list, sizeof(list), "/sys/devices/system/node/node%d/cpulist",
			 node);
		of_node = cpus_of(list);
		for (int cpu; (cpu = cpus_next(&of_node)) >= 0;) {
			if ((size_t)cpu < cpus->nr)
				cpus->list[cpu].node = node;
		}
	}
}

static struct host_cpu *see_cpu(struct host_cpus *cpus, int number)
{
	size_t nr = (size_t)number + 1;
	struct host_cpu *cpu;

	if (nr > cpus->nr) {
		cpu = xreallocarray(cpus->list, nr, sizeof(*cpu));
		cpus->list = cpu;
		for (; cpus->nr < nr; cpus->nr++)
			cpus->list[cpus->nr] = (struct host_cpu){ false, -1, -1, -1 };
	}
	cpu = &cpus->list[number];
	if (!cpu->is_seen) {
		cpu->core = core_of(cpus, number);
		cpu->sibling = sibling_of(cpus, number);
	}
	return cpu;
}

int host_cpus_node(struct host_cpus *cpus, int cpu)
{
	struct host_cpu *found = cpu >= 0 && cpu < CPUS_MAX ? see_cpu(cpus, cpu) : NULL;

	if (!found)
		return -1;
	if (!found->is_seen) {
		found->is_seen = true;
		find_nodes(cpus);
	}
	return cpus->list[cpu].node;
}

/* ---- a sample ---- */

/* proc(5): "user nice system idle iowait irq softirq steal", in ticks. */
static uint64_t busy_ticks(const char *at)
{
	enum { IDLE = 3, IOWAIT = 4, NUMBERS = 8 };
	uint64_t sum = 0;

	for (int i = 0; i < NUMBERS; i++) {
		char *end;
		uint64_t ticks = strtoull(at, &end, 10);

		if (i != IDLE && i != IOWAIT)
			sum += ticks;
		at = end;
	}
	return sum;
}

/* Unless it is not known: -1. */
static void add_row(const struct host_cpus *cpus, int number, enum host_part part, int64_t value,
		    struct sample *sample)
{
	if (value >= 0)
		sample_add(sample, (struct key){ 0, number, cpus->fields->parts[part] },
			   (uint64_t)value, 0);
}

/* The number of a line "cpu12 ..."; -1: it is no such line. ret_at: after the number. */
static int number_of(const char *line, const char **ret_at)
{
	char *end;
	long number;

	if (strncmp(line, "cpu", 3) != 0 || line[3] < '0' || line[3] > '9')
		return -1;
	number = strtol(line + 3, &end, 10);
	*ret_at = end;
	return number < CPUS_MAX ? (int)number : -1;
}

static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return line + (*line == '\n');
}

/* Looks at CPUs that are new. */
static void see_cpus(struct host_cpus *cpus, const char *text)
{
	bool has_new = false;

	for (const char *line = text; strncmp(line, "cpu", 3) == 0; line = next_line(line)) {
		const char *at;
		int number = number_of(line, &at);
		struct host_cpu *cpu = number < 0 ? NULL : see_cpu(cpus, number);

		has_new |= cpu && !cpu->is_seen;
		if (cpu)
			cpu->is_seen = true;
	}
	if (has_new)
		find_nodes(cpus);
}

static void add_cpus(const struct host_cpus *cpus, const char *text, struct sample *sample)
{
	/* All lines of CPUs are at the beginning. */
	for (const char *line = text; strncmp(line, "cpu", 3) == 0;
	     line = next_line(line)) {
		const struct host_cpu *cpu;
		const char *at;
		int number = number_of(line, &at);

		if (number < 0)
			continue;
		cpu = &cpus->list[number];
		add_row(cpus, number, HOST_BUSY, (int64_t)(busy_ticks(at) * cpus->tick_ns), sample);
		add_row(cpus, number, HOST_NODE, cpu->node, sample);
		add_row(cpus, number, HOST_CORE, cpu->core, sample);
		add_row(cpus, number, HOST_SIBLING, cpu->sibling, sample);
	}
}

int host_cpus_collect(struct host_cpus *cpus, struct sample *sample)
{
	char path[PATH_MAX], *text = NULL;
	size_t size;
	int err = read_whole(env_path(cpus->env, path, sizeof(path), "/proc/stat"), TEXT_MAX, &text,
			     &size);

	if (!err) {
		see_cpus(cpus, text);
		add_cpus(cpus, text, sample);
	}
	free(text);
	return err;
}
