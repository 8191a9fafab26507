// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scale - what a host of 300 guests with 8 vCPUs costs that has everything at once: 60 culprits of
 * each vCPU's waits, and 5,000 stacks with 100 calls each.
 *
 * CPU time of the thread that samples and draws: of a sample (its stats, its findings, its moment
 * for a history, and the exporter's text), and of a key that leads to each view (its rows and its
 * picture). Medians; more than 50 ms of any one is a failure. What the first picture takes, which
 * asks the kernel for the memory, is printed.
 */
#include <inttypes.h>

#include "core/findings/findings.h"
#include "core/views/query.h"
#include "core/views/view.h"
#include "history/moment.h"
#include "lib/array.h"
#include "tests/bench/made_up.h"
#include "ui/metrics/metrics.h"
#include "ui/screen/picture.h"

#define ROUNDS 7
#define TARGET_MS 50.0
#define GUESTS 300
#define VCPUS 8 /* of each guest */
#define CULPRITS 60 /* of each vCPU */
#define STACKS 5000
#define DEPTH 100
#define FORKS 20 /* calls of a stack that are its own; it shares the others */
#define PENDING 8 /* vectors of each vCPU */
#define ARGUMENTS 8 /* of each vCPU's exits for one reason */

struct bench {
	struct made_up made_up;
	struct host_fields host;
	uint32_t waits, culprits[2 * CULPRITS];
	uint32_t pending, vectors[PENDING], arguments[ARGUMENTS];
	struct stacks *stacks;
	uint32_t leaves[STACKS];
	struct query query;
	struct view view;
	struct screen screen;
	struct grid grid;
	struct findings findings, steady;
	struct metrics *metrics;
	struct moment_taker taker;
	struct moment moment;
	bool is_slow;
};

static void add_culprits(struct bench *bench)
{
	struct fields *fields = bench->made_up.fields;
	char name[64];

	bench->waits = fields_add(fields, &(struct field){ .name = "waits", .parent = FIELD_NONE,
							   .source = PROVIDER_WHO, .use = USE_WAIT,
							   .part = WAIT_ALL });
	for (uint32_t i = 0; i < ARRAY_SIZE(bench->culprits); i++) {
		snprintf(name, sizeof(name), "waits(process-%u)", i);
		bench->culprits[i] =
			fields_add(fields, &(struct field){ .name = name, .parent = bench->waits,
							    .source = PROVIDER_WHO,
							    .use = USE_WAIT,
							    .part = WAIT_PROCESS });
	}
}

static void add_vectors(struct bench *bench)
{
	struct fields *fields = bench->made_up.fields;
	char name[64];

	bench->pending =
		fields_add(fields, &(struct field){ .name = "interrupts", .parent = FIELD_NONE,
						    .source = PROVIDER_WHO,
						    .use = USE_INTERRUPT, .reason = FIELD_NONE,
						    .part = INTERRUPT_ALL });
	for (uint32_t i = 0; i < PENDING; i++) {
		snprintf(name, sizeof(name), "interrupts(vector %u)", 32 + i);
		bench->vectors[i] =
			fields_add(fields, &(struct field){ .name = name, .parent = bench->pending,
							    .source = PROVIDER_WHO,
							    .use = USE_INTERRUPT,
							    .reason = FIELD_NONE,
							    .part = INTERRUPT_VECTOR });
	}
}

static void add_arguments(struct bench *bench)
{
	char label[32];

	for (uint32_t i = 0; i < ARGUMENTS; i++) {
		snprintf(label, sizeof(label), "0x%x", i);
		bench->arguments[i] = exit_fields_argument(&bench->made_up.exit_fields, EXITS_MSR,
							   "REASON_0", bench->made_up.reasons[0],
							   label);
	}
}

/* Each exit's stacks have some callers in common, and then calls of their own. */
static void add_stacks(struct bench *bench)
{
	char name[64];

	bench->stacks = must(stacks_new());
	for (uint32_t i = 0; i < STACKS; i++) {
		uint32_t reason = i % REASONS, node;

		snprintf(name, sizeof(name), "REASON_%u", reason);
		node = stacks_exit(bench->stacks, name, bench->made_up.reasons[reason],
				   reason == 1);
		for (uint32_t depth = 0; depth < DEPTH; depth++) {
			uint32_t own = depth < DEPTH - FORKS ? reason : i;

			snprintf(name, sizeof(name), "function_%u_%u", own % 512, depth);
			node = stacks_call(bench->stacks, node,
					   stacks_function(bench->stacks, name, FUNCTION_KERNEL));
		}
		bench->leaves[i] = node;
	}
}

