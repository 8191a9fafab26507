// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The BPF program of the provider "exits", run here as plain C: what its records say after a row of
 * events. Its helpers and maps are made of a few arrays.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* In place of libbpf's bpf_helpers.h, and of the placeholders that only BPF has. */
#define __BPF_HELPERS__
#define KVMTOP_PROVIDERS_BPF_PLACEHOLDERS_H
#define SEC(name)
#define __uint(name, value) int (*name)[value] /* NOLINT(bugprone-macro-parentheses): a name */
#define __array(name, ...) __VA_ARGS__ *name
#define __type(name, value) value *name /* NOLINT(bugprone-macro-parentheses): a type */
#define __noinline __attribute__((noinline))
#define barrier() __asm__ volatile("" ::: "memory")

enum {
	FIELD_REASON,
	FIELD_TYPE,
	FIELD_VCPU,
	FIELD_A,
	FIELD_B,
	FIELD_C,
	FIELD_PC,
	FIELD_ISA,
	FIELDS
};
#define LOAD(ctx, field) (((const uint64_t *)(ctx))[field])
#define NUMBER(placeholder) numbers[(placeholder) - RAW_FIRST]
#define CAST(address, type) ((void)(type), (const void *)(uintptr_t)(address))

static void *bpf_map_lookup_elem(void *map, const void *key);
static long bpf_map_update_elem(void *map, const void *key, const void *value, uint64_t flags);
static long bpf_map_pop_elem(void *map, void *value);
static long bpf_map_delete_elem(void *map, const void *key);
static void *bpf_task_storage_get(void *map, void *task, void *value, uint64_t flags);
static void *bpf_get_current_task_btf(void);
static uint64_t bpf_get_current_task(void);
static uint64_t bpf_get_current_pid_tgid(void);
static long bpf_get_current_comm(void *name, uint32_t size);
static uint32_t bpf_get_smp_processor_id(void);
static uint64_t bpf_ktime_get_ns(void);
static long bpf_probe_read_kernel(void *to, uint32_t size, const void *from);
static void *bpf_ringbuf_reserve(void *map, uint64_t size, uint64_t flags);
static void bpf_ringbuf_submit(void *data, uint64_t flags);

int on_exit(void *ctx);
int on_exit_by_argument(void *ctx);
int on_exit_by_read(void *ctx);
int on_exit_by_load(void *ctx);
int on_entry(void *ctx);
int on_vcpu_entry(void *ctx);
int on_long_exit(void *ctx);
int on_long_exit_by_argument(void *ctx);
int on_long_exit_by_read(void *ctx);
int on_long_exit_by_load(void *ctx);
int on_long_entry(void *ctx);
int on_long_vcpu_entry(void *ctx);
int on_page_fault(void *ctx);
int on_userspace(void *ctx);
int on_ioport(void *ctx);
int on_mmio(void *ctx);
int on_msr(void *ctx);
int on_cpuid(void *ctx);
int on_hypercall(void *ctx);
int on_sysreg(void *ctx);
int on_nested_exit(void *ctx);
int on_nested_entry(void *ctx);

/* What is constant in the kernel is set by the tests. */
#include <linux/bpf.h>

#include "providers/exits/shared.h"

/* What the placeholders of numbers stand for. */
static uint64_t numbers[RAW_END - RAW_FIRST];

int on_run(struct bpf_raw_tracepoint_args *ctx);
int on_poll_limit(struct bpf_raw_tracepoint_args *ctx);
int on_wakeup(struct bpf_raw_tracepoint_args *ctx);

#define const
#include "providers/exits/exits.bpf.c" /* NOLINT(bugprone-suspicious-include): what is tested */
#undef const

#include "core/facts/shared_fields.h"
#include "providers/exits/record.h"
#include "tests/unit/unit.h"

#define RECORDS 4
#define MORE 2 /* records in the first chunk */
#define ARGUMENTS 128
#define TGID 100
#define HLT 12
#define IO 2

/* The machine that the program runs on. */
static struct {
	uint32_t tid, cpu;
	uint64_t now_ns;
	struct exits_thread records[RECORDS], more[MORE];
	uint64_t task[2]; /* the second is a pointer to its vCPU */
	uint64_t run_delay; /* of all tasks */
	uint32_t storage[RECORDS]; /* by tid: the number in the task's storage; 0: none */
	bool is_busy;		   /* the kernel does not look into a task's storage now */
	uint32_t free_threads[RECORDS], nr_free;
	uint32_t next_cell;
	struct exits_code_key keys[EXITS_CELLS]; /* of cells[], by its value */
	uint32_t values[EXITS_CELLS];
	struct exits_argument_key argument_keys[ARGUMENTS];
	struct exits_cell argument_cells[ARGUMENTS];
	uint32_t nr_arguments;
	struct exits_late late; /* the map has room for one */
	uint64_t late_thread;	/* whose it is; 0: it is free */
	struct exits_long reported[2]; /* the ring */
	uint32_t nr_reserved, nr_reported;
} m;

static struct exits_cell *find_argument(const struct exits_argument_key *key)
{
	for (uint32_t i = 0; i < m.nr_arguments; i++) {
		if (memcmp(&m.argument_keys[i], key, sizeof(*key)) == 0)
			return &m.argument_cells[i];
	}
	return NULL;
}

static void *bpf_map_lookup_elem(void *map, const void *key)
{
	uint32_t i = *(const uint32_t *)key;

	if (map == &threads)
		return i < RECORDS ? &m.records[i] : NULL;
	if (map == &more_threads)
		return i < 1 ? m.more : NULL;
	if (map == m.more)
		return i < MORE ? &m.more[i] : NULL;
	if (map == &arguments)
		return find_argument(key);
	if (map == &late_threads)
		return *(const uint64_t *)key == m.late_thread ? &m.late : NULL;
	for (i = 1; map == &cells && i < m.next_cell; i++) {
		if (memcmp(&m.keys[i], key, sizeof(m.keys[i])) == 0)
			return &m.values[i];
	}
	return NULL;
}

static long bpf_map_update_elem(void *map, const void *key, const void *value, uint64_t flags)
{
	(void)flags;
	if (map == &cells) {
		memcpy(&m.keys[*(const uint32_t *)value], key, sizeof(m.keys[0]));
		memcpy(&m.values[*(const uint32_t *)value], value, sizeof(m.values[0]));
	} else if (map == &arguments && m.nr_arguments < ARGUMENTS) {
		memcpy(&m.argument_keys[m.nr_arguments], key, sizeof(m.argument_keys[0]));
		memcpy(&m.argument_cells[m.nr_arguments++], value, sizeof(m.argument_cells[0]));
	} else if (map == &late_threads && !m.late_thread) {
		memcpy(&m.late_thread, key, sizeof(m.late_thread));
		memcpy(&m.late, value, sizeof(m.late));
	}
	return 0;
}

