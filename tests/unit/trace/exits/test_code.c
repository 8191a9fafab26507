// SPDX-License-Identifier: GPL-2.0-or-later
/* The code of a recording's vCPUs: samples with stacks, in the exit that was open. */
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "core/monitor.h"
#include "core/views/query.h"
#include "core/views/view.h"
#include "tests/unit/unit.h"
#include "tests/worlds/cpu_time.h"
#include "tests/worlds/perf_stacks.h"
#include "tests/worlds/trace_file.h"
#include "trace/exits/recording.h"
#include "trace/recording/perf/perf.h"

#define STACK(...) (const uint64_t[]){ __VA_ARGS__ }, \
	sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t)

static char folder[64], other[64]; /* that a recording is in; "": in none */
static uint64_t span; /* of the latest recording */
static char problem[256]; /* its first; "": none */

/* "guest/vcpu io;vmm+0x4010;[kernel]+0x10=250": the stacks of the recording. */
static const char *stacks_of(struct bytes *bytes, bool has_code)
{
	static char text[2048];
	const struct recording_choice choice = { .has_code = has_code };
	const char *paths[] = { *folder ? folder : path, other };
	struct monitor_config config = { .list = recorded_players, .source = SOURCE_RECORDING,
					 .is_span = true };
	struct query query = { .type = &view_where, .children = true };
	struct recording recording;
	struct monitor *monitor;
	struct error error = { "" };
	const char *first;
	const struct facts *facts;

	save(path, bytes->data, bytes->len);
	bytes_release(bytes);
	assert_int_equal(recording_read(paths, *other ? 2 : 1, &choice, &recording, &error), 0);
	span = recording_span(&recording);
	first = trace_problem(recording.trace, 0);
	snprintf(problem, sizeof(problem), "%s", first ? first : "");
	config.recording = (struct monitor_recording){ .recording = &recording,
						       .guests = recording.guests };
	text[0] = '\0';
	if (monitor_open(&config, &monitor, &error) < 0) {
		recording_release(&recording);
		return error.text[0] ? "no monitor" : "";
	}
	assert_int_equal(monitor_want(monitor, &query, &error), 0);
	monitor_sample(monitor);
	facts = monitor_facts(monitor);
	for (size_t i = 0; i < facts->stats->stacks.nr; i++) {
		const struct stack_item *item = &facts->stats->stacks.list[i];
		char stack[512] = "", longer[512];

		for (uint32_t node = item->key.field; node != STACK_ROOT;) {
			const struct stack_node *at = stacks_node_at(facts->stacks, node);

			snprintf(longer, sizeof(longer), "%.100s%s%.400s",
				 stacks_function_at(facts->stacks, at->function)->name,
				 *stack ? ";" : "", stack);
			memcpy(stack, longer, sizeof(stack));
			node = at->parent;
		}
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%d %s=%lld*%d",
			 i ? " " : "", (int)item->key.vcpu, stack, (long long)item->ns,
			 (int)item->count);
	}
	monitor_close(monitor);
	recording_release(&recording);
	return text;
}

/* Return addresses are of the calls before them. Of another thread, which runs no vCPU, nothing. */
TEST(samples_are_of_the_open_exit, set_up, tear_down)
{
	for (int swap = 0; swap < 2; swap++) {
		struct bytes bytes = { .swap = swap };

		begin_stacks(&bytes, PERF_TYPE_SOFTWARE);
		put_stack_exit(&bytes, 1000, 30);
		put_stack(&bytes, 1500, 77, 250,
			  STACK(OF_KERNEL, KERNEL + 0x10, KERNEL + 0x21, OF_USER, VMM + 0x8,
				VMM + 0x91));
		put_stack(&bytes, 1600, 77, 250,
			  STACK(OF_KERNEL, KERNEL + 0x10, KERNEL + 0x21, OF_USER, VMM + 0x8,
				VMM + 0x91));
		put_stack(&bytes, 1700, 78, 250, STACK(OF_USER, VMM + 0x8));
		put_stack_exit(&bytes, 3000, 12);
		put_stack(&bytes, 3500, 77, 100, STACK(OF_USER, VMM + 0x8));
		put_stack(&bytes, 4500, 77, 70, STACK(OF_USER, 0x5, 0x9));
		assert_string_equal(stacks_of(&bytes, true),
				    "3 IO_INSTRUCTION;vmm+0x4090;vmm+0x4008;[kernel]+0x20;"
				    "[kernel]+0x10=500*2 "
				    "3 HLT;vmm+0x4008=100*1 "
				    "3 [no exit];[unknown];[unknown]=70*1");
	}
}

