// SPDX-License-Identifier: GPL-2.0-or-later
/* Every moment of a made-up machine, packed, kept and played: the stats are as they were then. */
#include <errno.h>
#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "history/past.h"
#include "history/recent.h"
#include "tests/unit/unit.h"
#include "tests/worlds/cmocka_range.h"

enum {
	EXIT, EXIT_HLT, EXIT_MSR, ENTRY, PAGES, CPU, EXITS, EXITS_HLT, EXITS_MSR, RUN, NR_FIELDS
};

static const struct field specs[] = {
	[EXIT] = { .name = "kvm_exit", .parent = FIELD_NONE, .source = PROVIDER_TRACEPOINT },
	[EXIT_HLT] = { .name = "kvm_exit(HLT)", .parent = EXIT, .source = PROVIDER_TRACEPOINT },
	[EXIT_MSR] = { .name = "kvm_exit(MSR)", .parent = EXIT, .source = PROVIDER_TRACEPOINT },
	[ENTRY] = { .name = "kvm_entry", .parent = FIELD_NONE, .source = PROVIDER_TRACEPOINT },
	[PAGES] = { .name = "pages_4k", .parent = FIELD_NONE, .kind = FIELD_GAUGE,
		    .source = PROVIDER_DEBUGFS },
	[CPU] = { .name = "cpu", .parent = FIELD_NONE, .kind = FIELD_GAUGE, .use = USE_CPU,
		  .source = PROVIDER_EXITS },
	[EXITS] = { .name = "vmexit", .parent = FIELD_NONE, .use = USE_EXIT, .exit_rank = 1,
		    .source = PROVIDER_EXITS },
	[EXITS_HLT] = { .name = "vmexit(HLT)", .parent = EXITS, .use = USE_EXIT, .exit_rank = 1,
			.source = PROVIDER_EXITS, .is_idle = true },
	[EXITS_MSR] = { .name = "vmexit(MSR)", .parent = EXITS, .use = USE_EXIT, .exit_rank = 1,
			.source = PROVIDER_EXITS },
	[RUN] = { .name = "thread(run)", .parent = FIELD_NONE, .use = USE_HOST, .part = HOST_RUN,
		  .source = PROVIDER_EXITS },
};

#define SECOND UINT64_C(1000000000)
#define NR_GUESTS 5
#define NR_VCPUS 2
#define NR_MOMENTS 400
#define PLAYERS (PROVIDER_EXITS + 1) /* the latest one that specs name */

enum life { NOT_YET, ALIVE, ENDED, FORGOTTEN };

/* A machine, what a live program knows of it, and what it remembers. */
struct world {
	enum life life[NR_GUESTS + 1];
	uint64_t counts[NR_GUESTS + 1][NR_VCPUS][NR_FIELDS];
	struct timing timings[NR_GUESTS + 1][NR_VCPUS][NR_FIELDS];
	uint64_t now_ns;
	bool has_reasons; /* the reasons of events are counted: not from the start */

	struct guests *guests;
	struct fields *fields;
	struct field_set wanted;
	struct stats *stats;
	struct sample sample;
	struct moment_taker taker;
	struct moment moment;
	struct packer *packer;
	struct recent *recent;
};

/* The stats of a moment, for a comparison. */
struct memory {
	uint64_t time_ns;
	struct stats_item *items;
	size_t nr;
	uint64_t tick;
	uint64_t elapsed_ns[SAMPLE_SOURCES];
};

static uint32_t seed;

static uint32_t random_below(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)seed * n >> 32);
}

static void world_new(struct world *world, size_t ring_size)
{
	const struct segment segment = { .host = "alpha", .nr_cpus = 8 };
	uint32_t id;

	*world = (struct world){ .now_ns = 1000 * SECOND };
	world->guests = guests_new(NULL);
	world->fields = fields_new();
	world->stats = stats_new();
	world->packer = packer_new();
	world->recent = recent_new(ring_size, &segment, world->fields);
	for (uint32_t i = 0; i < NR_FIELDS; i++) {
		struct field spec = specs[i];

		spec.reason = FIELD_NONE;
		id = fields_add(world->fields, &spec);
		field_set_add(&world->wanted, id);
	}
	world->stats->guests = world->guests;
}

static void world_free(struct world *world)
{
	recent_free(world->recent);
	packer_free(world->packer);
	moment_taker_release(&world->taker);
	moment_release(&world->moment);
	sample_release(&world->sample);
	stats_free(world->stats);
	field_set_release(&world->wanted);
	fields_free(world->fields);
	guests_free(world->guests);
}

/* ---- the machine */

