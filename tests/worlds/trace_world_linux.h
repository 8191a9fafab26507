/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_world_linux - a trace.dat of either version and a perf.data, made byte by byte.
 *
 * Both have the same four events, of x86: see world_formats.
 */
#ifndef KVMTOP_TESTS_WORLDS_TRACE_WORLD_LINUX_H
#define KVMTOP_TESTS_WORLDS_TRACE_WORLD_LINUX_H

#include "tests/worlds/trace_world.h"

#define COMMON_FIELDS                                                            \
	"format:\n"                                                              \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"   \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"   \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

enum { ID_EXIT = 100, ID_ENTRY, ID_MMIO, ID_MSR };

/* 0x77 is a name that no built-in table has. */
static const char *const world_formats[] = {
	"name: kvm_exit\nID: 100\n" COMMON_FIELDS
	"\tfield:unsigned int exit_reason;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned int isa;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned int vcpu_id;\toffset:16;\tsize:4;\tsigned:0;\n\n"
	"print fmt: \"vcpu %u reason %s\", REC->vcpu_id, (REC->isa == 1) ? "
	"__print_symbolic(REC->exit_reason & 0xffff, { 12, \"HLT\" }, { 30, \"IO_INSTRUCTION\" }, "
	"{ 0x77, \"FROM_THE_FUTURE\" }) : "
	"__print_symbolic(REC->exit_reason, { 0x078, \"hlt\" }, { 0x07c, \"msr\" }, "
	"{ 0x80000001, \"vmgexit_mmio_read\" })\n",
	"name: kvm_entry\nID: 101\n" COMMON_FIELDS
	"\tfield:unsigned int vcpu_id;\toffset:8;\tsize:4;\tsigned:0;\n\n"
	"print fmt: \"vcpu %u\", REC->vcpu_id\n",
	"name: kvm_mmio\nID: 102\n" COMMON_FIELDS
	"\tfield:u32 type;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:u32 len;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\tfield:u64 gpa;\toffset:16;\tsize:8;\tsigned:0;\n\n"
	"print fmt: \"len %u gpa 0x%llx\", REC->len, REC->gpa\n",
	"name: kvm_msr\nID: 103\n" COMMON_FIELDS
	"\tfield:unsigned write;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:u32 ecx;\toffset:12;\tsize:4;\tsigned:0;\n\n"
	"print fmt: \"msr %x\", REC->ecx\n",
};

#define NR_WORLD_FORMATS (sizeof(world_formats) / sizeof(world_formats[0]))

/* What all of them belong to. */
static const char *world_system = "kvm";
static const char *world_uname = "Linux alpha 6.1.0 x86_64";

static inline void put_text(struct bytes *bytes, const char *text)
{
	put_u64(bytes, strlen(text));
	put(bytes, text, strlen(text));
}

static const char world_comms[] = "77 CPU 0/KVM\n78 CPU 1/KVM\n";

/* Of what the recording was made on. */
static uint8_t world_long_size = 8;
static uint32_t world_page_size = 4096;

