/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exits_options - the command line of `kvmtop exits`.
 */
#ifndef KVMTOP_CMD_EXITS_OPTIONS_H
#define KVMTOP_CMD_EXITS_OPTIONS_H

#include <stdbool.h>
#include <sys/types.h>

#include "lib/why.h"
#include "cmd/long_options.h"
#include "cmd/option.h"
#include "core/views/query.h"

#define EXITS_TIDS 256 /* threads that -T can name */

struct exits_options {
	pid_t pid, tid;	  /* 0: not given */
	const char *guest, *diff, *vcpu, *tids, *event_name, *key, *sysroot;
	bool all, halts, arguments, json, csv, help;
	/* The parsed values. */
	bool has_vcpu;
	int32_t vcpu_index;
	pid_t only[EXITS_TIDS]; /* the threads of -t and -T */
	size_t nr_only;
	enum exit_kind event;
	const struct view_type *view; /* to print, */
	size_t sort;		      /* sorted by this column */
	double duration_s; /* 0: until a signal */
	char **command;    /* until it ends; NULL: none. Points into argv */
	uint64_t longer_ns; /* 0: not given */
	struct kallsyms_options kallsyms;
};

/* 0, or -EINVAL with why: a usage error. */
int exits_options_parse(int argc, char **argv, struct exits_options *ret_options, struct why *why);
extern const struct option_table exits_option_table;

#endif
