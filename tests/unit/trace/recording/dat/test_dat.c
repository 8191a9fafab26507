/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_dat - trace.dat: events, losses, cut and damaged files.
 */
#include <errno.h>
#include <malloc.h>
#include <zlib.h>
#include <zstd.h>

#include "tests/unit/unit.h"
#include "tests/worlds/cmocka_range.h"
#include "tests/worlds/trace_file.h"
#include "trace/recording/reader.h"

#define HEADER_MAX 4096 /* what is before the pages */

/* Five events on two CPUs, one after a loss of 42 and a pause of a second. */
static void make_rings(struct made_ring *rings, int swap)
{
	struct bytes event = { .swap = swap };

	ring_init(&rings[0], swap);
	ring_init(&rings[1], swap);
	put_exit(&event, 77, 0, 1, 12);
	ring_add(&rings[0], 1000, &event);
	put_entry(&event, 77, 0);
	ring_add(&rings[0], 3000, &event);
	put_exit(&event, 78, 1, 1, 0x77);
	ring_add(&rings[1], 2000, &event);
	put_mmio(&event, 78, 2, 0xfee000b0);
	ring_add(&rings[1], 2000 + 1000000000, &event);
	ring_lose(&rings[1], 42);
	put_entry(&event, 78, 1);
	ring_add(&rings[1], 3000 + UINT64_C(1000000000), &event);
	bytes_release(&event);
}

static void make(struct bytes *file, int swap)
{
	struct made_ring rings[2];

	file->swap = swap;
	make_rings(rings, swap);
	put_dat6(file, rings, 2, world_formats, NR_WORLD_FORMATS, "[local] global");
}

static uint64_t number(const struct trace_event *event, const char *name)
{
	const struct trace_field *field = trace_field(event->type, name);

	assert_non_null(field);
	return trace_field_number(field, event);
}

static const struct trace_event *next_event(struct trace *trace, const char *name, uint64_t time,
					    int cpu)
{
	const struct trace_event *event = NULL;

	assert_int_equal(trace_next(trace, &event), 1);
	assert_int_equal(event->time, time);
	assert_int_equal(event->cpu, cpu);
	if (!name)
		assert_null(event->type);
	else
		assert_string_equal(event->type->name, name);
	return event;
}

static void check_guest(const struct trace *trace, uint64_t id, int32_t pid)
{
	struct trace_guest guest;
	int32_t vcpu = -1;

	assert_true(trace_guest(trace, 0, 0, &guest));
	assert_string_equal(guest.name, "web1");
	assert_int_equal(guest.trace_id, id);
	assert_int_equal(guest.pid, pid);
	assert_int_equal(guest.nr_vcpus, 2);
	assert_int_equal(guest.tids[1], 78);
	assert_false(trace_guest(trace, 0, 1, &guest));
	assert_int_equal(trace_guest_of(trace, 0, 78, &guest, &vcpu), 0);
	assert_int_equal(vcpu, 1);
	/* small-v7.dat is older than the list of other threads. */
	if (id == WORLD_GUEST_ID) {
		assert_int_equal(trace_guest_of(trace, 0, 75, &guest, &vcpu), 0);
		assert_int_equal(vcpu, -1);
	}
	assert_int_equal(trace_guest_of(trace, 0, 79, &guest, &vcpu), -1);
	assert_int_equal(trace_guest_of(trace, 0, -1, &guest, &vcpu), -1);
}

/* As many as kvmtop record keeps. */
TEST(guests_with_many_threads)
{
	struct bytes file = { .len = 0 };
	struct trace_guest guest;
	struct trace *trace;
	int32_t vcpu;

	world_more_threads = (1 << 20) - 1;
	make(&file, 0);
	world_more_threads = 0;
	save(path, file.data, file.len);
	bytes_release(&file);
	trace = open_it();
	check_guest(trace, WORLD_GUEST_ID, -1);
	assert_int_equal(trace_guest_of(trace, 0, 100000 + (1 << 20) - 2, &guest, &vcpu), 0);
	assert_string_equal(guest.name, "web1");
	trace_close(trace);
}

static void check_events(int swap)
{
	struct bytes file = { .len = 0 };
	const struct trace_event *event;
	const struct trace_info *info;
	struct trace *trace;

	make(&file, swap);
	save(path, file.data, file.len);
	bytes_release(&file);
	trace = open_it();
	info = trace_file(trace, 0);
	assert_int_equal(info->kind, TRACE_DAT);
	assert_int_equal(info->version, 6);
	assert_int_equal(info->nr_cpus, 2);
	assert_int_equal(info->clock, TRACE_CLOCK_NS);
	assert_string_equal(info->clock_name, "local");
	assert_string_equal(info->host, "alpha");
	assert_string_equal(info->release, "6.1.0");
	assert_string_equal(info->arch, "x86_64");
	check_guest(trace, WORLD_GUEST_ID, -1);

	event = next_event(trace, "kvm_exit", 1000, 0);
	assert_string_equal(event->type->system, "kvm");
	assert_int_equal(event->tid, 77);
	assert_int_equal(event->vcpu, 0);
	assert_int_equal(number(event, "exit_reason"), 12);
	assert_int_equal(number(event, "common_pid"), 77);
	assert_string_equal(trace_comm(trace, event), "CPU 0/KVM");
	assert_non_null(strstr(event->type->format, "FROM_THE_FUTURE"));
	event = next_event(trace, "kvm_exit", 2000, 1);
	assert_int_equal(event->vcpu, 1);
	assert_int_equal(number(event, "exit_reason"), 0x77);
	next_event(trace, "kvm_entry", 3000, 0);
	event = next_event(trace, "kvm_mmio", 2000 + 1000000000, 1);
	assert_int_equal(number(event, "gpa"), 0xfee000b0);
	assert_int_equal(event->vcpu, -1);
	event = next_event(trace, NULL, 3000 + 1000000000, 1);
	assert_int_equal(event->lost, 42);
	event = next_event(trace, "kvm_entry", 3000 + 1000000000, 1);
	assert_int_equal(event->tid, 78);
	assert_int_equal(trace_next(trace, &event), 0);
	assert_null(trace_problem(trace, 0));
	trace_close(trace);
}

TEST(every_event_of_version_6)
{
	check_events(0);
	check_events(1); /* of a machine with the other byte order */
}

