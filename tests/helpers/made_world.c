// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * made_world - writes what a host of 300 guests with 8 vCPUs counted, where much changes, and the
 * truth about it.
 *
 * usage: made_world FOLDER
 *
 * FOLDER/world.db is a history of it, FOLDER/world.prom what a scrape has at its end. The truth is
 * in FOLDER/truth: a line "TIME NAME PID REASON COUNT NS" for each sample, guest and reason, with
 * the sample's CLOCK_REALTIME in ns, and what happened since the sample before.
 *
 * In each interval every tenth guest ends and begins again under its name, so that most of the
 * guests that have ended are forgotten. Two guests have one name. One is gone for a while, and so
 * is a vCPU of another. The counters of one begin at 0 again. Of one nothing but counts is known,
 * of one not how it waits, and the thread of one cannot be read in one sample. Two host CPUs go and
 * come. The clock is set forward by an hour, and later back by half an hour. What had the CPU
 * while it waited is known of each guest's first vCPU.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/facts/shared_fields.h"
#include "core/provider.h"
#include "history/file.h"
#include "lib/array.h"
#include "tests/worlds/fake_guest.h"
#include "ui/metrics/metrics.h"

#define SECOND UINT64_C(1000000000)
#define START (UINT64_C(1790000040) * SECOND)
#define SAMPLES 12
#define SLOTS 300
#define VCPUS 8
#define CPUS 64
#define CULPRITS 3
#define LIVES (SLOTS + SAMPLES * SLOTS / 10 + 1)

enum { HLT, CPUID, MSR, EPT, IO, INTERRUPT, REASONS };

static const struct {
	const char *name;
	uint32_t rate; /* exits a second of the busiest vCPU */
	uint32_t ns;
} reasons[REASONS] = {
	[HLT] = { "HLT", 90, 3000000 },		 [CPUID] = { "CPUID", 50, 1200 },
	[MSR] = { "MSR_WRITE", 900, 1500 },	 [EPT] = { "EPT_VIOLATION", 80, 300000 },
	[IO] = { "IO_INSTRUCTION", 300, 21000 }, [INTERRUPT] = { "EXTERNAL_INTERRUPT", 250, 900 },
};

/* Guests that nothing like the others' happens to. */
enum { TWIN = 31, OTHER_TWIN, GHOST, UNPLUGGED, RESTARTED, BARE, BLIND, NO_WAIT };

static const char *const special[SLOTS] = {
	[TWIN] = "twin", [OTHER_TWIN] = "twin", [GHOST] = "ghost", [UNPLUGGED] = "unplugged",
	[RESTARTED] = "restarted", [BARE] = "bare", [BLIND] = "blind", [NO_WAIT] = "no-wait",
};

struct vcpu_counts {
	uint64_t counts[REASONS], user, whole_ns;
	uint64_t ran_before_ns, waited_before_ns; /* by the thread, which counts on */
	struct timing timings[REASONS], user_timing, waits;
	uint64_t nr_waits;
	struct exits_time time;
};

/* A process, from its start to its end. */
struct life {
	uint32_t id, slot;
	pid_t pid;
	char name[32];
	bool has_ended;
	uint64_t latest[REASONS], latest_ns[REASONS]; /* since the sample before */
	struct vcpu_counts vcpus[VCPUS];
};

static struct {
	struct fields *fields;
	struct guests *guests;
	struct stats *stats;
	struct field_set wanted;
	struct sample sample;
	struct exit_fields exits;
	struct host_fields host;
	uint32_t reasons[REASONS], user, argument, event, waits, culprits[CULPRITS];
	struct life lives[LIVES], *slots[SLOTS];
	size_t nr_lives;
	uint64_t now_ns, clock_ns; /* CLOCK_MONOTONIC, and by how much CLOCK_REALTIME is more */
	uint64_t busy_ns[CPUS], events;
	uint32_t random;
	unsigned int nr; /* the sample's number */
} world;

static void check(int err, const struct error *error)
{
	if (!err)
		return;
	fprintf(stderr, "made_world: %s\n", error->text[0] ? error->text : strerror(-err));
	exit(1);
}

/* 0 to 99 */
static uint32_t any(void)
{
	world.random = world.random * 1664525 + 1013904223;
	return (world.random >> 16) % 100;
}

