// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the options, records in a loop, and says what was recorded. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/units.h"
#include "lib/output.h"
#include "lib/process.h"
#include "lib/xalloc.h"
#include "cmd/command.h"
#include "cmd/options.h"
#include "core/guests/guests.h"
#include "host/machine.h"
#include "host/env.h"
#include "host/guest_proc.h"
#include "providers/providers.h"
#include "trace/recording/trace.h"
#include "trace/tracer/tracer.h"

#define THREADS_MAX 65536
#define SECONDS_MAX 1e9
#define DRAIN_MS 100	/* at the latest; a ring wakes us before it is full */
#define LOOK_MS 500	/* between two looks at losses and guests */

struct record_run {
	const struct options *options;
	char **command; /* NULL: none */
	uint64_t end_ns; /* 0: no time was given */
	struct env env;
	bool has_other_pids; /* the kernel's pids are not ours: no guest can be found */
	struct guest_log guest_log;
	struct guest_choice choice; /* of -g or -p */
	struct thread_log thread_log;
	pid_t *tids;
	size_t nr_tids;
	bool has_guest; /* the guest of -g or -p was there, at the start or later */
	struct ring *ring;
	struct output target; /* of the output */
	int output;
	bool is_new; /* this run made the file */
	sigset_t old_mask; /* of signals, which the command gets */
	int signals;
	struct child child;
	pid_t command_pid; /* also when the command has ended; 0: none */
	int cut; /* 0, or -errno: why the recording ended early, or lost its newest events */
	bool is_on_terminal;
};

/* ---- the guest ---- */

/* Adds the threads of a process to the threads that are recorded. */
static int add_tids(struct record_run *run, pid_t pid)
{
	struct pid_list tids = { 0 };
	int err = proc_threads(&run->env, pid, &tids);

	if (!run->tids)
		run->tids = xcalloc(THREADS_MAX, sizeof(*run->tids));
	for (size_t i = 0; !err && i < tids.nr && run->nr_tids < THREADS_MAX; i++)
		run->tids[run->nr_tids++] = tids.pids[i];
	pid_list_release(&tids);
	return err;
}

/* The kernel has no filter for guests: without the threads, all switches would be recorded. */
static int add_all_tids(struct record_run *run, struct error *error)
{
	for (size_t i = 0; i < run->guest_log.nr; i++) {
		int err = add_tids(run, run->guest_log.list[i].pid);

		if (err && err != -ESRCH)
			return err;
	}
	return run->nr_tids || run->command ?
		       0 : error_set(error, -ESRCH, "--sched: no guest runs; start it first");
}

/* In a container: events and filters have pids that are not in /proc there. */
static int check_pids(struct record_run *run, struct error *error)
{
	const struct options *options = run->options;
	struct error reason = { "" };
	int err = pid_namespace_check(&run->env, "tracefs", &reason);

	run->has_other_pids = err;
	if (!err)
		return 0;
	if (options->guest || options->pid || options->ring.sched)
		return error_set(error, err, "%s finds no guest here: %s", options->guest ? "-g" :
				 options->pid ? "-p" : "--sched", reason.text);
	fprintf(stderr, "kvmtop: the file will not say which guest an event is of: %s\n",
		reason.text);
	return 0;
}

/* Guests come and go while it records. */
static int look_at_guests(struct record_run *run, struct error *error)
{
	return run->has_other_pids ? 0 : guest_log_refresh(&run->guest_log, error);
}

static int find_guests(struct record_run *run, struct error *error)
{
	const struct options *options = run->options;
	int err;

	run->guest_log.inventory = guests_new(&run->env);
	err = check_pids(run, error);
	if (!err)
		err = look_at_guests(run, error);
	if (err)
		return err;
	if (!options->guest && !options->pid)
		return options->ring.sched ? add_all_tids(run, error) : 0;
	err = guests_advise(guest_choice_begin(&run->choice, options->guest, options->pid,
					       run->guest_log.inventory, error), error,
			    "use -p PID");
	if (err == -ENOENT && options->guest && options->command) /* which may begin it */
		return 0;
	run->has_guest = !err;
	return err ? err : add_tids(run, guests_by_id(run->guest_log.inventory,
						      run->choice.id)->pid);
}

