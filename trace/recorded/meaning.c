// SPDX-License-Identifier: GPL-2.0-or-later
/* What the events of a recording mean: which of them leave the guest, enter it, or say why. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/argument.h"
#include "facts/exit_fields.h"
#include "trace/recorded/pairing_private.h"

/* What ACRN's hypervisor and the old kernels call them, and where they have what. */
static const struct foreign {
	enum exit_kind kind;
	const char *system, *name, *a, *b, *c;
	uint32_t fixed_c;
} foreign[] = {
	{ EXITS_IOPORT, "acrn", "VMEXIT_IO_INSTRUCTION", "1", "3", "2", 0 },
	{ EXITS_MSR, "acrn", "VMEXIT_RDMSR", "1", NULL, NULL, 0 },
	{ EXITS_MSR, "acrn", "VMEXIT_WRMSR", "1", NULL, NULL, 1 },
	{ EXITS_CPUID, "acrn", "VMEXIT_CPUID", "1", NULL, NULL, 0 },
	{ EXITS_HYPERCALL, "acrn", "VMEXIT_VMCALL", "2", NULL, NULL, 0 },
	{ EXITS_IOPORT, "kvmtrace", "IO_READ", "port", "size", NULL, 0 },
	{ EXITS_IOPORT, "kvmtrace", "IO_WRITE", "port", "size", NULL, 1 },
	{ EXITS_MSR, "kvmtrace", "MSR_READ", "ecx", NULL, NULL, 0 },
	{ EXITS_MSR, "kvmtrace", "MSR_WRITE", "ecx", NULL, NULL, 1 },
	{ EXITS_CPUID, "kvmtrace", "CPUID", "function", NULL, NULL, 0 },
	{ EXITS_HYPERCALL, "kvmtrace", "VMMCALL", "nr", NULL, NULL, 0 },
};

static const struct trace_field *field_or_null(const struct trace_type *type, const char *name)
{
	return name ? trace_field(type, name) : NULL;
}

static bool find_foreign(unsigned int event, const struct trace_type *type, struct role *role)
{
	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
		const struct foreign *from = &foreign[i];

		if (from->kind != event || strcmp(from->system, type->system) != 0 ||
		    strcmp(from->name, type->name) != 0)
			continue;
		role->kind = ROLE_ARGUMENT;
		role->a = field_or_null(type, from->a);
		role->b = field_or_null(type, from->b);
		role->c = field_or_null(type, from->c);
		role->fixed_c = from->fixed_c;
		return true;
	}
	return false;
}

static bool find_argument(unsigned int event, const struct trace_type *type, struct role *role)
{
	const struct argument *argument = argument_of((enum exit_kind)event);

	if (find_foreign(event, type, role))
		return true;
	for (size_t i = 0; argument && i < ARGUMENT_EVENTS; i++) {
		const struct argument_event *from = &argument->events[i];

		if (!from->event || strcmp(type->system, from->system) != 0 ||
		    strcmp(type->name, from->event) != 0)
			continue;
		role->kind = ROLE_ARGUMENT;
		role->a = field_or_null(type, from->a);
		role->b = field_or_null(type, from->b);
		role->c = field_or_null(type, from->c);
		role->a_bytes = from->a_bytes;
		return role->a != NULL;
	}
	return false;
}

/* ---- exits and entries */

static int add_names(struct tally *tally, const struct split *split, const char *format,
		     uint32_t *ret_names)
{
	struct tally_names *names;

	for (size_t i = 0; i < tally->nr_names; i++) {
		if (tally->names[i].split == split) {
			*ret_names = (uint32_t)i;
			return 0;
		}
	}
	names = reallocarray(tally->names, tally->nr_names + 1, sizeof(*names));
	if (!names)
		return -ENOMEM;
	tally->names = names;
	names[tally->nr_names] = (struct tally_names){ .split = split };
	if (reasons_of(split, format, &names[tally->nr_names].reasons) < 0)
		return -ENOMEM;
	*ret_names = (uint32_t)tally->nr_names++;
	return 0;
}

/* Of two architectures with an event of the same looks, the one the file is from. */
static bool suits(const struct arch *arch, const struct trace_info *info)
{
	bool is_x86 = strcmp(arch->name, "VMX") == 0 || strcmp(arch->name, "SVM") == 0;

	if (is_x86 && info->cpu_vendor[0])
		return (strcmp(arch->name, "VMX") == 0) ==
		       (strcmp(info->cpu_vendor, "GenuineIntel") == 0);
	if (strcmp(arch->name, "loongarch") == 0 || strcmp(arch->name, "LoongArch") == 0)
		return strncmp(info->arch, "loongarch", 9) == 0;
	return true;
}

