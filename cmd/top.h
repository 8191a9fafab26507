/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top - the parts of `kvmtop`: what it does with a past, with all of a recording, and with -w; and
 * its lists.
 */
#ifndef KVMTOP_CMD_TOP_H
#define KVMTOP_CMD_TOP_H

#include <stdio.h>

#include "host/env.h"
#include "core/provider.h"
#include "core/facts/field.h"
#include "core/guests/guests.h"
#include "trace/exits/recording.h"
#include "history/recorder.h"
#include "cmd/run.h"

/* ---- past.c: `kvmtop -r`, a history or moments of a recording in all modes of a live machine */

/* Returns the exit status; prints its errors. */
int past_run(const struct options *options);

/* ---- report.c: all of a recording, for `kvmtop report` and `kvmtop -r RECORDING` */

/* Prints what could not be read: STATUS_FAILURE if there was anything, else STATUS_OK. */
int report_problems(const struct recording *recording);

/* Reads the words about what is printed. 0 or -EINVAL with error. */
int report_understand(struct options *options, struct error *error);

/* Shows or prints the source of the options. Returns the exit status; prints its errors. */
int report_run(const struct options *options);

/* ---- acrn.c: ACRN's own table of VM exits */

/*
 * ACRN's vm_exit report, to the letter; or appended to csv ("-": printed) its CSV. mhz_text: how
 * mhz is written; NULL: as a number.
 */
int report_acrn(const struct recording *recording, double mhz, const char *mhz_text,
		const char *csv, FILE *out, struct error *error);

/* ---- write.c: `kvmtop -w FILE`, every sample goes to a history file */

/* Zero-initialised writes nothing: without -w. */
struct writer {
	const char *path; /* in argv */
	struct history_file *file;
	struct recorder *recorder;
	bool has_said_dropped;
	struct losses said; /* losses that were printed, or were none, at the latest sample */
};

/* Call it after monitor_want(). 0, or -errno with error; see history_file_create(). */
int writer_open(struct writer *writer, const struct run *run, struct error *error);

/*
 * Writes the monitor's latest sample. Prints a message when writing fails, and when it works
 * again. time_ns: CLOCK_REALTIME.
 */
void writer_take(struct writer *writer, const struct monitor *monitor, uint64_t time_ns);

/*
 * Waits until all samples are written, and closes the file. 0, or -errno with error. When the disk
 * hangs, the samples that are left are dropped.
 */
int writer_close(struct writer *writer, struct error *error);

/*
 * ---- lists.c: what can be counted, the guests, the providers, the names of fields; also for the
 * shell's completion
 */

/* How a line is printed: for people, or for the shell. */
typedef void list_guest(const struct guest *guest);
typedef void list_name(const char *name);

void list_guest_line(const struct guest *guest);
void list_guest_name(const struct guest *guest); /* this one and the next: for the shell */
void list_guest_pid(const struct guest *guest);
void list_field(const char *name);
void list_field_pattern(const char *name);
void list_event(const char *name); /* prints nothing if it is no event */

/*
 * --list-guests: needs no provider. With list_guest_line it also names the processes that cannot be
 * examined. Returns the exit status; prints its errors.
 */
int list_guests(const struct env *env, list_guest *print);

/* --list-providers: tries each. Returns the exit status. */
int list_providers(const struct env *env, const struct provider_options *options);

/* -f help: the names of the fields, sorted. */
void list_fields(const struct fields *fields, list_name *print);

#endif
