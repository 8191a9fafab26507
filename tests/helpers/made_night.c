// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * made_night - writes five minutes of a night to a history file: a guest whose disk is slow, and a
 * neighbour that takes its CPU.
 *
 * usage: made_night FILE HOUR [KEEP]
 *
 * From HOUR:00:00 to HOUR:05:00 of 2026-11-21, UTC, a sample each ten seconds. KEEP has a letter
 * for each part that is kept: h: that db1's vCPU 0 reads port 0x1f0; w: that web1 has its CPU while
 * it waits; l: long exits, of which there is one of 87.3 ms at HOUR:01:05.123, and in the interval
 * up to HOUR:03:00 300 of 3 to 302 ms.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/facts/shared_fields.h"
#include "core/provider.h"
#include "history/file.h"
#include "tests/worlds/fake_guest.h"

#define SECOND UINT64_C(1000000000)
#define MS (SECOND / 1000)
#define MIDNIGHT (UINT64_C(1795219200) * SECOND) /* of 2026-11-21 */
#define INTERVAL (10 * SECOND)
#define SAMPLES 31
#define EXITS 4000 /* in an interval; each takes half a millisecond */
#define WAITS 300  /* each of 10 ms */
#define SLOW 7	   /* the sample with the long exit */
#define WORST 18   /* and the one with too many */

static struct {
	struct fields *fields;
	struct guests *guests;
	struct stats *stats;
	struct field_set wanted;
	struct sample sample;
	struct exit_fields exits;
	struct host_fields host;
	uint32_t db1, web1, io, user, port, waits, culprit;
	uint64_t start_ns; /* CLOCK_REALTIME of the first sample */
	const char *keeps;
} night;

static void check(int err, const struct error *error)
{
	if (!err)
		return;
	fprintf(stderr, "made_night: %s\n", error->text[0] ? error->text : strerror(-err));
	exit(1);
}

static void add_fields(void)
{
	night.fields = fields_new();
	exit_fields_add(night.fields, PROVIDER_EXITS, &(struct exit_events){ .names = { NULL } },
			EXIT_FIELDS_PARTS, &night.exits);
	host_fields_add(night.fields, PROVIDER_HOST, &night.host);
	night.io = exit_fields_reason(&night.exits, EXITS_VMEXIT, "io", NULL, false);
	night.user = exit_fields_reason(&night.exits, EXITS_USERSPACE, "IO", NULL, false);
	if (strchr(night.keeps, 'h'))
		night.port = exit_fields_argument(&night.exits, EXITS_IOPORT, "io", night.io,
						  "0x1f0 read 2 IDE1");
	if (!strchr(night.keeps, 'w'))
		return;
	night.waits = fields_add(night.fields, &(struct field){
		.name = "waits", .parent = FIELD_NONE, .source = PROVIDER_WHO, .use = USE_WAIT,
		.part = WAIT_ALL, .reason = FIELD_NONE });
	night.culprit = fields_add(night.fields, &(struct field){
		.name = "waits(guest 2001 web1 vCPU 0)", .label = "vCPU 0", .alias = "web1",
		.parent = night.waits, .source = PROVIDER_WHO, .use = USE_WAIT,
		.part = WAIT_GUEST, .reason = FIELD_NONE });
}

/* All of one length. */
static void add_timed(uint32_t guest, uint32_t field, uint64_t nr, uint64_t ns)
{
	struct timing timing = { .time_ns = nr * ns, .max_ns = ns };
	unsigned int bucket = 0;

	while (ns >= hist_edge_ns(bucket))
		bucket++;
	timing.hist[bucket] = (uint32_t)nr;
	sample_add_timed(&night.sample, (struct key){ guest, 0, field }, nr, ROW_NEW, &timing);
}

static void add(uint32_t guest, int32_t vcpu, uint32_t field, uint64_t count)
{
	sample_add(&night.sample, (struct key){ guest, vcpu, field }, count, ROW_NEW);
}

/* vCPU 0 of a guest, of which so many exits took half a ms, and which waited so often. */
static void add_vcpu(uint32_t guest, uint64_t exits, uint64_t waits, uint64_t whole_ns)
{
	struct exits_time time = {
		.ns = { [EXITS_VMEXIT] = exits * MS / 2, [EXITS_USERSPACE] = exits * MS * 9 / 20 },
		.waited_ns = waits * 10 * MS,
	};
	uint64_t parts[TIME_PARTS] = { 0 };

	add_timed(guest, night.exits.parents[EXITS_VMEXIT], exits, MS / 2);
	add_timed(guest, night.io, exits, MS / 2);
	add_timed(guest, night.exits.parents[EXITS_USERSPACE], exits, MS * 9 / 20);
	add_timed(guest, night.user, exits, MS * 9 / 20);
	exit_fields_split(whole_ns, &time, parts);
	for (unsigned int i = 0; i < TIME_PARTS; i++) {
		if (night.exits.times[i] != FIELD_NONE)
			add(guest, 0, night.exits.times[i], parts[i]);
	}
	add(guest, 0, night.exits.cpu, 3);
	add(guest, 0, night.host.parts[HOST_RUN], whole_ns - time.waited_ns);
	add(guest, 0, night.host.parts[HOST_WAITED], time.waited_ns);
	add(guest, 0, night.host.parts[HOST_CPU], 3);
}