static int set_split(struct tally *tally, const struct trace_type *type, struct role *role,
		     unsigned int i, const struct split *split)
{
	role->split[i] = split;
	return add_names(tally, split, type->format, &role->names[i]);
}

/* x86 tells in each record which of two lists it is from. */
static int set_x86(struct tally *tally, const struct trace_type *type, struct role *role)
{
	int err = set_split(tally, type, role, 0, arch_by_name("VMX")->splits);

	return err ? err : set_split(tally, type, role, 1, arch_by_name("SVM")->splits);
}

static int find_exit(struct tally *tally, const struct trace_type *type, struct role *role)
{
	const struct trace_info *info = trace_file(tally->trace, type->file);
	const struct arch *arch;

	for (size_t i = 0; (arch = arch_at(i)); i++) {
		const struct split *split = arch->splits;

		if (!split->event || strcmp(split->system, type->system) != 0 ||
		    strcmp(split->event, type->name) != 0)
			continue;
		role->kind = ROLE_EXIT;
		role->reason = trace_field(type, split->field);
		if (!role->reason || !suits(arch, info))
			continue;
		role->isa = trace_field(type, "isa");
		if (role->isa)
			return set_x86(tally, type, role);
		role->type = field_or_null(type, split->type_field);
		return set_split(tally, type, role, 0, split);
	}
	return 0;
}

/* Every name that an entry has on some architecture. */
static bool is_entry(const struct trace_type *type)
{
	const struct arch *arch;

	if (strncmp(type->system, "kvm", 3) == 0 &&
	    (strcmp(type->name, "kvm_entry") == 0 || strcmp(type->name, "kvm_reenter") == 0))
		return true;
	for (size_t i = 0; (arch = arch_at(i)); i++) {
		const struct split *split = arch->splits;

		if (split->event && split->entry_event &&
		    strcmp(split->system, type->system) == 0 &&
		    strcmp(split->entry_event, type->name) == 0)
			return true;
	}
	return false;
}

/* Both name the reasons by VMX's numbers; kvmtrace on AMD by SVM's, which tally_name() sees. */
static bool is_foreign(const struct trace_type *type, const char *acrn, const char *kvmtrace)
{
	return (strcmp(type->system, "acrn") == 0 && strcmp(type->name, acrn) == 0) ||
	       (strcmp(type->system, "kvmtrace") == 0 && strcmp(type->name, kvmtrace) == 0);
}

/* "kvmmmu" and the like, too. */
static bool is_of_kvm(const struct trace_type *type)
{
	return strncmp(type->system, "kvm", 3) == 0 || strcmp(type->system, "acrn") == 0;
}

static int find_userspace(struct tally *tally, const struct trace_type *type, struct role *role)
{
	const struct split *split = &arch_userspace_split;

	if (strcmp(type->system, split->system) != 0 || strcmp(type->name, split->event) != 0)
		return 0;
	role->kind = ROLE_EXIT;
	role->reason = trace_field(type, split->field);
	role->error = trace_field(type, "errno");
	return set_split(tally, type, role, 0, split);
}

int role_find(struct tally *tally, const struct trace_type *type, struct role *ret_role)
{
	struct role role = { .kind = ROLE_NONE, .of = type };
	int err = 0;

	role.vcpu = trace_field(type, "id"); /* s390 */
	if (tally->event == TALLY_EVENTS) {
		role.kind = is_of_kvm(type) ? ROLE_EVENT : ROLE_NONE;
	} else if (is_entry(type) || is_foreign(type, "VM_ENTER", "VMENTRY")) {
		role.kind = ROLE_ENTRY;
	} else if (tally->event == EXITS_USERSPACE) {
		err = find_userspace(tally, type, &role);
	} else if (is_foreign(type, "VM_EXIT", "VMEXIT")) {
		role.kind = ROLE_EXIT;
		role.reason = trace_field(type, "exit_reason");
		err = set_split(tally, type, &role, 0, arch_by_name("VMX")->splits);
	} else if (tally->event == EXITS_VMEXIT || !find_argument(tally->event, type, &role)) {
		err = find_exit(tally, type, &role);
	}
	if (!err)
		*ret_role = role;
	return err;
}

#define ISA_VMX 1
#define ISA_SVM 2
#define NO_NAMES UINT32_MAX

struct tally_key role_reason(const struct role *role, const struct trace_event *event)
{
	struct tally_key key = { .b = NO_NAMES };
	unsigned int i = 0;

