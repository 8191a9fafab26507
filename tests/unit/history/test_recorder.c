// SPDX-License-Identifier: GPL-2.0-or-later
/* The recorder's queue: what is lost, why, when it is over, and that sampling never waits. */
#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "history/recorder.h"
#include "tests/unit/unit.h"

#define ROOM 16 /* moments in the queue */
#define NO_LIMIT UINT32_MAX

/* A sample without guests and rows is a sample, too. */
struct world {
	struct fields *fields;
	struct guests *guests;
	struct stats *stats;
	struct sample sample;
	struct field_set wanted;
	struct recorder *recorder;
	uint64_t now_s;
	/* What the sink does; while `gate` is used, it waits for a post before each call. */
	sem_t gate, arrived;
	bool is_gated;
	int err;
	bool wants_totals;
	bool has_keys; /* samples have a row */
	unsigned int nr_stored;
	uint32_t flags; /* of the latest moment */
	char note[256];
};

static void wait_at_gate(struct world *world)
{
	if (!world->is_gated)
		return;
	sem_post(&world->arrived);
	sem_wait(&world->gate);
}

static int add(void *state, const struct moment *moment, const struct packed *packed,
	       struct error *error)
{
	struct world *world = state;

	(void)packed;
	wait_at_gate(world);
	if (world->err)
		return error_set(error, world->err, "the disk is full");
	world->nr_stored++;
	world->flags = moment->flags;
	return 0;
}

static bool wants_totals(void *state)
{
	const struct world *world = state;

	return world->wants_totals;
}

static int note(void *state, uint64_t time_ns, const char *text, struct error *error)
{
	struct world *world = state;

	(void)error;
	(void)time_ns;
	wait_at_gate(world);
	snprintf(world->note, sizeof(world->note), "%s", text);
	return 0;
}

static int start(struct world *world, size_t may_wait)
{
	const struct sink sink = { .state = world, .add = add, .wants_totals = wants_totals,
				   .note = note, .may_wait = may_wait };

	return recorder_start(&sink, &world->recorder);
}

static int setup(void **state)
{
	const struct field spec = { .name = "kvm_exit", .parent = FIELD_NONE };
	struct world *world = calloc(1, sizeof(*world));

	*state = world;
	world->fields = fields_new();
	world->guests = guests_new(NULL);
	world->stats = stats_new();
	sem_init(&world->gate, 0, 0);
	sem_init(&world->arrived, 0, 0);
	fields_add(world->fields, &spec);
	return start(world, 0);
}

static int teardown(void **state)
{
	struct world *world = *state;

	world->is_gated = false;
	sem_post(&world->gate);
	recorder_stop(world->recorder);
	sample_release(&world->sample);
	stats_free(world->stats);
	guests_free(world->guests);
	fields_free(world->fields);
	free(world);
	return 0;
}

static void take(struct world *world)
{
	const struct facts facts = { .wanted = &world->wanted, .fields = world->fields,
				     .stats = world->stats, .guests = world->guests };

	sample_reset(&world->sample);
	if (world->has_keys)
		sample_add(&world->sample, (struct key){ GUEST_NONE, -1, 0 },
					    world->now_s, 0);
	world->sample.time_ns[0] = ++world->now_s * UINT64_C(1000000000);
	stats_update(world->stats, world->fields, &world->sample);
	recorder_take(world->recorder, &facts, world->sample.time_ns[0]);
}

static void take_and_store(struct world *world)
{
	take(world);
	recorder_flush(world->recorder, NO_LIMIT);
}

static struct losses losses_of(struct world *world)
{
	struct losses losses;

	recorder_losses(world->recorder, &losses);
	return losses;
}

/* That a moment is on its way does not end a time of losses; one that is stored does. */
TEST(losing_ends_when_a_moment_is_stored, setup, teardown)
{
	struct world *world = *state;

	take_and_store(world);
	assert_int_equal(world->nr_stored, 1);
	assert_false(losses_of(world).is_losing);
	world->err = -ENOSPC;
	take_and_store(world);
	assert_true(losses_of(world).is_losing);
	assert_string_equal(losses_of(world).error.text, "the disk is full");

	world->is_gated = true;
	take(world);
	sem_wait(&world->arrived);
	assert_true(losses_of(world).is_losing);
	assert_int_equal(losses_of(world).nr, 1);
	world->is_gated = false;
	sem_post(&world->gate);
	recorder_flush(world->recorder, NO_LIMIT);
	assert_int_equal(losses_of(world).nr, 2);

	world->err = 0;
	take_and_store(world);
	assert_false(losses_of(world).is_losing);
	assert_int_equal(losses_of(world).nr, 2);
	assert_string_equal(world->note, "2 samples were lost: the disk is full");
}

