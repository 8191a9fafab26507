// SPDX-License-Identifier: GPL-2.0-or-later
/* The code of a recording's vCPUs: samples with stacks, in the exit that was open. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <linux/perf_event.h>

#include "core/monitor.h"
#include "core/views/query.h"
#include "core/views/view.h"
#include "tests/unit/unit.h"
#include "tests/worlds/trace_file.h"
#include "trace/exits/recording.h"

#define CLOCK_ID 4712
#define KERNEL UINT64_C(0xffffffff90000000)
#define VMM UINT64_C(0x7f0000001000)
#define OF_KERNEL ((uint64_t)PERF_CONTEXT_KERNEL)
#define OF_USER ((uint64_t)PERF_CONTEXT_USER)
#define STACK(...) (const uint64_t[]){ __VA_ARGS__ }, \
	sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t)

/* An event of the clock, or of something else, whose samples have a stack. */
static void put_clock(struct bytes *bytes, uint32_t type)
{
	bool is_big = (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != (bytes->swap != 0);
	size_t attr;

	put_record(bytes, 64, 128 + 8);
	attr = bytes->len;
	put_u32(bytes, type);
	put_u32(bytes, 128);
	put_u64(bytes, 0);
	put_u64(bytes, 99);
	put_u64(bytes, (PERF_SAMPLE_TYPE & ~(uint64_t)PERF_SAMPLE_RAW) | PERF_SAMPLE_CALLCHAIN);
	put_u64(bytes, 0);
	put_u64(bytes, is_big ? UINT64_C(1) << (63 - 18) | UINT64_C(1) << (63 - 10) :
				UINT64_C(1) << 18 | UINT64_C(1) << 10);
	put(bytes, NULL, attr + 128 - bytes->len);
	put_u64(bytes, CLOCK_ID);
}

static void put_map(struct bytes *bytes, uint32_t pid, uint16_t misc, uint64_t begin,
		    uint64_t offset, const char *name)
{
	size_t at = bytes->len, len = (strlen(name) + 8) / 8 * 8;

	put_record(bytes, 1, 32 + len);
	bytes->data[at + 4 + (bytes->swap ? 1 : 0)] = (uint8_t)misc;
	put_u32(bytes, pid);
	put_u32(bytes, pid);
	put_u64(bytes, begin);
	put_u64(bytes, 0x100000);
	put_u64(bytes, offset);
	put(bytes, name, strlen(name));
	put(bytes, NULL, len - strlen(name));
}

static void put_stack(struct bytes *bytes, uint64_t time, uint32_t tid, uint64_t period,
		      const uint64_t *chain, size_t nr)
{
	put_record(bytes, 9, 8 * 7 + 8 * nr);
	put_u64(bytes, CLOCK_ID);
	put_u32(bytes, 70);
	put_u32(bytes, tid);
	put_u64(bytes, time);
	put_u64(bytes, CLOCK_ID);
	put_u32(bytes, 0);
	put_u32(bytes, 0);
	put_u64(bytes, period);
	put_u64(bytes, nr);
	for (size_t i = 0; i < nr; i++)
		put_u64(bytes, chain[i]);
}

static void put_exits(struct bytes *bytes, uint64_t time, uint32_t reason)
{
	struct bytes event = { .swap = bytes->swap };

	put_exit(&event, 77, 3, 1, reason);
	put_sample(bytes, time, 0, 70, 77, &event);
	put_entry(&event, 77, 3);
	put_sample(bytes, time + 1000, 0, 70, 77, &event);
	bytes_release(&event);
}

static void begin(struct bytes *bytes, uint32_t type)
{
	put_perf_pipe_header(bytes);
	put_perf_pipe_records(bytes, "GenuineIntel,6,143,8");
	put_clock(bytes, type);
	put_map(bytes, UINT32_MAX, PERF_RECORD_MISC_KERNEL, KERNEL, 0, "[kernel.kallsyms]_text");
	put_map(bytes, 70, PERF_RECORD_MISC_USER, VMM, 0x4000, "/no/such/vmm");
}

/* "guest/vcpu io;vmm+0x4010;[kernel]+0x10=250": the stacks of the recording. */
static const char *stacks_of(struct bytes *bytes, bool has_code)
{
	static char text[2048];
	const struct recording_choice choice = { .has_code = has_code };
	const char *paths[] = { path };
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

		begin(&bytes, PERF_TYPE_SOFTWARE);
		put_exits(&bytes, 1000, 30);
		put_stack(&bytes, 1500, 77, 250,
			  STACK(OF_KERNEL, KERNEL + 0x10, KERNEL + 0x21, OF_USER, VMM + 0x8,
				VMM + 0x91));
		put_stack(&bytes, 1600, 77, 250,
			  STACK(OF_KERNEL, KERNEL + 0x10, KERNEL + 0x21, OF_USER, VMM + 0x8,
				VMM + 0x91));
		put_stack(&bytes, 1700, 78, 250, STACK(OF_USER, VMM + 0x8));
		put_exits(&bytes, 3000, 12);
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
	begin(&bytes, PERF_TYPE_HW_CACHE);
	put_exits(&bytes, 1000, 30);
	put_stack(&bytes, 1500, 77, 250, STACK(OF_USER, VMM + 0x8));
	assert_string_equal(stacks_of(&bytes, true), "");
	begin(&bytes, PERF_TYPE_HARDWARE); /* cycles, 99 a second */
	put_exits(&bytes, 1000, 30);
	put_stack(&bytes, 1500, 77, 123456, STACK(OF_USER, VMM + 0x8));
	assert_string_equal(stacks_of(&bytes, true), "3 IO_INSTRUCTION;vmm+0x4008=10101010*1");
	begin(&bytes, PERF_TYPE_SOFTWARE);
	put_exits(&bytes, 1000, 30);
	put_stack(&bytes, 1500, 77, 250, STACK(OF_USER, VMM + 0x8));
	assert_string_equal(stacks_of(&bytes, false), ""); /* not wanted */
}

/* A chain that claims more than it has, and words that are neither. */
static void damaged_stacks(void **state)
{
	struct bytes bytes = { .swap = 0 };
	size_t at;

	(void)state;
	begin(&bytes, PERF_TYPE_SOFTWARE);
	put_exits(&bytes, 1000, 30);
	put_stack(&bytes, 1400, 77, 9, STACK((uint64_t)-1, 5, (uint64_t)PERF_CONTEXT_GUEST, 7));
	put_stack(&bytes, 1500, 77, 250, STACK(OF_USER, VMM + 0x8));
	at = bytes.len - 8 * 3;
	assert_string_equal(stacks_of(&bytes, true), "3 IO_INSTRUCTION;vmm+0x4008=250*1");
	begin(&bytes, PERF_TYPE_SOFTWARE);
	put_exits(&bytes, 1000, 30);
	put_stack(&bytes, 1400, 77, 9, STACK(0, 0, 0, 0));
	put_stack(&bytes, 1500, 77, 250, STACK(OF_USER, VMM + 0x8));
	set_u64(&bytes, at, 60000);
	assert_string_equal(stacks_of(&bytes, true), "");
}

UNIT(test_code)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(samples_are_of_the_open_exit, set_up, tear_down),
		cmocka_unit_test_setup_teardown(only_clocks_have_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(damaged_stacks, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
