// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of causes. */
#include "lib/array.h"
#include "core/findings/rules.h"

#define SERIAL "COM1|COM2|COM3|COM4|UART"
/* What KVM emulates itself. */
#define IN_KERNEL "LAPIC|IOAPIC|GIC|PIC1|PIC2|ELCR|PIT"
#define DEVICES                                                                            \
	{ .use = USE_ARGUMENT, .parents = "ioport|mmio", .but = SERIAL "|" IN_KERNEL }
#define TIMERS                                                                             \
	"IA32_TSC_DEADLINE|X2APIC_INITIAL_COUNT|HV_STIMER|CNTV_CVAL_EL0|CNTV_TVAL_EL0|"    \
	"CNTV_CTL_EL0|CNTP_CVAL_EL0|CNTP_TVAL_EL0|CNTP_CTL_EL0"
#define IPIS                                                                               \
	"X2APIC_ICR|X2APIC_SELF_IPI|HV_ICR|ICC_SGI1R_EL1|ICC_SGI0R_EL1|ICC_ASGI1R_EL1|"    \
	"KVM_HC_SEND_IPI"
#define THROTTLED "thread(throttled)"
/* KVM_RUN returned because a signal came. */
#define SIGNALS "INTR"
/* It returned for a signal, or because the guest was stopped: no device took that time. */
#define NO_WORK SIGNALS "|error|SYSTEM_EVENT|SHUTDOWN|DEBUG"
/* KVM looks for a page of the guest's memory, or puts it into its tables. */
#define PAGES \
	"npf|EPT_VIOLATION|EXCEPTION_NMI|DABT_LOW|IABT_LOW|EXC_INST_GUEST_PAGE_FAULT|"      \
	"EXC_LOAD_GUEST_PAGE_FAULT|EXC_STORE_GUEST_PAGE_FAULT|DATA_STORAGE|INST_STORAGE|"  \
	"H_DATA_STORAGE|H_INST_STORAGE"
/* Exits by which a guest switches a vCPU off: they end when it is switched on again. */
#define OFF "HVC64|SMC64|HVC32|SMC32|EXC_SUPERVISOR_SYSCALL"
#define SPREAD                                                                             \
	"Threads in the guest wake each other: keep them on one vCPU, or give the guest "  \
	"fewer vCPUs. "

#define CPUID                                                                              \
	"Every CPUID is an exit: find the program in the guest that asks again and again, " \
	"often to stop speculation or to read time. "

#define REMEDIES(...) (const struct rule_remedy[]){ __VA_ARGS__ }

