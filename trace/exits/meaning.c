// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds by names of events and fields what they mean. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/argument.h"
#include "lib/array.h"
#include "lib/text.h"
#include "core/facts/shared_fields.h"
#include "trace/exits/meaning.h"

#define ISA_VMX 1
#define ISA_SVM 2
#define NO_NAMES UINT32_MAX
/* the name of the exit in KVM, and the prefix of the reasons of its own */
#define VMGEXIT "vmgexit"

static const struct trace_field *field_or_null(const struct trace_type *type, const char *name)
{
	return name ? trace_field(type, name) : NULL;
}

static bool is_type(const struct trace_type *type, const char *system, const char *name)
{
	return strcmp(type->system, system) == 0 && strcmp(type->name, name) == 0;
}

/* "kvmmmu", "kvmtrace" and the like, too. */
static bool is_of_kvm(const struct trace_type *type)
{
	return strncmp(type->system, "kvm", 3) == 0 || strcmp(type->system, "acrn") == 0;
}

/* ---- arguments */

/*
 * What ACRN's hypervisor and the old kernels call arguments, and the fields they have; a write that
 * KVM takes before it looks for the instruction; and what LoongArch and RISC-V have beside
 * kvm_mmio, and for a vCPU's interrupts. fixed_c is added to c: a flag of writes becomes a type.
 */
static const struct foreign {
	enum exit_kind kind;
	const char *system, *name, *a, *b, *c;
	uint16_t fixed_c;
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
	{ EXITS_MMIO, "kvm", "kvm_fast_mmio", "gpa", NULL, NULL, MMIO_WRITE },
	{ EXITS_MMIO, "kvm", "kvm_iocsr", "gpa", "len", "type", 0 },
	{ EXITS_MMIO, "kvm", "kvm_mmio_emulate", "fault_addr", "len", "write", MMIO_READ },
	{ EXITS_INTERRUPT, "kvm", "kvm_vcpu_irq", "irq", "level", NULL, 0 },
	{ EXITS_HYPERCALL, "kvmtrace", "VMMCALL", "nr", NULL, NULL, 0 },
};

static void set_argument(struct meaning *meaning, enum exit_kind kind, const char *a,
			 const char *b, const char *c)
{
	meaning->kind = MEANING_ARGUMENT;
	meaning->counted_as = kind;
	meaning->a = field_or_null(meaning->type, a);
	meaning->b = field_or_null(meaning->type, b);
	meaning->c = field_or_null(meaning->type, c);
}

static bool find_foreign_argument(struct meaning *meaning)
{
	for (size_t i = 0; i < ARRAY_SIZE(foreign); i++) {
		const struct foreign *from = &foreign[i];

		/* kvm_mmio_emulate of AArch64 is another event. */
		if (!is_type(meaning->type, from->system, from->name) ||
		    !trace_field(meaning->type, from->a))
			continue;
		set_argument(meaning, from->kind, from->a, from->b, from->c);
		meaning->fixed_c = from->fixed_c;
		return true;
	}
	return false;
}

static bool find_argument(struct meaning *meaning)
{
	for (unsigned int i = 0; i < (EXITS_KINDS - EXITS_FIRST_ARGUMENT) * ARGUMENT_EVENTS; i++) {
		enum exit_kind kind = EXITS_FIRST_ARGUMENT + i / ARGUMENT_EVENTS;
		const struct argument_event *from =
			&argument_of(kind)->events[i % ARGUMENT_EVENTS];

		if (!from->event || !is_type(meaning->type, from->system, from->event) ||
		    !trace_field(meaning->type, from->a))
			continue;
		set_argument(meaning, kind, from->a, from->b, from->c);
		meaning->a_bytes = from->a_bytes;
		meaning->a_of = from->a_of;
		return true;
	}
	return find_foreign_argument(meaning);
}

/* ---- halts */

static void find_halt(struct meaning *meaning)
{
	const struct trace_type *type = meaning->type;

	if (is_type(type, "kvm", "kvm_vcpu_wakeup")) {
		meaning->ns = trace_field(type, "ns");
		meaning->has_waited = trace_field(type, "waited");
		if (meaning->ns && meaning->has_waited)
			meaning->kind = MEANING_WAKEUP;
	} else if (is_type(type, "kvm", "kvm_halt_poll_ns")) {
		meaning->ns = trace_field(type, "old");
		if (meaning->ns)
			meaning->kind = MEANING_POLL_LIMIT;
	}
}

