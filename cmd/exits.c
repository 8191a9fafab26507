// SPDX-License-Identifier: GPL-2.0-or-later
/* `kvmtop exits`: counts for a while, then prints totals by thread and reason. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/arch.h"
#include "lib/clock.h"
#include "lib/units.h"
#include "lib/process.h"
#include "lib/xalloc.h"
#include "cmd/command.h"
#include "cmd/options.h"
#include "cmd/run.h"
#include "core/monitor.h"
#include "core/provider.h"
#include "ui/lines/lines.h"
#include "ui/numbers.h"
#include "core/views/query.h"
#include "core/views/view.h"

#define DURATION_MAX_S 1e9
#define INTERVAL_S 1.0 /* when a guest ends, its exits since the last sample are lost */

struct exits_run {
	struct run run; /* the first member */
	struct child child;
	struct chosen other; /* the guests of --diff; the ones of -p or -g are the run's */
	/* Of --diff: that of it, then that of -p or -g; without their vCPUs. */
	struct guest compared[2];
	bool has_said_end; /* that no guest of the name runs; a next one may come */
	/* The line that is printed when all counted guests have ended. */
	char over[2 * GUEST_NAME_SIZE + 80];
	bool has_written, has_noted, has_rows;
};

/* ---- the guests and threads that are counted */

/* Chooses what has a row, and the vCPU of -v, in the guest of -p or -g. -EINVAL: usage. */
static int choose_rows(struct exits_run *run, const struct guests *guests, struct error *error)
{
	const struct options *options = run->run.options;
	const struct guest *guest = guests_by_id(guests, run->run.chosen.choice.id);

	if (guest)
		snprintf(run->over, sizeof(run->over), "guest %s (pid %d) has ended",
			 guest->name, (int)guest->pid);
	if (!options->all && !options->has_vcpu && !options->by)
		run->run.query.groups = GROUP_GUEST | GROUP_REASON;
	if (!options->has_vcpu)
		return 0;
	if (guest && !guest_vcpu(guest, (int32_t)options->vcpu))
		return error_set(error, -EINVAL, "guest %s (pid %d) has no vCPU %d: kvmtop exits "
				 "-a -p %d lists the ones that it has", guest->name,
				 (int)guest->pid, (int)options->vcpu, (int)guest->pid);
	run->run.query.has_vcpu = true;
	run->run.query.vcpu = (int32_t)options->vcpu;
	return 0;
}

/* Finds the guest of --diff, by name or by pid: a name may be a number. */
static int choose_other(struct exits_run *run, const struct guests *guests, struct error *error)
{
	const char *text = run->run.options->other;
	char *end;
	long pid = strtol(text, &end, 10);
	bool is_pid = end > text && !*end && pid > 0 && pid <= INT_MAX &&
		      guests_by_pid(guests, (pid_t)pid);
	const struct guest *other, *guest = guests_by_id(guests, run->run.query.guest);
	int err = chosen_init(&run->other, guests, is_pid ? NULL : text, (pid_t)pid, false, error);

	if (err)
		return guests_advise(err, error, "name its pid");
	other = guests_by_id(guests, run->other.choice.id);
	if (other == guest)
		return error_set(error, -EINVAL,
				 "--diff %s is the guest of -p or -g: name another one", text);
	run->compared[0] = *other;
	run->compared[1] = *guest;
	for (int i = 0; i < 2; i++)
		run->compared[i].vcpus = NULL;
	snprintf(run->over, sizeof(run->over), "guest %s (pid %d) and guest %s (pid %d) have ended",
		 guest->name, (int)guest->pid, other->name, (int)other->pid);
	run->run.query.guest = GUEST_ALL;
	return 0;
}

/* Adds a thread of -t or -T. */
static int choose_thread(struct exits_run *run, const struct guests *guests, pid_t tid,
			 struct error *error)
{
	const struct guest *guest = guests_by_pid(guests, tid);
	const struct vcpu *vcpu = guest_vcpu_by_tid(guest, tid);