/* Another guest may get the name while it records. */
static int follow_guest(struct record_run *run, struct error *error)
{
	const struct guest *guest;
	struct error news = { "" };
	int err = 0;

	while (!err && run->options->guest &&
	       (guest = guest_choice_next(&run->choice, run->guest_log.inventory))) {
		run->has_guest = true;
		run->nr_tids = 0;
		if (add_tids(run, guest->pid) < 0) /* it has ended already */
			continue;
		err = ring_add_tids(run->ring, run->tids, run->nr_tids, error);
		error_set(&news, 0, "%s runs as pid %d", guest->name, (int)guest->pid);
		say(news.text);
	}
	return err;
}

/* ---- the loop ---- */

static int signals_block(struct record_run *run)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT); /* the kernel would go on to record */
	sigaddset(&set, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &set, &run->old_mask) < 0)
		return -errno;
	run->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return run->signals < 0 ? -errno : 0;
}

/* Whether a signal, the end of the command or the time given ends the recording. */
static bool has_ended(struct record_run *run)
{
	struct signalfd_siginfo info;

	while (read(run->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGCHLD)
			return true;
		if (child_has_ended(&run->child))
			return true;
	}
	return run->end_ns && clock_now_ns() >= run->end_ns;
}

static double mib(const struct ring *ring)
{
	return (double)ring_bytes(ring) / (1 << 20);
}

static void print_progress(const struct record_run *run)
{
	struct ring_counts counts;
	char line[80];

	if (!run->is_on_terminal)
		return;
	ring_count(run->ring, &counts);
	snprintf(line, sizeof(line), "recording: %.1f MiB, %" PRIu64 " events lost",
		 mib(run->ring), counts.lost);
	progress_line(line);
}

static int wait_ms(const struct record_run *run)
{
	uint64_t now = clock_now_ns(), left;

	if (!run->end_ns)
		return DRAIN_MS;
	left = run->end_ns > now ? (run->end_ns - now) / 1000000 + 1 : 0;
	return left < DRAIN_MS ? (int)left : DRAIN_MS;
}

static int record_loop(struct record_run *run, struct error *error)
{
	uint64_t next_ns = 0, look_ms = run->options->guest ? DRAIN_MS : LOOK_MS;
	size_t nr = run->ring->nr_cpus;
	struct pollfd *fds = xcalloc(nr + 1, sizeof(*fds));
	int err = 0;

	for (size_t i = 0; i < nr; i++)
		fds[i] = (struct pollfd){ .fd = run->ring->raw[i], .events = POLLIN };
	fds[nr] = (struct pollfd){ .fd = run->signals, .events = POLLIN };
	while (!err && !has_ended(run)) {
		poll(fds, nr + 1, wait_ms(run));
		err = ring_drain(run->ring, error);
		thread_log_drain(&run->thread_log);
		if (clock_now_ns() >= next_ns) {
			print_progress(run);
			look_at_guests(run, NULL); /* names only */
			if (!err)
				err = follow_guest(run, error);
			next_ns = clock_now_ns() + look_ms * 1000000ull;
		}
	}
	if (run->is_on_terminal)
		fprintf(stderr, "\r\033[K");
	free(fds);
	return err;
}

/* ---- from the beginning to the end ---- */

static int open_error(const char *path, int err, const char *reason, struct error *error)
{
	return error_set(error, err, "%s cannot be written: %s: name another file with -o", path,
			 reason);
}

/* An old file keeps its contents until the recording is written. */
static int output_file_open(struct record_run *run, struct error *error)
{
	const char *path = run->options->output;
	struct error reason = { "" };
	int err = output_find(path, &run->target, &reason);

	if (err)
		return open_error(path, err, reason.text, error);
	run->output = output_open_at(&run->target, O_RDWR | O_CREAT | O_EXCL, 0666, &reason);
	run->is_new = run->output >= 0;
	if (run->output == -EEXIST)
		run->output = output_open_at(&run->target, O_RDWR | O_NONBLOCK, 0, &reason);
	if (run->output < 0)
		return open_error(path, run->output, reason.text, error);
	if (!dat_may_write(run->output))
		return error_set(error, -EEXIST, "%s is not a trace.dat, and is not overwritten: "
				 "name another file with -o", path);
	return 0;
}

