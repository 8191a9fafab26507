/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_event - the id of a trace event in tracefs, and the errors where tracefs or KVM is missing.
 */
#ifndef KVMTOP_PROVIDERS_TRACE_EVENT_H
#define KVMTOP_PROVIDERS_TRACE_EVENT_H

#include <stdint.h>

#include "lib/why.h"
#include "host/env.h"

/* The event's number for perf_event_open(2), at least 1. 0 or -errno. */
int trace_event_id(const struct env *env, const char *system, const char *event, uint64_t *ret_id);

/* 0, or -ENOENT with why: tracefs is not mounted. */
int trace_check(const struct env *env, struct why *why);

/* 0, or -EPERM with why: the kernel's lockdown forbids to read trace events. */
int trace_check_lockdown(const struct env *env, struct why *why);

/*
 * Why there is no event of KVM. unread_err: why one that is there could not be read; 0: there is
 * none. Returns -errno with why; -ENOENT: the module is not loaded.
 */
int trace_why_none(const struct env *env, int unread_err, struct why *why);

#endif
