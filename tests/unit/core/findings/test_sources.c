/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_sources - each rule finds the same in a captured machine and in a recording that have the
 * same facts, with the same evidence. What a source cannot tell, the manual says.
 */
#include <errno.h>

#include "lib/array.h"
#include "lib/file.h"
#include "core/monitor.h"
#include "cmd/source.h"
#include "tests/unit/unit.h"
#include "tests/worlds/trace_file.h"
#include "trace/exits/recording.h"
#include "core/views/query.h"
#include "core/views/view.h"
#include "core/findings/rules.h"

#define SECOND UINT64_C(1000000000)
#define START 1000
#define TID 77 /* vCPU 0, in the recording */
#define SVM 2

enum {
	ID_PIO = 105, ID_CPUID, ID_USER, ID_WAKEUP, ID_LIMIT, ID_SWITCH, ID_WAKING, ID_FAULT,
	ID_EVENT, ID_BESIDE
};

/* What an exit is about: the numbers of its event. */
struct about {
	uint16_t id;
	uint32_t numbers[3];
};

/* The facts of a second, from which a rule is to find its cause. */
struct cause {
	const char *rule;
	unsigned int provider; /* that has it: as live, but there waits are of the host's */
	const char *field;     /* by which it is measured */
	/* Either VM exits, so many, of so many ns each: */
	uint32_t nr, ns;
	uint32_t code;
	const char *reason;
	struct about about;
	const char *argument;
	uint32_t user_code; /* KVM_EXIT_IO ...; 0: no user space */
	const char *user;
	int user_errno;
	uint32_t polled_ns, slept_ns; /* of each; in the VMM, if it has the exit */
	/* or a number of the field, with nr and ns 0. */
	uint64_t number;
	const char *event; /* of it, in a recording; NULL: of the field's name */
	const char *beside; /* an event that happens once, too; NULL: none */
	bool is_live_only; /* in no recording */
};

#define REASON(number, name) .code = (number), .reason = (name)
#define IO REASON(0x7b, "io")
#define MSR REASON(0x7c, "msr")
#define NPF REASON(0x400, "npf")
#define INTERRUPT REASON(0x60, "interrupt")
#define SIGNAL .user_code = 10, .user_errno = -EINTR, .user = "INTR"
#define USER_IO .user_code = 2, .user = "IO"

