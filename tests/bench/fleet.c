// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fleet - writes what a Prometheus would have of many hosts, as text for promtool, for
 * tests/bench/from.sh.
 *
 * Each guest has 4 vCPUs and 8 reasons, 60 series; a scrape comes every 30 s. What costs most, the
 * counters of all guests, is there for eight minutes before TIME, enough for one moment; of host
 * "kvm1", and of what is one series a host or a guest, there is half an hour before and two hours
 * after TIME. Counters grow by a random part, so that answers are as hard to pack as real ones.
 *
 * usage: build/tests/bench/fleet counters|rules HOSTS GUESTS TIME	(seconds since 1970)
 *	counters	what kvmtop exports
 *	rules		what the recording rules of packaging/contrib/prometheus make of it
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"

#define EVERY_S 30
#define SHORT_S 480 /* before */
#define BEFORE_S 1800
#define AFTER_S 7200
#define VCPUS 4
#define MODE_SHARE (1.0 / 8) /* of a vCPU's time */

static const char *const reasons[] = { "cpuid", "hlt", "interrupt", "io",
				       "msr",	"npf", "pause",	    "vintr" };
static const char *const modes[] = { "guest", "kvm",   "user", "poll",
				     "idle",  "block", "wait", "throttled" };
static const char *const edges[] = { "2.56e-07",    "1.024e-06",   "4.096e-06",	  "1.6384e-05",
				     "6.5536e-05",  "0.000262144", "0.001048576", "0.004194304",
				     "0.016777216", "0.067108864", "0.268435456", "1.073741824",
				     "+Inf" };

/* From where to where in time, in seconds. */
struct span {
	int64_t from, to;
};

static uint64_t random_state = 88172645463325252;

/* 0 to 1 */
static double any(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (double)(random_state >> 11) / 9007199254740992.0;
}

static void metric(const char *name, const char *type)
{
	printf("# TYPE %s %s\n", name, type);
}

/* A series that grows by about `rate` a second; by none, it is 1. */
static void count(const char *series, double rate, bool is_whole, struct span span)
{
	double value = rate > 0 ? rate * 1e5 * any() : 1;

	for (int64_t at = span.from; at <= span.to; at += EVERY_S) {
		value += rate * EVERY_S * (0.5 + any());
		printf(is_whole ? "%s %.0f %" PRId64 "\n" : "%s %.9f %" PRId64 "\n", series, value,
		       at);
	}
}

/* A series of what rules made. */
static void level(const char *series, double value, struct span span)
{
	for (int64_t at = span.from; at <= span.to; at += EVERY_S)
		printf("%s %.17g %" PRId64 "\n", series, value * (0.9 + any() / 5), at);
}

/* The rate of the i-th of something: some are rare. */
static double rate_of(size_t i)
{
	return 2000.0 / (double)((i + 1) * (i + 1));
}

/* ---- what is exported */

static void exits(const char *labels, bool is_time, struct span span)
{
	char series[256];

	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++) {
		snprintf(series, sizeof(series), "%s{%s,reason=\"%s\"}",
			 is_time ? "kvmtop_exit_seconds_total" : "kvmtop_exits_total", labels,
			 reasons[i]);
		count(series, is_time ? rate_of(i) / 1e5 : rate_of(i), !is_time, span);
	}
}

static void vcpu_seconds(const char *labels, struct span span)
{
	char series[256];

	for (size_t i = 0; i < VCPUS * ARRAY_SIZE(modes); i++) {
		snprintf(series, sizeof(series),
			 "kvmtop_vcpu_seconds_total{%s,vcpu=\"%zu\",mode=\"%s\"}", labels,
			 i / ARRAY_SIZE(modes), modes[i % ARRAY_SIZE(modes)]);
		count(series, MODE_SHARE, false, span);
	}
}

static void durations(const char *labels, struct span span)
{
	char series[256];

	for (size_t i = 0; i < ARRAY_SIZE(edges); i++) {
		snprintf(series, sizeof(series),
			 "kvmtop_exit_duration_seconds_bucket{%s,le=\"%s\"}", labels, edges[i]);
		count(series, 100.0 * (double)(i + 1), true, span);
	}
}

static void info(const char *labels, struct span span)
{
	char series[256];

	snprintf(series, sizeof(series),
		 "kvmtop_guest_info{%s,uuid=\"\",id=\"\",pid=\"112\",vmm=\"qemu\"}", labels);
	count(series, 0, true, span);
}

/* ---- all of a fleet */

