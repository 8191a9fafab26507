/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_stacks - a perf.data of exits, and of a clock or another event whose samples have stacks, as
 * it is written to a pipe.
 */
#ifndef KVMTOP_TESTS_WORLDS_PERF_STACKS_H
#define KVMTOP_TESTS_WORLDS_PERF_STACKS_H

#include <linux/perf_event.h>

#include "tests/worlds/trace_world_linux.h"

#define CLOCK_ID 4712
#define KERNEL UINT64_C(0xffffffff90000000)
#define VMM UINT64_C(0x7f0000001000)
#define OF_KERNEL ((uint64_t)PERF_CONTEXT_KERNEL)
#define OF_USER ((uint64_t)PERF_CONTEXT_USER)

/* An event of the clock, or of something else, whose samples have a stack. */
static inline void put_clock(struct bytes *bytes, uint32_t type)
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

static inline void set_misc(struct bytes *bytes, size_t record, uint16_t misc)
{
	bytes->data[record + 4 + (bytes->swap ? 1 : 0)] = (uint8_t)misc;
	bytes->data[record + 4 + (bytes->swap ? 0 : 1)] = (uint8_t)(misc >> 8);
}

static inline void put_map(struct bytes *bytes, uint64_t time, uint32_t pid, uint16_t misc,
			   uint64_t begin, uint64_t offset, const char *name)
{
	size_t at = bytes->len, len = (strlen(name) + 8) / 8 * 8;

	put_record(bytes, 1, 32 + len + 40);
	set_misc(bytes, at, misc);
	put_u32(bytes, pid);
	put_u32(bytes, pid);
	put_u64(bytes, begin);
	put_u64(bytes, 0x100000);
	put_u64(bytes, offset);
	put(bytes, name, strlen(name));
	put(bytes, NULL, len - strlen(name));
	put_sample_id(bytes, time, 0, pid, pid);
}

static inline void put_task(struct bytes *bytes, uint32_t type, uint64_t time, uint16_t misc,
			    uint32_t pid, uint32_t parent)
{
	size_t at = bytes->len;

	put_record(bytes, type, 24 + 40);
	set_misc(bytes, at, misc);
	put_u32(bytes, pid);
	put_u32(bytes, parent);
	put_u32(bytes, pid);
	put_u32(bytes, parent);
	put_u64(bytes, time);
	put_sample_id(bytes, time, 0, parent, parent);
}

static inline void put_fork(struct bytes *bytes, uint64_t time, uint16_t misc, uint32_t pid,
			    uint32_t parent)
{
	put_task(bytes, 7, time, misc, pid, parent);
}

/* The process has ended. */
static inline void put_task_end(struct bytes *bytes, uint64_t time, uint32_t pid)
{
	put_task(bytes, 4, time, 0, pid, 1);
}

/* PERF_RECORD_MISC_COMM_EXEC: the process runs another program. */
static inline void put_comm(struct bytes *bytes, uint64_t time, uint16_t misc, uint32_t pid)
{
	size_t at = bytes->len;

	put_record(bytes, 3, 16 + 40);
	set_misc(bytes, at, misc);
	put_u32(bytes, pid);
	put_u32(bytes, pid);
	put(bytes, "program", 8);
	put_sample_id(bytes, time, 0, pid, pid);
}

static inline void put_stack_of(struct bytes *bytes, uint64_t time, uint32_t pid, uint32_t tid,
				uint64_t period, const uint64_t *chain, size_t nr)
{
	put_record(bytes, 9, 8 * 7 + 8 * nr);
	put_u64(bytes, CLOCK_ID);
	put_u32(bytes, pid);
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

static inline void put_stack(struct bytes *bytes, uint64_t time, uint32_t tid, uint64_t period,
			     const uint64_t *chain, size_t nr)
{
	put_stack_of(bytes, time, 70, tid, period, chain, nr);
}

static inline void put_stack_exit(struct bytes *bytes, uint64_t time, uint32_t reason)
{
	struct bytes event = { .swap = bytes->swap };

	put_exit(&event, 77, 3, 1, reason);
	put_sample(bytes, time, 0, 70, 77, &event);
	put_entry(&event, 77, 3);
	put_sample(bytes, time + 1000, 0, 70, 77, &event);
	bytes_release(&event);
}

static inline void begin_stacks(struct bytes *bytes, uint32_t type)
{
	put_perf_pipe_header(bytes);
	put_perf_pipe_records(bytes, "GenuineIntel,6,143,8");
	put_clock(bytes, type);
	put_map(bytes, 0, UINT32_MAX, PERF_RECORD_MISC_KERNEL, KERNEL, KERNEL,
		"[kernel.kallsyms]_text");
	put_map(bytes, 0, 70, PERF_RECORD_MISC_USER, VMM, 0x4000, "/no/such/vmm");
}

#endif