static void add_long(uint64_t end_ns, uint64_t took_ns)
{
	const struct long_exit exit = {
		.end_ns = night.start_ns + end_ns,
		.took_ns = took_ns,
		.user_ns = took_ns * 9 / 10,
		.pc = UINT64_C(0xffffffff81234567),
		.guest = night.db1,
		.cpu = 3,
		.reason = night.io,
		.argument = night.port ? night.port : FIELD_NONE,
		.knows_wait = true,
		.waited_ns = 10 * MS,
	};

	long_exits_add(&night.sample.long_exits, &exit);
}

static void add_long_exits(unsigned int nr)
{
	night.sample.long_exits.longer_ns = LONG_EXITS_DEFAULT_NS;
	night.sample.long_exits.since_ns = night.start_ns;
	if (nr == SLOW)
		add_long(65 * SECOND + 123 * MS, 87300000);
	for (unsigned int i = 1; nr == WORST && i <= 300; i++)
		add_long((WORST - 1) * INTERVAL + i * 10 * MS, (i * 76 % 301 + 2) * MS);
}

static void make_sample(unsigned int nr)
{
	sample_reset(&night.sample);
	add_vcpu(night.db1, nr * (uint64_t)EXITS, nr * (uint64_t)WAITS, nr * INTERVAL);
	add_vcpu(night.web1, nr * (uint64_t)20, 0, nr * INTERVAL);
	if (night.port) {
		add_timed(night.db1, night.exits.parents[EXITS_IOPORT], nr * (uint64_t)EXITS,
			  MS / 2);
		add_timed(night.db1, night.port, nr * (uint64_t)EXITS, MS / 2);
	}
	if (night.waits) {
		add_timed(night.db1, night.waits, nr * (uint64_t)WAITS, 10 * MS);
		add_timed(night.db1, night.culprit, nr * (uint64_t)WAITS, 10 * MS);
		add_timed(night.web1, night.waits, 0, 0);
	}
	if (strchr(night.keeps, 'l'))
		add_long_exits(nr);
	for (uint32_t i = 0; i < SAMPLE_SOURCES; i++)
		night.sample.time_ns[i] = SECOND + nr * INTERVAL;
	night.sample.time_ns[PROVIDER_HOST] += nr * MS / 10; /* sources are not read at one time */
	stats_update(night.stats, night.fields, &night.sample);
}

static void record(struct recorder *recorder)
{
	const struct facts facts = { .wanted = &night.wanted, .fields = night.fields,
				     .stats = night.stats, .guests = night.guests };

	for (unsigned int nr = 0; nr < SAMPLES; nr++) {
		make_sample(nr);
		recorder_take(recorder, &facts, night.start_ns + nr * INTERVAL);
		if (recorder_flush(recorder, 60000))
			check(-EIO, &(struct error){ "a sample was not written" });
	}
}

int main(int argc, char **argv)
{
	const struct segment segment = { .host = "alpha", .arch = "SVM", .nr_cpus = 8,
					 .interval_s = 10 };
	struct thresholds thresholds;
	struct history_file *file;
	struct recorder *recorder;
	struct error error = { "" };
	struct sink sink;

	if (argc < 3) {
		fprintf(stderr, "usage: made_night FILE HOUR [KEEP]\n");
		return 2;
	}
	thresholds_init(&thresholds);
	night.keeps = argc > 3 ? argv[3] : "";
	night.start_ns = MIDNIGHT + (uint64_t)atoi(argv[2]) * 3600 * SECOND;
	night.guests = guests_new(NULL);
	night.stats = stats_new();
	add_fields();
	for (uint32_t i = 0; i < fields_count(night.fields); i++)
		field_set_add(&night.wanted, i);
	night.db1 = guests_add_fake(night.guests, 1001, "db1", 1);
	night.web1 = guests_add_fake(night.guests, 2001, "web1", 1);
	check(history_file_create(argv[1], &segment, &(struct file_limits){ 0 }, &file, &error),
	      &error);
	sink = history_file_sink(file);
	sink.thresholds = &thresholds;
	check(recorder_start(&sink, &recorder), &error);
	record(recorder);
	recorder_stop(recorder);
	check(history_file_close(file, &error), &error);
	return 0;
}
