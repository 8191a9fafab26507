/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_trace - acrn and kvmtrace files made byte by byte: every event, order and field; what
 * is wrong with a file, and where.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "tests/worlds/cmocka_range.h"
#include "tests/worlds/trace_world.h"

static char folder[64];

static int set_up(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/kvmtop-trace.XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

/* The path of one of four files. */
static const char *path_of(unsigned int i)
{
	static char paths[4][128];

	snprintf(paths[i], sizeof(paths[i]), "%s/%u", folder, i);
	return paths[i];
}

static struct trace *open_files(unsigned int nr, enum trace_kind kind)
{
	const char *paths[4];
	struct trace *trace = NULL;
	struct error error = { "" };

	for (unsigned int i = 0; i < nr; i++)
		paths[i] = path_of(i);
	if (trace_open(paths, nr, kind, NULL, &trace, &error) != 0)
		fail_msg("%s", error.text);
	return trace;
}

static const struct trace_event *next_event(struct trace *trace)
{
	const struct trace_event *event = NULL;

	assert_int_equal(trace_next(trace, &event), 1);
	return event;
}

static void assert_end(struct trace *trace)
{
	const struct trace_event *event;

	assert_int_equal(trace_next(trace, &event), 0);
	assert_int_equal(trace_next(trace, &event), 0);
}

static uint64_t number(const struct trace_event *event, const char *name)
{
	const struct trace_field *field = trace_field(event->type, name);

	assert_non_null(field);
	return trace_field_number(field, event);
}

/* And done with it. */
static void save_bytes(unsigned int i, struct bytes *bytes)
{
	save(path_of(i), bytes->data, bytes->len);
	bytes_release(bytes);
}

TEST(acrn_files_are_merged_by_time)
{
	struct bytes one = { .len = 0 }, two = { .len = 0 };
	const struct trace_event *event;
	struct trace *trace;

	put_acrn(&one, 100, 0, 0x10, 0x1e, 0xfff0);
	put_acrn(&one, 300, 0, 0x11, 0, 0);
	put_acrn(&two, 200, 3, 0x10, 0x80000021, 0x1234);
	put_acrn(&two, 300, 3, 0x10020, 0x6e0, 7);
	put_acrn(&two, 301, 3, 0x77777, 1, 2);
	save_bytes(0, &one);
	save_bytes(1, &two);
	trace = open_files(2, TRACE_ANY);
	assert_int_equal(trace_file(trace, 0)->kind, TRACE_ACRN);
	assert_int_equal(trace_file(trace, 0)->clock, TRACE_CLOCK_CYCLES);
	assert_null(trace_file(trace, 2));

	event = next_event(trace);
	assert_string_equal(event->type->name, "VM_EXIT");
	assert_int_equal(event->time, 100);
	assert_int_equal(event->cpu, 0);
	assert_int_equal(number(event, "exit_reason"), 0x1e);
	assert_int_equal(number(event, "guest_rip"), 0xfff0);
	assert_int_equal(trace_word(trace, event, 2), 0xfff0);

	event = next_event(trace);
	assert_int_equal(event->time, 200);
	assert_int_equal(event->cpu, 3);
	assert_int_equal(event->words, 2);
	assert_int_equal(number(event, "exit_reason"), 0x80000021);

	event = next_event(trace);
	assert_string_equal(event->type->name, "VM_ENTER"); /* of two at a time, the first file's */
	event = next_event(trace);
	assert_string_equal(event->type->name, "VMEXIT_WRMSR");
	assert_int_equal(number(event, "1"), 0x6e0);
	event = next_event(trace);
	assert_string_equal(event->type->name, "unknown");
	assert_int_equal(event->id, 0x77777);
	assert_end(trace);
	assert_null(trace_problem(trace, 0));
	trace_close(trace);
}

TEST(acrn_of_2018_has_no_cpu)
{
	struct bytes one = { .len = 0 };
	const struct trace_event *event;
	struct trace *trace;

	put_u64(&one, 5);
	put_u64(&one, 0x10);
	put_u64(&one, 0x30);
	put_u64(&one, 0);
	save_bytes(2, &one);
	save_bytes(0, &(struct bytes){ .len = 0 });
	save_bytes(1, &(struct bytes){ .len = 0 });
	trace = open_files(3, TRACE_ANY); /* the kind is the third's */
	event = next_event(trace);
	assert_int_equal(event->cpu, 2); /* its name */
	assert_int_equal(event->words, 0);
	assert_end(trace);
	assert_string_equal(problem_text(trace_problem(trace, 0)), "the file is empty");
	assert_non_null(strstr(trace_problem(trace, 1), path_of(1)));
	assert_null(trace_problem(trace, 2));
	trace_close(trace);
}

/* All 8 bits are the CPU's, and what is scheduled next has had another number since 2024. */
TEST(acrn_of_2024_on_a_large_machine)
{
	struct bytes one = { .len = 0 };
	const struct trace_event *event;
	const struct trace_field *field;
	struct trace *trace;
	const void *text;
	size_t size = 0;

	put_u64(&one, 5);
	put_u64(&one, UINT64_C(255) << 56 | UINT64_C(16) << 48 | 0x20);
	put(&one, "idlevm1:\0\0\0\0\0\0\0", 16);
	put_acrn(&one, 6, 255, 0x11, 0, 0);
	save_bytes(0, &one);
	trace = open_files(1, TRACE_ANY);
	event = next_event(trace);
	assert_string_equal(event->type->name, "SCHED_NEXT");
	assert_int_equal(event->cpu, 255);
	assert_int_equal(event->words, 16);
	field = trace_field(event->type, "text");
	assert_non_null(field);
	text = trace_field_data(field, event, &size);
	assert_string_equal(text, "idlevm1:");
	assert_int_equal(next_event(trace)->cpu, 255);
	assert_end(trace);
	trace_close(trace);
}

/* The exit's owner: 4 bits each of VM, vCPU, number of words, CPU. */
static void put_acrn_vm(struct bytes *bytes, uint64_t tsc, uint64_t who, uint64_t id)
{
	put_u64(bytes, tsc);
	put_u64(bytes, who << 48 | id);
	put_u64(bytes, 30);
	put_u64(bytes, 0);
}

TEST(acrn_that_knows_vms)
{
	struct bytes one = { .len = 0 }, two = { .len = 0 };
	const struct trace_event *event;
	struct trace *trace;
	uint64_t key;

	put_acrn_vm(&one, 10, 0x1215, 0x10); /* CPU 1, 2 words, vCPU 1 of VM 5 */
	put_acrn_vm(&one, 11, 0x1415, 0x1001e);
	put_acrn_vm(&one, 20, 0x1202, 0x10); /* VM 2 has the CPU now */
	put_acrn_vm(&two, 30, 0x2215, 0x11); /* and vCPU 1 of VM 5 another one */
	put_acrn_vm(&two, 31, 0x2415, 0x1001e);
	save_bytes(0, &one);
	save_bytes(1, &two);
	trace = open_files(2, TRACE_ANY);
	assert_int_equal(trace_file(trace, 0)->kind, TRACE_ACRN);
	event = next_event(trace);
	assert_int_equal(event->pid, 5);
	assert_int_equal(event->vcpu, 1);
	assert_int_equal(event->cpu, 1);
	assert_int_equal(event->words, 2);
	key = event->thread_key;
	assert_int_equal(next_event(trace)->words, 4);
	event = next_event(trace);
	assert_int_equal(event->pid, 2);
	assert_int_equal(event->vcpu, 0);
	assert_int_not_equal(event->thread_key, key);
	event = next_event(trace);
	assert_string_equal(event->type->name, "VM_ENTER");
	assert_int_equal(event->cpu, 2);
	assert_int_equal(event->thread_key, key);
	next_event(trace);
	assert_end(trace);
	trace_close(trace);
}

/* Two files of one guest, in one byte order, with or without the mark. */
static void check_kvmtrace(int swap, bool mark)
{
	const uint32_t exit_words[] = { 30, 0x11223344, 0xffff };
	const uint32_t seven[] = { 1, 2, 3, 4, 5, 6, 7 };
	struct bytes one = { .swap = swap }, two = { .swap = swap };
	const struct trace_event *event;
	struct trace *trace;

	if (mark) {
		put_u32(&one, 0x12345678);
		put_u32(&two, 0x12345678);
	}
	put_kvmtrace(&one, 1000, 0x10002, 77, 1, 3, exit_words);
	put_kvmtrace(&one, 0, 0x20006, 77, 1, 2, seven);
	put_kvmtrace(&one, 3000, 0x10001, 77, 1, 0, NULL);
	put_kvmtrace(&two, 2000, 0x2000d, 77, 0, 7, seven);
	put_kvmtrace(&two, 2001, 0x54321, 77, 0, 1, seven);
	save_bytes(0, &one);
	save_bytes(1, &two);
	trace = open_files(2, TRACE_ANY);
	assert_int_equal(trace_file(trace, 0)->kind, TRACE_KVMTRACE);
	assert_int_equal(trace_file(trace, 0)->is_big_endian,
			 swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__));

	event = next_event(trace);
	assert_string_equal(event->type->name, "VMEXIT");
	assert_int_equal(event->time, 1000);
	assert_int_equal(event->pid, 77);
	assert_int_equal(event->vcpu, 1);
	assert_int_equal(event->words, 3);
	assert_int_equal(number(event, "exit_reason"), 30);
	assert_int_equal(trace_word(trace, event, 1), 0x11223344);
	assert_int_equal(trace_word(trace, event, 3), 0);

	event = next_event(trace);
	assert_string_equal(event->type->name, "IO_WRITE");
	assert_false(event->has_time);
	assert_int_equal(event->time, 1000);
	assert_int_equal(number(event, "port"), 1);

	event = next_event(trace);
	assert_string_equal(event->type->name, "CPUID");
	assert_int_equal(event->words, 7);
	assert_int_equal(trace_word(trace, event, 6), 7);
	event = next_event(trace);
	assert_string_equal(event->type->name, "unknown");
	assert_int_equal(event->id, 0x54321);
	event = next_event(trace);
	assert_string_equal(event->type->name, "VMENTRY");
	assert_int_equal(event->size, 0);
	assert_end(trace);
	assert_null(trace_problem(trace, 0));
	trace_close(trace);
}

