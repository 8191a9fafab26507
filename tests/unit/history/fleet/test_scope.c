// SPDX-License-Identifier: GPL-2.0-or-later
/* Moments that are made of a Prometheus' answers: who is in them, with the whole name. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/fleet/scope.h"
#include "core/guests/guests.h"
#include "tests/unit/unit.h"

#define STEP_NS UINT64_C(1000000000)
#define NONE "{\"status\":\"success\",\"data\":{\"result\":[]}}"

/* As long as the name of a host gets, and different at its very end only. */
#define TEN "abcdefghi."
#define FIFTY TEN TEN TEN TEN TEN
#define LONG FIFTY FIFTY FIFTY FIFTY FIFTY "xyz"
static const char *const names[] = { LONG ":19177", LONG ":19178" };

struct seen {
	struct packer *packer;
	struct moment moment;
	const struct fields *fields; /* of take_durations() */
	unsigned int nr;
};

static void take_moment(void *arg, uint64_t at, uint64_t run, const struct moment *of,
			const struct packed *packed)
{
	struct seen *seen = arg;
	struct error error;

	(void)at;
	(void)run;
	(void)of;
	seen->nr++;
	assert_int_equal(unpack_guests(seen->packer, &packed->parts[PART_GUESTS], &seen->moment,
				       &error), 0);
}

/* Every query is answered, with nothing. */
static void answer_all(struct http_query queries[QUERIES])
{
	static char none[] = NONE;

	for (size_t i = 0; i < QUERIES; i++)
		queries[i] = (struct http_query){ .status = 200, .body = none,
						       .size = strlen(none) };
}

static void answer(struct http_query *query, char *text)
{
	query->body = text;
	query->size = strlen(text);
}

/* The guests of a scope's moment, where two labels are there for two seconds. */
static void see(const char *host, const char *label, struct seen *ret_seen)
{
	struct scope_common common = { .fields = fields_new(), .step_ns = STEP_NS };
	struct scope *scope = scope_new(&common, 1, host);
	struct http_query queries[QUERIES];
	char text[2048];
	struct error error = { "" };

	*ret_seen = (struct seen){ .packer = packer_new() };
	snprintf(text, sizeof(text), "{\"status\":\"success\",\"data\":{\"result\":["
		 "{\"metric\":{\"%s\":\"%s\"},\"values\":[[100,\"1\"],[101,\"1\"]]},"
		 "{\"metric\":{\"%s\":\"%s\"},\"values\":[[100,\"1\"],[101,\"1\"]]}]}}",
		 label, names[0], label, names[1]);
	answer_all(queries);
	answer(&queries[QUERY_MEMBERS], text);
	assert_int_equal(scope_take(scope, 101, 101, queries, take_moment, ret_seen, &error), 0);
	scope_free(scope);
	fields_free(common.fields);
}

static void release(struct seen *seen)
{
	moment_release(&seen->moment);
	packer_free(seen->packer);
}

TEST(test_long_names)
{
	static const char *const labels[] = { "instance", "guest" };

	for (size_t i = 0; i < 2; i++) {
		struct seen seen;

		see(i ? "kvm1" : NULL, labels[i], &seen);
		assert_int_equal(seen.nr, 1);
		assert_int_equal(guests_count(seen.moment.guests), 2);
		assert_string_equal(guests_at(seen.moment.guests, 0)->name, names[0]);
		assert_string_equal(guests_at(seen.moment.guests, 1)->name, names[1]);
		release(&seen);
	}
}

static void take_changes(void *arg, uint64_t at, uint64_t run, const struct moment *of,
			 const struct packed *packed)
{
	struct seen *seen = arg;
	struct error error;

	(void)at;
	(void)run;
	(void)of;
	seen->nr++;
	assert_int_equal(unpack_rows(seen->packer, PART_CHANGES, &packed->parts[PART_CHANGES],
				     UNPACK_COUNTS, &(struct sum_fields){ NULL, 0 }, &seen->moment,
				     &error), 0);
}