static long bpf_map_pop_elem(void *map, void *value)
{
	uint32_t *number = value;

	if (map == &free_cells) {
		*number = m.next_cell++;
		return 0;
	}
	if (!m.nr_free)
		return -1;
	*number = m.free_threads[--m.nr_free];
	return 0;
}

/* Only kernels without task storage need it. */
static long bpf_map_delete_elem(void *map, const void *key)
{
	(void)key;
	assert_ptr_equal(map, &by_tid);
	return 0;
}

/* Up to Linux 6.1: without BPF_LOCAL_STORAGE_GET_F_CREATE it gives up at once when busy. */
static void *bpf_task_storage_get(void *map, void *task, void *value, uint64_t flags)
{
	uint32_t *number = task;

	assert_ptr_equal(map, &by_task);
	if (m.is_busy && !flags)
		return NULL;
	if (!*number && !flags)
		return NULL;
	if (!*number)
		*number = *(const uint32_t *)value;
	return number;
}

static void *bpf_get_current_task_btf(void)
{
	return &m.storage[m.tid % RECORDS];
}

static uint64_t bpf_get_current_task(void)
{
	return (uintptr_t)m.task;
}

static uint64_t bpf_get_current_pid_tgid(void)
{
	return (uint64_t)TGID << 32 | m.tid;
}

static long bpf_get_current_comm(void *name, uint32_t size)
{
	return snprintf(name, size, "CPU %u/KVM", m.tid) < (int)size ? 0 : -1;
}

static uint32_t bpf_get_smp_processor_id(void)
{
	return m.cpu;
}

static uint64_t bpf_ktime_get_ns(void)
{
	return m.now_ns;
}

static long bpf_probe_read_kernel(void *to, uint32_t size, const void *from)
{
	memcpy(to, from, size);
	return 0;
}

static void *bpf_ringbuf_reserve(void *map, uint64_t size, uint64_t flags)
{
	assert_ptr_equal(map, &long_exits);
	assert_int_equal(size, sizeof(m.reported[0]));
	assert_int_equal(flags, 0);
	return m.nr_reserved < 2 ? &m.reported[m.nr_reserved++] : NULL;
}

static void bpf_ringbuf_submit(void *data, uint64_t flags)
{
	assert_ptr_equal(data, &m.reported[m.nr_reported++]);
	assert_int_equal(flags, BPF_RB_NO_WAKEUP); /* waking a reader costs the guest */
}

static int setup(void **state)
{
	(void)state;
	memset(&m, 0, sizeof(m));
	memset(guesses, 0xff, sizeof(guesses));
	memset(dense, 0, sizeof(dense));
	memset(twins, 0, sizeof(twins));
	memset(codes, 0, sizeof(codes));
	halts[0] = halts[1] = 0;
	halts_go_on = false;
	run_watch = 0;
	is_interrupting = false;
	memset(numbers, 0, sizeof(numbers));
	is_nesting = false;
	lost_exits = 0;
	nr_late = 0;
	lost_arguments = 0;
	lost_long_exits = 0;
	longer_ns = 400;
	run_delay_at = 0;
	memset(is_left_out, 0, sizeof(is_left_out));
	is_counting = true;
	has_exits = true;
	nr_first = RECORDS;
	m.next_cell = 1;
	m.tid = 1;
	for (uint32_t i = 0; i < RECORDS; i++)
		m.free_threads[m.nr_free++] = RECORDS - 1 - i;
	return 0;
}

static void exits_at(uint64_t now_ns, uint64_t reason)
{
	uint64_t event[FIELDS] = { [FIELD_REASON] = reason };

	m.now_ns = now_ns;
	assert_int_equal(on_exit(event), 1);
}

static void leaves_at(uint64_t now_ns, uint64_t reason, int error)
{
	uint64_t event[FIELDS] = { [FIELD_REASON] = reason, [FIELD_TYPE] = (uint32_t)error };

	m.now_ns = now_ns;
	assert_int_equal(on_userspace(event), 1);
}

static void writes_port(void)
{
	uint64_t event[FIELDS] = { [FIELD_A] = 0x3f8, [FIELD_B] = 1, [FIELD_C] = 1 };

	assert_int_equal(on_ioport(event), 1);
}

static void enters_at(uint64_t now_ns)
{
	m.now_ns = now_ns;
	on_entry(NULL);
}

static const struct exits_cell *cell_of(uint32_t record, uint64_t code, uint64_t kind)
{
	uint32_t cell = dense[kind][code] % EXITS_CELLS;

	assert_int_not_equal(cell, 0);
	return &m.records[record].cells[cell];
}

static void test_exit_and_entry(void **state)
{
	(void)state;
	exits_at(1000, HLT);
	leaves_at(1200, IO, 0);
	enters_at(1500);
	assert_int_equal(cell_of(0, HLT, EXITS_VMEXIT)->count, 1);
	assert_int_equal(cell_of(0, HLT, EXITS_VMEXIT)->time_ns, 500);
	assert_int_equal(cell_of(0, IO, EXITS_USERSPACE)->count, 1);
	assert_int_equal(cell_of(0, IO, EXITS_USERSPACE)->time_ns, 300);
	assert_int_equal(m.records[0].open_since, 0);
	assert_int_equal(m.records[0].user_since, 0);
}

/* A halt is kicked, begins again without an entry, and is kicked again: no time is dropped. */
static void test_two_exits_to_user_space(void **state)
{
	(void)state;
	exits_at(1000, HLT);
	leaves_at(1100, 0, -EINTR);
	leaves_at(1700, 0, -EINTR);
	assert_int_equal(cell_of(0, EXITS_RESTART, EXITS_USERSPACE)->count, 2);
	assert_int_equal(cell_of(0, EXITS_RESTART, EXITS_USERSPACE)->time_ns, 600);
	enters_at(2000);
	assert_int_equal(cell_of(0, EXITS_RESTART, EXITS_USERSPACE)->time_ns, 900);
	assert_int_equal(cell_of(0, HLT, EXITS_VMEXIT)->time_ns, 1000);
}

/* ---- halts in which KVM_RUN fails ---- */

static void calls_run_at(uint64_t now_ns)
{
	static uint64_t args[1] = { 1 };

	m.now_ns = now_ns;
	if (run_watch)
		on_run((struct bpf_raw_tracepoint_args *)args);
}

/* KVM_RUN ends: kvm_fpu(unload), kvm_userspace_exit. */
static void fails_at(uint64_t now_ns, int error)
{
	static uint64_t args[1] = { 0 };

	m.now_ns = now_ns;
	if (run_watch)
		on_run((struct bpf_raw_tracepoint_args *)args);
	leaves_at(now_ns, 0, error);
}

