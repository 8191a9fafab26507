// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * invariants - what holds in every sample of every view, whatever was counted: rates are deltas by
 * their interval, totals grow by deltas, shares add up, nothing exceeds what it is a share of.
 *
 * usage: invariants FILE...		logs of -l --json, one view each
 *	  invariants --rows FILE ID,...	print these columns of its rows, with tabs between them
 *
 * Prints a line for each sentence that a row breaks, and at the end how many samples, rows and
 * comparisons there were. The exit status is 1 if any was broken or nothing was compared.
 */
#include <json-c/json.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"

static struct {
	const char *file;
	unsigned long line, nr_samples, nr_rows, nr_checks, nr_broken;
} now;

/* The columns that say which row it is. */
static const char *const names[] = { "view",	 "event", "parent", "reason", "what",
				     "argument", "guest", "pid",    "vcpu",   "thread",
				     "tid",	 "cpu",	  "host",   "finding" };

/* Shares of more than one CPU. */
static const char *const of_many[] = { "cpu_percent", "vmm_percent", "want_percent" };

static void sentence(bool holds, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void sentence(bool holds, const char *key, const char *format, ...)
{
	va_list args;

	now.nr_checks++;
	if (holds)
		return;
	now.nr_broken++;
	printf("%s:%lu: %s: ", now.file, now.line, key);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

/* False: the row has no such column, or it is not known. */
static bool number(struct json_object *row, const char *id, double *ret_value)
{
	struct json_object *value;

	if (!json_object_object_get_ex(row, id, &value) || !value)
		return false;
	*ret_value = json_object_get_double(value);
	return true;
}

static void name_of(struct json_object *row, char *name, size_t size)
{
	size_t len = 0;

	name[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(names) && len < size; i++) {
		struct json_object *value;

		/* A vCPU moves from CPU to CPU. */
		if (strcmp(names[i], "cpu") == 0 && json_object_object_get_ex(row, "vcpu", NULL))
			continue;
		if (json_object_object_get_ex(row, names[i], &value) && value)
			len += (size_t)snprintf(name + len, size - len, "%s%s=%s", len ? " " : "",
						names[i], json_object_get_string(value));
	}
}

/* elapsed_s has four decimals, a rate three. */
static void check_rate(struct json_object *row, const char *key, double elapsed_s)
{
	double delta, rate, wanted;

	if (!number(row, "delta", &delta) || !number(row, "rate", &rate) || elapsed_s <= 0)
		return;
	wanted = delta / elapsed_s;
	sentence(fabs(rate - wanted) <= wanted * 0.0001 / elapsed_s + 0.001, key,
		 "rate %.3f is not delta %.0f by %.4f s, %.3f", rate, delta, elapsed_s, wanted);
}

static void check_shares(struct json_object *row, const char *key)
{
	json_object_object_foreach(row, id, value)
	{
		size_t len = strlen(id);
		bool is_share = len > 8 && strcmp(id + len - 8, "_percent") == 0;

		for (size_t i = 0; i < ARRAY_SIZE(of_many); i++)
			is_share &= strcmp(id, of_many[i]) != 0;
		if (is_share && value)
			sentence(json_object_get_double(value) >= 0 &&
					 json_object_get_double(value) <= 100.05,
				 key, "%s is %s", id, json_object_get_string(value));
	}
}

/* The sum of the numbers with these keys; false if one is absent. */
static bool sum_of(struct json_object *row, const char *const *keys, size_t nr, double *ret_sum)
{
	double part;

	*ret_sum = 0;
	for (size_t i = 0; i < nr; i++) {
		if (!number(row, keys[i], &part))
			return false;
		*ret_sum += part;
	}
	return true;
}

/*
 * Where the time of a vCPU or a guest went: the parts that are known add up to all of it. Where
 * what blocked is not known, waiting is within the others.
 */
static void check_time(struct json_object *row, const char *key)
{
	static const char *const parts[] = { "guest_percent", "kvm_percent", "user_percent",
					     "idle_percent" };
	static const char *const untimed[] = { "block_percent", "idle_percent" };
	double sum, part, whole;

	if (!sum_of(row, parts, ARRAY_SIZE(parts), &sum)) {
		if (sum_of(row, untimed, ARRAY_SIZE(untimed), &sum))
			sentence(sum <= 100.05, key, "asleep %.1f %%", sum);
		return;
	}
	if (number(row, "poll_percent", &part))
		sum += part;
	if (number(row, "block_percent", &part) && number(row, "wait_percent", &whole))
		sum += part + whole;
	sentence(fabs(sum - 100) <= 0.5, key, "its time adds up to %.1f %%", sum);
	if (number(row, "l2_percent", &part) && number(row, "guest_percent", &whole))
		sentence(part <= whole + 0.05, key, "L2 %.1f of guest %.1f", part, whole);
	if (number(row, "block_user_percent", &part) && number(row, "block_percent", &whole))
		sentence(part <= whole + 0.05, key, "the VMM's %.1f of blocked %.1f", part, whole);
	if (number(row, "throttled_percent", &part) && number(row, "wait_percent", &whole))
		sentence(part <= whole + 0.55, key, "throttled %.1f of wait %.1f", part, whole);
}

/*
 * A vCPU's parts on a CPU are what its thread ran by the scheduler. The two sources are read one
 * after the other, some ms apart.
 */
static void check_on_cpu(struct json_object *row, const char *key, double elapsed_s)
{
	static const char *const parts[] = { "guest_percent", "kvm_percent", "user_percent" };
	double sum, part, ran;

	if (!number(row, "vcpu", &part) || !number(row, "block_percent", &part) ||
	    !number(row, "cpu_percent", &ran) || elapsed_s <= 0 ||
	    !sum_of(row, parts, ARRAY_SIZE(parts), &sum))
		return;
	if (number(row, "poll_percent", &part))
		sum += part;
	sentence(fabs(sum - ran) <= 1 + 0.5 / elapsed_s, key, "on a CPU %.1f, ran %.1f", sum, ran);
}

static void check_durations(struct json_object *row, const char *key)
{
	double delta, time, average, p50, p99, longest, all;

	if (!number(row, "avg_ns", &average) || !number(row, "interval_max_ns", &longest) ||
	    !number(row, "max_ns", &all))
		return;
	sentence(average <= longest, key, "average %.0f above maximum %.0f", average, longest);
	sentence(longest <= all, key, "maximum %.0f above the one of all %.0f", longest, all);
	if (number(row, "p50_ns", &p50) && number(row, "p99_ns", &p99))
		sentence(p50 <= p99 && p99 <= longest, key, "p50 %.0f, p99 %.0f, maximum %.0f", p50,
			 p99, longest);
	if (number(row, "delta", &delta) && number(row, "time_ns", &time) && delta == 0)
		sentence(average == 0 || time > 0, key, "an average of nothing");
}

/* earlier: the same row in the sample before; NULL: it had none. */
static void check_total(struct json_object *row, struct json_object *earlier, const char *key)
{
	double total, before, delta;

	if (!earlier || !number(row, "total", &total) || !number(earlier, "total", &before) ||
	    !number(row, "delta", &delta))
		return;
	sentence(total - before == delta, key, "total grew by %.0f, delta is %.0f", total - before,
		 delta);
}

/* Shares of rows that are no parts of each other. */
static void check_sum(struct json_object *rows, const char *view)
{
	double sum = 0, share;
	bool is_one_level = strcmp(view, "events") != 0; /* reasons are rows beside their event */

	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		if (number(json_object_array_get_idx(rows, i), "total_percent",
			   &share))
			sum += share;
	}
	/* A log has no rows of guests that have ended, which have their part of the total. */
	if (is_one_level && sum > 0)
		sentence(sum <= 100.5, view, "shares add up to %.1f %%", sum);
}

/* What had the CPU while a vCPU waited: the rows below its own one add up to it. */
static void check_waits(struct json_object *rows)
{
	struct json_object *kind, *waits = NULL;
	double sum = 0, ns, whole;
	bool has_parts = false;

	for (size_t i = 0; i <= json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);
		bool is_whole;

		kind = NULL;
		if (row && !json_object_object_get_ex(row, "kind", &kind))
			return;
		is_whole = !row || strcmp(json_object_get_string(kind), "waits") == 0;
		if (is_whole && waits && has_parts && number(waits, "time_ns", &whole))
			sentence(fabs(sum - whole) <= 1000, "waits",
				 "of %.0f ns others had the CPU for %.0f", whole, sum);
		if (is_whole) {
			waits = row;
			sum = 0;
			has_parts = false;
		} else if (number(row, "time_ns", &ns)) {
			sum += ns;
			has_parts = true;
		}
	}
}

