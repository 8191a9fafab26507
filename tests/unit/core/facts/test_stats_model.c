// SPDX-License-Identifier: GPL-2.0-or-later
/* Random samples and commands: stats must agree with a naive model. */
#include <stdlib.h>
#include <string.h>

#include "core/facts/stats.h"
#include "core/guests/guests.h"
#include "tests/unit/unit.h"

enum { EXIT, EXIT_HLT, EXIT_MSR, ENTRY, PAGES, PEAK, OTHER_SOURCE, NR_FIELDS };

static const struct field specs[] = {
	[EXIT] = { .name = "kvm_exit", .parent = FIELD_NONE },
	[EXIT_HLT] = { .name = "kvm_exit(HLT)", .parent = EXIT },
	[EXIT_MSR] = { .name = "kvm_exit(MSR)", .parent = EXIT },
	[ENTRY] = { .name = "kvm_entry", .parent = FIELD_NONE },
	[PAGES] = { .name = "pages_4k", .parent = FIELD_NONE, .kind = FIELD_GAUGE },
	[PEAK] = { .name = "max_rmap", .parent = FIELD_NONE, .kind = FIELD_PEAK },
	[OTHER_SOURCE] = { .name = "exits", .parent = FIELD_NONE, .source = 1 },
};

#define NR_GUESTS 4 /* 0 is the host */
#define NR_VCPUS 2
#define NR_TICKS 10001

/* What is known of a key. */
struct fact {
	bool is_known;
	uint64_t raw, total, delta, parent_before, born;
	double rate; /* < 0: none */
	float rates[NR_TICKS];
};

struct model {
	struct fact facts[NR_GUESTS][NR_VCPUS][NR_FIELDS];
	struct fact ended[NR_FIELDS];
	uint64_t counters[NR_GUESTS][NR_VCPUS][NR_FIELDS]; /* the kernel's */
	uint64_t tick, now_ns, last_ns[2], elapsed_ns[2];
	bool is_in[2];

	/* What is tested. */
	struct fields *fields;
	struct stats *stats;
	struct sample sample;
};

static uint32_t seed;

static uint32_t random_below(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)seed * n >> 32);
}

static bool is_near(double a, double b)
{
	double diff = a > b ? a - b : b - a;

	return diff <= 1e-5 * (b > 1 ? b : 1);
}

static void forget(struct fact *fact)
{
	fact->is_known = false;
	for (uint32_t i = 0; i < NR_TICKS; i++)
		fact->rates[i] = -1;
}

static void forget_field(struct model *model, uint32_t field)
{
	for (uint32_t guest = 0; guest < NR_GUESTS; guest++) {
		for (uint32_t vcpu = 0; vcpu < NR_VCPUS; vcpu++)
			forget(&model->facts[guest][vcpu][field]);
	}
	forget(&model->ended[field]);
}

static void do_clear(struct model *model)
{
	stats_clear(model->stats);
	for (uint32_t field = 0; field < NR_FIELDS; field++)
		forget_field(model, field);
	model->tick = 0;
	memset(model->last_ns, 0, sizeof(model->last_ns));
}

static int setup(void **state)
{
	struct model *model = calloc(1, sizeof(*model));

	assert_non_null(model);
	model->fields = fields_new();
	model->stats = stats_new();
	model->now_ns = 1;
	for (uint32_t i = 0; i < NR_FIELDS; i++)
		fields_add(model->fields, &specs[i]);
	do_clear(model);
	*state = model;
	return 0;
}

static int teardown(void **state)
{
	struct model *model = *state;

	sample_release(&model->sample);
	stats_free(model->stats);
	fields_free(model->fields);
	free(model);
	return 0;
}

static void begin(struct model *model, struct fact *fact, const struct fact *parent, uint64_t count,
		  bool from_zero, uint64_t elapsed_ns)
{
	bool is_late = parent && parent->is_known && parent->born < model->tick;
	bool is_total = from_zero && !is_late;

	forget(fact);
	fact->is_known = true;
	fact->born = model->tick;
	fact->raw = count;
	fact->total = is_total ? count : 0;
	fact->delta = fact->total;
	fact->parent_before = is_late ? parent->total : 0;
	fact->rate = is_total && elapsed_ns ?
			     (double)fact->delta / ((double)elapsed_ns / 1e9) : -1;
}

