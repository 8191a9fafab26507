// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf.data, as perf record and perf kvm stat record write it to a file or a pipe.
 *
 * The file is a sequence of pieces, each with records of one CPU. perf writes FINISHED_ROUND after
 * it has read every CPU's ring once: a record after this mark is not older than the records before
 * the previous mark. So records wait in a heap, sorted by time, until the second mark after them,
 * or until the memory for waiting records is full (perf_bytes).
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/recording/perf/bytes.h"
#include "trace/recording/perf/group.h"
#include "trace/recording/perf/heap.h"

#define MAGIC "PERFILE2"
#define MAGIC_SWAPPED "2ELIFREP"
#define MAGIC_SIZE 8

/* Records of perf's own, not the kernel's. Source: tools/lib/perf/include/perf/event.h. */
enum {
	RECORD_LOST_SAMPLES = 13,
	RECORD_ATTR = 64,
	RECORD_TRACING_DATA = 66,
	RECORD_FINISHED_ROUND = 68,
	RECORD_ID_INDEX = 69,
	RECORD_AUXTRACE = 71,
	RECORD_FEATURE = 80,
};

#define MISC_FILTERED 0x8000 /* of RECORD_LOST_SAMPLES: a filter left them out */
#define LOST_MAX (UINT64_C(1) << 48) /* a larger number is damage */

struct perf {
	struct perf_header header;
	struct event_types types;
};

struct perf_source {
	struct trace_source source;
	struct perf *perf;
	struct perf_bytes bytes;
	struct perf_entry given; /* the current event, and what of its group is still to be given */
	struct perf_counts counts;
	struct perf_heap heap;
	uint64_t order;
	uint64_t most;	/* the latest time read */
	uint64_t round; /* the latest time read before the last mark */
	uint64_t until; /* no record before it is to come */
	uint64_t lost;	/* by the records that the kernel wrote where events were missing */
	uint64_t lost_in_all; /* by the records that perf writes at the end; 0: there are none */
	bool is_at_end;
	bool has_unknown, has_periods, has_no_room; /* these are problems of the file */
};

/* ---- records */

/* Ends the reading. Returns 0. */
static int finish(struct perf_source *perf)
{
	perf->is_at_end = true;
	return 0;
}

static void on_comm(struct perf_source *perf, const struct perf_piece *piece)
{
	if (piece->size < 8)
		return;
	comms_set(&perf->perf->types.comms,
		  (int32_t)bytes_u32(piece->at + 4, perf->perf->header.swap),
		  (const char *)piece->at + 8, piece->size - 8);
}

static void add_entry(struct perf_source *perf, const struct perf_piece *piece,
		     struct perf_entry *entry)
{
	entry->order = perf->order++;
	entry->block = piece->block;
	if (entry->sample.time > perf->most)
		perf->most = entry->sample.time;
	perf_heap_push(&perf->heap, entry);
}

/* Of a scheduler's event the period may be a time. */
static bool is_of_kvm(struct perf_source *perf, const struct perf_sample *sample)
{
	struct trace_event event = { .type = NULL };

	return event_types_set(&perf->perf->types, &event, sample->raw, sample->raw_size) == 0 &&
	       event.type && strcmp(event.type->system, "kvm") == 0;
}

/* False: they are damaged. */
static bool check_counts(struct perf_source *perf, const struct perf_piece *piece,
			 struct perf_sample *sample)
{
	enum perf_group group = perf_group_look(&perf->perf->header, sample);

	if (group == PERF_GROUP_UNKNOWN && !perf->has_unknown) {
		trace_add_problem(perf->source.file, piece->offset,
				  "a group ({...}:S) counts events that the header does not have");
		perf->has_unknown = true;
	}
	if (group == PERF_GROUP_NONE)
		sample->nr_counts = 0;
	return group != PERF_GROUP_DAMAGED;
}

