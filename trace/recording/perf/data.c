// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf.data, as perf record and perf kvm stat record write it to a file, a pipe or a folder.
 *
 * The file is a sequence of parts, each with records of one CPU. perf writes FINISHED_ROUND after
 * it has read every CPU's ring once: a record after this mark is not older than the records before
 * the previous mark. So records wait, sorted by time, until the second mark after them, or until
 * there are too many.
 *
 * In a folder, each CPU's records have a file of their own, which is a source of its own. There are
 * no marks: the kernel has sorted the records, except for an interrupt between the moment when a
 * record gets its time and the moment when it gets its place.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/array.h"
#include "trace/recording/perf/perf.h"

#define WAITING_MAX ((size_t)48 * 1024 * 1024) /* bytes of records that wait, in all sources */
#define WAITING_SORTED ((size_t)256 * 1024) /* where the kernel has sorted them */
#define INFLATED_SIZE ((size_t)1024 * 1024)
/* For each piece: there may be a thousand. */
#define PIECE_INFLATED ((size_t)2 * PERF_RECORD_MAX)
#define PIECE_WINDOW ((size_t)64 * 1024)

/* Records of perf's own, not the kernel's. Source: tools/lib/perf/include/perf/event.h. */
enum {
	RECORD_LOST_SAMPLES = 13,
	RECORD_TRACING_DATA = 66,
	RECORD_FINISHED_ROUND = 68,
	RECORD_AUXTRACE = 71,
};

#define MISC_FILTERED 0x8000 /* of RECORD_LOST_SAMPLES: a filter left them out */
#define LOST_MAX (UINT64_C(1) << 48) /* a larger number is damage */

/* A recording, with what its sources share. */
struct perf {
	struct perf_header header; /* the first member, for maps.c */
	struct event_types types;
	size_t nr_reading; /* sources that have not ended */
	uint64_t lost; /* by the records that the kernel wrote where events were missing */
	uint64_t lost_in_all; /* by the records that perf writes at the end; 0: there are none */
	bool has_periods; /* a problem of the recording */
	const struct trace_type *stack_type;
};

struct perf_source {
	struct trace_source source;
	struct perf *perf;
	struct perf_records records;
	struct perf_entry *given; /* the current event */
	struct trace_stack stack; /* of the current event */
	struct perf_waiting waiting;
	size_t waiting_max; /* bytes */
	uint64_t most;	/* the latest time read */
	uint64_t round; /* the latest time read before the last mark */
	uint64_t until; /* no record before it is to come */
	bool is_at_end;
};

static void add_entry(struct perf_source *perf, struct perf_entry *entry, int64_t lost)
{
	if (entry->sample.time > perf->most)
		perf->most = entry->sample.time;
	perf_waiting_add(&perf->waiting, entry, lost);
}

/* ---- records */

/* lost: 0 and numbers that are damage stand for some. */
static void add_loss(struct perf_source *perf, const struct perf_sample *sample, uint64_t lost)
{
	bool is_number = lost > 0 && lost <= LOST_MAX;
	struct perf_entry *entry = perf_waiting_new(&perf->waiting);

	entry->sample = *sample;
	if (!sample->time)
		entry->sample.time = perf->most;
	perf->perf->lost += is_number ? lost : 0;
	add_entry(perf, entry, is_number ? (int64_t)lost : -1);
}

/* At the end: what is missing without a record of the kernel's, on some CPU. */
static void add_other_losses(struct perf_source *perf)
{
	const struct perf_sample sample = { .pid = -1, .tid = -1, .cpu = -1 };
	const struct perf *all = perf->perf;

	if (all->lost_in_all > all->lost)
		add_loss(perf, &sample, all->lost_in_all - all->lost);
}

/* At the end or a damaged record, once. */
static void end_records(struct perf_source *perf)
{
	if (perf->is_at_end)
		return;
	perf->is_at_end = true;
	if (--perf->perf->nr_reading == 0)
		add_other_losses(perf);
}

/* The period of a scheduler's event may be a time. */
static bool is_of_kvm(struct perf_source *perf, const struct perf_sample *sample)
{
	struct trace_event event;

	event_types_set(&perf->perf->types, &event, sample->raw, sample->raw_size);
	return strcmp(event.type->system, "kvm") == 0;
}

static void on_sample(struct perf_source *perf, const struct perf_piece *piece)
{
	struct perf_entry *entry = perf_waiting_new(&perf->waiting);
	struct perf_sample *sample = &entry->sample;

	if (!perf_sample_read(&perf->perf->header, piece->at, piece->size, sample)) {
		trace_add_problem(perf->records.file, piece->offset, "a damaged sample");
		end_records(perf);
		perf_waiting_drop(&perf->waiting, entry);
		return;
	}
	if (sample->raw_size < 8)
		sample->raw = NULL; /* no tracepoint */
	if (!sample->nr_chain || !perf->source.file->trace->wants_stacks)
		sample->chain = NULL;
	if (!sample->raw && !sample->chain) {
		perf_waiting_drop(&perf->waiting, entry);
		return;
	}
	if (sample->raw && sample->is_of_several && !perf->perf->has_periods &&
	    is_of_kvm(perf, sample)) {
		trace_add_problem(perf->records.file, piece->offset,
				  "from here on a sample may stand for several events, which count "
				  "as one: record without -F and -c");
		perf->perf->has_periods = true;
	}
	add_entry(perf, entry, 0);
}

