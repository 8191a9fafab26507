/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * made_up - a machine with many guests, as the provider "exits" would see it.
 *
 * The vCPUs are busy to very different degrees (1 to 3,000 exits a second each, log-uniform), with
 * reasons by Zipf's law, counts by Poisson's, and log-normal durations. Each vCPU has the rows that
 * a real one has: its reasons, their sum, the parts of its time, its CPU; and the host has events.
 * The same with each run. With `keeps` they have what kvmtop -w FILE --keep adds.
 */
#ifndef KVMTOP_BENCH_MADE_UP_H
#define KVMTOP_BENCH_MADE_UP_H

#include <math.h>

#include "tests/bench/measure.h"
#include "core/facts/shared_fields.h"
#include "history/moment.h"
#include "core/monitor.h"
#include "core/provider.h"
#include "tests/worlds/fake_guest.h"

#define REASONS 20
#define EVENTS 8
#define KINDS 4	     /* of arguments, of each vCPU */
#define MADE_UP_ARGUMENTS 12 /* of each vCPU, of two thirds of its exits */
#define MADE_UP_CULPRITS 5   /* what has the CPU while a vCPU waits, some 10 times a second */
#define LONG_PER_S 5 /* long exits of all guests */
#define ZIPF 1.2
#define BUSIEST 3000.0 /* exits a second of a vCPU; the idlest: 1 */
#define SIGMA 1.0      /* of the logarithm of durations */
#define START (UINT64_C(1790000040) * 1000000000)

struct made_up {
	uint32_t nr_guests, nr_vcpus; /* vCPUs of each guest */
	double interval_s;
	bool has_reasons_only; /* vCPUs have no other rows; false unless it is set */
	unsigned int keeps;    /* KEEP_*, as bits; the same */
	struct fields *fields;
	struct guests *guests;
	struct stats *stats;
	struct field_set wanted;
	struct sample sample;
	struct exit_fields exit_fields;
	uint32_t reasons[REASONS]; /* their fields */
	uint32_t events[EVENTS];
	double rates[REASONS];	   /* of the idlest vCPU, exits a second */
	double shares[REASONS][HIST_BUCKETS]; /* of a reason's exits, by duration */
	struct timing *timings; /* of everything so far, by vCPU and reason */
	uint64_t *counts;
	struct timing *kept_timings; /* the same of arguments and culprits, with their kinds */
	uint64_t *kept_counts;
	uint32_t arguments[MADE_UP_ARGUMENTS], waits, culprits[MADE_UP_CULPRITS]; /* fields */
	uint64_t now_ns;
	uint64_t random_state;
};

#define KEPT (KINDS + MADE_UP_ARGUMENTS + 1 + MADE_UP_CULPRITS) /* rows of a vCPU */

static inline double uniform(uint64_t *random_state)
{
	*random_state ^= *random_state << 13;
	*random_state ^= *random_state >> 7;
	*random_state ^= *random_state << 17;
	return ((double)(*random_state >> 11) + 0.5) / 9007199254740992.0;
}

static inline uint64_t poisson(uint64_t *random_state, double mean)
{
	double product, limit;
	uint64_t nr = 0;

	if (mean > 50) {
		product = mean + sqrt(mean) * sqrt(-2 * log(uniform(random_state))) *
				 cos(2 * M_PI * uniform(random_state));
		return product > 0 ? (uint64_t)(product + 0.5) : 0;
	}
	limit = exp(-mean);
	product = uniform(random_state);
	while (product > limit) {
		product *= uniform(random_state);
		nr++;
	}
	return nr;
}

/* How much of a log-normal distribution is below ns. */
static inline double below(double ns, double median_ns)
{
	return 0.5 * erfc(-log(ns / median_ns) / (SIGMA * M_SQRT2));
}

static inline void choose_shares(struct made_up *made_up)
{
	for (uint32_t reason = 0; reason < REASONS; reason++) {
		double median_ns = 800.0 * pow(1.3, reason), before = 0;

		for (unsigned int i = 0; i < HIST_BUCKETS; i++) {
			double now = i + 1 < HIST_BUCKETS ?
					     below((double)hist_edge_ns(i), median_ns) : 1;

			made_up->shares[reason][i] = now - before;
			before = now;
		}
	}
}

static inline void choose_rates(struct made_up *made_up)
{
	double sum = 0;

	for (uint32_t i = 0; i < REASONS; i++)
		sum += made_up->rates[i] = pow(i + 1, -ZIPF);
	for (uint32_t i = 0; i < REASONS; i++)
		made_up->rates[i] /= sum;
}

