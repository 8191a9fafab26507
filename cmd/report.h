/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report - what the files of `kvmtop report` share: its options, and a recording as facts.
 *
 * There is one way: the recording is read, becomes guests and providers, which the monitor reads as
 * it reads the live ones, and a view is built from that, for the screen, text, CSV, JSON or --diff.
 */
#ifndef KVMTOP_CMD_REPORT_H
#define KVMTOP_CMD_REPORT_H

#include <stdio.h>

#include "monitor.h"
#include "trace/recorded/recorded.h"
#include "views/query.h"

/* Strings point into argv. */
struct report_options {
	bool json, acrn, text, help;
	const char *event_name, *by, *view_name, *guest, *pids, *key, *csv, *diff, *input_format;
	const char *mhz_text; /* as the user wrote it; NULL: not */
	double mhz;
	unsigned long vcpu;
	bool has_vcpu;
	/* What the words mean. */
	enum exit_kind event;
	unsigned int groups;	      /* of ROWS_TOTALS, see struct query */
	const struct view_type *view; /* NULL: not asked for */
	enum trace_kind kind;
};

/* 0 or -EINVAL with why; fills in what the words mean. ret_first: where the files begin in argv. */
int report_options_parse(int argc, char **argv, struct report_options *ret_options,
			 int *ret_first, struct why *why);
void report_options_help(FILE *out);

/* A recording as facts, and what is asked of it. */
struct report_facts {
	struct recorded recorded;
	struct monitor *monitor; /* NULL: the recording has no events of KVM */
	struct pattern *filter;
	struct vcpu_key *only; /* of -p */
	struct query query;
	bool is_none; /* -p, -g and --vcpu name nothing that is in the recording */
};

/*
 * type: the view that is asked for. Nothing is sampled yet. -EINVAL with why: the view cannot show
 * what the options choose. Whatever it returns, report_facts_release() comes after it.
 */
int report_facts_init(struct report_facts *facts, const struct recording *recording,
		      const struct report_options *options, const struct view_type *type,
		      struct why *why);
void report_facts_release(struct report_facts *facts);

/*
 * The screen. 0 when it was shown, else nothing was shown, and text is to be printed; without words
 * where there is nothing to be said about it.
 */
int report_screen(const struct recording *recording, const struct report_options *options,
		  struct why *why);

/* Text, CSV and JSON: 0 or -errno with why. */
int report_lines(const struct recording *recording, const struct report_options *options,
		 struct why *why);

/* --diff: from other to recording. 0 or -errno with why. */
int report_two(const struct recording *other, const struct recording *recording,
	       const struct report_options *options, struct why *why);

#endif
