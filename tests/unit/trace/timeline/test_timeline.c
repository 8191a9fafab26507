// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_timeline - recordings with known contents become exactly these slices, points and counters,
 * in JSON that parses, whose slices nest.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>

#include <json-c/json.h>

#include "cmd/command.h"
#include "tests/unit/unit.h"
#include "tests/worlds/trace_world_linux.h"
#include "trace/exits/recording.h"
#include "trace/timeline/timeline.h"

enum { ID_USERSPACE = 200, ID_OFFSET, ID_PVCLOCK, ID_WAKEUP, ID_POLL, ID_NESTED };

static const char *const more_formats[] = {
	"name: kvm_userspace_exit\nID: 200\n" COMMON_FIELDS
	"\tfield:__u32 reason;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:int errno;\toffset:12;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"reason %s\", __print_symbolic(REC->reason, { 2, \"KVM_EXIT_IO\" }, "
	"{ 6, \"KVM_EXIT_MMIO\" })\n",
	"name: kvm_write_tsc_offset\nID: 201\n" COMMON_FIELDS
	"\tfield:unsigned int vcpu_id;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:__u64 previous_tsc_offset;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:__u64 next_tsc_offset;\toffset:24;\tsize:8;\tsigned:0;\n\n"
	"print fmt: \"vcpu=%u\", REC->vcpu_id\n",
	"name: kvm_pvclock_update\nID: 202\n" COMMON_FIELDS
	"\tfield:unsigned int vcpu_id;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:__u32 tsc_to_system_mul;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\tfield:__s8 tsc_shift;\toffset:16;\tsize:1;\tsigned:1;\n\n"
	"print fmt: \"vcpu=%u\", REC->vcpu_id\n",
	"name: kvm_vcpu_wakeup\nID: 203\n" COMMON_FIELDS
	"\tfield:__u64 ns;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:bool waited;\toffset:16;\tsize:1;\tsigned:0;\n\n"
	"print fmt: \"%llu ns\", REC->ns\n",
	"name: kvm_halt_poll_ns\nID: 204\n" COMMON_FIELDS
	"\tfield:unsigned int old;\toffset:8;\tsize:4;\tsigned:0;\n\n"
	"print fmt: \"%u\", REC->old\n",
	"name: kvm_nested_vmexit\nID: 205\n" COMMON_FIELDS
	"\tfield:__u64 rip;\toffset:8;\tsize:8;\tsigned:0;\n\n"
	"print fmt: \"%llx\", REC->rip\n",
};

#define NR_FORMATS (NR_WORLD_FORMATS + 6)

/* What one event of the timeline says; a copy. */
struct drawn {
	char kind;
	char name[64], category[32], args[256], value[32];
	int64_t process, track, ns, dur_ns;
};

struct picture {
	struct drawn *drawn;
	size_t nr;
	struct json_object *root;
};

static char folder[64], dat[96], out[96], guest[96], counters[96], said[96];

static int set_up(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/kvmtop-timeline.XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(dat, sizeof(dat), "%s/kvm.dat", folder);
	snprintf(out, sizeof(out), "%s/out.json", folder);
	snprintf(guest, sizeof(guest), "%s/guest.json", folder);
	snprintf(counters, sizeof(counters), "%s/stat.txt", folder);
	snprintf(said, sizeof(said), "%s/said", folder);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(dat);
	unlink(out);
	unlink(guest);
	unlink(counters);
	unlink(said);
	return rmdir(folder);
}

/* ---- what is recorded ---- */

static struct made_ring rings[2];
static struct bytes event;

static void begin(void)
{
	ring_init(&rings[0], 0);
	ring_init(&rings[1], 0);
}

static void add_exit(int cpu, uint64_t time, uint32_t tid, uint32_t vcpu, uint32_t reason)
{
	put_exit(&event, tid, vcpu, 1, reason);
	ring_add(&rings[cpu], time, &event);
}

static void add_entry(int cpu, uint64_t time, uint32_t tid, uint32_t vcpu)
{
	put_entry(&event, tid, vcpu);
	ring_add(&rings[cpu], time, &event);
}

static void add_msr(int cpu, uint64_t time, uint32_t tid)
{
	put_msr(&event, tid, 1, 0x80b);
	ring_add(&rings[cpu], time, &event);
}

static void add_userspace(int cpu, uint64_t time, uint32_t tid, uint32_t reason)
{
	put_common(&event, ID_USERSPACE, tid);
	put_u32(&event, reason);
	put_u32(&event, 0);
	ring_add(&rings[cpu], time, &event);
}

static void add_offset(int cpu, uint64_t time, uint32_t tid, uint32_t vcpu, int64_t offset)
{
	put_common(&event, ID_OFFSET, tid);
	put_u32(&event, vcpu);
	put_u32(&event, 0);
	put_u64(&event, 0);
	put_u64(&event, (uint64_t)offset);
	ring_add(&rings[cpu], time, &event);
}

static void end(const char *clock)
{
	const char *formats[NR_FORMATS];
	struct bytes file = { 0 };

	memcpy(formats, world_formats, sizeof(world_formats));
	memcpy(formats + NR_WORLD_FORMATS, more_formats, sizeof(more_formats));
	put_dat6(&file, rings, 2, formats, NR_FORMATS, clock);
	save(dat, file.data, file.len);
	bytes_release(&file);
	bytes_release(&event);
}

/* ---- what is drawn ---- */

static int run(const char *const *words);