/* One of two CPUs has an exit with a number of SVM's: both are of such a host. */
TEST(one_cpu_shows_what_the_host_is)
{
	const uint32_t hlt = 0x78, intr = 1;
	struct trace *trace;

	for (int svm = 0; svm < 3; svm++) { /* 2: none */
		for (int i = 0; i < 2; i++) {
			struct bytes file = { .len = 0 };

			put_kvmtrace(&file, 1000 + (uint64_t)i, 0x10002, 77, 0, 1,
				     i == svm ? &hlt : &intr);
			save_bytes((size_t)i, &file);
		}
		trace = open_files(2, TRACE_ANY);
		for (size_t i = 0; i < 2; i++)
			assert_string_equal(trace_file(trace, i)->cpu_vendor,
					    svm < 2 ? "AuthenticAMD" : "");
		trace_close(trace);
	}
}

/* Records of a file that is there are read, whatever else is not. */
TEST(records_beside_what_does_not_open)
{
	const char *paths[] = { "/none", path_of(0), path_of(1), path_of(2) };
	struct bytes records = { .len = 0 }, text = { .len = 0 }, empty = { .len = 0 };
	const struct trace_event *event;
	struct trace *trace;

	put_kvmtrace(&records, 1000, 0x54321, 77, 0, 0, NULL);
	put(&text, "a text\n", 7);
	save_bytes(0, &text);
	save_bytes(1, &records);
	save_bytes(2, &empty);
	trace = trace_open_records(paths, 4, TRACE_ANY);
	event = next_event(trace);
	assert_int_equal(event->id, 0x54321);
	assert_int_equal(event->file, 0);
	assert_end(trace);
	assert_string_equal(trace_problem(trace, 0), "/none: No such file or directory");
	assert_non_null(strstr(trace_problem(trace, 1), ": is text, not records"));
	assert_null(trace_problem(trace, 2));
	trace_close(trace);
}

