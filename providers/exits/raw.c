// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Chooses the events that the running kernel has, and looks through its BTF for what leads to the
 * reason of an exit, and for arguments.
 */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "arch/argument.h"
#include "lib/array.h"
#include "providers/bpf/bpf.h"
#include "providers/bpf/placeholders.h"
#include "providers/exits/program.h"
#include "providers/providers.h"

#define ARGUMENT_BYTES 8 /* of a raw event, each */

static bool find_userspace(const struct env *env, struct exits_event *ret_event)
{
	const struct split *split = &arch_userspace_split;

	*ret_event = (struct exits_event){
		.system = split->system,
		.event = split->event,
		.fields = { { FIELD_REASON, split->field, 0, 0 }, { FIELD_TYPE, "errno", 0, 0 } },
	};
	return trace_event_exists(env, split->system, split->event);
}

/* The first of an argument's events that is there. */
static bool choose_event(const struct env *env, const struct argument *argument,
			 struct exits_event *ret_event)
{
	for (size_t i = 0; i < ARGUMENT_EVENTS && argument->events[i].event; i++) {
		const struct argument_event *event = &argument->events[i];

		*ret_event = (struct exits_event){
			.system = event->system,
			.event = event->event,
			.fields = { { FIELD_A, event->a, 0, (int)event->a_bytes },
				    { FIELD_B, event->b, 0, 0 },
				    { FIELD_C, event->c, 0, 0 } },
		};
		if (trace_event_exists(env, event->system, event->event))
			return true;
	}
	return false;
}

bool exits_event_of(const struct env *env, enum exit_kind kind, struct exits_event *ret_event)
{
	return kind == EXITS_USERSPACE ? find_userspace(env, ret_event) :
					 choose_event(env, argument_of(kind), ret_event);
}

/* Whether the type begins with a vCPU: the pointer to one is a pointer to both. */
static bool begins_with_vcpu(const struct btf_walk *walk)
{
	const struct btf_type *first;

	if (!btf_vlen(walk->type) || btf_member_bit_offset(walk->type, 0))
		return false;
	first = btf_type_of(walk->btf, btf_members(walk->type)[0].type);
	return first && btf_is_struct_named(walk->btf, first, "kvm_vcpu");
}

/* 1: the path leads to a number; 0: this kernel has no such type or member. */
static int walk_path(const struct btf *btf, const char *path, struct btf_walk *ret_walk)
{
	struct btf_walk walk = { .btf = btf };
	size_t length = strcspn(path, ".");
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)length, path);
	walk.type = btf_find(btf, name, BTF_KIND_STRUCT);
	if (!walk.type || !begins_with_vcpu(&walk))
		return 0;
	if (!btf_walk_to_end(&walk, path + length + 1) ||
	    (!btf_walk_is_number(&walk, 4) && !btf_walk_is_number(&walk, 8)))
		return 0;
	*ret_walk = walk;
	return 1;
}

static int *number(struct exits_raw *raw, enum exits_raw_number which)
{
	return &raw->numbers[which - RAW_FIRST];
}

/* A record's field may be shorter than what it is copied from, or longer; no sign is extended. */
static void set_place(struct exits_raw *raw, const struct btf_walk *walk, int bytes)
{
	int size = (int)walk->type->size;

	*number(raw, RAW_HAS_POINTER) = walk->has_pointer;
	*number(raw, RAW_OFFSET) = (int)(walk->has_pointer ? walk->pointer : walk->offset);
	*number(raw, RAW_OFFSET_THERE) = walk->has_pointer ? (int)walk->offset : 0;
	*number(raw, RAW_BYTES) = size < bytes ? size : bytes;
}

/* Where the reason is in the vCPU. */
static int look_into_vcpu(const struct exits_btf *btf, const struct raw_exit *exit, int bytes,
			  struct exits_raw *raw, struct error *error)
{
	const struct btf *types = btf->vendor ? btf->vendor : btf->vmlinux;
	int found = 0;

