// SPDX-License-Identifier: GPL-2.0-or-later
/* From the BPF program's records to rows: whose, called what, and never back. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "providers/exits_names.h"
#include "providers/exits_threads.h"
#include "tests/fake_guest.h"

#define SECOND UINT64_C(1000000000)
#define RECORDS 4
#define DEAD_TID 0x3fffff /* beyond what pid_max usually is: nobody has it */

enum { CELL_OTHER, CELL_HLT, CELL_MSR, CELL_ODD, CELL_FAILED, CELL_IO, CELL_USER_HLT, NR_CELLS };

/* A machine with VMX: the codes are the processor's. */
static const struct exits_code codes[EXITS_CELLS] = {
	[CELL_HLT] = { 12, EXITS_VMEXIT, 1 },
	[CELL_MSR] = { 32, EXITS_VMEXIT, 1 },
	[CELL_ODD] = { 0x1234, EXITS_VMEXIT, 1 },
	[CELL_FAILED] = { 33 | UINT64_C(1) << 31, EXITS_VMEXIT, 1 },
	[CELL_IO] = { 2, EXITS_USERSPACE, 1 },
	[CELL_USER_HLT] = { 5, EXITS_USERSPACE, 1 },
};

struct world {
	struct env env;
	struct guests *guests;
	struct fields *fields;
	struct exits_names *names;
	struct exits_threads *threads;
	struct exits_thread records[RECORDS];
	struct sample sample;
	uint32_t guest; /* whose vCPU 0 is this very thread */
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct why why = { "" };
	struct provider_site site;

	assert_non_null(w);
	assert_int_equal(env_init(&w->env, "", &why), 0);
	w->guests = guests_new(&w->env);
	w->fields = fields_new();
	w->guest = guests_add_fake(w->guests, getpid() - 1, "web1", 2);
	site = (struct provider_site){ &w->env, w->guests, w->fields, 2, NULL };
	assert_int_equal(exits_names_new(&site, &arch_by_name("VMX")->splits[0], &w->names), 0);
	w->threads = exits_threads_new(&(struct exits_threads_config){
		.env = &w->env, .guests = w->guests, .names = w->names, .fields = w->fields,
		.codes = codes, .max_threads = RECORDS, .is_timed = true });
	assert_non_null(w->threads);
	/* The inventory's first look, after which only its changes make threads be looked for. */
	exits_threads_begin(w->threads, SECOND, false);
	assert_int_equal(exits_threads_end(w->threads, &w->sample, 0), 0);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	exits_threads_free(w->threads);
	exits_names_free(w->names);
	sample_release(&w->sample);
	fields_free(w->fields);
	guests_free(w->guests);
	env_release(&w->env);
	free(w);
	return 0;
}

/* A record of this thread, which the inventory knows as vCPU 0 of web1; or of one that is dead. */
static struct exits_thread *begin(struct world *w, uint32_t number, bool is_dead)
{
	struct exits_thread *record = &w->records[number];

	record->tid = is_dead ? DEAD_TID : (uint32_t)getpid();
	record->tgid = (uint32_t)getpid();
	record->vcpu = EXITS_NO_VCPU;
	record->number = number;
	record->first_ns = SECOND;
	return record;
}

static void happened(struct exits_thread *record, unsigned int cell, uint64_t count,
		     uint64_t time_ns)
{
	record->used[cell / 64] |= UINT64_C(1) << cell % 64;
	record->cells[cell].count += count;
	record->cells[cell].time_ns += time_ns;
}

/* Returns how many of the threads had ended. */
static int take_sample(struct world *w, uint64_t now_ns)
{
	int nr_ended = 0;

	sample_reset(&w->sample);
	exits_threads_begin(w->threads, now_ns, false);
	for (uint32_t i = 0; i < RECORDS; i++) {
		if (!w->records[i].tid)
			continue;
		if (exits_threads_take(w->threads, &w->records[i]))
			continue;
		nr_ended++;
		memset(&w->records[i], 0, sizeof(w->records[i]));
		exits_threads_release(w->threads, i);
	}
	assert_int_equal(exits_threads_end(w->threads, &w->sample, ROW_FROM_ZERO), 0);
	return nr_ended;
}