static void live_and_die(struct world *world)
{
	struct vcpu vcpus[] = { { .index = 0, .tid = 11 }, { .index = 1, .tid = 12 } };

	for (uint32_t id = 1; id <= NR_GUESTS; id++) {
		if (random_below(40) == 0 && world->life[id] < FORGOTTEN)
			world->life[id]++;
	}
	guests_clear(world->guests);
	for (uint32_t id = 1; id <= NR_GUESTS; id++) {
		struct guest guest = {
			.id = id,
			.pid = (pid_t)(100 * id),
			.start_ticks = 7,
			.vmm = "qemu",
			.is_named = true,
			.has_ended = world->life[id] == ENDED,
			.vcpus = vcpus,
			.nr_vcpus = ARRAY_SIZE(vcpus),
			.nr_vms = 1,
		};

		snprintf(guest.name, sizeof(guest.name), "web%u", id);
		if (world->life[id] == ALIVE || world->life[id] == ENDED)
			guests_put(world->guests, &guest);
	}
}

static void run(struct world *world, uint32_t guest, uint32_t vcpu)
{
	uint64_t *counts = world->counts[guest][vcpu];

	for (uint32_t i = 0; i < NR_FIELDS; i++) {
		struct timing *timing = &world->timings[guest][vcpu][i];
		uint32_t nr = random_below(4) ? random_below(6) : 0;
		uint64_t ns = 100 + random_below(100000);

		if (specs[i].kind != FIELD_COUNTER) {
			counts[i] = random_below(3) ? counts[i] : random_below(9);
			continue;
		}
		if (specs[i].use == USE_EXIT && timing->open_ns && random_below(3)) {
			timing->time_ns += SECOND; /* it goes on */
			timing->open_ns += SECOND;
			continue;
		}
		counts[i] += nr;
		if (specs[i].use != USE_EXIT || !nr)
			continue;
		/* What was open has ended, and one is open still. */
		timing->open_ns = random_below(2) ? ns : 0;
		timing->time_ns += nr * ns + timing->open_ns;
		if (nr > 1 && ns > timing->max_ns)
			timing->max_ns = ns;
		timing->hist[random_below(HIST_BUCKETS)] += nr - 1;
	}
}

static void add(struct world *world, uint32_t guest, uint32_t vcpu, uint32_t field)
{
	struct key key = { guest, guest && specs[field].use != USE_EVENT ? (int32_t)vcpu : -1,
			   field };
	uint64_t count = world->counts[guest][vcpu][field];

	if (specs[field].use == USE_EVENT && specs[field].parent != FIELD_NONE &&
	    !world->has_reasons)
		return;
	if (specs[field].use == USE_EXIT && count)
		sample_add_timed(&world->sample, key, count, ROW_NEW,
						  &world->timings[guest][vcpu][field]);
	else if (specs[field].use == USE_HOST && random_below(10)) /* else it cannot be read */
		sample_add(&world->sample, key, count, 0);
	else if (specs[field].use == USE_HOST)
		return;
	else if (specs[field].use != USE_EXIT && guest != 0)
		sample_add(&world->sample, key, count, ROW_FROM_ZERO);
	else if (specs[field].use != USE_EXIT)
		sample_add(&world->sample, key, count, 0);
}

static void go_on(struct world *world)
{
	bool has_debugfs = random_below(10) != 0;

	world->now_ns += SECOND + random_below(1000);
	world->has_reasons |= random_below(30) == 0;
	live_and_die(world);
	sample_reset(&world->sample);
	for (size_t i = 0; i < NR_FIELDS; i++)
		world->sample.time_ns[specs[i].source] = world->now_ns + specs[i].source;
	if (!has_debugfs)
		world->sample.time_ns[PROVIDER_DEBUGFS] = 0;
	for (uint32_t guest = 0; guest <= NR_GUESTS; guest++) {
		if (guest && world->life[guest] != ALIVE)
			continue;
		for (uint32_t vcpu = 0; vcpu < (guest ? NR_VCPUS : 1); vcpu++) {
			run(world, guest, vcpu);
			for (uint32_t i = 0; i < NR_FIELDS; i++) {
				if ((has_debugfs || specs[i].source != PROVIDER_DEBUGFS) &&
				    (!vcpu || specs[i].use != USE_EVENT))
					add(world, guest, vcpu, i);
			}
		}
	}
	stats_update(world->stats, world->fields, &world->sample);
}

