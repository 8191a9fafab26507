// SPDX-License-Identifier: GPL-2.0-or-later
/* Signals, notices and the loop of the modes without a screen. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/say.h"
#include "lib/signals.h"
#include "cmd/live.h"

#define OPEN_TIMEOUT_MS 10000 /* the limit for opening all events; a busy host needs a second */
#define OPEN_STEP_MS 20	      /* how often a signal is checked meanwhile */

/* INT or TERM came while something was being written. */
static volatile sig_atomic_t is_interrupted;

static void interrupt(int signal)
{
	(void)signal;
	is_interrupted = 1;
}

int live_init(struct live *live, bool to_file, bool has_screen)
{
	/* No SA_RESTART: the signal ends a write. */
	const struct sigaction action = { .sa_handler = interrupt };
	static const int enders[] = { SIGINT, SIGTERM };
	sigset_t set;

	live->to_file = to_file;
	live->ender = -1;
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
	sigemptyset(&live->enders);
	for (size_t i = 0; i < ARRAY_SIZE(enders); i++) {
		if (sigismember(&set, enders[i]) && sigaction(enders[i], &action, NULL) == 0)
			sigaddset(&live->enders, enders[i]);
	}
	live->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return live->signals < 0 ? -errno : 0;
}

/* Prints each of the monitor's notices once, when it is new. */
static void warn(struct live *live, const struct monitor *monitor)
{
	const char *notice;

	for (size_t i = 0; (notice = monitor_notice(monitor, i)); i++) {
		char *warned = live->warned[i];

		if (strncmp(warned, notice, sizeof(live->warned[0]) - 1) == 0)
			continue;
		say(notice);
		snprintf(warned, sizeof(live->warned[0]), "%s", notice);
	}
}

void live_wait_open(const struct live *live, struct monitor *monitor)
{
	struct pollfd signals = { .fd = live->signals, .events = POLLIN };

	for (unsigned int ms = 0; ms < OPEN_TIMEOUT_MS; ms += OPEN_STEP_MS) {
		if (monitor_wait_ready(monitor, OPEN_STEP_MS) || poll(&signals, 1, 0) != 0)
			return;
	}
}

int live_sample(struct live *live, struct monitor *monitor, struct why *why)
{
	monitor_sample(monitor);
	warn(live, monitor);
	if (!monitor_is_live(monitor))
		return why_set(why, -EIO, "nothing can be counted any more: kvmtop "
					  "--list-providers says why");
	return 0;
}

static int timer_open(double seconds)
{
	struct itimerspec spec = { .it_interval = { .tv_sec = (time_t)seconds } };
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);

	spec.it_interval.tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9);
	spec.it_value = spec.it_interval;
	if (timer >= 0)
		timerfd_settime(timer, 0, &spec, NULL);
	return timer < 0 ? -errno : timer;
}

static enum woken wait_for(const struct live *live, int timer)
{
	struct pollfd fds[] = {
		{ .fd = live->signals, .events = POLLIN },
		{ .fd = timer, .events = POLLIN },
		{ .fd = live->to_file ? -1 : STDOUT_FILENO },
		{ .fd = live->ender, .events = POLLIN },
	};
	struct signalfd_siginfo info;
	uint64_t ticks;

	for (;;) {
		if (poll(fds, ARRAY_SIZE(fds), -1) < 0 && errno != EINTR)
			return WOKEN_END;
		if (fds[0].revents && read(live->signals, &info, sizeof(info)) == sizeof(info)) {
			if (info.ssi_signo == SIGHUP && live->to_file)
				return WOKEN_HANGUP;
			return WOKEN_END;
		}
		if (fds[2].revents & (POLLERR | POLLHUP) || fds[3].revents)
			return WOKEN_END;
		if (fds[1].revents && read(timer, &ticks, sizeof(ticks)) == sizeof(ticks))
			return WOKEN_TICK;
	}
}

int live_loop(struct live *live, double interval_s, unsigned long nr,
	      int (*on_wake)(void *arg, enum woken woken, struct why *why), void *arg,
	      struct why *why)
{
	int timer = timer_open(interval_s), err = timer < 0 ? timer : 0;
	enum woken woken = WOKEN_TICK;

	for (unsigned long i = 0; !err && woken != WOKEN_END && !is_interrupted;) {
		woken = wait_for(live, timer);
		err = on_wake(arg, woken, why);
		i += woken == WOKEN_TICK;
		if (nr && i == nr)
			break;
	}
	if (timer >= 0)
		close(timer);
	return err > 0 ? 0 : err;
}

void live_begin_write(const struct live *live)
{
	sigprocmask(SIG_UNBLOCK, &live->enders, NULL);
}

void live_end_write(const struct live *live)
{
	sigprocmask(SIG_BLOCK, &live->enders, NULL);
}
