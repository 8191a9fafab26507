// SPDX-License-Identifier: GPL-2.0-or-later
/* From the BPF program's records to rows: of which vCPU, of which name, and never back. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/facts/shared_fields.h"
#include "lib/array.h"
#include "providers/bpf/bpf.h"
#include "providers/exits/threads.h"
#include "tests/unit/unit.h"
#include "tests/worlds/thread_records.h"
#include "tests/worlds/fake_guest.h"

#define SECOND UINT64_C(1000000000)
#define RECORDS 4
#define DEAD_TID 0x3fffff /* beyond what pid_max usually is: no thread has it */

enum {
	CELL_OTHER,
	CELL_HLT,
	CELL_MSR,
	CELL_ODD,
	CELL_FAILED,
	CELL_IO,
	CELL_USER_HLT,
	CELL_RESTART,
	CELL_MSR_L2,
	NR_CELLS
};

/* A machine with VMX: the codes are the processor's. */
static const struct exits_code codes[EXITS_CELLS] = {
	[CELL_HLT] = { 12, EXITS_VMEXIT, 1, 0 },
	[CELL_MSR] = { 32, EXITS_VMEXIT, 1, 0 },
	[CELL_ODD] = { 0x1234, EXITS_VMEXIT, 1, 0 },
	[CELL_FAILED] = { 33 | UINT64_C(1) << 31, EXITS_VMEXIT, 1, 0 },
	[CELL_IO] = { 2, EXITS_USERSPACE, 1, 0 },
	[CELL_USER_HLT] = { 5, EXITS_USERSPACE, 1, 0 },
	[CELL_RESTART] = { EXITS_RESTART, EXITS_USERSPACE, 1, 0 },
	[CELL_MSR_L2] = { 32, EXITS_VMEXIT, 1, 1 },
};

/* What the program counted by argument. */
struct counted {
	struct exits_argument_key key;
	struct exits_cell cell;
};

struct world {
	struct env env;
	char root[64]; /* whose /proc the inventory reads */
	struct env inventory;
	struct guests *guests;
	struct fields *fields;
	struct exits_names *names;
	struct exits_threads *threads;
	struct exits_thread records[RECORDS];
	struct counted arguments[RECORDS];
	bool is_over; /* the arguments' epoch */
	struct sample sample;
	uint32_t guest; /* its vCPU 0 is this very thread */
};

/* The command's words are our own: a folder, or a folder and a process. */
static void shell(const struct world *w, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void shell(const struct world *w, const char *format, ...)
{
	char command[512];
	va_list args;
	int at = snprintf(command, sizeof(command), "cd %s && ", w->root);

	va_start(args, format);
	vsnprintf(command + at, sizeof(command) - (size_t)at, format, args);
	va_end(args);
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): our own words */
}

static uint64_t clock_ns;

static uint64_t test_clock(void)
{
	return clock_ns;
}

static uint32_t add_web1(struct guests *guests)
{
	struct vcpu vcpus[] = { { .index = 0, .tid = getpid() },
				{ .index = 1, .tid = getpid() + 1 } };
	const struct guest web1 = { .pid = 99999999, .name = "web1", .vmm = "qemu",
				    .is_named = true, .nr_vms = 1, .vcpus = vcpus, .nr_vcpus = 2 };

	return guests_add(guests, &web1);
}

/* Whether it is seen when threads lose their CPU. */
static int set_up(void **state, bool sees_away)
{
	unsigned int parts = EXIT_FIELDS_PARTS & ~(sees_away ? 0 : EXIT_FIELDS_AWAY);
	struct world *w = calloc(1, sizeof(*w));
	struct error error = { "" };
	struct provider_args args;

	assert_non_null(w);
	assert_int_equal(env_init(&w->env, "", &error), 0);
	snprintf(w->root, sizeof(w->root), "/tmp/kvmtop-exits.XXXXXX");
	assert_non_null(mkdtemp(w->root));
	w->inventory.root = w->root;
	w->guests = guests_new(&w->inventory);
	w->fields = fields_new();
	w->guest = add_web1(w->guests);
	args = (struct provider_args){ .env = &w->env, .guests = w->guests, .fields = w->fields,
					      .source = 2 };
	w->names = exits_names_new(&args, &arch_by_name("VMX")->splits[0],
				   parts | 1U << TIME_L2);
	w->threads = exits_threads_new(&(struct exits_threads_config){
		.env = &w->inventory, .guests = w->guests, .names = w->names, .fields = w->fields,
		.codes = codes, .max_threads = RECORDS, .is_timed = true, .sees_away = sees_away,
		.clock = test_clock });
	assert_non_null(w->threads);
	/* The inventory's first look, after which only its changes make threads be looked for. */
	exits_threads_begin(w->threads);
	exits_threads_end(w->threads, &w->sample, 0);
	*state = w;
	return 0;
}

static int setup(void **state)
{
	return set_up(state, false);
}

static int setup_away(void **state)
{
	return set_up(state, true);
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
	shell(w, "rm -r %s", w->root);
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
	struct exits_cell *to = &record_reason(record, cell)->cell;

	to->count += count;
	to->time_ns += time_ns;
}

/* The record's thread is gone: there is none of that number. */
static void dies(struct exits_thread *record)
{
	record->tid = DEAD_TID;
}

/* An argument of the record's thread; each record has one at the most. */
static void happened_with(struct world *w, const struct exits_thread *record,
			  struct exits_argument_key key, uint64_t count)
{
	struct counted *argument = &w->arguments[record->number];

	key.thread = record->number;
	argument->key = key;
	argument->cell.count += count;
	argument->cell.time_ns += 10 * count;
	argument->cell.hist[0] += (uint32_t)count;
	argument->cell.max_ns = 10;
}

static void take_arguments(struct world *w)
{
	for (uint32_t i = 0; i < RECORDS; i++) {
		if (w->arguments[i].cell.count)
			exits_threads_argument(w->threads, &w->arguments[i].key,
								&w->arguments[i].cell,
								w->is_over);
	}
}

/* Returns how many of the threads had ended. */
/* Leaves bytes on the stack that a struct which is only half filled would show. */
static __attribute__((noinline)) void dirty_stack(void)
{
	volatile char bytes[4096];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = 0x5a;
}

