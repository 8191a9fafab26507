/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * raw - the events that the BPF programs of the provider "exits" are for, and where a program reads
 * the reason of an exit or the fields of another event: in the event's record or, by the running
 * kernel's BTF, without it, in a program on the raw event.
 *
 * A trace event copies the fields of its record from arguments or structures. struct raw_exit says
 * from where, for the kernels that are known. The BTF says whether the running kernel has the same
 * members, and at which offsets. If anything is not as expected, the record is used.
 */
#ifndef KVMTOP_PROVIDERS_EXITS_RAW_H
#define KVMTOP_PROVIDERS_EXITS_RAW_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/arch.h"
#include "lib/error.h"
#include "providers/bpf/bpf.h"
#include "providers/exits/shared.h"

#define EXITS_FIELDS 3

struct exits_event {
	const char *system, *event;
	struct bpf_field fields[EXITS_FIELDS + 1]; /* the last one ends the list */
};

/* The event of a kind other than EXITS_VMEXIT; false: this kernel has none. */
bool exits_event_of(const struct env *env, enum exit_kind kind, struct exits_event *ret_event);

struct bpf_program;
struct btf;

/* The fields of an event, if all are among its arguments. */
struct exits_raw_event {
	bool is_raw;
	int arguments[EXITS_FIELDS]; /* their numbers, from 0; -1: the field is not wanted */
};

struct exits_raw {
	enum exits_way way; /* the best way to the reason */
	enum exits_way polls; /* the best way to KVM's polled time; EXITS_BY_RECORD: by events */
	/* Numbers of the event's arguments, from 0; -1: there is no argument of that name. */
	int reason, type, vcpu, isa, pc;
	int entry_vcpu; /* the vCPU in the event that ends the exit */
	bool has_pc; /* the program counter is found without the record, too */
	uint32_t cast; /* the type of bpf_rdonly_cast() in vmlinux; 0: there is none */
	uint32_t run_delay; /* offset in the task: its wait for CPUs; 0: there is none */
	int numbers[RAW_END - RAW_FIRST]; /* by enum exits_raw_number */
	struct exits_raw_event events[EXITS_KINDS]; /* without EXITS_VMEXIT */
};

/* BTF of the kernel and of two modules, which are NULL where they are built in. */
struct exits_btf {
	const struct btf *vmlinux, *kvm, *vendor;
};

/*
 * Reads the running kernel's BTF. split: NULL if there is no exit event. way is EXITS_BY_RECORD,
 * with why, if the BTF does not tell enough.
 */
void exits_raw_find(const struct env *env, const struct split *split, struct exits_raw *ret_raw,
		    struct error *why);

/*
 * The same for any BTF. bytes: the size of the field in the event's record. 0, or -ENOENT with why:
 * something is missing or not as expected.
 */
int exits_raw_look(const struct exits_btf *btf, const struct split *split, int bytes,
		   struct exits_raw *ret_raw, struct error *why);

/* The offset in a task of its wait for CPUs, in ns; 0: there is none, or it is not known. */
uint32_t exits_raw_find_run_delay(const struct btf *vmlinux);

/*
 * Finds the fields of an event among its arguments. A field and an argument of the same name have
 * the same value: KVM's trace headers copy such arguments as they are.
 */
void exits_raw_look_at_event(const struct btf *kvm, const struct exits_event *event,
			     struct exits_raw_event *ret_event);

/* Whether any of the events is raw. */
bool exits_raw_has_events(const struct exits_raw *raw);

/* Put the numbers into programs that are not loaded yet: on the exit, on the entry. 0 or -errno. */
int exits_raw_set_exit(const struct exits_raw *raw, struct bpf_program *program);
int exits_raw_set_entry(const struct exits_raw *raw, struct bpf_program *program);

/* The same for the program of a raw event, which was compiled for the trace event. */
int exits_raw_set_event(const struct exits_raw *raw, enum exit_kind kind,
			const struct exits_event *event, struct bpf_program *program);

#endif
