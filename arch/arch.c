/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arch - the table of architectures, and the code that all of them share. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "arch/arch.h"
#include "arch/exit_kind.h"
#include "lib/array.h"
#include "lib/file.h"
#include "lib/number.h"
#include "lib/text.h"
#include "lib/xalloc.h"

static const struct split no_splits[] = {
	{ .event = NULL },
};

static const struct arch arch_unknown = {
	.name = "unknown",
	.splits = no_splits,
};

/* The first that suits a machine is used: PVM comes before VMX and SVM, x86 after them. */
#define ARCHS(ARCH)      \
	ARCH(pvm)        \
	ARCH(vmx)        \
	ARCH(svm)        \
	ARCH(x86)        \
	ARCH(arm64)      \
	ARCH(s390)       \
	ARCH(powerpc)    \
	ARCH(riscv)      \
	ARCH(loongarch)

#define ARCH_DECLARE(name) extern const struct arch arch_##name;
#define ARCH_ADDRESS(name) &arch_##name,

ARCHS(ARCH_DECLARE)

static const struct arch *const archs[] = { ARCHS(ARCH_ADDRESS) &arch_unknown };

const struct arch *arch_at(size_t i)
{
	return i < ARRAY_SIZE(archs) ? archs[i] : NULL;
}

const struct arch *arch_by_name(const char *name)
{
	for (size_t i = 0; arch_at(i); i++) {
		if (strcmp(arch_at(i)->name, name) == 0)
			return arch_at(i);
	}
	return NULL;
}

/*
 * Why KVM_RUN returned to the VMM, the same on every architecture. Source: uapi linux/kvm.h.
 * Kernels print the names of 0 to 30.
 */
static const struct reason user_reasons[] = {
	{ EXITS_USER_HLT, "HLT", NULL, REASON_IDLE },
	{ 31, "DIRTY_RING_FULL", NULL, 0 },
	{ 32, "AP_RESET_HOLD", NULL, 0 },
	{ 33, "X86_BUS_LOCK", NULL, 0 },
	{ 34, "XEN", NULL, 0 },
	{ 35, "RISCV_SBI", NULL, 0 },
	{ 36, "RISCV_CSR", NULL, 0 },
	{ 37, "NOTIFY", NULL, 0 },
	{ 38, "LOONGARCH_IOCSR", NULL, 0 },
	{ 39, "MEMORY_FAULT", NULL, 0 },
	{ 40, "TDX", NULL, 0 },
	{ 41, "ARM_SEA", NULL, 0 },
	{ 42, "ARM_LDST64B", NULL, 0 },
	{ 43, "SNP_REQ_CERTS", NULL, 0 },
};

const struct split arch_userspace_split = {
	.system = "kvm",
	.event = "kvm_userspace_exit",
	.field = "reason",
	.place = EXIT_IN_FIRST,
	.prefix = "KVM_EXIT_",
	.mask = 0xffffffff,
	.reasons = user_reasons,
	.nr_reasons = ARRAY_SIZE(user_reasons),
};

/* How /proc/cpuinfo shows the kind of machine: the key of a line, and the start of its value. */
static const struct clue {
	const char *key, *value, *machine;
} clues[] = {
	{ "flags", "", "x86_64" },
	{ "CPU implementer", "", "aarch64" },
	{ "vendor_id", "IBM/S390", "s390x" },
	{ "cpu", "POWER", "ppc64le" },
	{ "cpu", "PPC", "ppc64" },
	{ "hart", "", "riscv64" },
	{ "CPU Family", "Loongson", "loongarch64" },
};

static const char *machine_of_line(const char *line)
{
	size_t key = strcspn(line, ":\n");
	const char *value = line + key + (line[key] == ':');

	while (key > 0 && isblank((unsigned char)line[key - 1]))
		key--;
	value += strspn(value, " \t");
	for (size_t i = 0; i < ARRAY_SIZE(clues); i++) {
		const struct clue *clue = &clues[i];

		if (strlen(clue->key) == key && strncmp(line, clue->key, key) == 0 &&
		    strncmp(value, clue->value, strlen(clue->value)) == 0)
			return clue->machine;
	}
	return NULL;
}

static const char *guess(const char *text)
{
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		const char *machine = machine_of_line(line);

		if (machine)
			return machine;
	}
	return "";
}