static const struct row *row_of(const struct world *w, uint32_t guest, int32_t vcpu,
				const char *name)
{
	uint32_t field = fields_find(w->fields, name);
	const struct row *found = NULL;

	for (size_t i = 0; i < w->sample.nr_rows; i++) {
		const struct row *row = &w->sample.rows[i];

		if (row->key.field != field || row->key.guest != guest || row->key.vcpu != vcpu)
			continue;
		assert_null(found); /* no key twice */
		found = row;
	}
	return found;
}

static uint64_t count_of(const struct world *w, const char *name)
{
	const struct row *row = row_of(w, w->guest, 0, name);

	return row ? row->count : UINT64_MAX;
}

static uint64_t time_of(const struct world *w, const char *name)
{
	const struct row *row = row_of(w, w->guest, 0, name);

	return row && row->timing ? w->sample.timings[row->timing - 1].time_ns : UINT64_MAX;
}

static void test_counts_and_times(void **state)
{
	struct world *w = *state;
	struct exits_thread *record = begin(w, 1, false);

	happened(record, CELL_MSR, 10, 5000);
	record->cells[CELL_MSR].max_ns = 900;
	record->cells[CELL_MSR].hist[3] = 10;
	happened(record, CELL_HLT, 1, SECOND / 2);
	happened(record, CELL_IO, 2, 700);
	record->cpu = 5;
	take_sample(w, 2 * SECOND);
	assert_int_equal(count_of(w, "vmexit(MSR_WRITE)"), 10);
	assert_int_equal(time_of(w, "vmexit(MSR_WRITE)"), 5000);
	assert_int_equal(count_of(w, "vmexit"), 11);
	assert_int_equal(time_of(w, "vmexit"), SECOND / 2 + 5000);
	assert_int_equal(count_of(w, "userspace(IO)"), 2);
	assert_int_equal(count_of(w, "vmexit(CPUID)"), UINT64_MAX);
	assert_int_equal(count_of(w, "cpu"), 5);
	assert_int_equal(count_of(w, "time"), SECOND);
	assert_int_equal(count_of(w, "time(halt)"), SECOND / 2);
	assert_int_equal(count_of(w, "time(user)"), 700);
	assert_int_equal(count_of(w, "time(kvm)"), 4300);
	assert_int_equal(count_of(w, "time(guest)"), SECOND / 2 - 5000);
	assert_int_equal(w->sample.timings[row_of(w, w->guest, 0, "vmexit(MSR_WRITE)")->timing - 1]
				 .hist[3], 10);
}

/* perf kvm stat live charges a long halt to the one interval in which it ends. */
static void test_long_halt_is_in_every_sample(void **state)
{
	struct world *w = *state;
	struct exits_thread *record = begin(w, 0, false);
	uint64_t before = 0;

	happened(record, CELL_HLT, 1, 0);
	record->open_cell = CELL_HLT;
	record->open_since = SECOND;
	for (uint64_t now = 3 * SECOND / 2; now <= 3 * SECOND; now += SECOND / 2) {
		take_sample(w, now);
		assert_int_equal(time_of(w, "vmexit(HLT)") - before, SECOND / 2);
		assert_int_equal(count_of(w, "time(halt)"), now - SECOND);
		assert_int_equal(count_of(w, "vmexit(HLT)"), 1);
		before = time_of(w, "vmexit(HLT)");
	}
	/* It ends: what was shown of it is not counted again. */
	record->open_since = 0;
	happened(record, CELL_HLT, 0, 2 * SECOND + 10);
	take_sample(w, 7 * SECOND / 2);
	assert_int_equal(time_of(w, "vmexit(HLT)"), 2 * SECOND + 10);
}

