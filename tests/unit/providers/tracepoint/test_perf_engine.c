/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_perf_engine - the perf engine counts exactly, whatever is wanted, wherever, and at any time.
 */
#include "tests/unit/unit.h"
#include "tests/worlds/cmocka_range.h"
#include "tests/worlds/perf_world.h"

TEST(test_host, setup, teardown)
{
	struct fixture *f = *state;
	struct timespec before, after;
	uint64_t ns;

	need_events(f);
	add_plain(f, CALL_INTERVAL);
	add_child(f, CALL_INTERVAL);
	add_child(f, CALL_IOPRIO);
	open_engine(f);
	read_sample(f);
	assert_int_equal(f->sample.nr_rows, 0);
	want_first(f, 3);
	target_host(f);
	wait_ready(f);
	make_calls(CALL_INTERVAL, 12345);
	make_calls(CALL_IOPRIO, 678);
	clock_gettime(CLOCK_MONOTONIC, &before);
	read_sample(f);
	clock_gettime(CLOCK_MONOTONIC, &after);

	assert_int_equal(f->sample.nr_rows, 3);
	assert_int_equal(count_of(f, GUEST_NONE, 0), 12345);
	assert_int_equal(count_of(f, GUEST_NONE, 1), 12345);
	assert_int_equal(count_of(f, GUEST_NONE, 2), 678);
	assert_int_equal(row_of(f, GUEST_NONE, 0)->flags, ROW_FROM_ZERO);
	assert_int_equal(row_of(f, GUEST_NONE, 0)->key.vcpu, -1);
	assert_string_equal(f->error.text, "");
	ns = (uint64_t)before.tv_sec * 1000000000 + (uint64_t)before.tv_nsec;
	assert_true(f->time_ns >= ns);
	ns = (uint64_t)after.tv_sec * 1000000000 + (uint64_t)after.tv_nsec;
	assert_true(f->time_ns <= ns);

	make_calls(CALL_IOPRIO, 2);
	assert_int_equal(read_count(f, GUEST_NONE, 2), 680);
	assert_int_equal(row_of(f, GUEST_NONE, 2)->flags, 0);
}

/* kvm_stat starts its counters one after the other, so that related ones never agree. */
TEST(test_related_agree, setup, teardown)
{
	struct fixture *f = *state;
	struct horse *horse = &f->horses[0];
	uint64_t plain, child;

	need_events(f);
	add_plain(f, CALL_INTERVAL);
	for (int i = 0; i < 50; i++)
		add_child(f, CALL_IOPRIO);
	add_child(f, CALL_INTERVAL);
	open_engine(f);
	horse_start(horse, -1);
	horse_begin(horse, CALL_INTERVAL, UINT_MAX);
	want_first(f, f->nr_counters);
	target_host(f);
	wait_ready(f);
	do {
		sleep_ms(20);
		read_sample(f);
	} while (!count_of(f, GUEST_NONE, 0));
	atomic_store(&horse->is_enough, true);
	sem_wait(&horse->done);
	read_sample(f);
	plain = count_of(f, GUEST_NONE, 0);
	child = count_of(f, GUEST_NONE, f->nr_counters - 1);
	assert_true(plain > 0 && plain != ABSENT);
	/* The start of a group may fall between the two events of one call, once on each CPU. */
	assert_int_in_range(plain - child + TARGETS_MAX, TARGETS_MAX - f->nr_targets,
			    TARGETS_MAX + f->nr_targets);
}

TEST(test_threads, setup, teardown)
{
	struct fixture *f = *state;
	struct horse *first = &f->horses[0], *second = &f->horses[1];

	need_events(f);
	horse_start(first, -1);
	horse_start(second, -1);
	add_plain(f, CALL_INTERVAL);
	add_child(f, CALL_INTERVAL);
	open_engine(f);
	want_first(f, 2);
	add_thread(f, first->tid, 1);
	add_thread(f, second->tid, 2);
	retarget(f, ENGINE_KEEP_NONE);
	wait_ready(f);
	horse_work(first, CALL_INTERVAL, 100);
	horse_work(second, CALL_INTERVAL, 10);
	make_calls(CALL_INTERVAL, 1000);
	read_sample(f);
	assert_int_equal(f->sample.nr_rows, 4);
	assert_int_equal(count_of(f, 1, 0), 100);
	assert_int_equal(count_of(f, 1, 1), 100);
	assert_int_equal(count_of(f, 2, 0), 10);
	assert_int_equal(count_of(f, 2, 1), 10);
	assert_int_equal(count_of(f, GUEST_NONE, 0), ABSENT);
	horse_end(first);
	horse_end(second);
}

