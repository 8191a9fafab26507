// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * synthetic - what one refresh costs beyond the system calls, with made-up counters.
 *
 * From what read(2) of a perf group left in memory over the sample and the stats to the finished
 * Events view: many CPUs with one key a field, and many vCPUs with a key each; timed exits of many
 * vCPUs up to each view of them; and samples of their code up to the view Where. No renderer, no
 * kernel, and not the engine's own loop. CPU time, so that a busy machine does not count as cost;
 * medians of the parts need not add up to the median of the whole.
 */
#include <inttypes.h>
#include <malloc.h>

#include "lib/array.h"
#include "lib/text.h"
#include "tests/bench/measure.h"
#include "host/env.h"
#include "tests/worlds/fake_guest.h"
#include "core/views/query.h"
#include "core/views/view.h"

#define ROUNDS 200
#define NR_PLAIN 90 /* events without a parent; the others are reasons of the first */
#define TARGET_MS 10.0
#define TIMED_MS 5.0
#define TIMED_BYTES (32u << 20)
#define NR_REASONS 20
#define VCPUS_A_GUEST 4
#define CODE_MS 20.0
#define CODE_BYTES (32u << 20)
#define VCPU_STACKS 148 /* different ones of a vCPU */
#define PATHS 4096
#define PATH_DEPTH 24
#define SAMPLE_STACKS 16384 /* as many as the kernel has room for between two samples */

/* As PERF_FORMAT_GROUP | PERF_FORMAT_ID lays it out. */
struct value {
	uint64_t count, id;
};

struct bench {
	struct env env;
	struct fields *fields;
	struct stats *stats;
	struct guests *guests; /* NULL: none */
	struct sample sample;
	struct field_set wanted;
	struct query query;
	struct view view;
	uint64_t now_ns;
	void (*fill)(struct bench *bench); /* adds the rows of a sample */
	uint32_t nr_fields, nr_cpus, nr_vcpus;
	/* Of counters: */
	struct value *values; /* of all CPUs */
	uint64_t *ids;	      /* by CPU and field */
	uint32_t *order;      /* the field of each position in a group's read */
	uint64_t *sums;	      /* by field */
	/* Of timed exits: the parents' fields. */
	uint32_t vmexit, time, arguments;
	/* Of code: */
	struct stacks *stacks;
	uint32_t *paths;  /* their last nodes */
	size_t nr_sampled; /* stacks so far */
};

static void add_fields(struct bench *bench)
{
	char name[64];

	for (uint32_t i = 0; i < bench->nr_fields; i++) {
		struct field spec = { .name = name, .parent = i < NR_PLAIN ? FIELD_NONE : 0 };

		if (i < NR_PLAIN)
			snprintf(name, sizeof(name), "kvm_event_%u", i);
		else
			snprintf(name, sizeof(name), "kvm_event_0(REASON_%u)", i);
		fields_add(bench->fields, &spec);
	}
}

/*
 * The field of each position in a group's read is kept from the last one; the id says whether it
 * still holds.
 */
static void sum_cpus(struct bench *bench)
{
	memset(bench->sums, 0, bench->nr_fields * sizeof(*bench->sums));
	for (uint32_t cpu = 0; cpu < bench->nr_cpus; cpu++) {
		const struct value *values = bench->values + (size_t)cpu * bench->nr_fields;
		const uint64_t *ids = bench->ids + (size_t)cpu * bench->nr_fields;

		for (uint32_t i = 0; i < bench->nr_fields; i++) {
			if (values[i].id == ids[bench->order[i]])
				bench->sums[bench->order[i]] += values[i].count;
		}
	}
	for (uint32_t i = 0; i < bench->nr_fields; i++) {
		struct key key = { GUEST_NONE, -1, i };

		sample_add(&bench->sample, key, bench->sums[i], ROW_FROM_ZERO);
	}
}

static void add_vcpus(struct bench *bench)
{
	uint64_t seconds = bench->now_ns / 1000000000;

	for (uint32_t vcpu = 0; vcpu < bench->nr_vcpus; vcpu++) {
		for (uint32_t i = 0; i < bench->nr_fields; i++) {
			struct key key = { 1 + vcpu / 4, (int32_t)(vcpu % 4), i };
			uint64_t count = seconds * (i * 37 + vcpu);

			sample_add(&bench->sample, key, count, ROW_FROM_ZERO);
		}
	}
}

