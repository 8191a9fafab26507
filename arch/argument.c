// SPDX-License-Identifier: GPL-2.0-or-later
/* What exits are about, as text. */
#include <inttypes.h>
#include <stdio.h>

#include "arch/argument.h"

static void add_name(char *buf, size_t size, int used, const char *name)
{
	if (name && used >= 0 && (size_t)used < size)
		snprintf(buf + used, size - (size_t)used, " %s", name);
}

static void format_ioport(char *buf, size_t size, uint64_t port, uint32_t bytes, uint32_t is_write)
{
	int n = snprintf(buf, size, "0x%" PRIx64 " %s %u", port, is_write ? "write" : "read",
			 bytes);

	add_name(buf, size, n, argument_port_name(port));
}

static void format_mmio(char *buf, size_t size, uint64_t address, uint32_t bytes, uint32_t type)
{
	/* A read that user space answers is two events: the first has no value yet. */
	static const char *const types[] = { "read begun", "read", "write" };

	snprintf(buf, size, "0x%" PRIx64 " %s %u", address, type < 3 ? types[type] : "access",
		 bytes);
}

static void format_msr(char *buf, size_t size, uint64_t msr, uint32_t is_write, uint32_t unused)
{
	const char *name = argument_msr_name(msr);

	(void)unused;
	snprintf(buf, size, "0x%" PRIx64 " %s%s%s", msr, name ? name : "", name ? " " : "",
		 is_write ? "write" : "read");
}

static void format_cpuid(char *buf, size_t size, uint64_t leaf, uint32_t unused,
			 uint32_t unused_too)
{
	int n = snprintf(buf, size, "0x%" PRIx64, leaf);

	(void)unused;
	(void)unused_too;
	add_name(buf, size, n, argument_cpuid_name(leaf));
}

static void format_hypercall(char *buf, size_t size, uint64_t nr, uint32_t unused,
			     uint32_t unused_too)
{
	int n = snprintf(buf, size, nr < 4096 ? "%" PRIu64 : "0x%" PRIx64, nr);

	(void)unused;
	(void)unused_too;
	add_name(buf, size, n, argument_hypercall_name(nr));
}

/* In the order of enum exits_argument. */
static const struct argument arguments[] = {
	{ "ioport", "IO", { { "kvm_pio", "port", "size", "rw" } }, format_ioport },
	{ "mmio", "MMIO", { { "kvm_mmio", "gpa", "len", "type" } }, format_mmio },
	{ "msr", "MSR", { { "kvm_msr", "ecx", "write", NULL } }, format_msr },
	/* Not the index: most leaves have none, and what the register held would be told apart. */
	{ "cpuid", "CPUID", { { "kvm_cpuid", "function", NULL, NULL } }, format_cpuid },
	{ "hypercall", "HYPERCALL",
	  { { "kvm_hypercall", "nr", NULL, NULL }, { "kvm_hvc_arm64", "r0", NULL, NULL } },
	  format_hypercall },
};

const struct argument *argument_at(size_t i)
{
	return i < sizeof(arguments) / sizeof(arguments[0]) ? &arguments[i] : NULL;
}