	if (vcpu) {
		run->run.parts.only[run->run.query.nr_only++] =
			(struct vcpu_key){ guest->id, vcpu->index };
		return 0;
	}
	if (guest)
		return error_set(error, -EINVAL, "thread %d of guest %s (pid %d) runs no vCPU: "
				 "kvmtop exits -a -p %d lists the threads that do", (int)tid,
				 guest->name, (int)guest->pid, (int)guest->pid);
	return error_set(error, -ESRCH, "no KVM guest has a thread %d; kvmtop --list-guests lists "
			 "the guests", (int)tid);
}

static int choose(struct run *base, struct error *error)
{
	struct exits_run *run = (struct exits_run *)base;
	const struct options *options = run->run.options;
	const struct guests *guests = monitor_facts(run->run.monitor)->guests;
	int err = run_choose(base, error);

	if (!err && (options->pid || options->guest)) {
		err = choose_rows(run, guests, error);
		return err || !options->other ? err : choose_other(run, guests, error);
	}
	snprintf(run->over, sizeof(run->over), "the guests of these threads have ended");
	run->run.query.only = run->run.parts.only =
		xcalloc(options->nr_only + 1, sizeof(*run->run.parts.only));
	for (size_t i = 0; !err && i < options->nr_only; i++)
		err = choose_thread(run, guests, options->only[i], error);
	return err;
}

/* ---- counting */

static void set_query(struct exits_run *run)
{
	const struct options *options = run->run.options;
	struct query *query = &run->run.query;

	query->groups = options->by ? options->groups : GROUP_ALL;
	query->type = options->view;
	query->sort = options->column;
	query->event = options->event;
	query->longer_ns = options->longer_ns;
	query->has_halts = options->halts;
	query->has_arguments = options->arguments;
	query->is_latest = query->reverse = options->longer_ns; /* the oldest first */
}

/* The command waits until counting has begun; its end ends the loop. */
static int prepare_command(struct exits_run *run, const sigset_t *mask, struct error *error)
{
	int err = child_new(&run->child, run->run.options->command, mask, error);

	if (err)
		return err;
	run->run.ender = (int)syscall(SYS_pidfd_open, run->child.pid, 0);
	return run->run.ender < 0 ? -errno : 0;
}

static int begin(struct exits_run *run, struct error *error)
{
	const struct run_plan plan = {
		.source.monitor.providers = 1U << PROVIDER_EXITS,
		.choose = choose,
	};
	sigset_t mask;
	int err;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	err = run_signals(&run->run, run->run.options->output, false);
	if (!err && run->run.options->command)
		err = prepare_command(run, &mask, error);
	set_query(run);
	return err ? err : run_open(&run->run, &plan, error);
}

/* Whether the guests of -p and --diff, or all guests of -t and -T, have ended. */
static bool is_over(const struct exits_run *run)
{
	const struct guests *guests = monitor_facts(run->run.monitor)->guests;
	const struct chosen *chosen = &run->run.chosen, *other = &run->other;
	const struct query *query = &run->run.query;

	/* Counting ends with the command, not with a guest; another guest may get the name. */
	if (run->run.options->command || chosen->choice.word[0] || other->choice.word[0])
		return false;
	if (chosen->nr)
		return !chosen_is_there(chosen, guests) && !chosen_is_there(other, guests);
	for (size_t i = 0; i < query->nr_only; i++) {
		if (guests_by_id(guests, query->only[i].guest))
			return false;
	}
	return query->nr_only;
}

/* ---- printing */