static int take_sample(struct world *w, uint64_t now_ns)
{
	bool has_ended[RECORDS] = { false };
	int nr_ended = 0;

	sample_reset(&w->sample);
	clock_ns = now_ns;
	exits_threads_begin(w->threads);
	for (uint32_t i = 0; i < RECORDS; i++)
		has_ended[i] = w->records[i].tid &&
			       exits_threads_take(w->threads, &w->records[i]);
	take_arguments(w);
	dirty_stack();
	exits_threads_end(w->threads, &w->sample, ROW_FROM_ZERO);
	for (size_t i = 0; i < w->sample.nr_timings; i++)
		assert_null(w->sample.timings[i].spread); /* only a recording knows it */
	for (uint32_t i = 0; i < RECORDS; i++) {
		if (!has_ended[i])
			continue;
		nr_ended++;
		memset(&w->records[i], 0, sizeof(w->records[i]));
		memset(&w->arguments[i], 0, sizeof(w->arguments[i]));
		exits_threads_release(w->threads, i);
	}
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

static const struct timing *timing_of(const struct world *w, const struct row *row)
{
	return row && row->timing ? &w->sample.timings[row->timing - 1] : NULL;
}

static uint64_t time_of(const struct world *w, const char *name)
{
	const struct timing *timing = timing_of(w, row_of(w, w->guest, 0, name));

	return timing ? timing->time_ns : UINT64_MAX;
}

static uint64_t open_of(const struct world *w, const char *name)
{
	const struct timing *timing = timing_of(w, row_of(w, w->guest, 0, name));

	return timing ? timing->open_ns : UINT64_MAX;
}

/* Of all guests and vCPUs. */
static uint64_t count_of_all(const struct world *w, const char *name)
{
	uint32_t field = fields_find(w->fields, name);
	uint64_t count = 0;

	for (size_t i = 0; i < w->sample.nr_rows; i++)
		count += w->sample.rows[i].key.field == field ? w->sample.rows[i].count : 0;
	return count;
}

/* The parent of this process holds a VM with one vCPU. */
static void parent_holds_vm(const struct world *w)
{
	int pid = (int)getppid();

	shell(w, "mkdir -p proc/%d/fd proc/%d/task/%d && ln -s anon_inode:kvm-vm proc/%d/fd/9 && "
	      "ln -s anon_inode:kvm-vcpu:0 proc/%d/fd/10 && "
	      "echo '%d (vm) S 1 1 1 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 77 1 2 3' >proc/%d/stat",
	      pid, pid, pid, pid, pid, pid, pid);
}

/* The inventory has its VM, or does so no more. Returns its number. */
static uint32_t parent_is_guest(struct world *w)
{
	struct error error = { "" };
	int pid = (int)getppid();

	parent_holds_vm(w);
	assert_int_equal(guests_refresh(w->guests, SECOND, &error), 0);
	assert_non_null(guests_by_pid(w->guests, pid));
	return guests_by_pid(w->guests, pid)->id;
}

static void parent_is_none(struct world *w, uint64_t now_ns)
{
	struct error error = { "" };

	shell(w, "rm -r proc/%d", (int)getppid());
	assert_int_equal(guests_refresh(w->guests, now_ns, &error), 0);
	assert_null(guests_by_pid(w->guests, getppid()));
}

/* A record of the parent's only thread. */
static struct exits_thread *begin_parent(struct world *w, uint32_t number)
{
	struct exits_thread *record = begin(w, number, false);

	record->tid = record->tgid = (uint32_t)getppid();
	return record;
}

TEST(test_counts_and_times, setup, teardown)
{
	struct world *w = *state;
	struct exits_thread *record = begin(w, 1, false);

	happened(record, CELL_MSR, 10, 5000);
	record_reason(record, CELL_MSR)->cell.max_ns = 900;
	record_reason(record, CELL_MSR)->cell.hist[3] = 10;
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
	assert_int_equal(count_of(w, "time(idle)"), SECOND / 2);
	assert_int_equal(count_of(w, "time(user)"), 700);
	assert_int_equal(count_of(w, "time(kvm)"), 4300);
	assert_int_equal(count_of(w, "time(guest)"), SECOND / 2 - 5000);
	assert_int_equal(timing_of(w, row_of(w, w->guest, 0, "vmexit(MSR_WRITE)"))->hist[3], 10);
}

/* The time of a vCPU goes on while it halts, and so does the time of the halt. */
TEST(test_long_halt_is_in_every_sample, setup, teardown)
{
	struct world *w = *state;
	struct exits_thread *record = begin(w, 0, false);

	happened(record, CELL_HLT, 1, 0);
	record->at.cell = CELL_HLT;
	record->at.begun = SECOND;
	for (uint64_t now = 3 * SECOND / 2; now <= 3 * SECOND; now += SECOND / 2) {
		take_sample(w, now);
		assert_int_equal(count_of(w, "time(idle)"), now - SECOND);
		assert_int_equal(count_of(w, "vmexit(HLT)"), 1);
		assert_int_equal(time_of(w, "vmexit(HLT)"), now - SECOND);
		assert_int_equal(open_of(w, "vmexit(HLT)"), now - SECOND);
		assert_int_equal(time_of(w, "vmexit"), now - SECOND);
		assert_int_equal(open_of(w, "vmexit"), now - SECOND);
	}
	record->at.begun = 0;
	happened(record, CELL_HLT, 0, 2 * SECOND + 10);
	take_sample(w, 7 * SECOND / 2);
	assert_int_equal(time_of(w, "vmexit(HLT)"), 2 * SECOND + 10);
	assert_int_equal(open_of(w, "vmexit(HLT)"), 0);
	assert_int_equal(count_of(w, "time(idle)"), 2 * SECOND + 10);
}

/* What is polled is told when the halt is over; the rest of the halt is idle. */
TEST(test_polls, setup, teardown)
{
	struct world *w = *state;
	struct exits_thread *record = begin(w, 0, false);

	happened(record, CELL_HLT, 2, 1000);
	record_reason(record, CELL_HLT)->parts.polled_ns = 300;
	take_sample(w, 2 * SECOND);
	assert_int_equal(count_of(w, "time(idle)"), 700);
	assert_int_equal(count_of(w, "time(poll)"), 300);
	assert_int_equal(count_of(w, "vmexit_idle(HLT)"), 700);
	assert_int_equal(count_of(w, "vmexit_polled(HLT)"), 300);
	happened(record, CELL_HLT, 1, 200);
	record_reason(record, CELL_HLT)->parts.polled_ns += 200;
	take_sample(w, 4 * SECOND);
	assert_int_equal(count_of(w, "time(idle)"), 700);
	assert_int_equal(count_of(w, "time(poll)"), 500);
}

/* KVM polls before SIPI, too, and says so at the end of the next halt, which is shorter. */
TEST(test_poll_within_its_exits, setup_away, teardown)
{
	struct world *w = *state;
	struct exits_thread *record = begin(w, 0, false);

	happened(record, CELL_HLT, 2, 1000);
	record_reason(record, CELL_HLT)->parts.polled_ns = 5000;
	record_reason(record, CELL_HLT)->parts.idle_ns = 600;
	take_sample(w, 2 * SECOND);
	assert_int_equal(count_of(w, "time(idle)"), 600);
	assert_int_equal(count_of(w, "time(poll)"), 400);
	assert_int_equal(count_of(w, "time(kvm)"), 0);
	assert_int_equal(count_of(w, "time(guest)"), SECOND - 1000);
}

/* An exit that is seen open and then shorter than shown: the time of the vCPU does not go back. */
TEST(test_never_back, setup, teardown)
{
	struct world *w = *state;
	struct exits_thread *record = begin(w, 0, false);

	happened(record, CELL_MSR, 1, 0);
	record->at.cell = CELL_MSR;
	record->at.begun = SECOND;
	take_sample(w, SECOND + 1000);
	assert_int_equal(time_of(w, "vmexit(MSR_WRITE)"), 1000);
	assert_int_equal(count_of(w, "time(kvm)"), 1000);
	record->at.begun = 0; /* it is about to be added to its cell */
	take_sample(w, SECOND + 1500);
	assert_int_equal(time_of(w, "vmexit(MSR_WRITE)"), 1500);
	assert_int_equal(count_of(w, "time(kvm)"), 1500);
	happened(record, CELL_MSR, 0, 1500);
	take_sample(w, SECOND + 3000);
	assert_int_equal(time_of(w, "vmexit(MSR_WRITE)"), 1500);
	assert_int_equal(count_of(w, "time(kvm)"), 1500);
}

TEST(test_user_space_within_an_exit, setup, teardown)
{
	struct world *w = *state;
	struct exits_thread *record = begin(w, 0, false);

	happened(record, CELL_MSR, 1, 0);
	happened(record, CELL_IO, 1, 0);
	record->at.cell = CELL_MSR;
	record->at.begun = SECOND;
	record->at.user_cell = CELL_IO;
	record->at.user_since = SECOND + 300;
	take_sample(w, SECOND + 1000);
	assert_int_equal(count_of(w, "time(user)"), 700);
	assert_int_equal(count_of(w, "time(kvm)"), 300);
	assert_int_equal(count_of(w, "time(guest)"), 0);
	/* A halt that user space does is one as a whole. */
	record->at.cell = CELL_HLT;
	record->at.user_cell = CELL_USER_HLT;
	happened(record, CELL_HLT, 1, 0);
	happened(record, CELL_USER_HLT, 1, 0);
	record_reason(record, CELL_MSR)->cell.time_ns = 1000;
	record_reason(record, CELL_IO)->cell.time_ns = 700;
	record->at.begun = SECOND + 2000;
	record->at.user_since = SECOND + 2100;
	take_sample(w, SECOND + 3000);
	assert_int_equal(count_of(w, "time(idle)"), 1000);
	assert_int_equal(count_of(w, "time(user)"), 700);
	assert_int_equal(count_of(w, "time(kvm)"), 300);
}

/* The exit to user space is seen open, and then while the program adds it to its cell. */
TEST(test_user_space_never_back, setup, teardown)
{
	struct world *w = *state;
	struct exits_thread *record = begin(w, 0, false);

	happened(record, CELL_MSR, 1, 0);
	happened(record, CELL_IO, 1, 0);
	record->at.cell = CELL_MSR;
	record->at.begun = SECOND;
	record->at.user_cell = CELL_IO;
	record->at.user_since = SECOND + 300;
	take_sample(w, SECOND + 1000);
	assert_int_equal(count_of(w, "time(user)"), 700);
	record->at.begun = 0;
	take_sample(w, SECOND + 1001);
	assert_int_equal(count_of(w, "time(user)"), 701);
	assert_int_equal(time_of(w, "userspace(IO)"), 701);
	record->at.user_since = 0;
	happened(record, CELL_IO, 0, 750);
	happened(record, CELL_MSR, 0, 1050);
	take_sample(w, SECOND + 2000);
	assert_int_equal(count_of(w, "time(user)"), 750);
	assert_int_equal(time_of(w, "userspace(IO)"), 750);
}

/* A vCPU that halts is kicked, and user space has it until its thread sleeps in KVM again. */
TEST(test_parts_of_a_kicked_halt, setup_away, teardown)
{
	struct world *w = *state;
	struct exits_thread *record = begin(w, 0, false);

	happened(record, CELL_HLT, 1, 0);
	happened(record, CELL_RESTART, 1, 0);
	record->at.cell = CELL_HLT | EXITS_HALT;
	record->at.begun = SECOND;
	record_reason(record, CELL_HLT)->parts.idle_ns = SECOND / 20;
	record->at.user_cell = CELL_RESTART;
	record->at.user_since = SECOND + SECOND / 10;
	take_sample(w, 2 * SECOND);
	assert_int_equal(count_of(w, "time"), SECOND);
	assert_int_equal(count_of(w, "time(idle)"), SECOND / 20);
	assert_int_equal(count_of(w, "time(user)"), SECOND - SECOND / 10);
	assert_int_equal(count_of(w, "time(kvm)"), SECOND / 20);
	assert_int_equal(count_of(w, "time(guest)"), 0);
	record->at.user_since = 0;
	record->at.sums.halt_user = SECOND;
	happened(record, CELL_RESTART, 0, SECOND - SECOND / 10);
	record->at.away_since = 2 * SECOND;
	record->at.away = EXITS_IDLES;
	take_sample(w, 3 * SECOND);
	assert_int_equal(count_of(w, "time"), 2 * SECOND);
	assert_int_equal(count_of(w, "time(idle)"), SECOND + SECOND / 20);
	assert_int_equal(count_of(w, "time(user)"), SECOND - SECOND / 10);
	assert_int_equal(count_of(w, "time(kvm)"), SECOND / 20);
	assert_int_equal(count_of(w, "time(guest)"), 0);
	assert_int_equal(count_of(w, "vmexit_idle(HLT)"), SECOND + SECOND / 20);
}

/* It was asleep, as was shown; and then it turns out that a wake-up had come long ago. */
TEST(test_sleep_that_was_a_wait, setup_away, teardown)
{
	struct world *w = *state;
	struct exits_thread *record = begin(w, 0, false);

	happened(record, CELL_HLT, 1, 0);
	record->at.cell = CELL_HLT | EXITS_HALT;
	record->at.begun = record->at.away_since = SECOND;
	record->at.away = EXITS_IDLES;
	take_sample(w, 2 * SECOND);
	assert_int_equal(count_of(w, "time(idle)"), SECOND);
	assert_int_equal(count_of(w, "vmexit_idle(HLT)"), SECOND);
	record->at.away_since = 0;
	record->at.over = record->at.begun += SECOND * 3 / 2; /* so much was a wait */
	happened(record, CELL_HLT, 0, SECOND / 2);
	record_reason(record, CELL_HLT)->parts = (struct exits_parts){
		.waited_ns = SECOND * 3 / 2, .idle_ns = SECOND / 2,
	};
	record->at.sums.waited = SECOND * 3 / 2;
	take_sample(w, 3 * SECOND);
	assert_int_equal(count_of(w, "time"), 2 * SECOND);
	assert_int_equal(count_of(w, "time(idle)"), SECOND);
	assert_int_equal(count_of(w, "time(wait)"), SECOND);
	assert_int_equal(count_of(w, "time(kvm)") + count_of(w, "time(guest)"), 0);
	assert_int_equal(count_of(w, "vmexit_idle(HLT)"), SECOND);
	assert_int_equal(count_of(w, "vmexit_waited(HLT)"), SECOND * 3 / 2);
}

/* This vCPU is never started: it sleeps, and has made no exit. */
TEST(test_never_started, setup_away, teardown)
{
	struct world *w = *state;
	struct exits_thread *record = begin(w, 0, false);

	record->at.away_since = SECOND;
	record->at.away = EXITS_IDLES;
	take_sample(w, 3 * SECOND);
	assert_int_equal(count_of(w, "time"), 2 * SECOND);
	assert_int_equal(count_of(w, "time(idle)"), 2 * SECOND);
}

static void write_scheduler(const struct world *w, uint64_t ran_ns, uint64_t waited_ns,
			    const char *stat)
{
	shell(w, "mkdir -p proc/%d/task/%d", getpid(), getpid());
	shell(w, "echo %" PRIu64 " %" PRIu64 " 7 > proc/%d/task/%d/schedstat", ran_ns, waited_ns,
	      getpid(), getpid());
	shell(w, "echo '%s' > proc/%d/task/%d/stat", stat, getpid(), getpid());
}

/* User space has an exit for a second. */
static void assert_off(struct world *w, struct exits_thread *record, uint64_t user_ms,
		       uint64_t block_ms, uint64_t wait_ms)
{
	const uint64_t ms = 1000000;

	happened(record, CELL_MSR, 1, 0);
	happened(record, CELL_IO, 1, 0);
	record->at.cell = CELL_MSR;
	record->at.begun = record->first_ns;
	record->at.user_cell = CELL_IO;
	record->at.user_since = SECOND + SECOND / 10;
	record->user_ran = 5000;
	record->user_delay = 6000;
	take_sample(w, 2 * SECOND + SECOND / 10);
	assert_int_equal(count_of(w, "time"), 1100 * ms);
	assert_int_equal(count_of(w, "time(kvm)"), 100 * ms);
	assert_int_equal(count_of(w, "time(user)"), user_ms * ms);
	assert_int_equal(count_of(w, "time(block)"), block_ms * ms);
	assert_int_equal(count_of(w, "time(block_user)"), block_ms * ms);
	assert_int_equal(count_of(w, "time(wait)"), wait_ms * ms);
	assert_int_equal(time_of(w, "userspace(IO)"), (user_ms + block_ms) * ms);
}

/*
 * The scheduler says what the thread has done since the exit, and does now. A file that is not
 * there, or that says less than at the exit, says nothing.
 */
TEST(test_user_space_that_is_off, setup_away, teardown)
{
	static const struct {
		const char *stat; /* NULL: none */
		uint64_t ran_ns, waited_ns, user_ms, block_ms, wait_ms;
	} cases[] = {
		{ NULL, 0, 0, 1000, 0, 0 },
		{ "1 (a) b) S 1", 1000, 6000, 1000, 0, 0 },
		{ "1 (a) b) S 1", 5000, 1000, 1000, 0, 0 },
		{ "1 (a) b) S 1", 5000, 6000, 0, 1000, 0 },
		{ "1 (a) b) R 1", 5000, 6000, 0, 0, 1000 },
		{ "1 (a) b) D 1", 5000 + SECOND / 10, 6000 + SECOND / 5, 100, 700, 200 },
		{ "1 (a) b) R 1", 5000 + SECOND / 10, 6000 + SECOND / 5, 100, 0, 900 },
		/* The sums are as of the last tick: it runs. */
		{ "1 (a) b) R 1", 5000 + SECOND * 7 / 10, 6000 + SECOND * 295 / 1000, 705, 0, 295 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct world *w = *state;

		if (cases[i].stat)
			write_scheduler(w, cases[i].ran_ns, cases[i].waited_ns, cases[i].stat);
		assert_off(w, begin(w, 0, false), cases[i].user_ms, cases[i].block_ms,
			   cases[i].wait_ms);
		teardown(state);
		setup_away(state);
	}
}

static uint64_t random_to(uint32_t *random, uint64_t limit)
{
	*random = *random * 1664525 + 1013904223;
	return (*random >> 8) % limit;
}

static uint64_t sum_of_parts(const uint64_t *parts)
{
	uint64_t sum = 0;

	for (enum time_part part = TIME_GUEST; part < TIME_PARTS; part++)
		sum += time_adds_up(part) ? parts[part] : 0;
	return sum;
}

static void assert_whole(const uint64_t *parts, uint64_t whole_ns)
{
	assert_int_equal(parts[TIME_WHOLE], whole_ns);
	assert_int_equal(sum_of_parts(parts), whole_ns);
	assert_true(parts[TIME_L2] <= parts[TIME_GUEST]);
	assert_true(parts[TIME_BLOCK_USER] <= parts[TIME_BLOCK]);
}

/* A thread that is read while it changes may have sums of different moments. */
static struct exits_time random_time(uint32_t *random, uint64_t limit)
{
	struct exits_time time = {
		.polled_ns = random_to(random, limit), .waited_ns = random_to(random, limit),
		.idle_out_ns = random_to(random, limit), .nested_ns = random_to(random, limit),
	};

	for (int kind = 0; kind < EXITS_REASONS; kind++) {
		time.ns[kind] = random_to(random, 2 * limit);
		time.idle_ns[kind] = random_to(random, limit);
		time.blocked_ns[kind] = random_to(random, limit);
	}
	return time;
}

TEST(test_parts_are_the_whole, setup, teardown)
{
	const struct exits_time time = {
		.ns = { [EXITS_VMEXIT] = 500, [EXITS_USERSPACE] = 120 },
		.idle_ns = { [EXITS_VMEXIT] = 200, [EXITS_USERSPACE] = 30 },
		.blocked_ns = { [EXITS_VMEXIT] = 100, [EXITS_USERSPACE] = 40 },
		.polled_ns = 60, .waited_ns = 90, .idle_out_ns = 10, .nested_ns = 150,
	};
	uint64_t parts[TIME_PARTS];
	uint32_t random = 1;

	exit_fields_split(1000, &time, parts);
	assert_whole(parts, 1000);
	assert_int_equal(parts[TIME_WAIT], 90);
	assert_int_equal(parts[TIME_IDLE], 200 + 10);
	assert_int_equal(parts[TIME_BLOCK], 100);
	assert_int_equal(parts[TIME_BLOCK_USER], 40);
	assert_int_equal(parts[TIME_POLL], 60);
	assert_int_equal(parts[TIME_USER], 120 - 30 - 40);
	assert_int_equal(parts[TIME_KVM], 500 - 200 - 100 - 60 - 50);
	assert_int_equal(parts[TIME_GUEST], 1000 - 500 - 90 - 10);
	assert_int_equal(parts[TIME_L2], 150);
	for (int i = 0; i < 100000; i++) {
		uint64_t whole_ns = random_to(&random, 4000);
		struct exits_time any = random_time(&random, 1 + random_to(&random, 2000));

		exit_fields_split(whole_ns, &any, parts);
		assert_whole(parts, whole_ns);
	}
}

/* The guest's time does not go back, and idle time grows less for it: the rest comes later. */
TEST(test_parts_stay_the_whole, setup, teardown)
{
	static const uint64_t earlier[TIME_PARTS] = {
		[TIME_WHOLE] = 1000, [TIME_GUEST] = 500, [TIME_KVM] = 100, [TIME_USER] = 100,
		[TIME_IDLE] = 250, [TIME_POLL] = 50, [TIME_L2] = 100,
	};
	uint64_t parts[TIME_PARTS] = {
		[TIME_WHOLE] = 1100, [TIME_GUEST] = 450, [TIME_KVM] = 150, [TIME_USER] = 120,
		[TIME_IDLE] = 310, [TIME_POLL] = 70, [TIME_L2] = 400,
	};

	exit_fields_keep(earlier, parts);
	assert_whole(parts, 1100);
	assert_int_equal(parts[TIME_GUEST], 500);
	assert_int_equal(parts[TIME_IDLE], 260);
	assert_int_equal(parts[TIME_KVM], 150);
	assert_int_equal(parts[TIME_USER], 120);
	assert_int_equal(parts[TIME_POLL], 70);
	assert_int_equal(parts[TIME_L2], 100);
}

/* Whatever the sums say from one sample to the next. */
TEST(test_parts_never_go_back, setup, teardown)
{
	uint32_t random = 7;

	for (int vcpu = 0; vcpu < 500; vcpu++) {
		uint64_t shown[TIME_PARTS] = { 0 }, parts[TIME_PARTS], whole_ns = 0;

		for (int sample = 0; sample < 100; sample++) {
			struct exits_time time;

			whole_ns += random_to(&random, 1000);
			time = random_time(&random, 1 + whole_ns / 3);
			exit_fields_split(whole_ns, &time, parts);
			exit_fields_keep(shown, parts);
			assert_whole(parts, whole_ns);
			for (int i = 0; i < TIME_PARTS; i++) {
				assert_true(parts[i] >= shown[i]);
				shown[i] = parts[i];
			}
		}
	}
}

/* The exit was counted in the cell of its reason, and is L2's: it goes to the twin. */
static void goes_to_twin(struct exits_thread *record)
{
	record_reason(record, CELL_MSR)->cell.count--;
	happened(record, CELL_MSR_L2, 1, 0);
	record->at.cell = CELL_MSR_L2;
	record->at.nested_since = record->at.begun;
}

static void exits_for_msr(struct exits_thread *record, uint64_t at_ns)
{
	happened(record, CELL_MSR, 1, 0);
	record->at.cell = CELL_MSR;
	record->at.begun = at_ns;
}

/* Exits of L2 have a name of their own, and their vCPU a time in L2. */
TEST(test_nested, setup, teardown)
{
	struct world *w = *state;
	struct exits_thread *record = begin(w, 0, false);

	happened(record, CELL_MSR, 3, 30);
	take_sample(w, 2 * SECOND);
	assert_int_equal(count_of(w, "time(L2)"), UINT64_MAX);
	exits_for_msr(record, 3 * SECOND - 10);
	goes_to_twin(record);
	record->at.sums.nested = 5000;
	take_sample(w, 3 * SECOND);
	assert_int_equal(count_of(w, "vmexit(MSR_WRITE)"), 3);
	assert_int_equal(count_of(w, "vmexit(MSR_WRITE L2)"), 1);
	assert_int_equal(count_of(w, "vmexit"), 4);
	assert_int_equal(count_of(w, "time(L2)"), 5000);
}

/* Until it is known whether an exit is of L2, it is in no count: none goes back. */
TEST(test_nested_never_back, setup, teardown)
{
	struct world *w = *state;
	struct exits_thread *record = begin(w, 0, false);

	exits_for_msr(record, SECOND);
	goes_to_twin(record);
	take_sample(w, 2 * SECOND);
	assert_int_equal(count_of(w, "vmexit(MSR_WRITE)"), 0);
	exits_for_msr(record, 2 * SECOND);
	take_sample(w, 3 * SECOND);
	assert_int_equal(count_of(w, "vmexit(MSR_WRITE)"), 0);
	goes_to_twin(record);
	take_sample(w, 4 * SECOND);
	assert_int_equal(count_of(w, "vmexit(MSR_WRITE)"), 0);
	assert_int_equal(count_of(w, "vmexit(MSR_WRITE L2)"), 2);
	exits_for_msr(record, 4 * SECOND);
	record->at.user_since = 4 * SECOND + 10; /* it went on: it is L1's */
	take_sample(w, 5 * SECOND);
	assert_int_equal(count_of(w, "vmexit(MSR_WRITE)"), 1);
	record_reason(record, CELL_MSR)->cell.count--; /* read while an exit goes to its twin */
	take_sample(w, 6 * SECOND);
	assert_int_equal(count_of(w, "vmexit(MSR_WRITE)"), 1);
}

/* A thread that ends within an exit: that exit is counted. */
TEST(test_nested_thread_ends, setup, teardown)
{
	struct world *w = *state;
	uint32_t guest = parent_is_guest(w);
	struct exits_thread *record = begin_parent(w, 0);

	exits_for_msr(record, SECOND);
	goes_to_twin(record);
	exits_for_msr(record, 2 * SECOND);
	take_sample(w, 3 * SECOND);
	assert_int_equal(row_of(w, guest, 0, "vmexit(MSR_WRITE)")->count, 0);
	dies(record);
	parent_is_none(w, 9 * SECOND);
	assert_int_equal(take_sample(w, 9 * SECOND), 1);
	assert_int_equal(row_of(w, guest, 0, "vmexit(MSR_WRITE)")->count, 1);
}

TEST(test_names, setup, teardown)
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
TEST(test_thread_is_replaced, setup, teardown)
{
	struct world *w = *state;
	struct exits_thread *old = begin(w, 0, false), *new;

	happened(old, CELL_MSR, 10, 100);
	take_sample(w, 2 * SECOND);
	assert_int_equal(count_of(w, "vmexit(MSR_WRITE)"), 10);
	happened(old, CELL_MSR, 5, 50);
	happened(old, CELL_HLT, 1, 70);
	record_reason(old, CELL_HLT)->parts.polled_ns = 40;
	dies(old);
	guests_add_fake(w->guests, 77777777, "other", 0); /* the inventory changed */
	assert_int_equal(take_sample(w, 3 * SECOND), 1);
	assert_int_equal(count_of(w, "vmexit(MSR_WRITE)"), 15);
	new = begin(w, 0, false);
	happened(new, CELL_MSR, 2, 20);
	happened(new, CELL_HLT, 1, 7);
	record_reason(new, CELL_HLT)->parts.polled_ns = 5;
	take_sample(w, 4 * SECOND);
	assert_int_equal(count_of(w, "vmexit(MSR_WRITE)"), 17);
	assert_int_equal(count_of(w, "vmexit(HLT)"), 2);
	assert_int_equal(count_of(w, "vmexit"), 19);
	assert_int_equal(count_of(w, "time(poll)"), 45);
}

/* Its last exits are the guest's; then the rows end. */
TEST(test_guest_ends, setup, teardown)
{
	struct world *w = *state;
	uint32_t guest = parent_is_guest(w);
	struct exits_thread *record = begin_parent(w, 0);

	happened(record, CELL_MSR, 10, 100);
	take_sample(w, 2 * SECOND);
	assert_int_equal(row_of(w, guest, 0, "vmexit(MSR_WRITE)")->count, 10);
	happened(record, CELL_MSR, 5, 50);
	dies(record);
	parent_is_none(w, 3 * SECOND);
	assert_int_equal(take_sample(w, 3 * SECOND), 1);
	assert_int_equal(row_of(w, guest, 0, "vmexit(MSR_WRITE)")->count, 15);
	assert_int_equal(count_of_all(w, "vmexit(MSR_WRITE)"), 15);
	take_sample(w, 4 * SECOND);
	assert_int_equal(count_of_all(w, "vmexit(MSR_WRITE)"), 0);
}

/* What a process does that lives on without its VM is the ended guest's, too. */
TEST(test_thread_survives_its_guest, setup, teardown)
{
	struct world *w = *state;
	uint32_t guest = parent_is_guest(w);
	struct exits_thread *record = begin_parent(w, 0);

	happened(record, CELL_MSR, 10, 100);
	take_sample(w, 2 * SECOND);
	parent_is_none(w, 3 * SECOND);
	happened(record, CELL_MSR, 5, 50);
	assert_int_equal(take_sample(w, 3 * SECOND), 0);
	happened(record, CELL_MSR, 2, 20);
	take_sample(w, 4 * SECOND);
	assert_int_equal(row_of(w, guest, 0, "vmexit(MSR_WRITE)")->count, 17);
	assert_int_equal(count_of_all(w, "vmexit(MSR_WRITE)"), 17);
}

/* An exit that was open when its thread ended is counted and has no time. */
TEST(test_exit_that_never_ends, setup, teardown)
{
	struct world *w = *state;
	uint32_t guest = parent_is_guest(w);
	struct exits_thread *record = begin_parent(w, 0);

	happened(record, CELL_MSR, 10, SECOND / 4);
	take_sample(w, 2 * SECOND);
	happened(record, CELL_HLT, 1, 0);
	happened(record, CELL_USER_HLT, 1, 0);
	record->at.cell = CELL_HLT;
	record->at.begun = 2 * SECOND;
	record->at.user_cell = CELL_USER_HLT;
	record->at.user_since = 2 * SECOND + 5;
	dies(record);
	parent_is_none(w, 9 * SECOND);
	assert_int_equal(take_sample(w, 9 * SECOND), 1);
	assert_int_equal(row_of(w, guest, 0, "vmexit(HLT)")->count, 1);
	assert_int_equal(timing_of(w, row_of(w, guest, 0, "vmexit(HLT)"))->time_ns, 0);
	assert_int_equal(row_of(w, guest, 0, "time")->count, SECOND);
	assert_int_equal(row_of(w, guest, 0, "time(idle)")->count, 0);
	assert_int_equal(row_of(w, guest, 0, "time(user)")->count, 0);
	assert_int_equal(row_of(w, guest, 0, "time(kvm)")->count, SECOND / 4);
}

/* What stats have counted of an exit that never ended stays: the provider has none of it. */
TEST(test_open_when_the_thread_ends, setup, teardown)
{
	struct world *w = *state;
	uint32_t guest = parent_is_guest(w);
	struct exits_thread *record = begin_parent(w, 0);
	const struct timing *timing;

	happened(record, CELL_MSR, 1, 0);
	record->at.cell = CELL_MSR;
	record->at.begun = 2 * SECOND;
	take_sample(w, 3 * SECOND);
	assert_int_equal(timing_of(w, row_of(w, guest, 0, "vmexit(MSR_WRITE)"))->open_ns, SECOND);
	dies(record);
	parent_is_none(w, 4 * SECOND);
	assert_int_equal(take_sample(w, 4 * SECOND), 1);
	timing = timing_of(w, row_of(w, guest, 0, "vmexit(MSR_WRITE)"));
	assert_int_equal(timing->time_ns, 0);
	assert_int_equal(timing->open_ns, 0);
	assert_int_equal(row_of(w, guest, 0, "time")->count, 2 * SECOND);
	assert_int_equal(row_of(w, guest, 0, "time(kvm)")->count, SECOND);
}

/* The argument of an open exit has the exit's time: the parts of an exit add up while it lasts. */
TEST(test_argument_of_an_open_exit, setup, teardown)
{
	struct world *w = *state;
	struct exits_thread *record = begin(w, 0, false);
	const struct exits_argument_key key = { .a = 0x6e0, .b = 1, .kind = EXITS_MSR,
						.cell = CELL_MSR };
	const char *name = "msr(MSR_WRITE 0x6e0 IA32_TSC_DEADLINE write)";

	happened(record, CELL_MSR, 1, 0);
	record->at.cell = CELL_MSR;
	record->at.begun = 2 * SECOND;
	record->argument = key;
	record->has_argument = 1;
	w->arguments[0] = (struct counted){ .key = key, .cell.count = 1 };
	take_sample(w, 3 * SECOND);
	assert_int_equal(time_of(w, name), SECOND);
	assert_int_equal(open_of(w, name), SECOND);
	assert_int_equal(open_of(w, "msr"), SECOND);
	take_sample(w, 4 * SECOND);
	assert_int_equal(time_of(w, name), 2 * SECOND);
	/* The exit has ended, and its time is not yet with the argument. */
	record->at.begun = 0;
	record->has_argument = 0;
	happened(record, CELL_MSR, 0, 5 * SECOND / 2);
	take_sample(w, 9 * SECOND / 2);
	assert_int_equal(time_of(w, name), 5 * SECOND / 2);
	w->arguments[0].cell.time_ns = 5 * SECOND / 2;
	take_sample(w, 5 * SECOND);
	assert_int_equal(time_of(w, name), 5 * SECOND / 2);
	assert_int_equal(open_of(w, name), 0);
}

/* A read has begun: its time is the read's, which will have it. */
TEST(test_a_read_that_is_open, setup, teardown)
{
	struct world *w = *state;
	struct exits_thread *record = begin(w, 0, false);
	struct exits_argument_key key = { .a = 0xfee000b0, .b = 4, .c = 1, .kind = EXITS_MMIO,
					  .cell = CELL_ODD };
	const char *name = "mmio(0x1234 0xfee000b0 read 4)";

	happened(record, CELL_ODD, 2, 100);
	w->arguments[0] = (struct counted){ .key = key, .cell = { .count = 1, .time_ns = 100 } };
	record->at.cell = CELL_ODD;
	record->at.begun = 2 * SECOND;
	key.c = 0;
	record->argument = key;
	record->has_argument = 1;
	take_sample(w, 3 * SECOND);
	assert_int_equal(time_of(w, name), SECOND + 100);
	key.c = 1; /* it has its value */
	record->argument = key;
	w->arguments[0].cell.count++;
	take_sample(w, 4 * SECOND);
	assert_int_equal(time_of(w, name), 2 * SECOND + 100);
	record->at.begun = 0;
	record->has_argument = 0;
	w->arguments[0].cell.time_ns += 2 * SECOND;
	take_sample(w, 5 * SECOND);
	assert_int_equal(time_of(w, name), 2 * SECOND + 100);
}

/* A sample takes a while: threads that begin meanwhile have time, too. */
TEST(test_thread_begins_during_the_sample, setup, teardown)
{
	struct world *w = *state;
	uint32_t guest = parent_is_guest(w);
	struct exits_thread *brief = begin_parent(w, 0), *other = begin(w, 1, false);

	happened(brief, CELL_MSR, 10, SECOND);
	brief->vcpu = 0;
	brief->first_ns = 5 * SECOND;
	brief->at.begun = 7 * SECOND;
	dies(brief);
	happened(other, CELL_MSR, 10, SECOND);
	other->first_ns = 5 * SECOND;
	assert_int_equal(take_sample(w, 8 * SECOND), 1);
	assert_int_equal(row_of(w, guest, 0, "time")->count, 2 * SECOND);
	assert_int_equal(count_of(w, "time"), 3 * SECOND);
}

/* A guest that is found late: what its thread did before stays where it was shown. */
TEST(test_owner_is_known_late, setup, teardown)
{
	struct world *w = *state;
	struct exits_thread *late = begin_parent(w, 0), *other = begin(w, 1, false);
	const struct timing *timing;
	uint32_t guest;

	other->tid = other->tgid = 1;
	happened(late, CELL_MSR, 5, 5000);
	record_reason(late, CELL_MSR)->cell.max_ns = 4000;
	record_reason(late, CELL_MSR)->cell.hist[5] = 5;
	happened(late, CELL_HLT, 1, 100);
	happened(other, CELL_MSR, 100000, 0);
	take_sample(w, 2 * SECOND);
	assert_int_equal(row_of(w, GUEST_NONE, -1, "vmexit(MSR_WRITE)")->count, 100005);
	guest = parent_is_guest(w);
	take_sample(w, 3 * SECOND);
	assert_int_equal(row_of(w, GUEST_NONE, -1, "vmexit(MSR_WRITE)")->count, 100005);
	happened(late, CELL_MSR, 3, 600);
	record_reason(late, CELL_MSR)->cell.hist[1] = 3;
	take_sample(w, 4 * SECOND);
	assert_int_equal(row_of(w, GUEST_NONE, -1, "vmexit(MSR_WRITE)")->count, 100005);
	assert_int_equal(row_of(w, guest, 0, "vmexit(MSR_WRITE)")->count, 3);
	assert_null(row_of(w, guest, 0, "vmexit(HLT)"));
	assert_int_equal(row_of(w, guest, 0, "time")->count, SECOND);
	timing = timing_of(w, row_of(w, guest, 0, "vmexit(MSR_WRITE)"));
	assert_int_equal(timing->time_ns, 600);
	assert_int_equal(timing->max_ns, 256); /* what its bucket says: 4000 was before */
	assert_int_equal(timing->hist[1], 3);
	assert_int_equal(timing->hist[5], 0);
	record_reason(late, CELL_MSR)->cell.max_ns = 5000;
	take_sample(w, 5 * SECOND);
	timing = timing_of(w, row_of(w, guest, 0, "vmexit(MSR_WRITE)"));
	assert_int_equal(timing->max_ns, 5000);
}

/* The same for a vCPU's number, while an exit is open: each has the time of its own. */
TEST(test_index_is_known_late, setup, teardown)
{
	struct world *w = *state;
	struct exits_thread *record = begin_parent(w, 0);
	uint32_t guest = guests_add_fake(w->guests, getppid(), "late", 0);

	happened(record, CELL_HLT, 1, 0);
	record->at.cell = CELL_HLT;
	record->at.begun = SECOND;
	take_sample(w, 2 * SECOND);
	assert_int_equal(row_of(w, guest, -1, "vmexit(HLT)")->count, 1);
	record->vcpu = 7;
	guests_add_fake(w->guests, 77777777, "other", 0); /* the inventory changed */
	take_sample(w, 3 * SECOND);
	take_sample(w, 5 * SECOND);
	assert_int_equal(count_of_all(w, "vmexit(HLT)"), 1);
	assert_int_equal(timing_of(w, row_of(w, guest, 7, "vmexit(HLT)"))->time_ns, 2 * SECOND);
	assert_int_equal(timing_of(w, row_of(w, guest, 7, "vmexit(HLT)"))->open_ns, 2 * SECOND);
	record->at.begun = 0;
	happened(record, CELL_HLT, 0, 4 * SECOND + 5);
	take_sample(w, 6 * SECOND);
	assert_int_equal(timing_of(w, row_of(w, guest, 7, "vmexit(HLT)"))->time_ns, 2 * SECOND + 5);
	assert_int_equal(timing_of(w, row_of(w, guest, 7, "vmexit(HLT)"))->open_ns, 0);
	assert_int_equal(timing_of(w, row_of(w, guest, -1, "vmexit(HLT)"))->time_ns, 2 * SECOND);
}

/* Two threads of a process that lived between two samples: the inventory never had it. */
TEST(test_unknown_guest_ends, setup, teardown)
{
	struct world *w = *state;
	const struct guest *guest;

	for (uint32_t i = 0; i < 2; i++) {
		struct exits_thread *record = begin(w, i, true);

		record->tgid = DEAD_TID - 1;
		record->tid -= 2 + i;
		record->first_ns += i;
		snprintf(record->comm, sizeof(record->comm), "CPU %u/KVM", 1 - i);
		happened(record, CELL_MSR, 7 + i, 100);
	}
	assert_int_equal(take_sample(w, 2 * SECOND), 2);
	guest = guests_ended_at(w->guests, 0);
	assert_non_null(guest);
	assert_null(guests_ended_at(w->guests, 1));
	assert_string_equal(guest->name, "qemu");
	assert_int_equal(guest->pid, DEAD_TID - 1);
	assert_int_equal(guest->nr_vcpus, 2);
	assert_int_equal(guest_vcpu(guest, 1)->tid, DEAD_TID - 2);
	assert_int_equal(row_of(w, guest->id, 1, "vmexit(MSR_WRITE)")->count, 7);
	assert_int_equal(row_of(w, guest->id, 0, "vmexit(MSR_WRITE)")->count, 8);
	assert_int_equal(count_of_all(w, "vmexit(MSR_WRITE)"), 15);
}

/* A thread that raises an interrupt, and runs its vCPU only then, is looked for again. */
TEST(test_interrupt_before_the_first_exit, setup, teardown)
{
	const struct exits_argument_key line = { .a = 5, .b = 1, .kind = EXITS_INTERRUPT,
						 .cell = EXITS_NO_CELL };
	struct world *w = *state;
	struct exits_thread *record = begin_parent(w, 0), *brief = begin(w, 1, true);
	const struct guest *guest;

	record->vcpu = brief->vcpu = EXITS_NOT_VCPU;
	brief->tgid = DEAD_TID - 1;
	snprintf(brief->comm, sizeof(brief->comm), "CPU 0/KVM");
	happened(brief, CELL_MSR, 7, 100);
	happened_with(w, record, line, 3);
	assert_int_equal(take_sample(w, 2 * SECOND), 1);
	guest = guests_ended_at(w->guests, 0);
	assert_non_null(guest);
	assert_int_equal(row_of(w, guest->id, 0, "vmexit(MSR_WRITE)")->count, 7);
	assert_int_equal(row_of(w, GUEST_NONE, -1, "interrupt(IRQ line 5 raised)")->count, 3);
	parent_holds_vm(w);
	happened(record, CELL_MSR, 5, 50);
	take_sample(w, 3 * SECOND);
	happened(record, CELL_MSR, 2, 20);
	happened_with(w, record, line, 1);
	take_sample(w, 4 * SECOND);
	guest = guests_by_pid(w->guests, getppid());
	assert_non_null(guest);
	assert_int_equal(row_of(w, guest->id, 0, "vmexit(MSR_WRITE)")->count, 2);
	assert_int_equal(row_of(w, guest->id, -1, "interrupt(IRQ line 5 raised)")->count, 1);
	assert_int_equal(count_of_all(w, "vmexit(MSR_WRITE)"), 7);
}

TEST(test_arguments, setup, teardown)
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
		{ .a = FAULT_WRITE | FAULT_PROTECTED, .b = 1, .kind = EXITS_FAULT,
		  .cell = CELL_ODD },
		{ .a = FAULT_EXEC | FAULT_PRIVATE, .b = 7, .kind = EXITS_FAULT,
		  .cell = EXITS_NO_CELL },
		{ .a = 0xfe003000, .c = MMIO_WRITE, .kind = EXITS_MMIO, .cell = EXITS_NO_CELL },
		{ .a = 0xfe003004, .b = WRITE_TO_QUEUE(1), .c = MMIO_WRITE, .kind = EXITS_MMIO,
		  .cell = EXITS_NO_CELL },
		{ .a = 0x3f8, .b = 2 | WRITE_TO_QUEUE(0xfffe), .c = 1, .kind = EXITS_IOPORT,
		  .cell = EXITS_NO_CELL },
	};
	const char *const names[] = {
		"msr(MSR_WRITE 0x6e0 IA32_TSC_DEADLINE write)", "ioport(IO 0x3f8 write 1 COM1)",
		"cpuid(CPUID 0x40000001 paravirtual features)", "mmio(0x1234 0xfee000b0 write 4)",
		"hypercall(HYPERCALL 5 KVM_HC_KICK_CPU)",
		"sysreg(SYSREG S3_0_C12_C11_5 ICC_SGI1R_EL1 write)",
		"fault(0x1234 write-protected 4K)", "fault(FAULT exec private)",
		"mmio(MMIO 0xfe003000 write)", "mmio(MMIO 0xfe003004 write queue 1)",
		"ioport(IO 0x3f8 write 2 queue 65534 COM1)",
	};
	const struct exits_cell cell = { .count = 3, .time_ns = 30 };
	const struct field *field;

	happened(record, CELL_MSR, 1, 1);
	take_sample(w, 2 * SECOND);
	sample_reset(&w->sample);
	clock_ns = 3 * SECOND;
	exits_threads_begin(w->threads);
	assert_int_equal(exits_threads_take(w->threads, record), 0);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		exits_threads_argument(w->threads, &keys[i], &cell, false);
	exits_threads_end(w->threads, &w->sample, 0);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		assert_int_equal(count_of(w, names[i]), 3);
	assert_int_equal(count_of(w, "msr"), 3);
	field = fields_get(w->fields, fields_find(w->fields, names[0]));
	assert_string_equal(field->label, "0x6e0 IA32_TSC_DEADLINE write");
	assert_int_equal(field->reason, fields_find(w->fields, "vmexit(MSR_WRITE)"));
	field = fields_get(w->fields, fields_find(w->fields, names[1]));
	assert_int_equal(field->reason, FIELD_NONE);
	/* They are not counted any more: all else goes on. */
	exits_threads_forget_arguments(w->threads);
	take_sample(w, 4 * SECOND);
	assert_int_equal(count_of(w, names[0]), UINT64_MAX);
	assert_int_equal(count_of(w, "msr"), UINT64_MAX);
	assert_int_equal(count_of(w, "vmexit(MSR_WRITE)"), 1);
}