const struct rule finding_rules[] = {
	{
		.id = "cpu_wait",
		.finding = "vCPUs wait for a CPU",
		.measure = MEASURE_SHARE, .threshold = "cpu_wait_ratio", .by_default = 0.10,
		.what = { .use = USE_HOST, .words = "thread(waited)" },
		.less = { .use = USE_HOST, .words = THROTTLED },
		.names_cpu = true,
		.names_culprits = true,
		.target = TARGET_VCPUS,
		.remedies = REMEDIES(
			{ NULL, "Move vCPUs to idle CPUs, pin busy vCPUs to different CPUs, or run "
				"fewer vCPUs on this host." }),
	},
	{
		.id = "throttled",
		.finding = "A quota keeps vCPUs from running",
		.measure = MEASURE_SHARE, .threshold = "throttled_ratio", .by_default = 0.05,
		.what = { .use = USE_HOST, .words = THROTTLED },
		.named = { .use = USE_HOST, .parents = THROTTLED },
		.target = TARGET_VCPUS,
		.remedies = REMEDIES(
			{ NULL, "Raise the quota of the guest's cgroup (libvirt: vcpu_quota; "
				"Kubernetes: the CPU limit), or give the guest fewer vCPUs." }),
	},
	{
		.id = "migrations",
		.finding = "vCPUs move between CPUs very often",
		.measure = MEASURE_RATE, .threshold = "migrations_per_second", .by_default = 200,
		.what = { .use = USE_HOST, .words = "thread(migrations)" },
		.names_cpu = true,
		.target = TARGET_VCPUS,
		.remedies = REMEDIES(
			{ NULL, "Pin the vCPUs, or keep them on a few CPUs of one NUMA node "
				"(cpuset); the fewer threads want to run, the less they move." }),
	},
	{
		.id = "remote_memory",
		.finding = "vCPUs are far from the guest's memory",
		.measure = MEASURE_LEVEL, .threshold = "remote_memory_ratio", .by_default = 0.60,
		.what = { .use = USE_HOST, .words = "thread(remote)" },
		.names_cpu = true,
		.target = TARGET_VCPUS,
		.remedies = REMEDIES(
			{ NULL, "Keep vCPUs and memory on one NUMA node (libvirt: vcpupin and "
				"numatune; migratepages PID FROM TO moves what is there), or give "
				"a guest that needs several nodes a NUMA topology of its own." }),
	},
	{
		.id = "halt_poll",
		.finding = "KVM's halt polling burns CPU time",
		.measure = MEASURE_SHARE, .threshold = "halt_poll_ratio", .by_default = 0.10,
		.what = { .use = USE_TIME, .parents = "time", .words = "poll" },
		.target = TARGET_VCPUS,
		.remedies = REMEDIES(
			{ NULL, "Lower /sys/module/kvm/parameters/halt_poll_ns (0: off), or for "
				"one guest with KVM_CAP_HALT_POLL: wake-ups then take some "
				"microseconds longer, but the CPU is free for others." }),
	},
	{
		.id = "stopped",
		.finding = "The VMM is stopped",
		.measure = MEASURE_SHARE, .threshold = "stopped_ratio", .by_default = 0.05,
		.what = { .use = USE_HOST, .words = "thread(stopped)" },
		.target = TARGET_VCPUS,
		.remedies = REMEDIES(
			{ NULL, "A signal or a debugger stopped the process (STAT T or t in ps -L "
				"PID): kill -CONT PID, or let the debugger go on." }),
	},
	{
		.id = "paused",
		.finding = "The guest is paused",
		.measure = MEASURE_SHARE, .threshold = "paused_ratio", .by_default = 0.95,
		.what = { .use = USE_EXIT_PART, .parents = "userspace_blocked", .words = SIGNALS },
		.is_of_all = true,
		.is_said_by = "stopped",
		.target = TARGET_VCPUS,
		.remedies = REMEDIES(
			{ NULL, "The VMM took all vCPUs out of the guest, and they sleep: somebody "
				"paused it (virsh resume), a migration ends, or a disk has an "
				"error or is full (virsh domstate --reason; QEMU: info status)." }),
	},
	{
		.id = "exit_open",
		.finding = "A vCPU stands still: its exit does not end",
		.measure = MEASURE_OPEN, .threshold = "exit_open_seconds", .by_default = 1,
		.what = { .use = USE_EXIT, .parents = "vmexit", .but = OFF },
		.named = { .use = USE_EXIT, .parents = "userspace" },
		.is_said_by = "stopped|paused",
		.target = TARGET_EXITS,
		.remedies = REMEDIES(
			{ SIGNALS,
			  "The VMM took this vCPU out of the guest and does not let it go on: is "
			  "the guest paused (virsh resume), or the VMM stopped (state T in ps -L: "
			  "kill -CONT PID) or in a debugger?" },
			{ NULL, "See what the vCPU's thread waits for: ps -L -o tid,stat,wchan PID "
				"(T: stopped, D: a disk or memory, S: another thread), then gdb "
				"-p PID, or /proc/PID/task/TID/stack." }),
	},
	{
		.id = "blocked_in_kvm",
		.finding = "vCPUs sleep in KVM, though the guest has work",
		.measure = MEASURE_SHARE, .threshold = "blocked_in_kvm_ratio", .by_default = 0.05,
		.what = { .use = USE_TIME, .parents = "time", .words = "block" },
		.less = { .use = USE_TIME, .parents = "time", .words = "block_user" },
		.named = { .use = USE_EXIT_PART, .parents = "vmexit_blocked", .words = PAGES },
		.where = " --halts",
		.target = TARGET_EXITS,
		.remedies = REMEDIES(
			{ PAGES,
			  "A page of the guest's memory comes late. From a pager (restored "
			  "snapshot, post-copy migration: handle_userfault): give it more "
			  "threads, or wait for its end. From swap (do_swap_page): more memory, "
			  "fewer guests, or -overcommit mem-lock=on. From a file (filemap_fault): "
			  "memory that is read ahead, or a faster disk." },
			{ NULL, "KVM waits for a lock, or for work of the kernel." }),
	},
	{
		.id = "blocked_in_vmm",
		.finding = "vCPUs sleep in the VMM, though the guest has work",
		.measure = MEASURE_SHARE, .threshold = "blocked_in_vmm_ratio", .by_default = 0.05,
		.what = { .use = USE_EXIT_PART, .parents = "userspace_blocked", .but = NO_WORK },
		.is_said_by = "stopped",
		.where = " --halts",
		.target = TARGET_EXITS,
		.remedies = REMEDIES(
			{ NULL, "Their exits end when another thread lets go of a lock, when I/O "
				"is done, or when a sleep is over: give disks threads of their own "
				"(QEMU: iothread), the network vhost, so that no vCPU waits for "
				"them." }),
	},
	{
		.id = "signals",
		.finding = "Signals take vCPUs out of the guest",
		.measure = MEASURE_SHARE, .threshold = "signals_ratio", .by_default = 0.05,
		.what = { .use = USE_EXIT, .parents = "userspace", .words = SIGNALS },
		.where = "",
		.target = TARGET_EXITS,
		.remedies = REMEDIES(
			{ NULL, "A thread of the VMM interrupts its vCPUs, for a timer, an "
				"interrupt or a device that it emulates itself: let KVM do it "
				"(QEMU: kernel-irqchip=on; irqfd, vhost)." }),
	},
	{
		.id = "user_device",
		.finding = "The VMM emulates a device",
		.measure = MEASURE_SHARE, .threshold = "user_device_ratio", .by_default = 0.05,
		.what = { .use = USE_EXIT, .parents = "userspace", .words = "IO|MMIO" },
		.less = { .use = USE_ARGUMENT, .parents = "ioport|mmio", .words = SERIAL },
		.named = DEVICES,
		.is_said_by = "slow_vmm",
		.target = TARGET_ARGUMENTS,
		.remedies = REMEDIES(
			{ "IDE1|IDE2", "Use virtio-blk or virtio-scsi in place of the IDE disk." },
			{ "VGA", "Run the guest without VGA, or with virtio-gpu." },
			{ "RTC", "Windows reads the clock there: turn on hv-time for the guest." },
			{ "ACPI PM", "The guest reads the time there: let it use kvm-clock, the "
				     "TSC, or with Windows hv-time." },
			{ "HPET", "The guest reads the time there: let it use kvm-clock, the TSC, "
				  "or with Windows hv-time; turn the HPET off." },
			{ "PCI address|PCI data|PCI config",
			  "A program in the guest looks at PCI devices again and again: find it "
			  "(lspci, monitoring agents)." },
			{ "POST, delay|delay", "Boot the guest with io_delay=none." },
			{ NULL, "Use a virtio device in place of this one, or take the device out "
				"of the guest." }),
	},
	{
		.id = "serial",
		.finding = "Much output on the serial console",
		.measure = MEASURE_SHARE, .threshold = "serial_ratio", .by_default = 0.05,
		.what = { .use = USE_ARGUMENT, .parents = "ioport|mmio", .words = SERIAL },
		.target = TARGET_ARGUMENTS,
		.remedies = REMEDIES(
			{ NULL, "Let the guest write less to it (loglevel=4, quiet), or use a "
				"virtio console (hvc0): each character is an exit or more." }),
	},
	{
		.id = "timer",
		.finding = "The guest sets its timer very often",
		.measure = MEASURE_RATE, .threshold = "timer_per_second", .by_default = 10000,
		.what = { .use = USE_ARGUMENT, .parents = "msr|sysreg", .words = TIMERS },
		.target = TARGET_ARGUMENTS,
		.remedies = REMEDIES(
			{ NULL, "Look in the guest for programs that sleep for microseconds, and "
				"for short halts: haltpoll in the guest, or idle=poll, avoids "
				"both." }),
	},
	{
		.id = "ipi",
		.finding = "vCPUs interrupt each other very often",
		.measure = MEASURE_RATE, .threshold = "ipi_per_second", .by_default = 10000,
		.what = { .use = USE_ARGUMENT, .parents = "msr|sysreg|hypercall", .words = IPIS },
		.target = TARGET_ARGUMENTS,
		.remedies = REMEDIES(
			{ "Arm|ICC_SGI1R_EL1|ICC_SGI0R_EL1|ICC_ASGI1R_EL1",
			  SPREAD "GICv4.1 delivers these without an exit." },
			{ "AMD", SPREAD "kvm_amd avic=1 makes them cheap." },
			{ "Intel", SPREAD "kvm_intel enable_ipiv=1 makes them cheap." },
			{ NULL, SPREAD "Some CPUs deliver these without an exit: kvm_amd avic=1, "
				"kvm_intel enable_ipiv=1, GICv4.1." }),
	},
	{
		.id = "pause",
		.finding = "vCPUs spin: PAUSE exits",
		.measure = MEASURE_RATE, .threshold = "pause_per_second", .by_default = 1000,
		.what = { .use = USE_EXIT, .parents = "vmexit",
			  .words = "PAUSE_INSTRUCTION|pause" },
		.target = TARGET_VCPUS,
		.remedies = REMEDIES(
			{ NULL, "The vCPU that holds the lock has no CPU: run fewer vCPUs on these "
				"CPUs. Where no vCPU waits, the guest itself fights for a lock." }),
	},
	{
		.id = "yield",
		.finding = "vCPUs give their CPU to each other",
		.measure = MEASURE_RATE, .threshold = "yields_per_second", .by_default = 1000,
		.what = { .use = USE_EVENT, .words = "directed_yield_attempted" },
		.target = TARGET_VCPUS,
		.remedies = REMEDIES(
			{ NULL, "A vCPU waits for another one that does not run, for a lock or the "
				"end of an interrupt: run fewer vCPUs on these CPUs, so that each "
				"has a CPU when it needs one." }),
	},
	{
		.id = "ple_window",
		.finding = "vCPUs spin: KVM changes how long they may",
		.measure = MEASURE_RATE, .threshold = "ple_windows_per_second", .by_default = 1000,
		.what = { .use = USE_EVENT, .words = "kvm_ple_window_update|kvm_ple_window" },
		.target = TARGET_EVENTS,
		.remedies = REMEDIES(
			{ NULL, "The vCPU that holds the lock has no CPU: run fewer vCPUs on these "
				"CPUs. Where no vCPU waits, the guest itself fights for a lock." }),
	},
	{
		.id = "page_faults",
		.finding = "KVM maps the guest's memory page by page",
		.measure = MEASURE_SHARE, .threshold = "page_fault_ratio", .by_default = 0.05,
		.what = { .use = USE_ARGUMENT, .parents = "fault", .but = "write-protected|mmio" },
		.target = TARGET_ARGUMENTS,
		.remedies = REMEDIES(
			{ NULL, "A guest that was just started touches its memory for the first "
				"time: huge pages or preallocated memory make this shorter. "
				"Otherwise look for swapping, a balloon, or a migration." }),
	},
	{
		.id = "small_pages",
		.finding = "KVM maps the guest's memory in small pages",
		.measure = MEASURE_PAGES, .threshold = "small_pages_ratio", .by_default = 0.50,
		.what = { .use = USE_EVENT, .words = "pages_4k|pages_2m|pages_1g" },
		.less = { .use = USE_EVENT, .words = "pages_2m|pages_1g" },
		.target = TARGET_VCPUS,
		.remedies = REMEDIES(
			{ NULL, "Give it huge pages: of the host's hugetlbfs, or transparent ones "
				"(/sys/kernel/mm/transparent_hugepage/enabled; for shared memory "
				"shmem_enabled). KVM splits them itself while a migration or a "
				"backup logs written pages." }),
	},
	{
		.id = "write_faults",
		.finding = "KVM has protected pages that the guest writes",
		.measure = MEASURE_SHARE, .threshold = "write_fault_ratio", .by_default = 0.05,
		.what = { .use = USE_ARGUMENT, .parents = "fault", .words = "write-protected" },
		.target = TARGET_ARGUMENTS,
		.remedies = REMEDIES(
			{ NULL, "The first write to a page since the log of written pages was "
				"read is such a fault: wait for the end of the migration or of the "
				"backup, or slow it down. If there is neither: pages that the host "
				"merges (/sys/kernel/mm/ksm), or a snapshot of the VMM." }),
	},
	{
		.id = "conversions",
		.finding = "Memory goes back and forth between private and shared",
		.measure = MEASURE_RATE, .threshold = "conversions_per_second",
		.by_default = 1000,
		.what = { .use = USE_EXIT, .parents = "userspace", .words = "MEMORY_FAULT" },
		.target = TARGET_EXITS,
		.remedies = REMEDIES(
			{ NULL, "The VMM converts a page in each of these exits: let the guest's "
				"drivers keep their shared buffers (swiotlb=force and its size on "
				"the guest's command line)." }),
	},
	{
		.id = "dirty_log",
		.finding = "Written pages are logged: a migration or a backup",
		.measure = MEASURE_RATE, .threshold = "pml_full_per_second", .by_default = 10,
		.what = { .use = USE_EVENT, .words = "kvm_pml_full" },
		.target = TARGET_EVENTS,
		.remedies = REMEDIES(
			{ NULL, "Each event is 512 pages that the guest wrote. Wait for the end of "
				"the migration or of the backup, or slow it down." }),
	},
	{
		.id = "dirty_ring",
		.finding = "Written pages are logged: a migration or a backup",
		.measure = MEASURE_RATE, .threshold = "dirty_ring_per_second", .by_default = 5000,
		.what = { .use = USE_EVENT, .words = "kvm_dirty_ring_push" },
		.target = TARGET_EVENTS,
		.remedies = REMEDIES(
			{ NULL, "Each event is a page that the guest wrote. Wait for the end of "
				"the migration or of the backup, or slow it down." }),
	},
	{
		.id = "swap",
		.finding = "The guest waits for pages that the host took away",
		.measure = MEASURE_RATE, .threshold = "swap_per_second", .by_default = 20,
		.what = { .use = USE_EVENT, .words = "kvm_async_pf_not_present" },
		.target = TARGET_EVENTS,
		.remedies = REMEDIES(
			{ NULL, "The host swaps, or reads the guest's memory from a file: give the "
				"host more memory or fewer guests, or lock the guest's memory "
				"(-overcommit mem-lock=on)." }),
	},
	{
		.id = "swapped",
		.finding = "The host has swapped out the guest's memory",
		.measure = MEASURE_LEVEL, .threshold = "swapped_ratio", .by_default = 0.10,
		.what = { .use = USE_HOST, .words = "memory(swapped)" },
		.target = TARGET_VCPUS,
		.remedies = REMEDIES(
			{ NULL, "Each of these pages costs a read of the disk when it is needed "
				"again: give the host more memory or fewer guests, or protect the "
				"guest (memory.low of its cgroup, -overcommit mem-lock=on)." }),
	},
	{
		.id = "nested",
		.finding = "A guest inside the guest exits very often",
		.measure = MEASURE_RATE, .threshold = "nested_exits_per_second",
		.by_default = 20000,
		.what = { .use = USE_EVENT, .words = "kvm_nested_vmexit" },
		.target = TARGET_EVENTS,
		.remedies = REMEDIES(
			{ NULL, "Each such exit costs several of the guest's own: run the inner "
				"guest beside this one, or look for what it exits for with kvmtop "
				"in the guest." }),
	},
	{
		.id = "lost",
		.finding = "Not all exits are counted: numbers are too low",
		.measure = MEASURE_RATE, .threshold = "lost_per_second", .by_default = 1,
		.what = { .use = USE_EVENT, .words = "lost_exits" },
		.target = TARGET_VCPUS,
		.remedies = REMEDIES(
			{ NULL, "Look again when fewer vCPU threads begin at once, and without "
				"other users of BPF; arguments are lost if guests use very many "
				"different ones." }),
	},
	{
		.id = "kvmtop",
		.finding = "kvmtop itself slows the guest",
		.measure = MEASURE_SHARE, .threshold = "kvmtop_ratio", .by_default = 0.03,
		.what = { .use = USE_EXIT, .words = "vmexit|userspace" },
		.is_own = true,
		.target = TARGET_VCPUS,
		.remedies = REMEDIES(
			{ NULL, "Count less: kvmtop --cost events counts exits without their "
				"times, kvmtop --cost none adds nothing to an exit." }),
	},
	{
		.id = "slow_vmm",
		.finding = "The VMM is slow to answer exits",
		.measure = MEASURE_MEAN, .threshold = "user_exit_seconds", .by_default = 0.0005,
		.what = { .use = USE_EXIT, .parents = "userspace", .but = NO_WORK },
		.named = DEVICES,
		.where = " --halts",
		.target = TARGET_EXITS,
		.remedies = REMEDIES(
			{ NULL, "Look at what the VMM's vCPU threads do in these exits. If it is "
				"functions of security modules (security_*, tomoyo_*, apparmor_*), "
				"boot the host with only the modules that it needs (lsm=)." }),
	},
	{
		.id = "vmm_thread",
		.finding = "The VMM is busy beside its vCPUs",
		.measure = MEASURE_CPU, .threshold = "vmm_thread_ratio", .by_default = 0.10,
		.what = { .use = USE_HOST, .parents = "vmm" },
		.target = TARGET_VCPUS,
		.remedies = REMEDIES(
			{ "vhost", "This thread moves the guest's packets: give the network device "
				   "more queues, so that several threads share them." },
			{ NULL, "See what the thread does (ps -Lo tid,pcpu,comm PID; perf top -p "
				"PID --sort comm,symbol): a device, a console, a migration or a "
				"backup. A disk gets an I/O thread of its own (QEMU: iothread); a "
				"timer that nothing needs is switched off, with its device." }),
	},
	{
		.id = "interrupts",
		.finding = "The VMM raises interrupts that the guest does not take",
		.measure = MEASURE_RATE, .threshold = "interrupts_per_second", .by_default = 500,
		/* A thread of the kernel raises KVM's PIT: what takes it is of no guest. */
		.what = { .use = USE_ARGUMENT, .parents = "interrupt", .words = "raised",
			  .but = "PIT" },
		/* By the local APIC; by the PIC, or where a level is acknowledged. */
		.less = { .use = USE_EVENT, .words = "kvm_apic_accept_irq|kvm_ack_irq" },
		.needs = "kvm_apic_accept_irq",
		.target = TARGET_ARGUMENTS,
		.remedies = REMEDIES(
			{ "8", "This is the RTC, whose timer the guest has left on: Windows needs "
			       "hv-stimer, or the RTC's driftfix=none." },
			{ NULL, "The line is masked, and its device goes on: unload or repair the "
				"device's driver in the guest, or take the device out of it (QEMU: "
				"info irq, info pic). With MSIs there is no line." }),
	},
	{
		.id = "apic",
		.finding = "KVM emulates the interrupt controller",
		.measure = MEASURE_SHARE, .threshold = "apic_ratio", .by_default = 0.05,
		.what = { .use = USE_ARGUMENT, .parents = "mmio", .words = "LAPIC|IOAPIC|GIC" },
		.target = TARGET_ARGUMENTS,
		.remedies = REMEDIES(
			{ "AMD", "Let the CPU do it: kvm_amd avic=1; or offer x2APIC to the "
				 "guest." },
			{ "Intel", "Let the CPU do it: kvm_intel enable_apicv=1; or offer x2APIC "
				   "to the guest." },
			{ "Arm", "Use a GICv3 in place of a GICv2, and MSIs in place of lines." },
			{ NULL, "Let the CPU do it: kvm_amd avic=1 or kvm_intel enable_apicv=1, "
				"or x2APIC in the guest; on Arm a GICv3, and MSIs." }),
	},
	{
		.id = "msr",
		.finding = "MSR accesses cost much",
		.measure = MEASURE_SHARE, .threshold = "msr_ratio", .by_default = 0.03,
		.what = { .use = USE_ARGUMENT, .parents = "msr", .but = TIMERS "|" IPIS },
		.target = TARGET_ARGUMENTS,
		.remedies = REMEDIES(
			{ "X2APIC_EOI|X2APIC_TPR|HV_EOI|HV_TPR",
			  "kvm_amd avic=1 or kvm_intel enable_apicv=1: then it is not an exit." },
			{ "IA32_SPEC_CTRL|IA32_PRED_CMD",
			  "Newer kernels pass it through; otherwise choose a cheaper mitigation in "
			  "the guest (spectre_v2=...)." },
			{ "IA32_TSC|HV_TIME_REF_COUNT",
			  "Offer an invariant TSC (+invtsc), and with Windows hv-time." },
			{ "IA32_PMC|IA32_A_PMC|IA32_PERFEVTSEL|IA32_FIXED_CTR|"
			  "IA32_FIXED_CTR_CTRL|IA32_PERF_GLOBAL_CTRL|IA32_PERF_GLOBAL_OVF_CTRL|"
			  "K7_EVNTSEL|K7_PERFCTR|F15H_PERF|AMD64_PERF_CNTR_GLOBAL",
			  "The guest counts with perf: stop that, boot it with nmi_watchdog=0, or "
			  "give it no PMU (pmu=off)." },
			{ "IA32_APERF|IA32_MPERF|IA32_PERF_STATUS|PKG_ENERGY_STATUS",
			  "A program in the guest reads CPU frequency or power: stop it." },
			{ NULL, "Find what reads or writes it in the guest (perf record -e "
				"msr:*), and whether a newer kernel or VMM passes it through." }),
	},
	{
		.id = "cpuid",
		.finding = "CPUID exits cost much",
		.measure = MEASURE_SHARE, .threshold = "cpuid_ratio", .by_default = 0.05,
		.what = { .use = USE_EXIT, .parents = "vmexit", .words = "CPUID|cpuid" },
		.named = { .use = USE_ARGUMENT, .parents = "cpuid" },
		.where = " --guest-code",
		.target = TARGET_ARGUMENTS,
		.remedies = REMEDIES(
			{ "AMD", CPUID "Where x86_emulate_instruction is in its code, KVM decodes "
				       "it only to skip it: load kvm_amd with nrips=1; where this "
				       "host is a guest, let the host below offer it "
				       "(+nrips-save, +decodeassists)." },
			{ NULL, CPUID }),
	},
};

_Static_assert(ARRAY_SIZE(finding_rules) <= RULES_MAX, "more rules than RULES_MAX");

const size_t nr_finding_rules = ARRAY_SIZE(finding_rules);