TEST(kvmtrace_in_both_byte_orders)
{
	check_kvmtrace(0, true);
	check_kvmtrace(1, true);
	check_kvmtrace(0, false);
	check_kvmtrace(1, false);
}

/* A record that lies across the end of what is read at once. */
TEST(a_file_of_many_windows)
{
	enum { NR = 20000 };
	FILE *file = fopen(path_of(0), "w");
	const struct trace_event *event;
	struct trace *trace;

	assert_non_null(file);
	for (unsigned int i = 0; i < NR; i++) {
		struct bytes one = { .len = 0 };
		uint32_t words[] = { i, i, i, i, i };

		put_kvmtrace(&one, i + 1, 0x2000d, 7, 0, i % 6, words);
		assert_int_equal(fwrite(one.data, 1, one.len, file), one.len);
		bytes_release(&one);
	}
	assert_int_equal(fclose(file), 0);
	trace = open_files(1, TRACE_ANY);
	for (unsigned int i = 0; i < NR; i++) {
		event = next_event(trace);
		assert_int_equal(event->time, i + 1);
		assert_int_equal(event->words, i % 6);
		assert_int_equal(trace_word(trace, event, 4), i % 6 == 5 ? i : 0);
	}
	assert_end(trace);
	trace_close(trace);
}