/* A vCPU whose halts are watched. It begins with an entry at 0, in the guest. */
static void begin_halts(bool are_watched)
{
	halts[0] = HLT;
	halts_go_on = true;
	run_watch = are_watched;
	exits_at(0, 1);
	enters_at(0);
	calls_run_at(0);
}

/* The parts of the first thread's time, which must be the whole. */
static void assert_parts(uint64_t now_ns, uint64_t guest, uint64_t kvm, uint64_t user,
			 uint64_t halt)
{
	static struct exits_record record;
	struct exits_before before = { .from_ns = 0 };
	uint64_t parts[TIME_PARTS];
	struct exits_time time = { 0 };

	exits_record_read(&record, &m.records[0]);
	exits_record_time(&record, &m.records[0], &before, now_ns);
	time.halt_user_ns = record.halt_user_ns;
	for (unsigned int i = exits_record_next(&record, 0); i < EXITS_CELLS;
	     i = exits_record_next(&record, i + 1)) {
		uint64_t ns = record.cells[i].time_ns + record.open_ns[i];

		time.ns[codes[i].kind] += ns;
		if (codes[i].kind == EXITS_VMEXIT && codes[i].code == HLT)
			time.idle_ns[EXITS_VMEXIT] += ns;
	}
	exit_fields_split(record.whole_ns, &time, parts);
	assert_int_equal(parts[TIME_WHOLE], now_ns);
	assert_int_equal(parts[TIME_GUEST], guest);
	assert_int_equal(parts[TIME_KVM], kvm);
	assert_int_equal(parts[TIME_USER], user);
	assert_int_equal(parts[TIME_HALT], halt);
}

/* An interrupt or a timer ends the halt; later user space works for 50 because of a port write. */
static void test_halt_ended_by_interrupt(void **state)
{
	(void)state;
	begin_halts(true);
	exits_at(100, HLT);
	assert_parts(150, 100, 0, 0, 50);
	enters_at(200);
	exits_at(210, IO);
	leaves_at(215, IO, 0);
	assert_parts(240, 110, 5, 25, 100);
	calls_run_at(265);
	enters_at(266);
	assert_parts(300, 144, 5, 51, 100); /* KVM's way back into the guest is user space's */
}

/* A signal ends KVM_RUN, user space works for 50, and the halt goes on. */
static void test_halt_ended_by_signal(void **state)
{
	(void)state;
	begin_halts(true);
	exits_at(100, HLT);
	fails_at(200, -EINTR);
	assert_parts(220, 100, 0, 20, 100);
	calls_run_at(250);
	assert_parts(300, 100, 0, 50, 150);
	fails_at(400, -EINTR);
	assert_parts(425, 100, 0, 75, 250);
	calls_run_at(450);
	enters_at(500);
	assert_parts(600, 200, 0, 100, 300);
	assert_int_equal(cell_of(0, EXITS_RESTART, EXITS_USERSPACE)->time_ns, 100);
	assert_int_equal(cell_of(0, EXITS_RESTART, EXITS_USERSPACE)->hist[0], 2);
	assert_int_equal(cell_of(0, HLT, EXITS_VMEXIT)->time_ns, 400); /* from exit to entry */
}

/* INIT: the vCPU waits for SIPI, which is no halt of the guest's, but no exit either. */
static void test_halt_ended_by_init(void **state)
{
	(void)state;
	begin_halts(true);
	exits_at(100, HLT);
	fails_at(200, -EINTR);
	calls_run_at(250);
	fails_at(300, -EAGAIN); /* a vCPU that was reset */
	assert_parts(340, 100, 0, 90, 150);
	calls_run_at(350);
	enters_at(400); /* SIPI */
	assert_parts(500, 200, 0, 100, 200);
}

/* The first halt that is interrupted asks for on_run. It counts as a halt to its end. */
static void test_halt_not_watched(void **state)
{
	(void)state;
	begin_halts(false);
	exits_at(100, HLT);
	assert_false(is_interrupting);
	fails_at(200, -EINTR);
	assert_true(is_interrupting);
	assert_parts(250, 100, 0, 0, 150);
	run_watch = 1; /* the thread is in user space then: its KVM_RUN is not known to begin */
	fails_at(300, -EINTR);
	assert_parts(350, 100, 0, 0, 250);
	calls_run_at(400);
	fails_at(500, -EINTR);
	assert_parts(550, 100, 0, 50, 400);
	run_watch = 2; /* detached and attached again: what the thread has seen is old */
	fails_at(600, -EINTR);
	assert_parts(650, 100, 0, 100, 450);
	assert_int_equal(cell_of(0, EXITS_RESTART, EXITS_USERSPACE)->count, 4);
	assert_int_equal(cell_of(0, EXITS_RESTART, EXITS_USERSPACE)->time_ns, 100);
}

/* On other machines than x86 the halt is over then. */
static void test_halt_does_not_go_on(void **state)
{
	(void)state;
	begin_halts(false);
	halts_go_on = false;
	exits_at(100, HLT);
	fails_at(200, -EINTR);
	assert_false(is_interrupting);
	assert_parts(250, 100, 0, 50, 100);
	enters_at(300);
	assert_parts(400, 200, 0, 100, 100);
}

/* Without KVM's interrupt controllers the VMM halts the vCPU: that is a halt, too. */
static void test_halt_in_user_space(void **state)
{
	(void)state;
	begin_halts(true);
	exits_at(100, HLT);
	leaves_at(110, EXITS_USER_HLT, 0);
	calls_run_at(200);
	enters_at(210);
	assert_int_equal(m.records[0].halt_user_ns, 0);
	assert_int_equal(cell_of(0, EXITS_USER_HLT, EXITS_USERSPACE)->count, 1);
}

/* Any other exit to user space lasts until the guest is entered, watched or not. */
static void test_run_without_halt(void **state)
{
	(void)state;
	begin_halts(true);
	exits_at(100, IO);
	fails_at(110, -EINTR);
	calls_run_at(150);
	enters_at(160);
	assert_int_equal(cell_of(0, EXITS_RESTART, EXITS_USERSPACE)->time_ns, 50);
	assert_parts(200, 140, 10, 50, 0);
}

/* Where the kernel's kvm_exit does not fire, the end of user space's part is not known. */
static void test_user_space_alone(void **state)
{
	(void)state;
	has_exits = false;
	leaves_at(1000, IO, 0);
	leaves_at(9000, IO, 0);
	assert_int_equal(cell_of(0, IO, EXITS_USERSPACE)->count, 2);
	assert_int_equal(cell_of(0, IO, EXITS_USERSPACE)->time_ns, 0);
}

