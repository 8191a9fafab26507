// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The bytes of all moments are one stream in a circle of virtual memory, which is larger than the
 * limit. Pages before the oldest moment go back to the kernel, so memory is not fragmented.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/array.h"
#include "history/recent.h"

#define MOMENT_MAX ((size_t)64 << 20) /* bytes; see sink_add() */
#define MAY_WAIT 256 /* keys; packing them takes some 30 µs */
#define THREAD_BYTES ((size_t)128 << 10) /* of a recorder: its stack, and what malloc() keeps */

/* A moment, without its bytes. */
struct slot {
	uint64_t time_ns, elapsed_ns;
	uint64_t begin; /* of the first part in the stream; the next ones follow */
	uint32_t flags;
	uint32_t sizes[MOMENT_PARTS];
};

struct recent {
	pthread_mutex_t lock; /* of all below but the segment */
	struct segment segment;
	size_t limit, work; /* bytes: of all; to make a moment */
	struct slot *slots; /* a circle of `room`; first is the oldest */
	size_t first, nr, room;
	uint64_t first_id;
	unsigned char *circle;
	size_t size; /* of the circle, in whole pages */
	uint64_t end; /* of the stream */
};

static size_t in_pages(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (size + page - 1) / page * page;
}

struct recent *recent_new(size_t limit, const struct segment *segment)
{
	struct recent *recent = xcalloc(1, sizeof(*recent));

	recent->segment = *segment;
	recent->limit = limit;
	recent->first_id = 1;
	recent->size = in_pages(limit) + MOMENT_MAX;
	recent->circle = mmap(NULL, recent->size, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (recent->circle == MAP_FAILED)
		out_of_memory();
	pthread_mutex_init(&recent->lock, NULL);
	return recent;
}

void recent_free(struct recent *recent)
{
	if (!recent)
		return;
	munmap(recent->circle, recent->size);
	free(recent->slots);
	pthread_mutex_destroy(&recent->lock);
	free(recent);
}

/* i < room */
static struct slot *at(const struct recent *recent, size_t i)
{
	size_t slot = recent->first + i;

	return &recent->slots[slot < recent->room ? slot : slot - recent->room];
}

/* ---- the stream */

/* How many of size bytes of the stream are in one piece; *ret_piece: where. */
static size_t piece_of(const struct recent *recent, uint64_t place, uint64_t size,
		       unsigned char **ret_piece)
{
	size_t in_circle = (size_t)(place % recent->size), most = recent->size - in_circle;

	*ret_piece = recent->circle + in_circle;
	return size < most ? (size_t)size : most;
}

static void append(struct recent *recent, const struct blob *blob)
{
	unsigned char *piece;

	for (size_t done = 0, part; done < blob->size; done += part) {
		part = piece_of(recent, recent->end, blob->size - done, &piece);
		memcpy(piece, blob->bytes + done, part);
		recent->end += part;
	}
}

static void read_stream(const struct recent *recent, uint64_t from, const struct blob *blob)
{
	unsigned char *piece;

	for (size_t done = 0, part; done < blob->size; done += part) {
		part = piece_of(recent, from + done, blob->size - done, &piece);
		memcpy(blob->bytes + done, piece, part);
	}
}

/* Gives the pages of a part of the stream back to the kernel. */
static void drop_pages(struct recent *recent, uint64_t from, uint64_t to)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	unsigned char *piece;

	from -= from % page;
	to -= to % page;
	for (size_t part; from < to; from += part) {
		part = piece_of(recent, from, to - from, &piece);
		madvise(piece, part, MADV_DONTNEED);
	}
}

/* ---- adding */

static void grow(struct recent *recent)
{
	struct slot *slots;
	size_t room = recent->room ? 2 * recent->room : 64;

	if (recent->nr < recent->room)
		return;
	slots = xcalloc(room, sizeof(*slots));
	for (size_t i = 0; i < recent->nr; i++)
		slots[i] = *at(recent, i);
	free(recent->slots);
	recent->slots = slots;
	recent->room = room;
	recent->first = 0;
}