static bool is_within(unsigned int first, unsigned int last)
{
	return world.nr >= first && world.nr <= last;
}

/* ---- who is there */

static void begin_life(uint32_t slot)
{
	struct life *life = &world.lives[world.nr_lives++];

	if (world.nr_lives > LIVES)
		abort();
	life->id = (uint32_t)world.nr_lives;
	life->pid = 1000 + 10 * (pid_t)world.nr_lives;
	life->slot = slot;
	if (special[slot])
		snprintf(life->name, sizeof(life->name), "%s", special[slot]);
	else
		snprintf(life->name, sizeof(life->name), "guest-%u", slot);
	world.slots[slot] = life;
}

static void end_life(uint32_t slot)
{
	world.slots[slot]->has_ended = true;
	world.slots[slot] = NULL;
}

/* The inventory, as it is when the sample is made. */
static void list_guests(void)
{
	struct vcpu vcpus[VCPUS];

	guests_clear(world.guests);
	for (size_t i = 0; i < world.nr_lives; i++) {
		const struct life *life = &world.lives[i];
		struct guest guest = { .id = life->id, .pid = life->pid, .start_ticks = life->id,
				       .vmm = "qemu", .is_named = true, .nr_vms = 1,
				       .has_ended = life->has_ended, .vcpus = vcpus,
				       .nr_vcpus = VCPUS };

		for (int k = 0; k < VCPUS; k++)
			vcpus[k] = (struct vcpu){ .index = k, .tid = life->pid + 1 + k };
		snprintf(guest.name, sizeof(guest.name), "%s", life->name);
		guests_put(world.guests, &guest);
	}
}

/* ---- what they do */

static void add_duration(struct timing *timing, uint64_t nr, uint64_t ns)
{
	unsigned int bucket = 0;

	while (ns >= hist_edge_ns(bucket))
		bucket++;
	timing->hist[bucket] += (uint32_t)nr;
	timing->time_ns += nr * ns;
	if (nr && timing->max_ns < ns)
		timing->max_ns = ns;
}

static void live_on_vcpu(struct life *life, struct vcpu_counts *vcpu, uint64_t ns)
{
	uint64_t exits_ns = 0, nr[REASONS];

	for (unsigned int i = 0; i < REASONS; i++) {
		uint64_t took_ns = reasons[i].ns + any();

		nr[i] = reasons[i].rate * (ns / 1000000) / 1000 * (50 + any() / 2) / 100;
		nr[i] = nr[i] * (1 + life->slot % 7) / 7;
		vcpu->counts[i] += nr[i];
		add_duration(&vcpu->timings[i], nr[i], took_ns);
		exits_ns += nr[i] * took_ns;
		life->latest[i] += nr[i];
		life->latest_ns[i] += nr[i] * took_ns;
	}
	vcpu->whole_ns += ns;
	vcpu->user += nr[IO];
	add_duration(&vcpu->user_timing, nr[IO], 15000);
	vcpu->time.ns[EXITS_VMEXIT] += exits_ns;
	vcpu->time.ns[EXITS_USERSPACE] += nr[IO] * 15000;
	vcpu->time.idle_ns[EXITS_VMEXIT] += nr[HLT] * 2900000;
	vcpu->time.polled_ns += nr[HLT] * 50000;
	vcpu->time.blocked_ns[EXITS_VMEXIT] += nr[EPT] * 200000;
	vcpu->time.waited_ns += ns / 50;
	vcpu->nr_waits += 10;
	add_duration(&vcpu->waits, 10, ns / 500);
}

static void live_on(struct life *life, uint64_t ns)
{
	for (unsigned int i = 0; i < VCPUS; i++) {
		if (life->slot != UNPLUGGED || i != 3 || !is_within(4, 6))
			live_on_vcpu(life, &life->vcpus[i], ns);
	}
}

/* ---- what is seen */

static void add(uint32_t guest, int32_t vcpu, uint32_t field, uint64_t count, uint32_t flags)
{
	sample_add(&world.sample, (struct key){ guest, vcpu, field }, count, flags);
}

static void add_timed(uint32_t guest, int32_t vcpu, uint32_t field, uint64_t count,
		      const struct timing *timing)
{
	sample_add_timed(&world.sample, (struct key){ guest, vcpu, field }, count, ROW_NEW, timing);
}

