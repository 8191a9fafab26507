// SPDX-License-Identifier: GPL-2.0-or-later
/* The dictionary of columns. */
#include "core/views/columns.h"
#include "core/facts/facts.h"

/* The help of the percentiles' columns, after "half" or "99 %". See hist_percentile_ns(). */
#define PERCENTILE_HELP                                                                        \
	"took no longer: interpolated within a power of two, at most a factor of 2 off, a few " \
	"% where durations are spread evenly; of a recording within 4 %"

#define TEXT(name_, title_, width_) \
	.name = name_, .title = title_, .type = CELL_TEXT, .width = width_
#define COUNT(name_, title_, width_) \
	.name = name_, .title = title_, .type = CELL_COUNT, .width = width_
#define SHARE(name_, title_, width_) \
	.name = name_, .title = title_, .type = CELL_PERCENT, .width = width_
#define RATE(name_, title_, width_) \
	.name = name_, .title = title_, .type = CELL_RATE, .width = width_, .total = TOTAL_SUM
#define TIME(name_, title_) .name = name_, .title = title_, .type = CELL_NS, .width = 7
#define PICTURE(type_, name_, title_, width_) \
	.name = name_, .title = title_, .type = type_, .width = width_
/* Part of vCPUs' time; of what the host says. */
#define OF_TIME(part_) .total = TOTAL_MEAN, .needs = NEEDS_PART, .part = part_
#define OF_HOST(part_) .needs = NEEDS_HOST, .part = part_
#define CHANGE .title = "Change%", .help = "change from first to second, in per cent", \
	.type = CELL_PERCENT, .width = 8

