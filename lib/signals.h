/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * signals - what the signals of the program mean before a command says more.
 */
#ifndef KVMTOP_LIB_SIGNALS_H
#define KVMTOP_LIB_SIGNALS_H

#include <stdbool.h>

/*
 * A write into a pipe without a reader or beyond `ulimit -f` fails with EPIPE or EFBIG, as one to a
 * full disk fails with ENOSPC, and no signal ends the program. To be called first in main(). A
 * program that is executed gets SIGPIPE and SIGXFSZ as they were.
 */
void signals_init(void);

/* A signal that was ignored when the program started stays ignored, as nohup(1) needs it. */
bool signal_is_ignored(int signal);

#endif
