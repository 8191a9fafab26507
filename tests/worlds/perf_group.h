/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_group - a perf.data of a group, {kvm_exit,kvm_entry,kvm_mmio,cycles}:S on two CPUs, in each
 * shape that perf record gives it.
 */
#ifndef KVMTOP_TESTS_WORLDS_PERF_GROUP_H
#define KVMTOP_TESTS_WORLDS_PERF_GROUP_H

#include <linux/perf_event.h>

#include "tests/worlds/trace_world_linux.h"

#define FORMAT_LOST (1 << 4)
#define GROUP_CPUS 2

enum { GROUP_EXIT, GROUP_ENTRY, GROUP_MMIO, GROUP_CYCLES, GROUP_EVENTS };

enum group_of {
	GROUP_OF_THREADS, /* an id is of a thread, as the index of ids says */
	GROUP_OF_CPUS,	  /* an id is of a CPU */
	GROUP_WITHOUT_INDEX, /* perf before 6.0: ids without a CPU or thread */
	GROUP_OF_HEIRS,	  /* threads inherit their events: an id is of several threads */
};

struct group_shape {
	bool is_piped;
	int swap;
	uint64_t read_format; /* with PERF_FORMAT_GROUP */
	uint64_t sample_type;
	enum group_of of;
	bool has_clock; /* cpu-clock instead of kvm_exit: samples have no event's bytes */
};

static const struct group_shape group_shape = {
	.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID,
	.sample_type = PERF_SAMPLE_TYPE | PERF_SAMPLE_READ,
};

static inline uint64_t group_id(unsigned int event, unsigned int cpu)
{
	return 1000 + 10 * event + cpu;
}

/* Machines of either byte order number flags from the end that they begin with. */
static inline uint64_t group_flag(const struct bytes *bytes, unsigned int bit)
{
	bool is_big = (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != (bytes->swap != 0);

	return UINT64_C(1) << (is_big ? 63 - bit : bit);
}

static inline void put_group_attr(struct bytes *bytes, const struct group_shape *shape,
				  unsigned int event)
{
	static const uint64_t configs[] = { ID_EXIT, ID_ENTRY, ID_MMIO, 0 };
	bool is_tracepoint = event != GROUP_CYCLES && !(event == GROUP_EXIT && shape->has_clock);
	uint64_t type = shape->sample_type, flags = group_flag(bytes, 18);
	size_t attr = bytes->len;

	if (shape->has_clock)
		type &= ~(uint64_t)PERF_SAMPLE_RAW;
	if (shape->of == GROUP_OF_HEIRS)
		flags |= group_flag(bytes, 1) | group_flag(bytes, 11);
	put_u32(bytes, is_tracepoint ? PERF_TYPE_TRACEPOINT : PERF_TYPE_HARDWARE);
	put_u32(bytes, 128);
	put_u64(bytes, configs[event]);
	put_u64(bytes, event == GROUP_EXIT);
	put_u64(bytes, type);
	put_u64(bytes, shape->read_format);
	put_u64(bytes, flags);
	put(bytes, NULL, attr + 128 - bytes->len);
}

static inline void put_group_ids(struct bytes *bytes, unsigned int event)
{
	for (unsigned int cpu = 0; cpu < GROUP_CPUS; cpu++)
		put_u64(bytes, group_id(event, cpu));
}

/* The attrs are at 168, after 8 ids. */
static inline void put_group_header(struct bytes *bytes, const struct group_shape *shape)
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
		put_group_attr(bytes, shape, i);
		put_u64(bytes, 104 + i * GROUP_CPUS * sizeof(uint64_t));
		put_u64(bytes, GROUP_CPUS * sizeof(uint64_t));
	}
}

