/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_dat - writes what was recorded as a trace.dat of version 6, which every trace-cmd and
 * KernelShark can open. Source: trace-cmd.dat.v6(5).
 *
 * No symbols are put into it: no KVM event needs them, and they are most of a small file.
 */
#ifndef KVMTOP_TRACE_RECORD_DAT_H
#define KVMTOP_TRACE_RECORD_DAT_H

#include "trace/record_guests.h"
#include "trace/record_ring.h"
#include "why.h"

/* Writes the file at its beginning; fd is a plain file. Returns 0, or -errno with why. */
int dat_write(const struct ring *ring, const struct recorded_guests *guests, int fd,
	      struct why *why);

#endif