/*
 * `at`: where the record has the number. Records of the kernel's are for what was lost since the
 * one before. RECORD_LOST_SAMPLES without a time is of perf's, at the end of the file: for each
 * event on each CPU it says what was lost in all, also what the kernel has said before.
 */
static void on_lost(struct perf_source *perf, const struct perf_piece *piece, size_t at)
{
	struct perf_sample sample;
	uint64_t lost;

	if (piece->size < at + 8)
		return;
	perf_sample_read_last(&perf->perf->header, piece->at, piece->size, &sample);
	lost = bytes_u64(piece->at + at, perf->perf->header.swap);
	if (sample.time || piece->type == PERF_RECORD_LOST)
		add_loss(perf, &sample, lost);
	else if (lost <= LOST_MAX)
		perf->perf->lost_in_all += lost;
}

/* The formats in a pipe follow their record. */
static void on_formats(struct perf_source *perf, uint32_t size)
{
	uint8_t *data = NULL;

	if (!perf_records_data(&perf->records, size, &data))
		end_records(perf);
	if (data)
		perf_header_add_formats(perf->source.file, data, size);
	free(data);
}

/* A change of a process: its name, and what is where in its memory. */
static void on_task(struct perf_source *perf, const struct perf_piece *piece)
{
	struct perf_header *header = &perf->perf->header;
	struct comms *comms = &perf->perf->types.comms;
	struct perf_sample sample;

	if (piece->type == PERF_RECORD_COMM && piece->size >= 8)
		comms_set(comms, (int32_t)bytes_u32(piece->at + 4, header->swap),
			  (const char *)piece->at + 8, piece->size - 8);
	if (piece->type == PERF_RECORD_EXIT && piece->size >= 12)
		comms_end(comms, (int32_t)bytes_u32(piece->at + 8, header->swap));
	if (!perf->source.file->trace->wants_stacks)
		return;
	perf_sample_read_last(header, piece->at, piece->size, &sample);
	perf_maps_take(&header->maps, piece, sample.time, header->swap);
}

/* At the end, once. */
static void say_maps_left_out(struct perf_source *perf)
{
	struct perf_maps *maps = &perf->perf->header.maps;

	if (maps->nr_left_out)
		trace_add_problem(perf->source.file, maps->left_out_at,
				  "from here on %" PRIu64 " maps of processes are left out, for "
				  "which there is no room: some code has no name",
				  maps->nr_left_out);
	maps->nr_left_out = 0;
}

static void on_record(struct perf_source *perf, const struct perf_piece *piece)
{
	struct perf_header *header = &perf->perf->header;
	uint64_t size;

	switch (piece->type) {
	case PERF_RECORD_SAMPLE:
		on_sample(perf, piece);
		break;
	case PERF_RECORD_LOST:
		on_lost(perf, piece, 8);
		break;
	case PERF_RECORD_COMM:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_FORK:
		on_task(perf, piece);
		break;
	case RECORD_LOST_SAMPLES:
		if (!(piece->misc & MISC_FILTERED))
			on_lost(perf, piece, 0);
		break;
	case RECORD_TRACING_DATA:
		on_formats(perf, piece->size >= 4 ? bytes_u32(piece->at, header->swap) : 0);
		break;
	case RECORD_FINISHED_ROUND:
		/*
		 * After the second FINISHED_ROUND nothing older than the first can follow.
		 * Records of this round itself may be later than what another CPU's ring still
		 * holds.
		 */
		perf->until = perf->round;
		perf->round = perf->most;
		break;
	case RECORD_AUXTRACE:
		size = piece->size >= 8 ? bytes_u64(piece->at, header->swap) : 0;
		if (!perf_records_data(&perf->records, size, NULL))
			end_records(perf);
		break;
	default:
		perf_header_take(perf->source.file, header, piece);
	}
}

/* ---- events */

/* The sample of a stack. */
static void give_stack(struct perf_source *perf)
{
	struct trace_event *event = &perf->source.event;
	struct perf *all = perf->perf;

	perf_sample_stack(&perf->given->sample, all->header.swap, &perf->stack);
	event->type = all->stack_type;
	event->stack = &perf->stack;
	event->data = NULL;
	event->size = 0;
	event->vcpu = -1;
}

/* The event of the given entry. */
static void give_entry(struct perf_source *perf)
{
	struct trace_event *event = &perf->source.event;
	const struct perf_sample *sample = &perf->given->sample;

	event->time = sample->time;
	event->lost = perf->given->lost;
	event->type = NULL;
	event->stack = NULL;
	if (!event->lost && !sample->raw)
		give_stack(perf);
	else if (!event->lost)
		event_types_set(&perf->perf->types, event, sample->raw, sample->raw_size);
	event->cpu = sample->cpu;
	event->pid = sample->pid;
	if (sample->tid < 0)
		return;
	event->tid = sample->tid;
	event->thread_key = (uint64_t)event->file << 32 | (uint32_t)event->tid;
}

