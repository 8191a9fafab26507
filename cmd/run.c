// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens a source, samples it in a loop, and closes it; signals and notices. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/clock.h"
#include "lib/process.h"
#include "lib/timer.h"
#include "cmd/demo/demo.h"
#include "cmd/run.h"
#include "core/views/view.h"

#define OPEN_TIMEOUT_MS 10000 /* the limit for opening all events; a busy host needs a second */
#define ERASE_LINE "\r\033[K"

/* INT or TERM came while something was being written. */
static volatile sig_atomic_t is_interrupted;

static void interrupt(int signal)
{
	(void)signal;
	is_interrupted = 1;
}

int run_signals(struct run *run, bool to_file, bool has_screen)
{
	/* No SA_RESTART: the signal ends a write. */
	const struct sigaction action = { .sa_handler = interrupt };
	static const int enders[] = { SIGINT, SIGTERM };
	sigset_t set;

	run->to_file = to_file;
	sigemptyset(&set);
	if (!signal_is_ignored(SIGINT))
		sigaddset(&set, SIGINT);
	if (!signal_is_ignored(SIGTERM))
		sigaddset(&set, SIGTERM);
	if (!signal_is_ignored(SIGHUP) || to_file)
		sigaddset(&set, SIGHUP);
	if (has_screen)
		sigaddset(&set, SIGWINCH);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	sigemptyset(&run->enders);
	for (size_t i = 0; i < ARRAY_SIZE(enders); i++) {
		if (sigismember(&set, enders[i]) && sigaction(enders[i], &action, NULL) == 0)
			sigaddset(&run->enders, enders[i]);
	}
	run->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return run->signals < 0 ? -errno : 0;
}

/* ---- the guests of -g and -p ---- */

static void add_chosen(struct chosen *chosen, uint32_t guest)
{
	*array_add(chosen->guests, chosen->nr, chosen->room) =
		(struct vcpu_key){ guest, VCPU_ANY };
}

int chosen_init(struct chosen *chosen, const struct guests *guests, const char *name, pid_t pid,
		bool may_come, struct error *error)
{
	int err = guest_choice_begin(&chosen->choice, name, pid, guests, error);

	if (!err)
		add_chosen(chosen, chosen->choice.id);
	return err == -ENOENT && may_come ? 0 : err;
}

bool chosen_is_there(const struct chosen *chosen, const struct guests *guests)
{
	size_t i = 0;

	while (i < chosen->nr && !guests_by_id(guests, chosen->guests[i].guest))
		i++;
	return i < chosen->nr;
}

bool chosen_follow(struct chosen *chosen, const struct guests *guests)
{
	size_t nr = chosen->nr;
	const struct guest *guest;

	while ((guest = guest_choice_next(&chosen->choice, guests))) {
		const char *how = !chosen->nr ? "has begun" :
				  chosen_is_there(chosen, guests) ? "has begun once more" :
								    "is back";
		struct error news = { "" };

		error_set(&news, 0, "%s %s as pid %d", guest->name, how, (int)guest->pid);
		say(news.text);
		add_chosen(chosen, guest->id);
	}
	return chosen->nr > nr;
}

void chosen_ask(const struct chosen *chosen, struct query *query)
{
	/* No guest yet: no key of the guests that have been forgotten has a vCPU. */
	static const struct vcpu_key none = { STATS_ENDED, 0 };

	query->is_by_name = chosen->choice.word[0];
	query->guest = GUEST_ALL;
	query->only = &none;
	query->nr_only = 1;
	if (chosen->nr == 1) {
		query->guest = chosen->guests[0].guest;
		query->only = NULL;
		query->nr_only = 0;
	} else if (chosen->nr) {
		query->only = chosen->guests;
		query->nr_only = chosen->nr;
	}
}

void chosen_release(struct chosen *chosen)
{
	free(chosen->guests);
	*chosen = (struct chosen){ .nr = 0 };
}

bool run_begins_anew(const struct run *run)
{
	struct query other = run->query;

	other.guest = UINT32_MAX;
	return monitor_begins_anew(run->monitor, &other);
}

