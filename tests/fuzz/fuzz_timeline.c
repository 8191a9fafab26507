// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz_timeline - any text as uftrace's JSON or as perf stat's lines: no crash, no hang, and what
 * is written is JSON.
 *
 * Text that begins with "{" or "[" is uftrace's. The first is also cut at a time, and its clock is
 * behind.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <json-c/json.h>

#include "trace/timeline/timeline.h"

#define CHECKED_MAX 65536 /* bytes of what is written */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int64_t offset(const void *state, size_t nr, uint64_t time)
{
	(void)state;
	return (int64_t)(time % 1000 + nr);
}

static void read_functions(FILE *in, struct timeline_out *out)
{
	struct timeline_clock clock = { .hz = 1000000000 };
	const struct functions_config config = {
		.clock = &clock,
		.after_ns = 1000,
		.offset = offset,
		.has_cut = true,
		.from_ns = 2000,
		.to_ns = 5000,
		.name = "guest",
	};
	struct functions_span span;
	struct error error = { "" };

	if (timeline_functions(in, "in", &config, out, &span, &error) && !error.text[0])
		abort();
}

static void read_perf(FILE *in, struct timeline_out *out)
{
	const struct timeline_clock clock = { .base = 0 };
	struct error error = { "" };

	if (timeline_perf(in, "in", &clock, 0, out, &error) && !error.text[0])
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct timeline_args metadata = { .len = 0 };
	struct timeline_out out;
	struct json_object *object;
	size_t output_size = 0;
	char *output = NULL;
	FILE *in;

	if (!size)
		return 0;
	in = fmemopen((void *)(uintptr_t)data, size, "r");
	out_begin(&out, open_memstream(&output, &output_size));
	if (!in || !out.file)
		abort();
	if (data[0] == '{' || data[0] == '[')
		read_functions(in, &out);
	else
		read_perf(in, &out);
	out_end(&out, &metadata);
	fclose(out.file);
	fclose(in);
	if (output_size < CHECKED_MAX) {
		object = json_tokener_parse(output);
		if (!object)
			abort();
		json_object_put(object);
	}
	free(output);
	return 0;
}