/* What the providers "host" and "who", and the samples of code, add of a vCPU. */
static void add_rows(struct bench *bench, uint32_t thread, uint64_t seconds)
{
	struct sample *sample = &bench->made_up.sample;
	struct key key = { 1 + thread / VCPUS, (int32_t)(thread % VCPUS), 0 };
	const struct {
		enum host_part part;
		uint64_t value;
		int flags;
	} host[] = { { HOST_RUN, seconds * 400000000, ROW_NEW },
		     { HOST_WAITED, seconds * (300000000 + 1000 * thread), ROW_NEW },
		     { HOST_CPU, thread % 64, 0 },
		     { HOST_AFFINITY, 64, 0 } };

	for (size_t i = 0; i < ARRAY_SIZE(host); i++) {
		key.field = bench->host.parts[host[i].part];
		sample_add(sample, key, host[i].value, host[i].flags);
	}
	for (uint32_t i = 0; i <= CULPRITS; i++) {
		struct timing timing = { .time_ns = seconds * (i ? 4000000 + 1000 * i : 300000000),
					 .max_ns = 3000000, .hist[12] = (uint32_t)seconds };

		key.field = i ? bench->culprits[(thread + i) % (2 * CULPRITS)] : bench->waits;
		sample_add_timed(sample, key, seconds * 10, ROW_NEW, &timing);
	}
	for (uint32_t i = 0; i <= PENDING; i++) {
		struct timing timing = { .time_ns = seconds * 40000, .max_ns = 90000,
					 .hist[7] = (uint32_t)seconds };

		key.field = i ? bench->vectors[i - 1] : bench->pending;
		sample_add_timed(sample, key, seconds * 100, ROW_NEW, &timing);
	}
}

/* The same, and the provider "exits". */
static void add_more_exits(struct bench *bench, uint32_t thread, uint64_t seconds)
{
	struct sample *sample = &bench->made_up.sample;
	struct key key = { 1 + thread / VCPUS, (int32_t)(thread % VCPUS), 0 };
	const struct timing timing = { .time_ns = seconds * 40000, .max_ns = 90000,
				       .hist[7] = (uint32_t)seconds };

	for (uint32_t i = 0; i < ARGUMENTS; i++) {
		key.field = bench->arguments[i];
		sample_add_timed(sample, key, seconds * (i + 1), ROW_NEW, &timing);
	}
	long_exits_add(&sample->long_exits,
		       &(struct long_exit){ .end_ns = START + bench->made_up.now_ns,
					    .took_ns = 20000000, .guest = key.guest,
					    .vcpu = key.vcpu, .reason = bench->made_up.reasons[0],
					    .argument = FIELD_NONE });
}

static void make_sample(struct bench *bench)
{
	struct sample *sample = &bench->made_up.sample;
	uint64_t seconds;

	made_up_fill(&bench->made_up);
	seconds = bench->made_up.now_ns / 1000000000;
	for (uint32_t i = 0; i < GUESTS * VCPUS; i++) {
		add_rows(bench, i, seconds);
		add_more_exits(bench, i, seconds);
	}
	for (int32_t cpu = 0; cpu < 64; cpu++)
		sample_add(sample, (struct key){ GUEST_NONE, cpu, bench->host.parts[HOST_BUSY] },
			   seconds * 612345678, ROW_NEW);
	for (uint32_t i = 0; i < STACKS; i++) {
		uint32_t thread = i % (GUESTS * VCPUS);
		const struct stack_item item = {
			.key = { 1 + thread / VCPUS, (int32_t)(thread % VCPUS), bench->leaves[i] },
			.ns = 10000000 + i,
			.count = 1,
		};

		stack_sums_add(&sample->stacks, &item);
	}
	sample->time_ns[PROVIDER_HOST] = sample->time_ns[PROVIDER_WHO] = bench->made_up.now_ns;
}

static struct facts facts_of(struct bench *bench)
{
	struct facts facts = made_up_facts(&bench->made_up);

	facts.stacks = bench->stacks;
	facts.long_exits = &bench->made_up.stats->long_exits;
	return facts;
}

static void begin(struct bench *bench)
{
	const struct metrics_config config = { .groups = METRICS_DEFAULT,
					       .max_series = METRICS_SERIES_MAX };

	make_up(&bench->made_up, GUESTS, VCPUS, 3);
	host_fields_add(bench->made_up.fields, PROVIDER_HOST, &bench->host);
	add_culprits(bench);
	add_vectors(bench);
	add_arguments(bench);
	add_stacks(bench);
	bench->metrics = must(metrics_new(&config));
	grid_resize(&bench->grid, 50, 160);
	bench->screen = (struct screen){
		.view = &bench->view, .query = &bench->query,
		.host = "bench", .kvm = "SVM", .nr_cpus = 64, .delay_s = 3, .clock = "12:31:07",
		.is_utf8 = true, .empty = "",
	};
}

