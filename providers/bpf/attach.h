/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attach - whether BPF may be used here, and how a program is attached to its trace event.
 */
#ifndef KVMTOP_PROVIDERS_BPF_ATTACH_H
#define KVMTOP_PROVIDERS_BPF_ATTACH_H

#include <stdint.h>

#include "lib/why.h"
#include "host/env.h"

/*
 * Whether we may run programs on trace events, and are in the pid namespace of their tids
 * (host/machine.h); leaves nothing open. 0, or -errno with why.
 */
int bpf_probe(const struct env *env, struct why *why);

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

#endif
