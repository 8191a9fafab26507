/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_cmdline - text about a process that anybody may choose: arguments, cgroup, threads, stat.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"
#include "host/guest_name.h"
#include "host/guest_proc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What came out is never empty, ends, and cleaning it again changes nothing. */
static void check(bool is_found, const char *name, size_t size)
{
	char again[64];

	if (!is_found)
		return;
	if (!memchr(name, '\0', size) || !name[0])
		abort();
	if (!utf8_clean(name, strlen(name), again, sizeof(again)) || strcmp(again, name))
		abort();
}

static void fuzz_arguments(const char *text, size_t size)
{
	static const char *const vmms[] = { NULL, "qemu", "firecracker", "libkrun", "nobody" };
	char name[64], tight[5];

	for (size_t i = 0; i < sizeof(vmms) / sizeof(vmms[0]); i++) {
		check(guest_name_from_cmdline(vmms[i], text, size, name, sizeof(name)), name,
		      sizeof(name));
		check(guest_name_from_cmdline(vmms[i], text, size, tight, sizeof(tight)), tight,
		      sizeof(tight));
	}
	check(utf8_clean(text, size, name, sizeof(name)), name, sizeof(name));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), name[64];
	struct proc_stat stat;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	fuzz_arguments(text, size);
	check(guest_name_from_cgroup(text, name, sizeof(name)), name, sizeof(name));
	guest_name_vmm(text);
	if (guest_name_vcpu(text) < -1 || pid_parse(text) < 0)
		abort();
	proc_stat_parse(text, &stat);
	free(text);
	return 0;
}