/* A thread on another CPU whose storage cannot be looked at has one record all the same. */
static void test_busy_storage(void **state)
{
	(void)state;
	exits_at(1000, HLT);
	m.cpu = 1;
	m.is_busy = true;
	enters_at(1100); /* not seen */
	exits_at(2000, HLT);
	m.is_busy = false;
	m.cpu = 2;
	enters_at(2500);
	assert_int_equal(cell_of(0, HLT, EXITS_VMEXIT)->count, 2);
	assert_int_equal(cell_of(0, HLT, EXITS_VMEXIT)->time_ns, 500);
	assert_int_equal(m.records[1].tid, 0);
	assert_int_equal(m.nr_free, RECORDS - 1);
	assert_int_equal(lost_exits, 0);
}

/* Records that were added later: their numbers follow the numbers of the first ones. */
static void test_more_records(void **state)
{
	(void)state;
	m.free_threads[0] = RECORDS + 1;
	m.nr_free = 1;
	exits_at(1000, HLT);
	m.cpu = 1;
	enters_at(1500);
	exits_at(2000, HLT);
	enters_at(2250);
	assert_int_equal(m.more[1].number, RECORDS + 1);
	assert_int_equal(m.more[1].cells[dense[EXITS_VMEXIT][HLT]].count, 2);
	assert_int_equal(m.more[1].cells[dense[EXITS_VMEXIT][HLT]].time_ns, 750);
}

/* A thread without a record: its exits are counted, to user space, too, until it gets one. */
static void test_late(void **state)
{
	(void)state;
	m.nr_free = 0;
	m.tid = 2;
	leaves_at(900, IO, 0); /* of an exit that began before */
	writes_port();
	assert_int_equal(nr_late + lost_arguments, 0);
	exits_at(1000, HLT);
	leaves_at(1100, IO, 0);
	writes_port();
	enters_at(1200);
	exits_at(1300, HLT);
	assert_int_equal(nr_late, 1);
	assert_int_equal(lost_exits, 0);
	assert_int_equal(lost_arguments, 1);
	assert_int_equal(m.late.first_ns, 1000);
	assert_string_equal(m.late.comm, "CPU 2/KVM");
	assert_int_equal(m.late.counts[dense[EXITS_VMEXIT][HLT]], 2);
	assert_int_equal(m.late.counts[dense[EXITS_USERSPACE][IO]], 1);
	m.nr_free = 1;
	leaves_at(1400, IO, 0); /* the same exit */
	exits_at(1500, HLT);
	leaves_at(1600, IO, 0);
	assert_int_equal(cell_of(m.free_threads[0], HLT, EXITS_VMEXIT)->count, 1);
	assert_int_equal(cell_of(m.free_threads[0], IO, EXITS_USERSPACE)->count, 1);
	assert_int_equal(m.late.counts[dense[EXITS_VMEXIT][HLT]], 2);
	assert_int_equal(m.late.counts[dense[EXITS_USERSPACE][IO]], 2);
	assert_int_equal(nr_late, 1);
}

static void test_no_room(void **state)
{
	(void)state;
	m.nr_free = 1;
	exits_at(1000, HLT);
	m.tid = 2;
	exits_at(1000, HLT);
	assert_int_equal(lost_exits, 0);
	m.tid = 3;
	exits_at(1000, HLT);
	assert_int_equal(lost_exits, 1);
	assert_int_equal(nr_late, 1);
}

/* An exit that began before all programs were attached: none of them counts any of it. */
static void test_first_moments(void **state)
{
	(void)state;
	is_counting = false;
	exits_at(1000, IO);
	writes_port();
	is_counting = true;
	writes_port();
	leaves_at(1100, IO, 0);
	enters_at(1200);
	assert_int_equal(m.records[0].tid, 0);
	assert_int_equal(m.nr_arguments, 0);
	assert_int_equal(lost_exits + lost_arguments, 0);
	exits_at(2000, IO);
	writes_port();
	enters_at(2500);
	assert_int_equal(cell_of(0, IO, EXITS_VMEXIT)->count, 1);
	assert_int_equal(cell_of(0, IO, EXITS_VMEXIT)->time_ns, 500);
	assert_int_equal(m.argument_cells[0].count, 1);
	assert_int_equal(dense[EXITS_USERSPACE][IO], 0);
}

/* But a thread that has a record keeps it while its storage cannot be looked at. */
static void test_busy_storage_in_an_exit(void **state)
{
	(void)state;
	exits_at(1000, IO);
	m.cpu = 1;
	m.is_busy = true;
	writes_port();
	m.cpu = 2;
	leaves_at(1100, IO, 0);
	m.is_busy = false;
	assert_int_equal(m.argument_cells[0].count, 1);
	assert_int_equal(cell_of(0, IO, EXITS_USERSPACE)->count, 1);
}

static void asks_for_leaf(uint64_t leaf)
{
	uint64_t event[FIELDS] = { [FIELD_A] = leaf };

	assert_int_equal(on_cpuid(event), 1);
}

/* A guest that asks for more leaves than there is room for: another one beside it loses nothing. */
static void test_greedy_guest(void **state)
{
	(void)state;
	exits_at(1000, HLT);
	for (uint64_t leaf = 0; leaf < 1000; leaf++)
		asks_for_leaf(leaf);
	enters_at(1100);
	assert_int_equal(m.nr_arguments, EXITS_ARGUMENTS + 1);
	assert_int_equal(m.argument_keys[EXITS_ARGUMENTS].is_rest, 1);
	assert_int_equal(m.argument_cells[EXITS_ARGUMENTS].count, 1000 - EXITS_ARGUMENTS);
	assert_int_equal(m.argument_cells[EXITS_ARGUMENTS].time_ns, 100);
	exits_at(1500, HLT);
	asks_for_leaf(5); /* which has a cell */
	assert_int_equal(m.argument_cells[5].count, 2);
	m.tid = 2;
	m.cpu = 1;
	exits_at(2000, HLT);
	writes_port();
	assert_int_equal(find_argument(&m.records[1].argument)->count, 1);
	assert_int_equal(lost_arguments, 0);
	/* Its next epoch. */
	m.tid = 1;
	m.cpu = 0;
	m.records[0].nr_arguments = 0;
	m.records[0].epoch = 1;
	asks_for_leaf(999);
	assert_int_equal(find_argument(&m.records[0].argument)->count, 1);
	assert_int_equal(m.records[0].argument.is_rest, 0);
}

/* Where kvm_exit does not fire, a thread begins with whatever happens to it. */
static void test_argument_alone(void **state)
{
	(void)state;
	has_exits = false;
	is_counting = false;
	writes_port();
	assert_int_equal(m.nr_arguments, 0);
	is_counting = true;
	writes_port();
	assert_int_equal(m.argument_cells[0].count, 1);
	assert_int_equal(m.argument_keys[0].cell, EXITS_NO_CELL);
}

