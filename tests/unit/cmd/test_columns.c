// SPDX-License-Identifier: GPL-2.0-or-later
/* A column has one id in every command; all of its former and other names work in every command. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/array.h"
#include "cmd/command.h"
#include "cmd/options.h"
#include "core/views/view.h"
#include "tests/unit/unit.h"

static const struct {
	const char *word, *id;
} spellings[] = {
	/* The ids, which JSON and CSV have. */
	{ "total", "total" }, { "rate", "rate" }, { "total_percent", "total_percent" },
	{ "time_ns", "time_ns" },
	{ "time_percent", "time_percent" }, { "run_percent", "run_percent" },
	{ "poll_percent", "poll_percent" }, { "block_percent", "block_percent" },
	{ "wait_percent", "wait_percent" }, { "idle_percent", "idle_percent" },
	{ "min_ns", "min_ns" }, { "avg_ns", "avg_ns" }, { "stddev_ns", "stddev_ns" },
	{ "p50_ns", "p50_ns" }, { "p99_ns", "p99_ns" }, { "max_ns", "max_ns" },
	{ "reason", "reason" }, { "guest", "guest" }, { "pid", "pid" }, { "vcpu", "vcpu" },
	{ "tid", "tid" },
	/* Of `perf kvm stat`. */
	{ "sample", "total" }, { "percent_sample", "total_percent" }, { "time", "time_ns" },
	{ "percent_time", "time_percent" }, { "mean", "avg_ns" }, { "mean_time", "avg_ns" },
	{ "min", "min_ns" }, { "min_time", "min_ns" }, { "max", "max_ns" },
	{ "max_time", "max_ns" },
	/* Short ones. */
	{ "avg", "avg_ns" }, { "stddev", "stddev_ns" }, { "p50", "p50_ns" }, { "p99", "p99_ns" },
};

static bool has_id(const struct view_type *type, const char *id)
{
	for (size_t i = 0; type->columns[i].id; i++) {
		if (strcmp(column_name(&type->columns[i]), id) == 0)
			return true;
	}
	return false;
}

/* The type's column of the word has this id. */
static void is_column(const struct view_type *type, const char *word, const char *id)
{
	struct error error = { "" };
	size_t column = 0;

	if (view_column_find(type, word, true, &column, &error) < 0)
		fail_msg("%s", error.text);
	assert_string_equal(column_name(&type->columns[column]), id);
}

static void is_no_column(const struct view_type *type, const char *word, const char *says)
{
	struct error error = { "" };
	size_t column;

	assert_int_equal(view_column_find(type, word, true, &column, &error), -EINVAL);
	if (!strstr(error.text, says))
		fail_msg("%s: %s", word, error.text);
}

TEST(by_heading_and_begin)
{
	is_column(&view_guests, "KVM%", "kvm_percent");
	is_column(&view_guests, "kvm%", "kvm_percent");
	is_column(&view_guests, "wait", "wait_percent");
	is_column(&view_guests, "Exits/s", "rate");
	is_column(&view_exits, "TIME_PERCENT", "time_percent");
	is_no_column(&view_guests, "kvm_precent", "in view guests; the nearest is kvm_percent;");
	is_no_column(&view_guests, "b", "no column to sort by"); /* Block%, BlkVMM% */
	is_no_column(&view_guests, "xyzzyxyzzy", "in view guests; there are:\n  guest  ");
	is_no_column(&view_guests, "", "no column to sort by");
}

TEST(views_by_begin)
{
	const struct view_type *type = NULL;
	struct error error = { "" };

	assert_int_equal(view_type_find("VCPU", &type, &error), 0);
	assert_ptr_equal(type, &view_vcpus);
	assert_int_equal(view_type_find("wh", &type, &error), -EINVAL); /* who, where, why */
	assert_int_equal(view_type_find("exists", &type, &error), -EINVAL);
	assert_non_null(strstr(error.text,
			       "no such view; the nearest is exits; there are: "));
	assert_int_equal(view_type_find("exist", &type, &error), -EINVAL);
	assert_non_null(strstr(error.text, "the nearest is exits;"));
}

TEST(of_exits)
{
	const struct view_type *type = &view_exits;

	for (size_t i = 0; i < ARRAY_SIZE(spellings); i++) {
		char words[3][32] = { "exits", "-k" };
		char *argv[] = { words[0], words[1], words[2], NULL };
		struct options options;
		struct error error = { "" };
		int column = view_column_by_id(type, spellings[i].id), err;

		snprintf(words[2], sizeof(words[2]), "%s", spellings[i].word);
		err = options_parse(&exits_command, 3, argv, &options, &error);
		if (type->columns[column].is_of_recording) {
			assert_int_equal(err, -EINVAL);
			continue;
		}
		if (err < 0)
			fail_msg("exits -k %s: %s", words[2], error.text);
		assert_string_equal(column_name(&type->columns[options.column]), spellings[i].id);
	}
}

static void report_takes(const char *view, const char *spelling)
{
	char words[6][32] = { "report", "FILE", "-k", "", "--view" }, *argv[7] = { NULL };
	int argc = view ? 6 : 4;
	struct options options;
	struct error error = { "" };

	snprintf(words[3], sizeof(words[3]), "%s", spelling);
	snprintf(words[5], sizeof(words[5]), "%s", view ? view : "");
	for (int i = 0; i < argc; i++)
		argv[i] = words[i];
	if (options_parse(&report_command, argc, argv, &options, &error) < 0)
		fail_msg("report -k %s --view %s: %s", spelling, words[5], error.text);
	assert_string_equal(options.sort, spelling);
}

TEST(of_report)
{
	for (size_t i = 0; i < ARRAY_SIZE(spellings); i++) {
		report_takes(NULL, spellings[i].word);
		is_column(&view_exits, spellings[i].word, spellings[i].id);
	}
}

/* Where a view has the column, the live program and `report --view` take all of its names. */
TEST(of_views)
{
	const struct view_type *type;

	for (size_t v = 0; (type = view_type_at(v)); v++) {
		for (size_t i = 0; i < ARRAY_SIZE(spellings); i++) {
			if (!has_id(type, spellings[i].id))
				continue;
			is_column(type, spellings[i].word, spellings[i].id);
			report_takes(type->name, spellings[i].word);
		}
	}
}