static inline void add_fields(struct made_up *made_up)
{
	const struct exit_events events = { .names = { "kvm_exit" } };
	static const char *const names[EVENTS] = { "kvm_exit", "kvm_entry", "kvm_msr", "kvm_pio",
						   "kvm_inj_virq", "kvm_apic_accept_irq",
						   "kvm_halt_poll_ns", "kvm_vcpu_wakeup" };
	char name[64];

	made_up->fields = must(fields_new());
	for (uint32_t i = 0; i < EVENTS; i++)
		made_up->events[i] =
			fields_add(made_up->fields,
				   &(struct field){ .name = names[i], .parent = FIELD_NONE,
						    .source = PROVIDER_TRACEPOINT,
						    .exit_rank = i == 0 });
	exit_fields_add(made_up->fields, PROVIDER_EXITS, &events, EXIT_FIELDS_PARTS,
			&made_up->exit_fields);
	for (uint32_t i = 0; i < REASONS; i++) {
		snprintf(name, sizeof(name), "REASON_%u", i);
		made_up->reasons[i] = exit_fields_reason(&made_up->exit_fields, EXITS_VMEXIT, name,
							 NULL, i == 1);
	}
}

static inline void add_kept_fields(struct made_up *made_up)
{
	char name[64];

	for (uint32_t i = 0; i < MADE_UP_ARGUMENTS; i++) {
		snprintf(name, sizeof(name), "0x%x write 2", 0x1000 * i);
		made_up->arguments[i] = exit_fields_argument(
			&made_up->exit_fields, EXITS_IOPORT + i * KINDS / MADE_UP_ARGUMENTS,
			"REASON_0", made_up->reasons[0], name);
	}
	made_up->waits = fields_add(made_up->fields, &(struct field){
		.name = "waits", .parent = FIELD_NONE, .source = PROVIDER_WHO, .use = USE_WAIT,
		.part = WAIT_ALL, .reason = FIELD_NONE });
	for (uint32_t i = 0; i < MADE_UP_CULPRITS; i++) {
		snprintf(name, sizeof(name), "waits(guest %u guest-%u vCPU 0)", 1000 + 10 * i, i);
		made_up->culprits[i] = fields_add(made_up->fields, &(struct field){
			.name = name, .parent = made_up->waits, .source = PROVIDER_WHO,
			.use = USE_WAIT, .part = WAIT_GUEST, .reason = FIELD_NONE });
	}
}

static inline void make_up(struct made_up *made_up, uint32_t nr_guests, uint32_t nr_vcpus,
			   double interval_s)
{
	uint32_t nr = nr_guests * nr_vcpus * REASONS;
	char name[32];

	*made_up = (struct made_up){ .nr_guests = nr_guests, .nr_vcpus = nr_vcpus,
				     .interval_s = interval_s, .now_ns = 1000000000,
				     .random_state = 88172645463325252u };
	add_fields(made_up);
	choose_rates(made_up);
	choose_shares(made_up);
	made_up->guests = must(guests_new(NULL));
	made_up->stats = must(stats_new());
	made_up->timings = must(calloc(nr, sizeof(*made_up->timings)));
	made_up->counts = must(calloc(nr, sizeof(*made_up->counts)));
	nr = nr_guests * nr_vcpus * KEPT;
	made_up->kept_timings = must(calloc(nr, sizeof(*made_up->kept_timings)));
	made_up->kept_counts = must(calloc(nr, sizeof(*made_up->kept_counts)));
	add_kept_fields(made_up);
	for (uint32_t i = 0; i < nr_guests; i++) {
		snprintf(name, sizeof(name), "guest-%u", i);
		guests_add_fake(made_up->guests, 1000 + 10 * (pid_t)i, name, nr_vcpus);
	}
}

static inline void made_up_release(struct made_up *made_up)
{
	sample_release(&made_up->sample);
	stats_free(made_up->stats);
	guests_free(made_up->guests);
	fields_free(made_up->fields);
	free(made_up->timings);
	free(made_up->counts);
	free(made_up->kept_timings);
	free(made_up->kept_counts);
}

static inline void make_durations(struct made_up *made_up, const double *shares, double mean,
				  struct timing *timing, uint64_t *count)
{
	uint64_t *state = &made_up->random_state;