	if (!role->reason)
		return key;
	key.a = trace_field_number(role->reason, event);
	if (role->type) {
		uint64_t type = trace_field_number(role->type, event);

		if (type != role->split[0]->type_of_field) {
			key.a = REASON_TYPE | type;
			key.b = role->names[0];
			return key;
		}
	}
	if (role->isa) {
		uint64_t isa = trace_field_number(role->isa, event);

		i = isa == ISA_SVM;
		if (isa != ISA_VMX && isa != ISA_SVM)
			return key;
	}
	if (!role->split[i])
		return key;
	key.a &= role->split[i]->mask;
	key.b = role->names[i];
	return key;
}

/* Adjacent bytes that are one number together are told apart as they lie. */
static uint64_t join_bytes(const struct trace_field *first, uint32_t nr,
			   const struct trace_event *event)
{
	struct trace_field joined = *first;

	joined.size = nr;
	joined.flags &= ~(unsigned int)TRACE_FIELD_SWAP;
	return trace_field_number(&joined, event);
}

struct tally_key role_user_reason(const struct role *role, const struct trace_event *event)
{
	struct tally_key key = role_reason(role, event);

	if (role->error)
		key.a = exits_user_code(key.a, (int)trace_field_number(role->error, event));
	return key;
}

struct tally_key role_argument(const struct role *role, const struct trace_event *event)
{
	struct tally_key key = { .c = (uint16_t)role->fixed_c };

	if (role->a_bytes)
		key.a = join_bytes(role->a, role->a_bytes, event);
	else if (role->a)
		key.a = trace_field_number(role->a, event);
	if (role->b)
		key.b = (uint32_t)trace_field_number(role->b, event);
	if (role->c)
		key.c = (uint16_t)trace_field_number(role->c, event);
	return key;
}

void tally_rename(struct tally *tally, const struct split *split)
{
	for (size_t i = 0; i < tally->nr_names; i++) {
		struct tally_names names = { .split = split };

		if (reasons_of(split, NULL, &names.reasons) < 0)
			continue;
		reasons_release(&tally->names[i].reasons);
		tally->names[i] = names;
	}
}

/* ---- names */

static const struct reason *find_reason(const struct tally *tally, const struct tally_key *key)
{
	const struct reasons *reasons;
	size_t low = 0, high;

	if (key->b >= tally->nr_names)
		return NULL;
	reasons = &tally->names[key->b].reasons;
	high = reasons->nr;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (reasons->list[middle].code < key->a)
			low = middle + 1;
		else
			high = middle;
	}
	return low < reasons->nr && reasons->list[low].code == key->a ? &reasons->list[low] : NULL;
}

static bool has_reasons(const struct tally *tally)
{
	return tally->event == EXITS_VMEXIT || tally->event == EXITS_USERSPACE;
}

static const struct reason *reason_of(const struct tally *tally, const struct tally_cell *cell)
{
	if (!has_reasons(tally) || cell->is_other)
		return NULL;
	return find_reason(tally, &cell->key);
}

static void write_reason(const struct tally *tally, const struct tally_key *key, char *buf,
			 size_t size)
{
	const struct reason *reason = find_reason(tally, key);
	const char *name = reason ? reason->name : NULL;

	if (tally->event == EXITS_USERSPACE && !name)
		name = exit_fields_failure(key->a);
	if (name)
		snprintf(buf, size, "%s", name);
	else
		snprintf(buf, size, "0x%" PRIx64, key->a);
}

bool tally_is_idle(const struct tally *tally, const struct tally_cell *cell)
{
	const struct reason *reason = reason_of(tally, cell);

	return reason && reason->flags & REASON_IDLE;
}

void tally_name(const struct tally *tally, const struct tally_cell *cell, char *buf, size_t size)
{
	const struct argument *argument = argument_of((enum exit_kind)tally->event);

	if (cell->is_other)
		snprintf(buf, size, "(others)");
	else if (tally->event == TALLY_EVENTS)
		snprintf(buf, size, "%s", tally->roles[cell->key.a].of->name);
	else if (argument)
		argument->format(buf, size, cell->key.a, cell->key.b, cell->key.c);
	else
		write_reason(tally, &cell->key, buf, size);
}

bool tally_exit_name(const struct tally *tally, const struct tally_cell *cell, char *buf,
		     size_t size)
{
	if (cell->is_other || cell->key.exit == 0)
		return false;
	write_reason(tally, &tally->exits[cell->key.exit - 1], buf, size);
	return true;
}
