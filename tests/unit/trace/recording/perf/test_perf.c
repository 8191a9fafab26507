/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_perf - a perf.data made byte by byte: events in order of time, losses, cut files.
 */
#include <errno.h>
#include <sys/wait.h>
#include <zstd.h>

#include "tests/unit/unit.h"
#include "tests/worlds/cmocka_range.h"
#include "tests/worlds/trace_file.h"

/* How many samples put_records() puts. */
#define NR_SAMPLES 7

/* CPU 1's first pieces come after later ones of CPU 0. */
static void put_records(struct bytes *file)
{
	struct bytes event = { .swap = file->swap };

	put_perf_comm(file, 70, 70, "qemu");
	put_perf_comm(file, 70, 77, "CPU 0/KVM");
	put_perf_comm(file, 70, 78, "a\x1b[2J\xe3\x83\x87\xe3\x83"); /* is cut within a letter */
	put_exit(&event, 77, 0, 1, 12);
	put_sample(file, 1000, 0, 70, 77, &event);
	put_entry(&event, 77, 0);
	put_sample(file, 4000, 0, 70, 77, &event);
	put_exit(&event, 78, 1, 2, 0x7c);
	put_sample(file, 2000, 1, 70, 78, &event);
	put_round(file);
	put_exit(&event, 77, 0, 1, 30);
	put_sample(file, 6000, 0, 70, 77, &event);
	put_entry(&event, 78, 1);
	put_sample(file, 3000, 1, 70, 78, &event); /* older than what was there before the mark */
	put_round(file);
	put_exit(&event, 78, 1, 2, 0x7c);
	put_sample(file, 5000, 1, 70, 78, &event); /* older than CPU 0's last before the mark */
	put_perf_lost(file, 6500, 0, 7);
	put_entry(&event, 77, 0);
	put_sample(file, 7000, 0, 70, 77, &event);
	put_round(file);
	put_round(file);
	bytes_release(&event);
}

/* Records are 72 to 88 bytes here. Returns where they end. */
static size_t make(struct bytes *file, int swap)
{
	size_t data, end;

	file->swap = swap;
	put_perf_header(file);
	data = file->len;
	put_records(file);
	end = file->len;
	put_perf_features(file, data, "AuthenticAMD,25,1,1");
	return end;
}

/*
 * As perf record -z: the stream is cut into records anywhere. `type`: 81, or 83, which says how
 * much of it counts.
 */
static void put_compressed(struct bytes *file, const struct bytes *records, uint32_t type)
{
	size_t size = ZSTD_compressBound(records->len), at = 0;
	char *packed = malloc(size);

	assert_non_null(packed);
	size = ZSTD_compress(packed, size, records->data, records->len, 1);
	assert_false(ZSTD_isError(size));
	while (at < size) {
		size_t n = size - at < 100 ? size - at : 100;

		put_record(file, type, type == 83 ? 8 + (n + 7) / 8 * 8 : n);
		if (type == 83)
			put_u64(file, n);
		put(file, packed + at, n);
		if (type == 83)
			put(file, NULL, (8 - n % 8) % 8);
		at += n;
	}
	free(packed);
}

static void make_compressed(struct bytes *file, uint32_t type)
{
	struct bytes records = { .len = 0 };
	size_t data;

	put_perf_header(file);
	data = file->len;
	put_records(&records);
	put_compressed(file, &records, type);
	put_perf_features(file, data, "AuthenticAMD,25,1,1");
	bytes_release(&records);
}

