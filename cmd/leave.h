/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * leave - ends the program at once although closing its events takes seconds.
 */
#ifndef KVMTOP_CMD_LEAVE_H
#define KVMTOP_CMD_LEAVE_H

/*
 * Ends the process with this status. The kernel waits for RCU whenever the last event of a
 * tracepoint is closed, about 36 ms each. So a child inherits the descriptors and ends after this
 * process: a process that waits for this one need not wait for RCU. All output must have been
 * flushed before. If no child can be created, this process waits for RCU itself.
 */
void leave(int status) __attribute__((noreturn));

#endif
