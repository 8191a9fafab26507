/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * thresholds_file - the thresholds of findings that the machine or the user sets.
 */
#ifndef KVMTOP_CMD_THRESHOLDS_FILE_H
#define KVMTOP_CMD_THRESHOLDS_FILE_H

#include <stdbool.h>

#include "lib/error.h"
#include "core/findings/thresholds.h"

#define THRESHOLDS_FILE "/etc/kvmtop/thresholds.conf"

/*
 * Reads path, or without one (NULL) the machine's THRESHOLDS_FILE below root, which may be absent.
 * Thresholds that the file does not set have their defaults. 0, or -errno with why.
 */
int thresholds_load(const char *path, const char *root, struct thresholds *ret_thresholds,
		    struct error *why);

/*
 * If path is "help": prints a file with all thresholds and their defaults, each line a comment,
 * and returns true.
 */
bool thresholds_asked(const char *path);

#endif
