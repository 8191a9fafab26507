// SPDX-License-Identifier: GPL-2.0-or-later
/* The exits of a captured machine: fields, sums, the thread's guest, playing on after the end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "arch/arch.h"
#include "providers/captured_exits.h"
#include "tests/worlds/fake_guest.h"

struct world {
	char dir[40], kvmtop[64], path[80];
	struct env env;
	struct guests *guests;
	struct fields *fields;
	void *captured;
	struct want want;
	struct sample sample;
	struct why why;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	strcpy(w->dir, "/tmp/kvmtop-exits.XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	snprintf(w->kvmtop, sizeof(w->kvmtop), "%s/kvmtop", w->dir);
	snprintf(w->path, sizeof(w->path), "%s/exits", w->kvmtop);
	assert_int_equal(mkdir(w->kvmtop, 0755), 0);
	w->env = (struct env){ .root = w->dir, .arch = arch_by_name("SVM") };
	w->guests = guests_new(&w->env);
	w->fields = fields_new();
	assert_int_equal(guests_add_fake(w->guests, 100, "db1", 2), 1);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	exits_captured_close(w->captured);
	sample_release(&w->sample);
	field_set_release(&w->want.fields);
	fields_free(w->fields);
	guests_free(w->guests);
	unlink(w->path);
	rmdir(w->kvmtop);
	rmdir(w->dir);
	free(w);
	return 0;
}

static void open_text(struct world *w, const char *text)
{
	struct provider_site site = { &w->env, w->guests, w->fields, 2, NULL };
	FILE *file = fopen(w->path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_int_equal(exits_captured_probe(&w->env, &w->why), 0);
	assert_int_equal(exits_captured_open(&site, &w->captured, &w->why), 0);
	for (uint32_t i = 0; i < fields_count(w->fields); i++)
		field_set_add(&w->want.fields, i);
	assert_int_equal(exits_captured_want(w->captured, &w->want, &w->why), 0);
}

static void collect(struct world *w)
{
	sample_reset(&w->sample);
	assert_int_equal(exits_captured_collect(w->captured, &w->sample, &w->why), 0);
}

static const struct row *find(const struct world *w, int32_t vcpu, const char *name)
{
	for (size_t i = 0; i < w->sample.nr_rows; i++) {
		const struct row *row = &w->sample.rows[i];

		if (row->key.guest == 1 && row->key.vcpu == vcpu &&
		    row->key.field == fields_find(w->fields, name))
			return row;
	}
	return NULL;
}

static uint64_t count_of(const struct world *w, int32_t vcpu, const char *name)
{
	const struct row *row = find(w, vcpu, name);

	assert_non_null(row);
	return row->count;
}

static const struct timing *timing_of(const struct world *w, int32_t vcpu, const char *name)
{
	const struct row *row = find(w, vcpu, name);

	assert_true(row && row->timing);
	return &w->sample.timings[row->timing - 1];
}

static const struct field *field_of(const struct world *w, const char *name)
{
	uint32_t id = fields_find(w->fields, name);

	assert_int_not_equal(id, FIELD_NONE);
	return fields_get(w->fields, id);
}

static const char usual[] =
	"sample 1000000000\n"
	"thread 101\n"
	"cpu 3\n"
	"vmexit(hlt) 1 8000000 8000000 16:1\n"
	"vmexit(msr) 10 12000 1500 3:8 4:2\n"
	"msr(msr 0x6e0 IA32_TSC_DEADLINE write) 9 11000 1500 3:7 4:2\n"
	"time(guest) 900000000\n"
	"time(halt) 8000000\n"
	"time(wait) 5000\n"
	"thread 102\n"
	"vmexit(msr) 1 1000 1000 3:1\n"
	"thread 999\n"
	"vmexit(msr) 77 1000 1000 3:77\n"
	"sample 2000000000\n"
	"thread 101\n"
	"cpu 7\n"
	"vmexit(msr) 20 24000 2000 3:16 4:4\n"
	"time(guest) 1900000000\n";

static void fields_say_what_they_are(void **state)
{
	struct world *w = *state;
	const struct field *field;

	open_text(w, usual);
	assert_int_equal(field_of(w, "vmexit")->exit_rank, 1);
	assert_int_equal(field_of(w, "userspace")->exit_rank, 2);
	assert_true(field_of(w, "vmexit(hlt)")->is_idle);
	assert_false(field_of(w, "vmexit(msr)")->is_idle);
	assert_int_equal(field_of(w, "vmexit(msr)")->use, USE_EXIT);
	assert_int_equal(field_of(w, "time(halt)")->part, TIME_HALT);
	assert_int_equal(field_of(w, "time")->part, TIME_WHOLE);
	field = field_of(w, "msr(msr 0x6e0 IA32_TSC_DEADLINE write)");
	assert_string_equal(field->label, "0x6e0 IA32_TSC_DEADLINE write");
	assert_int_equal(field->use, USE_ARGUMENT);
	assert_int_equal(field->reason, fields_find(w->fields, "vmexit(msr)"));
	assert_int_equal(field->source, 2);
}

static void rows_and_their_sums(void **state)
{
	struct world *w = *state;

	open_text(w, usual);
	collect(w);
	assert_int_equal(w->sample.time_ns[2], 1000000000);
	assert_int_equal(count_of(w, 0, "vmexit(msr)"), 10);
	assert_int_equal(count_of(w, 0, "vmexit"), 11);
	assert_int_equal(timing_of(w, 0, "vmexit")->time_ns, 8012000);
	assert_int_equal(timing_of(w, 0, "vmexit")->max_ns, 8000000);
	assert_int_equal(timing_of(w, 0, "vmexit")->hist[3], 8);
	assert_int_equal(timing_of(w, 0, "vmexit")->hist[16], 1);
	assert_int_equal(count_of(w, 0, "msr"), 9);
	/* Waiting is another way to look at it. */
	assert_int_equal(count_of(w, 0, "time"), 908000000);
	assert_int_equal(count_of(w, 0, "time(wait)"), 5000);
	assert_int_equal(count_of(w, 1, "vmexit"), 1);
	for (size_t i = 0; i < w->sample.nr_rows; i++) {
		assert_int_equal(w->sample.rows[i].key.guest, 1); /* 999 is nobody's thread */
		assert_int_equal(w->sample.rows[i].flags, ROW_FROM_ZERO);
	}
}

