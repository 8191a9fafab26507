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
	struct perf_block *given; /* the block of the current event */
	struct perf_heap heap;
	uint64_t order;
	uint64_t most;	/* the latest time read */
	uint64_t round; /* the latest time read before the last mark */
	uint64_t until; /* no record before it is to come */
	uint64_t lost;	/* by the records that the kernel wrote where events were missing */
	uint64_t lost_in_all; /* by the records that perf writes at the end; 0: there are none */
	bool is_at_end;
	bool has_groups, has_periods; /* these are problems of the file */
};

/* ---- records */

/* Ends the reading. Returns 0. */
static int finish(struct perf_source *perf)
{
	perf->is_at_end = true;
	return 0;
}

static int on_comm(struct perf_source *perf, const struct perf_piece *piece)
{
	if (piece->size < 8)
		return 0;
	return comms_set(&perf->perf->types.comms,
			 (int32_t)bytes_u32(piece->at + 4, perf->perf->header.swap),
			 (const char *)piece->at + 8, piece->size - 8);
}

static int add_entry(struct perf_source *perf, const struct perf_piece *piece,
		     struct perf_entry *entry)
{
	entry->order = perf->order++;
	entry->block = piece->block;
	if (entry->sample.time > perf->most)
		perf->most = entry->sample.time;
	return perf_heap_push(&perf->heap, entry);
}

/* Of a scheduler's event the period may be a time. */
static bool is_of_kvm(struct perf_source *perf, const struct perf_sample *sample)
{
	struct trace_event event = { .type = NULL };

	return event_types_set(&perf->perf->types, &event, sample->raw, sample->raw_size) == 0 &&
	       event.type && strcmp(event.type->system, "kvm") == 0;
}

static int on_sample(struct perf_source *perf, const struct perf_piece *piece)
{
	struct perf_entry entry = { .lost = 0 };

	if (!perf_sample_read(&perf->perf->header, piece->at, piece->size, &entry.sample)) {
		trace_add_problem(perf->source.file, piece->offset,
				  "a damaged sample");
		return finish(perf);
	}
	if (!entry.sample.raw || entry.sample.raw_size < 8)
		return 0; /* no tracepoint */
	if (entry.sample.is_of_group && !perf->has_groups) {
		trace_add_problem(perf->source.file, piece->offset,
				  "of a group ({...}:S) only the first event has samples, the "
				  "others were counted: record without :S");
		perf->has_groups = true;
	}
	if (entry.sample.is_of_several && !perf->has_periods && is_of_kvm(perf, &entry.sample)) {
		trace_add_problem(perf->source.file, piece->offset,
				  "from here on a sample may stand for several events, which count "
				  "as one: record without -F and -c");
		perf->has_periods = true;
	}
	return add_entry(perf, piece, &entry);
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
	return add_entry(perf, piece, &entry);
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
static int add_other_losses(struct perf_source *perf)
{
	const struct perf_entry entry = {
		.order = perf->order++,
		.sample = { .time = perf->most, .pid = -1, .tid = -1, .cpu = -1 },
		.lost = (int64_t)(perf->lost_in_all - perf->lost),
	};

	return perf->lost_in_all > perf->lost ? perf_heap_push(&perf->heap, &entry) : 0;
}

/*
 * At a mark: each CPU's ring was read after every record from before the previous mark was written.
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
		return on_comm(perf, piece);
	case PERF_RECORD_LOST:
		return on_lost(perf, piece, 8);
	case RECORD_LOST_SAMPLES:
		return on_lost_samples(perf, piece);
	case RECORD_FINISHED_ROUND:
		return on_round(perf);
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
		return add_other_losses(perf);
	}
	return got > 0 ? on_record(perf, &piece) : got;
}

/* ---- events */

static int give(struct perf_source *perf)
{
	struct trace_event *event = &perf->source.event;
	struct perf_entry entry = perf_heap_pop(&perf->heap);
	int err = 0;

	perf->given = entry.block;
	event->time = entry.sample.time;
	event->lost = entry.lost;
	event->type = NULL;
	if (!entry.lost)
		err = event_types_set(&perf->perf->types, event, entry.sample.raw,
				    entry.sample.raw_size);
	event->cpu = entry.sample.cpu;
	event->pid = entry.sample.pid;
	if (entry.sample.tid >= 0) {
		event->tid = entry.sample.tid;
		event->thread_key = (uint64_t)event->file << 32 | (uint32_t)event->tid;
	}
	return err ? err : 1;
}

static bool is_due(const struct perf_source *perf)
{
	if (perf->heap.nr == 0)
		return false;
	return perf->is_at_end || perf->heap.list[0].sample.time <= perf->until ||
	       !perf_bytes_has_room(&perf->bytes);
}

static int next(struct trace_source *source)
{
	struct perf_source *perf = (struct perf_source *)source;

	perf_block_drop(&perf->bytes, perf->given);
	perf->given = NULL;
	while (!is_due(perf)) {
		int err;

		if (perf->is_at_end)
			return 0;
		err = read_record(perf);
		if (err < 0)
			return err;
	}
	return give(perf);
}

static void free_source(struct trace_source *source)
{
	struct perf_source *perf = (struct perf_source *)source;

	perf_block_drop(&perf->bytes, perf->given);
	while (perf->heap.nr > 0)
		perf_block_drop(&perf->bytes, perf_heap_pop(&perf->heap).block);
	perf_bytes_release(&perf->bytes);
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

static int open_perf(struct trace_file *file, const struct head *head, struct why *why)
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