	for (size_t i = 0; i < RAW_PATHS && exit->paths[i]; i++) {
		struct exits_raw before = *raw;
		struct btf_walk walk;

		if (!walk_path(types, exit->paths[i], &walk))
			continue;
		set_place(raw, &walk, bytes);
		if (found++ && memcmp(before.numbers, raw->numbers, sizeof(before.numbers)) != 0)
			return error_set(error, -ENOENT, "the BTF has more than one place of %s",
					 exit->paths[i]);
	}
	return found ? 0 : error_set(error, -ENOENT, "the BTF of %s has no %s", exit->module,
				     exit->paths[0]);
}

static int look_for_vcpu_id(const struct btf *btf, struct exits_raw *raw, struct error *error)
{
	struct btf_walk walk = { .btf = btf, .type = btf_find(btf, "kvm_vcpu", BTF_KIND_STRUCT) };

	if (!btf_walk_to_end(&walk, "vcpu_id") || !btf_walk_is_number(&walk, sizeof(uint32_t)))
		return error_set(error, -ENOENT, "the BTF of kvm has no kvm_vcpu.vcpu_id");
	*number(raw, RAW_VCPU_ID) = (int)walk.offset;
	return 0;
}

/* Where a member of a vCPU is; -1: it has none. */
static long find_in_vcpu(const struct btf *btf, const char *path, uint32_t bytes)
{
	struct btf_walk walk = { .btf = btf, .type = btf_find(btf, "kvm_vcpu", BTF_KIND_STRUCT) };

	return btf_walk_to_end(&walk, path) && (!bytes || btf_walk_is_number(&walk, bytes)) ?
		       (long)walk.offset : -1;
}

