// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_waiting - records that come in any order leave in the order of their times, and of one time
 * in the order in which they came, with their bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "trace/recording/perf/perf.h"

#define NR 5000

/* What comes: the times of several CPUs, one part after the other, as perf reads them. */
static uint64_t time_of(uint32_t i, uint32_t shape)
{
	switch (shape) {
	case 0: /* a CPU alone */
		return i;
	case 1: /* four CPUs, parts of 100 records */
		return i / 400 * 400 + i % 100 * 4 + i / 100 % 4;
	case 2: /* each record is older than the one before */
		return NR - i;
	case 3: /* one time */
		return 7;
	default: /* any order, with times that are equal */
		return (uint64_t)random() % 1000;
	}
}

static void add(struct perf_waiting *waiting, uint64_t time, uint32_t number)
{
	struct perf_entry *entry = perf_waiting_new(waiting);

	entry->sample = (struct perf_sample){
		.time = time,
		.raw = (const uint8_t *)&number,
		.raw_size = sizeof(number),
	};
	perf_waiting_add(waiting, entry, 0);
}

/* The number of the record that is taken, in ret_time its time. */
static uint32_t take(struct perf_waiting *waiting, uint64_t *ret_time)
{
	struct perf_entry *entry = perf_waiting_take(waiting);
	uint32_t number;

	*ret_time = entry->sample.time;
	memcpy(&number, entry->sample.raw, sizeof(number));
	perf_waiting_drop(waiting, entry);
	return number;
}

/* Takes all: each record is later than the one before. */
static void take_all(struct perf_waiting *waiting, uint32_t nr)
{
	uint64_t last = 0, time;
	uint32_t last_number = 0;

	for (uint32_t i = 0; i < nr; i++) {
		uint32_t number;

		assert_true(waiting->runs.nr > 0);
		number = take(waiting, &time);
		assert_true(i == 0 || time > last || (time == last && number > last_number));
		last = time;
		last_number = number;
	}
	assert_int_equal(waiting->runs.nr, 0);
	assert_int_equal(waiting->bytes, 0);
}

TEST(all_at_the_end)
{
	struct perf_waiting waiting = { .free = NULL };

	for (uint32_t shape = 0; shape < 5; shape++) {
		for (uint32_t i = 0; i < NR; i++)
			add(&waiting, time_of(i, shape), i);
		take_all(&waiting, NR);
	}
	perf_waiting_release(&waiting);
}

/* Whatever is taken between is the earliest of what waits. */
TEST(some_between)
{
	struct perf_waiting waiting = { .free = NULL };
	bool waits[NR] = { false };
	uint64_t times[NR], time;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < NR; i++) {
		times[i] = time_of(i, i % 1000 < 500 ? 1 : 4);
		waits[i] = true;
		add(&waiting, times[i], i);
		nr++;
		for (; nr > 0 && random() % 2; nr--) {
			uint32_t number = take(&waiting, &time);

			assert_true(waits[number]);
			waits[number] = false;
			assert_int_equal(time, times[number]);
			for (uint32_t k = 0; k <= i; k++)
				assert_true(!waits[k] || times[k] > time ||
					    (times[k] == time && k > number));
		}
	}
	take_all(&waiting, nr);
	perf_waiting_release(&waiting);
}

/* What was not taken is freed. */
TEST(dropped_with_all)
{
	struct perf_waiting waiting = { .free = NULL };

	for (uint32_t i = 0; i < NR; i++)
		add(&waiting, time_of(i, 4), i);
	perf_waiting_release(&waiting);
}