/* Which CPU and which thread each id is of. */
static inline void put_group_index(struct bytes *bytes, const struct group_shape *shape)
{
	put_record(bytes, 69, 8 + (size_t)32 * GROUP_EVENTS * GROUP_CPUS);
	put_u64(bytes, GROUP_EVENTS * GROUP_CPUS);
	for (unsigned int i = 0; i < GROUP_EVENTS; i++) {
		for (unsigned int cpu = 0; cpu < GROUP_CPUS; cpu++) {
			put_u64(bytes, group_id(i, cpu));
			put_u64(bytes, cpu);
			put_u64(bytes, cpu);
			put_u64(bytes, shape->of == GROUP_OF_CPUS ? UINT64_MAX : 77 + cpu);
		}
	}
}

/* Up to the first sample. */
static inline void put_group_begin(struct bytes *bytes, const struct group_shape *shape)
{
	bytes->swap = shape->swap;
	if (shape->is_piped) {
		put_perf_pipe_header(bytes);
		for (unsigned int i = 0; i < GROUP_EVENTS; i++) {
			put_record(bytes, 64, 128 + 8 * GROUP_CPUS);
			put_group_attr(bytes, shape, i);
			put_group_ids(bytes, i);
		}
		put_perf_pipe_records(bytes, "GenuineIntel,6,143,8");
	} else {
		put_group_header(bytes, shape);
		set_u64(bytes, 40, bytes->len);
	}
	if (shape->of != GROUP_WITHOUT_INDEX)
		put_group_index(bytes, shape);
}

/* After the last record. */
static inline void put_group_end(struct bytes *bytes, const struct group_shape *shape)
{
	uint64_t data = 168 + 144 * GROUP_EVENTS;

	if (!shape->is_piped)
		put_perf_features(bytes, data, "GenuineIntel,6,143,8");
}

/* counts: how often each event has happened so far, on this CPU or in this thread. */
static inline void put_group_counts(struct bytes *bytes, const struct group_shape *shape,
				    unsigned int cpu, const uint64_t *counts)
{
	put_u64(bytes, GROUP_EVENTS);
	if (shape->read_format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		put_u64(bytes, 123456789);
	if (shape->read_format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		put_u64(bytes, 123456788);
	for (unsigned int i = 0; i < GROUP_EVENTS; i++) {
		put_u64(bytes, counts[i]);
		if (shape->read_format & PERF_FORMAT_ID)
			put_u64(bytes, group_id(i, cpu));
		if (shape->read_format & FORMAT_LOST)
			put_u64(bytes, 3);
	}
}

/* A sample of the first event. `event`: its bytes, which are forgotten. Returns its offset. */
static inline size_t put_group_sample(struct bytes *bytes, const struct group_shape *shape,
				      uint64_t time, unsigned int cpu, uint32_t pid, uint32_t tid,
				      struct bytes *event, const uint64_t *counts)
{
	uint32_t raw = (uint32_t)(event->len + 4 + 7) / 8 * 8 - 4;
	size_t at = bytes->len;
	uint16_t size;

	put_record(bytes, 9, 0);
	if (shape->sample_type & PERF_SAMPLE_IDENTIFIER)
		put_u64(bytes, group_id(GROUP_EXIT, cpu));
	put_u32(bytes, pid);
	put_u32(bytes, tid);
	put_u64(bytes, time);
	if (shape->sample_type & PERF_SAMPLE_ID)
		put_u64(bytes, group_id(GROUP_EXIT, cpu));
	put_u32(bytes, cpu);
	put_u32(bytes, 0);
	put_u64(bytes, 1);
	put_group_counts(bytes, shape, cpu, counts);
	if (!shape->has_clock) {
		put_u32(bytes, raw);
		put(bytes, event->data, event->len);
		put(bytes, NULL, raw - event->len);
	}
	event->len = 0;
	size = (uint16_t)(bytes->len - at);
	size = bytes->swap ? __builtin_bswap16(size) : size;
	memcpy(bytes->data + at + 6, &size, sizeof(size));
	return at;
}

#endif