/* They are the guest's, whatever thread raises them, and have no times. */
TEST(test_interrupts, setup, teardown)
{
	static const struct {
		struct exits_argument_key key;
		const char *name;
	} list[] = {
		{ { .a = 5, .b = 1 }, "interrupt(IRQ line 5 raised)" },
		{ { .a = 5 }, "interrupt(IRQ line 5 lowered)" },
		{ { .a = 9, .b = 1, .c = 1 }, "interrupt(IRQ line 9 raised irqfd)" },
		{ { .a = 0, .b = 1, .c = 2 }, "interrupt(IRQ line 0 raised PIT)" },
		{ { .a = 0xfee01000, .b = 0x4021 }, "interrupt(IRQ MSI 0xfee01000 data 0x4021)" },
	};
	struct world *w = *state;
	struct exits_thread *vcpu = begin(w, 0, false), *pit = begin(w, 1, false);
	struct exits_argument_key key;

	pit->tgid = 1; /* it is of the kernel */
	pit->vcpu = EXITS_NOT_VCPU;
	snprintf(pit->comm, sizeof(pit->comm), "kvm-pit/%d", (int)getpid());
	happened(vcpu, CELL_MSR, 1, 1);
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		memset(w->arguments, 0, sizeof(w->arguments));
		key = list[i].key;
		key.kind = EXITS_INTERRUPT;
		key.cell = EXITS_NO_CELL;
		happened_with(w, vcpu, key, 10);
		happened_with(w, pit, key, 3);
		take_sample(w, (i + 2) * SECOND);
		assert_int_equal(row_of(w, w->guest, -1, list[i].name)->count, 13);
		assert_int_equal(row_of(w, w->guest, -1, list[i].name)->timing, 0);
	}
	assert_null(row_of(w, w->guest, 0, "interrupt"));
	assert_null(row_of(w, w->guest, -1, "cpu"));
	assert_int_equal(row_of(w, w->guest, 0, "vmexit(MSR_WRITE)")->count, 1);
}

