/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * columns - the cells of tables, and the dictionary of all columns: names, headings, units, help,
 * and what a column needs.
 *
 * A view has a table of columns (struct column), each with what is its own: the rank, and words
 * that differ. What the table leaves out is as in the dictionary (struct column_entry). Two columns
 * of one name mean the same thing of different rows, and have different numbers if different code
 * fills them.
 */
#ifndef KVMTOP_CORE_VIEWS_COLUMNS_H
#define KVMTOP_CORE_VIEWS_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/facts/facts.h"

/* ---- cells: typed values, of which a renderer makes text */

enum cell_type {
	CELL_NONE, /* absent: "-" on a screen, null in JSON */
	CELL_TEXT,
	CELL_COUNT,
	CELL_PERCENT,
	CELL_RATE,  /* per second */
	CELL_NS,    /* a duration */
	CELL_SPARK, /* STATS_HISTORY rates, oldest first, < 0 where there is none */
	CELL_HIST,  /* counts by duration: HIST_BUCKETS counts */
	CELL_SPLIT, /* where time went: shares of the whole, 0 to 1 */
};

/* A picture is drawn on the screen only: lines of text omit it, and rows are not sorted by it. */
static inline bool cell_is_picture(enum cell_type type)
{
	return type == CELL_SPARK || type == CELL_HIST || type == CELL_SPLIT;
}

/* The parts of CELL_SPLIT, in the order in which they are drawn: a vCPU's time adds up to them. */
enum split_part {
	SPLIT_GUEST,
	SPLIT_KVM,
	SPLIT_USER,
	SPLIT_POLL,
	SPLIT_BLOCK,
	SPLIT_WAIT,
	SPLIT_IDLE,
	SPLIT_PARTS
};

struct cell {
	enum cell_type type : 8;
	bool has_ended; /* what a CELL_TEXT names: a mark for people; programs have a column */
	uint8_t end; /* of a CELL_HIST: its last bucket has no upper edge, and is before this one */
	float whole;	/* of a CELL_PERCENT: what 100 % are, such as ns; 0: the same in all rows */
	union {
		const char *text; /* owned by the dictionary or the inventory */
		uint64_t count;
		double number;
		uint64_t ns;
		const float *spark; /* owned by the view, as are hist and split */
		const uint64_t *hist;
		const double *split; /* SPLIT_PARTS */
	};
};

static inline struct cell cell_none(void)
{
	return (struct cell){ .type = CELL_NONE };
}

static inline struct cell cell_text(const char *text)
{
	return (struct cell){ .type = CELL_TEXT, .text = text };
}

static inline struct cell cell_count(uint64_t count)
{
	return (struct cell){ .type = CELL_COUNT, .count = count };
}

static inline struct cell cell_pid(pid_t pid) /* absent when it is 0: not known */
{
	return (struct cell){ .type = pid ? CELL_COUNT : CELL_NONE, .count = (uint64_t)pid };
}

static inline struct cell cell_ns(uint64_t ns)
{
	return (struct cell){ .type = CELL_NS, .ns = ns };
}

/* hist: HIST_BUCKETS counts. */
static inline struct cell cell_hist(const uint64_t *hist)
{
	return (struct cell){ .type = CELL_HIST, .end = HIST_BUCKETS, .hist = hist };
}

/* A guest's name. NULL: all guests that ended longer ago. */
struct cell cell_guest(const struct guest *guest);
/* Absent when whole is 0. Shares that are added up have wholes of one unit. */
struct cell cell_percent(uint64_t part, uint64_t whole);
struct cell cell_rate(const struct sum *sum); /* absent when the sum has no rate */
struct cell cell_spark(const struct sum *sum, const float *history);

/* -1, 0, 1 as for qsort(): absent cells first, then numbers ascending, then texts by bytes. */
int cell_compare(const struct cell *a, const struct cell *b);

/* ---- the dictionary */

/*
 * An entry each: number, name, heading, unit, width, help, what the row Total has of it, and what
 * it needs. See struct column_entry.
 */
