/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_debugfs - any text as a counter's file, or the name of a VM's folder: no crash, and a
 * value only for what are numbers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/guest_proc.h"
#include "providers/debugfs/vms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_value(const char *text, uint64_t value)
{
	char again[32];
	uint64_t same;

	if (!strpbrk(text, "0123456789") || text[strspn(text, "0123456789- \t\n")])
		abort();
	snprintf(again, sizeof(again), "%llu\n", (unsigned long long)value);
	if (!debugfs_counter_parse(again, &same) || same != value)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct vm_folder folder;
	uint64_t value = 42;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (debugfs_counter_parse(text, &value))
		check_value(text, value);
	else if (value != 42)
		abort();
	if (vm_folder_parse(text, &folder) && (folder.creator <= 0 || !strchr(text, '-')))
		abort();
	free(text);
	return 0;
}