static void keep(struct world *world, struct memory *memory)
{
	const struct facts facts = {
		.wanted = &world->wanted,
		.fields = world->fields,
		.stats = world->stats,
		.guests = world->guests,
	};
	struct packed packed = { 0 };

	moment_take(&world->taker, &facts, world->now_ns, &world->moment);
	pack_moment(world->packer, &world->moment, &packed);
	assert_int_equal(recent_add(world->recent, &world->moment, &packed), 0);
	packed_release(&packed);
	memory->time_ns = world->now_ns;
	memory->tick = world->stats->tick;
	memory->nr = world->stats->nr;
	memory->items = calloc(memory->nr, sizeof(*memory->items));
	assert_non_null(memory->items);
	for (size_t i = 0; i < memory->nr; i++) {
		struct stats_item *item = &memory->items[i];

		*item = *&world->stats->list[i];
		item->history = malloc(STATS_HISTORY * sizeof(*item->history));
		assert_non_null(item->history);
		stats_rates(&world->stats->list[i], memory->tick, item->history);
		if (!item->timing)
			continue;
		item->timing = malloc(sizeof(*item->timing));
		assert_non_null(item->timing);
		*item->timing = *world->stats->list[i].timing;
	}
	for (uint32_t i = 0; i < SAMPLE_SOURCES; i++)
		memory->elapsed_ns[i] = world->stats->elapsed_ns[i];
}

static void forget(struct memory *memory)
{
	for (size_t i = 0; i < memory->nr; i++) {
		free(memory->items[i].timing);
		free(memory->items[i].history);
	}
	free(memory->items);
}

/* ---- playing */

static void take(void *const playbacks[PLAYERS], const struct fields *fields, struct stats *stats)
{
	struct sample sample = { 0 };
	struct error error = { "" };

	for (uint32_t i = 0; i < PLAYERS; i++)
		assert_int_equal(history_players[i]->collect(playbacks[i], &sample, &error), 0);
	stats_update(stats, fields, &sample);
	assert_string_equal(error.text, "");
	sample_release(&sample);
}

/* Plays the moment that is chosen. */
static void begin_again(struct fields *fields, const struct field_set *wanted, struct stats *stats,
			void *const playbacks[PLAYERS])
{
	static struct want want;
	struct error error = { "" };
	size_t nr = 0;

	want = (struct want){ .fields = *wanted, .scope = WANT_EACH };
	stats_clear(stats);
	for (uint32_t i = 0; i < PLAYERS; i++) {
		assert_int_equal(history_players[i]->want(playbacks[i], &want, &error), 0);
		nr = history_players[i]->rewind(playbacks[i]);
	}
	while (nr--)
		take(playbacks, fields, stats);
}

static void begin(struct past *past, struct fields *fields, const struct field_set *wanted,
		  struct stats *stats, void *playbacks[PLAYERS])
{
	struct error error = { "" };

	for (uint32_t i = 0; i < PLAYERS; i++) {
		const struct provider_args args = { .guests = past_guests(past), .fields = fields,
						    .source = i, .recording = &past };

		assert_int_equal(history_players[i]->open(&args, &playbacks[i], &error), 0);
	}
	begin_again(fields, wanted, stats, playbacks);
}

static void end(void *const playbacks[PLAYERS])
{
	for (uint32_t i = 0; i < PLAYERS; i++)
		history_players[i]->close(playbacks[i]);
}

static void play(struct past *past, struct fields *fields, const struct field_set *wanted,
		 struct stats *stats)
{
	void *playbacks[PLAYERS];

	begin(past, fields, wanted, stats, playbacks);
	end(playbacks);
}

static const struct stats_item *find(const struct stats *stats, const struct key *key)
{
	for (size_t i = 0; i < stats->nr; i++) {
		if (key_compare(&stats->list[i].key, key) == 0)
			return &stats->list[i];
	}
	return NULL;
}

static void expect_timing(const struct stats_timing *then, const struct stats_timing *played)
{
	assert_true(then->total_ns == played->total_ns);
	assert_true(then->delta_ns == played->delta_ns);
	assert_true(then->total_ended_ns == played->total_ended_ns);
	assert_true(then->delta_ended_ns == played->delta_ended_ns);
	assert_true(then->open_ns == played->open_ns);
	if (then->max_ns != played->max_ns || then->interval_max_ns != played->interval_max_ns)
		fail_msg("longest %llu, played %llu; of the interval %llu, played %llu",
			 (unsigned long long)then->max_ns, (unsigned long long)played->max_ns,
			 (unsigned long long)then->interval_max_ns,
			 (unsigned long long)played->interval_max_ns);
	assert_memory_equal(then->delta, played->delta, sizeof(then->delta));
}

