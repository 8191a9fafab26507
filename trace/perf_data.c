// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf.data, as perf record and perf kvm stat record write it to a file.
 *
 * Records of several CPUs lie in pieces one behind the other. perf marks with FINISHED_ROUND that
 * it has read every CPU's ring once: what comes later is not older than what came before the
 * previous mark. So records wait in a heap by time until two marks later, or until as much waits as
 * may. They wait where they were read to, in blocks that are used again when none waits in them.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <unistd.h>

/* Without memory a hash stays as it is, and what was not added has no table. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "trace/perf_data.h"

#define MAGIC "PERFILE2"
#define MAGIC_SWAPPED "2ELIFREP"
#define MAGIC_SIZE 8

#define RECORD_HEADER_SIZE 8
#define BLOCK_SIZE (1024 * 1024)
#define BLOCKS_MAX 32 /* so much may wait */
#define COMM_SIZE 32
#define COMMS_MAX 65536

/* Records of perf's own, not the kernel's. Source: tools/lib/perf/include/perf/event.h. */
enum {
	RECORD_FINISHED_ROUND = 68,
	RECORD_AUXTRACE = 71,
	RECORD_COMPRESSED = 81,
	RECORD_COMPRESSED2 = 83,
	RECORD_LOST_SAMPLES = 13,
};

struct block {
	uint8_t bytes[BLOCK_SIZE];
	size_t waiting; /* entries that point into it */
	struct block *next; /* of those that are free */
};

/* A record that waits. */
struct entry {
	uint64_t time, order;
	struct perf_sample sample;
	struct block *block;
	uint64_t offset;
	int64_t lost; /* 0: a sample */
};

struct comm {
	int32_t tid;
	char name[COMM_SIZE];
	UT_hash_handle hh;
};

struct perf {
	struct perf_header header;
	struct tep_types types;
	struct comm *comms;
	size_t nr_comms;
};

struct perf_source {
	struct source source;
	struct perf *perf;
	/* The block that is read into, and what of it is not taken apart yet. */
	struct block *block, *free;
	size_t at, end, nr_blocks;
	uint64_t offset, limit; /* in the file: of what is read next, and where the records end */
	struct block *given;	/* that of the event which was given out */
	struct entry *heap;
	size_t nr_heap, cap_heap;
	uint64_t order;
	uint64_t most, until; /* the latest time, and the time up to which nothing is missing */
	bool has_until, is_at_end;
};

/* ---- the heap */

static bool is_before(const struct entry *a, const struct entry *b)
{
	return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static int push(struct perf_source *perf, const struct entry *entry)
{
	size_t i = perf->nr_heap;

	if (perf->nr_heap == perf->cap_heap) {
		size_t cap = perf->cap_heap ? 2 * perf->cap_heap : 1024;
		struct entry *heap = reallocarray(perf->heap, cap, sizeof(*heap));

		if (!heap)
			return -ENOMEM;
		perf->heap = heap;
		perf->cap_heap = cap;
	}
	perf->nr_heap++;
	for (; i > 0 && is_before(entry, &perf->heap[(i - 1) / 2]); i = (i - 1) / 2)
		perf->heap[i] = perf->heap[(i - 1) / 2];
	perf->heap[i] = *entry;
	entry->block->waiting++;
	return 0;
}

static struct entry pop(struct perf_source *perf)
{
	struct entry top = perf->heap[0], last = perf->heap[--perf->nr_heap];
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= perf->nr_heap)
			break;
		if (child + 1 < perf->nr_heap &&
		    is_before(&perf->heap[child + 1], &perf->heap[child]))
			child++;
		if (!is_before(&perf->heap[child], &last))
			break;
		perf->heap[i] = perf->heap[child];
		i = child;
	}
	perf->heap[i] = last;
	return top;
}

/* ---- blocks */

static void put_block(struct perf_source *perf, struct block *block)
{
	if (block && --block->waiting == 0 && block != perf->block) {
		block->next = perf->free;
		perf->free = block;
	}
}

