// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * trace-cmd's trace.dat: which version a file is.
 *
 * The file is read by our own code, not by libtracecmd. libtracecmd 1.3 crashes (SIGSEGV in
 * tracecmd_close) on a truncated file of version 6, which a full disk or a killed recorder leaves.
 * In version 7 it keeps all uncompressed data in memory, and searches all of it for every
 * page.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/recording/dat/dat.h"

static bool is_kind(const struct head *head)
{
	return head->len >= TRACING_MAGIC_SIZE &&
	       memcmp(head->bytes, TRACING_MAGIC, TRACING_MAGIC_SIZE) == 0;
}

static int open_dat(struct trace_file *file, const struct head *head, struct error *why)
{
	struct cursor cursor = { .file = file, .at = TRACING_MAGIC_SIZE };
	struct dat *dat = file->priv = calloc(1, sizeof(*dat));

	if (!dat)
		return -ENOMEM;
	event_types_init(&dat->types, file);
	file->info.clock_name = "local";
	if (head->len < TRACING_MAGIC_SIZE + 2 || !is_kind(head)) {
		trace_add_problem(file, head->len, "the file ends in its first line");
		return 0;
	}
	if (memcmp(head->bytes + TRACING_MAGIC_SIZE, "6", 2) == 0) {
		file->info.version = 6;
		return dat6_open(file, &cursor);
	}
	if (memcmp(head->bytes + TRACING_MAGIC_SIZE, "7", 2) == 0) {
		file->info.version = 7;
		return dat7_open(file, &cursor);
	}
	return error_set(why, -EINVAL, "%s: a trace.dat of a version other than 6 and 7",
			 file->info.path);
}

const struct trace_reader trace_dat_reader = {
	.kind = TRACE_DAT,
	.name = "trace.dat",
	.is_kind = is_kind,
	.open = open_dat,
	.close = dat_close,
	.comm = dat_comm,
	.guest = dat_guest,
};
