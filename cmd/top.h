/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top - what `kvmtop` does without a command.
 */
#ifndef KVMTOP_CMD_TOP_H
#define KVMTOP_CMD_TOP_H

/* Reads the options and does what they ask for. Returns the exit status; prints its errors. */
int top_run(int argc, char **argv);

#endif