/* Other events than clocks and cycles happen at no rate that is known. */
TEST(only_clocks_have_time, set_up, tear_down)
{
	struct bytes bytes = { .swap = 0 };

	begin_stacks(&bytes, PERF_TYPE_HW_CACHE);
	put_stack_exit(&bytes, 1000, 30);
	put_stack(&bytes, 1500, 77, 250, STACK(OF_USER, VMM + 0x8));
	assert_string_equal(stacks_of(&bytes, true), "");
	begin_stacks(&bytes, PERF_TYPE_HARDWARE); /* cycles, 99 a second */
	put_stack_exit(&bytes, 1000, 30);
	put_stack(&bytes, 1500, 77, 123456, STACK(OF_USER, VMM + 0x8));
	assert_string_equal(stacks_of(&bytes, true), "3 IO_INSTRUCTION;vmm+0x4008=10101010*1");
	begin_stacks(&bytes, PERF_TYPE_SOFTWARE);
	put_stack_exit(&bytes, 1000, 30);
	put_stack(&bytes, 1500, 77, 250, STACK(OF_USER, VMM + 0x8));
	assert_string_equal(stacks_of(&bytes, false), ""); /* not wanted */
}

/* A chain that claims more than it has, and words that are neither. */
TEST(damaged_stacks, set_up, tear_down)
{
	struct bytes bytes = { .swap = 0 };
	size_t at;

	begin_stacks(&bytes, PERF_TYPE_SOFTWARE);
	put_stack_exit(&bytes, 1000, 30);
	put_stack(&bytes, 1400, 77, 9, STACK((uint64_t)-1, 5, (uint64_t)PERF_CONTEXT_GUEST, 7));
	put_stack(&bytes, 1500, 77, 250, STACK(OF_USER, VMM + 0x8));
	at = bytes.len - 8 * 3;
	assert_string_equal(stacks_of(&bytes, true), "3 IO_INSTRUCTION;vmm+0x4008=250*1");
	begin_stacks(&bytes, PERF_TYPE_SOFTWARE);
	put_stack_exit(&bytes, 1000, 30);
	put_stack(&bytes, 1400, 77, 9, STACK(0, 0, 0, 0));
	put_stack(&bytes, 1500, 77, 250, STACK(OF_USER, VMM + 0x8));
	set_u64(&bytes, at, 60000);
	assert_string_equal(stacks_of(&bytes, true), "");
}

/* A sample stands for an hour at most. */
TEST(a_period_may_be_anything, set_up, tear_down)
{
	struct bytes bytes = { .swap = 0 };

	begin_stacks(&bytes, PERF_TYPE_SOFTWARE);
	put_stack_exit(&bytes, 1000, 30);
	put_stack(&bytes, 1400, 77, UINT64_MAX, STACK(OF_USER, VMM + 0x8));
	put_stack(&bytes, 1500, 77, INT64_MAX, STACK(OF_USER, VMM + 0x8));
	assert_string_equal(stacks_of(&bytes, true), "3 IO_INSTRUCTION;vmm+0x4008=7200000000000*2");
}

