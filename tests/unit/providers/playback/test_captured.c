// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_captured - a captured machine: fields, sums, the guests of threads, going on after the end.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arch/arch.h"
#include "providers/providers.h"
#include "tests/unit/unit.h"
#include "tests/worlds/fake_guest.h"

struct world {
	char dir[40], kvmtop[64], path[80];
	struct env env;
	struct guests *guests;
	struct fields *fields;
	void *state;
	struct want want;
	struct sample sample;
	struct error error;
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

	captured_exits_provider.close(w->state);
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
	struct provider_args args = { .env = &w->env, .guests = w->guests, .fields = w->fields,
					      .source = 2 };
	FILE *file = fopen(w->path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_int_equal(captured_exits_provider.open(&args, &w->state, &w->error), 0);
	for (uint32_t i = 0; i < fields_count(w->fields); i++)
		field_set_add(&w->want.fields, i);
	assert_int_equal(captured_exits_provider.want(w->state, &w->want, &w->error), 0);
}

static void collect(struct world *w)
{
	sample_reset(&w->sample);
	assert_int_equal(captured_exits_provider.collect(w->state, &w->sample, &w->error), 0);
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

/* What is open is a part of the time, also of the sums; behind the last sample it goes on. */
TEST(an_open_exit, setup, teardown)
{
	struct world *w = *state;

	open_text(w, "sample 1000000000\nthread 101\n"
		     "vmexit(io) 4 2000030000 11000 open:2000000000 6:3\n"
		     "vmexit(hlt) 1 500 500 2:1\n"
		     "sample 2000000000\nthread 101\n"
		     "vmexit(io) 4 3000030000 11000 open:3000000000 6:3\n");
	collect(w);
	assert_int_equal(timing_of(w, 0, "vmexit(io)")->time_ns, 2000030000);
	assert_int_equal(timing_of(w, 0, "vmexit(io)")->open_ns, 2000000000);
	assert_int_equal(timing_of(w, 0, "vmexit(io)")->hist[6], 3);
	assert_int_equal(timing_of(w, 0, "vmexit")->time_ns, 2000030500);
	assert_int_equal(timing_of(w, 0, "vmexit")->open_ns, 2000000000);
	collect(w);
	collect(w);
	assert_int_equal(timing_of(w, 0, "vmexit(io)")->time_ns, 4000030000);
	assert_int_equal(timing_of(w, 0, "vmexit(io)")->open_ns, 4000000000);
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
	"time(idle) 7000000\n"
	"vmexit_idle(hlt) 7000000\n"
	"time(poll) 1000000\n"
	"vmexit_polled(hlt) 1000000\n"
	"time(wait) 5000\n"
	"vmexit_waited(msr) 5000\n"
	"thread 102\n"
	"vmexit(msr) 1 1000 1000 3:1\n"
	"thread 999\n"
	"vmexit(msr) 77 1000 1000 3:77\n"
	"sample 2000000000\n"
	"thread 101\n"
	"cpu 7\n"
	"vmexit(msr) 20 24000 2000 3:16 4:4\n"
	"time(guest) 1900000000\n";

TEST(fields_say_what_they_are, setup, teardown)
{
	struct world *w = *state;
	const struct field *field;

	open_text(w, usual);
	assert_int_equal(field_of(w, "vmexit")->exit_rank, 1);
	assert_int_equal(field_of(w, "userspace")->exit_rank, 2);
	assert_true(field_of(w, "vmexit(hlt)")->is_idle);
	assert_false(field_of(w, "vmexit(msr)")->is_idle);
	assert_int_equal(field_of(w, "vmexit(msr)")->use, USE_EXIT);
	assert_int_equal(field_of(w, "time(idle)")->part, TIME_IDLE);
	assert_int_equal(field_of(w, "time(wait)")->part, TIME_WAIT);
	assert_int_equal(fields_find(w->fields, "time(block)"), FIELD_NONE);
	assert_int_equal(fields_find(w->fields, "time(L2)"), FIELD_NONE);
	assert_int_equal(field_of(w, "time")->part, TIME_WHOLE);
	field = field_of(w, "msr(msr 0x6e0 IA32_TSC_DEADLINE write)");
	assert_string_equal(field->label, "0x6e0 IA32_TSC_DEADLINE write");
	assert_int_equal(field->use, USE_ARGUMENT);
	assert_int_equal(field->reason, fields_find(w->fields, "vmexit(msr)"));
	assert_int_equal(field->source, 2);
}

TEST(a_guest_with_a_guest, setup, teardown)
{
	struct world *w = *state;

	open_text(w, "sample 1000000000\nthread 101\ntime 9000\ntime(guest) 8000\ntime(L2) 5000\n");
	assert_int_equal(field_of(w, "time(L2)")->part, TIME_L2);
}

/* User space halts a vCPU on every architecture, and a table of VM exits says nothing of it. */
TEST(reasons_are_of_their_event, setup, teardown)
{
	struct world *w = *state;

	open_text(w, "sample 1000000000\n"
		     "thread 101\n"
		     "userspace(HLT) 1 1000 1000 3:1\n"
		     "userspace(hlt) 1 1000 1000 3:1\n"
		     "vmexit(HLT) 1 1000 1000 3:1\n"
		     "vmexit(npf) 1 1000 1000 3:1\n");
	assert_true(field_of(w, "userspace(HLT)")->is_idle);
	assert_false(field_of(w, "userspace(hlt)")->is_idle);
	assert_false(field_of(w, "vmexit(HLT)")->is_idle);
	assert_string_equal(field_of(w, "vmexit(npf)")->alias, "kvm_exit(NPF)");
}

TEST(rows_and_their_sums, setup, teardown)
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
	assert_int_equal(count_of(w, 0, "time"), 908005000);
	assert_int_equal(count_of(w, 0, "time(wait)"), 5000);
	assert_int_equal(count_of(w, 0, "vmexit_idle(hlt)"), 7000000);
	assert_int_equal(count_of(w, 0, "vmexit_waited(msr)"), 5000);
	assert_int_equal(count_of(w, 1, "vmexit"), 1);
	for (size_t i = 0; i < w->sample.nr_rows; i++) {
		assert_int_equal(w->sample.rows[i].key.guest, 1); /* 999 is no guest's thread */
		assert_int_equal(w->sample.rows[i].flags, ROW_FROM_ZERO);
	}
}

TEST(the_last_interval_goes_on, setup, teardown)
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

/* What is shown after a new question is what the machine had counted, without a rate. */
TEST(a_want_begins_without_a_rate, setup, teardown)
{
	struct world *w = *state;

	open_text(w, usual);
	collect(w);
	collect(w);
	assert_int_equal(w->sample.rows[0].flags, ROW_NEW);
	assert_int_equal(captured_exits_provider.want(w->state, &w->want, &w->error), 0);
	collect(w);
	assert_int_equal(w->sample.rows[0].flags, ROW_FROM_ZERO);
	assert_int_equal(count_of(w, 0, "vmexit(msr)"), 30);
}

/* Lines that no program wrote. */
TEST(odd_lines, setup, teardown)
{
	struct world *w = *state;

	open_text(w, "vmexit(before) 1\n"
		     "sample 5\n"
		     "thread 101\n"
		     "vmexit 1000\n"
		     "time 1000\n"
		     "vmexit(\n"
		     "vmexit( 7\n"
		     "vmexit() 7\n"
		     "msr(alone) 7\n"
		     "vmexit(io)\n"
		     "vmexit(a(b)) 3 10\n"
		     "vmexit(c) \n"
		     "8 9 9\n");
	collect(w);
	assert_int_equal(count_of(w, 0, "vmexit(a(b))"), 3);
	assert_int_equal(timing_of(w, 0, "vmexit(a(b))")->time_ns, 10);
	assert_int_equal(count_of(w, 0, "vmexit(c)"), 0);
	assert_int_equal(count_of(w, 0, "vmexit"), 3);
	assert_null(find(w, 0, "vmexit(before)"));
	assert_null(find(w, 0, "vmexit(io)"));
	assert_null(find(w, 0, "time"));
	assert_int_equal(fields_find(w->fields, "vmexit()"), FIELD_NONE);
	assert_int_equal(fields_find(w->fields, "msr(alone)"), FIELD_NONE);
}

TEST(only_what_is_wanted, setup, teardown)
{
	struct world *w = *state;

	open_text(w, usual);
	field_set_clear(&w->want.fields);
	field_set_add(&w->want.fields, fields_find(w->fields, "vmexit(msr)"));
	assert_int_equal(captured_exits_provider.want(w->state, &w->want, &w->error), 0);
	collect(w);
	assert_int_equal(w->sample.nr_rows, 2);
}

TEST(a_machine_without_the_file, setup, teardown)
{
	struct world *w = *state;
	struct provider_args args = { .env = &w->env, .guests = w->guests, .fields = w->fields,
					      .source = 2 };

	assert_int_equal(captured_exits_provider.open(&args, &w->state, &w->error),
			 -ENODATA);
	assert_non_null(strstr(w->error.text, w->path));
}

/* ---- events of a captured machine */

struct machine {
	struct env env;
	struct guests *guests;
	struct fields *fields;
	void *state;
	struct want want;
	struct sample sample;
};

static void open_machine(struct machine *m, const char *root)
{
	struct error error;

	*m = (struct machine){ .state = NULL };
	assert_int_equal(env_init(&m->env, root, &error), 0);
	m->guests = guests_new(&m->env);
	m->fields = fields_new();
	assert_int_equal(guests_refresh(m->guests, 1, &error), 0);
	assert_int_equal(captured_tracepoint_provider.open(
				 &(struct provider_args){ .env = &m->env, .guests = m->guests,
							  .fields = m->fields, .source = 1 },
				 &m->state, &error),
			 0);
	for (uint32_t i = 0; i < fields_count(m->fields); i++)
		field_set_add(&m->want.fields, i);
}

static void close_machine(struct machine *m)
{
	captured_tracepoint_provider.close(m->state);
	sample_release(&m->sample);
	field_set_release(&m->want.fields);
	fields_free(m->fields);
	guests_free(m->guests);
	env_release(&m->env);
}

static void play(struct machine *m, enum want_scope scope, uint32_t guest)
{
	struct error error;

	m->want.scope = scope;
	m->want.guest = guest;
	assert_int_equal(captured_tracepoint_provider.want(m->state, &m->want, &error), 0);
	sample_reset(&m->sample);
	assert_int_equal(captured_tracepoint_provider.collect(m->state, &m->sample, &error),
			 0);
}

/* -1: no row. */
static int64_t played(const struct machine *m, uint32_t guest, const char *name)
{
	for (size_t i = 0; i < m->sample.nr_rows; i++) {
		const struct key *key = &m->sample.rows[i].key;

		assert_int_equal(key->vcpu, -1);
		if (key->guest == guest && key->field == fields_find(m->fields, name))
			return (int64_t)m->sample.rows[i].count;
	}
	return -1;
}

/* The first sample of tests/sysroot/amd/kvmtop/counters. Two threads are db1's. */
TEST(events_of_the_machine_and_of_guests)
{
	struct machine m;
	uint32_t web1, db1;

	open_machine(&m, "tests/sysroot/amd");
	web1 = guests_by_pid(m.guests, 112)->id;
	db1 = guests_by_pid(m.guests, 115)->id;
	assert_int_equal(fields_get(m.fields, fields_find(m.fields, "kvm_exit"))->exit_rank, 1);
	assert_true(fields_get(m.fields, fields_find(m.fields, "kvm_exit(hlt)"))->is_idle);
	play(&m, WANT_HOST, GUEST_NONE);
	assert_int_equal(m.sample.time_ns[1], 1000000000);
	assert_int_equal(played(&m, GUEST_NONE, "kvm_exit"), 271);
	assert_int_equal(played(&m, web1, "kvm_exit"), -1);
	close_machine(&m);
	open_machine(&m, "tests/sysroot/amd");
	play(&m, WANT_EACH, GUEST_NONE);
	assert_int_equal(played(&m, GUEST_NONE, "kvm_exit"), -1);
	assert_int_equal(played(&m, web1, "kvm_exit"), 97);
	assert_int_equal(played(&m, db1, "kvm_exit"), 111 + 62);
	close_machine(&m);
	open_machine(&m, "tests/sysroot/amd");
	play(&m, WANT_GUEST, db1);
	assert_int_equal(played(&m, web1, "kvm_exit"), -1);
	assert_int_equal(played(&m, db1, "kvm_exit"), 111 + 62);
	close_machine(&m);
}
