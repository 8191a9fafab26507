/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_make - writes recordings with known contents, small for tests and large for measuring.
 *
 * usage: trace_make acrn|kvmtrace|dat|sched|buffers|host|guest|perf|group|stacks FILE [EXITS]
 *	trace_make threads|threads-dat|threads-perf|threads-kvmtrace FILE [N]
 *	trace_make raw FILE FORMAT PAGES...
 *
 * raw makes a trace.dat of what was saved of the kernel's trace_pipe_raw, a file of PAGES for each
 * CPU; FORMAT is the event's.
 *
 * Each exit takes 1000 units of time, and 1000 units later the next one begins; the reasons take
 * turns. acrn has exits without a record of the reason, which is what ACRN's own script gets wrong.
 * sched is as dat, with the scheduler's events: in each exit the vCPU's thread sleeps for 300
 * units, and then waits 200 for a CPU. buffers is as dat, with a second buffer of the first CPU's
 * events. host is as dat, and guest what one of its guests recorded, by a clock 5000 s and 123 ns
 * ahead; all exits are from an address that the guest's symbols name do_idle+0x5. group has samples
 * of exits, with the counts of other events in them. stacks has a sample with a stack in each exit.
 * threads has no exits, but events of N threads; in threads-dat and the like each thread makes an
 * exit.
 */
#include "tests/worlds/perf_group.h"
#include "tests/worlds/perf_stacks.h"

#define NR_REASONS 8

/* EXTERNAL_INTERRUPT, CPUID, HLT, IO_INSTRUCTION, MSR_READ, MSR_WRITE, EPT_VIOLATION, a timer. */
static const uint32_t reasons[NR_REASONS] = { 1, 10, 12, 30, 31, 32, 48, 52 };

/* What is written piece by piece. */
static void flush(struct bytes *bytes, FILE *file)
{
	if (fwrite(bytes->data, 1, bytes->len, file) != bytes->len)
		abort();
	bytes->len = 0;
}

static void make_acrn(FILE *file, uint64_t nr)
{
	struct bytes bytes = { .len = 0 };

	for (uint64_t i = 0; i < nr; i++) {
		uint32_t reason = reasons[i % NR_REASONS];

		put_acrn(&bytes, 1 + 2000 * i, 0, 0x10, reason, 0xfff0);
		if (reason == 30)
			put_acrn(&bytes, 500 + 2000 * i, 0, 0x1001e, 0x3f8, 1);
		if (reason == 32)
			put_acrn(&bytes, 500 + 2000 * i, 0, 0x10020, 0x6e0, 5);
		put_acrn(&bytes, 1001 + 2000 * i, 0, 0x11, 0, 0);
		flush(&bytes, file);
	}
	bytes_release(&bytes);
}

static void make_kvmtrace(FILE *file, uint64_t nr)
{
	struct bytes bytes = { .len = 0 };

	put_u32(&bytes, 0x12345678);
	for (uint64_t i = 0; i < nr; i++) {
		uint32_t words[3] = { reasons[i % NR_REASONS], 0xfff0, 0 };
		uint32_t vcpu = (uint32_t)(i / NR_REASONS % 4);

		put_kvmtrace(&bytes, 1 + 2000 * i, 0x10002, 4711, vcpu, 3, words);
		put_kvmtrace(&bytes, 1001 + 2000 * i, 0x10001, 4711, vcpu, 0, NULL);
		flush(&bytes, file);
	}
	bytes_release(&bytes);
}

static const char exit_with_rip[] =
	"name: kvm_exit\nID: 100\n" COMMON_FIELDS
	"\tfield:unsigned int exit_reason;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned int isa;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned int vcpu_id;\toffset:16;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned long guest_rip;\toffset:20;\tsize:8;\tsigned:0;\n\n"
	"print fmt: \"reason %u\", REC->exit_reason\n";

#define NR_SCHED 2

static const char *const sched_formats[NR_SCHED] = {
	"name: sched_switch\nID: 200\n" COMMON_FIELDS
	"\tfield:pid_t prev_pid;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:16;\tsize:8;\tsigned:1;\n"
	"\tfield:pid_t next_pid;\toffset:24;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"%d\", REC->prev_pid\n",
	"name: sched_waking\nID: 201\n" COMMON_FIELDS
	"\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"%d\", REC->pid\n",
};