#define COLUMN_LIST(COLUMN) \
	/* What a row is of. */ \
	COLUMN(EVENT, TEXT("event", "Event", 28), \
	       .help = "what happened; reasons below their event") \
	COLUMN(REASON, TEXT("reason", "Exit reason", 20), \
	       .help = "why the vCPU left the guest") \
	COLUMN(WHAT, TEXT("what", "What", 18), \
	       .help = "the exit's reason, or what kind of access it was") \
	COLUMN(ARGUMENT, TEXT("argument", "Argument", 24), \
	       .help = "port, MSR, address, CPUID leaf, call, register") \
	COLUMN(EXIT_ARGUMENT, TEXT("argument", "Argument", 24), .needs = NEEDS_VALUE, \
	       .help = "port, MSR, address, CPUID leaf, call, register") \
	COLUMN(GUEST, TEXT("guest", "Guest", 24), \
	       .help = "as its VMM names it") \
	COLUMN(HOST, TEXT("host", "Host", 28), \
	       .help = "as Prometheus names it: the label \"instance\"") \
	COLUMN(VCPU, COUNT("vcpu", "vCPU", 4), \
	       .help = "its number") \
	COLUMN(THREAD, TEXT("thread", "Thread", 15), .needs = NEEDS_VALUE, \
	       .help = "what the VMM runs other than vCPUs") \
	COLUMN(PID, COUNT("pid", "PID", 7), \
	       .help = "of the process that runs it") \
	COLUMN(TID, COUNT("tid", "TID", 7), \
	       .help = "its thread") \
	COLUMN(VMM, TEXT("vmm", "VMM", 11), \
	       .help = "what runs it") \
	/* Guests: words, in the order of enum guest_word. */ \
	COLUMN(UUID, TEXT("uuid", "UUID", 36), .needs = NEEDS_VALUE, \
	       .help = "of the guest, as its VMM or libvirt has it") \
	COLUMN(PLATFORM_ID, TEXT("id", "ID", 12), .needs = NEEDS_VALUE, \
	       .help = "its number in Proxmox, its sandbox in Kata or gVisor") \
	COLUMN(TITLE, TEXT("title", "Title", 20), .needs = NEEDS_VALUE, \
	       .help = "what its owner calls it: libvirt's title; the name in Nova or KubeVirt") \
	COLUMN(PROJECT, TEXT("project", "Project", 16), .needs = NEEDS_VALUE, \
	       .help = "of Nova or Incus; in Kubernetes the namespace") \
	COLUMN(FLAVOR, TEXT("flavor", "Flavor", 12), .needs = NEEDS_VALUE, \
	       .help = "what Nova calls its size") \
	COLUMN(POD, TEXT("pod", "Pod", 36), .needs = NEEDS_VALUE, \
	       .help = "the UID of its pod in Kubernetes") \
	COLUMN(CPU, COUNT("cpu", "CPU", 4), \
	       .help = "a CPU of the host that is online") \
	COLUMN(ON_CPU, COUNT("cpu", "CPU", 4), .needs = NEEDS_VALUE, \
	       .help = "the host CPU that it is on, or was on last") \
	COLUMN(NODE, COUNT("node", "Node", 4), OF_HOST(HOST_NODE), \
	       .help = "its NUMA node") \
	COLUMN(CORE, COUNT("core", "Core", 4), OF_HOST(HOST_CORE), \
	       .help = "its core; numbers begin anew in each socket") \
	COLUMN(SIBLING, COUNT("sibling", "Sibling", 7), OF_HOST(HOST_SIBLING), \
	       .help = "another CPU of the same core") \
	COLUMN(ENDED, COUNT("ended", "Ended", 5), \
	       .help = "1: its guest has ended") \
	/* Counts. */ \
	COLUMN(TOTAL, COUNT("total", "Total", 10), .total = TOTAL_SUM, \
	       .help = "since the start, r, or a change of filter") \
	COLUMN(SHARE, SHARE("total_percent", "%Total", 7)) \
	COLUMN(DELTA, COUNT("delta", "Delta", 10), .total = TOTAL_SUM, \
	       .help = "since the previous sample") \
	COLUMN(RATE, RATE("rate", "CurAvg/s", 9), \
	       .help = "per second between the last two samples") \
	COLUMN(HISTORY, PICTURE(CELL_SPARK, "history", "History", 30), \
	       .help = "the rate over the last samples; all rows have one scale") \
	COLUMN(VCPUS, COUNT("vcpus", "vCPUs", 5), \
	       .help = "how many it has") \
	COLUMN(GUESTS, COUNT("guests", "Guests", 6), OF_HOST(HOST_GUESTS), \
	       .help = "how many it has") \
	COLUMN(MIGRATIONS, RATE("migration_rate", "Migr/s", 6), OF_HOST(HOST_MIGRATIONS), \
	       .help = "moves to another host CPU, per second") \
	COLUMN(IO, RATE("io_rate", "IO/s", 6), OF_EVENT(EVENT_IO), \
	       .help = "exits for ports, by KVM's own counters, as the next ones") \
	COLUMN(MMIO, RATE("mmio_rate", "MMIO/s", 6), OF_EVENT(EVENT_MMIO), \
	       .help = "exits for memory of devices") \
	COLUMN(HALTS, RATE("halt_rate", "Halt/s", 6), OF_EVENT(EVENT_HALT), \
	       .help = "halts") \
	COLUMN(INTERRUPTS, RATE("interrupt_rate", "Intr/s", 6), OF_EVENT(EVENT_INTERRUPT), \
	       .help = "exits for interrupts of the host") \
	COLUMN(SIGNALS, RATE("signal_rate", "Sig/s", 6), OF_EVENT(EVENT_SIGNAL), \
	       .help = "exits for signals to the VMM") \
	COLUMN(EMULATED, RATE("emulated_rate", "Emul/s", 6), OF_EVENT(EVENT_EMULATED), \
	       .help = "instructions that KVM emulated") \
	COLUMN(FAULTS, RATE("fault_rate", "Fault/s", 7), OF_EVENT(EVENT_FAULT), \
	       .help = "page faults that KVM handled, of the tables from guest to host") \
	COLUMN(AFFINITY, COUNT("affinity", "Affinity", 8), OF_HOST(HOST_AFFINITY), \
	       .help = "how many host CPUs it may run on") \
	/* Where the time of vCPUs went. */ \
	COLUMN(EXIT_COST, SHARE("cost_percent", "Cost%", 5), OF_TIME(TIME_KVM), \
	       .help = "share of its vCPUs' time that exits cost: KVM% and User%") \
	COLUMN(IN_GUEST, SHARE("guest_percent", "Guest%", 6), OF_TIME(TIME_GUEST), \
	       .help = "share of its vCPUs' time in the guest") \
	COLUMN(IN_L2, SHARE("l2_percent", "L2%", 5), OF_TIME(TIME_L2), \
	       .help = "share in guests of the guest; a part of Guest%") \
	COLUMN(IN_KVM, SHARE("kvm_percent", "KVM%", 5), OF_TIME(TIME_KVM), \
	       .help = "share in which KVM worked, on a CPU: for exits, halts too") \
	COLUMN(IN_USER, SHARE("user_percent", "User%", 5), OF_TIME(TIME_USER), \
	       .help = "share in which user space, the VMM, worked, on a CPU") \
	COLUMN(IN_POLL, SHARE("poll_percent", "Poll%", 5), OF_TIME(TIME_POLL), \
	       .help = "share in which KVM polled for the end of halts: nothing to do, but the " \
		       "CPU is busy") \
	COLUMN(IN_IDLE, SHARE("idle_percent", "Idle%", 5), OF_TIME(TIME_IDLE), \
	       .help = "share in which the vCPU slept in halts, or was not started: the guest " \
		       "had nothing to do") \
	COLUMN(IN_BLOCK, SHARE("block_percent", "Block%", 6), OF_TIME(TIME_BLOCK), \
	       .help = "share in which it slept though the guest had work: for a page, a lock, " \
		       "I/O; in KVM or in the VMM") \
	COLUMN(BLOCK_USER, SHARE("block_user_percent", "BlkVMM%", 7), OF_TIME(TIME_BLOCK_USER), \
	       .help = "the part of Block% in the VMM; the rest is in KVM") \
	COLUMN(IN_WAIT, SHARE("wait_percent", "Wait%", 5), .total = TOTAL_MEAN, \
	       .needs = NEEDS_WAIT, \
	       .help = "share of its vCPUs' time in which they could run but had no CPU") \
	COLUMN(THROTTLED, SHARE("throttled_percent", "Throt%", 6), .total = TOTAL_MEAN, \
	       OF_HOST(HOST_THROTTLED), \
	       .help = "share in which a quota (cpu.max) stopped them; a part of Wait%") \
	COLUMN(CPU_TIME, SHARE("cpu_percent", "CPU%", 5), .total = TOTAL_SUM, OF_HOST(HOST_RUN), \
	       .help = "time that its vCPUs ran, as a share of one host CPU: of 8 vCPUs up to " \
		       "800") \
	COLUMN(VMM_TIME, SHARE("vmm_percent", "VMM%", 5), OF_HOST(HOST_THREAD), \
	       .help = "time that the VMM's other threads ran, as a share of one " \
		       "host CPU") \
	COLUMN(VCPU_TIME, TIME("vcpu_ns", "vCPU time"), .needs = NEEDS_EXITS, \
	       .help = "the time of its vCPUs: 100 % of the shares") \
	COLUMN(SPLIT, PICTURE(CELL_SPLIT, "split", "Time split", 16), .needs = NEEDS_TIMES, \
	       .help = "the shares as a picture; line 3 has its signs") \
	COLUMN(TOP, TEXT("top", "Top exit", 18), .needs = NEEDS_EXITS, \
	       .help = "the reason that took most time, without idle time") \
	COLUMN(TOP_SHARE, SHARE("top_percent", "Top%", 5), .needs = NEEDS_EXITS, \
	       .help = "its share of the vCPUs' time; or, untimed, of exits") \
	COLUMN(REMOTE, SHARE("remote_percent", "Remote%", 7), OF_HOST(HOST_REMOTE), \
	       .help = "share of the guest's memory on other NUMA nodes than the CPU it is " \
		       "on") \
	COLUMN(SWAPPED, SHARE("swapped_percent", "Swap%", 5), OF_HOST(HOST_SWAPPED), \
	       .help = "share of the guest's memory that the host has swapped out") \
	COLUMN(HUGE, SHARE("huge_percent", "Huge%", 5), .needs = NEEDS_VALUE, \
	       .help = "share of the guest's memory that KVM maps in pages of 2 MiB or more") \
	/* Host CPUs. */ \
	COLUMN(BUSY, SHARE("busy_percent", "Busy%", 6), .total = TOTAL_MEAN, OF_HOST(HOST_BUSY), \
	       .help = "share of its time in which it ran anything") \
	COLUMN(VCPU_BUSY, SHARE("vcpu_percent", "vCPU%", 6), .total = TOTAL_MEAN, \
	       OF_HOST(HOST_RUN), \
	       .help = "share of its time in which it ran vCPUs; a vCPU counts where it is " \
		       "now") \
	COLUMN(CPU_VCPUS, COUNT("vcpus", "vCPUs", 6), .total = TOTAL_SUM, OF_HOST(HOST_CPU), \
	       .help = "how many vCPUs are on it") \
	COLUMN(WANT, SHARE("want_percent", "Want%", 6), .total = TOTAL_MEAN, OF_HOST(HOST_RUN), \
	       .help = "the time that its vCPUs ran or waited for it, as a share of its " \
		       "time; without what a quota took") \
	/* Durations of exits. */ \
	COLUMN(TIME_SHARE, SHARE("time_percent", "Time%", 5), .total = TOTAL_MEAN, \
	       .is_cost = true, \
	       .help = "share of the time of the row's vCPUs, of all that are shown where a row " \
		       "names none, on a CPU or blocked: without waiting for a CPU, and without " \
		       "idle time") \
	COLUMN(RUN_SHARE, SHARE("run_percent", "Run%", 5), \
	       OF_TIME(TIME_BLOCK), \
	       .help = "the part of Time% in which its thread was on a CPU") \
	COLUMN(POLL_SHARE, SHARE("poll_percent", "Poll%", 5), .total = TOTAL_MEAN, \
	       .help = "the part of Time% in which KVM polled for the end of halts") \
	COLUMN(BLOCK_SHARE, SHARE("block_percent", "Block%", 6), \
	       OF_TIME(TIME_BLOCK), \
	       .help = "the part of Time% in which it slept: for a page, a lock, I/O") \
	COLUMN(WAIT_SHARE, SHARE("wait_percent", "Wait%", 5), \
	       OF_TIME(TIME_WAIT), \
	       .help = "in addition to Time%: in such exits its thread waited for a CPU") \
	COLUMN(IDLE_SHARE, SHARE("idle_percent", "Idle%", 5), OF_TIME(TIME_IDLE), \
	       .help = "in addition to Time%: in such exits it slept, if they are halts") \
	COLUMN(TIME_OF_ALL, SHARE("time_percent", "Time%", 5), .total = TOTAL_SUM, \
	       .is_cost = true, \
	       .help = "the same share as in Exits: of the time of all vCPUs that are shown, of " \
		       "all guests or of one, without waiting for a CPU, and without idle time") \
	COLUMN(TIME, TIME("time_ns", "Time"), .is_cost = true, \
	       .help = "how long they took in all, between the last two samples") \
	COLUMN(WAIT_TIME, TIME("wait_ns", "Wait"), OF_TIME(TIME_WAIT), \
	       .help = "how long they waited for a CPU in all, which is no part of Time") \
	COLUMN(SHORTEST, TIME("min_ns", "Min"), .is_cost = true, \
	       .help = "the shortest") \
	COLUMN(AVERAGE, TIME("avg_ns", "Avg"), .is_cost = true, \
	       .help = "how long one took on average") \
	COLUMN(DEVIATION, TIME("stddev_ns", "Stddev"), .is_cost = true, \
	       .help = "how far from Avg they are: the standard deviation") \
	COLUMN(P50, TIME("p50_ns", "p50"), .is_cost = true, \
	       .help = "half " \
		       PERCENTILE_HELP) \
	COLUMN(P99, TIME("p99_ns", "p99"), .is_cost = true, \
	       .help = "99 % " \
		       PERCENTILE_HELP) \
	COLUMN(CUR_LONGEST, TIME("interval_max_ns", "CurMax"), .is_cost = true, \
	       .help = "the longest of the interval, exact if it is longer than all " \
		       "before; else the upper edge of its bucket") \
	COLUMN(LONGEST, TIME("max_ns", "Max"), .is_cost = true, \
	       .help = "the longest since the start or r") \
	COLUMN(OPEN, TIME("open_ns", "Open"), .needs = NEEDS_VALUE, \
	       .help = "how long an exit that has not ended lasts, if longer than the " \
		       "interval") \
	COLUMN(HIST, PICTURE(CELL_HIST, "hist", "Latency", HIST_BUCKETS), \
	       .help = "how many took how long, from 128 ns to 2 s") \
	/* Waits for a CPU. */ \
	COLUMN(RAN, TEXT("ran", "Who ran", 30), \
	       .help = "a vCPU that waited for a CPU; below it what had the CPU meanwhile") \
	COLUMN(RAN_KIND, TEXT("kind", "Kind", 8), \
	       .help = "own: another vCPU of the guest; guest: of another one; vmm, vhost, " \
		       "kernel, process: their threads; irq, softirq; idle: the CPU was waking " \
		       "up; quota") \
	COLUMN(RAN_OWNER, TEXT("owner", "Process", 16), \
	       .help = "the guest or process of what ran") \
	COLUMN(RAN_THREAD, TEXT("thread", "Thread", 16), \
	       .help = "the vCPU or thread that ran") \
	COLUMN(WAITED_SHARE, SHARE("wait_percent", "Wait%", 6), .total = TOTAL_MEAN, \
	       .help = "share of the interval in which the vCPU waited; below it, while this " \
		       "ran") \
	COLUMN(PREEMPTED, RATE("preempted_rate", "Preem/s", 7), .needs = NEEDS_VALUE, \
	       .help = "waits that began in the guest, per second") \
	COLUMN(IN_KERNEL, SHARE("kernel_percent", "InKern%", 7), .needs = NEEDS_VALUE, \
	       .help = "share of these in which the guest's kernel ran, which may hold a lock") \
	COLUMN(SKEW, SHARE("skew_percent", "Skew%", 6), .needs = NEEDS_VALUE, \
	       .help = "of a guest with several vCPUs: how much longer the vCPU waited than the " \
		       "one that waited least, as a share of the interval") \
	/* Interrupts, from pending to entered. */ \
	COLUMN(INTERRUPT, TEXT("interrupt", "Interrupt", 26), \
	       .help = "a vCPU that got interrupts; below it their vectors, and how late its " \
		       "timer was") \
	COLUMN(VECTOR, TEXT("vector", "Vector", 14), \
	       .help = "the vector, or on AArch64 the kind and number; none: all of the vCPU") \
	COLUMN(WAKING, SHARE("waking_percent", "Waking%", 7), \
	       .help = "share of the time from pending to entered in which its thread slept") \
	COLUMN(WAITING, SHARE("waiting_percent", "Waiting%", 8), \
	       .help = "share in which its thread waited for a CPU") \
	COLUMN(ENTERING, SHARE("entering_percent", "Enter%", 6), \
	       .help = "the rest: it ran, in the guest too, and entered") \
	/* Long exits. */ \
	COLUMN(END, TEXT("end", "When", 15), \
	       .help = "when it ended; in a recording, in seconds from the start") \
	COLUMN(END_NS, COUNT("end_ns", "End", 19), \
	       .help = "the same in ns since 1970, or from the start") \
	COLUMN(TOOK, TIME("took_ns", "Took"), \
	       .help = "from the exit to the next entry into the guest, without waiting for a " \
		       "CPU") \
	COLUMN(USER, TIME("user_ns", "User"), \
	       .help = "the part of Took from the first exit to user space on; -: there was none") \
	COLUMN(EXIT_POLL, TIME("poll_ns", "Poll"), .needs = NEEDS_VALUE, \
	       .help = "the part of Took in which KVM polled, in a halt") \
	COLUMN(EXIT_WAIT, TIME("wait_ns", "Wait"), .needs = NEEDS_VALUE, \
	       .help = "in addition to Took: its thread waited for a CPU; -: not known, in Took") \
	COLUMN(PC, TEXT("pc", "Guest PC", 18), .needs = NEEDS_VALUE, \
	       .help = "the address at which the guest was left, or goes on (Intel); -: " \
		       "not known") \
	COLUMN(SYMBOL, TEXT("symbol", "Symbol", 24), .needs = NEEDS_VALUE, \
	       .help = "the guest's function there, if it has a name") \
	/* Code. */ \
	COLUMN(FUNCTION, TEXT("function", "Function", 32), \
	       .help = "a function of the kernel or of the VMM; of halts and of chosen exits " \
		       "[off CPU]: the thread had no CPU") \
	COLUMN(DEPTH, COUNT("depth", "Depth", 5), \
	       .help = "in the tree: 0 is a guest, 1 its vCPU, 2 an exit, then come functions") \
	COLUMN(SIDE, TEXT("side", "Side", 7), \
	       .help = "what it is part of: kernel, VMM, guest") \
	COLUMN(SELF_SHARE, SHARE("self_percent", "Self%", 5), \
	       .help = "share of the code's time in the function itself; of chosen exits, of all " \
		       "of their time") \
	COLUMN(STACK_SHARE, SHARE("incl_percent", "Incl%", 5), \
	       .help = "the same share in it, and in what it calls") \
	COLUMN(SELF_TIME, TIME("self_ns", "Self"), \
	       .help = "the time in the function itself") \
	COLUMN(SAMPLES, COUNT("samples", "Samples", 7), .needs = NEEDS_VALUE, \
	       .help = "samples, and times off the CPU") \
	COLUMN(MADE, COUNT("exits", "Exits", 7), .needs = NEEDS_VALUE, \
	       .help = "how many exits the guest's function made") \
	COLUMN(GUEST_KERNEL, SHARE("gsys_percent", "%gsys", 5), .needs = NEEDS_VALUE, \
	       .help = "share of exits that the guest's kernel made, in the tree") \
	/* Findings. */ \
	COLUMN(FINDING, TEXT("finding", "Finding", 46), \
	       .help = "what makes the guest slow") \
	COLUMN(FINDINGS, COUNT("findings", "Findings", 8), \
	       .help = "how many rules of kvmtop why apply, each to one or more of its " \
		       "guests") \
	COLUMN(WORST, TEXT("finding", "Worst finding", 18), \
	       .help = "its rule, see kvmtop why") \
	COLUMN(SEVERITY, TEXT("severity", "Severity", 8), \
	       .help = "critical: it takes a quarter of a vCPU's time or more; major: a " \
		       "tenth; minor") \
	COLUMN(COST, SHARE("cost_percent", "Cost%", 5), \
	       .help = "share of the vCPU's time that it takes") \
	COLUMN(EVIDENCE, TEXT("evidence", "Why", 0), .is_sentence = true, \
	       .help = "of the vCPU where it is worst") \
	COLUMN(REMEDY, TEXT("remedy", "Do", 0), .is_sentence = true, \
	       .help = "what helps") \
	COLUMN(RULE, TEXT("rule", "Rule", 12), \
	       .help = "the finding's name, for filters") \
	/* Two views that are compared. */ \
	COLUMN(OTHER_RATE, RATE("other_rate", "Count/s 1", 9), \
	       .help = "exits per second in the first") \
	COLUMN(RATE_CHANGE, CHANGE, .name = "rate_change") \
	COLUMN(OTHER_AVERAGE, TIME("other_avg_ns", "Avg 1"), \
	       .help = "how long one took in the first") \
	COLUMN(AVERAGE_CHANGE, CHANGE, .name = "avg_change") \
	COLUMN(OTHER_P99, TIME("other_p99_ns", "p99 1"), \
	       .help = "99 % took no longer, in the first") \
	COLUMN(P99_CHANGE, CHANGE, .name = "p99_change") \
	COLUMN(OTHER_TIME_SHARE, SHARE("other_time_percent", "Time% 1", 5), \
	       .help = "share of the vCPUs' time in the first") \
	COLUMN(TIME_CHANGE, CHANGE, .name = "time_change")

