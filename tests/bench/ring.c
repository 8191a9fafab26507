// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ring - the memory that a live screen's past takes: its limit, and by how much the process grows.
 *
 * From the sample on everything is the program's own: stats, moment, packing in its thread, the
 * ring. Each kind of machine is looked at in a process of its own, once the ring was full twice.
 *
 * usage: build/tests/bench/ring [MIB]	(4)
 */
#include <inttypes.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/array.h"
#include "tests/bench/made_up.h"
#include "history/recent.h"

#define WARM 3000 /* samples, until the stats have all the memory that they need */

struct kind {
	uint32_t nr_guests, nr_vcpus;
	double interval_s;
};

/* Memory of this process that no file has. */
static uint64_t anonymous_bytes(void)
{
	FILE *file = must(fopen("/proc/self/smaps_rollup", "re"));
	unsigned long long kb = 0;
	char line[256];

	while (fgets(line, sizeof(line), file))
		sscanf(line, "Anonymous: %llu", &kb);
	fclose(file);
	return (uint64_t)kb << 10;
}

static uint64_t first_id(struct store store)
{
	struct stored stored;

	check(store.type->find(store.state, 0, &stored, NULL), NULL);
	return stored.id;
}

static uint64_t last_id(struct store store)
{
	struct stored stored;

	check(store.type->find(store.state, UINT64_MAX, &stored, NULL), NULL);
	return stored.id;
}

static void take(struct recorder *recorder, struct made_up *made_up)
{
	const struct facts facts = made_up_facts(made_up);

	made_up_go_on(made_up);
	recorder_take(recorder, &facts, START + made_up->now_ns);
	while (recorder_flush(recorder, 1000))
		;
}

static void measure(const struct kind *kind, size_t limit)
{
	struct segment segment = { .host = "bench", .interval_s = kind->interval_s };
	struct recorder *recorder;
	struct made_up made_up;
	struct recent *recent;
	struct store store;
	struct sink sink;
	uint64_t before, full;

	make_up(&made_up, kind->nr_guests, kind->nr_vcpus, kind->interval_s);
	for (int i = 0; i < WARM; i++)
		made_up_go_on(&made_up);
	before = anonymous_bytes();
	recent = must(recent_new(limit, &segment, made_up.fields));
	sink = recent_sink(recent);
	store = recent_store(recent);
	check(recorder_start(&sink, &recorder), NULL);
	do {
		take(recorder, &made_up);
		full = last_id(store) - first_id(store);
	} while (first_id(store) == 1 || first_id(store) < 2 * full);
	printf("| %u × %u at %g s | %" PRIu64 " | %.2f | %.2f |\n", kind->nr_guests,
	       kind->nr_vcpus, kind->interval_s, full + 1, (double)limit / (1 << 20),
	       (double)(anonymous_bytes() - before) / (1 << 20));
	recorder_stop(recorder);
	recent_free(recent);
	made_up_release(&made_up);
}

int main(int argc, char **argv)
{
	static const struct kind kinds[] = { { 50, 4, 1 }, { 10, 4, 1 }, { 2, 2, 1 } };
	size_t limit = (argc > 1 ? strtoul(argv[1], NULL, 10) : 4) << 20;

	puts("| guests × vCPUs | samples | limit, MiB | more memory, MiB |\n|---|---|---|---|");
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		pid_t pid;

		fflush(stdout);
		pid = fork();
		check(pid < 0 ? -errno : 0, NULL);
		if (!pid) {
			measure(&kinds[i], limit);
			return fflush(stdout);
		}
		waitpid(pid, NULL, 0);
	}
	return 0;
}
