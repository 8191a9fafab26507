// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads a recording, and at the end of each interval makes a sample of the counts so far. It is
 * handled as a live sample is.
 */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "trace/exits/samples.h"

#define MOMENTS_MAX 10000
/* Rows of all moments together: they take half a second, and at most a few seconds. */
#define ROWS_DEFAULT 5e5
#define ROWS_MAX 4e6
#define NS_PER_S 1e9
#define NO_CUT UINT64_MAX /* an event may have this time, too */

/* ---- how long an interval is */

/* 1, 2 or 5 times a power of ten, at least `least`. */
static double round_up(double least)
{
	double power = pow(10, floor(log10(least)));

	for (int digit = 1; digit <= 5; digit += digit == 1 ? 1 : 3) {
		if (digit * power >= least * (1 - 1e-9))
			return digit * power;
	}
	return 10 * power;
}

/* The shortest interval with so many rows. */
static double shortest_s(const struct recording *recording, double most_rows)
{
	const struct table *table = &recording->pairing.table;
	double rows = 1, nr;

	for (size_t i = 0; i < table->nr_threads; i++)
		rows += (double)table->threads[i]->counts.nr;
	nr = fmin(MOMENTS_MAX, fmax(most_rows / rows, 10));
	return round_up(fmax((double)recording->span_ns, 1) / NS_PER_S / nr);
}

double moments_shortest_s(const struct recording *recording)
{
	return shortest_s(recording, ROWS_MAX);
}

double moments_interval_s(const struct recording *recording)
{
	double span_s = fmax((double)recording->span_ns, 1) / NS_PER_S;

	return fmax(fmin(round_up(span_s / 100), 1), shortest_s(recording, ROWS_DEFAULT));
}

/* ---- a sample */

/* What is needed while the recording is read. */
struct second_reading {
	const struct recording *first; /* as it was read for the first time, without its table */
	struct fields *fields;
	/* As it is read for the second time, in the same table, with the guests of the first. */
	struct recording recording;
	size_t nr_threads;	    /* of the first time */
	double interval_ns;
	uint64_t nr_cuts;  /* intervals that have ended */
	uint64_t next_cut; /* when the current interval ends, in the clock's unit; or NO_CUT */
	struct played_rows rows, before; /* of the latest sample, and of the one before */
	struct stats *stats;
	moment_fn take;
	void *arg; /* of take */
	struct error *error; /* of a failure while events are read */
};

/*
 * Counters do not go back. But a vCPU's time would, where an exit seemed to be open until it turned
 * out that events are missing.
 */
static void keep_rising(struct second_reading *reader)
{
	const struct fields *fields = reader->fields;
	const struct played_rows *before = &reader->before;
	size_t at = 0;

	for (size_t i = 0; i < reader->rows.nr; i++) {
		struct played_row *row = &reader->rows.list[i];

		while (at < before->nr && played_rows_compare(&before->list[at], row) < 0)
			at++;
		if (at < before->nr && played_rows_compare(&before->list[at], row) == 0 &&
		    fields_get(fields, row->key.field)->kind == FIELD_COUNTER &&
		    row->count < before->list[at].count)
			row->count = before->list[at].count;
	}
}

static void make_rows(struct second_reading *reader)
{
	const struct played_rows rows = reader->before;
	struct fields *fields = reader->fields;

	reader->before = reader->rows;
	reader->rows = rows;
	played_rows_reset(&reader->rows);
	recorded_add_events(&reader->rows, &reader->recording, fields, RECORDED_EVENTS);
	recorded_add_exits(&reader->rows, &reader->recording, fields, RECORDED_EXITS);
	played_rows_join(&reader->rows, fields);
	keep_rising(reader);
}

/* offset_ns: of the sample from the recording's start. */
static void make_sample(struct second_reading *reader, uint64_t offset_ns)
{
	struct sample sample = { 0 };

	/* 0 would mean that the sample has nothing of the source. */
	sample.time_ns[RECORDED_EVENTS] = sample.time_ns[RECORDED_EXITS] = 1 + offset_ns;
	played_rows_sample(&reader->rows, NULL, ROW_FROM_ZERO | ROW_WHOLE_INTERVAL, &sample);
	stats_update(reader->stats, reader->fields, &sample);
	sample_release(&sample); /* what it has, stats have; a moment needs the memory */
}

static int take(struct second_reading *reader, uint64_t offset_ns)
{
	const struct facts facts = {
		.fields = reader->fields,
		.stats = reader->stats,
		.guests = reader->recording.guests,
	};

	return reader->take(reader->arg, &facts, offset_ns);
}

