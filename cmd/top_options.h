/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top_options - the command line of the program without a command. Help, man page and completion
 * follow the table of options.
 */
#ifndef KVMTOP_CMD_TOP_OPTIONS_H
#define KVMTOP_CMD_TOP_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/why.h"
#include "cmd/long_options.h"
#include "cmd/option.h"

#define HISTORY_FILE "/var/lib/kvmtop/history.db" /* kvmtop-history.service writes it */

enum mode {
	MODE_CURSES,
	MODE_BATCH,
	MODE_LOG,
	MODE_WRITE,	/* only -w: the screen, where there is a terminal */
	MODE_DIFF,	/* --diff */
	MODE_EXPORT,	/* --prometheus, --listen */
	MODE_METRICS,	/* --metrics help */
	MODE_COMPLETE,	/* --complete */
	MODE_FIELDS,	/* -f help */
	MODE_PROVIDERS, /* --list-providers */
	MODE_GUESTS,	/* --list-guests */
	MODE_HELP,
	MODE_VERSION,
};

/* The values of the options. Strings point into argv. */
struct top_options {
	bool batch, log, csv, json, debugfs, stats, tracepoints, include_past, skip_zero;
	bool children, by_guest, no_mouse, demo, help, version, complete;
	bool list_providers, list_guests;
	const char *fields;  /* NULL: all */
	const char *guest;   /* NULL: see pid */
	pid_t pid;	     /* 0: all */
	const char *log_file; /* NULL: standard output */
	const char *view;    /* NULL: events */
	const char *sort;    /* NULL: the view's own */
	const char *engine;  /* NULL: the best */
	const char *sysroot; /* "": this machine */
	struct kallsyms_options kallsyms;
	const char *thresholds; /* NULL: the machine's */
	const char *write_file; /* NULL: none is written */
	uint64_t max_age_ns, max_size; /* of the written file; 0: no limit */
	bool read; /* a history, in place of this machine */
	const char *read_file; /* the history's file; NULL: none */
	const char *url;       /* a Prometheus to read from, in place of a file; NULL: none */
	const char *host;      /* one host of the Prometheus; NULL: all */
	const char *http_config; /* user, password, TLS for the Prometheus; NULL: none */
	unsigned long timeout_s; /* how long an answer may take; 0: not given */
	/* Times, which lib/when.h reads; NULL: not given. */
	const char *at, *from, *to;
	const char *diff[2];
	uint64_t past_bytes; /* how much the live screen remembers */
	bool has_past, has_delay; /* --past and -s were given */
	const char *prometheus;	   /* a file; NULL: none is written */
	const char *listen;	   /* an address; NULL: no server */
	const char *web_config;	   /* passwords and TLS of the server; NULL: none */
	unsigned int metrics;	   /* of enum metrics_group */
	unsigned long max_series;
	bool has_metrics, has_max_series, metrics_help;
	char **words; /* behind --complete */
	size_t nr_words;
	double delay_s;
	unsigned long samples; /* 0: until a signal */
};

/* Reads the command line. -EINVAL with why: a usage error, which does not depend on the machine. */
int top_options_parse(int argc, char **argv, struct top_options *ret_options, struct why *why);

/*
 * The mode that the options choose; if there are several, the first of help, version, lists, log,
 * batch.
 */
enum mode top_options_mode(const struct top_options *options);

extern const struct option_table top_option_table;

#endif