static void make_piped(struct bytes *file, int swap)
{
	file->swap = swap;
	put_perf_pipe_header(file);
	put_perf_pipe_records(file, "AuthenticAMD,25,1,1");
	put_records(file);
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

/* Those of put_records(), in order; closes it. */
static void check_stream(struct trace *trace, int swap)
{
	const struct trace_info *info = trace_file(trace, 0);
	const struct trace_event *event;

	assert_int_equal(info->kind, TRACE_PERF);
	assert_int_equal(info->is_big_endian,
			 swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__));
	event = next_event(trace, "kvm_exit", 1000, 0);
	assert_int_equal(event->pid, 70);
	assert_int_equal(event->tid, 77);
	assert_int_equal(event->vcpu, 0);
	assert_int_equal(trace_field_number(trace_field(event->type, "exit_reason"), event), 12);
	assert_string_equal(trace_comm(trace, event), "CPU 0/KVM");
	assert_non_null(strstr(event->type->format, "print fmt:"));
	event = next_event(trace, "kvm_exit", 2000, 1);
	assert_int_equal(trace_field_number(trace_field(event->type, "isa"), event), 2);
	event = next_event(trace, "kvm_entry", 3000, 1);
	assert_string_equal(trace_comm(trace, event), "a?[2Jデ??");
	next_event(trace, "kvm_entry", 4000, 0);
	next_event(trace, "kvm_exit", 5000, 1);
	next_event(trace, "kvm_exit", 6000, 0);
	event = next_event(trace, NULL, 6500, 0);
	assert_int_equal(event->lost, 7);
	next_event(trace, "kvm_entry", 7000, 0);
	assert_int_equal(trace_next(trace, &event), 0);
	assert_null(trace_problem(trace, 0));
	trace_close(trace);
}

static void check_events(int swap)
{
	struct bytes file = { .len = 0 };
	const struct trace_info *info;
	struct trace *trace;

	make(&file, swap);
	save(path, file.data, file.len);
	bytes_release(&file);
	trace = open_it();
	info = trace_file(trace, 0);
	assert_string_equal(info->arch, "x86_64");
	assert_string_equal(info->release, "6.1.0");
	assert_string_equal(info->cpu_vendor, "AuthenticAMD");
	check_stream(trace, swap);
}

TEST(every_event_in_order)
{
	check_events(0);
	check_events(1);
}

/* The numbers at the end have in them what the kernel said before: 7 of CPU 0. */
static void check_losses(const uint64_t *lost, size_t nr, int64_t other)
{
	struct bytes file = { .len = 0 };
	const struct trace_event *event;
	struct trace *trace;
	size_t data;

	put_perf_header(&file);
	data = file.len;
	put_records(&file);
	for (size_t i = 0; i < nr; i++)
		put_perf_lost_in_all(&file, 0, 0, lost[i]);
	put_perf_lost_in_all(&file, 0x8000, 0, 100); /* were not wanted */
	put_perf_features(&file, data, "AuthenticAMD,25,1,1");
	save(path, file.data, file.len);
	bytes_release(&file);
	trace = open_it();
	for (int i = 0; i < 6; i++)
		assert_int_equal(trace_next(trace, &event), 1);
	assert_int_equal(next_event(trace, NULL, 6500, 0)->lost, 7);
	next_event(trace, "kvm_entry", 7000, 0);
	if (other)
		assert_int_equal(next_event(trace, NULL, 7000, -1)->lost, other);
	assert_int_equal(trace_next(trace, &event), 0);
	assert_null(trace_problem(trace, 0));
	trace_close(trace);
}

TEST(losses_are_counted_once)
{
	check_losses(NULL, 0, 0);
	check_losses((const uint64_t[]){ 3, 4 }, 2, 0);
	check_losses((const uint64_t[]){ 3, 14 }, 2, 10);
	check_losses((const uint64_t[]){ 3 }, 1, 0); /* of an event that was read */
}

/* As perf record -F: a period of 5 of the second sample and the third. */
TEST(samples_of_several_events)
{
	struct bytes file = { .len = 0 }, event = { .len = 0 };
	struct trace *trace;
	size_t nr_problems;

	put_perf_pipe_header(&file);
	put_perf_pipe_records(&file, "AuthenticAMD,25,1,1");
	for (uint64_t i = 0; i < 3; i++) {
		size_t at = file.len;

		put_entry(&event, 77, 0);
		put_sample(&file, 1000 + i, 0, 70, 77, &event);
		set_u64(&file, at + 48, i ? 5 : 1);
	}
	save(path, file.data, file.len);
	bytes_release(&file);
	bytes_release(&event);
	trace = open_it();
	assert_int_equal(count_events(trace, &nr_problems), 3);
	assert_int_equal(nr_problems, 1);
	assert_non_null(strstr(trace_problem(trace, 0), "record without -F"));
	trace_close(trace);
}