static const struct cause causes[] = {
	{ "cpu_wait", PROVIDER_HOST, "thread(waited)", .number = 110000000 },
	{ "throttled", PROVIDER_HOST, "thread(throttled)", .number = 60000000,
	  .is_live_only = true },
	{ "paused", PROVIDER_EXITS, "userspace(INTR)", 1, 970000000, INTERRUPT, SIGNAL,
	  .slept_ns = 960000000 },
	{ "blocked_in_kvm", PROVIDER_EXITS, "vmexit(npf)", 100, 1000000, NPF, .slept_ns = 600000 },
	{ "blocked_in_vmm", PROVIDER_EXITS, "userspace(IO)", 100, 1000000, IO, USER_IO,
	  .slept_ns = 600000 },
	{ "signals", PROVIDER_EXITS, "userspace(INTR)", 600, 100000, INTERRUPT, SIGNAL },
	{ "migrations", PROVIDER_HOST, "thread(migrations)", .number = 201,
	  .is_live_only = true },
	{ "remote_memory", PROVIDER_HOST, "thread(remote)", .number = 610,
	  .is_live_only = true },
	{ "stopped", PROVIDER_HOST, "thread(stopped)", .number = 60000000,
	  .is_live_only = true },
	{ "halt_poll", PROVIDER_EXITS, "time(poll)", 100, 2000000, REASON(0x78, "hlt"),
	  .polled_ns = 1100000 },
	{ "user_device", PROVIDER_EXITS, "userspace(IO)", 600, 100000, IO,
	  .about = { ID_PIO, { 0, 0x1f0, 2 } },
	  .argument = "ioport(io 0x1f0 read 2 IDE1)", USER_IO },
	{ "serial", PROVIDER_EXITS, "ioport(io 0x3f8 write 1 COM1)", 600, 100000, IO,
	  .about = { ID_PIO, { 1, 0x3f8, 1 } },
	  .argument = "ioport(io 0x3f8 write 1 COM1)", USER_IO },
	{ "timer", PROVIDER_EXITS, "msr(msr 0x6e0 IA32_TSC_DEADLINE write)", 10100, 100, MSR,
	  .about = { ID_MSR, { 1, 0x6e0 } },
	  .argument = "msr(msr 0x6e0 IA32_TSC_DEADLINE write)" },
	{ "ipi", PROVIDER_EXITS, "msr(msr 0x830 X2APIC_ICR write)", 10100, 100, MSR,
	  .about = { ID_MSR, { 1, 0x830 } },
	  .argument = "msr(msr 0x830 X2APIC_ICR write)" },
	{ "pause", PROVIDER_EXITS, "vmexit(pause)", 1010, 100, REASON(0x77, "pause") },
	{ "yield", PROVIDER_DEBUGFS, "directed_yield_attempted", .number = 100000000,
	  .is_live_only = true },
	{ "ple_window", PROVIDER_TRACEPOINT, "kvm_ple_window_update", .number = 1010 },
	{ "page_faults", PROVIDER_EXITS, "fault(npf write)", 6000, 10000, NPF,
	  .about = { ID_FAULT, { 6 } }, .argument = "fault(npf write)" },
	{ "small_pages", PROVIDER_DEBUGFS, "pages_4k", .number = 20000, .is_live_only = true },
	{ "write_faults", PROVIDER_EXITS, "fault(npf write-protected)", 6000, 10000, NPF,
	  .about = { ID_FAULT, { 7 } }, .argument = "fault(npf write-protected)" },
	{ "conversions", PROVIDER_EXITS, "userspace(MEMORY_FAULT)", 1010, 100, NPF,
	  .user_code = 39, .user = "MEMORY_FAULT" },
	{ "dirty_log", PROVIDER_TRACEPOINT, "kvm_pml_full", .number = 11 },
	{ "dirty_ring", PROVIDER_TRACEPOINT, "kvm_dirty_ring_push", .number = 5050 },
	{ "swap", PROVIDER_TRACEPOINT, "kvm_async_pf_not_present", .number = 21 },
	{ "swapped", PROVIDER_HOST, "memory(swapped)", .number = 101, .is_live_only = true },
	{ "nested", PROVIDER_TRACEPOINT, "kvm_nested_vmexit", .number = 20200 },
	{ "interrupts", PROVIDER_EXITS, "interrupt(IRQ line 5 raised)", .number = 510,
	  .event = "kvm_set_irq", .beside = "kvm_apic_accept_irq" },
	{ "vmm_thread", PROVIDER_HOST, NULL, .is_live_only = true }, /* tests/cli/why.t */
	{ "lost", PROVIDER_EXITS, NULL, .is_live_only = true },
	{ "kvmtop", PROVIDER_COST, NULL, .is_live_only = true }, /* tests/cli/cost.t */
	{ "exit_open", PROVIDER_EXITS, NULL, .is_live_only = true }, /* tests/cli/open.t */
	{ "slow_vmm", PROVIDER_EXITS, "userspace(IO)", 40, 600000, IO,
	  .about = { ID_PIO, { 0, 0x1f0, 2 } },
	  .argument = "ioport(io 0x1f0 read 2 IDE1)", USER_IO },
	{ "apic", PROVIDER_EXITS, "mmio(npf 0xfee000b0 write 4)", 6000, 10000, NPF,
	  .about = { ID_MMIO, { 2, 4, 0xfee000b0 } },
	  .argument = "mmio(npf 0xfee000b0 write 4)" },
	{ "msr", PROVIDER_EXITS, "msr(msr 0x48 IA32_SPEC_CTRL write)", 3100, 10000, MSR,
	  .about = { ID_MSR, { 1, 0x48 } },
	  .argument = "msr(msr 0x48 IA32_SPEC_CTRL write)" },
	{ "cpuid", PROVIDER_EXITS, "vmexit(cpuid)", 6000, 10000, REASON(0x72, "cpuid"),
	  .about = { ID_CPUID, { 1 } },
	  .argument = "cpuid(cpuid 0x1 version, features)" },
};

/* A harmless exit of each second: exits and their arguments are counted. */
static const struct cause harmless = {
	.nr = 1, .ns = 100, IO,
	.about = { ID_PIO, { 1, 0x80, 1 } }, .argument = "ioport(io 0x80 write 1 POST, delay)",
};

/* ---- looking */

struct look {
	struct monitor *monitor;
	struct query query;
	struct view view;
	char found[512]; /* "20.0 vCPU 0: ..." of the rule; "": not found */
};