static int on_sample(struct perf_source *perf, const struct perf_piece *piece)
{
	struct perf_entry entry = { .lost = 0 };
	struct perf_sample *sample = &entry.sample;

	if (!perf_sample_read(&perf->perf->header, piece->at, piece->size, sample) ||
	    (sample->nr_counts && !check_counts(perf, piece, sample))) {
		trace_add_problem(perf->source.file, piece->offset,
				  "a damaged sample");
		return finish(perf);
	}
	if (sample->raw_size < 8)
		sample->raw = NULL; /* no tracepoint */
	if (!sample->raw && !sample->nr_counts)
		return 0;
	if (sample->raw && sample->is_of_several && !perf->has_periods &&
	    is_of_kvm(perf, sample)) {
		trace_add_problem(perf->source.file, piece->offset,
				  "from here on a sample may stand for several events, which count "
				  "as one: record without -F and -c");
		perf->has_periods = true;
	}
	add_entry(perf, piece, &entry);
	return 0;
}

/* lost_at: where the record has the number. */
static int on_lost(struct perf_source *perf, const struct perf_piece *piece, size_t lost_at)
{
	struct perf_entry entry = { .lost = -1 };
	uint64_t lost;

	if (piece->size < lost_at + 8)
		return 0;
	perf_sample_read_id(&perf->perf->header, piece->at, piece->size, &entry.sample);
	lost = bytes_u64(piece->at + lost_at, perf->perf->header.swap);
	if (lost > 0 && lost <= LOST_MAX) {
		entry.lost = (int64_t)lost;
		perf->lost += lost;
	}
	if (!entry.sample.time)
		entry.sample.time = perf->most;
	add_entry(perf, piece, &entry);
	return 0;
}

/*
 * The kernel's record has a time. perf's, at the end of the file, has none: for each event on each
 * CPU it says what it lost in all, also what the kernel has said before.
 */
static int on_lost_samples(struct perf_source *perf, const struct perf_piece *piece)
{
	struct perf_sample sample;
	uint64_t lost;

	if (piece->size < 8 || piece->misc & MISC_FILTERED)
		return 0;
	perf_sample_read_id(&perf->perf->header, piece->at, piece->size, &sample);
	if (sample.time)
		return on_lost(perf, piece, 0);
	lost = bytes_u64(piece->at, perf->perf->header.swap);
	if (lost <= LOST_MAX)
		perf->lost_in_all += lost;
	return 0;
}

/* At the end: what is missing without a record of the kernel's, on some CPU. */
static void add_other_losses(struct perf_source *perf)
{
	const struct perf_entry entry = {
		.order = perf->order++,
		.sample = { .time = perf->most, .pid = -1, .tid = -1, .cpu = -1 },
		.lost = (int64_t)(perf->lost_in_all - perf->lost),
	};

	if (perf->lost_in_all > perf->lost)
		perf_heap_push(&perf->heap, &entry);
}

/*
 * After the second FINISHED_ROUND nothing older than the first can follow.
 * Records of this round itself may be later than what another CPU's ring still holds.
 */
static int on_round(struct perf_source *perf)
{
	perf->until = perf->round;
	perf->round = perf->most;
	return 0;
}

/* Reads the data after a record; the record has its size. */
static int on_data(struct perf_source *perf, uint64_t size, uint8_t **ret_data)
{
	int err = perf_bytes_data(&perf->bytes, size, ret_data);

	if (!err || err == -ENOMEM)
		return err;
	trace_add_problem(perf->source.file, perf->bytes.record_at,
			  "the data after this record ends too early");
	return finish(perf);
}

static int on_auxtrace(struct perf_source *perf, const struct perf_piece *piece)
{
	bool swap = perf->perf->header.swap;

	return on_data(perf, piece->size >= 8 ? bytes_u64(piece->at, swap) : 0, NULL);
}

static int on_formats(struct perf_source *perf, const struct perf_piece *piece)
{
	bool swap = perf->perf->header.swap;
	uint64_t size = piece->size >= 4 ? bytes_u32(piece->at, swap) : 0;
	uint8_t *data = NULL;
	int err = on_data(perf, size, &data);

	if (!err && data)
		err = perf_header_add_formats(perf->source.file, &perf->perf->types, data, size);
	free(data);
	return err;
}

