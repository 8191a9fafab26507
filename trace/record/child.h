/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * child - the command that runs while a recording is made.
 *
 * It is there before the recording begins, so that what it costs to make it is not recorded, and
 * becomes the command when it is told to.
 */
#ifndef KVMTOP_TRACE_RECORD_CHILD_H
#define KVMTOP_TRACE_RECORD_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/why.h"

/* What the command gets back of what the recorder changed for itself. */
struct record_signals {
	sigset_t mask;
	struct sigaction xfsz; /* SIGXFSZ */
};

struct record_child {
	pid_t pid;     /* 0: none, or it has ended */
	int go, error; /* ends of pipes; -1: none */
	int status;    /* once it has ended; 128 and the signal that did it, as shells say it */
};

void record_child_init(struct record_child *child);

/* command ends in NULL. Returns 0, or -errno with why. */
int record_child_new(struct record_child *child, char **command,
		     const struct record_signals *signals, struct why *why);

/* Lets it begin. Returns 0, or -errno with why: command cannot be run. */
int record_child_begin(struct record_child *child, char **command, struct why *why);

/* Whether it has just ended. */
bool record_child_has_ended(struct record_child *child);

/* It does not outlive the recording, which may end before it. */
void record_child_release(struct record_child *child);

#endif
