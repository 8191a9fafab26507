/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_monitor - what the monitor passes to its providers and when, over two that are made up. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arch/arch.h"
#include "lib/text.h"
#include "core/facts/stats.h"
#include "core/monitor.h"
#include "core/provider.h"
#include "core/views/view.h"
#include "core/views/query.h"
#include "tests/unit/unit.h"

#define SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* What a provider was given, and what it shall return. */
struct said {
	unsigned int nr_opened, nr_wants, nr_closed;
	struct want want; /* the latest, without its fields */
	bool wants_event, wants_child;
	uint32_t event, child, source;
	uint32_t flags; /* of the next sample's rows: none after a want, as in the provider exits */
	uint64_t count; /* 0: no row */
	uint64_t time_ns; /* of the latest sample */
	const struct provider_args *args;
	const char *shows; /* a child that it adds with its next sample */
	int err;	/* of collect(), */
	const char *error; /* and its reason */
	const char *refusal; /* of want(); NULL: it accepts */
	const char *missing; /* why open() fails; NULL: it opens */
};

static struct said first, second;

static int fake_open(struct said *said, const struct provider_args *args, const char *event,
		     const char *child)
{
	struct field spec = { .name = event, .parent = FIELD_NONE, .source = args->source };

	said->nr_opened++;
	said->args = args;
	said->source = args->source;
	said->event = fields_add(args->fields, &spec);
	spec.name = child;
	spec.parent = said->event;
	said->child = fields_add(args->fields, &spec);
	return 0;
}

static int open_first(const struct provider_args *args, void **ret_state, struct error *error)
{
	if (first.missing)
		return error_set(error, -EPERM, "%s", first.missing);
	*ret_state = &first;
	return fake_open(&first, args, "one", "one(child)");
}

static int open_second(const struct provider_args *args, void **ret_state, struct error *error)
{
	if (second.missing)
		return error_set(error, -EXDEV, "%s", second.missing);
	*ret_state = &second;
	return fake_open(&second, args, "two", "two(child)");
}

static int fake_want(void *state, const struct want *want, struct error *error)
{
	struct said *said = state;

	said->nr_wants++;
	if (said->refusal)
		return error_set(error, -EINVAL, "%s", said->refusal);
	said->want = *want;
	said->wants_event = field_set_has(&want->fields, said->event);
	said->wants_child = field_set_has(&want->fields, said->child);
	said->flags = 0;
	/* A provider gets only its own fields. */
	if (first.nr_opened && second.nr_opened)
		assert_false(field_set_has(&want->fields,
					   said == &first ? second.event : first.event));
	return 0;
}

static int fake_collect(void *state, struct sample *sample, struct error *error)
{
	struct said *said = state;
	struct key key = { 1, -1, said->event };

	if (said->shows) {
		struct field spec = { .name = said->shows, .parent = said->event,
				      .source = said->source };

		fields_add(said->args->fields, &spec);
	}
	if (said->error)
		error_set(error, 0, "%s", said->error);
	if (said->err == -EAGAIN)
		return said->err;
	sample->time_ns[said->source] = ++said->time_ns;
	if (said->count)
		sample_add(sample, key, said->count, said->flags);
	if (said->err) /* not all rows are there */
		return said->err;
	said->flags = ROW_NEW;
	return 0;
}

static void fake_close(void *state)
{
	struct said *said = state;

	said->nr_closed++;
}

static const struct provider fakes[] = {
	{
		.name = "fake1", .is_always_by_guest = true,
		.open = open_first, .want = fake_want,
		.collect = fake_collect, .close = fake_close,
	},
	{
		.name = "fake2", .is_always_by_guest = true,
		.open = open_second, .want = fake_want,
		.collect = fake_collect, .close = fake_close,
	},
};

static const struct provider *const list[] = { &fakes[0], &fakes[1], NULL };

/* ---- a machine without guests */

struct world {
	char root[64], proc[80];
	struct env env;
	struct monitor *monitor;
	struct query query;
};

enum { FIRST = 1 << 0, SECOND = 1 << 1, BOTH = FIRST | SECOND };

static void open_monitor_with(struct world *world, unsigned int providers, bool counts_all)
{
	struct monitor_config config = { .env = &world->env, .list = list,
					 .providers = providers, .counts_all = counts_all };
	struct error error = { "" };

	assert_int_equal(monitor_open(&config, &world->monitor, &error), 0);
}

static void open_monitor(struct world *world, unsigned int providers)
{
	open_monitor_with(world, providers, false);
}