/* The uname machine of the machine below root; "" when it cannot be found. */
static void find_machine(const char *root, char *buf, size_t size)
{
	char path[4096], text[8192];
	struct utsname uts;

	if (!root[0]) {
		snprintf(buf, size, "%s", uname(&uts) == 0 ? uts.machine : "");
		return;
	}
	snprintf(path, sizeof(path), "%s/kvmtop/machine", root);
	if (read_small(path, buf, size) > 0) {
		buf[strcspn(buf, " \t\r\n")] = '\0';
		return;
	}
	snprintf(path, sizeof(path), "%s/proc/cpuinfo", root);
	snprintf(buf, size, "%s", read_small(path, text, sizeof(text)) > 0 ? guess(text) : "");
}

static bool is_of(const struct arch *arch, const char *root, const char *machine)
{
	if (arch->machine && strncmp(machine, arch->machine, strlen(arch->machine)) != 0)
		return false;
	return !arch->is_host || arch->is_host(root, machine);
}

const struct arch *arch_of_host(const char *root)
{
	char machine[128];
	size_t i = 0;

	find_machine(root, machine, sizeof(machine));
	while (!is_of(archs[i], root, machine))
		i++;
	return archs[i];
}

static int compare_codes(const void *a, const void *b)
{
	const struct reason *one = a, *other = b;

	return compared(one->code, other->code);
}

const struct reason *split_reason(const struct split *split, uint64_t code)
{
	struct reason wanted = { .code = code };

	if (split->nr_reasons == 0)
		return NULL;
	return bsearch(&wanted, split->reasons, split->nr_reasons, sizeof(wanted), compare_codes);
}

size_t split_codes(const struct reason *reason, uint64_t *ret_codes)
{
	ret_codes[0] = reason->code;
	if (reason->flags & REASON_ENTRY_FAIL)
		ret_codes[1] = reason->code | UINT64_C(1) << 31;
	else if (reason->code == UINT32_MAX) /* -1, in a field of 32 bits or of 64 */
		ret_codes[1] = UINT64_MAX;
	else
		return 1;
	return 2;
}

int split_filter(const struct split *split, const struct reason *reason, char *buf, size_t size)
{
	uint64_t codes[REASON_CODES];

	if (split->type_field && reason->code & REASON_TYPE)
		return snprintf(buf, size, "%s==%" PRIu64, split->type_field,
				reason->code & ~REASON_TYPE);
	if (split->type_field)
		return snprintf(buf, size, "%s==%" PRIu64 "&&%s==%" PRIu64, split->type_field,
				split->type_of_field, split->field, reason->code);
	if (split_codes(reason, codes) == 1)
		return snprintf(buf, size, "%s==%" PRIu64, split->field, codes[0]);
	return snprintf(buf, size, "%s==%" PRIu64 "||%s==%" PRIu64, split->field, codes[0],
			split->field, codes[1]);
}

/*
 * Replaces '#', too: in our names '#' begins the number that distinguishes two reasons of one name.
 */
static void sanitise(char *name)
{
	for (; *name; name++) {
		if (*name <= ' ' || *name >= 0x7f || strchr("(),#", *name))
			*name = '_';
	}
}

/* Room for "#0x" and 16 digits after each name. */
#define SUFFIX_SIZE 20

/*
 * A list under construction: one block of memory with the reasons, then their names in the order in
 * which they were added.
 */
struct merge {
	struct reason *list;
	size_t nr;
	char *names, *end;
};

static size_t names_size(const struct reason *list, size_t nr)
{
	size_t size = 0;

	for (size_t i = 0; i < nr; i++)
		size += strlen(list[i].name) + 1 + SUFFIX_SIZE;
	return size;
}

static void merge_add(struct merge *merge, uint64_t code, const char *name)
{
	size_t size = strlen(name) + 1;

	if (size == 1)
		return;
	memcpy(merge->end, name, size);
	sanitise(merge->end);
	merge->list[merge->nr++] = (struct reason){ .code = code, .name = merge->end };
	merge->end += size + SUFFIX_SIZE;
}

/* A name of the kernel without the prefix that all names of the split have. */
static const char *bare_name(const struct split *split, const char *name)
{
	size_t len = split->prefix ? strlen(split->prefix) : 0;

	return len && strncmp(name, split->prefix, len) == 0 ? name + len : name;
}

static void merge_init(struct merge *merge, const struct reasons *kernel, const struct split *split)
{
	size_t nr = kernel->nr + split->nr_reasons;

	merge->list = xmalloc((nr + 1) * sizeof(merge->list[0]) +
			      names_size(kernel->list, kernel->nr) +
			      names_size(split->reasons, split->nr_reasons));
	merge->nr = 0;
	merge->end = merge->names = (char *)(merge->list + nr + 1);
	for (size_t i = 0; i < kernel->nr; i++)
		merge_add(merge, kernel->list[i].code & split->mask,
			  bare_name(split, kernel->list[i].name));
	for (size_t i = 0; i < split->nr_reasons; i++)
		merge_add(merge, split->reasons[i].code, split->reasons[i].name);
}