static int add_guests(struct run *run, struct error *error)
{
	if (!run->query.is_by_name || run_begins_anew(run) ||
	    !chosen_follow(&run->chosen, monitor_facts(run->monitor)->guests))
		return 0;
	chosen_ask(&run->chosen, &run->query);
	return monitor_want(run->monitor, &run->query, error);
}

/* ---- from the machine to the first sample ---- */

static int demo_begin(struct run *run, struct error *error)
{
	int err = monitor_find_guests(run->monitor, error);

	if (err || guests_count(monitor_facts(run->monitor)->guests))
		return err;
	err = demo_start(&demo_default, &run->demo, error);
	return err ? err : monitor_find_guests(run->monitor, error);
}

int run_choose(struct run *run, struct error *error)
{
	const struct options *options = run->options;
	bool is_chosen = options->guest || options->pid;
	int err = 0;

	/* The first sample of a view by guest needs the guests' threads open. */
	if (is_chosen || run->query.type->by_guest)
		err = monitor_find_guests(run->monitor, is_chosen ? error : &(struct error){ "" });
	if (!is_chosen)
		return 0;
	if (!err)
		err = guests_advise(chosen_init(&run->chosen, monitor_facts(run->monitor)->guests,
						options->guest, options->pid,
						options->command && !options->other, error),
				    error, "use -p PID");
	guest_choice_init(&run->choice, options->guest, options->pid);
	run->query.guest = run->choice.id = run->chosen.choice.id;
	if (!err && options->mode != MODE_SCREEN)
		chosen_ask(&run->chosen, &run->query);
	return err;
}

/* A Prometheus may need some seconds for the first answers: a terminal says what is waited for. */
static int open_source(struct run *run, const struct run_plan *plan, struct error *error)
{
	const struct options *options = run->options;
	struct source_config config = plan->source;
	bool says = options->url && isatty(STDERR_FILENO);
	size_t nr;
	int err;

	run->names = options_sources(options, &nr);
	config.monitor.options = (struct provider_options){
		.engine = options->engine,
		.include_past = options->include_past,
		.kallsyms = run->parts.symbols,
		.nr_kallsyms = run->parts.nr_symbols,
		.reads_guests = options->guest_symbols,
	};
	if (options->mode != MODE_FIELDS) {
		config.monitor.providers |= 1U << PROVIDER_INVENTORY;
		config.monitor.asides |= 1U << PROVIDER_INVENTORY;
	}
	config.interval_s = !options->url || options->interval ? options->interval_s : 0;
	config.monitor.cost = options->cost;
	config.http_config = options->http_config;
	config.host = options->host;
	config.recording.kallsyms = run->parts.symbols;
	config.recording.nr_kallsyms = run->parts.nr_symbols;
	config.recording.kind = options->kind;
	config.recording.buffer = options->buffer;
	config.recording.has_halts = options->halts;
	/* What ACRN prints is in cycles. */
	config.recording.mhz = options->acrn ? 0 : options->mhz;
	config.recording.interval_s = options->interval ? options->interval_s : 0;
	if (says)
		fprintf(stderr, "kvmtop: waiting for %s; Ctrl-C ends this", options->url);
	err = source_open(options_kind(options), run->names, nr, &config, &run->source, error);
	if (says)
		fputs(ERASE_LINE, stderr);
	if (!err)
		run->monitor = run->source->monitor;
	return err;
}

int run_open(struct run *run, const struct run_plan *plan, struct error *error)
{
	int err = query_read_files(run->options, &run->query, &run->parts, error);

	if (!err)
		err = open_source(run, plan, error);
	if (!err && run->options->demo)
		err = demo_begin(run, error);
	if (!err)
		err = plan->choose ? plan->choose(run, error) : run_choose(run, error);
	return err || plan->wants_later || !run->monitor ?
		       err : monitor_want(run->monitor, &run->query, error);
}

void run_close(struct run *run)
{
	demo_stop(run->demo);
	if (run->source && !source_has_now(run->source->kind))
		source_close(run->source);
	view_release(&run->view);
	field_set_release(&run->query.open);
	query_parts_release(&run->parts);
	chosen_release(&run->chosen);
	free(run->names);
	if (run->signals >= 0)
		close(run->signals);
}

/* ---- samples ---- */

