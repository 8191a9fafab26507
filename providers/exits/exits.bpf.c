// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts and times VM exits by thread and reason; runs in the kernel, on its trace events.
 *
 * An exit begins with kvm_exit and ends with kvm_entry of the same thread; the part of it from
 * kvm_userspace_exit on is user space's. Each instruction costs time in each exit of each guest:
 * work for a new thread or a new reason, done once, is in functions of its own.
 *
 * Programs on trace events return 1: see providers/bpf/bpf.h. The record of a trace event costs
 * more than half of our own work; where the kernel's BTF says how the reason of kvm_exit is found
 * without it, a program on the raw event is used (enum exits_way).
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "providers/exits/halts.bpf.h"
#include "providers/exits/maps.bpf.h"
#include "providers/exits/shared.h"

char LICENSE[] SEC("license") = "GPL";

/* The number of the vCPU, which a record has; asked once for each thread. */
static __noinline __u32 raw_vcpu(__u64 vcpu, __u64 offset)
{
	__u32 number = EXITS_NO_VCPU;

	if (offset)
		bpf_probe_read_kernel(&number, sizeof(number), (void *)(vcpu + offset));
	return number;
}

static __always_inline __u32 vcpu_of(void *ctx, enum exits_way way)
{
	__u64 vcpu = LOAD(ctx, FIELD_VCPU);

	return way == EXITS_BY_RECORD ? vcpu : raw_vcpu(vcpu, NUMBER(RAW_VCPU_ID));
}

static __always_inline __u64 read_reason(__u64 vcpu)
{
	__u64 at = vcpu + NUMBER(RAW_OFFSET), reason = 0;

	if (NUMBER(RAW_HAS_POINTER)) {
		bpf_probe_read_kernel(&at, sizeof(at), (void *)at);
		at += NUMBER(RAW_OFFSET_THERE);
	}
	bpf_probe_read_kernel(&reason, NUMBER(RAW_BYTES), (void *)at);
	return reason;
}

static __always_inline __u64 load_reason(__u64 vcpu)
{
	__u64 at = vcpu + NUMBER(RAW_OFFSET);

	if (NUMBER(RAW_HAS_POINTER))
		at = *(const __u64 *)CAST(at, NUMBER(RAW_POINTER)) + NUMBER(RAW_OFFSET_THERE);
	return LOAD(CAST(at, NUMBER(RAW_NUMBER)), FIELD_REASON);
}

/* What the event's record has, or would have. */
static __always_inline __u64 code_of(void *ctx, enum exits_way way)
{
	__u64 type, reason;

	if (way != EXITS_BY_RECORD && LOAD(ctx, FIELD_ISA) != NUMBER(RAW_ISA))
		return EXITS_NO_CODE;
	if (way == EXITS_BY_LOAD)
		return load_reason(LOAD(ctx, FIELD_VCPU));
	if (way == EXITS_BY_READ)
		return read_reason(LOAD(ctx, FIELD_VCPU));
	reason = LOAD(ctx, FIELD_REASON);
	if (!has_type)
		return reason;
	type = LOAD(ctx, FIELD_TYPE);
	if (way == EXITS_BY_ARGUMENT)
		type &= NUMBER(RAW_TYPE_MASK);
	return type == type_of_field ? reason : type_bit | type;
}

/* How long this thread has waited for a CPU since it began. It has one now, so it is up to date. */
static __always_inline __u64 waited_so_far(void)
{
	__u64 at = run_delay_at;

	return at ? *(const __u64 *)((const char *)bpf_get_current_task_btf() + at) : 0;
}

static __always_inline int begin_exit(void *ctx, enum exits_way way, _Bool is_long)
{
	_Bool has_vcpu = way == EXITS_BY_READ || way == EXITS_BY_LOAD;
	__u32 cpu = bpf_get_smp_processor_id(), cell;
	struct exits_thread *thread = has_vcpu ? find_running(cpu, LOAD(ctx, FIELD_VCPU)) :
						 find_thread(cpu);

	if (!thread)
		thread = add_thread(vcpu_of(ctx, way), 1);
	if (!thread)
		return count_late(vcpu_of(ctx, way), code_of(ctx, way), EXITS_VMEXIT, 1);
	cell = find_cell(code_of(ctx, way), EXITS_VMEXIT);
	count(thread, cell);
	thread->cpu = cpu;
	if (is_long && !has_vcpu) /* else the vCPU leads to it when the exit ends */
		thread->pc = LOAD(ctx, FIELD_PC);
	if (is_long)
		thread->waited_before_ns = waited_so_far();
	thread->open_cell = cell;
	thread->open_since = bpf_ktime_get_ns();
	return 1;
}