static void expect_item(const struct memory *memory, const struct stats_item *then,
			const struct stats *stats)
{
	const struct stats_item *played = find(stats, &then->key);
	float rates[STATS_HISTORY];

	if (!played)
		fail_msg("time %llu: no key %u %d %s", (unsigned long long)memory->time_ns,
			 then->key.guest, then->key.vcpu, specs[then->key.field].name);
	if (then->total != played->total)
		fail_msg("time %llu: %u %d %s: total %llu, played %llu",
			 (unsigned long long)memory->time_ns,
			 then->key.guest, then->key.vcpu, specs[then->key.field].name,
			 (unsigned long long)then->total, (unsigned long long)played->total);
	if (specs[then->key.field].kind != FIELD_COUNTER)
		return;
	if (then->parent_before != played->parent_before)
		fail_msg("time %llu: %u %d %s: parent before %llu, played %llu",
			 (unsigned long long)memory->time_ns,
			 then->key.guest, then->key.vcpu, specs[then->key.field].name,
			 (unsigned long long)then->parent_before,
			 (unsigned long long)played->parent_before);
	assert_true(then->delta == played->delta);
	/* What could not be read is not in a history before it counts again; no picture has it. */
	if (specs[then->key.field].use == USE_HOST) {
		assert_true(then->has_rate || !played->has_rate);
		assert_true(!then->delta || played->has_rate);
		return;
	}
	assert_int_equal(then->has_rate, played->has_rate);
	assert_true(then->rate_per_s == played->rate_per_s);
	stats_rates(played, stats->tick, rates);
	for (uint64_t i = 1; i <= STATS_HISTORY && i <= memory->tick; i++) {
		/* The rates of all that ended are not remembered. */
		if (then->key.guest != STATS_ENDED)
			assert_true(then->history[STATS_HISTORY - i] == rates[STATS_HISTORY - i]);
	}
	assert_int_equal(then->timing != NULL, played->timing != NULL);
	if (then->timing)
		expect_timing(then->timing, played->timing);
}

static void expect(const struct memory *memory, const struct stats *stats)
{
	for (size_t i = 0; i < memory->nr; i++)
		expect_item(memory, &memory->items[i], stats);
	assert_int_equal(memory->nr, stats->nr);
	/* A live program has the length of a source's latest interval where a sample lacks it. */
	for (uint32_t i = 0; i < SAMPLE_SOURCES; i++) {
		if (stats_time_ns(stats, i))
			assert_true(memory->elapsed_ns[i] == stats->elapsed_ns[i]);
	}
}

/* A live program of so many moments, of which the ring may have dropped the first. */
static void live(struct world *world, struct memory *memories, size_t nr, size_t ring_size)
{
	world_new(world, ring_size);
	for (size_t i = 0; i < nr; i++) {
		if (random_below(90) == 0) {
			stats_clear(world->stats);
			world->has_reasons = false;
		}
		if (random_below(60) == 0)
			stats_reset(world->stats, world->fields);
		go_on(world);
		keep(world, &memories[i]);
	}
}

TEST(every_moment_is_as_it_was)
{
	static struct memory memories[NR_MOMENTS];
	struct world world;
	struct past *past;
	struct stats *stats = stats_new();
	struct error error = { "" };

	for (uint32_t round = 1; round <= unit_rounds(1); round++) {
		seed = round;
		live(&world, memories, NR_MOMENTS, SIZE_MAX);
		past = past_new(recent_store(world.recent), world.fields);
		stats->guests = past_guests(past);
		for (size_t i = 0; i < NR_MOMENTS; i++) {
			assert_int_equal(past_go(past, memories[i].time_ns, &error), 0);
			play(past, world.fields, &world.wanted, stats);
			expect(&memories[i], stats);
		}
		assert_int_equal(past_step(past, false, &error), -ENOENT);
		for (size_t i = 1; i < NR_MOMENTS; i++) { /* within its interval */
			bool is_first = memories[i].tick == 1; /* has none */

			assert_int_equal(past_go_to(past, memories[i].time_ns - SECOND / 2, &error),
					 0);
			assert_true(past_at(past)->time_ns == memories[i - is_first].time_ns);
		}
		assert_int_equal(past_go(past, UINT64_MAX, &error), 0);
		for (size_t i = NR_MOMENTS - 1; i-- > 0;) {
			assert_int_equal(past_step(past, true, &error), 0);
			play(past, world.fields, &world.wanted, stats);
			expect(&memories[i], stats);
		}
		assert_int_equal(past_step(past, true, &error), -ENOENT);
		for (size_t i = 0; i < NR_MOMENTS; i++)
			forget(&memories[i]);
		past_free(past);
		world_free(&world);
	}
	stats_free(stats);
}