static uint64_t whole_size(const struct recent *recent)
{
	return recent->end - at(recent, 0)->begin + recent->room * sizeof(*recent->slots) +
	       recent->work + THREAD_BYTES;
}

/* The next moment that can be the oldest: without totals, what follows it would be unknown. */
static size_t next_oldest(const struct recent *recent)
{
	size_t next = 1;

	while (next < recent->nr && !(at(recent, next)->flags & MOMENT_HAS_TOTALS))
		next++;
	return next;
}

static void keep_limit(struct recent *recent)
{
	uint64_t begin = at(recent, 0)->begin;
	size_t next;

	while (whole_size(recent) > recent->limit &&
	       (next = next_oldest(recent)) < recent->nr) {
		recent->first = (recent->first + next) % recent->room;
		recent->first_id += next;
		recent->nr -= next;
	}
	drop_pages(recent, begin, at(recent, 0)->begin);
}

static int add(struct recent *recent, const struct packed *packed)
{
	struct slot slot = {
		.time_ns = packed->time_ns,
		.elapsed_ns = packed->elapsed_ns,
		.begin = recent->end,
		.flags = packed->flags,
	};
	size_t size = 0;

	for (unsigned int i = 0; i < MOMENT_PARTS; i++)
		size += packed->parts[i].size;
	if (size > MOMENT_MAX)
		return -EFBIG;
	grow(recent);
	for (unsigned int i = 0; i < MOMENT_PARTS; i++) {
		slot.sizes[i] = (uint32_t)packed->parts[i].size;
		append(recent, &packed->parts[i]);
	}
	*at(recent, recent->nr++) = slot;
	if (packed->work > recent->work)
		recent->work = packed->work;
	keep_limit(recent);
	return 0;
}

int recent_add(struct recent *recent, const struct packed *packed)
{
	int err;

	pthread_mutex_lock(&recent->lock);
	err = add(recent, packed);
	pthread_mutex_unlock(&recent->lock);
	return err;
}

int recent_write(void *arg, const struct facts *facts, uint64_t offset_ns)
{
	struct recent_writer *writer = arg;

	if (!writer->has_begun) {
		writer->has_begun = true;
		moment_skip(&writer->taker, facts);
		return 0;
	}
	if (!writer->packer)
		writer->packer = packer_new();
	moment_take(&writer->taker, facts, writer->start_ns + offset_ns, &writer->moment);
	pack_moment(writer->packer, &writer->moment, &writer->packed);
	moment_release(&writer->moment); /* large of many threads, and the next one needs memory */
	return recent_add(writer->recent, &writer->packed);
}

void recent_writer_release(struct recent_writer *writer)
{
	moment_release(&writer->moment);
	packer_free(writer->packer);
	packed_release(&writer->packed);
}

static int sink_add(void *state, const struct moment *moment, const struct packed *packed,
		    struct error *why)
{
	int err = recent_add(state, packed);

	(void)moment;
	return err ? error_set(why, err, "a sample of more than 64 MiB is not kept") : 0;
}

/* The oldest totals are dropped with all moments that need them: with a quarter of them at most. */
static bool sink_wants_totals(void *state)
{
	const struct recent *recent = state;
	size_t work = recent->work + THREAD_BYTES;
	size_t room = recent->limit > work ? recent->limit - work : 0;
	size_t since = recent->nr;

	while (since && !(at(recent, since - 1)->flags & MOMENT_HAS_TOTALS))
		since--;
	return since && recent->end - at(recent, since - 1)->begin > room / 4;
}

struct sink recent_sink(struct recent *recent)
{
	return (struct sink){ .state = recent, .add = sink_add,
			      .wants_totals = sink_wants_totals, .may_wait = MAY_WAIT };
}

/* ---- reading */

static struct stored stored_at(const struct recent *recent, size_t i)
{
	const struct slot *slot = at(recent, i);