/* What is new in the moment that was taken last: how many keys, and their sum. */
static void expect_new(const struct seen *seen, uint64_t sum)
{
	const struct changes *changes = &seen->moment.changes;
	uint64_t got = 0;

	for (size_t i = 0; i < changes->nr; i++) {
		if (!(changes->list[i].flags & CHANGE_NEW) || !changes->list[i].count)
			continue;
		assert_true(changes->list[i].flags & CHANGE_HAS_RATE);
		got += changes->list[i].count;
	}
	assert_int_equal(got, sum);
}

/*
 * A guest's series of a reason begins with its first exit, which counts. What a guest did before it
 * was first seen does not.
 */
TEST(test_a_reason_begins)
{
	struct scope_common common = { .fields = fields_new(), .step_ns = STEP_NS };
	struct scope *scope = scope_new(&common, 1, "kvm1");
	struct http_query queries[QUERIES];
	struct seen seen = { .packer = packer_new() };
	struct error error = { "" };
	char members[] = "{\"status\":\"success\",\"data\":{\"result\":["
			 "{\"metric\":{\"guest\":\"one\"},\"values\":[[100,\"1\"],[101,\"1\"]]},"
			 "{\"metric\":{\"guest\":\"two\"},\"values\":[[101,\"1\"]]}]}}";
	char exits[] = "{\"status\":\"success\",\"data\":{\"result\":["
		       "{\"metric\":{\"guest\":\"one\",\"reason\":\"io\"},"
		       "\"values\":[[100,\"5\"],[101,\"6\"]]},"
		       "{\"metric\":{\"guest\":\"one\",\"reason\":\"cpuid\"},"
		       "\"values\":[[101,\"7\"]]},"
		       "{\"metric\":{\"guest\":\"two\",\"reason\":\"cpuid\"},"
		       "\"values\":[[101,\"300\"]]}]}}";

	answer_all(queries);
	answer(&queries[QUERY_MEMBERS], members);
	answer(&queries[QUERY_EXITS], exits);
	assert_int_equal(scope_take(scope, 101, 101, queries, take_changes, &seen, &error), 0);
	assert_int_equal(seen.nr, 1);
	expect_new(&seen, 7);
	release(&seen);
	scope_free(scope);
	fields_free(common.fields);
}

/* A finding is its guest's, or the host's; of all hosts, each host has its own. */
TEST(test_findings)
{
	static const char *const expected[] = { "host: cpu_wait 3, guest: exits 2, ",
						"guest: exits 2, guest: cpu_wait 3, " };

	for (size_t of_all = 0; of_all < 2; of_all++) {
		struct scope_common common = { .fields = fields_new(), .step_ns = STEP_NS };
		struct scope *scope = scope_new(&common, 1, of_all ? NULL : "kvm1");
		struct http_query queries[QUERIES];
		struct seen seen = { .packer = packer_new() };
		struct error error = { "" };
		char found[256] = "", text[64];
		char members[] = "{\"status\":\"success\",\"data\":{\"result\":["
				 "{\"metric\":{\"guest\":\"one\",\"instance\":\"kvm1\"},"
				 "\"values\":[[100,\"1\"],[101,\"1\"]]}]}}";
		char findings[] = "{\"status\":\"success\",\"data\":{\"result\":["
				  "{\"metric\":{\"guest\":\"one\",\"instance\":\"kvm1\","
				  "\"rule\":\"exits\"},\"values\":[[101,\"2\"]]},"
				  "{\"metric\":{\"guest\":\"one\",\"instance\":\"kvm1\"},"
				  "\"values\":[[101,\"1\"]]},"
				  "{\"metric\":{\"guest\":\"\",\"instance\":\"kvm1\","
				  "\"rule\":\"cpu_wait\"},\"values\":[[101,\"3\"]]}]}}";

		answer_all(queries);
		answer(&queries[QUERY_MEMBERS], members);
		answer(&queries[QUERY_FINDINGS], findings);
		assert_int_equal(scope_take(scope, 101, 101, queries, take_changes, &seen, &error),
				 0);
		for (size_t i = 0; i < seen.moment.changes.nr; i++) {
			const struct change *change = &seen.moment.changes.list[i];
			const struct field *field = fields_get(common.fields, change->key.field);

			if (field->use != USE_HOST || field->part != HOST_FINDING)
				continue;
			snprintf(text, sizeof(text), "%s: %s %u, ",
				 change->key.guest ? "guest" : "host", field->label,
				 (unsigned int)change->count);
			strcat(found, text);
		}
		assert_string_equal(found, expected[of_all]);
		release(&seen);
		scope_free(scope);
		fields_free(common.fields);
	}
}