/* A map is there from its time on; the samples have one stack. */
TEST(maps_have_times, set_up, tear_down)
{
	struct bytes bytes = { .swap = 0 };

	begin_stacks(&bytes, PERF_TYPE_SOFTWARE);
	put_stack_exit(&bytes, 1000, 30);
	put_map(&bytes, 1600, 70, PERF_RECORD_MISC_USER, VMM, 0, "/no/such/plugin");
	put_map(&bytes, 1550, 70, PERF_RECORD_MISC_USER, VMM, 0, "/no/such/first");
	put_map(&bytes, 1400, 70, PERF_RECORD_MISC_USER, VMM + 0x200000, 0, "/no/such/library");
	for (uint64_t time = 1300; time < 1800; time += 100)
		put_stack(&bytes, time, 77, 1, STACK(OF_USER, VMM + 0x8));
	put_stack(&bytes, 1350, 77, 1, STACK(OF_USER, VMM + 0x200008));
	put_stack(&bytes, 1450, 77, 1, STACK(OF_USER, VMM + 0x200008));
	assert_string_equal(stacks_of(&bytes, true),
			    "3 IO_INSTRUCTION;vmm+0x4008=3*3 3 IO_INSTRUCTION;[unknown]=1*1 "
			    "3 IO_INSTRUCTION;library+0x8=1*1 3 IO_INSTRUCTION;plugin+0x8=2*2");
}

/* In no order, as many as a process may have. A later one may replace a part of one. */
LIMIT(many_maps, set_up, tear_down)
{
	const uint64_t size = 0x200000, nr = 65521, chosen = 2 * VMM + 9000 * 7919 % nr * size;
	struct bytes bytes = { .swap = 0 };

	begin_stacks(&bytes, PERF_TYPE_SOFTWARE);
	put_stack_exit(&bytes, 1000, 30);
	for (uint64_t i = 0; i < nr; i++)
		put_map(&bytes, 0, 70, PERF_RECORD_MISC_USER, 2 * VMM + i * 7919 % nr * size, 0,
			i == 9000 ? "/no/such/one" : "/no/such");
	put_map(&bytes, 1400, 70, PERF_RECORD_MISC_USER, chosen + 0x1000, 0, "/no/such/other");
	for (uint64_t time = 1300; time < 1600; time += 200) {
		put_stack(&bytes, time, 77, 1, STACK(OF_USER, chosen + 0x8));
		put_stack(&bytes, time, 77, 1, STACK(OF_USER, chosen + 0x1008));
	}
	assert_string_equal(stacks_of(&bytes, true),
			    "3 IO_INSTRUCTION;one+0x8=2*2 3 IO_INSTRUCTION;one+0x1008=1*1 "
			    "3 IO_INSTRUCTION;other+0x8=1*1");
	assert_string_equal(problem, "");
}

/* What has no room is said, once. */
LIMIT(too_many_maps, set_up, tear_down)
{
	struct bytes bytes = { .swap = 0 };

	begin_stacks(&bytes, PERF_TYPE_SOFTWARE);
	put_stack_exit(&bytes, 1000, 30);
	for (uint32_t i = 0; i < PERF_MAPS_MAX; i++)
		put_map(&bytes, 0, 1000 + i % 4096, PERF_RECORD_MISC_USER,
			(uint64_t)i << 20, 0, "/no");
	put_stack(&bytes, 1300, 77, 1, STACK(OF_USER, VMM + 0x8));
	assert_string_equal(stacks_of(&bytes, true), "3 IO_INSTRUCTION;vmm+0x4008=1*1");
	assert_non_null(strstr(problem, "from here on 4179 maps of processes are left out, for "
					"which there is no room: some code has no name"));
}

/* A long path takes as much room as several maps; an ended process makes room for others. */
LIMIT(maps_with_long_names, set_up, tear_down)
{
	char name[1020];

	memset(name, 'x', sizeof(name));
	name[0] = '/';
	name[sizeof(name) - 1] = '\0';
	for (int has_ended = 0; has_ended < 2; has_ended++) {
		struct bytes bytes = { .swap = 0 };

		begin_stacks(&bytes, PERF_TYPE_SOFTWARE);
		put_stack_exit(&bytes, 1000, 30);
		for (uint32_t pid = 1000; pid < 1080; pid++) {
			for (uint32_t i = 0; i < 1024; i++)
				put_map(&bytes, 100 + pid, pid, PERF_RECORD_MISC_USER,
					(uint64_t)i << 20, 0, name);
			if (has_ended)
				put_task_end(&bytes, 100 + pid, pid);
		}
		put_stack(&bytes, 1300, 77, 1, STACK(OF_USER, VMM + 0x8));
		assert_string_equal(stacks_of(&bytes, true), "3 IO_INSTRUCTION;vmm+0x4008=1*1");
		if (has_ended)
			assert_string_equal(problem, "");
		else
			assert_non_null(strstr(problem, "maps of processes are left out"));
	}
}