static void configure_lines(struct exits_run *run)
{
	struct run_lines *lines = &run->run.lines;

	run_lines_plain(&run->run);
	lines->config.goes_on = run->run.query.longer_ns;
	if (!run->run.options->other)
		return;
	lines->config.side[0].guest = &run->compared[1];
	lines->config.side[1].guest = &run->compared[0];
	for (int i = 0; i < 2; i++)
		snprintf(lines->heads[i], sizeof(lines->heads[i]), "%s (pid %d)",
			 run->compared[i].name, (int)run->compared[i].pid);
}

static int write_view(struct exits_run *run, const struct view *view, struct error *error)
{
	run_note(&run->run, view_remark(view));
	run->has_noted |= view_remark(view) != NULL;
	run->has_written = true;
	return run_write(&run->run, view, clock_real_ns(), run->run.elapsed_ns, error);
}

static int print_diff(struct exits_run *run, struct error *error)
{
	struct view views[2] = { { .nr_rows = 0 }, { .nr_rows = 0 } }, both = { .nr_rows = 0 };
	struct query query = run->run.query;
	struct view_side sides[2];
	int err;

	query.groups = GROUP_REASON;
	for (int i = 0; i < 2; i++) {
		chosen_ask(i ? &run->run.chosen : &run->other, &query);
		view_build(&views[i], &query, monitor_facts(run->run.monitor));
		sides[i] = (struct view_side){ .view = &views[i], .span = run->run.elapsed_ns };
	}
	err = view_diff(sides, &both, error);
	if (!err)
		err = write_view(run, &both, error);
	view_release(&both);
	view_release(&views[0]);
	view_release(&views[1]);
	return err;
}

static int print(struct exits_run *run, struct error *error)
{
	run->run.query.since_ns = run->run.elapsed_ns;
	if (run->run.options->other)
		return print_diff(run, error);
	view_build(&run->run.view, &run->run.query, monitor_facts(run->run.monitor));
	return write_view(run, &run->run.view, error);
}

/* The long exits of the latest interval. CSV has headings even if there are none. */
static int print_long(struct exits_run *run, struct error *error)
{
	view_build(&run->run.view, &run->run.query, monitor_facts(run->run.monitor));
	run->has_rows |= run->run.view.nr_rows > 0;
	if (!run->run.view.nr_rows && !(run->run.options->csv && !run->has_written))
		return 0;
	return write_view(run, &run->run.view, error);
}

/* Says that no exit was longer, or why none could be listed. */
static void say_end_of_long(struct exits_run *run)
{
	char longer[32];

	run_note(&run->run, view_remark(&run->run.view));
	if (run->has_rows || run->has_noted || view_remark(&run->run.view))
		return;
	format_duration(longer, sizeof(longer), run->run.query.longer_ns);
	fprintf(stderr, "kvmtop: no exit took longer than %s\n", longer);
}

/* ---- samples */

/* Says once that the guest of a name has ended, and that this is not the end. */
static void say_ended(struct exits_run *run, const struct guests *guests)
{
	const struct chosen *chosen = &run->run.chosen;
	bool has_ended = chosen->choice.word[0] && chosen->nr && !chosen_is_there(chosen, guests);

	if (has_ended && !run->has_said_end && !run->run.options->command)
		fprintf(stderr,
			"kvmtop: %s has ended; a guest that gets the name is counted, too\n",
			chosen->choice.word);
	run->has_said_end = has_ended;
}

static int take_sample(struct run *base, enum woken woken, struct error *error)
{
	struct exits_run *run = (struct exits_run *)base;
	int err = run_sample(base, error);
	const struct guests *guests = monitor_facts(base->monitor)->guests;

	(void)woken; /* the last sample is taken at the end, also after a signal */
	say_ended(run, guests);
	(void)chosen_follow(&run->other, guests);
	if (!err && run->run.query.longer_ns)
		err = print_long(run, error);
	if (err || !is_over(run))
		return err;
	say(run->over);
	return 1;
}

