/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top_read - `kvmtop -r`: a history file in all modes that show a live machine.
 */
#ifndef KVMTOP_CMD_TOP_READ_H
#define KVMTOP_CMD_TOP_READ_H

#include "cmd/options.h"
#include "core/views/query.h"

/* query: made from the options. Returns the exit status; prints its errors. */
int top_read(const struct options *options, struct query *query);

#endif