static void the_last_interval_goes_on(void **state)
{
	struct world *w = *state;

	open_text(w, usual);
	for (uint64_t i = 1; i <= 4; i++) {
		collect(w);
		assert_int_equal(w->sample.time_ns[2], i * 1000000000);
		assert_int_equal(count_of(w, 0, "vmexit(msr)"), 10 * i);
		assert_int_equal(timing_of(w, 0, "vmexit(msr)")->time_ns, 12000 * i);
		assert_int_equal(timing_of(w, 0, "vmexit(msr)")->hist[4], 2 * i);
		assert_int_equal(count_of(w, 0, "vmexit(hlt)"), 1);
		assert_int_equal(count_of(w, 0, "cpu"), i == 1 ? 3 : 7);
		assert_int_equal(count_of(w, 0, "time(guest)"), 1000000000 * i - 100000000);
	}
	assert_true(w->sample.rows[0].flags & ROW_WHOLE_INTERVAL);
}

static void only_what_is_wanted(void **state)
{
	struct world *w = *state;

	open_text(w, usual);
	field_set_clear(&w->want.fields);
	field_set_add(&w->want.fields, fields_find(w->fields, "vmexit(msr)"));
	assert_int_equal(exits_captured_want(w->captured, &w->want, &w->why), 0);
	collect(w);
	assert_int_equal(w->sample.nr_rows, 2);
}

static void a_machine_without_the_file(void **state)
{
	struct world *w = *state;

	assert_true(exits_captured_probe(&w->env, &w->why) < 0);
	assert_non_null(strstr(w->why.text, w->path));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(fields_say_what_they_are),
		TEST(rows_and_their_sums),
		TEST(the_last_interval_goes_on),
		TEST(only_what_is_wanted),
		TEST(a_machine_without_the_file),
	};

	return cmocka_run_group_tests_name("exits_captured", tests, NULL, NULL);
}