	for (unsigned int i = 0; i < HIST_BUCKETS; i++) {
		uint64_t nr = mean * shares[i] < 1e-6 ? 0 : poisson(state, mean * shares[i]);
		double low = i ? (double)hist_edge_ns(i - 1) : 64, ns = 0;

		if (!nr)
			continue;
		*count += nr;
		timing->hist[i] += (uint32_t)nr;
		/* About as much as so many of them take, and the longest of a few. */
		timing->time_ns += (uint64_t)((double)nr * low * (1.4 + 0.2 * uniform(state)));
		for (uint64_t k = 0; k < nr && k < 4; k++)
			ns = fmax(ns, low * (1 + uniform(state)));
		if (timing->max_ns < (uint64_t)ns)
			timing->max_ns = (uint64_t)ns;
	}
}

static inline void make_exits(struct made_up *made_up, uint32_t at, double mean)
{
	make_durations(made_up, made_up->shares[at % REASONS], mean, &made_up->timings[at],
		       &made_up->counts[at]);
}

/* Adds what a part did to the row that is the sum of parts. */
static inline void add_part(const struct timing *part, uint64_t count, struct timing *sum,
			    uint64_t *ret_count)
{
	*ret_count += count;
	sum->time_ns += part->time_ns;
	if (part->max_ns > sum->max_ns)
		sum->max_ns = part->max_ns;
	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		sum->hist[i] += part->hist[i];
}

static inline void add_timed(struct made_up *made_up, struct key key, uint64_t count,
			     const struct timing *timing)
{
	if (count)
		sample_add_timed(&made_up->sample, key, count, ROW_NEW, timing);
}

static inline void add_times(struct made_up *made_up, struct key key,
			     const struct exits_time *exits)
{
	uint64_t parts[TIME_PARTS] = { 0 };

	exit_fields_split(made_up->now_ns, exits, parts);
	for (unsigned int i = 0; i < TIME_PARTS; i++) {
		key.field = made_up->exit_fields.times[i];
		if (key.field == FIELD_NONE)
			continue;
		sample_add(&made_up->sample, key, parts[i], ROW_NEW);
	}
}

/* The rows of a vCPU, in a provider's order. */
static inline void add_vcpu(struct made_up *made_up, uint32_t thread)
{
	struct key key = { 1 + thread / made_up->nr_vcpus, (int32_t)(thread % made_up->nr_vcpus),
			   FIELD_NONE };
	struct exits_time exits = { 0 };
	struct timing sum = { 0 };
	uint64_t count = 0;

	for (uint32_t reason = 0; reason < REASONS; reason++) {
		const struct timing *timing = &made_up->timings[thread * REASONS + reason];
		uint64_t nr = made_up->counts[thread * REASONS + reason];

		key.field = made_up->reasons[reason];
		add_timed(made_up, key, nr, timing);
		add_part(timing, nr, &sum, &count);
		if (fields_get(made_up->fields, key.field)->is_idle)
			exits.idle_ns[EXITS_VMEXIT] += timing->time_ns;
	}
	if (made_up->has_reasons_only)
		return;
	exits.ns[EXITS_VMEXIT] = sum.time_ns;
	key.field = made_up->exit_fields.parents[EXITS_VMEXIT];
	add_timed(made_up, key, count, &sum);
	key.field = made_up->exit_fields.cpu;
	sample_add(&made_up->sample, key, thread % 64, 0);
	add_times(made_up, key, &exits);
}

/* Rows of a vCPU with so many exits in the interval; rows that are sums are made anew. */
static inline void add_kept(struct made_up *made_up, uint32_t thread, double exits)
{
	struct timing *timings = &made_up->kept_timings[thread * KEPT];
	uint64_t *counts = &made_up->kept_counts[thread * KEPT];
	struct timing *arguments = &timings[KINDS + 1], *culprits = &arguments[MADE_UP_ARGUMENTS];
	uint64_t *nr_arguments = &counts[KINDS + 1];
	uint64_t *nr_culprits = &nr_arguments[MADE_UP_ARGUMENTS];
	struct key key = { 1 + thread / made_up->nr_vcpus, (int32_t)(thread % made_up->nr_vcpus),
			   FIELD_NONE };

	memset(timings, 0, (KINDS + 1) * sizeof(*timings));
	memset(counts, 0, (KINDS + 1) * sizeof(*counts));
	for (uint32_t i = 0; i < MADE_UP_ARGUMENTS && made_up->keeps & 1U << KEEP_HOTSPOTS; i++) {
		make_durations(made_up, made_up->shares[i], exits * made_up->rates[i],
			       &arguments[i], &nr_arguments[i]);
		add_part(&arguments[i], nr_arguments[i], &timings[i * KINDS / MADE_UP_ARGUMENTS],
			 &counts[i * KINDS / MADE_UP_ARGUMENTS]);
		key.field = made_up->arguments[i];
		add_timed(made_up, key, nr_arguments[i], &arguments[i]);
	}
	for (uint32_t i = 0; i < KINDS; i++) {
		key.field = made_up->exit_fields.parents[EXITS_IOPORT + i];
		add_timed(made_up, key, counts[i], &timings[i]);
	}
	for (uint32_t i = 0; i < MADE_UP_CULPRITS && made_up->keeps & 1U << KEEP_WHO; i++) {
		make_durations(made_up, made_up->shares[REASONS - 1 - i],
			       made_up->interval_s * 10 / (1 << i), &culprits[i],
			       &nr_culprits[i]);
		add_part(&culprits[i], nr_culprits[i], &timings[KINDS], &counts[KINDS]);
		key.field = made_up->culprits[i];
		add_timed(made_up, key, nr_culprits[i], &culprits[i]);
	}
	key.field = made_up->waits;
	add_timed(made_up, key, counts[KINDS], &timings[KINDS]);
}

