/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * comms - the names of threads in a recording, by their tids.
 */
#ifndef KVMTOP_TRACE_RECORDING_COMMS_H
#define KVMTOP_TRACE_RECORDING_COMMS_H

#include <stddef.h>
#include <stdint.h>

struct comm;

/* Zero-initialised is empty. */
struct comms {
	struct comm *hash;
	size_t nr;
};

void comms_release(struct comms *comms);

/* A thread's latest name, which ends with a NUL or after `size` bytes. */
void comms_set(struct comms *comms, int32_t tid, const char *name, size_t size);

/* Lines of a tid and a name, as in tracefs' saved_cmdlines; other lines are skipped. */
void comms_read(struct comms *comms, const char *text);

/* "" where the name is not known. */
const char *comms_get(const struct comms *comms, int32_t tid);

#endif
