/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run - what all commands that look at a source do: open it, choose the guest, want, loop, print,
 * close.
 *
 * A preset embeds a run as its first member. Signals are blocked, except during a write, and read
 * between two samples.
 */
#ifndef KVMTOP_CMD_RUN_H
#define KVMTOP_CMD_RUN_H

#include <signal.h>
#include <stdbool.h>

#include "lib/error.h"
#include "core/monitor.h"
#include "core/findings/rules.h"
#include "core/views/query.h"
#include "core/views/view.h"
#include "ui/lines/lines.h"
#include "ui/tui/tui.h"
#include "cmd/options.h"
#include "cmd/source.h"

/*
 * ---- query.c: what options ask for, the view, its rows and its order, guests and vCPUs; and the
 * files that options name for it, thresholds and the functions of guests.
 */

/* What a query points to. Zero-initialised is nothing. */
struct query_parts {
	struct pattern *filter;
	struct vcpu_key *only;
	struct thresholds thresholds;
	char *names[KALLSYMS_GUESTS]; /* of symbols */
	struct guest_kallsyms symbols[KALLSYMS_GUESTS];
	size_t nr_symbols;
};

void query_parts_release(struct query_parts *parts);

/*
 * Reads --thresholds, or without it the machine's file, which may be absent, and --guest-kallsyms.
 * Thresholds that no file sets have their defaults. 0, or -errno with error.
 */
int query_read_files(const struct options *options, struct query *query,
		     struct query_parts *parts, struct error *error);

/*
 * Sets view_name where an option stands for a view. -EINVAL with error: --view names another one.
 */
int query_name_view(struct options *options, struct error *error);

/*
 * Reads -f, -x, --view and --sort of `kvmtop`; without the guest. -EINVAL with error: a usage
 * error.
 */
int query_of_options(const struct options *options, struct query *query,
		     struct query_parts *parts, struct error *error);

/* Where exits cannot be timed the screen begins with the events, unless a view was asked for. */
void query_without_times(const struct options *options, struct query *query);

/*
 * Reads -g and -p for a span of a history: all guests that had the name in it. 0, or -errno with
 * error: there is no such guest.
 */
int query_of_span(const struct options *options, const struct guests *guests, struct query *query,
		  struct query_parts *parts, struct error *error);

/*
 * Reads what `kvmtop report` asks for of all of a recording; type: the view. Replaces what the
 * query asked for, except its files. 0, or -errno with error. *ret_is_none: nothing in the
 * recording matches -p.
 */
int query_of_recording(const struct options *options, const struct guests *guests,
		       const struct view_type *type, struct query *query,
		       struct query_parts *parts, bool *ret_is_none, struct error *error);

/* ---- run.c */

#define HEAD_SIZE (GUEST_NAME_SIZE + 64)

/*
 * The guests of -g: all that bear the name since the start, one after the other or at once; or the
 * one of -p. Zero-initialised is none.
 */
struct chosen {
	struct guest_choice choice;
	struct vcpu_key *guests;
	size_t nr, room;
};

/*
 * Chooses by name or, with name NULL, by pid. may_come: there need not be a guest of the name yet.
 * 0, or as guests_choose() with error.
 */
int chosen_init(struct chosen *chosen, const struct guests *guests, const char *name, pid_t pid,
		bool may_come, struct error *error);

/* Adds the guests that bear the name since the latest call, and says so. Whether there are any. */
bool chosen_follow(struct chosen *chosen, const struct guests *guests);

/* Whether one of them runs. */
bool chosen_is_there(const struct chosen *chosen, const struct guests *guests);

/* Makes the query one of the chosen guests, for as long as no guest is added. */
void chosen_ask(const struct chosen *chosen, struct query *query);
void chosen_release(struct chosen *chosen);

/* How a run writes its views. */
struct run_lines {
	struct lines_config config;
	struct lines *lines; /* NULL: not open yet */
	/* What the two sides of --diff are, above a table; "": there is one side. */
	char heads[2][HEAD_SIZE];
	const char *noted; /* the view's note that was printed last */
	bool has_warned;   /* a message said that the filter matches nothing */
};