TEST(test_thread_comes_and_goes, setup, teardown)
{
	struct fixture *f = *state;
	struct horse *first = &f->horses[0], *second = &f->horses[1], *third = &f->horses[2];

	need_events(f);
	horse_start(first, -1);
	horse_start(second, -1);
	add_plain(f, CALL_INTERVAL);
	add_plain(f, CALL_IOPRIO);
	add_child(f, CALL_INTERVAL);
	open_engine(f);
	want_first(f, 3);
	add_thread(f, first->tid, 5);
	add_thread(f, second->tid, 5);
	retarget(f, 5);
	wait_ready(f);
	horse_work(first, CALL_INTERVAL, 100);
	horse_work(second, CALL_INTERVAL, 10);
	assert_int_equal(read_count(f, 5, 0), 110);

	/* It makes calls that no sample saw, and ends. */
	horse_work(first, CALL_INTERVAL, 1000);
	horse_work(first, CALL_IOPRIO, 9);
	horse_end(first);
	assert_int_equal(read_count(f, 5, 0), 1110);
	f->nr_targets = 0;
	add_thread(f, second->tid, 5);
	retarget(f, 5);
	assert_int_equal(read_count(f, 5, 0), 1110);
	assert_int_equal(count_of(f, 5, 1), 9);
	assert_int_equal(count_of(f, 5, 2), 1110);

	/* What is wanted again begins anew, with what ended, too. */
	want_first(f, 2);
	wait_events(f, 2);
	want_first(f, 3);
	wait_ready(f);
	horse_work(second, CALL_INTERVAL, 5);
	assert_int_equal(read_count(f, 5, 2), 5);
	assert_int_equal(row_of(f, 5, 2)->flags, ROW_FROM_ZERO);
	assert_int_equal(count_of(f, 5, 0), 1115);

	/* Another one comes. */
	horse_start(third, -1);
	add_thread(f, third->tid, 5);
	retarget(f, 5);
	wait_ready(f);
	horse_work(third, CALL_INTERVAL, 20000);
	horse_work(second, CALL_INTERVAL, 1);
	assert_int_equal(read_count(f, 5, 0), 21116);
	assert_int_equal(row_of(f, 5, 0)->flags, 0);

	/* All are gone; what they counted is kept as long as it is asked to be. */
	horse_end(second);
	horse_end(third);
	f->nr_targets = 0;
	retarget(f, 5);
	wait_events(f, 0);
	assert_int_equal(read_count(f, 5, 0), 21116);
	assert_int_equal(count_of(f, 5, 1), 9);
	assert_int_equal(count_of(f, 5, 2), 20006);

	/* Then they are read a last time: some of it may be new. */
	retarget(f, ENGINE_KEEP_NONE);
	assert_int_equal(read_count(f, 5, 0), 21116);
	read_sample(f);
	assert_int_equal(f->sample.nr_rows, 0);
}

/* A guest that ends between two samples is counted to its end. */
TEST(test_last_interval, setup, teardown)
{
	struct fixture *f = *state;
	struct horse *horse = &f->horses[0];

	need_events(f);
	horse_start(horse, -1);
	add_plain(f, CALL_INTERVAL);
	open_engine(f);
	want_first(f, 1);
	add_thread(f, horse->tid, 1);
	retarget(f, ENGINE_KEEP_NONE);
	wait_ready(f);
	assert_int_equal(read_count(f, 1, 0), 0);
	horse_work(horse, CALL_INTERVAL, 99);
	horse_end(horse);
	f->nr_targets = 0;
	retarget(f, ENGINE_KEEP_NONE);
	assert_int_equal(read_count(f, 1, 0), 99);
	assert_int_equal(read_count(f, 1, 0), ABSENT);
}

/* Between the list of threads and the opening of their events one may end. */
TEST(test_thread_ended_before, setup, teardown)
{
	struct fixture *f = *state;
	struct horse *ended = &f->horses[0], *horse = &f->horses[1];

	need_events(f);
	horse_start(ended, -1);
	horse_start(horse, -1);
	horse_end(ended);
	add_plain(f, CALL_INTERVAL);
	open_engine(f);
	want_first(f, 1);
	add_thread(f, ended->tid, 1);
	add_thread(f, horse->tid, 1);
	retarget(f, ENGINE_KEEP_NONE);
	wait_ready(f);
	horse_work(horse, CALL_INTERVAL, 5);
	for (int i = 0; i < 3; i++) {
		retarget(f, ENGINE_KEEP_NONE);
		assert_int_equal(read_count(f, 1, 0), 5);
		assert_string_equal(f->error.text, "");
	}
	horse_end(horse);
}