static const struct exits_argument_key com1 = { .a = 0x3f8, .b = 1, .c = 1, .kind = EXITS_IOPORT,
						.cell = EXITS_NO_CELL };
#define COM1 "ioport(IO 0x3f8 write 1 COM1)"

/* Two VMs of one process, each with a vCPU 0: one row, and the ended one's part stays in it. */
TEST(test_arguments_of_two_threads, setup, teardown)
{
	struct world *w = *state;
	struct exits_thread *records[2] = { begin(w, 0, false), begin(w, 1, false) };

	records[1]->tid = (uint32_t)getpid() + 1; /* vCPU 1 by the inventory, if it lived */
	for (int i = 0; i < 2; i++) {
		happened(records[i], CELL_MSR, 1, 1);
		happened_with(w, records[i], com1, 100);
	}
	records[1]->tid = DEAD_TID;
	records[1]->vcpu = 0;
	assert_int_equal(take_sample(w, 2 * SECOND), 1);
	assert_int_equal(count_of(w, COM1), 200);
	assert_int_equal(count_of(w, "ioport"), 200);
	happened_with(w, records[0], com1, 1);
	take_sample(w, 3 * SECOND);
	assert_int_equal(count_of(w, COM1), 201);
	assert_int_equal(time_of(w, COM1), 2010);
	assert_int_equal(count_of(w, "ioport"), 201);
}