#define COLUMN_NUMBER(id, ...) COL_##id,

enum column_id {
	COL_NONE, /* ends a table */
	COLUMN_LIST(COLUMN_NUMBER)
	COLUMNS
};

/* What a column has to show anything; else it is absent. */
enum column_needs {
	NEEDS_NOTHING,
	NEEDS_VALUE, /* in any row */
	NEEDS_EXITS, /* fields of timed exits */
	NEEDS_TIMES, /* and times in them: where kvm_exit never happens there are none */
	NEEDS_PART,  /* a field of this part of vCPUs' time, which has times */
	NEEDS_WAIT,  /* a field of TIME_WAIT, or of HOST_WAITED */
	NEEDS_HOST,  /* a field of this part of the host's numbers */
	NEEDS_EVENT, /* a counter of KVM's of this kind */
};

/* What the row Total has of a column: nothing, as of names and durations; see build.c. */
enum column_total {
	TOTAL_NONE,
	TOTAL_SUM,  /* the sum of the rows */
	TOTAL_MEAN, /* of shares: the mean of the rows, by what they are shares of */
};

/* What a column is, in every view. */
struct column_entry {
	const char *name; /* in JSON and for --sort */
	const char *title, *help; /* where a view has no other ones */
	int width; /* the same, in characters: enough for nearly all values */
	enum cell_type type;
	enum column_total total;
	enum column_needs needs;
	unsigned int part;  /* see needs */
	bool is_cost;	    /* halts rank below other rows unless they have a share */
	bool is_sentence;   /* for people it is a line below the row, after the title */
};

