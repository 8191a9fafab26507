// SPDX-License-Identifier: GPL-2.0-or-later
/* A sorted list of samples for each CPU, and a binary search in it. */
#include <stdlib.h>

#include "lib/array.h"
#include "lib/xalloc.h"
#include "trace/recording/dat/dat.h"

#define BEFORE_CPUS 16	/* bytes of the option: the host's trace_id, flags, number of CPUs */
#define OPTION_MAX (64 << 20) /* bytes; a sample a second for a day takes 3 MiB a CPU */
#define SAMPLE_SIZE 24		/* time, offset, scaling */
#define INTERPOLATES 1		/* a flag of the option */
#define FRACTION_MAX 63

struct clock_offset {
	uint64_t time; /* of the guest's clock */
	int64_t offset;
	uint64_t scaling, fraction; /* time * scaling >> fraction */
};

struct dat_shift_cpu {
	struct clock_offset *samples;
	size_t nr;
};

/* ---- reading */

/* Reads one number for each sample, into the member at this offset in struct clock_offset. */
static void get_column(struct cursor *cursor, const struct dat_shift_cpu *cpu, size_t member)
{
	for (size_t i = 0; i < cpu->nr && !cursor->err; i++)
		*(uint64_t *)((char *)&cpu->samples[i] + member) = cursor_u64(cursor);
}

static void get_cpu(struct cursor *cursor, uint64_t end, struct dat_shift_cpu *cpu)
{
	uint32_t nr = cursor_u32(cursor);

	if (!cursor_check(cursor, cursor->at <= end && nr <= (end - cursor->at) / SAMPLE_SIZE))
		return;
	cpu->samples = xcalloc(nr, sizeof(*cpu->samples));
	cpu->nr = nr;
	get_column(cursor, cpu, offsetof(struct clock_offset, time));
	get_column(cursor, cpu, offsetof(struct clock_offset, offset));
	get_column(cursor, cpu, offsetof(struct clock_offset, scaling));
}

static int compare(const void *a, const void *b)
{
	const struct clock_offset *one = a, *other = b;

	return (one->time > other->time) - (one->time < other->time);
}

/* Sorts the samples and drops repeated times. A scaling of 0 becomes 1. */
static void arrange(struct dat_shift_cpu *cpu)
{
	size_t nr = 0;

	if (cpu->nr)
		qsort(cpu->samples, cpu->nr, sizeof(*cpu->samples), compare);
	for (size_t i = 0; i < cpu->nr; i++) {
		struct clock_offset *sample = &cpu->samples[i];

		if (sample->scaling == 0 || sample->fraction > FRACTION_MAX) {
			sample->scaling = 1;
			sample->fraction = 0;
		}
		if (nr == 0 || sample->time != cpu->samples[nr - 1].time)
			cpu->samples[nr++] = *sample;
	}
	cpu->nr = nr;
}

void dat_shift_read(struct dat_shift *shift, struct cursor *cursor, uint32_t size)
{
	uint64_t end = cursor->at + size;
	struct dat_shift new = { .nr_cpus = 0 };
	uint32_t nr;

	cursor_check(cursor, size >= BEFORE_CPUS && size <= OPTION_MAX &&
				     end <= cursor_end(cursor));
	new.host_id = cursor_u64(cursor);
	new.interpolates = cursor_u32(cursor) & INTERPOLATES;
	nr = cursor_u32(cursor);
	if (cursor_check(cursor, nr <= DAT_CPUS_MAX && nr <= size / sizeof(uint32_t))) {
		new.cpus = xcalloc(nr, sizeof(*new.cpus));
		new.nr_cpus = nr;
	}
	for (size_t i = 0; i < new.nr_cpus && !cursor->err; i++)
		get_cpu(cursor, end, &new.cpus[i]);
	/* The fractions follow the other numbers of all CPUs; older trace-cmd writes none. */
	for (size_t i = 0; i < new.nr_cpus && cursor->at < end; i++)
		get_column(cursor, &new.cpus[i], offsetof(struct clock_offset, fraction));
	dat_shift_release(shift);
	if (!cursor_check(cursor, cursor->at <= end)) {
		dat_shift_release(&new);
		return;
	}
	for (size_t i = 0; i < new.nr_cpus; i++)
		arrange(&new.cpus[i]);
	*shift = new;
}

void dat_shift_release(struct dat_shift *shift)
{
	for (size_t i = 0; i < shift->nr_cpus; i++)
		free(shift->cpus[i].samples);
	free(shift->cpus);
	*shift = (struct dat_shift){ .host_id = 0 };
}

/* ---- shifting */

/* On the line through two samples, rounded as trace-cmd does. */
static int64_t offset_between(const struct clock_offset *one, const struct clock_offset *other,
			      uint64_t time)
{
	int64_t since = (int64_t)(time - one->time);
	int64_t width = (int64_t)(other->time - one->time);
	__int128 rise = since * ((__int128)other->offset - one->offset);

	return (int64_t)(one->offset + (rise + width / 2) / width);
}

uint64_t dat_shift_time(const struct dat_shift *shift, int cpu, uint64_t time)
{
	const struct dat_shift_cpu *of;
	const struct clock_offset *sample;
	int64_t offset;
	size_t i;

	if (cpu < 0 || (size_t)cpu >= shift->nr_cpus || shift->cpus[cpu].nr == 0)
		return time;
	of = &shift->cpus[cpu];
	/* The last sample that is not later than the time, or else the first one. */
	i = array_lower_bound(of->nr, k, of->samples[k].time <= time);
	i -= i > 0;
	/* After the last sample: the line through the last two samples. */
	if (shift->interpolates && i > 0 && i == of->nr - 1)
		i--;
	sample = &of->samples[i];
	offset = shift->interpolates && of->nr > 1 ? offset_between(sample, sample + 1, time) :
						     sample->offset;
	time = (uint64_t)(((unsigned __int128)time * sample->scaling) >> sample->fraction);
	return time + (uint64_t)offset;
}
