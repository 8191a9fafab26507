/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_trace_lib - a trace.dat as libtracecmd reads it, which is how compressions are read that we
 * do not know.
 *
 * trace.c is included, not linked: in its table the reader of the library stands in for ours, so
 * that it is given what the library here surely knows, zstd. What ours makes of the same files is
 * in test_trace_dat.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

/* NOLINTBEGIN(bugprone-suspicious-include): see above */
#define trace_dat_reader library_first
#include "trace/trace.c"
#undef trace_dat_reader
/* NOLINTEND(bugprone-suspicious-include) */

#include "tests/worlds/trace_world.h"
#include "trace/dat/dat.h"

static bool is_kind(const struct head *head)
{
	return dat_is_kind(head);
}

static int open_library(struct trace_file *file, const struct head *head, struct why *why)
{
	return trace_lib_reader.open(file, head, why);
}

static void close_library(struct trace_file *file)
{
	trace_lib_reader.close(file);
}

static const char *comm(const struct trace_event *event, const struct trace_file *file)
{
	return trace_lib_reader.comm(event, file);
}

static bool guest(const struct trace_file *file, size_t i, struct trace_guest *ret_guest)
{
	return trace_lib_reader.guest(file, i, ret_guest);
}

const struct reader library_first = {
	.kind = TRACE_DAT,
	.name = "trace.dat",
	.is_kind = is_kind,
	.open = open_library,
	.close = close_library,
	.comm = comm,
	.guest = guest,
};

static char path[64];

static int set_up(void **state)
{
	int fd;

	(void)state;
	strcpy(path, "/tmp/kvmtop-lib.XXXXXX");
	fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
	(void)state;
	return unlink(path);
}

static struct trace *open_it(const char *file)
{
	const char *paths[] = { file };
	struct trace *trace = NULL;
	struct why why = { "" };

	if (trace_open(paths, 1, TRACE_ANY, &trace, &why) != 0)
		fail_msg("%s", why.text);
	return trace;
}

static void assert_event(struct trace *trace, const char *name, uint64_t time, int cpu)
{
	const struct trace_event *event = NULL;

	assert_int_equal(trace_next(trace, &event), 1);
	assert_int_equal(event->time, time);
	assert_int_equal(event->cpu, cpu);
	if (name) {
		assert_string_equal(event->type->name, name);
		assert_int_equal(event->tid, 77 + cpu);
		assert_string_equal(trace_comm(trace, event), cpu ? "CPU 1/KVM" : "CPU 0/KVM");
	} else {
		assert_null(event->type);
		assert_int_equal(event->lost, 42);
	}
}

static void every_event_and_the_loss(void **state)
{
	struct trace *trace = open_it("tests/data/trace/small-v7.dat");
	const struct trace_event *event;
	const struct trace_info *info = trace_file(trace, 0);

	(void)state;
	assert_int_equal(info->version, 7);
	assert_int_equal(info->nr_cpus, 2);
	assert_int_equal(info->clock, TRACE_CLOCK_NS);
	assert_event(trace, "kvm_exit", 1000, 0);
	assert_event(trace, "kvm_exit", 2000, 1);
	assert_event(trace, "kvm_entry", 3000, 0);
	assert_event(trace, "kvm_mmio", 2000 + 1000000000, 1);
	assert_event(trace, NULL, 3000 + 1000000000, 1);
	assert_event(trace, "kvm_entry", 3000 + 1000000000, 1);
	assert_int_equal(trace_next(trace, &event), 0);
	assert_null(trace_problem(trace, 0));
	trace_close(trace);
}

static void a_further_buffer(void **state)
{
	struct trace *trace = open_it("tests/data/trace/buffers-v7.dat");
	const struct trace_event *event;
	size_t nr[2] = { 0, 0 };

	(void)state;
	assert_string_equal(trace_file(trace, 1)->instance, "second");
	while (trace_next(trace, &event) == 1)
		nr[event->file] += event->type != NULL;
	assert_int_equal(nr[0], 2);
	assert_int_equal(nr[1], 1);
	trace_close(trace);
}

/* A child sees to it that the library takes nobody with it; what is wrong is the file's problem. */
static void what_the_library_cannot_read(void **state)
{
	static uint8_t data[65536];
	FILE *file = fopen("tests/data/trace/small-v7.dat", "r");
	const struct trace_event *event;
	struct trace *trace;
	uint8_t *at;
	size_t len;

	(void)state;
	assert_non_null(file);
	len = fread(data, 1, sizeof(data), file);
	fclose(file);
	for (size_t cut = 30; cut < len - 4096; cut += 101) {
		save(path, data, cut);
		trace = open_it(path);
		assert_int_equal(trace_next(trace, &event), 0);
		assert_non_null(strstr(trace_problem(trace, 0)->text, "damaged"));
		trace_close(trace);
	}
	at = memmem(data, 64, "zstd", 4);
	assert_non_null(at);
	memcpy(at, "rar5", 4);
	save(path, data, len);
	trace = open_it(path);
	assert_int_equal(trace_next(trace, &event), 0);
	assert_non_null(strstr(trace_problem(trace, 0)->text, "\"rar5\" is not known here"));
	trace_close(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_event_and_the_loss),
		cmocka_unit_test(a_further_buffer),
		cmocka_unit_test(what_the_library_cannot_read),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