static void ask(struct look *look)
{
	struct error error = { "" };

	look->query.type = &view_why;
	look->query.sort = view_default_sort(&view_why);
	if (monitor_want(look->monitor, &look->query, &error) != 0)
		fail_msg("%s", error.text);
}

/* What is found of the rule: how much of the time, and the evidence. */
static void find(struct look *look, const char *rule)
{
	int id = view_column_by_id(&view_why, "rule"), cost = view_column_by_id(&view_why,
										  "cost_percent");
	int evidence = view_column_by_id(&view_why, "evidence");

	look->found[0] = '\0';
	view_build(&look->view, &look->query, monitor_facts(look->monitor));
	for (size_t i = 0; i < look->view.nr_rows; i++) {
		const struct cell *cells = look->view.rows[i].cells;
		const char *text = cells[evidence].text;

		if (strcmp(cells[id].text, rule) != 0)
			continue;
		/* A recording has the vCPU of each event, too. */
		if (cells[cost].type == CELL_NONE && strncmp(text, "vCPU 0: ", 8) == 0)
			text += 8;
		snprintf(look->found, sizeof(look->found), "%.1f %s",
			 cells[cost].type == CELL_NONE ? 0 : cells[cost].number, text);
	}
}

static void end_look(struct look *look)
{
	view_release(&look->view);
	field_set_release(&look->query.open);
	monitor_close(look->monitor);
}

/* ---- a captured machine */

#define MACHINE "tests/sysroot/amd"
#define CAPTURED_TID 122 /* vCPU 0 of web1, which is the process 112 */
#define COUNTERS "/sys/kernel/debug/kvm/112-10/"

static char machine[64];

static FILE *create(const char *name)
{
	char file[256];
	FILE *out;

	snprintf(file, sizeof(file), "%s%s", machine, name);
	out = fopen(file, "w");
	assert_non_null(out);
	return out;
}

static int copy_machine(void **state)
{
	char command[256];

	(void)state;
	strcpy(machine, "/tmp/kvmtop-machine.XXXXXX");
	if (!mkdtemp(machine))
		return -1;
	snprintf(command, sizeof(command), "cp -r " MACHINE "/. '%s' && chmod -R u+w '%s'",
		 machine, machine);
	return system(command); /* NOLINT(cert-env33-c) */
}

static int remove_machine(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", machine);
	return system(command); /* NOLINT(cert-env33-c) */
}

static void put_timed(FILE *file, const char *kind, const char *reason, const struct cause *of,
		      bool is_end)
{
	unsigned int bucket = of->ns < 128 ? 0 : 57 - (unsigned int)__builtin_clzll(of->ns);
	uint64_t nr = is_end ? of->nr : 0;

	if (!reason)
		return;
	fprintf(file, kind ? "%s(%s)" : "%s%s", kind ? kind : "", reason);
	fprintf(file, " %llu %llu %llu %u:%llu\n", (unsigned long long)nr,
		(unsigned long long)nr * of->ns, (unsigned long long)(nr ? of->ns : 0), bucket,
		(unsigned long long)nr);
}

static void put_sleep(FILE *file, const struct cause *of, bool is_end)
{
	unsigned long long ns = is_end ? (uint64_t)of->nr * of->slept_ns : 0;

	fprintf(file, "time(block) %llu\ntime(block_user) %llu\n", ns, of->user ? ns : 0);
	if (of->slept_ns)
		fprintf(file, "vmexit_blocked(%s) %llu\n", of->reason, ns);
	if (of->slept_ns && of->user)
		fprintf(file, "userspace_blocked(%s) %llu\n", of->user, ns);
}

static void put_exits(FILE *file, const struct cause *of, bool is_end)
{
	put_timed(file, "vmexit", of->reason, of, is_end);
	put_timed(file, "userspace", of->user, of, is_end);
	put_timed(file, NULL, of->argument, of, is_end);
}

static void put_number(FILE *file, const struct cause *of, unsigned int provider, bool is_end)
{
	bool is_level = of->field && (strcmp(of->field, "thread(remote)") == 0 ||
				      strncmp(of->field, "memory(", 7) == 0);

	if (of->provider == provider && of->number)
		fprintf(file, "%s %llu\n", of->field,
			(unsigned long long)(is_end || is_level ? of->number : 0));
}