/* A child has its parent's maps of that time, until it runs another program. */
TEST(maps_of_children, set_up, tear_down)
{
	struct bytes bytes = { .swap = 0 };

	begin_stacks(&bytes, PERF_TYPE_SOFTWARE);
	put_stack_exit(&bytes, 1000, 30);
	put_fork(&bytes, 1200, 0, 71, 70);
	put_fork(&bytes, 1210, 0, 72, 71);
	put_fork(&bytes, 1220, 0, 70, 70); /* a thread */
	put_fork(&bytes, 1220, PERF_RECORD_MISC_FORK_EXEC, 73, 70); /* perf's own */
	put_fork(&bytes, 0, 0, 74, 70); /* the same */
	put_fork(&bytes, 1220, 0, 75, 76); /* each the child of the other */
	put_fork(&bytes, 1220, 0, 76, 75);
	put_map(&bytes, 1400, 70, PERF_RECORD_MISC_USER, VMM, 0, "/no/such/plugin");
	put_comm(&bytes, 1600, PERF_RECORD_MISC_COMM_EXEC, 71);
	put_comm(&bytes, 1600, 0, 70); /* only a name */
	for (uint32_t pid = 70; pid <= 75; pid++)
		put_stack_of(&bytes, 1300, pid, 77, UINT64_C(1) << 4 * (pid - 70),
			     STACK(OF_USER, VMM + 0x8));
	for (uint32_t pid = 70; pid <= 72; pid++)
		put_stack_of(&bytes, 1500, pid, 77, UINT64_C(1) << 4 * (pid - 70),
			     STACK(OF_USER, VMM + 0x9));
	for (uint32_t pid = 70; pid <= 72; pid++)
		put_stack_of(&bytes, 1700, pid, 77, UINT64_C(1) << 4 * (pid - 70),
			     STACK(OF_USER, VMM + 0xa));
	assert_string_equal(stacks_of(&bytes, true),
			    "3 IO_INSTRUCTION;vmm+0x4008=273*3 "
			    "3 IO_INSTRUCTION;[unknown]=1118224*4 "
			    "3 IO_INSTRUCTION;plugin+0x9=1*1 3 IO_INSTRUCTION;vmm+0x4009=272*2 "
			    "3 IO_INSTRUCTION;plugin+0xa=1*1 3 IO_INSTRUCTION;vmm+0x400a=256*1");
}

/* Each of 40 processes is the child of the one before, and maps a page of its own. */
TEST(children_of_children, set_up, tear_down)
{
	struct bytes bytes = { .swap = 0 };

	begin_stacks(&bytes, PERF_TYPE_SOFTWARE);
	put_stack_exit(&bytes, 1000, 30);
	for (uint32_t pid = 70; pid < 110; pid++) {
		put_fork(&bytes, 1200, 0, pid + 1, pid);
		put_map(&bytes, 1200, pid, PERF_RECORD_MISC_USER, VMM + 0x80000, 0,
			"/no/such/before");
	}
	put_map(&bytes, 1200, 110, PERF_RECORD_MISC_USER, VMM + 0x40000, 0, "/no/such/library");
	put_comm(&bytes, 1300, PERF_RECORD_MISC_COMM_EXEC, 109);
	put_map(&bytes, 1300, 109, PERF_RECORD_MISC_USER, VMM + 0x1000, 0, "/no/such/other");
	put_fork(&bytes, 1350, 0, 111, 109);
	for (uint64_t at = VMM + 8; at < VMM + 0x140000; at += 0x9c000) {
		put_stack_of(&bytes, 1400, 110, 77, 1, STACK(OF_USER, at));
		put_stack_of(&bytes, 1400, 111, 77, 256, STACK(OF_USER, at));
	}
	assert_string_equal(stacks_of(&bytes, true),
			    "3 IO_INSTRUCTION;vmm+0x4008=1*1 3 IO_INSTRUCTION;[unknown]=512*2 "
			    "3 IO_INSTRUCTION;library+0x5c008=1*1 "
			    "3 IO_INSTRUCTION;other+0x9b008=256*1 "
			    "3 IO_INSTRUCTION;library+0xf8008=1*1");
}

