// SPDX-License-Identifier: GPL-2.0-or-later
/* A sorted list for each vCPU, with a binary search in it. */
#include <stdlib.h>

#include "lib/array.h"
#include "trace/timeline/timeline.h"

struct offset {
	uint64_t time; /* of the host's TSC */
	int64_t offset;
};

struct vcpu_offsets {
	size_t guest;
	int32_t vcpu;
	struct offset *list;
	size_t nr, room;
};

void offsets_release(struct timeline_offsets *offsets)
{
	for (size_t i = 0; i < offsets->nr; i++)
		free(offsets->vcpus[i].list);
	free(offsets->vcpus);
	*offsets = (struct timeline_offsets){ 0 };
}

static struct vcpu_offsets *get_offsets(struct timeline_offsets *offsets, size_t guest,
					int32_t vcpu)
{
	struct vcpu_offsets *of;

	for (size_t i = 0; i < offsets->nr; i++) {
		if (offsets->vcpus[i].guest == guest && offsets->vcpus[i].vcpu == vcpu)
			return &offsets->vcpus[i];
	}
	array_grow(&offsets->vcpus, &offsets->room, offsets->nr + 1);
	of = &offsets->vcpus[offsets->nr++];
	*of = (struct vcpu_offsets){ .guest = guest, .vcpu = vcpu };
	return of;
}

void offsets_add(struct timeline_offsets *offsets, size_t guest, int32_t vcpu, uint64_t time,
		 int64_t offset)
{
	struct vcpu_offsets *of = get_offsets(offsets, guest, vcpu);

	if (of->nr && of->list[of->nr - 1].offset == offset)
		return; /* the same offset again */
	array_grow(&of->list, &of->room, of->nr + 1);
	of->list[of->nr++] = (struct offset){ time, offset };
}

/* A difference below a thousandth is the inexact frequency that the user or the file gave. */
struct timeline_ratio offsets_ratio(uint64_t guest_hz, uint64_t host_hz)
{
	uint64_t difference = guest_hz > host_hz ? guest_hz - host_hz : host_hz - guest_hz;

	if (!guest_hz || !host_hz || difference < host_hz / 1000)
		return (struct timeline_ratio){ 0, 0 };
	return (struct timeline_ratio){ guest_hz, host_hz };
}

static uint64_t to_guest(const struct timeline_ratio *ratio, uint64_t time)
{
	if (!ratio->guest_hz)
		return time;
	return (uint64_t)((unsigned __int128)time * ratio->guest_hz / ratio->host_hz);
}

static uint64_t to_host(const struct timeline_ratio *ratio, uint64_t time)
{
	if (!ratio->guest_hz)
		return time;
	return (uint64_t)((__int128)(int64_t)time * (int64_t)ratio->host_hz /
			  (int64_t)ratio->guest_hz);
}

/* Whether the offset was written by then. The guest's clock may wrap: compares the difference. */
static bool is_before(const struct offset *offset, const struct timeline_ratio *ratio,
		      uint64_t guest_time)
{
	uint64_t time = to_guest(ratio, offset->time) + (uint64_t)offset->offset;

	return (int64_t)(time - guest_time) <= 0;
}

static int64_t last_before(const struct vcpu_offsets *of, const struct timeline_ratio *ratio,
			   uint64_t guest_time)
{
	size_t nr = array_lower_bound(of->nr, i, is_before(&of->list[i], ratio, guest_time));

	return of->list[nr ? nr - 1 : 0].offset;
}

bool offsets_host_time(const struct timeline_offsets *offsets, const struct timeline_ratio *ratio,
		       size_t guest, int32_t vcpu, uint64_t guest_time, uint64_t *ret_time)
{
	const struct vcpu_offsets *found = NULL;

	for (size_t i = 0; i < offsets->nr; i++) {
		const struct vcpu_offsets *of = &offsets->vcpus[i];

		if (of->nr && of->guest == guest && (!found || of->vcpu == vcpu))
			found = of;
	}
	if (found)
		*ret_time = to_host(ratio, guest_time -
					   (uint64_t)last_before(found, ratio, guest_time));
	return found != NULL;
}

/* The kernel's rule: ns = (TSC << shift) * mul / 2^32. */
void offsets_take_hz(const struct trace_event *event, uint64_t *ret_hz)
{
	const struct trace_field *mul_field = trace_field(event->type, "tsc_to_system_mul");
	const struct trace_field *shift_field = trace_field(event->type, "tsc_shift");
	uint64_t mul = mul_field ? trace_field_number(mul_field, event) : 0;
	int64_t shift = shift_field ? (int64_t)trace_field_number(shift_field, event) : 0;
	unsigned __int128 hz_mul = (unsigned __int128)1000000000 << 32;

	if (mul == 0 || !shift_field || shift < -31 || shift > 31)
		return;
	hz_mul = shift < 0 ? hz_mul << -shift : hz_mul >> shift;
	*ret_hz = (uint64_t)((hz_mul + mul / 2) / mul);
}