static void take_durations(void *arg, uint64_t at, uint64_t run, const struct moment *of,
			   const struct packed *packed)
{
	struct seen *seen = arg;
	uint32_t nr = fields_count(seen->fields), sum_of[4096];
	struct error error;

	(void)at;
	(void)run;
	(void)of;
	assert_in_range(nr, 1, 4096);
	for (uint32_t i = 0; i < nr; i++) {
		const struct field *field = fields_get(seen->fields, i);

		sum_of[i] = field_adds_up(field) ? field->parent + 1 : 0;
	}
	seen->nr++;
	assert_int_equal(unpack_rows(seen->packer, PART_CHANGES, &packed->parts[PART_CHANGES],
				     UNPACK_ALL, &(struct sum_fields){ sum_of, nr }, &seen->moment,
				     &error), 0);
}

/* A guest's exits by duration, of edges that we have, too; a stranger's edges are left out. */
TEST(test_durations)
{
	static const char *const edges[] = { "1.28e-07", "1.024e-06", "0.0123", "+Inf" };
	static const unsigned int counts[][2] = { { 10, 14 }, { 20, 44 }, { 70, 99 }, { 20, 50 } };
	struct scope_common common = { .fields = fields_new(), .step_ns = STEP_NS };
	struct scope *scope = scope_new(&common, 1, "kvm1");
	struct http_query queries[QUERIES];
	struct seen seen = { .packer = packer_new(), .fields = common.fields };
	uint32_t vmexit;
	uint64_t hist[HIST_BUCKETS] = { 0 };
	struct error error = { "" };
	char members[] = "{\"status\":\"success\",\"data\":{\"result\":["
			 "{\"metric\":{\"guest\":\"one\"},\"values\":[[100,\"1\"],[101,\"1\"]]}]}}";
	char exits[] = "{\"status\":\"success\",\"data\":{\"result\":["
		       "{\"metric\":{\"guest\":\"one\",\"reason\":\"io\"},"
		       "\"values\":[[100,\"20\"],[101,\"50\"]]}]}}";
	char seconds[] = "{\"status\":\"success\",\"data\":{\"result\":["
			 "{\"metric\":{\"guest\":\"one\",\"reason\":\"io\"},"
			 "\"values\":[[100,\"0.002\"],[101,\"0.005\"]]}]}}";
	char text[2048], *at = text;

	for (size_t i = 0; i < 4; i++)
		at += sprintf(at, "%s{\"metric\":{\"guest\":\"one\",\"le\":\"%s\"},"
			      "\"values\":[[100,\"%u\"],[101,\"%u\"]]}",
			      i ? "," : "{\"status\":\"success\",\"data\":{\"result\":[", edges[i],
			      counts[i][0], counts[i][1]);
	sprintf(at, "]}}");
	answer_all(queries);
	answer(&queries[QUERY_MEMBERS], members);
	answer(&queries[QUERY_EXITS], exits);
	answer(&queries[QUERY_EXIT_SECONDS], seconds);
	answer(&queries[QUERY_DURATIONS], text);
	assert_int_equal(scope_take(scope, 101, 101, queries, take_durations, &seen, &error), 0);
	vmexit = fields_find(common.fields, "vmexit");
	for (size_t i = 0; i < seen.moment.changes.nr; i++) {
		const struct change *change = &seen.moment.changes.list[i];
		const struct change_timing *timing = changes_timing(&seen.moment.changes, change);

		if (change->key.field == vmexit && timing)
			changes_add_counts(&seen.moment.changes, timing, hist);
	}
	/* What is between two of their edges is in the last bucket of ours below the second. */
	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		assert_int_equal(hist[i], i == 0 ? 4 : i == 3 ? 20 : i == 4 ? 6 : 0);
	release(&seen);
	scope_free(scope);
	fields_free(common.fields);
}

