/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_world - recordings made up byte by byte, and what is asked of a stream again and again.
 */
#ifndef KVMTOP_TESTS_WORLDS_TRACE_WORLD_H
#define KVMTOP_TESTS_WORLDS_TRACE_WORLD_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/recording/trace.h"

#define AT_BYTE ": at byte "

/* Of a line from trace_problem(): the offset in it, and what is wrong there. */
static inline uint64_t problem_offset(const char *problem)
{
	const char *at = strstr(problem, AT_BYTE);

	return at ? strtoull(at + strlen(AT_BYTE), NULL, 10) : UINT64_MAX;
}

static inline const char *problem_text(const char *problem)
{
	const char *at = strstr(problem, AT_BYTE);

	return at ? strchr(at + strlen(AT_BYTE), ':') + 2 : problem;
}

/* A file under construction, in memory; begins as zeroes, ends with bytes_release(). */
struct bytes {
	uint8_t *data;
	size_t len, cap;
	int swap; /* numbers in the other byte order */
};

static inline void bytes_release(struct bytes *bytes)
{
	free(bytes->data);
	bytes->data = NULL;
	bytes->len = bytes->cap = 0;
}

static inline void put(struct bytes *bytes, const void *data, size_t size)
{
	if (bytes->len + size > bytes->cap) {
		bytes->cap = 2 * (bytes->len + size);
		bytes->data = realloc(bytes->data, bytes->cap);
		if (!bytes->data)
			abort();
	}
	if (data)
		memcpy(bytes->data + bytes->len, data, size);
	else
		memset(bytes->data + bytes->len, 0, size);
	bytes->len += size;
}

static inline void put_u8(struct bytes *bytes, uint8_t value)
{
	put(bytes, &value, sizeof(value));
}

static inline void put_u16(struct bytes *bytes, uint16_t value)
{
	value = bytes->swap ? __builtin_bswap16(value) : value;
	put(bytes, &value, sizeof(value));
}

static inline void put_u32(struct bytes *bytes, uint32_t value)
{
	value = bytes->swap ? __builtin_bswap32(value) : value;
	put(bytes, &value, sizeof(value));
}

static inline void put_u64(struct bytes *bytes, uint64_t value)
{
	value = bytes->swap ? __builtin_bswap64(value) : value;
	put(bytes, &value, sizeof(value));
}

/* A record of acrntrace on a CPU. */
static inline void put_acrn(struct bytes *bytes, uint64_t tsc, unsigned int cpu, uint64_t id,
			    uint64_t first, uint64_t second)
{
	put_u64(bytes, tsc);
	put_u64(bytes, (uint64_t)cpu << 56 | UINT64_C(2) << 48 | id);
	put_u64(bytes, first);
	put_u64(bytes, second);
}

/* A record of kvmtrace; tsc 0: it has none. */
static inline void put_kvmtrace(struct bytes *bytes, uint64_t tsc, uint32_t id, uint32_t pid,
				uint32_t vcpu, unsigned int nr_words, const uint32_t *words)
{
	put_u32(bytes, (tsc ? UINT32_C(1) << 31 : 0) | nr_words << 28 | id);
	put_u32(bytes, pid);
	put_u32(bytes, vcpu);
	if (tsc)
		put_u64(bytes, tsc);
	for (unsigned int i = 0; i < nr_words; i++)
		put_u32(bytes, words[i]);
}

/* What was left free before: numbers at a place. */
static inline void set_u64(struct bytes *bytes, size_t at, uint64_t value)
{
	value = bytes->swap ? __builtin_bswap64(value) : value;
	memcpy(bytes->data + at, &value, sizeof(value));
}

/* Writes a file of its own; the caller removes it. */
static inline void save(const char *path, const void *data, size_t size)
{
	FILE *file = fopen(path, "w");

	if (!file || (size && fwrite(data, 1, size, file) != size) || fclose(file) != 0)
		abort();
}

#endif
