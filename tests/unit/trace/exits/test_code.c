// SPDX-License-Identifier: GPL-2.0-or-later
/* The code of a recording's vCPUs: samples with stacks, in the exit that was open. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <sys/stat.h>

#include "core/monitor.h"
#include "core/views/query.h"
#include "core/views/view.h"
#include "tests/unit/unit.h"
#include "tests/worlds/perf_stacks.h"
#include "tests/worlds/trace_file.h"
#include "trace/exits/recording.h"

#define STACK(...) (const uint64_t[]){ __VA_ARGS__ }, \
	sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t)

static char folder[64]; /* that the recording is in; "": in none */

/* "guest/vcpu io;vmm+0x4010;[kernel]+0x10=250": the stacks of the recording. */
static const char *stacks_of(struct bytes *bytes, bool has_code)
{
	static char text[2048];
	const struct recording_choice choice = { .has_code = has_code };
	const char *paths[] = { *folder ? folder : path };
	struct monitor_config config = { .list = recorded_players, .source = SOURCE_RECORDING,
					 .is_span = true };
	struct query query = { .type = &view_where, .children = true };
	struct recording recording;
	struct monitor *monitor;
	struct error error = { "" };
	const struct facts *facts;

	save(path, bytes->data, bytes->len);
	bytes_release(bytes);
	assert_int_equal(recording_read(paths, 1, &choice, &recording, &error), 0);
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
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%d %s=%d*%d",
			 i ? " " : "", (int)item->key.vcpu, stack, (int)item->ns,
			 (int)item->count);
	}
	monitor_close(monitor);
	recording_release(&recording);
	return text;
}

/* Return addresses are of the calls before them. Of another thread, which runs no vCPU, nothing. */
static void samples_are_of_the_open_exit(void **state)
{
	(void)state;
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
static void only_clocks_have_time(void **state)
{
	struct bytes bytes = { .swap = 0 };

	(void)state;
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
static void damaged_stacks(void **state)
{
	struct bytes bytes = { .swap = 0 };
	size_t at;

	(void)state;
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

/* perf record --kcore copies the kernel's symbols. */
static void a_recording_may_have_symbols(void **state)
{
	static const char symbols[] = "ffffffff90000000 T first\nffffffff90000018 T second\n";
	struct bytes bytes = { .swap = 0 };
	char kcore[96], file[112], own[sizeof(path)];

	(void)state;
	memcpy(own, path, sizeof(path));
	strcpy(folder, "/tmp/kvmtop-kcore.XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(kcore, sizeof(kcore), "%s/kcore_dir", folder);
	snprintf(file, sizeof(file), "%s/kallsyms", kcore);
	assert_int_equal(mkdir(kcore, 0700), 0);
	save(file, symbols, sizeof(symbols) - 1);
	snprintf(path, sizeof(path), "%.50s/data", folder);
	begin_stacks(&bytes, PERF_TYPE_SOFTWARE);
	put_stack_exit(&bytes, 1000, 30);
	put_stack(&bytes, 1500, 77, 250, STACK(OF_KERNEL, KERNEL + 0x10, KERNEL + 0x21));
	assert_string_equal(stacks_of(&bytes, true), "3 IO_INSTRUCTION;second;first=250*1");
	unlink(file);
	rmdir(kcore);
	unlink(path);
	rmdir(folder);
	folder[0] = '\0';
	memcpy(path, own, sizeof(path));
}

UNIT(test_code)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(samples_are_of_the_open_exit, set_up, tear_down),
		cmocka_unit_test_setup_teardown(only_clocks_have_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(damaged_stacks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_recording_may_have_symbols, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