static void check_sample(struct json_object *sample, struct json_object *before)
{
	struct json_object *rows, *view, *latest = json_object_new_object();
	double elapsed_s = 0;

	if (!json_object_object_get_ex(sample, "rows", &rows) ||
	    !json_object_object_get_ex(sample, "view", &view)) {
		sentence(false, "sample", "no rows");
		json_object_put(latest);
		return;
	}
	number(sample, "elapsed_s", &elapsed_s);
	now.nr_samples++;
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i), *earlier = NULL;
		char key[512];

		now.nr_rows++;
		name_of(row, key, sizeof(key));
		sentence(!json_object_object_get_ex(latest, key, NULL), key, "there twice");
		json_object_object_get_ex(before, key, &earlier);
		check_rate(row, key, elapsed_s);
		check_shares(row, key);
		check_time(row, key);
		check_on_cpu(row, key, elapsed_s);
		check_durations(row, key);
		check_total(row, earlier, key);
		json_object_object_add(latest, key, json_object_get(row));
	}
	check_sum(rows, json_object_get_string(view));
	check_waits(rows);
	/* A row that is left out in one sample may be back in the next one. */
	json_object_object_foreach(latest, key, row)
		json_object_object_add(before, key, json_object_get(row));
	json_object_put(latest);
}

