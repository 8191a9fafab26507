/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_group - events of a group that were only counted ({...}:S): how many, when, in which thread.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>

#include "lib/array.h"
#include "tests/unit/unit.h"
#include "tests/worlds/perf_group.h"
#include "tests/worlds/trace_file.h"
#include "trace/recording/perf/perf.h"
#include "trace/exits/pairing.h"

/* A sample of CPU 0's thread 77 or CPU 1's thread 78. */
static size_t put_exit_sample(struct bytes *file, const struct group_shape *shape, uint64_t time,
			      unsigned int cpu, const uint64_t *counts)
{
	struct bytes event = { .swap = shape->swap };
	size_t at;

	put_exit(&event, 77 + cpu, cpu, 1, 12);
	at = put_group_sample(file, shape, time, cpu, 70, 77 + cpu, &event, counts);
	bytes_release(&event);
	return at;
}

/* Counts are from 0 on, of each CPU its own. At 5000 an older count is written late. */
static void put_samples(struct bytes *file, const struct group_shape *shape)
{
	put_exit_sample(file, shape, 1000, 0, (const uint64_t[]){ 1, 2, 0, 500 });
	put_exit_sample(file, shape, 2000, 1, (const uint64_t[]){ 1, 0, 0, 700 });
	put_exit_sample(file, shape, 3000, 0, (const uint64_t[]){ 2, 2, 0, 900 });
	put_exit_sample(file, shape, 4000, 0, (const uint64_t[]){ 3, 5, 7, 1000 });
	put_exit_sample(file, shape, 5000, 0, (const uint64_t[]){ 4, 4, 7, 1100 });
	put_exit_sample(file, shape, 6000, 1, (const uint64_t[]){ 2, 1, 0, 1200 });
	put_exit_sample(file, shape, 7000, 0, (const uint64_t[]){ 9, 6, 7, 1300 });
}

/* What put_samples() has: of how many events nothing is known but their number. */
static const struct expected {
	const char *name;
	uint64_t time, counted; /* 0: a sample */
	int cpu;
} expected[] = {
	{ "kvm_exit", 1000, 0, 0 },  { "kvm_entry", 1000, 2, 0 }, { "kvm_exit", 2000, 0, 1 },
	{ "kvm_exit", 3000, 0, 0 },  { "kvm_exit", 4000, 0, 0 },  { "kvm_entry", 4000, 3, 0 },
	{ "kvm_mmio", 4000, 7, 0 },  { "kvm_exit", 5000, 0, 0 },  { "kvm_exit", 6000, 0, 1 },
	{ "kvm_entry", 6000, 1, 1 }, { "kvm_exit", 7000, 0, 0 },  { "kvm_entry", 7000, 1, 0 },
};

/* A counted event of a CPU has another key than each thread and each other CPU. */
static void check_thread(const struct trace_event *event, bool is_of_thread)
{
	if (is_of_thread) {
		assert_int_equal(event->pid, 70);
		assert_int_equal(event->tid, 77 + event->cpu);
		assert_int_equal(event->thread_key, 77 + event->cpu);
		return;
	}
	assert_int_equal(event->pid, -1);
	assert_int_equal(event->tid, -1);
	assert_int_equal(event->thread_key, EVENT_OF_CPU | (uint64_t)event->cpu);
}

static void check_counted(const struct trace_event *event, const struct group_shape *shape)
{
	assert_int_equal(event->size, 0);
	assert_int_equal(event->vcpu, -1);
	check_thread(event, shape->of == GROUP_OF_THREADS || shape->of == GROUP_OF_HEIRS);
}

static void check_sample(const struct trace_event *event)
{
	check_thread(event, true);
	assert_int_equal(trace_field_number(trace_field(event->type, "exit_reason"), event), 12);
	assert_int_equal(event->vcpu, event->cpu);
}

static void check_shape(const struct group_shape *shape)
{
	struct bytes file = { .len = 0 };
	const struct trace_event *event;
	struct trace *trace;

	put_group_begin(&file, shape);
	put_samples(&file, shape);
	put_group_end(&file, shape);
	save(path, file.data, file.len);
	bytes_release(&file);
	trace = open_it();
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		if (shape->has_clock && !expected[i].counted)
			continue;
		assert_int_equal(trace_next(trace, &event), 1);
		assert_string_equal(event->type->name, expected[i].name);
		assert_int_equal(event->time, expected[i].time);
		assert_int_equal(event->counted, expected[i].counted);
		assert_int_equal(event->cpu, expected[i].cpu);
		assert_int_equal(event->lost, 0);
		if (event->counted)
			check_counted(event, shape);
		else
			check_sample(event);
	}
	assert_int_equal(trace_next(trace, &event), 0);
	assert_null(trace_problem(trace, 0));
	trace_close(trace);
}