TEST(test_want_again, setup, teardown)
{
	struct fixture *f = *state;
	unsigned int nr_cpus;
	uint64_t before;

	need_events(f);
	add_plain(f, CALL_INTERVAL);
	add_plain(f, CALL_IOPRIO);
	add_child(f, CALL_IOPRIO);
	open_engine(f);
	want_first(f, 3);
	target_host(f);
	nr_cpus = (unsigned int)f->nr_targets;
	wait_ready(f);
	make_calls(CALL_INTERVAL, 50);
	make_calls(CALL_IOPRIO, 40);
	read_sample(f);

	/* Less. */
	want_first(f, 1);
	make_calls(CALL_INTERVAL, 1);
	assert_int_equal(read_count(f, GUEST_NONE, 0), 51);
	assert_int_equal(f->sample.nr_rows, 1);

	/* Again, before they were closed, or while they are: never less than at the next sample. */
	want_first(f, 3);
	wait_ready(f);
	before = read_count(f, GUEST_NONE, 1);
	assert_int_not_equal(before, ABSENT);
	assert_true(before == 0 || !(row_of(f, GUEST_NONE, 1)->flags & ROW_FROM_ZERO));
	make_calls(CALL_IOPRIO, 60);
	assert_int_equal(read_count(f, GUEST_NONE, 1), before + 60);
	assert_int_equal(count_of(f, GUEST_NONE, 0), 51);

	/* Again, after they were closed: from zero. */
	want_first(f, 1);
	wait_events(f, nr_cpus);
	make_calls(CALL_IOPRIO, 500);
	want_first(f, 3);
	wait_ready(f);
	make_calls(CALL_IOPRIO, 4);
	make_calls(CALL_INTERVAL, 4);
	read_sample(f);
	assert_int_equal(count_of(f, GUEST_NONE, 0), 55);
	assert_int_equal(row_of(f, GUEST_NONE, 0)->flags, 0);
	assert_int_equal(count_of(f, GUEST_NONE, 1), 4);
	assert_int_equal(row_of(f, GUEST_NONE, 1)->flags, ROW_FROM_ZERO);
	assert_int_equal(count_of(f, GUEST_NONE, 2), 4);

	/* Nothing. */
	want_first(f, 0);
	read_sample(f);
	assert_int_equal(f->sample.nr_rows, 0);
	wait_events(f, 0);
}

/* An event that joins late (a tree that is opened) must count: see perf_engine.c. */
TEST(test_late_events, setup, teardown)
{
	struct fixture *f = *state;

	need_events(f);
	for (int i = 0; i < 6; i++) {
		add_plain(f, CALL_INTERVAL);
		add_child(f, CALL_INTERVAL);
	}
	open_engine(f);
	target_host(f);
	for (uint32_t nr = 1; nr <= 12; nr++) {
		want_first(f, nr);
		wait_ready(f);
		make_calls(CALL_INTERVAL, 100);
		read_sample(f);
		for (uint32_t i = 0; i < nr; i++)
			assert_int_equal(count_of(f, GUEST_NONE, i), 100 * (nr - i));
	}
}

/* From all CPUs to threads and back: the sums of one are not those of the other. */
TEST(test_change_of_scope, setup, teardown)
{
	struct fixture *f = *state;
	struct horse *horse = &f->horses[0];

	need_events(f);
	horse_start(horse, -1);
	add_plain(f, CALL_INTERVAL);
	add_child(f, CALL_INTERVAL);
	open_engine(f);
	want_first(f, 1);
	target_host(f);
	wait_ready(f);
	make_calls(CALL_INTERVAL, 100);
	assert_int_equal(read_count(f, GUEST_NONE, 0), 100);

	want_first(f, 2);
	f->nr_targets = 0;
	add_thread(f, horse->tid, 3);
	retarget(f, 3);
	wait_ready(f);
	make_calls(CALL_INTERVAL, 1000);
	horse_work(horse, CALL_INTERVAL, 7);
	read_sample(f);
	assert_int_equal(f->sample.nr_rows, 2);
	assert_int_equal(count_of(f, 3, 0), 7);
	assert_int_equal(count_of(f, 3, 1), 7);
	assert_int_equal(row_of(f, 3, 0)->flags, ROW_FROM_ZERO);
	assert_int_equal(row_of(f, 3, 1)->flags, ROW_FROM_ZERO);

	want_first(f, 2);
	target_host(f);
	wait_ready(f);
	make_calls(CALL_INTERVAL, 3);
	horse_work(horse, CALL_INTERVAL, 2);
	assert_int_equal(read_count(f, GUEST_NONE, 0), 5);
	assert_int_equal(count_of(f, 3, 0), ABSENT);
	wait_events(f, 2 * (unsigned int)f->nr_targets);

	/* Back again, while an event of the CPUs is being closed: that of the thread is new. */
	want_first(f, 1);
	f->nr_targets = 0;
	add_thread(f, horse->tid, 3);
	retarget(f, 3);
	want_first(f, 2);
	wait_ready(f);
	horse_work(horse, CALL_INTERVAL, 5);
	assert_int_equal(read_count(f, 3, 1), 5);
	assert_int_equal(row_of(f, 3, 1)->flags, ROW_FROM_ZERO);
}

