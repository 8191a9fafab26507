/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live - what the modes without a screen share: signals, the timer, the monitor's notices.
 *
 * Signals are blocked but while something is written, and read between two samples.
 */
#ifndef KVMTOP_CMD_LIVE_H
#define KVMTOP_CMD_LIVE_H

#include <signal.h>
#include <stdbool.h>

#include "base/why.h"
#include "monitor.h"

struct live {
	int signals;	 /* a signalfd: INT, TERM, HUP; -1: not yet */
	sigset_t enders; /* those of INT and TERM that are not ignored */
	bool to_file;	 /* what is written goes to a file: HUP reopens it, nobody reads along */
	char warned[MONITOR_NOTICES][sizeof(struct why)]; /* the notices that were printed */
};

/* Blocks the signals; WINCH, too, for a screen. 0 or -errno. */
int live_init(struct live *live, bool to_file, bool has_screen);

/* Says each of the monitor's notices once, when it is new. */
void live_warn(struct live *live, const struct monitor *monitor);

/* Waits until all events are open; not for ever, and a signal makes it pointless. */
void live_wait_open(const struct live *live, struct monitor *monitor);

/* A timer that does not drift: it counts from its start, however long the work takes. < 0: none. */
int live_timer(double seconds);

/* What ended a wait. */
enum woken { WOKEN_TICK, WOKEN_HANGUP, WOKEN_END };

/* Waits for the timer, a signal, or the reader of standard output to go away. */
enum woken live_wait(const struct live *live, int timer);

/*
 * INT and TERM end a write between these two: a reader of standard output that has stopped reading
 * would keep us in it for ever.
 */
void live_begin_write(const struct live *live);
void live_end_write(const struct live *live);
bool live_is_interrupted(void);

#endif