/* A map replaces what was there, and what is left of it keeps its names. */
TEST(a_newer_map_ends_parts_of_older_ones, set_up, tear_down)
{
	struct bytes bytes = { .swap = 0 };

	begin_stacks(&bytes, PERF_TYPE_SOFTWARE);
	put_stack_exit(&bytes, 1000, 30);
	put_map(&bytes, 0, 70, PERF_RECORD_MISC_USER, VMM + 0x80000, 0, "/no/such/one");
	put_map(&bytes, 0, 70, PERF_RECORD_MISC_USER, VMM + 0x40000, 0, "/no/such/two");
	for (uint64_t at = VMM + 8; at < VMM + 0x180000; at += 0x50000)
		put_stack(&bytes, 1400, 77, 1, STACK(OF_USER, at));
	assert_string_equal(stacks_of(&bytes, true),
			    "3 IO_INSTRUCTION;vmm+0x4008=1*1 3 IO_INSTRUCTION;two+0x10008=1*1 "
			    "3 IO_INSTRUCTION;two+0x60008=1*1 3 IO_INSTRUCTION;two+0xb0008=1*1 "
			    "3 IO_INSTRUCTION;one+0xc0008=1*1");
}

static void read_overlapping(void *arg)
{
	uint64_t nr = *(const uint64_t *)arg;
	struct bytes bytes = { .swap = 0 };

	begin_stacks(&bytes, PERF_TYPE_SOFTWARE);
	put_stack_exit(&bytes, 1000, 30);
	for (uint64_t i = 0; i < nr; i++)
		put_map(&bytes, 0, 70, PERF_RECORD_MISC_USER, 2 * VMM + i, 0, "/no/such");
	for (uint64_t i = 0; i < nr / 4; i++)
		put_stack(&bytes, 1300, 77, 1, STACK(OF_USER, 2 * VMM + 0x80000 + i));
	stacks_of(&bytes, true);
}

LIMIT(maps_take_time_by_their_number, set_up, tear_down)
{
	uint64_t few = 5000, many = 20000;

	assert_true(least_cpu_s(read_overlapping, &many) <
		    10 * least_cpu_s(read_overlapping, &few));
}

/* A folder for a recording, with symbols as perf record --kcore has them. */
static void make_folder(char *name, const char *symbols)
{
	char kcore[96], file[112];

	strcpy(name, "/tmp/kvmtop-kcore.XXXXXX");
	assert_non_null(mkdtemp(name));
	snprintf(kcore, sizeof(kcore), "%s/kcore_dir", name);
	snprintf(file, sizeof(file), "%s/kallsyms", kcore);
	assert_int_equal(mkdir(kcore, 0700), 0);
	save(file, symbols, strlen(symbols));
	snprintf(path, sizeof(path), "%.50s/data", name);
}

static void remove_folder(char *name)
{
	static const char *const parts[] = { "/kcore_dir/kallsyms", "/kcore_dir", "/data", "" };
	char part[96];

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		snprintf(part, sizeof(part), "%.64s%s", name, parts[i]);
		assert_int_equal(remove(part), 0);
	}
	name[0] = '\0';
}