/* Of a pipe: the second event's samples have no period, so its numbers say how to read them. */
TEST(samples_of_two_layouts)
{
	enum { PERIOD = 1 << 8, NR_IDS = 100 };
	struct bytes file = { .len = 0 }, event = { .len = 0 };
	struct trace *trace;
	size_t at;

	put_perf_pipe_header(&file);
	put_perf_pipe_records(&file, "AuthenticAMD,25,1,1");
	put_record(&file, 64, 128 + 8 * NR_IDS);
	at = file.len;
	put_perf_attr(&file);
	set_u64(&file, at + 24, PERF_SAMPLE_TYPE & ~PERIOD);
	for (uint64_t id = 0; id < NR_IDS; id++)
		put_u64(&file, 5000 + 7 * (id * 31 % NR_IDS));
	for (uint64_t id = 0; id < NR_IDS; id++) {
		put_entry(&event, 77, 0);
		at = file.len;
		put_sample(&file, 1000 + id, 0, 70, 77, &event);
		set_u64(&file, at + 8, 5000 + 7 * id);
		/* The period is the word behind the CPU's. */
		memmove(file.data + at + 48, file.data + at + 56, file.len - at - 56);
		file.len -= 8;
		file.data[at + 6] -= 8;
	}
	put_entry(&event, 77, 0);
	put_sample(&file, 2000, 0, 70, 77, &event);
	bytes_release(&event);
	save(path, file.data, file.len);
	bytes_release(&file);
	trace = open_it();
	for (uint64_t id = 0; id < NR_IDS; id++)
		next_event(trace, "kvm_entry", 1000 + id, 0);
	next_event(trace, "kvm_entry", 2000, 0);
	trace_close(trace);
}

/* To sort all ids after each event would take minutes. */
TEST(many_events_of_a_pipe)
{
	enum { NR = 100000, SECONDS = 60 };
	struct bytes file = { .len = 0 }, attr = { .len = 0 };
	struct trace *trace;
	size_t problems;

	put_perf_pipe_header(&file);
	put_perf_pipe_records(&file, "AuthenticAMD,25,1,1");
	put_perf_attr(&attr);
	set_u64(&attr, 24, PERF_SAMPLE_TYPE | 1); /* another layout than the first */
	for (uint32_t i = 0; i < NR; i++) {
		put_record(&file, 64, attr.len + 8);
		put(&file, attr.data, attr.len);
		put_u64(&file, (i * UINT32_C(2654435761)) % UINT32_MAX);
	}
	save(path, file.data, file.len);
	bytes_release(&file);
	bytes_release(&attr);
	alarm(SECONDS);
	trace = open_it();
	assert_int_equal(count_events(trace, &problems), 0);
	assert_int_equal(problems, 0);
	trace_close(trace);
	alarm(0);
}

/* The kernel's own record of lost samples has a time. */
TEST(lost_samples_of_the_kernel)
{
	struct bytes file = { .len = 0 };
	struct trace *trace;
	size_t data;

	put_perf_header(&file);
	data = file.len;
	put_perf_lost_in_all(&file, 0, 500, 3);
	put_perf_features(&file, data, "AuthenticAMD,25,1,1");
	save(path, file.data, file.len);
	bytes_release(&file);
	trace = open_it();
	assert_int_equal(next_event(trace, NULL, 500, 0)->lost, 3);
	trace_close(trace);
}

/* The formats are at the end: without them events have no names, but they are there. */
TEST(cut_at_every_byte)
{
	struct bytes file = { .len = 0 };
	size_t last = SIZE_MAX;

	make(&file, 0);
	save(path, file.data, file.len);
	for (size_t cut = file.len - 1; cut >= 8; cut--) {
		struct trace *trace;
		size_t nr, problems;

		assert_int_equal(truncate(path, (off_t)cut), 0);
		trace = open_it();
		nr = count_events(trace, &problems);
		assert_int_in_range(problems, cut < file.len - 64 ? 1 : 0, 2);
		assert_true(nr <= last);
		last = nr;
		trace_close(trace);
	}
	assert_int_equal(last, 0);
	bytes_release(&file);
}

