/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_kallsyms - any bytes as a guest's list of symbols: an error with a text, or names. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/kallsyms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The addresses in the text and around them, and the ends of all addresses. */
static void look_up(const struct kallsyms *symbols, const char *text)
{
	const uint64_t ends[] = { 0, 1, UINT64_MAX };
	char name[96];

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		kallsyms_name(symbols, ends[i], name, sizeof(name));
	for (; text && *text; text = strchr(text, '\n'), text = text ? text + 1 : NULL) {
		uint64_t address = strtoull(text, NULL, 16);

		for (uint64_t at = address - 1; at != address + 2; at++) {
			if (kallsyms_name(symbols, at, name, sizeof(name)) && !name[0])
				abort();
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kallsyms *symbols = NULL;
	struct error error = { "" };
	char *text = malloc(size + 1), *copy;
	int err;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	copy = strdup(text);
	err = kallsyms_parse(text, size, "file", &symbols, &error);
	if (!err != (symbols != NULL) || !err != !error.text[0])
		abort();
	if (symbols)
		look_up(symbols, copy);
	kallsyms_free(symbols);
	free(copy);
	return 0;
}