static void add_switch(struct made_ring *ring, uint64_t time, uint32_t from, uint64_t state,
		       uint32_t to)
{
	struct bytes event = { .len = 0 };

	put_common(&event, 200, from);
	put_u32(&event, from);
	put_u32(&event, 0);
	put_u64(&event, state);
	put_u32(&event, to);
	put_u32(&event, 0);
	ring_add(ring, time, &event);
	bytes_release(&event);
}

static void add_absence(struct made_ring *ring, uint64_t time, uint32_t tid)
{
	struct bytes event = { .len = 0 };

	add_switch(ring, time, tid, 1, 0);
	put_common(&event, 201, 0);
	put_u32(&event, tid);
	ring_add(ring, time + 300, &event);
	add_switch(ring, time + 500, 0, 0, tid);
	bytes_release(&event);
}

/* A thread is a vCPU; of two CPUs, the second's ring loses something. rip 0: none is recorded. */
static void make_exits(FILE *file, uint64_t nr, uint64_t rip, bool has_sched)
{
	const char *formats[NR_WORLD_FORMATS + NR_SCHED];
	struct bytes bytes = { .len = 0 }, event = { .len = 0 };
	struct made_ring rings[2];

	ring_init(&rings[0], 0);
	ring_init(&rings[1], 0);
	for (uint64_t i = 0; i < nr; i++) {
		unsigned int vcpu = i / NR_REASONS % 2;

		if (i == 3 * NR_REASONS)
			ring_lose(&rings[1], 42);
		put_exit(&event, 77 + vcpu, vcpu, 1, reasons[i % NR_REASONS]);
		if (rip)
			put_u64(&event, rip);
		ring_add(&rings[vcpu], 1 + 2000 * i, &event);
		if (has_sched)
			add_absence(&rings[vcpu], 101 + 2000 * i, 77 + vcpu);
		put_entry(&event, 77 + vcpu, vcpu);
		ring_add(&rings[vcpu], 1001 + 2000 * i, &event);
	}
	memcpy(formats, world_formats, sizeof(world_formats));
	memcpy(formats + NR_WORLD_FORMATS, sched_formats, sizeof(sched_formats));
	if (rip)
		formats[0] = exit_with_rip;
	put_dat6(&bytes, rings, 2, formats, NR_WORLD_FORMATS + (has_sched ? NR_SCHED : 0),
		 "[local] global");
	flush(&bytes, file);
	bytes_release(&bytes);
	bytes_release(&event);
}

static void make_dat(FILE *file, uint64_t nr)
{
	make_exits(file, nr, 0, false);
}

static void make_sched(FILE *file, uint64_t nr)
{
	make_exits(file, nr, 0, true);
}

/* The second buffer recorded what the first CPU did, too. */
static void make_buffers(FILE *file, uint64_t nr)
{
	world_buffer = "second";
	make_dat(file, nr);
}

static void make_host(FILE *file, uint64_t nr)
{
	world_shift = (struct world_shift){ .id = 1 };
	make_exits(file, nr, 0xffffffff81000105, false);
}

static void make_guest(FILE *file, uint64_t nr)
{
	static const char *const formats[] = {
		"name: sched_waking\nID: 200\n" COMMON_FIELDS
		"\tfield:int prio;\toffset:8;\tsize:4;\tsigned:1;\n\n"
		"print fmt: \"prio=%d\", REC->prio\n",
	};
	static const uint64_t samples[][3] = { { 0, (uint64_t)-5000000000123, 1 } };
	struct bytes bytes = { .len = 0 }, event = { .len = 0 };
	struct made_ring rings[2];

	world_shift = (struct world_shift){
		.id = WORLD_GUEST_ID,
		.host_id = 1,
		.nr = 1,
		.samples = samples,
	};
	ring_init(&rings[0], 0);
	ring_init(&rings[1], 0);
	for (uint64_t i = 0; i < nr; i++) {
		put_common(&event, 200, 1000);
		put_u32(&event, (uint32_t)i);
		ring_add(&rings[i % 2], 5000000000123 + 501 + 2000 * i, &event);
	}
	world_system = "sched";
	world_symbols = "ffffffff81000000 T _text\nffffffff81000100 T do_idle\n"
			"ffffffff81000200 t e1000_intr\t[e1000]\n";
	put_dat6(&bytes, rings, 2, formats, 1, "[local] global");
	flush(&bytes, file);
	bytes_release(&bytes);
	bytes_release(&event);
}

