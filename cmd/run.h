/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run - what all commands that count do: open the machine, choose a guest, want, loop, close.
 *
 * A preset embeds a run as its first member, and prints what its samples have. Signals are blocked,
 * except during a write, and read between two samples.
 */
#ifndef KVMTOP_CMD_RUN_H
#define KVMTOP_CMD_RUN_H

#include <signal.h>
#include <stdbool.h>

#include "lib/error.h"
#include "cmd/kallsyms.h"
#include "cmd/options.h"
#include "cmd/source.h"
#include "core/monitor.h"
#include "core/findings/thresholds.h"
#include "core/views/query.h"

/* Initialise it by RUN_INIT. */
struct run {
	const struct options *options;
	struct source *source;	 /* the machine */
	struct monitor *monitor; /* the source's */
	struct query query;
	struct guest_choice choice; /* of -g and -p */
	struct thresholds thresholds;
	struct kallsyms_files kallsyms;
	pid_t demo;
	uint64_t elapsed_ns; /* from the first sample to the latest */
	int signals;	     /* a signalfd: INT, TERM, HUP; -1: not yet */
	sigset_t enders;     /* INT and TERM, unless they are ignored */
	int ender;	     /* a descriptor: when it can be read, the loop ends; -1: none */
	bool to_file; /* lines go to a file, which HUP reopens, not to standard output */
	char warned[MONITOR_NOTICES][sizeof(struct error)]; /* the notices that were printed */
};

#define RUN_INIT(options_) { .options = (options_), .signals = -1, .ender = -1 }

/* How a preset counts. */
struct run_plan {
	struct source_config source; /* what does not follow from the options */
	bool wants_later; /* the preset calls monitor_want() itself */
	/* Chooses what the query asks for; NULL: the guest of -g or -p. */
	int (*choose)(struct run *run, struct error *why);
};

/* Blocks the signals; WINCH, too, for a screen. 0 or -errno. */
int run_signals(struct run *run, bool to_file, bool has_screen);

/* Reads thresholds and guests' functions, for the query. 0, or -errno with why. */
int run_files(struct run *run, struct error *why);

/*
 * The same, then opens the machine and wants the query; the caller has set the members of the query
 * that options do not choose. 0, or -errno with why. Call run_close() in any case.
 */
int run_open(struct run *run, const struct run_plan *plan, struct error *why);
int run_choose(struct run *run, struct error *why); /* the guest of -g or -p */
void run_close(struct run *run);

/* Waits until all events are open or a signal comes, at most 10 seconds. */
void run_wait_open(const struct run *run);

/* Takes a sample and prints new notices. 0, or -errno with why when nothing can be counted. */
int run_sample(struct run *run, struct error *why);

/* What ended a wait. */
enum woken { WOKEN_TICK, WOKEN_HANGUP, WOKEN_END };

/*
 * Calls on_wake after each interval, nr times (0: without a limit), until on_wake returns an error
 * or 1, a signal comes, the ender can be read, or the reader of standard output is gone. on_wake is
 * called once more for these. Intervals count from the start: they do not drift. Returns
 * 0, or -errno with why.
 */
int run_loop(struct run *run, double interval_s, unsigned long nr,
	     int (*on_wake)(struct run *run, enum woken woken, struct error *why),
	     struct error *why);

/*
 * Between these two calls, INT and TERM interrupt a write, which would otherwise never end when the
 * reader of standard output has stopped reading.
 */
void run_begin_write(const struct run *run);
void run_end_write(const struct run *run);

#endif