/* An exit that is seen open and then shorter than shown: the sample after it does not go back. */
static void test_never_back(void **state)
{
	struct world *w = *state;
	struct exits_thread *record = begin(w, 0, false);

	happened(record, CELL_MSR, 1, 0);
	record->open_cell = CELL_MSR;
	record->open_since = SECOND;
	take_sample(w, SECOND + 1000);
	assert_int_equal(time_of(w, "vmexit(MSR_WRITE)"), 1000);
	record->open_since = 0;
	take_sample(w, SECOND + 2000);
	assert_int_equal(time_of(w, "vmexit(MSR_WRITE)"), 1000);
	assert_true(count_of(w, "time(kvm)") >= 1000);
	happened(record, CELL_MSR, 0, 1500);
	take_sample(w, SECOND + 3000);
	assert_int_equal(time_of(w, "vmexit(MSR_WRITE)"), 1500);
}

static void test_user_space_within_an_exit(void **state)
{
	struct world *w = *state;
	struct exits_thread *record = begin(w, 0, false);

	happened(record, CELL_MSR, 1, 0);
	happened(record, CELL_IO, 1, 0);
	record->open_cell = CELL_MSR;
	record->open_since = SECOND;
	record->user_cell = CELL_IO;
	record->user_since = SECOND + 300;
	take_sample(w, SECOND + 1000);
	assert_int_equal(count_of(w, "time(user)"), 700);
	assert_int_equal(count_of(w, "time(kvm)"), 300);
	assert_int_equal(count_of(w, "time(guest)"), 0);
	/* A halt that user space does is one as a whole. */
	record->open_cell = CELL_HLT;
	record->user_cell = CELL_USER_HLT;
	happened(record, CELL_HLT, 1, 0);
	happened(record, CELL_USER_HLT, 1, 0);
	record->cells[CELL_MSR].time_ns = 1000;
	record->cells[CELL_IO].time_ns = 700;
	record->open_since = SECOND + 2000;
	record->user_since = SECOND + 2100;
	take_sample(w, SECOND + 3000);
	assert_int_equal(count_of(w, "time(halt)"), 1000);
	assert_int_equal(count_of(w, "time(user)"), 700);
	assert_int_equal(count_of(w, "time(kvm)"), 300);
}

static void test_names(void **state)
{
	struct world *w = *state;
	struct exits_thread *record = begin(w, 0, false);

	for (unsigned int i = 0; i < NR_CELLS; i++)
		happened(record, i, i + 1, 0);
	take_sample(w, 2 * SECOND);
	assert_int_equal(count_of(w, "vmexit(other)"), CELL_OTHER + 1);
	assert_int_equal(count_of(w, "vmexit(0x1234)"), CELL_ODD + 1);
	assert_int_equal(count_of(w, "vmexit(INVALID_STATE FAILED_VMENTRY)"), CELL_FAILED + 1);
	assert_true(fields_get(w->fields, fields_find(w->fields, "vmexit(HLT)"))->is_idle);
	assert_false(fields_get(w->fields, fields_find(w->fields, "vmexit(MSR_WRITE)"))->is_idle);
	assert_string_equal(fields_get(w->fields, fields_find(w->fields, "vmexit(0x1234)"))->label,
			    "0x1234");
}

/* A vCPU whose thread is replaced goes on from where it was; the record is free for the next. */
static void test_thread_is_replaced(void **state)
{
	struct world *w = *state;
	struct exits_thread *old = begin(w, 0, true), *new;

	old->vcpu = 1;
	happened(old, CELL_MSR, 10, 100);
	take_sample(w, 2 * SECOND);
	assert_int_equal(row_of(w, w->guest, 1, "vmexit(MSR_WRITE)")->count, 10);
	happened(old, CELL_MSR, 5, 50);
	guests_add_fake(w->guests, 77777777, "other", 0); /* the inventory changed */
	assert_int_equal(take_sample(w, 3 * SECOND), 1);
	assert_int_equal(row_of(w, w->guest, 1, "vmexit(MSR_WRITE)")->count, 15);
	new = begin(w, 0, false);
	new->tid = (uint32_t)getpid() + 1; /* the inventory's thread of vCPU 1 */
	happened(new, CELL_MSR, 2, 20);
	happened(new, CELL_HLT, 1, 7);
	take_sample(w, 4 * SECOND);
	assert_int_equal(row_of(w, w->guest, 1, "vmexit(MSR_WRITE)")->count, 17);
	assert_int_equal(row_of(w, w->guest, 1, "vmexit(HLT)")->count, 1);
	assert_int_equal(row_of(w, w->guest, 1, "vmexit")->count, 18);
}