/* The first of KVM's two sums of what it polled in the vCPU's halts; Linux 5.14 moved them. */
static long find_poll_sums(const struct btf *btf)
{
	static const char *const paths[][2] = {
		{ "stat.generic.halt_poll_success_ns", "stat.generic.halt_poll_fail_ns" },
		{ "stat.halt_poll_success_ns", "stat.halt_poll_fail_ns" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		long success = find_in_vcpu(btf, paths[i][0], sizeof(uint64_t));

		if (success >= 0 && find_in_vcpu(btf, paths[i][1], sizeof(uint64_t)) ==
					    success + (long)sizeof(uint64_t))
			return success;
	}
	return -1;
}

/* From the task to the vCPU that it runs, and on to the sums; without it events tell the same. */
static void look_for_polls(const struct exits_btf *btf, const struct btf *kvm,
			   struct exits_raw *raw)
{
	struct btf_walk task = { .btf = btf->vmlinux,
				 .type = btf_find(btf->vmlinux, "task_struct", BTF_KIND_STRUCT) };
	long link = find_in_vcpu(kvm, "preempt_notifier.link", 0), sums = find_poll_sums(kvm);

	raw->polls = EXITS_BY_RECORD;
	if (link < 0 || sums < 0 || !btf_walk_to_end(&task, "preempt_notifiers.first") ||
	    !btf_is_ptr(task.type))
		return;
	*number(raw, RAW_NOTIFIER) = (int)task.offset;
	*number(raw, RAW_POLL_SUMS) = (int)(sums - link);
	*number(raw, RAW_VCPU_POLL_SUMS) = (int)sums;
	raw->polls = raw->cast ? EXITS_BY_LOAD : EXITS_BY_READ;
}

/* Both VMCBs have it at the same offset, by different pointers. */
static bool find_pc(const struct btf *types, const struct raw_exit *exit, struct exits_raw *raw)
{
	struct btf_walk own, nested;

	if (!exit->pc_path || !walk_path(types, exit->pc_path, &own) ||
	    !walk_path(types, exit->nested_pc_path, &nested) || !btf_walk_is_number(&own, 8) ||
	    !own.has_pointer || !nested.has_pointer || own.offset != nested.offset)
		return false;
	*number(raw, RAW_OWN_VMCB) = (int)own.pointer;
	*number(raw, RAW_NESTED_VMCB) = (int)nested.pointer;
	*number(raw, RAW_PC) = (int)own.offset;
	return true;
}

/* Where the copy of a register is in the vCPU; -1: this kernel has no such copy. */
static long find_copy(const struct btf *btf, const struct raw_copy *copy, long reg)
{
	struct btf_walk walk = { .btf = btf, .type = btf_find(btf, "kvm_vcpu", BTF_KIND_STRUCT) };
	const struct btf_array *array;

	if (reg < 0 || !btf_walk_to_end(&walk, copy->path))
		return -1;
	if (btf_walk_is_number(&walk, sizeof(uint64_t)))
		return walk.offset;
	if (!btf_is_array(walk.type))
		return -1;
	array = btf_array(walk.type);
	walk.type = btf_type_of(btf, array->type);
	if (!walk.type || !btf_walk_is_number(&walk, sizeof(uint64_t)) ||
	    reg >= (long)array->nelems)
		return -1;
	return (long)walk.offset + reg * (long)sizeof(uint64_t);
}

static bool find_pc_copy(const struct btf *kvm, const struct raw_exit *exit, struct exits_raw *raw)
{
	long copied, is_nested;

	if (!exit->registers)
		return false;
	copied = find_in_vcpu(kvm, exit->copied, 0);
	is_nested = find_in_vcpu(kvm, exit->is_nested, 8);
	if (copied < 0 || is_nested < 0)
		return false;
	for (size_t i = 0; i < RAW_COPIES && exit->copies[i].path; i++) {
		long reg = btf_enum_value(kvm, exit->registers, exit->copies[i].pc);
		long copy = find_copy(kvm, &exit->copies[i], reg);

		if (copy < 0)
			continue;
		*number(raw, RAW_PC_COPY) = (int)copy;
		*number(raw, RAW_COPIED) = (int)(copied + reg / 8); /* x86: little-endian */
		*number(raw, RAW_COPIED_BIT) = 1 << reg % 8;
		*number(raw, RAW_IS_NESTED) = (int)is_nested;
		return true;
	}
	return false;
}

/* At the begin of an exit in an argument; or, at its end, by the vCPU that the entry has. */
static bool look_for_pc(const struct exits_btf *btf, const struct btf *kvm,
			const struct raw_exit *exit, struct exits_raw *raw)
{
	if (raw->way == EXITS_BY_ARGUMENT)
		return raw->pc >= 0;
	if (raw->entry_vcpu < 0)
		return false;
	if (*number(raw, RAW_HAS_POINTER))
		return find_pc(btf->vendor ? btf->vendor : btf->vmlinux, exit, raw);
	return find_pc_copy(kvm, exit, raw);
}

/* The number of the argument that points to a vCPU. */
static int find_vcpu(const struct btf *btf, const struct btf_type *proto)
{
	int argument = btf_event_argument(btf, proto, "vcpu");
	const struct btf_type *type = NULL;

	if (argument >= 0)
		type = btf_type_of(btf, btf_params(proto)[argument + 1].type);
	if (type && btf_is_ptr(type))
		type = btf_type_of(btf, type->type);
	return type && btf_is_struct_named(btf, type, "kvm_vcpu") ? argument : -1;
}

static int look_at_arguments(const struct btf *btf, const struct split *split,
			     struct exits_raw *raw, struct error *error)
{
	const struct btf_type *exit = btf_find_event(btf, split->event);
	const struct btf_type *entry = btf_find_event(btf, split->entry_event);

	if (!exit || !entry)
		return error_set(error, -ENOENT, "the kernel has no BTF of %s",
				 exit ? split->entry_event : split->event);
	raw->reason = btf_event_argument(btf, exit, split->field);
	raw->type = btf_event_argument(btf, exit, split->type_field);
	raw->vcpu = find_vcpu(btf, exit);
	raw->isa = btf_event_argument(btf, exit, "isa");
	raw->pc = btf_event_argument(btf, exit, split->pc_field);
	raw->entry_vcpu = find_vcpu(btf, entry);
	if ((raw->isa < 0) != !split->raw->isa || (raw->type < 0) != !split->type_field ||
	    (raw->reason < 0 && (raw->vcpu < 0 || !split->raw->module)))
		return error_set(error, -ENOENT, "%s has other arguments", split->event);
	return 0;
}

/* What the loads need: Linux 6.2 and later. */
static bool look_for_cast(const struct btf *vmlinux, struct exits_raw *raw)
{
	int cast = btf__find_by_name_kind(vmlinux, "bpf_rdonly_cast", BTF_KIND_FUNC);
	int pointer = btf__find_by_name_kind(vmlinux, "list_head", BTF_KIND_STRUCT);
	int time = btf__find_by_name_kind(vmlinux, "timespec64", BTF_KIND_STRUCT);

	if (cast < 0 || pointer < 0 || time < 0)
		return false;
	raw->cast = (uint32_t)cast;
	*number(raw, RAW_POINTER) = pointer;
	*number(raw, RAW_NUMBER) = time;
	return true;
}

int exits_raw_look(const struct exits_btf *btf, const struct split *split, int bytes,
		   struct exits_raw *ret_raw, struct error *error)
{
	const struct btf *kvm = btf->kvm ? btf->kvm : btf->vmlinux;
	struct exits_raw raw = { .way = EXITS_BY_ARGUMENT };
	bool has_cast;
	int err;

	if (bytes != 4 && bytes != 8)
		return error_set(error, -ENOENT, "%s has %d bytes", split->field, bytes);
	has_cast = look_for_cast(btf->vmlinux, &raw);
	*number(&raw, RAW_ISA) = (int)split->raw->isa;
	*number(&raw, RAW_TYPE_MASK) = (int)split->raw->type_mask;
	err = look_at_arguments(kvm, split, &raw, error);
	if (!err && raw.vcpu >= 0)
		err = look_for_vcpu_id(kvm, &raw, error);
	if (!err && raw.reason < 0) {
		err = look_into_vcpu(btf, split->raw, bytes, &raw, error);
		raw.way = has_cast ? EXITS_BY_LOAD : EXITS_BY_READ;
	}
	if (err)
		return err;
	raw.has_pc = look_for_pc(btf, kvm, split->raw, &raw);
	look_for_polls(btf, kvm, &raw);
	*ret_raw = raw;
	return 0;
}

/* A kernel without CONFIG_SCHED_INFO does not count it. */
uint32_t exits_raw_find_run_delay(const struct btf *vmlinux)
{
	struct btf_walk task = { .btf = vmlinux,
				 .type = btf_find(vmlinux, "task_struct", BTF_KIND_STRUCT) };
	bool is_there = btf_walk_to_end(&task, "sched_info.run_delay") &&
			btf_walk_is_number(&task, sizeof(uint64_t));

	return is_there ? task.offset : 0;
}

/* The number of an argument that is an integer; -1: there is none of that name. */
static int find_integer(const struct btf *btf, const struct btf_type *proto, const char *name)
{
	int argument = btf_event_argument(btf, proto, name);
	const struct btf_type *type = NULL;

	if (argument >= 0)
		type = btf_type_of(btf, btf_params(proto)[argument + 1].type);
	return type && btf_is_int(type) ? argument : -1;
}

void exits_raw_look_at_event(const struct btf *kvm, const struct exits_event *event,
			     struct exits_raw_event *ret_event)
{
	const struct btf_type *proto = btf_find_event(kvm, event->event);

	ret_event->is_raw = proto != NULL;
	for (size_t i = 0; i < EXITS_FIELDS; i++) {
		const struct bpf_field *field = &event->fields[i];

		ret_event->arguments[i] = proto ? find_integer(kvm, proto, field->name) : -1;
		/* Several fields that are read as one are no argument. */
		if (field->bytes || (field->name && ret_event->arguments[i] < 0))
			ret_event->is_raw = false;
	}
}

bool exits_raw_has_events(const struct exits_raw *raw)
{
	for (size_t i = 0; i < EXITS_KINDS; i++) {
		if (raw->events[i].is_raw)
			return true;
	}
	return false;
}

static void look_at_events(const struct env *env, const struct btf *kvm, struct exits_raw *raw)
{
	struct exits_event event;

	for (unsigned int kind = EXITS_USERSPACE; kind < EXITS_KINDS; kind++) {
		if (exits_event_of(env, (enum exit_kind)kind, &event))
			exits_raw_look_at_event(kvm, &event, &raw->events[kind]);
	}
}

static void look_at_exit(const struct env *env, struct btf *vmlinux, const struct btf *kvm,
			 const struct split *split, struct exits_raw *raw, struct error *error)
{
	struct btf *vendor = NULL;
	struct exits_btf btf = { .vmlinux = vmlinux, .kvm = kvm };

	if (!split->raw) {
		error_set(error, 0, "the reason is not among its arguments");
		return;
	}
	if (split->raw->module)
		vendor = btf__load_module_btf(split->raw->module, vmlinux);
	btf.vendor = vendor;
	exits_raw_look(&btf, split,
		       bpf_field_size(env, split->system, split->event, split->field), raw, error);
	btf__free(vendor);
}

void exits_raw_find(const struct env *env, const struct split *split, struct exits_raw *ret_raw,
		    struct error *error)
{
	struct btf *vmlinux, *kvm;

	bpf_be_quiet();
	*ret_raw = (struct exits_raw){ .way = EXITS_BY_RECORD };
	vmlinux = btf__load_vmlinux_btf();
	if (!vmlinux) {
		error_set(error, 0, "the kernel has no BTF");
		return;
	}
	kvm = btf__load_module_btf("kvm", vmlinux);
	if (split)
		look_at_exit(env, vmlinux, kvm, split, ret_raw, error);
	look_at_events(env, kvm ? kvm : vmlinux, ret_raw);
	ret_raw->run_delay = exits_raw_find_run_delay(vmlinux);
	btf__free(kvm);
	btf__free(vmlinux);
}

/* An argument that there is not reads as 0. */
static struct bpf_place argument_place(int placeholder, int argument)
{
	return (struct bpf_place){ placeholder, argument < 0 ? 0 : argument * ARGUMENT_BYTES,
				   argument < 0 ? 0 : ARGUMENT_BYTES };
}

struct raw_numbers {
	struct bpf_number list[RAW_END - RAW_FIRST + 1];
};

static struct raw_numbers numbers_of(const struct exits_raw *raw)
{
	struct raw_numbers numbers = { { { 0, 0 } } };

	for (int i = 0; i < RAW_END - RAW_FIRST; i++)
		numbers.list[i] = (struct bpf_number){ RAW_FIRST + i, raw->numbers[i] };
	numbers.list[RAW_POLLS - RAW_FIRST].number = raw->polls;
	return numbers;
}

int exits_raw_set_exit(const struct exits_raw *raw, struct bpf_program *program)
{
	struct bpf_place places[] = {
		argument_place(FIELD_REASON, raw->reason),
		argument_place(FIELD_TYPE, raw->type),
		argument_place(FIELD_VCPU, raw->vcpu),
		argument_place(FIELD_ISA, raw->isa),
		argument_place(FIELD_PC, raw->pc),
		{ 0 },
	};

	if (raw->way != EXITS_BY_ARGUMENT)
		places[0] = (struct bpf_place){ FIELD_REASON, 0,
						raw->numbers[RAW_BYTES - RAW_FIRST] };
	return bpf_places_set(program, places, numbers_of(raw).list, raw->cast);
}

int exits_raw_set_entry(const struct exits_raw *raw, struct bpf_program *program)
{
	int sums = raw->numbers[RAW_VCPU_POLL_SUMS - RAW_FIRST];
	const struct bpf_place places[] = {
		argument_place(FIELD_VCPU, raw->entry_vcpu),
		{ FIELD_A, sums, sizeof(uint64_t) },
		{ FIELD_B, sums + (int)sizeof(uint64_t), sizeof(uint64_t) },
		{ 0 },
	};

	return bpf_places_set(program, places, numbers_of(raw).list, raw->cast);
}

int exits_raw_set_event(const struct exits_raw *raw, enum exit_kind kind,
			const struct exits_event *event, struct bpf_program *program)
{
	struct bpf_place places[EXITS_FIELDS + 1] = { { 0 } };

	for (size_t i = 0; i < EXITS_FIELDS; i++)
		places[i] = argument_place(event->fields[i].placeholder,
					   raw->events[kind].arguments[i]);
	bpf_program__set_type(program, BPF_PROG_TYPE_RAW_TRACEPOINT);
	return bpf_places_set(program, places, numbers_of(raw).list, raw->cast);
}