/* Of the rates that a sparkline shows, a jump may need one moment that the last one needed. */
TEST(jumps)
{
	static struct memory memories[NR_MOMENTS];
	struct world world;
	struct past *past;
	struct stats *stats = stats_new();
	struct error error = { "" };
	void *playbacks[PLAYERS];

	seed = 4;
	live(&world, memories, NR_MOMENTS, SIZE_MAX);
	past = past_new(recent_store(world.recent), world.fields);
	stats->guests = past_guests(past);
	assert_int_equal(past_go(past, memories[0].time_ns, &error), 0);
	begin(past, world.fields, &world.wanted, stats, playbacks);
	for (size_t i = 0; i < 200; i++) {
		static const size_t far[] = { STATS_HISTORY - 1, STATS_HISTORY, 1, 7 };
		size_t first = 100 + random_below(NR_MOMENTS - 100);
		size_t moments[] = { first, first - far[i % ARRAY_SIZE(far)], first };

		for (size_t k = 0; k < ARRAY_SIZE(moments); k++) {
			assert_int_equal(past_go(past, memories[moments[k]].time_ns, &error), 0);
			begin_again(world.fields, &world.wanted, stats, playbacks);
			expect(&memories[moments[k]], stats);
		}
	}
	end(playbacks);
	for (size_t i = 0; i < NR_MOMENTS; i++)
		forget(&memories[i]);
	stats_free(stats);
	past_free(past);
	world_free(&world);
}

/* Played one behind the other, as a log prints them. Returns how often that began anew. */
static size_t play_all(struct world *world, const struct memory *memories, struct past *past,
		       struct stats *stats)
{
	struct error error = { "" };
	void *playbacks[PLAYERS];
	size_t nr_begun = 1;

	assert_int_equal(past_go(past, memories[0].time_ns, &error), 0);
	begin(past, world->fields, &world->wanted, stats, playbacks);
	for (size_t i = 1; i < NR_MOMENTS; i++) {
		int err = past_go_on(past, &error);

		assert_int_in_range(err, 0, 1);
		assert_true(past_at(past)->time_ns == memories[i].time_ns);
		nr_begun += err;
		if (err || i == NR_MOMENTS / 2) { /* another question */
			end(playbacks);
			begin(past, world->fields, &world->wanted, stats, playbacks);
		} else {
			take(playbacks, world->fields, stats);
		}
		expect(&memories[i], stats);
	}
	assert_int_equal(past_go_on(past, &error), -ENOENT);
	end(playbacks);
	return nr_begun;
}

TEST(moments_in_their_order)
{
	static struct memory memories[NR_MOMENTS];
	struct world world;
	struct past *past;
	struct stats *stats = stats_new();

	for (uint32_t round = 1; round <= 3; round++) {
		seed = 10 + round;
		live(&world, memories, NR_MOMENTS, SIZE_MAX);
		past = past_new(recent_store(world.recent), world.fields);
		stats->guests = past_guests(past);
		assert_int_in_range(play_all(&world, memories, past, stats), 1, NR_MOMENTS / 20);
		for (size_t i = 0; i < NR_MOMENTS; i++)
			forget(&memories[i]);
		past_free(past);
		world_free(&world);
	}
	stats_free(stats);
}

static void expect_known(const struct memory *memory, const struct stats *stats)
{
	for (size_t k = 0; k < memory->nr; k++) {
		const struct stats_item *then = &memory->items[k];
		const struct stats_item *played = find(stats, &then->key);

		assert_non_null(played);
		assert_true(then->total == played->total);
		assert_true(then->delta == played->delta);
		/* When a source was read before is dropped, too: the interval stands for it. */
		assert_true(fabs(then->rate_per_s - played->rate_per_s) <= then->rate_per_s * 1e-5);
		if (then->timing)
			assert_true(then->timing->delta_ns == played->timing->delta_ns);
	}
}

/* What the oldest moments were compared with is dropped: their totals and rates are known. */
TEST(the_oldest_moments_of_a_full_ring)
{
	static struct memory memories[NR_MOMENTS];
	struct world world;
	struct past *past;
	struct stats *stats = stats_new();
	struct error error = { "" };

	for (size_t ring_size = 250000; ring_size < 380000; ring_size += 10000) {
		size_t first = 0;

		seed = 7;
		live(&world, memories, NR_MOMENTS, ring_size);
		past = past_new(recent_store(world.recent), world.fields);
		stats->guests = past_guests(past);
		assert_int_equal(past_go(past, 0, &error), 0);
		while (memories[first].time_ns != past_at(past)->time_ns)
			first++;
		assert_int_in_range(first, 1, NR_MOMENTS - 10);
		for (size_t i = first; i < first + 10; i++) {
			assert_int_equal(past_go(past, memories[i].time_ns, &error), 0);
			play(past, world.fields, &world.wanted, stats);
			expect_known(&memories[i], stats);
		}
		for (size_t i = 0; i < NR_MOMENTS; i++)
			forget(&memories[i]);
		past_free(past);
		world_free(&world);
	}
	stats_free(stats);
}