/* What the program says: all of it, or "". */
static const char *run_saying(const char *const *words, int want)
{
	static char text[1024];
	int old = dup(STDERR_FILENO), fd = open(said, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ssize_t len;

	assert_true(old >= 0 && fd >= 0);
	dup2(fd, STDERR_FILENO);
	assert_int_equal(run(words), want);
	dup2(old, STDERR_FILENO);
	close(old);
	len = pread(fd, text, sizeof(text) - 1, 0);
	close(fd);
	text[len > 0 ? len : 0] = '\0';
	return text;
}

static int run(const char *const *words)
{
	char *argv[16] = { (char *)(uintptr_t) "kvmtop", (char *)(uintptr_t) "timeline",
			   (char *)(uintptr_t) "-o", out };
	int argc = 4;

	while (*words)
		argv[argc++] = (char *)(uintptr_t)*words++;
	return command_main(argc, argv);
}

static const char *text_of(struct json_object *object, const char *name)
{
	struct json_object *value;

	return json_object_object_get_ex(object, name, &value) ? json_object_get_string(value) : "";
}

static int64_t ns_of(struct json_object *object, const char *name)
{
	const char *text = text_of(object, name);
	uint64_t time;
	bool is_negative = *text == '-';

	if (!*text)
		return 0;
	assert_true(functions_time(text + is_negative, &time));
	return is_negative ? -(int64_t)time : (int64_t)time;
}

static struct drawn read_drawn(struct json_object *object)
{
	struct json_object *args;
	struct drawn drawn = {
		.kind = text_of(object, "ph")[0],
		.process = atoll(text_of(object, "pid")),
		.track = atoll(text_of(object, "tid")),
		.ns = ns_of(object, "ts"),
		.dur_ns = ns_of(object, "dur"),
	};

	snprintf(drawn.name, sizeof(drawn.name), "%s", text_of(object, "name"));
	snprintf(drawn.category, sizeof(drawn.category), "%s", text_of(object, "cat"));
	if (json_object_object_get_ex(object, "args", &args)) {
		snprintf(drawn.args, sizeof(drawn.args), "%s",
			 json_object_to_json_string_ext(args, JSON_C_TO_STRING_PLAIN));
		snprintf(drawn.value, sizeof(drawn.value), "%s", text_of(args, "value"));
	}
	return drawn;
}

static int earlier(const void *a, const void *b)
{
	const struct drawn *one = a, *other = b;

	if (one->process != other->process)
		return one->process < other->process ? -1 : 1;
	if (one->track != other->track)
		return one->track < other->track ? -1 : 1;
	if (one->ns != other->ns)
		return one->ns < other->ns ? -1 : 1;
	return 0;
}

/* Whether each slice is within what is open on its track when it begins, or behind it. */
static void slices_nest(struct picture *picture)
{
	int64_t ends[64];
	size_t depth = 0;
	const struct drawn *before = NULL;

	for (size_t i = 0; i < picture->nr; i++) {
		const struct drawn *slice = &picture->drawn[i];
		int64_t slice_end = slice->ns + slice->dur_ns;

		if (slice->kind != 'X')
			continue;
		assert_true(slice->dur_ns >= 0);
		if (before && (before->process != slice->process || before->track != slice->track))
			depth = 0;
		while (depth && ends[depth - 1] <= slice->ns)
			depth--;
		if (depth && slice_end > ends[depth - 1])
			fail_msg("%s at %" PRId64 " is not within its parent", slice->name,
				 slice->ns);
		assert_true(depth < 64);
		ends[depth++] = slice_end;
		before = slice;
	}
}

/* Sorts as readers do: those of one time stay in the file's order. */
static void sort(struct drawn *drawn, size_t nr)
{
	for (size_t i = 1; i < nr; i++) {
		struct drawn moved = drawn[i];
		size_t j = i;

		for (; j && earlier(&drawn[j - 1], &moved) > 0; j--)
			drawn[j] = drawn[j - 1];
		drawn[j] = moved;
	}
}

static struct picture picture_of(const char *path)
{
	struct picture picture = { .root = json_object_from_file(path) };
	struct json_object *list;

	assert_non_null(picture.root);
	assert_true(json_object_object_get_ex(picture.root, "traceEvents", &list));
	assert_string_equal(text_of(picture.root, "displayTimeUnit"), "ns");
	picture.nr = json_object_array_length(list);
	picture.drawn = calloc(picture.nr + 1, sizeof(*picture.drawn));
	assert_non_null(picture.drawn);
	for (size_t i = 0; i < picture.nr; i++)
		picture.drawn[i] = read_drawn(json_object_array_get_idx(list, i));
	sort(picture.drawn, picture.nr);
	slices_nest(&picture);
	return picture;
}

static void picture_release(struct picture *picture)
{
	json_object_put(picture->root);
	free(picture->drawn);
}

/* "X name cat track ns+dur" and so on, a line each, but for the names of tracks. */
static void is_drawn(const struct picture *picture, const char *want)
{
	char got[8192] = "";
	size_t n = 0;

	for (size_t i = 0; i < picture->nr; i++) {
		const struct drawn *drawn = &picture->drawn[i];

		if (drawn->kind == 'M')
			continue;
		n += (size_t)snprintf(got + n, sizeof(got) - n,
				      "%c %s|%s|%" PRId64 ".%" PRId64 " %" PRId64 "+%" PRId64
				      " %s\n",
				      drawn->kind, drawn->name, drawn->category, drawn->process,
				      drawn->track, drawn->ns, drawn->dur_ns, drawn->value);
	}
	if (strcmp(got, want) != 0)
		fail_msg("got:\n%swanted:\n%s", got, want);
}

static const struct drawn *find(const struct picture *picture, char kind, const char *name)
{
	for (size_t i = 0; i < picture->nr; i++) {
		if (picture->drawn[i].kind == kind && strcmp(picture->drawn[i].name, name) == 0)
			return &picture->drawn[i];
	}
	fail_msg("no %c %s", kind, name);
	return NULL;
}

/* ---- KVM's events ---- */

TEST(draws_guest_kvm_userspace_and_halted)
{
	struct picture picture;

	begin();
	add_entry(0, 1000, 177, 0);
	add_exit(0, 1500, 177, 0, 30);
	add_msr(0, 1600, 177);
	add_userspace(0, 1700, 177, 2);
	add_entry(0, 2500, 177, 0);
	add_exit(0, 3000, 177, 0, 12);
	add_entry(0, 9001, 177, 0);
	add_exit(0, 9500, 177, 0, 0x77);
	end("[local]");
	assert_int_equal(run((const char *[]){ "-r", dat, NULL }), 0);
	picture = picture_of(out);
	is_drawn(&picture, "X guest|guest|1.177 0+500 \n"
			   "X IO_INSTRUCTION|kvm|1.177 500+1000 \n"
			   "i kvm_msr|kvm|1.177 600+0 \n"
			   "X userspace (IO)|userspace|1.177 700+800 \n"
			   "X guest|guest|1.177 1500+500 \n"
			   "X HLT|kvm|1.177 2000+6001 \n"
			   "X halted|halted|1.177 2000+6001 \n"
			   "X guest|guest|1.177 8001+499 \n"
			   "X FROM_THE_FUTURE|kvm,cut|1.177 8500+0 \n");
	assert_string_equal(find(&picture, 'X', "IO_INSTRUCTION")->args,
			    "{\"exit_reason\":30,\"isa\":1,\"vcpu_id\":0}");
	assert_string_equal(find(&picture, 'i', "kvm_msr")->args, "{\"write\":1,\"ecx\":2059}");
	assert_string_equal(find(&picture, 'M', "thread_name")->args, "{\"name\":\"vCPU 0\"}");
	picture_release(&picture);
}

TEST(what_the_recording_cuts_is_marked)
{
	struct picture picture;

	begin();
	add_exit(0, 1000, 177, 0, 12);
	add_entry(0, 1100, 177, 0);
	add_exit(1, 1200, 178, 1, 30); /* in the guest since the beginning */
	add_userspace(1, 1250, 178, 6);
	add_exit(1, 1300, 178, 1, 12); /* an entry is missing */
	add_entry(0, 1400, 179, 2);    /* in KVM since the beginning */
	add_entry(0, 1450, 179, 2);    /* an exit is missing */
	add_msr(0, 1500, 177);
	end("[local]");
	assert_int_equal(run((const char *[]){ "-r", dat, NULL }), 0);
	picture = picture_of(out);
	is_drawn(&picture, "X HLT|kvm|1.177 0+100 \n"
			   "X halted|halted|1.177 0+100 \n"
			   "X guest|guest,cut|1.177 100+400 \n"
			   "i kvm_msr|kvm|1.177 500+0 \n"
			   "X guest|guest,cut|1.178 0+200 \n"
			   "X IO_INSTRUCTION|kvm,cut|1.178 200+100 \n"
			   "X userspace (MMIO)|userspace,cut|1.178 250+50 \n"
			   "X HLT|kvm,cut|1.178 300+200 \n"
			   "X halted|halted,cut|1.178 300+200 \n"
			   "X KVM|kvm,cut|1.179 0+400 \n"
			   "X guest|guest,cut|1.179 400+50 \n"
			   "X guest|guest,cut|1.179 450+50 \n");
	picture_release(&picture);
}

TEST(lost_events_end_what_is_open)
{
	struct picture picture;

	begin();
	add_entry(0, 1000, 177, 0);
	add_entry(1, 1001, 178, 1);
	ring_lose(&rings[0], 42);
	add_exit(0, 2000, 177, 0, 12);
	add_entry(0, 2100, 177, 0);
	end("[local]");
	assert_int_equal(run((const char *[]){ "-r", dat, NULL }), 0);
	picture = picture_of(out);
	assert_string_equal(find(&picture, 'i', "events lost")->args, "{\"lost\":42}");
	assert_string_equal(find(&picture, 'X', "guest")->category, "guest,cut");
	assert_string_equal(find(&picture, 'X', "HLT")->category, "kvm");
	picture_release(&picture);
}

/* Two threads that are vCPU 0 are of two guests. */
TEST(guests_are_processes)
{
	struct picture picture;
	static const char *const names[] = { "{\"name\":\"kvm.dat\"}",
					     "{\"name\":\"kvm.dat (2)\"}" };
	size_t processes = 0;

	begin();
	add_entry(0, 1000, 177, 0);
	add_entry(0, 1001, 190, 0);
	add_entry(0, 1002, 178, 1);
	add_entry(0, 1003, 191, 1);
	end("[local]");
	assert_int_equal(run((const char *[]){ "-r", dat, NULL }), 0);
	picture = picture_of(out);
	for (size_t i = 0; i < picture.nr; i++) {
		const struct drawn *drawn = &picture.drawn[i];

		if (strcmp(drawn->name, "process_name") == 0)
			assert_string_equal(drawn->args, names[processes++ % 2]);
		if (drawn->kind == 'X')
			assert_int_equal(drawn->process, drawn->track < 190 ? 1 : 2);
	}
	assert_int_equal(processes, 2);
	picture_release(&picture);
}

/* Without kvm_exit (PVM) an exit to user space has no end: it is a point. */
TEST(without_exits_there_are_points)
{
	struct picture picture;

	begin();
	add_userspace(0, 1000, 177, 2);
	add_userspace(0, 1500, 177, 5);
	end("[local]");
	assert_int_equal(run((const char *[]){ "-r", dat, NULL }), 0);
	picture = picture_of(out);
	is_drawn(&picture, "i kvm_userspace_exit|kvm|1.177 0+0 \n"
			   "i kvm_userspace_exit|kvm|1.177 500+0 \n");
	picture_release(&picture);
}

/* Also an event that tells something of an exit. */
TEST(all_other_events_are_points)
{
	struct picture picture;

	begin();
	add_exit(0, 1000, 77, 0, 12);
	for (unsigned int id = ID_WAKEUP; id <= ID_NESTED; id++) {
		put_common(&event, id, 77);
		put_u64(&event, 7);
		put_u64(&event, 0);
		ring_add(&rings[0], 1000 + id, &event);
	}
	add_entry(0, 2000, 77, 0);
	end("[mono]");
	assert_int_equal(run((const char *[]){ "-r", dat, NULL }), 0);
	picture = picture_of(out);
	is_drawn(&picture, "X HLT L2|kvm|1.77 0+1000 \n"
			   "X halted|halted|1.77 0+1000 \n"
			   "i kvm_vcpu_wakeup|kvm|1.77 203+0 \n"
			   "i kvm_halt_poll_ns|kvm|1.77 204+0 \n"
			   "i kvm_nested_vmexit|kvm|1.77 205+0 \n"
			   "X guest|guest,cut|1.77 1000+0 \n");
	picture_release(&picture);
}

/* All is drawn, and tracks have names, of others as instants on one track. */
TEST(more_threads_than_are_kept)
{
	enum { NR = TABLE_THREADS + 10 };
	size_t nr = 0, nr_others = 0, nr_names = 0;
	char line[1024];
	FILE *file;

	begin();
	for (uint32_t tid = 1; tid <= NR; tid++)
		add_exit(0, 1000 + tid, tid, 0, 30);
	end("[mono]");
	assert_int_equal(run((const char *[]){ "-r", dat, NULL }), 0);
	file = fopen(out, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		nr += strstr(line, "\"name\":\"IO_INSTRUCTION\"") != NULL;
		nr_others += strstr(line, "\"name\":\"kvm_exit\"") != NULL;
		nr_names += strstr(line, "\"name\":\"thread_name\"") != NULL;
	}
	fclose(file);
	assert_int_equal(nr, TABLE_THREADS);
	assert_int_equal(nr_others, 10);
	assert_int_equal(nr_names, TABLE_THREADS + 1);
}

/* ---- as report says ---- */

static void many_exits(void)
{
	uint64_t time = 1000, seed = 1;

	begin();
	for (uint32_t i = 0; i < 2000; i++) {
		uint32_t tid = 177 + i % 3;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		time += 1 + (seed >> 40) % 1000;
		add_exit(0, time, tid, i % 3, (seed >> 20) % 3 ? 30 : 12);
		time += 1 + (seed >> 50) % 5000;
		add_entry(0, time, tid, i % 3);
	}
	end("[local]");
}

static uint64_t sum_of_report(int tid, uint64_t *ret_count)
{
	const struct recording_choice choice = { .kind = TRACE_ANY };
	const char *const paths[] = { dat };
	struct recording recording;
	const struct table *table = &recording.pairing.table;
	uint64_t sum = 0, count = 0;

	assert_int_equal(recording_read(paths, 1, &choice, &recording, NULL), 0);
	for (size_t i = 0; i < table->nr_threads; i++) {
		const struct recorded_thread *thread = table->threads[i];

		for (size_t j = 0; thread->tid == tid && j < thread->counts.nr; j++) {
			sum += thread->counts.list[j]->took.total_ns;
			count += thread->counts.list[j]->took.count;
		}
	}
	recording_release(&recording);
	*ret_count = count;
	return sum;
}

TEST(sums_are_those_of_the_report)
{
	struct picture picture;

	many_exits();
	assert_int_equal(run((const char *[]){ "-r", dat, NULL }), 0);
	picture = picture_of(out);
	for (int tid = 177; tid < 180; tid++) {
		uint64_t sum = 0, count = 0, report_count = 0;
		uint64_t report = sum_of_report(tid, &report_count);

		for (size_t i = 0; i < picture.nr; i++) {
			const struct drawn *drawn = &picture.drawn[i];

			if (drawn->track != tid || strcmp(drawn->category, "kvm") != 0)
				continue;
			sum += (uint64_t)drawn->dur_ns;
			count++;
		}
		assert_true(report_count > 600);
		assert_int_equal(count, report_count);
		assert_int_equal(sum, report);
	}
	picture_release(&picture);
}

/* Which processor a kvmtrace is from shows in the numbers that only one of them has. */
TEST(old_kernels_exits_are_named_by_their_processor)
{
	const uint32_t interrupt = 0x60, halt = 0x78, failed = UINT32_MAX, vmx_halt = 12;
	struct bytes file = { 0 };
	struct picture picture;

	put_u32(&file, 0x12345678);
	put_kvmtrace(&file, 1000, 0x10002, 7, 0, 1, &interrupt);
	put_kvmtrace(&file, 2000, 0x10001, 7, 0, 0, NULL);
	put_kvmtrace(&file, 3000, 0x10002, 7, 0, 1, &halt);
	put_kvmtrace(&file, 4000, 0x10001, 7, 0, 0, NULL);
	put_kvmtrace(&file, 5000, 0x10002, 7, 0, 1, &failed);
	put_kvmtrace(&file, 7000, 0x10001, 7, 0, 0, NULL);
	save(dat, file.data, file.len);
	assert_int_equal(run((const char *[]){ "-r", dat, "--frequency", "1000000", NULL }), 0);
	picture = picture_of(out);
	assert_int_equal(find(&picture, 'X', "interrupt")->dur_ns, 1000);
	assert_int_equal(find(&picture, 'X', "hlt")->dur_ns, 1000);
	assert_int_equal(find(&picture, 'X', "invalid_guest_state")->dur_ns, 2000);
	assert_string_equal(find(&picture, 'M', "process_name")->args, "{\"name\":\"process 7\"}");
	picture_release(&picture);
	file.len = 4;
	put_kvmtrace(&file, 1000, 0x10002, 7, 0, 1, &vmx_halt);
	put_kvmtrace(&file, 2000, 0x10001, 7, 0, 0, NULL);
	save(dat, file.data, file.len);
	assert_int_equal(run((const char *[]){ "-r", dat, "--frequency", "1000000", NULL }), 0);
	picture = picture_of(out);
	assert_int_equal(find(&picture, 'X', "halted")->dur_ns, 1000);
	picture_release(&picture);
	bytes_release(&file);
}

TEST(cycles_need_a_frequency)
{
	struct picture picture;

	begin();
	add_exit(0, 3000000, 177, 0, 30);
	add_entry(0, 6000000, 177, 0);
	end("[x86-tsc]");
	assert_int_equal(run((const char *[]){ "-r", dat, NULL }), 1);
	assert_int_equal(run((const char *[]){ "-r", dat, "--frequency", "3000000", NULL }), 0);
	picture = picture_of(out);
	assert_int_equal(find(&picture, 'X', "IO_INSTRUCTION")->dur_ns, 1000000);
	picture_release(&picture);
}

/* ---- function calls ---- */

static void write_guest(const char *text)
{
	save(guest, text, strlen(text));
}

TEST(calls_become_slices)
{
	struct picture picture;

	write_guest("{\"traceEvents\":[\n"
		    "{\"ts\":0,\"ph\":\"M\",\"pid\":5,\"name\":\"process_name\",\"args\":"
		    "{\"name\":\"[5] app\"}},\n"
		    "{\"ts\":1.000,\"ph\":\"B\",\"pid\":5,\"name\":\"main\"},\n"
		    "{\"ts\":1.500,\"ph\":\"B\",\"pid\":5,\"name\":\"f \\\"x\\\"\",\"args\":"
		    "{\"arguments\":\"(1)\"}},\n"
		    "{\"ts\":2.000,\"ph\":\"E\",\"pid\":5,\"name\":\"f \\\"x\\\"\",\"args\":"
		    "{\"retval\":7}},\n"
		    "{\"ts\":3,\"ph\":\"E\",\"pid\":5,\"name\":\"main\"}\n"
		    "], \"displayTimeUnit\": \"ns\", \"metadata\": {}}\n");
	assert_int_equal(run((const char *[]){ "-O", "0", guest, NULL }), 0);
	picture = picture_of(out);
	assert_int_equal(find(&picture, 'X', "main")->ns, 0);
	assert_int_equal(find(&picture, 'X', "main")->dur_ns, 2000);
	assert_int_equal(find(&picture, 'X', "main")->track, 5);
	assert_int_equal(find(&picture, 'X', "f \"x\"")->ns, 500);
	assert_int_equal(find(&picture, 'X', "f \"x\"")->dur_ns, 500);
	assert_string_equal(find(&picture, 'X', "f \"x\"")->args,
			    "{\"arguments\":\"(1)\",\"retval\":7}");
	assert_string_equal(find(&picture, 'M', "process_name")->args,
			    "{\"name\":\"guest.json: [5] app\"}");
	picture_release(&picture);
}

TEST(unbalanced_calls_are_closed_at_the_cut)
{
	struct picture picture;

	write_guest("[{\"ts\":1,\"ph\":\"B\",\"pid\":5,\"tid\":6,\"name\":\"a\"},"
		    "{\"ts\":2,\"ph\":\"E\",\"pid\":5,\"tid\":6,\"name\":\"a\"},"
		    "{\"ts\":3,\"ph\":\"E\",\"pid\":5,\"tid\":6,\"name\":\"inner\"},"
		    "{\"ts\":4,\"ph\":\"E\",\"pid\":5,\"tid\":6,\"name\":\"outer\"},"
		    "{\"ts\":5,\"ph\":\"B\",\"pid\":5,\"tid\":6,\"name\":\"b\"},"
		    "{\"ts\":5,\"ph\":\"B\",\"pid\":5,\"tid\":6,\"name\":\"c\"},"
		    "{\"ts\":5,\"ph\":\"B\",\"pid\":5,\"tid\":6,\"name\":\"d\"},"
		    "{\"ts\":6,\"ph\":\"E\",\"pid\":5,\"tid\":6,\"name\":\"c\"},"
		    "{\"ts\":7,\"ph\":\"B\",\"pid\":5,\"tid\":6,\"name\":\"e\"}]");
	assert_int_equal(run((const char *[]){ guest, NULL }), 0);
	picture = picture_of(out);
	assert_int_equal(find(&picture, 'X', "inner")->ns, 1);
	assert_int_equal(find(&picture, 'X', "inner")->dur_ns, 2001);
	assert_int_equal(find(&picture, 'X', "outer")->ns, 0);
	assert_int_equal(find(&picture, 'X', "outer")->dur_ns, 3002);
	assert_string_equal(find(&picture, 'X', "outer")->category, "function,cut");
	assert_string_equal(find(&picture, 'X', "a")->category, "function");
	assert_string_equal(find(&picture, 'X', "d")->category, "function,cut");
	assert_string_equal(find(&picture, 'X', "c")->category, "function");
	assert_int_equal(find(&picture, 'X', "d")->ns, 4004);
	assert_string_equal(find(&picture, 'X', "b")->category, "function,cut");
	assert_int_equal(find(&picture, 'X', "b")->dur_ns, 2000);
	assert_int_equal(find(&picture, 'X', "e")->dur_ns, 0);
	picture_release(&picture);
}

/* The guest's clock is behind: guest = host + offset, and the offset is a negative number. */
static void begin_offsets(void)
{
	begin();
	add_offset(0, 1000000, 177, 0, -400000);
	add_offset(0, 1000010, 178, 1, -300000);
	add_offset(0, 2000000, 177, 0, -500000);
	add_entry(0, 3000000, 177, 0);
	end("[x86-tsc]");
}

TEST(offsets_are_the_last_ones_before)
{
	struct picture picture;

	begin_offsets();
	write_guest("[{\"ts\":1100,\"ph\":\"B\",\"pid\":5,\"tid\":1,\"name\":\"early\"},"
		    "{\"ts\":1101,\"ph\":\"E\",\"pid\":5,\"tid\":1},"
		    "{\"ts\":1700,\"ph\":\"B\",\"pid\":5,\"tid\":1,\"name\":\"late\"},"
		    "{\"ts\":1701,\"ph\":\"E\",\"pid\":5,\"tid\":1},"
		    "{\"ts\":1700,\"ph\":\"B\",\"pid\":5,\"tid\":2,\"name\":\"second\"},"
		    "{\"ts\":1701,\"ph\":\"E\",\"pid\":5,\"tid\":2}]");
	assert_int_equal(run((const char *[]){ "-r", dat, "--frequency", "1000000", guest, NULL }),
			 0);
	picture = picture_of(out);
	/* At 1 GHz a cycle is a nanosecond; KVM's first event is at 1,000,000. */
	assert_int_equal(find(&picture, 'X', "early")->ns, 1500000 - 1000000);
	assert_int_equal(find(&picture, 'X', "late")->ns, 2200000 - 1000000);
	assert_int_equal(find(&picture, 'X', "second")->ns, 2000000 - 1000000);
	picture_release(&picture);
	assert_int_equal(run((const char *[]){ "-r", dat, "--frequency", "1000000", "-O",
					       "18446744073709551516", guest, NULL }),
			 0);
	picture = picture_of(out);
	assert_int_equal(find(&picture, 'X', "early")->ns, 1100100 - 1000000);
	picture_release(&picture);
}

/* The offset of web1, a guest that the file names, is 400,000; of the other guest, 100,000. */
static void begin_two_guests(void)
{
	begin();
	add_offset(0, 1000000, 77, 0, -400000);
	add_offset(0, 1000010, 177, 0, -100000);
	add_entry(0, 3000000, 177, 0);
	end("[x86-tsc]");
	write_guest("[{\"ts\":1500,\"ph\":\"B\",\"pid\":5,\"tid\":1,\"name\":\"call\"},"
		    "{\"ts\":1501,\"ph\":\"E\",\"pid\":5,\"tid\":1}]");
}

static void is_call_at(int64_t ns)
{
	struct picture picture = picture_of(out);

	assert_int_equal(find(&picture, 'X', "call")->ns, ns - 1000000);
	picture_release(&picture);
}

TEST(a_trace_is_of_the_guest_that_is_named)
{
	char named[128];
	const char *text;

	begin_two_guests();
	text = run_saying((const char *[]){ "-r", dat, "--frequency", "1000000", guest, NULL }, 0);
	assert_non_null(strstr(text, ": taken for a trace of web1, one of the recording's 2 "
				     "guests: name the right one with GUEST="));
	is_call_at(1900000);
	snprintf(named, sizeof(named), "web1=%s", guest);
	text = run_saying((const char *[]){ "-r", dat, "--frequency", "1000000", named, NULL }, 0);
	assert_string_equal(text, "");
	is_call_at(1900000);
	snprintf(named, sizeof(named), "kvm.dat=%s", guest);
	text = run_saying((const char *[]){ "-r", dat, "--frequency", "1000000", named, NULL }, 0);
	assert_string_equal(text, "");
	is_call_at(1600000);
	text = run_saying(
		(const char *[]){ "-r", dat, "--frequency", "1000000", "-m", named, NULL }, 0);
	assert_string_equal(text, "");
	is_call_at(1600000);
	snprintf(named, sizeof(named), "web=%s", guest);
	text = run_saying((const char *[]){ "-r", dat, "--frequency", "1000000", named, NULL }, 1);
	assert_string_equal(text, "kvmtop: no guest of the recording is called web: its guests "
				  "are web1, kvm.dat\n");
}

/* Readers drop times before 0. */
TEST(the_earliest_of_all_is_the_base)
{
	const char *args[] = { "-r",  dat,	     "--frequency", "1000000", "-m",
			       guest, "--perf-stat", counters,	    NULL };
	struct picture picture;

	begin();
	add_entry(0, 300000000000, 177, 0);
	add_exit(0, 300000002000, 177, 0, 12);
	end("[x86-tsc]");
	write_guest("[{\"ts\":299999000,\"ph\":\"B\",\"pid\":5,\"name\":\"late\"},"
		    "{\"ts\":299999500,\"ph\":\"E\",\"pid\":5,\"name\":\"late\"},"
		    "{\"ts\":100000000,\"ph\":\"B\",\"pid\":5,\"tid\":6,\"name\":\"early\"},"
		    "{\"ts\":100000500,\"ph\":\"E\",\"pid\":5,\"tid\":6,\"name\":\"early\"}]");
	save(counters, "rdtsc 250000000000\n1.0,5,,a,1,1,,\n", 34);
	assert_int_equal(run(args), 0);
	picture = picture_of(out);
	assert_int_equal(find(&picture, 'X', "early")->ns, 0);
	assert_int_equal(find(&picture, 'X', "early")->dur_ns, 500000);
	assert_int_equal(find(&picture, 'X', "late")->ns, 199999000000);
	assert_int_equal(find(&picture, 'X', "guest")->ns, 200000000000);
	assert_int_equal(find(&picture, 'C', "a")->ns, 150000000000);
	assert_non_null(strstr(json_object_to_json_string_ext(picture.root, JSON_C_TO_STRING_PLAIN),
			       "\"base\":\"100000000000\""));
	picture_release(&picture);
}

TEST(times_that_do_not_meet_are_told)
{
	const char *text;

	begin();
	add_entry(0, 10000, 177, 0);
	add_exit(0, 12000, 177, 0, 12);
	end("[local]");
	write_guest("[{\"ts\":11,\"ph\":\"B\",\"pid\":5,\"name\":\"call\"},"
		    "{\"ts\":11.5,\"ph\":\"E\",\"pid\":5,\"name\":\"call\"}]");
	text = run_saying((const char *[]){ "-r", dat, "-m", guest, NULL }, 0);
	assert_non_null(strstr(text, "guest.json: uftrace's clock is CLOCK_MONOTONIC, the "
				     "recording's is \"local\": the two may be apart; record with "
				     "kvmtop record -C mono\n"));
	begin();
	add_entry(0, 10000, 177, 0);
	add_exit(0, 12000, 177, 0, 12);
	end("local [mono]");
	text = run_saying((const char *[]){ "-r", dat, "-m", guest, NULL }, 0);
	assert_string_equal(text, "");
	write_guest("[{\"ts\":500000,\"ph\":\"B\",\"pid\":5,\"name\":\"call\"},"
		    "{\"ts\":500012,\"ph\":\"E\",\"pid\":5,\"name\":\"call\"}]");
	text = run_saying((const char *[]){ "-r", dat, "-m", guest, NULL }, 0);
	assert_non_null(strstr(text, "all of its calls are after the recording, by 0.499988 s: "
				     "are both of one time, and on CLOCK_MONOTONIC?\n"));
	begin();
	add_entry(0, 10000, 177, 0);
	end("[x86-tsc]");
	text = run_saying(
		(const char *[]){ "-r", dat, "--frequency", "1000000", "-m", guest, NULL }, 0);
	assert_non_null(strstr(text, "by 0.49999 s: are both on one clock? Record with kvmtop "
				     "record -C mono\n"));
	begin();
	add_entry(0, 10000, 177, 0);
	add_exit(0, 12000, 177, 0, 12);
	end("[mono]");
	text = run_saying((const char *[]){ "-r", dat, "-O", "600000000", guest, NULL }, 0);
	assert_non_null(strstr(text, "all of its calls are before the recording, by 0.099998 s: "
				     "give with -O how far the guest's clock is ahead\n"));
}

TEST(recordings_on_two_clocks_are_told)
{
	char second[96];
	const char *text;

	begin();
	add_entry(0, 10000, 177, 0);
	end("[mono]");
	snprintf(second, sizeof(second), "%s", counters);
	assert_int_equal(rename(dat, second), 0);
	begin();
	add_entry(0, 10000, 177, 0);
	end("[local]");
	text = run_saying((const char *[]){ "-r", dat, "-r", second, NULL }, 0);
	assert_non_null(strstr(text, "kvm.dat is on the clock \"local\", "));
	assert_non_null(strstr(text, "stat.txt on \"mono\": the two may be apart; record both with "
				     "kvmtop record -C mono\n"));
	begin();
	add_entry(0, 10000, 177, 0);
	end("[mono]");
	text = run_saying((const char *[]){ "-r", dat, "-r", second, NULL }, 0);
	assert_string_equal(text, "");
}

static void add_pvclock(int cpu, uint64_t time, uint32_t tid, uint32_t mul, int8_t shift)
{
	put_common(&event, ID_PVCLOCK, tid);
	put_u32(&event, 0);
	put_u32(&event, mul);
	put_u8(&event, (uint8_t)shift);
	put(&event, NULL, 3);
	ring_add(&rings[cpu], time, &event);
}

/* The guest's TSC goes twice as fast: 2 GHz, told in three ways, and once as fast as the host's. */
TEST(a_guest_s_tsc_may_be_scaled)
{
	static const struct {
		uint32_t mul;
		int8_t shift;
		int64_t late_ns; /* when the host has it for the guest's 4,500,000 */
	} clocks[] = {
		{ UINT32_C(1) << 31, 0, 2500000 },
		{ UINT32_C(1) << 30, 1, 2500000 },
		{ UINT32_C(1) << 31, -1, 1375000 }, /* 4 GHz */
		{ UINT32_MAX, 0, 5000000 },	    /* 1 GHz, but for the rounding */
	};

	write_guest("[{\"ts\":4500,\"ph\":\"B\",\"pid\":5,\"tid\":1,\"name\":\"late\"},"
		    "{\"ts\":4501,\"ph\":\"E\",\"pid\":5,\"tid\":1}]");
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		struct picture picture;

		begin();
		add_offset(0, 1000000, 177, 0, -1000000);
		add_pvclock(0, 1000010, 177, clocks[i].mul, clocks[i].shift);
		add_offset(0, 2300000, 177, 0, -500000);
		add_offset(0, 6000000, 177, 0, 7);
		end("[x86-tsc]");
		assert_int_equal(
			run((const char *[]){ "-r", dat, "--frequency", "1000000", guest, NULL }),
			0);
		picture = picture_of(out);
		assert_int_equal(find(&picture, 'X', "late")->ns, clocks[i].late_ns - 1000000);
		picture_release(&picture);
	}
}