/* On such a declaration libtraceevent 1.7 crashes. */
TEST(a_damaged_format_is_one_problem)
{
	static const char damaged[] =
		"name: kvm_emulate_insn\nID: 102\n" COMMON_FIELDS
		"\tfield:__u8 insn[\0225];\toffset:8;\tsize:15;\tsigned:0;\n\n"
		"print fmt: \"%llx\", REC->rip\n";
	const char *formats[NR_WORLD_FORMATS];
	struct bytes file = { .len = 0 };
	struct made_ring rings[2];
	struct trace *trace;
	size_t problems;

	memcpy(formats, world_formats, sizeof(world_formats));
	formats[2] = formats[3] = damaged;
	make_rings(rings, 0);
	put_dat6(&file, rings, 2, formats, NR_WORLD_FORMATS, "[local]");
	save(path, file.data, file.len);
	trace = open_it();
	next_event(trace, "kvm_exit", 1000, 0);
	next_event(trace, "kvm_exit", 2000, 1);
	next_event(trace, "kvm_entry", 3000, 0);
	next_event(trace, "unknown", 2000 + 1000000000, 1);
	assert_int_equal(count_events(trace, &problems), 1);
	assert_int_equal(problems, 1);
	assert_string_equal(problem_text(trace_problem(trace, 0)),
			    "the format of an event is damaged");
	assert_memory_equal(file.data + problem_offset(trace_problem(trace, 0)), damaged, 20);
	trace_close(trace);
	bytes_release(&file);
}

TEST(cut_at_every_byte)
{
	struct bytes file = { .len = 0 };
	size_t last = 4, whole; /* the fifth is in the page that is cut first */

	make(&file, 0);
	whole = file.len;
	save(path, file.data, whole);
	for (size_t cut = whole - 1; cut >= 10; cut -= cut > HEADER_MAX ? 16 : 1) {
		struct trace *trace;
		size_t nr, problems;

		assert_int_equal(truncate(path, (off_t)cut), 0);
		trace = open_it();
		nr = count_events(trace, &problems);
		assert_int_in_range(problems, 1, 2);
		assert_int_equal(strncmp(trace_problem(trace, 0), path, strlen(path)), 0);
		assert_true(problem_offset(trace_problem(trace, 0)) <= whole);
		assert_true(nr <= last); /* a shorter file has no more */
		last = nr;
		trace_close(trace);
	}
	assert_int_equal(last, 0);
	bytes_release(&file);
}

/* Lengths that lie: of a page, and of a record within it. */
TEST(absurd_lengths)
{
	static const uint64_t commits[] = { WORLD_PAGE, 0x100000, 0x7000000, 0xc7ffffff };
	struct bytes file = { .len = 0 };
	struct trace *trace;
	size_t problems;

	make(&file, 0);
	for (size_t i = 0; i < sizeof(commits) / sizeof(commits[0]); i++) {
		set_u64(&file, file.len - WORLD_PAGE + 8, commits[i]);
		save(path, file.data, file.len);
		trace = open_it();
		assert_int_equal(count_events(trace, &problems), 4);
		assert_int_equal(problem_offset(trace_problem(trace, 0)), file.len - WORLD_PAGE);
		trace_close(trace);
	}

	set_u64(&file, file.len - WORLD_PAGE + 8, 500);
	file.data[file.len - WORLD_PAGE + 16] = 0; /* the length is in the next word, */
	memset(file.data + file.len - WORLD_PAGE + 20, 0x7f, 4); /* and is that */
	save(path, file.data, file.len);
	trace = open_it();
	assert_int_equal(count_events(trace, &problems), 4);
	assert_int_equal(problems, 1);
	trace_close(trace);
	bytes_release(&file);
}

TEST(clocks_and_kinds)
{
	static const struct {
		const char *text, *name;
		enum trace_clock clock;
	} clocks[] = {
		{ "local [x86-tsc] mono", "x86-tsc", TRACE_CLOCK_CYCLES },
		{ "counter", "counter", TRACE_CLOCK_COUNT },
		{ "![x86-tsc]", "x86-tsc", TRACE_CLOCK_CYCLES },
		{ "local global [mono]", "mono", TRACE_CLOCK_NS },
	};

	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		struct bytes file = { .len = 0 };
		struct made_ring ring;
		struct trace *trace;

		ring_init(&ring, 0);
		put_dat6(&file, &ring, 1, world_formats, NR_WORLD_FORMATS, clocks[i].text);
		save(path, file.data, file.len);
		bytes_release(&file);
		trace = open_it();
		assert_string_equal(trace_file(trace, 0)->clock_name, clocks[i].name);
		assert_int_equal(trace_file(trace, 0)->clock, clocks[i].clock);
		trace_close(trace);
	}
}

/* A terminal must not get what a file has in its texts. */
TEST(texts_have_no_control_characters)
{
	struct bytes file = { .len = 0 };
	struct made_ring ring;
	struct trace *trace;
	uint8_t *at;

	ring_init(&ring, 0);
	world_buffer = "\x1b]0;x\a";
	put_dat6(&file, &ring, 1, world_formats, NR_WORLD_FORMATS, "[mo\x1b[2Jno]");
	world_buffer = NULL;
	at = memmem(file.data, file.len, "alpha 6.1.0 x86_64", 18);
	assert_non_null(at);
	at[2] = at[8] = at[14] = '\x9b';
	save(path, file.data, file.len);
	bytes_release(&file);
	trace = open_it();
	assert_string_equal(trace_file(trace, 0)->clock_name, "mo?[2Jno");
	assert_string_equal(trace_file(trace, 0)->host, "al?ha");
	assert_string_equal(trace_file(trace, 0)->release, "6.?.0");
	assert_string_equal(trace_file(trace, 0)->arch, "x8?_64");
	assert_string_equal(trace_file(trace, 1)->instance, "?]0;x?");
	trace_close(trace);
}

