// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * history - what a history file costs, with made-up exits: bytes a day, CPU a sample, time to seek.
 *
 * Many guests whose vCPUs are busy to very different degrees (1 to 3,000 exits a second each,
 * log-uniform), with reasons by Zipf's law, counts by Poisson's, and log-normal durations. From the
 * sample on everything is the program's own: stats, moment, packing, the file. CPU time, so that a
 * busy machine does not count as cost.
 *
 * usage: build/bench/history [SAMPLES [FOLDER]]	(600 samples of each kind, in /tmp)
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "history/file.h"
#include "history/interval.h"
#include "tests/worlds/fake_guest.h"

#define REASONS 20
#define ZIPF 1.2
#define BUSIEST 3000.0 /* exits a second of a vCPU; the idlest: 1 */
#define SIGMA 1.0      /* of the logarithm of durations */
#define SEEKS 200
#define START (UINT64_C(1790000040) * 1000000000)

struct bench {
	uint32_t nr_guests, nr_vcpus; /* vCPUs of each guest */
	double interval_s;
	struct fields *fields;
	struct guests *guests;
	struct stats *stats;
	struct field_set wanted;
	struct sample sample;
	struct timing *timings; /* of everything so far, by vCPU and reason */
	uint64_t *counts;
	double shares[REASONS][HIST_BUCKETS]; /* of a reason's exits, by duration */
	struct moment_taker taker;
	struct moment moment;
	struct packer *packer;
	struct packed packed;
	struct history_file *file;
	char path[256];
	double rates[REASONS]; /* of the idlest vCPU, exits a second */
	uint64_t nr, now_ns;
	double take_ms, pack_ms, add_ms;
	uint64_t nr_changes;
};

static void check(int err, const struct why *why)
{
	if (!err)
		return;
	fprintf(stderr, "history: %s\n", why && why->text[0] ? why->text : strerror(-err));
	exit(1);
}

static void *must(void *memory)
{
	check(memory ? 0 : -ENOMEM, NULL);
	return memory;
}

static double cpu_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

/* ---- what is made up: the same with each run */

static uint64_t random_state = 88172645463325252u;

static double uniform(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return ((double)(random_state >> 11) + 0.5) / 9007199254740992.0;
}

static uint64_t poisson(double mean)
{
	double product, limit;
	uint64_t nr = 0;

	if (mean > 50) {
		product = mean + sqrt(mean) * sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
		return product > 0 ? (uint64_t)(product + 0.5) : 0;
	}
	limit = exp(-mean);
	product = uniform();
	while (product > limit) {
		product *= uniform();
		nr++;
	}
	return nr;
}

/* How much of a log-normal distribution is below ns. */
static double below(double ns, double median_ns)
{
	return 0.5 * erfc(-log(ns / median_ns) / (SIGMA * M_SQRT2));
}

static void choose_shares(struct bench *bench)
{
	for (uint32_t reason = 0; reason < REASONS; reason++) {
		double median_ns = 800.0 * pow(1.3, reason), before = 0;

		for (unsigned int i = 0; i < HIST_BUCKETS; i++) {
			double now = i + 1 < HIST_BUCKETS ?
					     below((double)hist_edge_ns(i), median_ns) : 1;

			bench->shares[reason][i] = now - before;
			before = now;
		}
	}
}

static void choose_rates(struct bench *bench)
{
	double sum = 0;

	for (uint32_t i = 0; i < REASONS; i++)
		sum += bench->rates[i] = pow(i + 1, -ZIPF);
	for (uint32_t i = 0; i < REASONS; i++)
		bench->rates[i] /= sum;
}