static void add_exits(const struct life *life, int32_t index, const struct vcpu_counts *vcpu)
{
	struct timing sum = { 0 };
	uint64_t count = 0;

	for (unsigned int i = 0; i < REASONS; i++) {
		const struct timing *timing = &vcpu->timings[i];

		if (!vcpu->counts[i])
			continue;
		add_timed(life->id, index, world.reasons[i], vcpu->counts[i], timing);
		count += vcpu->counts[i];
		sum.time_ns += timing->time_ns;
		if (sum.max_ns < timing->max_ns)
			sum.max_ns = timing->max_ns;
		for (unsigned int k = 0; k < HIST_BUCKETS; k++)
			sum.hist[k] += timing->hist[k];
	}
	add_timed(life->id, index, world.exits.parents[EXITS_VMEXIT], count, &sum);
	if (!vcpu->user)
		return;
	add_timed(life->id, index, world.user, vcpu->user, &vcpu->user_timing);
	add_timed(life->id, index, world.exits.parents[EXITS_USERSPACE], vcpu->user,
		  &vcpu->user_timing);
	add_timed(life->id, index, world.argument, vcpu->counts[MSR], &vcpu->timings[MSR]);
	add_timed(life->id, index, world.exits.parents[EXITS_MSR], vcpu->counts[MSR],
		  &vcpu->timings[MSR]);
}

static void add_waits(const struct life *life, int32_t index, const struct vcpu_counts *vcpu)
{
	struct timing part = vcpu->waits;

	add_timed(life->id, index, world.waits, vcpu->nr_waits, &vcpu->waits);
	part.time_ns /= CULPRITS;
	for (unsigned int i = 0; i < CULPRITS; i++)
		add_timed(life->id, index, world.culprits[i], vcpu->nr_waits, &part);
}

static uint64_t on_cpu_ns(const uint64_t *parts)
{
	return parts[TIME_GUEST] + parts[TIME_KVM] + parts[TIME_USER] + parts[TIME_POLL];
}

/* Parts of the time; the scheduler's numbers of the thread are the same ones. */
static void add_times(const struct life *life, int32_t index, const struct vcpu_counts *vcpu)
{
	bool is_blind = life->has_ended || (life->slot == BLIND && world.nr == 6);
	const struct exits_time *time = &vcpu->time;
	uint64_t parts[TIME_PARTS] = { 0 };

	exit_fields_split(vcpu->whole_ns, time, parts);
	if (life->slot == NO_WAIT) {
		parts[TIME_KVM] += parts[TIME_WAIT] + parts[TIME_BLOCK];
		parts[TIME_WAIT] = parts[TIME_BLOCK] = parts[TIME_BLOCK_USER] = 0;
	}
	for (unsigned int i = 0; i < TIME_PARTS; i++) {
		bool is_away = i == TIME_WAIT || i == TIME_BLOCK || i == TIME_BLOCK_USER;

		if (world.exits.times[i] != FIELD_NONE && !(is_away && life->slot == NO_WAIT))
			add(life->id, index, world.exits.times[i], parts[i], ROW_NEW);
	}
	add(life->id, index, world.exits.cpu, (life->slot * VCPUS + (uint32_t)index) % CPUS, 0);
	if (is_blind)
		return;
	add(life->id, index, world.host.parts[HOST_RUN], vcpu->ran_before_ns + on_cpu_ns(parts), 0);
	add(life->id, index, world.host.parts[HOST_WAITED],
	    vcpu->waited_before_ns + time->waited_ns, 0);
	add(life->id, index, world.host.parts[HOST_CPU],
	    (life->slot * VCPUS + (uint32_t)index) % CPUS, 0);
}

static void add_life(const struct life *life)
{
	for (int32_t i = 0; i < VCPUS; i++) {
		const struct vcpu_counts *vcpu = &life->vcpus[i];

		if (!vcpu->whole_ns)
			continue;
		add_exits(life, i, vcpu);
		if (life->slot == BARE)
			continue;
		add_times(life, i, vcpu);
		if (i == 0)
			add_waits(life, i, vcpu);
	}
}

