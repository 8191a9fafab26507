// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_kernel_formats - each kernel of the matrix (tests/hosts/svm-*.sh) has the fields that are
 * read, and names its reasons: by the format files of its own KVM, tests/formats/linux-*.
 */
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/argument.h"
#include "lib/array.h"
#include "arch/event_format.h"
#include "lib/file.h"
#include "tests/unit/unit.h"

#define KERNELS 4 /* at least */

static glob_t kernels;
static char text[16384];

/* The event's format, which is in text, too. */
static void read_event(const char *kernel, const char *event, struct format *ret_format)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s.format", kernel, event);
	if (read_small(path, text, sizeof(text)) <= 0)
		fail_msg("%s cannot be read", path);
	if (format_read(text, strlen(text), ret_format) != 0)
		fail_msg("%s is not understood", path);
}

/* Of a size that a program can load. NULL: no field is read. */
static void has_field(const char *kernel, const struct format *format, const char *name)
{
	const struct trace_field *field = name ? format_field(format, name) : NULL;

	if (name && !field)
		fail_msg("%s: %s has no %s", kernel, format->name, name);
	if (field && (field->size == 0 || field->size > 8 || (field->size & (field->size - 1))))
		fail_msg("%s: %s.%s has %u bytes", kernel, format->name, name, field->size);
}

/* The program counts on it that these are the arguments of the raw event, in this order. */
static void begins_with(const char *kernel, const char *event, const char *const *names)
{
	struct format format;
	size_t i = 0;

	read_event(kernel, event, &format);
	while (i < format.nr_fields && strncmp(format.fields[i].name, "common_", 7) == 0)
		i++;
	for (; *names; names++, i++) {
		if (i == format.nr_fields || strcmp(format.fields[i].name, *names) != 0)
			fail_msg("%s: %s has no %s there", kernel, event, *names);
	}
	format_release(&format);
}

/* The kernel's list of reasons has this name. */
static void names(const char *kernel, const struct split *split, const char *name)
{
	struct reasons reasons;
	size_t i = 0;

	assert_int_equal(reasons_parse(text, split->format_list, &reasons), 0);
	while (i < reasons.nr && strcmp(reasons.list[i].name, name) != 0)
		i++;
	if (i == reasons.nr)
		fail_msg("%s: %s does not name %s", kernel, split->event, name);
	reasons_release(&reasons);
}

TEST(test_exits_are_read)
{
	const struct split *vmx = arch_by_name("VMX")->splits, *svm = arch_by_name("SVM")->splits;

	for (size_t i = 0; i < kernels.gl_pathc; i++) {
		const char *kernel = kernels.gl_pathv[i];
		struct format format;

		read_event(kernel, svm->event, &format);
		has_field(kernel, &format, svm->field);
		has_field(kernel, &format, svm->pc_field);
		has_field(kernel, &format, vmx->field);
		has_field(kernel, &format, vmx->pc_field);
		has_field(kernel, &format, "vcpu_id");
		has_field(kernel, &format, "isa");
		names(kernel, vmx, "EPT_MISCONFIG");
		names(kernel, svm, "npf");
		format_release(&format);
		read_event(kernel, svm->entry_event, &format);
		format_release(&format);
	}
}

TEST(test_user_space_is_read)
{
	const struct split *split = &arch_userspace_split;

	for (size_t i = 0; i < kernels.gl_pathc; i++) {
		struct format format;

		read_event(kernels.gl_pathv[i], split->event, &format);
		has_field(kernels.gl_pathv[i], &format, split->field);
		has_field(kernels.gl_pathv[i], &format, "errno");
		names(kernels.gl_pathv[i], split, "KVM_EXIT_MMIO");
		format_release(&format);
	}
}

TEST(test_arguments_are_read)
{
	static const enum exit_kind kinds[] = { EXITS_IOPORT, EXITS_MMIO, EXITS_MSR, EXITS_CPUID,
						EXITS_HYPERCALL };

	for (size_t i = 0; i < kernels.gl_pathc * ARRAY_SIZE(kinds); i++) {
		const char *kernel = kernels.gl_pathv[i / ARRAY_SIZE(kinds)];
		enum exit_kind kind = kinds[i % ARRAY_SIZE(kinds)];
		const struct argument_event *event = &argument_of(kind)->events[0];
		struct format format;

		read_event(kernel, event->event, &format);
		has_field(kernel, &format, event->a);
		has_field(kernel, &format, event->b);
		has_field(kernel, &format, event->c);
		format_release(&format);
	}
}

TEST(test_polls_are_read)
{
	static const char *const wakeup[] = { "ns", "waited", NULL };
	static const char *const limit[] = { "grow", "vcpu_id", "new", "old", NULL };

	for (size_t i = 0; i < kernels.gl_pathc; i++) {
		begins_with(kernels.gl_pathv[i], "kvm_vcpu_wakeup", wakeup);
		begins_with(kernels.gl_pathv[i], "kvm_halt_poll_ns", limit);
	}
}

static int find_kernels(void **state)
{
	(void)state;
	return glob("tests/formats/linux-*", 0, NULL, &kernels) ||
	       kernels.gl_pathc < KERNELS;
}

static int forget_kernels(void **state)
{
	(void)state;
	globfree(&kernels);
	return 0;
}

GROUP(find_kernels, forget_kernels);
