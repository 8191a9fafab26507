// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * day - writes a history file of a whole day, for bench/past.sh to read.
 *
 * 50 guests with 4 vCPUs each at 1 s, see bench/made_up.h. What comes between two totals is made up
 * once, and then written again and again with other times: of a reader's costs none depends on the
 * numbers. It takes a minute or two, and the file about 2 GB.
 *
 * usage: build/bench/day FILE [SAMPLES]	(86,400; the file is made anew)
 */
#include <stdio.h>
#include <unistd.h>

#include "bench/made_up.h"
#include "history/file.h"

#define RUN 128 /* samples from one with totals to the next */

static void copy_changes(struct changes *to, const struct changes *from)
{
	for (size_t i = 0; i < from->nr; i++) {
		const struct change *change = &from->list[i];

		check(changes_add(to, change, change->timing ?
				  &from->timings[change->timing - 1] : NULL), NULL);
	}
}

static void take_total(struct change *change, struct change_timing *timing,
		       const struct change *run, const struct change_timing *run_timing)
{
	change->count += run->count;
	if (!timing)
		return;
	timing->time_ns += run_timing->time_ns;
	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		timing->hist[i] += run_timing->hist[i];
}

/* Adds to totals what a run counts. The two have the same keys in one order. */
static void add_run(struct changes *totals, const struct changes *run)
{
	for (size_t i = 0; i < totals->nr; i++) {
		struct change *total = &totals->list[i];
		const struct change *of_run = &run->list[i];

		take_total(total, total->timing ? &totals->timings[total->timing - 1] : NULL,
			   of_run, of_run->timing ? &run->timings[of_run->timing - 1] : NULL);
	}
}

/* What a run counts: the totals after it less the totals before it. */
static void subtract(struct changes *totals, const struct changes *before)
{
	size_t k = 0;

	for (size_t i = 0; i < totals->nr; i++) {
		struct change *total = &totals->list[i];
		struct change_timing *timing = total->timing ?
						       &totals->timings[total->timing - 1] : NULL;
		const struct change_timing *then;

		while (k < before->nr && change_compare(&before->list[k].key, &total->key) < 0)
			k++;
		if (k == before->nr || change_compare(&before->list[k].key, &total->key) != 0)
			continue;
		total->count -= before->list[k].count;
		if (!timing || !before->list[k].timing)
			continue;
		then = &before->timings[before->list[k].timing - 1];
		timing->time_ns -= then->time_ns;
		for (unsigned int j = 0; j < HIST_BUCKETS; j++)
			timing->hist[j] -= then->hist[j];
	}
}

static void put(struct history_file *file, struct packer *packer, struct moment *moment)
{
	static struct packed packed;
	struct why why = { "" };

	check(pack_moment(packer, moment, &packed), NULL);
	check(history_file_add(file, moment, &packed, &why), &why);
}

/* The first sample, and after it a run: the samples 1 to RUN of moments[]. */
static void begin(struct history_file *file, struct packer *packer, struct made_up *made_up,
		  struct moment *moments, uint64_t nr)
{
	const struct facts facts = made_up_facts(made_up);
	struct moment_taker taker = { 0 };

	for (uint64_t i = 0; i <= RUN && i < nr; i++) {
		made_up_go_on(made_up);
		check(moment_take(&taker, &facts, START + made_up->now_ns, &moments[i]), NULL);
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
	struct why why = { "" };
	uint64_t nr = argc > 2 ? strtoull(argv[2], NULL, 10) : 86400;

	if (argc < 2) {
		fprintf(stderr, "usage: day FILE [SAMPLES]\n");
		return 2;
	}
	unlink(argv[1]);
	make_up(&made_up, 50, 4, 1);
	check(history_file_create(argv[1], &segment, &none, &file, &why), &why);
	begin(file, packer, &made_up, moments, nr);
	if (nr > RUN + 1)
		go_on(file, packer, moments, nr);
	check(history_file_close(file, &why), &why);
	for (size_t i = 0; i <= RUN; i++)
		moment_release(&moments[i]);
	packer_free(packer);
	made_up_release(&made_up);
	return 0;
}