/* s390 calls the vCPU's number "id". Other events may have an id that is no vCPU. */
TEST(a_vcpu_of_s390)
{
	static const char *const formats[] = {
		"name: kvm_s390_sie_exit\nID: 100\n" COMMON_FIELDS
		"\tfield:int id;\toffset:8;\tsize:4;\tsigned:1;\n"
		"\tfield:unsigned long pswmask;\toffset:16;\tsize:8;\tsigned:0;\n\n"
		"print fmt: \"%02d\", REC->id\n",
		"name: kvm_other\nID: 101\n" COMMON_FIELDS
		"\tfield:int id;\toffset:8;\tsize:4;\tsigned:1;\n\n"
		"print fmt: \"%02d\", REC->id\n",
	};
	struct bytes file = { .len = 0 }, event = { .len = 0 };
	struct trace *trace;
	struct made_ring ring;

	ring_init(&ring, 0);
	for (uint32_t i = 0; i < 2; i++) {
		put_common(&event, (uint16_t)(100 + i), 77);
		put_u64(&event, 3);
		put_u64(&event, 0);
		ring_add(&ring, 5 + i, &event);
	}
	put_dat6(&file, &ring, 1, formats, 2, "[local]");
	save(path, file.data, file.len);
	bytes_release(&file);
	bytes_release(&event);
	trace = open_it();
	assert_int_equal(next_event(trace, "kvm_s390_sie_exit", 5, 0)->vcpu, 3);
	assert_int_equal(next_event(trace, "kvm_other", 6, 0)->vcpu, -1);
	trace_close(trace);
}

/* Two buffers; the second has what the first CPU recorded. */
static void save_two_buffers(void)
{
	struct bytes file = { .len = 0 }, event = { .len = 0 };
	struct made_ring rings[2];

	ring_init(&rings[0], 0);
	ring_init(&rings[1], 0);
	put_entry(&event, 77, 0);
	ring_add(&rings[0], 5, &event);
	put_entry(&event, 78, 1);
	ring_add(&rings[1], 6, &event);
	world_buffer = "second";
	put_dat6(&file, rings, 2, world_formats, NR_WORLD_FORMATS, "[local]");
	world_buffer = NULL;
	save(path, file.data, file.len);
	bytes_release(&file);
	bytes_release(&event);
}

/* An instance is a file of its own in the stream. An event that both recorded is one event. */
TEST(a_further_buffer)
{
	const struct trace_event *got;
	struct trace *trace;

	save_two_buffers();
	trace = open_it();
	assert_string_equal(trace_file(trace, 0)->instance, "");
	assert_string_equal(trace_file(trace, 1)->instance, "second");
	got = next_event(trace, "kvm_entry", 5, 0);
	assert_int_equal(got->file, 0);
	next_event(trace, "kvm_entry", 6, 1);
	assert_int_equal(trace_next(trace, &got), 0);
	assert_null(trace_problem(trace, 0));
	trace_close(trace);
}

static int open_buffer(const char *name, struct trace **ret_trace, struct error *error)
{
	const char *paths[] = { path };

	return trace_open(paths, 1, TRACE_ANY, name, ret_trace, error);
}

TEST(one_buffer_is_chosen)
{
	const struct trace_event *got;
	struct trace *trace;
	struct error error;

	save_two_buffers();
	assert_int_equal(open_buffer("third", &trace, &error), -EINVAL);
	assert_string_equal(error.text, "\"third\": no such buffer; there are: top, second");
	assert_int_equal(open_buffer("second", &trace, &error), 0);
	assert_true(trace_file(trace, 0)->is_left_out);
	got = next_event(trace, "kvm_entry", 5, 0);
	assert_int_equal(got->file, 1);
	assert_int_equal(got->thread_key, 77); /* as if it were the main buffer's */
	assert_string_equal(trace_comm(trace, got), "CPU 0/KVM");
	assert_int_equal(trace_next(trace, &got), 0);
	trace_close(trace);
	assert_int_equal(open_buffer("top", &trace, &error), 0);
	assert_int_equal(next_event(trace, "kvm_entry", 5, 0)->file, 0);
	next_event(trace, "kvm_entry", 6, 1);
	assert_int_equal(trace_next(trace, &got), 0);
	trace_close(trace);
}

/* Version 7: in the buffer "kvm" an event at 5000 cycles; `top`: in the main one at 6000 ns. */
static void save_two_clocks(bool top)
{
	struct bytes file = { .len = 0 }, event = { .len = 0 };
	struct made_ring rings[2];

	ring_init(&rings[0], 0);
	ring_init(&rings[1], 0);
	if (top) {
		put_mmio(&event, 77, 1, 0xfee00000);
		ring_add(&rings[0], 6000, &event);
	}
	put_entry(&event, 78, 1);
	ring_add(&rings[1], 5000, &event);
	/* Its pages are of 8 KiB. */
	ring_end_page(&rings[1]);
	put(&rings[1].bytes, NULL, WORLD_PAGE);
	world_buffer7 = (struct world_buffer7){ "kvm", "x86-tsc", 2 * WORLD_PAGE, &rings[1] };
	put_dat7(&file, rings, 1, "none", NULL);
	world_buffer7.name = NULL;
	save(path, file.data, file.len);
	bytes_release(&file);
	bytes_release(&event);
}

/* Of one buffer: its clock, and its only event. */
static void check_clock_of(const char *buffer, const char *clock, enum trace_clock unit,
			   const char *event, uint64_t time)
{
	const struct trace_event *got;
	struct trace *trace;
	struct error error;

	assert_int_equal(open_buffer(buffer, &trace, &error), 0);
	assert_string_equal(trace_clock_info(trace)->clock_name, clock);
	assert_int_equal(trace_clock_info(trace)->clock, unit);
	next_event(trace, event, time, 0);
	assert_int_equal(trace_next(trace, &got), 0);
	assert_null(trace_problem(trace, 0));
	trace_close(trace);
}

TEST(each_buffer_has_its_clock)
{
	struct trace *trace;
	struct error error;

	save_two_clocks(true);
	check_clock_of("kvm", "x86-tsc", TRACE_CLOCK_CYCLES, "kvm_entry", 5000);
	check_clock_of("top", "local", TRACE_CLOCK_NS, "kvm_mmio", 6000);
	assert_int_equal(open_buffer(NULL, &trace, &error), -EINVAL);
	assert_non_null(strstr(error.text,
			       ": its buffers \"top\" and \"kvm\" have different clocks "
			       "(local, x86-tsc): choose one with --buffer"));
	/* Nothing is compared with the clock of an empty buffer. */
	save_two_clocks(false);
	check_clock_of(NULL, "x86-tsc", TRACE_CLOCK_CYCLES, "kvm_entry", 5000);
	/* How long a cycle is does not concern the other clock. */
	world_tsc = (struct world_tsc){ 1 << 9, 10 };
	save_two_clocks(true);
	world_tsc.mult = 0;
	check_clock_of("kvm", "x86-tsc", TRACE_CLOCK_NS, "kvm_entry", 2500);
	check_clock_of("top", "local", TRACE_CLOCK_NS, "kvm_mmio", 6000);
}

