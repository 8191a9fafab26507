/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_group - a perf.data of a group, {kvm_exit,kvm_entry,kvm_mmio,cycles}:S on two CPUs, in each
 * shape that perf record gives it.
 */
#ifndef KVMTOP_TESTS_WORLDS_PERF_GROUP_H
#define KVMTOP_TESTS_WORLDS_PERF_GROUP_H

#include <linux/perf_event.h>

#include "tests/worlds/trace_world_linux.h"

#define GROUP_CPUS 2

enum { GROUP_EXIT, GROUP_ENTRY, GROUP_MMIO, GROUP_CYCLES, GROUP_EVENTS };

struct group_shape {
	bool is_piped;
	int swap;
};

static const struct group_shape group_shape;

static inline uint64_t group_id(unsigned int event, unsigned int cpu)
{
	return 1000 + 10 * event + cpu;
}

/* Only the first event of a group has a period. */
static inline void put_group_attr(struct bytes *bytes, unsigned int event)
{
	static const uint64_t configs[] = { ID_EXIT, ID_ENTRY, ID_MMIO, 0 };
	bool is_big = (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != (bytes->swap != 0);
	size_t attr = bytes->len;

	put_u32(bytes, event == GROUP_CYCLES ? PERF_TYPE_HARDWARE : PERF_TYPE_TRACEPOINT);
	put_u32(bytes, 128);
	put_u64(bytes, configs[event]);
	put_u64(bytes, event == GROUP_EXIT);
	put_u64(bytes, PERF_SAMPLE_TYPE | PERF_SAMPLE_READ);
	put_u64(bytes, PERF_FORMAT_GROUP | PERF_FORMAT_ID);
	put_u64(bytes, UINT64_C(1) << (is_big ? 63 - 18 : 18)); /* sample_id_all */
	put(bytes, NULL, attr + 128 - bytes->len);
}

static inline void put_group_ids(struct bytes *bytes, unsigned int event)
{
	for (unsigned int cpu = 0; cpu < GROUP_CPUS; cpu++)
		put_u64(bytes, group_id(event, cpu));
}

/* The attrs are at 168, after 8 ids. */
static inline void put_group_header(struct bytes *bytes)
{
	put(bytes, bytes->swap ? "2ELIFREP" : "PERFILE2", 8);
	put_u64(bytes, 104);
	put_u64(bytes, 144);
	put_u64(bytes, 168);
	put_u64(bytes, 144 * GROUP_EVENTS);
	put(bytes, NULL, 64); /* data, event types, features */
	for (unsigned int i = 0; i < GROUP_EVENTS; i++)
		put_group_ids(bytes, i);
	for (unsigned int i = 0; i < GROUP_EVENTS; i++) {
		put_group_attr(bytes, i);
		put_u64(bytes, 104 + i * GROUP_CPUS * sizeof(uint64_t));
		put_u64(bytes, GROUP_CPUS * sizeof(uint64_t));
	}
}

/* Up to the first sample. */
static inline void put_group_begin(struct bytes *bytes, const struct group_shape *shape)
{
	bytes->swap = shape->swap;
	if (!shape->is_piped) {
		put_group_header(bytes);
		set_u64(bytes, 40, bytes->len);
		return;
	}
	put_perf_pipe_header(bytes);
	for (unsigned int i = 0; i < GROUP_EVENTS; i++) {
		put_record(bytes, 64, 128 + 8 * GROUP_CPUS);
		put_group_attr(bytes, i);
		put_group_ids(bytes, i);
	}
	put_perf_pipe_records(bytes, "GenuineIntel,6,143,8");
}

/* After the last record. */
static inline void put_group_end(struct bytes *bytes, const struct group_shape *shape)
{
	uint64_t data = 168 + 144 * GROUP_EVENTS;

	if (!shape->is_piped)
		put_perf_features(bytes, data, "GenuineIntel,6,143,8");
}

/* A sample of the first event. `event`: its bytes, which are forgotten. Returns its offset. */
static inline size_t put_group_sample(struct bytes *bytes, uint64_t time, unsigned int cpu,
				      uint32_t pid, uint32_t tid, struct bytes *event)
{
	uint32_t raw = (uint32_t)(event->len + 4 + 7) / 8 * 8 - 4;
	size_t at = bytes->len;
	uint16_t size;

	put_record(bytes, 9, 0);
	put_u64(bytes, group_id(GROUP_EXIT, cpu));
	put_u32(bytes, pid);
	put_u32(bytes, tid);
	put_u64(bytes, time);
	put_u64(bytes, group_id(GROUP_EXIT, cpu));
	put_u32(bytes, cpu);
	put_u32(bytes, 0);
	put_u64(bytes, 1);
	put_u64(bytes, GROUP_EVENTS);
	for (unsigned int i = 0; i < GROUP_EVENTS; i++) {
		put_u64(bytes, 7 + i); /* how often it has happened so far */
		put_u64(bytes, group_id(i, cpu));
	}
	put_u32(bytes, raw);
	put(bytes, event->data, event->len);
	put(bytes, NULL, raw - event->len);
	event->len = 0;
	size = (uint16_t)(bytes->len - at);
	size = bytes->swap ? __builtin_bswap16(size) : size;
	memcpy(bytes->data + at + 6, &size, sizeof(size));
	return at;
}

#endif
