// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz_timeline - any text as uftrace's JSON or as perf stat's lines: no crash, no hang, and what
 * is written is JSON, or packets of packets that zlib expands.
 *
 * Text that begins with "{" or "[" is uftrace's. The first is also cut at a time, and its clock is
 * behind.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <json-c/json.h>
#include <zlib.h>

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
	const struct functions_config config = {
		.offset = offset,
		.has_cut = true,
		.from_ns = 1000,
		.to_ns = 4000,
		.name = "guest",
	};
	struct functions_span span;
	struct error error = { "" };

	out->clock.hz = 1000000000;
	if (timeline_functions(in, "in", &config, out, &span, &error) && !error.text[0])
		abort();
}

static void read_perf(FILE *in, struct timeline_out *out)
{
	struct error error = { "" };

	if (timeline_perf(in, "in", 0, out, &error) && !error.text[0])
		abort();
}

static void check_chrome(const char *text)
{
	struct json_object *object = json_tokener_parse(text);

	if (!object)
		abort();
	json_object_put(object);
}

static size_t take_varint(const uint8_t **at)
{
	size_t number = 0;

	for (unsigned int shift = 0;; shift += 7) {
		number |= (size_t)(**at & 0x7f) << shift;
		if (*(*at)++ < 0x80)
			return number;
	}
}

/* Packets (field 1), each with one field 50 alone. */
static void check_perfetto(const uint8_t *at, const uint8_t *end)
{
	static Bytef packets[1 << 22];

	while (at < end) {
		uLongf len = sizeof(packets);
		const uint8_t *begin;
		size_t size;

		if (*at++ != (1 << 3 | 2))
			abort();
		size = take_varint(&at);
		begin = at;
		if (size > (size_t)(end - at) || take_varint(&at) != (50 << 3 | 2) ||
		    take_varint(&at) != size - (size_t)(at - begin) ||
		    uncompress(packets, &len, at, (uLong)(begin + size - at)) != Z_OK)
			abort();
		at = begin + size;
	}
}

static void draw(const uint8_t *data, size_t size, const struct timeline_format *format)
{
	struct timeline_args metadata = { .used = 0 };
	struct timeline_out out = { .file = NULL };
	size_t output_size = 0;
	char *output = NULL;
	FILE *in;

	in = fmemopen((void *)(uintptr_t)data, size, "r");
	out_begin(&out, open_memstream(&output, &output_size), format);
	if (!in || !out.file)
		abort();
	if (data[0] == '{' || data[0] == '[')
		read_functions(in, &out);
	else
		read_perf(in, &out);
	out_end(&out, &metadata);
	fclose(out.file);
	fclose(in);
	if (output_size < CHECKED_MAX && format == &timeline_chrome)
		check_chrome(output);
	if (output_size < CHECKED_MAX && format == &timeline_perfetto)
		check_perfetto((uint8_t *)output, (uint8_t *)output + output_size);
	free(output);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	draw(data, size, &timeline_chrome);
	draw(data, size, &timeline_perfetto);
	return 0;
}
