/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report - what the files of `kvmtop report` share: a recording as facts.
 *
 * All outputs work in the same way: the recording is read and becomes guests and providers. The
 * monitor reads these as it reads live guests and providers. Then a view is built for the screen,
 * text, CSV, JSON or --diff.
 */
#ifndef KVMTOP_CMD_REPORT_H
#define KVMTOP_CMD_REPORT_H

#include "core/findings/thresholds.h"
#include "cmd/options.h"
#include "cmd/source.h"
#include "core/monitor.h"
#include "core/views/query.h"

/* What is printed as text: the view that was asked for, else the table of exits. */
const struct view_type *report_view(const struct options *options);

/* Prints what could not be read: STATUS_FAILURE if there was anything, else STATUS_OK. */
int report_problems(const struct recording *recording);

/* Reads the words about what is printed. 0 or -EINVAL with why. */
int report_understand(struct options *options, struct error *why);

/* Shows or prints several files as one recording. Returns the exit status; prints its errors. */
int report_recordings(const char *const *paths, size_t nr, const struct options *options);

/* A recording as facts, and the query. */
struct report_facts {
	const struct source_reading *reading;
	struct monitor *monitor; /* the source's; NULL: it has no events of KVM */
	struct pattern *filter;
	struct vcpu_key *only; /* the vCPUs of -p */
	struct query query;
	struct thresholds thresholds;
	struct kallsyms_files kallsyms;
	bool is_none; /* nothing in the recording matches -p, -g and --vcpu */
};

/*
 * type: the view that is asked for. Takes no sample yet. -EINVAL with why: the view cannot show
 * what the options choose. Call report_facts_release() afterwards, even after an error.
 */
int report_facts_init(struct report_facts *facts, const struct source *source,
		      const struct options *options, const struct view_type *type,
		      struct error *why);
void report_facts_release(struct report_facts *facts);

/*
 * Shows the screen, for which the recording is read once more. Returns 0 if the screen was shown.
 * -ESTALE with why: the recording cannot be used any more. On another error the caller
 * prints text instead, after a warning with why unless why is empty.
 */
int report_screen(struct source *source, const struct options *options, struct error *why);

/* The interval of the moments of a recording: -s, or more if that makes too many moments. */
double report_interval_s(const struct recorded *recorded, const struct options *options);

/* Text, CSV and JSON: 0 or -errno with why. */
int report_lines(const struct source *source, const struct options *options, struct error *why);

/* --diff: from other to source. 0 or -errno with why. */
int report_two(const struct source *other, const struct source *source,
	       const struct options *options, struct error *why);

#endif