/* A stranger's labels may be more than there is room for: what is known counts on. */
TEST(test_known_reasons_go_on)
{
	struct scope_common common = { .fields = fields_new(), .step_ns = STEP_NS };
	struct scope *scope = scope_new(&common, 1, "kvm1");
	struct http_query queries[QUERIES];
	struct seen seen = { .packer = packer_new() };
	struct error error = { "" };
	char *text;
	uint64_t sum = 0;
	size_t size;

	for (int step = 0; step < 2; step++) {
		FILE *out = open_memstream(&text, &size);

		fputs("{\"status\":\"success\",\"data\":{\"result\":[", out);
		for (int i = 0; i < (step ? 1 : 5000); i++)
			fprintf(out, "%s{\"metric\":{\"guest\":\"one\",\"reason\":\"r%d\"},"
				"\"values\":[[%d,\"%d\"]]}", i ? "," : "", i, 101 + step,
				5 + 7 * step);
		fputs("]}}", out);
		fclose(out);
		answer_all(queries);
		answer(&queries[QUERY_EXITS], text);
		assert_int_equal(scope_take(scope, 101 + (uint64_t)step, 101 + (uint64_t)step,
					    queries, take_changes, &seen, &error), 0);
		free(text);
	}
	assert_int_equal(seen.nr, 2);
	for (size_t i = 0; i < seen.moment.changes.nr; i++) {
		const struct change *change = &seen.moment.changes.list[i];

		if (fields_get(common.fields, change->key.field)->parent != FIELD_NONE)
			sum += change->count;
	}
	assert_int_equal(sum, 7);
	release(&seen);
	scope_free(scope);
	fields_free(common.fields);
}

/* Of a host that does not time exits, a vCPU's whole time has what it ran. */
TEST(test_modes_add_up)
{
	struct scope_common common = { .fields = fields_new(), .step_ns = STEP_NS };
	struct scope *scope = scope_new(&common, 1, "kvm1");
	struct http_query queries[QUERIES];
	struct seen seen = { .packer = packer_new() };
	struct error error = { "" };
	uint64_t whole_ns = 0, idle_ns = 0;
	char seconds[] = "{\"status\":\"success\",\"data\":{\"result\":["
			 "{\"metric\":{\"guest\":\"one\",\"vcpu\":\"0\",\"mode\":\"cpu\"},"
			 "\"values\":[[100,\"1\"],[101,\"1.25\"]]},"
			 "{\"metric\":{\"guest\":\"one\",\"vcpu\":\"0\",\"mode\":\"idle\"},"
			 "\"values\":[[100,\"1\"],[101,\"1.75\"]]}]}}";

	answer_all(queries);
	answer(&queries[QUERY_SECONDS], seconds);
	assert_int_equal(scope_take(scope, 101, 101, queries, take_changes, &seen, &error), 0);
	for (size_t i = 0; i < seen.moment.changes.nr; i++) {
		const struct change *change = &seen.moment.changes.list[i];
		const struct field *field = fields_get(common.fields, change->key.field);

		if (field->use == USE_TIME && field->part == TIME_WHOLE)
			whole_ns += change->count;
		if (field->use == USE_TIME && field->part == TIME_IDLE)
			idle_ns += change->count;
	}
	assert_int_equal(whole_ns, 1000000000);
	assert_int_equal(idle_ns, 750000000);
	release(&seen);
	scope_free(scope);
	fields_free(common.fields);
}

/* More seconds than ns can count are left out. */
TEST(test_too_much_time)
{
	struct scope_common common = { .fields = fields_new(), .step_ns = STEP_NS };
	struct scope *scope = scope_new(&common, 1, "kvm1");
	struct http_query queries[QUERIES];
	struct seen seen = { .packer = packer_new() };
	struct error error = { "" };
	char seconds[] = "{\"status\":\"success\",\"data\":{\"result\":["
			 "{\"metric\":{\"guest\":\"one\",\"vcpu\":\"0\",\"mode\":\"kvm\"},"
			 "\"values\":[[100,\"1\"],[101,\"9.5e9\"]]}]}}";

	answer_all(queries);
	answer(&queries[QUERY_SECONDS], seconds);
	assert_int_equal(scope_take(scope, 101, 101, queries, take_changes, &seen, &error), 0);
	for (size_t i = 0; i < seen.moment.changes.nr; i++)
		assert_int_equal(seen.moment.changes.list[i].count, 0);
	release(&seen);
	scope_free(scope);
	fields_free(common.fields);
}