/* Of a full queue only the moment that found no place is lost. Nothing here waits for the sink. */
TEST(full_queue_loses_what_has_no_place, setup, teardown)
{
	struct world *world = *state;

	world->is_gated = true;
	take(world);
	sem_wait(&world->arrived); /* stays in the queue until it is stored */
	for (unsigned int i = 1; i < ROOM; i++)
		take(world);
	assert_int_equal(losses_of(world).nr, 0);
	take(world);
	take(world);
	assert_int_equal(losses_of(world).nr, 2);
	assert_true(losses_of(world).is_losing);
	assert_string_equal(losses_of(world).error.text, "writing is slower than sampling");
	world->is_gated = false;
	sem_post(&world->gate);
	recorder_flush(world->recorder, NO_LIMIT);
	assert_int_equal(world->nr_stored, ROOM);
	take_and_store(world);
	assert_int_equal(world->nr_stored, ROOM + 1);
	assert_int_equal(losses_of(world).nr, 2);
	assert_false(losses_of(world).is_losing);
}

/* A note is as slow as a moment. */
TEST(sampling_does_not_wait_for_a_note, setup, teardown)
{
	struct world *world = *state;

	take_and_store(world);
	world->err = -ENOSPC;
	take_and_store(world);
	world->err = 0;
	world->is_gated = true;
	take(world);
	sem_wait(&world->arrived); /* in add() */
	sem_post(&world->gate);
	sem_wait(&world->arrived); /* in note() */
	take(world);
	assert_int_equal(losses_of(world).nr, 1);
	world->is_gated = false;
	sem_post(&world->gate);
	recorder_flush(world->recorder, NO_LIMIT);
	assert_string_equal(world->note, "1 sample was lost: the disk is full");
}

TEST(totals_come_when_they_are_wanted, setup, teardown)
{
	struct world *world = *state;

	take_and_store(world);
	assert_true(world->flags & MOMENT_HAS_TOTALS); /* the first has them */
	take_and_store(world);
	assert_false(world->flags & MOMENT_HAS_TOTALS);
	world->wants_totals = true;
	take_and_store(world);
	world->wants_totals = false;
	take_and_store(world);
	assert_true(world->flags & MOMENT_HAS_TOTALS);
	take_and_store(world);
	assert_false(world->flags & MOMENT_HAS_TOTALS);
}

/* A disk that hangs is not waited for longer than that. */
TEST(flush_says_what_is_left, setup, teardown)
{
	struct world *world = *state;

	take_and_store(world);
	world->is_gated = true;
	take(world);
	take(world);
	sem_wait(&world->arrived);
	assert_int_equal(recorder_flush(world->recorder, 1), 2);
	world->is_gated = false;
	sem_post(&world->gate);
	assert_int_equal(recorder_flush(world->recorder, NO_LIMIT), 0);
	assert_int_equal(world->nr_stored, 3);
}

TEST(a_few_keys_wait_until_they_are_read, setup, teardown)
{
	struct world *world = *state;

	recorder_stop(world->recorder);
	assert_int_equal(start(world, 3), 0);
	for (unsigned int i = 0; i < ROOM / 2 - 1; i++)
		take(world);
	usleep(20000); /* the thread would have stored them */
	assert_int_equal(world->nr_stored, 0);
	recorder_flush(world->recorder, NO_LIMIT);
	assert_int_equal(world->nr_stored, ROOM / 2 - 1);
	/* A queue that is half full is stored, and so are three keys. */
	world->is_gated = true;
	for (unsigned int i = 0; i < ROOM / 2; i++)
		take(world);
	sem_wait(&world->arrived);
	world->is_gated = false;
	sem_post(&world->gate);
	recorder_flush(world->recorder, NO_LIMIT);
	world->has_keys = world->is_gated = true;
	for (unsigned int i = 0; i < 3; i++)
		take(world);
	sem_wait(&world->arrived);
	world->is_gated = false;
	sem_post(&world->gate);
	take(world);
	recorder_stop(world->recorder);
	assert_int_equal(world->nr_stored, ROOM - 1 + 4);
	assert_int_equal(start(world, 0), 0);
}