static bool has_room(const struct perf_source *perf)
{
	return perf->free || perf->nr_blocks < BLOCKS_MAX;
}

static struct block *get_block(struct perf_source *perf)
{
	struct block *block = perf->free;

	if (block) {
		perf->free = block->next;
		return block;
	}
	block = malloc(sizeof(*block));
	if (!block)
		return NULL;
	block->waiting = 0;
	perf->nr_blocks++;
	return block;
}

/* The rest of the block goes to the begin of another one, in which no record waits. */
static int change_block(struct perf_source *perf)
{
	struct block *old = perf->block, *block;
	size_t rest = perf->end - perf->at;

	if (old && old->waiting == 0) {
		memmove(old->bytes, old->bytes + perf->at, rest);
	} else {
		block = get_block(perf);
		if (!block)
			return -ENOMEM;
		if (old)
			memcpy(block->bytes, old->bytes + perf->at, rest);
		perf->block = block;
	}
	perf->at = 0;
	perf->end = rest;
	return 0;
}

static int fill(struct perf_source *perf)
{
	size_t room = BLOCK_SIZE - perf->end;
	ssize_t got;

	if (room > perf->limit - perf->offset)
		room = perf->limit - perf->offset;
	do
		got = pread(perf->source.file->fd, perf->block->bytes + perf->end, room,
			    (off_t)perf->offset);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	perf->end += (size_t)got;
	perf->offset += (size_t)got;
	perf->source.file->done = perf->offset;
	return got > 0;
}

static uint64_t record_offset(const struct perf_source *perf)
{
	return perf->offset - (perf->end - perf->at);
}

/* Nothing more is read. */
static int finish(struct perf_source *perf)
{
	perf->is_at_end = true;
	return 0;
}

/* Makes `size` bytes be there: 1, 0 where the file has no more, or -errno. */
static int need(struct perf_source *perf, size_t size)
{
	while (perf->end - perf->at < size) {
		int got = 1;

		if (!perf->block || BLOCK_SIZE - perf->at < size)
			got = change_block(perf);
		if (got >= 0)
			got = perf->offset < perf->limit ? fill(perf) : 0;
		if (got <= 0)
			return got;
	}
	return 1;
}

/* ---- records */

static int add_comm(struct perf *perf, int32_t tid, const char *name, size_t size)
{
	struct comm *comm;

	HASH_FIND_INT(perf->comms, &tid, comm);
	if (!comm && perf->nr_comms == COMMS_MAX)
		return 0;
	if (!comm) {
		comm = calloc(1, sizeof(*comm));
		if (!comm)
			return -ENOMEM;
		comm->tid = tid;
		HASH_ADD_INT(perf->comms, tid, comm);
		if (!comm->hh.tbl) {
			free(comm);
			return -ENOMEM;
		}
		perf->nr_comms++;
	}
	size = strnlen(name, size < COMM_SIZE - 1 ? size : COMM_SIZE - 1);
	memcpy(comm->name, name, size);
	comm->name[size] = '\0';
	return 0;
}

static int on_comm(struct perf_source *perf, const uint8_t *at, size_t size)
{
	if (size < 8)
		return 0;
	return add_comm(perf->perf, (int32_t)perf_u32(at + 4, perf->perf->header.swap),
			(const char *)at + 8, size - 8);
}

static int add_entry(struct perf_source *perf, struct entry *entry)
{
	entry->time = entry->sample.time;
	entry->order = perf->order++;
	entry->block = perf->block;
	entry->offset = record_offset(perf);
	if (entry->time > perf->most)
		perf->most = entry->time;
	return push(perf, entry);
}