/* The query is about this host, whole and quoted. */
TEST(test_asks_for_the_host)
{
	struct scope_common common = { .fields = fields_new(), .step_ns = STEP_NS };
	struct http_query queries[QUERIES];
	struct scope *scope;

	scope = scope_new(&common, 1, names[1]);
	scope_make_queries(scope, 101, 101, queries);
	for (size_t i = 0; i < QUERIES; i++) {
		assert_non_null(strstr(queries[i].form, "xyz%3A19178%22"));
		free(queries[i].form);
	}
	scope_free(scope);
	scope = scope_new(&common, 2, "a\"b\\");
	scope_make_queries(scope, 101, 101, queries);
	for (size_t i = 0; i < QUERIES; i++) {
		assert_non_null(strstr(queries[i].form, "%22a%5C%22b%5C%5C%22"));
		free(queries[i].form);
	}
	scope_free(scope);
	fields_free(common.fields);
}

/* Of all hosts five queries; of one the latencies besides. Findings are asked for of both. */
TEST(test_asks_no_more_than_needed)
{
	struct scope_common common = { .fields = fields_new(), .step_ns = STEP_NS };
	struct http_query queries[QUERIES];

	for (size_t i = 0; i < 2; i++) {
		struct scope *scope = scope_new(&common, (uint32_t)i + 1, i ? "kvm1" : NULL);
		unsigned int nr = scope_queries(scope), nr_findings = 0;

		assert_int_equal(nr, i ? 6 : 5);
		scope_make_queries(scope, 101, 101, queries);
		for (unsigned int j = 0; j < QUERIES; j++) {
			assert_int_equal(queries[j].form != NULL, j < nr);
			nr_findings += j < nr && strstr(queries[j].form, "kvmtop_finding");
			free(queries[j].form);
		}
		assert_int_equal(nr_findings, 1);
		scope_free(scope);
	}
	fields_free(common.fields);
}

static void count_moment(void *arg, uint64_t at, uint64_t run, const struct moment *of,
			 const struct packed *packed)
{
	unsigned int *nr = arg;

	(void)at;
	(void)run;
	(void)of;
	(void)packed;
	++*nr;
}

/* A server that has more than any fleet is refused before it has taken the memory. */
LIMIT(test_too_many_series)
{
	const size_t nr_guests = 1000, nr_reasons = 200, room = nr_guests * nr_reasons * 80;
	struct scope_common common = { .fields = fields_new(), .step_ns = STEP_NS };
	struct scope *scope = scope_new(&common, 1, "kvm1");
	struct http_query queries[QUERIES];
	char *text = malloc(room);
	size_t len = (size_t)sprintf(text, "{\"status\":\"success\",\"data\":{\"result\":[");
	struct error error = { "" };
	unsigned int nr = 0;

	for (size_t i = 0; i < nr_guests * nr_reasons; i++)
		len += (size_t)sprintf(text + len, "%s{\"metric\":{\"guest\":\"g%zu\","
				       "\"reason\":\"r%zu\"},\"values\":[[101,\"1\"]]}",
				       i ? "," : "", i / nr_reasons, i % nr_reasons);
	strcpy(text + len, "]}}");
	answer_all(queries);
	answer(&queries[QUERY_EXITS], text);
	assert_int_equal(scope_take(scope, 101, 101, queries, count_moment, &nr, &error), -EFBIG);
	assert_int_equal(nr, 0);
	assert_non_null(strstr(error.text, "more series than kvmtop takes"));
	scope_free(scope);
	fields_free(common.fields);
	free(text);
}

/* ---- limits: what is beyond them is left out, and what is known goes on */

/* An answer's series, one for each number from first on, as `format` makes of it and of a time. */
static char *__attribute__((format(printf, 1, 0)))
many(const char *format, unsigned int first, unsigned int nr, unsigned int at)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	fputs("{\"status\":\"success\",\"data\":{\"result\":[", out);
	for (unsigned int i = first; i < first + nr; i++) {
		fputs(i > first ? "," : "", out);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		fprintf(out, format, i, at);
#pragma GCC diagnostic pop
	}
	fputs("]}}", out);
	fclose(out);
	return text;
}

#define GUEST "{\"metric\":{\"guest\":\"g%u\"},\"values\":[[%u,\"1\"]]}"