static bool is_due(const struct perf_source *perf)
{
	const struct queue *runs = &perf->waiting.runs;

	return runs->nr > 0 && (perf->is_at_end || runs->heap[0].time <= perf->until ||
				perf->waiting.bytes >= perf->waiting_max);
}

/* The next entry becomes the given one. False: there is no more. */
static bool next_entry(struct perf_source *perf)
{
	perf_waiting_drop(&perf->waiting, perf->given);
	perf->given = NULL;
	while (!is_due(perf)) {
		struct perf_piece piece;

		if (perf->is_at_end)
			return false;
		if (perf_records_next(&perf->records, &piece))
			on_record(perf, &piece);
		else
			end_records(perf);
	}
	perf->given = perf_waiting_take(&perf->waiting);
	return true;
}

static void release_source(struct perf_source *perf)
{
	perf_waiting_drop(&perf->waiting, perf->given);
	perf->given = NULL;
	perf_waiting_release(&perf->waiting);
	perf_records_release(&perf->records);
}

/* At the end gives the memory back: the screen of a recording is open for long after that. */
static bool next_of_perf(struct trace_source *source)
{
	struct perf_source *perf = (struct perf_source *)source;

	if (next_entry(perf)) {
		give_entry(perf);
		return true;
	}
	say_maps_left_out(perf);
	release_source(perf);
	return false;
}

static void free_source(struct trace_source *source)
{
	release_source((struct perf_source *)source);
	free(source);
}

/* ---- files */

static bool is_kind(const struct head *head)
{
	return head->len >= PERF_MAGIC_SIZE &&
	       (memcmp(head->bytes, PERF_MAGIC, PERF_MAGIC_SIZE) == 0 ||
		memcmp(head->bytes, PERF_MAGIC_SWAPPED, PERF_MAGIC_SIZE) == 0);
}

/* The records of the recording's file, or of a piece. Its window is to be opened. */
static struct perf_source *add_source(struct trace_file *file, struct trace_file *of)
{
	struct perf_source *source = trace_add_source(file, sizeof(*source), next_of_perf,
						      free_source);

	source->perf = file->priv;
	source->perf->nr_reading++;
	source->waiting_max = WAITING_MAX;
	source->records.file = of;
	source->records.swap = source->perf->header.swap;
	source->records.room = INFLATED_SIZE;
	return source;
}

static void add_pieces(struct trace_file *file)
{
	const struct head none = { (const uint8_t *)"", 0 };
	size_t nr = perf_folder_open(file);
	size_t waiting_max = nr ? WAITING_MAX / nr : 0;

	for (size_t i = 0; i < nr; i++) {
		struct trace_list *pieces = &file->trace->pieces;
		struct trace_file *piece = pieces->items[pieces->nr - nr + i];
		struct perf_source *source = add_source(file, piece);

		source->waiting_max = waiting_max < WAITING_SORTED ? waiting_max : WAITING_SORTED;
		source->records.room = PIECE_INFLATED;
		window_init(&source->records.window, piece, &none, PIECE_WINDOW);
		source->records.window.limit = piece->info.size;
	}
}

static int open_perf(struct trace_file *file, const struct head *head, struct error *error)
{
	bool is_stream = !file->info.size && lseek(file->fd, 0, SEEK_CUR) < 0;
	struct perf *perf = file->priv = xcalloc(1, sizeof(*perf));
	const struct perf_header *header = &perf->header;
	struct window *window;
	int err;

	perf->stack_type = trace_add_type(file->trace, &(struct trace_type){
		.file = file->index, .system = "perf", .name = "sample" });
	event_types_init(&perf->types, file);
	err = perf_header_read(file, head, is_stream, &perf->header, error);
	if (err)
		return err;
	window = &add_source(file, file)->records.window;
	window_init(window, file, head, WINDOW_PIECE);
	if (is_stream)
		window->at += head->len < PERF_PIPE_HEADER_SIZE ? head->len : PERF_PIPE_HEADER_SIZE;
	else if (header->is_piped)
		window_seek(window, PERF_PIPE_HEADER_SIZE, file->info.size);
	else
		window_seek(window, header->data_at, header->data_at + header->data_size);
	if (header->has_pieces)
		add_pieces(file);
	return 0;
}

static void close_perf(struct trace_file *file)
{
	struct perf *perf = file->priv;

	perf_header_release(&perf->header);
	event_types_release(&perf->types);
	free(perf);
}

const struct trace_reader perf_data_reader = {
	.kind = TRACE_PERF,
	.name = "perf.data",
	.reads_pipes = true, /* only a perf.data that perf wrote to a pipe */
	.has_events = true,
	.reads_folders = true,
	.is_kind = is_kind,
	.open = open_perf,
	.close = close_perf,
	.locate = perf_maps_locate,
	.count_maps = perf_maps_count,
	.read_symbols = perf_maps_symbols,
};