/* Cut at every byte: what is whole is read, the place of the rest is said. */
static void check_cut(const struct bytes *whole, const size_t *sizes, enum trace_kind kind,
		      size_t header)
{
	for (size_t cut = 1; cut < whole->len; cut++) {
		struct trace *trace;
		size_t nr = 0, at = cut >= header ? header : 0;

		save(path_of(0), whole->data, cut);
		trace = open_files(1, kind);
		while (at + sizes[nr] <= cut) {
			next_event(trace);
			at += sizes[nr++];
		}
		assert_end(trace);
		if (at == cut) {
			assert_null(trace_problem(trace, 0));
		} else {
			assert_int_equal(problem_offset(trace_problem(trace, 0)), at);
			assert_non_null(strstr(trace_problem(trace, 0), path_of(0)));
			assert_null(trace_problem(trace, 1));
		}
		trace_close(trace);
	}
}

TEST(files_cut_at_every_byte)
{
	struct bytes acrn = { .len = 0 }, kvmtrace = { .len = 0 };
	const size_t acrn_sizes[] = { 32, 32, 32, SIZE_MAX / 2 };
	const size_t kvmtrace_sizes[] = { 32, 20, 40, 12, SIZE_MAX / 2 };
	const uint32_t words[7] = { 0 };

	for (unsigned int i = 0; i < 4; i++)
		put_acrn(&acrn, i + 1, 0, 0x10, 1, 2);
	acrn.len -= 32;
	check_cut(&acrn, acrn_sizes, TRACE_ACRN, 0);
	bytes_release(&acrn);

	put_u32(&kvmtrace, 0x12345678);
	put_kvmtrace(&kvmtrace, 1, 0x10002, 1, 1, 3, words);
	put_kvmtrace(&kvmtrace, 2, 0x10001, 1, 1, 0, words);
	put_kvmtrace(&kvmtrace, 0, 0x2000d, 1, 1, 7, words);
	put_kvmtrace(&kvmtrace, 0, 0x10001, 1, 1, 0, words);
	check_cut(&kvmtrace, kvmtrace_sizes, TRACE_KVMTRACE, 4);
	bytes_release(&kvmtrace);
}

