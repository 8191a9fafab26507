// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * made_past - writes a history file of made-up exits, the same on every machine: for pictures.
 *
 * usage: made_past FILE
 *
 * Two guests, 150 intervals of a second up to 2026-09-21 14:18:00 UTC. The load comes and goes; for
 * 20 seconds durations are four times as long.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "history/file.h"
#include "core/provider.h"
#include "tests/worlds/fake_guest.h"

#define SECOND UINT64_C(1000000000)
#define END (UINT64_C(1790000280) * SECOND)
#define INTERVALS 150
#define VCPUS 2 /* of each guest */
#define GUESTS 2

static const struct {
	const char *name;
	uint32_t rate;	    /* exits of a vCPU in an interval */
	unsigned int first; /* the bucket with the shortest */
} reasons[] = {
	{ "vmexit(MSR_WRITE)", 4000, 2 },
	{ "vmexit(EPT_VIOLATION)", 900, 4 },
	{ "vmexit(IO_INSTRUCTION)", 300, 5 },
	{ "vmexit(CPUID)", 120, 2 },
};

/* How many of 1,000 exits are in the buckets from the first on. */
static const uint32_t shares[] = { 12, 150, 480, 260, 70, 18, 6, 2, 1, 1 };

#define KEYS (GUESTS * VCPUS * (1 + ARRAY_SIZE(reasons)))

struct made {
	struct fields *fields;
	struct guests *guests;
	struct stats *stats;
	struct field_set wanted;
	struct sample sample;
	struct timing timings[KEYS];
	uint64_t counts[KEYS];
	uint32_t random;
	struct moment_taker taker;
	struct moment moment;
	struct packer *packer;
	struct packed packed;
	struct history_file *file;
};

static void check(int err, const struct error *error)
{
	if (!err)
		return;
	fprintf(stderr, "made_past: %s\n", error && error->text[0] ? error->text : strerror(-err));
	exit(1);
}

/* 0 to 99 */
static uint32_t any(struct made *made)
{
	made->random = made->random * 1664525 + 1013904223;
	return (made->random >> 16) % 100;
}

/* Of 100, how much is done: up and down every 80 seconds. */
static uint32_t load_at(uint32_t second)
{
	uint32_t at = second % 80;

	return 30 + 70 * (at < 40 ? at : 80 - at) / 40;
}

static void make_exits(struct made *made, uint32_t second, uint32_t vcpu, uint32_t reason)
{
	uint32_t all = vcpu * (1 + (uint32_t)ARRAY_SIZE(reasons)), at = all + 1 + reason;
	uint32_t slow = second >= 90 && second < 110 && reason < 2 ? 2 : 0;
	uint32_t rate = reasons[reason].rate * load_at(second) / 100 / (1 + vcpu);

	for (uint32_t i = 0; i < ARRAY_SIZE(shares); i++) {
		uint32_t bucket = reasons[reason].first + slow + i;
		uint32_t noise = 85 + any(made) * 30 / 100; /* per cent */
		uint32_t nr = (rate * shares[i] * noise / 100 + any(made) * 10) / 1000;

		for (uint32_t key = all; key <= at; key += at - all) {
			struct timing *timing = &made->timings[key];

			made->counts[key] += nr;
			timing->hist[bucket] += nr;
			timing->time_ns += nr * hist_edge_ns(bucket) * 3 / 4;
			if (nr && timing->max_ns < hist_edge_ns(bucket) * 4 / 5)
				timing->max_ns = hist_edge_ns(bucket) * 4 / 5;
		}
	}
}

static void make_sample(struct made *made, uint32_t second)
{
	for (uint32_t vcpu = 0; vcpu < GUESTS * VCPUS; vcpu++) {
		uint32_t all = vcpu * (1 + (uint32_t)ARRAY_SIZE(reasons));

		for (uint32_t i = 0; i < ARRAY_SIZE(reasons); i++)
			make_exits(made, second, vcpu, i);
		for (uint32_t i = 0; i <= ARRAY_SIZE(reasons); i++) {
			struct key key = { 1 + vcpu / VCPUS, (int32_t)(vcpu % VCPUS), i };

			sample_add_timed(&made->sample, key, made->counts[all + i], ROW_NEW,
					 &made->timings[all + i]);
		}
	}
	made->sample.time_ns[PROVIDER_EXITS] = (second + 1) * SECOND;
}

static void record(struct made *made, uint32_t second)
{
	struct facts facts = {
		.wanted = &made->wanted,
		.fields = made->fields,
		.stats = made->stats,
		.guests = made->guests,
	};
	uint64_t time_ns = END - (INTERVALS - second) * SECOND;
	struct error error = { "" };

	sample_reset(&made->sample);
	make_sample(made, second);
	stats_update(made->stats, made->fields, &made->sample);
	moment_take(&made->taker, &facts, time_ns, &made->moment);
	check(history_file_sink(made->file).map(made->file, &made->moment, &error), &error);
	pack_moment(made->packer, &made->moment, &made->packed);
	check(history_file_sink(made->file).add(made->file, &made->moment, &made->packed, &error),
	      &error);
}

static void add_field(struct made *made, const char *name, uint32_t parent)
{
	uint32_t id;

	id = fields_add(made->fields, &(struct field){ .name = name, .parent = parent,
							.source = PROVIDER_EXITS, .use = USE_EXIT,
							.exit_rank = 1 });
	field_set_add(&made->wanted, id);
}

int main(int argc, char **argv)
{
	const struct segment segment = { .host = "alpha", .arch = "VMX", .nr_cpus = 64,
					 .interval_s = 1 };
	const struct file_limits none = { 0 };
	static struct made made;
	struct error error = { "" };

	if (argc != 2) {
		fprintf(stderr, "usage: made_past FILE\n");
		return 2;
	}
	made.fields = fields_new();
	made.guests = guests_new(NULL);
	made.stats = stats_new();
	made.packer = packer_new();
	if (!made.fields || !made.guests || !made.stats || !made.packer)
		check(-ENOMEM, NULL);
	add_field(&made, "vmexit", FIELD_NONE);
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		add_field(&made, reasons[i].name, 0);
	guests_add_fake(made.guests, 41233, "db1", VCPUS);
	guests_add_fake(made.guests, 41850, "web1", VCPUS);
	check(history_file_create(argv[1], &segment, &none, &made.file, &error), &error);
	for (uint32_t second = 0; second <= INTERVALS; second++)
		record(&made, second);
	check(history_file_close(made.file, &error), &error);
	return 0;
}
