/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_captured - any text as the counters of a captured machine: no crash, no row that is unasked.
 */
#include <stdlib.h>
#include <string.h>

#include "providers/captured_events.c" /* NOLINT(bugprone-suspicious-include): it reads a file */

#define READS 6

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct counter counters[] = {
	{ .tracepoint_id = 1, .name = "kvm_exit", .field = 0 },
	{ .tracepoint_id = 1, .name = "kvm_exit(HLT)", .field = 1 },
	{ .tracepoint_id = 2, .name = "kvm_pio", .field = 2 },
};

static const struct target cpu = { false, 0, GUEST_ANY };
static const struct target threads[] = { { true, 7, 1 }, { true, 8, 2 }, { true, 9, 1 } };

static void read_one(struct captured *captured)
{
	struct sample sample = { 0 };
	struct why why;
	uint64_t time_ns;

	if (captured_engine.read(captured, &sample, &time_ns, &why) < 0)
		abort();
	for (size_t i = 0; i < sample.nr_rows; i++) {
		if (sample.rows[i].key.field > 1 || sample.rows[i].key.guest > 2)
			abort();
	}
	sample_release(&sample);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct captured *captured = calloc(1, sizeof(*captured));
	struct field_set wanted = { 0 };

	captured->counters = counters;
	captured->nr_counters = 3;
	captured->text = captured->next = strndup((const char *)data, size);
	field_set_add(&wanted, 0);
	field_set_add(&wanted, 1);
	captured_engine.want(captured, &wanted);
	captured_engine.retarget(captured, &cpu, 1, ENGINE_KEEP_NONE);
	for (int i = 0; i < READS; i++) {
		read_one(captured);
		captured_engine.retarget(captured, threads, i % 4, i % 3 ? 1 : ENGINE_KEEP_NONE);
	}
	captured_engine.close(captured);
	field_set_release(&wanted);
	return 0;
}