static void fill_counters(struct bench *bench)
{
	if (bench->nr_cpus)
		sum_cpus(bench);
	add_vcpus(bench);
}

static void bench_init(struct bench *bench, const struct view_type *type)
{
	*bench = (struct bench){ .env.root = "/nonexistent" };
	bench->fields = must(fields_new());
	bench->stats = must(stats_new());
	bench->query.type = type;
	bench->query.sort = view_default_sort(type);
}

static void counters_init(struct bench *bench, uint32_t nr_cpus, uint32_t nr_vcpus,
			  uint32_t nr_fields)
{
	size_t nr_values = (size_t)nr_cpus * nr_fields;

	bench_init(bench, &view_events);
	bench->fill = fill_counters;
	bench->nr_fields = nr_fields;
	bench->nr_cpus = nr_cpus;
	bench->nr_vcpus = nr_vcpus;
	bench->query.children = true;
	bench->values = must(calloc(nr_values + 1, sizeof(*bench->values)));
	bench->ids = must(calloc(nr_values + 1, sizeof(*bench->ids)));
	bench->order = must(calloc(nr_fields, sizeof(*bench->order)));
	bench->sums = must(calloc(nr_fields, sizeof(*bench->sums)));
	add_fields(bench);
	query_wants(&bench->query, bench->fields, &bench->wanted);
	for (size_t i = 0; i < nr_values; i++)
		bench->values[i].id = bench->ids[i] = 1000 + 7 * i;
	for (uint32_t i = 0; i < nr_fields; i++)
		bench->order[i] = i;
}

static void bench_release(struct bench *bench)
{
	view_release(&bench->view);
	field_set_release(&bench->wanted);
	sample_release(&bench->sample);
	stats_free(bench->stats);
	guests_free(bench->guests);
	fields_free(bench->fields);
	free(bench->values);
	free(bench->ids);
	free(bench->order);
	free(bench->sums);
	stacks_free(bench->stacks);
	free(bench->paths);
}

/* What the kernel does between two refreshes; not measured. */
static void pass_time(struct bench *bench)
{
	size_t nr_values = (size_t)bench->nr_cpus * bench->nr_fields;

	for (size_t i = 0; i < nr_values; i++)
		bench->values[i].count += (i * 2654435761u) >> 7 & 1023;
}

enum { PART_SAMPLE, PART_STATS, PART_VIEW, PART_ALL, NR_PARTS };

static void refresh(struct bench *bench, double *ret_ms)
{
	struct facts facts = {
		.wanted = &bench->wanted,
		.fields = bench->fields,
		.stats = bench->stats,
		.guests = bench->guests,
		.stacks = bench->stacks,
	};
	double start = cpu_ms(), sampled, updated;

	bench->now_ns += UINT64_C(1000000000);
	sample_reset(&bench->sample);
	bench->fill(bench);
	bench->sample.time_ns[0] = bench->now_ns;
	sampled = cpu_ms();
	stats_update(bench->stats, bench->fields, &bench->sample);
	updated = cpu_ms();
	view_build(&bench->view, &bench->query, &facts);
	ret_ms[PART_ALL] = cpu_ms() - start;
	ret_ms[PART_SAMPLE] = sampled - start;
	ret_ms[PART_STATS] = updated - sampled;
	ret_ms[PART_VIEW] = ret_ms[PART_ALL] - (updated - start);
}

static void forget_most_memory(void)
{
	FILE *file = must(fopen("/proc/self/clear_refs", "we"));

	fputs("5", file);
	fclose(file);
}

/* The memory that this process has had at most since then. */
static size_t most_memory(void)
{
	FILE *file = must(fopen("/proc/self/status", "re"));
	size_t kib = 0;
	char line[128];

	while (fgets(line, sizeof(line), file))
		sscanf(line, "VmHWM: %zu", &kib);
	fclose(file);
	return kib << 10;
}

/* The medians over all rounds. */
static void measure(struct bench *bench, double *ret_ms)
{
	double times[NR_PARTS][ROUNDS], ms[NR_PARTS];

	refresh(bench, ms);
	for (int round = 0; round < ROUNDS; round++) {
		pass_time(bench);
		refresh(bench, ms);
		for (int part = 0; part < NR_PARTS; part++)
			times[part][round] = ms[part];
	}
	for (int part = 0; part < NR_PARTS; part++)
		ret_ms[part] = median(times[part], ROUNDS);
}