TEST(a_filter_cuts_outside_kvms_events)
{
	struct picture picture;

	begin();
	add_entry(0, 10000, 177, 0);
	add_exit(0, 12500, 177, 0, 12);
	end("[local]");
	write_guest("[{\"ts\":1,\"ph\":\"B\",\"pid\":5,\"name\":\"gone\"},"
		    "{\"ts\":2,\"ph\":\"E\",\"pid\":5,\"name\":\"gone\"},"
		    "{\"ts\":3,\"ph\":\"B\",\"pid\":5,\"name\":\"outer\"},"
		    "{\"ts\":4,\"ph\":\"B\",\"pid\":5,\"name\":\"inner\"},"
		    "{\"ts\":12,\"ph\":\"E\",\"pid\":5,\"name\":\"inner\"},"
		    "{\"ts\":12.4,\"ph\":\"B\",\"pid\":5,\"name\":\"later\"},"
		    "{\"ts\":12.6,\"ph\":\"E\",\"pid\":5,\"name\":\"later\"},"
		    "{\"ts\":12.6,\"ph\":\"B\",\"pid\":5,\"name\":\"gone\"},"
		    "{\"ts\":12.7,\"ph\":\"E\",\"pid\":5,\"name\":\"gone\"},"
		    "{\"ts\":13,\"ph\":\"E\",\"pid\":5,\"name\":\"outer\"},"
		    "{\"ts\":14,\"ph\":\"B\",\"pid\":5,\"name\":\"gone\"},"
		    "{\"ts\":15,\"ph\":\"E\",\"pid\":5,\"name\":\"gone\"}]");
	assert_int_equal(run((const char *[]){ "-r", dat, "-F", "-O", "0", guest, NULL }), 0);
	picture = picture_of(out);
	assert_int_equal(find(&picture, 'X', "outer")->ns, 0);
	assert_int_equal(find(&picture, 'X', "outer")->dur_ns, 2500);
	assert_string_equal(find(&picture, 'X', "outer")->category, "function,cut");
	assert_int_equal(find(&picture, 'X', "inner")->ns, 1);
	assert_int_equal(find(&picture, 'X', "inner")->dur_ns, 1999);
	assert_int_equal(find(&picture, 'X', "later")->ns, 2400);
	assert_int_equal(find(&picture, 'X', "later")->dur_ns, 100);
	assert_string_equal(find(&picture, 'X', "later")->category, "function,cut");
	for (size_t i = 0; i < picture.nr; i++)
		assert_string_not_equal(picture.drawn[i].name, "gone");
	picture_release(&picture);
}

