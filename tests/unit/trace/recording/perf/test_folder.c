/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_folder - folders as perf record --threads makes them: what is in each file, what is missing,
 * and what is damaged.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include "lib/array.h"
#include "trace/recording/perf/perf.h"
#include "tests/unit/unit.h"
#include "tests/worlds/perf_stacks.h"
#include "tests/worlds/trace_file.h"

#define NR_PIECES 4
#define NR_EVENTS 1000 /* in a piece */

enum shape {
	SHAPE_NONE, /* there is no such file */
	SHAPE_EMPTY,
	SHAPE_PLAIN,
	SHAPE_PACKED, /* compressed, one stream for each file */
	SHAPE_CUT, /* within its last record */
	SHAPE_DAMAGED, /* a record of 0 bytes in the middle */
	SHAPE_FOLDER, /* no file at all */
	NR_SHAPES,
};

/* What of a piece can be read, in events and problems. */
static const struct {
	size_t nr, problems;
} expected[NR_SHAPES] = {
	[SHAPE_EMPTY] = { 0, 0 },
	[SHAPE_PLAIN] = { NR_EVENTS, 0 },
	[SHAPE_PACKED] = { NR_EVENTS, 0 },
	[SHAPE_CUT] = { NR_EVENTS - 1, 1 },
	[SHAPE_DAMAGED] = { NR_EVENTS / 2, 1 },
	[SHAPE_FOLDER] = { 0, 1 },
};

static char folder[64];

static void name_piece(char *name, size_t size, size_t number)
{
	snprintf(name, size, "%s/data.%zu", folder, number);
}

static void empty_folder(void)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name,
			 strncmp(entry->d_name, "sub", 3) == 0 ? AT_REMOVEDIR : 0);
	closedir(dir);
	for (size_t i = 0; i < NR_PIECES; i++) {
		char name[96];

		name_piece(name, sizeof(name), i);
		rmdir(name);
	}
}

static int make_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/kvmtop-folder.XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	empty_folder();
	return rmdir(folder);
}

/* The i-th event of CPU `cpu`: events of all CPUs alternate, two neighbours are swapped. */
static uint64_t time_of(size_t cpu, size_t i)
{
	return 1000 + 10 * (i ^ 1) + cpu;
}

static void put_events(struct bytes *bytes, size_t cpu)
{
	struct bytes event = { .len = 0 };

	for (size_t i = 0; i < NR_EVENTS; i++) {
		put_entry(&event, 77, 0); /* one thread on all CPUs */
		put_sample(bytes, time_of(cpu, i), (uint32_t)cpu, 70, 77, &event);
	}
	bytes_release(&event);
}

static void pack(struct bytes *bytes, const struct bytes *records)
{
	size_t size = ZSTD_compressBound(records->len), n;
	char *packed = malloc(size);

	assert_non_null(packed);
	size = ZSTD_compress(packed, size, records->data, records->len, 3);
	assert_false(ZSTD_isError(size));
	for (size_t at = 0; at < size; at += n) {
		n = size - at < 100 ? size - at : 100;
		put_record(bytes, 81, n);
		put(bytes, packed + at, n);
	}
	free(packed);
}

static void make_piece(size_t number, enum shape shape)
{
	struct bytes records = { .len = 0 }, packed = { .len = 0 };
	char name[96];
	size_t size;

	name_piece(name, sizeof(name), number);
	put_events(&records, number);
	size = records.len / NR_EVENTS;
	if (shape == SHAPE_PACKED)
		pack(&packed, &records);
	if (shape == SHAPE_CUT)
		records.len -= 8;
	if (shape == SHAPE_DAMAGED)
		records.data[size * (NR_EVENTS / 2) + 6] = 0;
	if (shape == SHAPE_FOLDER)
		assert_int_equal(mkdir(name, 0700), 0);
	else if (shape == SHAPE_PACKED)
		save(name, packed.data, packed.len);
	else if (shape != SHAPE_NONE)
		save(name, records.data, shape == SHAPE_EMPTY ? 0 : records.len);
	bytes_release(&records);
	bytes_release(&packed);
}

/* The file with the header: names of threads, and what was lost in all. */
static void make_head(uint64_t lost)
{
	struct bytes file = { .len = 0 };
	char name[96];
	size_t data;

	put_perf_header(&file);
	data = file.len;
	put_perf_comm(&file, 70, 70, "qemu");
	put_perf_comm(&file, 70, 77, "CPU 0/KVM");
	if (lost)
		put_perf_lost_in_all(&file, 0, 0, lost);
	put_perf_features_of(&file, data, "GenuineIntel,6,1,1", true);
	snprintf(name, sizeof(name), "%s/data", folder);
	save(name, file.data, file.len);
	bytes_release(&file);
}