/* kvm_exit_idle and its like follow the kvm_exit of LoongArch. */
static bool is_cause(const struct meanings *meanings, const struct trace_type *type)
{
	static const char *const names[] = { "kvm_exit_idle", "kvm_exit_cache", "kvm_exit_cpucfg",
					     "kvm_exit_csr" };
	const struct trace_info *info = trace_file(meanings->trace, type->file);
	bool is_one = false;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		is_one |= is_type(type, "kvm", names[i]);
	return is_one && strncmp(info->arch, "loongarch", 9) == 0 && trace_field(type, "reason");
}

/* What changes the reason of an exit that has begun. */
static void find_more_of_exit(const struct meanings *meanings, struct meaning *meaning)
{
	if (is_cause(meanings, meaning->type)) {
		meaning->kind = MEANING_CAUSE;
		meaning->code = trace_field(meaning->type, "reason");
		return;
	}
	if (is_type(meaning->type, "kvm", "kvm_nested_vmexit"))
		meaning->kind = MEANING_NESTED;
	if (is_type(meaning->type, "kvm", "kvm_vmgexit_enter"))
		meaning->code = trace_field(meaning->type, "exit_reason");
	if (meaning->code)
		meaning->kind = MEANING_VMGEXIT;
}

/* ---- exits and entries */

static bool are_same(const struct reasons *a, const struct reasons *b)
{
	size_t i = 0;

	if (a->nr != b->nr)
		return false;
	while (i < a->nr && a->list[i].code == b->list[i].code &&
	       strcmp(a->list[i].name, b->list[i].name) == 0)
		i++;
	return i == a->nr;
}

/* Files of several kernels may have several names for a reason. */
static uint32_t add_names(struct meanings *meanings, const struct split *split,
			  const char *format)
{
	struct reason_names names = { .split = split };

	reasons_of(split, format, &names.reasons);
	for (size_t i = 0; i < meanings->nr_names; i++) {
		if (meanings->names[i].split == split &&
		    are_same(&meanings->names[i].reasons, &names.reasons)) {
			reasons_release(&names.reasons);
			return (uint32_t)i;
		}
	}
	*array_add(meanings->names, meanings->nr_names, meanings->room_names) = names;
	return (uint32_t)meanings->nr_names - 1;
}

static void set_split(struct meanings *meanings, struct meaning *meaning, unsigned int i,
		      const struct split *split)
{
	meaning->lists[i].split = split;
	meaning->lists[i].names = add_names(meanings, split, meaning->type->format);
}

/* Architectures may have the same event and fields: whether the file is from this one. */
static bool suits(const struct arch *arch, const struct trace_info *info)
{
	bool is_x86 = strcmp(arch->name, "VMX") == 0 || strcmp(arch->name, "SVM") == 0;

	if (is_x86 && info->cpu_vendor[0])
		return (strcmp(arch->name, "VMX") == 0) ==
		       (strcmp(info->cpu_vendor, "GenuineIntel") == 0);
	if (strcmp(arch->name, "loongarch") == 0)
		return strncmp(info->arch, "loongarch", 9) == 0;
	return true;
}

static void find_exit(struct meanings *meanings, struct meaning *meaning)
{
	const struct trace_type *type = meaning->type;
	const struct trace_info *info = trace_file(meanings->trace, type->file);
	const struct arch *arch;

	for (size_t i = 0; (arch = arch_at(i)); i++) {
		const struct split *split = arch->splits;

		if (!split->event || !is_type(type, split->system, split->event))
			continue;
		meaning->kind = MEANING_EXIT;
		meaning->reason = trace_field(type, split->field);
		if (!meaning->reason || !suits(arch, info))
			continue;
		meaning->pc = field_or_null(type, split->pc_field);
		meaning->isa = trace_field(type, "isa");
		if (meaning->isa) { /* x86 says in each record which of two lists it means */
			set_split(meanings, meaning, 0, arch_by_name("VMX")->splits);
			set_split(meanings, meaning, 1, arch_by_name("SVM")->splits);
			return;
		}
		meaning->reason_type = field_or_null(type, split->type_field);
		set_split(meanings, meaning, 0, split);
		return;
	}
}

/* ACRN runs on Intel's processors only. Of a kvmtrace the reader finds out; files share types. */
static void find_foreign_exit(struct meanings *meanings, struct meaning *meaning)
{
	const struct trace_info *info;
	const char *arch = "VMX";

	for (size_t i = 0; (info = trace_file(meanings->trace, i)); i++) {
		if (strcmp(info->cpu_vendor, "AuthenticAMD") == 0)
			arch = "SVM";
	}
	meaning->kind = MEANING_EXIT;
	meaning->reason = trace_field(meaning->type, "exit_reason");
	set_split(meanings, meaning, 0, arch_by_name(arch)->splits);
}

