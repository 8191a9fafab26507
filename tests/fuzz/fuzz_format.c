/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_format - any text as an event's format: no crash, and fields and lists that keep their
 * promises.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/event_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct split *split, const char *text)
{
	struct reasons reasons;

	reasons_of(split, text, &reasons);
	if (reasons.nr < split->nr_reasons)
		abort();
	for (size_t i = 0; i < reasons.nr; i++) {
		if (i > 0 && reasons.list[i].code <= reasons.list[i - 1].code)
			abort();
		if (!reasons.list[i].name[0] || strpbrk(reasons.list[i].name, " (),\t\n"))
			abort();
		for (size_t j = i > 200 ? i - 200 : 0; j < i; j++) {
			if (strcmp(reasons.list[i].name, reasons.list[j].name) == 0)
				abort();
		}
	}
	reasons_release(&reasons);
}

static void check_fields(const uint8_t *data, size_t size)
{
	struct format format;

	if (format_read((const char *)data, size, &format) < 0)
		return;
	if (format.id >= FORMAT_IDS || !format.name[0] || !format.print)
		abort();
	for (size_t i = 0; i < format.nr_fields; i++) {
		if (!format.fields[i].name[0] || strpbrk(format.fields[i].name, " *[]();\t\n"))
			abort();
	}
	format_release(&format);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	check_fields(data, size);
	memcpy(text, data, size);
	text[size] = '\0';
	for (int i = 0; i < 4; i++) {
		struct reasons reasons;

		if (reasons_parse(text, i, &reasons) < 0)
			break;
		for (size_t j = 0; j < reasons.nr; j++) {
			if (strlen(reasons.list[j].name) > size)
				abort();
		}
		reasons_release(&reasons);
	}
	check(&arch_userspace_split, text);
	check(arch_by_name("VMX")->splits, text);
	check(arch_by_name("SVM")->splits, text);
	check(arch_by_name("arm64")->splits, text);
	free(text);
	return 0;
}
