/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lines - the renderers that write lines: batch, text log, CSV and JSON.
 *
 * batch and CSV are kvm_stat's to the letter, for the programs that read them; the text log is for
 * people; JSON is one object a sample and line. All take a finished view.
 */
#ifndef KVMTOP_UI_LINES_LINES_H
#define KVMTOP_UI_LINES_LINES_H

#include <stdint.h>
#include <time.h>

#include "base/why.h"
#include "ui/lines/config.h"
#include "views/view.h"

struct lines;

/*
 * Opens the file, if any; a CSV that is there already must have the same columns. -EEXIST when it
 * does not; why names file, difference and remedy. The config's pointers must outlive the
 * lines.
 */
int lines_open(const struct lines_config *config, struct lines **ret_lines, struct why *why);

/*
 * Writes and flushes one sample. when is the time of day (NULL: not known; for JSON and tables
 * only), elapsed_ns what the deltas cover (0: not known). 0, or -errno with why: -EPIPE when the
 * reader of standard output went away (not an error to shout about), -ENOSPC ... for the rest.
 */
int lines_write(struct lines *lines, const struct view *view, const struct timespec *when,
		uint64_t elapsed_ns, struct why *why);

/* Closes the file and opens it anew under its name, for log rotation; no-op for standard output. */
int lines_reopen(struct lines *lines, struct why *why);

/*
 * Flushes and closes; 0 or -errno with why if what was written did not reach the file. NULL is
 * fine.
 */
int lines_close(struct lines *lines, struct why *why);

#endif
