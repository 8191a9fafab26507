/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf - what our BPF programs need of this kernel: whether BPF may be used here, how a program is
 * attached to its trace event, and where the fields are that it reads.
 */
#ifndef KVMTOP_PROVIDERS_BPF_BPF_H
#define KVMTOP_PROVIDERS_BPF_BPF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"
#include "host/env.h"

/*
 * Whether we may run programs on trace events, and are in the pid namespace of their tids
 * (host/machine.h); leaves nothing open. 0, or -errno with error.
 */
int bpf_probe(const struct env *env, struct error *error);

/* Keeps libbpf from printing. */
void bpf_be_quiet(void);

/*
 * Runs a program of the type BPF_PROG_TYPE_TRACEPOINT on every CPU whenever the event happens.
 * Returns a descriptor that holds it there, or -errno; closing that may wait for RCU, some 40 ms.
 *
 * The program must return 1: with 0 the kernel hides the event from all perf events on it, other
 * programs' too.
 */
int bpf_attach(const struct env *env, uint64_t tracepoint_id, int program);

/*
 * How often the kernel did not run the program at its event: on that CPU the program was at work
 * already or, if it is on a trace event, any program on one, or a system call on any map of BPF.
 * Known from Linux 5.12 on, of trace events from 6.7 on; before that 0.
 */
uint64_t bpf_missed(int program);

/* Returns 0 when all programs that run now have ended, or -errno. */
int bpf_wait_for_programs(void);

/*
 * ---- fields
 *
 * The program is compiled with loads from placeholder offsets. Before it is loaded, each such load
 * gets the field's own offset and size, from the event's format file: so one object fits every
 * kernel that has the event, and needs neither its headers nor its BTF.
 */

struct bpf_insn;
struct bpf_program;

/* A field by its placeholder (placeholders.h). */
struct bpf_field {
	int placeholder;  /* FIELD_REASON ...; 0 ends a list */
	const char *name; /* NULL: reads as if absent */
	int absent;	  /* the value where the event has no such field */
	int bytes;	  /* how many to read from the field's offset; 0: the field's size */
};

/*
 * Patches a program that is not loaded yet. 0, or -ENOENT: there is no such event, or it has not
 * the first field of the list; -EINVAL: a field has a size that cannot be loaded, or a placeholder
 * of the program is not in the list.
 */
int bpf_fields_set(struct bpf_program *program, const struct env *env, const char *system,
		   const char *event, const struct bpf_field *fields);

/* The same in a copy of a program's instructions. */
int bpf_fields_patch(struct bpf_insn *insns, size_t nr, const struct env *env, const char *system,
		     const char *event, const struct bpf_field *fields);

/* Whether these are the first fields of the event, in this order; names ends with NULL. */
bool bpf_fields_are(const struct env *env, const char *system, const char *event,
		    const char *const *names);

/* The size of an event's field in bytes, or -ENOENT. */
int bpf_field_size(const struct env *env, const char *system, const char *event,
		   const char *name);

/* What a program on a raw event reads in place of a field: an argument, or what it points to. */
struct bpf_place {
	int placeholder; /* FIELD_REASON ...; 0 ends a list */
	int offset;
	int bytes; /* 1, 2, 4, 8; 0: there is none, it reads as 0 */
};

struct bpf_number {
	int placeholder; /* 0 ends a list */
	int number;
};

/*
 * Patches a program on a raw event that is not loaded yet. Placeholders absent from it are ignored.
 * cast: the number of bpf_rdonly_cast() in the BTF of vmlinux, or 0: no code that runs has it.
 * 0 or -EINVAL as above.
 */
int bpf_places_set(struct bpf_program *program, const struct bpf_place *places,
		   const struct bpf_number *numbers, uint32_t cast);

/*
 * Replaces a placeholder by a number, or by the offset of a store. 0, or -EINVAL: the program has
 * no such placeholder.
 */
int bpf_fields_patch_number(struct bpf_insn *insns, size_t nr, int placeholder, int number);
int bpf_fields_patch_offset(struct bpf_insn *insns, size_t nr, int placeholder, int offset);

/* ---- the kernel's BTF */

struct btf;
struct btf_type;

/*
 * A path of members, "stat.generic.exits" or "vmcb->control.exit_code", as far as it was followed.
 * It begins in type, and follows one pointer at most.
 */
struct btf_walk {
	const struct btf *btf;
	const struct btf_type *type; /* where it is */
	uint32_t offset;	     /* there, in the struct that it began in */
	bool has_pointer;
	uint32_t pointer; /* the offset of the one that was followed */
};

/* Follows the path. True: it leads somewhere, at a whole byte. */
bool btf_walk_to_end(struct btf_walk *walk, const char *path);

/* Whether the walk has led to an integer of so many bytes. */
bool btf_walk_is_number(const struct btf_walk *walk, uint32_t bytes);

/* The type behind names and qualifiers, and the type of a name and a kind (BTF_KIND_*); or NULL. */
const struct btf_type *btf_type_of(const struct btf *btf, uint32_t id);
const struct btf_type *btf_find(const struct btf *btf, const char *name, uint32_t kind);

bool btf_is_struct_named(const struct btf *btf, const struct btf_type *type, const char *name);

/* The value of a name in an enum; -1: there is no such name. */
long btf_enum_value(const struct btf *btf, const char *enumeration, const char *name);

/* The function that calls the programs of a raw event: its arguments have names. NULL: none. */
const struct btf_type *btf_find_event(const struct btf *btf, const char *event);

/* The number of its argument of this name, from 0; -1: it has none. */
int btf_event_argument(const struct btf *btf, const struct btf_type *proto, const char *name);

#endif
