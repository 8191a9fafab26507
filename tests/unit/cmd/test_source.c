// SPDX-License-Identifier: GPL-2.0-or-later
/* What is looked at, found by its name, and opened. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/source.h"
#include "lib/array.h"
#include "history/past.h"
#include "tests/unit/unit.h"

#define MACHINE "tests/sysroot/amd"
#define RECORDING "tests/data/trace/small-v7.dat"

static const char *write_file(const char *name, const char *bytes, size_t size)
{
	static char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/kvmtop-source.%d.%s", (int)getpid(), name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	fclose(file);
	return path;
}

static void expect_kind(enum source_kind kind, const char *name, const char *bytes, size_t size)
{
	const char *path = write_file(name, bytes, size);

	assert_int_equal(source_kind_of(path), kind);
	unlink(path);
}

TEST(the_kind_is_seen)
{
	static const char database[] = "SQLite format 3";

	assert_int_equal(source_kind_of(NULL), SOURCE_LIVE);
	assert_int_equal(source_kind_of("http://prometheus:9090"), SOURCE_PROMETHEUS);
	assert_int_equal(source_kind_of("https://prometheus"), SOURCE_PROMETHEUS);
	assert_int_equal(source_kind_of("localhost:9090"), SOURCE_PROMETHEUS);
	assert_int_equal(source_kind_of("[::1]:9090/prefix"), SOURCE_PROMETHEUS);
	assert_int_equal(source_kind_of("none:"), SOURCE_HISTORY);
	assert_int_equal(source_kind_of(":9090"), SOURCE_HISTORY);
	assert_int_equal(source_kind_of("none:9090x"), SOURCE_HISTORY);
	assert_int_equal(source_kind_of("/folder/none:9090"), SOURCE_HISTORY);
	assert_int_equal(source_kind_of(MACHINE), SOURCE_MACHINE);
	assert_int_equal(source_kind_of(RECORDING), SOURCE_RECORDING);
	assert_int_equal(source_kind_of("-"), SOURCE_RECORDING);
	assert_int_equal(source_kind_of("/nonexistent"), SOURCE_HISTORY);
	expect_kind(SOURCE_HISTORY, "copy", database, sizeof(database));
	expect_kind(SOURCE_HISTORY, "empty", "", 0);
	expect_kind(SOURCE_HISTORY, "damaged.db", "other bytes", 11);
	expect_kind(SOURCE_RECORDING, "short", "SQLite", 6);
	expect_kind(SOURCE_RECORDING, "a:9090", "other bytes", 11);
}

TEST(a_machine)
{
	const char *name = MACHINE;
	const struct source_config config = {
		.monitor.providers = 1U << PROVIDER_TRACEPOINT,
		.past_bytes = 1 << 20,
		.interval_s = 1,
	};
	struct source *source = NULL;
	struct error error = { "" };

	assert_int_equal(source_open(SOURCE_MACHINE, &name, 1, &config, &source, &error), 0);
	assert_non_null(source->env);
	assert_non_null(source->past);
	assert_non_null(source->recorder);
	assert_ptr_equal(source_fields(source), monitor_fields(source->monitor));
	assert_int_equal(monitor_facts(source->monitor)->source, SOURCE_MACHINE);
	assert_null(source_reading(source));
	assert_null(source_failure(source));
	source_close(source);
	name = RECORDING;
	assert_int_equal(source_open(SOURCE_MACHINE, &name, 1, &config, &source, &error), -ENOENT);
}

TEST(a_recording)
{
	const char *name = RECORDING;
	const struct source_config config = {
		.recording = {
			.arguments = PAIRING_ALL_ARGUMENTS, .has_moments = true, .interval_s = 1,
		},
	};
	struct source *source = NULL;
	struct error error = { "" };

	assert_int_equal(source_open(SOURCE_RECORDING, &name, 1, &config, &source, &error), 0);
	assert_int_equal(monitor_facts(source->monitor)->source, SOURCE_RECORDING);
	assert_true(monitor_facts(source->monitor)->is_span);
	assert_string_equal(source->recording.files, "small-v7.dat");
	assert_int_equal(source_reading(source)->recording.unit, UNIT_NS);
	assert_int_equal(past_go(source->past, UINT64_MAX, &error), 0);
	assert_int_equal(past_at(source->past)->time_ns,
			 source->recording.start_ns + source->recording.span_ns);
	source_close(source);
}

/*
 * A live machine lacks nothing, a captured one who ran and the code of its threads; a Prometheus
 * has a reason for each lack.
 */
TEST(what_is_lacked)
{
	static const enum source_need timed[] = { NEED_TIMES, NEED_ARGUMENTS, NEED_SINGLE };

	for (int need = NEED_NOTHING; need < SOURCE_NEEDS; need++) {
		assert_null(source_lacks(SOURCE_LIVE, (enum source_need)need));
		assert_int_equal(!source_lacks(SOURCE_MACHINE, (enum source_need)need),
				 need != NEED_WAITS && need != NEED_INTERRUPTS &&
				 need != NEED_STACKS);
		if (need != NEED_NOTHING && need != NEED_TIMES)
			assert_non_null(source_lacks(SOURCE_PROMETHEUS, (enum source_need)need));
	}
	assert_non_null(source_lacks(SOURCE_MACHINE, NEED_STACKS));
	/* What costs less lacks something that a view names, with the remedy. */
	for (enum cost cost = COST_TIMES; cost < COSTS; cost++) {
		const struct facts facts = { .source = SOURCE_LIVE, .cost = cost };

		assert_null(facts_lack(&facts, NEED_EVENTS));
		for (size_t i = 0; i < ARRAY_SIZE(timed); i++) {
			if (cost == COST_TIMES)
				assert_null(facts_lack(&facts, timed[i]));
			else
				assert_non_null(strstr(facts_lack(&facts, timed[i]),
						       "--cost times"));
		}
	}
	assert_true(source_has_now(SOURCE_LIVE) && source_has_now(SOURCE_MACHINE));
	assert_false(source_has_now(SOURCE_RECORDING) || source_has_now(SOURCE_HISTORY));
}