static void add_host(uint64_t ns)
{
	for (int32_t cpu = 0; cpu < CPUS; cpu++) {
		bool is_away = (cpu == 7 && is_within(4, 6)) || (cpu == 9 && is_within(5, 8));

		if (cpu == 9 && is_away)
			world.busy_ns[cpu] = 0;
		else if (!is_away)
			world.busy_ns[cpu] += ns / 100 * (30 + any() / 2);
		if (is_away)
			continue;
		add(GUEST_NONE, cpu, world.host.parts[HOST_BUSY], world.busy_ns[cpu], 0);
		add(GUEST_NONE, cpu, world.host.parts[HOST_NODE], (uint64_t)cpu / 32, 0);
		add(GUEST_NONE, cpu, world.host.parts[HOST_CORE], (uint64_t)cpu / 2, 0);
		add(GUEST_NONE, cpu, world.host.parts[HOST_SIBLING], (uint64_t)cpu ^ 1, 0);
	}
	add(GUEST_NONE, -1, world.event, world.events, ROW_NEW);
}

/* ---- an interval */

/* What they counted since the sample before was seen by none. */
static void restart_counters(struct life *life)
{
	uint64_t parts[TIME_PARTS] = { 0 };

	for (unsigned int i = 0; i < VCPUS; i++) {
		struct vcpu_counts *vcpu = &life->vcpus[i];

		exit_fields_split(vcpu->whole_ns, &vcpu->time, parts);
		*vcpu = (struct vcpu_counts){ .ran_before_ns = on_cpu_ns(parts),
					      .waited_before_ns = vcpu->time.waited_ns };
	}
	memset(life->latest, 0, sizeof(life->latest));
	memset(life->latest_ns, 0, sizeof(life->latest_ns));
}

/* Ends and begins in the middle of the interval. */
static void change_guests(void)
{
	for (uint32_t slot = 0; slot < SLOTS; slot += 10) {
		end_life(slot);
		begin_life(slot);
	}
	if (world.nr == 4)
		end_life(GHOST);
	if (world.nr == 8)
		begin_life(GHOST);
	if (world.nr == 4)
		world.slots[UNPLUGGED]->vcpus[3] = (struct vcpu_counts){ 0 };
	if (world.nr == 5)
		restart_counters(world.slots[RESTARTED]);
}

static void live(uint64_t ns)
{
	for (uint32_t slot = 0; slot < SLOTS; slot++) {
		if (world.slots[slot])
			live_on(world.slots[slot], ns);
	}
}

static void print_truth(FILE *truth, struct life *life)
{
	for (unsigned int i = 0; i < REASONS; i++) {
		if (life->latest[i])
			fprintf(truth, "%llu %s %d %s %llu %llu\n",
				(unsigned long long)(START + world.now_ns + world.clock_ns),
				life->name, (int)life->pid, reasons[i].name,
				(unsigned long long)life->latest[i],
				(unsigned long long)life->latest_ns[i]);
		world.events += life->latest[i];
		life->latest[i] = life->latest_ns[i] = 0;
	}
}

static void make_sample(FILE *truth)
{
	uint64_t half_ns = (13 + world.nr % 5) * SECOND / 10;

	if (world.nr == 5)
		world.clock_ns += 3600 * SECOND;
	if (world.nr == 9)
		world.clock_ns -= 1800 * SECOND;
	world.now_ns += 2 * half_ns;
	live(half_ns);
	if (world.nr)
		change_guests();
	live(half_ns);
	list_guests();
	sample_reset(&world.sample);
	for (size_t i = 0; i < world.nr_lives; i++) {
		struct life *life = &world.lives[i];
		bool is_there = !life->has_ended;

		/* What has ended is in one more sample. */
		for (unsigned int k = 0; k < REASONS; k++)
			is_there |= life->latest[k] > 0;
		if (is_there)
			add_life(life);
		print_truth(truth, life);
	}
	add_host(2 * half_ns);
	for (uint32_t i = 0; i < SAMPLE_SOURCES; i++) {
		bool is_in = i == PROVIDER_EXITS || i == PROVIDER_HOST || i == PROVIDER_WHO ||
			     i == PROVIDER_TRACEPOINT;

		world.sample.time_ns[i] = is_in ? world.now_ns : 0;
	}
	stats_update(world.stats, world.fields, &world.sample);
}

