/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vmms - how long the other threads of VMMs ran: the main thread, I/O threads, vhost.
 *
 * Threads of one name are one row: a VMM starts and ends workers all the time. A number of three
 * digits or more at the end of a name, such as a pid, is left out of the name. The threads of
 * HOST_VMMS_TURN guests are listed in a sample, one guest after the other. From 6.4 on vhost's
 * threads are the VMM's own; kernel threads, as vhost's were before, are not found.
 */
#ifndef KVMTOP_PROVIDERS_HOST_VMMS_H
#define KVMTOP_PROVIDERS_HOST_VMMS_H

#include "core/facts/host_fields.h"
#include "core/facts/sample.h"
#include "core/guests/guests.h"
#include "host/env.h"

#define HOST_VMMS_TURN 8

struct host_vmms;

/* All arguments outlive it. */
struct host_vmms *host_vmms_new(const struct env *env, const struct guests *guests,
				const struct host_fields *fields);
void host_vmms_free(struct host_vmms *vmms);

/* Reads, and adds rows. */
void host_vmms_collect(struct host_vmms *vmms, struct sample *sample);

#endif