/* A record that says it is shorter than its header; one that is longer than the file. */
TEST(absurd_lengths)
{
	static const uint8_t sizes[] = { 0, 7, 0xff };

	for (size_t i = 0; i < sizeof(sizes); i++) {
		struct bytes file = { .len = 0 };
		size_t end = make(&file, 0), problems;
		size_t at = end - 2 * 8 - 72; /* the last sample */
		struct trace *trace;

		assert_int_equal(file.data[at], 9);
		file.data[at + 6] = sizes[i];
		file.data[at + 7] = sizes[i] == 0xff ? 0xff : 0;
		save(path, file.data, file.len);
		trace = open_it();
		assert_int_equal(count_events(trace, &problems), NR_SAMPLES - 1);
		assert_int_equal(problems, 1);
		assert_int_equal(problem_offset(trace_problem(trace, 0)), at);
		trace_close(trace);
		bytes_release(&file);
	}
}

/*
 * Data after a record, which is no record: of an auxiliary trace (71), skipped by its size; then a
 * sample. A size beyond the file ends the reading.
 */
static void check_data(bool is_piped, uint64_t size, size_t nr_events, const char *text)
{
	enum { DATA = 400000 }; /* more than is read at once */
	struct bytes file = { .len = 0 }, event = { .len = 0 };
	struct trace *trace;
	size_t begin, at, problems;

	if (is_piped) {
		put_perf_pipe_header(&file);
		put_perf_pipe_records(&file, "AuthenticAMD,25,1,1");
	} else {
		put_perf_header(&file);
	}
	begin = at = file.len;
	put_record(&file, 71, 8);
	put_u64(&file, size ? size : DATA);
	put(&file, NULL, DATA);
	put_entry(&event, 77, 0);
	put_sample(&file, 1000, 0, 70, 77, &event);
	if (!is_piped)
		put_perf_features(&file, begin, "AuthenticAMD,25,1,1");
	save(path, file.data, file.len);
	bytes_release(&file);
	bytes_release(&event);
	trace = open_it();
	assert_int_equal(count_events(trace, &problems), nr_events);
	assert_int_equal(problems, text != NULL);
	if (text) {
		assert_int_equal(problem_offset(trace_problem(trace, 0)), at);
		assert_string_equal(problem_text(trace_problem(trace, 0)), text);
	}
	trace_close(trace);
}

TEST(data_after_a_record)
{
	static const char early[] = "the data after this record ends too early";

	for (int is_piped = 0; is_piped < 2; is_piped++) {
		check_data(is_piped, 0, 1, NULL);
		check_data(is_piped, 1 << 20, 0, early);
		check_data(is_piped, UINT64_MAX, 0, early);
	}
}

/* Formats (66) of more bytes than can be: no memory is asked for. */
TEST(formats_that_claim_too_much)
{
	struct bytes file = { .len = 0 };
	struct trace *trace;
	size_t at, problems;

	put_perf_pipe_header(&file);
	at = file.len;
	put_record(&file, 66, 4);
	put_u32(&file, UINT32_MAX);
	put(&file, NULL, 64);
	save(path, file.data, file.len);
	bytes_release(&file);
	trace = open_it();
	assert_int_equal(count_events(trace, &problems), 0);
	assert_int_equal(problems, 1);
	assert_int_equal(problem_offset(trace_problem(trace, 0)), at);
	assert_non_null(strstr(trace_problem(trace, 0), "claims more than 256 MiB"));
	trace_close(trace);
}

TEST(compressed_records)
{
	struct bytes file = { .len = 0 };

	for (uint32_t type = 81; type <= 83; type += 2) {
		make_compressed(&file, type);
		save(path, file.data, file.len);
		bytes_release(&file);
		check_stream(open_it(), 0);
	}
}

/* Opens it as what a child writes into a pipe, some bytes at once. */
static struct trace *open_piped(const struct bytes *file, size_t piece, pid_t *ret_child)
{
	static char pipe_path[64];
	const char *paths[] = { pipe_path };
	struct trace *trace = NULL;
	struct error error = { "" };
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	*ret_child = fork();
	if (*ret_child == 0) {
		close(ends[0]);
		for (size_t at = 0; at < file->len; at += piece) {
			size_t n = file->len - at < piece ? file->len - at : piece;

			if (write(ends[1], file->data + at, n) < 0)
				_exit(1);
		}
		_exit(0);
	}
	close(ends[1]);
	snprintf(pipe_path, sizeof(pipe_path), "/dev/fd/%d", ends[0]);
	if (trace_open(paths, 1, TRACE_ANY, NULL, &trace, &error) != 0)
		print_message("%s\n", error.text);
	close(ends[0]);
	return trace;
}

