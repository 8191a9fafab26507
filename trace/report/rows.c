// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes the rows of a report: chooses threads, groups their cells, sorts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <uthash.h>

#include "trace/recorded/recording.h"
#include "trace/report/report.h"

#define ALL (1 << BY_REASON | 1 << BY_GUEST | 1 << BY_VCPU | 1 << BY_TID)
#define THREADS (1 << BY_GUEST | 1 << BY_VCPU | 1 << BY_TID)

const struct report_heading report_columns[NR_COLUMNS] = {
	[COLUMN_NAME] = { "reason", "Exit reason", "why the guest was left", AS_TEXT, 24,
			  1 << BY_REASON },
	[COLUMN_GUEST] = { "guest", "Guest", "its name in the recording", AS_TEXT, 16, THREADS },
	[COLUMN_PID] = { "pid", "PID", "its process", AS_ID, 8, THREADS },
	[COLUMN_VCPU] = { "vcpu", "vCPU", "the vCPU's number", AS_ID, 5,
			  1 << BY_VCPU | 1 << BY_TID },
	[COLUMN_TID] = { "tid", "TID", "the vCPU's thread", AS_ID, 8,
			 1 << BY_VCPU | 1 << BY_TID },
	[COLUMN_COUNT] = { "count", "Count", "how many there were", AS_COUNT, 10, ALL },
	[COLUMN_RATE] = { "per_s", "Count/s", "per second of the recording", AS_RATE, 10, ALL },
	[COLUMN_SHARE] = { "share", "Count%", "of all of them", AS_PERCENT, 6, ALL },
	[COLUMN_TOTAL] = { "total", "Total", "handling time, all together", AS_TIME, 13, ALL },
	[COLUMN_TIME_SHARE] = { "time_share", "Time%", "of all handling time", AS_PERCENT, 6, ALL },
	[COLUMN_WALL_SHARE] = { "wall_share", "Wall%", "of the vCPUs' wall time", AS_PERCENT, 6,
				ALL },
	[COLUMN_IDLE_SHARE] = { "idle_share", "Idle%", "of it, halted", AS_PERCENT, 6, THREADS },
	[COLUMN_MIN] = { "min", "Min", "the shortest", AS_TIME, 10, ALL },
	[COLUMN_AVG] = { "avg", "Avg", "the mean", AS_TIME, 10, ALL },
	[COLUMN_STDDEV] = { "stddev", "Stddev", "the deviation from it", AS_TIME, 10, ALL },
	[COLUMN_P50] = { "p50", "p50", "half took less", AS_TIME, 10, ALL },
	[COLUMN_P99] = { "p99", "p99", "99 of 100 took less", AS_TIME, 10, ALL },
	[COLUMN_MAX] = { "max", "Max", "the longest", AS_TIME, 11, ALL },
};

bool report_has_column(const struct report *report, enum report_column column)
{
	return report_columns[column].by & 1U << report->by;
}

const char *report_unit(const struct report *report)
{
	return report->ns_per_unit > 0 ? "ns" : "cycles";
}

/* ---- values */

static struct value percent(double part, double whole)
{
	if (!(whole > 0))
		return (struct value){ .is_absent = true };
	return (struct value){ .real = 100 * part / whole };
}

static struct value time_value(const struct report *report, const struct report_row *row,
			       double units)
{
	if (!report->has_time || row->took.count == 0)
		return (struct value){ .is_absent = true };
	return (struct value){ .real = report->ns_per_unit > 0 ? units * report->ns_per_unit :
								 units };
}

static struct value id_value(int32_t id)
{
	return (struct value){ .is_absent = id < 0, .number = (uint64_t)id };
}

static struct value rate(const struct report *report, const struct report_row *row)
{
	double seconds = (double)report->wall * report->ns_per_unit / 1e9;

	if (!(seconds > 0))
		return (struct value){ .is_absent = true };
	return (struct value){ .real = (double)row->count / seconds };
}

static struct value wall_share(const struct report *report, const struct report_row *row,
			       uint64_t part)
{
	double nr = report->by == BY_REASON ? report->total.nr_vcpus : row->nr_vcpus;

	if (!report->has_time)
		return (struct value){ .is_absent = true };
	return percent((double)part, (double)report->wall * nr);
}