static struct trace *open_folder(void)
{
	const char *paths[] = { folder };
	struct trace *trace = NULL;
	struct error error = { "" };

	if (trace_open(paths, 1, TRACE_ANY, NULL, &trace, &error) != 0)
		fail_msg("%s", error.text);
	return trace;
}

static void fail_to_open(const char *name, int err, const char *text)
{
	const char *paths[] = { name };
	struct trace *trace;
	struct error error = { "" };

	assert_int_equal(trace_open(paths, 1, TRACE_ANY, NULL, &trace, &error), err);
	assert_non_null(strstr(error.text, text));
}

/* How many events there are, in order of time; and of one thread, wherever it ran. */
static size_t count_in_order(struct trace *trace)
{
	const struct trace_event *event;
	uint64_t last = 0, key = 0;
	size_t nr = 0;

	while (trace_next(trace, &event)) {
		assert_true(event->time > last);
		last = event->time;
		if (nr++ == 0)
			key = event->thread_key;
		assert_int_equal(event->thread_key, key);
		assert_int_equal(event->cpu, event->time % 10);
		assert_string_equal(trace_comm(trace, event), "CPU 0/KVM");
	}
	return nr;
}

static size_t count_problems(const struct trace *trace)
{
	size_t nr = 0;

	while (trace_problem(trace, nr))
		nr++;
	return nr;
}

/* Each shape of each piece beside each shape of the others. */
TEST(pieces_of_all_shapes)
{
	for (size_t n = 0; n < NR_SHAPES * NR_SHAPES * NR_SHAPES; n++) {
		const enum shape shapes[NR_PIECES] = { n % NR_SHAPES, n / NR_SHAPES % NR_SHAPES,
						       n / NR_SHAPES / NR_SHAPES, SHAPE_PLAIN };
		size_t nr = 0, problems = 0, missing = 0;
		struct trace *trace;

		empty_folder();
		make_head(0);
		for (size_t i = 0; i < NR_PIECES; i++) {
			make_piece(i, shapes[i]);
			nr += expected[shapes[i]].nr;
			problems += expected[shapes[i]].problems;
			missing += shapes[i] == SHAPE_NONE;
		}
		trace = open_folder();
		assert_int_equal(count_in_order(trace), nr);
		assert_int_equal(count_problems(trace), problems + (missing > 0));
		assert_null(trace_file(trace, 1));
		trace_close(trace);
	}
}

TEST(problems_name_the_file)
{
	char line[128];
	struct trace *trace;

	empty_folder();
	make_head(0);
	make_piece(0, SHAPE_PLAIN);
	make_piece(3, SHAPE_DAMAGED);
	trace = open_folder();
	count_in_order(trace);
	snprintf(line, sizeof(line), "%s: data.1 and 1 more files are missing", folder);
	assert_string_equal(trace_problem(trace, 0), line);
	snprintf(line, sizeof(line), "%s/data.3: at byte ", folder);
	assert_memory_equal(trace_problem(trace, 1), line, strlen(line));
	assert_string_equal(trace_file(trace, 0)->path, folder);
	trace_close(trace);
}

