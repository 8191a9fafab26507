/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live - what the modes without a screen share: signals, the loop of samples, notices.
 *
 * Signals are blocked, except during a write, and read between two samples.
 */
#ifndef KVMTOP_CMD_LIVE_H
#define KVMTOP_CMD_LIVE_H

#include <signal.h>
#include <stdbool.h>

#include "lib/why.h"
#include "core/monitor.h"

struct live {
	int signals;	 /* a signalfd: INT, TERM, HUP; -1: not yet */
	sigset_t enders; /* INT and TERM, unless they are ignored */
	int ender;	 /* a descriptor: when it can be read, the loop ends; -1: none */
	bool to_file;	 /* lines go to a file, which HUP reopens, not to standard output */
	char warned[MONITOR_NOTICES][sizeof(struct why)]; /* the notices that were printed */
};

/* Blocks the signals; WINCH, too, for a screen. ender is -1. 0 or -errno. */
int live_init(struct live *live, bool to_file, bool has_screen);

/* Waits until all events are open or a signal comes, at most 10 seconds. */
void live_wait_open(const struct live *live, struct monitor *monitor);

/* Takes a sample and prints new notices. 0, or -errno with why when nothing can be counted. */
int live_sample(struct live *live, struct monitor *monitor, struct why *why);

/* What ended a wait. */
enum woken { WOKEN_TICK, WOKEN_HANGUP, WOKEN_END };

/*
 * Calls on_wake after each interval, nr times (0: without a limit), until on_wake returns an error
 * or 1, a signal comes, the ender can be read, or the reader of standard output is gone. on_wake is
 * called once more for these. Intervals count from the start: they do not drift. Returns
 * 0, or -errno with why.
 */
int live_loop(struct live *live, double interval_s, unsigned long nr,
	      int (*on_wake)(void *arg, enum woken woken, struct why *why), void *arg,
	      struct why *why);

/*
 * Between these two calls, INT and TERM interrupt a write, which would otherwise never end when the
 * reader of standard output has stopped reading.
 */
void live_begin_write(const struct live *live);
void live_end_write(const struct live *live);

#endif
