// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The BPF program of the provider "exits", run here as plain C: what its records say after a row of
 * events. Its helpers and maps are made of a few arrays.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/providers/bpf_as_c.h"

struct task_struct;

static bool has_field(const char *field);
static bool has_value(const char *name);
static bool has_function; /* bpf_rdonly_cast() */

static void *bpf_map_lookup_elem(void *map, const void *key);
static long bpf_map_update_elem(void *map, const void *key, const void *value, uint64_t flags);
static long bpf_map_pop_elem(void *map, void *value);
static long bpf_map_delete_elem(void *map, const void *key);
static struct task_struct *bpf_get_current_task_btf(void);
static uint64_t bpf_get_current_pid_tgid(void);
static long bpf_get_current_comm(void *name, uint32_t size);
static uint32_t bpf_get_smp_processor_id(void);
static uint64_t bpf_ktime_get_ns(void);
static long bpf_probe_read_kernel(void *to, uint32_t size, const void *from);
static void *bpf_ringbuf_reserve(void *map, uint64_t size, uint64_t flags);
struct queue_search;
static long bpf_loop(uint32_t nr, long (*step)(uint32_t, struct queue_search *),
		     struct queue_search *ctx, uint64_t flags);
static void bpf_ringbuf_submit(void *data, uint64_t flags);
static long bpf_get_stack(void *ctx, void *to, uint32_t size, uint64_t flags);
static long bpf_task_pt_regs(struct task_struct *task);

/* What is constant in the kernel is set by the tests. */
#include <linux/bpf.h>

#include "providers/exits/shared.h"

int on_svm_exit(__u64 *ctx);
int on_vmx_exit(__u64 *ctx);
int on_arm64_exit(__u64 *ctx);
int on_riscv_exit(__u64 *ctx);
int on_other_exit(__u64 *ctx);
int on_entry(__u64 *ctx);
int on_reentry(__u64 *ctx);
int on_arm64_entry(__u64 *ctx);
int on_page_fault(void *ctx);
int on_userspace(struct bpf_raw_tracepoint_args *ctx);
int on_sched_out(void *ctx);
int on_sched_in(void *ctx);
int on_probed_out(void *ctx);
int on_probed_in(void *ctx);
int on_nested_exit(void *ctx);
int on_nested_entry(void *ctx);
int on_ioport(struct bpf_raw_tracepoint_args *ctx);
int on_mmio(struct bpf_raw_tracepoint_args *ctx);
int on_fast_mmio(struct bpf_raw_tracepoint_args *ctx);
int on_line(struct bpf_raw_tracepoint_args *ctx);
int on_message(struct bpf_raw_tracepoint_args *ctx);
int on_msr(struct bpf_raw_tracepoint_args *ctx);
int on_cpuid(struct bpf_raw_tracepoint_args *ctx);
int on_hypercall(struct bpf_raw_tracepoint_args *ctx);
int on_hvc(struct bpf_raw_tracepoint_args *ctx);
int on_sysreg(__u64 *ctx);
int on_sample(void *ctx);
int on_switch(__u64 *ctx);
int on_timer(__u64 *ctx);
int on_fault(struct bpf_raw_tracepoint_args *ctx);
int on_arm64_fault(struct bpf_raw_tracepoint_args *ctx);
int on_mapping(struct bpf_raw_tracepoint_args *ctx);

#define const
#include "providers/exits/exits.bpf.c" /* NOLINT(bugprone-suspicious-include): what is tested */
#undef const

#include "core/facts/shared_fields.h"
#include "lib/array.h"
#include "providers/exits/threads.h"
#include "tests/unit/unit.h"
#include "tests/worlds/exit_cases.h"

#define RECORDS 8
#define MORE 2 /* records in the first chunk */
#define ARGUMENTS 128
#define STACKS 8
#define PCS 128
#define TGID 100
#define HLT 12
#define IO 2

/* The machine that the program runs on. */
static struct {
	uint32_t tid, cpu, more_tgid;
	uint64_t now_ns;
	struct exits_thread records[RECORDS], more[MORE];
	struct task_struct task; /* of all threads */
	struct cfs_rq cfs_rq;
	struct rq rq;
	struct mm_struct mm;	 /* of a VMM's threads */
	struct kvm_vcpu vcpu;	 /* that the task runs */
	struct kvm vm;
	const char *comm;	 /* its name; NULL: by its tid */
	const char *lacks;	 /* a field that the kernel does not have; NULL: none */
	uint32_t numbers[RECORDS]; /* by tid: the number of its record plus 1, */
	bool has_number[RECORDS];  /* if it has one */
	uint32_t free_threads[RECORDS], nr_free;
	uint32_t next_cell;
	struct exits_code_key keys[EXITS_CELLS]; /* of cells[], by its value */
	uint32_t values[EXITS_CELLS];
	struct exits_argument_key argument_keys[ARGUMENTS];
	struct exits_cell argument_cells[ARGUMENTS];
	uint32_t nr_arguments;
	bool counts_no_arguments; /* their map is not there */
	struct exits_long reported[2]; /* the ring */
	/* Of stacks: the frames that there are now; 0: none. */
	uint64_t kernel_frame, user_frame, user_caller;
	struct pt_regs regs; /* of user space */
	struct exits_frames taken;
	uint64_t expiry;
	struct exits_stack_key stack_keys[STACKS];
	struct exits_stack_sum stack_sums[STACKS];
	uint32_t nr_stacks;
	struct exits_absence absences[RECORDS]; /* by tid, */
	bool has_absence[RECORDS];		/* if there is one */
	uint32_t nr_frames; /* stacks that were kept */
	bool has_no_room;   /* for stacks, absences and program counters */
	struct exits_pc_key pc_keys[PCS];
	uint64_t pc_counts[PCS];
	uint32_t nr_pcs;
	uint32_t nr_reserved, nr_reported;
	uint32_t nr_lookups;
} m;

static struct exits_cell *find_argument(const struct exits_argument_key *key)
{
	for (uint32_t i = 0; i < m.nr_arguments; i++) {
		if (memcmp(&m.argument_keys[i], key, sizeof(*key)) == 0)
			return &m.argument_cells[i];
	}
	return NULL;
}

static struct exits_stack_sum *find_stack(const struct exits_stack_key *key)
{
	for (uint32_t i = 0; i < m.nr_stacks; i++) {
		if (memcmp(&m.stack_keys[i], key, sizeof(*key)) == 0)
			return &m.stack_sums[i];
	}
	return NULL;
}

static uint64_t *find_pc(const struct exits_pc_key *key)
{
	for (uint32_t i = 0; i < m.nr_pcs; i++) {
		if (memcmp(&m.pc_keys[i], key, sizeof(*key)) == 0)
			return &m.pc_counts[i];
	}
	return NULL;
}

static long bpf_get_stack(void *ctx, void *to, uint32_t size, uint64_t flags)
{
	const uint64_t *frame = flags & BPF_F_USER_STACK ? &m.user_frame : &m.kernel_frame;

	(void)ctx;
	assert_true(size == sizeof(*frame) || size == sizeof(struct exits_frames));
	memset(to, 0, size);
	memcpy(to, frame, sizeof(*frame));
	if (flags & BPF_F_USER_STACK && size > sizeof(*frame))
		memcpy((uint64_t *)to + 1, &m.user_caller, sizeof(m.user_caller));
	return *frame ? sizeof(*frame) : 0;
}

static long bpf_task_pt_regs(struct task_struct *task)
{
	assert_ptr_equal(task, &m.task);
	return (intptr_t)&m.regs;
}

static void *bpf_map_lookup_elem(void *map, const void *key)
{
	uint32_t i = *(const uint32_t *)key;

	m.nr_lookups++;
	if (map == &expiries)
		return &m.expiry;
	if (map == &taken_frames)
		return &m.taken;
	if (map == &stack_sums)
		return find_stack(key);
	if (map == &pcs)
		return find_pc(key);
	if (map == &absences)
		return m.has_absence[i % RECORDS] ? &m.absences[i % RECORDS] : NULL;
	if (map == &threads)
		return i < RECORDS ? &m.records[i] : NULL;
	if (map == &more_threads)
		return i < 1 ? m.more : NULL;
	if (map == m.more)
		return i < MORE ? &m.more[i] : NULL;
	if (map == &arguments)
		return m.counts_no_arguments ? NULL : m.argument_keys;
	if (map == m.argument_keys)
		return find_argument(key);
	if (map == &by_tid)
		return m.has_number[i % RECORDS] ? &m.numbers[i % RECORDS] : NULL;
	for (i = 1; map == &cells && i < m.next_cell; i++) {
		if (memcmp(&m.keys[i], key, sizeof(m.keys[i])) == 0)
			return &m.values[i];
	}
	return NULL;
}