extern const struct column_entry column_dictionary[COLUMNS];

/* A column of a view's table. */
struct column {
	enum column_id id;
	const char *title; /* as a heading; NULL: the dictionary's, as with help and width */
	const char *help;
	int width;
	int rank; /* the lowest ones are shown first; 0: see ui/screen/layout.c */
	int least; /* of a text: other columns are dropped before it becomes narrower */
	int warn; /* the share, in percent, from which on the reader should look at it; 0: never */
	bool is_for_machines; /* not for screens */
	bool is_key; /* names the row, with the first column; orders equal rows */
	/* One value in all rows when a guest, or a reason, is chosen: a screen leaves it out. */
	bool is_of_guest, is_of_reason;
	bool is_of_recording; /* absent live */
	bool is_of_live;      /* absent in a recording */
	bool is_marked;	      /* a mark in the row's name says the same: not for text */
};

static inline const char *column_name(const struct column *column)
{
	return column_dictionary[column->id].name;
}

static inline enum cell_type column_type(const struct column *column)
{
	return column_dictionary[column->id].type;
}

static inline enum column_total column_total(const struct column *column)
{
	return column_dictionary[column->id].total;
}

static inline bool column_is_sentence(const struct column *column)
{
	return column_dictionary[column->id].is_sentence;
}

static inline const char *column_title(const struct column *column)
{
	return column->title ? column->title : column_dictionary[column->id].title;
}

static inline const char *column_help(const struct column *column)
{
	return column->help ? column->help : column_dictionary[column->id].help;
}

static inline int column_width(const struct column *column)
{
	return column->width ? column->width : column_dictionary[column->id].width;
}

#endif