static inline void put_machine(struct bytes *bytes, const char *version, uint32_t page_size)
{
	bool is_big = (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != (bytes->swap != 0);

	put(bytes, "\027\010\104tracing", 10);
	put(bytes, version, strlen(version) + 1);
	put_u8(bytes, is_big);
	put_u8(bytes, world_long_size);
	put_u32(bytes, page_size);
}

static inline int is_of_sched(const char *format)
{
	return strncmp(format, "name: sched_", 12) == 0;
}

static inline void put_system(struct bytes *bytes, const char *system, const char *const *formats,
			      uint32_t nr_formats, uint32_t nr_own, int is_sched)
{
	put(bytes, system, strlen(system) + 1);
	put_u32(bytes, nr_own);
	for (uint32_t i = 0; i < nr_formats; i++) {
		if (is_of_sched(formats[i]) == is_sched)
			put_text(bytes, formats[i]);
	}
}

/* The scheduler's events are of its own system. */
static inline void put_formats(struct bytes *bytes, const char *const *formats,
			       uint32_t nr_formats)
{
	uint32_t nr_sched = 0;

	for (uint32_t i = 0; i < nr_formats; i++)
		nr_sched += (uint32_t)is_of_sched(formats[i]);
	put_u32(bytes, nr_sched ? 2 : 1);
	put_system(bytes, world_system, formats, nr_formats, nr_formats - nr_sched, 0);
	if (nr_sched)
		put_system(bytes, "sched", formats, nr_formats, nr_sched, 1);
}

/* The kernel's symbols. */
static const char *world_symbols = "";

static inline void put_symbols(struct bytes *bytes)
{
	put_u32(bytes, (uint32_t)strlen(world_symbols));
	put(bytes, world_symbols, strlen(world_symbols));
}

/* From the magic to the names of threads: the head of trace.dat and perf's tracing data. */
static inline void put_head(struct bytes *bytes, const char *version, uint32_t page_size,
			    const char *const *formats, uint32_t nr_formats)
{
	const char page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
			    "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
			    "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
			    "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

	put_machine(bytes, version, page_size);
	put(bytes, "header_page", 12);
	put_text(bytes, page);
	put(bytes, "header_event", 13);
	put_text(bytes, "-");
	put_u32(bytes, 0);
	put_formats(bytes, formats, nr_formats);
	put_symbols(bytes);
	put_u32(bytes, 0); /* printk */
	put_text(bytes, world_comms);
}

/* ---- the events' bytes */

static inline void put_common(struct bytes *bytes, uint16_t id, uint32_t tid)
{
	put_u16(bytes, id);
	put_u16(bytes, 0);
	put_u32(bytes, tid);
}

static inline void put_exit(struct bytes *bytes, uint32_t tid, uint32_t vcpu, uint32_t isa,
			    uint32_t reason)
{
	put_common(bytes, ID_EXIT, tid);
	put_u32(bytes, reason);
	put_u32(bytes, isa);
	put_u32(bytes, vcpu);
}

static inline void put_entry(struct bytes *bytes, uint32_t tid, uint32_t vcpu)
{
	put_common(bytes, ID_ENTRY, tid);
	put_u32(bytes, vcpu);
}

static inline void put_mmio(struct bytes *bytes, uint32_t tid, uint32_t type, uint64_t gpa)
{
	put_common(bytes, ID_MMIO, tid);
	put_u32(bytes, type);
	put_u32(bytes, 4);
	put_u64(bytes, gpa);
}

static inline void put_msr(struct bytes *bytes, uint32_t tid, uint32_t is_write, uint32_t msr)
{
	put_common(bytes, ID_MSR, tid);
	put_u32(bytes, is_write);
	put_u32(bytes, msr);
}

/* ---- trace.dat: pages of a CPU */

#define WORLD_PAGE 4096

struct made_ring {
	struct bytes bytes;
	size_t page; /* where the current one begins; SIZE_MAX: none */
	uint64_t time;
	uint64_t lost; /* before the next page */
};

static inline void ring_init(struct made_ring *ring, int swap)
{
	*ring = (struct made_ring){ .bytes = { .swap = swap }, .page = SIZE_MAX };
}

/* Fills the page up, and says how much of it is events. */
static inline void ring_end_page(struct made_ring *ring)
{
	uint64_t used;

	if (ring->page == SIZE_MAX)
		return;
	used = ring->bytes.len - ring->page - 16;
	if (ring->lost) {
		put_u64(&ring->bytes, ring->lost);
		used |= UINT64_C(3) << 30; /* events are missing before this page, and how many */
		ring->lost = 0;
	}
	set_u64(&ring->bytes, ring->page + 8, used);
	put(&ring->bytes, NULL, ring->page + WORLD_PAGE - ring->bytes.len);
	ring->page = SIZE_MAX;
}

static inline void ring_begin_page(struct made_ring *ring, uint64_t time)
{
	ring->page = ring->bytes.len;
	put_u64(&ring->bytes, time);
	put_u64(&ring->bytes, 0);
	ring->time = time;
}

/* `lost` events are missing before what comes next. */
static inline void ring_lose(struct made_ring *ring, uint64_t lost)
{
	ring_end_page(ring);
	ring->lost = lost;
}

/* Adds the event, and forgets its bytes. */
static inline void ring_add(struct made_ring *ring, uint64_t time, struct bytes *event)
{
	uint32_t words = (uint32_t)(event->len + 3) / 4;
	bool is_big = (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != (ring->bytes.swap != 0);
	uint64_t delta;

	if (ring->page != SIZE_MAX && ring->bytes.len + 32 + event->len > ring->page + WORLD_PAGE)
		ring_end_page(ring);
	if (ring->page == SIZE_MAX)
		ring_begin_page(ring, time);
	delta = time - ring->time;
	ring->time = time;
	if (delta >> 27) {
		uint32_t low = (uint32_t)(delta & 0x7ffffff);

		put_u32(&ring->bytes, is_big ? UINT32_C(30) << 27 | low : 30 | low << 5);
		put_u32(&ring->bytes, (uint32_t)(delta >> 27));
		delta = 0;
	}
	put_u32(&ring->bytes, is_big ? words << 27 | (uint32_t)delta :
				       words | (uint32_t)delta << 5);
	put(&ring->bytes, event->data, event->len);
	put(&ring->bytes, NULL, 4 * words - event->len);
	event->len = 0;
}

static inline void put_option(struct bytes *bytes, uint16_t id, const void *data, uint32_t size)
{
	put_u16(bytes, id);
	put_u32(bytes, size);
	put(bytes, data, size);
}

/* trace-cmd's are random; kvmtop's are those of the guests' processes. */
#define WORLD_GUEST_ID 0x123456789abcdef0

/*
 * The guest web1: its vCPUs 0 and 1 are the threads 77 and 78; 75 is another thread of it, and
 * from 100,000 on there are more.
 */
static uint32_t world_more_threads;

static inline void put_guest(struct bytes *bytes)
{
	put_u16(bytes, 13);
	put_u32(bytes, 5 + 8 + 4 + 2 * 8 + 4 + 4 * world_more_threads);
	put(bytes, "web1", 5);
	put_u64(bytes, WORLD_GUEST_ID);
	put_u32(bytes, 2);
	for (uint32_t vcpu = 0; vcpu < 2; vcpu++) {
		put_u32(bytes, vcpu);
		put_u32(bytes, 77 + vcpu);
	}
	put_u32(bytes, 75);
	for (uint32_t i = 0; i < world_more_threads; i++)
		put_u32(bytes, 100000 + i);
}

/* How the clock's cycles become ns; mult 0: the file does not say. */
struct world_tsc {
	uint32_t mult, shift;
};

static struct world_tsc world_tsc;

static inline void put_tsc(struct bytes *bytes)
{
	put_u16(bytes, 14);
	put_u32(bytes, 16);
	put_u32(bytes, world_tsc.mult);
	put_u32(bytes, world_tsc.shift);
	put_u64(bytes, 0);
}

/* What else puts times where they belong: trace-cmd's ids of this file and of the host's. */
struct world_shift {
	uint64_t id, host_id;
	uint32_t flags;
	uint32_t nr; /* samples, the same for both CPUs */
	const uint64_t (*samples)[3]; /* when, how much to add, by what to multiply */
	uint64_t fraction; /* of all of them; 0: there are none */
	const char *offset; /* in ns, for all times; NULL: none */
};

static struct world_shift world_shift;

static inline void put_shift(struct bytes *bytes)
{
	const struct world_shift *shift = &world_shift;
	uint32_t size = 16 + 2 * (4 + (shift->fraction ? 32 : 24) * shift->nr);

	put_u16(bytes, 12);
	put_u32(bytes, size);
	put_u64(bytes, shift->host_id);
	put_u32(bytes, shift->flags);
	put_u32(bytes, 2);
	for (int cpu = 0; cpu < 2; cpu++) {
		put_u32(bytes, shift->nr);
		for (int column = 0; column < 3; column++) {
			for (uint32_t i = 0; i < shift->nr; i++)
				put_u64(bytes, shift->samples[i][column]);
		}
	}
	for (uint32_t i = 0; shift->fraction && i < 2 * shift->nr; i++)
		put_u64(bytes, shift->fraction);
}

static inline void put_ids(struct bytes *bytes)
{
	const struct world_shift *shift = &world_shift;

	if (shift->id) {
		put_u16(bytes, 11);
		put_u32(bytes, 8);
		put_u64(bytes, shift->id);
	}
	if (shift->host_id)
		put_shift(bytes);
	if (shift->offset)
		put_option(bytes, 7, shift->offset, (uint32_t)strlen(shift->offset) + 1);
}

/* A further buffer with all of the first CPU's pages; NULL: none. */
static const char *world_buffer;

/*
 * A whole file of version 6; the rings are ended and released. A clock with a '!' in front of it is
 * put where older trace-cmd has it.
 */
static inline void put_dat6(struct bytes *bytes, struct made_ring *rings, uint32_t nr_cpus,
			    const char *const *formats, uint32_t nr_formats, const char *clock)
{
	const char *uname = world_uname;
	bool is_late = clock[0] == '!';
	size_t table, pages, buffer = 0;

	put_head(bytes, "6", world_page_size, formats, nr_formats);
	put_u32(bytes, nr_cpus);
	put(bytes, "options  ", 10);
	put_option(bytes, 4, clock, is_late ? 0 : (uint32_t)strlen(clock) + 1);
	put_option(bytes, 5, uname, (uint32_t)strlen(uname) + 1);
	put_guest(bytes);
	if (world_buffer) {
		put_u16(bytes, 3);
		put_u32(bytes, (uint32_t)strlen(world_buffer) + 1 + 8);
		buffer = bytes->len;
		put_u64(bytes, 0);
		put(bytes, world_buffer, strlen(world_buffer) + 1);
	}
	if (world_tsc.mult)
		put_tsc(bytes);
	put_ids(bytes);
	put_u16(bytes, 0);
	put(bytes, "flyrecord", 10);
	table = bytes->len;
	put(bytes, NULL, (size_t)16 * nr_cpus);
	put_text(bytes, clock + is_late);
	put(bytes, NULL, (WORLD_PAGE - bytes->len % WORLD_PAGE) % WORLD_PAGE);
	pages = bytes->len;
	for (uint32_t cpu = 0; cpu < nr_cpus; cpu++) {
		ring_end_page(&rings[cpu]);
		set_u64(bytes, table + (size_t)16 * cpu, bytes->len);
		set_u64(bytes, table + (size_t)16 * cpu + 8, rings[cpu].bytes.len);
		put(bytes, rings[cpu].bytes.data, rings[cpu].bytes.len);
		bytes_release(&rings[cpu].bytes);
	}
	if (world_buffer) {
		set_u64(bytes, buffer, bytes->len);
		put(bytes, "flyrecord", 10);
		put_u64(bytes, pages);
		put_u64(bytes, WORLD_PAGE);
		put(bytes, NULL, (size_t)16 * (nr_cpus - 1));
	}
}

/* ---- trace.dat of version 7 */

/* Compresses all of `from` into `room` bytes, and returns how many it took; 0: it failed. */
typedef size_t world_deflate(const struct bytes *from, uint8_t *to, size_t room);

/* Both sizes, then what was compressed. */
static inline void put_block(struct bytes *bytes, const struct bytes *from,
			     world_deflate *deflate)
{
	size_t room = 2 * from->len + 1024, size;
	uint8_t *to = malloc(room);

	size = to ? deflate(from, to, room) : 0;
	if (!size)
		abort();
	put_u32(bytes, (uint32_t)size);
	put_u32(bytes, (uint32_t)from->len);
	put(bytes, to, size);
	free(to);
}

/* Returns where the section begins; releases what is to be in it. */
static inline size_t put_section(struct bytes *bytes, uint16_t id, struct bytes *from,
				 world_deflate *deflate)
{
	size_t at = bytes->len;

	put_u16(bytes, id);
	put_u16(bytes, deflate != NULL);
	put_u32(bytes, 0);
	put_u64(bytes, 0);
	if (deflate)
		put_block(bytes, from, deflate);
	else
		put(bytes, from->data, from->len);
	set_u64(bytes, at + 8, bytes->len - at - 16);
	bytes_release(from);
	return at;
}

static inline void put_place(struct bytes *bytes, uint16_t id, uint64_t at)
{
	put_u16(bytes, id);
	put_u32(bytes, sizeof(at));
	put_u64(bytes, at);
}

/* A buffer of version 7; its pages are those of one CPU. */
struct world_buffer7 {
	const char *name, *clock;
	uint32_t page_size;
	struct made_ring *ring;
};

/* A further one; name NULL: none. */
static struct world_buffer7 world_buffer7;

static const char *world_clock7; /* the option of the clock; NULL: none */

/* The pages of each CPU as one chunk, and the option that says where they are. */
static inline void put_buffer(struct bytes *bytes, struct bytes *options,
			      const struct world_buffer7 *buffer, struct made_ring *rings,
			      uint32_t nr_cpus, world_deflate *deflate)
{
	uint32_t names = (uint32_t)(strlen(buffer->name) + 1 + strlen(buffer->clock) + 1);
	struct bytes nothing = { .len = 0 };
	size_t at = put_section(bytes, 3, &nothing, NULL);

	bytes->data[at + 2] = bytes->data[at + 3] = 0;
	if (deflate)
		bytes->data[at + (bytes->swap ? 3 : 2)] = 1;
	put_u16(options, 3);
	put_u32(options, 8 + names + 4 + 4 + 20 * nr_cpus);
	put_u64(options, at);
	put(options, buffer->name, strlen(buffer->name) + 1);
	put(options, buffer->clock, strlen(buffer->clock) + 1);
	put_u32(options, buffer->page_size);
	put_u32(options, nr_cpus);
	for (uint32_t cpu = 0; cpu < nr_cpus; cpu++) {
		ring_end_page(&rings[cpu]);
		put_u32(options, cpu);
		put_u64(options, bytes->len);
		at = bytes->len;
		if (deflate) {
			put_u32(bytes, 1);
			at = bytes->len; /* trace-cmd's size leaves out how many chunks there are */
			put_block(bytes, &rings[cpu].bytes, deflate);
		} else {
			put(bytes, rings[cpu].bytes.data, rings[cpu].bytes.len);
		}
		put_u64(options, bytes->len - at);
		bytes_release(&rings[cpu].bytes);
	}
}

/* A whole file of version 7; the rings are ended and released. deflate NULL: it is "none". */
static inline void put_dat7(struct bytes *bytes, struct made_ring *rings, uint32_t nr_cpus,
			    const char *compression, world_deflate *deflate)
{
	struct bytes section = { .swap = bytes->swap }, options = { .swap = bytes->swap };
	size_t first;

	put_machine(bytes, "7", world_page_size);
	put(bytes, compression, strlen(compression) + 1);
	put(bytes, "1.0", 4);
	first = bytes->len;
	put_u64(bytes, 0);
	put_formats(&section, world_formats, NR_WORLD_FORMATS);
	put_place(&options, 18, put_section(bytes, 18, &section, deflate));
	if (world_symbols[0]) {
		put_symbols(&section);
		put_place(&options, 19, put_section(bytes, 19, &section, deflate));
	}
	put_text(&section, world_comms);
	put_place(&options, 21, put_section(bytes, 21, &section, deflate));
	put_u16(&options, 8);
	put_u32(&options, 4);
	put_u32(&options, nr_cpus);
	put_guest(&options);
	if (world_tsc.mult)
		put_tsc(&options);
	put_ids(&options);
	if (world_clock7) {
		put_u16(&options, 4);
		put_u32(&options, (uint32_t)strlen(world_clock7) + 1);
		put(&options, world_clock7, strlen(world_clock7) + 1);
	}
	put_buffer(bytes, &options, &(struct world_buffer7){ "", "local", world_page_size, NULL },
		   rings, nr_cpus, deflate);
	if (world_buffer7.name)
		put_buffer(bytes, &options, &world_buffer7, world_buffer7.ring, 1, deflate);
	put_place(&options, 0, 0);
	set_u64(bytes, first, put_section(bytes, 0, &options, deflate));
}

/* ---- perf.data */

#define PERF_SAMPLE_TYPE 0x105c6 /* identifier, raw, period, CPU, ID, time, thread */

static inline void put_perf_attr(struct bytes *bytes)
{
	size_t attr = bytes->len;

	put_u32(bytes, 2);
	put_u32(bytes, 128);
	put_u64(bytes, ID_EXIT);
	put_u64(bytes, 1);
	put_u64(bytes, PERF_SAMPLE_TYPE);
	put_u64(bytes, 0);
	/* sample_id_all: the 19th of the flags, from the end that the machine begins with. */
	put_u64(bytes, UINT64_C(1) << ((__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) !=
							(bytes->swap != 0) ? 63 - 18 : 18));
	put(bytes, NULL, attr + 128 - bytes->len);
}

static inline void put_perf_header(struct bytes *bytes)
{
	put(bytes, bytes->swap ? "2ELIFREP" : "PERFILE2", 8);
	put_u64(bytes, 104);
	put_u64(bytes, 144);
	put_u64(bytes, 112);
	put_u64(bytes, 144);
	put(bytes, NULL, 64); /* data, event types, features */
	put_u64(bytes, 4711); /* the event's id, at 104 */
	put_perf_attr(bytes);
	put_u64(bytes, 104);
	put_u64(bytes, 8);
}

static inline void put_record(struct bytes *bytes, uint32_t type, size_t size)
{
	put_u32(bytes, type);
	put_u16(bytes, 0);
	put_u16(bytes, (uint16_t)(size + 8));
}

/* A sample with the event's bytes, which are forgotten. */
static inline void put_sample(struct bytes *bytes, uint64_t time, uint32_t cpu, uint32_t pid,
			      uint32_t tid, struct bytes *event)
{
	uint32_t raw = (uint32_t)(event->len + 4 + 7) / 8 * 8 - 4;

	put_record(bytes, 9, 8 + 8 + 8 + 8 + 8 + 8 + 4 + raw);
	put_u64(bytes, 4711);
	put_u32(bytes, pid);
	put_u32(bytes, tid);
	put_u64(bytes, time);
	put_u64(bytes, 4711);
	put_u32(bytes, cpu);
	put_u32(bytes, 0);
	put_u64(bytes, 1);
	put_u32(bytes, raw);
	put(bytes, event->data, event->len);
	put(bytes, NULL, raw - event->len);
	event->len = 0;
}

static inline void put_sample_id(struct bytes *bytes, uint64_t time, uint32_t cpu, uint32_t pid,
				 uint32_t tid)
{
	put_u32(bytes, pid);
	put_u32(bytes, tid);
	put_u64(bytes, time);
	put_u64(bytes, 4711);
	put_u32(bytes, cpu);
	put_u32(bytes, 0);
	put_u64(bytes, 4711);
}

/* ---- perf.data as it is written to a pipe: what the header has comes as records */

static inline void put_perf_pipe_header(struct bytes *bytes)
{
	put(bytes, bytes->swap ? "2ELIFREP" : "PERFILE2", 8);
	put_u64(bytes, 16);
}

/* Before the samples: the event, its formats, the machine. */
static inline void put_perf_pipe_records_with(struct bytes *bytes, const char *cpuid,
					      const char *const *formats, size_t nr_formats)
{
	struct bytes head = { .swap = bytes->swap };
	size_t cpuid_size = (strlen(cpuid) + 8) / 8 * 8;

	put_record(bytes, 64, 128 + 8);
	put_perf_attr(bytes);
	put_u64(bytes, 4711);
	put_head(&head, "0.6", WORLD_PAGE, formats, nr_formats);
	put(&head, NULL, (8 - head.len % 8) % 8);
	put_record(bytes, 66, 4);
	put_u32(bytes, (uint32_t)head.len);
	put(bytes, head.data, head.len);
	bytes_release(&head);
	put_record(bytes, 80, 8 + 4 + cpuid_size);
	put_u64(bytes, 9);
	put_u32(bytes, (uint32_t)cpuid_size);
	put(bytes, cpuid, strlen(cpuid));
	put(bytes, NULL, cpuid_size - strlen(cpuid));
}

static inline void put_perf_pipe_records(struct bytes *bytes, const char *cpuid)
{
	put_perf_pipe_records_with(bytes, cpuid, world_formats, NR_WORLD_FORMATS);
}

static inline void put_perf_lost(struct bytes *bytes, uint64_t time, uint32_t cpu, uint64_t lost)
{
	put_record(bytes, 2, 16 + 40);
	put_u64(bytes, 4711);
	put_u64(bytes, lost);
	put_sample_id(bytes, time, cpu, 1, 1);
}

/* As perf closes a file: what an event lost in all; without a time, and of no CPU. */
static inline void put_perf_lost_in_all(struct bytes *bytes, uint16_t misc, uint64_t time,
					uint64_t lost)
{
	size_t at = bytes->len;

	put_record(bytes, 13, 8 + 40);
	bytes->data[at + (bytes->swap ? 4 : 5)] = (uint8_t)(misc >> 8);
	put_u64(bytes, lost);
	put_sample_id(bytes, time, 0, 0, 0);
}

static inline void put_perf_comm(struct bytes *bytes, uint32_t pid, uint32_t tid,
				 const char *comm)
{
	char name[16] = "";

	memcpy(name, comm, strnlen(comm, sizeof(name) - 1));
	put_record(bytes, 3, 8 + sizeof(name) + 40);
	put_u32(bytes, pid);
	put_u32(bytes, tid);
	put(bytes, name, sizeof(name));
	put_sample_id(bytes, 0, 0, pid, tid);
}

static inline void put_round(struct bytes *bytes)
{
	put_record(bytes, 68, 0);
}

static inline void put_string(struct bytes *bytes, const char *text)
{
	put_u32(bytes, 64);
	put(bytes, text, strlen(text));
	put(bytes, NULL, 64 - strlen(text));
}

/* After the records, which begin at `data`: formats, architecture, release, CPU. */
static inline void put_perf_features_with(struct bytes *bytes, size_t data, const char *cpuid,
					  bool is_folder, const char *const *formats,
					  size_t nr_formats)
{
	size_t table = bytes->len, begin;
	int nr = is_folder ? 5 : 4;

	set_u64(bytes, 40, data);
	set_u64(bytes, 48, table - data);
	set_u64(bytes, 72, 1 << 1 | 1 << 4 | 1 << 6 | 1 << 9 | (is_folder ? 1 << 24 : 0));
	put(bytes, NULL, (size_t)nr * 16);
	for (int i = 0; i < nr; i++) {
		begin = bytes->len;
		if (i == 0)
			put_head(bytes, "0.6", 4096, formats, nr_formats);
		else if (i == 4)
			put_u64(bytes, 1); /* the version of the folder */
		else
			put_string(bytes, i == 1 ? "6.1.0" : i == 2 ? "x86_64" : cpuid);
		set_u64(bytes, table + (size_t)16 * i, begin);
		set_u64(bytes, table + (size_t)16 * i + 8, bytes->len - begin);
	}
}

static inline void put_perf_features_of(struct bytes *bytes, size_t data, const char *cpuid,
					bool is_folder)
{
	put_perf_features_with(bytes, data, cpuid, is_folder, world_formats, NR_WORLD_FORMATS);
}

static inline void put_perf_features(struct bytes *bytes, size_t data, const char *cpuid)
{
	put_perf_features_of(bytes, data, cpuid, false);
}

#endif