const struct column column_dictionary[COLUMNS] = {
	[COL_EVENT] = { TEXT("event", "Event", 28),
			.help = "what happened; reasons below their event" },
	[COL_REASON] = { TEXT("reason", "Exit reason", 20), .help = "why the vCPU left the guest" },
	[COL_WHAT] = { TEXT("what", "What", 18),
		       .help = "the exit's reason, or what kind of access it was" },
	[COL_ARGUMENT] = { TEXT("argument", "Argument", 24),
			   .help = "port, MSR, address, CPUID leaf, call, register" },
	[COL_EXIT_ARGUMENT] = { TEXT("argument", "Argument", 24), .needs = NEEDS_VALUE,
				.help = "port, MSR, address, CPUID leaf, call, register" },
	[COL_GUEST] = { TEXT("guest", "Guest", 24), .help = "as its VMM names it" },
	[COL_HOST] = { TEXT("host", "Host", 28),
		       .help = "as Prometheus names it: the label \"instance\"" },
	[COL_VCPU] = { COUNT("vcpu", "vCPU", 4), .help = "its number" },
	[COL_THREAD] = { TEXT("thread", "Thread", 15), .needs = NEEDS_VALUE,
			 .help = "what else the VMM runs, beside vCPUs" },
	[COL_PID] = { COUNT("pid", "PID", 7), .help = "of the process that runs it" },
	[COL_TID] = { COUNT("tid", "TID", 7), .help = "its thread" },
	[COL_VMM] = { TEXT("vmm", "VMM", 11), .help = "what runs it" },
	[COL_CPU] = { COUNT("cpu", "CPU", 4), .help = "a CPU of the host that is online" },
	[COL_ON_CPU] = { COUNT("cpu", "CPU", 4), .needs = NEEDS_VALUE,
			 .help = "the host CPU that it is on, or was on last" },
	[COL_NODE] = { COUNT("node", "Node", 4), OF_HOST(HOST_NODE), .help = "its NUMA node" },
	[COL_CORE] = { COUNT("core", "Core", 4), OF_HOST(HOST_CORE),
		       .help = "its core; numbers begin anew in each socket" },
	[COL_SIBLING] = { COUNT("sibling", "Sibling", 7), OF_HOST(HOST_SIBLING),
			  .help = "another CPU of the same core" },
	[COL_ENDED] = { COUNT("ended", "Ended", 5), .help = "1: its guest has ended" },

	[COL_TOTAL] = { COUNT("total", "Total", 10), .total = TOTAL_SUM,
			.help = "since the start, r, or a change of filter" },
	[COL_SHARE] = { SHARE("share", "%Total", 7) },
	[COL_DELTA] = { COUNT("delta", "Delta", 10), .total = TOTAL_SUM,
			.help = "since the previous sample" },
	[COL_RATE] = { RATE("rate", "CurAvg/s", 9),
		       .help = "per second between the last two samples" },
	[COL_HISTORY] = { PICTURE(CELL_SPARK, "history", "History", 30),
			  .help = "the rate over the last samples; all rows have one scale" },
	[COL_VCPUS] = { COUNT("vcpus", "vCPU", 4), .help = "how many it has" },
	[COL_GUESTS] = { COUNT("guests", "Guests", 6), .help = "how many it has" },
	[COL_MIGRATIONS] = { RATE("migrations", "Migr/s", 6), OF_HOST(HOST_MIGRATIONS),
			     .help = "moves to another host CPU, per second" },
	[COL_AFFINITY] = { COUNT("affinity", "Affinity", 8), OF_HOST(HOST_AFFINITY),
			   .help = "on how many host CPUs it may run" },

	[COL_IN_GUEST] = { SHARE("guest_percent", "Guest%", 6), OF_TIME(TIME_GUEST),
			   .help = "share of its vCPUs' time in the guest" },
	[COL_IN_L2] = { SHARE("l2_percent", "L2%", 5), OF_TIME(TIME_L2),
			.help = "share in guests of the guest; a part of Guest%" },
	[COL_IN_KVM] = { SHARE("kvm_percent", "KVM%", 5), OF_TIME(TIME_KVM),
			 .help = "share in which KVM handled exits" },
	[COL_IN_USER] = { SHARE("user_percent", "User%", 5), OF_TIME(TIME_USER),
			  .help = "share in user space, the VMM" },
	[COL_IN_HALT] = { SHARE("halt_percent", "Halt%", 5), OF_TIME(TIME_HALT),
			  .help = "share in which the vCPU had nothing to do" },
	[COL_IN_POLL] = { SHARE("poll_percent", "Poll%", 5), OF_TIME(TIME_POLL),
			  .help = "share in which KVM polled in halts: nothing to do, but the CPU "
				  "is busy" },
	[COL_IN_SLEEP] = { SHARE("sleep_percent", "Sleep%", 6), OF_TIME(TIME_POLL),
			   .help = "share in which the vCPU slept: nothing to do, and the CPU is "
				   "free" },
	[COL_IN_WAIT] = { SHARE("wait_percent", "Wait%", 5), .total = TOTAL_MEAN,
			  .needs = NEEDS_WAIT,
			  .help = "share in which the vCPU could run but had no CPU; a part of "
				  "the others" },
	[COL_THROTTLED] = { SHARE("throttled_percent", "Throt%", 6), .total = TOTAL_MEAN,
			    OF_HOST(HOST_THROTTLED),
			    .help = "share in which a quota (cpu.max) stopped it; a part of "
				    "Wait%" },
	[COL_CPU_TIME] = { SHARE("cpu_percent", "CPU%", 5), .total = TOTAL_SUM, OF_HOST(HOST_RUN),
			   .help = "time that its threads ran, as a share of one host CPU" },
	[COL_VMM_TIME] = { SHARE("vmm_percent", "VMM%", 5), OF_HOST(HOST_THREAD),
			   .help = "time that the VMM's threads beside vCPUs ran, as a share of "
				   "one host CPU" },
	[COL_VCPU_TIME] = { TIME("vcpu_ns", "vCPU time"), .needs = NEEDS_EXITS,
			    .help = "the time of its vCPUs: 100 % of the shares" },
	[COL_SPLIT] = { PICTURE(CELL_SPLIT, "split", "Time split", 16), .needs = NEEDS_TIMES,
			.help = "the shares as a picture; line 2 has its signs" },
	[COL_TOP] = { TEXT("top", "Top exit", 18), .needs = NEEDS_EXITS,
		      .help = "the reason that took most time; of halts only polling counts" },
	[COL_TOP_SHARE] = { SHARE("top_percent", "Top%", 5), .needs = NEEDS_EXITS,
			    .help = "its share of the vCPUs' time without sleep; or, untimed, of "
				    "exits" },
	[COL_REMOTE] = { SHARE("remote_percent", "Remote%", 7), OF_HOST(HOST_REMOTE),
			 .help = "share of the guest's memory on other NUMA nodes than the CPU it "
				 "is on" },

	[COL_BUSY] = { SHARE("busy_percent", "Busy%", 6), .total = TOTAL_MEAN, OF_HOST(HOST_BUSY),
		       .help = "share of its time in which it ran anything" },
	[COL_VCPU_BUSY] = { SHARE("vcpu_percent", "vCPU%", 6), .total = TOTAL_MEAN,
			    OF_HOST(HOST_RUN),
			    .help = "share of its time in which it ran vCPUs; a vCPU counts where "
				    "it is now" },
	[COL_CPU_VCPUS] = { COUNT("vcpus", "vCPUs", 6), .total = TOTAL_SUM, OF_HOST(HOST_CPU),
			    .help = "how many vCPUs are on it" },
	[COL_WANT] = { SHARE("want_percent", "Want%", 6), .total = TOTAL_MEAN, OF_HOST(HOST_RUN),
		       .help = "the time that its vCPUs ran or waited for it, as a share of its "
			       "time" },
	[COL_CPU_WAIT] = { SHARE("wait_percent", "Wait%", 6), .total = TOTAL_MEAN,
			   OF_HOST(HOST_RUN), .help = "the part of Want% in which they waited" },
	[COL_CPU_THROTTLED] = { SHARE("throttled_percent", "Throt%", 6), .total = TOTAL_MEAN,
				OF_HOST(HOST_THROTTLED),
				.help = "share of its vCPUs' time in which a quota (cpu.max) kept "
					"them from running; no part of Want%" },
	[COL_CPU_KVM] = { SHARE("kvm_percent", "KVM%", 6), .total = TOTAL_MEAN,
			  .needs = NEEDS_EXITS,
			  .help = "share of its vCPUs' time in which KVM handled exits" },

	[COL_TIME_SHARE] = { SHARE("time_percent", "Time%", 5), .total = TOTAL_MEAN,
			     .is_cost = true,
			     .help = "share of the time of the row's vCPUs; of halts only what was "
				     "polled" },
	[COL_POLL_SHARE] = { SHARE("poll_percent", "Poll%", 5), .total = TOTAL_MEAN,
			     .help = "of that time: halt polling, which keeps the CPU busy; a part "
				     "of Time%" },
	[COL_SLEEP_SHARE] = { SHARE("sleep_percent", "Sleep%", 6),
			      .help = "share of the time of the row's vCPUs in halts, without what "
				      "was polled" },
	[COL_HALT_SHARE] = { SHARE("halt_percent", "Halt%", 5),
			     .help = "share of the time of the row's vCPUs in halts, also in one "
				     "without end" },
	[COL_TIME] = { TIME("time_ns", "Time"), .is_cost = true,
		       .help = "how long they took in all, between the last two samples" },
	[COL_SHORTEST] = { TIME("min_ns", "Min"), .is_cost = true, .help = "the shortest" },
	[COL_AVERAGE] = { TIME("avg_ns", "Avg"), .is_cost = true,
			  .help = "how long one took on average" },
	[COL_DEVIATION] = { TIME("stddev_ns", "Stddev"), .is_cost = true,
			    .help = "how far from Avg they are: the standard deviation" },
	[COL_P50] = { TIME("p50_ns", "p50"), .is_cost = true, .help = "half " PERCENTILE_HELP },
	[COL_P99] = { TIME("p99_ns", "p99"), .is_cost = true, .help = "99 % " PERCENTILE_HELP },
	[COL_CUR_LONGEST] = { TIME("interval_max_ns", "CurMax"), .is_cost = true,
			      .help = "the longest of the interval, exact if it is longer than all "
				      "before; else the upper edge of its bucket" },
	[COL_LONGEST] = { TIME("max_ns", "Max"), .is_cost = true,
			  .help = "the longest since the start or r" },
	[COL_OPEN] = { TIME("open_ns", "Open"), .needs = NEEDS_VALUE,
		       .help = "how long an exit that has not ended lasts, if longer than the "
			       "interval" },
	[COL_HIST] = { PICTURE(CELL_HIST, "hist", "Latency", HIST_BUCKETS),
		       .help = "how many took how long, from 128 ns to 2 s" },

	[COL_END] = { TEXT("end", "Time", 15),
		      .help = "when it ended; in a recording, in seconds from the start" },
	[COL_END_NS] = { COUNT("end_ns", "End", 19),
			 .help = "the same in ns since 1970, or from the start" },
	[COL_TOOK] = { TIME("took_ns", "Took"),
		       .help = "from the exit to the next entry into the guest" },
	[COL_USER_SHARE] = { SHARE("user_percent", "User%", 5),
			     .help = "share of Took from the first exit to user space on; -: there "
				     "was none" },
	[COL_USER] = { TIME("user_ns", "User"), .help = "the same as a time" },
	[COL_EXIT_POLL] = { SHARE("poll_percent", "Poll%", 5), .needs = NEEDS_VALUE,
			    .help = "share of Took in which KVM polled, in a halt" },
	[COL_EXIT_WAIT] = { SHARE("wait_percent", "Wait%", 5), .needs = NEEDS_VALUE,
			    .help = "share of Took in which its thread waited for a CPU; -: not "
				    "known" },
	[COL_PC] = { TEXT("pc", "Guest PC", 18), .needs = NEEDS_VALUE,
		     .help = "the address at which the guest was left, or goes on (Intel); -: not "
			     "known" },
	[COL_SYMBOL] = { TEXT("symbol", "Function", 24), .needs = NEEDS_VALUE,
			 .help = "the guest's function there, by --guest-kallsyms" },

	[COL_FINDING] = { TEXT("finding", "Finding", 46), .help = "what makes the guest slow" },
	[COL_FINDINGS] = { COUNT("findings", "Findings", 8),
			   .help = "how many rules of kvmtop why apply, each to one or more of its "
				   "guests" },
	[COL_WORST] = { TEXT("finding", "Worst finding", 18),
			.help = "its rule, see kvmtop why" },
	[COL_SEVERITY] = { TEXT("severity", "Severity", 8),
			   .help = "critical: it takes a quarter of a vCPU's time or more; major: "
				   "a tenth; minor" },
	[COL_COST] = { SHARE("cost_percent", "Cost%", 5),
		       .help = "share of the vCPU's time that it takes" },
	[COL_EVIDENCE] = { TEXT("evidence", "Why", 0), .is_sentence = true,
			   .help = "of the vCPU where it is worst" },
	[COL_REMEDY] = { TEXT("remedy", "Do", 0), .is_sentence = true, .help = "what helps" },
	[COL_RULE] = { TEXT("rule", "Rule", 12), .help = "the finding's name, for filters" },

	[COL_OTHER_RATE] = { RATE("other_rate", "Count/s 1", 9),
			     .help = "exits per second in the first" },
	[COL_RATE_CHANGE] = { CHANGE, .name = "rate_change" },
	[COL_OTHER_AVERAGE] = { TIME("other_avg_ns", "Avg 1"),
				.help = "how long one took in the first" },
	[COL_AVERAGE_CHANGE] = { CHANGE, .name = "avg_change" },
	[COL_OTHER_P99] = { TIME("other_p99_ns", "p99 1"),
			    .help = "99 % took no longer, in the first" },
	[COL_P99_CHANGE] = { CHANGE, .name = "p99_change" },
	[COL_OTHER_TIME_SHARE] = { SHARE("other_time_percent", "Time% 1", 5),
				   .help = "share of the vCPUs' time in the first" },
	[COL_TIME_CHANGE] = { CHANGE, .name = "time_change" },
};
