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

#include "trace/rules/rules.h"

#define OUTPUT_MAX (1 << 20) /* widths of 10000 add up */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void print_all(const struct rules *rules, const uint8_t *data, size_t size, FILE *out)
{
	struct raw_layout layout = raw_layout_of(data, size, NULL);
	struct rules_values values = { .kind = layout.kind, .reltsc = size };
	struct raw_record record;
	size_t at = layout.skip, n;

	while (ftell(out) < OUTPUT_MAX &&
	       (n = raw_decode(&layout, data + at, size - at, &record))) {
		values.record = &record;
		values.reltsc_is_negative = at % 2;
		values.mhz = at % 3;
		rules_print(rules, &values, out);
		at += n;
		if (at > size)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = size ? memchr(data, '\0', size) : NULL;
	size_t len = nul ? (size_t)(nul - data) : size;
	struct rules *rules = NULL;
	struct why why = { "" };
	char *output = NULL;
	size_t output_size;
	FILE *out;

	if (rules_parse("rules", (const char *)data, len, &rules, &why)) {
		if (strncmp(why.text, "rules:", 6) != 0)
			abort();
		return 0;
	}
	out = open_memstream(&output, &output_size);
	if (!out)
		abort();
	if (nul)
		print_all(rules, nul + 1, size - len - 1, out);
	fclose(out);
	free(output);
	rules_free(rules);
	return 0;
}
