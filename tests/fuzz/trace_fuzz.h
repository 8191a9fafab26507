/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_fuzz - any bytes as a recording of one kind, read to its end, reported and looked at.
 */
#ifndef KVMTOP_TESTS_FUZZ_TRACE_FUZZ_H
#define KVMTOP_TESTS_FUZZ_TRACE_FUZZ_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "monitor.h"
#include "trace/recorded/player.h"
#include "trace/recorded/recorded.h"
#include "trace/report/report.h"
#include "views/build.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void); // NOLINT(bugprone-reserved-identifier,cert-*)
const char *__lsan_default_options(void); // NOLINT(bugprone-reserved-identifier,cert-*)

/* libtraceevent 1.7 forgets memory when a format makes no sense. */
const char *__lsan_default_suppressions(void) // NOLINT(bugprone-reserved-identifier,cert-*)
{
	return "leak:tep_parse_event\n";
}

const char *__lsan_default_options(void) // NOLINT(bugprone-reserved-identifier,cert-*)
{
	return "print_suppressions=0";
}

static inline int fuzz_open(const uint8_t *data, size_t size, char *path, size_t path_size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, path_size, "/proc/self/fd/%d", fd);
	return fd;
}

/* What every event and problem promises. */
static inline void fuzz_check(const struct trace *trace, const struct trace_event *event,
			      size_t size)
{
	if (event->offset > size)
		abort();
	if (!event->type)
		return;
	for (size_t i = 0; i < event->type->nr_fields; i++) {
		const struct trace_field *field = &event->type->fields[i];
		size_t len = 0;
		const uint8_t *at = trace_field_data(field, event, &len);

		trace_field_number(field, event);
		if (at && (at < (const uint8_t *)event->data ||
			   at + len > (const uint8_t *)event->data + event->size))
			abort();
	}
	trace_comm(trace, event);
}

static inline void fuzz_report(const struct recording *recording, enum exit_kind kind)
{
	static FILE *null;
	struct why why = { "" };
	struct report_options options = { .tally_event = kind, .group_by = BY_REASON,
					  .sort = COLUMN_COUNT };
	struct report report;

	if (!null)
		null = fopen("/dev/null", "w");
	for (; null && options.group_by <= BY_TID; options.group_by++) {
		if (report_init(&report, recording, &options) < 0)
			abort();
		report_text(&report, (int)options.group_by * 40, null);
		report_csv(&report, null);
		report_json(&report, null);
		report_diff(&report, &report, null, &why);
		report_release(&report);
	}
	if (null)
		report_acrn(recording, 1000, "1000", NULL, null, &why);
}

/* Every view of it. */
static inline void fuzz_look(const struct recording *recording)
{
	struct recorded recorded;
	struct monitor_config config = { 0 };
	struct query query = { .children = true };
	struct monitor *monitor;
	struct view view = { 0 };
	struct why why;

	if (recorded_init(&recorded, recording, 1) < 0)
		abort();
	config.recording = (struct monitor_recording){ recorded_players, &recorded,
						       recorded.guests };
	for (size_t i = 0; monitor_open(&config, &monitor, &why) == 0; i++) {
		query.type = view_type_at(i);
		if (query.type && (monitor_want(monitor, &query, &why) < 0 ||
				   monitor_sample(monitor) < 0 ||
				   view_build(&view, &query, monitor_facts(monitor)) < 0))
			abort();
		view_release(&view); /* whose texts are the monitor's */
		monitor_close(monitor);
		if (!query.type)
			break;
	}
	recorded_release(&recorded);
}

static inline void fuzz_events(struct trace *trace, enum exit_kind what, size_t size)
{
	static struct recording recording;
	struct pairing *pairing = &recording.pairing;
	const struct trace_event *event;

	recording = (struct recording){ .trace = trace };
	pairing_init(pairing, trace, NULL);
	while (trace_next(trace, &event) > 0) {
		fuzz_check(trace, event, size);
		if (pairing_add(pairing, event) < 0)
			abort();
	}
	pairing_end(pairing);
	for (size_t i = 0; i < pairing->table.nr_threads; i++)
		guests_identify(trace, pairing->table.threads[i]);
	fuzz_report(&recording, what);
	fuzz_look(&recording);
	pairing_release(pairing);
	for (size_t i = 0; trace_problem(trace, i); i++) {
		if (!trace_problem(trace, i)->text[0])
			abort();
	}
}

static inline int fuzz_recording(const uint8_t *data, size_t size, enum trace_kind kind)
{
	struct trace *trace = NULL;
	const char *paths[1];
	struct why why;
	char path[64];
	int fd = fuzz_open(data, size, path, sizeof(path));

	paths[0] = path;
	if (trace_open(paths, 1, kind, &trace, &why) == 0) {
		fuzz_events(trace, (enum exit_kind)(size % EXITS_KINDS), size);
		trace_close(trace);
	}
	close(fd);
	return 0;
}

#endif
