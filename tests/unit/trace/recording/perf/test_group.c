/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_group - a group of events ({...}:S): the first one is counted, and a problem says that the
 * others are not.
 */
#include "lib/array.h"
#include "tests/unit/unit.h"
#include "tests/worlds/perf_group.h"
#include "tests/worlds/trace_file.h"
#include "trace/exits/pairing.h"

#define NR_SAMPLES 6

/* The problem of the file that says it. */
static const char sentence[] = "of a group ({...}:S) only the first event is counted";

/* Of CPU 0's thread 77 and of CPU 1's thread 78, in turn. Returns the last one's offset. */
static size_t put_samples(struct bytes *file, int swap)
{
	struct bytes event = { .swap = swap };
	size_t at = 0;

	for (unsigned int i = 0; i < NR_SAMPLES; i++) {
		put_exit(&event, 77 + i % 2, i % 2, 1, 12);
		at = put_group_sample(file, 1000 * (i + 1), i % 2, 70, 77 + i % 2, &event);
	}
	bytes_release(&event);
	return at;
}

static struct trace *open_bytes(struct bytes *file)
{
	save(path, file->data, file->len);
	bytes_release(file);
	return open_it();
}

static void check_shape(const struct group_shape *shape)
{
	struct bytes file = { .len = 0 };
	const struct trace_event *event;
	struct trace *trace;

	put_group_begin(&file, shape);
	put_samples(&file, shape->swap);
	put_group_end(&file, shape);
	trace = open_bytes(&file);
	for (int i = 0; i < NR_SAMPLES; i++) {
		assert_int_equal(trace_next(trace, &event), 1);
		assert_string_equal(event->type->name, "kvm_exit");
		assert_int_equal(event->time, 1000 * (i + 1));
		assert_int_equal(event->pid, 70);
		assert_int_equal(event->tid, 77 + i % 2);
		assert_int_equal(event->cpu, i % 2);
		assert_int_equal(trace_field_number(trace_field(event->type, "exit_reason"),
						    event), 12);
	}
	assert_int_equal(trace_next(trace, &event), 0);
	assert_non_null(strstr(trace_problem(trace, 0), sentence));
	if (!shape->is_piped) /* where the second event's attr is */
		assert_int_equal(problem_offset(trace_problem(trace, 0)), 168 + 144);
	assert_null(trace_problem(trace, 1));
	trace_close(trace);
}

/* In a file and in a pipe's, in each byte order. */
TEST(the_first_event_is_counted, set_up, tear_down)
{
	for (int i = 0; i < 4; i++)
		check_shape(&(struct group_shape){ .is_piped = i & 1, .swap = i >> 1 });
}

/* {kvm_exit,cycles}:S: kvmtop has no cycles in any case. */
TEST(members_that_are_no_tracepoints, set_up, tear_down)
{
	struct bytes file = { .len = 0 };
	struct trace *trace;
	size_t problems;

	put_group_begin(&file, &group_shape);
	put_samples(&file, 0);
	put_group_end(&file, &group_shape);
	for (unsigned int i = GROUP_ENTRY; i <= GROUP_MMIO; i++)
		memset(file.data + 168 + (size_t)144 * i, 0, 4); /* PERF_TYPE_HARDWARE */
	trace = open_bytes(&file);
	assert_int_equal(count_events(trace, &problems), NR_SAMPLES);
	assert_int_equal(problems, 0);
	trace_close(trace);
}

/* The number of counts is the 57th byte of the sample; no other damage can be seen. */
TEST(damaged_counts, set_up, tear_down)
{
	static const uint64_t numbers[] = { UINT64_MAX, UINT64_C(1) << 60, 65535, 65536, 100 };

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		struct bytes file = { .len = 0 };
		size_t at, problems;
		struct trace *trace;

		put_group_begin(&file, &group_shape);
		at = put_samples(&file, 0);
		put_group_end(&file, &group_shape);
		set_u64(&file, at + 56, numbers[i]);
		trace = open_bytes(&file);
		assert_int_equal(count_events(trace, &problems), NR_SAMPLES - 1);
		assert_int_equal(problems, 2);
		assert_int_equal(problem_offset(trace_problem(trace, 1)), at);
		assert_non_null(strstr(trace_problem(trace, 1), "a damaged sample"));
		trace_close(trace);
	}
}
