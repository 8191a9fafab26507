/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pc - where the guest was when it left: its program counter, and how many exits there were at
 * each.
 */
#ifndef KVMTOP_PROVIDERS_EXITS_PC_BPF_H
#define KVMTOP_PROVIDERS_EXITS_PC_BPF_H

#include "providers/exits/maps.bpf.h"

/* Set before loading: exits are counted by program counter. */
const volatile _Bool counts_pcs;

/* Exits that found no room in pcs. */
__u64 lost_pcs;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, EXITS_PCS);
	__type(key, struct exits_pc_key);
	__type(value, __u64);
} pcs SEC(".maps");

/* Where the guest was, if an argument of the event has that. */
static __always_inline __u64 pc_at_begin(const __u64 *ctx, enum exit_place place)
{
	const struct kvm_cpu_trap *trap;

	if (place == EXIT_IN_SYNDROME)
		return ARGUMENT(ctx, 2);
	if (place != EXIT_IN_TRAP)
		return 0;
	trap = POINTER(ctx, 0);
	return trap ? trap->sepc : 0;
}

/*
 * AMD: where the guest was, by the VMCB that the vCPU left with the exit that ends now: the guest's
 * own (L1), or the one of the guest that it runs (L2). KVM writes a program counter only after
 * kvm_entry, except when a guest enters L2: then the one of L1 is already past that instruction,
 * and the program counter of the exit is not known.
 */
static __always_inline __u64 svm_pc(const struct kvm_vcpu *vcpu, _Bool is_nested)
{
	const char *at = is_nested ? READ_POINTER(vcpu, struct vcpu_svm, nested.vmcb02.ptr) :
				     READ_POINTER(vcpu, struct vcpu_svm, vmcb01.ptr);

	if (!is_nested && READ_POINTER(vcpu, struct vcpu_svm, vmcb) != at)
		return 0;
	return READ(at, struct vmcb, save.rip);
}

/*
 * Intel: where the guest goes on: at the instruction that exited, or at the next one if KVM
 * emulated it. The CPU has the program counter. KVM copies it in exits for which it needs it, says
 * so by the register's bit, and drops the copy at the next exit. When an exit has entered or left
 * L2, the copy is the other guest's.
 */
static __always_inline __u64 vmx_pc(const struct kvm_vcpu *vcpu, _Bool is_nested)
{
	__u64 reg, at;
	__u8 bits = 0;

	if (bpf_core_field_exists(vcpu->arch.rip)) {
		reg = bpf_core_enum_value(enum kvm_reg___7_2, VCPU_REG_RIP);
		at = bpf_core_field_offset(struct kvm_vcpu, arch.rip);
	} else {
		reg = bpf_core_enum_value(enum kvm_reg, VCPU_REGS_RIP);
		at = bpf_core_field_offset(struct kvm_vcpu, arch.regs) + 8 * reg;
	}
	bpf_probe_read_kernel(&bits, sizeof(bits), (const char *)vcpu +
			      bpf_core_field_offset(struct kvm_vcpu, arch.regs_avail) + reg / 8);
	if (!(bits & 1 << reg % 8) ||
	    is_nested != (READ(vcpu, struct kvm_vcpu, stat.guest_mode) != 0))
		return 0;
	return read_number((const char *)vcpu + at, sizeof(__u64));
}

static __noinline __u64 pc_at_end(const struct exits_thread *thread, const struct kvm_vcpu *vcpu)
{
	_Bool is_nested = codes[exits_cell_of(thread->at.cell)].is_nested;

	if (!vcpu)
		return thread->pc;
	if (exit_place == EXIT_IN_SVM)
		return svm_pc(vcpu, is_nested);
	if (exit_place == EXIT_IN_VMX)
		return vmx_pc(vcpu, is_nested);
	return thread->pc;
}

/* The exit's code, and where the guest was, with as few reads as that takes. */
static __always_inline __u64 code_and_pc(const __u64 *ctx, const struct kvm_vcpu *vcpu,
					 enum exit_place place, __u64 *ret_pc)
{
	const char *vmcb;

	if (place != EXIT_IN_SVM || ARGUMENT(ctx, 1) != ISA_SVM) {
		*ret_pc = pc_at_begin(ctx, place);
		return exit_code(ctx, vcpu, place);
	}
	vmcb = READ_POINTER(vcpu, struct vcpu_svm, vmcb);
	*ret_pc = READ(vmcb, struct vmcb, save.rip);
	return READ(vmcb, struct vmcb, control.exit_code);
}

/* What the open exit is counted by. Without a vCPU: as its begin, or user space, had it. */
static __always_inline __u64 pc_to_count(const struct exits_thread *thread,
					 const struct kvm_vcpu *vcpu, __u32 cell)
{
	__u64 pc = exit_place == EXIT_IN_VMX ? pc_at_end(thread, vcpu) : thread->pc;

	if (codes[cell].is_nested)
		return EXITS_PC_NESTED;
	return (__s64)pc > 0 ? EXITS_PC_USER : pc;
}

/* Moves what a slot has into the map: the slot first has nothing, so the sum is never too large. */
static __always_inline void spill(const struct exits_thread *thread, struct exits_pc_slot *slot)
{
	static const __u64 zero;
	const struct exits_pc_key key = {
		.pc = slot->pc, .record = thread->number, .cell = slot->cell,
	};
	__u64 count = slot->count, *to;

	slot->count = 0;
	barrier();
	bpf_map_update_elem(&pcs, &key, &zero, BPF_NOEXIST);
	to = bpf_map_lookup_elem(&pcs, &key);
	__sync_fetch_and_add(to ? to : &lost_pcs, count);
}

/* The slot that counts these from now on; NULL: there is none. */
static __noinline struct exits_pc_slot *begin_slot(struct exits_thread *thread, __u32 i, __u64 pc,
						   __u32 cell)
{
	struct exits_thread *further = thread ? further_at(&thread->extra, 1) : 0;
	struct exits_pc_slot *slot;

	if (!further) {
		__sync_fetch_and_add(&lost_pcs, 1);
		return 0;
	}
	slot = &further->has.pcs[i % (2 * EXITS_PC_SETS)];
	if (slot->count)
		spill(thread, slot);
	slot->pc = pc;
	slot->cell = cell;
	barrier();
	return slot;
}

static __always_inline void count_pc(struct exits_thread *thread, const struct kvm_vcpu *vcpu,
				     __u32 cell, __u64 now)
{
	__u64 pc = pc_to_count(thread, vcpu, cell);
	__u32 i = ((pc ^ cell) * 0x9e3779b97f4a7c15ull >> 32) % EXITS_PC_SETS * 2;
	struct exits_thread *further = further_at(&thread->extra, 0);
	struct exits_pc_slot *slot = further ? &further->has.pcs[i] : 0;

	if (slot && (slot->pc != pc || slot->cell != cell))
		slot++;
	if (!slot || slot->pc != pc || slot->cell != cell)
		slot = begin_slot(thread, i | (now & 1), pc, cell); /* any of the two */
	thread->ended_pc = pc;
	if (slot)
		slot->count++;
}

#endif
