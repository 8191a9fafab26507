// SPDX-License-Identifier: GPL-2.0-or-later
/* Options, the loop while it records, the command that may run meanwhile. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "env.h"
#include "guest.h"
#include "option_table.h"
#include "say.h"
#include "trace/record.h"
#include "trace/record_dat.h"
#include "trace/record_guests.h"
#include "trace/record_ring.h"

#define CHOICES_MAX 64
#define TIDS_MAX 65536
#define DRAIN_MS 100	/* at the latest; rings that fill say so */
#define LOOK_MS 500	/* between two looks at losses and guests */

struct options {
	bool help;
	const char *output;
	const char *guest;
	pid_t pid;
	const char *clock;
	const char *filter; /* of all events: the one before any -e */
	unsigned long kib;
	struct ring_choice choices[CHOICES_MAX];
	size_t nr_choices;
	const char *event; /* only for the table */
};

#define AT(member) offsetof(struct options, member)

static const struct option_spec specs[] = {
	{ .heading = "Options" },
	{ NULL, 'o', "output", NULL, "FILE", VALUE_STRING, AT(output),
	  "where to (trace.dat)" },
	{ NULL, 'p', "pid", NULL, "PID", VALUE_PID, AT(pid), "one guest, by its process" },
	{ NULL, 'g', "guest", NULL, "NAME", VALUE_STRING, AT(guest), "one guest, by its name" },
	{ NULL, 'e', "event", NULL, "EVENT", VALUE_OTHER, AT(event),
	  "only this event; * and ? stand for any text; may be repeated" },
	{ NULL, 0, "filter", NULL, "EXPR", VALUE_OTHER, AT(filter),
	  "of the -e before it (or all) only what the kernel's filter lets through" },
	{ NULL, 'b', "buffer", NULL, "KIB", VALUE_COUNT, AT(kib),
	  "size of the buffer of each CPU" },
	{ NULL, 'C', "clock", NULL, "CLOCK", VALUE_STRING, AT(clock),
	  "the kernel's clock: local, mono, x86-tsc ..." },
	{ NULL, 'h', "help", NULL, NULL, VALUE_FLAG, AT(help), "this text" },
};

/* As in trace-cmd, a filter belongs to the event before it; the later of -g and -p wins. */
static int take(void *ret_options, const struct option_spec *spec, const char *text,
		struct why *why)
{
	struct options *options = ret_options;

	if (spec->offset == AT(guest))
		options->pid = 0;
	else if (spec->offset == AT(pid))
		options->guest = NULL;
	if (spec->offset == AT(event)) {
		if (options->nr_choices == CHOICES_MAX)
			return why_set(why, -EINVAL, "-e may be repeated %d times", CHOICES_MAX);
		options->choices[options->nr_choices++].pattern = text;
	} else if (spec->offset == AT(filter)) {
		if (options->nr_choices)
			options->choices[options->nr_choices - 1].filter = text;
		else
			options->filter = text;
	}
	return 0;
}

static const struct option_table table = {
	.specs = specs,
	.nr = sizeof(specs) / sizeof(specs[0]),
	.usage = "Usage: kvmtop record [OPTION]... [COMMAND [ARGUMENT]... | -- SECONDS]\n"
		 "Records KVM's events into a trace.dat for kvmtop report, trace-cmd and\n"
		 "KernelShark, while COMMAND runs, for so many seconds, or until Ctrl-C.\n",
	.stops_at_word = true,
	.take = take,
};

struct run {
	const struct options *options;
	char **command; /* NULL: none */
	uint64_t end_ns; /* 0: when told to */
	struct env env;
	struct recorded_guests *guests;
	pid_t *tids;
	size_t nr_tids;
	struct ring *ring;
	int output;
	bool is_new; /* the file was not there before */
	sigset_t old_signals;
	int signals;
	pid_t child;
	int child_go, child_error; /* ends of pipes */
	bool is_on_terminal;
};

/* ---- the guest ---- */

static int run_tids(struct run *run, pid_t pid)
{
	int nr;

	run->tids = calloc(TIDS_MAX, sizeof(*run->tids));
	if (!run->tids)
		return -ENOMEM;
	nr = guest_threads(&run->env, pid, run->tids, TIDS_MAX);
	if (nr < 0)
		return nr;
	run->nr_tids = nr < TIDS_MAX ? (size_t)nr : TIDS_MAX;
	return 0;
}

static int find_guests(struct run *run, struct why *why)
{
	const struct options *options = run->options;
	pid_t pid = 0;
	int err;

	run->guests = recorded_guests_new(&run->env);
	if (!run->guests)
		return -ENOMEM;
	err = recorded_guests_refresh(run->guests, why);
	if (err || (!options->guest && !options->pid))
		return err;
	err = recorded_guests_find(run->guests, options->guest, options->pid, &pid, why);
	return err ? err : run_tids(run, pid);
}