static void test_argument_has_the_exits_time(void **state)
{
	(void)state;
	exits_at(1000, HLT);
	writes_port();
	enters_at(1250);
	assert_int_equal(m.nr_arguments, 1);
	assert_int_equal(m.argument_keys[0].a, 0x3f8);
	assert_int_equal(m.argument_cells[0].count, 1);
	assert_int_equal(m.argument_cells[0].time_ns, 250);
}

/* ---- long exits */

static void begins_long_at(uint64_t now_ns, uint64_t reason, uint64_t pc)
{
	uint64_t event[FIELDS] = { [FIELD_REASON] = reason, [FIELD_PC] = pc };

	m.now_ns = now_ns;
	assert_int_equal(on_long_exit(event), 1);
}

static void ends_long_at(uint64_t now_ns)
{
	m.now_ns = now_ns;
	on_long_entry(NULL);
}

static void test_long_exit(void **state)
{
	const struct exits_long *first = &m.reported[0], *second = &m.reported[1];

	(void)state;
	m.cpu = 3;
	begins_long_at(1000, IO, 0xfff0);
	writes_port();
	leaves_at(1100, IO, 0);
	leaves_at(1200, IO, 0); /* a signal: the same exit is in user space once more */
	m.cpu = 4;
	ends_long_at(1401);
	assert_int_equal(m.nr_reported, 1);
	assert_int_equal(first->end_ns, 1401);
	assert_int_equal(first->took_ns, 401);
	assert_int_equal(first->user_ns, 301);
	assert_int_equal(first->pc, 0xfff0);
	assert_int_equal(first->cpu, 3);
	assert_int_equal(first->cell, dense[EXITS_VMEXIT][IO]);
	assert_true(first->has_argument);
	assert_int_equal(first->argument.a, 0x3f8);
	/* Nothing of it is in the next one. */
	begins_long_at(2000, IO, 0x10);
	leaves_at(2900, IO, 0);
	ends_long_at(3000);
	assert_int_equal(second->pc, 0x10);
	assert_int_equal(first->polled_ns, 0);
	assert_int_equal(second->polled_ns, 0);
	assert_int_equal(second->took_ns, 1000);
	assert_int_equal(second->user_ns, 100);
	assert_false(second->has_argument);
	/* And both are counted as ever. */
	assert_int_equal(cell_of(0, IO, EXITS_VMEXIT)->count, 2);
	assert_int_equal(cell_of(0, IO, EXITS_VMEXIT)->time_ns, 1401);
}

/* What was polled is of this halt, and no earlier one's, long or short. */
static void test_long_halt(void **state)
{
	static uint64_t args[4] = { 150 };

	(void)state;
	halts[0] = HLT;
	begins_long_at(1000, HLT, 0);
	on_wakeup((struct bpf_raw_tracepoint_args *)args);
	ends_long_at(1200);
	assert_int_equal(m.nr_reported, 0);
	begins_long_at(2000, HLT, 0);
	on_wakeup((struct bpf_raw_tracepoint_args *)args);
	on_wakeup((struct bpf_raw_tracepoint_args *)args);
	ends_long_at(2500);
	begins_long_at(3000, IO, 0);
	ends_long_at(4000);
	assert_int_equal(m.reported[0].polled_ns, 300);
	assert_int_equal(m.reported[1].polled_ns, 0);
}

/* In a halt user space's part has what halts go on for between its parts left out. */
static void test_long_halt_with_user_space(void **state)
{
	(void)state;
	halts[0] = HLT;
	halts_go_on = true;
	run_watch = 1;
	begins_long_at(0, IO, 0);
	ends_long_at(1);
	calls_run_at(1);
	begins_long_at(1000, HLT, 0);
	fails_at(1100, -EINTR);
	calls_run_at(1150);
	fails_at(1800, -EINTR);
	calls_run_at(1860);
	ends_long_at(2000);
	begins_long_at(3000, IO, 0);
	leaves_at(3100, IO, 0);
	ends_long_at(4000);
	assert_int_equal(m.nr_reported, 2);
	assert_int_equal(m.reported[0].took_ns, 1000);
	assert_int_equal(m.reported[0].user_ns, 110);
	assert_int_equal(m.reported[1].user_ns, 900);
}

static uint64_t place_of_run_delay(void)
{
	return (uint64_t)((char *)&m.run_delay - (char *)bpf_get_current_task_btf());
}

/* What the thread waits before the exit is not of it; a kernel may not tell. */
static void test_long_wait(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		run_delay_at = i ? place_of_run_delay() : 0;
		m.run_delay = 5000;
		begins_long_at(1000, IO, 0);
		m.run_delay += 100;
		leaves_at(1200, IO, 0);
		m.run_delay += 250;
		ends_long_at(1500);
		assert_int_equal(m.reported[i].waited_ns, i ? 350 : 0);
	}
	m.nr_reserved = m.nr_reported = 0;
	m.run_delay += 700; /* in the guest: its exit has not begun */
	begins_long_at(2000, IO, 0);
	ends_long_at(2500);
	assert_int_equal(m.reported[0].waited_ns, 0);
}

/* A vCPU with pointers to VMCBs: the current one, its own, and of the guest that it runs. */
struct long_vcpu {
	uint64_t code, current, own, nested;
};

struct long_vmcb {
	uint64_t code, pc;
};

static void set_places(void)
{
	NUMBER(RAW_HAS_POINTER) = 1;
	NUMBER(RAW_BYTES) = 8;
	NUMBER(RAW_OFFSET) = offsetof(struct long_vcpu, current);
	NUMBER(RAW_OWN_VMCB) = offsetof(struct long_vcpu, own);
	NUMBER(RAW_NESTED_VMCB) = offsetof(struct long_vcpu, nested);
	NUMBER(RAW_PC) = offsetof(struct long_vmcb, pc);
}

/* An exit to the current VMCB, and the entry 500 ns later, with another one then. */
static void long_exit_of(struct long_vcpu *vcpu, uint64_t now_ns, const struct long_vmcb *then)
{
	uint64_t event[FIELDS] = { [FIELD_VCPU] = (uintptr_t)vcpu };

	m.now_ns = now_ns;
	assert_int_equal(on_long_exit_by_read(event), 1);
	if (vcpu->current == vcpu->nested)
		on_nested_exit(NULL);
	vcpu->current = (uintptr_t)then;
	m.now_ns += 500;
	on_long_vcpu_entry(event);
	m.nr_reserved = 0;
}