static long bpf_map_update_elem(void *map, const void *key, const void *value, uint64_t flags)
{
	(void)flags;
	if (map == &stack_frames) {
		m.nr_frames += !m.has_no_room;
		return m.has_no_room ? -1 : 0;
	}
	if (map == &pcs && !m.has_no_room && !find_pc(key)) {
		assert_true(m.nr_pcs < PCS);
		memcpy(&m.pc_keys[m.nr_pcs], key, sizeof(m.pc_keys[0]));
		memcpy(&m.pc_counts[m.nr_pcs++], value, sizeof(m.pc_counts[0]));
	} else if (map == &stack_sums && m.nr_stacks < STACKS) {
		memcpy(&m.stack_keys[m.nr_stacks], key, sizeof(m.stack_keys[0]));
		memcpy(&m.stack_sums[m.nr_stacks++], value, sizeof(m.stack_sums[0]));
	} else if (map == &absences && m.has_no_room) {
		return -1;
	} else if (map == &absences) {
		memcpy(&m.absences[*(const uint32_t *)key % RECORDS], value,
		       sizeof(m.absences[0]));
		m.has_absence[*(const uint32_t *)key % RECORDS] = true;
	} else if (map == &by_tid) {
		m.numbers[*(const uint32_t *)key % RECORDS] = *(const uint32_t *)value;
		m.has_number[*(const uint32_t *)key % RECORDS] = true;
	} else if (map == &cells) {
		memcpy(&m.keys[*(const uint32_t *)value], key, sizeof(m.keys[0]));
		memcpy(&m.values[*(const uint32_t *)value], value, sizeof(m.values[0]));
	} else if (map == m.argument_keys && m.nr_arguments < ARGUMENTS) {
		memcpy(&m.argument_keys[m.nr_arguments], key, sizeof(m.argument_keys[0]));
		memcpy(&m.argument_cells[m.nr_arguments++], value, sizeof(m.argument_cells[0]));
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

static long bpf_map_delete_elem(void *map, const void *key)
{
	assert_ptr_equal(map, &by_tid);
	m.has_number[*(const uint32_t *)key % RECORDS] = false;
	return 0;
}

static bool has_field(const char *field)
{
	return !m.lacks || !strstr(field, m.lacks);
}

static bool has_value(const char *name)
{
	return strncmp(name, "BPF_FUNC_", 9) == 0 ? has_field(name) : has_function;
}

static struct task_struct *bpf_get_current_task_btf(void)
{
	return &m.task;
}

static uint64_t bpf_get_current_pid_tgid(void)
{
	return (uint64_t)(TGID + m.more_tgid) << 32 | m.tid;
}

static long bpf_get_current_comm(void *name, uint32_t size)
{
	if (m.comm)
		return snprintf(name, size, "%s", m.comm) < (int)size ? 0 : -1;
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

static long bpf_loop(uint32_t nr, long (*step)(uint32_t, struct queue_search *),
		     struct queue_search *ctx, uint64_t flags)
{
	uint32_t i = 0;

	assert_int_equal(flags, 0);
	while (i < nr && !step(i, ctx))
		i++;
	return i;
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

/* Kernels that have it read all by it. */
void *bpf_rdonly_cast(void *address, __u32 type)
{
	assert_int_equal(type, 1);
	assert_true(has_function);
	return address;
}

static int setup(void **state)
{
	(void)state;
	memset(&m, 0, sizeof(m));
	memset(cpus, 0, sizeof(cpus));
	for (uint32_t i = 0; i < EXITS_CPUS; i++)
		cpus[i].guess = UINT32_MAX;
	memset(dense, 0, sizeof(dense));
	memset(twins, 0, sizeof(twins));
	memset(codes, 0, sizeof(codes));
	halts[0] = halts[1] = 0;
	sees_away = false;
	exit_place = EXIT_IN_SYNDROME;
	notes = true; /* what is noted is by the others */
	reports_long = false;
	counts_pcs = false;
	lost_pcs = 0;
	has_function = false;
	is_nesting = false;
	lost_exits = 0;
	sampled_ns = 0;
	lost_arguments = 0;
	lost_long_exits = 0;
	longer_ns = 400;
	memset(is_left_out, 0, sizeof(is_left_out));
	is_counting = true;
	has_exits = true;
	sample_ns = 100;
	is_by_clock = false;
	nr_first = RECORDS;
	m.next_cell = 1;
	m.tid = 1;
	m.task.se.cfs_rq = &m.cfs_rq;
	m.cfs_rq.rq = &m.rq;
	m.task.preempt_notifiers.first = &m.vcpu.preempt_notifier.link;
	m.vcpu.kvm = &m.vm;
	m.vm.ioeventfds.next = &m.vm.ioeventfds;
	for (uint32_t i = 0; i < RECORDS; i++)
		m.free_threads[m.nr_free++] = RECORDS - 1 - i;
	return 0;
}

/* AArch64's events, with a program counter. */
static void begins_at(uint64_t now_ns, uint64_t reason, uint64_t pc)
{
	m.now_ns = now_ns;
	assert_int_equal(on_arm64_exit((__u64[]){ 2, reason, pc }), 0);
}

static void exits_at(uint64_t now_ns, uint64_t reason)
{
	begins_at(now_ns, reason, 0);
}

static struct bpf_raw_tracepoint_args *raw5(uint64_t a, uint64_t b, uint64_t c, uint64_t d,
					    uint64_t e)
{
	static uint64_t args[5];

	memcpy(args, (uint64_t[]){ a, b, c, d, e }, sizeof(args));
	return (struct bpf_raw_tracepoint_args *)args;
}

static struct bpf_raw_tracepoint_args *raw(uint64_t a, uint64_t b, uint64_t c)
{
	return raw5(a, b, c, 0, 0);
}

static void leaves_at(uint64_t now_ns, uint64_t reason, int error)
{
	m.now_ns = now_ns;
	assert_int_equal(on_userspace(raw(reason, (uint32_t)error, 0)), 0);
}

static void writes_port(void)
{
	assert_int_equal(on_ioport(raw(1, 0x3f8, 1)), 0);
}

static void enters_at(uint64_t now_ns)
{
	m.now_ns = now_ns;
	assert_int_equal(on_arm64_entry((__u64[]){ 0 }), 0);
}

/* What a thread has counted for a cell, by the number of its record; nothing is zeroes. */
static const struct exits_reason *reason_in(uint32_t record, uint32_t cell)
{
	static const struct exits_reason none;
	const struct exits_reason *reason = reason_of(&m.records[record], cell, false);

	return reason ? reason : &none;
}

static const struct exits_cell *cell_of(uint32_t record, uint64_t code, uint64_t kind)
{
	uint32_t cell = dense[kind][code] % EXITS_CELLS;

	assert_int_not_equal(cell, 0);
	return &reason_in(record, cell)->cell;
}

TEST(test_exit_and_entry, setup)
{
	exits_at(1000, HLT);
	leaves_at(1200, IO, 0);
	enters_at(1500);
	assert_int_equal(cell_of(0, HLT, EXITS_VMEXIT)->count, 1);
	assert_int_equal(cell_of(0, HLT, EXITS_VMEXIT)->time_ns, 500);
	assert_int_equal(cell_of(0, IO, EXITS_USERSPACE)->count, 1);
	assert_int_equal(cell_of(0, IO, EXITS_USERSPACE)->time_ns, 300);
	assert_int_equal(exits_open_since(&m.records[0].at), 0);
	assert_int_equal(m.records[0].at.user_since, 0);
}

static uint64_t seen_events(enum exits_event event)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < EXITS_CPUS; i++)
		count += cpus[i].events[event];
	return count;
}

/* As many as there were, also without a record. */
TEST(test_events, setup)
{
	exits_at(1000, HLT);
	leaves_at(1200, IO, 0);
	enters_at(1500);
	m.tid = 2;
	m.nr_free = 0;
	exits_at(2000, HLT);
	enters_at(2500);
	assert_int_equal(lost_exits, 1);
	assert_int_equal(seen_events(EXITS_EVENT_EXIT), 2);
	assert_int_equal(seen_events(EXITS_EVENT_ENTRY), 2);
	assert_int_equal(seen_events(EXITS_EVENT_USERSPACE), 1);
}

/* A guest of guests, or a fuzzer: what one record has no room for is in others of the thread. */
TEST(test_many_reasons, setup)
{
	const struct exits_records records = { m.records, RECORDS, { NULL } };
	static struct exits_record record;

	for (uint64_t code = 1; code <= 90; code++) {
		exits_at(1000 * code, code);
		enters_at(1000 * code + code);
	}
	exits_at(200000, 90);
	enters_at(200100);
	exits_record_read(&record, &records, &m.records[0]);
	for (uint64_t code = 1; code <= 90; code++) {
		const struct exits_cell *cell = cell_of(0, code, EXITS_VMEXIT);
		const struct exits_cell *read = &record.cells[dense[EXITS_VMEXIT][code]];

		assert_int_equal(cell->count, code == 90 ? 2 : 1);
		assert_int_equal(cell->time_ns, code == 90 ? 190 : code);
		assert_memory_equal(read, cell, sizeof(*read));
	}
	assert_int_equal(m.nr_free, RECORDS - 6);
	assert_int_equal(m.records[1].tid, 0); /* no thread's */
	m.nr_free = 0;
	for (uint64_t code = 101; code <= 106; code++)
		exits_at(1000 * code, code);
	assert_int_equal(lost_exits, 0);
	exits_at(200000, 121);
	enters_at(200100);
	assert_int_equal(lost_exits, 1);
	assert_int_equal(cell_of(0, 121, EXITS_VMEXIT)->time_ns, 0);
}

/* Clocks of some RISC-V machines tick once a microsecond. */
TEST(test_slow_clock, setup)
{
	exits_at(1000, IO);
	enters_at(2000);
	exits_at(2000, IO); /* the guest ran for less than a tick */
	assert_int_equal(exits_open_since(&m.records[0].at), 2000);
	enters_at(5000);
	exits_at(6000, IO); /* this exit lasts for less */
	enters_at(6000);
	assert_int_equal(exits_open_since(&m.records[0].at), 0);
	enters_at(9000);
	assert_int_equal(cell_of(0, IO, EXITS_VMEXIT)->count, 3);
	assert_int_equal(cell_of(0, IO, EXITS_VMEXIT)->time_ns, 4000);
}

/* A halt is kicked, begins again without an entry, and is kicked again: no time is dropped. */
TEST(test_two_exits_to_user_space, setup)
{
	exits_at(1000, HLT);
	leaves_at(1100, 0, -EINTR);
	leaves_at(1700, 0, -EINTR);
	assert_int_equal(cell_of(0, EXITS_RESTART, EXITS_USERSPACE)->count, 2);
	assert_int_equal(cell_of(0, EXITS_RESTART, EXITS_USERSPACE)->time_ns, 600);
	enters_at(2000);
	assert_int_equal(cell_of(0, EXITS_RESTART, EXITS_USERSPACE)->time_ns, 900);
	assert_int_equal(cell_of(0, HLT, EXITS_VMEXIT)->time_ns, 1000);
}

/* ---- threads that lose their CPU, see away.bpf.h ---- */

/* Why: it is preempted; it sleeps; KVM blocks its vCPU, which has nothing to do. */
enum loss { RUNNABLE, ASLEEP, BLOCKED_VCPU };

static void loses_cpu_at(uint64_t now_ns, enum loss why)
{
	m.now_ns = now_ns;
	m.task.on_rq = why == RUNNABLE;
	m.vcpu.wait.task = why == BLOCKED_VCPU ? &m.task : NULL;
	m.task.nvcsw += why != RUNNABLE;
	assert_int_equal(on_sched_out(NULL), 0);
}

/* waited_ns: what the scheduler adds to its sum. */
static void gets_cpu_at(uint64_t now_ns, uint64_t waited_ns)
{
	m.now_ns = now_ns;
	m.task.on_rq = 1;
	m.task.sched_info.run_delay += waited_ns;
	assert_int_equal(on_sched_in(NULL), 0);
	m.vcpu.wait.task = NULL;
}

/* What the scheduler sums up of the thread outside KVM_RUN. */
static void ran(uint64_t ns)
{
	m.task.se.sum_exec_runtime += ns;
	m.task.se.exec_start += ns;
}

static void was_off(uint64_t waited_ns, uint64_t slept_ns)
{
	m.task.se.exec_start += waited_ns + slept_ns;
	m.task.sched_info.run_delay += waited_ns;
	m.task.nvcsw += slept_ns > 0;
}

struct boxes {
	uint64_t guest, l2, kvm, user, poll, idle, block, block_user, wait;
};

static uint64_t sum_of_cells(const struct exits_record *record, struct exits_time *time)
{
	uint64_t halts_ns = 0;

	for (unsigned int i = exits_record_next(record, 0); i < EXITS_CELLS;
	     i = exits_record_next(record, i + 1)) {
		uint64_t ns = record->cells[i].time_ns + record->open_ns[i];

		time->ns[codes[i].kind] += ns;
		time->idle_ns[codes[i].kind] += record->parts[i].idle_ns;
		time->blocked_ns[codes[i].kind] += record->parts[i].blocked_ns;
		if (codes[i].kind == EXITS_VMEXIT)
			time->polled_ns += record->parts[i].polled_ns;
		if (codes[i].kind == EXITS_VMEXIT && codes[i].code == HLT)
			halts_ns += ns;
	}
	return halts_ns;
}

/* The first thread's time, as a reader splits it now; off: what user space's part was off. */
static void read_boxes(uint64_t now_ns, struct exits_off off, uint64_t *ret_parts)
{
	const struct exits_records records = { m.records, RECORDS, { NULL } };
	static struct exits_record record;
	struct exits_before before = { .from_ns = 0 };
	struct exits_time time = { 0 };
	uint64_t halts_ns;

	exits_record_read(&record, &records, &m.records[0]);
	exits_record_time(&record, &m.records[0], &before, off, now_ns);
	halts_ns = sum_of_cells(&record, &time);
	time.waited_ns = record.at.sums.waited;
	time.idle_out_ns = record.at.sums.idle_out;
	time.nested_ns = record.at.sums.nested;
	if (!sees_away) /* as the provider has it then */
		time.idle_ns[EXITS_VMEXIT] = halts_ns - record.at.sums.halt_user - time.polled_ns;
	exit_fields_split(record.whole_ns, &time, ret_parts);
}

static void assert_boxes_off(uint64_t now_ns, struct exits_off off, struct boxes wanted)
{
	uint64_t parts[TIME_PARTS];

	read_boxes(now_ns, off, parts);
	assert_int_equal(parts[TIME_WHOLE], now_ns);
	assert_int_equal(parts[TIME_GUEST], wanted.guest);
	assert_int_equal(parts[TIME_L2], wanted.l2);
	assert_int_equal(parts[TIME_KVM], wanted.kvm);
	assert_int_equal(parts[TIME_USER], wanted.user);
	assert_int_equal(parts[TIME_POLL], wanted.poll);
	assert_int_equal(parts[TIME_IDLE], wanted.idle);
	assert_int_equal(parts[TIME_BLOCK], wanted.block);
	assert_int_equal(parts[TIME_BLOCK_USER], wanted.block_user);
	assert_int_equal(parts[TIME_WAIT], wanted.wait);
}

/* The words in the last argument are members of struct boxes. */
#define assert_boxes(now_ns, ...) \
	assert_boxes_off(now_ns, (struct exits_off){ 0, 0 }, (struct boxes){ __VA_ARGS__ })

/* A vCPU that is seen when it loses its CPU. It begins with an entry at 0, in the guest. */
static void begin_away(void)
{
	halts[0] = HLT;
	sees_away = true;
	exits_at(0, 1);
	enters_at(0);
}

static const struct exits_parts *parts_of_cell(uint64_t code, uint64_t kind)
{
	return &reason_in(0, dense[kind][code])->parts;
}

/* The reader has made the record of a vCPU that slept before there was a program. */
TEST(test_asleep_before, setup)
{
	struct exits_thread *record = &m.records[7];

	sees_away = true;
	*record = (struct exits_thread){ .pid_tgid = bpf_get_current_pid_tgid(), .number = 7,
					 .vcpu = 1, .at.away = EXITS_IDLES,
					 .at.away_since = 1000, .first_ns = 1000,
					 .delay_before = 40, .tid = m.tid };
	m.task.sched_info.run_delay = 40;
	m.numbers[m.tid] = 7 + 1;
	m.has_number[m.tid] = true;
	gets_cpu_at(1500, 30);
	assert_int_equal(record->at.sums.idle_out, 470);
	assert_int_equal(record->at.sums.waited, 30);
	assert_int_equal(record->at.away_since, 0);
	enters_at(1510);
	exits_at(1600, HLT);
	assert_int_equal(record->at.begun, 1600);
	assert_int_equal(m.records[0].tid, 0);
}

/* Its timer's interrupt makes it leave, and another one has the CPU. */
TEST(test_preempted, setup)
{
	begin_away();
	exits_at(100, IO);
	loses_cpu_at(103, RUNNABLE);
	assert_int_equal(m.records[0].at.away_since, 103);
	assert_boxes(400, .guest = 100, .kvm = 3, .wait = 297);
	gets_cpu_at(1103, 1200); /* the scheduler's sum is too long after some wake-ups */
	assert_int_equal(m.records[0].at.away_since, 0);
	assert_int_equal(exits_open_since(&m.records[0].at), 1100);
	assert_boxes(1104, .guest = 100, .kvm = 4, .wait = 1000);
	enters_at(1110);
	assert_boxes(1200, .guest = 190, .kvm = 10, .wait = 1000);
	assert_int_equal(cell_of(0, IO, EXITS_VMEXIT)->time_ns, 10);
	assert_int_equal(cell_of(0, IO, EXITS_VMEXIT)->max_ns, 10);
	assert_int_equal(cell_of(0, IO, EXITS_VMEXIT)->hist[0], 1);
	assert_int_equal(parts_of_cell(IO, EXITS_VMEXIT)->waited_ns, 1000);
	assert_int_equal(parts_of_cell(IO, EXITS_VMEXIT)->blocked_ns, 0);
	/* Between an entry and the guest: no exit has it. */
	loses_cpu_at(1200, RUNNABLE);
	assert_boxes(1250, .guest = 190, .kvm = 10, .wait = 1050);
	gets_cpu_at(1300, 100);
	exits_at(1400, IO);
	assert_boxes(1400, .guest = 290, .kvm = 10, .wait = 1100);
	assert_int_equal(parts_of_cell(IO, EXITS_VMEXIT)->waited_ns, 1000);
	/* An interrupt is served for 70 between the switch and KVM's notifier: it has its CPU. */
	loses_cpu_at(1410, RUNNABLE);
	gets_cpu_at(1510, 30);
	assert_boxes(1510, .guest = 290, .kvm = 90, .wait = 1130);
	assert_int_equal(parts_of_cell(IO, EXITS_VMEXIT)->waited_ns, 1030);
}

/* A thread whose first exit is still to come has no record. */
TEST(test_away_without_record, setup)
{
	sees_away = true;
	loses_cpu_at(50, RUNNABLE);
	exits_at(90, IO);
	gets_cpu_at(95, 45);
	assert_int_equal(m.records[0].at.sums.waited, 0);
	enters_at(100);
	assert_int_equal(cell_of(0, IO, EXITS_VMEXIT)->time_ns, 10);
}

/* A page comes from a pager; when it is there, the CPU is another one's for a while. */
TEST(test_page_within_an_exit, setup)
{
	begin_away();
	exits_at(100, IO);
	loses_cpu_at(110, ASLEEP);
	assert_boxes(500, .guest = 100, .kvm = 10, .block = 390);
	gets_cpu_at(1110, 200);
	assert_boxes(1110, .guest = 100, .kvm = 10, .block = 800, .wait = 200);
	enters_at(1120);
	assert_boxes(1200, .guest = 180, .kvm = 20, .block = 800, .wait = 200);
	assert_int_equal(cell_of(0, IO, EXITS_VMEXIT)->time_ns, 820);
	assert_int_equal(parts_of_cell(IO, EXITS_VMEXIT)->blocked_ns, 800);
	assert_int_equal(parts_of_cell(IO, EXITS_VMEXIT)->waited_ns, 200);
	/* The same for a lock of KVM's in a halt: that is no idleness. */
	exits_at(1200, HLT);
	loses_cpu_at(1210, ASLEEP);
	assert_boxes(1300, .guest = 180, .kvm = 30, .block = 890, .wait = 200);
	gets_cpu_at(1310, 0);
	enters_at(1320);
	assert_boxes(1320, .guest = 180, .kvm = 40, .block = 900, .wait = 200);
	assert_int_equal(parts_of_cell(HLT, EXITS_VMEXIT)->idle_ns, 0);
}

/* Polled for 20, asleep until an interrupt, and then it waits for a CPU. */
TEST(test_halt_ended_by_interrupt, setup)
{
	__u64 *polled = &m.vcpu.stat.generic.halt_poll_fail_ns;

	begin_away();
	exits_at(10, HLT); /* what KVM has polled before is not known */
	enters_at(20);
	exits_at(100, HLT);
	loses_cpu_at(130, BLOCKED_VCPU);
	assert_boxes(500, .guest = 90, .kvm = 40, .idle = 370);
	gets_cpu_at(1130, 300);
	assert_boxes(1130, .guest = 90, .kvm = 40, .idle = 700, .wait = 300);
	*polled += 20;
	enters_at(1150);
	assert_boxes(1200, .guest = 140, .kvm = 40, .poll = 20, .idle = 700, .wait = 300);
	assert_int_equal(cell_of(0, HLT, EXITS_VMEXIT)->time_ns, 10 + 750);
	assert_int_equal(parts_of_cell(HLT, EXITS_VMEXIT)->idle_ns, 700);
	assert_int_equal(parts_of_cell(HLT, EXITS_VMEXIT)->polled_ns, 20);
	assert_int_equal(parts_of_cell(HLT, EXITS_VMEXIT)->waited_ns, 300);
	exits_at(1210, IO);
	leaves_at(1215, IO, 0);
	assert_boxes(1240, .guest = 150, .kvm = 45, .user = 25, .poll = 20, .idle = 700,
		     .wait = 300);
}

/*
 * A signal ends KVM_RUN, user space works for 50, and the halt goes on: its part ends when the
 * vCPU's thread sleeps again.
 */
TEST(test_halt_ended_by_signal, setup)
{
	begin_away();
	exits_at(100, HLT);
	loses_cpu_at(110, BLOCKED_VCPU);
	gets_cpu_at(195, 0);
	leaves_at(200, 0, -EINTR);
	assert_boxes(220, .guest = 100, .kvm = 15, .user = 20, .idle = 85);
	ran(50);
	loses_cpu_at(250, BLOCKED_VCPU);
	assert_boxes(300, .guest = 100, .kvm = 15, .user = 50, .idle = 135);
	gets_cpu_at(400, 0);
	leaves_at(400, 0, -EINTR);
	assert_boxes(425, .guest = 100, .kvm = 15, .user = 75, .idle = 235);
	ran(50);
	loses_cpu_at(450, BLOCKED_VCPU);
	gets_cpu_at(490, 0);
	enters_at(500);
	assert_boxes(600, .guest = 200, .kvm = 25, .user = 100, .idle = 275);
	assert_int_equal(cell_of(0, EXITS_RESTART, EXITS_USERSPACE)->time_ns, 100);
	assert_int_equal(cell_of(0, EXITS_RESTART, EXITS_USERSPACE)->hist[0], 2);
	assert_int_equal(cell_of(0, HLT, EXITS_VMEXIT)->time_ns, 400); /* from exit to entry */
	assert_int_equal(m.records[0].at.sums.halt_user, 100);
}

/* INIT in a halt: the vCPU waits for SIPI, and KVM_RUN fails once more before that comes. */
TEST(test_halt_ended_by_init, setup)
{
	begin_away();
	exits_at(100, HLT);
	leaves_at(200, 0, -EINTR);
	ran(40);
	loses_cpu_at(240, BLOCKED_VCPU);
	gets_cpu_at(300, 0);
	leaves_at(300, 0, -EAGAIN); /* a vCPU that was reset */
	assert_boxes(340, .guest = 100, .kvm = 100, .user = 80, .idle = 60);
	enters_at(400); /* SIPI */
	assert_boxes(500, .guest = 200, .kvm = 100, .user = 140, .idle = 60);
}

/* Outside a halt, as of a guest that has booted again: no exit has it. */
TEST(test_wait_for_sipi, setup)
{
	begin_away();
	exits_at(100, IO);
	leaves_at(110, IO, 0);
	ran(10);
	loses_cpu_at(120, BLOCKED_VCPU);
	assert_boxes(1000, .guest = 100, .kvm = 10, .user = 10, .idle = 880);
	gets_cpu_at(5120, 50);
	assert_int_equal(m.records[0].at.sums.idle_out, 4950);
	assert_boxes(5120, .guest = 100, .kvm = 10, .user = 10, .idle = 4950, .wait = 50);
	enters_at(5130);
	assert_boxes(5200, .guest = 170, .kvm = 20, .user = 10, .idle = 4950, .wait = 50);
	assert_int_equal(cell_of(0, IO, EXITS_VMEXIT)->time_ns, 30);
	assert_int_equal(cell_of(0, IO, EXITS_USERSPACE)->time_ns, 10);
	assert_int_equal(parts_of_cell(IO, EXITS_VMEXIT)->idle_ns, 0);
}

/* KVM halts the vCPU until the host has its page: the guest does not know, and has work. */
TEST(test_async_page_fault, setup)
{
	begin_away();
	m.vcpu.arch.apf.halted = true;
	exits_at(100, IO);
	loses_cpu_at(110, BLOCKED_VCPU);
	assert_boxes(300, .guest = 100, .kvm = 10, .block = 190);
	gets_cpu_at(310, 20);
	enters_at(320);
	assert_boxes(320, .guest = 100, .kvm = 20, .block = 180, .wait = 20);
	m.lacks = "apf"; /* on other architectures than x86 */
	exits_at(400, HLT);
	loses_cpu_at(410, BLOCKED_VCPU);
	gets_cpu_at(500, 0);
	assert_boxes(500, .guest = 180, .kvm = 30, .block = 180, .idle = 90, .wait = 20);
}

/* Since Linux 6.12: asleep, and yet in the queue of its CPU for a while. */
TEST(test_delayed_dequeue, setup)
{
	begin_away();
	exits_at(100, HLT);
	m.task.se.sched_delayed = 1;
	m.vcpu.wait.task = &m.task;
	m.task.on_rq = 1;
	m.now_ns = 110;
	on_sched_out(NULL);
	assert_boxes(200, .guest = 100, .kvm = 10, .idle = 90);
	gets_cpu_at(210, 10);
	m.task.se.sched_delayed = 0;
	assert_boxes(210, .guest = 100, .kvm = 10, .idle = 90, .wait = 10);
	m.lacks = "sched_delayed";
	m.task.se.sched_delayed = 1; /* a byte of something else */
	loses_cpu_at(220, RUNNABLE);
	gets_cpu_at(250, 30);
	assert_boxes(250, .guest = 100, .kvm = 20, .idle = 90, .wait = 40);
}

/* The VMM works for 30, sleeps for 500 and waits for 70, which the scheduler's sums say. */
TEST(test_user_space_sleeps_and_waits, setup)
{
	const struct exits_off none = { 0, 0 }, off = { 50, 400 };

	begin_away();
	m.task.se.exec_start = 7000;
	m.task.se.sum_exec_runtime = 900;
	m.task.sched_info.run_delay = 77;
	exits_at(100, IO);
	leaves_at(110, IO, 0);
	assert_boxes_off(600, none, (struct boxes){ .guest = 100, .kvm = 10, .user = 490 });
	assert_boxes_off(600, off, (struct boxes){ .guest = 100, .kvm = 10, .user = 40,
						   .block = 400, .block_user = 400, .wait = 50 });
	ran(20);
	was_off(70, 500);
	ran(5); /* and 5 that are not accounted yet */
	enters_at(710);
	assert_boxes(800, .guest = 190, .kvm = 10, .user = 30, .block = 500, .block_user = 500,
		     .wait = 70);
	assert_int_equal(cell_of(0, IO, EXITS_VMEXIT)->time_ns, 540);
	assert_int_equal(cell_of(0, IO, EXITS_USERSPACE)->time_ns, 530);
	assert_int_equal(parts_of_cell(IO, EXITS_VMEXIT)->blocked_ns, 500);
	assert_int_equal(parts_of_cell(IO, EXITS_USERSPACE)->blocked_ns, 500);
	assert_int_equal(parts_of_cell(IO, EXITS_VMEXIT)->waited_ns, 70);
	assert_int_equal(parts_of_cell(IO, EXITS_USERSPACE)->waited_ns, 70);
	assert_int_equal(m.records[0].at.sums.waited, 70);
}

/*
 * CONFIG_IRQ_TIME_ACCOUNTING: the VMM works for 30, in which 5 go to interrupts, then sleeps for
 * 500, in which 200 go to interrupts. Another one only works, for 60, half of it for interrupts.
 */
TEST(test_interrupts_while_user_space_sleeps, setup)
{
	begin_away();
	exits_at(100, IO);
	leaves_at(110, IO, 0);
	ran(25);
	m.rq.prev_irq_time += 5;
	was_off(0, 300); /* by the clock that stands for interrupts */
	m.rq.prev_irq_time += 200;
	enters_at(640);
	assert_boxes(700, .guest = 160, .kvm = 10, .user = 25, .block = 505, .block_user = 505);
	exits_at(700, IO);
	leaves_at(710, IO, 0);
	ran(30);
	m.rq.prev_irq_time += 30;
	enters_at(770);
	assert_boxes(770, .guest = 160, .kvm = 20, .user = 85, .block = 505, .block_user = 505);
}

/* It was preempted in user space. Interrupts, of no thread's time on some kernels, are User%. */
TEST(test_user_space_waits, setup)
{
	begin_away();
	exits_at(100, IO);
	leaves_at(110, IO, 0);
	ran(40);
	was_off(60, 0);
	enters_at(310);
	assert_boxes(310, .guest = 100, .kvm = 10, .user = 140, .wait = 60);
}

/* Moved to another CPU, and not asleep: a clock that is another one's says nothing. */
TEST(test_user_space_moves, setup)
{
	begin_away();
	exits_at(100, IO);
	leaves_at(110, IO, 0);
	ran(40);
	was_off(60, 0);
	m.task.se.exec_start += 1000000;
	m.cpu = 1;
	enters_at(310);
	assert_boxes(310, .guest = 100, .kvm = 10, .user = 140, .wait = 60);
}

/* On another CPU, the clock of which may differ: what did not run was off. */
TEST(test_user_space_on_another_cpu, setup)
{
	begin_away();
	exits_at(100, IO);
	leaves_at(110, IO, 0);
	ran(40);
	was_off(60, 300);
	m.task.se.exec_start -= 1000000;
	m.cpu = 1;
	enters_at(510);
	assert_boxes(510, .guest = 100, .kvm = 10, .user = 40, .block = 300, .block_user = 300,
		     .wait = 60);
}

/* A clock that is read wrongly makes no time: at most all of the part was off. */
TEST(test_user_space_no_longer_than_it_is, setup)
{
	begin_away();
	exits_at(100, IO);
	leaves_at(110, IO, 0);
	was_off(700, 90000);
	enters_at(310);
	assert_boxes(310, .guest = 100, .kvm = 10, .wait = 200);
	exits_at(400, IO);
	leaves_at(410, IO, 0);
	was_off(0, 90000);
	enters_at(510);
	assert_boxes(510, .guest = 190, .kvm = 20, .block = 100, .block_user = 100, .wait = 200);
}

/* Without KVM's interrupt controllers the VMM halts the vCPU: asleep there, it is idle. */
TEST(test_halt_in_user_space, setup)
{
	begin_away();
	exits_at(100, HLT);
	leaves_at(110, EXITS_USER_HLT, 0);
	assert_boxes_off(200, (struct exits_off){ 0, 70 },
			 (struct boxes){ .guest = 100, .kvm = 10, .user = 20, .idle = 70 });
	ran(10);
	was_off(0, 80);
	ran(10);
	enters_at(210);
	assert_boxes(210, .guest = 100, .kvm = 10, .user = 20, .idle = 80);
	assert_int_equal(m.records[0].at.sums.halt_user, 0);
	assert_int_equal(cell_of(0, EXITS_USER_HLT, EXITS_USERSPACE)->count, 1);
}

/* An exit to user space that ends no halt: until the thread sleeps in KVM, or the guest runs. */
TEST(test_user_space_ends_at_sleep, setup)
{
	begin_away();
	exits_at(100, IO);
	leaves_at(110, 0, -EINTR);
	ran(30);
	loses_cpu_at(140, ASLEEP);
	assert_boxes(170, .guest = 100, .kvm = 10, .user = 30, .block = 30);
	gets_cpu_at(180, 0);
	enters_at(190);
	assert_int_equal(cell_of(0, EXITS_RESTART, EXITS_USERSPACE)->time_ns, 30);
	assert_boxes(200, .guest = 110, .kvm = 20, .user = 30, .block = 40);
}

/* The begin of what L2 did moves along: what waited between is not L2's. */
TEST(test_nested_guest_waits, setup)
{
	begin_away();
	exits_at(100, IO);
	on_nested_exit(NULL);
	loses_cpu_at(110, RUNNABLE);
	gets_cpu_at(510, 400);
	assert_int_equal(m.records[0].at.nested_since, exits_open_since(&m.records[0].at));
	enters_at(520);
	on_nested_entry(NULL);
	loses_cpu_at(530, RUNNABLE); /* after the entry: interrupts were on */
	gets_cpu_at(630, 100);
	exits_at(700, IO);
	on_nested_exit(NULL);
	assert_boxes(700, .guest = 180, .l2 = 80, .kvm = 20, .wait = 500);
}

/* The programs for kernels that attach none of the first kind. */
TEST(test_probes, setup)
{
	begin_away();
	exits_at(100, IO);
	m.task.on_rq = 1;
	m.now_ns = 110;
	assert_int_equal(on_probed_out(NULL), 0);
	m.now_ns = 210;
	m.task.sched_info.run_delay += 100;
	assert_int_equal(on_probed_in(NULL), 0);
	enters_at(220);
	assert_boxes(220, .guest = 100, .kvm = 20, .wait = 100);
}

/* Nothing says when the thread has a CPU: a halt is idle to its end, signals or not. */
TEST(test_switches_not_seen, setup)
{
	begin_away();
	sees_away = false;
	exits_at(100, HLT);
	leaves_at(200, 0, -EINTR);
	assert_boxes(250, .guest = 100, .idle = 150);
	enters_at(300);
	exits_at(400, IO);
	leaves_at(410, IO, 0);
	was_off(20, 30);
	enters_at(500);
	assert_boxes(500, .guest = 200, .kvm = 10, .user = 90, .idle = 200);
	assert_int_equal(cell_of(0, EXITS_RESTART, EXITS_USERSPACE)->count, 1);
	assert_int_equal(cell_of(0, EXITS_RESTART, EXITS_USERSPACE)->time_ns, 0);
}

/* ---- the cases that recordings have, too: see test_recorded.c of trace/exits ---- */

/* The thread of a case: where it is, and since when it has no CPU. */
struct case_thread {
	bool is_in_kvm, is_halt;
	bool is_away, sleeps;
	uint64_t since_ns, slept_ns;
	struct exits_off off; /* in user space, of the part that is open */
};

static void case_loses_cpu_at(struct case_thread *thread, uint64_t now_ns, bool sleeps)
{
	thread->is_away = true;
	thread->sleeps = sleeps;
	thread->since_ns = now_ns;
	thread->slept_ns = 0;
	if (thread->is_in_kvm)
		loses_cpu_at(now_ns, !sleeps ? RUNNABLE : thread->is_halt ? BLOCKED_VCPU : ASLEEP);
}

static void case_is_woken(struct case_thread *thread, uint64_t now_ns)
{
	if (!thread->is_away || !thread->sleeps)
		return;
	thread->slept_ns = now_ns - thread->since_ns;
	thread->sleeps = false;
}

static void case_gets_cpu_at(struct case_thread *thread, uint64_t now_ns)
{
	uint64_t waited_ns = now_ns - thread->since_ns - thread->slept_ns;

	thread->is_away = false;
	if (thread->is_in_kvm) {
		gets_cpu_at(now_ns, waited_ns);
		return;
	}
	was_off(waited_ns, thread->slept_ns);
	thread->off.waited_ns += waited_ns;
	thread->off.slept_ns += thread->slept_ns;
}

static void case_steps(struct case_thread *thread, const struct exit_step *step)
{
	static const uint64_t exits[] = { [FOR_IO] = IO, [FOR_HALT] = HLT };
	static const uint64_t users[] = { [FOR_IO] = IO, [FOR_HALT] = EXITS_USER_HLT,
					  [FOR_SIGNAL] = 0 };

	switch (step->kind) {
	case STEP_EXIT:
		exits_at(step->at_ns, exits[step->why]);
		thread->is_halt = step->why == FOR_HALT;
		break;
	case STEP_L2:
		on_nested_exit(NULL);
		break;
	case STEP_MSR:
		on_msr(raw(1, 0x6e0, 0));
		break;
	case STEP_POLLED:
		m.vcpu.stat.generic.halt_poll_success_ns += step->why;
		break;
	case STEP_ENTRY:
		enters_at(step->at_ns);
		on_nested_entry(NULL);
		break;
	case STEP_LEAVE:
		leaves_at(step->at_ns, users[step->why], step->why == FOR_SIGNAL ? -EINTR : 0);
		thread->is_in_kvm = false;
		thread->off = (struct exits_off){ 0, 0 };
		break;
	case STEP_RUN:
		thread->is_in_kvm = true;
		break;
	case STEP_PREEMPTED:
	case STEP_SLEEP:
		case_loses_cpu_at(thread, step->at_ns, step->kind == STEP_SLEEP);
		break;
	case STEP_WAKE:
		case_is_woken(thread, step->at_ns);
		break;
	case STEP_GET_CPU:
		case_gets_cpu_at(thread, step->at_ns);
		break;
	case STEP_END:
		if (thread->is_away && thread->sleeps)
			thread->off.slept_ns += step->at_ns - thread->since_ns;
		else if (thread->is_away)
			thread->off.waited_ns += step->at_ns - thread->since_ns;
		break;
	}
}

static void check_case(const struct exit_case *wanted, uint64_t end_ns, struct exits_off off)
{
	uint64_t parts[TIME_PARTS], took_ns[CASE_MSRS + 1] = { 0 };
	struct exits_parts sums[EXITS_REASONS] = { 0 };

	read_boxes(end_ns, off, parts);
	assert_memory_equal(parts, wanted->boxes, sizeof(parts));
	for (unsigned int i = 0; i < EXITS_CELLS; i++) {
		took_ns[codes[i].kind] += reason_in(0, i)->cell.time_ns;
		exits_parts_join(&sums[codes[i].kind], &reason_in(0, i)->parts);
	}
	for (uint32_t i = 0; i < m.nr_arguments; i++)
		took_ns[CASE_MSRS] += m.argument_cells[i].time_ns;
	assert_memory_equal(took_ns, wanted->took_ns, sizeof(took_ns));
	if (!exit_case_is_open(wanted))
		assert_memory_equal(sums, wanted->parts, sizeof(sums));
}

static void run_case(void **state, const struct exit_case *of)
{
	struct case_thread thread = { .is_in_kvm = true };
	const struct exit_step *step = of->steps;

	setup(state);
	begin_away();
	exits_at(0, HLT);
	enters_at(0);
	m.records[0].at.nested_since = 1; /* it has nested before */
	while (step->kind != STEP_END)
		case_steps(&thread, step++);
	case_steps(&thread, step);
	check_case(of, step->at_ns, thread.is_in_kvm ? (struct exits_off){ 0, 0 } : thread.off);
}

TEST(test_cases_of_recordings, setup)
{
	for (size_t i = 0; i < ARRAY_SIZE(exit_cases); i++) {
		print_message("%s\n", exit_cases[i].name);
		run_case(state, &exit_cases[i]);
	}
}

TEST(test_cases_of_a_model, setup)
{
	for (uint32_t seed = 1; seed <= 3000; seed++) {
		struct exit_case random;

		exit_case_make(&random, seed, true);
		run_case(state, &random);
	}
}

/* Where the kernel's kvm_exit does not fire, the end of user space's part is not known. */
TEST(test_user_space_alone, setup)
{
	has_exits = false;
	leaves_at(1000, IO, 0);
	leaves_at(9000, IO, 0);
	assert_int_equal(cell_of(0, IO, EXITS_USERSPACE)->count, 2);
	assert_int_equal(cell_of(0, IO, EXITS_USERSPACE)->time_ns, 0);
}

/* Records that were added later: their numbers follow the numbers of the first ones. */
TEST(test_more_records, setup)
{
	const struct exits_reason *reason;

	m.free_threads[0] = RECORDS + 1;
	m.nr_free = 1;
	exits_at(1000, HLT);
	m.cpu = 1;
	enters_at(1500);
	exits_at(2000, HLT);
	enters_at(2250);
	assert_int_equal(m.more[1].number, RECORDS + 1);
	reason = reason_of(&m.more[1], dense[EXITS_VMEXIT][HLT], false);
	assert_non_null(reason);
	assert_int_equal(reason->cell.count, 2);
	assert_int_equal(reason->cell.time_ns, 750);
}

/* Between two samples a thread ends, and another process's gets its number. */
TEST(test_number_of_an_ended_thread, setup)
{
	exits_at(1000, HLT);
	enters_at(1500);
	m.more_tgid = 7;
	m.cpu = 1;
	leaves_at(1900, IO, 0); /* it has no record yet */
	exits_at(2000, HLT);
	enters_at(2250);
	m.cpu = 0;
	exits_at(3000, HLT);
	enters_at(3250);
	assert_int_equal(cell_of(0, HLT, EXITS_VMEXIT)->count, 1);
	assert_int_equal(cell_of(1, HLT, EXITS_VMEXIT)->count, 2);
	assert_int_equal(m.records[1].tgid, TGID + 7);
	assert_int_equal(lost_exits, 0);
}

/* A thread without a record: its exits are lost, once each, until it gets one. */
TEST(test_no_room, setup)
{
	m.nr_free = 0;
	m.tid = 2;
	leaves_at(900, IO, 0); /* of an exit that began before */
	writes_port();
	assert_int_equal(lost_exits, 0);
	exits_at(1000, HLT);
	leaves_at(1100, IO, 0);
	writes_port();
	enters_at(1200);
	assert_int_equal(lost_exits, 1);
	exits_at(1300, HLT);
	assert_int_equal(lost_exits, 2);
	m.nr_free = 1;
	leaves_at(1400, IO, 0); /* the same exit */
	exits_at(1500, HLT);
	leaves_at(1600, IO, 0);
	assert_int_equal(cell_of(m.free_threads[0], HLT, EXITS_VMEXIT)->count, 1);
	assert_int_equal(cell_of(m.free_threads[0], IO, EXITS_USERSPACE)->count, 1);
	assert_int_equal(lost_exits, 2);
	assert_int_equal(lost_arguments, 0);
}

/* An exit that began before all programs were attached: none of them counts any of it. */
TEST(test_first_moments, setup)
{
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

static void asks_for_leaf(uint64_t leaf)
{
	assert_int_equal(on_cpuid(raw(leaf, 0, 0)), 0);
}

/* A guest that asks for more leaves than there is room for: another one beside it loses nothing. */
TEST(test_greedy_guest, setup)
{
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

/* The programs of arguments may be there for a moment before and after their map. */
TEST(test_arguments_that_are_not_counted, setup)
{
	m.counts_no_arguments = true;
	exits_at(1000, IO);
	writes_port();
	assert_int_equal(m.records[0].has_argument, 0);
	enters_at(1500);
	m.counts_no_arguments = false;
	exits_at(2000, IO);
	writes_port();
	m.counts_no_arguments = true;
	enters_at(2500);
	assert_int_equal(cell_of(0, IO, EXITS_VMEXIT)->time_ns, 1000);
	assert_int_equal(m.argument_cells[0].time_ns, 0);
	assert_int_equal(m.records[0].has_argument, 0);
	assert_int_equal(lost_arguments, 0);
}

/* Where kvm_exit does not fire, a thread begins with whatever happens to it. */
TEST(test_argument_alone, setup)
{
	has_exits = false;
	is_counting = false;
	writes_port();
	assert_int_equal(m.nr_arguments, 0);
	is_counting = true;
	writes_port();
	assert_int_equal(m.argument_cells[0].count, 1);
	assert_int_equal(m.argument_keys[0].cell, EXITS_NO_CELL);
}

TEST(test_argument_has_the_exits_time, setup)
{
	exits_at(1000, HLT);
	writes_port();
	enters_at(1250);
	assert_int_equal(m.nr_arguments, 1);
	assert_int_equal(m.argument_keys[0].a, 0x3f8);
	assert_int_equal(m.argument_cells[0].count, 1);
	assert_int_equal(m.argument_cells[0].time_ns, 250);
}

/* ---- long exits */

static int setup_long(void **state)
{
	setup(state);
	reports_long = true;
	return 0;
}

TEST(test_long_exit, setup_long)
{
	const struct exits_long *first = &m.reported[0], *second = &m.reported[1];

	m.cpu = 3;
	begins_at(1000, IO, 0xfff0);
	writes_port();
	leaves_at(1100, IO, 0);
	leaves_at(1200, IO, 0); /* a signal: the same exit is in user space once more */
	m.cpu = 4;
	enters_at(1401);
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
	begins_at(2000, IO, 0x10);
	leaves_at(2900, IO, 0);
	enters_at(3000);
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
TEST(test_long_halt, setup_long)
{
	__u64 *polled = &m.vcpu.stat.generic.halt_poll_success_ns;

	halts[0] = HLT;
	begins_at(100, HLT, 0);
	enters_at(200);
	*polled += 150;
	begins_at(1000, HLT, 0);
	enters_at(1200);
	assert_int_equal(m.nr_reported, 0);
	*polled += 300;
	begins_at(2000, HLT, 0);
	enters_at(2500);
	begins_at(3000, IO, 0);
	enters_at(4000);
	assert_int_equal(m.reported[0].polled_ns, 300);
	assert_int_equal(m.reported[1].polled_ns, 0);
}

/* In a halt user space's part has what the halt goes on for between its parts left out. */
TEST(test_long_halt_with_user_space, setup_long)
{
	begin_away();
	begins_at(1000, HLT, 0);
	leaves_at(1100, 0, -EINTR);
	ran(50);
	loses_cpu_at(1150, BLOCKED_VCPU);
	gets_cpu_at(1800, 0);
	leaves_at(1800, 0, -EINTR);
	ran(60);
	loses_cpu_at(1860, BLOCKED_VCPU);
	gets_cpu_at(1990, 0);
	enters_at(2000);
	begins_at(3000, IO, 0);
	leaves_at(3100, IO, 0);
	ran(900);
	enters_at(4000);
	assert_int_equal(m.nr_reported, 2);
	assert_int_equal(m.reported[0].took_ns, 1000);
	assert_int_equal(m.reported[0].user_ns, 110);
	assert_int_equal(m.reported[1].user_ns, 900);
}

/* What the thread waits is beside what the exit took; before the exit it is not of it. */
TEST(test_long_wait, setup_long)
{
	begin_away();
	begins_at(1000, IO, 0);
	loses_cpu_at(1100, RUNNABLE);
	gets_cpu_at(1200, 100);
	leaves_at(1300, IO, 0);
	was_off(250, 0);
	ran(450);
	enters_at(2000);
	assert_int_equal(m.nr_reported, 1);
	assert_int_equal(m.reported[0].took_ns, 1000 - 350);
	assert_int_equal(m.reported[0].waited_ns, 350);
	assert_int_equal(m.reported[0].user_ns, 450);
	begins_at(3000, IO, 0); /* it waited for 700, and is not long */
	loses_cpu_at(3100, RUNNABLE);
	gets_cpu_at(3800, 700);
	enters_at(3900);
	assert_int_equal(m.nr_reported, 1);
	begins_at(5000, IO, 0);
	enters_at(5500);
	assert_int_equal(m.reported[1].waited_ns, 0);
	sees_away = false;
	m.nr_reserved = m.nr_reported = 0;
	begins_at(6000, IO, 0);
	enters_at(6500);
	assert_int_equal(m.reported[0].waited_ns, EXITS_UNKNOWN);
}

/* ---- vCPUs that are arguments */

static int setup_svm(void **state)
{
	setup(state);
	exit_place = EXIT_IN_SVM;
	return 0;
}

static int setup_vmx(void **state)
{
	setup(state);
	exit_place = EXIT_IN_VMX;
	return 0;
}

static void leaves_guest_at(uint64_t now_ns, const struct kvm_vcpu *vcpu)
{
	m.now_ns = now_ns;
	if (exit_place == EXIT_IN_SVM)
		assert_int_equal(on_svm_exit((__u64[]){ (uintptr_t)vcpu, 2 }), 0);
	else
		assert_int_equal(on_vmx_exit((__u64[]){ (uintptr_t)vcpu, 1 }), 0);
}

static void runs_at(uint64_t now_ns, const struct kvm_vcpu *vcpu)
{
	m.now_ns = now_ns;
	assert_int_equal(on_entry((__u64[]){ (uintptr_t)vcpu }), 0);
}

/* An exit, and the entry 500 ns later, with another current VMCB. Returns the exit's address. */
static uint64_t svm_pc_of(struct vcpu_svm *svm, struct vmcb *then)
{
	reports_long = true;
	m.nr_reserved = m.nr_reported = 0;
	leaves_guest_at(m.now_ns + 1000, &svm->vcpu);
	if (svm->vmcb == svm->nested.vmcb02.ptr)
		on_nested_exit(NULL);
	svm->vmcb = then;
	runs_at(m.now_ns + 500, &svm->vcpu);
	assert_int_equal(m.nr_reported, 1);
	return m.reported[0].pc;
}

TEST(test_pc_in_vmcb, setup_svm)
{
	struct vmcb own = { { IO }, { .rip = 0xfff0 } }, nested = { { IO }, { .rip = 0x7c00 } };
	struct vcpu_svm svm = { .vmcb = &own, .vmcb01 = { &own }, .nested = { { &nested } } };

	assert_int_equal(svm_pc_of(&svm, &own), 0xfff0);
	/* The exit that enters L2: KVM has moved the guest's own program counter on. */
	assert_int_equal(svm_pc_of(&svm, &nested), 0);
	/* Exits of L2: one that KVM deals with, and one that L1 gets. */
	assert_int_equal(svm_pc_of(&svm, &nested), 0x7c00);
	assert_int_equal(svm_pc_of(&svm, &own), 0x7c00);
	assert_true(codes[m.reported[0].cell].is_nested);
}

/* An exit, and the entry 500 ns later, which finds the vCPU like this. Returns its address. */
static uint64_t vmx_pc_of(bool is_nested, bool is_copied, bool now_nested)
{
	struct vcpu_vmx vmx = { .exit_reason = { IO } };
	struct kvm_vcpu_arch *arch = &vmx.vcpu.arch;

	reports_long = true;
	m.nr_reserved = m.nr_reported = 0;
	leaves_guest_at(m.now_ns + 1000, &vmx.vcpu);
	if (is_nested)
		on_nested_exit(NULL);
	vmx.vcpu.stat.guest_mode = now_nested;
	arch->regs_avail = is_copied ? 1U << 16 : ~(1U << 16);
	arch->regs[16] = 0x1000;
	arch->rip = 0xfff0;
	runs_at(m.now_ns + 500, &vmx.vcpu);
	assert_int_equal(m.nr_reported, 1);
	return m.reported[0].pc;
}

TEST(test_pc_copied, setup_vmx)
{
	assert_int_equal(vmx_pc_of(false, true, false), 0xfff0);
	assert_int_equal(vmx_pc_of(false, false, false), 0);
	assert_int_equal(vmx_pc_of(true, true, true), 0xfff0);
	/* An exit that enters L2, and one of L2 that L1 gets: the copy is the other guest's. */
	assert_int_equal(vmx_pc_of(false, true, true), 0);
	assert_int_equal(vmx_pc_of(true, true, false), 0);
	m.lacks = "arch.rip"; /* before Linux 7.2 it is among the registers */
	assert_int_equal(vmx_pc_of(false, true, false), 0x1000);
}

/* ---- exits by program counter */

#define KERNEL 0xffffffff81000000

/* The extra of the only thread. */
static const struct exits_extra *extra_of(const struct exits_thread *thread)
{
	assert_int_not_equal(thread->extra, 0);
	return &m.records[thread->extra - 1].has;
}

/* What the only thread has in slots, or the map, for the program counter; of any exit. */
static uint64_t counted_at(uint64_t pc, bool in_map)
{
	uint64_t count = 0;

	for (size_t i = 0; !in_map && i < 2 * EXITS_PC_SETS; i++) {
		const struct exits_pc_slot *slot = &extra_of(&m.records[0])->pcs[i];

		if (slot->pc == pc && slot->count)
			count = slot->count;
	}
	for (size_t i = 0; in_map && i < m.nr_pcs; i++) {
		if (m.pc_keys[i].pc == pc)
			count = m.pc_counts[i];
	}
	return count;
}

static void exit_at(uint64_t reason, uint64_t pc, uint64_t took_ns)
{
	begins_at(m.now_ns + 1000, reason, pc);
	enters_at(m.now_ns + took_ns);
}

TEST(test_pcs, setup)
{
	counts_pcs = true;
	exit_at(IO, KERNEL, 200);
	exit_at(IO, KERNEL, 300);
	exit_at(IO, KERNEL + 4, 50);
	exit_at(IO, 0x401000, 7); /* two places in user mode */
	exit_at(IO, 0x7fffffff0000, 8);
	exit_at(IO, 0, 9);
	assert_int_equal(counted_at(KERNEL, false), 2);
	assert_int_equal(counted_at(KERNEL + 4, false), 1);
	assert_int_equal(counted_at(EXITS_PC_USER, false), 2);
	assert_int_equal(counted_at(0, false), 1);
	assert_int_equal(m.nr_pcs, 0);
	/* An exit that has not ended counts when it ends. */
	begins_at(m.now_ns + 1000, IO, KERNEL);
	assert_int_equal(counted_at(KERNEL, false), 2);
}

/* More than there are slots: none is lost, and none counted twice. */
TEST(test_pcs_move, setup)
{
	uint64_t count = 0;
	bool has_moved = false;

	counts_pcs = true;
	for (unsigned int round = 1; round <= 3; round++) {
		for (uint64_t i = 0; i < 4 * EXITS_PC_SETS - 1; i++)
			exit_at(IO, KERNEL + 64 * i, i + round);
	}
	for (uint64_t i = 0; i < 4 * EXITS_PC_SETS - 1; i++) {
		uint64_t slot = counted_at(KERNEL + 64 * i, false);
		uint64_t moved = counted_at(KERNEL + 64 * i, true);

		assert_int_equal(slot + moved, 3);
		has_moved |= moved;
		count += slot + moved;
	}
	assert_true(has_moved);
	assert_int_equal(count, reason_in(0, extra_of(&m.records[0])->pcs[0].cell)->cell.count);
}

TEST(test_no_room_for_pcs, setup)
{
	uint64_t count = 0;

	counts_pcs = true;
	m.has_no_room = true;
	for (uint64_t i = 0; i < 200; i++)
		exit_at(IO, KERNEL + 64 * i, 10);
	for (size_t i = 0; i < 2 * EXITS_PC_SETS; i++)
		count += extra_of(&m.records[0])->pcs[i].count;
	assert_int_equal(lost_pcs + count, 200);
	assert_int_not_equal(lost_pcs, 0);
}

/* AMD's is read when the exit begins: KVM may have changed it when it ends. */
TEST(test_pcs_of_vmcb, setup)
{
	struct vmcb own = { { IO }, { .rip = KERNEL } }, nested = { { IO }, { .rip = KERNEL } };
	struct vcpu_svm svm = { .vmcb = &own, .vmcb01 = { &own }, .nested = { { &nested } } };

	exit_place = EXIT_IN_SVM;
	counts_pcs = true;
	leaves_guest_at(1000, &svm.vcpu);
	own.save.rip = KERNEL + 2;
	runs_at(1500, &svm.vcpu);
	assert_int_equal(counted_at(KERNEL, false), 1);
	svm.vmcb = &nested;
	leaves_guest_at(2000, &svm.vcpu);
	on_nested_exit(NULL);
	runs_at(2300, &svm.vcpu);
	assert_int_equal(counted_at(KERNEL, false), 1);
	assert_int_equal(counted_at(EXITS_PC_NESTED, false), 1);
}

/* Intel's is known at the end, if KVM has a copy. */
TEST(test_pcs_copied, setup)
{
	struct vcpu_vmx vmx = { .exit_reason = { IO } };

	exit_place = EXIT_IN_VMX;
	counts_pcs = true;
	vmx.vcpu.arch.rip = KERNEL;
	leaves_guest_at(1000, &vmx.vcpu);
	vmx.vcpu.arch.regs_avail = 1U << 16;
	runs_at(1400, &vmx.vcpu);
	vmx.vcpu.arch.regs_avail = 0;
	leaves_guest_at(2000, &vmx.vcpu);
	runs_at(2600, &vmx.vcpu);
	assert_int_equal(counted_at(KERNEL, false), 1);
	assert_int_equal(counted_at(0, false), 1);
}

TEST(test_not_longer, setup_long)
{
	begins_at(1000, IO, 0);
	enters_at(1400);
	reports_long = false;
	exits_at(2000, IO);
	enters_at(9000);
	assert_int_equal(m.nr_reserved, 0);
	assert_int_equal(lost_long_exits, 0);
}

TEST(test_left_out, setup_long)
{
	begins_at(1000, HLT, 0);
	is_left_out[dense[EXITS_VMEXIT][HLT]] = true;
	enters_at(9000);
	assert_int_equal(m.nr_reserved, 0);
}

TEST(test_full_ring, setup_long)
{
	for (uint64_t i = 1; i <= 5; i++) {
		begins_at(i * 10000, IO, 0);
		enters_at(i * 10000 + 5000);
	}
	assert_int_equal(m.nr_reported, 2);
	assert_int_equal(lost_long_exits, 3);
	assert_int_equal(cell_of(0, IO, EXITS_VMEXIT)->count, 5);
}

/* ---- halts */

/* KVM's sums grow while a vCPU halts; they are read when it is entered again. */
TEST(test_polls, setup)
{
	struct kvm_vcpu_stat_generic *sums = &m.vcpu.stat.generic;
	struct kvm_vcpu other = { .stat = { .generic = { 100000, 0 } } };

	for (int i = 0; i < 2; i++) {
		setup(state);
		has_function = i;
		*sums = (struct kvm_vcpu_stat_generic){ 1000, 500 };
		halts[1] = HLT;
		exits_at(1000, HLT);
		enters_at(2000);
		/* What was before is not known. */
		assert_int_equal(parts_of_cell(HLT, EXITS_VMEXIT)->polled_ns, 0);
		sums->halt_poll_success_ns += 300;
		sums->halt_poll_fail_ns += 20;
		exits_at(3000, IO);
		enters_at(4000);
		assert_int_equal(parts_of_cell(HLT, EXITS_VMEXIT)->polled_ns, 0);
		exits_at(5000, HLT);
		enters_at(6000);
		assert_int_equal(parts_of_cell(HLT, EXITS_VMEXIT)->polled_ns, 320);
		/* The thread runs another vCPU, and then one that began later at the same place. */
		m.task.preempt_notifiers.first = &other.preempt_notifier.link;
		exits_at(7000, HLT);
		enters_at(8000);
		assert_int_equal(parts_of_cell(HLT, EXITS_VMEXIT)->polled_ns, 320);
		other.stat.generic.halt_poll_success_ns = 50;
		exits_at(9000, HLT);
		enters_at(10000);
		other.stat.generic.halt_poll_fail_ns = 7;
		exits_at(11000, HLT);
		enters_at(12000);
		assert_int_equal(parts_of_cell(HLT, EXITS_VMEXIT)->polled_ns, 327);
		other.stat.generic.halt_poll_success_ns = 100000;
		other.stat.generic.halt_poll_fail_ns = 0;
		assert_int_equal(cell_of(0, HLT, EXITS_VMEXIT)->count, 5);
		assert_int_equal(cell_of(0, HLT, EXITS_VMEXIT)->time_ns, 5000);
	}
}

/* The entry has the vCPU: the sums are found from there, and the task is not asked. */
TEST(test_polls_by_vcpu, setup_vmx)
{
	struct vcpu_vmx vmx = { .exit_reason = { HLT } };
	struct kvm_vcpu_stat_generic *sums = &vmx.vcpu.stat.generic;

	m.task.preempt_notifiers.first = NULL;
	halts[1] = HLT;
	for (uint64_t now_ns = 1000; now_ns < 4000; now_ns += 1000) {
		leaves_guest_at(now_ns, &vmx.vcpu);
		sums->halt_poll_success_ns += 300;
		sums->halt_poll_fail_ns += 20;
		runs_at(now_ns + 500, &vmx.vcpu);
	}
	assert_int_equal(parts_of_cell(HLT, EXITS_VMEXIT)->polled_ns, 640);
}

static const struct exits_cell *twin_of(uint32_t record, uint64_t code)
{
	uint32_t twin = twins[dense[EXITS_VMEXIT][code]];

	assert_int_not_equal(twin, dense[EXITS_VMEXIT][code]);
	assert_int_equal(codes[twin].code, code);
	assert_int_equal(codes[twin].kind, EXITS_VMEXIT);
	assert_true(codes[twin].is_nested && codes[twin].is_used);
	return &reason_in(record, twin)->cell;
}

/* One exit of L2 and one of L1, of one reason: each in its own cell, with its own time. */
TEST(test_nested, setup)
{
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
TEST(test_nested_argument, setup)
{
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
TEST(test_nested_time, setup)
{
	exits_at(1000, IO);
	on_nested_exit(NULL);
	enters_at(1100);
	on_nested_entry(NULL);
	exits_at(1700, IO);
	on_nested_exit(NULL);
	assert_int_equal(m.records[0].at.sums.nested, 600);
	enters_at(1800);
	on_nested_entry(NULL);
	exits_at(2000, IO);
	enters_at(2100);
	assert_int_equal(m.records[0].at.sums.nested, 600);
}

/* A guest without guests: no entry is noted, though other guests nest. */
TEST(test_not_nested, setup)
{
	assert_int_equal(on_nested_exit(NULL), 0);
	exits_at(1000, IO);
	enters_at(1100);
	on_nested_entry(NULL);
	assert_int_equal(on_nested_exit(NULL), 0);
	assert_int_equal(m.records[0].at.entered, 0);
	assert_false(is_nesting);
}

/* Both ways to read a vCPU. */
TEST(test_reason_in_vcpu, setup)
{
	struct vmcb vmcb = { .control = { HLT } };
	struct vcpu_svm svm = { .vcpu = { .vcpu_id = 7 }, .vmcb = &vmcb };
	struct vcpu_vmx vmx = { .exit_reason = { HLT } };
	struct vcpu_vmx___vt vt = { .vt = { { HLT } } };

	for (int i = 0; i < 2; i++) {
		setup_svm(state);
		has_function = i;
		leaves_guest_at(1000, &svm.vcpu);
		runs_at(1500, &svm.vcpu);
		assert_int_equal(cell_of(0, HLT, EXITS_VMEXIT)->count, 1);
		assert_int_equal(cell_of(0, HLT, EXITS_VMEXIT)->time_ns, 500);
		assert_int_equal(exits_open_since(&m.records[0].at), 0);
		assert_int_equal(m.records[0].vcpu, 7);
		setup_vmx(state);
		has_function = i;
		leaves_guest_at(1000, &vmx.vcpu);
		m.lacks = "struct vcpu_vmx, exit_reason";
		leaves_guest_at(2000, &vt.vcpu);
		assert_int_equal(cell_of(0, HLT, EXITS_VMEXIT)->count, 2);
	}
}

/* Of a vCPU of another kind, as PVM's, no reason is read. */
TEST(test_foreign_vcpu, setup_vmx)
{
	struct kvm_vcpu vcpu = { .vcpu_id = 7 };

	m.now_ns = 1000;
	on_vmx_exit((__u64[]){ (uintptr_t)&vcpu, 3 });
	runs_at(1500, &vcpu);
	assert_int_equal(reason_in(0, EXITS_OTHER)->cell.count, 1);
	assert_int_equal(reason_in(0, EXITS_OTHER)->cell.time_ns, 500);
	assert_int_equal(m.next_cell, 1);
}

/* AArch64: ret has a flag that the record has not. RISC-V, LoongArch and s390. */
TEST(test_reason_in_arguments, setup)
{
	struct kvm_cpu_trap trap = { .scause = IO };

	on_arm64_exit((__u64[]){ 0x80000002, HLT, 0 });
	assert_int_equal(cell_of(0, HLT, EXITS_VMEXIT)->count, 1);
	on_arm64_exit((__u64[]){ 0x80000001, 0x24, 0 });
	assert_int_equal(codes[2].code, UINT64_C(1) << REASON_TYPE_BIT | 1);
	assert_int_equal(reason_in(0, 2)->cell.count, 1);
	on_riscv_exit((__u64[]){ (uintptr_t)&trap });
	assert_int_equal(cell_of(0, IO, EXITS_VMEXIT)->count, 1);
	on_other_exit((__u64[]){ (uintptr_t)&m.vcpu, IO });
	assert_int_equal(cell_of(0, IO, EXITS_VMEXIT)->count, 2);
}

/* LoongArch: KVM says so when a guest goes on after an exit that it has handled itself. */
TEST(test_reentry, setup)
{
	__u64 exit[] = { (uintptr_t)&m.vcpu, IO };

	exit_place = EXIT_IN_SECOND;
	m.now_ns = 1000;
	on_other_exit(exit);
	m.now_ns = 1200;
	on_reentry(exit);
	m.now_ns = 5000;
	on_other_exit(exit);
	m.now_ns = 5050;
	on_entry(exit);
	assert_int_equal(cell_of(0, IO, EXITS_VMEXIT)->count, 2);
	assert_int_equal(cell_of(0, IO, EXITS_VMEXIT)->time_ns, 250);
	assert_int_equal(seen_events(EXITS_EVENT_ENTRY), 1);
}

TEST(test_arguments, setup)
{
	const struct sys_reg_params access = { .is_write = true };
	const struct sys_reg_desc reg = { 3, 1, 2, 4, 5 };
	const struct exits_argument_key *key = &m.records[0].argument;

	exits_at(1000, IO);
	on_ioport(raw(1, 0x3f8, 4)); /* rw, port, size */
	assert_true(key->kind == EXITS_IOPORT && key->a == 0x3f8 && key->b == 4 && key->c == 1);
	on_mmio(raw(2, 8, 0xfee00300)); /* type, len, gpa */
	assert_true(key->kind == EXITS_MMIO && key->a == 0xfee00300 && key->b == 8 && key->c == 2);
	on_fast_mmio(raw(0xfe003000, 0, 0)); /* gpa */
	assert_true(key->kind == EXITS_MMIO && key->a == 0xfe003000 && !key->b && key->c == 2);
	on_msr(raw(1, 0x6e0, 77)); /* write, ecx, data */
	assert_true(key->kind == EXITS_MSR && key->a == 0x6e0 && key->b == 1 && !key->c);
	on_cpuid(raw(0xd, 1, 77)); /* function, index */
	assert_true(key->kind == EXITS_CPUID && key->a == 0xd && !key->b && !key->c);
	on_hypercall(raw(9, 1, 2)); /* nr, a0, a1 */
	assert_true(key->kind == EXITS_HYPERCALL && key->a == 9 && !key->b && !key->c);
	on_hvc(raw(0x40000000, 0x84000000, 1)); /* vcpu_pc, r0, imm */
	assert_true(key->kind == EXITS_HYPERCALL && key->a == 0x84000000 && !key->b && !key->c);
	on_sysreg((__u64[]){ 0x40000000, (uintptr_t)&access, (uintptr_t)&reg });
	assert_true(key->kind == EXITS_SYSREG && key->a == 0x04020103);
	assert_true(key->b == 1 && key->c == 5);
}

/* ---- writes to queues of devices */

/* The guest has these ioeventfds, in any order. */
static void has_ioeventfds(struct _ioeventfd *list, size_t nr)
{
	struct list_head *last = &m.vm.ioeventfds;

	for (size_t i = 0; i < nr; i++) {
		last->next = &list[i].list;
		last = &list[i].list;
	}
	last->next = &m.vm.ioeventfds;
}

/* Returns the queue plus 1 that the argument has; 0: none. */
static uint32_t queue_of_write(uint64_t address, uint32_t bytes, uint64_t value)
{
	on_mmio(raw5(MMIO_WRITE, bytes, address, (uintptr_t)&value, 0));
	if (!m.records[0].argument.is_rest)
		assert_int_equal(WRITE_BYTES(m.records[0].argument.b), bytes);
	return WRITE_QUEUE(m.records[0].argument.b);
}

static uint32_t queue_of_port(uint32_t port, uint32_t nr, uint64_t value)
{
	on_ioport(raw5(1, port, 2, nr, (uintptr_t)&value));
	assert_int_equal(WRITE_BYTES(m.records[0].argument.b), 2);
	return WRITE_QUEUE(m.records[0].argument.b);
}

TEST(test_queue_by_value, setup)
{
	struct _ioeventfd list[] = {
		{ .addr = 0xd0000050, .length = 4 }, { .addr = 0xd0000050, .length = 4 },
		{ .addr = 0xd0001050, .length = 2 }, { .addr = 0xd0002050, .length = 1 },
		{ .addr = 0xc010, .length = 2, .bus_idx = KVM_PIO_BUS },
	};

	for (int i = 0; i < 2; i++) {
		has_function = i;
		has_ioeventfds(list, ARRAY_SIZE(list));
		exits_at(1000, IO);
		assert_int_equal(queue_of_write(0xd0000050, 4, 0), 1);
		assert_int_equal(queue_of_write(0xd0000050, 4, 1), 2);
		assert_int_equal(queue_of_write(0xd0000050, 4, 1), 2);
		assert_int_equal(queue_of_write(0xd0000050, 4, 0xfffe), 0xffff);
		assert_int_equal(queue_of_write(0xd0000050, 4, 0xffff), 0);
		assert_int_equal(queue_of_write(0xd0000050, 4, 0x10001), 0);
		/* What is behind two bytes is not read. */
		assert_int_equal(queue_of_write(0xd0001050, 2, 0x10001), 2);
		/* No queue's: another size, a byte, another address, a port. */
		assert_int_equal(queue_of_write(0xd0000050, 2, 1), 0);
		assert_int_equal(queue_of_write(0xd0002050, 1, 1), 0);
		assert_int_equal(queue_of_write(0xd0000054, 4, 1), 0);
		assert_int_equal(queue_of_write(0xc010, 2, 1), 0);
		assert_int_equal(queue_of_port(0xc010, 1, 1), 2);
		assert_int_equal(queue_of_port(0xc010, 3, 1), 0); /* the first of many */
	}
	assert_int_equal(m.argument_cells[1].count, 4);
	assert_true(m.argument_keys[1].a == 0xd0000050 && WRITE_QUEUE(m.argument_keys[1].b) == 2);
}

/* A register for each queue, of a row that begins with its page. */
TEST(test_queue_by_address, setup)
{
	struct _ioeventfd list[] = {
		{ .addr = 0xfe002ffc, .wildcard = true }, /* of the page before */
		{ .addr = 0xfe003004, .wildcard = true }, { .addr = 0xfe003000, .wildcard = true },
		{ .addr = 0xfe003008, .wildcard = true, .length = 2 },
		{ .addr = 0xfe003010, .wildcard = true }, /* behind a gap */
		{ .addr = 0xfe004000, .wildcard = true }, /* alone */
		{ .addr = 0xfe005000, .wildcard = true, .length = 4 }, /* doorbells of NVMe */
		{ .addr = 0xfe005004, .wildcard = true, .length = 4 },
		{ .addr = 0xfe006000, .wildcard = true }, /* another row */
		{ .addr = 0xfe006002, .wildcard = true }, { .addr = 0xfe006004, .wildcard = true },
		{ .addr = 0xc000, .wildcard = true, .bus_idx = KVM_PIO_BUS },
		{ .addr = 0xc004, .wildcard = true, .bus_idx = KVM_PIO_BUS },
	};

	for (int i = 0; i < 2; i++) {
		has_function = i;
		has_ioeventfds(list, ARRAY_SIZE(list));
		exits_at(1000, IO);
		assert_int_equal(queue_of_write(0xfe003000, 2, 7), 1);
		assert_int_equal(queue_of_write(0xfe003004, 2, 7), 2);
		assert_int_equal(queue_of_write(0xfe003004, 4, 7), 2);
		assert_int_equal(queue_of_write(0xfe003008, 2, 7), 3);
		assert_int_equal(queue_of_write(0xfe003008, 4, 7), 0);
		assert_int_equal(queue_of_write(0xfe003010, 2, 7), 0);
		assert_int_equal(queue_of_write(0xfe004000, 2, 7), 0);
		assert_int_equal(queue_of_write(0xfe005000, 4, 7), 0);
		assert_int_equal(queue_of_write(0xfe005004, 4, 7), 0);
		assert_int_equal(queue_of_write(0xfe006002, 2, 7), 0);
		assert_int_equal(queue_of_port(0xc004, 1, 7), 0);
		on_fast_mmio(raw(0xfe003004, 0, 0));
		assert_int_equal(m.records[0].argument.b, WRITE_TO_QUEUE(1));
	}
}

/* What an address is for is asked again when the arguments begin anew. */
TEST(test_queue_is_over, setup)
{
	struct _ioeventfd list[] = { { .addr = 0xd0000050, .length = 4 } };

	has_ioeventfds(list, 1);
	exits_at(1000, IO);
	assert_int_equal(queue_of_write(0xd0000050, 4, 1), 2);
	has_ioeventfds(list, 0);
	assert_int_equal(queue_of_write(0xd0000050, 4, 1), 2);
	assert_int_equal(queue_of_write(0xd0000050, 4, 0x1234), 0); /* no queue before */
	assert_int_equal(queue_of_write(0xd0000050, 4, 1), 0);
	m.records[0].epoch++;
	m.records[0].nr_arguments = 0;
	assert_int_equal(queue_of_write(0xd0000050, 4, 1), 0);
}

/* More than a set has room for: each is looked for again, and counted as before. */
TEST(test_queues_of_a_set, setup)
{
	struct exits_thread *record = &m.records[0];
	struct _ioeventfd list[3 * EXITS_QUEUE_WAYS];
	const uint32_t nr = ARRAY_SIZE(list);
	uint64_t address = 0xd0000050;

	for (uint32_t i = 0; i < nr; address += 0x1000) {
		uint64_t hash = hash_of(write_of(EXITS_MMIO, address, 4));

		if ((hash >> 32) % EXITS_QUEUE_SETS == 1)
			list[i++] = (struct _ioeventfd){ .addr = address, .length = 4 };
	}
	has_ioeventfds(list, nr);
	exits_at(1000, IO);
	for (uint32_t i = 0; i < 3 * nr; i++)
		assert_int_equal(queue_of_write(list[i % nr].addr, 4, i % nr), i % nr + 1);
	assert_int_equal(record->nr_arguments, nr);
	for (uint32_t i = 0; i < nr; i++)
		assert_int_equal(m.argument_cells[i].count, 3);
}

/* A guest that has used all its arguments makes no write that costs it a search. */
TEST(test_queues_of_greedy_guest, setup)
{
	struct _ioeventfd list[] = { { .addr = 0xd0000050, .length = 4 } };

	has_ioeventfds(list, 1);
	exits_at(1000, IO);
	for (uint64_t i = 0; m.records[0].nr_arguments < EXITS_ARGUMENTS; i++)
		queue_of_write(0x1000 + i, 4, 0);
	m.task.preempt_notifiers.first = (struct hlist_node *)&m; /* not to be followed */
	assert_int_equal(queue_of_write(0xd0000050, 4, 0), 0);
	assert_true(m.records[0].argument.is_rest);
}

/* A kernel without ioeventfds, a thread without a vCPU, a list that does not end. */
TEST(test_no_queues, setup)
{
	struct _ioeventfd list[] = { { .addr = 0xd0000054 }, { .addr = 0xd0000050, .length = 4 } };

	has_ioeventfds(list, 2);
	exits_at(1000, IO);
	m.lacks = "struct _ioeventfd";
	assert_int_equal(queue_of_write(0xd0000050, 4, 1), 0);
	m.records[0].epoch++;
	m.lacks = "BPF_FUNC_loop";
	assert_int_equal(queue_of_write(0xd0000050, 4, 1), 0);
	m.lacks = NULL;
	m.records[0].epoch++;
	m.task.preempt_notifiers.first = NULL;
	assert_int_equal(queue_of_write(0xd0000050, 4, 1), 0);
	m.task.preempt_notifiers.first = &m.vcpu.preempt_notifier.link;
	m.records[0].epoch++;
	list[0].list.next = &list[0].list;
	assert_int_equal(queue_of_write(0xd0000050, 4, 1), 0);
}

/* It is no argument of the exit in which it is raised; any other thread has a record for it. */
TEST(test_interrupts, setup)
{
	const struct exits_argument_key *key = m.argument_keys;
	struct mm_struct mm = { .notifier_subscriptions = &m };

	m.task.mm = &mm;
	exits_at(1000, IO);
	writes_port();
	on_line(raw(5, 1, 2)); /* gsi, level, source */
	enters_at(1500);
	assert_int_equal(m.argument_cells[0].time_ns, 500);
	assert_int_equal(m.records[0].argument.kind, EXITS_IOPORT);
	assert_true(key[1].kind == EXITS_INTERRUPT && key[1].a == 5 && key[1].b == 1);
	assert_true(key[1].c == 2 && key[1].cell == EXITS_NO_CELL && key[1].thread == 0);
	assert_int_equal(m.argument_cells[1].time_ns, 0);
	m.tid = 2;
	on_message(raw(0xfee01000, 0x4021, 77)); /* address, data */
	on_message(raw(0x1000, 0x4021, 78)); /* the same, as QEMU gives it */
	assert_int_equal(m.nr_arguments, 3);
	assert_true(key[2].a == 0xfee01000 && key[2].b == 0x4021 && !key[2].c);
	assert_int_equal(key[2].thread, 1);
	assert_int_equal(m.records[1].vcpu, EXITS_NOT_VCPU);
	assert_int_equal(m.argument_cells[2].count, 2);
	m.task.mm = NULL; /* a CPU's idle task */
	on_message(raw(0xfee02000, 0x4021, 77));
	assert_int_equal(m.nr_arguments, 3);
}

/* A device's message comes in whatever runs, and no process but a VMM has a record for it. */
TEST(test_interrupts_of_devices, setup)
{
	struct mm_struct mm = { .notifier_subscriptions = NULL };

	m.task.mm = &mm;
	m.tid = 1;
	on_message(raw(0xfee01000, 0x4021, 77));
	assert_int_equal(m.nr_arguments, 0);
	mm.notifier_subscriptions = &mm;
	on_message(raw(0xfee01000, 0x4021, 77));
	assert_int_equal(m.nr_arguments, 1);
	m.tid = 2;
	m.task.mm = NULL; /* of the kernel */
	on_line(raw(0, 1, 2));
	assert_int_equal(m.nr_arguments, 1);
	assert_int_equal(m.records[1].tid, 0);
	m.comm = "kvm-pit/100";
	on_line(raw(0, 1, 2));
	assert_int_equal(m.nr_arguments, 2);
	assert_int_equal(m.records[1].vcpu, EXITS_NOT_VCPU);
}

/* A fault is counted when its exit ends: with the level of the first page that was mapped. */
TEST(test_faults, setup)
{
	struct exits_thread *thread = &m.records[0];

	has_fault_vcpu = true;
	exits_at(1000, IO);
	on_fault(raw(0, 0x7000, 0x100000006)); /* vcpu, address, AMD's code: a write */
	assert_int_equal(m.nr_arguments, 0);
	on_mapping(raw(2, 0x7, 0)); /* level, gfn */
	on_mapping(raw(1, 0x8, 0));
	enters_at(1500);
	assert_int_equal(m.nr_arguments, 1);
	assert_true(thread->argument.kind == EXITS_FAULT && thread->argument.a == FAULT_WRITE);
	assert_int_equal(thread->argument.b, 2);
	assert_int_equal(m.argument_cells[0].count, 1);
	assert_int_equal(m.argument_cells[0].time_ns, 500);
	on_mapping(raw(1, 0x8, 0)); /* not of a fault */
	exits_at(2000, IO);
	on_fault(raw(0, 0x7000, 0x100000006));
	on_mapping(raw(2, 0x7, 0));
	enters_at(2100);
	assert_int_equal(m.argument_cells[0].count, 2);
}

/* The earlier samples had a part of its time without the fault, which is not made up for. */
TEST(test_fault_that_lasts, setup)
{
	has_fault_vcpu = true;
	exits_at(1000, IO);
	on_fault(raw(0, 0x7000, 0x100000014)); /* AMD: an instruction */
	sampled_ns = 9000;
	enters_at(10000);
	assert_int_equal(m.argument_keys[0].a, FAULT_EXEC);
	assert_int_equal(m.argument_cells[0].time_ns, 1000);
	assert_int_equal(m.argument_cells[0].max_ns, 9000);
}

/* Intel's qualification; a fault that is an access of a device; the older event; AArch64. */
TEST(test_kinds_of_faults, setup)
{
	const struct exits_argument_key *key = &m.records[0].argument;

	has_fault_vcpu = true;
	exits_at(1000, IO);
	on_fault(raw(0, 0x7000, 0x18a)); /* a write to what may be read */
	assert_int_equal(key->a, FAULT_WRITE | FAULT_PROTECTED);
	on_fault(raw(0, 0x7000, 0x181));
	assert_int_equal(key->a, 0); /* a read */
	on_fault(raw(0, 0x7000, 0x2000100000006)); /* KVM's bit for private memory */
	assert_int_equal(key->a, FAULT_WRITE | FAULT_PRIVATE);
	on_fault(raw(0, 0xfee00000, 0x10000000f));
	assert_int_equal(key->a, FAULT_WRITE | FAULT_MMIO);
	on_mmio(raw(2, 8, 0xfee00300));
	on_mapping(raw(1, 0x8, 0));
	enters_at(1500);
	assert_true(key->kind == EXITS_MMIO && key->b == 8);
	assert_int_equal(m.nr_arguments, 1);
	assert_int_equal(m.argument_cells[0].time_ns, 500);
	has_fault_vcpu = false;
	on_fault(raw(0x7000, 7, 0)); /* no exit is open: address, code */
	assert_int_equal(m.argument_keys[1].a, FAULT_WRITE | FAULT_PROTECTED);
	assert_int_equal(m.argument_cells[1].count, 1);
	on_arm64_fault(raw(0xffff, 0x9200004f, 0)); /* pc, hsr: a write, permission */
	assert_int_equal(key->a, FAULT_WRITE | FAULT_PROTECTED);
	on_arm64_fault(raw(0xffff, 0x82000007, 0)); /* an instruction, translation */
	assert_int_equal(key->a, FAULT_EXEC);
}

/*
 * While a thread is in KVM_RUN its vCPU stands for it. After that the vCPU's memory may be another
 * one's, which another thread runs on the same CPU.
 */
TEST(test_memory_of_a_vcpu_again, setup_vmx)
{
	const struct vcpu_vmx vmx = { .exit_reason = { IO } };
	const struct kvm_vcpu *vcpu = &vmx.vcpu;

	leaves_guest_at(1000, vcpu);
	runs_at(1100, vcpu);
	assert_int_equal(m.records[0].running, (uintptr_t)vcpu);
	m.tid = 3; /* it is not asked for */
	leaves_guest_at(1200, vcpu);
	assert_int_equal(reason_in(0, dense[EXITS_VMEXIT][IO])->cell.count, 2);
	m.tid = 1;
	leaves_at(1300, IO, 0);
	m.tid = 2;
	runs_at(1900, vcpu); /* the first entry of the other vCPU ends no exit */
	assert_int_equal(reason_in(0, dense[EXITS_VMEXIT][IO])->cell.time_ns, 100);
	leaves_guest_at(2000, vcpu);
	runs_at(2050, vcpu);
	assert_int_equal(m.records[1].tid, 2);
	assert_int_equal(reason_in(1, dense[EXITS_VMEXIT][IO])->cell.time_ns, 50);
	assert_int_equal(reason_in(0, dense[EXITS_VMEXIT][IO])->cell.count, 2);
}

/* Each bucket from its first ns to its last. */
TEST(test_buckets, setup)
{
	assert_int_equal(bucket_of(0), 0);
	for (uint64_t i = 0; i < EXITS_BUCKETS - 1; i++) {
		assert_int_equal(bucket_of(i ? UINT64_C(64) << i : 0), i);
		assert_int_equal(bucket_of((UINT64_C(128) << i) - 1), i);
	}
	assert_int_equal(bucket_of(UINT64_C(64) << (EXITS_BUCKETS - 1)), EXITS_BUCKETS - 1);
	assert_int_equal(bucket_of(UINT64_MAX), EXITS_BUCKETS - 1);
}

/* ---- stacks */

static void samples_at(uint64_t now_ns, uint64_t kernel_frame, uint64_t user_frame)
{
	m.now_ns = now_ns;
	m.kernel_frame = kernel_frame;
	m.user_frame = user_frame;
	assert_int_equal(on_sample(&m), 0);
}

static void switches_at(uint64_t now_ns, uint32_t from, uint32_t to)
{
	struct task_struct next = { .pid = (int)to, .mm = &m.mm };

	m.now_ns = now_ns;
	m.tid = from;
	m.task.mm = &m.mm;
	m.mm.notifier_subscriptions = &m.vm;
	assert_int_equal(on_switch((__u64[]){ 0, (uintptr_t)&m.task, (uintptr_t)&next }), 0);
}

static void expires_at(uint64_t time_ns)
{
	struct hrtimer timer = { ._softexpires = (long long)time_ns };

	assert_int_equal(on_timer((__u64[]){ (uintptr_t)&timer, 0 }), 0);
}

static void expect_stack(uint32_t i, enum exits_stack_state state, uint32_t cell, uint64_t ns,
			 uint64_t count)
{
	assert_in_range(i, 0, m.nr_stacks - 1);
	assert_int_equal(m.stack_keys[i].state, state);
	assert_int_equal(m.stack_keys[i].cell, cell);
	assert_int_equal(m.stack_keys[i].tid, m.tid);
	assert_int_equal(m.stack_sums[i].ns, ns);
	assert_int_equal(m.stack_sums[i].count, count);
}

TEST(test_samples, setup)
{
	uint32_t cell;

	samples_at(5, 1, 2);
	assert_int_equal(m.nr_stacks, 0); /* the thread runs no vCPU */
	exits_at(10, IO);
	cell = m.records[0].at.cell;
	samples_at(14, 0xf1, 0xf2);
	samples_at(16, 0xf1, 0xf2);
	expect_stack(0, EXITS_STACK_ON, cell, 200, 2);
	assert_int_equal(m.stack_keys[0].record, 1);
	assert_true(m.stack_keys[0].kernel & 1);
	assert_int_equal(m.stack_keys[0].user, 0); /* KVM_RUN has called it, as always */
	leaves_at(17, IO, 0);
	samples_at(18, 0, 0xf2); /* in user space */
	expect_stack(1, EXITS_STACK_ON, cell, 100, 1);
	assert_int_equal(m.stack_keys[1].kernel, 0);
	assert_true(m.stack_keys[1].user & 1);
	enters_at(20);
	samples_at(22, 0xf1, 0xf2);
	samples_at(23, 0, 0); /* KVM says that the guest was interrupted */
	expect_stack(2, EXITS_STACK_GUEST, EXITS_NO_CELL, 200, 2);
	assert_int_equal(m.stack_keys[2].kernel | m.stack_keys[2].user, 0);
	samples_at(24, 0, 0xf2); /* KVM_RUN has returned without an exit */
	expect_stack(3, EXITS_STACK_ON, EXITS_NO_CELL, 100, 1);
}

/* A thread of a VMM that raises an interrupt has a record, but is no vCPU. */
TEST(test_samples_of_other_threads, setup)
{
	struct mm_struct mm = { .notifier_subscriptions = &mm };

	m.task.mm = &mm;
	on_message(raw(0xfee01000, 0x4021, 77));
	assert_int_equal(m.records[0].vcpu, EXITS_NOT_VCPU);
	samples_at(1000, 0x11, 0x22);
	assert_int_equal(m.nr_stacks, 0);
	m.records[0].next_slot = 1; /* it has run one */
	samples_at(2000, 0x11, 0x22);
	assert_int_equal(m.nr_stacks, 1);
}

/*
 * A clock's sample is of the time at which its timer was to expire: at the end of an exit, where
 * interrupts are off, it comes after the next entry, and so after the next exit.
 */
TEST(test_late_samples, setup)
{
	uint32_t io, other;

	is_by_clock = true;
	sample_ns = 1000;
	exits_at(100, IO);
	io = m.records[0].at.cell;
	enters_at(200);
	expires_at(190);
	samples_at(210, 0xf1, 0xf2);
	expect_stack(0, EXITS_STACK_LATE, io, 1000, 1);
	assert_int_equal(m.stack_keys[0].kernel | m.stack_keys[0].user, 0);
	exits_at(220, HLT);
	other = m.records[0].at.cell;
	expires_at(199);
	samples_at(230, 0xf1, 0xf2);
	expect_stack(0, EXITS_STACK_LATE, io, 2000, 2);
	expires_at(200);
	samples_at(230, 0xf1, 0xf2); /* its own interrupt is the exit */
	expires_at(219);
	samples_at(230, 0xf1, 0xf2);
	expect_stack(1, EXITS_STACK_GUEST, EXITS_NO_CELL, 2000, 2);
	expires_at(220);
	samples_at(230, 0xf1, 0xf2);
	expect_stack(2, EXITS_STACK_ON, other, 1000, 1);
	expires_at(199);
	samples_at(3300, 0xf1, 0xf2); /* late by three periods: one sample, as any */
	expect_stack(0, EXITS_STACK_LATE, io, 3000, 3);
	m.expiry = 0; /* the program on timers has not run */
	samples_at(3400, 0xf1, 0xf2);
	expect_stack(2, EXITS_STACK_ON, other, 2000, 2);
}

/* A register that points to no frame on the stack has no callers; nor is it known everywhere. */
TEST(test_frame_pointers, setup)
{
	static const struct {
		uint64_t frame;
		const char *lacks;
		bool has_caller;
	} cases[] = {
		{ 0x7000, NULL, true },		       { 0x7010, NULL, true },
		{ 0x7000 + (1 << 20) - 8, NULL, true }, { 0x7000 + (1 << 20), NULL, false },
		{ 0x6ff8, NULL, false },	       { 5, NULL, false },
		{ 5, "pt_regs, bp", true },	       { 5, "BPF_FUNC_task_pt_regs", true },
	};

	m.user_caller = 0xca;
	m.regs.sp = 0x7000;
	exits_at(10, IO);
	leaves_at(11, IO, 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		m.regs.bp = cases[i].frame;
		m.lacks = cases[i].lacks;
		samples_at(20 + i, 0, 0xf2);
		assert_int_equal(m.taken.at[0], 0xf2);
		assert_int_equal(m.taken.at[1], cases[i].has_caller ? 0xca : 0);
	}
	assert_int_equal(m.nr_stacks, 2);
}

/* The argument is part of the stack as soon as it is known; a fault's is only when it ends. */
TEST(test_arguments_of_stacks, setup)
{
	exits_at(10, IO);
	samples_at(12, 0xf1, 0);
	assert_int_equal(m.stack_keys[0].argument.kind, 0);
	writes_port();
	samples_at(14, 0xf1, 0);
	assert_int_equal(m.nr_stacks, 2);
	assert_int_equal(m.stack_keys[1].argument.kind, EXITS_IOPORT);
	assert_int_equal(m.stack_keys[1].argument.a, 0x3f8);
	enters_at(20);
	exits_at(30, IO);
	samples_at(32, 0xf1, 0);
	assert_int_equal(m.nr_stacks, 2);
	assert_int_equal(m.stack_sums[0].count, 2);
}

/* A sample has the place in the guest that made the exit; a late one, of the exit that ended. */
TEST(test_pcs_of_samples, setup)
{
	is_by_clock = counts_pcs = true;
	m.tid = 1;
	begins_at(1000, IO, KERNEL);
	expires_at(1002);
	samples_at(1003, 0xf1, 0);
	assert_int_equal(m.stack_keys[0].pc, KERNEL);
	m.kernel_frame = 0xf3;
	switches_at(1010, 1, 3);
	switches_at(1020, 3, 1);
	m.tid = 1;
	expect_stack(1, EXITS_STACK_OFF, m.records[0].at.cell, 10, 1);
	assert_int_equal(m.stack_keys[1].pc, KERNEL);
	enters_at(1100);
	begins_at(1101, IO, 0x401000);
	expires_at(1099);
	samples_at(1102, 0xf1, 0);
	expect_stack(2, EXITS_STACK_LATE, m.records[0].at.cell, 100, 1);
	assert_int_equal(m.stack_keys[2].pc, KERNEL);
	expires_at(1101);
	samples_at(1103, 0xf1, 0);
	assert_int_equal(m.stack_keys[3].pc, EXITS_PC_USER);
	enters_at(1110);
	expires_at(1111);
	samples_at(1112, 0xf1, 0); /* in the guest */
	expect_stack(4, EXITS_STACK_GUEST, EXITS_NO_CELL, 100, 1);
	assert_int_equal(m.stack_keys[4].pc, 0);
}

/* Intel's is KVM's copy, which is kept for user space's part of the exit. */
TEST(test_copied_pcs_of_samples, setup)
{
	struct vcpu_vmx vmx = { .exit_reason = { IO } };

	exit_place = EXIT_IN_VMX;
	counts_pcs = true;
	vmx.vcpu.arch.rip = KERNEL;
	leaves_guest_at(900, &vmx.vcpu);
	runs_at(910, &vmx.vcpu);
	leaves_guest_at(1000, &vmx.vcpu);
	samples_at(1010, 0xf1, 0);
	assert_int_equal(m.stack_keys[0].pc, 0);
	vmx.vcpu.arch.regs_avail = 1U << 16;
	samples_at(1020, 0xf1, 0);
	assert_int_equal(m.stack_keys[1].pc, KERNEL);
	leaves_at(1030, IO, 0);
	vmx.vcpu.arch.rip = KERNEL + 2;
	samples_at(1040, 0, 0xf2);
	assert_int_equal(m.stack_keys[2].pc, KERNEL);
}

/* Where kvm_exit never fires, the exit is the one that user space has. */
TEST(test_stacks_of_userspace, setup)
{
	has_exits = false;
	leaves_at(10, IO, 0);
	samples_at(12, 0, 0xf2);
	expect_stack(0, EXITS_STACK_ON, m.records[0].at.user_cell, 100, 1);
	has_exits = true;
}

TEST(test_no_room_for_stacks, setup)
{
	lost_stacks = lost_stack_ns = 0;
	m.has_no_room = true;
	exits_at(10, IO);
	samples_at(12, 0xf1, 0);
	assert_int_equal(lost_stacks, 1);
	assert_int_equal(m.stack_keys[0].kernel, EXITS_NO_STACK);
	m.nr_stacks = STACKS;
	enters_at(13);
	samples_at(14, 0xf3, 0);
	assert_int_equal(lost_stack_ns, 100);
}

/* Also of a thread of the inventory that has had no exit. */
TEST(test_absence, setup)
{
	uint32_t cell;

	m.tid = 1;
	exits_at(10, IO);
	cell = m.records[0].at.cell;
	m.kernel_frame = 0xf1;
	switches_at(20, 1, 3);
	assert_int_equal(m.nr_stacks, 0);
	switches_at(50, 3, 1);
	m.tid = 1;
	expect_stack(0, EXITS_STACK_OFF, cell, 30, 1);
	assert_false(m.has_absence[3]);
	switches_at(60, 3, 1); /* it is not away */
	assert_int_equal(m.stack_sums[0].ns, 30);
	m.has_absence[2] = true; /* by the reader */
	switches_at(70, 2, 3);
	switches_at(75, 3, 2);
	m.tid = 2;
	expect_stack(1, EXITS_STACK_OFF, EXITS_NO_CELL, 5, 1);
}

/* A switch of threads that are no VMM's: of a process, and of the kernel. Else a VMM may be any. */
TEST(test_switches_of_others, setup)
{
	struct mm_struct mm = { .notifier_subscriptions = NULL };
	struct task_struct next = { .pid = 3, .mm = &mm };
	__u64 args[] = { 0, (uintptr_t)&m.task, (uintptr_t)&next };

	m.has_absence[1] = m.has_absence[3] = true;
	m.absences[3].since = 5;
	m.task.mm = &mm;
	m.now_ns = 20;
	assert_int_equal(on_switch(args), 0);
	m.task.mm = next.mm = NULL;
	assert_int_equal(on_switch(args), 0);
	assert_int_equal(m.nr_lookups, 0);
	m.task.mm = next.mm = &mm;
	m.lacks = "kvm, mmu_notifier";
	assert_int_equal(on_switch(args), 0);
	assert_int_equal(m.absences[1].since, 20);
	assert_int_equal(m.absences[3].since, 0);
	assert_int_equal(m.stack_sums[0].ns, 15);
}

/* In KVM's halt the stack is always the same; user space may do anything in it. */
TEST(test_absence_in_halt, setup)
{
	m.tid = 1;
	halts[0] = HLT;
	exits_at(10, HLT);
	m.kernel_frame = 0xf1;
	m.user_frame = 0xf2;
	switches_at(20, 1, 3);
	switches_at(50, 3, 1);
	m.tid = 1;
	expect_stack(0, EXITS_STACK_OFF, m.records[0].at.cell % EXITS_CELLS, 30, 1);
	assert_int_equal(m.stack_keys[0].kernel | m.stack_keys[0].user, 0);
	leaves_at(60, EXITS_USER_HLT, 0);
	switches_at(70, 1, 3);
	switches_at(90, 3, 1);
	m.tid = 1;
	expect_stack(1, EXITS_STACK_OFF, m.records[0].at.cell % EXITS_CELLS, 20, 1);
	assert_int_not_equal(m.stack_keys[1].kernel, 0);
	assert_int_not_equal(m.stack_keys[1].user, 0);
}

TEST(test_no_room_for_absences, setup)
{
	lost_stacks = 0;
	m.has_no_room = true;
	halts[0] = HLT; /* of which no stack is kept */
	exits_at(10, HLT);
	switches_at(20, 1, 3);
	switches_at(50, 3, 1);
	assert_int_equal(lost_stacks, 1);
	assert_int_equal(m.nr_stacks, 0);
}