static void make_exits(struct bench *bench, uint32_t thread, uint32_t reason, double mean)
{
	uint32_t at = thread * REASONS + reason;
	struct timing *timing = &bench->timings[at];

	for (unsigned int i = 0; i < HIST_BUCKETS; i++) {
		uint64_t nr = mean * bench->shares[reason][i] < 1e-6 ?
				      0 : poisson(mean * bench->shares[reason][i]);
		double low = i ? (double)hist_edge_ns(i - 1) : 64, ns = 0;

		if (!nr)
			continue;
		bench->counts[at] += nr;
		timing->hist[i] += (uint32_t)nr;
		/* About as much as so many of them take, and the longest of a few. */
		timing->time_ns += (uint64_t)((double)nr * low * (1.4 + 0.2 * uniform()));
		for (uint64_t k = 0; k < nr && k < 4; k++)
			ns = fmax(ns, low * (1 + uniform()));
		if (timing->max_ns < (uint64_t)ns)
			timing->max_ns = (uint64_t)ns;
	}
}

static void make_sample(struct bench *bench)
{
	uint32_t nr_threads = bench->nr_guests * bench->nr_vcpus;

	sample_reset(&bench->sample);
	for (uint32_t thread = 0; thread < nr_threads; thread++) {
		double exits = bench->interval_s * pow(BUSIEST, (thread + 0.5) / nr_threads);

		for (uint32_t reason = 0; reason < REASONS; reason++) {
			uint32_t at = thread * REASONS + reason;
			struct key key = { 1 + thread / bench->nr_vcpus,
					   (int32_t)(thread % bench->nr_vcpus), 1 + reason };

			make_exits(bench, thread, reason, exits * bench->rates[reason]);
			check(sample_add_timed(&bench->sample, key, bench->counts[at],
					       ROW_FROM_ZERO | ROW_WHOLE_INTERVAL,
					       &bench->timings[at]), NULL);
		}
	}
	bench->now_ns += (uint64_t)(bench->interval_s * 1e9);
	bench->sample.time_ns[0] = bench->now_ns;
}

/* ---- the program's own */

static void add_fields(struct bench *bench)
{
	uint32_t id;
	char name[64];

	check(fields_add(bench->fields, &(struct field){ .name = "vmexit", .listed = "kvm_exit",
							 .parent = FIELD_NONE, .use = USE_EXIT,
							 .exit_rank = 1 }, &id), NULL);
	for (uint32_t i = 0; i < REASONS; i++) {
		snprintf(name, sizeof(name), "vmexit(REASON_%u)", i);
		check(fields_add(bench->fields, &(struct field){ .name = name, .use = USE_EXIT,
								 .exit_rank = 1 }, &id), NULL);
	}
}

static void begin(struct bench *bench, const char *folder)
{
	uint32_t nr = bench->nr_guests * bench->nr_vcpus * REASONS;
	struct segment segment = { .host = "bench", .interval_s = bench->interval_s };
	struct file_limits none = { 0 };
	struct why why = { "" };
	char name[32];

	bench->fields = must(fields_new());
	bench->guests = must(guests_new(NULL));
	bench->stats = must(stats_new());
	bench->timings = must(calloc(nr, sizeof(*bench->timings)));
	bench->counts = must(calloc(nr, sizeof(*bench->counts)));
	bench->packer = must(packer_new());
	bench->now_ns = 1000000000;
	add_fields(bench);
	for (uint32_t i = 0; i < bench->nr_guests; i++) {
		snprintf(name, sizeof(name), "guest-%u", i);
		guests_add_fake(bench->guests, 1000 + 10 * (pid_t)i, name, bench->nr_vcpus);
	}
	choose_rates(bench);
	choose_shares(bench);
	snprintf(bench->path, sizeof(bench->path), "%s/kvmtop-bench-%d.db", folder, (int)getpid());
	check(history_file_create(bench->path, &segment, &none, &bench->file, &why), &why);
}

static void record(struct bench *bench)
{
	struct facts facts = {
		.wanted = &bench->wanted,
		.fields = bench->fields,
		.stats = bench->stats,
		.guests = bench->guests,
	};
	double start, taken, packed;
	struct why why = { "" };

	make_sample(bench);
	check(stats_update(bench->stats, bench->fields, &bench->sample), NULL);
	start = cpu_ms();
	check(moment_take(&bench->taker, &facts, START + bench->now_ns, &bench->moment), NULL);
	taken = cpu_ms();
	check(pack_moment(bench->packer, &bench->moment, &bench->packed), NULL);
	packed = cpu_ms();
	check(history_file_add(bench->file, &bench->moment, &bench->packed, &why), &why);
	bench->add_ms += cpu_ms() - packed;
	bench->pack_ms += packed - taken;
	bench->take_ms += taken - start;
	bench->nr_changes += bench->moment.changes.nr;
	bench->nr++;
}

