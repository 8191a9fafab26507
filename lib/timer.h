/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timer - a descriptor that poll(2) finds readable when samples are due, by CLOCK_MONOTONIC.
 */
#ifndef KVMTOP_LIB_TIMER_H
#define KVMTOP_LIB_TIMER_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

/* The caller closes the descriptor. -errno. */
int timer_open(void);

/* Due in first_s seconds, and then at each interval. first_s 0: never. */
void timer_set(int timer, double first_s, double interval_s);

/* poll(2) of descriptors that may be timers: tests have others. */
int timer_poll(struct pollfd *fds, size_t nr, int timeout_ms);

/* Whether it was due since the last call, however often. */
bool timer_take(int timer);

#endif