/* Calls back with each line of the file. False: it cannot be read. */
static bool each_line(const char *name, void (*take)(struct json_object *sample, void *arg),
		      void *arg)
{
	FILE *file = fopen(name, "r");
	char *line = NULL;
	size_t room = 0;

	if (!file) {
		perror(name);
		return false;
	}
	now.file = name;
	now.line = 0;
	while (getline(&line, &room, file) > 0) {
		struct json_object *sample = json_tokener_parse(line);

		now.line++;
		sentence(sample, "line", "no JSON");
		if (sample)
			take(sample, arg);
		json_object_put(sample);
	}
	free(line);
	fclose(file);
	return true;
}

static void check_line(struct json_object *sample, void *before)
{
	check_sample(sample, before);
}

static int check_files(char **files)
{
	for (; *files; files++) {
		struct json_object *before = json_object_new_object();
		bool is_read = each_line(*files, check_line, before);

		json_object_put(before);
		if (!is_read)
			return 2;
	}
	printf("%lu samples, %lu rows, %lu comparisons, %lu broken\n", now.nr_samples, now.nr_rows,
	       now.nr_checks, now.nr_broken);
	return now.nr_broken || !now.nr_rows;
}

/* A number has the digits that it has in the log. */
static void print_cell(struct json_object *row, const char *id)
{
	struct json_object *value;

	if (json_object_object_get_ex(row, id, &value) && value)
		fputs(json_object_get_string(value), stdout);
}

static void print_line(struct json_object *sample, void *ids)
{
	struct json_object *rows;

	if (!json_object_object_get_ex(sample, "rows", &rows))
		return;
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		char *list = strdup(ids), *rest = list, *id;

		if (!list)
			abort();
		while ((id = strsep(&rest, ","))) {
			print_cell(json_object_array_get_idx(rows, i), id);
			putchar(rest ? '\t' : '\n');
		}
		free(list);
	}
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "--rows") == 0)
		return each_line(argv[2], print_line, argv[3]) ? 0 : 2;
	if (argc > 1 && argv[1][0] != '-')
		return check_files(argv + 1);
	fprintf(stderr, "usage: invariants FILE... | --rows FILE ID,...\n");
	return 2;
}
