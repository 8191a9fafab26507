/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * captured - the counts of a captured machine, the folder DIR of --sysroot DIR.
 *
 * DIR/kvmtop/counters has the counts of the provider "tracepoint", DIR/kvmtop/exits the counts of
 * "exits", DIR/kvmtop/host the numbers of "host". docs/CAPTURED.md says how such a folder is made
 * and what its lines mean. Each collect() plays the next sample. After the last, the latest
 * interval is played again and again, so that a screen goes on showing what the machine did.
 */
#ifndef KVMTOP_PROVIDERS_PLAYBACK_CAPTURED_H
#define KVMTOP_PROVIDERS_PLAYBACK_CAPTURED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"
#include "core/facts/sample.h"
#include "core/provider.h"

#define CAPTURED_NAME 192 /* bytes of a name in a file */

struct captured_value {
	uint64_t count;
	struct timing timing;
};

/*
 * What was counted of a field on the whole machine (tid 0), in a thread, or of a host CPU (tid -1
 * for CPU 0, -2 for CPU 1 ...).
 */
struct captured_count {
	int tid;
	uint32_t field;
	bool is_timed, has_before;
	struct captured_value now, before; /* in the sample at hand, and in the one before it */
};

/* A file, and its sample at hand. */
struct captured_file {
	const struct provider_args *args;
	char *text;	  /* NULL: there is none, and so nothing was counted */
	const char *next; /* where its next sample begins */
	uint64_t time_ns, step_ns;
	struct captured_count *counts;
	size_t nr_counts, room_counts;
};

/* Reads DIR/name; args outlive the file. No file is no error. 0, or -errno with error. */
int captured_file_read(struct captured_file *file, const struct provider_args *args,
		       const char *name, struct error *error);
void captured_file_release(struct captured_file *file);

/* Goes on to the next sample; after the last one, to the same counts once more. */
void captured_file_advance(struct captured_file *file);

/*
 * The name that the line, or the next one that has a name, begins with; ret_name has CAPTURED_NAME
 * bytes. *line moves on. False: there is no further name.
 */
bool captured_name_next(const char **line, char *ret_name);

#endif