static int on_header_record(struct perf_source *perf, const struct perf_piece *piece)
{
	struct perf_header *header = &perf->perf->header;
	struct trace_file *file = perf->source.file;

	switch (piece->type) {
	case RECORD_ATTR:
		return perf_header_add_attr(file, header, piece->at, piece->size);
	case RECORD_FEATURE:
		return perf_header_add_feature(file, header, &perf->perf->types, piece->at,
					       piece->size);
	case RECORD_TRACING_DATA:
		return on_formats(perf, piece);
	default:
		return 0;
	}
}

static int on_record(struct perf_source *perf, const struct perf_piece *piece)
{
	switch (piece->type) {
	case PERF_RECORD_SAMPLE:
		return on_sample(perf, piece);
	case PERF_RECORD_COMM:
		on_comm(perf, piece);
		return 0;
	case PERF_RECORD_LOST:
		return on_lost(perf, piece, 8);
	case RECORD_LOST_SAMPLES:
		return on_lost_samples(perf, piece);
	case RECORD_FINISHED_ROUND:
		return on_round(perf);
	case RECORD_ID_INDEX:
		perf_header_take_index(&perf->perf->header, piece->at, piece->size);
		return 0;
	case RECORD_AUXTRACE:
		return on_auxtrace(perf, piece);
	default:
		return perf->perf->header.is_piped ? on_header_record(perf, piece) : 0;
	}
}

static int read_record(struct perf_source *perf)
{
	struct perf_piece piece;
	int got = perf_bytes_next(&perf->bytes, &piece);

	if (got == 0) {
		finish(perf);
		add_other_losses(perf);
		return 0;
	}
	return got > 0 ? on_record(perf, &piece) : got;
}

/* ---- events */

static void set_thread(struct trace_event *event, const struct perf_sample *sample)
{
	event->pid = sample->pid;
	if (sample->tid < 0)
		return;
	event->tid = sample->tid;
	event->thread_key = (uint64_t)event->file << 32 | (uint32_t)event->tid;
}

/* A count may be of all threads of a CPU: then the sample's thread need not be the right one. */
static void set_counted_thread(struct trace_event *event, const struct perf_sample *sample,
			       bool is_of_thread)
{
	if (is_of_thread) {
		set_thread(event, sample);
		return;
	}
	event->pid = event->tid = -1;
	event->thread_key = EVENT_OF_CPU | (uint64_t)event->file << 32 | (uint32_t)event->cpu;
}

/* Takes the next counted event out of the given sample's group. 1, 0: none, or -ENOMEM. */
static int give_counted(struct perf_source *perf)
{
	struct trace_event *event = &perf->source.event;
	struct perf_sample *sample = &perf->given.sample;
	struct perf_counted counted;
	int got = perf_group_take(&perf->counts, &perf->perf->header, sample, &counted), err;

	if (got == -E2BIG && !perf->has_no_room) {
		trace_add_problem(perf->source.file, perf->bytes.record_at,
				  "too many threads have counts: some are left out");
		perf->has_no_room = true;
	}
	if (got <= 0)
		return got == -E2BIG ? 0 : got;
	event->time = sample->time;
	event->cpu = sample->cpu;
	event->lost = 0;
	err = event_types_set_counted(&perf->perf->types, event, counted.tracepoint, counted.nr);
	set_counted_thread(event, sample, counted.is_of_thread);
	return err ? err : 1;
}

/* The event of the given entry. 1, 0: it is only to be counted, or -ENOMEM. */
static int give_entry(struct perf_source *perf)
{
	struct trace_event *event = &perf->source.event;
	const struct perf_sample *sample = &perf->given.sample;
	int err = 0;

	event->time = sample->time;
	event->lost = perf->given.lost;
	event->type = NULL;
	event->counted = 0;
	if (!event->lost && !sample->raw)
		return 0;
	if (!event->lost)
		err = event_types_set(&perf->perf->types, event, sample->raw, sample->raw_size);
	event->cpu = sample->cpu;
	set_thread(event, sample);
	return err ? err : 1;
}