/* Where bytes are missing, the rest is none; a few unknown records are no harm. */
TEST(kvmtrace_with_bytes_missing)
{
	struct bytes one = { .len = 0 };
	const struct trace_event *event;
	const uint32_t words[7] = { 0 };
	struct trace *trace;
	size_t nr = 0;

	for (unsigned int i = 0; i < 200; i++)
		put_kvmtrace(&one, i + 1, 0x10001 + i % 2, 7, 1, 0, words);
	put_kvmtrace(&one, 1, 0x30000, 7, 1, 0, words);
	put_kvmtrace(&one, 202, 0x10001, 7, 1, 0, words);
	save(path_of(0), one.data, one.len);
	trace = open_files(1, TRACE_KVMTRACE);
	for (; trace_next(trace, &event) > 0; nr++)
		assert_int_equal(event->time, nr == 200 ? 200 : nr + 1);
	assert_int_equal(nr, 202);
	assert_null(trace_problem(trace, 0));
	trace_close(trace);

	memmove(one.data + 2000, one.data + 2002, one.len - 2002);
	save(path_of(0), one.data, one.len - 2);
	trace = open_files(1, TRACE_KVMTRACE);
	for (nr = 0; trace_next(trace, &event) > 0; nr++)
		assert_int_equal(event->time, nr < 100 ? nr + 1 : 100);
	assert_int_equal(nr, 115);
	assert_int_equal(problem_offset(trace_problem(trace, 0)), 2000);
	assert_non_null(strstr(trace_problem(trace, 0), "unknown events"));
	assert_null(trace_problem(trace, 1));
	trace_close(trace);
	bytes_release(&one);
}

/* What comes while it is read is read, too; a piece of a record is the rest. */
TEST(a_file_that_grows)
{
	struct bytes one = { .len = 0 };
	struct trace *trace;
	FILE *file;

	put_acrn(&one, 1, 0, 0x10, 1, 2);
	put_acrn(&one, 2, 0, 0x11, 0, 0);
	save(path_of(0), one.data, one.len);
	trace = open_files(1, TRACE_ANY);
	assert_int_equal(next_event(trace)->time, 1);
	file = fopen(path_of(0), "a");
	assert_non_null(file);
	one.len = 0;
	put_acrn(&one, 3, 0, 0x10, 1, 2);
	assert_int_equal(fwrite(one.data, 1, 32, file), 32);
	assert_int_equal(fwrite(one.data, 1, 20, file), 20);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(next_event(trace)->time, 2);
	assert_int_equal(next_event(trace)->time, 3);
	assert_end(trace);
	assert_int_equal(problem_offset(trace_problem(trace, 0)), 96);
	trace_close(trace);
	bytes_release(&one);
}

/*
 * Cut while it is read: what is whole in front of the cut is read, and maybe more that was in
 * memory already; that there was more is said, and where.
 */
static void check_shorter(const struct bytes *whole, enum trace_kind kind, size_t header,
			  size_t size, size_t cut)
{
	const size_t nr_before = 100;
	const struct trace_event *event;
	struct trace *trace;
	size_t nr = 0, nr_left = cut > header ? (cut - header) / size : 0;

	save(path_of(0), whole->data, whole->len);
	trace = open_files(1, kind);
	for (; nr < nr_before; nr++)
		assert_int_equal(next_event(trace)->time, nr + 1);
	assert_int_equal(truncate(path_of(0), (off_t)cut), 0);
	for (; trace_next(trace, &event) > 0; nr++)
		assert_int_equal(event->time, nr + 1);
	if (nr_left < nr_before)
		nr_left = nr_before;
	assert_true(nr >= nr_left && nr < (whole->len - header) / size);
	assert_end(trace);
	assert_non_null(trace_problem(trace, 0));
	assert_non_null(strstr(trace_problem(trace, 0), "shorter"));
	assert_int_equal(problem_offset(trace_problem(trace, 0)), header + nr * size);
	assert_null(trace_problem(trace, 1));
	trace_close(trace);
}

