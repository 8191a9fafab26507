/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stale - ends recordings of a `kvmtop record` that was killed: its instance of tracefs goes on
 * tracing, and costs the host time, until it is removed.
 */
#ifndef KVMTOP_CMD_STALE_H
#define KVMTOP_CMD_STALE_H

/*
 * Removes such instances, and prints a line for each. It needs root: for others nothing happens. An
 * instance is called kvmtop-PID (trace/tracer/ring.h).
 */
void stale_end(void);

#endif