/* The begin or the end of a second, in the three files. */
static void capture(const struct cause *of)
{
	uint64_t outside_ns = (uint64_t)of->nr * of->ns + harmless.ns;
	uint64_t other_ns = (uint64_t)of->nr * (of->slept_ns + of->polled_ns);
	FILE *exits = create("/kvmtop/exits"), *host = create("/kvmtop/host");
	FILE *counters = create("/kvmtop/counters");

	for (int end = 0; end < 2; end++) {
		FILE *const files[] = { exits, host, counters };

		for (size_t i = 0; i < ARRAY_SIZE(files); i++)
			fprintf(files[i], "sample %d000000000\nthread %d\n", 1 + end,
				CAPTURED_TID);
		fputs("cpu 0\n", exits);
		put_exits(exits, &harmless, end);
		put_exits(exits, of, end);
		put_sleep(exits, of, end);
		fprintf(exits, "time(guest) %llu\ntime(kvm) %llu\n",
			(unsigned long long)(end ? SECOND - outside_ns : 0),
			(unsigned long long)(end ? outside_ns - other_ns : 0));
		fprintf(exits, "time(poll) %llu\n",
			(unsigned long long)(end ? (uint64_t)of->nr * of->polled_ns : 0));
		put_number(exits, of, PROVIDER_EXITS, end);
		put_number(host, of, PROVIDER_HOST, end);
		put_number(counters, of, PROVIDER_TRACEPOINT, end);
		if (of->beside)
			fprintf(counters, "%s %d\n", of->beside, end);
	}
	fclose(exits);
	fclose(host);
	fclose(counters);
}

static void set_counter(const struct cause *of, bool is_end)
{
	char name[96];
	FILE *file;

	if (of->provider != PROVIDER_DEBUGFS)
		return;
	snprintf(name, sizeof(name), COUNTERS "%s", of->field);
	file = create(name);
	fprintf(file, "%llu\n", (unsigned long long)(is_end ? of->number : 0));
	fclose(file);
}

static void look_at_machine(const struct cause *of, struct look *look)
{
	const unsigned int asides = 1U << PROVIDER_HOST | 1U << PROVIDER_DEBUGFS;
	struct monitor_config config = {
		.providers = 1U << PROVIDER_EXITS | 1U << PROVIDER_TRACEPOINT | asides,
		.asides = asides,
	};
	const struct fields *fields;
	struct error error = { "" };
	struct env env;
	uint32_t id;

	capture(of);
	set_counter(of, false);
	*look = (struct look){ .monitor = NULL };
	config.env = &env;
	assert_int_equal(env_init(&env, machine, &error), 0);
	config.list = providers_of(&env);
	if (monitor_open(&config, &look->monitor, &error) != 0)
		fail_msg("%s", error.text);
	ask(look);
	monitor_sample(look->monitor);
	set_counter(of, true);
	monitor_sample(look->monitor);
	find(look, of->rule);
	fields = monitor_facts(look->monitor)->fields;
	id = fields_find(fields, of->field ? of->field : "lost_exits");
	if (!of->field)
		assert_int_equal(id, FIELD_NONE);
	else if (id == FIELD_NONE || fields_get(fields, id)->source != of->provider)
		fail_msg("%s: %s is of another provider", of->rule, of->field);
	end_look(look);
	env_release(&env);
}

/* ---- a recording */

#define U32(name, offset) "\tfield:u32 " name ";\toffset:" #offset ";\tsize:4;\tsigned:0;\n"