/* From a time to the bytes of its moment, in a file that was just opened and in one that is. */
static double seek_ms(struct bench *bench, bool opens)
{
	struct history_file *file = NULL;
	struct stored stored;
	struct blob blob = { 0 };
	struct why why = { "" };
	struct store store;
	double start = 0;

	for (int i = 0; i < SEEKS; i++) {
		if (i == 1 && !opens)
			start = cpu_ms(); /* not the first, which opens it */
		if (!file)
			check(history_file_open(bench->path, &file, &why), &why);
		store = history_file_store(file);
		check(store.type->find(store.state, START + (uint64_t)(uniform() *
				       (double)bench->now_ns), &stored, &why), &why);
		check(store.type->read(store.state, stored.id, PART_CHANGES, &blob, &why), &why);
		if (opens) {
			history_file_close(file, NULL);
			file = NULL;
		}
		if (i == 0 && opens)
			start = cpu_ms();
	}
	start = cpu_ms() - start;
	history_file_close(file, NULL);
	blob_release(&blob);
	return start / (SEEKS - 1);
}

/* All samples as one interval. */
static double interval_ms(struct bench *bench)
{
	double start = cpu_ms();
	struct history_file *file;
	struct interval *interval;
	struct why why = { "" };

	check(history_file_open(bench->path, &file, &why), &why);
	check(interval_new(history_file_store(file), NULL, &interval), NULL);
	check(interval_read(interval, 0, UINT64_MAX, &why), &why);
	interval_free(interval);
	history_file_close(file, NULL);
	return cpu_ms() - start;
}

static void end(struct bench *bench)
{
	struct why why = { "" };
	struct stat st;
	double nr = (double)bench->nr, size, seek, opened;

	check(history_file_close(bench->file, &why), &why);
	check(stat(bench->path, &st) == 0 ? 0 : -errno, NULL);
	size = (double)st.st_size / nr;
	opened = seek_ms(bench, true);
	seek = seek_ms(bench, false);
	printf("| %u × %u at %g s | %.0f | %.0f | %.0f | %.3f | %.3f | %.3f | %.3f | %.3f "
	       "| %.0f |\n",
	       bench->nr_guests, bench->nr_vcpus, bench->interval_s,
	       (double)bench->nr_changes / nr, size, size * 86400 / bench->interval_s / 1e6,
	       bench->take_ms / nr, bench->pack_ms / nr, bench->add_ms / nr, opened, seek,
	       interval_ms(bench));
	fflush(stdout);
	unlink(bench->path);
	moment_release(&bench->moment);
	packed_release(&bench->packed);
	packer_free(bench->packer);
	sample_release(&bench->sample);
	stats_free(bench->stats);
	guests_free(bench->guests);
	fields_free(bench->fields);
	free(bench->timings);
	free(bench->counts);
}

int main(int argc, char **argv)
{
	static const struct bench kinds[] = {
		{ .nr_guests = 50, .nr_vcpus = 4, .interval_s = 1 },
		{ .nr_guests = 50, .nr_vcpus = 4, .interval_s = 10 },
		{ .nr_guests = 2, .nr_vcpus = 2, .interval_s = 1 },
	};
	uint64_t samples = argc > 1 ? strtoull(argv[1], NULL, 10) : 600;

	puts("| guests × vCPUs | keys | bytes | MB a day | take, ms | pack, ms | write, ms "
	     "| open and seek, ms | seek, ms | all as one interval, ms |\n"
	     "|---|---|---|---|---|---|---|---|---|---|");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct bench bench = kinds[i];

		begin(&bench, argc > 2 ? argv[2] : "/tmp");
		for (uint64_t k = 0; k < samples; k++)
			record(&bench);
		end(&bench);
	}
	return 0;
}