static int on_sample(struct perf_source *perf, const uint8_t *at, size_t size)
{
	struct entry entry = { .lost = 0 };

	if (!perf_sample_read(&perf->perf->header, at, size, &entry.sample)) {
		trace_add_problem(perf->source.file, record_offset(perf),
				  "a sample that makes no sense");
		return finish(perf);
	}
	if (!entry.sample.raw || entry.sample.raw_size < 8)
		return 0; /* no tracepoint */
	return add_entry(perf, &entry);
}

static int on_lost(struct perf_source *perf, const uint8_t *at, size_t size, size_t lost_at)
{
	struct entry entry = { .lost = -1 };

	if (size < lost_at + 8)
		return 0;
	perf_sample_read_id(&perf->perf->header, at, size, &entry.sample);
	entry.lost = (int64_t)perf_u64(at + lost_at, perf->perf->header.swap);
	if (entry.lost <= 0)
		entry.lost = -1;
	if (!entry.sample.time)
		entry.sample.time = perf->most;
	return add_entry(perf, &entry);
}

/* What was seen before the previous mark is complete. */
static int on_round(struct perf_source *perf)
{
	perf->until = perf->has_until ? perf->most : 0;
	perf->has_until = true;
	return 0;
}

static int on_compressed(struct perf_source *perf)
{
	trace_add_problem(perf->source.file, record_offset(perf),
			  "compressed records (perf record -z) cannot be read here");
	return finish(perf);
}

static int on_record(struct perf_source *perf, uint32_t type, const uint8_t *at, size_t size)
{
	switch (type) {
	case PERF_RECORD_SAMPLE:
		return on_sample(perf, at, size);
	case PERF_RECORD_COMM:
		return on_comm(perf, at, size);
	case PERF_RECORD_LOST:
		return on_lost(perf, at, size, 8);
	case RECORD_LOST_SAMPLES:
		return on_lost(perf, at, size, 0);
	case RECORD_FINISHED_ROUND:
		return on_round(perf);
	case RECORD_COMPRESSED:
	case RECORD_COMPRESSED2:
		return on_compressed(perf);
	default:
		return 0;
	}
}

/* Data without records, of which the record before tells the size. */
static int skip_auxtrace(struct perf_source *perf, const uint8_t *at, size_t size)
{
	uint64_t skip = size >= 8 ? perf_u64(at, perf->perf->header.swap) : 0;
	uint64_t from = record_offset(perf);

	if (skip > perf->limit - from)
		skip = perf->limit - from;
	perf->offset = from + skip;
	perf->at = perf->end = 0;
	if (perf->block->waiting == 0)
		return 0;
	return change_block(perf);
}

/* The record's size, 0 at the end, or -errno. */
static int find_record(struct perf_source *perf, size_t *ret_size)
{
	struct trace_file *file = perf->source.file;
	bool swap = perf->perf->header.swap;
	int got = need(perf, RECORD_HEADER_SIZE);
	size_t size;

	if (got > 0) {
		uint16_t u16;

		memcpy(&u16, perf->block->bytes + perf->at + 6, sizeof(u16));
		size = swap ? __builtin_bswap16(u16) : u16;
		if (size < RECORD_HEADER_SIZE) {
			trace_add_problem(file, record_offset(perf), "a record of %zu bytes", size);
			return finish(perf);
		}
		got = need(perf, size);
		*ret_size = size;
	}
	if (got == 0 && (perf->end > perf->at || perf->offset < perf->limit))
		trace_add_problem(file, record_offset(perf), "the records end too early");
	if (got < 0 && got != -ENOMEM) {
		trace_add_problem(file, perf->offset, "%s", strerror(-got));
		got = 0;
	}
	return got > 0 ? 1 : got < 0 ? got : finish(perf);
}

static int read_record(struct perf_source *perf)
{
	const uint8_t *at;
	uint32_t type;
	size_t size = 0;
	int got = find_record(perf, &size), err;

	if (got <= 0)
		return got;
	at = perf->block->bytes + perf->at;
	type = perf_u32(at, perf->perf->header.swap);
	err = on_record(perf, type, at + RECORD_HEADER_SIZE, size - RECORD_HEADER_SIZE);
	perf->at += size;
	if (!err && type == RECORD_AUXTRACE)
		err = skip_auxtrace(perf, at + RECORD_HEADER_SIZE, size - RECORD_HEADER_SIZE);
	return err;
}