static const char *formats[NR_WORLD_FORMATS + 10] = {
	[NR_WORLD_FORMATS] = "name: kvm_pio\nID: 105\n" COMMON_FIELDS U32("rw", 8) U32("port", 12)
			     U32("size", 16) "\nprint fmt: \"%u\", REC->rw\n",
	"name: kvm_cpuid\nID: 106\n" COMMON_FIELDS U32("function", 8)
	"\nprint fmt: \"%u\", REC->function\n",
	"name: kvm_userspace_exit\nID: 107\n" COMMON_FIELDS U32("reason", 8)
	"\tfield:int errno;\toffset:12;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: \"%s\", __print_symbolic(REC->reason, { 2, \"KVM_EXIT_IO\" })\n",
	"name: kvm_vcpu_wakeup\nID: 108\n" COMMON_FIELDS
	"\tfield:__u64 ns;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:bool waited;\toffset:16;\tsize:1;\tsigned:0;\n\nprint fmt: \"%lld\", REC->ns\n",
	"name: kvm_halt_poll_ns\nID: 109\n" COMMON_FIELDS U32("new", 8) U32("old", 12)
	"\nprint fmt: \"%u\", REC->new\n",
	"name: sched_switch\nID: 110\n" COMMON_FIELDS
	"\tfield:pid_t prev_pid;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:16;\tsize:8;\tsigned:1;\n"
	"\tfield:pid_t next_pid;\toffset:24;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"%d\", REC->prev_pid\n",
	"name: sched_waking\nID: 111\n" COMMON_FIELDS
	"\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"%d\", REC->pid\n",
	"name: kvm_page_fault\nID: 112\n" COMMON_FIELDS U32("error_code", 8)
	"\nprint fmt: \"%u\", REC->error_code\n",
	"name: kvm_apic_accept_irq\nID: 114\n" COMMON_FIELDS U32("apicid", 8)
	"\nprint fmt: \"%u\", REC->apicid\n",
};

struct maker {
	struct made_ring rings[2];
	struct bytes event;
	uint64_t now;
};

static void add(struct maker *maker)
{
	ring_add(&maker->rings[0], maker->now, &maker->event);
}

static void add_about(struct maker *maker, const struct about *about)
{
	put_common(&maker->event, about->id, TID);
	for (size_t i = 0; i < ARRAY_SIZE(about->numbers); i++)
		put_u32(&maker->event, about->numbers[i]);
	put_u32(&maker->event, 0);
	add(maker);
}

/* from: asleep, with state 1. */
static void add_switch(struct maker *maker, uint32_t from, uint32_t to, uint32_t state)
{
	put_common(&maker->event, ID_SWITCH, from);
	put_u64(&maker->event, from);
	put_u64(&maker->event, state);
	put_u64(&maker->event, to);
	add(maker);
}

static void add_sleep(struct maker *maker, uint32_t ns)
{
	if (!ns)
		return;
	add_switch(maker, TID, 5, 1);
	maker->now += ns;
	put_common(&maker->event, ID_WAKING, 5);
	put_u32(&maker->event, TID);
	put_u32(&maker->event, 0);
	add(maker);
	add_switch(maker, 5, TID, 0);
}

static void add_exit(struct maker *maker, const struct cause *of)
{
	const uint64_t end = maker->now + of->ns;

	put_exit(&maker->event, TID, 0, SVM, of->code);
	add(maker);
	if (of->about.id)
		add_about(maker, &of->about);
	if (of->user_code)
		add_about(maker, &(struct about){ ID_USER,
						  { of->user_code, (uint32_t)of->user_errno } });
	add_sleep(maker, of->slept_ns);
	if (of->polled_ns) {
		maker->now += of->polled_ns;
		put_common(&maker->event, ID_WAKEUP, TID);
		put_u64(&maker->event, of->polled_ns);
		put_u32(&maker->event, 0);
		add(maker);
	}
	maker->now = end;
	put_entry(&maker->event, TID, 0);
	add(maker);
}

/* A number of the field: a wait, or so many events. */
static void add_number(struct maker *maker, const struct cause *of)
{
	if (of->field && strcmp(of->field, "thread(waited)") == 0) {
		add_switch(maker, TID, 5, 0);
		maker->now += of->number;
		add_switch(maker, 5, TID, 0);
		return;
	}
	for (uint64_t i = 0; i < of->number; i++) {
		maker->now += 1000;
		put_common(&maker->event, ID_EVENT, TID);
		put_u32(&maker->event, 5);
		put_u32(&maker->event, 1);
		add(maker);
	}
}

/* The event that the cause is measured by; any, if there is none. */
static void set_event_format(char *buf, size_t size, const struct cause *of)
{
	bool is_event = of->provider == PROVIDER_TRACEPOINT;

	snprintf(buf, size, "name: %s\nID: 113\n" COMMON_FIELDS U32("gsi", 8) U32("level", 12)
		 "\nprint fmt: \"-\"\n",
		 of->event ? of->event : is_event ? of->field : "kvm_any");
	formats[ARRAY_SIZE(formats) - 1] = buf;
}