TEST(test_arguments_of_a_late_owner, setup, teardown)
{
	struct world *w = *state;
	struct exits_thread *record = begin_parent(w, 0);
	uint32_t guest;

	happened(record, CELL_MSR, 1, 1);
	happened_with(w, record, com1, 10);
	take_sample(w, 2 * SECOND);
	assert_int_equal(row_of(w, GUEST_NONE, -1, COM1)->count, 10);
	guest = parent_is_guest(w);
	take_sample(w, 3 * SECOND);
	happened_with(w, record, com1, 5);
	take_sample(w, 4 * SECOND);
	assert_int_equal(row_of(w, GUEST_NONE, -1, COM1)->count, 10);
	assert_int_equal(row_of(w, guest, 0, COM1)->count, 5);
	assert_int_equal(row_of(w, guest, 0, "ioport")->count, 5);
}

/* What was counted in an epoch that is over stays, and the next one begins at 0. */
TEST(test_epochs, setup, teardown)
{
	struct world *w = *state;
	struct exits_thread *record = begin(w, 0, false);

	happened(record, CELL_IO, 10, 100);
	happened_with(w, record, com1, 10);
	take_sample(w, 2 * SECOND);
	happened_with(w, record, com1, 5);
	w->is_over = true;
	take_sample(w, 3 * SECOND);
	assert_int_equal(count_of(w, COM1), 15);
	memset(w->arguments, 0, sizeof(w->arguments));
	take_sample(w, 4 * SECOND);
	assert_int_equal(count_of(w, COM1), 15);
	w->is_over = false;
	happened_with(w, record, com1, 1);
	take_sample(w, 5 * SECOND);
	assert_int_equal(count_of(w, COM1), 16);
	assert_int_equal(count_of(w, "ioport"), 16);
}

