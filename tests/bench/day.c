// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * day - writes a history file of a whole day, for tests/bench/past.sh to read.
 *
 * 50 guests with 4 vCPUs each at 1 s, see tests/bench/made_up.h. What comes between two totals is
 * made up once, and then written again and again with other times: the numbers do not change what a
 * reader costs. It takes a minute or two, and the file about 2 GB.
 *
 * usage: build/tests/bench/day FILE [SAMPLES]	(86,400; the file is made anew)
 */
#include <stdio.h>
#include <unistd.h>

#include "tests/bench/made_up.h"
#include "history/file.h"

#define RUN MOMENT_TOTALS_EVERY /* samples from one with totals to the next */

/* Adds `more` to a total `times` times, modulo 2^64. The total has all of its buckets. */
static void add_total(struct changes *to, size_t i, const struct changes *from,
		      const struct change *more, uint64_t times)
{
	const struct change_timing *of_more = changes_timing(from, more);
	struct change *total = &to->list[i];
	struct change_timing *timing;

	total->count += times * more->count;
	if (!total->timing || !of_more)
		return;
	timing = &to->timings[total->timing - 1];
	timing->time_ns += times * of_more->time_ns;
	for (unsigned int k = 0; k < of_more->nr; k++)
		to->counts[timing->counts + of_more->first - timing->first + k] +=
			times * from->counts[of_more->counts + k];
}

static void copy_changes(struct changes *to, const struct changes *from)
{
	for (size_t i = 0; i < from->nr; i++) {
		const struct change *change = &from->list[i];
		const struct change_timing *timing = changes_timing(from, change);
		uint64_t *counts;

		if (!timing) {
			changes_add(to, change);
			continue;
		}
		counts = must(changes_add_timed(to, change, timing));
		if (timing->nr)
			memcpy(counts, changes_counts(from, timing), timing->nr * sizeof(*counts));
	}
}

/* Adds to totals what a run counts. The two have the same keys in one order. */
static void add_run(struct changes *totals, const struct changes *run)
{
	for (size_t i = 0; i < totals->nr && i < run->nr; i++)
		add_total(totals, i, run, &run->list[i], 1);
}

/* What a run counts: the totals after it less the totals before it. */
static void subtract(struct changes *totals, const struct changes *before)
{
	size_t k = 0;

	for (size_t i = 0; i < totals->nr; i++) {
		const struct key *key = &totals->list[i].key;

		while (k < before->nr && key_compare(&before->list[k].key, key) < 0)
			k++;
		if (k < before->nr && key_compare(&before->list[k].key, key) == 0)
			add_total(totals, i, before, &before->list[k], UINT64_MAX);
	}
}

/* The moment has the file's ids. */
static void put(struct history_file *file, struct packer *packer, struct moment *moment)
{
	static struct packed packed;
	struct error error = { "" };

	pack_moment(packer, moment, &packed);
	check(history_file_sink(file).add(file, moment, &packed, &error), &error);
}

/* The first sample, and after it a run: the samples 1 to RUN of moments[]. */
static void begin(struct history_file *file, struct packer *packer, struct made_up *made_up,
		  struct moment *moments, uint64_t nr)
{
	const struct facts facts = made_up_facts(made_up);
	struct moment_taker taker = { 0 };
	struct error error = { "" };

	for (uint64_t i = 0; i <= RUN && i < nr; i++) {
		made_up_go_on(made_up);
		moment_take(&taker, &facts, START + made_up->now_ns, &moments[i]);
		check(history_file_sink(file).map(file, &moments[i], &error), &error);
		put(file, packer, &moments[i]);
	}
}

static void go_on(struct history_file *file, struct packer *packer, struct moment *moments,
		  uint64_t nr)
{
	struct changes run = { 0 };

	copy_changes(&run, &moments[RUN].totals);
	subtract(&run, &moments[0].totals);
	for (uint64_t i = RUN + 1; i < nr; i++) {
		struct moment *moment = &moments[1 + (i - 1) % RUN];

		moment->time_ns += RUN * UINT64_C(1000000000);
		moment->source_ns[PROVIDER_TRACEPOINT] += RUN * UINT64_C(1000000000);
		moment->source_ns[PROVIDER_EXITS] += RUN * UINT64_C(1000000000);
		/* A key that was new in the first run is known in the second. */
		for (size_t k = 0; k < moment->changes.nr; k++)
			moment->changes.list[k].flags = 0;
		if (moment->flags & MOMENT_HAS_TOTALS)
			add_run(&moment->totals, &run);
		put(file, packer, moment);
	}
	changes_release(&run);
}

int main(int argc, char **argv)
{
	static struct moment moments[RUN + 1];
	const struct segment segment = { .host = "bench", .arch = "SVM", .engine = "bpf",
					 .nr_cpus = 64, .interval_s = 1 };
	const struct file_limits none = { 0 };
	struct packer *packer = must(packer_new());
	struct history_file *file;
	struct made_up made_up;
	struct error error = { "" };
	uint64_t nr = argc > 2 ? strtoull(argv[2], NULL, 10) : 86400;

	if (argc < 2) {
		fprintf(stderr, "usage: day FILE [SAMPLES]\n");
		return 2;
	}
	unlink(argv[1]);
	make_up(&made_up, 50, 4, 1);
	check(history_file_create(argv[1], &segment, &none, &file, &error), &error);
	begin(file, packer, &made_up, moments, nr);
	if (nr > RUN + 1)
		go_on(file, packer, moments, nr);
	check(history_file_close(file, &error), &error);
	for (size_t i = 0; i <= RUN; i++)
		moment_release(&moments[i]);
	packer_free(packer);
	made_up_release(&made_up);
	return 0;
}
