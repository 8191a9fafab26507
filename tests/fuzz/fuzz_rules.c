// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz_rules - any rules, any records: no crash, no hang, errors that name a line.
 *
 * The input is the rules up to the first NUL byte; the rest is a file of records.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/rules/rules.h"

#define OUTPUT_MAX (1 << 20) /* widths of 10000 add up */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void print_all(const struct rules *rules, const char *path, size_t size, FILE *out)
{
	struct rules_record record;
	struct rules_values values = { .record = &record, .reltsc = size };
	const struct trace_event *event;
	struct trace *trace = trace_open_records(&path, 1, TRACE_ANY);

	for (size_t i = 0; ftell(out) < OUTPUT_MAX && trace_next(trace, &event) > 0; i++) {
		rules_record_set(&record, trace, event);
		values.reltsc_is_negative = i % 2;
		values.mhz = i % 3;
		rules_print(rules, &values, out);
	}
	trace_close(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = size ? memchr(data, '\0', size) : NULL;
	size_t len = nul ? (size_t)(nul - data) : size;
	struct rules *rules = NULL;
	struct error error = { "" };
	char *output = NULL;
	size_t output_size;
	char path[64];
	FILE *out;
	int fd;

	if (rules_parse("rules", (const char *)data, len, &rules, &error)) {
		if (strncmp(error.text, "rules:", 6) != 0)
			abort();
		return 0;
	}
	out = open_memstream(&output, &output_size);
	if (!out)
		abort();
	if (nul) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		if (fd < 0 || write(fd, nul + 1, size - len - 1) != (ssize_t)(size - len - 1))
			abort();
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		print_all(rules, path, size - len - 1, out);
		close(fd);
	}
	fclose(out);
	free(output);
	rules_free(rules);
	return 0;
}