/* What one line says is not said of each file. Root could raise the limit. */
TEST(without_descriptors)
{
	pid_t child;
	int status;

	empty_folder();
	make_head(0);
	for (size_t i = 0; i < 40; i++)
		make_piece(i, SHAPE_PLAIN);
	assert_int_equal(chmod(folder, 0755), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		rlim_t nr = (rlim_t)dup(0) + 10;

		if (setrlimit(RLIMIT_NOFILE, &(struct rlimit){ nr, nr }) < 0 ||
		    (geteuid() == 0 && setuid(65534) < 0))
			_exit(99);
		_exit((int)count_problems(open_folder()));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
}

TEST(without_pieces)
{
	struct trace *trace;

	empty_folder();
	make_head(0);
	trace = open_folder();
	assert_int_equal(count_in_order(trace), 0);
	assert_int_equal(count_problems(trace), 1);
	assert_non_null(strstr(trace_problem(trace, 0), "data.0 is missing"));
	trace_close(trace);
}

/* perf record --kcore makes a folder, too: all records are in its file "data". */
TEST(a_folder_of_one_file)
{
	struct bytes file = { .len = 0 };
	struct trace *trace;
	char name[96];
	size_t data;

	empty_folder();
	put_perf_header(&file);
	data = file.len;
	put_perf_comm(&file, 70, 77, "CPU 0/KVM");
	put_events(&file, 0);
	put_perf_features(&file, data, "GenuineIntel,6,1,1");
	snprintf(name, sizeof(name), "%s/data", folder);
	save(name, file.data, file.len);
	bytes_release(&file);
	trace = open_folder();
	assert_int_equal(count_in_order(trace), NR_EVENTS);
	assert_int_equal(count_problems(trace), 0);
	trace_close(trace);
}

/* What perf says at the end was lost in all has in it what a CPU's records said. */
TEST(losses_are_of_all_pieces)
{
	const struct trace_event *event;
	struct bytes piece = { .len = 0 };
	uint64_t lost = 0;
	struct trace *trace;
	char name[96];

	empty_folder();
	make_head(12);
	for (size_t i = 0; i < 2; i++) {
		piece.len = 0;
		put_perf_lost(&piece, 2000 + i, (uint32_t)i, 3 + i);
		name_piece(name, sizeof(name), i);
		save(name, piece.data, piece.len);
	}
	bytes_release(&piece);
	trace = open_folder();
	while (trace_next(trace, &event)) {
		assert_null(event->type);
		lost += (uint64_t)event->lost;
	}
	assert_int_equal(lost, 12);
	trace_close(trace);
}

/* The next event of each piece is read ahead. An address is the time of its sample. */
TEST(stacks_are_of_their_samples)
{
	const struct trace_event *event;
	struct bytes bytes = { .len = 0 };
	struct trace *trace;
	size_t nr = 0, data;
	char name[96];

	empty_folder();
	put_perf_header(&bytes);
	data = bytes.len;
	put_clock(&bytes, PERF_TYPE_SOFTWARE);
	put_perf_features_of(&bytes, data, "GenuineIntel,6,1,1", true);
	snprintf(name, sizeof(name), "%s/data", folder);
	save(name, bytes.data, bytes.len);
	for (uint32_t i = 0; i < 3; i++) {
		bytes.len = 0;
		for (uint64_t time = 1000 + i; time < 1100; time += 10)
			put_stack(&bytes, time, 77 + i, 1, (const uint64_t[]){ OF_USER, time }, 2);
		name_piece(name, sizeof(name), i);
		save(name, bytes.data, bytes.len);
	}
	bytes_release(&bytes);
	trace = open_folder();
	trace_want_stacks(trace);
	for (; trace_next(trace, &event); nr++) {
		assert_non_null(event->stack);
		assert_int_equal(event->stack->nr, 1);
		assert_int_equal(event->stack->addresses[0], event->time);
		assert_int_equal(event->tid, 77 + event->time % 10);
	}
	assert_int_equal(nr, 30);
	trace_close(trace);
}

TEST(no_folders_of_perf)
{
	char name[96];

	empty_folder();
	fail_to_open(folder, -EISDIR, "a folder without a file \"data\"");
	snprintf(name, sizeof(name), "%s/data", folder);
	save(name, "", 0);
	fail_to_open(folder, -EINVAL, "is empty");
	save(name, "x\1y", 3);
	fail_to_open(folder, -EINVAL, "not a recording");
	save(name, "\027\010\104tracing6\0\0", 13);
	fail_to_open(folder, -EISDIR, "is a folder: name the trace.dat in it");
	unlink(name);
	assert_int_equal(mkfifo(name, 0600), 0);
	fail_to_open(folder, -EISDIR, "a folder without a file \"data\"");
	assert_false(trace_is_recording(folder));
	unlink(name);
	snprintf(name, sizeof(name), "%s/metadata", folder);
	save(name, "", 0);
	fail_to_open(folder, -EISDIR, "is a trace of LTTng's kind");
}

TEST(other_names_of_it)
{
	const char *paths[2] = { folder };
	struct error error;
	struct trace *trace;
	char name[96];

	empty_folder();
	make_head(0);
	make_piece(0, SHAPE_PLAIN);
	assert_true(trace_is_recording(folder));
	/* The file alone has no records. */
	snprintf(name, sizeof(name), "%s/data", folder);
	paths[1] = name;
	assert_int_equal(trace_open(&paths[1], 1, TRACE_ANY, NULL, &trace, &error), 0);
	assert_int_equal(count_in_order(trace), 0);
	assert_int_equal(count_problems(trace), 1);
	assert_non_null(strstr(trace_problem(trace, 0), "name the folder"));
	trace_close(trace);
	/* Both are the same recording. */
	assert_int_equal(trace_open(paths, 2, TRACE_ANY, NULL, &trace, &error), -EEXIST);
	/* As a shell completes it. */
	snprintf(name, sizeof(name), "%s//", folder);
	assert_int_equal(trace_open(&paths[1], 1, TRACE_ANY, NULL, &trace, &error), 0);
	assert_string_equal(trace_file(trace, 0)->path, folder);
	assert_int_equal(count_in_order(trace), NR_EVENTS);
	trace_close(trace);
}

/* ---- samples of every legal shape */

#define RAW "0123456789ab"

/* The fields of a sample, in this order. Source: PERF_RECORD_SAMPLE in uapi/linux/perf_event.h. */
static const uint64_t definition[] = {
	PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP,	    PERF_SAMPLE_TID,
	PERF_SAMPLE_TIME,	PERF_SAMPLE_ADDR,   PERF_SAMPLE_ID,
	PERF_SAMPLE_STREAM_ID,	PERF_SAMPLE_CPU,    PERF_SAMPLE_PERIOD,
	PERF_SAMPLE_READ,	PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_RAW,
	PERF_SAMPLE_BRANCH_STACK,
};

#define NR_FIELDS ARRAY_SIZE(definition)
#define NR_COUNTS 3

static void put_counts(struct bytes *bytes, uint64_t read_format)
{
	size_t nr = read_format & PERF_FORMAT_GROUP ? NR_COUNTS : 1;

	if (read_format & PERF_FORMAT_GROUP)
		put_u64(bytes, nr);
	else
		put_u64(bytes, 5);
	if (read_format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		put_u64(bytes, 6);
	if (read_format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		put_u64(bytes, 7);
	for (size_t i = 0; i < nr; i++) {
		if (read_format & PERF_FORMAT_GROUP)
			put_u64(bytes, 40 + i);
		if (read_format & PERF_FORMAT_ID)
			put_u64(bytes, 50 + i);
		if (read_format & 1U << 4) /* PERF_FORMAT_LOST */
			put_u64(bytes, 8);
	}
}

static void put_field(struct bytes *bytes, uint64_t bit, uint64_t read_format)
{
	switch (bit) {
	case PERF_SAMPLE_TID:
		put_u32(bytes, 70);
		put_u32(bytes, 77);
		break;
	case PERF_SAMPLE_TIME:
		put_u64(bytes, 1234);
		break;
	case PERF_SAMPLE_CPU:
		put_u32(bytes, 3);
		put_u32(bytes, 0);
		break;
	case PERF_SAMPLE_READ:
		put_counts(bytes, read_format);
		break;
	case PERF_SAMPLE_CALLCHAIN:
	case PERF_SAMPLE_BRANCH_STACK:
		put_u64(bytes, 2);
		for (int i = 0; i < (bit == PERF_SAMPLE_CALLCHAIN ? 2 : 6); i++)
			put_u64(bytes, 0xffffffff81000000);
		break;
	case PERF_SAMPLE_RAW:
		put_u32(bytes, strlen(RAW));
		put(bytes, RAW, strlen(RAW));
		break;
	default:
		put_u64(bytes, bit == PERF_SAMPLE_PERIOD ? 1 : 4711);
		break;
	}
}

static void check_sample(const struct perf_header *header, const struct bytes *bytes)
{
	uint64_t type = header->layouts[0].sample_type;
	struct perf_sample sample;

	assert_true(perf_sample_read(header, bytes->data, bytes->len, &sample));
	assert_int_equal(sample.tid, type & PERF_SAMPLE_TID ? 77 : -1);
	assert_int_equal(sample.pid, type & PERF_SAMPLE_TID ? 70 : -1);
	assert_int_equal(sample.time, type & PERF_SAMPLE_TIME ? 1234 : 0);
	assert_int_equal(sample.cpu, type & PERF_SAMPLE_CPU ? 3 : -1);
	assert_false(sample.is_of_several);
	if (type & PERF_SAMPLE_RAW) {
		assert_int_equal(sample.raw_size, strlen(RAW));
		assert_memory_equal(sample.raw, RAW, strlen(RAW));
	}
	/* Nothing is read beyond the record, and a record that ends in a field is damaged. */
	for (size_t size = 0; size < bytes->len; size += 4) {
		uint8_t *copy = malloc(size + 1);

		assert_non_null(copy);
		memcpy(copy, bytes->data, size);
		if (perf_sample_read(header, copy, size, &sample))
			assert_true(type & PERF_SAMPLE_BRANCH_STACK || size + 4 > bytes->len);
		free(copy);
	}
}

TEST(samples_of_every_shape)
{
	const uint64_t read_formats[] = { 0, 1 | 2, 4, 8 | 4, 8 | 4 | 1 | 2 | 16, 8 };
	struct bytes bytes = { .len = 0 };

	for (uint64_t n = 0; n < UINT64_C(1) << NR_FIELDS; n++) {
		struct perf_layout layout = { .read_format = read_formats[n % 6] };
		struct perf_header header = { .swap = n % 2, .layouts = &layout, .nr_layouts = 1 };

		bytes.len = 0;
		bytes.swap = n % 2;
		for (size_t i = 0; i < NR_FIELDS; i++) {
			if (!(n >> i & 1))
				continue;
			layout.sample_type |= definition[i];
			put_field(&bytes, definition[i], layout.read_format);
		}
		perf_layout_find_places(&layout);
		if (bytes.len)
			check_sample(&header, &bytes);
	}
	bytes_release(&bytes);
}

GROUP(make_folder, remove_folder);