static inline void add_long_exits(struct made_up *made_up)
{
	struct long_exits *exits = &made_up->sample.long_exits;
	uint64_t *state = &made_up->random_state;
	uint64_t nr = poisson(state, LONG_PER_S * made_up->interval_s);

	exits->longer_ns = LONG_EXITS_DEFAULT_NS;
	for (uint64_t i = 0; i < nr; i++) {
		uint64_t took_ns = (uint64_t)(1e6 * pow(20, uniform(state)));
		const struct long_exit exit = {
			.end_ns = START + made_up->now_ns -
				  (uint64_t)(made_up->interval_s * 1e9 * uniform(state)),
			.took_ns = took_ns,
			.user_ns = (uint64_t)((double)took_ns * uniform(state)),
			.waited_ns = (uint64_t)(1e6 * uniform(state)),
			.knows_wait = true,
			.pc = UINT64_C(0xffffffff81000000) + (uint64_t)(8e6 * uniform(state)),
			.guest = 1 + (uint32_t)(made_up->nr_guests * uniform(state)),
			.vcpu = (int32_t)(made_up->nr_vcpus * uniform(state)),
			.cpu = (uint32_t)(64 * uniform(state)),
			.reason = made_up->reasons[0],
			.argument = made_up->arguments[(int)(MADE_UP_ARGUMENTS * uniform(state))],
		};

		long_exits_add(exits, &exit);
	}
}

/* Each one happens more seldom than the one before. */
static inline void add_events(struct made_up *made_up)
{
	uint64_t exits = 0;

	for (uint32_t i = 0; i < made_up->nr_guests * made_up->nr_vcpus * REASONS; i++)
		exits += made_up->counts[i];
	for (uint32_t i = 0; i < EVENTS; i++)
		sample_add(&made_up->sample,
			   (struct key){ GUEST_NONE, -1, made_up->events[i] },
			   exits >> i / 2, 0);
}

/* An interval goes by, and its sample is made. */
static inline void made_up_fill(struct made_up *made_up)
{
	uint32_t nr_threads = made_up->nr_guests * made_up->nr_vcpus;

	sample_reset(&made_up->sample);
	made_up->now_ns += (uint64_t)(made_up->interval_s * 1e9);
	for (uint32_t thread = 0; thread < nr_threads; thread++) {
		double exits = made_up->interval_s * pow(BUSIEST, (thread + 0.5) / nr_threads);

		for (uint32_t reason = 0; reason < REASONS; reason++)
			make_exits(made_up, thread * REASONS + reason,
				   exits * made_up->rates[reason]);
		add_vcpu(made_up, thread);
		if (made_up->keeps)
			add_kept(made_up, thread, exits);
	}
	if (made_up->keeps & 1U << KEEP_LONG)
		add_long_exits(made_up);
	if (!made_up->has_reasons_only)
		add_events(made_up);
	made_up->sample.time_ns[PROVIDER_TRACEPOINT] = made_up->now_ns;
	made_up->sample.time_ns[PROVIDER_EXITS] = made_up->now_ns;
	made_up->sample.time_ns[PROVIDER_WHO] = made_up->now_ns;
}

/* The same, and the sample is taken. */
static inline void made_up_go_on(struct made_up *made_up)
{
	made_up_fill(made_up);
	stats_update(made_up->stats, made_up->fields, &made_up->sample);
}

static inline struct facts made_up_facts(const struct made_up *made_up)
{
	return (struct facts){
		.wanted = &made_up->wanted,
		.fields = made_up->fields,
		.stats = made_up->stats,
		.guests = made_up->guests,
	};
}

#endif
