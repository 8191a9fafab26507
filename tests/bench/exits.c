// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * exits - what a refresh of the provider "exits" costs on a large host: made-up records of 1,000
 * vCPU threads, 20 reasons each, read, turned into rows, taken into the stats and made a view of.
 *
 * Prints CPU milliseconds (medians) and memory; also how long the real program takes to load and
 * attach for that many threads, where BPF is allowed. Ends with 1 when a target is missed.
 */
#include <sys/resource.h>

#include "lib/clock.h"
#include "tests/bench/measure.h"
#include "core/facts/shared_fields.h"
#include "providers/bpf/bpf.h"
#include "providers/exits/program.h"
#include "providers/exits/threads.h"
#include "tests/worlds/fake_guest.h"
#include "tests/worlds/thread_records.h"
#include "core/views/query.h"
#include "core/views/view.h"

#define GUESTS 125
#define VCPUS 8
#define THREADS (GUESTS * VCPUS)
#define REASONS 20
#define ROUNDS 51
#define TARGET_MS 5

enum part { READ, STATS, VIEW, ALL, PARTS };

struct bench {
	struct env env;
	struct guests *guests;
	struct fields *fields;
	struct stats *stats;
	struct exits_names *names;
	struct exits_threads *threads;
	struct exits_thread *records;
	struct sample sample;
	struct query query;
	struct field_set wanted;
	struct view view;
	double spent[PARTS][ROUNDS];
};

static struct exits_code codes[EXITS_CELLS];

/* 20 codes that VMX has. */
static void make_codes(void)
{
	const struct split *split = &arch_by_name("VMX")->splits[0];

	for (unsigned int i = 0; i < REASONS; i++)
		codes[i + 1] = (struct exits_code){ split->reasons[i].code, EXITS_VMEXIT, 1, 0 };
}

static void make_records(struct bench *bench)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < GUESTS; i++) {
		pid_t pid = 10000000 + (pid_t)i * 100;
		char name[32];

		snprintf(name, sizeof(name), "guest%u", i);
		guests_add_fake(bench->guests, pid, name, VCPUS);
		for (uint32_t j = 0; j < VCPUS; j++, nr++) {
			bench->records[nr].tid = (uint32_t)pid + 1 + j;
			bench->records[nr].tgid = (uint32_t)pid;
			bench->records[nr].vcpu = EXITS_NO_VCPU;
			bench->records[nr].number = nr;
		}
	}
}

static void happen(struct bench *bench)
{
	for (uint32_t i = 0; i < THREADS; i++) {
		struct exits_thread *record = &bench->records[i];

		for (uint32_t j = 1; j <= REASONS; j++) {
			struct exits_cell *cell = &record_reason(record, j)->cell;

			cell->count += i + j;
			cell->time_ns += 1000ull * (i + j);
			cell->hist[j % EXITS_BUCKETS] += i + j;
		}
	}
}

static int make(struct bench *bench)
{
	struct provider_args args = { .env = &bench->env, .guests = NULL, .fields = NULL,
					      .source = 0 };
	struct error error = { "" };

	if (env_init(&bench->env, "", &error) < 0)
		return -1;
	bench->guests = guests_new(&bench->env);
	bench->fields = fields_new();
	bench->stats = stats_new();
	bench->records = calloc(THREADS, sizeof(*bench->records));
	args.guests = bench->guests;
	args.fields = bench->fields;
	make_codes();
	if (!bench->guests || !bench->fields || !bench->stats || !bench->records)
		return -1;
	bench->names = exits_names_new(&args, &arch_by_name("VMX")->splits[0], EXIT_FIELDS_PARTS);
	make_records(bench);
	bench->threads = exits_threads_new(&(struct exits_threads_config){
		.env = &bench->env,
		.guests = bench->guests,
		.names = bench->names,
		.fields = bench->fields,
		.codes = codes,
		.max_threads = THREADS,
		.is_timed = true,
		.clock = clock_now_ns,
	});
	if (!bench->threads)
		return -1;
	/* The inventory's first look, after which only its changes make threads be looked for. */
	exits_threads_begin(bench->threads);
	exits_threads_end(bench->threads, &bench->sample, 0);
	return 0;
}

static int refresh(struct bench *bench, unsigned int round)
{
	struct facts facts = {
		.wanted = &bench->wanted,
		.fields = bench->fields,
		.stats = bench->stats,
		.guests = bench->guests,
	};
	double begun = cpu_ms(), read, counted, built;
	int err = 0;

	sample_reset(&bench->sample);
	exits_threads_begin(bench->threads);
	for (uint32_t i = 0; i < THREADS; i++)
		exits_threads_take(bench->threads, &bench->records[i]);
	exits_threads_end(bench->threads, &bench->sample, ROW_FROM_ZERO);
	bench->sample.time_ns[0] = round * 1000000000ull;
	read = cpu_ms();
	if (!err)
		stats_update(bench->stats, bench->fields, &bench->sample);
	counted = cpu_ms();
	if (!err)
		view_build(&bench->view, &bench->query, &facts);
	built = cpu_ms();
	if (round > 1) {
		bench->spent[READ][round - 2] = read - begun;
		bench->spent[STATS][round - 2] = counted - read;
		bench->spent[VIEW][round - 2] = built - counted;
		bench->spent[ALL][round - 2] = built - begun;
	}
	return err;
}

/* The real program, for as many threads. */
static void load_program(const struct env *env)
{
	const struct exits_bpf_config config = { .env = env, .exit = NULL, .max_threads = THREADS };
	struct exits_bpf *bpf;
	struct error error = { "" };
	uint64_t begun = clock_now_ns();

	if (bpf_probe(env, &error) < 0 || exits_bpf_open(&config, &bpf, &error) < 0 ||
	    exits_bpf_attach(bpf, &error) < 0) {
		printf("loading the program: not here: %s\n", error.text);
		return;
	}
	printf("loading and attaching the program  %.1f ms\n",
	       (double)(clock_now_ns() - begun) / 1e6);
	exits_bpf_close(bpf);
}

int main(void)
{
	static struct bench bench;
	struct rusage usage;
	double all;

	if (make(&bench) < 0)
		return 1;
	bench.query = (struct query){ .type = &view_exits, .sort = view_default_sort(&view_exits) };
	query_wants(&bench.query, bench.fields, &bench.wanted);
	for (unsigned int round = 1; round <= ROUNDS + 1; round++) {
		happen(&bench);
		if (refresh(&bench, round) < 0)
			return 1;
	}
	all = median(bench.spent[ALL], ROUNDS);
	printf("%d vCPUs x %d reasons, median CPU ms of a refresh: records %.2f, stats %.2f, "
	       "view %.2f, all %.2f\n", THREADS, REASONS, median(bench.spent[READ], ROUNDS),
	       median(bench.spent[STATS], ROUNDS), median(bench.spent[VIEW], ROUNDS), all);
	getrusage(RUSAGE_SELF, &usage);
	printf("memory: %.1f MiB of the kernel's, %.1f MiB of ours besides\n",
	       (double)(THREADS * sizeof(struct exits_thread)) / (1 << 20),
	       (double)usage.ru_maxrss / 1024 -
		       (double)(THREADS * sizeof(struct exits_thread)) / (1 << 20));
	load_program(&bench.env);
	printf("%s: target %d ms\n", all <= TARGET_MS ? "ok" : "MISSED", TARGET_MS);
	return all > TARGET_MS;
}