/* A second, which begins with an entry and ends with another thread's event. */
static void record(const struct cause *of)
{
	struct maker maker = { .now = START };
	struct bytes file = { .len = 0 };
	char event[512];

	for (size_t i = 0; i < NR_WORLD_FORMATS; i++)
		formats[i] = world_formats[i];
	set_event_format(event, sizeof(event), of);
	ring_init(&maker.rings[0], 0);
	ring_init(&maker.rings[1], 0);
	put_entry(&maker.event, TID, 0);
	add(&maker);
	maker.now += 1000;
	add_exit(&maker, &harmless);
	for (uint32_t i = 0; i < of->nr; i++) {
		maker.now += 1000;
		add_exit(&maker, of);
	}
	if (of->number && !of->is_live_only)
		add_number(&maker, of);
	if (of->beside)
		add_about(&maker, &(struct about){ ID_BESIDE, { 0 } });
	maker.now = START + SECOND;
	put_common(&maker.event, ID_LIMIT, 5);
	put_u64(&maker.event, 0);
	add(&maker);
	put_dat6(&file, maker.rings, 2, formats, ARRAY_SIZE(formats), "[local]");
	bytes_release(&maker.event);
	save(path, file.data, file.len);
	bytes_release(&file);
}

static void look_at_recording(const struct cause *of, struct look *look)
{
	const struct recording_choice choice = { .arguments = PAIRING_ALL_ARGUMENTS };
	const char *paths[] = { path };
	struct monitor_config config = { .list = recorded_players, .source = SOURCE_RECORDING,
					 .is_span = true };
	struct recording recording;
	struct error error = { "" };

	record(of);
	*look = (struct look){ .monitor = NULL };
	if (recording_read(paths, 1, &choice, &recording, &error) != 0)
		fail_msg("%s", error.text);
	config.recording = (struct monitor_recording){ .recording = &recording,
						       .guests = recording.guests };
	assert_int_equal(monitor_open(&config, &look->monitor, &error), 0);
	ask(look);
	monitor_sample(look->monitor);
	find(look, of->rule);
	end_look(look);
	recording_release(&recording);
}

/* ---- the rules */

/* The section of the manual about causes that recordings do not have. */
static char *manual(void)
{
	char *text, *begin, *end;
	size_t size;

	assert_int_equal(read_whole("man/kvmtop-why.8", 1 << 20, &text, &size), 0);
	begin = strstr(text, "No recording can show");
	assert_non_null(begin);
	end = strstr(begin, ".Sh ");
	assert_non_null(end);
	*end = '\0';
	memmove(text, begin, strlen(begin) + 1);
	return text;
}

TEST(the_same_is_found_everywhere, set_up, tear_down)
{
	char *untold = manual();
	struct look captured, recorded;

	for (size_t i = 0; i < ARRAY_SIZE(causes); i++) {
		const struct cause *of = &causes[i];

		look_at_machine(of, &captured);
		look_at_recording(of, &recorded);
		if (of->field && !captured.found[0])
			fail_msg("%s: not found in a captured machine", of->rule);
		if (!of->is_live_only && strcmp(captured.found, recorded.found) != 0)
			fail_msg("%s: captured \"%s\", recorded \"%s\"", of->rule, captured.found,
				 recorded.found);
		if (of->is_live_only && (recorded.found[0] || !strstr(untold, of->rule)))
			fail_msg("%s: recorded \"%s\", and the manual does not say why not",
				 of->rule, recorded.found);
	}
	free(untold);
}

/* Where no event says what the guest takes, it may take all. */
TEST(what_is_not_counted, set_up, tear_down)
{
	struct look captured, recorded;

	for (size_t i = 0; i < ARRAY_SIZE(causes); i++) {
		struct cause of = causes[i];

		if (!of.beside)
			continue;
		of.beside = NULL;
		look_at_machine(&of, &captured);
		look_at_recording(&of, &recorded);
		assert_string_equal(captured.found, "");
		assert_string_equal(recorded.found, "");
		look_at_recording(&causes[i], &recorded);
		assert_non_null(strstr(recorded.found, " 509/s"));
	}
}

TEST(each_rule_is_here)
{
	const struct rule *rule;

	for (size_t i = 0; (rule = rule_at(i)); i++) {
		size_t at = 0;

		while (at < ARRAY_SIZE(causes) && strcmp(causes[at].rule, rule->id) != 0)
			at++;
		if (at == ARRAY_SIZE(causes))
			fail_msg("%s: no cause", rule->id);
	}
}

GROUP(copy_machine, remove_machine);