TEST(traces_that_make_no_sense_are_named)
{
	static const char *const texts[] = {
		"",
		"x",
		"{}",
		"{\"traceEvents\":{}}",
		"[1]",
		"[{}]",
		"[{\"ph\":\"B\"}]",
		"[{\"ph\":\"B\",\"ts\":-1}]",
		"[{\"ph\":\"B\",\"ts\":1,\"pid\":1,\"name\":\"a\"}",
		"[{\"ph\":\"B\",\"ts\":1,\"pi",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct picture picture;

		write_guest(texts[i]);
		assert_int_equal(run((const char *[]){ guest, NULL }), 1);
		picture = picture_of(out); /* what could be read is drawn */
		picture_release(&picture);
	}
}

/* ---- counters ---- */

/* A line of its own, or behind a line that is separated by this. */
static void parses_behind(char separator, const char *text, int want, uint64_t ns, const char *name,
			  const char *value)
{
	char line[256];
	struct perf_line got = { 0 };
	int status;

	snprintf(line, sizeof(line), "%s", text);
	status = perf_line_parse(line, &separator, &got);
	if (status != want)
		fail_msg("%s: %d, wanted %d", text, status, want);
	if (want <= 0)
		return;
	assert_int_equal(got.ns, ns);
	assert_string_equal(got.name, name);
	assert_string_equal(got.value, value);
}