static void find_userspace(struct meanings *meanings, struct meaning *meaning)
{
	meaning->kind = MEANING_USERSPACE;
	meaning->counted_as = EXITS_USERSPACE;
	meaning->reason = trace_field(meaning->type, arch_userspace_split.field);
	meaning->error = trace_field(meaning->type, "errno");
	set_split(meanings, meaning, 0, &arch_userspace_split);
}

/* By every name that an entry has on some architecture. */
static bool is_entry(const struct trace_type *type)
{
	const struct arch *arch;

	if (strcmp(type->name, "kvm_entry") == 0 || strcmp(type->name, "kvm_reenter") == 0 ||
	    is_type(type, "acrn", "VM_ENTER") || is_type(type, "kvmtrace", "VMENTRY"))
		return true;
	for (size_t i = 0; (arch = arch_at(i)); i++) {
		const struct split *split = arch->splits;

		if (split->event && split->entry_event &&
		    is_type(type, split->system, split->entry_event))
			return true;
	}
	return false;
}

static void find_sched(struct meaning *meaning)
{
	const struct trace_type *type = meaning->type;
	bool is_switch = strcmp(type->name, "sched_switch") == 0;

	/* perf sched record has the second, which is later, where a kernel has both. */
	if (!is_switch && strcmp(type->name, "sched_waking") != 0 &&
	    strcmp(type->name, "sched_wakeup") != 0)
		return;
	meaning->tid = trace_field(type, is_switch ? "prev_pid" : "pid");
	meaning->state = trace_field(type, "prev_state");
	meaning->next_tid = trace_field(type, "next_pid");
	if (meaning->tid && (!is_switch || (meaning->state && meaning->next_tid)))
		meaning->kind = is_switch ? MEANING_SWITCH : MEANING_WAKING;
}

static void find_interrupt(struct meaning *meaning)
{
	const struct trace_type *type = meaning->type;

	if (is_type(type, "kvm", "kvm_apic_accept_irq"))
		meaning->target = trace_field(type, "apicid");
	if (!is_type(type, "kvm", "vgic_update_irq_pending") &&
	    !is_type(type, "kvm", "kvm_vcpu_irq"))
		return;
	meaning->target = trace_field(type, "vcpu_id");
	meaning->level = trace_field(type, "level");
}

static void find_other(struct meanings *meanings, struct meaning *meaning)
{
	find_interrupt(meaning);
	if (find_argument(meaning))
		return;
	find_halt(meaning);
	find_more_of_exit(meanings, meaning);
	if (meaning->kind == MEANING_EVENT)
		find_exit(meanings, meaning);
}

static void find_meaning(struct meanings *meanings, const struct trace_type *type,
			 struct meaning *meaning)
{
	*meaning = (struct meaning){ .kind = MEANING_NONE, .type = type };
	for (size_t i = 0; i < ARRAY_SIZE(meaning->lists); i++)
		meaning->lists[i].names = NO_NAMES;
	if (strcmp(type->system, "sched") == 0)
		find_sched(meaning);
	if (!is_of_kvm(type))
		return;
	meaning->kind = MEANING_EVENT;
	meaning->number = meanings->nr_kvm_types++;
	if (is_entry(type))
		meaning->kind = MEANING_ENTRY;
	else if (is_type(type, arch_userspace_split.system, arch_userspace_split.event))
		find_userspace(meanings, meaning);
	else if (is_type(type, "acrn", "VM_EXIT") || is_type(type, "kvmtrace", "VMEXIT"))
		find_foreign_exit(meanings, meaning);
	else
		find_other(meanings, meaning);
}

void meanings_add(struct meanings *meanings, const struct trace_type *type)
{
	array_grow(&meanings->list, &meanings->nr, (size_t)type->index + 1);
	find_meaning(meanings, type, &meanings->list[type->index]);
}

void meanings_release(struct meanings *meanings)
{
	for (size_t i = 0; i < meanings->nr_names; i++)
		reasons_release(&meanings->names[i].reasons);
	free(meanings->names);
	free(meanings->list);
}

/* ---- keys */

struct exit_key meaning_reason(const struct meaning *meaning, const struct trace_event *event)
{
	struct exit_key key = { .b = NO_NAMES, .kind = (uint8_t)meaning->counted_as };
	unsigned int i = 0;