/* Else a ring for fewer than MOMENT_TOTALS_EVERY would be as good as empty after each of them. */
TEST(a_small_ring_asks_for_totals)
{
	static struct memory memories[NR_MOMENTS];
	struct world world;
	struct store store;
	struct sink sink;
	struct stored first, last;

	seed = 8;
	world_new(&world, 300000);
	store = recent_store(world.recent);
	sink = recent_sink(world.recent);
	for (size_t i = 0; i < NR_MOMENTS; i++) {
		if (sink.wants_totals(sink.state))
			world.taker.since_totals = MOMENT_TOTALS_EVERY;
		go_on(&world);
		keep(&world, &memories[i]);
		assert_int_equal(store.type->find(store.state, 0, &first, NULL), 0);
		assert_true(first.flags & MOMENT_HAS_TOTALS);
		if (i < MOMENT_TOTALS_EVERY)
			continue;
		assert_true(first.id > 1);
		assert_int_equal(store.type->find(store.state, UINT64_MAX, &last, NULL), 0);
		assert_int_in_range(last.id - first.id, 5, 2 * MOMENT_TOTALS_EVERY);
	}
	for (size_t i = 0; i < NR_MOMENTS; i++)
		forget(&memories[i]);
	world_free(&world);
}

/* Moments that could not be kept: the next one has the true totals. */
TEST(after_a_loss)
{
	static struct memory memories[20];
	struct world world;
	struct past *past;
	struct stats *stats = stats_new();
	struct error error = { "" };

	seed = 9;
	world_new(&world, SIZE_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(memories); i++) {
		go_on(&world);
		if (i == 10) {
			world.taker.has_lost = true;
			world.taker.tick = world.stats->tick;
			continue;
		}
		keep(&world, &memories[i]);
	}
	past = past_new(recent_store(world.recent), world.fields);
	stats->guests = past_guests(past);
	for (size_t i = 11; i < ARRAY_SIZE(memories); i++) {
		assert_int_equal(past_go(past, memories[i].time_ns, &error), 0);
		assert_int_equal(past_at(past)->flags & MOMENT_AFTER_LOSS ? 11 : i, i);
		play(past, world.fields, &world.wanted, stats);
		for (size_t k = 0; k < memories[i].nr; k++) {
			const struct stats_item *then = &memories[i].items[k];

			assert_true(then->total == find(stats, &then->key)->total);
			assert_true(then->delta == find(stats, &then->key)->delta);
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(memories); i++)
		forget(&memories[i]);
	stats_free(stats);
	past_free(past);
	world_free(&world);
}

/* As many points as a series may have, forwards, back, forwards: none between them is missing. */
TEST(a_series_that_is_full)
{
	enum { NR = SERIES_MAX + 100 };
	static struct memory memories[NR];
	const struct key subject = { GUEST_ALL, -1, EXIT };
	const struct series_span span = { .nr = SERIES_MAX };
	struct series series = { .nr = 0 };
	struct world world;
	struct past *past;
	struct error error = { "" };
	size_t nr_full = 0;

	seed = 2;
	live(&world, memories, NR, SIZE_MAX);
	past = past_new(recent_store(world.recent), world.fields);
	for (size_t i = 0; i < 3 * NR; i++) {
		size_t at = i / NR == 1 ? 2 * NR - 1 - i : i % NR, k = 0;

		assert_int_equal(past_go(past, memories[at].time_ns, &error), 0);
		assert_int_equal(past_series(past, &subject, false, &span, &series, &error), 0);
		nr_full += series.nr == SERIES_MAX;
		for (size_t m = 0; m < NR && k < series.nr; m++) {
			bool is_between = memories[m].time_ns >= series.points[0].time_ns;

			if (is_between && memories[m].tick > 1)
				assert_true(series.points[k++].time_ns == memories[m].time_ns);
		}
		assert_int_equal(k, series.nr);
		if (memories[at].tick > 1)
			assert_true(series.points[k - 1].time_ns >= memories[at].time_ns);
	}
	assert_true(nr_full > NR);
	free(series.points);
	for (size_t i = 0; i < NR; i++)
		forget(&memories[i]);
	past_free(past);
	world_free(&world);
}

/* A series has as many points after a moment as are wanted; the first of a question is none. */
TEST(a_series_has_the_points_that_are_wanted)
{
	static struct memory memories[NR_MOMENTS];
	const struct key subject = { GUEST_ALL, -1, EXIT };
	const struct series_span span = { .nr = 5, .nr_after = 5 };
	struct world world;
	struct past *past;
	struct error error = { "" };
	size_t nr_short = 0;

	seed = 1;
	live(&world, memories, NR_MOMENTS, SIZE_MAX);
	past = past_new(recent_store(world.recent), world.fields);
	for (size_t i = 0; i + 20 < NR_MOMENTS; i++) {
		struct series series = { .nr = 0 };
		size_t nr_after = 0;

		assert_int_equal(past_go(past, memories[i].time_ns, &error), 0);
		assert_int_equal(past_series(past, &subject, false, &span, &series, &error), 0);
		for (size_t k = 0; k < series.nr; k++)
			nr_after += series.points[k].time_ns > memories[i].time_ns;
		assert_int_equal(nr_after, span.nr_after);
		for (size_t k = 1; k <= span.nr_after; k++)
			nr_short += memories[i + k].tick == 1;
		free(series.points);
	}
	assert_true(nr_short);
	for (size_t i = 0; i < NR_MOMENTS; i++)
		forget(&memories[i]);
	past_free(past);
	world_free(&world);
}

/* Where a question begins anew there is a gap only if nothing was counted for long. */
TEST(other_programs_make_no_gap)
{
	static struct memory memories[60];
	const size_t soon = 20, late = 40; /* questions begin anew */
	const struct key subject = { GUEST_ALL, -1, EXIT };
	const struct series_span span = { .nr = 60, .nr_after = 30 };
	struct world world;
	struct past *past;
	struct error error = { "" };

	seed = 5;
	world_new(&world, SIZE_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(memories); i++) {
		if (i == soon || i == late)
			stats_clear(world.stats);
		world.now_ns += i == late ? SECOND : 0;
		world.now_ns -= i == soon ? SECOND / 10 * 7 : 0;
		go_on(&world);
		keep(&world, &memories[i]);
	}
	past = past_new(recent_store(world.recent), world.fields);
	for (size_t i = 0; i < ARRAY_SIZE(memories); i++) { /* both ways from there */
		struct series series = { .nr = 0 };
		size_t nr_gaps = 0;

		assert_int_equal(past_go(past, memories[i].time_ns, &error), 0);
		assert_int_equal(past_series(past, &subject, false, &span, &series, &error), 0);
		for (size_t k = 0; k < series.nr; k++) {
			bool is_late = series.points[k].time_ns == memories[late + 1].time_ns;

			assert_int_equal(series.points[k].is_gap, is_late && k);
			nr_gaps += series.points[k].is_gap;
		}
		assert_int_equal(nr_gaps, i > 8); /* so far a series reaches */
		free(series.points);
	}
	for (size_t i = 0; i < ARRAY_SIZE(memories); i++)
		forget(&memories[i]);
	past_free(past);
	world_free(&world);
}

/* A guest of the tenth second is forgotten: totals are every 80 seconds. */
TEST(totals_have_what_was_forgotten)
{
	const struct field spec = { .name = "kvm_exit", .parent = FIELD_NONE };
	const struct field_set wanted = { 0 };
	struct fields *fields = fields_new();
	struct stats *stats = stats_new();
	struct guests *guests = guests_new(NULL);
	const struct facts facts = { .fields = fields, .stats = stats, .guests = guests,
				     .wanted = &wanted };
	struct moment_taker taker = { 0 };
	struct moment moment = { 0 };
	struct sample sample = { 0 };
	const struct changes *totals = &moment.totals;
	const struct change_timing *forgotten;
	struct timing timing;
	uint32_t field = fields_add(fields, &spec);

	for (uint64_t second = 1; second <= 2 * MOMENT_TOTALS_EVERY + 1; second++) {
		sample_reset(&sample);
		sample.time_ns[0] = second * SECOND;
		timing = (struct timing){ .time_ns = 10 * second, .max_ns = 2,
					  .hist[3] = (uint32_t)(100 * second) };
		if (second < 10)
			sample_add_timed(&sample, (struct key){ 1, 0, field }, 100 * second,
					 ROW_FROM_ZERO, &timing);
		stats_update(stats, fields, &sample);
		moment_take(&taker, &facts, second * SECOND, &moment);
		if (second != MOMENT_TOTALS_EVERY + 1)
			continue;
		assert_true(moment.flags & MOMENT_HAS_FORGOTTEN);
		assert_int_equal(totals->nr, 2);
		assert_int_equal(totals->list[0].key.guest, 1);
		assert_int_equal(totals->list[0].flags, CHANGE_GONE);
		assert_int_equal(totals->list[0].count, 900);
		forgotten = changes_timing(totals, &totals->list[0]);
		assert_non_null(forgotten);
		assert_int_equal(forgotten->time_ns, 90);
		assert_int_equal(forgotten->first, 3);
		assert_int_equal(changes_counts(totals, forgotten)[0], 900);
		assert_int_equal(totals->list[1].key.guest, STATS_ENDED);
		assert_int_equal(totals->list[1].count, 900);
	}
	assert_true(moment.flags & MOMENT_HAS_TOTALS && !(moment.flags & MOMENT_HAS_FORGOTTEN));
	assert_int_equal(totals->nr, 1); /* once */
	moment_taker_release(&taker);
	moment_release(&moment);
	sample_release(&sample);
	guests_free(guests);
	stats_free(stats);
	fields_free(fields);
}

/* The next sample has so many long exits, the latest first; each second one is a halt. */
static void take_long(const struct facts *facts, struct stats *stats, uint64_t second, size_t nr,
		      struct moment_taker *taker, struct moment *moment)
{
	struct sample sample = { 0 };

	sample_reset(&sample);
	for (size_t i = 0; i < nr; i++) {
		const struct long_exit exit = { .end_ns = second * SECOND - i,
						.took_ns = i % 2 ? SECOND : SECOND / 100,
						.is_idle = i % 2, .argument = FIELD_NONE };

		long_exits_add(&sample.long_exits, &exit);
	}
	sample.time_ns[0] = second * SECOND;
	stats_update(stats, facts->fields, &sample);
	moment_take(taker, facts, second * SECOND, moment);
	sample_release(&sample);
	for (size_t i = 0; i < moment->long_exits.nr; i++) {
		const struct long_exit *exit = long_exits_at(&moment->long_exits, i);

		assert_false(exit->is_idle);
		if (i)
			assert_true(exit->end_ns > exit[-1].end_ns);
	}
}

/* Halts, which a screen may list, push nothing out. */
TEST(long_exits_without_halts)
{
	struct fields *fields = fields_new();
	struct stats *stats = stats_new();
	struct guests *guests = guests_new(NULL);
	struct field_set wanted = { 0 };
	const struct facts facts = { .fields = fields, .stats = stats, .guests = guests,
				     .wanted = &wanted };
	struct moment_taker taker = { .has_long_exits = true };
	struct moment moment = { 0 };

	take_long(&facts, stats, 1, 2 * LONG_EXITS_KEPT + 1, &taker, &moment);
	assert_int_equal(moment.long_exits.nr, LONG_EXITS_KEPT);
	assert_int_equal(moment.long_exits.lost, 1);
	take_long(&facts, stats, 2, 6, &taker, &moment);
	assert_int_equal(moment.long_exits.nr, 3);
	moment_taker_release(&taker);
	moment_release(&moment);
	guests_free(guests);
	stats_free(stats);
	fields_free(fields);
}

/* The clock is set back after 30: the moments of a time are in two places. */
TEST(runs_of_a_time)
{
	static const uint64_t times[] = { 10, 20, 30, 12, 22, 32 };
	static const struct segment segment = { .host = "alpha" };
	struct fields *fields = fields_new();
	struct recent *recent = recent_new(1 << 20, &segment, fields);
	struct store store = recent_store(recent);
	struct packed packed = { 0 };
	struct stored first, last;
	struct error error = { "" };

	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		struct moment moment = { .time_ns = times[i], .elapsed_ns = 10 };

		assert_int_equal(recent_add(recent, &moment, &packed), 0);
	}
	assert_int_equal(store.type->run(store.state, 15, 30, UINT64_MAX, &first, &last, &error),
			 0);
	assert_int_equal(first.time_ns, 22);
	assert_int_equal(last.time_ns, 22);
	assert_int_equal(store.type->run(store.state, 15, 30, first.id, &first, &last, &error), 0);
	assert_int_equal(first.time_ns, 20);
	assert_int_equal(last.time_ns, 30);
	assert_int_equal(store.type->run(store.state, 15, 30, first.id, &first, &last, &error),
			 -ENOENT);
	recent_free(recent);
	fields_free(fields);
}
