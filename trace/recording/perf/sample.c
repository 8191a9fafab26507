// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses samples and the fields at the end of other records. */
#include <linux/perf_event.h>

#include "lib/array.h"
#include "trace/recording/perf/perf.h"

#define STACK_NS_MAX UINT64_C(3600000000000) /* more for one sample is damage */

/* The part of a record that is not parsed yet. */
struct rest {
	const uint8_t *at;
	size_t size;
	bool swap, is_short;
};

/* Inlined: each field of each sample is read by it. */
static inline __attribute__((always_inline)) const uint8_t *take(struct rest *rest, uint64_t size)
{
	const uint8_t *at = rest->at;

	if (size > rest->size) {
		rest->is_short = true;
		rest->size = 0;
		return NULL;
	}
	rest->at += size;
	rest->size -= size;
	return at;
}

static uint64_t take_u64(struct rest *rest)
{
	const uint8_t *at = take(rest, 8);

	return at ? bytes_u64(at, rest->swap) : 0;
}

/* Skips the count of an event, or of each event of a group: PERF_SAMPLE_READ. */
static void skip_counts(struct rest *rest, uint64_t format)
{
	uint64_t nr = 1, size = 8;

	if (format & PERF_FORMAT_GROUP)
		nr = take_u64(rest);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		take_u64(rest);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		take_u64(rest);
	if (format & PERF_FORMAT_ID)
		size += 8;
	if (format & (1U << 4)) /* PERF_FORMAT_LOST */
		size += 8;
	take(rest, nr < 65536 ? nr * size : UINT64_MAX);
}

/* The addresses of a stack, with words among them that say of what the next ones are. */
static void take_chain(struct rest *rest, struct perf_sample *sample)
{
	uint64_t nr = take_u64(rest);
	const uint8_t *chain = take(rest, nr < 65536 ? nr * 8 : UINT64_MAX);

	if (!chain || !sample->stack_ns)
		return;
	sample->chain = chain;
	sample->nr_chain = (uint32_t)nr;
}

/* The event that the sample is of says what time it stands for. */
static uint64_t stack_ns_of(const struct perf_header *header, const struct perf_layout *layout,
			    const struct perf_sample *sample)
{
	if (sample->id && header->nr_layouts > 1)
		layout = perf_header_layout(header, sample->id);
	if (layout->stack_ns != STACK_PERIOD)
		return layout->stack_ns;
	return sample->period < STACK_NS_MAX ? sample->period : STACK_NS_MAX;
}

/* ---- fields of one word each */

/* Source: perf_event_open(2), PERF_RECORD_SAMPLE and struct sample_id. */
static const uint64_t sample_words[] = {
	PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP,	       PERF_SAMPLE_TID,
	PERF_SAMPLE_TIME,	PERF_SAMPLE_ADDR,      PERF_SAMPLE_ID,
	PERF_SAMPLE_STREAM_ID,	PERF_SAMPLE_CPU,       PERF_SAMPLE_PERIOD,
};
static const uint64_t last_words[] = {
	PERF_SAMPLE_TID,       PERF_SAMPLE_TIME, PERF_SAMPLE_ID,
	PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,	 PERF_SAMPLE_IDENTIFIER,
};

static struct perf_places places_of(const uint64_t *words, size_t nr, uint64_t type)
{
	struct perf_places places = { 0, -1, -1, -1, -1, -1 };

	for (size_t i = 0; i < nr; i++) {
		int8_t at = places.nr;

		if (!(type & words[i]))
			continue;
		places.nr++;
		if (words[i] == PERF_SAMPLE_TID)
			places.thread = at;
		else if (words[i] == PERF_SAMPLE_TIME)
			places.time = at;
		else if (words[i] == PERF_SAMPLE_CPU)
			places.cpu = at;
		else if (words[i] == PERF_SAMPLE_PERIOD)
			places.period = at;
		else if (words[i] == PERF_SAMPLE_ID || words[i] == PERF_SAMPLE_IDENTIFIER)
			places.id = at;
	}
	return places;
}

void perf_layout_find_places(struct perf_layout *layout)
{
	uint64_t type = layout->sample_type;

	layout->sample = places_of(sample_words, ARRAY_SIZE(sample_words), type);
	layout->last = places_of(last_words, ARRAY_SIZE(last_words), type);
}