/* A guest that asks for ever more leaves gets a bounded number of rows, and names. */
TEST(test_greedy_guest, setup, teardown)
{
	struct world *w = *state;
	struct exits_thread *record = begin(w, 0, false);
	uint64_t nr = 0;

	happened(record, CELL_MSR, 1, 1);
	w->is_over = true;
	for (uint64_t second = 2; second < 60; second++) {
		sample_reset(&w->sample);
		clock_ns = second * SECOND;
		exits_threads_begin(w->threads);
		assert_int_equal(exits_threads_take(w->threads, record), 0);
		for (uint32_t i = 0; i < EXITS_ARGUMENTS; i++) {
			const struct exits_argument_key key = { .a = nr++, .kind = EXITS_CPUID,
								.cell = EXITS_NO_CELL };
			const struct exits_cell cell = { .count = 1 };

			exits_threads_argument(w->threads, &key, &cell, true);
		}
		exits_threads_end(w->threads, &w->sample, ROW_FROM_ZERO);
		assert_int_equal(count_of(w, "cpuid"), nr); /* the parent has all of them */
		assert_true(w->sample.nr_rows < 5 * EXITS_ARGUMENTS);
	}
	assert_true(fields_count(w->fields) < 1500);
	assert_int_not_equal(count_of(w, "cpuid(CPUID other)"), UINT64_MAX);
}