static void want(struct world *world)
{
	struct error error = { "" };

	assert_int_equal(monitor_want(world->monitor, &world->query, &error), 0);
}

static int setup(void **state)
{
	static struct world world;

	world = (struct world){ .root = "/tmp/kvmtop-monitor.XXXXXX" };
	*state = &world;
	first = second = (struct said){ 0 };
	if (!mkdtemp(world.root))
		return -1;
	snprintf(world.proc, sizeof(world.proc), "%s/proc", world.root);
	if (mkdir(world.proc, 0755) < 0)
		return -1;
	world.env = (struct env){ .root = world.root, .arch = arch_by_name("VMX") };
	world.query.type = &view_events;
	world.query.sort = view_default_sort(&view_events);
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;

	monitor_close(world->monitor);
	field_set_release(&world->query.open);
	pattern_free((struct pattern *)(uintptr_t)world->query.filter);
	rmdir(world->proc);
	return rmdir(world->root);
}

/* ---- tests */

TEST(only_what_is_chosen_is_opened, setup, teardown)
{
	struct world *world = *state;

	open_monitor(world, SECOND);
	assert_int_equal(first.nr_opened, 0);
	assert_int_equal(second.nr_opened, 1);
}

static size_t rewind_first(void *state)
{
	struct said *said = state;

	said->time_ns = 0;
	return 3;
}

/* All samples that answer a want are taken in one call, and the next call takes none. */
TEST(a_player_begins_again_with_every_want, setup, teardown)
{
	struct world *world = *state;
	struct provider player = fakes[0];
	const struct provider *const players[] = { &player, NULL };
	struct monitor_config config = { .list = players };

	player.rewind = rewind_first;
	config.recording.guests = guests_new(NULL);
	assert_int_equal(monitor_open(&config, &world->monitor, &(struct error){ "" }), 0);
	for (unsigned int i = 1; i <= 2; i++) {
		want(world);
		assert_int_equal(first.nr_wants, i);
		monitor_sample(world->monitor);
		assert_int_equal(first.time_ns, 3);
		monitor_sample(world->monitor);
		assert_int_equal(first.time_ns, 3);
	}
	monitor_close(world->monitor);
	world->monitor = NULL;
	guests_free(config.recording.guests);
}

/* Of what costs more a history has what it is to keep, and no more. */
TEST(views_that_a_history_keeps, setup, teardown)
{
	static const struct field kept[] = {
		[KEEP_HOTSPOTS] = { .name = "msr", .use = USE_ARGUMENT, .parent = FIELD_NONE },
		[KEEP_WHO] = { .name = "waits", .use = USE_WAIT, .parent = FIELD_NONE },
		[KEEP_WHERE] = { .name = "code", .parent = FIELD_NONE, .is_extra = true },
		[KEEP_INTERRUPTS] = { .name = "irqs", .use = USE_INTERRUPT, .parent = FIELD_NONE },
		[KEEP_LONG] = { .name = "exit", .parent = FIELD_NONE, .is_extra = true },
	};
	struct world *world = *state;

	for (unsigned int keeps = 0; keeps < 1U << KEEPS; keeps++) {
		const struct monitor_config config = {
			.env = &world->env, .list = list, .providers = FIRST, .counts_all = true,
			.keeps = keeps,
		};
		uint32_t ids[KEEPS];

		monitor_close(world->monitor);
		assert_int_equal(monitor_open(&config, &world->monitor, &(struct error){ "" }), 0);
		for (int i = 0; i < KEEPS; i++)
			ids[i] = fields_add(monitor_fields(world->monitor), &kept[i]);
		want(world);
		for (int i = 0; i < KEEPS; i++) {
			bool is_wanted = i == KEEP_WHERE ? first.want.stack_hz == STACKS_HZ :
				i == KEEP_LONG ? first.want.longer_ns == LONG_EXITS_DEFAULT_NS :
				field_set_has(monitor_facts(world->monitor)->wanted, ids[i]);

			assert_int_equal(is_wanted, keeps >> i & 1);
		}
		/* Its own view changes nothing, and no view makes other counts begin anew. */
		world->query.type = &view_hotspots;
		assert_false(monitor_begins_anew(world->monitor, &world->query));
		want(world);
		assert_int_equal(monitor_has_new_counts(world->monitor),
				 !(keeps >> KEEP_HOTSPOTS & 1));
		/* The lower threshold is wanted. */
		world->query.type = &view_long_exits;
		world->query.longer_ns = 5 * LONG_EXITS_DEFAULT_NS;
		assert_false(monitor_begins_anew(world->monitor, &world->query));
		want(world);
		assert_int_equal(first.want.longer_ns, (keeps >> KEEP_LONG & 1 ? 1 : 5) *
						       LONG_EXITS_DEFAULT_NS);
		world->query.longer_ns = LONG_EXITS_DEFAULT_NS / 5;
		want(world);
		assert_int_equal(first.want.longer_ns, LONG_EXITS_DEFAULT_NS / 5);
		world->query.type = &view_events;
	}
}