static void parses(const char *text, int want, uint64_t ns, const char *name, const char *value)
{
	parses_behind('\0', text, want, ns, name, value);
}

TEST(lines_of_perf_stat_are_read)
{
	parses("     0.206358798#29622##kvm:kvm_pio#277139907#100.00#106.902#K/sec\n", 1, 206358798,
	       "kvm:kvm_pio", "29622");
	parses("     1.206358798#277.09#msec#task-clock#277094647#100.00#1.385#CPUs utilized", 1,
	       1206358798, "task-clock (msec)", "277.09");
	parses("0.5#<not supported>##cycles:G#0#100.00##", 0, 0, "", "");
	parses("0.5,<not counted>,,cycles,0,100.00,,", 1, 500000000, "cycles", "");
	parses("0.5#CPU0#<not counted>#msec#task-clock#0#100.00##", 1, 500000000,
	       "task-clock CPU0 (msec)", "");
	parses("0.5#12##cpu/event=0x3c,umask=1/#100#50.00##", 1, 500000000,
	       "cpu/event=0x3c,umask=1/", "12");
	parses("0.5,CPU0,12,,cycles,100,50.00,,", 1, 500000000, "cycles CPU0", "12");
	parses("0.5,S0-D0-C1,2,12,,cycles,100,50.00,,", 1, 500000000, "cycles S0-D0-C1", "12");
	parses("0.5;CPU 0/KVM-9359;0012;;kvm:kvm_exit;100;50.00;;", 1, 500000000,
	       "kvm:kvm_exit CPU 0/KVM-9359", "12");
	parses("0.5,000.5,msec,task-clock,1.25%,100,50.00,,", 1, 500000000, "task-clock (msec)",
	       "0.5");
	parses("0.5,12,,cycles", 1, 500000000, "cycles", "12");
	/* A number as another locale has it. */
	parses("0.5;203,01;msec;task-clock;203009774;100,00;2;CPUs utilized", -EINVAL, 0, "", "");
	parses("0.5;1,2,3;;cycles;100;50,00;;", -EINVAL, 0, "", "");
	parses("0.5,,,,,,1.2,insn per cycle", 0, 0, "", "");
	parses("# started on Sat Nov 21 00:50:21 2026\n", 0, 0, "", "");
	parses("\n", 0, 0, "", "");
	parses("{\"interval\" : 0.500000000, \"cpu\" : \"0\", \"counter-value\" : \"12.000000\", "
	       "\"unit\" : \"\", \"event\" : \"cycles\", \"event-runtime\" : 1}",
	       1, 500000000, "cycles cpu 0", "12.000000");
	parses("{\"interval\" : 0.5, \"counter-value\" : \"<not counted>\", \"event\" : \"x\"}", 1,
	       500000000, "x", "");
	parses("{\"interval\" : 0.5, \"counter-value\" : \"<not supported>\", \"event\" : \"x\"}",
	       0, 0, "", "");
	parses("hello", -EINVAL, 0, "", "");
	parses("0.5", -EINVAL, 0, "", "");
	parses("0.5,x,y,z", -EINVAL, 0, "", "");
	parses("{\"interval\" : 0.5", -EINVAL, 0, "", "");
}