/* There is room for more threads from now on; the others go on. */
TEST(test_more_records, setup, teardown)
{
	struct world *w = *state;
	struct exits_thread *record = begin(w, 0, false);
	struct exits_thread more = { .tid = (uint32_t)getpid(), .tgid = (uint32_t)getpid(),
				     .vcpu = EXITS_NO_VCPU, .number = 1000, .first_ns = SECOND };

	happened(record, CELL_MSR, 10, 100);
	take_sample(w, 2 * SECOND);
	exits_threads_grow(w->threads, 1001);
	sample_reset(&w->sample);
	clock_ns = 3 * SECOND;
	exits_threads_begin(w->threads);
	happened(&more, CELL_MSR, 1, 1);
	assert_int_equal(exits_threads_take(w->threads, record), 0);
	assert_int_equal(exits_threads_take(w->threads, &more), 0);
	exits_threads_end(w->threads, &w->sample, ROW_FROM_ZERO);
	assert_int_equal(count_of(w, "vmexit(MSR_WRITE)"), 11);
	assert_int_equal(time_of(w, "vmexit(MSR_WRITE)"), 101);
}

/* ---- long exits */

/* Codes of SVM: an exit that only protected guests have, a halt, a port. */
static const struct exits_code svm_codes[EXITS_CELLS] = {
	[1] = { 0x403, EXITS_VMEXIT, 1, 0 },
	[2] = { 0x78, EXITS_VMEXIT, 1, 0 },
	[70] = { 0x7b, EXITS_VMEXIT, 1, 0 },
	[71] = { 2, EXITS_USERSPACE, 1, 0 },
};

