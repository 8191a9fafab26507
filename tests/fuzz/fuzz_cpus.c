/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_cpus - any text as a list of CPUs: no crash, numbers in range, as many as it says.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host/machine.h"

#define ENOUGH 100000 /* ranges may be repeated: do not follow them for ever */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	int nr = 0, cpu;
	struct cpus cpus;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	cpus = cpus_of(text);
	for (; nr < ENOUGH && (cpu = cpus_next(&cpus)) != -1; nr++) {
		if (cpu < 0 || cpu >= CPUS_MAX)
			abort();
	}
	if (nr && (text[0] < '0' || text[0] > '9'))
		abort();
	free(text);
	return 0;
}
