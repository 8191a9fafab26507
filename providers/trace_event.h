/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_event - what those who count trace events ask of tracefs, and what they say where it is not
 * there.
 */
#ifndef KVMTOP_PROVIDERS_TRACE_EVENT_H
#define KVMTOP_PROVIDERS_TRACE_EVENT_H

#include <stdint.h>

#include "base/why.h"
#include "host/env.h"

/* The number by which perf_event_open(2) knows the event; they begin at 1. 0 or -errno. */
int trace_event_id(const struct env *env, const char *system, const char *event, uint64_t *ret_id);

/* 0, or -ENOENT with why: tracefs is not mounted. */
int trace_check(const struct env *env, struct why *why);

/* Returns -ENOENT with why: there is no event of KVM. */
int trace_has_no_kvm(const struct env *env, struct why *why);

#endif