TEST(recordings_may_have_symbols, set_up, tear_down)
{
	struct bytes bytes = { .swap = 0 }, same = { .swap = 0 };
	char own[sizeof(path)];

	memcpy(own, path, sizeof(path));
	make_folder(other, "ffffffff90000000 T another\n");
	begin_stacks(&same, PERF_TYPE_SOFTWARE);
	put_stack_exit(&same, 1000, 30);
	put_stack(&same, 1600, 77, 30, STACK(OF_KERNEL, KERNEL + 0x10, KERNEL + 0x21));
	save(path, same.data, same.len);
	bytes_release(&same);
	make_folder(folder, "ffffffff90000000 T first\nffffffff90000018 T second\n");
	begin_stacks(&bytes, PERF_TYPE_SOFTWARE);
	put_stack_exit(&bytes, 1000, 30);
	put_stack(&bytes, 1500, 77, 250, STACK(OF_KERNEL, KERNEL + 0x10, KERNEL + 0x21));
	assert_string_equal(stacks_of(&bytes, true), "3 IO_INSTRUCTION;second;first=250*1 "
						     "3 IO_INSTRUCTION;another;another=30*1");
	remove_folder(folder);
	remove_folder(other);
	memcpy(path, own, sizeof(path));
}

/* A function that is not among the first of this kernel's. False: its addresses are hidden. */
static bool find_symbol(uint64_t *ret_address, char *name)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[512], type = 0;
	bool is_found = false;

	assert_non_null(file);
	for (int i = 0; !is_found && fgets(line, sizeof(line), file); i++)
		is_found = i > 5000 &&
			   sscanf(line, "%" SCNx64 " %c %99s", ret_address, &type, name) == 3 &&
			   *ret_address && type == 'T';
	fclose(file);
	return is_found;
}

/* Also where a module's code comes first, and the symbol that perf names is not among the first. */
TEST(a_recording_of_this_kernel, set_up, tear_down)
{
	struct bytes bytes = { .swap = 0 };
	char name[100], map[128], release[72] = "", expected[192];
	struct utsname host;
	uint64_t address;

	if (!find_symbol(&address, name))
		skip();
	snprintf(map, sizeof(map), "[kernel.kallsyms]%s", name);
	snprintf(expected, sizeof(expected), "3 IO_INSTRUCTION;[kvm]+0x10=1*1 "
					     "3 IO_INSTRUCTION;%s=1*1", name);
	assert_int_equal(uname(&host), 0);
	snprintf(release, sizeof(release), "%s", host.release);
	begin_stacks(&bytes, PERF_TYPE_SOFTWARE);
	put_record(&bytes, 80, 8 + 4 + sizeof(release));
	put_u64(&bytes, 4);
	put_u32(&bytes, sizeof(release));
	put(&bytes, release, sizeof(release));
	put_map(&bytes, 1, UINT32_MAX, PERF_RECORD_MISC_KERNEL, address, address, map);
	put_map(&bytes, 1, UINT32_MAX, PERF_RECORD_MISC_KERNEL, 0x1000, 0x1000, "[kvm]");
	put_stack_exit(&bytes, 1000, 30);
	put_stack(&bytes, 1500, 77, 1, STACK(OF_KERNEL, 0x1010));
	put_stack(&bytes, 1600, 77, 1, STACK(OF_KERNEL, address));
	assert_string_equal(stacks_of(&bytes, true), expected);
}

/* A recording may begin with a sample, and end with one. */
TEST(samples_are_of_the_recordings_time, set_up, tear_down)
{
	struct bytes bytes = { .swap = 0 };
	char own[sizeof(path)];

	memcpy(own, path, sizeof(path));
	make_folder(folder, "ffffffff90000000 T kvm_vcpu_ioctl\n");
	begin_stacks(&bytes, PERF_TYPE_SOFTWARE);
	put_stack(&bytes, 500, 77, 1, STACK(OF_KERNEL, KERNEL + 0x10));
	put_stack_exit(&bytes, 1000, 30);
	put_stack(&bytes, 2500, 77, 1, STACK(OF_USER, VMM + 0x8));
	assert_string_equal(stacks_of(&bytes, true), "3 [no exit];kvm_vcpu_ioctl=1*1 "
						     "3 [no exit];vmm+0x4008=1*1");
	assert_int_equal(span, 2000);
	remove_folder(folder);
	memcpy(path, own, sizeof(path));
}