/* trace-cmd record -B kvm -C x86-tsc: the main buffer is empty, and its clock stands for both. */
TEST(the_clock_of_a_single_buffer)
{
	struct bytes file = { .len = 0 }, event = { .len = 0 };
	struct made_ring ring;

	for (int i = 0; i < 2; i++) {
		const char *clock = i ? "tsc2nsec" : "local";

		file.len = 0;
		ring_init(&ring, 0);
		put_entry(&event, 78, 1);
		ring_add(&ring, 5000, &event);
		world_buffer7 = (struct world_buffer7){ "kvm", clock, WORLD_PAGE, &ring };
		world_clock7 = "local global [x86-tsc]\n";
		put_dat7(&file, NULL, 0, "none", NULL);
		world_buffer7.name = world_clock7 = NULL;
		save(path, file.data, file.len);
		check_clock_of(NULL, i ? "tsc2nsec" : "x86-tsc", TRACE_CLOCK_CYCLES, "kvm_entry",
			       5000);
	}
	bytes_release(&file);
	bytes_release(&event);
}

/* Whether the buffer "kvm", with an event at this time beside one at 6 us, has another clock. */
static bool has_wrong_clock(uint64_t time)
{
	struct bytes file = { .len = 0 }, event = { .len = 0 };
	const struct trace_info *one, *other;
	struct made_ring rings[2];
	struct trace *trace;
	size_t problems;
	bool is_wrong;

	ring_init(&rings[0], 0);
	ring_init(&rings[1], 0);
	put_mmio(&event, 77, 1, 0xfee00000);
	ring_add(&rings[0], 6000, &event);
	put_entry(&event, 78, 1);
	ring_add(&rings[1], time, &event);
	world_buffer7 = (struct world_buffer7){ "kvm", "local", WORLD_PAGE, &rings[1] };
	put_dat7(&file, rings, 1, "none", NULL);
	world_buffer7.name = NULL;
	save(path, file.data, file.len);
	bytes_release(&file);
	bytes_release(&event);
	trace = open_it();
	assert_int_equal(count_events(trace, &problems), 2);
	is_wrong = trace_has_wrong_clock(trace, &one, &other);
	if (is_wrong)
		assert_string_equal(trace_buffer_name(other), "kvm");
	trace_close(trace);
	return is_wrong;
}

TEST(a_clock_that_is_another)
{
	assert_false(has_wrong_clock(UINT64_C(60000000000)));
	assert_true(has_wrong_clock(UINT64_C(60000006001)));
}

static bool is_repeat(struct repeats *repeats, unsigned int buffer, uint64_t time, uint8_t content)
{
	static const struct trace_type type;
	const uint8_t data[] = { 1, 0, buffer, buffer, 77, 0, 0, 0, content };
	const struct trace_event event = { .time = time, .type = &type, .data = data,
					   .size = sizeof(data) };

	return repeats_has(repeats, buffer, &event);
}

TEST(what_repeats_is_told_by_content_and_time)
{
	struct repeats repeats = { .next = 0 };

	assert_false(is_repeat(&repeats, 0, 100, 'a'));
	assert_true(is_repeat(&repeats, 1, 101, 'a'));
	assert_true(is_repeat(&repeats, 2, 102, 'a'));
	assert_false(is_repeat(&repeats, 1, 103, 'a')); /* the second of this content */
	assert_true(is_repeat(&repeats, 0, 104, 'a'));
	assert_false(is_repeat(&repeats, 0, 200, 'b')); /* an interrupt between the buffers */
	assert_false(is_repeat(&repeats, 0, 210, 'c'));
	assert_true(is_repeat(&repeats, 1, 211, 'c'));
	assert_true(is_repeat(&repeats, 1, 220, 'b'));
	assert_false(is_repeat(&repeats, 0, 300, 'd'));
	assert_false(is_repeat(&repeats, 1, 301 + REPEATS_UNITS, 'd'));
}

/* Between fields, and after them, are bytes of what was in the buffer before. */
TEST(what_is_no_field_is_not_compared)
{
	static const struct trace_field fields[] = {
		{ .name = "vcpu_id", .offset = 8, .size = 1 },
		{ .name = "rip", .offset = 10, .size = 2 },
	};
	static const struct trace_type type = { .fields = fields, .nr_fields = 2 };
	static const uint8_t data[][13] = {
		{ [8] = 1, [9] = 0xaa, [10] = 5, [11] = 6, [12] = 0xaa },
		{ [8] = 1, [9] = 0xbb, [10] = 5, [11] = 6, [12] = 0xcc },
		{ [8] = 1, [9] = 0xaa, [10] = 5, [11] = 7, [12] = 0xaa },
	};
	struct repeats repeats = { .next = 0 };
	struct trace_event event = { .type = &type, .size = sizeof(data[0]) };

	for (unsigned int i = 0; i < 3; i++) {
		event.data = data[i];
		event.time = 100 + i * 3000000;
		assert_int_equal(repeats_has(&repeats, i, &event), i == 1);
	}
}

/* Cycles become ns where the file says how: here of 2 GHz. */
TEST(cycles_become_ns)
{
	static const struct world_tsc tscs[] = { { 1 << 9, 10 }, { UINT32_C(1) << 31, 32 },
						 { 1 << 20, 21 },
						 { UINT32_C(0xfffffffe), 33 } };

	for (size_t i = 0; i < sizeof(tscs) / sizeof(tscs[0]); i++) {
		uint64_t cycles = UINT64_C(0x123456789abcdef0), wanted = cycles / 2;
		struct bytes file = { .len = 0 }, event = { .len = 0 };
		const struct trace_event *got;
		struct made_ring ring;
		struct trace *trace;

		ring_init(&ring, 0);
		put_entry(&event, 77, 0);
		ring_add(&ring, cycles, &event);
		world_tsc = tscs[i];
		put_dat6(&file, &ring, 1, world_formats, NR_WORLD_FORMATS, "[x86-tsc]");
		world_tsc.mult = 0;
		save(path, file.data, file.len);
		bytes_release(&file);
		bytes_release(&event);
		trace = open_it();
		assert_int_equal(trace_file(trace, 0)->clock, TRACE_CLOCK_NS);
		assert_int_in_range(trace_file(trace, 0)->tsc_khz, 1999999, 2000001);
		assert_int_equal(trace_next(trace, &got), 1);
		assert_int_in_range(got->time, wanted - wanted / 1000000000, wanted);
		trace_close(trace);
	}
}