static void make_threads(FILE *file, uint64_t nr)
{
	struct bytes bytes = { .len = 0 }, event = { .len = 0 };
	struct made_ring ring;

	ring_init(&ring, 0);
	for (uint32_t i = 0; i < nr; i++) {
		put_mmio(&event, 1000 + i, 1, 0xfee00000);
		ring_add(&ring, 1000 + i, &event);
	}
	put_dat6(&bytes, &ring, 1, world_formats, NR_WORLD_FORMATS, "[local]");
	flush(&bytes, file);
	bytes_release(&bytes);
	bytes_release(&event);
}

/* Each thread makes an exit of 1000 units. */
static void make_threads_dat(FILE *file, uint64_t nr)
{
	struct bytes bytes = { .len = 0 }, event = { .len = 0 };
	struct made_ring ring;

	ring_init(&ring, 0);
	for (uint32_t i = 0; i < nr; i++) {
		put_exit(&event, 1000 + i, i, 1, reasons[i % NR_REASONS]);
		ring_add(&ring, 1 + 2000 * (uint64_t)i, &event);
		put_entry(&event, 1000 + i, i);
		ring_add(&ring, 1001 + 2000 * (uint64_t)i, &event);
	}
	put_dat6(&bytes, &ring, 1, world_formats, NR_WORLD_FORMATS, "[local]");
	flush(&bytes, file);
	bytes_release(&bytes);
	bytes_release(&event);
}

static void make_threads_perf(FILE *file, uint64_t nr)
{
	struct bytes bytes = { .len = 0 }, event = { .len = 0 };
	size_t data;

	put_perf_header(&bytes);
	data = bytes.len;
	put_perf_comm(&bytes, 70, 70, "alpha");
	for (uint32_t i = 0; i < nr; i++) {
		put_exit(&event, 1000 + i, i, 1, reasons[i % NR_REASONS]);
		put_sample(&bytes, 1 + 2000 * (uint64_t)i, 0, 70, 1000 + i, &event);
		put_entry(&event, 1000 + i, i);
		put_sample(&bytes, 1001 + 2000 * (uint64_t)i, 0, 70, 1000 + i, &event);
		put_round(&bytes);
	}
	put_perf_features(&bytes, data, "GenuineIntel,6,143,8");
	flush(&bytes, file);
	bytes_release(&bytes);
	bytes_release(&event);
}

static void make_threads_kvmtrace(FILE *file, uint64_t nr)
{
	struct bytes bytes = { .len = 0 };

	put_u32(&bytes, 0x12345678);
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t words[3] = { reasons[i % NR_REASONS], 0xfff0, 0 };

		put_kvmtrace(&bytes, 1 + 2000 * (uint64_t)i, 0x10002, 1000 + i / 100, i % 100, 3,
			     words);
		put_kvmtrace(&bytes, 1001 + 2000 * (uint64_t)i, 0x10001, 1000 + i / 100, i % 100,
			     0, NULL);
	}
	flush(&bytes, file);
	bytes_release(&bytes);
}

/* Two guests of a vCPU each. */
static void make_perf(FILE *file, uint64_t nr)
{
	struct bytes bytes = { .len = 0 }, event = { .len = 0 };
	size_t data;

	put_perf_header(&bytes);
	data = bytes.len;
	put_perf_comm(&bytes, 70, 70, "alpha");
	put_perf_comm(&bytes, 80, 80, "beta");
	for (uint64_t i = 0; i < nr; i++) {
		unsigned int guest = i / NR_REASONS % 2;
		uint32_t pid = 70 + 10 * guest;

		put_exit(&event, pid + 1, 0, 1, reasons[i % NR_REASONS]);
		put_sample(&bytes, 1 + 2000 * i, guest, pid, pid + 1, &event);
		put_entry(&event, pid + 1, 0);
		put_sample(&bytes, 1001 + 2000 * i, guest, pid, pid + 1, &event);
		if (i % NR_REASONS == 0)
			put_round(&bytes);
	}
	put_perf_features(&bytes, data, "GenuineIntel,6,143,8");
	flush(&bytes, file);
	bytes_release(&bytes);
	bytes_release(&event);
}

