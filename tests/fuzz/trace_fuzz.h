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

#include "lib/array.h"
#include "core/monitor.h"
#include "trace/exits/recording.h"
#include "cmd/top.h"
#include "ui/lines/lines.h"
#include "core/views/query.h"
#include "core/views/view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline int fuzz_open(const uint8_t *data, size_t size, char *path, size_t path_size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, path_size, "/proc/self/fd/%d", fd);
	return fd;
}

/* What every event and problem promises. */
static inline void fuzz_check(const struct trace *trace, const struct trace_event *event)
{
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
	trace_guest_symbols(trace, event->file, 0);
}

/* A view as a table of any width, as CSV, as JSON. */
static inline void fuzz_formats(const struct view *view, const struct lines_recording *about,
				unsigned int room)
{
	static const enum lines_format formats[] = { LINES_TABLE, LINES_ROWS, LINES_JSON };
	struct error error;

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		const struct lines_config config = {
			.format = formats[i],
			.path = "/dev/null",
			.room = (int)room,
			.side = { { .recording = about }, { .recording = about } },
		};
		struct lines *lines;

		if (lines_open(&config, &lines, &error) < 0 ||
		    lines_write(lines, view, 0, 1, &error) < 0 ||
		    lines_close(lines, &error) < 0)
			abort();
	}
}

/* The difference of a view from itself. */
static inline void fuzz_diff(const struct view *view, const struct lines_recording *about,
			     unsigned int room)
{
	const struct view_side side = { "", view, 1, room % 2 };
	struct error error;
	struct view both;

	if (view_diff((const struct view_side[]){ side, side }, &both, &error) == 0)
		fuzz_formats(&both, about, room);
	view_release(&both);
}

/* What is written of a view. */
static inline void fuzz_lines(const struct view *view, const struct recording *recording,
			      unsigned int room)
{
	const struct lines_recording about = {
		.trace = recording->trace,
		.pairing = &recording->pairing,
		.has_time = true,
		.none = "",
	};
	static FILE *null;
	struct error error;

	if (!null)
		null = fopen("/dev/null", "w");
	if (!null)
		return;
	fuzz_formats(view, &about, room);
	lines_recording_head(&about, null);
	lines_recording_total(&about, view, null);
	lines_recording_notes(&about, null);
	lines_recording_lacks(&about, 1, null);
	if (view->type == &view_exits)
		fuzz_diff(view, &about, room);
	report_acrn(recording, 1000, NULL, NULL, null, &error);
}

/* A view, and what is written of it. */
static inline void fuzz_view(struct monitor *monitor, struct query *query,
			     const struct recording *recording, unsigned int room)
{
	struct view view = { 0 };
	struct error error;

	if (monitor_want(monitor, query, &error) < 0)
		abort();
	monitor_sample(monitor);
	view_build(&view, query, monitor_facts(monitor));
	fuzz_lines(&view, recording, room);
	view_release(&view); /* before the monitor, which owns the view's texts */
}

static inline int fuzz_moment(void *arg, const struct facts *facts, uint64_t offset_ns)
{
	(void)arg;
	(void)facts;
	(void)offset_ns;
	return 0;
}

/* Every view of it, and every table of totals of what is asked for. */
static inline void fuzz_look(struct recording *recording, enum exit_kind what)
{
	struct monitor_config config = {
		.list = recorded_players, .source = SOURCE_RECORDING, .is_span = true,
		.unit = what % 2 ? UNIT_CYCLES : UNIT_NS,
	};
	struct query query = { .children = true, .event = what };
	struct monitor *monitor;
	struct error error;

	config.recording = (struct monitor_recording){
		.recording = recording,
		.guests = recording->guests,
	};
	if (monitor_open(&config, &monitor, &error) == 0) {
		if (moments_interval_s(recording) > 0)
			moments_make(recording, monitor_fields(monitor), fuzz_moment, NULL);
		for (unsigned int i = 0; (query.type = view_type_at(i)); i++)
			fuzz_view(monitor, &query, recording, 40 * i);
		query.type = &view_exits;
		for (query.groups = 0; query.groups <= GROUP_ALL; query.groups++)
			fuzz_view(monitor, &query, recording, 25 * query.groups);
		monitor_close(monitor);
	}
}

static inline int fuzz_recording(const uint8_t *data, size_t size, enum trace_kind kind)
{
	/* Of 1 GHz, if times are in cycles. */
	const struct recording_choice choice = {
		.kind = kind, .arguments = PAIRING_ALL_ARGUMENTS, .mhz = 1000,
		.has_moments = size % 2, .has_code = true,
	};
	const struct trace_event *event;
	struct recording recording;
	const char *paths[1];
	struct error error;
	char path[64];
	int fd = fuzz_open(data, size, path, sizeof(path));

	paths[0] = path;
	if (recording_open(paths, 1, &choice, &recording, &error) == 0) {
		recording.pairing.table.most_threads = 1 + size % 4; /* further ones are others */
		while (trace_next(recording.trace, &event)) {
			fuzz_check(recording.trace, event);
			recording_add(&recording, event);
		}
		recording_end(&recording);
		fuzz_look(&recording, (enum exit_kind)(size % EXITS_KINDS));
		for (size_t i = 0; trace_problem(recording.trace, i); i++) {
			if (!trace_problem(recording.trace, i)[0])
				abort();
		}
		recording_release(&recording);
	}
	close(fd);
	return 0;
}

#endif