/* ---- anything in any order */

#define NR_FIELDS 12
#define NR_OPERATIONS 200

struct model {
	bool is_target[NR_HORSES];
	uint64_t last[NR_HORSES + 1][NR_FIELDS]; /* by guest; ABSENT: no promise */
	uint64_t random;
};

static unsigned int pick(struct model *model, unsigned int n)
{
	model->random *= UINT64_C(6364136223846793005);
	model->random += UINT64_C(1442695040888963407);
	return (unsigned int)(model->random >> 33) % n;
}

static void random_want(struct fixture *f, struct model *model)
{
	field_set_clear(&f->wanted);
	for (uint32_t i = 0; i < NR_FIELDS; i++) {
		if (pick(model, 3))
			field_set_add(&f->wanted, i);
	}
	perf_engine.want(f->engine, &f->wanted);
}

/* Horse i is guest i + 1. Threads end and others take their place, too. */
static void random_retarget(struct fixture *f, struct model *model)
{
	f->nr_targets = 0;
	if (pick(model, 2))
		add_cpus(f);
	for (uint32_t i = 0; i < NR_HORSES; i++) {
		if (!pick(model, 6)) {
			horse_end(&f->horses[i]);
			horse_start(&f->horses[i], -1);
		}
		model->is_target[i] = pick(model, 3);
		if (model->is_target[i])
			add_thread(f, f->horses[i].tid, i + 1);
	}
	retarget(f, pick(model, 2) ? 1 + pick(model, NR_HORSES) : ENGINE_KEEP_NONE);
}

/* Reads a sample. No sum goes back unless it says that it began anew. */
static void read_monotonic(struct fixture *f, struct model *model)
{
	read_sample(f);
	for (uint32_t guest = 0; guest <= NR_HORSES; guest++) {
		for (uint32_t i = 0; i < NR_FIELDS; i++) {
			const struct row *row = row_of(f, guest, i);
			uint64_t *last = &model->last[guest][i];

			if (row)
				assert_true(field_set_has(&f->wanted, i));
			if (row && !(row->flags & ROW_FROM_ZERO) && *last != ABSENT)
				assert_true(row->count >= *last);
			*last = row ? row->count : ABSENT;
		}
	}
	assert_string_equal(f->error.text, "");
}

/* Once all is open, every call is counted, by every event, once. */
static void check_exact(struct fixture *f, struct model *model)
{
	uint64_t before[NR_FIELDS];
	uint32_t i = pick(model, NR_HORSES), n = 1 + pick(model, 300);

	wait_ready(f);
	read_monotonic(f, model);
	for (uint32_t k = 0; k < NR_FIELDS; k++)
		before[k] = count_of(f, i + 1, k);
	horse_work(&f->horses[i], CALL_INTERVAL, n);
	read_monotonic(f, model);
	for (uint32_t k = 0; model->is_target[i] && k < NR_FIELDS; k++) {
		if (!field_set_has(&f->wanted, k))
			continue;
		assert_int_not_equal(before[k], ABSENT);
		assert_int_equal(count_of(f, i + 1, k), before[k] + n);
	}
}

TEST(test_random, setup, teardown)
{
	struct fixture *f = *state;
	static struct model model;

	need_events(f);
	model = (struct model){ .random = 42 };
	memset(model.last, 0xff, sizeof(model.last));
	for (int i = 0; i < NR_FIELDS / 2; i++) {
		add_plain(f, CALL_INTERVAL);
		add_child(f, CALL_INTERVAL);
	}
	for (int i = 0; i < NR_HORSES; i++)
		horse_start(&f->horses[i], -1);
	open_engine(f);
	for (int i = 0; i < NR_OPERATIONS; i++) {
		if (pick(&model, 2))
			random_want(f, &model);
		else
			random_retarget(f, &model);
		horse_work(&f->horses[pick(&model, NR_HORSES)], CALL_INTERVAL,
			   pick(&model, 50) + 1);
		if (!pick(&model, 4))
			check_exact(f, &model);
		read_monotonic(f, &model);
	}
}

GROUP(wait_for_turn);
