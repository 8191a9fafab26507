/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timeline_options - the command line of `kvmtop timeline`.
 */
#ifndef KVMTOP_CMD_TIMELINE_OPTIONS_H
#define KVMTOP_CMD_TIMELINE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/why.h"
#include "cmd/option.h"
#include "trace/recording/kinds.h"

#define RECORDINGS_MAX 1024 /* ACRN has one for each CPU */
#define MERGED_MAX 64

struct timeline_options {
	bool help, filter;
	const char *recordings[RECORDINGS_MAX];
	size_t nr_recordings;
	const char *merged[MERGED_MAX]; /* "[GUEST=]TRACE", see trace_choice() */
	size_t nr_merged;
	const char *const *guests;
	size_t nr_guests;
	const char *output, *perf, *binary, *binary_name, *input_format, *buffer;
	enum trace_kind kind; /* input_format's; TRACE_ANY: not given */
	const char *offset_text, *freq_text; /* unused: the table of options needs members */
	bool has_offset;
	int64_t offset;
	uint64_t hz; /* 0: not given */
};

/* A trace of function calls, from the word "[GUEST=]TRACE". */
struct trace_choice {
	const char *path, *guest; /* guest NULL: not given */
	size_t guest_len;
};

/* The word is no GUEST=TRACE if there is a file with the whole word as its name. */
struct trace_choice trace_choice(const char *text);

/* 0, or -EINVAL with why: a usage error. Strings point into argv. */
int timeline_options_parse(int argc, char **argv, struct timeline_options *ret_options,
			   struct why *why);
extern const struct option_table timeline_option_table;

#endif