static bool is_due(const struct perf_source *perf)
{
	if (perf->heap.nr == 0)
		return false;
	return perf->is_at_end || perf->heap.list[0].sample.time <= perf->until ||
	       !perf_bytes_has_room(&perf->bytes);
}

/* The next entry becomes the given one. 1, 0: there is no more, or -errno. */
static int next_entry(struct perf_source *perf)
{
	perf_block_drop(&perf->bytes, perf->given.block);
	perf->given.block = NULL;
	perf->given.sample.nr_counts = 0;
	while (!is_due(perf)) {
		int err;

		if (perf->is_at_end)
			return 0;
		err = read_record(perf);
		if (err < 0)
			return err;
	}
	perf_heap_pop(&perf->heap, &perf->given);
	return 1;
}

static int next(struct trace_source *source)
{
	struct perf_source *perf = (struct perf_source *)source;
	int got = 0;

	for (;;) {
		if (perf->given.sample.nr_counts)
			got = give_counted(perf);
		if (got)
			return got;
		got = next_entry(perf);
		if (got <= 0)
			return got;
		got = give_entry(perf);
		if (got)
			return got;
	}
}

static void free_source(struct trace_source *source)
{
	struct perf_source *perf = (struct perf_source *)source;

	perf_block_drop(&perf->bytes, perf->given.block);
	while (perf->heap.nr > 0) {
		perf_heap_pop(&perf->heap, &perf->given);
		perf_block_drop(&perf->bytes, perf->given.block);
	}
	perf_bytes_release(&perf->bytes);
	perf_counts_release(&perf->counts);
	free(perf->heap.list);
	free(perf);
}

/* ---- files */

static bool is_kind(const struct head *head)
{
	return head->len >= MAGIC_SIZE && (memcmp(head->bytes, MAGIC, MAGIC_SIZE) == 0 ||
					   memcmp(head->bytes, MAGIC_SWAPPED, MAGIC_SIZE) == 0);
}

static int add_source(struct trace_file *file, const struct head *head, bool is_stream)
{
	struct perf_source *source = calloc(1, sizeof(*source));
	struct perf *perf = file->priv;
	const struct perf_header *header = &perf->header;

	if (!source)
		return -ENOMEM;
	source_init(&source->source, file);
	source->source.next = next;
	source->source.free = free_source;
	source->perf = perf;
	source->bytes = (struct perf_bytes){
		.file = file,
		.swap = header->swap,
		.offset = header->is_piped ? PERF_PIPE_HEADER_SIZE : header->data_at,
		.limit = header->is_piped ? file->info.size : header->data_at + header->data_size,
	};
	if (is_stream && perf_bytes_begin(&source->bytes, head, PERF_PIPE_HEADER_SIZE) < 0) {
		free_source(&source->source);
		return -ENOMEM;
	}
	return trace_add_source(file->trace, &source->source);
}

static int open_perf(struct trace_file *file, const struct head *head, struct error *why)
{
	struct perf *perf = file->priv = calloc(1, sizeof(*perf));
	bool is_stream = !file->info.size && lseek(file->fd, 0, SEEK_CUR) < 0;
	int err;

	if (!perf)
		return -ENOMEM;
	event_types_init(&perf->types, file);
	err = perf_header_read(file, head, is_stream, &perf->header, &perf->types, why);
	return err ? err : add_source(file, head, is_stream);
}

static void close_perf(struct trace_file *file)
{
	struct perf *perf = file->priv;

	if (!perf)
		return;
	perf_header_release(&perf->header);
	event_types_release(&perf->types);
	free(perf);
}

static const char *comm_of(const struct trace_event *event, const struct trace_file *file)
{
	const struct perf *perf = file->priv;

	return comms_get(&perf->types.comms, event->tid);
}

const struct trace_reader perf_data_reader = {
	.kind = TRACE_PERF,
	.name = "perf.data",
	.reads_pipes = true, /* only a perf.data that perf wrote to a pipe */
	.is_kind = is_kind,
	.open = open_perf,
	.close = close_perf,
	.comm = comm_of,
};