/* ---- the command ---- */

/* In the child: waits for the word, then becomes the command. */
static void child_main(const struct run *run, int go, int error)
{
	char byte;
	int err;

	sigprocmask(SIG_SETMASK, &run->old_signals, NULL);
	if (read(go, &byte, 1) != 1)
		_exit(STATUS_FAILURE);
	execvp(run->command[0], run->command);
	err = errno;
	(void)!write(error, &err, sizeof(err));
	_exit(127);
}

static int child_new(struct run *run, struct why *why)
{
	int go[2], error[2];

	if (pipe2(go, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(error, O_CLOEXEC) < 0) {
		close(go[0]);
		close(go[1]);
		return -errno;
	}
	run->child = fork();
	if (run->child == 0) {
		close(go[1]); /* or its own end would keep it waiting */
		child_main(run, go[0], error[1]);
	}
	close(go[0]);
	close(error[1]);
	run->child_go = go[1];
	run->child_error = error[0];
	if (run->child < 0)
		return why_set(why, -errno, "%s cannot be run: %s", run->command[0],
			       strerror(errno));
	return 0;
}

/* It does not outlive the recording, which may end before it. */
static void child_end(const struct run *run)
{
	if (run->child > 0)
		kill(run->child, SIGTERM); /* it may take its time */
}

/* Lets it begin. */
static int child_begin(struct run *run, struct why *why)
{
	int err = 0;

	if (write(run->child_go, "", 1) != 1)
		return -errno;
	if (read(run->child_error, &err, sizeof(err)) == sizeof(err))
		return why_set(why, -err, "%s cannot be run: %s", run->command[0], strerror(err));
	return 0;
}

static bool child_has_ended(const struct run *run)
{
	return run->child > 0 && waitpid(run->child, NULL, WNOHANG) == run->child;
}

/* ---- the loop ---- */

static int signals_init(struct run *run)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &set, &run->old_signals) < 0)
		return -errno;
	run->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return run->signals < 0 ? -errno : 0;
}

/* A signal that ends it, or the command's own end. */
static bool has_ended(struct run *run)
{
	struct signalfd_siginfo info;

	while (read(run->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGCHLD)
			return true;
		if (child_has_ended(run)) {
			run->child = 0;
			return true;
		}
	}
	return run->end_ns && clock_now_ns() >= run->end_ns;
}

static void print_progress(const struct run *run)
{
	struct ring_counts counts;

	if (!run->is_on_terminal)
		return;
	ring_count(run->ring, &counts);
	fprintf(stderr, "\r\033[Krecording: %.1f MiB, %" PRIu64 " events lost",
		(double)ring_bytes(run->ring) / (1 << 20), counts.lost);
}

static int wait_ms(const struct run *run)
{
	uint64_t now = clock_now_ns(), left;

	if (!run->end_ns)
		return DRAIN_MS;
	left = run->end_ns > now ? (run->end_ns - now) / 1000000 + 1 : 0;
	return left < DRAIN_MS ? (int)left : DRAIN_MS;
}

static int loop(struct run *run, struct why *why)
{
	uint64_t next_ns = 0;
	size_t nr;
	struct pollfd *fds;
	int err = 0;

	ring_cpus(run->ring, &nr);
	fds = calloc(nr + 1, sizeof(*fds));
	if (!fds)
		return -ENOMEM;
	ring_pollfds(run->ring, fds);
	fds[nr] = (struct pollfd){ .fd = run->signals, .events = POLLIN };
	while (!err && !has_ended(run)) {
		poll(fds, nr + 1, wait_ms(run));
		err = ring_drain(run->ring, why);
		if (clock_now_ns() >= next_ns) {
			print_progress(run);
			recorded_guests_refresh(run->guests, NULL); /* names only */
			next_ns = clock_now_ns() + LOOK_MS * 1000000ull;
		}
	}
	if (run->is_on_terminal)
		fprintf(stderr, "\r\033[K");
	free(fds);
	return err;
}

/* ---- from the beginning to the end ---- */

static int output_open(struct run *run, struct why *why)
{
	const char *path = run->options->output;
	struct stat st;

	/* What was there before stays until there is something to put in its place. */
	run->output = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	run->is_new = run->output >= 0;
	if (!run->is_new)
		run->output = open(path, O_RDWR | O_CLOEXEC);
	if (run->output < 0)
		return why_set(why, -errno, "%s: %s", path, strerror(errno));
	if (fstat(run->output, &st) < 0 || !S_ISREG(st.st_mode))
		return why_set(why, -EINVAL, "%s: is no plain file", path);
	return 0;
}