static int ring_open(struct record_run *run, struct error *error)
{
	const struct options *options = run->options;
	struct ring_config config = options->ring;
	int nr_cpus = cpus_end(&run->env, CPUS_PRESENT), err;
	char *path;

	if (nr_cpus < 0)
		return error_set(error, nr_cpus, "cannot read %s: %s", CPUS_PRESENT,
				 strerror(-nr_cpus));
	path = xstrdup(options->output);
	config.tracefs = run->env.tracefs;
	config.nr_cpus = (size_t)nr_cpus;
	config.choices = options->choices;
	config.tids = run->tids;
	config.nr_tids = run->nr_tids;
	config.folder = dirname(path);
	err = ring_new(&config, &run->ring, error);
	if (err)
		trace_check_lockdown(&run->env, error); /* then that is the cause */
	free(path);
	return err;
}

/*
 * The command's threads, which may be a guest's, are recorded beside the guests' with --sched, and
 * if the guest of -g is not there yet.
 */
static int command_new(struct record_run *run, struct error *error)
{
	const struct options *options = run->options;
	bool is_guest_there = run->nr_tids;
	int err = child_new(&run->child, run->command, &run->old_mask, error);

	run->command_pid = run->child.pid;
	if (err || (is_guest_there && (options->guest || options->pid)) ||
	    !(options->ring.sched || options->guest))
		return err;
	return add_tids(run, run->child.pid);
}

static int record_prepare(struct record_run *run, struct error *error)
{
	int err = env_init(&run->env, "", error);

	/* If it fails, threads that live shorter than LOOK_MS stay unknown. */
	thread_log_init(&run->thread_log);
	if (!err)
		err = trace_check(&run->env, error);
	if (!err)
		err = find_guests(run, error);
	if (!err)
		err = output_file_open(run, error);
	if (!err)
		err = signals_block(run);
	if (!err && run->command)
		err = command_new(run, error);
	if (!err)
		err = ring_open(run, error);
	return err;
}

static int begin_command(struct record_run *run, struct error *error)
{
	const char *name = run->command[0];
	int err = child_begin(&run->child, run->command, error);

	if (err == -ENOENT && options_is_number(name))
		return error_set(error, err,
				 "there is no program \"%s\"; to record for %s seconds, "
				 "write -- %s",
				 name, name, name);
	return err;
}

static int record_begin(struct record_run *run, double seconds, struct error *error)
{
	int err = ring_begin(run->ring, error);

	if (!err && run->command)
		err = begin_command(run, error);
	if (!err && seconds > 0)
		run->end_ns = clock_now_ns() + (uint64_t)(seconds * 1e9);
	return err;
}

/* What the user can do when the file has no room. */
static const char *remedy(int err)
{
	if (err == -ENOSPC || err == -EDQUOT)
		return ": make room, or choose another file (-o) or fewer events (-e)";
	if (err == -EFBIG)
		return ": raise the limit (ulimit -f), or choose fewer events (-e)";
	return "";
}

/* The guest of -g may not have come; or it was too brief to be seen, and left events. */
static int check_name(const struct record_run *run, struct error *error)
{
	const char *name = run->options->guest;
	struct ring_counts counts;

	if (!name || run->has_guest)
		return 0;
	for (size_t i = 0; i < run->guest_log.nr; i++) {
		if (strcmp(run->guest_log.list[i].name, name) == 0)
			return 0;
	}
	ring_count(run->ring, &counts);
	if (!counts.read || run->options->ring.sched) /* which records the command itself */
		return error_set(error, -ENOENT, "no guest named \"%s\" began", name);
	fprintf(stderr, "kvmtop: no guest named \"%s\" was seen: the file has what the command "
		"began\n", name);
	return 0;
}

