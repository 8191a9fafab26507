// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * history - what a history file costs, with made-up exits: bytes a day, CPU a sample, time to seek.
 *
 * From the sample on everything is the program's own: stats, moment, packing, the file. CPU time,
 * so that a busy machine does not count as cost. First with reasons only, 20 of each vCPU, then
 * with all rows that a host has, and then with what --keep adds.
 *
 * usage: build/tests/bench/history [SAMPLES [FOLDER]]	(600 samples of each kind, here)
 */
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/array.h"
#include "tests/bench/made_up.h"
#include "history/file.h"
#include "history/interval.h"

#define SEEKS 200
#define KEPT_BY_UNIT (1U << KEEP_HOTSPOTS | 1U << KEEP_WHO | 1U << KEEP_LONG)
#define REASONS_ONLY " × 20 reasons"
#define ALL_ROWS ", all rows,"
#define ALL_THREE " with all three"

struct bench {
	struct made_up made_up;
	struct moment_taker taker;
	struct moment moment;
	struct packer *packer;
	struct packed packed;
	struct history_file *file;
	char path[256];
	const char *name;
	uint64_t nr;
	double take_ms, pack_ms, add_ms;
	uint64_t nr_changes;
};

/* ---- the program's own */

struct kind {
	uint32_t nr_guests, nr_vcpus;
	double interval_s;
	bool has_reasons_only;
	unsigned int keeps;
	const char *name;
};

static void begin(struct bench *bench, const struct kind *kind, const char *folder)
{
	struct segment segment = { .host = "bench", .interval_s = kind->interval_s };
	struct file_limits none = { 0 };
	struct error error = { "" };

	*bench = (struct bench){ .packer = must(packer_new()) };
	make_up(&bench->made_up, kind->nr_guests, kind->nr_vcpus, kind->interval_s);
	bench->made_up.has_reasons_only = kind->has_reasons_only;
	bench->made_up.keeps = kind->keeps;
	bench->taker.has_long_exits = true;
	bench->name = kind->name;
	snprintf(bench->path, sizeof(bench->path), "%s/kvmtop-bench-%d.db", folder, (int)getpid());
	check(history_file_create(bench->path, &segment, &none, &bench->file, &error), &error);
}

static void record(struct bench *bench)
{
	const struct facts facts = made_up_facts(&bench->made_up);
	double start, taken, packed;
	struct error error = { "" };

	made_up_go_on(&bench->made_up);
	start = cpu_ms();
	moment_take(&bench->taker, &facts, START + bench->made_up.now_ns, &bench->moment);
	taken = cpu_ms();
	check(history_file_sink(bench->file).map(bench->file, &bench->moment, &error), &error);
	pack_moment(bench->packer, &bench->moment, &bench->packed);
	packed = cpu_ms();
	check(history_file_sink(bench->file)
		      .add(bench->file, &bench->moment, &bench->packed, &error),
	      &error);
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
	struct error error = { "" };
	struct store store;
	uint64_t time_ns;
	double start = 0;

	for (int i = 0; i < SEEKS; i++) {
		if (i == 1 && !opens)
			start = cpu_ms(); /* not the first, which opens it */
		if (!file)
			check(history_file_open(bench->path, &file, &error), &error);
		store = history_file_store(file);
		time_ns = START + (uint64_t)(uniform(&bench->made_up.random_state) *
					     (double)bench->made_up.now_ns);
		check(store.type->find(store.state, time_ns, &stored, &error), &error);
		check(store.type->read(store.state, stored.id, PART_CHANGES, &blob, &error),
		      &error);
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
	struct error error = { "" };

	check(history_file_open(bench->path, &file, &error), &error);
	interval = interval_new(history_file_store(file), NULL);
	check(interval_read(interval, 0, UINT64_MAX, &error), &error);
	interval_free(interval);
	history_file_close(file, NULL);
	return cpu_ms() - start;
}

static void end(struct bench *bench)
{
	struct error error = { "" };
	struct stat st;
	double nr = (double)bench->nr, size, seek, opened;

	check(history_file_close(bench->file, &error), &error);
	check(stat(bench->path, &st) == 0 ? 0 : -errno, NULL);
	size = (double)st.st_size / nr;
	opened = seek_ms(bench, true);
	seek = seek_ms(bench, false);
	printf("| %u × %u%s at %g s | %.0f | %.0f | %.0f | %.3f | %.3f | %.3f | %.3f | %.3f "
	       "| %.0f |\n",
	       bench->made_up.nr_guests, bench->made_up.nr_vcpus,
	       bench->name,
	       bench->made_up.interval_s,
	       (double)bench->nr_changes / nr, size,
	       size * 86400 / bench->made_up.interval_s / 1e6,
	       bench->take_ms / nr, bench->pack_ms / nr, bench->add_ms / nr, opened, seek,
	       interval_ms(bench));
	fflush(stdout);
	unlink(bench->path);
	moment_taker_release(&bench->taker);
	moment_release(&bench->moment);
	packed_release(&bench->packed);
	packer_free(bench->packer);
	made_up_release(&bench->made_up);
}

int main(int argc, char **argv)
{
	static const struct kind kinds[] = {
		{ 50, 4, 1, true, 0, REASONS_ONLY },
		{ 50, 4, 10, true, 0, REASONS_ONLY },
		{ 2, 2, 1, true, 0, REASONS_ONLY },
		{ 50, 4, 1, false, 0, ALL_ROWS },
		{ 50, 4, 10, false, 0, ALL_ROWS },
		{ 2, 2, 1, false, 0, ALL_ROWS },
		{ 50, 4, 10, false, 1U << KEEP_HOTSPOTS, " with hot spots" },
		{ 50, 4, 10, false, 1U << KEEP_WHO, " with who" },
		{ 50, 4, 10, false, 1U << KEEP_LONG, " with long exits" },
		{ 50, 4, 10, false, KEPT_BY_UNIT, ALL_THREE },
		{ 50, 4, 1, false, KEPT_BY_UNIT, ALL_THREE },
		{ 2, 2, 10, false, KEPT_BY_UNIT, ALL_THREE },
	};
	uint64_t samples = argc > 1 ? strtoull(argv[1], NULL, 10) : 600;

	puts("| guests × vCPUs | keys | bytes | MB a day | take, ms | pack, ms | write, ms "
	     "| open and seek, ms | seek, ms | all as one interval, ms |\n"
	     "|---|---|---|---|---|---|---|---|---|---|");
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct bench bench;

		begin(&bench, &kinds[i], argc > 2 ? argv[2] : ".");
		for (uint64_t k = 0; k < samples; k++)
			record(&bench);
		end(&bench);
	}
	return 0;
}
