/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * raw - where a program on a raw event finds the reason of an exit, or the fields of the event, by
 * the running kernel's BTF.
 *
 * What a trace event's record has, its assignments have copied from somewhere. struct raw_exit says
 * from where, as of the kernels that are known; here the kernel is asked whether it is one of them,
 * and for its offsets. Anything that is not as expected is an answer, too: then the record is used.
 */
#ifndef KVMTOP_PROVIDERS_EXITS_RAW_H
#define KVMTOP_PROVIDERS_EXITS_RAW_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/arch.h"
#include "base/why.h"
#include "providers/exits/event.h"
#include "providers/exits/shared.h"

struct bpf_program;
struct btf;

/* The fields of an event, if all are among its arguments. */
struct exits_raw_event {
	bool is_raw;
	int arguments[EXITS_FIELDS]; /* their numbers, from 0; -1: no such field is wanted */
};

struct exits_raw {
	enum exits_way way; /* the best one here */
	enum exits_way polls; /* the best one to what KVM polled; EXITS_BY_RECORD: its events */
	/* Numbers of the event's arguments, from 0; -1: it has none of that name. */
	int reason, type, vcpu, isa, pc;
	int entry_vcpu; /* the same of the event that ends the exit */
	bool has_pc; /* a long exit has its program counter without the record, too */
	uint32_t cast; /* bpf_rdonly_cast() in vmlinux; 0: it has none */
	uint32_t run_delay; /* in the task: how long it has waited for CPUs; 0: it has no such */
	int numbers[RAW_END - RAW_FIRST]; /* by enum exits_raw_number */
	struct exits_raw_event events[EXITS_KINDS]; /* without EXITS_VMEXIT */
};

/* BTF of the kernel and of two modules, which are NULL where they are built in. */
struct exits_btf {
	const struct btf *vmlinux, *kvm, *vendor;
};

/*
 * What the running kernel says. split: NULL if there is no exit event. way is EXITS_BY_RECORD with
 * why, where it does not say enough.
 */
void exits_raw_find(const struct split *split, struct exits_raw *ret_raw, struct why *why);

/*
 * What this BTF says. bytes: the size of the field in the event's record. 0, or -ENOENT with why:
 * something is missing or not as expected.
 */
int exits_raw_look(const struct exits_btf *btf, const struct split *split, int bytes,
		   struct exits_raw *ret_raw, struct why *why);

/* Where a task has how long it has waited for CPUs, in ns; 0: it has not, or nothing says where. */
uint32_t exits_raw_find_run_delay(const struct btf *vmlinux);

/*
 * What the BTF says of the fields of an event. A name that both have is taken to have one value:
 * KVM's trace headers assign such arguments as they are.
 */
void exits_raw_look_at_event(const struct btf *kvm, const struct exits_event *event,
			     struct exits_raw_event *ret_event);

/* Whether any of the events is raw. */
bool exits_raw_has_events(const struct exits_raw *raw);

/* Put it into programs that are not loaded yet: on the exit, and on the entry. 0 or -errno. */
int exits_raw_set_exit(const struct exits_raw *raw, struct bpf_program *program);
int exits_raw_set_entry(const struct exits_raw *raw, struct bpf_program *program);

/* The same for the program of a raw event, which was compiled for the trace event. */
int exits_raw_set_event(const struct exits_raw *raw, enum exit_kind kind,
			const struct exits_event *event, struct bpf_program *program);

#endif
