/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top_write - `kvmtop -w FILE`: every sample goes to a history file.
 */
#ifndef KVMTOP_CMD_TOP_WRITE_H
#define KVMTOP_CMD_TOP_WRITE_H

#include "cmd/options.h"
#include "history/recorder.h"
#include "host/env.h"
#include "core/monitor.h"

/* Zero-initialised writes nothing: without -w. */
struct top_writer {
	const char *path; /* in argv */
	struct history_file *file;
	struct recorder *recorder;
	bool has_said_dropped;
	struct losses said; /* losses that were printed, or were none, at the latest sample */
};

/* Call it after monitor_want(). 0, or -errno with why; see history_file_create(). */
int top_writer_open(struct top_writer *writer, const struct options *options,
		    const struct env *env, const struct monitor *monitor,
		    const struct thresholds *thresholds, struct error *why);

/*
 * Writes the monitor's latest sample. Prints a message when writing fails, and when it works
 * again. time_ns: CLOCK_REALTIME.
 */
void top_writer_take(struct top_writer *writer, const struct monitor *monitor, uint64_t time_ns);

/*
 * Waits until all samples are written, and closes the file. 0, or -errno with why. When the disk
 * hangs, the samples that are left are dropped.
 */
int top_writer_close(struct top_writer *writer, struct error *why);

#endif