enum part { EXITS, EXIT_SECONDS, VCPU_SECONDS, DURATIONS, INFO, PARTS };

static void guest_part(enum part part, unsigned int host, unsigned int guest, int64_t time)
{
	bool is_long = host == 1 || part == INFO;
	struct span span = { time - (is_long ? BEFORE_S : SHORT_S),
			     time + (is_long ? AFTER_S : 0) };
	char labels[128];

	snprintf(labels, sizeof(labels), "instance=\"kvm%u\",job=\"kvmtop\",guest=\"guest%u\"",
		 host, guest);
	switch (part) {
	case EXITS:
	case EXIT_SECONDS:
		exits(labels, part == EXIT_SECONDS, span);
		break;
	case VCPU_SECONDS:
		vcpu_seconds(labels, span);
		break;
	case DURATIONS:
		durations(labels, span);
		break;
	default:
		info(labels, span);
	}
}

static void write_counters(unsigned int hosts, unsigned int guests, int64_t time)
{
	static const char *const names[PARTS][2] = {
		[EXITS] = { "kvmtop_exits", "counter" },
		[EXIT_SECONDS] = { "kvmtop_exit_seconds", "counter" },
		[VCPU_SECONDS] = { "kvmtop_vcpu_seconds", "counter" },
		[DURATIONS] = { "kvmtop_exit_duration_seconds_bucket", "unknown" },
		[INFO] = { "kvmtop_guest_info", "gauge" },
	};
	struct span all = { time - BEFORE_S, time + AFTER_S };
	char series[128];

	for (enum part part = EXITS; part < PARTS; part++) {
		metric(names[part][0], names[part][1]);
		for (unsigned int i = 0; i < hosts * guests; i++)
			guest_part(part, i / guests + 1, i % guests + 1, time);
	}
	metric("kvmtop_build_info", "gauge");
	for (unsigned int host = 1; host <= hosts; host++) {
		snprintf(series, sizeof(series), "kvmtop_build_info{instance=\"kvm%u\"}", host);
		count(series, 0, true, all);
	}
	metric("kvmtop_finding", "gauge");
	for (unsigned int host = 1; host <= hosts; host += 10) {
		snprintf(series, sizeof(series),
			 "kvmtop_finding{instance=\"kvm%u\",guest=\"guest1\",rule=\"cpu_wait\"}",
			 host);
		count(series, 0, true, all);
	}
}

/* The sums by host, which count what its guests do together. */
static void write_sums(const char *rule, const char *label, const char *const *names, size_t nr,
		       double (*rate)(size_t i), double factor, unsigned int hosts,
		       struct span span)
{
	char series[256];

	metric(rule, "gauge");
	for (size_t i = 0; i < hosts * nr; i++) {
		snprintf(series, sizeof(series), "%s{instance=\"kvm%zu\",%s=\"%s\"}", rule,
			 i / nr + 1, label, names[i % nr]);
		level(series, rate(i % nr) * factor, span);
	}
}

static double one(size_t i)
{
	(void)i;
	return 1;
}

static double share_of(size_t i)
{
	(void)i;
	return MODE_SHARE;
}

static void write_rules(unsigned int hosts, unsigned int guests, int64_t time)
{
	struct span all = { time - BEFORE_S, time + AFTER_S };
	static const char *const job[] = { "kvmtop" };

	write_sums("instance:kvmtop_guest_info:count", "job", job, 1, one, guests, hosts, all);
	write_sums("instance_reason:kvmtop_exits:rate5m", "reason", reasons, ARRAY_SIZE(reasons),
		   rate_of, guests, hosts, all);
	write_sums("instance_reason:kvmtop_exit_seconds:rate5m", "reason", reasons,
		   ARRAY_SIZE(reasons), rate_of, guests / 1e5, hosts, all);
	write_sums("instance_mode:kvmtop_vcpu_seconds:rate5m", "mode", modes, ARRAY_SIZE(modes),
		   share_of, guests * VCPUS, hosts, all);
}

int main(int argc, char **argv)
{
	if (argc != 5 || (strcmp(argv[1], "counters") != 0 && strcmp(argv[1], "rules") != 0)) {
		fputs("usage: fleet counters|rules HOSTS GUESTS TIME\n", stderr);
		return 2;
	}
	(strcmp(argv[1], "rules") == 0 ? write_rules : write_counters)(
		(unsigned int)atoi(argv[2]), (unsigned int)atoi(argv[3]),
		atoll(argv[4]) / EVERY_S * EVERY_S);
	puts("# EOF");
	return ferror(stdout) ? 1 : 0;
}