TEST(separators_are_one_character)
{
	parses("0.1|258||context-switches|201485843|100.00|1.281|K/sec", 1, 100000000,
	       "context-switches", "258");
	parses("0.1\t12\t\tcycles\t100\t50.00\t\t", -EINVAL, 0, "", "");
	parses("0.1:7::kvm_exit:1:100.00::", -EINVAL, 0, "", "");
	parses("0.1,(sd-pam)-17,12,,cycles,100,50.00,,", 1, 100000000, "cycles (sd-pam)-17", "12");
	parses_behind(';', "0.1;7;;kvm:kvm_exit;1;100.00;;", 1, 100000000, "kvm:kvm_exit", "7");
	parses_behind(',', "0.1;7;;kvm_exit;1;100.00;;", -EINVAL, 0, "", "");
	parses("0.1 12  cycles 100 50.00", -EINVAL, 0, "", "");
	parses("0.1::201.48::msec::cpu-clock::201484613::100.00", -EINVAL, 0, "", "");
	parses("0.1::CPU0::12::::cycles::100::50.00::::", -EINVAL, 0, "", "");
	parses("0.1, 12, , cycles, 100, 50.00, , ", -EINVAL, 0, "", "");
}

TEST(a_summary_is_of_no_interval)
{
	parses_behind(',', "         summary,3151,,context-switches,504486561,100.00,6.246,K/sec",
		      0, 0, "", "");
	parses_behind(',', "         summary;3151;;context-switches", -EINVAL, 0, "", "");
	parses_behind(',', "         summaries,3151,,context-switches", -EINVAL, 0, "", "");
	parses("{\"counter-value\" : \"12.000000\", \"unit\" : \"\", \"event\" : \"cycles\"}", 0, 0,
	       "", "");
	parses("{\"counter\" : \"12.000000\"}", -EINVAL, 0, "", "");
}