TEST(test_long_cells, setup, teardown)
{
	struct world *w = *state;
	struct exits_thread *record = begin(w, 0, false);
	struct exits_long_cells cells;
	struct exits_names *names;
	struct provider_args args = { .env = &w->env, .guests = w->guests, .fields = w->fields,
					      .source = 2 };

	names = exits_names_new(&args, &arch_by_name("SVM")->splits[0],
				EXIT_FIELDS_PARTS);
	exits_long_look(&cells, names, svm_codes, false);
	for (unsigned int i = 0; i < EXITS_CELLS; i++)
		assert_int_equal(cells.is_left_out[i], i == 2);
	happened(record, 70, 1, 0);
	assert_false(exits_long_is_protected(&cells, record));
	happened(record, 1, 1, 0);
	assert_true(exits_long_is_protected(&cells, record));
	exits_long_look(&cells, names, svm_codes, true);
	assert_false(cells.is_left_out[2]);
	exits_names_free(names);
}

TEST(test_long_exits, setup, teardown)
{
	struct world *w = *state;
	const struct exits_thread *record = begin(w, 1, false);
	struct exits_long_cells cells;
	const struct exits_long_output output = {
		.cells = &cells, .threads = w->threads, .names = w->names, .codes = codes,
		.epoch_ns = 50 * SECOND, .long_exits = &w->sample.long_exits,
	};
	struct exits_long report = { .end_ns = 2 * SECOND, .took_ns = SECOND, .user_ns = 2 * SECOND,
				     .waited_ns = 2 * SECOND,
				     .pc = 0xfff0, .thread = 1, .cpu = 5, .cell = CELL_MSR };
	const struct long_exit *exit;

	exits_long_look(&cells, w->names, codes, false);
	clock_ns = 3 * SECOND;
	exits_threads_begin(w->threads);
	/* The owner of a thread is found even before its record was taken. */
	exits_long_add(&output, &report, record, false);
	exit = long_exits_at(&w->sample.long_exits, 0);
	assert_int_equal(exit->end_ns, 52 * SECOND);
	assert_int_equal(exit->took_ns, SECOND);
	assert_int_equal(exit->user_ns, SECOND); /* never more than all */
	assert_int_equal(exit->waited_ns, 2 * SECOND); /* beside what it took */
	assert_true(exit->knows_wait);
	assert_int_equal(exit->pc, 0xfff0);
	assert_int_equal(exit->cpu, 5);
	assert_int_equal(exit->guest, w->guest);
	assert_int_equal(exit->vcpu, 0);
	assert_int_equal(exit->reason, fields_find(w->fields, "vmexit(MSR_WRITE)"));
	assert_int_equal(exit->argument, FIELD_NONE);
	report.has_argument = 1;
	report.argument = (struct exits_argument_key){ .a = 0x6e0, .kind = EXITS_MSR,
						       .cell = CELL_MSR };
	exits_long_add(&output, &report, record, true);
	exit = long_exits_at(&w->sample.long_exits, 1);
	assert_int_equal(exit->pc, 0); /* of a protected guest */
	assert_string_equal(fields_get(w->fields, exit->argument)->label,
			    "0x6e0 IA32_TSC_DEADLINE read");
	/* A halt that was reported before the program knew that it is one. */
	report.cell = CELL_HLT;
	exits_long_add(&output, &report, record, false);
	assert_int_equal(w->sample.long_exits.nr, 2);
	exits_threads_end(w->threads, &w->sample, 0);
}

/* A thread of a process that the inventory does not know as a guest. */
TEST(test_unknown_thread, setup, teardown)
{
	struct world *w = *state;
	struct exits_thread *record = begin(w, 0, false);

	record->tid = 1;
	record->tgid = 1;
	happened(record, CELL_MSR, 4, 0);
	take_sample(w, 2 * SECOND);
	assert_int_equal(row_of(w, GUEST_NONE, -1, "vmexit(MSR_WRITE)")->count, 4);
}

/* What is not known is no reason to refuse. */
TEST(test_jit)
{
	char root[] = "/tmp/kvmtop-jit-XXXXXX", path[128];
	struct env env = { .root = root };
	FILE *file;

	assert_non_null(mkdtemp(root));
	assert_true(bpf_has_jit(&env));
	snprintf(path, sizeof(path), "mkdir -p %s/proc/sys/net/core", root);
	assert_int_equal(system(path), 0);
	snprintf(path, sizeof(path), "%s/proc/sys/net/core/bpf_jit_enable", root);
	for (int value = 0; value <= 2; value++) {
		file = fopen(path, "w");
		fprintf(file, "%d\n", value);
		fclose(file);
		assert_int_equal(bpf_has_jit(&env), value != 0);
	}
	snprintf(path, sizeof(path), "rm -r %s", root);
	assert_int_equal(system(path), 0);
}