static void measure_counters(uint32_t nr_cpus, uint32_t nr_vcpus, uint32_t nr_fields,
			     double *ret_ms)
{
	struct bench bench;

	counters_init(&bench, nr_cpus, nr_vcpus, nr_fields);
	measure(&bench, ret_ms);
	bench_release(&bench);
}

/* What a change of the filter costs: every name is matched. */
static double measure_query(uint32_t nr_fields, const char *filter)
{
	double times[ROUNDS];
	struct pattern *pattern;
	struct bench bench;

	counters_init(&bench, 0, 0, nr_fields);
	check(pattern_new(filter, &pattern, NULL), NULL);
	bench.query.filter = pattern;
	for (int round = 0; round < ROUNDS; round++) {
		double start = cpu_ms();

		query_wants(&bench.query, bench.fields, &bench.wanted);
		times[round] = cpu_ms() - start;
	}
	pattern_free(pattern);
	bench_release(&bench);
	return median(times, ROUNDS);
}

/* ---- timed exits */

static uint32_t add_field(struct bench *bench, const struct field *spec)
{
	uint32_t id;

	id = fields_add(bench->fields, spec);
	return id;
}

/* "vmexit" and its reasons, "time" and its parts; each reason came with one argument. */
static void add_timed_fields(struct bench *bench)
{
	char name[64];
	struct field spec = { .name = "vmexit", .parent = FIELD_NONE, .use = USE_EXIT,
			      .exit_rank = 1 };

	bench->vmexit = add_field(bench, &spec);
	spec.parent = bench->vmexit;
	spec.name = name;
	for (uint32_t i = 0; i < NR_REASONS; i++) {
		snprintf(name, sizeof(name), "vmexit(REASON_%u)", i);
		spec.is_idle = i == 3;
		add_field(bench, &spec);
	}
	spec = (struct field){ .name = "time", .parent = FIELD_NONE, .use = USE_TIME };
	bench->time = add_field(bench, &spec);
	spec.name = name;
	spec.parent = bench->time;
	for (int part = TIME_GUEST; part < TIME_PARTS; part++) {
		snprintf(name, sizeof(name), "time(%d)", part);
		spec.part = (enum time_part)part;
		add_field(bench, &spec);
	}
	spec = (struct field){ .name = "msr", .parent = FIELD_NONE, .use = USE_ARGUMENT,
			       .reason = FIELD_NONE };
	bench->arguments = add_field(bench, &spec);
	spec.name = name;
	spec.parent = bench->arguments;
	for (uint32_t i = 0; i < NR_REASONS; i++) {
		snprintf(name, sizeof(name), "msr(REASON_%u 0x%x)", i, i);
		spec.reason = bench->vmexit + 1 + i;
		add_field(bench, &spec);
	}
}

/* All reasons happen all the time, in five buckets each. */
static void add_timed_rows(struct bench *bench, struct key key, uint32_t parent, uint64_t seconds)
{
	struct timing timing = { 0 };

	for (uint32_t i = 0; i <= NR_REASONS; i++) {
		uint64_t count = seconds * (i * 37 + (uint32_t)key.vcpu + 5);

		key.field = parent + i;
		timing.time_ns = count * 3000;
		timing.max_ns = 40000;
		for (uint32_t k = 0; k < 5; k++)
			timing.hist[3 + i % 8 + k] = (uint32_t)(count / 5);
		sample_add_timed(&bench->sample, key, count, ROW_FROM_ZERO, &timing);
	}
}

static void add_vcpu(struct bench *bench, uint32_t vcpu, bool has_arguments)
{
	uint64_t seconds = bench->now_ns / 1000000000;
	struct key key = { 1 + vcpu / VCPUS_A_GUEST, (int32_t)(vcpu % VCPUS_A_GUEST), 0 };

	add_timed_rows(bench, key, bench->vmexit, seconds);
	for (uint32_t part = 0; part < TIME_PARTS; part++) {
		key.field = bench->time + part;
		sample_add(&bench->sample, key, seconds * (part ? 200000000 : 1000000000),
			   ROW_FROM_ZERO);
	}
	if (has_arguments)
		add_timed_rows(bench, key, bench->arguments, seconds);
}