static void test_pc_in_vmcb(void **state)
{
	struct long_vmcb own = { IO, 0xfff0 }, nested = { IO, 0x7c00 };
	struct long_vcpu vcpu = { 0, (uintptr_t)&own, (uintptr_t)&own, (uintptr_t)&nested };
	const struct exits_long *exit = &m.reported[0];

	(void)state;
	set_places();
	run_delay_at = place_of_run_delay();
	m.run_delay = 5000;
	long_exit_of(&vcpu, 1000, &own);
	assert_int_equal(exit->pc, 0xfff0);
	assert_int_equal(exit->waited_ns, 0);
	/* The exit that enters L2: KVM has moved the guest's own program counter on. */
	m.nr_reported = 0;
	long_exit_of(&vcpu, 2000, &nested);
	assert_int_equal(exit->pc, 0);
	/* Exits of L2: one that KVM deals with, and one that L1 gets. */
	m.nr_reported = 0;
	long_exit_of(&vcpu, 3000, &nested);
	assert_int_equal(exit->pc, 0x7c00);
	exit = &m.reported[0];
	m.nr_reported = 0;
	long_exit_of(&vcpu, 4000, &own);
	assert_int_equal(exit->pc, 0x7c00);
	assert_true(codes[exit->cell].is_nested);
}

/* A vCPU with KVM's copy of the program counter, and the bit that says whether it is there. */
struct copied_vcpu {
	uint64_t code, copied, nested, pc;
};

/* An exit, and the entry 500 ns later, which finds the vCPU as `then`. Returns the exit's PC. */
static uint64_t pc_copied(struct copied_vcpu vcpu, _Bool is_nested, struct copied_vcpu then)
{
	uint64_t event[FIELDS] = { [FIELD_VCPU] = (uintptr_t)&vcpu };

	m.now_ns += 1000;
	assert_int_equal(on_long_exit_by_read(event), 1);
	if (is_nested)
		on_nested_exit(NULL);
	vcpu = then;
	m.now_ns += 500;
	on_long_vcpu_entry(event);
	m.nr_reserved = 0;
	assert_int_equal(m.nr_reported, 1);
	m.nr_reported = 0;
	return m.reported[0].pc;
}

static void test_pc_copied(void **state)
{
	const uint64_t is_there = 1 << 16; /* the first bit of byte 2 */
	const struct copied_vcpu left = { IO, 0, false, 0xdead }, left_l2 = { IO, 0, true, 0xdead };
	const struct copied_vcpu read = { IO, is_there, false, 0xfff0 };
	const struct copied_vcpu read_l2 = { IO, is_there, true, 0x7c00 };
	const struct copied_vcpu not_read = { IO, ~is_there, false, 0xdead };

	(void)state;
	NUMBER(RAW_BYTES) = 8;
	NUMBER(RAW_PC_COPY) = offsetof(struct copied_vcpu, pc);
	NUMBER(RAW_COPIED) = offsetof(struct copied_vcpu, copied) + 2;
	NUMBER(RAW_COPIED_BIT) = 1;
	NUMBER(RAW_IS_NESTED) = offsetof(struct copied_vcpu, nested);
	assert_int_equal(pc_copied(left, false, read), 0xfff0);
	assert_int_equal(pc_copied(left, false, not_read), 0);
	assert_int_equal(pc_copied(left_l2, true, read_l2), 0x7c00);
	/* An exit that enters L2, and one of L2 that L1 gets: the copy is the other guest's. */
	assert_int_equal(pc_copied(left, false, read_l2), 0);
	assert_int_equal(pc_copied(left_l2, true, read), 0);
}

/* An argument of the event has it, as on AArch64. */
static void test_pc_by_argument(void **state)
{
	uint64_t event[FIELDS] = { [FIELD_REASON] = IO, [FIELD_PC] = 0x40000004 };

	(void)state;
	m.now_ns = 1000;
	assert_int_equal(on_long_exit_by_argument(event), 1);
	ends_long_at(1500);
	assert_int_equal(m.reported[0].pc, 0x40000004);
}

static void test_not_longer(void **state)
{
	(void)state;
	begins_long_at(1000, IO, 0);
	ends_long_at(1400);
	exits_at(2000, IO);
	enters_at(9000); /* nothing is reported by the usual programs */
	ends_long_at(9900);
	assert_int_equal(m.nr_reserved, 0);
	assert_int_equal(lost_long_exits, 0);
}

static void test_left_out(void **state)
{
	(void)state;
	begins_long_at(1000, HLT, 0);
	is_left_out[dense[EXITS_VMEXIT][HLT]] = true;
	ends_long_at(9000);
	assert_int_equal(m.nr_reserved, 0);
}

static void test_full_ring(void **state)
{
	(void)state;
	for (uint64_t i = 1; i <= 5; i++) {
		begins_long_at(i * 10000, IO, 0);
		ends_long_at(i * 10000 + 5000);
	}
	assert_int_equal(m.nr_reported, 2);
	assert_int_equal(lost_long_exits, 3);
	assert_int_equal(cell_of(0, IO, EXITS_VMEXIT)->count, 5);
}

/* ---- halts */

static struct bpf_raw_tracepoint_args *raw(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	static uint64_t args[4];

	memcpy(args, (uint64_t[]){ a, b, c, d }, sizeof(args));
	return (struct bpf_raw_tracepoint_args *)args;
}

/* Without a wait all was polled, with one as much as the limit of this halt, if it had one. */
static void test_polls(void **state)
{
	(void)state;
	assert_int_equal(on_wakeup(raw(100, false, true, 0)), 0); /* no record: not counted */
	exits_at(1000, HLT);
	on_wakeup(raw(5000, false, true, 0));
	assert_int_equal(m.records[0].polled_ns, 5000);
	on_wakeup(raw(90000, true, true, 0)); /* polling is off */
	assert_int_equal(m.records[0].polled_ns, 5000);
	on_poll_limit(raw(true, 0, 40000, 20000));
	m.cpu = 1; /* the thread moves between the two events */
	on_wakeup(raw(90000, true, true, 0));
	assert_int_equal(m.records[0].polled_ns, 25000);
	on_wakeup(raw(90000, true, true, 0)); /* the limit was that of another halt */
	assert_int_equal(m.records[0].polled_ns, 25000);
	on_poll_limit(raw(false, 0, 0, 40000));
	on_wakeup(raw(30000, true, true, 0)); /* no more than all of it */
	assert_int_equal(m.records[0].polled_ns, 55000);
}

