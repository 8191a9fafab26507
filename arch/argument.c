// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of exit kinds: names, events, and arguments as text. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arch/argument.h"

static void add_name(char *buf, size_t size, int used, const char *name)
{
	if (name && used >= 0 && (size_t)used < size)
		snprintf(buf + used, size - (size_t)used, " %s", name);
}

/* Adds what b says of an access: the bytes if they are known, the queue. Returns the new length. */
static int add_access(char *buf, size_t size, int used, uint32_t b)
{
	if (WRITE_BYTES(b))
		used += snprintf(buf + used, size - (size_t)used, " %u", WRITE_BYTES(b));
	if (WRITE_QUEUE(b))
		used += snprintf(buf + used, size - (size_t)used, " queue %u", WRITE_QUEUE(b) - 1);
	return used;
}

static void format_ioport(char *buf, size_t size, uint64_t port, uint32_t b, uint32_t is_write)
{
	int n = snprintf(buf, size, "0x%" PRIx64 " %s", port, is_write ? "write" : "read");

	n = add_access(buf, size, n, b);
	add_name(buf, size, n, argument_number_name(EXITS_IOPORT, port));
}

uint32_t argument_at_end(enum exit_kind kind, uint32_t c)
{
	return kind == EXITS_MMIO && c == MMIO_READ_BEGUN ? MMIO_READ : c;
}

static void format_mmio(char *buf, size_t size, uint64_t address, uint32_t b, uint32_t type)
{
	static const char *const types[] = { "read begun", "read", "write" };
	int n = snprintf(buf, size, "0x%" PRIx64 " %s", address, type < 3 ? types[type] : "access");

	add_access(buf, size, n, b);
}

static void format_msr(char *buf, size_t size, uint64_t msr, uint32_t is_write, uint32_t unused)
{
	const char *name = argument_number_name(EXITS_MSR, msr);

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
	add_name(buf, size, n, argument_number_name(EXITS_CPUID, leaf));
}

static void format_hypercall(char *buf, size_t size, uint64_t nr, uint32_t unused,
			     uint32_t unused_too)
{
	int n = snprintf(buf, size, nr < 4096 ? "%" PRIu64 : "0x%" PRIx64, nr);

	(void)unused;
	(void)unused_too;
	add_name(buf, size, n, argument_number_name(EXITS_HYPERCALL, nr));
}

/* opcodes: op0, op1, CRn and CRm, a byte each as they lie in memory. */
static void format_sysreg(char *buf, size_t size, uint64_t opcodes, uint32_t is_write, uint32_t op2)
{
	uint32_t word = (uint32_t)opcodes;
	uint8_t op[4];
	const char *name;
	int n;

	memcpy(op, &word, sizeof(op));
	name = argument_number_name(EXITS_SYSREG,
				    ARGUMENT_SYSREG(op[0], op[1], op[2], op[3], op2));
	n = snprintf(buf, size, "S%u_%u_C%u_C%u_%u", op[0], op[1], op[2], op[3], op2);
	add_name(buf, size, n, name);
	n += name ? (int)strlen(name) + 1 : 0;
	add_name(buf, size, n, is_write ? "write" : "read");
}

/* level: of the table that maps the page now; 0: not known. */
static void format_fault(char *buf, size_t size, uint64_t fault, uint32_t level, uint32_t unused)
{
	static const char *const levels[] = { "", " 4K", " 2M", " 1G" };

	(void)unused;
	snprintf(buf, size, "%s%s%s%s%s",
		 fault & FAULT_EXEC ? "exec" : fault & FAULT_WRITE ? "write" : "read",
		 fault & FAULT_PROTECTED ? "-protected" : "",
		 fault & FAULT_PRIVATE ? " private" : "", fault & FAULT_MMIO ? " mmio" : "",
		 level < 4 ? levels[level] : "");
}

/* Messages go to addresses of local APICs, 0xfee00000 and above; a line is a small number. */
static void format_interrupt(char *buf, size_t size, uint64_t line, uint32_t level, uint32_t source)
{
	if (line > UINT16_MAX)
		snprintf(buf, size, "MSI 0x%" PRIx64 " data 0x%" PRIx32, line, level);
	else
		snprintf(buf, size, "line %" PRIu64 " %s%s", line, level ? "raised" : "lowered",
			 source == 0 ? "" : source == 1 ? " irqfd" : " PIT");
}

static const struct argument kinds[EXITS_KINDS] = {
	[EXITS_VMEXIT] = { .name = "vmexit" },
	[EXITS_USERSPACE] = { .name = "userspace" },
	[EXITS_IOPORT] = { "ioport", "IO", { { "kvm", "kvm_pio", "port", "size", "rw", 0, NULL } },
			  format_ioport },
	[EXITS_MMIO] = { "mmio", "MMIO", { { "kvm", "kvm_mmio", "gpa", "len", "type", 0, NULL } },
			format_mmio },
	[EXITS_MSR] = { "msr", "MSR", { { "kvm", "kvm_msr", "ecx", "write", NULL, 0, NULL } },
		       format_msr },
	/*
	 * Without the index: most leaves have no index, and the value left in its register would
	 * split them.
	 */
	[EXITS_CPUID] = { "cpuid", "CPUID",
			 { { "kvm", "kvm_cpuid", "function", NULL, NULL, 0, NULL } },
			 format_cpuid },
	[EXITS_HYPERCALL] = { "hypercall", "HYPERCALL",
			     { { "kvm", "kvm_hypercall", "nr", NULL, NULL, 0, NULL },
			       { "kvm", "kvm_hvc_arm64", "r0", NULL, NULL, 0, NULL } },
			     format_hypercall },
	[EXITS_SYSREG] = { "sysreg", "SYSREG",
			  { { "kvm", "kvm_sys_access", "Op0", "is_write", "Op2", 4, NULL } },
			  format_sysreg },
	[EXITS_FAULT] = { "fault", "FAULT",
			 { { "kvm", "kvm_page_fault", "error_code", NULL, NULL, 0,
			     exits_fault_of_x86 },
			   { "kvm", "kvm_guest_fault", "hsr", NULL, NULL, 0,
			     exits_fault_of_arm64 } },
			 format_fault },
	[EXITS_INTERRUPT] = { "interrupt", "IRQ",
			     { { "kvm", "kvm_set_irq", "gsi", "level", "irq_source_id", 0, NULL },
			       { "kvm", "kvm_msi_set_irq", "address", "data", NULL, 0,
				 exits_message_of_x86 } },
			     format_interrupt },
};

const struct argument *argument_of(enum exit_kind kind)
{
	return kind >= EXITS_FIRST_ARGUMENT && kind < EXITS_KINDS ? &kinds[kind] : NULL;
}

const struct argument *argument_by_name(const char *name)
{
	for (unsigned int i = EXITS_FIRST_ARGUMENT; i < EXITS_KINDS; i++) {
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	}
	return NULL;
}

const char *exit_kind_name(enum exit_kind kind)
{
	return kinds[kind].name;
}

int exit_kind_by_name(const char *name, enum exit_kind *ret_kind, struct error *error)
{
	char list[128] = "";
	size_t len = 0;

	for (unsigned int i = 0; i < EXITS_KINDS; i++) {
		if (strcmp(kinds[i].name, name) == 0) {
			*ret_kind = (enum exit_kind)i;
			return 0;
		}
	}
	for (unsigned int i = 0; i < EXITS_KINDS; i++)
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "",
					kinds[i].name);
	return error_set(error, -EINVAL, "\"%s\": no such event; there are: %s", name, list);
}