/* ---- */

static void begin(void)
{
	const struct exit_events events = { .names = { "kvm_exit" } };
	char name[64];

	world.fields = fields_new();
	world.guests = guests_new(NULL);
	world.stats = stats_new();
	world.stats->guests = world.guests;
	world.now_ns = 1000 * SECOND;
	world.event = fields_add(world.fields,
				 &(struct field){ .name = "kvm_exit", .parent = FIELD_NONE,
						  .source = PROVIDER_TRACEPOINT, .exit_rank = 1 });
	exit_fields_add(world.fields, PROVIDER_EXITS, &events, EXIT_FIELDS_PARTS, &world.exits);
	for (unsigned int i = 0; i < REASONS; i++)
		world.reasons[i] = exit_fields_reason(&world.exits, EXITS_VMEXIT, reasons[i].name,
						      NULL, i == HLT);
	world.user = exit_fields_reason(&world.exits, EXITS_USERSPACE, "IO", NULL, false);
	world.argument = exit_fields_argument(&world.exits, EXITS_MSR, "MSR_WRITE",
					      world.reasons[MSR], "0x6e0 IA32_TSC_DEADLINE");
	host_fields_add(world.fields, PROVIDER_HOST, &world.host);
	world.waits = fields_add(world.fields,
				 &(struct field){ .name = "waits", .parent = FIELD_NONE,
						  .source = PROVIDER_WHO, .use = USE_WAIT,
						  .part = WAIT_ALL });
	for (unsigned int i = 0; i < CULPRITS; i++) {
		snprintf(name, sizeof(name), "waits(process-%u)", i);
		world.culprits[i] =
			fields_add(world.fields,
				   &(struct field){ .name = name, .parent = world.waits,
						    .source = PROVIDER_WHO, .use = USE_WAIT,
						    .part = WAIT_PROCESS });
	}
	for (uint32_t i = 0; i < fields_count(world.fields); i++)
		field_set_add(&world.wanted, i);
	for (uint32_t slot = 0; slot < SLOTS; slot++)
		begin_life(slot);
}

static FILE *open_file(const char *folder, const char *name)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	if (!file) {
		perror(path);
		exit(1);
	}
	return file;
}

int main(int argc, char **argv)
{
	const struct segment segment = { .host = "alpha", .arch = "VMX", .nr_cpus = CPUS,
					 .interval_s = 3 };
	const struct file_limits none = { 0 };
	const struct metrics_config config = { .groups = METRICS_DEFAULT,
					       .max_series = METRICS_SERIES_MAX };
	const struct metrics_self self = { .arch = "VMX", .engine = "bpf" };
	const struct metrics_text *text = NULL;
	struct facts facts;
	struct moment_taker taker = { 0 };
	static struct moment moment;
	static struct packed packed;
	struct history_file *file;
	struct error error = { "" };
	FILE *truth, *scrape;
	char path[512];
	struct packer *packer = packer_new();
	struct metrics *metrics = metrics_new(&config);

	if (argc != 2) {
		fprintf(stderr, "usage: made_world FOLDER\n");
		return 2;
	}
	begin();
	facts = (struct facts){ .wanted = &world.wanted, .fields = world.fields,
				.stats = world.stats, .guests = world.guests };
	truth = open_file(argv[1], "truth");
	scrape = open_file(argv[1], "world.prom");
	snprintf(path, sizeof(path), "%s/world.db", argv[1]);
	check(history_file_create(path, &segment, &none, &file, &error), &error);
	for (; world.nr < SAMPLES; world.nr++) {
		make_sample(truth);
		metrics_take(metrics, &facts, world.now_ns);
		text = metrics_write(metrics, &facts, &self);
		moment_take(&taker, &facts, START + world.now_ns + world.clock_ns, &moment);
		check(history_file_sink(file).map(file, &moment, &error), &error);
		pack_moment(packer, &moment, &packed);
		check(history_file_sink(file).add(file, &moment, &packed, &error), &error);
	}
	check(history_file_close(file, &error), &error);
	fwrite(text->bytes, 1, text->size, scrape);
	return fclose(truth) == 0 && fclose(scrape) == 0 ? 0 : 1;
}