/* KVM's sums grow while a vCPU halts; they are read when it is entered again. */
static void polls_are_those_of_kvm(enum exits_way way)
{
	uint64_t vcpu[4] = { 0, 0, 1000, 500 }, other[4] = { 0, 0, 100000, 0 };
	const struct exits_thread *thread = &m.records[0];

	numbers[RAW_POLLS - RAW_FIRST] = way;
	numbers[RAW_NOTIFIER - RAW_FIRST] = sizeof(uint64_t);
	numbers[RAW_POLL_SUMS - RAW_FIRST] = 2 * sizeof(uint64_t);
	halts[1] = HLT;
	m.task[1] = (uintptr_t)vcpu;
	exits_at(1000, HLT);
	enters_at(2000);
	assert_int_equal(thread->polled_ns, 0); /* what was before is not known */
	vcpu[2] += 300;
	vcpu[3] += 20;
	exits_at(3000, IO);
	enters_at(4000);
	assert_int_equal(thread->polled_ns, 0);
	exits_at(5000, HLT);
	enters_at(6000);
	assert_int_equal(thread->polled_ns, 320);
	m.task[1] = (uintptr_t)other; /* the thread runs another vCPU */
	exits_at(7000, HLT);
	enters_at(8000);
	assert_int_equal(thread->polled_ns, 320);
	other[2] = 50; /* one that began later at the same place */
	exits_at(9000, HLT);
	enters_at(10000);
	other[3] = 7;
	exits_at(11000, HLT);
	enters_at(12000);
	assert_int_equal(thread->polled_ns, 327);
	assert_int_equal(cell_of(0, HLT, EXITS_VMEXIT)->count, 5);
	assert_int_equal(cell_of(0, HLT, EXITS_VMEXIT)->time_ns, 5000);
}

static void test_polls_by_load(void **state)
{
	(void)state;
	polls_are_those_of_kvm(EXITS_BY_LOAD);
}

static void test_polls_by_read(void **state)
{
	(void)state;
	polls_are_those_of_kvm(EXITS_BY_READ);
}

/* The entry has the vCPU: the sums are found from there, and the task is not asked. */
static void test_polls_by_vcpu(void **state)
{
	const struct exits_thread *thread = &m.records[0];
	uint64_t vcpu[4] = { HLT, 0, 1000, 9 };
	uint64_t event[FIELDS] = { [FIELD_VCPU] = (uintptr_t)vcpu };

	(void)state;
	NUMBER(RAW_POLLS) = EXITS_BY_READ;
	NUMBER(RAW_BYTES) = sizeof(uint64_t);
	NUMBER(RAW_VCPU_POLL_SUMS) = 2 * sizeof(uint64_t);
	NUMBER(RAW_OWN_VMCB) = sizeof(uint64_t);
	halts[1] = HLT;
	for (m.now_ns = 1000; m.now_ns < 4000; m.now_ns += 500) {
		on_exit_by_read(event);
		m.now_ns += 500;
		vcpu[2] += 300;
		vcpu[3] += 20;
		on_vcpu_entry(event);
	}
	assert_int_equal(thread->polled_ns, 640); /* what was before is not known */
	assert_int_equal(thread->halt_polled_ns, 0);
	m.now_ns = 5000;
	on_exit_by_read(event);
	m.now_ns = 6000;
	vcpu[3] += 700;
	on_long_vcpu_entry(event);
	on_exit_by_read(event);
	m.now_ns = 7000;
	vcpu[3] += 4;
	on_long_vcpu_entry(event);
	assert_int_equal(m.nr_reported, 2);
	assert_int_equal(m.reported[1].polled_ns, 4);
}

static const struct exits_cell *twin_of(uint32_t record, uint64_t code)
{
	uint32_t twin = twins[dense[EXITS_VMEXIT][code]];

	assert_int_not_equal(twin, dense[EXITS_VMEXIT][code]);
	assert_int_equal(codes[twin].code, code);
	assert_int_equal(codes[twin].kind, EXITS_VMEXIT);
	assert_true(codes[twin].is_nested && codes[twin].is_used);
	return &m.records[record].cells[twin];
}

/* One exit of L2 and one of L1, of one reason: each in its own cell, with its own time. */
static void test_nested(void **state)
{
	(void)state;
	exits_at(1000, IO);
	assert_false(is_nesting);
	on_nested_exit(NULL);
	assert_true(is_nesting);
	enters_at(1300);
	exits_at(2000, IO);
	enters_at(2050);
	assert_int_equal(twin_of(0, IO)->count, 1);
	assert_int_equal(twin_of(0, IO)->time_ns, 300);
	assert_int_equal(cell_of(0, IO, EXITS_VMEXIT)->count, 1);
	assert_int_equal(cell_of(0, IO, EXITS_VMEXIT)->time_ns, 50);
	assert_false(codes[dense[EXITS_VMEXIT][IO]].is_nested);
}

/* What an exit of L2 is about belongs to the twin, too; an exit is moved once. */
static void test_nested_argument(void **state)
{
	(void)state;
	exits_at(1000, IO);
	on_nested_exit(NULL);
	on_nested_exit(NULL);
	writes_port();
	enters_at(1300);
	assert_int_equal(twin_of(0, IO)->count, 1);
	assert_int_equal(cell_of(0, IO, EXITS_VMEXIT)->count, 0);
	assert_int_equal(m.argument_keys[0].cell, twins[dense[EXITS_VMEXIT][IO]]);
}

/* From an entry to an exit of L2 is time in L2; to an exit of L1 it is not. */
static void test_nested_time(void **state)
{
	(void)state;
	exits_at(1000, IO);
	on_nested_exit(NULL);
	enters_at(1100);
	on_nested_entry(NULL);
	exits_at(1700, IO);
	on_nested_exit(NULL);
	assert_int_equal(m.records[0].nested_ns, 600);
	enters_at(1800);
	on_nested_entry(NULL);
	exits_at(2000, IO);
	enters_at(2100);
	assert_int_equal(m.records[0].nested_ns, 600);
}

/* A guest without guests: no entry is noted, though other guests nest. */
static void test_not_nested(void **state)
{
	(void)state;
	assert_int_equal(on_nested_exit(NULL), 0);
	exits_at(1000, IO);
	enters_at(1100);
	on_nested_entry(NULL);
	assert_int_equal(on_nested_exit(NULL), 0);
	assert_int_equal(m.records[0].entered_ns, 0);
	assert_false(is_nesting);
}

/* What a vCPU has of the reason, on SVM behind a pointer. */
struct vcpu {
	const uint64_t *there;
	uint64_t reason;
	uint32_t vcpu_id;
};

static void set_numbers(bool has_pointer)
{
	memset(numbers, 0, sizeof(numbers));
	NUMBER(RAW_VCPU_ID) = offsetof(struct vcpu, vcpu_id);
	NUMBER(RAW_HAS_POINTER) = has_pointer;
	NUMBER(RAW_OFFSET) = has_pointer ? offsetof(struct vcpu, there) :
					   offsetof(struct vcpu, reason);
	NUMBER(RAW_OFFSET_THERE) = has_pointer ? sizeof(uint64_t) : 0;
	NUMBER(RAW_BYTES) = sizeof(uint64_t);
	NUMBER(RAW_ISA) = 2;
}