TEST(counters_are_of_the_interval_before)
{
	static const char text[] = "# started on Sat Nov 21 00:50:21 2026\n\n"
				   "     0.1,5,,kvm:kvm_exit,1,100.00,,\n"
				   "     0.3,7,,kvm:kvm_exit,1,100.00,,\n";
	static const char anchored[] = "rdtsc 1002000000\n0.1,5,,kvm:kvm_exit,1,100.00,,\n";
	struct picture picture;

	save(counters, text, strlen(text));
	assert_int_equal(run((const char *[]){ "--perf-stat", counters, NULL }), 0);
	picture = picture_of(out);
	is_drawn(&picture, "C kvm:kvm_exit|perf|1.0 0+0 5\n"
			   "C kvm:kvm_exit|perf|1.0 100000000+0 7\n"
			   "C kvm:kvm_exit|perf|1.0 300000000+0 0\n");
	picture_release(&picture);
	begin();
	add_entry(0, 1000000000, 177, 0);
	end("[x86-tsc]");
	save(counters, anchored, strlen(anchored));
	assert_int_equal(run((const char *[]){ "-r", dat, "--frequency", "1000000", "--perf-stat",
					       counters, NULL }),
			 0);
	picture = picture_of(out);
	assert_int_equal(find(&picture, 'C', "kvm:kvm_exit")->ns, 2000000);
	picture_release(&picture);
	save(counters, text, strlen(text));
	assert_int_equal(run((const char *[]){ "-r", dat, "--frequency", "1000000", "--perf-stat",
					       counters, NULL }),
			 0);
	picture = picture_of(out);
	assert_int_equal(find(&picture, 'C', "kvm:kvm_exit")->ns, 0);
	picture_release(&picture);
}