static void test_arguments(void **state)
{
	struct world *w = *state;
	struct exits_thread *record = begin(w, 0, false);
	const union {
		uint8_t bytes[4];
		uint32_t word;
	} opcodes = { { 3, 0, 12, 11 } }; /* op0, op1, CRn, CRm */
	const struct exits_argument_key keys[] = {
		{ .a = 0x6e0, .b = 1, .kind = EXITS_MSR, .cell = CELL_MSR },
		{ .a = 0x3f8, .b = 1, .c = 1, .kind = EXITS_IOPORT, .cell = EXITS_NO_CELL },
		{ .a = 0x40000001, .kind = EXITS_CPUID, .cell = EXITS_NO_CELL },
		{ .a = 0xfee000b0, .b = 4, .c = 2, .kind = EXITS_MMIO, .cell = CELL_ODD },
		{ .a = 5, .kind = EXITS_HYPERCALL, .cell = EXITS_NO_CELL },
		{ .a = opcodes.word, .b = 1, .c = 5, .kind = EXITS_SYSREG, .cell = EXITS_NO_CELL },
	};
	const char *const names[] = {
		"msr(MSR_WRITE 0x6e0 IA32_TSC_DEADLINE write)", "ioport(IO 0x3f8 write 1 COM1)",
		"cpuid(CPUID 0x40000001 paravirtual features)", "mmio(0x1234 0xfee000b0 write 4)",
		"hypercall(HYPERCALL 5 KVM_HC_KICK_CPU)",
		"sysreg(SYSREG S3_0_C12_C11_5 ICC_SGI1R_EL1 write)",
	};
	const struct exits_cell cell = { .count = 3, .time_ns = 30 };
	const struct field *field;

	happened(record, CELL_MSR, 1, 1);
	take_sample(w, 2 * SECOND);
	sample_reset(&w->sample);
	exits_threads_begin(w->threads, 3 * SECOND, false);
	assert_true(exits_threads_take(w->threads, record));
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		assert_int_equal(exits_threads_argument(w->threads, &keys[i], &cell, &w->sample, 0),
				 0);
	assert_int_equal(exits_threads_end(w->threads, &w->sample, 0), 0);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		assert_int_equal(count_of(w, names[i]), 3);
	assert_int_equal(count_of(w, "msr"), 3);
	field = fields_get(w->fields, fields_find(w->fields, names[0]));
	assert_string_equal(field->label, "0x6e0 IA32_TSC_DEADLINE write");
	assert_int_equal(field->reason, fields_find(w->fields, "vmexit(MSR_WRITE)"));
	field = fields_get(w->fields, fields_find(w->fields, names[1]));
	assert_int_equal(field->reason, FIELD_NONE);
}

/* A thread of a process that the inventory does not know as a guest. */
static void test_unknown_thread(void **state)
{
	struct world *w = *state;
	struct exits_thread *record = begin(w, 0, false);

	record->tid = 1;
	record->tgid = 1;
	happened(record, CELL_MSR, 4, 0);
	take_sample(w, 2 * SECOND);
	assert_int_equal(row_of(w, GUEST_ANY, -1, "vmexit(MSR_WRITE)")->count, 4);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_counts_and_times),
		TEST(test_long_halt_is_in_every_sample),
		TEST(test_never_back),
		TEST(test_user_space_within_an_exit),
		TEST(test_names),
		TEST(test_thread_is_replaced),
		TEST(test_arguments),
		TEST(test_unknown_thread),
	};

	return cmocka_run_group_tests_name("exits", tests, NULL, NULL);
}
