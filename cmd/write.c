// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens a history file and the recorder that fills it, and reports what is lost. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/process.h"
#include "cmd/top.h"
#include "history/file.h"
#include "history/moment.h"

#define HANGS_MS 5000 /* without a sample that is stored */

int writer_open(struct writer *writer, const struct run *run, struct error *error)
{
	const struct options *options = run->options;
	const struct file_limits limits = { options->max_age_ns, options->max_size };
	struct segment segment;
	struct sink sink;
	int err;

	if (!options->write_file)
		return 0;
	writer->path = options->write_file;
	segment_of_machine(run->source->env, monitor_engine(run->monitor), options->interval_s,
			   &segment);
	err = history_file_create(options->write_file, &segment, &limits, &writer->file, error);
	if (err)
		return err;
	say_notice(error); /* a damaged file was renamed */
	sink = history_file_sink(writer->file);
	sink.thresholds = &run->parts.thresholds;
	return recorder_start(&sink, &writer->recorder);
}

/* Once: a limit that is too low, or was meant for another file, is noticed. */
static void say_dropped(struct writer *writer)
{
	if (writer->has_said_dropped || !history_file_dropped(writer->file))
		return;
	fprintf(stderr, "kvmtop: %s: its oldest samples are dropped from now on, as --max-age or "
		"--max-size says\n", writer->path);
	writer->has_said_dropped = true;
}

static void say_losses(struct writer *writer)
{
	const struct losses *said = &writer->said;
	struct losses now;

	recorder_losses(writer->recorder, &now);
	if (now.is_losing && (!said->is_losing || strcmp(now.error.text, said->error.text) != 0))
		fprintf(stderr, "kvmtop: samples cannot be stored: %s\n", now.error.text);
	if (!now.is_losing && said->is_losing)
		fprintf(stderr, "kvmtop: samples are stored again; lost so far: %" PRIu64 "\n",
			now.nr);
	writer->said = now;
}

void writer_take(struct writer *writer, const struct monitor *monitor, uint64_t time_ns)
{
	if (!writer->recorder)
		return;
	recorder_take(writer->recorder, monitor_facts(monitor), time_ns);
	say_losses(writer);
	say_dropped(writer);
}

/* Returns how many samples are left: a disk that hangs stores none of them in time. */
static size_t wait_for_disk(struct recorder *recorder)
{
	size_t left = recorder_flush(recorder, HANGS_MS), before = SIZE_MAX;

	while (left && left < before) {
		before = left;
		left = recorder_flush(recorder, HANGS_MS);
	}
	return left;
}

int writer_close(struct writer *writer, struct error *error)
{
	struct losses losses = { 0 };
	size_t left = 0;
	int err;

	if (writer->recorder) {
		left = wait_for_disk(writer->recorder);
		recorder_losses(writer->recorder, &losses);
	}
	if (losses.nr + left)
		fprintf(stderr, "kvmtop: samples that could not be stored: %" PRIu64 "\n",
			losses.nr + left);
	if (writer->file && history_file_dropped(writer->file))
		fprintf(stderr, "kvmtop: %s: oldest samples that were dropped: %" PRIu64 "\n",
			writer->path, history_file_dropped(writer->file));
	if (left) { /* the thread is in a system call, and ends with the program */
		err = error_set(error, -ETIMEDOUT,
				"%s: the disk did not store a sample within %d s", writer->path,
				HANGS_MS / 1000);
	} else {
		recorder_stop(writer->recorder);
		err = history_file_close(writer->file, error);
		if (!err && losses.nr)
			err = error_set(error, -EIO, "%s: %ssamples are missing: %s", writer->path,
					losses.is_losing ? "its latest " : "", losses.error.text);
	}
	*writer = (struct writer){ .file = NULL };
	return err;
}