static void fill_timed(struct bench *bench)
{
	bool has_arguments = field_set_has(&bench->wanted, bench->arguments);

	for (uint32_t i = 0; i < bench->nr_vcpus; i++)
		add_vcpu(bench, i, has_arguments);
}

static void timed_init(struct bench *bench, uint32_t nr_vcpus, const struct view_type *type)
{
	bench_init(bench, type);
	bench->fill = fill_timed;
	bench->nr_vcpus = nr_vcpus;
	bench->guests = must(guests_new(&bench->env));
	add_timed_fields(bench);
	for (uint32_t i = 0; i < nr_vcpus / VCPUS_A_GUEST; i++) {
		char name[32];

		snprintf(name, sizeof(name), "guest-%u", i);
		if (!guests_add_fake(bench->guests, (pid_t)(1000 + 10 * i), name, VCPUS_A_GUEST))
			check(-ENOMEM, NULL);
	}
	query_wants(&bench->query, bench->fields, &bench->wanted);
}

/* The memory that is in use, too. */
static void measure_timed(uint32_t nr_vcpus, const struct view_type *type, double *ret_ms,
			  size_t *ret_bytes)
{
	struct mallinfo2 before = mallinfo2(), after;
	struct bench bench;

	timed_init(&bench, nr_vcpus, type);
	measure(&bench, ret_ms);
	after = mallinfo2();
	*ret_bytes = after.uordblks + after.hblkhd - before.uordblks - before.hblkhd;
	bench_release(&bench);
}

/* ---- samples of code */

/*
 * Paths share their callers: the further from the exit, the more functions there are. An exit has
 * half as many paths as the one before.
 */
static uint32_t add_path(struct bench *bench, uint32_t path)
{
	uint32_t reason = bench->vmexit + 1 + (uint32_t)__builtin_ctz(path | 1U << 15);
	char name[64];
	uint32_t node;

	snprintf(name, sizeof(name), "REASON_%u", reason);
	node = stacks_exit(bench->stacks, name, reason, false);
	for (uint32_t depth = 0; depth < PATH_DEPTH; depth++) {
		snprintf(name, sizeof(name), "function_%u_of_level_%u",
			 path >> (PATH_DEPTH - depth) / 2 & 255, depth);
		node = stacks_call(bench->stacks, node,
				   stacks_function(bench->stacks, name, FUNCTION_KERNEL));
	}
	return node;
}

/*
 * A vCPU after the other is seen in the next one of its stacks. Some are busier than others by far,
 * so that some of their calls have rows in the tree.
 */
static void fill_code(struct bench *bench)
{
	for (uint32_t i = 0; i < SAMPLE_STACKS; i++, bench->nr_sampled++) {
		uint32_t vcpu = (uint32_t)(bench->nr_sampled % bench->nr_vcpus);
		uint32_t stack = (uint32_t)(bench->nr_sampled / bench->nr_vcpus % VCPU_STACKS);
		const struct stack_item item = {
			.key = { 1 + vcpu / VCPUS_A_GUEST, (int32_t)(vcpu % VCPUS_A_GUEST),
				 bench->paths[(vcpu * 37 + stack * 11) % PATHS] },
			.ns = 1000000000 / STACKS_HZ * (1 + 3000 / (1 + vcpu)),
			.count = 1,
		};

		stack_sums_add(&bench->sample.stacks, &item);
	}
}

/* All stacks have been seen before it begins; the most memory that it needs at a time, too. */
static void measure_code(uint32_t nr_vcpus, bool is_tree, double *ret_ms, size_t *ret_bytes)
{
	struct bench bench;
	double ms[NR_PARTS];

	malloc_trim(0);
	forget_most_memory();
	timed_init(&bench, nr_vcpus, &view_where);
	bench.fill = fill_code;
	bench.query.children = is_tree;
	bench.stacks = must(stacks_new());
	bench.paths = must(calloc(PATHS, sizeof(*bench.paths)));
	for (uint32_t i = 0; i < PATHS; i++)
		bench.paths[i] = add_path(&bench, i);
	while (bench.nr_sampled < (size_t)nr_vcpus * VCPU_STACKS)
		refresh(&bench, ms);
	measure(&bench, ret_ms);
	*ret_bytes = most_memory();
	bench_release(&bench);
}

