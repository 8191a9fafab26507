/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * child - the command that runs while a recording is made.
 *
 * The process is forked before the recording begins, so that the recording does not contain the
 * fork, and executes the command when the recording has begun.
 */
#ifndef KVMTOP_TRACE_TRACER_CHILD_H
#define KVMTOP_TRACE_TRACER_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "lib/error.h"

struct record_child {
	pid_t pid;     /* 0: no command, or it has ended */
	int go, error; /* ends of pipes: to begin, and for the errno of exec; -1: none */
	int status;    /* exit status after the end; 128 + signal, as in shells */
};

void record_child_init(struct record_child *child);

/*
 * command is an argv that ends in NULL; it gets this mask of signals. Returns 0, or -errno with
 * error.
 */
int record_child_new(struct record_child *child, char **command, const sigset_t *mask,
		     struct error *error);

/* Executes the command. Returns 0, or -errno with error: the command cannot be run. */
int record_child_begin(struct record_child *child, char **command, struct error *error);

/* Whether the command has ended since the last call. */
bool record_child_has_ended(struct record_child *child);

/* Ends the command if it still runs. */
void record_child_release(struct record_child *child);

#endif