/*
 * Where the guest was, by the VMCB that the vCPU left with the exit that ends now: the guest's own
 * (L1), or the one of the guest that it runs (L2). places: of pointers to the current one and to
 * these two, in the vCPU, and of the program counter there. KVM writes a program counter only after
 * kvm_entry, except when a guest enters L2: then the one of L1 is already past that instruction,
 * and the program counter of the exit is not known.
 */
static __noinline __u64 find_pc(const struct exits_thread *thread, __u64 current, __u64 own,
				__u64 nested, __u64 place)
{
	_Bool is_nested = codes[thread->open_cell % EXITS_CELLS].is_nested;
	__u64 vcpu = thread->running, at = 0, now = 0, pc = 0;

	bpf_probe_read_kernel(&now, sizeof(now), (void *)(vcpu + current));
	bpf_probe_read_kernel(&at, sizeof(at), (void *)(vcpu + (is_nested ? nested : own)));
	if (is_nested || now == at)
		bpf_probe_read_kernel(&pc, sizeof(pc), (void *)(at + place));
	return pc;
}

/*
 * Where the guest goes on: at the instruction that exited, or at the next one if KVM emulated it.
 * KVM copies the program counter in exits for which it needs it, and drops the copy at the next
 * exit. When an exit has entered or left L2, the copy is the other guest's.
 */
static __noinline __u64 find_pc_copy(const struct exits_thread *thread, __u64 copy, __u64 copied,
				     __u64 bit, __u64 nested)
{
	_Bool is_nested = codes[thread->open_cell % EXITS_CELLS].is_nested;
	__u64 vcpu = thread->running, now_nested = 0, pc = 0;
	__u8 bits = 0;

	bpf_probe_read_kernel(&bits, sizeof(bits), (void *)(vcpu + copied));
	bpf_probe_read_kernel(&now_nested, sizeof(now_nested), (void *)(vcpu + nested));
	if (bits & bit && is_nested == (now_nested != 0))
		bpf_probe_read_kernel(&pc, sizeof(pc), (void *)(vcpu + copy));
	return pc;
}

/* Reports an exit that took longer than the threshold. */
static __noinline void report(struct exits_thread *thread, __u64 since, __u64 now, __u64 pc)
{
	__u32 cell = thread->open_cell % EXITS_CELLS;
	struct exits_long *exit;

	if (is_left_out[cell])
		return;
	exit = bpf_ringbuf_reserve(&long_exits, sizeof(*exit), 0);
	if (!exit) {
		__sync_fetch_and_add(&lost_long_exits, 1);
		return;
	}
	exit->end_ns = now;
	exit->took_ns = now - since;
	exit->user_ns = thread->user_ns + (thread->user_since ? now - thread->user_since : 0);
	exit->polled_ns = thread->open_cell & EXITS_HALT ? thread->halt_polled_ns : 0;
	exit->waited_ns = waited_so_far() - thread->waited_before_ns;
	exit->pc = pc;
	exit->thread = thread->number;
	exit->cpu = thread->cpu;
	exit->cell = cell;
	exit->has_argument = thread->has_argument;
	exit->argument = thread->argument;
	bpf_ringbuf_submit(exit, BPF_RB_NO_WAKEUP);
}

/* has_vcpu: as for sums_of(). Then the vCPU leads to the program counter: no exit keeps it. */
static __always_inline void end_long(struct exits_thread *thread, _Bool has_vcpu, __u64 since,
				     __u64 now)
{
	__u64 pc = thread->pc;

	if (has_vcpu && NUMBER(RAW_PC_COPY))
		pc = find_pc_copy(thread, NUMBER(RAW_PC_COPY), NUMBER(RAW_COPIED),
				  NUMBER(RAW_COPIED_BIT), NUMBER(RAW_IS_NESTED));
	else if (has_vcpu)
		pc = find_pc(thread, NUMBER(RAW_OFFSET), NUMBER(RAW_OWN_VMCB),
			     NUMBER(RAW_NESTED_VMCB), NUMBER(RAW_PC));
	report(thread, since, now, pc);
}