static void advance(struct fact *fact, uint64_t count, uint64_t elapsed_ns)
{
	fact->delta = count >= fact->raw ? count - fact->raw : count;
	fact->total += fact->delta;
	fact->raw = count;
	fact->rate = elapsed_ns ? (double)fact->delta / ((double)elapsed_ns / 1e9) : -1;
}

static void hit(struct model *model, struct fact *facts, uint32_t field, uint64_t count,
		bool from_zero)
{
	const struct field *spec = &specs[field];
	struct fact *fact = &facts[field];

	if (fact->is_known)
		advance(fact, count, model->elapsed_ns[spec->source]);
	else
		begin(model, fact, spec->parent == FIELD_NONE ? NULL : &facts[spec->parent], count,
		      from_zero, model->elapsed_ns[spec->source]);
	if (spec->kind != FIELD_COUNTER) {
		fact->total = count;
		fact->delta = fact->parent_before = 0;
		fact->rate = -1;
	}
	fact->rates[model->tick] = (float)fact->rate;
}

/* The key was not in the sample. */
static void miss(struct model *model, struct fact *fact, uint32_t guest, uint32_t field)
{
	struct fact *ended = &model->ended[field];

	if (!fact->is_known)
		return;
	fact->delta = 0;
	fact->rate = -1;
	if (!model->is_in[specs[field].source])
		return;
	if (guest && specs[field].kind == FIELD_COUNTER) {
		if (!ended->is_known)
			*ended = (struct fact){ .is_known = true };
		ended->total += fact->total;
		ended->parent_before += fact->parent_before;
	}
	forget(fact);
}

static void pass_time(struct model *model)
{
	model->tick++;
	model->now_ns += random_below(10) ? random_below(3000000) : 0;
	for (int i = 0; i < 2; i++) {
		model->is_in[i] = random_below(20) > 0;
		model->sample.time_ns[i] = model->is_in[i] ? model->now_ns : 0;
		model->elapsed_ns[i] = model->last_ns[i] ? model->now_ns - model->last_ns[i] : 0;
		if (model->is_in[i])
			model->last_ns[i] = model->now_ns;
	}
}

static void sample_vcpu(struct model *model, uint32_t guest, uint32_t vcpu)
{
	struct fact *facts = model->facts[guest][vcpu];
	bool is_absent[NR_FIELDS], is_gone = random_below(8) == 0;

	for (uint32_t i = 0; i < NR_FIELDS; i++) {
		uint64_t *counter = &model->counters[guest][vcpu][i];
		struct key key = { guest, (int32_t)vcpu, i };
		uint32_t parent = specs[i].parent;
		bool from_zero = random_below(2);

		*counter = random_below(30) ? *counter + random_below(1000) : random_below(100);
		is_absent[i] = is_gone || !model->is_in[specs[i].source] || !random_below(40) ||
			       (parent != FIELD_NONE && is_absent[parent]);
		if (is_absent[i]) {
			miss(model, &facts[i], guest, i);
			continue;
		}
		hit(model, facts, i, *counter, from_zero);
		sample_add(&model->sample, key, *counter, from_zero ? ROW_FROM_ZERO : 0);
	}
}

static void do_sample(struct model *model)
{
	pass_time(model);
	for (uint32_t guest = 0; guest < NR_GUESTS; guest++) {
		for (uint32_t vcpu = 0; vcpu < NR_VCPUS; vcpu++)
			sample_vcpu(model, guest, vcpu);
	}
	stats_update(model->stats, model->fields, &model->sample);
	sample_reset(&model->sample);
}

static void do_reset(struct model *model)
{
	stats_reset(model->stats, model->fields);
	for (uint32_t field = 0; field < NR_FIELDS; field++) {
		model->ended[field].total = model->ended[field].parent_before = 0;
		for (uint32_t guest = 0; guest < NR_GUESTS; guest++) {
			struct fact(*facts)[NR_FIELDS] = model->facts[guest];
			bool is_counter = specs[field].kind == FIELD_COUNTER;

			for (uint32_t vcpu = 0; vcpu < NR_VCPUS && is_counter; vcpu++)
				facts[vcpu][field].total = facts[vcpu][field].parent_before = 0;
		}
	}
}