/* Writes what was recorded, also when an error ended the recording. */
static int record_finish(struct record_run *run, struct error *error)
{
	struct error reason = { "" };
	int given_up = 0, err;

	/* Nothing was recorded: an old file stays as it is. */
	if (run->cut && !ring_bytes(run->ring)) {
		reason = *error;
		return error_set(error, run->cut, "%s: %s%s", run->options->output,
				 reason.text[0] ? reason.text : strerror(-run->cut),
				 remedy(run->cut));
	}
	look_at_guests(run, NULL);
	thread_log_drain(&run->thread_log);
	if (run->command && !run->has_other_pids)
		guest_log_add_command(&run->guest_log, run->command_pid, run->command,
				      &run->thread_log);
	guest_log_add_threads(&run->guest_log, &run->thread_log);
	err = check_name(run, error);
	if (err)
		return err;
	err = dat_write(run->ring, &run->guest_log, run->output, &given_up, &reason);
	/* A network file system may report a full disk only here. */
	if (close(run->output) < 0 && !err)
		err = error_set(&reason, -errno, "the file cannot be written: %s", strerror(errno));
	run->output = -1;
	if (err)
		return error_set(error, err, "%s: %s%s", run->options->output,
				 reason.text[0] ? reason.text : strerror(-err), remedy(err));
	if (given_up && !run->cut)
		run->cut = error_set(error, given_up, "the rest cannot be written: %s",
				     strerror(-given_up));
	return 0;
}

static int record(struct record_run *run, double seconds, struct error *error)
{
	int err = record_begin(run, seconds, error);

	if (!err)
		run->cut = record_loop(run, error);
	ring_end(run->ring);
	if (!err && !run->cut)
		run->cut = ring_drain_rest(run->ring, error);
	return err ? err : record_finish(run, error);
}

/* Says what is in the file, and why the recording ended early. */
static void print_end(const struct record_run *run, const struct error *error)
{
	struct ring_counts counts;

	ring_count(run->ring, &counts);
	fprintf(stderr, "kvmtop: %s: ", run->options->output);
	if (run->cut)
		fprintf(stderr, "ends after %.1f MiB: %s%s\n", mib(run->ring),
			error->text[0] ? error->text : strerror(-run->cut), remedy(run->cut));
	else
		fprintf(stderr, "%" PRIu64 " events, %.1f MiB\n", counts.read, mib(run->ring));
	if (counts.lost)
		fprintf(stderr, "kvmtop: %" PRIu64 " events were lost; a larger --buffer-size may "
			"hold them\n", counts.lost);
}

static void run_release(struct record_run *run)
{
	ring_free(run->ring);
	child_release(&run->child);
	if (run->signals >= 0)
		close(run->signals);
	if (run->output >= 0)
		close(run->output);
	free(run->tids);
	guest_log_release(&run->guest_log);
	thread_log_release(&run->thread_log);
	env_release(&run->env);
}

static int run_record(struct record_run *run, double seconds)
{
	struct error error = { "" };
	int err = record_prepare(run, &error), status = STATUS_FAILURE;

	if (!err)
		err = record(run, seconds, &error);
	if (err)
		say_failure(err, &error);
	else
		print_end(run, &error);
	if (!err && !run->cut)
		status = run->child.status;
	run_release(run);
	if (err && run->is_new)
		unlinkat(run->target.folder, run->target.name, 0);
	if (run->target.folder >= 0)
		output_release(&run->target);
	return status;
}

/* "-- 0.5" is a time, "0.5" a command. */
static int understand(struct options *options, struct error *error)
{
	if (!options->output)
		options->output = "trace.dat";
	if (options->nr_words == 1 && strcmp(options->words[-1], "--") == 0 &&
	    options_is_number(options->words[0]))
		return seconds_parse(options->words[0], DELAY_MIN_S, SECONDS_MAX,
				     &options->duration_s, error);
	if (options->nr_words)
		options->command = options->words;
	return 0;
}

static int record_run(struct options *options)
{
	struct record_run run = {
		.options = options,
		.command = options->command,
		.target.folder = -1,
		.output = -1,
		.signals = -1,
		.is_on_terminal = isatty(STDERR_FILENO),
	};

	child_init(&run.child);
	return run_record(&run, options->duration_s);
}

const struct command record_command = {
	.name = "record",
	.help = "record KVM's events into a trace.dat",
	.usage = "Usage: kvmtop record [OPTION]... [COMMAND [ARGUMENT]... | -- SECONDS]\n"
		 "Records KVM's events into a trace.dat for kvmtop report, trace-cmd and\n"
		 "KernelShark, while COMMAND runs, for SECONDS, or until Ctrl-C.\n",
	.footer = "More: man kvmtop-record\n",
	.command = { .works = MODE_RECORD, .stops_at_word = true, .offer = OFFER_PROGRAMS },
	.understand = understand,
	.run = record_run,
};