/* Each combination of what a read may have, in a file and in a pipe's, in each byte order. */
static void every_read_format(void **state)
{
	static const uint64_t options[] = { PERF_FORMAT_TOTAL_TIME_ENABLED,
					    PERF_FORMAT_TOTAL_TIME_RUNNING, FORMAT_LOST };

	(void)state;
	for (unsigned int i = 0; i < 32; i++) {
		struct group_shape shape = group_shape;

		for (unsigned int j = 0; j < ARRAY_SIZE(options); j++)
			shape.read_format |= i & 1U << j ? options[j] : 0;
		shape.is_piped = i & 8;
		shape.swap = i & 16;
		check_shape(&shape);
	}
}

/* The sample's own event is the first one where the sample does not name it. */
static void every_sample_id(void **state)
{
	static const uint64_t without[] = { 0, PERF_SAMPLE_ID, PERF_SAMPLE_IDENTIFIER,
					    PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(without); i++) {
		struct group_shape shape = group_shape;

		shape.sample_type &= ~without[i];
		check_shape(&shape);
	}
}

/* A CPU's count is of any thread that ran there, not of the sample's. */
static void whose_counts(void **state)
{
	struct group_shape shape = group_shape;

	(void)state;
	for (shape.of = GROUP_OF_THREADS; shape.of <= GROUP_OF_HEIRS; shape.of++) {
		for (int piped = 0; piped < 2; piped++) {
			shape.is_piped = piped;
			check_shape(&shape);
		}
	}
}

/* {cpu-clock,kvm_entry,kvm_mmio}:S */
static void group_of_a_clock(void **state)
{
	struct group_shape shape = group_shape;

	(void)state;
	shape.has_clock = true;
	check_shape(&shape);
	shape.of = GROUP_OF_CPUS;
	check_shape(&shape);
}

/* Of one id, each thread has a count of its own. */
static void threads_that_inherit(void **state)
{
	static const struct expected samples[] = { { "kvm_entry", 1000, 5, 0 },
						   { "kvm_entry", 2000, 3, 0 },
						   { "kvm_entry", 3000, 1, 0 },
						   { "kvm_entry", 4000, 4, 0 } };
	struct group_shape shape = group_shape;
	struct bytes file = { .len = 0 }, none = { .len = 0 };
	const struct trace_event *event;
	struct trace *trace;

	(void)state;
	shape.of = GROUP_OF_HEIRS;
	shape.has_clock = true;
	put_group_begin(&file, &shape);
	for (uint32_t i = 0; i < 4; i++) {
		const uint64_t counts[] = { 1, (const uint64_t[]){ 5, 3, 6, 7 }[i], 0, 0 };

		put_group_sample(&file, &shape, 1000 * (i + 1), 0, 70, 77 + i % 2, &none, counts);
	}
	put_group_end(&file, &shape);
	save(path, file.data, file.len);
	bytes_release(&file);
	trace = open_it();
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(trace_next(trace, &event), 1);
		assert_int_equal(event->time, samples[i].time);
		assert_int_equal(event->counted, samples[i].counted);
		assert_int_equal(event->tid, 77 + i % 2);
	}
	assert_int_equal(trace_next(trace, &event), 0);
	trace_close(trace);
}

/* ---- what cannot be counted */

/* Reads the file, which has one problem with this text. Returns the number of events. */
static size_t count_with_problem(struct bytes *file, size_t offset, const char *text)
{
	size_t nr, problems;
	struct trace *trace;

	save(path, file->data, file->len);
	bytes_release(file);
	trace = open_it();
	nr = count_events(trace, &problems);
	assert_int_equal(problems, 1);
	assert_int_equal(problem_offset(trace_problem(trace, 0)), offset);
	assert_non_null(strstr(trace_problem(trace, 0), text));
	trace_close(trace);
	return nr;
}

static void without_ids(void **state)
{
	struct group_shape shape = group_shape;
	struct bytes file = { .len = 0 };
	size_t at;

	(void)state;
	shape.read_format = PERF_FORMAT_GROUP;
	put_group_begin(&file, &shape);
	at = file.len;
	put_samples(&file, &shape);
	put_group_end(&file, &shape);
	assert_int_equal(count_with_problem(&file, at, "the header does not have"), 7);
}

/* The second event's id on CPU 0 is another one: its counts are left out, the others are not. */
static void unknown_id(void **state)
{
	struct group_shape shape = group_shape;
	struct bytes file = { .len = 0 };
	size_t at;

	(void)state;
	put_group_begin(&file, &shape);
	at = file.len;
	put_samples(&file, &shape);
	put_group_end(&file, &shape);
	set_u64(&file, 104 + (size_t)8 * GROUP_CPUS * GROUP_ENTRY, 9999);
	assert_int_equal(count_with_problem(&file, at, "the header does not have"), 7 + 2);
}