	return (struct stored){
		.id = recent->first_id + i,
		.segment = 1,
		.flags = slot->flags,
		.time_ns = slot->time_ns,
		.elapsed_ns = slot->elapsed_ns,
	};
}

/* The index of a moment, or of the oldest where it was dropped; nr: there is none. */
static size_t index_of(const struct recent *recent, uint64_t id)
{
	uint64_t i = id < recent->first_id ? 0 : id - recent->first_id;

	return i < recent->nr ? (size_t)i : recent->nr;
}

static int recent_find(void *state, uint64_t time_ns, struct stored *ret_stored, struct error *why)
{
	struct recent *recent = state;
	int err = -ENOENT;

	(void)why;
	pthread_mutex_lock(&recent->lock);
	if (recent->nr) {
		size_t i = recent->nr - 1;

		while (i && at(recent, i)->time_ns > time_ns)
			i--;
		*ret_stored = stored_at(recent, i);
		err = 0;
	}
	pthread_mutex_unlock(&recent->lock);
	return err;
}

static int recent_step(void *state, uint64_t id, bool is_back, struct stored *ret_stored,
		     struct error *why)
{
	struct recent *recent = state;
	uint64_t to = is_back ? id - 1 : id + 1;
	int err = -ENOENT;

	(void)why;
	pthread_mutex_lock(&recent->lock);
	if (!is_back && to < recent->first_id)
		to = recent->first_id;
	if (to >= recent->first_id && index_of(recent, to) < recent->nr) {
		*ret_stored = stored_at(recent, index_of(recent, to));
		err = 0;
	}
	pthread_mutex_unlock(&recent->lock);
	return err;
}

static int recent_find_flagged(void *state, uint64_t id, uint32_t flags, struct stored *ret_stored,
			     struct error *why)
{
	struct recent *recent = state;
	int err = -ENOENT;

	(void)why;
	pthread_mutex_lock(&recent->lock);
	for (size_t i = id < recent->first_id ? 0 : index_of(recent, id) + 1; err && i-- > 0;) {
		if (i < recent->nr && at(recent, i)->flags & flags) {
			*ret_stored = stored_at(recent, i);
			err = 0;
		}
	}
	pthread_mutex_unlock(&recent->lock);
	return err;
}

static int recent_read(void *state, uint64_t id, enum moment_part part, struct blob *blob,
		     struct error *why)
{
	struct recent *recent = state;
	int err = -ENOENT;

	pthread_mutex_lock(&recent->lock);
	if (id >= recent->first_id && index_of(recent, id) < recent->nr) {
		const struct slot *slot = at(recent, index_of(recent, id));
		uint64_t begin = slot->begin;

		for (unsigned int i = 0; i < part; i++)
			begin += slot->sizes[i];
		array_grow_unset(&blob->bytes, &blob->room, slot->sizes[part]);
		blob->size = slot->sizes[part];
		read_stream(recent, begin, blob);
		err = 0;
	}
	pthread_mutex_unlock(&recent->lock);
	return err ? error_set(why, err, "this sample is not in memory any more") : 0;
}

static int recent_fields(void *state, uint32_t segment, uint32_t first, stored_field_fn take,
		       void *arg, struct error *why)
{
	(void)state;
	(void)segment;
	(void)first;
	(void)take;
	(void)arg;
	(void)why;
	return 0;
}

static int recent_segment(void *state, uint32_t segment, struct segment *ret_segment,
			struct error *why)
{
	const struct recent *recent = state;

	(void)segment;
	(void)why;
	*ret_segment = recent->segment;
	return 0;
}

struct store recent_store(struct recent *recent)
{
	static const struct store_type type = {
		.find = recent_find,
		.step = recent_step,
		.find_flagged = recent_find_flagged,
		.read = recent_read,
		.fields = recent_fields,
		.segment = recent_segment,
	};

	return (struct store){ .type = &type, .state = recent };
}