static void check_piped(const struct bytes *file, int swap)
{
	static const size_t pieces[] = { 1, 7, 5000, 1000000 };
	struct trace *trace;
	pid_t child;

	save(path, file->data, file->len);
	trace = open_it();
	check_stream(trace, swap);
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		trace = open_piped(file, pieces[i], &child);
		assert_non_null(trace);
		check_stream(trace, swap);
		waitpid(child, NULL, 0);
	}
}

/* Two recordings' heads: types that events have stay as they are. */
TEST(formats_twice)
{
	struct bytes file = { .len = 0 };

	put_perf_pipe_header(&file);
	put_perf_pipe_records(&file, "AuthenticAMD,25,1,1");
	put_perf_pipe_records(&file, "AuthenticAMD,25,1,1");
	put_records(&file);
	check_piped(&file, 0);
	bytes_release(&file);
}

/* From a file and from the pipe itself. */
TEST(written_to_a_pipe)
{
	struct bytes file = { .len = 0 }, records = { .len = 0 };
	const struct trace_event *event;
	struct trace *trace;

	for (int swap = 0; swap < 2; swap++) {
		make_piped(&file, swap);
		check_piped(&file, swap);
		bytes_release(&file);
	}
	file.swap = 0;
	put_perf_pipe_header(&file);
	put_perf_pipe_records(&file, "AuthenticAMD,25,1,1");
	put_records(&records);
	put_compressed(&file, &records, 81);
	check_piped(&file, 0);
	save(path, file.data, file.len);
	trace = open_it();
	assert_int_equal(trace_next(trace, &event), 1);
	assert_string_equal(trace_file(trace, 0)->cpu_vendor, "AuthenticAMD");
	trace_close(trace);
	bytes_release(&file);
	bytes_release(&records);
}

TEST(a_file_is_no_pipe)
{
	struct bytes file = { .len = 0 };
	pid_t child;

	make(&file, 0);
	assert_null(open_piped(&file, 100000, &child));
	waitpid(child, NULL, 0);
	bytes_release(&file);
}

/* A pipe that ends between two records looks whole. */
TEST(pipes_cut_at_every_byte)
{
	struct bytes file = { .len = 0 }, records = { .len = 0 };

	put_perf_pipe_header(&file);
	put_perf_pipe_records(&file, "AuthenticAMD,25,1,1");
	put_records(&records);
	put_compressed(&file, &records, 83);
	bytes_release(&records);
	put_records(&file);
	save(path, file.data, file.len);
	for (size_t cut = file.len - 1, last = 2 * NR_SAMPLES; cut >= 16; cut--) {
		struct trace *trace;
		size_t nr, problems;

		assert_int_equal(truncate(path, (off_t)cut), 0);
		trace = open_it();
		nr = count_events(trace, &problems);
		assert_int_in_range(problems, 0, 2);
		if (cut % 4) /* all records are multiples of this */
			assert_int_in_range(problems, 1, 2);
		assert_true(nr <= last);
		last = nr;
		trace_close(trace);
	}
	bytes_release(&file);
}

/* As long as each byte of it can be anything. */
TEST(compression_that_makes_no_sense)
{
	struct bytes file = { .len = 0 };

	make_compressed(&file, 81);
	for (size_t at = 312; at < 312 + 250; at++) {
		struct trace *trace;
		size_t problems;

		file.data[at] ^= 0x55;
		save(path, file.data, file.len);
		trace = open_it();
		assert_int_in_range(count_events(trace, &problems), 0, NR_SAMPLES);
		assert_int_in_range(problems, 0, 2);
		trace_close(trace);
		file.data[at] ^= 0x55;
	}
	bytes_release(&file);
}