static int ring_open(struct run *run, struct why *why)
{
	const struct options *options = run->options;
	char *path = strdup(options->output);
	struct ring_config config = {
		.tracefs = run->env.tracefs,
		.choices = options->choices,
		.nr_choices = options->nr_choices,
		.filter = options->filter,
		.clock = options->clock,
		.kib = options->kib,
		.tids = run->tids,
		.nr_tids = run->nr_tids,
	};
	int err;

	if (!path)
		return -ENOMEM;
	config.folder = dirname(path);
	err = ring_new(&config, &run->ring, why);
	free(path);
	return err;
}

static int prepare(struct run *run, struct why *why)
{
	int err = env_init(&run->env, "", why);

	if (!err && !run->env.tracefs)
		err = why_set(why, -ENOENT, "tracefs is not mounted: mount -t tracefs tracefs "
			      "/sys/kernel/tracing");
	if (!err)
		err = find_guests(run, why);
	if (!err)
		err = output_open(run, why);
	if (!err)
		err = signals_init(run);
	if (!err)
		err = ring_open(run, why);
	if (!err && run->command)
		err = child_new(run, why);
	return err;
}

static int record(struct run *run, unsigned long seconds, struct why *why)
{
	int err = ring_begin(run->ring, why);

	if (!err && run->command)
		err = child_begin(run, why);
	if (!err && seconds)
		run->end_ns = clock_now_ns() + seconds * 1000000000ull;
	if (!err)
		err = loop(run, why);
	ring_end(run->ring);
	if (!err)
		err = ring_drain_rest(run->ring, why);
	recorded_guests_refresh(run->guests, NULL);
	return err ? err : dat_write(run->ring, run->guests, run->output, why);
}

/* What is in the file, and what is missing in it. */
static void print_end(const struct run *run)
{
	struct ring_counts counts;

	ring_count(run->ring, &counts);
	fprintf(stderr, "kvmtop: %s: %" PRIu64 " events, %.1f MiB\n", run->options->output,
		counts.read, (double)ring_bytes(run->ring) / (1 << 20));
	if (counts.lost)
		fprintf(stderr, "kvmtop: %" PRIu64 " events were lost; a larger buffer (-b) may "
			"hold them\n", counts.lost);
}

static void run_release(struct run *run)
{
	ring_free(run->ring);
	child_end(run);
	if (run->child_go >= 0)
		close(run->child_go);
	if (run->child_error >= 0)
		close(run->child_error);
	if (run->signals >= 0)
		close(run->signals);
	if (run->output >= 0)
		close(run->output);
	free(run->tids);
	recorded_guests_free(run->guests);
	env_release(&run->env);
}

static int run_record(struct run *run, unsigned long seconds)
{
	struct why why = { "" };
	int err = prepare(run, &why);

	if (!err)
		err = record(run, seconds, &why);
	if (!err)
		print_end(run);
	run_release(run);
	if (err && run->is_new)
		unlink(run->options->output);
	return err ? say_failure(err, &why) : STATUS_OK;
}

/* "-- 5" is a time, "5" a command. */
static int read_seconds(int argc, char **argv, int first, unsigned long *ret_seconds)
{
	char *end;
	unsigned long seconds;

	if (first != argc - 1 || strcmp(argv[first - 1], "--") != 0)
		return -ENOENT;
	seconds = strtoul(argv[first], &end, 10);
	if (argv[first][0] < '0' || argv[first][0] > '9' || *end || seconds > 1000000000)
		return -ENOENT;
	if (!seconds)
		return -EINVAL;
	*ret_seconds = seconds;
	return 0;
}

static int record_run(int argc, char **argv)
{
	struct options options = { .output = "trace.dat" };
	struct run run = {
		.options = &options,
		.output = -1,
		.signals = -1,
		.child_go = -1,
		.child_error = -1,
		.is_on_terminal = isatty(STDERR_FILENO),
	};
	struct why why = { "" };
	unsigned long seconds = 0;
	int first = option_table_parse(&table, argc, argv, &options, &why), err;

	if (first < 0)
		return say_usage("record", &why);
	if (options.help) {
		option_table_help(&table, stdout);
		return STATUS_OK;
	}
	err = read_seconds(argc, argv, first, &seconds);
	if (err == -EINVAL) {
		why_set(&why, err, "\"%s\": at least one second", argv[first]);
		return say_usage("record", &why);
	}
	if (err && first < argc)
		run.command = argv + first;
	return run_record(&run, seconds);
}

const struct command record_command = {
	.name = "record",
	.help = "record KVM's events into a trace.dat",
	.run = record_run,
};