static struct value duration(const struct report *report, const struct report_row *row,
			     enum report_column column)
{
	const struct durations *took = &row->took;

	switch (column) {
	case COLUMN_MIN:
		return time_value(report, row, (double)took->min);
	case COLUMN_AVG:
		return time_value(report, row, durations_mean(took));
	case COLUMN_STDDEV:
		return time_value(report, row, durations_stddev(took));
	case COLUMN_P50:
		return time_value(report, row, (double)durations_percentile(took, 0.50));
	case COLUMN_P99:
		return time_value(report, row, (double)durations_percentile(took, 0.99));
	case COLUMN_MAX:
		return time_value(report, row, (double)took->max);
	default:
		return time_value(report, row, (double)took->total);
	}
}

struct value report_value(const struct report *report, const struct report_row *row,
			  enum report_column column)
{
	bool is_thread = report->by != BY_REASON;

	switch (column) {
	case COLUMN_NAME:
		return (struct value){ .text = row->name };
	case COLUMN_GUEST:
		return (struct value){ .is_absent = !row->guest[0], .text = row->guest };
	case COLUMN_PID:
		return id_value(row->pid);
	case COLUMN_VCPU:
		return id_value(row->vcpu);
	case COLUMN_TID:
		return id_value(row->tid);
	case COLUMN_COUNT:
		return (struct value){ .number = row->count };
	case COLUMN_RATE:
		return rate(report, row);
	case COLUMN_SHARE:
		return percent((double)row->count, (double)report->total.count);
	case COLUMN_TIME_SHARE:
		return report->has_time ? percent((double)row->took.total,
						  (double)report->total.took.total) :
					  (struct value){ .is_absent = true };
	case COLUMN_WALL_SHARE:
		return wall_share(report, row, row->took.total - (is_thread ? row->idle : 0));
	case COLUMN_IDLE_SHARE:
		/* An access or an argument is no halt: it is not known. */
		if (report->event != EXITS_VMEXIT)
			return (struct value){ .is_absent = true };
		return wall_share(report, row, row->idle);
	default:
		return duration(report, row, column);
	}
}

/* ---- grouping */

static bool pid_is_listed(const char *list, int32_t pid)
{
	while (pid >= 0 && *list) {
		char *end;
		long listed = strtol(list, &end, 10);

		if (listed == pid)
			return true;
		if (end == list)
			return false;
		list = end + (*end == ',');
	}
	return false;
}

static bool has_kind(const struct recorded_thread *thread, enum exit_kind kind)
{
	for (size_t i = 0; i < thread->nr_counts; i++) {
		if (thread->counts[i].key.kind == kind)
			return true;
	}
	return false;
}

static bool is_wanted(const struct report *report, const struct recorded_thread *thread,
		      const struct report_options *options)
{
	if (!has_kind(thread, report->event))
		return false;
	if (options->has_vcpu &&
	    (thread->vcpu < 0 || (unsigned long)thread->vcpu != options->vcpu))
		return false;
	return !options->pids || pid_is_listed(options->pids, thread->pid) ||
	       pid_is_listed(options->pids, thread->tid);
}

/* The guest's name, where the file has it. */
static void set_guest(const struct pairing *pairing, const struct recorded_thread *thread,
		      struct report_row *row)
{
	struct trace_event process = { .file = thread->file, .pid = thread->pid,
				       .tid = thread->pid };
	struct trace_guest guest;

	if (thread->guest >= 0 &&
	    trace_guest(pairing->trace, thread->file, (size_t)thread->guest, &guest))
		snprintf(row->guest, sizeof(row->guest), "%s", guest.name);
	if (!row->guest[0] && thread->pid >= 0)
		snprintf(row->guest, sizeof(row->guest), "%s",
			 trace_comm(pairing->trace, &process));
	if (!row->guest[0])
		snprintf(row->guest, sizeof(row->guest), "%s",
			 trace_file(pairing->trace, thread->file)->instance);
}