TEST(only_changes_are_told, setup, teardown)
{
	struct world *world = *state;

	open_monitor(world, BOTH);
	want(world);
	assert_int_equal(first.nr_wants, 1);
	assert_true(first.wants_event);
	assert_int_equal(second.nr_wants, 1);
	/* Another order, another view that needs the same: nothing new. */
	world->query.sort++;
	want(world);
	assert_false(monitor_has_new_counts(world->monitor));
	assert_int_equal(first.nr_wants, 1);
	assert_int_equal(second.nr_wants, 1);
	/* One provider has more to count; the other gets no new want. */
	field_set_add(&world->query.open, first.event);
	want(world);
	assert_int_equal(first.nr_wants, 2);
	assert_true(first.wants_child);
	assert_int_equal(second.nr_wants, 1);
	/* All providers get a guest. */
	world->query.guest = 7;
	want(world);
	assert_int_equal(first.nr_wants, 3);
	assert_int_equal(second.nr_wants, 2);
	assert_int_equal(second.want.guest, 7);
	assert_int_equal(second.want.scope, WANT_GUEST);
}

/* A provider counts the fields that it adds itself without a want. */
TEST(a_provider_is_not_told_of_fields_it_adds, setup, teardown)
{
	struct world *world = *state;

	open_monitor(world, BOTH);
	field_set_add(&world->query.open, first.event);
	want(world);
	first.shows = "one(late)";
	monitor_sample(world->monitor);
	want(world);
	assert_false(monitor_has_new_counts(world->monitor));
	assert_int_equal(first.nr_wants, 1);
}

/* For a look back: events without their children, and all else that is not on demand. */
TEST(what_is_always_counted, setup, teardown)
{
	static const struct field specs[] = {
		{ .name = "exits", .use = USE_EXIT }, { .name = "msr", .use = USE_ARGUMENT },
		{ .name = "waits", .use = USE_WAIT }, { .name = "extra", .is_extra = true },
		{ .name = "left", .is_abandoned = true },
	};
	struct world *world = *state;
	char counted[64] = "";

	open_monitor_with(world, FIRST, true);
	for (size_t i = 0; i < SIZE(specs); i++) {
		struct field spec = specs[i];

		spec.parent = FIELD_NONE;
		fields_add(monitor_fields(world->monitor), &spec);
	}
	world->query.type = &view_host; /* it needs none of them */
	want(world);
	assert_true(first.wants_event);
	assert_false(first.wants_child);
	for (uint32_t i = first.child + 1; i < fields_count(monitor_fields(world->monitor)); i++) {
		if (field_set_has(&first.want.fields, i)) {
			strcat(counted, fields_get(monitor_fields(world->monitor), i)->name);
			strcat(counted, " ");
		}
	}
	assert_string_equal(counted, "exits ");
}

static bool first_is_ready;

static bool is_ready(void *state)
{
	assert_ptr_equal(state, &first);
	return first_is_ready;
}

/* A provider that does not say whether it is ready always is. */
TEST(one_provider_that_is_not_ready, setup, teardown)
{
	struct world *world = *state;
	struct provider slow = fakes[0];
	const struct provider *const both[] = { &slow, &fakes[1], NULL };
	struct monitor_config config = { .env = &world->env, .list = both, .providers = BOTH };

	slow.is_ready = is_ready;
	assert_int_equal(monitor_open(&config, &world->monitor, &(struct error){ "" }), 0);
	want(world);
	first_is_ready = false;
	assert_false(monitor_is_ready(world->monitor));
	first_is_ready = true;
	assert_true(monitor_is_ready(world->monitor));
	monitor_close(world->monitor); /* while its provider is there */
	world->monitor = NULL;
}

static int first_lacks;

static int open_later(const struct provider_args *args, void **ret_state, struct error *error)
{
	if (first_lacks)
		return error_set(error, first_lacks, "no module");
	return open_first(args, ret_state, error);
}