static void leaves_guest_at(uint64_t now_ns, int (*program)(void *), const struct vcpu *vcpu,
			    uint64_t isa)
{
	uint64_t event[FIELDS] = {
		[FIELD_VCPU] = (uintptr_t)vcpu,
		[FIELD_ISA] = isa,
	};

	m.now_ns = now_ns;
	program(event);
}

static void runs_at(uint64_t now_ns, const struct vcpu *vcpu)
{
	uint64_t event[FIELDS] = { [FIELD_VCPU] = (uintptr_t)vcpu };

	m.now_ns = now_ns;
	on_vcpu_entry(event);
}

/* Without the event's record, by both ways into the vCPU, with a pointer on the way and without. */
static void test_raw_exits(void **state)
{
	int (*const programs[])(void *) = { on_exit_by_read, on_exit_by_load };
	const uint64_t there[] = { 0, HLT };
	const struct vcpu vcpu = { there, IO, 7 };

	for (size_t i = 0; i < 4; i++) {
		setup(state);
		set_numbers(i / 2);
		leaves_guest_at(1000, programs[i % 2], &vcpu, 2);
		runs_at(1500, &vcpu);
		assert_int_equal(cell_of(0, i / 2 ? HLT : IO, EXITS_VMEXIT)->count, 1);
		assert_int_equal(cell_of(0, i / 2 ? HLT : IO, EXITS_VMEXIT)->time_ns, 500);
		assert_int_equal(m.records[0].open_since, 0);
		assert_int_equal(m.records[0].vcpu, 7);
	}
}

/* Of a vCPU of another kind no reason is read. */
static void test_foreign_vcpu(void **state)
{
	const struct vcpu vcpu = { NULL, IO, 7 };

	(void)state;
	set_numbers(true);
	leaves_guest_at(1000, on_exit_by_load, &vcpu, 3);
	runs_at(1500, &vcpu);
	assert_int_equal(m.records[0].cells[EXITS_OTHER].count, 1);
	assert_int_equal(m.records[0].cells[EXITS_OTHER].time_ns, 500);
	assert_int_equal(m.next_cell, 1);
}

/* arm64: the exit's kind is an argument with a flag that the record has not. */
static void test_reason_in_arguments(void **state)
{
	uint64_t event[FIELDS] = { [FIELD_REASON] = HLT, [FIELD_TYPE] = 0x80000002 };

	(void)state;
	memset(numbers, 0, sizeof(numbers));
	NUMBER(RAW_TYPE_MASK) = 0x7fffffff;
	has_type = true;
	type_of_field = 2;
	type_bit = 0x100;
	on_exit_by_argument(event);
	assert_int_equal(cell_of(0, HLT, EXITS_VMEXIT)->count, 1);
	event[FIELD_TYPE] = 0x80000001;
	on_exit_by_argument(event);
	has_type = false;
	assert_int_equal(cell_of(0, 0x101, EXITS_VMEXIT)->count, 1);
}

/*
 * While a thread is in KVM_RUN its vCPU stands for it. After that the vCPU's memory may be another
 * one's, which another thread runs on the same CPU.
 */
static void test_memory_of_a_vcpu_again(void **state)
{
	const struct vcpu vcpu = { NULL, IO, 7 };

	(void)state;
	set_numbers(false);
	leaves_guest_at(1000, on_exit_by_load, &vcpu, 2);
	runs_at(1100, &vcpu);
	assert_int_equal(m.records[0].running, (uintptr_t)&vcpu);
	m.tid = 3; /* it is not asked for */
	leaves_guest_at(1200, on_exit_by_load, &vcpu, 2);
	assert_int_equal(m.records[0].cells[dense[EXITS_VMEXIT][IO]].count, 2);
	m.tid = 1;
	leaves_at(1300, IO, 0);
	m.tid = 2;
	runs_at(1900, &vcpu); /* the first entry of the other vCPU ends no exit */
	assert_int_equal(m.records[0].cells[dense[EXITS_VMEXIT][IO]].time_ns, 100);
	leaves_guest_at(2000, on_exit_by_load, &vcpu, 2);
	runs_at(2050, &vcpu);
	assert_int_equal(m.records[1].tid, 2);
	assert_int_equal(m.records[1].cells[dense[EXITS_VMEXIT][IO]].time_ns, 50);
	assert_int_equal(m.records[0].cells[dense[EXITS_VMEXIT][IO]].count, 2);
}

/* Each bucket from its first ns to its last. */
static void test_buckets(void **state)
{
	(void)state;
	assert_int_equal(bucket_of(0), 0);
	for (uint64_t i = 0; i < EXITS_BUCKETS - 1; i++) {
		assert_int_equal(bucket_of(i ? UINT64_C(64) << i : 0), i);
		assert_int_equal(bucket_of((UINT64_C(128) << i) - 1), i);
	}
	assert_int_equal(bucket_of(UINT64_C(64) << (EXITS_BUCKETS - 1)), EXITS_BUCKETS - 1);
	assert_int_equal(bucket_of(UINT64_MAX), EXITS_BUCKETS - 1);
}

UNIT(test_program)
{
#define TEST(name) cmocka_unit_test_setup(name, setup)
	const struct CMUnitTest tests[] = {
		TEST(test_exit_and_entry),
		TEST(test_two_exits_to_user_space),
		TEST(test_halt_ended_by_interrupt),
		TEST(test_halt_ended_by_signal),
		TEST(test_halt_ended_by_init),
		TEST(test_halt_not_watched),
		TEST(test_halt_does_not_go_on),
		TEST(test_halt_in_user_space),
		TEST(test_run_without_halt),
		TEST(test_long_halt_with_user_space),
		TEST(test_user_space_alone),
		TEST(test_busy_storage),
		TEST(test_more_records),
		TEST(test_late),
		TEST(test_no_room),
		TEST(test_first_moments),
		TEST(test_busy_storage_in_an_exit),
		TEST(test_argument_alone),
		TEST(test_greedy_guest),
		TEST(test_argument_has_the_exits_time),
		TEST(test_long_exit),
		TEST(test_long_wait),
		TEST(test_long_halt),
		TEST(test_pc_in_vmcb),
		TEST(test_pc_copied),
		TEST(test_pc_by_argument),
		TEST(test_not_longer),
		TEST(test_left_out),
		TEST(test_full_ring),
		TEST(test_nested),
		TEST(test_nested_argument),
		TEST(test_nested_time),
		TEST(test_not_nested),
		TEST(test_polls),
		TEST(test_polls_by_load),
		TEST(test_polls_by_read),
		TEST(test_polls_by_vcpu),
		TEST(test_raw_exits),
		TEST(test_foreign_vcpu),
		TEST(test_reason_in_arguments),
		TEST(test_memory_of_a_vcpu_again),
		TEST(test_buckets),
	};

	return cmocka_run_group_tests_name("exits_program", tests, NULL, NULL);
}