/* Prints each of the monitor's notices once, when it is new. */
static void warn(struct run *run)
{
	const char *notice;

	for (size_t i = 0; (notice = monitor_notice(run->monitor, i)); i++) {
		char *warned = run->warned[i];

		if (strncmp(warned, notice, sizeof(run->warned[0]) - 1) == 0)
			continue;
		say(notice);
		snprintf(warned, sizeof(run->warned[0]), "%s", notice);
	}
}

void run_wait_open(const struct run *run)
{
	struct pollfd signals = { .fd = run->signals, .events = POLLIN };
	uint64_t end_ns = clock_now_ns() + OPEN_TIMEOUT_MS * UINT64_C(1000000);

	while (!monitor_is_ready(run->monitor) && clock_now_ns() < end_ns &&
	       poll(&signals, 1, 1) == 0)
		;
}

int run_sample(struct run *run, struct error *error)
{
	monitor_sample(run->monitor);
	warn(run);
	run->elapsed_ns += monitor_elapsed_ns(run->monitor);
	if (monitor_is_live(run->monitor))
		return add_guests(run, error);
	return error_set(error, -EIO,
			 "nothing can be counted any more: kvmtop --list-providers says "
			 "why");
}

static enum woken wait_for(const struct run *run, int timer)
{
	int timeout_ms = run->look_ms ? run->look_ms : -1, nr;
	struct pollfd fds[] = {
		{ .fd = run->signals, .events = POLLIN },
		{ .fd = timer, .events = POLLIN },
		{ .fd = run->to_file ? -1 : STDOUT_FILENO },
		{ .fd = run->ender, .events = POLLIN },
	};
	struct signalfd_siginfo info;

	for (;;) {
		nr = timer_poll(fds, ARRAY_SIZE(fds), timeout_ms);
		if (nr < 0 && errno != EINTR)
			return WOKEN_END;
		if (!nr)
			monitor_look(run->monitor);
		if (fds[0].revents && read(run->signals, &info, sizeof(info)) == sizeof(info)) {
			if (info.ssi_signo == SIGHUP && run->to_file)
				return WOKEN_HANGUP;
			return WOKEN_END;
		}
		if (fds[2].revents & (POLLERR | POLLHUP) || fds[3].revents)
			return WOKEN_END;
		if (fds[1].revents && timer_take(timer))
			return WOKEN_TICK;
	}
}

int run_loop(struct run *run, double interval_s, unsigned long nr,
	     int (*on_wake)(struct run *run, enum woken woken, struct error *error),
	     struct error *error)
{
	int timer = timer_open(), err = timer < 0 ? timer : 0;
	enum woken woken = WOKEN_TICK;

	if (!err)
		timer_set(timer, interval_s, interval_s);
	for (unsigned long i = 0; !err && woken != WOKEN_END && !is_interrupted;) {
		woken = wait_for(run, timer);
		err = on_wake(run, woken, error);
		i += woken == WOKEN_TICK;
		if (nr && i == nr)
			break;
	}
	if (timer >= 0)
		close(timer);
	return err > 0 ? 0 : err;
}

static int on_second(struct run *run, enum woken woken, struct error *error)
{
	(void)woken;
	return run_sample(run, error);
}

int run_seconds(struct run *run, unsigned long nr, struct error *error)
{
	int err;

	run_wait_open(run);
	err = run_sample(run, error);
	return err ? err : run_loop(run, run->options->duration_s / (double)nr, nr, on_second,
				    error);
}

void run_begin_write(const struct run *run)
{
	sigprocmask(SIG_UNBLOCK, &run->enders, NULL);
}

void run_end_write(const struct run *run)
{
	sigprocmask(SIG_BLOCK, &run->enders, NULL);
}

/* Keys come from the terminal itself if standard input was a recording, which has been read. */
static void replace_stdin(void)
{
	int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return;
	dup2(fd, STDIN_FILENO);
	close(fd);
}

int run_tui(struct run *run, const struct tui_config *config, struct error *error)
{
	struct tui_config whole = *config;

	if (options_read_stdin(run->options))
		replace_stdin();
	whole.source = run->source;
	whole.query = &run->query;
	whole.no_mouse = run->options->no_mouse;
	whole.preferences = &run->options->preferences;
	whole.is_sorted = run->options->sort != NULL;
	whole.signals = run->signals;
	return tui_run(&whole, error);
}