/* Takes the sample of an interval that ends here. */
static int cut(struct second_reading *reader, uint64_t time, uint64_t offset_ns,
	       struct error *error)
{
	if (reader->recording.pairing.table.nr_threads != reader->nr_threads)
		return error_set(error, -ESTALE, "the recording changed while it was read: "
				 "read it again when it is complete");
	reader->recording.pairing.last_time = time; /* what is open lasts until then */
	make_rows(reader);
	make_sample(reader, offset_ns);
	return take(reader, offset_ns);
}

/* ---- the stream */

static uint64_t units_of(const struct second_reading *reader, double ns)
{
	return (uint64_t)ceil(ns / reader->recording.ns_per_unit);
}

static void set_next_cut(struct second_reading *reader)
{
	const struct pairing *first = &reader->first->pairing;
	double ns = (double)(reader->nr_cuts + 1) * reader->interval_ns;

	/* A rest of less than 1 ns is no interval. */
	reader->next_cut = ns + 1 < (double)reader->recording.span_ns ?
				   first->first_time + units_of(reader, ns) : NO_CUT;
}

/* Takes the samples that end before the event. */
static int cut_before(struct second_reading *reader, uint64_t time, struct error *error)
{
	int err = 0;

	while (!err && reader->next_cut != NO_CUT && time >= reader->next_cut) {
		reader->nr_cuts++;
		err = cut(reader, reader->next_cut,
			  (uint64_t)((double)reader->nr_cuts * reader->interval_ns), error);
		set_next_cut(reader);
	}
	return err;
}

static int add_event(void *arg, const struct trace_event *event)
{
	struct second_reading *reader = arg;
	int err = event->type ? cut_before(reader, event->time, reader->error) : 0;

	if (!err)
		pairing_add(&reader->recording.pairing, event);
	return err;
}

static int read_all(struct second_reading *reader, struct error *error)
{
	const struct pairing *first = &reader->first->pairing;
	struct pairing *pairing = &reader->recording.pairing;
	int err;

	/* Each moment has rows for everything that the whole recording has. */
	memcpy(pairing->has_exits, first->has_exits, sizeof(pairing->has_exits));
	pairing->has_entries = first->has_entries;
	pairing->has_wakeups = first->has_wakeups;
	reader->recording.is_moment = true;
	make_sample(reader, 0);
	err = take(reader, 0);
	set_next_cut(reader);
	reader->error = error;
	if (!err)
		err = recording_read_events(&reader->recording, add_event, reader);
	if (!err)
		err = cut(reader, first->last_time, reader->recording.span_ns, error);
	return err;
}

/* ---- together */

/* A pipe can be read only once. */
static int check_files(const struct recording *recording, struct error *error)
{
	struct stat st;

	for (size_t i = 0; i < recording->nr_paths; i++) {
		if (stat(recording->paths[i], &st) < 0 ||
		    !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
			return error_set(error, -ESPIPE,
					 "%s is not a regular file, so it is shown as a whole only",
					 recording->paths[i]);
	}
	return 0;
}

/* Gives the table and the guests to the second reading, and takes them back. */
static int read_again(struct second_reading *reader, struct recording *first, struct error *error)
{
	struct recording_choice choice = first->choice;
	int err;

	choice.longer_ns = 0; /* the first time found the long exits */
	err = recording_open(first->paths, first->nr_paths, &choice, &reader->recording, error);
	if (err)
		return err;
	reader->recording.pairing.table = first->pairing.table;
	first->pairing.table = (struct table){ 0 };
	reader->recording.unit = first->unit;
	reader->recording.ns_per_unit = first->ns_per_unit;
	reader->recording.span_ns = first->span_ns;
	reader->recording.guests = first->guests;
	reader->recording.vcpus = first->vcpus;
	reader->nr_threads = reader->recording.pairing.table.nr_threads;
	table_restart(&reader->recording.pairing.table);
	err = read_all(reader, error);
	first->pairing.table = reader->recording.pairing.table;
	reader->recording.pairing.table = (struct table){ 0 };
	reader->recording.guests = NULL;
	reader->recording.vcpus = NULL;
	if (err && !error->text[0])
		error_set(error, err, "the recording cannot be read again: %s", strerror(-err));
	return err ? -ESTALE : 0;
}

int moments_read(struct recording *recording, struct fields *fields, double interval_s,
		 moment_fn take_fn, void *arg, struct error *error)
{
	struct second_reading reader = {
		.first = recording,
		.fields = fields,
		.interval_ns = interval_s * NS_PER_S,
		.stats = stats_new(),
		.take = take_fn,
		.arg = arg,
	};
	int err = check_files(recording, error);

	reader.stats->keeps_no_rates = true;
	if (!err)
		err = read_again(&reader, recording, error);
	recording_release(&reader.recording);
	played_rows_release(&reader.rows);
	played_rows_release(&reader.before);
	stats_free(reader.stats);
	return err;
}