/* Most exits are no halts, and not long: they pay for two comparisons, and no more. */
static __always_inline int end_exit(struct exits_thread *thread, void *ctx, _Bool has_vcpu,
				    _Bool is_long)
{
	__u64 since, now, number;
	struct exits_cell *cell;

	if (!thread)
		return 0;
	since = thread->open_since;
	now = bpf_ktime_get_ns();
	number = thread->open_cell;
	if (number >= EXITS_HALT) {
		end_halt(thread, ctx, has_vcpu, is_long, now);
		number %= EXITS_CELLS;
	}
	thread->open_since = 0; /* first: else the reader adds a time that the cell has already */
	if (since) {
		if (is_long && now - since > longer_ns)
			end_long(thread, has_vcpu, since, now);
		took(&thread->cells[number], now - since);
	}
	if (thread->user_since) {
		took(&thread->cells[thread->user_cell % EXITS_CELLS], now - thread->user_since);
		thread->user_since = 0;
	}
	if (is_long)
		thread->user_ns = 0;
	if (thread->has_argument) {
		thread->has_argument = 0;
		cell = bpf_map_lookup_elem(&arguments, &thread->argument);
		if (cell && since)
			took(cell, now - since);
	}
	return 0;
}

SEC("tracepoint")
int on_exit(void *ctx)
{
	return begin_exit(ctx, EXITS_BY_RECORD, 0);
}

SEC("raw_tracepoint")
int on_exit_by_argument(void *ctx)
{
	return begin_exit(ctx, EXITS_BY_ARGUMENT, 0);
}

SEC("raw_tracepoint")
int on_exit_by_read(void *ctx)
{
	return begin_exit(ctx, EXITS_BY_READ, 0);
}

SEC("raw_tracepoint")
int on_exit_by_load(void *ctx)
{
	return begin_exit(ctx, EXITS_BY_LOAD, 0);
}

SEC("raw_tracepoint")
int on_entry(void *ctx)
{
	return end_exit(find_thread(bpf_get_smp_processor_id()), ctx, 0, 0);
}

/* The same where an argument is the vCPU. */
SEC("raw_tracepoint")
int on_vcpu_entry(void *ctx)
{
	return end_exit(find_running(bpf_get_smp_processor_id(), LOAD(ctx, FIELD_VCPU)), ctx, 1,
			0);
}

/* The same while long exits are reported. */
SEC("tracepoint")
int on_long_exit(void *ctx)
{
	return begin_exit(ctx, EXITS_BY_RECORD, 1);
}

SEC("raw_tracepoint")
int on_long_exit_by_argument(void *ctx)
{
	return begin_exit(ctx, EXITS_BY_ARGUMENT, 1);
}

SEC("raw_tracepoint")
int on_long_exit_by_read(void *ctx)
{
	return begin_exit(ctx, EXITS_BY_READ, 1);
}

SEC("raw_tracepoint")
int on_long_exit_by_load(void *ctx)
{
	return begin_exit(ctx, EXITS_BY_LOAD, 1);
}

SEC("raw_tracepoint")
int on_long_entry(void *ctx)
{
	return end_exit(find_thread(bpf_get_smp_processor_id()), ctx, 0, 1);
}

/* The same where an argument is the vCPU. */
SEC("raw_tracepoint")
int on_long_vcpu_entry(void *ctx)
{
	return end_exit(find_running(bpf_get_smp_processor_id(), LOAD(ctx, FIELD_VCPU)), ctx, 1,
			1);
}

/*
 * kvm_page_fault: KVM reads the program counter for its record, and so has a copy when the exit
 * ends. Most page faults need it for nothing else.
 */
SEC("tracepoint")
int on_page_fault(void *ctx __attribute__((unused)))
{
	return 1;
}

SEC("tracepoint")
int on_userspace(void *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id(), cell;
	struct exits_thread *thread = find_thread(cpu);
	__u64 code = exits_user_code(LOAD(ctx, FIELD_REASON), (int)LOAD(ctx, FIELD_TYPE));

	if (!thread)
		thread = add_thread(EXITS_NO_VCPU, !has_exits);
	if (!thread)
		return count_late(EXITS_NO_VCPU, code, EXITS_USERSPACE, !has_exits);
	thread->running = 0; /* KVM_RUN is over */
	if (thread->user_since)
		end_userspace(thread, bpf_ktime_get_ns());
	cell = find_cell(code, EXITS_USERSPACE);
	count(thread, cell);
	thread->cpu = cpu;
	if (code >= EXITS_RESTART && !knows_return(thread))
		return 1;
	thread->user_cell = cell;
	thread->user_since = bpf_ktime_get_ns();
	return 1;
}

