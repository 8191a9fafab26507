/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_answer - any text as a Prometheus' answers: no crash, and moments that can be read.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "history/fleet/scope.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take(void *arg, uint64_t at, uint64_t run, const struct moment *of,
		 const struct packed *packed)
{
	struct packer *packer = arg;
	struct moment moment = { .flags = 0 };
	struct error error = { "" };

	(void)at;
	(void)run;
	(void)of;
	if (unpack_rows(packer, PART_CHANGES, &packed->parts[PART_CHANGES], UNPACK_ALL,
			&(struct sum_fields){ NULL, 0 }, &moment, &error) < 0 ||
	    unpack_guests(packer, &packed->parts[PART_GUESTS], &moment, &error) < 0)
		abort();
	moment_release(&moment);
}

/* The text is every answer, once of all hosts and once of one. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct scope_common common = { .fields = fields_new(), .step_ns = 1000000000 };
	struct http_query queries[QUERIES];
	struct packer *packer = packer_new();
	char *text = malloc(size + 1);

	memcpy(text, data, size);
	text[size] = '\0';
	for (unsigned int i = 0; i < QUERIES; i++)
		queries[i] = (struct http_query){ .status = 200, .body = text, .size = size };
	for (uint32_t i = 1; i <= 2; i++) {
		struct scope *scope = scope_new(&common, i, i == 1 ? NULL : "a");
		struct error error = { "" };

		scope_take(scope, 2, 3, queries, take, packer, &error);
		scope_take(scope, 4, 4, queries, take, packer, &error);
		scope_free(scope);
	}
	free(text);
	packer_free(packer);
	fields_free(common.fields);
	return 0;
}
