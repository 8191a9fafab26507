/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * providers - the providers, and what several of them share: the meaning of the names of KVM's own
 * counters, and trace events in tracefs. cmd/source.c has the list.
 */
#ifndef KVMTOP_PROVIDERS_PROVIDERS_H
#define KVMTOP_PROVIDERS_PROVIDERS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/error.h"
#include "core/facts/field.h"
#include "core/provider.h"
#include "host/env.h"

struct split;
struct reasons;

#define PROVIDER_DECLARE(number, live, captured) extern const struct provider live##_provider;

PROVIDER_LIST(PROVIDER_DECLARE)

/* A build without BPF says so, too, for the providers that need it (tracepoint/no_bpf.c). */
#define ABOUT_ACCOUNT \
	.name = "account", \
	.help = "KVM's own counters by vCPU, read by BPF; of every VMM, under lockdown, too", \
	.is_always_by_guest = true, .instead_of = &debugfs_provider
#define ABOUT_INVENTORY \
	.name = "inventory", \
	.help = "the guests, their vCPUs and threads as the kernel has them, read by BPF", \
	.is_always_by_guest = true, .instead_of = &account_provider
#define ABOUT_COST \
	.name = "cost", \
	.help = "what kvmtop's own BPF programs take of an exit, by the kernel's run counts", \
	.is_always_by_guest = true
#define ABOUT_WHO \
	.name = "who", \
	.help = "what has the CPU while vCPUs wait for one, by BPF at the scheduler's events", \
	.is_always_by_guest = true
#define ABOUT_EXITS \
	.name = "exits", \
	.help = "VM exits by guest, vCPU and reason, with their time, counted by BPF", \
	.is_always_by_guest = true, .is_of_exits = true

/* For a captured machine, instead of the live providers with these names. */
extern const struct provider captured_tracepoint_provider;
extern const struct provider captured_exits_provider;
extern const struct provider captured_host_provider;
extern const struct provider captured_account_provider;

/*
 * ---- KVM's own counters
 *
 * Source: virt/kvm/kvm_main.c and the tables of each architecture. debugfs has a file and the
 * binary statistics have a descriptor for each counter, with the same names.
 */

/* Whether the counter is a part of another one, which is added first. */
bool kvm_counter_is_child(const struct env *env, const char *name);

/*
 * Adds the field of a counter. kind: the kernel's, for counters with a name that does not tell;
 * part: EVENT_BY_VCPU or 0. *ret_field is FIELD_NONE if the counter is not shown, or its name
 * belongs to another provider. Times are not shown: in ns they would be much larger than the counts
 * beside them.
 */
void kvm_counter_add(const struct provider_args *args, const char *name, enum field_kind kind,
		     unsigned int part, uint32_t *ret_field);

/* A level or peak that is printed as unsigned: 0 if it is negative. */
uint64_t kvm_counter_level(uint64_t value);

/* ---- trace events, in tracefs (env->tracefs) */

/* The event's number for perf_event_open(2), at least 1. 0 or -errno. */
int trace_event_id(const struct env *env, const char *system, const char *event, uint64_t *ret_id);

/* Whether there is the event, and the text of its format file, for free(); NULL: none. */
bool trace_event_exists(const struct env *env, const char *system, const char *event);
char *trace_event_format(const struct env *env, const char *system, const char *event);

/* The reasons of the split in this kernel's spelling, for reasons_release(). */
void trace_reasons(const struct env *env, const struct split *split, struct reasons *ret);

/* 0, or -ENOENT with error: tracefs is not mounted. */
int trace_check(const struct env *env, struct error *error);

/* 0, or -EPERM with error: the kernel's lockdown forbids to read trace events. */
int trace_check_lockdown(const struct env *env, struct error *error);

bool kvm_is_loaded(const struct env *env);

/* Whether KVM is there, and its trace events are not: error says why. */
bool trace_lacks_kvm(const struct env *env, struct error *error);

/*
 * Why there is no event of KVM. unread_err: why one that is there could not be read; 0: there is
 * none. Returns -errno with error; -ENOENT: the module is not loaded; -ENODATA: it is.
 */
int trace_why_none(const struct env *env, int unread_err, struct error *error);

#endif