/* By code; reasons with the same code stay in the order in which they were added. */
static int compare_added(const void *a, const void *b)
{
	const struct reason *one = a, *other = b;

	return compared(one->code, other->code) ?: compared(one->name, other->name);
}

static void merge_sort(struct merge *merge)
{
	size_t nr = 0;

	qsort(merge->list, merge->nr, sizeof(merge->list[0]), compare_added);
	for (size_t i = 0; i < merge->nr; i++) {
		if (nr == 0 || merge->list[nr - 1].code != merge->list[i].code)
			merge->list[nr++] = merge->list[i];
	}
	merge->nr = nr;
}

/* The alias is kvm_stat's name in the table, whatever name this kernel has. */
static void merge_set_known(struct merge *merge, const struct split *split)
{
	for (size_t i = 0; i < merge->nr; i++) {
		struct reason *reason = &merge->list[i];
		const struct reason *known = split_reason(split, reason->code);

		if (!known)
			continue;
		reason->flags = known->flags;
		reason->alias = known->alias ? known->alias : known->name;
		if (strcmp(reason->alias, reason->name) == 0)
			reason->alias = NULL;
	}
}

static int compare_names(const void *a, const void *b)
{
	const struct reason *one = *(struct reason *const *)a, *other = *(struct reason *const *)b;

	return strcmp(one->name, other->name) ?: compared(one->code, other->code);
}

/*
 * When several codes have one name, all but the lowest get their code appended, so that names are
 * unique.
 */
static void merge_make_unique(struct merge *merge)
{
	struct reason **by_name = xmalloc((merge->nr + 1) * sizeof(*by_name));
	const char *last = "";

	for (size_t i = 0; i < merge->nr; i++)
		by_name[i] = &merge->list[i];
	qsort(by_name, merge->nr, sizeof(*by_name), compare_names);
	for (size_t i = 0; i < merge->nr; i++) {
		char *name = merge->names + (by_name[i]->name - merge->names);

		if (strcmp(name, last) == 0)
			snprintf(name + strlen(name), SUFFIX_SIZE, "#0x%" PRIx64, by_name[i]->code);
		else
			last = name;
	}
	free(by_name);
}

void reasons_of(const struct split *split, const char *format, struct reasons *ret)
{
	struct reasons kernel = { .list = NULL, .nr = 0 };
	struct merge merge;

	if (format && split->format_list >= 0)
		(void)reasons_parse(format, split->format_list, &kernel);
	merge_init(&merge, &kernel, split);
	reasons_release(&kernel);
	merge_sort(&merge);
	merge_set_known(&merge, split);
	merge_make_unique(&merge);
	ret->list = merge.list;
	ret->nr = merge.nr;
}

void reasons_release(struct reasons *reasons)
{
	free(reasons->list);
	reasons->list = NULL;
	reasons->nr = 0;
}

static const struct reason *find_code(const struct reasons *reasons, uint64_t code)
{
	size_t at = array_lower_bound(reasons->nr, i, reasons->list[i].code < code);

	return at < reasons->nr && reasons->list[at].code == code ? &reasons->list[at] : NULL;
}

const struct reason *reasons_find(const struct reasons *reasons, const struct split *split,
				  uint64_t value)
{
	const struct reason *reason = find_code(reasons, value);

	/* The kernel's field may have 32 or 64 bits: all ones mean the same. */
	if (!reason && value == UINT64_MAX)
		reason = find_code(reasons, UINT32_MAX);
	if (!reason && split && !(value & REASON_TYPE & ~split->mask))
		reason = find_code(reasons, value & split->mask);
	return reason;
}

#define FAILED_VMENTRY (UINT64_C(1) << 31) /* VMX: the entry itself failed */

void reason_write(const struct reason *reason, uint64_t value, char *buf, size_t size)
{
	uint64_t flags = reason && value != UINT64_MAX ? value ^ reason->code : 0;

	if (!reason)
		snprintf(buf, size, "0x%" PRIx64, value);
	else if (flags == FAILED_VMENTRY)
		name_put(buf, size, "%s FAILED_VMENTRY", reason->name);
	else if (flags)
		name_put(buf, size, "%s 0x%" PRIx64, reason->name, flags);
	else
		name_put(buf, size, "%s", reason->name);
}