/* A module that is not loaded yet is waited for, if that is wanted; nothing else is. */
TEST(what_is_not_there_yet, setup, teardown)
{
	static const struct {
		int err;
		bool waits, comes;
	} cases[] = { { -ENOENT, true, true }, { -ENOENT, false, false }, { -EPERM, true, false } };
	struct world *world = *state;
	struct provider late = fakes[0];
	const struct provider *const both[] = { &late, &fakes[1], NULL };
	struct monitor_config config = { .env = &world->env, .list = both, .providers = BOTH };

	late.open = open_later;
	for (size_t i = 0; i < SIZE(cases); i++) {
		first = second = (struct said){ 0 };
		first_lacks = cases[i].err;
		config.waits = cases[i].waits;
		assert_int_equal(monitor_open(&config, &world->monitor, &(struct error){ "" }), 0);
		assert_false(monitor_revive(world->monitor));
		first_lacks = 0;
		assert_int_equal(monitor_revive(world->monitor), cases[i].comes);
		assert_int_equal(first.nr_opened, cases[i].comes);
		monitor_close(world->monitor);
		world->monitor = NULL;
	}
}

/* All totals begin anew, so every provider gets the want. */
TEST(new_question_is_told_to_all, setup, teardown)
{
	struct world *world = *state;
	struct pattern *filter;
	struct error error;

	open_monitor(world, BOTH);
	want(world);
	assert_int_equal(pattern_new("one|two", &filter, &error), 0);
	world->query.filter = filter;
	want(world);
	assert_true(monitor_has_new_counts(world->monitor));
	assert_int_equal(first.nr_wants, 2);
	assert_int_equal(second.nr_wants, 2);

	/* The monitor keeps the text, not the pattern. */
	pattern_free(filter);
	assert_int_equal(pattern_new("one|two", &filter, &error), 0);
	world->query.filter = filter;
	want(world);
	assert_false(monitor_has_new_counts(world->monitor));
	pattern_free(filter);
	assert_int_equal(pattern_new("one", &filter, &error), 0);
	world->query.filter = filter;
	want(world);
	assert_true(monitor_has_new_counts(world->monitor));
}

/* A count that begins after a sample belongs to that interval, even if a key was pressed in it. */
TEST(looking_elsewhere_loses_nothing, setup, teardown)
{
	struct world *world = *state;
	const struct facts *facts;

	open_monitor(world, BOTH);
	want(world);
	monitor_sample(world->monitor);
	world->query.sort++;
	want(world);
	first.count = 500;
	monitor_sample(world->monitor);
	facts = monitor_facts(world->monitor);
	assert_int_equal(facts->stats->nr, 1);
	assert_int_equal(facts->stats->list[0].total, 500);
}

/*
 * Providers that count each guest apart go on when the screen looks at one guest; a history of one
 * guest is of this guest, and a log begins anew.
 */
TEST(a_closer_look_at_a_guest, setup, teardown)
{
	struct world *world = *state;

	open_monitor_with(world, BOTH, true);
	want(world);
	world->query.guest = 7;
	want(world);
	assert_false(monitor_has_new_counts(world->monitor));
	assert_int_equal(first.want.guest, GUEST_ALL);
	monitor_close(world->monitor);
	open_monitor_with(world, BOTH, true);
	want(world);
	assert_int_equal(first.want.guest, 7);
	world->query.guest = GUEST_ALL;
	want(world);
	assert_true(monitor_has_new_counts(world->monitor));
	monitor_close(world->monitor);
	open_monitor(world, BOTH);
	want(world);
	world->query.guest = 7;
	want(world);
	assert_true(monitor_has_new_counts(world->monitor));
	assert_int_equal(first.want.guest, 7);
}

TEST(provider_without_descriptors_goes_on, setup, teardown)
{
	struct world *world = *state;

	open_monitor(world, FIRST);
	want(world);
	first.err = -EAGAIN;
	first.error = "too many open files";
	monitor_sample(world->monitor);
	assert_string_equal(monitor_notice(world->monitor, 0), "fake1: too many open files");
	assert_null(monitor_notice(world->monitor, 1));
	first.error = NULL;
	monitor_sample(world->monitor);
	assert_true(monitor_is_live(world->monitor));
	assert_int_equal(first.nr_closed, 0);
	first.err = 0;
	monitor_sample(world->monitor);
	assert_null(monitor_notice(world->monitor, 0));
}