TEST(a_file_that_shrinks)
{
	const size_t cuts[] = { 0, 1000, 4096, 5000, 8192, 8200, 8224, 262144, 300000, 524288 };
	struct bytes acrn = { .len = 0 }, kvmtrace = { .len = 0 };
	const uint32_t words[7] = { 0 };

	put_u32(&kvmtrace, 0x12345678);
	for (unsigned int i = 0; i < 20000; i++) {
		put_acrn(&acrn, i + 1, 0, 0x10, 1, 2);
		put_kvmtrace(&kvmtrace, i + 1, 0x10002, 1, 1, 3, words);
	}
	for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
		check_shorter(&acrn, TRACE_ACRN, 0, 32, cuts[i]);
		check_shorter(&kvmtrace, TRACE_KVMTRACE, 4, 32, cuts[i]);
	}
	bytes_release(&acrn);
	bytes_release(&kvmtrace);
}

/* Standard input may be a file of which the first part was read already. */
TEST(a_file_from_somewhere_on)
{
	struct bytes one = { .len = 0 };
	int fd, old = dup(STDIN_FILENO);
	const char *path = "-";
	struct trace *trace = NULL;
	struct error error;

	for (unsigned int i = 0; i < 1000; i++)
		put_acrn(&one, i + 1, 0, 0x10, 1, 2);
	save_bytes(0, &one);
	fd = open(path_of(0), O_RDONLY | O_CLOEXEC);
	assert_int_in_range(old, 0, INT32_MAX);
	assert_int_equal(lseek(fd, 320, SEEK_SET), 320);
	assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
	close(fd);
	assert_int_equal(trace_open(&path, 1, TRACE_ANY, NULL, &trace, &error), 0);
	for (unsigned int i = 10; i < 1000; i++)
		assert_int_equal(next_event(trace)->time, i + 1);
	assert_end(trace);
	assert_null(trace_problem(trace, 0));
	trace_close(trace);
	assert_int_equal(dup2(old, STDIN_FILENO), STDIN_FILENO);
	close(old);
}

static void assert_refused(const char *path, int err, const char *text)
{
	struct trace *trace = NULL;
	struct error error = { "" };

	assert_int_equal(trace_open(&path, 1, TRACE_ANY, NULL, &trace, &error), err);
	assert_null(trace);
	assert_non_null(strstr(error.text, text));
}

TEST(what_is_no_recording_is_refused)
{
	struct bytes acrn = { .len = 0 }, odd = { .len = 0 };
	const char *both[] = { path_of(0), path_of(1) };
	struct trace *trace;
	struct error error;

	save(path_of(0), "hello, world\n", 13);
	assert_refused(path_of(0), -EINVAL, "is text, as trace-cmd report");
	save(path_of(0), "hello, \1world\n", 14);
	assert_refused(path_of(0), -EINVAL, "not a recording");
	save(path_of(0), "\x1f\x8b\x08\0\0\0\0\0", 8);
	assert_refused(path_of(0), -EINVAL, "is compressed with gzip: unpack it first");
	save(path_of(0), "\x28\xb5\x2f\xfd\0\0\0\0", 8);
	assert_refused(path_of(0), -EINVAL, "is compressed with zstd: unpack it first");
	save(path_of(0), "\xc1\x1f\xfc\xc1\0\0\0\0", 8);
	assert_refused(path_of(0), -EINVAL, "is a trace of LTTng's kind");
	save(path_of(0), "/* CTF 1.8 */\n", 14);
	assert_refused(path_of(0), -EINVAL, "is a trace of LTTng's kind");
	save(path_of(0), "", 0);
	assert_refused(path_of(0), -EINVAL, "empty");
	assert_refused(folder, -EISDIR, "folder");
	assert_refused("/nowhere", -ENOENT, "/nowhere");
	put_acrn(&acrn, 1, 0, 0x10, 1, 2);
	put_u32(&odd, 0x12345678);
	save_bytes(0, &acrn);
	save_bytes(1, &odd);
	assert_int_equal(trace_open(both, 2, TRACE_ANY, NULL, &trace, &error), -EINVAL);
	assert_non_null(strstr(error.text, "read them separately"));
	assert_int_equal(trace_open(both, 0, TRACE_ANY, NULL, &trace, &error), -EINVAL);
}