/* The cells that share EXITS_OTHER have no twin. */
static __noinline __u32 add_twin(__u32 cell)
{
	const struct exits_code *code = &codes[cell % EXITS_CELLS];
	__u32 twin = cell ? add_cell(code->code, code->kind | EXITS_NESTED) : EXITS_OTHER;

	if (!twin)
		return cell;
	twins[cell % EXITS_CELLS] = twin;
	twins[twin % EXITS_CELLS] = twin;
	return twin;
}

/*
 * kvm_nested_vmexit: the exit that the thread has just begun with kvm_exit was of a guest that the
 * guest runs, L2. From here on the exit is counted, timed and named by the twin of its cell. What
 * lies between the entry and the exit was time in L2.
 */
SEC("raw_tracepoint")
int on_nested_exit(void *ctx __attribute__((unused)))
{
	struct exits_thread *thread = find_thread(bpf_get_smp_processor_id());
	__u32 cell, twin;
	__u64 since;

	if (!thread || !thread->open_since)
		return 0;
	since = thread->open_since;
	cell = thread->open_cell % EXITS_CELLS;
	twin = twins[cell];
	if (!twin)
		twin = add_twin(cell);
	if (thread->entered_ns && thread->entered_ns < since)
		thread->nested_ns += since - thread->entered_ns;
	thread->entered_ns = 0;
	if (twin != cell) {
		thread->open_cell = twin;
		thread->cells[cell].count--;
		count(thread, twin);
	}
	barrier();
	thread->nested_since = since;
	if (!is_nesting)
		is_nesting = 1;
	return 0;
}

/* Attached to kvm_entry beside on_entry while a guest nests. */
SEC("raw_tracepoint")
int on_nested_entry(void *ctx __attribute__((unused)))
{
	struct exits_thread *thread = find_thread(bpf_get_smp_processor_id());

	if (thread && thread->nested_since)
		thread->entered_ns = bpf_ktime_get_ns();
	return 0;
}

/*
 * The first arguments of a thread's epoch have a cell each, and the busiest ones are nearly always
 * among them; the others share one cell. So no guest takes the room of others, however many
 * different arguments it uses.
 */
static __noinline struct exits_cell *add_argument(struct exits_thread *thread)
{
	static const struct exits_cell zero;
	struct exits_argument_key *key = &thread->argument;
	struct exits_cell *cell;

	if (thread->nr_arguments < EXITS_ARGUMENTS) {
		thread->nr_arguments++;
	} else {
		key->a = 0;
		key->b = 0;
		key->c = 0;
		key->is_rest = 1;
		cell = bpf_map_lookup_elem(&arguments, key);
		if (cell)
			return cell;
	}
	bpf_map_update_elem(&arguments, key, &zero, BPF_NOEXIST);
	return bpf_map_lookup_elem(&arguments, key);
}

static __always_inline int on_argument(void *ctx, __u8 kind)
{
	struct exits_thread *thread = find_thread(bpf_get_smp_processor_id());
	struct exits_argument_key *key;
	struct exits_cell *cell;

	if (!thread)
		thread = add_thread(EXITS_NO_VCPU, !has_exits);
	if (!thread)
		return lose_argument();
	key = &thread->argument;
	key->a = LOAD(ctx, FIELD_A);
	key->b = LOAD(ctx, FIELD_B);
	key->c = LOAD(ctx, FIELD_C);
	key->thread = thread->number;
	key->kind = kind;
	key->cell = thread->open_since ? thread->open_cell % EXITS_CELLS : EXITS_NO_CELL;
	key->epoch = thread->epoch;
	key->is_rest = 0;
	cell = bpf_map_lookup_elem(&arguments, key);
	if (!cell)
		cell = add_argument(thread);
	if (!cell) {
		__sync_fetch_and_add(&lost_arguments, 1);
		return 1;
	}
	cell->count++;
	thread->has_argument = 1;
	return 1;
}

#define ON_ARGUMENT(name, kind)                  \
	SEC("tracepoint") int name(void *ctx)    \
	{                                        \
		return on_argument(ctx, kind);   \
	}

ON_ARGUMENT(on_ioport, EXITS_IOPORT)
ON_ARGUMENT(on_mmio, EXITS_MMIO)
ON_ARGUMENT(on_msr, EXITS_MSR)
ON_ARGUMENT(on_cpuid, EXITS_CPUID)
ON_ARGUMENT(on_hypercall, EXITS_HYPERCALL)
ON_ARGUMENT(on_sysreg, EXITS_SYSREG)