/* ---- events */

static int give(struct perf_source *perf)
{
	struct trace_event *event = &perf->source.event;
	struct entry entry = pop(perf);
	int err = 0;

	perf->given = entry.block;
	event->time = entry.time;
	event->offset = entry.offset;
	event->lost = entry.lost;
	event->type = NULL;
	if (!entry.lost)
		err = tep_types_set(&perf->perf->types, event, entry.sample.raw,
				    entry.sample.raw_size);
	event->cpu = entry.sample.cpu;
	event->pid = entry.sample.pid;
	if (entry.sample.tid >= 0) {
		event->tid = entry.sample.tid;
		event->strand = (uint64_t)event->file << 32 | (uint32_t)event->tid;
	}
	return err ? err : 1;
}

static bool is_due(const struct perf_source *perf)
{
	if (perf->nr_heap == 0)
		return false;
	return perf->is_at_end || perf->heap[0].time <= perf->until || !has_room(perf);
}

static int next(struct source *source)
{
	struct perf_source *perf = (struct perf_source *)source;

	put_block(perf, perf->given);
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

static void free_source(struct source *source)
{
	struct perf_source *perf = (struct perf_source *)source;

	put_block(perf, perf->given);
	while (perf->nr_heap > 0)
		put_block(perf, pop(perf).block);
	while (perf->free) {
		struct block *block = perf->free;

		perf->free = block->next;
		free(block);
	}
	free(perf->block);
	free(perf->heap);
	free(perf);
}

/* ---- files */

static bool is_kind(const struct head *head)
{
	return head->len >= MAGIC_SIZE && (memcmp(head->bytes, MAGIC, MAGIC_SIZE) == 0 ||
					   memcmp(head->bytes, MAGIC_SWAPPED, MAGIC_SIZE) == 0);
}

static int add_source(struct trace_file *file, struct perf *perf)
{
	struct perf_source *source = calloc(1, sizeof(*source));

	if (!source)
		return -ENOMEM;
	source_init(&source->source, file);
	source->source.next = next;
	source->source.free = free_source;
	source->perf = perf;
	source->offset = perf->header.data_at;
	source->limit = perf->header.data_at + perf->header.data_size;
	return trace_add_source(file->trace, &source->source);
}

static int open_perf(struct trace_file *file, const struct head *head, struct why *why)
{
	struct perf *perf = file->priv = calloc(1, sizeof(*perf));
	int err;

	(void)head;
	if (!perf)
		return -ENOMEM;
	tep_set_loglevel(TEP_LOG_NONE);
	tep_types_init(&perf->types, file, tep_alloc());
	if (!perf->types.tep)
		return -ENOMEM;
	err = perf_header_read(file, &perf->header, &perf->types, why);
	return err ? err : add_source(file, perf);
}

static void close_perf(struct trace_file *file)
{
	struct perf *perf = file->priv;
	struct comm *comm, *next_comm;

	if (!perf)
		return;
	HASH_ITER(hh, perf->comms, comm, next_comm) {
		HASH_DEL(perf->comms, comm);
		free(comm);
	}
	perf_header_release(&perf->header);
	tep_types_release(&perf->types);
	tep_free(perf->types.tep);
	free(perf);
}

static const char *comm_of(const struct trace_event *event, const struct trace_file *file)
{
	const struct perf *perf = file->priv;
	struct comm *comm;

	HASH_FIND_INT(perf->comms, &event->tid, comm);
	return comm ? comm->name : "";
}

const struct reader perf_data_reader = {
	.kind = TRACE_PERF,
	.name = "perf.data",
	.is_kind = is_kind,
	.open = open_perf,
	.close = close_perf,
	.comm = comm_of,
};
