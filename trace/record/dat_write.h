/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dat_write - writes what was recorded as a trace.dat of version 6, which every trace-cmd and
 * KernelShark can open. Source: trace-cmd.dat.v6(5).
 *
 * No symbols are put into it: no KVM event needs them, and they are most of a small file.
 */
#ifndef KVMTOP_TRACE_RECORD_DAT_WRITE_H
#define KVMTOP_TRACE_RECORD_DAT_WRITE_H

#include "base/why.h"
#include "trace/record/guest_log.h"
#include "trace/record/ring.h"

/*
 * Writes the file; fd is a plain one. The pages are taken from the ring, which says afterwards how
 * many of them there are in the file. Returns 0, with *ret_given_up the -errno for which the newest
 * ones had to be left out, or 0; or -errno with why: there is no file.
 */
int dat_write(struct ring *ring, const struct recorded_guests *guests, int fd, int *ret_given_up,
	      struct why *why);

#endif