/* trace-cmd made it of a file of version 6 with the same five events. */
TEST(version_7)
{
	const char *paths[] = { "tests/data/trace/small-v7.dat" };
	const struct trace_event *event;
	struct trace *trace;
	struct error error;

	assert_int_equal(trace_open(paths, 1, TRACE_ANY, NULL, &trace, &error), 0);
	assert_int_equal(trace_file(trace, 0)->version, 7);
	assert_string_equal(trace_file(trace, 0)->release, "6.1.0");
	check_guest(trace, 0x1234, 0x1234); /* no random number of trace-cmd's */
	event = next_event(trace, "kvm_exit", 1000, 0);
	assert_int_equal(event->tid, 77);
	assert_string_equal(trace_comm(trace, event), "CPU 0/KVM");
	assert_non_null(strstr(event->type->format, "FROM_THE_FUTURE"));
	event = next_event(trace, "kvm_exit", 2000, 1);
	assert_int_equal(number(event, "exit_reason"), 0x77);
	next_event(trace, "kvm_entry", 3000, 0);
	next_event(trace, "kvm_mmio", 2000 + 1000000000, 1);
	event = next_event(trace, NULL, 3000 + 1000000000, 1);
	assert_int_equal(event->lost, 42);
	next_event(trace, "kvm_entry", 3000 + 1000000000, 1);
	assert_int_equal(trace_next(trace, &event), 0);
	assert_null(trace_problem(trace, 0));
	trace_close(trace);
}

TEST(version_7_with_a_further_buffer)
{
	const char *paths[] = { "tests/data/trace/buffers-v7.dat" };
	const struct trace_event *got;
	struct trace *trace;
	struct error error;

	assert_int_equal(trace_open(paths, 1, TRACE_ANY, NULL, &trace, &error), 0);
	assert_string_equal(trace_file(trace, 1)->instance, "second");
	next_event(trace, "kvm_entry", 5000, 0);
	next_event(trace, "kvm_entry", 6000, 1);
	assert_int_equal(trace_next(trace, &got), 0);
	assert_null(trace_problem(trace, 0));
	trace_close(trace);
}

/* ---- compressions of version 7 */

static size_t deflate_zlib(const struct bytes *from, uint8_t *to, size_t room)
{
	uLongf size = room;

	return compress2(to, &size, from->data, from->len, Z_BEST_COMPRESSION) == Z_OK ? size : 0;
}

static size_t deflate_zstd(const struct bytes *from, uint8_t *to, size_t room)
{
	size_t size = ZSTD_compress(to, room, from->data, from->len, 3);

	return ZSTD_isError(size) ? 0 : size;
}

