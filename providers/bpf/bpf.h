/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf - what our BPF programs need of this kernel.
 */
#ifndef KVMTOP_PROVIDERS_BPF_BPF_H
#define KVMTOP_PROVIDERS_BPF_BPF_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"
#include "host/env.h"

/*
 * Whether we may run programs on trace events, the kernel has BTF of KVM, and we are in the pid
 * namespace of their tids (host/machine.h); leaves nothing open. 0, or -errno with error.
 */
int bpf_probe(const struct env *env, struct error *error);

/*
 * For programs that run in exits, which need more: the kernel must translate them to machine code
 * (JIT). Else it gives them none of its functions, and guests would wait for an interpreter.
 */
int bpf_probe_exits(const struct env *env, struct error *error);

/* The same for programs that read nothing of KVM's: there need be no BTF. */
int bpf_probe_counters(const struct env *env, struct error *error);

/* False: /proc/sys says that BPF is interpreted, as Debian's kernel for RISC-V does by default. */
bool bpf_has_jit(const struct env *env);

/* Keeps libbpf from printing. */
void bpf_be_quiet(void);

/* The memory of a map's entries, to read and write. NULL with errno. */
void *bpf_memory(int map, size_t size);

/*
 * Adds an array of nr entries, with the types of `like`, as entry `at` of chunks, an array of maps.
 * Programs that run see it from now on. 0 with its memory, or -errno.
 */
int bpf_add_chunk(const struct bpf_object *object, const struct bpf_map *chunks, uint32_t at,
		  const struct bpf_map *like, uint32_t nr, void **ret_memory);

/*
 * How often the kernel did not run the program at its event: on that CPU the program was at work
 * already or, if it is on a trace event, any program on one, or a system call on any map of BPF.
 * Available from Linux 5.12 on, of trace events from 6.7 on; before that 0.
 */
uint64_t bpf_missed(int program);

#endif