	if (!meaning->reason)
		return key;
	key.a = trace_field_number(meaning->reason, event);
	if (meaning->reason_type) {
		uint64_t type = trace_field_number(meaning->reason_type, event);

		if (type != meaning->lists[0].split->type_of_field) {
			key.a = REASON_TYPE | type;
			key.b = meaning->lists[0].names;
			return key;
		}
	}
	if (meaning->isa) {
		uint64_t isa = trace_field_number(meaning->isa, event);

		i = isa == ISA_SVM;
		if (isa != ISA_VMX && isa != ISA_SVM)
			return key;
	}
	key.b = meaning->lists[i].names;
	if (meaning->error)
		key.a = exits_user_code(key.a, (int)trace_field_number(meaning->error, event));
	return key;
}

/* Adjacent bytes that are one number together, in the order of memory. */
static uint64_t join_bytes(const struct trace_field *first, uint32_t nr,
			   const struct trace_event *event)
{
	struct trace_field joined = *first;

	joined.size = nr;
	joined.flags &= ~(unsigned int)TRACE_FIELD_SWAP;
	return trace_field_number(&joined, event);
}

/* The number of an exit's reason; 0: not known, or there are too many. */
static uint8_t exit_number(struct meanings *meanings, const struct exit_key *exit)
{
	uint8_t i = 0;

	if (!exit)
		return 0;
	while (i < meanings->nr_exits && !exit_key_is(&meanings->exits[i], exit))
		i++;
	if (i == MEANING_EXITS)
		return 0;
	if (i == meanings->nr_exits)
		meanings->exits[meanings->nr_exits++] = *exit;
	return (uint8_t)(i + 1);
}

struct exit_key meaning_argument(struct meanings *meanings, const struct meaning *meaning,
				 const struct trace_event *event, const struct exit_key *exit)
{
	struct exit_key key = { .c = meaning->fixed_c, .kind = (uint8_t)meaning->counted_as };

	if (meaning->a_bytes)
		key.a = join_bytes(meaning->a, meaning->a_bytes, event);
	else if (meaning->a)
		key.a = trace_field_number(meaning->a, event);
	if (meaning->a_of)
		key.a = meaning->a_of(key.a);
	if (meaning->b)
		key.b = (uint32_t)trace_field_number(meaning->b, event);
	if (meaning->c)
		key.c += (uint16_t)trace_field_number(meaning->c, event);
	key.exit = exit_number(meanings, exit);
	return key;
}

const struct exit_key *meaning_exit(const struct meanings *meanings, const struct exit_key *key)
{
	return key->exit && !exit_key_is_others(key) ? &meanings->exits[key->exit - 1] : NULL;
}

/* ---- names */

static const struct reason *find_reason(const struct meanings *meanings,
					const struct exit_key *key)
{
	const struct reason_names *names;

	if (exit_key_is_others(key) || key->kind >= EXITS_FIRST_ARGUMENT ||
	    key->b >= meanings->nr_names ||
	    (key->kind == EXITS_USERSPACE && exit_fields_failure(key->a)))
		return NULL;
	names = &meanings->names[key->b];
	return reasons_find(&names->reasons, names->split, key->a);
}

unsigned int meaning_flags(const struct meanings *meanings, const struct exit_key *key)
{
	const struct reason *reason = find_reason(meanings, key);

	return reason ? reason->flags : 0;
}

void meaning_name(const struct meanings *meanings, const struct exit_key *key, char *buf,
		  size_t size)
{
	const struct argument *argument = argument_of((enum exit_kind)key->kind);
	const struct reason *reason = find_reason(meanings, key);
	const char *failure = key->kind == EXITS_USERSPACE ? exit_fields_failure(key->a) : NULL;
	size_t used = 0;

	buf[0] = '\0';
	if (exit_key_is_others(key)) {
		snprintf(buf, size, "(others)");
		return;
	}
	if (key->kind == EXITS_VMEXIT && key->c == EXIT_OF_VMGEXIT &&
	    !(reason && strncmp(reason->name, VMGEXIT, strlen(VMGEXIT)) == 0))
		used = (size_t)snprintf(buf, size, VMGEXIT " ");
	if (argument)
		argument->format(buf, size, key->a, key->b, key->c);
	else if (failure)
		snprintf(buf, size, "%s", failure);
	else
		reason_write(reason, key->a, buf + used, size - used);
	if (key->kind == EXITS_VMEXIT && key->c == EXIT_OF_L2)
		name_add(buf, size, "%s", EXIT_FIELDS_L2);
}