/* Bytes that this process has from malloc(). */
static size_t allocated(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* Chunks of 10 MiB each: empty pages, of which a thousandth is in the file. */
TEST(chunks_that_claim_too_much)
{
	struct bytes file = { .len = 0 }, event = { .len = 0 };
	size_t before;
	struct made_ring rings[3];
	struct trace *trace;
	size_t problems;

	for (uint32_t cpu = 0; cpu < 3; cpu++) {
		ring_init(&rings[cpu], 0);
		put_entry(&event, 77, cpu);
		ring_add(&rings[cpu], 1000 + cpu, &event);
		ring_end_page(&rings[cpu]);
		put(&rings[cpu].bytes, NULL, 10 << 20);
	}
	bytes_release(&event);
	put_dat7(&file, rings, 3, "zlib", deflate_zlib);
	save(path, file.data, file.len);
	bytes_release(&file);
	before = allocated();
	trace = open_it();
	assert_int_equal(count_events(trace, &problems), 1);
	assert_int_equal(problems, 2);
	assert_string_equal(problem_text(trace_problem(trace, 0)),
			    "CPU 1: a chunk claims too much for such a small file");
	/* What was read has given its memory back before it is closed. */
	assert_in_range(allocated(), 0, before + (1 << 20));
	trace_close(trace);
}

static const struct compression {
	const char *name;
	world_deflate *deflate;
} compressions[] = {
	{ "none", NULL },
	{ "zlib", deflate_zlib },
	{ "zstd", deflate_zstd },
};

/* The events of make(). */
static void make7(struct bytes *file, int swap, const struct compression *compression)
{
	struct made_ring rings[2];

	file->swap = swap;
	make_rings(rings, swap);
	put_dat7(file, rings, 2, compression->name, compression->deflate);
}

TEST(every_compression)
{
	for (size_t i = 0; i < 2 * sizeof(compressions) / sizeof(compressions[0]); i++) {
		struct bytes file = { .len = 0 };
		const struct trace_event *event;
		struct trace *trace;

		make7(&file, i % 2, &compressions[i / 2]);
		save(path, file.data, file.len);
		bytes_release(&file);
		trace = open_it();
		assert_int_equal(trace_file(trace, 0)->version, 7);
		check_guest(trace, WORLD_GUEST_ID, -1);
		event = next_event(trace, "kvm_exit", 1000, 0);
		assert_string_equal(trace_comm(trace, event), "CPU 0/KVM");
		event = next_event(trace, "kvm_exit", 2000, 1);
		assert_int_equal(number(event, "exit_reason"), 0x77);
		next_event(trace, "kvm_entry", 3000, 0);
		event = next_event(trace, "kvm_mmio", 2000 + 1000000000, 1);
		assert_int_equal(number(event, "gpa"), 0xfee000b0);
		next_event(trace, NULL, 3000 + 1000000000, 1);
		next_event(trace, "kvm_entry", 3000 + 1000000000, 1);
		assert_int_equal(trace_next(trace, &event), 0);
		assert_null(trace_problem(trace, 0));
		trace_close(trace);
	}
}

static void set_byte(size_t at, uint8_t byte)
{
	FILE *file = fopen(path, "r+");

	if (!file || fseek(file, (long)at, SEEK_SET) < 0 || putc(byte, file) == EOF ||
	    fclose(file) != 0)
		abort();
}

/* zlib has a checksum behind each block: no byte of one can be changed without a problem. */
TEST(damaged_zlib)
{
	struct bytes file = { .len = 0 };
	size_t nr, problems, nr_damaged = 0;

	make7(&file, 0, &compressions[1]);
	save(path, file.data, file.len);
	for (size_t at = 12; at < file.len; at++) {
		struct trace *trace;

		set_byte(at, file.data[at] ^ 0x55);
		trace = open_it();
		nr = count_events(trace, &problems);
		assert_true(nr == 5 || problems > 0);
		nr_damaged += problems > 0;
		trace_close(trace);
		set_byte(at, file.data[at]);
	}
	assert_int_in_range(nr_damaged, file.len - 100, file.len); /* else nothing was tried */
	for (size_t cut = file.len - 1; cut >= 12; cut--) {
		struct trace *trace;

		assert_int_equal(truncate(path, (off_t)cut), 0);
		trace = open_it();
		nr = count_events(trace, &problems);
		assert_true(nr < 5 && problems > 0);
		trace_close(trace);
	}
	bytes_release(&file);
}

TEST(a_compression_that_is_not_known)
{
	static const struct compression rar = { "rar5", deflate_zlib };
	struct bytes file = { .len = 0 };
	const struct trace_event *event;
	struct trace *trace;

	make7(&file, 0, &rar);
	save(path, file.data, file.len);
	bytes_release(&file);
	trace = open_it();
	assert_int_equal(trace_next(trace, &event), 0);
	assert_non_null(strstr(trace_problem(trace, 0), "\"rar5\""));
	assert_non_null(strstr(trace_problem(trace, 0), "convert --compression none"));
	assert_null(trace_problem(trace, 1));
	trace_close(trace);
}

static size_t read_sample(const char *name, uint8_t *data, size_t size)
{
	FILE *file = fopen(name, "r");
	size_t len;

	assert_non_null(file);
	len = fread(data, 1, size, file);
	fclose(file);
	return len;
}

TEST(version_7_cut)
{
	static uint8_t data[65536];
	size_t len = read_sample("tests/data/trace/small-v7.dat", data, sizeof(data));
	size_t nr, problems;

	for (size_t cut = 12; cut < len; cut += cut < 300 ? 1 : 37) {
		struct trace *trace;

		save(path, data, cut);
		trace = open_it();
		nr = count_events(trace, &problems);
		assert_true(nr == 5 || problems > 0); /* all, where it is the end of a page */
		assert_true(nr < 5 || cut > len - 4096);
		trace_close(trace);
	}
}

/* ---- damage that would take much memory or time */

/* A guest has no more vCPUs than its option has room for. */
TEST(more_vcpus_than_the_option_has)
{
	const uint64_t id = WORLD_GUEST_ID;
	struct bytes file = { .len = 0 };
	struct trace_guest guest;
	struct trace *trace;
	size_t problems;
	uint8_t *at;

	make(&file, 0);
	at = memmem(file.data, file.len, &id, sizeof(id));
	assert_non_null(at);
	at[8] = 5; /* two, and the list of other threads, are there */
	save(path, file.data, file.len);
	bytes_release(&file);
	trace = open_it();
	assert_false(trace_guest(trace, 0, 0, &guest));
	assert_int_equal(count_events(trace, &problems), 5);
	assert_int_equal(problems, 0);
	trace_close(trace);
}

/* Options of a few bytes each claim a buffer each: no more are taken than any recorder makes. */
TEST(too_many_buffers)
{
	enum { NR = 5000, MOST = 4096 };
	struct bytes whole = { .len = 0 }, file = { .len = 0 };
	const uint8_t *options;
	struct trace *trace;
	size_t begin;

	make(&whole, 0);
	options = memmem(whole.data, whole.len, "options  ", 10);
	assert_non_null(options);
	begin = (size_t)(options - whole.data) + 10;
	put(&file, whole.data, begin);
	for (int i = 0; i < NR; i++)
		put_option(&file, 3, "\0\0\0\0\0\0\0\0", 9);
	put(&file, whole.data + begin, whole.len - begin);
	save(path, file.data, file.len);
	bytes_release(&whole);
	bytes_release(&file);
	trace = open_it();
	assert_non_null(trace_file(trace, MOST));
	assert_null(trace_file(trace, MOST + 1));
	trace_close(trace);
}

/* A list of options belongs to one buffer: else a long one is read as often as they like. */
TEST(buffers_with_the_same_options)
{
	enum { NR = 1000, NR_OPTIONS = 30000 };
	struct bytes whole = { .len = 0 }, file = { .len = 0 };
	uint8_t option[9] = { 0 };
	const uint8_t *options;
	struct trace *trace;
	uint64_t list;
	size_t begin;

	make(&whole, 0);
	options = memmem(whole.data, whole.len, "options  ", 10);
	assert_non_null(options);
	begin = (size_t)(options - whole.data) + 10;
	list = whole.len + (size_t)NR * (2 + 4 + sizeof(option));
	memcpy(option, &list, sizeof(list));
	put(&file, whole.data, begin);
	for (int i = 0; i < NR; i++)
		put_option(&file, 3, option, sizeof(option));
	put(&file, whole.data + begin, whole.len - begin);
	assert_int_equal(file.len, list);
	put(&file, "options  ", 10);
	for (int i = 0; i < NR_OPTIONS; i++)
		put_option(&file, 100, "", 0);
	put_u16(&file, 0);
	put(&file, "flyrecord", 10);
	put(&file, NULL, 64);
	save(path, file.data, file.len);
	bytes_release(&whole);
	bytes_release(&file);
	trace = open_it();
	assert_non_null(trace_file(trace, 1));
	assert_null(trace_file(trace, 4));
	assert_non_null(trace_problem(trace, 0));
	trace_close(trace);
}

/* Pages belong to one CPU: else a table that many buffers name is as many CPUs as they like. */
TEST(two_cpus_with_the_same_pages)
{
	struct bytes file = { .len = 0 }, event = { .len = 0 };
	struct trace *trace;
	struct made_ring rings[2];
	size_t problems;
	uint8_t *table;

	ring_init(&rings[0], 0);
	ring_init(&rings[1], 0);
	for (uint64_t i = 1; i <= 20; i++) {
		put_entry(&event, 77, 0);
		ring_add(&rings[0], i, &event);
		ring_end_page(&rings[0]);
	}
	put_entry(&event, 78, 1);
	ring_add(&rings[1], 30, &event);
	put_dat6(&file, rings, 2, world_formats, NR_WORLD_FORMATS, "[local]");
	table = memmem(file.data, file.len, "flyrecord", 10);
	assert_non_null(table);
	memcpy(table + 10 + 16, table + 10, 16);
	save(path, file.data, file.len);
	bytes_release(&file);
	bytes_release(&event);
	trace = open_it();
	assert_int_equal(count_events(trace, &problems), 20);
	assert_int_equal(problems, 1);
	trace_close(trace);
}

/* The name of version 7's buffer has no end, so there is no buffer. */
TEST(a_name_without_an_end)
{
	static const uint8_t name[] = "\0local";
	struct bytes file = { .len = 0 };
	struct trace *trace;
	size_t problems;
	uint8_t *at;

	make7(&file, 0, &compressions[0]);
	at = memmem(file.data, file.len, name, sizeof(name));
	assert_non_null(at);
	put(&file, NULL, 300);
	at = memmem(file.data, file.len, name, sizeof(name));
	memset(at, 'x', (size_t)(file.data + file.len - at));
	save(path, file.data, file.len);
	bytes_release(&file);
	trace = open_it();
	assert_null(trace_file(trace, 1));
	assert_int_equal(count_events(trace, &problems), 0);
	assert_int_equal(problems, 1);
	trace_close(trace);
}

/* A recorder that was killed, or could not begin, leaves version 7's header without a buffer. */
TEST(an_interrupted_version_7)
{
	struct bytes file = { .len = 0 }, options = { .len = 0 };
	struct trace *trace;
	size_t first, problems;

	put_machine(&file, "7", WORLD_PAGE);
	put(&file, "none\0001.0", 9);
	first = file.len;
	put_u64(&file, 0);
	put_place(&options, 0, 0);
	set_u64(&file, first, put_section(&file, 0, &options, NULL));
	save(path, file.data, file.len);
	bytes_release(&file);
	trace = open_it();
	assert_int_equal(count_events(trace, &problems), 0);
	assert_int_equal(problems, 1);
	assert_non_null(strstr(trace_problem(trace, 0), "interrupted"));
	trace_close(trace);
}

/* The list of options names itself as the next one. */
TEST(a_list_after_itself)
{
	struct bytes file = { .len = 0 };
	struct trace_guest guest;
	struct trace *trace;
	size_t problems;
	uint64_t list;

	make7(&file, 0, &compressions[0]);
	memcpy(&list, (uint8_t *)memmem(file.data, file.len, "1.0", 4) + 4, sizeof(list));
	set_u64(&file, file.len - 8, list);
	save(path, file.data, file.len);
	bytes_release(&file);
	trace = open_it();
	assert_true(trace_guest(trace, 0, 1, &guest));
	assert_false(trace_guest(trace, 0, 500, &guest));
	count_events(trace, &problems);
	assert_int_in_range(problems, 1, 2);
	trace_close(trace);
}

/* A file whose options name one section of formats 80 times; then it is opened. */
static struct trace *open_often_named(struct bytes *section, world_deflate *deflate)
{
	struct bytes file = { .len = 0 }, options = { .len = 0 };
	size_t first, at;

	put_machine(&file, "7", WORLD_PAGE);
	put(&file, "zlib\0001.0", 9);
	first = file.len;
	put_u64(&file, 0);
	at = put_section(&file, 18, section, deflate);
	for (int i = 0; i < 80; i++)
		put_place(&options, 18, at);
	put_place(&options, 0, 0);
	set_u64(&file, first, put_section(&file, 0, &options, NULL));
	save(path, file.data, file.len);
	bytes_release(&file);
	return open_it();
}

/* A section of 1 KB becomes 1 MB, each time that it is named. */
TEST(a_section_many_times)
{
	struct bytes section = { .len = 0 };
	struct trace *trace;
	size_t problems;

	put_u32(&section, 1);
	put(&section, "kvm", 4);
	put_u32(&section, 1);
	put_u64(&section, 1 << 20);
	put(&section, NULL, 1 << 20);
	trace = open_often_named(&section, deflate_zlib);
	assert_int_equal(count_events(trace, &problems), 0);
	assert_int_equal(problems, 2); /* the first format, and then a section too many */
	trace_close(trace);
}

/* The same without compression: each time takes as long as the first. */
TEST(a_plain_section_many_times)
{
	struct bytes section = { .len = 0 };
	struct trace *trace;
	size_t problems;

	put_u32(&section, 0);
	trace = open_often_named(&section, NULL);
	assert_int_equal(count_events(trace, &problems), 0);
	assert_int_equal(problems, 1);
	trace_close(trace);
}

/* A buffer has no more CPUs than its option has room for. */
TEST(more_cpus_than_the_option_has)
{
	static const uint8_t name[] = "second\0local";
	static uint8_t data[65536];
	size_t len = read_sample("tests/data/trace/buffers-v7.dat", data, sizeof(data));
	struct trace *trace;
	size_t problems;
	uint8_t *at;

	at = memmem(data, len, name, sizeof(name));
	assert_non_null(at);
	save(path, data, len);
	trace = open_it();
	assert_non_null(trace_file(trace, 1));
	trace_close(trace);
	at[sizeof(name) + sizeof(uint32_t)] = 2; /* it has one */
	save(path, data, len);
	trace = open_it();
	assert_null(trace_file(trace, 1));
	count_events(trace, &problems);
	assert_int_equal(problems, 1);
	trace_close(trace);
}

/* ---- a guest's file beside its host's */

/* One event on each of two CPUs, at these times. */
static void make_two(uint64_t first, uint64_t second, const char *to)
{
	struct bytes file = { .len = 0 }, event = { .len = 0 };
	struct made_ring rings[2];

	ring_init(&rings[0], 0);
	ring_init(&rings[1], 0);
	put_entry(&event, 77, 0);
	ring_add(&rings[0], first, &event);
	put_exit(&event, 78, 1, 1, 12);
	ring_add(&rings[1], second, &event);
	put_dat6(&file, rings, 2, world_formats, NR_WORLD_FORMATS, "[x86-tsc]");
	save(to, file.data, file.len);
	bytes_release(&file);
	bytes_release(&event);
}

/* The guest's two times on the host's clock. */
static void check_shift(const struct world_shift *shift, uint64_t first, uint64_t second)
{
	char host[80];
	const char *const paths[] = { path, host };
	struct trace *trace = NULL;
	struct error error = { "" };

	snprintf(host, sizeof(host), "%s.host", path);
	world_shift = (struct world_shift){ .id = 0xa11 };
	make_two(1, UINT64_C(1) << 60, host);
	world_shift = *shift;
	make_two(5000, 9000, path);
	world_shift = (struct world_shift){ .id = 0 };
	assert_int_equal(trace_open(paths, 2, TRACE_ANY, NULL, &trace, &error), 0);
	assert_int_equal(trace_file(trace, 0)->host_id, shift->host_id);
	assert_int_equal(trace_file(trace, 1)->host_id, 0);
	next_event(trace, "kvm_entry", 1, 0);
	next_event(trace, "kvm_entry", first, 0);
	next_event(trace, "kvm_exit", second, 1);
	trace_close(trace);
	unlink(host);
}

TEST(a_guest_is_on_its_host_s_clock)
{
	static const uint64_t one[][3] = { { 0, (uint64_t)-4000, 1 } };
	static const uint64_t steps[][3] = { { 8000, 300, 1 }, { 4000, 200, 1 }, { 1, 100, 1 } };
	static const uint64_t far[][3] = { { 0, (uint64_t)-2, 1 },
					   { UINT64_C(1) << 62, INT64_MAX, 1 } };
	static const uint64_t scaled[][3] = { { 1, 7, UINT64_C(3) << 47 } };
	static const uint64_t nothing[][3] = { { 1, 7, 0 } };
	struct world_shift shift = { .id = 2, .host_id = 0xa11, .nr = 1, .samples = one };

	check_shift(&shift, 1000, 5000);
	shift.nr = 3;
	shift.samples = steps;
	check_shift(&shift, 5200, 9300);
	shift.flags = 1; /* on the line through two of them, the last two at the end */
	check_shift(&shift, 5225, 9325);
	shift.nr = 2;
	shift.samples = far; /* the offsets differ by more than 63 bits */
	check_shift(&shift, 14998, 26998);
	shift.flags = 0;
	shift.nr = 1;
	shift.samples = scaled;
	shift.fraction = 48;
	check_shift(&shift, 7507, 13507);
	shift.samples = nothing;
	check_shift(&shift, 5007, 9007);
	shift.nr = 0;
	check_shift(&shift, 5000, 9000);
	shift.offset = "-1000";
	check_shift(&shift, 4000, 8000);
	shift.host_id = 0;
	check_shift(&shift, 4000, 8000);
}

/* A file of one version or the other, without events. */
static void make_without_events(bool is_7, world_deflate *deflate, const char *to)
{
	struct bytes file = { .len = 0 };
	struct made_ring rings[2];

	ring_init(&rings[0], 0);
	ring_init(&rings[1], 0);
	if (is_7)
		put_dat7(&file, rings, 2, deflate ? "zlib" : "none", deflate);
	else
		put_dat6(&file, rings, 2, world_formats, NR_WORLD_FORMATS, "[local]");
	save(to, file.data, file.len);
	bytes_release(&file);
}

/* The symbol of an address of web1's by its own file; "": none. */
static const char *symbol_of_web1(bool is_7, world_deflate *deflate, const char *list,
				  uint64_t host_id)
{
	static const uint64_t none[][3] = { { 0, 0, 1 } };
	static char name[64];
	char host[80];
	const char *const paths[] = { path, host };
	const struct kallsyms *symbols;
	struct trace *trace = NULL;
	struct error error = { "" };

	snprintf(host, sizeof(host), "%s.host", path);
	world_shift = (struct world_shift){ .id = 0xa11 };
	make_without_events(false, NULL, host);
	world_shift = (struct world_shift){ .id = WORLD_GUEST_ID, .host_id = host_id, .nr = 1,
					    .samples = none };
	world_symbols = list;
	make_without_events(is_7, deflate, path);
	world_symbols = "";
	world_shift = (struct world_shift){ .id = 0 };
	assert_int_equal(trace_open(paths, 2, TRACE_ANY, NULL, &trace, &error), 0);
	symbols = trace_guest_symbols(trace, 1, 0);
	assert_ptr_equal(symbols, trace_guest_symbols(trace, 1, 0));
	assert_null(trace_guest_symbols(trace, 1, 1)); /* no such guest */
	name[0] = '\0';
	if (symbols)
		kallsyms_name(symbols, 0xffffffff81000105, name, sizeof(name));
	trace_close(trace);
	unlink(host);
	return name;
}

TEST(symbols_of_a_guest)
{
	static const char list[] = "ffffffff81000000 T _text\nffffffff81000100 t do_idle\n";

	assert_string_equal(symbol_of_web1(false, NULL, list, 0xa11), "do_idle+0x5");
	assert_string_equal(symbol_of_web1(true, NULL, list, 0xa11), "do_idle+0x5");
	assert_string_equal(symbol_of_web1(true, deflate_zlib, list, 0xa11), "do_idle+0x5");
	assert_string_equal(symbol_of_web1(false, NULL, list, 0xa12), ""); /* another host's */
	assert_string_equal(symbol_of_web1(false, NULL, "", 0xa11), "");
	assert_string_equal(symbol_of_web1(false, NULL, "no symbols\n", 0xa11), "");
	assert_string_equal(symbol_of_web1(true, NULL, "0000000000000000 T _text\n", 0xa11), "");
}

/* What is said to be more than there is. */
TEST(a_shift_that_makes_no_sense)
{
	static const uint64_t one[][3] = { { 0, 1, 1 } };
	struct bytes file = { .len = 0 };
	struct made_ring rings[2];
	struct trace *trace;
	uint8_t *at;

	ring_init(&rings[0], 0);
	ring_init(&rings[1], 0);
	world_shift.host_id = 0x1122334455667788;
	world_shift.nr = 1;
	world_shift.samples = one;
	put_dat6(&file, rings, 2, world_formats, NR_WORLD_FORMATS, "[x86-tsc]");
	world_shift = (struct world_shift){ .id = 0 };
	at = memmem(file.data, file.len, "\x88\x77\x66\x55\x44\x33\x22\x11", 8);
	assert_non_null(at);
	for (size_t word = 12; word <= 16; word += 4) {
		memset(at + word, 0xff, 4);
		save(path, file.data, file.len);
		trace = open_it();
		assert_int_equal(trace_file(trace, 0)->host_id, 0);
		trace_close(trace);
	}
	bytes_release(&file);
}

GROUP(set_up, tear_down);
