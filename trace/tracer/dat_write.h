/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dat_write - writes the recording as a trace.dat of version 6, which every trace-cmd and
 * KernelShark can open. Source: trace-cmd.dat.v6(5).
 *
 * The file has no kernel symbols: no KVM event needs them, and they would be most of a small file.
 */
#ifndef KVMTOP_TRACE_TRACER_DAT_WRITE_H
#define KVMTOP_TRACE_TRACER_DAT_WRITE_H

#include "lib/error.h"
#include "trace/tracer/guest_log.h"
#include "trace/tracer/ring.h"

/*
 * Writes the file; fd is a regular file. The ring's pages are moved into it, and ring_bytes() is
 * then how many bytes of pages the file has. Returns 0 and sets *ret_given_up: 0, or the
 * -errno for which the newest pages were left out; or returns -errno with why: there is no file.
 */
int dat_write(struct ring *ring, const struct guest_log *log, int fd, int *ret_given_up,
	      struct error *why);

#endif