static void print_line(const char *what, const double *ms)
{
	printf("%-28s %8.3f %8.3f %8.3f %8.3f\n", what, ms[PART_SAMPLE], ms[PART_STATS],
	       ms[PART_VIEW], ms[PART_ALL]);
}

static void print_growth(const char *what, const double *ms)
{
	printf("%-30s 1.0 %.1f %.1f %.1f\n", what, ms[1] / ms[0], ms[2] / ms[0], ms[3] / ms[0]);
}

/* Every view of timed exits. Returns whether all are fast and small enough. */
static bool measure_views(void)
{
	static const struct view_type *const types[] = { &view_guests, &view_vcpus, &view_exits };
	static const struct view_type *const with_arguments[] = { &view_hotspots, &view_why };
	double ms[NR_PARTS], worst = 0;
	size_t bytes, most = 0;
	char what[64];

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		measure_timed(1000, types[i], ms, &bytes);
		snprintf(what, sizeof(what), "%s, 1000 x %d timed", types[i]->name, NR_REASONS);
		print_line(what, ms);
		worst = ms[PART_ALL] > worst ? ms[PART_ALL] : worst;
		most = bytes > most ? bytes : most;
	}
	/* Twice as many rows: every reason has an argument as well. */
	for (size_t i = 0; i < ARRAY_SIZE(with_arguments); i++) {
		measure_timed(1000, with_arguments[i], ms, &bytes);
		snprintf(what, sizeof(what), "%s, 1000 x 2 x %d timed", with_arguments[i]->name,
			 NR_REASONS);
		print_line(what, ms);
	}
	printf("%s: timed exits of 1000 vCPUs %.3f ms, target %.0f ms; %.1f MiB, target %u MiB\n",
	       worst <= TIMED_MS && most <= TIMED_BYTES ? "ok" : "SLOW", worst, TIMED_MS,
	       (double)most / (1 << 20), TIMED_BYTES >> 20);
	return worst <= TIMED_MS && most <= TIMED_BYTES;
}

/* The view Where, as functions and as a tree. Returns whether it is fast and small enough. */
static bool measure_where(void)
{
	double ms[NR_PARTS], worst = 0;
	size_t bytes, most = 0;

	for (int is_tree = 0; is_tree < 2; is_tree++) {
		measure_code(1000, is_tree, ms, &bytes);
		print_line(is_tree ? "where, 148,000 stacks, tree" : "where, 148,000 stacks", ms);
		worst = ms[PART_ALL] > worst ? ms[PART_ALL] : worst;
		most = bytes > most ? bytes : most;
	}
	printf("%s: code of 1000 vCPUs %.3f ms, target %.0f ms; %.1f MiB, target %u MiB\n",
	       worst <= CODE_MS && most <= CODE_BYTES ? "ok" : "SLOW", worst, CODE_MS,
	       (double)most / (1 << 20), CODE_BYTES >> 20);
	return worst <= CODE_MS && most <= CODE_BYTES;
}

int main(void)
{
	bool is_ok;

	static const uint32_t cpus[] = { 64, 128, 256, 512 };
	double ms[NR_PARTS], all[4], sample[4];
	char what[32];

	printf("%-28s %8s %8s %8s %8s\n", "median CPU ms of a refresh", "sample", "stats", "view",
	       "all");
	for (int i = 0; i < 4; i++) {
		measure_counters(cpus[i], 0, 400, ms);
		snprintf(what, sizeof(what), "%u CPUs x 400 fields", cpus[i]);
		print_line(what, ms);
		all[i] = ms[PART_ALL];
		sample[i] = ms[PART_SAMPLE];
	}
	measure_counters(0, 1000, 20, ms);
	print_line("1000 vCPUs x 20 fields", ms);
	is_ok = measure_where();
	is_ok = measure_views() && is_ok;
	print_growth("growth 64/128/256/512, sample", sample);
	print_growth("growth 64/128/256/512, all", all);
	printf("change of filter, 400 fields: %.3f ms; hostile: %.1f ms\n",
	       measure_query(400, "event.*REASON_7"), measure_query(400, "(.+)+[!?]"));
	printf("%s: 512 CPUs %.3f ms, target %.0f ms\n", all[3] <= TARGET_MS ? "ok" : "SLOW",
	       all[3], TARGET_MS);
	return is_ok && all[3] <= TARGET_MS ? 0 : 1;
}