/* As perf: two guests of a vCPU each, each on a CPU of its own. */
static void make_group(FILE *file, uint64_t nr)
{
	struct bytes bytes = { .len = 0 }, event = { .len = 0 };

	put_group_begin(&bytes, &group_shape);
	put_perf_comm(&bytes, 70, 70, "alpha");
	put_perf_comm(&bytes, 80, 80, "beta");
	for (uint64_t i = 0; i < nr; i++) {
		unsigned int cpu = i / NR_REASONS % 2;
		uint32_t pid = 70 + 10 * cpu;

		put_exit(&event, pid + 1, 0, 1, reasons[i % NR_REASONS]);
		put_group_sample(&bytes, 1 + 2000 * i, cpu, pid, pid + 1, &event);
	}
	put_group_end(&bytes, &group_shape);
	flush(&bytes, file);
	bytes_release(&bytes);
	bytes_release(&event);
}

/* Appends a file. */
static void put_file(struct bytes *bytes, const char *path)
{
	FILE *file = fopen(path, "r");
	char buf[4096];
	size_t got;

	if (!file)
		abort();
	while ((got = fread(buf, 1, sizeof(buf), file)) > 0)
		put(bytes, buf, got);
	fclose(file);
}

static void make_raw(FILE *file, const char *format, char *const *paths, uint32_t nr)
{
	struct bytes bytes = { .len = 0 }, text = { .len = 0 };
	struct made_ring *rings = calloc(nr, sizeof(*rings));
	const char *formats[1];

	if (!rings)
		abort();
	put_file(&text, format);
	put_u8(&text, 0);
	formats[0] = (const char *)text.data;
	for (uint32_t i = 0; i < nr; i++) {
		ring_init(&rings[i], 0);
		put_file(&rings[i].bytes, paths[i]);
	}
	put_dat6(&bytes, rings, nr, formats, 1, "[local]");
	flush(&bytes, file);
	bytes_release(&bytes);
	bytes_release(&text);
	free(rings);
}

/* A sample in each exit: of two functions in turns, which the same one calls. */
static void make_stacks(FILE *file, uint64_t nr)
{
	struct bytes bytes = { .len = 0 };

	begin_stacks(&bytes, PERF_TYPE_SOFTWARE);
	for (uint64_t i = 0; i < nr; i++) {
		const uint64_t chain[] = { OF_USER, VMM + 0x8 + 0x100 * (i / 2 % 2), VMM + 0x1001 };

		put_stack_exit(&bytes, 1000000 + 2000 * i, 30);
		put_stack(&bytes, 1000500 + 2000 * i, 77, 2000, chain, 3);
		flush(&bytes, file);
	}
	bytes_release(&bytes);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*make)(FILE *file, uint64_t nr);
	} kinds[] = {
		{ "acrn", make_acrn },
		{ "kvmtrace", make_kvmtrace },
		{ "dat", make_dat },
		{ "sched", make_sched },
		{ "buffers", make_buffers },
		{ "host", make_host },
		{ "guest", make_guest },
		{ "perf", make_perf },
		{ "group", make_group },
		{ "stacks", make_stacks },
		{ "threads", make_threads },
		{ "threads-dat", make_threads_dat },
		{ "threads-perf", make_threads_perf },
		{ "threads-kvmtrace", make_threads_kvmtrace },
	};
	uint64_t nr = argc == 4 ? strtoull(argv[3], NULL, 10) : 8 * NR_REASONS;
	FILE *file = argc >= 3 ? fopen(argv[2], "w") : NULL;

	if (file && argc > 4 && strcmp(argv[1], "raw") == 0) {
		make_raw(file, argv[3], argv + 4, (uint32_t)argc - 4);
		return fclose(file) == 0 ? 0 : 1;
	}
	for (size_t i = 0; file && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, argv[1]) == 0) {
			kinds[i].make(file, nr);
			return fclose(file) == 0 ? 0 : 1;
		}
	}
	fprintf(stderr,
		"usage: trace_make acrn|kvmtrace|dat|buffers|host|guest|perf|group|stacks|\n"
		"                  threads|threads-dat|threads-perf|threads-kvmtrace FILE\n"
		"                  [EXITS]\n"
		"       trace_make raw FILE FORMAT PAGES...\n");
	return 2;
}
