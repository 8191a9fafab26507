// SPDX-License-Identifier: GPL-2.0-or-later
/* The timers of the kernel. */
#include <errno.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "lib/timer.h"

static struct timespec timespec_of(double seconds)
{
	struct timespec spec = { .tv_sec = (time_t)seconds };

	spec.tv_nsec = (long)((seconds - (double)spec.tv_sec) * 1e9);
	return spec;
}

int timer_open(void)
{
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	return timer < 0 ? -errno : timer;
}

void timer_set(int timer, double first_s, double interval_s)
{
	const struct itimerspec spec = {
		.it_value = timespec_of(first_s),
		.it_interval = timespec_of(interval_s),
	};

	timerfd_settime(timer, 0, &spec, NULL);
}

int timer_poll(struct pollfd *fds, size_t nr, int timeout_ms)
{
	return poll(fds, nr, timeout_ms);
}

bool timer_take(int timer)
{
	uint64_t ticks;

	return read(timer, &ticks, sizeof(ticks)) == sizeof(ticks);
}