static int count(struct exits_run *run, struct error *error)
{
	double duration_s = run->run.options->duration_s, interval_s = INTERVAL_S;
	unsigned long nr = 0;
	int err;

	if (duration_s > 0) {
		nr = (unsigned long)(duration_s / INTERVAL_S);
		nr += (double)nr * INTERVAL_S < duration_s;
		interval_s = duration_s / (double)nr;
	} else if (isatty(STDERR_FILENO) && !run->run.options->command) {
		fputs("Counting. Ctrl-C ends it.\n", stderr);
	}
	run_wait_open(&run->run);
	err = take_sample(&run->run, WOKEN_TICK, error);
	if (!err && run->run.options->command)
		err = child_begin(&run->child, run->run.options->command, error);
	if (err)
		return err > 0 ? 0 : err;
	err = run_loop(&run->run, interval_s, nr, take_sample, error);
	if (err || monitor_is_ready(run->run.monitor))
		return err;
	if (isatty(STDERR_FILENO))
		fputs("Reading the names of guests' functions. Ctrl-C ends it.\n", stderr);
	run_wait_open(&run->run); /* until then long exits wait */
	err = take_sample(&run->run, WOKEN_TICK, error);
	return err > 0 ? 0 : err;
}

/* ---- the command line */

/* SECONDS, or "-- COMMAND"; but "-- 0.5" is a time. */
static int read_words(struct options *options, struct error *error)
{
	char **words = options->words;

	if (!options->nr_words)
		return 0;
	if (strcmp(words[-1], "--") == 0 &&
	    (options->nr_words > 1 || !options_is_number(words[0]))) {
		options->command = words;
		return 0;
	}
	if (options->nr_words > 1 && options_is_number(words[0]))
		return error_set(error, -EINVAL, "unexpected argument \"%s\"", words[1]);
	return seconds_parse(words[0], DELAY_MIN_S, DURATION_MAX_S, &options->duration_s, error);
}

static int understand(struct options *options, struct error *error)
{
	int err = read_words(options, error);

	options->view = options->longer_ns ? &view_long_exits : &view_exits;
	options->column = view_default_sort(options->view);
	if (options->tid)
		options->only[options->nr_only++] = options->tid;
	if (err || options->longer_ns)
		return err;
	return view_column_find(options->view, options->sort ? options->sort : "total", false,
				&options->column, error);
}

static int run_exits(struct options *options)
{
	struct exits_run run = { .run = RUN_INIT(options) };
	struct error error = { "" };
	int err;

	child_init(&run.child);
	err = begin(&run, &error);
	if (err == -EINVAL && run.run.monitor)
		return say_usage("exits", &error);
	configure_lines(&run);
	if (!err && run.run.query.longer_ns) /* it is written to while it counts */
		err = run_lines_open(&run.run, &error);
	if (!err)
		err = count(&run, &error);
	if (!err && options->guest && !run.run.chosen.nr)
		err = error_set(&error, -ENOENT, "no guest named \"%s\" began", options->guest);
	else if (!err && !run.run.query.longer_ns)
		err = print(&run, &error);
	else if (!err)
		say_end_of_long(&run);
	err = run_lines_close(&run.run, err, &error);
	if (err == -EPIPE)
		err = 0;
	child_has_ended(&run.child);
	chosen_release(&run.other);
	child_release(&run.child);
	run_close(&run.run);
	return err ? say_failure(err, &error) : run.child.status;
}

const struct command exits_command = {
	.name = "exits",
	.help = "count and time VM exits by thread and reason",
	.usage = "Usage: kvmtop exits [OPTION]... [SECONDS | -- COMMAND [ARGUMENT]...]\n"
		 "Counts and times VM exits by thread and reason, for SECONDS, while COMMAND\n"
		 "runs, until Ctrl-C, or until the guest of -p, -t or -T ends.\n",
	.footer = "Exit status: 0 done, 1 failure, 2 usage, or COMMAND's. More: man kvmtop-exits\n",
	.command = { .works = MODE_EXITS },
	.understand = understand,
	.run = run_exits,
};