/* Inlined: each sample has them. */
static inline __attribute__((always_inline)) void
take_words(const uint8_t *at, bool swap, const struct perf_places *places,
	   struct perf_sample *sample)
{
	if (places->thread >= 0) {
		sample->pid = (int32_t)bytes_u32(at + 8 * places->thread, swap);
		sample->tid = (int32_t)bytes_u32(at + 8 * places->thread + 4, swap);
	}
	if (places->time >= 0)
		sample->time = bytes_u64(at + 8 * places->time, swap);
	if (places->cpu >= 0)
		sample->cpu = (int32_t)bytes_u32(at + 8 * places->cpu, swap);
	if (places->id >= 0)
		sample->id = bytes_u64(at + 8 * places->id, swap);
	if (places->period >= 0)
		sample->period = bytes_u64(at + 8 * places->period, swap);
	sample->is_of_several = sample->period > 1;
}

/* ---- samples, and the fields at the end of other records */

/* Finds the sample's layout by the event's number in the sample, if it has one. */
static const struct perf_layout *layout_of(const struct perf_header *header, const uint8_t *at,
					   size_t size)
{
	if (header->nr_layouts == 0)
		return NULL;
	if (header->nr_layouts == 1 || !header->ids || size < 8 ||
	    !(header->layouts[0].sample_type & PERF_SAMPLE_IDENTIFIER))
		return &header->layouts[0];
	return perf_header_layout(header, bytes_u64(at, header->swap));
}

bool perf_sample_read(const struct perf_header *header, const uint8_t *at, size_t size,
		      struct perf_sample *ret_sample)
{
	const struct perf_layout *layout = layout_of(header, at, size);
	struct rest rest = { at, size, header->swap, false };

	*ret_sample = (struct perf_sample){ .pid = -1, .tid = -1, .cpu = -1 };
	if (!layout || !take(&rest, 8 * (uint64_t)layout->sample.nr))
		return false;
	take_words(at, header->swap, &layout->sample, ret_sample);
	ret_sample->stack_ns = stack_ns_of(header, layout, ret_sample);
	if (layout->sample_type & PERF_SAMPLE_READ)
		skip_counts(&rest, layout->read_format);
	if (layout->sample_type & PERF_SAMPLE_CALLCHAIN)
		take_chain(&rest, ret_sample);
	if (layout->sample_type & PERF_SAMPLE_RAW) {
		const uint8_t *raw_size = take(&rest, 4);

		ret_sample->raw_size = raw_size ? bytes_u32(raw_size, header->swap) : 0;
		ret_sample->raw = take(&rest, ret_sample->raw_size);
	}
	return !rest.is_short;
}

void perf_sample_read_last(const struct perf_header *header, const uint8_t *at, size_t size,
			   struct perf_sample *ret_sample)
{
	const struct perf_layout *layout = header->nr_layouts ? &header->layouts[0] : NULL;

	*ret_sample = (struct perf_sample){ .pid = -1, .tid = -1, .cpu = -1 };
	if (layout && layout->has_sample_id && size >= 8 * (size_t)layout->last.nr)
		take_words(at + size - 8 * (size_t)layout->last.nr, header->swap, &layout->last,
			   ret_sample);
}

void perf_sample_stack(const struct perf_sample *sample, bool swap, struct trace_stack *stack)
{
	uint64_t context = (uint64_t)PERF_CONTEXT_USER;

	stack->ns = sample->stack_ns;
	stack->nr = stack->nr_kernel = 0;
	for (uint32_t i = 0; i < sample->nr_chain && stack->nr < STACK_ADDRESSES; i++) {
		uint64_t word = bytes_u64(sample->chain + (size_t)i * sizeof(word), swap);

		/* The highest numbers say of what the next addresses are. */
		if (word >= (uint64_t)PERF_CONTEXT_MAX) {
			context = word;
			continue;
		}
		if (!word || (context != (uint64_t)PERF_CONTEXT_KERNEL &&
			      context != (uint64_t)PERF_CONTEXT_USER))
			continue; /* a guest's, or a hypervisor's */
		if (context == (uint64_t)PERF_CONTEXT_KERNEL && stack->nr == stack->nr_kernel)
			stack->nr_kernel++;
		stack->addresses[stack->nr++] = word;
	}
}