static void end(struct bench *bench)
{
	view_release(&bench->view);
	grid_release(&bench->grid);
	findings_release(&bench->findings);
	findings_release(&bench->steady);
	metrics_free(bench->metrics);
	moment_taker_release(&bench->taker);
	moment_release(&bench->moment);
	stacks_free(bench->stacks);
	field_set_release(&bench->made_up.wanted);
	made_up_release(&bench->made_up);
}

static void print(struct bench *bench, const char *what, double ms, size_t nr)
{
	bool is_slow = ms > TARGET_MS;

	bench->is_slow |= is_slow;
	printf("%s: %-24s %7.2f ms of %.0f; %zu\n", is_slow ? "SLOW" : "ok", what, ms, TARGET_MS,
	       nr);
	fflush(stdout);
}

/* ---- a sample */

static void measure_samples(struct bench *bench)
{
	static const struct metrics_self self = { .arch = "SVM", .engine = "bpf" };
	enum { STATS, WHY, MOMENT, EXPORT, PARTS };
	static const char *const names[] = { "stats, keys", "findings", "moment, changes",
					     "exporter, series" };
	double ms[PARTS][ROUNDS];
	size_t nr[PARTS] = { 0 };

	for (int round = -2; round < ROUNDS; round++) {
		double times[PARTS + 1];
		struct facts facts;

		make_sample(bench);
		facts = facts_of(bench);
		times[STATS] = cpu_ms();
		stats_update(bench->made_up.stats, bench->made_up.fields, &bench->made_up.sample);
		times[WHY] = cpu_ms();
		findings_find(&bench->findings, &facts, GUEST_ALL, NULL);
		findings_follow(&bench->steady, &bench->findings);
		times[MOMENT] = cpu_ms();
		moment_take(&bench->taker, &facts, START + bench->made_up.now_ns, &bench->moment);
		times[EXPORT] = cpu_ms();
		metrics_take(bench->metrics, &facts, bench->made_up.now_ns);
		nr[EXPORT] = metrics_write(bench->metrics, &facts, &self)->nr_series;
		times[PARTS] = cpu_ms();
		for (int part = 0; round >= 0 && part < PARTS; part++)
			ms[part][round] = times[part + 1] - times[part];
	}
	nr[STATS] = bench->made_up.stats->nr;
	nr[WHY] = bench->findings.nr;
	nr[MOMENT] = bench->moment.changes.nr;
	for (int part = 0; part < PARTS; part++)
		print(bench, names[part], median(ms[part], ROUNDS), nr[part]);
}

/* ---- keys */

static double key_ms(struct bench *bench)
{
	const struct facts facts = facts_of(bench);
	double began = cpu_ms();

	bench->screen.facts = &facts;
	query_wants(&bench->query, bench->made_up.fields, &bench->made_up.wanted);
	view_build(&bench->view, &bench->query, &facts);
	screen_paint(&bench->screen, &bench->grid);
	return cpu_ms() - began;
}

static void measure_view(struct bench *bench, const struct view_type *type, bool is_tree)
{
	double ms[ROUNDS], first;
	char what[64];

	bench->query = (struct query){ .type = type, .children = is_tree,
				       .marks_shared_names = true, .folds_ended = true,
				       .most_rows = SCREEN_ROWS };
	bench->query.sort = query_default_sort(&bench->query);
	view_release(&bench->view);
	first = key_ms(bench);
	for (int round = 0; round < ROUNDS; round++)
		ms[round] = key_ms(bench);
	snprintf(what, sizeof(what), "%s%s", type->name, is_tree ? ", all rows" : "");
	print(bench, what, median(ms, ROUNDS), bench->view.nr_rows);
	printf("    the first time %.2f ms\n", first);
}

int main(void)
{
	static struct bench bench;

	begin(&bench);
	printf("%d guests x %d vCPUs, %d culprits each, %d stacks of depth %d\n", GUESTS, VCPUS,
	       CULPRITS, STACKS, DEPTH);
	measure_samples(&bench);
	for (size_t i = 0; view_type_at(i); i++) {
		measure_view(&bench, view_type_at(i), false);
		if (view_type_at(i)->has_trees)
			measure_view(&bench, view_type_at(i), true);
	}
	end(&bench);
	return bench.is_slow;
}
