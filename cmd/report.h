/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report - what the files of `kvmtop report` share: its options, and a recording as facts.
 *
 * All outputs work in the same way: the recording is read and becomes guests and providers. The
 * monitor reads these as it reads live guests and providers. Then a view is built for the screen,
 * text, CSV, JSON or --diff.
 */
#ifndef KVMTOP_CMD_REPORT_H
#define KVMTOP_CMD_REPORT_H


#include "core/findings/thresholds.h"
#include "cmd/long_options.h"
#include "cmd/option.h"
#include "core/monitor.h"
#include "trace/exits/recorded.h"
#include "core/views/query.h"

/* Strings point into argv. */
struct report_options {
	bool json, acrn, text, no_mouse, help;
	const char *event_name, *by, *view_name, *guest, *pids, *key, *csv, *diff, *input_format,
		*buffer;
	const char *thresholds; /* NULL: the machine's */
	const char *mhz_text; /* the word; NULL: not given */
	double mhz, interval_s; /* 0: not given */
	unsigned long vcpu;
	bool has_vcpu, halts;
	uint64_t longer_ns; /* 0: not given */
	struct kallsyms_options kallsyms;
	/* Read from the words. */
	enum exit_kind event;
	unsigned int groups;	      /* see struct query */
	const struct view_type *view; /* NULL: not given */
	enum trace_kind kind;
};

/* 0 or -EINVAL with why. ret_first: the index in argv where the files begin. */
int report_options_parse(int argc, char **argv, struct report_options *ret_options,
			 int *ret_first, struct why *why);
extern const struct option_table report_option_table;
/* What is printed as text: the view that was asked for, else the table of exits. */
const struct view_type *report_view(const struct report_options *options);

/* A recording as facts, and the query. */
struct report_facts {
	struct recorded recorded;
	struct monitor *monitor; /* NULL: the recording has no events of KVM */
	struct pattern *filter;
	struct vcpu_key *only; /* the vCPUs of -p */
	struct query query;
	struct thresholds thresholds;
	struct long_exits long_exits;
	struct kallsyms_files kallsyms;
	bool is_none; /* nothing in the recording matches -p, -g and --vcpu */
};

/*
 * type: the view that is asked for. Takes no sample yet. -EINVAL with why: the view cannot show
 * what the options choose. Call report_facts_release() afterwards, even after an error.
 */
int report_facts_init(struct report_facts *facts, const struct recording *recording,
		      const struct report_options *options, const struct view_type *type,
		      struct why *why);
void report_facts_release(struct report_facts *facts);

/*
 * Shows the screen, for which the recording is read once more. Returns 0 if the screen was shown.
 * -ESTALE with why: what the recording has is not known any more. On another error the caller
 * prints text instead, after a warning with why unless why is empty.
 */
int report_screen(struct recording *recording, const struct report_options *options,
		  struct why *why);

/* Text, CSV and JSON: 0 or -errno with why. */
int report_lines(const struct recording *recording, const struct report_options *options,
		 struct why *why);

/* --diff: from other to recording. 0 or -errno with why. */
int report_two(const struct recording *other, const struct recording *recording,
	       const struct report_options *options, struct why *why);

#endif