/* One sample that cannot be read is no reason to count no more; what was read of it is dropped. */
TEST(a_failure_is_not_for_good, setup, teardown)
{
	struct world *world = *state;
	const struct stats_item *item;

	open_monitor(world, FIRST);
	want(world);
	first.count = 100;
	monitor_sample(world->monitor);
	item = &monitor_facts(world->monitor)->stats->list[0];
	for (int i = 0; i < 20; i++) { /* nine in a row, then one that succeeds, and nine more */
		first.err = i % 10 == 9 ? 0 : -EIO;
		first.error = first.err ? "cannot read" : NULL;
		first.count = first.err ? 7 : 200 + i;
		monitor_sample(world->monitor);
		assert_int_equal(item->total, i < 9 ? 0 : i < 19 ? 109 : 119);
		assert_int_equal(item->has_rate, !first.err);
		if (first.err)
			assert_string_equal(monitor_notice(world->monitor, 0),
					    "fake1: cannot read; trying again");
		else
			assert_null(monitor_notice(world->monitor, 0));
	}
	assert_int_equal(item->delta, 10);
	assert_true(monitor_is_live(world->monitor));
	first.err = -EIO;
	first.error = "cannot read";
	for (int i = 0; i < 10; i++) {
		assert_int_equal(first.nr_closed, 0);
		monitor_sample(world->monitor);
	}
	assert_int_equal(first.nr_closed, 1);
	assert_string_equal(monitor_notice(world->monitor, 0), "fake1: cannot read");
	assert_false(monitor_is_live(world->monitor));
}

TEST(inventory_that_fails_is_said, setup, teardown)
{
	struct world *world = *state;

	open_monitor(world, FIRST);
	want(world);
	assert_int_equal(rmdir(world->proc), 0);
	first.error = "something else";
	monitor_sample(world->monitor);
	assert_non_null(strstr(monitor_notice(world->monitor, 0), "cannot list the guests"));
	assert_string_equal(monitor_notice(world->monitor, 1), "fake1: something else");
	assert_null(monitor_notice(world->monitor, 2));
	assert_int_equal(mkdir(world->proc, 0755), 0);
	monitor_sample(world->monitor);
	assert_string_equal(monitor_notice(world->monitor, 0), "fake1: something else");
}

/* What is only of use beside another one is not what the user lacks. */
TEST(the_reason_is_not_of_a_provider_aside, setup, teardown)
{
	struct world *world = *state;
	struct monitor_config config = { .env = &world->env, .list = list, .providers = BOTH,
					 .asides = SECOND };
	struct error error = { "" };

	first.missing = "not allowed";
	second.missing = "not here";
	assert_int_equal(monitor_open(&config, &world->monitor, &error), -EPERM);
	assert_string_equal(error.text, "fake1: not allowed");
	world->monitor = NULL;
}

/* As --keep who: it says that it fails, and does not hide that nothing else counts. */
TEST(optional_provider_that_was_asked_for, setup, teardown)
{
	struct world *world = *state;
	struct monitor_config config = { .env = &world->env, .list = list, .providers = BOTH,
					 .asides = SECOND, .asked = SECOND };
	struct error error = { "" };

	second.missing = "not here";
	assert_int_equal(monitor_open(&config, &world->monitor, &error), 0);
	assert_string_equal(monitor_notice(world->monitor, 0), "fake2: not here");
	monitor_close(world->monitor);
	world->monitor = NULL;
	first.missing = "not allowed";
	second.missing = NULL;
	assert_int_equal(monitor_open(&config, &world->monitor, &error), -EPERM);
	assert_string_equal(error.text, "fake1: not allowed");
	world->monitor = NULL;
}

/* As a kernel that lets BPF be probed, and then refuses the programs. */
TEST(provider_that_is_refused_leaves_it_to_others, setup, teardown)
{
	struct world *world = *state;

	second.refusal = "the kernel refuses";
	open_monitor(world, FIRST | SECOND);
	want(world);
	assert_true(monitor_has_new_counts(world->monitor));
	assert_int_equal(first.nr_wants, 1);
	assert_int_equal(second.nr_closed, 1);
	assert_true(fields_get(monitor_facts(world->monitor)->fields, second.event)->is_abandoned);
	assert_false(fields_get(monitor_facts(world->monitor)->fields, first.event)->is_abandoned);
	monitor_sample(world->monitor);
	assert_string_equal(monitor_notice(world->monitor, 0), "fake2: the kernel refuses");
}

TEST(no_provider_is_left, setup, teardown)
{
	struct world *world = *state;
	struct error error = { "" };

	second.refusal = "the kernel refuses";
	open_monitor(world, SECOND);
	assert_int_equal(monitor_want(world->monitor, &world->query, &error), -EIO);
	assert_string_equal(error.text, "fake2: the kernel refuses");
}