/* What a row is about: rows with equal parts are one. */
static void set_identity(const struct report *report, const struct recorded_thread *thread,
			 const struct exit_count *cell, struct report_row *row)
{
	*row = (struct report_row){ .pid = -1, .vcpu = -1, .tid = -1, .cpu = -1 };
	if (report->by == BY_REASON) {
		pairing_name(report->pairing, cell, row->name, sizeof(row->name));
		return;
	}
	set_guest(report->pairing, thread, row);
	row->pid = thread->pid;
	if (report->by == BY_VCPU || report->by == BY_TID)
		row->vcpu = thread->vcpu;
	/* Two vCPUs of one number are of two guests: where those are not known, threads tell. */
	if (report->by == BY_TID || (report->by == BY_VCPU && (!row->guest[0] || row->vcpu < 0)))
		row->tid = thread->tid;
	if (thread->tid < 0 && thread->vcpu < 0 && report->by != BY_GUEST) {
		row->cpu = thread->cpu; /* acrn: nothing else is known */
		snprintf(row->guest, sizeof(row->guest), "CPU %d", thread->cpu);
	}
}

/* What tells rows apart; as bytes, so that what is behind a name's end must be zero. */
struct identity {
	char name[ROW_NAME_SIZE], guest[ROW_NAME_SIZE];
	int32_t pid, vcpu, tid, cpu;
};

/* One that was seen: a damaged file has many, so that lists would take long. */
struct known {
	struct identity identity;
	size_t row;
	UT_hash_handle hh;
};

static struct identity identity_of(const struct report_row *row)
{
	struct identity identity;

	memset(&identity, 0, sizeof(identity));
	strcpy(identity.name, row->name);
	strcpy(identity.guest, row->guest);
	identity.pid = row->pid;
	identity.vcpu = row->vcpu;
	identity.tid = row->tid;
	identity.cpu = row->cpu;
	return identity;
}

/* NULL: no memory. A new one has row SIZE_MAX. */
static struct known *know(struct known **all, const struct identity *identity)
{
	struct known *known;

	HASH_FIND(hh, *all, identity, sizeof(*identity), known);
	if (known)
		return known;
	known = calloc(1, sizeof(*known));
	if (!known)
		return NULL;
	known->identity = *identity;
	known->row = SIZE_MAX;
	HASH_ADD(hh, *all, identity, sizeof(known->identity), known);
	return known;
}

static void forget(struct known **all)
{
	struct known *known, *next;

	HASH_ITER(hh, *all, known, next) {
		HASH_DEL(*all, known);
		free(known);
	}
}

static struct report_row *find_row(struct report *report, struct known **all,
				   const struct report_row *wanted)
{
	const struct identity identity = identity_of(wanted);
	struct known *known = know(all, &identity);
	struct report_row *rows;

	if (!known)
		return NULL;
	if (known->row != SIZE_MAX)
		return &report->rows[known->row];
	rows = reallocarray(report->rows, report->nr_rows + 1, sizeof(*rows));
	if (!rows)
		return NULL;
	report->rows = rows;
	rows[report->nr_rows] = *wanted;
	if (durations_init(&rows[report->nr_rows].took) < 0)
		return NULL;
	known->row = report->nr_rows;
	return &rows[report->nr_rows++];
}

static void add_cell(const struct report *report, struct report_row *row,
		     const struct exit_count *cell)
{
	bool is_idle = pairing_is_idle(report->pairing, cell);

	durations_join(&row->took, &cell->took);
	row->count += pairing_count(report->pairing, cell);
	row->is_idle |= is_idle;
	if (is_idle)
		row->idle += cell->took.total;
}

static int add_thread(struct report *report, struct known **all,
		      const struct recorded_thread *thread)
{
	struct report_row wanted, *row;
	size_t last = SIZE_MAX;

	report->total.nr_vcpus++;
	for (size_t i = 0; i < thread->nr_counts; i++) {
		const struct exit_count *cell = &thread->counts[i];

		if (cell->key.kind != report->event)
			continue;
		report->nr_open += cell->begun - cell->took.count;
		if (pairing_count(report->pairing, cell) == 0)
			continue;
		set_identity(report, thread, cell, &wanted);
		row = find_row(report, all, &wanted);
		if (!row)
			return -ENOMEM;
		add_cell(report, row, cell);
		add_cell(report, &report->total, cell);
		row->nr_vcpus += report->by == BY_REASON || (size_t)(row - report->rows) != last;
		last = (size_t)(row - report->rows);
	}
	return 0;
}