/* What waits for its round is bounded: here there is none for as much as 40 MiB. */
TEST(without_rounds)
{
	enum { NR = 500000 };
	struct bytes file = { .len = 0 }, event = { .len = 0 };
	const struct trace_event *got;
	struct trace *trace;
	size_t data;

	put_perf_header(&file);
	data = file.len;
	for (uint64_t i = 0; i < NR; i++) {
		put_entry(&event, 77, 0);
		put_sample(&file, 1000 + (i ^ 1), 0, 70, 77, &event);
	}
	put_perf_features(&file, data, "GenuineIntel,6,1,1");
	save(path, file.data, file.len);
	bytes_release(&file);
	bytes_release(&event);
	trace = open_it();
	for (uint64_t i = 0; i < NR; i++) {
		assert_int_equal(trace_next(trace, &got), 1);
		assert_int_equal(got->time, 1000 + i);
	}
	assert_int_equal(trace_next(trace, &got), 0);
	assert_null(trace_problem(trace, 0));
	trace_close(trace);
}

TEST(what_cannot_be_read_is_said)
{
	struct bytes file = { .len = 0 };
	struct trace *trace;
	size_t problems;

	put_perf_header(&file);
	set_u64(&file, 40, file.len);
	set_u64(&file, 48, 8);
	put_record(&file, 83, 0);
	save(path, file.data, file.len);
	trace = open_it();
	assert_int_equal(count_events(trace, &problems), 0);
	assert_non_null(strstr(trace_problem(trace, 0), "compressed"));
	trace_close(trace);

	set_u64(&file, 48, 0); /* perf record was killed */
	save(path, file.data, file.len);
	trace = open_it();
	assert_int_equal(count_events(trace, &problems), 0);
	assert_non_null(strstr(trace_problem(trace, 0), "was interrupted"));
	trace_close(trace);
	bytes_release(&file);
}

/* There is room for 65,536 names. */
TEST(names_of_threads_that_ended)
{
	enum { MOST = 65536 };
	struct bytes file = { .len = 0 }, event = { .len = 0 };
	struct trace *trace;
	size_t data;

	put_perf_header(&file);
	data = file.len;
	for (uint32_t tid = 1; tid <= MOST; tid++)
		put_perf_comm(&file, tid, tid, "old");
	put_record(&file, 4, 24 + 40); /* EXIT of thread 7: pid, ppid, tid, ptid, time */
	put_u32(&file, 99998);
	put_u32(&file, 99999);
	put_u32(&file, 7);
	put_u32(&file, 99999);
	put_u64(&file, 500);
	put_sample_id(&file, 500, 0, 99998, 7);
	put_perf_comm(&file, MOST + 1, MOST + 1, "new");
	put_entry(&event, MOST + 1, 0);
	put_sample(&file, 1000, 0, MOST + 1, MOST + 1, &event);
	put_perf_features(&file, data, "GenuineIntel,6,1,1");
	save(path, file.data, file.len);
	bytes_release(&file);
	bytes_release(&event);
	trace = open_it();
	assert_string_equal(trace_comm(trace, next_event(trace, "kvm_entry", 1000, 0)), "new");
	trace_close(trace);
}

TEST(texts_have_no_control_characters)
{
	struct bytes file = { .len = 0 };
	struct trace *trace;
	uint8_t *at;

	make(&file, 0);
	at = memmem(file.data, file.len, "6.1.0", 5);
	assert_non_null(at);
	at[2] = '\x1b';
	save(path, file.data, file.len);
	bytes_release(&file);
	trace = open_it();
	assert_string_equal(trace_file(trace, 0)->release, "6.?.0");
	trace_close(trace);
}

/* Each of two events has the whole file as its ids. */
TEST(events_that_share_ids)
{
	struct bytes file = { .len = 0 };
	struct trace *trace;
	size_t problems;

	make(&file, 0);
	set_u64(&file, 24, file.len);
	set_u64(&file, 32, 2 * (128 + 16));
	for (int i = 0; i < 2; i++) {
		put_perf_attr(&file);
		put_u64(&file, 0);
		put_u64(&file, file.len - 100);
	}
	save(path, file.data, file.len);
	bytes_release(&file);
	trace = open_it();
	assert_int_equal(count_events(trace, &problems), 0);
	assert_int_equal(problems, 1);
	assert_non_null(strstr(trace_problem(trace, 0), "header"));
	trace_close(trace);
}

GROUP(set_up, tear_down);