/* The value before does not go on, and the value after does not begin earlier. */
TEST(what_was_not_counted_is_a_gap)
{
	static const char text[] = "     1.0#<not counted>##cycles:G#0#0.00##\n"
				   "     2.0#100##cycles:G#1000#100.00##\n"
				   "     2.0#<not counted>##never#0#0.00##\n"
				   "     3.0#<not counted>##cycles:G#0#0.00##\n"
				   "     4.0#<not counted>##cycles:G#0#0.00##\n"
				   "     5.0#400##cycles:G#1000#100.00##\n"
				   "     6.0#<not counted>##cycles:G#0#0.00##\n";
	struct picture picture;

	save(counters, text, strlen(text));
	assert_int_equal(run((const char *[]){ "--perf-stat", counters, NULL }), 0);
	picture = picture_of(out);
	is_drawn(&picture, "C cycles:G|perf|1.0 1000000000+0 100\n"
			   "C cycles:G|perf|1.0 2000000000+0 0\n"
			   "C cycles:G|perf|1.0 4000000000+0 400\n"
			   "C cycles:G|perf|1.0 5000000000+0 0\n"
			   "X not counted|perf|1.1 0+1000000000 \n"
			   "X not counted|perf|1.1 2000000000+2000000000 \n"
			   "X not counted|perf|1.1 5000000000+1000000000 \n");
	picture_release(&picture);
}

TEST(wrong_counters_are_named)
{
	static const char text[] = "     0.1,5,,kvm:kvm_exit,1,100.00,,\nhello\n";
	struct picture picture;

	save(counters, text, strlen(text));
	assert_int_equal(run((const char *[]){ "--perf-stat", counters, NULL }), 1);
	picture = picture_of(out);
	assert_string_equal(find(&picture, 'C', "kvm:kvm_exit")->value, "5");
	picture_release(&picture);
}

/* ---- JSON ---- */

TEST(any_text_makes_valid_json)
{
	static const char nasty[] = "a\"b\\c\n\t\x01\x7f \303\244 \xff \355\240\200 "
				    "\360\237\220\247";
	const struct timeline_event slice = { .name = nasty, .category = "x", .ns = -1500 };
	struct timeline_args args, metadata;
	struct timeline_out timeline = { .file = NULL };
	struct picture picture;
	char longer[4096];

	memset(longer, '"', sizeof(longer));
	args_clear(&args);
	args_clear(&metadata);
	args_add_text(&args, nasty, nasty, sizeof(nasty) - 1);
	args_add_text(&args, "long", longer, sizeof(longer));
	args_add_number(&args, "least", INT64_MIN);
	args_add_hex(&args, "most", UINT64_MAX);
	args_add_hex(&args, "none", 0);
	out_begin(&timeline, fopen(out, "w"), &timeline_chrome);
	out_slice(&timeline, &slice, 2500, &args);
	out_end(&timeline, &metadata);
	fclose(timeline.file);
	picture = picture_of(out);
	assert_string_equal(picture.drawn[0].name,
			    "a\"b\\c\n\t\x01\x7f \303\244 ? ??? \360\237\220\247");
	assert_int_equal(picture.drawn[0].ns, -1500);
	assert_int_equal(picture.drawn[0].dur_ns, 4000);
	assert_non_null(strstr(picture.drawn[0].args,
			       "\"least\":-9223372036854775808,"
			       "\"most\":\"0xffffffffffffffff\",\"none\":\"0x0\"}"));
	assert_null(strstr(picture.drawn[0].args, "long"));
	picture_release(&picture);
}

GROUP(set_up, tear_down);