/* Guests that can be told apart: by process, else none. */
static int count_guests(struct report *report, const struct report_options *options)
{
	const struct table *table = &report->pairing->table;
	struct known *all = NULL;
	int err = 0;

	for (size_t i = 0; i < table->nr_threads && !err; i++) {
		struct identity identity;

		memset(&identity, 0, sizeof(identity));
		identity.pid = table->threads[i]->pid;
		if (identity.pid >= 0 && is_wanted(report, table->threads[i], options) &&
		    !know(&all, &identity))
			err = -ENOMEM;
	}
	report->nr_guests = HASH_COUNT(all);
	forget(&all);
	return err;
}

/* ---- sorting */

static int compare_numbers(const struct value *x, const struct value *y,
			   const struct report_heading *column)
{
	if (x->is_absent || y->is_absent)
		return x->is_absent - y->is_absent;
	switch (column->as) {
	case AS_ID:
		return (x->number > y->number) - (x->number < y->number);
	case AS_COUNT:
		return (x->number < y->number) - (x->number > y->number);
	default:
		return (x->real < y->real) - (x->real > y->real);
	}
}

/* Of two equal ones, by what they are: the order is always the same. */
static int compare_identities(const struct report_row *one, const struct report_row *other)
{
	int order = strcmp(one->name, other->name);

	if (!order)
		order = strcmp(one->guest, other->guest);
	if (!order)
		order = (one->vcpu > other->vcpu) - (one->vcpu < other->vcpu);
	return order ? order : (one->tid > other->tid) - (one->tid < other->tid);
}

static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct report *report = ((const void **)arg)[0];
	enum report_column column = *((const enum report_column **)arg)[1];
	const struct report_row *one = a, *other = b;
	struct value x, y;
	int order = 0;

	if (column == COLUMN_NAME) {
		order = strcasecmp(one->name, other->name);
	} else if (column == COLUMN_GUEST) {
		order = strcasecmp(one->guest, other->guest);
	} else {
		x = report_value(report, one, column);
		y = report_value(report, other, column);
		order = compare_numbers(&x, &y, &report_columns[column]);
	}
	return order ? order : compare_identities(one, other);
}

static void sort_rows(struct report *report, const struct report_options *options)
{
	const void *context[] = { report, &options->sort };

	if (report->nr_rows)
		qsort_r(report->rows, report->nr_rows, sizeof(report->rows[0]), compare_rows,
			context);
}

int report_init(struct report *report, const struct recording *recording,
		const struct report_options *options)
{
	const struct table *table = &recording->pairing.table;
	struct known *all = NULL;
	int err;

	*report = (struct report){
		.pairing = &recording->pairing,
		.event = options->tally_event,
		.by = options->group_by,
		.wall = recording_span(recording),
		.ns_per_unit = recording_ns_per_unit(recording->trace, options->mhz),
		.has_time = recording->pairing.has_entries &&
			    trace_file(recording->trace, 0)->clock != TRACE_CLOCK_COUNT,
	};
	err = durations_init(&report->total.took);
	for (size_t i = 0; i < table->nr_threads && !err; i++) {
		if (is_wanted(report, table->threads[i], options))
			err = add_thread(report, &all, table->threads[i]);
	}
	forget(&all);
	if (!err)
		err = count_guests(report, options);
	if (err) {
		report_release(report);
		return err;
	}
	sort_rows(report, options);
	return 0;
}

void report_release(struct report *report)
{
	for (size_t i = 0; i < report->nr_rows; i++)
		durations_release(&report->rows[i].took);
	durations_release(&report->total.took);
	free(report->rows);
	report->rows = NULL;
	report->nr_rows = 0;
}