/* The members of a scope that is asked for so many guests, first+nr of them new in each second. */
static void take_members(struct scope *scope, unsigned int first, unsigned int nr,
			 unsigned int at, struct seen *seen)
{
	struct http_query queries[QUERIES];
	struct error error = { "" };
	char *text = many(GUEST, first, nr, at);

	answer_all(queries);
	answer(&queries[QUERY_MEMBERS], text);
	moment_release(&seen->moment);
	seen->moment = (struct moment){ 0 };
	assert_int_equal(scope_take(scope, at, at, queries, take_moment, seen, &error), 0);
	free(text);
}

LIMIT(test_too_many_members)
{
	struct scope_common common = { .fields = fields_new(), .step_ns = STEP_NS };
	struct seen seen = { .packer = packer_new() };
	uint32_t last = 0;

	for (uint32_t number = 1; number <= 2; number++) { /* their ids are the store's */
		struct scope *scope = scope_new(&common, number, "kvm1");

		take_members(scope, 0, MEMBERS_MAX + 5000, 101, &seen);
		assert_int_equal(guests_count(seen.moment.guests), MEMBERS_MAX);
		assert_true(guests_at(seen.moment.guests, 0)->id > last);
		last = guests_at(seen.moment.guests, MEMBERS_MAX - 1)->id;
		take_members(scope, MEMBERS_MAX - 1, 3, 102, &seen);
		assert_int_equal(guests_count(seen.moment.guests), 1);
		assert_string_equal(guests_at(seen.moment.guests, 0)->name, "g19999");
		scope_free(scope);
	}
	moment_release(&seen.moment);
	packer_free(seen.packer);
	fields_free(common.fields);
}

TEST(test_too_many_vcpus)
{
	struct scope_common common = { .fields = fields_new(), .step_ns = STEP_NS };
	struct scope *scope = scope_new(&common, 1, "kvm1");
	struct http_query queries[QUERIES];
	struct seen seen = { .packer = packer_new() };
	struct error error = { "" };
	char *members = many(GUEST, 1, 1, 101);
	char *text = many("{\"metric\":{\"guest\":\"g1\",\"mode\":\"kvm\",\"vcpu\":\"%u\"},"
			  "\"values\":[[%u,\"1\"]]}", 0, 5000, 101);

	answer_all(queries);
	answer(&queries[QUERY_MEMBERS], members);
	answer(&queries[QUERY_SECONDS], text);
	assert_int_equal(scope_take(scope, 101, 101, queries, take_moment, &seen, &error), 0);
	assert_int_equal(guests_at(seen.moment.guests, 0)->nr_vcpus, 4096);
	assert_non_null(guest_vcpu(guests_at(seen.moment.guests, 0), 4095));
	free(text);
	free(members);
	release(&seen);
	scope_free(scope);
	fields_free(common.fields);
}

/* Fewer lines than may be, of more moments: bytes have a limit, too. */
LIMIT(test_too_many_bytes)
{
	struct scope_common common = { .fields = fields_new(), .step_ns = STEP_NS };
	struct scope *scope = scope_new(&common, 1, "kvm1");
	struct http_query queries[QUERIES];
	struct error error = { "" };
	unsigned int nr = 0;
	char *guests;
	size_t size;
	FILE *out = open_memstream(&guests, &size);

	fputs("{\"status\":\"success\",\"data\":{\"result\":[", out);
	for (unsigned int i = 0; i < 1000 * 90; i++)
		fprintf(out, "%s{\"metric\":{\"guest\":\"g%u\",\"reason\":\"r%u\"},"
			"\"values\":[[101,\"1\"]]}", i ? "," : "", i / 90, i % 90);
	fputs("]}}", out);
	fclose(out);
	answer_all(queries);
	answer(&queries[QUERY_EXITS], guests);
	assert_int_equal(scope_take(scope, 101, 101, queries, count_moment, &nr, &error), 0);
	assert_int_equal(nr, 1);
	assert_int_equal(scope_take(scope, 201, 201 + LINES_STEPS - 2, queries, count_moment, &nr,
				    &error), -EFBIG);
	assert_non_null(strstr(error.text, "more series than kvmtop takes"));
	free(guests);
	scope_free(scope);
	fields_free(common.fields);
}
