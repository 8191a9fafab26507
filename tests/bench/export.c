// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * export - what a text for Prometheus costs, and how large it is: hosts of made-up guests.
 *
 * CPU time from the stats to the text, and to what a client gets that asks for gzip; medians. All
 * series are counted, also the program's own. A vCPU without a quota has no series of it.
 */
#include "tests/bench/measure.h"
#include "core/facts/shared_fields.h"
#include "lib/http/server.h"
#include "tests/worlds/fake_guest.h"
#include "ui/metrics/metrics.h"

#define ROUNDS 50
#define NR_REASONS 12
#define NR_CPUS 64
#define VCPUS_A_GUEST 4
#define QUOTA_EVERY 10 /* guests: one of them has a quota */

struct host {
	struct fields *fields;
	struct stats *stats;
	struct guests *guests;
	struct sample sample;
	struct exit_fields exits;
	struct host_fields host;
	uint32_t reasons[NR_REASONS];
	uint32_t nr_guests;
	uint64_t seconds;
};

static void host_init(struct host *host, uint32_t nr_guests)
{
	const struct exit_events events = { .names = { NULL } };

	*host = (struct host){ .nr_guests = nr_guests };
	host->fields = must(fields_new());
	host->stats = must(stats_new());
	host->guests = must(guests_new(NULL));
	exit_fields_add(host->fields, 0, &events, EXIT_FIELDS_PARTS, &host->exits);
	host_fields_add(host->fields, 1, &host->host);
	for (uint32_t i = 0; i < NR_REASONS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "REASON_NUMBER_%u", i);
		host->reasons[i] = exit_fields_reason(&host->exits, EXITS_VMEXIT, name, NULL,
						      i == 3);
	}
	for (uint32_t i = 0; i < nr_guests; i++) {
		char name[32];

		snprintf(name, sizeof(name), "instance-%08x", i);
		guests_add_fake(host->guests, (pid_t)(1000 + 10 * i), name, VCPUS_A_GUEST);
	}
}

static void host_release(struct host *host)
{
	sample_release(&host->sample);
	stats_free(host->stats);
	guests_free(host->guests);
	fields_free(host->fields);
}

static void add_vcpu(struct host *host, struct key key)
{
	struct timing timing = { .max_ns = 40000 };

	for (uint32_t i = 0; i < NR_REASONS; i++) {
		uint64_t count = host->seconds * (i * 37 + (uint32_t)key.vcpu + 5 + key.guest);

		key.field = host->reasons[i];
		timing.time_ns = count * 3137;
		for (uint32_t k = 0; k < 5; k++)
			timing.hist[3 + i % 8 + k] = (uint32_t)(count / 5);
		sample_add_timed(&host->sample, key, count, ROW_FROM_ZERO, &timing);
	}
	for (int part = 0; part < TIME_PARTS; part++) {
		key.field = host->exits.times[part];
		if (key.field == FIELD_NONE)
			continue;
		sample_add(&host->sample, key, host->seconds * (166666667 + 7919 * key.guest),
			   ROW_FROM_ZERO);
	}
	key.field = host->host.parts[HOST_THROTTLED];
	if (key.guest % QUOTA_EVERY == 0)
		sample_add(&host->sample, key, host->seconds * 9999999, ROW_FROM_ZERO);
}

/* What the program says of itself. */
static const struct metrics_self self = {
	.arch = "SVM",
	.engine = "bpf",
	.sources = { { "tracepoint", true }, { "debugfs", true }, { "exits", true },
		     { "host", true }, { "stats", true } },
	.nr_sources = 5,
};

static void take_sample(struct host *host)
{
	host->seconds++;
	sample_reset(&host->sample);
	host->sample.time_ns[0] = host->sample.time_ns[1] = host->seconds * 1000000000;
	for (uint32_t guest = 1; guest <= host->nr_guests; guest++) {
		for (int32_t vcpu = 0; vcpu < VCPUS_A_GUEST; vcpu++)
			add_vcpu(host, (struct key){ guest, vcpu, 0 });
	}
	for (int32_t cpu = 0; cpu < NR_CPUS; cpu++)
		sample_add(&host->sample,
			   (struct key){ GUEST_NONE, cpu, host->host.parts[HOST_BUSY] },
			   host->seconds * 612345678, ROW_FROM_ZERO);
	stats_update(host->stats, host->fields, &host->sample);
}

/* At most so much; 0: no matter. */
struct target {
	double ms;
	size_t series, gzip_bytes;
};

static bool measure(uint32_t nr_guests, const struct target *target)
{
	const struct metrics_config config = { .groups = METRICS_DEFAULT, .max_series = 100000 };
	struct metrics *metrics = must(metrics_new(&config));
	double file_ms[ROUNDS], scrape_ms[ROUNDS], file, scrape;
	size_t bytes = 0, gzip_bytes = 0, nr_series = 0;
	struct host host;
	bool is_ok;

	host_init(&host, nr_guests);
	for (int round = 0; round < ROUNDS; round++) {
		const struct facts facts = { .fields = host.fields, .stats = host.stats,
					     .guests = host.guests };
		const struct metrics_text *text;
		struct document *plain, *gzip;
		double begin;

		take_sample(&host);
		begin = cpu_ms();
		metrics_take(metrics, &facts, host.seconds * 1000000000);
		text = metrics_write(metrics, &facts, &self);
		file_ms[round] = cpu_ms() - begin;
		plain = must(document_new("text/plain", text->bytes, text->size, false));
		gzip = must(document_new("text/plain", text->bytes, text->size, true));
		scrape_ms[round] = cpu_ms() - begin;
		bytes = plain->size;
		gzip_bytes = gzip->size;
		nr_series = text->nr_series;
		document_drop(plain);
		document_drop(gzip);
	}
	file = median(file_ms, ROUNDS);
	scrape = median(scrape_ms, ROUNDS);
	is_ok = scrape <= target->ms &&
		(!target->series || nr_series <= target->series) &&
		(!target->gzip_bytes || gzip_bytes <= target->gzip_bytes);
	printf("%s: %4u guests x %d: file %6.2f ms, scrape with gzip %6.2f ms of %.0f; "
	       "%zu series; %zu KB, gzip %zu KB\n", is_ok ? "ok" : "SLOW", nr_guests,
	       VCPUS_A_GUEST, file, scrape, target->ms,
	       nr_series, bytes / 1000, gzip_bytes / 1000);
	host_release(&host);
	metrics_free(metrics);
	return is_ok;
}

int main(void)
{
	static const struct target host = { 5, 3500, 150000 };
	static const struct target large = { 25, METRICS_SERIES_MAX, 0 };
	bool is_ok = measure(50, &host);

	return measure(250, &large) && is_ok ? 0 : 1;
}