static void do_keep_only(struct model *model)
{
	struct field_set set = { 0 };

	for (uint32_t field = 0; field < NR_FIELDS; field++) {
		if (random_below(4))
			field_set_add(&set, field);
		else
			forget_field(model, field);
	}
	stats_keep_only(model->stats, &set);
	field_set_release(&set);
}

static void compare_history(const struct model *model, const struct fact *fact,
			    const struct stats_item *stat)
{
	float rates[STATS_HISTORY];

	stats_rates_add(rates, true, stat, model->stats->tick);
	for (uint64_t i = 0; i < STATS_HISTORY; i++) {
		uint64_t ago = STATS_HISTORY - 1 - i;

		if (ago < model->tick)
			assert_true(is_near(rates[i], fact->rates[model->tick - ago]));
		else
			assert_true(rates[i] < 0);
	}
}

static void compare_key(const struct model *model, const struct fact *fact,
			const struct stats_item *stat)
{
	assert_int_equal(stat != NULL, fact->is_known);
	if (!stat)
		return;
	assert_int_equal(stat->total, fact->total);
	assert_int_equal(stat->delta, fact->delta);
	assert_int_equal(stat->parent_before, fact->parent_before);
	assert_int_equal(stat->has_rate, fact->rate >= 0);
	assert_true(is_near(stat->rate_per_s, fact->rate >= 0 ? fact->rate : 0));
	compare_history(model, fact, stat);
}

static void compare_ended(const struct fact *fact, const struct stats_item *stat)
{
	assert_int_equal(stat != NULL, fact->is_known);
	if (!stat)
		return;
	assert_int_equal(stat->total, fact->total);
	assert_int_equal(stat->parent_before, fact->parent_before);
	assert_int_equal(stat->delta, 0);
	assert_true(is_near(stat->rate_per_s, 0));
}

static void compare(const struct model *model)
{
	const struct stats_item *found[NR_GUESTS][NR_VCPUS][NR_FIELDS] = { 0 };
	const struct stats_item *ended[NR_FIELDS] = { 0 };

	assert_int_equal(model->stats->tick, model->tick);
	for (size_t i = 0; i < model->stats->nr; i++) {
		const struct stats_item *stat = &model->stats->list[i], **place;
		struct key key = stat->key;

		place = key.guest == STATS_ENDED ? &ended[key.field] :
						   &found[key.guest][key.vcpu][key.field];
		assert_null(*place);
		*place = stat;
	}
	for (uint32_t field = 0; field < NR_FIELDS; field++) {
		for (uint32_t i = 0; i < NR_GUESTS * NR_VCPUS; i++) {
			uint32_t guest = i / NR_VCPUS, vcpu = i % NR_VCPUS;

			compare_key(model, &model->facts[guest][vcpu][field],
				    found[guest][vcpu][field]);
		}
		compare_ended(&model->ended[field], ended[field]);
	}
}

TEST(random_operations, setup, teardown)
{
	struct model *model = *state;

	seed = 20261121;
	for (size_t i = 0; i < unit_rounds(2500); i++) {
		uint32_t dice = random_below(1000);

		if (dice == 0)
			do_clear(model);
		else if (dice < 20)
			do_reset(model);
		else if (dice < 40)
			do_keep_only(model);
		else
			do_sample(model);
		compare(model);
	}
}

static uint64_t total_of_guests(const struct stats *stats, uint32_t field)
{
	uint64_t total = 0;

	for (size_t i = 0; i < stats->nr; i++) {
		const struct stats_item *stat = &stats->list[i];

		if (stat->key.field == field && stat->key.guest != GUEST_NONE)
			total += stat->total;
	}
	return total;
}

TEST(flaw_B4_totals_never_go_back, setup, teardown)
{
	struct model *model = *state;
	uint64_t before[NR_FIELDS] = { 0 };

	seed = 4711;
	for (int i = 0; i < 2000; i++) {
		do_sample(model);
		for (uint32_t field = 0; field < NR_FIELDS; field++) {
			uint64_t total = total_of_guests(model->stats, field);

			if (specs[field].kind == FIELD_COUNTER)
				assert_true(total >= before[field]);
			before[field] = total;
		}
	}
}