/* Counts are from the 57th byte of the sample on: their number, then a count and an id of each. */
static void damaged_counts(void **state)
{
	static const struct {
		size_t at;
		uint64_t value;
	} damages[] = {
		{ 56, UINT64_MAX }, { 56, UINT64_C(1) << 60 }, { 56, 65535 }, { 56, 65536 },
		{ 56, 100 }, { 56 + 8 + 16, UINT64_MAX }, { 56 + 8 + 16, UINT64_C(1) << 49 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
		struct bytes file = { .len = 0 };
		size_t at;

		put_group_begin(&file, &group_shape);
		put_samples(&file, &group_shape);
		at = put_exit_sample(&file, &group_shape, 8000, 0,
				     (const uint64_t[]){ 10, 20, 30, 40 });
		put_group_end(&file, &group_shape);
		set_u64(&file, at + damages[i].at, damages[i].value);
		assert_int_equal(count_with_problem(&file, at, "a damaged sample"),
				 ARRAY_SIZE(expected));
	}
}

/* An index that claims more ids than it has, or has no number at all. */
static void damaged_index(void **state)
{
	struct bytes file = { .len = 0 };
	struct group_shape shape = group_shape;
	size_t at, problems;
	struct trace *trace;

	(void)state;
	shape.of = GROUP_WITHOUT_INDEX;
	put_group_begin(&file, &shape);
	put_record(&file, 69, 0);
	put_record(&file, 69, 8);
	put_u64(&file, UINT64_MAX);
	at = file.len;
	put_group_index(&file, &shape);
	set_u64(&file, at + 8, UINT64_MAX);
	put_samples(&file, &shape);
	put_group_end(&file, &shape);
	save(path, file.data, file.len);
	bytes_release(&file);
	trace = open_it();
	assert_int_equal(count_events(trace, &problems), ARRAY_SIZE(expected));
	assert_int_equal(problems, 0);
	trace_close(trace);
}

/* A count that is remembered still grows when there is no room for another one. */
static void no_room_for_counts(void **state)
{
	struct perf_id id = { .id = 5, .tracepoint = ID_ENTRY };
	struct perf_header header = { .swap = false };
	struct perf_counts counts = { .hash = NULL };
	struct perf_counted counted;
	uint64_t read[] = { 1, 5 };
	struct perf_sample sample = { .id = 4, .counts_by_thread = true, .count_size = 16 };
	int got = 1;

	(void)state;
	HASH_ADD(hh, header.ids, id, sizeof(id.id), &id);
	for (uint32_t tid = 0; got == 1 && tid <= PERF_COUNTS_MAX; tid++) {
		sample.counts = (const uint8_t *)read;
		sample.nr_counts = 1;
		sample.tid = (int32_t)tid;
		got = perf_group_take(&counts, &header, &sample, &counted);
	}
	assert_int_equal(got, -E2BIG);
	assert_int_equal(sample.tid, PERF_COUNTS_MAX);
	read[0] = 8;
	sample.counts = (const uint8_t *)read;
	sample.nr_counts = 1;
	sample.tid = 7;
	assert_int_equal(perf_group_take(&counts, &header, &sample, &counted), 1);
	assert_int_equal(counted.nr, 7);
	perf_counts_release(&counts);
	HASH_CLEAR(hh, header.ids);
}

/* ---- what is made of it */

/* A counted entry ends no exit, and a counted access is no argument of one. */
static void counted_events_are_not_paired(void **state)
{
	struct group_shape shape = group_shape;
	struct bytes file = { .len = 0 };
	const struct trace_event *event;
	const struct recorded_thread *thread;
	struct pairing pairing;
	struct trace *trace;

	(void)state;
	put_group_begin(&file, &shape);
	put_samples(&file, &shape);
	put_group_end(&file, &shape);
	save(path, file.data, file.len);
	bytes_release(&file);
	trace = open_it();
	pairing_init(&pairing, trace, PAIRING_ALL_ARGUMENTS, NULL);
	while (trace_next(trace, &event) == 1)
		pairing_add(&pairing, event);
	assert_int_equal(pairing.nr_events, 7 + 7 + 7);
	assert_int_equal(pairing.nr_counted, 7 + 7);
	assert_int_equal(pairing.nr_counted_of_cpu, 0);
	assert_false(pairing.has_entries);
	assert_int_equal(pairing.table.nr_threads, 2);
	thread = pairing.table.threads[0];
	assert_int_equal(thread->tid, 77);
	assert_int_equal(thread->vcpu, 0);
	assert_true(thread->is_vcpu);
	assert_int_equal(thread->counts.nr, 1);
	assert_int_equal(thread->counts.list[0]->begun, 5);
	assert_int_equal(thread->counts.list[0]->took.count, 0);
	assert_int_equal(thread->state->mode, VCPU_OUTSIDE);
	pairing_release(&pairing);
	trace_close(trace);
}

UNIT(test_group)
{
#define T(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(every_read_format),
		T(every_sample_id),
		T(whose_counts),
		T(group_of_a_clock),
		T(threads_that_inherit),
		T(without_ids),
		T(unknown_id),
		T(damaged_counts),
		T(damaged_index),
		T(no_room_for_counts),
		T(counted_events_are_not_paired),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