/* Initialise it by RUN_INIT. */
struct run {
	const struct options *options;
	const char **names; /* of the source */
	struct source *source;
	struct monitor *monitor; /* the source's, or one that plays a part of it */
	struct query query;
	struct query_parts parts; /* of the query */
	struct guest_choice choice; /* of -g and -p: of a screen, and where counts begin anew */
	struct chosen chosen;	    /* the same, of everything else */
	struct view view;
	struct run_lines lines;
	pid_t demo;
	uint64_t elapsed_ns; /* from the first sample to the latest */
	int signals;	     /* a signalfd: INT, TERM, HUP; -1: not yet */
	sigset_t enders;     /* INT and TERM, unless they are ignored */
	int ender;	     /* a descriptor: when it can be read, the loop ends; -1: none */
	int look_ms; /* between two samples the guests are looked at so often; 0: not at all */
	bool to_file; /* lines go to a file, which HUP reopens, not to standard output */
	char warned[MONITOR_NOTICES][sizeof(struct error)]; /* the notices that were printed */
};

#define RUN_INIT(options_) { .options = (options_), .signals = -1, .ender = -1 }

/* How a preset counts. */
struct run_plan {
	struct source_config source; /* what does not follow from the options */
	bool wants_later; /* the preset calls monitor_want() itself */
	/* Chooses what the query asks for; NULL: the guest of -g or -p that is there now. */
	int (*choose)(struct run *run, struct error *error);
};

/* Blocks the signals; WINCH, too, for a screen. 0 or -errno. */
int run_signals(struct run *run, bool to_file, bool has_screen);

/*
 * Reads the query's files, opens the source that the options name, chooses, and wants the query;
 * the caller has set the members of the query that options do not choose. 0, or -errno with error.
 * Call run_close() in any case.
 */
int run_open(struct run *run, const struct run_plan *plan, struct error *error);
int run_choose(struct run *run, struct error *error); /* the guest of -g or -p */

/* Events of this machine stay open: the end of the process closes them, see kvmtop.c. */
void run_close(struct run *run);

/* Waits until all events are open or a signal comes, at most 10 seconds. */
void run_wait_open(const struct run *run);

/*
 * Takes a sample and prints new notices. A guest that has the name of -g since then is added to
 * what the query asks for, unless counts would begin anew. 0, or -errno with error when nothing can
 * be counted.
 */
int run_sample(struct run *run, struct error *error);

/* Whether another guest of the name has no counts yet: events are of one guest at a time. */
bool run_begins_anew(const struct run *run);

/* What ended a wait. */
enum woken { WOKEN_TICK, WOKEN_HANGUP, WOKEN_END };

/*
 * Calls on_wake after each interval, nr times (0: without a limit), until on_wake returns an error
 * or 1, a signal comes, the ender can be read, or the reader of standard output is gone. on_wake is
 * called once more for these. Intervals count from the start: they do not drift. Returns
 * 0, or -errno with error.
 */
int run_loop(struct run *run, double interval_s, unsigned long nr,
	     int (*on_wake)(struct run *run, enum woken woken, struct error *error),
	     struct error *error);

/*
 * Samples for the seconds of the options: when all events are open, and nr times after that, the
 * last time also after a signal. Where counts begin anew for another guest and the chosen one has
 * restarted, the query is of the one that has the name now, and a message says so. 0, or -errno
 * with error.
 */
int run_seconds(struct run *run, unsigned long nr, struct error *error);

/*
 * Between these two calls, INT and TERM interrupt a write, which would otherwise never end when the
 * reader of standard output has stopped reading, and the opening of a FIFO that has no reader.
 */
void run_begin_write(const struct run *run);
void run_end_write(const struct run *run);

/* Shows the screen; the config has what does not follow from the run. */
int run_tui(struct run *run, const struct tui_config *config, struct error *error);

/* ---- print.c: views as lines */

/*
 * Sets run->lines.config: JSON, CSV, a table, or flames, to --output or standard output; or the
 * formats of kvmtop, with columns that follow from the query, which the monitor has wanted.
 */
void run_lines_plain(struct run *run);
void run_lines_top(struct run *run);

/* Opens the output of run->lines.config before the first view. 0, or -errno with error. */
int run_lines_open(struct run *run, struct error *error);

/* Prints the note once, to standard error: programs may read the rows. NULL: there is none. */
void run_note(struct run *run, const char *note);

/* Prints the note of run->view, or, if the query's filter matches no name, a warning of this. */
void run_remark(struct run *run, const char *note);

/*
 * Writes a view with its note. time_ns, elapsed_ns: see lines_write(). 0, also after a signal, or
 * -errno with error.
 */
int run_write(struct run *run, const struct view *view, uint64_t time_ns, uint64_t elapsed_ns,
	      struct error *error);

/* Builds the view of the latest sample, which was taken at time_ns, as kvmtop prints it. */
int run_print(struct run *run, uint64_t time_ns, struct error *error);

/* Closes the output: err, else 0 or -errno with error if not all was written. */
int run_lines_close(struct run *run, int err, struct error *error);

#endif