/* By another path, too: its events would be counted twice. */
TEST(a_file_that_is_named_twice_is_refused)
{
	struct bytes acrn = { 0 };
	const char *paths[] = { path_of(0), path_of(1) };
	struct trace *trace = NULL;
	struct error error = { "" };
	char text[256];

	put_acrn(&acrn, 1, 0, 0x10, 1, 2);
	save_bytes(0, &acrn);
	unlink(path_of(1));
	assert_int_equal(symlink(path_of(0), path_of(1)), 0);
	assert_int_equal(trace_open(paths, 2, TRACE_ANY, NULL, &trace, &error), -EEXIST);
	assert_null(trace);
	snprintf(text, sizeof(text), "%s and %s are one file: name it once", paths[0], paths[1]);
	assert_string_equal(error.text, text);
	unlink(path_of(1));
	save_bytes(1, &acrn); /* the same bytes in two files are two recordings */
	assert_int_equal(trace_open(paths, 2, TRACE_ANY, NULL, &trace, &error), 0);
	trace_close(trace);
}

TEST(kinds_have_names)
{
	enum trace_kind kind = TRACE_ANY;
	struct error error = { "" };

	for (int i = TRACE_DAT; i <= TRACE_KVMTRACE; i++) {
		const char *name = trace_kind_name((enum trace_kind)i);

		assert_int_equal(trace_kind_by_name(name, false, &kind, &error), 0);
		assert_int_equal(kind, i);
	}
	assert_int_equal(trace_kind_by_name("xentrace", true, &kind, &error), -EINVAL);
	assert_int_equal(trace_kind_by_name("xentrace", false, &kind, &error), -EINVAL);
	assert_non_null(strstr(error.text, "one of trace.dat, perf.data, kvmtrace, acrn"));
	assert_int_equal(trace_kind_by_name("perf.data", true, &kind, &error), -EINVAL);
	assert_non_null(strstr(error.text, "one of kvmtrace, acrn"));
}

TEST(numbers_of_fields)
{
	const uint8_t data[] = { 0xff, 0xfe, 0xfd, 0xfc, 0xfb, 0xfa, 0xf9, 0xf8, 4, 0, 2, 0 };
	const struct trace_event event = { .data = data, .size = sizeof(data) };
	struct trace_field field = { .size = 2 };
	size_t size = 0;

	assert_int_equal(trace_field_number(&field, &event), 0xfeff);
	field.flags = TRACE_FIELD_SIGNED;
	assert_int_equal(trace_field_number(&field, &event), (uint64_t)-0x101);
	field.flags = TRACE_FIELD_SWAP;
	assert_int_equal(trace_field_number(&field, &event), 0xfffe);
	field = (struct trace_field){ .offset = 9, .size = 4 };
	assert_int_equal(trace_field_number(&field, &event), 0); /* beyond the end */
	field.offset = UINT32_MAX;
	assert_int_equal(trace_field_number(&field, &event), 0);
	field = (struct trace_field){ .offset = 8, .size = 4, .flags = TRACE_FIELD_DYNAMIC };
	assert_ptr_equal(trace_field_data(&field, &event, &size), data + 4);
	assert_int_equal(size, 2);
	field.offset = 9;
	assert_null(trace_field_data(&field, &event, &size)); /* what it names is outside */
}

GROUP(set_up, tear_down);
